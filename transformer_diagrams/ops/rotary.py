"""The frequencies of rotary positions, and how they are stretched for longer texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from transformer_diagrams.ops.arrays import Array, np
from transformer_diagrams.ops.registry import Attr, Call, OpFault

SCALED: tuple[Attr, ...] = (
    Attr("scaling", "str", "how the frequencies are stretched: none, linear, llama3, yarn "
         "(arXiv:2309.00071), longrope (arXiv:2402.13753) or proportional; another is drawn only",
         "none", constant=True),
    Attr("factor", "float", "by how much", 1),
    Attr("original", "float", "positions before the stretching"),
    Attr("longest", "float", "longrope: positions after it; over `original` they are the factor"),
    Attr("low", "float", "llama3: waves that fit less often into these are stretched", 1),
    Attr("high", "float", "llama3: waves that fit more often into these are not", 4),
    Attr("fast", "float", "yarn: turns within these above which nothing is stretched", 32),
    Attr("slow", "float", "yarn: turns below which all is stretched", 1),
    Attr("truncate", "bool", "yarn: the range between is of whole pairs", True, constant=True),
    Attr("attention", "float", "yarn, longrope: sines and cosines times this (default: by factor)"),
    Attr("mscale", "float", "yarn: of that factor, above the line"),
    Attr("mscale_all", "float", "yarn: of that factor, below the line"),
    Attr("short", "str", "longrope: a divisor for each pair, up to `original` positions", "",
         constant=True),
    Attr("long", "str", "longrope: a divisor for each pair, beyond these", "", constant=True),
    Attr("turning", "float", "proportional: share of the pairs that turn at all", 1),
)  # fmt: skip


def frequencies(c: Call, width: int, positions: int) -> tuple[Array, float]:
    """The angle of each pair from one position to the next, and the factor of sines and cosines.

    :raises OpFault: for a kind that is not computed, or one without its numbers.
    """
    plain = c["base"] ** -(np.arange(0, width, 2) / width)
    kind = c["scaling"]
    if kind == "none":
        return plain, 1.0
    if kind not in _KINDS:
        raise OpFault(f"the scaling '{kind}' of rotary positions is not computed",
                      f"computed are {', '.join(_KINDS)}")
    if c["original"] is None and kind in ("llama3", "yarn", "longrope"):
        raise OpFault(f"the scaling '{kind}' needs `original`, the positions before it")
    return _KINDS[kind](c, plain, positions)


def mscale(factor: float, by: float = 1.0) -> float:
    """The factor of yarn that makes up for flatter scores."""
    return 0.1 * by * math.log(factor) + 1 if factor > 1 else 1.0


def _llama3(c: Call, plain: Array, positions: int) -> tuple[Array, float]:
    turns = c["original"] * plain / (2 * math.pi)
    share = np.clip((turns - c["low"]) / (c["high"] - c["low"]), 0, 1)
    return share * plain + (1 - share) * plain / c["factor"], 1.0


def _yarn(c: Call, plain: Array, positions: int) -> tuple[Array, float]:
    width, base, factor = 2 * len(plain), c["base"], c["factor"]

    def pair(turns: float) -> float:
        return width * math.log(c["original"] / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair(c["fast"]), pair(c["slow"])
    if c["truncate"]:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    ramp = np.clip((np.arange(len(plain)) - low) / (high - low if high != low else 0.001), 0, 1)
    attention = c["attention"]
    if attention is None and c["mscale"] and c["mscale_all"]:
        attention = mscale(factor, c["mscale"]) / mscale(factor, c["mscale_all"])
    if attention is None:
        attention = mscale(factor)
    return plain * (1 - ramp) + plain / factor * ramp, attention


def _longrope(c: Call, plain: Array, positions: int) -> tuple[Array, float]:
    words = c["long"] if positions > c["original"] else c["short"]
    divisors = np.array([float(word) for word in words.split()])
    if len(divisors) != len(plain):
        raise OpFault(f"longrope needs {len(plain)} divisors, not {len(divisors)}")
    attention, factor = c["attention"], c["factor"]
    if c["longest"] is not None:
        factor = c["longest"] / c["original"]
    if attention is None:
        grown = math.log(factor) / math.log(c["original"]) if factor > 1 else 0
        attention = math.sqrt(1 + grown)
    return plain / divisors, attention


def _proportional(c: Call, plain: Array, positions: int) -> tuple[Array, float]:
    turning = int(c["turning"] * len(plain))
    return np.where(np.arange(len(plain)) < turning, plain / c["factor"], 0), 1.0


_KINDS: Mapping[str, Callable[[Call, Array, int], tuple[Array, float]]] = {
    "linear": lambda c, plain, positions: (plain / c["factor"], 1.0),
    "llama3": _llama3,
    "yarn": _yarn,
    "longrope": _longrope,
    "proportional": _proportional,
}
