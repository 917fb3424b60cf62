"""The cache: what inference keeps, of every token or as a state of a fixed size."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
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
from transformer_diagrams.ops.rules import need_inputs, total
from transformer_diagrams.ops.shape import axis_attr

op = family("cache", Op)

STATE = "state"
_KINDS = ("tokens", STATE)


def elements(c: Call, index: int) -> Dim:
    """Elements of one position of input ``index``: all axes but that of positions."""
    return c.inputs[index].with_axis(c.axis(index, c["axis"])).numel()


def _cache_shape(c: Call) -> tuple[Shape, ...]:
    need_inputs(c)
    if c["kind"] == STATE:
        if c["length"] is not None:
            raise OpFault("a state has a fixed size, and no length", "leave out `length`")
        return c.inputs
    axes = [c.axis(index, c["axis"]) for index in range(len(c.inputs))]
    for index, axis in enumerate(axes[1:], start=1):
        c.require_equal(
            c.x.dims[axes[0]], c.inputs[index].dims[axis],
            c.axis_of(0, axes[0]), c.axis_of(index, axis),
            "what is cached together has the same positions",
        )
    if c["length"] is None:
        return c.inputs
    new = c.x.dims[axes[0]]
    c.require_at_most(
        new, c["length"], f"{c.axis_of(0, axes[0])} has more positions than the cache keeps"
    )
    return tuple(
        shape.with_axis(axis, c["length"]) for shape, axis in zip(c.inputs, axes, strict=True)
    )


def _names(c: Call) -> tuple[str, ...]:
    """What its inputs are called where they are kept."""
    return tuple(c.op.port_name(index) for index in range(len(c.inputs)))


def _past(c: Call) -> list[Buffer]:
    """What it has kept of the positions before: as many as make up its length."""
    if c["length"] is None:
        return []
    found = []
    for index, name in enumerate(_names(c)):
        axis = c.axis(index, c["axis"])
        before = c["length"] - c.inputs[index].dims[axis]
        if before != ZERO:
            found.append(Buffer(name, c.inputs[index].with_axis(axis, before)))
    return found


def _cache_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    return [
        np.concatenate([weights[name], x], axis=c["axis"]) if name in weights else x
        for name, x in zip(_names(c), inputs, strict=True)
    ]


def _cache_label(c: Call) -> str:
    if c["kind"] == STATE:
        size = total([shape.numel() for shape in c.inputs])
        return f"{c['name'] or STATE} ${size.tex(c.tex)}$"
    name = c["name"] or ("KV cache" if len(c.inputs) > 1 else "cache")
    each = [elements(c, index) for index in range(len(c.inputs))]
    # Different terms stand in the order of the inputs; equal ones are added up.
    apart = len(set(each)) == len(each) and not any(size.is_const for size in each)
    tex = " + ".join(size.tex(c.tex) for size in (each if apart else [total(each)]))
    return f"{name} ${tex}$ per token"


op(
    name="cache",
    summary="Keeps its inputs of all positions so far, and gives them back `length` positions "
    "long; what one position leaves behind is the size of the cache. With `kind: state` it "
    "keeps a state of a fixed size, such as that of a recurrence or a convolution.",
    does=("cache",),
    role="cache",
    inputs=("k", "v"),
    variadic=True,
    optional=1,
    outputs=("k", "v"),
    attrs=(
        Attr("length", "dim", "positions kept, e.g. d_s (default: as many as come)"),
        axis_attr("the axis of positions", -2),
        Attr("kind", "enum", "what is kept: something of every token, or a state of a fixed "
             "size, whatever the length", "tokens", choices=_KINDS),
        Attr("name", "str", "words before the count, in the label", "", shown="text"),
    ),
    shape=_cache_shape,
    text=_cache_label,
    value=_cache_value,
    buffers=_past,
    examples=(
        Example([["n_g", "d_t", "d_K"], ["n_g", "d_t", "d_K"]],
                [["n_g", "d_s", "d_K"], ["n_g", "d_s", "d_K"]], {"length": "d_s"},
                label=r"KV cache $2\, n_g\, d_K$ per token"),
        Example([["d_t", "d_c"], ["d_t", "d_R"]], [["d_s", "d_c"], ["d_s", "d_R"]],
                {"length": "d_s", "name": "latent cache"},
                label="latent cache $d_c + d_R$ per token"),
        Example([[2, 1, 4]], [[2, 5, 4]], {"length": 5}, label="cache $8$ per token"),
        Example([["n_h", "d_K", "d_V"]], [["n_h", "d_K", "d_V"]], {"kind": "state"},
                label=r"state $n_h\, d_K\, d_V$"),
    ),
)
