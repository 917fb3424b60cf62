"""The names and shapes of a checkpoint's tensors, told by the family and read from the headers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from transformer_diagrams.dims import parse
from transformer_diagrams.errors import DiagramError, Fault, Span
from transformer_diagrams.families.adopt import Adopted
from transformer_diagrams.families.family import Tensor, patterns
from transformer_diagrams.records import dataclass

INDEX: Final = "model.safetensors.index.json"
ONE: Final = "model.safetensors"
MOST_HEADER: Final = 100 * 1024 * 1024  # bytes, as the format itself allows
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Verification:
    """How a checkpoint stands to its configuration: names with shapes, sorted.

    matched     weights of the figure that are in the file
    missing     weights that the file lacks
    unexpected  tensors of the file that are no weight of the figure
    misshaped   name -> (the shape expected, the shape found)
    copies      a second name of a weight, such as a tied output matrix
    buffers     what is no weight: tables made by the code
    quantised   scales of quantised weights
    elements    of the weights that match
    """

    matched: tuple[str, ...]
    missing: Mapping[str, Shape]
    unexpected: Mapping[str, Shape]
    misshaped: Mapping[str, tuple[Shape, Shape]]
    copies: tuple[str, ...]
    buffers: tuple[str, ...]
    quantised: tuple[str, ...]
    elements: int

    @property
    def clean(self) -> bool:
        """Whether every weight is there with its shape, and nothing else."""
        return not (self.missing or self.unexpected or self.misshaped)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "clean": self.clean,
            "matched": len(self.matched),
            "elements": self.elements,
            "missing": {name: list(shape) for name, shape in self.missing.items()},
            "unexpected": {name: list(shape) for name, shape in self.unexpected.items()},
            "misshaped": {
                name: {"expected": list(want), "found": list(got)}
                for name, (want, got) in self.misshaped.items()
            },
            "copies": list(self.copies),
            "buffers": list(self.buffers),
            "quantised": list(self.quantised),
        }


def verify(adopted: Adopted, found: Mapping[str, Shape]) -> Verification:
    """Hold the tensors of a checkpoint against those that the configuration asks for."""
    prefix = adopted.family.prefix
    if prefix and not any(name.startswith(prefix) for name in found):
        # Files of the bare model leave out the name under which the head's class holds it.
        found = {
            name if name.startswith(("lm_head.", "cls.")) else prefix + name: shape
            for name, shape in found.items()
        }
    want: dict[str, Shape] = {}
    extra: dict[str, Shape] = {}
    for tensor in adopted.family.tensors:
        if adopted.holds(tensor.when):
            into = extra if tensor.optional is not None and adopted.holds(tensor.optional) else want
            into.update(_written_out(tensor, adopted.numbers))
    both = want.keys() & found.keys()
    matched = tuple(sorted(name for name in both if want[name] == found[name]))
    rest = sorted(found.keys() - want.keys())
    copies = tuple(name for name in rest if extra.get(name) == found[name])
    wrong = {name: (want[name], found[name]) for name in sorted(both) if want[name] != found[name]}
    wrong |= {n: (extra[n], found[n]) for n in rest if n in extra and n not in copies}
    rest = [name for name in rest if name not in extra]
    buffers = tuple(name for name in rest if _fits(name, patterns("buffers")))
    scales = tuple(name for name in rest if _fits(name, patterns("quantised")))
    known = {*buffers, *scales}
    return Verification(
        matched,
        {name: want[name] for name in sorted(want.keys() - found.keys())},
        {name: found[name] for name in rest if name not in known},
        wrong,
        copies,
        buffers,
        scales,
        sum(math.prod(want[name]) for name in matched),
    )


def _fits(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _written_out(tensor: Tensor, numbers: Mapping[str, int]) -> Iterator[tuple[str, Shape]]:
    """A tensor for each layer and expert."""
    shape = tuple(parse(axis).evaluate(numbers) for axis in tensor.shape)
    layers = range(1)
    if "{i}" in tensor.name:
        layers = range(*(parse(text).evaluate(numbers) for text in tensor.layers))
    experts = range(numbers["N"]) if "{e}" in tensor.name else range(1)
    for layer in layers:
        name = tensor.name.replace("{i}", str(layer))
        for expert in experts:
            yield name.replace("{e}", str(expert)), shape


def shards(folder: Path) -> list[str]:
    """The safetensors files of a folder, as its index says, or the one; none where there is none.

    :raises DiagramError: when the index is broken.
    """
    index = folder / INDEX
    if not index.is_file():
        return [ONE] if (folder / ONE).is_file() else []
    try:
        names = {str(name) for name in json.loads(index.read_bytes())["weight_map"].values()}
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise _broken(index, "it is no index of shards") from error
    for shard in names:
        if Path(shard).name != shard:
            raise _broken(index, f"the shard '{shard}' lies elsewhere")
    return sorted(names)


def headers(folder: Path) -> dict[str, Shape]:
    """Name and shape of every tensor of a folder's safetensors files; no weight is read.

    :raises DiagramError: when there is no such file, or one is broken.
    """
    found: dict[str, Shape] = {}
    for shard in shards(folder) or [ONE]:
        found.update(_header(folder / shard))
    return found


def _header(path: Path) -> Iterator[tuple[str, Shape]]:
    """The names and shapes in one file: 8 bytes say how long the JSON is that comes first."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > MOST_HEADER:
                raise _broken(path, "its header is longer than the format allows")
            entries = json.loads(file.read(length))
        for name, entry in entries.items():
            if name != "__metadata__":
                yield name, tuple(int(axis) for axis in entry["shape"])
    except OSError as error:
        raise _broken(path, error.strerror or str(error)) from error
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise _broken(path, "its header is no safetensors header") from error


def _broken(path: Path, why: str) -> DiagramError:
    hint = f"a checkpoint is {ONE}, or {INDEX} with its shards"
    message = f"cannot be read: {why}"
    return DiagramError(Fault("no-checkpoint", message, Span(str(path)), hint=hint))


_NUMBER: Final = re.compile(r"(?<=\.)\d+(?=\.|$)")


def folded(names: Iterable[str]) -> dict[str, list[str]]:
    """Names that differ in numbers alone, under one: `model.layers.0-31.mlp.up_proj.weight`."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_NUMBER.sub("#", name), []).append(name)
    shown: dict[str, list[str]] = {}
    for form, group in alike.items():
        label = form
        for column in zip(*map(_numbers, group), strict=True):
            label = label.replace("#", _ranges(sorted(set(column))), 1)
        shown[label] = group
    return shown


def _numbers(name: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(name)]


def _ranges(numbers: list[int]) -> str:
    """`0-3,5` of 0, 1, 2, 3, 5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
