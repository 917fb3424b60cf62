"""What tells positions apart: learned tables, sinusoids, rotation, relative bias."""

from __future__ import annotations

import math

from transformer_diagrams.dims import Dim, const
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.elementwise import factor_of
from transformer_diagrams.ops.registry import (
    TWO,
    ZERO,
    Attr,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    Weight,
    family,
)
from transformer_diagrams.ops.rotary import SCALED, frequencies

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
    attrs=(LENGTH, WIDTH, Attr("table", "dim", "rows of the table (default: length)"),
           Attr("offset", "int", "the row of the first position", 0, constant=True)),
    shape=_learned_shape,
    weights=lambda c: [Weight("P", Shape((_learned_rows(c), c["width"])))],
    text="Position embedding",
    value=lambda c, x, w: [w["P"][c["offset"] : c["offset"] + c.number("length")]],
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


def _angles(length: int, width: int, base: float) -> Array:
    """The angle of each position and pair of features."""
    return np.arange(length)[:, None] / base ** (np.arange(0, width, 2) / width)


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
    start, length = c.number("start"), x.shape[-2]
    turns, factor = frequencies(c, rotated, start + length)
    angles = np.arange(start, start + length)[:, None] * turns
    cos, sin = factor * np.cos(angles), factor * np.sin(angles)
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
             "interleaved", choices=("interleaved", "halves"), constant=True),
        Attr("start", "dim", "the first position, e.g. the length of the cache", 0, least=0),
        *SCALED,
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

def _offsets(c: Call) -> Array:
    """[target, source]: how many positions a source comes after a target; these are the last."""
    target, source = c.number("target"), c.number("source")
    return np.arange(source)[None, :] - np.arange(source - target, source)[:, None]


def _slopes(heads: int) -> Array:
    """Of a head: powers of 2^(-8/n), n the next power of two below; then every other of 2 n."""
    whole = 2 ** (heads.bit_length() - 1)
    first = 2.0 ** (-8 / whole * np.arange(1, whole + 1))
    more = 2.0 ** (-4 / whole * np.arange(1, 2 * (heads - whole), 2))
    return np.concatenate([first, more])


def _log_buckets(offset: Array, buckets: int, distance: int, *, causal: bool) -> Array:
    """The bucket of each offset: one for each near one, then wider by powers up to ``distance``."""
    side = 0
    if not causal:
        buckets //= 2
        side = (offset > 0) * buckets
    far = np.maximum(-offset, 0) if causal else np.abs(offset)
    near = buckets // 2
    grown = np.log(np.maximum(far, 1) / near) / np.log(distance / near) * (buckets - near)
    wide = np.minimum(near + grown.astype(int), buckets - 1)
    return side + np.where(far < near, far, wide)


def _grid_buckets(positions: int) -> Array:
    """For the places of a square, row by row: the number of each difference of rows and columns.

    :raises OpFault: when so many places make no square.
    """
    side = math.isqrt(positions)
    if side**2 != positions:
        raise OpFault(f"{positions} positions make no square", "kind: grid is for square windows")
    row, column = np.divmod(np.arange(positions), side)
    down, across = (x[:, None] - x[None, :] + side - 1 for x in (row, column))
    return down * (2 * side - 1) + across


def _rel_bias_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    offset = _offsets(c)
    if c["buckets"] == ZERO:
        slopes = _slopes(c.number("heads")) * factor_of(c, "times")
        return [-slopes[:, None, None] * np.abs(offset)]
    if c["kind"] == "grid":
        index = _grid_buckets(c.number("target"))
    else:
        index = _log_buckets(offset, c.number("buckets"), c["distance"], causal=c["causal"])
    return [np.moveaxis(weights["table"][index], -1, 0)]


def _rel_bias_shape(c: Call) -> tuple[Shape, ...]:
    if c["kind"] == "grid":
        c.require_equal(c["target"], c["source"], "target", "source", "both are all of a square")
    elif c["buckets"] != ZERO:
        c.require_at_most(const(2 if c["causal"] else 4), c["buckets"], "buckets that are needed")
    return (Shape((c["heads"], c["target"], c["source"])),)


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
        Attr("kind", "enum", "buckets of offsets along a sequence, wider the farther, or one for "
             "each offset in a square window (arXiv:2103.14030)", "log", choices=("log", "grid")),
        Attr("distance", "int", "from this offset on, all are in the last bucket", 128,
             only=("kind", "log"), constant=True),
        Attr("times", "str", "without buckets: the slopes are multiplied by this", "1",
             constant=True),
        Attr("causal", "bool", "buckets for earlier sources alone, as in a decoder", False,
             only=("kind", "log")),
    ),
    shape=_rel_bias_shape,
    weights=lambda c: (
        [] if c["buckets"] == ZERO else [Weight("table", Shape((c["buckets"], c["heads"])))]
    ),
    text="Relative position bias",
    value=_rel_bias_value,
    examples=(
        Example([], [["n_h", "d_t", "d_s"]],
                {"heads": "n_h", "target": "d_t", "source": "d_s", "buckets": 32},
                params="32 n_h", label="Relative position bias"),
        Example([], [[2, 3, 5]], {"heads": 2, "target": 3, "source": 5, "buckets": 0}),
    ),
)

