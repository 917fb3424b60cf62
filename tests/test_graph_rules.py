"""The lint for models: skips after a norm, and what nothing uses."""

from __future__ import annotations

from graph_specs import warnings_of

HAND = """
title: Pre-norm block, wired by hand
dims: {{d_t: positions, d_m: width}}
inputs: {{x: [d_t, d_m]}}
blocks:
  - {{op: layernorm, id: ln1}}
  - {{op: box, id: attn, label: Attention}}
  - {{op: add, id: add1, from: [attn, x]}}
  - {{op: layernorm, id: ln2}}
  - {{op: box, id: ffn, label: FFN}}
  - {{op: add, id: add2, from: [ffn, {skip}]}}
"""


def skips(text: str) -> list[str]:
    return [w.message for w in warnings_of(text) if w.code == "skip-after-norm"]


def test_skips_that_start_before_the_norm_are_quiet() -> None:
    assert skips(HAND.format(skip="add1")) == []


def test_a_skip_after_the_norm_is_told_beside_its_sibling() -> None:
    (message,) = skips(HAND.format(skip="ln2"))
    assert "into 'add2' starts after the norm 'ln2'" in message
    assert "unlike the one into 'add1'" in message


HEAD = "title: T\ndims: {d_t: positions, d_m: width}\ninputs: {x: [d_t, d_m]}\nblocks:\n"


def test_a_norm_in_front_of_a_residual_is_told_as_well() -> None:
    text = HEAD + (
        "  - {id: r1, residual: [layernorm, {op: box, id: attn}]}\n"
        "  - {op: layernorm, id: ln2}\n"
        "  - {id: r2, residual: [{op: box, id: ffn}]}\n"
    )
    (message,) = skips(text)
    assert "'r2'" in message
    assert "'ln2'" in message


def test_norms_on_the_stream_throughout_are_a_choice() -> None:
    text = HEAD + (
        "  - {residual: [{op: box, id: attn}]}\n  - layernorm\n"
        "  - {residual: [{op: box, id: ffn}]}\n  - layernorm\n"
    )
    assert skips(text) == []


def test_a_norm_of_the_embeddings_before_pre_norm_blocks_is_fine() -> None:
    text = HEAD + (
        "  - layernorm\n"
        "  - {residual: [layernorm, {op: box, id: attn}]}\n"
        "  - {residual: [layernorm, {op: box, id: ffn}]}\n"
    )
    assert skips(text) == []


def test_norms_on_both_sides_of_a_branch_are_fine() -> None:
    text = HEAD + (
        "  - {residual: [rmsnorm, {op: box, id: attn}, rmsnorm]}\n"
        "  - {residual: [rmsnorm, {op: box, id: ffn}, rmsnorm]}\n"
    )
    assert skips(text) == []


def test_two_branches_off_one_norm_are_fine() -> None:
    text = HEAD + (
        "  - residual: [layernorm, {parallel: [[{op: box, id: attn}], [{op: box, id: ffn}]]}]\n"
        "  - residual: [layernorm, {op: box, id: more}]\n"
    )
    assert skips(text) == []


def test_a_size_that_figures_are_spelt_with_is_used() -> None:
    more = "d_m: width, h: heads, k: {doc: of one, value: d_m / h}, j: no"
    head = HEAD.replace("d_m: width", more).replace("inputs:", "where: [h | d_m]\ninputs:")
    text = head + "  - {op: split_heads, heads: h}\n"
    assert [w.found for w in warnings_of(text) if w.code == "unused-size"] == ["j"]


def test_only_the_end_of_a_dead_branch_is_told() -> None:
    text = HEAD + "  - {op: box, id: a}\n  - {op: box, id: b}\n  - {op: box, id: c, from: x}\n"
    told = [w.message for w in warnings_of(text) if w.code == "unused-block"]
    assert told == ["nothing uses the output of 'b'"]


def test_a_loss_is_an_end_of_its_own() -> None:
    text = HEAD + (
        "  - {op: box, id: a}\n  - {op: box, id: aux, from: a, when: train}\n"
        "  - {op: gelu, from: a}\n"
    )
    assert [w for w in warnings_of(text) if w.code == "unused-block"] == []
