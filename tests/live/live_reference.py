"""The figures' numbers by other means: NumPy and SciPy, without the tracer and the figures.

Where a figure masks, this cuts; where it cumulates, this multiplies; boxes are overlaid by cutting
the plane at all edges, the assignment is SciPy's, encodings are made entry by entry.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from live_data import OBJECTS, SLOTS, WK, WQ, E
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax
from scipy.stats import entropy

Numbers = dict[str, Any]

GRIDS: dict[str, dict[str, list[float]]] = {
    "who-attends": {"query": list(range(8)), "sharpness": list(range(9))},
    "why-sqrt-dk": {"n": list(range(2, 17)), "log2dk": list(range(11))},
    "several-heads": {"log2h": list(range(4))},
    "where-parameters-go": {"log2d": list(range(6, 13)), "N": list(range(1, 13))},
    "clock-hands": {"log2d": list(range(4, 10)), "pos": list(range(101))},
    "cost-matrix": {"wcls": list(range(11)), "shift": [float(f"0.{i}") for i in range(8)]},
    "l1-and-giou": {
        "dy": [float(f"0.{i}") for i in range(6)],
        "scale": [float(f"{i // 10}.{i % 10}") for i in range(5, 21)],
    },
}


def states(figure: str) -> Iterator[dict[str, float]]:
    """Every combination of slider values."""
    grid = GRIDS[figure]
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def attention(q: np.ndarray, k: np.ndarray, sharpness: float = 1.0) -> np.ndarray:
    """Rows of queries, columns of keys."""
    scores = np.einsum("ic,jc->ij", q, k) * sharpness / np.sqrt(q.shape[1])
    return softmax(scores, axis=1)


def who_attends(query: float, sharpness: float) -> Numbers:
    a = attention(E @ WQ, E @ WK, sharpness)
    row = a[int(query)]
    return {"A": a, "row": row, "entropy": entropy(row)}


# -- why divide by the square root of d_k

def _mix(counter: np.ndarray) -> np.ndarray:
    """In 64 bits, cut to 32 after every product."""
    low = np.uint64(0xFFFFFFFF)
    x = (counter.astype(np.uint64) * np.uint64(0x9E3779B9) + np.uint64(2017)) & low
    x ^= x >> np.uint64(16)
    x = (x * np.uint64(0x85EBCA6B)) & low
    x ^= x >> np.uint64(13)
    x = (x * np.uint64(0xC2B2AE35)) & low
    return x ^ (x >> np.uint64(16))


def mix_slow(counter: int) -> int:
    """The same hash in Python's unbounded integers."""
    x = (counter * 0x9E3779B9 + 2017) % 2**32
    x ^= x >> 16
    x = x * 0x85EBCA6B % 2**32
    x ^= x >> 13
    x = x * 0xC2B2AE35 % 2**32
    return x ^ (x >> 16)


def _normals(first: int, count: int) -> np.ndarray:
    i = np.arange(first, first + count)
    u, v = ((_mix(c).astype(float) + 0.5) / 2**32 for c in (2 * i, 2 * i + 1))
    return np.abs(np.sqrt(-2 * np.log(u))) * np.exp(2j * np.pi * v).real


@cache
def queries_and_keys() -> tuple[np.ndarray, np.ndarray]:
    """[64, 1024] and [64, 16, 1024]."""
    return _normals(0, 65536).reshape(64, 1024), _normals(65536, 2**20).reshape(64, 16, 1024)


@cache
def dot_products() -> np.ndarray:
    """[11, 64, 16]: each width as a product of its own."""
    q, k = queries_and_keys()
    return np.stack([np.einsum("tc,tjc->tj", q[:, : 2**e], k[:, :, : 2**e]) for e in range(11)])


@cache
def why_curves(n: int) -> Numbers:
    found: Numbers = {}
    for name, scale in (("raw", 0.0), ("scaled", 0.5)):
        top, spread = [], []
        for e in range(11):
            weights = softmax(dot_products()[e, :, :n] / 2 ** (e * scale), axis=1)
            top.append(weights.max(axis=1).mean())
            spread.append(entropy(weights, axis=1).mean())
        found[f"max_{name}"], found[f"entropy_{name}"] = np.array(top), np.array(spread)
    squares = (dot_products() ** 2).mean(axis=(1, 2))
    found["variance"] = squares / 2.0 ** np.arange(11)
    return found


def why_sqrt_dk(n: float, log2dk: float) -> Numbers:
    return why_curves(int(n))


# -- several heads

def several_heads(log2h: float) -> Numbers:
    h = 2 ** int(log2h)
    q, k = E @ WQ, E @ WK
    parts = zip(np.split(q, h, axis=1), np.split(k, h, axis=1), strict=True)
    return {
        "A1": attention(q, k),
        "A": np.stack([attention(a, b) for a, b in parts]),
        "h": h,
        "dk": 16 // h,
    }


# -- parameters

def layer_shapes(d: int, h: int) -> dict[str, list[tuple[int, int]]]:
    """Every weight matrix of one encoder and one decoder layer, head by head."""
    heads = [(d, d // h)] * (3 * h) + [(d, d)]
    ffn = [(d, 4 * d), (4 * d, d)]
    return {"enc_self": heads, "enc_ffn": ffn, "dec_self": heads, "dec_cross": heads,
            "dec_ffn": ffn}  # fmt: skip


def where_parameters_go(log2d: float, N: float, h: int = 1) -> Numbers:
    d, layers = 2 ** int(log2d), int(N)
    found: Numbers = {"embedding": sum(d for _ in range(37000))}
    for name, shapes in layer_shapes(d, h).items():
        found[name] = sum(a * b for _ in range(layers) for a, b in shapes)
    found["total"] = sum(found.values())
    biases = 0
    for name, norms in (("enc_self", 1), ("enc_ffn", 1), ("dec_self", 1), ("dec_cross", 1),
                        ("dec_ffn", 1)):  # fmt: skip
        biases += 4 * d + d if name.endswith("ffn") else 4 * d
        biases += norms * 2 * d
    found["share"] = np.array([found[n] / found["total"] for n in list(found) if n != "total"])
    found["total_with_biases"] = found["total"] + layers * biases
    return found


# -- position encoding

@cache
def encoding(d: int) -> np.ndarray:
    """[165, d], entry by entry."""
    table = np.zeros((165, d))
    for pos in range(165):
        for c in range(d):
            angle = pos / 10000 ** (2 * (c // 2) / d)
            table[pos, c] = math.cos(angle) if c % 2 else math.sin(angle)
    return table


@cache
def cosine_sums(d: int) -> np.ndarray:
    speeds = np.exp(-np.log(10000.0) * 2 * np.arange(d // 2) / d)
    return np.exp(1j * np.outer(np.arange(65), speeds)).real.sum(axis=1)


def clock_hands(log2d: float, pos: float) -> Numbers:
    table = encoding(2 ** int(log2d))
    rows = table[int(pos) : int(pos) + 65]
    return {"dot": rows @ table[int(pos)], "sumcos": cosine_sums(2 ** int(log2d))}


# -- boxes

Box = tuple[float, float, float, float]


def edges(box: Box) -> Box:
    cx, cy, w, h = box
    return cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2


def overlay(a: Box, b: Box) -> tuple[float, float]:
    """IoU and GIoU of two boxes by their edges: the plane is cut at all edges, cells are summed."""
    xs, ys = sorted((a[0], a[2], b[0], b[2])), sorted((a[1], a[3], b[1], b[3]))
    both = either = whole = 0.0
    for x0, x1 in itertools.pairwise(xs):
        for y0, y1 in itertools.pairwise(ys):
            area, x, y = (x1 - x0) * (y1 - y0), (x0 + x1) / 2, (y0 + y1) / 2
            inside = [box[0] < x < box[2] and box[1] < y < box[3] for box in (a, b)]
            whole += area
            either += area * any(inside)
            both += area * all(inside)
    return both / either, both / either - (whole - either) / whole


@cache
def costs(wcls: float, shift: float) -> Numbers:
    cost, l1, giou = (np.zeros((3, 8)) for _ in range(3))
    for i, (_, kind, box) in enumerate(OBJECTS):
        for j, slot in enumerate(SLOTS):
            moved = (slot[2][0] + (shift if j == 3 else 0.0), *slot[2][1:])
            l1[i, j] = math.fsum(abs(a - b) for a, b in zip(box, moved, strict=True))
            giou[i, j] = overlay(edges(box), edges(moved))[1]
            cost[i, j] = math.fsum((5 * l1[i, j], -2 * giou[i, j], -wcls * slot[kind]))
    return {"cost": cost, "l1": l1, "giou": giou}


def cost_matrix(wcls: float, shift: float) -> Numbers:
    found = dict(costs(wcls, shift))
    rows, columns = linear_sum_assignment(found["cost"])
    chosen = np.zeros((3, 8))
    chosen[rows, columns] = 1
    total = found["cost"][rows, columns].sum()
    return {**found, "assign": columns, "chosen": chosen, "total": total}


def l1_and_giou(dy: float, scale: float) -> Numbers:
    l1, iou, giou = [], [], []
    contact = 0.0
    for i in range(101):
        dx = i / 100
        # Whole thousandths: touching and overlapping are told apart without rounding.
        x, y, w, h = 10 * i, round(dy * 1000), round(400 * scale), round(300 * scale)
        a = (-200.0, -150.0, 200.0, 150.0)
        b = (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        one, two = overlay(a, b)
        iou.append(1 - one)
        giou.append(1 - two)
        sizes = ((0, dx), (0, dy), (0.4, 0.4 * scale), (0.3, 0.3 * scale))
        l1.append(math.fsum(abs(p - q) for p, q in sizes))
        if abs(y) < 150 + h / 2:
            contact = (200 + w / 2) / 1000
    return {"l1": np.array(l1), "iou_loss": np.array(iou), "giou_loss": np.array(giou),
            "dx0": contact}  # fmt: skip


BY_ID = {
    "who-attends": who_attends,
    "why-sqrt-dk": why_sqrt_dk,
    "several-heads": several_heads,
    "where-parameters-go": where_parameters_go,
    "clock-hands": clock_hands,
    "cost-matrix": cost_matrix,
    "l1-and-giou": l1_and_giou,
}
TOLERANCE = 1e-9


def numbers(figure: str, state: dict[str, float]) -> Numbers:
    """What a figure's outputs must be in a state."""
    return BY_ID[figure](**state)


def difference(figure: str, state: dict[str, float], got: dict[str, Any]) -> float:
    """The largest difference of a figure's outputs (flat lists or arrays) from the reference.

    NaN or infinity counts as infinite; a missing output is an error.
    """
    worst = 0.0
    for name, wanted in numbers(figure, state).items():
        want = np.asarray(wanted, dtype=float).ravel()
        have = np.asarray(got[name], dtype=float).ravel()
        if figure == "several-heads" and name == "A":
            have = have[: want.size]  # heads that are not used are not looked at
        if have.shape != want.shape or not np.isfinite(have).all():
            return math.inf
        worst = max(worst, float(np.abs(have - want).max()))
    return worst
