"""What is said of an architecture: one trait an aspect, comparable, in words, with its places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cache

from transformer_diagrams.diff.flat import Flat, Leaf
from transformer_diagrams.dims import Dim, DimError
from transformer_diagrams.graph.ir import Group
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.registry import Shape
from transformer_diagrams.records import dataclass
from transformer_diagrams.text import plain

NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


@dataclass(frozen=True, slots=True)
class Trait:
    """One answer to one question. Two traits of an aspect are equal when their ``key`` is.

    ``at`` are the paths of the nodes that show it, ``where`` (default: the same) what a reader
    is told. "" as key: nothing of the kind is there.
    """

    aspect: str
    key: str
    text: str
    at: tuple[str, ...] = ()
    where: tuple[str, ...] | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """Where a reader is told that it is."""
        return self.at if self.where is None else self.where

    def like(self, other: Trait) -> bool:
        """Whether both say the same."""
        return self.key == other.key or (self.text == other.text and bool(self.key and other.key))


@dataclass(frozen=True, slots=True)
class Submodule:
    """A sub-module that does one job: one attention, one feed-forward network."""

    kind: str  # attention | ffn
    path: str
    scope: Group | None
    parts: tuple[int, ...]
    traits: Mapping[str, Trait]


@dataclass(slots=True)
class Reading:
    """One graph while it is read: its parts, and numbers for sizes where a config gives them."""

    flat: Flat
    numbers: Mapping[str, int] = field(default_factory=dict)

    def same(self, a: Dim, b: Dim) -> bool:
        """Whether two sizes are equal, as formulas or in the numbers of the config."""
        if a == b:
            return True
        left, right = self.number(a), self.number(b)
        return left is not None and left == right

    def number(self, size: Dim) -> int | None:
        """The number behind a size, where known."""
        try:
            if size.free <= self.numbers.keys():
                return size.evaluate(self.numbers)
        except DimError:
            pass
        return size.as_int()

    def said(self, size: Dim) -> str:
        """A size with its number: ``n_g = 8``."""
        number = self.number(size)
        return str(size) if number is None or size.is_const else f"{size} = {number}"


def is_true(value: object) -> bool:
    """Whether an attribute is set: options arrive as booleans or as words."""
    return value is True or str(value).lower() == "true"


def attr(part: Leaf, name: str) -> str:
    """An attribute as text; "" when it is not given."""
    value = part.node.attrs.get(name)
    return "" if value is None else str(value)


def heads_of(shape: Shape | None) -> Dim | None:
    """The axis of heads in [heads, positions, width]; None without one."""
    if shape is None or len(shape.dims) < 3:
        return None
    return shape.dims[-3]


def width_of(shape: Shape | None) -> Dim | None:
    """The last axis."""
    return shape.dims[-1] if shape is not None and shape.dims else None


def unique(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order they came."""
    return list(dict.fromkeys(texts))


def joined(texts: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    listed = unique(texts)
    if len(listed) < 2:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} and {listed[-1]}"


def kind_of(part: Leaf) -> str:
    """What the op of a part is called where its record says so in words, else the part's name."""
    return _called(part.op) or name_of(part)


def function_of(part: Leaf) -> str:
    """The name of the function that a part bends with: its choice, or what it is itself."""
    chosen = attr(part, "act") or attr(part, "kind")
    return _called(chosen) or chosen or kind_of(part)


@cache
def _called(op: str) -> str:
    try:
        record = registry.get(op)
    except registry.UnknownOp:
        return ""
    return record.text if isinstance(record.text, str) and record.family != "opaque" else ""


def name_of(part: Leaf) -> str:
    """What a reader would call a part."""
    return plain(part.node.label) or part.node.symbol or part.op.replace("_", " ")
