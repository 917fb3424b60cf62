"""Folded figures: cut between blocks, the pieces side by side, and as clean as the whole ones."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from transformer_diagrams.api import Model
from transformer_diagrams.errors import NOWHERE, DiagramError
from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.options import AskError
from transformer_diagrams.theme.schema import check

TOWERS = ("llama3", "gpt2", "deepseek-v3", "transformer", "bert")
CASES = [
    pytest.param(*case, marks=[] if i % 7 == 0 else [pytest.mark.slow])
    for i, case in enumerate(itertools.product(TOWERS, ("up", "right", "down"), (1, 2, 3)))
]
CLOSED = re.compile(r"~\d+$")


def shifts(whole: Scene, folded: Scene) -> list[tuple[float, float]]:
    """How far the blocks moved against the whole figure: each way once, but for rounding."""
    at = {box.id: box.rect for box in whole.boxes}
    found: list[tuple[float, float]] = []
    for box in folded.boxes:
        if box.form != "frame":
            move = box.rect.left - at[box.id].left, box.rect.top - at[box.id].top
            if all(math.dist(move, other) > 0.05 for other in found):
                found.append(move)
    return found


@pytest.mark.parametrize(("spec", "direction", "fold"), CASES)
def test_a_folded_figure_says_what_the_whole_one_says_and_is_clean(
    spec: str, direction: str, fold: int
) -> None:
    """The same blocks and lines in one piece more than folds, nothing crossed, no finding."""
    model = Model.find(spec)
    whole = model.scene(direction=direction)
    folded = model.scene(direction=direction, fold=fold)
    assert len(shifts(whole, folded)) == fold + 1
    for key in ("net", "kind", "when", "mark", "title"):
        assert Counter(getattr(q, key) for q in whole.lines) == Counter(
            getattr(q, key) for q in folded.lines
        )
    said = Counter(q.markup for q in folded.labels)
    more = said - Counter(q.markup for q in whole.labels)
    cut = [box for box in folded.boxes if CLOSED.search(box.id)]
    assert sum(more.values()) == 2 * len(cut)
    assert all(words.endswith(("continues", "continued")) for words in more)
    before, after = model.lint(direction=direction), model.lint(direction=direction, fold=fold)
    assert [str(finding) for finding in after.findings] == []
    assert after.score.crossings <= before.score.crossings


def test_the_stream_goes_from_the_head_of_a_column_to_the_foot_of_the_next() -> None:
    scene = Model.find("llama3").scene(fold=1)
    whole = {line.id: line for line in Model.find("llama3").scene().lines}
    (bridge,) = [q for q in scene.lines if len(q.points) > len(whole[q.id].points)]
    at = [(round(x, 2), round(y, 2)) for x, y in bridge.points]
    (x1, y1), (x2, y2), (x3, y3), (x4, y4), (x5, y5), (x6, y6) = at
    assert x1 == x2 < x3 == x4 < x5 == x6  # up, over, down, under, up
    assert y2 == y3 < y1
    assert y4 == y5 > y6
    frames = [box.rect for box in scene.boxes if box.form == "frame"]
    assert frames[0].right < x3 < frames[1].left
    assert y2 < frames[0].top
    assert y5 > frames[1].bottom


def test_rows_stand_below_one_another() -> None:
    scene = Model.find("deepseek-v3").scene(direction="right", fold=2)
    whole = Model.find("deepseek-v3").scene(direction="right")
    downs = sorted(dy for _, dy in shifts(whole, scene))
    assert downs[0] < downs[1] - 50 < downs[2] - 100
    assert scene.width < whole.width / 2


@pytest.mark.parametrize(("spec", "options"), [
    ("llama3", {}),
    pytest.param("deepseek-v3", {"open": ["1"]}, marks=pytest.mark.slow),
    pytest.param("mla-rope", {"direction": "right"}, marks=pytest.mark.slow),
])  # fmt: skip
def test_an_aspect_takes_the_number_of_folds_that_comes_nearest(
    spec: str, options: dict[str, object]
) -> None:
    """Against every number of folds by itself."""
    model = Model.find(spec)
    for width, height in ((16, 9), (3, 4)):
        chosen = model.scene(aspect=f"{width}:{height}", **options)
        all_ways = []
        for count in range(5):
            scene = model.scene(fold=count, **options)
            ratio = scene.width / scene.height * height / width
            all_ways.append((max(ratio, 1 / ratio), count))
        assert chosen == model.scene(fold=min(all_ways)[1], **options)


def test_slides_are_folded_when_they_are_too_narrow_or_too_wide() -> None:
    """DeepSeek-V3 is narrower than 1:2 as a tower, wider than 4:1 as a row; the FFN is neither."""
    for direction in ("up", "right"):
        model = Model.find("deepseek-v3")
        whole = model.scene(theme="slides", direction=direction, fold=0)
        assert not 0.5 <= whole.width / whole.height <= 4
        scene = model.scene(theme="slides", direction=direction)
        assert scene == model.scene(theme="slides", direction=direction, aspect=1.7778)
        assert 1.2 < scene.width / scene.height < 2.7
        assert model.lint(theme="slides", direction=direction).findings == ()
        assert model.scene(direction=direction) == model.scene(direction=direction, fold=0)
    gqa = Model.find("gqa")
    assert gqa.scene(theme="slides") == gqa.scene(theme="slides", fold=0)


@pytest.mark.parametrize("density", ["normal", "compact"])
def test_deepseek_v3_folded_can_be_read_in_one_column_of_a_paper(density: str) -> None:
    """3.25 in by 9 in, and no text below 6 pt: eight rows."""
    figure = Model.find("deepseek-v3").render(
        "svg", fit="3.25inx9in", direction="right", density=density, fold=7
    )
    assert [w.code for w in figure.warnings] == []
    wide, high = (float(n) for n in re.findall(r' (?:width|height)="([\d.]+)pt"', str(figure))[:2])
    assert wide <= 234.01
    assert high <= 648.01


def spec_of(show: str, blocks: str = "[rmsnorm, rmsnorm, rmsnorm, rmsnorm]") -> str:
    return f"show: {show}\ndims: {{d: width}}\ninputs: {{x: [d]}}\nblocks: {blocks}\n"


def test_a_spec_says_how_it_is_folded_and_what_is_asked_for_wins() -> None:
    folded, plain = Model.from_text(spec_of("{fold: 1}")), Model.from_text(spec_of("{}"))
    assert folded.scene() == plain.scene(fold=1)
    assert folded.scene(fold=0) == plain.scene()
    assert folded.scene(aspect="1:100") == plain.scene()
    wide = Model.from_text(spec_of("{aspect: 4:1}"))
    assert wide.scene() == plain.scene(aspect=4)
    assert wide.scene(fold=0) == plain.scene()


@pytest.mark.parametrize(("show", "column", "words"), [
    ("{fold: -1}", 14, "a number from 0 to 20"), ("{fold: x}", 14, "a whole number"),
    ("{aspect: wide}", 16, "a ratio from 1:100 to 100:1"),
    ("{aspect: 0:1}", 16, "a ratio from 1:100 to 100:1"),
    ("{aspect: 1:0}", 16, "a ratio from 1:100 to 100:1"),
    ("{fold: 1, aspect: 1:1}", 7, "not both"),
])  # fmt: skip
def test_wrong_folds_of_a_spec_have_their_place(show: str, column: int, words: str) -> None:
    with pytest.raises(DiagramError) as told:
        Model.from_text(spec_of(show)).scene()
    (fault,) = told.value.faults
    assert words in fault.message
    assert (fault.span.line, fault.span.column) == (1, column)


@pytest.mark.parametrize(("asked", "words"), [
    ({"fold": -1}, "from 0 to 20"), ({"fold": True}, "must be int"),
    ({"aspect": "16x9"}, "16:9"), ({"aspect": 0}, "16:9"), ({"aspect": []}, "must be str"),
    ({"fold": 1, "aspect": "16:9"}, "leave one of them out"),
])  # fmt: skip
def test_wrong_wishes_are_told(asked: dict[str, object], words: str) -> None:
    with pytest.raises(AskError) as told:
        Model.find("llama3").scene(**asked)
    assert words in f"{told.value} {told.value.faults[0].hint}"


def test_a_figure_that_has_no_place_to_cut_says_what_is_in_the_way() -> None:
    short = Model.from_text(spec_of("{}", "[rmsnorm]"))
    with pytest.raises(DiagramError, match="cannot be folded once") as told:
        short.scene(fold=1)
    (fault,) = told.value.faults
    assert fault.code == "cannot-fold"
    assert fault.span.line == 4
    with pytest.raises(DiagramError, match="4 times: only 3 places"):
        Model.from_text(spec_of("{}")).scene(fold=4)
    assert Model.from_text(spec_of("{}", "[rmsnorm]")).scene(aspect="16:9") == short.scene()


def test_call_outs_are_never_cut() -> None:
    """A call-out and the line to it stay whole; where that leaves no place, it is said."""
    model = Model.find("llama3")
    with pytest.raises(DiagramError, match="a call-out beside them is not cut"):
        model.scene(callout=["gqa"], fold=1)
    model = Model.find("gpt2")
    scene = model.scene(callout=["ffn"], fold=1)
    assert model.lint(callout=["ffn"], fold=1).findings == ()
    assert not any("ffn" in box.id for box in scene.boxes if CLOSED.search(box.id))


def test_a_theme_says_which_figures_it_folds() -> None:
    import yaml

    data = yaml.safe_load(
        (Path(__file__).parent.parent / "transformer_diagrams/theme/slides.yaml").read_text()
    )
    assert data["fold"] == {"aspect": 1.7778, "narrowest": 0.5, "widest": 4}
    given = {"fold": {"aspect": 0, "wide": 1}}
    faults = check(given, roles=(), sizes=(), place=lambda _: NOWHERE)
    told = {fault.message for fault in faults if fault.path.startswith("fold")}
    assert "a number from 0.01 to 100 is expected" in told
    assert "unknown key 'wide'" in told
    assert "the key 'narrowest' is missing" in told
