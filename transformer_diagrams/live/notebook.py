"""A figure in a notebook: a frame with the whole live page inside, which survives export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from transformer_diagrams.live.draw import said

if TYPE_CHECKING:
    from transformer_diagrams.live.model import Figure

ROOM = 620  # pixels for heading, controls, words and buttons around a drawing


def frame(figure: Figure) -> str:
    """The figure as an ``iframe`` that loads nothing; where the notebook allows it, it makes
    itself as high as what is in it."""
    from transformer_diagrams.live.pages import page

    high = int(figure.size[1]) + ROOM
    return (
        f'<iframe title="{escape(said(figure.title))}" srcdoc="{escape(page([figure]))}" '
        f'width="100%" height="{high}" data-live loading="lazy" '
        'style="border:0;max-width:1040px">'
        "</iframe>"
    )


def bundle(
    figure: Figure, include: Sequence[str] | None, exclude: Sequence[str] | None
) -> dict[str, Any]:
    """The forms a notebook may choose from: live, picture, words."""
    kinds: dict[str, Callable[[], str]] = {
        "text/plain": lambda: f"{said(figure.title)}. {figure.summary()}",
        "text/html": lambda: frame(figure),
        "image/svg+xml": figure.svg,
    }
    return {
        kind: make()
        for kind, make in kinds.items()
        if kind == "text/plain"
        or ((include is None or kind in include) and kind not in (exclude or ()))
    }
