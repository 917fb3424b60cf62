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
from scenes import Builder, drawing, signs, tower
from svg_reader import Shape, path_commands, read

from transformer_diagrams import theme
from transformer_diagrams.api import load
from transformer_diagrams.errors import DiagramError, ToolMissing
from transformer_diagrams.layout.scene import Box, Label, Line, Rect, Scene
from transformer_diagrams.render import dot, formats, graphviz_tool
from transformer_diagrams.render.display import Disc
from transformer_diagrams.render.geometry import distinct, is_straight, number, rounded
from transformer_diagrams.render.paint import paint
from transformer_diagrams.render.path_data import commands
from transformer_diagrams.render.pdf import to_pdf, word_font
from transformer_diagrams.render.png import to_png

NS = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "g", "rect", "circle", "path", "text"}
PAPER = theme.get()

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="no system Graphviz here")
needs_poppler = pytest.mark.skipif(shutil.which("pdffonts") is None, reason="no poppler here")
PROGRAMS = ["pure", pytest.param("dot", marks=needs_dot)]


@pytest.fixture(scope="module")
def figure() -> formats.Drawing:
    return drawing(tower(), PAPER)


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
    items = {item.name: item for item in drawing(scene, graphviz=graphviz).display.items}
    for index, box in enumerate(scene.boxes):
        if box.form == "text":
            continue
        item = items[f"b{index}"]
        seen = item.shapes[item.own]
        if isinstance(seen, Disc):
            assert seen.center == pytest.approx((box.rect.center_x, box.rect.center_y), abs=0.02)
            assert 2 * seen.radius == pytest.approx(box.rect.width, abs=0.02)
            continue
        for side in ("left", "top", "right", "bottom"):
            wanted = getattr(box.rect, side)
            assert getattr(seen.rect, side) == pytest.approx(wanted, abs=0.02), box.id
    for index, line in enumerate(scene.lines):
        item = items[f"l{index}"]
        curve = item.shapes[item.own]
        points = distinct(line.points)
        assert curve.start == pytest.approx(points[0], abs=0.02)
        assert item.tip == pytest.approx(points[-1], abs=0.02)
        # The line ends inside its head.
        end = curve.pieces[-1][2]
        assert math.dist(end, points[-1]) == pytest.approx(item.arrow * 0.75, abs=0.02)
        # Every corner is rounded, none is left out.
        starts = [curve.start, *(p[2] for p in curve.pieces)]
        pieces = zip(starts, curve.pieces, strict=False)
        assert sum(not is_straight(a, p) for a, p in pieces) == len(points) - 2


def test_a_head_points_along_its_line() -> None:
    """Also where a corner lies near the end and places are no whole hundredths."""
    b = Builder()
    b.line("", "", (10.004, 90.006), (10.004, 20.0), (60.3349, 20.0), (60.3349, 12.4949))
    (item,) = (i for i in drawing(b.scene(100, 100)).display.items if i.kind == "line")
    curve, head = item.shapes
    points = re.findall(r"[-\d.]+ [-\d.]+", head.data)
    tip, _, notch, _ = ([float(v) for v in point.split()] for point in points)
    assert tip[0] == notch[0] == pytest.approx(curve.pieces[-1][2][0], abs=1e-6)


@pytest.mark.parametrize("name", ["gqa", "mha-per-head", "transformer"])
def test_a_lines_way_leads_from_its_tail_to_its_head(name: str) -> None:
    """A branch's too: through the trunk that it leaves. Sheets behind a box belong to it."""
    display = paint(load(name).scene(), PAPER)
    rects = {item.id: item.rect for item in display.items if item.rect}
    for item in display.items:
        if item.kind == "line":
            assert near(item.way[0], rects[item.tail]), item.id
            assert near(item.way[-1], rects[item.head]), item.id
    assert len(set(display.names.values())) == len(rects)


def near(point: tuple[float, float], rect: Rect) -> bool:
    x, y = point
    inside = rect.left - 9 < x < rect.right + 9 and rect.top - 9 < y < rect.bottom + 9
    border = min(abs(x - rect.left), abs(x - rect.right), abs(y - rect.top), abs(y - rect.bottom))
    return inside and border < 9


def test_both_graphviz_programs_give_the_same_svg() -> None:
    for scene in (tower(), signs(), odd_scene()):
        assert (
            drawing(scene, PAPER, graphviz="pure").svg
            == drawing(scene, PAPER, graphviz="dot").svg
        )


def test_finished_boxes_stand_where_the_scene_puts_them(figure: formats.Drawing) -> None:
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


def test_an_arrow_ends_at_its_point(figure: formats.Drawing) -> None:
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
    plain_svg = graphviz_tool.draw_svg(dot.to_dot(drawing(scene).display))
    root = ET.fromstring(plain_svg)
    groups = [g.get("class") for g in root.iter(NS + "g")]
    assert groups.count("node") == len(hostile)
    assert groups.count("edge") == 1
    said = ["".join(t.itertext()) for t in root.iter(NS + "text")]
    for text in hostile:
        for line in text.split("\n"):
            assert any(line in one for one in said), text


def test_dot_is_readable_and_complete() -> None:
    text = dot.to_dot(drawing(tower()).display)
    assert "SwiGLU FFN" in text
    assert "Grouped-query attention (GQA)" in text
    assert "d_t × n_h × d_K" in text
    assert text.count("subgraph") == 2
    assert text.count("->") >= len(tower().lines)


# The SVG


def test_svg_holds_only_what_every_viewer_knows(figure: formats.Drawing) -> None:
    tags = {e.tag.removeprefix(NS) for e in ET.fromstring(figure.svg).iter()}
    assert tags <= ELEMENTS
    never = (
        "foreignObject", "script", "<style", "style=", "var(", "currentColor", "marker",
        "dominant-baseline", "baseline-shift", "href", "url(", "@import", "<use",
    )  # fmt: skip
    for word in never:
        assert word not in figure.svg, word
    assert not re.search(r'"[\d.]+(em|rem|ex|%)"', figure.svg)


def test_size_and_view_box_agree() -> None:
    for width in (None, 234.0, 3.25 * 72, 500.0):
        made = drawing(tower(), PAPER, width=width)
        root = ET.fromstring(made.svg)
        _, _, w, h = (float(v) for v in root.get("viewBox", "").split())
        wide, high = (float(root.get(k, "").removesuffix("pt")) for k in ("width", "height"))
        assert wide / high == pytest.approx(w / h, rel=1e-3)
        assert wide == pytest.approx(width or w, abs=0.01)
        assert made.display.printed[0] == pytest.approx(wide, abs=0.01)


def test_a_large_figure_stays_small_in_bytes(figure: formats.Drawing) -> None:
    assert len(figure.svg.encode()) < 100_000


def test_ids_differ_between_figures_and_point_at_title_and_description() -> None:
    ids = []
    for made in (drawing(tower(), PAPER), drawing(signs(), PAPER),
                 drawing(tower(theme.get("dark")), theme.get("dark"))):  # fmt: skip
        root = ET.fromstring(made.svg)
        own = [e.get("id") for e in root.iter() if e.get("id")]
        assert root.get("role") == "img"
        said = (root.get("aria-labelledby") or "").split()
        assert said == own[: len(said)]
        ids += own
    assert len(ids) == len(set(ids))


def test_two_figures_in_one_page_look_as_each_alone() -> None:
    first, second = drawing(tower(), PAPER).svg, drawing(signs(), PAPER).svg
    page = f"<div><style>text{{fill:#c00}}</style>{first}{second}</div>"
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for one in (first, second):
        # The words stay unpainted whatever colour a page gives to text.
        assert all('fill-opacity="0"' in tag for tag in re.findall(r"<text[^>]*>", one))


def test_words_are_kept_and_can_be_left_out(figure: formats.Drawing) -> None:
    words = {"".join(t.itertext()) for t in ET.fromstring(figure.svg).iter(NS + "text")}
    assert {"RMSNorm", "SwiGLU FFN", "scale 1/√d_K", "32 ×", "matmul Q_hK_g(h)ᵀ"} <= words
    bare = drawing(tower(), PAPER, words=False)
    assert "<text" not in bare.svg
    assert bare.svg == re.sub(r"<text[^>]*>[^<]*</text>", "", figure.svg).replace(*(
        re.search(r'id="([\w-]+)-title"', one.svg)[1] for one in (figure, bare)  # type: ignore[index]
    ))


def test_every_box_says_what_it_is_in_words() -> None:
    root = ET.fromstring(drawing(signs(), PAPER).svg)
    said = ["".join(t.itertext()) for t in root.iter(NS + "title")]
    assert "frozen; frozen: its weights are not trained" in said
    assert "loss; only in training" in said
    assert "multiply" in said
    assert said[0] == "Signs & <marks>"


def test_groups_carry_their_path_for_the_gallery(figure: formats.Drawing) -> None:
    root = ET.fromstring(figure.svg)
    paths = {g.get("data-path"): g for g in root.iter(NS + "g") if g.get("data-path")}
    assert paths["ffn"].get("data-use") == "swiglu"
    assert {box.path for box in tower().boxes} >= set(paths)


@pytest.mark.parametrize(("background", "corner"), [("none", 0), ("white", 255), ("theme", 255)])
def test_background(background: str, corner: int) -> None:
    made = to_png(drawing(tower(), PAPER, background=background).display)
    picture = Image.open(io.BytesIO(made)).convert("RGBA")
    for at in ((0, 0), (picture.width - 1, picture.height - 1)):
        assert picture.getpixel(at)[3] == corner  # type: ignore[index]


def test_small_text_is_warned_of_with_its_size() -> None:
    wide = drawing(tower(), PAPER)
    assert formats.small_text_warning(wide.display) is None
    narrow = drawing(tower(), PAPER, width=234)
    warning = formats.small_text_warning(narrow.display)
    assert warning is not None
    assert narrow.display.smallest_text == pytest.approx(7.2 * 234 / 584, abs=0.01)
    assert f"{narrow.display.smallest_text:.1f} pt" in warning.message
    enough = float(re.search(r"([\d.]+) in wide", warning.hint)[1])  # type: ignore[index]
    assert formats.small_text_warning(drawing(tower(), PAPER, width=enough * 72).display) is None


@pytest.mark.parametrize("name", theme.NAMES)
def test_same_scene_gives_same_bytes(name: str) -> None:
    look = theme.get(name)
    asked = ["svg", "png", "pdf", "dot"]
    first = formats.write(formats.Drawing(signs(look), look), asked)
    assert formats.write(formats.Drawing(signs(look), look), asked) == first


def test_stacks_marks_and_dashes_are_drawn() -> None:
    text = drawing(signs(), PAPER).svg
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
    made = read(drawing(b.scene(100, 100), PAPER).svg)
    color = tuple(int(PAPER.marks["stop-gradient"][i : i + 2], 16) / 255 for i in (1, 3, 5))
    bars = [s for s in made.items if isinstance(s, Shape) and s.stroke == color]
    xs = [v for _, numbers in bars[0].commands for v in numbers[0::2]]
    assert min(xs) < 50 < max(xs)


# PNG


def pixels(data: bytes) -> bytes:
    return Image.open(io.BytesIO(data)).convert("RGBA").tobytes()


def test_scale_changes_pixels_only(figure: formats.Drawing) -> None:
    one, three = (Image.open(io.BytesIO(to_png(figure.display, scale=s))) for s in (1, 3))
    for a, b in zip(one.size, three.size, strict=True):
        assert b == 3 * a
    assert three.info["dpi"][0] == pytest.approx(288, abs=0.1)
    assert Image.open(io.BytesIO(to_png(figure.display, dpi=72))).size == (584, 518)
    small = three.convert("L").resize(one.size)
    a, b = small.tobytes(), one.convert("L").tobytes()
    assert sum(abs(x - y) for x, y in zip(a, b, strict=True)) / len(a) < 6


def test_a_huge_png_is_refused_before_drawing(figure: formats.Drawing) -> None:
    with pytest.raises(DiagramError) as caught:
        to_png(figure.display, scale=80)
    (fault,) = caught.value.faults
    assert "62,320 x 55,280" in fault.message  # 80 times the 779 x 691 of scale 1
    most = float(re.search(r"scale of at most ([\d.]+)", fault.expected)[1])  # type: ignore[index]
    assert 10 < most < 22


@pytest.mark.parametrize(
    "label",
    [
        '<image href="file:///etc/hostname"/>',
        "<script>alert(1)</script>",
        "</text><style>@import url(x.css);</style>",
        '<!DOCTYPE svg [<!ENTITY a "b">]>&a;',
        "]]><use href='other.svg#a'/>",
    ],
)
def test_a_label_is_never_markup(label: str) -> None:
    """No element but ours, no reference: making a picture reads no file, opens no connection."""
    b = Builder()
    b.box("a", label, 200, 30, 380, "norm")
    root = ET.fromstring(drawing(b.scene(400, 60, title=label, desc=label)).svg)
    assert {node.tag.removeprefix(NS) for node in root.iter()} <= ELEMENTS
    names = {name for node in root.iter() for name in node.attrib}
    assert not {name for name in names if "href" in name or name.startswith("on")}
    assert not [v for node in root.iter() for v in node.attrib.values() if "url(" in v]


def test_other_renderers_paint_the_same_ink(figure: formats.Drawing) -> None:
    """CairoSVG, where it works: the same picture as resvg's."""
    cairosvg = pytest.importorskip("cairosvg")
    ours = Image.open(io.BytesIO(to_png(figure.display, dpi=96))).convert("L")
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
    made = drawing(tower(), PAPER, width=width)
    file = tmp_path / "a.pdf"
    file.write_bytes(to_pdf(made.display))
    size = re.search(r"Page size:\s+([\d.]+) x ([\d.]+) pts", run("pdfinfo", str(file)))
    assert size
    assert float(size[1]) == pytest.approx(width or 584, abs=0.1)
    assert float(size[2]) == pytest.approx((width or 584) * 518 / 584, abs=0.1)


@needs_poppler
def test_pdf_fonts_are_embedded_and_none_is_type_3(tmp_path: Path, figure: formats.Drawing) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(to_pdf(figure.display))
    rows = run("pdffonts", str(file)).splitlines()[2:]
    assert rows
    for row in rows:
        assert "Type 3" not in row
        assert re.search(r"\byes yes yes\b", row)


@needs_poppler
def test_pdf_words_are_found(tmp_path: Path, figure: formats.Drawing) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(to_pdf(figure.display))
    text = run("pdftotext", str(file), "-")
    for words in ("RMSNorm", "Grouped-query attention (GQA)", "KV cache 2 n_g d_K per token", "√"):
        assert words in text
    info = run("pdfinfo", str(file))
    assert "Llama 3" in info
    assert "CreationDate" not in info


@needs_poppler
def test_pdf_paints_what_the_svg_paints(tmp_path: Path) -> None:
    for scene in (tower(), signs()):
        made = drawing(scene, PAPER)
        file = tmp_path / "a.pdf"
        file.write_bytes(to_pdf(made.display))
        run("pdftoppm", "-r", "144", "-png", "-singlefile", str(file), str(tmp_path / "a"))
        page = Image.open(tmp_path / "a.png").convert("L")
        ours = Image.open(io.BytesIO(to_png(made.display, dpi=144))).convert("L").resize(page.size)
        # The two place their anti-aliasing differently: compare at half the size.
        half = (page.width // 2, page.height // 2)
        a, b = page.resize(half).tobytes(), ours.resize(half).tobytes()
        far = sum(abs(x - y) > 90 for x, y in zip(a, b, strict=True))
        assert far / len(a) < 0.003


def test_pdf_structure_is_read_by_another_library(figure: formats.Drawing) -> None:
    pypdf = pytest.importorskip("pypdf")
    reader = pypdf.PdfReader(io.BytesIO(to_pdf(figure.display)), strict=True)
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
    for data in ("M0 0Q10 0 10 10T20 20", "m0 0q10 0 10 10t10 10"):
        for (_, ours), (_, theirs) in zip(commands(data), quad, strict=True):
            assert ours == pytest.approx(theirs)
    arc = path_commands("M10 0A10 10 0 0 1 0 10")
    assert arc[-1][1][-2:] == pytest.approx((0, 10))
    # The middle of a quarter arc lies on the circle.
    (x0, y0), c = (10, 0), arc[-1][1]
    mid = tuple((p0 + 3 * c[i] + 3 * c[i + 2] + c[i + 4]) / 8 for i, p0 in enumerate((x0, y0)))
    assert math.hypot(*mid) == pytest.approx(10, abs=0.01)


# Formats and tools


def test_formats_are_one_table() -> None:
    names = ["svg", "png", "pdf", "eps", "ps", "dot", "tikz", "mermaid", "drawio", "pptx"]
    assert list(formats.FORMATS) == names
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


def test_both_graphviz_get_the_same_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "words"
    program.write_text('#!/bin/sh\necho "$@ </svg>"\n')
    program.chmod(0o755)
    monkeypatch.setattr(graphviz_tool, "find", lambda choice: str(program))
    assert graphviz_tool.draw_svg("", "pure") == graphviz_tool.draw_svg("", "dot")


def test_a_graphviz_that_fails_says_why() -> None:
    with pytest.raises(DiagramError) as caught:
        graphviz_tool.draw_svg("digraph { a -> ")
    assert "syntax error" in caught.value.faults[0].found


def test_a_missing_png_library_is_one_clear_message(
    figure: formats.Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformer_diagrams.render import png

    monkeypatch.setattr(png, "package_folder", lambda name: None)
    with pytest.raises(ToolMissing) as caught:
        to_png(figure.display)
    assert "pip install resvg-py" in caught.value.faults[0].hint


def test_an_empty_scene_is_drawn() -> None:
    scene = Scene("empty", "", "", 40, 30, (), (), ())
    made = formats.write(formats.Drawing(scene, PAPER), ["svg", "png", "pdf"])
    assert made["svg"]


def test_a_label_without_an_owner_is_drawn() -> None:
    label = Label("t", "free", 10, 20, 9, "note", Rect(10, 12, 20, 10))
    scene = Scene("free", "Free", "", 60, 30, (), (Line("l", ((5, 25), (50, 25))),), (label,))
    assert ">free</text>" in drawing(scene, PAPER).svg
