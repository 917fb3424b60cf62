"""One group laid out on its own, innermost first: ranks, order, positions, channels, lanes, frame.

After it the group is one box of known size with known border ports, whatever stands around it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from transformer_diagrams.graph.ir import BORDER, Group, Node
from transformer_diagrams.layout.channels import Net, assign_tracks
from transformer_diagrams.layout.columns import place_columns
from transformer_diagrams.layout.layers import (
    Cell,
    Layers,
    Segment,
    alone_in_rank,
    build_layers,
    flow_of,
    is_wide,
    spine_of,
)
from transformer_diagrams.layout.measure import Context, Sized, size_node
from transformer_diagrams.layout.order import order_cells
from transformer_diagrams.layout.placed import Gate, Note, Placed, Point, Spot, Wire
from transformer_diagrams.layout.position import place_cells
from transformer_diagrams.layout.shapes import net_label
from transformer_diagrams.text import measure

Sides = dict[tuple[str, int], str]
NARROW = 4.0  # half width of a passing line's cell
FOLD_BEYOND = 16.0  # a frame may grow this much for its title before the title is folded
PORT_GAP = 7.0  # least distance of two ports of a box
PORT_EDGE = 5.0  # least distance of a port from its box's corner


def place(group: Group, ctx: Context, sides: Sides | None = None, nested: bool = False) -> Placed:
    """Lay a group out.

    ``sides`` names border ports that must lie on a flank ("low" or "high"); a ``nested`` group
    carries on the stream of the group around it.
    """
    sides = sides or {}
    if group.kind == "columns":
        return place_columns(group, ctx, sides, place)
    return _Layout(group, ctx, sides, nested).run()


@dataclass
class _Layout:
    """The passes over one group, in order; each reads what the ones before left."""

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
    title: str = ""  # as it is set: perhaps in two lines
    bottom: list[float] = field(default_factory=list)  # v of each rank's lower side
    top: list[float] = field(default_factory=list)
    out: Placed = field(default_factory=Placed)

    def run(self) -> Placed:
        self._place_children()
        self.layers = build_layers(self.group, self.sides, self.nested)
        self._fix_ports()
        order_cells(self.layers)
        self._extents()
        self._ports()
        self._label_nets()
        self._positions()
        self._straighten()
        self._fold_title()
        self._channels()
        self._spots()
        self._wires()
        self._lanes()
        self._frame()
        return self.out

    # -- children ---------------------------------------------------------------------------

    def _place_children(self) -> None:
        alone = alone_in_rank(self.group)
        for index, child in enumerate(self.group.children):
            if isinstance(child, Group):
                self.inside[index] = place(
                    child, self.ctx, self._child_sides(index, child), self.group.kind != "root"
                )
            else:
                self.sized[index] = size_node(child, self.ctx, tower=index in alone)
        # the lanes of sibling residuals run in one line
        lanes = {i: p.lane - p.ref for i, p in self.inside.items() if p.lane is not None}
        if lanes:
            reach = max(lanes.values())
            for i in lanes:
                placed = self.inside[i]
                placed.move_lane(placed.ref + reach)
        for index, child in enumerate(self.group.children):
            if index in self.inside:
                placed = self.inside[index]
                sheet = 2 * self.ctx.sizes.stack_offset if child.stack else 0.0
                self.du[index], self.dv[index] = placed.width + sheet, placed.length + sheet
            else:
                size = self.sized[index]
                width, height = size.width + size.sheet, size.height + size.sheet
                self.du[index], self.dv[index] = (
                    (height, width) if self.ctx.across else (width, height)
                )

    def _child_sides(self, index: int, child: Group) -> Sides:
        """A framed child takes a flank port of ours on its own flank; others lean that way."""
        sides: Sides = {}
        for edge in self.group.edges:
            if edge.kind == "residual" or edge.head.child != index or edge.tail.child != BORDER:
                continue
            flank = self.sides.get(("in", edge.tail.port))
            lean = self.sides.get(("lean", edge.tail.port))
            if flank and child.framed:
                sides[("in", edge.head.port)] = flank
            elif flank or lean:
                sides[("lean", edge.head.port)] = flank or lean or ""
        return sides

    # -- extents, ports, labels -------------------------------------------------------------

    def _extents(self) -> None:
        for cell in self.layers.cells:
            if cell.kind == "child":
                if cell.child in self.inside:
                    placed = self.inside[cell.child]
                    cell.left = placed.ref
                    cell.right = self.du[cell.child] - placed.ref
                else:
                    size = self.sized[cell.child]
                    front = size.height if self.ctx.across else size.width
                    cell.left = cell.right = front / 2
                    if self.ctx.across:
                        cell.left += size.sheet
                        cell.right += size.count.height + 2.0 if size.count else 0.0
                    else:
                        cell.right += size.sheet
                        cell.right += size.count.width + 3.0 if size.count else 0.0
            elif cell.kind == "slice":
                cell.left = cell.right = 24.0 if not self.ctx.across else 12.0
            else:
                cell.left = cell.right = NARROW
                self._room_outside(cell)

    def _room_outside(self, cell: Cell) -> None:
        """Border inputs of a frame keep room for the shapes that stand beside them outside."""
        if cell.kind != "in" or not self.group.framed or len(self.group.inputs) < 2:
            return
        shape = self.group.inputs[cell.port].shape
        words = shape.tex(self.ctx.tex) if shape is not None else ""
        if self.ctx.shapes == "none" or not words:
            return
        text = measure(f"${words}$", self.ctx.sizes.font_shape)
        reach = self.ctx.sizes.label_gap + (text.height if self.ctx.across else text.width) + 3.0
        if self.ctx.across:
            cell.left = reach
        else:
            cell.right = reach

    def _fix_ports(self) -> None:
        """The ports of a group that is already laid out stay where they are."""
        for index, placed in self.inside.items():
            cell = self.layers.cell_of[(index, 0)]
            for kind, gates in (("in", placed.ins), ("out", placed.outs)):
                for port, gate in gates.items():
                    if gate.side in ("start", "end"):
                        self.layers.fixed[(cell, kind, port)] = gate.at / max(placed.width, 1.0)

    def _front(self, child: int) -> float:
        """Extent across the flow of a closed box's front sheet."""
        size = self.sized[child]
        return size.height if self.ctx.across else size.width

    def _ports(self) -> None:
        place = {c: i for rank in self.layers.ranks for i, c in enumerate(rank)}
        ins: dict[int, list[Segment]] = defaultdict(list)
        outs: dict[int, list[Segment]] = defaultdict(list)
        for seg in self.layers.segments:
            ins[seg.head].append(seg)
            outs[seg.tail].append(seg)
        flank: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for edge in self.group.edges:
            if edge.tail.child == BORDER and edge.kind != "residual":
                side = self.sides.get(("in", edge.tail.port))
                if side and edge.head.child != BORDER:
                    child = self.group.children[edge.head.child]
                    if isinstance(child, Node) and not is_wide(child):
                        flank[edge.head.child].append((edge.head.port, side))
        for cell in self.layers.cells:
            if cell.kind != "child":
                continue
            if cell.child in self.inside:
                placed = self.inside[cell.child]
                for port, gate in placed.ins.items():
                    if gate.side == "start":
                        self.head_off[(cell.index, port)] = gate.at - placed.ref
                for port, gate in placed.outs.items():
                    if gate.side == "end":
                        self.tail_off[(cell.index, port)] = gate.at - placed.ref
                continue
            node = self.group.children[cell.child]
            assert isinstance(node, Node)
            if node.form == "circle":
                continue
            width = self._front(cell.child)
            arriving = sorted(
                ins[cell.index], key=lambda s: (place[s.tail], s.tail_port, s.head_port)
            )
            ports = [(s.head_port, s.spine) for s in arriving]
            ports = (
                [(p, False) for p, side in flank[cell.child] if side == "low"]
                + ports
                + [(p, False) for p, side in flank[cell.child] if side == "high"]
            )
            for port, off in _spread(ports, width).items():
                self.head_off[(cell.index, port)] = off
            leaving = sorted(outs[cell.index], key=lambda s: (place[s.head], s.head_port))
            ports = list(dict.fromkeys((s.tail_port, False) for s in leaving))
            if len(ports) > 1:
                spined = {s.tail_port for s in leaving if s.spine}
                ports = [(p, p in spined and len(ports) % 2 == 1) for p, _ in ports]
                for port, off in _spread(ports, width).items():
                    self.tail_off[(cell.index, port)] = off

    def _label_nets(self) -> None:
        s = self.ctx.sizes
        for number, (child, port) in enumerate(self.layers.nets):
            markup, kind = net_label(self.group, child, port, self.ctx.shapes, self.ctx.tex)
            if not markup:
                continue
            size = s.font_shape if kind == "shape" else s.font_edge
            text = measure(markup, size)
            du, dv = (text.height, text.width) if self.ctx.across else (text.width, text.height)
            self.labels[number] = Note(markup, kind, 0, 0, du, dv, size)
            cell = self._tail_cell(child, port)
            if cell is None:
                continue
            off = self.tail_off.get((cell, port), 0.0)
            reach = s.label_gap + du
            item = self.layers.cells[cell]
            if self.ctx.across:
                item.left = max(item.left, reach - off + 1)
            else:
                item.right = max(item.right, off + reach + 1)

    def _tail_cell(self, child: int, port: int) -> int | None:
        if child == BORDER:
            return self.layers.in_cell.get(port)
        wide = is_wide(self.group.children[child])
        return self.layers.cell_of[(child, port if wide else 0)]

    # -- across the flow --------------------------------------------------------------------

    def _positions(self) -> None:
        s, cells = self.ctx.sizes, self.layers.cells

        def gap(a: int, b: int) -> float:
            one, two = cells[a], cells[b]
            kinds = {one.kind, two.kind}
            if kinds == {"slice"} and one.child == two.child:
                return 4.0
            if one.beside == b or two.beside == a:
                return s.gap_column * 0.7
            if kinds == {"in"} and self.group.framed:
                return s.gap_column
            if kinds <= {"dummy", "in", "out"}:
                return s.track_gap - 2 * NARROW
            if kinds & {"dummy", "in", "out"}:
                return s.lane_gap - NARROW
            return s.gap_column

        spans: list[tuple[int, int, float]] = []
        for index, child in enumerate(self.group.children):
            if is_wide(child):
                lanes = [self.layers.cell_of[(index, i)] for i in range(len(child.inputs))]
                lanes.sort(key=self.layers.ranks[cells[lanes[0]].rank].index)
                need = self._front(index) - cells[lanes[0]].left - 24.0
                spans.append((lanes[0], lanes[-1], need))
        place_cells(
            self.layers,
            gap,
            lambda seg: self.tail_off.get((seg.tail, seg.tail_port), 0.0),
            lambda seg: self.head_off.get((seg.head, seg.head_port), 0.0),
            spans,
        )

    def _straighten(self) -> None:
        """Move a port along its box where that makes its line straight: first ins, then outs."""
        readers: dict[tuple[int, int], int] = defaultdict(int)
        for seg in self.layers.segments:
            readers[(seg.tail, seg.tail_port)] += 1
        order = sorted(self.layers.segments, key=lambda q: (not q.spine, q.head, q.head_port))
        for seg in order:
            leave, enter = self._columns_of(seg)
            self._move_port(self.head_off, seg.head, seg.head_port, leave - enter)
        for seg in order:
            leave, enter = self._columns_of(seg)
            single = readers[(seg.tail, seg.tail_port)] == 1 and not seg.spine
            if single and seg.net not in self.labels:  # a label's place is settled already
                self._move_port(self.tail_off, seg.tail, seg.tail_port, enter - leave)

    def _move_port(
        self, offsets: dict[tuple[int, int], float], cell: int, port: int, by: float
    ) -> None:
        """Move one port of a closed box by ``by``, if it keeps its order, its room and its gaps."""
        item = self.layers.cells[cell]
        if abs(by) < 0.01 or item.kind != "child" or item.child in self.inside:
            return
        node = self.group.children[item.child]
        if isinstance(node, Node) and node.form != "box":
            return
        old = offsets.get((cell, port), 0.0)
        new = old + by
        others = [o for (c, p), o in offsets.items() if c == cell and p != port]
        room = self._front(item.child) / 2 - PORT_EDGE
        keeps_order = all((o < old) == (o < new) for o in others)
        if abs(new) <= room and keeps_order and all(abs(o - new) >= 12 for o in others):
            offsets[(cell, port)] = new

    # -- along the flow ---------------------------------------------------------------------

    def _columns_of(self, seg: Segment) -> tuple[float, float]:
        cells = self.layers.cells
        return (
            cells[seg.tail].u + self.tail_off.get((seg.tail, seg.tail_port), 0.0),
            cells[seg.head].u + self.head_off.get((seg.head, seg.head_port), 0.0),
        )

    def _channels(self) -> None:
        """Tracks and the v of every rank."""
        s, layers = self.ctx.sizes, self.layers
        left, right = self._borders()
        nets: dict[int, dict[int, tuple[set[float], set[float], float | None]]] = defaultdict(dict)

        def entry(level: int, net: int) -> tuple[set[float], set[float]]:
            got = nets[level].setdefault(net, (set(), set(), None))
            return got[0], got[1]

        for seg in layers.segments:
            leaves, rises = entry(layers.cells[seg.tail].rank, seg.net)
            a, b = self._columns_of(seg)
            leaves.add(a)
            rises.add(b)
        self.flank_rank: dict[int, int] = {}
        for index, edge in flow_of(self.group):
            side_in = self.sides.get(("in", edge.tail.port)) if edge.tail.child == BORDER else None
            side_out = (
                self.sides.get(("out", edge.head.port)) if edge.head.child == BORDER else None
            )
            if side_in and edge.head.child != BORDER:
                child = self.group.children[edge.head.child]
                inner = self.inside.get(edge.head.child)
                if inner is not None and inner.ins[edge.head.port].side != "start":
                    continue
                cell = layers.cell_of[(edge.head.child, edge.head.port if is_wide(child) else 0)]
                level = layers.cells[cell].rank - 1
                number = layers.net_of[(BORDER, edge.tail.port)]
                leaves, rises = entry(level, number)
                rises.add(layers.cells[cell].u + self.head_off.get((cell, edge.head.port), 0.0))
                nets[level][number] = (leaves, rises, left if side_in == "low" else right)
                self.flank_rank[index] = level
            elif side_out and edge.tail.child != BORDER:
                child = self.group.children[edge.tail.child]
                cell = layers.cell_of[(edge.tail.child, edge.tail.port if is_wide(child) else 0)]
                level = layers.cells[cell].rank
                number = layers.net_of[(edge.tail.child, edge.tail.port)]
                leaves, rises = entry(level, number)
                leaves.add(layers.cells[cell].u + self.tail_off.get((cell, edge.tail.port), 0.0))
                nets[level][number] = (leaves, rises, left if side_out == "low" else right)
                self.flank_rank[index] = level

        heights = self._rank_heights()
        label_room: dict[int, list[float]] = defaultdict(list)
        for number, note in self.labels.items():
            label_room[self._label_level(number)].append(note.dv)
        self.track: dict[tuple[int, int], float] = {}  # (level, net) -> v
        at = 0.0
        count = len(layers.ranks)
        for level in range(count):
            self.bottom.append(at)
            at += heights[level]
            self.top.append(at)
            if level == count - 1:
                break
            if not layers.ranks[level] or not layers.ranks[level + 1]:
                continue  # no border ports on that side
            numbers = sorted(nets[level])
            made = [
                Net(
                    tuple(sorted(nets[level][n][0])),
                    tuple(sorted(nets[level][n][1])),
                    nets[level][n][2],
                )
                for n in numbers
            ]
            tracks = assign_tracks(made)
            used = max(tracks, default=-1) + 1
            labelled = label_room[level]
            lead, base = self._channel_base(level, labelled)
            for n, t in zip(numbers, tracks, strict=True):
                if t >= 0:
                    self.track[(level, n)] = at + lead + t * s.track_gap
            approach = s.arrow_length + s.line_corner + 1.0
            if level == count - 2 and self.group.outputs:
                approach = s.line_corner + 2
            need = lead + (used - 1) * s.track_gap + approach if used else 0.0
            at += max(base, need)

    def _label_level(self, net: int) -> int:
        child, port = self.layers.nets[net]
        cell = self._tail_cell(child, port)
        return self.layers.cells[cell].rank if cell is not None else -1

    def _rank_heights(self) -> list[float]:
        heights = [0.0] * len(self.layers.ranks)
        for cell in self.layers.cells:
            if cell.child >= 0:
                heights[cell.rank] = max(heights[cell.rank], self.dv[cell.child])
        return heights

    def _channel_base(self, level: int, labelled: list[float]) -> tuple[float, float]:
        """(distance from the lower rank to the first track, least height) of a channel."""
        s, last = self.ctx.sizes, len(self.layers.ranks) - 2
        tallest = max(labelled, default=0.0)
        lead = 9.0 if not labelled else tallest + 5.0
        base = s.gap_rank if not labelled else max(s.gap_rank, tallest + s.arrow_length + 7.0)
        if level == 0:
            band = self._band()
            if self.group.framed:
                return band + 4.0, band + 4.0
            if self.group.kind == "residual":
                return 11.0, 17.0
            return 4.0, 0.0
        if level == last and self.group.outputs:
            if self.group.framed:
                base = s.frame_pad + 4.0 if not labelled else max(s.frame_pad + 4.0, tallest + 5.0)
                return lead, base
            return lead, 0.0 if not labelled else tallest + 4.0
        return lead, base

    def _fold_title(self) -> None:
        """Two lines for a title that would else make its frame wider than its content."""
        self.title = self.group.title
        if not self.group.framed or not self.title or self.ctx.across:
            return
        s = self.ctx.sizes
        left, right = self._borders()
        gates = sorted(self.layers.cells[c].u for c in self.layers.in_cell.values())
        if not gates or " " not in self.title or "$" in self.title:
            return
        need = measure(self.title, s.font_title, "medium").width + s.title_pad_x + 6.0
        badge = measure(self.group.badge, s.font_badge).width + 14.0 if self.group.badge else 0.0
        before, after = gates[0] - left + s.frame_pad, right - gates[-1] + s.frame_pad
        if need <= before + FOLD_BEYOND or need + badge <= after:
            return
        words = self.title.split(" ")
        folds = [" ".join(words[:i]) + "\n" + " ".join(words[i:]) for i in range(1, len(words))]
        self.title = min(folds, key=lambda t: measure(t, s.font_title, "medium").width)

    def _band(self) -> float:
        """Height along the flow of the strip that holds the frame's title."""
        s = self.ctx.sizes
        if not self.group.framed:
            return 0.0
        if self.ctx.across or not (self.group.title or self.group.badge):
            return s.frame_pad
        tall = max(
            measure(self.title, s.font_title, "medium").height if self.title else 0.0,
            measure(self.group.badge, s.font_badge).height if self.group.badge else 0.0,
        )
        return tall + s.title_pad_y + 2.0

    def _borders(self) -> tuple[float, float]:
        cells = self.layers.cells
        return (
            min((c.u - c.left for c in cells), default=0.0),
            max((c.u + c.right for c in cells), default=0.0),
        )

    # -- results ----------------------------------------------------------------------------

    def _middle(self, level: int) -> float:
        return (self.bottom[level] + self.top[level]) / 2

    def _spots(self) -> None:
        for index, child in enumerate(self.group.children):
            if is_wide(child):
                numbers = [self.layers.cell_of[(index, i)] for i in range(len(child.inputs))]
                cells = [self.layers.cells[c] for c in numbers]
                low = min(c.u - 24.0 if not self.ctx.across else c.u - 12.0 for c in cells)
                high = max(c.u + 24.0 if not self.ctx.across else c.u + 12.0 for c in cells)
                dv = self.dv[index]
                v = self._middle(cells[0].rank) - dv / 2
                self.out.spots.append(Spot(index, low, v, high - low, dv))
                continue
            cell = self.layers.cells[self.layers.cell_of[(index, 0)]]
            dv = self.dv[index]
            v = self._middle(cell.rank) - dv / 2
            if index in self.inside:
                placed = self.inside[index]
                self.out.spots.append(
                    Spot(index, cell.u - placed.ref, v, placed.width, placed.length, placed)
                )
                continue
            size = self.sized[index]
            front = self._front(index)
            deep = size.width if self.ctx.across else size.height
            if self.ctx.direction == "down":
                v += size.sheet
            self.out.spots.append(Spot(index, cell.u - front / 2, v, front, deep))
        self.spot_of = {spot.child: spot for spot in self.out.spots}

    def _tail_v(self, child: int) -> float:
        """v where a child's outputs leave (behind its sheets)."""
        spot = self.spot_of[child]
        stacked = self.group.children[child].stack and self.ctx.direction != "down"
        return spot.v + spot.dv + (2 * self.ctx.sizes.stack_offset if stacked else 0.0)

    def _head_v(self, child: int) -> float:
        spot = self.spot_of[child]
        stacked = self.group.children[child].stack and self.ctx.direction == "down"
        return spot.v - (2 * self.ctx.sizes.stack_offset if stacked else 0.0)

    def _wires(self) -> None:
        layers, cells = self.layers, self.layers.cells
        seg_of: dict[tuple[int, int, int], Segment] = {}
        for seg in layers.segments:
            seg_of[(seg.tail, seg.head, seg.head_port)] = seg
        left, right = self._borders()
        for number, edge in flow_of(self.group):
            if number in self.flank_rank:
                self._flank_wire(number, left, right)
                continue
            path = layers.paths[number]
            if len(path) < 2:
                self._direct_wire(number, left, right)
                continue
            net = layers.net_of[(edge.tail.child, edge.tail.port)]
            first = cells[path[0]]
            start_v = 0.0 if first.kind == "in" else self._tail_v(first.child)
            points: list[Point] = []
            side_entry = cells[path[-2]].beside == path[-1]
            steps = path[:-1] if side_entry else path
            for a, b in zip(steps, steps[1:], strict=False):
                found = seg_of[(a, b, edge.head.port if b == path[-1] else 0)]
                u, w = self._columns_of(found)
                if not points:
                    points.append((u, start_v))
                if abs(u - w) > 0.01:
                    v = self.track[(cells[a].rank, net)]
                    points += [(u, v), (w, v)]
                end_u = w
            head = cells[path[-1]]
            if side_entry:
                level = head.rank
                if not points:
                    points.append((cells[steps[0]].u, start_v))
                    end_u = points[0][0]
                middle = self._middle(level)
                radius = self.ctx.sizes.circle_radius
                toward = radius if end_u > head.u else -radius
                points += [(end_u, middle), (head.u + toward, middle)]
            elif head.kind == "out":
                points.append((end_u, self.top[-1]))
            else:
                points.append((end_u, self._head_v(head.child)))
            self.out.wires.append(Wire(number, _clean(points)))
        for port, cell in layers.in_cell.items():
            self.out.ins[port] = Gate("start", cells[cell].u)
        for port, cell in layers.out_cell.items():
            self.out.outs[port] = Gate("end", cells[cell].u)
        self.out.length = self.top[-1] if self.top else 0.0
        self._place_labels()
        edges, port = spine_of(self.group, self.nested)
        self.out.spine = frozenset(edges)
        if port >= 0 and port in layers.in_cell:
            self.out.ref = cells[layers.in_cell[port]].u
        elif edges and self.group.edges[edges[-1]].tail.child != BORDER:
            tail = self.group.edges[edges[-1]].tail.child
            self.out.ref = cells[layers.cell_of[(tail, 0)]].u
        elif cells:
            self.out.ref = cells[0].u

    def _flank_wire(self, number: int, left: float, right: float) -> None:
        edge, level = self.group.edges[number], self.flank_rank[number]
        net = self.layers.net_of[(edge.tail.child, edge.tail.port)]
        v = self.track[(level, net)]
        if edge.tail.child == BORDER:
            side = self.sides[("in", edge.tail.port)]
            child = self.group.children[edge.head.child]
            cell = self.layers.cell_of[(edge.head.child, edge.head.port if is_wide(child) else 0)]
            u = self.layers.cells[cell].u + self.head_off.get((cell, edge.head.port), 0.0)
            edge_u = left if side == "low" else right
            points = [(edge_u, v), (u, v), (u, self._head_v(edge.head.child))]
            self.out.ins[edge.tail.port] = Gate(side, v)
        else:
            side = self.sides[("out", edge.head.port)]
            child = self.group.children[edge.tail.child]
            cell = self.layers.cell_of[(edge.tail.child, edge.tail.port if is_wide(child) else 0)]
            u = self.layers.cells[cell].u + self.tail_off.get((cell, edge.tail.port), 0.0)
            edge_u = left if side == "low" else right
            points = [(u, self._tail_v(edge.tail.child)), (u, v), (edge_u, v)]
            self.out.outs[edge.head.port] = Gate(side, v)
        self.out.wires.append(Wire(number, _clean(points)))

    def _direct_wire(self, number: int, left: float, right: float) -> None:
        """From our flank straight into a child's flank."""
        edge = self.group.edges[number]
        side = self.sides[("in", edge.tail.port)]
        spot = self.spot_of[edge.head.child]
        assert spot.inside is not None
        v = spot.v + spot.inside.ins[edge.head.port].at
        near = spot.u if side == "low" else spot.u + spot.du
        self.out.ins[edge.tail.port] = Gate(side, v)
        self.out.wires.append(Wire(number, [(left if side == "low" else right, v), (near, v)]))

    def _place_labels(self) -> None:
        s = self.ctx.sizes
        first_edge: dict[tuple[int, int], int] = {}
        for number, edge in flow_of(self.group):
            first_edge.setdefault((edge.tail.child, edge.tail.port), number)
        tracks_of: dict[int, list[float]] = defaultdict(list)
        for (level, _), v in self.track.items():
            tracks_of[level].append(v)
        for net, note in self.labels.items():
            child, port = self.layers.nets[net]
            cell_index = self._tail_cell(child, port)
            if cell_index is None:
                continue
            cell = self.layers.cells[cell_index]
            u = cell.u + self.tail_off.get((cell_index, port), 0.0)
            start = self._tail_v(cell.child) if cell.child >= 0 else self.top[cell.rank]
            turn = self.track.get((cell.rank, net))
            level_top = self.bottom[cell.rank + 1] if cell.rank + 1 < len(self.bottom) else start
            tracks = tracks_of[cell.rank]
            if turn is not None or tracks:
                limit = min(tracks)
            else:
                limit = level_top - s.arrow_length
            note.v = max(start + 1.5, (start + limit - note.dv) / 2)
            note.u = u - s.label_gap - note.du + 1.5 if self.ctx.across else u + s.label_gap
            note.edge = first_edge[(child, port)]
            self.out.notes.append(note)

    def _lanes(self) -> None:
        """Residual paths: from a tap on the main stream, around the right, into the adder's side."""
        s = self.ctx.sizes
        left, right = self._borders()
        right = max([right, *(sp.u + sp.du for sp in self.out.spots)])
        left = min([left, *(sp.u for sp in self.out.spots)])
        lane = right
        for number, edge in enumerate(self.group.edges):
            if edge.kind != "residual":
                continue
            lane += s.lane_gap
            head = self.spot_of[edge.head.child]
            center = head.v + head.dv / 2
            if edge.tail.child == BORDER:
                cell = self.layers.in_cell.get(edge.tail.port)
                u = self.layers.cells[cell].u if cell is not None else self.out.ref
                v = 2.0
            else:
                cell = self._tail_cell(edge.tail.child, edge.tail.port)
                assert cell is not None
                u = self.layers.cells[cell].u + self.tail_off.get((cell, edge.tail.port), 0.0)
                v = self._tail_v(edge.tail.child) + 4.0
            self.out.wires.append(
                Wire(
                    number,
                    [(u, v), (lane, v), (lane, center), (head.u + head.du, center)],
                    True,
                    True,
                )
            )
            self.out.lane = lane
        self.out.width = (lane if lane > right else right) - left
        self.out.shift_u(-left)
        if self.out.lane is not None:
            self.out.width += 1.0

    def _frame(self) -> None:
        if not self.group.framed:
            return
        s, out = self.ctx.sizes, self.out
        title = measure(self.title, s.font_title, "medium") if self.title else None
        badge = measure(self.group.badge, s.font_badge) if self.group.badge else None
        out.shift_u(s.frame_pad)
        out.width += 2 * s.frame_pad
        if not title and not badge:
            return
        if self.ctx.across:
            self._frame_across(title, badge)
            return
        gates = sorted(g.at for g in out.ins.values() if g.side == "start")
        pad = s.title_pad_x
        title_need = title.width + pad + 6.0 if title else 0.0
        badge_need = badge.width + pad + 6.0 if badge else 0.0
        first = gates[0] if gates else out.width
        last_room = out.width - (gates[-1] if gates else 0.0)
        title_u = pad
        if title and first < title_need:
            if gates and last_room >= title_need + badge_need:
                title_u = gates[-1] + 8.0
            else:
                grow = title_need - first
                out.shift_u(grow)
                out.width += grow
        if badge:
            room = out.width - (
                max(g.at for g in out.ins.values() if g.side == "start") if gates else 0
            )
            used = title_need if title_u > pad or not gates else 0.0
            if room < badge_need + used:
                out.width += badge_need + used - room
        if title:
            out.notes.append(
                Note(
                    self.title,
                    "title",
                    title_u,
                    s.title_pad_y - 1.5,
                    title.width,
                    title.height,
                    s.font_title,
                    "medium",
                )
            )
        if badge:
            out.notes.append(
                Note(
                    self.group.badge,
                    "badge",
                    out.width - pad - badge.width,
                    s.title_pad_y - 1.5,
                    badge.width,
                    badge.height,
                    s.font_badge,
                )
            )

    def _frame_across(self, title: object, badge: object) -> None:
        s, out = self.ctx.sizes, self.out
        texts = [
            (self.group.title, "title", s.font_title, "medium"),
            (self.group.badge, "badge", s.font_badge, "regular"),
        ]
        sizes = [measure(m, f, w) if m else None for m, _, f, w in texts]
        band = max(t.height for t in sizes if t) + s.title_pad_y
        grow = max(0.0, band + 2.0 - s.frame_pad)
        out.shift_u(grow)
        out.width += grow
        need = sum(t.width + s.title_pad_x for t in sizes if t) + 2 * s.title_pad_x
        if out.length < need:
            extra = need - out.length
            _lengthen(out, extra)
        for (markup, kind, size, weight), text in zip(texts, sizes, strict=True):
            if text is None:
                continue
            v = s.title_pad_x if kind == "title" else out.length - s.title_pad_x - text.width
            out.notes.append(
                Note(markup, kind, s.title_pad_y - 1.5, v, text.height, text.width, size, weight)
            )


def _lengthen(out: Placed, extra: float) -> None:
    """Make room along the flow: half before the content, half after it."""
    half = extra / 2
    old = out.length
    out.length += extra
    for spot in out.spots:
        spot.v += half
    for note in out.notes:
        note.v += half
    for gates in (out.ins, out.outs):
        for port, gate in gates.items():
            if gate.side in ("low", "high"):
                gates[port] = Gate(gate.side, gate.at + half)
    for wire in out.wires:
        wire.points = [
            (
                u,
                0.0
                if abs(v) < 0.01 and not wire.tap
                else out.length
                if abs(v - old) < 0.01
                else v + half,
            )
            for u, v in wire.points
        ]


def _spread(ports: list[tuple[int, bool]], width: float) -> dict[int, float]:
    """Offsets of ports along a box: the main stream in the middle, the others to its sides."""
    count = len(ports)
    spine = next((i for i, (_, on) in enumerate(ports) if on), None)
    if spine is None:
        return {port: width * ((i + 0.5) / count - 0.5) for i, (port, _) in enumerate(ports)}
    # the stream enters in the middle where the others then keep their distance, else all evenly
    reach = width / 2 - PORT_EDGE
    most = max(spine, count - 1 - spine, 1)
    step = max(width / 2 / (most + 1), min(8.5, reach / most))
    if step < PORT_GAP and width / count >= step:
        return {port: width * ((i + 0.5) / count - 0.5) for i, (port, _) in enumerate(ports)}
    offsets: dict[int, float] = {}
    for i, (port, _) in enumerate(ports):
        beside = spine if i < spine else count - 1 - spine  # how many on this side
        step = max(width / 2 / (beside + 1), min(8.5, reach / beside)) if beside else 0.0
        offsets[port] = (i - spine) * step
    return offsets


def _clean(points: list[Point]) -> list[Point]:
    """Without repeats and without points in the middle of a straight run."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < 0.005 and abs(kept[-1][1] - point[1]) < 0.005:
            continue
        if len(kept) >= 2:
            (a, b), (c, d) = kept[-2], kept[-1]
            same_u = abs(a - c) < 0.005 and abs(c - point[0]) < 0.005
            same_v = abs(b - d) < 0.005 and abs(d - point[1]) < 0.005
            if same_u or same_v:
                kept[-1] = point
                continue
        kept.append(point)
    return kept
