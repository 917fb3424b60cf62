"""Choosing by score or index: top-k, gather, one of an axis, argmax, sampling."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, Verdict, minimum
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import (
    ZERO,
    Attr,
    Buffer,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    family,
)
from transformer_diagrams.ops.rules import unify
from transformer_diagrams.ops.shape import axis_attr

op = family("select", Op)

EARLIER = "earlier\u00b7"  # in the bindings of a run: how often a block has run before


def _top_k_shape(c: Call) -> tuple[Shape, ...]:
    axis = c.axis(0, c["axis"])
    wanted, there = c["k"], c.x.dims[axis]
    known = c.facts.le(wanted, there) is Verdict.YES
    kept = c.x.with_axis(axis, wanted if known else minimum(wanted, there))
    return (kept, kept)


def _top_k_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, axis = inputs[0], c["axis"]
    order = np.argsort(-x, axis=axis, kind="stable")
    index = np.take(order, range(min(c.number("k"), x.shape[axis])), axis=axis)
    return [np.take_along_axis(x, index, axis=axis), index]


op(
    name="top_k",
    does=("choice",),
    summary="The k largest along an axis, or all where there are fewer: their values, and "
    "their indices. Work is one comparison an element.",
    role="topk",
    outputs=("values", "index"),
    whole=("index",),
    attrs=(Attr("k", "dim", "how many", required=True), axis_attr("the axis")),
    shape=_top_k_shape,
    work=lambda c: c.x.numel(),
    text=lambda c: f"top-${c['k'].tex(c.tex)}$",
    value=_top_k_value,
    examples=(
        Example([["d_t", "d_s"]], [["d_t", "min(k, d_s)"], ["d_t", "min(k, d_s)"]],
                {"k": "k"}, flops="d_t d_s", label="top-$k$"),
        Example([[3, 4]], [[3, 2], [3, 2]], {"k": 2}, flops=12),
        Example([[3, 4]], [[3, 4], [3, 4]], {"k": 9}, flops=12),
    ),
)


def _gather_shape(c: Call) -> tuple[Shape, ...]:
    axis, index = c.axis(0, c["axis"]), c.inputs[1]
    if c["rowwise"]:
        bound = unify(c, "...T n", "...T k", why="each row of x has its row of indices")
        return (bound.shape("...T k"),)
    if index.lead is not None:
        raise OpFault(
            f"the axes of {c.name(1)} go into the result, so all must be stated ({c.shown()})"
        )
    return (c.x.with_axis(axis, *index.dims),)


def _gather_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, index = inputs
    if c["rowwise"]:
        return [np.take_along_axis(x, index, axis=-1)]
    return [x.take(index, axis=c["axis"])]


op(
    name="gather",
    does=("pick",),
    summary="Pick entries along an axis by index: x [s, ..], index [t, k] -> [t, k, ..]; or, "
    "`rowwise`, from each row of x its own: x [t, n], index [t, k] -> [t, k].",
    inputs=("x", "index"),
    whole=("index",),
    attrs=(
        axis_attr("the axis that is picked from; the axes of index replace it", 0),
        Attr("rowwise", "bool", "each row along the last axis is picked from by its own "
             "indices", False),
    ),
    shape=_gather_shape,
    text="gather",
    value=_gather_value,
    below=lambda c: c.x.dims[-1 if c["rowwise"] else c["axis"]],
    examples=(
        Example([["n_h", "d_s", "d_K"], ["d_t", "k"]], [["n_h", "d_t", "k", "d_K"]],
                {"axis": -2}, label="gather"),
        Example([[5, 4], [3, 2]], [[3, 2, 4]]),
        Example([["d_t", "N"], ["d_t", "K"]], [["d_t", "K"]], {"rowwise": True}),
        Example([[3, 8], [3, 2]], [[3, 2]], {"rowwise": True}),
    ),
)


def _select_shape(c: Call) -> tuple[Shape, ...]:
    axis = c.axis(0, c["axis"])
    chosen = c.x.with_axis(axis)
    if len(c.inputs) > 1:
        whole, index = Shape(c.x.dims[:axis], c.x.lead), c.inputs[1]
        if index.ndim != whole.ndim or index.lead != whole.lead:
            raise OpFault(
                f"{c.name(1)} must be {whole}, one for each row of {c.name(0)} before the axis "
                f"that goes ({c.shown()})"
            )
        for place, (a, b) in enumerate(zip(whole.dims, index.dims, strict=True)):
            c.require_equal(a, b, c.axis_of(0, place), c.axis_of(1, place), "one for each row")
        return (chosen,)
    size, at = c.x.dims[axis], c["index"]
    if c.facts.positive(-at):  # from the end, as in Python
        at = size + at
    where = f"index {c['index']} lies outside of {c.axis_of(0, axis)}"
    c.require_at_most(at + 1, size, where)
    c.require_at_most(ZERO, at, where)
    return (chosen,)


def _select_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, axis = inputs[0], c["axis"]
    if len(inputs) == 1:
        return [x.take(c["index"].evaluate(c.bindings), axis=axis)]
    x = np.moveaxis(x, axis, inputs[1].ndim)
    index = inputs[1].reshape(*inputs[1].shape, *[1] * (x.ndim - inputs[1].ndim))
    return [np.take_along_axis(x, index, axis=inputs[1].ndim).squeeze(inputs[1].ndim)]


op(
    name="select",
    does=("pick",),
    summary="One entry of an axis, which goes: that of `index`, such as 0 for [CLS], or for each "
    "row the one that a second input names, such as the end of its text: x [b, s, d], index [b] "
    "-> [b, d].",
    inputs=("x", "index"),
    optional=1,
    whole=("index",),
    attrs=(
        Attr("index", "dim", "which one, counted from 0, or from the end if negative", 0,
             least=None),
        axis_attr("the axis that goes", -2),
    ),
    shape=_select_shape,
    text=lambda c: "select by index" if len(c.inputs) > 1
    else f"select ${c['index'].tex(c.tex)}$",
    value=_select_value,
    below=lambda c: c.x.dims[c["axis"]],
    examples=(
        Example([["d_t", "d_m"]], [["d_m"]], label="select $0$"),
        Example([["n_h", "d_t", "d_m"], ["n_h"]], [["n_h", "d_m"]], label="select by index"),
        Example([[2, 3, 4]], [[2, 3]], {"index": -1, "axis": -1}),
    ),
)



op(
    name="layer_entry",
    does=("pick",),
    summary="The entry of an axis that belongs to this layer, where each layer has its own: the "
    "first to run takes the first; x [.., L, d] -> [.., d].",
    attrs=(axis_attr("the axis of layers, which goes", -2),),
    shape=lambda c: (c.x.with_axis(c.axis(0, c["axis"])),),
    text="entry of the layer",
    value=lambda c, x, w: [x[0].take(c.bindings.get(EARLIER, 0), axis=c["axis"])],
    examples=(
        Example([["d_t", "N", "d_m"]], [["d_t", "d_m"]], label="entry of the layer"),
        Example([[3, 2, 4]], [[2, 4]], {"axis": 0}),
    ),
)


def _scatter_shape(c: Call) -> tuple[Shape, ...]:
    bound = unify(c, "...B k", "...B k", why="each value has its place")
    c.require_at_most(bound["k"], c["size"], "there are more values than places")
    return (Shape((*c.x.dims[:-1], c["size"]), c.x.lead),)


def _scatter_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, index = inputs
    y = np.full((*x.shape[:-1], c.number("size")), c.number("fill"), dtype=x.dtype)
    np.put_along_axis(y, index, x, axis=-1)
    return [y]


op(
    name="scatter",
    summary="A row of `size` places, all `fill`, but for the values x, which go where `index` "
    "says: x [k], index [k] -> [size].",
    inputs=("x", "index"),
    whole=("index",),
    attrs=(
        Attr("size", "dim", "how many places", required=True),
        Attr("fill", "dim", "the value of all other places", 0, least=0),
    ),
    shape=_scatter_shape,
    text="scatter",
    value=_scatter_value,
    below=lambda c: c["size"],
    examples=(
        Example([["k"], ["k"]], [["n_q"]], {"size": "n_q", "fill": "V"}, label="scatter"),
        Example([[2, 3], [2, 3]], [[2, 5]], {"size": 5}),
    ),
)

def _draw(c: Call) -> list[Buffer]:
    """A draw is no function of the input alone: a number from 0, below 1, decides each."""
    return [Buffer("draw", Shape(c.x.dims[:-1], c.x.lead), "share")]


def _drawn_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    sums = inputs[0].cumsum(axis=-1)
    past = weights["draw"][..., None] * sums[..., -1:] >= sums
    return [np.minimum(past.sum(axis=-1), inputs[0].shape[-1] - 1)]


for _name, _words in (
    ("argmax", "Index of the largest entry along the last axis."),
    ("sample", "An index drawn from the distribution along the last axis."),
):
    op(
        name=_name,
        summary=_words,
        whole=("y",),
        shape=lambda c: (Shape(c.need_axes(0, 1).dims[:-1], c.x.lead),),
        work=lambda c: c.x.numel(),
        text=_name,
        value=_drawn_value if _name == "sample" else lambda c, x, w: [x[0].argmax(axis=-1)],
        buffers=_draw if _name == "sample" else None,
        examples=(
            Example([["d_t", "V"]], [["d_t"]], flops="d_t V", label=_name),
            Example([[3, 4]], [[3]], flops=12),
        ),
    )



def _id_rows(c: Call) -> Dim:
    if c["size"] is None:
        raise OpFault("how many entries the table has is not known", "size: the first vocabulary")
    return c.size("size")


op(
    name="id_map",
    summary="Integers to integers by a fixed table, such as draft to target vocabulary.",
    role="data",
    whole=("x", "y"),
    attrs=(Attr("size", "dim", "entries of the table, which is no parameter"),),
    text="id map",
    value=lambda c, x, w: [w["table"][x[0]]],
    buffers=lambda c: [Buffer("table", Shape((_id_rows(c),)), "whole", _id_rows(c))],
    below=_id_rows,
    examples=(
        Example([["d_t"]], [["d_t"]], {"size": "V_d"}, label="id map"),
        Example([[3]], [[3]], {"size": 9}),
    ),
)
