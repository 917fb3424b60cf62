"""A group's children as cells in ranks, with a dummy on every rank that an edge passes.

Before: a group of the graph (acyclic). After: cells by rank, and segments that join neighbouring
ranks only. Edges of one source share their dummies, so a fan-out is one bus that branches late.
(Sugiyama, Tagawa, Toda 1981; the shared dummies are ours.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import pairwise

from transformer_diagrams.graph.ir import BORDER, Edge, Group, Node
from transformer_diagrams.layout.ranks import ranks_of
from transformer_diagrams.layout.stream import aside, fed_from_below, flow_of, is_wide, spine_of
from transformer_diagrams.records import dataclass


@dataclass(slots=True)
class Cell:
    """One thing in a rank.

    kind   child | slice (one lane of a wide box) | dummy | in | out
    child  index in the group, or -1; port: of `in` and `out`, or the slice's number
    left, right: extent from the reference u to both sides, labels included
    """

    index: int
    kind: str
    rank: int = 0
    child: int = -1
    port: int = 0
    left: float = 0.0
    right: float = 0.0
    net: int = -1
    beside: int = -1  # dummy: the circle or box that its line enters at the side
    lean: str = ""  # "low" or "high": an `in` that comes from that flank, a dummy of that side
    u: float = 0.0


@dataclass(slots=True)
class Segment:
    """A piece of an edge between neighbouring ranks (tail below head)."""

    tail: int
    head: int
    tail_port: int  # of the tail cell's child; 0 for dummies
    head_port: int
    net: int
    spine: bool = False


@dataclass(slots=True)
class Layers:
    """Cells and segments of one group; ``paths[edge]`` lists the cells an edge goes through."""

    cells: list[Cell] = field(default_factory=list)
    ranks: list[list[int]] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    paths: dict[int, list[int]] = field(default_factory=dict)
    nets: list[tuple[int, int]] = field(default_factory=list)  # (child or BORDER, port)
    net_of: dict[tuple[int, int], int] = field(default_factory=dict)  # the other way round
    cell_of: dict[tuple[int, int], int] = field(default_factory=dict)  # (child, slice) -> cell
    entry_of: dict[int, int] = field(default_factory=dict)  # edge into a side -> its dummy
    in_cell: dict[int, int] = field(default_factory=dict)
    out_cell: dict[int, int] = field(default_factory=dict)
    loose: set[int] = field(default_factory=set)  # cells over the middle of their operands
    lane: str = "high"  # the side of residual paths
    # lines from or to a flank: (cell, side, channel, True when it comes from there)
    flanks: list[tuple[int, str, int, bool]] = field(default_factory=list)
    # 0..1: where the line outside a port of the group comes from or goes to, among the others
    wishes: dict[int, float] = field(default_factory=dict)  # by cell
    # what it costs, in crossings, that two operands of a cell stand in the other order
    swap_cost: dict[int, float] = field(default_factory=dict)
    # where along its cell a port lies that cannot move: (cell, "in" | "out", port) -> 0..1
    fixed: dict[tuple[int, str, int], float] = field(default_factory=dict)

    def again(self) -> Layers:
        """The same layers in the same order, to be placed once more."""
        return replace(
            self,
            cells=[replace(cell) for cell in self.cells],
            segments=[replace(seg) for seg in self.segments],
        )

    def comes_straight(self, dummy: int) -> bool:
        """True where a line from a flank meets nothing on its way to the side that it enters."""
        cell = self.cells[dummy]
        if (dummy, cell.lean, cell.rank - 1, True) not in self.flanks:
            return False
        rank, entries = self.ranks[cell.rank], set(self.entry_of.values())
        at = rank.index(dummy)
        outer = rank[:at] if cell.lean == "low" else rank[at + 1 :]
        return all(c in entries and self.cells[c].lean == cell.lean for c in outer)

    def tail_shift(self, seg: Segment) -> float:
        """Order of a segment among those that leave its tail."""
        return 0.001 * self.fixed.get((seg.tail, "out", seg.tail_port), 0.0)

    def head_shift(self, seg: Segment) -> float:
        """Order of a segment among those that enter its head."""
        return 0.001 * self.fixed.get((seg.head, "in", seg.head_port), 0.0)


def build_layers(
    group: Group, sides: Mapping[tuple[str, int], str], nested: bool, late: bool, sided: bool
) -> Layers:
    """Ranks and dummies of a group.

    ``sides`` maps ("in", port) or ("out", port) to "low" or "high" for ports on the flanks;
    those have no cell: their wires run in a channel to the border. ("lean", port) names an input
    that lies at the start but comes from a flank: it stands outermost there. If ``late``, every
    child stands as near to its readers as it can, else to its sources; ``sided`` as in
    `fed_from_below`.
    """
    layers = Layers()
    children = group.children
    flow = flow_of(group)
    rank = ranks_of(group, flow, late)
    flanked = aside(sides)
    spine = set(spine_of(group, nested, flanked)[0])
    below = fed_from_below(group, spine, nested, flanked, sided)

    def add(cell: Cell) -> int:
        cell.index = len(layers.cells)
        layers.cells.append(cell)
        return cell.index

    top = max(rank, default=0) + 1
    ports = list(range(len(group.inputs)))
    if group.kind == "residual":  # its lane runs on one side: what else enters comes from the other
        lanes = {e.tail.port for e in group.edges if e.kind == "residual"}
        high = {p for end in ("in", "lean") for p in ports if sides.get((end, p)) == "high"} - lanes
        layers.lane = "low" if high else "high"
        # what is needed first, nearest
        ports.sort(key=lambda p: (1, 0) if p in lanes else (2, p) if p in high else (0, -p))
    for port in ports:
        if ("in", port) not in sides:
            lean = sides.get(("lean", port), "")
            layers.in_cell[port] = add(Cell(0, "in", 0, port=port, lean=lean))
    for index, child in enumerate(children):
        if is_wide(child):
            for lane in range(len(child.inputs)):
                layers.cell_of[(index, lane)] = add(Cell(0, "slice", rank[index], index, lane))
        else:
            layers.cell_of[(index, 0)] = add(Cell(0, "child", rank[index], index))
    for port in range(len(group.outputs)):
        if ("out", port) not in sides:
            layers.out_cell[port] = add(Cell(0, "out", top, port=port))

    net_index = layers.net_of
    dummies: dict[tuple[int, int], int] = {}
    for _, edge in flow:
        key = (edge.tail.child, edge.tail.port)
        if key not in net_index:
            net_index[key] = len(layers.nets)
            layers.nets.append(key)
    seen_segments: dict[tuple[int, int, int], Segment] = {}
    for index, edge in flow:
        net = net_index[(edge.tail.child, edge.tail.port)]
        tail = _tail_cell(layers, group, edge)
        head = _head_cell(layers, group, edge)
        from_side = edge.head.child in below and head is not None
        flank = sides.get(("in", edge.tail.port), "") if edge.tail.child == BORDER else ""
        if from_side and flank and head is not None:
            at = layers.cells[head].rank
            layers.entry_of[index] = add(
                Cell(0, "dummy", at, net=net, beside=head, lean=flank, port=edge.head.port)
            )
        if tail is None and head is not None and flank:
            at = layers.entry_of.get(index, head)
            layers.flanks.append((at, flank, layers.cells[at].rank - 1, True))
        out = sides.get(("out", edge.head.port), "") if edge.head.child == BORDER else ""
        if head is None and tail is not None and out:
            layers.flanks.append((tail, out, layers.cells[tail].rank, False))
        if tail is None or head is None:
            layers.paths[index] = [c for c in (tail, head) if c is not None]
            continue
        first, last = layers.cells[tail].rank, layers.cells[head].rank
        path = [tail]
        side_entry = from_side and edge.head.port != below[edge.head.child]
        stop = last + 1 if side_entry else last
        for level in range(first + 1, stop):
            beside = head if level == last else -1
            where = (net, level) if beside < 0 else (-1 - index, level)
            if where not in dummies:
                dummies[where] = add(Cell(0, "dummy", level, net=net, beside=beside))
                if beside >= 0:
                    entry = layers.cells[dummies[where]]
                    layers.entry_of[index] = entry.index
                    entry.port = edge.head.port
                    node = children[edge.head.child]
                    if isinstance(node, Node) and node.ordered:
                        entry.lean = "low" if entry.port < below[edge.head.child] else "high"
            path.append(dummies[where])
        if not side_entry:
            path.append(head)
        on_spine = index in spine
        for a, b in pairwise(path):
            in_port = edge.head.port if b == head else 0
            known = seen_segments.get((a, b, in_port))
            if known is None:
                known = Segment(a, b, edge.tail.port if a == tail else 0, in_port, net)
                seen_segments[(a, b, in_port)] = known
                layers.segments.append(known)
            known.spine = known.spine or on_spine
        if side_entry:
            path.append(head)
        layers.paths[index] = path
    for kind, ports_of in (("in", layers.in_cell), ("out", layers.out_cell)):
        wished = [p for p in ports_of if ("order " + kind, p) in sides]
        wished.sort(key=lambda p: sides["order " + kind, p])
        for i, port in enumerate(wished):
            layers.wishes[ports_of[port]] = (i + 0.5) / len(wished)
    layers.ranks = [[] for _ in range(top + 1)]
    for cell in layers.cells:
        layers.ranks[cell.rank].append(cell.index)
    return layers


def _tail_cell(layers: Layers, group: Group, edge: Edge) -> int | None:
    if edge.tail.child == BORDER:
        return layers.in_cell.get(edge.tail.port)
    child = group.children[edge.tail.child]
    return layers.cell_of[(edge.tail.child, edge.tail.port if is_wide(child) else 0)]


def _head_cell(layers: Layers, group: Group, edge: Edge) -> int | None:
    if edge.head.child == BORDER:
        return layers.out_cell.get(edge.head.port)
    child = group.children[edge.head.child]
    return layers.cell_of[(edge.head.child, edge.head.port if is_wide(child) else 0)]
