"""A spec against the JSON Schema alone, as an editor with a YAML language server sees it.

The loader says more, and in better words; this is for those who edit by the schema and want to
know what their editor will mark, for example before a commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from transformer_diagrams.errors import MAX_FAULTS, Fault, Report, Span, TooManyFaults
from transformer_diagrams.spec.load import decode
from transformer_diagrams.spec.schema import build
from transformer_diagrams.spec.yaml_nodes import Map, Node, Seq, SourceText, plain_data
from transformer_diagrams.spec.yaml_source import read

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

LONGEST_MESSAGE = 200  # characters; the validator shows a wrong value whole, however long


def validate(data: bytes, file: str, schema: Callable[[], dict[str, Any]] = build) -> Report:
    """Every departure of a file's bytes from the schema (of a spec, when no other is given), in
    the order of the file.

    Faults of the YAML itself come first and alone: without a tree there is nothing to look at.
    Each fault has the place, the document path and the validator's own message.
    """
    report = Report()
    text = decode(data, file, report)
    try:
        root, source = None, SourceText("", file)
        if text is not None:
            root, source = read(text, file, report)
    except TooManyFaults:
        return report
    if root is None or report.errors:
        return report
    # What there is no room for in the report is not looked for.
    leaves = (
        leaf
        for error in _validator(schema).iter_errors(plain_data(root))
        for leaf in _leaves(error)
    )
    faults = [_fault(leaf, root, source) for leaf in islice(leaves, MAX_FAULTS + 1)]
    faults.sort(key=lambda fault: (fault.span.line, fault.span.column, fault.message))
    with suppress(TooManyFaults):  # the report says so
        report.extend(dict.fromkeys(faults))
    return report


@cache
def _validator(schema: Callable[[], dict[str, Any]]) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema())


def _leaves(error: ValidationError) -> list[ValidationError]:
    """What is wrong with the one form that was meant, where a value may have several.

    A form whose very type is another was not meant; when that leaves none, or more than one, the
    choice itself is the fault.
    """
    found, todo = [], [error]
    while todo:
        at = todo.pop()
        forms: dict[str | int, list[ValidationError]] = {}
        for inner in at.context or ():
            forms.setdefault(inner.relative_schema_path[0], []).append(inner)
        meant = [
            inners
            for inners in forms.values()
            if not any(not e.relative_path and e.validator in ("type", "enum") for e in inners)
        ]
        if len(meant) == 1:
            todo += meant[0]
        else:
            found.append(at)
    return found


def _fault(leaf: ValidationError, root: Node, source: SourceText) -> Fault:
    steps = list(leaf.absolute_path)
    message = leaf.message
    if len(message) > LONGEST_MESSAGE:
        message = message[: LONGEST_MESSAGE - 3].rstrip() + "..."
    node = _at(root, steps)
    span = source.span(node)
    unexpected = _unexpected(leaf)
    if unexpected and isinstance(node, Map):
        key, _ = node.entries[unexpected[0]]
        span = Span(source.file, key.line, key.column)
    return Fault("schema", message, span, path=_path(steps), found=", ".join(unexpected))


def _at(root: Node, steps: Iterable[str | int]) -> Node:
    node = root
    for step in steps:
        if isinstance(node, Map) and isinstance(step, str) and step in node.entries:
            node = node.entries[step][1]
        elif isinstance(node, Seq) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
    return node


def _unexpected(error: ValidationError) -> list[str]:
    """The keys that a fault of unexpected keys speaks of."""
    if error.validator != "additionalProperties" or not isinstance(error.instance, dict):
        return []
    schema: Any = error.schema
    patterns = schema.get("patternProperties", {})
    return [
        key
        for key in error.instance
        if key not in schema.get("properties", {})
        and not any(re.search(pattern, key) for pattern in patterns)
    ]


def _path(steps: Iterable[str | int]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")
