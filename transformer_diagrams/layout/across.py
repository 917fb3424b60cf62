"""Across the flow: the u of every cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from transformer_diagrams.layout.cost import BEND, EXTENT, KINK, LENGTH
from transformer_diagrams.layout.placed import KINKED, SAME
from transformer_diagrams.layout.ports import straighten_ports
from transformer_diagrams.layout.position import place_cells
from transformer_diagrams.layout.stages import NARROW, Worded
from transformer_diagrams.layout.stream import is_wide

MENDED = 6  # kinks of a group that are tried to be taken out
STREAM = 200.0  # what it costs that a piece of the main stream steps


def place_across(w: Worded) -> Worded:
    """Give every cell its column, and every port its place: no line is to step by a little.

    A line that does is made straight before all others, or else steps as far as a bend needs,
    whichever costs less.
    """
    found = _placed(w, {})
    kinks = _kinks(found)
    steps: dict[int, float] = {}
    kept: dict[int, float] = {}
    least = _spent(found) if kinks else 0.0
    while kinks - steps.keys() and len(steps) < MENDED:
        number, options = min(kinks - steps.keys()), []
        for order, step in enumerate((0.0, KINKED, -KINKED)):
            tried = _placed(w, {**steps, number: step})
            left = _kinks(tried)
            options.append((number in left, round(_spent(tried), 2), order, step, left))
        _, spent, _, steps[number], kinks = min(options)  # the cells are those of the last tried
        if spent < least - SAME:
            kept, least = dict(steps), spent
    return _placed(w, kept) if steps else found


def _offsets(w: Worded) -> Iterator[float]:
    """How far every segment steps."""
    for seg in w.layers.segments:
        leave, enter = w.columns_of(seg)
        yield abs(enter - leave)


def _kinks(w: Worded) -> set[int]:
    """The segments that step by a little."""
    return {i for i, off in enumerate(_offsets(w)) if SAME < off < KINKED - SAME}


def _spent(w: Worded) -> float:
    """What the columns cost, as `cost.cost` counts it."""
    left, right = w.borders()
    spent = EXTENT * (right - left)
    for seg, off in zip(w.layers.segments, _offsets(w), strict=True):
        if off > SAME:
            spent += 2 * BEND + LENGTH * off + (STREAM if seg.spine else 0.0)
            spent += KINK if off < KINKED - SAME else 0.0
    return spent


def _placed(w: Worded, steps: Mapping[int, float]) -> Worded:
    """Every cell in its column; ``steps`` are those of `position.place_cells`."""
    s, cells = w.ctx.sizes, w.layers.cells

    def gap(a: int, b: int) -> float:
        one, two = cells[a], cells[b]
        kinds = {one.kind, two.kind}
        if kinds == {"slice"} and one.child == two.child:
            return 4.0
        if one.beside == b or two.beside == a:
            straight = w.layers.comes_straight(a if one.beside == b else b)
            return s.arrow_length if straight else s.gap_column * 0.7
        if kinds == {"in"} and w.group.framed:
            return s.gap_column
        if kinds <= {"dummy", "in", "out"}:
            return s.track_gap - 2 * NARROW
        if kinds & {"dummy", "in", "out"}:
            return s.lane_gap - NARROW
        return s.gap_column

    spans: list[tuple[int, int, float]] = []
    for index, child in enumerate(w.group.children):
        if is_wide(child):
            lanes = [w.layers.cell_of[(index, i)] for i in range(len(child.inputs))]
            lanes.sort(key=w.layers.ranks[cells[lanes[0]].rank].index)
            need = w.front(index) - cells[lanes[0]].left - 24.0
            spans.append((lanes[0], lanes[-1], need))
    place_cells(
        w.layers,
        gap,
        lambda seg: w.tail_off.get((seg.tail, seg.tail_port), 0.0),
        lambda seg: w.head_off.get((seg.head, seg.head_port), 0.0),
        spans,
        {i for i, placed in w.inside.items() if len(placed.outs) > 1 or len(placed.ins) > 1},
        steps,
    )
    return straighten_ports(w)
