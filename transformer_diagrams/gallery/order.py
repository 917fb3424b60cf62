"""Pages that build on each other: what may be wrong, what to read first, and in which order."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from transformer_diagrams.dims.order import in_order
from transformer_diagrams.errors import NOWHERE, DiagramError, Fault, Span, did_you_mean
from transformer_diagrams.records import dataclass

KINDS = ("read", "paper", "architecture")
"""What a page is; of two that may come next, the earlier kind comes first."""


@dataclass(frozen=True, slots=True)
class Page:
    """What the order of pages is made from.

    date       ISO text (a year will do); of two pages of a kind the earlier comes first
    builds_on  ids of pages that a reader should know before, in the author's order
    figures    ids of figures on the page, in its order
    span       where the page was written
    """

    id: str
    title: str
    kind: str = "read"
    date: str = ""
    tags: tuple[str, ...] = ()
    builds_on: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    span: Span = NOWHERE

    @property
    def key(self) -> tuple[int, str, str]:
        return KINDS.index(self.kind), self.date, self.id


def check(pages: Sequence[Page], figures: Iterable[str] = ()) -> None:
    """Raise for what makes an order impossible, each fault naming its culprit.

    :raises DiagramError: two pages with one id, a page or figure that does not exist, a circle.
    """
    known_figures = list(figures)
    faults: list[Fault] = []
    by_id: dict[str, Page] = {}
    for page in pages:
        if page.id in by_id:
            first = by_id[page.id].span
            note = (("the first one", first),) if first.file else ()
            faults.append(
                Fault("duplicate-id", f"duplicate id: {page.id}", page.span, notes=note,
                      found=page.id, hint="rename one of the files")
            )  # fmt: skip
        by_id.setdefault(page.id, page)
    for page in pages:
        for name in dict.fromkeys(page.builds_on):
            if name not in by_id:
                faults.append(
                    Fault("unknown-page", f"{page.id}: builds_on unknown page '{name}'",
                          page.span, path="builds_on", found=name,
                          hint=did_you_mean(name, by_id, what="page"))
                )  # fmt: skip
        for name in page.figures:
            if name not in known_figures:
                faults.append(
                    Fault("unknown-figure", f"{page.id}: there is no figure '{name}'",
                          page.span, path="figures", found=name,
                          hint=did_you_mean(name, known_figures, what="figure"))
                )  # fmt: skip
    if not faults:
        _, circles = in_order({name: by_id[name].builds_on for name in sorted(by_id)})
        if circles:
            circle = circles[0]
            faults.append(
                Fault("builds-on-cycle", f"cycle: {' -> '.join(circle)}",
                      by_id[circle[0]].span, path="builds_on",
                      hint="take one of them out of a `builds_on`")
            )  # fmt: skip
    if faults:
        raise DiagramError(faults)


def reading_order(pages: Sequence[Page], topic: str | None = None) -> list[Page]:
    """The pages with the tag ``topic`` (None: all), each after all that it builds on.

    Links that run through pages outside the topic count too. Among pages that are free to come
    next the least by (kind, date, id) does, so the order does not depend on that of ``pages``.
    They must have passed :func:`check`.
    """
    by_id = {page.id: page for page in pages}
    chosen = {page.id for page in pages if topic is None or topic in page.tags}
    waits: dict[str, set[str]] = {}
    unlocks: dict[str, list[str]] = {}
    for name in sorted(chosen):
        before = _nearest(by_id, name, chosen)
        waits[name] = before
        for other in before:
            unlocks.setdefault(other, []).append(name)
    free = [(by_id[name].key, name) for name, before in waits.items() if not before]
    heapq.heapify(free)
    order: list[Page] = []
    while free:
        _, name = heapq.heappop(free)
        order.append(by_id[name])
        for later in unlocks.get(name, ()):
            waits[later].discard(name)
            if not waits[later]:
                heapq.heappush(free, (by_id[later].key, later))
    return order


def _nearest(by_id: Mapping[str, Page], start: str, chosen: set[str]) -> set[str]:
    """The chosen pages below ``start`` that can be reached without passing another chosen one."""
    found: set[str] = set()
    seen: set[str] = set()
    todo = list(by_id[start].builds_on)
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in chosen:
            found.add(name)
        else:
            todo += by_id[name].builds_on
    return found


def read_first(page: Page, topic: str | None, by_id: Mapping[str, Page]) -> list[Page]:
    """The direct prerequisites outside the topic, in the author's order; those inside stand
    above the page anyway."""
    return [
        by_id[name]
        for name in dict.fromkeys(page.builds_on)
        if topic is not None and topic not in by_id[name].tags
    ]


def tag_counts(pages: Iterable[Page], topic: str | None = None) -> list[tuple[str, int]]:
    """How often each tag but the topic stands on its pages: often first, then by name."""
    counts = Counter(
        tag
        for page in pages
        if topic is None or topic in page.tags
        for tag in dict.fromkeys(page.tags)
        if tag != topic
    )
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
