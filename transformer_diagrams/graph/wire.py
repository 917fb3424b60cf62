"""Spec -> Program: decide `if:`, follow the chain rule and `from:`, put sources first.

The walk over the nested blocks keeps its own stack, so that neither depth nor length meets
Python's recursion limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from transformer_diagrams.errors import Fault
from transformer_diagrams.graph.order import sources_first
from transformer_diagrams.graph.program import ROOT, Atom, Feed, Program, Structure, Tap
from transformer_diagrams.spec.blocks import walk
from transformer_diagrams.spec.model import PREV, Block, PortSpec, Ref, Spec
from transformer_diagrams.spec.switch import parse_switch

Source = Tap | Ref
_MOST_CYCLES = 50  # told in one run
_SHOWN = 8  # blocks of a cycle that are named before it is cut short


@dataclass(slots=True)
class _Draft:
    """An atom whose feeds may still name blocks that stand further down."""

    kind: str
    id: str
    structure: int
    sources: list[Source]
    block: Block | None = None
    port: PortSpec | None = None
    chained: bool = False
    skip: list[Source] | None = None  # residual adders: what goes around the body


@dataclass(slots=True)
class _Level:
    """A structure being walked."""

    kind: str
    structure: int
    block: Block | None
    todo: Iterator[Block]
    start: list[Source]  # what the structure takes
    current: list[Source]  # what the next block takes
    results: list[list[Source]] = field(default_factory=list)  # parallel and columns


def wire(
    spec: Spec,
    options: Mapping[str, bool | str],
    *,
    takes_nothing: Callable[[Block], bool],
    report: Callable[[Fault], None],
) -> Program | None:
    """The wired form of ``spec``.

    ``takes_nothing(block)`` says whether an op or used spec has no inputs at all, so that it
    does not take the block before it. Faults go to ``report``; the result is None when the
    wires make no sense (a cycle, an unknown name), because nothing can be inferred then.
    """
    return _Wirer(spec, options, takes_nothing, report).run()


class _Wirer:
    def __init__(
        self,
        spec: Spec,
        options: Mapping[str, bool | str],
        takes_nothing: Callable[[Block], bool],
        report: Callable[[Fault], None],
    ) -> None:
        self.spec = spec
        self.options = options
        self.takes_nothing = takes_nothing
        self._report = report
        self.failed = False
        self.drafts: list[_Draft] = []
        self.structures: list[Structure] = [Structure(ROOT, "root", ROOT, None)]
        self.results: dict[str, list[Source]] = {}  # id -> what it gives
        self.left_out: dict[str, str] = {}  # id -> the condition that is false
        self.atoms_by_id: dict[str, int] = {}
        self.verdicts: dict[str, bool] = {}
        self.starts: list[tuple[Block, list[Source]]] = []  # structures and their own `from:`

    def report(self, fault: Fault) -> None:
        self.failed = True
        self._report(fault)

    def run(self) -> Program | None:
        spec = self.spec
        inputs = []
        for port in spec.inputs.values():
            index = self.add(_Draft("input", port.name, ROOT, [], port=port))
            inputs.append(index)
            self.results[port.name] = [Tap(index)]
        first: list[Source] = [Tap(inputs[0])] if inputs else []
        last = self.walk(first)
        outputs = self.add_outputs(last)
        atoms = self.finish()
        if atoms is None:
            return None
        order = self.order(atoms)
        if order is None:
            return None
        return Program(
            spec,
            MappingProxyType(dict(self.options)),
            atoms,
            tuple(self.structures),
            order,
            tuple(inputs),
            tuple(outputs),
            MappingProxyType(self.atoms_by_id),
            bool(spec.outputs),
            tuple(self.idle_starts(last)),
        )

    def idle_starts(self, last: list[Source]) -> Iterator[Block]:
        """Structures whose `from:` no block inside reads or names, since each has its own."""
        read = {id(last)} | {id(given) for given in self.results.values()}
        for draft in self.drafts:
            read |= {id(draft.sources), id(draft.skip)}
        for block, taken in self.starts:
            inside = {ref.target for child in walk(block.children) for ref in child.sources or ()}
            named = any(ref.target in inside for ref in block.sources or ())
            if id(taken) not in read and not named:
                yield block

    # -- the walk ---------------------------------------------------------------------------

    def walk(self, first: list[Source]) -> list[Source]:
        levels = [_Level("root", ROOT, None, iter(self.spec.blocks), first, first)]
        while True:
            level = levels[-1]
            block = next(level.todo, None)
            if block is None:
                levels.pop()
                given = self.close(level)
                if not levels:
                    return given
                self.hand_on(levels[-1], given)
            elif self.wanted(block):
                opened = self.visit(block, level)
                if opened is not None:
                    levels.append(opened)
            elif level.kind not in ("parallel", "columns") and not self.takes_nothing(block):
                # Who names a block that is left out gets what that block would have read.
                self.results[block.id] = self.taken(block, level)

    def taken(self, block: Block, level: _Level) -> list[Source]:
        """What a block reads: its own `from:`, else the block before (which `prev` names too)."""
        if block.sources is None:
            return level.current
        return [
            replace(ref, target=self.before(level)) if ref.target == PREV else ref
            for ref in block.sources
        ]

    def before(self, level: _Level) -> str:
        """A name for what the chain gives at this place."""
        name = f"{PREV}@{len(self.drafts)}.{level.structure}"
        self.results[name.replace(".", ":")] = level.current
        return name.replace(".", ":")

    def visit(self, block: Block, level: _Level) -> _Level | None:
        taken = self.taken(block, level)
        if level.kind in ("parallel", "columns"):
            if block.sources is None:
                taken = level.start
            kind = "column" if level.kind == "columns" else "branch"
            return self.enter(block, kind, level.structure, taken)
        if block.kind in ("op", "use"):
            chained = block.sources is None
            if chained and self.takes_nothing(block):
                taken = []
            index = self.add(
                _Draft(block.kind, block.id, level.structure, taken, block=block, chained=chained)
            )
            self.atoms_by_id[block.id] = index
            level.current = [Tap(index)]
            self.results[block.id] = level.current
            return None
        return self.enter(block, block.kind, level.structure, taken)

    def enter(self, block: Block, kind: str, parent: int, taken: list[Source]) -> _Level:
        # `parallel` and its branches are drawn only where they say something of their own.
        own = block.dressed or block.direction is not None or block.open in (False, "callout")
        drawn = kind not in ("parallel", "branch") or own
        if block.sources is not None:
            self.starts.append((block, taken))
        if block.pattern:
            kind = "pattern"  # its entries are the repeats
        box = Structure(len(self.structures), kind, parent, block, drawn)
        self.structures.append(box)
        current = taken
        if kind == "repeat":
            index = self.add(_Draft("enter", block.id, box.index, taken, block=block))
            current = [Tap(index)]
            for number, name in enumerate(block.carry):
                alone = len(block.carry) == 1
                self.results[name.value] = [Tap(index, None if alone else number)]
        return _Level(kind, box.index, block, iter(block.children), taken, current)

    def close(self, level: _Level) -> list[Source]:
        block = level.block
        if block is None:
            return level.current
        given = level.current
        if level.kind == "parallel":
            given = [source for branch in level.results for source in branch]
        elif level.kind == "columns":
            given = level.results[-1] if level.results else level.start
        elif level.kind == "repeat":
            index = self.add(_Draft("leave", block.id, level.structure, level.current, block=block))
            given = [Tap(index)]
        elif level.kind == "residual":
            draft = _Draft("add", block.id, level.structure, level.current, block=block)
            draft.skip = level.start
            given = [Tap(self.add(draft))]
        self.results[block.id] = given
        return given

    @staticmethod
    def hand_on(level: _Level, given: list[Source]) -> None:
        if level.kind in ("parallel", "columns"):
            level.results.append(given)
        else:
            level.current = given

    def add(self, draft: _Draft) -> int:
        self.drafts.append(draft)
        return len(self.drafts) - 1

    def wanted(self, block: Block) -> bool:
        if block.condition is None:
            return True
        text = block.condition.value
        verdict = self.verdicts.get(text)
        if verdict is None:
            verdict = self.verdicts[text] = parse_switch(text).holds(self.options)
        if not verdict:
            waiting = [block]
            while waiting:
                gone = waiting.pop()
                self.left_out.update(dict.fromkeys((gone.id, *map(str, gone.carry)), text))
                waiting.extend(gone.children)
        return verdict

    def add_outputs(self, last: list[Source]) -> list[int]:
        spec = self.spec
        if not spec.outputs:
            port = PortSpec("out", spec.span)
            return [self.add(_Draft("output", "out", ROOT, last, port=port, chained=True))]
        made = []
        for port in spec.outputs.values():
            sources: list[Source] = last
            if port.source is not None:
                span = port.source.span if port.source.span.line else port.span
                sources = [Ref(port.source.value, span, when=port.when)]
            chained = port.source is None
            made.append(
                self.add(_Draft("output", port.name, ROOT, sources, port=port, chained=chained))
            )
        return made

    # -- names to atoms ---------------------------------------------------------------------

    def finish(self) -> tuple[Atom, ...] | None:
        """The atoms with every name resolved; None after a fault."""
        around = self.repeats_around()
        atoms = []
        for index, draft in enumerate(self.drafts):
            sink = draft.structure
            if draft.kind == "enter":
                sink = self.structures[sink].parent
            named = draft.kind in ("op", "use")
            feeds = [
                feed
                for source in draft.sources
                for feed in self.feeds(source, draft, "data", named)
            ]
            if draft.skip is not None:
                feeds += [
                    feed
                    for source in draft.skip
                    for feed in self.feeds(source, draft, "residual", False)
                ]
            for feed in feeds:
                self.check_inside(feed, around, sink)
            atoms.append(
                Atom(
                    index,
                    draft.kind,
                    draft.id,
                    draft.structure,
                    tuple(feeds),
                    draft.block,
                    draft.port,
                    draft.chained,
                )
            )
        return None if self.failed else tuple(atoms)

    def feeds(self, source: Source, draft: _Draft, kind: str, named: bool) -> list[Feed]:
        if isinstance(source, Tap):
            span = draft.block.span if draft.block is not None else self.spec.span
            return [Feed(source, kind=kind, span=span)]
        label = source.label.value if source.label is not None else ""
        if source.feedback:
            if not self.may_feed_back(source, draft, kind):
                return []
            kind = "feedback"
        return [
            Feed(
                tap,
                source.port if named else None,
                kind,
                source.when,
                source.mark,
                label,
                source.span,
                source,
            )
            for tap in self.taps(source)
        ]

    def may_feed_back(self, ref: Ref, draft: _Draft, kind: str) -> bool:
        """Whether a block may read what another one gave one step ago; a fault if not."""
        found = [self.drafts[tap.atom].kind for tap in self.taps(ref)]
        hint = ""
        if draft.kind not in ("op", "use") or kind != "data":
            message = f"'{draft.id}' is no single block: what is fed back is read by an op or a use"
            hint = f"let a block inside read it: from: {{feedback: {ref.target}}}"
        elif "input" in found or "enter" in found:
            message = f"'{ref.target}' comes in, and is no block that gave something one step ago"
            hint = f"read it as it is: from: {ref.target}"
        else:
            return True
        fault = Fault("feedback", message, ref.span, found=ref.target, hint=hint)
        self.report(fault)
        return False

    def taps(self, ref: Ref) -> list[Tap]:
        """The atoms' outputs that ``ref`` means. A structure may pass on another name."""
        found: list[Tap] = []
        waiting: list[tuple[Source, tuple[str, ...]]] = [(ref, ())]
        while waiting:
            source, trail = waiting.pop()
            if isinstance(source, Tap):
                found.append(source)
                continue
            name, port = source.target, None
            if name not in self.results and "." in name:
                name, _, port = name.rpartition(".")
            if name not in self.results:
                self.report(self.gone(source, name))
                return []
            if source.target in trail:
                self.report(
                    Fault(
                        "cycle",
                        f"'{source.target}' is empty and takes its own output",
                        source.span,
                        found=" -> ".join((*trail, source.target)),
                    )
                )
                return []
            trail = (*trail, source.target)
            given = self.results[name]
            if port is not None:
                if len(given) == 1 and isinstance(given[0], Tap):
                    found.append(Tap(given[0].atom, int(port) if port.isdecimal() else port))
                    continue
                chosen = self.pick(given, name, port, source)
                if chosen is None:
                    return []
                waiting.append((chosen, trail))
                continue
            waiting.extend((each, trail) for each in reversed(given))
        return found

    def pick(self, given: list[Source], name: str, port: str, ref: Ref) -> Source | None:
        """One of several outputs of a structure, by number."""
        if port.isdecimal() and int(port) < len(given):
            return given[int(port)]
        for source in given:  # a block left out: its outputs are called as its inputs
            if isinstance(source, Ref) and source.port == port:
                return source
        self.report(
            Fault(
                "unknown-port",
                f"'{name}' has no output '{port}'",
                ref.span,
                found=ref.target,
                expected=f"a number from 0 to {len(given) - 1}",
            )
        )
        return None

    def gone(self, ref: Ref, name: str) -> Fault:
        """The fault of a reference to a block that no option lets stay: there are no others."""
        return Fault(
            "left-out",
            f"'{name}' is left out here, because `if: {self.left_out[name]}` is false",
            ref.span,
            found=ref.target,
            hint="give the reader of this block the same `if:`, or name a block that stays",
        )

    def repeats_around(self) -> list[tuple[int, ...]]:
        """For each box, the repeats around it and itself, outermost first."""
        around: list[tuple[int, ...]] = []
        for box in self.structures:
            outer = around[box.parent] if box.index != ROOT else ()
            around.append((*outer, box.index) if box.kind == "repeat" else outer)
        return around

    def check_inside(self, feed: Feed, around: list[tuple[int, ...]], sink: int) -> None:
        source = self.drafts[feed.tap.atom]
        place = source.structure
        if source.kind == "leave":
            place = self.structures[place].parent
        outer, inner = around[sink], around[place]
        # A source is visible where every repeat around it is around the reader too; both are
        # chains from the root, so one comparison of prefixes decides.
        if outer[: len(inner)] == inner:
            return
        hidden = next(r for n, r in enumerate(inner) if n >= len(outer) or outer[n] != r)
        block = self.structures[hidden].block
        name = block.id if block is not None else ""
        self.report(
            Fault(
                "inside-repeat",
                f"'{source.id}' stands inside the repeat '{name}' and has one value a turn, so "
                "it cannot be named from outside",
                feed.span,
                found=source.id,
                hint=f"take the repeat's output: '{name}'",
                notes=(("the repeat is here", block.span),) if block is not None else (),
            )
        )

    # -- order ------------------------------------------------------------------------------

    def order(self, atoms: tuple[Atom, ...]) -> tuple[int, ...] | None:
        """Sources first, else as written. A cycle is a fault that names it."""
        feeds = [(feed.tap.atom, atom.index) for atom in atoms for feed in atom.now]
        if all(source < reader for source, reader in feeds):
            return tuple(range(len(atoms)))
        cut: set[tuple[int, int]] = set()  # one wire of each cycle that has been told
        while True:
            wires = iter(feeds)
            order, missing = sources_first(len(atoms), (wire for wire in wires if wire not in cut))
            if len(order) == len(atoms):
                return None if cut else tuple(order)
            if len(cut) == _MOST_CYCLES:
                return None
            cut.add(self.report_cycle(atoms, missing, cut))

    def report_cycle(
        self, atoms: tuple[Atom, ...], missing: list[int], cut: set[tuple[int, int]]
    ) -> tuple[int, int]:
        """Walk back along unmet sources until an atom comes again: that is a cycle.

        Gives the wire (source, reader) that goes back.
        """
        at = next(index for index, count in enumerate(missing) if count)
        step: dict[int, int] = {}
        trail: list[int] = []
        while at not in step:
            step[at] = len(trail)
            trail.append(at)
            at = next(
                f.tap.atom
                for f in atoms[at].now
                if missing[f.tap.atom] and (f.tap.atom, at) not in cut
            )
        ring = trail[step[at] :][::-1]
        start = ring.index(min(ring))
        ring = ring[start:] + ring[:start]
        names: list[str] = []
        for index in ring:
            name = atoms[index].id
            if not names or names[-1] != name:  # a repeat's two ends are one block
                names.append(name)
        shown = names[:_SHOWN]
        text = " -> ".join(shown)
        if len(names) > _SHOWN:
            text += f" -> ... ({len(names):,} blocks in all)"
        text += f" -> {names[0]}"
        before = dict(zip(ring, (ring[-1], *ring), strict=False))
        reader, backward = next(
            (
                (index, feed)
                for index in ring
                for feed in atoms[index].now
                if feed.ref is not None and feed.tap.atom >= index
                and feed.tap.atom == before[index]
            ),
            (ring[0], None),
        )
        span = backward.span if backward is not None else atoms[ring[0]].span
        back = names[-1]
        if backward is not None and backward.ref is not None and "@" not in backward.ref.target:
            back = backward.ref.target
        notes = tuple((f"'{atoms[i].id}' is here", atoms[i].span) for i in ring[:_SHOWN])
        self.report(
            Fault(
                "cycle",
                f"the blocks wait for one another: {text}",
                span,
                path=atoms[ring[0]].doc_path,
                found=text,
                hint="a diagram flows one way: take an input or an earlier block instead; what a "
                f"block gave one step before is marked: from: {{feedback: {back}}}",
                notes=notes,
            )
        )
        return before[reader], reader
