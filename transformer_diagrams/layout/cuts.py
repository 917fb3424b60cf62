"""Where a figure can be cut, and where it is cut best.

A cut lies straight across the flow where nothing but lines and frames crosses it. The best cuts
make pieces of like length, and few lines and frames cross them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from transformer_diagrams.layout.canvas import Body
from transformer_diagrams.layout.near import Span
from transformer_diagrams.layout.paper import Paper
from transformer_diagrams.layout.placed import Point
from transformer_diagrams.layout.scene import Line, Rect
from transformer_diagrams.layout.score import KINK, TOUCH, reach
from transformer_diagrams.records import dataclass
from transformer_diagrams.text import measure
from transformer_diagrams.theme import Sizes

LEAST_GAP = 1.0  # points along the flow that a cut needs
MOST_PLACES = 200  # of cuts to choose from; of more, the best of each stretch
PRICE_OF_LINE = 0.3  # each line beside the stream, in squares of a piece's share of the length
PRICE_OF_FRAME = 0.1  # each frame around a frame that is cut
WORD_PAD = 4.0  # around the word that a frame goes on
BEFORE, BEHIND = "continues", "continued"

Track = tuple[str, float]  # net, u
Item = TypeVar("Item")


def track_of(line: Line, u: float) -> Track:
    """The track of a run of a line that begins at this place across the flow."""
    return line.net, round(u, 2)


@dataclass(frozen=True, slots=True)
class Cut:
    """A place where a body can be cut.

    low, high  v where what stands before it ends, and what stands behind it begins
    before     number of boxes before it
    tracks     the lines that cross it, from low u
    levels     the frames that it cuts: how many of these are inside of each, one in another
    """

    low: float
    high: float
    before: int
    tracks: tuple[Track, ...]
    levels: dict[str, int]

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def depth(self) -> int:
        """How many frames it cuts, one in another."""
        return max(self.levels.values(), default=-1) + 1

    @property
    def price(self) -> float:
        return PRICE_OF_LINE * max(0, len(self.tracks) - 1) + PRICE_OF_FRAME * self.depth


class Tower:
    """A body in flow coordinates, with the places where it can be cut."""

    def __init__(self, body: Body, direction: str, sizes: Sizes) -> None:
        self.body, self.direction, self.sizes = body, direction, sizes
        self.paper = Paper(direction, 0.0, 0.0, 0.0)
        self.frames = {box.id: box for box in body.boxes if box.form == "frame"}
        self.clear = max(KINK, sizes.lane_gap)
        words = [measure(word, sizes.font_note) for word in (BEFORE, BEHIND)]
        along = [t.width if direction == "right" else t.height for t in words]
        self.room = max(sizes.frame_pad, max(along) + 2 * WORD_PAD)

    # -- from paper to flow ------------------------------------------------------------------

    def span(self, rect: Rect) -> Span:
        """A rectangle on paper by its sides in the flow."""
        a, b = self.paper.flow(rect.left, rect.top)
        c, d = self.paper.flow(rect.right, rect.bottom)
        return min(a, c), min(b, d), max(a, c), max(b, d)

    def rect(self, span: Span) -> Rect:
        """The rectangle on paper of sides in the flow."""
        u, v, right, top = span
        return self.paper.rect(u, v, right - u, top - v)

    @cached_property
    def paths(self) -> list[list[Point]]:
        """The points of the lines, in their order."""
        return [[self.paper.flow(x, y) for x, y in line.points] for line in self.body.lines]

    # -- the places to cut -------------------------------------------------------------------

    @cached_property
    def solid(self) -> list[tuple[float, float, str]]:
        """(first v, last v, box) of all that no cut may touch, by the first."""
        apart = {line.head for line in self.body.lines if line.kind == "leader"}
        found: list[tuple[float, float, str]] = []
        for box in self.body.boxes:
            _, low, _, high = self.span(reach(box))
            if box.form == "frame" and box.id not in apart:
                _, start, _, end = self.span(box.rect)
                found += [(min(low, start), start, box.id), (end, max(high, end), box.id)]
            else:
                found.append((low, high, box.id))
        for label in self.body.labels:
            _, low, _, high = self.span(label.rect)
            found.append((low, high, ""))
        for line, path in zip(self.body.lines, self.paths, strict=True):
            for (_, a), (_, b) in pairwise(path):
                ends = (a, b) if line.kind == "leader" else (a, a)
                found += [(min(ends), max(ends), ""), (b, b, "")]
        return sorted(found)

    @cached_property
    def cuts(self) -> list[Cut]:
        """Where it can be cut, along the flow: one place between two boxes, the best."""
        blocks = [box for box in self.body.boxes if box.form in ("box", "circle")]
        middles = sorted(sum(self.span(box.rect)[1::2]) / 2 for box in blocks)
        runs = [
            (min(a[1], b[1]), max(a[1], b[1]), track_of(line, a[0]))
            for line, path in zip(self.body.lines, self.paths, strict=True)
            for a, b in pairwise(path)
            if abs(a[0] - b[0]) < TOUCH
        ]
        spans = ((name, self.span(frame.rect)) for name, frame in self.frames.items())
        frames = [(low, high, name) for name, (_, low, _, high) in spans]
        gaps = []
        end = self.solid[0][1]
        for low, high, _ in self.solid:
            if low - end >= LEAST_GAP and 0 < bisect(middles, end) < len(middles):
                gaps.append((end, low))
            end = max(end, high)
        best: dict[int, Cut] = {}
        for (low, high), tracks, cut_frames in zip(
            gaps, _across(gaps, runs), _across(gaps, frames), strict=True
        ):
            before, ordered = bisect(middles, low), sorted(set(tracks), key=lambda t: (t[1], t[0]))
            cut = Cut(low, high, before, tuple(ordered), self._levels(cut_frames))
            old = best.get(before)
            if old is None or (cut.price, -cut.low) <= (old.price, -old.low):
                best[before] = cut
        found = list(best.values())
        if len(found) <= MOST_PLACES:
            return found
        stretch = (found[-1].low - found[0].low) / MOST_PLACES
        kept: dict[int, Cut] = {}
        for cut in sorted(found, key=lambda c: c.price):
            kept.setdefault(int((cut.low - found[0].low) / stretch), cut)
        return sorted(kept.values(), key=lambda c: c.low)

    def _levels(self, across: Sequence[str]) -> dict[str, int]:
        """How many of these frames each has inside, one in another."""
        levels = dict.fromkeys(across, 0)
        for name in across:
            level, parent = 0, self.frames[name].parent
            while parent in self.frames:
                level += 1
                if parent in levels:
                    levels[parent] = max(levels[parent], level)
                parent = self.frames[parent].parent
        return levels

    def best_cuts(self, count: int) -> tuple[Cut, ...] | None:
        """That many cuts: pieces of like length, few lines and frames across; None: too many."""
        cuts, n = self.cuts, len(self.cuts)
        if count > n:
            return None
        _, start, _, end = self.span(self.body.rect)
        lows = [start, *(cut.high - self.beyond(cut) for cut in cuts)]
        highs = [*(cut.low + self.beyond(cut) for cut in cuts), end]
        share = (end - start) / (count + 1)

        def piece(first: int, last: int) -> float:
            return float(((highs[last] - lows[first]) / share - 1.0) ** 2)

        # costs[j]: the least of all ways to end a piece at cut j, and the cuts before it
        costs: list[tuple[float, tuple[int, ...]]] = [
            (piece(0, j) + cuts[j].price, (j,)) for j in range(n)
        ]
        for k in range(1, count):
            ends: list[tuple[float, tuple[int, ...]]] = [(float("inf"), ())] * k
            for j in range(k, n):
                cost, i = min((costs[i][0] + piece(i + 1, j), i) for i in range(k - 1, j))
                ends.append((cost + cuts[j].price, (*costs[i][1], j)))
            costs = ends
        _, way = min((cost + piece(j + 1, n), way) for j, (cost, way) in enumerate(costs))
        return tuple(cuts[j] for j in way)

    def in_the_way(self) -> str:
        """The id of the box that reaches farthest along the flow: what most hinders a cut."""
        boxes = ((high - low, box) for low, high, box in self.solid if box not in self.frames)
        return max(boxes, default=(0.0, ""))[1]

    # -- what stands at a cut ----------------------------------------------------------------

    def closing(self, cut: Cut, level: int) -> float:
        """How far from what stands at a cut the border of a frame of that level lies."""
        sheets = [f.stack * f.sheet for f in map(self.frames.__getitem__, cut.levels)]
        return (level + 1) * self.room + level * max(sheets, default=0.0)

    def clearance(self, cut: Cut) -> float:
        """How far from what stands at a cut the nearest line of the bundle lies."""
        sheets = [f.stack * f.sheet for f in map(self.frames.__getitem__, cut.levels)]
        last = self.closing(cut, cut.depth - 1) if cut.levels else 0.0
        return last + max(sheets, default=0.0) + self.clear

    def beyond(self, cut: Cut) -> float:
        """How far a piece reaches beyond what stands at a cut."""
        return self.clearance(cut) + self.sizes.lane_gap * max(0, len(cut.tracks) - 1)


def _across(
    gaps: Iterable[tuple[float, float]], spans: Iterable[tuple[float, float, Item]]
) -> Iterator[list[Item]]:
    """For each gap, in their order, what reaches from before it to behind it."""
    waiting = sorted(spans, key=lambda span: -span[0])
    active: list[tuple[float, float, Item]] = []
    for low, high in gaps:
        while waiting and waiting[-1][0] <= low + TOUCH:
            active.append(waiting.pop())
        active = [span for span in active if span[1] >= high - TOUCH]
        yield [item for _, _, item in active]
