"""Measures what a spec claims to equal: both are run on the same numbers, under several sizes."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from transformer_diagrams.dims import DimError, parse
from transformer_diagrams.errors import DiagramError, did_you_mean
from transformer_diagrams.graph.check import Inferences
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.infer import Library
from transformer_diagrams.graph.options import (
    Settings,
    default_options,
    known_numbers,
    option_value,
    resolve_settings,
)
from transformer_diagrams.ops.arrays import Array, np
from transformer_diagrams.records import dataclass
from transformer_diagrams.run.execute import Result, execute, fault
from transformer_diagrams.run.matches import MatchError, made
from transformer_diagrams.run.prepare import framed, inputs
from transformer_diagrams.run.sizes import chosen
from transformer_diagrams.run.tensors import drawn, tensors
from transformer_diagrams.spec.model import Claim, Spec, Text, Value

TRIES, TOLERANCE = 5, 1e-9
_MORE = 4  # times as many choices of sizes as are measured


@dataclass(frozen=True, slots=True)
class Proof:
    """How far two specs are from each other.

    ``difference``  the largest, over all sizes tried; not a number where there is none on one side
    ``largest``     the largest number compared
    ``sizes``       those that were tried
    """

    spec: str
    claim: Claim
    difference: float
    largest: float
    sizes: tuple[Mapping[str, int], ...]

    def holds(self, tolerance: float = TOLERANCE) -> bool:
        """Whether the two agree up to ``tolerance``, or so much of the largest number."""
        return self.difference <= tolerance * max(1.0, self.largest)

    def given(self, *, other: bool = False) -> dict[str, str]:
        """Under which sizes and options it is claimed, of this spec or of the other, as text."""
        said = self.claim.bind if other else self.claim.given
        values = {name: value.value for name, value in said.items()}
        return {n: str(v).lower() if isinstance(v, bool) else str(v) for n, v in values.items()}

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "spec": self.spec,
            "equals": self.claim.spec.value,
            "given": self.given(),
            "with": self.given(other=True),
            "difference": self.difference if self.difference == self.difference else None,
            "largest": self.largest,
            "sizes": [dict(each) for each in self.sizes],
            "doc": self.claim.doc,
        }


def prove(
    spec: Spec, claim: Claim, library: Library, *, seed: int = 0, tries: int = TRIES
) -> Proof:
    """Run both sides of a claim under ``tries`` choices of sizes.

    :raises DiagramError: a claim that cannot be measured: a name that is not there, a weight of
        another shape, sizes that do not fit.
    """
    other = library.get(claim.spec.value, spec)
    dims, options = dict(spec.dims), default_options(spec)
    for name, value in claim.given.items():
        if name in spec.options:
            options[name] = _option(spec, name, value)
        else:
            dims[name] = replace(dims[name], value=Text(str(value.value), value.span))
    mine = Inferences(replace(spec, dims=dims, configs={}, equals=()), library)
    theirs = Inferences(replace(other, configs={}, equals=()), library)
    worst, largest, tried = 0.0, 0.0, list[Mapping[str, int]]()
    for number in range(_MORE * tries):
        if len(tried) == tries:
            break
        frame, settings = chosen(mine, Settings(options), seed + number, loose=True)
        pair = _Pair(spec, claim, frame, _numbers(mine.spec, settings), seed + number)
        asked = pair.settings(other)
        try:
            there = framed(theirs, asked)
        except DiagramError:
            if tried or number + 1 < _MORE * tries:
                continue  # sizes that suit the one spec alone
            raise
        try:
            difference, size = pair.difference(there)
        except MatchError as error:
            message = f"'{spec.id}' = '{other.id}': {error}"
            raise fault("bad-claim", message, claim.spec.span) from error
        worst = difference if not difference <= worst else worst
        largest = max(largest, size)
        tried.append(pair.numbers)
    return Proof(spec.id, claim, worst, largest, tuple(tried))


def _numbers(spec: Spec, settings: Settings) -> dict[str, int]:
    return known_numbers(spec, settings, lambda _: None)


def _option(spec: Spec, name: str, value: Value) -> bool | str:
    found = option_value(spec.options[name], value.value)
    if found is None:
        raise fault("bad-option", f"option {name} of '{spec.id}' cannot be '{value.value}'",
                    value.span, found=str(value.value))
    return found


class _Pair:
    """Both sides under one choice of sizes."""

    def __init__(
        self, spec: Spec, claim: Claim, frame: Frame, numbers: Mapping[str, int], seed: int
    ) -> None:
        self.spec, self.claim, self.frame, self.numbers = spec, claim, frame, numbers
        self.options = frame.program.options
        self.tensors = tensors(frame)
        self.values = drawn(self.tensors, seed)
        self.inputs = drawn(inputs(frame), seed)
        self.axes = dict(numbers)
        for name, value in claim.axes.items():
            self.axes[name] = self._size(value)

    def _size(self, value: Value) -> int:
        try:
            return parse(str(value.value)).evaluate(self.numbers)
        except DimError as error:
            raise fault("bad-claim", f"'{value.value}' has no value here: {error}", value.span,
                        found=str(value.value)) from error
        except KeyError as error:
            raise fault("bad-claim", f"'{value.value}' has no value here: '{error.args[0]}' is no "
                        f"size of '{self.spec.id}'", value.span, found=str(value.value)) from error

    def settings(self, other: Spec) -> Settings:
        """Sizes and options of the other spec: as `with` says, else those of the same name."""
        given: dict[str, object] = {}
        for name in self.claim.bind:
            if name not in other.dims and name not in other.options:
                raise fault("unknown-name", f"'{other.id}' has no size or option '{name}'",
                            self.claim.bind[name].span, found=name,
                            hint=did_you_mean(name, [*other.dims, *other.options], what="name"))
        for name, dim in other.dims.items():
            if name in self.claim.bind:
                given[name] = self._size(self.claim.bind[name])
            elif name in self.numbers and dim.value is None:
                given[name] = self.numbers[name]
        for name, option in other.options.items():
            if name in self.claim.bind:
                value = self.claim.bind[name]
                mine = self.options.get(str(value.value), value.value)
                given[name] = _option(other, name, replace(value, value=mine))
            elif name in self.options:
                same = option_value(option, self.options[name])
                if same is not None:
                    given[name] = same
        return resolve_settings(other, overrides=given)

    def difference(self, other: Frame) -> tuple[float, float]:
        """The largest difference of what is compared, and the largest number in it."""
        there = [other.program.atoms[index].id for index in other.program.outputs]
        here = [self.frame.program.atoms[index].id for index in self.frame.program.outputs]
        compared = {name: text.value for name, text in self.claim.outputs.items()}
        if not compared:
            compared = {name: name for name in there if name in here}
            if not compared and len(there) == len(here) == 1:
                compared = {there[0]: here[0]}
        if not compared:
            both = f"'{self.spec.id}' and '{other.program.spec.id}'"
            raise fault("bad-claim", f"{both} have no output of the same name",
                        self.claim.spec.span, hint=f"outputs: {{{there[0]}: {here[0]}}}")
        taken = [text.value for text in self.claim.inputs.values()]
        mine = execute(self.frame, self.inputs, self.values, taps=[*taken, *compared.values()])
        theirs = execute(other, dict(self._inputs(other, mine)), dict(self._weights(other)),
                         taps=[*compared])
        worst = largest = 0.0
        for name, same in compared.items():
            a = self._value(self.spec.id, mine, same)
            b = self._value(other.program.spec.id, theirs, name)
            if a.shape != b.shape:
                raise MatchError(f"{same} is {list(a.shape)}, but {name} is {list(b.shape)}")
            gap = float(np.abs(np.where(a == b, 0, a - b)).max(initial=0))
            worst = gap if not gap <= worst else worst
            largest = max(largest, float(np.abs(a[np.isfinite(a)]).max(initial=0)))
        return worst, largest

    def _value(self, spec: str, found: Result, name: str) -> Array:
        known = ChainMap(found.outputs, found.taps, self.inputs)
        if name not in known:
            raise MatchError(f"'{spec}' has no output and no block '{name}'")
        return known[name]

    def _inputs(self, other: Frame, mine: Result) -> Iterator[tuple[str, Array]]:
        wanted = inputs(other)
        alone = next(iter(self.inputs)) if len(self.inputs) == len(wanted) == 1 else None
        for name in wanted:
            text = self.claim.inputs.get(name)
            source = text.value if text is not None else name if name in self.inputs else alone
            if source is None:
                raise MatchError(f"nothing here is the input '{name}'")
            yield name, self._value(self.spec.id, mine, source)

    def _weights(self, other: Frame) -> Iterator[tuple[str, Array]]:
        for name, tensor in tensors(other).items():
            texts = self._texts(name)
            value = made(texts, self._tensor, self.axes, tensor.shape)
            if value.shape != tensor.shape:
                raise MatchError(f"{name} is {list(tensor.shape)}, but {', '.join(texts)} is "
                                 f"{list(value.shape)}")
            yield name, value

    def _texts(self, name: str) -> tuple[str, ...]:
        """What a weight of the other is made of; `*` in a rule's name is the same in its texts."""
        for rule, texts in self.claim.weights.items():
            pattern = re.escape(rule).replace(r"\*", "(.*)")
            found = re.fullmatch(pattern, name)
            if found:
                return tuple(_filled(text.value, found.groups()) for text in texts)
        return (name,)

    def _tensor(self, name: str) -> Array:
        if name not in self.values:
            hint = did_you_mean(name, self.values, what="weight", most=12)
            message = f"'{self.spec.id}' has no weight '{name}'"
            raise MatchError(f"{message}; {hint}" if hint else message)
        return self.values[name]


_STAR = re.compile(r"(?<=[\[/.])\*|^\*")  # of a name; a factor's has blanks around it


def _filled(text: str, parts: tuple[str, ...]) -> str:
    """``text`` with its stars, one after the other, replaced."""
    left = iter(parts)
    return _STAR.sub(lambda _: next(left, "*"), text)
