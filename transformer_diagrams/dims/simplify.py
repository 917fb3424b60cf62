"""Opaque factors made simpler by what is known: a remainder that is 0, an idle argument."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from transformer_diagrams.dims.bounds import never_negative
from transformer_diagrams.dims.formula import (
    ONE,
    ZERO,
    Dim,
    Opaque,
    apply,
    const,
    divided,
    of_poly,
    over,
    rebuild,
)
from transformer_diagrams.dims.functions import floor_of, not_idle, split_whole
from transformer_diagrams.dims.verdict import Verdict

if TYPE_CHECKING:
    from transformer_diagrams.dims.facts import Facts

MAX_ROUNDS = 4  # one simplification may allow another


def reduced_atoms(d: Dim, facts: Facts) -> Dim:
    """``d`` with what the facts decide of its opaque factors."""
    if not d.depth:
        return d

    def put(factor: str | Opaque) -> Dim | None:
        return None if isinstance(factor, str) else _reduced_atom(factor, facts)

    return rebuild(d, put)


def _reduced_atom(atom: Opaque, facts: Facts) -> Dim:
    args = tuple(reduced_atoms(arg.subs(facts.rules), facts) for arg in atom.args)
    if atom.kind == "mod":
        a, b = args
        whole, rest = _whole_part(divided(a, b), facts)
        if not rest.terms:
            return ZERO
        if whole.terms and not b.depth:
            a = b * rest
        if facts.not_negative(a) and facts.positive(b - a):
            return a
        return apply("mod", a, b)
    if atom.kind in ("floor", "ceil"):
        outside, rest = _whole_part(args[0], facts)
        if rest.terms and facts.not_negative(rest):
            if atom.kind == "floor" and facts.positive(1 - rest):
                rest = ZERO
            elif atom.kind == "ceil" and facts.positive(rest) and facts.not_negative(1 - rest):
                rest = ONE
        return outside + apply(atom.kind, rest)
    kept = not_idle(atom.kind, args, lambda a, b: facts.le(a, b) is Verdict.YES)
    return apply(atom.kind, *kept)


def _whole_part(d: Dim, facts: Facts) -> tuple[Dim, Dim]:
    """``d`` as a part that the facts make whole, and the rest: (a + r)/n is a/n and r/n."""
    outside, rest = split_whole(d)
    for top, bottom in rest.divisions:
        part = divided(top, bottom)
        if facts.is_whole(part):
            outside, rest = outside + part, rest - part
    top, bottom = over(rest)
    if len(top.terms) > 1:
        for mono, c in top.terms:
            part = divided(of_poly({mono: c}), bottom)
            if facts.is_whole(part):
                outside, rest = outside + part, rest - part
        for fact in facts.whole_fractions:
            part = _multiple_in(rest, fact)
            outside, rest = outside + part, rest - part
    return outside, rest


def _multiple_in(d: Dim, fact: Dim) -> Dim:
    """The whole multiple of ``fact`` that leaves ``d`` with fewer terms; 0, if there is none."""
    if len(fact.terms) < 2 or d.den != fact.den:
        return ZERO
    there = dict(d.terms)
    times = divided(const(there.get(fact.terms[0][0], 0)), const(fact.terms[0][1]))
    if times.as_int() is None or len((d - times * fact).terms) >= len(d.terms):
        return ZERO
    return times * fact


def canonical(d: Dim, facts: Facts) -> Dim:
    """With floors only, their coefficients in 0..n-1 and their constant in 1-n..0."""
    for _ in range(MAX_ROUNDS):
        before, d = d, reduced_atoms(rebuild(d, _as_floors), facts)
        if before == d:
            break
    return rebuild(d, _as_floors) if d.depth else d


def _as_floors(factor: str | Opaque) -> Dim | None:
    """A remainder or a ceiling by its floor; a floor with reduced coefficients."""
    if isinstance(factor, str):
        return None
    args = tuple(rebuild(arg, _as_floors) if arg.depth else arg for arg in factor.args)
    if factor.kind == "mod":
        a, b = args
        return a - b * _floor_reduced(divided(a, b))
    if factor.kind == "floor":
        return _floor_reduced(args[0])
    if factor.kind == "ceil":
        top, bottom = over(args[0])
        if not never_negative(bottom, strict=True):
            return apply("ceil", *args)
        return _floor_reduced(divided(top - 1, bottom)) + 1
    return apply(factor.kind, *args)


def _floor_reduced(d: Dim) -> Dim:
    outside, rest = split_whole(d)
    if rest.den is not None or not rest.terms:
        return floor_of(d)
    _, bottom = over(rest)
    for mono, c in rest.terms:
        if any(e < 0 for _, e in mono):
            continue
        if mono:
            shift = floor(c)
        elif bottom.is_const:
            shift = -floor(-c)
        else:
            continue
        if shift:
            step = of_poly({mono: shift})
            outside, rest = outside + step, rest - step
    return outside + floor_of(rest)
