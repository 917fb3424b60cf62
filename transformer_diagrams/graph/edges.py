"""Wires of a flat program -> edges between siblings, cut at every border they cross.

One tensor crosses a border at one port, however many blocks inside (or outside) read it; so a
fan-out is drawn once up to the border.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from transformer_diagrams.errors import NOWHERE, Span
from transformer_diagrams.graph.frame import Frame, Link
from transformer_diagrams.graph.ir import BORDER, Edge, End, Port, Return
from transformer_diagrams.graph.order import sources_first
from transformer_diagrams.graph.program import ROOT, Atom
from transformer_diagrams.graph.spelt import Spelt
from transformer_diagrams.ops.registry import Shape

Item = tuple[str, int]  # ("atom" | "box", index)


@dataclass(slots=True)
class _Piece:
    """A part of a wire within one structure; an edge in the making."""

    tail: End
    head: End
    shape: Shape | None
    kind: str = "data"
    when: str = "always"
    mark: str = ""
    label: str = ""
    span: Span = NOWHERE
    worded: set[str] = field(default_factory=set)  # the labels of all that runs along it


@dataclass(slots=True)
class Inside:
    """What one drawn structure holds: its items in drawing order, its ports and its edges."""

    structure: int
    items: list[Item] = field(default_factory=list)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    pieces: list[_Piece] = field(default_factory=list)
    returns: list[Return] = field(default_factory=list)  # by ids, without what is before them

    def edges(self) -> tuple[Edge, ...]:
        return tuple(
            Edge(
                line.tail,
                line.head,
                line.kind,
                line.when,
                line.mark,
                line.label,
                line.shape,
                line.span,
            )
            for line in self.pieces
        )


class EdgeCutter:
    """Cuts the wires of one frame where they cross a border.

    ``top`` is True for the figure itself: inputs and outputs are nodes. ``closed`` are structures
    that are drawn whatever they say, since they are closed.
    """

    def __init__(
        self, frame: Frame, spelt: Spelt, *, top: bool, closed: Container[int] = ()
    ) -> None:
        self.frame = frame
        self.spelt = spelt
        self.program = frame.program
        self.top = top
        self.insides: dict[int, Inside] = {}
        self.slot: dict[Item, int] = {}
        self._ins: dict[tuple[int, int, int], tuple[int, _Piece]] = {}
        self._outs: dict[tuple[int, int, int], tuple[int, _Piece]] = {}
        self._home: list[int] = []  # box -> nearest drawn box at or around it
        for box in self.program.structures:
            at_home = box.drawn or box.index == ROOT or box.index in closed
            self._home.append(box.index if at_home else self._home[box.parent])
        self._up: dict[int, tuple[int, ...]] = {}
        self._closed = closed
        self._said: list[tuple[str, list[_Piece]]] = []  # labels, and the lines that can bear them

    def run(self) -> dict[int, Inside]:
        """What each holds, by the index of their box; boxes that hold nothing are left out."""
        self._place_items()
        self._declare_ports()
        for index in self.program.order:
            atom = self.program.atoms[index]
            if not self._is_shown_output(atom):
                continue
            for link in self.frame.links[index]:
                if link.feed.kind == "feedback":
                    self._return(atom, link)
                else:
                    self._route(atom, link)
            self._follow(atom)
        for words, lines in self._said:
            # once, where the line begins to be of these words alone; else all where it ends
            line = next((q for q in lines if q.worded == {words}), lines[-1])
            if words not in line.label.split(", "):
                line.label = ", ".join(filter(None, (line.label, words)))
        for inside in self.insides.values():
            self._sort(inside)
        return self.insides

    def _is_shown_output(self, atom: Atom) -> bool:
        implied = atom.kind == "output" and not self.program.declared_outputs
        return not (self.top and implied)

    # -- places -----------------------------------------------------------------------------

    def drawn_parent(self, box: int) -> int:
        return self._home[self.program.structures[box].parent]

    def up(self, box: int) -> tuple[int, ...]:
        """The drawn boxes from ``box`` to the root."""
        known = self._up.get(box)
        if known is None:
            chain = [box]
            while chain[-1] != ROOT:
                chain.append(self.drawn_parent(chain[-1]))
            known = self._up[box] = tuple(chain)
        return known

    def _is_node(self, atom: Atom) -> bool:
        if atom.kind in ("input", "output"):
            return self.top and self._is_shown_output(atom)
        return atom.kind not in ("enter", "leave")

    def _place_items(self) -> None:
        first: dict[int, int] = {ROOT: -1}  # box -> its first atom: the place as written
        held: dict[int, list[tuple[int, Item]]] = {ROOT: []}
        for atom in self.program.atoms:
            home = self._home[atom.structure]
            for box in self.up(home):
                if box in first:
                    break
                first[box] = atom.index
                held[box] = []
            if self._is_node(atom):
                held[home].append((atom.index, ("atom", atom.index)))
        for box, at in first.items():
            if box != ROOT:
                held[self.drawn_parent(box)].append((at, ("box", box)))
        for box, found in held.items():
            found.sort()
            inside = self.insides[box] = Inside(box, [item for _, item in found])
            for slot, item in enumerate(inside.items):
                self.slot[item] = slot

    def _declare_ports(self) -> None:
        frame = self.frame
        if not self.top:
            root = self.insides[ROOT]
            for index in self.program.inputs:
                root.inputs.append(self._port(index, 0))
            for index in self.program.outputs:
                root.outputs.append(self._port(index, 0))
        for atom in self.program.atoms:
            if atom.kind in ("enter", "leave"):
                inside = self.insides[self._home[atom.structure]]
                ports = inside.inputs if atom.kind == "enter" else inside.outputs
                for port, shape in enumerate(self.spelt.shapes(atom.index)):
                    ports.append(Port(str(port), shape, frame.dtype(atom.index, port)))

    def _port(self, atom: int, port: int) -> Port:
        frame = self.frame
        shape = self.spelt.shape(atom, port)
        return Port(frame.output_name(atom, port), shape, frame.dtype(atom, port))

    def _tail(self, index: int, port: int) -> tuple[int, End]:
        atom = self.program.atoms[index]
        if atom.kind == "input" and not self.top:
            return ROOT, End(BORDER, self.program.inputs.index(index))
        if atom.kind == "enter":
            return atom.structure, End(BORDER, port)
        if atom.kind == "leave":
            return self.drawn_parent(atom.structure), End(self.slot["box", atom.structure], port)
        return self._home[atom.structure], End(self.slot["atom", index], port)

    def _head(self, atom: Atom, port: int) -> tuple[int, End]:
        if atom.kind == "output" and not self.top:
            return ROOT, End(BORDER, self.program.outputs.index(atom.index))
        if atom.kind == "enter":
            return self.drawn_parent(atom.structure), End(self.slot["box", atom.structure], port)
        if atom.kind == "leave":
            return atom.structure, End(BORDER, port)
        return self._home[atom.structure], End(self.slot["atom", atom.index], port)

    # -- edges ------------------------------------------------------------------------------

    def _route(self, atom: Atom, link: Link) -> None:
        source, port = link.atom, link.port
        tail_box, tail = self._tail(source, port)
        head_box, head = self._head(atom, link.to)
        rising, falling = self._between(tail_box, head_box)
        shape = self.spelt.shape(source, port)
        feed = link.feed
        when = self._when(atom, source, feed.when)
        run: list[tuple[int, _Piece]] = []  # what it is cut into, and the boxes these stand in
        for box in rising:
            key = (box, source, port)
            if key not in self._outs:
                inside = self.insides[box]
                inside.outputs.append(self._port(source, port))
                end = End(BORDER, len(inside.outputs) - 1)
                line = _Piece(tail, end, shape, when=when, span=feed.span)
                inside.pieces.append(line)
                self._outs[key] = (end.port, line)
            at, line = self._outs[key]
            line.when = when if line.when == when else "always"
            run.append((box, line))
            tail = End(self.slot["box", box], at)
        for box in falling:
            key = (box, source, port)
            if key not in self._ins:
                inside = self.insides[box]
                inside.inputs.append(self._port(source, port))
                end = End(self.slot["box", box], len(inside.inputs) - 1)
                line = _Piece(tail, end, shape, when=when, span=feed.span)
                self.insides[self.drawn_parent(box)].pieces.append(line)
                self._ins[key] = (end.port, line)
            at, line = self._ins[key]
            line.when = when if line.when == when else "always"
            run.append((self.drawn_parent(box), line))
            tail = End(BORDER, at)
        last = _Piece(tail, head, shape, feed.kind, when, feed.mark, span=feed.span)
        self.insides[head_box].pieces.append(last)
        run.append((head_box, last))
        for _, line in run:
            line.worded.add(feed.label)
        if feed.label:
            bare = [line for box, line in run if self._bears_words(box)]
            self._said.append((feed.label, bare or [last]))

    def _return(self, atom: Atom, link: Link) -> None:
        """A line back belongs to the innermost drawn box around both of its ends."""
        tail = self.program.atoms[link.atom]
        tail_box, head_box = self._tail(link.atom, link.port)[0], self._head(atom, link.to)[0]
        around = set(self.up(tail_box))
        box = next(each for each in self.up(head_box) if each in around)
        feed = link.feed
        self.insides[box].returns.append(
            Return(
                self._names(tail, tail_box),
                self._names(atom, head_box),
                link.port,
                self._when(atom, link.atom, feed.when),
                feed.mark,
                feed.label,
                self.spelt.shape(link.atom, link.port),
            )
        )

    def _follow(self, atom: Atom) -> None:
        """The link of a block's weights to those that they are a moving average of."""
        if atom.kind not in ("op", "use") or atom.block is None or not atom.block.average_of:
            return
        other = self.program.ids.get(atom.block.average_of.value)
        if other is None:
            return
        tail = self.program.atoms[other]
        tail_box, head_box = self._home[tail.structure], self._home[atom.structure]
        around = set(self.up(tail_box))
        box = next(each for each in self.up(head_box) if each in around)
        ends = self._names(tail, tail_box), self._names(atom, head_box)
        self.insides[box].returns.append(Return(*ends, mark="ema", label="EMA"))

    def _names(self, atom: Atom, box: int) -> tuple[str, ...]:
        """The id of a drawn atom, then those of the boxes around it."""
        blocks = [self.program.structures[each].block for each in self.up(box)]
        own = f"{atom.id}/add" if atom.kind == "add" else atom.id
        return (own, *(block.id for block in blocks if block is not None))

    def _bears_words(self, box: int) -> bool:
        """Whether a line in a box can be seen, and has room beside it."""
        if self.program.structures[box].kind == "columns":
            return False
        return not any(around in self._closed for around in self.up(box))

    def _between(self, tail_box: int, head_box: int) -> tuple[list[int], list[int]]:
        """Borders on the way: those left (innermost first), those entered (outermost first)."""
        if tail_box == head_box:
            return [], []
        tails, heads = self.up(tail_box), self.up(head_box)
        shared = 0
        while shared < min(len(tails), len(heads)) and tails[-1 - shared] == heads[-1 - shared]:
            shared += 1
        return list(tails[: len(tails) - shared]), list(heads[: len(heads) - shared])[::-1]

    def _when(self, atom: Atom, source: int, stated: str) -> str:
        if stated != "always":
            return stated
        own = self.frame.when(atom.index)
        return own if own != "always" else self.frame.when(source)

    # -- order ------------------------------------------------------------------------------

    def _sort(self, inside: Inside) -> None:
        """Children in order of first need, ties as written. Columns stay as written.

        A structure that is left and entered again would be a cycle among siblings; then the
        written order decides.
        """
        if self.program.structures[inside.structure].kind == "columns" or self._is_sorted(inside):
            return
        pairs = ((line.tail.child, line.head.child) for line in inside.pieces)
        between = [(a, b) for a, b in pairs if BORDER not in (a, b) and a != b]
        order, _ = sources_first(len(inside.items), between, whole=True)
        new = {old: n for n, old in enumerate(order)}
        new[BORDER] = BORDER
        inside.items = [inside.items[old] for old in order]
        for line in inside.pieces:
            line.tail = End(new[line.tail.child], line.tail.port)
            line.head = End(new[line.head.child], line.head.port)

    @staticmethod
    def _is_sorted(inside: Inside) -> bool:
        return all(
            BORDER in (line.tail.child, line.head.child) or line.tail.child < line.head.child
            for line in inside.pieces
        )
