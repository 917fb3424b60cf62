"""The JSON Schema of a spec (draft 2020-12): the grammar's table plus the op registry.

For editors: completion, hover texts and checking while typing. The loader does not use it; it
reads the same table, and a test holds the two to the same verdicts. What a schema cannot say
(unique ids, references, expressions) only the loader checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from transformer_diagrams.bundled import bundled_specs
from transformer_diagrams.choices import ACCENTS, MOST_FOLDS
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.registry import Attr
from transformer_diagrams.spec.grammar import (
    CLAIM,
    COLUMN,
    COMMON,
    DIM,
    DIM_NAME_PATTERN,
    ID_PATTERN,
    INPUT,
    KINDS,
    LAYER,
    LEAD_PATTERN,
    LONGEST_LABEL,
    LONGEST_TEXT,
    MOST_STEPS,
    OP,
    OP_KEY,
    OPTION,
    OUTPUT,
    RATIO_PATTERN,
    REF,
    REF_PATTERN,
    SHOW,
    SOURCE,
    SPAN,
    STRUCTURES,
    TOP,
    Key,
    attr_key,
)

Schema = dict[str, Any]

_ID: Final[Schema] = {"type": "string", "pattern": f"^{ID_PATTERN}$"}
_REF: Final[Schema] = {"type": "string", "pattern": f"^{REF_PATTERN}$"}
_NOT_BOOLEANS: Final = ("yes", "no", "on", "off", "y", "n", "true", "false")
_OPTION_NAME: Final[Schema] = {
    **_ID,
    "not": {"enum": list(_NOT_BOOLEANS)},
    "description": "The name of an option, whose value it takes.",
}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _text(most: int) -> Schema:
    # Numbers are text too: they stay what was typed.
    return {"type": ["string", "number"], "maxLength": most}


def _array(items: Schema, *, least: int = 0) -> Schema:
    return {"type": "array", "items": items, **({"minItems": least} if least else {})}


def _any_names(value: Schema, *, names: Schema | None = None) -> Schema:
    return {
        "type": "object",
        **({"propertyNames": names} if names else {}),
        "additionalProperties": value,
    }


def _mapping(keys: Mapping[str, Key]) -> Schema:
    """A mapping with exactly these keys."""
    required = [key.name for key in keys.values() if key.required]
    return {
        "type": "object",
        "properties": {name: _described(key) for name, key in keys.items()},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _described(key: Key) -> Schema:
    return {"description": key.doc, **_value(key)}


def _value(key: Key) -> Schema:
    """The schema of a key's value, by its kind; one entry for each kind of the grammar."""
    if key.kind == "choice":
        return {"enum": list(key.choices)}
    if key.kind in ("label", "text"):
        longest = key.most or (LONGEST_LABEL if key.kind == "label" else LONGEST_TEXT)
        return _text(longest)
    return dict(_BY_KIND[key.kind])


_EXPRESSION: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": LONGEST_LABEL}
_VALUE: Final[Schema] = {  # of a size or an option, whose kind is declared elsewhere
    "type": ["string", "integer", "boolean"],
    "minLength": 1,
    "maxLength": LONGEST_LABEL,
    "minimum": 1,
}
_PORTS: Final = {
    "inputs": _any_names({"anyOf": [_ref("shape"), _ref("input")]}, names=_ID),
    "outputs": _any_names({"anyOf": [_ref("shape"), _ref("output")]}, names=_ID),
}

_BY_KIND: Final[Mapping[str, Schema]] = {
    "title": {**_text(LONGEST_LABEL), "minLength": 1},
    "name": {**_text(LONGEST_TEXT), "minLength": 1},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "id": _ID,
    "ids": {"anyOf": [_ID, _array(_ID, least=1)]},
    "ref": _REF,
    "output-ref": _REF,
    "block-ref": _ID,
    "span-end": _ID,
    "spans": _array(_ref("span"), least=1),
    "year": {"type": "integer", "minimum": 1800, "maximum": 2200},
    "folds": {"type": "integer", "minimum": 0, "maximum": MOST_FOLDS},
    "accent": {"type": "integer", "minimum": 1, "maximum": ACCENTS},
    "step": {"type": "integer", "minimum": 1, "maximum": MOST_STEPS},
    "ratio": {
        "anyOf": [
            {"type": "string", "pattern": f"^{RATIO_PATTERN}$"},
            {"type": "number", "minimum": 0.01, "maximum": 100},
        ]
    },
    "texts": _array(_text(LONGEST_LABEL)),
    # An editor offers the bundled ids; any other id or path will do.
    "spec-ref": {"anyOf": [_ref("bundled"), {**_text(LONGEST_TEXT), "minLength": 1}]},
    "spec-refs": _array({**_text(LONGEST_LABEL), "minLength": 1}),
    "theme": {**_text(LONGEST_LABEL), "minLength": 1},
    "config-name": {**_text(LONGEST_LABEL), "minLength": 1},
    "dim": _ref("size"),
    "size": _ref("size"),
    "dims": _any_names(
        {"anyOf": [_text(LONGEST_TEXT), _ref("dim")]},
        names={"type": "string", "pattern": f"^{DIM_NAME_PATTERN}$"},
    ),
    "conditions": _array(_EXPRESSION),
    "turns": {"anyOf": [_EXPRESSION, _array(_EXPRESSION, least=1)]},
    "pattern": _array({"anyOf": [_ref("layer"), _ref("block")]}, least=1),
    "options": _any_names(_ref("option"), names=_ID),
    "option-value": {"type": ["boolean", "string"]},
    "choices": _array(_ID, least=1),
    "configs": _any_names(_ref("config")),
    "source": _ref("source"),
    "show": _ref("show"),
    **_PORTS,
    "blocks": _ref("blocks"),
    "sources": _ref("sources"),
    "shape": _ref("shape"),
    "shapes": {"anyOf": [_ref("shape"), _any_names(_ref("shape"))]},
    "switch": _EXPRESSION,
    "open": {"enum": [True, False, "callout"]},
    "bindings": _any_names(_VALUE),
    "claims": _array(_ref("claim")),
    "claimed": {**_text(LONGEST_LABEL), "minLength": 1},
    "renames": _any_names({**_text(LONGEST_LABEL), "minLength": 1}),
    "matches": _any_names(
        {
            "anyOf": [
                {**_text(LONGEST_LABEL), "minLength": 1},
                _array({**_text(LONGEST_LABEL), "minLength": 1}, least=1),
            ]
        }
    ),
    "branches": {
        "anyOf": [
            {"type": "array", "items": _array(_ref("block")), "minItems": 1},
            {**_any_names(_array(_ref("block")), names=_ID), "minProperties": 1},
        ]
    },
    "columns": _array(_ref("column"), least=1),
}


def _size(number: str = "integer", least: int | None = 1) -> Schema:
    return {
        "type": ["string", number],
        "minLength": 1,
        "maxLength": LONGEST_LABEL,
        "pattern": r"^(?!\.\.\.)",
        **({"minimum": least} if least is not None else {}),
    }


def _shape(size: Schema) -> Schema:
    return {
        "type": "array",
        "prefixItems": [{"anyOf": [size, {"type": "string", "pattern": f"^{LEAD_PATTERN}$"}]}],
        "items": size,
    }


_SIZE: Final[Schema] = {
    "description": "A size: a whole number, a name or an expression such as d_m / n_h.",
    **_size(),
}
_SHAPE: Final[Schema] = {
    "description": "Sizes of the axes; '...' or '...NAME' first stands for any leading axes.",
    **_shape(_ref("size")),
}
_OPTION: Final[Schema] = {
    **_mapping(OPTION),
    "if": {"required": ["choices"]},
    "then": {"properties": {"default": _ID}},
    "else": {"properties": {"default": {"type": "boolean"}}},
}


def _attr(attr: Attr) -> Schema:
    """The schema of an op's attribute; the name of an option may stand for the value."""
    if attr.kind in ("dim", "dims"):
        least = attr.least if attr.beside is None else min(attr.least or 0, attr.beside)
        size = _size("number" if (least or 0) < 1 else "integer", least)
        value = size if attr.kind == "dim" else _shape(size)
    else:
        value = _value(attr_key(attr))
    if attr.kind in ("bool", "enum"):
        value = {"anyOf": [value, _OPTION_NAME]}
    made: Schema = {"description": attr.doc, **value}
    if isinstance(attr.default, (bool, int, float, str)):
        made["default"] = attr.default
    elif attr.default is not None:
        made["default"] = str(attr.default)
    return made


def _common(names: Iterable[str]) -> Schema:
    return {name: _ref(f"key_{name.replace('-', '_')}") for name in names}


def _op(name: str) -> Schema:
    record = registry.get(name)
    attrs = {attr.name: _attr(attr) for attr in record.attrs}
    required = [attr.name for attr in record.attrs if attr.required]
    return {
        "description": record.summary,
        "type": "object",
        "properties": {
            "op": {"const": name, "description": record.summary},
            **attrs,
            **_common(key for key in OP if key not in attrs),
        },
        "required": ["op", *required],
        "additionalProperties": False,
    }


def _structure(keys: Mapping[str, Key]) -> Schema:
    own = {name: _described(key) for name, key in keys.items() if name not in COMMON}
    return {
        "type": "object",
        "properties": {**own, **_common(name for name in keys if name in COMMON)},
        "required": [key.name for key in keys.values() if key.required],
        "additionalProperties": False,
    }


def _block(names: list[str]) -> Schema:
    """A mapping that is a block: its kind first, then exactly the keys of that kind."""
    kinds = {
        "op": {
            "description": OP_KEY.doc,
            "enum": names,
            "enumDescriptions": [registry.get(name).summary for name in names],
        },
        **{kind: {"description": keys[kind].doc} for kind, keys in STRUCTURES.items()},
    }
    return {
        "type": "object",
        "properties": {
            **kinds,
            **{name: {"description": key.doc} for name, key in COMMON.items()},
        },
        "oneOf": [{"required": [kind]} for kind in KINDS],
        "allOf": [
            *(
                {
                    "if": {"properties": {"op": {"const": name}}, "required": ["op"]},
                    "then": _ref(f"op_{name}"),
                }
                for name in names
            ),
            *({"if": {"required": [kind]}, "then": _ref(f"block_{kind}")} for kind in STRUCTURES),
        ],
    }


def build() -> Schema:
    """The schema as plain data."""
    names = sorted(registry.names())
    bare = [name for name in names if not any(attr.required for attr in registry.get(name).attrs)]
    reference = {"anyOf": [_REF, _ref("reference")]}
    port_map = {
        **_any_names(reference),
        "not": {"anyOf": [{"required": ["from"]}, {"required": ["feedback"]}]},
        "minProperties": 1,
        "description": "Port -> reference.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "transformer-diagrams spec",
        "description": "An architecture as a graph of blocks.",
        **_mapping(TOP),
        "patternProperties": {"^x-": True},
        "required": ["blocks"],
        "$defs": {
            "size": _SIZE,
            "shape": _SHAPE,
            "dim": _mapping(DIM),
            "option": _OPTION,
            "source": _mapping(SOURCE),
            "show": _mapping(SHOW),
            "claim": _mapping(CLAIM),
            "span": _mapping(SPAN),
            "bundled": {"enum": sorted(bundled_specs())},
            "input": _mapping(INPUT),
            "output": _mapping(OUTPUT),
            "config": {
                "type": "object",
                "properties": {
                    "source": {"description": "Where the numbers are from.", **_text(LONGEST_LABEL)}
                },
                "patternProperties": {r"\.": {"type": ["string", "number", "boolean"]}},
                "additionalProperties": _VALUE,
            },
            "reference": {
                **_mapping(REF),
                "oneOf": [{"required": ["from"]}, {"required": ["feedback"]}],
            },
            "sources": {
                "anyOf": [_REF, _ref("reference"), _array(reference), port_map],
            },
            **{f"key_{name}": _described(key) for name, key in COMMON.items()},
            "blocks": _array(_ref("block"), least=1),
            "block": {
                "oneOf": [
                    {"description": "An op with nothing to say about it.", "enum": bare},
                    _ref("block_mapping"),
                ]
            },
            "block_mapping": _block(names),
            "column": _structure(COLUMN),
            "layer": _structure(LAYER),
            **{f"block_{kind}": _structure(keys) for kind, keys in STRUCTURES.items()},
            "block_repeat": {
                **_structure(STRUCTURES["repeat"]),
                "oneOf": [
                    {"required": ["blocks"]},
                    {"required": ["pattern"], "not": {"required": ["carry"]}},
                ],
            },
            **{f"op_{name}": _op(name) for name in names},
        },
    }
