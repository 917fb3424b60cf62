"""Clock hands at different speeds: the sinusoidal position encoding, and why pos drops out."""

from __future__ import annotations

import math
from collections.abc import Mapping

from transformer_diagrams.live.figures.parts import WIDTH, Plot, doubling
from transformer_diagrams.live.model import Figure
from transformer_diagrams.live.sketch import Sketch
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import Array
from transformer_diagrams.live.words import Num, Pick, When

WIDEST, REACH, LAST = 256, 64, 100  # frequencies at d = 512; largest k; last position
SHARES = (0.0, 0.125, 0.25, 0.375)  # 2i / d of the four hands shown
SPEEDS = tuple(10000.0**-share for share in SHARES)


def clock_hands() -> Figure:
    """The figure; sines and cosines are interleaved, as in Vaswani et al. (2017), section 3.5."""
    shown = doubling(4, 9)

    def build(s: Sketch, p: Mapping[str, Array]) -> None:
        _build(s, p["log2d"], p["pos"], shown)

    return Figure(
        "clock-hands",
        "Clock hands at different speeds",
        "How alike two encodings are depends on their distance alone: two formulas, one curve.",
        "Left, four of the encoding’s dimensions as hands of a clock: the first goes round every "
        "6.28 positions, the others more and more slowly. Right, how alike the encodings at pos "
        "and pos + k are: computed from the two rows (solid) and from a sum of cosines that never "
        "mentions pos (dashed). Slide pos and only the dots and hands on the left move. Sine and "
        "cosine are interleaved here; in halves the order of the columns changes and no sum does.",
        (WIDTH, 428.0),
        (
            Slider.range("log2d", "width d", 4, 9, 1, 7, show=shown,
                         help="columns of the encoding"),
            Slider.range("pos", "position pos", 0, LAST, 1, 10),
        ),
        build,
        made='figure("clock-hands")',
        panels=((0.0, 490.0), (520.0, WIDTH)),
    )  # fmt: skip


def _build(s: Sketch, log2d: Array, pos: Array, shown: list[str]) -> None:
    tape = s.tape
    d = 2**log2d
    i = tape.iota(WIDEST)
    used = i < d / 2
    speed = 10000 ** (-2 * i / d)
    k = tape.iota(REACH + 1).reshape(REACH + 1, 1)
    here = pos * speed
    there = (pos + k) * speed
    dot = ((here.sin() * there.sin() + here.cos() * there.cos()) * used).sum()
    cosines = ((k * speed).cos() * used).sum()
    names = [f"k = {j}" for j in range(REACH + 1)]
    s.output("dot", dot, "PE(pos) · PE(pos + k), from the two rows", rows=names)
    s.output("sumcos", cosines, "sum of cos(ω k), without pos", rows=names)
    close = (dot - cosines).abs().max() < 1e-9
    s.say(
        "pos ", Num(pos), ", width ", Pick(log2d - 4, tuple(shown)),
        ": the dot product falls from ", Num(dot[0], 1), " at k = 0 to ", Num(dot[10], 1),
        " at k = 10; the two curves differ by ", When(close, ("less than 1e-9.",)),
        When(1 - close, ("1e-9 or more.",)),
    )  # fmt: skip
    _clocks(s, pos)
    _likeness(s, dot / (d / 2), cosines / (d / 2))


def _clocks(s: Sketch, pos: Array) -> None:
    s.text(30, 24, "Four of the dimensions, as clocks", size=17, strong=True)
    left, wide, top, step, high = 128.0, 344.0, 74.0, 80.0, 25.0
    speeds = s.tape.const(SPEEDS)
    middles = [top + step * j + 8 for j in range(4)]
    middle = s.tape.const(middles)
    periods = [2 * math.pi / v for v in SPEEDS]
    plot = Plot(left, top, wide, step * 4, (0.0, float(LAST)), (0.0, 1.0))
    s.line(left, middles, left + wide, middles, stroke="grid")
    grid = s.tape.iota(4 * LAST + 1, 0.0, 0.25)
    angles = speeds.reshape(4, 1) * grid
    curves = middle.reshape(4, 1) - angles.sin() * high
    x = plot.px(pos)
    bottom = middles[-1] + high + 2
    s.line(x, middles[0] - high, x, bottom + 8, stroke="soft", stroke_width=1.5)
    s.path(plot.px(grid), curves, stroke="blue", stroke_width=2)
    s.circle(x, middle - (pos * speeds).sin() * high, 6, fill="orange", stroke="paper",
             stroke_width=2)  # fmt: skip
    s.text(left + wide, [m - high - 5 for m in middles],
           [f"once round in {p:.2f} positions" for p in periods], size=13, anchor="end",
           fill="soft")  # fmt: skip
    center = 66.0
    s.circle(center, middles, high, fill="shade", stroke="faint")
    angle = pos * speeds
    # The hand starts at three o'clock and turns against the clock, as angles do.
    tip_x, tip_y = center + angle.cos() * (high - 4), middle - angle.sin() * (high - 4)
    s.line(center, middles, tip_x, tip_y, stroke="orange", stroke_width=3, stroke_linecap="round")
    s.circle(center, middles, 3, fill="orange")
    s.line(tip_x, tip_y, x, tip_y, stroke="orange", stroke_width=1, stroke_dasharray="2 3",
           opacity=0.55)  # fmt: skip
    ticks = (0, 20, 40, 60, 80, 100)
    at = [plot.px(float(t)) for t in ticks]
    s.line(at, bottom + 8, at, bottom + 13, stroke="faint")
    s.line(left, bottom + 8, left + wide, bottom + 8, stroke="faint")
    s.text(at, bottom + 29, [str(t) for t in ticks], size=13, anchor="middle", fill="soft")
    s.text(left + wide / 2, bottom + 52, "position", size=14, anchor="middle", fill="soft")


def _likeness(s: Sketch, dot: Array, cosines: Array) -> None:
    s.text(548, 24, "How alike are pos and pos + k?", size=17, strong=True)
    plot = Plot(580.0, 56.0, 316.0, 292.0, (0.0, float(REACH)), (0.0, 1.0))
    ticks = [(float(t), str(t)) for t in (0, 16, 32, 48, 64)]
    plot.axes(s, ticks, [(0.0, "0"), (0.5, "0.5"), (1.0, "1")], "distance k")
    k = plot.px(s.tape.iota(REACH + 1))
    s.path(k, plot.py(dot), stroke="blue", stroke_width=6, opacity=0.45)
    s.path(k, plot.py(cosines), stroke="orange", stroke_width=2, stroke_dasharray="7 5",
           stroke_linecap="butt")  # fmt: skip
    y = plot.top + 22
    s.line(684, y - 5, 716, y - 5, stroke="blue", stroke_width=6, opacity=0.45)
    s.text(724, y, "from the two rows", size=14)
    s.line(684, y + 19, 716, y + 19, stroke="orange", stroke_width=2, stroke_dasharray="7 5")
    s.text(724, y + 24, "from cosines, without pos", size=14)
    s.text(580, plot.top - 12, "dot product ÷ (d/2)", size=13, fill="soft")
