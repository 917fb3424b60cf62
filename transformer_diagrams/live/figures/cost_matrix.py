"""The cost matrix the matcher sees: DETR's one-to-one choice between objects and predictions."""

from __future__ import annotations

from collections.abc import Mapping

from transformer_diagrams.live.figures.boxes import from_centre, overlap
from transformer_diagrams.live.figures.parts import WIDTH, legend
from transformer_diagrams.live.model import Figure
from transformer_diagrams.live.sketch import Choice, Ramp, Sketch
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import Array, assign, where
from transformer_diagrams.live.words import Num, Pick
from transformer_diagrams.records import dataclass

CLASSES = ("cat", "remote")


@dataclass(frozen=True, slots=True)
class Thing:
    """An object that is really there: centre x, centre y, width and height of its box."""

    name: str
    kind: int
    box: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Slot:
    """A prediction: probabilities of the classes and of "no object", and its box."""

    p: tuple[float, float, float]
    box: tuple[float, float, float, float]


THINGS = (
    Thing("left cat", 0, (0.27, 0.5, 0.3, 0.4)),
    Thing("right cat", 0, (0.68, 0.48, 0.28, 0.44)),
    Thing("remote", 1, (0.48, 0.86, 0.16, 0.1)),
)
# Two objects share a class on purpose: otherwise no two want the same slot, and a greedy picker
# would look right.
SLOTS = (
    Slot((0.4, 0.02, 0.58), (0.3, 0.54, 0.26, 0.34)),
    Slot((0.06, 0.04, 0.9), (0.5, 0.2, 0.2, 0.2)),
    Slot((0.5, 0.03, 0.47), (0.64, 0.53, 0.34, 0.4)),
    Slot((0.62, 0.05, 0.33), (0.14, 0.48, 0.28, 0.44)),
    Slot((0.03, 0.25, 0.72), (0.47, 0.85, 0.17, 0.11)),
    Slot((0.95, 0.02, 0.03), (0.44, 0.46, 0.36, 0.44)),
    Slot((0.02, 0.8, 0.18), (0.55, 0.78, 0.2, 0.14)),
    Slot((0.3, 0.05, 0.65), (0.36, 0.56, 0.4, 0.46)),
)
MOVED = 3  # the slot that slides, counted from 0
L1, GIOU = 5.0, 2.0  # weights of DETR's training script (Carion et al., 2020)

LEFT, TOP, CELL, ROW = 96.0, 40.0, 57.0, 42.0
DARK = 0.695  # from here on the ramp is deep enough for light words


def cost_matrix() -> Figure:
    """The figure; the cost is 5 l1 - 2 GIoU - w p, with p the probability itself."""
    return Figure(
        "cost-matrix",
        "The cost matrix the matcher sees",
        "Every object gets its own prediction, at the least total cost.",
        "Rows are the objects that are really there, columns eight of the hundred predictions; "
        "the stronger a cell, the cheaper. The outlined cells are the cheapest way to give every "
        "object its own prediction. With class weight 0 only geometry counts. Raise it and the "
        "matcher begins to prefer predictions that are sure of the class even when their box is "
        "worse, and two cats compete for the same confident slot, which only one can have. Slide "
        "slot 4 across and it takes the left cat, lets it go, then takes the right one.",
        (WIDTH, 384.0),
        (
            Slider.range("wcls", "class weight w", 0, 10, 1, 1,
                         help="how much the probability of the class counts"),
            Slider.range("shift", "shift of slot 4", 0.0, 0.7, 0.1, 0.0, decimals=1,
                         help="to the right, in image widths"),
        ),
        _build,
        made='figure("cost-matrix")',
        panels=((0.0, 575.0), (590.0, WIDTH)),
    )  # fmt: skip


def _build(s: Sketch, p: Mapping[str, Array]) -> None:
    tape = s.tape
    things = tape.const([t.box for t in THINGS]).T.reshape(4, 3, 1)
    moving = tape.const([[float(i == MOVED), 0.0, 0.0, 0.0] for i in range(len(SLOTS))])
    slots = (tape.const([t.box for t in SLOTS]) + moving * p["shift"]).T.reshape(4, 1, 8)
    l1 = (things - slots).abs().sum(axis=0)
    truth = from_centre(*(things[i] for i in range(4)))
    guess = from_centre(*(slots[i] for i in range(4)))
    _, giou = overlap(truth, guess)
    likely = tape.const([[slot.p[t.kind] for slot in SLOTS] for t in THINGS])
    terms = (L1 * l1, -GIOU * giou, -(p["wcls"] * likely))
    cost = terms[0] + terms[1] + terms[2]
    choice = assign(cost)
    chosen = choice.reshape(3, 1).equals(tape.iota(8))
    total = (cost * chosen).flat().sum()
    rows, columns = [t.name for t in THINGS], [f"slot {i + 1}" for i in range(8)]
    s.output("cost", cost, "cost of giving the object this slot", rows=rows, columns=columns)
    s.output("l1", l1, "sum of differences of the four box numbers", rows=rows, columns=columns)
    s.output("giou", giou, "generalised overlap of the boxes", rows=rows, columns=columns)
    s.output("assign", choice, "chosen column, counted from 0", rows=rows)
    s.output("chosen", chosen, "1 where chosen", rows=rows, columns=columns)
    s.output("total", total, "total cost of the choice")
    names = tuple(str(i + 1) for i in range(8))
    s.say(
        "class weight ", Num(p["wcls"]), ", slot 4 moved by ", Num(p["shift"], 1),
        ": left cat takes slot ", Pick(choice[0], names), ", right cat slot ",
        Pick(choice[1], names), ", remote slot ", Pick(choice[2], names), "; total cost ",
        Num(total, 2), ".",
    )  # fmt: skip
    _matrix(s, cost, chosen)
    _table(s, choice, chosen, terms, cost, total, names)
    _image(s, truth, guess, chosen)


def _matrix(s: Sketch, cost: Array, chosen: Array) -> None:
    flat = cost.flat()
    least, most = flat.min(), flat.max()
    cheap = 1 - (flat - least) / (most - least)
    xs = [LEFT + CELL * j for _ in range(3) for j in range(8)]
    ys = [TOP + ROW * i for i in range(3) for _ in range(8)]
    s.text(LEFT - 12, TOP - 12, "slot", size=13, anchor="end", fill="soft")
    s.text([LEFT + CELL * (j + 0.5) for j in range(8)], TOP - 12,
           [str(j + 1) for j in range(8)], size=15, strong=True, anchor="middle")  # fmt: skip
    s.text(LEFT - 12, [TOP + ROW * (i + 0.5) + 5 for i in range(3)], [t.name for t in THINGS],
           size=15, anchor="end")  # fmt: skip
    s.rect(LEFT - 2, TOP - 2, CELL * 8 + 2, ROW * 3 + 2, rx=3, fill="paper", stroke="grid",
           stroke_width=1)  # fmt: skip
    s.rect(xs, ys, CELL - 2, ROW - 2, rx=2, fill=Ramp(cheap))
    s.text([x + CELL / 2 - 1 for x in xs], [y + ROW / 2 + 4 for y in ys], Num(flat, 2), size=15,
           anchor="middle", fill=Choice(cheap >= DARK, ("low", "high")))  # fmt: skip
    s.rect([x - 1 for x in xs], [y - 1 for y in ys], CELL, ROW, rx=3, fill="none",
           stroke="orange", stroke_width=3.5, opacity=chosen.flat())  # fmt: skip
    y = TOP + 3 * ROW + 20
    for row, kind in enumerate(CLASSES):
        at = y + 19 * row
        s.text(LEFT - 12, at, f"p({kind})", size=13, anchor="end", fill="soft")
        s.text([LEFT + CELL * (j + 0.5) for j in range(8)], at,
               [f"{slot.p[row]:.2f}" for slot in SLOTS], size=13, anchor="middle",
               fill="soft")  # fmt: skip
    top = y + 36
    legend(s, LEFT + 96, top, width=180, low="", high="", title="")
    s.text(LEFT + 88, top + 11, ("dearest ", Num(most, 2)), size=13, anchor="end", fill="soft")
    s.text(LEFT + 284, top + 11, ("cheapest ", Num(least, 2)), size=13, fill="soft")


def _table(
    s: Sketch, choice: Array, chosen: Array, terms: tuple[Array, ...], cost: Array, total: Array,
    names: tuple[str, ...],
) -> None:  # fmt: skip
    top = 270.0
    ends = (236.0, 322.0, 412.0, 478.0, 552.0)
    heads = ("takes", "5 l1", "−2 GIoU", "−w p", "cost")
    s.text(list(ends), top, list(heads), size=13, anchor="end", fill="soft")
    s.line(LEFT - 76, top + 9, ends[-1], top + 9, stroke="grid")
    lines = [top + 30 + 23 * i for i in range(3)]
    s.text(LEFT - 12, lines, [t.name for t in THINGS], size=15, anchor="end")
    s.text(ends[0], lines, ("slot ", Pick(choice, names)), size=15, anchor="end", strong=True,
           fill="orange")  # fmt: skip
    for end, term in zip(ends[1:4], terms, strict=True):
        s.text(end, lines, Num((term * chosen).sum(), 2), size=15, anchor="end")
    s.text(ends[4], lines, Num((cost * chosen).sum(), 2), size=15, anchor="end", strong=True)
    s.line(ends[3] + 14, lines[2] + 8, ends[4], lines[2] + 8, stroke="line")
    s.text(ends[3], lines[2] + 28, "total", size=15, anchor="end")
    s.text(ends[4], lines[2] + 28, Num(total, 2), size=15, anchor="end", strong=True)


def _image(
    s: Sketch, truth: tuple[Array, ...], guess: tuple[Array, ...], chosen: Array
) -> None:
    left, top, wide, high = 598.0, TOP - 2, 306.0, 284.0
    s.text(left, TOP - 12, "The image", size=17, strong=True)
    s.rect(left, top, wide, high, rx=4, fill="shade")
    seen = where(chosen.sum(axis=0) > 0, 1.0, 0.25)

    def at(box: tuple[Array, ...]) -> tuple[Array, Array, Array, Array]:
        x, y = left + box[0].flat() * wide, top + box[1].flat() * high
        return x, y, (box[2] - box[0]).flat() * wide, (box[3] - box[1]).flat() * high

    x, y, w, h = at(truth)
    s.rect(x, y, w, h, rx=2, fill="blue", fill_opacity=0.14, stroke="blue", stroke_width=2.5)
    gx, gy, gw, gh = at(guess)
    s.rect(gx, gy, gw, gh, rx=2, fill="none", stroke="orange", stroke_width=2.2,
           stroke_dasharray="6 4", opacity=seen)  # fmt: skip
    # The number stands in the box's corner on a small tag.
    s.rect(gx - 1, gy - 1, 18, 18, rx=2, fill="orange", opacity=seen)
    s.text(gx + 8, gy + 13, [str(i + 1) for i in range(8)], size=13, strong=True,
           anchor="middle", fill="paper", opacity=where(seen < 1, 0.6, 1.0))  # fmt: skip
    s.text(x + w - 5, y + h - 7, [t.name for t in THINGS], size=13, anchor="end", fill="blue",
           strong=True)  # fmt: skip
    y2 = top + high + 22
    s.text(left, y2, "objects", size=14, strong=True, fill="blue")
    s.text(left + 62, y2, "predictions (pale: not chosen)", size=14, fill="orange")
