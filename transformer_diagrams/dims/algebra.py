"""Sizes as exact formulas over named positive integers.

A :class:`Dim` is a sum of products with rational coefficients, kept in one canonical form, so
that equal formulas are ``==``. Exponents may be negative: ``d_m / n_h`` is ``d_m n_h^-1`` and
times ``n_h`` it is ``d_m`` again. A divisor that is a sum stays below a fraction in lowest terms.
Rounding, remainders, minima and maxima are opaque factors (:class:`Atom`), made only through the
functions here, which fold what can be decided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from operator import itemgetter
from typing import Protocol

from transformer_diagrams.dims import polynomials as poly
from transformer_diagrams.dims import show
from transformer_diagrams.dims.errors import (
    MAX_BITS,
    MAX_DEGREE,
    MAX_NESTING,
    MAX_TERMS,
    DimError,
    too_large,
)
from transformer_diagrams.dims.near import nearest_multiples
from transformer_diagrams.dims.polynomials import Coef, Mono, Poly

Terms = tuple[tuple[Mono, Coef], ...]


class Spells(Protocol):
    """Chooses how a formula is printed."""

    def text(self, d: Dim, /) -> str: ...
    def tex(self, d: Dim, /) -> str: ...


SPELLER: ContextVar[Spells | None] = ContextVar("speller", default=None)
"""Who spells the formulas that are printed now; see ``spelling.spelt_by``."""

_FIRST = itemgetter(0)
_LARGEST = 1 << MAX_BITS


class Atom:
    """An opaque whole number inside a formula: ``floor``, ``ceil``, ``mod``, ``min`` or ``max``."""

    __slots__ = ("_hash", "_key", "args", "depth", "free", "kind")

    def __init__(self, kind: str, args: tuple[Dim, ...]) -> None:
        self.kind = kind
        self.args = args
        self.depth: int = 1 + max(arg.depth for arg in args)
        if self.depth > MAX_NESTING:
            raise too_large(f"more than {MAX_NESTING} functions inside one another")
        self.free: frozenset[str] = frozenset().union(*(arg.free for arg in args))
        self._hash = hash((kind, args))
        self._key: tuple[str, str] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What atoms are sorted by: the same in every process."""
        if self._key is None:
            self._key = (self.kind, ", ".join(arg.canonical for arg in self.args))
        return self._key

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            type(other) is Atom
            and self._hash == other._hash
            and self.kind == other.kind
            and self.args == other.args
        )

    def __lt__(self, other: object) -> bool:  # names come before atoms
        return isinstance(other, Atom) and self.key < other.key

    def __gt__(self, other: object) -> bool:
        return not isinstance(other, Atom) or self.key > other.key

    def __reduce__(self) -> tuple[object, ...]:
        return Atom, (self.kind, self.args)

    def __repr__(self) -> str:
        return f"Atom({self.kind!r}, {self.args!r})"


class Dim:
    """A size: an immutable, hashable formula. Build it with :func:`parse`, `sym`, `const`.

    >>> from transformer_diagrams.dims import parse
    >>> parse("n_h") * (parse("d_m") / parse("n_h")) == parse("d_m")
    True
    >>> parse("2 n_g d_K").evaluate({"n_g": 8, "d_K": 128})
    2048
    """

    __slots__ = ("_free", "_hash", "_speller", "_text", "den", "depth", "terms")

    terms: Terms  # sorted by monomial; the number 0 has none
    den: Dim | None  # a sum with whole coefficients below the fraction, or None
    depth: int  # of atoms inside one another
    _free: frozenset[str] | None  # these three are worked out when first asked for
    _hash: int | None
    _text: str | None
    _speller: Spells | None  # who prints it, wherever that is

    def __init__(self) -> None:
        raise TypeError("use parse, sym or const to make a Dim")

    # -- looking at it -----------------------------------------------------------------------

    @property
    def is_const(self) -> bool:
        """Whether it is a number without names."""
        return self.den is None and (
            not self.terms or (len(self.terms) == 1 and not self.terms[0][0])
        )

    @property
    def as_fraction(self) -> Fraction | None:
        """The number, if it is one."""
        if not self.is_const:
            return None
        return Fraction(self.terms[0][1]) if self.terms else Fraction(0)

    def as_int(self) -> int | None:
        """The whole number, if it is one; else None."""
        terms = self.terms
        if not terms:
            return 0
        if len(terms) == 1 and not terms[0][0] and self.den is None:
            c = terms[0][1]
            return c if type(c) is int else None
        return None

    @property
    def name(self) -> str | None:
        """The name, if the formula is one bare name; else None."""
        if len(self.terms) == 1 and self.den is None:
            mono, c = self.terms[0]
            if c == 1 and len(mono) == 1 and mono[0][1] == 1 and type(mono[0][0]) is str:
                return mono[0][0]
        return None

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number for every binding, seen from its form alone."""
        return self.den is None and all(
            type(c) is int and all(e > 0 for _, e in m) for m, c in self.terms
        )

    @property
    def free(self) -> frozenset[str]:
        """The names in it."""
        found = self._free
        if found is None:
            names: set[str] = set() if self.den is None else set(self.den.free)
            for mono, _ in self.terms:
                for factor, _ in mono:
                    if type(factor) is str:
                        names.add(factor)
                    else:
                        names |= factor.free
            found = self._free = frozenset(names)
        return found

    @property
    def parts(self) -> tuple[tuple[Dim, Dim], ...]:
        """The formula as a sum of (numerator, denominator), whole terms first as one part.

        Terms over the same names are one part: ``n (n + 1) / 2`` is a whole number although
        neither half of it need be.
        """
        if self.den is not None:
            top, bottom = over(self)
            return ((top, bottom),)
        plain: Poly = {}
        below: dict[Mono, Poly] = {}
        for mono, c in self.terms:
            under = tuple((f, -e) for f, e in mono if e < 0)
            if not under and type(c) is int:
                plain[mono] = c
            else:
                below.setdefault(under, {})[tuple((f, e) for f, e in mono if e > 0)] = c
        out = [(_from(plain), ONE)] if plain else []
        for under, terms in sorted(below.items(), key=_FIRST):
            unit = math.lcm(*(Fraction(c).denominator for c in terms.values()))
            out.append(
                (
                    _from({m: poly.whole(c * unit) for m, c in terms.items()}),
                    _make(((under, unit),)),
                )
            )
        return tuple(out)

    @property
    def divisions(self) -> tuple[tuple[Dim, Dim], ...]:
        """The pairs (numerator, denominator) that must divide without a remainder.

        >>> from transformer_diagrams.dims import parse
        >>> [(str(a), str(b)) for a, b in parse("d_m / n_h + 1").divisions]
        [('d_m', 'n_h')]
        """
        return tuple((top, bottom) for top, bottom in self.parts if bottom is not ONE)

    def __hash__(self) -> int:
        found = self._hash
        if found is None:
            number = self.as_fraction
            found = hash((self.terms, self.den)) if number is None else hash(number)
            self._hash = found
        return found

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is Dim:
            return self.terms == other.terms and self.den == other.den
        if isinstance(other, int) and not isinstance(other, bool):
            return self.as_int() == other
        return NotImplemented

    def __reduce__(self) -> tuple[object, ...]:
        return _make, (self.terms, self.den)  # a cached hash would not fit another process

    @property
    def canonical(self) -> str:
        """Its text in the one order that is the same everywhere: what formulas are sorted by."""
        found = self._text
        if found is None:
            found = self._text = show.plain(self)
        return found

    def __str__(self) -> str:
        """Its text as its author would write it, where a speller says how (``spelling``)."""
        speller = self._speller or SPELLER.get()
        return self.canonical if speller is None else speller.text(self)

    def __repr__(self) -> str:
        return f"Dim({self.canonical!r})"

    def spelt(self, speller: Spells) -> Dim:
        """An equal formula that ``speller`` prints; what is computed from it is not."""
        copy = _make(self.terms, self.den)
        copy._speller = speller
        return copy

    def tex(self, names: Mapping[str, str] | None = None) -> str:
        r"""The formula in TeX; ``names`` gives the TeX of names that do not follow the rule.

        >>> from transformer_diagrams.dims import parse
        >>> print(parse("2 n_g d_K").tex(), parse("d_cq").tex({"d_cq": "d_c'"}))
        2\, n_g\, d_K d_c'
        """
        speller = self._speller or (None if names else SPELLER.get())
        if speller is not None:
            return speller.tex(self)
        return show.tex(self, names)

    # -- arithmetic --------------------------------------------------------------------------

    def __add__(self, other: Dim | int) -> Dim:
        b = _dim(other)
        if b is None:
            return NotImplemented
        if not b.terms:
            return self
        if not self.terms:
            return b
        if self.den is not None or b.den is not None:
            below, under = self.den or ONE, b.den or ONE
            if below == under:
                return ratio(_make(self.terms) + _make(b.terms), below)
            return ratio(_make(self.terms) * under + _make(b.terms) * below, below * under)
        total: Poly = dict(self.terms)
        for mono, c in b.terms:
            total[mono] = poly.whole(total.get(mono, 0) + c)
        return _from(total)

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return _make(tuple((m, -c) for m, c in self.terms), self.den)

    def __pos__(self) -> Dim:
        return self

    def __sub__(self, other: Dim | int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else self + -b

    def __rsub__(self, other: int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else b + -self

    def __mul__(self, other: Dim | int) -> Dim:
        b = _dim(other)
        if b is None:
            return NotImplemented
        if not self.terms or not b.terms:
            return ZERO
        if self.den is not None or b.den is not None:
            return ratio(_make(self.terms) * _make(b.terms), (self.den or ONE) * (b.den or ONE))
        if len(self.terms) == 1 and len(b.terms) == 1:
            (m, c), (n, d) = self.terms[0], b.terms[0]
            return _from({poly.join(m, n): poly.whole(c * d)})
        return _from(poly.times(dict(self.terms), dict(b.terms)))

    __rmul__ = __mul__

    def __truediv__(self, other: Dim | int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else divided(self, b)

    def __rtruediv__(self, other: int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else divided(b, self)

    def __floordiv__(self, other: Dim | int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else floor_of(divided(self, b))

    def __rfloordiv__(self, other: int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else floor_of(divided(b, self))

    def __mod__(self, other: Dim | int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else modulo(self, b)

    def __rmod__(self, other: int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else modulo(b, self)

    def __pow__(self, exponent: int) -> Dim:
        if isinstance(exponent, bool) or not isinstance(exponent, int):
            return NotImplemented
        if exponent < 0:
            return divided(ONE, self**-exponent)
        number = self.as_fraction
        if number is not None:
            size = max(abs(number.numerator), number.denominator).bit_length()
            if size > 1 and (size - 1) * exponent > MAX_BITS:
                raise too_large(f"a number of more than {MAX_BITS} bits")
            return const(number**exponent)
        if exponent > MAX_DEGREE:
            raise too_large(f"a power beyond {MAX_DEGREE}")
        result, base = ONE, self
        while exponent:
            if exponent & 1:
                result = result * base
            exponent >>= 1
            if exponent:
                base = base * base
        return result

    # -- putting values in -------------------------------------------------------------------

    def subs(self, values: Mapping[str, Dim | int]) -> Dim:
        """The formula with names replaced, all at once."""
        if self.free.isdisjoint(values):
            return self
        if len(self.terms) == 1 and self.name is not None:
            return as_dim(values[self.name])

        def put(factor: str | Atom) -> Dim | None:
            if type(factor) is str:
                return as_dim(values[factor]) if factor in values else None
            assert isinstance(factor, Atom)
            if factor.free.isdisjoint(values):
                return None
            return make_atom(factor.kind, tuple(arg.subs(values) for arg in factor.args))

        return rebuild(self, put)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The number for these values.

        :raises DimError: for a name without a value, and where an exact division leaves a remainder
            (the message has the numbers).
        """
        name = self.name
        if name is not None and name in values:
            return int(values[name])
        missing = sorted(self.free - values.keys())
        if missing:
            listed = ", ".join(missing)
            verb = "has" if len(missing) == 1 else "have"
            raise DimError(f"{listed} {verb} no value", hint=f"give a number for {missing[0]}")
        value = self._value(values)
        if type(value) is int:
            return value
        raise self._remainder(values)

    def _value(self, values: Mapping[str, int]) -> Coef:
        total: Coef = 0
        for mono, c in self.terms:
            product: Coef = c
            for factor, exponent in mono:
                base = values[factor] if type(factor) is str else _atom_value(factor, values)
                if exponent == 1:
                    product *= base
                elif exponent > 0:
                    product *= base**exponent
                elif base == 0:
                    raise DimError(f"{self} divides by {_factor_text(factor)}, which is 0")
                else:
                    product = Fraction(product) / base**-exponent
            total += product
        if self.den is not None:
            below = self.den._value(values)
            if below == 0:
                raise DimError(f"{self} divides by {self.den}, which is 0")
            total = Fraction(total) / below
        return poly.whole(total)

    def _remainder(self, values: Mapping[str, int]) -> DimError:
        bound = ", ".join(f"{name} = {values[name]}" for name in sorted(self.free))
        for top, bottom in self.divisions:
            a, b = top._value(values), bottom._value(values)
            if type(a) is int and type(b) is int and a % b:
                low, high = nearest_multiples(a, b)
                where = f" ({bound})" if bound else ""
                return DimError(
                    f"{self} is not a whole number: {a} is not divisible by {b}, "
                    f"remainder {a % b}{where}",
                    hint=f"the nearest multiples of {b} are {low} and {high}"
                    if low
                    else f"the nearest multiple of {b} is {high}",
                )
        return DimError(
            f"{self} is not a whole number for {bound}"
            if bound
            else f"{self} is not a whole number"
        )


def _make(terms: Terms, den: Dim | None = None) -> Dim:
    """A Dim from terms that are canonical already."""
    d = object.__new__(Dim)
    d.terms = terms
    d.den = den
    d._hash = None
    d._free = None
    d._text = None
    d._speller = None
    depth = 0 if den is None else den.depth
    for mono, _ in terms:
        for factor, _ in mono:
            if type(factor) is not str and factor.depth > depth:
                depth = factor.depth
    d.depth = depth
    return d


def _from(terms: Poly) -> Dim:
    """A Dim from any polynomial: zeros dropped, sorted, held to the limits."""
    for c in terms.values():
        if type(c) is int:
            if not -_LARGEST < c < _LARGEST:
                raise too_large(f"a number of more than {MAX_BITS} bits")
        elif not (-_LARGEST < c.numerator < _LARGEST and c.denominator < _LARGEST):
            raise too_large(f"a number of more than {MAX_BITS} bits")
    kept = [item for item in terms.items() if item[1]]
    if len(kept) > MAX_TERMS:
        raise too_large(f"more than {MAX_TERMS:,} terms")
    if len(kept) > 1:
        kept.sort(key=_FIRST)
    return _make(tuple(kept))


ZERO = _make(())
ONE = _make((((), 1),))


@lru_cache(maxsize=4096)
def _const(value: Coef) -> Dim:
    return _from({(): value})


def const(value: int | Fraction) -> Dim:
    """A number as a Dim."""
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise TypeError(f"a size is a whole number or a fraction, not {value!r}")
    value = poly.whole(value)
    return ONE if value == 1 else ZERO if value == 0 else _const(value)


@lru_cache(maxsize=8192)
def sym(name: str) -> Dim:
    """A named size.

    :raises DimError: when ``name`` is not a name.
    """
    if not name.isidentifier() or name in ("min", "max", "floor", "ceil"):
        raise DimError(
            f"'{name}' is not a name for a size",
            1,
            "use letters, digits and _, not starting with a digit",
        )
    return _make(((((name, 1),), 1),))


def _dim(value: object) -> Dim | None:
    if type(value) is Dim:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return const(value)
    if isinstance(value, Fraction):
        return const(value)
    return None


def as_dim(value: Dim | int) -> Dim:
    """An int or a Dim as a Dim; TypeError for anything else."""
    d = _dim(value)
    if d is None:
        raise TypeError(f"a size is a whole number or a Dim, not {value!r}")
    return d


def product(factors: Iterable[Dim | int]) -> Dim:
    """The product of all; 1 for none."""
    result = ONE
    for factor in factors:
        result = as_dim(factor) if result is ONE else result * factor
    return result


def summed(dims: list[Dim]) -> Dim:
    """The sum of all, in one go."""
    total: Poly = {}
    fractions = ZERO
    for d in dims:
        if d.den is not None:
            fractions = fractions + d
            continue
        for mono, c in d.terms:
            total[mono] = poly.whole(total.get(mono, 0) + c)
        if len(total) > 2 * MAX_TERMS:
            raise too_large(f"more than {MAX_TERMS:,} terms")
    return _from(total) + fractions


# -- division ----------------------------------------------------------------------------------


def divided(a: Dim, b: Dim) -> Dim:
    """The exact quotient.

    :raises DimError: when ``b`` is 0.
    """
    if not b.terms:
        raise DimError(f"{a} is divided by 0")
    if b is ONE or not a.terms:
        return a
    if a is b:
        return ONE
    if b.den is not None:
        return divided(a * b.den, _make(b.terms))
    if len(b.terms) == 1:
        mono, c = b.terms[0]
        return a * _from({poly.inverse(mono): poly.whole(Fraction(1) / c)})
    return ratio(_make(a.terms), b if a.den is None else b * a.den)


def ratio(top: Dim, bottom: Dim) -> Dim:
    """``top / bottom`` in lowest terms; both without a fraction of sums inside."""
    if len(bottom.terms) == 1:
        return divided(top, bottom)
    if not top.terms:
        return ZERO
    p, q = dict(top.terms), dict(bottom.terms)
    up, down = poly.common_factor(p), poly.common_factor(q)
    p, q = poly.scaled(p, poly.inverse(up), 1), poly.scaled(q, poly.inverse(down), 1)
    shared = poly.gcd(p, q)
    if shared != {(): 1}:
        reduced, below = poly.exact(p, shared), poly.exact(q, shared)
        assert reduced is not None
        assert below is not None
        p, q = reduced, below
    by = poly.content(q.values())
    if q[poly.lead(q)] < 0:
        by = -by
    q = {m: poly.whole(c / by) for m, c in q.items()}
    outside = poly.join(up, poly.inverse(down))
    num = _from(poly.scaled(p, outside, 1 / by))
    if q == {(): 1}:
        return num
    return _make(num.terms, _from(q))


def over(d: Dim) -> tuple[Dim, Dim]:
    """(numerator, denominator): ordinary sums with whole coefficients, ``d`` their quotient."""
    lowest: dict[str | Atom, int] = {}
    unit = 1
    for mono, c in d.terms:
        if type(c) is not int:
            unit = math.lcm(unit, c.denominator)
        for factor, exponent in mono:
            if exponent < 0:
                lowest[factor] = min(lowest.get(factor, 0), exponent)
    if unit == 1 and not lowest:
        return _make(d.terms), ONE if d.den is None else d.den
    below = _make(((tuple(sorted((f, -e) for f, e in lowest.items())), unit),))
    return _make(d.terms) * below, below if d.den is None else below * d.den


# -- opaque functions --------------------------------------------------------------------------


def split_whole(d: Dim) -> tuple[Dim, Dim]:
    """``d`` as a part that is surely a whole number, and the rest."""
    if d.den is not None:
        if any(e < 0 for m, _ in d.terms for _, e in m):
            return ZERO, d
        quotient, _ = poly.divide(dict(d.terms), dict(d.den.terms))
        kept = _from({m: c for m, c in quotient.items() if type(c) is int})
        return kept, d - kept
    good: Poly = {}
    rest: Poly = {}
    for mono, c in d.terms:
        target = good if type(c) is int and all(e > 0 for _, e in mono) else rest
        target[mono] = c
    if not good:
        return ZERO, d
    return _from(good), _from(rest)


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
                if type(inner) is Atom and inner.kind == kind:
                    others = top - _make(((mono, 1),))
                    if others.is_whole:
                        return outside + _rounded(divided(inner.args[0] + others, bottom), kind)
    return outside + of_atom(Atom(kind, (rest,)))


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
    return of_atom(Atom("mod", (a, b)))


def minimum(*args: Dim | int) -> Dim:
    """The least of the arguments; those that are surely not the least are dropped."""
    return _extreme("min", [as_dim(a) for a in args])


def maximum(*args: Dim | int) -> Dim:
    """The greatest of the arguments; those that are surely not the greatest are dropped."""
    return _extreme("max", [as_dim(a) for a in args])


def _extreme(kind: str, args: list[Dim]) -> Dim:
    if not args:
        raise DimError(f"{kind} needs at least one argument")
    flat: dict[Dim, None] = {}
    for arg in args:
        only = sole_atom(arg)
        inner = only.args if only is not None and only.kind == kind else (arg,)
        flat.update(dict.fromkeys(inner))
    kept: list[Dim] = []
    for d in flat:
        if any(_surely_le(*((k, d) if kind == "min" else (d, k))) for k in kept):
            continue
        kept = [k for k in kept if not _surely_le(*((d, k) if kind == "min" else (k, d)))]
        kept.append(d)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda d: (not d.is_const, d.canonical))
    return of_atom(Atom(kind, tuple(kept)))


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


def of_atom(atom: Atom) -> Dim:
    return _make(((((atom, 1),), 1),))


def sole_atom(d: Dim) -> Atom | None:
    """The atom, if the formula is nothing but one."""
    if len(d.terms) == 1 and d.den is None:
        mono, c = d.terms[0]
        if c == 1 and len(mono) == 1 and mono[0][1] == 1 and type(mono[0][0]) is Atom:
            return mono[0][0]
    return None


def make_atom(kind: str, args: tuple[Dim, ...]) -> Dim:
    """The function ``kind`` of ``args``, simplified."""
    if kind == "floor":
        return floor_of(args[0])
    if kind == "ceil":
        return ceil_of(args[0])
    if kind == "mod":
        return modulo(args[0], args[1])
    return _extreme(kind, list(args))


def rebuild(d: Dim, put: Callable[[str | Atom], Dim | None]) -> Dim:
    """``d`` with each factor replaced by ``put(factor)``, or kept where that is None."""
    total: Dim = ZERO
    flat: Poly = {}  # what has no denominator is added up in place: a sum may have many terms
    for mono, c in d.terms:
        kept: list[tuple[str | Atom, int]] = []
        new: Dim | None = None
        for factor, exponent in mono:
            value = put(factor)
            if value is None:
                kept.append((factor, exponent))
            else:
                power = value if exponent == 1 else value**exponent
                new = power if new is None else new * power
        if new is None:
            flat[mono] = poly.whole(flat.get(mono, 0) + c)
            continue
        new = new * _make(((tuple(kept), c),))
        if new.den is not None:
            total = total + new
            continue
        for term, number in new.terms:
            flat[term] = poly.whole(flat.get(term, 0) + number)
        if len(flat) > 2 * MAX_TERMS:
            flat = {term: number for term, number in flat.items() if number}
            if len(flat) > MAX_TERMS:
                raise too_large(f"more than {MAX_TERMS:,} terms")
    if flat:
        total = total + _from(flat)
    return total if d.den is None else divided(total, rebuild(d.den, put))


def _atom_value(atom: Atom, values: Mapping[str, int]) -> int:
    kind = atom.kind
    if kind in ("floor", "ceil"):
        value = atom.args[0]._value(values)
        return math.floor(value) if kind == "floor" else math.ceil(value)
    numbers = [arg.evaluate(values) for arg in atom.args]
    if kind == "min":
        return min(numbers)
    if kind == "max":
        return max(numbers)
    if numbers[1] == 0:
        raise DimError(f"{of_atom(atom)} divides by {atom.args[1]}, which is 0")
    return numbers[0] % numbers[1]


def _factor_text(factor: str | Atom) -> str:
    return factor if isinstance(factor, str) else str(of_atom(factor))
