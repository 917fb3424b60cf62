"""Repeats whose turns differ: how many of each kind, their order, and what is refused."""

from __future__ import annotations

import itertools

import pytest
from graph_specs import Texts, faults_of, graph_of, only_fault, parts, spec_of, warnings_of
from hypothesis import given
from hypothesis import strategies as st

from transformer_diagrams import theme
from transformer_diagrams.count import inspect
from transformer_diagrams.dims import Dim, Facts, const, parse, parse_condition, sym
from transformer_diagrams.errors import Fault
from transformer_diagrams.graph.ir import Group, Node
from transformer_diagrams.graph.pattern import (
    TURN,
    Kind,
    Pattern,
    PatternError,
    counts,
    order,
)
from transformer_diagrams.layout.engine import LayoutOptions, layout
from transformer_diagrams.lint import lint
from transformer_diagrams.spec import load_text

L = sym("L")


def rules(*texts: str) -> Kind:
    return Kind(rules=tuple(parse_condition(text).subs({"turn": TURN}) for text in texts))


def by_hand(runs: list[int], turns: int) -> list[int]:
    """How many turns are of each kind, counted one by one."""
    one = [kind for kind, run in enumerate(runs) for _ in range(run)]
    found = [one[at % len(one)] for at in range(turns)]
    return [found.count(kind) for kind in range(len(runs))]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 60))
def test_rounds_are_counted_for_every_number_of_turns(runs: list[int], turns: int) -> None:
    pattern = Pattern(L, tuple(Kind(const(run)) for run in runs))
    found = [size.evaluate({"L": turns}) for size in counts(pattern, Facts())]
    assert found == by_hand(runs, turns)
    kinds = order(pattern, {"L": turns})
    assert kinds is not None
    assert [kinds[0].count(kind) for kind in range(len(runs))] == found


def test_rounds_of_a_size_that_has_only_a_name() -> None:
    pattern = Pattern(L, (Kind(sym("n")), Kind()))
    full = counts(pattern, Facts())[1]
    assert str(full) == "floor(L / (n + 1))"
    for turns, run in itertools.product(range(1, 20), range(1, 6)):
        assert [
            size.evaluate({"L": turns, "n": run}) for size in counts(pattern, Facts())
        ] == by_hand([run, 1], turns)


def test_what_divides_the_turns_makes_formulas_short() -> None:
    facts = Facts({}, (parse_condition("8 | L"),))
    jamba = Pattern(L, (rules("turn % 8 == 4"), rules("turn % 2 == 0"), rules()))
    assert list(map(str, counts(jamba, facts))) == ["L / 8", "3 L / 8", "L / 2"]
    first = Pattern(L, (rules("turn <= n"), rules()))
    facts = Facts({}, (parse_condition("n <= L"),))
    assert list(map(str, counts(first, facts))) == ["n", "L - n"]
    assert list(map(str, counts(first, Facts()))) == ["min(L, n)", "L - min(L, n)"]


Rules = tuple[tuple[str, ...], ...]
CASES: tuple[Rules, ...] = (
    (("turn % 8 == 4",), ("turn % 2 == 0",)),
    (("turn <= a",), ("turn % 3 == 1",)),
    (("turn > a", "turn % 4 != 2"), ("turn == a",)),
    (("6 | turn",), ("turn < a",)),
    (("turn % 5 >= 3",), ("turn != a",)),
    (("(turn - 2) % 4 == 0",), ("a >= turn",)),
    (("turn % p == 0",),),
    (("turn <= a",), ("turn % p == 1",), ("turn % p == 0",)),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_conditions_are_counted_for_every_number_of_turns(case: Rules) -> None:
    kinds = (*(rules(*texts) for texts in case), rules())
    facts = Facts({}, (parse_condition("p > 1"),))
    found = counts(Pattern(L, kinds), facts)
    read = {"|": "turn % 6 == 0"}
    conditions = [
        [text if "|" not in text else read["|"] for text in texts] for texts in case
    ]
    for turns, a, p in itertools.product((1, 2, 3, 7, 8, 13, 24, 31), (1, 3, 9), (2, 3, 5)):
        many = [0] * len(kinds)
        for turn in range(1, turns + 1):
            names = {"turn": turn, "a": a, "p": p}
            many[next(
                (n for n, each in enumerate(conditions) if all(eval(t, {}, names) for t in each)),
                len(case),
            )] += 1
        assert [size.evaluate({"L": turns, "a": a, "p": p}) for size in found] == many


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ((rules("turn % 2 == 0"), rules("turn % 4 == 1")), "no entry takes the turns"),
        ((rules("turn^2 == 4"), rules()), "cannot be counted"),
        ((rules("turn <= a"), rules("turn <= b"), rules()), "cannot tell which turn comes first"),
        ((rules("turn % p == 0"), rules("turn % 3 == 0"), rules()), "cannot be counted together"),
        ((rules("turn % p == 5"), rules("turn % p == 0"), rules()), "remainders by p differ"),
        ((rules("turn % 2000 == 1"), rules()), "only after 2,000 turns"),
    ],
)
def test_what_cannot_be_counted_is_told(kinds: tuple[Kind, ...], words: str) -> None:
    with pytest.raises(PatternError) as found:
        counts(Pattern(L, kinds), Facts({}, (parse_condition("p > 1"),)))
    assert words in found.value.message


HEAD = """
title: T
dims: {d_t: positions, d_m: width, d_h: hidden width, L: layers, w: {doc: window, default: 4},
  n_d: {doc: first, default: 2}}
inputs: {x: [d_t, d_m]}
blocks:
"""
LAYERS = {
    "window": "{residual: [{op: linear, out: d_h}, {op: linear, out: d_m, bias: false}]}",
    "full": "{use: ffn, id: ffn%s}",
    "moe": "{op: linear, out: d_m, weight: W%s}",
}
PATTERN = HEAD + "  - repeat: L\n    title: Layers\n    pattern:\n"
ROUNDS = PATTERN + (
    f"      - {{count: 5, title: Window, blocks: [{LAYERS['window']}]}}\n"
    f"      - {{title: Full, blocks: [{LAYERS['full'] % ''}]}}\n"
)
RULES = PATTERN + (
    f"      - {{turns: turn % 8 == 4, title: Full, blocks: [{LAYERS['full'] % ''}]}}\n"
    f"      - {{turns: [turn > n_d, turn % 2 == 0], title: M, blocks: [{LAYERS['moe'] % ''}]}}\n"
    f"      - {{blocks: [{LAYERS['window']}]}}\n"
)


def layers_of(text: str, turns: int) -> list[str]:
    if text is ROUNDS:
        return ["full" if turn % 6 == 0 else "window" for turn in range(1, turns + 1)]
    return [
        "full" if turn % 8 == 4 else "moe" if turn > 2 and turn % 2 == 0 else "window"
        for turn in range(1, turns + 1)
    ]


@pytest.mark.parametrize("text", [ROUNDS, RULES], ids=["rounds", "rules"])
@pytest.mark.parametrize("turns", [1, 6, 7, 16, 23])
def test_a_pattern_counts_as_its_layers_written_out(text: str, turns: int) -> None:
    written = HEAD.replace("blocks:", "blocks:\n") + "".join(
        f"  - {LAYERS[kind] % n if '%s' in LAYERS[kind] else LAYERS[kind]}\n"
        for n, kind in enumerate(layers_of(text, turns))
    )
    sizes = {"d_t": 8, "d_m": 16, "d_h": 24, "L": turns}
    one, other = (
        inspect(spec_of(each), Texts(), overrides=sizes).as_json() for each in (text, written)
    )
    assert other["params"]["total"]
    for key in ("params", "flops", "kv_cache"):
        for what, number in other[key].items():
            if isinstance(number, int):
                assert one[key][what] == number, (key, what)


def strip_of(text: str, **settings: object) -> Group:
    group = parts(graph_of(text, **settings).root)["repeat"]
    assert isinstance(group, Group)
    return group


def test_the_strip_shows_all_turns_the_most_frequent_kind_lightest() -> None:
    group = strip_of(RULES, overrides={"L": 9, "d_m": 8}, numbers=True)
    assert group.badge == "$9 \\times$"
    assert group.turns is not None
    assert (group.turns.tones, group.turns.more) == ((0, 0, 0, 2, 0, 1, 0, 1, 0), False)
    tones = [child.tone for child in group.children if isinstance(child, Group)]
    badges = [child.badge for child in group.children if isinstance(child, Group)]
    assert (tones, badges) == ([2, 1, 0], ["$1 \\times$", "$2 \\times$", "$6 \\times$"])


def test_without_a_number_of_turns_the_strip_is_one_round_that_goes_on() -> None:
    group = strip_of(ROUNDS)
    assert group.turns is not None
    assert (group.turns.tones, group.turns.more) == ((0, 0, 0, 0, 0, 1), True)
    assert group.turns.words == "5 Window, 1 Full, and so on"
    assert [child.badge for child in group.children if isinstance(child, Group)] == [
        "$(L - \\lfloor L / 6 \\rfloor) \\times$", "$\\lfloor L / 6 \\rfloor \\times$"
    ]
    group = strip_of(RULES)
    assert group.turns is not None
    assert len(group.turns.tones) == 2 + 8


def told(text: str) -> Fault:
    """The one fault of a text, whichever stage finds it."""
    report = load_text(text, "t.yaml")[1]
    if not report.errors:
        return only_fault(text)
    (fault,) = report.errors
    return fault


@pytest.mark.parametrize(
    ("entries", "code", "words"),
    [
        ("[{count: 2, blocks: [silu]}, {turns: turn > 2, blocks: [silu]}]", "count-and-turns", ""),
        ("[{blocks: [silu]}, {turns: turn > 2, blocks: [silu]}]", "turns-left", "not the last"),
        ("[{turns: L > 2, blocks: [silu]}, {blocks: [silu]}]", "no-turn", "called 'turn'"),
        ("[{turns: turn > q, blocks: [silu]}, {blocks: [silu]}]", "unknown-dim", "'q'"),
        ("[{turns: turn % 2 == 0, blocks: [silu]}]", "pattern", "no entry takes"),
        ("[]", "no-blocks", "no kinds of turns"),
        ("[{count: 2}]", "missing-key", "'blocks'"),
        ("[{from: x, blocks: [silu]}]", "unknown-key", "no key 'from'"),
        ("[{count: 2, blocks: [{op: linear, out: d_h}]}, {blocks: [silu]}]", "repeat-mismatch", ""),
    ],
)
def test_faults_of_a_pattern_are_told_in_place(entries: str, code: str, words: str) -> None:
    fault = told(HEAD + f"  - {{repeat: L, pattern: {entries}}}\n")
    assert fault.code == code
    assert words in fault.message
    assert fault.span.line == HEAD.count("\n") + 1


def test_a_repeat_has_blocks_or_a_pattern() -> None:
    text = HEAD + "  - {repeat: L, blocks: [silu], pattern: [{blocks: [silu]}]}\n"
    assert told(text).code == "two-bodies"
    assert told(HEAD + "  - {repeat: L}\n").code == "missing-key"


def test_what_a_turn_carries_is_said_by_the_entry_that_reads_it() -> None:
    body = "[{op: rmsnorm, from: state}, {op: add, from: [prev, state]}]"
    text = "title: T\ndims: {n: rows, d: width, L: turns}\ninputs: {x: [n, d]}\nblocks:\n" \
           "  - repeat: L\n    carry: [state]\n    pattern:\n" \
           f"      - {{count: 2, blocks: {body}}}\n      - {{blocks: [gelu]}}\n"
    fault = told(text)
    assert (fault.code, fault.span.line) == ("carry-of-pattern", 6)
    assert "entry" in fault.expected
    right = text.replace("    carry: [state]\n", "")
    assert not faults_of(right.replace("count: 2,", "count: 2, carry: [state],"))


def test_a_turn_of_a_pattern_has_a_name_for_what_it_takes() -> None:
    body = "[{op: linear, out: d_m}, {op: add, from: [prev, h]}]"
    entries = f"[{{carry: h, blocks: {body}}}, {{blocks: [silu]}}]"
    text = HEAD + f"  - {{repeat: L, pattern: {entries}}}\n"
    assert faults_of(text) == []
    outside = text + "  - {op: add, from: [prev, h]}\n"
    assert only_fault(outside).code == "inside-repeat"


def test_equal_sizes_of_dims_stay_dims() -> None:
    assert all(isinstance(size, Dim) for size in counts(Pattern(parse("6"), (Kind(),)), Facts()))


SINGLE = PATTERN + "      - {use: ffn, id: one}\n      - {use: ffn, id: two, label: Other}\n"


def test_an_entry_may_be_the_block_itself_and_is_drawn_as_it() -> None:
    graph = graph_of(SINGLE, overrides={"L": 5}, numbers=True)
    one, two = (parts(graph.root)[path] for path in ("one", "two"))
    assert isinstance(one, Node)
    assert isinstance(two, Node)
    assert (one.note, one.tone, two.note, two.tone) == ("$3 \\times$", 0, "$2 \\times$", 1)
    assert not any(
        isinstance(part, Group) and part.framed
        for path, part in parts(graph.root).items()
        if path.startswith("layer")
    )


def test_an_opened_layer_has_one_frame() -> None:
    opened = parts(graph_of(SINGLE, open=["one"]).root)
    layer, inner = opened["layer"], opened["one"]
    assert isinstance(layer, Group)
    assert isinstance(inner, Group)
    assert (layer.framed, layer.title) == (True, "Feed-forward network")
    assert (inner.framed, inner.title) == (False, "")


@pytest.mark.parametrize("direction", ["up", "down", "right"])
@pytest.mark.parametrize("text", [ROUNDS, RULES, SINGLE], ids=["rounds", "rules", "single"])
@pytest.mark.parametrize("turns", [None, 3, 60])
def test_a_strip_has_a_cell_for_every_turn(text: str, direction: str, turns: int | None) -> None:
    graph = graph_of(text, overrides={"L": turns} if turns else {}, numbers=bool(turns))
    scene = layout(graph, theme.get(), LayoutOptions(direction))
    (strip,) = (box for box in scene.boxes if box.id == "repeat#strip")
    if turns:
        assert len(strip.cells) == turns
    assert all(strip.rect.contains(cell) for cell, _ in strip.cells)
    middles = [(cell.center_x, -cell.center_y) for cell, _ in strip.cells]
    if turns == 3:  # one run, in the direction of the stream
        along = [point[0 if direction == "right" else 1] for point in middles]
        assert sorted(along, reverse=direction == "down") == along
    tones = {box.path: box.cells[0][1] for box in scene.boxes if len(box.cells) == 1}
    assert sorted(tones.values()) == list(range(len(tones)))
    assert lint(scene, theme.get()).findings == ()


def test_an_entry_that_is_left_no_turn_is_told() -> None:
    entries = "{turns: turn % 4 == 0, blocks: [silu]}, {turns: 8 | turn, blocks: [gelu]}"
    text = HEAD + f"  - {{repeat: L, pattern: [{entries}, {{blocks: [relu]}}]}}\n"
    (found,) = (w for w in warnings_of(text) if w.code == "no-turns")
    assert "'layer-2'" in found.message
    assert "no-turns" not in {w.code for w in warnings_of(text.replace("8 | turn", "6 | turn"))}


def test_entries_that_an_option_leaves_out_are_no_part_of_the_pattern() -> None:
    options = "options: {wide: {default: false}}\n"
    text = HEAD.replace("blocks:", options + "blocks:") + (
        "  - repeat: L\n    pattern:\n"
        "      - {op: silu, id: a, if: wide}\n"
        "      - {count: 2, if: not wide, blocks: [{op: gelu, id: b}]}\n"
        "      - {op: relu, id: c}\n"
    )
    assert faults_of(text) == []
    group = strip_of(text)
    assert group.turns is not None
    assert group.turns.tones == (0, 0, 1)
    group = strip_of(text, overrides={"wide": True})
    assert group.turns is not None
    assert group.turns.tones == (0, 1)
    none = text.replace("id: c}", "id: c, if: wide}").replace("if: not wide", "if: wide")
    assert faults_of(none) == []


def test_a_closed_kind_keeps_its_number_and_its_cell() -> None:
    text = ROUNDS.replace("title: Window,", "title: Window, open: false,")
    node = parts(graph_of(text, overrides={"L": 7}, numbers=True).root)["layer"]
    assert isinstance(node, Node)
    assert (node.label, node.note, node.tone) == ("Window", "$6 \\times$", 0)
