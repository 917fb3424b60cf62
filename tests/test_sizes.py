"""Every size is a whole number from 1 up: proved, or told with what must hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from graph_specs import SPECS, check_of

from transformer_diagrams.api import Model, load
from transformer_diagrams.dims import parse_condition
from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.ops.execute import call

HEAD = "title: T\ndims: {d_t: positions, d_m: width, d_c: cut, n_h: heads, L: layers, a: one}\n"
X = "inputs: {x: [d_t, d_m]}\n"
LINEAR_A = "blocks: [{op: linear, out: a}]\n"


def spec(block: str, *, where: str = "", configs: str = "", inputs: str = X) -> str:
    top = f"where: [{where}]\n" if where else ""
    top += f"configs: {{{configs}}}\n" if configs else ""
    return f"{HEAD}{top}{inputs}blocks:\n  - {block}\n"


def faults_of(text: str, more: Mapping[str, str] = SPECS) -> Sequence[Fault]:
    """All errors: of the form, or else of the check."""
    try:
        return check_of(text, more).report.errors
    except DiagramError as error:
        return error.faults


def codes(text: str) -> list[str]:
    return [f"{f.code} {f.span.line}" for f in faults_of(text)]


# -- numbers ----------------------------------------------------------------------------------

NUMBERS = [
    "{op: linear, out: 0}",
    "{op: linear, out: -3}",
    "{op: linear, out: 2 - 2}",
    "{op: linear, out: 5/2}",
    "{op: head_linear, heads: -2, out: 3}",
    "{op: lora, out: d_m, rank: 0}",
    "{op: split, sizes: [0, d_m]}",
    "{op: reshape, to: [0, -1]}",
    "{op: reshape, to: [d_t, -2]}",
    "{op: embedding, vocab: 0, width: 3}",
    "{op: top_k, k: 0}",
    "{op: rope, start: -1}",
    "{op: box, params: -1}",
    "{op: box, out: [d_t, 0]}",
    "{op: linear, out: d_m, copies: 0}",
    "{op: linear, out: d_m, stack: -1}",
    "{op: linear, out: d_m, shape: [d_t, 0]}",
    "{repeat: 0, blocks: [gelu]}",
    "{repeat: L - L, blocks: [gelu]}",
    "{use: ffn, with: {d_h: 0}}",
    "{op: box, out: [d_t, d_m - d_m]}",
]


@pytest.mark.parametrize("block", NUMBERS)
def test_a_number_below_the_least_is_refused_at_its_line(block: str) -> None:
    (fault,) = faults_of(spec(block))
    assert fault.code == "not-positive"
    assert fault.span.line == 5
    assert "a size must be a whole number" in fault.message


@pytest.mark.parametrize(
    "block",
    [
        "{op: box, params: 0, flops: 0}",
        "{op: rope, start: 0, width: 2}",
        "{op: slice, start: 0, stop: -1}",
        "{op: shift, by: -1}",
        "{op: reshape, to: [d_t, -1]}",
        "{op: transpose, order: [1, 0]}",
        "{repeat: L % 6, blocks: [gelu]}",
        "{op: linear, out: d_m, copies: L - 1}",
    ],
)
def test_what_an_attribute_takes_besides_is_taken(block: str) -> None:
    assert codes(spec(block)) == []


# -- formulas ---------------------------------------------------------------------------------

UNPROVED = [
    ("{op: linear, out: d_m - d_c}", "d_c < d_m"),
    ("{op: linear, out: n_h d_m - n_h d_c}", "d_c < d_m"),
    ("{op: head_linear, heads: n_h - 1, out: 3}", "1 < n_h"),
    ("{op: box, out: [d_t, d_m - 8]}", "8 < d_m"),
    ("{op: box, params: d_m - 8}", "8 <= d_m"),
    ("{repeat: d_m - 8, blocks: [gelu]}", "8 <= d_m"),
    ("{op: linear, out: d_m, copies: L - 2}", "2 <= L"),
    ("{op: split, sizes: [d_c, d_m - d_c]}", "d_c < d_m"),
    ("{op: linear, out: floor(d_m / 4)}", "4 <= d_m"),
    ("{op: linear, out: 'min(d_m, d_m - d_c)'}", "d_c < d_m"),
    ("{use: ffn, with: {d_h: d_m - d_c}}", "d_c < d_m"),
]


@pytest.mark.parametrize(("block", "needed"), UNPROVED)
def test_a_formula_is_proved_or_says_what_must_hold(block: str, needed: str) -> None:
    (fault,) = faults_of(spec(block))
    assert (fault.code, fault.span.line) == ("not-positive", 5)
    assert f"where: ['{needed}']" in fault.hint or "min(" in block
    assert codes(spec(block, where=f"'{needed}'")) == []


@pytest.mark.parametrize("key", ["value", "default"])
def test_a_definition_does_not_prove_itself(key: str) -> None:
    text = HEAD.replace("a: one", f"a: {{{key}: d_m - d_c}}") + X + LINEAR_A
    assert codes(text) == ["not-positive 2"]
    assert codes(text.replace("inputs:", "where: [d_c < d_m]\ninputs:")) == []


def test_numbers_are_checked_with_each_config_at_the_line_of_the_size() -> None:
    configs = "good: {d_m: 8, d_c: 4}, bad: {d_m: 8, d_c: 10}"
    found = codes(spec("{op: linear, out: d_m - d_c}", where="d_c < d_m", configs=configs))
    assert found == ["where-broken 3", "not-positive 7"]
    fault = faults_of(spec("{op: linear, out: d_m - d_c}", configs=configs))[-1]
    assert (fault.code, fault.span.line) == ("not-positive", 6)
    assert "= -2 is no size for config 'bad'" in fault.message


def test_a_proposed_size_that_comes_out_wrong_is_told_for_its_config() -> None:
    text = HEAD.replace("a: one", "a: {default: d_m / 16}")
    text += "configs: {good: {d_m: 32}, bad: {d_m: 24}}\n" + X + LINEAR_A
    (fault,) = faults_of(text)
    assert fault.code == "no-whole-number"
    assert "config 'bad'" in fault.message
    assert "24 is not divisible by 16" in fault.message


def test_a_size_that_an_op_works_out_is_one() -> None:
    block = "{op: slice, start: 8}"
    assert codes(spec(block)) == []  # for some widths
    (fault,) = faults_of(spec(block, configs="small: {d_m: 8}"))
    assert "no size" in fault.message or "behind" in fault.message


def test_the_size_of_a_used_spec_is_proved_there_or_here() -> None:
    part = "dims: {m: width, c: cut}\ninputs: {x: [m]}\nblocks: [{op: linear, out: m - c}]\n"
    text = HEAD + "inputs: {x: [d_m]}\nblocks: [{use: part, with: {c: d_c}}]\n"
    (fault,) = faults_of(text, {"part": part})
    assert (fault.code, fault.span.file) == ("not-positive", "part.yaml")
    stated = part.replace("inputs:", "where: [c < m]\ninputs:")
    assert faults_of(text, {"part": stated}) == []
    here = text.replace("inputs:", "where: [d_c < d_m]\ninputs:")
    assert faults_of(here, {"part": part}) == []


# -- divisions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "block",
    [
        "{op: linear, out: d_m / n_h}",
        "{op: linear, out: d_m / (2 n_h) * 2}",
        "{op: linear, out: d_m, shape: [d_t, d_m / n_h * n_h], if: false_}",
        "{repeat: d_m / n_h, blocks: [gelu]}",
        "{op: box, out: [d_m / n_h]}",
        "{use: ffn, with: {d_h: d_m / n_h}}",
    ],
)
def test_a_division_that_may_leave_a_remainder_is_an_error(block: str) -> None:
    if "if:" in block:  # what cancels is no division
        assert codes(spec(block.replace(", if: false_", ""))) == []
        return
    (fault,) = faults_of(spec(block))
    assert (fault.code, fault.span.line) == ("cannot-tell", 5)
    assert "n_h divides d_m" in fault.message
    assert "where: ['n_h | d_m']" in fault.hint
    assert codes(spec(block, where="n_h | d_m")) == []
    assert codes(spec(block, configs="a: {d_m: 64, n_h: 8}, b: {L: 3}")) == []
    assert codes(spec(block, configs="b: {L: 3, d_m: 64}")) == ["cannot-tell 6"]
    assert "no-whole-number 6" in codes(
        spec(block, configs="a: {d_m: 64, n_h: 8}, b: {d_m: 100, n_h: 8}")
    )


@pytest.mark.parametrize(
    ("block", "needed"),
    [
        ("{op: split_heads, heads: n_h}", "n_h | d_m"),
        ("{op: split, parts: 3}", "3 | d_m"),
        ("{op: reshape, to: [d_t, n_h, -1]}", "n_h | d_m"),
        ("{op: glu}", "2 | d_m"),
    ],
)
def test_a_division_that_an_op_makes_is_stated_or_shown_like_a_written_one(
    block: str, needed: str
) -> None:
    (fault,) = faults_of(spec(block))
    assert (fault.code, fault.span.line, fault.path) == ("cannot-tell", 5, "blocks[0]")
    assert f"where: ['{needed}']" in fault.hint
    assert codes(spec(block, where=needed)) == []
    assert codes(spec(block, configs="a: {d_m: 48, n_h: 8}")) == []


def test_every_size_that_is_none_is_told_in_one_run() -> None:
    """Numbers, formulas, and divisions."""
    text = HEAD + """
inputs: {x: [d_t, d_m]}
outputs: {a: {from: a}, b: {from: b}, c: {from: c}}
blocks:
  - {op: linear, id: a, from: x, out: 0}
  - {op: linear, id: b, from: x, out: d_m - d_c}
  - {op: linear, id: c, from: x, out: d_m / n_h}
"""
    found = [(f.code, f.span.line) for f in model(text).check().errors]
    assert found == [("not-positive", 7), ("not-positive", 8), ("cannot-tell", 9)]


def test_a_division_in_a_definition_is_stated_or_shown_and_may_be_proposed() -> None:
    text = HEAD.replace("a: one", "a: {value: d_m / n_h}") + X + LINEAR_A
    assert codes(text) == ["cannot-tell 2"]
    assert codes(text.replace("value:", "default:")) == []
    assert codes(text.replace("inputs:", "where: [n_h | d_m]\ninputs:")) == []
    assert codes(text.replace("inputs:", "configs: {c: {d_m: 6, n_h: 3}}\ninputs:")) == []


# -- arithmetic beyond its limits -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "configs"),
    [
        ("{op: linear, out: 8 / (d_m - d_c)}", "c: {d_m: 3, d_c: 3}"),
        ("{op: linear, out: d_t % (d_m - d_c)}", "c: {d_t: 2, d_m: 3, d_c: 3}"),
        ("{op: linear, out: d_m^64}", "c: {d_m: 10^10}"),
        ("{repeat: d_m^60 d_c^60, blocks: [gelu]}", "c: {d_m: 10^9, d_c: 10^9}"),
        ("{op: box, params: (d_m + d_c)^64}", "c: {d_m: 10^10, d_c: 1}"),
    ],
)
def test_what_has_no_value_is_a_fault_with_its_line(block: str, configs: str) -> None:
    faults = faults_of(spec(block, configs=configs))
    assert any(f.code == "no-whole-number" and f.span.line == 5 + 1 for f in faults)
    assert all(f.span.line for f in faults)


# -- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size",
    ["d_m + bar - bar", "bar / bar * d_m", "0 bar + d_m", "min(1, bar)", "bar^0", "bar % 1 + 2"],
)
def test_a_name_that_cancels_is_declared_too(size: str) -> None:
    (fault,) = faults_of(spec(f"{{op: linear, out: '{size}'}}"))
    assert "'bar' is not declared" in fault.message


def test_a_relation_and_a_config_know_their_names_too() -> None:
    (fault,) = faults_of(spec("gelu", where="d_m + bar - bar <= 9"))
    assert "'bar'" in fault.message
    assert faults_of(spec("gelu", configs="c: {d_m: d_c - d_c + 4}"))


# -- what the check says besides --------------------------------------------------------------


def test_every_cycle_is_told_in_one_run() -> None:
    text = HEAD + X + (
        "blocks:\n"
        "  - {op: gelu, id: p, from: q}\n  - {op: gelu, id: q, from: p}\n"
        "  - {op: add, id: r, from: [x, s]}\n  - {op: add, id: s, from: [r, t]}\n"
        "  - {op: gelu, id: t, from: r}\n  - {op: add, id: u, from: [u, x]}\n"
    )
    found = {f.found for f in faults_of(text)}
    assert found >= {"p -> q -> p", "r -> s -> r", "u -> u"}
    assert {f.code for f in faults_of(text)} == {"cycle"}


def test_every_circle_of_definitions_is_told_in_one_run() -> None:
    text = "dims: {a: {value: b}, b: {value: a + c}, c: {value: a}, e: {value: 2 e}}\n"
    text += "blocks: [gelu]\n"
    found = sorted(f.message.partition(": ")[2] for f in faults_of(text))
    assert found == ["a -> b -> a", "a -> b -> c -> a", "e -> e"]


@pytest.mark.parametrize("name", ["erf", "argmin", "fft", "lstm"])
def test_an_unknown_op_without_a_near_one_may_be_a_box(name: str) -> None:
    (fault,) = faults_of(HEAD + X + f"blocks: [{name}]\n")
    assert f"{{op: box, label: {name}}}" in fault.hint
    assert "did you mean" not in fault.hint


def test_a_near_op_and_a_bundled_spec_are_named() -> None:
    (fault,) = faults_of(HEAD + X + "blocks: [sofmax]\n")
    assert "did you mean 'softmax'?" in fault.hint
    assert "{op: box, label: sofmax}" in fault.hint
    (fault,) = faults_of(HEAD + X + "blocks: [swiglu]\n")
    assert "{use: swiglu}" in fault.hint


@pytest.mark.parametrize(
    ("op", "other", "column"),
    [("mul", "[d_t]", "[d_t, 1]"), ("add", "[n_h, d_t]", "[n_h, d_t, 1]")],
)
def test_a_number_for_each_row_is_reshaped_and_not_stated(op: str, other: str, column: str) -> None:
    wide = f"[{column.strip('[]').removesuffix('1')}d_m]"
    text = HEAD + f"inputs: {{x: {wide}, s: {other}}}\n"
    text += f"blocks: [{{op: {op}, broadcast: true, from: [x, s]}}]\n"
    (fault,) = faults_of(text)
    assert f"reshape, to: {column}" in fault.hint
    assert "where:" not in fault.hint


def test_notes_are_about_sizes_of_the_shapes_shown() -> None:
    text = (
        "dims: {B: pairs, h: side, P: patch, N: {value: h / P}, d_v: width, z: other}\n"
        "where: [P | h]\ninputs: {a: [1, d_v], b: [B, N, d_v], t: [z]}\n"
        "blocks: [{op: concat, axis: -2, from: [a, b]}]\n"
    )
    (fault,) = faults_of(text)
    noted = {note.partition(":")[0].partition(" =")[0] for note, _ in fault.notes}
    assert noted == {"a", "b", "B", "N", "d_v"}


def test_sizes_in_lists_are_used() -> None:
    text = HEAD.replace("a: one", "a: part, c: other") + "where: [a < d_m]\n" + X + (
        "outputs: {p: {from: p}, q: {from: q.0}, r: {from: r}}\n"
        "blocks:\n  - {op: reshape, id: p, from: x, to: [d_t, n_h, -1]}\n"
        "  - {op: split, id: q, from: x, sizes: [a, d_m - a]}\n"
        "  - {op: box, id: r, from: x, out: [d_t, c]}\n"
    )
    unused = [f.found for f in check_of(text).report.warnings if f.code == "unused-size"]
    assert unused == ["d_c", "L"]


# -- shared weights ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "good"),
    [
        ("{op: linear, out: 6}", "{op: linear, from: x, out: 6}", True),
        ("{op: linear, out: 6}", "{op: linear, from: y, out: 4}", False),  # 4 x 6 against 6 x 4
        ("{op: linear, out: 6, bias: true}", "{op: linear, from: x, out: 6}", False),
        ("{op: parameter, size: [2, 3]}", "{op: parameter, size: [3, 2]}", False),
        ("{use: ffn, with: {d_h: 3, bias: false}}",
         "{use: ffn, from: x, with: {d_h: 3, bias: false}}", True),
        ("{use: ffn, with: {d_h: 3}}", "{use: ffn, from: x, with: {d_h: 5}}", False),
    ],
)
def test_shared_weights_have_equal_shapes(first: str, second: str, good: bool) -> None:
    second = second.removesuffix("}") + ", id: two, share: one}"
    text = (
        "dims: {d_t: positions, d_m: {value: 4}}\ninputs: {x: [d_t, d_m], y: [d_t, 6]}\n"
        "outputs: {a: {from: one}, b: {from: two}}\nblocks:\n"
        f"  - {first.removesuffix('}')}, id: one}}\n  - {second}\n"
    )
    assert codes(text) == ([] if good else ["share-mismatch 6"])


# -- what goes from turn to turn --------------------------------------------------------------

TURNS = HEAD + X + (
    "blocks:\n  - {op: linear, id: stem, out: d_m}\n  - repeat: L\n    id: loop\n%s    blocks:\n"
    "      - {op: linear, id: one, out: d_m, from: %s}\n"
    "      - {op: add, id: two, from: [one, %s]}\n"
)


def turns(carry: str, first: str, second: str) -> str:
    return TURNS % (f"    carry: {carry}\n" if carry else "", first, second)


def warned(text: str) -> list[str]:
    return [f.code for f in check_of(text).report.warnings if not f.code.startswith("unused")]


@pytest.mark.parametrize(
    ("carry", "first", "second"),
    [("", "prev", "stem"), ("h", "stem", "h"), ("h", "h", "h"), ("[h]", "h", "stem")],
)
def test_a_carried_value_is_read_by_prev_or_by_its_name(
    carry: str, first: str, second: str
) -> None:
    assert codes(turns(carry, first, second)) == []
    assert warned(turns(carry, first, second)) == []


@pytest.mark.parametrize("carry", ["", "h"])
def test_a_repeat_that_does_not_go_on_is_told(carry: str) -> None:
    text = turns(carry, "stem", "stem")
    assert warned(text) == ["repeat-ignores"]
    (fault,) = [f for f in check_of(text).report.warnings if f.code == "repeat-ignores"]
    assert ("`from: h`" in fault.hint)
    assert ("carry: h" in fault.hint) == (not carry)


@pytest.mark.parametrize(
    ("carry", "code"),
    [
        ("x", "duplicate-id"),
        ("stem", "duplicate-id"),
        ("prev", "reserved-name"),
        ("[h, g]", "carry-mismatch"),
        ("[h, h]", "duplicate-id"),
        ("3", "bad-id"),
        ("[]", "no-names"),
    ],
)
def test_a_name_that_cannot_be_carried_is_told(carry: str, code: str) -> None:
    assert [f.code for f in faults_of(turns(carry, "prev", "one"))] == [code]


def test_a_carried_name_is_not_seen_from_outside() -> None:
    (fault,) = faults_of(turns("h", "h", "h") + "  - {op: add, from: [prev, h]}\n")
    assert fault.code == "inside-repeat"


def test_several_carried_values_have_a_name_each() -> None:
    text = HEAD + "inputs: {x: [d_t, d_m], y: [d_t, d_c]}\n" + (
        "blocks:\n  - repeat: L\n    from: [x, y]\n    carry: [h, c]\n    blocks:\n"
        "      - parallel:\n          p: [{op: linear, from: c, out: d_m}]\n"
        "          q: [{op: linear, from: h, out: d_c}]\n"
    )
    assert codes(text) == []
    assert codes(text.replace("from: c, out: d_m", "from: h, out: d_c")) == ["repeat-mismatch 5"]


# -- check = inspect = render -----------------------------------------------------------------


def model(text: str) -> Model:
    return Model.from_text(text, name="case.yaml")


@pytest.mark.parametrize(
    ("dims", "where", "blocks", "length"),
    [
        (
            "P: {doc: rows, default: 512}", "d_t <= P",
            "[{op: learned_position, length: d_t, width: d_m, table: P}]",
            512,
        ),
        ("P: rows", "d_t < 300", "[gelu]", 256),
        ("P: rows", "d_t >= 1", "[gelu]", 1024),
        ("P: {doc: rows, default: 3000}", "P <= d_t", "[gelu]", 4096),
    ],
)
def test_the_default_length_is_one_that_the_spec_allows(
    dims: str, where: str, blocks: str, length: int
) -> None:
    text = f"dims: {{d_t: positions, d_m: width, {dims}}}\nwhere: ['{where}']\n"
    text += f"{X}blocks: {blocks}\n"
    assert model(text).check().ok
    assert model(text).inspection(set={"d_m": 8}).numbers["d_t"] == length


def test_a_cache_is_as_long_as_what_is_known_of_the_text() -> None:
    text = (
        "dims: {d_t: {doc: positions, default: 2048}, d_s: source, d_m: width}\n"
        "inputs: {k: [d_t, d_m]}\nblocks: [{op: cache, from: k, length: d_s}]\n"
    )
    assert model(text).inspection(set={"d_m": 8}).numbers["d_s"] == 2048


@pytest.mark.parametrize(
    "block",
    ["{op: linear, out: d_m / n_h}", "{op: linear, out: d_m - d_c}", "{op: linear, out: 0}"],
)
def test_inspect_and_render_refuse_what_check_refuses(block: str) -> None:
    text = spec(block)
    assert not model(text).check().ok
    for work in (lambda: model(text).inspect(), lambda: model(text).render("svg")):
        with pytest.raises(DiagramError) as caught:
            work()
        assert caught.value.faults[0].span.line == 5


def test_check_says_what_no_page_shows() -> None:
    many = [f"a{n}" for n in range(401)]
    lines = "".join(f"  - {{op: gelu, id: {name}, from: x}}\n" for name in many)
    part = f"inputs: {{x: [3]}}\nblocks:\n{lines}  - {{op: add, from: [{', '.join(many)}]}}\n"
    report = model(part).check()
    assert [(f.code, f.span.line) for f in report.errors] == [("too-many-ends", 404)]
    assert model(part.replace(", a400]", "]")).check().ok


def test_counts_beyond_the_limits_are_a_fault_with_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer_diagrams.dims.polynomials.MAX_TERMS", 20)
    names = [f"d{n}" for n in range(30)]
    dims = "".join(f"  {name}: size\n" for name in names)
    blocks = "".join(f"  - {{op: linear, out: {name}}}\n" for name in names)
    with pytest.raises(DiagramError) as caught:
        model(f"dims:\n{dims}inputs: {{x: [3]}}\nblocks:\n{blocks}").inspect()
    (fault,) = caught.value.faults
    assert "too large" in fault.message
    assert fault.span.line


# -- rules of counting that the check rests on ----------------------------------------------------


def test_nothing_but_nothing_is_divisible_by_nothing() -> None:
    condition = parse_condition("a | b")
    assert not condition.evaluate({"a": 0, "b": 4})
    assert condition.evaluate({"a": 0, "b": 0})
    assert "not divisible by 0" in condition.failure({"a": 0, "b": 4})


def test_a_tensor_of_one_number_on_one_axis_serves_all() -> None:
    c = call("add", [[3, 4], [1]], {"broadcast": True})
    assert str(c.op.shape(c)[0]) == "[3, 4]"
    assert c.op.flops(c) == 12
    alone = call("add", [[1], [1]])
    assert (str(alone.op.shape(alone)[0]), alone.op.flops(alone)) == ("[1]", 1)
    stretched = call("mul", [[1], [5]], {"broadcast": True})
    assert (str(stretched.op.shape(stretched)[0]), stretched.op.flops(stretched)) == ("[5]", 5)


# -- leading axes through a used spec -------------------------------------------------------------

PARTS = {
    "ffn": "",
    "swiglu": "d_h: 32",
    "gqa": "n_g: 2",
    "mqa": "",
    "mha-packed": "lora: false",
    "self-attention": "",
    "qk-norm-attention": "",
    "mla": "d_c: 4, d_K: 8",
    "moe-mixtral": "N: 4, K: 2, d_e: 8",
    "decoder-layer": "d_h: 32, n_g: 2",
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_done_for_each_of_the_leading_axes(part: str) -> None:
    used = load(part).spec
    ports = ", ".join(f"{name}: x" for name in used.inputs)
    bind = f"d_s: d_t, {PARTS[part]}" if "d_s" in used.dims else PARTS[part]
    bind = ", ".join(b for b in bind.split(", ") if b)

    def counted(lead: str) -> tuple[int | None, int | None, int | None]:
        text = (
            "dims: {B: batch, C: more, d_t: positions, d_m: width, n_h: heads}\n"
            f"where: [n_h | d_m]\ninputs: {{x: [{lead}d_t, d_m]}}\n"
            f"outputs: {{y: [{lead}d_t, d_m]}}\n"
            f"blocks: [{{use: {part}, from: {{{ports}}}, with: {{{bind}}}}}]\n"
        )
        assert [f.message for f in model(text).check().errors] == []
        found = model(text).inspect(set={"B": 5, "C": 3, "d_t": 6, "d_m": 16, "n_h": 4})
        return (
            found["params"]["total"], found["flops"]["forward"], found["kv_cache"]["per_token"]
        )

    params, work, cached = counted("")
    assert params is not None
    assert work is not None
    assert cached is not None
    assert counted("..., ") == (params, work, cached)
    assert counted("B, ") == (params, 5 * work, 5 * cached)
    assert counted("B, C, ") == (params, 15 * work, 15 * cached)


def test_leading_axes_agree_or_serve_all() -> None:
    text = (
        "dims: {B: batch, C: other, d_t: positions, d_m: width, n_h: heads}\nwhere: [n_h | d_m]\n"
        "inputs: {x: [B, d_t, d_m], m: [%s d_t, d_m]}\n"
        "blocks: [{use: mha-packed, from: {X_Q: x, X_S: m}, with: {d_s: d_t, lora: false}}]\n"
    )
    assert model(text % "").check().ok
    assert model(text % "B,").check().ok
    (fault,) = model(text % "C,").check().errors
    assert fault.code == "shape-mismatch"


PART = "title: P\ndims: {k: width, T: {doc: length, value: VALUE}}\n" \
       "inputs: {x: [T, k]}\nblocks: [gelu]\n"


@pytest.mark.parametrize("value", ["8/(k-8)", "8 // (k-8)", "8 % (k-8)", "8 + 8/(8-k)"])
@pytest.mark.parametrize("where", ["", "where: [4 | T]\n", "where: [T < 90]\n"])
def test_a_definition_without_a_value_for_its_caller_is_told_where_it_is_used(
    value: str, where: str
) -> None:
    """Alone it has one; only the size that the caller hands in shows that it divides by 0."""
    part = PART.replace("VALUE", f"'{value}'") + where
    known = "title: T\ndims: {d_t: positions, d_m: {value: 8}}\ninputs: {x: [d_t, d_m]}\n" \
            "blocks:\n  - {use: part, id: p}\n"
    found = [f"{f.code} {f.span.line}" for f in faults_of(known, {"part": part})]
    assert "definition-broken 5" in found
    known = known.replace("{value: 8}", "width")
    found = [f"{f.code} {f.span.line}" for f in faults_of(known, {"part": part})]
    assert "definition-broken 5" not in found


@pytest.mark.parametrize(("rows", "good"), [("6 a", True), ("7 a", False)])
def test_a_definition_made_of_defined_sizes_is_what_its_user_defines(rows: str, good: bool) -> None:
    """ceil(32 a / 8) + ceil(32 a / 16) is 6 a, whatever the part calls its two sizes."""
    part = (
        "title: P\ndims: {h: rows, k: width, u: {doc: eighth, value: ceil(h / 8)},\n"
        "  v: {doc: sixteenth, value: ceil(h / 16)}, S: {doc: both, value: u + v}}\n"
        "inputs: {x: [S, k]}\nblocks: [gelu]\n"
    )
    text = (
        f"title: T\ndims: {{a: rows, k: width, S: {{doc: both, value: {rows}}}}}\n"
        "inputs: {x: [S, k]}\nblocks: [{use: part, with: {h: 32 a}}]\n"
    )
    found = [fault.code for fault in faults_of(text, {"part": part})]
    assert found == ([] if good else ["definition-broken"])


def test_a_relation_without_a_value_for_its_caller_is_told_with_its_user() -> None:
    part = "title: P\ndims: {k: width, n: length}\ninputs: {x: [n, k]}\n" \
           "where: ['8/(k-8) < n']\nblocks: [gelu]\n"
    text = "title: T\ndims: {d_t: positions, d_m: {value: 8}}\ninputs: {x: [d_t, d_m]}\n" \
           "blocks:\n  - {use: part, id: p}\n"
    (fault,) = faults_of(text, {"part": part})
    assert (fault.code, fault.span.file, fault.span.line) == ("where-broken", "part.yaml", 4)
    assert "8 is divided by 0" in fault.message
    assert any("used as 'p' here" in note for note, _ in fault.notes)
