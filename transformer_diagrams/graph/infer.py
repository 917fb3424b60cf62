"""Shapes of every tensor of a spec, through used specs and repeats.

The shapes are symbolic, or numbers where the binding gives numbers: the same code checks
both. A used spec under an equal binding is inferred once, an op on equal shapes too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from transformer_diagrams.dims import (
    Condition,
    Dim,
    DimError,
    Facts,
    Speller,
    Verdict,
    const,
    spelt_by,
    sym,
)
from transformer_diagrams.errors import DiagramError, Fault, Span, TooManyFaults
from transformer_diagrams.graph import faults
from transformer_diagrams.graph.bind import Binding, bind_use, use_options
from transformer_diagrams.graph.frame import Bound, Caller, Frame
from transformer_diagrams.graph.match import beyond
from transformer_diagrams.graph.match import same as same_lead
from transformer_diagrams.graph.options import Settings, known_numbers, shown_by_configs
from transformer_diagrams.graph.program import Atom, Program
from transformer_diagrams.graph.scope import (
    Note,
    Scope,
    parse_cached,
    parse_condition_cached,
)
from transformer_diagrams.graph.session import Session
from transformer_diagrams.graph.spell import part_speller, proposed, root_speller
from transformer_diagrams.graph.walk import Walk
from transformer_diagrams.graph.wire import wire
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.registry import OpFault, Shape
from transformer_diagrams.spec.model import Block, DimSpec, Spec, Text

_T = TypeVar("_T")
_DEEPEST_USE = 50
MOST_OPENED = 50_000  # blocks that the used specs of one spec may stand for
MOST_BINDINGS = 2_000  # different settings under which one spec may use others


class Library(Protocol):
    """Where `use` finds specs."""

    def get(self, ref: str, base: Spec | None = None, /) -> Spec: ...


# Owner of the id, program, and what was found wrong with it.
Wired = dict[tuple[int, tuple[Any, ...]], tuple[Spec, Program | None, tuple[Fault, ...]]]


@dataclass
class Inference(Session):
    """One run over one root spec: the frames, the faults, and what had to be assumed."""

    library: Library = field(kw_only=True)
    wired: Wired = field(default_factory=dict)  # by earlier runs over the same specs
    renamed: dict[str, Dim] = field(default_factory=dict)  # names of used specs in figures
    proposed: dict[str, Dim] = field(default_factory=dict)  # defaults that figures may rely on
    tex: dict[str, str] = field(default_factory=dict)
    speller: Speller = field(default_factory=Speller)  # of the root
    setting: str = ""  # "" or "config '8B'": put into every message
    root_names: frozenset[str] = frozenset()
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
        return self._frame(Walk(self, program, scope, self._use))

    def _frame(self, walk: Walk) -> Frame:
        """What a walk finds, and what has to hold for the divisions on its way."""
        frame, spec = walk.run(), walk.program.spec
        for condition, at in walk.scope.divisions.items():
            firm = walk.scope.alone is None or not self._states(spec, at.local)
            self.need(condition, f"'{at.text}' is a size", at.span, at.path, firm=firm)
        return frame

    def _states(self, spec: Spec, local: Condition) -> bool:
        """Whether a spec says by itself that a division is exact."""
        return self.alone(spec).check(local) is Verdict.YES or shown_by_configs(spec, local)

    def _tried(self, read: Callable[[str, Span, str], _T], text: Text, path: str) -> _T | None:
        try:
            return read(text.value, text.span, path)
        except DiagramError as error:
            self.faults(error)
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
                self.fault(faults.where_broken(text, local, moved, scope, path))
                continue
            if moved.free:
                kept.append(moved)
            if answer is Verdict.UNKNOWN and not is_root:
                self.need(moved, f"'{spec.id}' states it", text.span, path)
        return kept

    # -- one spec ---------------------------------------------------------------------------

    def _use(self, walk: Walk, atom: Atom) -> None:
        """The outputs of a block that uses a spec: what comes in is bound, and the spec walked."""
        block, outer = atom.block, walk.frame
        assert block is not None
        used = self.used_spec(block, walk.program.spec)
        names = tuple(used.inputs)
        links = walk.connector.connect(
            atom, names, f"'{used.id}'", variadic=False, needed=len(names)
        )
        if links is None:
            return
        outer.links[atom.index] = links
        shapes = dict(zip((link.name for link in links), outer.shapes(links), strict=True))
        sources = faults.origins(outer, links, outer.shapes(links))
        try:
            lead, shapes = _led(used, shapes, walk.scope.facts)
        except OpFault as error:
            message = f"'{block.id}'{walk.scope.where}: {error.message}"
            found = faults.listed(links, outer.shapes(links))
            self.fault(
                faults.told(
                    block, "shape-mismatch", message, found=found, hint=error.hint, notes=sources
                )
            )
            return
        if lead is not None:
            outer.leads[atom.index] = lead
        made = self._bound(Caller(block, shapes, sources, lead), used, walk.scope, walk.depth)
        if made is None:
            return
        inner, outer.bound[atom.index] = made
        outer.uses[atom.index] = inner
        outer.size += inner.size
        if outer.size > MOST_OPENED + len(walk.program.atoms):
            found = f"more than {MOST_OPENED:,} blocks, when all are opened"
            self._too_many(block, found, "put a `repeat` around what is used often")
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
        outer.outputs[atom.index] = tuple(outputs)
        walk.stated.block(atom, tuple(outputs))

    def _outside(self, shape: Shape) -> Shape:
        """``shape`` without the names that a used spec brought along."""
        introduced = self.introduced
        if not introduced or not any(d.free & introduced.keys() for d in shape.dims):
            return shape
        return Shape(tuple(d.subs(introduced) for d in shape.dims), shape.lead)

    def _bound(
        self, caller: Caller, used: Spec, scope: Scope, depth: int
    ) -> tuple[Frame, Bound] | None:
        """The frame of ``used`` for its caller, and what it was given; None after a fault."""
        block, shapes = caller.block, caller.shapes
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
            self._too_many(block, found, "use the same sizes and options more often")
        self._kept.append(scope.facts)
        if depth >= _DEEPEST_USE:
            self.fault(faults.nested_too_deep(block, used.id, _DEEPEST_USE))
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
        try:
            self._learn(inner, scope.facts, binding)
        except DimError as error:  # only the caller's sizes show that a definition has no value
            message = f"the sizes of '{used.id}'{inner.where}: {error}"
            self.fault(faults.told(block, "definition-broken", message))
            return None
        self._spell(inner, scope, binding)
        frame = self._frame(Walk(self, program, inner, self._use, caller, depth + 1))
        if len(self.report.errors) > before:
            self._add_user(before, block)
        self._frames[key] = frame
        return frame, Bound(values, bound)

    def _learn(self, inner: Scope, outer: Facts, binding: Binding) -> None:
        """Put what a used spec states of its sizes beside what is known outside.

        :raises DimError: a definition that has no value here.
        """
        if binding.definitions:
            inner.facts = outer.with_(binding.definitions)
        conditions = self._conditions(inner.spec, inner, is_root=False)
        if binding.by_text:
            inner.facts = outer.with_(binding.definitions, conditions, trusting=False)
            for name in binding.by_text:
                self._require_sizes(inner, name, inner.spec.dims[name])
        inner.facts = outer.with_(binding.definitions, conditions)

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

    def _too_many(self, block: Block, found: str, hint: str) -> None:
        """End the work on a spec that stands for more than anybody can draw or check."""
        self.fault(faults.too_many_uses(block, found, hint))
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


def _led(
    used: Spec, shapes: dict[str, Shape], facts: Facts
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
        if found is not None and not same_lead(found, lead, facts):
            raise OpFault(
                f"'{first}' of '{used.id}' comes with the leading axes {found}, but '{name}' "
                f"with {lead}",
                "give the inputs the same leading axes, or only those that need them",
            )
        found, first = lead, first or name
        inside[name] = Shape(shape.dims[len(lead.dims) :])
    return found, inside
