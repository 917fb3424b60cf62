"""The key/value cache: what inference keeps of every token."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.registry import ZERO, Attr, Call, Op, Shape, register


def per_token(c: Call) -> Dim:
    """Elements kept for one position, over all inputs."""
    total = ZERO
    for index, shape in enumerate(c.inputs):
        axis = c.axis(index, c.attr("axis", -2))
        total = total + shape.numel() / shape.dims[axis]
    return total


def _cache_shape(c: Call) -> tuple[Shape, ...]:
    length = c.attr("length")
    out: list[Shape] = []
    for index, shape in enumerate(c.inputs):
        axis = c.axis(index, c.attr("axis", -2))
        dims = list(shape.dims)
        if length is not None:
            dims[axis] = length
        out.append(Shape(tuple(dims), shape.lead))
    return tuple(out)


register(
    Op(
        name="cache",
        summary="Keeps its inputs of all positions so far and gives them back, `length` positions "
        "long.",
        family="cache",
        role="cache",
        variadic=True,
        attrs=(
            Attr("length", "dim", "positions kept, e.g. d_s (default: as they come)"),
            Attr("axis", "int", "the axis of positions", -2),
        ),
        shape=_cache_shape,
        text=lambda c: (
            f"{'KV cache' if len(c.inputs) > 1 else 'cache'}  ${per_token(c).tex()}$ per token"
        ),
        example={
            "inputs": [[2, 1, 4], [2, 1, 4]],
            "attrs": {"length": 5},
            "outputs": [[2, 5, 4], [2, 5, 4]],
            "params": 0,
            "flops": 0,
        },
    )
)
