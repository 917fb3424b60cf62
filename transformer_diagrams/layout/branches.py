"""Lines of one tensor, drawn once where they run together."""

from __future__ import annotations

from dataclasses import replace

from transformer_diagrams.layout.paper import rounded
from transformer_diagrams.layout.placed import Point
from transformer_diagrams.layout.scene import Line


def branched(lines: list[Line]) -> list[Line]:
    """Lines of one net drawn once where they run together: a later one begins where it leaves.

    It begins one corner before its turn, so that the fork is rounded.
    """
    drawn: dict[str, list[Line]] = {}
    result: list[Line] = []
    for line in sorted(lines, key=lambda q: (not q.spine, len(q.points))):
        trunk = drawn.setdefault(line.net, [])
        cut = line
        if not line.branch:
            kept = _own_part(line, trunk)
            if len(kept) < len(line.points) or kept != list(line.points):
                cut = replace(line, points=tuple(kept), branch=True)
        trunk.append(line)
        result.append(cut)
    place = {line.id: i for i, line in enumerate(lines)}
    return sorted(result, key=lambda q: place[q.id])


def _own_part(line: Line, trunk: list[Line]) -> list[Point]:
    """The points of ``line`` from just before it leaves every line of ``trunk``."""
    best = list(line.points)
    for other in trunk:
        same = 0
        for a, b in zip(line.points, other.points, strict=False):
            if abs(a[0] - b[0]) > 0.01 or abs(a[1] - b[1]) > 0.01:
                break
            same += 1
        if same == 0:
            continue
        # both leave points[same-1] in one direction: they part at the nearer next corner
        if same >= len(line.points) or same >= len(other.points):
            continue
        (x0, y0), (x1, y1), (x2, y2) = line.points[same - 1], line.points[same], other.points[same]
        if (abs(x1 - x0) < 0.01) != (abs(x2 - x0) < 0.01):
            continue
        ahead, theirs = (x1 - x0) + (y1 - y0), (x2 - x0) + (y2 - y0)
        if ahead * theirs <= 0:
            continue
        if abs(ahead) <= abs(theirs):  # we turn first (or at the same corner)
            back = min(line.corner, abs(ahead))
            step = back if ahead > 0 else -back
            start = (x1, y1 - step) if abs(x1 - x0) < 0.01 else (x1 - step, y1)
            rest = list(line.points[same:])
            if len(rest) < len(best) or (len(rest) == len(best) - 1 and best == list(line.points)):
                best = [(rounded(start[0]), rounded(start[1])), *rest]
        else:  # they turned off; we go straight on
            back = min(line.corner, abs(theirs)) * (1 if ahead > 0 else -1)
            start = (x2, y2 - back) if abs(x1 - x0) < 0.01 else (x2 - back, y2)
            rest = [(rounded(start[0]), rounded(start[1])), *line.points[same:]]
            if len(rest) <= len(best):
                best = rest
    return best
