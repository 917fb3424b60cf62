"""What flows through a group: the edges laid out in ranks, the main stream, and what meets it.

What enters a box beside the stream is a branch of the same source (two projections meet in a
product), or one thing more (a gate, a bias, a memory).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import permutations

from transformer_diagrams.graph.ir import BORDER, Edge, End, Group, Node
from transformer_diagrams.records import dataclass

PLAIN = ("a", "b")  # names of operands that tell no more than their places


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

    An output that others are made from is a tap: the stream goes on to what is made last. In a
    ``nested`` group that is always the first input's stream, since the stream around it goes on
    there; what comes only from ``flanked`` inputs (see ``aside``) steps aside. Returns the edge
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
        if sinks:
            child = _made_last(group, [End(sink, 0) for sink in sinks]).child
    elif not nested:
        port = _made_last(group, [End(BORDER, n) for n in range(len(group.outputs))]).port
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


def _made_last(group: Group, ends: list[End]) -> End:
    """The first of some outputs, or the last of those that are made from it."""
    feeds = _feeds_of(_Same(group))
    tails = {edge.head: edge.tail for edge in group.edges if edge.kind != "residual"}
    last = ends[0]
    for end in ends[1:]:
        if last in tails and end in tails and _went_into(feeds, tails[last], tails[end]):
            last = end
    return last


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


def meets_of(group: Group, nested: bool, flanked: int) -> list[int]:
    """The children of the stream in which branches of one source meet, the last one first."""
    feeds = _feeds_of(_Same(group))
    found: list[int] = []
    for number in spine_of(group, nested, flanked)[0]:
        tail, child = group.edges[number].tail, group.edges[number].head.child
        if child == BORDER or is_wide(group.children[child]):
            continue
        ends = {edge.tail for edge in feeds.into.get(child, ())}
        if isinstance(group.children[child], Node) and any(
            _kin(feeds, group, tail, end) for end in ends if end != tail
        ):
            found.append(child)
    return found


def parting_of(group: Group, nested: bool, flanked: int, meet: int) -> End | None:
    """The end below ``meet`` at which the stream parts into what comes together there."""
    readers: dict[End, set[int]] = defaultdict(set)
    for edge in group.edges:
        if edge.kind != "residual":
            readers[edge.tail].add(edge.head.child)
    below = False
    for number in spine_of(group, nested, flanked)[0]:
        edge = group.edges[number]
        below = below or edge.head.child == meet
        if below and len(readers[edge.tail]) > 1:
            return edge.tail
    return None


def fed_from_below(
    group: Group, spine: set[int], nested: bool, flanked: int, sided: bool
) -> dict[int, int]:
    """The input that comes from below, for each child whose other inputs come from its sides.

    Circles are such children; if ``sided``, so are boxes that a stream goes through with one
    thing more that is no branch of it.
    """
    feeds = _feeds_of(_Same(group))
    drawn: dict[int, dict[int, End]] = defaultdict(dict)
    for _, edge in flow_of(group):
        drawn[edge.head.child][edge.head.port] = edge.tail
    streams = {group.edges[i].head.child: group.edges[i].head.port for i in spine}
    below: dict[int, int] = {}
    for index, child in enumerate(group.children):
        if not isinstance(child, Node) or is_wide(child):
            continue
        main = streams.get(index)
        if main is None:
            main = main_port(group, index, 0, nested, flanked)
        tails = drawn[index]
        box = sided and child.form == "box" and not child.stack and main in tails
        if box and child.ordered and not child.alike and child.inputs[0].name in PLAIN:
            box = False  # of a product or difference neither operand is beside the other
        others = [tail for port, tail in tails.items() if port != main]
        one_more = box and len(others) == 1 and not _kin(feeds, group, tails[main], others[0])
        if child.form == "circle" or one_more:
            below[index] = main
    return below


def _kin(feeds: _Feeds, group: Group, one: End, two: End) -> bool:
    """True for two branches of one source, neither made from the other, and for two groups."""
    if one == two:
        return True
    if BORDER in (one.child, two.child):
        return False
    groups = [isinstance(group.children[end.child], Group) for end in (one, two)]
    if any(groups):
        return all(groups)
    shared = _outer_bits(feeds.outer, one) & _outer_bits(feeds.outer, two)
    return bool(shared) and not _went_into(feeds, one, two) and not _went_into(feeds, two, one)
