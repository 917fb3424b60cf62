"""One group laid out on its own, innermost first.

After it the group is one box of known size with known border ports, whatever stands around it.
"""

from __future__ import annotations

from transformer_diagrams.graph.ir import Group
from transformer_diagrams.layout.across import place_across
from transformer_diagrams.layout.along import stack_ranks
from transformer_diagrams.layout.children import place_children
from transformer_diagrams.layout.columns import place_columns
from transformer_diagrams.layout.flanks import draw_flanks, plan_flanks
from transformer_diagrams.layout.frames import add_frame, fold_title
from transformer_diagrams.layout.labels import label_ends, label_nets, place_labels
from transformer_diagrams.layout.measure import Context
from transformer_diagrams.layout.names import name_ports
from transformer_diagrams.layout.placed import Placed
from transformer_diagrams.layout.ports import measure_cells, spread_ports
from transformer_diagrams.layout.remarks import keep_room, place_remarks
from transformer_diagrams.layout.returns import draw_returns
from transformer_diagrams.layout.search import best
from transformer_diagrams.layout.stages import Aligned, Ranked, Sides, Standing, Task, Worded
from transformer_diagrams.layout.turned import place_turned
from transformer_diagrams.layout.wires import draw_lanes, draw_wires, place_spots, share_sides
from transformer_diagrams.layout.wishes import wishes_of


def place(group: Group, ctx: Context, sides: Sides | None = None, nested: bool = False) -> Placed:
    """Lay a group out.

    ``sides`` names border ports that must lie on a flank ("low" or "high"); a ``nested`` group
    carries on the stream of the group around it.
    """
    sides = sides or {}
    if group.kind == "columns":
        placed = place_columns(group, ctx, sides, place)
        draw_returns(group, ctx, placed)
        return placed
    if group.kind == "turned":
        return place_turned(group, ctx, place)
    look = (ctx.likeness.of(group), frozenset(sides.items()), nested, ctx.direction, ctx.shapes)
    if look not in ctx.kept:
        ctx.kept[look] = _searched(Task(group, ctx, sides, nested))
    return ctx.kept[look].copied()


def _searched(task: Task) -> Placed:
    """The best placement, asked for twice if lines would cross to reach the groups in it."""
    filled = place_children(task, place)
    placed = best(filled, lay_out)
    wished = wishes_of(filled, placed)
    if not wished:
        return placed
    again = best(place_children(task, place, filled.inside, wished), lay_out)
    return again if again.cost < placed.cost else placed


def lay_out(ranked: Ranked) -> Placed:
    """The passes that follow when the cells have their order, one after the other."""
    measure_cells(ranked)
    ported = spread_ports(ranked)
    remarks = keep_room(ported, tall=False)
    labels, ends = label_nets(ported), label_ends(ported)
    remarks += keep_room(ported, tall=True)
    worded = ported.grown(Worded, labels=labels, ends=ends, remarks=remarks)
    worded = place_across(worded)
    stacked = stack_ranks(
        worded.grown(Aligned, title=fold_title(worded), flanks=plan_flanks(worded))
    )
    standing = stacked.grown(Standing, spot_of=place_spots(stacked), slots=share_sides(stacked))
    out = draw_wires(standing)
    draw_flanks(standing, out)
    out.notes += place_labels(standing)
    out.notes += name_ports(standing, out.wires)
    out.notes += place_remarks(standing)
    draw_lanes(standing, out)
    draw_returns(ranked.group, ranked.ctx, out)
    add_frame(standing, out)
    return out
