"""Shapes and SVG path data as absolute pieces, for formats that have commands of their own.

Knows what outlines are written in: M L H V C Q T Z, absolute and relative.
"""

from __future__ import annotations

import re

from transformer_diagrams.layout.scene import Rect
from transformer_diagrams.render.display import Curve, Disc, Outline, Shape
from transformer_diagrams.render.geometry import KAPPA

Command = tuple[str, tuple[float, ...]]
"""M, L, C (absolute) or Z."""

_TOKENS = re.compile(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)")
_COUNT = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Q": 4, "T": 2, "Z": 0}


def commands(data: str) -> list[Command]:
    """Path data as M, L, C and Z; quadratic pieces become cubic ones.

    :raises KeyError: for a command that no outline of ours has.
    """
    tokens = _TOKENS.findall(data)
    out: list[Command] = []
    x = y = sx = sy = 0.0
    control: tuple[float, float] | None = None  # of the quadratic piece before
    letter, at = "", 0
    while at < len(tokens):
        if tokens[at].isalpha():
            letter = tokens[at]
            at += 1
        elif letter in "Mm":
            letter = "L" if letter == "M" else "l"
        kind = letter.upper()
        count = _COUNT[kind]
        n = [float(token) for token in tokens[at : at + count]]
        at += count
        if letter.islower():
            base = (y, y) if kind == "V" else (x, y)
            n = [v + base[i % 2] for i, v in enumerate(n)]
        last, control = control, None
        if kind == "Z":
            out.append(("Z", ()))
            x, y = sx, sy
            continue
        end = (n[0], y) if kind == "H" else (x, n[0]) if kind == "V" else (n[-2], n[-1])
        if kind == "M":
            sx, sy = end
            out.append(("M", end))
        elif kind in "LHV":
            out.append(("L", end))
        elif kind == "C":
            out.append(("C", tuple(n)))
        else:
            if kind == "Q":
                control = (n[0], n[1])
            else:
                control = (2 * x - last[0], 2 * y - last[1]) if last else (x, y)
            (cx, cy), (ex, ey) = control, end
            first = ((x + 2 * cx) / 3, (y + 2 * cy) / 3)
            out.append(("C", (*first, (ex + 2 * cx) / 3, (ey + 2 * cy) / 3, ex, ey)))
        x, y = end
    return out


def shape_commands(shape: Shape) -> list[Command]:
    """Any painted shape as M, L, C and Z; an outline in units of its own."""
    if isinstance(shape, Outline):
        return commands(shape.data)
    if isinstance(shape, Curve):
        pieces = [("C", tuple(v for point in piece for v in point)) for piece in shape.pieces]
        return [("M", shape.start), *pieces]
    if isinstance(shape, Disc):
        (x, y), r = shape.center, shape.radius
        return _rounded(Rect(x - r, y - r, 2 * r, 2 * r), r)
    return _rounded(shape.rect, shape.corner)


def _rounded(rect: Rect, corner: float) -> list[Command]:
    x, y, r, b = rect.left, rect.top, rect.right, rect.bottom
    if corner <= 0:
        return [("M", (x, y)), ("L", (r, y)), ("L", (r, b)), ("L", (x, b)), ("Z", ())]
    c, k = corner, corner * (1 - KAPPA)
    return [
        ("M", (x + c, y)),
        ("L", (r - c, y)), ("C", (r - k, y, r, y + k, r, y + c)),
        ("L", (r, b - c)), ("C", (r, b - k, r - k, b, r - c, b)),
        ("L", (x + c, b)), ("C", (x + k, b, x, b - k, x, b - c)),
        ("L", (x, y + c)), ("C", (x, y + k, x + k, y, x + c, y)),
        ("Z", ()),
    ]  # fmt: skip
