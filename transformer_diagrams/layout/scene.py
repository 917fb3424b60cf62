"""The picture as numbers: absolute geometry and style roles, nothing of ops or dims.

Units are points (1/72 inch); x grows to the right, y grows DOWNWARD; the canvas starts at (0, 0).
Every format, the lint and the DOT file see this same picture.
"""

from __future__ import annotations

from transformer_diagrams.records import dataclass


@dataclass(frozen=True, slots=True)
class Rect:
    """An axis-parallel rectangle."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    @property
    def center_x(self) -> float:
        return self.left + self.width / 2

    @property
    def center_y(self) -> float:
        return self.top + self.height / 2

    def moved(self, dx: float, dy: float) -> Rect:
        return Rect(self.left + dx, self.top + dy, self.width, self.height)

    def overlaps(self, other: Rect, gap: float = 0.0) -> bool:
        """True when the two come nearer than ``gap`` (touching borders do not overlap at gap 0)."""
        return (
            self.left < other.right + gap
            and other.left < self.right + gap
            and self.top < other.bottom + gap
            and other.top < self.bottom + gap
        )

    def contains(self, other: Rect, slack: float = 0.0) -> bool:
        return (
            other.left >= self.left - slack
            and other.top >= self.top - slack
            and other.right <= self.right + slack
            and other.bottom <= self.bottom + slack
        )


@dataclass(frozen=True, slots=True)
class Label:
    """A placed text. ``markup`` mixes text and $TeX$; lines are split by "\\n".

    (x, y) is the left end of the FIRST line's baseline; ``rect`` the ink's measured box.
    kind: block (inside a box), title, badge, shape (beside an arrow), edge, io, header, mark, note
    """

    id: str
    markup: str
    x: float
    y: float
    size: float  # font size in points
    kind: str
    rect: Rect
    owner: str = ""  # id of the box or line it belongs to
    role: str = ""  # style role of the owner
    weight: str = "regular"  # regular | medium | bold
    align: str = "middle"  # of several lines among themselves: left | middle | right


@dataclass(frozen=True, slots=True)
class Box:
    """A drawn rectangle or circle.

    form    box | circle | frame | text (no outline: inputs and outputs) | strip (of cells) |
            brace (of a run of blocks)
    line    solid | dashed
    stack   number of sheets behind it (0: none), each moved by (+sheet, -sheet)
    symbol  circles: "+" or "×", drawn as strokes
    """

    id: str
    rect: Rect
    form: str
    role: str
    line: str = "solid"
    corner: float = 0.0
    stack: int = 0
    sheet: float = 3.0
    symbol: str = ""
    mark: str = ""  # "", frozen, trained, ema, tied
    accent: int = 0  # of the theme; 0: none
    when: str = "always"
    path: str = ""  # of the node or group in the graph
    title: str = ""  # words for hover and screen readers
    use: str = ""  # id of the spec behind it, for links
    parent: str = ""  # id of the frame around it
    whole: str = ""  # of a later part of a frame that is cut: the id of the first
    cells: tuple[tuple[Rect, int], ...] = ()  # of a strip, with their tones


@dataclass(frozen=True, slots=True)
class Line:
    """An orthogonal path with rounded corners, from one box's border to another's.

    kind    data | residual | feedback | leader
    points  corner points, first on the tail's border, last on the head's border (arrow tip)
    """

    id: str
    points: tuple[tuple[float, float], ...]
    kind: str = "data"
    arrow: bool = True
    corner: float = 0.0
    tail: str = ""  # box id
    head: str = ""
    when: str = "always"
    mark: str = ""  # "", stop-gradient, ema
    net: str = ""  # lines of one net (a fan-out) may share a trunk
    spine: bool = False  # part of the main stream
    tail_place: int = -1  # among what leaves the tail in an order that matters; -1: none does
    head_place: int = -1  # likewise among what enters the head
    branch: bool = False  # begins on another line of its net, not on the tail's border
    title: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """A whole figure, ready for drawing."""

    id: str
    title: str
    desc: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]
    dots: tuple[tuple[float, float, str], ...] = ()  # junction dots: x, y, line kind
    direction: str = "up"
    words: tuple[str, ...] = ()  # labels of edges and notes that the graph asks for
    shapes: tuple[tuple[str, ...], ...] = ()  # nets: of each group, one at least says its shape
