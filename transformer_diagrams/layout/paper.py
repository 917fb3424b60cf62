"""From flow coordinates (u, v) to places on paper (x, y), rounded as a scene has them."""

from __future__ import annotations

from transformer_diagrams.layout.placed import Point
from transformer_diagrams.layout.scene import Rect


class Paper:
    """Turns flow coordinates into paper coordinates for one direction."""

    def __init__(self, direction: str, length: float, left: float, top: float) -> None:
        self.direction, self.length, self.left, self.top = direction, length, left, top

    def point(self, u: float, v: float) -> Point:
        if self.direction == "right":
            return (self.left + v, self.top + u)
        if self.direction == "down":
            return (self.left + u, self.top + v)
        return (self.left + u, self.top + self.length - v)

    def flow(self, x: float, y: float) -> Point:
        """The flow coordinates (u, v) of a place on paper: `point` turned around."""
        across, down = x - self.left, y - self.top
        if self.direction == "right":
            return down, across
        return across, down if self.direction == "down" else self.length - down

    def rect(self, u: float, v: float, du: float, dv: float) -> Rect:
        (x1, y1), (x2, y2) = self.point(u, v), self.point(u + du, v + dv)
        return Rect(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1))


def snapped(rect: Rect) -> Rect:
    return Rect(rounded(rect.left), rounded(rect.top), rounded(rect.width), rounded(rect.height))


def rounded(value: float) -> float:
    return round(value + 0.0, 3)
