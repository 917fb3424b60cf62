"""Across the flow: the u of every cell."""

from __future__ import annotations

from transformer_diagrams.layout.position import place_cells
from transformer_diagrams.layout.stages import NARROW, Worded
from transformer_diagrams.layout.stream import is_wide


def place_across(w: Worded) -> None:
    """Give every cell its column."""
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
    )
