"""Normalisation: LayerNorm, RMSNorm, L2."""

from __future__ import annotations

from transformer_diagrams.ops.registry import Attr, Call, Op, Shape, Weight, register
from transformer_diagrams.ops.rules import last_axis


def _layernorm_weights(c: Call) -> list[Weight]:
    size = Shape((last_axis(c),))
    found = [Weight("gain", size)] if c.attr("affine", True) else []
    if found and c.attr("bias", True):
        found.append(Weight("bias", size))
    return found


register(
    Op(
        name="layernorm",
        summary="Centre and scale the last axis, then a learned gain and bias (arXiv:1607.06450).",
        family="norm",
        role="norm",
        param_role="norm",
        attrs=(
            Attr("affine", "bool", "has a learned gain", True),
            Attr("bias", "bool", "has a learned bias beside the gain", True),
        ),
        shape=lambda c: (last_axis(c), (c.x,))[1],
        weights=_layernorm_weights,
        work=lambda c: 8 * c.x.numel(),
        text="LayerNorm",
        example={"inputs": [[3, 4]], "attrs": {}, "outputs": [[3, 4]], "params": 8, "flops": 96},
    )
)

register(
    Op(
        name="rmsnorm",
        summary="Scale the last axis to unit root mean square, then a learned gain "
        "(arXiv:1910.07467).",
        family="norm",
        role="norm",
        param_role="norm",
        attrs=(Attr("gain", "bool", "has a learned gain", True),),
        shape=lambda c: (last_axis(c), (c.x,))[1],
        weights=lambda c: [Weight("gain", Shape((last_axis(c),)))] if c.attr("gain", True) else [],
        work=lambda c: 4 * c.x.numel(),
        text="RMSNorm",
        example={"inputs": [[3, 4]], "attrs": {}, "outputs": [[3, 4]], "params": 4, "flops": 48},
    )
)

register(
    Op(
        name="l2norm",
        summary="Divide each vector along an axis by its length.",
        family="norm",
        role="norm",
        attrs=(Attr("axis", "int", "the axis", -1),),
        shape=lambda c: (c.axis(0, c.attr("axis", -1)), (c.x,))[1],
        work=lambda c: 3 * c.x.numel(),
        text="L2 norm",
        example={"inputs": [[3, 4]], "attrs": {}, "outputs": [[3, 4]], "params": 0, "flops": 36},
    )
)
