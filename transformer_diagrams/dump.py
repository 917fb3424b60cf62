"""What a stage made, as plain data for JSON: stable, the same on every machine.

Dataclasses become mappings of their fields, expressions and shapes their text, places
`file:line:column` with the file's name alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any

from transformer_diagrams.errors import Span
from transformer_diagrams.graph.ir import Graph, Node, Port
from transformer_diagrams.spec.model import Spec


def to_plain(value: Any) -> Any:
    """``value`` as mappings, lists, text, numbers (exactly), booleans and None."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Span):
        return f"{PurePath(value.file).name}:{value.line}:{value.column}"
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(str(item) for item in value)
    if isinstance(value, Sequence):
        return [to_plain(item) for item in value]
    if (
        is_dataclass(value)
        and not isinstance(value, type)
        and type(value).__str__ is object.__str__
    ):
        return {
            f.name: to_plain(getattr(value, f.name))
            for f in fields(value)
            if not (f.name == "text" and isinstance(value, Spec))  # the whole source
        }
    return str(value)


def shapes(graph: Graph) -> dict[str, Any]:
    """Every tensor of a graph: for each node and group by path, the shapes of its ports."""
    found: dict[str, Any] = {}
    for part in graph.parts():
        found[part.path or "."] = {
            "op": part.op if isinstance(part, Node) else part.kind,
            "inputs": _ports(part.inputs),
            "outputs": _ports(part.outputs),
        }
    return {"id": graph.id, "shapes": dict(sorted(found.items()))}


def _ports(ports: Sequence[Port]) -> dict[str, str | None]:
    return {p.name: None if p.shape is None else str(p.shape) for p in ports}
