"""Proofs that a formula is never negative, for all positive whole values of its names.

Each name is written as 1 + y with y >= 0: when no coefficient is negative then, the formula is
never less than its constant. Opaque factors are first replaced by what bounds them, for example
``x - 1 < floor(x) <= x``. What is not proved is not known. Numbers are tried first, but only to
give up early on what is false.
"""

from __future__ import annotations

from math import comb, prod

from transformer_diagrams.dims import polynomials as poly
from transformer_diagrams.dims.errors import DimError
from transformer_diagrams.dims.formula import (
    ONE,
    ZERO,
    Dim,
    Opaque,
    divided,
    of_poly,
    over,
    rebuild,
)
from transformer_diagrams.dims.polynomials import Coef, Poly
from transformer_diagrams.dims.values import exact_value

_MAX_STEPS = 60  # formulas looked at in one proof
_MAX_POINTS = 6
_MAX_TERMS = 40  # of a formula that more than its form is looked at
_MAX_SHIFTED = 1500  # terms after writing each name as 1 + y


class _Proof:
    def __init__(self, d: Dim, known: tuple[Dim, ...]) -> None:
        self.known = known
        self.steps = 0
        names = sorted(d.free.union(*(fact.free for fact in known)))
        self.points = [
            point for point in _points(names) if not any(_below(fact, point) for fact in known)
        ]

    def holds(self, d: Dim, strict: bool, facts: int = 2) -> bool:
        """Whether d >= 0 (d > 0) is proved; ``facts`` of the known ones may still be used."""
        self.steps += 1
        if self.steps > _MAX_STEPS:
            return False
        number = d.as_fraction
        if number is not None:
            return number > 0 if strict else number >= 0
        # What fails for some numbers needs no search for a proof.
        if any(_below(d, point, strict) for point in self.points):
            return False
        top, bottom = over(d)
        if bottom is not ONE and not self._positive(bottom):
            return False
        top = _simpler(top)
        if self._by_form(top, strict):
            return True
        if len(top.terms) > _MAX_TERMS:
            return False
        return self._by_atoms(top, strict, facts) or self._by_facts(top, strict, facts)

    def _positive(self, d: Dim) -> bool:
        if len(d.terms) == 1 and d.depth == 0:
            return d.terms[0][1] > 0
        return self.holds(d, True, 1)

    def _by_form(self, d: Dim, strict: bool) -> bool:
        for atom in _atoms(d):
            if not self._atom_not_negative(atom):
                return False
        least: Coef
        if all(c > 0 for _, c in d.terms):
            least = sum(c for m, c in d.terms if all(type(f) is str for f, _ in m))
        else:
            shifted = _shifted(d)
            if shifted is None or any(c < 0 for m, c in shifted.items() if m):
                return False
            least = shifted.get((), 0)
        return least > 0 if strict else least >= 0

    def _atom_not_negative(self, atom: Opaque) -> bool:
        if atom.kind in ("floor", "ceil"):
            return self.holds(atom.args[0], False, 1)
        if atom.kind == "mod":
            return self._positive(atom.args[1])
        proofs = (self.holds(arg, False, 1) for arg in atom.args)
        return all(proofs) if atom.kind == "min" else any(proofs)

    def _by_atoms(self, d: Dim, strict: bool, facts: int) -> bool:
        for atom in _atoms(d):
            sign = self._slope(d, atom)
            if atom.kind in ("min", "max"):
                cases = (self.holds(_put(d, atom, arg), strict, facts) for arg in atom.args)
                # A minimum pulled down is at most any of its arguments: one of them is enough.
                eager = sign == (-1 if atom.kind == "min" else 1)
                if any(cases) if eager else all(cases):
                    return True
            elif sign:
                bound = self._bound(atom, sign)
                if bound is not None and self.holds(_put(d, atom, bound), strict, facts):
                    return True
        return False

    def _slope(self, d: Dim, atom: Opaque) -> int:
        """1 or -1 where ``d`` surely grows or falls with ``atom``, else 0."""
        signs = set()
        for mono, c in d.terms:
            for factor, exponent in mono:
                if factor != atom:
                    continue
                others = [f for f, _ in mono if f != atom]
                if exponent != 1 or not all(
                    type(f) is str or self._atom_not_negative(f) for f in others
                ):
                    return 0
                signs.add(1 if c > 0 else -1)
        return signs.pop() if len(signs) == 1 else 0

    def _bound(self, atom: Opaque, sign: int) -> Dim | None:
        """A formula not above the atom (sign 1) or not below it (sign -1)."""
        if atom.kind == "mod":
            b = atom.args[1]
            if not self._positive(b):
                return None
            return ZERO if sign > 0 else b - 1
        x = atom.args[0]
        if (atom.kind == "floor") == (sign < 0):
            return x
        # A whole p over a positive whole q is rounded by at most (q - 1) / q.
        _, bottom = over(x)
        if not self._positive(bottom):
            return None
        slack = divided(bottom - 1, bottom)
        return x - slack if sign > 0 else x + slack

    def _by_facts(self, d: Dim, strict: bool, facts: int) -> bool:
        if not facts:
            return False
        near = [fact for fact in self.known if not fact.free.isdisjoint(d.free)]
        for fact in near:
            quotient = None if strict else _multiple(d, fact)
            if quotient is not None and self.holds(quotient, False, 0):
                return True
        return any(self.holds(d - fact, strict, facts - 1) for fact in near)


def never_negative(d: Dim, *, strict: bool = False, known: tuple[Dim, ...] = ()) -> bool:
    """Whether d >= 0 (with ``strict``: d > 0) for all positive names that make ``known`` >= 0.

    False says only that it was not proved.
    """
    if d.den is None and all(c > 0 for _, c in d.terms) and not d.depth:
        return bool(d.terms) or not strict
    return _Proof(d, known).holds(d, strict)


def _points(names: list[str]) -> list[dict[str, int]]:
    """A few small values for the names: all alike, and each one far above or below the rest."""
    out = [dict.fromkeys(names, 1), dict.fromkeys(names, 6)]
    for name in names[:_MAX_POINTS]:
        out.append(dict.fromkeys(names, 1) | {name: 12})
        out.append(dict.fromkeys(names, 12) | {name: 1})
    return out


def _below(d: Dim, point: dict[str, int], strict: bool = False) -> bool:
    """Whether ``d`` is below 0 there (with ``strict``: not above it)."""
    try:
        value = exact_value(d, point)
    except DimError:  # no value there: it says nothing
        return False
    return value <= 0 if strict else value < 0


def _multiple(d: Dim, of: Dim) -> Dim | None:
    """``d / of`` where that is a sum without a fraction; ``d`` has whole coefficients."""
    top, bottom = over(of)
    quotient = poly.exact(dict(d.terms), dict(top.terms))
    return None if quotient is None else of_poly(quotient) * bottom


def _atoms(d: Dim) -> list[Opaque]:
    if not d.depth:
        return []
    found = {f: None for m, _ in d.terms for f, _ in m if type(f) is Opaque}
    return sorted(found)


def _put(d: Dim, atom: Opaque, value: Dim) -> Dim:
    return rebuild(d, lambda factor: value if factor == atom else None)


def _simpler(d: Dim) -> Dim:
    """Without the positive factor that all terms share."""
    terms = dict(d.terms)
    shared = tuple((f, -e) for f, e in poly.common_factor(terms) if type(f) is str)
    by = poly.content(terms.values())
    if not shared and by == 1:
        return d
    return of_poly(poly.scaled(terms, tuple(sorted(shared)), 1 / by))


def _shifted(d: Dim) -> Poly | None:
    """``d`` with each name x written as 1 + x; None when that is too long."""
    size = sum(prod(e + 1 for f, e in m if type(f) is str) for m, _ in d.terms)
    if size > _MAX_SHIFTED:
        return None
    out: Poly = {}
    for mono, c in d.terms:
        part: Poly = {tuple((f, e) for f, e in mono if type(f) is not str): c}
        for factor, exponent in mono:
            if type(factor) is str:
                power: Poly = {
                    (((factor, k),) if k else ()): comb(exponent, k) for k in range(exponent + 1)
                }
                part = poly.times(part, power)
        for m, value in part.items():
            out[m] = out.get(m, 0) + value
    return {m: c for m, c in out.items() if c}
