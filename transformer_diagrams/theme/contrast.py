"""Contrast of two colours, after WCAG 2.1 (relative luminance, success criterion 1.4.3)."""

from __future__ import annotations


def luminance(color: str) -> float:
    """Relative luminance of ``#rrggbb``: 0 black, 1 white."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two ``#rrggbb`` colours, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
