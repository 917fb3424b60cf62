"""Laws that hold for every formula, tried on random ones against plain rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from transformer_diagrams.dims import (
    Dim,
    DimError,
    Facts,
    Verdict,
    ceil_of,
    const,
    floor_of,
    maximum,
    minimum,
    parse,
    parse_condition,
    sym,
)

NAMES = ("a", "b", "n_h", "d_m")
bindings = st.fixed_dictionaries({name: st.integers(1, 12) for name in NAMES})

# A formula is first a tree, so that its value can be worked out without the algebra.
Tree = Any
leaves = st.one_of(st.sampled_from(NAMES), st.integers(0, 9))


def _deeper(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    two = st.sampled_from(["+", "-", "*", "/", "//", "%", "min", "max"])
    return st.one_of(
        st.tuples(two, inner, inner),
        st.tuples(st.sampled_from(["floor", "ceil", "neg"]), inner),
        st.tuples(st.just("^"), inner, st.integers(0, 3)),
    )


trees = st.recursive(leaves, _deeper, max_leaves=7)
smooth = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner),
    max_leaves=7,
)


class Undefined(Exception):
    """A division by zero, or one that should have been exact and is not."""


def value_of(tree: Tree, values: dict[str, int]) -> Fraction:
    """What the tree is worth: exact divisions inside floor and ceil may leave a remainder."""
    if isinstance(tree, str):
        return Fraction(values[tree])
    if isinstance(tree, int):
        return Fraction(tree)
    op, *args = tree
    if op == "^":
        return value_of(args[0], values) ** int(args[1])
    x = [value_of(arg, values) for arg in args]
    if op in ("min", "max", "%", "//") and any(v.denominator != 1 for v in x):
        raise Undefined
    if op in ("/", "//", "%") and x[1] == 0:
        raise Undefined
    if op == "/":
        return x[0] / x[1]
    if op == "neg":
        return -x[0]
    if op in ("floor", "ceil"):
        return Fraction(math.floor(x[0]) if op == "floor" else math.ceil(x[0]))
    if op == "//":
        return Fraction(x[0] // x[1])
    if op == "%":
        return x[0] % x[1]
    if op in ("min", "max"):
        return min(x) if op == "min" else max(x)
    return {"+": x[0] + x[1], "-": x[0] - x[1], "*": x[0] * x[1]}[op]


def strict_value(tree: Tree, values: dict[str, int]) -> int:
    """As `value_of`, with every division exact outside rounding; Undefined otherwise."""
    for part in _exact_parts(tree):
        if value_of(part, values).denominator != 1:
            raise Undefined
    return int(value_of(tree, values))


def _exact_parts(tree: Tree) -> list[Tree]:
    found: list[Tree] = [tree]
    if isinstance(tree, tuple) and tree[0] not in ("floor", "ceil"):
        for arg in tree[1:]:
            found += _exact_parts(arg)
    elif isinstance(tree, tuple) and isinstance(tree[1], tuple) and tree[1][0] == "/":
        # floor(p / q): p and q are whole numbers themselves
        for arg in tree[1][1:]:
            found += _exact_parts(arg)
    elif isinstance(tree, tuple):
        found += _exact_parts(tree[1])
    return found


def build(tree: Tree) -> Dim:
    if isinstance(tree, str):
        return sym(tree)
    if isinstance(tree, int):
        return const(tree)
    op, *args = tree
    if op == "^":
        return build(args[0]) ** args[1]
    x = [build(arg) for arg in args]
    if op in ("floor", "ceil"):
        return floor_of(x[0]) if op == "floor" else ceil_of(x[0])
    if op in ("min", "max"):
        return minimum(*x) if op == "min" else maximum(*x)
    if op == "neg":
        return -x[0]
    if op == "+":
        return x[0] + x[1]
    if op == "-":
        return x[0] - x[1]
    if op == "*":
        return x[0] * x[1]
    if op == "/":
        return x[0] / x[1]
    return x[0] // x[1] if op == "//" else x[0] % x[1]


def write(tree: Tree) -> str:
    if isinstance(tree, str | int):
        return str(tree)
    op, *args = tree
    if op == "neg":
        return f"(-{write(args[0])})"
    if op == "^":
        return f"({write(args[0])})^{args[1]}"
    if op in ("min", "max", "floor", "ceil"):
        return f"{op}({', '.join(write(arg) for arg in args)})"
    return f"({write(args[0])} {op} {write(args[1])})"


def built(tree: Tree) -> Dim:
    try:
        return build(tree)
    except DimError:  # divided by 0, or too large
        assume(False)
        raise


@given(trees, bindings)
def test_the_simplified_formula_keeps_its_value(tree: Tree, values: dict[str, int]) -> None:
    dim = built(tree)
    try:
        expected = strict_value(tree, values)
    except Undefined:
        assume(False)
        return
    assert dim.evaluate(values) == expected


@given(trees)
def test_printing_then_parsing_is_the_identity(tree: Tree) -> None:
    dim = built(tree)
    again = parse(str(dim))
    assert again == dim
    assert hash(again) == hash(dim)
    assert str(again) == str(dim)


@given(trees)
def test_text_and_operators_agree(tree: Tree) -> None:
    dim = built(tree)
    assert parse(write(tree)) == dim


@given(trees, bindings)
def test_reducing_without_facts_keeps_the_value_and_is_done_at_once(
    tree: Tree, values: dict[str, int]
) -> None:
    dim = built(tree)
    try:
        reduced = Facts().reduce(dim)
    except DimError:
        assume(False)
        return
    assert Facts().reduce(reduced) == reduced
    try:
        expected = strict_value(tree, values)
    except Undefined:
        assume(False)
        return
    assert reduced.evaluate(values) == expected


@given(trees, trees)
def test_sums_products_and_extremes_commute(s: Tree, t: Tree) -> None:
    x, y = built(s), built(t)
    try:
        assert x + y == y + x
        assert x * y == y * x
        assert minimum(x, y) == minimum(y, x)
        assert maximum(x, y) == maximum(y, x)
        assert (x + y) - y == x
        assert x - x == 0
    except DimError:
        assume(False)


@given(smooth, smooth, smooth)
def test_ring_laws(s: Tree, t: Tree, u: Tree) -> None:
    x, y, z = built(s), built(t), built(u)
    assert (x + y) + z == x + (y + z)
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    if y != 0:
        assert (x / y) * y == x
        assert (x * y) / y == x
        assert (x * y) // y == x
        assert (x * y) % y == 0
    if y != 0 and z != 0:
        assert (x * z) / (y * z) == x / y
        assert x / y + z / y == (x + z) / y
        assert x / y + z / (y * z) == (x * z + z) / (y * z)


@given(trees, bindings)
def test_putting_numbers_in_is_evaluating(tree: Tree, values: dict[str, int]) -> None:
    dim = built(tree)
    try:
        expected = strict_value(tree, values)
    except Undefined:
        assume(False)
        return
    assert dim.subs(values).as_int() == expected


FACTS = Facts(
    {"d_K": parse("d_m / n_h")},
    [parse_condition("b | a"), parse_condition("k <= a"), parse_condition("2 | d_R")],
)
FACT_NAMES = ("a", "b", "k", "n_h", "d_m", "d_K", "d_R")
fact_trees = st.recursive(
    st.one_of(st.sampled_from(FACT_NAMES), st.integers(0, 4)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "//", "%", "min", "max"]), inner, inner),
        st.tuples(st.just("ceil"), st.tuples(st.just("/"), inner, inner)),
    ),
    max_leaves=5,
)


@st.composite
def models(draw: st.DrawFn) -> dict[str, int]:
    """Numbers that satisfy FACTS."""
    b = draw(st.integers(1, 5))
    a = b * draw(st.integers(1, 5))
    n_h, d_k = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    return {
        "a": a, "b": b, "k": draw(st.integers(1, a)), "n_h": n_h, "d_m": n_h * d_k,
        "d_K": d_k, "d_R": 2 * draw(st.integers(1, 5)),
    }


def _numbers(s: Tree, t: Tree, model: dict[str, int]) -> tuple[int, int] | None:
    try:
        return strict_value(s, model), strict_value(t, model)
    except Undefined:
        return None


@given(fact_trees, fact_trees, st.lists(models(), min_size=3, max_size=3))
def test_no_answer_is_contradicted_by_numbers(
    s: Tree, t: Tree, several: list[dict[str, int]]
) -> None:
    x, y = built(s), built(t)
    try:
        equal, less, divides = FACTS.equal(x, y), FACTS.le(x, y), FACTS.divides(x, y)
    except DimError:
        assume(False)
        return
    for model in several:
        found = _numbers(s, t, model)
        if found is None:
            continue
        p, q = found
        assert equal is not Verdict.YES or p == q
        assert equal is not Verdict.NO or p != q
        assert less is not Verdict.YES or p <= q
        assert less is not Verdict.NO or p > q
        whole = q == 0 if p == 0 else q % p == 0
        assert divides is not Verdict.YES or whole
        assert divides is not Verdict.NO or not whole


@given(fact_trees, models())
def test_reducing_keeps_the_value_where_the_facts_hold(tree: Tree, model: dict[str, int]) -> None:
    dim = built(tree)
    try:
        expected = strict_value(tree, model)
    except Undefined:
        assume(False)
        return
    reduced = FACTS.reduce(dim)
    assert reduced.evaluate(model) == expected
    assert FACTS.equal(dim, reduced) is Verdict.YES


@given(st.text(alphabet="ab_2 3.+-*/%^()|<=>,!minfloorce×−²'$\\\t", max_size=30))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for read in (parse, parse_condition):
        refusal = None
        try:
            read(text)
        except DimError as error:
            refusal = error
        assert refusal is None or (refusal.message and 1 <= refusal.column <= len(text) + 1)
