"""Collects glyph outlines into one compact SVG path on a grid of thousandths of the size.

Whole numbers and relative commands: a label takes about 100 bytes a letter, needs no sharing
between labels, and every program draws it the same. Rounding moves a point by at most
1/2000 of the font size (0.005 pt at 10 pt), each point on its own, so nothing adds up.
"""

from __future__ import annotations

from collections.abc import Iterable

from transformer_diagrams.text.fonts import Segment

_SLACK = 2
"""How far, in thousandths of the font size, an implied control point may be off."""


class Pen:
    """A growing path; ``ink`` is its box (left, top, right, bottom), y down."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._at = (0, 0)
        self._start = (0, 0)
        self._last = ""
        self._control: tuple[int, int] | None = None  # of the quadratic piece just drawn
        self.left = self.top = float("inf")
        self.right = self.bottom = float("-inf")

    @property
    def empty(self) -> bool:
        return not self._parts

    def data(self) -> str:
        """The path's ``d`` attribute."""
        return "".join(self._parts)

    def add(self, segments: Iterable[Segment], x: float, y: float, scale: float = 1.0) -> None:
        """Add a glyph's outline (y up) with its origin at (x, y) (y down)."""
        for command, numbers in segments:
            points = tuple(
                (round(x + numbers[i] * scale), round(y - numbers[i + 1] * scale))
                for i in range(0, len(numbers), 2)
            )
            self._put(command, points)

    def rect(self, left: float, top: float, right: float, bottom: float) -> None:
        """Add a filled bar; at least one unit thick."""
        l, t = round(left), round(top)  # noqa: E741
        r, b = max(l + 1, round(right)), max(t + 1, round(bottom))
        self.shape(((l, t), (r, t), (r, b), (l, b)))

    def shape(self, corners: Iterable[tuple[float, float]]) -> None:
        """Add a filled shape with straight sides."""
        first, *others = ((round(x), round(y)) for x, y in corners)
        self._put("M", (first,))
        for corner in others:
            self._put("L", (corner,))
        self._put("Z", ())

    def _put(self, command: str, points: tuple[tuple[int, int], ...]) -> None:
        if command == "Z":
            self._parts.append("z")
            self._at = self._start
            self._last, self._control = "z", None
            return
        for px, py in points:
            self.left, self.right = min(self.left, px), max(self.right, px)
            self.top, self.bottom = min(self.top, py), max(self.bottom, py)
        ox, oy = self._at
        end = points[-1]
        numbers = [n for px, py in points for n in (px - ox, py - oy)]
        letter = command.lower()
        if command == "M":
            self._start = end
        elif command == "L":
            if end == self._at:
                return
            if end[1] == oy:
                letter, numbers = "h", numbers[:1]
            elif end[0] == ox:
                letter, numbers = "v", numbers[1:]
        control, self._control = self._control, None
        if command == "Q":
            self._control = points[0]
            if control is not None:
                # A TrueType curve is a chain of pieces whose joints lie midway between their
                # controls: the next control is then the mirror image, which `t` implies.
                mirrored = (2 * ox - control[0], 2 * oy - control[1])
                if max(abs(mirrored[0] - points[0][0]), abs(mirrored[1] - points[0][1])) <= _SLACK:
                    letter, numbers = "t", numbers[2:]
                    self._control = mirrored
        self._at = end
        said = "" if letter == self._last and letter != "m" else letter
        self._last = letter
        text = []
        for index, number in enumerate(numbers):
            gap = "" if number < 0 or (index == 0 and said) else " "
            text.append(f"{gap}{number}")
        self._parts.append(said + "".join(text))
