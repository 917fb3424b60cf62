"""Good values near a bad one, for hints."""

from __future__ import annotations


def nearest_multiples(n: int, d: int) -> tuple[int, int]:
    """The multiples of ``d`` at or below and at or above ``n``.

    >>> nearest_multiples(100, 8)
    (96, 104)
    """
    low = n - n % d
    return low, low if low == n else low + d


def nearest_divisors(n: int, of: int) -> tuple[int | None, int | None]:
    """The divisors of ``of`` at or below and at or above ``n``; None where there is none.

    >>> nearest_divisors(7, 512)
    (4, 8)
    """
    if of < 1:
        return None, None
    below: int | None = None
    above: int | None = None
    low = 1
    # Both divisors of a pair are seen while the lesser one runs to the root.
    while low * low <= of and low <= 1_000_000:
        if of % low == 0:
            for divisor in (low, of // low):
                if divisor <= n and (below is None or divisor > below):
                    below = divisor
                if divisor >= n and (above is None or divisor < above):
                    above = divisor
        low += 1
    return below, above
