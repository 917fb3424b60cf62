"""The colours of live figures: names to hex codes, for light and for dark, made from the themes.

A drawing names its colours; a page turns the names into CSS variables (so that one drawing serves
light, dark and print), a picture file into hex codes. ``r0`` ... ``r100`` is the ramp for weights
from 0 to 1: one hue, always lighter to darker against the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from transformer_diagrams.errors import did_you_mean
from transformer_diagrams.options import ask_error

MODES = ("light", "dark")
STEPS = 101

_RAMPS: Mapping[str, Sequence[str]] = {
    "light": ("#ffffff", "#d0e3f4", "#74aad9", "#2a6aa8", "#0b3563"),
    "dark": ("#1a212b", "#1b3757", "#1f5288", "#4084c3", "#e3f1ff"),
}
# What the architecture themes have no name for.
_OWN: Mapping[str, Mapping[str, str]] = {
    "light": {"blue": "#1f6fae", "orange": "#bf4f1a", "grid": "#e3e7ec", "shade": "#f3f5f8"},
    "dark": {"blue": "#7cc0f0", "orange": "#f08a4b", "grid": "#2b3440", "shade": "#1a212b"},
}
_ROLES = ("attention", "ffn", "embedding", "norm", "projection", "position", "parameter", "topk",
          "plain")  # fmt: skip


@cache
def palette(mode: str = "light") -> Mapping[str, str]:
    """Colour names to ``#rrggbb``. ``mode`` is light or dark, or a bundled theme's name.

    :raises AskError: for another one.
    """
    from transformer_diagrams.theme import get

    mode = {"paper": "light"}.get(mode, mode)
    if mode not in MODES:
        raise ask_error(
            f"live figures have no theme '{mode}'",
            did_you_mean(mode, (*MODES, "paper"), what="theme"),
        )
    theme = get("paper" if mode == "light" else "dark")
    ramp = _RAMPS[mode]
    colors = {
        "paper": theme.background,
        "ink": theme.ink,
        "soft": theme.text["title"],  # words of second rank
        "line": theme.roles["plain"].stroke,
        "faint": theme.frame_stroke,
        **_OWN[mode],
        # Words over the ramp: pure, so that one of the two is always 4.5 times as bright or dark.
        "low": "#000000" if mode == "light" else "#ffffff",
        "high": "#ffffff" if mode == "light" else "#000000",
    }
    colors |= {f"role-{name}": theme.role(name).fill for name in _ROLES}
    colors |= {f"r{i}": mixed(ramp, i / (STEPS - 1)) for i in range(STEPS)}
    return MappingProxyType(colors)


def role_color(role: str) -> str:
    """The colour name for a parameter role such as ``embed_token`` or ``lm_head``."""
    known = {
        "embed_token": "embedding", "embed_position": "position", "embed_segment": "embedding",
        "lm_head": "projection", "task_head": "projection", "router": "topk",
        "experts": "ffn",
    }  # fmt: skip
    name = known.get(role, role)
    return f"role-{name if name in _ROLES else 'parameter'}"


def mixed(stops: Sequence[str], at: float) -> str:
    """The colour at ``at`` (0 to 1) between evenly spaced stops, mixed in OKLab (Ottosson 2020)."""
    place = at * (len(stops) - 1)
    left = min(int(place), len(stops) - 2)
    part = place - left
    a, b = _oklab(stops[left]), _oklab(stops[left + 1])
    return _hex(tuple(x + (y - x) * part for x, y in zip(a, b, strict=True)))


def _oklab(color: str) -> tuple[float, ...]:
    r, g, b = (_linear(int(color[i : i + 2], 16) / 255) for i in (1, 3, 5))
    l, m, s = (  # noqa: E741
        (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3),
        (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3),
        (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3),
    )
    return (
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    )


def _hex(lab: tuple[float, ...]) -> str:
    big, a, b = lab
    l = (big + 0.3963377774 * a + 0.2158037573 * b) ** 3  # noqa: E741
    m = (big - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s = (big - 0.0894841775 * a - 1.2914855480 * b) ** 3
    parts = (
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    )
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, _gamma(v)))):02x}" for v in parts)


def _linear(v: float) -> float:
    return v / 12.92 if v <= 0.04045 else float(((v + 0.055) / 1.055) ** 2.4)


def _gamma(v: float) -> float:
    v = max(0.0, v)
    return 12.92 * v if v <= 0.0031308 else float(1.055 * v ** (1 / 2.4) - 0.055)
