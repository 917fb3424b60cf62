r"""The TeX commands that labels may use: what each of them is, and which sign it draws.

One table serves the setter, the words for search and hearing, the check and its hints. What is
not in it is refused: a command that is set as something else is worse than one that is not set.
"""

from __future__ import annotations

import unicodedata
from typing import Final


def _pairs(words: str) -> dict[str, str]:
    """``"le ≤ leq ≤"`` -> {"le": "≤", "leq": "≤"}."""
    parts = words.split()
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _listed(words: str) -> list[str]:
    return words.split()


# Letters and other signs without space around them.
ORDINARY: Final = _pairs(
    "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ "
    "iota ι kappa κ varkappa ϰ lambda λ mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ "
    "sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω digamma ϝ "
    "varGamma 𝛤 varDelta 𝛥 varTheta 𝛩 varLambda 𝛬 varXi 𝛯 varPi 𝛱 varSigma 𝛴 varUpsilon 𝛶 "
    "varPhi 𝛷 varPsi 𝛹 varOmega 𝛺 Diamond ◇ "
    "Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω "
    "infty ∞ partial ∂ nabla ∇ forall ∀ exists ∃ nexists ∄ emptyset ∅ varnothing ∅ ell ℓ "
    "hbar ℏ hslash ℏ prime ′ dprime ″ backprime ‵ neg ¬ lnot ¬ top ⊤ bot ⊥ angle ∠ "
    "measuredangle ∡ sphericalangle ∢ aleph ℵ beth ℶ gimel ℷ daleth ℸ Re ℜ Im ℑ wp ℘ "
    "imath 𝚤 jmath 𝚥 eth ð complement ∁ flat ♭ sharp ♯ natural ♮ clubsuit ♣ diamondsuit ♢ "
    "heartsuit ♡ spadesuit ♠ triangle △ triangledown ▽ square □ Box □ blacksquare ■ "
    "lozenge ◊ blacklozenge ⧫ bigstar ★ blacktriangle ▲ blacktriangledown ▼ surd √ "
    "degree ° checkmark ✓ maltese ✠ S § P ¶ copyright © pounds £ yen ¥ circledR ® circledS Ⓢ "
    "mho ℧ Bbbk 𝕜 Finv Ⅎ Game ⅁ diagup ╱ diagdown ╲ dag † ddag ‡ "
    "ldots … dots … dotsc … dotso … cdots ⋯ dotsb ⋯ dotsm ⋯ dotsi ⋯ vdots ⋮ ddots ⋱ "
    "textbackslash \\ textasciicircum ^ textasciitilde ~ textunderscore _"
)

BINARY: Final = _pairs(
    "times × cdot · centerdot · div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet • cap ∩ cup ∪ "
    "uplus ⊎ sqcap ⊓ sqcup ⊔ vee ∨ lor ∨ wedge ∧ land ∧ setminus ∖ smallsetminus ∖ wr ≀ "
    "diamond ⋄ bigtriangleup △ bigtriangledown ▽ triangleleft ◁ triangleright ▷ lhd ⊲ rhd ⊳ "
    "unlhd ⊴ unrhd ⊵ oplus ⊕ ominus ⊖ otimes ⊗ oslash ⊘ odot ⊙ circledcirc ⊚ circledast ⊛ "
    "circleddash ⊝ boxplus ⊞ boxminus ⊟ boxtimes ⊠ boxdot ⊡ bigcirc ◯ dagger † ddagger ‡ "
    "amalg ⨿ dotplus ∔ ltimes ⋉ rtimes ⋊ leftthreetimes ⋋ rightthreetimes ⋌ barwedge ⊼ "
    "veebar ⊻ curlywedge ⋏ curlyvee ⋎ intercal ⊺ divideontimes ⋇ Cap ⋒ Cup ⋓"
)

RELATIONS: Final = _pairs(
    "leq ≤ le ≤ geq ≥ ge ≥ lt < gt > ne ≠ neq ≠ equiv ≡ approx ≈ sim ∼ simeq ≃ cong ≅ "
    "propto ∝ varpropto ∝ ll ≪ gg ≫ lll ⋘ ggg ⋙ leqslant ⩽ geqslant ⩾ leqq ≦ geqq ≧ lneq ⪇ "
    "gneq ⪈ lneqq ≨ gneqq ≩ nleq ≰ ngeq ≱ nless ≮ ngtr ≯ lesssim ≲ gtrsim ≳ lessgtr ≶ "
    "gtrless ≷ lesseqgtr ⋚ gtreqless ⋛ lessapprox ⪅ gtrapprox ⪆ lessdot ⋖ gtrdot ⋗ "
    "eqslantless ⪕ eqslantgtr ⪖ prec ≺ succ ≻ preceq ⪯ succeq ⪰ preccurlyeq ≼ succcurlyeq ≽ "
    "precsim ≾ succsim ≿ nprec ⊀ nsucc ⊁ curlyeqprec ⋞ curlyeqsucc ⋟ in ∈ notin ∉ ni ∋ owns ∋ "
    "subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇ subsetneq ⊊ supsetneq ⊋ subseteqq ⫅ supseteqq ⫆ "
    "nsubseteq ⊈ nsupseteq ⊉ Subset ⋐ Supset ⋑ sqsubset ⊏ sqsupset ⊐ sqsubseteq ⊑ "
    "sqsupseteq ⊒ mid ∣ nmid ∤ parallel ∥ nparallel ∦ perp ⟂ vdash ⊢ dashv ⊣ vDash ⊨ models ⊨ "
    "Vdash ⊩ Vvdash ⊪ nvdash ⊬ nvDash ⊭ asymp ≍ doteq ≐ doteqdot ≑ Doteq ≑ triangleq ≜ "
    "circeq ≗ eqcirc ≖ risingdotseq ≓ fallingdotseq ≒ bumpeq ≏ Bumpeq ≎ approxeq ≊ backsim ∽ "
    "backsimeq ⋍ nsim ≁ ncong ≇ thickapprox ≈ thicksim ∼ bowtie ⋈ Join ⋈ smile ⌣ frown ⌢ "
    "backepsilon ϶ eqsim ≂ nVdash ⊮ nVDash ⊯ npreceq ⋠ nsucceq ⋡ lnsim ⋦ gnsim ⋧ precnsim ⋨ "
    "succnsim ⋩ ntrianglelefteq ⋬ ntrianglerighteq ⋭ lesseqqgtr ⪋ gtreqqless ⪌ lnapprox ⪉ "
    "gnapprox ⪊ precapprox ⪷ succapprox ⪸ precnapprox ⪹ succnapprox ⪺ subsetneqq ⫋ supsetneqq ⫌ "
    "between ≬ pitchfork ⋔ therefore ∴ because ∵ vartriangle ▵ trianglelefteq ⊴ "
    "trianglerighteq ⊵ vartriangleleft ⊲ vartriangleright ⊳ ntriangleleft ⋪ ntriangleright ⋫ "
    "coloneqq ≔ coloneq ≔ eqqcolon ≕ Coloneqq ⩴ colonequals ≔ "
    "to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ uparrow ↑ downarrow ↓ updownarrow ↕ "
    "Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ Uparrow ⇑ Downarrow ⇓ Updownarrow ⇕ "
    "implies ⟹ impliedby ⟸ iff ⟺ mapsto ↦ longmapsto ⟼ longrightarrow ⟶ longleftarrow ⟵ "
    "longleftrightarrow ⟷ Longrightarrow ⟹ Longleftarrow ⟸ Longleftrightarrow ⟺ "
    "hookrightarrow ↪ hookleftarrow ↩ nearrow ↗ searrow ↘ swarrow ↙ nwarrow ↖ "
    "rightharpoonup ⇀ rightharpoondown ⇁ leftharpoonup ↼ leftharpoondown ↽ "
    "rightleftharpoons ⇌ leftrightharpoons ⇋ upharpoonright ↾ upharpoonleft ↿ restriction ↾ "
    "downharpoonright ⇂ downharpoonleft ⇃ rightsquigarrow ⇝ leadsto ⇝ leftrightsquigarrow ↭ "
    "rightrightarrows ⇉ leftleftarrows ⇇ rightleftarrows ⇄ leftrightarrows ⇆ upuparrows ⇈ "
    "downdownarrows ⇊ twoheadrightarrow ↠ twoheadleftarrow ↞ rightarrowtail ↣ leftarrowtail ↢ "
    "Rrightarrow ⇛ Lleftarrow ⇚ nrightarrow ↛ nleftarrow ↚ nleftrightarrow ↮ nRightarrow ⇏ "
    "nLeftarrow ⇍ nLeftrightarrow ⇎ circlearrowleft ↺ circlearrowright ↻ curvearrowleft ↶ "
    "curvearrowright ↷ looparrowleft ↫ looparrowright ↬ multimap ⊸ Lsh ↰ Rsh ↱ "
    "dashrightarrow ⇢ dashleftarrow ⇠ mapsfrom ↤"
)

# Large operators; below and above them stand limits (in a formula of its own).
LARGE: Final = _pairs(
    "sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ bigvee ⋁ bigwedge ⋀ bigoplus ⨁ bigotimes ⨂ "
    "bigodot ⨀ biguplus ⨄ bigsqcup ⨆"
)
INTEGRALS: Final = _pairs("int ∫ iint ∬ iiint ∭ iiiint ⨌ oint ∮ oiint ∯ oiiint ∰ smallint ∫")

PUNCTUATION: Final = {"colon": ":", "ldotp": ".", "cdotp": "·"}

OPENING: Final = _pairs(
    "langle ⟨ lfloor ⌊ lceil ⌈ lbrace { lbrack [ lvert | lVert ‖ lgroup ⟮ lmoustache ⎰ "
    "llbracket ⟦ ulcorner ⌜ llcorner ⌞"
)
CLOSING: Final = _pairs(
    "rangle ⟩ rfloor ⌋ rceil ⌉ rbrace } rbrack ] rvert | rVert ‖ rgroup ⟯ rmoustache ⎱ "
    "rrbracket ⟧ urcorner ⌝ lrcorner ⌟"
)

# What \left, \right, \middle and \big may be followed by; "." draws nothing.
DELIMITERS: Final = {
    **{char: char for char in "()[]|/."},
    "<": "⟨",
    ">": "⟩",
    "\\{": "{",
    "\\}": "}",
    "\\|": "‖",
    "\\vert": "|",
    "\\Vert": "‖",
    "\\backslash": "\\",
    **{f"\\{name}": sign for name, sign in {**OPENING, **CLOSING}.items()},
    **{f"\\{name}": RELATIONS[name] for name in (
        "uparrow", "downarrow", "updownarrow", "Uparrow", "Downarrow", "Updownarrow")},
}  # fmt: skip

# Names that are set upright; those of the second row take limits.
FUNCTIONS: Final = frozenset(
    _listed(
        "arccos arcsin arctan arctg arg ch cos cosh cot coth csc ctg cth deg dim exp hom ker lg "
        "ln log sec sh sin sinh tan tanh tg th"
    )
)
LIMITS: Final = {
    **{name: name for name in ["det", "gcd", "inf", "lim", "max", "min", "sup", "Pr"]},
    "argmax": "arg max", "argmin": "arg min", "liminf": "lim inf", "limsup": "lim sup",
    "injlim": "inj lim", "projlim": "proj lim",
}  # fmt: skip

# Widths in ems.
SPACES: Final = {
    ",": 0.167, "thinspace": 0.167, ":": 0.222, ">": 0.222, "medspace": 0.222,
    ";": 0.278, "thickspace": 0.278, "!": -0.167, "negthinspace": -0.167,
    "negmedspace": -0.222, "negthickspace": -0.278, "enspace": 0.5, "enskip": 0.5,
    "quad": 1.0, "qquad": 2.0, " ": 0.25, "space": 0.25, "nobreakspace": 0.25,
}  # fmt: skip

# Commands that put a sign above: (sign, whether it grows with what is below it, mark for words).
ACCENTS: Final = {
    "hat": ("ˆ", False, "\u0302"), "widehat": ("\u0302", True, "\u0302"),
    "tilde": ("~", False, "\u0303"), "widetilde": ("\u0303", True, "\u0303"),
    "bar": ("¯", False, "\u0304"), "dot": ("˙", False, "\u0307"),
    "ddot": ("¨", False, "\u0308"), "dddot": ("\u20db", False, "\u20db"),
    "ddddot": ("\u20dc", False, "\u20dc"), "acute": ("´", False, "\u0301"),
    "grave": ("`", False, "\u0300"), "breve": ("˘", False, "\u0306"),
    "check": ("ˇ", False, "\u030c"), "widecheck": ("ˇ", True, "\u030c"),
    "mathring": ("˚", False, "\u030a"), "vec": ("\u20d7", True, "\u20d7"),
}  # fmt: skip

# Signs as wide as what they span: (sign, above?).
SPANNING: Final = {
    "overline": ("―", True), "underline": ("―", False), "underbar": ("―", False),
    "overbrace": ("⏞", True), "underbrace": ("⏟", False),
    "overbracket": ("⎴", True), "underbracket": ("⎵", False),
    "overparen": ("⏜", True), "underparen": ("⏝", False),
    "overrightarrow": ("→", True), "overleftarrow": ("←", True),
    "overleftrightarrow": ("↔", True), "underleftrightarrow": ("↔", False),
}  # fmt: skip

# Arrows that grow with the words above and below them.
ARROWS: Final = _pairs(
    "xrightarrow → xleftarrow ← xleftrightarrow ↔ xRightarrow ⇒ xLeftarrow ⇐ "
    "xLeftrightarrow ⇔ xmapsto ↦ xhookrightarrow ↪ xhookleftarrow ↩ xrightharpoonup ⇀ "
    "xrightharpoondown ⇁ xleftharpoonup ↼ xleftharpoondown ↽ xrightleftharpoons ⇌ "
    "xleftrightharpoons ⇋ xlongequal ="
)

# Alphabets, by the words of Unicode's names: MATHEMATICAL BOLD CAPITAL A.
ALPHABETS: Final = {
    "mathbf": "BOLD", "bold": "BOLD", "textbf": "BOLD", "boldsymbol": "BOLD ITALIC",
    "bm": "BOLD ITALIC", "pmb": "BOLD ITALIC", "mathbfit": "BOLD ITALIC",
    "mathbb": "DOUBLE-STRUCK", "Bbb": "DOUBLE-STRUCK", "mathds": "DOUBLE-STRUCK",
    "mathbbm": "DOUBLE-STRUCK", "mathcal": "SCRIPT", "mathscr": "SCRIPT",
    "mathbfcal": "BOLD SCRIPT", "mathfrak": "FRAKTUR", "mathbffrak": "BOLD FRAKTUR",
    "mathsf": "SANS-SERIF", "textsf": "SANS-SERIF", "mathsfit": "SANS-SERIF ITALIC",
    "mathbfsf": "SANS-SERIF BOLD", "mathtt": "MONOSPACE", "texttt": "MONOSPACE",
    "mathit": "ITALIC", "textit": "ITALIC", "emph": "ITALIC", "mathnormal": "ITALIC",
    "mathrm": "", "mathup": "", "textrm": "", "textup": "", "textmd": "", "textnormal": "",
    "text": "", "mbox": "", "hbox": "",
}  # fmt: skip
TEXTS: Final = frozenset(
    _listed("text textrm textup textmd textnormal textbf textit emph textsf texttt mbox hbox")
)
OLD_FONTS: Final = {
    "rm": "mathrm", "bf": "mathbf", "it": "mathit", "sf": "mathsf", "tt": "mathtt",
    "cal": "mathcal", "frak": "mathfrak",
}  # fmt: skip

# Fractions and stacks: (bar, style, brackets); style "d" is large, "t" small, "" as it stands.
FRACTIONS: Final = {
    "frac": (True, "", ""), "dfrac": (True, "d", ""), "cfrac": (True, "d", ""),
    "tfrac": (True, "t", ""), "binom": (False, "", "()"), "dbinom": (False, "d", "()"),
    "tbinom": (False, "t", "()"),
}  # fmt: skip
# The same between their two halves: a \over b.
INFIX: Final = {
    "over": (True, ""), "atop": (False, ""), "choose": (False, "()"), "brace": (False, "{}"),
    "brack": (False, "[]"),
}  # fmt: skip

STYLES: Final = {
    "displaystyle": (True, 0), "textstyle": (False, 0), "scriptstyle": (False, 1),
    "scriptscriptstyle": (False, 2),
}  # fmt: skip

# Heights (an em of ziamath is four thirds of TeX's); the letter behind says open, middle or close.
BIG: Final = {
    f"{name}{letter}": height
    for name, height in {"big": 0.9, "Big": 1.35, "bigg": 1.8, "Bigg": 2.25}.items()
    for letter in ("", "l", "m", "r")
}

BOXES: Final = {
    "boxed": "left right top bottom", "fbox": "left right top bottom",
    "cancel": "updiagonalstrike", "bcancel": "downdiagonalstrike",
    "xcancel": "updiagonalstrike downdiagonalstrike", "sout": "horizontalstrike",
}  # fmt: skip
PHANTOMS: Final = frozenset(("phantom", "hphantom", "vphantom"))

# Which spacing a group shall have.
CLASSES: Final = {
    "mathord": "ord", "mathbin": "bin", "mathrel": "rel", "mathop": "op", "mathopen": "open",
    "mathclose": "close", "mathpunct": "punct", "mathinner": "ord",
}  # fmt: skip

# Environments: (brackets, alignment of the columns, small).
TABLES: Final = {
    "matrix": ("..", "c", False), "pmatrix": ("()", "c", False), "bmatrix": ("[]", "c", False),
    "Bmatrix": ("{}", "c", False), "vmatrix": ("||", "c", False), "Vmatrix": ("‖‖", "c", False),
    "smallmatrix": ("..", "c", True), "cases": ("{.", "l", False), "rcases": (".}", "l", False),
    "dcases": ("{.", "l", False), "array": ("..", "c", False), "aligned": ("..", "rl", False),
    "split": ("..", "rl", False), "align": ("..", "rl", False), "align*": ("..", "rl", False),
    "gathered": ("..", "c", False), "gather": ("..", "c", False), "gather*": ("..", "c", False),
    "equation": ("..", "c", False), "equation*": ("..", "c", False),
    "subarray": ("..", "c", True),
}  # fmt: skip

# Escaped signs: \% is a per cent sign.
ESCAPES: Final = {
    "%": ("%", "ord"), "_": ("_", "ord"), "&": ("&", "ord"), "#": ("#", "ord"), "$": ("$", "ord"),
    "{": ("{", "open"), "}": ("}", "close"), "|": ("‖", "fence"),
}  # fmt: skip

# Signs as typed that are no letters and no digits.
TYPED: Final = {
    "+": ("+", "bin"), "-": ("−", "bin"), "*": ("∗", "bin"), "/": ("/", "op0"), "=": ("=", "rel"),
    "<": ("<", "rel"), ">": (">", "rel"), ":": (":", "rel"), ",": (",", "punct"),
    ";": (";", "punct"), ".": (".", "ord"), "!": ("!", "close"), "?": ("?", "close"),
    "(": ("(", "open"), ")": (")", "close"), "[": ("[", "open"), "]": ("]", "close"),
    "|": ("|", "fence"), '"': ("\u201d", "ord"), "@": ("@", "ord"), "`": ("\u2018", "ord"),
}  # fmt: skip

SYMBOLS: Final[dict[str, tuple[str, str]]] = {
    **{name: (sign, "ord") for name, sign in ORDINARY.items()},
    **{name: (sign, "bin") for name, sign in BINARY.items()},
    **{name: (sign, "rel") for name, sign in RELATIONS.items()},
    **{name: (sign, "large") for name, sign in LARGE.items()},
    **{name: (sign, "integral") for name, sign in INTEGRALS.items()},
    **{name: (sign, "punct") for name, sign in PUNCTUATION.items()},
    **{name: (sign, "open") for name, sign in OPENING.items()},
    **{name: (sign, "close") for name, sign in CLOSING.items()},
    **ESCAPES,
    "backslash": ("\\", "bin"), "And": ("&", "bin"), "vert": ("|", "fence"),
    "Vert": ("‖", "fence"), "slash": ("/", "op0"), "lq": ("\u2018", "ord"), "rq": ("\u2019", "ord"),
}  # fmt: skip
"""Every command that is one sign, with its class."""

SIGNS: Final = {sign: kind for sign, kind in SYMBOLS.values() if sign} | {
    char: kind for char, (_, kind) in TYPED.items()
}
"""The class of a sign that is typed itself: ``×`` is a binary operator."""

SPOKEN: Final = {"∣": "|", "⩽": "≤", "⩾": "≥", "ϵ": "ε", "ϕ": "φ", "⟂": "⊥",
                 "𝚤": "i", "𝚥": "j", "−": "-", "∗": "*"}  # fmt: skip
"""Words say the more common of two signs that mean the same, so that they are found."""

_OTHERS: Final = frozenset(
    _listed(
        "left right middle limits nolimits sqrt overset underset stackrel substack not "
        "operatorname pmod bmod mod pod mathstrut strut hspace kern mkern mskip hskip begin end "
        "ensuremath nonumber notag bra ket braket varliminf varlimsup cr"
    )
)

KNOWN: Final = frozenset().union(
    SYMBOLS, FUNCTIONS, LIMITS, SPACES, ACCENTS, SPANNING, ARROWS, ALPHABETS, OLD_FONTS, FRACTIONS,
    INFIX, STYLES, BIG, BOXES, PHANTOMS, CLASSES, _OTHERS,
)  # fmt: skip
"""Every name that may follow a backslash."""

# What people reach for, and what does it here.
INSTEAD: Final = {
    "textcolor": "a label takes its colour from the theme: leave the colour out",
    "color": "a label takes its colour from the theme: leave the colour out",
    "colorbox": "a label takes its colours from the theme: \\boxed{...} draws a frame",
    "fcolorbox": "a label takes its colours from the theme: \\boxed{...} draws a frame",
    "tag": "a label has no equation number: write it as \\quad (1)",
    "label": "a label has no equation number; leave \\label out",
    "ref": "a label refers to nothing; write the number itself",
    "eqref": "a label refers to nothing; write the number itself",
    "cite": "a label cites nothing; put the source into the caption",
    "href": "a label is no link; leave \\href out",
    "url": "a label is no link; leave \\url out",
    "newcommand": "a label defines no commands; write out what it stands for",
    "renewcommand": "a label defines no commands; write out what it stands for",
    "def": "a label defines no commands; write out what it stands for",
    "let": "a label defines no commands; write out what it stands for",
    "DeclareMathOperator": "write \\operatorname{name} where the operator stands",
    "rule": "there is no \\rule; a line above is \\overline{...}",
    "unicode": "write the character itself",
    "char": "write the character itself",
    "verb": "write \\texttt{...}",
    "underrightarrow": "write \\underset{\\rightarrow}{x}",
    "underleftarrow": "write \\underset{\\leftarrow}{x}",
    "hline": "a table in a label has no lines",
    "hdashline": "a table in a label has no lines",
    "multirow": "a table in a label has plain cells",
    "footnotesize": "the size of a label is the theme's; \\scriptstyle is smaller",
    "large": "the size of a label is the theme's",
    "Large": "the size of a label is the theme's",
    "small": "the size of a label is the theme's; \\scriptstyle is smaller",
    "tiny": "the size of a label is the theme's; \\scriptscriptstyle is smaller",
    "genfrac": "write \\frac, \\binom, or \\left( a \\atop b \\right)",
    "sideset": "put the scripts behind the operator",
    "mathchoice": "write the form for the label itself",
    "norm": "write \\lVert x \\rVert",
    "abs": "write \\lvert x \\rvert",
    "softmax": "write \\operatorname{softmax}",
    "relu": "write \\operatorname{ReLU}",
    "ReLU": "write \\operatorname{ReLU}",
    "E": "write \\mathbb{E}",
    "R": "write \\mathbb{R}",
    "N": "write \\mathbb{N}",
    "Z": "write \\mathbb{Z}",
    "Q": "write \\mathbb{Q}",
    "C": "write \\mathbb{C}",
    "KL": "write \\operatorname{KL}",
    "T": "write ^\\top for the transpose",
    "transpose": "write ^\\top for the transpose",
    "raisebox": "raise by a superscript, ^{...}",
    "raise": "raise by a superscript, ^{...}",
    "lower": "lower by a subscript, _{...}",
    "smash": "leave \\smash out",
    "root": "write \\sqrt[n]{x}",
    "mathchar": "write the character itself",
}  # fmt: skip


def styled(char: str, alphabet: str) -> str:
    """The letter or digit in a mathematical alphabet, itself where that has none of it.

    >>> styled("R", "DOUBLE-STRUCK"), styled("7", "SCRIPT")
    ('ℝ', '7')
    """
    if not alphabet:
        return char
    name = unicodedata.name(char, "")
    rest = (
        name.replace("LATIN ", "").replace("GREEK ", "").replace(" LETTER ", " ")
        .replace("LUNATE ", "")
    )  # fmt: skip
    tried = [f"MATHEMATICAL {alphabet} {rest}"]
    if alphabet in ("SCRIPT", "FRAKTUR", "DOUBLE-STRUCK"):  # some were in Unicode before the others
        tried.append(f"{alphabet.replace('FRAKTUR', 'BLACK-LETTER')} {rest}")
    if alphabet == "ITALIC" and char == "h":
        tried.append("PLANCK CONSTANT")
    if rest.startswith("DIGIT") and alphabet.startswith("BOLD"):
        tried = [f"MATHEMATICAL BOLD {rest}"]
    for one in tried:
        try:
            return unicodedata.lookup(one)
        except KeyError:
            continue
    return char
