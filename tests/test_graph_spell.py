"""Names as declared: in figures, counts, messages and opened parts; and sizes that are captured."""

from __future__ import annotations

from typing import Any

import pytest
from graph_specs import check_of, faults_of, graph_of, parts, spec_of, warnings_of

from transformer_diagrams import api
from transformer_diagrams.count import inspect
from transformer_diagrams.dump import shapes
from transformer_diagrams.graph.frame import used_in
from transformer_diagrams.graph.ir import Group, Node


def tensors(text: str, **more: Any) -> dict[str, str]:
    """Shape of the first output of every block, by path."""
    found = shapes(graph_of(text, **more))["shapes"]
    return {p: next(iter(s["outputs"].values())) for p, s in found.items() if s["outputs"]}


HEADS = """
title: Heads
dims: {{t: positions, d: width, h: heads, d_K: {{doc: head width, {how}: d / h}}}}
where: [h | d]
{configs}
inputs: {{x: [t, d]}}
blocks:
  - {{op: split_heads, heads: h, id: s}}
  - {{op: rope, id: turned}}
  - {{op: linear, id: out, out: d_K}}
"""


@pytest.mark.parametrize(
    ("how", "configs", "shown"),
    [
        ("value", "", "d_K"),
        ("default", "", "d_K"),
        ("default", "configs: {a: {d: 64, h: 4}}", "d_K"),
        ("default", "configs: {a: {d: 64, h: 4, d_K: 32}}", "d / h"),  # then they are two sizes
    ],
)
def test_a_declared_size_is_called_by_its_name(how: str, configs: str, shown: str) -> None:
    found = tensors(HEADS.format(how=how, configs=configs))
    assert found["s"] == found["turned"] == f"[h, t, {shown}]"
    assert found["out"] == "[h, t, d_K]"


def test_counts_speak_in_declared_names() -> None:
    found = inspect(spec_of(HEADS.format(how="value", configs="")))
    assert str(found.params.total.formula) == "d_K^2"
    assert found.as_json()["params"]["formula"] == "d_K^2"
    # Numbers do not change by being spelt.
    numbers = inspect(spec_of(HEADS.format(how="value", configs="")),
                      overrides={"d": 64, "h": 4, "t": 8})  # fmt: skip
    assert numbers.params.total.number == 16 * 16


MAMBA = """
title: Mamba-2
dims:
  d_t: positions
  d_m: model width
  d_i: {doc: inner width, default: 2 d_m}
  G: groups
  N: state size
  n_h: {doc: heads, default: d_i / 64}
where: [64 | d_i]
inputs: {x: [d_t, d_m]}
blocks:
  - {op: linear, id: in, out: 2*d_i + 2*G*N + n_h}
  - {op: split, id: s, sizes: [d_i, d_i + 2 G N, n_h]}
  - {op: linear, id: out, from: s.1, out: d_m}
"""


def test_a_sum_stands_as_its_author_wrote_it() -> None:
    graph = graph_of(MAMBA)
    found = shapes(graph)["shapes"]
    assert found["in"]["outputs"] == {"y": "[d_t, 2 d_i + 2 G N + n_h]"}
    assert found["s"]["outputs"]["1"] == "[d_t, d_i + 2 G N]"
    (drawn,) = (n for n in graph.root.children if n.path == "in")
    shape = drawn.outputs[0].shape
    assert shape is not None
    assert shape.tex() == r"d_t \times (2\, d_i + 2\, G\, N + n_h)"


def test_formulas_of_counts_keep_names_whose_defaults_would_leave_fractions() -> None:
    total = inspect(spec_of(MAMBA)).params.total.formula
    assert "/" not in str(total)
    assert "d_i" in str(total)


PATCHES = """
title: Patches
dims: {{C: channels, H: height, W: width, P: patch, d_m: model width{n}}}
where: [P | H, P | W]
inputs: {{image: [C, H, W]}}
blocks:
  - {{op: conv2d, id: cut, out: d_m, kernel: P, stride: P}}
  - {{op: reshape, id: flat, to: [d_m, {to}]}}
  - {{op: transpose, id: y}}
"""


@pytest.mark.parametrize(
    ("n", "to", "shown"),
    [
        ("", "-1", "(H / P) (W / P)"),
        ("", "W/P * (H/P)", "(W / P) (H / P)"),
        (", n: {doc: patches, value: H W / P^2}", "-1", "n"),
        (", n: {doc: patches, value: (H/P)(W/P)}", "-1", "n"),
    ],
)
def test_a_stated_divisor_makes_a_fraction(n: str, to: str, shown: str) -> None:
    found = tensors(PATCHES.format(n=n, to=to))
    assert found["cut"] == "[d_m, H / P, W / P]"
    assert found["flat"] == f"[d_m, {shown}]"
    assert found["y"] == f"[{shown}, d_m]"


def test_a_part_of_a_written_product_stands_as_written() -> None:
    text = (
        "title: T\ndims: {t: positions, d_R: rotated, d_n: plain, d: width, n: heads}\n"
        "inputs: {x: [t, d]}\nblocks:\n"
        "  - {op: linear, id: up, out: n (d_n + d_R)}\n"
        "  - {op: split_heads, id: heads, heads: n}\n"
    )
    assert tensors(text)["up"] == "[t, n (d_n + d_R)]"
    assert tensors(text)["heads"] == "[n, t, d_n + d_R]"


MOE = """
title: Experts
dims: {t: positions, w: width, e: hidden width, N: experts, K: experts a token meets}
where: [K <= N]
inputs: {x: [t, w]}
outputs: {y: [t, w]}
blocks:
  - {op: router, id: chosen, experts: N, top_k: K}
  - {op: experts, id: bank, from: [x, chosen.index], experts: N, hidden: e, top_k: K}
  - {op: combine, id: y_, from: [bank, chosen.gates]}
"""
CALLER = """
title: Caller
dims: {{t: positions, w: width, E: experts, k: experts a token meets{more}}}
where: [k <= E]
inputs: {{x: [t, w]}}
blocks:
  - {{op: rmsnorm, id: norm}}
  - {{use: moe, id: moe, with: {{N: E, K: k, e: 4 w}}}}
"""


def opened(more: str = "") -> tuple[dict[str, str], dict[str, Node | Group]]:
    graph = graph_of(CALLER.format(more=more), more={"moe": MOE}, open=["moe"])
    found = tensors(CALLER.format(more=more), more={"moe": MOE}, open=["moe"])
    return found, parts(graph.root)


def test_an_opened_part_speaks_in_its_own_names_and_says_what_they_are() -> None:
    found, drawn = opened()
    assert found["moe/bank"] == "[t, K, w]"
    router = drawn["moe/chosen"]
    assert isinstance(router, Node)
    assert router.label == "Router, top-$K$"
    assert str(router.attrs["experts"]) == "N"
    part = drawn["moe"]
    assert isinstance(part, Group)
    assert part.title == "Experts: $N = E, K = k$"  # e is a formula outside, and stays one
    bank = drawn["moe/bank"]
    assert isinstance(bank, Node)
    assert str(bank.attrs["hidden"]) == "4 w"


def test_a_name_that_means_something_else_outside_is_not_taken() -> None:
    found, drawn = opened(", K: something else")
    assert found["moe/bank"] == "[t, k, w]"
    part = drawn["moe"]
    assert isinstance(part, Group)
    assert part.title == "Experts: $N = E$"


def test_one_tensor_has_one_spelling_inside_and_outside() -> None:
    text = (
        "title: Outer\ndims: {a: positions, b: width, h: heads}\nwhere: [h | b]\n"
        "inputs: {x: [a, b]}\nblocks:\n"
        "  - {op: rmsnorm, id: before}\n  - {use: inner, id: part}\n  - {op: silu, id: after}\n"
    )
    inner = (
        "title: Inner\ndims: {t: positions, d: width, h: heads, k: {doc: w, value: d / h}}\n"
        "where: [h | d]\n"
        "inputs: {x: [t, d]}\noutputs: {y: [h, t, k]}\nblocks:\n"
        "  - {op: silu, id: first}\n  - {op: split_heads, id: cut, heads: h}\n"
        "  - {op: rope, id: turned}\n"
    )
    graph = graph_of(text, more={"inner": inner}, open=["part"])
    found = shapes(graph)["shapes"]
    assert found["part"]["inputs"] == {"x": "[a, b]"}
    assert found["part/first"]["inputs"] == {"x": "[a, b]"}  # what comes in, as it is outside
    assert found["part/first"]["outputs"] == {"y": "[t, d]"}  # what stays inside
    assert found["part/cut"]["outputs"] == {"y": "[h, t, k]"}
    out = found["part"]["outputs"]["y"]
    assert found["part/turned"]["outputs"]["y"] == out == found["after"]["inputs"]["x"]
    assert out == "[h, a, b / h]"


def test_messages_use_the_names_too() -> None:
    text = HEADS.format(how="value", configs="").replace("out: d_K}", "out: d_K, shape: [h, t, d]}")
    (fault,) = faults_of(text)
    assert fault.found == "[h, t, d_K]"
    text = HEADS.format(how="value", configs="") + "  - {op: reshape, to: [t, d_K]}\n"
    (fault,) = faults_of(text)
    assert "d / h" not in fault.message + fault.found + fault.hint


def test_a_message_never_calls_two_sizes_by_one_name() -> None:
    text = HEADS.format(how="default", configs="").replace("id: s}", "id: s, shape: [h, t, d_K]}")
    (fault,) = faults_of(text)
    assert fault.found != fault.expected


# -- sizes that are captured --------------------------------------------------------------------

STATE = """
title: State
dims: {t: positions, w: width, N: {doc: state size, default: 16}}
inputs: {x: [t, w]}
outputs: {y: [t, w]}
blocks:
  - {op: linear, id: in, out: 2 N}
  - {op: linear, id: out, out: w}
"""
MODEL = """
title: Model
dims: {{t: positions, w: width, {outer}}}
inputs: {{x: [t, w]}}
blocks:
  - {{use: state, id: mixer{bind}}}
  - {{op: linear, out: N}}
"""


def captured(outer: str, bind: str = "") -> list[str]:
    found = warnings_of(MODEL.format(outer=outer, bind=bind), {"state": STATE})
    return [w.hint for w in found if w.code == "captured-size"]


def test_a_size_of_another_meaning_is_told_with_the_way_to_say_either() -> None:
    (hint,) = captured("N: experts")
    assert "with: {N: 16}" in hint
    assert "with: {N: N}" in hint
    for bind in (", with: {N: N}", ", with: {N: 16}"):
        assert captured("N: experts", bind) == []


@pytest.mark.parametrize(
    "outer", ["N: size of the state", "N: {doc: experts, default: 16}", "N: state dimension"]
)
def test_the_same_meaning_is_quiet(outer: str) -> None:
    expected = 1 if "experts" in outer else 0  # an equal default may be overridden by a config
    assert len(captured(outer)) == expected


def test_a_size_that_what_comes_in_has_as_well_is_no_clash() -> None:
    """The state's own input has N rows: the capture is right, in whatever words."""
    part = STATE.replace("x: [t, w]", "x: [N, w]").replace("y: [t, w]", "y: [N, w]")
    text = MODEL.format(outer="N: experts", bind="").replace("x: [t, w]", "x: [N, w]")
    assert [w.code for w in warnings_of(text, {"state": part}) if "capt" in w.code] == []


def test_every_bundled_spec_says_what_it_means() -> None:
    for name in ("deepseek-v3.2", "gemma3", "glm-4.5", "gpt-oss", "llama3", "mtp-chained", "t5"):
        report = api.load(name).check()
        assert [f.message for f in report.faults if f.code == "captured-size"] == []


def test_what_used_specs_are_given_is_listed() -> None:
    again = "  - {use: moe, id: again, with: {N: E, K: k, e: 4 w}}\n"
    frame = check_of(CALLER.format(more="") + again, {"moe": MOE}).inferred.frame
    assert frame is not None
    (used,) = used_in(frame)
    assert used.id == "moe"
    assert used.paths == ("moe", "again")
    assert [(each.name, each.value, each.how) for each in used.given] == [
        ("t", "t", "the same name outside"),
        ("w", "w", "the same name outside"),
        ("e", "4 w", "given by `with`"),
        ("N", "E", "given by `with`"),
        ("K", "k", "given by `with`"),
    ]
