"""Columns side by side (encoder and decoder, teacher and student), and the lines between them.

Before: a `columns` group, its columns not yet laid out. After: they stand on one base line, or
higher where that makes a line between them straight and costs less; a line from one column to
another runs in the gutter and enters the other's flank.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from transformer_diagrams.graph.ir import BORDER, Group
from transformer_diagrams.layout.channels import Net, assign_tracks
from transformer_diagrams.layout.cost import cost
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.placed import (
    KINKED,
    SAME,
    Gate,
    Placed,
    Point,
    Spot,
    Wire,
    straightened,
)
from transformer_diagrams.theme import Sizes

Sides = dict[tuple[str, int], str]
Pairs = list[tuple[int, float]]
Place = Callable[[Group, Context, Sides, bool], Placed]
RAISED = 20.0  # what it costs that a column does not stand on the base line
ENTRY = 6.0  # from the group's start to the first track of its inputs
RISE = 12.0  # from a column's top to the first track above it


def place_columns(group: Group, ctx: Context, sides: Sides, place: Place) -> Placed:
    """Lay out a group of columns."""
    # its ports always lie at its start and end; in which order those around it are, may be said
    wish = {port: int(place) for (kind, port), place in sides.items() if kind == "order in"}
    wanted: list[Sides] = [{} for _ in group.children]
    for edge in group.edges:
        tail, head = edge.tail.child, edge.head.child
        if tail != BORDER and head != BORDER:
            wanted[tail]["told", edge.tail.port] = "here"  # no text stands between columns
            wanted[head][("in", edge.head.port)] = "low" if tail < head else "high"
            if not _leaves_on_top(group, tail, edge.tail.port):
                wanted[tail][("out", edge.tail.port)] = "high" if tail < head else "low"
    columns = [
        place(child, ctx, side, True)  # type: ignore[arg-type]
        for child, side in zip(group.children, wanted, strict=True)
    ]
    found = _stood(group, columns, [0.0] * len(columns), ctx.sizes, wish)
    heights, least = [0.0] * len(columns), cost(group, found)
    for index in range(len(columns)):
        for height in _straight(group, columns, heights, index):
            tried = [*heights[:index], height, *heights[index + 1 :]]
            raised = RAISED * sum(height > 0 for height in tried)
            spent = cost(group, _stood(group, columns, tried, ctx.sizes, wish)) + raised
            if spent < least - SAME:
                heights, least = tried, spent
    found = _stood(group, columns, heights, ctx.sizes, wish)
    found.cost = least + sum(column.cost for column in columns)
    return found


def _straight(
    group: Group, columns: list[Placed], heights: list[float], index: int
) -> Iterator[float]:
    """The heights of a column at which a line from or to another column runs straight across."""
    for edge in group.edges:
        tail, head = edge.tail.child, edge.head.child
        if BORDER in (tail, head) or index not in (tail, head):
            continue
        gate = columns[tail].outs[edge.tail.port]
        leaves = columns[tail].length + RISE if gate.side == "end" else gate.at
        apart = leaves + heights[tail] - columns[head].ins[edge.head.port].at - heights[head]
        height = heights[index] + (apart if index == head else -apart)
        if height > SAME:
            yield height


def _stood(
    group: Group,
    columns: list[Placed],
    heights: list[float],
    s: Sizes,
    wish: Mapping[int, int],
) -> Placed:
    """The columns at their heights, and all lines from and to them."""
    out = Placed()
    branched = _branched(group)
    lift = ENTRY + s.track_gap * (len(branched) - 1) + s.line_corner + 2.0 if branched else 0.0
    heights = [lift + height for height in heights]
    runs = _plan(group, columns, heights, s.track_gap)
    lanes = _lanes(runs)
    u = 0.0
    for index, placed in enumerate(columns):
        out.spots.append(Spot(index, u, heights[index], placed.width, placed.length, placed))
        nets = {net for gutter, net in lanes if gutter == index}
        u += placed.width + s.gap_column + 10.0 + s.track_gap * len(nets)
    out.width = max((sp.u + sp.du for sp in out.spots), default=0.0)
    out.length = max(
        [
            *(spot.v + spot.dv for spot in out.spots),
            *(r.level + 4.0 for r in runs if r.level is not None),
        ],
        default=0.0,
    )
    _enter(group, columns, out, branched, s.track_gap, wish)
    for run in runs:

        def lane(gutter: int, net: tuple[int, int] = run.net) -> float:
            spot = out.spots[gutter]
            return spot.u + spot.du + 14.0 + s.track_gap * max(lanes[(gutter, net)], 0)

        points = _points(run, out.spots, columns[run.net[0]].outs[run.net[1]], lane)
        out.wires.append(Wire(run.edge, straightened(points)))
    for number, edge in enumerate(group.edges):
        if edge.head.child == BORDER and edge.tail.child != BORDER:
            spot = out.spots[edge.tail.child]
            gate = columns[edge.tail.child].outs[edge.tail.port]
            at = spot.u + gate.at
            out.outs[edge.head.port] = Gate("end", at)
            out.wires.append(Wire(number, [(at, spot.v + spot.dv), (at, out.length)]))
    first_out = next((e for e in group.edges if e.head.child == BORDER and e.head.port == 0), None)
    if first_out is not None:
        out.ref = out.outs[0].at
        out.spine = frozenset({group.edges.index(first_out)})
    return out


def _branched(group: Group) -> list[int]:
    """The inputs that several columns read."""
    readers = Counter(edge.tail.port for edge in group.edges if edge.tail.child == BORDER)
    return [port for port, count in readers.items() if count > 1]


def _enter(
    group: Group,
    columns: list[Placed],
    out: Placed,
    branched: list[int],
    track: float,
    wish: Mapping[int, int],
) -> None:
    """The lines of the inputs: straight up to one reader, to the others below the columns.

    That is the first one, if the inputs then come in their order.
    """
    heads: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
    for number, edge in enumerate(group.edges):
        if edge.tail.child == BORDER:
            spot = out.spots[edge.head.child]
            at = spot.u + columns[edge.head.child].ins[edge.head.port].at
            heads[edge.tail.port].append((number, at, spot.v))
    gates = {port: many[0][1] for port, many in heads.items()}
    for port in branched:
        others = [(other, gate) for other, gate in gates.items() if other not in branched]

        def swapped(at: float, port: int = port, others: Pairs = others) -> int:
            here = wish.get(port, port)
            return sum((wish.get(o, o) < here) != (gate < at) for o, gate in others)

        gates[port] = min((at for _, at, _ in heads[port]), key=swapped)
    nets = [Net((gates[port],), tuple(at for _, at, _ in heads[port])) for port in branched]
    levels = dict(zip(branched, assign_tracks(nets), strict=True))
    for port, many in heads.items():
        gate = gates[port]
        out.ins[port] = Gate("start", gate)
        v = ENTRY + track * max(levels.get(port, 0), 0)
        for number, at, end in many:
            out.wires.append(
                Wire(number, straightened([(gate, 0.0), (gate, v), (at, v), (at, end)]))
            )


@dataclass(slots=True)
class _Run:
    """A line from one column to another, along the flow.

    leaves   v where it leaves its column's flank; None: it leaves over the top
    level    v at which it runs over the columns, or None where it stays in one gutter
    target   v where it enters the other column
    """

    edge: int
    net: tuple[int, int]
    head: int
    leaves: float | None
    level: float | None
    target: float

    @property
    def gutters(self) -> tuple[int, int]:
        """The gutters beside the column it leaves and beside the one it enters."""
        tail = self.net[0]
        return (tail, self.head - 1) if tail < self.head else (tail - 1, self.head)


def _plan(
    group: Group, columns: list[Placed], heights: list[float], track: float
) -> list[_Run]:
    """Where every line between columns runs: one level over the columns for each tensor."""
    runs: list[_Run] = []
    over: dict[tuple[int, int], float] = {}  # the least level of a tensor that runs over columns
    for number, edge in enumerate(group.edges):
        tail, head = edge.tail.child, edge.head.child
        if BORDER in (tail, head):
            continue
        gate, net = columns[tail].outs[edge.tail.port], (tail, edge.tail.port)
        passed = range(tail + 1, head) if tail < head else range(head + 1, tail)
        top = max((heights[i] + columns[i].length for i in passed), default=0.0)
        leaves = None if gate.side == "end" else heights[tail] + gate.at
        ends = heights[tail] + columns[tail].length
        best = max(ends, top) + RISE if leaves is None else leaves
        columns[head].move_gate(edge.head.port, best - heights[head])
        target = heights[head] + columns[head].ins[edge.head.port].at
        runs.append(_Run(number, net, head, leaves, None, target))
        if (leaves is None and runs[-1].target < best - 1.0) or (leaves is not None and top):
            runs[-1].level = max(best, top + RISE, runs[-1].target + KINKED)
            over[net] = max(over.get(net, 0.0), runs[-1].level)
    settled: dict[tuple[int, int], float] = {}
    for net, level in over.items():
        taken = [r.target for r in runs if r.net != net]
        taken += [r.leaves for r in runs if r.net != net and r.leaves is not None]
        taken += settled.values()
        while any(abs(v - level) < track - SAME for v in taken):
            level += track
        settled[net] = level
    for run in runs:
        run.level = settled[run.net] if run.level is not None else None
    return runs


def _lanes(runs: list[_Run]) -> dict[tuple[int, tuple[int, int]], int]:
    """The track of each tensor in each gutter, counted from the left; -1: it runs straight."""
    found: dict[int, dict[tuple[int, int], tuple[list[float], list[float], float | None]]] = {}
    for run in runs:
        near, far = run.gutters
        rightward = run.net[0] < run.head
        ends: list[tuple[int, bool, float]] = [(far, not rightward, run.target)]
        if run.leaves is not None:
            ends.append((near, rightward, run.leaves))
        for gutter, on_left, v in ends:
            nets = found.setdefault(gutter, {})
            left, right, level = nets.get(run.net, ([], [], None))
            (left if on_left else right).append(v)
            nets[run.net] = (left, right, run.level if level is None else level)
    return {
        (gutter, net): track
        for gutter, nets in found.items()
        for net, track in zip(
            nets,
            assign_tracks([Net(tuple(a), tuple(b), level) for a, b, level in nets.values()]),
            strict=True,
        )
    }


def _points(
    run: _Run, spots: list[Spot], gate: Gate, lane: Callable[[int], float]
) -> list[Point]:
    """The corners of a run, from its column's border to the other's."""
    a, b = spots[run.net[0]], spots[run.head]
    rightward = run.net[0] < run.head
    near, far = run.gutters
    end = (b.u if rightward else b.u + b.du, run.target)
    if run.leaves is None:
        start = (a.u + gate.at, a.v + a.dv)
        if run.level is None:
            return [start, (start[0], run.target), end]
        return [start, (start[0], run.level), (lane(far), run.level), (lane(far), run.target), end]
    start = (a.u + a.du if rightward else a.u, run.leaves)
    if run.level is None:
        return [start, (lane(far), run.leaves), (lane(far), run.target), end]
    return [
        start,
        (lane(near), run.leaves),
        (lane(near), run.level),
        (lane(far), run.level),
        (lane(far), run.target),
        end,
    ]


def _leaves_on_top(group: Group, child: int, port: int) -> bool:
    """True when a column's output is its last tensor, so that the line can leave over its top."""
    column = group.children[child]
    if not isinstance(column, Group):
        return True
    source = next((e for e in column.edges if e.head.child == BORDER and e.head.port == port), None)
    if source is None or source.tail.child == BORDER:
        return True
    return not any(
        e.tail.child == source.tail.child and e.head.child != BORDER for e in column.edges
    )
