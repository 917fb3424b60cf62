"""From placed groups to the body of a figure: absolute places, whole lines, texts.

A line inside a group ends at the group's border and goes on outside; here the pieces are joined
into one line from box to box. Flow coordinates (u, v) become paper coordinates (x, y).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import takewhile

from transformer_diagrams.graph.ir import BORDER, Edge, Group, Node, Return
from transformer_diagrams.layout.branches import branched
from transformer_diagrams.layout.callouts import Part, Room, leader
from transformer_diagrams.layout.canvas import Body, Canvas, text_label
from transformer_diagrams.layout.measure import SHEETS, Context, size_node, stack_words
from transformer_diagrams.layout.paper import Paper, rounded, snapped
from transformer_diagrams.layout.placed import Note, Placed, Point, Wire, straightened
from transformer_diagrams.layout.returns import end_of, wire_of
from transformer_diagrams.layout.scene import Box, Label, Line, Rect
from transformer_diagrams.layout.stream import output_places
from transformer_diagrams.layout.strip import CELLS, STRIP, room_before, swatch
from transformer_diagrams.records import dataclass
from transformer_diagrams.text import measure, plain


@dataclass(slots=True)
class Inset:
    """One placed group: where its own corner stands and who is around it."""

    group: Group
    placed: Placed
    u: float
    v: float
    parent: Inset | None = None
    index: int = -1
    children: dict[int, Inset] = field(default_factory=dict)
    wires: dict[int, Wire] = field(default_factory=dict)
    feeds: dict[tuple[int, int], int] = field(default_factory=dict)  # head -> edge

    @property
    def direction(self) -> str:
        """The direction of its own flow; "" is the figure's."""
        scope: Inset | None = self
        while scope is not None and not scope.group.direction:
            scope = scope.parent
        return scope.group.direction if scope is not None else ""

    def points(self, edge: int) -> list[Point]:
        wire = self.wires.get(edge)
        return [(u + self.u, v + self.v) for u, v in wire.points] if wire else []


def assemble(parts: list[Part], ctx: Context, canvas: Canvas) -> Body:
    """All parts, standing where the canvas has its body."""
    width_u = max(p.u + p.placed.width for p in parts)
    length = max(p.v + p.placed.length for p in parts)
    wide, high = (length, width_u) if ctx.across else (width_u, length)
    left, top = canvas.corner(wide)
    builder = _Builder(ctx, Paper(ctx.direction, length, left, top))
    for part in parts:
        builder.part(part)
    lines = tuple(branched(builder.lines))
    return Body(tuple(builder.boxes), lines, tuple(builder.labels), Rect(left, top, wide, high))


class _Builder:
    """Collects boxes, lines and labels of all parts."""

    def __init__(self, ctx: Context, paper: Paper) -> None:
        self.ctx, self.paper = ctx, paper
        self.boxes: list[Box] = []
        self.lines: list[Line] = []
        self.labels: list[Label] = []
        self.titles: dict[str, str] = {}
        self.named = 0  # boxes whose titles are in ``titles``
        self.rects: dict[str, Room] = {}

    # -- parts and boxes --------------------------------------------------------------------

    def part(self, part: Part) -> None:
        top = Inset(part.group, part.placed, part.u, part.v)
        scopes = list(self._scopes(top))
        for scope in scopes:
            self._boxes_of(scope)
        for scope in scopes:
            self._lines_of(scope)
            self._notes_of(scope)
        if part.anchor in self.rects:
            own = part.anchor
            solid = [b.rect for b in self.boxes if b.form != "frame" and b.id != own]
            solid += [q.rect for q in self.labels if q.owner != own or q.kind == "note"]
            corner, room = self.ctx.sizes.line_corner, self.rects[own]
            name = self._name(own)
            self.lines.append(leader(part, room, self.paper, solid, self.lines, corner, name))

    def _scopes(self, top: Inset) -> Iterator[Inset]:
        todo = [top]
        while todo:
            scope = todo.pop()
            scope.wires = {w.edge: w for w in scope.placed.wires}
            for number, edge in enumerate(scope.group.edges):
                if edge.kind != "residual":
                    scope.feeds.setdefault((edge.head.child, edge.head.port), number)
            yield scope
            for spot in reversed(scope.placed.spots):
                child = scope.group.children[spot.child]
                if spot.inside is not None:
                    assert isinstance(child, Group)
                    inner = Inset(
                        child, spot.inside, scope.u + spot.u, scope.v + spot.v, scope, spot.child
                    )
                    scope.children[spot.child] = inner
                    todo.append(inner)

    def _frame_of(self, scope: Inset | None) -> str:
        while scope is not None:
            if scope.group.framed:
                return scope.group.path + "#frame"
            scope = scope.parent
        return ""

    def _boxes_of(self, scope: Inset) -> None:
        s, group = self.ctx.sizes, scope.group
        if group.framed:
            rect = self.paper.rect(scope.u, scope.v, scope.placed.width, scope.placed.length)
            self.rects[group.path + "#frame"] = (
                scope.u,
                scope.v,
                scope.placed.width,
                scope.placed.length,
            )
            self.boxes.append(
                Box(
                    id=group.path + "#frame",
                    rect=snapped(rect),
                    form="frame",
                    role=group.role or "container",
                    corner=s.frame_corner,
                    stack=SHEETS if group.stack else 0,
                    sheet=s.stack_offset,
                    mark=group.mark,
                    accent=group.accent,
                    when=group.when,
                    path=group.path,
                    title=plain(group.title),
                    use=group.use,
                    parent=self._frame_of(scope.parent),
                )
            )
        for spot in scope.placed.spots:
            child = scope.group.children[spot.child]
            if isinstance(child, Group):
                continue
            u, v = scope.u + spot.u, scope.v + spot.v
            rect = snapped(self.paper.rect(u, v, spot.du, spot.dv))
            self.rects[child.path] = (u, v, spot.du, spot.dv)
            form = {"circle": "circle", "text": "text"}.get(child.form, "box")
            self.boxes.append(
                Box(
                    id=child.path,
                    rect=rect,
                    form=form,
                    role=child.role,
                    line="dashed" if child.dashed else "solid",
                    corner=s.corner if form == "box" else 0.0,
                    stack=SHEETS if child.stack and form == "box" else 0,
                    sheet=s.stack_offset,
                    symbol=child.symbol if form == "circle" else "",
                    mark=child.mark,
                    accent=child.accent,
                    when=child.when,
                    path=child.path,
                    title=_words(child),
                    use=child.use,
                    parent=self._frame_of(scope),
                )
            )
            if form != "circle":
                self._block_label(child, rect)
            if child.stack:
                self._stack_label(child, rect, scope.direction or self.ctx.direction)

    def _block_label(self, node: Node, rect: Rect) -> None:
        sized = size_node(node, self.ctx)  # its text; the box is as the layout made it
        text, size = (
            sized.text,
            (self.ctx.sizes.font_io if node.form == "text" else self.ctx.sizes.font_block),
        )
        if text is None or not sized.markup.strip():
            return
        top = rect.center_y - text.height / 2
        if len(text.lines) == 1:
            # one base line for all boxes of a row, whatever sub- and superscripts do
            top = text.baseline(rect.center_y) - text.ascent
            top = min(max(top, rect.top + 1.0), rect.bottom - 1.0 - text.height)
        left = rect.center_x - text.width / 2
        if node.form == "text" and self.ctx.across and bool(node.inputs) != bool(node.outputs):
            left = rect.right - text.width if node.inputs else rect.left  # away from its arrow
        at = Rect(left, top, text.width, text.height)
        kind = "io" if node.form == "text" else "block"
        self.labels.append(
            text_label(
                node.path + "#label",
                sized.markup,
                text,
                size,
                kind,
                at,
                owner=node.path,
                role=node.role,
            )
        )

    def _stack_label(self, node: Node, rect: Rect, direction: str) -> None:
        """How many there are, small, beside the pile."""
        sized = size_node(node, self.ctx)
        if sized.count is None:
            return
        text = sized.count
        if direction == "right":
            at = Rect(rect.right - text.width, rect.bottom + 2.0, text.width, text.height)
        else:
            at = Rect(
                rect.right + sized.sheet + 3.0, rect.bottom - text.height, text.width, text.height
            )
        self.labels.append(
            text_label(
                node.path + "#count",
                stack_words(node.stack),
                text,
                self.ctx.sizes.font_shape,
                "shape",
                at,
                owner=node.path,
                align="left",
            )
        )

    # -- lines ------------------------------------------------------------------------------

    def _lines_of(self, scope: Inset) -> None:
        for number, edge in enumerate(scope.group.edges):
            wire = scope.wires.get(number)
            if wire is None:
                continue
            if edge.kind == "residual":
                self._line(scope, number, edge, scope.points(number), residual=True)
                continue
            if edge.head.child != BORDER and isinstance(
                scope.group.children[edge.head.child], Node
            ):
                self._line(scope, number, edge, None)

        for number, back in enumerate(scope.group.returns):
            if wire_of(number) in scope.wires:
                self._return(scope, number, back)

    def _return(self, scope: Inset, number: int, back: Return) -> None:
        """A line back; it ends at the frame of what is drawn opened."""
        drawn = self.rects.keys()
        tail, head = (
            end_of(tuple(p for path in paths for p in (path, f"{path}#frame")), drawn)
            for paths in (back.tails, back.heads)
        )
        points = (self.paper.point(*p) for p in straightened(scope.points(wire_of(number))))
        shape = f", {back.shape}" if back.shape is not None else ""
        self.lines.append(
            Line(
                id=_back_id(scope, number),
                points=tuple((rounded(x), rounded(y)) for x, y in points),
                kind="feedback",
                corner=self.ctx.sizes.line_corner,
                tail=tail,
                head=head,
                when=back.when,
                mark=back.mark,
                net=f"{tail}~{back.port}",
                title=f"{self._name(tail)} to {self._name(head)}, "
                f"{'as a moving average' if back.mark == 'ema' else 'one step later'}{shape}",
            )
        )

    def _line(
        self,
        scope: Inset,
        number: int,
        edge: Edge,
        points: list[Point] | None,
        *,
        residual: bool = False,
    ) -> None:
        s = self.ctx.sizes
        chain, tail, whole, spine, when, mark, tail_place = self._upstream(scope, number)
        if residual:
            whole = points or []
        path = [
            (rounded(x), rounded(y)) for x, y in (self.paper.point(*p) for p in straightened(whole))
        ]
        if len(path) < 2:
            return
        head, head_place = "", -1
        if edge.head.child != BORDER:
            reader = scope.group.children[edge.head.child]
            head = reader.path
            along = scope.direction in ("", self.ctx.direction)  # else its order runs another way
            if along and isinstance(reader, Node) and reader.ordered:
                head_place = edge.head.port
        shape = f", {_plain_shape(edge)}" if edge.shape is not None else ""
        self.lines.append(
            Line(
                id=_line_id(chain, head, edge) + ("~" if residual else ""),
                points=tuple(path),
                kind="residual" if residual else "data",
                corner=s.line_corner,
                tail=tail,
                head=head,
                when=when,
                mark=mark,
                net=chain,
                spine=spine and not residual,
                tail_place=tail_place,
                head_place=head_place,
                branch=residual,
                title=f"{self._name(tail)} to {self._name(head)}{shape}",
            )
        )

    def _upstream(
        self, scope: Inset, number: int
    ) -> tuple[str, str, list[Point], bool, str, str, int]:
        """(net, tail box, points from the tail box, all on the main stream, when, mark, place)."""
        edge = scope.group.edges[number]
        pieces = [scope.points(number)]
        spine = number in scope.placed.spine
        when, mark = edge.when, edge.mark
        while True:
            if edge.tail.child == BORDER:
                if scope.parent is None:
                    return (
                        f"{scope.group.path}#in{edge.tail.port}",
                        scope.group.path + "#frame" if scope.group.framed else "",
                        _flat(pieces),
                        spine,
                        when,
                        mark,
                        -1,
                    )
                port, index = edge.tail.port, scope.index
                if (index, port) not in scope.parent.feeds:  # fed back to it: from its border
                    frame = scope.group.path + "#frame" if scope.group.framed else ""
                    net = f"{scope.group.path}#in{port}"
                    return (net, frame, _flat(pieces), spine, when, mark, -1)
                scope = scope.parent
                number = scope.feeds[(index, port)]
            else:
                child = scope.group.children[edge.tail.child]
                if isinstance(child, Node):
                    return (
                        f"{child.path}#{edge.tail.port}",
                        child.path,
                        _flat(pieces),
                        spine,
                        when,
                        mark,
                        output_places(child)[edge.tail.port],
                    )
                port = edge.tail.port
                scope = scope.children[edge.tail.child]
                number = scope.feeds[(BORDER, port)]
            edge = scope.group.edges[number]
            pieces.append(scope.points(number))
            spine = spine and number in scope.placed.spine
            when = edge.when if when == "always" else when
            mark = edge.mark or mark

    def _name(self, box_id: str) -> str:
        for box in self.boxes[self.named :]:
            self.titles[box.id] = box.title or box.id.rsplit("/", 1)[-1]
        self.named = len(self.boxes)
        return self.titles.get(box_id, box_id)

    # -- texts ------------------------------------------------------------------------------

    def _notes_of(self, scope: Inset) -> None:
        for number, note in enumerate(scope.placed.notes):
            rect = self.paper.rect(scope.u + note.u, scope.v + note.v, note.du, note.dv)
            owner, room = scope.group.path + "#frame", 0.0
            if note.kind == STRIP:
                cells = takewhile(lambda n: n.kind == CELLS, scope.placed.notes[number + 1 :])
                found = [(self._on_paper(scope, cell), int(cell.markup)) for cell in cells]
                self._strip(scope, self._on_paper(scope, note), found, scope.group)
            if note.kind in (STRIP, CELLS):
                continue
            if note.child >= 0:
                child = scope.group.children[note.child]
                owner, room = child.path, room_before(child.tone)
                if room:
                    across = self.ctx.across
                    high = note.du if across else note.dv
                    pair = swatch(child.tone, note.u, note.v, high, across=across)
                    whole, cell = (self._on_paper(scope, each) for each in pair)
                    self._strip(scope, whole, [(cell, child.tone)], child)
            text = measure(note.markup, note.size, note.weight)
            at = Rect(rect.left + room, rect.top, text.width, text.height)
            if note.edge >= 0:
                owner = self._owner_line(scope, note)
            elif note.edge < -1:
                owner = _back_id(scope, -2 - note.edge)
            self.labels.append(
                text_label(
                    f"{scope.group.path}#note{number}",
                    note.markup,
                    text,
                    note.size,
                    note.kind,
                    at,
                    owner=owner,
                    weight=note.weight,
                    align="left" if note.kind in ("title", "shape", "edge", "note") else "right",
                )
            )

    def _on_paper(self, scope: Inset, note: Note) -> Rect:
        return self.paper.rect(scope.u + note.u, scope.v + note.v, note.du, note.dv)

    def _strip(
        self, scope: Inset, rect: Rect, cells: list[tuple[Rect, int]], of: Group | Node
    ) -> None:
        """The order of a pattern's turns, or the tone of one kind."""
        if isinstance(of, Node):
            title = of.label
        else:
            title = of.turns.words if of.turns is not None else of.title
        self.boxes.append(
            Box(
                id=of.path + "#strip",
                rect=snapped(rect),
                form="strip",
                role="container",
                corner=1.5,
                path=of.path,
                title=plain(title),
                parent=self._frame_of(scope),
                cells=tuple((snapped(cell), tone) for cell, tone in cells),
            )
        )

    def _owner_line(self, scope: Inset, note: Note) -> str:
        edge = scope.group.edges[note.edge]
        if note.end == "in":
            reader = scope.group.children[edge.head.child]
            return _line_id(self._upstream(scope, note.edge)[0], reader.path, edge)
        child = scope.group.children[edge.tail.child] if edge.tail.child != BORDER else None
        if isinstance(child, Node):
            return f"{child.path}#{edge.tail.port}"
        return self._upstream(scope, note.edge)[0]


def _back_id(scope: Inset, number: int) -> str:
    return f"{scope.group.path}#back{number}"


def _flat(pieces: list[list[Point]]) -> list[Point]:
    return [point for piece in reversed(pieces) for point in piece]


def _line_id(net: str, head: str, edge: Edge) -> str:
    return f"{net}->{head}#{edge.head.port}"


def _words(node: Node) -> str:
    if node.form == "circle":
        return {"+": "add", "×": "multiply"}.get(node.symbol, node.symbol)
    return plain(node.label).replace("\n", " ")


def _plain_shape(edge: Edge) -> str:
    return str(edge.shape)
