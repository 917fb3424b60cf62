"""Lines back: what a block gave one step ago goes beside its column into the side of its reader.

They are no part of the flow, so everything else has its place before. Each leaves its box at a
side, runs back in a lane and enters at that side; of a fixed number of sides, heights and lanes
the one is taken that meets least. In `Placed.wires` they have numbers of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, replace
from itertools import pairwise, product

from transformer_diagrams.graph.ir import Group, Node, Return
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.near import Span
from transformer_diagrams.layout.placed import KINKED, SAME, Note, Placed, Point, Wire
from transformer_diagrams.records import dataclass
from transformer_diagrams.text import measure

HEIGHTS = (0.5, 0.66, 0.34, 0.8, 0.2)  # where a line may leave or enter a side
PLACES = (*HEIGHTS, 0.58, 0.42, 0.9, 0.1)  # of its words along a run
OWN = KINKED + 0.5  # least offset between two runs, so between out of and into one and the same box
NEAR = 6.0  # from what it must not touch
BESIDE = 4.0  # from a lane to its words
# What a way costs, in points of its length.
BOX, WORD, ALONG, CROSS, WIDER, LOW = 2000.0, 600.0, 600.0, 60.0, 0.5, 6.0
UNEVEN = 1.5  # a point between an end and the middle of its side
WORDED = 12  # ways beside which words are tried
LANES = 12  # beside a box, the nearest: pairs of them are tried
KINK = 300.0  # an offset of less than OWN


@dataclass(slots=True)
class _Survey:
    """What stands in a group, whatever is around it; lines of the ``source`` are told apart."""

    source: tuple[str, int] = ("", 0)
    ends: dict[str, Span] = field(default_factory=dict)  # boxes and frames by path
    round: set[str] = field(default_factory=set)  # paths of circles
    boxes: list[Span] = field(default_factory=list)
    frames: list[Span] = field(default_factory=list)
    words: list[Span] = field(default_factory=list)
    runs: list[Span] = field(default_factory=list)
    same: list[list[Point]] = field(default_factory=list)  # lines back from the same source

    def add(self, group: Group, placed: Placed, u: float = 0.0, v: float = 0.0) -> _Survey:
        for spot in placed.spots:
            child = group.children[spot.child]
            at, to = u + spot.u, v + spot.v
            rect = (at, to, at + spot.du, to + spot.dv)
            if isinstance(child, Node):
                self.ends[child.path] = rect
                self.boxes.append(rect)
                if child.form == "circle":
                    self.round.add(child.path)
                continue
            if child.framed:
                self.ends[child.path] = rect
                self.frames.append(rect)
            assert spot.inside is not None
            self.add(child, spot.inside, at, to)
        for note in placed.notes:
            self.words.append((u + note.u, v + note.v, u + note.u + note.du, v + note.v + note.dv))
        for wire in placed.wires:
            back = group.returns[-2 - wire.edge] if wire.edge < 0 else None
            mine = back is not None and (end_of(back.tails, self.ends), back.port) == self.source
            points = [(u + a, v + b) for a, b in wire.points]
            if mine:
                self.same.append(points)
            else:
                self.runs += _runs(points)
        return self

    def beside(self, low: float, top: float) -> list[Span]:
        """What stands between two places along the flow."""
        every = (*self.boxes, *self.words, *self.runs, *self.frames)
        return [rect for rect in every if rect[1] < top and low < rect[3]]


def wire_of(number: int) -> int:
    """What a line back is called among the wires of its group."""
    return -2 - number


def end_of(paths: tuple[str, ...], drawn: object) -> str:
    """The first of some paths that is drawn, or ""."""
    return next((path for path in paths if path in drawn), "")  # type: ignore[operator]


def draw_returns(group: Group, ctx: Context, out: Placed) -> None:
    """Draw the lines back in a group, and make room for them."""
    if not group.returns:
        return
    found = _Survey().add(group, out).ends
    ends = [(end_of(back.tails, found), end_of(back.heads, found)) for back in group.returns]
    shown = [number for number, (tail, head) in enumerate(ends) if tail and head]
    # what comes back soon, nearest
    shown.sort(key=lambda number: abs(found[ends[number][0]][1] - found[ends[number][1]][1]))
    for number in shown:
        (tail, head), back = ends[number], group.returns[number]
        survey = _Survey((tail, back.port)).add(group, out)
        ways = list(_ways(survey, tail, head, ctx))
        if tail != head:
            ways += _around(survey, tail, head, out, ctx)
        if back.mark == "ema":
            ways += _between(survey, tail, head, ctx)
        costs = _least(ways, survey, out, (tail, head), WORDED if back.label else 1)
        if back.label:  # of the best, one beside which its words have room
            costs = [(spent + WORD * _words(back, ways[n], survey, ctx)[1], n)
                     for spent, n in costs]  # fmt: skip
        points = ways[min(costs)[1]]
        out.wires.append(Wire(wire_of(number), points, lane=True))
        _make_room(out, points)
    for number in shown:  # words, when all lines are there
        back = group.returns[number]
        if back.label:
            points = next(w.points for w in out.wires if w.edge == wire_of(number))
            survey = _Survey().add(group, out)
            note, _ = _words(back, points, survey, ctx)
            out.notes.append(replace(note, edge=wire_of(number)))
            _make_room(out, [(note.u, note.v), (note.u + note.du, note.v + note.dv)])


def _ways(survey: _Survey, tail: str, head: str, ctx: Context) -> Iterator[list[Point]]:
    """In a lane on one side of both, the plainest first."""
    gap = ctx.sizes.lane_gap
    one, other = survey.ends[tail], survey.ends[head]
    heights = [(a, b) for a in _heights(survey, tail) for b in _heights(survey, head)]
    if tail == head:
        half = min(max(0.2, OWN / 2 / (one[3] - one[1])), 0.45)
        heights = [(0.5 + half, 0.5 - half)]
    for high, (a, b) in product((True, False), heights):
        begin, end = one[1] + a * (one[3] - one[1]), other[1] + b * (other[3] - other[1])
        low, top = min(begin, end) - NEAR, max(begin, end) + NEAR
        beside = survey.beside(low, top)
        if high:
            from_u, to_u = one[2], other[2]
            first = max(from_u, to_u) + gap
            lanes = [first, *(r[2] + gap for r in beside if r[2] + gap > first)]
        else:
            from_u, to_u = one[0], other[0]
            first = min(from_u, to_u) - gap
            lanes = [first, *(r[0] - gap for r in beside if r[0] - gap < first)]
        for lane in dict.fromkeys(round(u, 3) for u in lanes):
            yield [(from_u, begin), (lane, begin), (lane, end), (to_u, end)]


def _around(
    survey: _Survey, tail: str, head: str, out: Placed, ctx: Context
) -> Iterator[list[Point]]:
    """Out at one side, along before or behind everything, and in at another side."""
    gap = ctx.sizes.lane_gap
    one, other = survey.ends[tail], survey.ends[head]
    begin, end = (one[1] + one[3]) / 2, (other[1] + other[3]) / 2

    def lanes(rect: Span, channel: float) -> Iterator[tuple[float, float]]:
        """(where the side is, where the lane beside it)."""
        beside = survey.beside(*sorted(((rect[1] + rect[3]) / 2, channel)))
        high, low = rect[2] + gap, rect[0] - gap
        above = sorted({u for r in beside if (u := r[2] + gap) >= high})[:LANES]
        below = sorted({u for r in beside if (u := r[0] - gap) <= low})[-LANES:]
        yield from ((rect[2], u) for u in above)
        yield from ((rect[0], u) for u in below)

    for channel in (-gap, out.length + gap):
        for side, lane in lanes(one, channel):
            for into, last in lanes(other, channel):
                if last == lane:  # nothing to go around
                    continue
                yield [(side, begin), (lane, begin), (lane, channel), (last, channel),
                       (last, end), (into, end)]  # fmt: skip


def _between(survey: _Survey, tail: str, head: str, ctx: Context) -> Iterator[list[Point]]:
    """Out at the side that faces the other box, and in at the one that faces this: level, or with
    one lane between them."""
    gap = ctx.sizes.lane_gap
    one, other = survey.ends[tail], survey.ends[head]
    if one[2] < other[0]:
        begin_u, end_u, low, high = one[2], other[0], one[2], other[0]
    elif other[2] < one[0]:
        begin_u, end_u, low, high = one[0], other[2], other[2], one[0]
    else:
        return
    bottom, top = max(one[1], other[1]), min(one[3], other[3])
    if top - bottom > 2 * NEAR:
        yield [(begin_u, (bottom + top) / 2), (end_u, (bottom + top) / 2)]
    for a, b in product(HEIGHTS, HEIGHTS):
        begin, end = one[1] + a * (one[3] - one[1]), other[1] + b * (other[3] - other[1])
        beside = survey.beside(*sorted((begin, end)))
        lanes = {low + gap, high - gap, *(u for r in beside for u in (r[0] - gap, r[2] + gap))}
        for lane in sorted(u for u in lanes if low + gap <= u <= high - gap):
            yield [(begin_u, begin), (lane, begin), (lane, end), (end_u, end)]


def _heights(survey: _Survey, path: str) -> tuple[float, ...]:
    return HEIGHTS[:1] if path in survey.round else HEIGHTS


def _least(
    ways: list[list[Point]], survey: _Survey, out: Placed, ends: tuple[str, str], most: int
) -> list[tuple[float, int]]:
    """The cheapest ways with their costs, ``most`` of them. What a way costs by itself is found
    for each; what it meets only for those that could still be among the cheapest."""
    found: list[tuple[float, int]] = []
    for own, n in sorted((_own_cost(way, survey, out, ends), n) for n, way in enumerate(ways)):
        if len(found) == most and own > found[-1][0]:
            break
        found = sorted([*found, (own + _met_cost(ways[n], survey, ends), n)])[:most]
    return found


def _own_cost(way: list[Point], survey: _Survey, out: Placed, ends: tuple[str, str]) -> float:
    """The length, steps and ends of a way, and the room that it asks for."""
    own = [survey.ends[path] for path in ends]
    spent = 0.0 if way[1][0] > way[0][0] else LOW
    for run in _runs(way):
        spent += abs(run[2] - run[0]) + abs(run[3] - run[1])
    if ends[0] != ends[1]:
        spent += UNEVEN * sum(
            abs(point[1] - (rect[1] + rect[3]) / 2)
            for point, rect in zip((way[0], way[-1]), own, strict=True)
        )
        spent += KINK * sum(math.dist(a, b) < OWN for a, b in pairwise(way[1:-1]))
    us, vs = [u for u, _ in way], [v for _, v in way]
    wider = max(0.0, max(us) - out.width) - min(0.0, *us)
    longer = max(0.0, max(vs) - out.length) - min(0.0, *vs)
    return spent + WIDER * (wider + longer)


def _met_cost(way: list[Point], survey: _Survey, ends: tuple[str, str]) -> float:
    """What a way runs through, along and across."""
    own = [survey.ends[path] for path in ends]
    spent = 0.0
    for run in _runs(way):
        spent += BOX * sum(_meets(run, box, NEAR) for box in survey.boxes if box not in own)
        spent += WORD * sum(_meets(run, word, NEAR) for word in survey.words)
        spent += BOX * sum(
            _meets(run, frame, NEAR) for frame in survey.frames
            if frame not in own and not any(_holds(frame, end) for end in own)
        )
        for u0, v0, u1, v1 in survey.frames:
            for side in ((u0, v0, u0, v1), (u1, v0, u1, v1), (u0, v0, u1, v0), (u0, v1, u1, v1)):
                spent += ALONG * _beside(run, side)
        for other in survey.runs:
            spent += ALONG * _beside(run, other)
            spent += CROSS * _crosses(run, other)
        for points in survey.same:
            others = _runs(points)
            spent += CROSS * sum(_crosses(run, other) for other in others)
            if math.dist(points[0], way[0]) < SAME:
                others = others[-1:]  # they may leave as one line
            spent += ALONG * sum(_beside(run, other) for other in others)
    return spent


def _words(
    back: Return, points: list[Point], survey: _Survey, ctx: Context
) -> tuple[Note, int]:
    """The words of a line back, beside its longest run that leaves them room, and what they hit."""
    size = ctx.sizes.font_edge
    text = measure(back.label, size)
    du, dv = (text.height, text.width) if ctx.across else (text.width, text.height)
    runs = _runs(points)
    taken = [*survey.boxes, *survey.words, *survey.runs, *runs]
    for u0, v0, u1, v1 in survey.frames:
        taken += [(u0, v0, u0, v1), (u1, v0, u1, v1), (u0, v0, u1, v0), (u0, v1, u1, v1)]
    places = []
    for u0, v0, u1, v1 in sorted(runs, key=lambda run: run[0] + run[1] - run[2] - run[3]):
        for share, outward in product(PLACES, (True, False)):
            if u1 - u0 < SAME:
                u = u0 + BESIDE if outward is (u0 >= points[0][0]) else u0 - BESIDE - du
                places.append((u, v0 + share * (v1 - v0) - dv / 2))
            else:
                v = v0 + BESIDE if outward else v0 - BESIDE - dv
                places.append((u0 + share * (u1 - u0) - du / 2, v))

    def hits(place: Point) -> int:
        rect = (*place, place[0] + du, place[1] + dv)
        return sum(_meets(rect, other, BESIDE / 2) for other in taken)

    u, v = min(places, key=hits)
    return Note(back.label, "edge", u, v, du, dv, size), hits((u, v))


def _make_room(out: Placed, points: list[Point]) -> None:
    us, vs = [u for u, _ in points], [v for _, v in points]
    before, after = max(0.0, -min(vs)), max(0.0, max(vs) - out.length)
    if before or after:
        out.lengthen(before and before + 1.0, after and after + 1.0)
    low, high = min(0.0, min(us) - 1.0), max(out.width, max(us) + 1.0)
    if low < 0.0:
        out.shift_u(-low)
    out.width = high - low


def _runs(points: list[Point]) -> list[Span]:
    return [(min(a, c), min(b, d), max(a, c), max(b, d)) for (a, b), (c, d) in pairwise(points)]


def _meets(run: Span, rect: Span, gap: float) -> bool:
    level = run[0] < rect[2] + gap - SAME and rect[0] - gap + SAME < run[2]
    return level and run[1] < rect[3] + gap - SAME and rect[1] - gap + SAME < run[3]


def _holds(frame: Span, rect: Span) -> bool:
    return (
        frame[0] <= rect[0] and frame[1] <= rect[1] and rect[2] <= frame[2] and rect[3] <= frame[3]
    )


def _beside(a: Span, b: Span) -> bool:
    """Whether two runs lie on or too near to one another, the same way."""
    if (a[3] - a[1] < SAME) != (b[3] - b[1] < SAME):
        return False
    return _meets(a, b, NEAR)


def _crosses(a: Span, b: Span) -> bool:
    return (a[3] - a[1] < SAME) != (b[3] - b[1] < SAME) and _meets(a, b, 0.0)
