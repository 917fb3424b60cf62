"""Attributes of an op as typed -> values that its rules work with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from transformer_diagrams.errors import DiagramError, Fault, did_you_mean
from transformer_diagrams.graph.scope import Scope
from transformer_diagrams.ops.registry import Attr, Op
from transformer_diagrams.spec.model import Block, Text, Value


def evaluate_attrs(op: Op, block: Block, scope: Scope) -> Mapping[str, Any]:
    """The value of each attribute of ``op`` in ``block``: dims, truth values, text, tuples.

    A value that is the name of an option becomes the option's value.

    :raises DiagramError: with every unknown, missing or unreadable attribute.
    """
    faults: list[Fault] = []
    known = {attr.name: attr for attr in op.attrs}
    for name in block.attrs:
        if name not in known:
            faults.append(
                Fault(
                    "unknown-attribute",
                    f"'{op.name}' has no attribute '{name}'",
                    block.key_spans.get(name, block.attrs[name].span),
                    path=f"{block.path}.{name}",
                    found=name,
                    hint=did_you_mean(name, known, what="attribute")
                    or f"'{op.name}' has no attributes",
                )
            )
    values: dict[str, Any] = {}
    for name, attr in known.items():
        given = block.attrs.get(name)
        if given is None:
            if attr.required:
                faults.append(
                    Fault(
                        "missing-attribute",
                        f"'{op.name}' needs the attribute '{name}' ({attr.doc})",
                        block.span,
                        path=block.path,
                        expected=f"{name}: ...",
                    )
                )
                continue
            given = Value(attr.default, block.span)
        path = f"{block.path}.{name}"
        try:
            values[name] = _value(attr, given, scope, path)
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
        option, value = value, scope.options[value]
        if attr.kind in ("str", "name", "names") and not isinstance(value, str):
            raise DiagramError(
                Fault(
                    "bad-value",
                    f"'{attr.name}' must be text, but '{option}' is an option that is true or "
                    "false",
                    given.span,
                    path=path,
                    found=option,
                    expected="text, or the name of an option that has words to choose from",
                    hint=f"call the option something else if the text '{option}' is meant",
                )
            )
    if attr.kind == "bool":
        if isinstance(value, bool):
            return value
        raise DiagramError(
            Fault(
                "bad-value",
                f"'{attr.name}' must be true, false or the name of an option",
                given.span,
                path=path,
                found=str(value),
                expected="true or false",
                hint=did_you_mean(str(value), scope.options, what="option"),
            )
        )
    if attr.choices and value not in attr.choices:
        raise DiagramError(
            Fault(
                "bad-value",
                f"'{attr.name}' cannot be '{value}'",
                given.span,
                path=path,
                found=str(value),
                expected=" or ".join(str(c) for c in attr.choices),
                hint=did_you_mean(str(value), map(str, attr.choices), what="value"),
            )
        )
    if attr.kind == "names":
        items = value if isinstance(value, (list, tuple)) else [value]
        return tuple(str(item) for item in items)
    return tuple(value) if isinstance(value, list) else value
