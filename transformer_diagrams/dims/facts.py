"""What is known about the names, and what follows from it.

Definitions and equations become rules ``name -> formula``, applied until only independent names
are left; divisibility becomes a list of fractions known to be whole; inequalities a list of
formulas known not to be negative. From these a question gets one of three answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import floor, lcm

from transformer_diagrams.dims import polynomials as poly
from transformer_diagrams.dims.algebra import (
    ONE,
    ZERO,
    Atom,
    Dim,
    _from,
    as_dim,
    ceil_of,
    const,
    divided,
    floor_of,
    make_atom,
    over,
    rebuild,
    sole_atom,
    split_whole,
    sym,
)
from transformer_diagrams.dims.bounds import never_negative
from transformer_diagrams.dims.conditions import Condition
from transformer_diagrams.dims.errors import DimError
from transformer_diagrams.dims.order import in_order
from transformer_diagrams.dims.polynomials import Poly
from transformer_diagrams.dims.show import name_order
from transformer_diagrams.dims.verdict import Verdict

_MAX_CHAIN = 4  # divisibility facts used one after another
_MAX_MEMO = 20_000
_MAX_ROUNDS = 4

YES, NO, UNKNOWN = Verdict.YES, Verdict.NO, Verdict.UNKNOWN


class Facts:
    """Definitions and conditions, with their consequences. Extend it with :meth:`with_`.

    >>> from transformer_diagrams.dims import parse
    >>> facts = Facts({"d_K": parse("d_m / n_h")})
    >>> facts.equal(parse("n_h d_K"), parse("d_m"))
    <Verdict.YES: 'yes'>

    What is defined is taken for a size, a whole number from 1 up; with ``trusting=False`` it is
    not, so that one may ask whether it is one.

    :raises DimError: for definitions in a circle, and for two that contradict each other.
    """

    __slots__ = (
        "_known",
        "_memo",
        "_nonzero",
        "_rules",
        "_trusting",
        "_whole",
        "_zeros",
        "conditions",
        "definitions",
    )

    def __init__(
        self,
        definitions: Mapping[str, Dim | int] | None = None,
        conditions: Iterable[Condition] = (),
        *,
        trusting: bool = True,
    ) -> None:
        self._trusting = trusting
        self.definitions: dict[str, Dim] = {}
        self.conditions: tuple[Condition, ...] = ()
        self._rules: dict[str, Dim] = {}  # values hold no name that has a rule
        self._whole: list[Dim] = []  # fractions that are whole numbers
        self._known: list[Dim] = []  # formulas that are >= 0
        self._zeros: list[Dim] = []  # formulas that are 0 and could not be made a rule
        self._nonzero: list[Dim] = []
        self._memo: dict[tuple[str, Dim, Dim], Verdict | Dim] = {}
        self._extend(definitions or {}, conditions)

    def with_(
        self,
        definitions: Mapping[str, Dim | int] | None = None,
        conditions: Iterable[Condition] = (),
        *,
        trusting: bool = True,
    ) -> Facts:
        """These facts and more; this object stays as it is."""
        conditions = tuple(conditions)
        if not definitions and not conditions:
            return self
        more = Facts(trusting=trusting)
        more.definitions = dict(self.definitions)
        more.conditions = self.conditions
        more._rules = dict(self._rules)
        more._whole = list(self._whole)
        more._known = list(self._known)
        more._zeros = list(self._zeros)
        more._nonzero = list(self._nonzero)
        more._extend(definitions or {}, conditions)
        return more

    # -- questions ---------------------------------------------------------------------------

    def reduce(self, d: Dim) -> Dim:
        """``d`` with the definitions put in, and with what the conditions simplify."""
        if d.depth == 0:
            return d.subs(self._rules)
        key = ("reduce", d, d)
        found = self._memo.get(key)
        if not isinstance(found, Dim):
            found = d
            for _ in range(_MAX_ROUNDS):
                before, found = found, self._reduced_atoms(found.subs(self._rules))
                if before == found:
                    break
            self._remember(key, found)
        return found

    def equal(self, a: Dim, b: Dim) -> Verdict:
        """Whether ``a == b`` follows (YES), is impossible (NO), or neither can be shown."""
        if a is b or a == b:
            return YES
        if a.is_const and b.is_const:
            return NO
        return self._asked("equal", a, b, self._equal)

    def divides(self, a: Dim, b: Dim) -> Verdict:
        """Whether ``a`` divides ``b``: always (YES), never (NO), or not known."""
        return self._asked("divides", a, b, self._divides)

    def le(self, a: Dim, b: Dim) -> Verdict:
        """Whether ``a <= b``: always (YES), never (NO), or not known."""
        if a is b or a == b:
            return YES
        return self._asked("le", a, b, self._le)

    def at_least(self, d: Dim, least: int) -> Verdict:
        """Whether ``d``, if it is whole, is ``least`` or more: always, never, or not known."""
        if least <= 1 and d.den is None and not d.depth and d.terms and all(
            c > 0 for _, c in d.terms
        ):
            return YES
        return self._asked("least", d, const(least - 1), self._above)

    def check(self, condition: Condition) -> Verdict:
        """Whether a condition follows (YES), contradicts the facts (NO), or neither."""
        a, b = condition.left, condition.right
        if condition.op == "==":
            return self.equal(a, b)
        if condition.op == "!=":
            return _opposite(self.equal(a, b))
        if condition.op == "<=":
            return self.le(a, b)
        if condition.op == ">=":
            return self.le(b, a)
        if condition.op == "|":
            return self.divides(a, b)
        # a < b is the opposite of b <= a
        return _opposite(self.le(b, a) if condition.op == "<" else self.le(a, b))

    def holds(self, condition: Condition, bindings: Mapping[str, int]) -> bool:
        """Whether a condition holds in numbers; defined names need no number of their own."""
        return condition.evaluate(self.complete(condition.free, bindings))

    def complete(self, names: Iterable[str], bindings: Mapping[str, int]) -> dict[str, int]:
        """The bindings, and the values of those of ``names`` that follow from them."""
        out = dict(bindings)
        for name in sorted(set(names) - out.keys()):
            rule = self._rules.get(name)
            if rule is not None and rule.free <= bindings.keys():
                out[name] = rule.evaluate(bindings)
        return out

    def explain(self, a: Dim, b: Dim) -> str:
        """One sentence about ``a == b``: ``d_m = n_h d_K would have to hold``."""
        verdict = self.equal(a, b)
        if verdict is YES:
            return f"{a} and {b} are equal"
        x, y = self.reduce(a), self.reduce(b)
        shown = f"{a} = {b}"
        left, right = _sides(x, y)
        needed = f"{left} = {right}"
        if verdict is UNKNOWN:
            return f"{needed} would have to hold"
        if a.is_const and b.is_const:
            return f"{a} and {b} differ"
        gap = x - y
        number = gap.as_fraction
        if number is not None:
            least, most = (a, b) if number < 0 else (b, a)
            return f"{shown} can never hold: {most} is {least} plus {abs(number)}"
        if {str(a), str(b)} == {str(x), str(y)}:
            return f"{shown} can never hold"
        return f"{shown} can never hold: it says {x} = {y}"

    # -- answers -----------------------------------------------------------------------------

    def _asked(
        self, what: str, a: Dim, b: Dim, answer: Callable[[Dim, Dim], Verdict]
    ) -> Verdict:
        key = (what, a, b)
        found = self._memo.get(key)
        if not isinstance(found, Verdict):
            found = answer(a, b)
            self._remember(key, found)
        return found

    def _remember(self, key: tuple[str, Dim, Dim], value: Verdict | Dim) -> None:
        if len(self._memo) >= _MAX_MEMO:
            self._memo.clear()
        self._memo[key] = value

    def _equal(self, a: Dim, b: Dim) -> Verdict:
        a, b = self.reduce(a), self.reduce(b)
        if a == b:
            return YES
        gap = a - b
        if gap.depth:
            gap = self._canonical(gap)
        if not gap.terms:
            return YES
        if gap.is_const:
            return NO
        for zero in self._zeros:
            if divided(gap, zero).den is None:
                return YES
        for never in self._nonzero:
            if divided(gap, never).is_const:
                return NO
        if _remainder_differs(gap):
            return NO
        known = tuple(self._known)
        if never_negative(gap, strict=True, known=known):
            return NO
        return NO if never_negative(-gap, strict=True, known=known) else UNKNOWN

    def _divides(self, a: Dim, b: Dim) -> Verdict:
        a, b = self.reduce(a), self.reduce(b)
        if not b.terms:
            return YES
        if not a.terms:
            return NO if self._positive(b) or self._positive(-b) else UNKNOWN
        quotient = divided(b, a)
        if quotient.is_const:
            return YES if quotient.as_int() is not None else NO
        if self._is_whole(quotient):
            return YES
        divisor = a.as_int()
        if divisor is not None and b.is_whole and _sure_remainder(b, divisor):
            return NO
        if self._positive(b) and self._positive(a - b):
            return NO
        return UNKNOWN

    def _le(self, a: Dim, b: Dim) -> Verdict:
        gap = self.reduce(b) - self.reduce(a)
        known = tuple(self._known)
        if never_negative(gap, known=known):
            return YES
        return NO if never_negative(-gap, strict=True, known=known) else UNKNOWN

    def _above(self, d: Dim, limit: Dim) -> Verdict:
        gap = self.reduce(d) - limit
        known = tuple(self._known)
        if never_negative(gap, strict=True, known=known):
            return YES
        return NO if never_negative(-gap, known=known) else UNKNOWN

    def _positive(self, d: Dim) -> bool:
        return never_negative(d, strict=True, known=tuple(self._known))

    def _is_whole(self, d: Dim) -> bool:
        """Whether ``d`` (reduced) is a whole number by its form and the divisibility facts."""
        _, rest = split_whole(d)
        if not rest.terms:
            return True
        if rest.den is not None:
            return any(divided(rest, fact).is_whole for fact in self._whole)
        if any((rest - fact).is_whole or (rest + fact).is_whole for fact in self._whole):
            return True
        for top, bottom in rest.divisions:
            if self._chain(divided(top, bottom)):
                continue
            if len(top.terms) == 1 or not all(
                self._chain(divided(_from({m: c}), bottom)) for m, c in top.terms
            ):
                return False
        return True

    def _chain(self, start: Dim) -> bool:
        """Whether a fraction is a product of known whole fractions and whole factors."""
        seen = {start}
        edge = [start]
        for _ in range(_MAX_CHAIN):
            coming: list[Dim] = []
            for fraction in edge:
                for fact in self._whole:
                    rest = divided(fraction, fact)
                    if rest.is_whole:
                        return True
                    if rest in seen or len(rest.terms) != 1 or rest.den is not None:
                        continue
                    if _height(rest) <= _height(fraction):
                        seen.add(rest)
                        coming.append(rest)
            edge = coming
        return False

    # -- simplifying opaque factors ----------------------------------------------------------

    def _reduced_atoms(self, d: Dim) -> Dim:
        if not d.depth:
            return d

        def put(factor: str | Atom) -> Dim | None:
            return None if isinstance(factor, str) else self._reduced_atom(factor)

        return rebuild(d, put)

    def _reduced_atom(self, atom: Atom) -> Dim:
        args = tuple(self._reduced_atoms(arg.subs(self._rules)) for arg in atom.args)
        known = tuple(self._known)
        if atom.kind == "mod":
            a, b = args
            if self._is_whole(divided(a, b)):
                return ZERO
            if never_negative(a, known=known) and self._positive(b - a):
                return a
            return make_atom("mod", args)
        if atom.kind in ("floor", "ceil"):
            outside, rest = split_whole(args[0])
            for top, bottom in rest.divisions:
                part = divided(top, bottom)
                if self._is_whole(part):
                    outside, rest = outside + part, rest - part
            if rest.terms and never_negative(rest, known=known):
                if atom.kind == "floor" and self._positive(1 - rest):
                    rest = ZERO
                elif atom.kind == "ceil" and self._positive(rest) and never_negative(
                    1 - rest, known=known
                ):
                    rest = ONE
            return outside + (floor_of(rest) if atom.kind == "floor" else ceil_of(rest))
        kept: list[Dim] = []
        for arg in args:  # an argument that another one makes idle is dropped
            pairs = [(k, arg) if atom.kind == "min" else (arg, k) for k in kept]
            if any(self._le(*pair) is YES for pair in pairs):
                continue
            kept = [
                k for k in kept
                if self._le(*((arg, k) if atom.kind == "min" else (k, arg))) is not YES
            ]
            kept.append(arg)
        return make_atom(atom.kind, tuple(kept))

    def _canonical(self, d: Dim) -> Dim:
        """With floors only, their coefficients in 0..n-1 and their constant in 1-n..0."""
        for _ in range(_MAX_ROUNDS):
            before, d = d, self._reduced_atoms(rebuild(d, _as_floors))
            if before == d:
                break
        return rebuild(d, _as_floors) if d.depth else d

    # -- learning ----------------------------------------------------------------------------

    def _extend(
        self, definitions: Mapping[str, Dim | int], conditions: Iterable[Condition]
    ) -> None:
        new = {name: as_dim(value) for name, value in definitions.items()}
        for name in _in_order(new):
            value = new[name]
            self.definitions[name] = value
            if not self._learn_equal(sym(name), value, prefer=name, trusting=self._trusting):
                raise DimError(
                    f"{name} = {value} contradicts what is already known: "
                    f"{self.reduce(sym(name))} and {self.reduce(value)} differ"
                )
        for condition in conditions:
            self.conditions += (condition,)
            self._learn(condition)

    def _learn(self, condition: Condition) -> None:
        a, b = self.reduce(condition.left), self.reduce(condition.right)
        op = condition.op
        if op == "==":
            self._learn_equal(a, b)
        elif op == "|":
            self._learn_whole(a, b)
        elif op == "!=":
            self._nonzero.append(a - b)
        else:
            if op in (">", ">="):
                a, b = b, a
            gap = b - a if op in ("<=", ">=") else b - a - 1
            if not gap.is_const:
                self._known.append(gap)
        self._memo.clear()

    def _learn_whole(self, a: Dim, b: Dim) -> None:
        if not a.terms or not b.terms:
            return
        fraction = divided(b, a)
        if fraction.is_whole or fraction.is_const:
            return
        unit = a.as_int()
        if unit is not None:
            # 2 | n and 3 | n make 6 | n
            for other in list(self._whole):
                number = divided(b, other).as_int()
                if number is not None and lcm(number, unit) not in (number, unit):
                    self._whole.append(divided(b, const(lcm(number, unit))))
        self._whole.append(fraction)
        if self._positive(a) and self._positive(b):
            self._known.append(b - a)

    def _learn_equal(
        self, a: Dim, b: Dim, prefer: str = "", *, trusting: bool = True
    ) -> bool:
        """Take in ``a == b``; False when it is impossible."""
        favoured = [prefer] if prefer else [d.name for d in (b, a) if d.name]
        a, b = self.reduce(a), self.reduce(b)
        if a == b:
            return True
        if a.is_const and b.is_const:
            return False
        gap = a - b
        found = _solved(gap, [*favoured, *(d.name for d in (b, a) if d.name)])
        if found is None:
            self._zeros.append(over(gap)[0])
        else:
            self._add_rule(*found, trusting)
        self._memo.clear()
        return True

    def _add_rule(self, name: str, value: Dim, trusting: bool) -> None:
        step = {name: value}
        self._rules = {n: d.subs(step) for n, d in self._rules.items()}
        self._rules[name] = value
        for facts in (self._whole, self._known, self._zeros, self._nonzero):
            facts[:] = [d for d in (old.subs(step) for old in facts) if not d.is_const]
        if not trusting:
            return
        # The name is a positive whole number, so its value is one, too.
        if not value.is_whole:
            divisions = value.divisions
            if len(divisions) == 1:
                self._whole.append(divided(*divisions[0]))
            elif divisions:
                self._whole.append(value)
        if not never_negative(value - 1):
            self._known.append(value - 1)


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
    plus, minus = _signed(gap)
    return Condition(op, minus, plus)


def _opposite(verdict: Verdict) -> Verdict:
    return {YES: NO, NO: YES, UNKNOWN: UNKNOWN}[verdict]


def _in_order(definitions: Mapping[str, Dim]) -> list[str]:
    """The names, each after those that its definition needs. DimError for a circle."""
    needs = {
        # A name that stands for itself says nothing.
        name: sorted(value.free & definitions.keys()) if value != sym(name) else []
        for name, value in definitions.items()
    }
    order, circles = in_order(needs)
    if circles:
        raise DimError(f"definitions in a circle: {' -> '.join(circles[0])}")
    return order


def _solved(gap: Dim, favoured: list[str]) -> tuple[str, Dim] | None:
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
    beside = _from({tuple(item for item in mono if item[0] != name): c})
    if beside.depth:  # a factor that may be 0
        return None
    rest = _from(dict(item for i, item in enumerate(top.terms) if i != index))
    return name, divided(-rest, beside)


def _remainder_differs(gap: Dim) -> bool:
    """Whether ``gap`` cannot be 0 because its parts differ modulo some number: 2 a - 2 b - 1."""
    top, _ = over(gap)
    terms: Poly = dict(top.terms)
    constant = terms.pop((), 0)
    if not constant or not terms:
        return False
    return (Fraction(constant) / poly.content(terms.values())).denominator != 1


def _sure_remainder(d: Dim, divisor: int) -> bool:
    terms: Poly = dict(d.terms)
    constant = terms.pop((), 0)
    return constant % divisor != 0 and all(c % divisor == 0 for c in terms.values())


def _height(d: Dim) -> int:
    """How much stands below the fraction bar."""
    return sum(-e for m, _ in d.terms for _, e in m if e < 0) + sum(
        Fraction(c).denominator.bit_length() for _, c in d.terms
    )


def _sides(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """``a == b`` without what both sides share, without fractions and minus signs."""
    plus, minus = _signed(a - b)
    if not plus.terms or (minus.name and not plus.name) or (
        len(minus.terms) == 1 < len(plus.terms) and minus.terms[0][0]
    ):
        return minus, plus
    return plus, minus


def _signed(gap: Dim) -> tuple[Dim, Dim]:
    """(plus, minus): the positive and the negative terms of what ``gap`` has above its fraction
    bar, without the positive factor that all share."""
    top, _ = over(gap)
    terms: Poly = dict(top.terms)
    shared = tuple((f, -e) for f, e in poly.common_factor(terms) if isinstance(f, str))
    terms = poly.scaled(terms, shared, 1 / poly.content(terms.values()))
    return (
        _from({m: c for m, c in terms.items() if c > 0}),
        _from({m: -c for m, c in terms.items() if c < 0}),
    )


def _as_floors(factor: str | Atom) -> Dim | None:
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
            return make_atom("ceil", args)
        return _floor_reduced(divided(top - 1, bottom)) + 1
    return make_atom(factor.kind, args)


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
            step = _from({mono: shift})
            outside, rest = outside + step, rest - step
    return outside + floor_of(rest)
