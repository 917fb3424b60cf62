"""A figure in steps, in the order of its data: which step shows each thing of a display list.

What a step shows stays where it is; a line comes with the later of its ends, a frame with the
first block in it. Ordered by block, by frame, by layer (what lies equally far along the data), or
as a spec says with `step:`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from transformer_diagrams.render.display import Curve, Disc, Display, Item
from transformer_diagrams.render.geometry import Point, rounded


def numbered(display: Display, by: str, said: Mapping[str, int]) -> tuple[int, ...]:
    """The step, from 1, at which each item of the display is shown.

    by    block, frame, layer or spec
    said  for ``spec``: steps by the ids of blocks, of structures for all that is in them
    """
    return _Order(display).items(by, said)


def pages(display: Display, steps: tuple[int, ...]) -> tuple[Display, ...]:
    """What each step shows, the whole figure last."""
    display = _with_trunks(display, steps)
    return tuple(
        replace(display, items=tuple(
            item for item, at in zip(display.items, steps, strict=True) if at <= step
        ))
        for step in range(1, max(steps, default=1) + 1)
    )  # fmt: skip


class _Order:
    """The blocks of one figure and what leads to what."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self.frames = {i.id: i for i in display.items if i.kind == "frame"}
        lines = [i for i in display.items if i.kind == "line"]
        boxes = {i.id: i for i in display.items if i.rect and i.kind not in ("frame", "strip")}
        # A sample of the legend is no block: no line leads to it, and it has no path.
        linked = {end for line in lines for end in (line.tail, line.head)}
        self.boxes = {name: i for name, i in boxes.items() if i.path or name in linked}
        self.before: dict[str, list[str]] = {name: [] for name in self.boxes}
        self.after: dict[str, list[str]] = {name: [] for name in self.boxes}
        for line in lines:
            if line.role == "feedback" or line.tail not in self.boxes:
                continue
            # What a box leads to beside the figure comes after it, all of it.
            inside = [line.head] if line.head in self.boxes else self.first_in(line.head)
            for head in inside:
                self.before[head].append(line.tail)
                self.after[line.tail].append(head)
        # What comes from the first input is shown first: an encoder before the decoder it feeds.
        first = {name: at for at, name in enumerate(self.boxes)}
        for name in self.in_order():
            own = first[name] if self.boxes[name].kind == "text" else len(first)
            first[name] = min((first[n] for n in self.before[name]), default=own)
        for names in self.before.values():
            names.sort(key=first.__getitem__)
        self.sorted = self.in_order()

    def around(self, item: Item) -> list[str]:
        """The frames around an item, the innermost first."""
        found, at = [], item.parent
        while at in self.frames and at not in found:
            found.append(at)
            at = self.frames[at].parent
        return found

    def first_in(self, frame: str) -> list[str]:
        return [name for name, item in self.boxes.items() if frame in self.around(item)]

    def in_order(self) -> list[str]:
        """Each box after all that leads to it, and just before what needs it."""
        done: dict[str, None] = {}
        ends = [name for name in self.boxes if not self.after[name]]
        for end in (*ends, *self.boxes):
            trail = [(end, iter(self.before[end]))]
            seen = {end}
            while trail:
                here, rest = trail[-1]
                below = next((n for n in rest if n not in done and n not in seen), None)
                if below is None:
                    done.setdefault(here)
                    trail.pop()
                else:
                    seen.add(below)
                    trail.append((below, iter(self.before[below])))
        return list(done)

    def items(self, by: str, said: Mapping[str, int]) -> tuple[int, ...]:
        keys = {"block": self.blocks, "frame": self.by_frame, "layer": self.layers}
        steps = self.as_said(said) if by == "spec" else keys[by]()
        used = {step: at for at, step in enumerate(sorted(set(steps.values())), 1)}
        return self.spread({name: used[step] for name, step in steps.items()})

    # The step of each box, in any numbers that grow

    def blocks(self) -> dict[str, int]:
        return self.with_ends({name: at for at, name in enumerate(self.sorted)})

    def with_ends(self, steps: dict[str, int]) -> dict[str, int]:
        """An input comes with the first block that takes it, an output with what gives it."""
        for name in self.sorted:
            if self.boxes[name].kind == "text":
                if self.after[name]:
                    steps[name] = min(steps[n] for n in self.after[name])
                elif self.before[name]:
                    steps[name] = max(steps[n] for n in self.before[name])
        return steps

    def by_frame(self) -> dict[str, int]:
        """What stands in one frame together; what stands in none, by the runs between."""
        steps: dict[str, int] = {}
        known: dict[str, int] = {}
        last = ""
        for at, name in enumerate(self.sorted):
            frame = next(iter(self.around(self.boxes[name])), "")
            if frame:
                steps[name] = known.setdefault(frame, at)
            else:
                steps[name] = known[""] if last == "" and "" in known else at
                known[""] = steps[name]
            last = frame
        return self.with_ends(steps)

    def layers(self) -> dict[str, int]:
        """How far along the data: one more than the farthest that leads here."""
        steps: dict[str, int] = {}
        for name in self.sorted:
            steps[name] = 1 + max((steps.get(n, 0) for n in self.before[name]), default=0)
        for name in self.sorted:  # what nothing leads to comes just before its reader
            if not self.before[name] and self.after[name]:
                steps[name] = max(1, min(steps[n] for n in self.after[name]) - 1)
        return steps

    def as_said(self, said: Mapping[str, int]) -> dict[str, int]:
        """As the spec says; a block without a step comes with the last that leads to it."""
        steps: dict[str, int] = {}
        for name in self.sorted:
            item = self.boxes[name]
            paths = [item.path, *(self.frames[frame].path for frame in self.around(item))]
            own = next((said[p] for p in (_first(path) for path in paths) if p in said), None)
            if own is not None:
                steps[name] = own
            elif self.before[name]:
                steps[name] = max(steps.get(n, 1) for n in self.before[name])
        for name in reversed(self.sorted):  # an input: with its first reader
            readers = [steps[n] for n in self.after[name] if n in steps]
            steps.setdefault(name, min(readers, default=1))
        return steps

    # From boxes to all else

    def spread(self, steps: dict[str, int]) -> tuple[int, ...]:
        last = max(steps.values(), default=1)
        frames: dict[str, int] = {}
        for name, step in steps.items():
            for frame in self.around(self.boxes[name]):
                frames[frame] = min(step, frames.get(frame, last))
        shown = {**frames, **steps}
        lines: dict[str, int] = {}
        passed: list[tuple[list[Point], int]] = []
        for item in self.display.items:
            if item.kind == "line":
                at = max(shown.get(item.tail, 1), shown.get(item.head, 1))
                lines[item.id] = at
                lines[item.net] = min(at, lines.get(item.net, at))
                passed.append((item.way, at))
        shown |= lines

        def of(item: Item) -> int:
            if item.kind == "dot":
                (dot,) = (shape for shape in item.shapes if isinstance(shape, Disc))
                here = sorted(at for way, at in passed if _passes(way, dot.center))
                return here[1] if len(here) > 1 else here[0] if here else last
            owners = (text.label.owner for text in item.texts if text.label)
            known = (name for name in (item.id, *owners, item.parent) if name in shown)
            return shown.get(next(known, ""), 1)

        return tuple(of(item) for item in self.display.items)


def _first(path: str) -> str:
    return path.split("/")[0]


def _passes(way: Iterable[Point], at: Point) -> bool:
    return any(
        abs(math.dist(a, at) + math.dist(at, b) - math.dist(a, b)) < 0.05
        for a, b in pairwise(way)
    )


def _with_trunks(display: Display, steps: tuple[int, ...]) -> Display:
    """The display with a trunk before a branch that is shown earlier than the line it leaves."""
    whole: dict[str, int] = {}  # box -> the first step that shows a line from its border
    for item, at in zip(display.items, steps, strict=True):
        if item.kind == "line" and not item.trunk:
            whole[item.tail] = min(at, whole.get(item.tail, at))

    def full(item: Item, at: int) -> Item:
        if not item.trunk or whole.get(item.tail, at + 1) <= at:
            return item
        own = item.shapes[0]
        assert isinstance(own, Curve)
        start, pieces = rounded((*item.trunk, own.start), item.radius)
        return replace(item, over=(Curve(start, tuple(pieces), own.ink), *item.over))

    return replace(display, items=tuple(map(full, display.items, steps)))
