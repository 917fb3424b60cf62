"""Several specs in one figure: letters, sizes in common, one legend, nothing touching."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from transformer_diagrams import pipeline, theme
from transformer_diagrams.api import Model, side_by_side
from transformer_diagrams.cli.app import run
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.lint import lint
from transformer_diagrams.options import settle

NAMES = ("gpt2", "llama3", "gqa")


def models(*names: str) -> list[Model]:
    return [Model.find(name) for name in names or NAMES]


def scene(names: tuple[str, ...] = NAMES, **asked: Any) -> Scene:
    return pipeline.panels([m.graph(**asked) for m in models(*names)], settle(asked))


def panel_of(name: str) -> str:
    return name.split("/")[0]


@pytest.mark.parametrize("look", ["paper", "dark", "slides"])
@pytest.mark.parametrize("direction", ["up", "right", "down"])
def test_panels_are_clean_and_apart(direction: str, look: str) -> None:
    made = scene(direction=direction, theme=look, legend=True)
    assert [str(f) for f in lint(made, theme.get(look)).findings] == []
    names = [box.id for box in made.boxes] + [line.id for line in made.lines]
    assert len(names) == len(set(names))
    letters = [label for label in made.labels if label.id.startswith("panel-")]
    assert [label.markup for label in letters] == ["(a)", "(b)", "(c)"]
    ends = {}
    for letter, panel in zip(letters, "abc", strict=True):
        rects = [box.rect for box in made.boxes if panel_of(box.id) == panel]
        assert min(r.top for r in rects) >= letter.rect.bottom
        ends[panel] = (min(r.left for r in rects), max(r.right for r in rects),
                       min(r.top for r in rects), max(r.bottom for r in rects))  # fmt: skip
    low, high = (2, 3) if direction == "right" else (0, 1)
    assert ends["a"][high] < ends["b"][low]
    assert ends["b"][high] < ends["c"][low]


def test_panels_share_sizes_and_one_legend() -> None:
    """Of two chains the boxes are as wide as the widest of both; a role is told once."""
    both = scene(("gpt2", "llama3"), legend=True)
    norms = {round(b.rect.width, 2) for b in both.boxes if b.role == "norm" and "/" in b.id
             and not b.id.startswith("legend/")}  # fmt: skip
    assert len(norms) == 1
    alone = Model.find("gpt2").scene()
    assert norms.pop() >= next(b.rect.width for b in alone.boxes if b.role == "norm")
    told = [label.markup for label in both.labels if label.id.startswith("legend/")]
    assert told.count("attention") == 1
    assert {"attention", "position", "normalisation"} <= set(told)


def test_streams_that_run_up_begin_on_one_line() -> None:
    made = scene(("gpt2", "llama3"), direction="up")
    feet = {p: max(b.rect.bottom for b in made.boxes if panel_of(b.id) == p) for p in "ab"}
    assert feet["a"] == pytest.approx(feet["b"], abs=0.02)


@pytest.mark.parametrize("form", ["svg", "pdf", "png", "tikz", "drawio", "dot", "mermaid"])
def test_every_format_has_the_panels(form: str) -> None:
    data = side_by_side(models("gqa", "mqa"), form).data
    assert len(data) > 1000
    if form in ("svg", "tikz", "drawio", "dot"):
        text = data.decode()
        assert "(a)" in text
        assert "(b)" in text
    if form == "svg":
        ids = re.findall(r' id="([^"]+)"', data.decode())
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("names", "asked", "said"),
    [
        (["gqa"], {}, "2 to 26"),
        (["gqa", "mqa"], {"fold": 1}, "fold"),
        (["gqa", "mqa"], {"steps": "block"}, "steps"),
        (["gqa", "mqa"], {"open": ["nosuch"]}, "nosuch"),
    ],
)
def test_what_cannot_be_is_told(names: list[str], asked: dict[str, Any], said: str) -> None:
    with pytest.raises(DiagramError, match=said):
        side_by_side(models(*names), **asked)


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["render", "gqa", "mqa", "--side-by-side"]) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["gqa-mqa.svg"]
    assert run(["render", "gqa", "mqa", "--side-by-side", "-o", "both.pdf"]) == 0
    assert (tmp_path / "both.pdf").is_file()
    assert run(["render", "gqa", "--side-by-side"]) != 0
    assert run(["render", "gqa", "mqa", "--side-by-side", "--pair"]) == 2
