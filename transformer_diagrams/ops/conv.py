"""Convolutions of images and of sequences."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, product
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.grid import along, windows_of
from transformer_diagrams.ops.registry import (
    ONE,
    Attr,
    Call,
    Example,
    Op,
    Shape,
    Weight,
    family,
)

op = family("conv", Op)


def _axes(c: Call) -> int:
    """How many axes the kernel has."""
    return 2 if "kernel_width" in c.op.attr_names else 1


def _kernel(c: Call) -> tuple[Dim, ...]:
    return tuple(along(c, "kernel", place == _axes(c) - 1) for place in range(_axes(c)))


def _conv_shape(c: Call) -> tuple[Shape, ...]:
    axes = _axes(c)
    x = c.need_axes(0, axes + 1)
    _channels(c)
    return (Shape((*x.dims[: -axes - 1], c["out"], *windows_of(c, axes)), x.lead),)


def _channels(c: Call) -> Dim:
    """Input channels of one group."""
    back = _axes(c) + 1
    channels = c.last(back=back)
    if c["groups"] == ONE:
        return channels
    c.require_divides(c["groups"], c["out"], "the output channels", near="groups")
    return c.require_divides(
        c["groups"], channels, c.axis_of(0, c.x.ndim - back), near="groups"
    )


def _conv_weights(c: Call) -> list[Weight]:
    found = [Weight("W", Shape((c["out"], _channels(c), *_kernel(c))))]
    return [*found, Weight("b", Shape((c["out"],)))] if c["bias"] else found


def _conv_macs(c: Call) -> Dim:
    (y,) = _conv_shape(c)
    return y.numel() * _channels(c) * product(_kernel(c))


def _conv_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    axes, spread, groups = _axes(c), c.number("dilation"), c.number("groups")
    kernel = [size.evaluate(c.bindings) for size in _kernel(c)]
    reach = [spread * (size - 1) + 1 for size in kernel]
    every, around = [], []
    for place in range(axes):
        step, pad = (
            along(c, name, place == axes - 1).evaluate(c.bindings) for name in ("stride", "pad")
        )
        every.append(slice(None, None, step))
        causal = "causal" in c.op.attr_names and c["causal"]
        around.append((reach[place] - 1, 0) if causal else (pad, pad))
    x = np.pad(inputs[0], [(0, 0)] * (inputs[0].ndim - axes) + around)
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, axis=tuple(range(-axes, 0)))
    seen = seen[(..., *every, *[slice(None, None, spread)] * axes)]
    places, taps = "hw"[:axes], "ij"[:axes]
    parts = [
        np.einsum(f"...c{places}{taps},oc{taps}->...o{places}", part, weight, optimize=True)
        for part, weight in zip(
            np.split(seen, groups, axis=-2 * axes - 1), np.split(weights["W"], groups),
            strict=True,
        )
    ]
    y = np.concatenate(parts, axis=-axes - 1)
    return [y + weights["b"].reshape([-1, *[1] * axes]) if "b" in weights else y]


OUT = Attr("out", "dim", "output channels", required=True)
STRIDE = Attr("stride", "dim", "step", 1)
PAD = Attr("pad", "dim", "zeros around, on each side", 0, least=0)
MORE = (
    Attr("groups", "dim", "groups of channels that do not mix", 1),
    Attr("dilation", "dim", "distance of the places that the kernel reads", 1),
    Attr("bias", "bool", "add a learned bias", True),
)


def _conv2d_label(c: Call) -> str:
    height, width = (size.tex(c.tex) for size in _kernel(c))
    return rf"Conv ${height} \times {width}$"


op(
    name="conv2d",
    does=("map",),
    summary="Convolution of [.., channels, height, width]; what ends in `_width` stands where "
    "the width has not the value of the height.",
    role="projection",
    attrs=(
        OUT,
        Attr("kernel", "dim", "side of the kernel, or its height", required=True),
        STRIDE,
        PAD,
        *MORE,
        Attr("kernel_width", "dim", "width of a kernel that is no square"),
        Attr("stride_width", "dim", "step across"),
        Attr("pad_width", "dim", "zeros on the left and on the right", least=0),
    ),
    shape=_conv_shape,
    weights=_conv_weights,
    macs=_conv_macs,
    text=_conv2d_label,
    value=_conv_value,
    examples=(
        Example([[3, "h", "w"]], [["d_m", "(h - P) // P + 1", "(w - P) // P + 1"]],
                {"out": "d_m", "kernel": "P", "stride": "P"}, params="3 d_m P^2 + d_m",
                flops="6 d_m P^2 floor(h / P) floor(w / P)", label=r"Conv $P \times P$"),
        Example([[4, 8, 8]], [[6, 4, 4]],
                {"out": 6, "kernel": 3, "pad": 1, "stride": 2, "groups": 2, "bias": False},
                params=108, flops=3456, label=r"Conv $3 \times 3$"),
        Example([[2, 9, 8]], [[3, 5, 8]],
                {"out": 3, "kernel": 3, "kernel_width": 1, "dilation": 2}, params=21, flops=1440,
                label=r"Conv $3 \times 1$"),
    ),
)

op(
    name="conv1d",
    does=("map",),
    summary="Convolution of [.., channels, length]; `causal` puts all zeros in front, so that no "
    "position reads a later one.",
    role="projection",
    attrs=(
        OUT,
        Attr("kernel", "dim", "length of the kernel", required=True),
        STRIDE,
        PAD,
        *MORE,
        Attr("causal", "bool", "zeros in front alone, as many as the kernel reaches back", False),
    ),
    shape=_conv_shape,
    weights=_conv_weights,
    macs=_conv_macs,
    text=lambda c: f"Conv ${c['kernel'].tex(c.tex)}$",
    value=_conv_value,
    examples=(
        Example([["d_m", "d_t"]], [["d_m", "d_t"]],
                {"out": "d_m", "kernel": "k", "groups": "d_m", "causal": True},
                params="k d_m + d_m", flops="2 k d_m d_t", label="Conv $k$"),
        Example([[4, 9]], [[6, 5]], {"out": 6, "kernel": 3, "pad": 1, "stride": 2, "bias": False},
                params=72, flops=720),
    ),
)
