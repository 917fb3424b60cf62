"""Names at the ends of lines that stand in another order than they are written.

Before: boxes and lines placed, and the ports that the layout had to swap (`named`).
After: the name of each of them stands beside the very end of its line.
"""

from __future__ import annotations

from transformer_diagrams.graph.ir import Node
from transformer_diagrams.layout.placed import SAME, Note, Point, Wire
from transformer_diagrams.layout.stages import Standing
from transformer_diagrams.layout.stream import PLAIN, flow_of
from transformer_diagrams.text import measure

ASIDE = 1.5  # from a line to its name


def name_ports(w: Standing, wires: list[Wire]) -> list[Note]:
    """Set the name of every port that is out of order."""
    if not w.named:
        return []
    wire_of = {wire.edge: wire for wire in wires}
    notes: list[Note] = []
    said: set[tuple[str, int, int]] = set()
    for number, edge in flow_of(w.group):
        for kind, end in (("in", edge.head), ("out", edge.tail)):
            key = (kind, end.child, end.port)
            if key not in w.named or key in said or (kind == "in" and number in w.ends):
                continue  # the author's own words may stand there
            said.add(key)
            child = w.group.children[end.child]
            assert isinstance(child, Node)
            ports = child.inputs if kind == "in" else child.outputs
            text = _name(child, ports[end.port].name, end.port)
            points = wire_of[number].points
            run = points[-2:] if kind == "in" else points[1::-1]
            run = run if len(run) > 1 else run * 2  # a line of no length, at the group's border
            notes.append(_beside(w, text, run, kind, number))
    return notes


def _name(child: Node, name: str, port: int) -> str:
    """How a port is called: by its name, or by its place where it only has a number."""
    if child.alike or name.isdigit() or name in PLAIN:
        return str(port + 1)
    return f"${name}$" if len(name.split("_")[0]) == 1 else name


def _beside(w: Standing, text: str, run: list[Point], kind: str, edge: int) -> Note:
    """Beside the last run of a line into a box, or the first one out of it."""
    s = w.ctx.sizes
    size = measure(text, s.font_edge)
    du, dv = (size.height, size.width) if w.ctx.across else (size.width, size.height)
    (before, _), (u, v) = run
    if abs(before - u) > SAME:  # into the side of a circle
        u += s.arrow_length if before > u else -s.arrow_length - du
        return Note(text, "edge", u, v + ASIDE, du, dv, s.font_edge, edge=edge, end=kind)
    far = ASIDE if w.ctx.across else s.arrow_width / 2 + ASIDE
    u = u - far - du if kind == "out" and not w.ctx.across else u + far  # shapes are beyond
    back = s.arrow_length + 0.4 if w.ctx.across else ASIDE  # lines lie near each other there
    v = v - back - dv if kind == "in" else v + ASIDE
    return Note(text, "edge", u, v, du, dv, s.font_edge, edge=edge, end=kind)
