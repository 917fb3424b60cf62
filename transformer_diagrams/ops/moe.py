"""Mixtures of experts: scores of experts, a bank of them, their weighted sum."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, minimum
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np, softmax
from transformer_diagrams.ops.elementwise import FORM, activate, factor_of
from transformer_diagrams.ops.registry import (
    Attr,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    Weight,
    family,
)
from transformer_diagrams.ops.rules import affine, rows, unify

op = family("moe", Op)

EXPERTS = Attr("experts", "dim", "number of experts N", required=True)
TOP = Attr("top_k", "dim", "experts that a token meets, K", required=True)


def _chosen(c: Call) -> Dim:
    """K, which is at most N."""
    c.require_at_most(c["top_k"], c["experts"], "a token cannot meet more experts than there are")
    return c.size("top_k")


# -- router ---------------------------------------------------------------------------------------


def _router_shape(c: Call) -> tuple[Shape, ...]:
    c.last()
    out = c.x.with_last(_chosen(c))
    return (out, out)


def _router_work(c: Call) -> Dim:
    """Top-k of the scores; of those, a softmax, or sigmoids over their sum."""
    each = 5 if c["score"] == "softmax" else 3
    return rows(c.x) * (c.size("experts") + each * _chosen(c))


def _router_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    scores = inputs[0] @ weights["W_r"] + weights.get("b", 0)
    index = np.argsort(-scores, axis=-1, kind="stable")[..., : c.number("top_k")]
    kept = np.take_along_axis(scores, index, axis=-1)
    if c["score"] == "softmax":
        return [softmax(kept), index]
    gates = activate("sigmoid", kept)
    return [gates / gates.sum(axis=-1, keepdims=True), index]


op(
    name="router",
    does=("router",),
    summary="Scores of N experts for each token; the top K of them as indices, and their "
    "gates, which sum to 1. A bias that only steers the selection is a buffer, no parameter.",
    role="topk",
    param_role="router",
    outputs=("gates", "index"),
    whole=("index",),
    attrs=(
        EXPERTS,
        TOP,
        Attr("score", "enum", "how the scores of the chosen become gates", "softmax",
             choices=("softmax", "sigmoid")),
        Attr("bias", "bool", "a learned bias on the scores", False),
    ),
    shape=_router_shape,
    weights=lambda c: affine(c, c.last(), c["experts"], bias=c["bias"], name="W_r"),
    macs=lambda c: rows(c.x) * c.last() * c["experts"],
    work=_router_work,
    text=lambda c: f"Router, top-${c['top_k'].tex(c.tex)}$",
    value=_router_value,
    examples=(
        Example([["d_t", "d_m"]], [["d_t", "K"], ["d_t", "K"]],
                {"experts": "N", "top_k": "K"}, params="d_m N",
                flops="2 d_t d_m N + d_t N + 5 d_t K",
                label="Router, top-$K$"),
        Example([[3, 4]], [[3, 2], [3, 2]], {"experts": 8, "top_k": 2, "bias": True},
                params=40, flops=246),
        Example([[3, 4]], [[3, 2], [3, 2]], {"experts": 8, "top_k": 2, "score": "sigmoid"},
                params=32, flops=234),
    ),
)

# -- groups of experts ----------------------------------------------------------------------------

_GROUP_SCORES = ("max", "top2")


def _keep_groups_shape(c: Call) -> tuple[Shape, ...]:
    groups: Dim = c["groups"]
    c.require_divides(groups, c.last(), c.axis_of(0, c.x.ndim - 1), near="groups")
    c.require_at_most(c["keep"], groups, "cannot keep more groups than there are")
    return (c.x,)


def _keep_groups_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, groups = inputs[0], c.number("groups")
    parts = x.reshape(*x.shape[:-1], groups, -1)
    best = np.sort(parts, axis=-1)[..., -2:] if c["by"] == "top2" else parts.max(-1, keepdims=True)
    order = np.argsort(-best.sum(axis=-1), axis=-1, kind="stable")[..., : c.number("keep")]
    kept = np.zeros((*x.shape[:-1], groups), dtype=bool)
    np.put_along_axis(kept, order, True, axis=-1)
    return [np.where(kept[..., None], parts, -np.inf).reshape(x.shape)]


op(
    name="keep_groups",
    summary="Scores of experts in equal groups: those outside the best groups become minus "
    "infinity. A group is as good as its best expert (`max`, arXiv:2405.04434) or as the sum "
    "of its best two (`top2`, arXiv:2412.19437).",
    role="topk",
    attrs=(
        Attr("groups", "dim", "number of groups of experts", required=True),
        Attr("keep", "dim", "groups that stay", required=True),
        Attr("by", "enum", "what a group is judged by", "max", choices=_GROUP_SCORES),
    ),
    shape=_keep_groups_shape,
    work=lambda c: c.x.numel(),
    text=lambda c: f"best ${c['keep'].tex(c.tex)}$ of ${c['groups'].tex(c.tex)}$ groups",
    value=_keep_groups_value,
    examples=(
        Example([["d_t", "8 q"]], [["d_t", "8 q"]], {"groups": 8, "keep": 4},
                flops="8 d_t q", label="best $4$ of $8$ groups"),
        Example([[3, 8]], [[3, 8]], {"groups": 4, "keep": 2, "by": "top2"}, flops=24),
    ),
)

# -- experts --------------------------------------------------------------------------------------


def _expert_weights(c: Call) -> list[Weight]:
    """Up to six tensors of the whole bank; a token meets K of N slices of each."""
    n, m, hidden = c["experts"], c.last(), c["hidden"]
    share = (_chosen(c), n)
    ways_in = ("gate", "up") if c["gated"] else ("in",)
    way_out = "down" if c["gated"] else "out"
    found = [Weight(f"W_{way}", Shape((n, m, hidden)), share) for way in ways_in]
    found.append(Weight(f"W_{way_out}", Shape((n, hidden, m)), share))
    if c["bias"]:
        found += [Weight(f"b_{way}", Shape((n, hidden)), share) for way in ways_in]
        found.append(Weight(f"b_{way_out}", Shape((n, m)), share))
    return found


def _expert_shape(c: Call) -> tuple[Shape, ...]:
    m, chosen = c.last(), _chosen(c)
    if len(c.inputs) > 1:
        bound = unify(c, "...T m", "...T k", why="each token has its row of indices")
        if bound["k"] != minimum(chosen, c["experts"]):  # what the op `top_k` gives
            c.require_equal(bound["k"], chosen, bound.places["k"], "top_k")
    return (Shape((*c.x.dims[:-1], chosen, m), c.x.lead),)


def _hidden_units(c: Call) -> Dim:
    """Of all experts that all tokens meet."""
    return rows(c.x) * _chosen(c) * c.size("hidden")


def _expert_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, n = inputs[0], c.number("experts")
    if len(inputs) == 1 and c.number("top_k") < n:
        raise OpFault("which experts a token meets is not known", "give the index as an input")
    index = inputs[1] if len(inputs) > 1 else np.broadcast_to(np.arange(n), (*x.shape[:-1], n))

    def through(way: str, y: Array) -> Array:
        made = (y[..., None, :] @ weights[f"W_{way}"][index])[..., 0, :]
        return made + (weights[f"b_{way}"][index] if c["bias"] else 0)

    copies = np.broadcast_to(x[..., None, :], (*index.shape, x.shape[-1]))
    if not c["gated"]:
        return [through("out", activate(c["act"], through("in", copies), c["form"]))]
    gate, up = through("gate", copies), through("up", copies)
    if c["limit"] is not None:
        gate, up = np.minimum(gate, c["limit"]), np.clip(up, -c["limit"], c["limit"])
    if c["alpha"] is None:
        gate = activate(c["act"], gate, c["form"])
    else:
        gate = gate * activate("sigmoid", c["alpha"] * gate)
    return [through("down", gate * (up + c["shift"]))]


op(
    name="experts",
    does=("experts",),
    summary="A bank of N feed-forward experts; each token meets K of them, by index: "
    "[d, m] -> [d, K, m].",
    role="ffn",
    param_role="routed_experts",
    inputs=("x", "index"),
    whole=("index",),
    optional=1,
    attrs=(
        EXPERTS,
        Attr("hidden", "dim", "hidden width d_e of one expert", required=True),
        TOP,
        Attr("gated", "bool", "experts of three matrices with a gate, else of two", True),
        Attr("act", "enum", "activation", "silu", choices=("silu", "gelu", "relu")),
        Attr("bias", "bool", "biases on all matrices", False),
        FORM,
        Attr("alpha", "float", "the gate is x sigmoid(alpha x), instead of `act`"),
        Attr("limit", "float", "both ways in stay below it, and the linear one above its negative"),
        Attr("shift", "float", "added to the linear way in", 0),
    ),
    shape=_expert_shape,
    weights=_expert_weights,
    macs=lambda c: (3 if c["gated"] else 2) * _hidden_units(c) * c.last(),
    work=lambda c: (2 if c["gated"] else 1) * _hidden_units(c),
    text="Experts",
    value=_expert_value,
    below=lambda c: c["experts"],
    examples=(
        Example([["d_t", "d_m"], ["d_t", "K"]], [["d_t", "K", "d_m"]],
                {"experts": "N", "hidden": "d_e", "top_k": "K"}, params="3 N d_m d_e",
                flops="6 d_t K d_m d_e + 2 d_t K d_e", label="Experts"),
        Example([[3, 4], [3, 2]], [[3, 2, 4]], {"experts": 8, "hidden": 5, "top_k": 2},
                params=480, flops=780),
        Example([[3, 4], [3, 2]], [[3, 2, 4]],
                {"experts": 8, "hidden": 5, "top_k": 2, "gated": False, "bias": True},
                params=392, flops=510),
    ),
)

# -- weighted sum ---------------------------------------------------------------------------------


def _combine_shape(c: Call) -> tuple[Shape, ...]:
    bound = unify(c, "...T k m", "...T k", why="each output of an expert has one gate")
    return (bound.shape("...T m"),)


op(
    name="combine",
    does=("experts-sum",),
    summary="Sum of the chosen experts' outputs, each times its gate: [d, K, m], [d, K] -> "
    "[d, m].",
    inputs=("x", "gates"),
    shape=_combine_shape,
    macs=lambda c: c.x.numel(),
    attrs=(Attr("times", "str", "the sum is multiplied by this", "1", constant=True),),
    text="weighted sum",
    value=lambda c, x, w: [(x[0] * x[1][..., None]).sum(axis=-2) * factor_of(c, "times")],
    examples=(
        Example([["d_t", "K", "d_m"], ["d_t", "K"]], [["d_t", "d_m"]], flops="2 d_t K d_m",
                label="weighted sum"),
        Example([[3, 2, 4], [3, 2]], [[3, 4]], flops=48),
    ),
)
