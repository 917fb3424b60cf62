"""One sentence, several heads: the same columns read at once, or cut into slices."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.live.figures.parts import WIDTH, doubling, heat, legend, short
from transformer_diagrams.live.figures.sentence import Sentence, called, toy
from transformer_diagrams.live.model import Figure
from transformer_diagrams.live.sketch import Pose, Ramp, Sketch
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import Array, matmul, maximum, softmax, where
from transformer_diagrams.live.words import Names, Num, Part, Pick, When

MOST_TOKENS = 16
LEFT, SIDE = 84.0, 208.0
FIELD = 350.0
SMALL, GAP = 0.62 * SIDE, 16.0  # a scale of two decimals, as it is printed
HIGH = 404.0
TOP = 62.0
LONG = 8  # letters of a word under a grid

TOY_CAPTION = (
    "Left, one head reading all sixteen columns at once. Right, the same numbers cut into h "
    "slices, each with its own softmax. With four slices the first matches equal words, the "
    "second sends “it” to “cat”, the third sends “sat” and “on” to the nouns, and the fourth is "
    "noise. An even row is a query with nothing to ask in that slice: all its scores are equal "
    "and it spreads evenly. In the single head the four opinions are added before the softmax and "
    "blur into one picture."
)


def several_heads(data: Sentence | None = None, *, source: str = "") -> Figure:
    """The figure for ``data``, or for the toy sentence.

    ``source`` names the data's file, for the commands that the page shows.

    :raises DiagramError: when own data has too many tokens for eight grids, or a key width that
        cannot be halved.
    """
    own = data is not None
    words = data if data is not None else toy()
    most = _most_halvings(words)
    default = min(2, most)

    def build(s: Sketch, p: Mapping[str, Array]) -> None:
        _build(s, p["log2h"], words, 2**most)

    width = words.width
    return Figure(
        "several-heads",
        "One sentence, several heads",
        "Cut into slices, the same numbers ask several different questions at once.",
        TOY_CAPTION if not own else (
            f"Left, one head reading all {width} columns at once. Right, the same numbers cut into "
            "h slices, each with its own softmax. An even row is a query whose scores in that "
            "slice are all equal. In the single head the opinions of the slices are added before "
            "the softmax."
        ),
        (WIDTH, HIGH),
        (
            Slider.range("log2h", "heads", 0, most, 1, default, show=doubling(0, most),
                         help="number of slices; each is as wide as the columns allow"),
        ),
        build,
        made='figure("several-heads")' if not own else f"several_heads({called(source)})",
        panels=((0.0, FIELD - 10), (FIELD - 10, WIDTH)),
        options=f" --data {shlex.quote(source)}" if source else "",
    )  # fmt: skip


def _most_halvings(words: Sentence) -> int:
    if len(words.tokens) > MOST_TOKENS:
        raise DiagramError(
            Fault(
                "bad-data",
                f"at most {MOST_TOKENS} tokens can be shown in eight grids",
                path="tokens",
                found=str(len(words.tokens)),
                hint="cut the sentence, or use who-attends",
            )
        )
    most = 0
    while most < 3 and words.width % 2 ** (most + 1) == 0:
        most += 1
    if most == 0:
        raise DiagramError(
            Fault(
                "bad-data",
                "the columns of the projections cannot be cut into equal halves",
                path="w_q",
                found=str(words.width),
                expected="an even number of columns",
            )
        )
    return most


def _build(s: Sketch, log2h: Array, words: Sentence, heads: int) -> None:
    n, width = len(words.tokens), words.width
    q, k = words.queries_and_keys(s.tape)
    single = softmax(matmul(q, k.T) / math.sqrt(width))
    h = 2**log2h
    columns = width / h
    owner = (s.tape.iota(width) * h / width).floor()
    slices = s.tape.iota(heads)
    mask = owner.reshape(1, width).equals(slices.reshape(heads, 1))
    # Heads beyond h own no column: their scores are 0 and they are not shown.
    sliced = q.reshape(1, n, width) * mask.reshape(heads, 1, width)
    scores = matmul(sliced, k.T.reshape(1, width, n))
    used = slices < h
    weights = softmax(scores / columns.sqrt()) * used.reshape(heads, 1, 1)
    s.output("A1", single, "one head", rows=words.tokens, columns=words.tokens)
    s.output("A", weights, "slice by slice", columns=words.tokens,
             rows=[f"slice {i + 1}, {t}" for i in range(heads) for t in words.tokens])  # fmt: skip
    s.output("h", h, "heads")
    s.output("dk", columns, "columns of a slice")
    rule = _rules(s, weights, words)
    parts: list[Part] = [
        Pick(log2h, tuple("1 head" if e == 0 else f"{2**e} heads" for e in range(4)))
    ]
    for i in range(heads):
        parts.append(When(used[i], (f"; slice {i + 1}: ", *rule(i, True))))
    s.say(*parts, ".")
    _draw(s, log2h, single, weights, words, heads, used, columns)
    _captions(s, log2h, heads, used, rule)


Rule = Callable[[int, bool], tuple[Part, ...]]


def _rules(s: Sketch, weights: Array, words: Sentence) -> Rule:
    """What the sharpest rows of each slice do, in words: found from the weights, not written."""
    heads, n, _ = weights.shape
    tops = weights.max()  # [heads, n]
    top = tops.max()  # [heads]
    same = s.tape.const(words.same_word())
    own = (weights * same).sum().min()  # least weight on equal words of any row
    copies = own > 0.5
    sharp = tops > top.reshape(heads, 1) - 1e-9  # the sharpest rows
    even = top - 1 / n < 1e-9
    targets = maximum(
        (weights > top.reshape(heads, 1, 1) - 1e-9) * sharp.reshape(heads, n, 1),
        s.tape.zeros(heads, n, n),
    ).max(axis=1)
    # One word at two places is one name: only different names make "each".
    first = s.tape.const([float(words.tokens.index(t) == i) for i, t in enumerate(words.tokens)])
    several = (targets * first).sum() > 1
    many = (sharp * first).sum() > 1
    ordinary = (1 - copies) * (1 - even)
    others = (weights > top.reshape(heads, 1, 1) - 1e-9) * sharp.reshape(heads, n, 1) * (1 - same)
    itself = others.reshape(heads, -1).sum() < 0.5  # what is sharpest is a word on itself

    def rule(i: int, long: bool) -> tuple[Part, ...]:
        names = words.tokens if long else tuple(short(t, LONG) for t in words.tokens)
        last = " and " if long else ", "
        return (
            When(even[i], ("all look everywhere evenly" if long else "even",)),
            When(copies[i] * (1 - even[i]),
                 ("each word looks at its own copy" if long else "the same word",)),
            When(ordinary[i], (
                Names(sharp[i], names, last), " ",
                *((When(many[i], ("look at ",)), When(1 - many[i], ("looks at ",)))
                  if long else ("→ ",)),
                When(1 - itself[i], (Names(targets[i], names, last),)),
                When(itself[i] * many[i], ("themselves",)),
                When(itself[i] * (1 - many[i]), ("itself",)),
                *((" (", Num(top[i], 2), When(several[i] * (1 - itself[i]), (" each",)), ")")
                  if long else ()),
            )),
        )  # fmt: skip

    return rule


def _place(log2h: Array, heads: int, s: Sketch) -> tuple[Array, Array, Array]:
    """Left and top of each grid, and the side of all: two large, four in a row, or two rows."""
    i = s.tape.iota(heads)
    big = log2h <= 1
    two_rows = log2h > 2
    side = where(big, SIDE, SMALL)
    column = where(two_rows, i - (i / 4).floor() * 4, i)
    step = side + GAP + where(big, 30.0, 0.0)
    left = FIELD + column * step
    row = where(two_rows, (i / 4).floor(), 0.0)
    top = TOP + row * 186.0
    return left, top, side


def _draw(
    s: Sketch, log2h: Array, single: Array, weights: Array, words: Sentence, heads: int,
    used: Array, columns: Array,
) -> None:  # fmt: skip
    n, width = len(words.tokens), words.width
    cell = SIDE / n
    size = min(15.0, cell * 0.62)
    shown = [short(t, 10) for t in words.tokens]
    top = TOP
    s.text(LEFT, 22, f"One head reads all {width} columns", size=17, strong=True)
    counts = tuple("The same, as a single slice" if h == 1 else f"The same in {h} slices"
                   for h in (2**e for e in range(4)))  # fmt: skip
    s.text(FIELD, 22, (Pick(log2h, counts),), size=17, strong=True)
    heat(s, single, LEFT, top, cell)
    s.text(LEFT - 9, [top + cell * (i + 0.5) + size * 0.34 for i in range(n)], shown, size=size,
           anchor="end")  # fmt: skip
    s.turned_text([LEFT + cell * (j + 0.5) + 4 for j in range(n)],
                  [top + SIDE + 10.0] * n, -45.0, shown, size=size, anchor="end")  # fmt: skip
    left, tops, side = _place(log2h, heads, s)
    s.rect(left - 1, tops - 1, side + 1, side + 1, rx=3, fill="paper", stroke="grid",
           stroke_width=1, opacity=used)  # fmt: skip
    xs, ys = ([cell * at for _ in range(n) for at in range(n)],
              [cell * at for at in range(n) for _ in range(n)])  # fmt: skip
    for i in range(heads):
        s.rect(xs, ys, cell - 1.5, cell - 1.5, rx=2, fill=Ramp(weights[i].flat()),
               place=Pose(left[i], tops[i], side / SIDE, used[i]))  # fmt: skip
    first = s.tape.iota(heads) * columns + 1
    s.text(
        left, tops - 9,
        ("columns ", Num(first, 0), When(columns > 1, ("–", Num(first + columns - 1, 0)))),
        size=14, strong=True, opacity=used,
    )  # fmt: skip
    # Under the left grid, so that the second row of slices has the full width to the right.
    s.text(LEFT, HIGH - 48, "attention weight, the same scale always", size=13, fill="soft")
    legend(s, LEFT, HIGH - 40, title="")


def _captions(s: Sketch, log2h: Array, heads: int, used: Array, rule: Rule) -> None:
    left, tops, side = _place(log2h, heads, s)
    for i in range(heads):
        s.text(left[i], tops[i] + side + 18, rule(i, False), size=14, fill="soft",
               opacity=used[i])  # fmt: skip
