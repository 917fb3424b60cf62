"""Live figures: move a slider and the figure recomputes, in a page, a notebook or a file.

>>> from transformer_diagrams.live import figure
>>> figure("who-attends").summary(query="it")
'“it” attends most to cat (0.776); entropy 0.92 of at most 2.08 nats.'

Nothing is imported before it is asked for; numbers need the `live` extra (NumPy).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer_diagrams.live.figures import IDS
    from transformer_diagrams.live.figures import get as figure
    from transformer_diagrams.live.figures.parameters import Role, figure_of_roles
    from transformer_diagrams.live.figures.sentence import read_sentence, sentence
    from transformer_diagrams.live.figures.several_heads import several_heads
    from transformer_diagrams.live.figures.spec_roles import parameters_of
    from transformer_diagrams.live.figures.who_attends import who_attends
    from transformer_diagrams.live.model import Figure
    from transformer_diagrams.live.pages import page
    from transformer_diagrams.live.sketch import Sketch
    from transformer_diagrams.live.slider import Slider

__all__ = [
    "IDS",
    "Figure",
    "Role",
    "Sketch",
    "Slider",
    "figure",
    "figure_of_roles",
    "page",
    "parameters_of",
    "read_sentence",
    "sentence",
    "several_heads",
    "who_attends",
]

_PLACES = {
    "Figure": ("model", "Figure"),
    "IDS": ("figures", "IDS"),
    "Role": ("figures.parameters", "Role"),
    "Sketch": ("sketch", "Sketch"),
    "Slider": ("slider", "Slider"),
    "figure": ("figures", "get"),
    "figure_of_roles": ("figures.parameters", "figure_of_roles"),
    "page": ("pages", "page"),
    "parameters_of": ("figures.spec_roles", "parameters_of"),
    "read_sentence": ("figures.sentence", "read_sentence"),
    "sentence": ("figures.sentence", "sentence"),
    "several_heads": ("figures.several_heads", "several_heads"),
    "who_attends": ("figures.who_attends", "who_attends"),
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    module, inner = _PLACES[name]
    return getattr(import_module(f"{__name__}.{module}"), inner)
