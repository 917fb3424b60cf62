"""Plain text as glyph outlines: direction, fonts for missing letters, and a visible stand-in.

Lines are cut into runs of one direction and one font. A letter that no font has is drawn as a
frame with its code, and reported.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from transformer_diagrams.records import dataclass
from transformer_diagrams.text.fonts import Face, Typeface, face, fallback_faces, in_use
from transformer_diagrams.text.outline import Pen

_IGNORED = frozenset("\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff\u00ad")
_SMALL = 0.62  # size of made-up sub- and superscripts
_RAISE = {"<super>": -330.0, "<sub>": 160.0}
_STAND_IN = (720.0, 690.0)  # width and height of the frame for a missing letter


@dataclass(frozen=True, slots=True)
class Missing:
    """A letter that no font has."""

    char: str

    @property
    def said(self) -> str:
        name = unicodedata.name(self.char, "unnamed character").lower()
        return f"U+{ord(self.char):04X} ({name})"


@dataclass(frozen=True, slots=True)
class _Run:
    text: str
    style: str  # "", "<sub>", "<super>", "missing"
    font: Face | None


def draw(
    text: str, weight: str, outline: Pen, x: float, y: float = 0.0
) -> tuple[float, tuple[Missing, ...]]:
    """Add a run of text starting at pen position (x, y).

    Returns the pen position behind it (thousandths of the size) and the letters that no font has.
    """
    missing: dict[str, None] = {}
    for part, rtl in directions(text):
        runs = _runs(part, weight)
        for run in reversed(runs) if rtl else runs:
            if run.style == "missing":
                for char in reversed(run.text) if rtl else run.text:
                    missing[char] = None
                    x = _stand_in(char, outline, x, y)
                continue
            font = run.font
            assert font is not None
            scale = _SMALL if run.style else 1.0
            glyphs, advance = font.shape(run.text, rtl=rtl)
            rise = _RAISE.get(run.style, 0.0)
            for glyph in glyphs:
                segments = font.outline(glyph.glyph)
                outline.add(segments, x + glyph.x * scale, y + rise - glyph.y * scale, scale)
            x += advance * scale
    return x, tuple(Missing(char) for char in missing)


def directions(text: str) -> tuple[tuple[str, bool], ...]:
    """The text's runs of one direction, in visual order: (run, is right-to-left).

    A plain form of the Unicode algorithm, for labels: the first strong letter gives the line's
    direction; blanks and signs between runs of two directions go with the line.

    >>> directions("abc")
    (('abc', False),)
    """
    strong = [_direction(char) for char in text]
    if True not in strong:
        return ((text, False),) if text else ()
    base = next(way for way in strong if way is not None)
    _pair_brackets(text, strong, base)
    ways: list[bool] = []
    for index, way in enumerate(strong):
        if way is None:
            before = next((w for w in reversed(strong[:index]) if w is not None), base)
            after = next((w for w in strong[index:] if w is not None), base)
            way = before if before == after else base
        ways.append(way)
    runs: list[tuple[str, bool]] = []
    for char, way in zip(text, ways, strict=True):
        if runs and runs[-1][1] == way:
            runs[-1] = (runs[-1][0] + char, way)
        else:
            runs.append((char, way))
    return tuple(reversed(runs)) if base else tuple(runs)


_PAIRS = {")": "(", "]": "[", "}": "{"}


def _pair_brackets(text: str, strong: list[bool | None], base: bool) -> None:
    """Give both brackets of a pair one direction (Unicode Annex 9, rule N0): the line's where it
    stands inside; else that of the words inside where these go on before the pair."""
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for at, char in enumerate(text):
        if char in _PAIRS.values():
            opened.append(at)
        elif char in _PAIRS:
            known = [n for n, first in enumerate(opened) if text[first] == _PAIRS[char]]
            if known:
                pairs.append((opened[known[-1]], at))
                del opened[known[-1] :]
    for first, last in sorted(pairs):
        inside = set(strong[first + 1 : last]) - {None}
        if not inside:
            continue
        before = next((way for way in reversed(strong[:first]) if way is not None), base)
        way = base if base in inside or before == base else not base
        strong[first] = strong[last] = way


def _direction(char: str) -> bool | None:
    kind = unicodedata.bidirectional(char)
    if kind in ("R", "AL"):
        return True
    if kind in ("L", "EN", "AN"):
        return False
    return None


def _runs(text: str, weight: str) -> list[_Run]:
    runs: list[_Run] = []
    for char in text:
        if char in _IGNORED:
            # A joiner matters only inside a run of a font that knows it.
            last = runs[-1].font if runs else None
            if last and runs[-1].style == "" and last.has(char):
                runs[-1] = _Run(runs[-1].text + char, "", last)
            continue
        style, font, shown = _chosen(char, weight, in_use())
        if runs and unicodedata.combining(char) and (runs[-1].font or face(weight)).has(char):
            font, style = runs[-1].font, runs[-1].style
        if runs and runs[-1].font == font and runs[-1].style == style:
            runs[-1] = _Run(runs[-1].text + shown, style, font)
        else:
            runs.append(_Run(shown, style, font))
    return runs


@lru_cache(maxsize=4096)
def _chosen(char: str, weight: str, _of: Typeface) -> tuple[str, Face | None, str]:
    """(style, font, text to shape) for one character, in the fonts in use."""
    first = face(weight)
    if first.has(char):
        return "", first, char
    if char.isspace():
        return "", first, " "
    # Sub- and superscript letters that the font lacks are its own letters, small and moved.
    form, _, rest = unicodedata.decomposition(char).partition(" ")
    if form in _RAISE:
        small = "".join(chr(int(code, 16)) for code in rest.split())
        if all(first.has(c) for c in small):
            return form, first, small
    for other in fallback_faces():
        if other.has(char):
            return "", other, char
    return "missing", None, char


def _stand_in(char: str, outline: Pen, x: float, y: float) -> float:
    """A frame with the character's code in it, as wide as a capital letter and a half."""
    width, height = _STAND_IN
    left, right, line = x + 50, x + 50 + width, 42
    top = y - height
    outline.rect(left, top, right, top + line)
    outline.rect(left, y - line, right, y)
    outline.rect(left, top + line, left + line, y - line)
    outline.rect(right - line, top + line, right, y - line)
    code = f"{ord(char):04X}"
    half = (len(code) + 1) // 2
    font = face("regular")
    for row, digits in enumerate((code[:half], code[half:])):
        glyphs, advance = font.shape(digits)
        scale = 0.36
        start = left + (width - advance * scale) / 2
        base = y - 385.0 + row * 290
        for glyph in glyphs:
            outline.add(font.outline(glyph.glyph), start + glyph.x * scale, base, scale)
    return x + width + 100
