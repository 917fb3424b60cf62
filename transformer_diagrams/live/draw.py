"""A sketch with values put in: groups of elements, and the SVG text of those."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from transformer_diagrams.live.numbers import coordinate
from transformer_diagrams.live.palette import STEPS
from transformer_diagrams.live.sketch import Attr, Choice, Mark, Points, Ramp
from transformer_diagrams.live.trace import Array
from transformer_diagrams.live.words import Read, fill
from transformer_diagrams.records import dataclass

FAMILY = "'Fira Sans', FiraSans, 'Helvetica Neue', Arial, sans-serif"
FOOT = 30.0  # height of the line under an exported picture that says its state
SMALL = 0.7  # size of sub- and superscripts
LOWER, RAISE = 0.22, -0.36  # their shift in font sizes, down


@dataclass(frozen=True, slots=True)
class Element:
    """One SVG element; colours are names still."""

    attrs: Mapping[str, str]
    text: str | None = None
    markup: bool = False


@dataclass(frozen=True, slots=True)
class MarkGroup:
    """The elements of one mark."""

    tag: str
    shared: Mapping[str, str]
    elements: Sequence[Element]


def groups(marks: Sequence[Mark], read: Read) -> list[MarkGroup]:
    """The drawing for the present values."""
    return [_group(mark, read) for mark in marks]


def _group(mark: Mark, read: Read) -> MarkGroup:
    columns = {key: column(value, mark.count, read) for key, value in mark.each.items()}
    elements = []
    for k in range(mark.count):
        text = None
        if mark.text is not None:
            text = fill(mark.text, read, k) if mark.traced_text else str(mark.text[k])
        attrs = {key: values[k] for key, values in columns.items()}
        elements.append(Element(attrs, text, not mark.traced_text))
    shared = dict(mark.shared)
    if mark.place is not None:
        x, y, scale, opacity = (coordinate(read(array)[0]) for array in mark.place.arrays)
        shared |= {"transform": f"translate({x} {y}) scale({scale})", "opacity": opacity}
    return MarkGroup(mark.tag, shared, elements)


def column(value: Attr, count: int, read: Read) -> list[str]:
    """One attribute's text for each element."""
    if isinstance(value, Points):
        return _paths(value, count, read)
    if isinstance(value, Ramp):
        out = [ramp_name(v) for v in read(value.array)]
    elif isinstance(value, Choice):
        out = [value.choices[int(v)] for v in read(value.array)]
    elif isinstance(value, Array):
        out = [coordinate(v) for v in read(value)]
    elif isinstance(value, (str, int, float)):
        out = [value if isinstance(value, str) else coordinate(float(value))]
    else:
        out = [v if isinstance(v, str) else coordinate(float(v)) for v in value]
    return out * count if len(out) == 1 else out


def ramp_name(value: float) -> str:
    """The colour name of a value from 0 to 1 (what lies beyond takes the end's)."""
    return f"r{int(min(1.0, max(0.0, value)) * (STEPS - 1) + 0.5)}"


def _paths(points: Points, count: int, read: Read) -> list[str]:
    xs, ys = read(points.x), read(points.y)
    n = points.x.shape[-1]
    out = []
    for k in range(count):
        x = xs[k * n % len(xs) :][:n]
        y = ys[k * n % len(ys) :][:n]
        pairs = (f"{coordinate(a)} {coordinate(b)}" for a, b in zip(x, y, strict=True))
        out.append("M" + "L".join(pairs))
    return out


_RUN = re.compile(r"([_^])\{([^{}]*)\}")


def runs(text: str, markup: bool = True) -> list[tuple[str, str]]:
    """``"scale d_{k}"`` as (words, "" or "_" or "^") runs."""
    out, at = [], 0
    for hit in _RUN.finditer(text) if markup else ():
        if hit.start() > at:
            out.append((text[at : hit.start()], ""))
        out.append((hit[2], hit[1]))
        at = hit.end()
    if at < len(text):
        out.append((text[at:], ""))
    return out


def said(text: str) -> str:
    """The words of a marked-up text: ``d_{k}`` is read ``d_k``."""
    return "".join(f"{sign}{words}" for words, sign in runs(text))


Paint = Callable[[str], str]
"""Turns a colour name into what stands in the file; gives other text back as it is."""

PAINTED = ("fill", "stroke")


def svg(
    drawing: Sequence[MarkGroup],
    size: tuple[float, float],
    paint: Paint,
    *,
    root: str = "",
    head: str = "",
    tail: str = "",
) -> str:
    """The SVG text with its words as text elements. ``root`` are further attributes."""
    w, h = (coordinate(v) for v in size)
    body = "".join(group_svg(g, paint) for g in drawing)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}"{root}>'
        f"{head}{body}{tail}</svg>"
    )


def group_svg(group: MarkGroup, paint: Paint) -> str:
    """One group as SVG text."""
    out = [f"<g{attributes(group.shared, paint)}>"]
    for element in group.elements:
        start = f"<{group.tag}{attributes(element.attrs, paint)}"
        if element.text is None:
            out.append(start + "/>")
        else:
            out.append(f"{start}>{_text(element)}</{group.tag}>")
    out.append("</g>")
    return "".join(out)


def _text(element: Element) -> str:
    text = element.text or ""
    pieces = runs(text, element.markup)
    if all(not sign for _, sign in pieces):
        return escape(text, quote=False)
    out, shift = [], 0.0
    for words, sign in pieces:
        wanted = {"_": LOWER, "^": RAISE, "": 0.0}[sign]
        # `dy` moves everything that follows: each run moves from where the one before stood.
        small = ' font-size="70%"' if sign else ""
        unit = SMALL if sign else 1.0
        dy = (wanted - shift) / unit
        moved = f' dy="{coordinate(dy)}em"' if dy else ""
        piece = escape(words, quote=False)
        out.append(f"<tspan{small}{moved}>{piece}</tspan>" if small or moved else piece)
        shift = wanted
    return "".join(out)


def attributes(attrs: Mapping[str, str], paint: Paint) -> str:
    """`` name="value"`` for each, colours painted."""
    return "".join(
        f' {key}="{escape(paint(value) if key in PAINTED else value)}"'
        for key, value in attrs.items()
    )


def css_paint(names: Mapping[str, Any]) -> Paint:
    """Colour names as CSS variables."""
    return lambda value: f"var(--{value})" if value in names else value


def hex_paint(colors: Mapping[str, str]) -> Paint:
    """Colour names as hex codes."""
    return lambda value: colors.get(value, value)
