"""Pieces that several figures share: heat maps, the ramp's legend, axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from transformer_diagrams.live.sketch import Ramp, Sketch
from transformer_diagrams.live.trace import Array
from transformer_diagrams.records import dataclass

WIDTH = 920.0
"""All drawings are this wide, so that letters have one size on a page."""

T = TypeVar("T", float, Array)


def doubling(low: int, high: int) -> list[str]:
    """What a slider over exponents shows: ``doubling(0, 3)`` is 1, 2, 4, 8."""
    return [str(2**e) for e in range(low, high + 1)]


def short(word: str, most: int = 12) -> str:
    """A token that fits beside a heat map."""
    return word if len(word) <= most else word[: most - 1] + "…"


def heat(
    s: Sketch, weights: Array, left: float, top: float, cell: float, *, gap: float = 1.0
) -> None:
    """A heat map of [rows, columns] weights from 0 to 1."""
    rows, columns = weights.shape
    xs = [left + cell * j for _ in range(rows) for j in range(columns)]
    ys = [top + cell * i for i in range(rows) for _ in range(columns)]
    s.rect(left - gap, top - gap, cell * columns + gap, cell * rows + gap, rx=3, fill="paper",
           stroke="grid", stroke_width=1)  # fmt: skip
    s.rect(xs, ys, cell - gap, cell - gap, rx=min(2.0, cell / 12), fill=Ramp(weights.flat()))


def legend(
    s: Sketch, left: float, top: float, *, width: float = 150.0, low: str = "0", high: str = "1",
    title: str = "attention weight",
) -> None:  # fmt: skip
    """The ramp with its two ends and what it stands for."""
    steps = 25
    step = width / steps
    colors = [f"r{round(100 * i / (steps - 1))}" for i in range(steps)]
    # Each step reaches under the next one, so that no seam shows.
    wide = [step + (0.5 if i < steps - 1 else 0.0) for i in range(steps)]
    s.mark("rect", x=[left + step * i for i in range(steps)], y=top, width=wide, height=11,
           fill=colors)  # fmt: skip
    s.rect(left, top, width, 11, fill="none", stroke="faint", stroke_width=1)
    s.text([left, left + width], top + 27, [low, high], size=13, anchor="middle", fill="soft")
    s.text(left + width + 18, top + 10, title, size=13, fill="soft")


@dataclass(frozen=True, slots=True)
class Plot:
    """A panel with two linear axes."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def px(self, value: T) -> T:
        """Pixels of an x value."""
        low, high = self.x
        return self.left + (value - low) * (self.width / (high - low))

    def py(self, value: T) -> T:
        """Pixels of a y value."""
        low, high = self.y
        return self.top + self.height - (value - low) * (self.height / (high - low))

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def axes(
        self,
        s: Sketch,
        xs: Sequence[tuple[float, str]],
        ys: Sequence[tuple[float, str]],
        label: str,
    ) -> None:
        """Quiet grid lines with their numbers, a base line, and what runs along x."""
        at = [self.py(v) for v, _ in ys]
        s.line(self.left, at, self.right, at, stroke="grid")
        s.text(self.left - 9, [y + 5 for y in at], [t for _, t in ys], size=13, anchor="end",
               fill="soft")  # fmt: skip
        ticks = [self.px(v) for v, _ in xs]
        s.line(self.left, self.bottom, self.right, self.bottom, stroke="faint")
        s.line(ticks, self.bottom, ticks, self.bottom + 5, stroke="faint")
        s.text(ticks, self.bottom + 21, [t for _, t in xs], size=13, anchor="middle", fill="soft")
        s.text(self.left + self.width / 2, self.bottom + 44, label, size=14, anchor="middle",
               fill="soft")  # fmt: skip
