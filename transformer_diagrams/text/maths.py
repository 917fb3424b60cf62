"""One TeX formula as glyphs of STIX Two Math at their places.

The formula is read here (`tex`), set by ziamath at a large size, and the glyph outlines are taken
from the font itself, on our own grid.
"""

from __future__ import annotations

from transformer_diagrams.records import dataclass
from transformer_diagrams.text.fonts import UNITS, in_use, maths_face
from transformer_diagrams.text.outline import Pen
from transformer_diagrams.text.tex import BadFormula, Tex, parse

SCALE = 1.06
"""Maths is set a little larger than words, so that both have the same height of capitals."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A set formula: advance and ink in thousandths of the text size, y down."""

    advance: float
    glyphs: tuple[tuple[int, float, float, float], ...]  # glyph id, x, y, scale
    shapes: tuple[tuple[tuple[float, float], ...], ...]  # corners of bars and strokes

    def draw(self, outline: Pen, x: float, y: float) -> None:
        """Add the formula with the left end of its baseline at (x, y)."""
        font = maths_face()
        for glyph, gx, gy, scale in self.glyphs:
            outline.add(font.outline(glyph), x + gx, y + gy, scale)
        for corners in self.shapes:
            outline.shape([(x + cx, y + cy) for cx, cy in corners])


def set_formula(tex: str) -> Formula:
    """Set a formula.

    :raises BadFormula: when the TeX has a fault, or a sign that the font lacks.
    """
    tree = parse(tex)
    from transformer_diagrams.text import ziamath_setter as setter
    from transformer_diagrams.text.mathml import mathml

    for char, at in _drawn(tree):
        if not maths_face().has(char):
            raise BadFormula(
                f"the font for maths has no sign '{char}'", at, "write it outside of the dollars"
            )
    path = maths_face().path if in_use().maths else ""
    try:
        asked = mathml(tree, setter.KNOWN_SPACING)
        advance, glyphs, shapes = setter.place(asked, UNITS * SCALE, path)
    except (RecursionError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        # The tree is right: it is the setter that cannot do it.
        raise BadFormula("ziamath cannot set it", hint="write it in a simpler way") from None
    if any(not glyph for glyph, *_ in glyphs):
        raise BadFormula("the font for maths lacks one of its signs", hint="use another sign")
    return Formula(advance, tuple(glyphs), tuple(shapes))


def _drawn(tree: Tex) -> list[tuple[str, int]]:
    """The characters that a tree draws, each with its place."""
    found: list[tuple[str, int]] = []
    todo = [tree]
    while todo:
        node = todo.pop()
        if node.kind in ("letter", "sign", "number", "words", "name", "big"):
            found.extend((char, node.at) for char in node.text if not char.isspace())
        todo.extend(reversed(node.parts))
    return found
