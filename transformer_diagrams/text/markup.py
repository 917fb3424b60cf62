r"""What an author's label says: lines of plain text and maths.

``$...$`` holds TeX, ``\$`` is a dollar sign, "\n" splits lines, everything else is literal.
A dollar opens maths only before a non-space, and closes it only after a non-space and not
before a digit, so that prices stay prices; a dollar without a partner is a dollar.
Outside the dollars, a word that can only be meant as a symbol (``W_{Q,h}``, ``x_i^2``) is
maths too, while ``snake_case_name`` stays as typed.
"""

from __future__ import annotations

import re
import unicodedata

from transformer_diagrams.errors import Fault
from transformer_diagrams.records import dataclass

LONGEST = 2000
"""Labels longer than this many characters are cut, with a warning."""

_SCRIPT = r"(?:[_^](?:\{[^{}$]+\}|[^\W_]))"
_BRACED = r"(?:[_^]\{[^{}$]+\})"
# One letter with scripts of either kind, or a longer name whose scripts are all in braces.
_SYMBOL = re.compile(
    rf"(?<![\w^{{}}\\])(?:[^\W\d_]{_SCRIPT}+|[^\W\d_]{{2,}}{_BRACED}+)(?![\w^{{}}])"
)
_MATHS = re.compile(r"\\\$|\$(?=[^\s$])((?:\\.|[^$\\])*?)(?<=\S)\$(?!\d)")


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a line: ``content`` is literal text, or TeX without its dollars."""

    kind: str  # "text" or "math"
    content: str
    source: str  # as typed


def clean(markup: str) -> tuple[str, tuple[Fault, ...]]:
    """The markup without characters that no output may hold, and a warning for each kind.

    Control characters, lone surrogates and non-characters are dropped (they are not allowed in
    XML); line ends become "\\n"; tabs become spaces; an overlong text is cut.
    """
    faults: list[Fault] = []
    text = markup.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    kept: list[str] = []
    dropped: dict[str, None] = {}
    for char in text:
        if char != "\n" and _forbidden(char):
            dropped[f"U+{ord(char):04X}"] = None
        else:
            kept.append(char)
    text = unicodedata.normalize("NFC", "".join(kept))
    if dropped:
        faults.append(
            Fault(
                "bad-character",
                f"the label {shown(text)} holds characters that cannot be drawn; they are left out",
                found=", ".join(dropped),
                hint="delete them from the label",
                severity="warning",
            )
        )
    if len(text) > LONGEST:
        faults.append(
            Fault(
                "long-label",
                f"the label {shown(text)} has {len(text):,} characters; "
                f"it is cut after {LONGEST:,}",
                hint="put long explanations into the caption",
                severity="warning",
            )
        )
        text = text[:LONGEST].rstrip() + "…"
    return text, tuple(faults)


def _forbidden(char: str) -> bool:
    code = ord(char)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return True
    return 0xD800 <= code < 0xE000 or 0xFDD0 <= code < 0xFDF0 or code & 0xFFFE == 0xFFFE


def shown(text: str, most: int = 40) -> str:
    """The text in quotes for a message, cut to a readable length, on one line."""
    flat = " ".join(text.split())
    return f"'{flat}'" if len(flat) <= most else f"'{flat[: most - 1]}…'"


def parse_line(line: str) -> tuple[Piece, ...]:
    """The pieces of one line, adjoining texts joined.

    >>> [(p.kind, p.content) for p in parse_line("Linear $W_Q$")]
    [('text', 'Linear '), ('math', 'W_Q')]
    """
    pieces: list[Piece] = []

    def literal(content: str, source: str) -> None:
        if not content:
            return
        if pieces and pieces[-1].kind == "text":
            before = pieces.pop()
            content, source = before.content + content, before.source + source
        pieces.append(Piece("text", content, source))

    def text(content: str) -> None:
        at = 0
        for hit in _SYMBOL.finditer(content):
            literal(content[at : hit.start()], content[at : hit.start()])
            pieces.append(Piece("math", hit.group(), hit.group()))
            at = hit.end()
        literal(content[at:], content[at:])

    at = 0
    for hit in _MATHS.finditer(line):
        text(line[at : hit.start()])
        if hit.group(1) is None:
            literal("$", hit.group())
        else:
            pieces.append(Piece("math", hit.group(1), hit.group()))
        at = hit.end()
    text(line[at:])
    return tuple(pieces)


def plain(markup: str) -> str:
    r"""The label in readable words: maths as Unicode, lines joined by spaces.

    >>> plain("scale $1/\\sqrt{d_K}$")
    'scale 1/√d_K'
    """
    from transformer_diagrams.text.readable import readable

    text, _ = clean(markup)
    lines = []
    for line in text.split("\n"):
        said = "".join(
            piece.content if piece.kind == "text" else readable(piece.content)
            for piece in parse_line(line)
        )
        lines.append(" ".join(said.split()))
    return " ".join(line for line in lines if line)
