"""Small pieces of Markdown: tables, code, text that stays text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar inside a cell is escaped, an empty cell stays empty."""
    lines = [list(head), ["---"] * len(head), *([cell(each) for each in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def cell(text: str) -> str:
    """Text for a cell: on one line, without a bar that would end the cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: object) -> str:
    """``text`` as code; nothing at all for an empty text."""
    return f"`{text}`" if str(text) else ""


def codes(texts: Iterable[object]) -> str:
    """Several pieces of code with commas between."""
    return ", ".join(code(text) for text in texts)


def fenced(text: str, kind: str = "") -> str:
    """A block of code."""
    return f"```{kind}\n{text.rstrip()}\n```\n"
