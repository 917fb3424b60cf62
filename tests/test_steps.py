"""Figures in steps: what comes when, and the files that show it."""

from __future__ import annotations

import io
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pypdf
import pytest
from pptx import Presentation
from selection import IDS, mostly_slow

from transformer_diagrams import pipeline
from transformer_diagrams.api import Model, compare_figure, load
from transformer_diagrams.cli.app import run
from transformer_diagrams.options import AskError, settle
from transformer_diagrams.render.display import Display
from transformer_diagrams.render.steps import numbered, pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FEW = ("gqa", "transformer", "mixtral", "eagle3")
# Order hangs on how blocks are joined, which a third of the figures hold together.
SOME = mostly_slow(
    [name for at, name in enumerate(IDS) if name in FEW or at % 3 == 0], lambda name: name in FEW
)
STEPPED = """
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m]}
blocks:
  - {op: linear, out: d_m, id: first, step: 2}
  - gelu
  - id: inner
    step: 1
    group: [{op: layernorm, id: norm}, {op: softmax, id: late, step: 7}]
"""


@cache
def display(name: str) -> Display:
    return pipeline.drawing(load(name).scene(), settle({})).display


def shown(name: str, by: str) -> tuple[int, ...]:
    return numbered(display(name), by, {})


def stepped(text: str = STEPPED) -> Model:
    return Model.from_text(text, name="mine.yaml")


@pytest.mark.parametrize("name", SOME)
def test_nothing_comes_before_what_it_needs_and_nothing_goes_again(name: str) -> None:
    items = display(name).items
    lines = [item for item in items if item.kind == "line"]
    linked = {end for line in lines for end in (line.tail, line.head)}
    boxes = [i.id for i in items if i.kind in ("box", "circle") and i.id in linked]
    for by in ("block", "frame", "layer"):
        steps = shown(name, by)
        assert set(steps) == set(range(1, max(steps) + 1))
        at = {item.id: step for item, step in zip(items, steps, strict=True) if item.id}
        for line in lines:
            tail, head = at[line.tail], at[line.head]
            assert at[line.id] == max(tail, head)
            if by != "frame" and line.role in ("data", "residual"):
                both = line.tail in boxes and line.head in boxes
                assert tail < head if both else tail <= head
        for item in items:
            if item.rect and item.parent in at:
                assert at[item.parent] <= at[item.id]
        if by == "block":
            assert len({at[box] for box in boxes}) == len(boxes)  # one a step
        if by == "frame":
            found: dict[str, set[int]] = {}
            for item in items:
                if item.parent and item.id in boxes:
                    found.setdefault(item.parent, set()).add(at[item.id])
            assert all(len(together) == 1 for together in found.values())
        whole = pages(display(name), steps)
        assert len(whole[-1].items) == len(items)
        for before, after in pairwise(whole):
            assert {*map(id, before.items)} < {*map(id, after.items)}


def test_an_encoder_is_shown_before_the_decoder_that_reads_it() -> None:
    items, steps = display("transformer").items, shown("transformer", "block")
    at = {i.path: s for i, s in zip(items, steps, strict=True) if i.rect}
    assert at["encoder_ffn"] < at["target_embed"] < at["cross_attention"]
    assert at["source_positions"] == at["source_placed"] - 1


def test_a_spec_says_its_steps() -> None:
    model = stepped()
    made = pipeline.drawing(model.scene(), settle({"steps": "spec"}), pipeline.steps_of(model.spec))
    at = {i.path: s for i, s in zip(made.display.items, made.shown, strict=True) if i.rect}
    # norm as its group says; first and gelu, which follows it, next; late has its own.
    assert (at["norm"], at["inner"], at["first"], at["gelu"], at["late"]) == (1, 1, 2, 2, 3)
    assert at["x"] == 2  # with its reader


@pytest.mark.parametrize("value", ["0", "soon", "1.5", "1000", "[1]"])
def test_a_step_is_a_number_from_1(value: str) -> None:
    (fault,) = stepped(STEPPED.replace("step: 7", f"step: {value}")).check().errors
    assert fault.span.line == 9
    assert "number" in fault.expected


@pytest.mark.parametrize(
    ("asked", "said", "hint"),
    [
        ({"format": "tikz", "steps": "block"}, "tikz does not show", "pdf, pptx"),
        ({"format": "pdf", "animate": True}, "only an SVG plays", "leave animate out"),
        ({"format": "svg", "steps": "block"}, "one step a file", "render_steps"),
        ({"format": "pdf", "steps": "spec"}, "no block of 'gqa' says a step", "step: 1"),
        ({"format": "pdf", "steps": "blok"}, "steps cannot be 'blok'", "block"),
    ],
)
def test_slips_are_told(asked: dict[str, object], said: str, hint: str) -> None:
    with pytest.raises(AskError) as caught:
        load("gqa").render(**asked)  # type: ignore[arg-type]
    (fault,) = caught.value.faults
    assert said in fault.message
    assert hint in fault.hint


def test_other_calls_tell_what_has_no_steps() -> None:
    with pytest.raises(AskError, match="pdf does not show"):
        load("gqa").render_steps("pdf")
    with pytest.raises(AskError, match="comparison"):
        compare_figure(load("gqa"), load("gqa"), "pdf", steps="block")


def test_a_pdf_has_a_page_and_a_presentation_a_slide_for_each_step() -> None:
    model, steps = load("gqa"), max(shown("gqa", "layer"))
    pdf = pypdf.PdfReader(io.BytesIO(model.render("pdf", steps="layer").data), strict=True)
    assert len(pdf.pages) == steps
    assert len({tuple(page.mediabox) for page in pdf.pages}) == 1
    words = [set(pdf.pages[at].extract_text().split()) for at in (1, steps // 2, -1)]
    assert all(a <= b for a, b in pairwise(words))
    whole = pypdf.PdfReader(io.BytesIO(model.render("pdf").data))
    assert words[-1] == set(whole.pages[0].extract_text().split())
    assert "softmax" not in words[0]
    slides = Presentation(io.BytesIO(model.render("pptx", steps="layer").data)).slides
    places = [
        {(e.get("x"), e.get("y")) for e in slide.shapes._spTree.iter() if e.tag.endswith("}off")}
        for slide in slides
    ]
    assert len(places) == steps
    lone = [{p for s in slide.shapes for p in [(s.left, s.top)] if s.shape_type != 6}
            for slide in slides]  # fmt: skip
    assert all(a <= b for a, b in pairwise(lone))


def test_numbered_files_and_their_names(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["render", "gqa", "-f", "svg,png", "--steps", "frame", "-o", str(tmp_path)]) == 0
    count = max(shown("gqa", "frame"))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(f"gqa-{k}.{s}" for k in range(1, count + 1) for s in ("svg", "png"))
    last = (tmp_path / f"gqa-{count}.svg").read_text(encoding="utf-8")
    shapes = re.findall(r"<(?:rect|circle|path)", str(load("gqa").render("svg")))
    assert len(re.findall(r"<(?:rect|circle|path)", last)) == len(shapes)
    assert run(["render", "gqa", "--steps", "layer", "-o", str(tmp_path / "mine.svg")]) == 0
    assert (tmp_path / "mine-01.svg").exists() or (tmp_path / "mine-1.svg").exists()
    capfd.readouterr()
    assert run(["render", "gqa", "--steps", "layer", "-o", "-"]) == 2
    assert "several files" in capfd.readouterr().err


def test_one_svg_plays_its_steps_without_a_script() -> None:
    svg = str(load("gqa").render("svg", animate=True))
    assert svg == str(load("gqa").render("svg", animate=True, steps="block"))
    assert "<script" not in svg
    delays = [float(d) for d in re.findall(r"animation-delay:([\d.]+)s", svg)]
    assert max(delays) == max(shown("gqa", "block")) - 1
    assert str(load("gqa").render_steps()[-1]).count("<path") == svg.count("<path")


@pytest.mark.browser
@pytest.mark.parametrize("still", [False, True])
def test_a_browser_plays_it_once_and_not_when_motion_is_unwanted(
    browser: Browser, still: bool
) -> None:
    page = browser.new_page(reduced_motion="reduce" if still else "no-preference")
    page.set_content(str(load("gqa").render("svg", animate=True, steps="layer")))
    seen = "[...document.querySelectorAll('.td-step')].filter(" \
           "e => getComputedStyle(e).opacity == '1').length"  # fmt: skip
    every = int(page.evaluate("document.querySelectorAll('.td-step').length"))

    def at(seconds: float) -> int:
        page.evaluate(
            "s => document.getAnimations().forEach(a => { a.pause(); a.currentTime = s * 1000 })",
            seconds,
        )
        return int(page.evaluate(seen))

    found = [at(s) for s in (0.0, 2.5, 5.5, 60.0)]
    page.close()
    if still:
        assert found == [every] * 4
    else:
        assert found[0] == 0
        assert 0 < found[1] < found[2] < every
        assert found[3] == every
