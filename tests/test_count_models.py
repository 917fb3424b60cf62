"""Published models, rebuilt in a few lines: totals, active weights and caches must be exact.

Totals and caches were measured on the library classes of these models; each also follows from
a closed formula.
"""

from __future__ import annotations

import pytest
from graph_specs import Texts, check_of, graph_of, parts, spec_of

from transformer_diagrams.count import inspect
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.graph.ir import Group, Node

LLAMA = """
title: Llama
dims:
  d_t: positions
  d_m: width
  n_h: query heads
  n_g: key and value heads
  d_h: hidden width
  V: vocabulary
  L: blocks
where: [n_g | n_h, n_h | d_m]
options: {tied: {doc: one table for input and output, default: false}}
configs:
  8B: {L: 32, d_m: 4096, n_h: 32, n_g: 8, d_h: 14336, V: 128256}
  3.2-1B: {L: 16, d_m: 2048, n_h: 32, n_g: 8, d_h: 8192, V: 128256, tied: true}
inputs: {tokens: {shape: [d_t], dtype: int}}
outputs: {logits: [d_t, V]}
blocks:
  - {op: embedding, id: embed, vocab: V, width: d_m}
  - repeat: L
    blocks:
      - residual: [rmsnorm, {use: attention, id: attn}]
      - residual: [rmsnorm, {use: swiglu, id: ffn}]
  - rmsnorm
  - {op: linear, id: head, out: V, counts_as: lm_head, if: not tied}
  - {op: tied_linear, id: head_tied, out: V, table: embed, if: tied}
"""

SWIGLU = """
title: SwiGLU
role: ffn
dims: {d_t: positions, d_m: width, d_h: hidden width}
inputs: {x: [d_t, d_m]}
outputs: {y: [d_t, d_m]}
blocks:
  - parallel:
      gate: [{op: linear, id: W_gate, out: d_h}]
      up: [{op: linear, id: W_up, out: d_h}]
  - glu
  - {op: linear, id: W_down, out: d_m}
"""

MIXTRAL = """
title: Mixtral
dims:
  d_t: positions
  d_m: width
  n_h: query heads
  n_g: key and value heads
  d_e: width of an expert
  N: experts
  K: experts a token meets
  V: vocabulary
  L: blocks
where: [n_g | n_h, n_h | d_m]
configs: {8x7B: {L: 32, d_m: 4096, n_h: 32, n_g: 8, d_e: 14336, N: 8, K: 2, V: 32000}}
inputs: {tokens: {shape: [d_t], dtype: int}}
outputs: {logits: [d_t, V]}
blocks:
  - {op: embedding, id: embed, vocab: V, width: d_m}
  - repeat: L
    blocks:
      - residual: [rmsnorm, {use: attention, id: attn}]
      - residual:
          - {op: rmsnorm, id: n2}
          - {op: router, id: router, experts: N, top_k: K}
          - {op: experts, id: bank, from: [n2, router.index], experts: N, top_k: K, hidden: d_e}
          - {op: combine, from: [bank, router.gates]}
  - rmsnorm
  - {op: linear, id: head, out: V, counts_as: lm_head}
"""

MLA = """
title: Latent attention with decoupled positions
role: attention
dims:
  d_t: positions
  d_s: {doc: cached positions, default: d_t}
  d_m: width
  n_h: heads
  d_K: key width
  d_V: value width
  d_R: rotated width
  d_c: latent width
  d_cq: query latent width
where: [2 | d_R]
configs:
  V3: {d_m: 7168, n_h: 128, d_K: 128, d_V: 128, d_R: 64, d_c: 512, d_cq: 1536}
inputs: {x: [d_t, d_m]}
outputs: {y: [d_t, d_m]}
blocks:
  - {op: linear, id: W_DQ, out: d_cq}
  - {op: rmsnorm, id: c_q}
  - {op: head_linear, id: q_c, from: c_q, heads: n_h, out: d_K}
  - {op: head_linear, id: q_r, from: c_q, heads: n_h, out: d_R}
  - {op: rope, id: q_rot}
  - {op: concat, id: q, from: [q_c, q_rot]}
  - {op: linear, id: W_DKV, from: x, out: d_c}
  - {op: rmsnorm, id: c_kv}
  - {op: linear, id: W_KR, from: x, out: d_R}
  - {op: rope, id: k_rot}
  - {op: cache, id: kept, from: [c_kv, k_rot], length: d_s}
  - {op: head_linear, id: k_c, from: kept.0, heads: n_h, out: d_K}
  - {op: head_linear, id: v, from: kept.0, heads: n_h, out: d_V}
  - {op: matmul, id: s_c, from: [q_c, k_c], transpose_b: true}
  - {op: matmul, id: s_r, from: [q_rot, kept.1], transpose_b: true}
  - {op: add, id: s, from: [s_c, s_r]}
  - {op: softmax, id: w}
  - {op: matmul, id: o, from: [w, v]}
  - merge_heads
  - {op: linear, id: W_O, out: d_m}
"""

MORE = {"swiglu": SWIGLU, "mla": MLA}


@pytest.mark.parametrize(
    ("config", "total", "cache"), [("8B", 8_030_261_248, 65_536), ("3.2-1B", 1_235_814_400, 16_384)]
)
def test_llama(config: str, total: int, cache: int) -> None:
    assert not check_of(LLAMA, MORE).report.faults
    found = inspect(spec_of(LLAMA), Texts(MORE), config=config)
    assert found.params.total.number == total
    assert found.kv_cache.per_token.number == cache
    assert ("lm_head" in found.params.by_role) == (config == "8B")


def test_closed_and_opened_count_the_same_because_both_are_one_frame() -> None:
    spec, library = spec_of(LLAMA), Texts(MORE)
    opened = LLAMA.replace("id: attn}", "id: attn, open: true}")
    one = inspect(spec, library, config="8B")
    other = inspect(spec_of(opened), library, config="8B")
    assert one.params == other.params
    assert one.flops == other.flops
    assert one.kv_cache == other.kv_cache


def test_a_mixture_has_fewer_active_weights() -> None:
    found = inspect(spec_of(MIXTRAL), Texts(MORE), config="8x7B")
    assert found.params.total.number == 46_702_792_704
    assert found.params.active.number == 12_879_925_248
    roles = {role: amount.number for role, amount in found.params.by_role.items()}
    assert roles["routed_experts"] == 32 * 8 * 3 * 4096 * 14336
    assert roles["router"] == 32 * 4096 * 8
    assert sum(n or 0 for n in roles.values()) == 46_702_792_704


def test_a_compressed_cache_is_one_latent_and_the_rotated_key() -> None:
    """DeepSeek-V3: 187,107,328 weights and 576 cached numbers a layer; 61 layers keep 35,136."""
    found = inspect(spec_of(MLA), config="V3")
    assert found.params.total.number == 187_107_328
    assert found.kv_cache.per_token.number == 576
    assert str(found.kv_cache.per_token.formula) in ("d_c + d_R", "d_R + d_c")
    stack = (
        "title: Stack\ndims: {d_t: positions, d_m: width, n_h: heads, d_K: k, d_V: v, d_R: r, "
        "d_c: c, d_cq: q}\nconfigs: {V3: {d_m: 7168, n_h: 128, d_K: 128, d_V: 128, d_R: 64, "
        "d_c: 512, d_cq: 1536}}\ninputs: {x: [d_t, d_m]}\n"
        "blocks: [{repeat: 61, blocks: [{residual: [rmsnorm, {use: mla, id: attn}]}]}]\n"
    )
    found = inspect(spec_of(stack), Texts(MORE), config="V3")
    assert found.kv_cache.per_token.number == 35_136
    (layer,) = found.kv_cache.layers
    assert (layer.path, layer.elements.number, layer.times.number) == ("attn", 576, 61)


def test_a_model_without_attention_has_no_cache() -> None:
    text = (
        "title: Mixer\ndims: {d_t: positions, d_m: width}\ninputs: {x: [d_t, d_m]}\n"
        "blocks: [{repeat: 24, blocks: [{residual: [rmsnorm, {op: box, params: 1000}]}]}]\n"
    )
    found = inspect(spec_of(text), overrides={"d_m": 768})
    assert found.kv_cache.per_token.number == 0
    assert found.kv_cache.layers == ()
    assert found.params.total.number == 24 * (768 + 1000)


def test_a_repeated_block_is_drawn_once_with_its_count() -> None:
    text = """
title: Repeat
inputs: {in: {shape: [...], label: Embedding}}
outputs: {out: {label: LM head}}
blocks:
  - {repeat: 48, id: stack, blocks: [{op: box, id: blk, label: Block, params: 7087872}]}
"""
    everything = parts(graph_of(text).root)
    assert sum(isinstance(p, Node) and p.label == "Block" for p in everything.values()) == 1
    stack = everything["stack"]
    assert isinstance(stack, Group)
    assert stack.badge == "$48 \\times$"
    assert inspect(spec_of(text)).params.total.number == 340_217_856


def test_a_tied_table_must_fit() -> None:
    wrong = LLAMA.replace("out: V, table: embed", "out: d_h, table: embed")
    (fault,) = (f for f in check_of(wrong, MORE).report.errors if f.code == "share-mismatch")
    assert "embed" in fault.message
    with pytest.raises(DiagramError) as caught:
        inspect(spec_of(LLAMA.replace("table: embed", "table: embd")), Texts(MORE), config="3.2-1B")
    assert "embed" in caught.value.faults[0].hint
