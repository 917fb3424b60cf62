"""Sums and products of many operands are boxes: round a circle there is room for a few lines only.
So are piled ones: a pile of circles has no border that a line could leave from.

Before: junctions of any size. After: circles are single and have at most MOST operands, the others
are boxes that say the same sign.
"""

from __future__ import annotations

from dataclasses import replace

from transformer_diagrams.graph.ir import Graph, Group, Node

MOST = 5  # one from below, two at each side


def widen_junctions(graph: Graph) -> Graph:
    """The graph with every crowded or piled circle as a box."""
    root = _widened(graph.root)
    callouts = tuple(replace(c, group=_widened(c.group)) for c in graph.callouts)
    return replace(graph, root=root, callouts=callouts)


def _widened(group: Group) -> Group:
    children = tuple(
        _widened(c) if isinstance(c, Group) else _boxed(c) if _needs_box(c) else c
        for c in group.children
    )
    same = all(a is b for a, b in zip(children, group.children, strict=True))
    return group if same else replace(group, children=children)


def _needs_box(node: Node) -> bool:
    return node.form == "circle" and (len(node.inputs) > MOST or bool(node.stack))


def _boxed(node: Node) -> Node:
    return replace(node, form="box", label=f"${node.symbol}$")
