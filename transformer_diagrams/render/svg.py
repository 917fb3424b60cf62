"""Display list -> SVG: only elements that every program draws alike.

rect, circle, path, and text that is there for search, selection, screen readers and PDF
extraction but is not painted. No style sheet, script, reference, marker or font, unless words
are asked for as text.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat

from transformer_diagrams.layout.scene import Label
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
    Words,
    slug,
)
from transformer_diagrams.render.geometry import number, path_data
from transformer_diagrams.text import LEADING, PlacedPiece, fonts, measure, spots, webfont

HEAVY = {"regular": 400, "medium": 500, "semibold": 600, "bold": 600, "italic": 400}


def to_svg(
    display: Display,
    *,
    words: bool = True,
    pixels: tuple[int, int] | None = None,
    ids: str = "",
    text: bool = False,
    steps: Sequence[int] = (),
) -> str:
    """The SVG text of a figure.

    words   False leaves the unpainted words out: outlines only
    pixels  width and height instead of points, filled to the last one
    ids     what stands before the names of blocks; the figure's own name when not said
    text    words as text, with their font inside; formulas stay outlines
    steps   when each item appears, one after the other, once; a program without CSS shows all
    """
    names = names_of(display, ids)
    writer = TextWriter(words, names, display) if text else Writer(words, names)
    body = "".join(
        _timed(part, step) + "\n"
        for item, step in zip(display.items, steps or repeat(1), strict=False)
        if (part := writer.item(item))
    )
    style = writer.style() + (f"<style>{_PLAYED}</style>\n" if steps else "")
    return f"{opening(display, body, pixels=pixels)}{style}{body}</svg>\n"


PACE = 1.0
"""Seconds from a step to the next."""

_PLAYED = (
    "@keyframes td-shown{from{opacity:0}}.td-step{animation:td-shown .4s backwards}"
    "@media print,(prefers-reduced-motion:reduce){.td-step{animation:none}}"
)


def _timed(part: str, step: int) -> str:
    delay = number((step - 1) * PACE)
    timed = f'<g class="td-step" style="animation-delay:{delay}s">{part}</g>'
    return timed if step > 1 else part


def names_of(display: Display, ids: str = "") -> dict[str, str]:
    """What each box is called in the SVG: the path of its block, after the figure's name, for
    several figures may stand in one page."""
    before = slug(ids or display.id)
    return {box: f"{before}-{name}" for box, name in display.names.items()}


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

    def __init__(self, words: bool = True, names: Mapping[str, str] | None = None) -> None:
        self.words = words
        self.names = names or {}

    def style(self) -> str:
        """A style sheet for what was written."""
        return ""

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
        name = self.names.get(item.id, "") if item.rect else ""
        attributes = f' id="{name}"' if name else ""
        attributes += "".join(
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
        out += map(self.unpainted, text.words if self.words else ())
        return "".join(out)

    def unpainted(self, line: Words) -> str:
        """Words that are there, but not seen: outlines are the ink."""
        return _text(line, 'fill-opacity="0"')


def _text(line: Words, look: str) -> str:
    # The length makes it as long as the outlines whatever font the viewer takes.
    return (
        f'<text x="{number(line.x)}" y="{number(line.y)}" font-size="{number(line.size)}" '
        f'textLength="{number(line.width)}" lengthAdjust="spacingAndGlyphs" '
        f"{look}>{xml_text(line.text)}</text>"
    )


class TextWriter(Writer):
    """Writes words as text in a font that is in the file; what that lacks stays an outline."""

    def __init__(self, words: bool, names: Mapping[str, str], display: Display) -> None:
        super().__init__(words, names)
        letters: dict[str, set[str]] = {}  # by weight
        for text in (text for item in display.items for text in item.texts):
            for spot in _spots(text.label):
                if text.label and _as_text(spot, text.label.weight):
                    letters.setdefault(text.label.weight, set()).update(spot.piece.content)
        self.fonts = {
            weight: webfont.subset(fonts.face(weight).path, found)
            for weight, found in sorted(letters.items())
        }

    def family(self, weight: str) -> str:
        """A name that no other font of a page has, with other letters in it."""
        return f"words-{hashlib.sha256(self.fonts[weight]).hexdigest()[:8]}"

    def style(self) -> str:
        rules = "".join(
            f"@font-face{{font-family:{self.family(weight)};font-weight:{HEAVY[weight]};"
            f"src:url(data:font/woff;base64,{b64encode(data).decode()})}}"
            for weight, data in self.fonts.items()
        )
        return f"<style>{rules}</style>\n" if rules else ""

    def text(self, text: Lettering) -> str:
        label = text.label
        if label is None:
            return super().text(text)
        ink, out = text.outlines[0].ink, []
        for spot in _spots(label):
            x, y = label.x + spot.x, label.y + spot.line * LEADING * label.size
            if _as_text(spot, label.weight):
                line = Words(x, y, label.size, spot.width, spot.piece.content)
                out.append(_text(line, (
                    f'fill="{ink.fill}" font-family="{self.family(label.weight)}, Fira Sans, '
                    f'sans-serif" font-weight="{HEAVY[label.weight]}" xml:space="preserve"'
                )))  # fmt: skip
                continue
            drawn = measure(spot.piece.source, label.size, label.weight)
            if drawn.outline:
                out.append(self.shape(Outline(drawn.outline, ink, (x, y), drawn.scale)))
                line = Words(x, y, label.size, spot.width, drawn.plain)
                out.append(self.unpainted(line) if self.words and drawn.plain else "")
        return "".join(out)


def _spots(label: Label | None) -> tuple[PlacedPiece, ...]:
    return spots(label.markup, label.size, label.weight, label.align) if label else ()


def _as_text(spot: PlacedPiece, weight: str) -> bool:
    return spot.piece.kind == "text" and all(map(fonts.face(weight).has, spot.piece.content))


def _place(outline: Outline) -> str:
    if outline.at == (0.0, 0.0) and outline.scale == 1.0:
        return ""
    x, y = (number(v, 3) for v in outline.at)
    return f' transform="translate({x} {y}) scale({number(outline.scale, 6)})"'
