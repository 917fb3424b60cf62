"""Results: where children stand, and every edge as a run of points; residual lanes beside."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

from transformer_diagrams.graph.ir import BORDER, Node
from transformer_diagrams.layout.layers import Segment
from transformer_diagrams.layout.placed import Gate, Placed, Point, Spot, Wire, straightened
from transformer_diagrams.layout.stages import PORT_GAP, Stacked, Standing
from transformer_diagrams.layout.stream import aside, flow_of, is_wide, spine_of


def place_spots(w: Stacked) -> dict[int, Spot]:
    """The rectangle of every child."""
    spots: list[Spot] = []
    for index, child in enumerate(w.group.children):
        if is_wide(child):
            numbers = [w.layers.cell_of[(index, i)] for i in range(len(child.inputs))]
            cells = [w.layers.cells[c] for c in numbers]
            low = min(c.u - 24.0 if not w.ctx.across else c.u - 12.0 for c in cells)
            high = max(c.u + 24.0 if not w.ctx.across else c.u + 12.0 for c in cells)
            dv = w.dv[index]
            v = w.middle(cells[0].rank) - dv / 2
            spots.append(Spot(index, low, v, high - low, dv))
            continue
        cell = w.layers.cells[w.layers.cell_of[(index, 0)]]
        dv = w.dv[index]
        v = w.middle(cell.rank) - dv / 2
        if index in w.inside:
            placed = w.inside[index]
            spots.append(
                Spot(index, cell.u - placed.ref, v, placed.width, placed.length, placed)
            )
            continue
        size = w.sized[index]
        front = w.front(index)
        deep = size.width if w.ctx.across else size.height
        if w.ctx.direction == "down":
            v += size.sheet
        spots.append(Spot(index, cell.u - front / 2, v, front, deep))
    return {spot.child: spot for spot in spots}


def draw_wires(w: Standing) -> Placed:
    """Every edge as a run of points from its tail to its head."""
    out = Placed(spots=list(w.spot_of.values()))
    layers, cells = w.layers, w.layers.cells
    seg_of: dict[tuple[int, int, int], Segment] = {}
    for seg in layers.segments:
        seg_of[(seg.tail, seg.head, seg.head_port)] = seg
    for number, edge in flow_of(w.group):
        path = layers.paths[number]
        if len(path) < 2:
            continue
        net = layers.net_of[(edge.tail.child, edge.tail.port)]
        first = cells[path[0]]
        points: list[Point] = []
        start_v = 0.0 if first.kind == "in" else w.tail_v(edge.tail.child)
        side_entry = cells[path[-2]].beside == path[-1]
        steps = path[:-1] if side_entry else path
        for a, b in pairwise(steps):
            found = seg_of[(a, b, edge.head.port if b == path[-1] else 0)]
            u, x = w.columns_of(found)
            if not points:
                points.append((u, start_v))
            if abs(u - x) > 0.01:
                v = w.track[(cells[a].rank, net)]
                points += [(u, v), (x, v)]
            end_u = x
        head = cells[path[-1]]
        if side_entry:
            points += at_side(w, path[-2])
        elif head.kind == "out":
            points.append((end_u, w.top[-1]))
        else:
            points.append((end_u, w.head_v(head.child)))
        out.wires.append(Wire(number, straightened(points)))
    for port, cell in layers.in_cell.items():
        out.ins[port] = Gate("start", cells[cell].u)
    for port, cell in layers.out_cell.items():
        out.outs[port] = Gate("end", cells[cell].u)
    out.length = w.top[-1] if w.top else 0.0
    edges, port = spine_of(w.group, w.nested, aside(w.sides))
    # where the stream gives way to stand over a middle, it is no straight line
    out.spine = frozenset(number for number in edges if _upright(w, number))
    if port >= 0 and port in layers.in_cell:
        out.ref = cells[layers.in_cell[port]].u
    elif edges and w.group.edges[edges[-1]].tail.child != BORDER:
        tail = w.group.edges[edges[-1]].tail.child
        out.ref = cells[layers.cell_of[(tail, 0)]].u
    elif cells:
        out.ref = cells[0].u
    return out


def _upright(w: Standing, number: int) -> bool:
    """False for a piece of the stream that gives way, to or from what stands over a middle."""
    steps = set(pairwise(w.layers.paths.get(number, ())))  # none: another line stands for it
    return all(seg.spine for seg in w.layers.segments if (seg.tail, seg.head) in steps)


def at_side(w: Standing, dummy: int) -> list[Point]:
    """Where the line through a dummy beside a circle or box turns, and where it meets it."""
    cell = w.layers.cells[dummy]
    circle = w.layers.cells[cell.beside]
    v, reach = _port_at_side(w, cell.beside, w.slots.get(dummy, 0.0))
    return [(cell.u, v), (circle.u + (reach if cell.u > circle.u else -reach), v)]


def _port_at_side(w: Standing, circle: int, offset: float) -> tuple[float, float]:
    """v of a port at the side of a circle or box, and how far it lies from its column."""
    child = w.layers.cells[circle].child
    node = w.group.children[child]
    if isinstance(node, Node) and node.form == "box":
        return w.middle(w.layers.cells[circle].rank), w.front(child) / 2
    radius = w.ctx.sizes.circle_radius
    return w.middle(w.layers.cells[circle].rank) + offset, math.sqrt(radius**2 - offset**2)


def share_sides(w: Stacked) -> dict[int, float]:
    """Give every line at the side of a circle a place of its own.

    From the lower end of the flow: what comes up from below, the nearest first, then what comes
    straight from a flank. So none crosses another there.
    """
    slots: dict[int, float] = {}
    sides: dict[tuple[int, bool], list[tuple[int, float, int]]] = defaultdict(list)
    for cell in w.layers.cells:
        if cell.beside >= 0:
            far = abs(cell.u - w.layers.cells[cell.beside].u)
            kind = 1 if cell.index in w.flanks.straight else 0
            side = (cell.beside, cell.u > w.layers.cells[cell.beside].u)
            sides[side].append((kind, far, cell.index))
    for number, edge in enumerate(w.group.edges):
        if edge.kind == "residual":
            cell_index = w.layers.cell_of[(edge.head.child, 0)]
            sides[(cell_index, w.layers.lane == "high")].append((0, math.inf, -1 - number))
    for ends in sides.values():
        radius, last = w.ctx.sizes.circle_radius, (len(ends) - 1) / 2
        step = min(PORT_GAP, 0.83 * radius / last) if last else 0.0
        lift = 0.13 * radius if last >= 1 else 0.0  # the lowest keeps clear of what is below
        for i, (_, _, key) in enumerate(sorted(ends)):
            slots[key] = (i - last) * step + lift
    return slots


def draw_lanes(w: Standing, out: Placed) -> None:
    """Residual paths: from a tap on the main stream, around one side, into the adder's side."""
    s = w.ctx.sizes
    right = max([w.flanks.border["high"], *(sp.u + sp.du for sp in out.spots)])
    left = min([w.flanks.border["low"], *(sp.u for sp in out.spots)])
    on_right = w.layers.lane == "high"
    lane = right if on_right else left
    for number, edge in enumerate(w.group.edges):
        if edge.kind != "residual":
            continue
        lane += s.lane_gap if on_right else -s.lane_gap
        circle = w.layers.cell_of[(edge.head.child, 0)]
        center, reach = _port_at_side(w, circle, w.slots.get(-1 - number, 0.0))
        end = w.layers.cells[circle].u + (reach if on_right else -reach)
        if edge.tail.child == BORDER:
            cell = w.layers.in_cell.get(edge.tail.port)
            u = w.layers.cells[cell].u if cell is not None else out.ref
            v = 2.0
        else:
            cell = w.tail_cell(edge.tail.child, edge.tail.port)
            assert cell is not None
            u = w.layers.cells[cell].u + w.tail_off.get((cell, edge.tail.port), 0.0)
            v = w.tail_v(edge.tail.child) + 4.0
        out.wires.append(
            Wire(
                number,
                [(u, v), (lane, v), (lane, center), (end, center)],
                True,
                True,
            )
        )
        if on_right:
            out.lane = lane
    spare = 0.0 if lane in (left, right) else 1.0
    left = min(left, lane - spare)
    out.width = max(right, lane + spare) - left
    out.shift_u(-left)
