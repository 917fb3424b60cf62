"""Forty difficult labels, and two probes that viewers are known to fail: each through every
output."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image
from scenes import Builder, drawing

from transformer_diagrams import theme
from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.render import dot, formats, graphviz_tool
from transformer_diagrams.render.pdf import to_pdf
from transformer_diagrams.render.png import to_png
from transformer_diagrams.text import measure, plain, wrap

NS = "{http://www.w3.org/2000/svg}"
PAPER = theme.get()
WIDEST = 150.0

# Label -> the words that must be found in it.
LABELS: dict[str, str] = {
    "x < y && a > b": "x < y && a > b",
    "<lambda> <map>": "<lambda> <map>",
    "<b>not bold</b>": "<b>not bold</b>",
    "&lt;already&gt;": "&lt;already&gt;",
    "it's": "it's",
    "back\\slash\\": "back\\slash\\",
    "\\N \\G \\E \\l": "\\N \\G \\E \\l",
    "{a|b}<p>c": "{a|b}<p>c",
    "<!-- x -->": "<!-- x -->",
    '" shape=box color=red] # "': '" shape=box color=red] # "',
    "</text><script>alert(1)</script>": "</text><script>alert(1)</script>",
    "W_{Q,h}": "W_Q,h",
    "x_i^2": "x_i²",
    "snake_case_name": "snake_case_name",
    "2^10 items_per_row": "2^10 items_per_row",
    "a_": "a_",
    "_{unclosed": "_{unclosed",
    "λ₁…λₙ": "λ₁…λₙ",
    "⊕ ⊗ ∑ √ ≤ ∈ ℝ ℤ": "⊕ ⊗ ∑ √ ≤ ∈ ℝ ℤ",
    "𝕏ᵀ": "𝕏ᵀ",
    "Привет мир": "Привет мир",
    "انتباه": "انتباه",
    "🧠 attention": "🧠 attention",
    "é vs e\u0301": "é vs é",
    "line one\nline two\nline three": "line one line two line three",
    "": "",
    "   ": "",
    "Supercalifragilistic" * 6: "Supercalifragilistic" * 6,
    "i" * 24: "i" * 24,
    "FFN×4 (d_ff = 4·d_model)": "FFN×4 (d_ff = 4·d_model)",
    "x\x07y": "xy",
    "\ufffe": "",
}


def scene_of(label: str) -> Scene:
    """One box as a layout makes it: the label wrapped, the box as large as it asks."""
    b = Builder()
    text = wrap(label, 9, WIDEST)
    layout = measure(text, 9)
    width = max(40.0, layout.width + 2 * PAPER.sizes.pad_x)
    height = max(PAPER.sizes.box_height, layout.height + 2 * PAPER.sizes.pad_y)
    b.box("node", text, 100, 60, width, "norm", height=height, title=plain(label))
    b.box("next", "next", 100, 60 + height / 2 + 40, 50, "ffn")
    b.line("next", "node", (100, 50 + height / 2 + 40), (100, 60 + height / 2))
    return b.scene(200, 140 + height / 2, title=label or "empty", desc=label)


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_label_is_text_in_its_box_and_nothing_else(label: str) -> None:
    scene = scene_of(label)
    made = drawing(scene, PAPER, background="white")
    root = ET.fromstring(made.svg)  # well-formed
    tags = {e.tag.removeprefix(NS) for e in root.iter()}
    assert tags <= {"svg", "title", "desc", "g", "rect", "circle", "path", "text"}
    title = root.find(NS + "title")
    assert title is not None
    shown = re.sub("[\x07\ufffe]", "", label or "empty")
    assert "".join(title.itertext()).split() == shown.split()
    node = next(g for g in root.iter(NS + "g") if g.get("data-path") == "node")
    words = ["".join(t.itertext()) for t in node.iter(NS + "text")]
    expected = LABELS[label]
    # A word that was cut to fit is in parts.
    assert "".join("".join(words).split()) == "".join(expected.split())
    # No other structure than that of two boxes and a line.
    drawn = ET.fromstring(graphviz_tool.draw_svg(dot.to_dot(made.display)))
    kinds = [g.get("class") for g in drawn.iter(NS + "g")]
    assert (kinds.count("node"), kinds.count("edge")) == (2, 1)


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_ink_lies_inside_the_box(label: str) -> None:
    scene = scene_of(label)
    box, text = scene.boxes[0].rect, scene.labels[0] if label else None
    without = Scene(scene.id, scene.title, "", scene.width, scene.height, scene.boxes,
                    scene.lines, scene.labels[-1:])  # fmt: skip
    pictures = [
        Image.open(io.BytesIO(to_png(drawing(s, background="white").display, dpi=288)))
        for s in (scene, without)
    ]
    first, second = (p.convert("L") for p in pictures)
    pairs = zip(first.tobytes(), second.tobytes(), strict=True)
    differs = bytes(255 if abs(a - b) > 40 else 0 for a, b in pairs)
    ink = Image.frombytes("L", first.size, differs).getbbox()
    if not LABELS[label]:
        assert ink is None
        return
    assert ink is not None
    left, top, right, bottom = (v / 4 for v in ink)
    assert left >= box.left + 2
    assert right <= box.right - 2
    assert top >= box.top + 1
    assert bottom <= box.bottom - 1
    assert text is not None
    for painted, measured in zip(
        (left, top, right, bottom),
        (text.rect.left, text.rect.top, text.rect.right, text.rect.bottom),
        strict=True,
    ):
        assert abs(painted - measured) <= 0.5


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no poppler here")
def test_words_of_every_label_are_found_in_the_pdf(tmp_path: Path) -> None:
    for index, (label, words) in enumerate(LABELS.items()):
        file = tmp_path / f"{index}.pdf"
        file.write_bytes(to_pdf(drawing(scene_of(label)).display))
        said = subprocess.run(
            ["pdftotext", "-layout", str(file), "-"], capture_output=True, check=True
        ).stdout.decode()
        # Marks of writing direction are the reader's own.
        said = re.sub("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", said)
        assert "".join(words.split()) in "".join(said.split()), label


def test_a_long_word_wraps_and_a_narrow_one_is_not_wide() -> None:
    assert scene_of("Supercalifragilistic" * 6).boxes[0].rect.width <= WIDEST + 20.01
    narrow, average = measure("i" * 24, 9).width, measure("n" * 24, 9).width
    assert narrow < 0.6 * average


def test_box_of_non_latin_text_is_not_twice_too_wide() -> None:
    for label in ("Привет мир", "انتباه", "⊕ ⊗ ∑ √ ≤ ∈ ℝ ℤ"):
        layout = measure(label, 9)
        ink = layout.ink[2] - layout.ink[0]
        assert 1.0 <= layout.width / ink <= 1.2


def probe(label: str, size: float) -> dict[str, Image.Image]:
    """A label centred on x = 100, painted by every program at hand, one point a pixel times 4."""
    b = Builder()
    b.label(label, 100, 30, size=size, kind="note", anchor="middle")
    asked = drawing(b.scene(200, 60), background="white", dpi=288)
    made = formats.write(asked, ["svg", "png"])
    out = {"resvg": Image.open(io.BytesIO(made["png"])).convert("L")}
    try:
        import cairosvg
    except (ImportError, OSError):
        return out
    data = cairosvg.svg2png(bytestring=made["svg"], output_width=800, output_height=240)
    out["cairosvg"] = Image.open(io.BytesIO(data)).convert("L")
    return out


def ink(picture: Image.Image) -> tuple[float, float, float, float]:
    box = picture.point(lambda v: 255 if v < 160 else 0).getbbox()
    assert box
    return (box[0] / 4, box[1] / 4, box[2] / 4, box[3] / 4)


def test_a_centred_label_with_a_subscript_is_centred() -> None:
    for name, picture in probe("$W_Q\\,x$", 14).items():
        left, _, right, _ = ink(picture)
        assert abs((left + right) / 2 - 100) <= 1, name


def test_a_subscript_is_lower_and_smaller_everywhere() -> None:
    plain_pictures, pictures = probe("$xx$", 20), probe("$x_x$", 20)
    for name, picture in pictures.items():
        flat, sub = ink(plain_pictures[name]), ink(picture)
        assert sub[3] - sub[1] > flat[3] - flat[1] + 1, name  # reaches lower
        assert sub[2] - sub[0] < flat[2] - flat[0] - 1, name  # and is narrower
