"""Mixtures of experts: router, bank of experts, weighted sum."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, minimum
from transformer_diagrams.ops.registry import Attr, Call, Op, Shape, Weight, register
from transformer_diagrams.ops.rules import last_axis, rows

COUNT = Attr("experts", "dim", "number of experts N", required=True)
TOP = Attr("top_k", "dim", "experts that a token meets", required=True)


def _router_shape(c: Call) -> tuple[Shape, ...]:
    chosen = minimum(c["top_k"], c["experts"])
    out = c.x.with_last(chosen)
    return (out, out)


def _router_weights(c: Call) -> list[Weight]:
    found = [Weight("W_r", Shape((last_axis(c), c["experts"])))]
    if c.attr("bias", False):
        found.append(Weight("b_r", Shape((c["experts"],))))
    return found


register(
    Op(
        name="router",
        summary="Scores of N experts for each token, the top k of them and their gates: gates and "
        "indices [d, k]. A bias used for the selection only is a buffer, not a weight.",
        family="moe",
        role="topk",
        param_role="router",
        outputs=("gates", "index"),
        attrs=(
            COUNT,
            TOP,
            Attr(
                "score",
                "enum",
                "how scores become gates",
                "softmax",
                choices=("softmax", "sigmoid"),
            ),
            Attr("bias", "bool", "a learned bias on the scores", False),
        ),
        shape=_router_shape,
        weights=_router_weights,
        work=lambda c: 2 * rows(c.x) * last_axis(c) * c["experts"],
        text=lambda c: f"Router, top-${c['top_k'].tex()}$",
        example={
            "inputs": [[3, 4]],
            "attrs": {"experts": 8, "top_k": 2},
            "outputs": [[3, 2], [3, 2]],
            "params": 32,
            "flops": 192,
        },
    )
)


def _expert_weights(c: Call) -> list[Weight]:
    n, d, h = c["experts"], last_axis(c), c["hidden"]
    share: tuple[Dim, Dim] = (c["top_k"], n)
    gated = c.attr("gated", True)
    found = [
        Weight("W_in", Shape((n, d, 2 * h if gated else h)), share),
        Weight("W_out", Shape((n, h, d)), share),
    ]
    if c.attr("bias", False):
        found += [
            Weight("b_in", Shape((n, 2 * h if gated else h)), share),
            Weight("b_out", Shape((n, d)), share),
        ]
    return found


def _expert_shape(c: Call) -> tuple[Shape, ...]:
    if len(c.inputs) < 2:
        return (Shape((*c.x.dims[:-1], c["top_k"], last_axis(c)), c.x.lead),)
    chosen = c.inputs[1].dims[-1]
    return (Shape((*c.x.dims[:-1], chosen, last_axis(c)), c.x.lead),)


def _expert_work(c: Call) -> Dim:
    factor = 3 if c.attr("gated", True) else 2
    return 2 * factor * rows(c.x) * c["top_k"] * last_axis(c) * c["hidden"]


register(
    Op(
        name="experts",
        summary="A bank of N feed-forward experts of hidden width `hidden`; each token is sent to "
        "top_k of them: [d, m] -> [d, k, m].",
        family="moe",
        role="ffn",
        param_role="routed_experts",
        inputs=("x", "index"),
        optional=1,
        attrs=(
            COUNT,
            Attr("hidden", "dim", "hidden width d_e of one expert", required=True),
            TOP,
            Attr("gated", "bool", "gated experts of three matrices, else two", True),
            Attr("bias", "bool", "biases on all matrices", False),
        ),
        shape=_expert_shape,
        weights=_expert_weights,
        work=_expert_work,
        text="Experts",
        example={
            "inputs": [[3, 4], [3, 2]],
            "attrs": {"experts": 8, "hidden": 5, "top_k": 2},
            "outputs": [[3, 2, 4]],
            "params": 480,
            "flops": 720,
        },
    )
)


def _combine_shape(c: Call) -> tuple[Shape, ...]:
    x, gates = c.need_axes(0, 2), c.inputs[1]
    c.require_equal(
        x.dims[-2],
        gates.dims[-1],
        f"axis {x.ndim - 1} of x {x}",
        f"axis {gates.ndim} of gates {gates}",
    )
    return (Shape((*x.dims[:-2], x.dims[-1]), x.lead),)


register(
    Op(
        name="combine",
        summary="Sum of the chosen experts' outputs, each times its gate: [d, k, m] -> [d, m].",
        family="moe",
        inputs=("x", "gates"),
        shape=_combine_shape,
        work=lambda c: 2 * c.x.numel(),
        text="weighted sum",
        example={
            "inputs": [[3, 2, 4], [3, 2]],
            "attrs": {},
            "outputs": [[3, 4]],
            "params": 0,
            "flops": 48,
        },
    )
)
