"""Braces beside a run of blocks: along it, outside of all else, in every format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from transformer_diagrams.api import Model
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.layout.scene import Rect, Scene

LONG = "what is trained in the second stage, on text"
SPANS = [
    {"from": "own", "to": "last", "text": LONG},
    {"from": "own", "text": "new"},
    {"from": "block", "text": "all of it"},
    {"from": "last", "text": "$W_O$ again"},
]
SPEC: dict[str, Any] = {
    "title": "Small",
    "inputs": {"x": ["n", "d"]},
    "dims": {"n": "length", "d": "width"},
    "show": {"spans": SPANS},
    "blocks": [
        {
            "repeat": 4,
            "id": "block",
            "blocks": [
                {"residual": ["layernorm", {"op": "linear", "out": "d", "id": "own"}]},
                {"residual": ["layernorm", {"op": "linear", "out": "d", "note": "A remark."}]},
            ],
        },
        {"op": "softmax", "id": "last"},
    ],
}


def model(spans: Any = SPANS, **show: Any) -> Model:
    text = json.dumps({**SPEC, "show": {"spans": spans, **show}})
    return Model.from_text(text, name="s.yaml")


def braces(scene: Scene) -> dict[str, Rect]:
    return {box.title: box.rect for box in scene.boxes if box.form == "brace"}


@pytest.mark.parametrize("look", ["paper", "slides", "print"])
@pytest.mark.parametrize("direction", ["up", "right", "down"])
def test_braces_run_along_their_blocks_and_touch_nothing(direction: str, look: str) -> None:
    made = model()
    assert [str(f) for f in made.check().faults] == []
    assert [str(f) for f in made.lint(direction=direction, theme=look).findings] == []
    scene = made.scene(direction=direction, theme=look)
    found = braces(scene)
    assert len(found) == 4
    own, last = (
        next(b.rect for b in scene.boxes if b.path.split("/")[-1] == name)
        for name in ("own", "last")
    )
    frame = next(b.rect for b in scene.boxes if b.form == "frame")
    run = next(rect for title, rect in found.items() if title.startswith("what is trained"))
    if direction == "right":
        assert (run.left, run.right) == pytest.approx((own.left, last.right), abs=0.02)
        assert found["new"].left == pytest.approx(own.left, abs=0.02)
        assert found["new"].width == pytest.approx(own.width, abs=0.02)
        assert found["all of it"].width == pytest.approx(frame.width, abs=0.02)
        assert all(rect.top > frame.bottom for rect in found.values())
    else:
        low, high = min(own.top, last.top), max(own.bottom, last.bottom)
        assert (run.top, run.bottom) == pytest.approx((low, high), abs=0.02)
        assert found["new"].height == pytest.approx(own.height, abs=0.02)
        assert found["all of it"].height == pytest.approx(frame.height, abs=0.02)
        assert all(rect.right < frame.left for rect in found.values())


@pytest.mark.parametrize("form", ["svg", "tikz", "drawio", "dot", "mermaid", "pdf", "png", "pptx"])
def test_every_format_has_the_braces_or_says_that_it_has_not(form: str) -> None:
    made = model().render(form)
    told = " ".join(fault.message for fault in made.warnings)
    if form == "drawio":
        assert "braces of spans (4)" in told
    if form in ("svg", "tikz", "drawio", "dot"):
        assert "all of it" in made.data.decode()
    if form == "mermaid":
        assert "what stands beside the figure" in told
    else:
        assert made.data != model(SPANS[:1]).render(form).data


@pytest.mark.parametrize("steps", ["block", "layer", "frame"])
def test_braces_go_with_steps(steps: str) -> None:
    assert model().render("pdf", steps=steps).data.startswith(b"%PDF")


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([{"from": "own", "to": "lost", "text": "a"}], "no block"),
        ([{"from": "own"}], "needs 'text'"),
        ([{"to": "own", "text": "a"}], "needs 'from'"),
        ([{"from": "own", "text": "$\\nosuch$"}], "nosuch"),
        ([{"from": "own", "tx": 1, "text": "a"}], "no key 'tx'"),
    ],
)
def test_what_is_wrong_in_a_span_is_told_in_its_place(spans: Any, said: str) -> None:
    (fault,) = model(spans).check().errors
    assert said in fault.message
    assert fault.span.line == 1
    assert fault.span.column > 1


def test_a_run_in_a_closed_part_has_no_brace_and_a_fold_is_refused() -> None:
    assert set(braces(model(SPANS[1:3]).scene(close=["block"]))) == {"all of it"}
    with pytest.raises(DiagramError, match="not folded"):
        model().scene(fold=1)
    with pytest.raises(DiagramError, match="not folded"):
        model().scene(aspect="16:9")
