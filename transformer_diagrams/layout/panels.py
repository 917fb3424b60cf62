"""Figures as the panels of one, each with its letter, and one legend for all: side by side, or one
below the other when the flow runs across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transformer_diagrams.layout.canvas import Body, text_label
from transformer_diagrams.layout.legend import legend as make_legend
from transformer_diagrams.layout.paper import rounded
from transformer_diagrams.layout.scene import Rect, Scene
from transformer_diagrams.text import measure
from transformer_diagrams.theme import Theme

LETTER_GAP = 6.0  # under a panel's letter
MOST = 26  # panels


def letter(number: int) -> str:
    """The letter of a panel, from 0: ``letter(0) == "(a)"``."""
    return f"({chr(ord('a') + number)})"


def panels(scenes: Sequence[Scene], theme: Theme, *, legend: bool) -> Scene:
    """One scene of several. Streams that run up begin on one line, others end on one."""
    s = theme.sizes
    size = s.font_header * 1.1
    across = any(scene.direction == "right" for scene in scenes)
    words = [measure(letter(n), size, "semibold") for n in range(len(scenes))]
    head = max(text.height for text in words) + LETTER_GAP
    highest = max(scene.height for scene in scenes)
    joined = Body((), (), (), Rect(0.0, 0.0, 0.0, 0.0))
    x = y = 0.0
    for number, scene in enumerate(scenes):
        drop = 0.0 if across or scene.direction != "up" else highest - scene.height
        body = _named(scene, f"{letter(number)[1]}/").moved(x, y + head + drop)
        at = Rect(x + s.margin, y + s.margin, words[number].width, words[number].height)
        label = text_label(
            f"panel-{number}", letter(number), words[number], size, "header", at, weight="semibold"
        )
        joined = Body(
            joined.boxes + body.boxes, joined.lines + body.lines,
            (*joined.labels, *body.labels, label), joined.rect,
        )  # fmt: skip
        if across:
            y += head + scene.height
        else:
            x += scene.width + s.figure_gap / 2 - s.margin
    width = max(scene.width for scene in scenes) if across else x - s.figure_gap / 2 + s.margin
    height = y if across else head + highest
    boxes, lines, labels = list(joined.boxes), list(joined.lines), list(joined.labels)
    if legend:
        samples, strokes, texts, width, height = make_legend(
            boxes, lines, s, width, height, theme.names
        )
        boxes, lines, labels = boxes + samples, lines + strokes, labels + texts
    told = [f"{letter(n)} {scene.title}" for n, scene in enumerate(scenes)]
    described = [f"{letter(n)} {scene.desc}" for n, scene in enumerate(scenes) if scene.desc]
    return Scene(
        id="-".join(scene.id for scene in scenes),
        title="; ".join(told),
        desc=" ".join(described),
        width=rounded(width),
        height=rounded(height),
        boxes=tuple(boxes),
        lines=tuple(lines),
        labels=tuple(labels),
        direction=scenes[0].direction,
        words=tuple(word for scene in scenes for word in scene.words),
        shapes=tuple(
            tuple(f"{letter(n)[1]}/{net}" for net in group)
            for n, scene in enumerate(scenes)
            for group in scene.shapes
        ),
    )


def _named(scene: Scene, before: str) -> Body:
    """What a scene holds, all names with the panel's letter before them."""

    def own(name: str) -> str:
        return before + name if name else ""

    boxes = tuple(
        replace(
            box, id=own(box.id), path=own(box.path), parent=own(box.parent), whole=own(box.whole)
        )
        for box in scene.boxes
    )
    lines = tuple(
        replace(
            line, id=own(line.id), tail=own(line.tail), head=own(line.head), net=own(line.net)
        )
        for line in scene.lines
    )
    labels = tuple(
        replace(label, id=own(label.id), owner=own(label.owner)) for label in scene.labels
    )
    return Body(boxes, lines, labels, Rect(0.0, 0.0, scene.width, scene.height))
