"""The frame around a group: its padding, its title and its badge."""

from __future__ import annotations

from transformer_diagrams.layout.placed import Note, Placed
from transformer_diagrams.layout.remarks import set_remark
from transformer_diagrams.layout.stages import FOLD_BEYOND, Aligned, Worded
from transformer_diagrams.layout.strip import ROOM_AT_BADGE, add_strip, room_before, swatch
from transformer_diagrams.text import measure


def fold_title(w: Worded) -> str:
    """Two lines for a title that would else make its frame wider than its content."""
    title = w.group.title
    if not w.group.framed or not title or w.ctx.across:
        return title
    s = w.ctx.sizes
    left, right = w.borders()
    gates = sorted(w.layers.cells[c].u for c in w.layers.in_cell.values())
    if not gates or " " not in title or "$" in title:
        return title
    need = measure(title, s.font_title, "medium").width + s.title_pad_x + 6.0
    badge = measure(w.group.badge, s.font_badge).width + 14.0 if w.group.badge else 0.0
    before, after = gates[0] - left + s.frame_pad, right - gates[-1] + s.frame_pad
    if need <= before + FOLD_BEYOND or need + badge <= after:
        return title
    words = title.split(" ")
    folds = [" ".join(words[:i]) + "\n" + " ".join(words[i:]) for i in range(1, len(words))]
    return min(folds, key=lambda t: measure(t, s.font_title, "medium").width)


def title_band(w: Aligned) -> float:
    """Height along the flow of the strip that holds the frame's title."""
    s = w.ctx.sizes
    if not w.group.framed:
        return 0.0
    if w.ctx.across or not (w.group.title or w.group.badge or w.group.note):
        return s.frame_pad
    tall = max(
        sum(note.dv for note in _head(w)),
        measure(w.group.badge, s.font_badge).height if w.group.badge else 0.0,
    )
    return tall + s.title_pad_y + 2.0


def _head(w: Aligned) -> list[Note]:
    """The title, and under it the remark; measured in reading order, not yet placed."""
    s, made = w.ctx.sizes, []
    if w.title:
        text = measure(w.title, s.font_title, "medium")
        tall = text.height + (4.0 if w.group.note else 0.0)
        made.append(Note(w.title, "title", 0, 0, text.width, tall, s.font_title, "medium"))
    if w.group.note:
        markup, text = set_remark(w.group.note, w.ctx)
        made.append(Note(markup, "note", 0, 0, text.width, text.height, s.font_note))
    return made


def add_frame(w: Aligned, out: Placed) -> None:
    """Padding, title and badge of a framed group; the frame grows where they need it."""
    if not w.group.framed:
        return
    s = w.ctx.sizes
    head = _head(w)
    badge = measure(w.group.badge, s.font_badge) if w.group.badge else None
    out.shift_u(s.frame_pad)
    out.width += 2 * s.frame_pad
    add_strip(w, out, title_band(w), out.length - s.frame_pad)
    if not head and not badge:
        return
    if w.ctx.across:
        _frame_across(w, out)
        return
    gates = sorted(g.at for g in out.ins.values() if g.side == "start")
    pad = s.title_pad_x
    title_need = max((note.du for note in head), default=-pad - 6.0) + pad + 6.0
    badge_need = badge.width + pad + 6.0 if badge else 0.0
    badge_need += room_before(w.group.tone)
    first = gates[0] if gates else out.width
    last_room = out.width - (gates[-1] if gates else 0.0)
    title_u = pad
    if head and first < title_need:
        if gates and last_room >= title_need + badge_need:
            title_u = gates[-1] + 8.0
        else:
            grow = title_need - first
            out.shift_u(grow)
            out.width += grow
    if badge:
        room = out.width - (
            max(g.at for g in out.ins.values() if g.side == "start") if gates else 0
        )
        used = title_need if title_u > pad or not gates else 0.0
        if room < badge_need + used:
            out.width += badge_need + used - room
    v = s.title_pad_y - 1.5
    for note in head if w.ctx.direction == "down" else reversed(head):
        note.u, note.v = title_u, v
        v += note.dv
        out.notes.append(note)
    if badge:
        out.notes.append(
            Note(
                w.group.badge,
                "badge",
                out.width - pad - badge.width,
                s.title_pad_y - 1.5,
                badge.width,
                badge.height,
                s.font_badge,
            )
        )
        if w.group.tone >= 0:
            at = out.notes[-1]
            u = at.u - ROOM_AT_BADGE
            out.notes += swatch(w.group.tone, u, at.v, at.dv, across=False)


def _frame_across(w: Aligned, out: Placed) -> None:
    """Title and badge of a frame whose flow runs left to right: in a band along its top."""
    s = w.ctx.sizes
    texts = [
        (w.group.title, "title", s.font_title, "medium"),
        (w.group.badge, "badge", s.font_badge, "regular"),
    ]
    sizes = [measure(m, f, w) if m else None for m, _, f, w in texts]
    remark, words = set_remark(w.group.note, w.ctx) if w.group.note else ("", None)
    row = max((t.height for t in sizes if t), default=-2.0)  # of title and badge
    row += 4.0 if w.group.tone >= 0 else 0.0
    band = row + s.title_pad_y + (words.height + 2.0 if words else 0.0)
    grow = max(0.0, band + 2.0 - s.frame_pad)
    out.shift_u(grow)
    out.width += grow
    need = sum(t.width + s.title_pad_x for t in sizes if t) + 2 * s.title_pad_x
    need += room_before(w.group.tone)
    need = max(need, words.width + 2 * s.title_pad_x if words else 0.0)
    if out.length < need:
        half = (need - out.length) / 2
        out.lengthen(half, half)
    if words:
        v = _slot(out, words.width, s.title_pad_x, backward=False)
        u = s.title_pad_y + row + 0.5
        out.notes.append(Note(remark, "note", u, v, words.height, words.width, s.font_note))
    ends = {"title": s.title_pad_x, "badge": s.title_pad_x}
    for (markup, kind, size, weight), text in zip(texts, sizes, strict=True):
        if text is None:
            continue
        v = _slot(out, text.width, ends[kind], backward=kind == "badge")
        out.notes.append(
            Note(markup, kind, s.title_pad_y - 1.5, v, text.height, text.width, size, weight)
        )
        if kind == "badge" and w.group.tone >= 0:
            u = s.title_pad_y - 1.5
            out.notes += swatch(w.group.tone, u, v - ROOM_AT_BADGE, text.height, across=True)


def _slot(out: Placed, width: float, pad: float, *, backward: bool) -> float:
    """The first place along the band where a text meets no line that enters through it."""
    lines = sorted(g.at for gates in (out.ins, out.outs) for g in gates.values() if g.side == "low")
    v = out.length - pad - width if backward else pad
    for at in reversed(lines) if backward else lines:
        if v - 6.0 < at < v + width + 6.0:
            v = at - 8.0 - width if backward else at + 8.0
    return v if pad <= v <= out.length - pad - width else pad
