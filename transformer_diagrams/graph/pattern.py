"""Which turn of a repeat is of which kind: how many of each, exactly, and their order.

A pattern goes by counts (rounds of so many turns of each kind in a row, the last round cut short)
or by conditions on the turn's number, of which the first that holds decides. Conditions cut the
turns into stretches, at thresholds such as `turn <= n`, and into classes, by remainders such as
`turn % 8 == 4`: within a stretch a class is of one kind, and both can be counted as formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final

from transformer_diagrams.dims import (
    Condition,
    Dim,
    DimError,
    Facts,
    Verdict,
    ceil_of,
    const,
    floor_of,
    maximum,
    minimum,
    sole_mod,
    sym,
)
from transformer_diagrams.records import dataclass

TURN: Final = sym("turn\u00b7")  # no author can name a size so
_NAME: Final = "turn\u00b7"
_MOST_CLASSES = 1_000
_MOST_TURNS = 1_000  # in an order
_FORMS = "turn % 8 == 4, 6 | turn, turn <= n"
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
ZERO, ONE = const(0), const(1)

Test = Callable[[int, "int | None"], bool]  # (stretch, class)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of turns: ``run`` in a row in each round, or all for which ``rules`` hold."""

    run: Dim | None = None
    rules: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """The turns of a repeat and their kinds; all go by counts, or all by rules."""

    turns: Dim
    kinds: tuple[Kind, ...]

    @property
    def by_count(self) -> bool:
        return not any(kind.rules for kind in self.kinds)


class PatternError(Exception):
    """Turns that cannot be counted; ``kind`` is the entry that it is about (None: all)."""

    def __init__(self, message: str, hint: str = "", kind: int | None = None) -> None:
        super().__init__(message)
        self.message, self.hint, self.kind = message, hint, kind


def counts(pattern: Pattern, facts: Facts) -> list[Dim]:
    """How many turns are of each kind; they add up to all turns.

    :raises PatternError: a condition of another form than can be counted; turns of no kind.
    """
    if pattern.by_count:
        return _in_rounds(pattern, facts)
    return _Stretches(pattern, facts).counts()


def _in_rounds(pattern: Pattern, facts: Facts) -> list[Dim]:
    turns = pattern.turns
    runs = [kind.run or ONE for kind in pattern.kinds]
    size = sum(runs, ZERO)
    if facts.equal(size, turns) is Verdict.YES:
        return runs
    whole, rest = floor_of(turns / size), facts.reduce(turns % size)
    if facts.divides(size, turns) is Verdict.YES:
        whole, rest = turns / size, ZERO
    before, ends = ZERO, [ZERO]  # of so many of the first turns of each round, how many there are
    for run in runs[:-1]:
        before = before + run
        if rest == ZERO:
            ends.append(before * whole)
        elif facts.equal(size - before, ONE) is Verdict.YES:
            ends.append(turns - whole)
        elif before == ONE:
            ends.append(ceil_of(turns / size))
        else:
            ends.append(before * whole + facts.reduce(minimum(before, rest)))
    ends.append(turns)
    return [end - start for start, end in pairwise(ends)]


class _Stretches:
    """The turns of a pattern by conditions, cut into stretches and classes."""

    def __init__(self, pattern: Pattern, facts: Facts) -> None:
        self.pattern, self.facts = pattern, facts
        self.limits: list[Dim] = []  # the last turn of each stretch but the last one
        self.size: Dim = ONE  # of the classes: remainders by it
        self.named: set[int] = set()  # classes that are told apart, where ``size`` is no number
        parts = [[self._read(n, rule) for rule in kind.rules] for n, kind in
                 enumerate(pattern.kinds)]
        number = self.size.as_int()
        self.classes: list[int | None] = (
            [*sorted(self.named), None] if number is None else [*range(1, number), 0]
        )
        self.tests = [[self._test(*part) for part in mine] for mine in parts]

    # -- reading

    def _read(self, kind: int, rule: Condition) -> tuple[Condition, Dim | None]:
        """A rule, and the threshold that it speaks of; None for one of remainders."""
        op, left, right = rule.op, rule.left, rule.right
        if op == "|" or sole_mod(left) is not None or sole_mod(right) is not None:
            self._remainder(kind, rule)
            return rule, None
        gap = left - right  # turn - limit, or limit - turn
        limit = TURN - gap
        if _NAME in limit.free:
            op, limit = _MIRRORED.get(op, op), TURN + gap
        if _NAME in limit.free:
            raise self._unreadable(kind)
        if op in ("<", ">="):
            limit, op = limit - 1, "<=" if op == "<" else ">"
        for each in (limit - 1, limit) if op in ("==", "!=") else (limit,):
            self._add_limit(each)
        return Condition(op, TURN, limit), limit

    def _remainder(self, kind: int, rule: Condition) -> None:
        size, shift, rest = self._mod(kind, rule)
        mine, known = size.as_int(), self.size.as_int()
        if mine is not None and known is not None:
            if mine <= 0:
                raise PatternError(f"there is no remainder by {mine}", kind=kind)
            both = math.lcm(mine, known)
            if both > _MOST_CLASSES:
                message = f"the pattern begins again only after {both:,} turns"
                raise PatternError(message, f"at most {_MOST_CLASSES:,} can be counted", kind)
            self.size = const(both)
            return
        if self.size != ONE and self.facts.equal(self.size, size) is not Verdict.YES:
            message = f"remainders by {self.size} and by {size} cannot be counted together"
            raise PatternError(message, "use one divisor, or numbers for all of them", kind)
        if rule.op not in ("==", "!=", "|"):
            raise self._unreadable(kind)
        self.size = size
        self.named.add(rest - shift)
        spread = max(self.named) - min(self.named)
        if self.facts.at_least(size, spread + 1) is not Verdict.YES or spread < 0:
            needed = f"{size} > {spread}"
            raise PatternError(
                f"cannot tell whether the remainders by {size} differ",
                f"if {needed} always holds, state it: where: ['{needed}']",
                kind,
            )

    def _mod(self, kind: int, rule: Condition) -> tuple[Dim, int, int]:
        """(size, shift, remainder) of ``(turn + shift) % size == remainder``."""
        if rule.op == "|":
            size, top, rest = rule.left, rule.right, 0
        else:
            left, right = rule.left, rule.right
            found = sole_mod(left)
            other = right if found is not None else left
            top, size = found or sole_mod(right) or (ZERO, ONE)
            number = other.as_int()
            if number is None:
                raise self._unreadable(kind)
            rest = number
        shift = (top - TURN).as_int()
        if shift is None or _NAME in size.free:
            raise self._unreadable(kind)
        return size, shift, rest

    def _unreadable(self, kind: int) -> PatternError:
        rules = " and ".join(map(_spoken, self.pattern.kinds[kind].rules))
        return PatternError(f"turns with {rules} cannot be counted", f"write {_FORMS}", kind)

    def _add_limit(self, limit: Dim) -> None:
        """Put a threshold among the others, in their order."""
        at = 0
        for at, other in enumerate(self.limits):
            if self.facts.equal(limit, other) is Verdict.YES:
                return
            order = self.facts.le(limit, other)
            if order is Verdict.UNKNOWN:
                needed = f"{limit} <= {other}"
                raise PatternError(
                    f"cannot tell which turn comes first, {limit} or {other}",
                    f"if {needed} always holds, state it: where: ['{needed}']",
                )
            if order is Verdict.YES:
                self.limits.insert(at, limit)
                return
        self.limits.append(limit)

    def _place(self, limit: Dim) -> int:
        return next(n for n, each in enumerate(self.limits)
                    if self.facts.equal(each, limit) is Verdict.YES)

    def _test(self, rule: Condition, limit: Dim | None) -> Test:
        op = rule.op
        if limit is not None:
            last = self._place(limit)
            if op in ("<=", ">"):
                return lambda stretch, _: (stretch <= last) is (op == "<=")
            first = self._place(limit - 1) + 1
            return lambda stretch, _: (first <= stretch <= last) is (op == "==")
        size, shift, rest = self._mod(0, rule)
        if size.as_int() is not None and self.size.as_int() is not None:
            return lambda _, at: at is not None and rule.evaluate({_NAME: at})
        return lambda _, at: (at == rest - shift) is (op != "!=")

    # -- counting

    def counts(self) -> list[Dim]:
        turns, facts = self.pattern.turns, self.facts
        found = [ZERO] * len(self.pattern.kinds)
        start = ZERO
        for stretch in range(len(self.limits) + 1):
            end = turns
            if stretch < len(self.limits):
                end = self._within(self.limits[stretch])
            if start != end:
                self._count(stretch, start, end, found)
            start = end
        return [facts.reduce(number) for number in found]

    def _within(self, limit: Dim) -> Dim:
        """A threshold as a number of turns that there are."""
        if self.facts.at_least(limit, 0) is not Verdict.YES:
            limit = maximum(limit, ZERO)
        known = self.facts.le(limit, self.pattern.turns)
        return limit if known is Verdict.YES else minimum(limit, self.pattern.turns)

    def _count(self, stretch: int, start: Dim, end: Dim, found: list[Dim]) -> None:
        """Add the turns after ``start`` up to ``end``; the kind with most classes has the rest."""
        mine: dict[int, list[int | None]] = {}
        for each in self.classes:
            kind = next(
                (n for n, tests in enumerate(self.tests) if all(t(stretch, each) for t in tests)),
                None,
            )
            if kind is None:
                where = f" with turn % {self.size} == {each}" if self.size != ONE else ""
                between = f" from {start + 1} to {end}"
                raise PatternError(
                    f"no entry takes the turns{between}{where}",
                    "give the last entry no 'turns': it takes all that are left",
                )
            mine.setdefault(kind, []).append(each)
        most = max(mine, key=lambda kind: (None in mine[kind], len(mine[kind])))
        left = end - start
        for kind, classes in mine.items():
            if kind != most:
                number = sum((self._up_to(end, c) - self._up_to(start, c) for c in classes), ZERO)
                found[kind] = found[kind] + number
                left = left - number
        found[most] = found[most] + left

    def _up_to(self, end: Dim, each: int | None) -> Dim:
        """How many of the first ``end`` turns leave the remainder ``each``."""
        assert each is not None  # the class of all others has the rest
        rest = self.facts.reduce(end % self.size).as_int()
        whole = self.facts.reduce(floor_of(end / self.size))
        if rest is not None:
            return whole + (1 if 1 <= each <= rest else 0)
        if each == 0:
            return whole
        return self.facts.reduce(floor_of((end - each) / self.size + (1 if each > 0 else 0)))


def order(pattern: Pattern, numbers: Mapping[str, int]) -> tuple[tuple[int, ...], bool] | None:
    """The kinds of the turns, one after the other, and whether more follow.

    Without a number for the turns themselves it is what comes before they go on in rounds, and one
    round; None when not even that much is known.
    """
    try:
        turns = _number(pattern.turns, numbers)
        if pattern.by_count:
            runs = [(kind.run or ONE).evaluate(numbers) for kind in pattern.kinds]
            if min(runs) < 0 or not 0 < sum(runs) <= _MOST_TURNS:
                return None
            one = [kind for kind, run in enumerate(runs) for _ in range(run)]
            many = len(one) if turns is None else turns
            if many > _MOST_TURNS:
                return None
            return tuple(one[at % len(one)] for at in range(many)), turns is None
        many = _round(pattern, numbers) if turns is None else turns
        if many > _MOST_TURNS:
            return None
        return tuple(_kind_of(pattern, at, numbers) for at in range(1, many + 1)), turns is None
    except (DimError, StopIteration):
        return None


def _number(size: Dim, numbers: Mapping[str, int]) -> int | None:
    return size.evaluate(numbers) if size.free <= numbers.keys() else None


def _round(pattern: Pattern, numbers: Mapping[str, int]) -> int:
    """So many turns as come before the rounds, and one round."""
    size, before = 1, 0
    for rule in (rule for kind in pattern.kinds for rule in kind.rules):
        found = sole_mod(rule.left) or sole_mod(rule.right)
        divisor = rule.left if rule.op == "|" else found[1] if found is not None else None
        if divisor is not None:
            size = math.lcm(size, divisor.evaluate(numbers))
        else:
            gap = (rule.left - rule.right).evaluate({**numbers, _NAME: 0})
            before = max(before, abs(gap))
    return before + size


def _kind_of(pattern: Pattern, turn: int, numbers: Mapping[str, int]) -> int:
    known = {**numbers, _NAME: turn}
    return next(
        n for n, kind in enumerate(pattern.kinds) if all(r.evaluate(known) for r in kind.rules)
    )


def _spoken(rule: Condition) -> str:
    return f"'{rule}'".replace(_NAME, "turn")
