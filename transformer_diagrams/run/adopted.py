"""The weights of a spec, made of the tensors of a model's checkpoint as its family says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from transformer_diagrams.dims import DimError
from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.families.adopt import Adopted
from transformer_diagrams.ops.arrays import Array, np
from transformer_diagrams.run.matches import MatchError, filled, made
from transformer_diagrams.run.tensors import Named


class Checkpoint(Mapping[str, Array]):
    """Each weight or buffer that the family names, made when it is asked for.

    A text of the family is one of `run.matches`; in it ``{i}`` is the layer that the name of the
    weight says, ``{e}`` every expert, along a new first axis.
    """

    def __init__(
        self,
        adopted: Adopted,
        wanted: Mapping[str, Named],
        sizes: Mapping[str, int],
        found: Mapping[str, Array],
    ) -> None:
        self._sizes = {"two": 2, "three": 3, **adopted.numbers, **sizes}
        self._wanted, self._found = wanted, found
        self._prefix = adopted.family.prefix
        rules = [(_form(key), texts) for key, texts in adopted.family.weights.items()]
        self._texts: dict[str, tuple[tuple[str, ...], dict[str, int]]] = {}
        for name in wanted:
            for form, texts in rules:
                match = form.fullmatch(name)
                if match is not None:
                    turns = {key: int(n) for key, n in match.groupdict().items() if n is not None}
                    self._texts.setdefault(name, (texts, turns))

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def __getitem__(self, name: str) -> Array:
        texts, turns = self._texts[name]
        missing: list[str] = []
        for text in texts:
            try:
                shape = self._wanted[name].shape
                array = made([text], lambda n: self._find(n, turns), self._sizes, shape)
            except _Missing as error:
                missing.append(str(error.args[0]))
                continue
            except (MatchError, DimError) as error:
                raise _fault(name, str(error)) from error
            if array.shape != shape:
                raise _fault(name, f"it would be {list(array.shape)}, not {list(shape)}")
            return array
        raise _fault(name, f"the checkpoint has no {' and no '.join(missing)}")

    def _find(self, name: str, turns: Mapping[str, int]) -> Array:
        def found(turns: Mapping[str, int]) -> Array:
            done = filled(name, {**self._sizes, **turns})
            for each in (done, done.removeprefix(self._prefix)):
                if each in self._found:
                    return np.asarray(self._found[each]).astype(np.float64)
            raise _Missing(done)

        if "{e}" in name and "e" not in turns:
            return np.stack([found({**turns, "e": e}) for e in range(self._sizes["N"])])
        return found(turns)


class _Missing(Exception):
    """A tensor that the checkpoint lacks."""


def _fault(name: str, why: str) -> DiagramError:
    return DiagramError(Fault("no-weight", f"'{name}' cannot be made: {why}", found=name))


def _form(key: str) -> re.Pattern[str]:
    """A name with ``*``, ``**`` and numbers such as ``{i}`` in it, as an expression."""
    parts = re.split(r"(\*\*|\*|\{\w+\})", key)
    made = []
    for part in parts:
        if part.startswith("{"):
            made.append(rf"(?P<{part[1:-1]}>\d+)")
        else:
            made.append({"**": ".*", "*": "[^/]*"}.get(part) or re.escape(part))
    return re.compile("".join(made))
