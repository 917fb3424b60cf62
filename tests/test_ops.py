"""The op registry: every record against its examples, against NumPy, and against brute counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transformer_diagrams.dims import Facts, parse, parse_condition
from transformer_diagrams.ops import FAMILIES, registry
from transformer_diagrams.ops.execute import call, run
from transformer_diagrams.ops.factor import read_factor
from transformer_diagrams.ops.registry import (
    KINDS,
    PARAM_ROLES,
    Call,
    Example,
    Op,
    OpFault,
    Shape,
    UnknownOp,
    divisors,
)
from transformer_diagrams.ops.rules import symbol_tex, unify
from transformer_diagrams.roles import ROLES

RNG = np.random.default_rng(0)

# Numbers for the names in examples: heads and groups divide, widths are even, d_s is not below d_t.
SIZES = {
    "d_t": 3, "d_s": 5, "d_m": 8, "d_h": 12, "d_K": 4, "d_V": 6, "d_R": 2, "d_c": 5, "d_e": 7,
    "n_h": 4, "n_g": 2, "n_q": 3, "q": 2, "r": 2, "k": 2, "K": 2, "N": 4, "V": 11, "V_d": 9,
    "P": 4, "w": 8, "h": 8, "m": 5, "n": 3, "B": 4,
}  # fmt: skip
INDEX_PORTS = {("gather", 1): 3, ("experts", 1): 4, ("scatter_mask", 0): 2, ("embedding", 0): 9,
               ("cross_entropy", 1): 4, ("id_map", 0): 9,
               ("pick_mask", 1): 3, ("select", 1): 3,
               ("scatter", 1): 3}
POSITIVE = {"kl", "giou", "log"}  # shares, sizes of boxes


EXAMPLES = [
    pytest.param(registry.get(name), example, id=f"{name}-{number}")
    for name in registry.names()
    for number, example in enumerate(registry.get(name).examples)
]


def call_of(op: Op, example: Example) -> Call:
    return call(op.name, example.inputs, example.attrs)


def in_numbers(value: Any, kind: str) -> Any:
    """An attribute with the names replaced by their SIZES."""
    if kind == "dim" and value is not None:
        return parse(str(value)).evaluate(SIZES)
    if kind == "dims" and value is not None:
        return [parse(str(v)).evaluate(SIZES) for v in value]
    return value


def numeric(op: Op, example: Example) -> tuple[list[list[int]], dict[str, Any]]:
    """The inputs and attributes of an example in numbers."""
    inputs = [[parse(str(d)).evaluate(SIZES) for d in shape] for shape in example.inputs]
    kinds = {attr.name: attr.kind for attr in op.attrs}
    return inputs, {name: in_numbers(v, kinds[name]) for name, v in example.attrs.items()}


def array(op: Op, port: int, shape: list[int], soft: bool = False) -> np.ndarray:
    if (op.name, port) in INDEX_PORTS and not soft:
        return RNG.integers(0, INDEX_PORTS[op.name, port], shape)
    drawn = RNG.normal(size=shape)
    return np.abs(drawn) + 1 if op.name in POSITIVE else drawn


def random_weights(c: Call) -> dict[str, np.ndarray]:
    return {
        w.name: RNG.normal(size=[d.evaluate(SIZES) for d in w.shape.dims])
        for w in c.op.tensors(c)
    }


def random_buffers(c: Call) -> dict[str, np.ndarray]:
    """What an op is given beside its weights."""
    found = {}
    for buffer in c.op.given(c):
        shape = [d.evaluate(SIZES) for d in buffer.shape.dims]
        drawn = RNG.random(shape)
        if buffer.kind == "whole":
            assert buffer.below is not None
            drawn = (drawn * buffer.below.evaluate(SIZES)).astype(int)
        found[buffer.name] = drawn
    return found


# -- every record ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("op", "example"), EXAMPLES)
def test_an_example_gives_what_it_says(op: Op, example: Example) -> None:
    c = call_of(op, example)
    assert [str(s) for s in op.shape(c)] == [str(Shape.parse(s)) for s in example.outputs]
    assert op.params(c) == parse(str(example.params))
    assert op.flops(c) == parse(str(example.flops))
    if example.label:
        assert op.label(c) == example.label
    assert not c.warnings


@pytest.mark.parametrize(("op", "example"), EXAMPLES)
def test_names_and_numbers_agree(op: Op, example: Example) -> None:
    """Rules on names, then numbers put in, give what rules on numbers give."""
    symbolic = call_of(op, example)
    inputs, attrs = numeric(op, example)
    concrete = call(op.name, inputs, attrs)
    for a, b in zip(op.shape(symbolic), op.shape(concrete), strict=True):
        assert [d.evaluate(SIZES) for d in a.dims] == [d.as_int() for d in b.dims]
    assert op.params(symbolic).evaluate(SIZES) == op.params(concrete).as_int()
    assert op.flops(symbolic).evaluate(SIZES) == op.flops(concrete).as_int()
    assert op.active(symbolic).evaluate(SIZES) == op.active(concrete).as_int()


@pytest.mark.parametrize(
    ("op", "example"), [param for param in EXAMPLES if param.values[0].value is not None]
)
def test_executing_an_op_gives_the_shapes_of_its_rule(op: Op, example: Example) -> None:
    inputs, attrs = numeric(op, example)
    soft = bool(attrs.get("soft"))
    arrays = [array(op, port, shape, soft) for port, shape in enumerate(inputs)]
    c = call(op.name, inputs, attrs)
    weights = random_weights(c)
    given = run(op.name, arrays, attrs, weights | random_buffers(c), bindings=SIZES)
    wanted = [tuple(d.as_int() for d in shape.dims) for shape in op.shape(c)]
    assert [np.shape(y) for y in given] == wanted
    assert sum(w.size for w in weights.values()) == op.params(c).as_int()


def test_only_these_ops_cannot_be_executed() -> None:
    without = {name for name in registry.names() if registry.get(name).value is None}
    assert without == {"box"}


@pytest.mark.parametrize("name", registry.names())
def test_a_record_reads_like_a_textbook(name: str) -> None:
    op = registry.get(name)
    assert op.summary.endswith((".", ")"))
    assert op.examples
    assert op.role in ROLES
    assert op.param_role in PARAM_ROLES
    assert op.form in ("box", "circle")
    assert bool(op.symbol) == (op.form == "circle")
    assert any(any(isinstance(d, str) for s in e.inputs for d in s) or not e.inputs
               for e in op.examples), "one example is in names"
    for attr in op.attrs:
        assert attr.kind in KINDS
        assert attr.doc
        assert not attr.doc.endswith(".")
        assert bool(attr.choices) == (attr.kind == "enum")
        assert not attr.choices or attr.required or attr.default in attr.choices
    assert len(set(op.attr_names)) == len(op.attrs)


def test_no_attribute_hides_a_key_that_every_block_takes() -> None:
    from transformer_diagrams.spec.grammar import COMMON

    hidden = {(n, a) for n in registry.names() for a in registry.get(n).attr_names if a in COMMON}
    assert not hidden


def test_every_module_with_a_record_is_a_family() -> None:
    folder = Path(str(registry.__file__)).parent
    with_records = {
        path.stem for path in folder.glob("*.py")
        if "= family(" in path.read_text(encoding="utf-8") and path.stem != "registry"
    }
    assert with_records == {module.__name__.rpartition(".")[2] for module in FAMILIES}
    for name in registry.names():
        assert registry.get(name).family in with_records


def test_the_catalogue_is_complete() -> None:
    wanted = """embedding learned_position sinusoid_position learned_tokens parameter constant
        linear head_linear lora tied_linear split concat split_heads merge_heads reshape transpose
        repeat_groups matmul einsum scale neg softcap clamp add sub mul relu gelu silu sigmoid tanh
        glu softmax causal_mask window_mask mask_add layernorm rmsnorm l2norm rope rel_bias top_k
        gather scatter_mask router experts combine cache shift slice stop_gradient dropout pool
        cross_entropy kl mse l1 giou focal dice koleo contrastive hungarian sinkhorn scan exp log
        softplus power argmax sample id_map identity mean svd conv2d attention_core box
        patch_embed patchify unpatchify select expand group_norm batch_norm pool2d upsample conv1d
        window_partition window_merge roll shifted_window_mask deform_sample random_mask modulate
        mask_replace interpolate_position weight_norm_linear fourier_features layer_scale resize
        threshold_mask"""
    assert set(wanted.split()) <= set(registry.names())


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownOp, match="softmax") as caught:
        registry.get("sofmax")
    assert caught.value.hint == "did you mean 'softmax'?"
    with pytest.raises(ValueError, match="twice"):
        registry.family("elementwise", lambda: registry.get("add"))()


def test_the_registry_is_light() -> None:
    code = "import sys, transformer_diagrams.ops; print('numpy' in sys.modules)"
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          cwd=root, check=True)
    assert done.stdout.strip() == "False"


def test_a_registry_asked_first_is_full() -> None:
    code = "from transformer_diagrams.ops import registry; print(len(registry.names()))"
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          cwd=root, check=True)
    assert int(done.stdout) == len(registry.names())


# -- brute counts ---------------------------------------------------------------------------------


class Counted:
    """A number that counts the sums and products it takes part in."""

    sums = products = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def __add__(self, other: Any) -> Counted:
        Counted.sums += 1
        return Counted(self.value + getattr(other, "value", other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Counted:
        Counted.sums += 1
        return Counted(self.value - getattr(other, "value", other))

    def __mul__(self, other: Any) -> Counted:
        Counted.products += 1
        return Counted(self.value * getattr(other, "value", other))

    __rmul__ = __mul__

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < getattr(other, "value", other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > getattr(other, "value", other))

    __ge__, __le__ = __gt__, __lt__


def count(name: str, shapes: list[list[int]], attrs: dict[str, Any]) -> tuple[int, int, int]:
    """(sums, products, FLOPs by the rule) of an op that is run on counted numbers."""
    op = registry.get(name)

    def counted(values: np.ndarray) -> np.ndarray:
        return np.vectorize(Counted, otypes=[object])(values)

    arrays = [array(op, port, shape) for port, shape in enumerate(shapes)]
    arrays = [a if (name, port) in INDEX_PORTS else counted(a) for port, a in enumerate(arrays)]
    c = call(name, shapes, attrs)
    weights = {n: counted(w) for n, w in random_weights(c).items()}
    Counted.sums = Counted.products = 0
    assert op.value is not None
    op.value(c, arrays, weights)
    flops = op.flops(c).as_int()
    assert flops is not None
    return Counted.sums, Counted.products, flops


@pytest.mark.parametrize(
    ("name", "shapes", "attrs"),
    [
        ("linear", [[3, 4]], {"out": 5}),
        ("linear", [[2, 3, 4]], {"out": 5}),
        ("head_linear", [[3, 4]], {"heads": 2, "out": 5}),
        ("head_linear", [[2, 3, 4]], {"heads": 2, "out": 5}),
        ("lora", [[3, 4]], {"out": 6, "rank": 2}),
        ("matmul", [[6, 3, 4], [2, 5, 4]], {"transpose_b": True, "grouped": True}),
        ("matmul", [[2, 3, 4], [4, 5]], {}),
        ("matmul", [[7, 2, 3, 4], [2, 4, 5]], {"broadcast": True}),
        ("einsum", [[2, 3, 4], [2, 5, 4]], {"formula": "htk,hsk->hts"}),
        ("einsum", [[3, 4], [5]], {"formula": "a b, c -> a c"}),
        ("experts", [[3, 4], [3, 2]], {"experts": 4, "hidden": 5, "top_k": 2, "act": "relu"}),
    ],
)
def test_a_multiply_add_is_two_flops(
    name: str, shapes: list[list[int]], attrs: dict[str, Any]
) -> None:
    _, products, flops = count(name, shapes, attrs)
    assert flops == 2 * products
    macs = registry.get(name).costs(call(name, shapes, attrs))[0].as_int()
    assert macs is not None
    assert 0 < macs <= products


@pytest.mark.parametrize(
    ("name", "shapes", "attrs"),
    [
        ("add", [[3, 4], [3, 4], [3, 4]], {}),
        ("sub", [[3, 4], [3, 4]], {}),
        ("mul", [[3, 4], [3, 4]], {}),
        ("add", [[2, 3, 4], [4]], {"broadcast": True}),
        ("scale", [[3, 4]], {"by": "1/2"}),
        ("linear", [[3, 4]], {"out": 5, "bias": True}),  # the sum begins with the bias
    ],
)
def test_arithmetic_is_one_flop_an_element(
    name: str, shapes: list[list[int]], attrs: dict[str, Any]
) -> None:
    sums, products, flops = count(name, shapes, attrs)
    assert flops == sums + products


def test_experts_are_active_by_their_share() -> None:
    bank = call("experts", [[3, 4]], {"experts": 8, "hidden": 5, "top_k": 2})
    assert bank.op.active(bank) * 8 == bank.op.params(bank) * 2


# -- values ---------------------------------------------------------------------------------------


def one(name: str, *inputs: np.ndarray, weights: Any = None, **attrs: Any) -> np.ndarray:
    (y,) = run(name, list(inputs), attrs, weights or {})
    return np.asarray(y)


def test_heads_are_packed_head_major() -> None:
    x = np.arange(12.0).reshape(2, 6)
    heads = one("split_heads", x, heads=3)
    assert np.array_equal(heads[1], x[:, 2:4])
    assert np.array_equal(one("merge_heads", heads), x)
    last = one("split_heads", x, heads=3, order="heads_last")
    assert np.array_equal(last.swapaxes(0, 1), heads)


def test_attention_equals_its_parts() -> None:
    """matmul, scale, causal mask, softmax, matmul; heads shared in groups by repeating them."""
    q, k, v = (RNG.normal(size=s) for s in ([6, 4, 8], [2, 4, 8], [2, 4, 5]))
    scores = one("matmul", q, k, transpose_b=True, grouped=True)
    assert np.allclose(scores, q @ np.repeat(k, 3, axis=0).swapaxes(1, 2))
    (scaled,) = run("scale", [scores], {"by": "1/sqrt(d_K)"}, bindings={"d_K": 8})
    mask = one("causal_mask", target=4, source=4)
    weights = one("softmax", one("mask_add", scaled, mask))
    assert np.allclose(weights, one("softmax", scaled, causal=True))
    assert np.allclose(weights, one("softmax", one("mask_add", scaled)))
    assert np.allclose(weights.sum(axis=-1), 1)
    assert np.array_equal(weights, np.tril(weights))
    want = one("matmul", weights, v, grouped=True)
    assert np.allclose(one("attention_core", q, k, v, causal=True), want)
    assert np.allclose(want[:, 0], np.repeat(v, 3, axis=0)[:, 0])  # the first sees itself only


def test_repeating_groups_equals_grouped_products() -> None:
    q, k = RNG.normal(size=[6, 3, 4]), RNG.normal(size=[2, 5, 4])
    repeated = one("repeat_groups", k, heads=6)
    assert np.allclose(
        one("matmul", q, repeated, transpose_b=True),
        one("matmul", q, k, transpose_b=True, grouped=True),
    )


def test_a_window_sees_itself_and_what_is_just_before() -> None:
    mask = one("window_mask", target=2, source=5, window=2)
    assert np.array_equal(np.isfinite(mask), [[0, 0, 1, 1, 0], [0, 0, 0, 1, 1]])
    assert np.array_equal(one("causal_mask", target=2, source=3) == 0, [[1, 1, 0], [1, 1, 1]])


def test_norms_normalise() -> None:
    x = RNG.normal(size=[3, 64]) * 5 + 2
    y = one("layernorm", x, affine=False)
    assert np.allclose(y.mean(axis=-1), 0)
    assert np.allclose(y.std(axis=-1), 1, atol=1e-4)
    y = one("rmsnorm", x, gain=False, eps=0.0)
    assert np.allclose((y**2).mean(axis=-1), 1)
    assert np.allclose(np.linalg.norm(one("l2norm", x, axis=0), axis=0), 1)
    centred = x - x.mean(axis=-1, keepdims=True)
    assert np.allclose(one("layernorm", x, affine=False), one("rmsnorm", centred, gain=False))


@pytest.mark.parametrize("pairs", ["interleaved", "halves"])
def test_rotation_keeps_lengths_and_sees_distances_only(pairs: str) -> None:
    q, k = RNG.normal(size=[1, 8]), RNG.normal(size=[1, 8])

    def score(m: int, n: int) -> float:
        a, b = (one("rope", x, pairs=pairs, start=p) for x, p in ((q, m), (k, n)))
        assert np.isclose(np.linalg.norm(a), np.linalg.norm(q))
        return float((a @ b.T).item())

    assert np.isclose(score(7, 3), score(104, 100))
    assert not np.isclose(score(7, 3), score(7, 4))
    assert np.allclose(one("rope", q, pairs=pairs), q)  # position 0 is not rotated


def test_partial_rotation_leaves_the_rest() -> None:
    x = RNG.normal(size=[4, 8])
    y = one("rope", x, width=4)
    assert np.array_equal(y[:, 4:], x[:, 4:])
    assert not np.allclose(y[1:, :4], x[1:, :4])


def test_sinusoids_are_the_published_ones() -> None:
    table = one("sinusoid_position", length=5, width=6)
    for p, i in ((0, 0), (3, 1), (4, 2)):
        angle = p / 10000 ** (2 * i / 6)
        assert np.isclose(table[p, 2 * i], np.sin(angle))
        assert np.isclose(table[p, 2 * i + 1], np.cos(angle))


def test_a_gate_of_two_tensors_or_of_one_in_halves() -> None:
    x = RNG.normal(size=[3, 8])
    gate, up = x[:, :4], x[:, 4:]
    assert np.allclose(one("glu", x), gate / (1 + np.exp(-gate)) * up)
    assert np.allclose(one("glu", x, act="gelu"), one("glu", gate, up, act="gelu"))
    assert np.allclose(one("mul", one("silu", gate), up), one("glu", gate, up))


def test_experts_are_the_ffns_that_the_index_names() -> None:
    x, index = RNG.normal(size=[3, 4]), np.array([[0, 2], [1, 1], [2, 0]])
    c = call("experts", [[3, 4], [3, 2]], {"experts": 3, "hidden": 5, "top_k": 2, "bias": True})
    w = random_weights(c)
    y = one("experts", x, index, weights=w, experts=3, hidden=5, top_k=2, bias=True)
    gates = RNG.random([3, 2])
    mixed = one("combine", y, gates)
    for t in range(3):
        total = np.zeros(4)
        for slot in range(2):
            e = index[t, slot]
            hidden = one("glu", x[t] @ w["W_gate"][e] + w["b_gate"][e],
                         x[t] @ w["W_up"][e] + w["b_up"][e])
            assert np.allclose(y[t, slot], hidden @ w["W_down"][e] + w["b_down"][e])
            total += gates[t, slot] * y[t, slot]
        assert np.allclose(mixed[t], total)


def test_a_router_keeps_the_best_and_its_gates_sum_to_one() -> None:
    x, w = RNG.normal(size=[5, 4]), RNG.normal(size=[4, 6])
    for score in ("softmax", "sigmoid"):
        attrs = {"experts": 6, "top_k": 2, "score": score}
        gates, index = run("router", [x], attrs, {"W_r": w})
        assert np.allclose(gates.sum(axis=-1), 1)
        assert np.array_equal(np.sort(index), np.sort(np.argsort(x @ w)[:, -2:]))


def test_selection_by_gathering_equals_selection_by_masking() -> None:
    """A query that gathers its keys and values sees what a mask of its indices lets through."""
    q, k, v = RNG.normal(size=[3, 4]), RNG.normal(size=[6, 4]), RNG.normal(size=[6, 5])
    _, index = run("top_k", [RNG.normal(size=[3, 6])], {"k": 2})
    masked = one("attention_core", q, k, v, one("scatter_mask", index, size=6))
    keys, values = one("gather", k, index), one("gather", v, index)
    gathered = one("attention_core", q[:, None], keys, values)
    assert np.allclose(masked, gathered[:, 0])


def test_a_convolution_is_a_sum_over_its_window() -> None:
    x, w = RNG.normal(size=[2, 5, 6]), RNG.normal(size=[3, 2, 3, 3])
    y = one("conv2d", x, weights={"W": w}, out=3, kernel=3, stride=2, pad=1, bias=False)
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1)])
    for o, i, j in np.ndindex(*y.shape):
        window = padded[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
        assert np.isclose(y[o, i, j], (window * w[o]).sum())


def test_shifts_go_to_later_positions() -> None:
    x = np.arange(1.0, 6)
    assert np.array_equal(one("shift", x), [0, 1, 2, 3, 4])
    assert np.array_equal(one("shift", x, by=-2, shorten=True), [3, 4, 5])
    assert np.array_equal(one("slice", x, start=1, stop=-1), [2, 3, 4])


def test_losses_are_the_textbook_ones() -> None:
    logits, target = RNG.normal(size=[3, 4]), np.array([0, 3, 1])
    p = one("softmax", logits)
    assert np.isclose(one("cross_entropy", logits, target), -np.log(p[range(3), target]).mean())
    q = one("softmax", RNG.normal(size=[3, 4]))
    assert np.isclose(one("kl", p, p), 0)
    assert one("kl", p, q) > 0


def test_activations_at_known_points() -> None:
    x = np.array([-1.0, 0.0, 2.0])
    assert np.allclose(one("gelu", x), [-0.15865525, 0, 1.95449974])
    assert np.allclose(one("relu", x), [0, 0, 2])
    assert np.allclose(one("softcap", x * 1000, cap=30), [-30, 0, 30])
    assert np.allclose(one("clamp", x, low=-0.5), [-0.5, 0, 2])


def test_a_weight_of_a_wrong_shape_is_refused() -> None:
    with pytest.raises(OpFault, match=r"'W' of 'linear' must be \[4, 5\], but is \[5, 4\]"):
        one("linear", np.ones([3, 4]), weights={"W": np.ones([5, 4])}, out=5)


# -- what is refused, and in which words ----------------------------------------------------------

FAULTS: list[tuple[str, list[Any], dict[str, Any], list[str]]] = [
    ("matmul", [["b", "n", 512], [768, "k"]], {},
     ["axis 3 of a = 512, axis 1 of b = 768", "[b, n, 512]", "[768, k]", "must be equal"]),
    ("matmul", [["n", "d"], ["k", "d"]], {}, ["cannot tell", "transpose_b: true"]),
    ("matmul", [[32, "t", "k"], [8, "s", "k"]], {"transpose_b": True},
     ["axis 1 of a = 32", "axis 1 of b = 8", "grouped: true"]),
    ("matmul", [[32, "t", "k"], [6, "s", "k"]], {"transpose_b": True, "grouped": True},
     ["32 is not a multiple of 6", "try 1, 2, 4, 8, 16, 32"]),
    ("matmul", [["d"], ["d", "k"]], {}, ["a needs at least 2 axes", "but has 1 (a: [d]"]),
    ("matmul", [["...", "d"], ["d", "k"]], {}, ["a must state its last 2 axes", "states 1"]),
    ("add", [["d_t", "d_m"], ["d_t", "2 d_m"]], {},
     ["axis 2 of a = d_m, axis 2 of b = 2 d_m", "must be equal"]),
    ("add", [["a", "d"], ["b", "d"]], {},
     ["cannot tell whether", "where: [a == b]", "a: [a, d], b: [b, d]"]),
    ("add", [["d"]], {}, ["at least 2 inputs", "1 is given", "from: [a, b]"]),
    ("add", [["...A", "d"], ["...B", "d"]], {}, ["'...A' and '...B'", "same name"]),
    ("add", [["...", "d"], ["n", "d"]], {}, ["fit into '...'", "[n, d]"]),
    ("split_heads", [["n", 100]], {"heads": 8},
     ["axis 2 of x", "100 is not divisible by 8 (remainder 4; nearest 96 and 104)",
      "4, 5, 10 or 20 heads"]),
    ("split_heads", [["n", 5]], {"heads": 8}, ["(remainder 5; nearest 8)"]),
    ("split_heads", [["n", "2 d + 1"]], {"heads": 2}, ["2 d + 1 is not divisible by 2"]),
    ("split", [["n", 10]], {"sizes": [3, 4]}, ["3 + 4 = 7", "axis 2 of x = 10"]),
    ("split", [["n", 10]], {"parts": 3}, ["(remainder 1; nearest 9 and 12)", "parts"]),
    ("split", [["n", 100]], {"parts": 65}, ["cannot split into 65 parts"]),
    ("concat", [["b", "x"], ["2 b", "y"]], {}, ["axis 1 of a = b, axis 1 of b = 2 b", "axis 2"]),
    ("concat", [["b", "x"], ["y"]], {}, ["a has 2 axes", "b has 1"]),
    ("reshape", [[2, 3, 4]], {"to": [5, 5]}, ["24 elements into 25", "[2, 3, 4]", "[5, 5]"]),
    ("reshape", [["n", "d"]], {"to": [-1, -1, 4]}, ["axes 1 and 2 of [-1, -1, 4]", "only one"]),
    ("reshape", [[2, 3, 4]], {"to": [-1, 5]}, ["axis 1", "24 is not divisible by 5"]),
    ("reshape", [["n", "d"]], {"to": ["a", "b"]}, ["cannot tell", "where: [n d == a b]"]),
    ("transpose", [["a", "b", "c"]], {"order": [0, 0, 1]}, ["axis 0 is there twice"]),
    ("softmax", [["b", "n", "d"]], {"axis": 3}, ["no axis 3", "3 axes", "0 to 2", "-1 to -3"]),
    ("softmax", [["...", "d"]], {"axis": 0}, ["may lie in '...'", "-1 is the last"]),
    ("slice", [["n", 10]], {"stop": 12}, ["beyond axis 2 of x", "12 is more than 10"]),
    ("shift", [[3]], {"by": 5}, ["5 is more than 3"]),
    ("glu", [["b", 7]], {}, ["two halves", "7 is not divisible by 2", "6 and 8"]),
    ("rope", [["n", 7]], {}, ["pairs", "7 is not divisible by 2"]),
    ("rope", [["n", 8]], {"width": 16}, ["16 is more than 8"]),
    ("learned_position", [], {"length": 2048, "width": 8, "table": 1024},
     ["2048 is more than 1024"]),
    ("causal_mask", [], {"target": 5, "source": 3}, ["5 is more than 3"]),
    ("mask_add", [["h", 4, 5], [4, 6]], {}, ["axis 3 of scores = 5, axis 2 of mask = 6"]),
    ("mask_add", [["h", "t", "s"]], {"kind": "window"}, ["needs its `window`"]),
    ("attention_core", [["n", 64], ["m", 32], ["m", "v"]], {},
     ["axis 2 of q = 64, axis 2 of k = 32", "queries and keys share their width"]),
    ("attention_core", [["n", "k"], [7, "k"], [8, "v"]], {},
     ["axis 1 of k = 7, axis 1 of v = 8", "share their positions"]),
    ("attention_core", [["h", "n", "k"], [4, "m", "k"], [2, "m", "v"]], {},
     ["axis 1 of k = 4, axis 1 of v = 2", "same heads"]),
    ("attention_core", [["n", "k"], ["m", "k"], ["m", "v"], ["n", "2 m"]], {},
     ["axis 2 of mask = 2 m, axis 1 of k = m"]),
    ("head_linear", [[4, "t", "k"]], {"heads": 8, "out": 3}, ["axis 1 of x = 4, heads = 8"]),
    ("repeat_groups", [[6, 3, 4]], {"heads": 32}, ["heads = 32", "not a multiple of 6"]),
    ("router", [["t", "d"]], {"experts": 8, "top_k": 9}, ["9 is more than 8"]),
    ("experts", [["t", "d"], ["t", 3]], {"experts": 8, "top_k": 2, "hidden": "h"},
     ["axis 2 of index = 3, top_k = 2"]),
    ("combine", [["t", 2, "d"], ["t", 3]], {}, ["axis 2 of x = 2, axis 2 of gates = 3"]),
    ("cache", [["g", 4, "k"], ["g", 5, "k"]], {}, ["axis 2 of k = 4, axis 2 of v = 5"]),
    ("cross_entropy", [["t", "V"], ["t", "k"]], {}, ["one axis fewer", "soft: true"]),
    ("cross_entropy", [["t", "u", "V"], ["t"]], {}, ["stands for two different shapes"]),
    ("kl", [["t", 4], ["t", 5]], {}, ["axis 2 of p = 4, axis 2 of q = 5"]),
    ("conv2d", [[3, 5, 5]], {"out": 4, "kernel": 7}, ["kernel (7)", "axis 2 of x = 5"]),
    ("conv2d", [[10, 8, 8]], {"out": 4, "kernel": 3, "groups": 4},
     ["10 is not divisible by 4", "1, 2, 5 or 10 groups"]),
    ("einsum", [["h", "t", 3], ["h", "s", 4]], {"formula": "htk,hsk->hts"},
     ["axis 3 of a = 3, axis 3 of b = 4", "one axis in 'htk,hsk->hts'"]),
    ("einsum", [["t", "k"]], {"formula": "tk,km->tm"}, ["names 2 inputs", "1 is given"]),
    ("einsum", [["t", "k"]], {"formula": "tk"}, ["no '->'", "e.g."]),
    ("einsum", [["t", "k"]], {"formula": "tk->tm"}, ["'m' in its result"]),
    ("einsum", [["t", "k"]], {"formula": "t k -> t t"}, ["'t' twice"]),
    ("einsum", [["t", "k"]], {"formula": "t?->t"}, ["cannot be read at '?'"]),
    ("linear", [[]], {"out": 3}, ["x needs at least 1 axis", "has none (x: [])"]),
    ("linear", [["..."]], {"out": 3}, ["must state its last axis", "[..., d_t, d_m]"]),
    ("mean", [[0, "n"]], {"axis": 0}, ["axis 1 of x has no elements"]),
    ("box", [], {}, ["without an input", "out: [d_t, d_m]"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "words"), FAULTS,
    ids=[f"{n}-{i}" for i, (n, _, _, _) in enumerate(FAULTS)],
)
def test_a_fault_says_what_where_and_what_to_do(
    name: str, inputs: list[Any], attrs: dict[str, Any], words: list[str]
) -> None:
    c = call(name, inputs, attrs)
    with pytest.raises(OpFault) as caught:
        c.op.shape(c)
    said = " | ".join([caught.value.message, caught.value.hint, *caught.value.notes])
    missing = [word for word in words if word not in said]
    assert not missing, said
    assert "\n" not in caught.value.message
    for index, shape in enumerate(c.inputs):
        if len(c.inputs) > 1 and "inputs," not in said:
            assert str(shape) in said, (index, said)  # both shapes are shown


def test_a_definition_that_explains_a_fault_is_told() -> None:
    facts = Facts({"d_K": parse("d_m / n_h")})
    c = call("reshape", [["d_t", "d_m"]], {"to": ["d_t", "n_h", "2 d_K"]}, facts=facts)
    with pytest.raises(OpFault) as caught:
        c.op.shape(c)
    assert caught.value.notes == ("that is d_t d_m into 2 d_t d_m",)
    c = call("add", [["d_K"], ["2 d_m"]], facts=facts)
    with pytest.raises(OpFault) as caught:
        c.op.shape(c)
    assert "d_K = d_m / n_h, by the definitions" in caught.value.notes
    fine = call("reshape", [["d_t", "d_m"]], {"to": ["d_t", "n_h", "d_K"]}, facts=facts)
    assert str(fine.op.shape(fine)[0]) == "[d_t, n_h, d_K]"
    assert not fine.needs


def test_what_cannot_be_told_to_divide_is_recorded_unless_stated() -> None:
    grouped = ("matmul", [["n_h", "t", "k"], ["n_g", "s", "k"]],
               {"transpose_b": True, "grouped": True})
    c = call(*grouped)
    c.op.shape(c)
    assert [(str(a), str(b)) for a, b in c.needs] == [("n_g", "n_h")]
    stated = call(*grouped, facts=Facts(conditions=[parse_condition("n_g | n_h")]))
    stated.op.shape(stated)
    assert not stated.needs


def test_messages_call_inputs_as_they_are_told_to() -> None:
    c = call("matmul", [["n", 2], [3, "k"]], names=("x", "W"))
    with pytest.raises(OpFault, match="axis 2 of x = 2, axis 1 of W = 3"):
        c.op.shape(c)


# -- stretching -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "result", "warning"),
    [
        ([["n", "d"], ["n", "d"]], "[n, d]", ""),
        ([["n", "d"], []], "[n, d]", ""),
        ([["n", "d"], ["d"]], "[n, d]", "b was stretched"),
        ([["n", 1], ["n", "d"]], "[n, d]", "a was stretched"),
        ([["n", 1], ["n", 1]], "[n, 1]", ""),
        ([["n", 1], ["d"]], "[n, d]", "both sides were stretched"),
        ([["...", "d"], ["...", "d"]], "[..., d]", ""),
        ([["...", "d"], ["d"]], "[..., d]", "b was stretched"),
        ([["..."], [3]], "[...]", ""),
        ([["n", "d"], ["n", "d"], [1, "d"]], "[n, d]", "input 3 was stretched"),
    ],
)
def test_silent_stretching_is_told_with_the_result(
    inputs: list[Any], result: str, warning: str
) -> None:
    c = call("add", inputs)
    assert str(c.op.shape(c)[0]) == result
    assert len(c.warnings) == bool(warning)
    if warning:
        assert c.warnings[0].startswith(warning)
        assert f"gives {result}" in c.warnings[0]
    quiet = call("add", inputs, {"broadcast": True})
    quiet.op.shape(quiet)
    assert not quiet.warnings


def test_rules_that_run_twice_warn_once() -> None:
    c = call("add", [["n", 1], ["n", "d"]])
    c.op.shape(c)
    c.op.flops(c)
    assert len(c.warnings) == 1


@pytest.mark.parametrize("shapes", [([2, 1, 4], [3, 1]), ([1, 4], [2, 3, 1]), ([5], [2, 5])])
def test_stretched_shapes_are_those_of_numpy(shapes: tuple[list[int], list[int]]) -> None:
    c = call("add", shapes, {"broadcast": True})
    want = np.broadcast_shapes(*map(tuple, shapes))
    assert tuple(d.as_int() for d in c.op.shape(c)[0].dims) == want


# -- shapes, patterns, labels ---------------------------------------------------------------------


def test_a_shape_as_text_and_as_tex() -> None:
    shape = Shape.parse(["...B", "d_t", "d_K + d_R", 3])
    assert str(shape) == "[...B, d_t, d_K + d_R, 3]"
    assert shape == Shape.parse(["...B", "d_t", "d_R + d_K", 3])
    assert shape.tex() == r"d_t \times (d_K + d_R) \times 3"
    assert Shape.parse(["d_K + d_R"]).tex() == "d_K + d_R"
    assert Shape.parse(["d_c"]).tex({"d_c": "d_c'"}) == "d_c'"
    assert str(shape.numel()) == str(parse("3 d_t (d_K + d_R)"))
    assert shape.axis_name(0) == "axis 3 from the end"
    assert shape.axis_name(2) == "the last axis"
    assert Shape.parse([2, 3]).axis_name(1) == "axis 2"
    with pytest.raises(Exception, match="only come first"):
        Shape.parse(["n", "..."])


def test_a_named_lead_binds_once() -> None:
    c = call("add", [[2, 3, "n", "d"], [4, "n", "d"]])
    with pytest.raises(OpFault, match=r"two different shapes: \(2, 3\) in a and \(4,\) in b"):
        unify(c, "...B n d", "...B n d")
    bound = unify(call("add", [[2, 3, "n", "d"], [2, 3, "n", "e"]]), "...B n d", "...B n e")
    assert str(bound.shape("...B d e")) == "[2, 3, d, e]"
    with pytest.raises(OpFault, match=r"must have 1 axis \[d\], but has 3"):
        unify(c, "... d", "d")


@pytest.mark.parametrize(
    ("text", "tex", "value"),
    [
        ("1/sqrt(d_K)", r"1/\sqrt{d_K}", 0.125),
        ("sqrt(d_m)", r"\sqrt{d_m}", 16.0),
        ("d_m^-1/2", "d_m^{-1/2}", 1 / 16),
        ("2^-1/2", "2^{-1/2}", 2**-0.5),
        ("0.5", "0.5", 0.5),
        ("2 d_K", r"2\, d_K", 128.0),
        ("1/(d_K + d_m)", r"1/(d_K + d_m)", 1 / 320),
        ("1/sqrt(d_K + d_m)", r"1/\sqrt{d_K + d_m}", 320**-0.5),
        ("1/(2 d_K)", r"1/(2\, d_K)", 1 / 128),
        ("-(d_K - 1)", None, -63.0),
        ("tau", r"\tau", None),
    ],
)
def test_a_factor_as_tex_and_as_a_number(text: str, tex: str | None, value: float | None) -> None:
    factor = read_factor(text)
    assert factor is not None
    if tex is not None:
        assert factor.tex == tex
    if value is not None:
        assert factor.value({"d_K": 64, "d_m": 256}) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "1/", "sqrt d", "((", r"\frac12", "two words?", "(" * 99])
def test_what_is_no_factor(text: str) -> None:
    assert read_factor(text) is None


def test_labels_take_their_symbols_from_the_attributes() -> None:
    def label(name: str, inputs: list[Any], **attrs: Any) -> str:
        c = call(name, inputs, attrs)
        return c.op.label(c)

    assert label("linear", [["d"]], out="V", weight="W_DKV") == "Linear $W_{DKV}$"
    assert label("linear", [["d"]], out="V", weight="W_{Q,h}") == "Linear $W_{Q,h}$"
    assert label("scale", [["d"]], by=r"\tau") == r"scale $\tau$"
    assert label("cache", [["n_g", "d_t", "d_K"]] * 2, length="d_s") == (
        r"KV cache $2\, n_g\, d_K$ per token"
    )
    c = call("top_k", [["d_s"]], {"k": "k_I"})
    c.tex = {"k_I": "k'"}
    assert c.op.label(c) == "top-$k'$"
    assert symbol_tex("W_Q'") == "W_Q'"
    assert symbol_tex("W_DQ'") == "W_{DQ}'"
    assert symbol_tex("gamma") == "gamma"


def test_divisors_are_few_and_near() -> None:
    assert divisors(32) == (1, 2, 4, 8, 16, 32)
    assert divisors(7) == (1, 7)
    many = divisors(5040, around=100)
    assert len(many) == 12
    assert all(5040 % d == 0 for d in many)
    assert min(many) < 100 < max(many)
    assert divisors(0) == divisors(10**30) == ()


def test_defaults_hold_where_a_call_says_nothing() -> None:
    """Residual adders are called without attributes."""
    op = registry.get("add")
    c = Call(op, (Shape.parse(["d_t", "d_m"]),) * 2)
    assert str(op.shape(c)[0]) == "[d_t, d_m]"
    split = Call(registry.get("split"), (Shape.parse([4]),))
    assert [str(s) for s in split.op.shape(split)] == ["[2]", "[2]"]
