"""Element by element: sums, products, scales, activations, dropout."""

from __future__ import annotations

from collections.abc import Callable

from transformer_diagrams.dims import Dim, const
from transformer_diagrams.ops.registry import Attr, Call, Op, Shape, Weight, register
from transformer_diagrams.ops.rules import all_equal, broadcast, last_axis


def _more(c: Call) -> Dim:
    return all_equal(c).numel() * (len(c.inputs) - 1)


for _name, _symbol, _words in (
    ("add", "+", "Sum of equal shapes: residual, bias, position."),
    ("mul", "×", "Product element by element: gating."),
):
    register(
        Op(
            name=_name,
            summary=_words,
            family="elementwise",
            inputs=("a", "b"),
            variadic=True,
            shape=lambda c: (all_equal(c),),
            work=_more,
            form="circle",
            symbol=_symbol,
            text=_symbol,
            example={
                "inputs": [[3, 4], [3, 4]],
                "attrs": {},
                "outputs": [[3, 4]],
                "params": 0,
                "flops": 12,
            },
        )
    )

register(
    Op(
        name="sub",
        summary="Difference of equal shapes.",
        family="elementwise",
        inputs=("a", "b"),
        shape=lambda c: (broadcast(c, 0, 1),),
        work=lambda c: broadcast(c, 0, 1).numel(),
        text="$-$",
        example={
            "inputs": [[3, 4], [3, 4]],
            "attrs": {},
            "outputs": [[3, 4]],
            "params": 0,
            "flops": 12,
        },
    )
)


def _scale_weights(c: Call) -> list[Weight]:
    if not c.attr("learned", False):
        return []
    return [Weight("scale", Shape((c.attr("count", const(1)),)))]


def _scale_label(c: Call) -> str:
    by = c.attr("by", "")
    return f"scale ${_by_tex(by)}$" if by else "scale"


def _by_tex(by: str) -> str:
    """``1/sqrt(d_K)`` -> ``1/\\sqrt{d_K}``; TeX stays as it is."""
    text = str(by)
    if "\\" in text:
        return text
    out, rest = "", text
    while "sqrt(" in rest:
        head, _, rest = rest.partition("sqrt(")
        inner, _, rest = rest.partition(")")
        out += head + "\\sqrt{" + inner + "}"
    return (out + rest).replace("*", "\\,")


register(
    Op(
        name="scale",
        summary="Multiply by one number, e.g. 1/sqrt(d_K); `learned` makes it a parameter.",
        family="elementwise",
        attrs=(
            Attr("by", "str", "the factor, as text or TeX, for the label", ""),
            Attr("learned", "bool", "the factor is learned", False),
            Attr("count", "dim", "how many learned factors (e.g. one per head)", "1"),
        ),
        weights=_scale_weights,
        work=lambda c: c.x.numel(),
        text=_scale_label,
        example={
            "inputs": [[3, 4]],
            "attrs": {"by": "1/sqrt(d_K)"},
            "outputs": [[3, 4]],
            "params": 0,
            "flops": 12,
        },
    )
)


def _simple(
    name: str,
    summary: str,
    label: str,
    *,
    role: str = "plain",
    cost: int = 1,
    attrs: tuple[Attr, ...] = (),
    text: Callable[[Call], str] | None = None,
) -> None:
    register(
        Op(
            name=name,
            summary=summary,
            family="elementwise",
            role=role,
            attrs=attrs,
            work=lambda c: cost * c.x.numel(),
            text=text or label,
            example={
                "inputs": [[3, 4]],
                "attrs": {},
                "outputs": [[3, 4]],
                "params": 0,
                "flops": 12 * cost,
            },
        )
    )


_simple("neg", "Change of sign.", "negate")
_simple("identity", "The tensor itself: a named place to branch from.", "identity", cost=0)
_simple(
    "softcap",
    "cap · tanh(x / cap): keeps values within ±cap.",
    "softcap",
    attrs=(Attr("cap", "float", "the bound", 0),),
    text=lambda c: f"softcap ${c.attr('cap'):g}$" if c.attr("cap", 0) else "softcap",
)
_simple(
    "clamp",
    "Cut values to a range.",
    "clamp",
    attrs=(Attr("low", "float", "lower bound"), Attr("high", "float", "upper bound")),
)
_simple("relu", "max(0, x).", "ReLU", role="activation")
_simple(
    "gelu", "x Phi(x), Phi the normal distribution (arXiv:1606.08415).", "GELU", role="activation"
)
_simple("silu", "x sigmoid(x) (arXiv:1702.03118).", "SiLU", role="activation")
_simple("sigmoid", "1 / (1 + exp(-x)).", "sigmoid", role="activation")
_simple("tanh", "Hyperbolic tangent.", "tanh", role="activation")
_simple("stop_gradient", "The tensor itself; no gradient flows back.", "stop gradient", cost=0)
_simple(
    "dropout",
    "Sets elements to zero at random, in training only.",
    "dropout",
    cost=0,
    attrs=(Attr("p", "float", "the share set to zero"),),
)


register(
    Op(
        name="softmax",
        summary="exp(x) over its sum along one axis (default: the last).",
        family="elementwise",
        role="activation",
        attrs=(Attr("axis", "int", "the axis that sums to 1", -1),),
        shape=lambda c: (c.axis(0, c.attr("axis", -1)), (c.x,))[1],
        work=lambda c: 5 * c.x.numel(),
        text="softmax",
        example={"inputs": [[3, 4]], "attrs": {}, "outputs": [[3, 4]], "params": 0, "flops": 60},
    )
)


def _glu_shape(c: Call) -> tuple[Shape, ...]:
    if len(c.inputs) == 2:
        return (broadcast(c, 0, 1),)
    return (c.x.with_last(c.require_divides(const(2), last_axis(c), "last axis of x")),)


def _glu_work(c: Call) -> Dim:
    return 2 * _glu_shape(c)[0].numel()


register(
    Op(
        name="glu",
        summary="act(gate) · up; from two tensors, or from one cut in half (arXiv:2002.05202).",
        family="elementwise",
        role="activation",
        inputs=("gate", "up"),
        optional=1,
        attrs=(
            Attr(
                "act",
                "enum",
                "activation of the gate",
                "silu",
                choices=("silu", "gelu", "relu", "sigmoid", "identity"),
            ),
        ),
        shape=_glu_shape,
        work=_glu_work,
        text=lambda c: {"silu": "SwiGLU", "gelu": "GeGLU", "relu": "ReGLU"}.get(
            str(c.attr("act", "silu")), "GLU"
        ),
        example={
            "inputs": [[3, 4], [3, 4]],
            "attrs": {},
            "outputs": [[3, 4]],
            "params": 0,
            "flops": 24,
        },
    )
)
