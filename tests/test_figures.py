"""Every bundled figure passes the geometric lint, in every theme and direction, closed and open."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from selection import FEW, mostly_slow

from transformer_diagrams.errors import DiagramError
from transformer_diagrams.graph.build import build
from transformer_diagrams.layout.engine import LayoutOptions, layout
from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.layout.score import Finding
from transformer_diagrams.lint import lint
from transformer_diagrams.spec.library import SpecLibrary
from transformer_diagrams.text import kept
from transformer_diagrams.text.layout import renew
from transformer_diagrams.theme import NAMES, get

LIBRARY = SpecLibrary()
# The other themes share the sizes of paper; a legend stands below the figure and moves nothing.
# Small steps that the placing still leaves in closed figures, by figure, direction and theme.
KINKS = {("qformer-trunk", "right", "slides"): 2}
LOOKS = (("paper", "changes"), ("paper", "all"), ("slides", "changes"))


@pytest.mark.parametrize(
    ("spec", "direction"),
    mostly_slow(
        itertools.product(LIBRARY.ids(), ("up", "right", "down")),
        lambda one: one[0] in FEW,
    ),
)
def test_lint(spec: str, direction: str) -> None:
    found: list[str] = []
    for opened in ((), ("*",)):
        try:
            graph = build(LIBRARY.get(spec), LIBRARY, open=opened)
        except DiagramError as error:
            if opened and error.faults[0].code == "opens-nothing":
                continue
            raise
        for theme, shapes in LOOKS:
            wish = LayoutOptions(direction=direction, shapes=shapes, legend=shapes == "changes")
            scene = layout(graph, get(theme), wish)
            for look in NAMES if theme == "paper" and shapes == "changes" else (theme,):
                left = 0 if opened else KINKS.get((spec, direction, look), 0)
                for finding in _flaws(scene, look, left):
                    found.append(f"open={opened} {look} shapes={shapes}: {finding}")
    assert found == []


def _flaws(scene: Scene, theme: str, kinks: int) -> list[Finding]:
    """The findings; without the kinks that are known to be left, if these are all."""
    found = lint(scene, get(theme)).findings
    known = sum(finding.rule == "kink" for finding in found) <= kinks
    return [finding for finding in found if not (known and finding.rule == "kink")]


@pytest.mark.parametrize("spec", LIBRARY.ids())
def test_closed_figures_have_few_crossings(spec: str) -> None:
    """A line that crosses another costs the reader; only a butterfly needs several."""
    scene = layout(build(LIBRARY.get(spec), LIBRARY), get("paper"))
    report = lint(scene, get("paper"))
    assert report.score.crossings <= max(3, report.lines // 3)


@pytest.mark.parametrize("shapes", ["changes", "all"])
@pytest.mark.parametrize("spec", FEW)
def test_every_shape_that_is_asked_for_is_missed_when_it_is_gone(spec: str, shapes: str) -> None:
    graph = build(LIBRARY.get(spec), LIBRARY, open=("*",))
    scene = layout(graph, get("paper"), LayoutOptions(shapes=shapes))
    told = [label.owner for label in scene.labels if label.kind in ("edge", "shape")]
    assert all(any(net in told for net in nets) for nets in scene.shapes)
    wanted = {net for nets in scene.shapes for net in nets}
    data = [line for line in scene.lines if line.kind == "data"]
    assert wanted <= {line.net for line in data}
    if shapes == "all":  # of every tensor that is no scalar, or its own words
        assert {line.net for line in data if not line.title.endswith("[]")} <= {*wanted, *told}
    bare = replace(scene, labels=tuple(q for q in scene.labels if q.kind not in ("edge", "shape")))
    lost = {f.what for f in lint(bare, get("paper")).findings if f.rule == "label-lost"}
    assert {f"the shape of '{nets[0]}'" for nets in scene.shapes} <= lost


def test_a_first_figure_loads_no_font_and_no_setter(tmp_path: Path) -> None:
    """The labels of the bundled figures are measured: `make diagrams` keeps them."""
    code = "from transformer_diagrams.api import load; load('llama3').render()"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        env={**os.environ, "TRANSFORMER_DIAGRAMS_CACHE": str(tmp_path)},
        check=True,
    )
    assert not {"ziamath", "ziafont", "uharfbuzz"} & set(done.stdout.split())
    assert not (tmp_path / "text").exists(), "nothing had to be measured"


def test_labels_are_kept_for_the_code_that_measured_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = (r"$\frac{a}{b}$ and c", "regular", "middle")
    path = tmp_path / "labels.bin"
    monkeypatch.setattr(kept, "bundled_labels", lambda: path)
    kept._bundled.cache_clear()
    assert renew(path, [label])
    assert not renew(path, [label]), "nothing new, nothing written"
    kept._bundled.cache_clear()
    assert kept._bundled().keys() == {kept.name(label)}
    monkeypatch.setattr(kept, "made_by", lambda: "other code")
    kept._bundled.cache_clear()
    assert not kept._bundled(), "another code may draw another ink"
    kept._bundled.cache_clear()
