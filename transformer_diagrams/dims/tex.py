"""A size as TeX, the way a paper would print it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from transformer_diagrams.dims.expr import Atom, Base, Dim

GREEK = {
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "eta",
    "theta",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "pi",
    "rho",
    "sigma",
    "tau",
    "phi",
    "chi",
    "psi",
    "omega",
}


def name_tex(name: str, names: Mapping[str, str] | None = None) -> str:
    """``d_K`` -> ``d_K``, ``d_model`` -> ``d_{\\mathrm{model}}``, ``width`` -> ``\\mathrm{width}``."""
    if names and name in names:
        return names[name]
    head, _, tail = name.partition("_")
    if not head:
        return "\\mathrm{" + name.replace("_", "\\_") + "}"
    return _word(head) + (f"_{_sub(tail)}" if tail else "")


def _word(word: str) -> str:
    if word in GREEK:
        return "\\" + word
    match = re.fullmatch(r"([A-Za-z])(\d+)", word)
    if match:
        return f"{match[1]}_{{{match[2]}}}"
    return word if len(word) == 1 else "\\mathrm{" + word + "}"


def _sub(tail: str) -> str:
    if len(tail) == 1:
        return tail
    text = tail.replace("_", ",")
    return "{" + (text if len(text) <= 2 and text.isupper() else f"\\mathrm{{{text}}}") + "}"


def tex(d: Dim, names: Mapping[str, str]) -> str:
    """The TeX of a size; ``names`` gives the TeX of single names."""
    if not d.terms:
        return "0"
    out = ""
    for mono, coefficient in d.terms:
        fraction = Fraction(coefficient)
        top = [str(abs(fraction.numerator))] if abs(fraction.numerator) != 1 else []
        top += [_power(b, e, names) for b, e in mono if e > 0]
        bottom = [str(fraction.denominator)] if fraction.denominator != 1 else []
        bottom += [_power(b, -e, names) for b, e in mono if e < 0]
        body = "\\, ".join(top) or "1"
        if bottom:
            below = "\\, ".join(bottom)
            body += " / " + (below if len(bottom) == 1 else f"({below})")
        if not out:
            out = ("-" if fraction < 0 else "") + body
        else:
            out += (" - " if fraction < 0 else " + ") + body
    return out


def _power(base: Base, power: int, names: Mapping[str, str]) -> str:
    text = name_tex(base, names) if isinstance(base, str) else _atom(base, names)
    if power == 1:
        return text
    return f"{{{text}}}^{{{power}}}" if "_" in text or len(text) > 1 else f"{text}^{{{power}}}"


def _group(d: Dim, names: Mapping[str, str]) -> str:
    return f"({tex(d, names)})" if len(d.terms) > 1 else tex(d, names)


def _atom(atom: Atom, names: Mapping[str, str]) -> str:
    if atom.kind == "floordiv":
        return f"\\lfloor {_group(atom.args[0], names)} / {_group(atom.args[1], names)} \\rfloor"
    if atom.kind == "mod":
        return f"({_group(atom.args[0], names)} \\bmod {_group(atom.args[1], names)})"
    if atom.kind == "div":
        return f"{_group(atom.args[0], names)} / {_group(atom.args[1], names)}"
    inner = ", ".join(tex(a, names) for a in atom.args)
    return f"\\{atom.kind}({inner})"
