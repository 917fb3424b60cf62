"""Small geometry shared by the DOT file and the finished figure: rounded paths, numbers as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

Point = tuple[float, float]
Cubic = tuple[Point, Point, Point]
"""Two control points and the end of a Bezier piece; it starts where the piece before ends."""

KAPPA = 0.5522847498
"""Control distance of a quarter circle of radius 1 drawn as one cubic."""


def decimal(value: float, digits: int) -> str:
    """A number with at most so many decimals: ``0.50`` -> ``0.5``, ``-0.00`` -> ``0``."""
    text = f"{value:.{digits}f}"
    if digits:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def number(value: float, digits: int = 2) -> str:
    """A number in as few characters as it needs: ``0.50`` -> ``.5``, ``-0.00`` -> ``0``."""
    text = decimal(value, digits)
    if text.startswith("0."):
        return text[1:]
    if text.startswith("-0."):
        return "-" + text[2:]
    return text


def direction(a: Point, b: Point) -> Point:
    """The unit vector from a to b; (0, 0) when they are one."""
    length = math.hypot(b[0] - a[0], b[1] - a[1])
    return ((b[0] - a[0]) / length, (b[1] - a[1]) / length) if length else (0.0, 0.0)


def moved(p: Point, way: Point, by: float) -> Point:
    return (p[0] + way[0] * by, p[1] + way[1] * by)


def distinct(points: Sequence[Point]) -> list[Point]:
    """The points without repeats and without corners that do not turn."""
    out: list[Point] = []
    for p in points:
        if out and abs(out[-1][0] - p[0]) < 1e-6 and abs(out[-1][1] - p[1]) < 1e-6:
            continue
        if len(out) >= 2:
            (ax, ay), (bx, by) = out[-2], out[-1]
            cross = (bx - ax) * (p[1] - by) - (by - ay) * (p[0] - bx)
            dot = (bx - ax) * (p[0] - bx) + (by - ay) * (p[1] - by)
            if abs(cross) < 1e-9 and dot > 0:
                out.pop()
        out.append(p)
    return out


def joined(points: Sequence[Point]) -> str:
    """SVG path data of straight lines through the points."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def radii(way: Sequence[Point], radius: float) -> list[float]:
    """How far each corner of a polyline can be rounded: at most half a leg."""
    out = []
    for index in range(1, len(way) - 1):
        before, corner, after = way[index - 1], way[index], way[index + 1]
        first, second = math.dist(before, corner), math.dist(corner, after)
        # The outer legs may be used whole but for a little straight at the very end.
        room_in = first / 2 if index > 1 else first - min(1.0, first / 2)
        room_out = second / 2 if index < len(way) - 2 else second - min(1.0, second / 2)
        out.append(min(radius, room_in, room_out))
    return out


def rounded(points: Sequence[Point], radius: float) -> tuple[Point, list[Cubic]]:
    """A polyline with rounded corners as Bezier pieces; a corner takes at most half a leg."""
    way = distinct(points)
    if len(way) < 2:
        at = way[0] if way else (0.0, 0.0)
        return at, [(at, at, at)]
    start, pieces = way[0], []
    at = start
    for index, r in enumerate(radii(way, radius), 1):
        before, corner, after = way[index - 1], way[index], way[index + 1]
        inward, outward = direction(corner, before), direction(corner, after)
        enter, leave = moved(corner, inward, r), moved(corner, outward, r)
        pieces.append(straight(at, enter))
        near = r * (1 - KAPPA)
        pieces.append((moved(corner, inward, near), moved(corner, outward, near), leave))
        at = leave
    pieces.append(straight(at, way[-1]))
    return start, pieces


def straight(a: Point, b: Point) -> Cubic:
    """A straight line as a Bezier piece."""
    return (
        ((2 * a[0] + b[0]) / 3, (2 * a[1] + b[1]) / 3),
        ((a[0] + 2 * b[0]) / 3, (a[1] + 2 * b[1]) / 3),
        b,
    )


def is_straight(a: Point, piece: Cubic, slack: float = 0.02) -> bool:
    """Whether a Bezier piece from ``a`` runs along the line to its end."""
    b = piece[2]
    length = math.dist(a, b)
    if length < 1e-9:
        return True
    return all(
        abs((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / length <= slack
        for p in piece[:2]
    )


def path_data(start: Point, pieces: Sequence[Cubic]) -> str:
    """SVG path data of Bezier pieces: level and upright lines as H and V, corners as C."""
    out = [f"M{number(start[0])} {number(start[1])}"]
    at = start
    line: tuple[str, str] | None = None  # letter and number of the straight being grown
    for piece in pieces:
        end = piece[2]
        if is_straight(at, piece):
            if abs(end[0] - at[0]) < 0.005:
                step = ("V", number(end[1]))
            elif abs(end[1] - at[1]) < 0.005:
                step = ("H", number(end[0]))
            else:
                step = ("L", f"{number(end[0])} {number(end[1])}")
            if line and line[0] == step[0] != "L":
                out.pop()
            out.append("".join(step))
            line = step
        else:
            said = " ".join(f"{number(x)} {number(y)}" for x, y in piece)
            out.append("C" + said.replace(" -", "-"))
            line = None
        at = end
    return "".join(out)
