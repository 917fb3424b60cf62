"""Results: where children stand, and every edge as a run of points; residual lanes beside."""

from __future__ import annotations

from itertools import pairwise

from transformer_diagrams.graph.ir import BORDER
from transformer_diagrams.layout.layers import (
    Segment,
    flow_of,
    is_wide,
    spine_of,
)
from transformer_diagrams.layout.placed import Gate, Point, Spot, Wire, straightened
from transformer_diagrams.layout.work import (
    Work,
)


def place_spots(w: Work) -> None:
    """The rectangle of every child."""
    for index, child in enumerate(w.group.children):
        if is_wide(child):
            numbers = [w.layers.cell_of[(index, i)] for i in range(len(child.inputs))]
            cells = [w.layers.cells[c] for c in numbers]
            low = min(c.u - 24.0 if not w.ctx.across else c.u - 12.0 for c in cells)
            high = max(c.u + 24.0 if not w.ctx.across else c.u + 12.0 for c in cells)
            dv = w.dv[index]
            v = w.middle(cells[0].rank) - dv / 2
            w.out.spots.append(Spot(index, low, v, high - low, dv))
            continue
        cell = w.layers.cells[w.layers.cell_of[(index, 0)]]
        dv = w.dv[index]
        v = w.middle(cell.rank) - dv / 2
        if index in w.inside:
            placed = w.inside[index]
            w.out.spots.append(
                Spot(index, cell.u - placed.ref, v, placed.width, placed.length, placed)
            )
            continue
        size = w.sized[index]
        front = w.front(index)
        deep = size.width if w.ctx.across else size.height
        if w.ctx.direction == "down":
            v += size.sheet
        w.out.spots.append(Spot(index, cell.u - front / 2, v, front, deep))
    w.spot_of = {spot.child: spot for spot in w.out.spots}


def draw_wires(w: Work) -> None:
    """Every edge as a run of points from its tail to its head."""
    layers, cells = w.layers, w.layers.cells
    seg_of: dict[tuple[int, int, int], Segment] = {}
    for seg in layers.segments:
        seg_of[(seg.tail, seg.head, seg.head_port)] = seg
    left, right = w.borders()
    for number, edge in flow_of(w.group):
        if number in w.flank_rank:
            _flank_wire(w, number, left, right)
            continue
        path = layers.paths[number]
        if len(path) < 2:
            _direct_wire(w, number, left, right)
            continue
        net = layers.net_of[(edge.tail.child, edge.tail.port)]
        first = cells[path[0]]
        start_v = 0.0 if first.kind == "in" else w.tail_v(first.child)
        points: list[Point] = []
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
            level = head.rank
            if not points:
                points.append((cells[steps[0]].u, start_v))
                end_u = points[0][0]
            middle = w.middle(level)
            radius = w.ctx.sizes.circle_radius
            toward = radius if end_u > head.u else -radius
            points += [(end_u, middle), (head.u + toward, middle)]
        elif head.kind == "out":
            points.append((end_u, w.top[-1]))
        else:
            points.append((end_u, w.head_v(head.child)))
        w.out.wires.append(Wire(number, straightened(points)))
    for port, cell in layers.in_cell.items():
        w.out.ins[port] = Gate("start", cells[cell].u)
    for port, cell in layers.out_cell.items():
        w.out.outs[port] = Gate("end", cells[cell].u)
    w.out.length = w.top[-1] if w.top else 0.0
    edges, port = spine_of(w.group, w.nested)
    w.out.spine = frozenset(edges)
    if port >= 0 and port in layers.in_cell:
        w.out.ref = cells[layers.in_cell[port]].u
    elif edges and w.group.edges[edges[-1]].tail.child != BORDER:
        tail = w.group.edges[edges[-1]].tail.child
        w.out.ref = cells[layers.cell_of[(tail, 0)]].u
    elif cells:
        w.out.ref = cells[0].u


def _flank_wire(w: Work, number: int, left: float, right: float) -> None:
    edge, level = w.group.edges[number], w.flank_rank[number]
    net = w.layers.net_of[(edge.tail.child, edge.tail.port)]
    v = w.track[(level, net)]
    if edge.tail.child == BORDER:
        side = w.sides[("in", edge.tail.port)]
        child = w.group.children[edge.head.child]
        cell = w.layers.cell_of[(edge.head.child, edge.head.port if is_wide(child) else 0)]
        u = w.layers.cells[cell].u + w.head_off.get((cell, edge.head.port), 0.0)
        edge_u = left if side == "low" else right
        points = [(edge_u, v), (u, v), (u, w.head_v(edge.head.child))]
        w.out.ins[edge.tail.port] = Gate(side, v)
    else:
        side = w.sides[("out", edge.head.port)]
        child = w.group.children[edge.tail.child]
        cell = w.layers.cell_of[(edge.tail.child, edge.tail.port if is_wide(child) else 0)]
        u = w.layers.cells[cell].u + w.tail_off.get((cell, edge.tail.port), 0.0)
        edge_u = left if side == "low" else right
        points = [(u, w.tail_v(edge.tail.child)), (u, v), (edge_u, v)]
        w.out.outs[edge.head.port] = Gate(side, v)
    w.out.wires.append(Wire(number, straightened(points)))


def _direct_wire(w: Work, number: int, left: float, right: float) -> None:
    """From our flank straight into a child's flank."""
    edge = w.group.edges[number]
    side = w.sides[("in", edge.tail.port)]
    spot = w.spot_of[edge.head.child]
    assert spot.inside is not None
    v = spot.v + spot.inside.ins[edge.head.port].at
    near = spot.u if side == "low" else spot.u + spot.du
    w.out.ins[edge.tail.port] = Gate(side, v)
    w.out.wires.append(Wire(number, [(left if side == "low" else right, v), (near, v)]))


def draw_lanes(w: Work) -> None:
    """Residual paths: from a tap on the main stream, around the right, into the adder's side."""
    s = w.ctx.sizes
    left, right = w.borders()
    right = max([right, *(sp.u + sp.du for sp in w.out.spots)])
    left = min([left, *(sp.u for sp in w.out.spots)])
    lane = right
    for number, edge in enumerate(w.group.edges):
        if edge.kind != "residual":
            continue
        lane += s.lane_gap
        head = w.spot_of[edge.head.child]
        center = head.v + head.dv / 2
        if edge.tail.child == BORDER:
            cell = w.layers.in_cell.get(edge.tail.port)
            u = w.layers.cells[cell].u if cell is not None else w.out.ref
            v = 2.0
        else:
            cell = w.tail_cell(edge.tail.child, edge.tail.port)
            assert cell is not None
            u = w.layers.cells[cell].u + w.tail_off.get((cell, edge.tail.port), 0.0)
            v = w.tail_v(edge.tail.child) + 4.0
        w.out.wires.append(
            Wire(
                number,
                [(u, v), (lane, v), (lane, center), (head.u + head.du, center)],
                True,
                True,
            )
        )
        w.out.lane = lane
    w.out.width = (lane if lane > right else right) - left
    w.out.shift_u(-left)
    if w.out.lane is not None:
        w.out.width += 1.0
