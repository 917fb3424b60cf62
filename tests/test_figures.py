"""Every bundled figure passes the geometric lint, in every theme and direction, closed and open."""

from __future__ import annotations

import pytest

from transformer_diagrams.errors import DiagramError
from transformer_diagrams.graph.build import build
from transformer_diagrams.layout.engine import Options, layout
from transformer_diagrams.lint import lint
from transformer_diagrams.spec.library import SpecLibrary
from transformer_diagrams.theme import NAMES, get

LIBRARY = SpecLibrary()
SIZED = ("paper", "slides")  # the other themes share the sizes of paper


@pytest.mark.parametrize("direction", ["up", "right", "down"])
@pytest.mark.parametrize("spec", LIBRARY.ids())
def test_lint(spec: str, direction: str) -> None:
    found: list[str] = []
    for opened in ((), ("*",)):
        try:
            graph = build(LIBRARY.get(spec), LIBRARY, open=opened)
        except DiagramError as error:
            if opened and error.faults[0].code == "opens-nothing":
                continue
            raise
        for theme in SIZED:
            for shapes in ("changes", "all"):
                scene = layout(graph, get(theme), Options(direction=direction, shapes=shapes))
                for finding in lint(scene, get(theme)).findings:
                    found.append(f"open={opened} {theme} shapes={shapes}: {finding}")
        scene = layout(graph, get("paper"), Options(direction=direction, legend=True))
        for theme in NAMES:
            found += [f"{theme}: {f}" for f in lint(scene, get(theme)).findings]
    assert found == []


@pytest.mark.parametrize("spec", LIBRARY.ids())
def test_closed_figures_have_few_crossings(spec: str) -> None:
    """A line that crosses another costs the reader; only a butterfly needs several."""
    scene = layout(build(LIBRARY.get(spec), LIBRARY), get("paper"))
    report = lint(scene, get("paper"))
    assert report.crossings <= max(3, report.lines // 3)
