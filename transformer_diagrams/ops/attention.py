"""Attention over positions, and the axis of heads that it works on."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np, seen_in, softmax
from transformer_diagrams.ops.elementwise import SOFTMAX_COST
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
from transformer_diagrams.ops.rules import TARGETS_LAST, aligned, unify

op = family("attention", Op)

HEADS = Attr("heads", "dim", "number of heads", required=True)

# -- heads ----------------------------------------------------------------------------------------


def _split_heads_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 2)
    heads: Dim = c["heads"]
    width = c.require_divides(heads, c.last(), c.axis_of(0, x.ndim - 1), near="heads")
    if c["order"] == "heads_first":
        return (Shape((*x.dims[:-2], heads, x.dims[-2], width), x.lead),)
    return (Shape((*x.dims[:-1], heads, width), x.lead),)


def _split_heads_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, heads = inputs[0], c.number("heads")
    split = x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads)
    return [split.swapaxes(-2, -3) if c["order"] == "heads_first" else split]


op(
    name="split_heads",
    does=("cut-heads",),
    summary="Cut the width into heads, head-major: [d, h k] -> [h, d, k].",
    attrs=(
        HEADS,
        Attr("order", "enum", "where the axis of heads goes: before the positions, or after",
             "heads_first", choices=("heads_first", "heads_last")),
    ),
    shape=_split_heads_shape,
    text="split heads",
    value=_split_heads_value,
    examples=(
        Example([["d_t", "n_h d_K"]], [["n_h", "d_t", "d_K"]], {"heads": "n_h"},
                label="split heads"),
        Example([[3, 8]], [[2, 3, 4]], {"heads": 2}),
        Example([[5, 3, 8]], [[5, 3, 2, 4]], {"heads": 2, "order": "heads_last"}),
    ),
)


def _merge_heads_shape(c: Call) -> tuple[Shape, ...]:
    heads, positions, width = c.need_axes(0, 3).dims[-3:]
    return (Shape((*c.x.dims[:-3], positions, heads * width), c.x.lead),)


def _merge_heads_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x = inputs[0].swapaxes(-2, -3)
    return [x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])]


op(
    name="merge_heads",
    does=("form",),
    summary="The heads side by side, head-major: [h, d, v] -> [d, h v].",
    shape=_merge_heads_shape,
    text="concat heads",
    value=_merge_heads_value,
    examples=(
        Example([["n_h", "d_t", "d_V"]], [["d_t", "n_h d_V"]], label="concat heads"),
        Example([[2, 3, 4]], [[3, 8]]),
    ),
)


def _repeat_groups_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 3)
    heads: Dim = c["heads"]
    c.require_multiple(heads, x.dims[-3], "heads", c.axis_of(0, x.ndim - 3))
    return (Shape((*x.dims[:-3], heads, *x.dims[-2:]), x.lead),)


op(
    name="repeat_groups",
    does=("share-heads",),
    summary="Each key/value head serves several consecutive query heads: [g, d, k] -> "
    "[h, d, k] (arXiv:2305.13245).",
    attrs=(Attr("heads", "dim", "number of query heads", required=True),),
    shape=_repeat_groups_shape,
    text="share in groups",
    value=lambda c, x, w: [x[0].repeat(c.number("heads") // x[0].shape[-3], axis=-3)],
    examples=(
        Example([["n_h/q", "d_s", "d_K"]], [["n_h", "d_s", "d_K"]], {"heads": "n_h"},
                label="share in groups"),
        Example([[2, 3, 4]], [[6, 3, 4]], {"heads": 6}),
    ),
)

# -- scores, softmax, mean of values --------------------------------------------------------------


_WHY = {
    "k": "queries and keys share their width d_K",
    "s": "keys and values share their positions d_s",
    "g": "keys and values have the same heads",
}


def _core(c: Call) -> tuple[Shape, Dim, Dim]:
    """(the output, the number of scores, the widths of query and value summed)."""
    c.need_axes(0, 2)
    c.need_axes(1, 2)
    q, k = c.inputs[:2]
    if q.ndim > 2 and k.ndim > 2:
        bound = unify(c, "...B h t k", "...B g s k", "...B g s v", why=_WHY)
        places = bound.places
        c.require_multiple(bound["h"], bound["g"], places["h"], places["g"])
    elif k.ndim == 2 and k.lead is None:  # one key head for all
        bound = unify(c, "... t k", "s k", "s v", why=_WHY)
    else:
        bound = unify(c, "...B t k", "...B s k", "...B s v", why=_WHY)
    if len(c.inputs) > 3:
        mask = c.need_axes(3, 2)
        why = "a mask or bias is [.., d_t, d_s]"
        for place, name in ((mask.ndim - 2, "t"), (mask.ndim - 1, "s")):
            c.require_equal(
                mask.dims[place], bound[name], c.axis_of(3, place), bound.places[name], why
            )
        _check_mask_heads(c)
    if _masks(c):
        c.require_at_most(bound["t"], bound["s"], TARGETS_LAST)
    pairs = Shape(q.dims[:-1]).numel() * bound["s"]
    return q.with_last(bound["v"]), pairs, bound["k"] + bound["v"]


def _check_mask_heads(c: Call) -> None:
    """Refuse a mask whose axes before [d_t, d_s] are neither 1 nor those of q."""
    q, mask = c.inputs[0], c.inputs[3]
    around = (Shape(q.dims[:-2], q.lead), Shape(mask.dims[:-2], mask.lead))
    _, stretched = aligned(
        c, around, (c.name(0), c.name(3)), after=2,
        why="a mask is the same for all heads, or has its rows for each of them",
    )
    if c.name(0) in stretched:
        raise OpFault(
            f"{c.name(3)} has more axes than {c.name(0)} has heads ({c.shown()})",
            "a mask is [d_t, d_s], or has the axes of q before them",
        )


def _masks(c: Call) -> bool:
    return bool(c["causal"]) or c["window"] is not None or c["chunk"] is not None


def _core_work(c: Call) -> Dim:
    """Beside the products: the scale, each mask, and the softmax of every score."""
    each = 1 + int(_masks(c)) + int(len(c.inputs) > 3) + SOFTMAX_COST
    return each * _core(c)[1]


def _core_seen(c: Call) -> Seen:
    target, source = c.x.dims[-2], c.inputs[1].dims[-2]
    return Seen(
        target, source, source, causal=_masks(c), window=c["window"], chunk=c["chunk"]
    )


def _core_label(c: Call) -> str:
    if c["window"] is not None:
        return "Sliding-window attention"
    if c["chunk"] is not None:
        return "Chunked attention"
    return "Causal attention" if c["causal"] else "Attention"


def _core_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    q, k, v = inputs[:3]
    if q.ndim > 2 and k.ndim > 2:
        times = q.shape[-3] // k.shape[-3]
        k, v = k.repeat(times, axis=-3), v.repeat(times, axis=-3)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if len(inputs) > 3:
        scores = scores + inputs[3]
    if _masks(c):
        window, chunk = (None if c[n] is None else c.number(n) for n in ("window", "chunk"))
        scores = np.where(seen_in(scores, window, chunk), scores, -np.inf)
    return [softmax(scores) @ v]


op(
    name="attention_core",
    does=("core", "product"),
    summary="softmax(Q K^T / sqrt(d_K) + mask) V in each head; key/value heads may be fewer "
    "than query heads (arXiv:1706.03762, section 3.2.1; arXiv:2305.13245).",
    role="attention",
    inputs=("q", "k", "v", "mask"),
    ordered=True,
    optional=1,
    attrs=(
        Attr("causal", "bool", "a position sees only itself and earlier ones", False),
        Attr("window", "dim", "how many positions back it sees, with itself (and causal)"),
        Attr("chunk", "dim", "positions of one chunk; a position sees earlier ones of its own"),
    ),
    shape=lambda c: (_core(c)[0],),
    macs=lambda c: _core(c)[1] * _core(c)[2],
    work=_core_work,
    mask=_core_seen,
    text=_core_label,
    value=_core_value,
    examples=(
        Example(
            [["n_h", "d_t", "d_K"], ["n_h", "d_s", "d_K"], ["n_h", "d_s", "d_V"]],
            [["n_h", "d_t", "d_V"]], {"causal": True}, flops="n_h d_t d_s (2 d_K + 2 d_V + 7)",
            label="Causal attention",
        ),
        Example([[6, 3, 4], [2, 5, 4], [2, 5, 7]], [[6, 3, 7]], flops=2520, label="Attention"),
        Example([[2, 5, 4], [5, 4], [5, 4]], [[2, 5, 4]], {"window": 2}, flops=414),
    ),
)
