"""What can be asked of a figure: one dataclass, and one function that settles it.

What was asked for (on the command line or in a call) wins over what the spec's `show:` says,
and that over the default.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from transformer_diagrams.choices import DIRECTIONS, MODES, MOST_FOLDS, SHAPES
from transformer_diagrams.errors import DiagramError, Fault, did_you_mean
from transformer_diagrams.records import dataclass

if TYPE_CHECKING:
    from transformer_diagrams.spec.model import Show, Spec

BACKGROUNDS = ("theme", "none", "white")
GRAPHVIZ = ("pure", "dot")
DENSITY = ("normal", "compact")
SINGLE = ("svg", "png")  # formats that show one step a file
STEPS = ("block", "frame", "layer", "spec")

# What a spec's `show:` may say too: asking for the default is then not the same as not asking.
FROM_SPEC = frozenset(
    ("direction", "shapes", "legend", "config", "mode", "fold", "aspect", "theme")
)
FOLDS = frozenset(("fold", "aspect"))  # one of them says all of it

POINTS = {"": 1.0, "pt": 1.0, "px": 0.75, "in": 72.0, "cm": 72 / 2.54, "mm": 72 / 25.4, "pc": 12.0}


class AskError(DiagramError):
    """What was asked for does not exist or makes no sense; the spec is not to blame."""


def ask_error(
    message: str, hint: str = "", *, code: str = "bad-option", found: str = ""
) -> AskError:
    """One :class:`AskError` in one line."""
    return AskError(Fault(code=code, message=message, hint=hint, found=found))


def typed(what: str, value: object, *kinds: type) -> None:
    """Raise unless ``value`` is of one of the kinds: a slip in a call is told like any other.

    :raises AskError: with the kinds that it may be.
    """
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ask_error(f"{what} must be {wanted}, not {type(value).__name__}", code="wrong-type")


@dataclass(frozen=True, slots=True)
class Options:
    """A settled wish.

    open, close    names of parts to draw opened in place, or as one box
    callout        names of parts to draw opened beside the figure
    width, height  most physical width and height in points; None: as large as it comes
    enlarge        as large as these allow, beyond the figure's own size
    density        how close the parts stand; the text keeps its size
    fold           how often the figure is cut, the pieces side by side; 0: not
    aspect         width over height that the folds are to come nearest to
    set            (name, value) pairs that override the config's sizes and options
    mode           what is drawn: all, or what is there in training or at inference alone
    scale, dpi     pixels of a PNG: times 96 a inch, or dots an inch (wins over scale)
    outline_text   words as outlines only, for viewers that show hidden text
    text           words of an SVG as text, with their font inside
    ids            what the names of blocks in an SVG begin with
    steps          what is shown at once, step by step: see `render.steps`; "": everything
    animate        an SVG that plays its steps
    """

    theme: str = "paper"
    direction: str = "up"
    open: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    callout: tuple[str, ...] = ()
    width: float | None = None
    height: float | None = None
    enlarge: bool = False
    density: str = "normal"
    fold: int | None = None
    aspect: float | None = None
    background: str = "theme"
    shapes: str = "changes"
    legend: bool = False
    config: str | None = None
    set: tuple[tuple[str, str], ...] = ()
    mode: str = "all"
    scale: float | None = None
    dpi: float | None = None
    graphviz: str = "pure"
    outline_text: bool = False
    text: bool = False
    ids: str = ""
    steps: str = ""
    animate: bool = False
    said: frozenset[str] = frozenset()  # which of `FROM_SPEC` were asked for

    def over(self, show: Show) -> Options:
        """With what a spec's ``show:`` says where nothing was asked for."""
        said = self.said | FOLDS if self.said & FOLDS else self.said
        left = [name for name in FROM_SPEC if name not in said]
        return replace(self, **{name: getattr(show, name) for name in left})

    def wish(self) -> dict[str, Any]:
        """What was asked for, as plain data: all that is no default."""
        default = Options()
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name != "said"
            and (f.name in self.said or getattr(self, f.name) != getattr(default, f.name))
        }


_LISTS = ("open", "close", "callout")


def settle(asked: Mapping[str, Any]) -> Options:
    """What was ``asked`` (None: not said) over the defaults.

    :raises AskError: for an unknown option, or a value that it cannot take.
    """
    known = [*(f.name for f in fields(Options) if f.name != "said"), "fit"]
    values: dict[str, Any] = {}
    for name, value in asked.items():
        if name not in known:
            raise ask_error(
                f"unknown option '{name}'", did_you_mean(name, known, what="option", most=20)
            )
        if value is not None and not (name in (*_LISTS, "set") and not value):
            values[name] = value
    for name in ("theme", "config"):
        if values.get(name) is not None:
            typed(name, values[name], str)
    if {".", "/", "\\"} & set(values.get("theme", "")):  # a file; no import for a name
        values["theme"] = os.path.abspath(values["theme"])
    for name in ("legend", "outline_text", "text", "enlarge", "animate"):
        typed(name, values.get(name, False), bool)
    if values.get("outline_text") and values.get("text"):
        raise ask_error("words are either outlines only or text", "leave one of the two out")
    if (ids := values.get("ids")) is not None:
        typed("ids", ids, str)
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", ids):
            raise ask_error(
                f"ids cannot begin with '{ids}'",
                "take a letter; letters, digits, - and _ may follow",
            )
    for name in _LISTS:
        values[name] = _names(name, values.get(name, ()))
    values["set"] = _pairs(values.get("set", ()))
    if (fit := values.pop("fit", None)) is not None:
        if values.get("width") is not None or values.get("height") is not None:
            raise ask_error("fit says both the width and the height", "leave these out")
        values["width"], values["height"] = area(fit)
    for name in ("width", "height"):
        if values.get(name) is not None:
            values[name] = points(values[name], name)
    _one_of("direction", values.get("direction"), DIRECTIONS)
    _one_of("steps", values.get("steps"), STEPS)
    if values.get("animate"):
        values.setdefault("steps", STEPS[0])
    _one_of("mode", values.get("mode"), MODES)
    _one_of("shapes", values.get("shapes"), SHAPES)
    _one_of("background", values.get("background"), BACKGROUNDS)
    _one_of("density", values.get("density"), DENSITY)
    _one_of("graphviz", values.get("graphviz"), GRAPHVIZ)
    if values.keys() >= FOLDS:
        raise ask_error("fold says how often, aspect lets that be chosen", "leave one of them out")
    if (folds := values.get("fold")) is not None:
        typed("fold", folds, int)
        if not 0 <= folds <= MOST_FOLDS:
            raise ask_error(f"fold must be a number from 0 to {MOST_FOLDS}, not {folds}")
    if values.get("aspect") is not None:
        values["aspect"] = _aspect(values["aspect"])
    for name, most in (("scale", 100.0), ("dpi", 10000.0)):
        number = values.get(name)
        if number is not None:
            typed(name, number, int, float)
        if number is not None and not 0 < float(number) <= most:
            raise ask_error(f"{name} must lie above 0 and not above {most:g}, not {number}")
    return Options(**values, said=frozenset(values.keys() & FROM_SPEC))


def fit(spec: Spec, config: str | None, sizes: Iterable[tuple[str, str]] = ()) -> None:
    """Raise for a config, or a size or option that is set, which the spec does not have.

    :raises AskError: with the nearest name, or what the value may be.
    """
    from transformer_diagrams.graph.options import resolve_settings

    if config is not None:
        typed("config", config, str)
    try:
        resolve_settings(spec, config=config, overrides=dict(sizes))
    except DiagramError as error:
        raise AskError(error.faults) from None


def area(text: str) -> tuple[str, str]:
    """The two lengths of an area to fit into: ``area("3.25in x 9in") == ("3.25in", "9in")``.

    :raises AskError: when it is not two lengths.
    """
    typed("fit", text, str)
    sides = re.split(r"\s*[x×]\s*(?=[\d.])", text.strip())
    if len(sides) != 2:
        raise ask_error(f"'{text}' is not a width and a height", "write it like 3.25inx9in")
    return sides[0], sides[1]


def _aspect(value: object) -> float:
    """Width over height: ``_aspect("4:1") == 4.0``; a bare number is one already."""
    from transformer_diagrams.spec.fields import ratio

    typed("aspect", value, str, int, float)
    found = ratio(str(value))
    if found is None:
        raise ask_error(f"aspect cannot be '{value}'", "write width and height like 16:9")
    return found


def points(length: float | str, what: str = "width") -> float:
    """A length in points: ``points("3.25in") == 234.0``; a bare number is points.

    :raises AskError: when it is not a positive length with a known unit.
    """
    typed(what, length, int, float, str)
    if isinstance(length, (int, float)):
        value, unit = float(length), ""
    else:
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*", length)
        if not match:
            raise ask_error(
                f"'{length}' is not a length", "write it like 3.25in, 8cm, 82.5mm or 234pt"
            )
        value, unit = float(match[1]), match[2]
    if unit not in POINTS:
        raise ask_error(
            f"'{unit}' is not a unit of length",
            did_you_mean(unit, [u for u in POINTS if u], what="unit"),
        )
    if not 0 < value * POINTS[unit] <= 14400:  # the largest page that PDF readers accept
        measured = {"width": "wide", "height": "high"}[what]
        raise ask_error(f"a figure cannot be {length} {measured}", "anything up to 200in will do")
    return value * POINTS[unit]


def _one_of(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise ask_error(
            f"{name} cannot be '{value}'", did_you_mean(str(value), choices, what="value")
        )


def _names(what: str, value: str | Iterable[str]) -> tuple[str, ...]:
    """One name, a list of names, or names with commas between; each once, in order."""
    typed(what, value, str, Iterable)
    given = [value] if isinstance(value, str) else list(value)
    for item in given:
        typed(f"a name in {what}", item, str)
    names = [name.strip() for item in given for name in item.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))


def name_and_value(item: str, like: str) -> tuple[str, str]:
    """The two sides of ``NAME=VALUE``; ``like`` is an example for the hint.

    :raises AskError: when a side is missing.
    """
    name, _, text = item.partition("=")
    if not name.strip() or not text.strip():
        raise ask_error(f"'{item}' does not set anything", f"write it like {like}")
    return name.strip(), text.strip()


def _pairs(
    value: Mapping[str, Any] | Iterable[str | tuple[str, Any]],
) -> tuple[tuple[str, str], ...]:
    """Pairs of text of ``{"d_m": 512}``, ``["d_m=512"]`` or ``[("d_m", 512)]``; the last wins."""
    typed("set", value, Mapping, Iterable)
    items: Iterable[Any] = value.items() if isinstance(value, Mapping) else value
    if isinstance(value, (str, bytes)):
        items = [value]
    pairs: dict[str, str] = {}
    for item in items:
        if isinstance(item, str):
            name, text = name_and_value(item, "d_m=512")
        else:
            typed("a setting", item, tuple, list)
            if len(item) != 2:
                raise ask_error(f"a setting has a name and a value, not {len(item)} parts")
            name, text = item
            typed("a name in set", name, str)
            typed(f"the value of {name}", text, str, int, float, bool)
            text = str(text).lower() if isinstance(text, bool) else str(text)
        pairs[name.strip()] = text.strip()
    return tuple(pairs.items())
