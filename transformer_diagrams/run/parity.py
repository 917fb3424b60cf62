"""How far what a spec computes lies from what a model's own code gave: array by array."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from transformer_diagrams.dims import DimError
from transformer_diagrams.ops.arrays import Array, np
from transformer_diagrams.records import dataclass
from transformer_diagrams.run.matches import filled

_HOLE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Compared:
    """One array: the largest difference, and what it is called in the run; None where nothing of
    the run has that name."""

    name: str
    found: str | None
    difference: float
    largest: float  # of the array that was given

    def as_json(self) -> dict[str, Any]:
        """Plain data; an infinite difference is null."""
        difference = self.difference if np.isfinite(self.difference) else None
        return {"name": self.name, "found": self.found, "difference": difference,
                "largest": self.largest}  # fmt: skip


def names_of(
    name: str, arrays: Mapping[str, tuple[str, ...]], sizes: Mapping[str, int]
) -> Iterator[str]:
    """What an array of the model's code may be called in a run, as its family says."""
    for key, texts in arrays.items():
        turns = _turns(key, name, sizes)
        if turns is None:
            continue
        for text in texts:
            try:
                yield filled(text, turns)
            except DimError:
                continue  # a size that this model does not have


def _turns(key: str, name: str, sizes: Mapping[str, int]) -> dict[str, int] | None:
    """The sizes, and the ``{i}`` under which a key is a name; None when it is not."""
    plain = _HOLE.sub(lambda hole: str(sizes.get(hole[1], hole[0])), key)
    form = "".join(r"(\d+)" if part == "{i}" else re.escape(part)
                   for part in re.split(r"(\{i\})", plain))  # fmt: skip
    match = re.fullmatch(form, name)
    if match is None:
        return None
    return {**sizes, **({"i": int(match[1])} if match.groups() else {})}


def compared(
    given: Mapping[str, Array], run: Mapping[str, Array], names: Mapping[str, Iterable[str]]
) -> list[Compared]:
    """Each given array beside the one of the run that it is."""
    found = []
    for name, array in given.items():
        mine = next((each for each in names[name] if each in run), None)
        largest = float(np.abs(array).max()) if array.size else 0.0
        if mine is None:
            found.append(Compared(name, None, np.inf, largest))
            continue
        other = run[mine]
        if other.shape != array.shape and other.size == array.size:
            other = other.reshape(array.shape)  # axes of 1
        fits = other.shape == array.shape
        apart = float(np.abs(other - array).max(initial=0)) if fits else np.inf
        found.append(Compared(name, mine, apart if np.isfinite(apart) else np.inf, largest))
    return found
