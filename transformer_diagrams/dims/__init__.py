"""Sizes of tensors as exact formulas over named positive integers, and what is known of them."""

from __future__ import annotations

from transformer_diagrams.dims.conditions import Condition, parse_condition
from transformer_diagrams.dims.equations import above
from transformer_diagrams.dims.errors import DimError, whole_from, whole_in
from transformer_diagrams.dims.facts import Facts
from transformer_diagrams.dims.formula import Dim, const, product, sym
from transformer_diagrams.dims.functions import ceil_of, floor_of, maximum, minimum, sole_mod
from transformer_diagrams.dims.near import nearest_divisors, nearest_multiples
from transformer_diagrams.dims.reading import names_in, parse
from transformer_diagrams.dims.show import symbol_tex
from transformer_diagrams.dims.spelling import Speller, spelt_by
from transformer_diagrams.dims.verdict import Verdict

__all__ = [
    "Condition",
    "Dim",
    "DimError",
    "Facts",
    "Speller",
    "Verdict",
    "above",
    "ceil_of",
    "const",
    "floor_of",
    "maximum",
    "minimum",
    "names_in",
    "nearest_divisors",
    "nearest_multiples",
    "parse",
    "parse_condition",
    "product",
    "sole_mod",
    "spelt_by",
    "sym",
    "symbol_tex",
    "whole_from",
    "whole_in",
]
