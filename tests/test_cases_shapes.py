"""Small operations with the shape, or the words, that a user should get.

The cases are worked at the level of ops; those about declarations of names (a size that
contradicts its definition, a tensor declared twice) belong to whole specs.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from transformer_diagrams.dims import parse
from transformer_diagrams.ops.execute import call
from transformer_diagrams.ops.registry import Call, OpFault, Shape
from transformer_diagrams.ops.rules import unify


def shapes(c: Call) -> list[Shape]:
    return list(c.op.shape(c))


def fault(c: Call) -> OpFault:
    with pytest.raises(OpFault) as caught:
        c.op.shape(c)
    return caught.value


def flops(name: str, inputs: list[list[Any]], attrs: dict[str, Any] | None = None) -> int:
    c = call(name, inputs, attrs or {})
    c.op.shape(c)
    number = c.op.flops(c).as_int()
    assert number is not None
    return number


# -- shapes ---------------------------------------------------------------------------------------


def test_s01_a_matrix_serves_every_batch() -> None:
    c = call("matmul", [["b", "n", "d"], ["d", "k"]], names=("x", "W"))
    assert shapes(c) == [Shape.parse(["b", "n", "k"])]
    assert not c.warnings


def test_s02_a_product_names_both_axes_and_both_shapes() -> None:
    said = fault(call("matmul", [["b", "n", 512], [768, "k"]], names=("x", "W"))).message
    assert "axis 3 of x = 512, axis 1 of W = 768" in said
    assert "x: [b, n, 512], W: [768, k]" in said


def test_s03_a_divisibility_is_recorded() -> None:
    c = call("split_heads", [["b", "n", "d_m"]], {"heads": 8, "order": "heads_last"})
    assert shapes(c) == [Shape.parse(["b", "n", 8, "d_m/8"])]
    assert c.needs == [(parse("8"), parse("d_m"))]
    first = call("split_heads", [["b", "n", "d_m"]], {"heads": 8})
    assert shapes(first) == [Shape.parse(["b", 8, "n", "d_m/8"])]


def test_s04_a_width_that_does_not_divide_names_the_nearest() -> None:
    error = fault(call("split_heads", [["b", "n", 100]], {"heads": 8}))
    assert "100 is not divisible by 8 (remainder 4; nearest 96 and 104)" in error.message
    assert "axis 3 of x" in error.message
    assert "[b, n, 100]" in error.message


def test_s06_concat_adds_widths() -> None:
    assert shapes(call("concat", [["b", "x"], ["b", "y"]])) == [Shape.parse(["b", "x + y"])]


def test_s07_a_gate_cuts_a_width_in_half() -> None:
    c = call("glu", [["b", "d"]])
    assert shapes(c) == [Shape.parse(["b", "d/2"])]
    assert c.needs == [(parse("2"), parse("d"))]
    assert "7 is not divisible by 2 (remainder 1; nearest 6 and 8)" in fault(
        call("glu", [["b", 7]])
    ).message
    cut = call("split", [["b", "d"]], {"parts": 2})
    assert shapes(cut) == [Shape.parse(["b", "d/2"])] * 2


def test_s08_stretching_both_sides_is_a_warning() -> None:
    c = call("sub", [["n", 1], ["n"]], names=("p", "t"))
    assert shapes(c) == [Shape.parse(["n", "n"])]
    (warning,) = c.warnings
    assert "both sides were stretched" in warning
    assert "p: [n, 1] with t: [n] gives [n, n]" in warning


def test_s09_the_dots_stand_for_one_thing() -> None:
    c = call("add", [[2, 3, "n", "d"], [4, "n", "d"]], names=("x", "y"))
    with pytest.raises(OpFault) as caught:
        unify(c, "...B n d", "...B n d")
    said = caught.value.message
    assert "'...' stands for two different shapes: (2, 3) in x and (4,) in y" in said
    core = call("attention_core", [[2, 3, "h", "n", "d"], [4, "h", "n", "d"], [4, "h", "n", "d"]])
    assert "two different shapes" in fault(core).message
    assert "axis 2 of x = 3, axis 1 of y = 4" in fault(c).message  # the sum itself


def test_s11_two_unknown_axes_are_named() -> None:
    said = fault(call("reshape", [["b", "n", "d"]], {"to": [-1, -1, 4]})).message
    assert said.startswith("axes 1 and 2 of [-1, -1, 4] are unknown (-1)")
    assert "only one" in said


def test_s12_a_reshape_compares_counts() -> None:
    said = fault(call("reshape", [[2, 3, 4]], {"to": [5, 5]})).message
    assert "24 elements into 25" in said
    assert "[2, 3, 4]" in said
    assert "[5, 5]" in said


def test_s13_singular_values() -> None:
    c = call("svd", [["m", "n"]])
    least = "min(m, n)"
    assert shapes(c) == [Shape.parse(s) for s in (["m", least], [least], [least, "n"])]
    assert c.op.outputs == ("u", "s", "v")


def test_s14_a_convolution_rounds_down() -> None:
    attrs = {"kernel": 3, "stride": 2, "pad": 1, "out": 64}
    sides = ["floor((h - 1)/2) + 1", "floor((w - 1)/2) + 1"]
    assert shapes(call("conv2d", [["b", "c", "h", "w"]], attrs)) == [
        Shape.parse(["b", 64, *sides])
    ]


def test_s16_grouped_heads_must_be_a_multiple() -> None:
    q, k = ["b", 32, "n", "d_h"], ["b", 6, "m", "d_h"]
    for c in (
        call("attention_core", [q, k, k]),
        call("matmul", [q, k], {"transpose_b": True, "grouped": True}),
    ):
        error = fault(c)
        assert "32 is not a multiple of 6" in error.message
        assert "instead of 6 try 1, 2, 4, 8, 16, 32" in error.message
        assert all(f"[{', '.join(map(str, s))}]" in error.message for s in (q, k))


def test_s19_no_elements_have_no_mean() -> None:
    said = fault(call("mean", [[0, "n", "d"]], {"axis": 0})).message
    assert "axis 1 of x has no elements" in said
    assert "[0, n, d]" in said
    assert shapes(call("mean", [[0, "n", "d"]], {"axis": 1})) == [Shape.parse([0, "d"])]


@pytest.mark.parametrize(
    ("name", "inputs", "attrs"),
    [
        ("matmul", [["b", "n", 512], [768, "k"]], {}),
        ("split_heads", [["b", "n", 100]], {"heads": 8}),
        ("glu", [["b", 7]], {}),
        ("reshape", [[2, 3, 4]], {"to": [5, 5]}),
        ("attention_core", [["b", 32, "n", "d"], ["b", 6, "m", "d"], ["b", 6, "m", "d"]], {}),
    ],
)
def test_every_error_shows_every_shape(
    name: str, inputs: list[list[Any]], attrs: dict[str, Any]
) -> None:
    c = call(name, inputs, attrs)
    said = fault(c).message
    assert all(str(shape) in said for shape in c.inputs)
    assert name in ("reshape",) or re.search(r"axis \d of \w+", said)


# -- FLOPs: a multiply-add is 2 -------------------------------------------------------------------


@pytest.mark.parametrize(("n", "macs"), [(1024, 2_147_483_648), (2048, 6_442_450_944)])
def test_f01_f02_self_attention(n: int, macs: int) -> None:
    """d = 512, 8 heads, no bias, not causal: measured as 4,294,967,296 and 12,884,901,888."""
    d, h = 512, 8
    projections = 4 * flops("linear", [[n, d]], {"out": d})
    scores = flops("matmul", [[h, n, d // h]] * 2, {"transpose_b": True})
    values = flops("matmul", [[h, n, n], [h, n, d // h]])
    assert projections + scores + values == 2 * macs
    core = call("attention_core", [[h, n, d // h]] * 3)
    assert 2 * core.op.costs(core)[0].as_int() == scores + values  # what was measured: products
    if n == 1024:
        assert (projections, scores, values) == (2 * 1_073_741_824, 1_073_741_824, 1_073_741_824)


def test_f03_a_convolution() -> None:
    attrs = {"out": 32, "kernel": 7, "stride": 2, "pad": 3, "bias": False}
    assert flops("conv2d", [[3, 224, 224]], attrs) == 118_013_952 == 2 * 59_006_976


def test_f04_a_tied_head_is_free_in_weights_but_not_in_work() -> None:
    table = call("embedding", [[1]], {"vocab": 50257, "width": 768})
    head = call("tied_linear", [[1, 768]], {"out": 50257, "table": "embed"})
    assert table.op.params(table) + head.op.params(head) == parse("38597376")
    assert table.op.flops(table).as_int() == 0
    assert head.op.flops(head).as_int() == 2 * 38_597_376
