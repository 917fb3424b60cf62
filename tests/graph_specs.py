"""Small specs for the tests of the graph and of the counts, and a library that holds texts."""

from __future__ import annotations

from collections.abc import Mapping

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.graph.build import build
from transformer_diagrams.graph.check import Checked, check
from transformer_diagrams.graph.ir import BORDER, Graph, Group, Node
from transformer_diagrams.spec import load_text
from transformer_diagrams.spec.model import Spec

FFN = """
title: Feed-forward network
short: FFN
role: ffn
dims: {d_t: positions, d_m: model width, d_h: {doc: hidden width, default: 4 d_m}}
options: {bias: {doc: biases, default: true}}
inputs: {x: [d_t, d_m]}
outputs: {y: [d_t, d_m]}
blocks:
  - {op: linear, id: up, out: d_h, bias: bias}
  - gelu
  - {op: linear, id: down, out: d_m, bias: bias}
"""

ATTENTION = """
title: Grouped-query attention
short: GQA
role: attention
dims:
  d_t: target positions
  d_s: {doc: source positions, default: d_t}
  d_m: model width
  n_h: query heads
  n_g: {doc: key and value heads, default: n_h}
  d_K: {doc: head width, value: d_m / n_h}
where: [n_g | n_h, n_h | d_m]
options: {bias: {doc: biases, default: false}}
inputs: {x: [d_t, d_m]}
outputs: {y: [d_t, d_m]}
blocks:
  - parallel:
      q:
        - {op: linear, id: W_Q, out: n_h d_K, bias: bias}
        - {op: split_heads, id: heads_q, heads: n_h}
      k:
        - {op: linear, id: W_K, out: n_g d_K, bias: bias}
        - {op: split_heads, id: heads_k, heads: n_g}
      v:
        - {op: linear, id: W_V, out: n_g d_K, bias: bias}
        - {op: split_heads, id: heads_v, heads: n_g}
  - {op: cache, id: kv, from: [k, v], length: d_s}
  - {op: matmul, id: scores, from: [q, kv.0], transpose_b: true, grouped: true}
  - {op: scale, by: 1/sqrt(d_K)}
  - {op: softmax, id: weights}
  - {op: matmul, id: mix, from: [weights, kv.1], grouped: true}
  - {op: merge_heads, id: merged}
  - {op: linear, id: W_O, out: d_m, bias: bias}
"""

BLOCK = """
title: GPT-2 block
dims: {d_t: positions, d_m: model width, n_h: heads}
inputs: {x: [d_t, d_m]}
outputs: {y: [d_t, d_m]}
blocks:
  - residual: [layernorm, {use: attention, id: attn, with: {bias: true}}]
  - residual: [layernorm, {use: ffn, id: mlp}]
"""

GPT2 = """
title: GPT-2
dims:
  d_t: positions
  d_m: model width
  n_h: heads
  V: vocabulary
  P: {doc: longest context, default: "1024"}
  L: blocks
configs:
  small: {L: 12, d_m: 768, n_h: 12, V: 50257}
  xl: {L: 48, d_m: 1600, n_h: 25, V: 50257}
inputs: {tokens: {shape: [d_t], dtype: int}}
outputs: {logits: [d_t, V]}
blocks:
  - {op: embedding, id: embed, vocab: V, width: d_m}
  - {op: learned_position, id: position, length: d_t, width: d_m, table: P}
  - {op: add, from: [embed, position]}
  - repeat: L
    id: stack
    title: Transformer block
    blocks:
      - residual: [layernorm, {use: attention, id: attn, with: {bias: true}}]
      - residual: [layernorm, {use: ffn, id: mlp}]
  - layernorm
  - {op: tied_linear, id: head, table: embed, out: V}
"""

SPECS = {"ffn": FFN, "attention": ATTENTION, "block": BLOCK, "gpt2": GPT2}


class Texts:
    """A library of texts by id."""

    def __init__(self, texts: Mapping[str, str] = SPECS) -> None:
        self.texts = {**SPECS, **texts}
        self.loaded: dict[str, Spec] = {}

    def get(self, ref: str, base: Spec | None = None, /) -> Spec:
        del base
        if ref not in self.texts:
            raise DiagramError(Fault("unknown-spec", f"there is no spec '{ref}'"))
        if ref not in self.loaded:
            self.loaded[ref] = spec_of(self.texts[ref], ref)
        return self.loaded[ref]


def spec_of(text: str, name: str = "case") -> Spec:
    """The spec that ``text`` is; faults of the text itself are raised."""
    spec, report = load_text(text, f"{name}.yaml")
    report.raise_if_errors()
    return spec


def graph_of(text: str, *, more: Mapping[str, str] = SPECS, **options: object) -> Graph:
    """The graph of ``text``."""
    return build(spec_of(text), Texts(more), **options)  # type: ignore[arg-type]


def check_of(text: str, more: Mapping[str, str] = SPECS) -> Checked:
    """The check of ``text``."""
    return check(spec_of(text), Texts(more))


def faults_of(text: str, more: Mapping[str, str] = SPECS) -> list[Fault]:
    """The errors in ``text``."""
    return check_of(text, more).report.errors


def only_fault(text: str, more: Mapping[str, str] = SPECS) -> Fault:
    """The one error in ``text``."""
    faults = faults_of(text, more)
    assert len(faults) == 1, [f.message for f in faults]
    return faults[0]


def warnings_of(text: str, more: Mapping[str, str] = SPECS) -> list[Fault]:
    """The warnings about ``text``."""
    return check_of(text, more).report.warnings


def parts(group: Group) -> dict[str, Node | Group]:
    """Everything in ``group`` by path, however deep."""
    found: dict[str, Node | Group] = {}
    todo: list[Node | Group] = [group]
    while todo:
        part = todo.pop()
        found[part.path] = part
        if isinstance(part, Group):
            todo.extend(part.children)
    return found


def wires(group: Group) -> list[tuple[str, str, str]]:
    """(tail, head, kind) of the edges of ``group``, by the last part of the path."""

    def name(child: int) -> str:
        return "border" if child == BORDER else group.children[child].path

    return [(name(e.tail.child), name(e.head.child), e.kind) for e in group.edges]
