"""The body of a figure, and the canvas around it: header above, legend below, margins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from transformer_diagrams.graph.ir import Graph
from transformer_diagrams.layout.legend import legend as make_legend
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.numbered import listed
from transformer_diagrams.layout.paper import rounded, snapped
from transformer_diagrams.layout.scene import Box, Label, Line, Rect, Scene
from transformer_diagrams.layout.score import reach
from transformer_diagrams.records import dataclass
from transformer_diagrams.text import TextLayout, measure, plain, wrap

HEADER_GAP = 4.0  # under each line of the header
HEADER_END = 8.0  # under the last
BELOW = 8.0  # above the first line of what stands below the figure
TITLE = 1.3  # times the size of the header
CAPTION = 4.0  # more above the caption, below remarks
LONGEST = 32.0  # times the size of the type: a longer title is wrapped
NARROWEST = 24.0  # times the size of the type: to less no remark or caption is wrapped
NOTHING: Mapping[int, str] = {}


@dataclass(frozen=True, slots=True)
class Body:
    """All that stands between header and legend, and the rectangle that it fills."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]
    rect: Rect

    def moved(self, dx: float, dy: float) -> Body:
        """All of it, elsewhere."""
        return Body(
            tuple(box_moved(box, dx, dy) for box in self.boxes),
            tuple(
                replace(
                    line, points=tuple((rounded(x + dx), rounded(y + dy)) for x, y in line.points)
                )
                for line in self.lines
            ),
            tuple(label_moved(label, dx, dy) for label in self.labels),
            self.rect.moved(dx, dy),
        )

    def fitted(self) -> Body:
        """With the rectangle around it all, and its upper left corner in the origin."""
        rects = [reach(box) for box in self.boxes] + [label.rect for label in self.labels]
        xs = [x for line in self.lines for x, _ in line.points]
        ys = [y for line in self.lines for _, y in line.points]
        left, top = min(xs + [r.left for r in rects]), min(ys + [r.top for r in rects])
        right, bottom = max(xs + [r.right for r in rects]), max(ys + [r.bottom for r in rects])
        rect = Rect(left, top, right - left, bottom - top)
        return replace(self, rect=rect).moved(-left, -top)


class Canvas:
    """What stands around the body of one figure."""

    def __init__(
        self, graph: Graph, ctx: Context, legend: bool, accents: Mapping[int, str] = NOTHING
    ) -> None:
        self.graph, self.ctx, self.legend, self.accents = graph, ctx, legend, accents
        size = ctx.sizes.font_header
        lines = [(line, size, "regular") for line in graph.header]
        if graph.titled and graph.title:
            title = TITLE * size
            lines[:0] = [(wrap(graph.title, title, LONGEST * title), title, "semibold")]
        self.header = [
            (markup, measure(markup, own, weight), own, weight) for markup, own, weight in lines
        ]
        self.header_height = sum(text.height + HEADER_GAP for _, text, *_ in self.header)
        self.header_height += HEADER_END if self.header else 0.0

    def width(self, body: float) -> float:
        """The width of the canvas around a body of that width."""
        widest = max((text.width for _, text, *_ in self.header), default=0.0)
        return max(body, widest) + 2 * self.ctx.sizes.margin

    def corner(self, body: float) -> tuple[float, float]:
        """Where the upper left corner of a body of that width stands."""
        return (self.width(body) - body) / 2, self.ctx.sizes.margin + self.header_height

    def scene(self, body: Body) -> Scene:
        """The whole figure."""
        s = self.ctx.sizes
        left, top = self.corner(body.rect.width)
        if (body.rect.left, body.rect.top) != (left, top):
            body = body.moved(left - body.rect.left, top - body.rect.top)
        boxes, lines, labels = list(body.boxes), list(body.lines), list(body.labels)
        width, y = self.width(body.rect.width), s.margin
        for number, (markup, text, size, weight) in enumerate(self.header):
            at = Rect((width - text.width) / 2, y, text.width, text.height)
            name = f"header-{number}"
            labels.append(text_label(name, markup, text, size, "header", at, weight=weight))
            y += text.height + HEADER_GAP
        height = s.margin + self.header_height + body.rect.height + s.margin
        if self.legend:
            samples, strokes, words, width, height = make_legend(
                boxes, lines, s, width, height, self.accents
            )
            boxes += samples
            lines += strokes
            labels += words
        words, width, height = self._below(width, height)
        labels += words
        return Scene(
            id=self.graph.id,
            title=plain(self.graph.title),
            desc=self.graph.caption,
            width=rounded(width),
            height=rounded(height),
            boxes=tuple(boxes),
            lines=tuple(lines),
            labels=tuple(labels),
            direction=self.ctx.direction,
        )


    def _below(self, width: float, height: float) -> tuple[list[Label], float, float]:
        """The remarks and the caption below all else: (texts, width and height with them)."""
        s = self.ctx.sizes
        texts = [
            (f"remark-{n}", f"{listed(n)} {words}", s.font_note, "note")
            for n, words in enumerate(self.graph.remarks, 1)
        ]
        if self.graph.titled and self.graph.caption:
            texts.append(("caption", self.graph.caption, s.font_header, "header"))
        labels: list[Label] = []
        y = height - s.margin + BELOW
        for name, words, size, kind in texts:
            y += CAPTION if name == "caption" and labels else 0.0
            markup = wrap(words, size, max(width - 2 * s.margin, NARROWEST * size))
            text = measure(markup, size, align="left")
            at = Rect(s.margin, y, text.width, text.height)
            labels.append(text_label(name, markup, text, size, kind, at, align="left"))
            width = max(width, text.width + 2 * s.margin)
            y += text.height + HEADER_GAP
        return labels, width, y + s.margin - HEADER_GAP if texts else height


def text_label(
    name: str,
    markup: str,
    text: TextLayout,
    size: float,
    kind: str,
    rect: Rect,
    *,
    owner: str = "",
    role: str = "",
    weight: str = "regular",
    align: str = "middle",
) -> Label:
    """A label whose text fills ``rect`` (as large as the text itself)."""
    return Label(
        name,
        markup,
        rounded(rect.left),
        rounded(rect.top + text.ascent),
        size,
        kind,
        snapped(rect),
        owner,
        role,
        weight,
        align,
    )


def box_moved(box: Box, dx: float, dy: float) -> Box:
    """A box at another place, with the cells in it."""
    cells = tuple((snapped(cell.moved(dx, dy)), tone) for cell, tone in box.cells)
    return replace(box, rect=snapped(box.rect.moved(dx, dy)), cells=cells)


def label_moved(label: Label, dx: float, dy: float) -> Label:
    """A label at another place."""
    x, y = rounded(label.x + dx), rounded(label.y + dy)
    return replace(label, x=x, y=y, rect=snapped(label.rect.moved(dx, dy)))
