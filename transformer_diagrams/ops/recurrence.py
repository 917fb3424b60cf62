"""Recurrences: a state that each position changes."""

from __future__ import annotations

from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import Attr, Call, Example, Op, OpFault, Shape, family
from transformer_diagrams.ops.rules import aligned

op = family("recurrence", Op)


def _scan_shape(c: Call) -> tuple[Shape, ...]:
    c.axis(0, c["axis"])
    if len(c.inputs) > 1:
        _, stretched = aligned(
            c, c.inputs, [c.name(0), c.name(1)], why="each element of the state has its decay"
        )
        if c.name(0) in stretched:
            raise OpFault(
                f"{c.name(1)} is stretched to {c.name(0)}, never the other way ({c.shown()})",
                f"give {c.name(0)} every axis of the state",
            )
    return (c.x,)


def _scan_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x = inputs[0]
    decay = np.broadcast_to(inputs[1], x.shape) if len(inputs) > 1 else np.ones_like(x)
    x, decay = (np.moveaxis(each, c["axis"], 0) for each in (x, decay))
    state, states = weights.get("state", np.zeros_like(x[0])), []
    for new, kept in zip(x, decay, strict=True):
        state = kept * state + new
        states.append(state)
    return [np.moveaxis(np.array(states), 0, c["axis"])]


op(
    name="scan",
    summary="Linear recurrence along the positions: the state becomes decay times state plus x, "
    "element by element, from 0; the state after each position comes out. Without a decay it is "
    "a running sum. State spaces (arXiv:2312.00752), linear attention (arXiv:2006.16236) and "
    "gated linear units (arXiv:2402.19427) make x, decay and what is read of the state in their "
    "own ways. Inference keeps one state of a fixed size, from which it goes on.",
    does=("state",),
    inputs=("x", "decay"),
    ordered=True,
    optional=1,
    outputs=("state",),
    attrs=(Attr("axis", "int", "the axis of positions; -1 is the last", -2),),
    shape=_scan_shape,
    work=lambda c: len(c.inputs) * c.x.numel(),
    text="scan",
    value=_scan_value,
    examples=(
        Example([["d_t", "d_m", "N"]] * 2, [["d_t", "d_m", "N"]], {"axis": 0},
                flops="2 d_t d_m N", label="scan"),
        Example([["d_t", "d_K", "d_V"]], [["d_t", "d_K", "d_V"]], {"axis": 0},
                flops="d_t d_K d_V"),
        Example([[5, 4], [4]], [[5, 4]], flops=40),
    ),
)
