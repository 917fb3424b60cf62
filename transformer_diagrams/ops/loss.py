"""Ends of training: losses, and the costs of pairs that a matcher sees."""

from __future__ import annotations

from collections.abc import Callable

from transformer_diagrams.dims import Dim, const
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import (
    Attr,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    family,
)
from transformer_diagrams.ops.rules import per_element, same_shape, unify
from transformer_diagrams.records import dataclass

op = family("loss", Op)

SCALAR = Shape(())

# -- distributions --------------------------------------------------------------------------------

_SOFT = "soft targets are distributions over the same classes"


def _cross_entropy_shape(c: Call) -> tuple[Shape, ...]:
    logits, target = c.inputs
    if c["soft"]:
        same_shape(c, _SOFT)
    elif logits.lead == target.lead and logits.ndim == target.ndim > 0:
        raise OpFault(
            f"{c.name(1)} must hold one class for each row of {c.name(0)}: one axis fewer "
            f"({c.shown()})",
            "if it is a distribution over the classes, say soft: true",
        )
    else:
        unify(c, "...T V", "...T", why="each row of logits has one target")
    return (SCALAR,)


def _log_softmax(x: Array, axis: int = -1) -> Array:
    x = x - x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def _cross_entropy_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    logs, target = _log_softmax(inputs[0]), inputs[1]
    if c["soft"]:
        return [-(target * logs).sum(axis=-1).mean()]
    return [-np.take_along_axis(logs, target[..., None], axis=-1).mean()]


op(
    name="cross_entropy",
    summary="Minus the log of the target's softmax probability, averaged over positions; with "
    "`soft` the target is a distribution, and the logs are averaged by it.",
    role="loss",
    inputs=("logits", "target"),
    whole=("target",),
    attrs=(
        Attr("soft", "bool", "target is a distribution over the classes, as a teacher's, "
             "instead of one class", False),
    ),
    shape=_cross_entropy_shape,
    work=lambda c: (7 if c["soft"] else 5) * c.x.numel(),
    text="Cross-entropy",
    value=_cross_entropy_value,
    below=lambda c: c.last(),
    examples=(
        Example([["d_t", "V"], ["d_t"]], [[]], flops="5 d_t V", label="Cross-entropy"),
        Example([["d_t", "V"], ["d_t", "V"]], [[]], {"soft": True}, flops="7 d_t V"),
        Example([[2, 3, 4], [2, 3]], [[]], flops=120),
    ),
)


def _kl_shape(c: Call) -> tuple[Shape, ...]:
    same_shape(c, "they are distributions over the same")
    return (SCALAR,)


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


def _contrastive_shape(c: Call) -> tuple[Shape, ...]:
    unify(c, "n n", why="pair i of the batch is row i and column i")
    return (SCALAR,)


def _contrastive_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x = inputs[0]
    if c["kind"] == "sigmoid":
        signs = 2 * np.eye(len(x)) - 1
        return [np.logaddexp(0, -signs * x).sum() / len(x)]
    return [-(_log_softmax(x, 1).diagonal() + _log_softmax(x, 0).diagonal()).mean() / 2]


op(
    name="contrastive",
    summary="In-batch contrast of B pairs by their B x B similarities, of which the diagonal is "
    "right: the mean of the cross-entropies of rows and of columns (arXiv:2103.00020), or a "
    "sigmoid for each of the B^2 pairs, summed and divided by B (arXiv:2303.15343).",
    role="loss",
    inputs=("logits",),
    attrs=(
        Attr("kind", "enum", "a softmax along rows and columns, or a sigmoid a pair",
             "softmax", choices=("softmax", "sigmoid")),
    ),
    shape=_contrastive_shape,
    work=lambda c: (10 if c["kind"] == "softmax" else 3) * c.x.numel(),
    text=lambda c: {"softmax": "Contrastive loss", "sigmoid": "Sigmoid loss"}[c["kind"]],
    value=_contrastive_value,
    examples=(
        Example([["B", "B"]], [[]], flops="10 B^2", label="Contrastive loss"),
        Example([[4, 4]], [[]], {"kind": "sigmoid"}, flops=48, label="Sigmoid loss"),
    ),
)

# -- differences, and costs of pairs --------------------------------------------------------------

PAIRWISE = Attr(
    "pairwise", "bool",
    "each of the n predictions against each of the m targets: the [n, m] costs of a matching",
    False,
)


def _axes(c: Call) -> int:
    """How many of the last axes make one item."""
    return int(c["axes"]) if "axes" in c.op.attr_names else 1


def _pairs(c: Call) -> bool:
    return "pairwise" in c.op.attr_names and bool(c["pairwise"])


@dataclass(frozen=True, slots=True)
class _Difference:
    """A loss of a prediction against a target: FLOPs an element, and the loss of each item."""

    cost: int
    apart: Callable[[Call, Array, Array], Array]

    def shape(self, c: Call) -> tuple[Shape, ...]:
        """A scalar; or all pairs of items."""
        item = " ".join(f"d{n}" for n in range(_axes(c)))
        why = "predictions and targets are compared element by element"
        if _pairs(c):
            return (unify(c, f"...B n {item}", f"...B m {item}", why=why).shape("...B n m"),)
        unify(c, f"...T {item}", f"...T {item}", "...T", why=why)
        return (SCALAR,)

    def work(self, c: Call) -> Dim:
        """So many FLOPs for each element that is compared."""
        every = self.cost * c.x.numel()
        return every * c.inputs[1].dims[-1 - _axes(c)] if _pairs(c) else every

    def value(self, c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
        """The mean over the items; those that the mask keeps, where there is one."""
        a, b = inputs[:2]
        if _pairs(c):
            place = -1 - _axes(c)
            return [self.apart(c, np.expand_dims(a, place), np.expand_dims(b, place - 1))]
        each = self.apart(c, a, b)
        if len(inputs) > 2:
            return [(each * inputs[2]).sum() / inputs[2].sum()]
        return [each.mean()]


def _check_boxes(c: Call) -> tuple[Shape, ...]:
    _need_box(c, 0)
    _need_box(c, 1)
    return _GIOU.shape(c)


def _need_box(c: Call, index: int) -> None:
    """Refuse an input whose last axis is none of boxes."""
    c.require_equal(
        c.last(index), const(4), c.axis_of(index, c.inputs[index].ndim - 1), "a box",
        "a box is four numbers",
    )


def _around(box: Array) -> tuple[Array, Array]:
    """The lower and the upper corner of boxes by centre and size."""
    center, size = box[..., :2], box[..., 2:]
    return center - size / 2, center + size / 2


def _corners(c: Call, box: Array) -> tuple[Array, Array]:
    """The lower and the upper corner of boxes."""
    return _around(box) if c["form"] == "center" else (box[..., :2], box[..., 2:])


def _giou_apart(c: Call, a: Array, b: Array) -> Array:
    (a_low, a_high), (b_low, b_high) = _corners(c, a), _corners(c, b)

    def area(low: Array, high: Array) -> Array:
        return np.clip(high - low, 0, None).prod(axis=-1)

    both = area(np.maximum(a_low, b_low), np.minimum(a_high, b_high))
    union = area(a_low, a_high) + area(b_low, b_high) - both
    hull = area(np.minimum(a_low, b_low), np.maximum(a_high, b_high))
    return 1 - (both / union - (hull - union) / hull)


def _sigmoid_losses(x: Array) -> tuple[Array, Array]:
    """-log sigmoid(x) and -log(1 - sigmoid(x))."""
    return np.logaddexp(0, -x), np.logaddexp(0, x)


def _focal_apart(c: Call, x: Array, t: Array) -> Array:
    is_one, is_zero = _sigmoid_losses(x)
    p, alpha, gamma = np.exp(-is_one), c["alpha"], c["gamma"]
    one, zero = (1 - p) ** gamma * is_one, p**gamma * is_zero
    if alpha is not None:
        one, zero = alpha * one, (1 - alpha) * zero
    return (t * one + (1 - t) * zero).mean(axis=_item(c))


def _dice_apart(c: Call, x: Array, t: Array) -> Array:
    p, axes = np.exp(-_sigmoid_losses(x)[0]), _item(c)
    both = (p * t).sum(axis=axes)
    return 1 - (2 * both + 1) / (p.sum(axis=axes) + t.sum(axis=axes) + 1)


def _item(c: Call) -> tuple[int, ...]:
    return tuple(range(-_axes(c), 0))


_MSE = _Difference(3, lambda c, a, b: ((a - b) ** 2).mean(axis=-1))
_L1 = _Difference(3, lambda c, a, b: np.abs(a - b).sum(axis=-1))
_GIOU = _Difference(8, _giou_apart)

op(
    name="mse",
    summary="Mean of squared differences along the last axis, averaged over the rows; with a "
    "mask, over those rows where it is 1 (arXiv:2111.06377).",
    role="loss",
    inputs=("x", "target", "mask"),
    optional=1,
    shape=_MSE.shape,
    work=_MSE.work,
    text=lambda c: "Masked MSE" if len(c.inputs) > 2 else "MSE",
    value=_MSE.value,
    examples=(
        Example([["N", "d_m"], ["N", "d_m"], ["N"]], [[]], flops="3 N d_m", label="Masked MSE"),
        Example([[3, 4], [3, 4]], [[]], flops=36, label="MSE"),
    ),
)

op(
    name="l1",
    summary="Sum of absolute differences along the last axis, averaged over the rows: the L1 "
    "norm of a box's error (arXiv:2005.12872).",
    role="loss",
    inputs=("x", "target"),
    attrs=(PAIRWISE,),
    shape=_L1.shape,
    work=_L1.work,
    text=r"$\ell_1$",
    value=_L1.value,
    examples=(
        Example([["N", 4], ["N", 4]], [[]], flops="12 N", label=r"$\ell_1$"),
        Example([["N", 4], ["m", 4]], [["N", "m"]], {"pairwise": True}, flops="12 N m"),
        Example([[3, 4], [3, 4]], [[]], flops=36),
    ),
)

op(
    name="giou",
    summary="One minus the generalised overlap of two boxes, averaged: overlap over union, less "
    "the share of their hull that neither covers (arXiv:1902.09630).",
    role="loss",
    inputs=("x", "target"),
    attrs=(
        PAIRWISE,
        Attr("form", "enum", "a box is centre and size, or two corners", "center",
             choices=("center", "corners")),
    ),
    shape=_check_boxes,
    work=_GIOU.work,
    text="GIoU",
    value=_GIOU.value,
    examples=(
        Example([["N", 4], ["N", 4]], [[]], flops="32 N", label="GIoU"),
        Example([["N", 4], ["m", 4]], [["N", "m"]], {"pairwise": True}, flops="32 N m"),
        Example([[3, 4], [3, 4]], [[]], flops=96),
    ),
)


def _is_box(c: Call) -> tuple[Shape, ...]:
    _need_box(c, 0)
    return (c.x,)


op(
    name="box_corners",
    summary="Boxes by centre and size to boxes by their lower and upper corner.",
    shape=_is_box,
    work=per_element(2),
    text="to corners",
    value=lambda c, x, w: [np.concatenate(_around(x[0]), -1)],
    examples=(
        Example([["N", 4]], [["N", 4]], flops="8 N", label="to corners"),
        Example([[2, 3, 4]], [[2, 3, 4]], flops=48),
    ),
)

for _name, _label, _summary, _loss, _attrs in (
    ("focal", "Focal loss",
     "Binary cross-entropy of sigmoids in which what is already right weighs little: "
     "-alpha (1 - p)^gamma log p where the target is 1, averaged (arXiv:1708.02002).",
     _Difference(10, _focal_apart),
     (Attr("alpha", "float", "weight of targets of 1, against 1 - alpha (default: none)", 0.25),
      Attr("gamma", "float", "how fast weight falls with certainty; 0: cross-entropy", 2.0))),
    ("dice", "Dice loss",
     "One minus (2 sum p t + 1) / (sum p + sum t + 1) of a mask's sigmoids p and its target t, "
     "averaged over the masks (arXiv:1606.04797, smoothed as in arXiv:2107.06278).",
     _Difference(5, _dice_apart), ()),
):

    op(
        name=_name,
        summary=_summary,
        role="loss",
        inputs=("logits", "target"),
        ordered=True,
        attrs=(
            PAIRWISE,
            Attr("axes", "int", "how many of the last axes make one item: 2 for a mask [h, w]", 1),
            *_attrs,
        ),
        shape=_loss.shape,
        work=_loss.work,
        text=_label,
        value=_loss.value,
        examples=(
            Example([["N", "V"], ["N", "V"]], [[]], flops=f"{_loss.cost} N V", label=_label),
            Example([["N", "h", "w"], ["m", "h", "w"]], [["N", "m"]],
                    {"pairwise": True, "axes": 2}, flops=f"{_loss.cost} N m h w"),
            Example([[3, 4], [3, 4]], [[]], flops=12 * _loss.cost),
        ),
    )

# -- of a batch of features -----------------------------------------------------------------------


def _koleo_shape(c: Call) -> tuple[Shape, ...]:
    unify(c, "...G n d")
    return (SCALAR,)


def _koleo_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x = inputs[0] / np.linalg.norm(inputs[0], axis=-1, keepdims=True)
    apart = np.linalg.norm(x[..., :, None, :] - x[..., None, :, :], axis=-1)
    apart[..., np.eye(x.shape[-2], dtype=bool)] = np.inf
    return [-np.log(apart.min(axis=-1) + 1e-8).mean()]


op(
    name="koleo",
    summary="Minus the log of the distance to the nearest other row, averaged over rows of length "
    "1, in each group of rows apart: spreads features over the sphere (arXiv:1806.03198, as in "
    "arXiv:2304.07193).",
    role="loss",
    shape=_koleo_shape,
    # The nearest is the one with the largest product.
    macs=lambda c: c.x.numel() * c.x.dims[-2],
    work=lambda c: 3 * c.x.numel() + c.x.with_last(c.x.dims[-2]).numel(),
    text="KoLeo",
    value=_koleo_value,
    examples=(
        Example([["B", "d_m"]], [[]], flops="2 B^2 d_m + 3 B d_m + B^2", label="KoLeo"),
        Example([[2, 3, 4]], [[]], flops=234),
    ),
)
