"""Which text stands beside an arrow: the author's own, or the shape of the tensor.

By default a shape is shown where it changes, so that it is read once on each stream.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping

from transformer_diagrams.graph.ir import BORDER, End, Graph, Group, Node
from transformer_diagrams.layout.stream import main_port


def shapes_told(
    graph: Graph, shapes: str, tex: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """The nets beside which a figure must show their shape.

    They stand in groups of which one is enough: outputs of one box that say the same, unless all
    are asked for. What leaves an opened part has changed its shape inside, and was told there.
    """
    told: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for part in graph.parts():
        if isinstance(part, Node):
            continue
        for child, inner in enumerate(part.children):
            if shapes != "all" and isinstance(inner, Group):
                continue
            for port in range(len(inner.outputs)):
                markup, kind = net_label(part, child, port, shapes, tex)
                net = _origin(part, child, port) if kind == "shape" else ""
                if net:
                    told[net if shapes == "all" else inner.path, markup][net] = None
    return tuple(tuple(nets) for nets in told.values())


def _origin(group: Group, child: int, port: int) -> str:
    """The net that leaves a child, by the box that it begins at."""
    while child != BORDER:
        inner = group.children[child]
        if isinstance(inner, Node):
            return f"{inner.path}#{port}"
        ending = (e.tail for e in inner.edges if e.head == End(BORDER, port))
        group, (child, port) = inner, next(((t.child, t.port) for t in ending), (BORDER, 0))
    return ""  # goes through a group, and begins before it


def net_label(
    group: Group,
    child: int,
    port: int,
    shapes: str,
    tex: Mapping[str, str],
    here: Container[int] = (),
) -> tuple[str, str]:
    """(markup, kind) of the text beside the net that leaves (child, port); ("", "") for none.

    ``here`` are outputs of the group that have no place for a text outside of it.
    """
    edges = [e for e in group.leaving.get(End(child, port), ()) if e.kind != "residual"]
    if not edges:
        return "", ""
    own = {e.label for e in edges if e.label}
    if child != BORDER and len(own) == 1:
        return own.pop(), "edge"  # several words stand each at the end of its own line
    if shapes == "none" or child == BORDER:
        return "", ""
    tail = group.children[child]
    shape = edges[0].shape or tail.outputs[port].shape
    if shape is None:
        return "", ""
    words = shape.tex(tex)
    if not words:
        return "", ""
    markup = f"${words}$"
    to_border = all(e.head.child == BORDER and e.head.port not in here for e in edges)
    if to_border and group.kind != "root":
        return "", ""  # told outside, where it ends
    if shapes == "all":
        return markup, "shape"
    heads = [group.children[e.head.child] for e in edges if e.head.child != BORDER]
    if any(isinstance(h, Node) and h.op == "output" for h in heads):
        return markup, "shape"
    if isinstance(tail, Node) and tail.op == "input":
        return markup, "shape"
    if not tail.inputs:
        return markup, "shape"
    main = tail.inputs[min(main_port(group, child, port), len(tail.inputs) - 1)].shape
    if main is not None and main != shape:
        return markup, "shape"
    return "", ""
