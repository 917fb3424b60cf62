"""Lines of one tensor that carry different words get ends of their own, so that no word is lost.

Before: edges with different labels may leave one output. After: each label has its own output
port; edges without a label stay together with the first.
"""

from __future__ import annotations

from dataclasses import replace

from transformer_diagrams.graph.ir import BORDER, Edge, End, Graph, Group, Node


def separate_labels(graph: Graph) -> Graph:
    """The graph with one output port for each label that leaves a box."""
    root = _separated(graph.root)
    callouts = tuple(replace(c, group=_separated(c.group)) for c in graph.callouts)
    if root is graph.root and all(a is b for a, b in zip(callouts, graph.callouts, strict=True)):
        return graph
    return replace(graph, root=root, callouts=callouts)


def _separated(group: Group) -> Group:
    children: list[Node | Group] = [
        _separated(c) if isinstance(c, Group) else c for c in group.children
    ]
    labels: dict[tuple[int, int], list[str]] = {}
    for edge in group.edges:
        if edge.label and edge.kind != "residual" and edge.tail.child != BORDER:
            known = labels.setdefault((edge.tail.child, edge.tail.port), [])
            if edge.label not in known:
                known.append(edge.label)
    moved: dict[tuple[int, int, str], int] = {}
    for (child, port), texts in labels.items():
        node = children[child]
        if len(texts) < 2 or not isinstance(node, Node):
            continue
        for text in texts[1:]:
            moved[(child, port, text)] = len(node.outputs)
            node = replace(node, outputs=(*node.outputs, node.outputs[port]))
        children[child] = node
    if not moved and all(a is b for a, b in zip(children, group.children, strict=True)):
        return group
    edges = tuple(_moved(edge, moved) for edge in group.edges)
    return replace(group, children=tuple(children), edges=edges)


def _moved(edge: Edge, moved: dict[tuple[int, int, str], int]) -> Edge:
    port = moved.get((edge.tail.child, edge.tail.port, edge.label))
    if port is None or edge.kind == "residual":
        return edge
    return replace(edge, tail=End(edge.tail.child, port))
