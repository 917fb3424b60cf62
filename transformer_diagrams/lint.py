"""The geometric lint: what a strict reviewer would mark on the picture, found by measuring it.

Works on the Scene alone (numbers, not pixels), so it holds for every format at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from transformer_diagrams.layout.near import near
from transformer_diagrams.layout.scene import Box, Label, Rect, Scene
from transformer_diagrams.layout.score import (
    STROKE,
    TOUCH,
    Finding,
    Score,
    Seg,
    parallel,
    reach,
    score,
    segments,
    span_of,
)
from transformer_diagrams.records import dataclass
from transformer_diagrams.theme import Theme
from transformer_diagrams.theme.contrast import contrast

PARALLEL_GAP = 6.0  # least distance of parallel lines of different nets
BOX_GAP = 5.0  # least distance of boxes beside each other
TEXT_PAD = 1.0  # least distance of a text from its box's border
LABEL_GAP = 0.8  # least distance of a label from lines and other labels
MIN_FONT = 6.0
MIN_CONTRAST = 4.5
BESIDE = ("shape", "edge", "title", "badge", "header", "mark", "note")  # texts in no box


@dataclass(frozen=True, slots=True)
class LintReport:
    """What is wrong with a figure, and how good it is."""

    findings: tuple[Finding, ...]
    score: Score
    boxes: int
    lines: int

    @property
    def ok(self) -> bool:
        """True when nothing was found."""
        return not self.findings


def lint(scene: Scene, theme: Theme) -> LintReport:
    """Check a whole scene. The order of findings is stable."""
    segs = segments(scene.lines)
    rated = score(scene)
    findings = [
        *rated.findings,
        *_canvas(scene),
        *_boxes_apart(scene),
        *_text_inside(scene),
        *_labels_free(scene, segs),
        *_lines_apart(segs),
        *_fonts(scene),
        *_straight(scene),
        *_equal_sizes(scene),
        *_contrast(scene, theme),
        *_arrow_room(scene, theme),
    ]
    return LintReport(tuple(findings), rated, len(scene.boxes), len(scene.lines))


def _canvas(scene: Scene) -> Iterator[Finding]:
    canvas = Rect(0, 0, scene.width, scene.height)
    for box in scene.boxes:
        if not canvas.contains(reach(box)):
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
    for box in scene.boxes:
        if box.parent in frames and not frames[box.parent].rect.contains(box.rect, slack=-3.0):
            yield Finding("outside-frame", f"'{box.id}' touches the frame '{box.parent}'")
    spans = [span_of(reach(box)) for box in scene.boxes]
    for i, j in near(spans, spans, BOX_GAP - TOUCH):
        a, b = scene.boxes[i], scene.boxes[j]
        if i < j and not _encloses(frames, a, b) and not _encloses(frames, b, a):
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


def _labels_free(scene: Scene, segs: list[Seg]) -> Iterator[Finding]:
    labels = [label for label in scene.labels if label.markup.strip()]
    spans = [span_of(label.rect) for label in labels]
    crossed: dict[int, Finding] = {}
    for i, j in near(spans, [seg.span for seg in segs], LABEL_GAP):
        label, line = labels[i], segs[j].line
        if label.kind not in ("block", "io") or label.owner not in (line.tail, line.head):
            found = Finding("line-through-label", f"'{label.markup}'", f"'{line.id}'")
            crossed.setdefault(i, found)
    yield from crossed.values()
    for i, j in near(spans, spans, 0.0):
        if i < j:
            yield Finding("labels-overlap", f"'{labels[i].markup}'", f"'{labels[j].markup}'")
    for i, j in near(spans, [span_of(box.rect) for box in scene.boxes], 0.0):
        label, box = labels[i], scene.boxes[j]
        if label.kind in BESIDE and box.form != "frame":
            yield Finding("label-on-box", f"'{label.markup}'", f"'{box.id}'")
        elif label.kind in BESIDE and not box.rect.contains(label.rect):
            yield Finding("label-on-border", f"'{label.markup}'", f"'{box.id}'")


def _lines_apart(segs: list[Seg]) -> Iterator[Finding]:
    """Pieces of lines of different nets that run too near; and those that run askew."""
    for seg in segs:
        left, top, right, bottom = seg.span
        if right - left > TOUCH and bottom - top > TOUCH:
            yield Finding("not-orthogonal", f"'{seg.line.id}'")
    spans = [seg.span for seg in segs]
    found: dict[tuple[str, str], Finding] = {}
    for i, j in near(spans, spans, PARALLEL_GAP):
        a, b = segs[i], segs[j]
        if i < j and a.line.net != b.line.net and a.level == b.level:
            gap, shared = parallel(a, b)
            if shared > 1.0 and STROKE <= gap < PARALLEL_GAP - TOUCH:
                pair = (a.line.id, b.line.id)
                words = f"'{pair[0]}' and '{pair[1]}'"
                found.setdefault(pair, Finding("lines-too-near", words, f"{gap:.1f} pt"))
    yield from found.values()


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
