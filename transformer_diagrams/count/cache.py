"""The cache: what inference keeps for later tokens, counted at the blocks marked as caches.

So the count follows the kind of attention: grouped heads, a compressed vector, an extra indexer
key, or nothing. A window limits it: a mask that lets no later position see more than the last w
is found by following what is cached to the scores. What is kept of a source other than the text
is kept once, and a state of a fixed size does not grow at all.
"""

from __future__ import annotations

from transformer_diagrams.count.amount import Amount, Amounts
from transformer_diagrams.count.tally import ZERO, Cached, Tally
from transformer_diagrams.dims import Dim, minimum
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.lengths import Lengths
from transformer_diagrams.records import dataclass

DEFINITIONS = {
    "per_token": "elements (numbers, not bytes) kept for one token of the text, summed over all "
    "layers",
    "per_layer": "elements kept for one token in one layer with a cache; null when layers differ",
    "growth": "those of per_token that stay: without layers that see only a window",
    "capped": "the most that layers with a window keep: per token, times the window",
    "per_source_token": "elements kept for one position of a source beside the text, as by "
    "cross-attention: once, however long the text grows",
    "fixed": "elements of states of a fixed size, of recurrences and convolutions",
    "total": "all elements kept at this length: the text so far (of a window, no more than it "
    "holds), sources, states",
    "layers": "each kind of layer with a cache: what one keeps, and how many there are",
}


@dataclass(frozen=True, slots=True)
class Layer:
    """One kind of caching layer: ``path`` names it, ``times`` says how many there are.

    ``elements`` are of one token, ``total`` of all that one such layer keeps; ``window`` is None
    where nothing limits it.
    """

    path: str
    elements: Amount
    per_source_token: Amount
    fixed: Amount
    window: Amount | None
    total: Amount
    times: Amount


@dataclass(frozen=True, slots=True)
class Cache:
    """``per_layer`` is None when the layers differ; 0 when nothing is cached. ``length`` is how
    many positions of the text ``total`` is for; None where caches are of several lengths."""

    per_token: Amount
    per_layer: Amount | None
    growth: Amount
    capped: Amount
    per_source_token: Amount
    fixed: Amount
    total: Amount
    length: Amount | None
    layers: tuple[Layer, ...]


@dataclass(slots=True)
class _Sum:
    text: Dim = ZERO
    source: Dim = ZERO
    fixed: Dim = ZERO
    total: Dim = ZERO

    def add(self, kind: str, elements: Dim, kept: Dim) -> None:
        """``elements`` of each of ``kept`` positions."""
        every = elements * kept
        self.total = self.total + every
        if kind == "text":
            self.text = self.text + elements
        elif kind == "source":
            self.source = self.source + elements
        else:
            self.fixed = self.fixed + every


def kind_of(cached: Cached, lengths: Lengths) -> str:
    """`text`, `source` or `fixed`: what the size of a cache goes with."""
    if cached.new is None or not lengths.known(cached.new):
        return "fixed"
    names = lengths.names(cached.new)
    if not lengths.every or names & lengths.text or (not names and cached.kept.free):
        return "text"
    return "source"


def count_cache(frame: Frame, tally: Tally, evaluate: Amounts) -> Cache:
    """Cached elements, by layer and in all."""
    lengths = Lengths.of(frame)
    layers: dict[tuple[str, Dim, Dim | None], _Sum] = {}
    whole, growth, capped = _Sum(), ZERO, ZERO
    texts = dict.fromkeys(c.kept for c in tally.caches if kind_of(c, lengths) == "text")
    for cached in tally.caches:
        layer = layers.setdefault((cached.layer, cached.times, cached.reach), _Sum())
        kind, kept = kind_of(cached, lengths), cached.kept
        if kind == "fixed":
            pass
        elif cached.reach is not None:
            capped = capped + cached.elements * cached.times * cached.reach
            kept = minimum(kept, cached.reach)
        elif kind == "text":
            growth = growth + cached.elements * cached.times
        layer.add(kind, cached.elements, kept)
        whole.add(kind, cached.elements * cached.times, kept)
    found = tuple(
        Layer(
            path,
            evaluate(part.text),
            evaluate(part.source),
            evaluate(part.fixed),
            None if reach is None else evaluate(reach),
            evaluate(part.total),
            evaluate(times),
        )
        for (path, times, reach), part in layers.items()
    )
    kinds = dict.fromkeys(layer.elements.exact for layer in found if layer.elements.exact != ZERO)
    same = next((a.elements for a in found if a.elements.exact in kinds), evaluate(ZERO))
    return Cache(
        evaluate(whole.text),
        same if len(kinds) < 2 else None,
        evaluate(growth),
        evaluate(capped),
        evaluate(whole.source),
        evaluate(whole.fixed),
        evaluate(whole.total),
        evaluate(next(iter(texts))) if len(texts) == 1 else None,
        found,
    )
