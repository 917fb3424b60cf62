"""The settings a figure or a count is made under: options, and numbers for dims.

A setting is looked up in this order: an override of the caller, the config, the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from transformer_diagrams.dims import Condition, Dim, DimError, names_in, nearest_multiples, parse
from transformer_diagrams.dims.order import in_order
from transformer_diagrams.errors import (
    NOWHERE,
    DiagramError,
    Fault,
    Span,
    did_you_mean,
)
from transformer_diagrams.graph.scope import free_names
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import OptionSpec, Spec, Text

OptionValue = bool | str
EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Settings:
    """Options (all of them) and the numbers that were given, each with where it was given."""

    options: Mapping[str, OptionValue] = field(default_factory=lambda: EMPTY)
    numbers: Mapping[str, int] = field(default_factory=lambda: EMPTY)
    origins: Mapping[str, tuple[str, Span]] = field(default_factory=lambda: EMPTY)
    config: str | None = None


def default_options(spec: Spec) -> dict[str, OptionValue]:
    """Every option of ``spec`` at its default."""
    return {name: option.default for name, option in spec.options.items()}


def resolve_settings(
    spec: Spec, *, config: str | None = None, overrides: Mapping[str, object] = EMPTY
) -> Settings:
    """Options and numbers of ``spec`` under ``config`` with ``overrides`` on top.

    ``overrides`` mixes dims and options, as ``--set`` does; a dim's value is an integer or an
    expression without names ("4 * 1024").

    :raises DiagramError: unknown config or name (with the nearest), a value of the wrong kind.
    """
    faults: list[Fault] = []
    options = default_options(spec)
    numbers: dict[str, int] = {}
    origins: dict[str, tuple[str, Span]] = {}
    if config is not None:
        chosen = spec.configs.get(config)
        if chosen is None:
            raise DiagramError(
                Fault(
                    "unknown-config",
                    f"'{spec.id}' has no config '{config}'",
                    spec.span,
                    path="configs",
                    found=config,
                    hint=did_you_mean(config, spec.configs, what="config")
                    or "this spec has no configs",
                )
            )
        for name, value in (*chosen.dims.items(), *chosen.options.items()):
            _take(
                spec,
                name,
                value.value,
                f"config '{config}'",
                value.span,
                f"configs.{config}.{name}",
                (options, numbers, origins, faults),
            )
    for name, given in overrides.items():
        _take(spec, name, given, "set by hand", NOWHERE, "", (options, numbers, origins, faults))
    if faults:
        raise DiagramError(faults)
    return Settings(
        MappingProxyType(options), MappingProxyType(numbers), MappingProxyType(origins), config
    )


_Into = tuple[dict[str, OptionValue], dict[str, int], dict[str, tuple[str, Span]], list[Fault]]


def _take(
    spec: Spec, name: str, given: object, where: str, span: Span, path: str, into: _Into
) -> None:
    options, numbers, origins, faults = into
    at = span if span.line else spec.span
    if name in spec.options:
        value = option_value(spec.options[name], given)
        if value is None:
            faults.append(bad_option(spec.options[name], given, at, path))
        else:
            options[name] = value
        return
    if name not in spec.dims:
        hint = did_you_mean(name, [*spec.dims, *spec.options], what="name")
        faults.append(
            Fault(
                "unknown-name",
                f"'{spec.id}' has no dim or option '{name}' ({where})",
                at,
                path=path,
                found=name,
                hint=hint or "this spec declares no dims and no options",
            )
        )
        return
    number = positive_integer(given)
    if number is None:
        faults.append(
            Fault(
                "bad-value",
                f"the value of '{name}' must be a positive integer ({where})",
                at,
                path=path,
                found=str(given),
                expected="a positive integer",
            )
        )
        return
    numbers[name] = number
    origins[name] = (f"{name} = {number}, {where}", span if span.line else NOWHERE)


def positive_integer(given: object) -> int | None:
    """``given`` as a positive integer (an integer, or text such as "4096" or "4 * 1024")."""
    if isinstance(given, bool):
        return None
    if isinstance(given, str):
        try:
            given = None if names_in(given) else parse(given).as_int()
        except DimError:
            return None
    if isinstance(given, Dim):
        given = given.as_int()
    return given if isinstance(given, int) and given > 0 else None


def option_value(option: OptionSpec, given: object) -> OptionValue | None:
    """``given`` as a value of ``option``, or None when it is not one."""
    if option.choices:
        text = str(given)
        return text if text in option.choices else None
    if isinstance(given, bool):
        return given
    return {"true": True, "false": False}.get(str(given).lower())


def bad_option(option: OptionSpec, given: object, span: Span, path: str) -> Fault:
    """The fault for a value that ``option`` does not take."""
    legal = list(option.choices) if option.choices else ["true", "false"]
    return Fault(
        "bad-value",
        f"option '{option.name}' cannot be '{given}'",
        span,
        path=path,
        found=str(given),
        expected=" or ".join(legal),
        hint=did_you_mean(str(given), legal, what="value"),
    )


def known_numbers(
    spec: Spec, settings: Settings, report: Callable[[Fault], None]
) -> dict[str, int]:
    """Numbers for as many dims as the settings fix: given ones, `value:`, then `default:`.

    A given number of a dim with a definition must be equal to it; ``report`` gets the fault
    that shows both sides.
    """
    numbers = dict(settings.numbers)
    texts = {name: dim.value or dim.default for name, dim in spec.dims.items()}
    needs = {n: free_names(t) for n, t in texts.items() if t is not None}
    for name in in_order(needs)[0]:
        text = texts[name]
        number = _evaluate(text.value, numbers) if name not in numbers and text else None
        if number is not None and number > 0:
            numbers[name] = number
    for name, dim in spec.dims.items():
        text = dim.value or dim.default
        if text is not None and name not in numbers:
            fault = _no_whole_number(name, text, numbers, settings)
            if fault is not None:
                report(fault)
    for name, given in settings.numbers.items():
        defined = spec.dims[name].value
        if defined is None:
            continue
        where, span = settings.origins.get(name, (f"{name} = {given}", NOWHERE))
        notes = [(where, span), (f"{name} is defined as {defined.value}", defined.span)]
        try:
            names = sorted(parse(defined.value).free)
        except DimError:
            continue
        notes += [settings.origins[n] for n in names if n in settings.origins]
        missing = [n for n in names if n not in numbers]
        at = span if span.line else spec.span
        if missing:
            report(
                Fault(
                    "definition-broken",
                    f"'{name}' is defined as {defined.value}, so it cannot be given by itself",
                    at,
                    found=f"{name} = {given}",
                    expected=f"{name} = {defined.value}",
                    hint=f"give {', '.join(missing)} instead",
                    notes=tuple(notes),
                )
            )
            continue
        right = _evaluate(defined.value, numbers)
        if right != given:
            shown = str(right) if right is not None else "not a whole number"
            report(
                Fault(
                    "definition-broken",
                    f"{name} = {defined.value} does not hold: {given} != {shown}",
                    at,
                    found=f"{name} = {given}",
                    expected=f"{defined.value} = {shown}",
                    notes=tuple(notes),
                )
            )
    return numbers


def _no_whole_number(
    name: str, text: Text, numbers: Mapping[str, int], settings: Settings
) -> Fault | None:
    """The fault of a definition whose names are all known but that gives no positive integer."""
    try:
        dim = parse(text.value)
    except DimError:
        return None
    if not dim.free <= numbers.keys():
        return None
    hint, shown = "", "not a positive integer"
    try:
        shown = str(dim.evaluate(numbers))
    except DimError as error:
        shown = error.message
        hint = error.hint
        for above, below in dim.divisions:
            top, bottom = above.evaluate(numbers), below.evaluate(numbers)
            if bottom > 0 and top % bottom:
                near = " and ".join(str(n) for n in nearest_multiples(top, bottom) if n)
                hint = f"the nearest good values of {above} are {near}"
                break
    at = f" for config '{settings.config}'" if settings.config is not None else ""
    known = [settings.origins[n] for n in sorted(dim.free) if n in settings.origins]
    return Fault(
        "no-whole-number",
        f"{name} = {text.value} is no size{at}: {shown}",
        next((span for _, span in known if span.line), text.span),
        path=f"dims.{name}",
        found=shown,
        expected=f"a positive integer for {name}",
        hint=hint,
        notes=(*known, (f"{name} = {text.value} is stated here", text.span)),
    )


def shown_by_configs(spec: Spec, condition: Condition) -> bool:
    """Whether the configs settle ``condition``: some give all of its names a number, and it holds
    in each of those."""
    found = []
    for name in spec.configs:
        try:
            settings = resolve_settings(spec, config=name)
        except DiagramError:
            continue  # told by the check of the config
        numbers = known_numbers(spec, settings, lambda fault: None)
        if condition.free <= numbers.keys():
            try:
                found.append(condition.evaluate(numbers))
            except DimError:
                found.append(False)
    return bool(found) and all(found)


def _evaluate(text: str, numbers: Mapping[str, int]) -> int | None:
    try:
        dim = parse(text)
        return dim.evaluate(numbers) if dim.free <= numbers.keys() else None
    except DimError:
        return None
