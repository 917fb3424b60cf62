"""Every figure as it leaves for a paper or a slide: PDF by another program's reading, PNG by its
pixels, sizes exact."""

from __future__ import annotations

import io
import re
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from PIL import Image
from selection import FIGURES

from transformer_diagrams import api
from transformer_diagrams.cli.app import run

SOME = ("llama3", "gqa", "transformer")
NS = "{http://www.w3.org/2000/svg}"

needs_poppler = [
    pytest.mark.tool,
    pytest.mark.skipif(shutil.which("pdffonts") is None, reason="no poppler here"),
]


def poppler(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, check=True)
    return done.stdout.decode()


@cache
def figure(name: str) -> str:
    return str(api.load(name).render("svg"))


@pytest.fixture
def tdx(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., tuple[int, str]]:
    """Runs the program in an empty folder: its code and what it said on stderr."""
    monkeypatch.setenv("TRANSFORMER_DIAGRAMS_CACHE", str(tmp_path / ".cache"))
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str]:
        capfdbinary.readouterr()
        code = run(list(words))
        sys.stdout.flush()
        said = capfdbinary.readouterr().err.decode()
        assert "Traceback" not in said
        return code, said

    return call


# -- PDF


class TestPdf:
    pytestmark = needs_poppler

    @pytest.mark.parametrize("name", FIGURES)
    def test_words_are_found_and_fonts_are_no_type_3(self, name: str, tmp_path: Path) -> None:
        svg = figure(name)
        file = tmp_path / "a.pdf"
        file.write_bytes(api.load(name).render("pdf").data)
        rows = poppler("pdffonts", file).splitlines()[2:]
        assert rows
        for row in rows:
            assert "Type 3" not in row
            assert re.search(r"\byes yes yes\b", row), "embedded, a subset, with its Unicode"
        read = "".join(poppler("pdftotext", "-raw", file, "-").split())
        root = ET.fromstring(svg)
        words = {"".join(t.itertext()) for t in root.iter(NS + "text")}
        assert words
        assert [said for said in words if "".join(said.split()) not in read] == []
        # The page is the figure.
        size = re.search(r"Page size: +([\d.]+) x ([\d.]+) pts", poppler("pdfinfo", file))
        assert size
        for shown, side in zip(size.groups(), ("width", "height"), strict=True):
            asked = float((root.get(side) or "").removesuffix("pt"))
            assert float(shown) == pytest.approx(asked, abs=0.01)

    @pytest.mark.parametrize(
        ("width", "points"), [("3.25in", 234.0), ("8cm", 226.77), ("6.5in", 468.0)]
    )
    def test_the_page_is_as_wide_as_asked(
        self, tdx: Callable[..., tuple[int, str]], tmp_path: Path, width: str, points: float
    ) -> None:
        for name in SOME:
            code, _ = tdx("render", name, "--width", width, "--enlarge", "-o", "a.pdf")
            assert code == 0
            size = re.search(r"Page size: +([\d.]+) x", poppler("pdfinfo", tmp_path / "a.pdf"))
            assert size
            assert float(size[1]) == pytest.approx(points, abs=0.01)

    def test_a_dark_page_changes_no_export(
        self, tdx: Callable[..., tuple[int, str]], tmp_path: Path
    ) -> None:
        assert tdx("render", "gqa", "-o", "a.pdf")[0] == 0
        poppler("pdftoppm", "-r", "72", "-png", "-singlefile", tmp_path / "a.pdf", tmp_path / "a")
        page = Image.open(tmp_path / "a.png").convert("RGB")
        assert page.getpixel((0, 0)) == (255, 255, 255)


# -- PNG


def opened(path: Path) -> Image.Image:
    with Image.open(path) as image:
        image.load()
        return image


@pytest.mark.parametrize("name", SOME)
def test_scale_changes_the_pixels_and_nothing_else(
    tdx: Callable[..., tuple[int, str]], tmp_path: Path, name: str
) -> None:
    for scale in ("1", "3"):
        assert tdx("render", name, "--scale", scale, "-o", f"{scale}.png")[0] == 0
    one, three = opened(tmp_path / "1.png"), opened(tmp_path / "3.png")
    root = ET.fromstring(figure(name))
    for side, pixels in zip(("width", "height"), one.size, strict=True):
        points = float((root.get(side) or "").removesuffix("pt"))
        assert pixels == round(points * 96 / 72)
    assert three.size == (3 * one.width, 3 * one.height)
    assert three.info["dpi"][0] == pytest.approx(3 * 96, abs=0.1)
    # The same picture: made smaller again, it differs by the softness of its edges alone.
    small = three.convert("L").resize(one.size, Image.Resampling.BOX).tobytes()
    large = one.convert("L").tobytes()
    off = [abs(a - b) for a, b in zip(small, large, strict=True)]
    assert sum(off) / len(off) < 2
    assert sum(v > 96 for v in off) / len(off) < 0.002


def test_dpi_is_dots_an_inch_of_the_physical_size(
    tdx: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    for dpi in (72, 300):
        code, _ = tdx("render", "gqa", "--width", "3.25in", "--dpi", str(dpi), "-o", "a.png")
        assert code == 0
        made = opened(tmp_path / "a.png")
        assert made.width == 3.25 * dpi
        assert made.info["dpi"][0] == pytest.approx(dpi, abs=0.1)


HUGE = ("--width", "40in", "--enlarge")


def test_a_picture_beyond_all_programs_is_refused_with_the_scale_that_works(
    tdx: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    code, said = tdx("render", "gqa", *HUGE, "--dpi", "1000", "-o", "big.png")
    assert code == 1
    assert "40,000 x" in said
    assert not (tmp_path / "big.png").exists()
    assert re.search(r"a scale of at most [\d.]+ \(\d+ dpi\)", said)


@pytest.mark.slow
def test_the_scale_that_works_for_it_works(
    tdx: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    _, said = tdx("render", "gqa", *HUGE, "--dpi", "1000", "-o", "big.png")
    works = re.search(r"a scale of at most ([\d.]+) ", said)
    assert works
    code, said = tdx("render", "gqa", *HUGE, "--scale", works[1], "-o", "big.png")
    assert code == 0, said
    data = (tmp_path / "big.png").read_bytes()
    wide, high = struct.unpack(">II", data[16:24])  # IHDR; decoding it would take half a gigabyte
    assert 0.98 * 16_384 < max(wide, high) <= 16_384 or 1.17e8 < wide * high <= 1.2e8


def test_a_png_is_light_and_opaque_unless_asked(
    tdx: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    for words, corner in ((), (255, 255, 255, 255)), (("--background", "none"), (0, 0, 0, 0)):
        assert tdx("render", "gqa", *words, "-o", "a.png")[0] == 0
        made = opened(tmp_path / "a.png").convert("RGBA")
        assert made.getpixel((0, 0)) == corner
        assert made.getpixel((made.width - 1, made.height - 1)) == corner


def test_pictures_of_all_formats_say_the_same_size(
    tdx: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    code, said = tdx("render", "gqa", "--width", "3.25in", "-f", "svg,eps", "-o", "out")
    if code == 3:
        pytest.skip("no Cairo library here")
    assert code == 0, said
    root = ET.fromstring((tmp_path / "out/gqa.svg").read_text())
    assert root.get("width") == "234pt"
    eps = (tmp_path / "out/gqa.eps").read_text("ascii")
    box = re.search(r"^%%HiResBoundingBox: 0 0 ([\d.]+) ([\d.]+)$", eps, re.MULTILINE)
    assert box
    assert [f"{side}pt" for side in box.groups()] == [root.get("width"), root.get("height")]


def test_bytes_of_a_picture_are_a_picture() -> None:
    made = api.load("gqa").render("png", scale=1)
    assert Image.open(io.BytesIO(made.data)).format == "PNG"
    assert made.media_type == "image/png"
