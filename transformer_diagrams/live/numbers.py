"""Numbers as text, the same in Python and in the page's runtime."""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"


def coordinate(value: float) -> str:
    """Two decimals, rounded half up, printed shortest.

    >>> coordinate(1.0), coordinate(0.125), coordinate(-0.001)
    ('1', '0.13', '0')
    """
    rounded = math.floor(100 * value + 0.5) / 100
    return str(int(rounded)) if rounded == int(rounded) else repr(rounded)


def fixed(value: float, decimals: int) -> str:
    """A fixed number of decimals, rounded half up, thousands apart, never "-0.00".

    >>> fixed(0.125, 2), fixed(-0.001, 2), fixed(62984192, 0)
    ('0.13', '0.00', '62,984,192')
    """
    power = 10.0**decimals
    rounded = math.floor(value * power + 0.5) / power
    text = f"{abs(rounded):,.{decimals}f}"
    return MINUS + text if rounded < 0 else text
