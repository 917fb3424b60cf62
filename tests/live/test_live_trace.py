"""The tracer: shapes, operators, and clear refusals; each operation against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from transformer_diagrams.live import words
from transformer_diagrams.live.evaluate import Evaluator, assignment, dependencies
from transformer_diagrams.live.numbers import coordinate, fixed
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import (
    Array,
    Tape,
    TraceError,
    assign,
    entropy,
    matmul,
    maximum,
    minimum,
    softmax,
    stack,
    where,
)

RNG = np.random.default_rng(5)
A, B, C = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(3, 1)), RNG.uniform(0.5, 2, size=(4,))


def value(array: Array, **params: float) -> np.ndarray:
    evaluator = Evaluator(array.tape.nodes)
    evaluator.set(params)
    return evaluator.value(array.index)


def test_operations_follow_numpy() -> None:
    t = Tape()
    a, b, c = t.const(A), t.const(B), t.const(C)
    pairs: list[tuple[Array, Any]] = [
        (a + b, A + B), (a - c, A - C), (a * b * c, A * B * C), (a / c, A / C), (c**2, C**2),
        (2**c, 2**C), (1 - a, 1 - A), (3 / c, 3 / C), (-a, -A), (a.abs(), abs(A)),
        (a.floor(), np.floor(A)), (c.log(), np.log(C)), (c.sqrt(), np.sqrt(C)),
        (a.exp(), np.exp(A)), (a.sin(), np.sin(A)), (a.cos(), np.cos(A)),
        (minimum(a, b), np.minimum(A, B)), (maximum(a, 0.1), np.maximum(A, 0.1)),
        (a < b, A < B), (a <= a, A <= A), (a > b, A > B), (a >= 0, A >= 0),
        (a.equals(a), A == A), (where(a > 0, a, b), np.where(A > 0, A, B)),
        (a.sum(), A.sum(-1)), (a.sum(axis=0), A.sum(0)), (a.max(axis=1, keep=True),
         A.max(1, keepdims=True)), (a.min(), A.min(-1)), (a.argmax(axis=1), A.argmax(1)),
        (a.mean(axis=1), A.mean(1)), (a.reshape(4, -1),
         A.reshape(4, -1)), (a.flat(), A.ravel()), (a.T, A.T), (a.transpose(1, 0, 2),
         A.transpose(1, 0, 2)), (a.take([1, 0, 1]), A[[1, 0, 1]]), (a[-1], A[-1]),
        (a.cumsum(), A.cumsum(-1)), (stack([c, c * 2]), np.stack([C, C * 2])),
        (t.iota(4, 1, 0.5), 1 + 0.5 * np.arange(4)), (b.over(2, 3, 4), B + np.zeros((2, 3, 4))),
        (matmul(a, a.transpose(0, 2, 1)), A @ A.transpose(0, 2, 1)), (C * a, C * A),
    ]  # fmt: skip
    for array, wanted in pairs:
        assert array.shape == np.shape(wanted), array
        assert value(array) == pytest.approx(np.asarray(wanted, dtype=float), abs=1e-14), array
    assert value(softmax(a)).sum(axis=-1) == pytest.approx(np.ones((2, 3)), abs=1e-14)
    masked = value(softmax(a, t.iota(4) < 2))
    assert (masked[..., 2:] == 0).all()
    assert value(entropy(t.const([1.0, 0.0]))) == 0
    assert value(assign(t.const([[4.0, 1, 3], [2, 0, 5]]))).tolist() == [1, 0]


def test_the_assignment_is_the_best_on_random_costs() -> None:
    from scipy.optimize import linear_sum_assignment

    for _ in range(300):
        n = int(RNG.integers(1, 6))
        cost = RNG.normal(size=(n, n + int(RNG.integers(0, 5))))
        rows, columns = linear_sum_assignment(cost)
        assert assignment(cost.tolist()) == columns[rows].tolist()
    with pytest.raises(ValueError, match="3 rows"):
        assign(Tape().const(np.ones((3, 2))))


@pytest.mark.parametrize(
    "use",
    [bool, len, float, int, list, np.asarray, lambda a: [1, 2][a], lambda a: a and 1,
     lambda a: np.sin(a) if False else math.sin(a)],
)  # fmt: skip
def test_a_traced_value_cannot_be_a_number(use: Any) -> None:
    array = Tape().param("x")
    with pytest.raises(TraceError, match=r"where\(condition, yes, no\)"):
        use(array)


def test_shapes_are_checked_while_tracing() -> None:
    t = Tape()
    a = t.const(A)
    for bad in (
        lambda: a + t.const([1.0, 2]), lambda: a.reshape(5, -1), lambda: a.sum(axis=3),
        lambda: matmul(a, a), lambda: a.transpose(0, 1), lambda: stack([a, a[0]]),
        lambda: t.const([]), lambda: t.const([[1.0], [1.0, 2.0]]), lambda: t.const(math.nan),
    ):  # fmt: skip
        with pytest.raises(ValueError):  # noqa: PT011
            bad()
    with pytest.raises(IndexError):
        a[2]


def test_equal_operations_are_recorded_once_and_know_their_sliders() -> None:
    t = Tape()
    x, y = t.param("x"), t.param("y")
    assert (x + y).index == (x + y).index
    total = (x + 1) * (y + 1) + (x + 1)
    found = dependencies(t.nodes)
    assert found[total.index] == {"x", "y"}
    assert found[(x + 1).index] == {"x"}


def test_only_what_depends_on_a_moved_slider_is_done_again() -> None:
    t = Tape()
    x, y = t.param("x"), t.param("y")
    heavy = t.normals(0, (1000,), 1) * y
    light = heavy.sum() + x
    evaluator = Evaluator(t.nodes)
    evaluator.set({"x": 1.0, "y": 2.0})
    first = evaluator.value(light.index)
    kept = evaluator.value(heavy.index)
    evaluator.set({"x": 5.0})
    assert evaluator.value(light.index) == first + 4
    assert evaluator.value(heavy.index) is kept
    evaluator.set({"y": 4.0})
    assert evaluator.value(heavy.index) is not kept
    assert evaluator.value(light.index) == pytest.approx((first - 1) * 2 + 5)


def test_a_division_by_zero_is_a_fault() -> None:
    t = Tape()
    with pytest.raises(FloatingPointError):
        value(1 / t.param("x"), x=0.0)


def test_numbers_as_text() -> None:
    cases = {0: "0", -0.001: "0", 1: "1", 0.125: "0.13", 0.1: "0.1", 12.345: "12.35",
             -2.675: "-2.67", 1e6: "1000000", 0.005: "0.01"}  # fmt: skip
    assert {v: coordinate(v) for v in cases} == cases
    assert fixed(0.0005, 3) == "0.001"
    assert fixed(-0.0004, 3) == "0.000"
    assert fixed(-3.0921, 2) == "−3.09"
    assert fixed(62984192, 0) == "62,984,192"
    assert fixed(1234567.891, 1) == "1,234,567.9"
    assert fixed(2.5, 0) == "3"


def test_sentences() -> None:
    t = Tape()
    x = t.param("x")
    mask = t.const([1.0, 0.0, 1.0, 1.0])
    template: words.Template = (
        "x ", words.Num(x, 1), words.When(x > 2, (" big",)), ": ",
        words.Names(mask, ("a", "b", "a", "c")), ", ",
        words.Pick(where(x > 2, 1.0, 0.0), ("no", "yes")),
    )  # fmt: skip

    def said(number: float) -> str:
        evaluator = Evaluator(t.nodes)
        evaluator.set({"x": number})
        return words.fill(template, lambda a: evaluator.value(a.index).ravel().tolist())

    assert said(1) == "x 1.0: a and c, no"
    assert said(2.25) == "x 2.3 big: a and c, yes"
    assert words.elements(template) == 1


def test_sliders_know_their_grid() -> None:
    tenths = Slider.range("s", "s", 0.5, 2.0, 0.1, 1.0, decimals=1)
    assert tenths.values[3] == 0.8
    assert len(tenths.values) == 16
    assert tenths.step == 0.1
    assert tenths.read("1.10") == 1.1
    odd = Slider("s", "s", (1.0, 2.0, 5.0), 2.0, ("1", "2", "5"))
    assert odd.step is None
    assert odd.allowed() == "1, 2, 5"
    with pytest.raises(ValueError, match="slider s"):
        Slider("s", "s", (1.0,), 2.0, ("1",))
