"""Where lines enter and leave: the reach of every cell and the ports along every box."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

from transformer_diagrams.graph.ir import BORDER, Node
from transformer_diagrams.layout.layers import Cell, Segment
from transformer_diagrams.layout.stages import (
    NARROW,
    PORT_EDGE,
    PORT_GAP,
    Ported,
    Ranked,
    Worded,
)
from transformer_diagrams.layout.stream import PLAIN, flow_of, is_wide, output_places
from transformer_diagrams.text import measure


def measure_cells(w: Ranked) -> None:
    """How far every cell reaches to both sides of its column."""
    for cell in w.layers.cells:
        if cell.kind == "child":
            if cell.child in w.inside:
                placed = w.inside[cell.child]
                cell.left = placed.ref
                cell.right = w.du[cell.child] - placed.ref
            else:
                size = w.sized[cell.child]
                front = size.height if w.ctx.across else size.width
                cell.left = cell.right = front / 2
                if w.ctx.across:
                    cell.left += size.sheet
                    cell.right += size.count.height + 2.0 if size.count else 0.0
                else:
                    cell.right += size.sheet
                    cell.right += size.count.width + 3.0 if size.count else 0.0
        elif cell.kind == "slice":
            cell.left = cell.right = 24.0 if not w.ctx.across else 12.0
        else:
            cell.left = cell.right = NARROW
            _room_outside(w, cell)


def _room_outside(w: Ranked, cell: Cell) -> None:
    """The ports of a frame keep room for the shapes that stand beside them outside."""
    ports = {"in": w.group.inputs, "out": w.group.outputs}.get(cell.kind, ())
    if not w.group.framed or len(ports) < 2:
        return
    shape = ports[cell.port].shape
    words = shape.tex(w.ctx.tex) if shape is not None else ""
    if w.ctx.shapes == "none" or not words:
        return
    text = measure(f"${words}$", w.ctx.sizes.font_shape)
    reach = w.ctx.sizes.label_gap + (text.height if w.ctx.across else text.width) + 3.0
    if w.ctx.across:
        cell.left = reach
    else:
        cell.right = reach


def fix_ports(w: Ranked) -> None:
    """The ports of a laid out group stay where they are; those with an order ask for it."""
    for index, child in enumerate(w.group.children):
        if isinstance(child, Node) and child.form != "circle" and not is_wide(child):
            cell = w.layers.cell_of[(index, 0)]
            if child.ordered:
                own = not child.alike and child.inputs[0].name not in PLAIN
                w.layers.swap_cost[cell] = 0.3 if own else 0.8 if child.alike else 1.0
                for port in range(len(child.inputs)):
                    w.layers.fixed[(cell, "in", port)] = (port + 0.5) / len(child.inputs)
            for port, place in enumerate(output_places(child)):
                if place >= 0:
                    w.layers.fixed[(cell, "out", port)] = (place + 0.5) / len(child.outputs)
    for index, placed in w.inside.items():
        cell = w.layers.cell_of[(index, 0)]
        for kind, gates in (("in", placed.ins), ("out", placed.outs)):
            for port, gate in gates.items():
                if gate.side in ("start", "end"):
                    w.layers.fixed[(cell, kind, port)] = gate.at / max(placed.width, 1.0)


def spread_ports(ranked: Ranked) -> Ported:
    """Where along its box every port lies."""
    w = ranked.grown(Ported, head_off={}, tail_off={}, named=set())
    place = {c: i for rank in w.layers.ranks for i, c in enumerate(rank)}
    ins: dict[int, list[Segment]] = defaultdict(list)
    outs: dict[int, list[Segment]] = defaultdict(list)
    for seg in w.layers.segments:
        ins[seg.head].append(seg)
        outs[seg.tail].append(seg)
    flank: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, edge in enumerate(w.group.edges):
        beside = edge.kind == "residual" or number in w.layers.entry_of
        if edge.tail.child == BORDER and not beside:
            side = w.sides.get(("in", edge.tail.port))
            if side and edge.head.child != BORDER:
                child = w.group.children[edge.head.child]
                if isinstance(child, Node) and not is_wide(child):
                    flank[edge.head.child].append((edge.head.port, side))
    for cell in w.layers.cells:
        if cell.kind != "child":
            continue
        if cell.child in w.inside:
            placed = w.inside[cell.child]
            for port, gate in placed.ins.items():
                if gate.side == "start":
                    w.head_off[(cell.index, port)] = gate.at - placed.ref
            for port, gate in placed.outs.items():
                if gate.side == "end":
                    w.tail_off[(cell.index, port)] = gate.at - placed.ref
            continue
        node = w.group.children[cell.child]
        assert isinstance(node, Node)
        if node.ordered:
            _check_sides(w, cell, place)
        if node.form == "circle":
            continue
        width = w.front(cell.child)
        arriving = sorted(ins[cell.index], key=lambda s: (place[s.tail], s.tail_port, s.head_port))
        even = cell.child in w.wordy
        ports = [(s.head_port, s.spine and not even) for s in arriving]
        ports = (
            [(p, False) for p, side in flank[cell.child] if side == "low"]
            + ports
            + [(p, False) for p, side in flank[cell.child] if side == "high"]
        )
        if node.ordered:
            tails = {s.head_port: (s.tail, s.tail_port) for s in arriving}
            ports = _in_order(w, cell.child, "in", ports, list(range(len(node.inputs))), tails)
        told = w.ctx.across and any(("in", cell.child, port) in w.named for port, _ in ports)
        least = 1.2 * w.ctx.sizes.font_edge if told else PORT_GAP  # names stand above their lines
        for port, off in _spread(ports, width, least).items():
            w.head_off[(cell.index, port)] = off
        leaving = sorted(outs[cell.index], key=lambda s: (place[s.head], s.head_port))
        ports = list(dict.fromkeys((s.tail_port, False) for s in leaving))
        ports = _in_order(w, cell.child, "out", ports, output_places(node), {})
        if len(ports) > 1:
            spined = {s.tail_port for s in leaving if s.spine and cell.child not in w.roomy}
            ports = [(p, p in spined and len(ports) % 2 == 1) for p, _ in ports]
            for port, off in _spread(ports, width, PORT_GAP).items():
                w.tail_off[(cell.index, port)] = off
    return w


def _check_sides(w: Ported, box: Cell, place: dict[int, int]) -> None:
    """Have operands that enter at a side named where they do not come in their order round it."""
    sides: list[tuple[int, int]] = []
    for number, edge in flow_of(w.group):
        if edge.head.child == box.child:
            dummy = w.layers.entry_of.get(number)
            at = 0 if dummy is None else -1 if place[dummy] < place[box.index] else 1
            sides.append((edge.head.port, at))
    for (a, first), (b, second) in combinations(sorted(sides), 2):
        if first > second:
            w.named.update((("in", box.child, a), ("in", box.child, b)))


def _in_order(
    w: Ported,
    child: int,
    kind: str,
    ports: list[tuple[int, bool]],
    places: list[int],
    tails: dict[int, tuple[int, int]],
) -> list[tuple[int, bool]]:
    """The ports of a box as they are written, or as their lines come and then to be named.

    Lines may cross just before the box if they are few, and neither the main stream nor a line
    that comes from a flank is crossed; ports that have names of their own are rather named.
    """
    node = w.group.children[child]
    swapped = [
        (a, b)
        for (a, _), (b, _) in combinations(ports, 2)
        if places[a] > places[b] and (not tails or tails.get(a) != tails.get(b))
    ]
    if not swapped:
        return ports
    involved = {port for pair in swapped for port in pair}
    streams = {port for port, on in ports if on} | ({p for p, _ in ports} - set(tails))
    crossed = kind == "out" or (isinstance(node, Node) and node.alike and not involved & streams)
    if crossed and len(swapped) < len(ports):
        return sorted(ports, key=lambda p: places[p[0]])
    w.named.update((kind, child, port) for port in involved)
    return ports


def straighten_ports(w: Worded) -> Worded:
    """Move a port along its box where that makes its line straight: first ins, then outs."""
    w = replace(w, head_off=dict(w.head_off), tail_off=dict(w.tail_off))
    readers: dict[tuple[int, int], int] = defaultdict(int)
    for seg in w.layers.segments:
        readers[(seg.tail, seg.tail_port)] += 1
    order = sorted(w.layers.segments, key=lambda q: (not q.spine, q.head, q.head_port))
    worded = {w.arrival(number) for number in w.ends}  # a label's place is settled already
    for seg in order:
        leave, enter = w.columns_of(seg)
        if (seg.head, w.head_off.get((seg.head, seg.head_port), 0.0)) in worded:
            continue
        _move_port(w, w.head_off, seg.head, seg.head_port, leave - enter)
    for seg in order:
        leave, enter = w.columns_of(seg)
        single = readers[(seg.tail, seg.tail_port)] == 1 and not seg.spine
        if single and seg.net not in w.labels:  # a label's place is settled already
            _move_port(w, w.tail_off, seg.tail, seg.tail_port, enter - leave)
    return w


def _move_port(
    w: Worded, offsets: dict[tuple[int, int], float], cell: int, port: int, by: float
) -> None:
    """Move one port of a closed box by ``by``, if it keeps its order, its room and its gaps."""
    item = w.layers.cells[cell]
    if abs(by) < 0.01 or item.kind != "child" or item.child in w.inside:
        return
    node = w.group.children[item.child]
    if isinstance(node, Node) and node.form != "box":
        return
    old = offsets.get((cell, port), 0.0)
    new = old + by
    others = [o for (c, p), o in offsets.items() if c == cell and p != port]
    room = w.front(item.child) / 2 - PORT_EDGE
    keeps_order = all((o < old) == (o < new) for o in others)
    least = PORT_GAP if abs(by) < 12 else 12.0  # a kink is worse than ports near each other
    if abs(new) <= room and keeps_order and all(abs(o - new) >= least for o in others):
        offsets[(cell, port)] = new


def _spread(ports: list[tuple[int, bool]], width: float, least: float) -> dict[int, float]:
    """Offsets of ports along a box: the main stream in the middle, the others to its sides."""
    count = len(ports)
    spine = next((i for i, (_, on) in enumerate(ports) if on), None)
    if spine is None:
        return {port: width * ((i + 0.5) / count - 0.5) for i, (port, _) in enumerate(ports)}
    # the stream enters in the middle where the others then keep their distance, else all evenly
    reach = width / 2 - PORT_EDGE
    most = max(spine, count - 1 - spine, 1)
    step = max(width / 2 / (most + 1), min(8.5, reach / most))
    if step < least and width / count >= step:
        return {port: width * ((i + 0.5) / count - 0.5) for i, (port, _) in enumerate(ports)}
    offsets: dict[int, float] = {}
    for i, (port, _) in enumerate(ports):
        beside = spine if i < spine else count - 1 - spine  # how many on this side
        step = max(width / 2 / (beside + 1), min(8.5, reach / beside)) if beside else 0.0
        offsets[port] = (i - spine) * step
    return offsets
