"""Moving elements about: split, concat, heads, reshape, transpose, gather, shift."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, Verdict, const, minimum
from transformer_diagrams.ops.registry import (
    ONE,
    Attr,
    Call,
    Op,
    OpFault,
    Shape,
    register,
)
from transformer_diagrams.ops.rules import last_axis, same_lead

AXIS = Attr("axis", "int", "the axis, counted from 0 or from the end", -1)


def _replaced(shape: Shape, axis: int, size: Dim) -> Shape:
    dims = list(shape.dims)
    dims[axis] = size
    return Shape(tuple(dims), shape.lead)


def _split_shape(c: Call) -> tuple[Shape, ...]:
    axis = c.axis(0, c.attr("axis", -1))
    size = c.x.dims[axis]
    sizes = c.attr("sizes")
    if sizes is None:
        parts = c.attr("parts", const(2))
        count = parts.as_int()
        if count is None or not 1 <= count <= 64:
            raise OpFault(f"cannot split into {parts} parts", "give a number from 1 to 64")
        each = c.require_divides(const(count), size, f"axis {axis + 1} of x")
        return tuple(_replaced(c.x, axis, each) for _ in range(count))
    total = const(0)
    for part in sizes:
        total = total + part
    c.require_equal(total, size, "the sum of `sizes`", f"axis {axis + 1} of x {c.x}")
    return tuple(_replaced(c.x, axis, part) for part in sizes)


register(
    Op(
        name="split",
        summary="Cut an axis into parts: of given `sizes`, or into `parts` equal ones.",
        family="shape",
        attrs=(
            Attr("sizes", "dims", "sizes of the parts; they must sum to the axis"),
            Attr("parts", "dim", "number of equal parts", "2"),
            AXIS,
        ),
        shape=_split_shape,
        text="split",
        example={
            "inputs": [[3, 6]],
            "attrs": {"sizes": [4, 2]},
            "outputs": [[3, 4], [3, 2]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _concat_shape(c: Call) -> tuple[Shape, ...]:
    axis = c.axis(0, c.attr("axis", -1))
    same_lead(c, *range(len(c.inputs)))
    total = c.x.dims[axis]
    for i, other in enumerate(c.inputs[1:], start=1):
        if other.ndim != c.x.ndim:
            raise OpFault(
                f"{c.name(0)} {c.x} and {c.name(i)} {other} have {c.x.ndim} and {other.ndim} axes"
            )
        for k, (p, q) in enumerate(zip(c.x.dims, other.dims, strict=True)):
            if k != axis:
                c.require_equal(
                    p,
                    q,
                    f"axis {k + 1} of {c.name(0)} {c.x}",
                    f"axis {k + 1} of {c.name(i)} {other}",
                )
        total = total + other.dims[axis]
    return (_replaced(c.x, axis, total),)


register(
    Op(
        name="concat",
        summary="Join tensors along one axis; the other axes must agree.",
        family="shape",
        inputs=("a", "b"),
        variadic=True,
        attrs=(AXIS,),
        shape=_concat_shape,
        text="concat",
        example={
            "inputs": [[3, 4], [3, 2]],
            "attrs": {},
            "outputs": [[3, 6]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _split_heads_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 2)
    heads = c["heads"]
    width = c.require_divides(heads, last_axis(c), f"axis {x.ndim} of x into heads")
    return (Shape((*x.dims[:-2], heads, x.dims[-2], width), x.lead),)


register(
    Op(
        name="split_heads",
        summary="[d, h k] -> [h, d, k]; head-major order.",
        family="shape",
        attrs=(Attr("heads", "dim", "number of heads", required=True),),
        shape=_split_heads_shape,
        text="split heads",
        example={
            "inputs": [[3, 8]],
            "attrs": {"heads": 2},
            "outputs": [[2, 3, 4]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _merge_heads_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 3)
    heads, positions, width = x.dims[-3:]
    return (Shape((*x.dims[:-3], positions, heads * width), x.lead),)


register(
    Op(
        name="merge_heads",
        summary="[h, d, v] -> [d, h v]: the heads side by side.",
        family="shape",
        shape=_merge_heads_shape,
        text="concat heads",
        example={"inputs": [[2, 3, 4]], "attrs": {}, "outputs": [[3, 8]], "params": 0, "flops": 0},
    )
)


def _reshape_shape(c: Call) -> tuple[Shape, ...]:
    wanted = list(c["to"])
    unknown = [i for i, d in enumerate(wanted) if d.as_int() == -1]
    if len(unknown) > 1:
        axes = " and ".join(str(i + 1) for i in unknown)
        raise OpFault(
            f"axes {axes} of `to` are both -1: only one can be worked out",
            "give all but one a size",
        )
    have = c.x.numel()
    if c.x.lead:
        raise OpFault(f"x {c.x} has axes that are not stated", "state every axis of x")
    known = ONE
    for i, d in enumerate(wanted):
        if i not in unknown:
            known = known * d
    if unknown:
        quotient = c.require_divides(known, have, f"{have} elements of x into [.., {known}]")
        wanted[unknown[0]] = quotient
        return (Shape(tuple(wanted)),)
    target = Shape(tuple(wanted))
    verdict = c.facts.equal(have, known)
    if verdict is Verdict.NO:
        raise OpFault(f"x {c.x} has {have} elements, {target} holds {known}: {have} into {known}")
    if verdict is Verdict.UNKNOWN:
        raise OpFault(
            f"x {c.x} has {have} elements, {target} holds {known}: cannot tell whether they agree",
            f"{c.facts.explain(have, known)}; say so in `where:`",
        )
    return (target,)


register(
    Op(
        name="reshape",
        summary="The same elements in other axes; one size may be -1.",
        family="shape",
        attrs=(Attr("to", "dims", "sizes of the new axes", required=True),),
        shape=_reshape_shape,
        text="reshape",
        example={
            "inputs": [[2, 3, 4]],
            "attrs": {"to": [6, 4]},
            "outputs": [[6, 4]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _transpose_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 2)
    order = c.attr("order")
    if order is None:
        return (Shape((*x.dims[:-2], x.dims[-1], x.dims[-2]), x.lead),)
    places = [d.as_int() if isinstance(d, Dim) else int(d) for d in order]
    if sorted(p if p is not None else -1 for p in places) != list(range(x.ndim)):
        shown = ", ".join(map(str, order))
        raise OpFault(
            f"`order` [{shown}] does not name each of the {x.ndim} axes of x {x} once",
            f"e.g. [{', '.join(map(str, reversed(range(x.ndim))))}]",
        )
    return (Shape(tuple(x.dims[p] for p in places if p is not None), x.lead),)


register(
    Op(
        name="transpose",
        summary="Axes in another order; by default the last two are swapped.",
        family="shape",
        attrs=(Attr("order", "dims", "the new order of the axes, counted from 0"),),
        shape=_transpose_shape,
        text="transpose",
        example={
            "inputs": [[2, 3, 4]],
            "attrs": {},
            "outputs": [[2, 4, 3]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _repeat_groups_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 3)
    groups, heads = x.dims[-3], c["heads"]
    c.require_divides(groups, heads, f"{heads} heads over {groups} groups")
    return (Shape((*x.dims[:-3], heads, *x.dims[-2:]), x.lead),)


register(
    Op(
        name="repeat_groups",
        summary="Each key/value head serves several consecutive query heads: [g, d, k] -> [h, d, k]"
        " (arXiv:2305.13245).",
        family="shape",
        attrs=(Attr("heads", "dim", "number of query heads", required=True),),
        shape=_repeat_groups_shape,
        text="share in groups",
        example={
            "inputs": [[2, 3, 4]],
            "attrs": {"heads": 6},
            "outputs": [[6, 3, 4]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _gather_shape(c: Call) -> tuple[Shape, ...]:
    x, index = c.inputs[0], c.inputs[1]
    axis = c.axis(0, c.attr("axis", 0))
    return (Shape((*x.dims[:axis], *index.dims, *x.dims[axis + 1 :]), x.lead or index.lead),)


register(
    Op(
        name="gather",
        summary="Pick entries along an axis by index: x [s, ..], idx [t, k] -> [t, k, ..].",
        family="shape",
        inputs=("x", "index"),
        attrs=(Attr("axis", "int", "the axis that is picked from", 0),),
        shape=_gather_shape,
        text="gather",
        example={
            "inputs": [[5, 4], [3, 2]],
            "attrs": {},
            "outputs": [[3, 2, 4]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _top_k_shape(c: Call) -> tuple[Shape, ...]:
    size = last_axis(c)
    kept = c.x.with_last(minimum(c["k"], size))
    return (kept, kept)


register(
    Op(
        name="top_k",
        summary="The k largest along the last axis: values, and their indices.",
        family="shape",
        role="topk",
        outputs=("values", "index"),
        attrs=(Attr("k", "dim", "how many", required=True),),
        shape=_top_k_shape,
        text=lambda c: f"top-${c['k'].tex()}$",
        example={
            "inputs": [[3, 4]],
            "attrs": {"k": 2},
            "outputs": [[3, 2], [3, 2]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _slice_shape(c: Call) -> tuple[Shape, ...]:
    axis = c.axis(0, c.attr("axis", -1))
    size, start = c.x.dims[axis], c.attr("start", const(0))
    stop = c.attr("stop")
    stop = size if stop is None else stop
    if c.facts.le(stop, size) is Verdict.NO:
        raise OpFault(f"the slice ends at {stop}, beyond axis {axis + 1} of x {c.x}")
    length = stop - start
    if c.facts.le(const(0), length) is Verdict.NO:
        raise OpFault(f"the slice from {start} to {stop} has a negative length")
    return (_replaced(c.x, axis, length),)


register(
    Op(
        name="slice",
        summary="A range of one axis, from `start` to before `stop`.",
        family="shape",
        attrs=(
            Attr("start", "dim", "first index kept", "0"),
            Attr("stop", "dim", "first index not kept (default: the end)"),
            AXIS,
        ),
        shape=_slice_shape,
        text="slice",
        example={
            "inputs": [[3, 6]],
            "attrs": {"start": 2},
            "outputs": [[3, 4]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _shift_shape(c: Call) -> tuple[Shape, ...]:
    axis = c.axis(0, c.attr("axis", 0))
    if not c.attr("shorten", False):
        return (c.x,)
    return (_replaced(c.x, axis, c.x.dims[axis] - c["by"]),)


register(
    Op(
        name="shift",
        summary="Move a sequence by some positions (targets, next tokens); `shorten` drops the "
        "positions that fall out.",
        family="shape",
        attrs=(
            Attr("by", "dim", "how many positions", "1"),
            Attr("axis", "int", "the axis of positions", 0),
            Attr("shorten", "bool", "drop what falls out", False),
        ),
        shape=_shift_shape,
        text=lambda c: f"shift by ${c['by'].tex()}$",
        example={
            "inputs": [[5, 4]],
            "attrs": {"by": 2, "shorten": True},
            "outputs": [[3, 4]],
            "params": 0,
            "flops": 0,
        },
    )
)


def _pool_shape(c: Call) -> tuple[Shape, ...]:
    axis = c.axis(0, c.attr("axis", -2))
    return (Shape((*c.x.dims[:axis], *c.x.dims[axis + 1 :]), c.x.lead),)


register(
    Op(
        name="pool",
        summary="One vector for a sequence: the mean, the maximum or the first position.",
        family="shape",
        attrs=(
            Attr("kind", "enum", "how", "mean", choices=("mean", "max", "first")),
            Attr("axis", "int", "the axis of positions", -2),
        ),
        shape=_pool_shape,
        work=lambda c: const(0) if c.attr("kind") == "first" else c.x.numel(),
        text=lambda c: {"first": "first token", "mean": "mean", "max": "max"}[str(c["kind"])],
        example={"inputs": [[3, 4]], "attrs": {}, "outputs": [[4]], "params": 0, "flops": 12},
    )
)

register(
    Op(
        name="mean",
        summary="The mean along one axis.",
        family="shape",
        attrs=(AXIS,),
        shape=lambda c: _pool_shape(c),
        work=lambda c: c.x.numel(),
        text="mean",
        example={"inputs": [[3, 4]], "attrs": {}, "outputs": [[3]], "params": 0, "flops": 12},
    )
)


def _svd_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 2)
    m, n = x.dims[-2:]
    k, lead = minimum(m, n), x.dims[:-2]
    return (Shape((*lead, m, k), x.lead), Shape((*lead, k), x.lead), Shape((*lead, k, n), x.lead))


register(
    Op(
        name="svd",
        summary="Singular value decomposition: U [m, min(m,n)], S [min(m,n)], V [min(m,n), n].",
        family="shape",
        outputs=("u", "s", "v"),
        shape=_svd_shape,
        text="SVD",
        example={
            "inputs": [[5, 3]],
            "attrs": {},
            "outputs": [[5, 3], [3], [3, 3]],
            "params": 0,
            "flops": 0,
        },
    )
)
