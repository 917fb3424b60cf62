"""What a figure shows: opened and closed parts, badges, piles, frames, call-outs, headers."""

from __future__ import annotations

import pytest
from graph_specs import SPECS, Texts, graph_of, parts, spec_of, wires

from transformer_diagrams.errors import DiagramError
from transformer_diagrams.graph.build import build
from transformer_diagrams.graph.ir import BORDER, Graph, Group, Node

MODEL = """
title: Model
dims:
  d_t: positions
  d_m: {doc: width, tex: 'd_{\\mathrm{model}}'}
  n_h: heads
  L: blocks
where: [n_h | d_m]
configs: {small: {L: 12, d_m: 768, n_h: 12}}
show: {where: true}
inputs: {x: {shape: [d_t, d_m], label: hidden states}}
outputs: {y: [d_t, d_m]}
blocks:
  - repeat: L
    id: stack
    title: Block
    blocks:
      - {use: block, id: block}
"""


def group(graph: Graph, path: str) -> Group:
    found = parts(graph.root)[path]
    assert isinstance(found, Group)
    return found


def node(graph: Graph, path: str) -> Node:
    found = parts(graph.root)[path]
    assert isinstance(found, Node)
    return found


def test_a_closed_use_is_one_box_with_the_role_of_its_spec() -> None:
    attention = node(graph_of(SPECS["block"]), "attn")
    assert (attention.op, attention.role, attention.label) == ("use", "attention", "GQA")
    assert attention.use == "attention"
    assert [str(port.shape) for port in attention.inputs] == ["[d_t, d_m]"]


@pytest.mark.parametrize(
    ("names", "opened"),
    [
        ([], []),
        (["block"], ["block"]),
        (["1"], ["block"]),
        (["2"], ["block", "block/attn", "block/mlp"]),
        (["*"], ["block", "block/attn", "block/mlp"]),
        (["attention"], ["block", "block/attn"]),  # what holds it opens, too
        (["block/mlp"], ["block", "block/mlp"]),
        (["ffn", "attn"], ["block", "block/attn", "block/mlp"]),
    ],
)
def test_names_paths_depths_and_the_star_open(names: list[str], opened: list[str]) -> None:
    graph = graph_of(MODEL, open=names)
    found = [p for p, part in parts(graph.root).items() if isinstance(part, Group)]
    uses = sorted(p for p in found if group(graph, p).kind == "use")
    assert uses == sorted(opened)


def test_a_name_that_opens_nothing_is_told() -> None:
    with pytest.raises(DiagramError) as caught:
        graph_of(MODEL, open=["atention"])
    (fault,) = caught.value.faults
    assert fault.code == "unknown-part"
    assert "'attention'" in fault.hint


def test_an_opened_use_hands_each_edge_to_the_right_inner_port() -> None:
    two = """
title: Two
inputs: {left: [a], right: [a]}
dims: {a: size}
outputs: {sum: {from: s}, other: {from: r}}
blocks:
  - {op: relu, id: l, from: left}
  - {op: gelu, id: r, from: right}
  - {op: add, id: s, from: [l, r]}
"""
    text = """
title: T
dims: {a: size}
inputs: {x: [a], y: [a]}
blocks:
  - {use: two, id: two, open: true, from: {right: x, left: y}}
  - {op: sub, id: d, from: [two.other, two.sum]}
"""
    graph = graph_of(text, more={"two": two})
    opened = group(graph, "two")
    assert [port.name for port in opened.inputs] == ["left", "right"]
    assert [port.name for port in opened.outputs] == ["sum", "other"]
    inside = {(e.tail.port, opened.children[e.head.child].path)
              for e in opened.edges if e.tail.child == BORDER}
    assert inside == {(0, "two/l"), (1, "two/r")}
    children = [child.path for child in graph.root.children]
    outside = {(children[e.tail.child], e.head.port)
               for e in graph.root.edges if children[e.head.child] == "two"}
    assert outside == {("y", 0), ("x", 1)}
    read = [e.tail.port for e in graph.root.edges if children[e.tail.child] == "two"]
    assert read == [1, 0]


def test_a_call_out_stays_closed_in_place_and_is_drawn_beside() -> None:
    text = MODEL.replace("{use: block, id: block}", "{use: block, id: block, open: callout}")
    graph = graph_of(text)
    assert node(graph, "block").op == "use"
    (callout,) = graph.callouts
    assert callout.anchor == "block"
    assert (callout.group.kind, callout.group.title) == ("use", "GPT-2 block")
    assert "block/attn" in parts(callout.group)


def test_a_badge_is_a_symbol_or_the_number_of_the_config() -> None:
    assert group(graph_of(MODEL), "stack").badge == "$L \\times$"
    shown = graph_of(MODEL, config="small", numbers=True)
    assert group(shown, "stack").badge == "$12 \\times$"
    assert shown.header[1].startswith("small: $L = 12$")
    # The set number wins over the config's.
    shown = graph_of(MODEL, config="small", numbers=True, overrides={"L": 3})
    assert group(shown, "stack").badge == "$3 \\times$"


def test_relations_stand_above_the_figure_in_the_tex_of_the_spec() -> None:
    (line,) = graph_of(MODEL).header
    assert line == "$n_h \\mid d_{\\mathrm{model}}$"
    assert graph_of(MODEL).tex["d_m"] == "d_{\\mathrm{model}}"


def test_inputs_and_outputs_are_words() -> None:
    graph = graph_of(MODEL)
    assert [child.path for child in graph.root.children] == ["x", "stack", "y"]
    start, end = node(graph, "x"), node(graph, "y")
    assert (start.op, start.form, start.label) == ("input", "text", "hidden states")
    assert (end.op, end.form, end.label) == ("output", "text", "$y$")
    assert str(end.inputs[0].shape) == "[d_t, d_m]"


def test_a_spec_with_a_role_stands_in_a_frame_and_its_inputs_outside() -> None:
    graph = graph_of(SPECS["ffn"])
    assert wires(graph.root) == [("x", "case", "data"), ("case", "y", "data")]
    frame = group(graph, "case")
    assert (frame.framed, frame.title, frame.role) == (True, "Feed-forward network", "ffn")
    bare = graph_of(SPECS["ffn"] + "show: {frame: false}\n")
    assert [child.path for child in bare.root.children] == ["x", "up", "gelu", "down", "y"]


def test_piles_marks_and_notes_reach_the_node() -> None:
    text = """
title: T
dims: {d_m: width, n_h: heads}
inputs: {x: [..., d_m]}
blocks:
  - {op: linear, id: a, out: d_m, stack: n_h, mark: frozen, note: why}
  - {op: linear, id: b, out: d_m, share: a}
  - {id: g, title: Heads, copies: n_h, group: [{op: gelu, id: c}]}
"""
    graph = graph_of(text)
    first = node(graph, "a")
    assert (first.stack, first.mark, first.note) == ("$n_h$", "frozen", "why")
    assert node(graph, "b").mark == "tied"
    assert group(graph, "g").stack == "$n_h$"


def test_a_thousand_opened_blocks_are_inferred_once() -> None:
    body = "".join(f"  - {{use: block, id: b{i}}}\n" for i in range(1000))
    text = "title: T\ndims: {d_t: positions, d_m: width, n_h: heads}\n" \
           "inputs: {x: [d_t, d_m]}\nblocks:\n" + body
    graph = build(spec_of(text), Texts(), open=["*"])
    everything = parts(graph.root)
    assert len(everything) == 1000 * 25 + 2
    assert len({id(everything[f"b{i}/attn/W_Q"].outputs[0].shape) for i in range(1000)}) == 1


# -- structures that are closed, called out, or framed ------------------------------------------

CLOSED = """
dims: {d_t: positions, d_m: width, L: layers}
inputs: {x: [d_t, d_m]}
blocks:
  - {repeat: L, id: r, title: Layers, open: false, blocks: [rmsnorm, {use: ffn, id: inner}]}
  - {residual: [rmsnorm, {op: linear, out: d_m}], id: s, title: Sum, open: false}
  - {parallel: {one: [gelu], two: [relu]}, id: p, open: false}
  - mul
  - {group: [rmsnorm, {group: [gelu], id: deep, open: false}], id: g, open: callout}
  - {group: [silu], id: h}
"""


def kinds(text: str, **asked: object) -> dict[str, str]:
    """By path, whether a drawn part is a box or what kind of group."""
    graph = graph_of(text, **asked)
    return {path: getattr(part, "kind", "box") for path, part in parts(graph.root).items()}


def test_closed_structures_are_one_box_each_and_named_by_their_id() -> None:
    found = kinds(CLOSED)
    assert {n: found.get(n) for n in "rspgh"} == {
        "r": "box", "s": "box", "p": "box", "g": "box", "h": "group"
    }  # fmt: skip
    assert "inner" not in found
    assert "s/add" not in found
    (callout,) = graph_of(CLOSED).callouts
    assert (callout.anchor, callout.group.title, callout.group.framed) == ("g", "g", True)
    assert parts(callout.group)["deep"].op == "group"


def test_open_and_close_name_structures() -> None:
    assert kinds(CLOSED, open=["r"])["r"] == "repeat"
    inner = kinds(CLOSED, open=["inner"])  # the box around it opens too
    assert (inner["r"], inner["inner"], inner["p"]) == ("repeat", "use", "box")
    level = kinds(CLOSED, open=["1"])
    assert (level["p"], level["g"], level["deep"]) == ("group", "group", "box")
    assert level["inner"] == "box"
    assert kinds(CLOSED, open=["2"])["inner"] == "use"
    everything = kinds(CLOSED, open=["*"])
    assert "box" not in {everything[n] for n in ("r", "s", "p", "g", "h", "deep", "inner")}
    assert kinds(CLOSED, close=["h"])["h"] == "box"
    assert kinds(CLOSED, open=["*"], close=["one"])["one"] == "box"
    with pytest.raises(DiagramError, match="no part 'hh' to close"):
        graph_of(CLOSED, close=["hh"])
    with pytest.raises(DiagramError) as raised:
        graph_of(CLOSED, open=["deeep"])
    assert raised.value.faults[0].hint.startswith("did you mean 'deep'?")
