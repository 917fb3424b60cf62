"""Every size is a whole number from 1 up: proved, or told with what must hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from graph_specs import SPECS, check_of

from transformer_diagrams.errors import DiagramError, Fault

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
    assert "for config 'bad' = -2" in fault.message


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
