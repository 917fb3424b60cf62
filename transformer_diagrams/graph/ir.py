"""The block graph: a tree of groups and nodes, with edges between siblings.

An edge never crosses a group's border: it ends on the border's port and goes on inside.
So each group can be laid out, checked and counted by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

from transformer_diagrams.dims import Dim
from transformer_diagrams.errors import NOWHERE, Span
from transformer_diagrams.ops.registry import Shape
from transformer_diagrams.records import dataclass

BORDER = -1  # End.child of the group's own border


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output: ``shape`` is None until inferred, or where it cannot be known."""

    name: str
    shape: Shape | None = None
    dtype: str = "float"


@dataclass(frozen=True, slots=True)
class End:
    """One end of an edge: the index of a child (or BORDER) and of its port."""

    child: int
    port: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A tensor on its way. ``kind`` is data or residual; ``mark`` is "", stop-gradient or ema."""

    tail: End  # child's output port, or the border's input port
    head: End  # child's input port, or the border's output port
    kind: str = "data"
    when: str = "always"
    mark: str = ""
    label: str = ""
    shape: Shape | None = None
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Return:
    """What is drawn when all else stands: a tensor read one step later, beside its column, or
    the link of weights to their moving average (its ``mark`` is ema), which carries no tensor.

    ``tails`` and ``heads`` are paths, each of the block itself and then of what is around it; the
    first of them that is drawn is where the line ends.
    """

    tails: tuple[str, ...]
    heads: tuple[str, ...]
    port: int = 0  # the output that it is
    when: str = "always"
    mark: str = ""
    label: str = ""
    shape: Shape | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One drawn thing: an op, a closed `use`, an input or an output.

    form      box | circle (add, mul junctions) | text (inputs, outputs)
    label     mixed text and $TeX$
    symbol    for circles: "+", "×"
    dashed    caches and buffers
    lanes     drawn across several lanes: what enters lane i leaves lane i (a cache)
    ordered   which input is which matters, as in a difference
    alike     its inputs play one part, as in a sum: none is the index or the mask of another
    """

    path: str  # ids from the root, joined by "/": unique in the graph
    op: str  # op name; "use", "input", "output"
    role: str  # style role
    label: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    form: str = "box"
    symbol: str = ""
    dashed: bool = False
    lanes: bool = False
    ordered: bool = False
    alike: bool = False
    attrs: Mapping[str, Any] = field(default_factory=dict)  # evaluated: Dim, bool, str, tuple
    stack: str = ""  # "" or the count as mixed text, e.g. "$n_h$"
    mark: str = ""  # "", frozen, trained, ema, tied, changed
    when: str = "always"
    use: str = ""  # closed use: the spec's id
    params: Dim | None = None  # learned weights of one copy (None: not counted yet)
    accent: int = 0  # of the theme; 0: none
    note: str = ""
    tone: int = -1  # of a kind of a pattern's turns, whose number is its note
    span: Span = NOWHERE
    doc_path: str = ""


@dataclass(frozen=True, slots=True)
class Turns:
    """The order of a repeat's turns of several kinds, each kind as its tone.

    ``more``  they go on in rounds like the last one here
    """

    tones: tuple[int, ...]
    more: bool
    words: str  # the same for hearing


@dataclass(frozen=True)
class Group:
    """A container. Its children are listed in order of first need.

    kind      root | use (opened) | repeat | pattern (around repeats) | group | residual | columns
    framed    drawn with a border and a title
    badge     mixed text, e.g. "$32 \\times$"
    turns     of a pattern: the order of its turns; each kind is a repeat in it, with a ``tone``
    """

    path: str
    kind: str
    children: tuple[Node | Group, ...]
    edges: tuple[Edge, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    title: str = ""
    badge: str = ""
    framed: bool = False
    role: str = ""
    stack: str = ""
    mark: str = ""
    when: str = "always"
    use: str = ""
    direction: str = ""  # "" as its parent, or up | right | down
    accent: int = 0
    note: str = ""
    turns: Turns | None = None
    tone: int = -1
    returns: tuple[Return, ...] = ()  # between parts of it, whatever is around them
    span: Span = NOWHERE
    doc_path: str = ""

    @cached_property
    def leaving(self) -> Mapping[End, tuple[Edge, ...]]:
        """The edges by their tail."""
        found: dict[End, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.tail, []).append(edge)
        return {tail: tuple(edges) for tail, edges in found.items()}


@dataclass(frozen=True, slots=True)
class Callout:
    """A part drawn opened beside the figure, with a leader to its closed box."""

    anchor: str  # path of the node in the root
    group: Group


@dataclass(frozen=True, slots=True)
class Graph:
    """A whole figure's worth: what is drawn, and the words around it."""

    id: str
    title: str
    caption: str
    root: Group
    callouts: tuple[Callout, ...] = ()
    header: tuple[str, ...] = ()  # lines of mixed text above the figure (relations, config)
    direction: str = "up"
    show_shapes: str = "changes"  # none | changes | all
    legend: bool = False
    titled: bool = False  # the title above the figure, the caption below it
    numbered: bool = False  # remarks are listed below the figure
    remarks: tuple[str, ...] = ()  # so listed
    spans: tuple[tuple[str, str, str], ...] = ()  # ids of a run's ends, and its words
    tex: Mapping[str, str] = field(default_factory=dict)  # TeX of sizes, where a spec gives it

    def parts(self) -> Iterator[Node | Group]:
        """Everything in it: the root, what stands beside it, and what is in them."""
        todo: list[Node | Group] = [self.root, *(callout.group for callout in self.callouts)]
        while todo:
            part = todo.pop()
            yield part
            if isinstance(part, Group):
                todo.extend(part.children)
