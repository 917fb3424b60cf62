"""A box that nobody looks into."""

from __future__ import annotations

from transformer_diagrams.ops.registry import (
    ZERO,
    Attr,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    Weight,
    family,
)

op = family("opaque", Op)


def _box_shape(c: Call) -> tuple[Shape, ...]:
    if c["out"] is not None:
        return (Shape(c["out"]),)
    if not c.inputs:
        raise OpFault("a box without an input must say what it gives", "out: [d_t, d_m]")
    return (c.x,)


def _box_weights(c: Call) -> list[Weight]:
    return [] if c["params"] == ZERO else [Weight("weights", Shape((c["params"],)))]


op(
    name="box",
    summary="Any block by its name alone: gives what its first input is, or `out`.",
    variadic=True,
    optional=1,
    attrs=(
        Attr("out", "dims", "sizes of its output (default: as its first input)"),
        Attr("params", "dim", "how many learned numbers it has", 0, least=0),
        Attr("flops", "dim", "FLOPs of one forward pass", 0, least=0),
    ),
    shape=_box_shape,
    weights=_box_weights,
    work=lambda c: c["flops"],
    text="block",
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "d_m"]], {"params": "12 d_m^2"}, params="12 d_m^2",
                label="block"),
        Example([[3, 4], [7]], [[5]], {"out": [5], "params": 7, "flops": 9}, params=7,
                flops=9),
    ),
)
