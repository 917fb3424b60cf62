"""Breaks a label into lines of a given width, evenly, at blanks; an overlong word is cut."""

from __future__ import annotations

import re
from bisect import bisect_right

from transformer_diagrams.text.layout import measure
from transformer_diagrams.text.markup import clean, parse_line

MOST_LINES = 40
_BREAKS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[-/_.])(?=\w)")


def wrap(markup: str, size: float, max_width: float, weight: str = "regular") -> str:
    """The same label with line ends put in, so that ``measure`` gives at most ``max_width``.

    ``size`` and ``max_width`` are points. Maths is never broken, so a formula wider than
    ``max_width`` stays wider. Lines are made about equally long. Lines after the 40th are left
    out and an ellipsis says so.
    """
    text, _ = clean(markup)
    lines: list[str] = []
    for line in text.split("\n"):
        if measure(line, size, weight).width <= max_width:
            lines.append(line)
            continue
        lines.extend(_balanced(_words(line, size, max_width, weight), size, max_width, weight))
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], "…"]
    return "\n".join(lines)


def _words(line: str, size: float, max_width: float, weight: str) -> list[tuple[str, bool]]:
    """The unbreakable parts of a line, each with whether a blank goes before it."""
    words: list[tuple[str, bool]] = []
    glued = True
    for piece in parse_line(line):
        if piece.kind == "math":
            _append(words, piece.source, glued)
            glued = True
            continue
        for part in re.split(r"(\s+)", piece.source):
            if part.isspace():
                glued = False
            elif part:
                _append(words, part, glued)
                glued = True
    return [
        (part, spaced and index == 0)
        for word, spaced in words
        for index, part in enumerate(_cut(word, size, max_width, weight))
    ]


def _append(words: list[tuple[str, bool]], part: str, glued: bool) -> None:
    if glued and words:
        words[-1] = (words[-1][0] + part, words[-1][1])
    else:
        words.append((part, bool(words)))


def _cut(word: str, size: float, max_width: float, weight: str) -> list[str]:
    """A word in parts that fit, cut at capitals and signs where there are any."""
    if "$" in word or measure(word, size, weight).width <= max_width:
        return [word]
    parts: list[str] = []
    current = ""

    def width_of_first(count: int) -> float:
        return measure(current[:count], size, weight).width

    for chunk in _BREAKS.split(word):
        if current and measure(current + chunk, size, weight).width <= max_width:
            current += chunk
            continue
        if current:
            parts.append(current)
        current = chunk
        while len(current) > 1 and measure(current, size, weight).width > max_width:
            most = bisect_right(range(2, len(current)), max_width, key=width_of_first) + 1
            parts.append(current[:most])
            current = current[most:]
    return [*parts, current] if current else parts


def _balanced(
    words: list[tuple[str, bool]], size: float, max_width: float, weight: str
) -> list[str]:
    """Greedy lines, then the least width that needs no more of them."""
    widths = [measure(word, size, weight).width for word, _ in words]
    blank = 0.27 * size
    best = _greedy(words, widths, blank, max_width)
    low, high = max(widths), max_width
    for _ in range(12):
        if high - low < size / 4:
            break
        middle = (low + high) / 2
        tried = _greedy(words, widths, blank, middle)
        if len(tried) <= len(best):
            best, high = tried, middle
        else:
            low = middle
    return best


def _greedy(
    words: list[tuple[str, bool]], widths: list[float], blank: float, limit: float
) -> list[str]:
    lines: list[str] = []
    used = 0.0
    for (word, spaced), width in zip(words, widths, strict=True):
        gap = blank if spaced else 0.0
        if lines and used + gap + width <= limit:
            lines[-1] += (" " if spaced else "") + word
            used += gap + width
        else:
            lines.append(word)
            used = width
    return lines
