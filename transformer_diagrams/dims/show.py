"""Formulas as text that parses back, and as TeX; both with as few parentheses as they need.

Counts stand before widths (``2 n_g d_K``, ``L d_m``), terms of higher degree first, and a sum
does not begin with a minus where it can be helped (``1 - k``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformer_diagrams.dims.algebra import ONE, Atom, Dim, over
from transformer_diagrams.dims.polynomials import Coef, Mono

# How tightly a piece of text holds together.
_SUM, _MOD, _QUOTIENT, _PRODUCT, _POWER, _UNIT = range(6)

_GREEK = frozenset(
    (
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
        *("lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi"),
        *("psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon"),
        *("Phi", "Psi", "Omega"),
    )
)

Piece = tuple[str, int]


def plain(d: Dim) -> str:
    """``2 n_g d_K``, ``(a + b) / 2``, ``floor((h - 1) / 2) + 1``: text that parses to ``d``."""
    return _Plain().dim(d)[0]


def tex(d: Dim, names: Mapping[str, str] | None = None) -> str:
    r"""``2\, n_g\, d_K``, ``d_m / n_h``, ``\lfloor (h - 1) / 2 \rfloor + 1``."""
    return _Tex(names or {}).dim(d)[0]


def name_order(name: str) -> tuple[int, str]:
    """Layers and vocabularies, then counts, then positions, then widths."""
    if name == "d" or name.startswith("d_"):
        return {"d_t": (4, ""), "d_s": (5, "")}.get(name, (6, name))
    if name[0].isupper():
        return 1, name
    return (2, name) if name.startswith("n_") else (3, name)


def _factor_order(factor: str | Atom) -> tuple[int, str]:
    return name_order(factor) if isinstance(factor, str) else (9, "".join(factor.key))


def _term_order(mono: Mono) -> tuple[Any, ...]:
    factors = sorted((_factor_order(f), -e) for f, e in mono)
    return -sum(e for _, e in mono), factors


class _Plain:
    """The walk over a formula; the methods from ``symbol`` on are what a notation is."""

    minus = "-"

    def dim(self, d: Dim) -> Piece:
        if d.den is not None:
            top, bottom = over(d)
            negative = all(c < 0 for _, c in top.terms)
            text, level = self.quotient(self.sum(-top if negative else top), self.sum(bottom))
            return (self.minus + text, _SUM) if negative else (text, level)
        pieces: list[tuple[tuple[Any, ...], bool, Piece]] = []
        for top, bottom in d.parts:
            if bottom is ONE:
                for mono, c in top.terms:
                    pieces.append((_term_order(mono), c < 0, self.term(mono, -c if c < 0 else c)))
                continue
            negative = all(c < 0 for _, c in top.terms)
            above = -top if negative else top
            order = min(_term_order(mono) for mono, _ in top.terms)
            pieces.append((order, negative, self.quotient(self.sum(above), self.sum(bottom))))
        return self.added(pieces)

    def sum(self, d: Dim) -> Piece:
        """A sum with whole coefficients and no fractions."""
        return self.added(
            [(_term_order(mono), c < 0, self.term(mono, -c if c < 0 else c)) for mono, c in d.terms]
        )

    def added(self, pieces: list[tuple[tuple[Any, ...], bool, Piece]]) -> Piece:
        if not pieces:
            return "0", _UNIT
        pieces.sort(key=lambda piece: piece[0])
        first = next((i for i, piece in enumerate(pieces) if not piece[1]), 0)
        pieces.insert(0, pieces.pop(first))
        _, negative, (text, level) = pieces[0]
        if negative:  # -a % b would be read as (-a) % b
            text, level = self.minus + self.closed((text, level), _QUOTIENT), _SUM
        if len(pieces) == 1:
            return text, level
        for _, negative, (more, _) in pieces[1:]:
            text += (f" {self.minus} " if negative else " + ") + more
        return text, _SUM

    def term(self, mono: Mono, c: Coef) -> Piece:
        """A positive coefficient times factors with positive exponents."""
        texts: list[str] = []
        if c != 1 or not mono:
            texts.append(str(c))
        for factor, exponent in sorted(mono, key=lambda item: _factor_order(item[0])):
            piece = self.symbol(factor) if isinstance(factor, str) else self.atom(factor)
            if exponent != 1:
                piece = self.power(piece, exponent)
            elif len(mono) > 1 or texts:
                piece = self.closed(piece, _POWER), _POWER
            if len(mono) == 1 and not texts:
                return piece
            texts.append(piece[0])
        if len(texts) == 1:
            return texts[0], _UNIT
        return self.product(texts), _PRODUCT

    def closed(self, piece: Piece, level: int) -> str:
        """The text, in parentheses where it does not hold together as tightly as ``level``."""
        return piece[0] if piece[1] >= level else f"({piece[0]})"

    def quotient(self, top: Piece, bottom: Piece) -> Piece:
        return f"{self.closed(top, _PRODUCT)} / {self.closed(bottom, _POWER)}", _QUOTIENT

    def symbol(self, name: str) -> Piece:
        return name, _UNIT

    def product(self, texts: list[str]) -> str:
        return " ".join(texts)

    def power(self, piece: Piece, exponent: int) -> Piece:
        return f"{self.closed(piece, _UNIT)}^{exponent}", _POWER

    def atom(self, atom: Atom) -> Piece:
        if atom.kind == "mod":
            a, b = (self.dim(arg) for arg in atom.args)
            return f"{self.closed(a, _PRODUCT)} % {self.closed(b, _POWER)}", _MOD
        return f"{atom.kind}({self.listed(atom)})", _UNIT

    def listed(self, atom: Atom) -> str:
        """The arguments of a function, numbers first and the rest as in a sum."""
        def order(d: Dim) -> tuple[Any, ...]:
            return not d.is_const, min((_term_order(m) for m, _ in d.terms), default=()), str(d)

        return ", ".join(self.dim(arg)[0] for arg in sorted(atom.args, key=order))


class _Tex(_Plain):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def symbol(self, name: str) -> Piece:
        given = self.names.get(name)
        text = symbol_tex(name) if given is None else given
        # A prime or a power of its own keeps a second one from being put on it.
        return text, _POWER if "'" in text or "^" in text else _UNIT

    def product(self, texts: list[str]) -> str:
        return r"\, ".join(texts)

    def power(self, piece: Piece, exponent: int) -> Piece:
        text, level = piece
        if level == _POWER:
            text = f"{{{text}}}"
        elif level < _POWER:
            text = f"({text})"
        raised = str(exponent) if 0 <= exponent <= 9 else f"{{{exponent}}}"
        return f"{text}^{raised}", _POWER

    def atom(self, atom: Atom) -> Piece:
        if atom.kind == "mod":
            a, b = (self.dim(arg) for arg in atom.args)
            return rf"{self.closed(a, _PRODUCT)} \bmod {self.closed(b, _POWER)}", _MOD
        inner = self.listed(atom)
        if atom.kind in ("floor", "ceil"):
            return rf"\l{atom.kind} {inner} \r{atom.kind}", _UNIT
        return rf"\{atom.kind}({inner})", _UNIT


def symbol_tex(name: str) -> str:
    r"""``d_K`` -> ``d_K``, ``d_model`` -> ``d_{model}``, ``alpha`` -> ``\alpha``."""
    base, *below = [part for part in name.split("_") if part] or [name]
    digits = len(base) - len(base.rstrip("0123456789"))
    if digits and digits < len(base):
        base, below = base[:-digits], [base[-digits:], *below]
    if base in _GREEK:
        base = f"\\{base}"
    elif len(base) > 1:
        base = rf"\mathrm{{{base}}}"
    if not below:
        return base.replace("_", r"\_")
    parts = [f"\\{part}" if part in _GREEK else part for part in below]
    joined = ", ".join(parts)
    return f"{base}_{joined}" if len(joined) == 1 else f"{base}_{{{joined}}}"


