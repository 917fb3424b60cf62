"""Graphviz's SVG -> the geometry it drew, in points, y down, by our ids."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.layout.scene import Rect
from transformer_diagrams.render.geometry import Cubic, Point

_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
_SPACE = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True, slots=True)
class Drawn:
    """What Graphviz drew: ids are ``b3`` for box 3, ``l3`` for line 3, ``d3`` for dot 3.

    boxes   bounding rectangle of each outline (circles too)
    lines   start and Bezier pieces of each line, without its head
    """

    boxes: Mapping[str, Rect]
    lines: Mapping[str, tuple[Point, tuple[Cubic, ...]]]


def read(svg: str, height: float, zoom: int = 1) -> Drawn:
    """Read back Graphviz's SVG of a DOT text that was written with ``zoom``.

    ``height`` is the scene's: Graphviz counts y from the lower border.
    """
    import xml.etree.ElementTree as ET

    try:
        root = ET.fromstring(svg)
    except ET.ParseError as problem:
        raise DiagramError(
            Fault("graphviz-failed", "Graphviz's SVG cannot be read", found=str(problem))
        ) from None
    base = round(height * 100) / 100
    boxes: dict[str, Rect] = {}
    lines: dict[str, tuple[Point, tuple[Cubic, ...]]] = {}

    def place(x: float, y: float) -> Point:
        # Graphviz's drawing has y down with the lower border at 0.
        return round(x / zoom, 4), round(y / zoom + base, 4)

    for group in root.iter(_SPACE + "g"):
        kind, name = group.get("class"), group.get("id", "")
        if kind in ("node", "cluster"):
            rect = _outline(group, zoom, base)
            if rect:
                boxes[name] = rect
        elif kind == "edge":
            path = group.find(_SPACE + "path")
            if path is None:
                continue
            numbers = [float(n) for n in _NUMBER.findall(path.get("d", ""))]
            points = [place(*numbers[i : i + 2]) for i in range(0, len(numbers) - 1, 2)]
            pieces = [
                (points[i], points[i + 1], points[i + 2]) for i in range(1, len(points) - 2, 3)
            ]
            lines[name] = (points[0], tuple(pieces))
    return Drawn(boxes, lines)


def _outline(group: object, zoom: int, base: float) -> Rect | None:
    import xml.etree.ElementTree as ET

    assert isinstance(group, ET.Element)
    ellipse = group.find(_SPACE + "ellipse")
    if ellipse is not None:
        cx, cy, rx, ry = (float(ellipse.get(key, "0")) for key in ("cx", "cy", "rx", "ry"))
        xs, ys = [cx - rx, cx + rx], [cy - ry, cy + ry]
    else:
        polygon, path = group.find(_SPACE + "polygon"), group.find(_SPACE + "path")
        if polygon is not None:
            numbers = [float(n) for n in _NUMBER.findall(polygon.get("points", ""))]
        elif path is not None:
            numbers = [float(n) for n in _NUMBER.findall(path.get("d", ""))]
        else:
            return None
        xs, ys = numbers[0::2], numbers[1::2]
    left, top = round(min(xs) / zoom, 4), round(min(ys) / zoom + base, 4)
    right, bottom = round(max(xs) / zoom, 4), round(max(ys) / zoom + base, 4)
    return Rect(left, top, round(right - left, 4), round(bottom - top, 4))
