"""Two figures as one: the two architectures side by side, what differs marked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from transformer_diagrams.diff.compare import Comparison
from transformer_diagrams.graph.ir import BORDER, Callout, Edge, End, Graph, Group, Node, Port

CHANGED = "changed"


def side_by_side(a: Graph, b: Graph, found: Comparison) -> Graph:
    """One graph whose root holds the two architectures as framed columns."""
    columns, callouts = [], []
    for graph, letter, side, paths in (
        (a, "a", found.a, {path for d in found.differences for path in d.at[0]}),
        (b, "b", found.b, {path for d in found.differences for path in d.at[1]}),
    ):
        title = f"{side.title}, {side.config}" if side.config else side.title
        columns.append(_framed(_moved(graph.root, letter, paths), letter, title))
        callouts += [
            Callout(f"{letter}/{c.anchor}", _moved(c.group, letter, paths))
            for c in graph.callouts
        ]
    both = Group("columns", "columns", tuple(columns), (), (), ())
    count = len(found.differences)
    return Graph(
        f"{a.id}-{b.id}",
        f"{a.title} and {b.title}, side by side",
        f"{count} difference{'' if count == 1 else 's'}; what differs is marked.",
        Group("", "root", (both,), (), (), ()),
        tuple(callouts),
        ("$\\neq$ marks what differs",) if count else ("no difference",),
        direction=a.direction,
        show_shapes=a.show_shapes,
        tex={**b.tex, **a.tex},
    )


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


def _framed(root: Group, letter: str, title: str) -> Group:
    """A root as a column: inputs and outputs outside of one frame that bears the title."""
    inside = [n for n, child in enumerate(root.children) if not _is_end(child)]
    if len(inside) == 1:
        only = root.children[inside[0]]
        if isinstance(only, Group) and only.framed and only.kind == "use":
            children = list(root.children)
            children[inside[0]] = replace(only, title=title)
            return replace(root, path=letter, kind="group", children=tuple(children))
    ins, outs = _crossing(root, inside)
    entries = list(dict.fromkeys(edge.tail for edge in ins))
    leaving = [edge.tail for edge in outs]
    sources = [n for n in range(len(root.children)) if _is_end(root.children[n], "input")]
    sinks = [n for n in range(len(root.children)) if _is_end(root.children[n], "output")]
    within = {old: new for new, old in enumerate(inside)}
    edges = [
        replace(e, tail=End(within[e.tail.child], e.tail.port),
                head=End(within[e.head.child], e.head.port))
        for e in root.edges if e.tail.child in within and e.head.child in within
    ]  # fmt: skip
    edges += [
        replace(e, tail=End(BORDER, entries.index(e.tail)),
                head=End(within[e.head.child], e.head.port))
        for e in ins
    ]  # fmt: skip
    edges += [
        replace(e, tail=End(within[e.tail.child], e.tail.port), head=End(BORDER, number))
        for number, e in enumerate(outs)
    ]
    frame = Group(
        f"{letter}/frame",
        "group",
        tuple(root.children[n] for n in inside),
        tuple(edges),
        tuple(_port(root, end) for end in entries),
        tuple(_port(root, end) for end in leaving),
        title=title,
        framed=True,
    )
    place = {old: new for new, old in enumerate(sources)}
    middle = len(sources)
    place |= {old: middle + 1 + new for new, old in enumerate(sinks)}
    outer = [
        Edge(End(place[end.child], end.port), End(middle, number),
             when=_when(root, end), shape=_port(root, end).shape)
        for number, end in enumerate(entries)
    ]  # fmt: skip
    outer += [
        replace(e, tail=End(middle, number), head=End(place[e.head.child], e.head.port))
        for number, e in enumerate(outs)
    ]
    outer += [
        replace(e, tail=End(place[e.tail.child], e.tail.port),
                head=End(place[e.head.child], e.head.port))
        for e in root.edges if e.tail.child in place and e.head.child in place
    ]  # fmt: skip
    children = [*(root.children[n] for n in sources), frame, *(root.children[n] for n in sinks)]
    return Group(letter, "group", tuple(children), tuple(outer), (), ())


def _crossing(root: Group, inside: Collection[int]) -> tuple[list[Edge], list[Edge]]:
    """The edges from ends into the middle, and from the middle to ends."""
    ins = [e for e in root.edges if e.tail.child not in inside and e.head.child in inside]
    outs = [e for e in root.edges if e.tail.child in inside and e.head.child not in inside]
    return ins, outs


def _is_end(child: Node | Group, *ops: str) -> bool:
    return isinstance(child, Node) and child.op in (ops or ("input", "output"))


def _port(root: Group, end: End) -> Port:
    return root.children[end.child].outputs[end.port]


def _when(root: Group, end: End) -> str:
    child = root.children[end.child]
    return child.when if isinstance(child, Node) else "always"
