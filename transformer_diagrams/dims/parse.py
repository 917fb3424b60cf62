"""Text to sizes: ``2 n_g d_K``, ``d_m / n_h``, ``min(k, d_s)``, ``(h - 1) // 2 + 1``.

An own tokenizer with columns and a precedence climber; nothing is ever evaluated as code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from transformer_diagrams.dims.expr import (
    Dim,
    DimError,
    ceildiv,
    const,
    maximum,
    minimum,
    sym,
)

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>\*\*|//|==|!=|<=|>=|[-+*/%^(),<>|×·≤≥])|(?P<bad>\S))"
)
MAX_LENGTH = 2000
MAX_DEPTH = 40
FUNCTIONS = {"min", "max", "floor", "ceil"}
SAME = {"×": "*", "·": "*", "^": "**", "≤": "<=", "≥": ">="}


@dataclass(frozen=True, slots=True)
class Token:
    """A number, name, operator, or the end; ``column`` counts from one."""

    kind: str
    text: str
    column: int


def tokenize(text: str) -> list[Token]:
    """The tokens of a formula; raises DimError at a character that has no meaning."""
    if len(text) > MAX_LENGTH:
        raise DimError(f"the formula is longer than {MAX_LENGTH} characters", 1)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            break
        kind = match.lastgroup or "bad"
        found = match.group(kind)
        column = match.start(kind) + 1
        if kind == "bad":
            hint = "write names with letters, digits and _" if found in "$\\{}'\"" else ""
            raise DimError(f"'{found}' has no meaning in a formula", column, hint)
        tokens.append(Token(kind, SAME.get(found, found), column))
        at = match.end()
    tokens.append(Token("end", "", len(text) + 1))
    return tokens


class Reader:
    """Reads one formula from tokens."""

    def __init__(self, text: str) -> None:
        self.tokens, self.at, self.depth = tokenize(text), 0, 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self, *ops: str) -> Token | None:
        """The next token if it is one of these operators."""
        token = self.token
        if token.kind == "op" and token.text in ops:
            self.at += 1
            return token
        return None

    def fail(self, wanted: str) -> DimError:
        token = self.token
        found = f"found '{token.text}'" if token.kind != "end" else "the formula ends here"
        return DimError(f"{wanted} expected, {found}", token.column)

    def sum(self) -> Dim:
        sign = self.take("-", "+")
        total = self.product()
        if sign and sign.text == "-":
            total = -total
        while op := self.take("+", "-"):
            part = self.product()
            total = total + part if op.text == "+" else total - part
        return total

    def product(self) -> Dim:
        value = self.power()
        while True:
            if op := self.take("*", "/", "//", "%"):
                right = self.power()
                try:
                    value = {
                        "*": lambda a, b: a * b,
                        "/": lambda a, b: a / b,
                        "//": lambda a, b: a // b,
                        "%": lambda a, b: a % b,
                    }[op.text](value, right)
                except DimError as error:
                    raise DimError(error.message, op.column, error.hint) from None
            elif self.token.kind in ("name", "number") or (
                self.token.kind == "op" and self.token.text == "("
            ):
                value = value * self.power()  # side by side: a product
            else:
                return value

    def power(self) -> Dim:
        base = self.atom()
        if op := self.take("**"):
            exponent = self.atom().as_int()
            if exponent is None:
                raise DimError("a power must be a whole number", op.column)
            try:
                base = base**exponent
            except DimError as error:
                raise DimError(error.message, op.column, error.hint) from None
        return base

    def atom(self) -> Dim:
        token = self.token
        if token.kind == "number":
            self.at += 1
            if len(token.text) > 40:
                raise DimError("the number is too long", token.column)
            return const(Fraction(token.text))
        if token.kind == "name":
            self.at += 1
            if token.text in FUNCTIONS and self.token.text == "(":
                return self.call(token)
            return sym(token.text)
        if self.take("("):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise DimError("parentheses are nested too deep", token.column)
            value = self.sum()
            if not self.take(")"):
                raise self.fail("')'")
            self.depth -= 1
            return value
        if token.kind == "op" and token.text == "-":
            self.at += 1
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise DimError("signs are nested too deep", token.column)
            value = -self.atom()
            self.depth -= 1
            return value
        raise self.fail("a number or a name")

    def call(self, name: Token) -> Dim:
        self.take("(")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise DimError("parentheses are nested too deep", name.column)
        parts = [self.sum()]
        while self.take(","):
            parts.append(self.sum())
        if not self.take(")"):
            raise self.fail("')'")
        self.depth -= 1
        if name.text == "min":
            return minimum(*parts)
        if name.text == "max":
            return maximum(*parts)
        if len(parts) != 1:
            raise DimError(
                f"{name.text}() takes one quotient, e.g. {name.text}(a / b)", name.column
            )
        top, bottom = quotient(parts[0])
        return top // bottom if name.text == "floor" else ceildiv(top, bottom)

    def end(self) -> None:
        if self.token.kind != "end":
            raise self.fail("an operator or the end")


def quotient(d: Dim) -> tuple[Dim, Dim]:
    """(numerator, denominator) of a size, without fractions in either."""
    bottom = const(1)
    for top, below in d.divisions:
        del top
        if (bottom / below).divisions:
            bottom = bottom * below if not (below / bottom).divisions == () else below
    top = d * bottom
    return top, bottom


@lru_cache(maxsize=20_000)
def parse(text: str) -> Dim:
    """A formula as a :class:`Dim`; raises DimError with the column."""
    reader = Reader(str(text))
    if reader.token.kind == "end":
        raise DimError("the formula is empty", 1, "write a number or a name, e.g. d_m")
    value = reader.sum()
    reader.end()
    return value
