"""Shared verbs of shape rules: what many ops check in the same words."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, Verdict
from transformer_diagrams.ops.registry import ONE, ZERO, Call, OpFault, Shape


def same_lead(c: Call, *indexes: int) -> str | None:
    """The common leading "..." of some inputs; raises OpFault where they differ."""
    leads = {c.inputs[i].lead for i in indexes}
    if len(leads) > 1:
        texts = " and ".join(f"{c.name(i)} {c.inputs[i]}" for i in indexes)
        raise OpFault(f"{texts} do not share their leading axes")
    return leads.pop()


def last_axis(c: Call, index: int = 0) -> Dim:
    """The size of the last axis, which must be stated."""
    size = c.last(index)
    if size is None:
        raise OpFault(
            f"{c.name(index)} {c.inputs[index]} must state its last axis",
            "give the input a shape such as [d_t, d_m]",
        )
    return size


def elements(shape: Shape) -> Dim:
    """Number of elements of the stated axes."""
    return shape.numel()


def rows(shape: Shape) -> Dim:
    """Number of vectors along the last axis."""
    total = ONE
    for size in shape.dims[:-1]:
        total = total * size
    return total


def broadcast(c: Call, a: int, b: int, *, quiet: bool = False) -> Shape:
    """The common shape of two inputs, aligned at their last axes.

    An axis of 1 against n is stretched with a warning (unless ``quiet``); other sizes must agree.
    """
    one, two = c.inputs[a], c.inputs[b]
    out: list[Dim] = []
    stretched: set[int] = set()
    for back in range(1, max(one.ndim, two.ndim) + 1):
        p = one.dims[-back] if back <= one.ndim else None
        q = two.dims[-back] if back <= two.ndim else None
        if p is None or q is None:
            out.append(q if p is None else p)  # type: ignore[arg-type]
            shorter = one if p is None else two
            if shorter.lead is None and shorter.ndim > 0:
                stretched.add(a if p is None else b)
            continue
        verdict = c.facts.equal(p, q)
        if verdict is Verdict.YES:
            out.append(p)
        elif p == ONE or q == ONE:
            stretched.add(a if p == ONE else b)
            out.append(q if p == ONE else p)
        else:
            axis_a, axis_b = one.ndim - back + 1, two.ndim - back + 1
            c.require_equal(
                p, q, f"axis {axis_a} of {c.name(a)} {one}", f"axis {axis_b} of {c.name(b)} {two}"
            )
            out.append(p)
    lead = one.lead or two.lead
    if one.lead and two.lead and one.lead != two.lead:
        raise OpFault(f"{c.name(a)} {one} and {c.name(b)} {two} do not share their leading axes")
    result = Shape(tuple(reversed(out)), lead)
    if stretched and not quiet:
        sides = "both sides were" if len(stretched) == 2 else f"{c.name(min(stretched))} was"
        c.warn(f"{sides} stretched: {one} with {two} gives {result}")
    return result


def all_equal(c: Call) -> Shape:
    """The common shape of all inputs, pairwise broadcast."""
    shape = c.inputs[0]
    for index in range(1, len(c.inputs)):
        pair = Call(c.op, (shape, c.inputs[index]), c.attrs, c.facts, c.warnings, c.needs)
        shape = broadcast(pair, 0, 1)
    return shape


def total_elements(c: Call) -> Dim:
    """Elements of all inputs together."""
    total = ZERO
    for shape in c.inputs:
        total = total + shape.numel()
    return total
