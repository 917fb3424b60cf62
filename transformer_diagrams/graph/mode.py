"""A figure of training alone, or of inference alone: what is only there at the other time is left
out, and so is all that served nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from transformer_diagrams.graph.frame import Frame, Link
from transformer_diagrams.graph.ir import BORDER, Edge, End, Graph, Group, Node
from transformer_diagrams.records import dataclass

OTHER: Final = {"train": "infer", "inference": "train"}
"""A mode, and the mark of what it leaves out."""

NONE: Final[frozenset[int]] = frozenset()
Ports = dict[int, list[int]]  # of each child, those that are left


def only(graph: Graph, mode: str) -> Graph:
    """``graph`` as it is in ``mode``; what is left is there without a mark."""
    other = OTHER[mode]
    root = _pruned(graph.root, other, ())[0]
    kept = {part.path for part in replace(graph, root=root, callouts=()).parts()}
    callouts = [
        replace(beside, group=_pruned(beside.group, other, ())[0])
        for beside in graph.callouts
        if beside.anchor in kept
    ]
    return replace(graph, root=root, callouts=tuple(callouts))


def _pruned(
    group: Group, other: str, unwanted: Collection[int]
) -> tuple[Group, list[int], list[int]]:
    """What is left of a group of whose outputs the ``unwanted`` are read no more, and the numbers
    of its inputs and outputs that are left."""
    left = {at: child for at, child in enumerate(group.children) if child.when != other}
    edges = [
        edge
        for edge in group.edges
        if edge.when != other and not (edge.head.child == BORDER and edge.head.port in unwanted)
    ]
    before = _ports(group.edges, tails=True)
    inner: dict[int, tuple[Group, list[int], list[int]]] = {}
    lost: dict[int, set[int]] = {}
    while True:
        edges = [
            edge
            for edge in edges
            if (edge.tail.child in left or edge.tail.child == BORDER)
            and (edge.head.child in left or edge.head.child == BORDER)
            and (edge.head.child not in inner or edge.head.port in inner[edge.head.child][1])
        ]
        read = _ports(edges, tails=True)
        gone = [at for at in left if before.get(at) and not read.get(at)]
        stale = [
            at
            for at, child in left.items()
            if isinstance(child, Group)
            and (at not in inner or lost[at] != before.get(at, set()) - read.get(at, set()))
        ]
        if not gone and not stale:
            break
        for at in gone:
            del left[at]
        for at in stale:
            child = group.children[at]
            if at in left and isinstance(child, Group):
                lost[at] = before.get(at, set()) - read.get(at, set())
                inner[at] = _pruned(child, other, lost[at])
    given, fed = _ports(group.edges, tails=False), _ports(edges, tails=False)
    ins: Ports = {BORDER: _kept(len(group.inputs), before.get(BORDER), read.get(BORDER))}
    outs: Ports = {BORDER: [at for at in range(len(group.outputs)) if at not in unwanted]}
    for at, child in left.items():
        if at in inner:
            left[at], ins[at], outs[at] = inner[at]
        else:
            ins[at] = _kept(len(child.inputs), given.get(at), fed.get(at))
            outs[at] = _kept(len(child.outputs), before.get(at), read.get(at))
    number = {BORDER: BORDER, **{at: new for new, at in enumerate(left)}}

    def moved(end: End, ports: Ports) -> End:
        return End(number[end.child], ports[end.child].index(end.port))

    made = replace(
        group,
        children=tuple(_unmarked(child, ins[at], outs[at]) for at, child in left.items()),
        edges=tuple(
            replace(
                edge,
                # An input of the group is where a line inside begins, and an output where one ends.
                tail=moved(edge.tail, ins if edge.tail.child == BORDER else outs),
                head=moved(edge.head, outs if edge.head.child == BORDER else ins),
                when="always",
            )
            for edge in edges
        ),
        inputs=tuple(group.inputs[at] for at in ins[BORDER]),
        outputs=tuple(group.outputs[at] for at in outs[BORDER]),
        returns=tuple(replace(r, when="always") for r in group.returns if r.when != other),
    )
    return made, ins[BORDER], outs[BORDER]


def _unmarked(child: Node | Group, ins: list[int], outs: list[int]) -> Node | Group:
    if isinstance(child, Group):
        return replace(child, when="always")
    inputs = tuple(child.inputs[at] for at in ins)
    return replace(
        child, when="always", inputs=inputs, outputs=tuple(child.outputs[at] for at in outs)
    )


def _ports(edges: Iterable[Edge], *, tails: bool) -> dict[int, set[int]]:
    """The ports of each child at which lines begin, or at which they end."""
    found: dict[int, set[int]] = {}
    for edge in edges:
        end = edge.tail if tails else edge.head
        found.setdefault(end.child, set()).add(end.port)
    return found


def _kept(count: int, before: set[int] | None, now: set[int] | None) -> list[int]:
    """The ports that still have a line, and those that never had one."""
    return [at for at in range(count) if at in (now or ()) or at not in (before or ())]


@dataclass(frozen=True, slots=True)
class Present:
    """What of a frame is there at one time.

    atoms   their numbers
    unread  of a used spec, by its atom: the outputs that nothing there reads any more
    idle    inputs of the frame that nothing there reads any more
    """

    atoms: frozenset[int]
    unread: Mapping[int, frozenset[int]]
    idle: frozenset[str]


class Presence:
    """Finds what is there in ``mode``, of each frame once for each set of outputs not read."""

    def __init__(self, mode: str) -> None:
        self.other = OTHER[mode]
        self._known: dict[tuple[int, frozenset[int]], tuple[Frame, Present]] = {}

    def of(self, frame: Frame, unread: frozenset[int] = NONE) -> Present:
        """What is there of a frame of whose outputs ``unread`` are read no more."""
        key = (id(frame), unread)
        if key not in self._known:
            self._known[key] = (frame, self._found(frame, unread))
        return self._known[key][1]

    def _found(self, frame: Frame, unread: frozenset[int]) -> Present:
        atoms = frame.program.atoms
        gone = {frame.program.outputs[port] for port in unread}
        here = {a.index for a in atoms if a.index not in gone and frame.when(a.index) != self.other}
        links = [(a.index, link) for a in atoms for link in frame.links[a.index]]
        before = _readers(links)
        inner: dict[int, frozenset[int]] = {}
        left = [(to, link) for to, link in links if link.feed.when != self.other]
        while True:
            left = [
                (to, link)
                for to, link in left
                if to in here and link.atom in here and not self._idle(frame, to, link, inner)
            ]
            now = _readers(left)
            lost = {at: frozenset(ports - now.get(at, set())) for at, ports in before.items()}
            dead = {at for at in here if before.get(at) and not now.get(at)}
            uses = {at: lost.get(at, NONE) for at in frame.uses if at in here and at not in dead}
            if not dead and uses == inner:
                break
            here -= dead
            inner = uses
        idle = {
            atoms[at].id for at in frame.program.inputs if before.get(at) and not now.get(at)
        }
        return Present(frozenset(here), inner, frozenset(idle))

    def _idle(self, frame: Frame, to: int, link: Link, inner: Mapping[int, frozenset[int]]) -> bool:
        """Whether a link ends at an input of a used spec that is read no more in it."""
        return to in inner and link.name in self.of(frame.uses[to], inner[to]).idle


def _readers(links: Iterable[tuple[int, Link]]) -> dict[int, set[int]]:
    """The outputs of each atom that are read."""
    found: dict[int, set[int]] = {}
    for _, link in links:
        found.setdefault(link.atom, set()).add(link.port)
    return found
