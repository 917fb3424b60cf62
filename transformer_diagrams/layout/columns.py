"""Columns side by side (encoder and decoder, teacher and student), and the lines between them.

Before: a `columns` group, its columns not yet laid out. After: all stand on one base line; a line
from one column to another runs in the gutter and enters the other's flank.
"""

from __future__ import annotations

from collections.abc import Callable

from transformer_diagrams.graph.ir import BORDER, Group
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.placed import Gate, Placed, Spot, Wire

Sides = dict[tuple[str, int], str]
Place = Callable[[Group, Context, Sides, bool], Placed]
RISE = 12.0  # from a column's top to the first track above it


def place_columns(group: Group, ctx: Context, sides: Sides, place: Place) -> Placed:
    """Lay out a group of columns."""
    del sides  # ports of a `columns` group always lie at its start and end
    s, out = ctx.sizes, Placed()
    wanted: list[Sides] = [{} for _ in group.children]
    for edge in group.edges:
        tail, head = edge.tail.child, edge.head.child
        if tail != BORDER and head != BORDER:
            wanted[head][("in", edge.head.port)] = "low" if tail < head else "high"
            if not _leaves_on_top(group, tail, edge.tail.port):
                wanted[tail][("out", edge.tail.port)] = "high" if tail < head else "low"
    columns = [
        place(child, ctx, side, True)  # type: ignore[arg-type]
        for child, side in zip(group.children, wanted, strict=True)
    ]
    between = _crossing_gutters(group)
    u = 0.0
    for index, placed in enumerate(columns):
        out.spots.append(Spot(index, u, 0.0, placed.width, placed.length, placed))
        u += placed.width + s.gap_column + 10.0 + s.track_gap * between.get(index, 0)
    longest = max((p.length for p in columns), default=0.0)
    out.width = max((sp.u + sp.du for sp in out.spots), default=0.0)
    used: dict[int, int] = {}
    above = 0
    out.length = longest
    for number, edge in enumerate(group.edges):
        tail, head = edge.tail.child, edge.head.child
        if tail == BORDER:
            spot = out.spots[head]
            gate = columns[head].ins[edge.head.port]
            at = spot.u + gate.at
            out.ins[edge.tail.port] = Gate("start", at)
            out.wires.append(Wire(number, [(at, 0.0), (at, spot.v)]))
        elif head == BORDER:
            continue
        else:
            a, b = out.spots[tail], out.spots[head]
            gate_out, gate_in = (
                columns[tail].outs[edge.tail.port],
                columns[head].ins[edge.head.port],
            )
            gutter = min(tail, head)
            left_edge = out.spots[gutter].u + out.spots[gutter].du
            lane = left_edge + 14.0 + s.track_gap * used.get(gutter, 0)
            used[gutter] = used.get(gutter, 0) + 1
            columns[head].move_gate(edge.head.port, _level(a, gate_out) - b.v)
            target_v = b.v + columns[head].ins[edge.head.port].at
            target_u = b.u if gate_in.side == "low" else b.u + b.du
            if gate_out.side == "end":
                start = (a.u + gate_out.at, a.v + a.dv)
                level = a.v + a.dv + RISE + s.track_gap * above
                above += 1
                if target_v >= level - 1.0:
                    points = [start, (start[0], target_v), (target_u, target_v)]
                else:
                    points = [
                        start,
                        (start[0], level),
                        (lane, level),
                        (lane, target_v),
                        (target_u, target_v),
                    ]
                    out.length = max(out.length, level + 4.0)
            else:
                v = a.v + gate_out.at
                start_u = a.u + a.du if gate_out.side == "high" else a.u
                points = [(start_u, v), (lane, v), (lane, target_v), (target_u, target_v)]
                if abs(v - target_v) < 0.01:
                    points = [(start_u, v), (target_u, v)]
            out.wires.append(Wire(number, points))
    for number, edge in enumerate(group.edges):
        if edge.head.child == BORDER and edge.tail.child != BORDER:
            spot = out.spots[edge.tail.child]
            gate = columns[edge.tail.child].outs[edge.tail.port]
            at = spot.u + gate.at
            out.outs[edge.head.port] = Gate("end", at)
            out.wires.append(Wire(number, [(at, spot.v + spot.dv), (at, out.length)]))
    first_out = next((e for e in group.edges if e.head.child == BORDER and e.head.port == 0), None)
    if first_out is not None:
        out.ref = out.outs[0].at
        out.spine = frozenset({group.edges.index(first_out)})
    return out


def _level(source: Spot, gate: Gate) -> float:
    """v at which a line from a column would best run across to the next."""
    return source.v + (source.dv + RISE if gate.side == "end" else gate.at)


def _leaves_on_top(group: Group, child: int, port: int) -> bool:
    """True when a column's output is its last tensor, so that the line can leave over its top."""
    column = group.children[child]
    if not isinstance(column, Group):
        return True
    source = next((e for e in column.edges if e.head.child == BORDER and e.head.port == port), None)
    if source is None or source.tail.child == BORDER:
        return True
    return not any(
        e.tail.child == source.tail.child and e.head.child != BORDER for e in column.edges
    )


def _crossing_gutters(group: Group) -> dict[int, int]:
    """How many lines run in the gutter right of each column."""
    count: dict[int, int] = {}
    for edge in group.edges:
        tail, head = edge.tail.child, edge.head.child
        if BORDER not in (tail, head):
            count[min(tail, head)] = count.get(min(tail, head), 0) + 1
    return count
