r"""A factor as text, ``1/sqrt(d_K)``: its TeX, and its value for given numbers.

The grammar is that of a size, with ``sqrt(...)``, fractions as exponents and decimals:
``d_m^-1/2``, ``2 sqrt(d_m)``, ``0.125``. It is read here and not by `dims`, because a factor
need not be a whole number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction

from transformer_diagrams.dims import sym
from transformer_diagrams.ops.registry import OpFault
from transformer_diagrams.records import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z]\w*'*)|(?P<op>\*\*|[-+*/^()])|(?P<bad>\S))"
)
_LONGEST = 200
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Factor:
    """What was read. ``level``: 0 a sum, 1 a product or quotient, 2 a power, 3 a unit."""

    tex: str
    level: int
    kind: str
    parts: tuple[Factor, ...] = ()
    word: str = ""

    def value(self, numbers: Mapping[str, int]) -> float:
        """Its value.

        :raises OpFault: for a name without a number.
        """
        if self.kind == "number":
            return float(self.word)
        if self.kind == "name":
            if self.word not in numbers:
                raise OpFault(f"the factor needs a number for '{self.word}'")
            return float(numbers[self.word])
        values = [part.value(numbers) for part in self.parts]
        if self.kind == "sqrt":
            return math.sqrt(values[0])
        if self.kind == "-" and len(values) == 1:
            return -values[0]
        a, b = values
        if self.kind == "^":
            return float(a**b)
        return {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else math.inf}[self.kind]


def read_factor(text: str, names: Mapping[str, str] | None = None) -> Factor | None:
    r"""``text`` as a factor, or None when it is no formula (TeX, words).

    >>> read_factor("1/sqrt(d_K)").tex
    '1/\\sqrt{d_K}'
    """
    if len(text) > _LONGEST or "\\" in text:
        return None
    tokens = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "bad"
        if kind == "bad":
            return None
        word = match.group(kind)
        tokens.append((kind, "^" if word == "**" else word))
    try:
        return _Reader(tokens, names or {}).whole()
    except _NoFactor:
        return None


class _NoFactor(Exception):
    pass


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]], names: Mapping[str, str]) -> None:
        self.tokens = [*tokens, ("end", "")]
        self.names = names
        self.at = 0
        self.depth = 0

    def next(self, *words: str) -> str:
        kind, word = self.tokens[self.at]
        if kind == "op" and word in words:
            self.at += 1
            return word
        return ""

    def whole(self) -> Factor:
        found = self.sum()
        if self.tokens[self.at][0] != "end":
            raise _NoFactor
        return found

    def sum(self) -> Factor:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _NoFactor
        if self.next("-"):
            inner = self.product()
            left = Factor("-" + inner.tex, 0, "-", (inner,))
        else:
            left = self.product()
        while word := self.next("+", "-"):
            right = self.product()
            left = Factor(f"{left.tex} {word} {right.tex}", 0, word, (left, right))
        self.depth -= 1
        return left

    def product(self) -> Factor:
        left = self.power()
        while True:
            if self.next("/"):
                right = self.power()
                text = f"{_in(left, 1)}/{_in(right, 2)}"
                left = Factor(text, 1, "/", (left, right))
            elif self.next("*") or self.tokens[self.at][0] in ("number", "name") or (
                self.tokens[self.at] == ("op", "(")
            ):
                right = self.power()
                left = Factor(rf"{_in(left, 1)}\, {_in(right, 1)}", 1, "*", (left, right))
            else:
                return left

    def power(self) -> Factor:
        base = self.unit()
        if not self.next("^"):
            return base
        exponent = self.exponent()
        body = base.tex if base.level == 3 else f"({base.tex})"
        return Factor(f"{body}^{{{exponent.tex}}}", 2, "^", (base, exponent))

    def exponent(self) -> Factor:
        """A number, a fraction such as -1/2, or something in parentheses."""
        minus = bool(self.next("-"))
        found = self.unit()
        if found.kind == "number" and self.tokens[self.at] == ("op", "/"):
            ahead = self.tokens[self.at + 1]
            if ahead[0] == "number":
                self.at += 2
                below = Factor(ahead[1], 3, "number", word=ahead[1])
                found = Factor(f"{found.tex}/{below.tex}", 1, "/", (found, below))
        return Factor("-" + found.tex, 0, "-", (found,)) if minus else found

    def unit(self) -> Factor:
        kind, word = self.tokens[self.at]
        self.at += kind != "end"
        if kind == "number":
            return Factor(word, 3, "number", word=word)
        if kind == "name" and word == "sqrt":
            if not self.next("("):
                raise _NoFactor
            inner = self.closed()
            return Factor(rf"\sqrt{{{inner.tex}}}", 3, "sqrt", (inner,))
        if kind == "name":
            return Factor(_name_tex(word, self.names), 3, "name", word=word)
        if (kind, word) == ("op", "("):
            return self.closed()
        raise _NoFactor

    def closed(self) -> Factor:
        inner = self.sum()
        if not self.next(")"):
            raise _NoFactor
        return inner


def _in(factor: Factor, level: int) -> str:
    return factor.tex if factor.level >= level else f"({factor.tex})"


def _name_tex(name: str, names: Mapping[str, str]) -> str:
    if name in names:
        return names[name]
    return name if "'" in name else sym(name).tex(names)


def decimal(number: float) -> str:
    """A number as a label shows it: ``30``, ``0.01``."""
    exact = Fraction(number).limit_denominator(10**6)
    return str(exact.numerator) if exact.denominator == 1 else f"{number:g}"
