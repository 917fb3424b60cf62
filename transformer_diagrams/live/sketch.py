"""What a figure is made of: marks (one SVG element per row), named outputs, and a summary.

A mark is a group of like elements. An attribute is one value for all, a list with one value each,
or traced: an array of numbers, a :class:`Ramp` colour, or a :class:`Choice` of strings.
Positions are calculated by the traced maths too, so drawing is a dumb loop in both languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Union

from transformer_diagrams.live import words
from transformer_diagrams.live.trace import Array, Tape
from transformer_diagrams.records import dataclass

STRONG = "600"


@dataclass(frozen=True, slots=True)
class Ramp:
    """A colour of the ramp for values from 0 to 1."""

    array: Array


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several attribute values, by index; colours by name."""

    array: Array
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Points:
    """Lines through the points of each row: x and y are [n, points], or [points] for one line."""

    x: Array
    y: Array


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a whole mark stands, how large and how opaque: arrays without axes. Moving a mark of
    many elements this way changes one element of the page."""

    x: Array
    y: Array
    scale: Array
    opacity: Array

    @property
    def arrays(self) -> tuple[Array, ...]:
        return self.x, self.y, self.scale, self.opacity


Attr = Union[str, float, Sequence[Any], Array, Ramp, Choice, Points]  # noqa: UP007


@dataclass(frozen=True, slots=True)
class Mark:
    """``count`` elements of one tag. ``shared`` stands once on the group around them."""

    tag: str
    count: int
    shared: dict[str, str]
    each: dict[str, Attr]
    text: words.Template | tuple[str, ...] | None = None
    traced_text: bool = False
    place: Pose | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A named result that readers and tests can look at."""

    name: str
    array: Array
    doc: str
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass
class Sketch:
    """Collects a figure's marks, outputs and summary while its maths is traced."""

    tape: Tape = field(default_factory=Tape)
    marks: list[Mark] = field(default_factory=list)
    outputs: dict[str, Output] = field(default_factory=dict)
    summary: words.Template = ()

    def output(
        self,
        name: str,
        array: Array,
        doc: str,
        *,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
    ) -> Array:
        """Name a result; gives it back."""
        self.outputs[name] = Output(name, array, doc, tuple(rows), tuple(columns))
        return array

    def say(self, *parts: words.Part) -> None:
        """The sentence that sums the present state up."""
        self.summary = tuple(parts)

    # -- marks

    def mark(
        self, tag: str, text: Any = None, *, place: Pose | None = None, **attrs: Any
    ) -> None:
        """Elements of one tag; ``_`` in names stands for ``-``."""
        named = {key.replace("_", "-"): value for key, value in attrs.items() if value is not None}
        count = 1
        for value in (*named.values(), *([text] if isinstance(text, list) else [])):
            count = max(count, _count(value))
        shared = {k: _plain(v) for k, v in named.items() if isinstance(v, (str, int, float))}
        each = {k: v for k, v in named.items() if k not in shared}
        traced = isinstance(text, (tuple, words.Num))
        if isinstance(text, words.Num):
            count = max(count, _count(text.array))
            text = (text,)
        elif isinstance(text, str):
            text = (text,) * count
        elif isinstance(text, list):
            text = tuple(text)
        elif isinstance(text, tuple):
            count = max(count, words.elements(text))
        for key, value in each.items():
            if _count(value) not in (1, count):
                raise ValueError(f"{tag} {key}: {_count(value)} values for {count} elements")
        # A group cannot place its children: positions stand on each element.
        for key in [k for k in shared if k in _PLACING]:
            each[key] = shared.pop(key)
        self.marks.append(Mark(tag, count, shared, each, text, traced, place))

    def rect(self, x: Attr, y: Attr, width: Attr, height: Attr, **attrs: Any) -> None:
        self.mark("rect", x=x, y=y, width=width, height=height, **attrs)

    def circle(self, cx: Attr, cy: Attr, r: Attr, **attrs: Any) -> None:
        self.mark("circle", cx=cx, cy=cy, r=r, **attrs)

    def line(self, x1: Attr, y1: Attr, x2: Attr, y2: Attr, **attrs: Any) -> None:
        attrs = {"stroke": "line", "stroke_width": 1, **attrs}
        self.mark("line", x1=x1, y1=y1, x2=x2, y2=y2, **attrs)

    def path(self, x: Array, y: Array, **attrs: Any) -> None:
        """Open lines through points."""
        attrs = {"fill": "none", "stroke_linejoin": "round", "stroke_linecap": "round", **attrs}
        self.mark("path", d=Points(x, y), **attrs)

    def text(
        self,
        x: Attr,
        y: Attr,
        text: Any,
        *,
        size: float = 15,
        anchor: Any = "start",
        strong: bool = False,
        fill: Any = "ink",
        **attrs: Any,
    ) -> None:
        """Words with their baseline's start, middle or end at (x, y); ``a_{b}`` and ``a^{b}`` are
        set small and shifted in fixed words."""
        self.mark(
            "text", text, x=x, y=y, font_size=size, fill=fill,
            text_anchor=None if anchor == "start" else anchor,
            font_weight=STRONG if strong else None, **attrs,
        )  # fmt: skip

    def turned_text(
        self, x: Sequence[float], y: Sequence[float], degrees: float, text: list[str], **attrs: Any
    ) -> None:
        """Fixed words, each turned about its own place."""
        from transformer_diagrams.live.numbers import coordinate as c

        turn = [f"rotate({c(degrees)} {c(a)} {c(b)})" for a, b in zip(x, y, strict=True)]
        self.text(list(x), list(y), text, transform=turn, **attrs)


_PLACING = frozenset(
    ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "rx", "d", "transform")
)


def _plain(value: str | float) -> str:
    from transformer_diagrams.live.numbers import coordinate

    return value if isinstance(value, str) else coordinate(float(value))


def _count(value: Any) -> int:
    if isinstance(value, Points):
        x, y = value.x.shape, value.y.shape
        return max(x[0] if len(x) == 2 else 1, y[0] if len(y) == 2 else 1)
    if isinstance(value, (Ramp, Choice)):
        value = value.array
    if isinstance(value, Array):
        count = 1
        for n in value.shape:
            count *= n
        return count
    if isinstance(value, (list, tuple)):
        return len(value)
    return 1
