"""The size of every closed thing, from the very font it is drawn with.

Sizes here are in flow coordinates: ``du`` across the flow, ``dv`` along it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from transformer_diagrams.graph.ir import Graph, Group, Node
from transformer_diagrams.layout.alike import Likeness
from transformer_diagrams.layout.placed import Placed
from transformer_diagrams.layout.ranks import alone_in_rank
from transformer_diagrams.layout.stream import is_wide
from transformer_diagrams.records import dataclass
from transformer_diagrams.text import TextLayout, measure, wrap
from transformer_diagrams.theme import Sizes

LABEL_MAX = 19.0  # times the size of the type; a longer label is wrapped
TOWER_MAX = 14.5  # times the size of the type; a wider box stands out of its tower
WORD_ROOM = 2.0  # left to right, between an input or output and its arrow
PORT_ROOM = 26.0  # least height of a left-to-right box that two lines enter
SHEETS = 2  # drawn behind a stacked box


@dataclass(frozen=True, slots=True)
class LayoutOptions:
    """What `layout` may be asked for. ``direction`` and ``shapes`` "" mean: as the graph says.

    fold    how often the figure is cut; None: as ``aspect`` or the theme needs it
    aspect  width over height that the folds are to come nearest to
    """

    direction: str = ""
    shapes: str = ""
    legend: bool | None = None
    fold: int | None = None
    aspect: float | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What every pass needs: sizes, direction, what to show, and the measures that boxes share."""

    sizes: Sizes
    direction: str = "up"  # up | down | right
    shapes: str = "changes"
    tex: Mapping[str, str] = field(default_factory=dict)  # TeX of single sizes
    tower: float = 0.0  # common width of boxes that stand alone in their rank
    # least size of boxes that say the same thing: equal things are of equal size
    equal: dict[tuple[str, str, str, int], tuple[float, float]] = field(default_factory=dict)
    likeness: Likeness = field(default_factory=Likeness, compare=False, repr=False)
    # what is placed already, by its look
    kept: dict[Any, Placed] = field(default_factory=dict, compare=False, repr=False)

    @property
    def across(self) -> bool:
        """True when the flow runs left to right."""
        return self.direction == "right"


@dataclass(frozen=True, slots=True)
class Sized:
    """A closed node's size: ``width`` and ``height`` on paper of the front sheet."""

    width: float
    height: float
    text: TextLayout | None
    markup: str
    sheet: float  # how far the sheets behind stick out, right and up
    count: TextLayout | None = None  # how many sheets stand for, beside the pile


def size_node(node: Node, ctx: Context, *, tower: bool = False) -> Sized:
    """The size on paper of a node; with ``tower`` at least as wide as the figure's tower."""
    s = ctx.sizes
    sheet = SHEETS * s.stack_offset if node.stack else 0.0
    if node.form == "circle":
        return Sized(2 * s.circle_radius, 2 * s.circle_radius, None, node.symbol, 0.0)
    size = s.font_io if node.form == "text" else s.font_block
    markup = node.label
    text = measure(markup, size)
    if text.width > LABEL_MAX * size:
        markup = wrap(markup, size, LABEL_MAX * size)
        text = measure(markup, size)
    if node.form == "text":
        apart = WORD_ROOM * (bool(node.inputs) + bool(node.outputs)) if ctx.across else 0.0
        return Sized(max(text.width, 6.0) + apart, text.height + 2, text, markup, 0.0)
    least = s.box_min_width * (0.7 if ctx.across else 1.0)  # left to right, width is length
    width = max(text.width + 2 * s.pad_x, least)
    ports = max(len(node.inputs), len(node.outputs))
    width = max(width, 16.0 * ports + 8) if not ctx.across else width
    height = max(text.height + 2 * s.pad_y, s.box_height)
    if ctx.across and ports > 1:
        height = max(height, PORT_ROOM, max(12.5, 1.2 * s.font_edge) * ports if ports > 2 else 0.0)
    if tower and not ctx.across and not is_wide(node):
        width = max(width, ctx.tower)
    if not is_wide(node):
        equal = ctx.equal.get(same_thing(node), (0.0, 0.0))
        width, height = max(width, equal[0]), max(height, equal[1])
    count = measure(stack_words(node.stack), s.font_shape) if node.stack else None
    return Sized(width, height, text, markup, sheet, count)


def stack_words(stack: str) -> str:
    """What stands beside a pile: ``$n_h$`` -> ``$\\times\\, n_h$``."""
    inner = stack[1:-1] if stack.startswith("$") and stack.endswith("$") else stack
    return f"$\\times\\, {inner}$"


def same_thing(node: Node) -> tuple[str, str, str, int]:
    """What two boxes must share to be drawn in one size: a split in two is not one in three."""
    return (node.role, node.label, node.stack, len(node.outputs))


def with_shared_sizes(graph: Graph, ctx: Context) -> Context:
    """``ctx`` with the sizes that boxes share: the tower's width, and one size for equal boxes.

    In a chain every box has the width of the widest, as long as that is not out of proportion
    (TOWER_MAX).
    """
    boxes: list[tuple[Node, bool, Context]] = []
    todo: list[tuple[Group, Context]] = [(graph.root, ctx)]
    todo += [(callout.group, ctx) for callout in graph.callouts]
    while todo:
        group, own = todo.pop()
        if group.direction not in ("", own.direction):
            own = replace(own, direction=group.direction)
        single = alone_in_rank(group)
        for index, child in enumerate(group.children):
            if isinstance(child, Group):
                todo.append((child, own))
            elif child.form == "box" and not is_wide(child):
                boxes.append((child, index in single, own))
    limit = TOWER_MAX * ctx.sizes.font_block
    tower = 0.0
    if not ctx.across:
        widths = [size_node(node, ctx).width for node, alone, own in boxes if alone and own is ctx]
        tower = max((w for w in widths if w <= limit), default=0.0)
    settled = replace(ctx, tower=tower)
    equal: dict[tuple[str, str, str, int], tuple[float, float]] = {}
    for node, stands_alone, own in boxes:
        own = settled if own is ctx else own
        size, key = size_node(node, own, tower=stands_alone), same_thing(node)
        least = equal.get(key, (0.0, 0.0))
        equal[key] = (max(least[0], size.width), max(least[1], size.height))
    return replace(settled, equal=equal)


def in_common(contexts: Sequence[Context]) -> list[Context]:
    """Each context with the sizes that boxes share among all of them."""
    tower = max(ctx.tower for ctx in contexts)
    equal: dict[tuple[str, str, str, int], tuple[float, float]] = {}
    for ctx in contexts:
        for key, (width, height) in ctx.equal.items():
            least = equal.get(key, (0.0, 0.0))
            equal[key] = (max(least[0], width), max(least[1], height))
    # What is placed already and what looks alike belong to one figure.
    return [
        replace(ctx, tower=tower if ctx.tower else 0.0, equal=equal, kept={}, likeness=Likeness())
        for ctx in contexts
    ]
