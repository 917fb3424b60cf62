"""Themes: the look of a figure as data. `get("paper")` gives one."""

from transformer_diagrams.theme.density import DENSITIES, dense
from transformer_diagrams.theme.own import is_path
from transformer_diagrams.theme.theme import (
    NAMES,
    Fonts,
    LineStyle,
    RoleStyle,
    Sizes,
    Theme,
    from_data,
    get,
    schema,
)

__all__ = [
    "DENSITIES", "NAMES", "Fonts", "LineStyle", "RoleStyle", "Sizes", "Theme", "dense",
    "from_data", "get", "is_path", "schema",
]  # fmt: skip
