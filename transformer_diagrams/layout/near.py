"""Which rectangles come near each other, found without comparing each with each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

Span = tuple[float, float, float, float]
"""A rectangle by its left, top, right and bottom; of no width or height for a straight line."""

STRIP = 48.0  # points


def near(first: Sequence[Span], second: Sequence[Span], gap: float) -> Iterator[tuple[int, int]]:
    """The pairs of a rectangle of ``first`` and one of ``second`` that are less than ``gap`` apart
    in x and in y (at 0: that have a place in common, more than a border).

    They are sorted into strips across the longer side of them all; a pair is given in the first
    strip that it shares. The order is the same in every run.
    """
    low, high = (1, 3) if _tall(first) or _tall(second) else (0, 2)
    strips: dict[int, list[int]] = defaultdict(list)
    for j, span in enumerate(second):
        for strip in range(int(span[low] // STRIP), int(span[high] // STRIP) + 1):
            strips[strip].append(j)
    for i, (left, top, right, bottom) in enumerate(first):
        left, top, right, bottom = left - gap, top - gap, right + gap, bottom + gap
        begin, end = (top, bottom) if low == 1 else (left, right)
        start = int(min(begin, end) // STRIP)  # a negative gap turns a line's sides around
        for strip in range(start, int(max(begin, end) // STRIP) + 1):
            for j in strips.get(strip, ()):
                other = second[j]
                if (
                    other[0] < right
                    and left < other[2]
                    and other[1] < bottom
                    and top < other[3]
                    and (strip == start or other[low] // STRIP == strip)
                ):
                    yield i, j


def _tall(spans: Sequence[Span]) -> bool:
    """Whether the spans reach farther down than to the right."""
    return max((s[3] for s in spans), default=0.0) > max((s[2] for s in spans), default=0.0)
