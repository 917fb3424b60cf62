"""What the passes over one group hand on: each pass takes one of these values and makes the next.

`Task -> Filled -> Ranked -> Ported -> Worded -> Aligned -> Stacked -> Standing`: every one holds
what is known by then, so that no pass can read what is settled later. None is changed once made;
only the cells of `Ranked.layers`, which are made anew for each group, get their place and reach on
the way. Flow coordinates: u across, v along.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from transformer_diagrams.graph.ir import BORDER, Group
from transformer_diagrams.layout.layers import Layers, Segment
from transformer_diagrams.layout.measure import Context, Sized
from transformer_diagrams.layout.placed import Note, Placed, Spot
from transformer_diagrams.layout.stream import is_wide
from transformer_diagrams.records import dataclass

Sides = dict[tuple[str, int], str]
Offsets = dict[tuple[int, int], float]  # (cell, port) -> u from the cell
Place = Callable[[Group, Context, Sides, bool], Placed]

NARROW = 4.0  # half width of a passing line's cell
FOLD_BEYOND = 16.0  # a frame may grow this much for its title before the title is folded
PORT_GAP = 7.0  # least distance of two ports of a box
PORT_EDGE = 5.0  # least distance of a port from its box's corner
Later = TypeVar("Later", bound="Task")


@dataclass(frozen=True, slots=True)
class Task:
    """One group that is to be laid out; ``place`` in group.py says what each field means."""

    group: Group
    ctx: Context
    sides: Sides
    nested: bool

    def grown(self, later: type[Later], **added: Any) -> Later:
        """This value as a ``later`` one: with what a pass has ``added``."""
        names: tuple[str, ...] = self.__match_args__
        known = {name: getattr(self, name) for name in names}
        return later(**{**known, **added})


@dataclass(frozen=True, slots=True)
class Filled(Task):
    """Children have their sizes: groups are laid out, boxes are measured."""

    inside: dict[int, Placed]  # by child, as all here
    sized: dict[int, Sized]
    du: dict[int, float]
    dv: dict[int, float]
    roomy: set[int]  # children whose outputs carry different texts
    wordy: set[int]  # children with words between their inputs

    def front(self, child: int) -> float:
        """Extent across the flow of a closed box's front sheet."""
        size = self.sized[child]
        return size.height if self.ctx.across else size.width


@dataclass(frozen=True, slots=True)
class Ranked(Filled):
    """Children stand in ranks."""

    layers: Layers

    def tail_cell(self, child: int, port: int) -> int | None:
        if child == BORDER:
            return self.layers.in_cell.get(port)
        wide = is_wide(self.group.children[child])
        return self.layers.cell_of[(child, port if wide else 0)]

    def head_cell(self, child: int, port: int) -> int:
        wide = is_wide(self.group.children[child])
        return self.layers.cell_of[(child, port if wide else 0)]

    def borders(self) -> tuple[float, float]:
        cells = self.layers.cells
        return (
            min((c.u - c.left for c in cells), default=0.0),
            max((c.u + c.right for c in cells), default=0.0),
        )


@dataclass(frozen=True, slots=True)
class Ported(Ranked):
    """Lines know where along a box they leave and enter."""

    head_off: Offsets
    tail_off: Offsets
    named: set[tuple[str, int, int]]  # in | out, child, port: what is out of order

    def columns_of(self, seg: Segment) -> tuple[float, float]:
        cells = self.layers.cells
        return (
            cells[seg.tail].u + self.tail_off.get((seg.tail, seg.tail_port), 0.0),
            cells[seg.head].u + self.head_off.get((seg.head, seg.head_port), 0.0),
        )

    def arrival(self, number: int) -> tuple[int, float]:
        """(cell, u from it) of the last piece of an edge along the flow."""
        path, edge = self.layers.paths[number], self.group.edges[number]
        if number in self.layers.entry_of:
            return self.layers.entry_of[number], 0.0
        return path[-1], self.head_off.get((path[-1], edge.head.port), 0.0)


@dataclass(frozen=True, slots=True)
class Worded(Ported):
    """Texts are chosen and have their room."""

    labels: dict[int, Note]  # by net
    ends: dict[int, Note]  # words at an edge's end, by edge
    remarks: list[tuple[int, Note]]  # (cell, note), u from the cell


@dataclass(frozen=True, slots=True)
class Aligned(Worded):
    """Everything has its place across the flow."""

    title: str  # as it is set: perhaps in two lines
    flanks: Flanks


@dataclass(frozen=True, slots=True)
class Flanks:
    """Where the lines from and to the flanks run."""

    border: dict[str, float]  # u, by side
    trunk: dict[int, float]  # u, by input: where many read it
    straight: set[int]  # dummies reached straight from a flank
    rank: dict[int, int]  # edge to a flank -> its channel
    turns: list[tuple[int, int, float, str]]  # (channel, net, column, side): where one leaves


@dataclass(frozen=True, slots=True)
class Stacked(Aligned):
    """Ranks and tracks have their place along the flow."""

    bottom: list[float]  # v of each rank's lower side
    top: list[float]
    track: dict[tuple[int, int], float]  # (rank, net) -> v

    def middle(self, level: int) -> float:
        return (self.bottom[level] + self.top[level]) / 2


@dataclass(frozen=True, slots=True)
class Standing(Stacked):
    """Boxes stand, and lines know where they meet the side of a circle."""

    spot_of: dict[int, Spot]
    slots: dict[int, float]  # at a circle's side: by dummy, or lane

    def tail_v(self, child: int) -> float:
        """v where a child's outputs leave (behind its sheets)."""
        spot = self.spot_of[child]
        stacked = self.group.children[child].stack and self.ctx.direction != "down"
        return spot.v + spot.dv + (2 * self.ctx.sizes.stack_offset if stacked else 0.0)

    def head_v(self, child: int) -> float:
        spot = self.spot_of[child]
        stacked = self.group.children[child].stack and self.ctx.direction == "down"
        return spot.v - (2 * self.ctx.sizes.stack_offset if stacked else 0.0)
