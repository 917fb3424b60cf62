"""The counts block by block: a tree in which what stands below a block adds up to it.

Every number is of all turns and copies together, as in the totals; a `repeat` stands there once,
with how often it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

from transformer_diagrams.count.amount import Amount, Amounts
from transformer_diagrams.count.cache import count_cache
from transformer_diagrams.count.tally import ONE, ZERO, Adder, Counter, Tally
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.program import ROOT, Atom
from transformer_diagrams.ops.registry import Shape
from transformer_diagrams.records import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """One block, and the blocks in it. ``kind`` is its op, the spec that it uses, or its structure.

    times   how often it is done where it stands: turns of a repeat, copies
    shape   the axes of its first output; () where it gives none
    cache   all that it keeps for later tokens, at the length that the counts are for
    """

    id: str
    path: str
    kind: str
    times: Amount
    shape: tuple[Amount, ...]
    params: Amount
    active: Amount
    flops: Amount
    macs: Amount
    cache: Amount
    blocks: tuple[Counts, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain data; a count is null while a size it needs has no number."""
        amounts = {"params": self.params, "active": self.active, "flops": self.flops,
                   "macs": self.macs, "cache": self.cache}  # fmt: skip
        return {
            "id": self.id,
            "path": self.path,
            "kind": self.kind,
            "times": self.times.number,
            "times_formula": str(self.times.formula),
            "shape": [str(size.exact) for size in self.shape],
            "sizes": [size.number for size in self.shape],
            **{name: amount.number for name, amount in amounts.items()},
            **{f"{name}_formula": str(amount.formula) for name, amount in amounts.items()},
            "blocks": [block.as_json() for block in self.blocks],
        }

    def walk(self, depth: int | None = None, level: int = 0) -> Iterator[tuple[int, Counts]]:
        """(level, block) of this block and those in it, down to ``depth`` levels below it."""
        yield level, self
        if depth is None or level < depth:
            for block in self.blocks:
                yield from block.walk(depth, level + 1)


_Lift = Callable[[Tally], Tally]


def count_blocks(frame: Frame, counter: Counter, evaluate: Amounts, passes: int) -> Counts:
    """The tree of ``frame``, whose root is the whole spec. ``passes`` multiplies the work."""
    spec = frame.program.spec
    whole = counter.tally(frame)
    builder = _Builder(frame, evaluate, passes)
    made = builder.blocks(frame, counter, counter.adder(frame), lambda tally: tally, "")
    outputs = [o[0] for i in frame.program.outputs if (o := frame.outputs[i])]
    shape = outputs[0] if outputs else None
    return builder.counts(spec.id, "", "spec", evaluate(ONE), shape, whole, tuple(made))


class _Builder:
    def __init__(self, root: Frame, evaluate: Amounts, passes: int) -> None:
        self.root, self.evaluate, self.passes = root, evaluate, passes

    def counts(
        self,
        id: str,
        path: str,
        kind: str,
        times: Amount,
        shape: Shape | None,
        tally: Tally,
        blocks: tuple[Counts, ...] = (),
    ) -> Counts:
        """One row of the tree: ``tally`` in amounts."""
        weights = tally.weights.values()
        return Counts(
            id,
            path,
            kind,
            times,
            () if shape is None else tuple(self.evaluate(d) for d in shape.dims),
            self.evaluate(sum((params for params, _ in weights), ZERO)),
            self.evaluate(sum((active for _, active in weights), ZERO)),
            self.evaluate(tally.flops * self.passes),
            self.evaluate(tally.macs * self.passes),
            count_cache(self.root, tally, self.evaluate).total,
            blocks,
        )

    def blocks(
        self, frame: Frame, counter: Counter, adder: Adder, lift: _Lift, path: str
    ) -> list[Counts]:
        """The blocks of one frame. ``lift`` says what a tally in it amounts to in the root."""
        program = frame.program
        inside: dict[int, list[Atom | int]] = {}
        for box in program.structures:
            inside[box.index] = []
        places: dict[int, int] = {}
        for atom in program.atoms:
            if not adder.counts(atom):
                continue
            chain = program.up(atom.structure)
            for inner, outer in pairwise(chain):
                if inner not in places:
                    places[inner] = outer
                    inside[outer].append(inner)
            inside[atom.structure].append(atom)

        def row(item: Atom | int, path: str) -> tuple[Counts, Tally, Shape | None]:
            if isinstance(item, Atom):
                return self._atom(frame, counter, adder, lift, item, path)
            box = program.structures[item]
            block = box.block
            name = block.id if block is not None else box.kind
            own = f"{path}/{name}" if path else name
            rows = [row(child, own) for child in inside[item]]
            tally = _sum(made for _, made, _ in rows)
            times = frame.counts.get(item, ONE)
            if block is not None:
                times = times * frame.copies.get(block.id, ONE)
            shape = rows[-1][2]
            made = self.counts(
                name, own, box.kind, self.evaluate(times), shape, tally, tuple(r[0] for r in rows)
            )
            return made, tally, shape

        return [row(item, path)[0] for item in inside[ROOT]]

    def _atom(
        self, frame: Frame, counter: Counter, adder: Adder, lift: _Lift, atom: Atom, path: str
    ) -> tuple[Counts, Tally, Shape | None]:
        own = f"{path}/{atom.id}" if path else atom.id
        found = frame.outputs[atom.index]
        shape = found[0] if found else None
        tally = lift(adder.one(atom))
        below: list[Counts] = []
        if atom.index in frame.uses:
            inner = frame.uses[atom.index]
            kind = inner.program.spec.id
            inner_adder = counter.adder(inner, *adder.place(atom))
            below = self.blocks(
                inner, counter, inner_adder, lambda part: lift(adder.inside(atom, part)), own
            )
        else:
            kind = frame.applied[atom.index].op.name
        times = ONE if atom.block is None else frame.copies.get(atom.block.id, ONE)
        row = self.counts(atom.id, own, kind, self.evaluate(times), shape, tally, tuple(below))
        return row, tally, shape


def _sum(parts: Iterable[Tally]) -> Tally:
    """All of them together."""
    whole = Tally()
    for part in parts:
        for key, (params, active) in part.weights.items():
            whole.add(key, params, active)
        whole.caches += part.caches
        whole.macs = whole.macs + part.macs
        whole.flops = whole.flops + part.flops
    return whole
