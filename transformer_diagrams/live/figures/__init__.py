"""The seven figures by id; each module is imported when its figure is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from transformer_diagrams.errors import did_you_mean
from transformer_diagrams.options import ask_error

if TYPE_CHECKING:
    from transformer_diagrams.live.model import Figure

# id -> module and function
CATALOG = {
    "who-attends": ("who_attends", "who_attends"),
    "why-sqrt-dk": ("why_sqrt_dk", "why_sqrt_dk"),
    "several-heads": ("several_heads", "several_heads"),
    "where-parameters-go": ("parameters", "where_parameters_go"),
    "clock-hands": ("clock_hands", "clock_hands"),
    "cost-matrix": ("cost_matrix", "cost_matrix"),
    "l1-and-giou": ("l1_and_giou", "l1_and_giou"),
}
IDS = tuple(CATALOG)


def get(id: str) -> Figure:
    """A figure by id.

    :raises AskError: for an unknown one, with the nearest.
    """
    if id not in CATALOG:
        raise ask_error(
            f"there is no live figure '{id}'", did_you_mean(id, IDS, what="figure"),
            code="unknown-figure", found=id,
        )  # fmt: skip
    module, name = CATALOG[id]
    figure: Figure = getattr(import_module(f"{__name__}.{module}"), name)()
    return figure
