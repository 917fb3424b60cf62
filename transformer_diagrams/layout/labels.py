"""Texts beside lines: chosen before the cells are placed, so that room is kept; placed after."""

from __future__ import annotations

from collections import defaultdict

from transformer_diagrams.graph.ir import BORDER, Group
from transformer_diagrams.layout.layers import flow_of, is_wide
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.placed import Note
from transformer_diagrams.layout.shapes import net_label
from transformer_diagrams.layout.work import (
    Work,
)
from transformer_diagrams.text import measure


def outputs_room(group: Group, child: int, ctx: Context) -> float:
    """Extent across the flow that a box needs for different texts at its several outputs."""
    outputs = len(group.children[child].outputs)
    texts = {net_label(group, child, port, ctx.shapes, ctx.tex) for port in range(outputs)}
    if outputs < 2 or len(texts) < 2:
        return 0.0
    widest = 0.0
    for markup, kind in texts:
        if markup:
            text = measure(markup, ctx.sizes.font_shape if kind == "shape" else ctx.sizes.font_edge)
            widest = max(widest, text.height if ctx.across else text.width)
    return outputs * (widest + 2 * ctx.sizes.label_gap + 2.0) if widest else 0.0


def _said_beside(w: Work, child: int, port: int, markup: str) -> bool:
    """True when the next output of the same box says the same: once is enough."""
    cell = w.tail_cell(child, port)
    here = w.tail_off.get((cell or 0, port), 0.0)
    for other in range(len(w.group.children[child].outputs)):
        there = w.tail_off.get((cell or 0, other), 0.0)
        farther = there < here if w.ctx.across else there > here
        same = net_label(w.group, child, other, w.ctx.shapes, w.ctx.tex)[0] == markup
        if other != port and farther and same and (child, other) in w.layers.net_of:
            return True
    return False


def label_nets(w: Work) -> None:
    """Choose the text of each net and keep room for it beside its line."""
    s = w.ctx.sizes
    for number, (child, port) in enumerate(w.layers.nets):
        markup, kind = net_label(w.group, child, port, w.ctx.shapes, w.ctx.tex)
        if not markup:
            continue
        closed = child != BORDER and child not in w.inside
        if closed and not is_wide(w.group.children[child]) and _said_beside(w, child, port, markup):
            continue
        size = s.font_shape if kind == "shape" else s.font_edge
        text = measure(markup, size)
        du, dv = (text.height, text.width) if w.ctx.across else (text.width, text.height)
        w.labels[number] = Note(markup, kind, 0, 0, du, dv, size)
        cell = w.tail_cell(child, port)
        if cell is None:
            continue
        off = w.tail_off.get((cell, port), 0.0)
        reach = s.label_gap + du
        item = w.layers.cells[cell]
        if w.ctx.across:
            item.left = max(item.left, reach - off + 1)
        else:
            item.right = max(item.right, off + reach + 1)


def place_labels(w: Work) -> None:
    """Put each text beside the first run of its line, above the box it leaves."""
    s = w.ctx.sizes
    first_edge: dict[tuple[int, int], int] = {}
    for number, edge in flow_of(w.group):
        first_edge.setdefault((edge.tail.child, edge.tail.port), number)
    tracks_of: dict[int, list[float]] = defaultdict(list)
    for (level, _), v in w.track.items():
        tracks_of[level].append(v)
    for net, note in w.labels.items():
        child, port = w.layers.nets[net]
        cell_index = w.tail_cell(child, port)
        if cell_index is None:
            continue
        cell = w.layers.cells[cell_index]
        u = cell.u + w.tail_off.get((cell_index, port), 0.0)
        start = w.tail_v(cell.child) if cell.child >= 0 else w.top[cell.rank]
        turn = w.track.get((cell.rank, net))
        level_top = w.bottom[cell.rank + 1] if cell.rank + 1 < len(w.bottom) else start
        tracks = tracks_of[cell.rank]
        if turn is not None or tracks:
            limit = min(tracks)
        else:
            limit = level_top - s.arrow_length
        note.v = start + 1.5 if tracks else max(start + 1.5, (start + limit - note.dv) / 2)
        note.u = u - s.label_gap - note.du + 1.5 if w.ctx.across else u + s.label_gap
        note.edge = first_edge[(child, port)]
        w.out.notes.append(note)


def label_level(w: Work, net: int) -> int:
    child, port = w.layers.nets[net]
    cell = w.tail_cell(child, port)
    return w.layers.cells[cell].rank if cell is not None else -1
