"""Moving elements about: split, concat, reshape, transpose, expand, slice, shift; sums."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, Verdict, const, product
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import (
    ONE,
    ZERO,
    Attr,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    axes_text,
    family,
    listed,
)
from transformer_diagrams.ops.rules import need_inputs, total

op = family("shape", Op)

_MOST_PARTS = 64


def axis_attr(doc: str, default: int = -1) -> Attr:
    """The attribute `axis`."""
    return Attr("axis", "int", f"{doc}, counted from 0 or from the end (-1 is the last)", default)


# -- split and concat -----------------------------------------------------------------------------


def _split_sizes(c: Call) -> tuple[int, tuple[Dim, ...]]:
    """(the place of the axis, the sizes of the parts)."""
    axis = c.axis(0, c["axis"])
    size = c.x.dims[axis]
    if c["sizes"] is not None:
        sizes: tuple[Dim, ...] = c["sizes"]
        if not sizes:
            raise OpFault("the list `sizes` is empty", "name the size of each part")
        shown = " + ".join(map(str, sizes))
        c.require_equal(
            total(sizes), size, f"the sum of sizes, {shown}", c.axis_of(0, axis),
            "the parts must make up the whole",
        )
        return axis, sizes
    count = c["parts"].as_int()
    if count is None or not 1 <= count <= _MOST_PARTS:
        raise OpFault(
            f"cannot split into {c['parts']} parts", f"parts: a number from 1 to {_MOST_PARTS}"
        )
    each = c.require_divides(const(count), size, c.axis_of(0, axis), near="parts")
    return axis, (each,) * count


def _split_shape(c: Call) -> tuple[Shape, ...]:
    axis, sizes = _split_sizes(c)
    return tuple(c.x.with_axis(axis, size) for size in sizes)


def _split_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    axis, sizes = _split_sizes(c)
    ends = np.cumsum([size.evaluate(c.bindings) for size in sizes])
    return list(np.split(inputs[0], ends[:-1], axis=axis))


op(
    name="split",
    does=("cut",),
    summary="Cut an axis into parts: of given `sizes`, or into `parts` equal ones.",
    outputs=(),
    attrs=(
        Attr("sizes", "dims", "sizes of the parts; their sum must be the axis"),
        Attr("parts", "dim", "number of equal parts, where no sizes are given", 2),
        axis_attr("the axis that is cut"),
    ),
    shape=_split_shape,
    text="split",
    value=_split_value,
    examples=(
        Example([["n_h", "d_t", "d_K + d_R"]], [["n_h", "d_t", "d_K"], ["n_h", "d_t", "d_R"]],
                {"sizes": ["d_K", "d_R"]}, label="split"),
        Example([[3, 6]], [[3, 4], [3, 2]], {"sizes": [4, 2]}),
        Example([[6, 3]], [[2, 3], [2, 3], [2, 3]], {"parts": 3, "axis": 0}),
    ),
)


def _concat_shape(c: Call) -> tuple[Shape, ...]:
    need_inputs(c)
    axis = c.axis(0, c["axis"])
    back = axis - c.x.ndim
    size = c.x.dims[axis]
    for index, given in enumerate(c.inputs[1:], start=1):
        first, name = c.name(0), c.name(index)
        other = _as_wide(c, given) if c["broadcast"] else given
        if other.lead != c.x.lead:
            raise OpFault(f"{first} and {name} must have the same leading axes ({c.shown()})")
        if other.ndim != c.x.ndim:
            raise OpFault(
                f"{first} and {name} must have equally many axes, but {first} has "
                f"{axes_text(c.x.ndim)} and {name} has {other.ndim} ({c.shown()})"
            )
        for place, (a, b) in enumerate(zip(c.x.dims, other.dims, strict=True)):
            if place != axis:
                c.require_equal(
                    a, b, c.axis_of(0, place), c.axis_of(index, place),
                    f"concat joins along {c.x.axis_name(axis)}, all other axes must agree",
                )
        size = size + other.dims[back]
    return (c.x.with_axis(axis, size),)


def _as_wide(c: Call, other: Shape) -> Shape:
    """``other`` with the leading axes of the first input that it lacks."""
    missing = max(c.x.ndim - other.ndim, 0) if c.x.lead is None and other.lead is None else 0
    return Shape((*c.x.dims[:missing], *other.dims), other.lead)


def _concat_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    if c["broadcast"]:
        lead = inputs[0].shape
        inputs = [np.broadcast_to(x, (*lead[: len(lead) - x.ndim], *x.shape)) for x in inputs]
    return [np.concatenate(inputs, axis=c["axis"])]


op(
    name="concat",
    does=("join",),
    summary="Join tensors along one axis, whose sizes add up; all other axes must agree.",
    inputs=("a", "b"),
    ordered=True,
    variadic=True,
    attrs=(
        axis_attr("the axis that grows"),
        Attr("broadcast", "bool", "an input may lack leading axes of the first, such as that "
             "of heads, and then serves all of them", False),
    ),
    shape=_concat_shape,
    text="concat",
    value=_concat_value,
    examples=(
        Example([["n_h", "d_t", "d_K"], ["n_h", "d_t", "d_R"]], [["n_h", "d_t", "d_K + d_R"]],
                label="concat"),
        Example([[3, 4], [3, 2], [3, 1]], [[3, 7]]),
        Example([[1, 4], [3, 4]], [[4, 4]], {"axis": 0}),
        Example([["n_h", "d_s", "d_K"], ["d_s", "d_R"]], [["n_h", "d_s", "d_K + d_R"]],
                {"broadcast": True}),
        Example([[2, 3, 4], [3, 1]], [[2, 3, 5]], {"broadcast": True}),
    ),
)

# -- reshape and transpose ------------------------------------------------------------------------


def _reshape_shape(c: Call) -> tuple[Shape, ...]:
    wanted: list[Dim] = list(c["to"])
    unknown = [place for place, size in enumerate(wanted) if size.as_int() == -1]
    if len(unknown) > 1:
        places = listed([place + 1 for place in unknown])
        raise OpFault(
            f"axes {places} of [{', '.join(map(str, wanted))}] are unknown (-1), "
            f"but only one axis can be worked out ({c.shown()})",
            "give all but one of them a size",
        )
    have = c.x.numel()
    known = product(size for place, size in enumerate(wanted) if place not in unknown)
    if unknown:
        what = f"the elements of {c.name(0)}, for axis {unknown[0] + 1} of `to`"
        wanted[unknown[0]] = c.require_divides(known, have, what)
        return (Shape(tuple(wanted), c.x.lead),)
    result = Shape(tuple(wanted), c.x.lead)
    _same_count(c, have, known, result)
    return (result,)


def _same_count(c: Call, have: Dim, want: Dim, result: Shape) -> None:
    verdict = c.facts.equal(have, want)
    if verdict is Verdict.YES:
        return
    texts = f"{c.name(0)}: {c.x} has {have} elements, {result} has {want}"
    if verdict is Verdict.NO:
        left, right = (str(c.facts.reduce(size)) for size in (have, want))
        notes = () if (left, right) == (str(have), str(want)) else (f"that is {left} into {right}",)
        raise OpFault(f"cannot reshape {have} elements into {want}: {texts}", notes=notes)
    raise OpFault(
        f"cannot tell whether {have} elements fit into {want}: {texts}",
        f"if {have} = {want} always holds, state it: where: [{have} == {want}]",
    )


op(
    name="reshape",
    does=("form",),
    summary="The same elements in the same order, in other axes; one size may be -1.",
    attrs=(Attr("to", "dims", "sizes of the new axes; -1 is worked out", required=True,
                beside=-1),),
    shape=_reshape_shape,
    text="reshape",
    value=lambda c, x, w: [x[0].reshape([size.evaluate(c.bindings) for size in c["to"]])],
    examples=(
        Example([["d_t", "n_h d_K"]], [["d_t", "n_h", "d_K"]], {"to": ["d_t", "n_h", "d_K"]},
                label="reshape"),
        Example([[2, 3, 4]], [[6, 4]], {"to": [-1, 4]}),
        Example([[2, 3, 4]], [[4, 6]], {"to": [4, 6]}),
    ),
)


def _order(c: Call) -> list[int]:
    """The new order of the axes, counted from 0."""
    order, count = c["order"], c.x.ndim
    if order is None:
        c.need_axes(0, 2)
        return [*range(count - 2), count - 1, count - 2]
    places = [size.as_int() for size in order]
    if c.x.lead is None:
        places = [p + count if p is not None and p < 0 else p for p in places]
    found = [p for p in places if p is not None]
    if len(found) < len(places) or sorted(found) != list(range(count)):
        shown = ", ".join(map(str, order))
        twice = [p for p in dict.fromkeys(found) if found.count(p) > 1]
        why = f"axis {twice[0]} is there twice" if twice else f"name each of 0 to {count - 1} once"
        raise OpFault(
            f"the order [{shown}] is none of the {axes_text(count)} of {c.shown(0)}: {why}",
            f"e.g. order: [{', '.join(map(str, reversed(range(count))))}]" if count > 1 else "",
        )
    return found


op(
    name="transpose",
    does=("form",),
    summary="The axes in another order; by default the last two change places.",
    attrs=(Attr("order", "dims", "for each new axis the old one, counted from 0", least=None),),
    shape=lambda c: (Shape(tuple(c.x.dims[p] for p in _order(c)), c.x.lead),),
    text="transpose",
    value=lambda c, x, w: [x[0].transpose(_order(c))],
    examples=(
        Example([["n_h", "d_s", "d_K"]], [["n_h", "d_K", "d_s"]], label="transpose"),
        Example([[2, 3, 4]], [[4, 2, 3]], {"order": [2, 0, 1]}),
    ),
)


def _expand_shape(c: Call) -> tuple[Shape, ...]:
    wanted = Shape(c["to"], c.x.lead)
    if c.x.ndim > wanted.ndim:
        raise OpFault(f"{wanted} has fewer axes than {c.shown(0)}")
    for back in range(1, c.x.ndim + 1):
        size = c.x.dims[-back]
        if size != ONE:
            c.require_equal(
                size, wanted.dims[-back], c.axis_of(0, c.x.ndim - back),
                f"axis {wanted.ndim - back + 1} of `to`", "only an axis of size 1 is repeated",
            )
    return (wanted,)


op(
    name="expand",
    does=("form",),
    summary="The same values for each entry of new axes in front, and of axes that had size 1: "
    "a learned token for every position, queries for every image.",
    attrs=(Attr("to", "dims", "sizes of all axes of the result", required=True),),
    shape=_expand_shape,
    text="expand",
    value=lambda c, x, w: [
        np.broadcast_to(x[0], [
            *x[0].shape[: x[0].ndim - c.x.ndim], *(n.evaluate(c.bindings) for n in c["to"])
        ])
    ],
    examples=(
        Example([["n_q", "d_m"]], [["d_t", "n_q", "d_m"]], {"to": ["d_t", "n_q", "d_m"]},
                label="expand"),
        Example([[1, 4]], [[3, 4]], {"to": [3, 4]}),
    ),
)

# -- parts of an axis -----------------------------------------------------------------------------


def _range(c: Call) -> tuple[int, Dim, Dim]:
    """(the place of the axis, first index kept, first index not kept)."""
    axis = c.axis(0, c["axis"])
    size = c.x.dims[axis]
    start: Dim = c["start"]
    stop: Dim = size if c["stop"] is None else c["stop"]
    if c.facts.positive(-start):  # from the end, as in Python
        start = size + start
    if c.facts.positive(-stop):
        stop = size + stop
    where = c.axis_of(0, axis)
    c.require_at_most(stop, size, f"the slice ends beyond {where}")
    c.require_at_most(start, stop, f"the slice of {where} starts behind its end")
    c.require_at_most(ZERO, start, f"the slice starts before {where}")
    return axis, start, stop


def _slice_shape(c: Call) -> tuple[Shape, ...]:
    axis, start, stop = _range(c)
    return (c.x.with_axis(axis, stop - start),)


def _slice_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    axis, start, stop = _range(c)
    cut = slice(start.evaluate(c.bindings), stop.evaluate(c.bindings))
    return [inputs[0][(*[slice(None)] * axis, cut)]]


op(
    name="slice",
    does=("cut",),
    summary="A range of one axis, from `start` to before `stop`; negative ones count from the "
    "end.",
    attrs=(
        Attr("start", "dim", "first index that is kept", 0, least=None),
        Attr("stop", "dim", "first index that is not kept (default: the end)", least=None),
        axis_attr("the axis that is cut"),
    ),
    shape=_slice_shape,
    text="slice",
    value=_slice_value,
    examples=(
        Example([["n_h", "d_t", "d_K + d_R"]], [["n_h", "d_t", "d_R"]], {"start": "d_K"},
                label="slice"),
        Example([[3, 6]], [[3, 3]], {"start": 2, "stop": -1}),
        Example([["d_t", "N + K"]], [["d_t", "K"]], {"start": "-K"}),
        Example([[3, 6]], [[1, 6]], {"stop": 1, "axis": 0}),
    ),
)


def _shift_shape(c: Call) -> tuple[Shape, ...]:
    axis = c.axis(0, c["axis"])
    by = _distance(c)
    c.require_at_most(
        by, c.x.dims[axis], f"cannot shift {c.axis_of(0, axis)} by {by} positions"
    )
    if not c["shorten"]:
        return (c.x,)
    return (c.x.with_axis(axis, c.x.dims[axis] - by),)


def _distance(c: Call) -> Dim:
    """How far, whatever the direction."""
    by: Dim = c["by"]
    return -by if c.facts.positive(-by) else by


def _shift_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, by = np.moveaxis(inputs[0], c["axis"], 0), c["by"].evaluate(c.bindings)
    n = len(x)
    kept = x[: n - by] if by >= 0 else x[-by:]
    if not c["shorten"]:
        blank = np.zeros_like(x[: abs(by)])
        kept = np.concatenate([blank, kept] if by >= 0 else [kept, blank])
    return [np.moveaxis(kept, 0, c["axis"])]


op(
    name="shift",
    summary="Move a sequence to later positions by `by` (earlier, if negative): zeros come in, "
    "or with `shorten` the sequence is that much shorter.",
    attrs=(
        Attr("by", "dim", "how many positions", 1, least=None),
        axis_attr("the axis of positions", 0),
        Attr("shorten", "bool", "leave the positions out that have nothing", False),
    ),
    shape=_shift_shape,
    text=lambda c: f"shift by ${c['by'].tex(c.tex)}$",
    value=_shift_value,
    examples=(
        Example([["d_t"]], [["d_t"]], label="shift by $1$"),
        Example([["d_t", "d_m"]], [["d_t - k", "d_m"]], {"by": "k", "shorten": True},
                label="shift by $k$"),
        Example([[5, 4]], [[3, 4]], {"by": -2, "shorten": True}),
    ),
)

# -- one value for an axis ------------------------------------------------------------------------


def _reduced(c: Call) -> tuple[Shape, ...]:
    axis = c.axis(0, c["axis"])
    if c.x.dims[axis].as_int() == 0:
        raise OpFault(
            f"{c.axis_of(0, axis)} has no elements, so there is nothing to take "
            f"the {c.op.name} of ({c.shown()})"
        )
    return (c.x.with_axis(axis, *([ONE] if c["keep"] else [])),)


KEEP = Attr("keep", "bool", "keep the axis, with size 1", False)

for _name, _words, _label in (
    ("mean", "The mean along one axis.", "mean"),
    ("sum", "The sum along one axis, e.g. over heads.", "sum"),
):
    op(
        name=_name,
        summary=_words,
        attrs=(axis_attr("the axis that goes"), KEEP),
        shape=_reduced,
        work=lambda c: c.x.numel(),
        hands_on=lambda c: () if c["axis"] in (-1, -2) else (0,),  # over the heads, say
        text=_label,
        value=lambda c, x, w: [
            getattr(x[0], c.op.name)(axis=c["axis"], keepdims=c["keep"])
        ],
        examples=(
            Example([["n_h", "d_t", "d_m"]], [["d_t", "d_m"]], {"axis": 0},
                    flops="n_h d_t d_m", label=_label),
            Example([[3, 4]], [[3, 1]], {"keep": True}, flops=12),
        ),
    )


def _pool_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, kind, axis = inputs[0], c["kind"], c["axis"]
    if kind in ("first", "last"):
        return [x.take(0 if kind == "first" else -1, axis=axis)]
    return [x.mean(axis=axis) if kind == "mean" else x.max(axis=axis)]


_POOLED = {"mean": "mean pooling", "max": "max pooling", "first": "first token",
           "last": "last token"}

op(
    name="pool",
    summary="One vector for a sequence: the mean or maximum over positions, or one of them.",
    attrs=(
        Attr("kind", "enum", "how", "mean", choices=("mean", "max", "first", "last")),
        axis_attr("the axis of positions", -2),
    ),
    shape=lambda c: (c.x.with_axis(c.axis(0, c["axis"])),),
    work=lambda c: c.x.numel() if c["kind"] in ("mean", "max") else ZERO,
    text=lambda c: _POOLED[c["kind"]],
    value=_pool_value,
    examples=(
        Example([["d_t", "d_m"]], [["d_m"]], {"kind": "first"}, label="first token"),
        Example([[3, 4]], [[4]], flops=12, label="mean pooling"),
        Example([[2, 3, 4]], [[2, 4]], {"kind": "max"}, flops=24),
    ),
)
