"""One group laid out on its own, innermost first.

After it the group is one box of known size with known border ports, whatever stands around it.
"""

from __future__ import annotations

from transformer_diagrams.graph.ir import Group
from transformer_diagrams.layout.across import place_across
from transformer_diagrams.layout.along import stack_ranks
from transformer_diagrams.layout.children import place_children
from transformer_diagrams.layout.columns import place_columns
from transformer_diagrams.layout.flanks import draw_flanks
from transformer_diagrams.layout.frames import add_frame, fold_title
from transformer_diagrams.layout.labels import label_ends, label_nets, place_labels
from transformer_diagrams.layout.layers import build_layers
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.names import name_ports
from transformer_diagrams.layout.order import order_cells
from transformer_diagrams.layout.placed import Placed
from transformer_diagrams.layout.ports import (
    fix_ports,
    measure_cells,
    spread_ports,
    straighten_ports,
)
from transformer_diagrams.layout.remarks import keep_room, place_remarks
from transformer_diagrams.layout.turned import place_turned
from transformer_diagrams.layout.wires import draw_lanes, draw_wires, place_spots, share_sides
from transformer_diagrams.layout.work import Sides, Work


def place(group: Group, ctx: Context, sides: Sides | None = None, nested: bool = False) -> Placed:
    """Lay a group out.

    ``sides`` names border ports that must lie on a flank ("low" or "high"); a ``nested`` group
    carries on the stream of the group around it.
    """
    sides = sides or {}
    if group.kind == "columns":
        return place_columns(group, ctx, sides, place)
    if group.kind == "turned":
        return place_turned(group, ctx, place)
    w = Work(group, ctx, sides, nested)
    place_children(w, place)
    w.layers = build_layers(group, sides, nested)
    fix_ports(w)
    order_cells(w.layers)
    measure_cells(w)
    spread_ports(w)
    keep_room(w, tall=False)
    label_nets(w)
    label_ends(w)
    keep_room(w, tall=True)
    place_across(w)
    straighten_ports(w)
    fold_title(w)
    stack_ranks(w)
    place_spots(w)
    share_sides(w)
    draw_wires(w)
    draw_flanks(w)
    place_labels(w)
    name_ports(w)
    place_remarks(w)
    draw_lanes(w)
    add_frame(w)
    return w.out
