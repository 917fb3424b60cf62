r"""Random TeX formulas, made by structure: most can be set, some are damaged on purpose.

``formulas(seed, n)`` gives the same ones for the same seed; ``check`` sets one as a label and
raises when anything but a clear complaint comes of it. ``main`` runs many and counts the bad ones.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections.abc import Iterator, Sequence

from transformer_diagrams.text import commands, judge, measure, plain

SECONDS = 5.0  # that one formula may take

_LETTERS = "xyzWQKVdnht"
_SIGNS = ["+", "-", "=", "<", "/", ",", "(", ")", "|", ".", "!", "[", "]", "'", "*", ":", " "]
_ODD = ["{", "}", "^", "_", "&", "#", "%", "~", "\\", "\\\\", "\\left", "\\right", "\\end",
        "\\begin{", "\\middle", "\\limits", "\\nosuch", "\\textcolor{red}", "é", "注", "\u0301",
        "\\hspace{1em}", "\\kern3pt", "\\over", "\\choose", "\\displaystyle", "\\not", "×", "→",
        "\\big", "\\text", "\\operatorname*{a\\,b}", "\\mathbb{R}", "\\cr", "\u200d"]  # fmt: skip
_SYMBOLS = sorted(name for name in commands.SYMBOLS if name.isalpha())
_ONE = sorted({*commands.ACCENTS, *commands.SPANNING, *commands.BOXES, *commands.PHANTOMS,
               *commands.CLASSES, *commands.ALPHABETS} - commands.TEXTS)  # fmt: skip
_OPERATORS = sorted({*commands.LARGE, *commands.INTEGRALS, *commands.LIMITS, *commands.FUNCTIONS})
_DELIMITERS = sorted(commands.DELIMITERS)


def formulas(seed: int, n: int) -> Iterator[str]:
    """``n`` formulas without their dollars; the same for the same seed."""
    rng = random.Random(seed)
    for _ in range(n):
        tex = _row(rng, rng.choice((0, 1, 1, 1, 2, 2, 3)))
        if rng.random() < 0.25:
            tex = _damaged(rng, tex)
        yield tex[:1200]


def check(tex: str) -> bool:
    """Judge, set and read a formula; whether it can be set.

    Raises AssertionError when the judge and the setter differ, when a fault says nothing, or when
    it takes too long; anything else that is raised is a fault of the program.
    """
    begin = time.process_time()
    label = f"a ${tex}$"
    complaints = judge(label)
    layout = measure(label, 9.0)
    said = plain(label)
    for complaint in complaints:
        assert complaint.message, tex
        assert 0 <= complaint.at <= len(label), tex
    errors = [complaint for complaint in complaints if complaint.error]
    bad = [fault for fault in layout.warnings if fault.code == "bad-formula"]
    assert bool(errors) == bool(bad), (tex, errors, bad)
    left, top, right, bottom = layout.ink
    assert right >= left, tex
    assert bottom >= top, tex
    # Nothing flies away: what is set stays near its line.
    most = 60 * 9.0 + 9.0 * len(tex) * 3
    assert max(abs(v) for v in (left, top, right, bottom, layout.width)) < most, tex
    assert "\n" not in said, tex
    assert time.process_time() - begin < SECONDS, tex
    return not errors


def _row(rng: random.Random, depth: int) -> str:
    return " ".join(_part(rng, depth) for _ in range(rng.choice((1, 1, 1, 2, 2, 3))))


def _part(rng: random.Random, depth: int) -> str:
    base = _base(rng, depth)
    roll = rng.random()
    if depth > 0 and roll < 0.2:
        base += f"_{{{_row(rng, depth - 1)}}}"
    if depth > 0 and 0.1 < roll < 0.3:
        base += f"^{{{_row(rng, depth - 1)}}}"
    if 0.3 < roll < 0.34:
        base += "'" * rng.randint(1, 3)
    return base


def _base(rng: random.Random, depth: int) -> str:
    if depth <= 0 or rng.random() < 0.35:
        roll = rng.random()
        if roll < 0.45:
            return rng.choice(_LETTERS)
        if roll < 0.6:
            return str(rng.randint(0, 2048))
        if roll < 0.75:
            return rng.choice(_SIGNS)
        return f"\\{rng.choice(_SYMBOLS)}"
    inner, other = _row(rng, depth - 1), _row(rng, depth - 1)
    kind = rng.randrange(15)
    if kind < 3:
        return f"\\{rng.choice(_ONE)}{{{inner}}}"
    if kind == 3:
        return f"\\{rng.choice(sorted(commands.FRACTIONS))}{{{inner}}}{{{other}}}"
    if kind == 4:
        degree = rng.choice(("", "", "[3]", f"[{rng.choice(_LETTERS)}+1]"))
        return f"\\sqrt{degree}{{{inner}}}"
    if kind in (5, 6):
        left, right = rng.choice(_DELIMITERS), rng.choice(_DELIMITERS)
        middle = f" \\middle| {other}" if rng.random() < 0.2 else ""
        return f"\\left{left} {inner}{middle} \\right{right}"
    if kind == 7:
        name = rng.choice(sorted(commands.TABLES))
        columns = "{lcr}" if name in ("array", "subarray") else ""
        return f"\\begin{{{name}}}{columns} {inner} & {other} \\\\ {inner} \\end{{{name}}}"
    if kind == 8:
        return f"\\{rng.choice(('overset', 'underset', 'stackrel'))}{{{inner}}}{{{other}}}"
    if kind == 9:
        below = f"[{rng.choice(_LETTERS)}]" if rng.random() < 0.3 else ""
        return f"\\{rng.choice(sorted(commands.ARROWS))}{below}{{{inner}}}"
    if kind == 10:
        limits = rng.choice(("", "", "\\limits", "\\nolimits"))
        return f"\\{rng.choice(_OPERATORS)}{limits}_{{{inner}}}"
    if kind == 11:
        return f"\\{rng.choice(sorted(commands.TEXTS))}{{{rng.choice(_LETTERS)} of a-b\\_c}}"
    if kind == 12:
        return f"\\{rng.choice(sorted(commands.BIG))}{rng.choice(_DELIMITERS)} {inner}"
    if kind == 13:
        style = rng.choice(sorted({*commands.STYLES, *commands.OLD_FONTS}))
        return f"{{\\{style} {inner}}}"
    return f"{{{inner}}}"


def _damaged(rng: random.Random, tex: str) -> str:
    for _ in range(rng.randint(1, 3)):
        at, end = sorted(rng.randrange(len(tex) + 1) for _ in range(2))
        kind = rng.randrange(4)
        if kind == 0:
            tex = tex[:at] + rng.choice(_ODD) + tex[at:]
        elif kind == 1:
            tex = tex[:at] + tex[min(end, at + 6) :]
        elif kind == 2:
            tex = tex[:at] + tex[at:end] * 2 + tex[end:]
        else:
            tex = tex[:at] + f"{{{tex[at:end]}}}" + tex[end:]
    return tex or "x"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check ``--count`` formulas from ``--seed`` on; prints each bad one, returns how many."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    bad = done = 0
    for tex in formulas(asked.seed, asked.count):
        try:
            done += check(tex)
        except Exception:  # whatever it is, the next one is tried
            bad += 1
            print(f"formula {tex!r}\n{traceback.format_exc(limit=-3)}", file=sys.stderr)
    print(f"{asked.count} formulas: {done} set, {asked.count - done - bad} refused, {bad} bad")
    return bad


if __name__ == "__main__":
    sys.exit(bool(main()))
