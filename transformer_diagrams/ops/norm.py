"""Normalisation: of vectors (LayerNorm, RMSNorm, L2), of channels (GroupNorm, BatchNorm)."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import (
    Attr,
    Buffer,
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

# -- channels -------------------------------------------------------------------------------------

CHANNELS = axis_attr("the axis of channels", -3)
AFFINE = Attr("affine", "bool", "has a learned gain and bias for each channel", True)


def _channels(c: Call) -> Dim:
    size: Dim = c.x.dims[c.axis(0, c["axis"])]
    return size


def _channel_weights(c: Call) -> list[Weight]:
    size = Shape((_channels(c),))
    return [Weight("gain", size), Weight("bias", size)]


def _each_channel(c: Call, y: Array, weights: Tensors) -> list[Array]:
    """Gain and bias of each channel, where there are any."""
    column = [-1, *[1] * (y.ndim - 1 - c.axis(0, c["axis"]))]
    if "gain" not in weights:
        return [y]
    return [y * weights["gain"].reshape(column) + weights["bias"].reshape(column)]


def _standard(x: Array, axes: tuple[int, ...], eps: float) -> Array:
    """To mean 0 and variance 1 over some axes."""
    x = x - x.mean(axis=axes, keepdims=True)
    return x / np.sqrt((x * x).mean(axis=axes, keepdims=True) + eps)


def _group_norm_shape(c: Call) -> tuple[Shape, ...]:
    place = c.axis(0, c["axis"])
    c.require_divides(c["groups"], c.x.dims[place], c.axis_of(0, place), near="groups")
    return (c.x,)


def _group_norm_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, place = inputs[0], c.axis(0, c["axis"])
    cut = x.reshape(*x.shape[:place], c.number("groups"), -1, *x.shape[place + 1 :])
    y = _standard(cut, tuple(range(place + 1, cut.ndim)), c["eps"])
    return _each_channel(c, y.reshape(x.shape), weights)


op(
    name="group_norm",
    summary="Groups of channels of [.., channels, height, width] to mean 0 and variance 1 each, "
    "over all their places; then a learned gain and bias for each channel (arXiv:1803.08494).",
    role="norm",
    param_role="norm",
    attrs=(Attr("groups", "dim", "groups of channels", 32), CHANNELS, AFFINE, EPS),
    shape=_group_norm_shape,
    weights=lambda c: _channel_weights(c) if c["affine"] else [],
    work=per_element(CENTRE_COST + RMS_COST),
    text="GroupNorm",
    value=_group_norm_value,
    examples=(
        Example([["d_m", "h", "w"]], [["d_m", "h", "w"]], {"groups": 2}, params="2 d_m",
                flops="6 d_m h w", label="GroupNorm"),
        Example([[2, 64, 3, 3]], [[2, 64, 3, 3]], {"affine": False}, params=0, flops=6912),
    ),
)


def _batch_norm_shape(c: Call) -> tuple[Shape, ...]:
    _channels(c)
    return (c.x,)


def _statistics(c: Call) -> list[Buffer]:
    """What a frozen norm goes by: of each channel."""
    if not c["frozen"]:
        return []
    size = Shape((_channels(c),))
    names = ("mean", "variance", *(("gain", "bias") if c["affine"] else ()))
    return [Buffer(name, size, "positive" if name == "variance" else "real") for name in names]


def _batch_norm_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, place = inputs[0], c.axis(0, c["axis"])
    if c["frozen"]:
        column = [-1, *[1] * (x.ndim - 1 - place)]
        mean, variance = (weights[name].reshape(column) for name in ("mean", "variance"))
        return _each_channel(c, (x - mean) / np.sqrt(variance + c["eps"]), weights)
    others = tuple(axis for axis in range(x.ndim) if axis != place)
    return _each_channel(c, _standard(x, others, c["eps"]), weights)


op(
    name="batch_norm",
    summary="Each channel of [.., channels, height, width] to mean 0 and variance 1 over all "
    "places and images, then a learned gain and bias (arXiv:1502.03167). `frozen`: mean, "
    "variance, gain and bias are constants, so it is a scale and a sum, and learns nothing.",
    role="norm",
    param_role="norm",
    attrs=(
        Attr("frozen", "bool", "all four vectors are constants, as in a detector's backbone",
             False),
        CHANNELS,
        AFFINE,
        EPS,
    ),
    shape=_batch_norm_shape,
    weights=lambda c: _channel_weights(c) if c["affine"] and not c["frozen"] else [],
    work=lambda c: (2 if c["frozen"] else CENTRE_COST + RMS_COST) * c.x.numel(),
    text=lambda c: "BatchNorm (frozen)" if c["frozen"] else "BatchNorm",
    value=_batch_norm_value,
    buffers=_statistics,
    examples=(
        Example([["d_m", "h", "w"]], [["d_m", "h", "w"]], params="2 d_m", flops="6 d_m h w",
                label="BatchNorm"),
        Example([[2, 3, 4, 4]], [[2, 3, 4, 4]], {"affine": False}, params=0, flops=576),
    ),
)
