"""Sentences with numbers in them: filled in by Python for files and by the runtime in the page.

A template is a sequence of parts. A part is text, or one of the classes here; each refers to a
traced array and, in a mark of several elements, takes the element's own value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Union

from transformer_diagrams.live.numbers import fixed
from transformer_diagrams.live.trace import Array
from transformer_diagrams.records import dataclass

Read = Callable[[Array], Sequence[float]]
"""Gives the flat values of a traced array."""


@dataclass(frozen=True, slots=True)
class Num:
    """A number with fixed decimals."""

    array: Array
    decimals: int = 0


@dataclass(frozen=True, slots=True)
class Pick:
    """One of several words, by index."""

    array: Array
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class When:
    """Parts that are there only where the array is not 0."""

    array: Array
    parts: Template


@dataclass(frozen=True, slots=True)
class Names:
    """The names whose value is above 0.5, each once: "a, b and c". ``array`` has one row of
    values for each element of the mark. ``last`` stands before the last name."""

    array: Array
    names: tuple[str, ...]
    last: str = " and "


Part = Union[str, Num, Pick, When, Names]  # noqa: UP007  (refers to a later class)
Template = tuple[Part, ...]


def fill(template: Template, read: Read, element: int = 0) -> str:
    """The sentence for the present values."""
    out = []
    for part in template:
        if isinstance(part, str):
            out.append(part)
            continue
        values = read(part.array)
        if isinstance(part, Names):
            width = len(part.names)
            row = values[width * (element % (len(values) // width)) :][:width]
            chosen = dict.fromkeys(n for n, v in zip(part.names, row, strict=True) if v > 0.5)
            out.append(_listed(list(chosen), part.last))
            continue
        value = values[element % len(values)]
        if isinstance(part, Num):
            out.append(fixed(value, part.decimals))
        elif isinstance(part, Pick):
            out.append(part.choices[int(value)])
        elif value != 0:
            out.append(fill(part.parts, read, element))
    return "".join(out)


def _listed(names: list[str], last: str) -> str:
    return last.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def as_json(template: Template) -> list[Any]:
    """The template as plain data, for the runtime."""
    out: list[Any] = []
    for part in template:
        if isinstance(part, str):
            out.append(part)
        elif isinstance(part, Num):
            out.append(["n", part.array.index, part.decimals])
        elif isinstance(part, Pick):
            out.append(["p", part.array.index, list(part.choices)])
        elif isinstance(part, When):
            out.append(["w", part.array.index, as_json(part.parts)])
        else:
            out.append(["l", part.array.index, list(part.names), part.last])
    return out


def arrays(template: Template) -> list[Array]:
    """Every traced array in it."""
    found = []
    for part in template:
        if isinstance(part, str):
            continue
        found.append(part.array)
        if isinstance(part, When):
            found.extend(arrays(part.parts))
    return found


def elements(template: Template) -> int:
    """How many elements a mark with this text has: the most values of any part."""
    most = 1
    for part in template:
        if isinstance(part, str):
            continue
        values = prod(part.array.shape)
        most = max(most, values // len(part.names) if isinstance(part, Names) else values)
        if isinstance(part, When):
            most = max(most, elements(part.parts))
    return most
