"""Positions across the flow: straight runs become rigid blocks, then the blocks are placed.

Before: ordered ranks with known extents and port offsets. After: every cell has its u.
Each block is one straight line (the main stream, a long edge, a box under its only reader).
The blocks minimise the squared length of what is left crooked, keeping the order and the gaps.
(The quadratic placement after Dwyer, Marriott, Stuckey 2005.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Set
from itertools import pairwise
from types import MappingProxyType

from transformer_diagrams.layout.blocks import join_blocks
from transformer_diagrams.layout.layers import Layers, Segment
from transformer_diagrams.records import dataclass

EPS = 1e-6


@dataclass(frozen=True, slots=True)
class Pull:
    """A wish: x[a] + shift = x[b], as strongly as ``weight``."""

    a: int
    b: int
    shift: float
    weight: float


class _Contradiction(Exception):
    """Blocks that cannot all keep the order of their cells."""


def place_cells(
    layers: Layers,
    gap: Callable[[int, int], float],
    tail_offset: Callable[[Segment], float],
    head_offset: Callable[[Segment], float],
    spans: list[tuple[int, int, float]],
    firm: Set[int] = frozenset(),
    steps: Mapping[int, float] = MappingProxyType({}),
) -> None:
    """Set ``u`` of every cell.

    gap(a, b)   least distance between the extents of neighbours a, b in a rank
    *_offset    where a segment leaves or enters its cell, from the cell's u
    spans       (first cell, last cell, least distance of their u) for wide boxes
    firm        cells with ports that cannot move: a line from each may be straight
    steps       what segments, by number, must do: 0: run straight; else step so far at least
    """
    cells = layers.cells
    block, offset = join_blocks(layers, gap, tail_offset, head_offset, firm, steps)
    count = max(block, default=-1) + 1
    apart: dict[tuple[int, int], float] = {}

    def keep(a: int, b: int, distance: float) -> None:
        pair = (block[a], block[b])
        need = distance + offset[a] - offset[b]
        if pair[0] != pair[1]:
            apart[pair] = max(apart.get(pair, -1e18), need)

    for rank in layers.ranks:
        for a, b in pairwise(rank):
            keep(a, b, cells[a].right + cells[b].left + gap(a, b))
    for a, b, distance in spans:
        keep(a, b, distance)
    for number, step in steps.items():
        seg = layers.segments[number]
        shift = tail_offset(seg) - head_offset(seg)
        if step > 0:
            keep(seg.tail, seg.head, shift + step)
        elif step < 0:
            keep(seg.head, seg.tail, -shift - step)

    pulls: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for seg in layers.segments:
        a, b = block[seg.tail], block[seg.head]
        if a != b:
            shift = offset[seg.tail] + tail_offset(seg) - offset[seg.head] - head_offset(seg)
            weight = 8.0 if seg.spine else 1.0
            if cells[seg.head].kind == "out" or cells[seg.tail].kind == "in":
                weight *= 0.5
            pulls[(a, b)].append((shift, weight))
    wishes = [
        Pull(a, b, sum(s * w for s, w in many) / sum(w for _, w in many), sum(w for _, w in many))
        for (a, b), many in pulls.items()
    ]
    try:
        x = solve(count, apart, wishes)
    except _Contradiction:  # blocks that branch stand on both sides of one another
        place_cells(layers, gap, tail_offset, head_offset, spans, steps=steps if firm else {})
        return
    for cell in cells:
        cell.u = x[block[cell.index]] + offset[cell.index]


def solve(count: int, apart: dict[tuple[int, int], float], wishes: list[Pull]) -> list[float]:
    """Positions with x[b] - x[a] >= apart[a, b] that (nearly) minimise the squared wishes.

    Moves one block, or a block with all that it pushes, to the best place its slack allows,
    until nothing moves: exact where no two pushes share a wall, and always feasible.
    """
    right: dict[int, list[tuple[int, float]]] = defaultdict(list)
    left: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for (a, b), d in apart.items():
        right[a].append((b, d))
        left[b].append((a, d))
    x = _packed(count, right, left)
    near: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
    for wish in wishes:
        near[wish.a].append((wish.b, -wish.shift, wish.weight))  # x[a] = x[b] - shift
        near[wish.b].append((wish.a, wish.shift, wish.weight))
    if not wishes:
        return x

    def slope(i: int) -> float:
        return sum(w * (x[i] - x[j] - s) for j, s, w in near[i])

    def push(seeds: list[int], forward: bool) -> list[int]:
        links = right if forward else left
        group, todo = set(seeds), list(seeds)
        while todo:
            i = todo.pop()
            for j, d in links[i]:
                slack = x[j] - x[i] - d if forward else x[i] - x[j] - d
                if slack < EPS and j not in group:
                    group.add(j)
                    todo.append(j)
        return sorted(group)

    def move(group: list[int], forward: bool) -> float:
        inside = set(group)
        pull = curve = 0.0
        for i in group:
            for j, s, w in near[i]:
                if j not in inside:
                    pull += w * (x[i] - x[j] - s)
                    curve += w
        if curve <= 0 or (pull >= -EPS if forward else pull <= EPS):
            return 0.0
        step = -pull / curve
        for i in group:
            for j, d in (right if forward else left)[i]:
                if j not in inside:
                    slack = x[j] - x[i] - d if forward else x[i] - x[j] - d
                    step = min(step, slack) if forward else max(step, -slack)
        for i in group:
            x[i] += step
        return abs(step)

    rounds = 400 if count < 300 else 60
    for _ in range(rounds):
        moved = 0.0
        wanting: dict[bool, list[int]] = {True: [], False: []}
        for i in range(count):
            g = slope(i)
            if abs(g) > EPS:
                forward = g < 0
                wanting[forward].append(i)
                moved = max(moved, move(push([i], forward), forward))
        if count < 300:
            for forward, seeds in wanting.items():
                if len(seeds) > 1:
                    for part in _parts(push(seeds, forward), right, left, x):
                        moved = max(moved, move(part, forward))
        if moved < 0.01:
            break
    return x


def _parts(
    group: list[int],
    right: dict[int, list[tuple[int, float]]],
    left: dict[int, list[tuple[int, float]]],
    x: list[float],
) -> list[list[int]]:
    """A pushed set cut into parts that touch each other."""
    rest, parts = set(group), []
    while rest:
        todo = [min(rest)]
        part = set(todo)
        rest -= part
        while todo:
            i = todo.pop()
            for j, d in right[i]:
                if j in rest and x[j] - x[i] - d < EPS:
                    rest.discard(j)
                    part.add(j)
                    todo.append(j)
            for j, d in left[i]:
                if j in rest and x[i] - x[j] - d < EPS:
                    rest.discard(j)
                    part.add(j)
                    todo.append(j)
        parts.append(sorted(part))
    return parts


def _packed(
    count: int,
    right: dict[int, list[tuple[int, float]]],
    left: dict[int, list[tuple[int, float]]],
) -> list[float]:
    """The leftmost feasible places (longest path over the order)."""
    waits = [len(left[i]) for i in range(count)]
    ready = [i for i in range(count) if not waits[i]]
    x = [0.0] * count
    done = 0
    while ready:
        i = ready.pop()
        done += 1
        for j, d in right[i]:
            x[j] = max(x[j], x[i] + d)
            waits[j] -= 1
            if not waits[j]:
                ready.append(j)
    if done < count:
        raise _Contradiction
    return x
