"""Children sized: closed ones measured, groups laid out first, sibling lanes in one line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from transformer_diagrams.graph.ir import BORDER, Edge, Group, Node
from transformer_diagrams.layout.labels import inputs_room, outputs_room
from transformer_diagrams.layout.measure import Sized, size_node
from transformer_diagrams.layout.placed import Placed
from transformer_diagrams.layout.ranks import alone_in_rank
from transformer_diagrams.layout.stages import Filled, Place, Sides, Task
from transformer_diagrams.layout.stream import is_wide, output_places

NEAR_LANES = 3.0  # lane gaps: lanes of siblings that differ by no more run in one line


def place_children(
    w: Task,
    place: Place,
    known: Mapping[int, Placed] | None = None,
    wished: Mapping[int, Sides] | None = None,
) -> Filled:
    """Size every child; ``place`` lays out a group.

    The groups ``known`` are laid out already, but for those with ``wished`` orders of their ports.
    """
    known, wished = known or {}, wished or {}
    inside: dict[int, Placed] = {}
    sized: dict[int, Sized] = {}
    roomy: set[int] = set()
    wordy: set[int] = set()
    alone = alone_in_rank(w.group)
    into: dict[int, list[Edge]] = defaultdict(list)
    for edge in w.group.edges:
        if edge.kind != "residual":
            into[edge.head.child].append(edge)
    for index, child in enumerate(w.group.children):
        if isinstance(child, Group) and index in known and index not in wished:
            inside[index] = known[index].copied()  # its lane may yet be moved
        elif isinstance(child, Group):
            sides = _child_sides(w, child, into[index], index in alone) | wished.get(index, {})
            inside[index] = place(child, w.ctx, sides, w.group.kind != "root")
        else:
            size = size_node(child, w.ctx, tower=index in alone)
            room = outputs_room(w.group, index, w.ctx) if len(child.outputs) > 1 else 0.0
            if room:
                roomy.add(index)
            if len(child.inputs) > 2 and child.form == "box":
                words = inputs_room(w.group, index, w.ctx)
                room = max(room, words)
                if words:
                    wordy.add(index)
            if room and not is_wide(child) and w.ctx.across:
                size = replace(size, height=max(size.height, room))
            elif room and not is_wide(child):
                size = replace(size, width=max(size.width, room))
            sized[index] = size
    _align_lanes(inside, w.ctx.sizes.lane_gap)
    du: dict[int, float] = {}
    dv: dict[int, float] = {}
    for index, child in enumerate(w.group.children):
        if index in inside:
            placed = inside[index]
            sheet = 2 * w.ctx.sizes.stack_offset if child.stack else 0.0
            du[index], dv[index] = placed.width + sheet, placed.length + sheet
        else:
            size = sized[index]
            width, height = size.width + size.sheet, size.height + size.sheet
            du[index], dv[index] = (height, width) if w.ctx.across else (width, height)
    return w.grown(
        Filled, inside=inside, sized=sized, du=du, dv=dv, roomy=roomy, wordy=wordy
    )


def _align_lanes(inside: dict[int, Placed], gap: float) -> None:
    """Lanes of sibling residuals run in one line where they nearly do; each hugs its own branch."""
    lanes = sorted(
        ((p.lane - p.ref, i) for i, p in inside.items() if p.lane is not None), reverse=True
    )
    reach = 0.0
    for lane, index in lanes:
        if reach - lane > NEAR_LANES * gap or not reach:
            reach = lane
        placed = inside[index]
        placed.move_lane(placed.ref + reach)


def _child_sides(w: Task, child: Group, edges: list[Edge], alone: bool) -> Sides:
    """A framed child, and a residual ``alone`` in its rank, take a flank port of ours on their
    own flank; others lean that way.

    The parts of a split come to a residual in their order, on one side of it.
    """
    sides: Sides = {}
    for edge in edges:
        if edge.tail.child != BORDER:
            source = w.group.children[edge.tail.child]
            if isinstance(source, Node) and output_places(source)[edge.tail.port] >= 0:
                sides[("lean", edge.head.port)] = "high"
            continue
        flank = w.sides.get(("in", edge.tail.port))
        lean = w.sides.get(("lean", edge.tail.port))
        if flank and (child.framed or (alone and child.kind == "residual")):
            sides[("in", edge.head.port)] = flank
        elif flank or lean:
            sides[("lean", edge.head.port)] = flank or lean or ""
    return sides
