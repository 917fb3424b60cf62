"""A model's configuration as a short spec to go on from: the bundled one, used with its sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from transformer_diagrams.families.adopt import Adopted
from transformer_diagrams.spec.model import DimSpec, OptionSpec, PortSpec, Spec


def written(adopted: Adopted, spec: Spec) -> str:
    """The YAML of a spec that uses the bundled ``spec`` with the sizes of a configuration."""
    sizes = {name: adopted.taken[name].value for name in spec.dims if name in adopted.taken}
    options = {name: adopted.taken[name].value for name in spec.options if name in adopted.taken}
    constants = {name: each.value for name, each in adopted.constants.items()}
    used = {"use": spec.id, "id": "model", "from": {n: n for n in spec.inputs}, "open": True}
    one = len(spec.outputs) == 1
    outputs = {
        name: {**_port(port), "from": "model" if one else f"model.{name}"}
        for name, port in spec.outputs.items()
    }
    lines = [
        f"title: {_flow(adopted.name)}",
        f"caption: {_flow(f'Read from a configuration of the family {adopted.family.id}.')}",
        f"builds_on: [{spec.id}]",
        *_block("dims", {name: _dim(dim) for name, dim in spec.dims.items()}),
        *([f"where: {_flow([text.value for text in spec.where])}"] if spec.where else []),
        *_block("options", {name: _option(spec.options[name]) for name in options}),
        *_block("configs", {adopted.name: {**sizes, **options, **constants}}),
        *_block("inputs", {name: _port(port) for name, port in spec.inputs.items()}),
        *_block("outputs", outputs),
        f"show: {_flow({'config': adopted.name})}",
        "blocks:",
        f"  - {_flow(used)}",
    ]
    return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    """Plain data as YAML on one line: JSON is that."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {_flow(inner)}' for name, inner in value.items())}}}"
    return json.dumps(value, ensure_ascii=False)


def _block(key: str, entries: Mapping[str, Any]) -> list[str]:
    """A mapping with a line for each entry; nothing when it is empty."""
    lines = [f"  {json.dumps(name)}: {_flow(value)}" for name, value in entries.items()]
    return [f"{key}:", *lines] if lines else []


def _dim(dim: DimSpec) -> Any:
    given = {"doc": dim.doc, "value": dim.value, "default": dim.default, "tex": dim.tex}
    return {key: str(value) for key, value in given.items() if value is not None}


def _option(option: OptionSpec) -> dict[str, Any]:
    choices = {"choices": list(option.choices)} if option.choices else {}
    return {"doc": option.doc, "default": option.default, **choices}


def _port(port: PortSpec) -> dict[str, Any]:
    shape = {"shape": [text.value for text in port.shape]} if port.shape is not None else {}
    label = {"label": str(port.label)} if port.label is not None else {}
    kind = {"dtype": port.dtype} if port.dtype != "float" else {}
    when = {"when": port.when} if port.when != "always" else {}
    return {**shape, **kind, **label, **when}
