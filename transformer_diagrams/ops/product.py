"""Products of tensors, without weights: matmul, einsum, SVD."""

from __future__ import annotations

import re

from transformer_diagrams.dims import Dim, Verdict, minimum, product
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import (
    ZERO,
    Attr,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    family,
)
from transformer_diagrams.ops.rules import aligned, need_inputs, unify, warn_stretched
from transformer_diagrams.records import dataclass

op = family("product", Op)

# -- matmul ---------------------------------------------------------------------------------------


def _matmul(c: Call) -> tuple[Shape, Dim]:
    """(the product, the size that is summed over)."""
    a, b = c.need_axes(0, 2), c.need_axes(1, 2)
    flipped = c["transpose_b"]
    at, out = (b.ndim - 1, b.ndim - 2) if flipped else (b.ndim - 2, b.ndim - 1)
    inner = c.require_equal(
        a.dims[-1], b.dims[at], c.axis_of(0, a.ndim - 1), c.axis_of(1, at),
        "matmul sums over them", _matmul_hint(c, a, b, flipped),
    )
    batch = _batch(c, a, b)
    return Shape((*batch.dims, a.dims[-2], b.dims[out]), batch.lead), inner


def _matmul_hint(c: Call, a: Shape, b: Shape, flipped: bool) -> str:
    """A transpose that would make it fit."""
    other = b.dims[-2] if flipped else b.dims[-1]
    if c.facts.equal(a.dims[-1], other) is not Verdict.YES:
        return ""
    return f"it would fit with transpose_b: {'false' if flipped else 'true'}"


def _batch(c: Call, a: Shape, b: Shape) -> Shape:
    """The leading axes of the product. A plain matrix b serves all of them."""
    heads_a, heads_b = Shape(a.dims[:-2], a.lead), Shape(b.dims[:-2], b.lead)
    if b.ndim == 2 and b.lead is None:
        return heads_a
    if a.ndim == 2 and a.lead is None:
        return heads_b
    grouped = c["grouped"] and heads_a.ndim and heads_b.ndim
    if grouped:
        c.require_multiple(
            heads_a.dims[-1], heads_b.dims[-1],
            c.axis_of(0, a.ndim - 3), c.axis_of(1, b.ndim - 3),
        )
        heads_b = heads_b.with_last(heads_a.dims[-1])
    result, stretched = aligned(
        c, (heads_a, heads_b), (c.name(0), c.name(1)), 2,
        "there is one product for each", _grouped_hint(c, a, b),
    )
    if stretched and not c["broadcast"]:
        warn_stretched(c, stretched, _matrix(result, a, b, c["transpose_b"]))
    return result


def _matrix(batch: Shape, a: Shape, b: Shape, flipped: bool) -> Shape:
    return Shape((*batch.dims, a.dims[-2], b.dims[-2 if flipped else -1]), batch.lead)


def _grouped_hint(c: Call, a: Shape, b: Shape) -> str:
    if c["grouped"] or a.ndim < 3 or b.ndim < 3:
        return ""
    return "if each head of b serves several heads of a, say grouped: true"


def _matmul_macs(c: Call) -> Dim:
    shape, inner = _matmul(c)
    return shape.numel() * inner


def _matmul_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    a, b = inputs
    if c["grouped"] and a.ndim > 2 and b.ndim > 2:
        b = b.repeat(a.shape[-3] // b.shape[-3], axis=-3)
    return [a @ (b.swapaxes(-1, -2) if c["transpose_b"] else b)]


op(
    name="matmul",
    does=("product",),
    summary="Matrix product over the last axis of a and the last but one of b; a matrix "
    "without further axes serves every head.",
    inputs=("a", "b"),
    ordered=True,
    attrs=(
        Attr("transpose_b", "bool", "b is [.., n, k], and its last axis is summed over", False),
        Attr("grouped", "bool",
             "each head of b (axis -3) serves a group of consecutive heads of a", False),
        Attr("formula", "str", "TeX of the product, for the label, e.g. Q K^\\top", "",
             shown="tex"),
        Attr("broadcast", "bool", "an axis of 1 may be stretched", False),
    ),
    shape=lambda c: (_matmul(c)[0],),
    macs=_matmul_macs,
    text=lambda c: f"matmul ${c['formula']}$" if c["formula"] else "matmul",
    value=_matmul_value,
    examples=(
        Example([["n_h", "d_t", "d_K"], ["n_h", "d_s", "d_K"]], [["n_h", "d_t", "d_s"]],
                {"transpose_b": True, "formula": "Q K^\\top"}, flops="2 n_h d_t d_s d_K",
                label="matmul $Q K^\\top$"),
        Example([[6, 3, 4], [2, 5, 4]], [[6, 3, 5]], {"transpose_b": True, "grouped": True},
                flops=720),
        Example([[2, 3, 4], [4, 5]], [[2, 3, 5]], flops=240, label="matmul"),
    ),
)


# -- einsum ---------------------------------------------------------------------------------------

_AXIS = re.compile(r"\.\.\.|[A-Za-z]\w*|\S")


@dataclass(frozen=True, slots=True)
class _Einsum:
    """A formula that was read: the axes of each input, and of the result."""

    terms: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]

    def letters(self) -> str:
        """The formula with one letter an axis, as NumPy reads it."""
        names = dict.fromkeys(name for term in (*self.terms, self.result) for name in term)
        real = [name for name in names if name != "..."]
        short = {name: chr(ord("a") + n) for n, name in enumerate(real)} | {"...": "..."}
        sides = ["".join(short[name] for name in term) for term in (*self.terms, self.result)]
        return f"{','.join(sides[:-1])}->{sides[-1]}"


def _read_einsum(c: Call) -> _Einsum:
    formula: str = c["formula"]
    left, arrow, right = formula.partition("->")
    example = "e.g. 'h t k, h s k -> h t s', or with single letters 'htk,hsk->hts'"
    if not arrow:
        raise OpFault(f"the formula '{formula}' has no '->' before its result", example)
    terms = tuple(_term(text) for text in left.split(","))
    result = _term(right)
    if len(terms) != len(c.inputs):
        raise OpFault(
            f"the formula '{formula}' names {len(terms)} inputs, "
            f"but {len(c.inputs)} {'is' if len(c.inputs) == 1 else 'are'} given ({c.shown()})",
            example,
        )
    twice = [name for name in dict.fromkeys(result) if result.count(name) > 1]
    if twice:
        raise OpFault(f"the formula '{formula}' has '{twice[0]}' twice in its result")
    for name in result:
        if not any(name in term for term in terms):
            raise OpFault(f"the formula '{formula}' has '{name}' in its result, but in no input")
    for term in (*terms, result):
        bad = [n for n, name in enumerate(term) if not (name.isidentifier() or name == "...")]
        if bad or "..." in term[1:]:
            name = term[bad[0]] if bad else "..."
            raise OpFault(
                f"the formula '{formula}' cannot be read at '{name}'",
                "'...' may only come first" if name == "..." else example,
            )
    return _Einsum(terms, result)


def _term(text: str) -> tuple[str, ...]:
    """Names with spaces between them, or single letters without."""
    words = text.split()
    if len(words) == 1:
        head = "..." if words[0].startswith("...") else ""
        rest = words[0][len(head) :]
        return (*([head] if head else []), *rest)
    return tuple(found for word in words for found in _AXIS.findall(word))


def _einsum(c: Call) -> tuple[Shape, Dim]:
    """(the result, the product of all distinct axes)."""
    need_inputs(c)
    read = _read_einsum(c)
    patterns = [" ".join("...B" if n == "..." else n for n in term) for term in read.terms]
    bound = unify(c, *patterns, why=f"they are one axis in '{c['formula']}'")
    result = bound.shape(" ".join("...B" if n == "..." else n for n in read.result))
    heads = [head.numel() for head, _ in bound.leads.values()]
    return result, product([*bound.sizes.values(), *heads])


def _summed(c: Call) -> bool:
    """Whether an axis is summed over."""
    read = _read_einsum(c)
    return {name for term in read.terms for name in term} != set(read.result)


def _einsum_macs(c: Call) -> Dim:
    """The last of the products takes the sum along; without a sum there are no multiply-adds."""
    return _einsum(c)[1] if len(c.inputs) > 1 and _summed(c) else ZERO


def _einsum_work(c: Call) -> Dim:
    """Products of further inputs; with a single one, its sum, if there is one."""
    every, count = _einsum(c)[1], len(c.inputs)
    if not _summed(c):
        return (count - 1) * every
    return every if count == 1 else (count - 2) * every


def _einsum_hands_on(c: Call) -> tuple[int, ...]:
    """The inputs that end in the last two axes of the result."""
    read = _read_einsum(c)
    return tuple(n for n, term in enumerate(read.terms) if term[-2:] == read.result[-2:])


op(
    name="einsum",
    does=("product",),
    summary="Sum of products over the axes that are not in the result; a name is one size.",
    inputs=("a", "b"),
    ordered=True,
    variadic=True,
    optional=1,
    attrs=(
        Attr("formula", "str", "e.g. 'h t k, h s k -> h t s' or 'htk,hsk->hts'", required=True),
    ),
    shape=lambda c: (_einsum(c)[0],),
    macs=_einsum_macs,
    work=_einsum_work,
    hands_on=_einsum_hands_on,
    text="einsum",
    value=lambda c, x, w: [np.einsum(_read_einsum(c).letters(), *x)],
    examples=(
        Example([["n_h", "d_t", "d_K"], ["d_s", "d_K"]], [["n_h", "d_t", "d_s"]],
                {"formula": "h t k, s k -> h t s"}, flops="2 n_h d_t d_s d_K",
                label="einsum"),
        Example([[2, 3, 4], [2, 5, 4]], [[2, 3, 5]], {"formula": "htk,hsk->hts"}, flops=240),
        Example([[2, 3, 4]], [[3, 4]], {"formula": "htm->tm"}, flops=24),
        Example([[3, 4], [4]], [[3, 4]], {"formula": "tm,m->tm"}, flops=12),
    ),
)


# -- singular values ------------------------------------------------------------------------------


def _svd_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 2)
    lead, (m, n) = x.dims[:-2], x.dims[-2:]
    least = minimum(m, n)
    sides = ((m, least), (least,), (least, n))
    return tuple(Shape((*lead, *side), x.lead) for side in sides)


def _svd_work(c: Call) -> Dim:
    x = c.need_axes(0, 2)
    least = minimum(*x.dims[-2:])
    return 6 * x.numel() * least + 20 * Shape(x.dims[:-2]).numel() * least * least * least


op(
    name="svd",
    summary="Singular value decomposition U diag(S) V of the last two axes, thin form; work "
    "is 6 m n k + 20 k^3 with k = min(m, n) (Golub and Van Loan, section 8.6).",
    outputs=("u", "s", "v"),
    shape=_svd_shape,
    work=_svd_work,
    text="SVD",
    value=lambda c, x, w: list(np.linalg.svd(x[0], full_matrices=False)),
    examples=(
        Example([["m", "n"]], [["m", "min(m, n)"], ["min(m, n)"], ["min(m, n)", "n"]],
                flops="6 m n min(m, n) + 20 min(m, n)^3", label="SVD"),
        Example([[5, 3]], [[5, 3], [3], [3, 3]], flops=810),
    ),
)
