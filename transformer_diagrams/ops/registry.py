"""The op registry: one record an op, and all that the rest of the toolkit knows of ops.

An :class:`Op` says what an operation takes and gives, what it learns, what it costs and what its
box says. Its rules are plain functions of a :class:`Call`: shapes and attributes in, sizes out.

Conventions, said once:

- A multiply-add is 2 FLOPs. Biases count as parameters. A data type never changes a count.
- An op costs what the ops that it is made of cost. A bias costs nothing: the sum of a product
  begins with it. What depends on positions alone (masks, sines and cosines) is a table, and what
  is done once a row (a root, a logarithm) is left out.
- Shapes leave out the batch axis, or name it with a leading "..."; what is counted is then one
  element of those leading axes.
- A vector is a row: ``y = x W + b`` with ``W`` of shape [in, out].
- Packed heads are head-major: columns ``h d_K`` to ``(h + 1) d_K - 1`` belong to head ``h``.
- Messages count axes from 1 ("axis 3 of x"); an attribute `axis` counts from 0, or from the end
  (-1 is the last axis).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ParamSpec

from transformer_diagrams.dims import (
    Dim,
    DimError,
    Facts,
    Verdict,
    const,
    parse,
    product,
    whole_from,
    whole_in,
)
from transformer_diagrams.errors import NEAR_OP, nearest
from transformer_diagrams.ops.arrays import Arrays, Tensors
from transformer_diagrams.ops.pairs import Seen
from transformer_diagrams.records import dataclass
from transformer_diagrams.roles import ROLES

ZERO, ONE, TWO = const(0), const(1), const(2)
ANY = "..."
NOTHING: Mapping[str, Any] = MappingProxyType({})



def _nothing() -> Mapping[str, Any]:
    return NOTHING


PARAM_ROLES: Mapping[str, str] = MappingProxyType(
    {
        "": "as the block or spec around it says (`counts_as`, else its role)",
        "embed_token": "token embedding tables",
        "embed_position": "learned position tables",
        "embed_segment": "segment (token type) tables",
        "norm": "gains and biases of norms",
        "router": "scores of experts",
        "routed_experts": "experts of which a token meets some",
        "attention_rpb": "tables of relative position bias",
    }
)
"""Parameter roles: under what the weights of an op are counted, unless the block says otherwise."""

FACTS: Mapping[str, str] = MappingProxyType(
    {
        "map": "a learned linear map",
        "per-head": "a map for each head",
        "low-rank": "a map through few dimensions, beside another",
        "tied": "a map by the table of another block",
        "bias": "adds a learned vector",
        "product": "a product of two tensors",
        "core": "scores, softmax and mean of an attention in one step",
        "softmax": "weights that sum to one",
        "nonlinear": "bends element by element; `kind` names the function where there is a choice",
        "gated": "one half, bent by `act`, times the other",
        "gate": "a product element by element",
        "sum": "a sum element by element",
        "whole-rows": "each value depends on all others of its row",
        "tensor": "a learned tensor by itself, with features along its last axis",
        "rescale": "multiplies or bounds values",
        "factor": "by one factor, `by` or learned",
        "cap": "bounded smoothly by `cap`",
        "carry": "the same values",
        "named": "a name for them",
        "form": "the same values in another form",
        "cut": "a part of the values",
        "join": "several tensors side by side",
        "experts": "networks of which a token meets some, bent by `act`",
        "router": "chooses experts by `score`",
        "experts-sum": "puts the chosen experts' outputs together",
        "causal": "a mask: no later position",
        "window": "a mask: only near positions",
        "chosen-mask": "a mask: only chosen positions",
        "relative": "a bias by distance",
        "rotation": "turns pairs of features by position",
        "positions": "a vector for each position",
        "table": "vectors looked up by token",
        "choice": "the `k` largest",
        "pick": "some rows by their index",
        "share-heads": "repeats key/value heads for the query heads",
        "cut-heads": "cuts packed columns into heads",
        "cache": "keeps its inputs along `axis` for later; `kind: state` whatever the length",
        "state": "carries a state of a fixed size along `axis`, from each position to the next",
    }
)
"""What an op does in an architecture, as far as others ask; its record says it."""

IMPLIED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "activation": ("nonlinear",),
        "attention": ("core",),
        "embedding": ("table",),
        "projection": ("map",),
    }
)
"""What a block without a record of its own does, by its style role."""

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "dim": "a size: number, name or formula",
        "dims": "a list of sizes",
        "bool": "true, false or the name of an option",
        "int": "a whole number",
        "float": "a number",
        "str": "text",
        "enum": "one of some words",
        "name": "a name in the file",
    }
)
"""What the value of an attribute may be."""


class OpFault(ValueError):
    """What is wrong with an op's inputs or attributes; places are added by the caller.

    message  one sentence, with both shapes, the axes and the numbers
    hint     what to do about it, or ""
    notes    further facts
    """

    def __init__(self, message: str, hint: str = "", notes: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.notes = tuple(notes)


# -- shapes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a tensor's axes; ``lead`` names any leading axes ("..." or "...B").

    >>> str(Shape.parse(["...", "d_t", "2 d_m"]))
    '[..., d_t, 2 d_m]'
    """

    dims: tuple[Dim, ...]
    lead: str | None = None

    @staticmethod
    def parse(parts: Iterable[object]) -> Shape:
        """The shape that a list of texts, numbers and sizes means.

        :raises DimError: for one that cannot be read.
        """
        return _parse_shape(tuple(str(part) for part in parts))

    def __str__(self) -> str:
        lead = [self.lead] if self.lead else []
        return "[" + ", ".join([*lead, *map(str, self.dims)]) + "]"

    def bare(self) -> str:
        """As Python writes a tuple: ``(..., d_t)``, ``(d_t,)``."""
        parts = [*([self.lead] if self.lead else []), *map(str, self.dims)]
        return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"

    def tex(self, names: Mapping[str, str] | None = None) -> str:
        r"""``d_t \times d_m``; a sum in parentheses; "" for a scalar. A lead is left out."""
        parts = [size.tex(names) for size in self.dims]
        if len(parts) > 1:
            parts = [f"({part})" if _is_sum(part) else part for part in parts]
        return r" \times ".join(parts)

    def numel(self) -> Dim:
        """The number of elements, for one element of the leading "..."."""
        return product(self.dims)

    @property
    def ndim(self) -> int:
        """How many axes are stated."""
        return len(self.dims)

    def with_last(self, *last: Dim) -> Shape:
        """The last axes replaced: ``[a, b].with_last(c) == [a, c]``."""
        return Shape((*self.dims[: len(self.dims) - len(last)], *last), self.lead)

    def with_axis(self, index: int, *sizes: Dim) -> Shape:
        """The axis at ``index`` replaced by ``sizes`` (none: removed)."""
        return Shape((*self.dims[:index], *sizes, *self.dims[index + 1 :]), self.lead)

    def axis_name(self, index: int, after: int = 0) -> str:
        """Words for an axis: "axis 3"; under a leading "..." it is counted from the end.

        ``after`` is how many more axes the whole tensor has behind these.
        """
        if self.lead is None:
            return f"axis {index + 1}"
        back = len(self.dims) - index + after
        return "the last axis" if back == 1 else f"axis {back} from the end"


def _is_sum(tex: str) -> bool:
    depth = 0
    for number, char in enumerate(tex):
        if char in "({[":
            depth += 1
        elif char in ")}]":
            depth -= 1
        elif char in "+-" and depth == 0 and number:
            return True
    return False


@lru_cache(maxsize=8192)
def _parse_shape(parts: tuple[str, ...]) -> Shape:
    lead = None
    if parts and parts[0].startswith(ANY):
        lead, parts = parts[0], parts[1:]
    for part in parts:
        if part.startswith(ANY):
            raise DimError("'...' may only come first in a shape", 1)
    return Shape(tuple(parse(part) for part in parts), lead)


def axes_text(count: int) -> str:
    """``1 axis``, ``2 axes``."""
    return f"{count} axis" if count == 1 else f"{count} axes"


def listed(words: Sequence[object], last: str = "and") -> str:
    """``a, b and c``."""
    texts = [str(word) for word in words]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


# -- records --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attr:
    """An option of an op, as a spec writes it.

    kind    one of KINDS
    least   sizes: the least value; None where negative ones mean something too
    beside  a number below ``least`` that stands for something else
    shown   texts: how it stands in the op's own label, as "tex" or as "text"
    only    another attribute, and the value of it without which this one has no effect
    constant  it changes what comes out, but no shape: every number that is no size does
    """

    name: str
    kind: str
    doc: str
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    shown: str = ""
    least: int | None = 1
    beside: int | None = None
    only: tuple[str, str] | None = None
    constant: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether it changes what comes out, but no shape."""
        return self.constant or self.kind == "float"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"attribute '{self.name}' has the unknown kind '{self.kind}'")

    def value(self, given: Any) -> Any:
        """``given`` as rules see it: sizes as Dim, lists as tuples.

        :raises OpFault: for a number that is no size here.
        """
        if given is None:
            return None
        if self.kind == "dim":
            return self._size(given)
        if self.kind == "dims":
            return tuple(self._size(item) for item in given)
        return tuple(given) if isinstance(given, list) else given

    def _size(self, given: Any) -> Dim:
        size = given if isinstance(given, Dim) else parse(str(given))
        if size.is_const and not whole_in(size.as_int(), self.least, self.beside):
            wanted = whole_from(self.least, self.beside)
            raise OpFault(f"`{self.name}` must be {wanted}, not {size}")
        return size


@dataclass(frozen=True, slots=True)
class Weight:
    """A learned tensor.

    role    parameter role; "" is that of its op
    active  (chosen, of): a token meets that share of it; None is all of it
    """

    name: str
    shape: Shape
    active: tuple[Dim, Dim] | None = None
    role: str = ""

    def numel(self) -> Dim:
        """How many learned numbers it holds."""
        return self.shape.numel()

    def active_numel(self) -> Dim:
        """How many of them one token meets."""
        total = self.numel()
        return total if self.active is None else total * self.active[0] / self.active[1]


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor that an op works with and neither learns nor takes: it is given, or drawn.

    kind   what its numbers are: "real", "positive", "share" (from 0, below 1) or "whole"
    below  whole numbers: all are smaller than this
    """

    name: str
    shape: Shape
    kind: str = "real"
    below: Dim | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A use of an op with what it must give: read by people, run by the tests."""

    inputs: Sequence[Sequence[object]]
    outputs: Sequence[Sequence[object]]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    params: object = 0
    flops: object = 0
    label: str = ""  # "" is not compared


@dataclass(slots=True)
class Call:
    """An op at work: its inputs, its attributes, and what is known about the names.

    names     what messages call the inputs; default: the names of the ports
    tex       how single names are set in TeX, for labels
    bindings  numbers of names, for value rules that need them
    warnings  what the shape rule remarked
    needs     (divisor, dividend) pairs that must divide and are not known to
    """

    op: Op
    inputs: tuple[Shape, ...]
    attrs: Mapping[str, Any] = field(default_factory=_nothing)
    facts: Facts = field(default_factory=Facts)
    warnings: list[str] = field(default_factory=list)
    needs: list[tuple[Dim, Dim]] = field(default_factory=list)
    names: tuple[str, ...] = ()
    tex: Mapping[str, str] = field(default_factory=_nothing)
    bindings: Mapping[str, int] = field(default_factory=_nothing)

    # -- looking at it

    def __getitem__(self, name: str) -> Any:
        """The value of an attribute; its default where the spec says nothing."""
        if name in self.attrs:
            return self.attrs[name]
        attr = self.op.attr(name)
        return attr.value(attr.default)

    def size(self, name: str) -> Dim:
        """A size attribute that must be there."""
        size: Dim = self[name]
        return size

    def number(self, name: str) -> int:
        """A size attribute as a number, for value rules."""
        return self.size(name).evaluate(self.bindings)

    @property
    def x(self) -> Shape:
        """The first input."""
        return self.inputs[0]

    def name(self, index: int) -> str:
        """What input ``index`` is called in messages."""
        return self.names[index] if index < len(self.names) else self.op.port_name(index)

    def axis_of(self, index: int, axis: int) -> str:
        """``axis 3 of x``, for the place ``axis`` in the stated axes of input ``index``."""
        return f"{self.inputs[index].axis_name(axis)} of {self.name(index)}"

    def shown(self, *indexes: int) -> str:
        """The inputs with their shapes: ``x: [b, n, 512], W: [768, k]``."""
        chosen = indexes or range(len(self.inputs))
        return ", ".join(f"{self.name(i)}: {self.inputs[i]}" for i in chosen)

    # -- asking of it

    def warn(self, text: str) -> None:
        """A remark that does not stop the work."""
        if text not in self.warnings:
            self.warnings.append(text)

    def last(self, index: int = 0, back: int = 1) -> Dim:
        """The size of the axis ``back`` from the end.

        :raises OpFault: where it is not stated.
        """
        return self.need_axes(index, back).dims[-back]

    def need_axes(self, index: int, least: int) -> Shape:
        """Input ``index``, which must state at least ``least`` axes."""
        shape = self.inputs[index]
        if shape.ndim >= least:
            return shape
        name = self.name(index)
        if shape.lead is None:
            raise OpFault(
                f"{name} needs at least {axes_text(least)}, "
                f"but has {shape.ndim or 'none'} ({self.shown()})"
            )
        raise OpFault(
            f"{name} must state its last {axes_text(least) if least > 1 else 'axis'}, "
            f"but states {shape.ndim or 'none'} ({self.shown()})",
            f"give {name} a shape that ends in the sizes that '{self.op.name}' works on, "
            "such as [..., d_t, d_m]",
        )

    def axis(self, index: int, axis: int) -> int:
        """The place in ``inputs[index].dims`` of an axis counted from 0 or from the end."""
        shape, name = self.inputs[index], self.name(index)
        count = shape.ndim
        if axis >= 0 and shape.lead is not None:
            raise OpFault(
                f"axis {axis} of {name}: {shape} may lie in '{shape.lead}'",
                "count from the end: -1 is the last axis",
            )
        if -count <= axis < count:
            return axis % count
        has = f"states {count or 'none'}" if shape.lead else f"has {axes_text(count)}"
        hint = f"give {name} a shape that states the axis, such as [..., d_t, d_m]"
        if count:
            how = f"-1 to {-count}" if count > 1 else "-1"
            if shape.lead is None:
                how = f"0 to {count - 1}, or from the end {how}" if count > 1 else "0, or -1"
            hint = f"`axis` may be {how}"
        raise OpFault(f"there is no axis {axis}: {name}: {shape} {has}", hint)

    def check_axis(self, index: int, axis: int) -> None:
        """As ``axis``, for ops that change no shape: an axis inside a leading "..." will do."""
        if axis >= 0 or self.inputs[index].lead is None:
            self.axis(index, axis)

    def require_equal(
        self,
        a: Dim,
        b: Dim,
        where_a: str,
        where_b: str,
        why: str = "",
        hint: str = "",
        instead: str = "",
    ) -> Dim:
        """``a``.

        :raises OpFault: unless it is known to equal ``b``.

        The places are words such as "axis 3 of x"; ``why`` says why they must be equal, ``hint``
        what else may have been meant, ``instead`` what was meant beyond doubt.
        """
        verdict = self.facts.equal(a, b)
        if verdict is Verdict.YES:
            return a
        shapes = f" ({self.shown()})" if self.inputs else ""
        reason = f": {why}" if why else ""
        places = f"{where_a} = {a}, {where_b} = {b}"
        notes = (*self._reduced(a, b), *self._explained(a, b))
        if verdict is Verdict.NO:
            raise OpFault(
                f"{places}, but they must be equal{reason}{shapes}", instead or hint, notes
            )
        raise OpFault(
            f"{places}: cannot tell whether they are equal{reason}{shapes}",
            instead
            or "; ".join(filter(None, (f"if {a} = {b} always holds, state it: where: [{a} == {b}]",
                                    hint))),
            notes,
        )

    def require_divides(self, divisor: Dim, dividend: Dim, what: str, *, near: str = "") -> Dim:
        """``dividend / divisor``, exactly.

        :raises OpFault: where a remainder is left.

        What cannot be told is put into ``needs``. ``what`` names the dividend ("axis 3 of x");
        ``near`` names the divisor ("heads") when it may be the one to change.
        """
        n, d = self._number(dividend), self._number(divisor)
        shapes = f"; {self.shown()}" if self.inputs else ""
        if d is not None and d < 1:
            raise OpFault(f"{what}: {dividend} cannot be divided by {d}{shapes}")
        if n is not None and d is not None:
            if n % d == 0:
                return dividend / divisor
            below, above = n - n % d, n - n % d + d
            good = f"{below} and {above}" if below > 0 else f"{above}"
            raise OpFault(
                f"{what}: {n} is not divisible by {d} (remainder {n % d}; nearest {good}){shapes}",
                self._other_divisors(n, d, good, near),
                self._reduced(dividend, divisor),
            )
        verdict = self.facts.divides(divisor, dividend)
        if verdict is Verdict.NO:
            raise OpFault(
                f"{what}: {dividend} is not divisible by {divisor}{shapes}",
                notes=self._reduced(dividend, divisor),
            )
        if verdict is Verdict.UNKNOWN:
            self.needs += [(below, above) for above, below in (dividend / divisor).divisions]
        return dividend / divisor

    def require_multiple(self, whole: Dim, part: Dim, where_whole: str, where_part: str) -> Dim:
        """``whole / part`` for heads that are shared in groups; as ``require_divides``."""
        n, d = self._number(whole), self._number(part)
        if n is None or d is None or (d > 0 and n % d == 0):
            return self.require_divides(part, whole, where_whole)
        tries = divisors(n, around=d)
        instead = f"; instead of {d} try {', '.join(map(str, tries))}" if tries else ""
        raise OpFault(
            f"{where_whole} = {n}, {where_part} = {d}, "
            f"but {n} is not a multiple of {d}{instead} ({self.shown()})",
            f"each of the {d} serves an equal share of the {n}",
            self._reduced(whole, part),
        )

    def require_at_most(self, size: Dim, limit: Dim, what: str, hint: str = "") -> None:
        """Refuse a size that is too large.

        :raises OpFault: where ``size`` is known to be larger than ``limit``.
        """
        if self.facts.le(size, limit) is Verdict.NO:
            shapes = f" ({self.shown()})" if self.inputs else ""
            raise OpFault(f"{what}: {size} is more than {limit}{shapes}", hint)

    def _number(self, size: Dim) -> int | None:
        number = size.as_int()
        return number if number is not None else self.facts.reduce(size).as_int()

    def _reduced(self, *sizes: Dim) -> tuple[str, ...]:
        """Sizes whose definition says more than their name."""
        found = []
        for size in dict.fromkeys(sizes):
            known = self.facts.reduce(size)
            if str(known) != str(size):
                found.append(f"{size} = {known}, by the definitions")
        return tuple(found)

    def _explained(self, a: Dim, b: Dim) -> tuple[str, ...]:
        """What ``a == b`` comes down to, where that says more than the sizes themselves."""
        if a.is_const and b.is_const:
            return ()
        text = self.facts.explain(a, b)
        plain = {f"{x} = {y} {end}" for x, y in ((a, b), (b, a))
                 for end in ("would have to hold", "can never hold")}
        return () if text in plain else (text,)

    @staticmethod
    def _other_divisors(n: int, d: int, good: str, near: str) -> str:
        hint = f"make it {good.replace(' and ', ' or ')}"
        tries = divisors(n, around=d, most=4) if near else ()
        if len(tries) > 2:  # 1 and n alone are no advice
            hint += f", or take {listed(tries, 'or')} {near}"
        return hint


def divisors(number: int, *, around: int = 0, most: int = 12) -> tuple[int, ...]:
    """The divisors of ``number``, at most ``most`` of them: those nearest to ``around``.

    >>> divisors(32)
    (1, 2, 4, 8, 16, 32)
    >>> divisors(100, around=8, most=4)
    (4, 5, 10, 20)
    """
    if not 0 < number <= 10**10:
        return ()
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    every = sorted({*small, *(number // d for d in small)})
    if len(every) <= most:
        return tuple(every)
    below = [d for d in every if d < around]
    above = [d for d in every if d >= around]
    low = min(len(below), max(most // 2, most - len(above)))
    return (*below[len(below) - low :], *above[: most - low])


def not_whole(op: Op, place: int, but: str) -> str:
    """Words for an input that must hold whole numbers."""
    return f"'{op.name}' needs whole numbers as {op.port_name(place)}, but it {but}"


Rule = Callable[[Call], Any]
Value = Callable[[Call, Arrays, Tensors], Any]
P = ParamSpec("P")


def unchanged(c: Call) -> tuple[Shape, ...]:
    """The shape rule of an op that changes no shape."""
    return (c.inputs[0],)


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One operation.

    name      as specs call it
    summary   one sentence: what it computes, with its source
    family    the module that it stands in, by which it is added
    does      what it does in an architecture (FACTS)
    role      style role (ROLES); ``param_role``: what its weights count as (PARAM_ROLES)
    inputs    names of the input ports; a ``variadic`` op takes any number beyond them
    optional  how many of the last inputs may be left out
    least     variadic: how many inputs it needs
    ordered   which input is which matters: a figure keeps their order, or says it
    whole     input and output ports that hold whole numbers: an index, a class, a token
    outputs   names of the output ports; () when their number depends on the attributes
    attrs     options
    shape     Call -> output shapes; checks everything, raises OpFault
    weights   Call -> learned tensors
    macs      Call -> multiply-adds of matrix products; ``work``: Call -> FLOPs beside them
    mask      Call -> what of its scores is left (`pairs.Seen`), None when all
    hands_on  Call -> the inputs whose [.., target, source] scores are its output's, pair by pair
    text      default label, mixed text and $TeX$: fixed, or Call -> text
    form      box or circle; ``symbol`` is what a circle shows
    value     Call, arrays, weights and buffers by name -> output arrays; None: cannot be executed
    buffers   Call -> what its value needs beside its inputs and weights (`Buffer`)
    below     Call -> what whole numbers that come in are smaller than
    examples  uses with their results; every op has at least one
    """

    name: str
    summary: str
    examples: tuple[Example, ...]
    family: str = ""
    does: tuple[str, ...] = ()
    role: str = "plain"
    param_role: str = ""
    inputs: tuple[str, ...] = ("x",)
    variadic: bool = False
    optional: int = 0
    least: int = 0
    ordered: bool = False
    outputs: tuple[str, ...] = ("y",)
    whole: tuple[str, ...] = ()
    attrs: tuple[Attr, ...] = ()
    shape: Rule = unchanged
    weights: Rule | None = None
    macs: Rule | None = None
    work: Rule | None = None
    mask: Rule | None = None
    hands_on: Rule | None = None
    text: Rule | str = ""
    form: str = "box"
    symbol: str = ""
    value: Value | None = None
    buffers: Rule | None = None
    below: Rule | None = None

    def __post_init__(self) -> None:
        if self.role not in ROLES or self.param_role not in PARAM_ROLES:
            raise ValueError(f"op '{self.name}' has an unknown role")
        if not FACTS.keys() >= {*self.does}:
            raise ValueError(f"op '{self.name}' does what FACTS does not know")

    @property
    def needed(self) -> int:
        """How many inputs it cannot do without."""
        return max(len(self.inputs) - self.optional, self.least)

    def port_name(self, index: int) -> str:
        """The name of an input port; those beyond the named ones have their number, from 1."""
        return self.inputs[index] if index < len(self.inputs) else f"input {index + 1}"

    @property
    def moves(self) -> bool:
        """Whether it gives the values of its first input as they are."""
        return bool({"carry", "form", "cut", "join", "pick"} & {*self.does})

    @property
    def makes_real(self) -> bool:
        """Whether what it gives is hardly ever a whole number."""
        return bool({"map", "product", "softmax", "nonlinear", "whole-rows", "core", "table"}
                    & {*self.does})

    def indexes(self, attrs: Mapping[str, Any]) -> tuple[int, ...]:
        """The inputs that must hold whole numbers; a soft target need not."""
        names = () if attrs.get("soft") else self.whole
        return tuple(place for place, name in enumerate(self.inputs) if name in names)

    @property
    def attr_names(self) -> tuple[str, ...]:
        """The names of its attributes."""
        return tuple(attr.name for attr in self.attrs)

    def attr(self, name: str) -> Attr:
        """The attribute of that name."""
        for attr in self.attrs:
            if attr.name == name:
                return attr
        raise KeyError(f"'{self.name}' has no attribute '{name}'")

    def tensors(self, c: Call) -> tuple[Weight, ...]:
        """Its learned tensors."""
        return tuple(self.weights(c)) if self.weights else ()

    def given(self, c: Call) -> tuple[Buffer, ...]:
        """Its buffers."""
        return tuple(self.buffers(c)) if self.buffers else ()

    def params(self, c: Call) -> Dim:
        """How many learned numbers it has."""
        return _total(weight.numel() for weight in self.tensors(c))

    def active(self, c: Call) -> Dim:
        """How many of them one token meets."""
        return _total(weight.active_numel() for weight in self.tensors(c))

    def flops(self, c: Call) -> Dim:
        """Floating-point operations of one forward pass (a multiply-add is 2)."""
        products, others = self.costs(c)
        every, seen = TWO * products + others, self.seen(c)
        return every if seen is None or every == ZERO else every * seen.share()

    def costs(self, c: Call) -> tuple[Dim, Dim]:
        """(multiply-adds of matrix products, FLOPs beside them), where nothing is masked."""
        macs, work = (_size(rule(c)) if rule else ZERO for rule in (self.macs, self.work))
        return macs, work

    def seen(self, c: Call) -> Seen | None:
        """What of its [.., target, source] scores it leaves; None: it masks nothing."""
        found: Seen | None = self.mask(c) if self.mask else None
        return found

    def label(self, c: Call) -> str:
        """The default label: mixed text and $TeX$."""
        if isinstance(self.text, str):
            return self.text or self.name.replace("_", " ")
        return str(self.text(c))


def _size(value: Dim | int) -> Dim:
    return value if isinstance(value, Dim) else const(value)


def _total(sizes: Iterable[Dim]) -> Dim:
    total = ZERO
    for size in sizes:
        total = total + size
    return total


# -- the registry ---------------------------------------------------------------------------------


class UnknownOp(KeyError):
    """No op of this name; ``hint`` has the nearest one."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        close = nearest(name, names(), cutoff=NEAR_OP)
        self.hint = f"did you mean '{close}'?" if close else ""

    def __str__(self) -> str:
        return f"there is no op '{self.name}'" + (f"; {self.hint}" if self.hint else "")


_OPS: dict[str, Op] = {}


def family(name: str, make: Callable[P, Op]) -> Callable[P, Op]:
    """What makes and adds the records of a family, each name once: ``op = family("mask", Op)``."""

    def add(*args: P.args, **fields: P.kwargs) -> Op:
        op = replace(make(*args, **fields), family=name)
        if op.name in _OPS:
            raise ValueError(f"op '{op.name}' is registered twice")
        _OPS[op.name] = op
        return op

    return add


def get(name: str) -> Op:
    """The record of an op.

    :raises UnknownOp: with the nearest name.
    """
    try:
        return _OPS[name]
    except KeyError:
        raise UnknownOp(name) from None


def names() -> tuple[str, ...]:
    """All op names, sorted."""
    return tuple(sorted(_OPS))


def is_constant(selector: str) -> bool:
    """Whether the last word of ``rope.base`` is a constant of any op; before it is where.

    >>> is_constant("rope.base"), is_constant("rope.width"), is_constant("base")
    (True, False, False)
    """
    where, _, name = selector.rpartition(".")
    every = (attr for op in _OPS.values() for attr in op.attrs)
    return bool(where) and any(attr.is_constant and attr.name == name for attr in every)
