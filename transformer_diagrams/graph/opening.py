"""What is drawn opened and what closed: by id, by id of the used spec, path, depth or `*`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from transformer_diagrams.errors import DiagramError, Fault, did_you_mean
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.program import ROOT
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Block

States = frozenset[tuple[int, int]]  # (pattern, how many of its parts are matched)


@dataclass(frozen=True, slots=True)
class Step:
    """What the patterns say of one part: the states inside it, and whether it is named."""

    inside: States
    opened: bool  # named to be opened, or something inside it is
    closed: bool


@dataclass(frozen=True, slots=True)
class Doors:
    """The structures of one frame that are not drawn open, by index of their box."""

    closed: frozenset[int]  # drawn as one box
    beside: frozenset[int]  # those of ``closed`` that are drawn opened beside the figure
    hidden: frozenset[int]  # inside of one that is not to be seen
    depth: tuple[int, ...]  # by box: structures around and at it that the spec closes


@dataclass(slots=True)
class Opening:
    """``patterns`` are split paths; a pattern may begin at any level.

    What stands inside a closed box cannot be seen, so a name opens the boxes around it too.
    """

    patterns: tuple[tuple[str, ...], ...] = ()
    depth: int = 0  # closed parts opened up to this level; a large number: all
    closing: frozenset[int] = frozenset()  # patterns that close what they name
    _known: dict[tuple[int, States], bool] = field(default_factory=dict)

    @classmethod
    def parse(cls, names: Iterable[str], close: Iterable[str] = ()) -> Opening:
        """``Opening.parse(["attention/rope", "ffn", "2", "*"])``; a number is a depth."""
        patterns: dict[tuple[tuple[str, ...], bool], None] = {}
        depth = 0
        for name in names:
            text = str(name).strip()
            if text == "*":
                depth = 1 << 30
            elif text.isdecimal():
                depth = max(depth, int(text))
            elif text:
                patterns[_split(text), False] = None
        for name in close:
            patterns[_split(name), True] = None
        closing = frozenset(n for n, (_, shut) in enumerate(patterns) if shut)
        return cls(tuple(path for path, _ in patterns), depth, closing)

    def check(self, frame: Frame) -> None:
        """Raise a fault for a name that is nowhere in ``frame``."""
        faults = []
        for number, pattern in enumerate(self.patterns):
            if not self._has(frame, frozenset({(number, 0)})):
                known = _names(frame)
                hint = did_you_mean(pattern[-1], known, what="part")
                verb = "close" if number in self.closing else "open"
                faults.append(
                    Fault(
                        "unknown-part",
                        f"'{frame.program.spec.id}' has no part '{'/'.join(pattern)}' to {verb}",
                        frame.program.spec.span,
                        found="/".join(pattern),
                        hint=hint or "there is no used spec or structure",
                    )
                )
        if faults:
            raise DiagramError(faults)

    def step(self, states: States, block: Block, frame: Frame) -> Step:
        """What is said of the used spec ``block``, whose contents are ``frame``."""
        inner, named = self._reach(states | self._begin, _uses(block, frame))
        opened = bool(named - self.closing)
        closed = bool(named & self.closing)
        if not opened and not closed and self.patterns:
            wanted = frozenset(s for s in inner | self._begin if s[0] not in self.closing)
            opened = self._has(frame, wanted)
        return Step(inner, opened, closed)

    def doors(self, frame: Frame, states: States, level: int) -> Doors:
        """Which structures of ``frame`` are drawn as one box."""
        boxes = frame.program.structures
        around = self._around_named(frame, states) if self.patterns else {ROOT}
        closed, beside, hidden = set(), set(), set()
        depth = [0] * len(boxes)
        for box in boxes[1:]:  # a box stands after the one around it
            block = box.block
            assert block is not None  # only the root has none
            depth[box.index] = depth[box.parent] + (block.open in (False, "callout"))
            if box.parent in hidden or (box.parent in closed and box.parent not in beside):
                hidden.add(box.index)
            _, named = self._reach(states | self._begin, (block.id,))
            if named & self.closing:
                closed.add(box.index)
            elif block.open in (False, "callout"):
                if box.index in around or level + depth[box.parent] < self.depth:
                    continue
                closed.add(box.index)
                if block.open == "callout":
                    beside.add(box.index)
        return Doors(frozenset(closed), frozenset(beside), frozenset(hidden), tuple(depth))

    @property
    def _begin(self) -> States:
        return frozenset((number, 0) for number in range(len(self.patterns)))

    def _reach(self, states: States, names: tuple[str, ...]) -> tuple[States, frozenset[int]]:
        """One part further: the states behind a part of these names, and the patterns it ends."""
        reached = [
            (number, at + 1)
            for number, at in sorted(states)
            if at < len(self.patterns[number]) and self.patterns[number][at] in names
        ]
        done = frozenset(n for n, at in reached if at == len(self.patterns[n]))
        return frozenset(s for s in reached if s[1] < len(self.patterns[s[0]])), done

    def _around_named(self, frame: Frame, states: States) -> set[int]:
        """The boxes that must be open, so that what is named to be opened can be seen."""
        found: set[int] = set()
        for index, inner in frame.uses.items():
            atom = frame.program.atoms[index]
            if atom.block is not None and self.step(states, atom.block, inner).opened:
                found.update(frame.program.up(atom.structure))
        for box in frame.program.structures[1:]:
            if box.block is not None:
                named = self._reach(states | self._begin, (box.block.id,))[1]
                if named - self.closing:
                    found.update(frame.program.up(box.index))
        return found

    def _has(self, frame: Frame, states: States) -> bool:
        """Whether something inside ``frame`` is named; ``states`` may begin at any level."""
        key = (id(frame), states)
        known = self._known.get(key)
        if known is None:
            self._known[key] = False
            fresh = frozenset(s for s in states if not s[1])
            known = any(
                box.block is not None and self._reach(states, (box.block.id,))[1]
                for box in frame.program.structures
            )
            for index, inner in frame.uses.items():
                block = frame.program.atoms[index].block
                if known or block is None:
                    continue
                reached, done = self._reach(states, _uses(block, inner))
                known = bool(done) or self._has(inner, reached | fresh)
            self._known[key] = known
        return known


def _split(name: str) -> tuple[str, ...]:
    return tuple(part for part in str(name).strip().split("/") if part)


def _uses(block: Block, frame: Frame) -> tuple[str, ...]:
    return (block.id, frame.program.spec.id, block.use)


def _names(frame: Frame) -> list[str]:
    """What can be named: ids that an author gave, and ids of used specs."""
    found: dict[str, None] = {}
    waiting = [frame]
    seen: set[int] = set()
    while waiting:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        for box in at.program.structures:
            if box.block is not None and box.block.explicit_id:
                found[box.block.id] = None
        for index, inner in at.uses.items():
            block = at.program.atoms[index].block
            if block is not None and block.explicit_id:
                found[block.id] = None
            found[inner.program.spec.id] = None
            waiting.append(inner)
    return list(found)
