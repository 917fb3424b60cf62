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
from transformer_diagrams.ops.registry import is_constant
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
    constants: Mapping[str, Any] = field(default_factory=lambda: EMPTY)  # selector -> value


def default_options(spec: Spec) -> dict[str, OptionValue]:
    """Every option of ``spec`` at its default."""
    return {name: option.default for name, option in spec.options.items()}


def resolve_settings(
    spec: Spec, *, config: str | None = None, overrides: Mapping[str, object] = EMPTY
) -> Settings:
    """Options and numbers of ``spec`` under ``config`` with ``overrides`` on top.

    ``overrides`` mixes sizes and options, as ``--set`` does; a size's value is an integer or an
    expression without names ("4 * 1024"). What a config says has been judged by the loader.

    :raises DiagramError: unknown config or name (with the nearest), a value of the wrong kind.
    """
    if config is not None and config not in spec.configs:
        hint = did_you_mean(config, spec.configs, what="config") or "it has no configs"
        raise _refused("unknown-config", f"'{spec.id}' has no config '{config}'", config, hint)
    constants = {name: value for name, value in overrides.items() if is_constant(name)}
    if config is not None:
        kept = {name: each.value for name, each in spec.configs[config].constants.items()}
        constants = {**kept, **constants}
    overrides = {name: value for name, value in overrides.items() if name not in constants}
    given = [(name, value, "set by hand", NOWHERE) for name, value in overrides.items()]
    if config is not None:
        chosen = {**spec.configs[config].dims, **spec.configs[config].options}
        where = f"config '{config}'"
        given = [(n, each.value, where, each.span) for n, each in chosen.items()] + given
    options, numbers = default_options(spec), dict[str, int]()
    origins: dict[str, tuple[str, Span]] = {}
    for name, value, where, span in given:
        if name in spec.options:
            options[name] = _chosen(spec.options[name], value)
        elif name in spec.dims:
            numbers[name] = _number(name, value)
            origins[name] = (f"{name} = {numbers[name]}, {where}", span)
        else:
            hint = did_you_mean(name, [*spec.dims, *spec.options], what="name", most=20)
            words = f"'{spec.id}' has no size or option '{name}'"
            raise _refused("unknown-name", words, name, hint)
    return Settings(
        MappingProxyType(options), MappingProxyType(numbers), MappingProxyType(origins), config,
        MappingProxyType(constants),
    )


def _refused(code: str, message: str, found: object, hint: str) -> DiagramError:
    return DiagramError(Fault(code, message, found=str(found), hint=hint))


def _chosen(option: OptionSpec, given: object) -> OptionValue:
    value = option_value(option, given)
    if value is None:
        hint = did_you_mean(str(given), _legal(option), what="value")
        message = f"option {option.name} cannot be '{given}'"
        raise _refused("bad-option", message, given, hint)
    return value


def _number(name: str, given: object) -> int:
    number = positive_integer(given)
    if number is None:
        hint = "a size is a whole number from 1 up"
        raise _refused("bad-option", f"{name} cannot be '{given}'", given, hint)
    return number


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


def _legal(option: OptionSpec) -> tuple[str, ...]:
    return option.choices or ("true", "false")


def bad_option(option: OptionSpec, given: object, span: Span, path: str) -> Fault:
    """The fault for a value that ``option`` does not take."""
    legal = _legal(option)
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
        names = free_names(defined)
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
    dim = parse(text.value)
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
        settings = resolve_settings(spec, config=name)
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
