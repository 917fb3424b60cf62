"""Shapes through ops, used specs and repeats: what is inferred, and what is refused how."""

from __future__ import annotations

import pytest
from graph_specs import (
    SPECS,
    check_of,
    faults_of,
    graph_of,
    only_fault,
    parts,
    warnings_of,
)

from transformer_diagrams.graph.ir import Graph, Group, Node
from transformer_diagrams.ops.registry import Shape


def shape(graph: Graph, path: str, port: int = 0) -> str:
    part = parts(graph.root)[path]
    assert isinstance(part, (Node, Group))
    return str(part.outputs[port].shape)


def test_shapes_go_through_a_used_spec_closed_and_opened() -> None:
    closed = graph_of(SPECS["gpt2"])
    assert shape(closed, "attn") == "[d_t, d_m]"
    opened = graph_of(SPECS["gpt2"], open=["attn"])
    assert parts(opened.root)["attn/W_Q"].outputs[0].shape == Shape.parse(["d_t", "n_h d_K"])
    assert shape(opened, "attn/heads_q") == "[n_h, d_t, d_K]"
    assert shape(opened, "attn/kv", 1) == "[n_h, d_t, d_K]"
    assert shape(opened, "attn/scores") == "[n_h, d_t, d_t]"
    group = parts(opened.root)["attn"]
    assert isinstance(group, Group)
    assert (group.kind, group.framed, group.title) == ("use", True, "Grouped-query attention")


def test_the_specs_of_the_tests_have_no_faults() -> None:
    for name, text in SPECS.items():
        report = check_of(text).report
        assert not report.faults, (name, [f.message for f in report.faults])


HEAD = "title: T\ndims: {d_t: positions, d_m: width, n_h: heads, b: batch, n: many, k: some}\n"


def test_a_mismatch_shows_both_shapes_the_axis_and_the_sources() -> None:
    text = HEAD + (
        "inputs: {x: [b, n, 512], W: [768, k]}\nblocks:\n"
        "  - {op: matmul, id: product, from: [x, W]}\n"
    )
    fault = only_fault(text)
    said = fault.message + fault.found
    assert "512" in said
    assert "768" in said
    assert "'product' (matmul)" in fault.message
    assert "[b, n, 512]" in fault.found
    assert "[768, k]" in fault.found
    sources = {text.split(" from ")[1]: at.line for text, at in fault.notes if " from " in text}
    assert sources == {"'x'": 3, "'W'": 3}
    assert (fault.span.line, fault.path) == (5, "blocks[0]")


def test_heads_that_do_not_divide_name_the_nearest_good_widths() -> None:
    text = HEAD + "inputs: {x: [b, n, 100]}\nblocks:\n  - {op: split_heads, heads: 8}\n"
    fault = only_fault(text)
    said = fault.message + fault.hint
    assert all(number in said for number in ("100", "8", "96", "104"))


def test_a_divisibility_is_stated_or_shown_by_the_configs() -> None:
    text = HEAD + "inputs: {x: [b, n, d_m]}\nblocks:\n  - {op: split_heads, heads: 8}\n"
    assert "8 | d_m" in only_fault(text).hint
    configs = "configs: {good: {d_m: 64}, bad: {d_m: 100}}\n"
    checked = check_of(text.replace("inputs:", configs + "inputs:"))
    assert checked.assumed == ()
    (fault,) = checked.report.errors
    assert "'bad'" in fault.message
    assert "100" in fault.message


def test_a_relation_that_fails_for_a_config_shows_both_sides() -> None:
    text = """
title: T
dims: {d_m: width, n_h: heads, d_h: head width}
where: [d_m == n_h d_h]
configs: {odd: {n_h: 16, d_h: 128, d_m: 1024}}
inputs: {x: [d_m]}
blocks: [{op: box, out: [n_h d_h]}]
"""
    fault = only_fault(text)
    assert "1024 != 2048" in fault.message
    assert "config 'odd'" in fault.message
    assert {at.line for _, at in fault.notes} == {5}


def test_a_config_value_of_a_defined_size_must_be_equal() -> None:
    text = SPECS["attention"] + "configs: {c: {d_m: 512, n_h: 8, n_g: 8, d_K: 32}}\n"
    (fault,) = faults_of(text)
    assert "32 != 64" in fault.message


def test_heads_of_a_config_must_divide() -> None:
    text = SPECS["attention"] + "configs: {c: {d_m: 1000, n_h: 12, n_g: 12}}\n"
    said = " ".join(f.message + f.hint for f in faults_of(text))
    assert "1000" in said
    assert "12" in said
    assert "996" in said
    assert "1008" in said


def test_groups_of_a_config_must_divide_the_heads() -> None:
    text = SPECS["attention"] + "configs: {c: {d_m: 4096, n_h: 32, n_g: 6}}\n"
    said = " ".join(f.message for f in faults_of(text))
    assert "32 is not divisible by 6" in said


def test_an_option_that_stands_for_a_word_must_be_one_that_fits() -> None:
    text = HEAD + (
        "options: {act: {doc: x, choices: [relu, wild]}}\n"
        "inputs: {x: [n, d_m]}\nblocks: [{op: activation, kind: act}]\n"
    )
    fault = only_fault(text)
    assert (fault.code, fault.path, fault.found) == ("bad-value", "blocks[0].kind", "wild")
    assert fault.notes[-1][0] == "when act is wild"


def test_weights_of_a_block_that_is_left_out_cannot_be_shared() -> None:
    text = HEAD + (
        "options: {on: {doc: x}}\ninputs: {x: [n, d_m]}\nblocks:\n"
        "  - {op: linear, id: a, out: d_m, if: on}\n"
        "  - {op: linear, id: b, out: d_m, share: a}\n"
    )
    fault = only_fault(text)
    assert (fault.code, fault.path) == ("left-out", "blocks[1].share")


def test_a_definition_without_a_value_under_a_binding_is_told_where_it_is_used() -> None:
    part = "title: P\ndims: {n: rows, b: parts, c: {doc: rest, value: n / (b - 1)}}\n" \
           "where: [b - 1 | n, b > 1]\ninputs: {x: [n, c]}\nblocks: [gelu]\n"
    text = "title: T\ninputs: {x: [6, 6]}\nblocks: [{use: part, id: p, with: {b: %s}}]\n"
    assert not faults_of(text % 2, {"part": part})
    for bound, why in ((1, "6 is divided by 0"), (5, "6 is not divisible by 4")):
        fault = faults_of(text % bound, {"part": part})[0]
        assert (fault.code, fault.path) == ("no-whole-number", "blocks[0]")
        assert "'n / (b - 1)' of 'part' is no size" in fault.message
        assert why in fault.message


def test_a_repeat_must_give_what_it_takes() -> None:
    text = HEAD + (
        "inputs: {x: [d_t, d_m]}\nblocks:\n"
        "  - {repeat: 4, id: stack, blocks: [{op: linear, id: wide, out: 2 d_m}]}\n"
    )
    fault = only_fault(text)
    assert fault.code == "repeat-mismatch"
    assert "[d_t, d_m]" in fault.message
    assert "[d_t, 2 d_m]" in fault.message
    assert "'wide'" in fault.notes[0][0]


def test_a_residual_must_give_what_goes_around() -> None:
    text = HEAD + (
        "inputs: {x: [d_t, d_m]}\nblocks:\n"
        "  - {id: res, residual: [{op: linear, out: 2 d_m}]}\n"
    )
    fault = only_fault(text)
    assert "residual 'res'" in fault.message
    assert "[d_t, d_m]" in fault.found
    assert "[d_t, 2 d_m]" in fault.found


def test_a_stated_shape_is_checked() -> None:
    text = HEAD + (
        "inputs: {x: [d_t, d_m]}\noutputs: {y: {shape: [d_t, n_h]}}\nblocks:\n"
        "  - {op: linear, id: l, out: k, shape: [d_t, k]}\n"
        "  - {op: linear, id: m, out: n, shape: [d_t, n, 1]}\n"
    )
    faults = faults_of(text)
    assert [f.path for f in faults] == ["blocks[1].shape", "outputs.y.shape"]
    assert "n_h" in faults[1].message
    assert "cannot tell" in faults[1].message
    assert "where: [" in faults[1].hint
    assert "3 axes" in faults[0].message
    assert "2 axes" in faults[0].message


def test_the_dots_stand_for_one_thing() -> None:
    both = """
title: Both
dims: {n: many, d: width}
inputs: {x: [..., n, d], y: [..., n, d]}
blocks: [{op: add, from: [x, y]}]
"""
    text = """
title: T
dims: {n: many, d: width}
inputs: {x: [2, 3, n, d], y: [4, n, d]}
blocks: [{use: both, from: [x, y], id: sum}]
"""
    fault = only_fault(text, {"both": both})
    assert "stands for two different shapes" in fault.message
    assert "(2, 3)" in fault.message
    assert "(4,)" in fault.message
    fine = text.replace("[4, n, d]", "[2, 3, n, d]")
    graph = graph_of(fine, more={"both": both})
    assert shape(graph, "sum") == "[2, 3, n, d]"


def test_silent_stretching_is_a_warning_with_the_result() -> None:
    text = HEAD + "inputs: {p: [n, 1], t: [n]}\nblocks: [{op: sub, from: [p, t], id: e}]\n"
    (warning,) = (w for w in warnings_of(text) if w.code == "stretched")
    assert "[n, n]" in warning.message


USER = """
title: User
dims: {{d_t: positions, d_m: width, n_h: heads, L: turns{more}}}
inputs: {{x: [{x}]}}
blocks:
  - {{use: attention, id: attn{bind}}}
"""


def user(x: str = "d_t, d_m", bind: str = "", more: str = "") -> str:
    return USER.format(x=x, bind=bind, more=more)


def test_sizes_are_bound_by_with_then_by_name_then_by_shape_then_by_default() -> None:
    opened = graph_of(user(), open=["attn"])
    assert shape(opened, "attn/kv") == "[n_h, d_t, d_K]"
    opened = graph_of(user(bind=", with: {n_g: 1}"), open=["attn"])
    assert shape(opened, "attn/kv") == "[1, d_t, d_K]"
    opened = graph_of(user(more=", d_s: cached"), open=["attn"])
    assert shape(opened, "attn/scores") == "[n_h, d_t, d_s]"
    wide = "title: W\ndims: {a: positions, w: width, n_h: heads}\ninputs: {x: [a, w]}\n" \
           "blocks: [{use: attention, id: attn}]\n"
    opened = graph_of(wide, open=["attn"])
    assert shape(opened, "attn/heads_q") == "[n_h, d_t, d_K]"  # a, by the name it has inside
    assert shape(opened, "attn") == "[a, w]"


def test_a_size_that_nothing_binds_is_told() -> None:
    text = "title: W\ndims: {a: positions, w: width}\ninputs: {x: [a, w]}\n" \
           "blocks: [{use: attention, id: attn}]\n"
    fault = only_fault(text)
    assert fault.code == "unbound-size"
    assert "'n_h'" in fault.message
    assert "with: {n_h: ...}" in fault.hint


def test_an_input_that_does_not_fit_a_used_spec_is_told_at_its_user() -> None:
    fault = only_fault(user(x="n_h, d_m"))
    assert fault.span.file == "case.yaml"
    assert fault.span.line == 6
    assert "[d_t, d_m]" in fault.expected
    assert "[n_h, d_m]" in fault.found
    assert any(at.file == "attention.yaml" for _, at in fault.notes)


def test_a_fault_inside_a_used_spec_names_its_user() -> None:
    broken = {"attention": SPECS["attention"].replace("out: d_m, bias", "out: n_h, bias")}
    fault = only_fault(user(), broken)
    assert fault.span.file == "attention.yaml"
    assert any("used as 'attn' here" in note for note, _ in fault.notes)


def test_a_condition_of_a_used_spec_is_checked_for_each_config() -> None:
    text = user(bind=", with: {n_g: 6}") + "configs: {c: {d_m: 4096, n_h: 32, d_t: 5, L: 2}}\n"
    said = " ".join(f.message for f in faults_of(text))
    assert "32 is not divisible by 6" in said
    text = user(bind=", with: {n_g: 4}") + "configs: {c: {d_m: 4096, n_h: 32, d_t: 5, L: 2}}\n"
    assert not faults_of(text)


@pytest.mark.parametrize(
    ("bind", "code"),
    [
        (", with: {d_K: d_m}", "definition-broken"),
        (", with: {d_K: d_m / n_h}", ""),
        (", with: {bias: maybe}", "bad-value"),
    ],
)
def test_with_must_agree_with_the_used_spec(bind: str, code: str) -> None:
    text = user(bind=bind) + "where: [n_h | d_m]\n"
    assert [f.code for f in faults_of(text)] == ([code] if code else [])


def test_one_fault_is_told_once_and_the_next_one_too() -> None:
    text = HEAD + (
        "inputs: {x: [d_t, d_m], y: [k]}\nblocks:\n"
        "  - {op: add, id: first, from: [x, y]}\n"
        "  - {op: gelu, id: after}\n"
        "  - {op: add, id: second, from: [y, x]}\n"
    )
    assert [f.path for f in faults_of(text)] == ["blocks[0]", "blocks[2]"]


def test_a_body_with_more_axes_than_its_skip_is_refused() -> None:
    text = HEAD + (
        "inputs: {x: [n, d_m]}\nblocks:\n  - residual: [{op: head_linear, heads: 8, out: d_m}]\n"
    )
    fault = only_fault(text)
    assert fault.code == "shape-mismatch"
    assert (fault.expected, fault.found) == ("[n, d_m]", "[8, n, d_m]")


def test_heads_that_a_part_takes_for_a_batch_are_named_where_they_do_not_fit() -> None:
    part = "title: P\ndims: {n: rows, d_m: width}\ninputs: {x: [n, d_m]}\nblocks: [gelu]\n"
    text = HEAD + (
        "inputs: {x: [n, d_m]}\nwhere: [8 | d_m]\nblocks:\n"
        "  - {op: split_heads, heads: 8}\n  - {use: part, id: p}\n"
    )
    (fault,) = check_of(text, {"part": part}).report.errors
    assert fault.found == "[8, n, d_m / 8]"
    assert any("[8] is taken for a batch" in note for note, _ in fault.notes)
    assert "merge_heads" in fault.hint
