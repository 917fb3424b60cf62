"""Remarks by number: a number at each box, the words in a list below the figure."""

from __future__ import annotations

from dataclasses import replace

from transformer_diagrams.graph.ir import Graph, Group, Node


def number_remarks(graph: Graph) -> Graph:
    """The graph with every remark as its number, and the remarks in the order of the data; the same
    words have one number."""
    found: dict[str, int] = {}
    root = _numbered(graph.root, found)
    callouts = tuple(replace(c, group=_numbered(c.group, found)) for c in graph.callouts)
    return replace(graph, root=root, callouts=callouts, remarks=tuple(found))


def _numbered(group: Group, found: dict[str, int]) -> Group:
    note = _number(group.note, found)
    children = tuple(
        _numbered(child, found)
        if isinstance(child, Group)
        else replace(child, note=_number(child.note, found))
        if isinstance(child, Node) and child.note and child.tone < 0  # else how many turns
        else child
        for child in group.children
    )
    return replace(group, note=note, children=children)


def _number(words: str, found: dict[str, int]) -> str:
    return listed(found.setdefault(words, len(found) + 1)) if words else ""


def listed(number: int) -> str:
    """How a number is written at its box and in the list."""
    return f"({number})"
