"""TikZ: LaTeX itself sets the figure, and what it draws is what the PDF shows."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image, ImageChops
from scenes import Builder, drawing, signs, tower

from transformer_diagrams.layout.scene import Rect, Scene
from transformer_diagrams.render import formats
from transformer_diagrams.render.tikz import lost, tex, to_tikz
from transformer_diagrams.text.commands import KNOWN

needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("pdftoppm") is None, reason="no LaTeX here"
)
needs_lualatex = pytest.mark.skipif(shutil.which("lualatex") is None, reason="no LuaLaTeX here")


def latex(text: str, folder: Path, program: str = "pdflatex") -> str:
    """The log of a run that must not fail."""
    (folder / "figure.tex").write_text(text, encoding="utf-8")
    run = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", "figure.tex"],
        cwd=folder, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    log = (folder / "figure.log").read_text(encoding="utf-8", errors="replace")
    assert run.returncode == 0, log[-2000:]
    return log


def pixels(pdf: Path) -> Image.Image:
    subprocess.run(["pdftoppm", "-r", "144", "-png", "-singlefile", pdf, pdf.with_suffix("")],
                   check=True)  # fmt: skip
    return Image.open(pdf.with_suffix(".png")).convert("RGB")


def bare(scene: Scene) -> Scene:
    """Without words, and without dashed boxes, whose dashes begin at another corner in TikZ."""
    solid = (box for box in scene.boxes
             if box.when == "always" and box.line == "solid" and box.role != "cache")  # fmt: skip
    return replace(scene, labels=(), boxes=tuple(solid))


@needs_latex
@pytest.mark.parametrize("width", [None, pytest.param(150.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("make", [tower, signs])
def test_boxes_and_lines_are_those_of_the_pdf(
    make: object, width: float | None, tmp_path: Path
) -> None:
    drawn = drawing(bare(make()), width=width)  # type: ignore[operator]
    latex(to_tikz(drawn.display), tmp_path)
    (tmp_path / "ours.pdf").write_bytes(formats.get("pdf").write(drawn))
    theirs, ours = pixels(tmp_path / "figure.pdf"), pixels(tmp_path / "ours.pdf")
    assert theirs.size == ours.size
    # Edges are smoothed a little otherwise; anything a line's width away would be black on white.
    off = ImageChops.difference(theirs, ours).convert("L").point(lambda v: 255 if v > 140 else 0)
    count = off.histogram()[255]
    assert count < 0.0001 * ours.width * ours.height, count


@needs_latex
def test_words_stand_where_the_pdf_has_them(tmp_path: Path) -> None:
    drawn = drawing(tower())
    latex(to_tikz(drawn.display), tmp_path)
    (tmp_path / "ours.pdf").write_bytes(formats.get("pdf").write(drawn))

    def middles(name: str) -> dict[str, list[tuple[float, float]]]:
        said = subprocess.run(["pdftotext", "-bbox", tmp_path / name, "-"], check=True,
                              capture_output=True, text=True).stdout  # fmt: skip
        found: dict[str, list[tuple[float, float]]] = {}
        form = r'<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">([A-Za-z]{4,})<'
        for *box, word in re.findall(form, said):
            x0, y0, x1, y1 = map(float, box)
            found.setdefault(word, []).append(((x0 + x1) / 2, (y0 + y1) / 2))
        return {word: sorted(places) for word, places in found.items()}

    theirs, ours = middles("figure.pdf"), middles("ours.pdf")
    shared = theirs.keys() & ours.keys()
    assert len(shared) >= 8
    for word in shared:
        assert len(theirs[word]) == len(ours[word]), word
        for (x, y), (u, v) in zip(theirs[word], ours[word], strict=True):
            assert max(abs(x - u) / 3, abs(y - v)) < 4, word


@needs_latex
@needs_lualatex
@pytest.mark.slow
def test_a_paper_inputs_it_and_lualatex_sets_it(tmp_path: Path) -> None:
    (tmp_path / "tower.tikz").write_text(to_tikz(drawing(tower()).display), encoding="utf-8")
    paper = (
        "\\documentclass[11pt]{article}\\usepackage{amsmath,tikz}\\usetikzlibrary{arrows.meta}"
        "\\begin{document}Before.\\begin{figure}\\input{tower.tikz}\\caption{A tower.}"
        "\\end{figure}After.\\end{document}"
    )
    for program in ("pdflatex", "lualatex"):
        assert "Output written on figure.pdf" in latex(paper, tmp_path, program)
    latex((tmp_path / "tower.tikz").read_text(encoding="utf-8"), tmp_path, "lualatex")


@needs_latex
def test_a_label_wider_than_its_box_is_told_by_latex(tmp_path: Path) -> None:
    b = Builder()
    b.box("a", "a label that needs room", 60, 30, 40, "norm")
    b.box("b", "fits", 60, 70, 40, "norm")
    log = latex(to_tikz(drawing(b.scene(120, 100)).display), tmp_path)
    assert log.count("is wider than its box") == 1
    assert "a label that needs room" in " ".join(log.split())


@needs_latex
def test_every_sign_and_command_is_set_or_told(tmp_path: Path) -> None:
    """What `lost` does not tell, amsmath knows."""
    names = sorted(name for name in KNOWN if name.isalpha())
    b = Builder()
    b.label("% & # _ { } ~ ^ → × ≤ ∈ α … 50%", 10, 20)
    b.label("$\\argmax_x x \\coloneqq \\bm{x} \\mathbb{R} \\leqslant$", 10, 40)
    display = drawing(b.scene(200, 60)).display
    latex(to_tikz(display), tmp_path)
    assert any("amssymb" in said and r"\mathbb" in said for said in lost(display))
    assert "amssymb" in to_tikz(display)
    asked = "".join(rf"\ifcsname {n}\endcsname\else\typeout{{MISS {n}}}\fi" + "\n" for n in names)
    log = latex("\\documentclass{article}\\usepackage{amsmath}\\begin{document}\n" + asked
                + "\\end{document}", tmp_path)  # fmt: skip
    missing = re.findall(r"MISS (\w+)", log)
    from transformer_diagrams.render.tikz import beyond

    assert [name for name in missing if not beyond(name)] == []


def test_styles_have_the_names_of_roles() -> None:
    text = to_tikz(drawing(tower()).display)
    for role in ("norm", "attention", "ffn", "residual"):
        assert text.count(f"td {role}/.style=") == 1
        assert f"td {role}]" in text
    b = Builder()
    b.frame("f", Rect(10, 10, 80, 40), "50% of $x_i$")
    assert r"50\% of $x_i$" in to_tikz(drawing(b.scene(100, 60)).display)
    assert tex("snake_case & $a_b$") == r"snake\_case \& $a_b$"
