"""A counted quantity: its formula in the names of the spec, and its number where known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from transformer_diagrams.dims import Dim, DimError, Speller, spelt_by
from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Spec


@dataclass(frozen=True, slots=True)
class Amount:
    """``number`` is None while a size in ``exact`` has no number.

    ``formula`` has definitions put in, and defaults where they leave no fraction that no name
    stands for; ``exact`` is what is evaluated.
    """

    formula: Dim
    exact: Dim
    number: int | None
    missing: tuple[str, ...] = ()  # the sizes without a number that keep it unknown


@dataclass(frozen=True, slots=True)
class Amounts:
    """Turns dims in the outermost names into amounts."""

    spec: Spec
    reduce: Callable[[Dim], Dim]  # puts definitions in
    defaults: Mapping[str, Dim]  # those that no setting overrides, put into each other
    numbers: Mapping[str, int]
    speller: Speller = field(default_factory=Speller)

    def __call__(self, dim: Dim) -> Amount:
        """``dim`` as an amount.

        :raises DiagramError: the numbers give no whole number (a division with a remainder).
        """
        exact = self.reduce(dim)
        formula = exact
        for _ in range(len(self.defaults) + 1):
            if not formula.free & self.defaults.keys():
                break
            formula = self.reduce(formula.subs(dict(self.defaults)))
        number = None
        missing = tuple(sorted(exact.free - self.numbers.keys()))
        if not missing:
            try:
                with spelt_by(self.speller):
                    number = exact.evaluate({n: self.numbers[n] for n in sorted(exact.free)})
            except DimError as error:
                raise DiagramError(
                    Fault(
                        "no-whole-number",
                        f"cannot count '{self.spec.id}': {error}",
                        self.spec.span,
                        found=self.speller.text(exact),
                        hint=error.hint,
                    )
                ) from error
        if self.speller.has_fraction(formula) and not self.speller.has_fraction(exact):
            formula = exact
        spelt = self.speller.spelt
        return Amount(spelt(formula), spelt(exact), number, missing)
