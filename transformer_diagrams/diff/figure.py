"""Two figures as one: the two architectures side by side, what differs marked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from transformer_diagrams.diff.compare import Comparison
from transformer_diagrams.graph.ir import Callout, Graph, Group, Node

CHANGED = "changed"


def side_by_side(a: Graph, b: Graph, found: Comparison) -> Graph:
    """One graph whose root holds the two roots as columns."""
    at_a = {path for d in found.differences for path in d.at_a}
    at_b = {path for d in found.differences for path in d.at_b}
    sides = [
        _column(graph, letter, title, paths)
        for graph, letter, title, paths in (
            (a, "a", _title(found.a.title, found.a.config), at_a),
            (b, "b", _title(found.b.title, found.b.config), at_b),
        )
    ]
    columns = Group("columns", "columns", tuple(sides), (), (), ())
    root = Group("", "root", (columns,), (), (), ())
    callouts = tuple(
        Callout(f"{letter}/{c.anchor}", _moved(c.group, letter, paths))
        for graph, letter, paths in ((a, "a", at_a), (b, "b", at_b))
        for c in graph.callouts
    )
    count = len(found.differences)
    return Graph(
        f"{a.id}-{b.id}",
        f"{a.title} and {b.title}, side by side",
        f"{count} difference{'s' * (count != 1)}; what differs is marked.",
        root,
        callouts,
        direction=a.direction,
        show_shapes=a.show_shapes,
        tex={**b.tex, **a.tex},
    )


def _title(title: str, config: str | None) -> str:
    return f"{title}, {config}" if config else title


def _column(graph: Graph, letter: str, title: str, changed: Collection[str]) -> Group:
    moved = _moved(graph.root, letter, changed)
    return replace(moved, path=letter, kind="group", framed=True, title=title)


def _moved(group: Group, letter: str, changed: Collection[str]) -> Group:
    """``group`` with its paths below ``letter``, and marks on what differs."""
    children: list[Node | Group] = []
    for child in group.children:
        if isinstance(child, Group):
            children.append(_moved(child, letter, changed))
            continue
        mark = CHANGED if _is_changed(child.path, changed) else child.mark
        children.append(replace(child, path=f"{letter}/{child.path}", mark=mark))
    return replace(group, path=f"{letter}/{group.path}", children=tuple(children))


def _is_changed(path: str, changed: Collection[str]) -> bool:
    return path in changed or any(each.startswith(f"{path}/") for each in changed)
