"""A box that the toolkit does not look into."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.registry import ZERO, Attr, Call, Op, Shape, Weight, register


def _box_weights(c: Call) -> list[Weight]:
    count: Dim = c.attr("params", ZERO)
    return [Weight("weights", Shape((count,)))] if count != ZERO else []


register(
    Op(
        name="box",
        summary="Any block by its name alone: gives what its first input is, or `out`.",
        family="opaque",
        variadic=True,
        attrs=(
            Attr("out", "dims", "sizes of its output (default: as its first input)"),
            Attr("params", "dim", "how many learned weights it has", "0"),
            Attr("flops", "dim", "FLOPs of one forward pass", "0"),
        ),
        shape=lambda c: (Shape(tuple(c["out"])) if c.attr("out") is not None else c.x,),
        weights=_box_weights,
        work=lambda c: c.attr("flops", ZERO),
        text="block",
        example={
            "inputs": [[3, 4]],
            "attrs": {"params": 7},
            "outputs": [[3, 4]],
            "params": 7,
            "flops": 0,
        },
    )
)
