"""The order in which one frame is executed, and the names of what is in it.

A name is a path of ids: ``layers[3]/attention/q``. Ids are unique in a spec, so a path names only
the repeats, each with the number of its turn from 0 (those of a pattern are numbered through,
whatever their kind), the piles of copies with the number of the copy, the used specs, and last the
block. Its output is named so, with ``.port`` where it has several; its weights and buffers have
the path, a dot and their own name: ``layers[3]/attention/q.W``. A repeat with a number is the
stream after that turn. What is shared is named where it belongs: by the block that it is shared
with, or without the number where it is the same in all turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from itertools import product

from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.pattern import order
from transformer_diagrams.graph.program import ROOT, Atom
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Block


@dataclass(frozen=True, slots=True)
class PathPart:
    """One id of a path; ``copy`` of a pile, ``turn`` of a repeat, both from 0."""

    id: str
    copy: int | None = None
    turn: int | None = None

    def __str__(self) -> str:
        return self.id + "".join(f"[{n}]" for n in (self.copy, self.turn) if n is not None)


Path = tuple[PathPart, ...]
Item = tuple[bool, int]  # whether it is a loop, and its box; else an atom


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a frame: box -> which turn of a repeat or pattern; block -> which copy of it."""

    turns: Mapping[int, int] = field(default_factory=dict)
    copies: Mapping[str, int] = field(default_factory=dict)

    def turn(self, loop: int, number: int) -> Place:
        """In that turn."""
        return replace(self, turns={**self.turns, loop: number})

    def copy(self, block: Block, number: int) -> Place:
        """In that copy."""
        return replace(self, copies={**self.copies, block.id: number})


def spelt(path: Path) -> str:
    """``layers[3]/attention/q``."""
    return "/".join(map(str, path))


@dataclass(slots=True)
class Plan:
    """One frame taken apart.

    ``items``   repeat, or ROOT, the spec itself -> its atoms and the loops in it, in order; a loop
                is the box of a repeat, or of a pattern of several
    ``ends``    repeat -> the atoms where its turns begin and end
    ``kinds``   pattern -> the repeat that each of its turns is
    ``entries`` pattern -> its repeats, in order
    ``copies``  block -> how many of it there are
    """

    frame: Frame
    items: dict[int, list[Item]] = field(default_factory=dict)
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    kinds: dict[int, tuple[int, ...]] = field(default_factory=dict)
    entries: dict[int, list[int]] = field(default_factory=dict)
    copies: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def of(frame: Frame) -> Plan:
        """The plan of a frame in which all sizes are numbers."""
        plan, program = Plan(frame), frame.program
        plan.copies = {name: size.evaluate({}) for name, size in frame.copies.items()}
        for box in program.structures:
            if plan.is_entry(box.index):
                plan.entries.setdefault(box.parent, []).append(box.index)
        for index, pattern in frame.patterns.items():
            found = order(pattern, {}) or ((), False)
            plan.kinds[index] = tuple(plan.entries[index][kind] for kind in found[0])
        enters = {a.structure: a.index for a in program.atoms if a.kind == "enter"}
        for index in program.order:
            atom = program.atoms[index]
            if atom.kind in ("input", "enter"):
                continue
            if atom.kind != "leave":
                plan._put(atom.structure, (False, index))
                continue
            repeat = atom.structure
            around = program.structures[repeat].parent
            plan.ends[repeat] = enters[repeat], index
            if not plan.is_entry(repeat):
                plan._put(around, (True, repeat))
            elif repeat == plan.entries[around][-1]:
                plan._put(program.structures[around].parent, (True, around))
        return plan

    def _put(self, box: int, item: Item) -> None:
        for index in self.frame.program.up(box):
            if index == ROOT or self.frame.program.structures[index].kind == "repeat":
                self.items.setdefault(index, []).append(item)
                return

    def is_entry(self, box: int) -> bool:
        """Whether a repeat is of some turns of a pattern."""
        structures = self.frame.program.structures
        return box != ROOT and structures[structures[box].parent].kind == "pattern"

    def turns(self, loop: int) -> int:
        """How often a repeat, or all of a pattern, is gone through."""
        if loop in self.kinds:
            return len(self.kinds[loop])
        return self.frame.counts[loop].evaluate({})

    # -- names

    def path(self, atom: Atom, place: Place, *, without: int | None = None) -> Path:
        """An atom's path in its frame; the loop ``without`` has no number."""
        parts = list(self._around(atom.structure, place, without))
        if atom.kind in ("op", "use", "add"):
            parts.append(PathPart(atom.id, self._copy(atom.id, place)))
        return tuple(parts)

    def stream(self, loop: int, place: Place) -> Path:
        """The path of what a turn of a loop gives."""
        return tuple(self._around(loop, place, None))

    def _around(self, box: int, place: Place, without: int | None) -> Iterator[PathPart]:
        for index in reversed(self.frame.program.up(box)):
            block = self.frame.program.structures[index].block
            if block is None or self.is_entry(index):
                continue  # a turn of a pattern is named by the pattern
            turn, copy = place.turns.get(index), self._copy(block.id, place)
            if turn is not None or copy is not None:
                yield PathPart(block.id, copy, None if index == without else turn)

    def _copy(self, block: str, place: Place) -> int | None:
        """The copy of a block that a place is in: the first, where it does not say."""
        return place.copies.get(block, 0) if block in self.copies else None

    def owner(self, atom: Atom, place: Place, outer: Path) -> Path:
        """The path by which the weights of an atom go, below that of its frame."""
        program = self.frame.program
        if atom.block is not None and atom.block.share is not None:
            other = program.atoms[program.ids[atom.block.share.value]]
            there = {box: place.turns.get(box, 0) for box, _ in self.loops_around(other.structure)}
            return self.owner(other, replace(place, turns=there), outer)
        blocks = [atom.block, *(program.structures[b].block for b in program.up(atom.structure))]
        if not any(block is not None and block.once for block in blocks):
            return (*outer, *self.path(atom, place))
        for loop, _ in self.loops_around(atom.structure):
            return (*outer, *self.path(atom, place, without=loop))
        last = max((n for n, part in enumerate(outer) if part.turn is not None), default=None)
        if last is not None:
            outer = (*outer[:last], replace(outer[last], turn=None), *outer[last + 1 :])
        return (*outer, *self.path(atom, place))

    def loops_around(self, box: int) -> Iterator[tuple[int, list[int]]]:
        """The loops around, innermost first, each with those of its turns that ``box`` is in."""
        structures = self.frame.program.structures
        for index in self.frame.program.up(box):
            if index == ROOT or structures[index].kind != "repeat":
                continue
            if not self.is_entry(index):
                yield index, list(range(self.turns(index)))
            else:
                pattern = structures[index].parent
                kinds = self.kinds[pattern]
                yield pattern, [turn for turn, kind in enumerate(kinds) if kind == index]

    def places(self, atom: Atom) -> Iterator[Place]:
        """Every turn and copy in which an atom is."""
        loops = list(self.loops_around(atom.structure))[::-1]
        blocks = [atom.block, *(self.frame.program.structures[b].block
                                for b in self.frame.program.up(atom.structure))]
        piles = {b.id: self.copies[b.id] for b in blocks if b is not None and b.id in self.copies}
        for turns in product(*(turns for _, turns in loops)):
            for copies in product(*map(range, piles.values())):
                yield Place(
                    dict(zip((loop for loop, _ in loops), turns, strict=True)),
                    dict(zip(piles, copies, strict=True)),
                )
