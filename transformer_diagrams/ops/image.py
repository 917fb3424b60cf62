"""Images and feature maps [.., channels, height, width]: patches, pooling, resolutions."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.grid import resampling, windows_of
from transformer_diagrams.ops.registry import (
    ZERO,
    Attr,
    Call,
    Example,
    Op,
    Shape,
    family,
)
from transformer_diagrams.ops.rules import affine

op = family("image", Op)

PATCH = Attr("patch", "dim", "side of a patch", required=True)

# -- patches --------------------------------------------------------------------------------------


def _grid(c: Call) -> tuple[Dim, Dim]:
    """Rows and columns of patches."""
    x = c.need_axes(0, 3)
    height, width = (
        c.require_divides(c["patch"], x.dims[place], c.axis_of(0, place), near="patch")
        for place in (x.ndim - 2, x.ndim - 1)
    )
    return height, width


def _pixels(c: Call) -> Dim:
    """Numbers of one patch."""
    pixels: Dim = c["patch"] ** 2 * c.last(back=3)
    return pixels


def _patches(c: Call, width: Dim) -> Shape:
    rows, columns = _grid(c)
    return Shape((*c.x.dims[:-3], rows * columns, width), c.x.lead)


def _cut(c: Call, x: Array) -> Array:
    """[.., channels, height, width] -> [.., patches, pixels]: row by row, channels innermost."""
    p = c.number("patch")
    *lead, channels, height, width = x.shape
    cut = x.reshape(*lead, channels, height // p, p, width // p, p)
    cut = np.moveaxis(np.swapaxes(cut, -3, -2), -5, -1)
    return cut.reshape(*lead, (height // p) * (width // p), p * p * channels)


def _patch_embed_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    return [_cut(c, inputs[0]) @ weights["W"] + weights.get("b", 0)]


op(
    name="patch_embed",
    does=("map",),
    summary="Each P x P patch of an image to a token, by one linear map of its pixels: "
    "[channels, h, w] -> [(h/P)(w/P), width], the same as a convolution whose stride is its "
    "kernel (arXiv:2010.11929).",
    role="projection",
    attrs=(
        PATCH,
        Attr("width", "dim", "width of a token", required=True),
        Attr("bias", "bool", "add a learned bias", True),
    ),
    shape=lambda c: (_patches(c, c["width"]),),
    weights=lambda c: affine(c, _pixels(c), c["width"], bias=c["bias"]),
    macs=lambda c: _patches(c, c["width"]).numel() * _pixels(c),
    text="Patch embedding",
    value=_patch_embed_value,
    examples=(
        Example([[3, "h", "w"]], [["(h / P) (w / P)", "d_m"]], {"patch": "P", "width": "d_m"},
                params="3 P^2 d_m + d_m", flops="6 h w d_m", label="Patch embedding"),
        Example([[2, 3, 4, 8]], [[2, 8, 5]], {"patch": 2, "width": 5, "bias": False}, params=60,
                flops=1920),
    ),
)

op(
    name="patchify",
    does=("form",),
    summary="Cut an image into P x P patches, row by row, channels innermost: [channels, h, w] "
    "-> [(h/P)(w/P), P^2 channels].",
    attrs=(PATCH,),
    shape=lambda c: (_patches(c, _pixels(c)),),
    text="patchify",
    value=lambda c, x, w: [_cut(c, x[0])],
    examples=(
        Example([[3, "h", "w"]], [["(h / P) (w / P)", "3 P^2"]], {"patch": "P"},
                label="patchify"),
        Example([[2, 3, 4, 8]], [[2, 8, 12]], {"patch": 2}),
    ),
)


def _unpatchify_shape(c: Call) -> tuple[Shape, ...]:
    x, patch = c.need_axes(0, 2), c["patch"]
    rows = c.require_divides(patch, c["height"], "height", near="patch")
    columns = c.require_divides(patch, c["width"], "width", near="patch")
    c.require_equal(
        x.dims[-2], rows * columns, c.axis_of(0, x.ndim - 2), "the number of patches",
        "the patches must fill the image",
    )
    channels = c.require_divides(patch**2, x.dims[-1], c.axis_of(0, x.ndim - 1), near="patch")
    return (Shape((*x.dims[:-2], channels, c["height"], c["width"]), x.lead),)


def _unpatchify_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    p, height, width = c.number("patch"), c.number("height"), c.number("width")
    x = inputs[0]
    parts = x.reshape(*x.shape[:-2], height // p, width // p, p, p, -1)
    parts = np.moveaxis(np.swapaxes(parts, -4, -3), -1, -5)
    return [parts.reshape(*x.shape[:-2], -1, height, width)]


op(
    name="unpatchify",
    does=("form",),
    summary="Put patches together to an image, as `patchify` cuts them: [(h/P)(w/P), "
    "P^2 channels] -> [channels, h, w].",
    attrs=(
        PATCH,
        Attr("height", "dim", "height of the image", required=True),
        Attr("width", "dim", "width of the image", required=True),
    ),
    shape=_unpatchify_shape,
    text="unpatchify",
    value=_unpatchify_value,
    examples=(
        Example([["(h / P) (w / P)", "3 P^2"]], [[3, "h", "w"]],
                {"patch": "P", "height": "h", "width": "w"}, label="unpatchify"),
        Example([[2, 8, 12]], [[2, 3, 4, 8]], {"patch": 2, "height": 4, "width": 8}),
    ),
)

# -- other resolutions ----------------------------------------------------------------------------


def _pool2d_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 2)
    return (x.with_last(*windows_of(c, 2)),)


def _pool2d_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    pad, kernel, step = c.number("pad"), c.number("kernel"), _pool_step(c).evaluate(c.bindings)
    largest = c["kind"] == "max"
    x = np.pad(
        inputs[0], [(0, 0)] * (inputs[0].ndim - 2) + [(pad, pad)] * 2,
        constant_values=-np.inf if largest else 0,
    )
    seen = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(-2, -1))
    seen = seen[..., ::step, ::step, :, :]
    return [seen.max(axis=(-2, -1)) if largest else seen.mean(axis=(-2, -1))]


def _pool_step(c: Call) -> Dim:
    step: Dim = c["kernel"] if c["stride"] is None else c["stride"]
    return step


op(
    name="pool2d",
    summary="The largest or the mean of each window of the last two axes; a mean counts the zeros "
    "around.",
    attrs=(
        Attr("kernel", "dim", "side of a window", required=True),
        Attr("stride", "dim", "step (default: the kernel)"),
        Attr("pad", "dim", "places around, on each side", 0, least=0),
        Attr("kind", "enum", "what is taken", "max", choices=("max", "mean")),
    ),
    shape=_pool2d_shape,
    work=lambda c: _pool2d_shape(c)[0].numel() * c["kernel"] ** 2,
    text=lambda c: rf"{c['kind']} pool ${c['kernel'].tex(c.tex)} "
    rf"\times {c['kernel'].tex(c.tex)}$",
    value=_pool2d_value,
    examples=(
        Example([["d_m", "h", "w"]], [["d_m", "floor(h / P)", "floor(w / P)"]], {"kernel": "P"},
                flops="P^2 d_m floor(h / P) floor(w / P)", label=r"max pool $P \times P$"),
        Example([[3, 8, 8]], [[3, 4, 4]], {"kernel": 3, "stride": 2, "pad": 1}, flops=432),
        Example([[3, 4, 6]], [[3, 2, 3]], {"kernel": 2, "kind": "mean"}, flops=72,
                label=r"mean pool $2 \times 2$"),
    ),
)

BLEND = 8  # FLOPs of a bilinear mean: four products and their sum


def _upsample_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 2)
    return (x.with_last(*(side * c["factor"] for side in x.dims[-2:])),)


def _upsample_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, factor = inputs[0], c.number("factor")
    if c["kind"] == "nearest":
        return [x.repeat(factor, axis=-2).repeat(factor, axis=-1)]
    down, across = (resampling(side, side * factor, c["kind"]) for side in x.shape[-2:])
    return [down @ x @ across.T]


op(
    name="upsample",
    summary="Height and width times a factor: each value repeated, or a bilinear mean of the four "
    "nearest, whose centres are those of pixels.",
    attrs=(
        Attr("factor", "dim", "how many times as many", 2),
        Attr("kind", "enum", "how values between are found", "nearest",
             choices=("nearest", "bilinear")),
    ),
    shape=_upsample_shape,
    work=lambda c: ZERO if c["kind"] == "nearest" else BLEND * _upsample_shape(c)[0].numel(),
    text=lambda c: rf"upsample $\times {c['factor'].tex(c.tex)}$",
    value=_upsample_value,
    examples=(
        Example([["d_m", "h", "w"]], [["d_m", "2 h", "2 w"]], label=r"upsample $\times 2$"),
        Example([[3, 2, 4]], [[3, 6, 12]], {"factor": 3, "kind": "bilinear"}, flops=1728),
    ),
)


def _resize_shape(c: Call) -> tuple[Shape, ...]:
    return (c.need_axes(0, 2).with_last(c["height"], c["width"]),)


op(
    name="resize",
    summary="Maps [.., h, w] read at the places of another grid [.., height, width]: a mean of the "
    "four nearest values, or of the sixteen nearest, where both grids lie centred over the image.",
    attrs=(
        Attr("height", "dim", "rows of the new grid", required=True),
        Attr("width", "dim", "its columns", required=True),
        Attr("kind", "enum", "how values between are found", "bilinear",
             choices=("bilinear", "bicubic")),
    ),
    shape=_resize_shape,
    work=lambda c: (BLEND if c["kind"] == "bilinear" else 4 * BLEND) * _resize_shape(c)[0].numel(),
    text=lambda c: rf"resize to ${c['height'].tex(c.tex)} \times {c['width'].tex(c.tex)}$",
    value=lambda c, x, w: [
        resampling(x[0].shape[-2], c.number("height"), c["kind"]) @ x[0]
        @ resampling(x[0].shape[-1], c.number("width"), c["kind"]).T
    ],
    examples=(
        Example([["d_m", "h", "w"]], [["d_m", "P", "k"]], {"height": "P", "width": "k"},
                flops="8 k P d_m", label=r"resize to $P \times k$"),
        Example([[3, 8, 8]], [[3, 2, 4]], {"height": 2, "width": 4, "kind": "bicubic"}, flops=768),
    ),
)
