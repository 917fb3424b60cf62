"""The layout, pass by pass: what each promises, on figures small enough to know the answer."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from graph_specs import graph_of
from graphs import adder, chain, node, pre_norm_block, random_graph, residual, root, stack
from hypothesis import given, settings
from hypothesis import strategies as st

from transformer_diagrams.api import Model
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.graph.ir import BORDER, Edge, End, Graph, Group, Node, Port
from transformer_diagrams.layout.channels import Net, assign_tracks
from transformer_diagrams.layout.engine import LayoutOptions, layout
from transformer_diagrams.layout.group import place
from transformer_diagrams.layout.measure import Context, with_shared_sizes
from transformer_diagrams.layout.position import Pull, solve
from transformer_diagrams.layout.scene import Line, Scene
from transformer_diagrams.lint import lint
from transformer_diagrams.theme import get

PAPER = get("paper")
DIRECTIONS = ("up", "right", "down")


def drawn(graph: Graph, direction: str = "up", **more: str) -> Scene:
    return layout(graph, PAPER, LayoutOptions(direction=direction, **more))


def clean(scene: Scene) -> None:
    """No flaw."""
    assert [str(f) for f in lint(scene, PAPER).findings] == []


def boxes(scene: Scene) -> dict[str, tuple[float, float]]:
    return {b.id: (b.rect.center_x, b.rect.center_y) for b in scene.boxes}


def line(scene: Scene, tail: str, head: str) -> Line:
    return next(q for q in scene.lines if (q.tail, q.head) == (tail, head))


# -- the main stream ------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_chain_is_one_straight_line(direction: str) -> None:
    scene = drawn(root([node(f"b{i}", f"Block {i}") for i in range(5)]), direction)
    clean(scene)
    assert all(len(q.points) == 2 for q in scene.lines)
    across = 1 if direction == "right" else 0
    assert len({round(c[across], 2) for c in boxes(scene).values()}) == 1


@pytest.mark.parametrize(
    ("direction", "axis", "sign"), [("up", 1, -1), ("down", 1, 1), ("right", 0, 1)]
)
def test_the_flow_runs_in_the_direction_asked_for(direction: str, axis: int, sign: int) -> None:
    at = boxes(drawn(root([node("a"), node("b"), node("c")]), direction))
    places = [at[n][axis] * sign for n in ("in", "a", "b", "c", "out")]
    assert places == sorted(places)


def test_boxes_of_a_tower_have_one_width() -> None:
    scene = drawn(root([node("a", "A"), node("b", "A much longer label"), node("c", "B")]))
    assert len({b.rect.width for b in scene.boxes if b.form == "box"}) == 1


# -- residual paths -------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_residual_path_leaves_before_the_body_and_enters_the_adder(direction: str) -> None:
    scene = drawn(root([pre_norm_block("b")]), direction)
    clean(scene)
    skips = [q for q in scene.lines if q.kind == "residual"]
    assert len(skips) == 2
    main = line(scene, "in", "b/a/n")
    (x, y), trunk = skips[0].points[0], main.points
    assert min(trunk[0][0], trunk[-1][0]) <= x <= max(trunk[0][0], trunk[-1][0])
    assert min(trunk[0][1], trunk[-1][1]) <= y <= max(trunk[0][1], trunk[-1][1])
    assert {q.head for q in skips} == {"b/a/add", "b/b/add"}


def test_sibling_lanes_are_in_one_line_and_nested_ones_nest() -> None:
    scene = drawn(root([pre_norm_block("b")]))
    lanes = [max(x for x, _ in q.points) for q in scene.lines if q.kind == "residual"]
    assert len(set(lanes)) == 1
    inner = residual("o/i", [node("o/i/f", "inner")])
    nested = drawn(root([residual("o", [inner, node("o/g", "outer")])]))
    clean(nested)
    reach = {q.head: max(x for x, _ in q.points) for q in nested.lines if q.kind == "residual"}
    assert reach["o/i/add"] + 6 <= reach["o/add"]


def test_equal_blocks_look_equal() -> None:
    scene = drawn(stack(3))
    frames = [b.rect for b in scene.boxes if b.form == "frame"]
    assert len({(r.width, r.height, r.left) for r in frames}) == 1


# -- fans, junctions, wide boxes ------------------------------------------------------------------


def fan(count: int) -> Graph:
    children: list[Node | Group] = [node("x", "$X$", 0, op="input", form="text")]
    children += [node(f"f{i}", f"Linear {i}") for i in range(count)]
    children.append(node("join", "concat", count))
    edges = [Edge(End(0, 0), End(1 + i, 0)) for i in range(count)]
    edges += [Edge(End(1 + i, 0), End(1 + count, i)) for i in range(count)]
    return root(children, edges)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_a_fan_leaves_in_one_bus(count: int, direction: str) -> None:
    scene = drawn(fan(count), direction)
    clean(scene)
    out = [q for q in scene.lines if q.tail == "x"]
    assert len({q.net for q in out}) == 1
    across = 1 if direction == "right" else 0
    order = [boxes(scene)[f"f{i}"][across] for i in range(count)]
    assert order == sorted(order)


def test_a_second_addend_enters_from_the_side() -> None:
    children: list[Node | Group] = [
        node("ids", "ids", 0, op="input", form="text"),
        node("embed", "Embedding"),
        node("pos", "Positions", 0),
        adder("sum"),
        node("next", "Block"),
    ]
    edges = [
        Edge(End(0, 0), End(1, 0)),
        Edge(End(1, 0), End(3, 0)),
        Edge(End(2, 0), End(3, 1)),
        Edge(End(3, 0), End(4, 0)),
    ]
    scene = drawn(root(children, edges))
    clean(scene)
    side = line(scene, "pos", "sum").points
    assert side[-1][1] == side[-2][1]  # level at its end
    assert boxes(scene)["pos"][1] == boxes(scene)["embed"][1]  # one rank below its reader


@pytest.mark.parametrize("key", ["copies: 3", "stack: n"])
def test_a_piled_sum_is_a_box_with_lines_that_reach_it(key: str) -> None:
    text = (
        "dims: {d: width, n: heads}\ninputs: {x: [d]}\nblocks:\n  - {op: gelu, id: g}\n"
        f"  - {{op: mul, id: piled, from: [x, g], {key}}}\n  - {{op: add, from: [piled, g]}}\n"
    )
    scene = Model.from_text(text).scene()
    clean(scene)
    (box,) = (b for b in scene.boxes if b.path == "piled")
    assert box.form == "box"
    assert box.stack > 0


def test_what_passes_a_wide_cache_goes_straight_on() -> None:
    children: list[Node | Group] = [
        node("x", "$X$", 0, op="input", form="text"),
        node("k", "Linear $W_K$"),
        node("v", "Linear $W_V$"),
        node("kv", "KV cache", 2, 2, op="cache", role="cache", lanes=True),
        node("use", "attention", 2),
    ]
    edges = [
        Edge(End(0, 0), End(1, 0)),
        Edge(End(0, 0), End(2, 0)),
        Edge(End(1, 0), End(3, 0)),
        Edge(End(2, 0), End(3, 1)),
        Edge(End(3, 0), End(4, 0)),
        Edge(End(3, 1), End(4, 1)),
    ]
    scene = drawn(root(children, edges))
    clean(scene)
    for name, port in (("k", 0), ("v", 1)):
        into = line(scene, name, "kv").points
        out = next(q for q in scene.lines if q.net == f"kv#{port}").points
        assert len(into) == 2
        assert into[-1][0] == out[0][0]


def test_one_tensor_into_a_closed_part_is_one_line() -> None:
    attention = node("a", "Attention", 2, op="use")
    children: list[Node | Group] = [node("x", "$X$", 0, op="input", form="text"), attention]
    scene = drawn(root(children, [Edge(End(0, 0), End(1, 0)), Edge(End(0, 0), End(1, 1))]))
    assert len(scene.lines) == 1


# -- columns --------------------------------------------------------------------------------------


def columns() -> Graph:
    encoder = chain(
        "enc",
        "group",
        [chain("enc/b", "repeat", [node("enc/b/f", "Encoder")], title="Layer", framed=True)],
    )
    cross = Group(
        "dec/b/r",
        "residual",
        (node("dec/b/r/a", "Cross-attention", 2, op="use"), adder("dec/b/r/+")),
        (
            Edge(End(BORDER, 0), End(0, 0)),
            Edge(End(BORDER, 1), End(0, 1)),
            Edge(End(0, 0), End(1, 0)),
            Edge(End(1, 0), End(BORDER, 0)),
            Edge(End(BORDER, 0), End(1, 1), kind="residual"),
        ),
        (Port("x"), Port("m")),
        (Port("y"),),
    )
    block = Group(
        "dec/b",
        "repeat",
        (node("dec/b/s", "Self-attention"), cross),
        (
            Edge(End(BORDER, 0), End(0, 0)),
            Edge(End(0, 0), End(1, 0)),
            Edge(End(BORDER, 1), End(1, 1)),
            Edge(End(1, 0), End(BORDER, 0)),
        ),
        (Port("x"), Port("m")),
        (Port("y"),),
        title="Layer",
        framed=True,
    )
    decoder = Group(
        "dec",
        "group",
        (block,),
        (
            Edge(End(BORDER, 0), End(0, 0)),
            Edge(End(BORDER, 1), End(0, 1)),
            Edge(End(0, 0), End(BORDER, 0)),
        ),
        (Port("x"), Port("m")),
        (Port("y"),),
    )
    both = Group(
        "cols",
        "columns",
        (encoder, decoder),
        (
            Edge(End(BORDER, 0), End(0, 0)),
            Edge(End(BORDER, 1), End(1, 0)),
            Edge(End(0, 0), End(1, 1)),
            Edge(End(1, 0), End(BORDER, 0)),
        ),
        (Port("s"), Port("t")),
        (Port("y"),),
    )
    children: list[Node | Group] = [
        node("s", "source", 0, op="input", form="text"),
        node("t", "target", 0, op="input", form="text"),
        both,
        node("y", "output", 1, 0, op="output", form="text"),
    ]
    edges = [Edge(End(0, 0), End(2, 0)), Edge(End(1, 0), End(2, 1)), Edge(End(2, 0), End(3, 0))]
    return root(children, edges)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_memory_enters_the_other_column_from_its_flank(direction: str) -> None:
    scene = drawn(columns(), direction)
    clean(scene)
    assert lint(scene, PAPER).score.crossings == 0
    memory = line(scene, "enc/b/f", "dec/b/r/a")
    frame = next(b.rect for b in scene.boxes if b.id == "dec/b#frame")
    flank = frame.top if direction == "right" else frame.left
    axis = 1 if direction == "right" else 0
    assert any(
        min(a[axis], b[axis]) < flank < max(a[axis], b[axis])
        for a, b in itertools.pairwise(memory.points)
    )


# -- texts ----------------------------------------------------------------------------------------


def test_shapes_are_said_once_where_they_change() -> None:
    from graphs import SHAPE

    from transformer_diagrams.ops.registry import Shape

    wide = Shape.parse(["d_t", "d_h"])
    up = Node("up", "linear", "projection", "Linear", (Port("x", SHAPE),), (Port("y", wide),))
    acts = [
        Node(f"act{i}", "gelu", "activation", "GELU", (Port("x", wide),), (Port("y", wide),))
        for i in range(3)
    ]

    def said(shapes: str) -> int:
        labels = drawn(root([up, *acts]), shapes=shapes).labels
        return [q.markup for q in labels if q.kind == "shape"].count(f"${wide.tex()}$")

    assert said("changes") == 2  # after `up`, and at the output
    assert said("all") == 4
    assert said("none") == 0


def test_a_long_label_is_wrapped_and_stays_in_its_box() -> None:
    clean(
        drawn(root([node("a", "a label of very many words that no single box should hold " * 2)]))
    )


def test_neighbours_with_long_labels_do_not_meet() -> None:
    children: list[Node | Group] = [node("x", "$X$", 0, op="input", form="text")]
    children += [node(f"b{i}", "forty letters of a label in one long box") for i in range(12)]
    clean(drawn(root(children, [Edge(End(0, 0), End(1 + i, 0)) for i in range(12)])))


# -- the parts by themselves ----------------------------------------------------------------------


NEAR = 6.0  # points: lines nearer than this look like one


@pytest.mark.parametrize("off", [-5.9, 0.0, 5.9])
def test_tracks_never_let_two_lines_share_a_column(off: float) -> None:
    # b rises where a leaves, or nearly: b must run above a, though the shorter one
    a, b = Net((10.0 + off,), (200.0,)), Net((80.0,), (10.0,))
    low, high = assign_tracks([a, b])
    assert high > low
    assert assign_tracks([Net((5.0,), (5.0,))]) == [-1]


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12),
    st.sampled_from([1.0, 20.0]),
)
def test_nets_of_one_track_keep_their_distance(pairs: list[tuple[int, int]], step: float) -> None:
    nets = [Net((step * a,), (step * b,)) for a, b in pairs]
    tracks = assign_tracks(nets)
    for i, j in itertools.combinations(range(len(nets)), 2):
        if tracks[i] == tracks[j] >= 0:
            assert nets[i].high + NEAR <= nets[j].low or nets[j].high + NEAR <= nets[i].low


@given(st.lists(st.floats(5, 50), min_size=1, max_size=8), st.integers(0, 10_000))
def test_places_keep_their_distances(gaps: list[float], seed: int) -> None:
    import random

    rng = random.Random(seed)
    count = len(gaps) + 1
    apart = {(i, i + 1): gap for i, gap in enumerate(gaps)}
    wishes = [
        Pull(rng.randrange(count), rng.randrange(count), rng.uniform(-80, 80), 1.0)
        for _ in range(count)
    ]
    x = solve(count, apart, [w for w in wishes if w.a != w.b])
    assert all(x[b] - x[a] >= d - 1e-6 for (a, b), d in apart.items())


def test_one_block_moves_to_the_mean_of_its_neighbours() -> None:
    x = solve(3, {(0, 1): 10.0}, [Pull(0, 2, 0.0, 1.0), Pull(1, 2, 0.0, 1.0)])
    assert abs(x[2] - (x[0] + x[1]) / 2) < 0.05


# -- kinds that once went wrong, from their specs --------------------------------------------------

HEAD = (
    "title: T\ndims: {d_t: positions, d_m: width, n_h: heads, n_g: groups, d_h: hidden}\n"
    "where: [n_g | n_h]\n"
)


def spec(text: str, direction: str = "up", **asked: object) -> Scene:
    """The scene of a spec's inputs and blocks."""
    return Model.from_text(HEAD + text).scene(direction=direction, **asked)


def sides(scene: Scene, box: str) -> list[tuple[float, float]]:
    """Where the lines into a box end, from its centre."""
    at = next(b.rect for b in scene.boxes if b.id == box)
    ends = [q.points[-1] for q in scene.lines if q.head == box]
    return [(round(x - at.center_x, 2), round(y - at.center_y, 2)) for x, y in ends]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 9])
def test_every_operand_of_a_sum_has_a_place_of_its_own(count: int, direction: str) -> None:
    lines = "".join(f"  - {{op: linear, id: l{i}, out: d_m, from: x}}\n" for i in range(count))
    operands = ", ".join(f"l{i}" for i in range(count))
    scene = spec(
        f"inputs: {{x: [d_t, d_m]}}\nblocks:\n{lines}  - {{op: add, id: s, from: [{operands}]}}\n",
        direction,
    )
    clean(scene)
    assert len(set(sides(scene, "s"))) == count


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("operands", ["q, m", "m, q", "q, m, n", "m, n, q", "m, n, k"])
def test_lines_from_another_column_enter_a_circle_at_its_side(
    operands: str, direction: str
) -> None:
    text = (
        "inputs: {x: [d_t, d_m], y: [d_t, d_m]}\nblocks:\n  - columns:\n"
        "      - {id: one, from: x, blocks: [{op: linear, id: m, out: d_m}, {op: gelu, id: n},"
        " {op: gelu, id: k}]}\n"
        "      - {id: two, from: y, blocks: [{op: linear, id: q, out: d_m},"
        f" {{op: mul, id: p, from: [{operands}]}}]}}\n"
    )
    if "q" not in operands:
        text = text.replace("[{op: linear, id: q, out: d_m}, ", "[")
    scene = spec(text, direction)
    clean(scene)
    across = 1 if direction == "right" else 0
    from_side = [e for e in sides(scene, "p") if abs(e[across]) > 1]
    assert len(from_side) == operands.count(",") + ("q" not in operands)


def test_a_sum_that_names_its_skips_first_is_the_same_figure() -> None:
    blocks = "".join(f"  - {{op: linear, id: {i}, out: d_m}}\n" for i in "abc")
    first, last = (
        spec(f"inputs: {{x: [d_t, d_m]}}\nblocks:\n{blocks}  - {{op: add, id: s, from: [{o}]}}\n")
        for o in ("a, b, c", "c, b, a")
    )
    assert boxes(first) == boxes(last)
    assert len({x for name, (x, _) in boxes(first).items() if name in "xabcs"}) == 1


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("readers", [1, 2, 3])
@pytest.mark.parametrize("first", [True, False])
def test_readers_in_another_column_share_one_trunk(
    readers: int, first: bool, direction: str
) -> None:
    source = "      - {id: e, title: E, from: m, blocks: [{op: linear, out: d_m}, gelu]}\n"
    reads = "{op: attention_core, from: [prev, e, e]}, layernorm, " * readers
    reader = (
        f"      - {{id: d, title: D, from: x, blocks: [{reads}{{op: add, from: [prev, e]}}]}}\n"
    )
    both = source + reader if first else reader + source
    scene = spec(
        f"inputs: {{x: [d_t, d_m], m: [d_t, d_m]}}\nblocks:\n  - columns:\n{both}", direction
    )
    clean(scene)
    frame = next(b.rect for b in scene.boxes if b.id == "d#frame")
    across = 1 if direction == "right" else 0
    low, high = (frame.left, frame.right) if across == 0 else (frame.top, frame.bottom)
    entries = {
        (a, b)
        for q in scene.lines
        if q.tail == "gelu"
        for a, b in itertools.pairwise(q.points)
        for border in (low, high)
        if min(a[across], b[across]) < border < max(a[across], b[across])
    }
    assert len({a[1 - across] for a, _ in entries}) == 1  # one place where it enters


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    "bodies",
    [
        ("linear", "gelu, gelu, gelu, gelu", "{op: add, from: [prev, one]}"),
        ("linear", "gelu", "gelu, gelu, {op: concat, from: [prev, one]}, {op: linear, out: d_m}"),
        ("{op: linear, out: d_m, id: m}, gelu", "gelu", "{op: mul, from: [prev, m]}"),
        ("{op: add, from: [prev, three]}", "gelu, gelu", "linear"),
        ("linear", "{op: add, from: [prev, one]}, gelu, gelu", "{op: sub, from: [prev, one]}"),
        ("linear", "{op: add, from: [prev, three]}", "{op: sub, from: [prev, one]}"),
    ],
)
def test_a_line_to_a_far_column_runs_over_those_between(
    bodies: tuple[str, ...], direction: str
) -> None:
    columns = "".join(
        f"      - {{id: {name}, title: C, from: x{name}, blocks: [{body}]}}\n"
        for name, body in zip(("one", "two", "three"), bodies, strict=True)
    ).replace("[linear", "[{op: linear, out: d_m}")
    inputs = ", ".join(f"x{name}: [d_t, d_m]" for name in ("one", "two", "three"))
    clean(spec(f"inputs: {{{inputs}}}\nblocks:\n  - columns:\n{columns}", direction))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_operands_stand_in_their_order(direction: str) -> None:
    scene = spec(
        "inputs: {p: [d_t, d_m], q: [d_t, d_m], x: [d_t, d_m]}\n"
        "outputs: {d: {from: d}, c: {from: c}}\nblocks:\n"
        "  - {op: linear, id: fp, out: d_m, from: p}\n  - {op: linear, id: fq, out: d_m, from: q}\n"
        "  - {op: sub, id: d, from: [fq, fp]}\n  - {op: linear, id: a, out: d_m, from: x}\n"
        "  - {op: linear, id: b, out: d_m}\n  - {op: concat, id: c, from: [x, a, b]}\n",
        direction,
    )
    clean(scene)
    across = 1 if direction == "right" else 0
    for box in "dc":
        places = [
            q.points[-1][across]
            for q in sorted(scene.lines, key=lambda q: q.head_place)
            if q.head == box
        ]
        assert places == sorted(places)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_outputs_stand_in_their_order_and_ports_that_cannot_are_named(direction: str) -> None:
    scene = spec(
        "inputs: {x: [d_t, 2 d_m]}\nblocks:\n  - {op: split, id: s}\n"
        "  - {op: linear, id: v, from: s.1, out: d_m}\n  - {op: sigmoid, id: g, from: s.0}\n"
        "  - {op: mul, from: [v, g]}\n",
        direction,
    )
    clean(scene)
    across = 1 if direction == "right" else 0
    at = boxes(scene)
    assert at["g"][across] < at["v"][across]
    reads = (("{op: attention_core, id: c, from: [prev, e, e]}", {"$q$", "$k$", "$v$"}),)
    for block, names in (*reads, ("{op: sub, id: c, from: [prev, e]}", {"1", "2"})):
        memory = spec(
            "inputs: {x: [d_t, d_m], m: [d_t, d_m]}\nblocks:\n  - columns:\n"
            "      - {id: e, from: m, blocks: [{op: linear, out: d_m}]}\n"
            f"      - {{id: d, from: x, blocks: [{block}, gelu]}}\n",
            direction,
        )
        clean(memory)
        said = {q.markup for q in memory.labels if q.owner.endswith(("c#0", "c#1", "c#2"))}
        assert said == names


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_opening_one_part_leaves_the_lanes_of_its_siblings(direction: str) -> None:
    text = (
        "inputs: {x: [d_t, d_m]}\nblocks:\n  - residual: [rmsnorm, {use: gqa, id: a}]\n"
        "  - residual: [rmsnorm, {use: ffn, id: f}]\n  - residual: [rmsnorm, {use: ffn, id: g}]\n"
    )
    across = 1 if direction == "right" else 0

    def reach(scene: Scene) -> list[float]:
        skips = [q for q in scene.lines if q.kind == "residual"]
        norms = [b.rect for b in scene.boxes if b.title == "RMSNorm"]
        edges = [r.bottom if across else r.right for r in norms]
        return [
            round(max(p[across] for p in q.points) - edge, 2)
            for q, edge in zip(skips, edges, strict=True)
        ]

    closed, opened = (reach(spec(text, direction, open=names)) for names in ([], ["a"]))
    assert opened[1:] == closed[1:]
    assert opened[0] > closed[0]


# -- by chance ------------------------------------------------------------------------------------


@given(st.integers(0, 400), st.sampled_from(DIRECTIONS))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_figure_passes_the_lint(seed: int, direction: str) -> None:
    graph = random_graph(seed, 4 + seed % 12)
    findings = lint(drawn(graph, direction), PAPER).findings
    # a pair of lines that swap columns in one channel may come nearer than the rule; no more
    assert [str(f) for f in findings if f.rule != "lines-too-near"] == []
    assert len(findings) <= 1


@given(st.integers(0, 200))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_the_same_figure_twice_is_the_same(seed: int) -> None:
    assert drawn(random_graph(seed)) == drawn(random_graph(seed))


# -- limits ---------------------------------------------------------------------------------------


def test_a_fan_that_no_page_holds_is_refused_in_words() -> None:
    with pytest.raises(DiagramError) as caught:
        drawn(fan(500))
    assert "no page shows that" in caught.value.faults[0].message


# -- words of lines, and remarks ------------------------------------------------------------------

WORDS = {
    "columns and groups": """
inputs: {x: [d_t, d_m], y: [d_t, d_m]}
blocks:
  - columns:
      - {id: left, from: x, blocks: [{op: linear, out: d_m}]}
      - id: right
        from: y
        blocks:
          - {op: attention_core, from: [y, {from: left, label: one}, {from: left, label: two}]}
  - {group: [{op: linear, out: d_m}], id: g, title: Group}
  - {op: gelu, id: a, from: {from: g, label: three}}
  - {op: relu, id: b, from: {from: g, label: four}}
  - {op: add, from: [a, b]}
""",
    "a circle": """
inputs: {x: [d_t, d_m]}
blocks:
  - {op: linear, id: m, out: d_m}
  - {op: add, id: s, from: [m, x]}
  - {op: gelu, id: g, from: {from: s, label: one}}
  - {op: relu, id: r, from: {from: s, label: two}}
  - {op: add, from: [g, {from: r, label: three}]}
""",
    "inputs and borders": """
inputs: {x: [d_t, d_m]}
blocks:
  - {op: linear, id: a, out: d_m, from: {from: x, label: one}}
  - {op: linear, id: b, out: d_m, from: {from: x, label: two}}
  - repeat: 3
    from: {from: b, label: three}
    blocks:
      - {op: linear, id: e, out: d_m, from: {from: prev, label: four}}
      - {op: mul, from: [{from: e, label: five}, {from: a, label: six}]}
  - {group: [gelu], id: c, title: Closed, open: false}
  - {op: attention_core, from: [{from: c, label: q}, {from: c, label: k}, {from: c, label: v}]}
""",
    "remarks": """
inputs: {x: [d_t, d_m]}
outputs: {y: [d_t, d_m]}
blocks:
  - {op: linear, out: d_m, note: no bias here, copies: 3}
  - residual:
      - rmsnorm
      - {op: linear, out: d_t, note: "a remark of many words that are set in several lines $W_Q$"}
      - {op: linear, out: d_m}
    note: the sum
  - {parallel: {a: [{op: gelu, note: one}], b: [{op: relu, note: two}]}}
  - {op: add, id: s, note: a circle with a remark}
  - {repeat: 3, blocks: [silu], note: a repeat without a title, id: r}
  - columns:
      - {from: r, blocks: [{op: linear, out: d_m, note: left}], note: below, id: one}
      - {from: x, blocks: [{op: attention_core, from: [prev, one, one], note: right}], title: T}
""",
}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_every_word_stands_at_its_line_or_box(text: str, direction: str) -> None:
    graph = graph_of("dims: {d_t: positions, d_m: width}" + text)
    scene = drawn(graph, direction)
    clean(scene)
    assert len(scene.words) == text.count("label:") + text.count("note:")
    circles = {box.rect.width for box in scene.boxes if box.form == "circle"}
    assert circles <= {2 * PAPER.sizes.circle_radius}
    for label in scene.labels:
        if label.markup in scene.words:
            lost = replace(scene, labels=tuple(q for q in scene.labels if q is not label))
            assert "label-lost" in {f.rule for f in lint(lost, PAPER).findings}


# -- parts that run in a direction of their own ---------------------------------------------------

TURNED = """
dims: {d_t: positions, d_m: width, n: heads}
inputs: {x: [d_t, d_m], m: [d_t, d_m]}
outputs: {y: [d_t, d_m]}
blocks:
  - group: [rmsnorm, {op: linear, out: d_m, copies: n, id: p}]
    title: Across
    direction: OWN
    copies: n
  - {residual: [rmsnorm, {op: linear, out: d_m}], direction: OWN}
  - group: [{op: linear, out: d_m}, {op: attention_core, from: [prev, m, m]}]
    title: Two inputs
    direction: OWN
    note: turned
  - {repeat: n, blocks: [rmsnorm, {group: [gelu, relu], direction: up, title: Up}], direction: OWN}
  - columns:
      - {id: left, blocks: [silu], title: Left, direction: OWN}
      - {blocks: [{op: attention_core, from: [m, left, left]}, relu], direction: OWN}
  - {group: [{op: activation, kind: tanh}, gelu], title: Beside, direction: OWN, open: callout}
"""


@pytest.mark.parametrize("own", DIRECTIONS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_part_runs_in_its_own_direction(direction: str, own: str) -> None:
    scene = drawn(graph_of(TURNED.replace("OWN", own)), direction)
    clean(scene)
    at = boxes(scene)
    (x1, y1), (x2, y2) = at["rmsnorm"], at["p"]
    ahead = {"up": (0, -1), "down": (0, 1), "right": (1, 0)}[own]
    way = (round((x2 - x1) / 30), round((y2 - y1) / 30))
    assert tuple((n > 0) - (n < 0) for n in way) == ahead


PART = """
dims: {d_t: positions, d_m: width}
options: {two: {doc: both, default: false}}
inputs: {a: [d_t, d_m], b: [d_t, d_m]}
outputs: {o: [d_t, d_m]}
blocks: [{op: linear, out: d_m, id: l}, {op: add, from: [l, b], if: two}]
"""
USER = """
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m], y: [d_t, d_m]}
blocks:
  - columns:
      - {id: l, from: x, title: L, blocks: [gelu]}
      - id: r
        from: y
        title: R
        blocks:
          - {use: part, id: p, from: [prev, l]}
          - {group: [{use: part, id: q, from: [prev, l]}]}
"""


@pytest.mark.parametrize("opened", [(), ("p",), ("q",), ("*",)])
def test_an_opened_part_takes_no_line_that_it_does_not_read(opened: tuple[str, ...]) -> None:
    scene = drawn(graph_of(USER, more={"part": PART}, open=opened))
    clean(scene)
    assert sum(line.tail == "gelu" for line in scene.lines) == 2 - len(opened) * (
        2 if "*" in opened else 1
    )


def test_all_shapes_are_those_of_every_arrow() -> None:
    text = """
dims: {d_t: positions, n: scores, k: kept}
inputs: {x: [d_t, n]}
outputs: {v: {from: t.values}, i: {from: t.index}}
blocks: [{op: top_k, id: t, k: k}]
"""
    for shapes, count in (("none", 0), ("changes", 2), ("all", 3)):
        scene = drawn(graph_of(text), shapes=shapes)
        clean(scene)
        assert sum(label.kind == "shape" for label in scene.labels) == count


@pytest.mark.parametrize("name", ["transformer", "mla", "llama3"])
def test_placing_a_group_again_gives_the_same_and_changes_nothing(name: str) -> None:
    graph = Model.find(name).graph()
    ctx = with_shared_sizes(graph, Context(PAPER.sizes, "up", "changes", graph.tex))
    before = repr((graph, ctx))
    first = place(graph.root, ctx)
    said = repr(first)
    assert repr(place(graph.root, ctx)) == said == repr(first)
    assert repr((graph, ctx)) == before


# -- the search -----------------------------------------------------------------------------------

BRANCHES = """
title: T
dims: {d_t: t, d_m: m, d_K: k}
inputs: {x: [d_t, d_m]}
outputs: {y: {from: out}}
blocks:
  - {op: linear, id: q, from: x, out: d_K}
  - {op: linear, id: k, from: x, out: d_K}
  - {op: matmul, id: scores, from: {a: q, b: k}, transpose_b: true}
  - {op: softmax, id: a}
  - {op: linear, id: v, from: x, out: d_m}
  - {op: matmul, id: out, from: {a: a, b: v}}
"""


@pytest.mark.parametrize("direction", ["up", "down"])
def test_what_two_branches_meet_in_stands_over_their_middle(direction: str) -> None:
    scene = drawn(graph_of(BRANCHES), direction)
    clean(scene)
    (q, _), (k, _), (scores, _) = (boxes(scene)[name] for name in ("q", "k", "scores"))
    assert scores == pytest.approx((q + k) / 2, abs=(k - q) / 8)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("spec", ["transformer", "t5"])
def test_a_memory_enters_the_side_of_the_box_that_reads_it(spec: str, direction: str) -> None:
    """Straight across the flow, at the level of the box."""
    scene = Model.find(spec).scene(direction=direction)
    box = next(b for b in scene.boxes if b.title.startswith("Cross-attention"))
    memory = next(q for q in scene.lines if q.head == box.id and not q.spine)
    (a, b), along = memory.points[-2:], 0 if direction == "right" else 1
    middle = (box.rect.center_x, box.rect.center_y)[along]
    assert a[along] == pytest.approx(b[along]) == pytest.approx(middle, abs=1.0)


def test_groups_that_look_alike_are_placed_once_and_alike() -> None:
    """Each block of a stack has the places of the first, moved as a whole; none shares them."""
    graph = stack(4)
    ctx = with_shared_sizes(graph, Context(PAPER.sizes))
    placed = place(graph.root, ctx)
    blocks = [spot for spot in placed.spots if spot.inside is not None]
    assert len(blocks) == 4
    assert len({repr(spot.inside) for spot in blocks}) == 1
    assert len({id(spot.inside) for spot in blocks}) == 4
    assert len({ctx.likeness.of(b) for b in graph.root.children if isinstance(b, Group)}) == 1


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_output_on_the_way_of_the_stream_is_a_tap(direction: str) -> None:
    staged = """
title: T
dims: {d_t: t, d_m: m}
inputs: {x: [d_t, d_m]}
outputs: {early: {from: one}, late: {from: two}, last: {from: three}}
blocks:
  - {op: gelu, id: one}
  - {op: silu, id: two}
  - {op: relu, id: three}
"""
    scene = drawn(graph_of(staged), direction)
    clean(scene)
    across = 1 if direction == "right" else 0
    at = boxes(scene)
    trunk = {round(at[name][across], 2) for name in ("x", "one", "two", "three", "last")}
    assert len(trunk) == 1
    assert all(round(at[name][across], 2) not in trunk for name in ("early", "late"))


def test_lines_from_a_split_reach_the_parts_of_a_group_without_crossing() -> None:
    """The group has its ports in the order in which the lines come, whatever suits its inside."""
    asked = """
title: T
dims: {d_t: t, d_m: m}
inputs: {x: [d_t, d_m], c: [d_t, 3 d_m]}
outputs: {y: {from: part}}
blocks:
  - {op: split, id: parts, from: c, sizes: [d_m, d_m, d_m]}
  - group:
      - {op: add, id: one, from: [x, parts.2]}
      - {op: add, id: two, from: [one, parts.1]}
      - {op: add, id: three, from: [two, parts.0]}
    id: part
    title: Part
"""
    scene = drawn(graph_of(asked))
    clean(scene)
    assert lint(scene, PAPER).score.crossings <= 3  # three reversed lines cross each other once


def test_an_encoder_a_little_lower_than_its_reader_is_raised_to_it() -> None:
    """The memory runs straight across where that costs little height."""
    for opened in ((), ("1",)):
        scene = Model.find("transformer").scene(open=list(opened))
        memory = [q for q in scene.lines if q.tail.startswith("encoder") and "cross" in q.head]
        for each in memory:
            ups = [b[1] - a[1] for a, b in itertools.pairwise(each.points) if a[1] != b[1]]
            assert not any(a > 0 > b for a, b in itertools.pairwise(ups)), "never down and up again"
