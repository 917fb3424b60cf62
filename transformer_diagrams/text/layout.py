"""A label measured with the very outlines it is drawn with.

A layout does not depend on the size: it is one path in thousandths of the font size, and the
size is a factor. So one cached measurement serves every size and theme.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from transformer_diagrams.errors import Fault
from transformer_diagrams.records import dataclass
from transformer_diagrams.text import fonts, kept
from transformer_diagrams.text.markup import Piece, clean, parse_line, shown

if TYPE_CHECKING:
    from pathlib import Path

    from transformer_diagrams.text.maths import Formula
    from transformer_diagrams.text.outline import Pen

LEADING = 1.28
"""Distance of baselines, in font sizes."""

_MIDDLE = 0.345  # half the height of capitals, in font sizes
_TOP, _BOTTOM = 0.74, 0.22  # least ascent and descent in font sizes
MOST_LETTERS = 8  # that a message lists
_THIN = 140.0  # between a word's blank and maths, in thousandths


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line: x of its left end and its baseline from the layout's origin, width, words.

    All lengths are points.
    """

    x: float
    y: float
    width: float
    plain: str


@dataclass(frozen=True, slots=True)
class TextLayout:
    """A measured text. The origin is the left end of the first baseline; y grows downward.

    width       of the widest line's advance, in points
    ascent      from the first baseline up, descent from the last line down, at least the font's
    ink         (left, top, right, bottom) of what is really drawn, in points
    outline     SVG path data of all ink in thousandths of ``size``; "" when nothing is drawn
    plain       the words, with maths as Unicode, lines joined by blanks
    warnings    letters without a font, bad formulas, dropped characters; without a place
    """

    size: float
    width: float
    ascent: float
    descent: float
    leading: float
    ink: tuple[float, float, float, float]
    lines: tuple[TextLine, ...]
    outline: str
    plain: str
    warnings: tuple[Fault, ...] = ()

    @property
    def scale(self) -> float:
        """From outline units to points."""
        return self.size / fonts.UNITS

    @property
    def height(self) -> float:
        """From the top of the first line to the bottom of the last."""
        return self.ascent + self.leading * (len(self.lines) - 1) + self.descent

    def baseline(self, center_y: float) -> float:
        """The y of the first baseline when its capitals are centred on ``center_y``: labels in
        equal boxes stand on one line, whatever their letters."""
        return center_y + _MIDDLE * self.size


@dataclass(frozen=True, slots=True)
class PlacedPiece:
    """Where a piece of a label stands: its line (from 0), its left end and advance in points."""

    piece: Piece
    line: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class _Measured:
    """A layout in thousandths of the size, as it is stored."""

    width: float
    ink: tuple[int, int, int, int]
    lines: tuple[tuple[float, float, str], ...]  # x, width, words
    outline: str
    warnings: tuple[Fault, ...]


def measure(markup: str, size: float, weight: str = "regular", align: str = "middle") -> TextLayout:
    r"""Measure a label of mixed text and ``$TeX$``; lines are split by "\\n".

    ``size`` is in points; ``weight`` one of regular, medium, semibold, bold, italic; ``align``
    places several lines among themselves (left, middle, right). Never fails on an author's
    label: what cannot be set is a warning in the result, and is drawn as typed.

    :raises ToolMissing: when a font or library is absent and the label is not cached.

    >>> measure("softmax", 10.0).plain
    'softmax'
    """
    if weight not in fonts.WEIGHTS:
        raise ValueError(f"unknown weight {weight!r}: one of {', '.join(fonts.WEIGHTS)}")
    if align not in ("left", "middle", "right"):
        raise ValueError(f"unknown alignment {align!r}: left, middle or right")
    if not 0 < size < 1000:
        raise ValueError(f"the font size {size!r} is not between 0 and 1000 points")
    chosen = fonts.in_use()
    if chosen == fonts.USUAL:
        kept.note((markup, weight, align))
    return _scaled(_measured(markup, weight, align, chosen), size)


def spots(markup: str, size: float, weight: str, align: str) -> tuple[PlacedPiece, ...]:
    """The pieces of a label as `measure` places them.

    :raises ToolMissing: when a font or library is absent.
    """
    return _spots(markup, size, weight, align, fonts.in_use())


@lru_cache(maxsize=4096)
def _spots(
    markup: str, size: float, weight: str, align: str, _: fonts.Typeface
) -> tuple[PlacedPiece, ...]:
    from transformer_diagrams.text.outline import Pen

    found = []
    lines = measure(markup, size, weight, align).lines
    for index, text in enumerate(clean(markup)[0].split("\n")):
        ends: list[tuple[float, float]] = []
        pieces = parse_line(text)
        _Line(pieces, "").draw(Pen(), 0.0, 0.0, weight, "", [], ends)
        for piece, (start, end) in zip(pieces, ends, strict=True):
            k = size / fonts.UNITS
            found.append(PlacedPiece(piece, index, lines[index].x + start * k, (end - start) * k))
    return tuple(found)


def _scaled(m: _Measured, size: float) -> TextLayout:
    k = size / fonts.UNITS
    leading = LEADING * size
    lines = tuple(
        TextLine(x * k, index * leading, width * k, words)
        for index, (x, width, words) in enumerate(m.lines)
    )
    left, top, right, bottom = (v * k for v in m.ink)
    last = leading * (len(lines) - 1)
    return TextLayout(
        size=size,
        width=m.width * k,
        ascent=max(_TOP * size, -top),
        descent=max(_BOTTOM * size, bottom - last),
        leading=leading,
        ink=(left, top, right, bottom),
        lines=lines,
        outline=m.outline,
        plain=" ".join(words for _, _, words in m.lines if words),
        warnings=m.warnings,
    )


@lru_cache(maxsize=20_000)
def _measured(
    markup: str, weight: str, align: str, chosen: fonts.Typeface = fonts.USUAL
) -> _Measured:
    """In the fonts in use, which are those ``chosen``."""
    name = kept.name((markup, weight, align), chosen)
    stored = kept.get(name)
    if stored is not None:
        known = _load(stored)
        if known is not None:
            return known
    fresh = _compute(markup, weight, align)
    kept.put(name, _dump(fresh))
    return fresh


def renew(path: Path, labels: Iterable[kept.Label]) -> bool:
    """Make the file of the bundled figures' labels hold these; False when it does."""
    wanted = {}
    for label in labels:
        name = kept.name(label)
        stored = kept.get(name)
        # What is kept is taken as it is, unless it is broken.
        wanted[name] = stored if stored and _load(stored) else _dump(_measured(*label))
    return kept.renew(path, wanted)


def _dump(m: _Measured) -> bytes:
    import json

    faults = [[f.code, f.message, f.found, f.hint] for f in m.warnings]
    data = [m.width, m.ink, m.lines, m.outline, faults]
    # The check value catches a file that was cut short or edited.
    text = json.dumps(data, separators=(",", ":"))
    return f"{_check_value(text)} {text}".encode()


def _check_value(text: str) -> str:
    import zlib

    return f"{zlib.crc32(text.encode()):08x}"


def _load(stored: bytes) -> _Measured | None:
    """A stored layout, or None when the file is broken."""
    import json

    try:
        check, _, text = stored.decode().partition(" ")
        if check != _check_value(text):
            return None
        width, ink, lines, outline, faults = json.loads(text)
        left, top, right, bottom = ink
        return _Measured(
            float(width),
            (left, top, right, bottom),
            tuple((float(x), float(w), str(words)) for x, w, words in lines),
            str(outline),
            tuple(
                Fault(code, message, found=found, hint=hint, severity="warning")
                for code, message, found, hint in faults
            ),
        )
    except (ValueError, TypeError):
        return None


def _compute(markup: str, weight: str, align: str) -> _Measured:
    from transformer_diagrams.text.outline import Pen
    from transformer_diagrams.text.readable import readable

    text, warnings = clean(markup)
    faults = list(warnings)
    drawn: list[_Line] = []
    for line in text.split("\n"):
        pieces = parse_line(line)
        words = "".join(p.content if p.kind == "text" else readable(p.content) for p in pieces)
        drawn.append(_Line(pieces, " ".join(words.split())))
    widths = [one.draw(Pen(), 0.0, 0.0, weight, shown(text), faults) for one in drawn]
    widest = max(widths)
    outline = Pen()
    lines = []
    leading = LEADING * fonts.UNITS
    for index, (one, width) in enumerate(zip(drawn, widths, strict=True)):
        x = (widest - width) * {"left": 0.0, "middle": 0.5, "right": 1.0}[align]
        one.draw(outline, x, index * leading, weight, "", [])
        lines.append((round(x, 3), round(width, 3), one.plain))
    ink = (
        (0, 0, 0, 0)
        if outline.empty
        else (int(outline.left), int(outline.top), int(outline.right), int(outline.bottom))
    )
    unique = tuple(dict.fromkeys(faults))
    return _Measured(round(widest, 3), ink, tuple(lines), outline.data(), unique)


@dataclass(frozen=True, slots=True)
class _Line:
    pieces: tuple[Piece, ...]
    plain: str

    def draw(
        self, out: Pen, x: float, y: float, weight: str, label: str, faults: list[Fault],
        ends: list[tuple[float, float]] | None = None,
    ) -> float:  # fmt: skip
        """Draw from pen position (x, y); returns the advance. Problems go to ``faults``, where
        each piece begins and ends to ``ends``."""
        from transformer_diagrams.text import shaping
        from transformer_diagrams.text.tex import BadFormula

        start = x
        before = ""
        missing: dict[shaping.Missing, None] = {}
        for index, piece in enumerate(self.pieces):
            content, kind = piece.content, piece.kind
            if kind == "math":
                try:
                    formula = _formula(content, fonts.in_use().maths)
                    if before.endswith(" "):
                        x += _THIN
                    formula.draw(out, x, y)
                    if ends is not None:
                        ends.append((x, x + formula.advance))
                    x += formula.advance
                    follows = self.pieces[index + 1 : index + 2]
                    if follows and follows[0].content.startswith(" "):
                        x += _THIN
                    before = ""
                    continue
                except BadFormula as problem:
                    faults.append(
                        Fault(
                            "bad-formula",
                            f"the formula {shown(piece.source)} in the label {label} cannot be "
                            f"set: {problem}; it is shown as typed",
                            found=piece.source,
                            hint=problem.hint,
                            severity="warning",
                        )
                    )
                    content = piece.source
            began = x
            x, lacking = shaping.draw(content, weight, out, x, y)
            if ends is not None:
                ends.append((began, x))
            missing |= dict.fromkeys(lacking)
            before = content
        if missing and label:
            faults.append(missing_letters([letter.char for letter in missing], label, weight))
        return x - start


def missing_letters(chars: list[str], label: str, weight: str = "regular") -> Fault:
    """One warning that names every letter of a label that no font has."""
    from transformer_diagrams.text.shaping import Missing

    listed = [Missing(char).said for char in chars[:MOST_LETTERS]]
    if len(chars) > len(listed):
        listed.append(f"{len(chars) - len(listed)} more")
    one = len(chars) == 1
    return Fault(
        "missing-letter",
        f"no font has the character{'' if one else 's'} {', '.join(listed)} of the label {label} "
        f"(its font is {_font_name(weight)})",
        found="".join(chars),
        hint=f"name a font that has {'it' if one else 'them'} in a theme file, "
        f"fonts: {{text: [{fonts.face('regular').name}, /path/of/a/font.ttf]}}, or use "
        f"{'another character' if one else 'other characters'}, or TeX between dollars",
        severity="warning",
    )


@lru_cache(maxsize=4096)
def _formula(tex: str, _: str) -> Formula:
    from transformer_diagrams.text.maths import set_formula

    return set_formula(tex)


def _font_name(weight: str) -> str:
    return fonts.face(weight).name
