"""Who attends to whom: one attention matrix, and one row of it spelled out."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping

from transformer_diagrams.live.figures.parts import WIDTH, heat, legend, short
from transformer_diagrams.live.figures.sentence import Sentence, called, toy
from transformer_diagrams.live.model import Figure
from transformer_diagrams.live.sketch import Sketch
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import Array, entropy, matmul, softmax
from transformer_diagrams.live.words import Names, Num, Pick, When

LEFT, TOP, SIDE = 128.0, 84.0, 304.0
PANEL, BAR, FULL = 520.0, 628.0, 212.0

TOY_CAPTION = (
    "Each row is one word asking, each column one word answering; the stronger a cell, the more "
    "of the answer comes from there. The outlined row is spelled out at the right. These vectors "
    "were chosen by hand to make the pattern visible, so trust the pattern and not the decimals; "
    "no positions were added, so nothing can tell the two “the” apart. Sharpness multiplies the "
    "scores before the softmax: 0 gives everyone an equal share, 4 undoes the division by √16."
)


def who_attends(data: Sentence | None = None, *, source: str = "") -> Figure:
    """The figure for ``data``, or for the toy sentence.

    ``source`` names the data's file, for the commands that the page shows.

    >>> float(who_attends().values(query=7)["row"][1].round(3))
    0.776
    """
    own = data is not None
    words = data if data is not None else toy()
    n = len(words.tokens)
    root = math.sqrt(words.width)
    shown = [short(t) for t in words.tokens]
    # Two places with one word need two names for the slider to be told apart.
    names = [
        t if words.tokens.count(t) == 1 else f"{t} ({i + 1})" for i, t in enumerate(words.tokens)
    ]
    caption = TOY_CAPTION if not own else (
        "Each row is one token asking, each column one token answering; the stronger a cell, the "
        "more of the answer comes from there. The outlined row is spelled out at the right. "
        "Sharpness multiplies the scores before the softmax: 0 gives everyone an equal share, "
        f"{root:.4g} undoes the division by √{words.width}."
    )  # fmt: skip

    def build(s: Sketch, p: Mapping[str, Array]) -> None:
        q, k = words.queries_and_keys(s.tape)
        weights = softmax(p["sharpness"] * matmul(q, k.T) / root)
        row = weights.take(p["query"])
        spread = entropy(row)
        s.output("A", weights, "attention weights, row by row", rows=names, columns=names)
        s.output("row", row, "weights of the chosen row", rows=names)
        s.output("entropy", spread, "entropy of the chosen row, in nats")
        top = row.max()
        equal = top - row.min() < 1e-12
        s.say(
            "“", Pick(p["query"], words.tokens), "” ",
            When(equal, ("attends to all equally (", Num(top, 3), " each)")),
            When(1 - equal, ("attends most to ", Names(row > top - 1e-9, words.tokens),
                             " (", Num(top, 3), ")")),
            "; entropy ", Num(spread, 2), f" of at most {math.log(n):.2f} nats.",
        )  # fmt: skip
        _draw(s, p["query"], weights, row, shown, words.tokens)

    last = n - 1
    return Figure(
        "who-attends",
        "Who attends to whom",
        "“It” looks for the cat: most of its answer comes from one other word." if not own
        else "Each token asks all tokens, and takes its answer in shares.",
        caption,
        (WIDTH, 436.0),
        (
            Slider.range("query", "asking word", 0, last, 1, last, show=names,
                         help="the row that is spelled out"),
            Slider.range("sharpness", "sharpness", 0, 8, 1, 1,
                         help="multiplies the scores before the softmax"),
        ),
        build,
        made='figure("who-attends")' if not own else f"who_attends({called(source)})",
        panels=((0.0, 540.0), (540.0, WIDTH)),
        options=f" --data {shlex.quote(source)}" if source else "",
    )  # fmt: skip


def _draw(
    s: Sketch, query: Array, weights: Array, row: Array, shown: list[str], full: tuple[str, ...]
) -> None:
    n = len(shown)
    cell = SIDE / n
    small = 15.0 if cell >= 20 else max(8.0, cell * 0.75)
    middles = [TOP + cell * (i + 0.5) for i in range(n)]
    heat(s, weights, LEFT, TOP, cell, gap=2.0 if cell >= 20 else 1.0)
    s.text(LEFT - 12, [y + small * 0.34 for y in middles], shown, size=small, anchor="end")
    s.turned_text([LEFT + cell * (j + 0.5) - 3 for j in range(n)], [TOP - 9.0] * n, -42.0, shown,
                  size=small)  # fmt: skip
    s.text(LEFT - 12, TOP - 12, "asks", size=13, anchor="end", fill="soft")
    s.text(LEFT + SIDE + 44, TOP - 12, "answers", size=13, anchor="end", fill="soft")
    # The chosen row, and its way to the panel that spells it out.
    y = TOP + query * cell
    s.rect(LEFT - 2, y - 2, SIDE + 2, cell + 2, rx=3, fill="none", stroke="orange", stroke_width=3)
    middle = y + cell / 2
    s.line(LEFT + SIDE, middle, PANEL, middle, stroke="orange", stroke_width=2)
    s.line(PANEL, TOP, PANEL, TOP + SIDE, stroke="orange", stroke_width=2, stroke_linecap="round")
    s.text(BAR, TOP - 22, ("“", Pick(query, full), "” takes its answer from"), size=17, strong=True,
           anchor="start", fill="orange")  # fmt: skip
    thick = min(22.0, cell * 0.62)
    s.text(BAR - 12, [m + small * 0.34 for m in middles], shown, size=small, anchor="end")
    s.rect(BAR, [m - thick / 2 for m in middles], FULL, thick, rx=2, fill="shade")
    s.rect(BAR, [m - thick / 2 for m in middles], row * FULL, thick, rx=2, fill="blue")
    s.text(BAR + FULL + 12, [m + small * 0.34 for m in middles], Num(row, 3), size=small)
    legend(s, LEFT, TOP + SIDE + 14, title="attention weight, the same scale always")
