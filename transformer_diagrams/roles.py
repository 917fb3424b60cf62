"""The style roles: what a part is, by which a theme chooses its look.

One row a role. The language, the ops, the themes and the legend all read this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class Role(NamedTuple):
    """What a role dresses, and its words in a legend ("": a legend does not show it)."""

    meaning: str
    legend: str


ROLES: Final[Mapping[str, Role]] = MappingProxyType(
    {
        "norm": Role("normalisation of vectors", "normalisation"),
        "attention": Role("attention over positions", "attention"),
        "ffn": Role("position-wise feed-forward networks and experts", "feed-forward"),
        "embedding": Role("tables of vectors looked up by token", "embedding"),
        "projection": Role("learned linear maps", "learned projection"),
        "position": Role(
            "what tells positions apart: tables, sinusoids, rotation, bias", "position"
        ),
        "activation": Role("non-linearities: softmax, SiLU, gates", "activation"),
        "cache": Role("what inference keeps of earlier tokens", "cache"),
        "loss": Role("ends of training", "loss"),
        "data": Role("given tensors that are not learned", "data"),
        "parameter": Role(
            "learned tensors that stand by themselves, such as queries", "learned parameter"
        ),
        "mask": Role("who may see whom", "mask"),
        "topk": Role("selection: routers, the k largest", "top-k selection"),
        "plain": Role(
            "arithmetic without weights: products, sums, reshapes", "operation without weights"
        ),
        "output": Role("what comes out of a figure", ""),
        "container": Role("frames around other blocks", ""),
    }
)
