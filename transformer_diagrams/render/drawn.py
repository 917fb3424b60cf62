"""Graphviz draws a display list: its pinned DOT out, the geometry that was drawn back in."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.layout.scene import Rect
from transformer_diagrams.render.display import Curve, Disc, Display, Item, Panel, Shape

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from transformer_diagrams.render.geometry import Point

ZOOM = 100
"""Graphviz draws at this enlargement: see :mod:`transformer_diagrams.render.dot`."""

_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
_SPACE = "{http://www.w3.org/2000/svg}"


def draw(display: Display, program: str = "pure") -> Display:
    """The display list with every outline and line as Graphviz drew it.

    ``program`` is "pure" or "dot" (the system's).

    :raises DiagramError: when Graphviz fails.
    :raises ToolMissing: when it is absent.
    """
    import xml.etree.ElementTree as ET

    from transformer_diagrams.render import dot, graphviz_tool

    svg = graphviz_tool.draw_svg(dot.to_dot(display, zoom=ZOOM), program)
    try:
        root = ET.fromstring(svg)
    except ET.ParseError as problem:
        raise DiagramError(
            Fault("graphviz-failed", "Graphviz's SVG cannot be read", found=str(problem))
        ) from None
    groups = {group.get("id", ""): group for group in root.iter(_SPACE + "g")}
    items = tuple(_drawn(item, groups, display.height) for item in display.items)
    return replace(display, items=items)


def _drawn(item: Item, groups: dict[str, Element], height: float) -> Item:
    if not item.name or not item.shapes:
        return item
    shape = _shape(item.shapes[item.own], groups.get(item.name), height)
    return replace(
        item, shapes=(*item.shapes[: item.own], shape, *item.shapes[item.own + 1 :])
    )


def _shape(shape: Shape, group: Element | None, height: float) -> Shape:
    """The shape at the place where its group is drawn."""
    found = None
    if group is not None:
        tags = ("path",) if isinstance(shape, Curve) else ("ellipse", "polygon", "path")
        found = next((e for tag in tags if (e := group.find(_SPACE + tag)) is not None), None)
    if found is None:
        raise DiagramError(Fault("graphviz-failed", "Graphviz left a part of the figure out"))
    if isinstance(shape, Disc):
        cx, cy, rx = (float(found.get(key, "0")) for key in ("cx", "cy", "rx"))
        return Disc(_place(cx, cy, height), round(rx / ZOOM, 4), shape.ink)
    numbers = [float(n) for n in _NUMBER.findall(found.get("points") or found.get("d") or "")]
    pairs = zip(numbers[0::2], numbers[1::2], strict=False)
    points = [_place(x, y, height) for x, y in pairs]
    if isinstance(shape, Curve):
        pieces = [(points[i], points[i + 1], points[i + 2]) for i in range(1, len(points) - 2, 3)]
        return Curve(points[0], tuple(pieces), shape.ink)
    assert isinstance(shape, Panel)
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, top = min(xs), min(ys)
    rect = Rect(left, top, round(max(xs) - left, 4), round(max(ys) - top, 4))
    return Panel(rect, shape.corner, shape.ink)


def _place(x: float, y: float, height: float) -> Point:
    # Graphviz's drawing has y down with the lower border at 0.
    return round(x / ZOOM, 4), round(y / ZOOM + height, 4)
