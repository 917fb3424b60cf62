"""What no page holds: refused before any layout, and told by the check."""

from __future__ import annotations

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.graph.ir import Graph, Group

MOST_BOXES = 40_000
MOST_FAN = 400


def refuse(graph: Graph) -> None:
    """Raise a DiagramError with everything that is too much for one figure."""
    faults: list[Fault] = []
    boxes = 0
    for group in graph.parts():
        if not isinstance(group, Group):
            continue
        boxes += len(group.children)
        fans: dict[int, int] = {}
        for edge in group.edges:
            fans[edge.head.child] = fans.get(edge.head.child, 0) + 1
        for child, count in fans.items():
            if count > MOST_FAN and child >= 0:
                node = group.children[child]
                faults.append(
                    Fault(
                        "too-many-ends",
                        f"{count} lines end at '{node.path}': no page shows that",
                        node.span,
                        node.doc_path,
                        found=f"{count} lines",
                        expected=f"at most {MOST_FAN}",
                        hint="draw one of them with `copies: n`, or group them",
                    )
                )
    if boxes > MOST_BOXES:
        faults.append(
            Fault(
                "too-many-boxes",
                f"the figure would have {boxes} boxes",
                graph.root.span,
                "blocks",
                found=f"{boxes} boxes",
                expected=f"at most {MOST_BOXES}",
                hint="write equal blocks once with `repeat: n`, or close groups with `use:`",
            )
        )
    if faults:
        raise DiagramError(faults)
