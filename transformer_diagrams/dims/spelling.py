"""Formulas printed as their author would write them.

The algebra keeps one canonical form, so that equal means identical; which of the equal spellings
is printed is chosen here: the name that a spec declares for a formula, else the formula as it
stands in the spec, else its terms and factors in the order in which the names are declared. What
is printed parses back to an equal size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from transformer_diagrams.dims.conditions import TEX
from transformer_diagrams.dims.errors import DimError
from transformer_diagrams.dims.facts import Facts
from transformer_diagrams.dims.formula import (
    SPELLER,
    Dim,
    Opaque,
    divided,
    of_terms,
    rebuild,
    summed,
    sym,
)
from transformer_diagrams.dims.polynomials import Mono
from transformer_diagrams.dims.reading import Reader, parse, read_condition
from transformer_diagrams.dims.show import (
    MOD,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    UNIT,
    AsTex,
    Piece,
    Plain,
    name_order,
)

_MOST_TERMS = 64  # of a formula in which a sum is looked for

_Index = dict[str, list[tuple[Dim, Dim]]]  # name -> (a declared formula, the name it has)


class Speller:
    """How the sizes of one spec are spelt; each formula is worked out once.

    order        the names as declared, first to last
    tex          TeX of printed names that do not follow the rule
    called       what a name is printed as, where that is another one
    definitions  name -> what it always equals
    defaults     name -> what it equals while nothing else is said
    written      the formulas of the spec as text, and what each stands for (asked for once)
    facts        what is known, for divisions that leave no remainder
    """

    def __init__(
        self,
        order: Iterable[str] = (),
        *,
        tex: Mapping[str, str] | None = None,
        called: Mapping[str, str] | None = None,
        definitions: Mapping[str, Dim] | None = None,
        defaults: Mapping[str, Dim] | None = None,
        written: Callable[[], Iterable[tuple[str, Dim, Mapping[str, str]]]] = tuple,
        facts: Callable[[], Facts] = Facts,
    ) -> None:
        self._rank = {name: number for number, name in enumerate(dict.fromkeys(order))}
        self._names = tex if tex is not None else {}
        self._called = dict(called or {})
        self.definitions = dict(definitions or {})
        self._defaults = {
            name: d
            for name, d in (defaults or {}).items()
            if name not in self.definitions and (d.depth or d.divisions)
        }
        self._list_written = written
        self._written: dict[Dim, tuple[str, Mapping[str, str]]] | None = None
        self._facts = facts
        self._exact: dict[Dim, Dim] = {}  # what a name is declared to be -> the name
        self._sums: _Index = {}
        self._fractions: _Index = {}
        for name, d in (*self.definitions.items(), *self._defaults.items()):
            if d.is_const or d.name is not None or d in self._exact:
                continue
            self._exact[d] = sym(name)
            if d.den is not None or d.depth:
                continue
            # Filed under the name declared last, which the fewest formulas have.
            last = max(d.free, key=self._order)
            if len(d.terms) > 1:
                if name in self.definitions and d.is_whole:
                    self._sums.setdefault(last, []).append((d, sym(name)))
            elif d.terms[0][1] == 1 and any(e < 0 for _, e in d.terms[0][0]):
                self._fractions.setdefault(last, []).append((d, sym(name)))
        self._forms: dict[Dim, Dim | tuple[str, Mapping[str, str]]] = {}
        self._texts: dict[Dim, str] = {}
        self._texs: dict[Dim, str] = {}
        self._dims: dict[Dim, Dim] = {}
        self._whole: tuple[Facts, tuple[tuple[Mono, Mono], ...]] | None = None

    def with_defaults(self, defaults: Mapping[str, Dim]) -> Speller:
        """The same, where ``defaults`` hold: for figures and formulas, not for what is asked."""
        return Speller(
            self._rank,
            tex=self._names,
            called=self._called,
            definitions=self.definitions,
            defaults=defaults,
            written=self._list_written,
            facts=self._facts,
        )

    # -- what is asked of it -----------------------------------------------------------------

    def text(self, d: Dim) -> str:
        """``d`` as text that parses back."""
        found = self._texts.get(d)
        if found is None:
            found = self._texts[d] = self._printed(d, self._plain_notation())
        return found

    def tex(self, d: Dim) -> str:
        """``d`` in TeX."""
        found = self._texs.get(d)
        if found is None:
            found = self._texs[d] = self._printed(d, self._tex_notation())
        return found

    def spelt(self, d: Dim) -> Dim:
        """``d`` as a formula that is printed like this from now on, wherever that is."""
        if d.is_const:
            return d
        found = self._dims.get(d)
        if found is None:
            found = self._dims[d] = d.spelt(self)
        return found

    def has_fraction(self, d: Dim) -> bool:
        """Whether ``d`` is printed with a fraction."""
        return bool(self._folded(d).divisions)

    def as_written(self, text: str) -> str:
        """TeX of a formula or relation of the spec, exactly as it stands there.

        :raises DimError: it cannot be read.
        """
        notation = self._tex_notation()
        try:
            try:
                return _Trace(text, notation, {}).whole().piece[0]
            except DimError:
                op, left, right = read_condition(text, _Trace(text, notation, {}))
                return f"{left.closed(SUM)} {TEX[op]} {right.closed(SUM)}"
        except _Unclear:
            try:
                return notation.dim(parse(text))[0]
            except DimError:
                op, left, right = read_condition(text)
                return f"{notation.dim(left)[0]} {TEX[op]} {notation.dim(right)[0]}"

    @property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """TeX of the names that are printed as another one: (that one, the name itself)."""
        plain = AsTex(self._names)
        return tuple(
            (plain.symbol(printed)[0], plain.symbol(name)[0])
            for name, printed in self._called.items()
        )

    # -- choosing ----------------------------------------------------------------------------

    def _printed(self, d: Dim, notation: Plain) -> str:
        form = self._forms.get(d)
        if form is None:
            form = self._forms[d] = self._choose(d)
        if isinstance(form, Dim):
            return notation.dim(form)[0]
        text, names = form
        return _Trace(text, notation, names).whole().piece[0]

    def _choose(self, d: Dim) -> Dim | tuple[str, Mapping[str, str]]:
        """A formula whose canonical order is printed, or a text of the spec and its names."""
        if d.depth:
            simpler = self._facts().reduce(d)
            if simpler.depth < d.depth:  # H / P, where P is said to divide H
                d = simpler
        named = self._exact.get(d)
        if named is not None:
            return named
        written = self._as_author(d)
        return self._folded(d) if written is None else written

    def _as_author(self, d: Dim) -> tuple[str, Mapping[str, str]] | None:
        """``d`` as it stands in the spec, if it does."""
        if d.name is not None or d.is_const:
            return None
        if self._written is None:
            self._written = {}
            for text, meant, names in self._list_written():
                self._written.setdefault(meant, (text, names))
        found = self._written.get(d)
        if found is not None:
            try:
                _Trace(found[0], self._plain_notation(), found[1]).whole()
            except _Unclear:
                return None
        return found

    def _folded(self, d: Dim) -> Dim:
        """``d`` with declared names for the sums and fractions in it, where that is shorter."""
        if d.den is not None:
            return d
        names = sorted(d.free, key=self._order)
        for total, name in _filed(self._sums, names):
            if not len(total.terms) <= len(d.terms) <= _MOST_TERMS:
                continue
            have = dict(d.terms)
            if all(have.get(mono) == c for mono, c in total.terms):
                d = d - total + name
                continue
            factor = divided(d, total)
            if factor.den is None and len(factor.terms) * len(total.terms) == len(d.terms):
                d = factor * name
        for fraction, name in _filed(self._fractions, names):
            d = _with_name(d, fraction, name)
        if d.depth:
            d = rebuild(d, self._folded_atom)
        return d

    def _folded_atom(self, factor: str | Opaque) -> Dim | None:
        if isinstance(factor, str):
            return None
        args = tuple(self._exact.get(arg) or self._folded(arg) for arg in factor.args)
        return None if args == factor.args else of_terms(((((Opaque(factor.kind, args), 1),), 1),))

    # -- printing ----------------------------------------------------------------------------

    def _order(self, name: str) -> tuple[Any, ...]:
        at = self._rank.get(name)
        return (0, at, "") if at is not None else (1, *name_order(name))

    def _wholes(self) -> tuple[tuple[Mono, Mono], ...]:
        """(above, below) of the fractions that the spec says to be whole numbers."""
        facts = self._facts()
        if self._whole is None or self._whole[0] is not facts:
            self._whole = facts, tuple(
                (c.right.terms[0][0], c.left.terms[0][0])
                for c in facts.conditions
                if c.op == "|" and _is_product(c.right) and _is_product(c.left)
            )
        return self._whole[1]

    def _plain_notation(self) -> Plain:
        return Plain(self._order, self._called, self._wholes())

    def _tex_notation(self) -> AsTex:
        return AsTex(self._names, self._order, self._called, self._wholes())


@contextmanager
def spelt_by(speller: Speller | None) -> Iterator[None]:
    """Inside, ``str`` and ``tex`` of formulas are spelt by ``speller``: for messages."""
    token = SPELLER.set(speller)
    try:
        yield
    finally:
        SPELLER.reset(token)


def _is_product(d: Dim) -> bool:
    """Whether ``d`` is a product of names."""
    return d.den is None and len(d.terms) == 1 and d.terms[0][1] == 1 and bool(d.terms[0][0])


def _filed(index: _Index, names: list[str]) -> Iterator[tuple[Dim, Dim]]:
    for name in names:
        yield from index.get(name, ())


def _with_name(d: Dim, fraction: Dim, name: Dim) -> Dim:
    """``d`` with ``name`` for each ``fraction`` that is a factor of one of its terms."""
    parts: list[Dim] = []
    changed = False
    wanted = fraction.terms[0][0]
    for mono, c in d.terms:
        have = dict(mono)
        term = of_terms(((mono, c),))
        times = min(have.get(f, 0) // e for f, e in wanted)
        if times > 0:
            changed = True
            term = divided(term, fraction**times) * name**times
        parts.append(term)
    return summed(parts) if changed else d


# -- the author's own text -------------------------------------------------------------------------


class _Unclear(Exception):
    """A text that is better printed in the canonical way: ``d_m * 2``, ``1/2 d_m``."""


class _Traced:
    """A piece of a formula as it was written; the reader's arithmetic puts pieces together."""

    __slots__ = ("negative", "notation", "number", "piece")

    def __init__(
        self, notation: Plain, piece: Piece, number: str = "", *, negative: bool = False
    ) -> None:
        self.notation = notation
        self.piece = piece
        self.number = number  # the digits, where it is a bare number
        self.negative = negative

    def closed(self, level: int) -> str:
        """The text, in parentheses where it does not hold together as tightly as ``level``."""
        piece = self.piece
        if self.negative:
            piece = self.notation.minus + self.notation.closed(piece, QUOTIENT), SUM
        return self.notation.closed(piece, level)

    def _made(self, piece: Piece) -> _Traced:
        return _Traced(self.notation, piece)

    def as_int(self) -> int | None:
        return int(self.number) if self.number.isdigit() else None

    def __neg__(self) -> _Traced:
        return _Traced(self.notation, self.piece, negative=not self.negative)

    def __mul__(self, other: _Traced) -> _Traced:
        if other.number or (self.number and self.piece[1] != UNIT):
            raise _Unclear
        if self.negative:
            return -(-self * other)
        texts = [self.closed(PRODUCT), other.closed(POWER)]
        return self._made((self.notation.product(texts), PRODUCT))

    def __truediv__(self, other: _Traced) -> _Traced:
        if self.negative:
            return -(-self / other)
        if self.number and other.number:
            raise _Unclear
        top = (self.closed(PRODUCT), PRODUCT)
        return self._made(self.notation.quotient(top, (other.closed(POWER), POWER)))

    def __floordiv__(self, other: _Traced) -> _Traced:
        return self._made(self.notation.function("floor", [((self / other).closed(SUM), SUM)]))

    def __mod__(self, other: _Traced) -> _Traced:
        pieces = [(part.closed(POWER), POWER) for part in (self, other)]
        if self.piece[1] == PRODUCT and not self.negative:
            pieces[0] = self.piece
        return self._made(self.notation.function("mod", pieces))

    def __pow__(self, exponent: int) -> _Traced:
        if self.number or self.negative:
            raise _Unclear
        return self._made(self.notation.power(self.piece, exponent))


class _Trace(Reader):
    """Reads a formula as the pieces of itself in a notation."""

    def __init__(self, text: str, notation: Plain, names: Mapping[str, str]) -> None:
        super().__init__(text)
        self.notation = notation
        self.names = names  # of the text -> of the notation

    def whole(self) -> _Traced:
        """The whole text.

        :raises _Unclear: when a part could be read in two ways.
        :raises DimError: where it cannot be read.
        """
        found: _Traced = self.sum()
        self.end()
        if found.negative:
            found = _Traced(self.notation, (found.closed(SUM), SUM))
        return found

    def number_of(self, text: str) -> _Traced:
        return _Traced(self.notation, (text, UNIT), text)

    def named(self, name: str) -> _Traced:
        return _Traced(self.notation, self.notation.symbol(self.names.get(name, name)))

    def total(self, values: list[_Traced]) -> _Traced:
        text = values[0].closed(MOD) if not values[0].negative else values[0].closed(SUM)
        for value in values[1:]:
            sign = self.notation.minus if value.negative else "+"
            text += f" {sign} {self.notation.closed(value.piece, MOD)}"
        return _Traced(self.notation, (text, SUM))

    def function(self, name: str, args: list[_Traced]) -> _Traced:
        pieces = [(arg.closed(SUM), SUM) for arg in args]
        return _Traced(self.notation, self.notation.function(name, pieces))
