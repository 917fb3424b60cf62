"""Formulas as text that parses back, and as TeX; both with as few parentheses as they need.

Terms of higher degree stand first, and a sum does not begin with a minus where it can be helped
(``1 - k``). Names stand in the order that a spec declares them in, where the notation knows one
(see ``spelling``); else counts before widths (``2 n_g d_K``, ``L d_m``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from transformer_diagrams.dims.polynomials import Coef, Mono

if TYPE_CHECKING:
    from transformer_diagrams.dims.formula import Dim, Opaque

# How tightly a piece of text holds together.
SUM, MOD, QUOTIENT, PRODUCT, POWER, UNIT = range(6)

_GREEK = frozenset(
    (
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
        *("lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi"),
        *("psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon"),
        *("Phi", "Psi", "Omega"),
    )
)

Piece = tuple[str, int]
Signed = tuple[tuple[Any, ...], bool, Piece]


def plain(d: Dim) -> str:
    """``2 n_g d_K``, ``(a + b) / 2``, ``floor((h - 1) / 2) + 1``: text that parses to ``d``."""
    return Plain().dim(d)[0]


def tex(d: Dim, names: Mapping[str, str] | None = None) -> str:
    r"""``2\, n_g\, d_K``, ``d_m / n_h``, ``\lfloor (h - 1) / 2 \rfloor + 1``."""
    return AsTex(names or {}).dim(d)[0]


def name_order(name: str) -> tuple[int, str]:
    """Layers and vocabularies, then counts, then positions, then widths."""
    if name == "d" or name.startswith("d_"):
        return {"d_t": (4, ""), "d_s": (5, "")}.get(name, (6, name))
    if name[0].isupper():
        return 1, name
    return (2, name) if name.startswith("n_") else (3, name)


class Plain:
    """The walk over a formula; the methods from ``symbol`` on are what a notation is.

    ``order``   what names are sorted by
    ``called``  what a name is printed as, where that is another one
    ``wholes``  fractions (above, below) that are whole numbers: ``(H / P) (W / P)``
    """

    minus = "-"

    def __init__(
        self,
        order: Callable[[str], Any] = name_order,
        called: Mapping[str, str] | None = None,
        wholes: tuple[tuple[Mono, Mono], ...] = (),
    ) -> None:
        self.order = order
        self.called = called or {}
        self.wholes = wholes

    def factor_order(self, factor: str | Opaque) -> tuple[Any, ...]:
        return (0, self.order(factor)) if isinstance(factor, str) else (1, "".join(factor.key))

    def term_order(self, mono: Mono) -> tuple[Any, ...]:
        factors = sorted((self.factor_order(f), -e) for f, e in mono)
        return -sum(e for _, e in mono), factors

    def dim(self, d: Dim) -> Piece:
        if d.den is not None:
            ((top, bottom),) = d.parts
            negative = all(c < 0 for _, c in top.terms)
            text, level = self.quotient(self.sum(-top if negative else top), self.sum(bottom))
            return (self.minus + text, SUM) if negative else (text, level)
        pieces: list[Signed] = []
        for top, bottom in d.parts:
            if bottom == 1:
                pieces += map(self.signed, top.terms)
                continue
            negative = all(c < 0 for _, c in top.terms)
            above = -top if negative else top
            order = min(self.term_order(mono) for mono, _ in top.terms)
            pieces.append((order, negative, self.fraction(above, bottom)))
        return self.added(pieces)

    def fraction(self, top: Dim, bottom: Dim) -> Piece:
        """``top / bottom``, as a product of fractions where two or more are whole numbers."""
        if self.wholes and len(top.terms) == len(bottom.terms) == 1:
            (above, c), (below, unit) = top.terms[0], bottom.terms[0]
            left, under = dict(above), dict(below)
            found: dict[Piece, int] = {}
            for numerator, denominator in self.wholes if unit == 1 else ():
                while _taken(left, numerator) and _taken(under, denominator):
                    whole = self.quotient(self.term(numerator, 1), self.term(denominator, 1))
                    found[whole] = found.get(whole, 0) + 1
                    _take(left, numerator)
                    _take(under, denominator)
            if sum(found.values()) > 1 and not any(under.values()):
                rest = tuple((f, left[f]) for f, _ in above if left[f])
                texts = [self.term(rest, c)[0]] if rest or c != 1 else []
                if not texts and len(found) == 1:
                    return self.power(*found.popitem())
                texts += [
                    self.closed(w, POWER) if n == 1 else self.power(w, n)[0]
                    for w, n in found.items()
                ]
                return self.product(texts), PRODUCT
        return self.quotient(self.sum(top), self.sum(bottom))

    def sum(self, d: Dim) -> Piece:
        """A sum with whole coefficients and no fractions."""
        return self.added([self.signed(term) for term in d.terms])

    def signed(self, term: tuple[Mono, Coef]) -> Signed:
        """A term with what it is sorted by, and whether it is subtracted."""
        mono, c = term
        return self.term_order(mono), c < 0, self.term(mono, -c if c < 0 else c)

    def added(self, pieces: list[Signed]) -> Piece:
        if not pieces:
            return "0", UNIT
        pieces.sort(key=lambda piece: piece[0])
        first = next((i for i, piece in enumerate(pieces) if not piece[1]), 0)
        pieces.insert(0, pieces.pop(first))
        _, negative, (text, level) = pieces[0]
        if negative:  # -a % b would be read as (-a) % b
            text, level = self.minus + self.closed((text, level), QUOTIENT), SUM
        if len(pieces) == 1:
            return text, level
        for _, negative, (more, _) in pieces[1:]:
            text += (f" {self.minus} " if negative else " + ") + more
        return text, SUM

    def term(self, mono: Mono, c: Coef) -> Piece:
        """A positive coefficient times factors with positive exponents."""
        texts: list[str] = []
        if c != 1 or not mono:
            texts.append(str(c))
        for factor, exponent in sorted(mono, key=lambda item: self.factor_order(item[0])):
            piece = self.symbol(factor) if isinstance(factor, str) else self.atom(factor)
            if exponent != 1:
                piece = self.power(piece, exponent)
            elif len(mono) > 1 or texts:
                piece = self.closed(piece, POWER), POWER
            if len(mono) == 1 and not texts:
                return piece
            texts.append(piece[0])
        if len(texts) == 1:
            return texts[0], UNIT
        return self.product(texts), PRODUCT

    def closed(self, piece: Piece, level: int) -> str:
        """The text, in parentheses where it does not hold together as tightly as ``level``."""
        return piece[0] if piece[1] >= level else f"({piece[0]})"

    def quotient(self, top: Piece, bottom: Piece) -> Piece:
        return f"{self.closed(top, PRODUCT)} / {self.closed(bottom, POWER)}", QUOTIENT

    def symbol(self, name: str) -> Piece:
        return self.called.get(name, name), UNIT

    def product(self, texts: list[str]) -> str:
        return " ".join(texts)

    def power(self, piece: Piece, exponent: int) -> Piece:
        return f"{self.closed(piece, UNIT)}^{exponent}", POWER

    def atom(self, atom: Opaque) -> Piece:
        """A function; the arguments of min and max are numbers first, the rest as in a sum."""
        def order(d: Dim) -> tuple[Any, ...]:
            terms = min((self.term_order(m) for m, _ in d.terms), default=())
            return not d.is_const, terms, d.canonical

        args = atom.args if atom.kind == "mod" else sorted(atom.args, key=order)
        return self.function(atom.kind, [self.dim(arg) for arg in args])

    def function(self, kind: str, args: list[Piece]) -> Piece:
        if kind == "mod":
            a, b = args
            return f"{self.closed(a, PRODUCT)} % {self.closed(b, POWER)}", MOD
        return f"{kind}({', '.join(text for text, _ in args)})", UNIT


class AsTex(Plain):
    """TeX; ``names`` gives the TeX of printed names that do not follow the rule."""

    def __init__(self, names: Mapping[str, str], *known: Any) -> None:
        super().__init__(*known)
        self.names = names

    def symbol(self, name: str) -> Piece:
        name = self.called.get(name, name)
        given = self.names.get(name)
        text = symbol_tex(name) if given is None else given
        # A prime or a power of its own keeps a second one from being put on it.
        return text, POWER if "'" in text or "^" in text else UNIT

    def product(self, texts: list[str]) -> str:
        return r"\, ".join(texts)

    def power(self, piece: Piece, exponent: int) -> Piece:
        text, level = piece
        if level == POWER:
            text = f"{{{text}}}"
        elif level < POWER:
            text = f"({text})"
        raised = str(exponent) if 0 <= exponent <= 9 else f"{{{exponent}}}"
        return f"{text}^{raised}", POWER

    def function(self, kind: str, args: list[Piece]) -> Piece:
        if kind == "mod":
            a, b = args
            return rf"{self.closed(a, PRODUCT)} \bmod {self.closed(b, POWER)}", MOD
        inner = ", ".join(text for text, _ in args)
        if kind in ("floor", "ceil"):
            return rf"\l{kind} {inner} \r{kind}", UNIT
        return rf"\{kind}({inner})", UNIT


def _taken(have: dict[str | Opaque, int], mono: Mono) -> bool:
    return all(have.get(factor, 0) >= exponent for factor, exponent in mono)


def _take(have: dict[str | Opaque, int], mono: Mono) -> None:
    for factor, exponent in mono:
        have[factor] -= exponent


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


