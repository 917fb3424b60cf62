"""What a theme file may say; each departure is one fault that names the key.

A hand-written check: a theme is read on every run, and a general schema library costs more
time to import than the whole check takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transformer_diagrams.choices import ACCENTS
from transformer_diagrams.errors import Fault, Span, did_you_mean

COLOR = re.compile(r"#[0-9a-f]{6}\Z")
TEXT_KINDS = ("title", "badge", "shape", "edge", "io", "header", "mark", "note")
LINE_KINDS = ("data", "residual", "feedback", "leader")
ROLE_KEYS = ("fill", "stroke", "text", "dash", "weight", "texture")
MARKS = ("frozen", "trained", "ema", "tied", "changed", "stop-gradient")
FOLD = ("aspect", "narrowest", "widest")
DASHES = ("box", "train", "infer", "ema")
FONTS = ("text", "maths")
TOP = (
    "name", "summary", "background", "ink", "roles", "lines", "text", "frames", "marks",
    "dashes", "sizes", "fold", "fonts", "accents",
)  # fmt: skip
OPTIONAL = ("sizes", "fold", "fonts")
_ACCENTS = tuple(range(1, ACCENTS + 1))
ACCENT_KEYS = ("name", "stroke", "weight", "dash")
TEXTURES = ("solid", "rule", "bars", "up", "down", "cross", "dots", "zigzag")
"""What the left edge of a box may show, so that roles differ in print without colour."""
Place = Callable[[str], Span]


class _Check:
    def __init__(self, place: Place) -> None:
        self.place = place
        self.faults: list[Fault] = []

    def fault(
        self, path: str, message: str, found: object = "", hint: str = "", *, key: str = ""
    ) -> None:
        """``key``: the one below ``path`` that is wrong itself, not its value."""
        at = f"{path}.{key}!" if path and key else f"{key}!" if key else path
        self.faults.append(
            Fault("bad-theme", message, self.place(at), path, found=str(found), hint=hint)
        )

    def mapping(
        self, value: Any, path: str, known: Sequence[Any], required: Sequence[Any]
    ) -> Mapping[Any, Any]:
        """``value`` if it is a mapping with only known keys; missing ones are faults."""
        if not isinstance(value, Mapping):
            self.fault(path, "a mapping is expected here", type(value).__name__)
            return {}
        for key in value:
            if key not in known:
                hint = did_you_mean(str(key), [str(each) for each in known], what="key")
                self.fault(path, f"unknown key '{key}'", key, hint, key=str(key))
        for key in required:
            if key not in value:
                self.fault(path, f"the key '{key}' is missing")
        return {key: value[key] for key in value if key in known}

    def color(self, value: Any, path: str, *, none: bool = False) -> None:
        if none and value == "none":
            return
        if not (isinstance(value, str) and COLOR.match(value)):
            self.fault(path, "a colour is written #rrggbb, in lower case", value)

    def number(self, value: Any, path: str, least: float, most: float) -> None:
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (good and least <= value <= most):
            self.fault(path, f"a number from {least:g} to {most:g} is expected", value)

    def dash(self, value: Any, path: str) -> None:
        if not isinstance(value, (list, tuple)) or len(value) % 2:
            self.fault(path, "a dash is a list of an even number of lengths", value)
            return
        for index, length in enumerate(value):
            self.number(length, f"{path}[{index}]", 0, 100)


def check(
    data: Any, *, roles: Sequence[str], sizes: Sequence[str], place: Place
) -> tuple[Fault, ...]:
    """Every fault of a theme's data; an empty tuple when it is good."""
    c = _Check(place)
    top = c.mapping(data, "", TOP, [key for key in TOP if key not in OPTIONAL])
    for key in ("name", "summary"):
        if key in top and not (isinstance(top[key], str) and top[key]):
            c.fault(key, "words are expected here", top[key])
    for key in ("background", "ink"):
        if key in top:
            c.color(top[key], key)
    for name, style in c.mapping(top.get("roles", {}), "roles", roles, ("plain",)).items():
        path = f"roles.{name}"
        given = c.mapping(style, path, ROLE_KEYS, ROLE_KEYS[:3])
        for key, value in given.items():
            if key == "dash":
                c.dash(value, f"{path}.dash")
            elif key == "weight":
                c.number(value, f"{path}.weight", 0.25, 4)
            elif key == "texture":
                if value not in TEXTURES:
                    hint = did_you_mean(str(value), TEXTURES, what="texture")
                    c.fault(f"{path}.texture", f"there is no texture '{value}'", value, hint)
            else:
                c.color(value, f"{path}.{key}", none=key == "fill")
    for name, style in c.mapping(top.get("lines", {}), "lines", LINE_KINDS, LINE_KINDS).items():
        given = c.mapping(style, f"lines.{name}", ("stroke", "dash"), ("stroke",))
        if "stroke" in given:
            c.color(given["stroke"], f"lines.{name}.stroke")
        if "dash" in given:
            c.dash(given["dash"], f"lines.{name}.dash")
    for group, known in (("text", TEXT_KINDS), ("marks", MARKS)):
        for name, value in c.mapping(top.get(group, {}), group, known, known).items():
            c.color(value, f"{group}.{name}")
    for name, value in c.mapping(top.get("dashes", {}), "dashes", DASHES, DASHES).items():
        c.dash(value, f"dashes.{name}")
    for number, accent in c.mapping(top.get("accents", {}), "accents", _ACCENTS, _ACCENTS).items():
        path = f"accents.{number}"
        given = c.mapping(accent, path, ACCENT_KEYS, ("name", "stroke"))
        for key, value in given.items():
            if key == "name":
                if not (isinstance(value, str) and value):
                    c.fault(f"{path}.name", "words are expected here", value)
            elif key == "stroke":
                c.color(value, f"{path}.stroke")
            elif key == "weight":
                c.number(value, f"{path}.weight", 0.25, 8)
            else:
                c.dash(value, f"{path}.dash")
    keys = ("fills", "stroke")
    frames = c.mapping(top.get("frames", {}), "frames", keys, keys)
    if "stroke" in frames:
        c.color(frames["stroke"], "frames.stroke")
    fills = frames.get("fills", [])
    if not isinstance(fills, (list, tuple)) or not fills:
        c.fault("frames.fills", "a list of one or more colours is expected", fills)
    else:
        for index, value in enumerate(fills):
            c.color(value, f"frames.fills[{index}]", none=True)
    for name, value in c.mapping(top.get("sizes", {}), "sizes", sizes, ()).items():
        c.number(value, f"sizes.{name}", 3 if name.startswith("font_") else 0, 500)
    if "fold" in top:
        for name, value in c.mapping(top["fold"], "fold", FOLD, FOLD).items():
            c.number(value, f"fold.{name}", 0.01, 100)
    for name, value in c.mapping(top.get("fonts", {}), "fonts", FONTS, ()).items():
        listed = value if isinstance(value, list) and name == "text" else [value]
        if not listed or not all(isinstance(each, str) and each for each in listed):
            wanted = "a family or a file is expected" + (
                ", or a list of them" if name == "text" else ""
            )
            c.fault(f"fonts.{name}", wanted, value)
    return tuple(c.faults)


def json_schema(*, names: Sequence[str], roles: Sequence[str], sizes: Sequence[str]) -> Any:
    """The JSON Schema (draft 2020-12) of a theme file that extends one of ``names``."""

    def of(values: Any, keys: Sequence[str]) -> dict[str, Any]:
        given = values if isinstance(values, dict) and "type" not in values else None
        each = {key: (given or {}).get(key, values) if given else values for key in keys}
        return {"type": "object", "additionalProperties": False, "properties": each}

    def number(least: float, most: float) -> dict[str, Any]:
        return {"type": "number", "minimum": least, "maximum": most}

    color = {"type": "string", "pattern": "^#[0-9a-f]{6}$"}
    fill = {"type": "string", "pattern": "^(none|#[0-9a-f]{6})$"}
    dash = {"type": "array", "items": number(0, 100)}
    word = {"type": "string", "minLength": 1}
    style = {
        "fill": fill, "stroke": color, "text": color, "dash": dash, "weight": number(0.25, 4),
        "texture": {"enum": list(TEXTURES)},
    }  # fmt: skip
    parts = {
        "extends": {"enum": list(names)},
        "name": word,
        "summary": word,
        "background": color,
        "ink": color,
        "roles": of(of(style, ROLE_KEYS), roles),
        "lines": of(of({"stroke": color, "dash": dash}, ("stroke", "dash")), LINE_KINDS),
        "text": of(color, TEXT_KINDS),
        "frames": of(
            {"fills": {"type": "array", "items": fill, "minItems": 1}, "stroke": color},
            ("fills", "stroke"),
        ),
        "marks": of(color, MARKS),
        "dashes": of(dash, DASHES),
        "sizes": of(number(0, 500), sizes),
        "accents": of(
            of({"name": word, "stroke": color, "weight": number(0.25, 8), "dash": dash},
               ACCENT_KEYS),
            tuple(map(str, _ACCENTS)),
        ),
        "fold": of(number(0.01, 100), FOLD),
        "fonts": of({"text": {"anyOf": [word, {"type": "array", "items": word}]}, "maths": word},
                    FONTS),
    }  # fmt: skip
    whole = of(parts, tuple(parts))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}
