"""Samples: of maps at learned places, of patches by chance, of positions at other sizes."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, const
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.grid import resampling
from transformer_diagrams.ops.registry import (
    TWO,
    Attr,
    Buffer,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    Weight,
    family,
)
from transformer_diagrams.ops.rules import total, unify

op = family("sample", Op)

# -- deformable attention -------------------------------------------------------------------------


def _deform_shape(c: Call) -> tuple[Shape, ...]:
    heights, widths = c["heights"], c["widths"]
    if len(heights) != len(widths):
        raise OpFault(
            f"{len(heights)} heights and {len(widths)} widths: each level has one of both"
        )
    bound = unify(
        c, "...B h s v", "...B q h l p c", "...B q h l p",
        why="each query has so many points at each level for each head",
    )
    area = total([a * b for a, b in zip(heights, widths, strict=True)])
    c.require_equal(
        bound["s"], area, bound.places["s"], "the sum of height times width over the levels",
        "the maps of all levels lie one behind the other",
    )
    c.require_equal(bound["l"], const(len(heights)), bound.places["l"], "the number of levels")
    c.require_equal(bound["c"], TWO, bound.places["c"], "the coordinates x and y")
    return (bound.shape("...B q h v"),)


def _bilinear(level: Array, at: Array) -> Array:
    """level [h, height, width, v] read at [q, h, p, 2] places (x, y) in [0, 1]; zeros around."""
    heads, height, width, _ = level.shape
    x, y = at[..., 0] * width - 0.5, at[..., 1] * height - 0.5
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    head = np.arange(heads)[:, None]
    found = np.zeros([*x.shape, level.shape[-1]])
    for i in (top, top + 1):
        for j in (left, left + 1):
            inside = (i >= 0) & (i < height) & (j >= 0) & (j < width)
            share = np.where(inside, (1 - np.abs(y - i)) * (1 - np.abs(x - j)), 0)
            near = level[head, i.clip(0, height - 1), j.clip(0, width - 1)]
            found += share[..., None] * near
    return found


def _deform_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    value, at, shares = inputs
    if value.ndim > 3:
        one = [_deform_value(c, row, weights)[0] for row in zip(*inputs, strict=True)]
        return [np.stack(one)]
    sizes = [
        (a.evaluate(c.bindings), b.evaluate(c.bindings))
        for a, b in zip(c["heights"], c["widths"], strict=True)
    ]
    ends = np.cumsum([a * b for a, b in sizes])[:-1]
    y = np.zeros([at.shape[0], value.shape[0], value.shape[-1]])
    for number, (size, flat) in enumerate(
        zip(sizes, np.split(value, ends, axis=-2), strict=True)
    ):
        level = flat.reshape(len(flat), *size, -1)
        found = _bilinear(level, at[:, :, number])
        y += (shares[:, :, number, :, None] * found).sum(axis=-2)
    return [y]


op(
    name="deform_sample",
    summary="Deformable attention's reading: each query and head reads the value maps of all "
    "levels at its own places, bilinearly with zeros around, and sums by its weights; value "
    "[h, s, v], places [q, h, l, p, 2] as (x, y) in [0, 1], weights [q, h, l, p] -> [q, h, v] "
    "(arXiv:2010.04159).",
    role="attention",
    inputs=("value", "places", "weights"),
    attrs=(
        Attr("heights", "dims", "height of each level", required=True),
        Attr("widths", "dims", "width of each level", required=True),
    ),
    shape=_deform_shape,
    # four products for the bilinear mean and one for the weight, each with its sum
    work=lambda c: 10 * c.inputs[2].numel() * c.x.dims[-1],
    text="bilinear sampling, weighted sum",
    value=_deform_value,
    examples=(
        Example([["n_h", "h w + P w", "d_V"], ["n_q", "n_h", 2, "k", 2], ["n_q", "n_h", 2, "k"]],
                [["n_q", "n_h", "d_V"]], {"heights": ["h", "P"], "widths": ["w", "w"]},
                flops="20 k n_q n_h d_V", label="bilinear sampling, weighted sum"),
        Example([[2, 9, 4], [5, 2, 1, 3, 2], [5, 2, 1, 3]], [[5, 2, 4]],
                {"heights": [3], "widths": [3]}, flops=1200),
    ),
)

# -- by chance ------------------------------------------------------------------------------------


def _random_mask_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 2)
    c.require_at_most(c["keep"], x.dims[-2], "cannot keep more than there are")
    if len(c.inputs) > 1:
        unify(c, "...B n d", "...B n", why="each position draws one number")
    every = Shape(x.dims[:-1], x.lead)
    return (x.with_last(c["keep"], x.dims[-1]), every, every)


def _random_mask_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, noise = inputs[0], inputs[1] if len(inputs) > 1 else weights["noise"]
    order = np.argsort(noise, axis=-1, kind="stable")
    restore = np.argsort(order, axis=-1, kind="stable")
    kept = order[..., : c.number("keep"), None]
    return [np.take_along_axis(x, kept, axis=-2), restore, (restore >= c.number("keep")) * 1]


op(
    name="random_mask",
    summary="Keep a random part of the positions, in random order: those of the smallest noise. "
    "Beside it the index that puts them, followed by the others, back in order, and a mask that "
    "is 1 where a position was left out (arXiv:2111.06377).",
    role="mask",
    inputs=("x", "noise"),
    optional=1,
    outputs=("kept", "restore", "mask"),
    whole=("restore", "mask"),
    attrs=(Attr("keep", "dim", "how many positions are kept", required=True),),
    shape=_random_mask_shape,
    text="random masking",
    value=_random_mask_value,
    buffers=lambda c: [] if len(c.inputs) > 1
    else [Buffer("noise", Shape(c.x.dims[:-1], c.x.lead), "share")],
    examples=(
        Example([["N", "d_m"], ["N"]], [["k", "d_m"], ["N"], ["N"]], {"keep": "k"},
                label="random masking"),
        Example([[2, 5, 4], [2, 5]], [[2, 2, 4], [2, 5], [2, 5]], {"keep": 2}),
    ),
)


def _mask_replace_shape(c: Call) -> tuple[Shape, ...]:
    unify(c, "...B n d", "...B n", why="the mask says of each position whether it is replaced")
    return (c.x,)


op(
    name="mask_replace",
    summary="The learned mask token in place of each position where the mask is 1: x [n, d], "
    "mask [n] -> [n, d].",
    role="mask",
    inputs=("x", "mask"),
    shape=_mask_replace_shape,
    weights=lambda c: [Weight("token", Shape((c.last(),)))],
    text="mask token where masked",
    value=lambda c, x, w: [np.where(x[1][..., None] != 0, w["token"], x[0])],
    examples=(
        Example([["N", "d_m"], ["N"]], [["N", "d_m"]], params="d_m",
                label="mask token where masked"),
        Example([[2, 3, 4], [2, 3]], [[2, 3, 4]], params=4),
    ),
)

# -- positions ------------------------------------------------------------------------------------


def _interpolate_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 2)
    c.require_equal(
        x.dims[-2], c["prefix"] + c["height"] * c["width"], c.axis_of(0, x.ndim - 2),
        "prefix + height width", "a row of the table for each place of the grid",
    )
    return (x.with_last(c["prefix"] + c["to_height"] * c["to_width"], x.dims[-1]),)


def _interpolate_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    prefix, height, width, down, across = (
        c.number(name) for name in ("prefix", "height", "width", "to_height", "to_width")
    )
    head, grid = inputs[0][..., :prefix, :], inputs[0][..., prefix:, :]
    grid = np.einsum(
        "ai,bj,...ijd->...abd", resampling(height, down, c["kind"]),
        resampling(width, across, c["kind"]),
        grid.reshape(*grid.shape[:-2], height, width, -1),
    )
    return [np.concatenate([head, grid.reshape(*head.shape[:-2], down * across, -1)], axis=-2)]


op(
    name="interpolate_position",
    summary="A table of positions of one grid, read as an image and resampled to another grid; "
    "its first rows, of [CLS] and the like, stay: [prefix + h w, d] -> [prefix + h' w', d]. It "
    "depends on no input, so there is no work.",
    role="position",
    inputs=("table",),
    attrs=(
        Attr("height", "dim", "rows of the grid of the table", required=True),
        Attr("width", "dim", "its columns", required=True),
        Attr("to_height", "dim", "rows of the new grid", required=True),
        Attr("to_width", "dim", "its columns", required=True),
        Attr("prefix", "dim", "first rows of the table that belong to no place", 0, least=0),
        Attr("kind", "enum", "how values between are found", "bicubic",
             choices=("bicubic", "bilinear")),
    ),
    shape=_interpolate_shape,
    text="interpolate positions",
    value=_interpolate_value,
    examples=(
        Example([["P^2 + 1", "d_m"]], [["h w + 1", "d_m"]],
                {"height": "P", "width": "P", "to_height": "h", "to_width": "w", "prefix": 1},
                label="interpolate positions"),
        Example([[6, 4]], [[12, 4]],
                {"height": 2, "width": 3, "to_height": 4, "to_width": 3, "kind": "bilinear"}),
    ),
)


def _fourier_width(c: Call) -> Dim:
    bands: Dim = c["bands"]
    return (2 * bands + 1) * len(c["size"])


def _fourier_shape(c: Call) -> tuple[Shape, ...]:
    if not c["size"]:
        raise OpFault("the list `size` is empty", "name the size of each axis")
    places = Shape(c["size"]).numel()
    return (Shape((places, _fourier_width(c))),)


def _fourier_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    sizes = [size.evaluate(c.bindings) for size in c["size"]]
    at = np.stack(np.meshgrid(*(np.linspace(-1, 1, n) for n in sizes), indexing="ij"), axis=-1)
    at = at.reshape(-1, len(sizes))
    bands = np.stack([np.linspace(1, n / 2, c.number("bands")) for n in sizes])
    angles = (np.pi * at[:, :, None] * bands).reshape(len(at), -1)
    return [np.concatenate([at, np.sin(angles), np.cos(angles)], axis=-1)]


op(
    name="fourier_features",
    summary="Positions of a grid as features: each coordinate in [-1, 1], and the sines and "
    "cosines of pi times it at `bands` frequencies from 1 to half the axis' size; with a axes "
    "[places, a (2 bands + 1)] (arXiv:2103.03206). A table, made once, so no work.",
    role="position",
    inputs=(),
    attrs=(
        Attr("size", "dims", "size of each axis of the grid", required=True),
        Attr("bands", "dim", "frequencies of each axis", required=True),
    ),
    shape=_fourier_shape,
    text="Fourier features",
    value=_fourier_value,
    examples=(
        Example([], [["h w", "4 K + 2"]], {"size": ["h", "w"], "bands": "K"},
                label="Fourier features"),
        Example([], [[12, 14]], {"size": [3, 4], "bands": 3}),
    ),
)
