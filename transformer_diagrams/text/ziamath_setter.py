"""ziamath as this project uses it: MathML in, glyphs at their places out.

Imported only when a formula is set that no cache knows: loading it takes a third of a second.
Two things are changed from outside: a row measures a part once and not twice for each level
that it lies in (the time doubled a level), and arrows grow with the words on them.
"""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from typing import Any

from transformer_diagrams.text.fonts import UNITS

with warnings.catch_warnings():
    # It finds its font through a function that Python 3.11 and 3.12 call deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    from ziamath.mathfont import MathFont
    from ziamath.zmath import Math, loadedfonts
from ziafont.fonttypes import BBox
from ziamath import operators
from ziamath.drawable import Diagonal, Glyph, HLine, VLine
from ziamath.mathtable import AssembledGlyph
from ziamath.nodes.mnode import Mnode
from ziamath.nodes.mrow import Mrow
from ziamath.nodes.nodetools import elementtext

Placed = tuple[int, float, float, float]
"""Glyph id, x, y (down), scale."""
Shape = tuple[tuple[float, float], ...]
"""Corners of a filled shape."""

KNOWN_SPACING = operators.names
_AROUND = 0.35  # ems that an arrow is longer than its words
_LEAST = 1.1  # ems of a bare arrow

_heights: dict[tuple[object, ...], tuple[float, float]] = {}


def _row_height(self: Any, line: list[ET.Element], **asked: Any) -> tuple[float, float]:
    """Least and greatest y of a row without what grows in it; each part is measured once."""
    low, high = 9999.0, -9999.0
    asked = {k: v for k, v in asked.items() if k not in ("rowymin", "rowymax")} | {
        "nostretch": True
    }
    around = (repr(self.style), self.glyphsize, sorted(asked.items()))
    for child in line:
        if child.tag == "mo" and not elementtext(child):
            continue
        text = ET.tostring(child, encoding="unicode")
        key = (text, *map(str, around))
        box = _heights.get(key)
        if box is None:
            node = Mnode.fromelement(ET.fromstring(text), parent=self, **asked)
            box = _heights[key] = (node.bbox.ymin, node.bbox.ymax)
        low, high = min(low, box[0]), max(high, box[1])
    return low, high


Mrow._get_height_nostretch = _row_height  # type: ignore[method-assign]


class _Arrow(Mnode, tag="tdx-arrow"):
    """An arrow as long as the widest of what stands below and above it."""

    def __init__(self, element: ET.Element, parent: Any, **asked: Any) -> None:
        super().__init__(element, parent, **asked)
        font, unit = self.font, self.units_to_points
        em = self.glyphsize
        words = []
        for child in element:
            self.increase_child_scriptlevel(child)
            words.append(Mnode.fromelement(child, parent=self))
        width = max([_LEAST * em, *(w.bbox.xmax - w.bbox.xmin + 2 * _AROUND * em for w in words)])
        sign = font.glyph(element.get("sign", "→"))
        glyph = font.math.variant(sign.index, self.points_to_units(width), vert=False)
        arrow = Glyph(glyph, element.get("sign", "→"), em, self.style, **asked)
        side = unit(font.math.consts.axisHeight) * 0.6
        gap = unit(font.math.consts.overbarVerticalGap)
        self.nodes, self.nodexy = [], []
        low, high = arrow.bbox.ymin, arrow.bbox.ymax
        wide = max(w.bbox.xmax - w.bbox.xmin for w in (arrow, *words))

        def put(node: Any, y: float) -> None:
            spare = (wide - (node.bbox.xmax - node.bbox.xmin)) / 2
            self.nodes.append(node)
            self.nodexy.append((side + spare - node.bbox.xmin, y))

        put(arrow, 0.0)
        below, above = words
        if below.bbox.xmax > below.bbox.xmin:
            put(below, below.bbox.ymax + gap - low)
            low -= gap + below.bbox.ymax - below.bbox.ymin
        if above.bbox.xmax > above.bbox.xmin:
            put(above, above.bbox.ymin - gap - high)
            high += gap + above.bbox.ymax - above.bbox.ymin
        self.bbox = BBox(0, wide + 2 * side, low, high)


def place(
    math: ET.Element, size: float, path: str = ""
) -> tuple[float, list[Placed], list[Shape]]:
    """The advance of a formula, its glyphs and its bars, in the units of ``size``; y down.

    ``path``  of the font; "": STIX Two Math
    """
    _heights.clear()
    if path and path not in loadedfonts:
        loadedfonts[path] = MathFont(path, size)
    # Of the base size no script is less than three tenths.
    loadedfonts[path or "default"].basesize = size
    made: Any = Math(math, size=size, font=path or None)
    glyphs: list[Placed] = []
    shapes: list[Shape] = []
    todo: list[tuple[Any, float, float]] = [(made.node, 0.0, 0.0)]
    while todo:
        node, x, y = todo.pop()
        if isinstance(node, Glyph):
            if not node.phantom:
                _glyph(node, x, y, glyphs)
        elif isinstance(node, HLine):
            if not node.phantom and node.lw > 0:
                shapes.append(_bar(x, y, node.length, node.lw))
        elif isinstance(node, VLine):
            if not node.phantom:
                shapes.append(_bar(x - node.lw / 2, y, node.lw, node.height))
        elif isinstance(node, Diagonal):
            if not node.phantom:
                shapes.append(_stroke(x, y - node.height, x + node.width, y, node.lw))
        else:
            inner = zip(node.nodexy, node.nodes, strict=True)
            todo.extend([(part, x + dx, y + dy) for (dx, dy), part in inner][::-1])
    box = made.node.bbox
    return float(max(made.node.xadvance(), box.xmax)), glyphs, shapes


def _glyph(node: Any, x: float, y: float, out: list[Placed]) -> None:
    scale = node.size / UNITS
    glyph = node.glyph
    if not isinstance(glyph, AssembledGlyph):
        out.append((glyph.index, x, y, scale))
        return
    # A sign larger than any of the font's is put together from parts.
    for part, offset in zip(glyph.glyphs, glyph.offsets, strict=True):
        dx, dy = (0.0, offset) if glyph.vert else (offset, 0.0)
        out.append((part.index, x + dx * scale, y - dy * scale, scale))


def _bar(x: float, y: float, width: float, height: float) -> Shape:
    return ((x, y), (x + width, y), (x + width, y + height), (x, y + height))


def _stroke(x0: float, y0: float, x1: float, y1: float, width: float) -> Shape:
    """A line of some width as its four corners."""
    dx, dy = x1 - x0, y1 - y0
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    ox, oy = -dy / length * width / 2, dx / length * width / 2
    return ((x0 + ox, y0 + oy), (x1 + ox, y1 + oy), (x1 - ox, y1 - oy), (x0 - ox, y0 - oy))
