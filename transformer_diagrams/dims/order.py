"""Names in the order in which they need each other, and where they do in a circle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def in_order(below: Mapping[str, Iterable[str]]) -> tuple[list[str], list[list[str]]]:
    """The names, each after those ``below`` it, and the circles (``a, b, a``) that prevent that.

    Every circle that there is has a name in one of them.

    >>> in_order({"a": ["b"], "b": ["c"], "c": []})
    (['c', 'b', 'a'], [])
    >>> in_order({"a": ["b"], "b": ["a"]})[1]
    [['a', 'b', 'a']]
    """
    done: dict[str, None] = {}
    circles: list[list[str]] = []
    for start in below:
        # The way from the start to here, with what is left to look at at each step.
        trail = {start: iter(below[start])} if start not in done else {}
        while trail:
            here = next(reversed(trail))
            name = next((name for name in trail[here] if name in below and name not in done), None)
            if name is None:
                done[trail.popitem()[0]] = None
            elif name not in trail:
                trail[name] = iter(below[name])
            else:
                names = list(trail)
                circles.append([*names[names.index(name) :], name])
    return list(done), circles
