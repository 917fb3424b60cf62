"""Tracks in the channel between two ranks: who turns where, so that no two lines meet needlessly.

Before: the nets of one channel with the columns they leave from and rise into.
After: a track number for each net that turns (0 nearest the lower rank).
"""

from __future__ import annotations

from transformer_diagrams.records import dataclass

NEAR = 6.0  # columns nearer than this count as one
MANY = 160  # nets beyond which only the hard rules hold


@dataclass(frozen=True, slots=True)
class Net:
    """One net in one channel.

    leaves   columns where it comes up from the lower rank (empty: it comes from a flank)
    rises    columns where it goes up to the upper rank (empty: it goes to a flank)
    flank    column of the border it comes from or goes to, or None
    """

    leaves: tuple[float, ...]
    rises: tuple[float, ...]
    flank: float | None = None

    @property
    def low(self) -> float:
        return min(self._all())

    @property
    def high(self) -> float:
        return max(self._all())

    def _all(self) -> list[float]:
        return [*self.leaves, *self.rises, *([self.flank] if self.flank is not None else [])]

    @property
    def turns(self) -> bool:
        """False when it is one straight line."""
        return self.high - self.low > 0.01


def assign_tracks(nets: list[Net]) -> list[int]:
    """A track for each net (-1 for straight ones); tracks count from the lower rank."""
    turning = [i for i, net in enumerate(nets) if net.turns]
    above: dict[int, set[int]] = {i: set() for i in turning}  # i must lie above these

    def reaches(start: int, goal: int) -> bool:
        todo, seen = [start], {start}
        while todo:
            i = todo.pop()
            if i == goal:
                return True
            for j in above[i]:
                if j not in seen:
                    seen.add(j)
                    todo.append(j)
        return False

    pairs = [
        (i, j)
        for n, i in enumerate(turning)
        for j in turning[n + 1 :]
        if nets[i].low < nets[j].high + NEAR and nets[j].low < nets[i].high + NEAR
    ]
    wishes: list[tuple[float, int, int]] = []
    for i, j in pairs:
        over, under = _cost(nets[i], nets[j]), _cost(nets[j], nets[i])
        if over < under:
            wishes.append((under - over, i, j))
        elif under < over:
            wishes.append((over - under, j, i))
        else:  # the shorter one inside
            span_i, span_j = nets[i].high - nets[i].low, nets[j].high - nets[j].low
            wishes.append((0.0, i, j) if span_i >= span_j else (0.0, j, i))
    if len(turning) > MANY:
        wishes = [w for w in wishes if w[0] >= 100]
    for _, i, j in sorted(wishes, key=lambda w: (-w[0], w[1], w[2])):
        if not reaches(j, i):
            above[i].add(j)
    track = [-1] * len(nets)
    done: set[int] = set()
    todo = list(turning)
    while todo:
        for i in todo:
            if above[i] <= done:
                rivals = [j for j in done if _touch(nets[i], nets[j])]
                track[i] = 1 + max((track[j] for j in rivals), default=-1)
                done.add(i)
                todo.remove(i)
                break
        else:  # cannot happen: wishes never close a cycle
            raise AssertionError("tracks wait for each other")
    return track


def _touch(a: Net, b: Net) -> bool:
    return a.low < b.high + NEAR and b.low < a.high + NEAR


def _cost(upper: Net, lower: Net) -> float:
    """What it costs to run ``upper`` above ``lower``: crossings, and overlaps (forbidden)."""
    cost = 0.0
    for column in lower.rises:
        if upper.low - 0.01 < column < upper.high + 0.01:
            cost += 1.0
    for column in upper.leaves:
        if lower.low - 0.01 < column < lower.high + 0.01:
            cost += 1.0
    # the lower one rises, and the upper one leaves, in the same column: they would overlap
    for rise in lower.rises:
        for leave in upper.leaves:
            if abs(rise - leave) < NEAR:
                cost += 1000.0
    return cost
