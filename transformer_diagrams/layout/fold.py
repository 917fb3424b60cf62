"""Folding: a long body cut between its blocks, the pieces side by side (left to right: in rows).

Before: a body as it stands. After: its pieces, each moved as a whole, their feet on one level. A
cut lies straight across the flow where nothing but lines and frames crosses it. A frame is closed
on both sides of a cut and says there that it goes on. The lines that cross go on as one bundle:
over the head of a piece, down between the two, and under the foot of the next; there the line
that is outermost at the head is innermost, so that no two cross.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.graph.ir import Graph
from transformer_diagrams.layout.canvas import Body, Canvas, box_moved, label_moved, text_label
from transformer_diagrams.layout.cuts import BEFORE, BEHIND, WORD_PAD, Cut, Tower, Track, track_of
from transformer_diagrams.layout.measure import LayoutOptions
from transformer_diagrams.layout.paper import rounded, snapped
from transformer_diagrams.layout.placed import Point
from transformer_diagrams.layout.scene import Box, Label, Line, Rect
from transformer_diagrams.layout.score import reach
from transformer_diagrams.text import measure
from transformer_diagrams.theme import Theme

MOST_FOLDS = 20  # of those that an aspect takes
Move = tuple[float, float]  # du, dv


def folded(body: Body, graph: Graph, canvas: Canvas, theme: Theme, options: LayoutOptions) -> Body:
    """The body in as many folds as were asked for, or as its theme or an aspect needs.

    :raises DiagramError: there are not that many places to cut it.
    """
    count, aspect = options.fold, options.aspect
    if count is None and aspect is None and theme.fold is not None:
        whole = canvas.scene(body)
        if not theme.fold.narrowest <= whole.width / whole.height <= theme.fold.widest:
            aspect = theme.fold.aspect
    if not count and aspect is None:
        return body
    tower = Tower(body, canvas.ctx.direction, theme.sizes)
    if count is None and aspect is not None:
        return _nearest(tower, aspect, canvas)
    cuts = tower.best_cuts(count or 0)
    if cuts is None:
        raise DiagramError([_too_few(tower, graph, count or 0)])
    return _Folding(tower, cuts).body()


def _nearest(tower: Tower, aspect: float, canvas: Canvas) -> Body:
    """The body in as many folds as bring the figure nearest to an aspect.

    Each fold makes it wider and less high, or in rows the other way: so the search halves.
    """
    made: dict[int, tuple[float, Body]] = {}

    def off(count: int) -> float:
        """How far that many folds are from the aspect; below 0 where more are needed."""
        if count not in made:
            cuts = tower.best_cuts(count) if count else ()
            body = _Folding(tower, cuts).body() if cuts else tower.body
            scene = canvas.scene(body)
            ratio = math.log(scene.width / scene.height / aspect)
            made[count] = (-ratio if tower.direction == "right" else ratio), body
        return made[count][0]

    counts = range(min(MOST_FOLDS, len(tower.cuts)) + 1)
    first = bisect(counts, 0.0, key=off)
    near = range(max(0, first - 2), min(len(counts), first + 2))
    return made[min(near, key=lambda count: abs(off(count)))][1]


def _too_few(tower: Tower, graph: Graph, count: int) -> Fault:
    """That a figure has not that many places to cut, with what reaches farthest along it."""
    most, times = len(tower.cuts), "once" if count == 1 else f"{count} times"
    places = {0: "no place", 1: "only one place"}.get(most, f"only {most} places")
    name = tower.in_the_way()
    part = next((part for part in graph.parts() if part.path == name), graph.root)
    why, hint = f"'{name}' takes most room along the stream", "fold it less often, or not"
    if graph.callouts:
        why, hint = "a call-out beside them is not cut", "open it in place instead (--open)"
    return Fault(
        "cannot-fold",
        f"'{graph.id}' cannot be folded {times}: {places} between its blocks can be cut from side "
        f"to side; {why}",
        part.span,
        part.doc_path,
        found=f"fold: {count}",
        expected=f"at most {most}",
        hint=hint,
    )


class _Folding:
    """One fold of a tower: where its pieces go, and all that is moved there."""

    def __init__(self, tower: Tower, cuts: Sequence[Cut]) -> None:
        self.tower, self.cuts = tower, cuts
        self.middles = [cut.middle for cut in cuts]
        titles = (label for label in tower.body.labels if label.kind == "title")
        self.titles = {label.owner: label.markup.replace("\n", " ") for label in titles}
        self.moves: list[Move] = []
        self.gutters: list[float] = []  # u behind each piece but the last, where its bundle starts
        self._place()

    def piece(self, v: float) -> int:
        """The piece that a place along the flow lies in."""
        return bisect(self.middles, v)

    def of(self, rect: Rect) -> int:
        """The piece that a rectangle lies in."""
        _, low, _, high = self.tower.span(rect)
        return self.piece((low + high) / 2)

    def _place(self) -> None:
        """The pieces beside each other, their feet on level 0."""
        tower, lane = self.tower, self.tower.sizes.lane_gap
        _, start, _, _ = tower.span(tower.body.rect)
        feet = [start, *(cut.high - tower.beyond(cut) for cut in self.cuts)]
        at = 0.0
        for number, (low, high) in enumerate(self._extents()):
            self.moves.append((at - low, -feet[number]))
            at += high - low
            if number < len(self.cuts):
                self.gutters.append(at + tower.clear)
                at += 2 * tower.clear + lane * max(0, len(self.cuts[number].tracks) - 1)

    def _extents(self) -> list[tuple[float, float]]:
        """The reach of each piece across the flow."""
        tower, body = self.tower, self.tower.body
        found: list[list[float]] = [[] for _ in range(len(self.cuts) + 1)]
        for box in body.boxes:
            left, _, right, _ = tower.span(reach(box))
            for number in self.parts(box) if box.form == "frame" else [self.of(box.rect)]:
                found[number] += (left, right)
        for label in body.labels:
            found[self.of(label.rect)] += tower.span(label.rect)[::2]
        for path in tower.paths:
            for u, v in path:
                found[self.piece(v)].append(u)
        for number, cut in enumerate(self.cuts):
            for _, u in cut.tracks:
                found[number].append(u)
                found[number + 1].append(u)
        return [(min(each), max(each)) for each in found]

    # -- what is moved -------------------------------------------------------------------------

    def body(self) -> Body:
        """All of it in its new place, the upper left corner in the origin."""
        tower = self.tower
        boxes = [part for box in tower.body.boxes for part in self._boxes(box)]
        labels = [self._label(label) for label in tower.body.labels]
        labels += [word for number in range(len(self.cuts)) for word in self._words(number)]
        lines = [
            self._line(line, path) for line, path in zip(tower.body.lines, tower.paths, strict=True)
        ]
        return Body(tuple(boxes), tuple(lines), tuple(labels), Rect(0, 0, 0, 0)).fitted()

    def paper_move(self, number: int) -> Move:
        """How far on paper a piece moves."""
        return self.tower.paper.point(*self.moves[number])

    def parts(self, box: Box) -> range:
        """The pieces that a frame has a part in."""
        _, low, _, high = self.tower.span(box.rect)
        return range(self.piece(low), self.piece(high) + 1)

    def name(self, box_id: str, number: int) -> str:
        """The id of a box, or of a frame's part in that piece; the first part keeps the id."""
        frame = self.tower.frames.get(box_id)
        if frame is None or number <= self.parts(frame).start:
            return box_id
        return f"{box_id}~{number - self.parts(frame).start + 1}"

    def _boxes(self, box: Box) -> Iterator[Box]:
        tower = self.tower
        if box.form != "frame":
            number = self.of(box.rect)
            moved = box_moved(box, *self.paper_move(number))
            yield replace(moved, parent=self.name(box.parent, number))
            return
        left, low, right, high = tower.span(box.rect)
        parts = self.parts(box)
        for number in parts:
            start, end = low, high
            if number > parts.start:
                cut = self.cuts[number - 1]
                start = cut.high - tower.closing(cut, cut.levels[box.id])
            if number < parts.stop - 1:
                cut = self.cuts[number]
                end = cut.low + tower.closing(cut, cut.levels[box.id])
            part = replace(box, rect=snapped(tower.rect((left, start, right, end))))
            yield replace(
                box_moved(part, *self.paper_move(number)),
                id=self.name(box.id, number),
                parent=self.name(box.parent, number),
                whole=box.id if number > parts.start else "",
            )

    def _label(self, label: Label) -> Label:
        number = self.of(label.rect)
        moved = label_moved(label, *self.paper_move(number))
        return replace(moved, owner=self.name(label.owner, number))

    def _words(self, number: int) -> Iterator[Label]:
        """On both sides of a cut, that the frames go on."""
        tower, cut, size = self.tower, self.cuts[number], self.tower.sizes.font_note
        for frame in map(tower.frames.__getitem__, cut.levels):
            away = tower.closing(cut, cut.levels[frame.id])
            ends = [(number, BEFORE, [BEFORE])]
            title = self.titles.get(frame.id) if tower.direction != "right" else None
            ends.append((number + 1, BEHIND, [f"{title}, {BEHIND}", BEHIND] if title else [BEHIND]))
            for piece, what, words in ends:
                for markup in words:  # the first that has room; the last in any case
                    text = measure(markup, size)
                    du, dv = text.width, text.height
                    if tower.direction == "right":
                        du, dv = dv, du
                    u, free = self._room(cut, frame, du)
                    if free:
                        break
                v = cut.low + away - WORD_PAD - dv
                if piece > number:
                    v = cut.high - away + WORD_PAD
                at, owner = tower.rect((u, v, u + du, v + dv)), self.name(frame.id, piece)
                word = text_label(
                    f"{owner}#{what}", markup, text, size, "note", at, owner=owner, align="left"
                )
                yield label_moved(word, *self.paper_move(piece))

    def _room(self, cut: Cut, frame: Box, du: float) -> tuple[float, bool]:
        """The first u in a frame where a word meets no line across the cut, and if it does so."""
        left, _, right, _ = self.tower.span(frame.rect)
        sizes = self.tower.sizes
        pad = sizes.title_pad_y if self.tower.direction == "right" else sizes.title_pad_x
        for u in (left + pad, *(at + WORD_PAD for _, at in cut.tracks), right - pad - du):
            if left + WORD_PAD <= u <= right - WORD_PAD - du and not any(
                u - WORD_PAD < at < u + du + WORD_PAD for _, at in cut.tracks
            ):
                return u, True
        return left + pad, False

    def _line(self, line: Line, path: Sequence[Point]) -> Line:
        first, last = self.piece(path[0][1]), self.piece(path[-1][1])
        points = [self._at(path[0], first)]
        number = first
        for (begin, _), (u, v) in pairwise(path):
            goal = self.piece(v)
            while number != goal:
                step = 1 if goal > number else -1
                track = track_of(line, begin)
                points += self._bridge(min(number, number + step), track)[::step]
                number += step
            points.append(self._at((u, v), number))
        on_paper = tuple(
            (rounded(x), rounded(y)) for x, y in (self.tower.paper.point(*p) for p in points)
        )
        return replace(
            line,
            points=on_paper,
            tail=self.name(line.tail, first),
            head=self.name(line.head, last),
            spine=line.spine and len(points) == 2,
        )

    def _at(self, point: Point, number: int) -> Point:
        du, dv = self.moves[number]
        return point[0] + du, point[1] + dv

    def _bridge(self, number: int, track: Track) -> list[Point]:
        """The way of a line from a piece to the next."""
        tower, cut = self.tower, self.cuts[number]
        lane, place = tower.sizes.lane_gap, cut.tracks.index(track)
        away, outer = tower.clearance(cut), len(cut.tracks) - 1 - place
        _, head = self._at((0.0, cut.low + away + outer * lane), number)
        _, foot = self._at((0.0, cut.high - away - place * lane), number + 1)
        gutter = self.gutters[number] + outer * lane
        (start, _), (end, _) = (self._at((track[1], 0.0), n) for n in (number, number + 1))
        return [(start, head), (gutter, head), (gutter, foot), (end, foot)]
