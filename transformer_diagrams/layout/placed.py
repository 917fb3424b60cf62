"""A group whose inside has been laid out: numbers in its own flow coordinates.

u runs across the flow, v along it; both start at 0 at the group's own corner.
Nothing here is drawn yet, and nothing depends on where the group will stand.
"""

from __future__ import annotations

from dataclasses import field, replace

from transformer_diagrams.layout.score import KINK
from transformer_diagrams.records import dataclass

Point = tuple[float, float]
SAME = 0.01  # points: two places nearer than this are one
KINKED = KINK  # a line steps so far at least, or not at all


@dataclass(frozen=True, slots=True)
class Gate:
    """Where a border port lies: side start | end | low | high, and its u (start, end) or v."""

    side: str
    at: float


@dataclass(slots=True)
class Wire:
    """One edge inside a group: points from its tail to its head, in the group's coordinates."""

    edge: int  # below 0: a line back
    points: list[Point]
    lane: bool = False  # a residual path beside the stack
    tap: bool = False  # starts on another line, not on a box


@dataclass(slots=True)
class Spot:
    """A child's place: the corner of its rectangle and its size in flow coordinates."""

    child: int
    u: float
    v: float
    du: float
    dv: float
    inside: Placed | None = None  # for groups


@dataclass(slots=True)
class Note:
    """A text beside a line or in a frame, as a rectangle in flow coordinates."""

    markup: str
    kind: str  # shape | edge | title | badge | note
    u: float
    v: float
    du: float
    dv: float
    size: float
    weight: str = "regular"
    edge: int = -1
    end: str = ""  # the name of one end of its edge: in | out
    child: int = -1  # the box that it stands beside


@dataclass(slots=True)
class Placed:
    """The inside of a group."""

    width: float = 0.0  # along u
    length: float = 0.0  # along v
    ref: float = 0.0  # u of the main stream
    ins: dict[int, Gate] = field(default_factory=dict)
    outs: dict[int, Gate] = field(default_factory=dict)
    spots: list[Spot] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    trunks: dict[int, list[Wire]] = field(default_factory=dict)  # inputs with several readers
    lane: float | None = None  # u of the residual lane
    spine: frozenset[int] = frozenset()
    cost: float = 0.0  # what the search says of it, and of all in it

    def copied(self) -> Placed:
        """The same placement, of which nothing is shared with this one."""
        wires = {id(wire): replace(wire, points=list(wire.points)) for wire in self.wires}
        return replace(
            self,
            ins=dict(self.ins),
            outs=dict(self.outs),
            spots=[replace(s, inside=s.inside and s.inside.copied()) for s in self.spots],
            wires=list(wires.values()),
            notes=[replace(note) for note in self.notes],
            trunks={port: [wires[id(w)] for w in many] for port, many in self.trunks.items()},
        )

    def shift_u(self, by: float) -> None:
        """Move everything by ``by`` across the flow."""
        self.ref += by
        for gates in (self.ins, self.outs):
            for port, gate in gates.items():
                if gate.side in ("start", "end"):
                    gates[port] = Gate(gate.side, gate.at + by)
        for spot in self.spots:
            spot.u += by
        for wire in self.wires:
            wire.points = [(u + by, v) for u, v in wire.points]
        for note in self.notes:
            note.u += by
        if self.lane is not None:
            self.lane += by

    def lengthen(self, before: float, after: float) -> None:
        """Make room along the flow, before and after the content; lines still reach the borders."""
        old = self.length
        self.length += before + after
        for spot in self.spots:
            spot.v += before
        for note in self.notes:
            note.v += before
        for gates in (self.ins, self.outs):
            for port, gate in gates.items():
                if gate.side in ("low", "high"):
                    gates[port] = Gate(gate.side, gate.at + before)
        for wire in self.wires:
            (u, first), (w, last) = wire.points[0], wire.points[-1]
            wire.points = [(u, v + before) for u, v in wire.points]
            if abs(first) < SAME and not wire.tap:
                wire.points = straightened([(u, 0.0), *wire.points])
            if abs(last - old) < SAME:
                wire.points = straightened([*wire.points, (w, self.length)])

    def move_gate(self, port: int, to: float) -> None:
        """Let an input with several readers enter as near to ``to`` as its trunk reaches.

        Its wires begin at the border and go to the trunk, and along it to where they turn off.
        """
        if port not in self.trunks:
            return
        taps = [wire.points[2][1] for wire in self.trunks[port]]
        at = min(max(to, min(taps)), max(taps))
        nearest = min(taps, key=lambda tap: (abs(tap - at), tap))
        if abs(nearest - at) < KINKED:
            at = nearest
        self.ins[port] = Gate(self.ins[port].side, at)
        for wire in self.trunks[port]:
            wire.points[:2] = [(u, at) for u, _ in wire.points[:2]]

    def move_lane(self, to: float) -> None:
        """Move the residual lane out to ``to`` and widen the group with it."""
        if self.lane is None or to <= self.lane + 0.01:
            return
        old = self.lane
        for wire in self.wires:
            if wire.edge < 0:  # it runs farther out
                wire.points = [(u + to - old if u > old else u, v) for u, v in wire.points]
            elif wire.lane:
                wire.points = [(to if abs(u - old) < 0.01 else u, v) for u, v in wire.points]
        for note in self.notes:
            if note.edge < -1 and note.u > old:  # the words of a line back
                note.u += to - old
        self.width += to - old
        self.lane = to


def straightened(points: list[Point]) -> list[Point]:
    """Without repeats and without points in the middle of a straight run."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < SAME and abs(kept[-1][1] - point[1]) < SAME:
            continue
        if len(kept) >= 2:
            (a, b), (c, d) = kept[-2], kept[-1]
            same_u = abs(a - c) < SAME and abs(c - point[0]) < SAME
            same_v = abs(b - d) < SAME and abs(d - point[1]) < SAME
            if same_u or same_v:
                kept[-1] = point
                continue
        kept.append(point)
    return kept
