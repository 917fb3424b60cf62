"""Display list -> SVG: only elements that every program draws alike.

rect, circle, path, and text that is there for search, selection, screen readers and PDF
extraction but is not painted. No style sheet, script, reference, marker or font.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from transformer_diagrams.render.display import (
    Curve,
    Disc,
    Display,
    Ink,
    Item,
    Lettering,
    Outline,
    Panel,
    Shape,
    slug,
)
from transformer_diagrams.render.geometry import number, path_data


def to_svg(
    display: Display,
    *,
    words: bool = True,
    pixels: tuple[int, int] | None = None,
) -> str:
    """The SVG text of a figure.

    words   False leaves the unpainted words out: outlines only
    pixels  width and height instead of points, filled to the last one
    """
    writer = Writer(words)
    body = "".join(part + "\n" for item in display.items if (part := writer.item(item)))
    return f"{opening(display, body, pixels=pixels)}{body}</svg>\n"


def opening(
    display: Display, body: str, *, pixels: tuple[int, int] | None = None, look: str = 'role="img"'
) -> str:
    """What stands before a figure's ``body``: its size, its names, and ``look`` on the root."""
    head = f"{number(display.width)} {number(display.height)}"
    told = f"{display.title}\0{display.desc}\0{head}\0{body}"
    name = f"{slug(display.id)}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"
    title = xml_text(display.title or display.id)
    desc = f'<desc id="{name}-desc">{xml_text(display.desc)}</desc>\n' if display.desc else ""
    labelled = f"{name}-title {name}-desc" if display.desc else f"{name}-title"
    if pixels:
        size = f'width="{pixels[0]}px" height="{pixels[1]}px" preserveAspectRatio="none" '
    else:
        wide, high = (number(length, 3) for length in display.printed)
        size = f'width="{wide}pt" height="{high}pt" '
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}'
        f'viewBox="0 0 {head}" {look} aria-labelledby="{labelled}" '
        'font-family="sans-serif">\n'
        f'<title id="{name}-title">{title}</title>\n{desc}'
    )


_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Text as XML content; characters that XML forbids are dropped."""
    safe = _UNSAFE.sub("", text).replace("&", "&amp;").replace("<", "&lt;")
    return safe.replace(">", "&gt;")


def xml_attribute(text: str) -> str:
    """Text as the value of an XML attribute, in double quotes; blanks are folded."""
    return xml_text(" ".join(text.split())).replace('"', "&quot;")


class Writer:
    """Writes items one after another."""

    def __init__(self, words: bool = True) -> None:
        self.words = words

    def item(self, item: Item) -> str:
        """One item on one line; "" when it paints nothing."""
        inside = "".join(self.parts(item))
        opening, closing = self.group(item)
        return f"{opening}{inside}{closing}" if inside else ""

    def parts(self, item: Item) -> Iterator[str]:
        yield from map(self.shape, item.shapes)
        for text in item.texts:
            yield self.text(text)
        yield from map(self.shape, item.over)

    def group(self, item: Item) -> tuple[str, str]:
        """What stands around an item: its block, and the words that a reader hears on hover."""
        title = f"<title>{xml_text(item.said)}</title>" if item.said else ""
        attributes = "".join(
            f' data-{name}="{xml_attribute(value)}"'
            for name, value in (("path", item.path), ("use", item.use))
            if value
        )
        if item.matrix:
            attributes += f' transform="matrix({" ".join(number(v, 5) for v in item.matrix)})"'
        if item.opacity != 1.0:
            attributes += f' opacity="{number(item.opacity, 4)}"'
        if item.kind in ("line", "dot", "label", "ground") and not title + attributes:
            return "", ""
        return f"<g{attributes}>{title}", "</g>"

    def shape(self, shape: Shape) -> str:
        look = self.ink(shape.ink)
        if isinstance(shape, Panel):
            r = shape.rect
            place = f' x="{number(r.left)}" y="{number(r.top)}"' if r.left or r.top else ""
            corner = f' rx="{number(shape.corner)}"' if shape.corner else ""
            size = f'width="{number(r.width)}" height="{number(r.height)}"'
            return f"<rect{place} {size}{corner}{look}/>"
        if isinstance(shape, Disc):
            x, y = shape.center
            return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(shape.radius)}"{look}/>'
        if isinstance(shape, Curve):
            return f'<path{look} d="{path_data(shape.start, shape.pieces)}"/>'
        return f'<path{_place(shape)}{look} d="{shape.data}"/>'

    def ink(self, ink: Ink) -> str:
        out = [f' fill="{ink.fill or "none"}"']
        if ink.fill_opacity != 1.0:
            out.append(f' fill-opacity="{number(ink.fill_opacity, 4)}"')
        if ink.stroke:
            out.append(f' stroke="{ink.stroke}" stroke-width="{number(ink.width)}"')
            if ink.dash:
                out.append(f' stroke-dasharray="{" ".join(number(v) for v in ink.dash)}"')
            if ink.cap != "butt":
                out.append(f' stroke-linecap="{ink.cap}"')
            if ink.join != "miter":
                out.append(f' stroke-linejoin="{ink.join}"')
        return "".join(out)

    def text(self, text: Lettering) -> str:
        out = [self.shape(outline) for outline in text.outlines]
        for line in text.words if self.words else ():
            # Painted nowhere: the outlines above are the ink. The length makes a selection
            # cover them whatever font the viewer takes.
            out.append(
                f'<text x="{number(line.x)}" y="{number(line.y)}" font-size="{number(line.size)}" '
                f'textLength="{number(line.width)}" lengthAdjust="spacingAndGlyphs" '
                f'fill-opacity="0">{xml_text(line.text)}</text>'
            )
        return "".join(out)


def _place(outline: Outline) -> str:
    if outline.at == (0.0, 0.0) and outline.scale == 1.0:
        return ""
    x, y = (number(v, 3) for v in outline.at)
    return f' transform="translate({x} {y}) scale({number(outline.scale, 6)})"'
