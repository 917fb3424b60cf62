"""The JSON Schema of a family's file, and what it cannot say, by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from transformer_diagrams.bundled import bundled_specs
from transformer_diagrams.dims import DimError, parse
from transformer_diagrams.errors import Fault, Report, did_you_mean
from transformer_diagrams.families.family import COMMON, READS
from transformer_diagrams.spec.load import load_path
from transformer_diagrams.spec.validate import validate
from transformer_diagrams.spec.yaml_nodes import Map, Node, Scalar, Seq, SourceText
from transformer_diagrams.spec.yaml_source import read

_NAME: Final = {"type": "string", "minLength": 1}
_NAMES: Final = {"type": "array", "items": _NAME, "uniqueItems": True}
_SIMPLE: Final = {"type": ["string", "integer", "boolean", "number", "null"]}
_WHEN: Final = {
    "type": "object",
    "additionalProperties": {"anyOf": [_SIMPLE, {"type": "array", "items": _SIMPLE}]},
    "description": "Key: the value, or values, under which this holds.",
}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _entries(entry: dict[str, Any]) -> dict[str, Any]:
    cases = {"type": "array", "items": entry, "minItems": 1}
    return {"type": "object", "additionalProperties": {"anyOf": [entry, cases]}}


_TEXTS: Final = {
    "type": "object",
    "additionalProperties": {"anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1}]},
}


def _used(entries: dict[str, Any]) -> dict[str, Any]:
    """Entries beside `use`, which names shared lists of them."""
    return {**entries, "properties": {"use": _NAMES}}


def _tensors() -> dict[str, Any]:
    """Names of tensors with their shapes, and when they are there."""
    axes = {"type": "array", "items": {"type": ["string", "integer"]}}
    pair = {**axes, "minItems": 2, "maxItems": 2}
    tensor = _object(["shape"], shape=axes, layers=pair, when=_WHEN, optional=_WHEN)
    return {"type": "object", "additionalProperties": {"anyOf": [axes, tensor]}}


def schema() -> dict[str, Any]:
    """The JSON Schema of a family (draft 2020-12)."""
    key = {
        "anyOf": [_NAME, _NAMES],
        "description": "The config's key, then older spellings; dots lead into mappings.",
    }
    size = _object(
        [],
        key=key,
        default={"type": ["integer", "string", "number"], "description": "Where no key is there."},
        value={"type": ["integer", "string"], "description": "Of other sizes; no key says it."},
        times={"type": ["integer", "string"], "description": "The number is times this, whole."},
        read={"enum": list(READS), "description": "How a list is one number."},
        when=_WHEN,
        least={"type": "integer", "minimum": 0},
        most={"type": "integer", "minimum": 1},
        equals={"type": "string", "description": "What the number must be."},
    )
    option = _object(
        [],
        key=key,
        default={"type": ["boolean", "string"]},
        values={"type": "object", "additionalProperties": {"type": ["boolean", "string"]}},
        read={"enum": list(READS)},
        when=_WHEN,
    )
    constant = _object(
        [],
        key=key,
        default=_SIMPLE,
        values={"type": "object", "additionalProperties": _SIMPLE},
        times={"type": "number", "description": "The number is times this."},
        when=_WHEN,
    )
    only = _object(["values", "because"], values={"type": "array"}, because=_NAME, when=_WHEN)
    serves = _object(["model_types"], model_types=_NAMES, classes=_NAMES)
    texts = {"type": "object", "additionalProperties": _NAME}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A family of models",
        **_object(
            ["serves", "spec", "sizes"],
            serves=serves,
            spec={**_NAME, "description": "The id of the bundled spec."},
            within={**texts, "description": "Model type: the key its sizes lie in."},
            defaults={"type": "object", "additionalProperties": _SIMPLE},
            names=_entries(size),
            sizes=_entries(size),
            options=_entries(option),
            only={"type": "object", "additionalProperties": only},
            copies={**_NAME, "description": "Weights with two names where the option tied holds."},
            tensors=_object([], prefix=_NAME, use=_NAMES, names=_tensors()),
            nothing=_NAMES,
            constants=_NAMES,
            attributes=_used(_entries(constant)),
            computed={"type": "object", "additionalProperties": only},
            weights=_used(_TEXTS),
            arrays=_used(_TEXTS),
            left_out={
                "type": "object",
                "additionalProperties": {"anyOf": [_NAME, only]},
                 "description": "Keys of what is not drawn, and the warning.",
            },
        ),
    }


def common_schema() -> dict[str, Any]:
    """The JSON Schema of the keys that all families share."""
    sets = {"type": "object", "additionalProperties": _tensors()}
    lists = dict.fromkeys(("nothing", "constants", "buffers", "quantised"), _NAMES)
    more = {"type": "object", "additionalProperties": {"type": "object"}}
    return _object([*lists, "tensors"], **lists, tensors=sets, attributes=more, weights=more,
                   arrays=more)


def check(path: Path, text: str | None = None) -> Report:
    """Every fault of a family's file, by line: of its form, and of the names in it."""
    data = path.read_bytes() if text is None else text.encode("utf-8")
    common = path.stem == COMMON
    report = validate(data, str(path), common_schema if common else schema)
    if report.errors or common:
        return report
    root, source = read(data.decode("utf-8"), str(path), report)
    if isinstance(root, Map):
        _names(root, source, report)
    return report


def _names(root: Map, source: SourceText, report: Report) -> None:
    """Specs, sizes, options, their values and the names in formulas must be there."""
    node = root.entries["spec"][1]
    assert isinstance(node, Scalar)
    specs = bundled_specs()

    def tell(message: str, at: Node, hint: str = "") -> None:
        report.add(Fault("bad-family", message, source.span(at), hint=hint))

    if node.text not in specs:
        return tell(f"no bundled spec is '{node.text}'", node, did_you_mean(node.text, specs))
    spec = load_path(specs[node.text])[0]
    known: set[str] = set()
    for section, legal in (("names", None), ("sizes", spec.dims), ("options", spec.options)):
        for name, (key, entry) in _map(root, section).items():
            if legal is not None and name not in legal:
                what = f"the spec '{spec.id}' has no {section[:-1]} '{name}'"
                tell(what, key, did_you_mean(name, legal, most=20))
            for case in entry.items if isinstance(entry, Seq) else [entry]:
                assert isinstance(case, Map)
                if section == "options":
                    option = spec.options.get(name)
                    legal_values = {*(option.choices or ("true", "false"))} if option else set()
                    given = [v for _, v in _map(case, "values").values()]
                    given += [case.entries["default"][1]] if "default" in case.entries else []
                    for value in given:
                        if isinstance(value, Scalar) and option and value.text not in legal_values:
                            tell(f"option '{name}' cannot be '{value.text}'", value)
                    continue
                late = set(spec.dims) if "equals" in case.entries else set()
                for word in ("value", "default", "times", "equals"):
                    if word not in case.entries:
                        continue
                    formula = case.entries[word][1]
                    assert isinstance(formula, Scalar)
                    if "times" in case.entries and word == "default":
                        continue
                    try:
                        missing = parse(formula.text).free - known - late
                    except DimError as error:
                        tell(f"this is no formula: {error.message}", formula)
                        continue
                    if missing:
                        tell(f"{', '.join(sorted(missing))} is no size said above", formula)
            known.add(name)
    return None


def _map(node: Map, key: str) -> dict[str, Any]:
    entry = node.entries.get(key)
    return entry[1].entries if entry is not None and isinstance(entry[1], Map) else {}
