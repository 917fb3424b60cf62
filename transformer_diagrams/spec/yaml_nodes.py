"""The nodes of a YAML tree, what a plain scalar means, and places in the source text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from transformer_diagrams.errors import Span


@dataclass(slots=True)
class Scalar:
    """A scalar. ``style`` is "" (plain), ', ", |, > or ! (plain with the tag `!!str`).

    ``line`` and ``column`` (one-based) are those of the first character of the text, after a
    quote; for an empty value with an anchor or tag they are the anchor's or tag's.
    """

    text: str
    line: int
    column: int
    style: str = ""


@dataclass(slots=True)
class Map:
    """A mapping in the order written, merged entries first. ``broken``: a key was refused."""

    line: int
    column: int
    entries: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)
    broken: bool = False


@dataclass(slots=True)
class Seq:
    """A sequence."""

    line: int
    column: int
    items: list[Node] = field(default_factory=list)


Node = Scalar | Map | Seq

# ---- what a plain scalar means -------------------------------------------------------------

_INT: Final = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
_FLOAT: Final = re.compile(r"-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?\Z")
_FIRST_OF_NUMBER: Final = frozenset("-.0123456789")


def kind_of(node: Node) -> str:
    """ "map", "list", "null", "bool", "int", "float" or "text".

    Only `true` and `false` are booleans, only `null`, `~` and nothing at all are null; a number
    looks like one to everybody (`017`, `1_000`, `12:30` are text).
    """
    if type(node) is not Scalar:
        return "map" if type(node) is Map else "list"
    if node.style:
        return "text"
    text = node.text
    if not text or text == "~" or text == "null":
        return "null"
    if text[0] in _FIRST_OF_NUMBER:
        if _INT.match(text):
            return "int"
        if _FLOAT.match(text) and any(c in "0123456789" for c in text):
            return "float"
        return "text"
    return "bool" if text == "true" or text == "false" else "text"


def plain_data(node: Node) -> Any:
    """The tree as dicts, lists, str, int, float, bool and None (what a JSON Schema checks)."""
    kind = kind_of(node)
    if isinstance(node, Map):
        return {key: plain_data(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Seq):
        return [plain_data(item) for item in node.items]
    if kind == "int" and len(node.text) < 400:
        return int(node.text)
    if kind in ("int", "float"):
        return float(node.text)
    return {"null": None, "bool": node.text == "true"}.get(kind, node.text)


# ---- the source ----------------------------------------------------------------------------


class SourceText:
    """A file's text, for places and for messages. Line ends are "\\n", no BOM."""

    __slots__ = ("_starts", "file", "text")

    def __init__(self, text: str, file: str) -> None:
        if text.startswith("\ufeff"):
            text = text[1:]
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.text = text
        self.file = file
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *(m.end() for m in re.finditer("\n", self.text))]
        return self._starts

    def span(self, node: Node) -> Span:
        return Span(self.file, node.line, node.column)

    def place(self, index: int) -> Span:
        """The place of a character, given its index in the text."""
        line = bisect_right(self.starts, index)
        return Span(self.file, line, index - self.starts[line - 1] + 1)

    def index(self, line: int, column: int) -> int:
        return min(self.starts[min(line, len(self.starts)) - 1] + column - 1, len(self.text))

    def line(self, number: int) -> str:
        """A line without its end; "" outside the file."""
        if not 1 <= number <= len(self.starts):
            return ""
        begin = self.starts[number - 1]
        end = self.text.find("\n", begin)
        return self.text[begin:] if end < 0 else self.text[begin:end]

    def positions(self, node: Scalar) -> Iterator[int]:
        """For each character of a scalar's value, the index of the source text it comes from.

        Exact for plain and quoted scalars, also over several lines and with escapes.
        """
        if node.style in ("|", ">"):
            yield from self._block_positions(node)
            return
        text, at, end = self.text, self.index(node.line, node.column), len(self.text)
        double, single = node.style == '"', node.style == "'"
        while at < end:
            char = text[at]
            if double and char == "\\":
                if text[at + 1 : at + 2] == "\n":  # an escaped line end: nothing
                    at += 2
                    while text[at : at + 1] in (" ", "\t"):
                        at += 1
                    continue
                yield at
                at += {"x": 4, "u": 6, "U": 10}.get(text[at + 1 : at + 2], 2)
            elif single and text.startswith("''", at):
                yield at
                at += 2
            elif (double and char == '"') or (single and char == "'"):
                return
            elif char in " \t\n":
                run = at
                while run < end and text[run] in " \t\n":
                    run += 1
                breaks = text.count("\n", at, run)
                if breaks:  # one line end is a space, n line ends are n - 1
                    yield from [at] * max(1, breaks - 1)
                else:
                    yield from range(at, run)
                at = run
            else:
                yield at
                at += 1

    def _block_positions(self, node: Scalar) -> Iterator[int]:
        """As :meth:`positions`, for ``|`` and ``>``: only blanks and line ends were folded."""
        text = self.text
        at = self.index(node.line + 1, 1)
        for char in node.text:
            if not char.isspace():
                while at < len(text) and text[at] != char:
                    at += 1
                yield at
                at += 1
            else:
                yield at
                at += text[at : at + 1].isspace()

    def inside(self, node: Scalar, offset: int) -> Span:
        """The place of one character (from zero) of a scalar's value."""
        if not node.style and "\n" not in node.text and self._one_line(node):
            return Span(self.file, node.line, node.column + offset)
        last = self.index(node.line, node.column)
        for count, at in enumerate(self.positions(node)):
            last = at
            if count == offset:
                break
        return self.place(last)

    def _one_line(self, node: Scalar) -> bool:
        return self.text.startswith(node.text, self.index(node.line, node.column))

    def raw(self, node: Scalar) -> str:
        """A quoted scalar as typed, between its quotes; a plain one's text."""
        if node.style not in ("'", '"'):
            return node.text
        begin, quote = self.index(node.line, node.column), node.style
        at = begin
        while at < len(self.text):
            char = self.text[at]
            escaped = char == "\\" if quote == '"' else self.text.startswith("''", at)
            if escaped:
                at += 2
            elif char == quote:
                break
            else:
                at += 1
        return self.text[begin:at]

    def flow_text(self, node: Node, *, most: int = 60) -> str:
        """The source of a node from its start: up to its closing bracket, or to the line's end."""
        begin = self.index(node.line, node.column)
        last = begin + 4 * most  # of a long line no more is looked at than can be shown
        line_end = self.text.find("\n", begin, last)
        piece = self.text[begin : line_end if line_end >= 0 else last]
        depth = 0
        for count, char in enumerate(piece):
            depth += (char in "[{") - (char in "]}")
            if char in "]}" and depth == 0:
                rest = re.split(r"\s#|[,\]}]|$", piece[count + 1 :], maxsplit=1)[0]
                piece = piece[: count + 1] + rest
                break
        piece = piece.strip()
        return piece if len(piece) <= most else piece[: most - 3] + "..."


CHARACTER_NAMES: Final = {
    0x00: "NUL",
    0x07: "BELL",
    0x08: "BACKSPACE",
    0x09: "TAB",
    0x0A: "line feed",
    0x0B: "vertical tab",
    0x0C: "form feed",
    0x0D: "carriage return",
    0x1B: "ESCAPE",
    0x7F: "DELETE",
    0x85: "next line",
    0xA0: "no-break space",
    0x2028: "line separator",
    0x2029: "paragraph separator",
    0xFEFF: "byte order mark",
    0xFFFE: "non-character",
    0xFFFF: "non-character",
}


def character_name(char: str) -> str:
    """``U+0007 (BELL)``"""
    code = ord(char)
    name = CHARACTER_NAMES.get(code, "")
    if not name:
        if 0xD800 <= code <= 0xDFFF:
            name = "half of a surrogate pair"
        elif 0xFDD0 <= code <= 0xFDEF:
            name = "non-character"
        elif code < 0xA0:
            name = "control character"
    return f"U+{code:04X}" + (f" ({name})" if name else "")
