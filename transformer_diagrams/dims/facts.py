"""What is known about the names, and what follows from it.

Definitions and equations become rules ``name -> formula``, applied until only independent names
are left; divisibility becomes a list of fractions known to be whole; inequalities a list of
formulas known not to be negative. From these a question gets one of three answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import lcm

from transformer_diagrams.dims.bounds import never_negative
from transformer_diagrams.dims.conditions import Condition
from transformer_diagrams.dims.equations import (
    height,
    remainder_differs,
    sides,
    solved,
    sure_remainder,
)
from transformer_diagrams.dims.errors import DimError
from transformer_diagrams.dims.formula import Dim, as_dim, const, divided, of_poly, over, sym
from transformer_diagrams.dims.functions import split_whole
from transformer_diagrams.dims.order import in_order
from transformer_diagrams.dims.simplify import MAX_ROUNDS, canonical, reduced_atoms
from transformer_diagrams.dims.verdict import Verdict

_MAX_CHAIN = 4  # divisibility facts used one after another
_MAX_MEMO = 20_000

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
        "_trusting",
        "_whole",
        "_zeros",
        "conditions",
        "definitions",
        "rules",
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
        self.rules: dict[str, Dim] = {}  # values hold no name that has a rule
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
        more.rules = dict(self.rules)
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
            return d.subs(self.rules)
        key = ("reduce", d, d)
        found = self._memo.get(key)
        if not isinstance(found, Dim):
            found = d
            for _ in range(MAX_ROUNDS):
                before, found = found, reduced_atoms(found.subs(self.rules), self)
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
            rule = self.rules.get(name)
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
        left, right = sides(x, y)
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
            gap = canonical(gap, self)
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
        if remainder_differs(gap):
            return NO
        return NO if self.positive(gap) or self.positive(-gap) else UNKNOWN

    def _divides(self, a: Dim, b: Dim) -> Verdict:
        a, b = self.reduce(a), self.reduce(b)
        if not b.terms:
            return YES
        if not a.terms:
            return NO if self.positive(b) or self.positive(-b) else UNKNOWN
        quotient = divided(b, a)
        if quotient.is_const:
            return YES if quotient.as_int() is not None else NO
        if self.is_whole(quotient):
            return YES
        divisor = a.as_int()
        if divisor is not None and b.is_whole and sure_remainder(b, divisor):
            return NO
        if self.positive(b) and self.positive(a - b):
            return NO
        return UNKNOWN

    def _le(self, a: Dim, b: Dim) -> Verdict:
        gap = self.reduce(b) - self.reduce(a)
        if self.not_negative(gap):
            return YES
        return NO if self.positive(-gap) else UNKNOWN

    def _above(self, d: Dim, limit: Dim) -> Verdict:
        return _opposite(self._le(d, limit))

    def positive(self, d: Dim) -> bool:
        """Whether ``d > 0`` is proved."""
        return never_negative(d, strict=True, known=tuple(self._known))

    def not_negative(self, d: Dim) -> bool:
        """Whether ``d >= 0`` is proved."""
        return never_negative(d, known=tuple(self._known))

    @property
    def whole_fractions(self) -> tuple[Dim, ...]:
        """The fractions that the conditions make whole numbers."""
        return tuple(self._whole)

    def is_whole(self, d: Dim) -> bool:
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
                self._chain(divided(of_poly({m: c}), bottom)) for m, c in top.terms
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
                    if height(rest) <= height(fraction):
                        seen.add(rest)
                        coming.append(rest)
            edge = coming
        return False

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
        if self.positive(a) and self.positive(b):
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
        found = solved(gap, [*favoured, *(d.name for d in (b, a) if d.name)])
        if found is None:
            self._zeros.append(over(gap)[0])
        else:
            self._add_rule(*found, trusting)
        self._memo.clear()
        return True

    def _add_rule(self, name: str, value: Dim, trusting: bool) -> None:
        step = {name: value}
        self.rules = {n: d.subs(step) for n, d in self.rules.items()}
        self.rules[name] = value
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
