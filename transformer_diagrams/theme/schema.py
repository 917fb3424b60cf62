"""What a theme file may say; each departure is one fault that names the key.

A hand-written check: a theme is read on every run, and a general schema library costs more
time to import than the whole check takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from transformer_diagrams.errors import Fault, Span, did_you_mean

COLOR = re.compile(r"#[0-9a-f]{6}\Z")
TEXT_KINDS = ("title", "badge", "shape", "edge", "io", "header", "mark", "note")
LINE_KINDS = ("data", "residual", "feedback", "leader")
ROLE_KEYS = ("fill", "stroke", "text", "dash", "weight")
MARKS = ("frozen", "trained", "ema", "tied", "changed", "stop-gradient")
FOLD = ("aspect", "narrowest", "widest")
DASHES = ("box", "train", "infer", "ema")
TOP = (
    "name", "summary", "background", "ink", "roles", "lines", "text", "frames", "marks",
    "dashes", "sizes", "fold",
)  # fmt: skip


class _Check:
    def __init__(self, span: Span) -> None:
        self.span = span
        self.faults: list[Fault] = []

    def fault(self, path: str, message: str, found: object = "", hint: str = "") -> None:
        self.faults.append(
            Fault("bad-theme", message, self.span, path, found=str(found), hint=hint)
        )

    def mapping(
        self, value: Any, path: str, known: Sequence[str], required: Sequence[str]
    ) -> Mapping[str, Any]:
        """``value`` if it is a mapping with only known keys; missing ones are faults."""
        if not isinstance(value, Mapping):
            self.fault(path, "a mapping is expected here", type(value).__name__)
            return {}
        for key in value:
            if key not in known:
                hint = did_you_mean(str(key), known, what="key")
                self.fault(path, f"unknown key '{key}'", key, hint)
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
    data: Any, *, roles: Sequence[str], sizes: Sequence[str], span: Span
) -> tuple[Fault, ...]:
    """Every fault of a theme's data; an empty tuple when it is good."""
    c = _Check(span)
    top = c.mapping(data, "", TOP, [key for key in TOP if key not in ("sizes", "fold")])
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
        c.number(value, f"sizes.{name}", 0, 500)
    if "fold" in top:
        for name, value in c.mapping(top["fold"], "fold", FOLD, FOLD).items():
            c.number(value, f"fold.{name}", 0.01, 100)
    return tuple(c.faults)
