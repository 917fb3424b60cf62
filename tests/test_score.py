"""The score of a figure: scenes made by hand whose numbers are known, and what no turn changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from graphs import random_graph
from hypothesis import given
from hypothesis import strategies as st
from scenes import Builder
from selection import mostly_slow

from transformer_diagrams.layout.engine import LayoutOptions, layout
from transformer_diagrams.layout.near import near
from transformer_diagrams.layout.scene import Box, Label, Line, Rect, Scene
from transformer_diagrams.layout.score import FAULTS, MEANINGS, score
from transformer_diagrams.lint import lint
from transformer_diagrams.theme import get

PAPER = get("paper")


def two_boxes() -> Builder:
    """Boxes at (60, 150) and (60, 50), the lower one 80 wide, the upper one too."""
    b = Builder()
    b.box("low", "Low", 60, 150, 80, "plain", height=20)
    b.box("high", "High", 60, 50, 80, "plain", height=20)
    return b


def operands(first: float, second: float, **more: object) -> Builder:
    """Two lines into the upper box, at these places; the first operand comes first."""
    b = two_boxes()
    b.box("other", "Other", 160, 150, 80, "plain", height=20)
    b.line("low", "high", (first, 140), (first, 60), net="l", head_place=0)
    turns = ((150, 140), (150, 100), (second, 100), (second, 60))
    b.line("other", "high", *turns, net="o", head_place=1)
    return b


def in_order() -> Builder:
    return operands(40, 80)


def on_own_side() -> Builder:
    b = two_boxes()
    b.line("low", "high", (60, 140), (60, 100), (100, 100), (100, 50), net="l")
    return b


def through_its_own() -> Builder:
    b = two_boxes()
    b.line("low", "high", (60, 140), (60, 40), net="l")
    return b


def beside_another() -> Builder:
    """1.5 pt beside a box, and 20 pt inside of another."""
    b = two_boxes()
    b.box("near", "A", 30, 100, 57, "plain", height=20)
    b.box("on", "B", 88, 100, 20, "plain", height=20)
    b.line("low", "high", (60, 140), (60, 60), net="l")
    b.line("low", "high", (88, 140), (88, 60), net="m")
    return b


def through_a_frame() -> Builder:
    b = two_boxes()
    b.frame("frame", Rect(20, 80, 80, 40))
    b.line("low", "high", (60, 140), (60, 60), net="l")
    return b


def on_frame() -> Builder:
    b = Builder()
    b.box("low", "Low", 60, 150, 80, "plain", height=20)
    b.frame("frame", Rect(10, 10, 110, 100))
    b.box("high", "High", 60, 50, 80, "plain", height=20, parent="frame")
    b.line("low", "high", (40, 140), (40, 125), (120, 125), (120, 75), (60, 75), (60, 60), net="l")
    return b


def overlap() -> Builder:
    """The second line turns onto the third's, 60 pt together."""
    b = in_order()
    b.box("third", "Third", 160, 80, 30, "plain", height=20)
    b.line("low", "third", (90, 140), (90, 100), (160, 100), (160, 90), net="t")
    return b


def crossing() -> Builder:
    """Two lines cross once; a third, of the net of the first, meets it and crosses the other."""
    b = in_order()
    b.box("third", "Third", 160, 80, 40, "plain", height=20)
    b.line("low", "third", (95, 140), (95, 80), (140, 80), net="t")
    b.line("other", "high", (150, 100), (150, 120), (70, 120), (70, 60), net="o", branch=True)
    return b


def one_arrowhead() -> Builder:
    return operands(60, 62)


def swapped() -> Builder:
    return operands(80, 40)


def swapped_outputs() -> Builder:
    b = Builder()
    b.box("split", "Split", 60, 150, 80, "plain", height=20)
    for n, (name, x) in enumerate((("a", 90), ("b", 30))):
        b.box(name, name, x, 50, 40, "plain", height=20)
        b.line("split", name, (x, 140), (x, 60), net=f"split#{n}", tail_place=n)
    return b


def stray() -> Builder:
    """It begins 2 pt off its box and ends 5 pt before the other; a branch begins nowhere."""
    b = two_boxes()
    b.line("low", "high", (60, 138), (60, 65), net="l")
    b.line("low", "high", (80, 120), (80, 60), net="l", branch=True)
    return b


def at_a_word() -> Builder:
    """One arrow touches its word, the other keeps 3 pt."""
    b = Builder()
    for y in (40, 90):
        b.boxes.append(Box(f"w{y}", Rect(100, y - 10, 40, 20), "text", "data"))
        left = 100 if y == 40 else 103
        text = Label(f"q{y}", "out", left, y, 9, "io", Rect(left, y - 8, 30, 16), owner=f"w{y}")
        b.labels.append(text)
        b.box(f"b{y}", "A", 40, y, 40, "plain", height=20)
        b.line(f"b{y}", f"w{y}", (60, y), (100, y), net=f"n{y}")
    return b


def kinked() -> Builder:
    """A jog of 8 pt, a way back after 10 pt, and a step of 12 pt, which is none."""
    b = two_boxes()
    b.line("low", "high", (40, 140), (40, 100), (48, 100), (48, 60), net="a")
    b.line("low", "high", (60, 140), (60, 100), (72, 100), (72, 60), net="b")
    turns = ((100, 150), (130, 150), (130, 140), (115, 140), (115, 50), (100, 50))
    b.line("low", "high", *turns, net="c")
    return b


@pytest.mark.parametrize(
    ("scene", "rules"),
    [
        (in_order, []),
        (on_own_side, ["line-on-side"]),
        (through_its_own, ["line-through-box"]),
        (beside_another, ["line-through-box"] * 2),
        (through_a_frame, ["line-through-frame"]),
        (on_frame, ["line-on-frame"]),
        (overlap, ["lines-overlap"]),
        (crossing, []),
        (one_arrowhead, ["shared-head"]),
        (swapped, ["out-of-order"]),
        (swapped_outputs, ["out-of-order"]),
        (stray, ["end-off-port"] * 3),
        (at_a_word, ["end-on-word"]),
        (kinked, ["kink", "kink"]),
    ],
)
def test_a_flaw_of_a_line_is_found_once(scene: Callable[[], Builder], rules: list[str]) -> None:
    drawn = scene().scene(220, 200)
    rated = score(drawn)
    assert sorted(f.rule for f in rated.findings) == rules
    assert rated.faults == {key: sum(r in FAULTS[key] for r in rules) for key in FAULTS}
    assert set(rated.findings) <= set(lint(drawn, PAPER).findings)


def test_what_is_named_is_no_flaw() -> None:
    assert lint(in_order().scene(220, 200), PAPER).ok
    named = swapped()
    for name, x in (("e0", 84), ("e1", 44)):
        named.label("1", x, 66, kind="edge", owner=name)
    assert lint(named.scene(220, 200), PAPER).ok


def test_lost_labels() -> None:
    b = in_order()
    b.label("gate", 200, 50, kind="edge", owner="l")
    b.label("$d$", 200, 20, kind="shape", owner="o")
    kept = replace(b.scene(220, 200), words=("gate",), shapes=(("o",), ("l", "x")))
    assert score(kept).findings == ()
    lost = replace(kept, words=("gate", "gate", "value"), shapes=(("o",), ("x", "y"), ("z",)))
    assert score(lost).faults == dict.fromkeys(FAULTS, 0) | {"lost_labels": 4}


def test_crossings_bends_and_detour() -> None:
    rated = score(crossing().scene(220, 200))
    # at (95, 100): "t" rises through "o"; at (95, 120): through the branch of "o"
    assert rated.crossings == 2
    assert rated.bends == 0 + 2 + 1 + 2
    assert score(in_order().scene(220, 200)).crossings == 0
    straight, turned, once = 1.0, 1.0, 1.0  # Manhattan distance has no diagonal
    back = (20 + 80 + 60) / (80 + 40)  # down 20 to (150, 120), left 80, up 60; 80 and 40 away
    assert rated.detour == pytest.approx((straight + turned + once + back) / 4)
    assert rated.worst_detour == pytest.approx(back)


def test_a_legend_has_no_lines() -> None:
    b = in_order()
    bare = score(b.scene(220, 200))
    b.line("", "", (40, 120), (100, 120), net="legend/data", arrow=False)
    rated = score(b.scene(220, 200))
    assert (rated.crossings, rated.findings) == (bare.crossings, bare.findings) == (0, ())


@pytest.mark.parametrize(
    ("rect", "form", "inked"),
    [
        (Rect(25, 25, 22, 22), "box", 1),  # within one cell, its stroke too
        (Rect(24, 24, 24, 24), "box", 9),  # half of its stroke lies in each cell beside it
        (Rect(30, 30, 60, 12), "box", 3),
        (Rect(12, 12, 72, 72), "box", 16),
        (Rect(12, 12, 72, 72), "frame", 12),  # the four cells inside are empty
        (Rect(12, 12, 72, 72), "text", 0),  # has ink where its label has
    ],
)
def test_empty(rect: Rect, form: str, inked: int) -> None:
    """Four by four cells of 24 pt."""
    scene = Scene("s", "S", "", 96, 96, (Box("b", rect, form, "plain"),), (), ())
    assert score(scene).empty == pytest.approx(1 - inked / 16)


def test_ink_of_lines_and_labels_and_cells_that_are_fitted() -> None:
    words = (Label("q", "word", 0, 0, 9, "note", Rect(50, 2, 30, 10)),)
    lines = (Line("l", ((12, 84), (12, 60), (84, 60)), tail="a", head="b"),)
    scene = Scene("s", "S", "", 96, 96, (), lines, words)
    assert score(scene).empty == pytest.approx(1 - (2 + 5) / 16)
    assert score(replace(scene, width=100.0)).empty == pytest.approx(1 - (2 + 5) / 16)
    assert score(replace(scene, width=480.0, height=48.0)).aspect == 10


def test_the_keys_are_documented_and_in_order() -> None:
    rated = score(in_order().scene(220, 200)).as_json()
    assert list(rated) == list(MEANINGS)
    assert list(rated["detour"]) == ["mean", "worst"]
    assert set(FAULTS) < set(MEANINGS)


# -- what no turn changes -------------------------------------------------------------------------


def messy(seed: int) -> Scene:
    """Boxes, frames and lines by chance, with many faults of all kinds."""
    rng = random.Random(seed)

    def place(most: int) -> float:
        return rng.randrange(2, most * 4) / 4.0

    boxes, lines, labels = [], [], []
    for n in range(rng.randint(4, 9)):
        form = rng.choice(("box", "frame", "circle", "text"))
        wide = 14.5 if form == "circle" else rng.choice((20.0, 45.0, 90.0))
        high = 14.5 if form == "circle" else rng.choice((16.0, 60.0))
        rect = Rect(place(200), place(150), wide, high)
        boxes.append(Box(f"b{n}", rect, form, "plain", parent=f"b{rng.randrange(n)}" if n else ""))
        if form == "text":
            inner = Rect(rect.left + 0.5, rect.top + 2, rect.width - 4, rect.height - 4)
            labels.append(Label(f"q{n}", "w", 0, 0, 9, "io", inner, owner=f"b{n}"))
    for n in range(rng.randint(6, 20)):
        tail, head = rng.sample(boxes, 2)
        points = [(tail.rect.center_x, tail.rect.top)]
        for _ in range(rng.randint(1, 4)):
            x, y = points[-1]
            step = rng.choice((4.0, -8.0, 11.0, 30.0, -60.0))
            points.append((x + step, y) if len(points) % 2 else (x, y + step))
        if rng.random() < 0.5:
            points.append((points[-1][0], head.rect.bottom))
        if len(points) > 1:
            lines.append(
                Line(
                    f"e{n}", tuple(points), tail=tail.id, head=head.id, net=f"n{rng.randrange(8)}",
                    head_place=rng.randint(-1, 2), tail_place=rng.randint(-1, 2),
                    branch=rng.random() < 0.2,
                )
            )  # fmt: skip
    labels.append(Label("s", "x", 0, 0, 9, "edge", Rect(20, 20, 40, 9), owner="n1"))
    return Scene("s", "S", "", 300, 230, tuple(boxes), tuple(lines), tuple(labels),
                 words=("x", "y"), shapes=(("n1",), ("n2", "n3")))  # fmt: skip


def moved(
    scene: Scene, way: Callable[[float, float], tuple[float, float]], **more: object
) -> Scene:
    """A scene with every place moved."""

    def rect(r: Rect) -> Rect:
        (a, b), (c, d) = way(r.left, r.top), way(r.right, r.bottom)
        return Rect(min(a, c), min(b, d), abs(a - c), abs(b - d))

    return replace(
        scene,
        boxes=tuple(replace(b, rect=rect(b.rect)) for b in scene.boxes),
        lines=tuple(replace(q, points=tuple(way(*p) for p in q.points)) for q in scene.lines),
        labels=tuple(replace(q, rect=rect(q.rect)) for q in scene.labels),
        **more,
    )


def numbers(scene: Scene, *without: str) -> dict[str, object]:
    """The score's numbers, and how often each rule was broken."""
    rated = score(scene)
    rules = Counter(f.rule for f in rated.findings if f.rule.replace("-", "_") not in without)
    found = rated.as_json() | dict(rules)
    return {key: value for key, value in found.items() if key not in (*without, "aspect")}


SCENES = st.integers(0, 10_000).map(messy)


@given(SCENES)
def test_mirroring_changes_no_number(scene: Scene) -> None:
    flipped = moved(scene, lambda x, y: (x, scene.height - y))
    assert numbers(flipped) == numbers(scene)
    mirrored = moved(scene, lambda x, y: (scene.width - x, y))
    # the order of operands is the one thing that a mirror turns around
    assert numbers(mirrored, "out_of_order") == numbers(scene, "out_of_order")


@given(SCENES)
def test_right_is_up_turned(scene: Scene) -> None:
    turned = moved(
        scene,
        lambda x, y: (scene.height - y, x),
        width=scene.height,
        height=scene.width,
        direction="right",
    )
    assert numbers(turned) == numbers(scene)
    assert score(turned).aspect == pytest.approx(1 / score(scene).aspect)


@pytest.mark.parametrize("seed", mostly_slow(range(30), lambda seed: seed < 8))
def test_a_line_that_is_bent_a_little_is_one_kink_more(seed: int) -> None:
    scene = layout(random_graph(10 * seed, 4 + 10 * seed % 12), PAPER, LayoutOptions())
    before = score(scene).faults["kinks"]
    for n, line in enumerate(scene.lines[:12]):
        (x, y), (u, v) = line.points[0], line.points[-1]
        if len(line.points) == 2 and x == u and abs(y - v) > 20:
            mid = (y + v) / 2
            bent = replace(line, points=((x, y), (x, mid), (x + 5, mid), (x + 5, v)))
            lines = (*scene.lines[:n], bent, *scene.lines[n + 1 :])
            assert score(replace(scene, lines=lines)).faults["kinks"] == before + 1


# -- what is near ---------------------------------------------------------------------------------

NUMBER = st.integers(0, 400).map(lambda n: n / 2)
SIDE = st.sampled_from((0.0, 3.0, 48.0, 300.0))
SPANS = st.lists(st.tuples(NUMBER, NUMBER, SIDE, SIDE), max_size=12)


@given(SPANS, SPANS, st.sampled_from((-0.06, 0.0, 2.0, 60.0)), st.booleans())
def test_near_finds_what_comparing_all_finds(
    first: list[tuple[float, ...]], second: list[tuple[float, ...]], gap: float, turn: bool
) -> None:
    def spans(given_: list[tuple[float, ...]]) -> list[tuple[float, float, float, float]]:
        made = [(x, y, x + w, y + h) for x, y, w, h in given_]
        return [(b, a, d, c) for a, b, c, d in made] if turn else made

    one, two = spans(first), spans(second)
    wanted = {
        (i, j)
        for i, a in enumerate(one)
        for j, b in enumerate(two)
        if a[0] - gap < b[2] and b[0] < a[2] + gap and a[1] - gap < b[3] and b[1] < a[3] + gap
    }
    found = list(near(one, two, gap))
    assert len(found) == len(set(found))
    assert set(found) == wanted
