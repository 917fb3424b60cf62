"""Parts that run in a direction of their own: laid out in it, then turned into the flow around.

Before: a graph whose groups may ask for a direction. After `set_turns` each such group stands in
one of kind "turned"; `place_turned` lays that out: the part with its own flow, and lines around
it that lead the flow outside to its first side and from its last one. They come and go in the
middle, so that the stream around it stays straight, and meet nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transformer_diagrams.graph.ir import BORDER, Edge, End, Graph, Group, Node
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.placed import Gate, Placed, Point, Spot, Wire, straightened
from transformer_diagrams.layout.stages import Place

CLEAR = 10.0  # from the part to the first line that goes around it
APART = 14.0  # between lines that come in, or go out, side by side
Turn = Callable[[float, float], Point]


def set_turns(graph: Graph, direction: str) -> Graph:
    """``graph``, which runs in ``direction``, with every part that does not made a turned one."""
    callouts = tuple(
        replace(c, group=_with_turns(c.group, c.group.direction or direction))
        for c in graph.callouts
    )
    return replace(graph, root=_with_turns(graph.root, direction), callouts=callouts)


def _with_turns(group: Group, flow: str) -> Group:
    """``group``, which itself runs in ``flow``; a column stays one, with the turned part in it."""
    children: list[Node | Group] = []
    for child in group.children:
        if isinstance(child, Group):
            own = child.direction or flow
            child = replace(_with_turns(child, own), direction="")
            if own != flow:
                child = _alone(replace(child, direction=own), "turned")
                child = _alone(child, "group") if group.kind == "columns" else child
        children.append(child)
    same = all(a is b for a, b in zip(children, group.children, strict=True))
    return group if same else replace(group, children=tuple(children))


def _alone(part: Group, kind: str) -> Group:
    edges = [Edge(End(BORDER, n), End(0, n), shape=p.shape) for n, p in enumerate(part.inputs)]
    edges += [Edge(End(0, n), End(BORDER, n), shape=p.shape) for n, p in enumerate(part.outputs)]
    path = f"{part.path}#{kind}"
    return Group(path, kind, (part,), tuple(edges), part.inputs, part.outputs, span=part.span)


def place_turned(group: Group, ctx: Context, place: Place) -> Placed:
    """Lay out a group of kind "turned"."""
    part = group.children[0]
    assert isinstance(part, Group)
    own = replace(ctx, direction=part.direction)
    inner = place(part, own, {}, True)
    turn = turning(inner, part.direction, ctx.direction)
    ins = {port: turn(*_at(gate, inner)) for port, gate in inner.ins.items()}
    outs = {port: turn(*_at(gate, inner)) for port, gate in inner.outs.items()}
    turned(inner, part.direction, ctx.direction)
    ends = {turn(0.0, 0.0), turn(1.0, 0.0)}  # on the side where its flow begins
    against = len({v for _, v in ends}) == 1
    mirrored = not against and min(u for u, _ in ends) > inner.width / 2
    step = ctx.sizes.track_gap
    many, few = len(ins), len(outs)
    sheet = 2 * ctx.sizes.stack_offset if part.stack else 0.0
    low = CLEAR + step * (many + (few if against else 0))
    top = low + inner.length + sheet + CLEAR
    left = CLEAR + step * many
    right = left + inner.width + sheet + CLEAR
    out = Placed()
    out.width = right + step * few + 4.0
    out.length = top + step * (few + (many if against else 0)) + 4.0
    middle = out.ref = left + inner.width / 2
    high = top + (step * many if against else 0.0)  # where the lines that go out turn back

    def flip(u: float) -> float:
        return out.width - u if mirrored else u

    spot_u = flip(left + inner.width) if mirrored else left

    def whole(port: int, at: dict[int, Point]) -> Point:
        return flip(spot_u + at[port][0]), low + at[port][1]

    for end, at in (("in", ins), ("out", outs)):
        count = len(at)
        places = {port: whole(port, at) for port in at}
        if against:
            order = sorted(places, key=lambda p: places[p][0], reverse=end == "out")
            order = order[::-1] if end == "in" else order
        else:
            order = sorted(places, key=lambda p: -places[p][1])
        for n, port in enumerate(order):
            u, v = places[port]
            start = middle + (n - (count - 1) / 2) * APART
            if end == "in":
                track, lane = 4.0 + n * step, 4.0 + n * step
                points = [(start, 0.0), (start, track), (lane, track)]
                if against:
                    back = top + (many - 1 - n) * step - CLEAR / 2
                    points += [(lane, back), (u, back), (u, v)]
                else:
                    points += [(lane, v), (u, v)]
                out.ins[port] = Gate("start", flip(start))
            else:
                lane, track = right + n * step, high + n * step - CLEAR / 2
                points = [(u, v)]
                if against:
                    back = low - CLEAR / 2 - n * step
                    points += [(u, back), (lane, back)]
                else:
                    points += [(lane, v)]
                points += [(lane, track), (start, track), (start, out.length)]
                out.outs[port] = Gate("end", flip(start))
            made = straightened([(flip(a), b) for a, b in points])
            number = next(
                i for i, e in enumerate(group.edges) if (e.tail if end == "in" else e.head)
                == End(BORDER, port)
            )  # fmt: skip
            out.wires.append(Wire(number, made))
    out.ref = flip(middle)
    out.spots.append(Spot(0, spot_u, low, inner.width, inner.length, inner))
    return out


def _at(gate: Gate, placed: Placed) -> Point:
    return {
        "start": (gate.at, 0.0),
        "end": (gate.at, placed.length),
        "low": (0.0, gate.at),
        "high": (placed.width, gate.at),
    }[gate.side]


def turning(placed: Placed, own: str, flow: str) -> Turn:
    """From places in the flow ``own`` to the same places on paper, in the flow around."""
    width, length = placed.width, placed.length
    tall = width if own == "right" else length

    def turn(u: float, v: float) -> Point:
        x, y = (v, u) if own == "right" else (u, length - v if own == "up" else v)
        return (y, x) if flow == "right" else (x, tall - y if flow == "up" else y)

    return turn


def turned(placed: Placed, own: str, flow: str) -> None:
    """Turn a placed group, and all that is inside it, into the flow around it, on the spot.

    Its gates are those of the flow of its own: who places it has read them before.
    """
    turn = turning(placed, own, flow)

    def rect(u: float, v: float, du: float, dv: float) -> tuple[float, float, float, float]:
        (a, b), (c, d) = turn(u, v), turn(u + du, v + dv)
        return min(a, c), min(b, d), abs(c - a), abs(d - b)

    for spot in placed.spots:
        spot.u, spot.v, spot.du, spot.dv = rect(spot.u, spot.v, spot.du, spot.dv)
        if spot.inside is not None:
            turned(spot.inside, own, flow)
    for note in placed.notes:
        note.u, note.v, note.du, note.dv = rect(note.u, note.v, note.du, note.dv)
    for wire in placed.wires:
        wire.points = [turn(u, v) for u, v in wire.points]
    if "right" in (own, flow):
        placed.width, placed.length = placed.length, placed.width
    placed.lane = None
