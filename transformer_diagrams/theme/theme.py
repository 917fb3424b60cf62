"""The look of a figure as one frozen value, read from a YAML data file.

Sizes are settled before layout, colours after: `layout` reads only :attr:`Theme.sizes`,
`render` reads the rest. All lengths are points (1/72 inch).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from transformer_diagrams.errors import DiagramError, Fault, Span, did_you_mean
from transformer_diagrams.records import dataclass
from transformer_diagrams.roles import ROLES
from transformer_diagrams.theme.contrast import contrast
from transformer_diagrams.theme.own import ThemeFile, is_path
from transformer_diagrams.theme.schema import Place, check, json_schema

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


SIZES: tuple[str, ...] = tuple(field.name for field in fields(Sizes))


@dataclass(frozen=True, slots=True)
class RoleStyle:
    """How a box of one role looks. ``weight`` multiplies the box stroke; ``dash`` is in points;
    ``texture`` is drawn along its left edge."""

    fill: str
    stroke: str
    text: str
    dash: tuple[float, ...] = ()
    weight: float = 1.0
    texture: str = ""


@dataclass(frozen=True, slots=True)
class Fonts:
    """The fonts of a figure: families, or absolute paths of files.

    text   for words, each asked for what those before it lack; (): the usual ones
    maths  for formulas; "": the usual one
    where  the place of ``fonts`` in the theme's file
    """

    text: tuple[str, ...] = ()
    maths: str = ""
    where: Span = Span()


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How a line of one kind looks."""

    stroke: str
    dash: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Accent:
    """How a highlighted box is outlined, and what a legend calls it; ``weight`` multiplies the
    box stroke, ``dash`` () leaves the role's own."""

    name: str
    stroke: str
    weight: float = 2.75
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
    accents 1 to 4: how a block with `accent:` is outlined
    fold    which figures are folded when nothing else is said; None: none
    file    the theme's own file; "" for a bundled one
    warnings  what of it is hard to read
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
    accents: Mapping[int, Accent]
    fold: Fold | None = None
    fonts: Fonts = Fonts()
    file: str = ""
    warnings: tuple[Fault, ...] = ()

    @property
    def names(self) -> dict[int, str]:
        """What a legend calls the accents."""
        return {number: accent.name for number, accent in self.accents.items()}

    @property
    def files(self) -> tuple[str, ...]:
        """What it was read from, besides this package: its file, and those of its fonts."""
        named = (self.file, *self.fonts.text, self.fonts.maths)
        return tuple(name for name in named if os.path.isabs(name))

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
    # A plain file beside this one: the resource library costs more to import than all themes.
    data: dict[str, Any] = ThemeFile(os.path.join(os.path.dirname(__file__), f"{name}.yaml")).data
    base = data.pop("extends", None)
    if base is not None:
        data = _merged(_read(base), data)
    return data


def _of_file(path: str) -> Theme:
    """The theme of a file: the form of a bundled one, laid over what it extends."""
    file = ThemeFile(path)
    data = file.data
    if not isinstance(data, dict) or not data:
        message = "a theme is a mapping, such as {extends: paper, ink: '#000000'}"
        raise DiagramError(Fault("bad-theme", message, Span(file.shown)))
    own = dict(data)
    base = own.pop("extends", None)
    if base is not None and base not in NAMES:
        hint = did_you_mean(str(base), NAMES, what="theme")
        message = f"there is no bundled theme '{base}' to extend"
        raise DiagramError(
            Fault("unknown-theme", message, file.place("extends"), "extends", str(base), hint=hint)
        )
    named = {"name": os.path.splitext(os.path.basename(path))[0], **own}
    whole = _merged(_read(base), named) if base is not None else {"summary": "own", **named}
    made = from_data(whole, place=file.place, told=file.repeated())
    fonts = made.fonts
    if "fonts" in own:
        folder = os.path.dirname(path)
        text = tuple(_font(each, folder) for each in fonts.text)
        fonts = Fonts(text, _font(fonts.maths, folder), file.place("fonts!"))
    return replace(made, file=path, fonts=fonts, warnings=tuple(_faint(made, file.place)))


def _font(name: str, folder: str) -> str:
    """A family as it is; the file of a font as an absolute path."""
    if name.lower().endswith((".ttf", ".otf", ".ttc", ".otc")):
        return os.path.abspath(os.path.join(folder, os.path.expanduser(name)))
    return name


TEXT_CONTRAST, LINE_CONTRAST = 4.5, 3.0
"""WCAG 2.1 AA: 1.4.3 for text, 1.4.11 for what must be seen to be understood."""


def _faint(theme: Theme, place: Place) -> Iterator[Fault]:
    """A warning for each pair of colours that is hard to tell apart."""

    def pair(path: str, ink: str, ground: str, what: str, on: str, least: float) -> Iterator[Fault]:
        ratio = contrast(ink, ground)
        if ratio < least:
            yield Fault(
                "low-contrast",
                f"{what} {ink} on {on} {ground} has a contrast of {ratio:.2f}",
                place(path), path, ink, f"at least {least:g} (WCAG AA)",
                "make one of the two darker or lighter", severity="warning",
            )  # fmt: skip

    for name, style in theme.roles.items():
        fill = theme.background if style.fill == "none" else style.fill
        said = f"the text of {name}"
        yield from pair(f"roles.{name}.text", style.text, fill, said, "its fill", TEXT_CONTRAST)
    for number, accent in theme.accents.items():
        said = f"the outline of accent {number}"
        yield from pair(f"accents.{number}.stroke", accent.stroke, theme.background, said,
                        "the background", LINE_CONTRAST)  # fmt: skip
    grounds = dict.fromkeys(
        (theme.background, *(fill for fill in theme.frames if fill != "none"))
    )
    for ground in grounds:
        on = "the background" if ground == theme.background else "a frame"
        for kind, color in theme.text.items():
            yield from pair(f"text.{kind}", color, ground, f"the text of {kind}", on, TEXT_CONTRAST)
        for kind, line in theme.lines.items():
            if kind != "leader":  # which says nothing by itself
                said = f"the line of {kind}"
                yield from pair(f"lines.{kind}.stroke", line.stroke, ground, said, on,
                                LINE_CONTRAST)  # fmt: skip


def _nowhere(where: str, _: str) -> Span:
    return Span(where)


def from_data(
    data: Mapping[str, Any],
    *,
    where: str = "theme",
    place: Place | None = None,
    told: Iterable[Fault] = (),
) -> Theme:
    """A theme from plain data, checked.

    :raises DiagramError: with one fault per wrong key, colour or number, beside those ``told``;
        ``where`` names the file in them, ``place`` says where in it the value at a path stands.
    """
    faults = check(
        data, roles=tuple(ROLES), sizes=SIZES, place=place or partial(_nowhere, where)
    )
    if found := [*told, *faults]:
        raise DiagramError(found)

    def frozen(mapping: Mapping[Any, Any]) -> Mapping[Any, Any]:
        return MappingProxyType(dict(mapping))

    roles = {
        name: RoleStyle(
            fill=style["fill"],
            stroke=style["stroke"],
            text=style["text"],
            dash=tuple(float(x) for x in style.get("dash", ())),
            weight=float(style.get("weight", 1.0)),
            texture=style.get("texture", ""),
        )
        for name, style in data["roles"].items()
    }
    lines = {
        name: LineStyle(style["stroke"], tuple(float(x) for x in style.get("dash", ())))
        for name, style in data["lines"].items()
    }
    accents = {
        number: Accent(
            name=accent["name"],
            stroke=accent["stroke"],
            weight=float(accent.get("weight", 2.75)),
            dash=tuple(float(x) for x in accent.get("dash", ())),
        )
        for number, accent in data["accents"].items()
    }
    fonts = data.get("fonts", {})
    words = fonts.get("text", ())
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
        accents=frozen(accents),
        fold=Fold(**data["fold"]) if "fold" in data else None,
        fonts=Fonts((words,) if isinstance(words, str) else tuple(words), fonts.get("maths", "")),
    )


def get(name: str = "paper") -> Theme:
    """A bundled theme by name, or the theme of a file by its path.

    :raises DiagramError: for an unknown name, with the nearest one; all that is wrong in a file.

    >>> get("paper").sizes.font_block
    9.0
    """
    if name not in NAMES and is_path(name):
        return _of_file(name)  # which may change while a program runs
    if name not in NAMES:
        raise DiagramError(
            Fault(
                code="unknown-theme",
                message=f"there is no theme named '{name}'",
                found=name,
                expected=", ".join(NAMES),
                hint=f"{did_you_mean(name, NAMES, what='theme')}; a file is named by its path, "
                "with .yaml at its end",
            )
        )
    return _bundled(name)


@cache
def _bundled(name: str) -> Theme:
    return from_data(_read(name), where=f"{name}.yaml")


def schema() -> Any:
    """The JSON Schema of a theme file."""
    return json_schema(names=NAMES, roles=tuple(ROLES), sizes=SIZES)
