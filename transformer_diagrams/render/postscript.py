"""Display list -> EPS and PostScript, by CairoSVG: for publishers and LaTeX runs that take no PDF.

Vectors only. PostScript knows no unpainted words, so that letters are outlines alone; there is
no transparency in a figure, so that nothing is turned into pixels.
"""

from __future__ import annotations

import re
from typing import Any

from transformer_diagrams.errors import DiagramError, Fault, ToolMissing
from transformer_diagrams.render.display import Display
from transformer_diagrams.render.geometry import number
from transformer_diagrams.render.svg import to_svg

REMEDIES: tuple[tuple[str, str], ...] = (
    # package manager, what to type; the first one that is here is named
    ("apt-get", "sudo apt-get install libcairo2"),
    ("dnf", "sudo dnf install cairo"),
    ("pacman", "sudo pacman -S cairo"),
    ("zypper", "sudo zypper install libcairo2"),
    ("apk", "sudo apk add cairo"),
    ("brew", "brew install cairo"),
)

_BOX = re.compile(rb"^%%BoundingBox: .*\n", re.MULTILINE)
_DATED = re.compile(rb"^%%(?:CreationDate|Creator):.*\n", re.MULTILINE)


def to_eps(display: Display) -> bytes:
    """The Encapsulated PostScript of a figure; its box is the figure, in points.

    :raises ToolMissing: when CairoSVG or the Cairo library is not there.
    """
    return _convert(display, "svg2eps")


def to_ps(display: Display) -> bytes:
    """The PostScript of a figure: one page of the figure's size.

    Raises as :func:`to_eps` does.
    """
    return _convert(display, "svg2ps")


def _convert(display: Display, function: str) -> bytes:
    convert = getattr(cairo(), function)
    ink = to_svg(display, words=False)
    try:
        data: bytes = convert(bytestring=ink.encode("utf-8"))
    except (ValueError, SyntaxError) as problem:
        raise DiagramError(
            Fault("bad-svg", "the SVG cannot be written as PostScript", found=str(problem))
        ) from None
    # The clock and the library's version are no part of a figure.
    data = _DATED.sub(b"", data)
    # The box above is in whole points; this one is what the figure really measures.
    wide, high = (number(length, 3) for length in display.printed)
    exact = f"%%HiResBoundingBox: 0 0 {wide} {high}\n".encode("ascii")
    return _BOX.sub(lambda box: box[0] + exact, data, count=1)


def cairo() -> Any:
    """The module ``cairosvg``, with the Cairo library behind it.

    :raises ToolMissing: with the package to install, for this system.
    """
    try:
        import cairosvg
    except ImportError:
        raise _missing(
            "the Python package 'cairosvg' that writes EPS and PS is not installed",
            "pip install cairosvg",
        ) from None
    except OSError:
        raise _missing(
            "the Cairo library that writes EPS and PS was not found on this system", _remedy()
        ) from None
    return cairosvg


def _remedy() -> str:
    import shutil

    for manager, command in REMEDIES:
        if shutil.which(manager):
            return command
    return "install the system package 'cairo' (on Debian and Ubuntu: libcairo2)"


def _missing(message: str, remedy: str) -> ToolMissing:
    hint = f"{remedy} (SVG, PNG, PDF and DOT work without it)"
    return ToolMissing(Fault("missing-library", message, hint=hint))

