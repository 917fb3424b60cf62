r"""TeX in readable Unicode, for search, copying and hearing: ``d_t \times d_m`` -> d_t × d_m.

Made from the very tree that is drawn, so that what is found is what is seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from transformer_diagrams.text.commands import ACCENTS, INTEGRALS, LARGE, SPOKEN, styled
from transformer_diagrams.text.tex import BadFormula, Tex, empty, parse

_RAISED = frozenset("0123456789+-()")
_SUPER = str.maketrans("0123456789+-()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾")
_SPACES = re.compile(r"\s+")
# Signs of operators that stand close to what they join, and those typed with the blanks meant.
_CLOSE = frozenset("·∗⋆∘•+−=<>:/\\")
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_OPERATORS = frozenset((*LARGE.values(), *INTEGRALS.values()))


def readable(tex: str) -> str:
    r"""TeX as a line of Unicode text; what cannot be set reads as it is typed. Never fails.

    >>> readable(r"\frac{1}{\sqrt{d_K}} Q K^\top")
    '1/√d_K QKᵀ'
    """
    try:
        said = _words(parse(tex))
    except BadFormula:
        said = tex
    return _SPACES.sub(" ", said).strip()


def _words(node: Tex, alphabet: str = "") -> str:
    return _SAY[node.kind](node, alphabet)


def _all(parts: Iterable[Tex], alphabet: str) -> list[str]:
    return [_words(part, alphabet) for part in parts]


def _row(node: Tex, alphabet: str) -> str:
    out = ""
    after_name = False
    for part in node.parts:
        said = _words(part, alphabet)
        if not said:
            continue
        name = (part.parts[0] if part.kind == "script" else part).kind == "name"
        # "log p" and "2 sin x" are words of their own.
        if (after_name and said[0].isalnum()) or (name and out and out[-1] not in " (["):
            out += " "
        out += said
        after_name = name
    return out


def _blank(node: Tex, alphabet: str) -> str:
    return node.text


def _space(node: Tex, alphabet: str) -> str:
    return " " if node.size > 0 else ""


def _letter(node: Tex, alphabet: str) -> str:
    # Double-struck letters have a meaning of their own, as has ℝ; other alphabets are a look.
    char = styled(node.text, alphabet) if alphabet == "DOUBLE-STRUCK" else node.text
    return SPOKEN.get(char, char)


def _number(node: Tex, alphabet: str) -> str:
    if alphabet == "DOUBLE-STRUCK":
        return "".join(styled(char, alphabet) for char in node.text)
    return node.text


def _text(node: Tex, alphabet: str) -> str:
    return node.text


def _sign(node: Tex, alphabet: str) -> str:
    said = SPOKEN.get(node.text, node.text)
    spaced = node.note in ("bin", "rel") and node.text not in _CLOSE
    return f" {said} " if spaced else said


def _big(node: Tex, alphabet: str) -> str:
    return "" if node.text == "." else node.text


def _font(node: Tex, alphabet: str) -> str:
    return "".join(_all(node.parts, node.note))


def _script(node: Tex, alphabet: str) -> str:
    base, below, above = node.parts
    said = _words(base, alphabet)
    if base.kind == "span" and not base.note and base.text.endswith(("brace", "bracket", "paren")):
        notes = [_words(part, alphabet).strip() for part in (below, above) if not empty(part)]
        return f"{said} ({', '.join(notes)})" if notes else said
    if not empty(below):
        said += f"_{_grouped(_words(below, alphabet))}"
    if not empty(above):
        said += _raised(_words(above, alphabet).strip())
    return said


def _raised(script: str) -> str:
    if script == "⊤":
        return "ᵀ"
    primes = script[: len(script) - len(script.lstrip("′″‴⁗"))]
    rest = script[len(primes) :]
    if not rest:
        return primes
    if set(rest) <= _RAISED:
        return primes + rest.translate(_SUPER)
    return f"{primes}^{_grouped(rest)}"


def _frac(node: Tex, alphabet: str) -> str:
    above, below = _all(node.parts, alphabet)
    if node.size:
        return f"{_grouped(above)}/{_grouped(below)}"
    if node.text == "()":
        return f"{_grouped(above)} choose {_grouped(below)}"
    left, right = tuple(node.text) or ("", "")
    return f"{left}{above.strip()} over {below.strip()}{right}"


def _root(node: Tex, alphabet: str) -> str:
    inner, degree = _all(node.parts, alphabet)
    degree = degree.strip()
    if degree in _ROOTS:
        return f"{_ROOTS[degree]}{_grouped(inner)}"
    return f"{_grouped(degree)}-th root of {_grouped(inner)}"


def _accent(node: Tex, alphabet: str) -> str:
    inner = _words(node.parts[0], alphabet).strip()
    return inner[:1] + ACCENTS[node.text][2] + inner[1:]


def _span(node: Tex, alphabet: str) -> str:
    return _words(node.parts[0], alphabet).strip()


def _stack(node: Tex, alphabet: str) -> str:
    base = node.parts[0]
    said, below, above = (one.strip() for one in _all(node.parts, alphabet))
    if below and (base.kind == "name" or base.text in _OPERATORS):
        return f"{said}_{below}"
    places = [
        f"{script} {place}" for script, place in ((below, "below"), (above, "above")) if script
    ]
    return f" {said} with {' and '.join(places)} " if places else said


def _arrow(node: Tex, alphabet: str) -> str:
    below, above = (one.strip() for one in _all(node.parts, alphabet))
    places = [
        f"{script} {place}" for script, place in ((below, "below"), (above, "above")) if script
    ]
    return f" {node.text} with {' and '.join(places)} " if places else f" {node.text} "


def _fence(node: Tex, alphabet: str) -> str:
    left, right = tuple(node.text.replace(".", " "))
    return f"{left}{''.join(_all(node.parts, alphabet)).strip()}{right}"


def _table(node: Tex, alphabet: str) -> str:
    rows = ", ".join if node.note == "rl" else "; ".join
    cells = "" if node.note == "rl" else ", "
    said = rows(
        cells.join(" ".join(cell.split()) for cell in _all(row.parts, alphabet))
        for row in node.parts
    )
    left, right = tuple(node.text.replace(".", " "))
    return f"{left}{said}{right}"


def _phantom(node: Tex, alphabet: str) -> str:
    return ""


def _grouped(text: str) -> str:
    text = text.strip()
    held = text.startswith("(") and text.find(")") == len(text) - 1
    return f"({text})" if re.search(r"[\s+\-/=<>]", text) and not held else text


_SAY: dict[str, Callable[[Tex, str], str]] = {
    "row": _row, "style": _row, "class": _row, "box": _row, "blank": _blank, "space": _space,
    "letter": _letter, "number": _number, "name": _text, "words": _text, "sign": _sign,
    "big": _big, "font": _font, "script": _script, "frac": _frac, "root": _root,
    "accent": _accent, "span": _span, "stack": _stack, "arrow": _arrow, "fence": _fence,
    "table": _table, "phantom": _phantom,
}  # fmt: skip
