"""Sizes of tensors as exact formulas over named positive integers, and what is known of them."""

from __future__ import annotations

from transformer_diagrams.dims.algebra import (
    Dim,
    ceil_of,
    const,
    floor_of,
    maximum,
    minimum,
    product,
    sym,
)
from transformer_diagrams.dims.conditions import Condition, parse_condition
from transformer_diagrams.dims.errors import DimError
from transformer_diagrams.dims.facts import Facts
from transformer_diagrams.dims.near import nearest_divisors, nearest_multiples
from transformer_diagrams.dims.reading import parse
from transformer_diagrams.dims.show import symbol_tex
from transformer_diagrams.dims.verdict import Verdict

__all__ = [
    "Condition",
    "Dim",
    "DimError",
    "Facts",
    "Verdict",
    "ceil_of",
    "const",
    "floor_of",
    "maximum",
    "minimum",
    "nearest_divisors",
    "nearest_multiples",
    "parse",
    "parse_condition",
    "product",
    "sym",
    "symbol_tex",
]
