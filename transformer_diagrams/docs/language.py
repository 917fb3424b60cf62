"""The keys of the spec language as tables, from the table that the loader reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from transformer_diagrams import choices
from transformer_diagrams.docs.markdown import code, codes, table
from transformer_diagrams.ops import registry
from transformer_diagrams.roles import ROLES
from transformer_diagrams.spec import grammar
from transformer_diagrams.spec.grammar import Key

# What the value of a key may be, by the key's kind.
VALUES: Mapping[str, str] = {
    "name": "a name",
    "text": "text",
    "texts": "a list of texts",
    "label": "text with `$TeX$`",
    "title": "text with `$TeX$`",
    "bool": "`true` or `false`",
    "id": "an id",
    "ids": "an id, or a list of ids",
    "ref": "a reference: `id`, `id.port` or the name of an input",
    "output-ref": "a reference: `id`, `id.port` or the name of an input",
    "block-ref": "the id of a block",
    "sources": "a reference, a list of them, or port: reference",
    "year": "a year",
    "folds": f"a number from 0 to {choices.MOST_FOLDS}",
    "accent": f"a number from 1 to {choices.ACCENTS}",
    "step": f"a number from 1 to {grammar.MOST_STEPS}",
    "ratio": "width and height, `16:9`",
    "spec-ref": "an id or a path",
    "spec-refs": "a list of ids",
    "config-name": "the name of a config",
    "theme": "a bundled theme, or the path of a theme file",
    "dim": "a size",
    "size": "a size",
    "dims": "name: meaning, or name: mapping",
    "conditions": "a list of relations",
    "options": "name: mapping",
    "option-value": "`true`, `false` or one of `choices`",
    "choices": "a list of words",
    "configs": "name: sizes and options",
    "source": "a mapping",
    "show": "a mapping",
    "inputs": "name: shape, or name: mapping",
    "outputs": "name: shape, or name: mapping",
    "blocks": "a list of blocks",
    "shape": "a list of sizes",
    "shapes": "a shape, or port: shape",
    "switch": "a condition on options",
    "open": "`true`, `false` or `callout`",
    "bindings": "name: size or option value",
    "spans": "a list of mappings",
    "span-end": "the id of a block",
    "claims": "a list of mappings",
    "claimed": "an id or a path",
    "renames": "name there: name here",
    "matches": "name there: text, or a list of texts",
    "branches": "a list of block lists, or name: block list",
    "columns": "a list of columns",
    "pattern": "a list of entries",
    "turns": "a relation, or a list of them",
}


def value_of(key: Key) -> str:
    """In words, what a key takes."""
    return codes(key.choices) if key.kind == "choice" else VALUES[key.kind]


def keys(given: Mapping[str, Key]) -> str:
    """A table of keys."""
    rows = [
        [code(key.name), value_of(key), key.doc + (" **Required.**" if key.required else "")]
        for key in given.values()
    ]
    return table(["key", "value", "meaning"], rows)


def _structures(_: Path) -> str:
    rows = []
    for kind, known in grammar.STRUCTURES.items():
        own = [key for key in known.values() if key.name not in grammar.COMMON]
        rows += [
            [code(kind) if key.name == kind else "", code(key.name), value_of(key), key.doc]
            for key in own
        ]
    for what, known in (("a column", grammar.COLUMN), ("an entry of a pattern", grammar.LAYER)):
        own = [key for key in known.values() if key.name not in grammar.COMMON]
        rows += [
            [what if n == 0 else "", code(key.name), value_of(key), key.doc]
            for n, key in enumerate(own)
        ]
    return table(["structure", "key", "value", "meaning"], rows)


def _roles(_: Path) -> str:
    rows = ([code(name), role.meaning] for name, role in ROLES.items())
    return table(["role", "what it dresses"], rows)


def _param_roles(_: Path) -> str:
    rows = [[code(name), text] for name, text in registry.PARAM_ROLES.items() if name]
    return table(["parameter role", "weights"], rows)


def _keys_of(given: Mapping[str, Key]) -> Callable[[Path], str]:
    return lambda _: keys(given)


PARTS: Mapping[str, Callable[[Path], str]] = {
    "keys-top": _keys_of(grammar.TOP),
    "keys-source": _keys_of(grammar.SOURCE),
    "keys-dim": _keys_of(grammar.DIM),
    "keys-claim": _keys_of(grammar.CLAIM),
    "keys-option": _keys_of(grammar.OPTION),
    "keys-input": _keys_of(grammar.INPUT),
    "keys-output": _keys_of(grammar.OUTPUT),
    "keys-show": _keys_of(grammar.SHOW),
    "keys-span": _keys_of(grammar.SPAN),
    "keys-common": _keys_of(grammar.COMMON),
    "keys-reference": _keys_of(grammar.REF),
    "keys-structures": _structures,
    "roles": _roles,
    "parameter-roles": _param_roles,
}
