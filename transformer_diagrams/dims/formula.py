"""Sizes as exact formulas over named positive integers.

A :class:`Dim` is a sum of products with rational coefficients, kept in one canonical form, so
that equal formulas are ``==``. Exponents may be negative: ``d_m / n_h`` is ``d_m n_h^-1`` and
times ``n_h`` it is ``d_m`` again. A divisor that is a sum stays below a fraction in lowest terms.
Rounding, remainders, minima and maxima are opaque factors (:class:`Opaque`), made only by
:func:`apply`, which folds what can be decided (see ``functions``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from transformer_diagrams.dims import polynomials as poly
from transformer_diagrams.dims import show
from transformer_diagrams.dims.errors import (
    MAX_BITS,
    MAX_DEGREE,
    MAX_NESTING,
    DimError,
    too_large,
)
from transformer_diagrams.dims.polynomials import Coef, Mono, Poly, Terms
from transformer_diagrams.dims.values import whole_value


class Spells(Protocol):
    """Chooses how a formula is printed."""

    def text(self, d: Dim, /) -> str: ...
    def tex(self, d: Dim, /) -> str: ...


SPELLER: ContextVar[Spells | None] = ContextVar("speller", default=None)
"""Who spells the formulas that are printed now; see ``spelling.spelt_by``."""



class Opaque:
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
            type(other) is Opaque
            and self._hash == other._hash
            and self.kind == other.kind
            and self.args == other.args
        )

    def __lt__(self, other: object) -> bool:  # names come before atoms
        return isinstance(other, Opaque) and self.key < other.key

    def __gt__(self, other: object) -> bool:
        return not isinstance(other, Opaque) or self.key > other.key

    def __reduce__(self) -> tuple[object, ...]:
        return Opaque, (self.kind, self.args)

    def __str__(self) -> str:
        return str(of_atom(self))

    def __repr__(self) -> str:
        return f"Opaque({self.kind!r}, {self.args!r})"


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
        out = [(of_poly(plain), ONE)] if plain else []
        for under, terms in sorted(below.items(), key=lambda item: item[0]):
            unit = math.lcm(*(Fraction(c).denominator for c in terms.values()))
            out.append(
                (
                    of_poly({m: poly.whole(c * unit) for m, c in terms.items()}),
                    of_terms(((under, unit),)),
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
        return of_terms, (self.terms, self.den)  # a cached hash would not fit another process

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
        copy = of_terms(self.terms, self.den)
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
                return ratio(of_terms(self.terms) + of_terms(b.terms), below)
            return ratio(of_terms(self.terms) * under + of_terms(b.terms) * below, below * under)
        total: Poly = dict(self.terms)
        poly.add_to(total, b.terms)
        return of_poly(total)

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return of_terms(tuple((m, -c) for m, c in self.terms), self.den)

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
            below = (self.den or ONE) * (b.den or ONE)
            return ratio(of_terms(self.terms) * of_terms(b.terms), below)
        if len(self.terms) == 1 and len(b.terms) == 1:
            (m, c), (n, d) = self.terms[0], b.terms[0]
            return of_poly({poly.join(m, n): poly.whole(c * d)})
        return of_poly(poly.times(dict(self.terms), dict(b.terms)))

    __rmul__ = __mul__

    def __truediv__(self, other: Dim | int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else divided(self, b)

    def __rtruediv__(self, other: int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else divided(b, self)

    def __floordiv__(self, other: Dim | int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else apply("floor", divided(self, b))

    def __rfloordiv__(self, other: int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else apply("floor", divided(b, self))

    def __mod__(self, other: Dim | int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else apply("mod", self, b)

    def __rmod__(self, other: int) -> Dim:
        b = _dim(other)
        return NotImplemented if b is None else apply("mod", b, self)

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

        def put(factor: str | Opaque) -> Dim | None:
            if type(factor) is str:
                return as_dim(values[factor]) if factor in values else None
            assert isinstance(factor, Opaque)
            if factor.free.isdisjoint(values):
                return None
            return apply(factor.kind, *(arg.subs(values) for arg in factor.args))

        return rebuild(self, put)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The number for these values.

        :raises DimError: for a name without a value, and where an exact division leaves a remainder
            (the message has the numbers).
        """
        return whole_value(self, values)


def of_terms(terms: Terms, den: Dim | None = None) -> Dim:
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


def of_poly(terms: Poly) -> Dim:
    """A Dim from any sum of products."""
    return of_terms(poly.canonical(terms))


ZERO = of_terms(())
ONE = of_terms((((), 1),))


@lru_cache(maxsize=4096)
def _const(value: Coef) -> Dim:
    return of_poly({(): value})


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
    return of_terms(((((name, 1),), 1),))


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
        else:
            poly.add_to(total, d.terms)
    return of_poly(total) + fractions


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
        return divided(a * b.den, of_terms(b.terms))
    if len(b.terms) == 1:
        mono, c = b.terms[0]
        return a * of_poly({poly.inverse(mono): poly.whole(Fraction(1) / c)})
    return ratio(of_terms(a.terms), b if a.den is None else b * a.den)


def ratio(top: Dim, bottom: Dim) -> Dim:
    """``top / bottom`` in lowest terms; both without a fraction of sums inside."""
    if len(bottom.terms) == 1:
        return divided(top, bottom)
    if not top.terms:
        return ZERO
    num, den = poly.lowest_terms(dict(top.terms), dict(bottom.terms))
    return of_poly(num) if den == {(): 1} else of_terms(poly.canonical(num), of_poly(den))


def over(d: Dim) -> tuple[Dim, Dim]:
    """(numerator, denominator): ordinary sums with whole coefficients, ``d`` their quotient."""
    lowest: dict[str | Opaque, int] = {}
    unit = 1
    for mono, c in d.terms:
        if type(c) is not int:
            unit = math.lcm(unit, c.denominator)
        for factor, exponent in mono:
            if exponent < 0:
                lowest[factor] = min(lowest.get(factor, 0), exponent)
    if unit == 1 and not lowest:
        return of_terms(d.terms), ONE if d.den is None else d.den
    below = of_terms(((tuple(sorted((f, -e) for f, e in lowest.items())), unit),))
    return of_terms(d.terms) * below, below if d.den is None else below * d.den


# -- factors -----------------------------------------------------------------------------------

SIMPLIFIED: dict[str, Callable[..., Dim]] = {}
"""The opaque functions by kind: what each makes of its arguments (filled by ``functions``)."""


def apply(kind: str, *args: Dim) -> Dim:
    """The function ``kind`` of ``args``, simplified."""
    return SIMPLIFIED[kind](*args)


def of_atom(atom: Opaque) -> Dim:
    return of_terms(((((atom, 1),), 1),))


def sole_atom(d: Dim) -> Opaque | None:
    """The atom, if the formula is nothing but one."""
    if len(d.terms) == 1 and d.den is None:
        mono, c = d.terms[0]
        if c == 1 and len(mono) == 1 and mono[0][1] == 1 and type(mono[0][0]) is Opaque:
            return mono[0][0]
    return None


def rebuild(d: Dim, put: Callable[[str | Opaque], Dim | None]) -> Dim:
    """``d`` with each factor replaced by ``put(factor)``, or kept where that is None."""
    total: Dim = ZERO
    flat: Poly = {}  # what has no denominator is added up in place: a sum may have many terms
    for mono, c in d.terms:
        kept: list[tuple[str | Opaque, int]] = []
        new: Dim | None = None
        for factor, exponent in mono:
            value = put(factor)
            if value is None:
                kept.append((factor, exponent))
            else:
                power = value if exponent == 1 else value**exponent
                new = power if new is None else new * power
        if new is None:
            poly.add_to(flat, ((mono, c),))
            continue
        new = new * of_terms(((tuple(kept), c),))
        if new.den is not None:
            total = total + new
        else:
            poly.add_to(flat, new.terms)
    if flat:
        total = total + of_poly(flat)
    return total if d.den is None else divided(total, rebuild(d.den, put))


