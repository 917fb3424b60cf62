"""Symbolic sizes: exact polynomials over positive integer names, in one canonical form.

A :class:`Dim` is a sum of terms; a term is a rational coefficient times powers of atoms; an atom
is a name or an opaque function (floor division, modulo, min, max, an inexact quotient). Equal
sizes have equal form, so ``==`` and ``hash`` are structural: ``n_h * (d_m / n_h) == d_m``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Union

Number = Union[int, Fraction]
MAX_TERMS = 400
MAX_POWER = 64
MAX_NUMBER = 10**60


class DimError(ValueError):
    """A size that cannot be read or computed. ``column`` counts from one (0: no place)."""

    def __init__(self, message: str, column: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.column, self.hint = message, column, hint


@dataclass(frozen=True, slots=True)
class Atom:
    """An opaque function of sizes. ``kind`` is floordiv, mod, min, max or div."""

    kind: str
    args: tuple[Dim, ...]

    def __str__(self) -> str:
        if self.kind == "mod":
            return f"({self.args[0]} % {_factor(self.args[1])})"
        if self.kind == "floordiv":
            return f"floor({_over(self.args[0])}/{_factor(self.args[1])})"
        if self.kind == "div":
            return f"({_over(self.args[0])}/{_factor(self.args[1])})"
        return f"{self.kind}({', '.join(map(str, self.args))})"


Base = Union[str, Atom]
Monomial = tuple[tuple[Base, int], ...]


def _over(d: Dim) -> str:
    return f"({d})" if len(d.terms) > 1 else str(d)


def _factor(d: Dim) -> str:
    simple = len(d.terms) == 1 and (
        (not d.terms[0][0] and isinstance(d.terms[0][1], int))
        or (d.terms[0][1] == 1 and len(d.terms[0][0]) == 1 and d.terms[0][0][0][1] == 1)
    )
    return str(d) if simple else f"({d})"


def _key(base: Base) -> tuple[int, str]:
    return (0, base) if isinstance(base, str) else (1, str(base))


def _mono_key(mono: Monomial) -> tuple[object, ...]:
    degree = sum(e for _, e in mono)
    return (-degree, tuple((_key(b), -e) for b, e in mono))


def _whole(value: Number) -> Number:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


class Dim:
    """A size, e.g. ``2 n_g d_K`` or ``floor((h - 1)/2) + 1``; immutable and hashable."""

    __slots__ = ("_free", "_hash", "terms")

    def __init__(self, terms: tuple[tuple[Monomial, Number], ...]) -> None:
        self.terms = terms
        self._hash = hash(terms)
        self._free: frozenset[str] | None = None

    # -- identity ---------------------------------------------------------------------------

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, int):
            other = const(other)
        return isinstance(other, Dim) and self._hash == other._hash and self.terms == other.terms

    def __repr__(self) -> str:
        return f"Dim({str(self)!r})"

    @property
    def free(self) -> frozenset[str]:
        """The names it depends on."""
        if self._free is None:
            names: set[str] = set()
            for mono, _ in self.terms:
                for base, _e in mono:
                    if isinstance(base, str):
                        names.add(base)
                    else:
                        for arg in base.args:
                            names |= arg.free
            self._free = frozenset(names)
        return self._free

    @property
    def is_const(self) -> bool:
        return not self.terms or (len(self.terms) == 1 and not self.terms[0][0])

    def as_int(self) -> int | None:
        """Its value when it is a whole number without names, else None."""
        if not self.terms:
            return 0
        if self.is_const and isinstance(self.terms[0][1], int):
            return self.terms[0][1]
        return None

    @property
    def divisions(self) -> tuple[tuple[Dim, Dim], ...]:
        """(numerator, denominator) pairs that must divide without remainder."""
        found: dict[tuple[Dim, Dim], None] = {}
        for mono, coefficient in self.terms:
            below: Monomial = tuple((b, -e) for b, e in mono if e < 0)
            above: Monomial = tuple((b, e) for b, e in mono if e > 0)
            fraction = Fraction(coefficient)
            if below or fraction.denominator != 1:
                found[
                    (_make({above: fraction.numerator}), _make({below: fraction.denominator}))
                ] = None
            for base, _ in mono:
                if isinstance(base, Atom):
                    if base.kind == "div":
                        found[(base.args[0], base.args[1])] = None
                    for arg in base.args:
                        found.update(dict.fromkeys(arg.divisions))
        if len(self.terms) > 1 and any(Fraction(c).denominator != 1 for _, c in self.terms):
            # (a^2 + a)/2: only the whole need be whole
            bottom = 1
            for _, c in self.terms:
                bottom = max(bottom, Fraction(c).denominator)
            found = {k: None for k in found if not k[1].is_const}
            found[(self * bottom, const(bottom))] = None
        return tuple(found)

    # -- arithmetic -------------------------------------------------------------------------

    def __add__(self, other: Dim | int) -> Dim:
        return _sum((self, _dim(other)))

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return Dim(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Dim | int) -> Dim:
        return _sum((self, -_dim(other)))

    def __rsub__(self, other: Dim | int) -> Dim:
        return _dim(other) - self

    def __mul__(self, other: Dim | int) -> Dim:
        return _product(self, _dim(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Dim | int) -> Dim:
        return _divide(self, _dim(other))

    def __rtruediv__(self, other: Dim | int) -> Dim:
        return _dim(other) / self

    def __floordiv__(self, other: Dim | int) -> Dim:
        return _floordiv(self, _dim(other))

    def __rfloordiv__(self, other: Dim | int) -> Dim:
        return _dim(other) // self

    def __mod__(self, other: Dim | int) -> Dim:
        return _modulo(self, _dim(other))

    def __rmod__(self, other: Dim | int) -> Dim:
        return _dim(other) % self

    def __pow__(self, power: int) -> Dim:
        if not isinstance(power, int) or power < 0:
            raise DimError("a power must be a whole number, 0 or more")
        if power > MAX_POWER or (len(self.terms) > 1 and power > 12):
            raise DimError(f"the power {power} is too large")
        result = ONE
        for _ in range(power):
            result = result * self
        return result

    # -- use --------------------------------------------------------------------------------

    def subs(self, values: Mapping[str, Dim | int]) -> Dim:
        """With names replaced: ``parse("2 n").subs({"n": 3}) == 6``."""
        if not self.free & values.keys():
            return self
        total = ZERO
        for mono, coefficient in self.terms:
            up, down = const(coefficient), ONE
            for base, power in mono:
                value = (
                    _dim(values[base])
                    if isinstance(base, str) and base in values
                    else _name(base)
                    if isinstance(base, str)
                    else _apply(base.kind, tuple(a.subs(values) for a in base.args))
                )
                if power > 0:
                    up = up * value**power
                else:
                    down = down * value ** (-power)
            total = total + (up / down if down != ONE else up)
        return total

    def value(self, bindings: Mapping[str, int]) -> Fraction:
        """Its exact value as a fraction; raises DimError on an unbound name."""
        total = Fraction(0)
        for mono, coefficient in self.terms:
            term = Fraction(coefficient)
            for base, power in mono:
                if isinstance(base, str):
                    if base not in bindings:
                        raise DimError(f"'{base}' has no value", hint=f"give '{base}' a value")
                    number = Fraction(bindings[base])
                else:
                    number = _number(base, bindings)
                if power < 0 and not number:
                    raise DimError(f"{self} divides by zero")
                term *= number**power
            total += term
        return total

    def evaluate(self, bindings: Mapping[str, int]) -> int:
        """Its whole value; raises DimError on an unbound name or a remainder."""
        total = self.value(bindings)
        if total.denominator != 1:
            for above, below in self.divisions:
                top, bottom = above.value(bindings), below.value(bindings)
                if bottom and (top / bottom).denominator != 1:
                    raise DimError(
                        f"{self}: {above} = {top} is not divisible by {below} = {bottom}"
                        f" (remainder {top % bottom})"
                    )
            raise DimError(f"{self} = {total} is not a whole number")
        return total.numerator

    def __str__(self) -> str:
        return _text(self)

    def tex(self, names: Mapping[str, str] | None = None) -> str:
        """TeX, e.g. ``2\\, n_g\\, d_K``; ``names`` gives the TeX of single names."""
        from transformer_diagrams.dims.tex import tex

        return tex(self, names or {})


def _make(terms: Mapping[Monomial, Number]) -> Dim:
    kept = [(m, _whole(c)) for m, c in terms.items() if c]
    if len(kept) > MAX_TERMS:
        raise DimError(f"the formula has more than {MAX_TERMS} terms")
    for _, c in kept:
        if abs(c) > MAX_NUMBER:
            raise DimError("the formula holds a number that is too large")
    kept.sort(key=lambda t: _mono_key(t[0]))
    return Dim(tuple(kept))


@lru_cache(maxsize=4096)
def const(value: Number) -> Dim:
    """A number as a size."""
    value = _whole(value)
    return Dim((((), value),)) if value else Dim(())


@lru_cache(maxsize=4096)
def _name(name: str) -> Dim:
    return Dim(((((name, 1),), 1),))


def sym(name: str) -> Dim:
    """A name as a size."""
    return _name(name)


ZERO, ONE = const(0), const(1)


def _dim(value: Dim | int | Fraction) -> Dim:
    return value if isinstance(value, Dim) else const(value)


def _sum(parts: Iterable[Dim]) -> Dim:
    terms: dict[Monomial, Number] = {}
    for part in parts:
        for mono, coefficient in part.terms:
            terms[mono] = terms.get(mono, 0) + coefficient
    return _make(terms)


def _join(a: Monomial, b: Monomial) -> Monomial:
    powers: dict[Base, int] = dict(a)
    for base, power in b:
        powers[base] = powers.get(base, 0) + power
    for power in powers.values():
        if abs(power) > MAX_POWER:
            raise DimError(f"the power {power} is too large")
    return tuple(sorted(((b, e) for b, e in powers.items() if e), key=lambda t: _key(t[0])))


def _product(a: Dim, b: Dim) -> Dim:
    if a == ONE:
        return b
    if b == ONE:
        return a
    if len(a.terms) * len(b.terms) > MAX_TERMS * 4:
        raise DimError(f"the formula has more than {MAX_TERMS} terms")
    terms: dict[Monomial, Number] = {}
    again: list[Dim] = []
    for m, c in a.terms:
        for n, d in b.terms:
            mono = _join(m, n)
            opened = _cancel(mono, c * d)
            if opened is not None:
                again.append(opened)
            else:
                terms[mono] = terms.get(mono, 0) + c * d
    made = _make(terms)
    return _sum((made, *again)) if again else made


def _cancel(mono: Monomial, coefficient: Number) -> Dim | None:
    """((a + b)/2) * 2: a quotient times (a multiple of) its own denominator opens up."""
    for base, power in mono:
        if isinstance(base, Atom) and base.kind == "div" and power == 1:
            top, bottom = base.args
            if len(bottom.terms) != 1:
                continue
            ((below, factor),) = bottom.terms
            rest = dict(mono)
            del rest[base]
            if all(rest.get(b, 0) >= e for b, e in below) and (below or coefficient % factor == 0):
                for b, e in below:
                    rest[b] -= e
                kept: Monomial = tuple(
                    sorted(((b, e) for b, e in rest.items() if e), key=lambda t: _key(t[0]))
                )
                return top * _make({kept: Fraction(coefficient) / Fraction(factor)})
    return None


def product(parts: Iterable[Dim]) -> Dim:
    """The product of sizes (1 for none)."""
    result = ONE
    for part in parts:
        result = result * part
    return result


def _divide(a: Dim, b: Dim) -> Dim:
    if not b.terms:
        raise DimError("division by zero")
    if a == b:
        return ONE
    if len(b.terms) == 1:
        ((mono, coefficient),) = b.terms
        inverse: Monomial = tuple((x, -e) for x, e in mono)
        return _product(a, _make({inverse: 1 / Fraction(coefficient)}))
    quotient = _exact_quotient(a, b)
    if quotient is not None:
        return quotient
    return _make({((Atom("div", (a, b)), 1),): 1})


def _exact_quotient(a: Dim, b: Dim) -> Dim | None:
    """a / b when b is a factor of a up to a monomial, e.g. (2 a + 2 b)/(a + b)."""
    if len(a.terms) != len(b.terms):
        return None
    (m, c), (n, d) = a.terms[0], b.terms[0]
    try:
        factor = _make({_join(m, tuple((x, -e) for x, e in n)): Fraction(c) / Fraction(d)})
    except DimError:
        return None
    return factor if factor * b == a else None


def _floordiv(a: Dim, b: Dim) -> Dim:
    if not b.terms:
        raise DimError("division by zero")
    top, bottom = _ratio(a), _ratio(b)
    if top is not None and bottom is not None:
        return const(floor(top / bottom))
    quotient = a / b
    whole: dict[Monomial, Number] = {}
    rest = ZERO
    for mono, coefficient in quotient.terms:
        is_whole = isinstance(coefficient, int) and all(
            e > 0 and not (isinstance(x, Atom) and x.kind == "div") for x, e in mono
        )
        if is_whole:
            whole[mono] = coefficient
        else:
            rest = rest + _make({mono: coefficient})
    if not rest.terms:
        return quotient
    if whole and len(b.terms) == 1:
        left = _floordiv(rest * b, b) if (rest * b) != a else _opaque("floordiv", a, b)
        return _make(whole) + left
    return _opaque("floordiv", a, b)


def _modulo(a: Dim, b: Dim) -> Dim:
    if not b.terms:
        raise DimError("division by zero")
    top, bottom = _ratio(a), _ratio(b)
    if top is not None and bottom is not None:
        return const(top % bottom)
    kept = ZERO
    for mono, coefficient in a.terms:
        part = _make({mono: coefficient})
        quotient = part / b
        whole = all(
            isinstance(c, int) and all(e > 0 and not isinstance(x, Atom) for x, e in m)
            for m, c in quotient.terms
        )
        if not whole:
            kept = kept + part
    if not kept.terms:
        return ZERO
    return _opaque("mod", kept, b)


def minimum(*parts: Dim | int) -> Dim:
    """The least of some sizes."""
    return _extreme("min", [_dim(p) for p in parts])


def maximum(*parts: Dim | int) -> Dim:
    """The largest of some sizes."""
    return _extreme("max", [_dim(p) for p in parts])


def ceildiv(a: Dim, b: Dim) -> Dim:
    """a / b rounded up."""
    return -((-a) // b)


def _extreme(kind: str, parts: list[Dim]) -> Dim:
    flat: list[Dim] = []
    for part in parts:
        inner = part.terms[0][0][0][0] if len(part.terms) == 1 and part.terms[0][0] else None
        if isinstance(inner, Atom) and inner.kind == kind and part == _make({((inner, 1),): 1}):
            flat.extend(inner.args)
        else:
            flat.append(part)
    unique = list(dict.fromkeys(flat))
    kept: list[Dim] = []
    for part in unique:
        beaten = False
        for other in unique:
            if other is part:
                continue
            sign = sign_of(part - other)
            if sign is not None and (sign > 0 if kind == "min" else sign < 0):
                beaten = True
        if not beaten:
            kept.append(part)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=str)
    return _make({((Atom(kind, tuple(kept)), 1),): 1})


def sign_of(d: Dim) -> int | None:
    """The sign of a size for all positive names: 1, 0, -1, or None when it depends."""
    if not d.terms:
        return 0
    if any(isinstance(b, Atom) for m, _ in d.terms for b, _ in m):
        return None
    names = sorted(d.free)
    shifted = d
    if (
        all(e > 0 for m, _ in d.terms for _, e in m)
        and sum(e for m, _ in d.terms for _, e in m) <= 12
    ):
        # x >= 1: with x = 1 + y every coefficient of one sign settles it
        shifted = d.subs({n: _name(n) + 1 for n in names})
    signs = {1 if c > 0 else -1 for _, c in shifted.terms}
    if len(signs) == 1:
        has_constant = any(not m for m, _ in shifted.terms)
        if has_constant or shifted is d:
            return signs.pop()
    return None


def _opaque(kind: str, *args: Dim) -> Dim:
    return _make({((Atom(kind, args), 1),): 1})


def _apply(kind: str, args: tuple[Dim, ...]) -> Dim:
    if kind == "floordiv":
        return args[0] // args[1]
    if kind == "mod":
        return args[0] % args[1]
    if kind == "div":
        return args[0] / args[1]
    return _extreme(kind, list(args))


def _ratio(d: Dim) -> Fraction | None:
    if not d.terms:
        return Fraction(0)
    return Fraction(d.terms[0][1]) if d.is_const else None


def _number(atom: Atom, bindings: Mapping[str, int]) -> Fraction:
    values = [a.value(bindings) for a in atom.args]
    if atom.kind == "min":
        return min(values)
    if atom.kind == "max":
        return max(values)
    if not values[1]:
        raise DimError(f"{atom} divides by zero")
    if atom.kind == "floordiv":
        return Fraction(floor(values[0] / values[1]))
    if atom.kind == "mod":
        return values[0] % values[1]
    return values[0] / values[1]


def _text(d: Dim) -> str:
    if not d.terms:
        return "0"
    parts: list[str] = []
    for mono, coefficient in d.terms:
        fraction = Fraction(coefficient)
        sign = "-" if fraction < 0 else "+"
        top = [str(abs(fraction.numerator))] if abs(fraction.numerator) != 1 else []
        top += [_power(b, e) for b, e in mono if e > 0]
        bottom = [str(fraction.denominator)] if fraction.denominator != 1 else []
        bottom += [_power(b, -e) for b, e in mono if e < 0]
        body = " ".join(top) or "1"
        if bottom:
            body += "/" + (bottom[0] if len(bottom) == 1 else "(" + " ".join(bottom) + ")")
        if not parts:
            parts.append(("-" if sign == "-" else "") + body)
        else:
            parts.append(f" {sign} {body}")
    return "".join(parts)


def _power(base: Base, power: int) -> str:
    text = str(base)
    return text if power == 1 else f"{text}^{power}"


__all__ = [
    "Atom",
    "Dim",
    "DimError",
    "ceildiv",
    "const",
    "maximum",
    "minimum",
    "product",
    "sign_of",
    "sym",
]
