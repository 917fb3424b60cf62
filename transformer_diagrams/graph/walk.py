"""Walks a program once, sources first, and gives every tensor its shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transformer_diagrams.dims import Dim
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.graph import faults
from transformer_diagrams.graph.apply import Applier
from transformer_diagrams.graph.connect import Connector
from transformer_diagrams.graph.frame import Caller, Frame, Link
from transformer_diagrams.graph.pattern import Kind, Pattern, PatternError, counts
from transformer_diagrams.graph.program import ROOT, Atom, Program, Structure
from transformer_diagrams.graph.scope import Scope
from transformer_diagrams.graph.session import Session
from transformer_diagrams.graph.shares import check_share, check_table
from transformer_diagrams.graph.stated import Stated
from transformer_diagrams.ops import registry
from transformer_diagrams.spec.model import Block, Text


class Walk:
    """Inference of one program. Faults go on to the next block; what depends on a faulty one
    is passed over, so that one fault is told once.

    ``use`` gives an atom that uses another spec its outputs.
    """

    def __init__(
        self,
        session: Session,
        program: Program,
        scope: Scope,
        use: Callable[[Walk, Atom], None],
        caller: Caller | None = None,
        depth: int = 0,
    ) -> None:
        self.session = session
        self.program = program
        self.scope = scope
        self.depth = depth
        self._caller = caller
        self._use = use
        count = len(program.atoms)
        self.frame = Frame(program, scope, [None] * count, [()] * count, size=count)
        session.blocks += count
        self.connector = Connector(self.frame, session.fault)
        self.stated = Stated(session, self.frame)
        self._applier = Applier(session, self.frame)
        self._tied: list[tuple[Atom, Block, str]] = []
        self._enters = {a.structure: a.index for a in program.atoms if a.kind == "enter"}

    def run(self) -> Frame:
        self._counts()
        steps: dict[str, Callable[[Atom], None]] = {
            "input": self._input,
            "output": self._output,
            "op": self._op,
            "add": self._adder,
            "use": lambda atom: self._use(self, atom),
            "enter": self._enter,
            "leave": self._leave,
        }
        self._feed_back()
        for index in self.program.order:
            atom = self.program.atoms[index]
            steps[atom.kind](atom)
        for atom in self.program.atoms:
            if atom.kind not in ("op", "use") or (block := atom.block) is None:
                continue
            for key, other in (("share", block.share), ("average_of", block.average_of)):
                if other is not None:
                    check_share(self.frame, atom, block, other, self.session.fault, key)
        for atom, block, table in self._tied:
            check_table(self.frame, atom, block, table, self.session.fault)
        return self.frame

    def _feed_back(self) -> None:
        """Give what is read one step later the shape that it is stated to have."""
        program, outputs = self.program, self.frame.outputs
        place = {index: n for n, index in enumerate(program.order)}
        for reader in program.atoms:
            for feed in reader.feeds:
                source = program.atoms[feed.tap.atom]
                if feed.kind != "feedback" or place[source.index] < place[reader.index]:
                    continue
                if outputs[source.index] is None:
                    outputs[source.index] = self.stated.fed_back(source)
                if outputs[source.index] is None:
                    self.session.fault(faults.feedback_without_shape(source, feed))

    # -- how often things stand there ------------------------------------------------------------

    def _counts(self) -> None:
        frame = self.frame
        for box in self.program.structures:
            block = box.block
            if block is None:
                continue
            if box.kind == "pattern":
                self._pattern(box)
            elif box.kind == "repeat" and block.count is not None and not self._is_kind(box):
                turns = self._size(block.count, block, "repeat", least=0)
                if turns is not None:
                    frame.counts[box.index] = turns
            self._piles(block)
        for atom in self.program.atoms:
            if atom.kind in ("op", "use") and atom.block is not None:
                self._piles(atom.block)

    def _is_kind(self, box: Structure) -> bool:
        """Whether a repeat is of some turns of a pattern: its count is found with the others."""
        return self.program.structures[box.parent].kind == "pattern"

    def _pattern(self, box: Structure) -> None:
        """How many turns are of each kind."""
        block = box.block
        assert block is not None
        assert block.count is not None
        boxes = [b for b in self.program.structures if b.parent == box.index and b.index != ROOT]
        turns = self._size(block.count, block, "repeat", least=0)
        kinds = [self._turns(each.block) for each in boxes if each.block is not None]
        if turns is None or not kinds or not all(kinds):
            return
        pattern = Pattern(turns, tuple(kind for kind in kinds if kind is not None))
        try:
            found = counts(pattern, self.scope.facts)
        except PatternError as error:
            at = boxes[error.kind].block if error.kind is not None else None
            self.session.fault(faults.uncountable(at or block, error, self.scope.where))
            return
        if not self.scope.numeric and not self.depth:
            for each, number in zip(boxes, found, strict=True):
                if number.as_int() == 0 and each.block is not None:
                    self.session.fault(faults.without_turns(each.block))
        self.frame.patterns[box.index] = pattern
        self.frame.counts.update(zip((each.index for each in boxes), found, strict=True))

    def _turns(self, block: Block) -> Kind | None:
        """Which turns an entry of a pattern takes; None after a fault."""
        if block.count is not None:
            run = self._size(block.count, block, "count", least=0)
            return None if run is None else Kind(run)
        try:
            return Kind(rules=tuple(self.scope.rule(text) for text in block.turns))
        except DiagramError as error:
            self.session.faults(error)
            return None

    def _piles(self, block: Block) -> None:
        for text, name, least, into in (
            (block.stack, "stack", 1, self.frame.stacks),
            (block.copies, "copies", 0, self.frame.copies),
        ):
            if text is not None:
                size = self._size(text, block, name, least=least)
                if size is not None:
                    into[block.id] = size

    def _size(self, text: Text, block: Block, key: str, *, least: int) -> Dim | None:
        try:
            return self.scope.dim(text.value, text.span, f"{block.path}.{key}", least=least)
        except DiagramError as error:
            self.session.faults(error)
            return None

    # -- atoms ------------------------------------------------------------------------------

    def _input(self, atom: Atom) -> None:
        assert atom.port is not None
        shape = self.stated.input(atom.port, self._caller)
        if shape is not None:
            self.frame.outputs[atom.index] = (shape,)

    def _output(self, atom: Atom) -> None:
        port = atom.port
        assert port is not None
        links = self.connector.in_turn(atom)
        if links is None:
            return
        if not self.program.declared_outputs and len(links) != 1:
            # Nothing is promised: the last block may give several tensors, or none.
            if links:
                self._settle(atom, _only(links[0], ""))
            return
        if atom.chained and len(links) > 1 and len(links) == self._chained_outputs():
            number = self.program.outputs.index(atom.index)
            links = links[number : number + 1] or links
        if len(links) != 1:
            sources = self.connector.sources(atom)
            self.session.fault(faults.not_one_output(atom, len(links), sources))
            return
        self._settle(atom, _only(links[0], port.name))
        self.stated.output(atom, port, self.frame.shapes(links)[0])

    def _chained_outputs(self) -> int:
        return sum(self.program.atoms[index].chained for index in self.program.outputs)

    def _settle(self, atom: Atom, links: tuple[Link, ...]) -> None:
        """``atom`` hands on what comes in."""
        self.frame.links[atom.index] = links
        self.frame.outputs[atom.index] = self.frame.shapes(links)

    def _enter(self, atom: Atom) -> None:
        links, block = self.connector.in_turn(atom), atom.block
        assert block is not None
        if links is None:
            return
        self._settle(atom, links)
        if block.carry and len(block.carry) != len(links):
            self.frame.outputs[atom.index] = None
            sources = self.connector.sources(atom)
            self.session.fault(faults.carry_mismatch(block, len(links), sources))

    def _leave(self, atom: Atom) -> None:
        links = self.connector.in_turn(atom)
        if links is None:
            return
        self._settle(atom, links)
        before = self.frame.outputs[self._enters[atom.structure]]
        if before is not None:
            after = self.frame.shapes(links)
            self.stated.turns(atom, before, after)
            # What comes out of a repeat is what its next turn would take.
            self.stated.block(atom, after)

    def _adder(self, atom: Atom) -> None:
        links = self.connector.in_turn(atom)
        if links is None:
            return
        self.frame.links[atom.index] = links
        if self.stated.residual(atom, links):
            what = f"residual '{atom.id}'"
            applied = self._applier.apply(atom, registry.get("add"), {}, links, what)
            if applied is not None:
                self.stated.block(atom, applied.outputs)

    def _op(self, atom: Atom) -> None:
        block = atom.block
        assert block is not None
        op = registry.get(block.op)
        attrs = self._applier.attrs(op, block)
        links = self.connector.connect(
            atom, op.inputs, f"'{op.name}'", variadic=op.variadic, needed=op.needed
        )
        if links is None or attrs is None:
            return
        self.frame.links[atom.index] = links
        what = f"'{block.id}' ({op.name})"
        for place in op.indexes(attrs):
            if place < len(links) and self.frame.is_real(links[place].atom, links[place].port):
                self.session.fault(faults.not_whole(self.frame, atom, op, links, place, what))
                return
        applied = self._applier.apply(atom, op, attrs, links, what)
        if applied is not None:
            self.stated.block(atom, applied.outputs)
        if "tied" in op.does and attrs.get("table"):
            self._tied.append((atom, block, str(attrs["table"])))


def _only(link: Link, name: str) -> tuple[Link, ...]:
    return (replace(link, to=0, name=name),)
