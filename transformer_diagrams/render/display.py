"""The display list: what is painted, from the back to the front, and what each thing is.

The painter makes it once from a scene and a theme; a format is a writer of it. Lengths are
points, x grows to the right, y grows DOWNWARD. Colours are ``#rrggbb``; "" paints nothing.
"""

from __future__ import annotations

import re
from typing import Union

from transformer_diagrams.errors import Fault
from transformer_diagrams.layout.scene import Label, Rect
from transformer_diagrams.records import dataclass
from transformer_diagrams.render.geometry import Cubic, Point, distinct

Matrix = tuple[float, float, float, float, float, float]
"""a b c d e f: a point (x, y) lands on (a x + c y + e, b x + d y + f)."""


def slug(text: str) -> str:
    """A text as a name that every format takes: ``slug("residual/add") == "residual-add"``."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") or "figure"
    return name if name[0].isalpha() else f"f-{name}"


@dataclass(frozen=True, slots=True)
class Ink:
    """How a shape is filled and outlined."""

    fill: str = ""
    stroke: str = ""
    width: float = 0.0
    dash: tuple[float, ...] = ()
    cap: str = "butt"
    join: str = "miter"
    fill_opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Panel:
    """A rectangle, its corners rounded with a radius."""

    rect: Rect
    corner: float
    ink: Ink


@dataclass(frozen=True, slots=True)
class Disc:
    """A circle."""

    center: Point
    radius: float
    ink: Ink


@dataclass(frozen=True, slots=True)
class Curve:
    """An open line of Bezier pieces."""

    start: Point
    pieces: tuple[Cubic, ...]
    ink: Ink


@dataclass(frozen=True, slots=True)
class Outline:
    """SVG path data in units of its own, ``scale`` points each, from the origin ``at``."""

    data: str
    ink: Ink
    at: Point = (0.0, 0.0)
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text that is there to be found, not painted: from (x, y) on the baseline."""

    x: float
    y: float
    size: float
    width: float
    text: str


Shape = Union[Panel, Disc, Curve, Outline]  # noqa: UP007


@dataclass(frozen=True, slots=True)
class Lettering:
    """A label as it is painted: outlines, and the words under them.

    label  of the scene: what it is, how it was written, its size and place
    """

    outlines: tuple[Outline, ...]
    words: tuple[Words, ...]
    label: Label | None = None

    @property
    def size(self) -> float:
        """Font size in points."""
        return min((line.size for line in self.words), default=0.0)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of the figure with all that is painted for it.

    kind       ground, frame, box, circle, text (a box without an outline), line, dot, label
    over       what is painted over the texts: signs at a corner
    id         of the box or line; of a label: its owner
    name       of its own outline in the DOT file, "" where Graphviz does not draw it
    own        which of the shapes that outline is
    rect       of a box
    parent     id of the frame around a box
    said       words for hover and screen readers
    path, use  of the block behind it, for pages
    symbol     of a circle
    net        of a line: what leaves the same port of its tail, labels of which name it as owner
    tail, head ids of a line's ends; ``tip`` the point it ends at, ``arrow`` the head's length
    corners    of a line, from its start to the base of its head; ``radius`` to round them with
    trunk      corners before these where it branches off another line: from the tail's border
    matrix, opacity  of everything in it
    """

    kind: str
    shapes: tuple[Shape, ...] = ()
    texts: tuple[Lettering, ...] = ()
    over: tuple[Shape, ...] = ()
    id: str = ""
    name: str = ""
    own: int = 0
    rect: Rect | None = None
    parent: str = ""
    role: str = ""
    said: str = ""
    path: str = ""
    use: str = ""
    symbol: str = ""
    net: str = ""
    tail: str = ""
    head: str = ""
    tip: Point = (0.0, 0.0)
    arrow: float = 0.0
    corners: tuple[Point, ...] = ()
    radius: float = 0.0
    trunk: tuple[Point, ...] = ()
    matrix: Matrix | None = None
    opacity: float = 1.0

    @property
    def painted(self) -> tuple[Shape, ...]:
        """Every shape from the back to the front, those of the texts too."""
        letters = (outline for text in self.texts for outline in text.outlines)
        return (*self.shapes, *letters, *self.over)

    @property
    def way(self) -> list[Point]:
        """The corners of a line from its tail's border to its tip, of a branch the trunk's too."""
        return distinct((*self.trunk, *self.corners[:-1], self.tip))


@dataclass(frozen=True, slots=True)
class Display:
    """A whole figure.

    unit      printed size of one point of the figure, in points
    warnings  about labels: letters without a font, bad formulas
    """

    id: str
    title: str
    desc: str
    width: float
    height: float
    items: tuple[Item, ...]
    unit: float = 1.0
    warnings: tuple[Fault, ...] = ()

    @property
    def printed(self) -> tuple[float, float]:
        """Width and height in points on paper."""
        return self.width * self.unit, self.height * self.unit

    @property
    def names(self) -> dict[str, str]:
        """A readable name for every box, by its id: letters, digits and hyphens, each once."""
        found: dict[str, str] = {}
        taken: set[str] = set()
        for item in self.items:
            if item.rect:
                name = stem = slug(item.path or item.id)
                count = 1
                while name in taken:
                    count += 1
                    name = f"{stem}-{count}"
                taken.add(name)
                found[item.id] = name
        return found

    @property
    def smallest_text(self) -> float:
        """Printed size in points of the smallest label; 0 when there is none."""
        sizes = (text.size for item in self.items for text in item.texts)
        return min(sizes, default=0.0) * self.unit
