"""Reads the plain kind of SVG that figures are written in, as a flat list of paths and words.

Knows groups, transforms, rect, circle, ellipse, line, polyline, polygon, path and unpainted text,
with their presentation attributes. Anything else is refused by name, so that no output can
silently lack a part; nothing outside the text is ever read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.render.geometry import KAPPA

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Matrix = tuple[float, float, float, float, float, float]
Command = tuple[str, tuple[float, ...]]
"""M, L, C (absolute) or Z."""

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)

_INHERITED = {
    "fill": "#000000",
    "stroke": "none",
    "stroke-width": "1",
    "stroke-dasharray": "none",
    "stroke-dashoffset": "0",
    "stroke-linecap": "butt",
    "stroke-linejoin": "miter",
    "stroke-miterlimit": "4",
    "fill-opacity": "1",
    "stroke-opacity": "1",
    "fill-rule": "nonzero",
    "font-size": "16",
}
_SILENT = {"title", "desc", "metadata", "defs"}
_NAMES = {
    "black": "#000000", "white": "#ffffff", "red": "#ff0000", "gray": "#808080",
    "grey": "#808080",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """One painted path: colours as (r, g, b) from 0 to 1, None for no paint."""

    matrix: Matrix
    commands: tuple[Command, ...]
    fill: tuple[float, float, float] | None
    stroke: tuple[float, float, float] | None
    fill_opacity: float
    stroke_opacity: float
    width: float
    dash: tuple[float, ...]
    dash_offset: float
    cap: str
    join: str
    miter: float
    even_odd: bool


@dataclass(frozen=True, slots=True)
class Words:
    """One line of unpainted text; ``length`` is the width it covers (0: not said)."""

    matrix: Matrix
    x: float
    y: float
    size: float
    length: float
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A read SVG: physical size in points, the view box, the title, and what is in it."""

    width: float
    height: float
    view: tuple[float, float, float, float]
    title: str
    desc: str
    items: tuple[Shape | Words, ...]


def _unsupported(what: str) -> DiagramError:
    return DiagramError(
        Fault(
            "unsupported-svg",
            f"the figure holds {what}, which this output cannot take over",
            hint="write the figure with plain paths, shapes and text only",
        )
    )


def read(svg: str) -> Picture:
    """The contents of an SVG text.

    Raises :class:`DiagramError` for markup that is not well formed and for elements it does not
    know.
    """
    import xml.etree.ElementTree as ET

    try:
        root = ET.fromstring(svg)
    except ET.ParseError as problem:
        raise DiagramError(
            Fault("bad-svg", "the SVG text is not well-formed XML", found=str(problem))
        ) from None
    view_text = root.get("viewBox")
    width, height = _length(root.get("width", "0")), _length(root.get("height", "0"))
    if view_text:
        left, top, wide, high = (float(n) for n in re.split(r"[\s,]+", view_text.strip()))
        view = (left, top, wide, high)
    else:
        view = (0.0, 0.0, width / 0.75, height / 0.75)
    title = desc = ""
    for child in root:
        if _tag(child) == "title":
            title = "".join(child.itertext())
        elif _tag(child) == "desc":
            desc = "".join(child.itertext())
    style = {**_INHERITED, **_style(root)}
    items = tuple(item for child in root for item in _walk(child, IDENTITY, style, 1.0, 0))
    return Picture(width, height, view, title, desc, items)


def _tag(node: Element) -> str:
    return node.tag.rsplit("}", 1)[-1] if isinstance(node.tag, str) else ""


def _length(text: str) -> float:
    """A length in points; a bare number is CSS pixels."""
    match = re.fullmatch(r"\s*([-+.\deE]+)(pt|px|in|cm|mm|)\s*", text)
    if not match:
        raise _unsupported(f"the length '{text}'")
    units = {"pt": 1.0, "px": 0.75, "": 0.75, "in": 72.0, "cm": 72 / 2.54, "mm": 72 / 25.4}
    return float(match[1]) * units[match[2]]


def _style(node: Element) -> dict[str, str]:
    style = {key: value for key, value in node.attrib.items() if key in _INHERITED}
    for part in node.get("style", "").split(";"):
        key, _, value = part.partition(":")
        if key.strip() in _INHERITED:
            style[key.strip()] = value.strip()
    return style


def _walk(
    node: Element, matrix: Matrix, above: Mapping[str, str], opacity: float, depth: int
) -> Iterator[Shape | Words]:
    tag = _tag(node)
    if tag in _SILENT or not tag:
        return
    if depth > 200:
        raise _unsupported("groups nested too deep")
    style = {**above, **_style(node)}
    opacity *= float(node.get("opacity", "1"))
    if node.get("display") == "none" or node.get("visibility") == "hidden":
        return
    if node.get("transform"):
        matrix = times(matrix, transform(node.get("transform", "")))
    if tag in ("g", "a"):
        for child in node:
            yield from _walk(child, matrix, style, opacity, depth + 1)
        return
    if tag == "text":
        yield from _words(node, matrix, style)
        return
    commands = _commands(tag, node)
    fill, stroke = _color(style["fill"]), _color(style["stroke"])
    width = float(style["stroke-width"])
    if stroke is not None and not width:
        stroke = None
    if fill is None and stroke is None:
        return
    dash = (
        ()
        if style["stroke-dasharray"] == "none"
        else tuple(float(n) for n in re.split(r"[\s,]+", style["stroke-dasharray"].strip()))
    )
    yield Shape(
        matrix, commands, fill, stroke,
        float(style["fill-opacity"]) * opacity, float(style["stroke-opacity"]) * opacity,
        width, dash, float(style["stroke-dashoffset"]), style["stroke-linecap"],
        style["stroke-linejoin"], float(style["stroke-miterlimit"]),
        style["fill-rule"] == "evenodd",
    )  # fmt: skip


def _words(node: Element, matrix: Matrix, style: Mapping[str, str]) -> Iterator[Words]:
    if float(style["fill-opacity"]) > 0 and style["fill"] != "none":
        raise _unsupported("painted text (letters are drawn as paths here)")
    text = "".join(node.itertext())
    if text.strip():
        yield Words(
            matrix,
            float(node.get("x", "0")),
            float(node.get("y", "0")),
            float(style["font-size"]),
            float(node.get("textLength", "0")),
            text,
        )


def _color(text: str) -> tuple[float, float, float] | None:
    if text in ("none", "transparent"):
        return None
    text = _NAMES.get(text, text)
    if re.fullmatch(r"#[0-9a-fA-F]{3}", text):
        text = "#" + "".join(c * 2 for c in text[1:])
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", text):
        raise _unsupported(f"the colour '{text}'")
    r, g, b = (int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return r, g, b


def times(a: Matrix, b: Matrix) -> Matrix:
    """The matrix that applies b first, then a."""
    return (
        a[0] * b[0] + a[2] * b[1],
        a[1] * b[0] + a[3] * b[1],
        a[0] * b[2] + a[2] * b[3],
        a[1] * b[2] + a[3] * b[3],
        a[0] * b[4] + a[2] * b[5] + a[4],
        a[1] * b[4] + a[3] * b[5] + a[5],
    )


def transform(text: str) -> Matrix:
    """An SVG transform list as one matrix."""
    result = IDENTITY
    for name, inner in re.findall(r"(\w+)\s*\(([^)]*)\)", text):
        n = [float(v) for v in re.split(r"[\s,]+", inner.strip()) if v]
        if name == "translate":
            step: Matrix = (1, 0, 0, 1, n[0], n[1] if len(n) > 1 else 0.0)
        elif name == "scale":
            step = (n[0], 0, 0, n[1] if len(n) > 1 else n[0], 0, 0)
        elif name == "rotate":
            c, s = math.cos(math.radians(n[0])), math.sin(math.radians(n[0]))
            step = (c, s, -s, c, 0, 0)
            if len(n) == 3:
                around: Matrix = (1, 0, 0, 1, n[1], n[2])
                step = times(times(around, step), (1, 0, 0, 1, -n[1], -n[2]))
        elif name == "matrix":
            step = (n[0], n[1], n[2], n[3], n[4], n[5])
        else:
            raise _unsupported(f"the transform '{name}'")
        result = times(result, step)
    return result


def _commands(tag: str, node: Element) -> tuple[Command, ...]:
    def number(key: str, default: float = 0.0) -> float:
        return float(node.get(key, default))

    if tag == "path":
        return path_commands(node.get("d", ""))
    if tag == "rect":
        x, y, w, h = (number(key) for key in ("x", "y", "width", "height"))
        rx = number("rx", number("ry"))
        ry = number("ry", rx)
        return _rounded_rect(x, y, w, h, min(rx, w / 2), min(ry, h / 2))
    if tag in ("circle", "ellipse"):
        rx = number("r") if tag == "circle" else number("rx")
        ry = number("r") if tag == "circle" else number("ry")
        cx, cy = number("cx"), number("cy")
        return _rounded_rect(cx - rx, cy - ry, 2 * rx, 2 * ry, rx, ry)
    if tag == "line":
        return (
            ("M", (number("x1"), number("y1"))),
            ("L", (number("x2"), number("y2"))),
        )
    if tag in ("polyline", "polygon"):
        n = [float(v) for v in re.split(r"[\s,]+", node.get("points", "").strip()) if v]
        points = list(zip(n[0::2], n[1::2], strict=False))
        out: list[Command] = [("L" if i else "M", p) for i, p in enumerate(points)]
        return (*out, ("Z", ())) if tag == "polygon" else tuple(out)
    raise _unsupported(f"a <{tag}>")


def _rounded_rect(
    x: float, y: float, w: float, h: float, rx: float, ry: float
) -> tuple[Command, ...]:
    r, b = x + w, y + h
    if rx <= 0 or ry <= 0:
        return (("M", (x, y)), ("L", (r, y)), ("L", (r, b)), ("L", (x, b)), ("Z", ()))
    kx, ky = rx * (1 - KAPPA), ry * (1 - KAPPA)
    return (
        ("M", (x + rx, y)),
        ("L", (r - rx, y)),
        ("C", (r - kx, y, r, y + ky, r, y + ry)),
        ("L", (r, b - ry)),
        ("C", (r, b - ky, r - kx, b, r - rx, b)),
        ("L", (x + rx, b)),
        ("C", (x + kx, b, x, b - ky, x, b - ry)),
        ("L", (x, y + ry)),
        ("C", (x, y + ky, x + kx, y, x + rx, y)),
        ("Z", ()),
    )


_TOKENS = re.compile(r"[A-Za-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COUNT = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


def path_commands(data: str) -> tuple[Command, ...]:
    """SVG path data as absolute M, L, C and Z; all commands of SVG are understood."""
    tokens = _TOKENS.findall(data)
    out: list[Command] = []
    x = y = sx = sy = 0.0
    control: tuple[float, float] | None = None  # of the curve before, for S and T
    before = ""
    letter = ""
    at = 0
    while at < len(tokens):
        if tokens[at].isalpha():
            letter = tokens[at]
            at += 1
        elif letter in ("M", "m"):
            letter = "L" if letter == "M" else "l"
        kind = letter.upper()
        count = _COUNT.get(kind)
        if count is None or at + count > len(tokens):
            raise _unsupported(f"the path data near '{letter}'")
        n = [float(v) for v in tokens[at : at + count]]
        at += count
        if letter.islower():
            if kind == "H":
                n[0] += x
            elif kind == "V":
                n[0] += y
            elif kind == "A":
                n[5], n[6] = n[5] + x, n[6] + y
            else:
                n = [v + (y if i % 2 else x) for i, v in enumerate(n)]
        mirrored = (2 * x - control[0], 2 * y - control[1]) if control else (x, y)
        control = None
        if kind == "Z":
            out.append(("Z", ()))
            x, y = sx, sy
        elif kind == "M":
            x, y = sx, sy = n[0], n[1]
            out.append(("M", (x, y)))
        elif kind in "LHV":
            x, y = (n[0], n[1]) if kind == "L" else (n[0], y) if kind == "H" else (x, n[0])
            out.append(("L", (x, y)))
        elif kind in "CS":
            first = (n[0], n[1]) if kind == "C" else (mirrored if before in "CS" else (x, y))
            cx, cy, ex, ey = n[-4:]
            out.append(("C", (*first, cx, cy, ex, ey)))
            control, x, y = (cx, cy), ex, ey
        elif kind in "QT":
            q = (n[0], n[1]) if kind == "Q" else (mirrored if before in "QT" else (x, y))
            ex, ey = n[-2:]
            out.append(
                ("C", (x + (q[0] - x) * 2 / 3, y + (q[1] - y) * 2 / 3,
                       ex + (q[0] - ex) * 2 / 3, ey + (q[1] - ey) * 2 / 3, ex, ey))
            )  # fmt: skip
            control, x, y = q, ex, ey
        else:
            out.extend(_arc(x, y, *n))
            x, y = n[5], n[6]
        before = kind
    return tuple(out)


def _arc(
    x: float, y: float, rx: float, ry: float, turn: float, large: float, sweep: float,
    ex: float, ey: float,
) -> list[Command]:  # fmt: skip
    """An elliptical arc as cubic pieces, after the SVG 1.1 implementation notes (F.6)."""
    if (x, y) == (ex, ey):
        return []
    rx, ry = abs(rx), abs(ry)
    if not rx or not ry:
        return [("L", (ex, ey))]
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    dx, dy = (x - ex) / 2, (y - ey) / 2
    px, py = c * dx + s * dy, -s * dx + c * dy
    grow = (px / rx) ** 2 + (py / ry) ** 2
    if grow > 1:
        rx, ry = rx * math.sqrt(grow), ry * math.sqrt(grow)
    top = (rx * ry) ** 2 - (rx * py) ** 2 - (ry * px) ** 2
    factor = math.sqrt(max(0.0, top / ((rx * py) ** 2 + (ry * px) ** 2)))
    if bool(large) == bool(sweep):
        factor = -factor
    ux, uy = factor * rx * py / ry, -factor * ry * px / rx
    cx, cy = c * ux - s * uy + (x + ex) / 2, s * ux + c * uy + (y + ey) / 2
    start = math.atan2((py - uy) / ry, (px - ux) / rx)
    delta = math.atan2((-py - uy) / ry, (-px - ux) / rx) - start
    if sweep and delta < 0:
        delta += 2 * math.pi
    elif not sweep and delta > 0:
        delta -= 2 * math.pi
    count = max(1, math.ceil(abs(delta) / (math.pi / 2) - 1e-9))
    step = delta / count
    k = 4 / 3 * math.tan(step / 4)
    out: list[Command] = []
    for index in range(count):
        a, b = start + index * step, start + (index + 1) * step
        points = (
            (math.cos(a) - k * math.sin(a), math.sin(a) + k * math.cos(a)),
            (math.cos(b) + k * math.sin(b), math.sin(b) - k * math.cos(b)),
            (math.cos(b), math.sin(b)),
        )
        numbers = [
            v for u, w in points
            for v in (c * rx * u - s * ry * w + cx, s * rx * u + c * ry * w + cy)
        ]  # fmt: skip
        out.append(("C", tuple(numbers)))
    return out
