"""Prints faults for people: place, sentence, the line with a caret, what to do.

specs/gqa.yaml:14:12: blocks[3].out: a size must be a whole number from 1 up, not 0
  14 |     out: 0
     |          ^
  found: 0
  expected: a positive whole number
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from transformer_diagrams import reading
from transformer_diagrams.errors import NOWHERE, Fault, Span
from transformer_diagrams.streams import printable

_WIDE: Final = 100  # columns of a source line that are shown
_BOLD: Final = "\x1b[1m"
_RED: Final = "\x1b[31;1m"
_YELLOW: Final = "\x1b[33;1m"
_GREEN: Final = "\x1b[32m"
_DIM: Final = "\x1b[2m"
_OFF: Final = "\x1b[0m"


def _clean(text: str) -> str:
    """The text on one line, without a character that a terminal would act upon."""
    return printable(text).replace("\n", "\ufffd")


def _columns(text: str) -> int:
    """How many terminal columns a text takes."""
    total = 0
    for char in text:
        if unicodedata.combining(char):
            continue
        total += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return total


class Texts:
    """Source lines by file: from the given texts, else from the disk, each file read once."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._lines = {file: _split(text) for file, text in (texts or {}).items()}

    def line(self, span: Span) -> str | None:
        """The line of a place without its end; None if it is not to be had."""
        if span.line < 1:
            return None
        if span.file not in self._lines:
            try:
                self._lines[span.file] = _split(reading.read(span.file).decode("utf-8", "replace"))
            except OSError:
                self._lines[span.file] = []
        lines = self._lines[span.file]
        return lines[span.line - 1] if span.line <= len(lines) else None


def _split(text: str) -> list[str]:
    """Lines as an editor counts them: only the three usual line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


class _Paint:
    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, style: str, text: str) -> str:
        return f"{style}{text}{_OFF}" if self.colour and text else text


def fault_text(fault: Fault, texts: Texts | None = None, *, colour: bool = False) -> str:
    """One fault as lines of text, without a line end at the end.

    The first line is `file:line:col: path: message` and enough for a log.
    """
    paint = _Paint(colour)
    texts = texts or Texts()
    head = []
    if fault.span.line or fault.span.file != NOWHERE.file:
        head.append(paint(_BOLD, _clean(f"{fault.span}:")))
    if fault.severity == "warning":
        head.append(paint(_YELLOW, "warning:"))
    elif colour:
        head.append(paint(_RED, "error:"))
    if fault.path:
        head.append(_clean(f"{fault.path}:"))
    head.append(paint(_BOLD, _clean(fault.message)))
    lines = [" ".join(head)]
    lines += _excerpt(fault.span, texts, paint, _YELLOW if fault.severity == "warning" else _RED)
    if fault.found and fault.found not in fault.message:
        lines.append(f"  found: {_clean(fault.found)}")
    if fault.expected:
        lines.append(f"  expected: {_clean(fault.expected)}")
    for note, span in fault.notes:
        place = ""
        if span.line:
            same = span.file == fault.span.file
            place = f" (line {span.line})" if same else f" ({span})"
        lines.append(f"  note: {_clean(note)}{place}")
        if span.line and span.file == fault.span.file and span.line != fault.span.line:
            lines += _excerpt(span, texts, paint, _DIM)
    if fault.hint:
        lines.append("  " + paint(_GREEN, "hint:") + f" {_clean(fault.hint)}")
    return "\n".join(lines)


def _excerpt(span: Span, texts: Texts, paint: _Paint, style: str) -> list[str]:
    line = texts.line(span)
    if line is None:
        return []
    at = max(0, min(span.column - 1, len(line)))
    begin = 0
    if len(line) > _WIDE:  # a window around the place
        begin = max(0, min(at - _WIDE // 2, len(line) - _WIDE))
    shown = line[begin : begin + _WIDE]
    left = "..." if begin else ""
    right = "..." if begin + _WIDE < len(line) else ""
    number = str(span.line)
    bar = paint(_DIM, "|")
    gap = " " * (_columns(_clean(line[begin:at])) + len(left))
    return [
        f"  {paint(_DIM, number)} {bar} {left}{_clean(shown)}{right}".rstrip(),
        f"  {' ' * len(number)} {bar} {gap}{paint(style, '^')}",
    ]


def faults_text(
    faults: Iterable[Fault],
    texts: Mapping[str, str] | None = None,
    *,
    colour: bool = False,
    most: int | None = None,
) -> str:
    """All faults, by place, without repeats, a blank line between two; "" when there are none.

    ``texts`` gives the text of files by the name in their spans (others are read from the disk);
    ``most`` ends the list after that many with a line that says how many are left out.
    """
    unique = sorted(dict.fromkeys(faults), key=lambda f: (f.span.file, f.span.line, f.span.column))
    lines = Texts(texts)
    shown = unique if most is None else unique[:most]
    parts = [fault_text(fault, lines, colour=colour) for fault in shown]
    if len(shown) < len(unique):
        parts.append(f"... and {len(unique) - len(shown)} more")
    return "\n\n".join(parts) + "\n" if parts else ""
