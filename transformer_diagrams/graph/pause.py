"""Pausing the cycle collector while a large tree of frozen values is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """No garbage collection inside: the values made hold no cycles, and looking for them costs
    more than the work itself on a spec of 100,000 blocks."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
