r"""TeX in readable Unicode, for search, copying and hearing: ``d_t \times d_m`` -> d_t × d_m.

Not a TeX system: it knows the commands that labels use, and drops the backslash of others.
"""

from __future__ import annotations

import re

SYMBOLS: dict[str, str] = {
    "times": "×", "cdot": "·", "cdots": "⋯", "ldots": "…", "dots": "…", "vdots": "⋮",
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈",
    "equiv": "≡", "sim": "∼", "propto": "∝", "in": "∈", "notin": "∉", "subset": "⊂",
    "cup": "∪", "cap": "∩", "to": "→", "rightarrow": "→", "leftarrow": "←", "mapsto": "↦",
    "Rightarrow": "⇒", "uparrow": "↑", "downarrow": "↓", "infty": "∞", "partial": "∂",
    "nabla": "∇", "sum": "∑", "prod": "∏", "int": "∫", "pm": "±", "mp": "∓", "div": "÷",
    "ast": "∗", "star": "⋆", "circ": "∘", "bullet": "•", "oplus": "⊕", "otimes": "⊗",
    "odot": "⊙", "top": "⊤", "bot": "⊥", "mid": "|", "vert": "|", "lvert": "|", "rvert": "|",
    "Vert": "‖", "lVert": "‖", "rVert": "‖", "|": "‖", "langle": "⟨", "rangle": "⟩",
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "forall": "∀", "exists": "∃",
    "ell": "ℓ", "hbar": "ℏ", "prime": "′", "neg": "¬", "land": "∧", "lor": "∨", "ll": "≪",
    "gg": "≫", "parallel": "∥", "perp": "⊥", "setminus": "∖", "colon": ":", "emptyset": "∅",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ",
    "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    ",": " ", ";": " ", ":": " ", "!": "", " ": " ", "quad": "  ", "qquad": "  ",
    "{": "{", "}": "}", "%": "%", "_": "_", "&": "&", "#": "#", "$": "$", "\\": " ",
    "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "", "Bigl": "",
    "Bigr": "", "displaystyle": "", "textstyle": "", "limits": "",
}  # fmt: skip
_WRAPPERS = {
    "mathrm", "text", "mathbf", "mathit", "mathsf", "mathtt", "mathcal", "operatorname",
    "boldsymbol", "bm", "textbf", "textit", "textrm", "mathscr", "mathfrak", "vec",
    "underline", "overline", "mbox",
}  # fmt: skip
_ACCENTS = {"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303",
            "bar": "\u0304", "dot": "\u0307"}  # fmt: skip
_DOUBLE = {"R": "ℝ", "Z": "ℤ", "N": "ℕ", "Q": "ℚ", "C": "ℂ", "E": "𝔼", "P": "ℙ", "1": "𝟙"}
_SUPER = str.maketrans("0123456789+-()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾")
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|[{}^_]|\s+|.", re.DOTALL)
_SPACES = re.compile(r"\s+")


def readable(tex: str) -> str:
    r"""TeX as a line of Unicode text; never fails.

    >>> readable(r"\frac{1}{\sqrt{d_K}} Q K^\top")
    '1/√d_K QKᵀ'
    """
    tokens = _TOKEN.findall(tex)
    out, _ = _sequence(tokens, 0, 0)
    return _SPACES.sub(" ", out).strip()


_DEEPEST = 60


def _sequence(tokens: list[str], at: int, depth: int) -> tuple[str, int]:
    """Everything up to a closing brace (which is taken too) or the end."""
    out: list[str] = []
    while at < len(tokens):
        if tokens[at] == "}":
            return "".join(out), at + 1
        piece, at = _atom(tokens, at, depth)
        out.append(piece)
    return "".join(out), at


def _argument(tokens: list[str], at: int, depth: int) -> tuple[str, int]:
    while at < len(tokens) and tokens[at].isspace():
        at += 1
    if at >= len(tokens) or tokens[at] == "}":
        return "", at
    return _atom(tokens, at, depth)


def _atom(tokens: list[str], at: int, depth: int) -> tuple[str, int]:
    token = tokens[at]
    at += 1
    if depth > _DEEPEST:
        return token, at
    if token == "{":
        return _sequence(tokens, at, depth + 1)
    if token in "^_" and len(token) == 1:
        script, at = _argument(tokens, at, depth + 1)
        script = script.strip()
        if token == "_":
            return f"_{script}", at
        if script == "⊤":
            return "ᵀ", at
        if script in {"′", "″"}:
            return script, at
        raised = script.translate(_SUPER)
        return (raised if raised != script or not script else f"^{script}"), at
    if token.isspace():
        # TeX ignores blanks; a blank after a relation reads better kept, one between letters
        # (the product "Q K") does not.
        return _blank(tokens, at), at
    if not token.startswith("\\") or token == "\\":
        return ("′" if token == "'" else " " if token == "~" else token), at
    name = token[1:]
    if name in SYMBOLS:
        return _spaced(name), at
    if name == "frac" or name in ("dfrac", "tfrac"):
        above, at = _argument(tokens, at, depth + 1)
        below, at = _argument(tokens, at, depth + 1)
        return f"{_grouped(above)}/{_grouped(below)}", at
    if name == "sqrt":
        inner, at = _argument(tokens, at, depth + 1)
        return f"√{_grouped(inner)}", at
    if name == "mathbb":
        inner, at = _argument(tokens, at, depth + 1)
        return "".join(_DOUBLE.get(char, char) for char in inner), at
    if name in _ACCENTS:
        inner, at = _argument(tokens, at, depth + 1)
        return inner + _ACCENTS[name], at
    if name in _WRAPPERS:
        return _verbatim(tokens, at, depth + 1)
    return name, at


def _verbatim(tokens: list[str], at: int, depth: int) -> tuple[str, int]:
    """The argument of a text command, blanks kept."""
    if at < len(tokens) and tokens[at] == "{":
        out: list[str] = []
        at += 1
        while at < len(tokens) and tokens[at] != "}":
            if tokens[at].isspace():
                out.append(" ")
                at += 1
            else:
                piece, at = _atom(tokens, at, depth + 1)
                out.append(piece)
        return "".join(out), at + 1
    return _argument(tokens, at, depth)


_RELATIONS = {"times", "le", "leq", "ge", "geq", "ne", "neq", "approx", "equiv", "in", "to",
              "rightarrow", "leftarrow", "mapsto", "Rightarrow", "oplus", "otimes", "odot",
              "pm", "mid", "propto", "sim", "cup", "cap", "subset", "parallel", "ll",
              "gg"}  # fmt: skip


def _spaced(name: str) -> str:
    return f" {SYMBOLS[name]} " if name in _RELATIONS else SYMBOLS[name]


def _blank(tokens: list[str], at: int) -> str:
    before = tokens[at - 2] if at >= 2 else ""
    after = tokens[at] if at < len(tokens) else ""
    glue = set("=<>+-|,")
    if before in glue or after in glue:
        return " "
    if before.isdigit() or before == "}" or after == "\\":
        return " "
    # A product of scripted letters, "n_g d_K", needs the blank to be read as two symbols.
    scripted = at >= 3 and tokens[at - 3] in ("_", "^")
    return " " if scripted or before == "" else ""


def _grouped(text: str) -> str:
    text = text.strip()
    return f"({text})" if re.search(r"[\s+\-/]", text) else text
