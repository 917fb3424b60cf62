"""Which used specs are drawn opened: by id of the block, id of the spec, path, depth or `*`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from transformer_diagrams.errors import DiagramError, Fault, did_you_mean
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.spec.model import Block

States = frozenset[tuple[int, int]]  # (pattern, how many of its parts are matched)


@dataclass(slots=True)
class Opening:
    """``patterns`` are split paths; a pattern may begin at any level.

    What stands inside a closed box cannot be seen, so a name opens the boxes around it too.
    """

    patterns: tuple[tuple[str, ...], ...] = ()
    depth: int = 0  # uses opened up to this level; a large number: all
    _known: dict[tuple[int, States], bool] = field(default_factory=dict)

    @classmethod
    def parse(cls, names: Iterable[str]) -> Opening:
        """``Opening.parse(["attention/rope", "ffn", "2", "*"])``; a number is a depth."""
        patterns: dict[tuple[str, ...], None] = {}
        depth = 0
        for name in names:
            text = str(name).strip()
            if text == "*":
                depth = 1 << 30
            elif text.isdecimal():
                depth = max(depth, int(text))
            elif text:
                patterns[tuple(part for part in text.split("/") if part)] = None
        return cls(tuple(patterns), depth)

    def check(self, frame: Frame) -> None:
        """Raise a fault for a name that opens nothing in ``frame``."""
        faults = []
        for number, pattern in enumerate(self.patterns):
            if not self._has(frame, frozenset(), (number,)):
                known = _names(frame)
                hint = did_you_mean(pattern[-1], known, what="part")
                faults.append(
                    Fault(
                        "unknown-part",
                        f"'{frame.program.spec.id}' has no part '{'/'.join(pattern)}' to open",
                        frame.program.spec.span,
                        found="/".join(pattern),
                        hint=hint or "nothing here is a used spec (`use:`)",
                    )
                )
        if faults:
            raise DiagramError(faults)

    def step(self, states: States, block: Block, frame: Frame) -> tuple[States, bool]:
        """The states inside ``block`` (whose contents are ``frame``), and whether to open it."""
        return self._step(states, block, frame, tuple(range(len(self.patterns))))

    def _step(
        self, states: States, block: Block, frame: Frame, begin: tuple[int, ...]
    ) -> tuple[States, bool]:
        names = (block.id, frame.program.spec.id, block.use)
        reached = set()
        done = False
        for number, at in (*sorted(states), *((n, 0) for n in begin)):
            pattern = self.patterns[number]
            if at < len(pattern) and pattern[at] in names:
                reached.add((number, at + 1))
                done = done or at + 1 == len(pattern)
        inner = frozenset(s for s in reached if s[1] < len(self.patterns[s[0]]))
        return inner, done or self._has(frame, inner, begin)

    def _has(self, frame: Frame, states: States, begin: tuple[int, ...]) -> bool:
        """Whether some use inside ``frame`` is named."""
        if not self.patterns or not frame.uses:
            return False
        key = (id(frame), states | frozenset((n, 0) for n in begin))
        known = self._known.get(key)
        if known is None:
            self._known[key] = False
            known = False
            for index, inner in frame.uses.items():
                block = frame.program.atoms[index].block
                if block is not None and self._step(states, block, inner, begin)[1]:
                    known = True
                    break
            self._known[key] = known
        return known


def _names(frame: Frame) -> list[str]:
    found: dict[str, None] = {}
    waiting = [frame]
    seen: set[int] = set()
    while waiting:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        for index, inner in at.uses.items():
            block = at.program.atoms[index].block
            if block is not None and block.explicit_id:
                found[block.id] = None
            found[inner.program.spec.id] = None
            waiting.append(inner)
    return list(found)
