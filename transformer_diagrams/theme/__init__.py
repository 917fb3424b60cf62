"""Themes: the look of a figure as data. `get("paper")` gives one."""

from transformer_diagrams.theme.density import DENSITIES, dense
from transformer_diagrams.theme.theme import (
    NAMES,
    LineStyle,
    RoleStyle,
    Sizes,
    Theme,
    from_data,
    get,
)

__all__ = [
    "DENSITIES", "NAMES", "LineStyle", "RoleStyle", "Sizes", "Theme", "dense", "from_data", "get",
]  # fmt: skip
