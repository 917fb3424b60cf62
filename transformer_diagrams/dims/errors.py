"""The one error of the algebra, and the limits beyond which a formula is refused."""

from __future__ import annotations

# A formula of an architecture has a handful of terms; these limits only keep a slip of the pen
# (`10^10^10`, `(a + b)^1000`) from eating the machine.
MAX_TERMS = 2000
MAX_PRODUCTS = 60_000  # term by term products in one multiplication
MAX_DEGREE = 64
MAX_BITS = 2048  # of one coefficient
MAX_NESTING = 40  # parentheses and functions inside one another
MAX_TEXT = 20_000  # characters


class DimError(Exception):
    """A formula that cannot be read, or has no value.

    message  one sentence: what is wrong
    column   where in the text, counted from 1; 0 where there is no text
    hint     what to do about it, or ""
    """

    def __init__(self, message: str, column: int = 0, hint: str = "") -> None:
        super().__init__(message, column, hint)
        self.message = message
        self.column = column
        self.hint = hint

    def __str__(self) -> str:
        return self.message


def whole_from(least: int | None, beside: int | None = None) -> str:
    """Words for what a size may be: ``a whole number from 1 up, or -1``."""
    words = "a whole number" + (f" from {least} up" if least is not None else "")
    return words + (f", or {beside}" if beside is not None else "")


def whole_in(number: int | None, least: int | None, beside: int | None = None) -> bool:
    """Whether a number (None: it is not whole) is what ``whole_from`` says."""
    return number is not None and (least is None or number >= least or number == beside)


def too_large(what: str) -> DimError:
    """The refusal of a formula that grows beyond its limits."""
    return DimError(f"the formula is too large: {what}", hint="split it, or name a part of it")
