"""States as files: the page's picture, real letters, searchable words; and errors that help."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from selection import mostly_slow

from transformer_diagrams.live import commands
from transformer_diagrams.live.draw import said
from transformer_diagrams.live.figures import IDS, get
from transformer_diagrams.options import AskError

SVG = "{http://www.w3.org/2000/svg}"


def some_states(figure: Any) -> list[dict[str, float]]:
    """The ends of all sliders, and the default."""
    return [
        {s.name: s.values[0] for s in figure.sliders},
        figure.state(),
        {s.name: s.values[-1] for s in figure.sliders},
    ]


PLACES = ("x", "y", "width", "height", "cx", "cy", "r", "rx")


def words_of(svg: str) -> list[str]:
    texts = ("".join(t.itertext()) for t in ET.fromstring(svg).iter(f"{SVG}text"))
    return [text for text in texts if text.strip()]


@pytest.mark.parametrize("id", mostly_slow(IDS, lambda id: id in ("who-attends", "l1-and-giou")))
def test_files_of_three_states(id: str, figures: dict[str, Any], tmp_path: Path) -> None:
    from PIL import Image
    from pypdf import PdfReader

    figure = figures[id]
    for number, state in enumerate(some_states(figure)):
        path = figure.save(tmp_path / f"{number}.svg", **state)
        svg = path.read_text(encoding="utf-8")
        page = figure.svg(**state)
        # The same shapes at the same places; letters as outlines, words kept.
        mine, theirs = (
            [(e.tag.removeprefix(SVG), *(float(e.get(key, "0")) for key in PLACES))
             for e in ET.fromstring(text).iter() if e.tag.removeprefix(SVG) in ("rect", "circle")]
            for text in (svg, page)
        )  # fmt: skip
        assert [one[0] for one in mine[1:]] == [one[0] for one in theirs]  # first the paper
        for one, other in zip(mine[1:], theirs, strict=True):
            assert one[1:] == pytest.approx(other[1:], abs=0.006)
        lines = page.count("<line") + page.count("<path")
        assert svg.count("<path") - svg.count("<path transform") == lines
        *drawn, foot = words_of(svg)
        assert drawn == words_of(page)
        for slider in figure.sliders:
            assert said(slider.label).replace("_", "") in foot.replace("_", "")
            assert slider.shown(state[slider.name]) in foot
        assert svg.count("font-family") == 1  # of the words that nothing paints
        assert not re.search(r"var\(|url\(|href|<style|foreignObject", svg)

        pdf = figure.save(tmp_path / f"{number}.pdf", **state).read_bytes()
        (sheet,) = PdfReader(io.BytesIO(pdf)).pages
        text = sheet.extract_text()
        for slider in figure.sliders:
            plain = said(slider.label).replace("_", "")
            assert plain in text.replace("_", ""), text
        assert sheet.images == [] or len(sheet.images) == 0

        png = figure.save(tmp_path / f"{number}.png", png_scale=1, **state)
        with Image.open(png) as picture:
            assert picture.size == (figure.size[0], figure.size[1] + 30)
            assert len(picture.convert("RGB").getcolors(1 << 20) or []) > 50


def test_dark_files_and_the_same_bytes_again(figures: dict[str, Any], tmp_path: Path) -> None:
    figure = figures["cost-matrix"]
    dark = figure.save(tmp_path / "dark.svg", theme="dark").read_bytes()
    light = figure.save(tmp_path / "light.svg").read_bytes()
    assert dark != light
    for suffix in (".svg", ".png", ".pdf"):
        one = figure.save(tmp_path / f"one{suffix}").read_bytes()
        two = get("cost-matrix").save(tmp_path / f"two{suffix}").read_bytes()
        assert one == two
    with pytest.raises(AskError, match="no theme 'pink'"):
        figure.save(tmp_path / "pink.svg", theme="pink")


def test_letters_are_fira_sans_with_even_digits() -> None:
    from transformer_diagrams.live.glyphs import outline

    ones, eights, d, k = (outline([(text, "")], "400")[1] for text in ("1111", "8888", "d", "k"))
    assert ones == pytest.approx(eights)
    pieces, width = outline([("d", ""), ("k", "_")], "400")
    assert width == pytest.approx(d + 0.7 * k)
    assert [(shift > 0, scale) for _, _, shift, scale in pieces] == [(False, 1.0), (True, 0.7)]


def test_the_embedded_font_is_a_subset_that_reads(tmp_path: Path) -> None:
    fonttools = pytest.importorskip("fontTools.ttLib")
    from transformer_diagrams.live.glyphs import subset

    data = subset("400", "abc123√")
    assert data == subset("400", "√321cba")
    assert len(data) < 12_000
    font = fonttools.TTFont(io.BytesIO(data))
    assert set(font.getBestCmap()) == {ord(c) for c in "abc123√"}
    assert "tnum" in {f.FeatureTag for f in font["GSUB"].table.FeatureList.FeatureRecord}


@pytest.mark.parametrize(
    ("id", "sets", "said"),
    [
        ("who-attends", ["qury=3"], ("no slider 'qury'", "mean 'query'", "sharpness: 0 to 8")),
        ("who-attends", ["query=8"], ("cannot be '8'", "7 (it)")),
        ("who-attends", ["sharpness=1.5"], ("cannot be '1.5'", "0 to 8 in steps of 1")),
        ("who-attends", ["query=the"], ("cannot be 'the'", "the (5)")),
        ("l1-and-giou", ["dy=0.15"], ("cannot be '0.15'", "0 to 0.5 in steps of 0.1")),
        ("l1-and-giou", ["dy=nan"], ("cannot be 'nan'",)),
        ("several-heads", ["log2h=4"], ("cannot be '4'", "2 (4), 3 (8)")),
        ("several-heads", ["log2h"], ("does not set anything", "log2h=3")),
        ("sevral-heads", [], ("no live figure 'sevral-heads'", "did you mean 'several-heads'")),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said(
    id: str, sets: list[str], said: tuple[str, ...], tmp_path: Path
) -> None:
    with pytest.raises(AskError) as caught:
        commands.export(id, sets, tmp_path / "x.svg")
    (fault,) = caught.value.faults
    for words in said:
        assert words in fault.message + " " + fault.hint
    assert list(tmp_path.iterdir()) == []


def test_values_may_be_given_as_they_are_shown(tmp_path: Path) -> None:
    by_word = commands.export("who-attends", ["query=it"], tmp_path / "a.svg").read_bytes()
    by_place = commands.export("who-attends", {"query": 7}, tmp_path / "b.svg").read_bytes()
    assert by_word == by_place
    tenth = commands.export("l1-and-giou", ["dy=.3"], tmp_path / "c.svg").read_bytes()
    assert tenth == commands.export("l1-and-giou", {"dy": 0.3}, tmp_path / "d.svg").read_bytes()


def test_a_slider_named_scale_is_no_option(figures: dict[str, Any], tmp_path: Path) -> None:
    one = figures["l1-and-giou"].save(tmp_path / "one.svg", scale=2).read_text("utf-8")
    assert "scale s 2.0" in one
    from transformer_diagrams.live import Figure, Slider

    with pytest.raises(ValueError, match="cannot be named 'theme'"):
        Figure("x", "", "", "", (1, 1), (Slider.range("theme", "", 0, 1, 1, 0),), lambda s, p: None)


def test_an_unknown_suffix_is_refused(figures: dict[str, Any], tmp_path: Path) -> None:
    for name in ("x.gif", "x", "x.SVGZ"):
        with pytest.raises(AskError, match="cannot be written"):
            figures["who-attends"].save(tmp_path / name)
    assert figures["who-attends"].save(tmp_path / "X.SVG").exists()


def test_the_list_and_pages(tmp_path: Path, figures: dict[str, Any]) -> None:
    listed = commands.list_figures()
    assert [one["id"] for one in listed] == list(IDS)
    assert listed[0]["sliders"][1]["allowed"] == "0 to 8 in steps of 1"
    one = commands.page(["l1-and-giou"], tmp_path / "deep" / "one.html")
    assert one.read_text(encoding="utf-8").count('<figure class="lv"') == 1
    assert commands.page([], tmp_path / "all.html").read_text("utf-8").count("<figure") == 7
    with pytest.raises(AskError, match="spec"):
        commands.page(["l1-and-giou"], tmp_path / "no.html", spec="llama3")
    with pytest.raises(AskError, match="own data"):
        commands.page(["l1-and-giou"], tmp_path / "no.html", data="x.json")
    saved = figures["clock-hands"].save(tmp_path / "state.html", pos=33)
    assert 'value="33" aria-valuetext="33"' in saved.read_text(encoding="utf-8")


def test_the_figures_listed_need_no_numpy(tmp_path: Path) -> None:
    """Listing works without the extra; numbers say what to install."""
    import subprocess
    import sys

    code = (
        "import sys\nsys.modules['numpy'] = None\n"
        "from transformer_diagrams import extras\n"
        "extras.package_folder = lambda name: None if name == 'numpy' else name\n"
        "from transformer_diagrams.live import commands\n"
        "print(len(commands.list_figures()))\n"
        "from transformer_diagrams.errors import ToolMissing\n"
        "try:\n    commands.export('who-attends', [], 'x.svg')\n"
        "except ToolMissing as fault:\n    print(fault.faults[0].hint)\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True
    )
    assert done.stdout.split("\n")[:2] == ["7", "pip install 'transformer-diagrams[live]'"]


def test_importing_live_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    code = (
        "import sys\nfrom transformer_diagrams.live import commands, figure\n"
        "print(sorted({'numpy', 'yaml', 'uharfbuzz', 'playwright'} & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True
    )
    assert done.stdout.strip() == "[]"
