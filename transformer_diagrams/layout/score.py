"""How good a placed figure is, as numbers: measured on the scene's geometry alone.

A layout is searched by these numbers, and the lint tells those that are faults: a rule that is
named in ``FAULTS`` has as many findings as its key of the score says.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, Final

from transformer_diagrams.layout.near import Span, near
from transformer_diagrams.layout.scene import Box, Line, Rect, Scene
from transformer_diagrams.records import dataclass

TOUCH = 0.06  # points: two places nearer than this are the same
STROKE = 1.0  # lines nearer than this are drawn on one another
SHARED_HEAD = 4.0  # arrow tips of different tensors nearer than this are one
LINE_GAP = 2.0  # least distance of a line from a box that it does not belong to
WORD_GAP = 1.0  # least distance of a line's end from the word that it belongs to
KINK = 12.0  # least offset between two parallel runs of a line
CELL = 24.0  # side of the cells that are looked at for ink

MEANINGS: Final[Mapping[str, str]] = {
    "crossings": "places where lines of two tensors cross",
    "through_boxes": "lines that run through a box or frame that they neither begin nor end in, "
    f"nearer than {LINE_GAP:g} pt to a box that is not theirs, or along a side of their own",
    "on_frame": f"lines that lie on the border of a frame (nearer than {LINE_GAP:g} pt)",
    "overlaps": "pairs of lines of different tensors that lie on one another "
    f"(nearer than {STROKE:g} pt)",
    "shared_heads": "pairs of lines of different tensors that end in one arrowhead "
    f"(tips nearer than {SHARED_HEAD:g} pt)",
    "stray_ends": "ends of lines that are not on the border of their box or on a line of their "
    f"tensor, or that touch their word (nearer than {WORD_GAP:g} pt)",
    "lost_labels": "words of an edge or a note, and shapes, that the figure should say and does "
    "not",
    "kinks": f"offsets below {KINK:g} pt between two parallel runs of one line",
    "bends": "corners of all lines",
    "detour": "length of a line over the Manhattan distance of its ends: mean and worst",
    "empty": f"share of the canvas's cells, of {CELL:g} pt each, in which nothing is drawn; the "
    "inside of a frame is no ink",
    "aspect": "width of the canvas over its height",
    "out_of_order": "boxes whose operands or outputs stand in another order than written and are "
    "not named",
}
"""What each key of the score counts."""

FAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "through_boxes": ("line-through-box", "line-through-frame", "line-on-side"),
    "on_frame": ("line-on-frame",),
    "overlaps": ("lines-overlap",),
    "shared_heads": ("shared-head",),
    "stray_ends": ("end-off-port", "end-on-word"),
    "lost_labels": ("label-lost",),
    "kinks": ("kink",),
    "out_of_order": ("out-of-order",),
}
"""The keys that must be 0, and the rules of the findings that each of them counts."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of the picture: the rule it breaks, what is concerned, and by how much."""

    rule: str
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.rule}: {self.what}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True, slots=True)
class Score:
    """The quality of one figure; ``MEANINGS`` says what each number is.

    ``faults`` has the keys of ``FAULTS``: how many of ``findings`` each counts.
    """

    faults: Mapping[str, int]
    findings: tuple[Finding, ...]
    crossings: int
    bends: int
    detour: float  # in the mean
    worst_detour: float
    empty: float
    aspect: float

    def as_json(self) -> dict[str, Any]:
        """The numbers by their keys."""
        found = {
            **self.faults,
            "crossings": self.crossings,
            "bends": self.bends,
            "detour": {"mean": round(self.detour, 3), "worst": round(self.worst_detour, 3)},
            "empty": round(self.empty, 3),
            "aspect": round(self.aspect, 3),
        }
        return {key: found[key] for key in MEANINGS}


@dataclass(frozen=True, slots=True)
class Seg:
    """One straight piece of a line."""

    line: Line
    span: Span
    level: bool
    first: bool
    last: bool


def score(scene: Scene) -> Score:
    """Measure a whole scene. The order of the findings is stable."""
    lines = [line for line in scene.lines if line.tail or line.head]  # the legend's have no ends
    segs = segments(lines)
    boxes = {box.id: box for box in scene.boxes}
    found: dict[tuple[str, str, str], Finding] = {}
    for rule, what, detail in (
        *_through(scene, boxes, segs),
        *_ends(scene, boxes, lines),
        *_shared_heads(lines),
        *_words_lost(scene),
        *_kinks(lines),
        *_order(scene, lines),
    ):
        found.setdefault((rule, what, detail), Finding(rule, what, detail))
    crossings, overlaps = _meetings(segs)
    findings = [*found.values(), *overlaps]
    counts = Counter(finding.rule for finding in findings)
    ways = [_detour(line.points) for line in lines] or [1.0]
    return Score(
        faults={key: sum(counts[rule] for rule in rules) for key, rules in FAULTS.items()},
        findings=tuple(findings),
        crossings=crossings,
        bends=sum(len(line.points) - 2 for line in lines),
        detour=sum(ways) / len(ways),
        worst_detour=max(ways),
        empty=_empty(scene, segs),
        aspect=scene.width / scene.height,
    )


def segments(lines: Iterable[Line]) -> list[Seg]:
    """The straight pieces of lines, in their order."""
    found = []
    for line in lines:
        last = len(line.points) - 2
        for i, ((x1, y1), (x2, y2)) in enumerate(pairwise(line.points)):
            span = (x1 if x1 < x2 else x2, y1 if y1 < y2 else y2,
                    x2 if x1 < x2 else x1, y2 if y1 < y2 else y1)  # fmt: skip
            found.append(Seg(line, span, abs(y1 - y2) < TOUCH, i == 0, i == last))
    return found


def span_of(rect: Rect) -> Span:
    """A rectangle by its four sides."""
    return rect.left, rect.top, rect.left + rect.width, rect.top + rect.height


def reach(box: Box) -> Rect:
    """A box with the sheets behind it."""
    extra = box.sheet * box.stack
    return Rect(
        box.rect.left, box.rect.top - extra, box.rect.width + extra, box.rect.height + extra
    )


def parallel(a: Seg, b: Seg) -> tuple[float, float]:
    """(distance, shared length) of two pieces that run the same way."""
    one, two = a.span, b.span
    if a.level:
        return abs(one[1] - two[1]), min(one[2], two[2]) - max(one[0], two[0])
    return abs(one[0] - two[0]), min(one[3], two[3]) - max(one[1], two[1])


# -- the faults, each as (rule, what, detail) -----------------------------------------------------

Fault = tuple[str, str, str]


def _through(scene: Scene, boxes: Mapping[str, Box], segs: Sequence[Seg]) -> Iterator[Fault]:
    """Lines inside of boxes and along their sides, and on frames."""
    spans = [span_of(box.rect) for box in scene.boxes]
    for i, j in near(spans, [seg.span for seg in segs], LINE_GAP):
        box, seg = scene.boxes[i], segs[j]
        line, one, two = seg.line, f"'{seg.line.id}'", f"'{box.id}'"
        own, frame = box.id in (line.tail, line.head), box.whole or box.id
        if box.form == "frame":
            if _lies_along(seg, spans[i]):
                yield "line-on-frame", one, two
            if (
                not own
                and _inside(seg.span, spans[i], 0.0)
                and not any(_within(boxes, end, frame) for end in (line.tail, line.head))
            ):
                yield "line-through-frame", one, two
        elif not own:
            yield "line-through-box", one, two
        elif box.form != "circle" and _lies_along(seg, spans[i]):
            yield "line-on-side", one, f"its own {two}"
        elif _inside(seg.span, spans[i], -0.2):
            at_end = (seg.first and box.id == line.tail) or (seg.last and box.id == line.head)
            if not (at_end and box.form == "circle"):
                yield "line-through-box", one, f"its own {two}"


def _inside(a: Span, b: Span, gap: float) -> bool:
    """Whether two spans come nearer than ``gap``; below 0, by how much they must overlap."""
    level = a[0] < b[2] + gap and b[0] < a[2] + gap
    return level and a[1] < b[3] + gap and b[1] < a[3] + gap


def _lies_along(seg: Seg, box: Span) -> bool:
    """True where a piece of a line runs along a side of a box."""
    at, across = seg.span, 1 if seg.level else 0
    along = 1 - across
    if min(abs(at[across] - box[across]), abs(at[across] - box[across + 2])) >= LINE_GAP:
        return False
    return min(at[along + 2], box[along + 2]) - max(at[along], box[along]) > 1.0


def _within(boxes: Mapping[str, Box], box: str, frame: str) -> bool:
    """Whether a box stands in any part of a frame."""
    while box in boxes and frame not in (box, boxes[box].whole):
        box = boxes[box].parent
    return box in boxes


def _ends(scene: Scene, boxes: Mapping[str, Box], lines: Sequence[Line]) -> Iterator[Fault]:
    """Ends of lines that are off their box, off the lines of their net, or touch their word."""
    words = {q.owner: span_of(q.rect) for q in scene.labels if q.kind == "io"}
    by_net: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_net[line.net].append(line)
    for line in lines:
        ends = [(line.head, line.points[-1])]
        if not line.branch:
            ends.append((line.tail, line.points[0]))
        elif not any(_lies_on(line.points[0], o) for o in by_net[line.net] if o is not line):
            yield "end-off-port", f"'{line.id}'", "it begins on no line of its net"
        for name, (x, y) in ends:
            if name not in boxes:
                continue
            if not _on_border(boxes[name], x, y):
                yield "end-off-port", f"'{line.id}'", f"at '{name}'"
            elif name in words and _inside((x, y, x, y), words[name], WORD_GAP - TOUCH):
                yield "end-on-word", f"'{line.id}'", f"at '{name}'"


def _on_border(box: Box, x: float, y: float) -> bool:
    if box.form == "circle":
        radius = math.hypot(x - box.rect.center_x, y - box.rect.center_y)
        return abs(radius - box.rect.width / 2) < TOUCH
    for left, top, right, bottom in {span_of(box.rect), span_of(reach(box))}:
        if (
            left - TOUCH <= x <= right + TOUCH
            and top - TOUCH <= y <= bottom + TOUCH
            and min(abs(x - left), abs(x - right), abs(y - top), abs(y - bottom)) < TOUCH
        ):
            return True
    return False


def _lies_on(point: tuple[float, float], line: Line) -> bool:
    x, y = point
    return any(
        min(x1, x2) - TOUCH <= x <= max(x1, x2) + TOUCH
        and min(y1, y2) - TOUCH <= y <= max(y1, y2) + TOUCH
        for (x1, y1), (x2, y2) in pairwise(line.points)
    )


def _shared_heads(lines: Sequence[Line]) -> Iterator[Fault]:
    """Lines of different tensors that end in one arrowhead."""
    ending = [line for line in lines if line.arrow and line.head]
    tips = [line.points[-1] for line in ending]
    spans = [(x, y, x, y) for x, y in tips]
    for i, j in near(spans, spans, SHARED_HEAD):
        a, b = ending[i], ending[j]
        same = i < j and a.head == b.head and math.dist(tips[i], tips[j]) < SHARED_HEAD
        if same and a.net != b.net:
            yield "shared-head", f"'{a.id}' and '{b.id}'", f"at '{a.head}'"


def _words_lost(scene: Scene) -> Iterator[Fault]:
    """Words that the graph has for a line or beside a box, and that do not stand in the figure."""
    drawn = Counter(
        "".join(label.markup.split()) for label in scene.labels if label.kind in ("edge", "note")
    )
    for words, count in Counter(scene.words).items():
        found = drawn["".join(words.split())]
        for number in range(found, count):
            yield "label-lost", f"'{words}'", f"{number} of {count} drawn"
    told = {label.owner for label in scene.labels if label.kind in ("edge", "shape")}
    for nets in scene.shapes:
        if told.isdisjoint(nets):
            yield "label-lost", f"the shape of '{nets[0]}'", ""


def _kinks(lines: Sequence[Line]) -> Iterator[Fault]:
    """Short pieces between two runs that are parallel."""
    for line in lines:
        for (x0, y0), (x1, y1), (x2, y2), (x3, y3) in zip(
            line.points, line.points[1:], line.points[2:], line.points[3:], strict=False
        ):
            offset = abs(x2 - x1) + abs(y2 - y1)
            runs = (x1 - x0, x3 - x2) if abs(y2 - y1) < TOUCH else (y1 - y0, y3 - y2)
            if offset < KINK - TOUCH and max(map(abs, runs)) < TOUCH:
                yield "kink", f"'{line.id}'", f"{offset:.1f} pt at ({x1:g}, {y1:g})"


def _order(scene: Scene, lines: Sequence[Line]) -> Iterator[Fault]:
    """Operands and outputs that stand in another order than the spec's, and are not named."""
    axis = 1 if scene.direction == "right" else 0
    named = {label.owner for label in scene.labels if label.kind == "edge"}
    heads: dict[str, dict[str, tuple[int, float, bool]]] = defaultdict(dict)
    tails: dict[str, dict[str, tuple[int, float, bool]]] = defaultdict(dict)
    for line in lines:
        said = line.id in named or line.net in named
        if line.head_place >= 0:
            heads[line.head][line.id] = (line.head_place, line.points[-1][axis], said)
        if line.tail_place >= 0 and not line.branch:
            tails[line.tail][line.net] = (line.tail_place, line.points[0][axis], said)
    for what, ends in (("operands", heads), ("outputs", tails)):
        for box, places in ends.items():
            for (a, one), (b, two) in combinations(places.items(), 2):
                swapped = (one[0] - two[0]) * (one[1] - two[1]) < 0
                if swapped and not (one[2] and two[2]):
                    yield "out-of-order", f"{what} of '{box}'", f"'{a}' and '{b}'"
                    break


def _meetings(segs: Sequence[Seg]) -> tuple[int, list[Finding]]:
    """How often lines of two nets cross, and those that lie on one another."""
    level, steep = [s for s in segs if s.level], [s for s in segs if not s.level]
    flat, upright = [s.span for s in level], [s.span for s in steep]
    crossings = set()
    for i, j in near(flat, upright, -TOUCH):
        one, two = level[i].line.net, steep[j].line.net
        if one != two:
            at = round(upright[j][0], 1), round(flat[i][1], 1)
            crossings.add((one, two, *at) if one < two else (two, one, *at))
    overlaps: dict[tuple[str, str], Finding] = {}
    for same, spans in ((level, flat), (steep, upright)):
        for i, j in near(spans, spans, STROKE):
            a, b = same[i], same[j]
            if i < j and a.line.net != b.line.net:
                gap, shared = parallel(a, b)
                if shared > 1.0:
                    pair = (a.line.id, b.line.id)
                    words = f"'{pair[0]}' and '{pair[1]}'"
                    overlaps.setdefault(pair, Finding("lines-overlap", words, f"{gap:.1f} pt"))
    return len(crossings), list(overlaps.values())


# -- the other numbers ----------------------------------------------------------------------------


def _detour(points: Sequence[tuple[float, float]]) -> float:
    (x1, y1), (x2, y2) = points[0], points[-1]
    length = sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(points))
    return length / max(abs(x1 - x2) + abs(y1 - y2), KINK)


def _empty(scene: Scene, segs: Sequence[Seg]) -> float:
    """The share of cells without ink; they are fitted to the canvas, a whole number each way."""
    columns, rows = max(1, round(scene.width / CELL)), max(1, round(scene.height / CELL))
    wide, high = scene.width / columns, scene.height / rows
    grid = [0] * rows
    half = STROKE / 2

    def ink(left: float, top: float, right: float, bottom: float) -> None:
        first, last = max(0, int(left / wide)), min(columns - 1, math.ceil(right / wide) - 1)
        if first <= last:
            mask = (1 << (last + 1)) - (1 << first)
            for row in range(max(0, int(top / high)), min(rows, math.ceil(bottom / high))):
                grid[row] |= mask

    def line(left: float, top: float, right: float, bottom: float) -> None:
        ink(left - half, top - half, right + half, bottom + half)

    for box in scene.boxes:
        left, top, right, bottom = span_of(reach(box))
        if box.form == "frame":
            for x in (left, right):
                line(x, top, x, bottom)
            for y in (top, bottom):
                line(left, y, right, y)
        elif box.form != "text":
            line(left, top, right, bottom)
    for seg in segs:
        line(*seg.span)
    for label in scene.labels:
        ink(*span_of(label.rect))
    return 1.0 - sum(row.bit_count() for row in grid) / (columns * rows)
