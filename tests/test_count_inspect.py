"""Counts against closed formulas and published totals."""

from __future__ import annotations

import json

import pytest
from graph_specs import SPECS, Texts, spec_of

from transformer_diagrams.api import Model
from transformer_diagrams.cli.inspect import text_of
from transformer_diagrams.count import Inspection, inspect
from transformer_diagrams.dims import parse
from transformer_diagrams.errors import DiagramError


def count(text: str, **options: object) -> Inspection:
    return inspect(spec_of(text), Texts(), **options)  # type: ignore[arg-type]


def test_gpt2_small_is_the_published_count() -> None:
    """124,439,808 weights, 18,432 cached numbers a token: the released model."""
    found = count(SPECS["gpt2"], config="small")
    assert found.params.total.number == 124_439_808
    assert found.kv_cache.per_token.number == 18_432
    assert found.kv_cache.per_layer is not None
    assert found.kv_cache.per_layer.number == 2 * 768
    roles = {role: amount.number for role, amount in found.params.by_role.items()}
    assert roles == {
        "attention": 12 * (4 * 768**2 + 4 * 768),
        "embed_position": 1024 * 768,
        "embed_token": 50257 * 768,
        "ffn": 12 * (8 * 768**2 + 5 * 768),
        "norm": 25 * 2 * 768,
    }


def test_gpt2_xl_is_the_published_count() -> None:
    found = count(SPECS["gpt2"], config="xl")
    assert found.params.total.number == 1_557_611_200
    assert found.kv_cache.per_token.number == 153_600


def test_a_gpt2_block_has_the_textbook_formula() -> None:
    found = count(SPECS["block"])
    assert str(found.params.total.formula) == "12 d_m^2 + 13 d_m"
    assert str(found.kv_cache.per_token.formula) == "2 d_m"
    assert found.params.total.number is None
    assert found.missing == ("d_m", "n_h")


def test_sizes_may_be_set_by_hand() -> None:
    found = count(SPECS["block"], overrides={"d_m": 512, "n_h": "8"})
    assert found.params.total.number == 12 * 512**2 + 13 * 512


def test_a_defined_size_may_only_be_set_to_an_equal_number() -> None:
    given = {"d_m": 512, "n_h": 8, "n_g": 8}
    assert count(SPECS["attention"], overrides={**given, "d_K": 64}).params.total.number
    with pytest.raises(DiagramError) as caught:
        count(SPECS["attention"], overrides={**given, "d_K": 32})
    fault = caught.value.faults[0]
    assert "32 != 64" in fault.message
    with pytest.raises(DiagramError) as caught:
        count(SPECS["attention"], overrides={"d_K": 64})
    assert "d_m" in caught.value.faults[0].hint


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(DiagramError) as caught:
        count(SPECS["gpt2"], overrides={"d_M": 3})
    assert "d_m" in caught.value.faults[0].hint
    with pytest.raises(DiagramError) as caught:
        count(SPECS["gpt2"], config="smal")
    assert "small" in caught.value.faults[0].hint


def test_more_heads_do_not_add_weights() -> None:
    one = count(SPECS["block"], overrides={"d_m": 512, "n_h": 1}).params.total.number
    eight = count(SPECS["block"], overrides={"d_m": 512, "n_h": 8}).params.total.number
    assert one == eight


def test_work_of_self_attention_equals_a_measured_count() -> None:
    """d = 512, 8 heads, 1,024 positions: 4,294,967,296 operations of matrix products.

    The published counter leaves out scaling and softmax, so ours is a little above.
    """
    sizes = {"d_m": 512, "n_h": 8, "n_g": 8}
    products = {1024: 4_294_967_296, 2048: 12_884_901_888}
    for length, wanted in products.items():
        forward = count(SPECS["attention"], overrides=sizes, length=length).flops.number
        assert forward is not None
        others = forward - wanted
        assert others == 8 * length * length * (1 + 5)  # scale, softmax: 1 and 5 an element


def test_a_tied_head_is_free_in_weights_but_not_in_work() -> None:
    text = """
title: Tied
dims: {d_t: positions, d_m: width, V: vocabulary}
inputs: {tokens: {shape: [d_t], dtype: int}}
blocks:
  - {op: embedding, id: embed, vocab: V, width: d_m}
  - {op: tied_linear, table: embed, out: V}
"""
    found = count(text, overrides={"V": 50257, "d_m": 768}, length=1)
    assert found.params.total.number == 38_597_376
    assert found.flops.number == 2 * 38_597_376


BANK = """
title: Stack
role: ffn
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m]}
blocks:
  - repeat: 48
    id: stack
    blocks:
      - {op: box, id: blk, label: Block, params: 7087872}
"""


def test_a_repeated_block_counts_each_turn() -> None:
    assert count(BANK).params.total.number == 340_217_856


def test_weights_shared_by_all_turns_count_once() -> None:
    once = BANK.replace("params: 7087872", "params: 7087872, once: true")
    assert count(once).params.total.number == 7_087_872


def test_a_shared_block_adds_no_weights_but_works_again() -> None:
    text = """
title: Shared
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m]}
blocks:
  - {op: linear, id: one, out: d_m, bias: false}
  - {op: linear, id: two, out: d_m, bias: false, share: one}
"""
    found = count(text, length=2)
    assert str(found.params.total.formula) == "d_m^2"
    assert found.flops.formula == parse("4 d_m^2 d_t")
    wrong = text.replace("two, out: d_m", "two, out: 2 d_m")
    with pytest.raises(DiagramError) as caught:
        count(wrong)
    assert caught.value.faults[0].code == "share-mismatch"


def test_frozen_weights_count_but_are_not_trained() -> None:
    text = """
title: Adapter
dims: {d_m: width, r: rank}
inputs: {x: [..., d_m]}
blocks:
  - parallel:
      - [{op: linear, id: W, out: d_m, bias: false, mark: frozen}]
      - [{op: linear, id: A, out: r, bias: false}, {op: linear, id: B, out: d_m, bias: false}]
  - add
"""
    found = count(text, overrides={"d_m": 100, "r": 4})
    assert found.params.total.number == 10_000 + 800
    assert found.params.frozen.number == 10_000
    assert found.params.trainable.number == 800


def test_averaged_copies_count_but_are_not_trained() -> None:
    """Of a block, of a spec, and of what stands in a structure; what is marked trained is."""
    for blocks in (
        "{op: linear, out: d_m, bias: false, mark: ema}",
        "{group: [{op: linear, out: d_m, bias: false}], id: g, mark: ema}",
        "{use: plain, id: u, mark: ema}",
    ):
        text = (
            f"title: Teacher\ndims: {{d_m: width}}\ninputs: {{x: [..., d_m]}}\nblocks: [{blocks},"
            "{op: linear, id: own, out: 2 d_m, bias: false, mark: trained}]\n"
        )
        plain = (
            "title: P\ndims: {d_m: width}\ninputs: {x: [..., d_m]}\n"
            "blocks: [{op: linear, out: d_m, bias: false}]\n"
        )
        params = inspect(spec_of(text), Texts({"plain": plain})).params
        assert str(params.total.formula) == "3 d_m^2"
        assert str(params.averaged.formula) == "d_m^2"
        assert str(params.frozen.formula) == "0"
        assert str(params.trainable.formula) == "2 d_m^2"


def followed(teacher: str) -> str:
    return (
        "title: T\ndims: {d_m: width}\ninputs: {x: [9, d_m]}\nblocks:\n"
        "  - {op: linear, id: student, out: d_m, bias: false}\n"
        f"  - {{op: linear, id: teacher, from: x, {teacher}}}\n"
    )


def test_a_moving_average_has_the_weights_that_it_follows_and_takes_no_data() -> None:
    text = followed("out: d_m, bias: false, average_of: student")
    params = count(text).params
    assert str(params.averaged.formula) == str(params.trainable.formula) == "d_m^2"
    model = Model.from_text(text, name="t.yaml")
    (line,) = [line for line in model.scene().lines if line.mark == "ema"]
    assert (line.tail, line.head) == ("student", "teacher")
    assert model.graph().root.edges == Model.from_text(
        text.replace("average_of: student", "mark: ema"), name="t.yaml"
    ).graph().root.edges


@pytest.mark.parametrize(
    ("teacher", "code", "said"),
    [
        ("out: d_m, bias: false, average_of: studnet", "unknown-reference", "did you mean"),
        ("out: d_m, bias: false, average_of: x", "unknown-reference", "an input has no weights"),
        ("out: 2 d_m, bias: false, average_of: student", "share-mismatch", "cannot follow"),
        ("out: d_m, bias: true, average_of: student", "share-mismatch", "only one of them has b"),
        ("out: d_m, average_of: student, mark: frozen", "bad-value", "not frozen"),
    ],
)
def test_what_cannot_be_an_average_is_told_at_its_line(
    teacher: str, code: str, said: str
) -> None:
    (fault,) = Model.from_text(followed(teacher), name="t.yaml").check().errors
    assert (fault.code, fault.span.line) == (code, 6)
    assert said in f"{fault.message} {fault.hint}"


@pytest.mark.parametrize(
    "blocks",
    [
        "{op: linear, id: W, out: d_m, bias: false, once: true, copies: 3}",
        "{group: [{op: linear, id: W, out: d_m, bias: false, once: true}], id: g, copies: 3}",
        "{use: plain, id: u, once: true, copies: 3}",
        "{use: inside, id: u, copies: 3}",
    ],
)
def test_copies_of_what_all_turns_share_count_each_but_not_each_turn(blocks: str) -> None:
    linear = "{op: linear, id: W, out: d_m, bias: false%s}"
    head = "title: P\ndims: {d_m: width}\ninputs: {x: [..., d_m]}\n"
    texts = Texts(
        {
            "plain": f"{head}blocks: [{linear % ''}]\n",
            "inside": f"{head}blocks: [{linear % ', once: true'}]\n",
        }
    )
    text = f"{head}blocks: [{{repeat: 4, id: r, blocks: [{blocks}]}}]\n"
    found = inspect(spec_of(text), texts, overrides={"d_m": 10})
    assert found.params.total.number == 3 * 100
    work = inspect(spec_of(text.replace("[..., d_m]", "[1, d_m]", 1)), texts, overrides={"d_m": 10})
    assert work.macs.number == 4 * 3 * 100  # each turn works with each copy


def test_copies_of_a_repeat_have_each_the_weights_that_its_turns_share() -> None:
    text = """
title: Stacks
dims: {d_m: width}
inputs: {x: [1, d_m]}
blocks:
  - repeat: 4
    id: r
    copies: 3
    blocks: [{op: linear, id: W, out: d_m, bias: false, once: true}]
"""
    found = count(text, overrides={"d_m": 10})
    assert found.params.total.number == 3 * 100
    assert found.macs.number == 4 * 3 * 100


def test_copies_count_each() -> None:
    text = """
title: Heads
dims: {d_m: width, n: how many}
inputs: {x: [..., d_m]}
blocks:
  - {op: linear, id: W, out: d_m, bias: false, copies: n}
"""
    assert count(text).params.total.formula == parse("n d_m^2")


def test_nothing_cached_is_zero() -> None:
    found = count(SPECS["ffn"])
    assert found.kv_cache.per_token.number == 0
    assert found.as_json()["kv_cache"]["formula"] == "0"


def test_the_weight_role_is_the_nearest_that_is_stated() -> None:
    text = """
title: Roles
counts_as: whole
dims: {d_m: width}
inputs: {x: [..., d_m]}
blocks:
  - {op: linear, id: own, out: d_m, counts_as: mine, bias: false}
  - {op: linear, id: left, out: d_m, bias: false}
  - {id: g, title: G, counts_as: group, group: [layernorm, {op: linear, out: d_m, bias: false}]}
"""
    by_role = {role: str(a.formula) for role, a in count(text).params.by_role.items()}
    assert by_role == {"mine": "d_m^2", "whole": "d_m^2", "group": "d_m^2", "norm": "2 d_m"}


def test_the_role_of_a_used_spec_is_that_of_its_weights() -> None:
    text = """
title: Uses
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m]}
blocks:
  - {use: ffn, id: a}
  - {use: ffn, id: b, counts_as: shared_experts}
"""
    roles = sorted(count(text).params.by_role)
    assert roles == ["ffn", "shared_experts"]


@pytest.mark.parametrize(
    ("where", "length"),
    [
        ("d_t <= 512", 512),
        ("d_t <= P", 300),
        ("7 | d_t", 7),
        ("d_t > 5000", 8192),
        ("d_t == 100", 1024),  # none is found: told as it is
    ],
)
def test_no_length_is_taken_that_where_forbids(where: str, length: int) -> None:
    text = (
        "title: T\n"
        "dims: {d_t: positions, P: {doc: rows, default: 300}, k: {doc: width, default: 7}}\n"
        f"where: ['{where}']\ninputs: {{x: [d_t, P, k]}}\nblocks: [gelu]\n"
    )
    if length == 1024:
        with pytest.raises(DiagramError, match="1024 != 100"):
            count(text)
        return
    assert count(text).positions == length
    with pytest.raises(DiagramError):  # but what is asked for is taken at its word
        count(text, length=1024)


def test_a_default_length_gives_way_to_where_and_to_the_sources() -> None:
    text = (
        "title: T\ndims: {d_t: {doc: positions, default: 800}, d_s: {doc: all, default: d_t}}\n"
        "inputs: {x: [d_t, d_s]}\nblocks: [mask_add]\n"
    )
    assert count(text).positions == 800
    assert count(text, overrides={"d_s": 64}).numbers == {"d_t": 64, "d_s": 64}


def test_the_length_that_is_asked_for_wins_over_the_config_and_has_any_name() -> None:
    """An attention over n positions: 2 n^2 m multiply-adds, two caches of n m elements."""
    text = """
title: T
dims: {N: text positions, m: width, S: source positions}
configs: {a: {N: 8, m: 4, S: 3}}
inputs: {x: [N, m], memory: [S, m]}
outputs: {y: {from: y, shape: [N, m]}}
blocks:
  - {op: reshape, id: h, from: x, to: [1, N, m]}
  - {op: cache, id: kv, from: [h, h]}
  - {op: attention_core, from: [h, kv.k, kv.v]}
  - {op: reshape, to: [N, m]}
  - {op: add, id: y, broadcast: true, from: [prev, p]}
  - {op: pool, id: p, from: memory}
"""
    for name in ("N", "d_t"):
        renamed = text.replace("N", name)
        for length, n in ((None, 8), (100, 100)):
            found = count(renamed, config="a", length=length)
            assert (found.positions, found.macs.number) == (n, 2 * n * n * 4)
            assert found.kv_cache.total.number == 2 * n * 4
        with pytest.raises(DiagramError, match=f"'{name}' is set by hand"):
            count(renamed, overrides={name: 5}, length=100)
    none = "title: T\ndims: {a: one, b: two}\ninputs: {x: [2, a, b]}\nblocks: [gelu]\n"
    with pytest.raises(DiagramError, match="no one size"):
        count(none, length=100)


def test_only_the_lines_that_are_printed_are_defined() -> None:
    def defined(blocks: str) -> list[str]:
        text = f"title: T\ndims: {{d_m: width}}\ninputs: {{x: [9, d_m]}}\nblocks: [{blocks}]\n"
        shown = text_of(count(text)).split("\n\n")[1]
        lines = shown.splitlines()[1:]
        notes = [line.strip(" (").split(":")[0] for line in lines if line.startswith("  (")]
        for note in notes:
            assert any(line.startswith(f"  {note} ") for line in lines)
        return notes

    linear = "{op: linear, out: d_m, bias: false}"
    assert defined(linear) == ["total"]
    frozen = "{op: linear, out: d_m, bias: false, mark: frozen}"
    assert defined(frozen) == ["total", "trained", "frozen"]
    averaged = "{group: [{op: linear, out: d_m, bias: false, mark: frozen}], mark: ema}"
    assert defined(averaged) == ["total", "trained", "averaged"]
    assert defined(f"{averaged}, {frozen}") == ["total", "trained", "frozen", "averaged"]
    bank = "{op: experts, experts: 8, hidden: d_m, top_k: 2}"
    assert defined(bank) == ["total", "active per token"]
    assert defined(f"{frozen}, {bank}") == ["total", "active per token", "trained", "frozen"]


def test_every_number_comes_with_its_definition() -> None:
    plain = json.loads(json.dumps(count(SPECS["gpt2"], config="small").as_json()))
    for group, key in (("params", "total"), ("kv_cache", "per_token"), ("flops", "forward")):
        assert isinstance(plain[group][key], int)
        assert plain[group]["definition"]
        assert plain[group]["formula"]
    assert "multiply-add is 2" in plain["flops"]["unit"]
    assert plain["params"]["active"] == plain["params"]["total"]
    assert sum(plain["params"]["by_role"].values()) == plain["params"]["total"]
