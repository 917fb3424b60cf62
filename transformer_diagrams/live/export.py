"""A state as a file: SVG with outlines and hidden words, PNG and PDF from it, or a live page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_diagrams.errors import did_you_mean
from transformer_diagrams.live import draw
from transformer_diagrams.live.draw import Element, Group
from transformer_diagrams.live.numbers import coordinate
from transformer_diagrams.live.palette import palette
from transformer_diagrams.options import ask_error

if TYPE_CHECKING:
    from transformer_diagrams.live.model import Figure

SUFFIXES = (".svg", ".png", ".pdf", ".html")
POINTS = 0.75  # a CSS pixel in points
FOOT = 30.0  # height of the line under an exported picture that says its state


def foot(figure: Figure, state: Mapping[str, float]) -> Group:
    """The line under an exported picture: every slider with its value."""
    parts = [
        f"{s.label} {s.shown(state[s.name])}"
        for s in figure.sliders
    ]
    w, h = figure.size
    attrs = {"x": coordinate(w / 2), "y": coordinate(h + FOOT - 12)}
    shared = {"font-size": "13", "fill": "soft", "text-anchor": "middle"}
    return Group("text", shared, [Element(attrs, "   ·   ".join(parts), True)])


def text_svg(figure: Figure, state: Mapping[str, float], theme: str = "light") -> str:
    """The page's picture with its colours as hex codes and its words as text elements."""
    colors = palette(theme)
    root = f' font-family="{escape(draw.FAMILY)}" font-size="15" fill="{colors["ink"]}"'
    return draw.svg(figure.drawing(**state), figure.size, draw.hex_paint(colors), root=root)


def outlined_svg(figure: Figure, state: Mapping[str, float], theme: str = "light") -> str:
    """The picture for files: letters as outlines, with the words unpainted over them.

    The drawing is the page's; the state stands in a line below it.
    """
    w, h = figure.size
    size = (w, h + FOOT)
    colors = palette(theme)
    paint = draw.hex_paint(colors)
    body = "".join(
        _outlined(g, colors["ink"], paint) if g.tag == "text" else draw.group_svg(g, paint)
        for g in (*figure.drawing(**state), foot(figure, state))
    )
    points = " ".join(
        f'{key}="{coordinate(v * POINTS)}pt"'
        for key, v in zip(("width", "height"), size, strict=True)
    )
    about = f"{figure.title}. {figure.summary(**state)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {points} '
        f'viewBox="0 0 {coordinate(w)} {coordinate(size[1])}" role="img">'
        f"<title>{escape(figure.title, quote=False)}</title>"
        f"<desc>{escape(about, quote=False)}</desc>"
        f'<rect width="{coordinate(w)}" height="{coordinate(size[1])}" fill="{colors["paper"]}"/>'
        f"{body}</svg>\n"
    )


def _outlined(group: Group, ink: str, paint: draw.Paint) -> str:
    out = []
    for element in group.elements:
        attrs = {**group.shared, **element.attrs}
        out.append(_line(element, attrs, ink, paint))
    return "<g>" + "".join(out) + "</g>"


def _line(element: Element, attrs: Mapping[str, str], ink: str, paint: draw.Paint) -> str:
    from transformer_diagrams.live import glyphs

    if not (element.text or "").strip():
        return ""
    runs = draw.runs(element.text or "", element.markup)
    size = float(attrs.get("font-size", "15"))
    pieces, width = glyphs.outline(runs, attrs.get("font-weight", "400"))
    width *= size / 1000
    x, y = float(attrs["x"]), float(attrs["y"])
    x -= width * {"middle": 0.5, "end": 1.0}.get(attrs.get("text-anchor", "start"), 0.0)
    kept = {k: v for k, v in attrs.items() if k in ("opacity", "fill-opacity", "transform")}
    fill = paint(attrs.get("fill", ink))
    out = [f"<g{draw.attributes(kept, paint)}>"]
    for data, left, down, scale in pieces:
        k = size / 1000
        place = f"translate({_n(x + left * k)} {_n(y + down * k)}) scale({_n(k * scale, 5)})"
        out.append(f'<path transform="{place}" fill="{fill}" d="{data}"/>')
    words = escape("".join(words for words, _ in runs), quote=False)
    out.append(
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" textLength="{_n(width)}" '
        f'lengthAdjust="spacingAndGlyphs" fill-opacity="0">{words}</text></g>'
    )
    return "".join(out)


def _n(value: float, digits: int = 3) -> str:
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def data_of(
    figure: Figure, suffix: str, state: Mapping[str, float], *, theme: str = "light",
    scale: float | None = None,
) -> bytes:  # fmt: skip
    """The bytes of a file with this suffix. Raises :class:`AskError` for an unknown one."""
    if suffix not in SUFFIXES:
        raise ask_error(
            f"a live figure cannot be written as '{suffix or 'a file without a suffix'}'",
            did_you_mean(suffix, SUFFIXES, what="suffix"),
            code="unknown-format",
        )
    if suffix == ".html":
        from transformer_diagrams.live.pages import page

        return page([figure], states={figure.id: state}).encode("utf-8")
    svg = outlined_svg(figure, state, theme)
    if suffix == ".png":
        from transformer_diagrams.render.png import to_png

        return to_png(svg, scale=scale)
    if suffix == ".pdf":
        from transformer_diagrams.render.pdf import to_pdf

        return to_pdf(svg)
    return svg.encode("utf-8")


def write(
    figure: Figure, path: Path, state: Mapping[str, float], *, theme: str = "light",
    scale: float | None = None,
) -> Path:  # fmt: skip
    """Write a state to ``path``, whole or not at all; the suffix says as what."""
    from transformer_diagrams.api import save

    return save(path, data_of(figure, path.suffix.lower(), state, theme=theme, scale=scale))


def characters(texts: Sequence[str]) -> str:
    """The different characters of some texts, sorted."""
    return "".join(sorted(set("".join(texts))))
