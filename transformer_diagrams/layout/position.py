"""Positions across the flow: straight runs become rigid blocks, then the blocks are placed.

Before: ordered ranks with known extents and port offsets. After: every cell has its u.
Each block is one straight line (the main stream, a long edge, a box under its only reader).
The blocks minimise the squared length of what is left crooked, keeping the order and the gaps.
(Blocks after Brandes and Köpf 2001; the quadratic placement after Dwyer, Marriott, Stuckey 2005.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise

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


def place_cells(
    layers: Layers,
    gap: Callable[[int, int], float],
    tail_offset: Callable[[Segment], float],
    head_offset: Callable[[Segment], float],
    spans: list[tuple[int, int, float]],
) -> None:
    """Set ``u`` of every cell.

    gap(a, b)   least distance between the extents of neighbours a, b in a rank
    *_offset    where a segment leaves or enters its cell, from the cell's u
    spans       (first cell, last cell, least distance of their u) for wide boxes
    """
    cells = layers.cells
    block, offset = _blocks(layers, tail_offset, head_offset)
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
    x = solve(count, apart, wishes)
    for cell in cells:
        cell.u = x[block[cell.index]] + offset[cell.index]


def _blocks(
    layers: Layers,
    tail_offset: Callable[[Segment], float],
    head_offset: Callable[[Segment], float],
) -> tuple[list[int], list[float]]:
    """Join cells that shall stand in one line; returns block and offset within it, by cell."""
    cells = layers.cells
    outs: dict[int, list[Segment]] = defaultdict(list)
    ins: dict[int, list[Segment]] = defaultdict(list)
    for seg in layers.segments:
        outs[seg.tail].append(seg)
        ins[seg.head].append(seg)
    place = {c: i for rank in layers.ranks for i, c in enumerate(rank)}

    def rating(seg: Segment) -> float:
        tail, head = cells[seg.tail], cells[seg.head]
        if seg.spine:
            return 100.0
        if tail.kind == "dummy" and head.kind == "dummy":
            return 50.0
        fan_out, fan_in = outs[seg.tail], ins[seg.head]
        middle_out = sorted(fan_out, key=lambda s: (place[s.head], s.head_port))
        middle_in = sorted(fan_in, key=lambda s: (place[s.tail], s.tail_port))
        score = 20.0
        if "slice" in (tail.kind, head.kind):
            score = 30.0
        if len(fan_out) > 1 and (len(fan_out) % 2 == 0 or middle_out[len(fan_out) // 2] is not seg):
            score -= 11.0 if head.kind == "dummy" else 14.0
        if len(fan_in) > 1:
            if any(s.spine for s in fan_in):
                score -= 12.0
            elif len(fan_in) % 2 == 0 or middle_in[len(fan_in) // 2] is not seg:
                score -= 10.0
        return score

    chosen_up: dict[int, Segment] = {}
    chosen_down: dict[int, Segment] = {}
    taken: dict[int, list[tuple[int, int]]] = defaultdict(list)
    rated = [(rating(seg), i, seg) for i, seg in enumerate(layers.segments)]
    for score, _, seg in sorted(rated, key=lambda r: (-r[0], r[1])):
        if score <= 0 or seg.tail in chosen_up or seg.head in chosen_down:
            continue
        level = cells[seg.tail].rank
        t, h = place[seg.tail], place[seg.head]
        if any((t < a) != (h < b) for a, b in taken[level]):
            continue
        chosen_up[seg.tail] = seg
        chosen_down[seg.head] = seg
        taken[level].append((t, h))
    block = [-1] * len(cells)
    offset = [0.0] * len(cells)
    number = 0
    for rank in layers.ranks:
        for cell in rank:
            if cell in chosen_down:
                continue
            at, shift = cell, 0.0
            while True:
                block[at], offset[at] = number, shift
                seg = chosen_up.get(at)  # type: ignore[assignment]
                if seg is None:
                    break
                shift += tail_offset(seg) - head_offset(seg)
                at = seg.head
            number += 1
    return block, offset


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
    assert done == count, "the order of cells contradicts itself"
    return x
