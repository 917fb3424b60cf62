"""Call-outs: what a box holds, laid out beside the figure, with a thin line from the box to it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, product

from transformer_diagrams.graph.ir import BORDER, Callout, Edge, End, Graph, Group, Node, Port
from transformer_diagrams.layout.group import place
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.paper import Paper, rounded
from transformer_diagrams.layout.placed import KINKED, Placed, Point, straightened
from transformer_diagrams.layout.scene import Line, Rect
from transformer_diagrams.layout.turned import turned
from transformer_diagrams.records import dataclass

ALONG = 6.0  # points: parallel pieces nearer than this are taken for one
Room = tuple[float, float, float, float]  # u, v, du, dv


@dataclass(frozen=True, slots=True)
class Part:
    """A placed top-level group at its corner: the figure itself, or a call-out.

    A call-out names the box it explains (``anchor``), the group that is framed, and where that
    frame lies: its left side u, its lower v and its length.
    """

    group: Group
    placed: Placed
    u: float
    v: float
    anchor: str = ""
    framed: str = ""
    frame: tuple[float, float, float] = (0.0, 0.0, 0.0)


def place_callouts(graph: Graph, main: Part, ctx: Context) -> list[Part]:
    """Call-outs, each beside the box it explains, one column of them."""
    parts: list[Part] = []
    u = main.placed.width + ctx.sizes.figure_gap
    wanted: list[tuple[float, Callout, Group, Placed]] = []
    for callout in graph.callouts:
        whole = _with_ends(callout.group)
        own = callout.group.direction or ctx.direction
        placed = place(whole, replace(ctx, direction=own))
        if own != ctx.direction:
            turned(placed, own, ctx.direction)
        center = _center_v(main.group, main.placed, callout.anchor, 0.0)
        wanted.append((center if center is not None else 0.0, callout, whole, placed))
    low = 0.0
    for center, callout, whole, placed in sorted(wanted, key=lambda w: w[0]):
        v = max(low, center - placed.length / 2)
        frame = next(sp for sp in placed.spots if sp.inside is not None)
        parts.append(
            Part(
                whole,
                placed,
                u,
                v,
                callout.anchor,
                callout.group.path,
                (u + frame.u, v + frame.v, frame.dv),
            )
        )
        low = v + placed.length + ctx.sizes.gap_rank
    return parts


def _with_ends(group: Group) -> Group:
    """A call-out with the names of its inputs and outputs outside its frame."""
    path = group.path

    read = {edge.tail.port for edge in group.edges if edge.tail.child == BORDER}

    def named(ports: tuple[Port, ...]) -> list[tuple[str, str, Port]]:
        """(end of the path, words, port); a structure's ports have no names of their own."""
        if not group.use:
            return [(str(n), "", port) for n, port in enumerate(ports)]
        return [(port.name, _name(port.name), port) for port in ports]

    ins = [
        Node(f"{path}#in-{end}", "input", "data", words, (), (port,), form="text")
        for n, (end, words, port) in enumerate(named(group.inputs))
        if n in read
    ]
    outs = [
        Node(f"{path}#out-{end}", "output", "output", words, (port,), (), form="text")
        for end, words, port in named(group.outputs)
    ]
    middle = len(ins)
    edges = [
        Edge(End(n, 0), End(middle, port), shape=group.inputs[port].shape)
        for n, port in enumerate(sorted(read))
    ] + [
        Edge(End(middle, n), End(middle + 1 + n, 0), shape=port.shape)
        for n, port in enumerate(group.outputs)
    ]
    nodes: tuple[Node | Group, ...] = (*ins, group, *outs)
    return Group(f"{path}#whole", "root", nodes, tuple(edges), (), (), direction=group.direction)


def _name(port: str) -> str:
    """The name of a port as it is set: ``X_Q`` as maths, ``tokens`` as a word."""
    head = port.split("_")[0]
    return f"${port}$" if len(head) == 1 else port


def _center_v(group: Group, placed: Placed, path: str, base: float) -> float | None:
    todo = [(group, placed, base)]
    while todo:
        g, p, v = todo.pop()
        for spot in p.spots:
            child = g.children[spot.child]
            if child.path == path:
                return v + spot.v + spot.dv / 2
            if isinstance(child, Group) and spot.inside is not None:
                todo.append((child, spot.inside, v + spot.v))
    return None


def leader(
    part: Part,
    around: Room,
    paper: Paper,
    solid: list[Rect],
    lines: list[Line],
    corner: float,
    name: str,
) -> Line:
    """A thin line from a box to its call-out, on the first level that is free of boxes.

    ``around`` is the place of the box, ``solid`` what the line must not touch; ``lines`` it may
    cross, but not lie on.
    """
    u, v, du, dv = around
    side, low, length = part.frame
    middle, bend = v + dv / 2, side - 14.0
    target = min(max(middle, low + 8.0), low + length - 8.0)
    path: list[Point] = []
    for shift in (0.0, *(sign * k for k in range(4, 160, 2) for sign in (1, -1))):
        level = middle + shift
        start: list[Point] = [(u + du, middle)]
        if abs(shift) > dv / 2 - 2.0:
            start += [(u + du + 5.0, middle), (u + du + 5.0, level)]
        elif shift:
            start = [(u + du, level)]
        end: list[Point] = [(bend, level), (bend, target), (side, target)]
        if low + 8.0 <= level <= low + length - 8.0:
            end = [(side, level)]
        path = [paper.point(*p) for p in straightened([*start, *end])]
        kinked = any(math.dist(a, b) < KINKED for a, b in pairwise(path[1:-1]))
        if not kinked and _is_free(path, solid) and not any(_lies_on(path, line) for line in lines):
            break
    return Line(
        id=f"{part.anchor}=>{part.framed}",
        points=tuple((rounded(x), rounded(y)) for x, y in path),
        kind="leader",
        arrow=False,
        corner=corner,
        tail=part.anchor,
        head=part.framed + "#frame",
        net=f"leader:{part.framed}",
        title=f"{name} in detail",
    )


def _lies_on(path: list[Point], line: Line) -> bool:
    """True when a piece of a path runs along a piece of a line, nearer than ``ALONG``."""
    for (a, b), (c, d) in product(pairwise(path), pairwise(line.points)):
        for across in (0, 1):  # the coordinate that both pieces share
            along = 1 - across
            level = abs(a[across] - b[across]) < ALONG and abs(c[across] - d[across]) < ALONG
            near = abs(a[across] - c[across]) < ALONG
            first, last = sorted((a[along], b[along])), sorted((c[along], d[along]))
            if level and near and first[0] < last[1] and last[0] < first[1]:
                return True
    return False


def _is_free(path: list[Point], solid: list[Rect]) -> bool:
    """True when a path touches nothing solid."""
    runs = [
        Rect(min(a, c), min(b, d), abs(a - c), abs(b - d)) for (a, b), (c, d) in pairwise(path)
    ]
    return not any(run.overlaps(rect, 2.0) for run in runs for rect in solid)
