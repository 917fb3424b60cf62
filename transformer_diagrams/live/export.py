"""A state as a file: SVG with outlines and hidden words, PNG and PDF from it, or a live page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_diagrams.errors import did_you_mean
from transformer_diagrams.layout.scene import Rect
from transformer_diagrams.live import draw
from transformer_diagrams.live.draw import FOOT, Element, MarkGroup
from transformer_diagrams.live.numbers import coordinate
from transformer_diagrams.live.palette import palette
from transformer_diagrams.options import ask_error
from transformer_diagrams.render.display import (
    Disc,
    Display,
    Ink,
    Item,
    Lettering,
    Matrix,
    Outline,
    Panel,
    Shape,
    Words,
)
from transformer_diagrams.render.geometry import joined

if TYPE_CHECKING:
    from transformer_diagrams.live.model import Figure

SUFFIXES = (".svg", ".png", ".pdf", ".html")
POINTS = 0.75  # a CSS pixel in points


def foot(figure: Figure, state: Mapping[str, float]) -> MarkGroup:
    """The line under an exported picture: every slider with its value."""
    parts = [
        f"{s.label} {s.shown(state[s.name])}"
        for s in figure.sliders
    ]
    w, h = figure.size
    attrs = {"x": coordinate(w / 2), "y": coordinate(h + FOOT - 12)}
    shared = {"font-size": "13", "fill": "soft", "text-anchor": "middle"}
    return MarkGroup("text", shared, [Element(attrs, "   ·   ".join(parts), True)])


def text_svg(figure: Figure, state: Mapping[str, float], theme: str = "light") -> str:
    """The page's picture with its colours as hex codes and its words as text elements."""
    colors = palette(theme)
    root = f' font-family="{escape(draw.FAMILY)}" font-size="15" fill="{colors["ink"]}"'
    return draw.svg(figure.drawing(**state), figure.size, draw.hex_paint(colors), root=root)


def display(figure: Figure, state: Mapping[str, float], theme: str = "light") -> Display:
    """The picture for files: letters as outlines, with the words unpainted over them.

    The drawing is the page's; the state stands in a line below it.
    """
    w, h = figure.size
    colors = palette(theme)
    items = [Item("ground", (Panel(Rect(0, 0, w, h + FOOT), 0.0, Ink(colors["paper"])),))]
    for group in (*figure.drawing(**state), foot(figure, state)):
        for element in group.elements:
            attrs = {"fill": "ink", **group.shared, **element.attrs}
            ink = _ink(attrs, colors)
            shapes = () if group.tag == "text" else (_shape(group.tag, attrs, ink),)
            texts = (_text(element, attrs, ink),) if (element.text or "").strip() else ()
            seen = float(attrs.get("opacity", "1"))
            items.append(Item("label", shapes, texts, matrix=_matrix(attrs), opacity=seen))
    about = f"{figure.title}. {figure.summary(**state)}"
    return Display(figure.id, figure.title, about, w, h + FOOT, tuple(items), POINTS)


def _ink(attrs: Mapping[str, str], colors: Mapping[str, str]) -> Ink:
    fill, stroke = (attrs.get(key, "none") for key in ("fill", "stroke"))
    return Ink(
        "" if fill == "none" else colors.get(fill, fill),
        "" if stroke == "none" else colors.get(stroke, stroke),
        float(attrs.get("stroke-width", "1")),
        tuple(float(v) for v in attrs.get("stroke-dasharray", "").split()),
        attrs.get("stroke-linecap", "butt"),
        attrs.get("stroke-linejoin", "miter"),
        float(attrs.get("fill-opacity", "1")),
    )


def _shape(tag: str, attrs: Mapping[str, str], ink: Ink) -> Shape:
    def n(*keys: str) -> list[float]:
        return [float(attrs.get(key, "0")) for key in keys]

    if tag == "rect":
        return Panel(Rect(*n("x", "y", "width", "height")), n("rx")[0], ink)
    if tag == "circle":
        x, y, r = n("cx", "cy", "r")
        return Disc((x, y), r, ink)
    if tag == "line":
        x1, y1, x2, y2 = n("x1", "y1", "x2", "y2")
        return Outline(joined([(x1, y1), (x2, y2)]), ink)
    return Outline(attrs["d"], ink)


def _matrix(attrs: Mapping[str, str]) -> Matrix | None:
    """``translate(x y) scale(s)`` or ``rotate(degrees x y)`` as a matrix."""
    found = [float(v) for v in re.findall(r"-?[\d.]+", attrs.get("transform", ""))]
    if not found:
        return None
    if attrs["transform"].startswith("rotate"):
        turn, x, y = found
        c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        return c, s, -s, c, x - c * x + s * y, y - s * x - c * y
    x, y, scale = found
    return scale, 0.0, 0.0, scale, x, y


def _text(element: Element, attrs: Mapping[str, str], ink: Ink) -> Lettering:
    from transformer_diagrams.live import glyphs

    runs = draw.runs(element.text or "", element.markup)
    size = float(attrs.get("font-size", "15"))
    pieces, width = glyphs.outline(runs, attrs.get("font-weight", "400"))
    k = size / 1000
    x, y = float(attrs["x"]), float(attrs["y"])
    x -= width * k * {"middle": 0.5, "end": 1.0}.get(attrs.get("text-anchor", "start"), 0.0)
    outlines = [
        Outline(data, ink, (x + left * k, y + down * k), k * scale)
        for data, left, down, scale in pieces
    ]
    words = "".join(words for words, _ in runs)
    return Lettering(tuple(outlines), (Words(x, y, size, width * k, words),))


def data_of(
    figure: Figure, suffix: str, state: Mapping[str, float], *, theme: str = "light",
    scale: float | None = None,
) -> bytes:  # fmt: skip
    """The bytes of a file with this suffix.

    :raises AskError: for an unknown one.
    """
    if suffix not in SUFFIXES:
        raise ask_error(
            f"a live figure cannot be written as '{suffix or 'a file without a suffix'}'",
            did_you_mean(suffix, SUFFIXES, what="suffix"),
            code="unknown-format",
        )
    if suffix == ".html":
        from transformer_diagrams.live.pages import page

        return page([figure], states={figure.id: state}).encode("utf-8")
    picture = display(figure, state, theme)
    if suffix == ".png":
        from transformer_diagrams.render.png import to_png

        return to_png(picture, scale=scale)
    if suffix == ".pdf":
        from transformer_diagrams.render.pdf import to_pdf

        return to_pdf(picture)
    from transformer_diagrams.render.svg import to_svg

    return to_svg(picture).encode("utf-8")


def write(
    figure: Figure, path: Path, state: Mapping[str, float], *, theme: str = "light",
    scale: float | None = None,
) -> Path:  # fmt: skip
    """Write a state to ``path``, whole or not at all; the suffix says as what."""
    from transformer_diagrams.api import save

    return save(path, data_of(figure, path.suffix.lower(), state, theme=theme, scale=scale))
