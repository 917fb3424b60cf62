"""The layout, start to end: Graph and Theme in, Scene out.

graph --measure--> sizes --place (innermost first)--> placed groups --assemble--> scene
"""

from __future__ import annotations

from dataclasses import replace

from transformer_diagrams.graph.ir import BORDER, Callout, Edge, End, Graph, Group, Node, Port
from transformer_diagrams.layout.assemble import Part, assemble
from transformer_diagrams.layout.group import place
from transformer_diagrams.layout.junctions import widen_junctions
from transformer_diagrams.layout.labels import words_of
from transformer_diagrams.layout.limits import refuse
from transformer_diagrams.layout.measure import Context, Options, with_shared_sizes
from transformer_diagrams.layout.placed import Placed
from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.layout.shapes import shapes_told
from transformer_diagrams.layout.turned import set_turns, turned
from transformer_diagrams.theme import Theme


def layout(graph: Graph, theme: Theme, options: Options | None = None) -> Scene:
    """Place every box, line and text of ``graph``.

    :raises DiagramError: the figure is too large to draw.
    """
    options = options or Options()
    graph = widen_junctions(graph)
    direction = options.direction or graph.direction or "up"
    graph = set_turns(graph, direction)
    ctx = Context(theme.sizes, direction, options.shapes or graph.show_shapes, graph.tex)
    refuse(graph)
    ctx = with_shared_sizes(graph, ctx)
    root = place(graph.root, ctx)
    parts = [Part(graph.root, root, 0.0, 0.0)]
    parts += _beside(graph, parts[0], ctx)
    legend = graph.legend if options.legend is None else options.legend
    return replace(
        assemble(graph, parts, ctx, legend),
        words=words_of(graph),
        shapes=shapes_told(graph, ctx.shapes, ctx.tex),
    )


def _beside(graph: Graph, main: Part, ctx: Context) -> list[Part]:
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


__all__ = ["Options", "layout"]
