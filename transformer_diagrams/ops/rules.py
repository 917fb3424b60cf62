"""Shared verbs of shape rules: what many ops check, in the same words.

Ports are matched against small patterns, as a textbook writes them: ``unify(c, "...B t k",
"...B s k")`` reads two inputs whose last axes agree. A name, and a named lead "...B", binds once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from transformer_diagrams.dims import Dim, Verdict
from transformer_diagrams.ops.pairs import Seen
from transformer_diagrams.ops.registry import (
    ANY,
    ONE,
    ZERO,
    Call,
    OpFault,
    Rule,
    Shape,
    Weight,
    axes_text,
    listed,
)

# -- patterns -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Matched:
    """What the names of a pattern stand for, and where each was met first."""

    sizes: dict[str, Dim] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    leads: dict[str, tuple[Shape, int]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Dim:
        return self.sizes[name]

    def shape(self, pattern: str) -> Shape:
        """The shape that a pattern of bound names means: ``bound.shape("...B t v")``."""
        words = pattern.split()
        head = Shape(())
        if words and words[0].startswith(ANY):
            head = self.leads[words.pop(0)][0]
        return Shape((*head.dims, *(self.sizes[word] for word in words)), head.lead)


def unify(c: Call, *patterns: str, why: Mapping[str, str] | str = "") -> Matched:
    """Match the inputs against patterns, one each.

    A pattern is names of axes, after an optional "..." (any leading axes) or "...NAME" (the same
    leading axes wherever NAME stands). Inputs that are left out are skipped. ``why`` says why
    repeated names must agree, for each of them or for all.

    :raises OpFault: too few or too many axes, or two sizes for one name.
    """
    bound = Matched()
    for index, pattern in enumerate(patterns[: len(c.inputs)]):
        words = pattern.split()
        lead = words.pop(0) if words and words[0].startswith(ANY) else None
        shape = _counted(c, index, len(words), lead, pattern)
        cut = shape.ndim - len(words)
        if lead is not None and lead != ANY:
            _bind_lead(c, bound, lead, index, cut)
        for place, word in enumerate(words, start=cut):
            size, where = shape.dims[place], c.axis_of(index, place)
            if word in bound.sizes:
                reason = why if isinstance(why, str) else why.get(word, "")
                c.require_equal(bound.sizes[word], size, bound.places[word], where, reason)
            else:
                bound.sizes[word], bound.places[word] = size, where
    return bound


def _counted(c: Call, index: int, count: int, lead: str | None, pattern: str) -> Shape:
    """Input ``index`` with a fitting number of axes."""
    shape, name = c.need_axes(index, count), c.name(index)
    if lead is not None:
        return shape
    wanted = f"[{', '.join(pattern.split())}]"
    if shape.lead is not None:
        raise OpFault(
            f"{name} must be {wanted}, but may have any number of leading axes ({c.shown()})"
        )
    if shape.ndim > count:
        raise OpFault(
            f"{name} must have {axes_text(count)} {wanted}, but has {shape.ndim} ({c.shown()})"
        )
    return shape


def _bind_lead(c: Call, bound: Matched, lead: str, index: int, cut: int) -> None:
    """Bind ``lead`` to the axes of input ``index`` before the place ``cut``, or compare them."""
    shape, name = c.inputs[index], c.name(index)
    head = Shape(shape.dims[:cut], shape.lead)
    if lead not in bound.leads:
        bound.leads[lead] = (head, index)
        return
    first, other = bound.leads[lead]
    if first.lead == head.lead and first.ndim == head.ndim:
        for place, (a, b) in enumerate(zip(first.dims, head.dims, strict=True)):
            c.require_equal(
                a, b, c.axis_of(other, place), c.axis_of(index, place), "leading axes must agree"
            )
        return
    texts = f"{first.bare()} in {c.name(other)} and {head.bare()} in {name}"
    if first.lead is None and head.lead is None:
        raise OpFault(f"'...' stands for two different shapes: {texts} ({c.shown()})")
    raise OpFault(
        f"cannot tell whether the leading axes are the same: {texts} ({c.shown()})",
        "state the leading axes of all inputs, or of none",
    )


# -- equal and stretched --------------------------------------------------------------------------


def same_shape(c: Call, why: str = "") -> Shape:
    """The shape that all inputs share, without any stretching.

    :raises OpFault: where there is none.
    """
    for index, other in enumerate(c.inputs[1:], start=1):
        if other.lead != c.x.lead or other.ndim != c.x.ndim:
            raise OpFault(
                f"{c.name(0)} and {c.name(index)} must have the same shape"
                + (f": {why}" if why else "")
                + f" ({c.shown(0, index)})"
            )
        for place, (a, b) in enumerate(zip(c.x.dims, other.dims, strict=True)):
            c.require_equal(a, b, c.axis_of(0, place), c.axis_of(index, place), why)
    return c.x


def stretch(c: Call, *, quiet: bool = False) -> Shape:
    """The common shape of all inputs, aligned at their last axes.

    An axis of 1 against n, and a missing axis, is stretched with a warning that shows the result,
    unless ``quiet``. A scalar fits everything. Other sizes must be equal.
    """
    result, stretched = aligned(c, c.inputs, [c.name(i) for i in range(len(c.inputs))])
    if stretched and not quiet:
        warn_stretched(c, stretched, result)
    return result


def warn_stretched(c: Call, stretched: Sequence[str], result: Shape) -> None:
    """The warning about silent stretching."""
    if len(stretched) < len(c.inputs):
        who = f"{listed(stretched)} {'was' if len(stretched) == 1 else 'were'}"
    else:
        who = "both sides were" if len(c.inputs) == 2 else "all inputs were"
    shapes = listed([f"{c.name(i)}: {shape}" for i, shape in enumerate(c.inputs)], "with")
    hint = "; if that is meant, say broadcast: true" if "broadcast" in c.op.attr_names else ""
    c.warn(f"{who} stretched: {shapes} gives {result}{hint}")


def aligned(
    c: Call, shapes: Sequence[Shape], names: Sequence[str], after: int = 0,
    why: str = "they are paired element by element", hint: str = "",
) -> tuple[Shape, tuple[str, ...]]:
    """(common shape, names of those that were stretched).

    ``after`` is as in `axis_name`, ``why`` and ``hint`` as in `require_equal`.
    """
    for shape in shapes:
        if shape.lead == ANY and not shape.dims:
            return shape, ()  # an input whose author wants no check
    lead = _common_lead(c, shapes, names)
    most = max((shape.ndim for shape in shapes), default=0)
    sizes: list[Dim] = []
    row: str | None = None
    stretched: dict[str, None] = {}
    for back in range(most, 0, -1):
        held: tuple[Dim, str] | None = None
        short: list[str] = []
        for shape, name in zip(shapes, names, strict=True):
            if shape.ndim < back:
                if shape.ndim + after:  # a scalar is no oversight
                    short.append(name)
                continue
            size = shape.dims[-back]
            where = f"{shape.axis_name(shape.ndim - back, after)} of {name}"
            if size == ONE:
                short.append(name)
            elif held is None:
                held = (size, where)
            else:
                if row is None:  # the same for all: made once
                    row = "" if after else _as_column(c, shapes, names)
                c.require_equal(held[0], size, held[1], where, why, hint, row)
        if held is None:  # an axis of 1 that meets none is not stretched
            short = [name for shape, name in zip(shapes, names, strict=True)
                     if shape.ndim + after > 0 and shape.ndim < back]
        stretched.update(dict.fromkeys(short))
        sizes.append(ONE if held is None else held[0])
    if lead is not None:
        stretched.update(
            (name, None)
            for shape, name in zip(shapes, names, strict=True)
            if shape.lead is None and shape.ndim + after
        )
    ordered = tuple(name for name in names if name in stretched)
    return Shape(tuple(sizes), lead), ordered


def _as_column(c: Call, shapes: Sequence[Shape], names: Sequence[str]) -> str:
    """A hint where one input holds a number for each vector of another: [k] beside [k, d_m]."""
    widest = max(shapes, key=lambda shape: shape.ndim)
    for shape, name in zip(shapes, names, strict=True):
        lack = widest.ndim - shape.ndim
        if 0 < lack < widest.ndim and shape.lead == widest.lead and all(
            c.facts.equal(a, b) is Verdict.YES
            for a, b in zip(shape.dims, widest.dims[: shape.ndim], strict=True)
        ):
            column = Shape((*shape.dims, *[ONE] * lack), shape.lead)
            to = Shape(column.dims)
            also = ", with `broadcast: true` here" if "broadcast" in c.op.attr_names else ""
            return (
                f"{name} has one number for each of the first axes of {widest}: "
                f"give it the shape {column}, by {{op: reshape, to: {to}}}{also}"
            )
    return ""


def _common_lead(c: Call, shapes: Sequence[Shape], names: Sequence[str]) -> str | None:
    """The lead of the result; faults where "..." of one input meets stated axes of another."""
    leads = dict.fromkeys(shape.lead for shape in shapes if shape.lead is not None)
    if not leads:
        return None
    if len(leads) > 1:
        raise OpFault(
            f"cannot tell whether {listed([f'{lead!r}' for lead in leads])} stand for the same "
            f"axes ({c.shown()})",
            "call them by the same name, e.g. '...B', if they are the same",
        )
    (lead,) = leads
    stated = min(shape.ndim for shape in shapes if shape.lead is not None)
    for shape, name in zip(shapes, names, strict=True):
        if shape.ndim > stated:
            raise OpFault(
                f"cannot tell whether the axes of {name} fit into '{lead}' ({c.shown()})",
                f"state the same axes behind '{lead}' everywhere",
            )
    return lead


def need_inputs(c: Call, least: int = 0) -> None:
    """Count the inputs.

    :raises OpFault: when a variadic op has too few inputs.
    """
    least = least or c.op.needed
    if len(c.inputs) < least:
        given = len(c.inputs)
        raise OpFault(
            f"'{c.op.name}' needs at least {least} inputs, but {given or 'none'} "
            f"{'is' if given == 1 else 'are'} given",
            "name them: from: [a, b]" if least > 1 else "name it: from: a",
        )


def last_axis_kept(c: Call) -> tuple[Shape, ...]:
    """The shape rule of an op that works along the last axis and changes no shape."""
    c.last()
    return (c.x,)


def axis_kept(c: Call) -> tuple[Shape, ...]:
    """The shape rule of an op that works along its `axis` and changes no shape."""
    c.check_axis(0, c["axis"])
    return (c.x,)


def causal_scores(c: Call, window: Dim | None = None, chunk: Dim | None = None) -> Seen:
    """What a causal mask leaves of x, which is [.., target, source] scores.

    :raises OpFault: fewer than two axes, or more targets than sources.
    """
    target, source = c.need_axes(0, 2).dims[-2:]
    c.require_at_most(target, source, TARGETS_LAST)
    return Seen(target, source, source, causal=True, window=window, chunk=chunk)


def every_input(c: Call) -> range:
    """All inputs: what an op that works element by element hands on."""
    return range(len(c.inputs))


TARGETS_LAST = "targets are the last of the sources, but there are more of them"

# -- counting -------------------------------------------------------------------------------------


def rows(shape: Shape) -> Dim:
    """How many vectors lie along the last axis."""
    return Shape(shape.dims[:-1]).numel()


def per_element(cost: int) -> Rule:
    """The work rule of an op that spends ``cost`` FLOPs on each element of its first input."""
    return lambda c: cost * c.x.numel()


def total(sizes: Sequence[Dim]) -> Dim:
    """The sum of sizes."""
    result = ZERO
    for size in sizes:
        result = result + size
    return result


def affine(c: Call, *matrix: Dim, bias: bool, name: str = "W") -> list[Weight]:
    """A weight matrix, and a bias of its output's width where there is one."""
    found = [Weight(name, Shape(matrix))]
    if bias:
        found.append(Weight("b", Shape((*matrix[:-2], matrix[-1]))))
    return found


# -- labels ---------------------------------------------------------------------------------------


# A script of several letters, up to the next script or prime.
_SCRIPT = re.compile(r"(_)([^^'\s]{2,})|(\^)([^_^'\s]{2,})")


def symbol_tex(symbol: str) -> str:
    r"""A weight's name as TeX: ``W_Q`` stays, ``W_DKV`` is ``W_{DKV}``; TeX stays as it is.

    >>> symbol_tex("W_DKV"), symbol_tex("W_K^c"), symbol_tex("W^(1)_Q")
    ('W_{DKV}', 'W_K^c', 'W^{(1)}_Q')
    """
    if "\\" in symbol or "{" in symbol:
        return symbol
    return _SCRIPT.sub(r"\1\3{\2\4}", symbol)


def with_symbol(word: str, symbol: str | None) -> str:
    """``Linear $W_Q$``, or the word alone."""
    return f"{word} ${symbol_tex(symbol)}$" if symbol else word
