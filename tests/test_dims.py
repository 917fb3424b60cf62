"""Sizes: what may be written, how it is shown, what it is worth, and what follows from facts."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
import time

import pytest

from transformer_diagrams.dims import (
    Condition,
    Dim,
    DimError,
    Facts,
    Verdict,
    const,
    maximum,
    minimum,
    nearest_divisors,
    nearest_multiples,
    parse,
    parse_condition,
    product,
    sym,
)

YES, NO, UNKNOWN = Verdict.YES, Verdict.NO, Verdict.UNKNOWN

SHOWN = [
    # written, shown
    ("2 n_g d_K", "2 n_g d_K"),
    ("d_K * n_g * 2", "2 n_g d_K"),
    ("d_m/n_h", "d_m / n_h"),
    ("n_h * (d_m / n_h)", "d_m"),
    ("(a + b) / 2", "(a + b) / 2"),
    ("2 ((a + b) / 2)", "a + b"),
    ("4 (d + 1)", "4 d + 4"),
    ("12 d_m^2 + 13 d_m", "12 d_m^2 + 13 d_m"),
    ("13 d_m + 12 d_m**2", "12 d_m^2 + 13 d_m"),
    ("L d_m", "L d_m"),
    ("d_m V", "V d_m"),
    ("1 - k", "1 - k"),
    ("-k", "-k"),
    ("-k - 1", "-k - 1"),
    ("--k", "k"),
    ("a - -b", "a + b"),
    ("2 * -b", "-2 b"),
    ("-a^2", "-a^2"),
    ("-7 // 2", "-4"),
    ("-(a % b)", "-(a % b)"),
    ("c - a % b", "c - a % b"),
    ("1/2 d_m", "d_m / 2"),
    ("3.5 d_m", "7 d_m / 2"),
    ("d_m / n_h / n_g", "d_m / (n_g n_h)"),
    ("d_m / (n_h n_g)", "d_m / (n_g n_h)"),
    ("a / 2 + b", "a / 2 + b"),
    ("c - (a + b) / 2", "c - (a + b) / 2"),
    ("n (n + 1) (2 n + 1) / 6", "(2 n^3 + 3 n^2 + n) / 6"),
    ("a / (a + b) + b / (a + b)", "1"),
    ("(a^2 - b^2) / (a + b)", "a - b"),
    ("(a^2 + 2 a b + b^2) / (a^2 - b^2)", "(a + b) / (a - b)"),
    ("x / (a + b) / 3", "x / (3 a + 3 b)"),
    ("-x / (a + b)", "-x / (a + b)"),
    ("floor((h - 1) / 2) + 1", "floor((h - 1) / 2) + 1"),
    ("(h - 1) // 2 + 1", "floor((h - 1) / 2) + 1"),
    ("(a b + c) // b", "a + floor(c / b)"),
    ("(a b) // b", "a"),
    ("(2 a + 3) // 2", "a + 1"),
    ("(h // 2) // 2", "floor(h / 4)"),
    ("((h - 1) // 2 + 1 - 1) // 2 + 1", "floor((h - 1) / 4) + 1"),
    ("(a (b + c) + 1) // (b + c)", "a + floor(1 / (b + c))"),
    ("ceil(d_s / B)", "ceil(d_s / B)"),
    ("ceil(7 / 2)", "4"),
    ("floor(-7 / 2)", "-4"),
    ("x % x", "0"),
    ("(a b) % b", "0"),
    ("(a b + c) % b", "c % b"),
    ("(a % b) % b", "a % b"),
    ("17 % 5", "2"),
    ("h % 1", "0"),
    ("2 * ((a + b) % c)", "2 ((a + b) % c)"),
    ("(a % b)^2 k", "k (a % b)^2"),
    ("min(d_s, k)", "min(k, d_s)"),
    ("min(a, a)", "a"),
    ("min(a, a + 1)", "a"),
    ("max(a, a + 1)", "a + 1"),
    ("min(1, n)", "1"),
    ("min(3, 5)", "3"),
    ("max(0, h - 3)", "max(0, h - 3)"),
    ("min(a, min(b, a))", "min(a, b)"),
    ("min(c, min(b, a))", "min(a, b, c)"),
    ("2^10", "1024"),
    ("2^-1 * 4", "2"),
    ("(a + b)^2", "a^2 + 2 a b + b^2"),
    ("a^-1", "1 / a"),
    ("0 a", "0"),
    ("a - a", "0"),
    ("a × b", "a b"),
    ("a · b − 1", "a b - 1"),
    ("α + β", "α + β"),
    ("\td_m\n+ 1 ", "d_m + 1"),
    ("n_h(d_K + 1)", "n_h d_K + n_h"),
]


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_formulas_are_shown_in_one_form_that_parses_back(text: str, shown: str) -> None:
    dim = parse(text)
    assert str(dim) == shown
    assert parse(shown) == dim
    assert hash(parse(shown)) == hash(dim)


TEX = [
    ("2 n_g d_K", r"2\, n_g\, d_K"),
    ("d_m / n_h", "d_m / n_h"),
    ("d_model", "d_{model}"),
    ("floor((h - 1) / 2) + 1", r"\lfloor (h - 1) / 2 \rfloor + 1"),
    ("ceil(d_s / B)", r"\lceil d_s / B \rceil"),
    ("min(k, d_s)", r"\min(k, d_s)"),
    ("12 d_m^2 + 13 d_m", r"12\, d_m^2 + 13\, d_m"),
    ("a^12", "a^{12}"),
    ("2 (a % b)", r"2\, (a \bmod b)"),
    ("alpha d_sigma", r"\alpha\, d_{\sigma}"),
    ("width", r"\mathrm{width}"),
    ("h1", "h_1"),
    ("d_K_2", "d_{K, 2}"),
    ("(a + b) / 2", "(a + b) / 2"),
]


@pytest.mark.parametrize(("text", "tex"), TEX)
def test_tex_of(text: str, tex: str) -> None:
    assert parse(text).tex() == tex


def test_tex_takes_the_spelling_that_a_name_was_given() -> None:
    names = {"d_cq": "d_c'"}
    assert parse("2 d_cq").tex(names) == r"2\, d_c'"
    assert parse("d_cq^2").tex(names) == "{d_c'}^2"
    assert parse_condition("2 | d_cq").tex(names) == r"2 \mid d_c'"


REFUSED = [
    # text, column, a word of the message or the hint
    ("", 1, "empty"),
    ("   ", 1, "empty"),
    ("a +", 4, "ends where"),
    ("a + * b", 5, "'*'"),
    ("(a + b", 7, "column 1"),
    ("a)", 2, "closes nothing"),
    ("a / b c", 7, "(b c)"),
    ("a // b (c)", 8, "(b c)"),
    ("a % 2 b", 7, "(b c)"),
    ("2 3", 3, "goes in front"),
    ("d 2", 3, "d_m^2"),
    ("a^b", 3, "whole number"),
    ("a^0.5", 3, "whole number"),
    ("min", 1, "min(...)"),
    ("min()", 5, "')'"),
    ("floor(a, b)", 1, "one argument"),
    ("sqrt(d)", 1, "no function 'sqrt'"),
    ("cail(a / b)", 1, "did you mean 'ceil'"),
    ("d'", 2, "no prime"),
    ("4,096", 2, "4096"),
    ("1e5", 1, "100000"),
    ("1_000", 1, "as 1000"),
    ("1.2.3", 1, "one point"),
    ("d_m = 3", 5, "where:"),
    ("a == b", 3, "where:"),
    ("d_m²", 4, "^2"),
    ("$d_m$", 1, "dollar"),
    (r"\frac{a}{b}", 1, "not TeX"),
    ("a\u200bb", 2, "U+200B"),
    ("__import__('os')", 12, "no prime"),
    ("a; b", 2, "';'"),
    ("a / 0", 3, "divided by 0"),
    ("a // (b - b)", 3, "divided by 0"),
    ("a % 0", 3, "divided by 0"),
    ("٣", 1, "digits 0 to 9"),
]


@pytest.mark.parametrize(("text", "column", "word"), REFUSED)
def test_refusals_name_the_column_and_what_to_write(text: str, column: int, word: str) -> None:
    with pytest.raises(DimError) as caught:
        parse(text)
    assert caught.value.column == column
    assert word in f"{caught.value.message} {caught.value.hint}"


HUGE = [
    "10**10**10",
    "10^10^10^10",
    "9" * 5000,
    "(a + b)^1000",
    "(a + b + c + d + e + f)^60",
    "a^65",
    "2^100000",
    "(2 a)^64 * (2 a)^64",
    "(" * 5000 + "a" + ")" * 5000,
    "min(" * 500 + "a" + ")" * 500,
    "^".join(["2"] * 3000),
    "a + " * 10_000 + "a",
    " * ".join(f"(x{i} + y{i})" for i in range(40)),
    " + ".join(f"x{i}" for i in range(2500)),
    "((a+b)^16 / (c+d)^16 + (e+f)^16 / (g+h)^16)^4",
]


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_formulas_that_would_explode_are_refused_at_once(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(DimError) as caught:
        parse(text)
    assert caught.value.column >= 1
    assert time.process_time() - begun < 8  # on a busy machine


def test_deep_nesting_by_operators_is_refused_too() -> None:
    def nest(dim: Dim, times: int) -> Dim:
        for i in range(times):
            dim = minimum(dim * 2 // 3, sym(f"b{i}"))
        return dim

    assert nest(sym("a"), 10).depth == 20
    with pytest.raises(DimError, match="inside one another"):
        nest(sym("a"), 100)


def test_many_signs_and_long_sums_are_no_recursion() -> None:
    assert parse("-" * 4000 + "a") == sym("a")
    assert parse("a" + " + a" * 4000) == 4001 * sym("a")


# -- values -------------------------------------------------------------------------------------


def test_evaluate_gives_the_number() -> None:
    bindings = {"d_m": 512, "n_h": 8, "h": 224, "k": 64, "d_s": 10}
    assert parse("d_m / n_h").evaluate(bindings) == 64
    assert parse("(h - 1) // 2 + 1").evaluate(bindings) == 112
    assert parse("min(k, d_s) + max(k, d_s)").evaluate(bindings) == 74
    assert parse("ceil(d_s / n_h)").evaluate(bindings) == 2
    assert parse("-h % k").evaluate(bindings) == -224 % 64
    assert parse("n_h (n_h + 1) / 2").evaluate(bindings) == 36


def test_evaluate_names_the_numbers_that_do_not_divide() -> None:
    with pytest.raises(DimError) as caught:
        parse("d_m / n_h").evaluate({"d_m": 100, "n_h": 8})
    assert "100 is not divisible by 8, remainder 4" in str(caught.value)
    assert "d_m = 100, n_h = 8" in str(caught.value)
    assert "96 and 104" in caught.value.hint


def test_evaluate_inside_a_minimum_is_exact_as_well() -> None:
    with pytest.raises(DimError, match="not divisible"):
        parse("min(d_m / n_h, 3)").evaluate({"d_m": 100, "n_h": 8})


def test_evaluate_says_which_name_has_no_value() -> None:
    with pytest.raises(DimError, match="d_K, n_h have no value"):
        parse("n_h d_K + 1").evaluate({"d_m": 4})
    with pytest.raises(DimError, match="divides by"):
        parse("a / (b - c)").evaluate({"a": 1, "b": 2, "c": 2})
    with pytest.raises(DimError, match="divides by"):
        parse("a % (b - c)").evaluate({"a": 1, "b": 2, "c": 2})


def test_divisions_are_recorded() -> None:
    def pairs(text: str) -> list[tuple[str, str]]:
        return [(str(a), str(b)) for a, b in parse(text).divisions]

    assert pairs("d_m / n_h + 1") == [("d_m", "n_h")]
    assert pairs("(a + b) / 2") == [("a + b", "2")]
    assert pairs("n_h (d_m / n_h)") == []
    assert pairs("(h - 1) // 2") == []
    assert pairs("a / b + c / d") == [("a", "b"), ("c", "d")]
    assert pairs("x / (a + b)") == [("x", "a + b")]


def test_subs_replaces_all_names_at_once() -> None:
    assert parse("a + 2 b").subs({"a": sym("b"), "b": sym("a")}) == parse("b + 2 a")
    assert parse("d_m / n_h").subs({"d_m": parse("n_h d_K")}) == sym("d_K")
    assert parse("min(k, d_s)").subs({"k": 3, "d_s": 7}) == const(3)
    assert parse("floor((h - 1) / s) + 1").subs({"h": 9, "s": 2}) == const(5)
    assert parse("x / (a + b)").subs({"x": parse("2 a + 2 b")}) == const(2)
    dim = parse("d_m + 1")
    assert dim.subs({"q": 1}) is dim


def test_numbers_names_and_python_operators() -> None:
    a, b = sym("a"), sym("b")
    assert 2 * a + a == 3 * a
    assert 1 - a == -(a - 1)
    assert a * b == b * a
    assert hash(a * b) == hash(b * a)
    assert (a + b) / 2 * 2 == a + b
    assert 6 / (3 * a) == 2 / a
    assert 7 // const(2) == const(3)
    assert 7 % const(4) == 3
    assert const(5) == 5
    assert hash(const(5)) == hash(5)
    assert const(5).as_int() == 5
    assert const(5).is_const
    assert a.as_int() is None
    assert not a.is_const
    assert (a / 2).free == {"a"}
    assert minimum(a, b).free == {"a", "b"}
    assert product([a, 2, b]) == 2 * a * b
    assert product([]) == 1
    assert maximum(3, a, 2) == maximum(a, 3)
    assert a != "a"
    with pytest.raises(TypeError):
        a + 0.5  # type: ignore[operator]
    with pytest.raises(TypeError):
        const(True)
    with pytest.raises(TypeError):
        Dim()
    with pytest.raises(DimError, match="not a name"):
        sym("2x")


def test_dims_travel_between_processes() -> None:
    for text in ("2 n_g d_K", "min(a, b) / 2", "x / (a + b)", "ceil(a / 3) + 1"):
        dim = parse(text)
        hash(dim)
        assert pickle.loads(pickle.dumps(dim)) == dim
        assert copy.deepcopy(dim) == dim
    error = pickle.loads(pickle.dumps(DimError("no", 3, "yes")))
    assert (error.message, error.column, error.hint) == ("no", 3, "yes")


def test_text_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from transformer_diagrams.dims import *\n"
        "f = Facts({'d_K': parse('d_m/n_h')}, [parse_condition('a + b == c + d')])\n"
        "print(parse('min(zeta, b, ceil(a/n), x % y) (b + a + c) + a // q + d / (s + t)'),\n"
        "      f.reduce(parse('a + b + c + d + d_K')), f.explain(parse('a'), parse('d')))\n"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(p for p in sys.path if p)},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(seen) == 1


# -- conditions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown", "tex"),
    [
        ("n_g | n_h", "n_g | n_h", r"n_g \mid n_h"),
        ("n_h % n_g == 0", "n_g | n_h", r"n_g \mid n_h"),
        ("0 == d_R % 2", "2 | d_R", r"2 \mid d_R"),
        ("d_K == d_V", "d_K == d_V", "d_K = d_V"),
        ("k <= d_s", "k <= d_s", r"k \leq d_s"),
        ("k ≤ d_s", "k <= d_s", r"k \leq d_s"),
        ("a + b > 2 c", "a + b > 2 c", r"a + b > 2\, c"),
        ("a != b", "a != b", r"a \neq b"),
        ("d_m % n_h == 1", "d_m % n_h == 1", r"d_m \bmod n_h = 1"),
    ],
)
def test_conditions_are_read_and_shown(text: str, shown: str, tex: str) -> None:
    condition = parse_condition(text)
    assert str(condition) == shown
    assert condition.tex() == tex
    assert parse_condition(shown) == condition


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("n_h % n_g", 10, "n_g | n_h"),
        ("a = b", 3, "write =="),
        ("1 <= k <= d_s", 8, "two conditions"),
        ("a || b", 3, "one condition"),
        ("a <", 4, "ends where"),
        ("a & b", 3, "apart"),
        ("", 1, "empty"),
        ("a) == b", 2, "closes nothing"),
    ],
)
def test_conditions_that_are_refused(text: str, column: int, word: str) -> None:
    with pytest.raises(DimError) as caught:
        parse_condition(text)
    assert caught.value.column == column
    assert word in f"{caught.value.message} {caught.value.hint}"


def test_conditions_in_numbers() -> None:
    assert parse_condition("n_g | n_h").evaluate({"n_g": 8, "n_h": 32})
    assert not parse_condition("n_g | n_h").evaluate({"n_g": 6, "n_h": 32})
    assert parse_condition("n_g | n_h").evaluate({"n_g": 0, "n_h": 0})  # 0 = 0 times anything
    assert not parse_condition("n_g | n_h").evaluate({"n_g": 0, "n_h": 32})
    assert parse_condition("a != b").evaluate({"a": 1, "b": 2})
    assert parse_condition("a < b").evaluate({"a": 1, "b": 2})
    assert not parse_condition("a >= b").evaluate({"a": 1, "b": 2})
    failed = parse_condition("d_m == n_h d_K").failure({"d_m": 1024, "n_h": 16, "d_K": 128})
    assert failed == "1024 != 2048"
    assert parse_condition("a | b").free == {"a", "b"}
    assert parse_condition("a | b").subs({"a": 2}) == Condition("|", const(2), sym("b"))


# -- facts --------------------------------------------------------------------------------------

ATTENTION = Facts(
    {"d_K": parse("d_m / n_h"), "d_q": parse("d_K / 2")},
    [parse_condition(t) for t in ("n_g | n_h", "d_K == d_V", "k <= d_s", "d_R % 2 == 0")],
)

EQUAL = [
    ("n_h d_K", "d_m", YES),
    ("n_h d_V", "d_m", YES),
    ("2 d_q", "d_V", YES),
    ("n_h // n_g * n_g", "n_h", YES),
    ("n_h % n_g", "0", YES),
    ("min(k, d_s)", "k", YES),
    ("max(k, d_s)", "d_s", YES),
    ("d_m", "n_h d_R", UNKNOWN),
    ("d_m", "n_h d_m", UNKNOWN),  # equal when n_h is 1
    ("a", "b", UNKNOWN),
    ("d_m", "2 d_m", NO),
    ("d_m", "d_m + d_R", NO),
    ("2 a", "2 b + 1", NO),
    ("768", "512", NO),
    ("a b + a", "a b", NO),
    ("n_h d_K", "d_m + 1", NO),
    ("d_R % 2", "1", NO),
    ("ceil(h / 2)", "(h + 1) // 2", YES),
    ("(h - 1) // 2 + 1", "ceil(h / 2)", YES),
    ("(h - 1) // s + 1", "ceil(h / s)", YES),
    ("(h + s - 1) // s", "ceil(h / s)", YES),
    ("3 h // 2", "h + h // 2", YES),
    ("a // b * b + a % b", "a", YES),
    ("a % 2", "2", NO),
    ("h // 2", "h", NO),
]


@pytest.mark.parametrize(("a", "b", "answer"), EQUAL)
def test_equality_modulo_the_facts(a: str, b: str, answer: Verdict) -> None:
    assert ATTENTION.equal(parse(a), parse(b)) is answer
    assert ATTENTION.equal(parse(b), parse(a)) is answer


DIVIDES = [
    ("n_g", "n_h", YES),
    ("n_h", "d_m", YES),  # from the definition of d_K
    ("n_g", "d_m", YES),  # both in a row
    ("2 n_h", "d_m", YES),  # d_q is whole
    ("2", "d_R", YES),
    ("4", "2 d_R", YES),
    ("2", "d_R + 2 a", YES),
    ("2", "d_R + 1", UNKNOWN),
    ("n_g", "n_h + 3 n_g", YES),
    ("n_h", "n_g", UNKNOWN),  # when both are equal
    ("3", "d_R", UNKNOWN),
    ("8", "100", NO),
    ("4", "12", YES),
    ("2", "2 a + 1", NO),
    ("2 a", "a", NO),
    ("a", "a b + a", YES),
    ("a + b", "a^2 - b^2", YES),
    ("a", "0", YES),
    ("0", "a", NO),
    ("0", "0", YES),
    ("d_s + k", "k", NO),
]


@pytest.mark.parametrize(("a", "b", "answer"), DIVIDES)
def test_divisibility(a: str, b: str, answer: Verdict) -> None:
    assert ATTENTION.divides(parse(a), parse(b)) is answer


LE = [
    ("k", "d_s", YES),
    ("n k", "n d_s", YES),
    ("k", "n d_s", YES),
    ("d_s + 1", "k", NO),
    ("d_s", "k", UNKNOWN),
    ("d", "n d", YES),
    ("d", "d", YES),
    ("d + 1", "d", NO),
    ("a", "b", UNKNOWN),
    ("n_g", "n_h", YES),  # a divisor is not greater
    ("min(a, b)", "a", YES),
    ("a", "max(a, b)", YES),
    ("min(a, b)", "max(a, b)", YES),
    ("max(a, b)", "a + b", YES),
    ("max(a, b)", "a", UNKNOWN),
    ("h // 2", "h", YES),
    ("ceil(h / 2)", "h", YES),
    ("a % 4", "3", YES),
    ("4", "a % 4", NO),
    ("2 (h // 2)", "h", YES),
    ("h", "2 ceil(h / 2)", YES),
    ("1", "a", YES),
    ("a", "0", NO),
]


@pytest.mark.parametrize(("a", "b", "answer"), LE)
def test_comparison(a: str, b: str, answer: Verdict) -> None:
    assert ATTENTION.le(parse(a), parse(b)) is answer


def test_check_answers_for_every_comparison() -> None:
    for text, answer in [
        ("n_h d_K == d_m", YES), ("a != a + 1", YES), ("a != b", UNKNOWN), ("k <= d_s", YES),
        ("d_s >= k", YES), ("k < d_s + 1", YES), ("d_s + 1 > k", YES), ("d_s < k", NO),
        ("n_g | d_m", YES), ("2 a | a", NO), ("a > 0", YES), ("k > d_s", NO),
    ]:
        assert ATTENTION.check(parse_condition(text)) is answer, text


def test_an_answer_is_no_truth_value() -> None:
    with pytest.raises(TypeError):
        bool(ATTENTION.equal(sym("a"), sym("b")))


def test_reduce_writes_in_independent_names() -> None:
    assert ATTENTION.reduce(parse("n_h d_V + 1")) == parse("d_m + 1")
    assert ATTENTION.reduce(parse("n_h // n_g")) == parse("n_h / n_g")
    assert Facts().reduce(parse("a + b")) == parse("a + b")
    solved = Facts(conditions=[parse_condition("a b == 2 c d")])
    assert solved.equal(parse("a b e"), parse("2 c d e")) is YES
    unsolved = Facts(conditions=[parse_condition("a^2 == b^2 + c^2")])
    assert unsolved.equal(parse("3 a^2"), parse("3 b^2 + 3 c^2")) is YES


def test_two_divisors_make_a_common_multiple() -> None:
    facts = Facts(conditions=[parse_condition("4 | n"), parse_condition("6 | n")])
    assert facts.divides(const(12), sym("n")) is YES
    assert facts.divides(const(24), sym("n")) is UNKNOWN


def test_unequal_sizes_are_a_fact() -> None:
    facts = Facts(conditions=[parse_condition("a != b")])
    assert facts.equal(parse("2 a"), parse("2 b")) is NO
    assert Facts(conditions=[parse_condition("a < b")]).equal(sym("a"), sym("b")) is NO


def test_with_extends_and_leaves_the_old_facts_alone() -> None:
    base = Facts({"d_K": parse("d_m / n_h")})
    more = base.with_(definitions={"d_m": parse("4 w")}, conditions=[parse_condition("n_h == w")])
    assert base.equal(sym("d_K"), const(4)) is UNKNOWN
    assert more.equal(sym("d_K"), const(4)) is YES
    assert base.with_() is base
    assert dict(more.definitions) == {"d_K": parse("d_m / n_h"), "d_m": parse("4 w")}
    assert [str(c) for c in more.conditions] == ["n_h == w"]


def test_definitions_in_a_circle_and_contradictions_are_refused() -> None:
    with pytest.raises(DimError, match="a -> b -> a"):
        Facts({"a": parse("b + 1"), "b": parse("a - 1")})
    with pytest.raises(DimError, match="in a circle: a -> a"):
        Facts({"a": parse("a + 1")})
    with pytest.raises(DimError, match="contradicts"):
        Facts({"a": const(3)}).with_({"a": const(4)})
    chain = {f"x{i}": parse(f"x{i + 1} + 1") for i in range(3000)}
    assert Facts(dict(list(chain.items())[:200])).equal(sym("x0"), parse("x200 + 200")) is YES


def test_holds_works_out_what_is_defined() -> None:
    bindings = {"d_m": 512, "n_h": 8, "n_g": 2}
    assert ATTENTION.holds(parse_condition("d_K == 64"), bindings)
    assert ATTENTION.holds(parse_condition("n_g | n_h"), bindings)
    with pytest.raises(DimError, match="no value"):
        ATTENTION.holds(parse_condition("k <= d_s"), bindings)


def test_explain_says_what_would_have_to_hold() -> None:
    facts = Facts()
    assert facts.explain(parse("d_m"), parse("n_h d_K")) == "d_m = n_h d_K would have to hold"
    assert facts.explain(parse("n_h d_K"), parse("d_m")) == "d_m = n_h d_K would have to hold"
    assert facts.explain(parse("d_m / n_h"), parse("d_K")) == "d_m = n_h d_K would have to hold"
    assert facts.explain(parse("2 a + c"), parse("2 b + c")) == "a = b would have to hold"
    assert facts.explain(const(768), const(512)) == "768 and 512 differ"
    assert "can never hold" in facts.explain(sym("a"), parse("a + 1"))
    assert facts.explain(sym("a"), sym("a")) == "a and a are equal"


# -- hints --------------------------------------------------------------------------------------


def test_nearest_good_values() -> None:
    assert nearest_multiples(100, 8) == (96, 104)
    assert nearest_multiples(96, 8) == (96, 96)
    assert nearest_divisors(7, 512) == (4, 8)
    assert nearest_divisors(8, 512) == (8, 8)
    assert nearest_divisors(600, 512) == (512, None)
    assert nearest_divisors(0, 512) == (None, 1)
    assert nearest_divisors(3, 0) == (None, None)


def test_many_shapes_are_read_and_compared_quickly() -> None:
    facts = Facts({"d_K": parse("d_m / n_h")})
    begun = time.process_time()
    for _ in range(20_000):
        a, b = parse("n_h d_K"), parse("d_m")
        assert facts.equal(a, b) is YES
        assert facts.equal(parse("d_t"), parse("d_t")) is YES
    assert time.process_time() - begun < 8  # on a busy machine


# -- strides --------------------------------------------------------------------------------------

# (conditions, a formula, what it is then, and how it is printed)
STRIDES = [
    (["32 | H"], "floor((H - 4)/8) + 1", "H/8", "H / 8"),
    (["32 | H"], "floor((H + 6 - 7)/2) + 1", "H/2", "H / 2"),
    (["32 | H"], "floor((floor((H - 1)/2) + 1 - 1)/2) + 1", "H/4", "H / 4"),
    (["32 P | H"], "floor((H - 4)/8) + 1", "H/8", "H / 8"),
    (["n | a"], "floor((a + r)/n)", "a/n + floor(r/n)", "a / n + floor(r / n)"),
    (["n | a"], "floor((a - r)/n)", "a/n + floor(-r/n)", "a / n + floor(-r / n)"),
    (["n | a"], "ceil((a + r)/n)", "a/n + ceil(r/n)", "a / n + ceil(r / n)"),
    (["n | a"], "(a + r) % n", "r % n", "r % n"),
    (["n | a", "r < n"], "floor((a + r)/n)", "a/n", "a / n"),
    (["m n | a"], "floor((a k + r)/n)", "a k/n + floor(r/n)", "a k / n + floor(r / n)"),
    (["n | a + b"], "floor((a + b + r)/n)", "(a + b)/n + floor(r/n)", "(a + b) / n + floor(r / n)"),
    (["n + 1 | a"], "floor(a/(n + 1))", "a/(n + 1)", "a / (n + 1)"),
    (["P | H"], "floor((H - P)/P) + 1", "H/P", "H / P"),
    (["P | H", "P | W"], "floor(H/P) floor(W/P)", "H W/P^2", "H W / P^2"),
]


@pytest.mark.parametrize(("conditions", "text", "wanted", "shown"), STRIDES)
def test_a_stated_division_proves_a_stride(
    conditions: list[str], text: str, wanted: str, shown: str
) -> None:
    facts = Facts(conditions=map(parse_condition, conditions))
    assert facts.equal(parse(text), parse(wanted)) is Verdict.YES
    assert str(facts.reduce(parse(text))) == shown
    assert Facts().equal(parse(text), parse(wanted)) is not Verdict.NO
    rng, tried = random.Random(text), 0
    names = sorted(parse(text).free | {n for c in conditions for n in parse_condition(c).free})
    while tried < 40:
        numbers = {name: rng.randint(1, 12) * rng.choice([1, 1, 8, 32]) for name in names}
        if all(Facts().holds(parse_condition(c), numbers) for c in conditions):
            tried += 1
            value = parse(text).evaluate(numbers)
            assert value == parse(wanted).evaluate(numbers)
            assert value == facts.reduce(parse(text)).evaluate(numbers)


@pytest.mark.parametrize(
    ("conditions", "a", "b"),
    [
        (["4 | H"], "floor((H - 4)/8) + 1", "H/8"),  # H = 4
        (["n | a"], "floor((a + r)/n)", "a/n"),
        (["n | a + b"], "floor((a + r)/n)", "a/n + floor(r/n)"),
        (["n | a"], "floor((a + r)/(2 n))", "a/(2 n) + floor(r/(2 n))"),
    ],
)
def test_what_no_division_proves_stays_open(conditions: list[str], a: str, b: str) -> None:
    facts = Facts(conditions=map(parse_condition, conditions))
    assert facts.equal(parse(a), parse(b)) is not Verdict.YES
