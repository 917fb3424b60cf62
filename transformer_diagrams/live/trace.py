"""Symbolic arrays: calculating with them records a list of array operations instead of numbers.

A figure's maths is written once with these arrays. The recorded list is evaluated by NumPy for
static pictures and by a small runtime in the page, so the two cannot differ in their formulas.
Shapes are fixed while tracing; only values depend on sliders. Nothing here needs NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from transformer_diagrams.records import dataclass

Shape = tuple[int, ...]


class TraceError(TypeError):
    """A traced value was used where a number must be known while tracing."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name, the shape of its result, input nodes, and fixed arguments."""

    op: str
    shape: Shape
    inputs: tuple[int, ...] = ()
    args: tuple[Any, ...] = ()

    def as_json(self) -> list[Any]:
        """``[op, shape, inputs, ...args]`` with whole numbers written short."""
        args = [_short(a) for a in self.args]
        return [self.op, list(self.shape), list(self.inputs), *args]


def _short(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_short(v) for v in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


class Tape:
    """The growing list of operations; an operation that is there already is used again."""

    def __init__(self) -> None:
        self.nodes: list[Operation] = []
        self._known: dict[Operation, int] = {}

    def add(self, op: str, shape: Shape, inputs: Sequence[int] = (), args: Any = ()) -> Array:
        """The array that ``op`` makes of earlier nodes."""
        node = Operation(op, tuple(shape), tuple(inputs), tuple(args))
        index = self._known.get(node)
        if index is None:
            index = self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return Array(self, index, node.shape)

    def const(self, data: Any) -> Array:
        """A constant: a number, nested lists of numbers, or anything with ``tolist()``."""
        shape, flat = _flatten(data)
        if not all(math.isfinite(v) for v in flat):
            raise ValueError("a constant must hold finite numbers only")
        return self.add("const", shape, (), (tuple(flat),))

    def param(self, name: str) -> Array:
        """A slider's value: an array without axes."""
        return self.add("param", (), (), (name,))

    def iota(self, count: int, start: float = 0.0, step: float = 1.0) -> Array:
        """``start + step * i`` for i below ``count``; shape [count]."""
        return self.add("iota", (count,), (), (float(start), float(step)))

    def zeros(self, *shape: int) -> Array:
        """Zeros; what is added to them takes their shape."""
        return self.add("zeros", shape)

    def normals(self, start: int, shape: Shape, seed: int) -> Array:
        """Standard normals z(start), z(start + 1), ... from a counter, see ``hashing``."""
        return self.add("hashnorm", shape, (), (start, seed))


def _flatten(data: Any) -> tuple[Shape, list[float]]:
    if hasattr(data, "tolist"):
        data = data.tolist()
    if isinstance(data, (int, float)):
        return (), [float(data)]
    parts = [_flatten(item) for item in data]
    if not parts:
        raise ValueError("a constant cannot be empty")
    inner = parts[0][0]
    if any(shape != inner for shape, _ in parts):
        raise ValueError("the rows of a constant have different lengths")
    return (len(parts), *inner), [v for _, flat in parts for v in flat]


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of an elementwise result, by NumPy's rule.

    :raises ValueError: when none fits.
    """
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    out = []
    for m, n in zip(left, right, strict=True):
        if m != n and 1 not in (m, n):
            raise ValueError(f"shapes {list(a)} and {list(b)} do not fit together")
        out.append(n if m == 1 else m)
    return tuple(out)


class Array:
    """An array whose values are not known yet. Operators work elementwise and record."""

    __slots__ = ("index", "shape", "tape")
    __array_ufunc__ = None  # `ndarray * traced` must come to our operator

    def __init__(self, tape: Tape, index: int, shape: Shape) -> None:
        self.tape, self.index, self.shape = tape, index, shape

    # -- elementwise

    def _with(self, op: str, other: Any, *, swapped: bool = False) -> Array:
        b = other if isinstance(other, Array) else self.tape.const(other)
        left, right = (b, self) if swapped else (self, b)
        shape = broadcast(left.shape, right.shape)
        return self.tape.add(op, shape, (left.index, right.index))

    def _map(self, op: str) -> Array:
        return self.tape.add(op, self.shape, (self.index,))

    def __add__(self, other: Any) -> Array:
        return self._with("add", other)

    def __radd__(self, other: Any) -> Array:
        return self._with("add", other, swapped=True)

    def __sub__(self, other: Any) -> Array:
        return self._with("sub", other)

    def __rsub__(self, other: Any) -> Array:
        return self._with("sub", other, swapped=True)

    def __mul__(self, other: Any) -> Array:
        return self._with("mul", other)

    def __rmul__(self, other: Any) -> Array:
        return self._with("mul", other, swapped=True)

    def __truediv__(self, other: Any) -> Array:
        return self._with("div", other)

    def __rtruediv__(self, other: Any) -> Array:
        return self._with("div", other, swapped=True)

    def __pow__(self, other: Any) -> Array:
        return self._with("pow", other)

    def __rpow__(self, other: Any) -> Array:
        return self._with("pow", other, swapped=True)

    def __neg__(self) -> Array:
        return self._map("neg")

    def __lt__(self, other: Any) -> Array:
        return self._with("lt", other)

    def __le__(self, other: Any) -> Array:
        return self._with("le", other)

    def __gt__(self, other: Any) -> Array:
        return self._with("gt", other)

    def __ge__(self, other: Any) -> Array:
        return self._with("ge", other)

    def equals(self, other: Any) -> Array:
        """1 where equal, else 0."""
        return self._with("eq", other)

    # `==` keeps Python's meaning (the same object), so that arrays can be kept in dictionaries.

    def exp(self) -> Array:
        return self._map("exp")

    def log(self) -> Array:
        return self._map("log")

    def sqrt(self) -> Array:
        return self._map("sqrt")

    def sin(self) -> Array:
        return self._map("sin")

    def cos(self) -> Array:
        return self._map("cos")

    def abs(self) -> Array:
        return self._map("abs")

    def floor(self) -> Array:
        return self._map("floor")

    # -- reductions, along one axis

    def _reduce(self, op: str, axis: int, keep: bool) -> Array:
        axis = self._axis(axis)
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        out = self.tape.add(op, shape, (self.index,), (axis,))
        return out.reshape(*self.shape[:axis], 1, *self.shape[axis + 1 :]) if keep else out

    def sum(self, axis: int = -1, keep: bool = False) -> Array:
        return self._reduce("sum", axis, keep)

    def max(self, axis: int = -1, keep: bool = False) -> Array:
        return self._reduce("rmax", axis, keep)

    def min(self, axis: int = -1, keep: bool = False) -> Array:
        return self._reduce("rmin", axis, keep)

    def argmax(self, axis: int = -1) -> Array:
        """Index of the first largest value."""
        return self._reduce("argmax", axis, False)

    def mean(self, axis: int = -1) -> Array:
        return self.sum(axis) / self.shape[self._axis(axis)]

    # -- order and shape

    def reshape(self, *shape: int) -> Array:
        """The same values in another shape; one length may be -1."""
        size = math.prod(self.shape)
        if -1 in shape:
            rest = math.prod(n for n in shape if n != -1)
            shape = tuple(size // rest if n == -1 else n for n in shape)
        if math.prod(shape) != size:
            raise ValueError(f"{list(self.shape)} cannot be reshaped to {list(shape)}")
        if shape == self.shape:
            return self
        return self.tape.add("reshape", shape, (self.index,))

    def flat(self) -> Array:
        return self.reshape(-1)

    def transpose(self, *axes: int) -> Array:
        """Axes in a new order; without arguments in reverse."""
        order = axes or tuple(reversed(range(len(self.shape))))
        if sorted(order) != list(range(len(self.shape))):
            raise ValueError(f"{list(order)} is no order of {len(self.shape)} axes")
        shape = tuple(self.shape[a] for a in order)
        return self.tape.add("transpose", shape, (self.index,), (tuple(order),))

    @property
    def T(self) -> Array:
        return self.transpose()

    def take(self, rows: Any) -> Array:
        """Rows by index along the first axis; ``rows`` may be traced."""
        index = rows if isinstance(rows, Array) else self.tape.const(rows)
        shape = index.shape + self.shape[1:]
        return self.tape.add("take", shape, (self.index, index.index))

    def cumsum(self) -> Array:
        """Running sums along the last axis."""
        return self.tape.add("cumsum", self.shape, (self.index,))

    def over(self, *shape: int) -> Array:
        """Repeated to a larger shape, by the rule of elementwise operations."""
        return self if self.shape == shape else self + self.tape.zeros(*shape)

    # -- what cannot be known while tracing

    def _axis(self, axis: int) -> int:
        if not -len(self.shape) <= axis < len(self.shape):
            raise ValueError(f"there is no axis {axis} in {list(self.shape)}")
        return axis % len(self.shape)

    def _unknown(self, what: str) -> NoReturn:
        raise TraceError(
            f"a traced array cannot be used {what}: its value depends on the sliders; "
            "use where(condition, yes, no) or multiply by a mask"
        )

    def __bool__(self) -> bool:
        self._unknown("in `if`, `and`, `or` or `not`")

    def __len__(self) -> int:
        self._unknown("in len() (its shape is known: use .shape)")

    def __float__(self) -> float:
        self._unknown("as a float")

    def __int__(self) -> int:
        self._unknown("as an int")

    def __index__(self) -> int:
        self._unknown("as an index")

    def __iter__(self) -> Iterator[Any]:
        self._unknown("in a loop")

    def __array__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        self._unknown("as a NumPy array")

    def __getitem__(self, key: int) -> Array:
        """One row, by a number known while tracing; a traced index needs :meth:`take`."""
        if isinstance(key, Array):
            return self.take(key)
        rows = self.shape[0] if self.shape else 0
        if not -rows <= key < rows:
            raise IndexError(f"row {key} of {rows}")
        return self.take(float(key % rows))

    def __repr__(self) -> str:
        return f"<traced {self.tape.nodes[self.index].op} {list(self.shape)}>"


def where(condition: Array, yes: Any, no: Any) -> Array:
    """``yes`` where the condition is not 0, else ``no``; both are calculated."""
    tape = condition.tape
    a = yes if isinstance(yes, Array) else tape.const(yes)
    b = no if isinstance(no, Array) else tape.const(no)
    shape = broadcast(broadcast(condition.shape, a.shape), b.shape)
    return tape.add("where", shape, (condition.index, a.index, b.index))


def minimum(a: Array, b: Any) -> Array:
    """The smaller of two, elementwise."""
    return a._with("min", b)


def maximum(a: Array, b: Any) -> Array:
    """The larger of two, elementwise."""
    return a._with("max", b)


def stack(arrays: Sequence[Array]) -> Array:
    """Arrays of one shape behind each other along a new first axis."""
    first = arrays[0]
    if any(a.shape != first.shape for a in arrays):
        raise ValueError("only arrays of one shape can be stacked")
    return first.tape.add("stack", (len(arrays), *first.shape), [a.index for a in arrays])


def matmul(a: Array, b: Array) -> Array:
    """``[..., n, k] x [..., k, m] -> [..., n, m]``, as products and sums."""
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"{list(a.shape)} and {list(b.shape)} cannot be multiplied")
    rank = len(b.shape)
    turned = b.transpose(*range(rank - 2), rank - 1, rank - 2)
    left = a.reshape(*a.shape[:-1], 1, a.shape[-1])
    right = turned.reshape(*turned.shape[:-2], 1, *turned.shape[-2:])
    return (left * right).sum()


def softmax(scores: Array, mask: Array | None = None) -> Array:
    """Softmax along the last axis. The largest score is subtracted first, so that no exponential
    overflows. Where ``mask`` is 0 the weight is 0 (one key at least must remain)."""
    if mask is not None:
        scores = where(mask, scores, -1e300)
    raised = (scores - scores.max(keep=True)).exp()
    if mask is not None:
        raised = raised * mask
    return raised / raised.sum(keep=True)


def entropy(weights: Array) -> Array:
    """``-sum p ln p`` along the last axis, in nats; 0 ln 0 is 0."""
    logs = where(weights > 0, weights, 1.0).log()
    return -(weights * logs).sum()


def assign(cost: Array) -> Array:
    """The column of each row in the cheapest one-to-one choice; rows must not outnumber columns."""
    rows, columns = cost.shape
    if rows > columns:
        raise ValueError(f"{rows} rows cannot each have one of {columns} columns")
    return cost.tape.add("assign", (rows,), (cost.index,))
