"""Chains, `from:`, structures and `if:`: who takes whose output."""

from __future__ import annotations

import pytest
from graph_specs import check_of, faults_of, graph_of, only_fault, parts, warnings_of, wires

from transformer_diagrams.errors import NOWHERE, DiagramError
from transformer_diagrams.graph.build import build
from transformer_diagrams.graph.ir import BORDER, Graph, Group, Node
from transformer_diagrams.spec.model import Block, PortSpec, Spec, Text

PLAIN = "title: T\ninputs: {x: [...]}\nblocks:\n"


def root(body: str) -> Group:
    return graph_of(PLAIN + body).root


def edges(body: str) -> list[tuple[str, str]]:
    return [(tail, head) for tail, head, _ in wires(root(body))]


def test_a_block_takes_the_block_before() -> None:
    body = "  - {op: box, id: a}\n  - {op: box, id: b}\n"
    assert edges(body) == [("x", "a"), ("a", "b")]


def test_from_takes_what_it_names_and_the_chain_goes_on_behind() -> None:
    body = "  - {op: box, id: a}\n  - {op: box, id: b, from: x}\n  - {op: box, id: c}\n" \
           "  - {op: add, id: s, from: [c, a]}\n"
    assert edges(body) == [("x", "a"), ("x", "b"), ("b", "c"), ("c", "s"), ("a", "s")]


def test_a_later_block_may_be_named_when_nothing_goes_round() -> None:
    body = "  - {op: add, id: s, from: [x, late]}\n  - {op: box, id: late, from: x}\n" \
           "  - {op: box, id: end, from: s}\n"
    group = root(body)
    assert [child.path for child in group.children] == ["x", "late", "s", "end"]


def test_branches_take_the_same_input_and_the_next_block_takes_all() -> None:
    body = "  - {op: box, id: a}\n  - parallel: [[{op: box, id: l}], [{op: box, id: r}]]\n" \
           "  - {op: add, id: s}\n"
    assert edges(body) == [("x", "a"), ("a", "l"), ("a", "r"), ("l", "s"), ("r", "s")]


def test_a_residual_has_an_adder_and_a_skip_from_its_border() -> None:
    group = root("  - {residual: [{op: box, id: f}, {op: box, id: g}], id: res}\n")
    assert wires(group) == [("x", "res", "data")]
    res = parts(group)["res"]
    assert isinstance(res, Group)
    assert res.kind == "residual"
    assert not res.framed
    assert wires(res) == [
        ("border", "f", "data"),
        ("f", "g", "data"),
        ("g", "res/add", "data"),
        ("border", "res/add", "residual"),
        ("res/add", "border", "data"),
    ][:4] or wires(res)[:4] == [
        ("border", "f", "data"),
        ("f", "g", "data"),
        ("g", "res/add", "data"),
        ("border", "res/add", "residual"),
    ]
    adder = parts(group)["res/add"]
    assert isinstance(adder, Node)
    assert (adder.form, adder.symbol) == ("circle", "+")
    assert len(res.inputs) == 1  # one stream comes in, and forks inside


def test_nested_residuals_stay_nested() -> None:
    group = root("  - {id: outer, residual: [{id: inner, residual: [{op: box, id: f}]}]}\n")
    outer = parts(group)["outer"]
    assert isinstance(outer, Group)
    assert [child.path for child in outer.children] == ["inner", "outer/add"]


def test_an_edge_crosses_each_border_at_a_port() -> None:
    body = (
        "  - {op: box, id: a}\n"
        "  - {id: g, title: G, group: [{op: box, id: b}, {id: h, title: H, group: "
        "[{op: box, id: c}, {op: add, id: s, from: [c, a]}]}]}\n"
        "  - {op: box, id: end}\n"
        "  - {op: add, id: t, from: [end, c]}\n"
    )
    group = root(body)
    assert wires(group) == [
        ("x", "a", "data"),
        ("a", "g", "data"),
        ("g", "t", "data"),
        ("g", "end", "data"),
        ("end", "t", "data"),
    ] or sorted(wires(group)) == sorted(
        [
            ("x", "a", "data"),
            ("a", "g", "data"),
            ("g", "end", "data"),
            ("g", "t", "data"),
            ("end", "t", "data"),
        ]
    )
    g = parts(group)["g"]
    assert isinstance(g, Group)
    # `a` is read at two depths, but comes in once; `c` and `s` leave at two ports.
    assert (len(g.inputs), len(g.outputs)) == (1, 2)
    assert ("border", "h", "data") in wires(g)
    check_siblings(group)


def check_siblings(group: Group) -> None:
    """Every edge joins ports that exist, of siblings or of the border."""
    for edge in group.edges:
        for end, inner in ((edge.tail, "outputs"), (edge.head, "inputs")):
            if end.child == BORDER:
                border = group.inputs if inner == "outputs" else group.outputs
                assert 0 <= end.port < len(border), (group.path, edge)
            else:
                ports = getattr(group.children[end.child], inner)
                assert 0 <= end.port < len(ports), (group.path, edge)
    for child in group.children:
        if isinstance(child, Group):
            check_siblings(child)


def test_columns_may_feed_each_other() -> None:
    body = (
        "  - columns:\n"
        "      - {id: enc, title: Encoder, blocks: [{op: box, id: e}]}\n"
        "      - {id: dec, title: Decoder, blocks: [{op: box, id: d}, "
        "{op: add, id: s, from: [d, e]}]}\n"
        "    id: both\n"
    )
    group = root(body)
    columns = parts(group)["both"]
    assert isinstance(columns, Group)
    assert columns.kind == "columns"
    assert wires(columns) == [
        ("border", "enc", "data"),
        ("border", "dec", "data"),
        ("enc", "dec", "data"),
    ]
    assert [child.path for child in columns.children] == ["enc", "dec"]
    check_siblings(group)


def test_a_cycle_is_named() -> None:
    fault = only_fault(
        PLAIN + "  - {op: add, id: a, from: [x, c]}\n  - {op: box, id: b}\n"
        "  - {op: box, id: c}\n"
    )
    assert fault.code == "cycle"
    assert "a -> b -> c -> a" in fault.message
    assert fault.span.line == 4


@pytest.mark.parametrize(
    "block",
    [
        "{group: [{op: gelu, if: o}], id: g, from: g}",
        "{residual: [{op: gelu, if: o}], id: g, from: g}",
        "{repeat: 3, blocks: [{op: gelu, if: o}], id: g, from: g}",
        "{group: [{group: [{op: gelu, if: o}], id: h, from: g}], id: g}",
        "{op: gelu, id: g, if: o, from: g}",
    ],
)
def test_an_empty_block_that_takes_itself_is_named(block: str) -> None:
    head = PLAIN.replace("inputs:", "options: {o: {doc: x, default: false}}\ninputs:")
    report = check_of(head + f"  - {block}\n  - {{op: gelu, from: g}}\n").report
    assert report.errors
    assert {(fault.code, fault.span.line) for fault in report.errors} == {("cycle", 5)}
    empty, named = "is empty and takes its own output", "wait for one another: g -> g"
    assert any(empty in f.message or named in f.message for f in report.errors)


def test_a_cycle_of_twenty_thousand_blocks_is_found() -> None:
    body = "  - {op: add, id: n0, from: [x, n19999]}\n"
    body += "".join(f"  - {{op: box, id: n{i}}}\n" for i in range(1, 20_000))
    fault = only_fault(PLAIN + body)
    assert fault.code == "cycle"
    assert "20,000 blocks" in fault.message


def test_two_hundred_groups_deep() -> None:
    """Made by hand: deeper than the loader lets a file go."""
    block = Block("op", NOWHERE, "b", "core", op="box")
    for n in range(200):
        block = Block("group", NOWHERE, f"g{n}", f"g{n}", children=(block,), title=Text(f"G{n}"))
    spec = Spec("deep", NOWHERE, "T", (block,), inputs={"x": PortSpec("x", NOWHERE)})
    graph = build(spec)
    assert len(parts(graph.root)) == 200 + 3  # the root, the input and the core
    check_siblings(graph.root)


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("  - {op: box, id: attn}\n  - {op: box, from: atn}\n", "unknown-block", "attn"),
        ("  - {op: box, id: a}\n  - {op: box, from: a.left}\n", "unknown-port", "left"),
        ("  - {op: matmul, id: s, from: {left: x}}\n", "unknown-port", "left"),
        (
            "  - {repeat: 3, id: r, blocks: [{op: box, id: in}]}\n  - {op: box, from: in}\n",
            "inside-repeat",
            "'r'",
        ),
    ],
)
def test_wrong_names_are_refused_with_a_hint(body: str, code: str, words: str) -> None:
    text = PLAIN + body
    try:
        fault = only_fault(text)
    except DiagramError as error:  # the loader may know already
        fault = error.faults[0]
    assert words in fault.message + fault.hint + fault.expected


def test_a_block_inside_a_repeat_may_read_from_outside() -> None:
    body = (
        "  - {op: box, id: memory}\n  - {op: box, id: first, from: x}\n"
        "  - {repeat: 3, id: r, blocks: [{op: box, id: b}, {op: add, id: s, from: [b, memory]}]}\n"
    )
    group = root(body)
    repeat = parts(group)["r"]
    assert isinstance(repeat, Group)
    assert repeat.badge == "$3 \\times$"
    assert repeat.framed
    assert (len(repeat.inputs), len(repeat.outputs)) == (2, 1)
    check_siblings(group)


def test_one_block_in_two_groups_cannot_be_written() -> None:
    """Blocks nest, so a block stands in one group; naming it again is a second block."""
    text = (
        PLAIN + "  - {id: g1, title: Left, group: [{op: box, id: n}, {op: box, id: m}]}\n"
        "  - {id: g2, title: Right, group: [{op: box, id: n}, {op: box, id: p}]}\n"
    )
    with pytest.raises(DiagramError) as caught:
        graph_of(text)
    assert any("'n'" in fault.message for fault in caught.value.faults)


IF = """
title: T
options:
  turned: {doc: positions, default: true}
inputs: {x: [...]}
blocks:
  - {op: box, id: k}
  - {op: identity, id: k_turned, if: turned}
  - {op: box, id: other, from: x}
  - {op: add, id: sum, from: [k_turned, other]}
"""


def test_a_block_left_out_by_its_if_hands_on_what_it_would_have_read() -> None:
    assert ("k_turned", "sum", "data") in wires(graph_of(IF).root)
    without = graph_of(IF, overrides={"turned": False}).root
    assert "k_turned" not in parts(without)
    assert ("k", "sum", "data") in wires(without)


def test_a_left_out_block_may_have_read_one_thing_twice() -> None:
    text = (
        "title: T\noptions: {a: {doc: a, default: false}}\ninputs: {x: [...]}\nblocks:\n"
        "  - {op: box, id: b}\n  - {op: add, id: twice, from: [b, b], if: a}\n"
        "  - {op: add, id: s, from: twice}\n"
    )
    assert wires(graph_of(text).root)[1:] == [("b", "s", "data"), ("b", "s", "data")]


def test_an_input_that_only_an_option_uses_is_no_warning() -> None:
    text = (
        "title: T\noptions: {a: {doc: a, default: false}}\ninputs: {x: [...], y: [...]}\n"
        "blocks:\n  - {op: box, id: b}\n  - {op: add, id: s, from: [b, y], if: a}\n"
    )
    assert warnings_of(text) == []
    assert [w.code for w in warnings_of(text.replace("from: [b, y]", "from: [b, x]"))] == [
        "unused-input"
    ]


def test_a_source_left_out_by_its_if_is_told() -> None:
    text = (
        "title: T\noptions: {a: {doc: a, default: true}}\ninputs: {x: [3]}\nblocks:\n"
        "  - {op: constant, id: c, size: [3], if: a}\n  - {op: add, from: [x, c], id: s}\n"
    )
    fault = only_fault(text)
    assert fault.code == "left-out"
    assert "`if: a` is false" in fault.message
    assert fault.notes[-1][0] == "when a is false"


def test_what_a_repeat_left_out_carries_is_told_as_left_out() -> None:
    text = (
        "title: T\noptions: {a: {doc: a, default: true}}\ninputs: {x: [3]}\nblocks:\n"
        "  - {repeat: 2, carry: h, if: a, blocks: [{op: gelu, from: h}]}\n"
        "  - {op: add, from: [x, h], if: not a}\n"
    )
    fault = next(f for f in faults_of(text) if f.notes[-1][0] == "when a is false")
    assert fault.code == "left-out"
    assert "'h' is left out here" in fault.message


def test_a_cache_gives_back_what_it_takes_by_name() -> None:
    text = (
        "title: T\ndims: {d: size, s: length}\ninputs: {a: [s, d], b: [s, 3]}\nblocks:\n"
        "  - {op: cache, id: kept, from: {k: a, v: b}}\n"
        "  - {op: box, id: out, from: kept.v}\n"
    )
    edge = graph_of(text).root.edges[-1]
    assert (edge.tail.port, str(edge.shape)) == (1, "[s, 3]")


def test_ports_of_any_number_may_be_named_out_of_order() -> None:
    text = (
        "title: T\ndims: {p: one, q: other}\ninputs: {x: [p], y: [q]}\nblocks:\n"
        "  - {op: concat, id: c, from: {b: x, a: y}}\n"
    )
    concat = parts(graph_of(text).root)["c"]
    assert [str(port.shape) for port in concat.inputs] == ["[q]", "[p]"]


def test_train_only_edges_are_marked() -> None:
    body = (
        "  - {op: box, id: a}\n  - {op: box, id: b}\n"
        "  - {op: box, id: l, when: train, from: [{from: a, mark: stop-gradient, label: $z$}]}\n"
    )
    edge = next(e for e in root(body).edges if e.mark)
    assert (edge.when, edge.mark, edge.label) == ("train", "stop-gradient", "$z$")


def test_what_nothing_uses_is_a_warning() -> None:
    text = (
        "title: T\ndims: {d_m: width, d_q: never}\ninputs: {x: [d_m], y: [d_m]}\nblocks:\n"
        "  - {op: gelu, id: dead}\n  - {op: relu, from: x}\n"
    )
    codes = sorted(f.code for f in warnings_of(text))
    assert codes == ["unused-block", "unused-input", "unused-size"]


def test_same_text_same_graph() -> None:
    body = "  - parallel: [[{op: box, id: l}], [{op: box, id: r}]]\n  - {op: add, id: s}\n"
    first: Graph = graph_of(PLAIN + body)
    assert first == graph_of(PLAIN + body)
