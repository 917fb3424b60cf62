"""SVG for other hands: names of blocks, words as text, and the same picture in other programs."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageChops, ImageFilter
from scenes import Builder, drawing, signs

from transformer_diagrams.api import load
from transformer_diagrams.gallery import picture
from transformer_diagrams.options import AskError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SPECS = ["gqa", "transformer", pytest.param("deepseek-v3", marks=pytest.mark.slow)]


def ids(svg: str) -> list[str]:
    return [e.get("id", "") for e in ET.fromstring(svg).iter() if e.get("id")]


def apart(a: Image.Image, b: Image.Image) -> int:
    """How many pixels of ink one picture has where the other has none beside it."""
    found = 0
    for one, other in ((a, b), (b, a)):
        alone = ImageChops.subtract(one, other.filter(ImageFilter.MaxFilter(3)))
        found += sum(alone.histogram()[91:])
    return found


def ink(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("L").point(lambda v: 255 - v)


@pytest.mark.parametrize("name", SPECS)
def test_blocks_are_named_by_their_paths(name: str) -> None:
    model = load(name)
    root = ET.fromstring(str(model.render("svg")))
    groups = [e for e in root.iter() if e.get("data-path")]
    for group in groups:
        path = re.sub(r"[^A-Za-z0-9]+", "-", group.get("data-path", "")).strip("-")
        assert group.get("id", "").startswith(f"{name}-{path}")
    found = ids(str(model.render("svg")))
    assert len(found) == len(set(found)) == len(model.scene().boxes) + 2  # title and description
    assert all(re.fullmatch(r"[A-Za-z][\w.-]*", each) for each in found)


def test_figures_in_one_page_share_no_name() -> None:
    figures = [str(load("gqa").render("svg", **asked)) for asked in
               ({}, {"theme": "dark"}, {"ids": "second"})]  # fmt: skip
    site = picture.svg(picture.of_model(load("transformer")), {}, lambda _: None)
    found = [name for figure in (*figures, site) for name in ids(figure)]
    assert len(found) == len(set(found))
    assert {"gqa-scores", "gqa-dark-scores", "second-scores"} <= set(found)
    blocks = [e for e in ET.fromstring(site).iter() if e.get("class") == "block"]
    assert blocks
    assert all(e.get("id", "").startswith("transformer-") for e in blocks)


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"ids": "1st"}, "take a letter"), ({"ids": ""}, "take a letter"),
     ({"text": True, "outline_text": True}, "leave one")],
)  # fmt: skip
def test_slips_are_told(asked: dict[str, object], said: str) -> None:
    with pytest.raises(AskError) as caught:
        load("gqa").render("svg", **asked)
    assert said in caught.value.faults[0].hint


def test_words_are_text_in_a_font_that_holds_just_them() -> None:
    from fontTools.ttLib import TTFont

    b = Builder()
    b.box("a", "Linear ⊗ $W_Q$", 60, 30, 100, "norm")
    b.box("b", "plain\nwords", 60, 90, 100, "norm", height=34)
    svg = drawing(b.scene(120, 120), text=True).svg
    seen = [e for e in ET.fromstring(svg).iter() if e.get("font-family", "").startswith("words-")]
    assert [e.text for e in seen] == ["plain", "words"]  # Fira Sans has no such sign
    (data,) = re.findall(r"base64,([^)]*)\)", svg)
    font = TTFont(io.BytesIO(b64decode(data)))
    assert {chr(code) for code in font.getBestCmap()} == set("plainwords")
    hidden = [e.text for e in ET.fromstring(svg).iter() if e.get("fill-opacity") == "0"]
    assert hidden == ["Linear ⊗", "W_Q"]
    assert svg == drawing(b.scene(120, 120), text=True).svg


@pytest.mark.browser
def test_text_looks_as_outlines_do_in_a_browser(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 750, "height": 900}, device_scale_factor=2)
    shots = []
    for text in (False, True):
        svg = str(load("transformer").render("svg", text=text))
        page.set_content(f"<style>*{{margin:0}}</style>{svg}")
        assert page.evaluate("document.fonts.ready.then(f => f.size)") == 2 * text
        page.wait_for_function("[...document.fonts].every(f => f.status == 'loaded')")
        shots.append(ink(page.screenshot()))
    page.close()
    assert sum(shots[0].histogram()[91:]) > 10_000
    assert apart(*shots) == 0


@pytest.mark.tool
@pytest.mark.skipif(shutil.which("rsvg-convert") is None, reason="no rsvg-convert here")
@pytest.mark.parametrize("name", ["signs", "gqa", "eagle3"])
def test_rsvg_draws_what_our_png_shows(name: str, tmp_path: Path) -> None:
    drawn = drawing(signs() if name == "signs" else load(name).scene(), dpi=144.0)
    (tmp_path / "a.svg").write_text(drawn.svg, encoding="utf-8")
    from transformer_diagrams.render import formats

    ours = ink(formats.get("png").write(drawn))
    size = [f"-{side}{length}" for side, length in zip("wh", ours.size, strict=True)]
    run = subprocess.run(["rsvg-convert", *size, tmp_path / "a.svg"], capture_output=True,
                         check=True)  # fmt: skip
    assert apart(ours, ink(run.stdout)) == 0
