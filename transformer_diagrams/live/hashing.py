"""Random numbers that both languages draw alike: a counter is hashed, nothing is stored.

``mix`` is the 32-bit finaliser of MurmurHash3 (Appleby, public domain); two hashes give one
standard normal by the Box-Muller transform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GOLDEN = 0x9E3779B9
FIRST = 0x85EBCA6B
SECOND = 0xC2B2AE35


def mix(counter: NDArray[np.uint32], seed: int) -> NDArray[np.uint32]:
    """The hash of each counter; 32-bit, wrapping."""
    import numpy as np

    x = counter * np.uint32(GOLDEN) + np.uint32(seed)
    x ^= x >> np.uint32(16)
    x *= np.uint32(FIRST)
    x ^= x >> np.uint32(13)
    x *= np.uint32(SECOND)
    x ^= x >> np.uint32(16)
    return x


def normals(start: int, shape: tuple[int, ...], seed: int) -> NDArray[np.float64]:
    """z(start), z(start + 1), ...: ``z(i) = sqrt(-2 ln u(2i)) cos(2 pi u(2i + 1))``."""
    import numpy as np

    count = int(np.prod(shape))
    even = np.arange(2 * start, 2 * (start + count), 2, dtype=np.uint32)

    def uniform(counter: NDArray[np.uint32]) -> Any:
        return (mix(counter, seed).astype(np.float64) + 0.5) / 4294967296.0

    radius = np.sqrt(-2.0 * np.log(uniform(even)))
    result: NDArray[np.float64] = radius * np.cos(2 * np.pi * uniform(even + np.uint32(1)))
    return result.reshape(shape)
