"""What a group asks of the groups in it: their ports in the order in which its lines come to them.

Groups are placed from the innermost out, each with its ports as they suit its own inside. Where
the lines outside then have to cross to reach them, the group is placed once more with its wishes.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from transformer_diagrams.graph.ir import BORDER, Group
from transformer_diagrams.layout.placed import Placed
from transformer_diagrams.layout.stages import Filled, Sides


def wishes_of(w: Filled, placed: Placed) -> dict[int, Sides]:
    """By child: ("order in", port) or ("order out", port) -> its place, where that is another."""
    lines: dict[tuple[int, str], dict[int, tuple[float, float]]] = defaultdict(dict)
    for wire in placed.wires:
        if wire.edge < 0:
            continue
        edge = w.group.edges[wire.edge]
        for kind, here, far in (("in", edge.head, 0), ("out", edge.tail, -1)):
            child = w.group.children[here.child] if here.child != BORDER else None
            if not isinstance(child, Group) or child.kind == "turned":
                continue
            inner = w.inside[here.child]
            gate = (inner.ins if kind == "in" else inner.outs)[here.port]
            if gate.side in ("start", "end"):
                lines[here.child, kind].setdefault(here.port, (wire.points[far][0], gate.at))
    wished: dict[int, Sides] = {}
    for (index, kind), ports in lines.items():
        order = sorted(ports, key=lambda port: ports[port])
        if any(ports[a][1] > ports[b][1] for a, b in pairwise(order)):
            asked = {(f"order {kind}", port): f"{i:04}" for i, port in enumerate(order)}
            wished.setdefault(index, {}).update(asked)
    return wished
