"""Positions: learned tables, sinusoids, rotation, relative bias."""

from __future__ import annotations

from transformer_diagrams.dims import const
from transformer_diagrams.ops.registry import ZERO, Attr, Call, Op, Shape, Weight, register
from transformer_diagrams.ops.rules import last_axis

LENGTH = Attr("length", "dim", "number of positions", required=True)
WIDTH = Attr("width", "dim", "size of each position's vector", required=True)

register(
    Op(
        name="learned_position",
        summary="A learned row for each position: [length, width] out of a table of `table` rows.",
        family="position",
        role="position",
        param_role="embed_position",
        inputs=(),
        attrs=(LENGTH, WIDTH, Attr("table", "dim", "rows of the table (default: length)")),
        shape=lambda c: (Shape((c["length"], c["width"])),),
        weights=lambda c: [Weight("P", Shape((c.attr("table", c["length"]), c["width"])))],
        text="Position embedding",
        example={
            "inputs": [],
            "attrs": {"length": 3, "width": 4, "table": 8},
            "outputs": [[3, 4]],
            "params": 32,
            "flops": 0,
        },
    )
)


def _sinusoid_shape(c: Call) -> tuple[Shape, ...]:
    c.require_divides(const(2), c["width"], "width of the sinusoids")
    return (Shape((c["length"], c["width"])),)


register(
    Op(
        name="sinusoid_position",
        summary="Fixed sines and cosines of the position (arXiv:1706.03762, section 3.5).",
        family="position",
        role="position",
        inputs=(),
        attrs=(LENGTH, WIDTH),
        shape=_sinusoid_shape,
        work=lambda c: c["length"] * c["width"],
        text="Sinusoidal positions",
        example={
            "inputs": [],
            "attrs": {"length": 3, "width": 4},
            "outputs": [[3, 4]],
            "params": 0,
            "flops": 12,
        },
    )
)


def _rope_shape(c: Call) -> tuple[Shape, ...]:
    width = c.attr("width") or last_axis(c)
    c.require_divides(const(2), width, "rotated width")
    return (c.need_axes(0, 2),)


register(
    Op(
        name="rope",
        summary="Rotate pairs of features by an angle that grows with the position "
        "(arXiv:2104.09864); `width` features of them (default: all).",
        family="position",
        role="position",
        attrs=(Attr("width", "dim", "how many features are rotated (default: all)"),),
        shape=_rope_shape,
        work=lambda c: 3 * c.x.numel() / last_axis(c) * (c.attr("width") or last_axis(c)),
        text="RoPE",
        example={
            "inputs": [[2, 3, 4]],
            "attrs": {},
            "outputs": [[2, 3, 4]],
            "params": 0,
            "flops": 72,
        },
    )
)

register(
    Op(
        name="rel_bias",
        summary="A scalar per head and relative offset, looked up in a learned table: "
        "[heads, target, source].",
        family="position",
        role="position",
        param_role="attention_rpb",
        inputs=(),
        attrs=(
            Attr("heads", "dim", "number of heads", required=True),
            Attr("target", "dim", "target positions", required=True),
            Attr("source", "dim", "source positions", required=True),
            Attr("buckets", "dim", "rows of the table; 0 for fixed slopes", required=True),
        ),
        shape=lambda c: (Shape((c["heads"], c["target"], c["source"])),),
        weights=lambda c: (
            [Weight("table", Shape((c["buckets"], c["heads"])))] if c["buckets"] != ZERO else []
        ),
        text="Relative position bias",
        example={
            "inputs": [],
            "attrs": {"heads": 2, "target": 3, "source": 5, "buckets": 4},
            "outputs": [[2, 3, 5]],
            "params": 8,
            "flops": 0,
        },
    )
)
