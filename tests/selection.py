"""Which cases of a long table `make test` tries: a few of each kind; `make test-all` tries all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

from transformer_diagrams.api import bundled_ids

T = TypeVar("T")

IDS = bundled_ids()
# A decoder, an encoder, both with wires between them, a block used by others, one with packed
# heads, and a model with experts and a compressed cache.
FEW = ("llama3", "bert", "transformer", "gqa", "mha-packed", "deepseek-v3")
assert {*FEW} <= {*IDS}


def mostly_slow(cases: Iterable[T], quick: Callable[[T], bool]) -> list[Any]:
    """The cases as they are where ``quick`` holds, the others marked slow."""
    return [
        case
        if quick(case)
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for case in cases
    ]


FIGURES = mostly_slow(IDS, lambda name: name in FEW)
"""Every bundled spec, those beyond a few marked slow."""
