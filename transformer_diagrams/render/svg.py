"""The finished SVG: Graphviz's geometry, the theme's look, glyph outlines and the plain words.

Only elements that every program draws alike: rect, circle, path, and text that is there for
search, selection, screen readers and PDF extraction but is not painted. No style sheet, script,
reference, marker or font.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from transformer_diagrams.errors import Fault
from transformer_diagrams.layout.scene import Box, Label, Line, Rect, Scene
from transformer_diagrams.render import dot, drawn, graphviz_tool, marks
from transformer_diagrams.render.drawn import Drawn
from transformer_diagrams.render.geometry import (
    Cubic,
    Point,
    direction,
    is_straight,
    moved,
    number,
    path_data,
    straight,
)
from transformer_diagrams.text import measure, plain
from transformer_diagrams.theme import Theme

ZOOM = 100
"""Graphviz draws at this enlargement: see :mod:`transformer_diagrams.render.dot`."""

SMALLEST_TEXT = 6.0
"""Printed text below this size in points is worth a warning."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A finished SVG.

    width, height  physical size in points
    smallest_text  printed size in points of the smallest label (0 when there is none)
    warnings       about labels: letters without a font, bad formulas
    """

    svg: str
    width: float
    height: float
    smallest_text: float
    warnings: tuple[Fault, ...] = ()


def render(
    scene: Scene,
    theme: Theme,
    *,
    width: float | None = None,
    background: str = "theme",
    graphviz: str = "pure",
    words: bool = True,
    prefix: str | None = None,
) -> Figure:
    """Scene -> finished SVG, through Graphviz.

    width       physical width in points; None: one unit of the scene is one point
    background  "theme", "white" or "none"
    graphviz    "pure" or "dot" (the system's)
    words       False leaves the unpainted words out: outlines only
    prefix      of the ids; None: made from the figure's id and content

    Raises :class:`DiagramError` when Graphviz fails, :class:`ToolMissing` when it is absent.
    """
    text = dot.to_dot(scene, theme, zoom=ZOOM)
    geometry = drawn.read(graphviz_tool.draw_svg(text, graphviz), scene.height, ZOOM)
    return finish(
        scene, geometry, theme, width=width, background=background, words=words, prefix=prefix
    )


def finish(
    scene: Scene,
    geometry: Drawn,
    theme: Theme,
    *,
    width: float | None = None,
    background: str = "theme",
    words: bool = True,
    prefix: str | None = None,
) -> Figure:
    """What Graphviz drew, dressed by the theme. Places come from ``geometry`` alone; the scene
    says what each thing is."""
    painter = _Painter(scene, geometry, theme, background, words)
    body = painter.body()
    wide, high = round(scene.width, 2), round(scene.height, 2)
    scale = width / wide if width else 1.0
    head = f"{number(wide)} {number(high)}"
    digest = hashlib.sha256(f"{scene.title}\0{scene.desc}\0{head}\0{body}".encode()).hexdigest()
    name = prefix or f"{_slug(scene.id)}-{digest[:8]}"
    title = _text(scene.title or scene.id)
    desc = f'<desc id="{name}-desc">{_text(scene.desc)}</desc>\n' if scene.desc else ""
    labelled = f"{name}-title {name}-desc" if scene.desc else f"{name}-title"
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'width="{number(wide * scale, 3)}pt" height="{number(high * scale, 3)}pt" '
        f'viewBox="0 0 {head}" role="img" aria-labelledby="{labelled}" '
        'font-family="sans-serif">\n'
        f'<title id="{name}-title">{title}</title>\n{desc}{body}</svg>\n'
    )
    sizes = [label.size * scale for label in scene.labels if label.markup.strip()]
    return Figure(
        svg=svg,
        width=wide * scale,
        height=high * scale,
        smallest_text=min(sizes, default=0.0),
        warnings=tuple(dict.fromkeys(painter.warnings)),
    )


def small_text_warning(figure: Figure) -> Fault | None:
    """A warning when the smallest text would be printed under 6 pt, with the number."""
    size = figure.smallest_text
    if not size or size >= SMALLEST_TEXT - 0.005:
        return None
    wanted = figure.width * SMALLEST_TEXT / size
    return Fault(
        "small-text",
        f"at a width of {figure.width / 72:.2f} in the smallest text is {size:.1f} pt",
        found=f"{size:.1f} pt",
        expected=f"at least {SMALLEST_TEXT:g} pt",
        hint=f"make it {math.ceil(wanted / 72 * 100) / 100:.2f} in wide or more, "
        "or leave the shapes out",
        severity="warning",
    )


def _slug(text: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") or "figure"
    return slug if slug[0].isalpha() else f"f-{slug}"


_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _text(text: str) -> str:
    """Text as XML content; characters that XML forbids are dropped."""
    safe = _UNSAFE.sub("", text).replace("&", "&amp;").replace("<", "&lt;")
    return safe.replace(">", "&gt;")


def _attribute(text: str) -> str:
    return _text(" ".join(text.split())).replace('"', "&quot;")


class _Painter:
    """Writes the elements of one figure, from the back to the front."""

    def __init__(
        self, scene: Scene, geometry: Drawn, theme: Theme, background: str, words: bool
    ) -> None:
        self.scene = scene
        self.geometry = geometry
        self.theme = theme
        self.words = words
        self.depths = dot.frame_depths(scene)
        self.background = {"theme": theme.background, "white": "#ffffff", "none": ""}[background]
        self.paper = self.background or theme.background
        self.warnings: list[Fault] = []
        self.labels: dict[str, list[Label]] = {}
        boxes = {box.id for box in scene.boxes} | {line.id for line in scene.lines}
        for label in scene.labels:
            owner = label.owner if label.owner in boxes else ""
            self.labels.setdefault(owner, []).append(label)

    def body(self) -> str:
        parts: list[str] = []
        if self.background:
            wide, high = number(self.scene.width), number(self.scene.height)
            parts.append(f'<rect width="{wide}" height="{high}" fill="{self.background}"/>')
        frames = [(i, b) for i, b in enumerate(self.scene.boxes) if b.form == "frame"]
        boxes = [(i, b) for i, b in enumerate(self.scene.boxes) if b.form != "frame"]
        parts.extend(self.frame(index, box) for index, box in frames)
        # A residual path lies below the data lines it leaves and above the frames.
        lines = sorted(enumerate(self.scene.lines), key=lambda item: item[1].kind != "residual")
        parts.extend(self.line(index, line) for index, line in lines)
        radius = number(self.theme.sizes.dot_radius)
        for index, (_, _, kind) in enumerate(self.scene.dots):
            at = self.geometry.boxes.get(f"d{index}")
            if at:
                color = self.theme.line(kind).stroke
                parts.append(
                    f'<circle cx="{number(at.center_x)}" cy="{number(at.center_y)}" '
                    f'r="{radius}" fill="{color}"/>'
                )
        parts.extend(self.box(index, box) for index, box in boxes)
        for _, box in frames:
            parts.extend(self.label(label) for label in self.labels.get(box.id, ()))
        for line in self.scene.lines:
            parts.extend(self.label(label) for label in self.labels.get(line.id, ()))
        parts.extend(self.label(label) for label in self.labels.get("", ()))
        return "".join(part + "\n" for part in parts if part)

    # Boxes

    def opening(self, box: Box, said: str) -> str:
        """The group of a box, with the words that a reader hears or sees on hover."""
        attributes = ""
        if box.path:
            attributes += f' data-path="{_attribute(box.path)}"'
        if box.use:
            attributes += f' data-use="{_attribute(box.use)}"'
        title = f"<title>{_text(said)}</title>" if said else ""
        return f"<g{attributes}>{title}"

    def rect_of(self, index: int, box: Box) -> Rect:
        # Inputs and outputs have no outline that Graphviz could draw.
        return self.geometry.boxes.get(f"b{index}", box.rect)

    def frame(self, index: int, box: Box) -> str:
        rect = self.rect_of(index, box)
        fill = self.theme.frame_fill(self.depths[box.id])
        corner = box.corner or self.theme.sizes.frame_corner
        dash = self.dash(self.theme.dashes["box"]) if box.line == "dashed" else ""
        look = (
            f'fill="{fill}" stroke="{self.theme.frame_stroke}" '
            f'stroke-width="{number(self.theme.sizes.stroke_frame)}"{dash}'
        )
        sheets = self.sheets(rect, corner, box.stack, look)
        said = self.said(box)
        mark = self.corner_mark(box, rect)
        return f"{self.opening(box, said)}{sheets}{self.rounded(rect, corner, look)}{mark}</g>"

    def box(self, index: int, box: Box) -> str:
        rect = self.rect_of(index, box)
        own = "".join(self.label(label) for label in self.labels.get(box.id, ()))
        said = self.said(box)
        if box.form == "text":
            mark = self.corner_mark(box, rect)
            return f"{self.opening(box, said)}{own}{mark}</g>" if own else ""
        style = self.theme.role(box.role)
        dash = style.dash
        if box.line == "dashed" and not dash:
            dash = self.theme.dashes["box"]
        if box.when in ("train", "infer"):
            dash = self.theme.dashes[box.when]
        width = self.theme.sizes.stroke_box * style.weight
        round_caps = ' stroke-linecap="round"' if box.when == "infer" else ""
        look = (
            f'fill="{style.fill}" stroke="{style.stroke}" stroke-width="{number(width)}"'
            f"{self.dash(dash)}{round_caps}"
        )
        if box.form == "circle":
            shape = self.circle(rect, box.symbol, style.stroke, look)
        else:
            corner = min(box.corner or self.theme.sizes.corner, rect.width / 2, rect.height / 2)
            shape = self.sheets(rect, corner, box.stack, look) + self.rounded(rect, corner, look)
        return f"{self.opening(box, said)}{shape}{own}{self.corner_mark(box, rect)}</g>"

    def said(self, box: Box) -> str:
        """What a box is, in words; never a machine's name."""
        words = box.title or " ".join(
            plain(label.markup)
            for label in self.labels.get(box.id, ())
            if label.kind in ("block", "io", "title")
        )
        if not words and box.form == "circle":
            words = {"+": "add", "×": "multiply", "−": "subtract"}.get(box.symbol, "")
        notes = [marks.SAID[box.mark]] if box.mark in marks.SAID else []
        notes += {"train": ["only in training"], "infer": ["only at inference"]}.get(box.when, [])
        return "; ".join([words, *notes]) if words and notes else words or "; ".join(notes)

    def rounded(self, rect: Rect, corner: float, look: str) -> str:
        return (
            f'<rect x="{number(rect.left)}" y="{number(rect.top)}" '
            f'width="{number(rect.width)}" height="{number(rect.height)}" '
            f'rx="{number(corner)}" {look}/>'
        )

    def sheets(self, rect: Rect, corner: float, count: int, look: str) -> str:
        """The sheets behind a stacked box, the farthest first."""
        step = self.theme.sizes.stack_offset
        return "".join(
            self.rounded(rect.moved(step * k, -step * k), corner, look)
            for k in range(min(count, 4), 0, -1)
        )

    def circle(self, rect: Rect, symbol: str, color: str, look: str) -> str:
        x, y, r = rect.center_x, rect.center_y, rect.width / 2
        out = f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(r)}" {look}/>'
        arm = r * 0.52
        strokes = {
            "+": (((-arm, 0.0), (arm, 0.0)), ((0.0, -arm), (0.0, arm))),
            "×": (((-arm * 0.75,) * 2, (arm * 0.75,) * 2),
                  ((-arm * 0.75, arm * 0.75), (arm * 0.75, -arm * 0.75))),
            "−": (((-arm, 0.0), (arm, 0.0)),),
            "-": (((-arm, 0.0), (arm, 0.0)),),
        }.get(symbol, ())  # fmt: skip
        if not strokes:
            return out
        data = "".join(
            f"M{number(x + a)} {number(y + b)}L{number(x + c)} {number(y + d)}"
            for (a, b), (c, d) in strokes
        )
        width = number(self.theme.sizes.stroke_box * 1.15)
        return (
            f'{out}<path fill="none" stroke="{color}" stroke-width="{width}" '
            f'stroke-linecap="round" d="{data}"/>'
        )

    def corner_mark(self, box: Box, rect: Rect) -> str:
        if box.mark not in marks.SHAPES:
            return ""
        size = self.theme.sizes.mark_size
        at = (rect.left + size * 0.12, rect.top + size * 0.06)
        outline = ""
        if box.form == "text":  # no corner to sit on: before the words
            at = (rect.left - size * 0.7, rect.center_y)
        elif box.mark in marks.OUTLINED:
            outline = self.outline(box, rect)
        color = self.theme.marks[box.mark]
        return outline + marks.corner_mark(box.mark, at, size, color, self.paper)

    def outline(self, box: Box, rect: Rect) -> str:
        """A second outline inside a box's own: seen without its colour too, and clear of lines."""
        gap, width = self.theme.sizes.mark_size * 0.2, self.theme.sizes.mark_size * 0.17
        look = f'fill="none" stroke="{self.theme.marks[box.mark]}" stroke-width="{number(width)}"'
        if box.form == "circle":
            x, y, r = number(rect.center_x), number(rect.center_y), number(rect.width / 2 - gap)
            return f'<circle cx="{x}" cy="{y}" r="{r}" {look}/>'
        inside = Rect(
            rect.left + gap, rect.top + gap, rect.width - 2 * gap, rect.height - 2 * gap
        )
        corner = min(box.corner or self.theme.sizes.corner, rect.width / 2, rect.height / 2)
        return self.rounded(inside, max(corner - gap, 0.0), look)

    # Lines

    def dash(self, lengths: Sequence[float]) -> str:
        if not lengths:
            return ""
        return f' stroke-dasharray="{" ".join(number(v) for v in lengths)}"'

    def line(self, index: int, line: Line) -> str:
        found = self.geometry.lines.get(f"l{index}")
        if found is None:
            return ""
        start, pieces = found
        style = self.theme.line(line.kind)
        width = self.theme.line_width(line.kind)
        _, length = dot.arrow_base(line, self.theme)
        path, tip, way = _lengthened(start, pieces, length)
        dash: Sequence[float] = style.dash
        caps = ""
        if line.mark == "ema":
            dash = self.theme.dashes["ema"]
        elif line.when == "train":
            dash = self.theme.dashes["train"]
        elif line.when == "infer":
            dash, caps = self.theme.dashes["infer"], ' stroke-linecap="round"'
        out = (
            f'<path fill="none" stroke="{style.stroke}" stroke-width="{number(width)}"'
            f'{self.dash(dash)}{caps} d="{path_data(start, path)}"/>'
        )
        if length:
            out += self.head(tip, way, length, line, style.stroke)
        if line.mark == "stop-gradient":
            at, along = _longest_middle(start, pieces)
            size = self.theme.sizes.mark_size
            color = self.theme.marks["stop-gradient"]
            out += marks.slashes(at, along, size, color, self.under(at), width)
        said = line.title or plain(" ".join(label.markup for label in self.labels.get(line.id, ())))
        notes = [marks.SAID[line.mark]] if line.mark in marks.SAID else []
        notes += {"train": ["only in training"], "infer": ["only at inference"]}.get(line.when, [])
        said = "; ".join(part for part in [said, *notes] if part)
        return f"<g><title>{_text(said)}</title>{out}</g>" if said else out

    def head(self, tip: Point, way: Point, length: float, line: Line, color: str) -> str:
        """An arrow head with a notched back."""
        half = self.theme.sizes.arrow_width * dot.arrow_scale(line) / 2
        side = (-way[1], way[0])
        back = moved(tip, way, -length)
        corners = (
            tip,
            moved(back, side, half),
            moved(tip, way, -length * _NOTCH),
            moved(back, side, -half),
        )
        data = "L".join(f"{number(x)} {number(y)}" for x, y in corners)
        return f'<path fill="{color}" d="M{data}Z"/>'

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

    def label(self, label: Label) -> str:
        layout = measure(label.markup, label.size, label.weight, label.align)
        self.warnings.extend(layout.warnings)
        if not layout.outline:
            return ""
        color = self.theme.text_color(label.kind, label.role)
        x, y = number(label.x, 3), number(label.y, 3)
        out = (
            f'<path transform="translate({x} {y}) scale({number(layout.scale, 6)})" '
            f'fill="{color}" d="{layout.outline}"/>'
        )
        if not self.words:
            return out
        for line in layout.lines:
            if line.plain:
                # Painted nowhere: the outlines above are the ink. The length makes a selection
                # cover them whatever font the viewer takes.
                out += (
                    f'<text x="{number(label.x + line.x)}" y="{number(label.y + line.y)}" '
                    f'font-size="{number(label.size)}" textLength="{number(line.width)}" '
                    'lengthAdjust="spacingAndGlyphs" fill-opacity="0">'
                    f"{_text(line.plain)}</text>"
                )
        return out


_NOTCH = 0.74  # how far behind the tip the notch of an arrow head lies, in its length


def _lengthened(
    start: Point, pieces: Sequence[Cubic], by: float
) -> tuple[list[Cubic], Point, Point]:
    """The pieces run on to the notch of the head, the tip of the head, and its direction.

    Graphviz's path ends at the back of the head.
    """
    out = list(pieces)
    before = start if len(out) < 2 else out[-2][2]
    _, c2, end = out[-1]
    way = direction(c2, end)
    if way == (0.0, 0.0):
        way = direction(before, end)
    if not by:
        return out, end, way
    tip = moved(end, way, by)
    neck = moved(tip, way, -by * (_NOTCH + 0.01))
    if is_straight(before, out[-1]):
        out[-1] = straight(before, neck)
    else:
        out.append(straight(end, neck))
    return out, tip, way


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
