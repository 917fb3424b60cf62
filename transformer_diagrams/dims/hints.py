"""Good values near a bad one."""

from __future__ import annotations


def nearest_multiples(number: int, of: int) -> tuple[int, int]:
    """The multiples below and above: ``nearest_multiples(100, 8) == (96, 104)``."""
    below = number // of * of
    return below, below + of


def nearest_divisors(number: int, of: int) -> tuple[int, ...]:
    """Divisors of ``of`` around ``number``: ``nearest_divisors(7, 512) == (4, 8)``."""
    if of <= 0 or of > 10**9:
        return ()
    small = [d for d in range(1, int(of**0.5) + 1) if of % d == 0]
    every = sorted({*small, *(of // d for d in small)})
    below = [d for d in every if d < number]
    above = [d for d in every if d > number]
    return (*below[-1:], *above[:1])
