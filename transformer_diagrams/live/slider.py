"""A slider: a quantity with a grid of allowed values, and how each is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from transformer_diagrams.errors import did_you_mean
from transformer_diagrams.live.numbers import MINUS
from transformer_diagrams.options import ask_error


@dataclass(frozen=True)
class Slider:
    """``values`` are all allowed values in order; ``show`` the words for each.

    Without ``show`` a value is shown with ``decimals`` decimals. ``label`` may hold ``_{..}``.
    """

    name: str
    label: str
    values: tuple[float, ...]
    default: float
    show: tuple[str, ...]
    help: str = ""

    @classmethod
    def range(
        cls,
        name: str,
        label: str,
        low: float,
        high: float,
        step: float,
        default: float,
        *,
        show: Sequence[str] = (),
        decimals: int = 0,
        help: str = "",
    ) -> Slider:
        """Evenly spaced values, each rounded to ``decimals`` (3 x 0.1 is 0.3 then)."""
        count = round((high - low) / step) + 1
        values = tuple(round(low + i * step, decimals) + 0.0 for i in range(count))
        shown = tuple(show) or tuple(f"{v:.{decimals}f}".replace("-", MINUS) for v in values)
        return cls(name, label, values, float(default), shown, help)

    def __post_init__(self) -> None:
        if len(self.values) != len(self.show) or self.default not in self.values:
            raise ValueError(f"slider {self.name}: one text for each value, and a default of them")

    @property
    def index(self) -> int:
        """The place of the default among the values."""
        return self.values.index(self.default)

    @cached_property
    def step(self) -> float | None:
        """The distance of neighbours, None where it is not the same all along."""
        if len(self.values) == 1:
            return 1.0
        gaps = [b - a for a, b in zip(self.values, self.values[1:], strict=False)]
        return round(gaps[0], 9) if max(gaps) - min(gaps) < 1e-9 else None

    def shown(self, value: float) -> str:
        """The words for an allowed value."""
        return self.show[self.values.index(value)]

    def read(self, given: object) -> float:
        """An allowed value from a number or its text; words that a value is shown as work too.

        :raises AskError: that names the allowed values.
        """
        text = str(given).strip()
        try:
            number = float(text)
        except ValueError:
            if self.show.count(text) == 1:
                return self.values[self.show.index(text)]
            raise self._wrong(text) from None
        if number in self.values:
            return number + 0.0
        raise self._wrong(text)

    def _wrong(self, text: str) -> Exception:
        return ask_error(
            f"slider '{self.name}' cannot be '{text}'",
            f"it takes {self.allowed()}",
            code="bad-slider-value",
            found=text,
        )

    def allowed(self) -> str:
        """The allowed values in words: "0 (1), 1 (2), 2 (4)" or "0.5 to 2 in steps of 0.1"."""
        plain = [f"{v:.12g}" for v in self.values]
        if self.step is not None and [s.replace(MINUS, "-") for s in self.show] == [
            f"{v:.{len(p.partition('.')[2])}f}"
            for v, p in zip(self.values, self.show, strict=True)
        ]:
            return f"{plain[0]} to {plain[-1]} in steps of {self.step:g}"
        return ", ".join(
            p if p == s.replace(",", "") else f"{p} ({s})"
            for p, s in zip(plain, self.show, strict=True)
        )


def settle(
    sliders: Sequence[Slider], asked: Mapping[str, object], figure: str
) -> dict[str, float]:
    """Every slider's value: as asked, else its default.

    :raises AskError: for an unknown slider (with the nearest) or a value off its grid.
    """
    known = {s.name: s for s in sliders}
    for name in asked:
        if name not in known:
            hint = did_you_mean(name, known, what="slider")
            ranges = "; ".join(f"{s.name}: {s.allowed()}" for s in sliders)
            raise ask_error(
                f"figure '{figure}' has no slider '{name}'",
                f"{hint}; values: {ranges}",
                code="unknown-slider",
                found=name,
            )
    return {s.name: s.read(asked[s.name]) if s.name in asked else s.default for s in sliders}
