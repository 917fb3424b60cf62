"""Tables of numbers: as text, CSV, Markdown, or LaTeX with booktabs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from transformer_diagrams.records import dataclass

FORMATS = ("text", "csv", "markdown", "latex")


@dataclass(frozen=True, slots=True)
class Datum:
    """``plain`` for eyes and CSV; ``tex`` where LaTeX has its own form; ``level`` indents."""

    plain: str
    tex: str = ""
    level: int = 0


NOTHING = Datum("-", "--")
"""A count that is 0."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head. The first ``words`` columns are set left, the others are numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[Datum]]
    words: int = 1
    notes: Sequence[str] = ()

    def written(self, format: str) -> str:
        """In one of ``FORMATS``."""
        return {"text": _text, "csv": _csv, "markdown": _markdown, "latex": _latex}[format](self)


def number(value: int | None, formula: str = "", tex: str = "") -> Datum:
    """Digits in threes; the formula while there is no number."""
    if value is not None:
        return Datum(f"{value:,}", f"{value:,}")
    return Datum(formula or "?", f"${tex}$" if tex else "")


def _text(table: Table) -> str:
    rows = [[Datum(name) for name in table.head], *table.rows]
    shown = [[("  " * cell.level) + cell.plain for cell in row] for row in rows]
    wide = [max(len(row[n]) for row in shown) for n in range(len(table.head))]
    lines = [
        "  ".join(
            f"{text:<{wide[n]}}" if n < table.words else f"{text:>{wide[n]}}"
            for n, text in enumerate(row)
        ).rstrip()
        for row in shown
    ]
    return "\n".join([*lines, *(f"({note})" for note in table.notes)])


def _csv(table: Table) -> str:
    """Numbers as programs read them; the level is a column of its own."""
    out = io.StringIO()
    nested = any(row[0].level for row in table.rows)
    write = csv.writer(out, lineterminator="\n").writerow
    write([*(["level"] if nested else []), *table.head])
    for row in table.rows:
        bare = [
            "0" if cell is NOTHING
            else re.sub(r"(?<=\d),(?=\d{3})", "", cell.plain) if n >= table.words
            else cell.plain
            for n, cell in enumerate(row)
        ]
        write([*([row[0].level] if nested else []), *bare])
    return out.getvalue().rstrip("\n")


def _markdown(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = [":--" if n < table.words else "--:" for n in range(len(table.head))]
    rows = [["&emsp;" * cell.level + _code(cell.plain) if n == 0 else cell.plain
             for n, cell in enumerate(row)] for row in table.rows]  # fmt: skip
    return "\n".join([line(table.head), line(rule), *(line(row) for row in rows)])


def _code(text: str) -> str:
    """A name as it is, whatever Markdown makes of its letters."""
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", text)


_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "×": r"$\times$",
}  # fmt: skip


def _latex(table: Table) -> str:
    """A `tabular` with the rules of booktabs, to \\input; digits are parted by thin spaces."""

    def set_(cell: Datum) -> str:
        if cell.tex.startswith("$"):
            return cell.tex
        text = "".join(_ESCAPES.get(letter, letter) for letter in cell.tex or cell.plain)
        return "\\quad " * cell.level + re.sub(r"(?<=\d),(?=\d{3})", r"\\,", text)

    columns = "l" * table.words + "r" * (len(table.head) - table.words)
    body = [" & ".join(set_(cell) for cell in row) + r" \\" for row in table.rows]
    head = " & ".join(set_(Datum(name)) for name in table.head) + r" \\"
    notes = [f"% {note}" for note in table.notes]
    return "\n".join(
        [*notes, rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"\toprule", head, r"\midrule",
         *body, r"\bottomrule", r"\end{tabular}"]
    )
