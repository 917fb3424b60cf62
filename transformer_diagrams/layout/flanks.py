"""Lines from and to the flanks of a group: the channel of each, and one trunk for many readers.

Before: cells with their places across the flow. `plan_flanks` says in which channel each such line
turns and keeps room for the trunks; `draw_flanks` draws them when the ranks have their heights.
"""

from __future__ import annotations

import math
from collections import defaultdict

from transformer_diagrams.graph.ir import BORDER
from transformer_diagrams.layout.placed import Gate, Placed, Point, Wire, straightened
from transformer_diagrams.layout.stages import Flanks, Standing, Worded
from transformer_diagrams.layout.stream import flow_of
from transformer_diagrams.layout.wires import at_side


def plan_flanks(w: Worded) -> Flanks:
    """Where every line of a flank turns; sets the borders and the trunks that run along them."""
    left, right = w.borders()
    flanks = Flanks({"low": left, "high": right}, {}, set(), {}, [])
    taps: dict[int, set[int]] = defaultdict(set)  # places along the flow of a port's readers
    for index, edge in flow_of(w.group):
        if edge.tail.child == BORDER and edge.head.child != BORDER:
            side = w.sides.get(("in", edge.tail.port))
            if not side:
                continue
            inner = w.inside.get(edge.head.child)
            if inner is not None and inner.ins[edge.head.port].side != "start":
                taps[edge.tail.port].add(-2 - edge.head.child)
                continue
            column, level = _arrival(w, flanks, index, side)
            if level < 0:
                taps[edge.tail.port].add(-1_000_000 - index)
                continue
            taps[edge.tail.port].add(level)
            flanks.rank[index] = level
            flanks.turns.append((level, w.layers.net_of[(BORDER, edge.tail.port)], column, side))
        elif edge.head.child == BORDER and edge.tail.child != BORDER:
            side = w.sides.get(("out", edge.head.port))
            if not side:
                continue
            tail = w.tail_cell(edge.tail.child, edge.tail.port)
            assert tail is not None
            cell = w.layers.cells[tail]
            flanks.rank[index] = cell.rank
            number = w.layers.net_of[(edge.tail.child, edge.tail.port)]
            column = cell.u + w.tail_off.get((tail, edge.tail.port), 0.0)
            flanks.turns.append((cell.rank, number, column, side))
    for port in sorted(taps, reverse=True):
        if len(taps[port]) > 1:
            side = w.sides[("in", port)]
            flanks.border[side] += -w.ctx.sizes.lane_gap if side == "low" else w.ctx.sizes.lane_gap
            flanks.trunk[port] = flanks.border[side]
    return flanks


def _arrival(w: Worded, flanks: Flanks, index: int, side: str) -> tuple[float, int]:
    """(column in which a line rises to its reader, its channel); channel -1: it comes straight."""
    head, layers = w.group.edges[index].head, w.layers
    if index in layers.entry_of:
        dummy = layers.entry_of[index]
        if layers.comes_straight(dummy):
            flanks.straight.add(dummy)
            return 0.0, -1
        return layers.cells[dummy].u, layers.cells[dummy].rank - 1
    cell = w.head_cell(head.child, head.port)
    column = layers.cells[cell].u + w.head_off.get((cell, head.port), 0.0)
    return column, layers.cells[cell].rank - 1


def draw_flanks(w: Standing, out: Placed) -> None:
    """Every line that comes from a flank or goes to one, the readers of a trunk from one place."""
    for number, _ in flow_of(w.group):
        if len(w.layers.paths[number]) < 2:
            _flank_wire(w, out, number)


def _flank_wire(w: Standing, out: Placed, number: int) -> None:
    edge = w.group.edges[number]
    if edge.head.child == BORDER:
        side = w.sides[("out", edge.head.port)]
        v = w.track[(w.flanks.rank[number], w.layers.net_of[(edge.tail.child, edge.tail.port)])]
        tail = w.tail_cell(edge.tail.child, edge.tail.port)
        assert tail is not None
        cell = w.layers.cells[tail]
        u = cell.u + w.tail_off.get((tail, edge.tail.port), 0.0)
        out.outs[edge.head.port] = Gate(side, v)
        points = [(u, w.tail_v(edge.tail.child)), (u, v), (w.flanks.border[side], v)]
        out.wires.append(Wire(number, straightened(points)))
        return
    port = edge.tail.port
    side, edge_u = w.sides[("in", port)], w.flanks.border[w.sides[("in", port)]]
    trunk = w.flanks.trunk.get(port, edge_u)
    wire = Wire(number, _from_flank(w, number, side, trunk))
    v = wire.points[0][1]
    out.wires.append(wire)
    out.ins[port] = Gate(side, v)
    if port in w.flanks.trunk:
        wire.points = [(edge_u, v), (trunk, v), *wire.points]
        out.trunks.setdefault(port, []).append(wire)
        out.move_gate(port, math.inf)


def _from_flank(w: Standing, number: int, side: str, start: float) -> list[Point]:
    """From ``start`` at a flank to the reader, in the channel below it or straight to its side."""
    edge, layers = w.group.edges[number], w.layers
    inner = w.inside.get(edge.head.child)
    if inner is not None and inner.ins[edge.head.port].side != "start":
        spot = w.spot_of[edge.head.child]
        v = spot.v + inner.ins[edge.head.port].at
        return [(start, v), (spot.u if side == "low" else spot.u + spot.du, v)]
    dummy = layers.entry_of.get(number)
    if dummy is not None and dummy in w.flanks.straight:
        end = at_side(w, dummy)[-1]
        return [(start, end[1]), end]
    v = w.track[(w.flanks.rank[number], layers.net_of[(BORDER, edge.tail.port)])]
    if dummy is not None:
        return straightened([(start, v), (layers.cells[dummy].u, v), *at_side(w, dummy)])
    cell = w.head_cell(edge.head.child, edge.head.port)
    u = layers.cells[cell].u + w.head_off.get((cell, edge.head.port), 0.0)
    return straightened([(start, v), (u, v), (u, w.head_v(edge.head.child))])
