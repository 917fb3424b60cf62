"""NumPy for value rules, imported when one runs, and the functions that several of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Array = Any
Arrays = Sequence[Array]
Tensors = Mapping[str, Array]


class _NumPy:
    """The module, without its import: nothing but a value rule needs it."""

    def __getattr__(self, name: str) -> Any:
        import numpy

        return getattr(numpy, name)


np: Any = _NumPy()


def softmax(x: Array, axis: int = -1) -> Array:
    """exp(x) over its sum along an axis; minus infinity gives 0."""
    exp = np.exp(x - x.max(axis=axis, keepdims=True))
    return exp / exp.sum(axis=axis, keepdims=True)


def seen_in(scores: Array, window: int | None = None, chunk: int | None = None) -> Array:
    """``allowed`` for the positions of [.., target, source] scores."""
    target, source = scores.shape[-2:]
    return allowed(target, source, window, chunk)


def allowed(
    target: int, source: int, window: int | None = None, chunk: int | None = None
) -> Array:
    """[target, source] truth values: source j is not later than target i, which are the last ones.

    With a ``window``, only the last that many positions are seen; with a ``chunk``, only those of
    its own chunk of that many.
    """
    i = np.arange(source - target, source)[:, None]
    j = np.arange(source)[None, :]
    seen = j <= i
    if window is not None:
        seen &= j > i - window
    return seen if chunk is None else seen & (j // chunk == i // chunk)
