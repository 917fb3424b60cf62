"""Circles of names that need each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def cycles(below: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Ways that come back to where they start (``a, b, a``), looked for in the order of ``below``.

    Every circle that there is has a name in one of them.
    """
    done: set[str] = set()
    for start in below:
        # The way from the start to here, with what is left to look at at each step.
        trail = {start: iter(below[start])} if start not in done else {}
        while trail:
            here = next(reversed(trail))
            name = next((name for name in trail[here] if name not in done), None)
            if name is None:
                done.add(trail.popitem()[0])
            elif name not in trail:
                trail[name] = iter(below.get(name, ()))
            else:
                names = list(trail)
                yield [*names[names.index(name) :], name]
