"""The search: a group is placed in several ways, and the one that costs least is kept.

The candidates are few and fixed, never bounded by a clock, so that the same graph gives the same
picture everywhere: children near their sources or near their readers, a second operand into the
side of its box or from below, the orders that the sweeps of `order` come to, and the stream
straight, or over the middle of the branches that meet in it. A group without a bend is taken as
it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise, product

from transformer_diagrams.graph.ir import Group
from transformer_diagrams.layout.cost import cost
from transformer_diagrams.layout.layers import Layers, build_layers
from transformer_diagrams.layout.order import STARTS, order_cells
from transformer_diagrams.layout.placed import SAME, Placed
from transformer_diagrams.layout.ports import fix_ports
from transformer_diagrams.layout.stages import Filled, Ranked
from transformer_diagrams.layout.stream import aside, meets_of, parting_of

SWAP = 20.0  # two neighbours that stand in another order than written
OTHER_LANE = 30.0  # residual paths on the other side than elsewhere
LARGE = 300  # children beyond which there is one candidate


def best(w: Filled, lay_out: Callable[[Ranked], Placed]) -> Placed:
    """The placement of least cost among the candidates; ``lay_out`` runs the passes for one."""
    meets = meets_of(w.group, w.nested, aside(w.sides))
    found, least = Placed(), math.inf
    for layers in _ordered(w):
        loosened = dict.fromkeys((0, min(1, len(meets)), len(meets)))
        for count, lane in product(loosened, _lanes(w.group, layers)):
            ranked = w.grown(Ranked, layers=replace(layers.again(), lane=lane))
            _loosen(ranked, meets[len(meets) - count :])
            placed = lay_out(ranked)
            spent = cost(w.group, placed, meets) + SWAP * _swapped(w.group, layers)
            spent += OTHER_LANE * (lane != layers.lane)
            if spent < least - SAME:
                found, least = placed, spent
        if all(len(wire.points) == 2 for wire in found.wires if not wire.lane):
            break
    found.cost = least + sum(child.cost for child in w.inside.values())
    return found


def _lanes(group: Group, layers: Layers) -> tuple[str, ...]:
    """The sides on which residual paths may run: both where other inputs may be in their way."""
    if group.kind != "residual" or len(layers.in_cell) < 2 or layers.lane == "low":
        return (layers.lane,)
    return ("high", "low")


def _ordered(w: Filled) -> Iterator[Layers]:
    """Each different order of the cells that the fixed starts lead to, the plain one first."""
    seen: set[tuple[tuple[tuple[str, int, int, int, int], ...], ...]] = set()
    large = len(w.group.children) > LARGE
    for sided, late, start in product((True, False), (False, True), range(len(STARTS))):
        layers = build_layers(w.group, w.sides, w.nested, late, sided)
        fix_ports(w.grown(Ranked, layers=layers))
        order_cells(layers, start)
        cells = layers.cells
        key = tuple(
            tuple((c.kind, c.child, c.port, c.net, c.beside) for c in map(cells.__getitem__, rank))
            for rank in layers.ranks
        )
        if key not in seen:
            seen.add(key)
            yield layers
        if large:
            return


def _loosen(w: Ranked, meets: list[int]) -> None:
    """Let the stream give way at ``meets`` and where it parts below the first of them."""
    if not meets:
        return
    layers = w.layers
    layers.loose = {layers.cell_of[(child, 0)] for child in meets}
    parting = parting_of(w.group, w.nested, aside(w.sides), meets[-1])
    leaves = w.tail_cell(parting.child, parting.port) if parting is not None else None
    for seg in layers.segments:
        if seg.head in layers.loose or seg.tail == leaves:
            seg.spine = False


def _swapped(group: Group, layers: Layers) -> int:
    """Neighbours in a rank, children or ports of the group, in another order than the author's."""
    cells, swapped = layers.cells, 0
    for rank in layers.ranks:
        children = [cells[c].child for c in rank if cells[c].child >= 0]
        ports = [cells[c].port for c in rank if cells[c].kind in ("in", "out")]
        if group.kind == "residual":  # its inputs stand as they are needed
            ports = []
        swapped += sum(a > b for a, b in (*pairwise(children), *pairwise(ports)))
    return swapped
