"""The geometric lint: what a strict reviewer would mark on the picture, found by measuring it.

Works on the Scene alone (numbers, not pixels), so it holds for every format at once.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import field
from itertools import combinations

from transformer_diagrams.layout.scene import Box, Label, Line, Rect, Scene
from transformer_diagrams.records import dataclass
from transformer_diagrams.theme import Theme
from transformer_diagrams.theme.contrast import contrast

TOUCH = 0.06  # points: two places nearer than this are the same
SHARED_HEAD = 4.0  # arrow tips of different tensors nearer than this are one
PARALLEL_GAP = 6.0  # least distance of parallel lines of different nets
BOX_GAP = 5.0  # least distance of boxes beside each other
LINE_GAP = 2.0  # least distance of a line from a box that it does not belong to
TEXT_PAD = 1.0  # least distance of a text from its box's border
LABEL_GAP = 0.8  # least distance of a label from lines and other labels
MIN_FONT = 6.0
MIN_CONTRAST = 4.5


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of the picture: the rule it breaks, what is concerned, and by how much."""

    rule: str
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.rule}: {self.what}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True, slots=True)
class LintReport:
    """Findings, and the two numbers a reader may weigh: crossings and bends."""

    findings: tuple[Finding, ...]
    crossings: int
    bends: int
    boxes: int
    lines: int

    @property
    def ok(self) -> bool:
        """True when nothing was found."""
        return not self.findings


@dataclass(frozen=True, slots=True)
class _Seg:
    """One straight piece of a line."""

    line: Line
    x1: float
    y1: float
    x2: float
    y2: float
    first: bool
    last: bool

    @property
    def rect(self) -> Rect:
        left, top = min(self.x1, self.x2), min(self.y1, self.y2)
        return Rect(left, top, abs(self.x2 - self.x1), abs(self.y2 - self.y1))

    @property
    def level(self) -> bool:
        return abs(self.y1 - self.y2) < TOUCH


@dataclass(slots=True)
class _Index:
    """Things by horizontal strip, so that only neighbours are compared."""

    strips: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    height: float = 60.0

    def add(self, number: int, rect: Rect) -> None:
        for strip in range(int(rect.top // self.height), int(rect.bottom // self.height) + 1):
            self.strips[strip].append(number)

    def near(self, rect: Rect, gap: float = 0.0) -> list[int]:
        found: dict[int, None] = {}
        first = int((rect.top - gap) // self.height)
        last = int((rect.bottom + gap) // self.height)
        for strip in range(first, last + 1):
            found.update(dict.fromkeys(self.strips.get(strip, ())))
        return list(found)


def lint(scene: Scene, theme: Theme) -> LintReport:
    """Check a whole scene. The order of findings is stable."""
    segs = [seg for line in scene.lines for seg in _segments(line)]
    findings: list[Finding] = []
    findings += _canvas(scene)
    findings += _boxes_apart(scene)
    findings += _text_inside(scene)
    findings += _labels_free(scene, segs)
    findings += _words_kept(scene)
    findings += _ends(scene)
    findings += _shared_heads(scene)
    findings += _order(scene)
    findings += _through(scene, segs)
    parallel, crossings = _pairs(segs)
    findings += parallel
    findings += _fonts(scene)
    findings += _straight(scene)
    findings += _equal_sizes(scene)
    findings += _contrast(scene, theme)
    findings += _arrow_room(scene, theme)
    bends = sum(len(line.points) - 2 for line in scene.lines if line.kind != "leader")
    return LintReport(tuple(findings), crossings, bends, len(scene.boxes), len(scene.lines))


def _segments(line: Line) -> Iterator[_Seg]:
    last = len(line.points) - 2
    for i, ((x1, y1), (x2, y2)) in enumerate(zip(line.points, line.points[1:], strict=False)):
        yield _Seg(line, x1, y1, x2, y2, i == 0, i == last)


def _reach(box: Box) -> Rect:
    """A box with the sheets behind it."""
    extra = box.sheet * box.stack
    return Rect(
        box.rect.left, box.rect.top - extra, box.rect.width + extra, box.rect.height + extra
    )


def _canvas(scene: Scene) -> Iterator[Finding]:
    canvas = Rect(0, 0, scene.width, scene.height)
    for box in scene.boxes:
        if not canvas.contains(_reach(box)):
            yield Finding("outside-canvas", f"box '{box.id}'")
    for line in scene.lines:
        for x, y in line.points:
            if not (0 <= x <= scene.width and 0 <= y <= scene.height):
                yield Finding("outside-canvas", f"line '{line.id}'", f"({x:g}, {y:g})")
    for label in scene.labels:
        if not canvas.contains(label.rect):
            yield Finding("outside-canvas", f"label '{label.markup}'")


def _boxes_apart(scene: Scene) -> Iterator[Finding]:
    frames = {b.id: b for b in scene.boxes if b.form == "frame"}
    index = _Index()
    for i, box in enumerate(scene.boxes):
        index.add(i, _reach(box))
    for i, a in enumerate(scene.boxes):
        if a.parent and a.parent in frames:
            around = frames[a.parent].rect
            if not around.contains(a.rect, slack=-3.0):
                yield Finding("outside-frame", f"'{a.id}' touches the frame '{a.parent}'")
        for j in index.near(_reach(a), BOX_GAP):
            b = scene.boxes[j]
            if j <= i or _encloses(frames, a, b) or _encloses(frames, b, a):
                continue
            if _reach(a).overlaps(_reach(b), BOX_GAP - TOUCH):
                yield Finding("boxes-too-near", f"'{a.id}' and '{b.id}'")


def _encloses(frames: dict[str, Box], outer: Box, inner: Box) -> bool:
    parent = inner.parent
    while parent:
        if parent == outer.id:
            return True
        parent = frames[parent].parent if parent in frames else ""
    return False


def _text_inside(scene: Scene) -> Iterator[Finding]:
    boxes = {b.id: b for b in scene.boxes}
    for label in scene.labels:
        if label.kind in ("block", "title", "badge") and label.owner in boxes:
            box = boxes[label.owner]
            if not box.rect.contains(label.rect, slack=-TEXT_PAD):
                yield Finding("text-leaves-box", f"'{label.markup}'", f"in '{box.id}'")


def _labels_free(scene: Scene, segs: list[_Seg]) -> Iterator[Finding]:
    seg_index = _Index()
    for i, seg in enumerate(segs):
        seg_index.add(i, seg.rect)
    label_index, box_index = _Index(), _Index()
    for i, label in enumerate(scene.labels):
        label_index.add(i, label.rect)
    for i, box in enumerate(scene.boxes):
        box_index.add(i, box.rect)
    for i, label in enumerate(scene.labels):
        if not label.markup.strip():
            continue
        for j in seg_index.near(label.rect, LABEL_GAP):
            if label.kind in ("block", "io") and label.owner in (
                segs[j].line.tail,
                segs[j].line.head,
            ):
                continue
            if label.rect.overlaps(segs[j].rect, LABEL_GAP):
                yield Finding("line-through-label", f"'{label.markup}'", f"'{segs[j].line.id}'")
                break
        for j in label_index.near(label.rect):
            if j > i and label.rect.overlaps(scene.labels[j].rect, 0.0):
                yield Finding("labels-overlap", f"'{label.markup}'", f"'{scene.labels[j].markup}'")
        if label.kind in ("shape", "edge", "title", "badge", "header", "mark", "note"):
            for j in box_index.near(label.rect):
                box = scene.boxes[j]
                if box.form not in ("frame",) and label.rect.overlaps(box.rect, 0.0):
                    yield Finding("label-on-box", f"'{label.markup}'", f"'{box.id}'")
                elif box.form == "frame" and _straddles(label.rect, box.rect):
                    yield Finding("label-on-border", f"'{label.markup}'", f"'{box.id}'")


def _words_kept(scene: Scene) -> Iterator[Finding]:
    """Every word that the graph has for a line or beside a box stands in the figure."""
    drawn = Counter(
        "".join(label.markup.split()) for label in scene.labels if label.kind in ("edge", "note")
    )
    for words, count in Counter(scene.words).items():
        found = drawn["".join(words.split())]
        if found < count:
            yield Finding("label-lost", f"'{words}'", f"{found} of {count} drawn")


def _straddles(inner: Rect, outer: Rect) -> bool:
    return inner.overlaps(outer) and not outer.contains(inner)


def _ends(scene: Scene) -> Iterator[Finding]:
    boxes = {b.id: b for b in scene.boxes}
    by_net: dict[str, list[Line]] = defaultdict(list)
    for line in scene.lines:
        by_net[line.net].append(line)
    for line in scene.lines:
        if line.head in boxes and not _on_border(boxes[line.head], line.points[-1]):
            yield Finding("end-off-port", f"'{line.id}'", f"at '{line.head}'")
        if line.branch:
            others = [o for o in by_net[line.net] if o is not line]
            if not any(_lies_on(line.points[0], o) for o in others):
                yield Finding("end-off-port", f"'{line.id}'", "it begins on no line of its net")
        elif line.tail in boxes and not _on_border(boxes[line.tail], line.points[0]):
            yield Finding("end-off-port", f"'{line.id}'", f"at '{line.tail}'")
        for (x1, y1), (x2, y2) in zip(line.points, line.points[1:], strict=False):
            if abs(x1 - x2) > TOUCH and abs(y1 - y2) > TOUCH:
                yield Finding("not-orthogonal", f"'{line.id}'")


def _shared_heads(scene: Scene) -> Iterator[Finding]:
    """Lines of different tensors that end in one arrowhead."""
    at_box: dict[str, list[Line]] = defaultdict(list)
    for line in scene.lines:
        if line.arrow and line.head:
            at_box[line.head].append(line)
    for box, lines in at_box.items():
        for a, b in combinations(lines, 2):
            if a.net != b.net and math.dist(a.points[-1], b.points[-1]) < SHARED_HEAD:
                yield Finding("shared-head", f"'{a.id}' and '{b.id}'", f"at '{box}'")


def _order(scene: Scene) -> Iterator[Finding]:
    """Operands and outputs that stand in another order than the spec's, and are not named."""
    axis = 1 if scene.direction == "right" else 0
    named = {label.owner for label in scene.labels if label.kind == "edge"}
    heads: dict[str, dict[str, tuple[int, float, bool]]] = defaultdict(dict)
    tails: dict[str, dict[str, tuple[int, float, bool]]] = defaultdict(dict)
    for line in scene.lines:
        said = line.id in named or line.net in named
        if line.head_place >= 0:
            heads[line.head][line.id] = (line.head_place, line.points[-1][axis], said)
        if line.tail_place >= 0 and not line.branch:
            tails[line.tail][line.net] = (line.tail_place, line.points[0][axis], said)
    for what, ends in (("operands", heads), ("outputs", tails)):
        for box, lines in ends.items():
            for (a, one), (b, two) in combinations(lines.items(), 2):
                swapped = (one[0] - two[0]) * (one[1] - two[1]) < 0
                if swapped and not (one[2] and two[2]):
                    yield Finding("out-of-order", f"{what} of '{box}'", f"'{a}' and '{b}'")
                    break


def _on_border(box: Box, point: tuple[float, float]) -> bool:
    x, y = point
    if box.form == "circle":
        radius = math.hypot(x - box.rect.center_x, y - box.rect.center_y)
        return abs(radius - box.rect.width / 2) < TOUCH
    for rect in (box.rect, _reach(box)):
        if not (
            rect.left - TOUCH <= x <= rect.right + TOUCH
            and rect.top - TOUCH <= y <= rect.bottom + TOUCH
        ):
            continue
        if (
            min(abs(x - rect.left), abs(x - rect.right)) < TOUCH
            or min(abs(y - rect.top), abs(y - rect.bottom)) < TOUCH
        ):
            return True
    return False


def _lies_on(point: tuple[float, float], line: Line) -> bool:
    x, y = point
    return any(
        seg.rect.left - TOUCH <= x <= seg.rect.right + TOUCH
        and seg.rect.top - TOUCH <= y <= seg.rect.bottom + TOUCH
        for seg in _segments(line)
    )


def _through(scene: Scene, segs: list[_Seg]) -> Iterator[Finding]:
    frames = {b.id: b for b in scene.boxes if b.form == "frame"}
    parents = {b.id: b.parent for b in scene.boxes}
    index = _Index()
    for i, seg in enumerate(segs):
        index.add(i, seg.rect)
    for box in scene.boxes:
        for j in index.near(box.rect, LINE_GAP):
            seg = segs[j]
            if seg.line.kind == "leader":
                continue
            if box.form == "frame":
                if _lies_along(seg, box.rect):
                    yield Finding("line-on-frame", f"'{seg.line.id}'", f"'{box.id}'")
                if not seg.rect.overlaps(box.rect) or box.id in (seg.line.tail, seg.line.head):
                    continue
                inside = any(
                    _within(frames, parents, end, box.id) for end in (seg.line.tail, seg.line.head)
                )
                if not inside:
                    yield Finding("line-through-frame", f"'{seg.line.id}'", f"'{box.id}'")
                continue
            own = box.id in (seg.line.tail, seg.line.head)
            if own:
                shrunk = Rect(
                    box.rect.left + 0.2,
                    box.rect.top + 0.2,
                    max(box.rect.width - 0.4, 0),
                    max(box.rect.height - 0.4, 0),
                )
                at_end = (seg.first and box.id == seg.line.tail) or (
                    seg.last and box.id == seg.line.head
                )
                if box.form != "circle" and _lies_along(seg, box.rect):
                    yield Finding("line-on-side", f"'{seg.line.id}'", f"its own '{box.id}'")
                elif seg.rect.overlaps(shrunk) and not (at_end and box.form == "circle"):
                    yield Finding("line-through-box", f"'{seg.line.id}'", f"its own '{box.id}'")
            elif seg.rect.overlaps(box.rect, LINE_GAP):
                yield Finding("line-through-box", f"'{seg.line.id}'", f"'{box.id}'")


def _lies_along(seg: _Seg, rect: Rect) -> bool:
    """True where a piece of a line runs along a side of ``rect``."""
    at = seg.rect
    if seg.level:
        near = min(abs(at.top - rect.top), abs(at.top - rect.bottom)) < LINE_GAP
        return near and min(at.right, rect.right) - max(at.left, rect.left) > 1.0
    near = min(abs(at.left - rect.left), abs(at.left - rect.right)) < LINE_GAP
    return near and min(at.bottom, rect.bottom) - max(at.top, rect.top) > 1.0


def _within(frames: dict[str, Box], parents: dict[str, str], box: str, frame: str) -> bool:
    while box:
        if box == frame:
            return True
        box = parents.get(box, "")
    return False


def _pairs(segs: list[_Seg]) -> tuple[list[Finding], int]:
    """Parallel pieces of different nets that run too near, and true crossings."""
    index = _Index()
    for i, seg in enumerate(segs):
        index.add(i, seg.rect)
    findings: dict[tuple[str, str], Finding] = {}
    crossings: set[tuple[str, str, float, float]] = set()
    for i, a in enumerate(segs):
        for j in index.near(a.rect, PARALLEL_GAP):
            b = segs[j]
            if j <= i or a.line.net == b.line.net or "leader" in (a.line.kind, b.line.kind):
                continue
            if a.level == b.level:
                gap, shared = _parallel(a, b)
                if shared > 1.0 and gap < PARALLEL_GAP - TOUCH:
                    pair = (a.line.id, b.line.id)
                    rule = "lines-overlap" if gap < TOUCH else "lines-too-near"
                    findings.setdefault(
                        pair, Finding(rule, f"'{pair[0]}' and '{pair[1]}'", f"{gap:.1f} pt")
                    )
            else:
                flat, steep = (a, b) if a.level else (b, a)
                x, y = steep.x1, flat.y1
                if (
                    flat.rect.left + TOUCH < x < flat.rect.right - TOUCH
                    and steep.rect.top + TOUCH < y < steep.rect.bottom - TOUCH
                ):
                    first, second = sorted((a.line.net, b.line.net))
                    crossings.add((first, second, round(x, 1), round(y, 1)))
    return list(findings.values()), len(crossings)


def _parallel(a: _Seg, b: _Seg) -> tuple[float, float]:
    """(distance, shared length) of two parallel pieces."""
    ra, rb = a.rect, b.rect
    if a.level:
        return abs(a.y1 - b.y1), min(ra.right, rb.right) - max(ra.left, rb.left)
    return abs(a.x1 - b.x1), min(ra.bottom, rb.bottom) - max(ra.top, rb.top)


def _fonts(scene: Scene) -> Iterator[Finding]:
    for label in scene.labels:
        if label.size < MIN_FONT:
            yield Finding("font-too-small", f"'{label.markup}'", f"{label.size:g} pt")


def _straight(scene: Scene) -> Iterator[Finding]:
    for line in scene.lines:
        if line.spine and len(line.points) > 2:
            yield Finding("main-stream-bent", f"'{line.id}'")


def _equal_sizes(scene: Scene) -> Iterator[Finding]:
    sizes: dict[tuple[str, ...], tuple[float, float, str]] = {}
    leaving: dict[str, set[str]] = defaultdict(set)
    for line in scene.lines:
        leaving[line.tail].add(line.net)
    for box in scene.boxes:
        if box.form != "box" or box.role == "cache" or not box.path:
            continue
        key = (box.role, box.title, box.use, str(box.stack), str(len(leaving[box.id])))
        size = (box.rect.width, box.rect.height, box.id)
        first = sizes.setdefault(key, size)
        if abs(first[0] - size[0]) > 0.1 or abs(first[1] - size[1]) > 0.1:
            yield Finding("unequal-sizes", f"'{first[2]}' and '{box.id}'")


def _contrast(scene: Scene, theme: Theme) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for label in scene.labels:
        ink = theme.text_color(label.kind, label.role)
        ground = theme.role(label.role).fill if label.kind == "block" else theme.background
        if ground in ("none", "transparent") or (ink, ground) in seen:
            continue
        seen.add((ink, ground))
        ratio = contrast(ink, ground)
        if ratio < MIN_CONTRAST:
            yield Finding("contrast", f"'{label.markup}'", f"{ratio:.2f}:1 {_owner(label)}")


def _owner(label: Label) -> str:
    return f"role {label.role}" if label.role else f"kind {label.kind}"


def _arrow_room(scene: Scene, theme: Theme) -> Iterator[Finding]:
    for line in scene.lines:
        if not line.arrow:
            continue
        (x1, y1), (x2, y2) = line.points[-2], line.points[-1]
        if abs(x1 - x2) + abs(y1 - y2) < theme.sizes.arrow_length + 1.0:
            yield Finding("arrow-too-short", f"'{line.id}'")
