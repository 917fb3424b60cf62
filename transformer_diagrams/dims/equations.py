"""Equations and inequalities as they stand: solved for a name, sorted to two sides, refuted."""

from __future__ import annotations

from fractions import Fraction

from transformer_diagrams.dims import polynomials as poly
from transformer_diagrams.dims.bounds import never_negative
from transformer_diagrams.dims.conditions import Condition
from transformer_diagrams.dims.formula import Dim, const, divided, of_poly, over, sole_atom
from transformer_diagrams.dims.polynomials import Poly
from transformer_diagrams.dims.show import name_order


def solved(gap: Dim, favoured: list[str]) -> tuple[str, Dim] | None:
    """A name and what it must be for ``gap`` to be 0, or None where no name stands alone."""
    top, _ = over(gap)
    choices: list[tuple[tuple[object, ...], str, int]] = []
    for index, (mono, _) in enumerate(top.terms):
        for factor, exponent in mono:
            if not isinstance(factor, str) or exponent != 1:
                continue
            elsewhere = any(
                factor in (f if isinstance(f, str) else f.free)
                if not isinstance(f, str)
                else f == factor
                for i, (m, _) in enumerate(top.terms)
                for f, _ in m
                if (i, f) != (index, factor)
            )
            if elsewhere:
                continue
            atoms = sum(not isinstance(f, str) for f, _ in mono)
            rank = favoured.index(factor) if factor in favoured else len(favoured)
            order = name_order(factor)
            choices.append(((rank, atoms, len(mono), -order[0], order[1]), factor, index))
    if not choices:
        return None
    _, name, index = min(choices)
    mono, c = top.terms[index]
    beside = of_poly({tuple(item for item in mono if item[0] != name): c})
    if beside.depth:  # a factor that may be 0
        return None
    rest = of_poly(dict(item for i, item in enumerate(top.terms) if i != index))
    return name, divided(-rest, beside)


def remainder_differs(gap: Dim) -> bool:
    """Whether ``gap`` cannot be 0 because its parts differ modulo some number: 2 a - 2 b - 1."""
    top, _ = over(gap)
    terms: Poly = dict(top.terms)
    constant = terms.pop((), 0)
    if not constant or not terms:
        return False
    return (Fraction(constant) / poly.content(terms.values())).denominator != 1


def sure_remainder(d: Dim, divisor: int) -> bool:
    terms: Poly = dict(d.terms)
    constant = terms.pop((), 0)
    return constant % divisor != 0 and all(c % divisor == 0 for c in terms.values())


def height(d: Dim) -> int:
    """How much stands below the fraction bar."""
    return sum(-e for m, _ in d.terms for _, e in m if e < 0) + sum(
        Fraction(c).denominator.bit_length() for _, c in d.terms
    )


def sides(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """``a == b`` without what both sides share, without fractions and minus signs."""
    plus, minus = signed(a - b)
    if not plus.terms or (minus.name and not plus.name) or (
        len(minus.terms) == 1 < len(plus.terms) and minus.terms[0][0]
    ):
        return minus, plus
    return plus, minus


def signed(gap: Dim) -> tuple[Dim, Dim]:
    """(plus, minus): the positive and the negative terms of what ``gap`` has above its fraction
    bar, without the positive factor that all share."""
    top, _ = over(gap)
    terms: Poly = dict(top.terms)
    shared = tuple((f, -e) for f, e in poly.common_factor(terms) if isinstance(f, str))
    terms = poly.scaled(terms, shared, 1 / poly.content(terms.values()))
    return (
        of_poly({m: c for m, c in terms.items() if c > 0}),
        of_poly({m: -c for m, c in terms.items() if c < 0}),
    )


def above(d: Dim, least: int) -> Condition:
    """The relation that makes ``d`` a size from ``least`` up, as an author would state it.

    >>> from transformer_diagrams.dims import parse
    >>> str(above(parse("n_h d_m - n_h d_c"), 1)), str(above(parse("d_m - 8"), 0))
    ('d_c < d_m', '8 <= d_m')
    """
    only = sole_atom(d)
    if least == 1 and only is not None and only.kind == "floor":
        d, least = only.args[0] - 1, 0
    op = "<" if least == 1 else "<="
    gap = d if least == 1 else d - least
    _, bottom = over(gap)
    if not never_negative(bottom, strict=True):
        return Condition("<=", const(least), d)
    plus, minus = signed(gap)
    return Condition(op, minus, plus)
