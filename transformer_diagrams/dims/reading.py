"""Reads formulas and conditions from text, with a column for every complaint. Nothing is run.

    sum      = term {("+" | "-") term}
    term     = {"+" | "-"} run {("*" | "/" | "//" | "%") run}
    run      = power {power}                       "2 n_g d_K", "4 (d + 1)": a product
    power    = unit [("^" | "**") ["-"] power]     the exponent is a whole number
    unit     = number | name | "(" sum ")" | function "(" sum {"," sum} ")"

``a / b c`` is refused, because half of its readers would read ``a / (b c)``; ``1/2 d_m`` is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from transformer_diagrams.dims.errors import MAX_NESTING, MAX_TEXT, DimError, too_large
from transformer_diagrams.dims.formula import Dim, apply, const, summed, sym
from transformer_diagrams.errors import nearest

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?|\.\d+)|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>//|\*\*|==|!=|<=|>=|[-+*/%^(),|<>=])"
)
_SAME = str.maketrans({"×": "*", "·": "*", "⋅": "*", "−": "-", "÷": "/", "∣": "|"})
_WIDE = {"≤": "<=", "≥": ">=", "≠": "!="}
_MAX_DIGITS = 300
# What may not touch a number: letters, digits after `_`, a second point, an exponent's sign.
_TAIL = re.compile(r"[\w.]+(?:(?<=[\d.][eE])[+-]\d\w*)?")
_GROUPED = re.compile(r"(?<![\d.])\d{1,3}(?:[,' ]\d{3})+(?!\d)")
_FUNCTIONS = {"min": 1000, "max": 1000, "floor": 1, "ceil": 1}  # how many arguments they take
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">", "|")


class Token:
    __slots__ = ("column", "kind", "text")

    def __init__(self, kind: str, text: str, column: int) -> None:
        self.kind = kind
        self.text = text
        self.column = column


def tokens(text: str) -> list[Token]:
    """The tokens of ``text`` and one of kind "end".

    :raises DimError: for a foreign character.
    """
    if len(text) > MAX_TEXT:
        raise DimError(f"the formula is {len(text):,} characters long, at most {MAX_TEXT:,} fit", 1)
    source = text.translate(_SAME)
    out: list[Token] = []
    at = 0
    while at < len(source):
        wide = _WIDE.get(source[at])
        if wide:
            out.append(Token("sign", wide, at + 1))
            at += 1
            continue
        found = _TOKEN.match(source, at)
        if found is None:
            raise _foreign(text, at)
        kind = found.lastgroup or ""
        piece = found.group()
        if kind == "number":
            _check_number(piece, source, found.end(), at + 1)
        elif kind == "name" and not piece.isidentifier():
            bad = next(i for i in range(len(piece)) if not piece[: i + 1].isidentifier())
            raise _foreign(text, at + bad)
        if kind != "space":
            out.append(Token(kind, piece, at + 1))
        at = found.end()
    out.append(Token("end", "", len(text) + 1))
    return out


def _check_number(piece: str, source: str, end: int, column: int) -> None:
    if not piece.isascii():
        raise DimError(f"'{piece}' is not written with the digits 0 to 9", column)
    if len(piece) > _MAX_DIGITS:
        raise DimError(f"a number of {len(piece):,} digits is too large", column)
    tail = _TAIL.match(source, end)
    if tail is not None:
        shown = piece + tail.group()
        raise DimError(f"'{shown}' is not a number here", column, _meant(piece, tail.group()))


def _meant(piece: str, tail: str) -> str:
    """What to write for a number and what touches it: ``50_257``, ``1e3``, ``0x1F``, ``2d_m``."""
    written = (piece + tail).replace("_", "").lower()
    if re.fullmatch(r"0x[0-9a-f]{1,16}|0b[01]{1,64}|0o[0-7]{1,22}", written):
        return f"write it out, as {int(written, 0)}"
    if re.fullmatch(r"\d*\.?\d+(e[+-]?\d{1,2})?", written):
        return f"write it out, as {Fraction(written)}"
    if "." in tail:
        return "a decimal has one point"
    if tail.isidentifier() and not re.match(r"[eE]\d|[xXbBoO_]", tail):
        return f"a product has a space: {piece} {tail}; a number is written in digits alone"
    return "a number is written in the digits 0 to 9, as 4096"


def _grouped(text: str, at: int) -> str:
    """A hint where the digits around ``at`` are one number in groups of three: ``50,257``."""
    for found in _GROUPED.finditer(text):
        if found.start() <= at < found.end():
            return f"write it out, as {re.sub('[^0-9]', '', found.group())}"
    return ""


def _foreign(text: str, at: int) -> DimError:
    character = text[at]
    hints = {
        "'": "a name has no prime; call it d_cq, say, and give it `tex: d_c'`",
        "$": "a formula is written without dollar signs",
        "\\": "a formula is not TeX: write d_m / n_h, floor(...), min(...)",
        "[": "use parentheses",
        "{": "use parentheses, and names without braces",
        "&": "state two conditions apart",
        "²": "write ^2",
        "³": "write ^3",
        "⌊": "write floor(...)",
        "⌈": "write ceil(...)",
        "√": "sizes are exact: a root is not one",
        ".": "write a decimal as 0.5",
    }
    shown = f"'{character}'" if character.isprintable() else f"U+{ord(character):04X}"
    shown = shown if character != "'" else '"\'"'
    hint = _grouped(text, at) or hints.get(character, "")
    return DimError(f"{shown} cannot stand in a formula", at + 1, hint)


class Reader:
    """One pass over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0
        self.column = 1  # of the operator at work, for faults of the arithmetic itself

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def sees(self, *signs: str) -> bool:
        token = self.tokens[self.at]
        return token.kind == "sign" and token.text in signs

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            error = too_large(f"more than {MAX_NESTING} parentheses inside one another")
            raise DimError(error.message, self.now.column, error.hint)

    def sum(self) -> Any:
        self.deeper()
        values = [self.term()]
        while self.sees("+", "-"):
            sign = self.take()
            more = self.term()
            self.column = sign.column
            values.append(more if sign.text == "+" else -more)
        self.depth -= 1
        return values[0] if len(values) == 1 else self.total(values)

    # What the pieces become; a subclass may make something else of them that has the operators.

    def number_of(self, text: str) -> Any:
        return const(Fraction(text) if "." in text else int(text))

    def named(self, name: str) -> Any:
        return sym(name)

    def total(self, values: list[Any]) -> Any:
        return summed(values)

    def function(self, name: str, args: list[Any]) -> Any:
        return apply(name, *args)

    def signs(self) -> bool:
        """Any number of signs before a term; True for minus."""
        negative = False
        while self.sees("+", "-"):
            negative ^= self.take().text == "-"
        return negative

    def term(self) -> Any:
        negative = self.signs()
        value, number = self.run(divides=None, after_number=False)
        if negative:
            value = -value
        while self.sees("*", "/", "//", "%"):
            sign = self.take()
            minus = self.signs()
            more, number = self.run(
                divides=None if sign.text == "*" else sign,
                after_number=number and sign.text == "/",
            )
            self.column = sign.column
            if minus:
                more = -more
            if sign.text == "*":
                value = value * more
            elif sign.text == "/":
                value = value / more
            elif sign.text == "//":
                value = value // more
            else:
                value = value % more
            if number:
                # 1/2 d_m: the number's factors come after the fraction, not below it
                while self.starts_unit():
                    self.column = self.now.column
                    value = value * self.power(first=False)
                number = False
        return value

    def starts_unit(self) -> bool:
        return self.now.kind in ("name", "number") or self.sees("(")

    def run(self, *, divides: Token | None, after_number: bool) -> tuple[Any, bool]:
        """Factors side by side; also whether it was one bare number."""
        number = self.now.kind == "number"
        value = self.power()
        if number and divides is not None and after_number:
            return value, True
        single = True
        while self.starts_unit():
            if divides is not None:
                raise DimError(
                    f"what stands below '{divides.text}' is not clear",
                    self.now.column,
                    f"write a {divides.text} (b c), or c * (a {divides.text} b)",
                )
            self.column = self.now.column
            value = value * self.power(first=False)
            single = False
        return value, number and single

    def power(self, *, first: bool = True) -> Any:
        if not first and self.now.kind == "number":
            raise DimError(
                f"the number {self.now.text} follows a factor",
                self.now.column,
                _grouped(self.text, self.now.column - 1)
                or "a number goes in front: 2 d_m; or write d_m * 2, d_m^2, d_m + 2",
            )
        value = self.unit()
        if self.sees("^", "**"):
            sign = self.take()
            self.deeper()
            negative = self.signs()
            at = self.now.column
            exponent = self.power()
            self.depth -= 1
            number = exponent.as_int()
            if number is None:
                raise DimError(
                    f"an exponent must be a whole number, not {exponent}", at,
                    "sizes are sums of products: a name cannot be an exponent",
                )
            self.column = sign.column
            value = value ** (-number if negative else number)
        return value

    def unit(self) -> Any:
        token = self.take()
        if token.kind == "number":
            return self.number_of(token.text)
        if token.kind == "name":
            return self.called(token)
        if token.text == "(" and token.kind == "sign":
            value = self.sum()
            self.close(token)
            return value
        self.at -= 1
        raise self.unexpected("a name, a number or '('")

    def called(self, token: Token) -> Any:
        known = _FUNCTIONS.get(token.text)
        if known is None:
            after = self.now
            touching = after.column == token.column + len(token.text)
            if self.sees("(") and touching and len(token.text) > 2 and "_" not in token.text:
                listed = ", ".join(_FUNCTIONS)
                close = nearest(token.text, _FUNCTIONS)
                raise DimError(
                    f"there is no function '{token.text}'",
                    token.column,
                    (f"did you mean '{close}'? " if close else "") + f"known: {listed}; "
                    "a product has a space or * before the parenthesis",
                )
            return self.named(token.text)
        if not self.sees("("):
            raise DimError(
                f"'{token.text}' is a function, and '(' is missing", token.column,
                f"write {token.text}(...)",
            )
        opened = self.take()
        args = [self.sum()]
        while self.sees(","):
            self.take()
            args.append(self.sum())
        self.close(opened)
        if len(args) > known:
            raise DimError(
                f"'{token.text}' takes one argument, not {len(args)}", token.column,
                f"write {token.text}(a / b)",
            )
        self.column = token.column
        return self.function(token.text, args)

    def close(self, opened: Token) -> None:
        if not self.sees(")"):
            if self.now.kind == "end":
                raise DimError("')' is missing", self.now.column,
                               f"it closes the '(' in column {opened.column}")
            raise self.unexpected("')' or an operator")
        self.take()

    def unexpected(self, wanted: str) -> DimError:
        token = self.now
        if token.kind == "end":
            if not self.text.strip():
                return DimError("the formula is empty", 1, "write a size such as d_m or 2 d_K")
            return DimError(f"the formula ends where {wanted} should stand", token.column)
        hint = ""
        if token.text == ",":
            hint = _grouped(self.text, token.column - 1) or "commas stand in min(a, b) only"
        elif token.text in ("=", *COMPARISONS):
            hint = "a size is a formula; relations go to `where:`"
        return DimError(f"'{token.text}' where {wanted} should stand", token.column, hint)

    def end(self) -> None:
        if self.now.kind == "end":
            return
        if self.sees(")"):
            raise DimError("')' closes nothing", self.now.column)
        raise self.unexpected("an operator or the end")


def _guarded(reader: Reader, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except DimError as error:
        if error.column:
            raise
        raise DimError(error.message, reader.column, error.hint) from None


@lru_cache(maxsize=16384)
def parse(text: str) -> Dim:
    """The formula in ``text``.

    :raises DimError: with the column (from 1) and a hint.

    >>> str(parse("(d_m / n_h) * 2 n_h + 1"))
    '2 d_m + 1'
    """
    if text.isascii():
        if text.isdigit() and len(text) < 19:
            return const(int(text))
        if text.isidentifier() and text not in _FUNCTIONS:
            return sym(text)
    reader = Reader(text)

    def read() -> Dim:
        value: Dim = reader.sum()
        reader.end()
        return value

    found: Dim = _guarded(reader, read)
    return found


@lru_cache(maxsize=16384)
def names_in(text: str) -> tuple[str, ...]:
    """The names as written, also those that cancel.

    :raises DimError: for a foreign character.

    >>> names_in("d_m + min(bar, 3) - min(bar, 3)")
    ('d_m', 'bar')
    """
    if text.isascii() and text.isidentifier():
        return () if text in _FUNCTIONS else (text,)
    found = (token.text for token in tokens(text) if token.kind == "name")
    return tuple(dict.fromkeys(name for name in found if name not in _FUNCTIONS))


def read_condition(text: str, reader: Reader | None = None) -> tuple[str, Any, Any]:
    """(sign, left, right) of ``left sign right``; ``reader`` may make other things than dims."""
    reader = reader if reader is not None else Reader(text)

    def side() -> Any:
        return _guarded(reader, reader.sum)

    left = side()
    sign = reader.now
    if sign.kind == "end":
        raise DimError(
            "a condition compares two sizes", sign.column,
            "write n_g | n_h (n_g divides n_h), n_h % n_g == 0, d_K == d_V or k <= d_s",
        )
    if not reader.sees(*COMPARISONS):
        if reader.sees("="):
            raise DimError("one '=' is no comparison", sign.column, "write ==")
        if reader.sees(")"):
            raise DimError("')' closes nothing", sign.column)
        raise reader.unexpected("one of " + " ".join(COMPARISONS))
    reader.take()
    if sign.text == "|" and reader.sees("|"):
        raise DimError("'||' is no comparison", sign.column, "state one condition a line")
    right = side()
    if reader.sees(*COMPARISONS, "="):
        raise DimError("a condition has one comparison", reader.now.column,
                       "state two conditions: a <= b, b <= c")
    reader.end()
    return sign.text, left, right
