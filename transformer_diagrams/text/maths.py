"""One TeX formula as glyphs of STIX Two Math at their places.

The formula is set by ziamath at a large size, its drawing instructions are read back, and the
glyph outlines are taken from the font itself, on our own grid.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from transformer_diagrams.text.fonts import UNITS, face
from transformer_diagrams.text.outline import Outline

SCALE = 1.06
"""Maths is set a little larger than words, so that both have the same height of capitals."""

_COMMAND = re.compile(r"\\[A-Za-z]+")


class BadFormula(ValueError):
    """A formula that cannot be set; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A set formula: advance and ink in thousandths of the text size, y down."""

    advance: float
    glyphs: tuple[tuple[int, float, float, float], ...]  # glyph id, x, y, scale
    bars: tuple[tuple[float, float, float, float], ...]  # left, top, right, bottom

    def draw(self, outline: Outline, x: float, y: float) -> None:
        """Add the formula with the left end of its baseline at (x, y)."""
        font = face("math")
        for glyph, gx, gy, scale in self.glyphs:
            outline.add(font.outline(glyph), x + gx, y + gy, scale)
        for left, top, right, bottom in self.bars:
            outline.rect(x + left, y + top, x + right, y + bottom)


# ziamath sets \bmod without the spaces of a binary operator
_SPACED = re.compile(r"\\bmod(?![A-Za-z])")
_MOD = r"\\;\\mathrm{mod}\\;"


def set_formula(tex: str) -> Formula:
    """Set a formula.

    Raises :class:`BadFormula` when the TeX has a fault (a missing brace, an unknown command).
    """
    import warnings
    import xml.etree.ElementTree as ET

    _check_braces(tex)
    with warnings.catch_warnings():
        # It finds its font through a function that Python 3.11 and 3.12 call deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        from ziafont.config import config
        from ziamath.zmath import Math

    size = UNITS * SCALE
    precision, config.precision = config.precision, 6
    try:
        math = Math.fromlatex(_SPACED.sub(_MOD, tex), size=size, inline=True)
        unknown = [
            node.text
            for node in math.mathml.iter()
            if node.text and _COMMAND.match(node.text.strip())
        ]
        if unknown:
            raise BadFormula(f"the command {unknown[0].strip()} is not known")
        svg = ET.Element("svg")
        math.node.draw(0, 0, svg)
        box = math.node.bbox
        advance = max(math.node.xadvance(), box.xmax)
    except BadFormula:
        raise
    except RecursionError:
        raise BadFormula("it is nested too deep") from None
    except Exception as problem:  # the TeX parser raises many kinds, some without words
        said = str(problem).strip().split("\n")[0] or _spoken(type(problem).__name__)
        raise BadFormula(said[:120]) from None
    finally:
        config.precision = precision
    return _read(svg, float(advance))


def _spoken(name: str) -> str:
    """``NoAvailableTokensError`` -> "no available tokens"."""
    words = re.findall(r"[A-Z][a-z]+", name.removesuffix("Error").removesuffix("Exception"))
    return " ".join(words).lower() or "the formula cannot be read"


def _check_braces(tex: str) -> None:
    if not tex.strip():
        raise BadFormula("it is empty")
    depth = 0
    for token in re.findall(r"\\.|[{}]", tex, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            raise BadFormula("a brace '}' closes nothing")
    if depth:
        raise BadFormula("a brace '{' is not closed")


def _read(svg: object, advance: float) -> Formula:
    """Glyph places and bars from ziamath's drawing."""
    import xml.etree.ElementTree as ET

    assert isinstance(svg, ET.Element)
    symbols: dict[str, tuple[float, float, float]] = {}
    glyphs: list[tuple[int, float, float, float]] = []
    bars: list[tuple[float, float, float, float]] = []
    for node in svg.iter():
        if node.tag == "symbol":
            left, top, _, height = (float(v) for v in node.attrib["viewBox"].split())
            symbols[node.attrib["id"]] = (left, top, height)
        elif node.tag == "use":
            name = node.attrib["href"][1:]
            left, top, height = symbols[name]
            # ziafont's symbols are drawn for a 12-point font.
            ratio = float(node.attrib["height"]) / height
            x = float(node.attrib["x"]) - left * ratio
            y = float(node.attrib["y"]) - top * ratio
            glyphs.append((int(name.rsplit("_", 1)[1]), x, y, ratio * 12.0 / UNITS))
        elif node.tag == "rect":
            x, y = float(node.attrib["x"]), float(node.attrib["y"])
            bars.append((x, y, x + float(node.attrib["width"]), y + float(node.attrib["height"])))
    return Formula(advance, tuple(glyphs), tuple(bars))
