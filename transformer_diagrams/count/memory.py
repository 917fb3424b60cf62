"""Bytes: what weights and cache take in memory, each number kept in a type of so many bits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from transformer_diagrams.count.amount import Amount
from transformer_diagrams.errors import DiagramError, Fault, did_you_mean
from transformer_diagrams.records import dataclass

BITS: Mapping[str, int] = MappingProxyType(
    {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "fp4": 4, "int4": 4}
)
"""Bits of a number by type. Scales and zero points of quantised blocks are not counted."""
PARTS = ("weights", "cache")
DEFINITION = (
    "bits of a number times how many there are, up to whole bytes; the cache once for each "
    "sequence of the batch; scales of quantised blocks, activations and gradients not counted"
)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of all weights, and of the whole cache at a length; None while a size is unknown."""

    dtypes: Mapping[str, str]  # of weights and cache
    batch: int
    weights: int | None
    cache: int | None

    @property
    def total(self) -> int | None:
        if self.weights is None or self.cache is None:
            return None
        return self.weights + self.cache

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "dtypes": dict(self.dtypes),
            "batch": self.batch,
            "weights": self.weights,
            "cache": self.cache,
            "total": self.total,
            "unit": "bytes",
            "definition": DEFINITION,
        }


def read_dtypes(text: str) -> dict[str, str]:
    """The types of ``bf16``, or of ``weights=int4,cache=fp8``, where both are named.

    >>> read_dtypes("weights=int4, cache=fp8")
    {'weights': 'int4', 'cache': 'fp8'}

    :raises DiagramError: an unknown type or part, or one part alone.
    """
    found: dict[str, str] = {}
    for piece in text.split(","):
        part, equals, name = (word.strip() for word in piece.rpartition("="))
        if name not in BITS:
            raise _fault(f"'{name}' is no type of numbers", did_you_mean(name, BITS, what="type"))
        if equals and part not in PARTS:
            hint = did_you_mean(part, PARTS, what="part")
            raise _fault(f"'{part}' is nothing that has a type", hint)
        for each in (part,) if equals else PARTS:
            if each in found:
                raise _fault(f"the type of {each} is said twice", "")
            found[each] = name
    for part in PARTS:
        if part not in found:
            raise _fault(f"the type of {part} is not said", f"add ,{part}=bf16 or the like")
    return found


def memory(weights: Amount, cache: Amount, dtypes: Mapping[str, str], batch: int = 1) -> Memory:
    """What this many weights and this much cache for each of ``batch`` sequences take."""

    def taken(amount: Amount, part: str, times: int) -> int | None:
        if amount.number is None:
            return None
        return (amount.number * times * BITS[dtypes[part]] + 7) // 8

    return Memory(dtypes, batch, taken(weights, "weights", 1), taken(cache, "cache", batch))


def in_words(count: int | None) -> str:
    """``16,060,522,496 bytes (16.06 GB)``; a GB is 10^9 bytes."""
    if count is None:
        return "?"
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if count >= 10**power:
            return f"{count:,} bytes ({count / 10**power:.2f} {unit})"
    return f"{count:,} bytes"


def _fault(message: str, hint: str) -> DiagramError:
    return DiagramError(
        Fault("bad-dtype", message, expected="bf16, or weights=int4,cache=fp8", hint=hint)
    )
