"""Small sizes by chance that keep every relation of a spec: for runs that name none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from random import Random
from types import MappingProxyType

from transformer_diagrams.dims import Condition, Dim, DimError, parse, parse_condition
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.graph.check import Inferences
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.lengths import LENGTHS, Lengths
from transformer_diagrams.graph.options import Settings, known_numbers
from transformer_diagrams.ops.arrays import Array, np
from transformer_diagrams.run.prepare import framed
from transformer_diagrams.spec.model import DimSpec, Spec

_TRIES, _STEPS = 40, 400
_LARGE = 64  # a default from here on is for a real model
_SMALL = 16  # as far as sizes are made smaller once more


def chosen(
    inferences: Inferences, settings: Settings, seed: int = 0, *, loose: bool = False
) -> tuple[Frame, Settings]:
    """Numbers for every size that has none, or only a large default; and the frame under them.

    ``loose``: half of the sizes that a default proposes have another number.

    :raises DiagramError: where none were found that keep what the spec states.
    """
    spec, random = inferences.spec, Random(f"{seed} {inferences.spec.id}")
    symbolic = inferences.under(Settings(settings.options))
    symbolic.report.raise_if_errors()
    assert symbolic.frame is not None
    # A real model keeps its sizes; only how long its text is, is anybody's choice.
    lengths = Lengths.of(symbolic.frame).text if settings.config is not None else spec.dims.keys()
    free = [
        name
        for name, dim in spec.dims.items()
        if (name not in settings.numbers and _is_open(dim, name in lengths))
        or (loose and dim.value is None and name not in LENGTHS and random.random() < 0.5)
    ]
    rules = [parse_condition(text.value) for text in spec.where]
    rules += [symbolic.outside(need.condition) for need in symbolic.needs]
    for name, dim in spec.dims.items():
        text = dim.value or (None if name in free else dim.default)
        if text is not None:
            rules += [Condition("|", below, above) for above, below in parse(text.value).divisions]
    rules = [rule for rule in dict.fromkeys(rules) if rule.free <= spec.dims.keys()]
    last: DiagramError | None = None
    for _ in range(_TRIES if free else 1):
        drawn = {name: _first(name, random) for name in free}
        numbers = _kept(drawn, rules, inferences, settings, random)
        _shrink(numbers, rules, inferences, settings)
        found = replace(settings, numbers=MappingProxyType({**settings.numbers, **numbers}))
        try:
            return framed(inferences, found), found
        except DiagramError as error:
            last = error
    assert last is not None
    raise last


def _is_open(dim: DimSpec, may_shrink: bool) -> bool:
    if dim.value is not None or dim.default is None:
        return dim.value is None
    size = parse(dim.default.value)
    return may_shrink and size.is_const and size.evaluate({}) >= _LARGE


def stated_by(spec: Spec, given: Mapping[str, Array]) -> dict[str, int]:
    """The sizes that the shapes of inputs show: axes that are stated as a bare name."""
    found: dict[str, int] = {}
    for name, value in given.items():
        texts = spec.inputs[name].shape if name in spec.inputs else None
        shape = np.shape(value)
        for text, size in zip(reversed(texts or ()), reversed(shape), strict=False):
            dim = spec.dims.get(text.value)
            if dim is not None and dim.value is None and size > 0:
                found.setdefault(text.value, size)
    return found


def _first(name: str, random: Random) -> int:
    """A first guess: widths are even, heads are few, turns are two or three."""
    if name in ("d_t", "d_s"):
        return random.randint(3, 6)
    if name.startswith("d_"):
        return random.choice((4, 6, 8, 12))
    if name.startswith("L"):
        return random.randint(2, 4)
    if name.startswith("V"):
        return random.randint(7, 13)
    return random.choice((2, 2, 3, 4) if name.startswith("n_") else (1, 2, 2, 3))


def _kept(
    numbers: dict[str, int],
    rules: list[Condition],
    inferences: Inferences,
    settings: Settings,
    random: Random,
) -> dict[str, int]:
    """``numbers``, changed one by one where a relation does not hold."""
    for _ in range(_STEPS):
        given = replace(settings, numbers={**settings.numbers, **numbers})
        known = known_numbers(inferences.spec, given, lambda fault: None)
        broken = [rule for rule in rules if not _holds(rule, known)]
        if not broken:
            break
        rule = random.choice(broken)
        names = sorted(_reached(rule.free, inferences) & numbers.keys())
        if not names:
            break
        name = random.choice(names)
        numbers[name] = _mended(name, rule, known, numbers[name], random)
    return numbers


def _shrink(
    numbers: dict[str, int], rules: list[Condition], inferences: Inferences, settings: Settings
) -> None:
    """Make what has become large as small as the relations let it be."""
    for name, number in numbers.items():
        for less in range(_SMALL, number):
            given = {**settings.numbers, **numbers, name: less}
            known = known_numbers(
                inferences.spec, replace(settings, numbers=given), lambda fault: None
            )
            if all(_holds(rule, known) for rule in rules):
                numbers[name] = less
                break


def _reached(names: frozenset[str], inferences: Inferences) -> set[str]:
    """``names`` and those that their definitions and defaults are made of."""
    found, todo = set[str](), [*names]
    while todo:
        name = todo.pop()
        if name in found or name not in inferences.spec.dims:
            continue
        found.add(name)
        dim = inferences.spec.dims[name]
        for text in (dim.value, dim.default):
            todo += [] if text is None else parse(text.value).free
    return found


def _holds(rule: Condition, known: Mapping[str, int]) -> bool:
    if not rule.free <= known.keys():
        return False
    try:
        parts = chain(rule.left.divisions, rule.right.divisions)
        whole = all(a.evaluate(known) % b.evaluate(known) == 0 for a, b in parts)
        return whole and rule.evaluate(known)
    except (DimError, ZeroDivisionError):
        return False


def _mended(
    name: str, rule: Condition, known: Mapping[str, int], now: int, random: Random
) -> int:
    """Another number for a size that a broken relation speaks of."""
    left, right = (_value(side, known) for side in (rule.left, rule.right))
    tries = [_first(name, random), now + 1, max(1, now - 1), 2 * now]
    if rule.op == "|" and left and name in rule.right.free:
        tries += [left, 2 * left, now * left]
    elif rule.op == "|" and right and name in rule.left.free:
        tries += [n for n in (1, 2, 3, 4) if right % n == 0]
    elif rule.op != "|":
        other = right if name in rule.left.free else left
        tries += [max(1, n) for n in (other - 1, other, other + 1) if other]
    return min(random.choice(tries), 512)


def _value(size: Dim, known: Mapping[str, int]) -> int:
    try:
        return size.evaluate(known) if size.free <= known.keys() else 0
    except DimError:
        return 0
