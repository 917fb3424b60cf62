"""l1 and GIoU as the box slides away: three losses of a predicted box against a true one."""

from __future__ import annotations

from collections.abc import Mapping

from transformer_diagrams.live.figures.boxes import overlap
from transformer_diagrams.live.figures.parts import WIDTH, Plot
from transformer_diagrams.live.model import Figure
from transformer_diagrams.live.sketch import Sketch
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import Array, maximum, minimum, where
from transformer_diagrams.live.words import Num

WIDE, HIGH = 0.4, 0.3  # the true box
SHOWN = 0.25  # dx of the boxes that are drawn
GAP = 0.13  # least distance of two labels, in loss


def l1_and_giou() -> Figure:
    """The figure; GIoU after Rezatofighi et al. (2019)."""
    return Figure(
        "l1-and-giou",
        "l1 and GIoU as the box slides away",
        "Once the boxes no longer touch, the IoU loss is stuck at 1; the GIoU loss still pulls.",
        "The prediction slides to the right of the true box. Past the dotted line the boxes no "
        "longer touch: the IoU loss is stuck at 1 and gives no direction, while the GIoU loss goes "
        "on rising, toward 2, because the enclosing box fills with emptiness. l1 just grows. "
        "Shrink the prediction and contact is lost sooner; enlarge it and later. Moving it up or "
        "down lowers the overlap everywhere but moves the line only when the boxes miss each other "
        "altogether, and then it jumps to 0.",
        (WIDTH, 424.0),
        (
            Slider.range("dy", "shift up dy", 0.0, 0.5, 0.1, 0.0, decimals=1),
            Slider.range("scale", "scale s", 0.5, 2.0, 0.1, 1.0, decimals=1,
                         help="size of the prediction, as a multiple of the true box"),
        ),
        lambda s, p: _build(s, p),
        made='figure("l1-and-giou")',
        panels=((0.0, 600.0), (610.0, WIDTH)),
    )  # fmt: skip


def _build(s: Sketch, p: Mapping[str, Array]) -> None:
    tape = s.tape
    dy, size = p["dy"], p["scale"]
    dx = tape.iota(101) / 100
    wide, high = WIDE * size, HIGH * size
    zero = tape.zeros(101)
    truth = (zero - WIDE / 2, zero - HIGH / 2, zero + WIDE / 2, zero + HIGH / 2)
    moved = (dx - wide / 2, zero + dy - high / 2, dx + wide / 2, zero + dy + high / 2)
    iou, giou = overlap(truth, moved)
    change = (size - 1).abs()
    l1 = dx.abs() + dy.abs() + WIDE * change + HIGH * change
    iou_loss, giou_loss = 1 - iou, 1 - giou
    # Half heights that add up to dy touch and do not overlap: 0.3 against 0.15 x 2 needs slack.
    apart = dy >= HIGH / 2 * (1 + size) - 1e-12
    edge = where(apart, 0.0, WIDE / 2 * (1 + size))
    names = [f"dx = {i / 100:.2f}" for i in range(101)]
    s.output("l1", l1, "sum of differences of centre and size", rows=names)
    s.output("iou_loss", iou_loss, "1 − IoU", rows=names)
    s.output("giou_loss", giou_loss, "1 − GIoU", rows=names)
    s.output("dx0", edge, "dx where the overlap ends")
    last = [v[100] for v in (l1, iou_loss, giou_loss)]
    s.say(
        "dy ", Num(dy, 1), ", scale ", Num(size, 1), ": overlap ends at dx = ", Num(edge, 2),
        "; at dx = 1 the losses are l1 ", Num(last[0], 2), ", IoU ", Num(last[1], 2), ", GIoU ",
        Num(last[2], 2), ".",
    )  # fmt: skip
    _curves(s, dx, l1, iou_loss, giou_loss, edge, last)
    _boxes(s, dy, wide, high)


def _curves(
    s: Sketch, dx: Array, l1: Array, iou: Array, giou: Array, edge: Array, last: list[Array]
) -> None:
    plot = Plot(50.0, 40.0, 452.0, 322.0, (0.0, 1.0), (0.0, 2.3))
    left = plot.px(edge)
    s.rect(left, plot.top, plot.right - left, plot.height, fill="shade")
    plot.axes(
        s,
        [(0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1")],
        [(0.0, "0"), (1.0, "1"), (2.0, "2")],
        "the prediction’s shift to the right, dx",
    )
    s.text(16, 24, "loss", size=14, fill="soft")
    s.line(left, plot.top, left, plot.bottom, stroke="soft", stroke_width=1.8,
           stroke_dasharray="1.5 4.5", stroke_linecap="round")  # fmt: skip
    s.text(left + 9, plot.top + 20, ("no overlap from dx = ", Num(edge, 2), " on"), size=14,
           fill="soft")  # fmt: skip
    x = plot.px(dx)
    s.path(x, plot.py(l1), stroke="soft", stroke_width=2.5)
    s.path(x, plot.py(iou), stroke="orange", stroke_width=3)
    s.path(x, plot.py(giou), stroke="blue", stroke_width=3)
    # Labels at the lines' ends, pushed apart upward: the IoU loss is never above the others.
    end_l1, end_iou, end_giou = last
    lower = maximum(minimum(end_l1, end_giou), end_iou + GAP)
    upper = maximum(maximum(end_l1, end_giou), lower + GAP)
    first = end_l1 <= end_giou
    at = (where(first, lower, upper), end_iou, where(first, upper, lower))
    for y, name, color in zip(at, ("l1", "1 − IoU", "1 − GIoU"), ("soft", "orange", "blue"),
                              strict=True):  # fmt: skip
        s.text(plot.right + 10, plot.py(y) + 5, name, size=15, strong=True, fill=color)


def _boxes(s: Sketch, dy: Array, wide: Array, high: Array) -> None:
    left, top, side = 628.0, 40.0, 268.0
    scale = 268.0
    # Room for the largest prediction, shifted furthest, is kept from the start.
    x0, y0 = left + 0.27 * scale, top + 286.0 - 0.22 * scale
    s.text(left, 24, f"The two boxes at dx = {SHOWN}", size=17, strong=True)
    s.rect(left, top, side, 322, rx=4, fill="shade")
    cx, cy = x0 + SHOWN * scale, y0 - dy * scale
    w, h = wide * scale, high * scale
    tw, th = WIDE * scale, HIGH * scale
    a, b = minimum(cx - w / 2, x0 - tw / 2), minimum(cy - h / 2, y0 - th / 2)
    c, d = maximum(cx + w / 2, x0 + tw / 2), maximum(cy + h / 2, y0 + th / 2)
    # A little apart, so that it is seen where the boxes' own edges would hide it.
    s.rect(a - 4, b - 4, c - a + 8, d - b + 8, rx=3, fill="none", stroke="soft", stroke_width=1.5,
           stroke_dasharray="1.5 4", stroke_linecap="round")  # fmt: skip
    s.rect(x0 - tw / 2, y0 - th / 2, tw, th, fill="blue", fill_opacity=0.16, stroke="blue",
           stroke_width=2.5)  # fmt: skip
    s.rect(cx - w / 2, cy - h / 2, w, h, fill="orange", fill_opacity=0.12, stroke="orange",
           stroke_width=2.5, stroke_dasharray="7 4")  # fmt: skip
    y = top + 304.0
    s.text(left + 14, y + 4, "truth", size=14, strong=True, fill="blue")
    s.text(left + 66, y + 4, "prediction", size=14, strong=True, fill="orange")
    s.text(left + 152, y + 4, "enclosing box", size=14, fill="soft")
