"""Display list -> PNG, by resvg: no system library, the same pixels on every machine."""

from __future__ import annotations

import math
import struct

from transformer_diagrams.cachedir import package_folder
from transformer_diagrams.errors import DiagramError, Fault, ToolMissing
from transformer_diagrams.render.display import Display
from transformer_diagrams.render.svg import to_svg

MOST_SIDE = 16_384
"""Largest width or height in pixels: most programs open no larger picture."""
MOST_PIXELS = 120_000_000
"""Largest number of pixels, about 480 MB of memory while drawing."""


def to_png(display: Display, *, scale: float | None = None, dpi: float | None = None) -> bytes:
    """The PNG of a figure.

    ``dpi`` is dots an inch; ``scale`` is a multiple of the size in pixels at 96 dots an inch (2
    when neither is given), so that three times the scale is exactly three times the pixels.
    The file notes its dots an inch, so that it is placed at the figure's physical size.

    :raises DiagramError: before any drawing when the picture would be too large, with the largest
        scale that works.
    :raises ToolMissing: when resvg is not installed.
    """
    factor = dpi / 96 if dpi is not None else 2.0 if scale is None else scale
    dots = factor * 96
    if not 0 < dots < math.inf:
        raise DiagramError(Fault("bad-scale", f"the scale must lie above 0, not {scale or dpi}"))
    inches = [round(v, 3) / 72 for v in display.printed]
    once = [v * 96 if dpi is not None else float(max(1, round(v * 96))) for v in inches]
    wide, high = (max(1, round(v * factor)) for v in once)
    if max(wide, high) > MOST_SIDE or wide * high > MOST_PIXELS:
        most = min(MOST_SIDE / max(once), math.sqrt(MOST_PIXELS / (once[0] * once[1])))
        raise DiagramError(
            Fault(
                "png-too-large",
                f"the PNG would be {wide:,} x {high:,} pixels; "
                f"at most {MOST_SIDE:,} a side and {MOST_PIXELS // 1_000_000} million in all "
                "are drawn",
                found=f"{wide} x {high}",
                expected=f"a scale of at most {math.floor(most * 100) / 100:g} "
                f"({math.floor(most * 96)} dpi)",
                hint="take a smaller scale, or SVG or PDF, which have no pixels",
            )
        )
    if package_folder("resvg_py") is None:
        raise ToolMissing(
            Fault(
                "missing-library",
                "the Python package 'resvg-py' that makes PNG is not installed",
                hint="pip install resvg-py (SVG, PDF and DOT work without it)",
            )
        )
    import resvg_py

    # Whole pixels, filled to the last one: a part of a pixel at the border would let what lies
    # under the picture show through.
    whole = to_svg(display, words=False, pixels=(wide, high))
    try:
        data = bytes(resvg_py.svg_to_bytes(svg_string=whole, dpi=96.0, skip_system_fonts=True))
    except ValueError as problem:
        raise DiagramError(
            Fault("bad-svg", "the SVG cannot be drawn as PNG", found=str(problem))
        ) from None
    return _with_density(data, dots)


def _with_density(png: bytes, dots: float) -> bytes:
    """The PNG with its pixels a metre noted (chunk pHYs, after IHDR)."""
    import zlib

    per_metre = round(dots / 0.0254)
    body = b"pHYs" + struct.pack(">IIB", per_metre, per_metre, 1)
    chunk = struct.pack(">I", 9) + body + struct.pack(">I", zlib.crc32(body))
    after_header = 8 + 25  # signature, then IHDR: length, name, 13 bytes, checksum
    return png[:after_header] + chunk + png[after_header:]
