"""Conditions on options, as in `if: not tied and kind == gelu`.

Grammar: `or` binds weakest, then `and`, then `not`; a comparison is `name == value` or
`name != value`; a bare name is true when the option is. Parentheses group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from transformer_diagrams.records import dataclass

Options = Mapping[str, "bool | str"]

_TOKEN: Final = re.compile(r"\s*(?:(==|!=|[()])|([A-Za-z_][\w-]*)|(\S))")
_WORDS: Final = ("and", "or", "not")


class SwitchError(ValueError):
    """A condition that cannot be read; ``column`` (one-based) is where."""

    def __init__(self, message: str, column: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.column = column
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Use:
    """One mention of an option; ``value`` is what it is compared with (None: not compared)."""

    name: str
    column: int
    value: str | None = None
    value_column: int = 0


@dataclass(frozen=True, slots=True)
class Switch:
    """A parsed condition."""

    text: str
    uses: tuple[Use, ...]
    _test: Callable[[Options], bool]

    def holds(self, options: Options) -> bool:
        """Whether the condition is true of these options.

        >>> parse_switch("not tied and kind == gelu").holds({"tied": False, "kind": "gelu"})
        True

        A name that is missing from ``options`` raises KeyError.
        """
        return self._test(options)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, int]] = []
        self.at = 0
        self.uses: list[Use] = []
        for match in _TOKEN.finditer(text):
            symbol, name, other = match.groups()
            column = match.start(match.lastindex or 0) + 1
            if other:
                raise SwitchError(
                    f"'{other}' means nothing in a condition",
                    column,
                    "write 'name', 'not name', 'name == value', joined by 'and' or 'or'",
                )
            self.tokens.append((symbol or name, column))

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def column(self) -> int:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else len(self.text) + 1

    def name(self, what: str) -> tuple[str, int]:
        token, column = self.peek(), self.column()
        if not token or token in _WORDS or token in ("==", "!=", "(", ")"):
            found = f"'{token}'" if token else "the end"
            raise SwitchError(f"{what} was expected, not {found}", column)
        self.at += 1
        return token, column

    def take(self, word: str) -> bool:
        """Whether the next token is this one, which is then passed."""
        if self.peek() != word:
            return False
        self.at += 1
        return True

    def either(self) -> Callable[[Options], bool]:
        tests = [self.both()]
        while self.take("or"):
            tests.append(self.both())
        return lambda options: any(test(options) for test in tests)

    def both(self) -> Callable[[Options], bool]:
        tests = [self.one()]
        while self.take("and"):
            tests.append(self.one())
        return lambda options: all(test(options) for test in tests)

    def one(self) -> Callable[[Options], bool]:
        negated = False
        while self.take("not"):
            negated = not negated
        opened = self.column()
        if self.take("("):
            test = self.either()
            if not self.take(")"):
                raise SwitchError("this '(' is never closed", opened)
        else:
            test = self.option()
        return (lambda options: not test(options)) if negated else test

    def option(self) -> Callable[[Options], bool]:
        name, column = self.name("an option's name")
        if self.peek() not in ("==", "!="):
            self.uses.append(Use(name, column))
            return lambda options: options[name] is True
        equal = self.peek() == "=="
        self.at += 1
        value, value_column = self.name("a value")
        self.uses.append(Use(name, column, value, value_column))
        wanted: bool | str = {"true": True, "false": False}.get(value, value)
        return lambda options: (options[name] == wanted) is equal


def parse_switch(text: str) -> Switch:
    """Read a condition; :class:`SwitchError` says what is wrong and in which column."""
    if len(text) > 1000:
        raise SwitchError("the condition is longer than 1000 characters", 1)
    reader = _Reader(text)
    depth = text.count("(")
    if depth > 50:
        raise SwitchError("too many parentheses", 1)
    test = reader.either()
    if reader.peek():
        token = reader.peek()
        hint = "join two conditions with 'and' or 'or'"
        raise SwitchError(f"'{token}' was not expected here", reader.column(), hint)
    return Switch(text, tuple(reader.uses), test)
