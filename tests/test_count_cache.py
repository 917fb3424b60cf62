"""What is kept, and how it grows: per token, within a window, once for a source, or not at all."""

from __future__ import annotations

import pytest
from graph_specs import Texts, check_of, spec_of

from transformer_diagrams.count import inspect
from transformer_diagrams.count.cache import Cache
from transformer_diagrams.dims import parse
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.spec.library import SpecLibrary

DIMS = """
title: T
dims: {d_t: positions, d_s: {doc: sources, default: d_t}, d_a: audio positions, h: heads,
  k: head width, m: width, w: window, c: latent, i: inner, z: taps, L: layers}
where: [h | m]
"""
QKV = "q: [h, d_t, k], k: [h, d_t, k], v: [h, d_t, k]"


def kept(inputs: str, blocks: str, library: object = None, **sizes: int) -> Cache:
    spec = spec_of(f"{DIMS}inputs: {{{inputs}}}\nblocks: [{blocks}]\n")
    return inspect(spec, library or SpecLibrary(), overrides=sizes).kv_cache  # type: ignore[arg-type]


CACHE = "{op: cache, id: kv, from: {k: k, v: v}, length: d_s}"
FUSED = "{op: attention_core, from: [q, kv.k, kv.v], %s}"
SPELT = (
    "{op: matmul, from: [q, kv.k], transpose_b: true}, {op: scale, by: 1/sqrt(k)}, %s, softmax,"
    "{op: matmul, from: [prev, kv.v]}"
)
INNER = {
    "keep": "title: K\ndims: {d_t: a, d_s: b, h: c, k: d}\n"
    "inputs: {k: [h, d_t, k], v: [h, d_t, k]}\n"
    "outputs: {k_all: {from: kv.k}, v_all: {from: kv.v}}\n"
    "blocks: [{op: cache, id: kv, from: {k: k, v: v}, length: d_s}]\n",
    "read": "title: R\ndims: {d_t: a, d_s: b, h: c, k: d, w: e}\n"
    "inputs: {q: [h, d_t, k], k: [h, d_s, k], v: [h, d_s, k]}\n"
    "blocks: [{op: attention_core, from: [q, k, v], window: w}]\n",
}


@pytest.mark.parametrize(
    "blocks",
    [
        f"{CACHE}, {FUSED % 'window: w'}",
        f"{CACHE}, {SPELT % '{op: mask_add, kind: window, window: w}'}",
        f"{CACHE}, {FUSED % 'chunk: w'}",
        f"{CACHE}, {SPELT % '{op: mask_add, kind: chunk, chunk: w}'}",
        "{op: window_mask, id: a, target: d_t, source: d_s, window: w},"
        f"{CACHE}, {SPELT % '{op: mask_add, from: [prev, a]}'}",
        "{use: keep, id: kv, from: {k: k, v: v}}, {use: read, from: {q: q, k: kv.0, v: kv.1}}",
    ],
)
def test_what_no_later_position_sees_need_not_be_kept(blocks: str) -> None:
    found = kept(QKV, blocks, Texts(INNER))
    assert found.per_token.exact == parse("2 h k")
    assert found.growth.exact == parse("0")
    assert found.capped.exact == parse("2 h k w")
    assert found.total.formula == parse("2 h k min(w, d_t)")
    (layer,) = found.layers
    assert layer.window is not None
    assert layer.window.exact == parse("w")


def test_the_whole_cache_is_that_of_all_positions_so_far() -> None:
    found = kept(QKV, f"{CACHE}, {FUSED % 'causal: true'}", h=2, k=3, m=4, d_t=1, d_s=10)
    assert found.total.number == 2 * 2 * 3 * 10
    assert found.length is not None
    assert found.length.number == 10


def test_the_widest_of_two_windows_is_kept() -> None:
    both = f"{CACHE}, {FUSED % 'id: a, window: w'}, {FUSED % 'id: b, window: 2 w'}"
    found = kept(QKV, f"{both}, {{op: add, from: [a, b]}}")
    assert found.capped.exact == parse("4 h k w")


def test_what_another_reader_sees_whole_is_kept_whole() -> None:
    both = f"{CACHE}, {FUSED % 'id: a, window: w'}, {FUSED % 'id: b, causal: true'}"
    found = kept(QKV, f"{both}, {{op: add, from: [a, b]}}")
    assert found.growth.exact == found.per_token.exact
    assert found.total.formula == parse("2 h k d_t")


def test_a_latent_behind_a_window_is_kept_as_long_as_its_keys() -> None:
    found = kept(
        "q: [h, d_t, k], x: [d_t, c]",
        "{op: cache, id: kv, from: x, length: d_s}, {op: head_linear, id: k, heads: h, out: k},"
        "{op: rope, id: k_turned}, {op: head_linear, id: v, from: kv, heads: h, out: k},"
        "{op: attention_core, from: [q, k_turned, v], window: w}",
    )
    assert found.total.formula == parse("c min(w, d_t)")


def test_a_later_layer_s_window_does_not_limit_an_earlier_cache() -> None:
    """The first attention sees all; what it gives goes on into one with a window."""
    found = kept(
        "x: [d_t, m]",
        "{op: cache, id: kept, from: x, length: d_s}, {op: attention_core, id: a, from: [x, kept,"
        " kept]}, {op: attention_core, from: [a, a, a], window: w}",
    )
    assert found.growth.exact == parse("m")


def test_picked_positions_all_stay() -> None:
    found = kept(
        "q: [h, d_t, k], x: [d_t, k], i: {shape: [d_t, c], dtype: int}",
        "{op: cache, id: kv, from: x, length: d_s}, {op: gather, id: few, from: [kv, i]},"
        "{op: einsum, from: [q, few], formula: 'h t d, t c d -> h t c'},"
        "{op: pick_mask, from: [prev, i], source: d_s}, softmax,"
        "{op: einsum, from: [prev, few], formula: 'h t c, t c d -> h t d'}",
    )
    assert found.growth.exact == found.per_token.exact == parse("k")


CROSS = (
    "{repeat: L, blocks: ["
    "{residual: [layernorm, {use: mha-packed, id: self, from: {X_Q: prev, X_S: prev},"
    " with: {n_h: h, d_m: m, d_s: d_t, causal: true, cached: true, lora: false}}]},"
    "{residual: [layernorm, {use: mha-packed, id: cross, from: {X_Q: prev, X_S: memory},"
    " with: {n_h: h, d_m: m, d_s: %s, cached: true, lora: false}}]}]}"
)


@pytest.mark.parametrize("audio", ["d_a", "1500"])
def test_a_source_is_kept_once(audio: str) -> None:
    found = kept(f"x: [d_t, m], memory: [{audio}, m]", CROSS % audio, L=6, m=256, h=4, d_t=448)
    assert found.per_token.number == 6 * 2 * 256
    assert found.per_source_token.number == 6 * 2 * 256
    layers = {layer.path: (layer.elements.number, layer.per_source_token.number)
              for layer in found.layers}
    assert layers == {"self": (512, 0), "cross": (0, 512)}
    assert found.per_layer is not None
    assert found.per_layer.number == 512
    assert found.total.exact == parse(f"2 L m (d_t + {audio})")


def test_a_state_does_not_grow() -> None:
    found = kept(
        "x: [d_t, i], conv: [i, z], state: [h, k, c]",
        "{op: cache, id: a, from: [conv], kind: state},"
        "{op: cache, id: b, from: state, kind: state}",
        i=3, z=4, h=5, k=6, c=7,
    )
    assert found.fixed.number == found.total.number == 3 * 4 + 5 * 6 * 7
    assert (found.per_token.number, found.growth.number) == (0, 0)


def test_an_axis_that_counts_no_positions_makes_a_state_and_is_told() -> None:
    text = """
title: T
dims: {d_t: positions, n_h: heads, d_K: key width, d_V: value width}
inputs: {state: [n_h, d_K, d_V]}
blocks: [{op: cache, from: state}]
"""
    sizes = {"n_h": 8, "d_K": 128, "d_V": 128}
    found = inspect(spec_of(text), overrides=sizes).kv_cache
    assert (found.per_token.number, found.fixed.number) == (0, 131_072)
    told = [f for f in check_of(text).report.faults if f.code == "cache-axis"]
    assert [f.hint for f in told] == [
        "say kind: state; or axis, if another one counts the positions"
    ]
    said = text.replace("from: state", "from: state, kind: state")
    assert not [f for f in check_of(said).report.faults if f.code == "cache-axis"]
    with pytest.raises(DiagramError, match="no length"):
        inspect(spec_of(said.replace("kind: state", "kind: state, length: d_t")))


PLACES = """
title: T
dims: {{{dims}}}
{where}inputs: {{{inputs}}}
blocks:
{blocks}
"""


@pytest.mark.parametrize(
    ("dims", "where", "inputs", "blocks", "kind"),
    [
        # A feature is one, whatever its meaning speaks of.
        ("d_t: positions, h: heads, k: key of a token, d: of a token", "", "x: [d_t, d]",
         ["{op: head_linear, id: k, from: x, heads: h, out: k}",
          "{op: head_linear, id: v, from: x, heads: h, out: k}",
          "{op: einsum, formula: 'htk,htv->hkv', from: [k, v]}", "{op: cache}"], "fixed"),
        ("d_t: positions, h: heads, k: key width of one token, v: b", "", "s: [h, k, v]",
         ["{op: scale, by: 0.9}", "{op: cache}"], "fixed"),
        # The taps of a convolution are no positions.
        ("d_t: positions, d: width, c: taps over the last tokens", "1 < c", "x: [d_t, d]",
         ["{op: box, params: c d}", "{op: box, out: [c - 1, d]}", "{op: cache}"], "fixed"),
        # Another name of the text, behind a batch, and no word of positions.
        ("B: many, T: time steps, d: width", "", "x: [B, T, d]",
         ["{op: linear, out: d}", "{op: cache}"], "per_token"),
        # Patches, which have a name for what a convolution makes.
        ("d_t: text, h: side, P: of a patch, d: width, n: {doc: patches, value: (h / P)^2}",
         "P | h", "x: {shape: [3, h, h]}",
         ["{op: conv2d, kernel: P, stride: P, out: d}", "{op: reshape, to: [d, -1]}", "transpose",
          "{op: cache}"], "per_source_token"),
    ],
)  # fmt: skip
def test_what_counts_positions_is_seen_by_where_it_stands(
    dims: str, where: str, inputs: str, blocks: list[str], kind: str
) -> None:
    lines = "\n".join(f"  - {block}" for block in blocks)
    stated = f"where: ['{where}']\n" if where else ""
    text = PLACES.format(dims=dims, where=stated, inputs=inputs, blocks=lines)
    found = inspect(spec_of(text), SpecLibrary()).kv_cache
    for name in ("per_token", "per_source_token", "fixed"):
        assert (str(getattr(found, name).formula) != "0") == (name == kind)
    told = [f.code for f in check_of(text).report.faults if f.code == "cache-axis"]
    assert told == (["cache-axis"] if kind == "fixed" else [])


def test_a_cache_that_only_training_has_is_not_kept_at_inference() -> None:
    """Neither as a block, nor in a spec that only training uses, nor in a group of both."""
    train = "when: train"
    for blocks in (
        f"{CACHE}, {FUSED % 'causal: true'}".replace("id: kv,", f"id: kv, {train},"),
        "{use: keep, id: kv, from: {k: k, v: v}, when: train}",
        f"{{group: [{CACHE}], id: g, when: train}}",
    ):
        found = kept(QKV, blocks, Texts(INNER))
        assert found.per_token.exact == found.total.exact == parse("0")
        assert found.layers == ()
    for when in ("infer", "always"):
        found = kept(QKV, CACHE.replace("id: kv,", f"id: kv, when: {when},"))
        assert found.per_token.exact == parse("2 h k")


def test_a_spec_that_keeps_something_is_one_layer_with_its_parts() -> None:
    """DeepSeek-V3.2: 512 + 64 of the attention, and 128 of the indexer inside it."""
    library = SpecLibrary()
    found = inspect(library.get("deepseek-v3.2"), library, config="V3.2").kv_cache
    assert found.per_layer is not None
    assert found.per_layer.number == 704
    assert [(x.path, x.elements.number, x.times.number) for x in found.layers] == [
        ("dense_attention", 704, 3), ("attention", 704, 58)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "config", "full", "windows", "window", "each"),
    [
        ("gemma3", "27B", 10, 52, 1024, 2 * 16 * 128),
        ("gemma3", "1B", 4, 22, 512, 2 * 256),
        ("gemma2", "27B", 23, 23, 4096, 2 * 16 * 128),
        ("gpt-oss", "20b", 12, 12, 128, 2 * 8 * 64),
        ("gpt-oss", "120b", 18, 18, 128, 2 * 8 * 64),
        ("mistral", "7B", 0, 32, 4096, 2 * 8 * 128),
    ],
)
@pytest.mark.parametrize("length", [100, 32_768])
def test_windows_of_published_models(
    name: str, config: str, full: int, windows: int, window: int, each: int, length: int
) -> None:
    library = SpecLibrary()
    found = inspect(library.get(name), library, config=config, length=length).kv_cache
    assert found.per_token.number == (full + windows) * each
    assert found.growth.number == full * each
    assert found.capped.number == windows * window * each
    assert found.total.number == (full * length + windows * min(window, length)) * each


def test_the_state_of_a_scan_is_kept_whatever_the_length() -> None:
    """Two layers of a state space keep one state [m, z] each, and nothing of a single token."""
    found = kept(
        "x: [d_t, m, z], decay: [d_t, m, z]",
        "{repeat: 2, blocks: [{op: scan, id: s, from: {x: prev, decay: decay}, axis: 0}]}",
    )
    assert found.fixed.exact == parse("2 m z") == found.total.exact
    assert found.per_token.exact == parse("0")
