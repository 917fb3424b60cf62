"""A group's children in ranks: longest path, with a dummy on every rank that an edge passes.

Before: a group of the graph (acyclic). After: cells by rank, and segments that join neighbouring
ranks only. Edges of one source share their dummies, so a fan-out is one bus that branches late.
(Sugiyama, Tagawa, Toda 1981; the shared dummies are ours.)
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from transformer_diagrams.graph.ir import BORDER, Edge, Group, Node


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
    beside: int = -1  # dummy: the circle it enters from the side
    lean: str = ""  # in: "low" or "high" when it comes from that flank
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
    in_cell: dict[int, int] = field(default_factory=dict)
    out_cell: dict[int, int] = field(default_factory=dict)
    # where along its cell a port lies that cannot move: (cell, "in" | "out", port) -> 0..1
    fixed: dict[tuple[int, str, int], float] = field(default_factory=dict)

    def tail_shift(self, seg: Segment) -> float:
        """Order of a segment among those that leave its tail."""
        return 0.001 * self.fixed.get((seg.tail, "out", seg.tail_port), 0.0)

    def head_shift(self, seg: Segment) -> float:
        """Order of a segment among those that enter its head."""
        return 0.001 * self.fixed.get((seg.head, "in", seg.head_port), 0.0)


def flow_of(group: Group) -> list[tuple[int, Edge]]:
    """The edges that are laid out in ranks, with their numbers.

    Residual paths run beside the stack. Where one tensor enters a closed box several times
    (self-attention read as queries, keys and values), one line says it.
    """
    flow: list[tuple[int, Edge]] = []
    drawn: set[tuple[int, int, int]] = set()
    for number, edge in enumerate(group.edges):
        if edge.kind == "residual":
            continue
        head = group.children[edge.head.child] if edge.head.child != BORDER else None
        if isinstance(head, Node) and head.op == "use":
            key = (edge.tail.child, edge.tail.port, edge.head.child)
            if key in drawn:
                continue
            drawn.add(key)
        flow.append((number, edge))
    return flow


def is_wide(child: Node | Group) -> bool:
    """True for a box drawn across several lanes: what enters lane i leaves lane i (a cache)."""
    return (
        isinstance(child, Node)
        and child.op == "cache"
        and len(child.inputs) > 1
        and len(child.inputs) == len(child.outputs)
    )


def spine_of(group: Group, nested: bool = True) -> tuple[list[int], int]:
    """The main stream of a group: its edges from the first output back to an input.

    In a ``nested`` group that is always the first input's stream, since the stream around it goes
    on there. Returns the edge indices and the border input port it starts from (-1: none).
    """
    into: dict[tuple[int, int], int] = {}
    for index, edge in enumerate(group.edges):
        if edge.kind != "residual":
            into.setdefault((edge.head.child, edge.head.port), index)
    child, port = BORDER, 0
    if not group.outputs:
        sinks = [
            i for i, c in enumerate(group.children) if isinstance(c, Node) and c.op == "output"
        ]
        tails = {e.tail.child for e in group.edges}
        ends = sinks or [i for i in range(len(group.children)) if i not in tails]
        if not ends:
            return [], -1
        child, port = ends[0], 0
    edges: list[int] = []
    seen: set[int] = set()
    while (child, port) in into:
        index = into[(child, port)]
        edges.append(index)
        edge = group.edges[index]
        if edge.tail.child == BORDER:
            return edges, edge.tail.port
        child = edge.tail.child
        if child in seen:
            break
        seen.add(child)
        port = main_port(group, child, edge.tail.port, nested)
    return edges, -1


def main_port(group: Group, index: int, out_port: int, nested: bool = True) -> int:
    """The input that carries the main stream through a child of ``group``.

    The first one; in a figure of its own, the middle one of three or more that come from equal
    neighbours (queries, keys and values from three projections), so that it is symmetric.
    """
    child = group.children[index]
    if is_wide(child):
        return out_port
    if isinstance(child, Group):
        return max(spine_of(child, nested=group.kind != "root")[1], 0)
    if nested and group.kind != "root" and len(group.inputs) > 1:
        return 0
    count = len(child.inputs)
    if count < 3:
        return 0
    tails = {
        e.head.port: e.tail for e in group.edges if e.head.child == index and e.kind != "residual"
    }
    if len(tails) < count:
        return 0
    if all(t.child == BORDER for t in tails.values()):
        return count // 2
    sources = [group.children[t.child] for t in tails.values() if t.child != BORDER]
    kinds = {s.op for s in sources if isinstance(s, Node)}
    distinct = {t.child for t in tails.values()}
    alike = len(sources) == count == len(distinct) and len(kinds) == 1
    return count // 2 if alike else 0


def build_layers(group: Group, sides: Mapping[tuple[str, int], str], nested: bool = True) -> Layers:
    """Ranks and dummies of a group.

    ``sides`` maps ("in", port) or ("out", port) to "low" or "high" for ports on the flanks;
    those have no cell: their wires run in a channel to the border. ("lean", port) names an input
    that lies at the start but comes from a flank: it stands outermost there.
    """
    layers = Layers()
    children = group.children
    flow = flow_of(group)
    rank = _ranks(group, flow)
    spine = set(spine_of(group, nested)[0])

    def add(cell: Cell) -> int:
        cell.index = len(layers.cells)
        layers.cells.append(cell)
        return cell.index

    top = max(rank, default=0) + 1
    for port in range(len(group.inputs)):
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
        if tail is None or head is None:
            layers.paths[index] = [c for c in (tail, head) if c is not None]
            continue
        first, last = layers.cells[tail].rank, layers.cells[head].rank
        path = [tail]
        target = layers.cells[head]
        side_entry = (
            target.kind == "child"
            and isinstance(node := children[target.child], Node)
            and node.form == "circle"
            and index not in spine
            and edge.head.port != 0
        )
        stop = last + 1 if side_entry else last
        for level in range(first + 1, stop):
            beside = head if level == last else -1
            where = (net, level) if beside < 0 else (-1 - index, level)
            if where not in dummies:
                dummies[where] = add(Cell(0, "dummy", level, net=net, beside=beside))
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


def _ranks(group: Group, flow: list[tuple[int, Edge]]) -> list[int]:
    """Longest-path ranks from 1; a child without inputs sits one rank below its first reader."""
    count = len(group.children)
    waits = [0] * count
    readers: dict[int, list[int]] = defaultdict(list)
    fed = [False] * count
    for _, edge in flow:
        head, tail = edge.head.child, edge.tail.child
        if head == BORDER:
            continue
        fed[head] = True
        if tail != BORDER:
            waits[head] += 1
            readers[tail].append(head)
    rank = [1] * count
    ready = deque(i for i in range(count) if not waits[i])
    order: list[int] = []
    while ready:
        index = ready.popleft()
        order.append(index)
        for reader in readers[index]:
            rank[reader] = max(rank[reader], rank[index] + 1)
            waits[reader] -= 1
            if not waits[reader]:
                ready.append(reader)
    for index in reversed(order):
        if not fed[index] and readers[index]:
            rank[index] = min(rank[r] for r in readers[index]) - 1
    lowest = min(rank, default=1)
    return [r - lowest + 1 for r in rank]


def alone_in_rank(group: Group) -> set[int]:
    """Children that share their rank with no other box (names of inputs do not count)."""
    rank = _ranks(group, flow_of(group))
    count: dict[int, int] = defaultdict(int)
    boxes = [not (isinstance(c, Node) and c.form == "text") for c in group.children]
    for level, is_box in zip(rank, boxes, strict=True):
        count[level] += is_box
    return {i for i, level in enumerate(rank) if boxes[i] and count[level] == 1}
