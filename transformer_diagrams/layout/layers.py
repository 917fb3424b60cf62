"""A group's children in ranks: longest path, with a dummy on every rank that an edge passes.

Before: a group of the graph (acyclic). After: cells by rank, and segments that join neighbouring
ranks only. Edges of one source share their dummies, so a fan-out is one bus that branches late.
(Sugiyama, Tagawa, Toda 1981; the shared dummies are ours.)
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from itertools import pairwise, permutations

from transformer_diagrams.graph.ir import BORDER, Edge, End, Group, Node
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
    beside: int = -1  # dummy: the circle that its line enters at the side
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
    entry_of: dict[int, int] = field(default_factory=dict)  # edge into a circle's side -> dummy
    in_cell: dict[int, int] = field(default_factory=dict)
    out_cell: dict[int, int] = field(default_factory=dict)
    lane: str = "high"  # the side of residual paths
    # lines from or to a flank: (cell, side, channel, True when it comes from there)
    flanks: list[tuple[int, str, int, bool]] = field(default_factory=list)
    # what it costs, in crossings, that two operands of a cell stand in the other order
    swap_cost: dict[int, float] = field(default_factory=dict)
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
    (self-attention read as queries, keys and values), one line says it, unless it has words.
    """
    flow: list[tuple[int, Edge]] = []
    drawn: set[tuple[int, int, int, str]] = set()
    for number, edge in enumerate(group.edges):
        if edge.kind == "residual":
            continue
        head = group.children[edge.head.child] if edge.head.child != BORDER else None
        if isinstance(head, Node) and head.op == "use":
            key = (edge.tail.child, edge.tail.port, edge.head.child, edge.label)
            if key in drawn:
                continue
            drawn.add(key)
        flow.append((number, edge))
    return flow


def is_wide(child: Node | Group) -> bool:
    """True for a box drawn across several lanes."""
    return isinstance(child, Node) and child.lanes


def output_places(node: Node) -> list[int]:
    """The place of each output among those of its box: -1 where all are one tensor."""
    places = [node.outputs.index(port) for port in node.outputs]
    return places if len(set(places)) > 1 else [-1] * len(places)


def aside(sides: Mapping[tuple[str, int], str]) -> int:
    """The inputs of a group that come from its flanks, as bits of ``_Feeds.outer``."""
    return sum(2 << port for kind, port in sides if kind in ("in", "lean"))


def spine_of(group: Group, nested: bool = True, flanked: int = 0) -> tuple[list[int], int]:
    """The main stream of a group: its edges from the first output back to an input.

    In a ``nested`` group that is always the first input's stream, since the stream around it goes
    on there; what comes only from ``flanked`` inputs (see ``aside``) steps aside. Returns the edge
    indices and the border input port it starts from (-1: none).
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
        child, port = ends[0], main_port(group, ends[0], 0, nested, flanked)
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
        port = main_port(group, child, edge.tail.port, nested, flanked)
    return edges, -1


def main_port(
    group: Group, index: int, out_port: int, nested: bool = True, flanked: int = 0
) -> int:
    """The input that carries the main stream through a child of ``group``.

    The first one that does not come from constants alone nor, among alike ones, only skips over
    what another has gone through; in a figure of its own, the middle one of three or more that
    come from equal neighbours (queries, keys and values from three projections), so that it is
    symmetric.
    """
    child = group.children[index]
    if is_wide(child):
        return out_port
    if isinstance(child, Group):
        return max(spine_of(child, nested=group.kind != "root")[1], 0)
    count = len(child.inputs)
    if count < 2:
        return 0
    tails = {e.head.port: e.tail for e in _feeds_of(_Same(group)).into.get(index, ())}
    first = _worked_on(group, tails, child.alike, flanked)
    if count < 3 or len(tails) < count:
        return first
    if nested and group.kind != "root" and len(group.inputs) > 1:
        return first
    if all(t.child == BORDER for t in tails.values()):
        return count // 2
    sources = [group.children[t.child] for t in tails.values() if t.child != BORDER]
    kinds = {s.op for s in sources if isinstance(s, Node)}
    distinct = {t.child for t in tails.values()}
    alike = len(sources) == count == len(distinct) and len(kinds) == 1
    feeds = _feeds_of(_Same(group))
    beside = alike and not any(_went_into(feeds, a, b) for a, b in permutations(tails.values(), 2))
    return count // 2 if beside else first


class _Same:
    """A group by identity, as a key."""

    __slots__ = ("group",)

    def __init__(self, group: Group) -> None:
        self.group = group

    def __hash__(self) -> int:
        return id(self.group)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.group is other.group


@dataclass(frozen=True, slots=True)
class _Feeds:
    """What enters each child, and from where that comes in the end; residual paths left out.

    into   edges by the child that they enter (or BORDER)
    outer  by child: a bit for each border input that went into it, and bit 0 for an input node
    """

    into: Mapping[int, list[Edge]]
    outer: Mapping[int, int]


@lru_cache(maxsize=64)
def _feeds_of(same: _Same) -> _Feeds:
    group = same.group
    into: dict[int, list[Edge]] = defaultdict(list)
    for edge in group.edges:
        if edge.kind != "residual":
            into[edge.head.child].append(edge)
    outer: dict[int, int] = {}
    for index, child in enumerate(group.children):  # sources stand before their readers
        bits = 1 if isinstance(child, Node) and child.op == "input" else 0
        for edge in into.get(index, ()):
            bits |= _outer_bits(outer, edge.tail)
        outer[index] = bits
    return _Feeds(into, outer)


def _outer_bits(outer: Mapping[int, int], end: End) -> int:
    return 2 << end.port if end.child == BORDER else outer.get(end.child, 0)


def _worked_on(group: Group, tails: Mapping[int, End], alike: bool, flanked: int) -> int:
    """The first operand that comes from more than constants and flanks; of alike ones, no skip."""
    distinct = set(tails.values())
    if len(distinct) < 2:
        return 0
    feeds = _feeds_of(_Same(group))
    given = {end for end in distinct if _outer_bits(feeds.outer, end) & ~flanked}
    for port in sorted(tails):
        end = tails[port]
        skips = alike and any(_went_into(feeds, end, other) for other in distinct if other != end)
        if not skips and (end in given or not given):
            return port
    return 0


def _went_into(feeds: _Feeds, end: End, other: End) -> bool:
    """True where the tensor at ``end`` is one of those that ``other`` was made from."""
    if other.child == BORDER:
        return False
    if end.child == BORDER:
        return bool(feeds.outer.get(other.child, 0) & _outer_bits(feeds.outer, end))
    todo, seen = [other.child], {other.child}
    while todo:
        for edge in feeds.into.get(todo.pop(), ()):
            if edge.tail == end:
                return True
            if edge.tail.child > end.child and edge.tail.child not in seen:
                seen.add(edge.tail.child)
                todo.append(edge.tail.child)
    return False


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
    flanked = aside(sides)
    spine = set(spine_of(group, nested, flanked)[0])
    below = _fed_from_below(group, spine, nested, flanked)

    def add(cell: Cell) -> int:
        cell.index = len(layers.cells)
        layers.cells.append(cell)
        return cell.index

    top = max(rank, default=0) + 1
    ports = list(range(len(group.inputs)))
    if group.kind == "residual":  # its lane runs on one side: what else enters comes from the other
        lanes = {e.tail.port for e in group.edges if e.kind == "residual"}
        high = {p for p in ports if sides.get(("lean", p)) == "high"} - lanes
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
    circles = {i for i, c in enumerate(children) if isinstance(c, Node) and c.form == "circle"}
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
        into_circle = edge.head.child in circles and head is not None
        flank = sides.get(("in", edge.tail.port), "") if edge.tail.child == BORDER else ""
        if into_circle and flank and head is not None:
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
        side_entry = into_circle and edge.head.port != below[edge.head.child]
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
    layers.ranks = [[] for _ in range(top + 1)]
    for cell in layers.cells:
        layers.ranks[cell.rank].append(cell.index)
    return layers


def _fed_from_below(
    group: Group, spine: set[int], nested: bool, flanked: int
) -> dict[int, int]:
    """The input of each circle that enters it from below; all others come from its sides."""
    ports = {group.edges[i].head.child: group.edges[i].head.port for i in spine}
    return {
        index: ports[index] if index in ports else main_port(group, index, 0, nested, flanked)
        for index, child in enumerate(group.children)
        if isinstance(child, Node) and child.form == "circle"
    }


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
