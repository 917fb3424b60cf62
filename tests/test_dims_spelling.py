"""Formulas as their author would write them: equal, in the author's names and order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_diagrams.dims import (
    Dim,
    DimError,
    Facts,
    Speller,
    minimum,
    parse,
    parse_condition,
    spelt_by,
    sym,
)

NAMES = ("d_t", "d_m", "n_h", "H", "W", "P", "G", "N", "d_i", "a", "b")
DEFINED = {"d_K": parse("d_m / n_h"), "d_q": parse("a + b"), "d_in": parse("2 d_i + G N")}
FACTS = Facts({}, [parse_condition("P | H"), parse_condition("P | W")])


def speller(*written: str) -> Speller:
    return Speller(
        (*NAMES, *DEFINED),
        definitions=DEFINED,
        written=lambda: [(text, parse(text), {}) for text in written],
        facts=lambda: FACTS,
    )


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("d_m / n_h", "d_K"),
        ("d_t d_m / n_h", "d_t d_K"),
        ("2 d_m^2 / n_h^2 + n_h", "2 d_K^2 + n_h"),
        ("d_m / n_h^2", "d_K / n_h"),
        ("n_h d_K", "n_h d_K"),
        ("a + b", "d_q"),
        ("a n_h + b n_h", "n_h d_q"),
        ("a + b + 1", "d_q + 1"),
        ("a + 2 b", "a + 2 b"),
        ("2 d_i + G N", "d_in"),
        ("floor((d_m / n_h + 1) / 2)", "floor((d_K + 1) / 2)"),
        ("min(N, a + b)", "min(N, d_q)"),
        ("floor(H / P)", "H / P"),
        ("H W / P^2", "(H / P) (W / P)"),
        ("H^2 / P^2", "(H / P)^2"),
        ("3 H^2 W / P^3", "3 (H / P)^2 (W / P)"),
        ("3 d_m H W / P^2 + 1", "3 d_m (H / P) (W / P) + 1"),
        ("H d_t / P", "d_t H / P"),
        ("N G d_i d_m", "d_m G N d_i"),
        ("8", "8"),
    ],
)
def test_declared_names_and_whole_fractions_stand_for_what_they_are(
    formula: str, shown: str
) -> None:
    assert speller().text(parse(formula)) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2*d_i + 2*G*N + n_h", "2 d_i + 2 G N + n_h"),
        ("(H/P)(W/P) + 1", "(H / P) (W / P) + 1"),
        ("b - (a - N)", "b - (a - N)"),
        ("-a + b", "-a + b"),
        ("a - -b", "a + b"),
        ("(N + 1)//2", "floor((N + 1) / 2)"),
        ("min(N, d_t)", "min(N, d_t)"),
        ("3.5 d_m", "3.5 d_m"),
        ("(a + N)^2 d_m", "(a + N)^2 d_m"),
        ("2 (G + 1) (N + 1)", "2 (G + 1) (N + 1)"),
        ("d_m * 2 + 1", "2 d_m + 1"),
        ("1/2 d_m + N", "d_m / 2 + N"),
    ],
)
def test_a_formula_of_the_spec_is_printed_as_it_stands_there(written: str, shown: str) -> None:
    plain = Speller(NAMES, written=lambda: [(written, parse(written), {})])
    assert plain.text(parse(written)) == shown
    assert parse(shown) == parse(written)


def test_defaults_name_fractions_only_where_they_are_said_to_hold() -> None:
    proposed = {"d_K": parse("d_m / n_h"), "d_h": parse("4 d_m")}
    strict = Speller(("d_m", "n_h", "d_K", "d_h"))
    assert strict.text(parse("d_m / n_h")) == "d_m / n_h"
    loose = strict.with_defaults(proposed)
    assert loose.text(parse("d_m / n_h")) == "d_K"
    assert loose.text(parse("4 d_m")) == "4 d_m"  # four times the width need not be that size


def test_messages_inside_are_spelt_and_the_canonical_form_stays() -> None:
    size = parse("d_m / n_h")
    with spelt_by(speller()):
        assert str(size) == "d_K"
        assert size.tex() == "d_K"
        assert repr(size) == "Dim('d_m / n_h')"
        # What is sorted by text is sorted the same, whoever speaks.
        inside = minimum(sym("b"), size)
    assert inside == minimum(size, sym("b"))
    assert str(size) == "d_m / n_h"


def test_a_spelt_formula_is_equal_and_keeps_its_text() -> None:
    spelt = speller().spelt(parse("d_m / n_h"))
    assert spelt == parse("d_m / n_h")
    assert hash(spelt) == hash(parse("d_m / n_h"))
    assert (str(spelt), spelt.tex()) == ("d_K", "d_K")
    assert str(spelt * 2) == "2 d_m / n_h"  # what is computed from it is new
    assert spelt.spelt(Speller()).tex() == "d_m / n_h"


def test_relations_are_shown_as_written() -> None:
    assert speller().as_written("n_h | d_m") == r"n_h \mid d_m"
    assert speller().as_written("b + a <= d_m / n_h") == r"b + a \leq d_m / n_h"


formulas = st.recursive(
    st.one_of(st.sampled_from(NAMES), st.integers(1, 9).map(str)),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", " - ", " * ", " / ", " // ", " % "]), inner).map(
            lambda t: f"({t[0]}){t[1]}({t[2]})"
        ),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
        inner.map(lambda t: f"-({t})"),
        inner.map(lambda t: f"({t})^2"),
    ),
    max_leaves=7,
)


def reduced(d: Dim) -> Dim:
    return Facts(DEFINED, FACTS.conditions).reduce(d)


@given(formulas, st.booleans())
def test_what_is_printed_parses_back_to_an_equal_size(text: str, as_written: bool) -> None:
    try:
        size = parse(text)
        shown = speller(*[text] * as_written).text(size)
        assert reduced(parse(shown)) == reduced(size), shown
    except DimError:
        return  # a division by zero, or too large: nothing to print


def test_many_declared_sizes_cost_no_more_than_each_its_own_lookup() -> None:
    names = [f"n{i}" for i in range(3000)]
    defined = {f"d{i}": parse(f"d_m / n{i}") for i in range(3000)}
    sums = {f"s{i}": parse(f"d_m + n{i}") for i in range(3000)}
    asked = 0

    class Counting(dict[str, list[tuple[Dim, Dim]]]):
        def get(self, key: str, default: object = None) -> object:  # type: ignore[override]
            nonlocal asked
            found = super().get(key, default)
            asked += len(found)  # type: ignore[arg-type]
            return found

    many = Speller(("d_m", *names, *defined), definitions={**defined, **sums})
    many._sums, many._fractions = Counting(many._sums), Counting(many._fractions)
    for i in range(0, 3000, 10):
        assert many.text(parse(f"2 d_m / n{i}")) == f"2 d{i}"
        assert many.text(parse(f"d_m + n{i} + 1")) == f"s{i} + 1"
    assert asked <= 4 * 600
