"""The rank of every child of a group: the longest path to it."""

from __future__ import annotations

from collections import defaultdict, deque

from transformer_diagrams.graph.ir import BORDER, Edge, Group, Node
from transformer_diagrams.layout.stream import flow_of


def ranks_of(group: Group, flow: list[tuple[int, Edge]], late: bool = False) -> list[int]:
    """Longest-path ranks from 1.

    A child without inputs sits one rank below its first reader; if ``late``, every child does.
    """
    count = len(group.children)
    waits = [0] * count
    readers: dict[int, list[int]] = defaultdict(list)
    fed = [False] * count
    for _, edge in flow:
        head, tail = edge.head.child, edge.tail.child
        if head == BORDER:
            continue
        fed[head] = True
        if tail != BORDER:
            waits[head] += 1
            readers[tail].append(head)
    rank = [1] * count
    ready = deque(i for i in range(count) if not waits[i])
    order: list[int] = []
    while ready:
        index = ready.popleft()
        order.append(index)
        for reader in readers[index]:
            rank[reader] = max(rank[reader], rank[index] + 1)
            waits[reader] -= 1
            if not waits[reader]:
                ready.append(reader)
    for index in reversed(order):
        if (late or not fed[index]) and readers[index]:
            rank[index] = min(rank[r] for r in readers[index]) - 1
    lowest = min(rank, default=1)
    return [r - lowest + 1 for r in rank]


def alone_in_rank(group: Group) -> set[int]:
    """Children that share their rank with no other box (names of inputs do not count)."""
    rank = ranks_of(group, flow_of(group))
    count: dict[int, int] = defaultdict(int)
    boxes = [not (isinstance(c, Node) and c.form == "text") for c in group.children]
    for level, is_box in zip(rank, boxes, strict=True):
        count[level] += is_box
    return {i for i, level in enumerate(rank) if boxes[i] and count[level] == 1}
