"""The bundled attention, position and mixture specs: counts, caches, and what must be equal.

Counts were measured on published implementations and follow from closed formulas, which are
written out here; equalities between specs hold for all sizes, so they are checked on symbols.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pytest

from transformer_diagrams.count import inspect
from transformer_diagrams.count.inspect import Inspection
from transformer_diagrams.dims import Dim, const, parse
from transformer_diagrams.graph.check import Inferences, check
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.options import resolve_settings
from transformer_diagrams.ops.execute import run
from transformer_diagrams.spec import load_text
from transformer_diagrams.spec.library import SpecLibrary
from transformer_diagrams.spec.model import Spec

IDS = (
    "self-attention", "causal-attention", "qk-norm-attention", "gqa", "relative-position-bias",
    "additive-position", "rotation", "rope", "mla", "mla-absorbed", "mla-rope",
    "lightning-indexer", "dsa", "dsa-mla", "moe-mixtral", "moe-deepseek",
)
SIZES = """
dims: {d_t: targets, d_s: sources, d_m: width, n_h: heads, n_g: groups, d_K: key width,
  d_V: value width, d_c: latent, d_cq: query latent, d_R: rotated, n_I: indexer heads,
  d_I: indexer width, k_I: chosen, L: blocks, M: window, N: experts, K: chosen experts,
  N_s: shared experts, n_G: expert groups, k_G: kept groups, d_e: expert width}
where: [n_g | n_h, 2 | d_K, 2 | d_R, K <= N, n_G | N, k_G <= n_G, d_R <= d_I]
inputs: {X: [d_t, d_m]}
"""


@lru_cache(maxsize=1)
def library() -> SpecLibrary:
    return SpecLibrary()


def count(name: str, config: str | None = None, **settings: object) -> Inspection:
    return inspect(library().get(name), library(), config=config, overrides=settings)


def wrap(blocks: str) -> Spec:
    """A spec with every size by itself, around some blocks."""
    spec, report = load_text(f"title: case\n{SIZES}blocks:\n{blocks}", "case.yaml")
    report.raise_if_errors()
    return spec


def inside(use: str, **binds: str) -> tuple[Frame, Inspection]:
    """A used spec in symbols: its frame, and the counts of one that holds only it."""
    bound = ", ".join(f"{name}: {value}" for name, value in binds.items())
    names = list(library().get(use).inputs)
    spec = wrap(f"  - {{use: {use}, id: part, from: {{{', '.join(f'{n}: X' for n in names)}}}, "
                f"with: {{{bound}}}}}\n")
    found = Inferences(spec, library()).under()
    found.report.raise_if_errors()
    assert found.frame is not None
    (frame,) = found.frame.uses.values()
    return frame, inspect(spec, library())


def shapes(frame: Frame) -> dict[str, list[str]]:
    """The shapes of every block's outputs, by id; axes of 1 left out."""
    found: dict[str, list[str]] = {}
    for atom, outputs in zip(frame.program.atoms, frame.outputs, strict=True):
        assert outputs is not None
        reduced = [[frame.scope.facts.reduce(size) for size in shape.dims] for shape in outputs]
        found[atom.id] = [str([str(d) for d in dims if d.as_int() != 1]) for dims in reduced]
    return found


def same(a: Dim, text: str) -> bool:
    return a == parse(text)


# -- every spec -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_spec_checks_without_a_remark(name: str) -> None:
    report = check(library().get(name), library()).report
    assert not report.faults, [f"{f.span}: {f.message}" for f in report.faults]


@pytest.mark.parametrize("name", IDS)
def test_spec_says_what_to_see_where_it_comes_from_and_what_to_read_first(name: str) -> None:
    spec = library().get(name)
    assert 1 <= spec.caption.count(". ") + spec.caption.endswith(".") <= 3
    assert spec.source is not None
    assert spec.source.arxiv
    assert spec.tags
    assert spec.configs
    assert all(dim.doc for dim in spec.dims.values())
    assert spec.builds_on or name in ("rotation", "moe-mixtral")


@pytest.mark.parametrize("name", [n for n in IDS if n not in ("rotation", "lightning-indexer")])
def test_spec_maps_the_stream_to_the_stream(name: str) -> None:
    spec = library().get(name)
    found = Inferences(spec, library()).under()
    assert found.frame is not None
    (output,) = found.frame.program.outputs
    assert str(found.frame.outputs[output][0]) == "[d_t, d_m]"  # type: ignore[index]


# -- closed forms ---------------------------------------------------------------------------------

Roles = Mapping[str, int]
COUNTS: tuple[tuple[str, str, Roles, int | None], ...] = (
    # spec, config, weights by role, cache elements per token
    ("gqa", "llama3-8b", {"attention": 2 * 4096 * 4096 + 2 * 4096 * 1024}, 2048),
    ("gqa", "qwen2.5-7b", {"attention": 29_364_736}, 1024),
    ("gqa", "qwen3-8b", {"attention": 41_943_040, "norm": 256}, 2048),
    ("gqa", "olmo2-7b", {"attention": 4 * 4096 * 4096, "norm": 4096 + 4096}, 8192),
    ("gqa", "gpt-oss-20b", {"attention": 637_203_456 // 24}, 1024),
    ("gqa", "mistral-7b", {"attention": 41_943_040}, 2048),
    ("mla", "deepseek-v2", {"attention": 136_314_880, "norm": 1536 + 512}, 512),
    ("mla-absorbed", "deepseek-v2", {"attention": 136_314_880, "norm": 1536 + 512}, 512),
    ("mla-rope", "deepseek-v3", {"attention": 187_107_328 - 2048, "norm": 2048}, 576),
    ("mla-rope", "deepseek-v2", {"attention": 8_953_528_320 // 60, "norm": 2048}, 576),
    ("mla-rope", "deepseek-v2-lite", {"attention": 371_589_120 // 27, "norm": 512}, 576),
    ("lightning-indexer", "deepseek-v3.2", {"dsa_indexer": 13_959_424}, 128),
    ("dsa-mla", "deepseek-v3.2",
     {"attention": 187_107_328 - 2048, "dsa_indexer": 13_959_424, "norm": 2048}, 704),
    ("moe-mixtral", "8x7b", {"routed_experts": 45_097_156_608 // 32, "router": 4096 * 8}, 0),
    ("moe-mixtral", "qwen3-30b-a3b",
     {"routed_experts": 28_991_029_248 // 48, "router": 2048 * 128}, 0),
    ("moe-mixtral", "gpt-oss-20b",
     {"routed_experts": 19_116_933_120 // 24, "router": 2_212_608 // 24}, 0),
    ("moe-deepseek", "deepseek-v3", {
        "routed_experts": 653_908_770_816 // 58, "router": 106_430_464 // 58,
        "shared_experts": 2_554_331_136 // 58}, 0),
    ("moe-deepseek", "deepseek-v2", {
        "routed_experts": 222_717_542_400 // 59, "router": 48_332_800 // 59,
        "shared_experts": 2_783_969_280 // 59}, 0),
    ("moe-deepseek", "deepseek-v2-lite", {
        "routed_experts": 14_394_851_328 // 26, "router": 3_407_872 // 26,
        "shared_experts": 449_839_104 // 26}, 0),
    ("relative-position-bias", "t5-small",
     {"attention": 4 * 512 * 512, "attention_rpb": 32 * 8}, 0),
    ("relative-position-bias", "swin-t",
     {"attention": 4 * 96 * 97, "attention_rpb": 13 * 13 * 3}, 0),
    ("qk-norm-attention", "base", {"attention": 4 * 512 * 512 + 1}, 0),
    ("qk-norm-attention", "qwen3-like", {"attention": 4 * 4096 * 4096, "norm": 2 * 128}, 0),
    ("additive-position", "detr", {"attention": 4 * 256 * 257}, 0),
    ("rope", "llama2-7b", {"attention": 4 * 4096 * 4096}, 2 * 4096),
    ("causal-attention", "decode", {"attention": 4 * 512 * 64}, 2 * 64),
)


@pytest.mark.parametrize(("name", "config", "roles", "cache"), COUNTS)
def test_counts_are_those_of_the_published_layers(
    name: str, config: str, roles: Roles, cache: int | None
) -> None:
    found = count(name, config)
    assert {r: a.number for r, a in found.params.by_role.items()} == dict(roles)
    assert found.params.total.number == sum(roles.values())
    assert found.kv_cache.per_token.number == cache


def test_latent_attention_has_its_closed_form() -> None:
    _, found = inside("mla-rope")
    assert same(
        found.params.total.formula,
        "d_m d_cq + d_cq + d_cq n_h (d_K + d_R) + d_m (d_c + d_R) + d_c + d_c n_h (d_K + d_V)"
        " + n_h d_V d_m",
    )
    assert same(found.kv_cache.per_token.formula, "d_c + d_R")


def test_without_a_query_latent_queries_come_straight_from_the_stream() -> None:
    _, found = inside("mla-rope", query_latent="false")
    assert same(
        found.params.total.formula,
        "d_m n_h (d_K + d_R) + d_m (d_c + d_R) + d_c + d_c n_h (d_K + d_V) + n_h d_V d_m",
    )


def test_the_indexer_has_its_closed_form() -> None:
    _, found = inside("dsa-mla")
    roles = found.params.by_role
    assert same(roles["dsa_indexer"].formula, "d_cq n_I d_I + d_m d_I + 2 d_I + d_m n_I")
    assert same(found.kv_cache.per_token.formula, "d_c + d_R + d_I")
    _, dense = inside("mla-rope")
    assert roles["attention"].formula == dense.params.by_role["attention"].formula
    assert roles["norm"].formula == dense.params.by_role["norm"].formula


# -- equalities between specs ---------------------------------------------------------------------


def test_as_many_groups_as_heads_is_multi_head_attention() -> None:
    grouped, ours = inside("gqa", n_g="n_h", rope="false", d_s="d_t")
    full, theirs = inside("mha-packed", lora="false", cached="true", causal="true", d_s="d_t")
    assert ours.params.total.formula == theirs.params.total.formula
    assert ours.kv_cache.per_token.formula == theirs.kv_cache.per_token.formula
    a, b = shapes(grouped), shapes(full)
    pairs = {"q": "q_heads", "k": "k_heads", "v": "v_heads", "kv": "kv", "mean": "attend",
             "o": "o_plain"}
    assert {n: a[n] for n in pairs} == {n: b[other] for n, other in pairs.items()}


def test_one_group_is_multi_query_attention() -> None:
    grouped, ours = inside("gqa", n_g="1", rope="false")
    single, theirs = inside("mqa")
    assert ours.params.total.formula == theirs.params.total.formula
    assert ours.kv_cache.per_token.formula == theirs.kv_cache.per_token.formula
    a, b = shapes(grouped), shapes(single)
    names = ("q", "k", "v", "kv", "scores", "weights", "mean", "o")
    assert {n: a[n] for n in names} == {n: b[n] for n in names}


@pytest.mark.parametrize("bias", ["true", "false"])
def test_packed_per_head_and_summed_heads_have_the_same_weights(bias: str) -> None:
    packed, per_head, summed = (
        inside(name, bias=bias, **more)[1].params
        for name, more in (
            ("mha-packed", {"lora": "false", "d_s": "d_t"}),
            ("mha-per-head", {"d_s": "d_t"}),
            ("mha-summed", {}),
        )
    )
    assert packed.total.formula == per_head.total.formula
    norm = summed.by_role["norm"].formula  # this one holds the block's norm
    assert summed.total.formula - norm == packed.total.formula


@pytest.mark.parametrize("latent", ["true", "false"])
def test_absorbed_latent_attention_is_the_same_from_outside(latent: str) -> None:
    plain, ours = inside("mla", query_latent=latent)
    absorbed, theirs = inside("mla-absorbed", query_latent=latent)
    for side in ("inputs", "outputs"):
        ends = [
            [str(frame.outputs[atom]) for atom in getattr(frame.program, side)]
            for frame in (plain, absorbed)
        ]
        assert ends[0] == ends[1]
    assert ours.params.total.formula == theirs.params.total.formula
    assert {r: a.formula for r, a in ours.params.by_role.items()} == {
        r: a.formula for r, a in theirs.params.by_role.items()
    }
    assert ours.kv_cache.per_token.formula == theirs.kv_cache.per_token.formula == parse("d_c")
    assert shapes(plain)["scores"] == shapes(absorbed)["scores"]


def test_absorbed_attention_is_cheaper_for_one_token_and_dearer_for_many() -> None:
    def work(name: str, targets: int) -> int:
        found = count(name, "deepseek-v2", d_t=targets, d_s=4096).flops.number
        assert found is not None
        return found

    assert work("mla-absorbed", 1) * 10 < work("mla", 1)
    assert work("mla-absorbed", 4096) > work("mla", 4096)


@pytest.mark.parametrize("chosen", ["d_s", "d_s + 7"])
@pytest.mark.parametrize("name", ["dsa", "dsa-mla"])
def test_choosing_at_least_all_sources_leaves_dense_shapes(name: str, chosen: str) -> None:
    sparse, _ = inside(name, k_I=chosen)
    assert shapes(sparse)["scores"] == ["['n_h', 'd_t', 'd_s']"]
    dense, _ = inside("gqa", n_g="n_h") if name == "dsa" else inside("mla-absorbed")
    assert shapes(sparse)["mean"] == shapes(dense)["mean"]


def test_all_heads_read_one_set_of_sources() -> None:
    sparse, _ = inside("dsa")
    found = shapes(sparse)
    few = parse("min(k_I, d_s)")
    assert found["indexer"] == [str(["d_t", str(few)])]
    assert found["k_picked"] == [str(["n_h", "d_t", str(few), "d_K"])]
    assert found["weights"] == [str(["n_h", "d_t", str(few)])]


def test_sparse_attention_keeps_the_whole_cache_and_one_key_more() -> None:
    _, sparse = inside("dsa")
    _, dense = inside("gqa", n_g="n_h", rope="false")
    extra = sparse.kv_cache.per_token.formula - dense.kv_cache.per_token.formula
    assert extra == parse("d_I")


@pytest.mark.parametrize(("name", "others"), [
    ("moe-mixtral", "d_m N"), ("moe-deepseek", "d_m N + 3 N_s d_m d_e"),
])
def test_active_weights_are_all_but_the_experts_not_chosen(name: str, others: str) -> None:
    params = inside(name)[1].params
    total, active = params.total.formula, params.active.formula
    assert total - active == parse("3 (N - K) d_m d_e")
    assert active == parse(others) + parse("3 K d_m d_e")


def test_meeting_all_experts_makes_all_weights_active() -> None:
    params = count("moe-mixtral", "8x7b", K=8).params
    assert params.active.number == params.total.number


def test_gates_are_multiplied_as_their_model_says() -> None:
    """DeepSeek-V2 by 16, V3 by 2.5, Kimi K2 by 2.827 (routed_scaling_factor of each release)."""
    for name, config, factor in (
        ("moe-deepseek", "deepseek-v2", "16"),
        ("moe-deepseek", "deepseek-v3", "2.5"),
        ("moe-deepseek", "kimi-k2", "2.827"),
        ("moe-deepseek", "deepseek-v2-lite", None),
        ("deepseek-v3", "V3", "2.5"),
        ("deepseek-v3", "kimi-k2", "2.827"),
        ("deepseek-v3.2", "V3.2", "2.5"),
        ("glm-4.5", "355B", "2.5"),
    ):
        spec = library().get(name)
        settings = resolve_settings(spec, config=config)
        todo, found = [Inferences(spec, library()).under(settings).frame], set()
        while todo:
            frame = todo.pop()
            assert frame is not None
            todo += frame.uses.values()
            if frame.program.spec.id == "moe-deepseek":
                found |= {a.attrs["by"] for a in frame.applied.values() if a.op.name == "scale"}
        assert found == ({factor} if factor else set()), (name, config)


def test_routing_changes_no_weight() -> None:
    totals = {
        count("moe-deepseek", "deepseek-v3", routing=routing).params.total.number
        for routing in ("v1", "v2", "v3")
    }
    assert len(totals) == 1


def test_buckets_are_shared_by_a_stack_and_window_tables_are_not() -> None:
    def table(variant: str) -> Dim:
        spec = wrap(
            "  - repeat: L\n    blocks:\n"
            f"      - {{use: relative-position-bias, id: a, with: {{variant: {variant}}}}}\n"
        )
        return inspect(spec, library()).params.by_role["attention_rpb"].formula

    assert table("t5") == parse("32 n_h")
    assert table("swin") == parse("L n_h (2 M - 1)^2")


@pytest.mark.parametrize(("kind", "gains"), [
    ("none", "0"), ("rms-per-head", "2 d_K"), ("rms-packed", "(n_h + n_g) d_K"),
])
def test_gains_of_queries_and_keys_are_per_head_width_or_packed(kind: str, gains: str) -> None:
    _, found = inside("gqa", qk_norm=kind)
    norm = found.params.by_role.get("norm")
    assert (norm.formula if norm else const(0)) == parse(gains)


def test_values_carry_no_position_and_queries_are_turned_after_the_split() -> None:
    for name, reader in (("rope", "q_turned"), ("gqa", "q_turned")):
        frame, _ = inside(name)
        program = frame.program
        of = {atom.id: atom for atom in program.atoms}
        sources = {program.atoms[link.atom].id for link in frame.links[of[reader].index]}
        assert "q" in sources
        cached = [program.atoms[link.atom].id for link in frame.links[of["kv"].index]]
        assert cached == ["k_turned", "v"]
    frame, _ = inside("additive-position")
    reads = {
        name: [frame.program.atoms[link.atom].id for atom in frame.program.atoms
               if atom.id == name for link in frame.links[atom.index]]
        for name in ("q", "k", "v")
    }
    assert reads == {"q": ["placed"], "k": ["placed"], "v": ["X"]}


def test_the_scale_of_absorbed_scores_is_that_of_the_heads() -> None:
    for name, text in (("mla-absorbed", r"\sqrt{d_K}"), ("dsa-mla", r"\sqrt{d_K + d_R}")):
        frame, _ = inside(name)
        labels = [a.label for a in frame.applied.values() if a.op.name == "scale"]
        assert labels == [f"scale $1/{text}$"]


def test_decoding_has_fewer_targets_than_sources() -> None:
    spec = library().get("causal-attention")
    settings = resolve_settings(spec, config="decode")
    frame = Inferences(spec, library()).under(settings, numeric=True).frame
    assert frame is not None
    assert shapes(frame)["weights"] == ["['128']"]  # one target: an axis of 1


# -- ops that these specs brought -----------------------------------------------------------------

RNG = np.random.default_rng(0)


def test_a_sink_takes_weight_and_gives_nothing() -> None:
    scores, sinks = RNG.normal(size=(2, 3, 4)), np.array([0.5, -1.0])
    (weights,) = run("softmax", [scores], {"sinks": 2}, {"sinks": sinks})
    below = np.exp(scores).sum(-1) + np.exp(sinks)[:, None]
    assert np.allclose(weights, np.exp(scores) / below[..., None])
    assert (weights.sum(-1) < 1).all()


def test_keeping_groups_leaves_the_best_ones() -> None:
    scores = np.array([[9.0, 0, 5, 5, 1, 1, 6, 3]])
    (best,) = run("keep_groups", [scores], {"groups": 4, "keep": 2})
    (pairs,) = run("keep_groups", [scores], {"groups": 4, "keep": 2, "by": "top2"})
    assert np.isfinite(best).tolist() == [[True, True, False, False, False, False, True, True]]
    kept = np.isfinite(pairs)[0].reshape(4, 2).all(axis=-1)  # the sums are 9, 10, 2 and 9
    assert kept.tolist() == [True, True, False, False]


def test_a_bias_for_selection_does_not_enter_the_gates() -> None:
    scores = RNG.uniform(0.1, 0.9, size=(5, 8))
    offset = RNG.normal(size=8)
    _, index = run("top_k", [scores + offset], {"k": 3})
    (plain,) = run("gather", [scores, index], {"rowwise": True})
    (gates,) = run("normalize", [plain])
    assert np.allclose(gates.sum(-1), 1)
    rows = np.arange(5)[:, None]
    assert np.allclose(gates, scores[rows, index] / scores[rows, index].sum(-1, keepdims=True))


def test_softmax_of_the_chosen_is_the_full_softmax_divided_by_its_sum() -> None:
    logits = RNG.normal(size=(5, 8))
    values, index = run("top_k", [logits], {"k": 2})
    (ours,) = run("softmax", [values])
    (full,) = run("softmax", [logits])
    (picked,) = run("gather", [full, index], {"rowwise": True})
    (theirs,) = run("normalize", [picked])
    assert np.allclose(ours, theirs)


def test_attention_to_picked_sources_is_attention_under_a_mask() -> None:
    heads, length, width, k = 3, 6, 4, 2
    q, keys, values = (RNG.normal(size=(heads, length, width)) for _ in range(3))
    (seen,) = run("mask_add", [RNG.normal(size=(length, length))])
    _, index = run("top_k", [seen], {"k": k})
    (k_picked,) = run("gather", [keys, index], {"axis": -2})
    (v_picked,) = run("gather", [values, index], {"axis": -2})
    (scores,) = run("einsum", [q, k_picked], {"formula": "h t d, h t k d -> h t k"})
    (masked,) = run("pick_mask", [scores, index], {"source": length})
    (weights,) = run("softmax", [masked])
    (ours,) = run("einsum", [weights, v_picked], {"formula": "h t k, h t k d -> h t d"})

    (mask,) = run("scatter_mask", [index], {"size": length})
    (causal,) = run("mask_add", [q @ keys.swapaxes(-1, -2)])
    (weights,) = run("softmax", [causal + mask])
    assert np.allclose(ours, weights @ values)


def test_one_key_joins_the_keys_of_every_head() -> None:
    content, turned = RNG.normal(size=(3, 5, 4)), RNG.normal(size=(5, 2))
    (keys,) = run("concat", [content, turned], {"broadcast": True})
    assert keys.shape == (3, 5, 6)
    assert all(np.array_equal(head[:, 4:], turned) for head in keys)


def test_the_rotation_is_that_of_the_op() -> None:
    x, base, width = RNG.normal(size=(2, 5, 8)), 10000, 8
    angles = np.arange(5)[:, None] / base ** (np.arange(0, width, 2) / width)
    angles = np.concatenate([angles, angles], axis=-1)
    a, b = np.split(x, 2, axis=-1)
    ours = x * np.cos(angles) + np.concatenate([-b, a], axis=-1) * np.sin(angles)
    (theirs,) = run("rope", [x], {"pairs": "halves"})
    assert np.allclose(ours, theirs)
