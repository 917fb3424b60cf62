"""Why divide by the square root of d_k: random queries and keys of growing width."""

from __future__ import annotations

from collections.abc import Mapping

from transformer_diagrams.live.figures.parts import WIDTH, Plot, doubling
from transformer_diagrams.live.model import Figure
from transformer_diagrams.live.sketch import Sketch
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import Array, entropy, softmax
from transformer_diagrams.live.words import Num, Pick

QUERIES, KEYS, WIDEST, SEED = 64, 16, 1024, 2017
WIDTHS = 11  # 1, 2, 4, ..., 1024


def why_sqrt_dk() -> Figure:
    """The figure; its sample is 64 queries with 16 keys each, drawn from a counter."""
    shown = doubling(0, WIDTHS - 1)

    def build(s: Sketch, p: Mapping[str, Array]) -> None:
        _build(s, p["n"], p["log2dk"], shown)

    return Figure(
        "why-sqrt-dk",
        "Why divide by √d_{k}",
        "Without the division, wide vectors make the softmax choose one winner; with it, width "
        "hardly matters.",
        "Random queries and keys, components of unit variance. Left alone, the winning weight "
        "heads for 1 as vectors get wider and the entropy for 0: the softmax picks a winner before "
        "anything has been learned. Divided by √d_{k} the scores keep unit variance, and from "
        "d_{k} = 8 on the softness hardly moves. Means over 64 queries; the sample is the same "
        "every time.",
        (WIDTH, 400.0),
        (
            Slider.range("n", "keys n", 2, KEYS, 1, 10, help="how many keys compete"),
            Slider.range("log2dk", "key width d_{k}", 0, WIDTHS - 1, 1, 6, show=shown,
                         help="where the marker stands"),
        ),
        build,
        made='figure("why-sqrt-dk")',
        panels=((0.0, 490.0), (500.0, WIDTH)),
    )  # fmt: skip


def scores(s: Sketch) -> Array:
    """q . k over the first 1, 2, 4, ..., 1024 components; [widths, queries, keys]."""
    q = s.tape.normals(0, (QUERIES, 1, WIDEST), SEED)
    k = s.tape.normals(QUERIES * WIDEST, (QUERIES, KEYS, WIDEST), SEED)
    running = (q * k).cumsum().reshape(QUERIES * KEYS, WIDEST).T
    at = [float(2**e - 1) for e in range(WIDTHS)]
    return running.take(at).reshape(WIDTHS, QUERIES, KEYS)


def _build(s: Sketch, n: Array, log2dk: Array, shown: list[str]) -> None:
    tape = s.tape
    score = scores(s)
    roots = tape.const([2 ** (e / 2) for e in range(WIDTHS)]).reshape(WIDTHS, 1, 1)
    kept = tape.iota(KEYS) < n
    raw, scaled = softmax(score, kept), softmax(score / roots, kept)
    top = [w.max().mean() for w in (raw, scaled)]
    spread = [entropy(w).mean() for w in (raw, scaled)]
    most = n.log()
    for name, values, doc in (
        ("max_raw", top[0], "mean largest weight, unscaled"),
        ("max_scaled", top[1], "mean largest weight, scores divided by √d_k"),
        ("entropy_raw", spread[0], "mean entropy in nats, unscaled"),
        ("entropy_scaled", spread[1], "mean entropy in nats, divided by √d_k"),
    ):
        s.output(name, values, doc, rows=[f"d_k = {w}" for w in shown])
    s.output("variance", (score * score).reshape(WIDTHS, -1).mean() / (roots.flat() ** 2),
             "mean square of q · k, divided by d_k",
             rows=[f"d_k = {w}" for w in shown])  # fmt: skip
    here = [v.take(log2dk) for v in (*top, *spread)]
    s.say(
        Num(n), " keys, d_k ", Pick(log2dk, tuple(shown)), ": largest weight ", Num(here[0], 3),
        " unscaled, ", Num(here[1], 3), " scaled; entropy ", Num(here[2], 3), " and ",
        Num(here[3], 3), " of at most ", Num(most, 3), " nats.",
    )  # fmt: skip
    _panel(s, 58.0, log2dk, "Largest weight", "", top, top, here[:2], 1 / n, "1/n", shown)
    share = [v / most for v in spread]
    _panel(s, 524.0, log2dk, "Entropy, as a share of log n", "nats", share, spread, here[2:],
           tape.const(1.0), "log n", shown)  # fmt: skip


def _panel(
    s: Sketch, left: float, log2dk: Array, title: str, unit: str, curves: list[Array],
    values: list[Array], here: list[Array], reference: Array, reference_name: str,
    shown: list[str],
) -> None:  # fmt: skip
    plot = Plot(left, 104.0, 308.0, 232.0, (0.0, float(WIDTHS - 1)), (0.0, 1.0))
    s.text(left, 24, title, size=17, strong=True)
    # The readings stand still: only their digits change as the marker moves.
    for x, value, color, name in (
        (left, here[0], "orange", "unscaled"), (left + 160, here[1], "blue", "÷ √d_{k}"),
    ):  # fmt: skip
        s.text(x, 58, Num(value, 3), size=24, strong=True, fill=color)
        s.text(x + 70, 58, name, size=15, fill=color)
    if unit:
        s.text(left + 284, 58, unit, size=14, fill="soft")
    ticks = [(float(e), shown[e]) for e in range(0, WIDTHS, 2)]
    plot.axes(s, ticks, [(0.0, "0"), (0.5, "0.5"), (1.0, "1")], "key width d_{k}, doubling")
    y = plot.py(reference)
    s.line(plot.left, y, plot.right, y, stroke="soft", stroke_width=1.5, stroke_dasharray="1.5 4",
           stroke_linecap="round")  # fmt: skip
    s.text(plot.right + 10, y + 5, reference_name, size=13, fill="soft")
    at = plot.px(log2dk)
    s.line(at, plot.top, at, plot.bottom, stroke="soft", stroke_width=1.5)
    across = plot.px(s.tape.iota(WIDTHS))
    kinds = (("orange", "unscaled"), ("blue", "÷ √d_{k}"))
    for curve, (color, name) in zip(curves, kinds, strict=True):
        s.path(across, plot.py(curve), stroke=color, stroke_width=3)
        end = curve[WIDTHS - 1]
        s.text(plot.right + 10, plot.py(end) + 5, name, size=15, strong=True, fill=color)
        s.circle(at, plot.py(curve.take(log2dk)), 6, fill=color, stroke="paper", stroke_width=2)
