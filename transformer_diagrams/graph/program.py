"""One spec with its `if:` decided and its wires known, but no shapes yet.

A :class:`Program` is flat: every computing thing is an :class:`Atom`, every structure a
:class:`Structure` that only says where an atom stands. Shapes and counts follow the atoms; the
drawing follows the structures.
"""

from __future__ import annotations

from collections.abc import Mapping

from transformer_diagrams.errors import NOWHERE, Span
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Block, PortSpec, Ref, Spec

ROOT = 0  # index of the outermost box


@dataclass(frozen=True, slots=True)
class Tap:
    """Where a tensor is taken: an atom's output by index or name; None means all of them."""

    atom: int
    port: int | str | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    """One tensor that an atom takes. ``to`` names the input port (None: the next free one)."""

    tap: Tap
    to: str | None = None
    kind: str = "data"  # data | residual | feedback (of one step ago)
    when: str = "always"
    mark: str = ""
    label: str = ""
    span: Span = NOWHERE
    ref: Ref | None = None


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure.

    ``kind``  root, repeat, group, residual, columns, column, parallel, branch, pattern (a repeat
    with turns of several kinds: around a repeat for each of them).
    """

    index: int
    kind: str
    parent: int
    block: Block | None
    drawn: bool = True


@dataclass(frozen=True, slots=True)
class Atom:
    """Something with outputs.

    ``kind``  input, output, op, use, add (the adder of a residual), enter and leave (the two
    ends of what a repeat hands from turn to turn).
    """

    index: int
    kind: str
    id: str
    structure: int
    feeds: tuple[Feed, ...] = ()
    block: Block | None = None
    port: PortSpec | None = None
    chained: bool = False  # the feeds come from the chain, not from `from:`

    @property
    def now(self) -> tuple[Feed, ...]:
        """The feeds that this step waits for."""
        return tuple(feed for feed in self.feeds if feed.kind != "feedback")

    @property
    def span(self) -> Span:
        if self.block is not None:
            return self.block.span
        return self.port.span if self.port is not None else NOWHERE

    @property
    def doc_path(self) -> str:
        if self.block is not None:
            return self.block.path
        if self.port is None:
            return ""
        return f"{'inputs' if self.kind == 'input' else 'outputs'}.{self.port.name}"


@dataclass(frozen=True, slots=True)
class Program:
    """A wired spec. ``order`` lists atom indices so that sources come first."""

    spec: Spec
    options: Mapping[str, bool | str]
    atoms: tuple[Atom, ...]
    structures: tuple[Structure, ...]
    order: tuple[int, ...]
    inputs: tuple[int, ...]  # atoms of kind input, in the order of the spec
    outputs: tuple[int, ...]
    ids: Mapping[str, int]  # id of a block -> its atom (ops and uses only)
    declared_outputs: bool  # False: the one output is the last block's, never named by the spec
    idle: tuple[Block, ...] = ()  # structures whose `from:` nothing reads

    def up(self, structure: int) -> tuple[int, ...]:
        """``structure`` and the structures around it, innermost first."""
        chain = [structure]
        while structure != ROOT:
            structure = self.structures[structure].parent
            chain.append(structure)
        return tuple(chain)
