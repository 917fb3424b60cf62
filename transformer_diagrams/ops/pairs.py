"""Which pairs of a target and a source position a mask leaves, and how many they are."""

from __future__ import annotations

from dataclasses import replace

from transformer_diagrams.dims import Dim, minimum
from transformer_diagrams.records import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """What a mask leaves of [.., target, columns] scores. Targets are the last of the sources.

    columns  size of the last axis of the scores: the sources, or those picked of them
    causal   a target sees no later source
    window   with it, only the last that many sources are seen
    chunk    sources and targets lie in chunks of that many, and only one's own chunk is seen
    picks    at most that many sources are seen, whichever they are
    """

    target: Dim
    source: Dim
    columns: Dim
    causal: bool = False
    window: Dim | None = None
    chunk: Dim | None = None
    picks: Dim | None = None

    @property
    def reach(self) -> Dim | None:
        """How many of the last positions may ever be seen again; None: all of them."""
        return _least(self.window, self.chunk)

    def joined(self, other: Seen) -> Seen:
        """What both leave. Scores of another form than ``self`` are not joined."""
        if (other.target, other.columns) != (self.target, self.columns):
            return self
        return replace(
            self,
            source=self.source if self.picks is None else other.source,
            causal=self.causal or other.causal,
            window=_least(self.window, other.window),
            chunk=_least(self.chunk, other.chunk),
            picks=_least(self.picks, other.picks),
        )

    def pairs(self, *, half: bool) -> Dim:
        """How many pairs are computed, for one head; exact for every length.

        A window, chunks and picks save what they leave out: target i computes min(i, w) of them.
        A mask that is only causal saves with ``half``; without, the whole square is computed.
        """
        limit = _least(self.window, self.picks)
        if not self.causal:
            return self.target * (self.columns if limit is None else minimum(limit, self.columns))
        if limit is None and self.chunk is None and not half:
            return self.target * self.columns
        return self._up_to(self.source, limit) - self._up_to(self.source - self.target, limit)

    def share(self, *, half: bool = False) -> Dim:
        """The share of all pairs that is computed."""
        return self.pairs(half=half) / (self.target * self.columns)

    def _up_to(self, count: Dim, limit: Dim | None) -> Dim:
        """What the first ``count`` positions see: the sum of min(i, limit), in each chunk anew."""
        if self.chunk is None:
            return _sum_of_least(count, limit)
        whole, rest = count // self.chunk, count % self.chunk
        return whole * _sum_of_least(self.chunk, limit) + _sum_of_least(rest, limit)


def _sum_of_least(count: Dim, limit: Dim | None) -> Dim:
    """min(1, limit) + ... + min(count, limit)."""
    most = count if limit is None else minimum(count, limit)
    return most * count - most * (most - 1) / 2


def _least(a: Dim | None, b: Dim | None) -> Dim | None:
    if a is None or b is None:
        return b if a is None else a
    return minimum(a, b)
