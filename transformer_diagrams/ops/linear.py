"""Learned affine maps of the last axis: linear, one per head, low-rank, tied, weight-normalised, a
bias or a factor alone."""

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
    Shape,
    Weight,
    family,
)
from transformer_diagrams.ops.rules import (
    affine,
    last_axis_kept,
    per_element,
    rows,
    symbol_tex,
    with_symbol,
)

op = family("linear", Op)

OUT = Attr("out", "dim", "size of the last axis of y", required=True)
BIAS = Attr("bias", "bool", "add a learned bias", False)
WEIGHT = Attr("weight", "str", "name of the weight matrix, for the label, e.g. W_Q", "",
              shown="tex")


def _mapped(c: Call) -> tuple[Shape, ...]:
    c.last()
    return (c.x.with_last(c["out"]),)


def _matrix_macs(c: Call) -> Dim:
    return rows(c.x) * c.last() * c.size("out")


def _plus(y: Array, weights: Tensors) -> list[Array]:
    return [y + weights["b"] if "b" in weights else y]


op(
    name="linear",
    does=("map",),
    summary="Affine map of the last axis: y = x W + b.",
    role="projection",
    attrs=(OUT, BIAS, WEIGHT),
    shape=_mapped,
    weights=lambda c: affine(c, c.last(), c["out"], bias=c["bias"]),
    macs=_matrix_macs,
    text=lambda c: with_symbol("Linear", c["weight"]),
    value=lambda c, x, w: _plus(x[0] @ w["W"], w),
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "d_h"]], {"out": "d_h", "weight": "W_1"},
                params="d_m d_h", flops="2 d_t d_m d_h", label="Linear $W_1$"),
        Example([[3, 4]], [[3, 5]], {"out": 5, "bias": True}, params=25, flops=120,
                label="Linear"),
    ),
)


# -- one map for each head ------------------------------------------------------------------------


def _has_heads(c: Call) -> bool:
    """Whether x comes with an axis of heads, [.., h, d, in], and not as [.., d, in]."""
    return c.x.ndim >= 3


def _head_linear_shape(c: Call) -> tuple[Shape, ...]:
    c.need_axes(0, 2)
    heads, out = c["heads"], c["out"]
    if not _has_heads(c):
        return (Shape((heads, c.x.dims[-2], out), c.x.lead),)
    place = c.x.ndim - 3
    c.require_equal(
        c.x.dims[place], heads, c.axis_of(0, place), "heads",
        "x is [positions, in] or [heads, positions, in]",
    )
    return (c.x.with_last(out),)


def _head_linear_weights(c: Call) -> list[Weight]:
    return affine(c, c["heads"], c.last(), c["out"], bias=c["bias"])


def _head_linear_macs(c: Call) -> Dim:
    (y,) = _head_linear_shape(c)
    return y.numel() * c.last()


def _head_linear_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x = inputs[0] if _has_heads(c) else inputs[0][None]
    y = x @ weights["W"]
    return [y + weights["b"][:, None, :] if "b" in weights else y]


op(
    name="head_linear",
    does=("map", "per-head"),
    summary="One affine map for each head: [d, in] or [h, d, in] -> [h, d, out].",
    role="projection",
    attrs=(Attr("heads", "dim", "number of heads", required=True), OUT, BIAS, WEIGHT),
    shape=_head_linear_shape,
    weights=_head_linear_weights,
    macs=_head_linear_macs,
    text=lambda c: with_symbol("Linear", c["weight"]),
    value=_head_linear_value,
    examples=(
        Example([["d_t", "d_m"]], [["n_h", "d_t", "d_K"]],
                {"heads": "n_h", "out": "d_K", "weight": "W_Q", "bias": True},
                params="n_h d_m d_K + n_h d_K", flops="2 n_h d_t d_m d_K",
                label="Linear $W_Q$"),
        Example([[2, 3, 4]], [[2, 3, 5]], {"heads": 2, "out": 5}, params=40, flops=240),
        Example([[3, 4]], [[2, 3, 5]], {"heads": 2, "out": 5}, params=40, flops=240),
    ),
)


# -- variations -----------------------------------------------------------------------------------


def _lora_label(c: Call) -> str:
    a, b = symbol_tex(c["a"]), symbol_tex(c["b"])
    return f"LoRA ${a} {b}$"


def _lora_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    y = inputs[0] @ weights["A"] @ weights["B"]
    return [y if c["alpha"] is None else y * (c["alpha"] / c.number("rank"))]


op(
    name="lora",
    does=("map", "low-rank"),
    summary="Low-rank adapter beside a frozen linear: y = (alpha/r) (x A) B, B starts at 0 "
    "(arXiv:2106.09685).",
    role="projection",
    attrs=(
        OUT,
        Attr("rank", "dim", "the inner width r", required=True),
        Attr("alpha", "float", "scales the product by alpha/r (default: not at all)"),
        Attr("a", "str", "name of the first factor, for the label", "A", shown="tex"),
        Attr("b", "str", "name of the second factor, for the label", "B", shown="tex"),
    ),
    shape=_mapped,
    weights=lambda c: [
        Weight("A", Shape((c.last(), c["rank"]))),
        Weight("B", Shape((c["rank"], c["out"]))),
    ],
    macs=lambda c: rows(c.x) * c["rank"] * (c.last() + c["out"]),
    work=lambda c: ZERO if c["alpha"] is None else rows(c.x) * c["out"],
    text=_lora_label,
    value=_lora_value,
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "n_h d_K"]],
                {"out": "n_h d_K", "rank": "r", "a": "A_Q", "b": "B_Q"},
                params="r (d_m + n_h d_K)", flops="2 d_t r (d_m + n_h d_K)",
                label="LoRA $A_Q B_Q$"),
        Example([[3, 4]], [[3, 6]], {"out": 6, "rank": 2}, params=20, flops=120),
        Example([[3, 4]], [[3, 6]], {"out": 6, "rank": 2, "alpha": 4}, params=20, flops=138),
    ),
)


op(
    name="tied_linear",
    does=("map", "tied"),
    summary="Multiply by the transpose of an embedding table, x E^T: no matrix of its own.",
    role="projection",
    attrs=(
        OUT,
        Attr("table", "name", "id of the embedding whose table is used", ""),
        Attr("bias", "bool", "add a learned bias of its own", False),
        WEIGHT,
    ),
    shape=_mapped,
    weights=lambda c: [Weight("b", Shape((c["out"],)))] if c["bias"] else [],
    macs=_matrix_macs,
    text=lambda c: with_symbol("Linear", c["weight"]) if c["weight"] else "Linear (tied)",
    value=lambda c, x, w: _plus(x[0] @ w["table"].T, w),
    buffers=lambda c: [Buffer("table", Shape((c["out"], c.last())))],
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "V"]], {"out": "V", "table": "embed"},
                params=0, flops="2 d_t d_m V", label="Linear (tied)"),
        Example([[3, 4]], [[3, 9]], {"out": 9, "bias": True}, params=9, flops=216),
    ),
)


def _weight_norm_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    columns = weights["V"] / np.linalg.norm(weights["V"], axis=0)
    return [inputs[0] @ columns * weights.get("g", 1)]


op(
    name="weight_norm_linear",
    does=("map",),
    summary="Linear map whose columns are of length g: y = x (g V / |V|), without bias "
    "(arXiv:1602.07868). The division is done once for all rows, so it is no work.",
    role="projection",
    attrs=(OUT, Attr("gain", "bool", "has the lengths g; without, all are 1", True), WEIGHT),
    shape=_mapped,
    weights=lambda c: [
        Weight("V", Shape((c.last(), c["out"]))),
        *([Weight("g", Shape((c["out"],)))] if c["gain"] else []),
    ],
    macs=_matrix_macs,
    text=lambda c: with_symbol("Linear (weight norm)", c["weight"]),
    value=_weight_norm_value,
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "d_h"]], {"out": "d_h"}, params="d_m d_h + d_h",
                flops="2 d_t d_m d_h", label="Linear (weight norm)"),
        Example([[3, 4]], [[3, 5]], {"out": 5, "gain": False}, params=20, flops=120),
    ),
)


op(
    name="layer_scale",
    does=("rescale",),
    summary="Each feature of a branch times a learned factor, which begins near 0: y = gamma x "
    "(arXiv:2103.17239).",
    role="parameter",
    attrs=(WEIGHT,),
    shape=last_axis_kept,
    weights=lambda c: [Weight("gamma", Shape((c.last(),)))],
    work=per_element(1),
    text=lambda c: with_symbol("LayerScale", c["weight"]),
    value=lambda c, x, w: [x[0] * w["gamma"]],
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "d_m"]], params="d_m", flops="d_t d_m",
                label="LayerScale"),
        Example([[3, 4]], [[3, 4]], {"weight": r"\gamma"}, params=4, flops=12,
                label=r"LayerScale $\gamma$"),
    ),
)


op(
    name="bias",
    does=("bias",),
    summary="Add a learned vector to every position: y = x + b. No work: the sum before it "
    "begins with b.",
    role="parameter",
    attrs=(WEIGHT,),
    shape=last_axis_kept,
    weights=lambda c: [Weight("b", Shape((c.last(),)))],
    text=lambda c: with_symbol("add", c["weight"] or "b"),
    value=lambda c, x, w: [x[0] + w["b"]],
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "d_m"]], {"weight": "b_O"}, params="d_m",
                label="add $b_O$"),
        Example([[3, 4]], [[3, 4]], params=4),
    ),
)
