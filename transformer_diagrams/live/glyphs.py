"""The figures' typeface for live text: a subset to embed in pages, and outlines for files.

Figures that change while one looks need digits of one width (`tnum`), so text is shaped here with
that feature; letters that Fira Sans lacks are left to the text engine and its other fonts.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from transformer_diagrams.live.draw import LOWER, RAISE, SMALL
from transformer_diagrams.text import webfont

FILES = {"400": "FiraSans-Regular.ttf", "600": "FiraSans-SemiBold.ttf"}
KEYS = {"400": "regular", "600": "semibold"}
ALWAYS = "".join(chr(c) for c in range(32, 127)) + "×−≤≥√·→…“”‘’–—÷½⅔"


@cache
def _path(weight: str) -> str:
    from transformer_diagrams.cachedir import package_folder
    from transformer_diagrams.text.fonts import face

    face(KEYS[weight])  # says what to install when it is missing
    folder = package_folder("fontpkg_fira_sans") or ""
    return os.path.join(folder, "files", FILES[weight])


@cache
def _font(weight: str) -> Any:
    import uharfbuzz as hb

    return hb.Font(hb.Face(hb.Blob.from_file_path(_path(weight))))


def subset(weight: str, characters: Iterable[str]) -> bytes:
    """A WOFF file with the glyphs of ``characters`` and kerning, ligature-free, equal digits.

    :raises ToolMissing: when the font is not installed.
    """
    return webfont.subset(_path(weight), characters, ("kern", "tnum"))


def font_css(regular: Iterable[str], strong: Iterable[str]) -> str:
    """``@font-face`` rules with the two weights inside, for the characters given."""
    rules = []
    for weight, characters in (("400", regular), ("600", strong)):
        data = b64encode(subset(weight, characters)).decode("ascii")
        rules.append(
            "@font-face{font-family:'Fira Sans';font-style:normal;"
            f"font-weight:{weight};src:url(data:font/woff;base64,{data})format('woff')}}"
        )
    return "".join(rules)


def outline(
    runs: Sequence[tuple[str, str]], weight: str
) -> tuple[list[tuple[str, float, float, float]], float]:
    """The outlines of a line of runs, and its width, in thousandths of the font size.

    Each outline is (path data, x, y, scale): small runs are scaled and shifted.
    """
    from transformer_diagrams.text.outline import Pen

    pieces, pen = [], 0.0
    for text, sign in runs:
        scale = SMALL if sign else 1.0
        shift = {"_": LOWER, "^": RAISE, "": 0.0}[sign] * 1000
        ink = Pen()
        width = _shape(text, weight, ink)
        if not ink.empty:
            pieces.append((ink.data(), pen, shift, scale))
        pen += width * scale
    return pieces, pen


def _shape(text: str, weight: str, ink: Any) -> float:
    import uharfbuzz as hb

    from transformer_diagrams.text import shaping
    from transformer_diagrams.text.fonts import UNITS, face

    known = face(KEYS[weight])
    if not all(known.has(c) for c in text):
        end, _ = shaping.draw(text, KEYS[weight], ink, 0.0)
        return end
    font = _font(weight)
    buffer = hb.Buffer()
    buffer.add_str(text)
    buffer.guess_segment_properties()
    hb.shape(font, buffer, {"tnum": True, "liga": False})
    k = UNITS / font.face.upem
    pen = 0.0
    for info, place in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        x, y = (pen + place.x_offset) * k, -place.y_offset * k
        ink.add(known.outline(info.codepoint), x, y)
        pen += place.x_advance
    return float(pen * k)
