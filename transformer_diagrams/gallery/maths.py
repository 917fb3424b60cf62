"""Names, formulas and TeX as HTML: letters with sub- and superscripts, or outlines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformer_diagrams.text import Complaint

_NAME = re.compile(r"(?<![\w$])([A-Za-z])_([A-Za-z0-9]+)(?!\w)")
_TOKEN = re.compile(r"[A-Za-z]\w*|[=<>!]=|\d+(?:\.\d+)?|\^|.", re.DOTALL)
_TEX_NAME = re.compile(r"([A-Za-z]|\\[A-Za-z]+)(?:_\{?\\?([A-Za-z0-9]+)\}?)?('*)")
SIGNS = {"*": "·", "-": "−", "%": "mod", "==": "=", "<=": "≤", ">=": "≥", "!=": "≠"}
_WORDS = {"min", "max", "ceil", "floor", "sqrt"}
SIZE = 100.0  # formulas are measured at this size and drawn in ems


def name_html(name: str, tex: str = "") -> str:
    """A size's name: ``d_K`` as an italic d with a small K.

    >>> name_html("d_K")
    '<var>d<sub>K</sub></var>'
    """
    if tex:
        simple = _TEX_NAME.fullmatch(tex.replace("\\mathrm", "").replace("{{", "{"))
        if not simple:
            return tex_html(tex)
        letter, low, primes = simple.groups()
        if letter.startswith("\\"):
            return tex_html(tex)
        prime = "′" * len(primes)
    else:
        letter, _, low = name.partition("_")
        prime = ""
    sub = f"<sub>{escape(low)}</sub>" if low else ""
    return f"<var>{escape(letter)}{sub}{prime}</var>"


def formula_html(text: str, tex: Mapping[str, str] | None = None) -> str:
    """A formula in the language of sizes: ``2 n_g d_K`` with its names set as maths.

    >>> formula_html("d_m^2")
    '<var>d<sub>m</sub></var><sup>2</sup>'
    """
    out: list[str] = []
    raised = False
    for token in _TOKEN.findall(text):
        if token == "^":
            raised = True
            continue
        if re.match(r"[A-Za-z]", token):
            known = (tex or {}).get(token, "")
            piece = escape(token) if token in _WORDS else name_html(token, known)
        else:
            piece = SIGNS.get(token, escape(token))
        out.append(f"<sup>{piece}</sup>" if raised else piece)
        raised = False
    return "".join(out)


def words_html(text: str, names: Iterable[str] = (), tex: Mapping[str, str] | None = None) -> str:
    """Running words: ``$TeX$`` set as maths, and names such as ``n_g`` with their subscripts."""
    from transformer_diagrams.text.markup import parse_line

    known = {*names}
    out: list[str] = []
    words = ""

    def flush() -> None:
        nonlocal words
        at = 0
        for found in _NAME.finditer(words):
            name = found[0]
            out.append(escape(words[at : found.start()], quote=False))
            out.append(name_html(name, (tex or {}).get(name, "") if name in known else ""))
            at = found.end()
        out.append(escape(words[at:], quote=False))
        words = ""

    for piece in parse_line(text):
        if piece.source.startswith("$") and piece.kind == "math":
            flush()
            out.append(tex_html(piece.content))
        else:  # text, or a name such as `n_g`
            words += piece.content
    flush()
    return "".join(out)


@lru_cache(maxsize=1024)
def tex_html(tex: str, *, display: bool = False) -> str:
    """TeX as outlines in the colour of the text around it, with its words for the ear.

    Widths are ems, so that it grows with the text; the baseline is that of the words.
    """
    from transformer_diagrams.text import measure

    layout = measure(_markup(tex, display), SIZE)
    left, top, right, bottom = layout.ink
    left, right = min(0.0, left), max(layout.width, right)
    top, bottom = min(top, -layout.ascent * 0.9), max(bottom, 2.0)
    wide, high = right - left, bottom - top
    scale = layout.scale
    sunk = min(MOST_SUNK, max(0, round(bottom / SIZE / STEP)))
    kind = "display" if display else f"sunk-{sunk}"
    said = escape(layout.plain)
    return (
        f'<svg class="tex {kind}" role="img" aria-label="{said}" '
        f'width="{wide / SIZE:.3f}em" height="{high / SIZE:.3f}em" '
        f'viewBox="{left:.1f} {top:.1f} {wide:.1f} {high:.1f}">'
        f'<path fill="currentColor" transform="scale({scale:.5g})" d="{layout.outline}"/></svg>'
    )


def tex_complaints(tex: str, *, display: bool = False) -> tuple[Complaint, ...]:
    """What keeps a formula from being set."""
    return words_complaints(_markup(tex, display))


def words_complaints(markup: str) -> tuple[Complaint, ...]:
    """What keeps the formulas among words from being set."""
    from transformer_diagrams.text import judge

    return tuple(each for each in judge(markup, False) if each.error)


def _markup(tex: str, display: bool) -> str:
    # Sums and fractions of a formula on a line of its own are set large.
    return f"$\\displaystyle {tex}$" if display else f"${tex}$"


STEP = 0.05  # ems: how finely a formula's depth below the baseline is said
MOST_SUNK = 60


def depths_css() -> str:
    """Rules that put a formula's baseline on that of the words around it."""
    return "".join(
        f".sunk-{n}{{vertical-align:{-n * STEP:.2f}em}}" for n in range(MOST_SUNK + 1)
    )


def count_html(number: int | None) -> str:
    """A count to look at, with the exact one beside it: ``8.03 B`` and ``8,030,261,248``."""
    if number is None:
        return '<span class="none">not fixed</span>'
    exact = f"{number:,}"
    short = shortened(number)
    if short == exact:
        return f"<b>{exact}</b>"
    return f'<b>{short}</b> <span class="exact">{exact}</span>'


def shortened(number: int) -> str:
    """A count in three figures: ``8.03 B``; thousands with a comma below ten thousand.

    >>> shortened(8030261248), shortened(4096)
    ('8.03 B', '4,096')
    """
    if number < 10_000:
        return f"{number:,}"
    for power, unit in ((10**15, "P"), (10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k")):
        if number >= power * 0.9995:
            value = number / power
            digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:.{digits}f} {unit}"
    return f"{number:,}"
