"""One spec with shapes: what inference finds out about a program under one binding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from transformer_diagrams.dims import Condition, Dim, Speller
from transformer_diagrams.graph.pattern import Pattern
from transformer_diagrams.graph.program import ROOT, Feed, Program
from transformer_diagrams.graph.scope import Note, Scope
from transformer_diagrams.ops.pairs import Seen
from transformer_diagrams.ops.registry import Op, Shape
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Block, DimSpec, OptionSpec, Spec

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Link:
    """One tensor: output ``port`` of ``atom`` into input number ``to`` of the reader.

    Inputs are numbered without gaps; ``name`` is what the reader calls this one.
    """

    atom: int
    port: int
    to: int
    name: str
    feed: Feed


@dataclass(frozen=True, slots=True)
class Applied:
    """An op at work on known shapes; equal ones are one object."""

    op: Op
    attrs: Mapping[str, Any]
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    params: Dim
    active: Dim  # those of ``params`` that one token meets
    macs: Dim  # multiply-adds of matrix products, and
    work: Dim  # FLOPs beside them; both as if nothing were masked
    seen: Seen | None  # what it masks
    label: str
    warnings: tuple[str, ...] = ()
    needs: tuple[Condition, ...] = ()  # what must hold, and is not known to


@dataclass(frozen=True, slots=True)
class Bound:
    """What the sizes and options of a used spec stand for, and how each came to: a word of HOW."""

    values: Mapping[str, Dim | bool | str]
    how: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Caller:
    """The block that uses a spec, and what it hands in, without the leading axes ``lead``.

    ``sources`` tell where each of the ``shapes`` comes from.
    """

    block: Block
    shapes: Mapping[str, Shape]
    sources: tuple[Note, ...]
    lead: Shape | None


HOW = {
    "with": "given by `with`",
    "name": "the same name outside",
    "shape": "from the shape of an input",
    "definition": "by its definition",
    "default": "by its default",
}


@dataclass(slots=True)
class Frame:
    """``outputs[atom]`` is None where a fault keeps the shapes unknown."""

    program: Program
    scope: Scope
    outputs: list[tuple[Shape, ...] | None]
    links: list[tuple[Link, ...]]
    applied: dict[int, Applied] = field(default_factory=dict)
    uses: dict[int, Frame] = field(default_factory=dict)
    leads: dict[int, Shape] = field(default_factory=dict)  # a use -> leading axes it is done for
    counts: dict[int, Dim] = field(default_factory=dict)  # box -> turns of a repeat
    patterns: dict[int, Pattern] = field(default_factory=dict)  # box -> its turns and their kinds
    copies: dict[str, Dim] = field(default_factory=dict)  # id of a block -> `copies`
    stacks: dict[str, Dim] = field(default_factory=dict)  # id of a block -> `stack`
    size: int = 0  # blocks, with all uses opened
    bound: dict[int, Bound] = field(default_factory=dict)  # what `uses` were given
    _origins: dict[tuple[int, int], tuple[Frame, int, int]] = field(default_factory=dict)

    def shapes(self, links: tuple[Link, ...]) -> tuple[Shape, ...]:
        """What comes along ``links``, which are made from known outputs."""
        found = []
        for link in links:
            outputs = self.outputs[link.atom]
            assert outputs is not None
            found.append(outputs[link.port])
        return tuple(found)

    def flow(self, atom: int) -> tuple[Link, ...]:
        """The links of an atom without those of one step ago."""
        return tuple(link for link in self.links[atom] if link.feed.kind != "feedback")

    def output_name(self, atom: int, port: int) -> str:
        """The name of an output port: as the op or used spec calls it, or its number."""
        given = self.program.atoms[atom]
        names: tuple[str, ...] = ()
        if given.port is not None:
            names = (given.port.name,)
        elif atom in self.applied:
            op, links = self.applied[atom].op, self.links[atom]
            names = tuple(op.outputs)
            if op.variadic and len(self.applied[atom].outputs) == len(links):
                names = tuple(link.name for link in links)  # what goes in as k comes out as k
        elif atom in self.uses:
            used = self.uses[atom].program
            names = tuple(used.atoms[n].id for n in used.outputs)
        return names[port] if port < len(names) else str(port)

    def dtype(self, atom: int, port: int) -> str:
        """The type of the elements: as a spec's input or output states it, or as an op gives it."""
        given = self.program.atoms[atom]
        if given.port is not None and given.port.dtype != "float":
            return given.port.dtype
        frame, made, port = self.origin(atom, port)
        port_of = frame.program.atoms[made].port
        if port_of is not None:
            return port_of.dtype
        op = frame.applied[made].op if made in frame.applied else None
        return "int" if op is not None and frame.output_name(made, port) in op.whole else "float"

    def origin(self, atom: int, port: int) -> tuple[Frame, int, int]:
        """Where the values of an output were made: behind used specs, and what only moves them."""
        frame, way = self, []
        while (found := frame._origins.get((atom, port))) is None:
            way.append((frame, atom, port))
            before = frame._before(atom, port)
            if before is None:
                found = frame, atom, port
                break
            frame, atom, port = before
        for each, at, out in way:
            each._origins[at, out] = found
        return found

    def _before(self, atom: int, port: int) -> tuple[Frame, int, int] | None:
        """The output whose values this one hands on as they are; None where they are made."""
        if atom in self.uses and port < len(self.uses[atom].program.outputs):
            return self.uses[atom], self.uses[atom].program.outputs[port], 0
        links, kind = self.links[atom], self.program.atoms[atom].kind
        if kind == "op":
            moved = atom in self.applied and self.applied[atom].op.moves
            links, port = links[:1] if moved else (), 0 if moved else port
        elif kind == "add":
            links = ()
        if port < len(links) and links[port].feed.kind != "feedback":
            return self, links[port].atom, links[port].port
        return None

    def is_real(self, atom: int, port: int) -> bool:
        """Whether values are surely no whole numbers: of an input without `int`, or of an op."""
        if self.dtype(atom, port) != "float":
            return False
        frame, made, _ = self.origin(atom, port)
        if made in frame.applied:
            return frame.applied[made].op.makes_real
        return frame.program.atoms[made].kind == "input"

    def when(self, atom: int) -> str:
        """``when:`` of an atom: its own, else that of the nearest structure around it."""
        given = self.program.atoms[atom]
        if given.port is not None:
            return given.port.when
        if given.block is not None and given.block.when != "always":
            return given.block.when
        return self.when_of(given.structure)

    def when_of(self, box: int) -> str:
        """``when:`` of a structure: its own, else that of the nearest one around it."""
        for index in self.program.up(box):
            block = self.program.structures[index].block
            if index != ROOT and block is not None and block.when != "always":
                return block.when
        return "always"


@dataclass(frozen=True, slots=True)
class Given:
    """A size or option of a used spec: its value as text, and in words how it was bound."""

    name: str
    value: str
    how: str
    doc: str
    is_size: bool


@dataclass(frozen=True, slots=True)
class Used:
    """A spec that is used, what it was given, and at which blocks (paths of ids)."""

    id: str
    paths: tuple[str, ...]
    given: tuple[Given, ...]


def used_in(frame: Frame) -> list[Used]:
    """Every spec used below ``frame``, outer ones first; equal ones under equal bindings once."""
    found: dict[tuple[str, tuple[Given, ...]], list[str]] = {}
    todo = [(frame, "")]
    for inside, prefix in todo:  # it grows on the way
        for index, inner in sorted(inside.uses.items()):
            block = inside.program.atoms[index].block
            assert block is not None  # a use is a block
            spec, path = inner.program.spec, prefix + block.id
            key = spec.id, tuple(_given(spec, inside.bound[index], frame.scope.speller))
            if key not in found:  # what stands inside an equal one is equal
                todo.append((inner, f"{path}/"))
            found.setdefault(key, []).append(path)
    return [Used(id, tuple(paths), given) for (id, given), paths in found.items()]


def _given(spec: Spec, bound: Bound, speller: Speller) -> Iterator[Given]:
    declared: list[DimSpec | OptionSpec] = [*spec.dims.values(), *spec.options.values()]
    for each in declared:
        name = each.name
        value = bound.values[name]
        size = isinstance(value, Dim)
        text = speller.text(value) if isinstance(value, Dim) else str(value)
        shown = text.lower() if isinstance(value, bool) else text
        yield Given(name, shown, HOW[bound.how[name]], each.doc, size)
