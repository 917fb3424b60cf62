"""Drawing: Graphviz's geometry is the scene's, every output is sound, and labels stay labels."""

from __future__ import annotations

import io
import math
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scenes import Builder, signs, tower

from transformer_diagrams import theme
from transformer_diagrams.errors import DiagramError, ToolMissing
from transformer_diagrams.layout.scene import Box, Label, Line, Rect, Scene
from transformer_diagrams.render import dot, drawn, formats, graphviz_tool, svg
from transformer_diagrams.render.geometry import distinct, number, rounded
from transformer_diagrams.render.pdf import to_pdf, word_font
from transformer_diagrams.render.png import to_png
from transformer_diagrams.render.svg_reader import Shape, path_commands, read

NS = "{http://www.w3.org/2000/svg}"
PAPER = theme.get()

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="no system Graphviz here")
needs_poppler = pytest.mark.skipif(shutil.which("pdffonts") is None, reason="no poppler here")
PROGRAMS = ["pure", pytest.param("dot", marks=needs_dot)]


@pytest.fixture(scope="module")
def figure() -> svg.Figure:
    return svg.render(tower(), PAPER)


def odd_scene() -> Scene:
    """Sizes that no rounding to whole points survives."""
    b = Builder()
    b.frame("outer", Rect(3.33, 4.44, 190.37, 120.21), "outer")
    b.frame("inner", Rect(10.5, 20.13, 91.77, 60.61), "inner", parent="outer")
    b.boxes.append(Box("a", Rect(20.17, 30.29, 55.55, 20.01), "box", "norm", parent="inner"))
    b.boxes.append(Box("c", Rect(130.71, 33.33, 14.5, 14.5), "circle", "plain", symbol="+",
                       parent="outer"))  # fmt: skip
    b.line("a", "c", (75.72, 40.58), (130.71, 40.58))
    b.line("a", "", (47.95, 30.29), (47.95, 12.07), (171.23, 12.07), (171.23, 99.99))
    return b.scene(200.01, 130.03)


# Geometry


@pytest.mark.parametrize("graphviz", PROGRAMS)
@pytest.mark.parametrize("make", [tower, signs, odd_scene])
def test_graphviz_draws_the_scenes_geometry(make: object, graphviz: str) -> None:
    scene = make()  # type: ignore[operator]
    text = dot.to_dot(scene, PAPER, zoom=svg.ZOOM)
    found = drawn.read(graphviz_tool.draw_svg(text, graphviz), scene.height, svg.ZOOM)
    for index, box in enumerate(scene.boxes):
        if box.form == "text":
            continue
        seen = found.boxes[f"b{index}"]
        for side in ("left", "top", "right", "bottom"):
            assert getattr(seen, side) == pytest.approx(getattr(box.rect, side), abs=0.02), box.id
    for index, line in enumerate(scene.lines):
        start, pieces = found.lines[f"l{index}"]
        points = distinct(line.points)
        assert start == pytest.approx(points[0], abs=0.02)
        base, length = dot.arrow_base(line, PAPER)
        assert pieces[-1][2] == pytest.approx(base[-1], abs=0.02)
        assert math.dist(base[-1], points[-1]) == pytest.approx(length, abs=0.02)
        # Every corner is rounded, none is left out.
        curves = [p for a, p in zip([start, *(p[2] for p in pieces)], pieces, strict=False)
                  if not svg.is_straight(a, p)]  # fmt: skip
        assert len(curves) == len(points) - 2


@needs_dot
def test_both_graphviz_programs_give_the_same_svg() -> None:
    for scene in (tower(), signs(), odd_scene()):
        assert (
            svg.render(scene, PAPER, graphviz="pure").svg
            == svg.render(scene, PAPER, graphviz="dot").svg
        )


def test_finished_boxes_stand_where_the_scene_puts_them(figure: svg.Figure) -> None:
    root = ET.fromstring(figure.svg)
    drawn_rects = {
        tuple(float(r.get(k, "0")) for k in ("x", "y", "width", "height"))
        for r in root.iter(NS + "rect")
    }
    for box in tower().boxes:
        if box.form in ("box", "frame"):
            r = box.rect
            expected = (r.left, r.top, r.width, r.height)
            assert any(
                all(abs(a - b) <= 0.02 for a, b in zip(expected, one, strict=True))
                for one in drawn_rects
            ), box.id


def test_an_arrow_ends_at_its_point(figure: svg.Figure) -> None:
    heads = re.findall(r'<path fill="#\w+" d="M([-\d.]+) ([-\d.]+)L[^"]*Z"/>', figure.svg)
    tips = {(float(x), float(y)) for x, y in heads}
    for line in tower().lines:
        x, y = line.points[-1]
        assert any(math.dist((x, y), tip) <= 0.03 for tip in tips), line.id


def test_rounded_corners_keep_to_half_a_leg() -> None:
    start, pieces = rounded([(0, 0), (0, 10), (4, 10), (4, 30)], 5)
    assert start == (0, 0)
    ends = [p[2] for p in pieces]
    assert ends[0] == pytest.approx((0, 8))
    assert ends[1] == pytest.approx((2, 10))
    assert ends[-1] == (4, 30)


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e4, 1e4))
def test_numbers_are_short_and_true(value: float) -> None:
    assert abs(float(number(value)) - value) <= 0.005 + 1e-9
    assert "e" not in number(value)


# The DOT file


def test_a_label_cannot_change_the_dot_graph() -> None:
    hostile = ['" shape=box color=red] # "', "\\N \\G", "back\\", "{a|b}<p>", "&lt;", "a\nb"]
    b = Builder()
    for index, text in enumerate(hostile):
        b.box(text, text, 60, 20 + 40 * index, 100, "norm", title=text)
    b.line(hostile[0], hostile[2], (60, 40), (60, 50))
    scene = b.scene(200, 260, title='x */ "')
    plain_svg = graphviz_tool.draw_svg(dot.to_dot(scene, PAPER))
    root = ET.fromstring(plain_svg)
    groups = [g.get("class") for g in root.iter(NS + "g")]
    assert groups.count("node") == len(hostile)
    assert groups.count("edge") == 1
    said = ["".join(t.itertext()) for t in root.iter(NS + "text")]
    for text in hostile:
        for line in text.split("\n"):
            assert any(line in one for one in said), text


def test_dot_is_readable_and_complete() -> None:
    text = dot.to_dot(tower(), PAPER)
    assert "SwiGLU FFN" in text
    assert "Grouped-query attention (GQA)" in text
    assert "d_t × n_h × d_K" in text
    assert text.count("subgraph") == 2
    assert text.count("->") >= len(tower().lines)


# The SVG


def test_svg_holds_only_what_every_viewer_knows(figure: svg.Figure) -> None:
    tags = {e.tag.removeprefix(NS) for e in ET.fromstring(figure.svg).iter()}
    assert tags <= {"svg", "title", "desc", "g", "rect", "circle", "path", "text"}
    never = (
        "foreignObject", "script", "<style", "style=", "var(", "currentColor", "marker",
        "dominant-baseline", "baseline-shift", "href", "url(", "@import", "<use",
    )  # fmt: skip
    for word in never:
        assert word not in figure.svg, word
    assert not re.search(r'"[\d.]+(em|rem|ex|%)"', figure.svg)


def test_size_and_view_box_agree() -> None:
    for width in (None, 234.0, 3.25 * 72, 500.0):
        made = svg.render(tower(), PAPER, width=width)
        root = ET.fromstring(made.svg)
        _, _, w, h = (float(v) for v in root.get("viewBox", "").split())
        wide, high = (float(root.get(k, "").removesuffix("pt")) for k in ("width", "height"))
        assert wide / high == pytest.approx(w / h, rel=1e-3)
        assert wide == pytest.approx(width or w, abs=0.01)
        assert made.width == pytest.approx(wide, abs=0.01)


def test_a_large_figure_stays_small_in_bytes(figure: svg.Figure) -> None:
    assert len(figure.svg.encode()) < 100_000


def test_ids_differ_between_figures_and_point_at_title_and_description() -> None:
    ids = []
    for made in (svg.render(tower(), PAPER), svg.render(signs(), PAPER),
                 svg.render(tower(theme.get("dark")), theme.get("dark"))):  # fmt: skip
        root = ET.fromstring(made.svg)
        own = [e.get("id") for e in root.iter() if e.get("id")]
        assert root.get("role") == "img"
        assert (root.get("aria-labelledby") or "").split() == own
        ids += own
    assert len(ids) == len(set(ids))


def test_two_figures_in_one_page_look_as_each_alone() -> None:
    first, second = svg.render(tower(), PAPER).svg, svg.render(signs(), PAPER).svg
    page = f"<div><style>text{{fill:#c00}}</style>{first}{second}</div>"
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for one in (first, second):
        # The words stay unpainted whatever colour a page gives to text.
        assert all('fill-opacity="0"' in tag for tag in re.findall(r"<text[^>]*>", one))


def test_prefix_is_taken_over() -> None:
    assert 'id="mine-title"' in svg.render(signs(), PAPER, prefix="mine").svg


def test_words_are_kept_and_can_be_left_out(figure: svg.Figure) -> None:
    words = {"".join(t.itertext()) for t in ET.fromstring(figure.svg).iter(NS + "text")}
    assert {"RMSNorm", "SwiGLU FFN", "scale 1/√d_K", "32 ×", "matmul Q_hK_g(h)ᵀ"} <= words
    bare = svg.render(tower(), PAPER, words=False).svg
    assert "<text" not in bare
    assert pixels(to_png(bare)) == pixels(to_png(figure.svg))


def test_every_box_says_what_it_is_in_words() -> None:
    root = ET.fromstring(svg.render(signs(), PAPER).svg)
    said = ["".join(t.itertext()) for t in root.iter(NS + "title")]
    assert "frozen; frozen: its weights are not trained" in said
    assert "loss; only in training" in said
    assert "multiply" in said
    assert said[0] == "Signs & <marks>"


def test_groups_carry_their_path_for_the_gallery(figure: svg.Figure) -> None:
    root = ET.fromstring(figure.svg)
    paths = {g.get("data-path"): g for g in root.iter(NS + "g") if g.get("data-path")}
    assert paths["ffn"].get("data-use") == "swiglu"
    assert {box.path for box in tower().boxes} >= set(paths)


@pytest.mark.parametrize(("background", "corner"), [("none", 0), ("white", 255), ("theme", 255)])
def test_background(background: str, corner: int) -> None:
    made = to_png(svg.render(tower(), PAPER, background=background).svg)
    picture = Image.open(io.BytesIO(made)).convert("RGBA")
    for at in ((0, 0), (picture.width - 1, picture.height - 1)):
        assert picture.getpixel(at)[3] == corner  # type: ignore[index]


def test_small_text_is_warned_of_with_its_size() -> None:
    wide = svg.render(tower(), PAPER)
    assert svg.small_text_warning(wide) is None
    narrow = svg.render(tower(), PAPER, width=234)
    warning = svg.small_text_warning(narrow)
    assert warning is not None
    assert narrow.smallest_text == pytest.approx(7.2 * 234 / 584, abs=0.01)
    assert f"{narrow.smallest_text:.1f} pt" in warning.message
    enough = float(re.search(r"([\d.]+) in wide", warning.hint)[1])  # type: ignore[index]
    assert svg.small_text_warning(svg.render(tower(), PAPER, width=enough * 72)) is None


@pytest.mark.parametrize("name", theme.NAMES)
def test_same_scene_gives_same_bytes(name: str) -> None:
    look = theme.get(name)
    asked = ["svg", "png", "pdf", "dot"]
    first = formats.write(formats.Drawing(signs(look), look), asked)
    assert formats.write(formats.Drawing(signs(look), look), asked) == first


def test_stacks_marks_and_dashes_are_drawn() -> None:
    text = svg.render(signs(), PAPER).svg
    stack = re.search(r'data-path="stack".*?</g>', text)
    assert stack
    assert stack[0].count("<rect") == 4
    for mark in ("frozen", "trained", "tied", "ema"):
        group = re.search(rf'data-path="m-{mark}".*?</g>', text)
        assert group
        assert "<circle" in group[0]
    assert text.count("no gradient flows back here") == 1
    train = PAPER.dashes["train"]
    assert f'stroke-dasharray="{number(train[0])} {number(train[1])}"' in text


def test_a_stop_gradient_bar_crosses_its_line() -> None:
    b = Builder()
    b.line("", "", (50, 90), (50, 10), mark="stop-gradient")
    made = read(svg.render(b.scene(100, 100), PAPER).svg)
    color = tuple(int(PAPER.marks["stop-gradient"][i : i + 2], 16) / 255 for i in (1, 3, 5))
    bars = [s for s in made.items if isinstance(s, Shape) and s.stroke == color]
    xs = [v for _, numbers in bars[0].commands for v in numbers[0::2]]
    assert min(xs) < 50 < max(xs)


# PNG


def pixels(data: bytes) -> bytes:
    return Image.open(io.BytesIO(data)).convert("RGBA").tobytes()


def test_scale_changes_pixels_only(figure: svg.Figure) -> None:
    one, three = (Image.open(io.BytesIO(to_png(figure.svg, scale=s))) for s in (1, 3))
    for a, b in zip(one.size, three.size, strict=True):
        assert b == 3 * a
    assert three.info["dpi"][0] == pytest.approx(288, abs=0.1)
    assert Image.open(io.BytesIO(to_png(figure.svg, dpi=72))).size == (584, 518)
    small = three.convert("L").resize(one.size)
    a, b = small.tobytes(), one.convert("L").tobytes()
    assert sum(abs(x - y) for x, y in zip(a, b, strict=True)) / len(a) < 6


def test_a_huge_png_is_refused_before_drawing(figure: svg.Figure) -> None:
    with pytest.raises(DiagramError) as caught:
        to_png(figure.svg, scale=80)
    (fault,) = caught.value.faults
    assert "62,320 x 55,280" in fault.message  # 80 times the 779 x 691 of scale 1
    most = float(re.search(r"scale of at most ([\d.]+)", fault.expected)[1])  # type: ignore[index]
    assert 10 < most < 22


@pytest.mark.parametrize(
    "inner",
    [
        '<image href="file:///etc/hostname" width="10" height="10"/>',
        '<image xlink:href="http://127.0.0.1:9/x.png" width="10" height="10"/>',
        "<script>alert(1)</script>",
        "<style>@import url(x.css);</style>",
        '<rect fill="url(http://127.0.0.1/#a)" width="1" height="1"/>',
        '<use href="other.svg#a"/>',
    ],
)
def test_pictures_read_no_file_and_open_no_connection(inner: str) -> None:
    text = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="60pt" height="30pt" viewBox="0 0 60 30">{inner}</svg>'
    )
    for convert in (to_png, to_pdf):
        with pytest.raises(DiagramError) as caught:
            convert(text)
        assert caught.value.faults[0].code == "external-reference"


def test_document_types_are_refused() -> None:
    bomb = '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"/>'
    with pytest.raises(DiagramError):
        to_pdf(bomb)


def test_other_renderers_paint_the_same_ink(figure: svg.Figure) -> None:
    """CairoSVG, where it works: the same picture as resvg's."""
    cairosvg = pytest.importorskip("cairosvg")
    ours = Image.open(io.BytesIO(to_png(figure.svg, dpi=96))).convert("L")
    data = cairosvg.svg2png(bytestring=figure.svg.encode(), output_width=ours.width,
                            output_height=ours.height)  # fmt: skip
    theirs = Image.open(io.BytesIO(data)).convert("L")
    a, b = ours.tobytes(), theirs.tobytes()
    far = sum(abs(x - y) > 80 for x, y in zip(a, b, strict=True))
    assert far / len(a) < 0.002


# PDF


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_poppler
@pytest.mark.parametrize("width", [None, 3.25 * 72, 180.0])
def test_pdf_page_is_exactly_the_figure(tmp_path: Path, width: float | None) -> None:
    made = svg.render(tower(), PAPER, width=width)
    file = tmp_path / "a.pdf"
    file.write_bytes(to_pdf(made.svg))
    size = re.search(r"Page size:\s+([\d.]+) x ([\d.]+) pts", run("pdfinfo", str(file)))
    assert size
    assert float(size[1]) == pytest.approx(width or 584, abs=0.1)
    assert float(size[2]) == pytest.approx((width or 584) * 518 / 584, abs=0.1)


@needs_poppler
def test_pdf_fonts_are_embedded_and_none_is_type_3(tmp_path: Path, figure: svg.Figure) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(to_pdf(figure.svg))
    rows = run("pdffonts", str(file)).splitlines()[2:]
    assert rows
    for row in rows:
        assert "Type 3" not in row
        assert re.search(r"\byes yes yes\b", row)


@needs_poppler
def test_pdf_words_are_found(tmp_path: Path, figure: svg.Figure) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(to_pdf(figure.svg))
    text = run("pdftotext", str(file), "-")
    for words in ("RMSNorm", "Grouped-query attention (GQA)", "KV cache 2 n_g d_K per token", "√"):
        assert words in text
    info = run("pdfinfo", str(file))
    assert "Llama 3" in info
    assert "CreationDate" not in info


@needs_poppler
def test_pdf_paints_what_the_svg_paints(tmp_path: Path) -> None:
    for scene in (tower(), signs()):
        made = svg.render(scene, PAPER)
        file = tmp_path / "a.pdf"
        file.write_bytes(to_pdf(made.svg))
        run("pdftoppm", "-r", "144", "-png", "-singlefile", str(file), str(tmp_path / "a"))
        page = Image.open(tmp_path / "a.png").convert("L")
        ours = Image.open(io.BytesIO(to_png(made.svg, dpi=144))).convert("L").resize(page.size)
        # The two place their anti-aliasing differently: compare at half the size.
        half = (page.width // 2, page.height // 2)
        a, b = page.resize(half).tobytes(), ours.resize(half).tobytes()
        far = sum(abs(x - y) > 90 for x, y in zip(a, b, strict=True))
        assert far / len(a) < 0.003


def test_pdf_structure_is_read_by_another_library(figure: svg.Figure) -> None:
    pypdf = pytest.importorskip("pypdf")
    reader = pypdf.PdfReader(io.BytesIO(to_pdf(figure.svg)), strict=True)
    assert len(reader.pages) == 1
    assert "RMSNorm" in reader.pages[0].extract_text()


def test_the_word_font_is_a_true_type_font() -> None:
    from fontTools.ttLib import TTFont

    font = TTFont(io.BytesIO(word_font()), checkChecksums=2)
    assert font["maxp"].numGlyphs == 2
    assert font["hmtx"].metrics == {".notdef": (500, 0), "glyph00001": (500, 0)}
    font["head"], font["hhea"], font["post"], font["cmap"], font["glyf"], font["loca"]


def test_path_data_of_all_kinds_is_read() -> None:
    assert path_commands("m1 2h3v-4l-1-1z")[-2:] == (("L", (3.0, -3.0)), ("Z", ()))
    quad = path_commands("M0 0Q10 0 10 10T20 20")
    assert quad[1][1] == pytest.approx((20 / 3, 0, 10, 10 / 3, 10, 10))
    assert quad[2][1][:2] == pytest.approx((10, 10 + 20 / 3))  # mirrored control (10, 20)
    arc = path_commands("M10 0A10 10 0 0 1 0 10")
    assert arc[-1][1][-2:] == pytest.approx((0, 10))
    # The middle of a quarter arc lies on the circle.
    (x0, y0), c = (10, 0), arc[-1][1]
    mid = tuple((p0 + 3 * c[i] + 3 * c[i + 2] + c[i + 4]) / 8 for i, p0 in enumerate((x0, y0)))
    assert math.hypot(*mid) == pytest.approx(10, abs=0.01)


# Formats and tools


def test_formats_are_one_table() -> None:
    assert list(formats.FORMATS) == ["svg", "png", "pdf", "eps", "ps", "dot"]
    assert all(entry.suffix == f".{name}" for name, entry in formats.FORMATS.items())
    assert formats.get(".PDF").media_type == "application/pdf"
    with pytest.raises(DiagramError) as caught:
        formats.get("pgn")
    assert "png" in caught.value.faults[0].hint


def test_several_formats_share_one_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = graphviz_tool.draw_svg
    monkeypatch.setattr(
        graphviz_tool, "draw_svg", lambda *a, **k: (calls.append(1), real(*a, **k))[1]
    )
    made = formats.write(formats.Drawing(signs(), PAPER), ["svg", "pdf", "png"])
    assert calls == [1]
    assert made["svg"].startswith(b"<svg")
    assert made["png"].startswith(b"\x89PNG")
    assert made["pdf"].startswith(b"%PDF-")


def test_a_missing_graphviz_is_one_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(graphviz_tool.sys, "executable", "/nowhere/python")
    monkeypatch.setattr(graphviz_tool.sys, "prefix", "/nowhere")
    for choice, remedy in (("pure", "pip install graphviz-pure"), ("dot", "system package")):
        with pytest.raises(ToolMissing) as caught:
            graphviz_tool.find(choice)
        (fault,) = caught.value.faults
        assert remedy in fault.hint
    with pytest.raises(DiagramError):
        graphviz_tool.find("dott")


def test_a_graphviz_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "slow"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(graphviz_tool, "find", lambda choice: str(program))
    with pytest.raises(DiagramError) as caught:
        graphviz_tool.draw_svg("digraph {}", timeout=0.2)
    assert caught.value.faults[0].code == "graphviz-timeout"


def test_a_graphviz_that_fails_says_why() -> None:
    with pytest.raises(DiagramError) as caught:
        graphviz_tool.draw_svg("digraph { a -> ")
    assert "syntax error" in caught.value.faults[0].found


def test_a_missing_png_library_is_one_clear_message(
    figure: svg.Figure, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformer_diagrams.render import png

    monkeypatch.setattr(png, "package_folder", lambda name: None)
    with pytest.raises(ToolMissing) as caught:
        to_png(figure.svg)
    assert "pip install resvg-py" in caught.value.faults[0].hint


def test_an_empty_scene_is_drawn() -> None:
    scene = Scene("empty", "", "", 40, 30, (), (), ())
    made = formats.write(formats.Drawing(scene, PAPER), ["svg", "png", "pdf"])
    assert made["svg"]


def test_a_label_without_an_owner_is_drawn() -> None:
    label = Label("t", "free", 10, 20, 9, "note", Rect(10, 12, 20, 10))
    scene = Scene("free", "Free", "", 60, 30, (), (Line("l", ((5, 25), (50, 25))),), (label,))
    assert ">free</text>" in svg.render(scene, PAPER).svg
