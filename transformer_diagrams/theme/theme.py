"""The look of a figure as one frozen value, read from a YAML data file.

Sizes are settled before layout, colours after: `layout` reads only :attr:`Theme.sizes`,
`render` reads the rest. All lengths are points (1/72 inch).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from types import MappingProxyType
from typing import Any

from transformer_diagrams.errors import DiagramError, Fault, Span, did_you_mean
from transformer_diagrams.records import dataclass
from transformer_diagrams.roles import ROLES
from transformer_diagrams.theme.schema import check

NAMES: tuple[str, ...] = (
    "paper",
    *sorted(
        stem
        for stem, end in map(os.path.splitext, os.listdir(os.path.dirname(__file__)))
        if end == ".yaml" and stem != "paper"
    ),
)
"""The bundled themes, each a YAML file beside this one; the first is the default."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths, in points, that layout and drawing share."""

    font_block: float = 9.0  # text in a box
    font_shape: float = 7.2  # shape beside an arrow
    font_title: float = 8.0  # title of a frame
    font_badge: float = 9.0  # "32 x" in a frame's corner
    font_header: float = 8.5  # relations and configuration above the figure
    font_io: float = 9.0  # names of inputs and outputs
    font_edge: float = 7.2  # words beside an edge
    font_note: float = 7.2  # notes under a box
    pad_x: float = 10.0  # box border to its text, left and right
    pad_y: float = 5.5  # box border to its text, above and below
    box_min_width: float = 56.0
    box_height: float = 21.0  # least height of a box
    gap_rank: float = 20.0  # between one box and the next along the flow
    gap_column: float = 20.0  # between boxes beside each other
    lane_gap: float = 12.0  # between parallel side lanes, and from a lane to boxes
    track_gap: float = 8.0  # between parallel tracks in one channel
    label_gap: float = 4.5  # an arrow to the text beside it
    frame_pad: float = 12.0  # frame border to its content
    title_pad_x: float = 8.0  # frame border to its title, sideways
    title_pad_y: float = 6.5  # frame border to its title, up and down
    figure_gap: float = 40.0  # between figures side by side (call-outs, columns)
    margin: float = 8.0  # around the whole figure
    corner: float = 4.5  # of boxes
    frame_corner: float = 6.0
    line_corner: float = 5.0  # of bent lines
    circle_radius: float = 7.25
    stack_offset: float = 3.0  # each sheet behind a box, right and up
    arrow_length: float = 5.6
    arrow_width: float = 4.6
    stroke_data: float = 0.8
    stroke_residual: float = 1.4
    stroke_box: float = 0.8
    stroke_frame: float = 0.8
    stroke_leader: float = 0.7
    dot_radius: float = 1.7  # junction of a fan-out
    mark_size: float = 8.5  # snowflake, flame, link at a box's corner


@dataclass(frozen=True, slots=True)
class RoleStyle:
    """How a box of one role looks. ``weight`` multiplies the box stroke; ``dash`` is in points."""

    fill: str
    stroke: str
    text: str
    dash: tuple[float, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How a line of one kind looks."""

    stroke: str
    dash: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Fold:
    """Which figures a theme folds when nothing else is said: width over height, and of which."""

    aspect: float  # what the folds come nearest to
    narrowest: float  # a narrower figure is folded
    widest: float  # and a wider one


@dataclass(frozen=True, slots=True)
class Theme:
    """A whole look.

    text    colour by kind of label (title, badge, shape, edge, io, header, mark, note)
    lines   data, residual, feedback, leader
    frames  fills by depth of nesting, used in turn
    marks   colour of frozen, trained, ema, tied, changed, stop-gradient
    dashes  dash pattern, in points, of box, train, infer, ema
    fold    which figures are folded when nothing else is said; None: none
    """

    name: str
    summary: str
    background: str
    ink: str
    roles: Mapping[str, RoleStyle]
    lines: Mapping[str, LineStyle]
    text: Mapping[str, str]
    frames: tuple[str, ...]
    frame_stroke: str
    marks: Mapping[str, str]
    dashes: Mapping[str, tuple[float, ...]]
    sizes: Sizes
    fold: Fold | None = None

    def role(self, name: str) -> RoleStyle:
        """The style of a role; an unknown or empty one looks ``plain``."""
        return self.roles.get(name) or self.roles["plain"]

    def frame_fill(self, depth: int) -> str:
        """The fill of a frame with ``depth`` frames around it."""
        return self.frames[depth % len(self.frames)]

    def line(self, kind: str) -> LineStyle:
        """The style of a line kind; an unknown one looks like ``data``."""
        return self.lines.get(kind) or self.lines["data"]

    def text_color(self, kind: str, role: str = "") -> str:
        """The colour of a label: text in a box takes its role's, others their kind's."""
        if kind in ("block", "note") and role:
            return self.role(role).text
        return self.text.get(kind, self.ink)

    def line_width(self, kind: str) -> float:
        """Stroke width in points of a line kind."""
        widths = {"residual": self.sizes.stroke_residual, "leader": self.sizes.stroke_leader}
        return widths.get(kind, self.sizes.stroke_data)


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """``own`` laid over ``base``, mapping by mapping; lists are replaced whole."""
    merged = dict(base)
    for key, value in own.items():
        below = merged.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[key] = _merged(below, value)
        else:
            merged[key] = value
    return merged


def _read(name: str) -> dict[str, Any]:
    """The data of one bundled theme with what it extends, not yet checked."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # A plain file beside this one: the resource library costs more to import than all themes.
    with open(os.path.join(os.path.dirname(__file__), f"{name}.yaml"), encoding="utf-8") as file:
        data: dict[str, Any] = yaml.load(file, Loader=loader)
    base = data.pop("extends", None)
    if base is not None:
        data = _merged(_read(base), data)
    return data


def from_data(data: Mapping[str, Any], *, where: str = "theme") -> Theme:
    """A theme from plain data, checked.

    :raises DiagramError: with one fault per wrong key, colour or number; ``where`` names the file
        in them.
    """
    sizes = tuple(f.name for f in fields(Sizes))
    faults = check(data, roles=tuple(ROLES), sizes=sizes, span=Span(where))
    if faults:
        raise DiagramError(faults)

    def frozen(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
        return MappingProxyType(dict(mapping))

    roles = {
        name: RoleStyle(
            fill=style["fill"],
            stroke=style["stroke"],
            text=style["text"],
            dash=tuple(float(x) for x in style.get("dash", ())),
            weight=float(style.get("weight", 1.0)),
        )
        for name, style in data["roles"].items()
    }
    lines = {
        name: LineStyle(style["stroke"], tuple(float(x) for x in style.get("dash", ())))
        for name, style in data["lines"].items()
    }
    return Theme(
        name=data["name"],
        summary=data["summary"],
        background=data["background"],
        ink=data["ink"],
        roles=frozen(roles),
        lines=frozen(lines),
        text=frozen(data["text"]),
        frames=tuple(data["frames"]["fills"]),
        frame_stroke=data["frames"]["stroke"],
        marks=frozen(data["marks"]),
        dashes=frozen({k: tuple(float(x) for x in v) for k, v in data["dashes"].items()}),
        sizes=Sizes(**{k: float(v) for k, v in data.get("sizes", {}).items()}),
        fold=Fold(**data["fold"]) if "fold" in data else None,
    )


@cache
def get(name: str = "paper") -> Theme:
    """A bundled theme by name.

    :raises DiagramError: for an unknown name, with the nearest one.

    >>> get("paper").sizes.font_block
    9.0
    """
    if name not in NAMES:
        raise DiagramError(
            Fault(
                code="unknown-theme",
                message=f"there is no theme named '{name}'",
                found=name,
                expected=", ".join(NAMES),
                hint=did_you_mean(name, NAMES, what="theme"),
            )
        )
    return from_data(_read(name), where=f"{name}.yaml")
