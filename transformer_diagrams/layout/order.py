"""Order of the cells within each rank: few crossings, the author's order where it is free.

Before: cells in ranks, in the author's order. After: the same ranks, reordered.
Barycentre sweeps keep the best order seen; side entries stand next to their circle and the lanes
of a wide box next to each other.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import defaultdict

from transformer_diagrams.layout.layers import Layers

Near = dict[int, list[tuple[int, float]]]

FLANKS = {"low": -1, "high": -2}  # stand for cells beyond all others
WISHED = -3  # from here on down: where the line outside a port comes from or goes to
STARTS = ((False, True), (False, False), (True, True), (True, False))  # mirrored, balanced
SWEEPS = 8
BIG = 4000  # segments beyond which one sweep must do


def order_cells(layers: Layers, start: int) -> None:
    """Reorder ``layers.ranks`` in place; ``start`` is one of ``STARTS``."""
    below: Near = defaultdict(list)
    above: Near = defaultdict(list)
    for seg in layers.segments:
        above[seg.tail].append((seg.head, layers.head_shift(seg)))
        below[seg.head].append((seg.tail, layers.tail_shift(seg)))
    for cell, side, _, comes in layers.flanks:
        (below if comes else above)[cell].append((FLANKS[side], 0.0))
    for cell in layers.wishes:
        (below if layers.cells[cell].kind == "in" else above)[cell].append((WISHED - cell, 0.0))
    small = len(layers.segments) < BIG
    mirrored, balanced = STARTS[start]
    if mirrored:
        layers.ranks = [rank[::-1] for rank in layers.ranks]
    layers.ranks = _settled(layers, below, above, balanced, SWEEPS if small else 1)


def _settled(
    layers: Layers, below: Near, above: Near, balanced: bool, rounds: int
) -> list[list[int]]:
    """The best order that sweeps up and down come to."""
    best, fewest = layers.ranks, math.inf
    for turn in range(rounds + 1):
        upward = turn % 2 == 0
        _sweep(layers, below if upward else above, upward=upward)
        _tidy(layers, balanced)
        count = crossings(layers)
        if count < fewest:
            best, fewest = [list(r) for r in layers.ranks], count
        if not count:
            return best
    layers.ranks = best
    if len(layers.segments) < 400:
        _transpose(layers, fewest)
    return layers.ranks


def crossings(layers: Layers) -> float:
    """Pairs of segments between the same two ranks that cross; swapped operands at their cost."""
    place = {cell: i for rank in layers.ranks for i, cell in enumerate(rank)}
    by_rank: dict[int, list[tuple[float, float]]] = defaultdict(list)
    operands: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for seg in layers.segments:
        tail = place[seg.tail] + layers.tail_shift(seg)
        shift = layers.head_shift(seg)
        if seg.head in layers.swap_cost:
            operands[seg.head].append((tail, shift))
            shift = 0.0
        by_rank[layers.cells[seg.tail].rank].append((tail, place[seg.head] + shift))
    for cell, side, level, comes in layers.flanks:
        border = -1.0 if side == "low" else 1.0 * len(layers.cells)
        by_rank[level].append((border, place[cell]) if comes else (place[cell], border))
    for cell, wish in layers.wishes.items():
        by_rank[-1 if layers.cells[cell].kind == "in" else len(layers.ranks)].append(
            (wish, place[cell])
        )
    total = 0.0
    for pairs in by_rank.values():
        total += _inversions(pairs)
    for cell, pairs in operands.items():
        total += layers.swap_cost[cell] * _inversions(pairs)
    return total


def _inversions(pairs: list[tuple[float, float]]) -> int:
    pairs.sort()
    total = 0
    heads: list[float] = []
    for _, head in pairs:
        total += len(heads) - bisect_right(heads, head)
        insort(heads, head)
    return total


def _sweep(layers: Layers, near: Near, *, upward: bool) -> None:
    place: dict[int, float] = {FLANKS["low"]: -0.5, FLANKS["high"]: 1.5}
    place.update((WISHED - cell, wish) for cell, wish in layers.wishes.items())
    ranks = layers.ranks if upward else layers.ranks[::-1]
    for rank in ranks:
        keys: dict[int, tuple[float, int]] = {}
        free: list[int] = []  # no neighbour: they keep their place among the others
        for i, cell in enumerate(rank):
            spots = [place[c] + shift for c, shift in near.get(cell, ()) if c in place]
            if spots:
                keys[cell] = (sum(spots) / len(spots), i)
            else:
                free.append(cell)
        merged = sorted(keys, key=lambda c: keys[c])
        for cell in free:
            merged.insert(min(rank.index(cell), len(merged)), cell)
        rank[:] = merged
        width = max(len(rank) - 1, 1)
        for i, cell in enumerate(rank):
            place[cell] = i / width if len(rank) > 1 else 0.5


def _tidy(layers: Layers, balanced: bool) -> None:
    """Put side entries beside their circle and the lanes of one box together.

    Several entries stand on both sides of their circle if ``balanced``, else where they are.
    """
    cells = layers.cells
    layers.ranks[0].sort(key=lambda c: {"low": 0, "": 1, "high": 2}[cells[c].lean])
    for rank in layers.ranks:
        circles: dict[int, list[int]] = defaultdict(list)
        for c in rank:
            if cells[c].beside >= 0:
                circles[cells[c].beside].append(c)
        for circle, entries in circles.items():
            at = rank.index(circle)
            left = [c for c in entries if cells[c].lean == "low"]
            right = [c for c in entries if cells[c].lean == "high"]
            free = [c for c in entries if not cells[c].lean]
            if balanced and len(entries) > 1:
                half = max(0, min(len(entries) // 2 - len(left), len(free)))
            else:
                half = sum(rank.index(c) < at for c in free)
            most = len(free) - max(0, 2 - len(right))  # no more than two at a side, if it may be
            half = min(max(half, most), max(0, 2 - len(left), most))
            left, right = left + free[:half], free[half:] + right
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
            rank[at:at] = sorted(group, key=lambda c: cells[c].port)


def _transpose(layers: Layers, count: float) -> None:
    """Swap neighbours, and change the sides of entries, while that removes crossings.

    A box moves together with the entries at its sides. ``count`` are the crossings before.
    """
    for _ in range(6):
        before = count
        for number, rank in enumerate(layers.ranks):
            units = _units(layers, rank)
            for i in range(len(units) - 1):
                if _movable(layers, units[i]) and _movable(layers, units[i + 1]):
                    swapped = [*units[:i], units[i + 1], units[i], *units[i + 2 :]]
                    units, count = _better(layers, number, units, swapped, count)
            for i in range(len(units)):
                for other in _flipped(layers, units[i]):
                    flipped = [*units[:i], other, *units[i + 1 :]]
                    units, count = _better(layers, number, units, flipped, count)
        if count == before:
            break


def _better(
    layers: Layers, rank: int, units: list[list[int]], other: list[list[int]], count: float
) -> tuple[list[list[int]], float]:
    """Set a rank to the units with fewer crossings: these, with ``count``, or the other ones."""
    kept = layers.ranks[rank]
    layers.ranks[rank] = [c for unit in other for c in unit]
    after = crossings(layers)
    if after < count:
        return other, after
    layers.ranks[rank] = kept
    return units, count


def _units(layers: Layers, rank: list[int]) -> list[list[int]]:
    """What moves as one in a rank: a box with the entries at its sides, or all its lanes."""
    units: dict[int, list[int]] = defaultdict(list)
    for c in rank:
        cell = layers.cells[c]
        lanes = cell.kind == "slice"
        units[-1 - cell.child if lanes else cell.beside if cell.beside >= 0 else c].append(c)
    return list(units.values())


def _flipped(layers: Layers, unit: list[int]) -> list[list[int]]:
    """The unit of a box with one free entry moved to its other side, for each of them."""
    found: list[list[int]] = []
    box = next((i for i, c in enumerate(unit) if layers.cells[c].beside < 0), -1)
    for i, c in enumerate(unit):
        if layers.cells[c].beside >= 0 and not layers.cells[c].lean:
            left = [d for d in unit[:box] if d != c] + ([c] if i > box else [])
            right = ([c] if i < box else []) + [d for d in unit[box + 1 :] if d != c]
            found.append([*left, unit[box], *right])
    return found


def _movable(layers: Layers, unit: list[int]) -> bool:
    """False for what comes from a flank, which stands outermost."""
    cells = [layers.cells[c] for c in unit]
    flanked = {c for c, _, _, _ in layers.flanks}
    return not any(c.lean and (c.beside < 0 or c.index in flanked) for c in cells)
