"""Ends of training and of decoding: losses, argmax, sampling."""

from __future__ import annotations

from transformer_diagrams.ops.registry import Attr, Call, Op, Shape, register
from transformer_diagrams.ops.rules import broadcast


def _loss_shape(c: Call) -> tuple[Shape, ...]:
    logits, target = c.inputs
    for k, (p, q) in enumerate(zip(logits.dims[:-1], target.dims, strict=False)):
        c.require_equal(
            p, q, f"axis {k + 1} of logits {logits}", f"axis {k + 1} of target {target}"
        )
    return (Shape(()),)


register(
    Op(
        name="cross_entropy",
        summary="Minus the log probability of the target, averaged.",
        family="loss",
        role="loss",
        inputs=("logits", "target"),
        shape=_loss_shape,
        work=lambda c: 5 * c.x.numel(),
        text="Cross-entropy",
        example={"inputs": [[3, 4], [3]], "attrs": {}, "outputs": [[]], "params": 0, "flops": 60},
    )
)

register(
    Op(
        name="kl",
        summary="Kullback-Leibler divergence of two distributions.",
        family="loss",
        role="loss",
        inputs=("p", "q"),
        shape=lambda c: (broadcast(c, 0, 1), (Shape(()),))[1],
        work=lambda c: 5 * c.x.numel(),
        text="KL divergence",
        example={
            "inputs": [[3, 4], [3, 4]],
            "attrs": {},
            "outputs": [[]],
            "params": 0,
            "flops": 60,
        },
    )
)

for _name, _words in (
    ("argmax", "Index of the largest entry of the last axis."),
    ("sample", "An index drawn from the distribution along the last axis."),
):
    register(
        Op(
            name=_name,
            summary=_words,
            family="loss",
            shape=lambda c: (Shape(c.need_axes(0, 1).dims[:-1], c.x.lead),),
            work=lambda c: c.x.numel(),
            text=_name,
            example={"inputs": [[3, 4]], "attrs": {}, "outputs": [[3]], "params": 0, "flops": 12},
        )
    )

register(
    Op(
        name="id_map",
        summary="Integers to integers by a fixed table (draft to target vocabulary).",
        family="loss",
        role="data",
        attrs=(Attr("size", "dim", "entries of the table"),),
        text="id map",
        example={"inputs": [[3]], "attrs": {}, "outputs": [[3]], "params": 0, "flops": 0},
    )
)
