"""What is wrong with a label, and where in it: asked before anything is drawn.

TeX is judged by the reader of `tex`. The setter and the fonts are asked only where a label is more
than plain letters, scripts and fractions, and their answer is kept with the measured text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from transformer_diagrams.errors import ToolMissing
from transformer_diagrams.text.commands import SIGNS
from transformer_diagrams.text.kept import Label, note
from transformer_diagrams.text.layout import measure
from transformer_diagrams.text.markup import clean, parse_line, shown
from transformer_diagrams.text.tex import BadFormula, Node, parse


@dataclass(frozen=True, slots=True)
class Complaint:
    """A fault of a label; ``at`` is its place, counted in characters from the label's start."""

    code: str
    message: str
    at: int
    found: str
    hint: str
    error: bool


def judge(markup: str) -> tuple[Complaint, ...]:
    r"""Everything that keeps a label from being drawn as meant, in the order of the text.

    :raises ToolMissing: when a font is absent and the label is not cached.

    >>> [c.at for c in judge(r"Linear $\nosuch{x}$")]
    [8]
    """
    found, asked = _judged(markup)
    if asked:
        note(asked)
    return found


@lru_cache(maxsize=4096)
def _judged(markup: str) -> tuple[tuple[Complaint, ...], Label | None]:
    """The complaints, and the label that had to be measured to know them."""
    text, _ = clean(markup)
    found: list[Complaint] = []
    ask = not text.isascii()
    at = 0
    for line in text.split("\n"):
        for piece in parse_line(line):
            if piece.kind == "math":
                inset = 1 if piece.source.startswith("$") else 0
                try:
                    ask = ask or not _simple(parse(piece.content))
                except BadFormula as problem:
                    place = at + inset + problem.at
                    found.append(_cannot(piece.source, str(problem), place, problem.hint))
            at += len(piece.source)
        at += 1
    if found or not ask:
        return tuple(found), None
    try:
        warnings = measure(markup, 10.0).warnings
    except ToolMissing:
        return (), None  # whoever draws will say so
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
        message = fault.message.removesuffix(_TYPED)
        found.append(Complaint(fault.code, message, place, fault.found, fault.hint, error))
    if any(complaint.error for complaint in found):  # a formula as typed lacks letters again
        found = [complaint for complaint in found if complaint.error]
    return tuple(found), (markup, "regular", "middle")


def _simple(tree: Node) -> bool:
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
_TYPED = "; it is shown as typed"


def _cannot(source: str, why: str, at: int, hint: str) -> Complaint:
    return Complaint(
        "bad-formula", f"the formula {shown(source)} cannot be set: {why}", at, source, hint, True
    )
