"""The strip beside a pattern: a cell for each turn, in order along the flow, toned by its kind.

It stands inside the frame, at the side where fewest lines enter, clear of those that do; a cell
of the same tone stands before the badge of each kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from transformer_diagrams.graph.ir import Group
from transformer_diagrams.layout.placed import Note, Placed
from transformer_diagrams.layout.stages import Aligned

CELL = 5.0  # along the flow
BROAD = 8.0  # across it
STEP = 6.4  # from cell to cell along the flow
ASIDE = 9.4  # and from one column of cells to the next
EDGE = 2.0  # around the cells
APART = 9.0  # from what stands in the frame
CLEAR = 6.0  # from a line that enters beside it
SWATCH = (BROAD + 2 * EDGE, CELL + 2 * EDGE)  # width and height of a single cell on paper
ROOM_AT_BADGE = BROAD + 2 * EDGE + 5.0  # for the cell before it
DOTS = -1  # the tone of the last cell, where more turns follow

STRIP, CELLS = "strip", "cell"  # kinds of notes: of the whole, and after it of each cell


def add_strip(w: Aligned, out: Placed, start: float, end: float) -> None:
    """Put the strip of a pattern into its frame, between ``start`` and ``end`` along the flow."""
    if w.group.turns is None:
        return
    count = len(_tones(w.group))
    lines = {
        side: sorted(g.at for gates in (out.ins, out.outs) for g in gates.values()
                     if g.side == side)
        for side in ("high", "low")
    }  # fmt: skip
    side = min(lines, key=lambda each: len(lines[each]))
    stops = [start - CLEAR, *lines[side], end + CLEAR]
    first, last = max(
        ((a + CLEAR, b - CLEAR) for a, b in pairwise(stops)),
        key=lambda span: span[1] - span[0],
    )
    rows = max(1, int((last - first - 2 * EDGE + STEP - CELL) / STEP))
    columns = math.ceil(count / rows)
    rows = math.ceil(count / columns)
    du, dv = _extent(columns, ASIDE, BROAD), _extent(rows, STEP, CELL)
    pad, grow = w.ctx.sizes.frame_pad, du + APART
    u = out.width - pad + APART
    if side == "low":
        out.shift_u(grow)
        u = pad
    out.width += grow
    out.notes += [Note("", STRIP, u, first, du, dv, 0.0), *_cells(u, first, rows, w.group)]


def room_before(tone: int) -> float:
    """Width on paper of the cell before the number of a kind of turns, if it is one."""
    return ROOM_AT_BADGE if tone >= 0 else 0.0


def swatch(tone: int, u: float, v: float, dv: float, *, across: bool) -> list[Note]:
    """A single cell, with its middle in that of a row ``dv`` high; sizes as on paper."""
    wide, high = SWATCH
    du, low = (high, u + (dv - high) / 2) if across else (wide, u)
    dv, at = (wide, v) if across else (high, v + (dv - high) / 2)
    inner = low + EDGE, at + EDGE, du - 2 * EDGE, dv - 2 * EDGE
    return [Note("", STRIP, low, at, du, dv, 0.0), Note(str(tone), CELLS, *inner, 0.0)]


def _tones(group: Group) -> tuple[int, ...]:
    """What the cells of a strip stand for, in order: one each turn."""
    assert group.turns is not None
    return (*group.turns.tones, DOTS) if group.turns.more else group.turns.tones


def _cells(left: float, low: float, rows: int, group: Group) -> Iterator[Note]:
    """The cells of a strip, first the column in which the turns begin."""
    for at, tone in enumerate(_tones(group)):
        column, row = divmod(at, rows)
        u, v = left + EDGE + column * ASIDE, low + EDGE + row * STEP
        if tone == DOTS:
            for dot in range(3):
                yield Note("1", CELLS, u + BROAD / 2 - 0.5, v + dot * 1.8, 1.0, 1.0, 0.0)
        else:
            yield Note(str(tone), CELLS, u, v, BROAD, CELL, 0.0)


def _extent(number: int, step: float, one: float) -> float:
    return (number - 1) * step + one + 2 * EDGE
