"""All counts of one spec under one setting, with their definitions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from transformer_diagrams.count import cache as cache_rules
from transformer_diagrams.count import flops as flop_rules
from transformer_diagrams.count import params as param_rules
from transformer_diagrams.count.amount import Amount, Amounts
from transformer_diagrams.count.blocks import Counts, count_blocks
from transformer_diagrams.count.cache import Cache, count_cache
from transformer_diagrams.count.flops import (
    CAUSAL,
    CONVENTIONS,
    DEFAULT_LENGTH,
    DENSE,
    PASSES,
    TRAIN,
)
from transformer_diagrams.count.memory import Memory, memory
from transformer_diagrams.count.params import Params, count_params
from transformer_diagrams.count.tally import Counter
from transformer_diagrams.dims import Dim, DimError, Speller
from transformer_diagrams.dims.order import in_order
from transformer_diagrams.errors import NOWHERE, DiagramError, Fault, Report
from transformer_diagrams.graph.check import Inferences
from transformer_diagrams.graph.infer import Library
from transformer_diagrams.graph.lengths import LENGTHS, Lengths
from transformer_diagrams.graph.options import (
    OptionValue,
    Settings,
    known_numbers,
    positive_integer,
    resolve_settings,
)
from transformer_diagrams.graph.scope import parse_cached, parse_condition_cached
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Spec

NONE: Mapping[str, Any] = MappingProxyType({})
_MOST_DOUBLINGS = 21  # lengths up to a million positions


@dataclass(frozen=True, slots=True)
class Inspection:
    """Parameters, KV cache and FLOPs of a spec. ``numbers`` are the sizes they hold for.

    ``flops`` and ``macs`` are counted by ``convention``: dense, causal or train. ``blocks`` is
    the tree of what each block counts, and ``memory`` the bytes, where they were asked for.
    """

    id: str
    title: str
    config: str | None
    numbers: Mapping[str, int]
    options: Mapping[str, OptionValue]
    params: Params
    kv_cache: Cache
    flops: Amount
    macs: Amount
    convention: str
    length: int | None
    speller: Speller  # how its formulas are spelt
    missing: tuple[str, ...]  # sizes without a number; what depends on them is None
    blocks: Counts | None = None
    memory: Memory | None = None

    @property
    def positions(self) -> int | None:
        """How many positions the FLOPs are for, where that is known."""
        return self.length or self.numbers.get("d_t")

    def as_json(self) -> dict[str, Any]:
        """Plain data; a count is null while a size it needs has no number."""
        params, cached = self.params, self.kv_cache
        return {
            "id": self.id,
            "title": self.title,
            "config": self.config,
            "sizes": dict(self.numbers),
            "options": dict(self.options),
            "missing": list(self.missing),
            "params": {
                "total": params.total.number,
                "active": params.active.number,
                "trainable": params.trainable.number,
                "frozen": params.frozen.number,
                "averaged": params.averaged.number,
                "by_role": {role: a.number for role, a in params.by_role.items()},
                "formula": str(params.total.formula),
                "active_formula": str(params.active.formula),
                "by_role_formula": {r: str(a.formula) for r, a in params.by_role.items()},
                "unit": "weights",
                "definition": param_rules.DEFINITIONS["total"],
                "definitions": dict(param_rules.DEFINITIONS),
            },
            "kv_cache": {
                "per_token": cached.per_token.number,
                "per_layer": cached.per_layer.number if cached.per_layer is not None else None,
                "growth": cached.growth.number,
                "capped": cached.capped.number,
                "per_source_token": cached.per_source_token.number,
                "fixed": cached.fixed.number,
                "total": cached.total.number,
                "length": cached.length.number if cached.length is not None else None,
                "layers": [
                    {
                        "path": layer.path,
                        "elements": layer.elements.number,
                        "formula": str(layer.elements.formula),
                        "per_source_token": layer.per_source_token.number,
                        "fixed": layer.fixed.number,
                        "window": None if layer.window is None else layer.window.number,
                        "total": layer.total.number,
                        "total_formula": str(layer.total.formula),
                        "layers": layer.times.number,
                        "layers_formula": str(layer.times.formula),
                    }
                    for layer in cached.layers
                ],
                "formula": str(cached.per_token.formula),
                "per_layer_formula": str(cached.per_layer.formula)
                if cached.per_layer is not None
                else None,
                "growth_formula": str(cached.growth.formula),
                "capped_formula": str(cached.capped.formula),
                "per_source_token_formula": str(cached.per_source_token.formula),
                "fixed_formula": str(cached.fixed.formula),
                "total_formula": str(cached.total.formula),
                "unit": "elements",
                "definition": cache_rules.DEFINITIONS["per_token"],
                "definitions": dict(cache_rules.DEFINITIONS),
            },
            "flops": {
                "forward": self.flops.number,
                "macs": self.macs.number,
                "convention": self.convention,
                "length": self.positions,
                "formula": str(self.flops.formula),
                "macs_formula": str(self.macs.formula),
                "unit": flop_rules.UNIT,
                "definition": flop_rules.DEFINITIONS["forward"],
                "definitions": {
                    **flop_rules.DEFINITIONS,
                    "convention": CONVENTIONS[self.convention],
                },
            },
            **({"memory": self.memory.as_json()} if self.memory is not None else {}),
            **({"blocks": self.blocks.as_json()} if self.blocks is not None else {}),
        }


def inspect(
    of: Spec | Inferences,
    library: Library | None = None,
    *,
    config: str | None = None,
    overrides: Mapping[str, object] = NONE,
    length: int | None = None,
    convention: str = DENSE,
    by_block: bool = False,
    dtypes: Mapping[str, str] | None = None,
    batch: int = 1,
    mode: str = "all",
) -> Inspection:
    """Count a spec under ``config`` with ``overrides`` (sizes and options, as `--set`).

    ``length`` is the number of positions (``d_t``, whatever the config says, and, unless bound
    otherwise, ``d_s``; in a spec without these, the one size that counts those of the text) that
    the FLOPs and the total of the cache are for; default 1024. ``convention`` says what work is
    counted (see `flops.CONVENTIONS`). ``by_block`` asks for the counts of each block too, and
    ``dtypes`` (of weights and cache, see `memory.read_dtypes`) for the bytes of them and of the
    caches of ``batch`` sequences. With a ``mode``, train or inference, what is not there at that
    time does not count. A size with a definition may only be set to an equal number.

    :raises DiagramError: a fault in the spec, in a name or in a value.
    """
    inferences = Inferences.of(of, library)
    spec = inferences.spec
    settings = resolve_settings(spec, config=config, overrides=overrides)
    if length is not None and positive_integer(length) is None:
        raise DiagramError(
            Fault("bad-value", "the length must be a positive integer", found=str(length))
        )
    if convention not in CONVENTIONS:
        raise DiagramError(
            Fault(
                "bad-value",
                "there is no such convention of counting FLOPs",
                found=convention,
                expected=" or ".join(CONVENTIONS),
            )
        )
    names = [name for name in LENGTHS if name in spec.dims] or _text(inferences, settings)
    if length is not None:
        settings = _without_lengths(spec, settings, names, overrides)
    settings, used_length = _with_length(spec, settings, length, names)
    report = Report()
    numbers = known_numbers(spec, settings, report.add)
    report.raise_if_errors()
    # The numeric run checks the divisions; the symbolic one gives the formulas.
    inferences.under(settings, numeric=True).report.raise_if_errors()
    found = inferences.under(settings)
    found.report.raise_if_errors()
    assert found.frame is not None  # no errors, so everything is known
    defaults = _defaults(spec, settings)
    speller = found.frame.scope.speller.with_defaults(defaults)
    evaluate = Amounts(spec, found.reduce, defaults, numbers, speller)
    try:
        counter = Counter(half=convention == CAUSAL, training=convention == TRAIN, mode=mode)
        passes = PASSES[convention]
        tally = counter.tally(found.frame)
        params = count_params(spec, tally, evaluate)
        cached = count_cache(found.frame, tally, evaluate)
        flops, macs = evaluate(tally.flops * passes), evaluate(tally.macs * passes)
        blocks = count_blocks(found.frame, counter, evaluate, passes) if by_block else None
    except DimError as error:
        raise DiagramError(
            Fault(
                "counts-too-large",
                f"'{spec.id}' cannot be counted: {error.message}",
                spec.blocks[0].span,
                path="blocks",
                hint="use fewer different sizes, or give them numbers",
            )
        ) from error
    missing = dict.fromkeys(name for a in (params.total, cached.total, flops) for name in a.missing)
    return Inspection(
        spec.id,
        spec.title,
        config,
        MappingProxyType({name: numbers[name] for name in spec.dims if name in numbers}),
        settings.options,
        params,
        cached,
        flops,
        macs,
        convention,
        used_length,
        speller,
        tuple(sorted(missing)),
        blocks,
        memory(params.total, cached.total, dtypes, batch) if dtypes is not None else None,
    )


def _text(inferences: Inferences, settings: Settings) -> list[str]:
    """The size that counts the positions of the text, where there is one such and no ``d_t``."""
    frame = inferences.under(settings).frame
    names = Lengths.of(frame).text if frame is not None else frozenset()
    return [name for name in names if name in inferences.spec.dims] if len(names) == 1 else []


def _without_lengths(
    spec: Spec, settings: Settings, names: list[str], overrides: Mapping[str, object]
) -> Settings:
    """``settings`` in which the config says nothing of the length that is asked for.

    :raises DiagramError: it cannot be had: no size counts positions, or this one is fixed.
    """
    name = names[0] if names else ""
    if not name or name in overrides or spec.dims[name].value is not None:
        why = (
            f"'{name}' is set by hand" if name in overrides
            else f"'{name}' has a definition" if name
            else f"no one size of '{spec.id}' counts the positions of a text"
        )
        raise DiagramError(
            Fault(
                "bad-value",
                f"no length can be asked for: {why}",
                found="a length",
                hint="leave out one of the two" if name in overrides
                else "set the sizes themselves, e.g. by --set NAME=VALUE",
            )
        )
    numbers = {other: number for other, number in settings.numbers.items() if other != name}
    return replace(settings, numbers=MappingProxyType(numbers))


def _with_length(
    spec: Spec, settings: Settings, length: int | None, names: list[str]
) -> tuple[Settings, int | None]:
    """Numbers for the sizes that count positions, where nothing else fixes them."""
    added: dict[str, int] = {}
    for name in names:
        dim = spec.dims[name]
        if name in settings.numbers or dim.value is not None:
            continue
        if name not in LENGTHS and length is None:
            continue  # only asked for by name
        default = None if dim.default is None else parse_cached(dim.default.value).as_int()
        if length is None and dim.default is not None and default is None:
            continue
        if dim.default is not None and name != "d_t" and "d_t" in spec.dims:
            continue  # follows from d_t by its default
        known = known_numbers(spec, replace(settings, numbers={**settings.numbers, **added}), _mute)
        proposed = {**added, name: default or known.get("d_t", DEFAULT_LENGTH)}
        wanted = length or _allowed(spec, settings, proposed, name)
        if wanted != default or length is not None:
            added[name] = wanted
    numbers = MappingProxyType({**settings.numbers, **added})
    used = next((numbers[name] for name in names if name in numbers), None)
    asked = "the length asked for" if length is not None else "the length when none is asked for"
    notes = {name: (f"{name} = {number}, {asked}", NOWHERE) for name, number in added.items()}
    origins = MappingProxyType({**settings.origins, **notes})
    return replace(settings, numbers=numbers, origins=origins), used


def _allowed(spec: Spec, settings: Settings, numbers: dict[str, int], name: str) -> int:
    """``numbers[name]``, a length that nobody asked for, or the nearest that `where` allows: a
    power of two or a size that has a number, smaller rather than larger."""
    start = numbers[name]
    conditions = [parse_condition_cached(text.value) for text in spec.where]

    def fits(length: int) -> bool:
        tried = replace(settings, numbers={**settings.numbers, **numbers, name: length})
        known = known_numbers(spec, tried, _mute)
        if name == "d_t" and "d_s" in settings.numbers and length > settings.numbers["d_s"]:
            return False  # the new positions are among all of them
        for condition in conditions:
            if condition.free <= known.keys():
                with suppress(DimError):
                    if not condition.evaluate({n: known[n] for n in condition.free}):
                        return False
        return True

    if fits(start):
        return start
    powers = [2**n for n in range(_MOST_DOUBLINGS)]
    sizes = known_numbers(spec, settings, _mute).values()
    below = sorted({n for n in (*powers, *sizes) if n < start}, reverse=True)
    return next((n for n in (*below, *powers) if fits(n)), start)


def _mute(fault: Fault) -> None:
    """For a try: what is wrong is told of the numbers that are taken in the end."""


def _defaults(spec: Spec, settings: Settings) -> dict[str, Dim]:
    """Defaults that a formula may put in: those of sizes that no setting fixes.

    A length that is proposed as a number stays a name: formulas are for any length.
    """
    found = {}
    for name, dim in spec.dims.items():
        if dim.default is None or dim.value is not None or name in settings.numbers:
            continue
        default = parse_cached(dim.default.value)
        if not (name in LENGTHS and default.is_const):
            found[name] = default
    for name in in_order({name: sorted(default.free) for name, default in found.items()})[0]:
        put = {other: found[other] for other in sorted(found[name].free & found.keys() - {name})}
        with suppress(DimError):  # too large: left as it is
            found[name] = found[name].subs(put)
    return found
