"""Relations between sizes, as ``where:`` states them."""

from __future__ import annotations

from collections.abc import Mapping

from transformer_diagrams.dims.errors import DimError
from transformer_diagrams.dims.formula import Dim, sole_atom
from transformer_diagrams.dims.reading import COMPARISONS, read_condition
from transformer_diagrams.records import dataclass

TEX = {"==": "=", "!=": r"\neq", "<=": r"\leq", ">=": r"\geq", "<": "<", ">": ">", "|": r"\mid"}
_FAILS = {"==": "!=", "!=": "==", "<=": ">", ">=": "<", "<": ">=", ">": "<="}


@dataclass(frozen=True, slots=True)
class Condition:
    """``left op right``; op is == != <= >= < > or |, where ``a | b`` says that a divides b."""

    op: str
    left: Dim
    right: Dim

    def __post_init__(self) -> None:
        if self.op not in COMPARISONS:
            known = " ".join(COMPARISONS)
            raise DimError(f"'{self.op}' is no comparison", hint=f"use one of {known}")

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"

    def tex(self, names: Mapping[str, str] | None = None) -> str:
        r"""``n_g \mid n_h``; ``names`` as for :meth:`Dim.tex`."""
        return f"{self.left.tex(names)} {TEX[self.op]} {self.right.tex(names)}"

    @property
    def free(self) -> frozenset[str]:
        return self.left.free | self.right.free

    def subs(self, values: Mapping[str, Dim | int]) -> Condition:
        return Condition(self.op, self.left.subs(values), self.right.subs(values))

    def evaluate(self, bindings: Mapping[str, int]) -> bool:
        """Whether it holds in numbers.

        :raises DimError: for a name without a value and for an exact division that leaves a
            remainder.
        """
        a, b = self.left.evaluate(bindings), self.right.evaluate(bindings)
        if self.op == "|":
            return b == 0 if a == 0 else b % a == 0
        if self.op == "==":
            return a == b
        if self.op == "!=":
            return a != b
        if self.op == "<=":
            return a <= b
        if self.op == ">=":
            return a >= b
        return a < b if self.op == "<" else a > b

    def failure(self, bindings: Mapping[str, int]) -> str:
        """In words and numbers why it does not hold; "" where it does.

        >>> parse_condition("n_g | n_h").failure({"n_g": 6, "n_h": 32})
        '32 is not divisible by 6 (remainder 2)'
        """
        if self.evaluate(bindings):
            return ""
        a, b = self.left.evaluate(bindings), self.right.evaluate(bindings)
        if self.op == "|":
            if a == 0:
                return f"{b} is not divisible by 0"
            return f"{b} is not divisible by {a} (remainder {b % a})"
        return f"{a} {_FAILS[self.op]} {b}"


def parse_condition(text: str) -> Condition:
    """The relation in ``text``; ``b % a == 0`` is ``a | b``.

    :raises DimError: with a column.

    >>> str(parse_condition("n_h % n_g == 0")), str(parse_condition("k <= d_s"))
    ('n_g | n_h', 'k <= d_s')
    """
    op, left, right = read_condition(text)
    if op == "==":
        for side, other in ((left, right), (right, left)):
            atom = sole_atom(side)
            if other.as_int() == 0 and atom is not None and atom.kind == "mod":
                return Condition("|", atom.args[1], atom.args[0])
    return Condition(op, left, right)
