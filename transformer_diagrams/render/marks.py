"""The small drawn signs: frozen, trained, tied, EMA at a box's corner; stop-gradient on a line.

Each is a list of strokes on a disc of radius 1 around (0, 0), scaled where it is used. Drawn as
plain paths, so that no font and no viewer can change them.
"""

from __future__ import annotations

import math

from transformer_diagrams.render.display import Disc, Ink, Outline, Shape
from transformer_diagrams.render.geometry import Point, joined, moved, number

SAID: dict[str, str] = {
    "frozen": "frozen: its weights are not trained",
    "trained": "trained",
    "tied": "its weights are shared with another block",
    "ema": "a moving average of other weights",
    "changed": "differs from the other figure",
    "stop-gradient": "no gradient flows back here",
}


def _snowflake() -> str:
    parts = []
    for k in range(6):
        a = math.pi / 2 + k * math.pi / 3
        tip = (0.74 * math.cos(a), -0.74 * math.sin(a))
        fork = (0.42 * math.cos(a), -0.42 * math.sin(a))
        parts.append(f"M0 0L{number(tip[0], 3)} {number(tip[1], 3)}")
        for turn in (-1, 1):
            b = a + turn * math.pi / 4
            end = (fork[0] + 0.26 * math.cos(b), fork[1] - 0.26 * math.sin(b))
            parts.append(
                f"M{number(fork[0], 3)} {number(fork[1], 3)}"
                f"L{number(end[0], 3)} {number(end[1], 3)}"
            )
    return "".join(parts)


# (path, filled?) on the unit disc, y down.
SHAPES: dict[str, tuple[str, bool]] = {
    "frozen": (_snowflake(), False),
    "trained": (
        "M.05-.78C.16-.42 .58-.2 .58 .24C.58 .58 .32 .78 0 .78C-.33 .78-.58 .56-.58 .22"
        "C-.58 0-.46-.16-.32-.3C-.3-.1-.22 .02-.1 .06C-.2-.22-.16-.54 .05-.78Z",
        True,
    ),
    "tied": (
        "M-.12 .2L.2-.12M-.02-.3L.14-.46C.3-.62 .52-.62 .66-.48C.8-.34 .8-.12 .64 .04L.46 .22"
        "M.02 .3L-.14 .46C-.3 .62-.52 .62-.66 .48C-.8 .34-.8 .12-.64-.04L-.46-.22",
        False,
    ),
    "ema": (
        "M-.6-.08C-.56-.44-.3-.62 0-.62C.26-.62 .46-.5 .56-.3M.6-.62L.58-.26L.24-.3"
        "M.6 .08C.56 .44 .3 .62 0 .62C-.26 .62-.46 .5-.56 .3M-.6 .62L-.58 .26L-.24 .3",
        False,
    ),
    "changed": ("M-.56-.22H.56M-.56 .22H.56M-.3 .62L.3-.62", False),
}
OUTLINED = ("changed",)
"""Marks that draw a second outline around the box too: they must be found at a glance."""


def corner_mark(mark: str, at: Point, size: float, color: str, paper: str) -> list[Shape]:
    """A disc with the sign in it, centred on ``at``; ``size`` is its diameter in points."""
    data, filled = SHAPES[mark]
    r = size / 2
    ink = Ink(color) if filled else Ink("", color, 0.16, cap="round", join="round")
    return [
        Disc(at, r, Ink(paper, color, size * 0.07)),
        Outline(data, ink, (round(at[0], 2), round(at[1], 2)), round(r * 0.8, 3)),
    ]


def slashes(
    at: Point, way: Point, size: float, color: str, paper: str, width: float
) -> list[Shape]:
    """Two bars across a line at ``at``, which runs in direction ``way``; the gap is paper."""
    across = (-way[1], way[0])
    half, lean, gap = size * 0.42, size * 0.16, size * 0.17

    def bar(offset: float) -> str:
        ends = (moved(moved(at, way, offset + sign * lean), across, sign * half)
                for sign in (-1, 1))  # fmt: skip
        return joined([*ends])

    cleared = joined([moved(at, way, -gap), moved(at, way, gap)])
    return [
        Outline(cleared, Ink("", paper, width * 2.2)),
        Outline(bar(-gap) + bar(gap), Ink("", color, width * 1.35, cap="round")),
    ]
