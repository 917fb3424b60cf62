"""Attributes of an op as typed -> values that its rules work with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.graph.scope import Scope
from transformer_diagrams.ops.registry import Attr, Op
from transformer_diagrams.spec.model import Block, Text, Value

_TEXTS = ("str", "name")


def evaluate_attrs(op: Op, block: Block, scope: Scope) -> Mapping[str, Any]:
    """The value of each attribute of ``op`` in ``block``: dims, truth values, text, tuples.

    The loader has judged their names and form. A value that is the name of an option becomes the
    option's value, which is judged here.

    :raises DiagramError: with every value that is no size, or not of the attribute's kind.
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
    if isinstance(value, str) and value in scope.options and value not in attr.choices:
        return _of_option(attr, value, scope.options[value], given, path)
    return value


def _of_option(attr: Attr, option: str, value: bool | str, given: Value, path: str) -> bool | str:
    """The value of an option that stands in the place of an attribute's."""
    expected = " or ".join(attr.choices)
    if attr.kind == "bool":
        fits, expected = isinstance(value, bool), "true or false"
    elif attr.kind in _TEXTS:
        fits, expected = isinstance(value, str), "text"
    else:
        fits, expected = value in attr.choices, expected or "a number"
    if fits:
        return value
    shown = str(value).lower() if isinstance(value, bool) else f"'{value}'"
    hint = f"call the option something else if the text '{option}' is meant"
    raise DiagramError(
        Fault(
            "bad-value",
            f"'{attr.name}' must be {expected}, but the option '{option}' is {shown}",
            given.span,
            path=path,
            found=option,
            expected=f"{expected}, or the name of an option that is",
            hint=hint if attr.kind in _TEXTS else "",
        )
    )
