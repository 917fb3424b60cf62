"""The figures' numbers: NumPy's evaluation against the reference, and what each figure claims."""

from __future__ import annotations

import itertools
import math
from typing import Any

import live_reference as ref
import numpy as np
import pytest
from live_data import TOKENS, WK, WQ, E
from scipy.stats import entropy

from transformer_diagrams.live.figures import IDS
from transformer_diagrams.live.figures.sentence import toy

LOG8 = math.log(8)


def test_the_reference_and_the_figures_have_the_same_grids(figures: dict[str, Any]) -> None:
    assert list(ref.GRIDS) == list(IDS)
    assert sum(len(list(ref.states(id))) for id in IDS) == 1115
    for id, figure in figures.items():
        assert {s.name: list(s.values) for s in figure.sliders} == ref.GRIDS[id]
        assert list(figure.states()) == list(ref.states(id))


@pytest.mark.parametrize("id", IDS)
def test_every_state_equals_the_reference(figures: dict[str, Any], id: str) -> None:
    for state in ref.states(id):
        gap = ref.difference(id, state, figures[id].values(**state))
        assert gap <= ref.TOLERANCE, state


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("who-attends", "“it” attends most to cat (0.776); entropy 0.92 of at most 2.08 nats."),
        ("why-sqrt-dk", "10 keys, d_k 64: largest weight 0.846 unscaled, 0.306 scaled; "
         "entropy 0.375 and 1.947 of at most 2.303 nats."),
        ("several-heads", "4 heads; slice 1: each word looks at its own copy; slice 2: it looks at "
         "cat (0.94); slice 3: sat and on look at cat and mat (0.47 each); "
         "slice 4: sat looks at itself (0.60)."),
        ("where-parameters-go", "d_model 512, 6 layers: 63.0 million; feed-forward 40.0 %, "
         "attention 30.0 %, embedding 30.1 %."),
        ("clock-hands", "pos 10, width 128: the dot product falls from 64.0 at k = 0 to 42.8 at "
         "k = 10; the two curves differ by less than 1e-9."),
        ("cost-matrix", "class weight 1, slot 4 moved by 0.0: left cat takes slot 1, right cat "
         "slot 3, remote slot 5; total cost −3.09."),
        ("l1-and-giou", "dy 0.0, scale 1.0: overlap ends at dx = 0.40; at dx = 1 the losses are "
         "l1 1.00, IoU 1.00, GIoU 1.43."),
    ],
)  # fmt: skip
def test_summaries_of_the_default_states(figures: dict[str, Any], id: str, said: str) -> None:
    assert figures[id].summary() == said


# -- who attends

def test_the_toy_data_is_as_defined() -> None:
    data = toy()
    assert data.tokens == TOKENS
    for given, wanted, total in ((data.embeddings, E, 23.40), (data.w_q, WQ, 42.74),
                                 (data.w_k, WK, 7.57)):  # fmt: skip
        assert np.array_equal(np.array(given), wanted)
        assert np.sum(wanted) == pytest.approx(total, abs=1e-9)


def test_rows_sum_to_one_and_equal_words_cannot_be_told_apart(figures: dict[str, Any]) -> None:
    for state in ref.states("who-attends"):
        a = figures["who-attends"].values(**state)["A"]
        assert a.sum(axis=1) == pytest.approx(np.ones(8), abs=1e-12)
        assert np.array_equal(a[0], a[4])
        assert np.array_equal(a[:, 0], a[:, 4])


def test_it_looks_at_cat_and_every_other_word_at_itself(figures: dict[str, Any]) -> None:
    a = figures["who-attends"].values()["A"]
    assert [TOKENS[j] for j in a.argmax(axis=1)] == [*TOKENS[:7], "cat"]
    # The row of "it" to six decimals, worked out with another program.
    row = [0.020743, 0.775515, 0.004574, 0.071313, 0.020743, 0.029609, 0.024569, 0.052933]
    assert a[7] == pytest.approx(row, abs=6e-7)


def test_sharpness_from_even_to_unscaled(figures: dict[str, Any]) -> None:
    figure = figures["who-attends"]
    assert (figure.values(sharpness=0)["A"] == 1 / 8).all()
    scores = E @ WQ @ (E @ WK).T
    plain = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert np.abs(figure.values(sharpness=4)["A"] - plain).max() < 1e-14
    spreads = np.array(
        [[entropy(row) for row in figure.values(sharpness=b)["A"]] for b in range(9)]
    )
    assert (np.diff(spreads, axis=0) <= 1e-12).all()
    the = figure.values(sharpness=8)["A"][0]
    assert the[0] == the[4] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize(
    ("query", "sharpness", "largest", "nats"),
    [(7, 0, 0.125, 2.079442), (7, 1, 0.775515, 0.921726), (7, 2, 0.983244, 0.107890),
     (7, 4, 0.999903, 0.001069), (0, 1, 0.391095, 1.337194), (1, 1, 0.585607, 1.354296),
     (2, 1, 0.590798, 1.133506), (3, 1, 0.508651, 1.245996), (5, 1, 0.669899, 1.258699),
     (6, 1, 0.613340, 1.302208), (2, 8, 0.997309, 0.018611)],
)  # fmt: skip
def test_rows_by_heart(
    figures: dict[str, Any], query: int, sharpness: int, largest: float, nats: float
) -> None:
    found = figures["who-attends"].values(query=query, sharpness=sharpness)
    assert found["row"].max() == pytest.approx(largest, abs=6e-7)
    assert found["entropy"] == pytest.approx(nats, abs=6e-7)


def test_an_even_row_is_said_to_be_even(figures: dict[str, Any]) -> None:
    assert figures["who-attends"].summary(sharpness=0) == (
        "“it” attends to all equally (0.125 each); entropy 2.08 of at most 2.08 nats."
    )


# -- why divide by the square root of d_k

def test_the_hash_and_the_normals() -> None:
    assert [ref.mix_slow(c) for c in (0, 2, 4, 6)] == [
        3537960521, 2129546418, 1834328196, 1099870303,
    ]  # fmt: skip
    from transformer_diagrams.live.hashing import mix, normals

    some = np.array([0, 1, 2, 65535, 2**31, 2**32 - 1], dtype=np.uint32)
    assert mix(some, 2017).tolist() == [ref.mix_slow(int(c)) for c in some]
    # With 30 digits, by another program.
    wanted = [-0.09736944852578, 0.08416376748223, 0.41152198518485, 0.15940645677464]
    assert normals(0, (4,), 2017) == pytest.approx(wanted, abs=1e-13)
    _, keys = ref.queries_and_keys()
    assert keys.mean() == pytest.approx(0.0007, abs=6e-5)
    assert keys.var() == pytest.approx(1.0005, abs=6e-5)


def test_unscaled_attention_picks_a_winner_and_scaled_does_not(figures: dict[str, Any]) -> None:
    for n in range(2, 17):
        f = figures["why-sqrt-dk"].values(n=n)
        assert f["max_raw"][0] == f["max_scaled"][0]
        assert f["entropy_raw"][0] == f["entropy_scaled"][0]
        assert f["max_raw"][10] > 0.96
        assert f["entropy_raw"][10] < 0.09
        assert np.ptp(f["max_scaled"][3:]) < 0.07
        assert np.ptp(f["entropy_scaled"][3:]) < 0.11
        slack = (0.022, 0.034) if n == 2 else (0.011, 0.011) if n != 10 else (0, 0)
        assert (np.diff(f["max_raw"]) > -slack[0]).all()
        if n in (2, 10):
            assert (np.diff(f["entropy_raw"]) < slack[1]).all()
    assert f["variance"][10] == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(
    ("n", "e", "wanted"),
    [(10, 0, (0.278689, 0.278689, 1.967432, 1.967432)),
     (10, 3, (0.580803, 0.294998, 1.115505, 1.955444)),
     (10, 6, (0.846138, 0.305555, 0.374532, 1.947237)),
     (10, 10, (0.963968, 0.328139, 0.080849, 1.914052)),
     (2, 6, (0.958723, 0.728798, 0.103228, 0.537388)),
     (4, 6, (0.879064, 0.498149, 0.256781, 1.138021)),
     (16, 6, (0.838119, 0.245650, 0.421270, 2.351670))],
)  # fmt: skip
def test_curves_by_heart(
    figures: dict[str, Any], n: int, e: int, wanted: tuple[float, ...]
) -> None:
    found = figures["why-sqrt-dk"].values(n=n)
    names = ("max_raw", "max_scaled", "entropy_raw", "entropy_scaled")
    assert [found[name][e] for name in names] == pytest.approx(wanted, abs=6e-7)


def test_the_sample_lies_where_the_population_does(figures: dict[str, Any]) -> None:
    """Given a query, q . k over n keys is n independent normals of variance |q|^2: the population
    needs a chi-square length and n normals, and no key is ever drawn."""
    draws, rng = 20_000, np.random.default_rng(11)
    for n in (2, 10, 16):
        found = figures["why-sqrt-dk"].values(n=n)
        for e in (0, 3, 6, 10):
            length = np.sqrt(rng.chisquare(2**e, size=draws))
            scores = length[:, None] * rng.standard_normal((draws, n))
            for name, scale in (("raw", 1.0), ("scaled", 2 ** (e / 2))):
                weights = ref.softmax(scores / scale, axis=1)
                for kind, one in (("max", weights.max(axis=1)),
                                  ("entropy", entropy(weights, axis=1))):  # fmt: skip
                    error = one.std() / 8  # of a mean over 64 queries
                    gap = abs(found[f"{kind}_{name}"][e] - one.mean())
                    assert gap < 3.5 * error, (n, e, name, kind)


# -- several heads

def heads(figures: dict[str, Any], h: int) -> np.ndarray:
    found = figures["several-heads"].values(log2h=int(math.log2(h)))
    assert found["h"] == h
    assert found["dk"] == 16 / h
    used: np.ndarray = found["A"][:h]
    assert (found["A"][h:] == 0).all()
    return used


def test_one_head_is_the_left_grid_and_slices_add_up(figures: dict[str, Any]) -> None:
    one = figures["several-heads"].values(log2h=0)
    assert np.array_equal(one["A"][0], one["A1"])
    q, k = E @ WQ, E @ WK
    for h in (1, 2, 4, 8):
        parts = zip(np.split(q, h, 1), np.split(k, h, 1), strict=True)
        assert sum(a @ b.T for a, b in parts) == pytest.approx(q @ k.T, abs=1e-12)
        for a in heads(figures, h):
            assert np.array_equal(a[0], a[4])


def test_four_slices_ask_four_questions(figures: dict[str, Any]) -> None:
    same, pronoun, nouns, noise = heads(figures, 4)
    equal = np.array([[a == b for b in TOKENS] for a in TOKENS])
    assert ((same * equal).sum(axis=1) >= 0.88).all()
    assert same[0, 0] == same[0, 4] == pytest.approx(0.478031, abs=6e-7)
    assert pronoun[7, 1] == pytest.approx(0.944516, abs=6e-7)
    assert (pronoun[:7] == 1 / 8).all()
    assert nouns[2:4, [1, 5]] == pytest.approx(np.full((2, 2), 0.473957), abs=6e-7)
    assert (np.delete(nouns, [2, 3], axis=0) == 1 / 8).all()
    assert noise.max() == pytest.approx(0.596495, abs=6e-7)
    assert noise[7, 7] == pytest.approx(0.0042, abs=6e-5)
    spreads = [entropy(row) for row in noise]
    assert 1.26 < min(spreads) < max(spreads) < 1.74 < LOG8


def test_two_and_eight_slices(figures: dict[str, Any]) -> None:
    two = heads(figures, 2)
    assert two[0][7, [1, 7]] == pytest.approx([0.598634, 0.2952], abs=6e-5)
    eight = heads(figures, 8)
    assert [a[7, 1] for a in eight[2:4]] == pytest.approx([0.810396] * 2, abs=6e-7)
    for slice_, words in ((0, (2, 3, 7)), (1, (0, 1, 4, 5, 6))):
        assert (eight[slice_][list(words)] == 1 / 8).all()
    assert eight[6][2, 2] == pytest.approx(0.657003, abs=6e-7)


# -- parameters

def test_counts_are_whole_and_exact(figures: dict[str, Any]) -> None:
    for state in ref.states("where-parameters-go"):
        found = figures["where-parameters-go"].values(**state)
        for h in (1, 2, 4, 8, 16):
            wanted = ref.where_parameters_go(**state, h=h)
            for name, number in wanted.items():
                if name != "share":
                    assert found[name] == number, (state, name)
        d, n = 2 ** state["log2d"], state["N"]
        assert found["total"] == 37000 * d + 28 * n * d * d
        assert found["enc_ffn"] == 2 * found["enc_self"]
        assert found["dec_ffn"] == found["dec_self"] + found["dec_cross"]
        blocks = found["total"] - found["embedding"]
        if d == 512:
            assert (found["embedding"] > blocks) == (n <= 2)


@pytest.mark.parametrize(
    ("d", "n", "total", "full"),
    [(512, 6, 62_984_192, 63_082_496), (1024, 6, 214_048_768, 214_245_376),
     (512, 2, 33_624_064, 33_656_832), (64, 1, 2_482_688, 2_484_736),
     (4096, 12, 5_788_696_576, 5_790_269_440), (128, 3, 6_112_256, 6_124_544)],
)  # fmt: skip
def test_totals_by_heart(figures: dict[str, Any], d: int, n: int, total: int, full: int) -> None:
    found = figures["where-parameters-go"].values(log2d=int(math.log2(d)), N=n)
    assert (found["total"], found["total_with_biases"]) == (total, full)


def test_growing_models(figures: dict[str, Any]) -> None:
    figure = figures["where-parameters-go"]
    share = np.array(
        [[figure.values(log2d=e, N=n)["share"][0] for n in range(1, 13)] for e in range(6, 13)]
    )
    assert (np.diff(share, axis=0) < 0).all()
    assert (np.diff(share, axis=1) < 0).all()
    for e in range(6, 12):
        small, large = figure.values(log2d=e), figure.values(log2d=e + 1)
        assert large["embedding"] == 2 * small["embedding"]
        for name in ("enc_self", "enc_ffn", "dec_self", "dec_cross", "dec_ffn"):
            assert large[name] == 4 * small[name]


# -- clock hands

def test_the_dot_product_depends_on_the_distance_alone(figures: dict[str, Any]) -> None:
    for e in range(4, 10):
        dots = []
        for pos in range(101):
            found = figures["clock-hands"].values(log2d=e, pos=pos)
            assert np.abs(found["dot"] - found["sumcos"]).max() < 1e-9
            dots.append(found["dot"])
        half = 2 ** (e - 1)
        assert np.ptp(np.array(dots), axis=0).max() < 1e-9
        dot = dots[0]
        assert dot[0] == pytest.approx(half, abs=1e-9)
        assert (dot[1:] <= 0.974 * half).all()
        assert (dot[1:] >= 0.23 * half).all()
        rises = int((np.diff(dot) > 0).sum())
        assert rises > 0
        if e in (4, 7):
            assert rises == {4: 33, 7: 20}[e]
        table = ref.encoding(2**e)
        for k in (1, 7, 40):  # symmetric in k
            assert table[60] @ table[60 - k] == pytest.approx(dot[k], abs=1e-9)


@pytest.mark.parametrize(
    ("d", "pos", "k", "dot"),
    [(128, 10, 1, 62.093683806), (128, 10, 10, 42.820022898), (128, 100, 10, 42.820022898),
     (128, 10, 64, 30.520059008), (16, 10, 10, 3.646309192), (512, 10, 10, 173.789724924),
     (32, 37, 5, 11.777382879)],
)  # fmt: skip
def test_dots_by_heart(figures: dict[str, Any], d: int, pos: int, k: int, dot: float) -> None:
    found = figures["clock-hands"].values(log2d=int(math.log2(d)), pos=pos)
    assert found["dot"][k] == pytest.approx(dot, abs=6e-10)
    assert found["sumcos"][k] == pytest.approx(dot, abs=6e-10)


# -- cost matrix

CHOICES = """
135 435 135 135 135 145 145 135
135 435 435 135 135 145 145 135
135 435 435 135 135 145 145 135
635 435 435 635 645 645 645 635
635 465 465 635 645 645 645 635
637 467 467 637 647 647 647 647
637 467 467 637 647 647 647 647
637 467 467 637 647 647 647 647
637 467 467 637 647 647 647 647
467 467 467 637 647 647 647 647
467 467 467 637 647 647 647 647
"""


def brute_force(cost: np.ndarray) -> list[tuple[float, tuple[int, ...]]]:
    return sorted(
        (math.fsum(cost[i, j] for i, j in enumerate(columns)), columns)
        for columns in itertools.permutations(range(8), 3)
    )


def greedy(cost: np.ndarray) -> list[int]:
    """Row by row, the cheapest column that is left."""
    taken: list[int] = []
    for row in cost:
        taken.append(min((j for j in range(8) if j not in taken), key=lambda j: row[j]))
    return taken


def test_the_choice_is_the_best_of_all_336(figures: dict[str, Any]) -> None:
    table = [line.split() for line in CHOICES.split("\n") if line]
    smallest, contested, worse = math.inf, 0, 0
    for wcls, row in enumerate(table):
        for tenth, wanted in enumerate(row):
            found = figures["cost-matrix"].values(wcls=wcls, shift=tenth / 10)
            (best, columns), (second, _), *_ = brute_force(found["cost"])
            assert tuple(found["assign"]) == columns
            assert "".join(str(j + 1) for j in columns) == wanted
            assert found["total"] == pytest.approx(best, abs=1e-12)
            smallest = min(smallest, second - best)
            cheapest = found["cost"].argmin(axis=1)
            contested += len(set(cheapest)) < 3
            paid = found["cost"][range(3), greedy(found["cost"])].sum()
            worse += paid > best + 1e-9
            assert (found["giou"] > -1).all()
            assert (found["giou"] <= 1).all()
    assert smallest == pytest.approx(0.01556, abs=6e-6)
    # On data where greedy is as good, a greedy picker would never be caught.
    assert (contested, worse) == (42, 12)


def test_greedy_pays_more(figures: dict[str, Any]) -> None:
    found = figures["cost-matrix"].values(wcls=8, shift=0.1)
    assert greedy(found["cost"]) == [5, 2, 6]
    assert found["assign"].tolist() == [3, 5, 6]
    paid = found["cost"][range(3), [5, 2, 6]].sum()
    assert paid - found["total"] == pytest.approx(1.236, abs=6e-4)


def test_what_the_cost_depends_on(figures: dict[str, Any]) -> None:
    figure = figures["cost-matrix"]
    zero, one, two = (figure.values(wcls=w)["cost"] for w in (0, 1, 2))
    slope = np.array([[slot[kind] for slot in ref.SLOTS] for _, kind, _ in ref.OBJECTS])
    assert one - zero == pytest.approx(-slope, abs=1e-12)
    assert two - one == pytest.approx(-slope, abs=1e-12)
    base = figure.values()
    assert zero == pytest.approx(5 * base["l1"] - 2 * base["giou"], abs=1e-12)
    moved = figure.values(shift=0.7)["cost"]
    assert np.array_equal(np.delete(moved, 3, axis=1), np.delete(base["cost"], 3, axis=1))
    assert (moved[:, 3] != base["cost"][:, 3]).all()
    from transformer_diagrams.live.evaluate import assignment

    for row in range(3):
        higher = base["cost"].copy()
        higher[row] += 17.5
        assert assignment(higher.tolist()) == base["assign"].tolist()
    assert all(math.isnan(v) for v in assignment([[1.0, math.nan]]))


def test_costs_by_heart(figures: dict[str, Any]) -> None:
    found = figures["cost-matrix"].values()["cost"]
    first = [-0.8417, 4.9789, 1.9744, -0.2237, 5.7659, 0.1490, 5.5646, 0.3965]
    assert found[0] == pytest.approx(first, abs=6e-5)
    for (w, shift), total in {(1, 0.5): -4.271117, (6, 0.4): -11.743886, (10, 0.7): -21.002674,
                              (9, 0.0): -18.086335}.items():  # fmt: skip
        here = figures["cost-matrix"].values(wcls=w, shift=shift)
        assert here["total"] == pytest.approx(total, abs=6e-7)


# -- l1 and GIoU

def test_losses_as_the_box_slides(figures: dict[str, Any]) -> None:
    dx = np.arange(101) / 100
    for state in ref.states("l1-and-giou"):
        f, s = figures["l1-and-giou"].values(**state), state["scale"]
        apart = dx >= f["dx0"] - 1e-12
        assert f["iou_loss"][apart] == pytest.approx(1, abs=1e-9)
        assert (f["iou_loss"][~apart] < 1).all()
        from_here = dx >= max(float(f["dx0"]), 0.2 * abs(1 - s)) - 1e-12
        assert (np.diff(f["giou_loss"][from_here]) > 0).all()
        assert (f["giou_loss"] < 2).all()
        assert (f["giou_loss"] >= f["iou_loss"] - 1e-12).all()
        assert (np.diff(f["l1"]) > 0).all()


def test_where_the_overlap_ends(figures: dict[str, Any]) -> None:
    figure = figures["l1-and-giou"]
    for dy in (0.0, 0.2):
        for s, edge in ((0.5, 0.30), (0.8, 0.36), (1.0, 0.40), (1.5, 0.50), (2.0, 0.60)):
            assert figure.values(dy=dy, scale=s)["dx0"] == pytest.approx(edge, abs=1e-12)
    for s in ref.GRIDS["l1-and-giou"]["scale"]:
        if s <= 1:
            assert figure.values(dy=0.3, scale=s)["dx0"] == 0
    assert figure.values(dy=0.3, scale=1.5)["dx0"] == pytest.approx(0.5, abs=1e-12)
    dx = np.arange(40, 101) / 100
    assert figure.values()["giou_loss"][40:] == pytest.approx(2 - 0.8 / (0.4 + dx), abs=1e-12)


@pytest.mark.parametrize(
    ("dx", "dy", "s", "wanted"),
    [(0.1, 0, 1, (0.1, 0.4, 0.4)), (1, 0, 1, (1, 1, 1.428571)), (0.2, 0.2, 1, (0.4, 0.909091,
     1.175758)), (0.05, 0, 0.5, (0.4, 0.75, 0.75)), (0.5, 0.1, 1.5, (0.95, 1, 1.178947)),
     (1, 0.5, 2, (2.2, 1, 1.605263))],
)  # fmt: skip
def test_losses_by_heart(
    figures: dict[str, Any], dx: float, dy: float, s: float, wanted: tuple[float, ...]
) -> None:
    f = figures["l1-and-giou"].values(dy=dy, scale=s)
    found = [f[name][round(dx * 100)] for name in ("l1", "iou_loss", "giou_loss")]
    assert found == pytest.approx(wanted, abs=6e-7)
