"""Numbers put into a formula, and in words why none comes out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from transformer_diagrams.dims import polynomials as poly
from transformer_diagrams.dims.errors import DimError
from transformer_diagrams.dims.near import nearest_multiples
from transformer_diagrams.dims.polynomials import Coef

if TYPE_CHECKING:
    from transformer_diagrams.dims.formula import Dim, Opaque


def whole_value(d: Dim, values: Mapping[str, int]) -> int:
    """The whole number that ``d`` is for these values.

    :raises DimError: as :meth:`Dim.evaluate`.
    """
    name = d.name
    if name is not None and name in values:
        return int(values[name])
    missing = sorted(d.free - values.keys())
    if missing:
        listed = ", ".join(missing)
        verb = "has" if len(missing) == 1 else "have"
        raise DimError(f"{listed} {verb} no value", hint=f"give a number for {missing[0]}")
    value = exact_value(d, values)
    if type(value) is int:
        return value
    raise _remainder(d, values)


def exact_value(d: Dim, values: Mapping[str, int]) -> Coef:
    """The number, whole or not; every name must have a value.

    :raises DimError: for a division by 0.
    """
    total: Coef = 0
    for mono, c in d.terms:
        product: Coef = c
        for factor, exponent in mono:
            base = values[factor] if type(factor) is str else _atom_value(factor, values)
            if exponent == 1:
                product *= base
            elif exponent > 0:
                product *= base**exponent
            elif base == 0:
                raise DimError(f"{d} divides by {factor}, which is 0")
            else:
                product = Fraction(product) / base**-exponent
        total += product
    if d.den is not None:
        below = exact_value(d.den, values)
        if below == 0:
            raise DimError(f"{d} divides by {d.den}, which is 0")
        total = Fraction(total) / below
    return poly.whole(total)


def _remainder(d: Dim, values: Mapping[str, int]) -> DimError:
    bound = ", ".join(f"{name} = {values[name]}" for name in sorted(d.free))
    for top, bottom in d.divisions:
        a, b = exact_value(top, values), exact_value(bottom, values)
        if type(a) is int and type(b) is int and a % b:
            low, high = nearest_multiples(a, b)
            where = f" ({bound})" if bound else ""
            return DimError(
                f"{d} is not a whole number: {a} is not divisible by {b}, "
                f"remainder {a % b}{where}",
                hint=f"the nearest multiples of {b} are {low} and {high}"
                if low
                else f"the nearest multiple of {b} is {high}",
            )
    return DimError(
        f"{d} is not a whole number for {bound}" if bound else f"{d} is not a whole number"
    )


def _atom_value(atom: Opaque, values: Mapping[str, int]) -> int:
    kind = atom.kind
    if kind in ("floor", "ceil"):
        value = exact_value(atom.args[0], values)
        return math.floor(value) if kind == "floor" else math.ceil(value)
    numbers = [whole_value(arg, values) for arg in atom.args]
    if kind == "min":
        return min(numbers)
    if kind == "max":
        return max(numbers)
    if numbers[1] == 0:
        raise DimError(f"{atom} divides by {atom.args[1]}, which is 0")
    return numbers[0] % numbers[1]
