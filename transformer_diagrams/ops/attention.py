"""Products of tensors, and attention over them."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, Verdict, const, nearest_divisors
from transformer_diagrams.ops.registry import ONE, Attr, Call, Op, OpFault, Shape, register


def _matmul_parts(c: Call) -> tuple[Shape, Dim]:
    """(shape of the product, contracted size)."""
    a, b = c.need_axes(0, 1), c.need_axes(1, 2)
    flip = c.attr("transpose_b", False)
    inner_at, out_at = (b.ndim, b.ndim - 1) if flip else (b.ndim - 1, b.ndim)
    if a.ndim < 1 or b.ndim < 2:
        raise OpFault(f"a {a} and b {b} must state the axes of the product")
    inner, out = b.dims[inner_at - 1], b.dims[out_at - 1]
    c.require_equal(a.dims[-1], inner, f"axis {a.ndim} of a {a}", f"axis {inner_at} of b {b}")
    lead_a, lead_b = a.dims[:-2], b.dims[:-2]
    if c.attr("grouped", False) and lead_a and lead_b:
        _grouped(c, lead_a[-1], lead_b[-1])
        lead = lead_a
    else:
        lead = _batch(c, lead_a, lead_b, a, b)
    rows = a.dims[-2:-1] if a.ndim > 1 else ()
    return Shape((*lead, *rows, out), a.lead or b.lead), a.dims[-1]


def _batch(
    c: Call, lead_a: tuple[Dim, ...], lead_b: tuple[Dim, ...], a: Shape, b: Shape
) -> tuple[Dim, ...]:
    if not lead_b or not lead_a:
        return lead_a or lead_b
    if len(lead_a) != len(lead_b):
        raise OpFault(f"a {a} and b {b} have {len(lead_a)} and {len(lead_b)} leading axes")
    out: list[Dim] = []
    for k, (p, q) in enumerate(zip(lead_a, lead_b, strict=True)):
        if p == ONE or q == ONE:
            out.append(q if p == ONE else p)
            continue
        c.require_equal(
            p,
            q,
            f"axis {k + 1} of a {a}",
            f"axis {k + 1} of b {b}",
            "for grouped heads say `grouped: true`"
            if c.facts.equal(p, q) is not Verdict.YES
            else "",
        )
        out.append(p)
    return tuple(out)


def _grouped(c: Call, heads: Dim, groups: Dim) -> None:
    """Query heads must be a multiple of key/value heads."""
    n, g = c.facts.reduce(heads).as_int(), c.facts.reduce(groups).as_int()
    if n is not None and g is not None and (not g or n % g):
        near = " or ".join(map(str, nearest_divisors(g, n))) or str(n)
        raise OpFault(
            f"{n} query heads are not a multiple of {g} key/value heads: {n} is not a multiple of "
            f"{g}",
            f"use a divisor of {n}, e.g. {near}",
        )
    c.require_divides(groups, heads, f"{heads} query heads over {groups} key/value heads")


def _matmul_work(c: Call) -> Dim:
    shape, inner = _matmul_parts(c)
    return 2 * shape.numel() * inner


register(
    Op(
        name="matmul",
        summary="Matrix product over the last axis of a; `transpose_b` reads b [.., n, k]; "
        "`grouped` lets each head of b serve several heads of a.",
        family="attention",
        inputs=("a", "b"),
        attrs=(
            Attr("transpose_b", "bool", "b is read transposed", False),
            Attr("grouped", "bool", "heads of b serve groups of heads of a", False),
            Attr("formula", "str", "TeX of the product, for the label", ""),
        ),
        shape=lambda c: (_matmul_parts(c)[0],),
        work=_matmul_work,
        text=lambda c: f"matmul ${c['formula']}$" if c.attr("formula") else "matmul",
        example={
            "inputs": [[6, 3, 4], [2, 5, 4]],
            "attrs": {"transpose_b": True, "grouped": True},
            "outputs": [[6, 3, 5]],
            "params": 0,
            "flops": 720,
        },
    )
)


def _einsum_parts(c: Call) -> tuple[Shape, Dim]:
    """(shape of the result, product of all distinct axes)."""
    text = str(c["formula"]).replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if not arrow or len(terms) != len(c.inputs):
        raise OpFault(
            f"`formula` {text!r} must name {len(c.inputs)} inputs and the result",
            "e.g. 'hqd,hkd->hqk'",
        )
    sizes: dict[str, tuple[Dim, str]] = {}
    for i, term in enumerate(terms):
        shape = c.inputs[i]
        if len(term) != shape.ndim:
            raise OpFault(
                f"`formula` gives {c.name(i)} {len(term)} axes ('{term}'), but it is {shape}"
            )
        for k, letter in enumerate(term):
            where = f"axis {k + 1} ('{letter}') of {c.name(i)} {shape}"
            if letter in sizes:
                c.require_equal(sizes[letter][0], shape.dims[k], sizes[letter][1], where)
            else:
                sizes[letter] = (shape.dims[k], where)
    missing = [x for x in right if x not in sizes]
    if missing:
        raise OpFault(f"`formula` {text!r}: '{missing[0]}' is in the result but in no input")
    total = ONE
    for size, _ in sizes.values():
        total = total * size
    return Shape(tuple(sizes[x][0] for x in right), c.x.lead), total


register(
    Op(
        name="einsum",
        summary="Sum of products over the letters that are not in the result.",
        family="attention",
        inputs=("a", "b"),
        variadic=True,
        attrs=(Attr("formula", "str", "e.g. hqd,hkd->hqk", required=True),),
        shape=lambda c: (_einsum_parts(c)[0],),
        work=lambda c: 2 * _einsum_parts(c)[1],
        text="einsum",
        example={
            "inputs": [[2, 3, 4], [2, 5, 4]],
            "attrs": {"formula": "hqd,hkd->hqk"},
            "outputs": [[2, 3, 5]],
            "params": 0,
            "flops": 240,
        },
    )
)


def _core(c: Call) -> tuple[Shape, Dim, Dim, Dim]:
    """(output, number of query rows, source positions, key width)."""
    q, k, v = (c.need_axes(i, 2) for i in range(3))
    c.require_equal(
        q.dims[-1],
        k.dims[-1],
        f"axis {q.ndim} of q {q}",
        f"axis {k.ndim} of k {k}",
        "queries and keys share their width d_K",
    )
    c.require_equal(
        k.dims[-2],
        v.dims[-2],
        f"axis {k.ndim - 1} of k {k}",
        f"axis {v.ndim - 1} of v {v}",
        "keys and values share their positions d_s",
    )
    if k.ndim >= 3 and v.ndim >= 3:
        c.require_equal(
            k.dims[-3], v.dims[-3], f"axis {k.ndim - 2} of k {k}", f"axis {v.ndim - 2} of v {v}"
        )
    if q.ndim >= 3 and k.ndim >= 3:
        _grouped(c, q.dims[-3], k.dims[-3])
    count = const(1)
    for size in q.dims[:-1]:
        count = count * size
    return Shape((*q.dims[:-1], v.dims[-1]), q.lead), count, k.dims[-2], q.dims[-1]


def _core_work(c: Call) -> Dim:
    shape, count, source, width = _core(c)
    return 2 * count * source * (width + shape.dims[-1])


register(
    Op(
        name="attention_core",
        summary="softmax(Q K^T / sqrt(d_K)) V per head (arXiv:1706.03762, section 3.2.1); key/value"
        " heads may be fewer than query heads.",
        family="attention",
        role="attention",
        inputs=("q", "k", "v", "mask"),
        optional=1,
        attrs=(
            Attr("causal", "bool", "a position sees only itself and earlier ones", False),
            Attr("window", "dim", "how far back a position sees (default: to the start)"),
        ),
        shape=lambda c: (_core(c)[0],),
        work=_core_work,
        text=lambda c: "Causal attention" if c.attr("causal", False) else "Attention",
        example={
            "inputs": [[6, 3, 4], [2, 5, 4], [2, 5, 7]],
            "attrs": {},
            "outputs": [[6, 3, 7]],
            "params": 0,
            "flops": 1980,
        },
    )
)
