"""Who belongs to whom: one-to-one matching, and assignments in equal shares."""

from __future__ import annotations

from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import Attr, Call, Example, Op, OpFault, Shape, family
from transformer_diagrams.ops.rules import unify

op = family("matching", Op)


def _hungarian_shape(c: Call) -> tuple[Shape, ...]:
    found = unify(c, "...B n m")
    c.require_at_most(
        found["m"], found["n"], "there are more targets than predictions to match them with"
    )
    return (found.shape("...B m"),)


def matched(cost: Array) -> Array:
    """For each column of ``cost`` [n, m], m <= n, its row in the cheapest one-to-one matching.

    Columns are added one by one, each along a shortest path of changes through reduced costs
    (doi:10.1007/BF02278710). Place 0 of the rows stands for the column that is being added.
    """
    n, m = cost.shape
    of_row, back = np.full(n + 1, -1), np.zeros(n + 1, int)
    row_price, column_price = np.zeros(n + 1), np.zeros(m)
    for new in range(m):
        of_row[0], row = new, 0
        least, seen = np.full(n + 1, np.inf), np.zeros(n + 1, bool)
        while of_row[row] >= 0:
            seen[row] = True
            column = of_row[row]
            over = np.concatenate([[np.inf], cost[:, column] - row_price[1:]])
            over -= column_price[column]
            nearer = ~seen & (over < least)
            least[nearer], back[nearer] = over[nearer], row
            row = int(np.where(seen, np.inf, least).argmin())
            step = least[row]
            column_price[of_row[seen]] += step
            row_price[seen] -= step
            least[~seen] -= step
        while row:
            of_row[row] = of_row[back[row]]
            row = back[row]
    rows = np.flatnonzero(of_row[1:] >= 0)
    return rows[np.argsort(of_row[1:][rows])]


def _hungarian_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    cost = inputs[0]
    if not np.isfinite(cost).all():
        raise OpFault("a cost is not finite, so no matching is the cheapest")
    each = [matched(one) for one in cost.reshape(-1, *cost.shape[-2:])]
    return [np.array(each, dtype=int).reshape(*cost.shape[:-2], cost.shape[-1])]


op(
    name="hungarian",
    summary="The cheapest one-to-one matching of m targets with n predictions (n >= m), by "
    "their [n, m] costs: for each target the index of its prediction (doi:10.1002/nav.3800020109, "
    "as in arXiv:2005.12872). A search outside of the network, through which no gradient goes; "
    "its work is not counted.",
    role="topk",
    inputs=("cost",),
    outputs=("index",),
    whole=("index",),
    shape=_hungarian_shape,
    text="Hungarian matching",
    value=_hungarian_value,
    examples=(
        Example([["N", "k"]], [["k"]], label="Hungarian matching"),
        Example([[2, 5, 3]], [[2, 3]]),
    ),
)


def _sinkhorn_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x = inputs[0] / c["temperature"]
    q = np.exp(x - x.max())
    for _ in range(c["steps"]):
        q = q / q.sum(axis=0) / q.shape[1]
        q = q / q.sum(axis=1, keepdims=True) / q.shape[0]
    return [q * q.shape[0]]


def _sinkhorn_shape(c: Call) -> tuple[Shape, ...]:
    unify(c, "n k")
    return (c.x,)


op(
    name="sinkhorn",
    summary="exp(x / temperature), made to sum to equal shares along columns and to 1 along "
    "rows, in turns: each row a distribution, all columns used alike (arXiv:1306.0895, as in "
    "arXiv:2006.09882 and arXiv:2304.07193).",
    role="activation",
    does=("whole-rows",),
    attrs=(
        Attr("steps", "int", "how often columns and rows take turns", 3),
        Attr("temperature", "float", "what x is divided by", 1.0),
    ),
    shape=_sinkhorn_shape,
    work=lambda c: (2 + 4 * c["steps"]) * c.x.numel(),
    text="Sinkhorn-Knopp",
    value=_sinkhorn_value,
    examples=(
        Example([["B", "K"]], [["B", "K"]], flops="14 B K", label="Sinkhorn-Knopp"),
        Example([[3, 4]], [[3, 4]], {"steps": 1}, flops=72),
    ),
)
