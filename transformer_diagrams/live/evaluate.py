"""Evaluates recorded operations with NumPy; what does not depend on a moved slider is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_diagrams.extras import need
from transformer_diagrams.live.trace import Operation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]


class Evaluator:
    """Values of nodes for the present slider values."""

    def __init__(self, nodes: Sequence[Operation]) -> None:
        need("live")
        self.nodes = nodes
        self.depends = dependencies(nodes)
        self.params: dict[str, float] = {}
        self._kept: dict[int, Any] = {}

    def set(self, params: Mapping[str, float]) -> None:
        """Take new slider values and forget what depended on those that changed."""
        changed = {name for name, value in params.items() if self.params.get(name) != value}
        self.params.update(params)
        self._kept = {i: v for i, v in self._kept.items() if not self.depends[i] & changed}

    def value(self, index: int) -> Values:
        """The array of one node.

        :raises FloatingPointError: for a division by zero or a NaN.
        """
        import numpy as np

        known = self._kept.get(index)
        if known is not None:
            return known  # type: ignore[no-any-return]
        todo = [i for i in needed(self.nodes, [index]) if i not in self._kept]
        with np.errstate(divide="raise", invalid="raise", over="raise", under="ignore"):
            for i in todo:
                self._kept[i] = self._run(self.nodes[i])
        result: Values = self._kept[index]
        return result

    def _run(self, node: Operation) -> Any:
        import numpy as np

        ins = [self._kept[i] for i in node.inputs]
        if node.op == "param":
            return np.float64(self.params[node.args[0]])
        value = _RULES[node.op](node, ins)
        return np.asarray(value, dtype=np.float64).reshape(node.shape)


def dependencies(nodes: Sequence[Operation]) -> list[frozenset[str]]:
    """For each node the sliders that it depends on."""
    found: list[frozenset[str]] = []
    for node in nodes:
        own = frozenset((node.args[0],)) if node.op == "param" else frozenset()
        found.append(own.union(*(found[i] for i in node.inputs)))
    return found


def needed(nodes: Sequence[Operation], wanted: Iterable[int]) -> list[int]:
    """The nodes that ``wanted`` are made of, inputs before users."""
    seen: set[int] = set()
    todo = list(wanted)
    while todo:
        index = todo.pop()
        if index not in seen:
            seen.add(index)
            todo.extend(nodes[index].inputs)
    return sorted(seen)


def assignment(cost: Sequence[Sequence[float]]) -> list[float]:
    """The column of each row in the cheapest one-to-one choice, by shortest augmenting paths.

    Kuhn-Munkres with potentials, O(rows^2 x columns). NaN everywhere when a cost is not finite.
    """
    n, m = len(cost), len(cost[0])
    if not all(math.isfinite(c) for row in cost for c in row):
        return [math.nan] * n
    row_price, col_price = [0.0] * (n + 1), [0.0] * (m + 1)
    owner, way = [0] * (m + 1), [0] * (m + 1)
    for i in range(1, n + 1):
        owner[0] = i
        column = 0
        least, used = [math.inf] * (m + 1), [False] * (m + 1)
        while owner[column]:
            used[column] = True
            row, delta, following = owner[column], math.inf, 0
            for j in range(1, m + 1):
                if used[j]:
                    continue
                reduced = cost[row - 1][j - 1] - row_price[row] - col_price[j]
                if reduced < least[j]:
                    least[j], way[j] = reduced, column
                if least[j] < delta:
                    delta, following = least[j], j
            for j in range(m + 1):
                if used[j]:
                    row_price[owner[j]] += delta
                    col_price[j] -= delta
                else:
                    least[j] -= delta
            column = following
        while column:
            owner[column] = owner[way[column]]
            column = way[column]
    result = [0.0] * n
    for j in range(1, m + 1):
        if owner[j]:
            result[owner[j] - 1] = float(j - 1)
    return result


def _rules() -> dict[str, Callable[[Operation, list[Any]], Any]]:
    def np_() -> Any:
        import numpy

        return numpy

    def named(name: str) -> Callable[[Operation, list[Any]], Any]:
        return lambda node, ins: getattr(np_(), name)(*ins)

    def hashed(node: Operation, ins: list[Any]) -> Any:
        from transformer_diagrams.live.hashing import normals

        return normals(node.args[0], node.shape, node.args[1])

    rules: dict[str, Callable[[Operation, list[Any]], Any]] = {
        "const": lambda node, ins: np_().array(node.args[0]),
        "iota": lambda node, ins: node.args[0] + node.args[1] * np_().arange(node.shape[0]),
        "zeros": lambda node, ins: np_().zeros(node.shape),
        "hashnorm": hashed,
        "where": lambda node, ins: np_().where(ins[0] != 0, ins[1], ins[2]),
        "reshape": lambda node, ins: ins[0],
        "transpose": lambda node, ins: np_().transpose(ins[0], node.args[0]),
        "take": lambda node, ins: ins[0][ins[1].astype(int)],
        "stack": lambda node, ins: np_().stack(ins),
        "cumsum": lambda node, ins: np_().cumsum(ins[0], axis=-1),
        "assign": lambda node, ins: assignment(ins[0].tolist()),
    }
    for op, name in (
        ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("div", "divide"),
        ("pow", "power"), ("min", "minimum"), ("max", "maximum"), ("lt", "less"),
        ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"), ("eq", "equal"),
        ("exp", "exp"), ("log", "log"), ("sqrt", "sqrt"), ("sin", "sin"), ("cos", "cos"),
        ("abs", "abs"), ("floor", "floor"), ("neg", "negative"),
    ):  # fmt: skip
        rules[op] = named(name)

    def reduced(name: str) -> Callable[[Operation, list[Any]], Any]:
        return lambda node, ins: getattr(np_(), name)(ins[0], axis=node.args[0])

    for op, name in (("sum", "sum"), ("rmax", "max"), ("rmin", "min"), ("argmax", "argmax")):
        rules[op] = reduced(name)
    return rules


_RULES = _rules()
