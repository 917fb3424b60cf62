"""Braces: words beside a run of blocks, at the side of the whole figure, where no line passes.

A block that is not drawn by itself, in a part that is closed, has no brace.
"""

from __future__ import annotations

from dataclasses import replace

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.graph.ir import Graph
from transformer_diagrams.layout.canvas import Body, text_label
from transformer_diagrams.layout.measure import Context, LayoutOptions
from transformer_diagrams.layout.paper import snapped
from transformer_diagrams.layout.scene import Box, Label, Rect
from transformer_diagrams.layout.score import reach
from transformer_diagrams.text import measure, plain, wrap

WIDE = 14.0  # times the size of the type; longer words are wrapped
DEPTH = 6.0  # of a brace, from its arms to its tip
GAP = 10.0  # from the figure, or from the braces nearer to it
APART = 4.0  # from the tip to the words, and between braces on one level


def unfolded(graph: Graph, options: LayoutOptions) -> LayoutOptions:
    """A figure with braces is in one piece.

    :raises DiagramError: when it was to be folded.
    """
    if not graph.spans:
        return options
    if options.fold or options.aspect is not None:
        message = "a figure with spans is not folded: a run of blocks would be cut"
        hint = "leave `fold` and `aspect` out, or `spans`"
        raise DiagramError(Fault("cannot-fold", message, graph.root.span, hint=hint))
    return replace(options, fold=0)


def braced(body: Body, graph: Graph, ctx: Context) -> Body:
    """The body with its braces: at the left, or below where the flow runs across."""
    size, across = ctx.sizes.font_note, ctx.across
    runs = []
    for start, end, words in graph.spans:
        ends = [_around(body.boxes, name) for name in (start, end)]
        found = [rect for rect in ends if rect is not None]
        if len(found) == 2:
            markup = wrap(words, size, WIDE * size)
            text = measure(markup, size, align="middle" if across else "right")
            low = min(r.left if across else r.top for r in found)
            high = max(r.right if across else r.bottom for r in found)
            need = (text.width if across else text.height) / 2
            middle = (low + high) / 2
            taken = (min(low, middle - need), max(high, middle + need))
            runs.append((high - low, low, high, taken, markup, text))
    boxes: list[Box] = []
    labels: list[Label] = []
    outer = body.rect.bottom + GAP if across else body.rect.left - GAP
    reached = outer
    todo = sorted(runs, key=lambda run: run[0])  # short ones nearest to the figure
    while todo:
        level: list[tuple[float, float]] = []
        left = []
        for run in todo:
            _, low, high, taken, markup, text = run
            if any(taken[0] < b + APART and a < taken[1] + APART for a, b in level):
                left.append(run)
                continue
            level.append(taken)
            name, middle = f"span-{len(boxes)}", (low + high) / 2
            if across:
                rect = Rect(low, outer, high - low, DEPTH)
                at = Rect(middle - text.width / 2, rect.bottom + APART, text.width, text.height)
                reached = max(reached, at.bottom + GAP)
            else:
                rect = Rect(outer - DEPTH, low, DEPTH, high - low)
                at = Rect(rect.left - APART - text.width, middle - text.height / 2, text.width,
                          text.height)  # fmt: skip
                reached = min(reached, at.left - GAP)
            boxes.append(
                Box(f"{name}#brace", snapped(rect), "brace", "plain", title=plain(markup))
            )
            side = "middle" if across else "right"
            labels.append(text_label(name, markup, text, size, "note", at, align=side))
        todo, outer = left, reached
    if not boxes:
        return body
    return Body(
        (*body.boxes, *boxes), body.lines, (*body.labels, *labels), body.rect
    ).fitted()


def _around(boxes: tuple[Box, ...], name: str) -> Rect | None:
    """The rectangle around a block: its box, or all that is in it."""
    paths = [(box, tuple(box.path.split("/"))) for box in boxes]
    inside = [path[: path.index(name) + 1] for _, path in paths if name in path]
    if not inside:
        return None
    own = min(inside, key=len)
    rects = [reach(box) for box, path in paths if path[: len(own)] == own]
    left, top = min(r.left for r in rects), min(r.top for r in rects)
    right, bottom = max(r.right for r in rects), max(r.bottom for r in rects)
    return Rect(left, top, right - left, bottom - top)
