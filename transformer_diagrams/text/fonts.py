"""The font files that text is drawn with, and their glyphs as outlines.

Fira Sans for words, STIX Two Math for maths and the signs Fira lacks, Noto Sans Arabic for
Arabic. All come as Python packages, so that a figure is the same ink on every machine.
The shaping library is imported when the first glyph is needed.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from transformer_diagrams.cachedir import package_folder
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

_FACES: dict[str, tuple[str, str, str]] = {
    # key: package, file inside it, name for messages
    "regular": ("fontpkg_fira_sans", "files/FiraSans-Regular.ttf", "Fira Sans"),
    "medium": ("fontpkg_fira_sans", "files/FiraSans-Medium.ttf", "Fira Sans Medium"),
    "semibold": ("fontpkg_fira_sans", "files/FiraSans-SemiBold.ttf", "Fira Sans SemiBold"),
    "bold": ("fontpkg_fira_sans", "files/FiraSans-SemiBold.ttf", "Fira Sans SemiBold"),
    "italic": ("fontpkg_fira_sans", "files/FiraSans-Italic.ttf", "Fira Sans Italic"),
    "math": ("ziamath", "fonts/STIXTwoMath-Regular.ttf", "STIX Two Math"),
    "arabic": (
        "fontpkg_noto_sans_arabic",
        "files/NotoSansArabic[wdth,wght].ttf",
        "Noto Sans Arabic",
    ),
}
WEIGHTS: tuple[str, ...] = ("regular", "medium", "semibold", "bold", "italic")
FALLBACKS: tuple[str, ...] = ("math", "arabic")


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

    def __init__(self, key: str, path: str, name: str) -> None:
        import uharfbuzz as hb

        self.key = key
        self.path = path
        self.name = name
        face = hb.Face(hb.Blob.from_file_path(path))
        self._font = hb.Font(face)
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


@cache
def face(key: str) -> Face:
    """The font of a weight or a fallback, opened once.

    :raises ToolMissing: when its package is not installed.
    """
    package, file, name = _FACES[key]
    if package_folder("uharfbuzz") is None:
        raise _missing("uharfbuzz")
    folder = package_folder(package)
    path = os.path.join(folder, *file.split("/")) if folder else ""
    if not folder or not os.path.exists(path):
        raise _missing(package)
    return Face(key, path, name)


def fallback_faces() -> tuple[Face, ...]:
    """The fonts asked in turn for what the first one lacks; absent packages are left out."""
    found = []
    for key in FALLBACKS:
        try:
            found.append(face(key))
        except ToolMissing:
            continue
    return tuple(found)
