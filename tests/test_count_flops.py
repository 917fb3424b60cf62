"""Work: an op costs what the ops that it is made of cost, and a mask saves what it hides."""

from __future__ import annotations

from itertools import product

import pytest
from graph_specs import Texts, spec_of

from transformer_diagrams.count import Inspection, inspect
from transformer_diagrams.dims import const, parse
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.arrays import allowed
from transformer_diagrams.ops.pairs import Seen
from transformer_diagrams.spec.library import SpecLibrary

DIMS = """
title: T
dims: {t: target positions, s: sources, h: heads, g: groups, k: key width, v: value width, m: width,
  e: hidden, r: rank, n: experts, c: chosen, w: window, u: vocabulary, o: out, b: side, P: patch}
where: [t <= s, g | h, 2 | k, 2 | m, c <= n, h | m]
"""


def counted(inputs: str, blocks: str, library: object = None, **options: object) -> Inspection:
    spec = spec_of(f"{DIMS}inputs: {{{inputs}}}\nblocks: [{blocks}]\n")
    return inspect(spec, library or SpecLibrary(), **options)  # type: ignore[arg-type]


QKV = "q: [h, t, k], k: [h, s, k], v: [h, s, v]"
SCORES = "{op: matmul, from: [q, k], transpose_b: true}, {op: scale, by: 1/sqrt(k)}"
MEAN = "{op: matmul, from: [prev, v]}"
X = "x: [t, m]"

# One op -> (inputs, the op, the same thing spelt out).
MADE_OF = {
    "attention_core": (
        QKV, "{op: attention_core, from: [q, k, v]}", f"{SCORES}, softmax, {MEAN}"
    ),
    "attention_core causal": (
        QKV, "{op: attention_core, from: [q, k, v], causal: true}",
        f"{SCORES}, mask_add, softmax, {MEAN}",
    ),
    "attention_core window": (
        QKV, "{op: attention_core, from: [q, k, v], window: w}",
        f"{SCORES}, {{op: mask_add, kind: window, window: w}}, softmax, {MEAN}",
    ),
    "attention_core chunk": (
        QKV, "{op: attention_core, from: [q, k, v], chunk: w}",
        f"{SCORES}, {{op: mask_add, kind: chunk, chunk: w}}, softmax, {MEAN}",
    ),
    "attention_core mask": (
        QKV + ", a: [h, t, s]", "{op: attention_core, from: [q, k, v, a]}",
        f"{SCORES}, {{op: add, from: [prev, a]}}, softmax, {MEAN}",
    ),
    "attention_core window as a tensor": (
        QKV, "{op: window_mask, id: a, target: t, source: s, window: w},"
        "{op: attention_core, from: [q, k, v, a]}",
        "{op: window_mask, id: a, target: t, source: s, window: w},"
        f"{SCORES}, {{op: mask_add, from: [prev, a]}}, softmax, {MEAN}",
    ),
    "attention_core grouped": (
        "q: [h, t, k], k: [g, s, k], v: [g, s, v]", "{op: attention_core, from: [q, k, v]}",
        "{op: matmul, from: [q, k], transpose_b: true, grouped: true}, {op: scale, by: 1/sqrt(k)},"
        "softmax, {op: matmul, from: [prev, v], grouped: true}",
    ),
    "repeat_groups": (
        "q: [h, t, k], k: [g, s, k]",
        "{op: matmul, from: [q, k], transpose_b: true, grouped: true}",
        "{op: repeat_groups, id: all, from: k, heads: h},"
        "{op: matmul, from: [q, all], transpose_b: true}",
    ),
    "softmax": ("x: [h, t, s]", "{op: softmax, causal: true}", "mask_add, softmax"),
    "mask_add": (
        "x: [h, t, s]", "mask_add",
        "{op: causal_mask, id: a, target: t, source: s}, {op: add, from: [x, a], broadcast: true}",
    ),
    "rope": (
        "x: [h, t, k], a: [t, k]", "{op: rope, from: x}",
        "{use: rotation, from: {x: x, angles: a}, with: {d_t: t, n: h, d: k}}",
    ),
    "sinusoid_position": (
        "a: [t, k]", "{op: sinusoid_position, length: t, width: k}", "{op: sin, from: a}"
    ),
    "experts": (
        "x: [t, c, m], y: [t, m], i: {shape: [t, c], dtype: int}",
        "{op: experts, from: [y, i], experts: n, hidden: e, top_k: c, bias: true}",
        "{op: linear, id: a, from: x, out: e}, {op: linear, id: b, from: x, out: e},"
        "{op: glu, from: [a, b]}, {op: linear, out: m}",
    ),
    "experts plain": (
        "x: [t, c, m], y: [t, m], i: {shape: [t, c], dtype: int}",
        "{op: experts, from: [y, i], experts: n, hidden: e, top_k: c, gated: false}",
        "{op: linear, from: x, out: e}, silu, {op: linear, out: m}",
    ),
    "router": (
        X, "{op: router, experts: n, top_k: c}",
        "{op: linear, out: n}, {op: top_k, id: k, k: c}, {op: softmax, from: k.values}",
    ),
    "router sigmoid": (
        X, "{op: router, experts: n, top_k: c, score: sigmoid}",
        "{op: linear, out: n}, {op: top_k, id: k, k: c}, {op: sigmoid, from: k.values}, normalize",
    ),
    "combine": (
        "x: [t, c, m], y: [t, c]", "{op: combine, from: [x, y]}",
        "{op: einsum, from: [x, y], formula: 't c m, t c -> t m'}",
    ),
    "layernorm": (
        X, "{op: layernorm, from: x}",
        "{op: mean, id: a, keep: true}, {op: sub, from: [x, a], broadcast: true}, rmsnorm, bias",
    ),
    "rmsnorm": (X, "rmsnorm", "l2norm, {op: scale, learned: true}"),
    "l2norm": (X, "l2norm", "{op: mul, from: [x, x]}, normalize"),
    "cross_entropy": (
        "x: [t, u], y: {shape: [t], dtype: int}, z: {shape: [t, 1], dtype: int}",
        "{op: cross_entropy, from: [x, y]}",
        "{op: softmax, id: a, from: x}, {op: gather, from: [a, z], rowwise: true}",
    ),
    "kl": (  # two logarithms, each one operation as any activation is
        "p: [t, u], q: [t, u]", "{op: kl, from: [p, q]}",
        "{op: tanh, id: a, from: p}, {op: tanh, id: b, from: q}, {op: sub, from: [a, b]},"
        "{op: mul, from: [prev, p]}, sum",
    ),
    "glu": ("x: [t, m], y: [t, m]", "{op: glu, from: [x, y]}",
            "{op: silu, id: a, from: x}, {op: mul, from: [a, y]}"),
    "glu bilinear": ("x: [t, m], y: [t, m]", "{op: glu, from: [x, y], act: identity}",
                     "{op: mul, from: [x, y]}"),
    "glu halves": (X, "{op: glu, act: gelu}",
                   "{op: split, id: a, parts: 2}, {op: gelu, id: b, from: a.0},"
                   "{op: mul, from: [b, a.1]}"),
    "activation": (X, "{op: activation, kind: identity}", "identity"),
    "softcap": (X, "{op: softcap, cap: 30}",
                "{op: scale, by: 1/30}, tanh, {op: scale, by: '30'}"),
    "lora": (X, "{op: lora, out: o, rank: r, alpha: 8}",
             "{op: linear, out: r}, {op: linear, out: o}, {op: scale, by: 8/r}"),
    "linear": (X, "{op: linear, out: o, bias: true}", "{op: linear, out: o}, bias"),
    "head_linear": (X, "{op: head_linear, heads: h, out: k}",
                    "{op: linear, out: h k}, {op: split_heads, heads: h}"),
    "tied_linear": ("x: [t, m]", "{op: tied_linear, out: o, bias: true}", "{op: linear, out: o}"),
    "conv2d": ("x: [3, b P, b P], y: [b^2, 3 P^2]",
               "{op: conv2d, from: x, out: m, kernel: P, stride: P}",
               "{op: linear, from: y, out: m, bias: true}"),
    "einsum": ("x: [h, t, k], y: [h, s, k]",
               "{op: einsum, from: [x, y], formula: 'h t k, h s k -> h t s'}",
               "{op: matmul, from: [x, y], transpose_b: true}"),
    "einsum without a sum": ("x: [t, m], y: [m]",
                             "{op: einsum, from: [x, y], formula: 't m, m -> t m'}",
                             "{op: mul, from: [x, y], broadcast: true}"),
    "einsum of one": (X, "{op: einsum, from: [x], formula: 't m -> m'}", "{op: sum, axis: 0}"),
    "pool": (X, "pool", "{op: mean, axis: -2}"),
    "layer_scale": ("x: [t, m], y: [m]", "{op: layer_scale, from: x}",
                    "{op: mul, from: [x, y], broadcast: true}"),
    "modulate": (  # 1 is added to the scale once, for all positions
        "x: [t, m], a: [m], b: [m]", "{op: modulate, from: [x, a, b]}",
        "{op: add, id: c, from: [a, b]}, {op: mul, id: d, from: [x, c], broadcast: true},"
        "{op: add, from: [d, b], broadcast: true}",
    ),
    "patch_embed": ("x: [3, b P, b P], y: [b^2, 3 P^2]",
                    "{op: patch_embed, from: x, patch: P, width: m}",
                    "{op: linear, from: y, out: m, bias: true}"),
    "conv1d": ("x: [3, b P], y: [b, 3 P]",
               "{op: conv1d, from: x, out: m, kernel: P, stride: P}",
               "{op: linear, from: y, out: m, bias: true}"),
    "weight_norm_linear": (X, "{op: weight_norm_linear, out: o}", "{op: linear, out: o}"),
    "mse": ("x: [t, m], y: [t, m]", "{op: mse, from: [x, y]}",
            "{op: sub, id: a, from: [x, y]}, {op: mul, from: [a, a]}, sum"),
    "group_norm": ("x: [4 m, h, k], y: [4, m h k]", "{op: group_norm, from: x, groups: 4}",
                   "{op: layernorm, from: y}"),
    "batch_norm": ("x: [m, h, k], y: [m, h k]", "{op: batch_norm, from: x}",
                   "{op: layernorm, from: y}"),
    "batch_norm frozen": ("x: [m, h, k], y: [m, 1, 1]", "{op: batch_norm, from: x, frozen: true}",
                          "{op: mul, id: a, from: [x, y], broadcast: true},"
                          "{op: add, from: [a, y], broadcast: true}"),
}
# Ops that are not made of others, or that only move, pick or keep elements.
SIMPLE = {
    "add", "sub", "mul", "scale", "relu", "gelu", "silu", "sigmoid", "tanh", "cos", "sin", "neg",
    "identity", "stop_gradient", "dropout", "clamp", "normalize", "matmul", "bias", "mean", "sum",
    "top_k", "argmax", "sample", "keep_groups", "svd", "box", "embedding", "parameter", "constant",
    "split_heads", "merge_heads", "cache", "causal_mask", "window_mask", "scatter_mask", "gather",
    "id_map", "learned_position", "rel_bias", "split", "concat", "reshape", "transpose", "slice",
    "shift", "pick_mask", "learned_tokens", "exp", "log", "power", "softplus", "expand", "patchify",
    "unpatchify", "select", "random_mask", "mask_replace", "roll", "window_partition",
    "window_merge", "shifted_window_mask", "fourier_features", "interpolate_position", "hungarian",
    "scatter", "threshold_mask", "layer_entry",
}
# Of these the example's number is the check: each counts by a formula of its own.
OWN = {
    "scan", "pool2d", "upsample", "deform_sample", "sinkhorn", "contrastive", "koleo", "l1", "giou",
    "focal", "dice", "box_corners", "resize",
}


@pytest.mark.parametrize("flops", ["dense", "causal"])
@pytest.mark.parametrize("name", MADE_OF)
def test_an_op_costs_what_it_is_made_of(name: str, flops: str) -> None:
    inputs, one, parts = MADE_OF[name]
    fused, spelt = (counted(inputs, blocks, convention=flops) for blocks in (one, parts))
    assert fused.flops.exact == spelt.flops.exact
    assert fused.macs.exact == spelt.macs.exact


def test_every_op_is_simple_or_held_against_its_parts() -> None:
    assert {name.split()[0] for name in MADE_OF} | SIMPLE | OWN == set(registry.names())


@pytest.mark.parametrize("name", sorted(OWN))
def test_an_op_with_a_formula_of_its_own_shows_its_number(name: str) -> None:
    assert any(example.flops for example in registry.get(name).examples)


def test_a_residual_is_an_addition() -> None:
    a = counted(X, "{residual: [rmsnorm]}")
    b = counted(X, "{op: rmsnorm, id: n}, {op: add, from: [n, x]}")
    assert a.flops.exact == b.flops.exact


# -- masks: against brute force -------------------------------------------------------------------

SIZES = [(t, s) for s in range(1, 8) for t in range(1, s + 1)]


@pytest.mark.parametrize("kind", ["window", "chunk", "picks", "causal"])
def test_pairs_are_those_that_a_mask_leaves(kind: str) -> None:
    t, s, w = parse("t"), parse("s"), parse("w")
    limit = {} if kind == "causal" else {kind: w}
    formula = Seen(t, s, s, causal=True, **limit).pairs(half=True)
    for (targets, sources), size in product(SIZES, range(1, 9)):
        left = allowed(
            targets, sources, *(size if kind == name else None for name in ("window", "chunk"))
        ).sum(axis=1)
        brute = sum(min(n, size) for n in left) if kind == "picks" else sum(left)
        assert formula.evaluate({"t": targets, "s": sources, "w": size}) == brute


def test_picks_without_a_causal_mask_are_the_same_for_every_target() -> None:
    seen = Seen(const(3), const(5), const(5), picks=const(2))
    assert seen.pairs(half=False).as_int() == 6


ONE_HEAD = """
title: T
dims: {d_t: positions, d_s: {doc: sources, default: d_t}, d_m: width, w: window}
where: [d_t <= d_s]
inputs: {q: [d_t, d_m], k: [d_s, d_m], v: [d_s, d_m]}
blocks:
  - {op: matmul, id: scores, from: [q, k], transpose_b: true}
  - {op: mask_add, kind: window, window: w}
  - softmax
  - {op: matmul, from: [prev, v]}
"""


@pytest.mark.parametrize("window", [1, 5, 1024, 4096])
def test_a_window_counts_what_it_leaves_at_every_length(window: int) -> None:
    """Also where it is longer than the sequence: then it is a causal mask, half and diagonal."""
    found = inspect(spec_of(ONE_HEAD), overrides={"d_m": 64, "w": window}, length=1024)
    pairs = sum(min(i, window) for i in range(1, 1025))
    assert found.flops.number == pairs * (4 * 64 + 1 + 5)
    assert found.macs.number == pairs * 2 * 64


def test_new_positions_after_cached_ones_see_those_too() -> None:
    found = inspect(spec_of(ONE_HEAD), overrides={"d_m": 1, "w": 6, "d_t": 3, "d_s": 8})
    assert found.macs.number == 2 * (6 + 6 + 6)


def test_causal_counts_the_half_that_dense_does_not_leave_out() -> None:
    text = ONE_HEAD.replace("kind: window, window: w", "kind: causal").replace(", w: window", "")
    dense, causal = (
        inspect(spec_of(text), overrides={"d_m": 16}, length=100, convention=flops)
        for flops in ("dense", "causal")
    )
    assert dense.macs.number == 2 * 16 * 100 * 100
    assert causal.macs.number == 2 * 16 * 100 * 101 // 2
    assert (dense.convention, causal.convention) == ("dense", "causal")
    assert "saves no work" in dense.as_json()["flops"]["definitions"]["convention"]
    with pytest.raises(DiagramError):
        inspect(spec_of(text), convention="half")


WHOLE = "{op: matmul, id: a, from: [q, k], transpose_b: true}, %s, softmax, " + MEAN
MASK = "{op: window_mask, id: m, target: t, source: s, window: w}"
USED = {
    "scores": "title: S\ndims: {t: a, s: b, h: c, k: d}\ninputs: {q: [h, t, k], k: [h, s, k]}\n"
    "outputs: {y: [h, t, s]}\nblocks: [{op: matmul, from: [q, k], transpose_b: true}]\n",
    "window": "title: W\ndims: {t: a, s: b, h: c, w: d}\ninputs: {x: [h, t, s]}\n"
    "outputs: {y: [h, t, s]}\nblocks: [{op: mask_add, kind: window, window: w}]\n",
    "masked": "title: M\ndims: {t: a, s: b, h: c}\ninputs: {x: [h, t, s], m: [t, s]}\n"
    "outputs: {y: [h, t, s]}\nblocks: [{op: mask_add, from: [x, m]}, softmax]\n",
    "mean": "title: V\ndims: {t: a, s: b, h: c, v: d}\ninputs: {a: [h, t, s], v: [h, s, v]}\n"
    "outputs: {y: [h, t, v]}\nblocks: [{op: matmul, from: [a, v]}]\n",
}


@pytest.mark.parametrize(
    "blocks",
    [
        WHOLE % "{use: window, from: {x: a}}",
        "{use: scores, id: a, from: {q: q, k: k}}, {use: window}, softmax,"
        "{use: mean, from: {a: prev, v: v}}",
        f"{MASK}, {{use: scores, id: a, from: {{q: q, k: k}}}},"
        "{use: masked, id: b, from: {x: a, m: m}}, {use: mean, from: {a: b, v: v}}",
        f"{MASK}, {{op: einsum, id: a, from: [q, k], formula: 'h t k, h s k -> h t s'}},"
        "{op: mask_add, from: [a, m]}, softmax,"
        "{op: einsum, from: [prev, v], formula: 'h t s, h s v -> h t v'}",
    ],
    ids=["mask in a spec", "each in a spec", "mask from outside", "einsum"],
)
def test_a_mask_is_followed_through_used_specs(blocks: str) -> None:
    plain = counted(QKV, WHOLE % "{op: mask_add, kind: window, window: w}")
    found = counted(QKV, blocks, Texts(USED))
    assert found.flops.exact == plain.flops.exact
    assert found.macs.exact == plain.macs.exact


def test_picked_sources_count_the_same_gathered_or_under_a_mask() -> None:
    pick = "{op: mask_add, from: z}, {op: top_k, id: i, k: c}"
    gathered = (
        f"{pick}, {{op: gather, id: a, from: [k, i.index], axis: -2}},"
        "{op: gather, id: b, from: [v, i.index], axis: -2},"
        "{op: einsum, id: x, from: [q, a], formula: 'h t d, h t k d -> h t k'},"
        "{op: pick_mask, from: [x, i.index], source: s}, softmax,"
        "{op: einsum, from: [prev, b], formula: 'h t k, h t k d -> h t d'}"
    )
    masked = (
        f"{pick}, {{op: scatter_mask, id: m, from: i.index, size: s}},"
        "{op: matmul, id: a, from: [q, k], transpose_b: true},"
        f"{{op: mask_add, from: [a, m]}}, mask_add, softmax, {MEAN}"
    )
    one, other = (counted(f"{QKV}, z: [t, s]", blocks) for blocks in (gathered, masked))
    assert one.macs.exact == other.macs.exact
    number = inspect(
        spec_of(f"{DIMS.replace('c <= n', 'c <= s')}inputs: {{{QKV}, z: [t, s]}}\n"
                f"blocks: [{gathered}]\n"),
        overrides={"h": 2, "t": 3, "s": 5, "k": 4, "v": 6, "c": 4},
    ).macs.number  # fmt: skip
    assert number == 2 * (3 + 4 + 4) * (4 + 6)


def test_a_mask_behind_the_softmax_saves_nothing_before_it() -> None:
    late = "{op: matmul, from: [q, k], transpose_b: true}, softmax, {op: mask_add, kind: window,"
    found = counted(QKV, f"{late} window: w}}")
    whole = counted(QKV, "{op: matmul, from: [q, k], transpose_b: true}")
    assert found.macs.exact == whole.macs.exact


def test_scores_that_are_read_whole_elsewhere_are_computed_whole() -> None:
    masked = "{op: matmul, id: a, from: [q, k], transpose_b: true}, {op: mask_add, id: b, %s}"
    both = counted(QKV, masked % "kind: window, window: w" + ", {op: sum, from: a}")
    whole = counted(QKV, "{op: matmul, from: [q, k], transpose_b: true}")
    assert both.macs.exact == whole.macs.exact


def test_targets_are_the_last_of_the_sources() -> None:
    for blocks in (
        "{op: matmul, from: [q, k], transpose_b: true}, mask_add",
        "{op: attention_core, from: [q, k, v], causal: true}",
        "{op: matmul, from: [q, k], transpose_b: true}, {op: softmax, causal: true}",
    ):
        with pytest.raises(DiagramError, match="targets are the last of the sources"):
            counted("q: [h, 9, k], k: [h, 8, k], v: [h, 8, v]", blocks)


VIT = """
title: ViT
dims: {n: positions, d: width, D: blocks, g: side in patches, P: patch}
where: [64 | d]
inputs: {image: [3, g P, g P]}
blocks:
  - {op: conv2d, out: d, kernel: P, stride: P}
  - {op: reshape, to: [d, g^2]}
  - {op: transpose, order: [1, 0], id: patches}
  - {op: learned_tokens, id: first, count: 1, width: d}
  - {op: concat, from: [first, patches], axis: -2}
  - repeat: D
    blocks:
      - residual: [layernorm, {use: mha-packed, from: {X_Q: prev, X_S: prev},
          with: {d_t: g^2 + 1, d_s: g^2 + 1, d_m: d, n_h: d / 64, lora: false, bias: true}}]
      - residual: [layernorm, {use: ffn, with: {d_t: g^2 + 1, d_m: d, bias: true}}]
  - layernorm
  - {op: pool, kind: first}
  - {op: reshape, to: [1, d]}
  - {op: linear, out: 1000, bias: true}
"""


@pytest.mark.parametrize(
    ("sizes", "macs"),
    [
        ({"d": 768, "D": 12, "g": 14, "P": 16}, 17_563_828_224),
        ({"d": 768, "D": 12, "g": 7, "P": 32}, 4_409_186_304),
        ({"d": 1024, "D": 24, "g": 14, "P": 16}, 61_554_712_576),
    ],
    ids=["B/16", "B/32", "L/16"],
)
def test_macs_are_those_that_a_profiler_measures(sizes: dict[str, int], macs: int) -> None:
    """Vision transformers on 224 x 224 pixels: products of matrices and convolutions alone."""
    found = inspect(spec_of(VIT), SpecLibrary(), overrides=sizes)
    assert found.macs.number == macs
