"""Normalisation of vectors: LayerNorm, RMSNorm, L2."""

from __future__ import annotations

from transformer_diagrams.ops.arrays import Array, Tensors, np
from transformer_diagrams.ops.registry import (
    Attr,
    Call,
    Example,
    Op,
    Shape,
    Weight,
    family,
)
from transformer_diagrams.ops.rules import axis_kept, last_axis_kept, per_element
from transformer_diagrams.ops.shape import axis_attr

op = family("norm", Op)

EPS = Attr("eps", "float", "added under the root", 1e-5)


def _layernorm_weights(c: Call) -> list[Weight]:
    if not c["affine"]:
        return []
    size = Shape((c.last(),))
    return [Weight("gain", size), *([Weight("bias", size)] if c["bias"] else [])]


RMS_COST = 4  # FLOPs an element: square, sum, divide, gain (or its constant part alone)
CENTRE_COST = 2  # the mean, and the difference from it


def _scaled(c: Call, x: Array, weights: Tensors) -> list[Array]:
    """To a root mean square of 1, then gain and bias where there are any."""
    y = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + c["eps"])
    return [y * weights.get("gain", 1) + weights.get("bias", 0)]


op(
    name="layernorm",
    summary="Centre and scale the last axis to mean 0 and variance 1, then a learned gain and "
    "bias (arXiv:1607.06450).",
    role="norm",
    param_role="norm",
    attrs=(
        Attr("affine", "bool", "has a learned gain", True),
        Attr("bias", "bool", "has a learned bias beside the gain", True),
        EPS,
    ),
    shape=last_axis_kept,
    weights=_layernorm_weights,
    work=per_element(CENTRE_COST + RMS_COST),
    text="LayerNorm",
    value=lambda c, x, w: _scaled(c, x[0] - x[0].mean(axis=-1, keepdims=True), w),
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "d_m"]], params="2 d_m", flops="6 d_t d_m",
                label="LayerNorm"),
        Example([[3, 4]], [[3, 4]], {"bias": False}, params=4, flops=72),
        Example([[3, 4]], [[3, 4]], {"affine": False}, params=0, flops=72),
    ),
)


op(
    name="rmsnorm",
    summary="Scale the last axis to a root mean square of 1, then a learned gain "
    "(arXiv:1910.07467).",
    role="norm",
    param_role="norm",
    attrs=(Attr("gain", "bool", "has a learned gain", True), EPS),
    shape=last_axis_kept,
    weights=lambda c: [Weight("gain", Shape((c.last(),)))] if c["gain"] else [],
    work=per_element(RMS_COST),
    text="RMSNorm",
    value=lambda c, x, w: _scaled(c, x[0], w),
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "d_m"]], params="d_m", flops="4 d_t d_m",
                label="RMSNorm"),
        Example([[2, 3, 4]], [[2, 3, 4]], {"gain": False}, params=0, flops=96),
    ),
)


op(
    name="l2norm",
    summary="Divide each vector along an axis by its length.",
    role="norm",
    attrs=(axis_attr("the axis of the vectors"),),
    shape=axis_kept,
    work=per_element(3),
    text="L2 norm",
    value=lambda c, x, w: [x[0] / np.linalg.norm(x[0], axis=c["axis"], keepdims=True)],
    examples=(
        Example([["n_h", "d_t", "d_K"]], [["n_h", "d_t", "d_K"]], flops="3 n_h d_t d_K",
                label="L2 norm"),
        Example([[3, 4]], [[3, 4]], {"axis": 0}, flops=36),
    ),
)
