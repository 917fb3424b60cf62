"""What is known about the names: definitions, conditions, and what follows from them.

Three answers to every question: yes, no, cannot tell. "Cannot tell" is for the author to settle,
so `explain` says what would have to hold.
"""

from __future__ import annotations

import enum
import operator
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from transformer_diagrams.dims.expr import Dim, DimError, const, sign_of, sym
from transformer_diagrams.dims.parse import Reader


class Verdict(enum.Enum):
    """The three answers."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "cannot tell"

    def __bool__(self) -> bool:
        return self is Verdict.YES


COMPARE: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A relation between two sizes. ``op`` is a comparison, or ``|`` for "left divides right"."""

    op: str
    left: Dim
    right: Dim

    @property
    def free(self) -> frozenset[str]:
        return self.left.free | self.right.free

    def evaluate(self, bindings: Mapping[str, int]) -> bool:
        """Whether it holds for these numbers; raises DimError on an unbound name."""
        left, right = self.left.value(bindings), self.right.value(bindings)
        if self.op == "|":
            return bool(left) and (right / left).denominator == 1
        return COMPARE[self.op](left, right)

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"

    def tex(self, names: Mapping[str, str] | None = None) -> str:
        """TeX, e.g. ``n_g \\mid n_h``."""
        signs = {"|": "\\mid", "==": "=", "!=": "\\neq", "<=": "\\leq", ">=": "\\geq"}
        return f"{self.left.tex(names)} {signs.get(self.op, self.op)} {self.right.tex(names)}"


def parse_condition(text: str) -> Condition:
    """``n_h % n_g == 0``, ``n_g | n_h``, ``d_K == d_V``, ``k <= d_s``; DimError with the column."""
    reader = Reader(str(text))
    left = reader.sum()
    op = reader.take("==", "!=", "<=", ">=", "<", ">", "|")
    if op is None:
        raise reader.fail("a comparison (==, <=, >=, <, >, !=, or | for 'divides')")
    right = reader.sum()
    reader.end()
    return Condition(op.text, left, right)


class Facts:
    """Definitions and conditions, ready to be asked."""

    def __init__(
        self, definitions: Mapping[str, Dim] | None = None, conditions: Iterable[Condition] = ()
    ) -> None:
        self.conditions = tuple(conditions)
        self.definitions: dict[str, Dim] = dict(definitions or {})
        self._rules: dict[str, Dim] = {}
        for name, value in self.definitions.items():
            self._add_rule(name, value)
        for condition in self.conditions:
            if condition.op == "==":
                self._add_equation(condition.left, condition.right)
        self._cache: dict[Dim, Dim] = {}

    def with_(
        self, definitions: Mapping[str, Dim] | None = None, conditions: Iterable[Condition] = ()
    ) -> Facts:
        """These facts and more."""
        return Facts({**self.definitions, **(definitions or {})}, (*self.conditions, *conditions))

    def _add_rule(self, name: str, value: Dim) -> None:
        value = value.subs(self._rules)
        if name in value.free:
            return
        self._rules = {n: v.subs({name: value}) for n, v in self._rules.items()}
        self._rules[name] = value

    def _add_equation(self, left: Dim, right: Dim) -> None:
        """Solve left == right for a single name, the one that is simplest to replace."""
        left, right = left.subs(self._rules), right.subs(self._rules)
        for one, other in ((left, right), (right, left)):
            if len(one.free) == 1 and one == sym(next(iter(one.free))):
                name = next(iter(one.free))
                if name not in other.free:
                    self._add_rule(name, other)
                    return
        # a product such as n_h d_K == d_m: solved for its first name
        for one, other in ((left, right), (right, left)):
            for name in sorted(one.free):
                if name in other.free or len(one.terms) != 1:
                    continue
                rest = one / sym(name)
                if name not in rest.free:
                    self._add_rule(name, other / rest)
                    return

    def reduce(self, d: Dim) -> Dim:
        """A size with the definitions put in."""
        if not self._rules or not (d.free & self._rules.keys()):
            return d
        known = self._cache.get(d)
        if known is None:
            known = self._cache[d] = d.subs(self._rules)
        return known

    def equal(self, a: Dim, b: Dim) -> Verdict:
        """Are two sizes the same for all values that obey the facts?"""
        if a == b:
            return Verdict.YES
        difference = self.reduce(a) - self.reduce(b)
        if not difference.terms:
            return Verdict.YES
        if difference.is_const:
            return Verdict.NO
        sign = sign_of(difference)
        if sign in (1, -1):
            return Verdict.NO
        return Verdict.UNKNOWN

    def divides(self, a: Dim, b: Dim) -> Verdict:
        """Does ``a`` divide ``b`` without remainder?"""
        if not a.terms:
            return Verdict.NO
        for pair in ((a, b), (self.reduce(a), self.reduce(b))):
            quotient = pair[1] / pair[0]
            if not quotient.divisions:
                return Verdict.YES
        one, other = self.reduce(a), self.reduce(b)
        if one.as_int() is not None and other.as_int() is not None:
            return Verdict.NO
        for condition in self.conditions:
            below, above = _divisor(condition)
            if below is None or above is None:
                continue
            # below | above, and b is a multiple of above, and a divides below
            over, under = self.reduce(above), self.reduce(below)
            if (self.reduce(b) == over or not (other / over).divisions) and (
                one == under or not (under / one).divisions
            ):
                return Verdict.YES
        for value in self.definitions.values():
            for above, below in value.divisions:
                if (other == self.reduce(above) or b == above) and (
                    a == below or one == self.reduce(below)
                ):
                    return Verdict.YES
        return Verdict.UNKNOWN

    def le(self, a: Dim, b: Dim) -> Verdict:
        """Is ``a`` at most ``b``?"""
        difference = self.reduce(b) - self.reduce(a)
        sign = sign_of(difference)
        if sign is not None:
            return Verdict.YES if sign >= 0 else Verdict.NO
        shifted = _lowest(difference)
        if shifted is not None and shifted >= 0:
            return Verdict.YES
        for condition in self.conditions:
            if condition.op in ("<=", "<") and (condition.left, condition.right) == (a, b):
                return Verdict.YES
            if condition.op in (">=", ">") and (condition.left, condition.right) == (b, a):
                return Verdict.YES
        return Verdict.UNKNOWN

    def holds(self, condition: Condition, bindings: Mapping[str, int]) -> bool:
        """Whether a condition holds in numbers."""
        return condition.evaluate(bindings)

    def explain(self, a: Dim, b: Dim) -> str:
        """What would have to hold for two sizes to be equal."""
        left, right = self.reduce(a), self.reduce(b)
        shown = f"{a} = {b}"
        if (left, right) != (a, b):
            shown += f", that is {left} = {right},"
        return f"{shown} would have to hold"

    def sample(self, names: Iterable[str], seed: int = 0) -> dict[str, int]:
        """Small numbers for names that obey the definitions (for tests and examples)."""
        rng = random.Random(seed)
        bound = {n: rng.randint(1, 9) for n in sorted(set(names)) if n not in self._rules}
        for name, value in self._rules.items():
            try:
                bound[name] = value.evaluate({**dict.fromkeys(value.free, 1), **bound})
            except DimError:
                continue
        return bound


def _divisor(condition: Condition) -> tuple[Dim | None, Dim | None]:
    """(divisor, multiple) that a condition states, if it states divisibility."""
    if condition.op == "|":
        return condition.left, condition.right
    if condition.op == "==" and not condition.right.terms and len(condition.left.terms) == 1:
        mono, _ = condition.left.terms[0]
        if len(mono) == 1 and not isinstance(mono[0][0], str) and mono[0][0].kind == "mod":
            above, below = mono[0][0].args
            return below, above
    return None, None


def _lowest(d: Dim) -> int | None:
    """The value with every name at 1, when no name pulls downward."""
    for mono, coefficient in d.terms:
        if mono and (coefficient < 0 or any(not isinstance(b, str) or e < 0 for b, e in mono)):
            return None
    return d.subs(dict.fromkeys(d.free, const(1))).as_int()
