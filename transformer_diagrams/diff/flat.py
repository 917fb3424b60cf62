"""A graph without its borders: every node, and the very node that each of its inputs comes from.

The tree of groups is kept as what stands around a node, so that a question such as "what does
this attention read?" is a walk along wires, and "is it inside a residual?" a look around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field
from functools import cache

from transformer_diagrams.graph.ir import BORDER, Edge, Graph, Group, Node, Return
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.registry import Shape
from transformer_diagrams.records import dataclass

ALL = -1  # every output of a part
WHOLE = ("norm", "activation")  # roles of used specs that are one step here, whatever is in them


@cache
def facts_of(op: str, role: str = "") -> frozenset[str]:
    """What the record of an op says that it does; where it says nothing, what its role says."""
    with suppress(registry.UnknownOp):  # a used spec, an input or an output
        record = registry.get(op)
        if record.does or record.role != "plain":
            return frozenset((record.role, *record.does))
    return frozenset((role, *registry.IMPLIED.get(role, ())))


@dataclass(frozen=True, slots=True)
class Inlet:
    """One input of a part: output ``port`` of ``part``, known to the reader as ``name``."""

    part: int
    port: int
    name: str
    mark: str = ""


@dataclass(slots=True)
class Leaf:
    """A node, with the groups around it from the outermost in (without the root)."""

    index: int
    node: Node
    around: tuple[Group, ...]
    wires: tuple[Inlet, ...] = ()
    readers: list[int] = field(default_factory=list)
    earlier: tuple[Inlet, ...] = ()  # what it reads of one step before

    @property
    def op(self) -> str:
        return self.node.op

    @property
    def facts(self) -> frozenset[str]:
        """What it does: what the record of its op says, else what its style role says."""
        return facts_of(self.op, self.node.role)

    def does(self, *facts: str) -> bool:
        """Whether it does one of these."""
        return not self.facts.isdisjoint(facts)

    @property
    def path(self) -> str:
        return self.node.path

    def inside(self, group: Group | None) -> bool:
        """Whether ``group`` (None: the whole graph) stands around this part."""
        return group is None or any(each is group for each in self.around)

    def innermost(self, kind: str) -> Group | None:
        """The nearest group of a kind around it."""
        return next((g for g in reversed(self.around) if g.kind == kind), None)


@dataclass(slots=True)
class _Place:
    group: Group
    up: _Place | None
    number: int  # as a child of the group above
    children: list[int | _Place] = field(default_factory=list)
    heads: dict[tuple[int, int], Edge] = field(default_factory=dict)


class Flat:
    """The parts of ``graph`` in drawing order."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.parts: list[Leaf] = []
        root = self._enter(graph.root, None, 0, ())
        self._join(root)
        for group in (part for part in graph.parts() if isinstance(part, Group)):
            for back in group.returns:
                self._feed_back(back)
        for part in self.parts:
            for wire in part.wires:
                if part.index not in self.parts[wire.part].readers:
                    self.parts[wire.part].readers.append(part.index)

    def _enter(
        self, group: Group, up: _Place | None, number: int, around: tuple[Group, ...]
    ) -> _Place:
        place = _Place(group, up, number)
        place.heads = {(e.head.child, e.head.port): e for e in group.edges}
        for index, child in enumerate(group.children):
            if isinstance(child, Group) and child.kind == "use" and child.role in WHOLE:
                child = Node(child.path, "use", child.role, child.title, child.inputs,
                             child.outputs, mark=child.mark, use=child.use)  # fmt: skip
            if isinstance(child, Node):
                place.children.append(len(self.parts))
                self.parts.append(Leaf(len(self.parts), child, around))
            else:
                place.children.append(self._enter(child, place, index, (*around, child)))
        return place

    def _join(self, place: _Place) -> None:
        for number, child in enumerate(place.children):
            if isinstance(child, _Place):
                self._join(child)
                continue
            part = self.parts[child]
            wires = []
            for port, given in enumerate(part.node.inputs):
                edge = place.heads.get((number, port))
                found = self._tail(place, edge)
                if edge is not None and found is not None:
                    wires.append(Inlet(*found, given.name, edge.mark))
            part.wires = tuple(wires)

    def _feed_back(self, back: Return) -> None:
        """Tell a reader what it is fed back; of an opened spec, its last and its first part."""
        tails, heads = (
            [p for p in self.parts if p.path == path or p.path.startswith(f"{path}/")]
            for path in (back.tails[0], back.heads[0])
        )
        if tails and heads:
            mark = ", ".join(filter(None, ("one step before", back.mark)))
            inlet = Inlet(tails[-1].index, back.port, "", mark)
            heads[0].earlier = (*heads[0].earlier, inlet)

    def _tail(self, place: _Place, edge: Edge | None) -> tuple[int, int] | None:
        """The part and port behind an edge of ``place``, through any number of borders."""
        at: _Place | None = place
        while edge is not None and at is not None:
            tail = edge.tail
            if tail.child == BORDER:
                outer = at.up
                edge = outer.heads.get((at.number, tail.port)) if outer is not None else None
                at = outer
                continue
            child = at.children[tail.child]
            if isinstance(child, int):
                return child, tail.port
            edge, at = child.heads.get((BORDER, tail.port)), child
        return None

    # -- questions --------------------------------------------------------------------------

    def shape(self, wire: Inlet) -> Shape | None:
        """The shape of what a wire carries."""
        outputs = self.parts[wire.part].node.outputs
        return outputs[wire.port].shape if wire.port < len(outputs) else None

    def output(self, part: Leaf, port: int = 0) -> Shape | None:
        """The shape of an output of ``part``."""
        return part.node.outputs[port].shape if port < len(part.node.outputs) else None

    def before(
        self,
        starts: Iterable[int | Inlet],
        within: Callable[[Leaf], bool] = lambda part: True,
    ) -> list[int]:
        """The starts and everything they depend on, as far as ``within`` holds; sorted.

        Of what passes its inputs on one by one (a cache), only the one read is followed.
        """
        seen: set[tuple[int, int]] = set()
        todo = [(s.part, s.port) if isinstance(s, Inlet) else (s, ALL) for s in starts]
        while todo:
            number, port = todo.pop()
            part = self.parts[number]
            if not self._passes_on(part):
                port = ALL
            if (number, port) in seen or not within(part):
                continue
            seen.add((number, port))
            wires = part.wires if port == ALL else part.wires[port : port + 1]
            if part.does("pick"):
                wires = part.wires[:1]  # what is picked, not the choice of it
            todo += [(w.part, w.port) for w in wires]
        return sorted({number for number, _ in seen})

    def outside(
        self, starts: Iterable[int | Inlet], within: Callable[[Leaf], bool]
    ) -> list[int]:
        """The parts beyond ``within`` that the starts depend on; sorted."""
        found: set[int] = set()

        def noted(part: Leaf) -> bool:
            if within(part):
                return True
            found.add(part.index)
            return False

        self.before(starts, noted)
        return sorted(found)

    @staticmethod
    def _passes_on(part: Leaf) -> bool:
        return part.does("cache") and len(part.wires) == len(part.node.outputs)

    def goes_to(self, part: int, port: int) -> list[tuple[Leaf, int]]:
        """Who reads an output, and as which of its inputs."""
        return [
            (self.parts[reader], number)
            for reader in self.parts[part].readers
            for number, wire in enumerate(self.parts[reader].wires)
            if wire.part == part and wire.port == port
        ]

    def after(
        self,
        starts: Iterable[int],
        within: Callable[[Leaf], bool] = lambda part: True,
    ) -> list[int]:
        """The starts and everything that depends on them, as far as ``within`` holds; sorted."""
        seen: set[int] = set()
        todo = [n for n in starts if within(self.parts[n])]
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            todo += [r for r in self.parts[at].readers if within(self.parts[r])]
        return sorted(seen)

    def inside(self, group: Group | None) -> list[Leaf]:
        """The parts of a group (None: all)."""
        return [part for part in self.parts if part.inside(group)]
