"""Fonts that a theme names: text is measured and drawn in them, and what they lack is told."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

import transformer_diagrams.text as text_package
from transformer_diagrams import theme
from transformer_diagrams.api import Model
from transformer_diagrams.cachedir import package_folder
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.text import fonts, measure, typeface
from transformer_diagrams.text.shaping import directions

CRIMSON = f"{package_folder('fontpkg_crimson_text')}/files/CrimsonText-Regular.ttf"
FIRA = f"{package_folder('fontpkg_fira_sans')}/files/FiraSans-Regular.ttf"
ARABIC = f"{package_folder('fontpkg_noto_sans_arabic')}/files/NotoSansArabic[wdth,wght].ttf"
SPEC = """\
title: Small
inputs: {x: [n, d]}
dims: {n: length, d: width}
show: {theme: looks.yaml}
blocks: [{op: linear, out: d, label: 'TEXT'}]
"""


def small(folder: Path, label: str, looks: str) -> Model:
    (folder / "looks.yaml").write_text(f"extends: paper\n{looks}\n")
    (folder / "small.yaml").write_text(SPEC.replace("TEXT", label))
    return Model.find(str(folder / "small.yaml"))


def advance(path: str, word: str) -> float:
    """Of letters without kerning, at a size of one, from the font's own table."""
    font = TTFont(path)
    names = font.getBestCmap()
    return sum(font["hmtx"][names[ord(c)]][0] for c in word) / font["head"].unitsPerEm


@pytest.mark.parametrize(
    ("text", "path"), [((), FIRA), (("Crimson Text",), CRIMSON), ((CRIMSON,), CRIMSON)]
)
def test_a_word_is_as_wide_as_its_font_says(text: tuple[str, ...], path: str) -> None:
    with typeface(text, ""):
        assert measure("nnn", 10.0).width == pytest.approx(10 * advance(path, "nnn"), abs=0.05)


def test_fonts_of_one_figure_do_not_reach_the_next() -> None:
    usual = measure("softmax", 10.0).outline
    with typeface(("Crimson Text",), ""):
        serif = measure("softmax", 10.0).outline
        with typeface((), ""):
            assert measure("softmax", 10.0).outline == usual
    assert serif != usual
    assert measure("softmax", 10.0).outline == usual


def test_letters_come_from_the_next_font_of_the_list() -> None:
    word = "\u0633\u0644\u0627\u0645"
    with typeface(("Crimson Text", ARABIC), ""):
        mixed = measure(f"q {word}", 10.0)
    assert mixed.warnings == ()
    with typeface(("Crimson Text",), ""):
        assert fonts.face("regular").name == "Crimson Text"
        assert not fonts.face("regular").has(word[0])


def test_formulas_are_set_in_the_named_font(tmp_path: Path) -> None:
    """A font for maths by its file: the same as the usual one where it is the same file."""
    same = f"{package_folder('ziamath')}/fonts/STIXTwoMath-Regular.ttf"
    usual = measure("$x_i$", 10.0).outline
    with typeface((), same):
        assert measure("$x_i$", 10.0).outline == usual


def test_paper_serif_is_drawn_in_its_serif() -> None:
    model = Model.find("gqa")
    svg = str(model.render("svg", theme="paper-serif", text=True))
    assert svg.count("@font-face") >= 1
    plain = str(model.render("svg", theme="paper-serif"))
    assert plain != str(model.render("svg", theme="paper"))
    for direction in ("up", "right"):
        assert [str(f) for f in model.lint(theme="paper-serif", direction=direction).findings] == []


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        ("fonts: {text: No Such Family}", "fontpkg-no-such-family"),
        ("fonts: {text: gone.ttf}", "no font file"),
        ("fonts: {text: broken.ttf}", "is no font"),
        (f"fonts: {{maths: {CRIMSON}}}", "no table for maths"),
    ],
)
def test_a_font_that_cannot_be_used_is_told_in_the_theme(
    tmp_path: Path, looks: str, said: str
) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"no font at all")
    model = small(tmp_path, "words", looks)
    (fault,) = model.check().errors
    assert said in fault.message
    assert (fault.span.file.endswith("looks.yaml"), fault.span.line) == (True, 2)
    with pytest.raises(DiagramError, match=said):
        model.render("svg")


def test_check_refuses_letters_unless_the_theme_has_a_font_for_them(tmp_path: Path) -> None:
    word = "\u0634\u0628\u0643\u0629"
    path = tmp_path / "arabic.ttf"
    path.write_bytes(Path(ARABIC).read_bytes())
    model = small(tmp_path, word, "fonts: {text: [Crimson Text, arabic.ttf]}")
    assert model.check().errors == []
    assert str(path) in model.files()
    rare = "\u16a0"  # a rune, which no font here has
    model = small(tmp_path, f"a {rare}", "fonts: {text: [Crimson Text, arabic.ttf]}")
    (fault,) = model.check().errors
    assert unicodedata.name(rare).lower() in fault.message
    assert (fault.span.line, fault.span.column) == (5, 41)


def test_a_text_package_speaks_of_fonts_as_a_theme_does() -> None:
    assert text_package.Typeface() == fonts.USUAL
    assert theme.get("paper").fonts.text == ()


@pytest.mark.parametrize(
    ("line", "seen"),
    [  # capitals stand for right-to-left letters, as in the examples of Unicode Annex 9
        ("abc", "abc"),
        ("SHALOM q-k (12) OLAM", "MALO q-k (12) MOLAHS"),
        ("ab (SHALOM) d", "ab (MOLAHS) d"),
        ("SHALOM (OLAM) a", "a (MALO) MOLAHS"),
        ("OLAM (abc) SHALOM", "MOLAHS (abc) MALO"),
    ],
)
def test_runs_stand_in_visual_order(line: str, seen: str) -> None:
    hebrew = {c: chr(0x05D0 + i) for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}
    back = {v: k for k, v in hebrew.items()}
    mirrored = str.maketrans("()", ")(")
    drawn = ""
    for run, rtl in directions("".join(hebrew.get(c, c) for c in line)):
        drawn += run[::-1].translate(mirrored) if rtl else run
    assert "".join(back.get(c, c) for c in drawn) == seen
