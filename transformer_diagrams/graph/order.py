"""Sources before their readers, else as written."""

from __future__ import annotations

import heapq
from collections.abc import Iterable


def sources_first(
    count: int, wires: Iterable[tuple[int, int]], *, whole: bool = False
) -> tuple[list[int], list[int]]:
    """(the numbers below ``count`` that can be put in order, how many sources each still lacks).

    ``wires`` are (source, reader). With ``whole``, where they go round in a circle the written
    order decides, so that none is left.

    >>> sources_first(3, [(2, 0)])
    ([1, 2, 0], [0, 0, 0])
    >>> sources_first(3, [(0, 1), (1, 0)])
    ([2], [1, 1, 0])
    >>> sources_first(3, [(0, 1), (1, 0)], whole=True)[0]
    [2, 0, 1]
    """
    missing = [0] * count
    readers: list[list[int]] = [[] for _ in range(count)]
    for source, reader in dict.fromkeys(wires):
        missing[reader] += 1
        readers[source].append(reader)
    ready = [at for at in range(count) if not missing[at]]
    left = dict.fromkeys(range(count))
    order = []
    while ready or (whole and left):
        at = heapq.heappop(ready) if ready else next(iter(left))
        if at not in left:
            continue
        del left[at]
        order.append(at)
        for reader in readers[at]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, reader)
    return order, missing
