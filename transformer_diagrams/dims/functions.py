"""The opaque functions of sizes: floor, ceil, remainder, minimum, maximum, each simplified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from transformer_diagrams.dims import polynomials as poly
from transformer_diagrams.dims.errors import DimError
from transformer_diagrams.dims.formula import (
    ONE,
    SIMPLIFIED,
    ZERO,
    Dim,
    Opaque,
    as_dim,
    const,
    divided,
    of_atom,
    of_poly,
    of_terms,
    over,
    sole_atom,
)
from transformer_diagrams.dims.polynomials import Coef, Poly


def split_whole(d: Dim) -> tuple[Dim, Dim]:
    """``d`` as a part that is surely a whole number, and the rest."""
    if d.den is not None:
        if any(e < 0 for m, _ in d.terms for _, e in m):
            return ZERO, d
        quotient, _ = poly.divide(dict(d.terms), dict(d.den.terms))
        kept = of_poly({m: c for m, c in quotient.items() if type(c) is int})
        return kept, d - kept
    good: Poly = {}
    rest: Poly = {}
    for mono, c in d.terms:
        target = good if type(c) is int and all(e > 0 for _, e in mono) else rest
        target[mono] = c
    if not good:
        return ZERO, d
    return of_poly(good), of_poly(rest)


def _names_only(d: Dim) -> bool:
    """Whether ``d`` is a positive number times names, so surely a positive whole number."""
    if d.den is not None or len(d.terms) != 1:
        return False
    mono, c = d.terms[0]
    return type(c) is int and c > 0 and all(type(f) is str and e > 0 for f, e in mono)


def floor_of(d: Dim) -> Dim:
    """``d`` rounded down. ``floor((a b + c) / b)`` is ``a + floor(c / b)``."""
    return _rounded(d, "floor")


def ceil_of(d: Dim) -> Dim:
    """``d`` rounded up."""
    return _rounded(d, "ceil")


def _rounded(d: Dim, kind: str) -> Dim:
    outside, rest = split_whole(d)
    number = rest.as_fraction
    if number is not None:
        return outside + const(math.floor(number) if kind == "floor" else math.ceil(number))
    # floor((floor(y) + r) / n) = floor((y + r) / n) for a positive whole n; ceil likewise
    top, bottom = over(rest)
    if _names_only(bottom):
        for mono, c in top.terms:
            if c == 1 and len(mono) == 1 and mono[0][1] == 1:
                inner = mono[0][0]
                if type(inner) is Opaque and inner.kind == kind:
                    others = top - of_terms(((mono, 1),))
                    if others.is_whole:
                        return outside + _rounded(divided(inner.args[0] + others, bottom), kind)
    return outside + of_atom(Opaque(kind, (rest,)))


def modulo(a: Dim, b: Dim) -> Dim:
    """The remainder of ``a`` by ``b``, with the sign of ``b``. ``(a b + c) % b`` is ``c % b``."""
    if not b.terms:
        raise DimError(f"{a} is divided by 0")
    outside, rest = split_whole(divided(a, b))
    if not rest.terms or b == ONE:
        return ZERO
    if outside.terms:
        a = a - b * outside
    x, y = a.as_fraction, b.as_fraction
    if x is not None and y is not None:
        return const(x % y)
    only = sole_atom(a)
    if only is not None and only.kind == "mod" and only.args[1] == b:
        return a
    return of_atom(Opaque("mod", (a, b)))


def sole_mod(d: Dim) -> tuple[Dim, Dim] | None:
    """(a, b), if the formula is nothing but ``a % b``."""
    only = sole_atom(d)
    return (only.args[0], only.args[1]) if only is not None and only.kind == "mod" else None


def minimum(*args: Dim | int) -> Dim:
    """The least of the arguments; those that are surely not the least are dropped."""
    return _extreme("min", args)


def maximum(*args: Dim | int) -> Dim:
    """The greatest of the arguments; those that are surely not the greatest are dropped."""
    return _extreme("max", args)


def _extreme(kind: str, args: Sequence[Dim | int]) -> Dim:
    if not args:
        raise DimError(f"{kind} needs at least one argument")
    flat: dict[Dim, None] = {}
    for arg in map(as_dim, args):
        only = sole_atom(arg)
        inner = only.args if only is not None and only.kind == kind else (arg,)
        flat.update(dict.fromkeys(inner))
    kept = not_idle(kind, flat, _surely_le)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda d: (not d.is_const, d.canonical))
    return of_atom(Opaque(kind, tuple(kept)))


def not_idle(kind: str, args: Iterable[Dim], le: Callable[[Dim, Dim], bool]) -> list[Dim]:
    """The arguments of a minimum or maximum without those that another one makes idle.

    ``le`` says of two whether the first is surely not above the second.
    """
    kept: list[Dim] = []
    for d in args:
        if any(le(k, d) if kind == "min" else le(d, k) for k in kept):
            continue
        kept = [k for k in kept if not (le(d, k) if kind == "min" else le(k, d))]
        kept.append(d)
    return kept


def _surely_le(a: Dim, b: Dim) -> bool:
    """Whether ``a <= b`` follows at once from every name being 1 or more."""
    gap = b - a
    if gap.den is not None:
        return False
    least: Coef = 0
    for mono, c in gap.terms:
        if c > 0 and all(type(f) is str for f, _ in mono):
            least += c if all(e > 0 for _, e in mono) else 0
        elif mono:
            return False
        else:
            least += c
    return least >= 0


SIMPLIFIED.update(floor=floor_of, ceil=ceil_of, mod=modulo, min=minimum, max=maximum)
