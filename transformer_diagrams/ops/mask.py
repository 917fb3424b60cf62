"""Who may see whom: masks as tensors, and masks added to scores."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, allowed, np, seen_in
from transformer_diagrams.ops.pairs import Seen
from transformer_diagrams.ops.registry import (
    Attr,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    family,
)
from transformer_diagrams.ops.rules import TARGETS_LAST, causal_scores, every_input, unify

op = family("mask", Op)

TARGET = Attr("target", "dim", "target positions", required=True)
SOURCE = Attr("source", "dim", "source positions", required=True)


def _as_mask(seen: Array) -> Array:
    return np.where(seen, 0.0, -np.inf)


def _source_shape(c: Call) -> tuple[Shape, ...]:
    c.require_at_most(c["target"], c["source"], TARGETS_LAST)
    return (Shape((c["target"], c["source"])),)


def _source_seen(c: Call, window: Dim | None = None) -> Seen:
    return Seen(c["target"], c["source"], c["source"], causal=True, window=window)


op(
    name="causal_mask",
    does=("causal",),
    summary="0 where the source is not later than the target, else minus infinity.",
    role="mask",
    inputs=(),
    attrs=(TARGET, SOURCE),
    shape=_source_shape,
    mask=_source_seen,
    text="causal mask",
    value=lambda c, x, w: [_as_mask(allowed(c.number("target"), c.number("source")))],
    examples=(
        Example([], [["d_t", "d_s"]], {"target": "d_t", "source": "d_s"}, label="causal mask"),
        Example([], [[3, 5]], {"target": 3, "source": 5}),
    ),
)

op(
    name="window_mask",
    does=("window",),
    summary="0 for the last `window` sources up to the target, else minus infinity.",
    role="mask",
    inputs=(),
    attrs=(
        TARGET,
        SOURCE,
        Attr("window", "dim", "how many positions back it sees, with itself", required=True),
    ),
    shape=_source_shape,
    mask=lambda c: _source_seen(c, c["window"]),
    text="sliding-window mask",
    value=lambda c, x, w: [
        _as_mask(allowed(c.number("target"), c.number("source"), c.number("window")))
    ],
    examples=(
        Example([], [["d_t", "d_s"]], {"target": "d_t", "source": "d_s", "window": "w"},
                label="sliding-window mask"),
        Example([], [[3, 5]], {"target": 3, "source": 5, "window": 2}),
    ),
)

# -- added to scores ------------------------------------------------------------------------------

_KINDS = {"causal": "causal mask", "window": "sliding-window mask", "chunk": "chunked mask",
          "padding": "padding mask"}


def _mask_add_shape(c: Call) -> tuple[Shape, ...]:
    scores = c.need_axes(0, 2)
    if len(c.inputs) == 1:
        if c["kind"] == "window" and c["window"] is None:
            raise OpFault("a sliding-window mask needs its `window`", "window: how far it sees")
        if c["kind"] == "chunk" and c["chunk"] is None:
            raise OpFault("a chunked mask needs its `chunk`", "chunk: positions of one chunk")
        _mask_add_seen(c)
        return (scores,)
    mask = c.need_axes(1, 2)
    if mask.ndim > scores.ndim and scores.lead is None:
        raise OpFault(
            f"the mask has more axes than the scores ({c.shown()})",
            "a mask is [d_t, d_s], or [n_h, d_t, d_s]",
        )
    for back in range(1, min(mask.ndim, scores.ndim) + 1):
        size = mask.dims[-back]
        if size.as_int() == 1 and back > 2:  # one mask for all heads
            continue
        c.require_equal(
            scores.dims[-back], size,
            c.axis_of(0, scores.ndim - back), c.axis_of(1, mask.ndim - back),
            "a mask has the positions of the scores",
        )
    return (scores,)


def _mask_add_seen(c: Call) -> Seen | None:
    if len(c.inputs) > 1 or c["kind"] == "padding":
        return None  # a mask that is an input says itself what it leaves
    kind = c["kind"]
    return causal_scores(
        c, c["window"] if kind == "window" else None, c["chunk"] if kind == "chunk" else None
    )


def _mask_add_label(c: Call) -> str:
    return "mask" if len(c.inputs) > 1 else _KINDS[c["kind"]]


def _mask_add_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    if len(inputs) > 1:
        return [inputs[0] + inputs[1]]
    if c["kind"] == "padding":
        raise OpFault("which positions are padding is not known", "give the mask as an input")
    window = c.number("window") if c["kind"] == "window" else None
    chunk = c.number("chunk") if c["kind"] == "chunk" else None
    return [inputs[0] + _as_mask(seen_in(inputs[0], window, chunk))]


op(
    name="mask_add",
    hands_on=every_input,
    does=("sum",),
    summary="Add a mask to scores, the same for every head: the second input, or the one that "
    "`kind` names.",
    role="mask",
    inputs=("scores", "mask"),
    optional=1,
    attrs=(
        Attr("kind", "enum", "which mask, when it is not an input", "causal",
             choices=tuple(_KINDS)),
        Attr("window", "dim", "how many positions back a window sees, with itself",
             only=("kind", "window")),
        Attr("chunk", "dim", "positions of one chunk; a position sees earlier ones of its own",
             only=("kind", "chunk")),
    ),
    shape=_mask_add_shape,
    mask=_mask_add_seen,
    work=lambda c: c.x.numel(),
    text=_mask_add_label,
    value=_mask_add_value,
    examples=(
        Example([["n_h", "d_t", "d_s"]], [["n_h", "d_t", "d_s"]], flops="n_h d_t d_s",
                label="causal mask"),
        Example([[2, 3, 5], [3, 5]], [[2, 3, 5]], flops=30, label="mask"),
        Example([[3, 5]], [[3, 5]], {"kind": "window", "window": 2}, flops=6,
                label="sliding-window mask"),
        Example([[3, 5]], [[3, 5]], {"kind": "chunk", "chunk": 2}, flops=4,
                label="chunked mask"),
    ),
)


def _scatter_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    mask = np.full((*inputs[0].shape[:-1], c.number("size")), -np.inf)
    np.put_along_axis(mask, inputs[0], 0.0, axis=-1)
    return [mask]


def _scatter_shape(c: Call) -> tuple[Shape, ...]:
    c.last()
    return (c.x.with_last(c["size"]),)


def _scatter_seen(c: Call) -> Seen | None:
    if c.x.ndim < 2:
        return None
    return Seen(c.x.dims[-2], c["size"], c["size"], picks=c.last())


op(
    name="scatter_mask",
    does=("chosen-mask",),
    summary="A mask from the indices that may be seen: 0 there, minus infinity elsewhere; "
    "[t, k] -> [t, size].",
    role="mask",
    inputs=("index",),
    whole=("index",),
    attrs=(Attr("size", "dim", "source positions", required=True),),
    shape=_scatter_shape,
    mask=_scatter_seen,
    text="mask from index",
    value=_scatter_value,
    below=lambda c: c["size"],
    examples=(
        Example([["d_t", "k"]], [["d_t", "d_s"]], {"size": "d_s"}, label="mask from index"),
        Example([[3, 2]], [[3, 5]], {"size": 5}),
    ),
)


def _threshold_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    seen = inputs[0] >= c["at"]
    return [_as_mask(seen | ~seen.any(axis=-1, keepdims=True))]


op(
    name="threshold_mask",
    summary="0 where a value is at least `at`, else minus infinity: a predicted mask as one of "
    "attention. A row that would leave nothing leaves all (arXiv:2112.01527).",
    role="mask",
    attrs=(Attr("at", "float", "the least value of what is seen", 0.0),),
    shape=lambda c: (c.need_axes(0, 1),),
    text=lambda c: rf"mask where $< {c['at']:g}$",
    value=_threshold_value,
    examples=(
        Example([["d_t", "d_s"]], [["d_t", "d_s"]], label="mask where $< 0$"),
        Example([[3, 5]], [[3, 5]], {"at": 0.5}),
    ),
)


def _pick_mask_shape(c: Call) -> tuple[Shape, ...]:
    unify(c, "... t k", "t k", why="each target has its row of picked sources")
    return (c.x,)


def _pick_mask_seen(c: Call) -> Seen:
    target, columns = c.x.dims[-2:]
    return Seen(target, c["source"], columns, causal=True, picks=columns)


def _pick_mask_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    scores, index = inputs
    target = np.arange(index.shape[0])[:, None] + c.number("source") - index.shape[0]
    return [np.where(index <= target, scores, -np.inf)]


op(
    name="pick_mask",
    hands_on=every_input,
    summary="Causal mask of scores of picked sources: minus infinity where the source that "
    "`index` names is later than the target; scores [.., t, k], index [t, k].",
    role="mask",
    inputs=("scores", "index"),
    whole=("index",),
    attrs=(SOURCE,),
    shape=_pick_mask_shape,
    mask=_pick_mask_seen,
    work=lambda c: c.x.numel(),
    text="causal mask",
    value=_pick_mask_value,
    below=lambda c: c["source"],
    examples=(
        Example([["n_h", "d_t", "k"], ["d_t", "k"]], [["n_h", "d_t", "k"]], {"source": "d_t"},
                flops="n_h min(d_t, k) (d_t - min(d_t, k) / 2 + 1/2)", label="causal mask"),
        Example([[2, 3, 4], [3, 4]], [[2, 3, 4]], {"source": 5}, flops=22),
    ),
)
