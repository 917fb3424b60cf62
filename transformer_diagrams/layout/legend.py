"""The legend: a row of samples for the roles, marks and lines that a figure uses, below it."""

from __future__ import annotations

from collections.abc import Mapping

from transformer_diagrams.layout.scene import Box, Label, Line, Rect
from transformer_diagrams.roles import ROLES
from transformer_diagrams.text import measure
from transformer_diagrams.theme import Sizes

MARKS = {
    "frozen": "frozen weights",
    "trained": "trained weights",
    "ema": "moving average of weights",
    "tied": "shared weights",
}
LINES = {
    "residual": "residual path",
    "feedback": "one step later",
    "train": "in training only",
    "infer": "at inference only",
    "stop-gradient": "no gradient flows back",
    "ema": "weights followed as a moving average",
}
SAMPLE = Rect(0.0, 0.0, 16.0, 10.0)


def legend(
    boxes: list[Box],
    lines: list[Line],
    sizes: Sizes,
    width: float,
    top: float,
    accents: Mapping[int, str],
) -> tuple[list[Box], list[Line], list[Label], float, float]:
    """(samples, sample lines, words, width and height of the figure with them) for what is used."""
    entries: list[tuple[str, str, str]] = []
    entries += [
        ("role", name, role.legend)
        for name, role in ROLES.items()
        if role.legend and any(b.role == name and b.form == "box" for b in boxes)
    ]
    entries += [("mark", m, words) for m, words in MARKS.items() if any(b.mark == m for b in boxes)]
    entries += [
        ("accent", str(number), words)
        for number, words in accents.items()
        if any(b.accent == number for b in boxes)
    ]
    entries += [
        ("line", kind, words)
        for kind, words in LINES.items()
        if any(kind in ("" if q.mark == "ema" else q.kind, q.when, q.mark) for q in lines)
    ]
    new_boxes: list[Box] = []
    new_lines: list[Line] = []
    labels: list[Label] = []
    widest = width
    x, y, row = sizes.margin, top + 4.0, max(16.0, sizes.font_note + 6.0)
    for kind, key, words in entries:
        text = measure(words, sizes.font_note)
        need = SAMPLE.width + 4.0 + text.width
        if x + need > width - sizes.margin and x > sizes.margin:
            x, y = sizes.margin, y + row
        widest = max(widest, x + need + sizes.margin)
        name, middle = f"legend/{key}", y + SAMPLE.height / 2
        if kind == "line":
            new_lines.append(
                Line(
                    id=name,
                    points=((x, middle), (x + SAMPLE.width, middle)),
                    kind={"residual": key, "feedback": key, "ema": "feedback"}.get(key, "data"),
                    arrow=False,
                    when=key if key in ("train", "infer") else "always",
                    mark=key if key in ("stop-gradient", "ema") else "",
                    net=name,
                    title=words,
                )
            )
        else:
            same = [b for b in boxes if b.role == key]
            new_boxes.append(
                Box(
                    id=name,
                    rect=SAMPLE.moved(x, y),
                    form="box",
                    role=key if kind == "role" else "plain",
                    corner=2.0,
                    line="dashed" if any(b.line == "dashed" for b in same) else "solid",
                    mark=key if kind == "mark" else "",
                    accent=int(key) if kind == "accent" else 0,
                    title=words,
                )
            )
        at = Rect(
            x + SAMPLE.width + 4.0,
            text.baseline(middle) - text.ascent,
            text.width,
            text.height,
        )
        labels.append(
            Label(
                f"{name}#label",
                words,
                round(at.left, 3),
                round(at.top + text.ascent, 3),
                sizes.font_note,
                "note",
                at,
                align="left",
            )
        )
        x += need + 12.0
    height = y + row + sizes.margin - 4.0 if entries else top
    return new_boxes, new_lines, labels, widest, height
