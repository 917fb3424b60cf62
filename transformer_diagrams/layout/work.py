"""The state of one group's layout: each pass reads what the ones before left and adds its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from transformer_diagrams.graph.ir import BORDER, Group
from transformer_diagrams.layout.layers import Layers, Segment, is_wide
from transformer_diagrams.layout.measure import Context, Sized
from transformer_diagrams.layout.placed import Note, Placed, Spot

Sides = dict[tuple[str, int], str]
Place = Callable[[Group, Context, Sides, bool], Placed]

NARROW = 4.0  # half width of a passing line's cell
FOLD_BEYOND = 16.0  # a frame may grow this much for its title before the title is folded
PLAIN = ("a", "b")  # names of operands that tell no more than their places
PORT_GAP = 7.0  # least distance of two ports of a box
PORT_EDGE = 5.0  # least distance of a port from its box's corner


@dataclass
class Work:
    """One group on its way, in flow coordinates (u across, v along)."""

    group: Group
    ctx: Context
    sides: Sides
    nested: bool
    layers: Layers = field(default_factory=Layers)
    inside: dict[int, Placed] = field(default_factory=dict)
    sized: dict[int, Sized] = field(default_factory=dict)
    du: dict[int, float] = field(default_factory=dict)  # by child
    dv: dict[int, float] = field(default_factory=dict)
    head_off: dict[tuple[int, int], float] = field(default_factory=dict)
    tail_off: dict[tuple[int, int], float] = field(default_factory=dict)
    labels: dict[int, Note] = field(default_factory=dict)  # by net
    ends: dict[int, Note] = field(default_factory=dict)  # words at an edge's end, by edge
    remarks: list[tuple[int, Note]] = field(default_factory=list)  # (cell, note), u from the cell
    deep: dict[int, float] = field(default_factory=dict)  # by child: what its remark needs along v
    title: str = ""  # as it is set: perhaps in two lines
    bottom: list[float] = field(default_factory=list)  # v of each rank's lower side
    top: list[float] = field(default_factory=list)
    out: Placed = field(default_factory=Placed)
    track: dict[tuple[int, int], float] = field(default_factory=dict)  # (rank, net) -> v
    flank_u: dict[str, float] = field(default_factory=dict)  # the borders, by side
    trunk_u: dict[int, float] = field(default_factory=dict)  # by input: where many read it
    slots: dict[int, float] = field(default_factory=dict)  # at a circle's side: by dummy, or lane
    straight_in: set[int] = field(default_factory=set)  # dummies reached straight from a flank
    flank_rank: dict[int, int] = field(default_factory=dict)  # edge to a flank -> its channel
    spot_of: dict[int, Spot] = field(default_factory=dict)
    named: set[tuple[str, int, int]] = field(default_factory=set)  # in | out, child, port
    roomy: set[int] = field(default_factory=set)  # children whose outputs carry different texts
    wordy: set[int] = field(default_factory=set)  # children with words between their inputs

    def front(self, child: int) -> float:
        """Extent across the flow of a closed box's front sheet."""
        size = self.sized[child]
        return size.height if self.ctx.across else size.width

    def tail_cell(self, child: int, port: int) -> int | None:
        if child == BORDER:
            return self.layers.in_cell.get(port)
        wide = is_wide(self.group.children[child])
        return self.layers.cell_of[(child, port if wide else 0)]

    def head_cell(self, child: int, port: int) -> int:
        wide = is_wide(self.group.children[child])
        return self.layers.cell_of[(child, port if wide else 0)]

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

    def borders(self) -> tuple[float, float]:
        cells = self.layers.cells
        return (
            min((c.u - c.left for c in cells), default=0.0),
            max((c.u + c.right for c in cells), default=0.0),
        )

    def middle(self, level: int) -> float:
        return (self.bottom[level] + self.top[level]) / 2

    def tail_v(self, child: int) -> float:
        """v where a child's outputs leave (behind its sheets)."""
        spot = self.spot_of[child]
        stacked = self.group.children[child].stack and self.ctx.direction != "down"
        return spot.v + spot.dv + (2 * self.ctx.sizes.stack_offset if stacked else 0.0)

    def head_v(self, child: int) -> float:
        spot = self.spot_of[child]
        stacked = self.group.children[child].stack and self.ctx.direction == "down"
        return spot.v - (2 * self.ctx.sizes.stack_offset if stacked else 0.0)
