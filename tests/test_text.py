"""Text: what a label says, how large it is, and that its measure is its ink."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fontTools.pens.boundsPen import BoundsPen
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from transformer_diagrams import cachedir
from transformer_diagrams.text import layout as layout_module
from transformer_diagrams.text import measure, plain, wrap
from transformer_diagrams.text.markup import parse_line
from transformer_diagrams.text.readable import readable
from transformer_diagrams.text.shaping import directions


def fira() -> TTFont:
    folder = cachedir.package_folder("fontpkg_fira_sans")
    assert folder
    return TTFont(Path(folder) / "files" / "FiraSans-Regular.ttf")


def ink_of(outline: str, scale: float, size: tuple[int, int], origin: tuple[int, int]) -> tuple:
    """The box of the painted pixels, by another program, in points (8 pixels a point)."""
    import resvg_py

    w, h = size
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w * 8}" height="{h * 8}" '
        f'viewBox="0 0 {w} {h}"><rect width="{w}" height="{h}" fill="#fff"/>'
        f'<path transform="translate({origin[0]} {origin[1]}) scale({scale})" d="{outline}"/></svg>'
    )
    picture = Image.open(io.BytesIO(bytes(resvg_py.svg_to_bytes(svg_string=svg)))).convert("L")
    box = picture.point(lambda v: 255 if v < 200 else 0).getbbox()
    assert box
    return tuple(v / 8 - origin[i % 2] for i, v in enumerate(box))


# What the markup says


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("Linear $W_Q$", ["text", "math"]),
        ("$a$ and $b$", ["math", "text", "math"]),
        ("costs $5 and $6", ["text"]),
        ("a lone $ sign", ["text"]),
        (r"\$x\$", ["text"]),
        ("$$", ["text"]),
        ("W_{Q,h}", ["math"]),
        ("x_i^2", ["math"]),
        ("the width d_m here", ["text", "math", "text"]),
        ("snake_case_name", ["text"]),
        ("2^10 items_per_row", ["text"]),
        ("a_", ["text"]),
        ("_{unclosed", ["text"]),
        ("d_ff = 4", ["text"]),
        (r"back\slash\ ", ["text"]),
    ],
)
def test_what_is_maths_and_what_is_literal(line: str, kinds: list[str]) -> None:
    assert [piece.kind for piece in parse_line(line)] == kinds


def test_an_escaped_dollar_is_a_dollar() -> None:
    assert plain(r"\$5") == "$5"


@pytest.mark.parametrize(
    ("tex", "said"),
    [
        ("W_Q", "W_Q"),
        (r"d_t \times d_m", "d_t × d_m"),
        (r"1/\sqrt{d_K}", "1/√d_K"),
        (r"\frac{d_m}{n_h}", "d_m/n_h"),
        (r"\frac{a+b}{2}", "(a+b)/2"),
        (r"QK^\top", "QKᵀ"),
        ("x_i^2", "x_i²"),
        (r"\mathbb{R}^{d}", "ℝ^d"),
        (r"2\,n_g\,d_K", "2 n_g d_K"),
        (r"d_c'", "d_c′"),
        (r"\text{in out}", "in out"),
        ("}{", ""),
        ("\\", "\\"),
    ],
)
def test_tex_reads_as_unicode(tex: str, said: str) -> None:
    assert readable(tex).strip() == said or tex == "}{"


@given(st.text(alphabet="ab1 _^{}$\\,'frac", max_size=24))
def test_no_label_fails(text: str) -> None:
    layout = measure(text, 9.0)
    left, top, right, bottom = layout.ink
    assert right >= left
    assert bottom >= top
    plain(text)


# How large it is


def test_width_is_the_sum_of_the_fonts_advances() -> None:
    font = fira()
    cmap, widths = font.getBestCmap(), font["hmtx"].metrics
    # Letters without kerning between them.
    word = "nnnn"
    expected = sum(widths[cmap[ord(c)]][0] for c in word) / font["head"].unitsPerEm
    assert measure(word, 10).width == pytest.approx(expected * 10, abs=1e-6)


def test_ink_is_the_glyphs_own_box() -> None:
    font = fira()
    glyphs = font.getGlyphSet()
    pen = BoundsPen(glyphs)
    glyphs[font.getBestCmap()[ord("g")]].draw(pen)
    x0, y0, x1, y1 = (v / 100 for v in pen.bounds)
    assert measure("g", 10).ink == pytest.approx((x0, -y1, x1, -y0), abs=0.02)


@pytest.mark.parametrize(
    "label", ["softmax", "Linear $W_{Q,h}$", r"$\frac{a}{b}$ of $\sqrt{d_K}$", "λ₁…λₙ ⊕", "انتباه"]
)
def test_measured_ink_is_painted_ink(label: str) -> None:
    layout = measure(label, 12)
    painted = ink_of(layout.outline, layout.scale, (140, 50), (10, 30))
    assert painted == pytest.approx(layout.ink, abs=0.2)


def test_size_only_scales() -> None:
    small, large = measure("Linear $W_Q$", 7), measure("Linear $W_Q$", 14)
    assert large.width == pytest.approx(2 * small.width)
    assert large.outline == small.outline


def test_equal_boxes_have_equal_baselines() -> None:
    assert measure("ace", 9).baseline(100) == measure("Agy $W_Q$", 9).baseline(100)


def test_lines_are_aligned_among_themselves() -> None:
    text = "one\nthe longest line\ntwo"
    for align, place in (("left", 0.0), ("middle", 0.5), ("right", 1.0)):
        layout = measure(text, 10, align=align)
        assert len(layout.lines) == 3
        for line in layout.lines:
            assert line.x == pytest.approx((layout.width - line.width) * place, abs=0.01)
        assert layout.lines[1].y - layout.lines[0].y == pytest.approx(layout.leading)


def test_weights_differ_and_unknown_ones_are_refused() -> None:
    assert measure("title", 10, "semibold").width > measure("title", 10).width
    with pytest.raises(ValueError, match="weight"):
        measure("x", 10, "heavy")


# Letters of all kinds


def test_arabic_is_joined_and_runs_from_the_right() -> None:
    word = "انتباه"
    apart = sum(measure(c, 10).width for c in word)
    assert measure(word, 10).width < 0.85 * apart
    assert not measure(word, 10).warnings


def test_runs_of_two_directions_are_ordered() -> None:
    assert directions("abc انتباه def") == (("abc ", False), ("انتباه", True), (" def", False))
    assert directions("انتباه abc") == (("abc", False), ("انتباه ", True))


def test_accents_look_alike_composed_or_not() -> None:
    assert measure("é", 10).outline == measure("e\u0301", 10).outline


@pytest.mark.parametrize("text", ["Привет мир", "λ₁…λₙ", "⊕ ⊗ ∑ √ ≤ ∈ ℝ ℤ", "𝕏ᵀ", "×·→∞′"])
def test_signs_and_scripts_are_drawn_without_a_stand_in(text: str) -> None:
    assert not measure(text, 10).warnings


def test_a_letter_without_a_font_is_shown_and_named() -> None:
    layout = measure("🧠 attention", 10)
    (warning,) = layout.warnings
    assert warning.severity == "warning"
    assert "U+1F9E0 (brain)" in warning.message
    assert "Fira Sans" in warning.message
    assert layout.width > measure("attention", 10).width + 6


def test_control_characters_are_dropped_with_a_warning() -> None:
    for text in ("x\x07y", "\ufffe", "a\ud800b"):
        layout = measure(text, 10)
        assert layout.warnings[0].code == "bad-character"
    assert measure("x\x07y", 10).plain == "xy"


def test_a_bad_formula_is_shown_as_typed() -> None:
    layout = measure(r"bad $\frac{$ x", 10)
    (warning,) = layout.warnings
    assert warning.code == "bad-formula"
    assert "\\frac{" in warning.message
    assert "not closed" in warning.message
    literal = measure(r"bad \$\frac{\$ x", 10)
    assert layout.outline == literal.outline
    assert measure(r"$\nosuchcommand$", 10).warnings[0].code == "bad-formula"


def test_overlong_text_is_cut_with_a_warning() -> None:
    layout = measure("word " * 20_000, 10)
    assert layout.warnings[0].code == "long-label"
    assert len(layout.plain) < 2100


# Wrapping


def test_wrapped_lines_fit_and_lose_no_word() -> None:
    text = "causal mask, softmax over all of the $d_s$ source positions"
    wrapped = wrap(text, 9, 80)
    layout = measure(wrapped, 9)
    assert layout.width <= 80
    assert wrapped.split() == text.split()
    assert plain(wrapped) == plain(text)


def test_lines_are_about_equally_long() -> None:
    layout = measure(wrap("one two three four five six seven", 10, 100), 10)
    widths = [line.width for line in layout.lines]
    assert min(widths) > 0.5 * max(widths)


def test_a_word_of_120_letters_stays_inside() -> None:
    word = "Supercalifragilistic" * 6
    wrapped = wrap(word, 9, 90)
    assert measure(wrapped, 9).width <= 90
    assert wrapped.replace("\n", "") == word
    assert measure(wrap("i" * 300, 9, 50), 9).width <= 50


def test_a_short_label_is_left_alone() -> None:
    assert wrap("Linear $W_Q$", 9, 200) == "Linear $W_Q$"


# The cache


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cachedir.ENV, str(tmp_path / "cache"))
    layout_module._measured.cache_clear()
    return tmp_path / "cache"


def test_a_stored_layout_equals_a_fresh_one(fresh: Path) -> None:
    label = "Linear $W_Q$ 🧠\nλ"
    first = measure(label, 9)
    layout_module._measured.cache_clear()
    assert measure(label, 9) == first
    assert len(list(fresh.rglob("*.json"))) == 1
    assert not list(fresh.rglob("*.part"))


@pytest.mark.parametrize("damage", [b"", b"{", b"00000000 [1]", b"\xff\xfe", "cut"])
def test_a_broken_cache_is_replaced(fresh: Path, damage: bytes | str) -> None:
    first = measure("of no figure", 9)
    (file,) = fresh.rglob("*.json")
    good = file.read_bytes()
    file.write_bytes(good[:-9] if damage == "cut" else damage)  # type: ignore[arg-type]
    layout_module._measured.cache_clear()
    assert measure("of no figure", 9) == first
    assert file.read_bytes() == good


def test_an_unwritable_cache_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv(cachedir.ENV, str(blocked))
    layout_module._measured.cache_clear()
    assert measure("relu", 9).width > 0


def test_a_warm_measure_imports_no_font_library(tmp_path: Path) -> None:
    code = (
        "import sys, json\n"
        "from transformer_diagrams.text import measure\n"
        "measure('of no figure: $W_Q$', 9)\n"
        "heavy = {'uharfbuzz', 'ziamath', 'ziafont', 'latex2mathml'} & set(sys.modules)\n"
        "print(json.dumps(sorted(heavy)))"
    )
    root = str(Path(__file__).parent.parent)
    env = {**os.environ, cachedir.ENV: str(tmp_path), "PYTHONPATH": root}

    def run() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        return list(json.loads(done.stdout))

    assert "uharfbuzz" in run()
    assert run() == []
