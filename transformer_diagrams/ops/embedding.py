"""Tables: token embeddings, learned tokens and parameters, constants."""

from __future__ import annotations

from transformer_diagrams.ops.registry import Attr, Call, Op, Shape, Weight, register

SHAPE = Attr("size", "dims", "sizes of its axes", required=True)


def _word(c: Call) -> str:
    symbol = c.attr("symbol", "")
    return f"${symbol}$" if symbol else ""


register(
    Op(
        name="embedding",
        summary="Look up a learned row for each integer: [d] -> [d, width].",
        family="embedding",
        role="embedding",
        param_role="embed_token",
        attrs=(
            Attr("vocab", "dim", "number of rows", required=True),
            Attr("width", "dim", "size of a row", required=True),
        ),
        shape=lambda c: (Shape((*c.x.dims, c["width"]), c.x.lead),),
        weights=lambda c: [Weight("E", Shape((c["vocab"], c["width"])))],
        text="Token embedding",
        example={
            "inputs": [[3]],
            "attrs": {"vocab": 10, "width": 4},
            "outputs": [[3, 4]],
            "params": 40,
            "flops": 0,
        },
    )
)

register(
    Op(
        name="learned_tokens",
        summary="Learned vectors that stand for themselves: queries, a class or mask token.",
        family="embedding",
        role="parameter",
        inputs=(),
        attrs=(
            Attr("count", "dim", "how many", required=True),
            Attr("width", "dim", "size of each", required=True),
            Attr("symbol", "str", "TeX of the tensor, for the label", ""),
        ),
        shape=lambda c: (Shape((c["count"], c["width"])),),
        weights=lambda c: [Weight("tokens", Shape((c["count"], c["width"])))],
        text=lambda c: _word(c) or "learned tokens",
        example={
            "inputs": [],
            "attrs": {"count": 3, "width": 4},
            "outputs": [[3, 4]],
            "params": 12,
            "flops": 0,
        },
    )
)

register(
    Op(
        name="parameter",
        summary="A learned tensor of any shape.",
        family="embedding",
        role="parameter",
        inputs=(),
        attrs=(SHAPE, Attr("symbol", "str", "TeX of the tensor, for the label", "")),
        shape=lambda c: (Shape(tuple(c["size"])),),
        weights=lambda c: [Weight("parameter", Shape(tuple(c["size"])))],
        text=lambda c: _word(c) or "parameter",
        example={
            "inputs": [],
            "attrs": {"size": [2, 3]},
            "outputs": [[2, 3]],
            "params": 6,
            "flops": 0,
        },
    )
)

register(
    Op(
        name="constant",
        summary="A fixed tensor: not learned, not counted.",
        family="embedding",
        role="data",
        inputs=(),
        attrs=(SHAPE, Attr("symbol", "str", "TeX of the tensor, for the label", "")),
        shape=lambda c: (Shape(tuple(c["size"])),),
        text=lambda c: _word(c) or "constant",
        example={
            "inputs": [],
            "attrs": {"size": [2, 3]},
            "outputs": [[2, 3]],
            "params": 0,
            "flops": 0,
        },
    )
)
