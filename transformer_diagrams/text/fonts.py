"""The font files that text is drawn with, and their glyphs as outlines.

Fira Sans for words, STIX Two Math for maths and the signs Fira lacks, Noto Sans Arabic for
Arabic. All come as Python packages, so that a figure is the same ink on every machine. A theme may
name others (`typeface`), by family, which is the package `fontpkg-FAMILY`, or by file.
The shaping library is imported when the first glyph is needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, NamedTuple

from transformer_diagrams.cachedir import package_folder, versions
from transformer_diagrams.errors import Fault, ToolMissing
from transformer_diagrams.records import dataclass

PACKAGES: tuple[str, ...] = (
    "uharfbuzz",
    "fontpkg-fira-sans",
    "ziamath",
    "ziafont",
    "latex2mathml",
)
"""Distributions that decide what a label looks like: another version, another measure."""

FOR_SCRIPTS: tuple[str, ...] = ("fontpkg-noto-sans-arabic",)
"""Those of single scripts, which other labels do without."""

UNITS = 1000
"""Outlines are in thousandths of the font size."""

_FAMILY, _MATHS = "Fira Sans", "STIX Two Math"
WEIGHTS: Final[dict[str, tuple[tuple[str, ...], int]]] = {
    # what the files of a family are called, the best first, and the weight of a variable font
    "regular": (("Regular", "Roman", "Book"), 400),
    "medium": (("Medium", "SemiBold", "Bold"), 500),
    "semibold": (("SemiBold", "Bold", "Medium"), 600),
    "bold": (("SemiBold", "Bold", "Medium"), 600),
    "italic": (("Italic",), 400),
}
_ARABIC = "Noto Sans Arabic"
_ENDS = (".ttf", ".otf", ".ttc", ".otc")


class Typeface(NamedTuple):
    """What words and formulas are set in: families, or absolute paths of files.

    text   each asked for what those before it lack; (): Fira Sans
    maths  a font with a MATH table; "": STIX Two Math
    """

    text: tuple[str, ...] = ()
    maths: str = ""


USUAL: Final = Typeface()
_IN_USE: ContextVar[Typeface] = ContextVar("typeface", default=USUAL)


@contextmanager
def typeface(text: tuple[str, ...], maths: str) -> Iterator[None]:
    """All text inside is measured and drawn in these fonts."""
    token = _IN_USE.set(Typeface(text, maths))
    try:
        yield
    finally:
        _IN_USE.reset(token)


def in_use() -> Typeface:
    """The fonts that text is set in now."""
    return _IN_USE.get()


@dataclass(frozen=True, slots=True)
class PlacedGlyph:
    """A shaped glyph: id, pen position and advance in thousandths of the size, y up."""

    glyph: int
    cluster: int
    x: float
    y: float


Segment = tuple[str, tuple[float, ...]]
"""A path command in upper case (M, L, Q, C, Z) with absolute coordinates, y up."""


class Face:
    """One open font file."""

    def __init__(self, path: str, name: str, weight: int = 400) -> None:
        import uharfbuzz as hb

        self.path = path
        self.name = name
        face = hb.Face(hb.Blob.from_file_path(path))
        self.glyphs: int = face.glyph_count
        self.sets_maths = bool(face.has_math_data)
        self._font = hb.Font(face)
        if weight != 400:  # a font of one weight takes no notice
            self._font.set_variations({"wght": weight})
        self._factor = UNITS / face.upem
        self._outlines: dict[int, tuple[Segment, ...]] = {}
        self._draw: Any = None

    def has(self, char: str) -> bool:
        """Whether the font has a glyph for the character."""
        return self._font.get_nominal_glyph(ord(char)) is not None

    def shape(self, text: str, *, rtl: bool = False) -> tuple[tuple[PlacedGlyph, ...], float]:
        """The glyphs of one run of text in visual order, and the run's advance."""
        import uharfbuzz as hb

        buffer = hb.Buffer()
        buffer.add_str(text)
        buffer.direction = "rtl" if rtl else "ltr"
        buffer.guess_segment_properties()
        hb.shape(self._font, buffer, {})
        pen = 0.0
        glyphs = []
        for info, position in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
            glyphs.append(
                PlacedGlyph(
                    info.codepoint,
                    info.cluster,
                    (pen + position.x_offset) * self._factor,
                    position.y_offset * self._factor,
                )
            )
            pen += position.x_advance
        return tuple(glyphs), pen * self._factor

    def outline(self, glyph: int) -> tuple[Segment, ...]:
        """The outline of a glyph in thousandths of the size, y up."""
        known = self._outlines.get(glyph)
        if known is None:
            known = self._outlines[glyph] = self._drawn(glyph)
        return known

    def _drawn(self, glyph: int) -> tuple[Segment, ...]:
        import uharfbuzz as hb

        k = self._factor
        if self._draw is None:
            draw = hb.DrawFuncs()
            draw.set_move_to_func(lambda x, y, out: out.append(("M", (x * k, y * k))))
            draw.set_line_to_func(lambda x, y, out: out.append(("L", (x * k, y * k))))
            draw.set_quadratic_to_func(
                lambda a, b, x, y, out: out.append(("Q", (a * k, b * k, x * k, y * k)))
            )
            draw.set_cubic_to_func(
                lambda a, b, c, d, x, y, out: out.append(
                    ("C", (a * k, b * k, c * k, d * k, x * k, y * k))
                )
            )
            draw.set_close_path_func(lambda out: out.append(("Z", ())))
            self._draw = draw
        out: list[Segment] = []
        self._font.draw_glyph(glyph, self._draw, out)
        return tuple(out)


def _missing(package: str) -> ToolMissing:
    wheel = package.replace("_", "-")
    return ToolMissing(
        Fault(
            "missing-library",
            f"the Python package '{wheel}' is needed to draw text and is not installed",
            hint=f"pip install {wheel}",
        )
    )


def face(weight: str) -> Face:
    """The font of words in a weight, as it is in use; opened once.

    :raises ToolMissing: when its package is not installed.
    """
    text = in_use().text
    return _open(text[0] if text else _FAMILY, weight)


def maths_face() -> Face:
    """The font of formulas.

    :raises ToolMissing: when its package is not installed.
    """
    return _open(in_use().maths or _MATHS, "regular")


@cache
def _open(source: str, weight: str) -> Face:
    """The font of a family or a file in a weight.

    :raises ToolMissing: when there is none.
    """
    if package_folder("uharfbuzz") is None:
        raise _missing("uharfbuzz")
    number = WEIGHTS[weight][1]
    if os.path.isabs(source):
        if not os.path.isfile(source):
            raise ToolMissing(Fault("missing-font", f"there is no font file '{source}'"))
        return Face(source, os.path.basename(source), number)
    path = _in_package(source, weight)
    stem = os.path.splitext(os.path.basename(path))[0].partition("-")[2]
    plain = stem in ("", "Regular") or "[" in path
    return Face(path, source if plain else f"{source} {stem}", number)


def _in_package(family: str, weight: str) -> str:
    """The file of a family's weight in the package that holds it."""
    name, inside = "fontpkg_" + "_".join(family.lower().replace("-", " ").split()), "files"
    if family == _MATHS:
        name, inside = "ziamath", "fonts"
    folder = package_folder(name)
    found = os.path.join(folder, inside) if folder else ""
    if not os.path.isdir(found):
        raise _missing(name)
    names = sorted(each for each in os.listdir(found) if each.endswith(_ENDS))
    slant = weight == "italic"
    for end in (*WEIGHTS[weight][0], "[", "Regular", ""):
        for each in names:
            stem = os.path.splitext(each)[0]
            of_style = ("Italic" in stem) == slant if end == "[" else True
            if of_style and (end in stem if end in ("[", "") else stem.endswith(f"-{end}")):
                return os.path.join(found, each)
    raise _missing(name)


def fallback_faces() -> tuple[Face, ...]:
    """The fonts asked in turn for what the first one lacks; absent packages are left out."""
    chosen = in_use()
    usual = (_FAMILY, _MATHS, _ARABIC) if chosen.text else (_MATHS, _ARABIC)
    found = []
    for source in dict.fromkeys((*chosen.text[1:], *usual)):
        try:
            found.append(_open(source, "regular"))
        except ToolMissing:
            continue
    return tuple(found)


def unusable(chosen: Typeface) -> list[Fault]:
    """Why fonts of a theme cannot be used: they are not there, or are no fonts."""
    found = []
    for source in (*chosen.text, *filter(None, [chosen.maths])):
        maths = source == chosen.maths and source not in chosen.text
        try:
            opened = _open(source, "regular")
        except ToolMissing as fault:
            found += list(fault.faults)
            continue
        if not opened.glyphs:
            found.append(Fault("missing-font", f"the file '{source}' is no font", found=source))
        elif maths and not opened.sets_maths:
            hint = f"leave maths out for {_MATHS}, or name a font for maths"
            message = f"the font '{source}' has no table for maths"
            found.append(Fault("missing-font", message, found=source, hint=hint))
    return found


@cache
def signature(chosen: Typeface) -> str:
    """What the ink of text in these fonts depends on, besides the text."""
    import hashlib

    parts = []
    for source in (*chosen.text, "|", chosen.maths):
        parts.append(source)
        if os.path.isabs(source):
            with open(source, "rb") as file:
                parts.append(hashlib.file_digest(file, "sha256").hexdigest())
        else:
            name = "fontpkg-" + "-".join(source.lower().split())
            parts.append(str(versions().get(name)))
    return ",".join(parts)
