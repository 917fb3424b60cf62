"""PPTX: read back by python-pptx and by the rules of ECMA-376, and drawn by LibreOffice."""

from __future__ import annotations

import io
import math
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageFilter
from pptx import Presentation
from scenes import Builder, drawing, signs, tower

from transformer_diagrams.api import load
from transformer_diagrams.layout.scene import Rect, Scene
from transformer_diagrams.render import formats
from transformer_diagrams.render.formats import Drawing
from transformer_diagrams.render.pptx import EMU, HIGH, WIDE, to_pptx

SPECS = ["tower", "gqa", pytest.param("transformer", marks=pytest.mark.slow)]
PPTX = formats.get("pptx")
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"


def drawn_of(name: str) -> Drawing:
    hand = {"tower": tower, "signs": signs}
    return PPTX.placed(drawing(hand[name]() if name in hand else load(name).scene()))


def slide_of(data: bytes) -> Any:
    (slide,) = Presentation(io.BytesIO(data)).slides
    return slide


def around(drawn: Drawing) -> tuple[float, float, float]:
    """Where the figure begins on the slide, and its unit, in points."""
    wide, high = drawn.display.printed
    return (WIDE - wide) / 2, (HIGH - high) / 2, drawn.unit


def place(shape: Any) -> tuple[float, float, float, float]:
    """Left, top, width and height in EMU: groups of ours keep the slide's coordinates."""
    xfrm = shape.find(f".//{A}xfrm")
    off, ext = xfrm.find(f"{A}off"), xfrm.find(f"{A}ext")
    return tuple(float(e.get(k)) for e, k in ((off, "x"), (off, "y"), (ext, "cx"), (ext, "cy")))  # type: ignore[return-value]


def way_of(connector: Any) -> list[tuple[float, float]]:
    """The corners of a preset connector, after presetShapeDefinitions.xml: along x first; then
    mirrored and turned about the middle of its place."""
    left, top, w, h = place(connector)
    kind = connector.find(f".//{A}prstGeom").get("prst")
    adj = [int(gd.get("fmla").split()[1]) / 1e5 for gd in connector.iter(f"{A}gd")]
    turns: dict[str, list[tuple[float, float]]] = {
        "straightConnector1": [], "bentConnector2": [(w, 0)],
    }  # fmt: skip
    if kind == "bentConnector3":
        turns[kind] = [(w * adj[0], 0), (w * adj[0], h)]
    elif kind == "bentConnector4":
        turns[kind] = [(w * adj[0], 0), (w * adj[0], h * adj[1]), (w, h * adj[1])]
    elif kind == "bentConnector5":
        x, y, z = w * adj[0], h * adj[1], w * adj[2]
        turns[kind] = [(x, 0), (x, y), (z, y), (z, h)]
    xfrm = connector.find(f".//{A}xfrm")
    angle = math.radians(int(xfrm.get("rot", "0")) / 60000)
    found = []
    for x, y in [(0.0, 0.0), *turns[kind], (w, h)]:
        dx = (x - w / 2) * (-1 if xfrm.get("flipH") else 1)
        dy = (y - h / 2) * (-1 if xfrm.get("flipV") else 1)
        turned = (dx * math.cos(angle) - dy * math.sin(angle),
                  dx * math.sin(angle) + dy * math.cos(angle))  # fmt: skip
        found.append((left + w / 2 + turned[0], top + h / 2 + turned[1]))
    return found


def site(shape: Any, index: int) -> tuple[float, float]:
    """Where a connector holds on to a shape."""
    left, top, w, h = place(shape)
    preset = shape.find(f"{P}spPr/{A}prstGeom")
    if preset is None:
        at = shape.findall(f".//{A}cxn/{A}pos")[index]
        known = {gd.get("name"): gd.get("fmla").split() for gd in shape.iter(f"{A}gd")}
        (_, x, _, dx), (_, y, _, dy) = known[at.get("x")], known[at.get("y")]
        return left + int(x) * w / int(dx), top + int(y) * h / int(dy)
    if preset.get("prst") == "ellipse":  # 0, 2, 4, 6: top, left, bottom, right
        assert index % 2 == 0
        index //= 2
    return [(left + w / 2, top), (left, top + h / 2), (left + w / 2, top + h),
            (left + w, top + h / 2)][index]  # fmt: skip


@pytest.mark.parametrize("name", SPECS)
def test_every_connector_is_glued_and_runs_as_the_line_does(name: str) -> None:
    drawn = drawn_of(name)
    x0, y0, unit = around(drawn)
    tree = slide_of(PPTX.write(drawn)).shapes._spTree
    by_id = {e.find(f".//{P}cNvPr").get("id"): e for e in tree.iter(f"{P}sp")}
    connectors = list(tree.iter(f"{P}cxnSp"))
    lines = [item for item in drawn.display.items if item.kind == "line"]
    assert len(connectors) == len(lines)
    ways = []
    for connector in connectors:
        ends = []
        for tag in ("stCxn", "endCxn"):
            (glue,) = connector.iter(A + tag)
            ends.append(site(by_id[glue.get("id")], int(glue.get("idx"))))
        if connector.find(f".//{A}prstGeom") is not None:
            way = way_of(connector)
            ways.append(way)
            for end, corner in zip(ends, (way[0], way[-1]), strict=True):
                assert math.dist(end, corner) < 1.1 * EMU
    expected = [[((x0 + x * unit) * EMU, (y0 + y * unit) * EMU) for x, y in line.way]
                for line in lines if len(line.way) <= 6]  # fmt: skip
    assert len(ways) == len(expected)
    for way in ways:
        near = [want for want in expected if len(want) == len(way) and all(
            math.dist(a, b) < 0.15 * EMU for a, b in zip(way, want, strict=True)
        )]  # fmt: skip
        assert near, way


def test_ids_are_unique_and_pictures_of_formulas_say_their_tex() -> None:
    slide = slide_of(PPTX.write(drawn_of("gqa")))
    tree = slide.shapes._spTree
    ids = [e.get("id") for e in tree.iter(f"{P}cNvPr")]
    assert len(set(ids)) == len(ids)
    pictures = {pic.find(f".//{P}cNvPr").get("descr") for pic in tree.iter(f"{P}pic")}
    assert "$W_Q$" in pictures
    assert r"$1/\sqrt{d_K}$" in pictures


def leaves(shapes: Any, trail: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for shape in shapes:
        yield (*trail, shape.name), shape
        if shape.shape_type == 6:
            yield from leaves(shape.shapes, (*trail, shape.name))


def test_words_can_be_edited_and_what_is_in_a_frame_is_in_its_group() -> None:
    slide = slide_of(PPTX.write(drawn_of("transformer")))
    said = {shape.text_frame.text: trail for trail, shape in leaves(slide.shapes)
            if shape.has_text_frame and shape.text_frame.text}  # fmt: skip
    assert {"Self-attention", "Cross-attention", "source tokens", "Decoder layer"} <= said.keys()
    assert said["target tokens\n(shifted right)"][0] == "target"
    (frame, *_) = said["Self-attention"]
    assert frame.endswith("-frame")
    assert said["Encoder layer"][0] == frame != said["Cross-attention"][0]
    assert len(said["softmax"]) == 1  # in no frame


def test_the_slide_is_16_to_9_and_the_figure_fills_it() -> None:
    b = Builder()
    b.box("a", "a", 60, 30, 80, "norm")
    small = PPTX.placed(drawing(b.scene(120, 60)))
    assert small.display.printed == pytest.approx((924, 462))
    deck = Presentation(io.BytesIO(PPTX.write(small)))
    assert (deck.slide_width, deck.slide_height) == (12192000, 6858000)
    asked = PPTX.placed(drawing(b.scene(120, 60), width=60.0))
    assert asked.display.printed == pytest.approx((60, 30))
    huge = PPTX.placed(drawing(b.scene(4000, 60), width=3000.0))
    assert huge.display.printed[0] == pytest.approx(924)


def test_what_connectors_have_not_is_told() -> None:
    (told,) = [f for f in PPTX.warnings(drawn_of("transformer")) if f.code == "not-carried"]
    assert "rounded corners of 8 lines" in told.message
    assert "5 residual paths" in told.message


def test_the_same_figure_gives_the_same_bytes_without_a_clock() -> None:
    data = PPTX.write(drawn_of("signs"))
    assert data == PPTX.write(drawn_of("signs"))
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert {entry.date_time for entry in packed.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert packed.testzip() is None


def test_a_missing_library_is_a_sentence_and_code_3(tmp_path: Path) -> None:
    code = (
        "from transformer_diagrams import extras\n"
        "extras.package_folder = lambda name: None\n"
        "from transformer_diagrams.cli import main\n"
        "main()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "render", "gqa", "-f", "pptx", "--width", "3.7in"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )  # fmt: skip
    assert run.returncode == 3
    assert "python-pptx" in run.stderr
    assert "pip install 'transformer-diagrams[pptx]'" in run.stderr
    assert not list(tmp_path.iterdir())


def _near(a: Image.Image, b: Image.Image) -> float:
    """The share of a's ink that has ink of b within three pixels."""
    alone = ImageChops.subtract(a, b.filter(ImageFilter.MaxFilter(7)))
    return 1 - sum(alone.histogram()[91:]) / sum(a.histogram()[91:])


@pytest.mark.tool
@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("soffice") is None or shutil.which("pdftoppm") is None, reason="no LibreOffice"
)
def test_libreoffice_draws_what_our_own_pdf_shows(tmp_path: Path) -> None:
    from transformer_diagrams.cachedir import package_folder

    drawn = [drawn_of(name) for name in ("tower", "signs", "transformer")]
    (tmp_path / "all.pptx").write_bytes(to_pptx([each.display for each in drawn]))
    fonts = f"<dir>{package_folder('fontpkg_fira_sans')}/files</dir><dir>/usr/share/fonts</dir>"
    (tmp_path / "fonts.conf").write_text(
        f"<fontconfig>{fonts}<cachedir>{tmp_path}/cache</cachedir></fontconfig>", encoding="utf-8"
    )
    subprocess.run(
        ["soffice", f"-env:UserInstallation=file://{tmp_path}/home", "--headless",
         "--convert-to", "pdf", "--outdir", tmp_path, tmp_path / "all.pptx"],
        check=True, capture_output=True, timeout=120,
        env={**os.environ, "FONTCONFIG_FILE": str(tmp_path / "fonts.conf")},
    )  # fmt: skip
    subprocess.run(["pdftoppm", "-r", "96", "-png", tmp_path / "all.pdf", tmp_path / "page"],
                   check=True)  # fmt: skip
    for number, each in enumerate(drawn, 1):
        theirs = Image.open(tmp_path / f"page-{number}.png").convert("L").point(lambda v: 255 - v)
        x0, y0, _ = around(each)
        png = formats.get("png").write(replace(each, dpi=96.0))
        figure = Image.open(io.BytesIO(png)).convert("L")
        ours = Image.new("L", theirs.size, 255)
        ours.paste(figure, (round(x0 / 0.75), round(y0 / 0.75)))
        ours = ours.point(lambda v: 255 - v)
        assert _near(ours, theirs) > 0.98, number
        assert _near(theirs, ours) > 0.98, number


def test_a_line_of_more_turns_than_a_preset_is_a_glued_freeform() -> None:
    b = Builder()
    b.box("a", "a", 60, 150, 40, "norm")
    b.box("b", "b", 60, 30, 40, "norm")
    b.line("a", "b", (60, 139.5), (60, 120), (110, 120), (110, 80), (20, 80), (20, 60), (60, 60),
           (60, 40.5))  # fmt: skip
    b.frame("f", Rect(5, 5, 120, 170), "frame")
    scene: Scene = b.scene(130, 180)
    tree = slide_of(PPTX.write(PPTX.placed(drawing(scene)))).shapes._spTree
    (connector,) = tree.iter(f"{P}cxnSp")
    assert connector.find(f".//{A}custGeom") is not None
    assert len(list(connector.iter(f"{A}stCxn", f"{A}endCxn"))) == 2
