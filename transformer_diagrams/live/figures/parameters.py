"""Where the parameters go: weights by role, for the base Transformer or for any roles at all.

A role's number of weights is a traced formula in the sliders' values. `of_spec` takes these
formulas from a spec; the default figure has the ones of Vaswani et al. (2017).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from transformer_diagrams.live.figures.parts import WIDTH, doubling
from transformer_diagrams.live.model import Figure
from transformer_diagrams.live.sketch import Sketch
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import Array, maximum, stack, where
from transformer_diagrams.live.words import Num, Part, Pick, When
from transformer_diagrams.records import dataclass

VOCABULARY = 37000.0


@dataclass(frozen=True, slots=True)
class Role:
    """A bar: ``name`` among the outputs, the label, a colour name, and the part of the whole
    (``kind``) that it belongs to in the bar at the top."""

    name: str
    label: str
    color: str
    kind: str


Count = Callable[[Mapping[str, Array]], Mapping[str, Array]]
"""Gives the weights of each role, by name, for traced sizes."""

ROLES = (
    Role("embedding", "embedding, used three times", "role-embedding", "embedding"),
    Role("enc_self", "encoder self-attention", "role-attention", "attention"),
    Role("enc_ffn", "encoder feed-forward", "role-ffn", "feed-forward"),
    Role("dec_self", "decoder self-attention", "role-attention", "attention"),
    Role("dec_cross", "decoder cross-attention", "role-attention", "attention"),
    Role("dec_ffn", "decoder feed-forward", "role-ffn", "feed-forward"),
)
KINDS = (
    ("feed-forward", "role-ffn"),
    ("attention", "role-attention"),
    ("embedding", "role-embedding"),
)


def where_parameters_go() -> Figure:
    """The figure for the encoder-decoder with a shared table, d_ff = 4 d and 37,000 words."""
    shown = doubling(6, 12)

    def build(s: Sketch, p: Mapping[str, Array]) -> None:
        d, layers = 2 ** p["log2d"], p["N"]
        square = layers * d * d
        counts = {
            "embedding": VOCABULARY * d,
            "enc_self": 4 * square,
            "enc_ffn": 8 * square,
            "dec_self": 4 * square,
            "dec_cross": 4 * square,
            "dec_ffn": 8 * square,
        }
        total, shares = draw(s, ROLES, KINDS, counts)
        # Biases and norms: encoder layer 4d + 5d + 4d, decoder layer 8d + 5d + 6d.
        s.output("total_with_biases", total + 32 * layers * d, "with biases and layer norms too")
        s.say(
            "d_model ", Pick(p["log2d"] - 6, tuple(shown)), ", ", Num(layers),
            When(layers > 1, (" layers: ",)), When(layers <= 1, (" layer: ",)),
            Num(total / 1e6, 1), " million; feed-forward ", Num(shares["feed-forward"], 1),
            " %, attention ", Num(shares["attention"], 1), " %, embedding ",
            Num(shares["embedding"], 1), " %.",
        )  # fmt: skip

    return Figure(
        "where-parameters-go",
        "Where the parameters go",
        "Of the base model the feed-forward layers hold the largest part, and the word table "
        "nearly a third.",
        "Weights by role, in millions. Inside an encoder block the feed-forward pair always holds "
        "two thirds; inside a decoder block, which has a second attention, one half. The shared "
        "word table is about 30 per cent of the base model and shrinks as the model grows. "
        "Changing the number of heads changes none of these. Biases and layer norms are left out: "
        "they add less than 0.2 per cent to the base model.",
        (WIDTH, height(len(ROLES))),
        (
            Slider.range("log2d", "model width d_{model}", 6, 12, 1, 9, show=shown),
            Slider.range("N", "layers N", 1, 12, 1, 6, help="of the encoder, and of the decoder"),
        ),
        build,
        made='figure("where-parameters-go")',
    )  # fmt: skip


def figure_of_roles(
    title: str,
    claim: str,
    caption: str,
    sliders: Sequence[Slider],
    roles: Sequence[Role],
    count: Count,
    *,
    check: Callable[[Mapping[str, Array]], Sequence[tuple[Array, str]]] | None = None,
    made: str = "",
    options: str = "",
) -> Figure:
    """The figure for any model: ``count`` gives the weights of each role for traced sizes.

    ``check`` gives (failed, words) pairs: conditions that a setting must meet, 1 where it does
    not. A setting that fails is said to be none, and its bars are empty.

    >>> figure = figure_of_roles(
    ...     "Toy", "", "", [Slider.range("d", "width d", 1, 8, 1, 4)],
    ...     [Role("w", "weights", "blue", "w")], lambda sizes: {"w": sizes["d"] ** 2})
    >>> figure.values(d=3)["total"].item()
    9.0
    """

    def build(s: Sketch, p: Mapping[str, Array]) -> None:
        counts = dict(count(p))
        # A part of the whole may gather several roles; it has the colour of the first.
        colors = {role.kind: role.color for role in reversed(roles)}
        kinds = tuple((kind, colors[kind]) for kind in dict.fromkeys(r.kind for r in roles))
        faults = list(check(p)) if check is not None else []
        failed = s.tape.const(0.0)
        for bad, _ in faults:
            failed = maximum(failed, bad)
        counts = {name: where(failed, 0.0, value) for name, value in counts.items()}
        wrong: list[Part] = []
        for bad, words in faults:
            wrong.append(When(bad, (f"{words}. ",)))
        total, shares = draw(s, roles, kinds, counts, failed, tuple(wrong))
        s.output("valid", 1 - failed, "1 when the sizes make a model")
        right: list[Part] = [Num(total, 0), " weights"]
        for index, (kind, _) in enumerate(kinds):
            right += ["; " if index == 0 else ", ", kind, " ", Num(shares[kind], 1), " %"]
        s.say(When(failed, ("not a model: ", *wrong)), When(1 - failed, (*right, ".")))

    return Figure(
        "where-parameters-go", title, claim, caption, (WIDTH, height(len(roles))),
        tuple(sliders), build, made=made, options=options,
    )  # fmt: skip


LABEL, BAR, FULL = 238.0, 250.0, 430.0
TOP, STEP = 166.0, 36.0


def height(rows: int) -> float:
    """Of the drawing, for a number of bars."""
    return TOP + STEP * rows + 6


def draw(
    s: Sketch, roles: Sequence[Role], kinds: Sequence[tuple[str, str]],
    counts: Mapping[str, Array], failed: Array | None = None, wrong: tuple[Part, ...] = (),
) -> tuple[Array, dict[str, Array]]:  # fmt: skip
    """Marks and outputs; gives the total and each kind's share in per cent."""
    total = s.tape.const(0.0)
    for role in roles:
        s.output(role.name, counts[role.name], f"weights: {role.label}")
        total = total + counts[role.name]
    s.output("total", total, "all weights")
    # An impossible setting has no weights: its shares are 0, not 0/0.
    whole = maximum(total, 1.0)
    values = stack([counts[role.name] for role in roles])
    parts = values / whole
    s.output("share", parts, "share of the total", rows=[role.label for role in roles])
    kind_shares = {
        kind: sum_of([parts[i] for i, role in enumerate(roles) if role.kind == kind])
        for kind, _ in kinds
    }
    _whole(s, total, kinds, kind_shares, failed, wrong)
    _bars(s, roles, values, parts)
    return total, {kind: share * 100 for kind, share in kind_shares.items()}


def sum_of(arrays: Sequence[Array]) -> Array:
    """The sum of some arrays of one shape."""
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total


def _whole(
    s: Sketch, total: Array, kinds: Sequence[tuple[str, str]], shares: Mapping[str, Array],
    failed: Array | None, wrong: tuple[Part, ...],
) -> None:  # fmt: skip
    left, wide, top, high = 24.0, WIDTH - 48.0, 62.0, 46.0
    large = total >= 1e9
    text: tuple[Part, ...] = (
        When(large, (Num(total / 1e9, 2), " billion weights")),
        When(1 - large, (Num(total / 1e6, 1), " million weights")),
    )
    if failed is not None:
        text = (When(1 - failed, text), When(failed, ("No such model",)))
    s.text(left, 40, text, size=28, strong=True)
    s.rect(left, top, wide, high, rx=3, fill="shade")
    if failed is not None and wrong:
        s.text(left + 16, top + 29, (When(failed, wrong),), size=15, fill="orange", strong=True)
    start = s.tape.const(0.0)
    starts = []
    for kind, _ in kinds:
        starts.append(start)
        start = start + shares[kind]
    x = left + stack(starts) * wide
    width = stack([shares[kind] for kind, _ in kinds]) * wide
    s.rect(x, top, width, high, fill=[color for _, color in kinds], stroke="line",
           stroke_width=1)  # fmt: skip
    # A name that would not fit into its part is left to the bars below.
    needs = s.tape.const([8.4 * len(kind) + 24 for kind, _ in kinds])
    seen = width >= needs
    names = [kind for kind, _ in kinds]
    s.text(x + width / 2, top + 20, names, size=15, anchor="middle", strong=True, opacity=seen)
    s.text(x + width / 2, top + 38,
           (Num(stack([shares[kind] for kind, _ in kinds]) * 100, 1), " %"), size=14,
           anchor="middle", opacity=seen)  # fmt: skip


def _bars(s: Sketch, roles: Sequence[Role], values: Array, parts: Array) -> None:
    n = len(roles)
    ys = [TOP + STEP * i for i in range(n)]
    s.text(BAR + FULL + 118, TOP - 18, "millions", size=13, anchor="end", fill="soft")
    s.text(BAR + FULL + 216, TOP - 18, "share", size=13, anchor="end", fill="soft")
    s.text(LABEL, [y + 17 for y in ys], [role.label for role in roles], size=15, anchor="end")
    s.rect(BAR, ys, FULL, 24, rx=2, fill="shade")
    s.rect(BAR, ys, parts * FULL, 24, rx=2, fill=[role.color for role in roles], stroke="line",
           stroke_width=1)  # fmt: skip
    s.text(BAR + FULL + 118, [y + 17 for y in ys], Num(values / 1e6, 1), size=15, anchor="end",
           strong=True)  # fmt: skip
    s.text(BAR + FULL + 216, [y + 17 for y in ys], (Num(parts * 100, 1), " %"), size=15,
           anchor="end")  # fmt: skip
