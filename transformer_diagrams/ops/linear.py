"""Learned affine maps: linear, per-head linear, low-rank adapters, tied output."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.registry import Attr, Call, Op, OpFault, Shape, Weight, register
from transformer_diagrams.ops.rules import last_axis, rows

WEIGHT = Attr("weight", "str", "TeX of the weight matrix, for the label", "")
BIAS = Attr("bias", "bool", "add a learned bias", False)
OUT = Attr("out", "dim", "size of the last axis of y", required=True)


def _named(word: str, c: Call) -> str:
    weight = c.attr("weight", "")
    return f"{word} ${weight}$" if weight else word


def _linear_weights(c: Call) -> list[Weight]:
    out: Dim = c["out"]
    found = [Weight("W", Shape((last_axis(c), out)))]
    if c.attr("bias", False):
        found.append(Weight("b", Shape((out,))))
    return found


register(
    Op(
        name="linear",
        summary="Affine map of the last axis: y = x W + b.",
        family="linear",
        role="projection",
        attrs=(OUT, BIAS, WEIGHT),
        shape=lambda c: ((last_axis(c), c.x.with_last(c["out"]))[1],),
        weights=_linear_weights,
        work=lambda c: 2 * rows(c.x) * last_axis(c) * c["out"],
        text=lambda c: _named("Linear", c),
        example={
            "inputs": [[3, 4]],
            "attrs": {"out": 5, "bias": True},
            "outputs": [[3, 5]],
            "params": 25,
            "flops": 120,
        },
    )
)


def _head_linear_shape(c: Call) -> tuple[Shape, ...]:
    heads, out = c["heads"], c["out"]
    x = c.need_axes(0, 2)
    if x.ndim >= 3 and not c.attr("split", False):
        c.require_equal(
            x.dims[-3],
            heads,
            f"axis {x.ndim - 2} of x {x}",
            "heads",
            "a per-head linear reads either [positions, width] or [heads, positions, width]",
        )
        return (x.with_last(out),)
    return (Shape((*x.dims[:-2], heads, x.dims[-2], out), x.lead),)


def _head_linear_weights(c: Call) -> list[Weight]:
    found = [Weight("W", Shape((c["heads"], last_axis(c), c["out"])))]
    if c.attr("bias", False):
        found.append(Weight("b", Shape((c["heads"], c["out"]))))
    return found


register(
    Op(
        name="head_linear",
        summary="One linear map per head: [d, in] or [h, d, in] -> [h, d, out].",
        family="linear",
        role="projection",
        attrs=(
            Attr("heads", "dim", "number of heads", required=True),
            OUT,
            BIAS,
            WEIGHT,
        ),
        shape=_head_linear_shape,
        weights=_head_linear_weights,
        work=lambda c: 2 * c["heads"] * c.x.dims[-2] * last_axis(c) * c["out"],
        text=lambda c: _named("Linear", c),
        example={
            "inputs": [[3, 4]],
            "attrs": {"heads": 2, "out": 5},
            "outputs": [[2, 3, 5]],
            "params": 40,
            "flops": 240,
        },
    )
)


register(
    Op(
        name="lora",
        summary="Low-rank adapter: y = (alpha/r) (x A) B, added to a frozen linear beside it.",
        family="linear",
        role="projection",
        attrs=(
            OUT,
            Attr("rank", "dim", "the inner width r", required=True),
            Attr("a", "str", "TeX of the first factor", "A"),
            Attr("b", "str", "TeX of the second factor", "B"),
        ),
        shape=lambda c: ((last_axis(c), c.x.with_last(c["out"]))[1],),
        weights=lambda c: [
            Weight("A", Shape((last_axis(c), c["rank"]))),
            Weight("B", Shape((c["rank"], c["out"]))),
        ],
        work=lambda c: 2 * rows(c.x) * c["rank"] * (last_axis(c) + c["out"]),
        text=lambda c: f"LoRA ${c.attr('a', 'A')} {c.attr('b', 'B')}$",
        example={
            "inputs": [[3, 4]],
            "attrs": {"out": 6, "rank": 2},
            "outputs": [[3, 6]],
            "params": 20,
            "flops": 120,
        },
    )
)


def _tied_shape(c: Call) -> tuple[Shape, ...]:
    if c.attr("out") is None:
        raise OpFault("'tied_linear' needs `out`", "out: the number of rows of the table, e.g. V")
    return (c.x.with_last(c["out"]),)


register(
    Op(
        name="tied_linear",
        summary="Multiply by the transpose of an embedding table: no weights of its own.",
        family="linear",
        role="projection",
        attrs=(
            OUT,
            Attr("table", "name", "id of the embedding whose table is used", ""),
            Attr("bias", "bool", "add a learned bias of its own", False),
            WEIGHT,
        ),
        shape=_tied_shape,
        weights=lambda c: [Weight("b", Shape((c["out"],)))] if c.attr("bias", False) else [],
        work=lambda c: 2 * rows(c.x) * last_axis(c) * c["out"],
        text=lambda c: _named("Linear", c) if c.attr("weight") else "Linear (tied)",
        example={
            "inputs": [[3, 4]],
            "attrs": {"out": 9},
            "outputs": [[3, 9]],
            "params": 0,
            "flops": 216,
        },
    )
)
