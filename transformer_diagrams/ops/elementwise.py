"""Element by element: sums, products, scales, activations, softmax, gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from math import erf, pi, sqrt
from operator import add, mul

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np, seen_in, softmax
from transformer_diagrams.ops.factor import decimal, read_factor
from transformer_diagrams.ops.registry import (
    ONE,
    TWO,
    Attr,
    Call,
    Example,
    Op,
    OpFault,
    Rule,
    Shape,
    Value,
    Weight,
    family,
)
from transformer_diagrams.ops.rotary import mscale
from transformer_diagrams.ops.rules import (
    aligned,
    axis_kept,
    causal_scores,
    every_input,
    need_inputs,
    per_element,
    stretch,
)
from transformer_diagrams.ops.shape import axis_attr

op = family("elementwise", Op)

# -- between tensors ------------------------------------------------------------------------------

BROADCAST = Attr("broadcast", "bool", "axes of 1, and missing ones, may be stretched", False)


def _joined(c: Call) -> tuple[Shape, ...]:
    need_inputs(c)
    return (stretch(c, quiet=c["broadcast"]),)


def _joined_work(c: Call) -> Dim:
    """One FLOP an element for each input beyond the first."""
    return _joined(c)[0].numel() * (len(c.inputs) - 1)


for _name, _does, _summary, _symbol, _value in (
    ("add", "sum", "Sum of tensors of one shape: residual, bias, position.", "+",
     lambda c, x, w: [reduce(add, x)]),
    ("mul", "gate", "Product element by element of tensors of one shape: gating.", "×",
     lambda c, x, w: [reduce(mul, x)]),
):
    op(
        name=_name,
        hands_on=every_input,
        does=(_does,),
        summary=_summary,
        inputs=("a", "b"),
        variadic=True,
        attrs=(BROADCAST,),
        shape=_joined,
        work=_joined_work,
        form="circle",
        symbol=_symbol,
        text=_symbol,
        value=_value,
        examples=(
            Example([["d_t", "d_m"]] * 2, [["d_t", "d_m"]], flops="d_t d_m", label=_symbol),
            Example([[3, 4]] * 3, [[3, 4]], flops=24),
            Example([[2, 3, 4], [3, 1], []], [[2, 3, 4]], {"broadcast": True}, flops=48),
        ),
    )

op(
    name="sub",
    hands_on=every_input,
    summary="Difference a - b of tensors of one shape.",
    inputs=("a", "b"),
    ordered=True,
    attrs=(BROADCAST,),
    shape=_joined,
    work=_joined_work,
    form="circle",
    symbol="−",
    text="−",
    value=lambda c, x, w: [x[0] - x[1]],
    examples=(
        Example([["d_t", "d_m"]] * 2, [["d_t", "d_m"]], flops="d_t d_m", label="−"),
        Example([[3, 4], [3, 4]], [[3, 4]], flops=12),
    ),
)

# -- scale ----------------------------------------------------------------------------------------


def _scale_shape(c: Call) -> tuple[Shape, ...]:
    if c["learned"] and c["count"] != ONE:
        c.need_axes(0, 3)
        place = c.x.ndim - 3
        c.require_equal(
            c.x.dims[place], c["count"], c.axis_of(0, place), "count",
            "there is one factor for each head",
        )
    return (c.x,)


def _scale_label(c: Call) -> str:
    by = c["by"]
    if not by:
        return r"scale $\tau$" if c["learned"] else "scale"
    factor = read_factor(by, c.tex)
    return f"scale ${factor.tex if factor else by}$"


def factor_of(c: Call, name: str) -> float:
    """The number that an attribute's formula is.

    :raises OpFault: when it is none.
    """
    read = read_factor(c[name])
    if read is None:
        raise OpFault(f"the factor '{c[name]}' is no formula", f"e.g. {name}: 1/sqrt(d_K)")
    return read.value(c.bindings)


def _scale_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    if c["learned"]:
        factor = weights["scale"]
        return [inputs[0] * (factor[:, None, None] if len(factor) > 1 else factor[0])]
    factor = factor_of(c, "by")
    if c["mscale"]:
        factor *= mscale(c["stretched"], c["mscale"]) ** 2
    return [inputs[0] * factor]


op(
    name="scale",
    hands_on=every_input,
    does=("rescale", "factor"),
    summary="Multiply by one number, such as 1/sqrt(d_K), or by a learned one for each head.",
    attrs=(
        Attr("by", "str", "the factor: a formula such as 1/sqrt(d_K) or d_m^-1/2, or TeX", "",
             shown="tex", constant=True),
        Attr("learned", "bool", "the factor is a learned number", False),
        Attr("count", "dim", "how many learned factors: 1, or one for each head", 1),
        Attr("stretched", "float", "of scores: the factor of yarn by which rotations are", 1),
        Attr("mscale", "float", "of scores: what yarn makes up for that by, and so squared"),
    ),
    shape=_scale_shape,
    weights=lambda c: [Weight("scale", Shape((c["count"],)))] if c["learned"] else [],
    work=per_element(1),
    text=_scale_label,
    value=_scale_value,
    examples=(
        Example([["n_h", "d_t", "d_s"]], [["n_h", "d_t", "d_s"]], {"by": "1/sqrt(d_K)"},
                flops="n_h d_t d_s", label=r"scale $1/\sqrt{d_K}$"),
        Example([[2, 3, 4]], [[2, 3, 4]], {"learned": True, "count": 2}, params=2, flops=24,
                label=r"scale $\tau$"),
        Example([[3, 4]], [[3, 4]], {"by": "16^-1/2"}, flops=12, label="scale $16^{-1/2}$"),
    ),
)

# -- one tensor, no shape change ------------------------------------------------------------------


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


FORM = Attr("form", "enum", "GELU as it is, or what comes near: by tanh, by tanh with "
            "sqrt(2/pi) rounded to 0.79788456, or x sigmoid(1.702 x)",
            "exact", choices=("exact", "tanh", "tanh-rounded", "quick"), constant=True)


def _gelu_tanh(x: Array, factor: float) -> Array:
    return x * 0.5 * (1 + np.tanh(factor * (x + 0.044715 * x**3)))


def _gelu(x: Array) -> Array:
    return x * 0.5 * (1 + np.vectorize(erf, otypes=[float])(x / sqrt(2)))


_ACTIVATIONS: Mapping[str, tuple[str, str, Callable[[Array], Array]]] = {
    # its own name, and that of a unit that it gates
    "relu": ("ReLU", "ReGLU", lambda x: np.maximum(x, 0)),
    "gelu": ("GELU", "GEGLU", _gelu),
    "silu": ("SiLU", "SwiGLU", lambda x: x * _sigmoid(x)),
    "sigmoid": ("sigmoid", "GLU", _sigmoid),
    "tanh": ("tanh", "", lambda x: np.tanh(x)),
    "softplus": ("softplus", "", lambda x: np.logaddexp(0, x)),
    "identity": ("identity", "bilinear", lambda x: x),
}


def activate(name: str, x: Array, form: str = "exact") -> Array:
    """The activation of that name, for arrays; GELU in one of its forms."""
    if name == "gelu" and form == "quick":
        return x * _sigmoid(1.702 * x)
    if name == "gelu" and form != "exact":
        return _gelu_tanh(x, sqrt(2 / pi) if form == "tanh" else 0.79788456)
    return _ACTIVATIONS[name][2](x)


def _activation_cost(name: str) -> int:
    """FLOPs an element; an activation is one, whatever it is made of."""
    return 0 if name == "identity" else 1


def _pointwise(
    name: str,
    summary: str,
    label: Rule | str,
    *,
    cost: int = 1,
    work: Rule | None = None,
    does: tuple[str, ...] = (),
    role: str = "plain",
    attrs: tuple[Attr, ...] = (),
    value: Value | None = None,
    sample: Mapping[str, object] | None = None,
    sample_label: str = "",
) -> None:
    """An op that changes no shape and spends ``cost`` FLOPs on an element, or ``work``."""
    op(
        name=name,
        hands_on=every_input,
        does=("nonlinear",) if role == "activation" else does,
        summary=summary,
        role=role,
        attrs=attrs or ((FORM,) if name == "gelu" else ()),
        work=work or per_element(cost),
        text=label,
        value=value or (lambda c, x, w: [activate(name, x[0], c.attrs.get("form", "exact"))]),
        examples=(
            Example([["d_t", "d_m"]], [["d_t", "d_m"]], sample or {},
                    flops=f"{cost} d_t d_m" if cost else 0, label=sample_label or str(label)),
            Example([[3, 4]], [[3, 4]], sample or {}, flops=12 * cost),
        ),
    )


for _name, _summary in (
    ("relu", "max(0, x)."),
    ("gelu", "x Phi(x), Phi the normal distribution (arXiv:1606.08415)."),
    ("silu", "x sigmoid(x) (arXiv:1702.03118)."),
    ("sigmoid", "1 / (1 + exp(-x))."),
    ("tanh", "Hyperbolic tangent."),
    ("softplus", "log(1 + exp(x)): positive, such as the steps of a state space."),
):
    _pointwise(_name, _summary, _ACTIVATIONS[_name][0], role="activation")
_pointwise("cos", "Cosine of the angle of a position: a table, made once, so no work.", r"$\cos$",
           cost=0, value=lambda c, x, w: [np.cos(x[0])])
_pointwise("sin", "Sine of the angle of a position: a table, made once, so no work.", r"$\sin$",
           cost=0, value=lambda c, x, w: [np.sin(x[0])])
_pointwise(
    "activation",
    "One of the activations, by name, so that an option can choose it.",
    lambda c: _ACTIVATIONS[c["kind"]][0],
    role="activation",
    attrs=(Attr("kind", "enum", "which", "relu", choices=tuple(_ACTIVATIONS)), FORM),
    work=lambda c: _activation_cost(c["kind"]) * c.x.numel(),
    value=lambda c, x, w: [activate(c["kind"], x[0], c["form"])],
    sample={"kind": "silu"},
    sample_label="SiLU",
)
_pointwise("exp", "Exponential function.", r"$\exp$", value=lambda c, x, w: [np.exp(x[0])])
_pointwise("log", "Natural logarithm of positive values.", r"$\log$",
           value=lambda c, x, w: [np.log(x[0])])
_pointwise(
    "power",
    "Values to a fixed power, such as the square in a squared ReLU (arXiv:2109.08668).",
    lambda c: f"$x^{{{decimal(c['exponent'])}}}$",
    attrs=(Attr("exponent", "float", "the power", 2.0),),
    value=lambda c, x, w: [x[0] ** c["exponent"]],
    sample={"exponent": 2},
    sample_label="$x^{2}$",
)
_pointwise("neg", "Change of sign. No work: it goes into the sum that follows.", "negate", cost=0,
           value=lambda c, x, w: [-x[0]])
_pointwise("identity", "The tensor itself: a named place to branch from.", "identity", cost=0,
           does=("carry", "named"))
_pointwise("stop_gradient", "The tensor itself; no gradient flows back through it.",
           "stop gradient", cost=0, value=lambda c, x, w: [x[0]])
_pointwise(
    "dropout",
    "Sets elements to zero at random and scales the others up, in training only "
    "(arXiv:1207.0580); at inference the tensor itself.",
    "dropout",
    cost=0,
    does=("carry",),
    attrs=(Attr("p", "float", "the share that is set to zero"),),
    value=lambda c, x, w: [x[0]],
)


_pointwise(
    "softcap",
    "cap tanh(x / cap): keeps values between -cap and cap (arXiv:2408.00118).",
    cost=3,
    does=("rescale", "cap"),
    label=lambda c: f"softcap ${decimal(c['cap'])}$",
    attrs=(Attr("cap", "float", "the bound", required=True),),
    value=lambda c, x, w: [c["cap"] * np.tanh(x[0] / c["cap"])],
    sample={"cap": 30},
    sample_label="softcap $30$",
)


def _clamp_label(c: Call) -> str:
    low, high = c["low"], c["high"]
    if low is not None and high is not None:
        return f"clamp to $[{decimal(low)}, {decimal(high)}]$"
    if low is not None:
        return rf"clamp $\geq {decimal(low)}$"
    return rf"clamp $\leq {decimal(high)}$" if high is not None else "clamp"


_pointwise(
    "clamp",
    "Values below `low` or above `high` become these.",
    _clamp_label,
    does=("rescale",),
    attrs=(
        Attr("low", "float", "lower bound (default: none)"),
        Attr("high", "float", "upper bound (default: none)"),
    ),
    value=lambda c, x, w: [np.clip(x[0], c["low"], c["high"])],
    sample={"low": 0.01},
    sample_label=r"clamp $\geq 0.01$",
)

# -- softmax --------------------------------------------------------------------------------------

SOFTMAX_COST = 5  # FLOPs an element: maximum, difference, exp, sum, division


def _softmax_shape(c: Call) -> tuple[Shape, ...]:
    c.check_axis(0, c["axis"])
    if c["causal"]:
        causal_scores(c)
    if c["sinks"] is not None:
        place = c.need_axes(0, 3).ndim - 3
        c.require_equal(
            c.x.dims[place], c["sinks"], c.axis_of(0, place), "sinks",
            "there is one sink for each head",
        )
    return (c.x,)


def _softmax_label(c: Call) -> str:
    words = "softmax" if c["sinks"] is None else "softmax with sinks"
    return f"causal mask, {words}" if c["causal"] else words


def _softmax_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    scores = inputs[0]
    if c["causal"]:
        scores = np.where(seen_in(scores), scores, -np.inf)
    if c["sinks"] is None:
        return [softmax(scores, c["axis"])]
    sinks = np.broadcast_to(weights["sinks"][:, None, None], (*scores.shape[:-1], 1))
    return [softmax(np.concatenate([scores, sinks], axis=-1))[..., :-1]]


op(
    name="softmax",
    hands_on=every_input,
    does=("softmax", "whole-rows"),
    summary="exp(x) over its sum along one axis, by default the last; `causal` leaves out what "
    "is later than the position. With `sinks` the sum also holds one learned score for each "
    "head, so that the weights of a row may sum to less than 1 (arXiv:2309.17453, as learned "
    "in arXiv:2508.10925).",
    role="activation",
    attrs=(
        axis_attr("the axis that sums to 1"),
        Attr("causal", "bool", "x is scores, of which later sources are left out", False),
        Attr("sinks", "dim", "number of heads, each of which has a learned sink"),
    ),
    shape=_softmax_shape,
    weights=lambda c: [] if c["sinks"] is None else [Weight("sinks", Shape((c["sinks"],)))],
    work=lambda c: (SOFTMAX_COST + int(c["causal"])) * c.x.numel(),
    mask=lambda c: causal_scores(c) if c["causal"] else None,
    text=_softmax_label,
    value=_softmax_value,
    examples=(
        Example([["n_h", "d_t", "d_s"]], [["n_h", "d_t", "d_s"]], flops="5 n_h d_t d_s",
                label="softmax"),
        Example([[3, 4]], [[3, 4]], {"axis": 0}, flops=60),
        Example([[4, 4]], [[4, 4]], {"causal": True}, flops=96, label="causal mask, softmax"),
        Example([[2, 3, 4]], [[2, 3, 4]], {"sinks": 2}, params=2, flops=120,
                label="softmax with sinks"),
    ),
)

op(
    name="normalize",
    does=("whole-rows",),
    hands_on=every_input,
    summary="Divide by the sum along one axis, so that it sums to 1: positive scores become "
    "shares, such as the gates of the chosen experts.",
    role="activation",
    attrs=(axis_attr("the axis that sums to 1"),),
    shape=axis_kept,
    work=per_element(2),
    text="divide by sum",
    value=lambda c, x, w: [x[0] / x[0].sum(axis=c["axis"], keepdims=True)],
    examples=(
        Example([["d_t", "K"]], [["d_t", "K"]], flops="2 d_t K", label="divide by sum"),
        Example([[3, 4]], [[3, 4]], {"axis": 0}, flops=24),
    ),
)


def _modulate_shape(c: Call) -> tuple[Shape, ...]:
    names = [c.name(place) for place in range(3)]
    result, stretched = aligned(c, c.inputs, names, why="one factor and one term for each feature")
    if names[0] in stretched:
        raise OpFault(f"scale and shift must fit into x ({c.shown()})")
    return (result,)


op(
    name="modulate",
    does=("sum",),
    summary="Scale and shift by a condition: y = x (1 + scale) + shift, the same for all positions "
    "where scale and shift have no axis of positions, or one of size 1 (arXiv:2212.09748).",
    inputs=("x", "scale", "shift"),
    ordered=True,
    shape=_modulate_shape,
    work=lambda c: TWO * c.x.numel() + c.inputs[1].numel(),
    text="scale and shift",
    value=lambda c, x, w: [x[0] * (1 + x[1]) + x[2]],
    examples=(
        Example([["d_t", "d_m"], ["d_m"], ["d_m"]], [["d_t", "d_m"]], flops="2 d_t d_m + d_m",
                label="scale and shift"),
        Example([[2, 3, 4], [2, 1, 4], [2, 1, 4]], [[2, 3, 4]], flops=56),
    ),
)

# -- gated linear units ---------------------------------------------------------------------------

_GATED = {kind: unit for kind, (_, unit, _) in _ACTIVATIONS.items() if unit}


def gated_name(word: str) -> str:
    """What a unit is called that an activation gates: ``SwiGLU`` for ``SiLU``; "" for none."""
    return {name: unit for name, unit, _ in _ACTIVATIONS.values()}.get(word, "")


def _glu_shape(c: Call) -> tuple[Shape, ...]:
    if len(c.inputs) == 2:
        return (stretch(c),)
    half = c.require_divides(TWO, c.last(), f"{c.axis_of(0, c.x.ndim - 1)}, cut into two halves")
    return (c.x.with_last(half),)


def _glu_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    gate, up = inputs if len(inputs) == 2 else np.split(inputs[0], 2, axis=-1)
    return [activate(c["act"], gate, c["form"]) * up]


op(
    name="glu",
    hands_on=every_input,
    does=("gated",),
    summary="act(gate) times up; of two tensors, or of the two halves of one "
    "(arXiv:2002.05202).",
    role="activation",
    inputs=("gate", "up"),
    ordered=True,
    optional=1,
    attrs=(Attr("act", "enum", "activation of the gate", "silu", choices=tuple(_GATED)), FORM),
    shape=_glu_shape,
    work=lambda c: (_activation_cost(c["act"]) + 1) * _glu_shape(c)[0].numel(),
    text=lambda c: _GATED[c["act"]],
    value=_glu_value,
    examples=(
        Example([["d_t", "d_h"]] * 2, [["d_t", "d_h"]], flops="2 d_t d_h", label="SwiGLU"),
        Example([[3, 8]], [[3, 4]], {"act": "gelu"}, flops=24, label="GEGLU"),
        Example([[3, 4], [3, 4]], [[3, 4]], {"act": "identity"}, flops=12, label="bilinear"),
    ),
)

