"""Losses, matching and recurrences against SciPy, brute force and published closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graph_specs import check_of
from scipy.optimize import linear_sum_assignment
from scipy.special import log_softmax, softmax

from transformer_diagrams.ops.execute import call, run
from transformer_diagrams.ops.registry import OpFault

RNG = np.random.default_rng(7)


def one(name: str, *arrays: Any, **attrs: Any) -> Any:
    (y,) = run(name, [np.asarray(a) for a in arrays], attrs)
    return y


def refused(name: str, inputs: list[list[object]], **attrs: Any) -> str:
    c = call(name, inputs, attrs)
    with pytest.raises(OpFault) as info:
        c.op.shape(c)
    return f"{info.value.message} {info.value.hint}"


# -- distributions --------------------------------------------------------------------------------


def test_a_soft_target_of_one_class_is_that_class() -> None:
    logits, target = RNG.normal(size=[2, 3, 5]), RNG.integers(0, 5, [2, 3])
    hard = one("cross_entropy", logits, target)
    assert np.isclose(one("cross_entropy", logits, np.eye(5)[target], soft=True), hard)


def test_soft_cross_entropy_is_entropy_plus_divergence() -> None:
    logits, p = RNG.normal(size=[4, 6]), softmax(RNG.normal(size=[4, 6]), axis=-1)
    entropy = -(p * np.log(p)).sum(axis=-1).mean()
    divergence = one("kl", p, softmax(logits, axis=-1))
    assert np.isclose(one("cross_entropy", logits, p, soft=True), entropy + divergence)


def test_a_distribution_for_one_class_is_refused_with_the_way_out() -> None:
    assert "soft: true" in refused("cross_entropy", [["t", "V"], ["t", "V"]])


@pytest.mark.parametrize("size", [2, 6])
def test_equal_similarities_cost_the_log_of_the_batch(size: int) -> None:
    assert np.isclose(one("contrastive", np.ones([size, size])), np.log(size))


def test_contrast_is_the_mean_of_both_directions() -> None:
    logits = RNG.normal(size=[5, 5])
    rows, columns = (one("cross_entropy", m, np.arange(5)) for m in (logits, logits.T))
    assert np.isclose(one("contrastive", logits), (rows + columns) / 2)
    assert np.isclose(one("contrastive", logits), one("contrastive", logits.T))


def test_the_sigmoid_loss_asks_of_every_pair() -> None:
    logits, by_hand = RNG.normal(size=[4, 4]), 0.0
    for i in range(4):
        for j in range(4):
            sign = 1 if i == j else -1
            by_hand -= np.log(1 / (1 + np.exp(-sign * logits[i, j])))
    assert np.isclose(one("contrastive", logits, kind="sigmoid"), by_hand / 4)


def test_in_batch_similarities_are_square() -> None:
    message = refused("contrastive", [[4, 5]])
    assert "axis 1 of logits = 4" in message
    assert "axis 2 of logits = 5" in message


# -- differences ----------------------------------------------------------------------------------


def test_only_masked_rows_count() -> None:
    x, target, mask = RNG.normal(size=[6, 3]), RNG.normal(size=[6, 3]), np.array([0, 1, 0, 0, 1, 0])
    kept = mask == 1
    assert np.isclose(one("mse", x, target, mask), ((x - target)[kept] ** 2).mean())
    moved = x + 100 * (1 - mask)[:, None]
    assert np.isclose(one("mse", moved, target, mask), one("mse", x, target, mask))


def test_a_mask_has_one_value_a_row() -> None:
    assert "leading axes" in refused("mse", [["N", "d"], ["N", "d"], [7]])


def test_l1_is_the_norm_of_each_row() -> None:
    a, b = RNG.normal(size=[3, 4]), RNG.normal(size=[5, 4])
    assert np.isclose(one("l1", a, b[:3]), np.linalg.norm(a - b[:3], ord=1, axis=-1).mean())
    every = one("l1", a, b, pairwise=True)
    assert np.allclose(every, [[np.abs(x - y).sum() for y in b] for x in a])


@pytest.mark.parametrize(
    ("a", "b", "giou"),
    [
        ([0, 0, 2, 2], [0, 0, 2, 2], 1),
        ([0, 0, 2, 2], [1, 0, 3, 2], 1 / 3),  # the hull is the union
        ([0, 0, 1, 1], [1, 1, 2, 2], -0.5),  # no overlap; half of the hull is neither's
        ([0, 0, 1, 1], [9, 0, 10, 1], -0.8),
    ],
)
def test_generalised_overlap_at_known_boxes(a: Any, b: Any, giou: float) -> None:
    a, b = np.array([a], float), np.array([b], float)
    assert np.isclose(one("giou", a, b, form="corners"), 1 - giou)
    centred = [np.concatenate([(x[:, :2] + x[:, 2:]) / 2, x[:, 2:] - x[:, :2]], 1) for x in (a, b)]
    assert np.isclose(one("giou", *centred), 1 - giou)
    assert np.allclose(one("box_corners", centred[1]), b)
    assert np.isclose(one("giou", *centred, pairwise=True)[0, 0], 1 - giou)


def test_a_box_has_four_numbers() -> None:
    assert "a box is four numbers" in refused("giou", [["N", 5], ["N", 5]])


def test_focal_loss_without_focus_is_cross_entropy() -> None:
    x, t = RNG.normal(size=[4, 3]), RNG.integers(0, 2, [4, 3])
    p = 1 / (1 + np.exp(-x))
    plain = -(t * np.log(p) + (1 - t) * np.log(1 - p)).mean()
    assert np.isclose(one("focal", x, t, alpha=None, gamma=0.0), plain)
    assert np.isclose(one("focal", x, t, alpha=0.5, gamma=0.0), plain / 2)


def test_focal_loss_as_published() -> None:
    x, t, total = RNG.normal(size=[4, 3]), RNG.integers(0, 2, [4, 3]), 0.0
    for i, j in np.ndindex(4, 3):
        p = 1 / (1 + np.exp(-x[i, j]))
        p_t, alpha_t = (p, 0.25) if t[i, j] else (1 - p, 0.75)
        total -= alpha_t * (1 - p_t) ** 2 * np.log(p_t)
    assert np.isclose(one("focal", x, t), total / 12)


def test_dice_of_a_mask_with_itself_and_with_what_it_leaves() -> None:
    mask = np.zeros([1, 4, 4])
    mask[:, :2] = 1
    sure = np.where(mask == 1, 60.0, -60.0)
    assert np.isclose(one("dice", sure, mask, axes=2), 0, atol=1e-9)
    assert np.isclose(one("dice", -sure, mask, axes=2), 1 - 1 / 17)


@pytest.mark.parametrize("name", ["focal", "dice"])
def test_costs_of_pairs_are_the_losses_of_pairs(name: str) -> None:
    x, t = RNG.normal(size=[3, 2, 4]), RNG.integers(0, 2, [5, 2, 4])
    every = one(name, x, t, pairwise=True, axes=2)
    assert every.shape == (3, 5)
    for i, j in np.ndindex(3, 5):
        assert np.isclose(every[i, j], one(name, x[i : i + 1], t[j : j + 1], axes=2))


def test_koleo_by_brute_force() -> None:
    x = RNG.normal(size=[7, 4])
    unit = [row / np.sqrt(row @ row) for row in x]
    total: Any = 0.0
    for i in range(7):
        total -= np.log(min(np.sqrt(2 - 2 * unit[i] @ unit[j]) for j in range(7) if j != i) + 1e-8)
    assert np.isclose(one("koleo", x), total / 7)
    # groups do not see each other: twice the same rows are as far apart as once
    assert np.isclose(one("koleo", np.stack([x, x])), total / 7)


# -- matching -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 4), (9, 3), (20, 20), (100, 17)])
@pytest.mark.parametrize("whole", [False, True], ids=["real", "with ties"])
def test_matching_is_as_cheap_as_scipys(n: int, m: int, whole: bool) -> None:
    for _ in range(10):
        cost = RNG.integers(-4, 4, [n, m]).astype(float) if whole else RNG.normal(size=[n, m])
        chosen = one("hungarian", cost)
        assert len(set(chosen)) == m
        rows, columns = linear_sum_assignment(cost)
        assert np.isclose(cost[chosen, range(m)].sum(), cost[rows, columns].sum())
        if not whole:
            assert chosen.tolist() == rows[np.argsort(columns)].tolist()


def test_a_batch_is_matched_image_by_image() -> None:
    cost = RNG.normal(size=[3, 6, 2])
    assert np.array_equal(one("hungarian", cost), [one("hungarian", each) for each in cost])


def test_more_targets_than_predictions_are_refused() -> None:
    assert "more targets than predictions" in refused("hungarian", [[3, 5]])
    with pytest.raises(OpFault, match="not finite"):
        one("hungarian", np.array([[np.nan]]))


def test_values_are_scattered_among_a_filler() -> None:
    y = one("scatter", np.array([7, 8]), np.array([3, 0]), size=5, fill=9)
    assert y.tolist() == [8, 9, 9, 7, 9]
    assert "more values than places" in refused("scatter", [[4], [4]], size=3)


def test_sinkhorn_in_many_steps_shares_alike() -> None:
    x = RNG.normal(size=[8, 4])
    q = one("sinkhorn", x, steps=200)
    assert np.allclose(q.sum(axis=1), 1)
    assert np.allclose(q.sum(axis=0), 2)
    # what a scaling of rows and columns cannot change
    assert np.allclose(
        np.log(q[0, 0] * q[1, 1] / (q[0, 1] * q[1, 0])), x[0, 0] + x[1, 1] - x[0, 1] - x[1, 0]
    )


def test_one_row_of_sinkhorn_is_uniform_and_one_column_is_one() -> None:
    assert np.allclose(one("sinkhorn", RNG.normal(size=[1, 5])), 1 / 5)
    assert np.allclose(one("sinkhorn", RNG.normal(size=[5, 1])), 1)


# -- recurrences ----------------------------------------------------------------------------------


def test_a_scan_without_decay_is_a_running_sum() -> None:
    x = RNG.normal(size=[6, 3])
    assert np.allclose(one("scan", x), x.cumsum(axis=0))
    assert np.allclose(one("scan", x.T, axis=-1), x.T.cumsum(axis=1))


def test_a_scan_of_constant_decay_is_a_geometric_series() -> None:
    state = one("scan", np.ones([9, 2]), np.array([0.5, 0.9]))
    for t in range(9):
        assert np.allclose(state[t], [(1 - d ** (t + 1)) / (1 - d) for d in (0.5, 0.9)])


def test_linear_attention_by_scan_equals_its_masked_product() -> None:
    q, k = RNG.normal(size=[2, 5, 3])
    v = RNG.normal(size=[5, 4])
    state = one("scan", np.einsum("tk,tv->tkv", k, v), axis=0)
    assert np.allclose(np.einsum("tk,tkv->tv", q, state), np.tril(q @ k.T) @ v)


def test_a_selective_state_space_by_scan_equals_its_loop() -> None:
    steps, width, n = 6, 3, 4
    x, dt = RNG.normal(size=[steps, width]), RNG.uniform(0.1, 1, [steps, width])
    a, b, c = -RNG.uniform(1, 2, [width, n]), *RNG.normal(size=[2, steps, n])
    h, wanted = np.zeros([width, n]), []
    for t in range(steps):
        h = np.exp(dt[t][:, None] * a) * h + (dt[t] * x[t])[:, None] * b[t]
        wanted.append(h @ c[t])
    decay = one("exp", dt[:, :, None] * a)
    state = one("scan", np.einsum("td,tn->tdn", dt * x, b), decay, axis=0)
    assert np.allclose(np.einsum("tdn,tn->td", state, c), wanted)


def test_decays_are_stretched_to_the_state_only() -> None:
    assert "never the other way" in refused("scan", [["d", "n"], ["t", "d", "n"]], axis=-2)


def test_exp_log_softplus_and_power() -> None:
    x = np.array([-3.0, 0.0, 2.0])
    assert np.allclose(one("log", one("exp", x)), x)
    assert np.allclose(one("softplus", x), np.log(1 + np.exp(x)))
    assert np.allclose(one("power", one("relu", x)), [0, 0, 4])
    assert np.allclose(one("power", np.array([4.0]), exponent=-0.5), 0.5)
    assert np.allclose(log_softmax(x), one("log", one("softmax", x)))


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [[7, "t", "s"], ["b", 8, "t", "s"]])
def test_a_mask_has_the_heads_of_the_queries(mask: list[object]) -> None:
    qkv: list[list[object]] = [[8, "t", "k"], [8, "s", "k"], [8, "s", "v"]]
    assert "mask" in refused("attention_core", [*qkv, mask])


@pytest.mark.parametrize("mask", [["t", "s"], [1, "t", "s"], [8, "t", "s"]])
def test_a_mask_for_all_heads_or_each(mask: list[object]) -> None:
    c = call("attention_core", [[8, "t", "k"], [8, "s", "k"], [8, "s", "v"], mask])
    assert str(c.op.shape(c)[0]) == "[8, t, v]"


def test_a_symbolic_slice_counts_from_the_end() -> None:
    for attrs, wanted in (({"start": "-N"}, "[t, N]"), ({"stop": "-N"}, "[t, M]")):
        c = call("slice", [["t", "M + N"]], attrs)
        assert str(c.op.shape(c)[0]) == wanted
    (y,) = run("slice", [np.arange(7)], {"start": "-N"}, bindings={"N": 3})
    assert y.tolist() == [4, 5, 6]


# -- whole numbers --------------------------------------------------------------------------------

PICKS = """
title: Picks
dims: {n: rows, k: picked, d: width}
inputs: {x: [n, d], index: {shape: [k]%s}}
blocks: [%s]
"""


@pytest.mark.parametrize(
    ("dtype", "blocks", "said"),
    [
        ("", "{op: gather, from: {x: x, index: index}}", "say dtype: int"),
        ("", "{op: reshape, id: r, to: [k, 1], from: index}, {op: gather, from: {x: x, index: r}}",
         "say dtype: int"),
        ("", "{op: linear, id: l, out: k, from: x}, {op: argmax, id: a},"
         "{op: gather, from: {x: x, index: l}}", "'l' gives no index"),
        ("", "{op: embedding, vocab: 9, width: d, from: x}", "say dtype: int"),
        (", dtype: int", "{op: gather, from: {x: x, index: index}}", ""),
        (", dtype: int", "{op: shift, from: index}, {op: gather, from: {x: x, index: prev}}", ""),
        ("", "{op: argmax, id: a, from: x}, {op: gather, from: {x: x, index: a}}", ""),
        ("", "{op: top_k, id: t, k: k, from: x}, {op: gather, from: [x, t.index]}", ""),
        ("", "{op: box, id: b, from: x, out: [k]}, {op: gather, from: {x: x, index: b}}", ""),
    ],
)
def test_an_index_holds_whole_numbers(dtype: str, blocks: str, said: str) -> None:
    faults = check_of(PICKS % (dtype, blocks)).report.errors
    wanted = [("dtype-mismatch", True)] if said else []
    assert [(fault.code, said in fault.hint) for fault in faults] == wanted


def test_real_numbers_as_an_index_are_refused_at_work() -> None:
    with pytest.raises(OpFault, match="needs whole numbers as index, but it is float64"):
        run("gather", [np.eye(3), np.array([0.0, 1.0])])
