"""Attributes of an op as typed -> values that its rules work with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.graph.scope import Scope
from transformer_diagrams.ops.registry import Attr, Op
from transformer_diagrams.spec.model import Block, Text, Value


def evaluate_attrs(op: Op, block: Block, scope: Scope) -> Mapping[str, Any]:
    """The value of each attribute of ``op`` in ``block``: dims, truth values, text, tuples.

    The loader has judged their names and form. A value that is the name of an option becomes the
    option's value.

    :raises DiagramError: with every value that is no size, or that the attribute does not take.
    """
    faults: list[Fault] = []
    values: dict[str, Any] = {}
    for attr in op.attrs:
        given = block.attrs.get(attr.name, Value(attr.default, block.span))
        try:
            values[attr.name] = _value(attr, given, scope, f"{block.path}.{attr.name}")
        except DiagramError as error:
            faults.extend(error.faults)
    if faults:
        raise DiagramError(faults)
    return MappingProxyType(values)


def _value(attr: Attr, given: Value, scope: Scope, path: str) -> Any:
    value = given.value
    if value is None:
        return None
    if attr.kind == "dim":
        return scope.dim(str(value), given.span, path, least=attr.least, beside=attr.beside)
    if attr.kind == "dims":
        items = value if isinstance(value, (list, tuple)) else [value]
        return tuple(
            scope.dim(
                str(item),
                item.span if isinstance(item, Text) else given.span,
                f"{path}[{index}]",
                least=attr.least,
                beside=attr.beside,
            )
            for index, item in enumerate(items)
        )
    if not isinstance(value, str) or value not in scope.options or value in attr.choices:
        return value
    option, value = value, scope.options[value]
    if attr.choices and value not in attr.choices:  # though other words of the option are
        raise DiagramError(
            Fault(
                "bad-value",
                f"'{attr.name}' cannot be '{value}', which the option '{option}' is",
                given.span,
                path=path,
                found=str(value),
                expected=" or ".join(attr.choices),
            )
        )
    return value
