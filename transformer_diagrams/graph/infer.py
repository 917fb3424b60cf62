"""Shapes of every tensor of a spec, through used specs and repeats.

The shapes are symbolic, or numbers where the binding gives numbers: the same code checks
both. A used spec under an equal binding is inferred once, an op on equal shapes too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from transformer_diagrams.dims import (
    Condition,
    Dim,
    DimError,
    Facts,
    Speller,
    Verdict,
    above,
    const,
    nearest_divisors,
    spelt_by,
    sym,
    whole_from,
)
from transformer_diagrams.errors import (
    NOWHERE,
    DiagramError,
    Fault,
    Report,
    Span,
    TooManyFaults,
    did_you_mean,
)
from transformer_diagrams.graph.attrs import evaluate_attrs
from transformer_diagrams.graph.bind import Binding, bind_use, use_options
from transformer_diagrams.graph.connect import Connector
from transformer_diagrams.graph.frame import Applied, Bound, Frame, Link
from transformer_diagrams.graph.match import Leads, Misfit, beyond, misfit
from transformer_diagrams.graph.match import same as same_lead
from transformer_diagrams.graph.options import Settings, known_numbers, shown_by_configs
from transformer_diagrams.graph.program import Atom, Program
from transformer_diagrams.graph.scope import (
    Note,
    Scope,
    free_names,
    parse_cached,
    parse_condition_cached,
)
from transformer_diagrams.graph.shares import check_share, check_table
from transformer_diagrams.graph.spell import part_speller, proposed, root_speller
from transformer_diagrams.graph.wire import wire
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.registry import Call, Op, OpFault, Shape, Weight
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Block, DimSpec, PortSpec, Spec, Text

_T = TypeVar("_T")
_MOST_NOTES = 12
_DEEPEST_USE = 50
MOST_OPENED = 50_000  # blocks that the used specs of one spec may stand for
MOST_BINDINGS = 2_000  # different settings under which one spec may use others


class Library(Protocol):
    """Where `use` finds specs."""

    def get(self, ref: str, base: Spec | None = None, /) -> Spec: ...


@dataclass(frozen=True, slots=True)
class Need:
    """Something that must hold and does not follow from what the specs state.

    ``firm``  a size is none without it, so that it must be stated, or shown by the configs
    """

    condition: Condition
    reason: str
    span: Span
    path: str = ""
    firm: bool = False


# Owner of the id, program, and what was found wrong with it.
Wired = dict[tuple[int, tuple[Any, ...]], tuple[Spec, Program | None, tuple[Fault, ...]]]


@dataclass(slots=True)
class Inference:
    """One run over one root spec: the frames, the faults, and what had to be assumed."""

    library: Library
    wired: Wired = field(default_factory=dict)  # by earlier runs over the same specs
    report: Report = field(default_factory=Report)
    needs: dict[str, Need] = field(default_factory=dict)
    introduced: dict[str, Dim] = field(default_factory=dict)
    renamed: dict[str, Dim] = field(default_factory=dict)  # names of used specs in figures
    proposed: dict[str, Dim] = field(default_factory=dict)  # defaults that figures may rely on
    tex: dict[str, str] = field(default_factory=dict)
    speller: Speller = field(default_factory=Speller)  # of the root
    setting: str = ""  # "" or "config '8B'": put into every message
    root_names: frozenset[str] = frozenset()
    blocks: int = 0  # looked at so far
    _specs: dict[tuple[int, str], Spec] = field(default_factory=dict)
    _programs: dict[tuple[int, tuple[Any, ...]], Program | None] = field(default_factory=dict)
    _frames: dict[tuple[Any, ...], Frame | None] = field(default_factory=dict)
    _alone: dict[int, Facts] = field(default_factory=dict)
    _kept: list[object] = field(default_factory=list)  # owners of the ids used as keys

    # -- specs and programs -----------------------------------------------------------------

    def used_spec(self, block: Block, user: Spec) -> Spec:
        """The spec that ``block`` uses.

        :raises DiagramError: when there is none. A library has looked before it gave the user.
        """
        key = (id(user), block.use)
        if key not in self._specs:
            self._kept.append(user)
            self._specs[key] = self.library.get(block.use, user)
        return self._specs[key]

    def takes_nothing(self, user: Spec) -> Callable[[Block], bool]:
        """Whether a block of ``user`` has no inputs, so that it ends the chain before it."""
        known: dict[str, bool] = {}

        def test(block: Block) -> bool:
            if block.kind == "use":
                return not self.used_spec(block, user).inputs
            if block.kind != "op":
                return False
            if block.op not in known:
                op = registry.get(block.op)
                known[block.op] = not op.inputs and not op.variadic
            return known[block.op]

        return test

    def program(self, spec: Spec, options: Mapping[str, bool | str]) -> Program | None:
        """The wired form of ``spec``, once for each setting of its options."""
        key = (id(spec), tuple(sorted(options.items())))
        if key not in self._programs:
            if key in self.wired:
                for fault in self.wired[key][2]:
                    self.fault(fault)
            else:
                before = len(self.report.faults)
                program = wire(
                    spec, options, takes_nothing=self.takes_nothing(spec), report=self.fault
                )
                self.wired[key] = spec, program, tuple(self.report.faults[before:])
            self._programs[key] = self.wired[key][1]
        return self._programs[key]

    def fault(self, fault: Fault) -> None:
        self.report.add(fault)

    # -- the root ---------------------------------------------------------------------------

    def root(self, spec: Spec, settings: Settings, *, numeric: bool) -> Frame | None:
        """The frame of the outermost spec.

        With ``numeric``, sizes that the settings fix (by a value, a definition or a default)
        are numbers; the others stay symbols.
        """
        self.root_names = frozenset(spec.dims)
        for name, dim in spec.dims.items():
            if dim.tex:
                self.tex.setdefault(name, dim.tex)
        env: dict[str, Dim] = {name: sym(name) for name in spec.dims}
        numbers: dict[str, int] = {}
        if numeric:
            numbers = known_numbers(spec, settings, self.fault)
            env.update({name: const(number) for name, number in numbers.items()})
        scope = Scope(
            spec, env, settings.options, Facts(), setting=self.setting, numeric=numeric
        )
        scope.settle()
        definitions: dict[str, Dim] = {}
        for name, dim in spec.dims.items():
            scope.origins[name] = _root_origin(name, dim.doc, dim, numbers, settings)
            if dim.value is not None and name not in numbers:
                value = self._tried(scope.read, dim.value, f"dims.{name}.value")
                if value is not None:
                    definitions[name] = value
        if self.report.errors:
            return None
        self.proposed = proposed(spec, settings)
        self.speller = scope.speller = root_speller(scope, self.tex, definitions)
        scope.figure = scope.speller.with_defaults(self.proposed)
        with spelt_by(scope.speller):
            return self._root(spec, scope, definitions, settings)

    def _root(
        self, spec: Spec, scope: Scope, definitions: Mapping[str, Dim], settings: Settings
    ) -> Frame | None:
        conditions = self._conditions(spec, scope, is_root=True)
        try:
            scope.facts = Facts(definitions, conditions, trusting=False)
            for name, dim in spec.dims.items():
                if name not in settings.numbers:
                    self._require_sizes(scope, name, dim)
            scope.facts = Facts(definitions, conditions)
        except DimError as error:
            self.fault(
                Fault(
                    "definition-broken",
                    f"the sizes of '{spec.id}': {error}",
                    spec.span,
                    path="dims",
                )
            )
            return None
        program = self.program(spec, scope.options)
        if program is None:
            return None
        return _Run(self, program, scope).run()

    def _tried(self, read: Callable[[str, Span, str], _T], text: Text, path: str) -> _T | None:
        try:
            return read(text.value, text.span, path)
        except DiagramError as error:
            for fault in error.faults:
                self.fault(fault)
            return None

    def _require_sizes(self, scope: Scope, name: str, dim: DimSpec) -> None:
        """What defines or proposes a size must be one."""
        if dim.value is not None:
            self._tried(scope.require_size, dim.value, f"dims.{name}.value")
        if dim.default is not None:
            proposed = partial(scope.require_size, proposed=True)
            self._tried(proposed, dim.default, f"dims.{name}.default")

    def _conditions(self, spec: Spec, scope: Scope, *, is_root: bool) -> list[Condition]:
        """The relations of ``where:`` in the outermost names; those that fail are faults."""
        kept = []
        for number, text in enumerate(spec.where):
            path = f"where[{number}]"
            local = parse_condition_cached(text.value)
            try:
                moved = Condition(local.op, scope.put(local.left), scope.put(local.right))
                answer = scope.facts.check(moved)
            except DimError as error:
                self.fault(Fault("where-broken", f"{text.value}: {error}", text.span, path=path))
                continue
            if answer is Verdict.NO:
                self.fault(self._broken(text, local, moved, scope, path))
                continue
            if moved.free:
                kept.append(moved)
            if answer is Verdict.UNKNOWN and not is_root:
                self.need(moved, f"'{spec.id}' states it", text.span, path)
        return kept

    def _broken(
        self, text: Text, local: Condition, moved: Condition, scope: Scope, path: str
    ) -> Fault:
        sides = f"{moved.left} {_SIGNS.get(moved.op, 'against')} {moved.right}"
        hint = ""
        values = {name: scope.env[name].as_int() for name in sorted(local.free)}
        numbers = {name: number for name, number in values.items() if number is not None}
        if len(numbers) == len(values):
            sides = local.failure(numbers) or sides
        left, right = moved.left.as_int(), moved.right.as_int()
        if moved.op == "|" and left and right:
            near = " and by ".join(str(n) for n in nearest_divisors(left, right) if n)
            hint = f"{right} is divisible by {near}" if near else ""
        return Fault(
            "where-broken",
            f"'{text.value}' does not hold{self.where()}: {sides}",
            text.span,
            path=path,
            found=sides,
            expected=text.value,
            hint=hint,
            notes=scope.notes(local.free)[:_MOST_NOTES],
        )

    def where(self) -> str:
        """`` for config '8B'`` or nothing."""
        return f" for {self.setting}" if self.setting else ""

    def need(
        self, condition: Condition, reason: str, span: Span, path: str, *, firm: bool = False
    ) -> None:
        known = self.needs.get(str(condition))
        if known is None or (firm and not known.firm):
            self.needs[str(condition)] = Need(condition, reason, span, path, firm)

    # -- one spec ---------------------------------------------------------------------------

    def use(
        self,
        block: Block,
        scope: Scope,
        shapes: Mapping[str, Shape],
        depth: int,
        sources: tuple[Note, ...],
        lead: Shape | None,
    ) -> tuple[Frame, Bound] | None:
        """The frame of the spec that ``block`` uses and what it was given; None after a fault.

        ``sources`` tell where each of the ``shapes`` comes from, whose leading axes ``lead`` are
        taken for a batch.
        """
        used = self.used_spec(block, scope.spec)
        before = len(self.report.errors)
        options, chosen = use_options(block, used, scope, self.fault)
        binding = bind_use(block, used, scope, shapes, claim=self._claim, report=self.fault)
        if binding is None or len(self.report.errors) > before:
            return None
        values = {**binding.env, **binding.definitions, **options}
        bound = {**binding.bound, **chosen}
        key = (
            id(used),
            tuple(sorted(options.items())),
            tuple(binding.env.items()),
            tuple(shapes.items()),
            id(scope.facts),
        )
        if key in self._frames:
            known = self._frames[key]
            return None if known is None else (known, Bound(values, bound))
        self._frames[key] = None
        if len(self._frames) > MOST_BINDINGS:
            found = f"more than {MOST_BINDINGS:,} different settings of used specs"
            self.too_many_uses(block, found, "use the same sizes and options more often")
        self._kept.append(scope.facts)
        if depth >= _DEEPEST_USE:
            self.fault(
                Fault(
                    "use-cycle",
                    f"'{used.id}' is used inside itself, or specs are nested deeper than "
                    f"{_DEEPEST_USE}",
                    block.span,
                    path=block.path,
                    found=used.id,
                )
            )
            return None
        program = self.program(used, options)
        if program is None:
            return None
        inner = Scope(
            used,
            dict(binding.env),
            options,
            scope.facts,
            dict(binding.origins),
            setting=self.setting,
            numeric=scope.numeric,
            alone=lambda: self.alone(used),
        )
        inner.bound = binding.bound
        inner.settle()
        if binding.definitions:
            inner.facts = scope.facts.with_(binding.definitions)
        conditions = self._conditions(used, inner, is_root=False)
        if binding.by_text:
            inner.facts = scope.facts.with_(binding.definitions, conditions, trusting=False)
            for name in binding.by_text:
                self._require_sizes(inner, name, used.dims[name])
        inner.facts = scope.facts.with_(binding.definitions, conditions)
        self._spell(inner, scope, binding)
        caller = _Caller(block, shapes, sources, lead)
        frame = _Run(self, program, inner, caller, depth + 1).run()
        if len(self.report.errors) > before:
            self._add_user(before, block)
        self._frames[key] = frame
        return frame, Bound(values, bound)

    def _spell(self, inner: Scope, outer: Scope, binding: Binding) -> None:
        """Messages speak in the names outside, figures in those of the used spec."""
        inner.speller = outer.speller
        definitions = {**outer.figure.definitions, **binding.definitions}
        speller = part_speller(inner, outer, self.tex, definitions, self._rename)
        inner.figure = speller.with_defaults(self.proposed)
        for name, dim in inner.spec.dims.items():
            if dim.tex and (name in binding.definitions or name in self.renamed):
                self.tex.setdefault(name, dim.tex)

    def _rename(self, name: str, outer: Dim) -> bool:
        """Whether a used spec's ``name`` for ``outer`` is free to stand in the figure."""
        if name in self.root_names or name in self.introduced:
            return False
        return self.renamed.setdefault(name, outer) == outer

    def too_many_uses(self, block: Block, found: str, hint: str) -> None:
        """End the work on a spec that stands for more than anybody can draw or check."""
        self.fault(
            Fault(
                "too-many-uses",
                f"the used specs stand for too much: {found}",
                block.span,
                path=block.path,
                found=found,
                hint=hint,
            )
        )
        raise TooManyFaults(self.report.errors)

    def alone(self, spec: Spec) -> Facts:
        """What ``spec`` states of its own sizes, in its own names."""
        if id(spec) not in self._alone:
            self._kept.append(spec)
            definitions = {
                name: parse_cached(dim.value.value)
                for name, dim in spec.dims.items()
                if dim.value is not None
            }
            conditions = [parse_condition_cached(text.value) for text in spec.where]
            try:
                facts = Facts(definitions, conditions)
            except DimError:  # its own check says so
                facts = Facts()
            self._alone[id(spec)] = facts
        return self._alone[id(spec)]

    def _add_user(self, before: int, block: Block) -> None:
        """Tell of faults inside a used spec where it is used."""
        note: Note = (f"used as '{block.id}' here", block.span)
        errors = 0
        for index, fault in enumerate(self.report.faults):
            if fault.severity != "error":
                continue
            errors += 1
            if errors > before and note not in fault.notes:
                self.report.faults[index] = _with_note(fault, note)

    def _claim(self, name: str, definition: Dim) -> bool:
        """A defined size of a used spec keeps its name where no other size has it."""
        if name in self.root_names or name in self.renamed:
            return False
        return self.introduced.setdefault(name, definition) == definition


_SIGNS = {  # what holds where a relation does not
    "==": "!=",
    "!=": "==",
    "<=": ">",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "|": "does not divide",
}


def _root_origin(
    name: str, doc: str, dim: DimSpec, numbers: Mapping[str, int], settings: Settings
) -> tuple[Note, ...]:
    if name in settings.origins:
        return (settings.origins[name],)
    if dim.value is not None:
        shown = f" = {numbers[name]}" if name in numbers else ""
        return ((f"{name} = {dim.value.value}{shown}, a definition", dim.value.span),)
    if name in numbers and dim.default is not None:
        return ((f"{name} = {numbers[name]}, its default", dim.default.span),)
    return ((f"{name}: {doc}", dim.span),)


def _with_note(fault: Fault, note: Note) -> Fault:
    return replace(fault, notes=(*fault.notes, note))


@dataclass(frozen=True, slots=True)
class _Caller:
    """The block that uses a spec, and what it hands in, without the leading axes ``lead``."""

    block: Block
    shapes: Mapping[str, Shape]
    sources: tuple[Note, ...]
    lead: Shape | None


class _Run:
    """Inference of one program. Faults go on to the next block; what depends on a faulty one
    is passed over, so that one fault is told once."""

    def __init__(
        self,
        session: Inference,
        program: Program,
        scope: Scope,
        caller: _Caller | None = None,
        depth: int = 0,
    ) -> None:
        self.session = session
        self.program = program
        self.scope = scope
        self.caller = caller
        self.depth = depth
        count = len(program.atoms)
        self.frame = Frame(program, scope, [None] * count, [()] * count, size=count)
        session.blocks += count
        self.connector = Connector(self.frame, session.fault)
        self.leads: Leads = {}
        self._attrs: dict[tuple[Any, ...], Mapping[str, Any] | None] = {}
        self._applied: dict[tuple[Any, ...], Applied | None] = {}
        self.tied: list[tuple[Atom, Block, str]] = []
        self.enters = {a.box: a.index for a in program.atoms if a.kind == "enter"}

    def run(self) -> Frame:
        self._sizes()
        steps: dict[str, Callable[[Atom], None]] = {
            "input": self._input,
            "output": self._output,
            "op": self._op,
            "add": self._adder,
            "use": self._use,
            "enter": self._enter,
            "leave": self._leave,
        }
        for index in self.program.order:
            atom = self.program.atoms[index]
            steps[atom.kind](atom)
        for atom in self.program.atoms:
            if atom.kind in ("op", "use") and atom.block is not None and atom.block.share:
                check_share(self.frame, atom, atom.block, atom.block.share, self.session.fault)
        for atom, block, table in self.tied:
            check_table(self.frame, atom, block, table, self.session.where(), self.session.fault)
        for condition, at in self.scope.divisions.items():
            firm = self.scope.alone is None or not self._states(at.local)
            self.session.need(condition, f"'{at.text}' is a size", at.span, at.path, firm=firm)
        return self.frame

    def _states(self, local: Condition) -> bool:
        """Whether the spec says by itself that a division is exact."""
        spec = self.program.spec
        facts = self.session.alone(spec)
        return facts.check(local) is Verdict.YES or shown_by_configs(spec, local)

    # -- sizes of structures ----------------------------------------------------------------

    def _sizes(self) -> None:
        frame = self.frame
        for box in self.program.boxes:
            block = box.block
            if block is None:
                continue
            if box.kind == "repeat" and block.count is not None:
                turns = self._size(block.count, block, "repeat", least=0)
                if turns is not None:
                    frame.counts[box.index] = turns
            self._piles(block)
        for atom in self.program.atoms:
            if atom.kind in ("op", "use") and atom.block is not None:
                block = atom.block
                if block.stack is not None or block.copies is not None:
                    self._piles(block)

    def _piles(self, block: Block) -> None:
        for text, name, least, into in (
            (block.stack, "stack", 1, self.frame.stacks),
            (block.copies, "copies", 0, self.frame.copies),
        ):
            if text is not None:
                size = self._size(text, block, name, least=least)
                if size is not None:
                    into[block.id] = size

    def _size(self, text: Text, block: Block, key: str, *, least: int = 1) -> Dim | None:
        try:
            return self.scope.dim(text.value, text.span, f"{block.path}.{key}", least=least)
        except DiagramError as error:
            self._faults(error)
            return None

    def _faults(self, error: DiagramError) -> None:
        for fault in error.faults:
            self.session.fault(fault)

    # -- wires ------------------------------------------------------------------------------

    def _shapes(self, links: tuple[Link, ...]) -> tuple[Shape, ...]:
        shapes = []
        for link in links:
            outputs = self.frame.outputs[link.atom]
            assert outputs is not None  # links are made from known outputs
            shapes.append(outputs[link.port])
        return tuple(shapes)

    # -- atoms ------------------------------------------------------------------------------

    def _input(self, atom: Atom) -> None:
        port = atom.port
        assert port is not None
        caller = self.caller
        actual = None if caller is None else caller.shapes.get(port.name)
        stated = None
        if port.shape is not None:
            try:
                stated = self.scope.shape(
                    port.shape,
                    port.shape_span if port.shape_span.line else port.span,
                    f"inputs.{port.name}.shape",
                )
            except DiagramError as error:
                self._faults(error)
                return
        if actual is None:
            shape = stated if stated is not None else Shape((), "...")
            if shape.lead is not None:
                self.leads.setdefault(shape.lead, Shape((), shape.lead))
            self.frame.outputs[atom.index] = (shape,)
            return
        if stated is not None and caller is not None:
            wrong = misfit(stated, actual, self.leads, self.scope.facts)
            if wrong is not None:
                self.session.fault(self._input_fault(caller, port, stated, actual, wrong))
                return
        self.frame.outputs[atom.index] = (actual,)

    def _input_fault(
        self, caller: _Caller, port: PortSpec, stated: Shape, actual: Shape, wrong: Misfit
    ) -> Fault:
        block, used = caller.block, self.program.spec
        names = [n for text in port.shape or () for n in self._names(text)]
        written = ", ".join(text.value for text in port.shape or ())
        at = port.shape_span if port.shape_span.line else port.span
        hint, lead = self._rebind_hint(port, actual) or wrong.hint, caller.lead
        batch: tuple[Note, ...] = ()
        if lead is not None:
            whole = Shape((*lead.dims, *actual.dims), lead.lead)
            batch = ((f"of {whole}, {lead} is taken for a batch", block.span),)
            merged = lead.dims[-1] * actual.dims[-1] if lead.dims and actual.dims else None
            if merged is not None and self._surely(merged, stated.dims[-1]):
                hint = f"merge_heads before it gives {stated}"
            actual = whole
        return Fault(
            "shape-mismatch",
            f"'{block.id}'{self.session.where()}: input '{port.name}' of '{used.id}' does not "
            f"fit: {wrong.message}",
            block.span,
            path=block.path,
            found=str(actual),
            expected=str(stated),
            hint=hint,
            notes=(
                *caller.sources,
                *batch,
                (f"'{used.id}' states {port.name}: [{written}]", at),
                *self.scope.notes(names),
            )[:_MOST_NOTES],
        )

    def _surely(self, a: Dim, b: Dim) -> bool:
        return self.scope.facts.equal(a, b) is Verdict.YES

    def _rebind_hint(self, port: PortSpec, actual: Shape) -> str:
        """`with:` that would make the input fit, when a bare name stands on the axis."""
        texts = [t.value for t in port.shape or () if not t.value.startswith("...")]
        if len(texts) > len(actual.dims):
            return ""
        changes = []
        for text, axis in zip(texts, actual.dims[len(actual.dims) - len(texts) :], strict=True):
            if text in self.scope.env and self.scope.env[text] != axis:
                changes.append(f"{text}: {axis}")
        return f"with: {{{', '.join(changes)}}} would make it fit" if changes else ""

    def _names(self, text: Text) -> list[str]:
        return [] if text.value.startswith("...") else free_names(text)

    def _output(self, atom: Atom) -> None:
        port = atom.port
        assert port is not None
        found = self.connector.gather(atom)
        if found is None:
            return
        if not self.program.declared_outputs and len(found) != 1:
            # Nothing is promised: the last block may give several tensors, or none.
            if not found:
                return
            self.frame.links[atom.index] = (Link(found[0][0], found[0][1], 0, "", found[0][2]),)
            self.frame.outputs[atom.index] = self._shapes(self.frame.links[atom.index])
            return
        if atom.chained and len(found) > 1 and len(found) == self._chained_outputs():
            number = self.program.outputs.index(atom.index)
            found = [found[number]] if number < len(found) else found
        if len(found) != 1:
            self.session.fault(
                Fault(
                    "missing-input" if not found else "too-many-inputs",
                    f"output '{port.name}' is one tensor, but "
                    + ("nothing comes" if not found else f"{len(found)} come")
                    + " from the last block" * atom.chained,
                    atom.span,
                    path=atom.doc_path,
                    found=self.connector.sources(atom),
                    hint="choose with `from: block.port`",
                )
            )
            return
        self.frame.links[atom.index] = (Link(found[0][0], found[0][1], 0, port.name, found[0][2]),)
        actual = self._shapes(self.frame.links[atom.index])[0]
        if port.shape is not None:
            span = port.shape_span if port.shape_span.line else port.span
            self._assert(
                port.shape, actual, span, f"{atom.doc_path}.shape", f"output '{port.name}'", atom
            )
        self.frame.outputs[atom.index] = (actual,)

    def _chained_outputs(self) -> int:
        return sum(self.program.atoms[index].chained for index in self.program.outputs)

    def _assert(
        self, texts: tuple[Text, ...], actual: Shape, span: Span, path: str, what: str, atom: Atom
    ) -> None:
        try:
            stated = self.scope.shape(texts, span, path)
        except DiagramError as error:
            self._faults(error)
            return
        wrong = misfit(stated, actual, self.leads, self.scope.facts)
        if wrong is None:
            return
        names = [n for text in texts for n in self._names(text)]
        sources = (
            tuple(
                (
                    f"{actual} comes from '{self.program.atoms[link.atom].id}'",
                    self.program.atoms[link.atom].span,
                )
                for link in self.frame.links[atom.index][:1]
            )
            if atom.kind == "output"
            else ()
        )
        self.session.fault(
            Fault(
                "shape-mismatch",
                f"{what}{self.session.where()} is not as stated: {wrong.message}",
                span,
                path=path,
                found=str(actual),
                expected=str(stated),
                hint=wrong.hint,
                notes=(*sources, *self.scope.notes(names))[:_MOST_NOTES],
            )
        )

    def _assert_block(self, atom: Atom, outputs: tuple[Shape, ...]) -> None:
        block = atom.block
        assert block is not None
        if block.shape is None:
            return
        at = block.key_spans.get("shape", block.span)
        if not isinstance(block.shape, tuple):
            names = [self.frame.output_name(atom.index, n) for n in range(len(outputs))]
            for name, texts in block.shape.items():
                path = f"{block.path}.shape.{name}"
                if name not in names:
                    self.session.fault(
                        Fault(
                            "unknown-port",
                            f"'{block.id}' has no output '{name}'",
                            at,
                            path=path,
                            found=name,
                            hint=did_you_mean(name, names, what="output"),
                        )
                    )
                    continue
                self._assert(
                    texts,
                    outputs[names.index(name)],
                    at,
                    path,
                    f"output '{name}' of '{block.id}'",
                    atom,
                )
            return
        if len(outputs) != 1:
            self.session.fault(
                Fault(
                    "shape-mismatch",
                    f"'{block.id}' has {len(outputs)} outputs, so `shape:` names each",
                    at,
                    path=f"{block.path}.shape",
                    hint="shape: {name: [...], ...}",
                )
            )
            return
        self._assert(block.shape, outputs[0], at, f"{block.path}.shape", f"'{block.id}'", atom)

    def _pass(self, atom: Atom) -> None:
        found = self.connector.gather(atom)
        if found is None:
            return
        links = tuple(
            Link(source, port, to, str(to), feed) for to, (source, port, feed) in enumerate(found)
        )
        self.frame.links[atom.index] = links
        self.frame.outputs[atom.index] = self._shapes(links)

    def _enter(self, atom: Atom) -> None:
        self._pass(atom)
        given, block = self.frame.outputs[atom.index], atom.block
        assert block is not None
        if given is None or not block.carry or len(block.carry) == len(given):
            return
        self.frame.outputs[atom.index] = None
        names = ", ".join(name.value for name in block.carry)
        self.session.fault(
            Fault(
                "carry-mismatch",
                f"'{block.id}' carries {len(given)} tensors from turn to turn, but `carry` names "
                f"{len(block.carry)} ({names})",
                block.carry[0].span,
                path=f"{block.path}.carry",
                found=names,
                expected=f"{len(given)} names, for {self.connector.sources(atom) or 'nothing'}",
            )
        )

    def _leave(self, atom: Atom) -> None:
        self._pass(atom)
        after = self.frame.outputs[atom.index]
        before = self.frame.outputs[self.enters[atom.box]]
        if after is None or before is None:
            return
        block = atom.block
        assert block is not None
        problem = ""
        if not before:
            problem = "a repeat needs something to hand from turn to turn, but nothing comes in"
        elif len(before) != len(after):
            problem = f"{len(before)} tensors come in, but {len(after)} go out"
        else:
            for a, b in zip(before, after, strict=True):
                wrong = misfit(a, b, {k: Shape((), k) for k in [a.lead] if k}, self.scope.facts)
                if wrong is not None:
                    problem = f"{a} comes in, but {b} goes out ({wrong.message})"
                    break
        if problem:
            last = self.program.atoms[self.frame.links[atom.index][0].atom] if after else atom
            self.session.fault(
                Fault(
                    "repeat-mismatch",
                    f"'{block.id}' cannot be repeated{self.session.where()}: {problem}",
                    block.span,
                    path=block.path,
                    found=", ".join(map(str, after)),
                    expected=", ".join(map(str, before)),
                    hint="the last block of a turn must give what the first one takes",
                    notes=((f"the last block of a turn is '{last.id}'", last.span),),
                )
            )
        # What comes out of a repeat is what its next turn would take.
        self._assert_block(atom, after)

    def _adder(self, atom: Atom) -> None:
        op = registry.get("add")
        found = self.connector.gather(atom)
        if found is None:
            return
        links = tuple(
            Link(source, port, to, str(to), feed) for to, (source, port, feed) in enumerate(found)
        )
        self.frame.links[atom.index] = links
        skips = sum(link.feed.kind == "residual" for link in links)
        if skips != 1 or len(links) < 2:
            self.session.fault(
                Fault(
                    "residual",
                    f"'{atom.id}' adds its body to one tensor, but "
                    + (f"{skips} come in" if skips != 1 else "its body gives none"),
                    atom.span,
                    path=atom.doc_path,
                    hint="choose the stream with `from:`" if skips != 1 else "",
                )
            )
            return
        skip, *bodies = sorted(links, key=lambda link: link.feed.kind != "residual")
        comes = self._shapes((skip,))[0]
        for link, gives in zip(bodies, self._shapes(tuple(bodies)), strict=True):
            if len(gives.dims) != len(comes.dims) or gives.lead != comes.lead:
                self.session.fault(
                    Fault(
                        "shape-mismatch",
                        f"residual '{atom.id}'{self.session.where()}: {comes} comes in, but its "
                        f"body gives {gives}: the two must have the same shape",
                        atom.span,
                        path=atom.doc_path,
                        found=str(gives),
                        expected=str(comes),
                        notes=tuple(
                            (f"{shape} comes from '{source.id}'", source.span)
                            for shape, source in (
                                (comes, self.program.atoms[skip.atom]),
                                (gives, self.program.atoms[link.atom]),
                            )
                        ),
                    )
                )
                return
        self._apply(atom, op, {}, links, f"residual '{atom.id}'")

    def _op(self, atom: Atom) -> None:
        block = atom.block
        assert block is not None
        op = registry.get(block.op)
        attrs = self._evaluate(op, block)
        links = self.connector.connect(
            atom, op.inputs, f"'{op.name}'", variadic=op.variadic, needed=op.needed
        )
        if links is None or attrs is None:
            return
        self.frame.links[atom.index] = links
        self._apply(atom, op, attrs, links, f"'{block.id}' ({op.name})")
        if "tied" in op.does and attrs.get("table"):
            self.tied.append((atom, block, str(attrs["table"])))

    def _evaluate(self, op: Op, block: Block) -> Mapping[str, Any] | None:
        key = (op.name, *((name, str(value.value)) for name, value in block.attrs.items()))
        if key not in self._attrs:
            try:
                self._attrs[key] = evaluate_attrs(op, block, self.scope)
            except DiagramError as error:
                self._faults(error)
                return None  # not remembered: each block's fault has its own place
        return self._attrs[key]

    def _apply(
        self, atom: Atom, op: Op, attrs: Mapping[str, Any], links: tuple[Link, ...], what: str
    ) -> None:
        shapes = self._shapes(links)
        key = (op.name, id(attrs) if attrs else 0, shapes)
        applied = self._applied.get(key)
        if applied is None:
            call = Call(op=op, inputs=shapes, attrs=attrs, facts=self.scope.facts)
            try:
                outputs = tuple(op.shape(call))
                doubts = self._doubts(call, outputs)
                params, active = _weights(op.tensors(call))
                with spelt_by(self.scope.figure):
                    label = op.label(call)
                applied = Applied(
                    op,
                    attrs,
                    shapes,
                    outputs,
                    params,
                    active,
                    *op.costs(call),
                    op.seen(call),
                    label,
                    tuple(dict.fromkeys(call.warnings)),
                    (*doubts, *(Condition("|", a, b) for a, b in call.needs)),
                )
            except OpFault as error:
                self.session.fault(self._op_fault(atom, op, links, shapes, what, error))
                return
            except DimError as error:
                wrapped = OpFault(str(error), getattr(error, "hint", ""))
                self.session.fault(self._op_fault(atom, op, links, shapes, what, wrapped))
                return
            self._applied[key] = applied
        self.frame.applied[atom.index] = applied
        self.frame.outputs[atom.index] = applied.outputs
        for text in applied.warnings:
            self.session.fault(
                Fault(
                    "stretched",
                    f"{what}{self.session.where()}: {text}",
                    atom.span,
                    path=atom.doc_path,
                    found=_listed(links, shapes),
                    severity="warning",
                    notes=self._origins(links, shapes),
                )
            )
        for condition in applied.needs:
            # Only what a size of the result rests on; a used spec is asked when it is checked.
            firm = self.scope.alone is None and any(
                (condition.right, condition.left) in size.divisions
                for shape in applied.outputs
                for size in shape.dims
            )
            self.session.need(condition, f"{what} needs it", atom.span, atom.doc_path, firm=firm)
        self._assert_block(atom, applied.outputs)

    def _doubts(self, call: Call, outputs: tuple[Shape, ...]) -> tuple[Condition, ...]:
        """What must hold for the sizes that an op works out to be sizes, and is not known.

        :raises OpFault: a size that is surely none.
        """
        facts = self.scope.facts
        given = {size for shape in call.inputs for size in shape.dims}
        found: list[Condition] = []
        for shape in outputs:
            for size in shape.dims:
                if size in given:
                    continue
                given.add(size)
                verdict = facts.at_least(size, 1)
                if verdict is Verdict.NO:
                    raise OpFault(
                        f"it would give {shape}, but {size} is no size: a size must be "
                        f"{whole_from(1)} ({call.shown()})"
                    )
                if verdict is Verdict.UNKNOWN:
                    found.append(above(size, 1))
        return tuple(found)

    def _op_fault(
        self,
        atom: Atom,
        op: Op,
        links: tuple[Link, ...],
        shapes: tuple[Shape, ...],
        what: str,
        error: OpFault,
    ) -> Fault:
        block = atom.block
        names: set[str] = set()
        given = block.attrs if block is not None else {}
        for attr in op.attrs:
            sizes = given[attr.name].texts if attr.name in given and "dim" in attr.kind else ()
            for word in sizes:
                names |= {n for n in self._names(Text(word)) if n in self.scope.env}
        for shape in shapes:
            for dim in shape.dims:
                names |= {n for n in dim.free if n in self.scope.env}
        for index in self.program.inputs:
            port = self.program.atoms[index].port
            for text in (port.shape if port is not None else None) or ():
                names |= {n for n in self._names(text) if n in self.scope.env}
        # Only sizes that the reader sees: in a shape, or by their number in the message.
        seen = {size for shape in shapes for size in shape.dims}
        free = {name for size in seen for name in size.free}
        told = set(re.findall(r"[\w.]+", error.message))
        env = self.scope.env
        names = {n for n in names if n in free or env[n] in seen or str(env[n]) in told}
        own = tuple((text, NOWHERE) for text in getattr(error, "notes", ()))
        notes = (*self._origins(links, shapes), *own, *self.scope.notes(names))
        return Fault(
            "shape-mismatch",
            f"{what}{self.session.where()}: {error.message}",
            atom.span,
            path=atom.doc_path,
            found=_listed(links, shapes),
            hint=error.hint or "",
            notes=notes[:_MOST_NOTES],
        )

    def _origins(self, links: tuple[Link, ...], shapes: tuple[Shape, ...]) -> tuple[Note, ...]:
        return tuple(
            (
                f"{link.name}: {shape} from '{self.program.atoms[link.atom].id}'",
                self.program.atoms[link.atom].span,
            )
            for link, shape in zip(links, shapes, strict=True)
        )

    def _use(self, atom: Atom) -> None:
        block = atom.block
        assert block is not None
        used = self.session.used_spec(block, self.program.spec)
        names = tuple(used.inputs)
        links = self.connector.connect(
            atom, names, f"'{used.id}'", variadic=False, needed=len(names)
        )
        if links is None:
            return
        self.frame.links[atom.index] = links
        shapes = dict(zip((link.name for link in links), self._shapes(links), strict=True))
        sources = self._origins(links, tuple(shapes.values()))
        try:
            lead, shapes = self._led(used, shapes)
        except OpFault as error:
            self.session.fault(
                Fault(
                    "shape-mismatch",
                    f"'{block.id}'{self.session.where()}: {error.message}",
                    block.span,
                    path=block.path,
                    found=_listed(links, tuple(shapes.values())),
                    hint=error.hint,
                    notes=sources,
                )
            )
            return
        if lead is not None:
            self.frame.leads[atom.index] = lead
        made = self.session.use(block, self.scope, shapes, self.depth, sources, lead)
        if made is None:
            return
        inner, self.frame.bound[atom.index] = made
        self.frame.uses[atom.index] = inner
        self.frame.size += inner.size
        if self.frame.size > MOST_OPENED + len(self.program.atoms):
            found = f"more than {MOST_OPENED:,} blocks, when all are opened"
            self.session.too_many_uses(block, found, "put a `repeat` around what is used often")
        outputs = []
        for index in inner.program.outputs:
            given = inner.outputs[index]
            if given is None:
                if inner.program.declared_outputs:
                    return
                continue
            shape = self._outside(given[0])
            if lead is not None:
                shape = Shape((*lead.dims, *shape.dims), lead.lead)
            outputs.append(shape)
        self.frame.outputs[atom.index] = tuple(outputs)
        self._assert_block(atom, tuple(outputs))

    def _led(
        self, used: Spec, shapes: dict[str, Shape]
    ) -> tuple[Shape | None, dict[str, Shape]]:
        """(leading axes such as a batch, for each of which a used spec is done once; the inputs
        of one of these).

        They are those that inputs have beyond what the spec states of them; an input without any
        serves all.

        :raises OpFault: inputs that have different ones.
        """
        found: Shape | None = None
        first = ""
        inside = dict(shapes)
        for name, shape in shapes.items():
            texts = used.inputs[name].shape
            if texts is None or any(text.value.startswith("...") for text in texts):
                return None, shapes
            lead = beyond(Shape((const(1),) * len(texts)), shape)
            if lead is None:
                continue
            if found is not None and not same_lead(found, lead, self.scope.facts):
                raise OpFault(
                    f"'{first}' of '{used.id}' comes with the leading axes {found}, but '{name}' "
                    f"with {lead}",
                    "give the inputs the same leading axes, or only those that need them",
                )
            found, first = lead, first or name
            inside[name] = Shape(shape.dims[len(lead.dims) :])
        return found, inside

    def _outside(self, shape: Shape) -> Shape:
        """``shape`` without the names that a used spec brought along."""
        introduced = self.session.introduced
        if not introduced or not any(d.free & introduced.keys() for d in shape.dims):
            return shape
        return Shape(tuple(d.subs(introduced) for d in shape.dims), shape.lead)


def _listed(links: tuple[Link, ...], shapes: tuple[Shape, ...]) -> str:
    pairs = zip(links, shapes, strict=True)
    return "; ".join(f"{link.name}: {shape}" for link, shape in pairs)


def _weights(tensors: tuple[Weight, ...]) -> tuple[Dim, Dim]:
    """How many learned numbers, and how many of them one token meets."""
    total = active = const(0)
    for weight in tensors:
        count = weight.shape.numel()
        total = total + count
        active = active + (
            count if weight.active is None else count * weight.active[0] / weight.active[1]
        )
    return total, active
