"""The painter: a scene and a theme make the display list. The only reader of a theme's colours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from transformer_diagrams.errors import Fault
from transformer_diagrams.layout.scene import Box, Label, Line, Rect, Scene
from transformer_diagrams.render import marks
from transformer_diagrams.render.display import (
    Curve,
    Disc,
    Display,
    Ink,
    Item,
    Lettering,
    Outline,
    Panel,
    Shape,
    Words,
)
from transformer_diagrams.render.geometry import (
    Cubic,
    Point,
    direction,
    distinct,
    is_straight,
    joined,
    moved,
    number,
    rounded,
    straight,
)
from transformer_diagrams.render.texture import texture
from transformer_diagrams.text import measure, plain
from transformer_diagrams.theme import Theme

NOTCH = 0.74
"""How far behind the tip the notch of an arrow head lies, in its length."""

TONES = (0.0, 0.9, 0.5, 0.25, 0.7)
"""How dark the cells of a pattern's kinds are, the most frequent kind first."""

_SYMBOLS = {  # strokes in arms of a circle
    "+": (((-1.0, 0.0), (1.0, 0.0)), ((0.0, -1.0), (0.0, 1.0))),
    "×": (((-0.75, -0.75), (0.75, 0.75)), ((-0.75, 0.75), (0.75, -0.75))),
    "−": (((-1.0, 0.0), (1.0, 0.0)),),
    "-": (((-1.0, 0.0), (1.0, 0.0)),),
}
_SAID = {"+": "add", "×": "multiply", "−": "subtract"}
_ONLY = {"train": "only in training", "infer": "only at inference"}


def paint(
    scene: Scene, theme: Theme, *, unit: float = 1.0, background: str = "theme"
) -> Display:
    """Scene -> display list.

    unit        printed size of one unit of the scene, in points
    background  "theme", "white" or "none"
    """
    painter = _Painter(scene, theme, background)
    wide, high = round(scene.width, 2), round(scene.height, 2)
    items = tuple(painter.items(wide, high))
    warnings = tuple(dict.fromkeys(painter.warnings))
    return Display(
        scene.id, scene.title, scene.desc, wide, high, items, unit, warnings,
    )  # fmt: skip


def snapped(rect: Rect) -> Rect:
    """The rectangle with its borders on the grid of hundredths that the DOT file is written in."""
    left, top = _grid(rect.left), _grid(rect.top)
    return Rect(left, top, _grid(rect.right) - left, _grid(rect.bottom) - top)


def _grid(value: float) -> float:
    return round(value * 100) / 100


class _Painter:
    """Paints one figure, from the back to the front."""

    def __init__(self, scene: Scene, theme: Theme, background: str) -> None:
        self.scene = scene
        self.theme = theme
        self.depths = _frame_depths(scene)
        self.background = {"theme": theme.background, "white": "#ffffff", "none": ""}[background]
        self.paper = self.background or theme.background
        self.warnings: list[Fault] = []
        self.labels: dict[str, list[Label]] = {}
        known = {box.id for box in scene.boxes} | {line.id for line in scene.lines}
        self.nets: dict[str, list[Line]] = {}
        for line in scene.lines:
            self.nets.setdefault(line.net, []).append(line)
        for label in scene.labels:
            self.labels.setdefault(label.owner if label.owner in known else "", []).append(label)

    def items(self, wide: float, high: float) -> Iterator[Item]:
        if self.background:
            yield Item("ground", (Panel(Rect(0, 0, wide, high), 0.0, Ink(self.background)),))
        boxes = list(enumerate(self.scene.boxes))
        frames = [(index, box) for index, box in boxes if box.form == "frame"]
        yield from (self.frame(index, box) for index, box in frames)
        # A residual path lies below the data lines it leaves and above the frames.
        lines = sorted(enumerate(self.scene.lines), key=lambda item: item[1].kind != "residual")
        yield from (self.line(index, line) for index, line in lines)
        for index, (x, y, kind) in enumerate(self.scene.dots):
            dot = Disc((_grid(x), _grid(y)), self.theme.sizes.dot_radius,
                       Ink(self.theme.line(kind).stroke))  # fmt: skip
            yield Item("dot", (dot,), name=f"d{index}")
        for index, box in boxes:
            if box.form == "brace":
                yield Item("label", (self.brace(box.rect),), id=box.id, said=box.title)
            elif box.form != "frame":
                yield self.box(index, box)
        owners = [*(box.id for _, box in frames), *(line.id for line in self.scene.lines), ""]
        for owner in owners:
            yield from (Item("label", (), (text,), id=owner) for text in self.texts(owner))

    # Boxes

    def frame(self, index: int, box: Box) -> Item:
        rect, sizes = snapped(box.rect), self.theme.sizes
        fill = self.theme.frame_fill(self.depths[box.id])
        dash = self.theme.dashes["box"] if box.line == "dashed" else ()
        ink = Ink("" if fill == "none" else fill, self.theme.frame_stroke, sizes.stroke_frame, dash)
        ink = self.accented(box, ink)
        shapes = self.panels(rect, box.corner or sizes.frame_corner, box.stack, ink)
        return self.item(index, box, "frame", rect, shapes)

    def box(self, index: int, box: Box) -> Item:
        texts = tuple(self.texts(box.id))
        if box.form == "text":
            return self.item(index, box, "text", box.rect, [], texts)
        rect = snapped(box.rect)
        style, sizes = self.theme.role(box.role), self.theme.sizes
        dash = style.dash
        if box.line == "dashed" and not dash:
            dash = self.theme.dashes["box"]
        if box.when in _ONLY:
            dash = self.theme.dashes[box.when]
        cap = "round" if box.when == "infer" else "butt"
        fill = "" if style.fill == "none" else style.fill
        ink = Ink(fill, style.stroke, sizes.stroke_box * style.weight, dash, cap)
        ink = self.accented(box, ink)
        if box.form == "strip":
            return self.item(index, box, "strip", rect, self.cells(box, rect))
        if box.form == "circle":
            shapes = self.circle(rect, box.symbol, ink)
            return self.item(index, box, "circle", rect, shapes, texts)
        corner = min(box.corner or sizes.corner, rect.width / 2, rect.height / 2)
        shapes = self.panels(rect, corner, box.stack, ink)
        band = texture(style.texture, rect, corner, style.stroke)
        return self.item(index, box, "box", rect, shapes, texts, band)

    def brace(self, rect: Rect) -> Shape:
        """A brace whose arms are at the figure: at its right edge, or its upper one."""
        high = rect.height > rect.width
        # Along the run, and away from the figure.
        start, end = (rect.top, rect.bottom) if high else (rect.left, rect.right)
        arms, tip = (rect.right, rect.left) if high else (rect.top, rect.bottom)
        spine, middle = (arms + tip) / 2, (start + end) / 2
        bend = min(abs(arms - tip), (end - start) / 4)

        def at(along: float, off: float) -> str:
            x, y = (off, along) if high else (along, off)
            return f"{number(x)} {number(y)}"

        def turn(corner: tuple[float, float], to: tuple[float, float]) -> str:
            return f"C{at(*corner)} {at(*corner)} {at(*to)}"

        data = (
            f"M{at(start, arms)}"
            + turn((start, spine), (start + bend, spine))
            + f"L{at(middle - bend, spine)}"
            + turn((middle, spine), (middle, tip))
            + turn((middle, spine), (middle + bend, spine))
            + f"L{at(end - bend, spine)}"
            + turn((end, spine), (end, arms))
        )
        return Outline(data, Ink("", self.theme.text["note"], self.theme.sizes.stroke_frame))

    def accented(self, box: Box, ink: Ink) -> Ink:
        """The ink of a highlighted box: its outline is the accent's."""
        accent = self.theme.accents.get(box.accent)
        if accent is None:
            return ink
        width = self.theme.sizes.stroke_box * accent.weight
        return replace(ink, stroke=accent.stroke, width=width, dash=accent.dash or ink.dash)

    def item(
        self,
        index: int,
        box: Box,
        kind: str,
        rect: Rect,
        shapes: Sequence[Shape],
        texts: tuple[Lettering, ...] = (),
        band: Iterable[Shape] = (),
    ) -> Item:
        own = 0 if kind == "circle" else max(len(shapes) - 1, 0)
        return Item(
            kind, tuple(shapes), texts, (*band, *self.corner_mark(box, rect)), box.id, f"b{index}",
            own, rect, box.parent, box.role, self.said(box), box.path, box.use, box.symbol,
        )  # fmt: skip

    def said(self, box: Box) -> str:
        """What a box is, in words; never a machine's name."""
        words = box.title or " ".join(
            plain(label.markup)
            for label in self.labels.get(box.id, ())
            if label.kind in ("block", "io", "title")
        )
        if not words and box.form == "circle":
            words = _SAID.get(box.symbol, "")
        accent = self.theme.accents.get(box.accent)
        name = "" if accent is None or box.id.startswith("legend/") else accent.name
        return _joined([words, name, marks.SAID.get(box.mark, ""), _ONLY.get(box.when, "")])

    def panels(self, rect: Rect, corner: float, count: int, ink: Ink) -> list[Shape]:
        """A box with the sheets behind it, the farthest first."""
        step = self.theme.sizes.stack_offset
        return [
            Panel(rect.moved(step * k, -step * k), corner, ink)
            for k in range(min(count, 4), -1, -1)
        ]

    def cells(self, box: Box, rect: Rect) -> list[Shape]:
        """A cell for each turn, under the outline of them all."""
        ink, width = self.theme.line("data").stroke, self.theme.sizes.stroke_frame
        shapes: list[Shape] = []
        for cell, tone in box.cells:
            fill = mixed(self.paper, ink, TONES[tone % len(TONES)])
            corner = min(1.0, cell.width / 2, cell.height / 2)
            shapes.append(Panel(snapped(cell), corner, Ink(fill, ink, width * 0.6)))
        outline = Ink("", self.theme.frame_stroke, width * 0.75)
        return [*shapes, Panel(rect, box.corner, outline)]

    def circle(self, rect: Rect, symbol: str, ink: Ink) -> list[Shape]:
        center, radius = (rect.center_x, rect.center_y), rect.width / 2
        shapes: list[Shape] = [Disc(center, radius, ink)]
        strokes = _SYMBOLS.get(symbol)
        if strokes:
            arm = radius * 0.52
            data = "".join(
                joined([moved(center, a, arm), moved(center, b, arm)]) for a, b in strokes
            )
            width = self.theme.sizes.stroke_box * 1.15
            shapes.append(Outline(data, Ink("", ink.stroke, width, cap="round")))
        return shapes

    def corner_mark(self, box: Box, rect: Rect) -> list[Shape]:
        if box.mark not in marks.SHAPES:
            return []
        size, color = self.theme.sizes.mark_size, self.theme.marks[box.mark]
        if box.form == "text":  # no corner to sit on: before the words
            at = (rect.left - size * 0.7, rect.center_y)
            return marks.corner_mark(box.mark, at, size, color, self.paper)
        at = (rect.left + size * 0.12, rect.top + size * 0.06)
        mark = marks.corner_mark(box.mark, at, size, color, self.paper)
        if box.mark not in marks.OUTLINED:
            return mark
        # A second outline inside the box's own: seen without its colour too, and clear of lines.
        gap, ink = size * 0.2, Ink("", color, size * 0.17)
        if box.form == "circle":
            return [Disc((rect.center_x, rect.center_y), rect.width / 2 - gap, ink), *mark]
        corner = min(box.corner or self.theme.sizes.corner, rect.width / 2, rect.height / 2)
        inside = Rect(
            rect.left + gap, rect.top + gap, rect.width - 2 * gap, rect.height - 2 * gap
        )
        return [Panel(inside, max(corner - gap, 0.0), ink), *mark]

    # Lines

    def line(self, index: int, line: Line) -> Item:
        style, sizes = self.theme.line(line.kind), self.theme.sizes
        dash, cap = style.dash, "butt"
        if line.mark == "ema":
            dash = self.theme.dashes["ema"]
        elif line.when == "train":
            dash = self.theme.dashes["train"]
        elif line.when == "infer":
            dash, cap = self.theme.dashes["infer"], "round"
        width = self.theme.line_width(line.kind)
        ink = Ink("", style.stroke, width, dash, cap)
        # Heavy lines have larger heads.
        scale = 1.12 if line.kind == "residual" else 1.0
        points, length = _to_base(line, sizes.arrow_length * scale)
        radius = line.corner or sizes.line_corner
        start, found = rounded(points, radius)
        start, pieces = _on_grid(start), [_piece_on_grid(piece) for piece in found]
        at, along = _longest_middle(start, pieces)
        tip = pieces[-1][2]
        shapes: list[Shape] = []
        if length:
            before = pieces[-2][2] if len(pieces) > 1 else start
            way = direction(before, tip)
            tip = moved(tip, way, length)
            # The line runs on to the notch of its head.
            pieces[-1] = straight(before, moved(tip, way, -length * (NOTCH + 0.01)))
            shapes.append(_head(tip, way, length, sizes.arrow_width * scale / 2, style.stroke))
        if line.mark == "stop-gradient":
            color = self.theme.marks["stop-gradient"]
            shapes += marks.slashes(at, along, sizes.mark_size, color, self.under(at), width)
        words = line.title or plain(
            " ".join(label.markup for label in self.labels.get(line.id, ()))
        )
        said = _joined([words, marks.SAID.get(line.mark, ""), _ONLY.get(line.when, "")])
        return Item(
            "line", (Curve(start, tuple(pieces), ink), *shapes), id=line.id, name=f"l{index}",
            role=line.kind, said=said, net=line.net, tail=line.tail, head=line.head, tip=tip,
            arrow=length,
            corners=tuple(_on_grid(point) for point in points), radius=radius,
            trunk=tuple(_on_grid(point) for point in self.trunk(line)),
        )  # fmt: skip

    def trunk(self, line: Line) -> tuple[Point, ...]:
        """The corners from the tail's border to where a line branches off another of its net."""
        if not line.branch:
            return ()
        start = line.points[0]
        for other in self.nets[line.net]:
            for index, (a, b) in enumerate(pairwise(other.points), 1):
                if start != other.points[0] and _between(a, start, b):
                    return (*self.trunk(other), *other.points[:index])
        return ()

    def under(self, at: Point) -> str:
        """The colour of what lies under a point: the innermost frame, or the paper."""
        color = self.paper
        for box in self.scene.boxes:
            r = box.rect
            if box.form == "frame" and r.left < at[0] < r.right and r.top < at[1] < r.bottom:
                fill = self.theme.frame_fill(self.depths[box.id])
                color = fill if fill != "none" else color
        return color

    # Labels

    def texts(self, owner: str) -> Iterator[Lettering]:
        for label in self.labels.get(owner, ()):
            layout = measure(label.markup, label.size, label.weight, label.align)
            self.warnings.extend(layout.warnings)
            if layout.outline:
                ink = Ink(self.theme.text_color(label.kind, label.role))
                outline = Outline(layout.outline, ink, (label.x, label.y), layout.scale)
                words = tuple(
                    Words(label.x + line.x, label.y + line.y, label.size, line.width, line.plain)
                    for line in layout.lines
                    if line.plain
                )
                yield Lettering((outline,), words, label)


def mixed(ground: str, ink: str, share: float) -> str:
    """A colour between two: ``share`` of the ink on the ground."""
    pairs = ((int(c[at : at + 2], 16) for c in (ground, ink)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _joined(parts: Iterable[str]) -> str:
    return "; ".join(part for part in parts if part)


def _to_base(line: Line, length: float) -> tuple[list[Point], float]:
    """The line's points with the last one moved back to the base of its head, and the length."""
    points = distinct(line.points)
    if not line.arrow or len(points) < 2:
        return points, 0.0
    length = min(length, math.dist(points[-2], points[-1]) * 0.9)
    points[-1] = moved(points[-1], direction(points[-1], points[-2]), length)
    return points, length


def _between(a: Point, at: Point, b: Point) -> bool:
    """Whether a point lies on a straight line from a to b."""
    return abs(math.dist(a, at) + math.dist(at, b) - math.dist(a, b)) < 0.01


def _on_grid(point: Point) -> Point:
    return _grid(point[0]), _grid(point[1])


def _piece_on_grid(piece: Cubic) -> Cubic:
    a, b, c = piece
    return _on_grid(a), _on_grid(b), _on_grid(c)


def _head(tip: Point, way: Point, length: float, half: float, color: str) -> Outline:
    """An arrow head with a notched back."""
    side, back = (-way[1], way[0]), moved(tip, way, -length)
    corners = (
        tip, moved(back, side, half), moved(tip, way, -length * NOTCH), moved(back, side, -half)
    )  # fmt: skip
    return Outline(joined(corners) + "Z", Ink(color))


def _longest_middle(start: Point, pieces: Iterable[Cubic]) -> tuple[Point, Point]:
    """The middle of the longest straight piece and its direction."""
    best, found = -1.0, (start, (0.0, -1.0))
    at = start
    for piece in pieces:
        end = piece[2]
        length = math.dist(at, end)
        if length > best and is_straight(at, piece):
            best = length
            found = (((at[0] + end[0]) / 2, (at[1] + end[1]) / 2), direction(at, end))
        at = end
    return found


def _frame_depths(scene: Scene) -> dict[str, int]:
    """How many frames are around each frame, by its id."""
    parents = {box.id: box.parent for box in scene.boxes if box.form == "frame"}
    depths: dict[str, int] = {}
    for name in parents:
        chain: list[str] = []
        at = name
        while at in parents and at not in depths and len(chain) <= len(parents):
            chain.append(at)
            at = parents[at]
        depth = depths.get(at, -1)
        for inner in reversed(chain):
            depth += 1
            depths[inner] = depth
    return depths
