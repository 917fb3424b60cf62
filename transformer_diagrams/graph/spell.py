"""How the sizes of a spec are spelt: its own names and formulas, in its own order.

Inside a used spec a size keeps the name that this spec has for it, where it was bound to a plain
name and the name means nothing else in the whole; else it has the name of the outermost spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from transformer_diagrams.dims import Dim, DimError, Facts, Speller
from transformer_diagrams.graph.options import Settings
from transformer_diagrams.graph.scope import Scope, parse_cached
from transformer_diagrams.spec.blocks import walk
from transformer_diagrams.spec.model import Block, Spec

_LONGEST = 400  # characters of a formula that somebody reads


def root_speller(scope: Scope, tex: Mapping[str, str], definitions: Mapping[str, Dim]) -> Speller:
    """The speller of the outermost spec. ``tex`` may grow while the spec is read."""
    return Speller(
        scope.spec.dims,
        tex=tex,
        definitions=definitions,
        written=_written(scope),
        facts=_facts(scope),
    )


def part_speller(
    scope: Scope,
    outer: Scope,
    tex: Mapping[str, str],
    definitions: Mapping[str, Dim],
    claim: Callable[[str, Dim], bool],
) -> Speller:
    """The speller inside of a used spec. ``definitions`` are those of its names and around it."""
    return Speller(
        [name for d in scope.env.values() if (name := d.name) is not None] + list(outer.env),
        tex=tex,
        called={theirs: own for own, theirs in _own_names(scope) if claim(own, scope.env[own])},
        definitions=definitions,
        written=_written(scope),
        facts=_facts(scope),
    )


def _own_names(scope: Scope) -> Iterator[tuple[str, str]]:
    """(name here, name outside) of the sizes that were given another plain name."""
    given: dict[str, list[str]] = {}
    for own, bound in scope.bound.items():
        theirs = scope.env[own].name
        if theirs is not None and bound in ("with", "name", "shape"):
            given.setdefault(theirs, []).append(own)
    for theirs, names in given.items():
        if len(names) == 1 and names[0] != theirs:
            yield names[0], theirs


def proposed(spec: Spec, settings: Settings) -> dict[str, Dim]:
    """Defaults that hold wherever the figure does: no config and no setting says otherwise."""
    said = {name for config in spec.configs.values() for name in config.dims}
    found = {}
    for name, dim in spec.dims.items():
        if dim.default is not None and name not in said and name not in settings.numbers:
            found[name] = parse_cached(dim.default.value)
    return found


def _facts(scope: Scope) -> Callable[[], Facts]:
    return lambda: scope.facts


def _written(scope: Scope) -> Callable[[], Iterator[tuple[str, Dim, Mapping[str, str]]]]:
    """The formulas of the spec, those of which every name is a plain name in the figure."""

    def found() -> Iterator[tuple[str, Dim, Mapping[str, str]]]:
        names = {own: d.name for own, d in scope.env.items() if d.name is not None}
        whole = [t for t in dict.fromkeys(_texts(scope.spec)) if _may_be_formula(t)]
        parts = [part for text in whole for part in _in_parentheses(text)]
        for text in (*whole, *parts):
            try:
                local = parse_cached(text)
            except DimError:
                continue
            if local.free and local.free <= names.keys():
                yield text, scope.put(local), names

    return found


def _may_be_formula(text: str) -> bool:
    return len(text) <= _LONGEST and not (text.isidentifier() or text.isdigit())


def _in_parentheses(text: str) -> Iterator[str]:
    """``2 (a + b) (c + 1)`` -> ``a + b``, ``c + 1``: such a sum also stands alone somewhere."""
    opened: list[int] = []
    for at, character in enumerate(text):
        if character == "(":
            opened.append(at + 1)
        elif character == ")" and opened:
            yield text[opened.pop() : at]


def _texts(spec: Spec) -> Iterator[str]:
    """Whatever may be a formula, in the order of the file; the shapes first."""
    for port in (*spec.inputs.values(), *spec.outputs.values()):
        yield from (text.value for text in port.shape or ())
    for block in walk(spec.blocks):
        yield from _of_block(block)
    for dim in spec.dims.values():
        yield from (text.value for text in (dim.value, dim.default) if text is not None)


def _of_block(block: Block) -> Iterator[str]:
    shape = block.shape or ()
    for texts in [shape] if isinstance(shape, tuple) else shape.values():
        yield from (text.value for text in texts)
    yield from (text.value for text in (block.count, block.stack, block.copies) if text is not None)
    for value in (*block.attrs.values(), *block.bind.values()):
        yield from value.texts
