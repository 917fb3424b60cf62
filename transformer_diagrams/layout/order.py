"""Order of the cells within each rank: few crossings, the author's order where it is free.

Before: cells in ranks, in the author's order. After: the same ranks, reordered.
Barycentre sweeps keep the best order seen; side entries stand next to their circle and the lanes
of a wide box next to each other.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict

from transformer_diagrams.layout.layers import Layers

SWEEPS = 8
BIG = 4000  # segments beyond which one sweep must do


def order_cells(layers: Layers) -> None:
    """Reorder ``layers.ranks`` in place."""
    below: dict[int, list[tuple[int, float]]] = defaultdict(list)
    above: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for seg in layers.segments:
        above[seg.tail].append((seg.head, layers.head_shift(seg)))
        below[seg.head].append((seg.tail, layers.tail_shift(seg)))
    _sweep(layers, below, upward=True)
    _tidy(layers)
    best, fewest = [list(r) for r in layers.ranks], crossings(layers)
    rounds = SWEEPS if len(layers.segments) < BIG else 1
    for turn in range(rounds):
        if not fewest:
            break
        upward = turn % 2 == 1
        _sweep(layers, below if upward else above, upward=upward)
        _tidy(layers)
        count = crossings(layers)
        if count < fewest:
            best, fewest = [list(r) for r in layers.ranks], count
    layers.ranks = best
    if fewest and len(layers.segments) < 400:
        _transpose(layers)


def crossings(layers: Layers) -> int:
    """Pairs of segments between the same two ranks that cross."""
    place = {cell: i for rank in layers.ranks for i, cell in enumerate(rank)}
    by_rank: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for seg in layers.segments:
        tail = place[seg.tail] + layers.tail_shift(seg)
        head = place[seg.head] + layers.head_shift(seg)
        by_rank[layers.cells[seg.tail].rank].append((tail, head))
    total = 0
    for pairs in by_rank.values():
        pairs.sort()
        heads: list[float] = []
        for _, head in pairs:
            total += len(heads) - bisect_right(heads, head)
            insort(heads, head)
    return total


def _sweep(layers: Layers, near: dict[int, list[tuple[int, float]]], *, upward: bool) -> None:
    place: dict[int, float] = {}
    ranks = layers.ranks if upward else layers.ranks[::-1]
    for rank in ranks:
        keys: dict[int, tuple[float, int]] = {}
        for i, cell in enumerate(rank):
            spots = [place[c] + shift for c, shift in near.get(cell, ()) if c in place]
            keys[cell] = (sum(spots) / len(spots) if spots else -1.0, i)
        # cells with no neighbour keep their place among the others
        free = [c for c in rank if keys[c][0] < 0]
        tied = sorted((c for c in rank if keys[c][0] >= 0), key=lambda c: keys[c])
        merged = list(tied)
        for cell in free:
            merged.insert(min(rank.index(cell), len(merged)), cell)
        rank[:] = merged
        width = max(len(rank) - 1, 1)
        for i, cell in enumerate(rank):
            place[cell] = i / width if len(rank) > 1 else 0.5


def _tidy(layers: Layers) -> None:
    """Put side entries beside their circle and the lanes of one box together."""
    cells = layers.cells
    layers.ranks[0].sort(key=lambda c: {"low": 0, "": 1, "high": 2}[cells[c].lean])
    for rank in layers.ranks:
        circles: dict[int, list[int]] = defaultdict(list)
        for c in rank:
            if cells[c].beside >= 0:
                circles[cells[c].beside].append(c)
        for circle, entries in circles.items():
            at = rank.index(circle)
            if len(entries) > 1:  # from both sides
                half = len(entries) // 2
                left, right = entries[:half], entries[half:]
            else:
                left = [c for c in entries if rank.index(c) < at]
                right = [c for c in entries if rank.index(c) > at]
            for c in entries:
                rank.remove(c)
            at = rank.index(circle)
            rank[at : at + 1] = [*left, circle, *right]
        lanes: dict[int, list[int]] = defaultdict(list)
        for c in rank:
            if cells[c].kind == "slice":
                lanes[cells[c].child].append(c)
        for group in lanes.values():
            at = rank.index(group[0])
            for c in group:
                rank.remove(c)
            rank[at:at] = group


def _transpose(layers: Layers) -> None:
    """Swap neighbours while that removes crossings; circles keep their side entries beside them."""
    bound = {c.index for c in layers.cells if c.beside >= 0}
    bound |= {c.beside for c in layers.cells if c.beside >= 0}
    for _ in range(6):
        better = False
        for rank in layers.ranks:
            for i in range(len(rank) - 1):
                if bound & {rank[i], rank[i + 1]} or not _swappable(layers, rank[i], rank[i + 1]):
                    continue
                before = crossings(layers)
                rank[i], rank[i + 1] = rank[i + 1], rank[i]
                if crossings(layers) < before:
                    better = True
                else:
                    rank[i], rank[i + 1] = rank[i + 1], rank[i]
        if not better:
            return


def _swappable(layers: Layers, a: int, b: int) -> bool:
    one, two = layers.cells[a], layers.cells[b]
    return "slice" not in (one.kind, two.kind) and not one.lean and not two.lean
