"""What tells positions apart: learned tables, sinusoids, rotation, relative bias."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import (
    TWO,
    ZERO,
    Attr,
    Call,
    Example,
    Op,
    Shape,
    Weight,
    family,
)

op = family("position", Op)

LENGTH = Attr("length", "dim", "number of positions", required=True)
WIDTH = Attr("width", "dim", "size of the vector of a position", required=True)
BASE = Attr("base", "float", "wavelengths grow from 2 pi to 2 pi times this", 10000)

# -- added to the stream --------------------------------------------------------------------------


def _learned_rows(c: Call) -> Dim:
    rows: Dim = c["length"] if c["table"] is None else c["table"]
    c.require_at_most(
        c["length"], rows, "there are more positions than rows in the table",
        "`table` is the longest sequence that the model can read",
    )
    return rows


def _learned_shape(c: Call) -> tuple[Shape, ...]:
    _learned_rows(c)
    return (Shape((c["length"], c["width"])),)


op(
    name="learned_position",
    does=("positions",),
    summary="A learned row for each position: the first `length` rows of a table.",
    role="position",
    param_role="embed_position",
    inputs=(),
    attrs=(LENGTH, WIDTH, Attr("table", "dim", "rows of the table (default: length)")),
    shape=_learned_shape,
    weights=lambda c: [Weight("P", Shape((_learned_rows(c), c["width"])))],
    text="Position embedding",
    value=lambda c, x, w: [w["P"][: c.number("length")]],
    examples=(
        Example([], [["d_t", "d_m"]], {"length": "d_t", "width": "d_m", "table": "P"},
                params="P d_m", label="Position embedding"),
        Example([], [[3, 4]], {"length": 3, "width": 4}, params=12),
    ),
)


def _sinusoid_shape(c: Call) -> tuple[Shape, ...]:
    c.require_divides(TWO, c["width"], "the width of sines and cosines")
    return (Shape((c["length"], c["width"])),)


def _sinusoid_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    angles = _angles(c.number("length"), c.number("width"), c["base"])
    return [np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(angles), -1)]


def _angles(length: int, width: int, base: float, start: int = 0) -> Array:
    """The angle of each position and pair of features."""
    return np.arange(start, start + length)[:, None] / base ** (np.arange(0, width, 2) / width)


op(
    name="sinusoid_position",
    does=("positions",),
    summary="Fixed sines and cosines of the position, one frequency for two features "
    "(arXiv:1706.03762, section 3.5).",
    role="position",
    inputs=(),
    attrs=(LENGTH, WIDTH, BASE),
    shape=_sinusoid_shape,
    text="Sinusoidal positions",
    value=_sinusoid_value,
    examples=(
        Example([], [["d_t", "2 q"]], {"length": "d_t", "width": "2 q"},
                label="Sinusoidal positions"),
        Example([], [[3, 4]], {"length": 3, "width": 4}),
    ),
)

# -- inside attention -----------------------------------------------------------------------------


def _rotated(c: Call) -> Dim:
    """How many features are rotated; checked."""
    width = c.last()
    rotated: Dim = width if c["width"] is None else c["width"]
    c.require_at_most(
        rotated, width, f"cannot rotate more features than {c.axis_of(0, c.x.ndim - 1)} has"
    )
    c.require_divides(TWO, rotated, "the rotated width, which is cut into pairs")
    return rotated


def _rope_shape(c: Call) -> tuple[Shape, ...]:
    c.need_axes(0, 2)
    _rotated(c)
    return (c.x,)


def _rope_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, rotated = inputs[0], _rotated(c).evaluate(c.bindings)
    angles = _angles(x.shape[-2], rotated, c["base"], c.number("start"))
    cos, sin = np.cos(angles), np.sin(angles)
    y = np.array(x, dtype=np.result_type(x, np.float64))
    features = np.arange(rotated).reshape(-1, 2)  # rows are the pairs
    if c["pairs"] == "halves":
        features = np.arange(rotated).reshape(2, -1).T
    first, second = (..., features[:, 0]), (..., features[:, 1])
    y[first] = x[first] * cos - x[second] * sin
    y[second] = x[first] * sin + x[second] * cos
    return [y]


op(
    name="rope",
    does=("rotation",),
    summary="Rotate pairs of features by an angle that grows with the position, so that scores "
    "depend on distances only (arXiv:2104.09864).",
    role="position",
    attrs=(
        Attr("width", "dim", "how many features are rotated, the first ones (default: all)"),
        BASE,
        Attr("pairs", "enum", "which features are a pair: neighbours, or halves apart",
             "interleaved", choices=("interleaved", "halves")),
        Attr("start", "dim", "the first position, e.g. the length of the cache", 0, least=0),
    ),
    shape=_rope_shape,
    work=lambda c: 3 * Shape(c.x.dims[:-1]).numel() * _rotated(c),
    text="RoPE",
    value=_rope_value,
    examples=(
        Example([["n_h", "d_t", "2 q"]], [["n_h", "d_t", "2 q"]], flops="6 n_h d_t q",
                label="RoPE"),
        Example([[2, 3, 4]], [[2, 3, 4]], flops=72),
        Example([[3, 8]], [[3, 8]], {"width": 4, "pairs": "halves"}, flops=36),
    ),
)

op(
    name="rel_bias",
    does=("relative",),
    summary="A learned number for each head and bucket of relative offsets, added to scores: "
    "[heads, target, source] (arXiv:1910.10683; no buckets: fixed slopes, arXiv:2108.12409).",
    role="position",
    param_role="attention_rpb",
    inputs=(),
    attrs=(
        Attr("heads", "dim", "number of heads", required=True),
        Attr("target", "dim", "target positions", required=True),
        Attr("source", "dim", "source positions", required=True),
        Attr("buckets", "dim", "rows of the table; 0 for fixed slopes", required=True,
             least=0),
    ),
    shape=lambda c: (Shape((c["heads"], c["target"], c["source"])),),
    weights=lambda c: (
        [] if c["buckets"] == ZERO else [Weight("table", Shape((c["buckets"], c["heads"])))]
    ),
    text="Relative position bias",
    examples=(
        Example([], [["n_h", "d_t", "d_s"]],
                {"heads": "n_h", "target": "d_t", "source": "d_s", "buckets": 32},
                params="32 n_h", label="Relative position bias"),
        Example([], [[2, 3, 5]], {"heads": 2, "target": 3, "source": 5, "buckets": 0}),
    ),
)

