"""Nodes -> Spec: what is read, and one fault for each mistake, in its place."""

from __future__ import annotations

import time

import pytest
from spec_tools import codes, faults, good, load, one

from transformer_diagrams.errors import MAX_FAULTS, Report, Span
from transformer_diagrams.spec.blocks import walk
from transformer_diagrams.spec.load import decode, load_bytes, load_path
from transformer_diagrams.spec.model import Ref, Text

FULL = """\
title: A title
short: Short
caption: What it shows.
family: test
role: attention
counts_as: attention
source: {title: T, arxiv: 1706.03760, year: 2017, authors: A, url: u, note: n}
tags: [a, 2]
builds_on: [gqa]
dims:
  d_t: positions
  d_m: {doc: width, default: 512, tex: "d'"}
  n_h: heads
  d_K: {doc: head, value: d_m / n_h}
  L: 1
where: [n_h | d_m]
options:
  bias: {doc: biases, default: true}
  kind: {choices: [gelu, relu]}
configs:
  8B: {d_m: 4096, n_h: 4 * 8, bias: false, kind: relu, source: a table}
inputs:
  x: [d_t, d_m]
  m: {shape: [..., d_t], dtype: bool, label: mask, doc: d, when: train}
outputs:
  y: {from: last.out, shape: [d_t, d_m]}
show: {shapes: all, where: true, config: 8B, legend: true, frame: false, direction: right}
x-anchors: {anything: [goes]}
blocks:
  - softmax
  - op: linear
    id: first
    out: d_m
    bias: bias
    label: 12:30
    shape: [d_t, d_m]
    stack: n_h
    copies: 2
    mark: frozen
    when: train
    if: not bias and kind == gelu
    share: last
    once: true
    note: n
    role: norm
    counts_as: lm_head
  - residual: [rmsnorm, {op: rmsnorm, eps: 1e-5}]
  - repeat: L
    title: T
    open: true
    direction: up
    blocks: [softmax]
  - group: [softmax]
  - parallel: [[softmax], []]
  - parallel: {q: [softmax], k: []}
  - columns: [{id: left, from: x, title: L, blocks: [softmax]}, {blocks: [add]}]
  - {use: gqa, open: callout, with: {n_g: 1, bias: true, d: 2 d_m}}
  - {op: split, sizes: [d_K, 3], axis: -1, from: [q, {from: x, when: infer, mark: ema}]}
  - {op: scale, by: 1/sqrt(d_K), id: last, from: {a: q, b: {from: x, label: l}}}
"""


def test_everything_the_language_has() -> None:
    spec = good(FULL)
    assert (spec.id, spec.title, spec.short, spec.role) == ("t", "A title", "Short", "attention")
    assert spec.source.arxiv == "1706.03760"
    assert spec.source.year == 2017
    assert spec.tags == ("a", "2")
    assert spec.builds_on == (Text("gqa", Span("t.yaml", 9, 13)),)
    assert spec.dims["d_m"].default == Text("512", Span("t.yaml", 12, 30))
    assert spec.dims["d_m"].tex == "d'"
    assert spec.dims["d_K"].value == Text("d_m / n_h", Span("t.yaml", 14, 27))
    assert spec.dims["L"].doc == "1"
    assert spec.where == (Text("n_h | d_m", Span("t.yaml", 16, 9)),)
    assert spec.options["bias"].default is True
    assert spec.options["kind"].default == "gelu"
    config = spec.configs["8B"]
    assert {n: v.value for n, v in config.dims.items()} == {"d_m": 4096, "n_h": "4 * 8"}
    assert {n: v.value for n, v in config.options.items()} == {"bias": False, "kind": "relu"}
    assert config.source == "a table"
    mask = spec.inputs["m"]
    assert [str(axis) for axis in mask.shape or ()] == ["...", "d_t"]
    assert (mask.dtype, str(mask.label), mask.when) == ("bool", "mask", "train")
    assert spec.outputs["y"].source == Text("last.out", Span("t.yaml", 26, 13))
    assert spec.show.direction == "right"
    assert spec.show.frame is False


def test_blocks_of_every_kind() -> None:
    blocks = good(FULL).blocks
    assert [b.kind for b in blocks] == [
        "op", "op", "residual", "repeat", "group", "parallel", "parallel", "columns", "use", "op",
        "op",
    ]  # fmt: skip
    linear = blocks[1]
    assert (linear.id, linear.explicit_id, linear.op) == ("first", True, "linear")
    assert linear.attrs["out"].value == "d_m"
    assert linear.attrs["bias"].value == "bias"  # the name of an option
    assert str(linear.label) == "12:30"
    assert linear.label is not None
    assert linear.label.span == Span("t.yaml", 35, 12)
    assert linear.key_spans["label"] == Span("t.yaml", 35, 5)
    assert str(linear.condition) == "not bias and kind == gelu"
    assert (linear.mark, linear.when, linear.once, str(linear.share)) == (
        "frozen", "train", True, "last",
    )  # fmt: skip
    assert blocks[2].children[1].attrs["eps"].value == 1e-5
    assert str(blocks[3].count) == "L"
    assert [b.id for b in blocks[6].children] == ["q", "k"]
    assert [b.kind for b in blocks[7].children] == ["group", "group"]
    use = blocks[8]
    assert (use.use, use.open) == ("gqa", "callout")
    assert {n: v.value for n, v in use.bind.items()} == {"n_g": 1, "bias": True, "d": "2 d_m"}
    split = blocks[9]
    assert split.attrs["sizes"].texts == ("d_K", "3")
    assert split.attrs["axis"].value == -1
    assert blocks[10].attrs["by"].value == "1/sqrt(d_K)"
    assert split.sources == (
        Ref("q", Span("t.yaml", 58, 51)),
        Ref("x", Span("t.yaml", 58, 61), when="infer", mark="ema"),
    )
    assert blocks[10].sources is not None
    assert [(r.port, r.target) for r in blocks[10].sources] == [("a", "q"), ("b", "x")]
    assert blocks[2].children[1].path == "blocks[2].residual[1]"


def test_generated_ids_are_stable_and_never_taken() -> None:
    text = "blocks: [softmax, softmax, {op: add, id: softmax-3}, softmax, {residual: [softmax]}]\n"
    spec = good(text)
    assert [b.id for b in walk(spec.blocks)] == [
        "softmax", "softmax-2", "softmax-3", "softmax-4", "residual", "softmax-5",
    ]  # fmt: skip
    later = good("blocks: [softmax, {op: add, id: softmax}]\n")
    assert [b.id for b in later.blocks] == ["softmax-2", "softmax"]
    beside = good("inputs: {add: [3]}\nblocks: [add]\n")
    assert [b.id for b in beside.blocks] == ["add-2"]


@pytest.mark.parametrize(
    "text",
    [
        "blocks: [softmax]\n",
        "blocks:\n- softmax\n",
        "inputs: {x: [...]}\nblocks: [softmax]\n",
        "inputs: {x: [...B, 3]}\nblocks: [{op: box, from: []}]\n",
        "blocks: [{op: box, label: ''}]\n",
        "blocks:\n  - op: box\n    label: |\n      a\n      b\n",
        "blocks: [{op: box, shape: {a: [3], b: [4]}}]\n",
        "blocks: [{op: split, sizes: [1], axis: 0}]\n",
        "blocks: [{group: [add], open: callout}]\n",
        "blocks: [{op: add, from: softmax}, {op: softmax, from: add.0}]\n",  # forward
        "title: 2017\nblocks: [add]  # a comment\n",
        "caption: text   # a comment\nblocks: [add]\n",
        "blocks: [{op: box, id: on}, {op: add, from: [on]}]\n",
    ],
)
def test_accepted(text: str) -> None:
    good(text)


@pytest.mark.parametrize(
    ("text", "code", "place", "path", "hint"),
    [
        # the file
        ("titel: x\nblocks: [add]\n", "unknown-key", (1, 1), "titel", "'title'"),
        ("title: x\n", "missing-key", (1, 1), "", ""),
        ("blcks: [add]\n", "unknown-key", (1, 1), "blcks", "'blocks'"),
        ("- add\n", "not-a-mapping", (1, 1), "", "'blocks:'"),
        ("just text\n", "not-a-mapping", (1, 1), "", "'title:'"),
        ("blocks: []\n", "no-blocks", (1, 9), "blocks", ""),
        ("blocks: add\n", "wrong-type", (1, 9), "blocks", "[add]"),
        ("blocks: {op: add}\n", "wrong-type", (1, 9), "blocks", "'- '"),
        ("blocks:\n", "no-value", (1, 8), "blocks", ""),
        ("role: atention\nblocks: [add]\n", "bad-choice", (1, 7), "role", "'attention'"),
        ("show: {direction: sideways}\nblocks: [add]\n", "bad-choice", (1, 19),
         "show.direction", ""),
        ("show: {config: 8C}\nconfigs: {8B: {}}\nblocks: [add]\n", "unknown-config", (1, 16),
         "show.config", ""),
        ("source: {yeer: 2017}\nblocks: [add]\n", "unknown-key", (1, 10), "source.yeer", "'year'"),
        ("source: {year: '2017'}\nblocks: [add]\n", "wrong-type", (1, 17), "source.year",
         "without the quotes"),
        ("tags: a\nblocks: [add]\n", "wrong-type", (1, 7), "tags", ""),
        # sizes
        ("dims: {d-m: x}\nblocks: [add]\n", "bad-id", (1, 8), "dims.d-m", ""),
        ("dims: {a: {valu: 3}}\nblocks: [add]\n", "unknown-key", (1, 12), "dims.a.valu",
         "'value'"),
        ("dims: {a: {value: 2 +}}\nblocks: [add]\n", "expression", (1, 22), "dims.a.value", ""),
        ("dims: {a: {value: b}, b: {value: a}}\nblocks: [add]\n", "definition-cycle", (1, 19),
         "dims.a.value", ""),
        ("blocks: [{op: linear, out: 2 d_x}]\n", "unknown-dim", (1, 30), "blocks[0].out",
         "add it to 'dims': d_x"),
        ("options: {b: {}}\nblocks: [{op: linear, out: 2 b}]\n", "unknown-dim", (2, 30),
         "blocks[0].out", ""),
        ("dims: {d_m: x}\nblocks: [{op: linear, out: 2 d_n}]\n", "unknown-dim", (2, 30),
         "blocks[0].out", "'d_m'"),
        ("dims: {d_m: x}\nblocks: [{op: linear, out: '2 d_n'}]\n", "unknown-dim", (2, 31),
         "blocks[0].out", "'d_m'"),
        ("where: [a |]\nblocks: [add]\n", "expression", (1, 12), "where[0]", ""),
        ("where: a | b\nblocks: [add]\n", "wrong-type", (1, 8), "where", "[a | b]"),
        ("dims: {a: x}\nconfigs: {c: {b: 3}}\nblocks: [add]\n", "unknown-dim", (2, 15),
         "configs.c.b", ""),
        ("dims: {a: x}\nconfigs: {c: {a: 0}}\nblocks: [add]\n", "not-positive", (2, 18),
         "configs.c.a", ""),
        ("dims: {a: x}\nconfigs: {c: {a: -5}}\nblocks: [add]\n", "not-positive", (2, 18),
         "configs.c.a", ""),
        ("dims: {a: x}\nconfigs: {c: {a: a}}\nblocks: [add]\n", "wrong-type", (2, 18),
         "configs.c.a", ""),
        ("dims: {a: x}\nconfigs: {c: {a: 1.5}}\nblocks: [add]\n", "not-positive", (2, 18),
         "configs.c.a", ""),
        # options
        ("options: {b: {default: on}}\nblocks: [add]\n", "wrong-type", (1, 24),
         "options.b.default", "write true"),
        ("options: {b: {choices: [p, q], default: r}}\nblocks: [add]\n", "bad-choice", (1, 41),
         "options.b.default", ""),
        ("options: {tied: {}}\nblocks: [{op: add, if: not tide}]\n", "unknown-option", (2, 28),
         "blocks[0].if", "'tied'"),
        ("options: {k: {choices: [gelu]}}\nblocks: [{op: add, if: k == gleu}]\n", "bad-choice",
         (2, 29), "blocks[0].if", "'gelu'"),
        ("options: {k: {choices: [gelu]}}\nblocks: [{op: add, if: k}]\n", "bad-choice", (2, 24),
         "blocks[0].if", ""),
        ("blocks: [{op: add, if: a b}]\n", "expression", (1, 26), "blocks[0].if", "'and'"),
        ("dims: {a: x}\noptions: {a: {}}\nblocks: [add]\n", "duplicate-name", (1, 8), "dims.a",
         ""),
        # tensors
        ("inputs: {x: d_t}\nblocks: [add]\n", "wrong-type", (1, 13), "inputs.x", "[d_t]"),
        ("inputs: {x: [512, ...]}\nblocks: [add]\n", "bad-shape", (1, 19), "inputs.x[1]", ""),
        ("inputs: {x: [...1]}\nblocks: [add]\n", "bad-shape", (1, 14), "inputs.x[0]", ""),
        ("inputs: {x: {shap: [1]}}\nblocks: [add]\n", "unknown-key", (1, 14), "inputs.x.shap",
         "'shape'"),
        ("inputs: {x: [0]}\nblocks: [add]\n", "not-positive", (1, 14), "inputs.x[0]", ""),
        ("outputs: {y: {from: z}}\nblocks: [add]\n", "unknown-reference", (1, 21),
         "outputs.y.from", "add"),
        ("inputs: {x: {dtype: flaot}}\nblocks: [add]\n", "bad-choice", (1, 21), "inputs.x.dtype",
         "'float'"),
        # kinds
        ("blocks: [linaer]\n", "unknown-op", (1, 10), "blocks[0]", "'linear'"),
        ("blocks: [{op: sofmax}]\n", "unknown-op", (1, 15), "blocks[0].op", "'softmax'"),
        ("blocks: [gqa]\n", "unknown-op", (1, 10), "blocks[0]", "{use: gqa}"),
        ("blocks: [{op: linear, use: gqa, out: 3}]\n", "two-kinds", (1, 23), "blocks[0]", ""),
        ("blocks: [{op: add, repeat: 3}]\n", "two-kinds", (1, 20), "blocks[0]", "goes around"),
        ("blocks: [{id: a}]\n", "no-kind", (1, 10), "blocks[0]", ""),
        ("blocks: [{linear: {out: 3}}]\n", "no-kind", (1, 10), "blocks[0]", "{op: linear"),
        ("blocks: [{residul: [add]}]\n", "no-kind", (1, 10), "blocks[0]", "'residual'"),
        ("blocks: [{blocks: [add]}]\n", "no-kind", (1, 10), "blocks[0]", "group"),
        ("blocks: [[add]]\n", "wrong-type", (1, 10), "blocks[0]", "'group'"),
        ("blocks: [3]\n", "wrong-type", (1, 10), "blocks[0]", ""),
        ("blocks:\n  - add\n  -\n", "no-value", (3, 4), "blocks[1]", "delete"),
        # keys of kinds
        ("blocks: [{op: split_heads, heads: 8, hedas: 8}]\n", "unknown-key", (1, 38),
         "blocks[0].hedas", "'heads'"),
        ("blocks: [{op: add, lable: x}]\n", "unknown-key", (1, 20), "blocks[0].lable", "'label'"),
        ("blocks: [{op: linear, outt: 3}]\n", "unknown-key", (1, 23), "blocks[0].outt", "'out'"),
        ("blocks: [{op: linear}]\n", "missing-key", (1, 11), "blocks[0]", ""),
        ("blocks: [linear]\n", "missing-key", (1, 10), "blocks[0]", "{op: linear, out: ...}"),
        ("blocks: [{repeat: 3}]\n", "missing-key", (1, 10), "blocks[0]", ""),
        ("blocks: [{repeat: 3, block: [add]}]\n", "unknown-key", (1, 22), "blocks[0].block",
         "'blocks'"),
        ("blocks: [{repeat: 0, blocks: [add]}]\n", "not-positive", (1, 19), "blocks[0].repeat",
         ""),
        ("blocks: [{repeat: 2.5, blocks: [add]}]\n", "not-positive", (1, 19), "blocks[0].repeat",
         ""),
        ("blocks: [{op: add, with: {a: 1}}]\n", "unknown-key", (1, 20), "blocks[0].with", ""),
        ("blocks: [{op: add, open: true}]\n", "unknown-key", (1, 20), "blocks[0].open", ""),
        ("blocks: [{residual: add}]\n", "wrong-type", (1, 21), "blocks[0].residual", "[add]"),
        ("blocks: [{residual: []}]\n", "no-blocks", (1, 21), "blocks[0].residual", ""),
        ("blocks: [{parallel: add}]\n", "wrong-type", (1, 21), "blocks[0].parallel", ""),
        ("blocks: [{columns: [{id: a}]}]\n", "missing-key", (1, 21), "blocks[0].columns[0]", ""),
        ("blocks: [{columns: [{blocks: [add], froom: x}]}]\n", "unknown-key", (1, 37),
         "blocks[0].columns[0].froom", "'from'"),
        ("blocks: [{group: [{op: linear}]}]\n", "missing-key", (1, 20), "blocks[0].group[0]", ""),
        # attributes
        ("blocks: [{op: linear, out: 3, bias: yes}]\n", "wrong-type", (1, 37), "blocks[0].bias",
         "write true"),
        ("blocks: [{op: linear, out: 3, bias: 'true'}]\n", "wrong-type", (1, 38),
         "blocks[0].bias", "without the quotes"),
        ("blocks: [{op: softmax, axis: 1.5}]\n", "wrong-type", (1, 30), "blocks[0].axis", ""),
        ("blocks: [{op: rmsnorm, eps: '1e-5'}]\n", "wrong-type", (1, 30), "blocks[0].eps",
         "without the quotes: 1e-5"),
        ("blocks: [{op: rmsnorm, eps: 1e999}]\n", "wrong-type", (1, 29), "blocks[0].eps", ""),
        ("blocks: [{op: pool, kind: maxx}]\n", "bad-choice", (1, 27), "blocks[0].kind", "'max'"),
        ("blocks: [{op: linear, out: [3]}]\n", "wrong-type", (1, 28), "blocks[0].out", ""),
        ("blocks: [{op: split, sizes: 3}]\n", "wrong-type", (1, 29), "blocks[0].sizes", "[3]"),
        ("blocks: [{op: linear, out: true}]\n", "wrong-type", (1, 28), "blocks[0].out", ""),
        ("blocks: [{op: box, id: embed}, {op: tied_linear, out: 3, table: embd}]\n",
         "unknown-reference", (1, 65), "blocks[1].table", "'embed'"),
        ("blocks: [{group: [add], id: g}, {op: add, share: g}]\n", "unknown-reference", (1, 50),
         "blocks[1].share", "a structure has no weights"),
        ("blocks: [add, {op: add, share: add.0}]\n", "unknown-reference", (1, 32),
         "blocks[1].share", "'add'"),
        # attributes by the name of an option
        ("options: {o: {choices: [mean]}}\nblocks: [{op: mean, keep: o}]\n", "bad-choice",
         (2, 27), "blocks[0].keep", ""),
        ("options: {o: {}}\nblocks: [{op: pool, kind: o}]\n", "bad-choice", (2, 27),
         "blocks[0].kind", "call the option something else"),
        ("options: {o: {choices: [p]}}\nblocks: [{op: pool, kind: o}]\n", "bad-choice",
         (2, 27), "blocks[0].kind", ""),
        ("options: {o: {}}\nblocks: [{op: scale, by: o}]\n", "bad-choice", (2, 26),
         "blocks[0].by", "call the option something else"),
        ("options: {o: {}}\nblocks: [{op: softmax, axis: o}]\n", "wrong-type", (2, 30),
         "blocks[0].axis", ""),
        # common keys
        ("blocks: [{op: add, mark: frozn}]\n", "bad-choice", (1, 26), "blocks[0].mark",
         "'frozen'"),
        ("blocks: [{op: add, when: never}]\n", "bad-choice", (1, 26), "blocks[0].when", ""),
        ("blocks: [{op: add, shape: d_m}]\n", "wrong-type", (1, 27), "blocks[0].shape", "[d_m]"),
        ("blocks: [{op: add, id: 1}]\n", "bad-id", (1, 24), "blocks[0].id", ""),
        ("blocks: [{op: add, id: a b}]\n", "bad-id", (1, 24), "blocks[0].id", "a-b"),
        ("blocks: [{op: add, id: true}]\n", "bad-id", (1, 24), "blocks[0].id", "quotes"),
        ("blocks: [{op: add, once: on}]\n", "wrong-type", (1, 26), "blocks[0].once",
         "write true"),
        ("blocks: [{use: a, open: callot}]\n", "bad-choice", (1, 25), "blocks[0].open",
         "'callout'"),
        # references
        ("blocks: [{op: box, id: embed}, {op: add, from: embde}]\n", "unknown-reference",
         (1, 48), "blocks[1].from", "'embed'"),
        ("inputs: {tokens: [3]}\nblocks: [{op: add, from: [tokns, tokens]}]\n",
         "unknown-reference", (2, 27), "blocks[0].from[0]", "'tokens'"),
        ("blocks: [add, {op: softmax, from: {q: add, k: adn}}]\n", "unknown-reference", (1, 47),
         "blocks[1].from.k", "'add'"),
        ("blocks: [add, {op: softmax, from: {from: add, wen: train}}]\n", "unknown-key", (1, 47),
         "blocks[1].from.wen", "'when'"),
        ("blocks: [add, {op: softmax, from: 'a, b'}]\n", "bad-reference", (1, 36),
         "blocks[1].from", "[a, b]"),
        ("inputs: {x: [3]}\nblocks: [{op: add, share: x}]\n", "unknown-reference", (2, 27),
         "blocks[0].share", "no weights"),
        ("inputs: {x: [3]}\nblocks: [{op: add, id: x}]\n", "duplicate-id", (2, 24), "", ""),
        ("blocks: [{op: add, id: a}, {group: [{op: add, id: a}]}]\n", "duplicate-id", (1, 51),
         "blocks[1].group[0].id", ""),
        ("blocks: [&n {op: add, id: a}, *n]\n", "duplicate-id", (1, 27), "blocks[1].id", "<<"),
        # text
        ("blocks: [{op: add, label: {d_m}}]\n", "wrong-type", (1, 27), "blocks[0].label",
         "'{d_m}'"),
        ("blocks: [{op: add, label: {{d_m}}}]\n", "key-not-text", (1, 28),
         "blocks[0].label", "single quotes"),
        ("blocks: [{op: add, label: [CLS]}]\n", "wrong-type", (1, 27), "blocks[0].label",
         "'[CLS]'"),
        ("blocks: [{op: add, label: [CLS] token}]\n", "yaml-syntax", (1, 33), "blocks[0]",
         "single quotes"),
        ("blocks:\n  - op: add\n    label: &x\n", "no-value", (3, 12), "blocks[0].label", "'&x'"),
        ("blocks:\n  - op: add\n    label: ~\n", "no-value", (3, 12), "blocks[0].label", "'~'"),
        ("blocks:\n  - op: add\n    label: #1\n", "no-value", (3, 11), "blocks[0].label", ""),
        ("blocks: [{op: add, label: true}]\n", "wrong-type", (1, 27), "blocks[0].label",
         "'true'"),
        ("blocks:\n  - op: add\n    label: softmax #1\n", "cut-at-hash", (3, 20),
         "blocks[0].label", "'softmax #1'"),
        ("blocks:\n  - op: add\n    label: a # b\n", "cut-at-hash", (3, 14), "blocks[0].label",
         "'a # b'"),
        ('blocks: [{op: add, label: "a \\times b"}]\n', "backslash", (1, 30), "blocks[0].label",
         "'a \\times b'"),
        ('blocks: [{op: add, label: "\\nu"}]\n', "backslash", (1, 28), "blocks[0].label",
         "'\\nu'"),
        ('blocks: [{op: add, label: "d\\_m"}]\n', "backslash", (1, 29), "blocks[0].label",
         "'d\\_m'"),
        ('blocks: [{op: add, label: "a\\x07b"}]\n', "control-character", (1, 29),
         "blocks[0].label", "delete"),
        ("blocks: [{op: add, label: a\tb}]\n", "tab", (1, 28), "blocks[0]", "use a space"),
        ("blocks: [{op: add, label: 'a\tb'}]\n", "control-character", (1, 29),
         "blocks[0].label", "use a space"),
        ("blocks: [{op: add, label: '" + "long text " * 10_000 + "'}]\n", "text-too-long",
         (1, 28), "blocks[0].label", "shorten"),
    ],
)  # fmt: skip
def test_one_fault_in_its_place(
    text: str, code: str, place: tuple[int, int], path: str, hint: str
) -> None:
    fault = one(text)
    assert (fault.code, (fault.span.line, fault.span.column), fault.path) == (code, place, path)
    assert hint in fault.hint
    assert fault.span.file == "t.yaml"
    assert fault.message[0].islower() or fault.message[0] in "'\""
    assert "\n" not in fault.message
    assert (fault.severity == "warning") == (code == "cut-at-hash")


def test_a_fault_of_an_op_speaks_of_that_op_alone() -> None:
    fault = one("blocks: [{op: split_heads, heads: 8, hedas: 8}]\n")
    words = " ".join((fault.message, fault.found, fault.expected, fault.hint))
    for other in ("linear", "softmax", "residual", "use", "repeat", "axis"):
        assert other not in words


def test_all_faults_come_in_one_run() -> None:
    text = (
        "titel: x\ndims: {d_m: width}\nblocks:\n  - {op: linear, out: d_n, bias: yes, lable: a}\n"
        "  - {repeat: 0, blocks: [softmaks, {op: add, from: [a, b]}]}\n"
    )
    assert sorted(codes(text)) == [
        "not-positive", "unknown-dim", "unknown-key", "unknown-key", "unknown-op",
        "unknown-reference", "unknown-reference", "wrong-type",
    ]  # fmt: skip


def test_a_label_may_have_lines_of_its_own() -> None:
    spec = good('blocks: [{op: box, label: "two\\nlines"}]\n')
    assert str(spec.blocks[0].label) == "two\nlines"


def test_words_that_yaml_makes_booleans_stay_text() -> None:
    spec = good("blocks: [{op: box, id: on, label: No}, {op: add, id: y, from: [on, on]}]\n")
    assert [b.id for b in spec.blocks] == ["on", "y"]
    assert str(spec.blocks[0].label) == "No"


def test_expressions_are_only_text_and_still_have_an_exact_column() -> None:
    fault = one('blocks: [{op: linear, out: "2 * (d_m"}]\n')
    assert fault.code == "expression"
    assert fault.span.line == 1
    assert 29 <= fault.span.column <= 38


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b"title: caf\xe9\n", "encoding", (1, 11)),
        (b"\xef\xbb\xbfa: b\nc: \xc3\xa9\xff\n", "encoding", (2, 5)),
        ("blocks: [add]\n".encode("utf-16"), "encoding", (1, 1)),
    ],
)
def test_bytes_that_are_not_utf_8(data: bytes, code: str, place: tuple[int, int]) -> None:
    report = Report()
    assert decode(data, "t.yaml", report) is None
    (fault,) = report.faults
    assert (fault.code, (fault.span.line, fault.span.column)) == (code, place)
    spec, again = load_bytes(data, "t.yaml")
    assert spec.blocks == ()
    assert again.faults == report.faults


def test_what_the_disk_refuses_is_a_fault(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for path in (tmp_path / "none.yaml", tmp_path, "a\0b"):
        spec, report = load_path(str(path))
        assert [f.code for f in report.faults] == ["no-file"]
        assert spec.blocks == ()


def test_time_grows_with_the_length_only() -> None:
    def seconds(count: int) -> float:
        lines = [f"  - {{op: linear, id: n{i}, out: d_m, label: L{i}}}\n" for i in range(count)]
        text = "dims: {d_m: width}\nblocks:\n" + "".join(lines)
        begin = time.process_time()
        assert len(good(text).blocks) == count
        return time.process_time() - begin

    seconds(100)
    small, large = min(seconds(2_000) for _ in range(3)), seconds(20_000)
    assert large < 30 * small + 0.2


def test_many_faults_do_not_take_long() -> None:
    lines = [f"  - {{op: linear, out: 3, from: nope{i}, lable: x}}\n" for i in range(3_000)]
    begin = time.process_time()
    found = faults("blocks:\n" + "".join(lines))
    assert len(found) == MAX_FAULTS + 1
    assert found[-1].code == "too-many-faults"
    assert time.process_time() - begin < 10


def test_the_same_text_gives_the_same_spec() -> None:
    assert load(FULL) == load(FULL)
    assert load(FULL, pure=True) == load(FULL)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_byte_that_is_no_text_has_its_line_whatever_ends_lines(end: str) -> None:
    report = Report()
    assert decode(f"a: b{end}c: {end}  ".encode() + b"\xf7", "t.yaml", report) is None
    assert (report.faults[0].span.line, report.faults[0].span.column) == (3, 3)
