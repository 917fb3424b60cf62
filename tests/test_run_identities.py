"""Identities of attention and its relatives, on the bundled specs: what is left is rounding.

Those between two specs are claims in the specs themselves (`test_claims.py`); these are of one
spec under changed inputs or weights, and of single ops. Controls that must differ stand beside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transformer_diagrams as td
from transformer_diagrams import run
from transformer_diagrams.ops.execute import run as run_op
from transformer_diagrams.run.tensors import drawn

RNG = np.random.default_rng(5)


class Case:
    """A spec under sizes, with weights by chance."""

    def __init__(self, name: str, **sizes: Any) -> None:
        self.model, self.sizes = td.load(name), sizes
        frame = self.model.frame(set=sizes)
        self.weights = drawn({**run.weights(frame), **run.buffers(frame)}, 11)

    def __call__(self, *taps: str, weights: Any = None, past: Any = None, **inputs: Any) -> Any:
        """The one output, or with ``taps`` those."""
        held = {**self.weights, **(weights or {})}
        ran = self.model.run(inputs, held, set=self.sizes, taps=taps)
        self.caches = ran.caches
        if taps:
            return [ran.taps[tap] for tap in taps]
        (one,) = ran.outputs.values()
        return one


def same(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=1e-11))


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


# -- scaled dot products ----------------------------------------------------------------------

SDPA = Case("dot-product-attention", d_t=5, d_s=7, d_K=4, d_V=3)
Q, K, V = normal(5, 4), normal(7, 4), normal(7, 3)


def test_the_weights_of_a_query_sum_to_one_and_the_mean_lies_among_the_values() -> None:
    weights, out = SDPA("weights", "mean", Q=Q, K=K, V=V)
    assert same(weights.sum(axis=-1), 1)
    assert (weights >= 0).all()
    assert (out >= V.min(axis=0) - 1e-12).all()
    assert (out <= V.max(axis=0) + 1e-12).all()


def test_the_order_of_sources_does_not_matter_and_that_of_targets_is_kept() -> None:
    sources, targets = RNG.permutation(7), RNG.permutation(5)
    out = SDPA(Q=Q, K=K, V=V)
    assert same(SDPA(Q=Q, K=K[sources], V=V[sources]), out)
    assert same(SDPA(Q=Q[targets], K=K, V=V), out[targets])


def test_queries_do_not_know_of_each_other() -> None:
    out = SDPA(Q=Q, K=K, V=V)
    one = Case("dot-product-attention", d_t=1, d_s=7, d_K=4, d_V=3)
    assert all(same(one(Q=Q[i : i + 1], K=K, V=V), out[i : i + 1]) for i in range(5))


def test_one_source_is_handed_on_and_equal_keys_give_the_mean() -> None:
    single = Case("dot-product-attention", d_t=5, d_s=1, d_K=4, d_V=3)
    assert same(single(Q=Q, K=K[:1], V=V[:1]), np.repeat(V[:1], 5, axis=0))
    equal = np.repeat(K[:1], 7, axis=0)
    assert same(SDPA(Q=Q, K=equal, V=V), np.repeat(V.mean(axis=0)[None], 5, axis=0))


def test_a_vector_added_to_every_key_changes_nothing() -> None:
    assert same(SDPA(Q=Q, K=K + normal(4), V=V), SDPA(Q=Q, K=K, V=V))


def test_a_constant_added_to_a_row_of_scores_leaves_its_softmax() -> None:
    scores = normal(5, 7)
    (a,), (b,) = run_op("softmax", [scores]), run_op("softmax", [scores + normal(5, 1)])
    assert same(a, b)


# -- norms of queries and keys ----------------------------------------------------------------

QK = Case("qk-norm-attention", d_t=5, d_m=8, n_h=2, d_K=6, norm="l2")
X = normal(5, 8)


def test_scores_of_unit_vectors_are_temperature_times_cosine() -> None:
    q, k, scores = QK("q", "k", "scale", X=X)
    length = np.linalg.norm
    cosine = np.einsum("htd,hsd->hts", q, k) / (
        length(q, axis=-1)[:, :, None] * length(k, axis=-1)[:, None, :]
    )
    tau = QK.weights["scale.scale"]
    assert same(scores, tau * cosine)
    assert (np.abs(scores) <= abs(tau) + 1e-12).all()


def test_unit_vectors_forget_the_length_of_queries_and_keys() -> None:
    longer = {"q.W": 3 * QK.weights["q.W"], "k.W": 0.2 * QK.weights["k.W"]}
    assert same(QK(X=X, weights=longer), QK(X=X))


def test_rms_norm_without_gains_is_the_l2_norm_times_a_root() -> None:
    """With eps = 0: queries and keys of length sqrt(d_K), over sqrt(d_K): temperature sqrt(d_K)."""
    q = normal(2, 5, 6)
    (rms,) = run_op("rmsnorm", [q], {"gain": False, "eps": 0.0})
    (unit,) = run_op("l2norm", [q])
    assert same(rms, np.sqrt(6) * unit)


def test_layer_norm_is_rms_norm_of_the_centred_and_gains_fold_into_the_next_map() -> None:
    centred = X - X.mean(axis=-1, keepdims=True)
    (a,) = run_op("layernorm", [X], {"affine": False})
    (b,) = run_op("rmsnorm", [centred], {"gain": False})
    assert same(a, b)
    gain, matrix = normal(8), normal(8, 3)
    (scaled,) = run_op("rmsnorm", [X], weights={"gain": gain})
    (plain,) = run_op("rmsnorm", [X], {"gain": False})
    assert same(scaled @ matrix, plain @ (gain[:, None] * matrix))


# -- heads ------------------------------------------------------------------------------------


def test_value_and_output_maps_of_a_head_merge() -> None:
    """W_h (X W_V,h W_O,h) = (W_h X W_V,h) W_O,h, summed over heads."""
    heads = Case("mha-per-head", d_t=5, d_s=7, d_m=8, n_h=2, d_K=3, d_V=4)
    source, w = normal(7, 8), heads.weights
    q, k, out = heads("q", "k", "o", X_Q=X, X_S=source)
    scores = np.einsum("htd,hsd->hts", q, k) / np.sqrt(3)
    (weights,) = run_op("softmax", [scores])
    merged = np.einsum("hmv,hvn->hmn", w["v.W"], w["o.W"].reshape(2, 4, 8))
    assert same(np.einsum("hts,sm,hmn->tn", weights, source, merged), out)


def test_adapters_of_all_heads_share_their_first_factor() -> None:
    packed = Case("mha-packed", d_t=5, d_m=8, n_h=2, d_K=3, r=2)
    (update,) = packed("q_pair", X_Q=X, X_S=X)
    a, b = packed.weights["q_pair.A"], packed.weights["q_pair.B"]
    assert same(update[:, 3:], X @ a @ b[:, 3:])
    assert np.linalg.matrix_rank(update) == 2


def test_one_head_of_full_width_is_not_several() -> None:
    sizes = {"d_t": 5, "d_m": 8, "d_K": 8, "d_V": 8}
    one = Case("mha-packed", n_h=1, lora=False, **sizes)
    two = Case("mha-packed", n_h=2, lora=False, **{**sizes, "d_K": 4, "d_V": 4})
    assert not np.allclose(one(X_Q=X, X_S=X), two(X_Q=X, X_S=X, weights=one.weights), atol=1e-3)


# -- time -------------------------------------------------------------------------------------

MODELS = {
    "causal-attention": {"d_m": 8, "d_K": 4},
    "gqa": {"d_m": 8, "n_h": 4, "n_g": 2},
    "mla": {"d_m": 8, "n_h": 2, "d_K": 4, "d_c": 5},
    "mla-absorbed": {"d_m": 8, "n_h": 2, "d_K": 4, "d_c": 5},
    "mla-rope": {"d_m": 8, "n_h": 2, "d_K": 4, "d_c": 5, "d_R": 2},
    "mqa": {"d_m": 8, "n_h": 4},
    "dsa": {"d_m": 8, "n_h": 2, "n_I": 2, "d_I": 4, "k_I": 3},
    "dsa-mla": {"d_m": 8, "n_h": 2, "d_K": 4, "d_c": 5, "d_R": 2, "n_I": 2, "d_I": 4, "k_I": 3},
}


@pytest.mark.parametrize("name", MODELS)
def test_one_position_at_a_time_from_the_cache_is_the_full_pass(name: str) -> None:
    x = normal(6, 8)
    case = Case(name, d_t=6, **MODELS[name])
    full = case(X=x)
    kept: dict[str, Any] = {}
    for step in range(6):
        case.sizes = {**MODELS[name], "d_t": 1, "d_s": step + 1}
        assert same(case(X=x[step : step + 1], weights=kept), full[step : step + 1])
        kept = case.caches


@pytest.mark.parametrize("name", MODELS)
def test_what_comes_later_does_not_change_what_was_before(name: str) -> None:
    case, x = Case(name, d_t=6, **MODELS[name]), normal(6, 8)
    later = np.concatenate([x[:3], normal(3, 8)])
    assert same(case(X=later)[:3], case(X=x)[:3])
    assert not np.allclose(case(X=later)[3:], case(X=x)[3:], atol=1e-3)


def test_without_a_mask_the_future_leaks_and_the_first_position_sees_itself() -> None:
    plain = Case("self-attention", d_t=6, d_m=8)
    x = normal(6, 8)
    later = np.concatenate([x[:3], normal(3, 8)])
    assert not np.allclose(plain(X=later)[:3], plain(X=x)[:3], atol=1e-3)
    causal = Case("causal-attention", d_t=6, d_m=8, d_K=4)
    mean, values = causal("mean", "v", X=x)
    assert same(mean[0], values[0])


def test_rows_that_choose_all_they_may_see_are_dense_and_later_ones_are_not() -> None:
    sizes = {**MODELS["dsa"], "d_t": 6}
    sparse, x = Case("dsa", **sizes), normal(6, 8)
    dense = Case("dsa", **{**sizes, "k_I": 6})
    few, all_ = sparse(X=x), dense(X=x)
    assert same(few[:3], all_[:3])
    assert not np.allclose(few[3:], all_[3:], atol=1e-3)


def test_an_indexer_does_not_see_a_rotation_of_its_queries_and_keys() -> None:
    indexer = Case("lightning-indexer", d_t=6, d_m=8, n_I=2, d_I=4, k_I=2)
    hadamard = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    products, q, k = indexer("products", "q", "kept", X_q=normal(6, 8), X=normal(6, 8))
    assert same(np.einsum("htd,sd->hts", q @ hadamard, k @ hadamard), products)


# -- positions --------------------------------------------------------------------------------


def turned(x: Any, start: int = 0, pairs: str = "interleaved") -> Any:
    return run_op("rope", [x], {"start": start, "pairs": pairs})[0]


@pytest.mark.parametrize("pairs", ["interleaved", "halves"])
def test_rotary_scores_depend_on_distances_lengths_stay_and_0_is_no_turn(pairs: str) -> None:
    q, k = normal(5, 6), normal(5, 6)
    near = turned(q, 0, pairs) @ turned(k, 0, pairs).T
    assert same(turned(q, 9, pairs) @ turned(k, 9, pairs).T, near)
    assert same(np.linalg.norm(turned(q, 3, pairs), axis=-1), np.linalg.norm(q, axis=-1))
    assert same(turned(q, 0, pairs)[0], q[0])


def test_neighbours_and_halves_are_one_rotation_of_permuted_features() -> None:
    q = normal(5, 6)
    order = [0, 2, 4, 1, 3, 5]  # the first of each pair, then the second
    assert same(turned(q, 2)[:, order], turned(q[:, order], 2, "halves"))
    assert not np.allclose(turned(q, 2), turned(q, 2, "halves"), atol=1e-3)


def test_the_spec_of_rotation_turns_halves_as_the_op_does() -> None:
    angles = np.arange(5)[:, None] / 10000 ** (np.arange(0, 6, 2) / 6)
    q = normal(2, 5, 6)
    spec = Case("rotation", d_t=5, n=2, d=6)
    given = spec(x=q, angles=np.concatenate([angles, angles], axis=-1))
    assert same(given, turned(q, 0, "halves"))


def test_products_of_sinusoids_depend_on_the_distance_alone() -> None:
    (table,) = run_op("sinusoid_position", [], {"length": 9, "width": 8})
    frequency = 10000.0 ** -(np.arange(0, 8, 2) / 8)
    for start in range(4):
        assert same(table[start] @ table[start + 5], np.cos(5 * frequency).sum())


def test_added_positions_split_into_four_terms_and_move_with_their_tokens() -> None:
    place = Case("additive-position", d_t=5, d_m=8, n_h=1, d_K=4, bias=False)
    p, w = normal(5, 8), place.weights
    scores, out = place("scores", "o", X=X, P=p)
    (wq,), (wk,) = w["q.W"], w["k.W"]
    terms = [(a @ wq) @ (b @ wk).T for a in (X, p) for b in (X, p)]
    assert same(scores[0], sum(terms))
    order = RNG.permutation(5)
    assert same(place(X=X[order], P=p[order]), out[order])
    assert not np.allclose(place(X=X[order], P=p), out[order], atol=1e-3)


def buckets(offset: int, count: int, distance: int, causal: bool) -> int:
    """The bucket of a source that comes ``offset`` after its target, as T5 does it, one by one."""
    bucket, far = 0, max(-offset, 0)
    if not causal:
        count //= 2
        bucket, far = count if offset > 0 else 0, abs(offset)
    exact = count // 2
    if far < exact:
        return bucket + far
    wide = exact + int(np.log(far / exact) / np.log(distance / exact) * (count - exact))
    return bucket + min(wide, count - 1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("count", "distance"), [(32, 128), (8, 10)])
def test_buckets_of_offsets_are_those_of_t5(count: int, distance: int, causal: bool) -> None:
    table = np.arange(count * 2.0).reshape(count, 2)
    attrs = {"heads": 2, "target": 150, "source": 200, "buckets": count, "causal": causal,
             "distance": distance}
    (bias,) = run_op("rel_bias", [], attrs, {"table": table})
    wanted = [[buckets(j - (i + 50), count, distance, causal) for j in range(200)]
              for i in range(150)]
    assert np.array_equal(bias[0], table[np.array(wanted), 0])
    assert np.array_equal(bias[1], table[np.array(wanted), 1])
    used = len(np.unique(bias[0]))  # beside itself and +0, which stands for no offset
    assert used == (count if causal else count - 1)


def test_a_bias_by_distance_is_a_toeplitz_matrix_in_every_head() -> None:
    for attrs, weights in (
        ({"buckets": 8}, {"table": normal(8, 2)}),
        ({"buckets": 0}, {}),
    ):
        (bias,) = run_op("rel_bias", [], {"heads": 2, "target": 6, "source": 6, **attrs}, weights)
        assert np.array_equal(bias[:, 1:, 1:], bias[:, :-1, :-1])


@pytest.mark.parametrize("heads", [4, 6, 12])
def test_slopes_are_those_of_the_paper(heads: int) -> None:
    """Powers of 2^(-8/n) where n is a power of two; else those of the power below, then every
    other one of twice as many."""
    def powers(n: int) -> list[float]:
        return [2 ** (-8 * (h + 1) / n) for h in range(n)]

    below = 1 << (heads.bit_length() - 1)
    slopes = powers(heads) if below == heads else powers(below) + powers(2 * below)[::2]
    attrs = {"heads": heads, "target": 2, "source": 5, "buckets": 0}
    (bias,) = run_op("rel_bias", [], attrs)
    assert same(bias[:, 1], -np.array(slopes[:heads])[:, None] * (4 - np.arange(5)))
    assert bias[:, 0, 3].tolist() == [0.0] * heads


def test_in_a_window_each_offset_of_rows_and_columns_has_its_number() -> None:
    table = np.arange(25.0)[:, None]
    attrs = {"heads": 1, "target": 9, "source": 9, "buckets": 25, "kind": "grid"}
    (bias,) = run_op("rel_bias", [], attrs, {"table": table})
    for i in range(9):
        for j in range(9):
            down, across = i // 3 - j // 3 + 2, i % 3 - j % 3 + 2
            assert bias[0, i, j] == 5 * down + across


# -- feed-forward networks and experts --------------------------------------------------------


def test_a_feed_forward_network_is_a_sum_over_its_hidden_units() -> None:
    ffn = Case("ffn", d_t=5, d_m=8, d_h=12)
    w = ffn.weights
    units = [np.maximum(X @ w["up.W"][:, j] + w["up.b"][j], 0)[:, None] * w["down.W"][j]
             for j in range(12)]
    assert same(ffn(X=X), sum(units) + w["down.b"])


@pytest.mark.parametrize(("name", "sizes"), [
    ("ffn", {"d_h": 12}), ("swiglu", {"d_h": 12}),
    ("moe-mixtral", {"d_e": 6, "N": 4, "K": 2}), ("moe-deepseek", {"d_e": 6, "N": 4, "K": 2}),
])  # fmt: skip
def test_each_position_goes_its_own_way(name: str, sizes: dict[str, int]) -> None:
    case, order = Case(name, d_t=5, d_m=8, **sizes), RNG.permutation(5)
    assert same(case(X=X[order]), case(X=X)[order])


def test_gate_and_up_are_the_halves_of_one_matrix_and_no_twins() -> None:
    gated = Case("swiglu", d_t=5, d_m=8, d_h=6)
    w = gated.weights
    fused = np.concatenate([w["gate.W"], w["up.W"]], axis=-1)
    (halves,) = run_op("glu", [X @ fused], {"act": "silu"})
    assert same(halves @ w["down.W"], gated(X=X))
    swapped = {"gate.W": w["up.W"], "up.W": w["gate.W"]}
    assert not np.allclose(gated(X=X, weights=swapped), gated(X=X), atol=1e-3)


def test_softmax_of_the_chosen_is_the_renormalised_share_of_all() -> None:
    scores = normal(5, 7)
    values, index = run_op("top_k", [scores], {"k": 3})
    (shares,) = run_op("softmax", [scores])
    kept = np.take_along_axis(shares, index, axis=-1)
    assert same(run_op("softmax", [values])[0], kept / kept.sum(axis=-1, keepdims=True))


def test_shared_experts_are_one_network_of_their_summed_width() -> None:
    moe = Case("moe-deepseek", d_t=5, d_m=8, d_e=3, N=4, K=2, N_s=2)
    (shared,) = moe("shared_experts", X=X)
    w = {name: moe.weights[f"shared_experts/{name}.W"] for name in ("gate", "up", "down")}
    parts = []
    for s in (slice(0, 3), slice(3, 6)):  # one expert, then the other
        gate = X @ w["gate"][:, s]
        parts.append((gate / (1 + np.exp(-gate)) * (X @ w["up"][:, s])) @ w["down"][s])
    assert same(sum(parts), shared)


def test_a_bias_on_the_choice_leaves_the_gates_unbiased() -> None:
    moe = Case("moe-deepseek", d_t=5, d_m=8, d_e=3, N=6, K=2)
    offset = {"offset.value": np.array([9.0, 0, 0, 0, 0, 8.0])}
    index, gates, scores = moe("chosen.index", "gates_v3", "scores", X=X, weights=offset)
    assert (np.sort(index, axis=-1) == [0, 5]).all()
    kept = np.take_along_axis(scores, index, axis=-1)
    assert same(gates, kept / kept.sum(axis=-1, keepdims=True))
    assert same(gates.sum(axis=-1), 1)


# -- whole models -----------------------------------------------------------------------------


def test_the_tied_head_multiplies_by_the_table_and_a_block_without_output_is_no_step() -> None:
    sizes = {"d_t": 5, "d_m": 8, "n_h": 2, "n_g": 1, "d_h": 6, "L": 2, "V": 9, "tied": True}
    llama, tokens = Case("llama3", **sizes), np.array([3, 1, 4, 1, 5])
    last, logits, first = llama("last_norm", "tied_head", "embed", tokens=tokens)
    assert same(logits, last @ llama.weights["embed.E"].T)
    silent = {name: 0 * value for name, value in llama.weights.items()
              if name.endswith(("/o.W", "/down.W"))}
    ran = llama.model.run({"tokens": tokens}, {**llama.weights, **silent}, set=sizes,
                          taps=["*[1]"])
    assert same(*ran.taps.values(), first)


def test_the_merge_of_two_predictions_is_a_sum_by_the_halves_of_its_matrix() -> None:
    sizes = {"d_t": 5, "d_m": 8, "n_h": 2, "d_K": 4, "d_R": 2, "d_c": 3, "d_cq": 4, "d_e": 3,
             "N": 4, "K": 2}
    module = Case("mtp-module", **sizes)
    h, e, merged = module("h_norm", "e_norm", "merge", h=X, e=normal(5, 8))
    top, bottom = np.split(module.weights["merge.W"], 2)
    assert same(merged, h @ top + e @ bottom)
    swapped = {"merge.W": np.concatenate([bottom, top])}
    gains = {"h_norm.gain": module.weights["e_norm.gain"],
             "e_norm.gain": module.weights["h_norm.gain"]}
    (a,) = module("merge", h=X, e=e)
    (b,) = module("merge", h=e, e=X, weights={**swapped, **gains})
    assert same(a, b)


def test_the_fusion_of_three_levels_is_a_sum_of_three_maps() -> None:
    draft = Case("eagle3", d_t=5, d_m=8, n_h=2, n_g=1, d_h=6, V=11, V_d=7)
    low, middle, high = (normal(5, 8) for _ in range(3))
    boxes = {"target_low": low, "target_middle": middle, "target_high": high,
             "target_last": normal(5, 11), "feature": normal(5, 8)}
    tokens = np.array([1, 2, 3, 4, 5])
    ran = draft.model.run({"tokens": tokens, "next": tokens, **boxes}, draft.weights,
                          set=draft.sizes, taps=["fuse", "best"])
    parts = np.split(draft.weights["fuse.W"], 3)
    wanted = sum(level @ part for level, part in zip((low, middle, high), parts, strict=True))
    assert same(ran.taps["fuse"], wanted)
    table = draft.weights["mapped.table"]
    assert np.array_equal(ran.outputs["drafts"], table[ran.taps["best"]])


def test_embeddings_for_each_layer_are_slices_of_one_table_and_one_map() -> None:
    ple = Case("ple-inputs", d_t=5, d_m=8, p=3, L=2, V_p=9)
    tokens, w = np.array([3, 1, 4, 1, 5]), ple.weights
    made = ple(tokens=tokens, E=X)
    for layer in range(2):
        cut = slice(3 * layer, 3 * layer + 3)
        rows = X @ w["down.W"][:, cut] / np.sqrt(8)
        context = rows / np.sqrt((rows * rows).mean(-1, keepdims=True) + 1e-5)
        own = w["table.E"][tokens][:, cut]
        assert same(made[:, layer], (context * w["context.gain"] + own) / np.sqrt(2))
    gate = Case("ple-gate", d_t=5, d_m=8, p=3, L=2)
    silent = {**gate.weights, "out_norm.gain": np.zeros(8)}
    given = {"X": X, "P": made, "slice": made[:, 0]}
    (y,) = gate.model.run(given, silent, set=gate.sizes).outputs.values()
    assert not y.any()


# -- ops with buffers, one by one -------------------------------------------------------------


def test_a_draw_falls_where_the_running_sum_passes_it() -> None:
    shares, draw = np.array([[0.2, 0.0, 0.5, 0.3]] * 5), np.array([0.0, 0.19, 0.2, 0.69, 0.999])
    (index,) = run_op("sample", [shares], weights={"draw": draw})
    assert index.tolist() == [0, 0, 2, 2, 3]


def test_a_table_maps_tokens_and_a_constant_is_what_is_given() -> None:
    table = np.array([4, 7, 9])
    (mapped,) = run_op("id_map", [np.array([2, 0])], {"size": 3}, {"table": table})
    assert mapped.tolist() == [9, 4]
    (constant,) = run_op("constant", [], {"size": [2, 2]}, {"value": np.eye(2)})
    assert np.array_equal(constant, np.eye(2))


def test_a_cache_puts_the_new_behind_what_it_has_kept() -> None:
    new, old = normal(2, 1, 4), normal(2, 3, 4)
    k, v = run_op("cache", [new, 2 * new], {"length": 4}, {"k": old, "v": old})
    assert np.array_equal(k, np.concatenate([old, new], axis=1))
    assert np.array_equal(v, np.concatenate([old, 2 * new], axis=1))


def test_a_frozen_norm_goes_by_the_statistics_that_it_is_given() -> None:
    x = normal(2, 3, 4, 4)
    weights = {"mean": normal(3), "variance": np.array([1.0, 4.0, 9.0]), "gain": normal(3),
               "bias": normal(3)}
    (y,) = run_op("batch_norm", [x], {"frozen": True, "eps": 0.0}, weights)
    for c in range(3):
        wanted = (x[:, c] - weights["mean"][c]) / (c + 1) * weights["gain"][c] + weights["bias"][c]
        assert same(y[:, c], wanted)


def test_masking_keeps_the_positions_of_least_noise() -> None:
    x, noise = normal(5, 4), np.array([0.9, 0.1, 0.5, 0.2, 0.7])
    kept, restore, mask = run_op("random_mask", [x], {"keep": 2}, {"noise": noise})
    assert np.array_equal(kept, x[[1, 3]])
    assert mask.tolist() == [1, 0, 1, 0, 1]
    assert restore.tolist() == [4, 0, 2, 1, 3]
