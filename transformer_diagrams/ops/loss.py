"""Ends of training: losses."""

from __future__ import annotations

from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import Call, Example, Op, Shape, family
from transformer_diagrams.ops.rules import per_element, same_shape, unify

op = family("loss", Op)


def _cross_entropy_shape(c: Call) -> tuple[Shape, ...]:
    unify(c, "...T V", "...T", why="each row of logits has one target")
    return (Shape(()),)


def _cross_entropy_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    logits, target = inputs
    top = logits.max(axis=-1, keepdims=True)
    log_sum = np.log(np.exp(logits - top).sum(axis=-1)) + top[..., 0]
    return [(log_sum - np.take_along_axis(logits, target[..., None], axis=-1)[..., 0]).mean()]


op(
    name="cross_entropy",
    summary="Minus the log of the target's softmax probability, averaged over positions.",
    role="loss",
    inputs=("logits", "target"),
    shape=_cross_entropy_shape,
    work=per_element(5),
    text="Cross-entropy",
    value=_cross_entropy_value,
    examples=(
        Example([["d_t", "V"], ["d_t"]], [[]], flops="5 d_t V", label="Cross-entropy"),
        Example([[2, 3, 4], [2, 3]], [[]], flops=120),
    ),
)


def _kl_shape(c: Call) -> tuple[Shape, ...]:
    same_shape(c, "they are distributions over the same")
    return (Shape(()),)


def _kl_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    p, q = inputs
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p / q), 0.0)
    return [terms.sum(axis=-1).mean()]


op(
    name="kl",
    summary="Kullback-Leibler divergence of q from p along the last axis, averaged.",
    role="loss",
    inputs=("p", "q"),
    ordered=True,
    shape=_kl_shape,
    work=per_element(5),
    text="KL divergence",
    value=_kl_value,
    examples=(
        Example([["d_t", "d_s"], ["d_t", "d_s"]], [[]], flops="5 d_t d_s",
                label="KL divergence"),
        Example([[3, 4], [3, 4]], [[]], flops=60),
    ),
)
