"""Everything that is read of one architecture."""

from __future__ import annotations

from collections.abc import Mapping

from transformer_diagrams.diff.attention import read_attention
from transformer_diagrams.diff.ffn import read_ffn
from transformer_diagrams.diff.flat import Flat, Leaf
from transformer_diagrams.diff.stream import Stream
from transformer_diagrams.diff.traits import Reading, Submodule, Trait
from transformer_diagrams.graph.ir import Graph
from transformer_diagrams.records import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """The traits of the whole, the sites with theirs, and the parts that no trait speaks of."""

    flat: Flat
    traits: Mapping[str, Trait]
    sites: tuple[Submodule, ...]
    covered: frozenset[int]

    def stream(self) -> list[Leaf]:
        """The parts outside of all sites."""
        taken = {n for site in self.sites for n in site.parts}
        return [part for part in self.flat.parts if part.index not in taken]


def read(graph: Graph, numbers: Mapping[str, int]) -> Profile:
    """Read a graph whose `use` blocks are all opened; ``numbers`` are the sizes known."""
    reading = Reading(Flat(graph), numbers)
    attention = read_attention(reading)
    networks = read_ffn(reading, [n for site in attention for n in site.parts])
    sites = sorted((*attention, *networks), key=lambda site: site.parts[0] if site.parts else 0)
    stream = Stream(reading, sites)
    traits = stream.traits()
    return Profile(reading.flat, traits, tuple(sites), frozenset(stream.covered))
