"""What a placed group costs: the number by which the search chooses among its candidates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from transformer_diagrams.graph.ir import Group
from transformer_diagrams.layout.placed import KINKED, SAME, Placed, Point

# In points.
CROSSING = 80.0
BEND = 10.0
KINK = 40.0  # an offset below KINKED between two parallel runs of one line
LENGTH = 0.06  # a point of line
EXTENT = 0.6  # a point of the group's width or length
SKEW = 0.25  # a point between a meeting and the middle of what meets there


def cost(group: Group, placed: Placed, meets: Sequence[int] = ()) -> float:
    """What a placed group costs: crossings, bends, length, extent, and how far meetings stand
    from the middle of what meets in them."""
    level: list[tuple[tuple[int, int], Point, Point]] = []
    upright: list[tuple[tuple[int, int], Point, Point]] = []
    bends, kinks, length = 0, 0, 0.0
    starts: dict[int, list[float]] = defaultdict(list)
    for wire in placed.wires:
        if wire.edge < 0:  # a line back runs beside what was placed
            continue
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
