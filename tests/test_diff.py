"""What differs between two architectures, against what is known of them, and the command."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from selection import FIGURES

from transformer_diagrams import api
from transformer_diagrams.api import Model, load
from transformer_diagrams.cli.app import run
from transformer_diagrams.diff import Comparison, Difference, side_by_side, text_of
from transformer_diagrams.diff.compare import NOTATION
from transformer_diagrams.diff.flat import Flat
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.graph.ir import Group, Node
from transformer_diagrams.layout.engine import LayoutOptions, layout
from transformer_diagrams.lint import lint
from transformer_diagrams.theme import NAMES, get


def compared(a: str | Model, b: str | Model, **more: str) -> Comparison:
    models = [load(m) if isinstance(m, str) else m for m in (a, b)]
    return api.compare(models[0], models[1], **more)


def by_aspect(found: Comparison, level: str = "structure") -> dict[str, Difference]:
    return {d.aspect: d for d in found.differences if d.level == level}


def told(found: Comparison) -> set[tuple[str, str, str]]:
    return {(d.aspect, d.a, d.b) for d in found.differences}


# -- what an expert would say


def test_gpt2_and_llama3_differ_as_an_expert_says() -> None:
    found = compared("gpt2", "llama3")
    d = by_aspect(found)
    assert set(d) == {
        "norm", "attention", "position", "cache", "ffn", "bias", "output matrix"
    }  # fmt: skip
    assert (d["norm"].a, d["norm"].b) == ("LayerNorm", "RMSNorm")
    assert d["attention"].a.startswith("multi-head")
    assert d["attention"].b.startswith("grouped-query")
    assert "n_g" in d["attention"].b
    assert "learned" in d["position"].a
    assert "once" in d["position"].a
    assert "RoPE" in d["position"].b
    assert "queries and keys" in d["position"].b
    assert "every block" in d["position"].b
    assert "values" not in d["position"].b
    assert "GELU" in d["ffn"].a
    assert "two matrices" in d["ffn"].a
    assert "SwiGLU" in d["ffn"].b
    assert "three matrices" in d["ffn"].b
    assert d["bias"].b == "no biases"
    assert "tied" in d["output matrix"].a
    assert "untied" in d["output matrix"].b
    same = {s.aspect: s.text for s in found.same}
    assert same["residual"].startswith("pre-norm")
    assert (same["mask"], same["source"]) == ("causal", "self-attention")


def test_it_is_the_other_way_round_the_other_way_round() -> None:
    there, back = compared("gpt2", "llama3"), compared("llama3", "gpt2")
    assert told(back) == {(aspect, b, a) for aspect, a, b in told(there)}


def test_bert_reads_both_sides_and_norms_after_the_sum() -> None:
    d = by_aspect(compared("bert", "gpt2"))
    assert d["residual"].a.startswith("post-norm")
    assert d["residual"].b.startswith("pre-norm")
    assert "both sides" in d["mask"].a
    assert d["mask"].b == "causal"
    assert d["embedding norm"].change == "removed"
    assert d["final norm"].change == "added"
    assert "Segment" in d["embedding"].a
    assert "Segment" not in d["embedding"].b
    assert d["cache"].change == "added"
    assert "norm" not in d  # LayerNorm in both


def test_an_encoder_decoder_has_two_attentions_more() -> None:
    d = by_aspect(compared("transformer", "bert"))
    assert "cross-attention" in d["module"].a
    assert "causal self-attention" in d["module"].a
    assert d["module"].where[0] == ("decoder_attention", "cross_attention", "decoder_ffn")
    assert (d["position"].a.split(",")[0], d["position"].b.split(",")[0]) == (
        "sinusoidal", "learned"
    )  # fmt: skip
    assert "residual" not in d
    assert "norm" not in d


def test_heads_and_groups() -> None:
    d = by_aspect(compared("mha-per-head", "gqa"))
    assert d["attention"].b.startswith("grouped-query")
    assert d["position"].change == "added"
    assert "RoPE" in d["position"].b
    assert d["mask"].b == "causal"
    assert by_aspect(compared("gqa", "mqa"))["attention"].b.startswith("multi-query")


def test_groups_of_one_are_heads_in_the_numbers_of_a_config() -> None:
    symbols = by_aspect(compared("gpt2", "llama3"))
    numbers = by_aspect(compared("gpt2", "llama3", config_a="small", config_b="2-7B"))
    assert "attention" in symbols
    assert "cache" in symbols
    assert "attention" not in numbers
    assert "cache" not in numbers


def test_packed_heads_are_only_written_otherwise() -> None:
    found = api.compare(load("mha-packed"), load("mha-per-head"), config_a="base")
    assert [d.level for d in found.differences] == [NOTATION]


def test_options_of_a_config_change_blocks() -> None:
    found = compared("llama3", "llama3", config_a="8B", config_b="3.2-1B")
    assert [d.aspect for d in found.differences] == ["output matrix"]
    assert not found.equal


def test_sizes_alone_are_no_difference_in_structure() -> None:
    found = compared("llama3", "llama3", config_a="8B", config_b="70B")
    assert not found.differences
    assert not found.equal
    rows = {row.name: row for row in found.rows}
    assert (rows["L"].a.number, rows["L"].b.number) == (32, 80)
    assert rows["V"].same
    assert not rows["L"].same


@pytest.mark.parametrize("id", FIGURES)
def test_nothing_differs_from_itself(id: str) -> None:
    found = compared(id, id)
    assert found.equal, text_of(found)


# -- nothing is known of names

MODEL = """title: A
dims: {d_t: positions, d_m: width, n_h: heads, d_h: hidden, L: blocks, V: vocabulary}
where: [n_h | d_m]
inputs: {tokens: {shape: [d_t], dtype: int}}
outputs: {scores: {shape: [d_t, V]}}
blocks:
  - {op: embedding, id: e, vocab: V, width: d_m}
  - repeat: L
    blocks:
      - residual:
          - {op: layernorm, id: n1}
          - {op: linear, id: q, out: d_m, from: n1}
          - {op: split_heads, id: qh, heads: n_h}
          - {op: linear, id: k, out: d_m, from: n1}
          - {op: split_heads, id: kh, heads: n_h}
          - {op: linear, id: v, out: d_m, from: n1}
          - {op: split_heads, id: vh, heads: n_h}
          - {op: attention_core, id: core, from: [qh, kh, vh], causal: true}
          - {op: merge_heads, id: m}
          - {op: linear, id: o, out: d_m}
      - residual:
          - {op: layernorm, id: n2}
          - {op: linear, id: up, out: d_h}
          - {op: gelu, id: act}
          - {op: linear, id: down, out: d_m}
  - {op: layernorm, id: last}
  - {op: linear, id: head, out: V}
"""


def changed(*pairs: tuple[str, str]) -> Model:
    text = MODEL
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return Model.from_text(text, name="b.yaml")


def differences(*pairs: tuple[str, str]) -> list[Difference]:
    return list(api.compare(Model.from_text(MODEL, name="a.yaml"), changed(*pairs)).differences)


def test_ids_and_labels_make_no_difference() -> None:
    names = ("e", "n1", "q", "qh", "k", "kh", "v", "vh", "core", "m", "o", "n2", "up", "act")
    text = MODEL
    for number, name in enumerate(names):
        text = re.sub(rf"(id: |[\[ ]){name}(?=[,\]}}])", rf"\1thing{number}", text)
    assert "thing4" in text
    assert "id: k," not in text
    found = api.compare(
        Model.from_text(MODEL, name="a.yaml"), Model.from_text(text, name="b.yaml")
    )
    assert found.equal, text_of(found)


def test_the_order_of_lines_makes_no_difference() -> None:
    lines = MODEL.splitlines(keepends=True)
    q = next(n for n, line in enumerate(lines) if "id: q," in line)
    moved = [*lines[:q], *lines[q + 2 : q + 6], *lines[q : q + 2], *lines[q + 6 :]]
    found = api.compare(
        Model.from_text(MODEL, name="a.yaml"), Model.from_text("".join(moved), name="b.yaml")
    )
    assert found.equal, text_of(found)


@pytest.mark.parametrize(
    ("pairs", "aspect", "words"),
    [
        ((("{op: gelu, id: act}", "{op: silu, id: act}"),), "ffn", ("GELU", "SiLU")),
        ((("causal: true", "causal: false"),), "mask", ("causal", "both sides")),
        ((("layernorm", "rmsnorm"), ("id: n", "id: n")), "norm", ("LayerNorm", "RMSNorm")),
        ((("{op: linear, id: head, out: V}", "{op: tied_linear, id: head, table: e, out: V}"),),
         "output matrix", ("untied", "tied")),
        ((("id: up, out: d_h", "id: up, out: d_h, bias: true"),), "bias",
         ("LayerNorm", "feed-forward")),
        ((("id: last}", "id: last, eps: 1.0e-6}"),), "setting", ("eps 1e-05", "eps 1e-06")),
        ((("  - {op: layernorm, id: last}\n", ""),), "final norm", ("after", "no norm")),
        ((("id: act}", "id: act}\n          - {op: dropout, id: drop}"),), "part",
         ("none", "dropout")),
        ((("id: v, out: d_m, from: n1", "id: v, out: d_m, from: k"),), "wiring",
         ("reads n1", "reads k")),
        ((("repeat: L", "repeat: 2 L"),), "blocks", ("N x", "2 L x")),
        ((("heads: n_h}\n          - {op: linear, id: k,",
           "heads: n_h}\n          - {op: rope, id: qr}\n          - {op: linear, id: k,"),
          ("[qh, kh, vh]", "[qr, kh, vh]")), "position", ("no positions", "queries")),
        ((("[qh, kh, vh]", "[qn, kn, vh]"),
          ("          - {op: attention_core", "          - {op: l2norm, id: qn, from: qh}\n"
           "          - {op: l2norm, id: kn, from: kh}\n          - {op: attention_core")),
         "qk-norm", ("no norm", "L2 norm on queries and keys")),
    ],
)  # fmt: skip
def test_one_change_is_told_by_name(
    pairs: Sequence[tuple[str, str]], aspect: str, words: tuple[str, str]
) -> None:
    found = {d.aspect: d for d in differences(*pairs)}
    assert aspect in found, found
    told_a, told_b = found[aspect].a, found[aspect].b
    if aspect != "blocks":
        assert words[0] in told_a
    assert words[1] in told_b
    # A changed norm drops its biases; nothing else may be said of one change.
    assert set(found) <= {aspect, "bias", "setting"}, found


def test_grouping_is_seen_through_repeated_groups() -> None:
    groups = (
        ("n_h: heads,", "n_h: heads, n_g: groups,"),
        ("where: [n_h | d_m]", "where: [n_h | d_m, n_g | n_h]"),
        ("id: k, out: d_m", "id: k, out: n_g d_m / n_h"),
        ("id: v, out: d_m", "id: v, out: n_g d_m / n_h"),
        ("id: kh, heads: n_h}", "id: kg, heads: n_g}\n"
         "          - {op: repeat_groups, id: kh, heads: n_h}"),
        ("id: vh, heads: n_h}", "id: vg, heads: n_g}\n"
         "          - {op: repeat_groups, id: vh, heads: n_h}"),
    )  # fmt: skip
    found = {d.aspect: d for d in differences(*groups)}
    assert found["attention"].b.startswith("grouped-query attention (n_g key/value heads")


# -- the parts beneath


def test_flat_wires_cross_every_border() -> None:
    flat = Flat(load("llama3").graph(open=["*"]))
    by_path = {part.path: part for part in flat.parts}
    sources = [flat.parts[w.part].path for w in by_path["attention/q"].wires]
    assert sources == ["rmsnorm"]
    assert flat.parts[by_path["rmsnorm"].wires[0].part].path == "embed"
    assert {flat.parts[w.part].path for w in by_path["residual/add"].wires} == {
        "embed", "attention/o"
    }  # fmt: skip
    assert flat.parts[by_path["last_norm"].wires[0].part].path == "residual-2/add"


# -- words, JSON, figure, command


def test_json_has_stable_keys() -> None:
    data = compared("gpt2", "llama3", config_a="small", config_b="8B").as_json()
    assert set(data) == {"a", "b", "differences", "equal", "same", "table"}
    assert set(data["differences"][0]) == {"a", "aspect", "b", "change", "level"}
    assert set(data["differences"][0]["a"]) == {"blocks", "text", "where"}
    table = {row["name"].strip(): row for row in data["table"]}
    assert table["parameters"]["a"]["number"] == 124_439_808
    assert table["parameters"]["b"]["number"] == 8_030_261_248
    assert table["KV cache a token"]["b"]["number"] == 2 * 32 * 8 * 128
    assert table["n_g"]["a"] is None
    assert json.dumps(data) == json.dumps(
        compared("gpt2", "llama3", config_a="small", config_b="8B").as_json()
    )


def test_work_is_compared_at_one_length() -> None:
    found = compared("gpt2", "llama3", config_a="small", config_b="8B")
    assert found.a.numbers["d_t"] == found.b.numbers["d_t"] == 1024


def nodes(group: Group) -> list[Node]:
    out: list[Node] = []
    for child in group.children:
        out += nodes(child) if isinstance(child, Group) else [child]
    return out


def test_the_figure_marks_what_differs_and_nothing_else() -> None:
    a, b = load("gpt2"), load("llama3")
    graph = side_by_side(a.graph(), b.graph(), api.compare(a, b))
    marked = {n.path for n in nodes(graph.root) if n.mark == "changed"}
    assert marked == {
        "a/positions", "a/placed", "a/layernorm", "a/attention", "a/layernorm-2", "a/ffn",
        "a/last_norm", "a/head",
        "b/rmsnorm", "b/attention", "b/rmsnorm-2", "b/ffn", "b/last_norm", "b/head",
    }  # fmt: skip
    paths = [n.path for n in nodes(graph.root)]
    assert len(paths) == len(set(paths))


@pytest.mark.parametrize("pair", [("gpt2", "llama3"), ("transformer", "bert"), ("mqa", "gqa")])
@pytest.mark.parametrize("theme", NAMES)
def test_the_figure_passes_the_lint(pair: tuple[str, str], theme: str) -> None:
    a, b = load(pair[0]), load(pair[1])
    graph = side_by_side(a.graph(), b.graph(), api.compare(a, b))
    report = lint(layout(graph, get(theme), LayoutOptions()), get(theme))
    assert not report.findings


def test_the_same_figure_twice_is_the_same_bytes() -> None:
    a, b = load("mqa"), load("gqa")
    first, second = (api.compare_figure(a, b).data for _ in range(2))
    assert first == second
    assert b"differs from the other figure" in first


def test_opened_parts_need_not_be_in_both() -> None:
    a, b = load("gqa"), load("llama3")
    assert api.compare_figure(a, b, open=["ffn"]).data
    with pytest.raises(DiagramError, match="no part"):
        api.compare_figure(a, b, open=["nowhere"])


def test_command_says_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "deep" / "difference.svg"
    assert run(["diff", "gpt2", "llama3", "--figure", str(target)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("GPT-2 (gpt2) -> Llama 3 (llama3)\n")
    assert re.search(r"^norm +LayerNorm +-> RMSNorm", out, re.M)
    assert "the same: " in out
    assert "!= parameters" in out
    assert target.read_text(encoding="utf-8").startswith("<svg")


def test_command_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", "llama3", "llama3", "--exit-code"]) == 0
    assert capsys.readouterr().out.endswith("no difference\n")
    assert run(["diff", "gqa", "mqa"]) == 0
    assert run(["diff", "gqa", "mqa", "--exit-code"]) == 1
    capsys.readouterr()
    assert run(["diff", "gqa", "mqa", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["equal"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["llama3", "llamma3"], "did you mean 'llama3'"),
        (["gpt2", "llama3", "--config-b", "8b"], "did you mean '8B'"),
        (["gpt2", "llama3", "--figure", "x.svgg"], "did you mean 'svg'"),
        (["gpt2", "llama3", "--theme", "papr"], "did you mean 'paper'"),
        (["gpt2"], "Missing argument 'B'"),
    ],
)
def test_command_errors_name_the_nearest(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", *arguments]) == 2
    assert words in capsys.readouterr().err


# -- blocks of one's own

OWN = """
title: A block
dims: {d_t: positions, d_m: width, d_h: hidden width}
inputs: {x: [d_t, d_m]}
blocks:
  - residual: [NORM, ATTENTION]
  - residual:
      - NORM
      - group: [{op: linear, out: d_h}, ACT, {op: linear, out: d_m}]
        role: ffn
"""
PLAIN = {
    "NORM": "rmsnorm",
    "ATTENTION": "{op: attention_core, from: [prev, prev, prev]}",
    "ACT": "gelu",
}


@pytest.mark.parametrize(
    ("word", "block", "aspect", "name"),
    [
        ("NORM", "{op: box, role: norm, label: BandNorm}", "norm", "BandNorm"),
        ("NORM", "{use: bandnorm}", "norm", "Band norm"),
        ("ACT", "{op: box, role: activation, label: StarReLU}", "ffn", "StarReLU"),
        ("ATTENTION", "{op: box, role: attention, label: Wave mixing}", "attention", "Wave mixing"),
    ],
)
def test_a_block_of_ones_own_is_named_as_what_it_is(
    word: str, block: str, aspect: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bandnorm.yaml").write_text(
        "title: Band norm\nrole: norm\ndims: {d_t: positions, d_m: width}\n"
        "inputs: {x: [d_t, d_m]}\nblocks: [l2norm, {op: bias}]\n"
    )
    monkeypatch.chdir(tmp_path)

    def model(changed: dict[str, str]) -> Model:
        text = OWN
        for key, value in {**PLAIN, **changed}.items():
            text = text.replace(key, value)
        return load("one", text=text)

    found = by_aspect(compared(model({}), model({word: block})))
    assert set(found) & {"norm", "ffn", "attention", "part"} == {aspect}, "and told once"
    assert name in found[aspect].b
    assert name not in found[aspect].a


def test_no_op_is_named_by_the_comparison() -> None:
    """What an op does is asked of its record: a new one is understood without a change here."""
    from transformer_diagrams.ops import registry

    folder = Path(api.__file__).parent / "diff"
    named = re.compile(r'(?:op|ops|name) (?:==|!=|in|not in) [("]+(\w+)"')
    words = {word for file in folder.glob("*.py") for word in named.findall(file.read_text())}
    assert not words & set(registry.names())


CELL = """
title: A cell
dims: {d_h: width}
inputs: {x: [d_h]}
blocks:
  - {op: linear, id: new, out: d_h}
  - {op: linear, id: old, out: d_h, from: READS}
  - {op: add, id: sum, from: [new, old]}
  - {op: activation, id: h, kind: tanh, shape: [d_h]}
"""


def test_what_is_read_one_step_later_is_wiring() -> None:
    texts = [CELL.replace("READS", reads) for reads in ("{feedback: h}", "{feedback: sum}")]
    one, other = (
        Model.from_text(text.replace("[new, old]}", "[new, old], shape: [d_h]}"), name="cell.yaml")
        for text in texts
    )
    assert told(compared(one, one)) == set()
    assert told(compared(one, other)) == {
        ("wiring", "Linear reads h (one step before)", "Linear reads sum (one step before)")
    }
