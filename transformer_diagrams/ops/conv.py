"""Convolution."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.registry import Attr, Call, Op, Shape, Weight, register


def _conv_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 3)
    k, s, p = c["kernel"], c["stride"], c["pad"]
    height, width = ((size + 2 * p - k) // s + 1 for size in x.dims[-2:])
    c.require_divides(c["groups"], x.dims[-3], f"channels (axis {x.ndim - 2}) of x into groups")
    return (Shape((*x.dims[:-3], c["out"], height, width), x.lead),)


def _conv_weights(c: Call) -> list[Weight]:
    k = c["kernel"]
    found = [Weight("W", Shape((c["out"], c.x.dims[-3] / c["groups"], k, k)))]
    if c.attr("bias", True):
        found.append(Weight("b", Shape((c["out"],))))
    return found


def _conv_work(c: Call) -> Dim:
    k = c["kernel"]
    return 2 * _conv_shape(c)[0].numel() * k * k * c.x.dims[-3] / c["groups"]


register(
    Op(
        name="conv2d",
        summary="Convolution of [.., channels, height, width] with a square kernel.",
        family="conv",
        role="projection",
        attrs=(
            Attr("out", "dim", "output channels", required=True),
            Attr("kernel", "dim", "side of the kernel", required=True),
            Attr("stride", "dim", "step", "1"),
            Attr("pad", "dim", "zeros around", "0"),
            Attr("groups", "dim", "independent groups of channels", "1"),
            Attr("bias", "bool", "add a learned bias", True),
        ),
        shape=_conv_shape,
        weights=_conv_weights,
        work=_conv_work,
        text=lambda c: f"Conv ${c['kernel'].tex()} \\times {c['kernel'].tex()}$",
        example={
            "inputs": [[3, 8, 8]],
            "attrs": {"out": 4, "kernel": 3, "pad": 1, "bias": False, "stride": 2},
            "outputs": [[4, 4, 4]],
            "params": 108,
            "flops": 3456,
        },
    )
)
