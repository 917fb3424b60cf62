"""The rules about lines, each on a scene made by hand: the flaw is found, what is good is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from scenes import Builder

from transformer_diagrams.layout.scene import Rect
from transformer_diagrams.lint import lint
from transformer_diagrams.theme import get

PAPER = get("paper")


def two_boxes() -> Builder:
    """Boxes at (60, 150) and (60, 50), the lower one 80 wide, the upper one too."""
    b = Builder()
    b.box("low", "Low", 60, 150, 80, "plain", height=20)
    b.box("high", "High", 60, 50, 80, "plain", height=20)
    return b


def operands(first: float, second: float, **more: object) -> Builder:
    """Two lines into the upper box, at these places; the first operand comes first."""
    b = two_boxes()
    b.box("other", "Other", 160, 150, 80, "plain", height=20)
    b.line("low", "high", (first, 140), (first, 60), net="l", head_place=0)
    turns = ((150, 140), (150, 100), (second, 100), (second, 60))
    b.line("other", "high", *turns, net="o", head_place=1)
    return b


def on_own_side() -> Builder:
    b = two_boxes()
    b.line("low", "high", (60, 140), (60, 100), (100, 100), (100, 50), net="l")
    return b


def on_frame() -> Builder:
    b = Builder()
    b.box("low", "Low", 60, 150, 80, "plain", height=20)
    b.frame("frame", Rect(10, 10, 110, 100))
    b.box("high", "High", 60, 50, 80, "plain", height=20, parent="frame")
    b.line("low", "high", (40, 140), (40, 125), (120, 125), (120, 75), (60, 75), (60, 60), net="l")
    return b


def overlap() -> Builder:
    b = operands(40, 80)
    b.box("third", "Third", 160, 100, 40, "plain", height=20)
    b.line("low", "third", (90, 140), (90, 120), (150, 120), (150, 110), net="t")
    return b


def one_arrowhead() -> Builder:
    return operands(60, 62)


def swapped() -> Builder:
    return operands(80, 40)


def swapped_outputs() -> Builder:
    b = Builder()
    b.box("split", "Split", 60, 150, 80, "plain", height=20)
    for n, (name, x) in enumerate((("a", 90), ("b", 30))):
        b.box(name, name, x, 50, 40, "plain", height=20)
        b.line("split", name, (x, 140), (x, 60), net=f"split#{n}", tail_place=n)
    return b


@pytest.mark.parametrize(
    ("scene", "rule"),
    [
        (on_own_side, "line-on-side"),
        (on_frame, "line-on-frame"),
        (overlap, "lines-overlap"),
        (one_arrowhead, "shared-head"),
        (swapped, "out-of-order"),
        (swapped_outputs, "out-of-order"),
    ],
)
def test_a_flaw_of_a_line_is_found(scene: Callable[[], Builder], rule: str) -> None:
    assert rule in {f.rule for f in lint(scene().scene(220, 200), PAPER).findings}


def test_what_is_in_order_or_named_is_no_flaw() -> None:
    assert lint(operands(40, 80).scene(220, 200), PAPER).ok
    named = operands(80, 40)
    for name, x in (("e0", 84), ("e1", 44)):
        named.label("1", x, 66, kind="edge", owner=name)
    assert lint(named.scene(220, 200), PAPER).ok
