"""Textures: a narrow band along the left edge of a box, by which its role is known without colour.

Lines and discs alone, no pattern fills: every format and printer draws them alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from transformer_diagrams.layout.scene import Rect
from transformer_diagrams.render.display import Disc, Ink, Outline, Panel, Shape
from transformer_diagrams.render.geometry import Point, joined

WIDE = 5.0  # points of the band; the text of a box stands farther in
STEP = 3.6  # between like strokes
_THIN = 0.6


def texture(name: str, box: Rect, corner: float, color: str) -> Iterator[Shape]:
    """The shapes of a texture inside a box, in its ``color``; no name, no shape."""
    if not name:
        return
    inset = max(0.8, corner * 0.3)
    wide = min(WIDE, box.width / 3)
    left, right = box.left + 1.2, box.left + 1.2 + wide - 1.6
    top, bottom = box.top + inset + 0.6, box.bottom - inset - 0.6
    if name == "solid":
        yield Panel(Rect(left, top, right - left, bottom - top), 0.0, Ink(color))
    elif name == "dots":
        radius = (right - left) / 3.4
        for y in _spread(top + radius, bottom - radius):
            yield Disc(((left + right) / 2, y), radius, Ink(color))
    else:
        strokes = list(_strokes(name, left, right, top, bottom))
        data = "".join(joined(list(points)) for points in strokes)
        yield Outline(data, Ink("", color, _THIN if name != "rule" else 2 * _THIN))
    if name in ("bars", "up", "down", "cross"):
        edge = joined([(right + 0.6, box.top + 0.6), (right + 0.6, box.bottom - 0.6)])
        yield Outline(edge, Ink("", color, _THIN * 0.7))


def _spread(first: float, last: float, step: float = STEP) -> list[float]:
    """Places from the first to the last, about a step apart."""
    count = max(1, round((last - first) / step))
    return [first + (last - first) * k / count for k in range(count + 1)]


def _strokes(
    name: str, left: float, right: float, top: float, bottom: float
) -> Iterator[tuple[Point, ...]]:
    wide = right - left
    if name == "rule":
        yield (right, top - 1.0), (right, bottom + 1.0)
    elif name == "bars":
        yield from (((left, y), (right, y)) for y in _spread(top, bottom, 2.6))
    elif name == "zigzag":
        ys = _spread(top, bottom, wide)
        yield tuple((right if k % 2 else left, y) for k, y in enumerate(ys))
    else:
        for y in _spread(top + wide, bottom):
            if name in ("up", "cross"):
                yield (left, y), (right, y - wide)
            if name in ("down", "cross"):
                yield (left, y - wide), (right, y)
