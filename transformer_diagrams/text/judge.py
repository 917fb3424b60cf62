"""What is wrong with a label, and where in it: asked before anything is drawn.

TeX is judged by the reader of `tex`. The setter and the fonts are asked only where a label is more
than plain letters, scripts and fractions, and their answer is kept with the measured text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from functools import lru_cache

from transformer_diagrams.errors import ToolMissing
from transformer_diagrams.records import dataclass
from transformer_diagrams.text.commands import KNOWN, SIGNS
from transformer_diagrams.text.fonts import USUAL, Typeface, in_use
from transformer_diagrams.text.kept import Label, note
from transformer_diagrams.text.layout import measure
from transformer_diagrams.text.markup import LONGEST, clean, parse_line, shown
from transformer_diagrams.text.tex import BadFormula, Tex, parse


@dataclass(frozen=True, slots=True)
class Complaint:
    """A fault of a label; ``at`` is its place, counted in characters from the label's start."""

    code: str
    message: str
    at: int
    found: str
    hint: str
    error: bool


def judge(markup: str, letters: bool = True) -> tuple[Complaint, ...]:
    r"""Everything that keeps a label from being drawn as meant, in the order of the text.
    Without ``letters`` the words around the formulas are taken for granted: pages set them.

    :raises ToolMissing: when a font is absent and the label is not cached.

    >>> [c.at for c in judge(r"Linear $\nosuch{x}$")]
    [8]
    """
    found, asked = _judged(markup, letters, in_use())
    if asked and in_use() == USUAL:
        note(asked)
    return found


@lru_cache(maxsize=4096)
def _judged(
    markup: str, letters: bool, _chosen: Typeface
) -> tuple[tuple[Complaint, ...], Label | None]:
    """The complaints, and the label that had to be measured to know them."""
    text, _ = clean(markup)
    found: list[Complaint] = []
    typed: list[Complaint] = []
    ask = letters and not text.isascii()
    at = 0
    for line in text.split("\n"):
        for piece in parse_line(line):
            if piece.kind == "math":
                inset = 1 if piece.source.startswith("$") else 0
                try:
                    ask = not _simple(parse(piece.content)) or ask
                except BadFormula as problem:
                    place = at + inset + problem.at
                    found.append(_cannot(piece.source, str(problem), place, problem.hint))
            else:
                typed = typed or _typed(piece.source, at)
            at += len(piece.source)
        at += 1
    measured = not found and ask
    if measured:
        found = _asked(markup, text)
    told = tuple(
        replace(each, at=_place(markup, text, each.at))
        for each in sorted((*found, *typed), key=lambda each: each.at)
    )
    return told, (markup, "regular", "middle") if measured else None


def _asked(markup: str, text: str) -> list[Complaint]:
    """What the setter and the fonts cannot draw."""
    found: list[Complaint] = []
    try:
        warnings = measure(markup, 10.0).warnings
    except ToolMissing:
        return []  # whoever draws will say so
    for fault in warnings:
        if fault.code not in ("bad-formula", "missing-letter"):
            continue
        error = fault.code == "bad-formula"
        # A sign without a glyph is named in quotes; else the fault is the whole formula's.
        begin = max(0, text.find(fault.found)) if error else 0
        place = next(
            (
                n
                for n, char in enumerate(text)
                if n >= begin
                and (f"no sign '{char}'" in fault.message or not error)
                and (error or char in fault.found)
            ),
            begin,
        )
        message = fault.message.removesuffix(_AS_TYPED)
        found.append(Complaint(fault.code, message, place, fault.found, fault.hint, True))
    # A formula as typed lacks letters again.
    formulas = [complaint for complaint in found if complaint.code == "bad-formula"]
    return formulas or found


def _typed(source: str, at: int) -> list[Complaint]:
    """The first TeX in plain words, which is drawn as typed: a command, or a lone dollar."""
    for mark in _MARKS.finditer(source):
        sign = mark[0]
        if sign == "$":
            words = "a dollar without a partner is drawn as a dollar"
            hint = "write \\$ for a dollar; maths has no blank just inside its dollars: $x$"
        elif len(sign) > 2 and mark[1] in KNOWN:
            words = f"the command {sign} stands outside of dollars and is shown as typed"
            hint = f"put the formula between dollars: ${sign} ...$"
        else:
            continue
        return [Complaint("typed-tex", words, at + mark.start(), sign, hint, False)]
    return []


def _place(markup: str, text: str, at: int) -> int:
    """The place in the label as typed; its cleaned ``text`` may have lost or joined characters."""
    if markup.startswith(text[: at + 1]):
        return at
    ends = range(min(len(markup), 4 * LONGEST))
    return bisect_right(ends, at, key=lambda end: len(clean(markup[:end])[0])) - 1


def _simple(tree: Tex) -> bool:
    """Whether a formula is of parts that the setter has never refused."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if node.kind not in _SIMPLE or not (node.text.isascii() or node.text in SIGNS):
            return False
        todo.extend(node.parts)
    return True


_SIMPLE = frozenset((
    "row", "letter", "number", "name", "sign", "space", "blank", "script", "frac", "root", "font",
    "style",
))  # fmt: skip
_AS_TYPED = "; it is shown as typed"
_MARKS = re.compile(r"\\([A-Za-z]+|.)|\$(?!\d)")


def _cannot(source: str, why: str, at: int, hint: str) -> Complaint:
    return Complaint(
        "bad-formula", f"the formula {shown(source)} cannot be set: {why}", at, source, hint, True
    )
