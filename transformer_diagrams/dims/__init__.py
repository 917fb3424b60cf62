"""Symbolic sizes: exact algebra over named positive integers. Stands alone."""

from transformer_diagrams.dims.expr import (
    Atom,
    Dim,
    DimError,
    ceildiv,
    const,
    maximum,
    minimum,
    product,
    sign_of,
    sym,
)
from transformer_diagrams.dims.facts import Condition, Facts, Verdict, parse_condition
from transformer_diagrams.dims.hints import nearest_divisors, nearest_multiples
from transformer_diagrams.dims.parse import parse
from transformer_diagrams.dims.tex import name_tex

__all__ = [
    "Atom",
    "Condition",
    "Dim",
    "DimError",
    "Facts",
    "Verdict",
    "ceildiv",
    "const",
    "maximum",
    "minimum",
    "name_tex",
    "nearest_divisors",
    "nearest_multiples",
    "parse",
    "parse_condition",
    "product",
    "sign_of",
    "sym",
]
