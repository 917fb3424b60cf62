"""KV cache: the numbers that one token leaves behind for later ones.

Counted at the blocks marked as caches, so the count follows the kind of attention: grouped
heads, a compressed vector, an extra indexer key, or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from transformer_diagrams.count.amount import Amount, Evaluator
from transformer_diagrams.count.tally import ZERO, Tally
from transformer_diagrams.dims import Dim

DEFINITIONS = {
    "per_token": "elements (numbers, not bytes) kept for one token, summed over all layers",
    "per_layer": "elements kept for one token in one layer with a cache; null when layers differ",
    "layers": "each kind of layer with a cache: elements for one token, and how many there are",
}


@dataclass(frozen=True, slots=True)
class Layer:
    """One kind of caching layer: ``path`` names it, ``times`` says how many there are."""

    path: str
    elements: Amount
    times: Amount


@dataclass(frozen=True, slots=True)
class Cache:
    """``per_layer`` is None when the layers differ; 0 when nothing is cached."""

    per_token: Amount
    per_layer: Amount | None
    layers: tuple[Layer, ...]


def count_cache(tally: Tally, evaluate: Evaluator) -> Cache:
    """Cached elements per token, by layer and in all."""
    layers: dict[tuple[str, Dim], Dim] = {}
    total = ZERO
    for cached in tally.caches:
        total = total + cached.elements * cached.times
        key = (cached.layer, cached.times)
        layers[key] = layers.get(key, ZERO) + cached.elements
    found = tuple(
        Layer(path, evaluate(elements), evaluate(times))
        for (path, times), elements in layers.items()
    )
    kinds = dict.fromkeys(layer.elements.exact for layer in found)
    per_layer = found[0].elements if len(kinds) == 1 else None
    return Cache(evaluate(total), per_layer if found else evaluate(ZERO), found)
