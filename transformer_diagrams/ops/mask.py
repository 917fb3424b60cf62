"""Masks: who may see whom."""

from __future__ import annotations

from transformer_diagrams.ops.registry import Attr, Call, Op, Shape, register
from transformer_diagrams.ops.rules import broadcast

TARGET = Attr("target", "dim", "target positions", required=True)
SOURCE = Attr("source", "dim", "source positions", required=True)

for _name, _words, _label, _extra in (
    (
        "causal_mask",
        "0 where the source is not later than the target, else -inf.",
        "Causal mask",
        (),
    ),
    (
        "window_mask",
        "0 for the last `window` sources up to the target, else -inf.",
        "Window mask",
        (Attr("window", "dim", "how far back a position sees", required=True),),
    ),
):
    register(
        Op(
            name=_name,
            summary=_words,
            family="mask",
            role="mask",
            inputs=(),
            attrs=(TARGET, SOURCE, *_extra),
            shape=lambda c: (Shape((c["target"], c["source"])),),
            text=_label,
            example={
                "inputs": [],
                "attrs": {"target": 3, "source": 5, **({"window": 2} if _extra else {})},
                "outputs": [[3, 5]],
                "params": 0,
                "flops": 0,
            },
        )
    )


def _mask_add_shape(c: Call) -> tuple[Shape, ...]:
    if len(c.inputs) > 1:
        broadcast(c, 0, 1, quiet=True)
    return (c.need_axes(0, 2),)


register(
    Op(
        name="mask_add",
        summary="Add a mask to the scores; it is the same for every head. Without a second input "
        "the mask is the one that the label names.",
        family="mask",
        role="mask",
        inputs=("scores", "mask"),
        optional=1,
        attrs=(
            Attr(
                "kind",
                "enum",
                "which mask, when it is not an input",
                "causal",
                choices=("causal", "window", "padding"),
            ),
        ),
        shape=_mask_add_shape,
        work=lambda c: c.x.numel(),
        text=lambda c: "add mask" if len(c.inputs) > 1 else f"{c.attr('kind', 'causal')} mask",
        example={
            "inputs": [[2, 3, 5], [3, 5]],
            "attrs": {},
            "outputs": [[2, 3, 5]],
            "params": 0,
            "flops": 30,
        },
    )
)

register(
    Op(
        name="scatter_mask",
        summary="From the indices that are kept, a mask: 0 there, -inf elsewhere.",
        family="mask",
        role="mask",
        inputs=("index",),
        attrs=(Attr("size", "dim", "source positions", required=True),),
        shape=lambda c: (c.x.with_last(c["size"]),),
        text="mask from index",
        example={
            "inputs": [[3, 2]],
            "attrs": {"size": 5},
            "outputs": [[3, 5]],
            "params": 0,
            "flops": 0,
        },
    )
)
