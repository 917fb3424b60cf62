"""Sums of products as plain dicts: add, multiply, divide with remainder, greatest common divisor.

A polynomial is a dict from monomial to coefficient; a monomial is a sorted tuple of (factor,
exponent). A factor is a name or an opaque atom: here any two factors are just two variables.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd as int_gcd
from math import lcm
from operator import itemgetter
from typing import Any

from transformer_diagrams.dims.errors import (
    MAX_BITS,
    MAX_DEGREE,
    MAX_PRODUCTS,
    MAX_TERMS,
    too_large,
)

Coef = int | Fraction
Mono = tuple[tuple[Any, int], ...]
Poly = dict[Mono, Coef]
Terms = tuple[tuple[Mono, Coef], ...]

_MAX_GCD_STEPS = 3000  # term by term products in one search for a common divisor
_MAX_GCD_BITS = 256
_LARGEST = 1 << MAX_BITS
_FIRST = itemgetter(0)


def whole(c: Coef) -> Coef:
    """A fraction with denominator 1 as an int."""
    if type(c) is int:
        return c
    return c.numerator if c.denominator == 1 else c


def join(a: Mono, b: Mono) -> Mono:
    """The product of two monomials."""
    if not a:
        return b
    if not b:
        return a
    powers = dict(a)
    for factor, exponent in b:
        total = powers.get(factor, 0) + exponent
        if total:
            if not -MAX_DEGREE <= total <= MAX_DEGREE:
                raise too_large(f"a power beyond {MAX_DEGREE}")
            powers[factor] = total
        else:
            del powers[factor]
    return tuple(sorted(powers.items()))


def inverse(m: Mono) -> Mono:
    return tuple((factor, -exponent) for factor, exponent in m)


def canonical(p: Poly) -> Terms:
    """The terms of a sum in the one order that equal sums share.

    :raises DimError: too many of them, or too large a number.
    """
    for c in p.values():
        if type(c) is int:
            if not -_LARGEST < c < _LARGEST:
                raise too_large(f"a number of more than {MAX_BITS} bits")
        elif not (-_LARGEST < c.numerator < _LARGEST and c.denominator < _LARGEST):
            raise too_large(f"a number of more than {MAX_BITS} bits")
    kept = [item for item in p.items() if item[1]]
    if len(kept) > MAX_TERMS:
        raise too_large(f"more than {MAX_TERMS:,} terms")
    if len(kept) > 1:
        kept.sort(key=_FIRST)
    return tuple(kept)


def add_to(total: Poly, terms: Iterable[tuple[Mono, Coef]]) -> None:
    """Add terms to a sum in place; those that cancel may stay, with coefficient 0.

    :raises DimError: for too many of them.
    """
    for m, c in terms:
        total[m] = whole(total.get(m, 0) + c)
    if len(total) > 2 * MAX_TERMS:
        for m in [m for m, c in total.items() if not c]:
            del total[m]
        if len(total) > MAX_TERMS:
            raise too_large(f"more than {MAX_TERMS:,} terms")


def times(p: Poly, q: Poly) -> Poly:
    """The product; refused when it would take too many steps."""
    if len(p) * len(q) > MAX_PRODUCTS:
        raise too_large(f"a product of {len(p):,} by {len(q):,} terms")
    out: Poly = {}
    for m, c in p.items():
        for n, d in q.items():
            key = join(m, n)
            out[key] = out.get(key, 0) + c * d
    return {m: whole(c) for m, c in out.items() if c}


def minus(p: Poly, q: Poly) -> Poly:
    out = dict(p)
    for m, c in q.items():
        out[m] = whole(out.get(m, 0) - c)
    return {m: c for m, c in out.items() if c}


def scaled(p: Poly, mono: Mono, by: Coef) -> Poly:
    return {join(m, mono): whole(c * by) for m, c in p.items()}


def common_factor(p: Poly) -> Mono:
    """The monomial that can be taken out of every term; exponents may be negative."""
    lowest: dict[Any, int] = {}
    for m in p:
        for factor, exponent in m:
            lowest[factor] = min(lowest.get(factor, exponent), exponent)
    for m in p:
        powers = dict(m)
        for factor in lowest:
            lowest[factor] = min(lowest[factor], powers.get(factor, 0))
    return tuple(sorted((f, e) for f, e in lowest.items() if e))


def content(coefs: Iterable[Coef]) -> Fraction:
    """The positive rational that leaves whole coefficients without a common divisor."""
    top, bottom = 0, 1
    for c in coefs:
        f = Fraction(c)
        top = int_gcd(top, f.numerator)
        bottom = lcm(bottom, f.denominator)
    return Fraction(top, bottom) if top else Fraction(1)


def factors(p: Poly) -> list[Any]:
    return sorted({factor for m in p for factor, _ in m})


def _order(variables: list[Any], m: Mono) -> tuple[int, ...]:
    powers = dict(m)
    return tuple(powers.get(v, 0) for v in variables)


def lead(p: Poly, variables: list[Any] | None = None) -> Mono:
    """The leading monomial in the lexicographic order of the sorted factors."""
    names = factors(p) if variables is None else variables
    return max(p, key=lambda m: _order(names, m))


def divide(p: Poly, q: Poly) -> tuple[Poly, Poly]:
    """Quotient and remainder of ordinary polynomials by the leading term of ``q``."""
    variables = sorted({*factors(p), *factors(q)})
    top = lead(q, variables)
    back = inverse(top)
    quotient: Poly = {}
    remainder: Poly = {}
    rest = dict(p)
    steps = 0
    while rest:
        steps += len(q)
        if steps > MAX_PRODUCTS:
            raise too_large("a division of long sums")
        m = lead(rest, variables)
        ratio = join(m, back)
        if any(e < 0 for _, e in ratio):
            remainder[m] = rest.pop(m)
            continue
        c = whole(Fraction(rest[m]) / q[top])
        quotient[ratio] = c
        rest = minus(rest, scaled(q, ratio, c))
    return quotient, remainder


def exact(p: Poly, q: Poly) -> Poly | None:
    """``p / q`` where nothing remains, else None."""
    quotient, remainder = divide(p, q)
    return None if remainder else quotient


def _primitive(p: Poly) -> Poly:
    by = content(p.values())
    if p and p[lead(p)] < 0:
        by = -by
    return {m: whole(c / by) for m, c in p.items()}


def _by_power(p: Poly, x: Any) -> dict[int, Poly]:
    out: dict[int, Poly] = {}
    for m, c in p.items():
        power = 0
        rest = []
        for factor, exponent in m:
            if factor == x:
                power = exponent
            else:
                rest.append((factor, exponent))
        out.setdefault(power, {})[tuple(rest)] = c
    return out


def gcd(p: Poly, q: Poly) -> Poly:
    """Greatest common divisor over the rationals, primitive, with a positive leading term.

    Where finding it would take long (sums far beyond any architecture's), it is taken to be 1:
    a fraction is then left as it is, with the same value.
    """
    if not p or not q:
        return _primitive(p or q)
    try:
        return _Euclid().gcd(p, q)
    except _Long:
        return {(): 1}


def lowest_terms(p: Poly, q: Poly) -> tuple[Poly, Poly]:
    """``p / q`` reduced: the divisor an ordinary sum with whole coefficients, the first of them
    positive, and without a factor of all its terms."""
    up, down = common_factor(p), common_factor(q)
    p, q = scaled(p, inverse(up), 1), scaled(q, inverse(down), 1)
    shared = gcd(p, q)
    if shared != {(): 1}:
        reduced, below = exact(p, shared), exact(q, shared)
        assert reduced is not None
        assert below is not None
        p, q = reduced, below
    by = content(q.values())
    if q[lead(q)] < 0:
        by = -by
    return (
        scaled(p, join(up, inverse(down)), 1 / by),
        {m: whole(c / by) for m, c in q.items()},
    )


class _Long(Exception):
    """The divisor would take too many steps."""


class _Euclid:
    """Euclid's algorithm on primitive parts, one variable after another.

    Knuth, The Art of Computer Programming, volume 2, section 4.6.1.
    """

    def __init__(self) -> None:
        self.left = _MAX_GCD_STEPS

    def spend(self, p: Poly, q: Poly) -> None:
        self.left -= 1 + len(p) * len(q)
        if self.left < 0 or any(
            abs(Fraction(c).numerator).bit_length() > _MAX_GCD_BITS for c in p.values()
        ):
            raise _Long

    def gcd(self, p: Poly, q: Poly) -> Poly:
        if not p or not q:
            return _primitive(p or q)
        self.spend(p, q)
        mine, yours = factors(p), factors(q)
        shared = [x for x in mine if x in yours]
        if not shared:
            return {(): 1}
        lonely = [x for x in mine if x not in yours]
        if lonely:
            return self.gcd(self.content(p, lonely[0]), q)
        lonely = [x for x in yours if x not in mine]
        if lonely:
            return self.gcd(p, self.content(q, lonely[0]))
        x = shared[0]
        a_content, b_content = self.content(p, x), self.content(q, x)
        a, b = self.cut(p, a_content), self.cut(q, b_content)
        if max(_by_power(a, x)) < max(_by_power(b, x)):
            a, b = b, a
        while b:
            rest = self.pseudo_remainder(a, b, x)
            a, b = b, {}
            if rest:
                if x not in factors(rest):
                    a = {(): 1}
                else:
                    b = _primitive(self.cut(rest, self.content(rest, x)))
        return _primitive(times(self.gcd(a_content, b_content), a))

    def content(self, p: Poly, x: Any) -> Poly:
        """The common divisor of the coefficients of the powers of ``x``."""
        found: Poly = {}
        for _, part in sorted(_by_power(p, x).items()):
            found = self.gcd(found, part)
        return found

    def cut(self, p: Poly, q: Poly) -> Poly:
        if q == {(): 1}:
            return p
        self.spend(p, q)
        quotient = exact(p, q)
        assert quotient is not None
        return quotient

    def pseudo_remainder(self, p: Poly, q: Poly, x: Any) -> Poly:
        """``p`` less multiples of ``q``, after as many factors of q's leading coefficient as it
        takes to stay among whole coefficients."""
        parts = _by_power(q, x)
        degree = max(parts)
        top = parts[degree]
        rest = p
        while rest:
            own = _by_power(rest, x)
            high = max(own)
            if high < degree:
                break
            self.spend(rest, q)
            step: Mono = ((x, high - degree),) if high > degree else ()
            rest = minus(times(top, rest), times(times(own[high], {step: 1}), q))
        return rest
