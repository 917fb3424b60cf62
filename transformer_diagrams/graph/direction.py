"""Parts that ask for a direction of their own, which a figure cannot give them.

A figure has one direction: edges run from border to border in straight lanes, and a part turned
against the flow around it would have to bend every line that enters or leaves it. What a part
asks for is therefore told, never silently dropped.
"""

from __future__ import annotations

from collections.abc import Iterable

from transformer_diagrams.errors import Fault, Span
from transformer_diagrams.graph.ir import Graph, Group
from transformer_diagrams.spec.blocks import walk
from transformer_diagrams.spec.model import Spec

CODE = "direction-ignored"


def in_spec(spec: Spec) -> list[Fault]:
    """Warnings for the parts of ``spec`` whose `direction:` is not that of its figure."""
    figure = spec.show.direction
    return [
        _fault(block.id, block.direction, figure, block.key_spans.get("direction", block.span),
               f"{block.path}.direction")
        for block in walk(spec.blocks)
        if block.direction not in (None, "", figure)
    ]  # fmt: skip


def in_graph(graph: Graph, figure: str) -> list[Fault]:
    """As :func:`in_spec`, for what is drawn, and with the direction the figure is drawn in."""
    faults = []
    todo: list[Group] = [graph.root, *(callout.group for callout in graph.callouts)]
    while todo:
        group = todo.pop()
        if group.direction not in ("", figure):
            path = f"{group.doc_path}.direction"
            faults.append(_fault(group.path, group.direction, figure, group.span, path))
        todo += [child for child in reversed(group.children) if isinstance(child, Group)]
    return faults


def without(faults: Iterable[Fault]) -> list[Fault]:
    """``faults`` but for those of :func:`in_spec`, where :func:`in_graph` knows better."""
    return [fault for fault in faults if fault.code != CODE]


def _fault(name: str, asked: str | None, figure: str, span: Span, path: str) -> Fault:
    return Fault(
        CODE,
        f"'{name}' asks for the direction '{asked}', but the whole figure runs '{figure}': a part "
        "cannot be turned, since the lines that enter and leave it keep to the figure's lanes",
        span,
        path=path,
        found=str(asked),
        expected=figure,
        hint=f"turn the whole figure (`show: {{direction: {asked}}}`, or --direction {asked}), "
        "or leave this `direction:` out",
        severity="warning",
    )
