"""The op registry: one record an op, and all that the rest of the toolkit knows of ops.

Conventions, said once:
- a multiply-add is 2 FLOPs; biases count as parameters; a data type never changes a count;
- axes count from 1 in messages, from the end (-1, -2) in attributes;
- shapes leave out the batch axis, or name it with leading "...".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from transformer_diagrams.dims import Dim, DimError, Facts, Verdict, const, parse, product
from transformer_diagrams.errors import did_you_mean

ZERO, ONE = const(0), const(1)
ANY = "..."


class OpFault(ValueError):
    """What is wrong with an op's inputs or attributes; places are added by the caller."""

    def __init__(self, message: str, hint: str = "", notes: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message, self.hint, self.notes = message, hint, tuple(notes)


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a tensor's axes; ``lead`` names leading axes of any number ("..." or "...B")."""

    dims: tuple[Dim, ...]
    lead: str | None = None

    @staticmethod
    def parse(parts: Iterable[object]) -> Shape:
        """``Shape.parse(["...", "d_t", "2 d_m"])``; raises DimError."""
        return _parse_shape(tuple(str(p) for p in parts))

    def __str__(self) -> str:
        lead = [self.lead] if self.lead else []
        return "[" + ", ".join([*lead, *map(str, self.dims)]) + "]"

    def tex(self, names: Mapping[str, str] | None = None) -> str:
        """``d_t \\times d_m``; products of a sum in parentheses; "" for a scalar."""
        parts = [d.tex(names) if len(d.terms) < 2 else f"({d.tex(names)})" for d in self.dims]
        return " \\times ".join(parts)

    def numel(self) -> Dim:
        """The number of elements (of the named axes)."""
        return product(self.dims)

    @property
    def ndim(self) -> int:
        return len(self.dims)

    def with_last(self, *last: Dim) -> Shape:
        """The shape with its last axes replaced: ``[a, b].with_last(c) == [a, c]``."""
        return Shape((*self.dims[: len(self.dims) - len(last)], *last), self.lead)


@lru_cache(maxsize=8192)
def _parse_shape(parts: tuple[str, ...]) -> Shape:
    lead = None
    if parts and parts[0].startswith(ANY):
        lead, parts = parts[0], parts[1:]
    for part in parts:
        if part.startswith(ANY):
            raise DimError("'...' may only come first in a shape", 1)
    return Shape(tuple(parse(p) for p in parts), lead)


@dataclass(frozen=True, slots=True)
class Attr:
    """An option of an op. ``kind``: dim, dims, bool, int, float, str, enum, name, names."""

    name: str
    kind: str
    doc: str
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Weight:
    """A learned tensor; of ``total`` copies a token meets ``active`` (None: all)."""

    name: str
    shape: Shape
    active: tuple[Dim, Dim] | None = None


@dataclass(slots=True)
class Call:
    """An op at work: its inputs, evaluated attributes, and what is known about the names."""

    op: Op
    inputs: tuple[Shape, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    warnings: list[str] = field(default_factory=list)
    needs: list[tuple[Dim, Dim]] = field(default_factory=list)  # (divisor, dividend)

    def __getitem__(self, name: str) -> Any:
        return self.attrs[name]

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, or ``default`` where it is absent or null."""
        value = self.attrs.get(name)
        return default if value is None else value

    @property
    def x(self) -> Shape:
        """The first input."""
        return self.inputs[0]

    def name(self, index: int) -> str:
        """What input ``index`` is called in messages."""
        names = self.op.inputs
        return names[index] if index < len(names) else f"input {index + 1}"

    def need_axes(self, index: int, least: int) -> Shape:
        """Input ``index``, which must have at least ``least`` axes (or leading "...")."""
        shape = self.inputs[index]
        if shape.ndim < least and shape.lead is None:
            raise OpFault(
                f"{self.name(index)} {shape} has {_axes(shape.ndim)}, needs at least {least}"
            )
        return shape

    def last(self, index: int, back: int = 1) -> Dim | None:
        """The size of an axis counted from the end; None when it lies in "..."."""
        dims = self.inputs[index].dims
        return dims[-back] if len(dims) >= back else None

    def require_equal(self, a: Dim, b: Dim, where_a: str, where_b: str, hint: str = "") -> None:
        """Raises OpFault unless the two sizes are known to be equal."""
        verdict = self.facts.equal(a, b)
        if verdict is Verdict.YES:
            return
        if verdict is Verdict.NO:
            raise OpFault(f"{where_a} = {a}, but {where_b} = {b}", hint)
        raise OpFault(
            f"{where_a} = {a} and {where_b} = {b}: cannot tell whether they are equal",
            hint or f"{self.facts.explain(a, b)}; say so in `where:` or give one the other's value",
        )

    def require_divides(self, divisor: Dim, dividend: Dim, what: str) -> Dim:
        """The quotient; the divisibility is checked, or recorded for the caller to check."""
        from transformer_diagrams.dims import nearest_multiples

        n, d = self.facts.reduce(dividend).as_int(), self.facts.reduce(divisor).as_int()
        if d == 0:
            raise OpFault(f"{what}: division by zero")
        if n is not None and d is not None and n % d:
            below, above = nearest_multiples(n, d)
            near = f"{below} and {above}" if below else f"{above}"
            raise OpFault(
                f"{what}: {n} is not divisible by {d} (remainder {n % d}; nearest {near})",
                f"use {near.replace(' and ', ' or ')}",
            )
        if self.facts.divides(divisor, dividend) is not Verdict.YES:
            self.needs.append((divisor, dividend))
        return dividend / divisor

    def warn(self, text: str) -> None:
        """A remark that does not stop the work."""
        self.warnings.append(text)

    def axis(self, index: int, axis: int | Dim) -> int:
        """Position in ``inputs[index].dims`` of an axis counted from 0 or from the end."""
        number = axis.as_int() if isinstance(axis, Dim) else axis
        dims = self.inputs[index].dims
        if number is None or not -len(dims) <= number < len(dims):
            raise OpFault(
                f"{self.name(index)} {self.inputs[index]} has no axis {axis}",
                f"axes run from 0 to {len(dims) - 1}, or from -1 back to {-len(dims)}",
            )
        return number % len(dims)


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"


Rule = Callable[[Call], Any]


def _same(c: Call) -> tuple[Shape, ...]:
    return (c.inputs[0],)


@dataclass(frozen=True, slots=True)
class Op:
    """One operation.

    inputs    names of the input ports; ``variadic`` ops take any number beyond them
    optional  how many of the last inputs may be left out
    role      style role; ``param_role`` the role its weights count as ("" = the container's)
    shape     Call -> output shapes;  weights: Call -> learned tensors;  flops: Call -> Dim
    text      Call -> default label (mixed text and $TeX$)
    value     reserved: Call, arrays -> arrays, with NumPy imported inside
    example   {"inputs": [...], "attrs": {...}, "outputs": [...], "params": n, "flops": n}
    """

    name: str
    summary: str
    family: str
    shape: Rule = _same
    role: str = "plain"
    param_role: str = ""
    inputs: tuple[str, ...] = ("x",)
    outputs: tuple[str, ...] = ("y",)
    variadic: bool = False
    optional: int = 0
    attrs: tuple[Attr, ...] = ()
    weights: Rule | None = None
    work: Rule | None = None
    text: Rule | str = ""
    form: str = "box"
    symbol: str = ""
    value: Callable[..., Any] | None = None
    example: Mapping[str, Any] = field(default_factory=dict)

    @property
    def needed(self) -> int:
        """How many inputs it cannot do without."""
        return len(self.inputs) - self.optional

    def tensors(self, c: Call) -> tuple[Weight, ...]:
        """Its learned tensors."""
        return tuple(self.weights(c)) if self.weights else ()

    def params(self, c: Call) -> Dim:
        """How many learned numbers it has."""
        total = ZERO
        for weight in self.tensors(c):
            total = total + weight.shape.numel()
        return total

    def flops(self, c: Call) -> Dim:
        """Floating-point operations of one forward pass (a multiply-add is 2)."""
        return self.work(c) if self.work else ZERO

    def label(self, c: Call) -> str:
        """The default label."""
        if isinstance(self.text, str):
            return self.text or self.name.replace("_", " ")
        return str(self.text(c))


class UnknownOp(KeyError):
    """No op of this name; ``hint`` has the nearest ones."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        self.hint = did_you_mean(name, names(), what="op")


_OPS: dict[str, Op] = {}


def register(op: Op) -> Op:
    """Add a record; each name once."""
    if op.name in _OPS:
        raise ValueError(f"op '{op.name}' is registered twice")
    _OPS[op.name] = op
    return op


def get(name: str) -> Op:
    """The record of an op; raises UnknownOp with the nearest name."""
    _load()
    try:
        return _OPS[name]
    except KeyError:
        raise UnknownOp(name) from None


def names() -> tuple[str, ...]:
    """All op names, sorted."""
    _load()
    return tuple(sorted(_OPS))


def _load() -> None:
    """Fill the registry on first use (the families import this module)."""
    if not _OPS:
        import transformer_diagrams.ops  # noqa: F401
