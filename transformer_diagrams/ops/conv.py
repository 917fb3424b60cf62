"""Convolution of images."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import (
    ONE,
    Attr,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    Weight,
    family,
)

op = family("conv", Op)


def _side(c: Call, place: int) -> Dim:
    """floor((n + 2 pad - kernel) / stride) + 1, which must be at least 1."""
    size = c.x.dims[place]
    room = size + 2 * c.size("pad") - c.size("kernel")
    number = room.as_int()
    if number is not None and number < 0:
        raise OpFault(
            f"the kernel ({c['kernel']}) does not fit into {c.axis_of(0, place)} = {size} with "
            f"{c['pad']} of padding on both sides ({c.shown()})",
            "use a smaller kernel or more `pad`",
        )
    return room // c.size("stride") + 1


def _conv_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 3)
    _channels(c)
    sides = (_side(c, x.ndim - 2), _side(c, x.ndim - 1))
    return (Shape((*x.dims[:-3], c["out"], *sides), x.lead),)


def _channels(c: Call) -> Dim:
    """Input channels of one group."""
    if c["groups"] == ONE:
        return c.need_axes(0, 3).dims[-3]
    c.require_divides(c["groups"], c["out"], "the output channels", near="groups")
    return c.require_divides(
        c["groups"], c.last(back=3), c.axis_of(0, c.x.ndim - 3), near="groups"
    )


def _conv_weights(c: Call) -> list[Weight]:
    found = [Weight("W", Shape((c["out"], _channels(c), c["kernel"], c["kernel"])))]
    return [*found, Weight("b", Shape((c["out"],)))] if c["bias"] else found


def _conv_macs(c: Call) -> Dim:
    (y,) = _conv_shape(c)
    return y.numel() * _channels(c) * c.size("kernel") ** 2


def _conv_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    pad, step, kernel = c.number("pad"), c.number("stride"), c.number("kernel")
    groups = c.number("groups")
    x = np.pad(inputs[0], [(0, 0)] * (inputs[0].ndim - 2) + [(pad, pad)] * 2)
    seen = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(-2, -1))
    seen = seen[..., ::step, ::step, :, :]
    parts = [
        np.einsum("...chwij,ocij->...ohw", part, weight)
        for part, weight in zip(
            np.split(seen, groups, axis=-5), np.split(weights["W"], groups), strict=True
        )
    ]
    y = np.concatenate(parts, axis=-3)
    return [y + weights["b"][:, None, None] if "b" in weights else y]


op(
    name="conv2d",
    summary="Convolution of [.., channels, height, width] with square kernels.",
    role="projection",
    attrs=(
        Attr("out", "dim", "output channels", required=True),
        Attr("kernel", "dim", "side of the kernel", required=True),
        Attr("stride", "dim", "step", 1),
        Attr("pad", "dim", "zeros around, on each side", 0, least=0),
        Attr("groups", "dim", "groups of channels that do not mix", 1),
        Attr("bias", "bool", "add a learned bias", True),
    ),
    shape=_conv_shape,
    weights=_conv_weights,
    macs=_conv_macs,
    text=lambda c: rf"Conv ${c['kernel'].tex(c.tex)} \times {c['kernel'].tex(c.tex)}$",
    value=_conv_value,
    examples=(
        Example([[3, "h", "w"]], [["d_m", "(h - P) // P + 1", "(w - P) // P + 1"]],
                {"out": "d_m", "kernel": "P", "stride": "P"}, params="3 d_m P^2 + d_m",
                flops="6 d_m P^2 floor(h / P) floor(w / P)", label=r"Conv $P \times P$"),
        Example([[4, 8, 8]], [[6, 4, 4]],
                {"out": 6, "kernel": 3, "pad": 1, "stride": 2, "groups": 2, "bias": False},
                params=108, flops=3456, label=r"Conv $3 \times 3$"),
    ),
)
