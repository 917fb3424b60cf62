"""The style roles: what a part is, by which a theme chooses its look.

One row a role. The language, the ops, the themes and the legend all read this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class RoleRow(NamedTuple):
    """What a role dresses, and its words in a legend ("": a legend does not show it)."""

    meaning: str
    legend: str


ROLES: Final[Mapping[str, RoleRow]] = MappingProxyType(
    {
        "norm": RoleRow("normalisation of vectors", "normalisation"),
        "attention": RoleRow("attention over positions", "attention"),
        "ffn": RoleRow("position-wise feed-forward networks and experts", "feed-forward"),
        "embedding": RoleRow("tables of vectors looked up by token", "embedding"),
        "projection": RoleRow("learned linear maps", "learned projection"),
        "position": RoleRow(
            "what tells positions apart: tables, sinusoids, rotation, bias", "position"
        ),
        "activation": RoleRow("non-linearities: softmax, SiLU, gates", "activation"),
        "cache": RoleRow("what inference keeps of earlier tokens", "cache"),
        "loss": RoleRow("ends of training", "loss"),
        "data": RoleRow("given tensors that are not learned", "data"),
        "parameter": RoleRow(
            "learned tensors that stand by themselves, such as queries", "learned parameter"
        ),
        "mask": RoleRow("who may see whom", "mask"),
        "topk": RoleRow("selection: routers, the k largest", "top-k selection"),
        "plain": RoleRow(
            "arithmetic without weights: products, sums, reshapes", "operation without weights"
        ),
        "output": RoleRow("what comes out of a figure", ""),
        "container": RoleRow("frames around other blocks", ""),
    }
)
