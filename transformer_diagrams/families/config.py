"""A model's `config.json` as a tree whose values know their line and column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from transformer_diagrams.errors import DiagramError, Fault, Report, Span
from transformer_diagrams.spec.load import decode
from transformer_diagrams.spec.yaml_nodes import Map, Node, Seq, SourceText, plain_data
from transformer_diagrams.spec.yaml_source import read

LFS: Final = b"version https://git-lfs"
# Half a surrogate pair is good JSON and no YAML; a character of the same width keeps all places.
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class Configuration:
    """One mapping of a configuration, with the places of its values."""

    def __init__(self, node: Map, source: SourceText, path: str = "") -> None:
        self.node = node
        self.source = source
        self.path = path

    @property
    def file(self) -> str:
        """The name of the file for messages."""
        return self.source.file

    def __iter__(self) -> Iterator[str]:
        return iter(self.node.entries)

    def find(self, key: str) -> Node | None:
        """The node of a key; a dotted one lies in mappings. None when it is not there."""
        at: Node = self.node
        for step in key.split("."):
            if not isinstance(at, Map) or step not in at.entries:
                return None
            at = at.entries[step][1]
        return at

    def get(self, key: str) -> Any:
        """The plain value of a key; None when it is not there."""
        node = self.find(key)
        return None if node is None else plain_data(node)

    def part(self, key: str) -> Configuration | None:
        """The mapping of a key as a configuration of its own."""
        node = self.find(key)
        if not isinstance(node, Map):
            return None
        return Configuration(node, self.source, self.named(key))

    def named(self, key: str) -> str:
        """A key with the mappings that it lies in."""
        return f"{self.path}.{key}" if self.path else key

    def span(self, key: str) -> Span:
        """Where the value of a key stands; without one, the file as a whole."""
        node = self.find(key)
        return Span(self.file) if node is None else self.source.span(node)

    def key_span(self, key: str) -> Span:
        """Where a key of this mapping itself stands."""
        return self.source.span(self.node.entries[key][0])

    def fault(self, code: str, message: str, key: str, **more: Any) -> Fault:
        """A fault at the value of a key."""
        return Fault(code, message, self.span(key), path=self.named(key), **more)

    def sized(self) -> list[str]:
        """The mappings inside that hold sizes, by their dotted names."""
        found, todo = [], [("", self.node)]
        while todo:
            path, node = todo.pop()
            if path and {"hidden_size", "num_hidden_layers"} & node.entries.keys():
                found.append(path)
            for key, (_, inner) in node.entries.items():
                if isinstance(inner, Map):
                    todo.append((f"{path}.{key}" if path else key, inner))
        return sorted(found)


def parse(data: bytes, file: str) -> Configuration:
    """The configuration that the bytes of a file hold.

    :raises DiagramError: when they are no JSON, or no mapping; with line and column.
    """
    if data.startswith(LFS):
        message = "this is a Git LFS pointer, not the file itself"
        hint = "`git lfs pull` in the model's folder fetches the file"
        raise DiagramError(Fault("lfs-pointer", message, Span(file, 1, 1), hint=hint))
    report = Report()
    text = decode(data, file, report)
    report.raise_if_errors()
    assert text is not None
    text = SourceText(text, file).text
    try:
        json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        span = Span(file, error.lineno, error.colno)
        raise DiagramError(Fault("json-syntax", f"this is no JSON: {error.msg}", span)) from error
    except (_Constant, RecursionError) as error:
        raise DiagramError(Fault("json-syntax", f"this is no JSON: {error}", Span(file))) from error
    root, source = read(_SURROGATE.sub(r"\\u003f", text), file, report)
    report.raise_if_errors()
    if not isinstance(root, Map):
        what = "a list" if isinstance(root, Seq) else "one value"
        message = f"a configuration is a mapping, not {what}"
        raise DiagramError(Fault("not-a-mapping", message, Span(file, 1, 1)))
    return Configuration(root, source)


class _Constant(ValueError):
    """A number that JSON has no word for."""


def _no_constant(word: str) -> None:
    """:raises _Constant: always."""
    raise _Constant(f"{word} is no number of JSON")
