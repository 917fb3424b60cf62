"""Mixtures of experts: scores of experts, a bank of them, their weighted sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transformer_diagrams.dims import Dim, minimum
from transformer_diagrams.ops.registry import (
    Array,
    Attr,
    Call,
    Example,
    Op,
    Shape,
    Weight,
    register,
)
from transformer_diagrams.ops.rules import affine, rows, unify

EXPERTS = Attr("experts", "dim", "number of experts N", required=True)
TOP = Attr("top_k", "dim", "experts that a token meets, K", required=True)


def _chosen(c: Call) -> Dim:
    """K; all N where there are no more."""
    c.require_at_most(c["top_k"], c["experts"], "a token cannot meet more experts than there are")
    return minimum(c["top_k"], c["experts"])


# -- router ---------------------------------------------------------------------------------------


def _router_shape(c: Call) -> tuple[Shape, ...]:
    c.last()
    out = c.x.with_last(_chosen(c))
    return (out, out)


def _router_value(c: Call, inputs: Sequence[Array], weights: Mapping[str, Array]) -> list[Array]:
    import numpy as np

    scores = inputs[0] @ weights["W_r"] + weights.get("b", 0)
    index = np.argsort(-scores, axis=-1, kind="stable")[..., : c.number("top_k")]
    kept = np.take_along_axis(scores, index, axis=-1)
    if c["score"] == "sigmoid":
        gates = 1 / (1 + np.exp(-kept))
    else:
        gates = np.exp(kept - kept.max(axis=-1, keepdims=True))
    return [gates / gates.sum(axis=-1, keepdims=True), index]


register(
    Op(
        name="router",
        summary="Scores of N experts for each token; the top K of them as indices, and their gates, "
        "which sum to 1. A bias that serves the selection only is a buffer, not a parameter.",
        family="moe",
        role="topk",
        param_role="router",
        outputs=("gates", "index"),
        attrs=(
            EXPERTS,
            TOP,
            Attr("score", "enum", "how the scores of the chosen become gates", "softmax",
                 choices=("softmax", "sigmoid")),
            Attr("bias", "bool", "a learned bias on the scores", False),
        ),
        shape=_router_shape,
        weights=lambda c: affine(c, c.last(), c["experts"], bias=c["bias"], name="W_r"),
        work=lambda c: 2 * rows(c.x) * c.last() * c["experts"],
        products=True,
        text=lambda c: f"Router, top-${c['top_k'].tex(c.tex)}$",
        value=_router_value,
        examples=(
            Example([["d_t", "d_m"]], [["d_t", "min(K, N)"], ["d_t", "min(K, N)"]],
                    {"experts": "N", "top_k": "K"}, params="d_m N", flops="2 d_t d_m N",
                    label="Router, top-$K$"),
            Example([[3, 4]], [[3, 2], [3, 2]], {"experts": 8, "top_k": 2, "bias": True},
                    params=40, flops=192),
        ),
    )
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
        c.require_equal(bound["k"], chosen, bound.places["k"], "top_k")
    return (Shape((*c.x.dims[:-1], chosen, m), c.x.lead),)


def _expert_work(c: Call) -> Dim:
    """The matrices, and the activation: 1 FLOP a hidden unit, 2 with a gate."""
    matrices, act = (3, 2) if c["gated"] else (2, 1)
    met = rows(c.x) * _chosen(c) * c["hidden"]
    return 2 * matrices * met * c.last() + act * met


def _expert_value(c: Call, inputs: Sequence[Array], weights: Mapping[str, Array]) -> list[Array]:
    import numpy as np

    from transformer_diagrams.ops.elementwise import activate

    x, n = inputs[0], c.number("experts")
    index = inputs[1] if len(inputs) > 1 else np.broadcast_to(np.arange(n), (*x.shape[:-1], n))

    def through(way: str, y: Array) -> Array:
        made = (y[..., None, :] @ weights[f"W_{way}"][index])[..., 0, :]
        return made + (weights[f"b_{way}"][index] if c["bias"] else 0)

    copies = np.broadcast_to(x[..., None, :], (*index.shape, x.shape[-1]))
    if not c["gated"]:
        return [through("out", activate(c["act"], through("in", copies)))]
    return [through("down", activate(c["act"], through("gate", copies)) * through("up", copies))]


register(
    Op(
        name="experts",
        summary="A bank of N feed-forward experts; each token meets K of them, by index: "
        "[d, m] -> [d, K, m].",
        family="moe",
        role="ffn",
        param_role="routed_experts",
        inputs=("x", "index"),
        optional=1,
        attrs=(
            EXPERTS,
            Attr("hidden", "dim", "hidden width d_e of one expert", required=True),
            TOP,
            Attr("gated", "bool", "experts of three matrices with a gate, else of two", True),
            Attr("act", "enum", "activation", "silu", choices=("silu", "gelu", "relu")),
            Attr("bias", "bool", "biases on all matrices", False),
        ),
        shape=_expert_shape,
        weights=_expert_weights,
        work=_expert_work,
        products=True,
        text="Experts",
        value=_expert_value,
        examples=(
            Example([["d_t", "d_m"]], [["d_t", "min(K, N)", "d_m"]],
                    {"experts": "N", "hidden": "d_e", "top_k": "K"}, params="3 N d_m d_e",
                    flops="6 d_t min(K, N) d_m d_e + 2 d_t min(K, N) d_e", label="Experts"),
            Example([[3, 4], [3, 2]], [[3, 2, 4]], {"experts": 8, "hidden": 5, "top_k": 2},
                    params=480, flops=780),
            Example([[3, 4], [3, 2]], [[3, 2, 4]],
                    {"experts": 8, "hidden": 5, "top_k": 2, "gated": False, "bias": True},
                    params=392, flops=510),
        ),
    )
)

# -- weighted sum ---------------------------------------------------------------------------------


def _combine_shape(c: Call) -> tuple[Shape, ...]:
    bound = unify(c, "...T k m", "...T k", why="each output of an expert has one gate")
    return (bound.shape("...T m"),)


register(
    Op(
        name="combine",
        summary="Sum of the chosen experts' outputs, each times its gate: [d, K, m], [d, K] -> "
        "[d, m].",
        family="moe",
        inputs=("x", "gates"),
        shape=_combine_shape,
        work=lambda c: 2 * c.x.numel(),
        products=True,
        text="weighted sum",
        value=lambda c, x, w: [(x[0] * x[1][..., None]).sum(axis=-2)],
        examples=(
            Example([["d_t", "K", "d_m"], ["d_t", "K"]], [["d_t", "d_m"]], flops="2 d_t K d_m",
                    label="weighted sum"),
            Example([[3, 2, 4], [3, 2]], [[3, 4]], flops=48),
        ),
    )
)
