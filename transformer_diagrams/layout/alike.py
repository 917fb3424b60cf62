"""Groups that look alike are placed once: what the layout sees of a group, as a small number.

Two groups have one number when they differ in nothing but their names and places in the spec, as
the layers of a stack that is drawn opened do.
"""

from __future__ import annotations

from typing import Any

from transformer_diagrams.graph.ir import Edge, Group, Node

BLIND = ("path", "span", "doc_path", "attrs", "params")  # what the layout does not look at
SEEN = {
    kind: tuple(name for name in kind.__dataclass_fields__ if name not in BLIND)
    for kind in (Node, Group, Edge)
}


class Likeness:
    """Numbers of groups."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._known: dict[int, tuple[Group, int]] = {}  # by id, which the group itself keeps

    def of(self, group: Group) -> int:
        """The number of a group, the same for all that look alike."""
        if id(group) not in self._known:
            look = (
                tuple(
                    self.of(child) if isinstance(child, Group) else _look(child)
                    for child in group.children
                ),
                tuple(map(_look, group.edges)),
                *(getattr(group, n) for n in SEEN[Group] if n not in ("children", "edges")),
            )
            self._known[id(group)] = group, self._numbers.setdefault(look, len(self._numbers))
        return self._known[id(group)][1]


def _look(thing: Node | Edge) -> tuple[Any, ...]:
    return tuple(getattr(thing, name) for name in SEEN[type(thing)])
