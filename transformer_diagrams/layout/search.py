"""The search: a group is placed in several ways, and the one that costs least is kept.

The candidates are few and fixed, never bounded by a clock, so that the same graph gives the same
picture everywhere: children near their sources or near their readers, a second operand into the
side of its box or from below, the orders that the sweeps of `order` come to, and the stream
straight, or over the middle of the branches that meet in it. A group without a bend is taken as
it is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise, product

from transformer_diagrams.graph.ir import Group
from transformer_diagrams.layout.layers import Layers, build_layers
from transformer_diagrams.layout.order import STARTS, order_cells
from transformer_diagrams.layout.placed import SAME, Placed, Point
from transformer_diagrams.layout.ports import fix_ports
from transformer_diagrams.layout.stages import Filled, Ranked
from transformer_diagrams.layout.stream import aside, meets_of, parting_of

# What a placement costs, in points of length.
CROSSING = 80.0
BEND = 10.0
KINK = 40.0  # an offset of less than KINKED points between two parallel runs of one line
KINKED = 12.0
LENGTH = 0.06  # a point of line
EXTENT = 0.6  # a point of the group's width or length
SWAP = 20.0  # two neighbours that stand in another order than written
SKEW = 0.25  # a point between a meeting and the middle of what meets there
LARGE = 300  # children beyond which there is one candidate


def best(w: Filled, lay_out: Callable[[Ranked], Placed]) -> Placed:
    """The placement of least cost among the candidates; ``lay_out`` runs the passes for one."""
    meets = meets_of(w.group, w.nested, aside(w.sides))
    found, least = Placed(), math.inf
    for layers in _ordered(w):
        for loosened in dict.fromkeys((0, min(1, len(meets)), len(meets))):
            ranked = w.grown(Ranked, layers=layers.again())
            _loosen(ranked, meets[len(meets) - loosened :])
            placed = lay_out(ranked)
            spent = cost(w.group, placed, meets) + SWAP * _swapped(w.group, layers)
            if spent < least - SAME:
                found, least = placed, spent
        if all(len(wire.points) == 2 for wire in found.wires if not wire.lane):
            break
    found.cost = least + sum(child.cost for child in w.inside.values())
    return found


def _ordered(w: Filled) -> Iterator[Layers]:
    """Each different order of the cells that the fixed starts lead to, the plain one first."""
    seen: set[tuple[tuple[tuple[str, int, int, int, int], ...], ...]] = set()
    large = len(w.group.children) > LARGE
    for sided, late, start in product((True, False), (False, True), range(len(STARTS))):
        layers = build_layers(w.group, w.sides, w.nested, late, sided)
        fix_ports(w.grown(Ranked, layers=layers))
        order_cells(layers, start)
        cells = layers.cells
        key = tuple(
            tuple((c.kind, c.child, c.port, c.net, c.beside) for c in map(cells.__getitem__, rank))
            for rank in layers.ranks
        )
        if key not in seen:
            seen.add(key)
            yield layers
        if large:
            return


def _loosen(w: Ranked, meets: list[int]) -> None:
    """Let the stream give way at ``meets`` and where it parts below the first of them."""
    if not meets:
        return
    layers = w.layers
    layers.loose = {layers.cell_of[(child, 0)] for child in meets}
    parting = parting_of(w.group, w.nested, aside(w.sides), meets[-1])
    leaves = w.tail_cell(parting.child, parting.port) if parting is not None else None
    for seg in layers.segments:
        if seg.head in layers.loose or seg.tail == leaves:
            seg.spine = False


def cost(group: Group, placed: Placed, meets: list[int]) -> float:
    """What a placed group costs: crossings, bends, length, extent, and how far meetings stand
    from the middle of what meets in them."""
    level: list[tuple[tuple[int, int], Point, Point]] = []
    upright: list[tuple[tuple[int, int], Point, Point]] = []
    bends, kinks, length = 0, 0, 0.0
    starts: dict[int, list[float]] = defaultdict(list)
    for wire in placed.wires:
        edge = group.edges[wire.edge]
        net = (edge.tail.child, edge.tail.port)
        if not wire.lane:
            bends += len(wire.points) - 2
            starts[edge.head.child].append(wire.points[0][0])
            kinks += sum(math.dist(a, b) < KINKED for a, b in pairwise(wire.points[1:-1]))
        for a, b in pairwise(wire.points):
            length += abs(a[0] - b[0]) + abs(a[1] - b[1])
            (level if abs(a[1] - b[1]) < SAME else upright).append((net, min(a, b), max(a, b)))
    skew = sum(
        abs(spot.u + spot.du / 2 - (min(starts[spot.child]) + max(starts[spot.child])) / 2)
        for spot in placed.spots
        if spot.child in meets
    )
    return (
        CROSSING * _crossings(level, upright)
        + BEND * bends
        + KINK * kinks
        + LENGTH * length
        + EXTENT * (placed.width + placed.length)
        + SKEW * skew
    )


def _swapped(group: Group, layers: Layers) -> int:
    """Neighbours in a rank, children or ports of the group, in another order than the author's."""
    cells, swapped = layers.cells, 0
    for rank in layers.ranks:
        children = [cells[c].child for c in rank if cells[c].child >= 0]
        ports = [cells[c].port for c in rank if cells[c].kind in ("in", "out")]
        if group.kind == "residual":  # its inputs stand as they are needed
            ports = []
        swapped += sum(a > b for a, b in (*pairwise(children), *pairwise(ports)))
    return swapped


def _crossings(
    level: list[tuple[tuple[int, int], Point, Point]],
    upright: list[tuple[tuple[int, int], Point, Point]],
) -> int:
    """Places where pieces of different nets cross."""
    upright.sort(key=lambda piece: piece[1])
    found: set[tuple[tuple[int, int], tuple[int, int], int, int]] = set()
    for net, (left, v), (right, _) in level:
        for other, (u, low), (_, high) in upright:
            if u >= right - 0.5:
                break
            if u > left + 0.5 and low + 0.5 < v < high - 0.5 and other != net:
                found.add((net, other, round(u), round(v)))
    return len(found)
