r"""TeX in labels: what is set is what was meant, and everything else is refused in its place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from fuzz.formulas import check, formulas
from hypothesis import given
from hypothesis import strategies as st

from transformer_diagrams import cachedir
from transformer_diagrams.text import commands, judge, measure, tex
from transformer_diagrams.text.maths import Formula, set_formula
from transformer_diagrams.text.readable import readable
from transformer_diagrams.text.tex import BadFormula

# Signs that another table of TeX's names gives another form of; ours are the usual ones.
_OTHER_FORMS = {
    "imath", "jmath", "triangledown", "square", "Box", "blacksquare", "blacktriangle",
    "blacktriangledown", "centerdot", "ast", "setminus", "lhd", "rhd", "sim", "models", "Join",
    "vartriangle", "leadsto",
}  # fmt: skip


def letters() -> dict[int, str]:
    """Glyph id -> character, from the font's own table, and its script forms."""
    folder = cachedir.package_folder("ziamath")
    assert folder
    font = TTFont(Path(folder) / "fonts" / "STIXTwoMath-Regular.ttf")
    order = {name: number for number, name in enumerate(font.getGlyphOrder())}
    known = {name: chr(code) for code, name in font.getBestCmap().items()}
    found = {number: known.get(name.split(".")[0], "?") for name, number in order.items()}
    return found | {order[name]: char for name, char in known.items()}


@pytest.fixture(scope="module")
def chars() -> dict[int, str]:
    return letters()


def drawn(formula: Formula, chars: dict[int, str]) -> str:
    """The characters of a formula from left to right; "?" for a glyph without a code."""
    said = [chars.get(glyph, "?") for glyph, *_ in sorted(formula.glyphs, key=lambda g: g[1])]
    return "".join(said)


# The table


def test_signs_are_those_of_an_independent_table() -> None:
    from latex2mathml.symbols_parser import SYMBOLS

    compared = 0
    for name, (sign, _) in commands.SYMBOLS.items():
        code = SYMBOLS.get(f"\\{name}")
        if code is None or name in _OTHER_FORMS:
            continue
        compared += 1
        assert chr(int(code, 16)) == sign, name
    assert compared > 400


def test_every_sign_of_the_table_is_drawn_as_itself(chars: dict[int, str]) -> None:
    for name, (sign, kind) in commands.SYMBOLS.items():
        formula = set_formula(f"\\{name} " if name.isalpha() else f"\\{name}")
        seen = drawn(formula, chars)
        # A sloping letter is drawn for a small Greek one.
        assert unicodedata.normalize("NFKC", seen) == unicodedata.normalize("NFKC", sign), name
        assert not formula.shapes
        assert kind in ("ord", "bin", "rel", "open", "close", "punct", "fence", "large",
                        "integral", "op0")  # fmt: skip


@pytest.mark.parametrize(
    ("made", "seen", "bars"),
    [
        (r"\boxed{x}", "𝑥", 4),
        (r"\operatorname*{arg\,max}_i", "argmax𝑖", 0),
        (r"A \mathop{x} B", "𝐴𝑥𝐵", 0),
        (r"\not=", "≠", 0),
        (r"\not\in", "∉", 0),
        (r"\mathtt{abc}", "𝚊𝚋𝚌", 0),
        (r"\texttt{a\_b}", "𝚊_𝚋", 0),
        (r"\cancel{x}", "𝑥", 1),
        (r"\xcancel{x}", "𝑥", 2),
        (r"\mathbf{Wx}", "𝐖𝐱", 0),
        (r"\mathbb{RN}", "ℝℕ", 0),
        (r"\boldsymbol{\theta}", "𝜽", 0),
        (r"\mathcal{LB}", "ℒℬ", 0),
        (r"\mathfrak{gC}", "𝔤ℭ", 0),
        (r"\mathsf{T1}", "𝖳𝟣", 0),
        (r"\mathrm{ab} c", "ab𝑐", 0),
        (r"\text{if a-b}", "ifa‐b", 0),
        (r"\text{a \textbf{b} c}", "a𝐛c", 0),
        (r"\epsilon\varepsilon\phi\varphi\Gamma", "𝜖𝜀𝜙𝜑Γ", 0),
        (r"\frac{a}{b}", "𝑎𝑏", 1),
        (r"\binom{n}{k}", "(𝑛𝑘)", 0),
        (r"{n \choose k}", "(𝑛𝑘)", 0),
        (r"\sqrt{x}", "√𝑥", 1),
        (r"\sqrt[3]{x}", "√3𝑥", 1),
        (r"\overline{ab}", "𝑎𝑏", 1),
        (r"\left. x \right|", "𝑥|", 0),
        (r"a \bmod b", "𝑎mod𝑏", 0),
        (r"\pmod{n}", "(mod𝑛)", 0),
        (r"\phantom{abc} x", "𝑥", 0),
        (r"50\%", "50%", 0),
        (r"x''", "𝑥″", 0),
        (r"\log_2 n", "log2𝑛", 0),
        ("α × 2 ≤ ∞", "𝛼×2≤∞", 0),
    ],
)
def test_what_is_seen_is_what_was_meant(
    made: str, seen: str, bars: int, chars: dict[int, str]
) -> None:
    formula = set_formula(made)
    assert len(formula.shapes) == bars
    assert "".join(drawn(formula, chars).split()) == seen


@pytest.mark.parametrize("name", sorted({*commands.ACCENTS, *commands.SPANNING}))
def test_marks_stand_over_or_under_all_of_their_base(name: str) -> None:
    bare, marked = (set_formula(one) for one in ("W_Q", f"\\{name}{{W_Q}}"))
    assert len(marked.glyphs) + len(marked.shapes) > len(bare.glyphs)


@pytest.mark.parametrize("brackets", ["pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix"])
def test_brackets_are_as_high_as_their_table(brackets: str) -> None:
    plain = measure(r"$\begin{matrix} a \\ b \\ c \\ d \end{matrix}$", 10)
    around = measure(rf"$\begin{{{brackets}}} a \\ b \\ c \\ d \end{{{brackets}}}$", 10)
    assert not around.warnings
    assert around.ink[1] <= plain.ink[1] + 0.5
    assert around.ink[3] >= plain.ink[3] - 0.5


def test_an_arrow_is_longer_than_the_words_on_it() -> None:
    for words in ("a", "several words of it"):
        label = measure(rf"$\xrightarrow{{\text{{{words}}}}}$", 10)
        alone = measure(rf"$\scriptstyle\text{{{words}}}$", 10)
        assert label.width > alone.width


def test_limits_stand_below_on_a_line_of_its_own_only() -> None:
    inline, display = (measure(f"${style}\\max_i x$", 10) for style in ("", "\\displaystyle"))
    assert display.ink[3] > inline.ink[3]
    assert display.width < inline.width


def test_a_binomial_has_no_bar_and_a_sign_no_space() -> None:
    assert measure("$-b$", 10).width < measure("$a-b$", 10).width - measure("$a$", 10).width
    assert measure("$[-b]$", 10).width < measure("$[a-b]$", 10).width - measure("$a$", 10).width


# What is refused


@pytest.mark.parametrize(
    ("given", "at", "says", "hint"),
    [
        (r"x + \textcolor{red}{y}", 4, r"\textcolor", "colour"),
        (r"\boxd{x}", 0, r"\boxd", r"\boxed"),
        (r"\fracc{a}{b}", 0, r"\fracc", r"\frac"),
        (r"a \tag{1}", 2, r"\tag", "quad"),
        (r"\softmax x", 0, r"\softmax", "operatorname"),
        (r"\newcommand{\x}{y}", 0, r"\newcommand", "write out"),
        (r"\frac{a", 5, "not closed", "}"),
        ("a}", 1, "closes nothing", ""),
        (r"x_a_b", 3, "two subscripts", "{ab}"),
        ("x^", 2, "superscript is missing", "{...}"),
        (r"\frac{a}", 8, "lower part", "{...}"),
        (r"\left( x", 0, "not closed", r"\right"),
        (r"\left x \right)", 6, "bracket", r"\langle"),
        (r"x \right)", 2, "closes nothing", r"\left"),
        (r"\begin{bmatix} a \end{bmatix}", 7, "bmatix", "bmatrix"),
        (r"\begin{bmatrix} a", 0, "not closed", r"\end{bmatrix}"),
        (r"a & b", 2, "outside a table", r"\&"),
        (r"a \\ b", 2, "outside a table", "line"),
        ("50%", 2, "comment", r"\%"),
        ("#1", 0, "#", r"\#"),
        (r"\text{a_b}", 7, "words", r"\_"),
        (r"\text{a^b}", 7, "words", r"\textasciicircum"),
        (r"\not x", 0, r"\not", "relation"),
        (r"\hspace{wide}", 8, "width", "em"),
        (r"\text{注}", 6, "no sign '注'", "outside"),
        ("x" * 1001, 0, "1,001", "caption"),
        ("{" * 17 + "x" + "}" * 17, 17, "nested", "braces"),
    ],
)
def test_a_fault_says_what_where_and_what_to_do(given: str, at: int, says: str, hint: str) -> None:
    with pytest.raises(BadFormula) as caught:
        set_formula(given)
    assert says in str(caught.value)
    assert caught.value.at == at
    assert hint in caught.value.hint


def test_every_known_name_is_set_or_refused_with_a_reason() -> None:
    for name in sorted(commands.KNOWN):
        for after in ("", "{x}", "{x}{y}", "(", " x"):
            try:
                tree = tex.parse(f"a \\{name}{after}")
            except BadFormula as problem:
                said = str(problem)
            else:
                said = tree.kind
            assert said
    for name, hint in commands.INSTEAD.items():
        assert name not in commands.KNOWN
        assert hint


# Depth and time


@pytest.mark.parametrize(
    ("opened", "closed"),
    [("x_{", "}"), (r"\left(", r"\right)"), (r"\frac{a}{", "}"), (r"\phantom{", "}"),
     (r"\begin{pmatrix}", r"\end{pmatrix}"), (r"\vec{", "}")],
)  # fmt: skip
def test_depth_costs_little_and_ends(opened: str, closed: str) -> None:
    set_formula("x")
    begin = time.process_time()
    deep = 12 if "begin" not in opened else 8
    set_formula(opened * deep + "y" + closed * deep)
    assert time.process_time() - begin < 2
    for much in (40, 200):
        with pytest.raises(BadFormula, match=r"nested|at most"):
            set_formula(opened * much + "y" + closed * much)


def test_random_formulas_are_set_or_refused() -> None:
    can = [check(made) for made in formulas(2026, 120)]
    assert 60 < sum(can) < 120


@given(st.text(alphabet="ab1 _^{}\\,'&$[]|frtexlimsqo", max_size=30))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        at = tex.parse(text).at
    except BadFormula as problem:
        at = problem.at
    assert 0 <= at <= len(text)
    readable(text)


# Words


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (r"\binom{n}{k}", "n choose k"),
        (r"\dagger", "†"),
        (r"\stackrel{a}{=}", "= with a above"),
        (r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}", "[a, b; c, d]"),
        (r"\geqslant", "≥"),
        (r"\log p", "log p"),
        (r"2\sin x", "2 sin x"),
        (r"x^{-1/2}", "x^(-1/2)"),
        (r"\sum_{i=1}^n x_i", "∑_(i=1)^n x_i"),
        (r"\underbrace{a+b}_{n}", "a+b (n)"),
        (r"\sqrt[3]{x}", "∛x"),
        (r"\operatorname*{arg\,max}_i", "arg max_i"),
        (r"\left\lfloor \frac{a}{b} \right\rfloor", "⌊a/b⌋"),
        (r"\vec{W_Q}", "W\u20d7_Q"),
        (r"\boxed{x}", "x"),
        (r"W^{(1)}_Q", "W_Q⁽¹⁾"),
        (r"a \xrightarrow{f} b", "a → with f above b"),
        (r"\nosuch{x}", r"\nosuch{x}"),
    ],
)
def test_words_are_words(given: str, said: str) -> None:
    assert readable(given) == said


def test_no_command_is_left_in_the_words() -> None:
    for name, (sign, _) in commands.SYMBOLS.items():
        if sign != "\\":
            assert "\\" not in readable(f"a \\{name} b"), name
    for made in formulas(7, 200):
        try:
            tex.parse(made)
        except BadFormula:
            continue
        said = readable(made)
        assert not [word for word in ("begin", "frac", "mathrm", "left") if word in said], made


# The judge


def test_letters_are_told_once_a_label_with_the_list() -> None:
    (told,) = judge("a 注意機構 b")
    assert told.code == "missing-letter"
    assert told.error
    assert told.at == 2
    assert told.found == "注意機構"
    assert all(f"U+{ord(char):04X}" in told.message for char in "注意機構")


@pytest.mark.parametrize("before", ["\u6ce8", "e\u0301\u0301", "$\\hat x$", "a\u0007b"])
def test_a_fault_points_at_its_command_whatever_stands_before(before: str) -> None:
    label = f"{before} $a \\nosuch$"
    told = [each for each in judge(label) if each.error]
    assert [label[each.at :] for each in told] == ["\\nosuch$"]


@pytest.mark.parametrize(
    ("label", "sign"),
    [("QK^\\top", "\\top"), ("$x$ \\mu \\nu", "\\mu \\nu"), ("$ x $", "$ x $"), ("x$", "$")],
)
def test_tex_outside_of_dollars_is_told_once(label: str, sign: str) -> None:
    (told,) = judge(label)
    assert (told.code, told.error) == ("typed-tex", False)
    assert label[told.at :] == sign


@pytest.mark.parametrize("label", ["C:\\temp", "\\$x", "$5 and 5 $7", "\\\\alpha", "$\\alpha$"])
def test_what_is_no_tex_stays_as_typed(label: str) -> None:
    assert judge(label) == ()


def test_a_known_label_is_judged_without_fonts(tmp_path: Path) -> None:
    code = (
        "import sys, json\n"
        "from transformer_diagrams.text import judge\n"
        "heavy = lambda: sorted({'uharfbuzz', 'ziamath', 'latex2mathml'} & {*sys.modules})\n"
        "simple = ('Linear $W_Q$', r'$\\frac{1}{d}$', r'$\\frac$', 'plain')\n"
        "made = [len(judge(t)) for t in simple]\n"
        "made += heavy()\n"
        "made += [len(judge(t)) for t in ('注', r'$\\left| x \\right|$')]\n"
        "print(json.dumps([made, heavy()]))"
    )
    env = {**os.environ, cachedir.ENV: str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}

    def run() -> list[list[str]]:
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        return list(json.loads(done.stdout))

    first, loaded = run()
    assert first == [0, 0, 1, 0, 1, 0]  # ordinary labels need no font even then
    assert "ziamath" in loaded
    assert run() == [first, []]
