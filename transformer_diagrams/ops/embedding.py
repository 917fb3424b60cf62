"""Tables and tensors that stand for themselves: embeddings, learned tokens, constants."""

from __future__ import annotations

from transformer_diagrams.ops.elementwise import factor_of
from transformer_diagrams.ops.registry import Attr, Buffer, Call, Example, Op, Shape, Weight, family
from transformer_diagrams.ops.rules import symbol_tex

op = family("embedding", Op)

SIZE = Attr("size", "dims", "sizes of its axes", required=True)
SYMBOL = Attr("symbol", "str", "name of the tensor, for the label, e.g. P", "",
              shown="tex")


def _symbol_or(c: Call, words: str) -> str:
    return f"${symbol_tex(c['symbol'])}$" if c["symbol"] else words


op(
    name="embedding",
    does=("table",),
    summary="Look up a learned row for each integer: [d] -> [d, width].",
    role="embedding",
    param_role="embed_token",
    whole=("x",),
    attrs=(
        Attr("vocab", "dim", "number of rows", required=True),
        Attr("width", "dim", "size of a row", required=True),
        Attr("times", "str", "what a row is multiplied by: a formula such as d_m^1/2", "1",
             constant=True),
    ),
    shape=lambda c: (Shape((*c.x.dims, c["width"]), c.x.lead),),
    weights=lambda c: [Weight("E", Shape((c["vocab"], c["width"])))],
    text="Token embedding",
    value=lambda c, x, w: [w["E"][x[0]] * factor_of(c, "times")],
    below=lambda c: c["vocab"],
    examples=(
        Example([["d_t"]], [["d_t", "d_m"]], {"vocab": "V", "width": "d_m"}, params="V d_m",
                label="Token embedding"),
        Example([[2, 3]], [[2, 3, 4]], {"vocab": 10, "width": 4}, params=40),
    ),
)

op(
    name="learned_tokens",
    does=("tensor",),
    summary="Learned vectors that stand for themselves: object queries, a class or mask token.",
    role="parameter",
    inputs=(),
    attrs=(
        Attr("count", "dim", "how many", required=True),
        Attr("width", "dim", "size of each", required=True),
        SYMBOL,
    ),
    shape=lambda c: (Shape((c["count"], c["width"])),),
    weights=lambda c: [Weight("tokens", Shape((c["count"], c["width"])))],
    text=lambda c: _symbol_or(c, "learned tokens"),
    value=lambda c, x, w: [w["tokens"]],
    examples=(
        Example([], [["n_q", "d_m"]], {"count": "n_q", "width": "d_m"}, params="n_q d_m",
                label="learned tokens"),
        Example([], [[3, 4]], {"count": 3, "width": 4, "symbol": "Q_0"}, params=12,
                label="$Q_0$"),
    ),
)

op(
    name="parameter",
    does=("tensor",),
    summary="A learned tensor of any shape.",
    role="parameter",
    inputs=(),
    attrs=(SIZE, SYMBOL),
    shape=lambda c: (Shape(c["size"]),),
    weights=lambda c: [Weight("parameter", Shape(c["size"]))],
    text=lambda c: _symbol_or(c, "parameter"),
    value=lambda c, x, w: [w["parameter"]],
    examples=(
        Example([], [["n_h", "d_c", "d_K"]], {"size": ["n_h", "d_c", "d_K"], "symbol": "W_UK"},
                params="n_h d_c d_K", label="$W_{UK}$"),
        Example([], [[2, 3]], {"size": [2, 3]}, params=6, label="parameter"),
    ),
)

op(
    name="constant",
    summary="A given tensor that is not learned: a buffer, not a parameter.",
    role="data",
    inputs=(),
    attrs=(SIZE, SYMBOL),
    shape=lambda c: (Shape(c["size"]),),
    text=lambda c: _symbol_or(c, "constant"),
    value=lambda c, x, w: [w["value"]],
    buffers=lambda c: [Buffer("value", Shape(c["size"]))],
    examples=(
        Example([], [["d_t", "d_m"]], {"size": ["d_t", "d_m"], "symbol": "P"}, label="$P$"),
        Example([], [[]], {"size": []}, label="constant"),
    ),
)
