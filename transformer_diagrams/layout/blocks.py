"""Straight runs: which cells stand in one line, as one rigid block.

Before: ordered ranks with known extents and port offsets. After: the block of every cell and its
offset in it. Lines are taken by their worth, the main stream first, and each is made straight
unless it crosses one that is, or the cells that it would bind do not keep their gaps.
(After Brandes and Köpf 2001; a block may branch where a group's ports cannot move.)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Set

from transformer_diagrams.layout.layers import Layers, Segment

EPS = 1e-6


def join_blocks(
    layers: Layers,
    gap: Callable[[int, int], float],
    tail_offset: Callable[[Segment], float],
    head_offset: Callable[[Segment], float],
    firm: Set[int],
    steps: Mapping[int, float],
) -> tuple[list[int], list[float]]:
    """Block and offset within it, by cell; the arguments are those of `position.place_cells`."""
    cells = layers.cells
    place = {c: i for rank in layers.ranks for i, c in enumerate(rank)}
    from_start = _least_places(layers, gap)
    root, offset = list(range(len(cells))), [0.0] * len(cells)
    members = {c: [c] for c in root}
    straight: set[tuple[str, int, int]] = set()  # ends that have their straight line
    taken: dict[int, list[tuple[int, int]]] = defaultdict(list)
    parted = [
        (layers.segments[i], math.copysign(1.0, step), abs(step) - EPS)
        for i, step in steps.items()
        if step
    ]
    for seg in _by_worth(layers, place, steps):
        ends = {
            ("out", seg.tail, seg.tail_port if cells[seg.tail].child in firm else -1),
            ("in", seg.head, seg.head_port if cells[seg.head].child in firm else -1),
        }
        level, t, h = cells[seg.tail].rank, place[seg.tail], place[seg.head]
        if ends & straight or any((t - a) * (h - b) < 0 for a, b in taken[level]):
            continue
        one, two = root[seg.tail], root[seg.head]
        shift = offset[seg.tail] + tail_offset(seg) - head_offset(seg) - offset[seg.head]
        if one == two and abs(shift) > EPS:
            continue
        if one != two:
            if not _fits(layers, members[one], members[two], offset, shift, from_start):
                continue
            moved = {c: offset[c] + shift for c in members[two]}
            here = moved | {c: offset[c] for c in members[one]}
            if any(
                s.tail in here
                and s.head in here
                and (here[s.head] + head_offset(s) - here[s.tail] - tail_offset(s)) * sign < least
                for s, sign, least in parted
            ):
                continue
            for c, at in moved.items():
                root[c], offset[c] = one, at
            members[one] += members.pop(two)
        straight |= ends
        taken[level].append((t, h))
    number = {block: i for i, block in enumerate(members)}
    return [number[block] for block in root], offset


def _by_worth(layers: Layers, place: dict[int, int], steps: Mapping[int, float]) -> list[Segment]:
    """The segments that are worth being straight, the best first: those that must be."""
    cells = layers.cells
    outs: dict[int, list[Segment]] = defaultdict(list)
    ins: dict[int, list[Segment]] = defaultdict(list)
    for seg in layers.segments:
        outs[seg.tail].append(seg)
        ins[seg.head].append(seg)

    def worth(seg: Segment) -> float:
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
                score -= 40.0 if seg.head in layers.loose else 10.0
        return score

    rated = [
        (200.0 if steps.get(i) == 0.0 else worth(seg), i, seg)
        for i, seg in enumerate(layers.segments)
    ]
    return [seg for score, _, seg in sorted(rated, key=lambda r: (-r[0], r[1])) if score > 0]


def _least_places(layers: Layers, gap: Callable[[int, int], float]) -> dict[int, float]:
    """Where each cell stands if its rank is packed to one side."""
    at: dict[int, float] = {}
    for rank in layers.ranks:
        for i, c in enumerate(rank):
            before = rank[i - 1] if i else c
            cells = layers.cells
            step = cells[before].right + cells[c].left + gap(before, c) if i else 0.0
            at[c] = at.get(before, 0.0) + step
    return at


def _fits(
    layers: Layers,
    one: list[int],
    two: list[int],
    offset: list[float],
    shift: float,
    from_start: dict[int, float],
) -> bool:
    """Whether block ``two``, moved by ``shift``, keeps its gaps to ``one`` in the ranks of both."""
    here: dict[int, list[int]] = defaultdict(list)
    for c in one:
        here[layers.cells[c].rank].append(c)
    for c in two:
        for d in here.get(layers.cells[c].rank, ()):
            away, need = offset[c] + shift - offset[d], from_start[c] - from_start[d]
            if (need > 0 and away < need - EPS) or (need < 0 and away > need + EPS):
                return False
    return True
