"""Along the flow: the v of every rank, and the tracks in the channels between them."""

from __future__ import annotations

from collections import defaultdict

from transformer_diagrams.graph.ir import BORDER
from transformer_diagrams.layout.channels import Net, assign_tracks
from transformer_diagrams.layout.frames import title_band
from transformer_diagrams.layout.labels import end_room, label_level
from transformer_diagrams.layout.remarks import depth
from transformer_diagrams.layout.stages import Aligned, Stacked


def stack_ranks(w: Aligned) -> Stacked:
    """Tracks and the v of every rank."""
    s, layers = w.ctx.sizes, w.layers
    left, right = w.flanks.border["low"], w.flanks.border["high"]
    nets: dict[int, dict[int, tuple[set[float], set[float], float | None]]] = defaultdict(dict)

    def entry(level: int, net: int) -> tuple[set[float], set[float]]:
        got = nets[level].setdefault(net, (set(), set(), None))
        return got[0], got[1]

    for seg in layers.segments:
        leaves, rises = entry(layers.cells[seg.tail].rank, seg.net)
        a, b = w.columns_of(seg)
        leaves.add(a)
        rises.add(b)
    for level, number, column, side in w.flanks.turns:
        leaves, rises = entry(level, number)
        (leaves if w.layers.nets[number][0] != BORDER else rises).add(column)
        border = left - 1.0 if side == "low" else right + 1.0
        nets[level][number] = (leaves, rises, border)

    heights = _rank_heights(w)
    label_room: dict[int, list[float]] = defaultdict(list)
    for number, note in w.labels.items():
        label_room[label_level(w, number)].append(note.dv)
    ends = end_room(w)
    bottom: list[float] = []
    top: list[float] = []
    track: dict[tuple[int, int], float] = {}
    at = 0.0
    count = len(layers.ranks)
    for level in range(count):
        bottom.append(at)
        at += heights[level]
        top.append(at)
        if level == count - 1:
            break
        if not nets[level] and not (layers.ranks[level] and layers.ranks[level + 1]):
            if w.group.framed:  # no border ports on that side, but a border
                at += title_band(w) + 4.0 if level == 0 else s.frame_pad + 4.0
            continue
        numbers = sorted(nets[level])
        made = [
            Net(
                tuple(sorted(nets[level][n][0])),
                tuple(sorted(nets[level][n][1])),
                nets[level][n][2],
            )
            for n in numbers
        ]
        tracks = assign_tracks(made)
        used = max(tracks, default=-1) + 1
        labelled = label_room[level]
        lead, base = _channel_base(w, level, labelled)
        base += ends.get(level, 0.0)
        for n, t in zip(numbers, tracks, strict=True):
            if t >= 0:
                track[(level, n)] = at + lead + t * s.track_gap
        approach = s.arrow_length + s.line_corner + 1.0
        if level == count - 2 and w.group.outputs:
            approach = s.line_corner + 2
        approach = max(approach, ends.get(level, 0.0) + s.line_corner)
        need = lead + (used - 1) * s.track_gap + approach if used else 0.0
        at += max(base, need)
    return w.grown(Stacked, bottom=bottom, top=top, track=track)


def _rank_heights(w: Aligned) -> list[float]:
    heights = [0.0] * len(w.layers.ranks)
    deep = {note.child: depth(w, note) for _, note in w.remarks}
    for cell in w.layers.cells:
        if cell.child >= 0:
            need = max(w.dv[cell.child], deep.get(cell.child, 0.0))
            heights[cell.rank] = max(heights[cell.rank], need)
    return heights


def _channel_base(w: Aligned, level: int, labelled: list[float]) -> tuple[float, float]:
    """(distance from the lower rank to the first track, least height) of a channel."""
    s, last = w.ctx.sizes, len(w.layers.ranks) - 2
    tallest = max(labelled, default=0.0)
    lead = 9.0 if not labelled else tallest + 6.5
    gap = s.gap_rank * (0.75 if w.ctx.across else 1.0)  # a page is wider than it is high
    base = gap if not labelled else max(gap, tallest + s.arrow_length + 7.0)
    if level == 0:
        band = title_band(w)
        if w.group.framed:
            return band + 4.0, band + 4.0
        if w.group.kind == "residual":
            return 11.0, 13.0 if w.ctx.across else 17.0
        return 4.0, 0.0
    if level == last and w.group.outputs:
        if w.group.framed:
            base = s.frame_pad + 4.0 if not labelled else max(s.frame_pad + 4.0, tallest + 5.0)
            return lead, base
        return lead, 0.0 if not labelled else tallest + 4.0
    return lead, base
