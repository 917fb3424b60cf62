"""Remarks of the author (`note:`) beside their box: small, wrapped, with room kept for them.

Before the cells are placed each is measured and its cell grows by it; when the boxes stand it is
put at the side, clear of the text beside the box's own line. At a circle, which lines may enter
from its sides, it stands past the middle. (A frame's remark stands under its title.)
"""

from __future__ import annotations

from transformer_diagrams.graph.ir import Node
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.placed import Note
from transformer_diagrams.layout.stages import Ported, Standing, Worded
from transformer_diagrams.layout.stream import is_wide
from transformer_diagrams.layout.strip import room_before
from transformer_diagrams.text import TextLayout, measure, wrap

WIDE = 17.0  # times the size of the type; a longer remark is wrapped
GAP = 8.0  # from the box, or from the text beside its line
ABOVE = 3.0  # from the middle of a circle


def set_remark(words: str, ctx: Context) -> tuple[str, TextLayout]:
    """A remark as it is set: its lines, and their measure."""
    size = ctx.sizes.font_note
    markup = wrap(words, size, WIDE * size)
    return markup, measure(markup, size)


def keep_room(w: Ported, *, tall: bool) -> list[tuple[int, Note]]:
    """Let every cell reach as far as the remark beside its box.

    A ``tall`` remark comes beside the words of the lines that its box gives and takes, so it is
    looked at after these; another one has all its room beside the box.
    """
    remarks: list[tuple[int, Note]] = []
    for index, child in enumerate(w.group.children):
        if not isinstance(child, Node) or not child.note:
            continue
        markup, text = set_remark(child.note, w.ctx)
        wide = text.width + room_before(child.tone)
        du, dv = (text.height, wide) if w.ctx.across else (wide, text.height)
        if tall != (child.form == "circle" or dv > w.dv[index]):
            continue
        lanes = range(len(child.inputs) if is_wide(child) else 1)
        order = w.layers.ranks[w.layers.cells[w.layers.cell_of[index, 0]].rank]
        cell = max((w.layers.cell_of[index, lane] for lane in lanes), key=order.index)
        item = w.layers.cells[cell]
        size = w.ctx.sizes.font_note
        note = Note(markup, "note", item.right + GAP, 0.0, du, dv, size, child=index)
        remarks.append((cell, note))
        item.right = note.u + du
    return remarks


def depth(w: Worded, note: Note) -> float:
    """What a remark needs along the flow."""
    child = w.group.children[note.child]
    circle = isinstance(child, Node) and child.form == "circle"
    return 2 * (note.dv + ABOVE) if circle else note.dv


def place_remarks(w: Standing) -> list[Note]:
    """Put each remark beside its box."""
    for cell, note in w.remarks:
        spot = w.spot_of[note.child]
        child = w.group.children[note.child]
        circle = isinstance(child, Node) and child.form == "circle"
        note.u += w.layers.cells[cell].u
        note.v = spot.v + spot.dv / 2 + (ABOVE if circle else -note.dv / 2)
    return [note for _, note in w.remarks]
