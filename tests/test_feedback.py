"""Feedback: what a block gave one step ago, in the order of work, in shapes, counts and figures."""

from __future__ import annotations

import pytest
from graph_specs import Texts, check_of, faults_of, graph_of, only_fault, parts, spec_of

from transformer_diagrams import theme
from transformer_diagrams.count import inspect
from transformer_diagrams.errors import Fault
from transformer_diagrams.graph.ir import Group
from transformer_diagrams.layout.engine import LayoutOptions, layout
from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.lint import lint
from transformer_diagrams.spec import load_text

HEAD = """
title: T
dims: {d_t: positions, d_x: input width, d_h: state width, L: layers}
"""
RNN = HEAD + """
inputs: {x: [d_x]}
outputs: {y: {from: h, shape: [d_h]}}
blocks:
  - {op: linear, id: new, out: d_h, from: x}
  - {op: linear, id: old, out: d_h, from: {feedback: h, label: before}}
  - {op: add, from: [new, old]}
  - {op: activation, kind: tanh, id: h, shape: [d_h]}
"""
LOOP = HEAD + """
inputs: {x: [d_h]}
blocks:
  - repeat: L
    title: Layer
    blocks:
      - {op: add, id: sum, from: [prev, {feedback: cell}]}
      - {op: box, id: cell, label: Cell, from: [sum, {feedback: cell}], shape: [d_h]}
      - {op: linear, out: d_h}
"""
INTO_OPENED = (HEAD + """
inputs: {x: [d_t, d_m]}
blocks:
  - {use: ffn, id: first, open: true, from: {feedback: last}}
  - {op: add, from: [x, first]}
  - residual: [{op: box, id: inner, label: Inner, from: [prev, {feedback: last}]}]
    id: last
    shape: [d_t, d_m]
""").replace("d_x: input width, d_h: state width, L: layers}", "d_m: width, d_h: hidden}")
WORDS = HEAD + """
inputs: {x: [d_h]}
blocks:
  - group:
      - {op: linear, id: a, out: d_h}
      - {op: box, id: b, label: Box, from: [prev, {feedback: e, label: far}]}
    title: Inner
  - residual:
      - {op: box, id: c, label: Longer, from: [prev, {feedback: c, label: one}], shape: [d_h]}
      - {op: box, id: e, label: Last, from: [prev, {feedback: e, label: two}], shape: [d_h]}
      - {op: add, from: [prev, c]}
"""
CASES = {"words": WORDS, "rnn": RNN, "loop": LOOP, "opened": INTO_OPENED}


def scene_of(text: str, direction: str = "up", **options: object) -> Scene:
    graph = graph_of(text, **options)
    return layout(graph, theme.get(), LayoutOptions(direction, legend=True))


def told(text: str) -> Fault:
    report = load_text(text, "t.yaml")[1]
    if report.errors:
        (fault,) = report.errors
        return fault
    return only_fault(text)


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_feedback_is_no_cycle(text: str) -> None:
    assert faults_of(text) == []


def test_what_only_moves_its_own_output_has_a_type() -> None:
    text = HEAD + (
        "inputs: {x: [d_h]}\nblocks:\n"
        "  - {op: reshape, id: a, to: [d_h], from: {feedback: a}, shape: [d_h]}\n"
        "  - {op: add, from: [x, a]}\n"
    )
    assert faults_of(text) == []
    assert parts(graph_of(text).root)["a"].inputs[0].dtype == "float"


def test_what_is_fed_back_is_counted_as_any_input() -> None:
    found = inspect(spec_of(RNN), Texts())
    assert str(found.params.total.formula) == "d_x d_h + d_h^2"
    assert str(found.macs.formula) == "d_x d_h + d_h^2"


def test_the_shape_of_what_is_fed_back_is_stated_and_checked() -> None:
    fault = told(RNN.replace(", shape: [d_h]}\n", "}\n").replace("h, shape: [d_h]}", "h}"))
    assert (fault.code, fault.found) == ("feedback", "h")
    assert fault.span.line == RNN[: RNN.index("id: old")].count("\n") + 1
    assert "shape: [...]" in fault.hint
    wrong = told(RNN.replace("id: h, shape: [d_h]", "id: h, shape: [d_x]").replace(
        "{from: h, shape: [d_h]}", "{from: h}"
    ))  # fmt: skip
    assert wrong.code == "shape-mismatch"


def test_an_earlier_block_needs_no_shape() -> None:
    text = HEAD + (
        "inputs: {x: [d_h]}\nblocks:\n  - {op: linear, id: a, out: d_h}\n  - gelu\n"
        "  - {op: sub, from: [prev, {feedback: a}]}\n"
    )
    assert faults_of(text) == []


def test_a_cycle_that_is_not_marked_is_an_error_that_names_the_way() -> None:
    fault = told(RNN.replace("feedback:", "from:"))
    assert fault.code == "cycle"
    assert "from: {feedback: h}" in fault.hint
    chained = HEAD + (
        "inputs: {x: [d_h]}\nblocks:\n  - {op: add, id: a, from: [x, b]}\n  - {op: gelu, id: b}\n"
    )
    assert "from: {feedback: b}" in told(chained).hint


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("feedback: h,", "feedback: x,", "feedback", "comes in"),
        ("feedback: h,", "feedback: g,", "unknown-reference", "'g'"),
        ("{feedback: h,", "{feedback: h, from: x,", "two-ends", "not of both"),
        ("{feedback: h, label: before}", "{label: before}", "unknown-reference", ""),
    ],
)
def test_faults_of_feedback_are_told_in_place(old: str, new: str, code: str, words: str) -> None:
    fault = told(RNN.replace(old, new))
    assert fault.code == code
    assert words in fault.message


def test_a_structure_lets_a_block_inside_read_it() -> None:
    text = HEAD + (
        "inputs: {x: [d_h]}\nblocks:\n"
        "  - {repeat: L, from: {feedback: a}, blocks: [gelu]}\n"
        "  - {op: add, id: a, from: [x, repeat], shape: [d_h]}\n"
    )
    fault = told(text)
    assert fault.code == "feedback"
    assert "let a block inside read it" in fault.hint


def test_a_line_back_belongs_to_the_innermost_box_around_its_ends() -> None:
    group = parts(graph_of(LOOP).root)["repeat"]
    assert isinstance(group, Group)
    assert [(r.tails[0], r.heads[0]) for r in group.returns] == [
        ("cell", "sum"), ("cell", "cell")
    ]
    closed = graph_of(LOOP, close=["repeat"])
    assert not any(isinstance(part, Group) and part.returns for part in closed.parts())


@pytest.mark.parametrize("direction", ["up", "down", "right"])
@pytest.mark.parametrize("name", CASES)
def test_lines_back_end_at_the_sides_of_their_boxes(name: str, direction: str) -> None:
    scene = scene_of(CASES[name], direction)
    assert lint(scene, theme.get()).findings == ()
    boxes = {box.id: box for box in scene.boxes}
    lines = [line for line in scene.lines if line.kind == "feedback" and line.tail]
    assert len(lines) == {"words": 3, "rnn": 1, "loop": 2, "opened": 2}[name]
    across = direction == "right"
    for line in lines:
        rects = boxes[line.tail].rect, boxes[line.head].rect
        ends = [(line.points[0], rects[0])] if not line.branch else []  # else on another's lane
        for (x, y), rect in (*ends, (line.points[-1], rects[1])):
            sides = (rect.top, rect.bottom) if across else (rect.left, rect.right)
            assert any(abs((y if across else x) - side) < 0.01 for side in sides)
        lane = line.points[0 if line.branch else 1][1 if across else 0]
        for rect in rects:  # outside of its column
            low, high = (rect.top, rect.bottom) if across else (rect.left, rect.right)
            assert not low < lane < high


def test_lines_back_have_a_row_of_their_own_in_the_legend_and_their_words() -> None:
    scene = scene_of(RNN)
    words = {label.markup for label in scene.labels}
    assert {"one step later", "before"} <= words
    assert any(line.id == "legend/feedback" for line in scene.lines)
    for name in theme.NAMES:
        lines = theme.get(name).lines
        looks = {(lines[kind].stroke, lines[kind].dash) for kind in ("data", "feedback", "leader")}
        assert len(looks) == 3


def test_a_skip_of_one_step_ago_is_no_skip_of_this_one() -> None:
    text = HEAD + (
        "inputs: {x: [d_h]}\nblocks:\n  - {op: layernorm, id: n}\n  - {op: linear, out: d_h}\n"
        "  - {op: add, id: s, from: [prev, {feedback: n}]}\n"
    )
    codes = {warning.code for warning in check_of(text).report.warnings}
    assert "skip-after-norm" not in codes
