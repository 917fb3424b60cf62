"""How close a figure's parts stand: gaps as shares of the theme's, the text as large as it is."""

from __future__ import annotations

from dataclasses import replace

from transformer_diagrams.theme.theme import Theme

DENSITIES = {
    "normal": {},
    "compact": {  # as in the figures of a conference paper
        "pad_x": 0.7,
        "pad_y": 0.7,
        "box_min_width": 0.8,
        "box_height": 0.85,
        "gap_rank": 0.68,
        "gap_column": 0.6,
        "lane_gap": 0.75,
        "frame_pad": 0.65,
        "title_pad_x": 0.75,
        "title_pad_y": 0.75,
        "figure_gap": 0.6,
        "margin": 0.5,
    },
}
"""By name: the lengths of the theme that change, and by what factor."""


def dense(theme: Theme, density: str) -> Theme:
    """The theme with its gaps at a density of ``DENSITIES``."""
    sizes = theme.sizes
    changed = {n: getattr(sizes, n) * share for n, share in DENSITIES[density].items()}
    return replace(theme, sizes=replace(sizes, **changed)) if changed else theme
