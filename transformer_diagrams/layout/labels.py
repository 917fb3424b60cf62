"""Texts beside lines: chosen before the cells are placed, so that room is kept; placed after."""

from __future__ import annotations

from collections import defaultdict

from transformer_diagrams.graph.ir import BORDER, Graph, Group
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.placed import Note
from transformer_diagrams.layout.shapes import net_label
from transformer_diagrams.layout.stages import Ported, Standing, Worded
from transformer_diagrams.layout.stream import flow_of, is_wide
from transformer_diagrams.text import measure


def outputs_room(group: Group, child: int, ctx: Context) -> float:
    """Extent across the flow that a box needs for different texts at its outputs that are read."""
    read = {edge.tail.port for edge in group.edges if edge.tail.child == child}
    texts = {net_label(group, child, port, ctx.shapes, ctx.tex) for port in read}
    outputs = len(read)
    if outputs < 2 or (len(texts) < 2 and ctx.shapes != "all"):
        return 0.0
    widest = 0.0
    for markup, kind in texts:
        if markup:
            text = measure(markup, ctx.sizes.font_shape if kind == "shape" else ctx.sizes.font_edge)
            widest = max(widest, text.height if ctx.across else text.width)
    return outputs * (widest + 2 * ctx.sizes.label_gap + 2.0) if widest else 0.0


def inputs_room(group: Group, child: int, ctx: Context) -> float:
    """Extent across the flow that a box needs for words between three or more lines it takes."""
    lines = [number for number, edge in flow_of(group) if edge.head.child == child]
    words = end_labels(group)
    texts = [measure(words[n], ctx.sizes.font_edge) for n in lines if n in words]
    if len(lines) < 3 or not texts:
        return 0.0
    widest = max(text.height if ctx.across else text.width for text in texts)
    return len(lines) * (widest + 2 * ctx.sizes.label_gap + 2.0)


def end_labels(group: Group) -> dict[int, str]:
    """Words that stand where their line ends, by edge: those of lines that begin as one and
    have different ones, and of lines that come from outside. Others stand where theirs begins.
    """
    nets: dict[tuple[int, int], list[tuple[int, str]]] = defaultdict(list)
    for number, edge in flow_of(group):
        nets[edge.tail.child, edge.tail.port].append((number, edge.label))
    return {
        number: words
        for (child, _), lines in nets.items()
        if child == BORDER or len({words for _, words in lines if words}) > 1
        for number, words in lines
        if words
    }


def words_of(graph: Graph) -> tuple[str, ...]:
    """Every label of an edge and every note that a figure must show, each as often as it must."""
    words: list[str] = []
    for part in graph.parts():
        words.append(part.note)
        if isinstance(part, Group):
            words += [back.label for back in part.returns if back.label]
            lines = {(e.tail, e.label): None for e in part.edges if e.kind != "residual"}
            words += [label for _, label in lines]
    return tuple(sorted(filter(None, words)))


def _said_beside(w: Ported, child: int, port: int, markup: str) -> bool:
    """True when the next output of the same box says the same: once is enough, but for all."""
    if w.ctx.shapes == "all":
        return False
    cell = w.tail_cell(child, port)
    here = w.tail_off.get((cell or 0, port), 0.0)
    for other in range(len(w.group.children[child].outputs)):
        there = w.tail_off.get((cell or 0, other), 0.0)
        farther = there < here if w.ctx.across else there > here
        same = net_label(w.group, child, other, w.ctx.shapes, w.ctx.tex)[0] == markup
        if other != port and farther and same and (child, other) in w.layers.net_of:
            return True
    return False


def label_nets(w: Ported) -> dict[int, Note]:
    """Choose the text of each net and keep room for it beside its line."""
    s = w.ctx.sizes
    labels: dict[int, Note] = {}
    for number, (child, port) in enumerate(w.layers.nets):
        here = {at for end, at in w.sides if end == "told"} if w.ctx.shapes == "all" else ()
        markup, kind = net_label(w.group, child, port, w.ctx.shapes, w.ctx.tex, here)
        if not markup:
            continue
        closed = child != BORDER and child not in w.inside
        if closed and not is_wide(w.group.children[child]) and _said_beside(w, child, port, markup):
            continue
        size = s.font_shape if kind == "shape" else s.font_edge
        text = measure(markup, size)
        du, dv = (text.height, text.width) if w.ctx.across else (text.width, text.height)
        labels[number] = Note(markup, kind, 0, 0, du, dv, size)
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
    return labels


def label_ends(w: Ported) -> dict[int, Note]:
    """Keep room for the words beside the last piece of their line: outwards at the outer lines
    of a box, so that between them they need none."""
    s, ports = w.ctx.sizes, defaultdict(list)
    ends: dict[int, Note] = {}
    for number, edge in flow_of(w.group):
        if edge.head.child != BORDER:
            ports[w.arrival(number)[0]].append(w.arrival(number)[1])
    for number, markup in end_labels(w.group).items():
        text = measure(markup, s.font_edge)
        du, dv = (text.height, text.width) if w.ctx.across else (text.width, text.height)
        cell, off = w.arrival(number)
        several = len(ports[cell]) > 1
        outer = max(ports[cell]) if w.ctx.across else min(ports[cell]) if several else None
        low = (not several or off != outer) if w.ctx.across else off == outer
        item, reach = w.layers.cells[cell], s.label_gap + du + 1.0
        if low:
            item.left = max(item.left, reach - off)
        else:
            item.right = max(item.right, reach + off)
        lift = 1.5 if w.ctx.across and low else 0.0  # as for words where a line begins
        u = lift - s.label_gap - du if low else s.label_gap
        ends[number] = Note(markup, "edge", u, 0, du, dv, s.font_edge, edge=number)
    return ends


def end_room(w: Worded) -> dict[int, float]:
    """By channel, what the words at the ends of lines need along the flow."""
    room: dict[int, float] = {}
    for number, note in w.ends.items():
        level = w.layers.cells[w.arrival(number)[0]].rank - 1
        room[level] = max(room.get(level, 0.0), note.dv + 5.0)
    return room


def place_labels(w: Standing) -> list[Note]:
    """Put each text beside the first or last run of its line, free of the boxes."""
    s = w.ctx.sizes
    notes: list[Note] = []
    for number, note in w.ends.items():
        at, off = w.arrival(number)
        cell, head = w.layers.cells[at], w.group.edges[number].head.child
        inside = cell.child >= 0 and cell.child == head
        note.u += cell.u + off
        note.v = (w.head_v(head) if inside else w.bottom[cell.rank]) - 2.0 - note.dv
        notes.append(note)
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
        notes.append(note)
    return notes


def label_level(w: Ported, net: int) -> int:
    child, port = w.layers.nets[net]
    cell = w.tail_cell(child, port)
    return w.layers.cells[cell].rank if cell is not None else -1
