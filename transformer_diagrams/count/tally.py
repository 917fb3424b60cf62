"""One pass over the frames: weights by role, caches and work, each times how often it exists.

A used spec is added up once and scaled where it is used, so a closed and an opened `use` count
the same, and a thousand equal blocks cost one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from transformer_diagrams.count.sight import Looker, Needs, Sight, States, Unread
from transformer_diagrams.dims import Dim, const
from transformer_diagrams.graph.frame import Applied, Frame
from transformer_diagrams.graph.mode import Presence, Present
from transformer_diagrams.graph.program import ROOT, Atom
from transformer_diagrams.ops.cache import STATE
from transformer_diagrams.ops.pairs import Seen
from transformer_diagrams.ops.rules import total
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Block

ONE = const(1)
ZERO = const(0)


def _marked(inner: str | None, outer: str | None) -> str | None:
    """The nearer of two marks, but for an averaged copy, which is one as a whole."""
    return outer if outer == "ema" else inner or outer or None


@dataclass(frozen=True, slots=True)
class WeightKey:
    """What is known of a weight from inside: None is left to whoever uses the spec."""

    role: str | None
    mark: str | None
    once: bool  # its `once:` has not met a repeat yet


@dataclass(frozen=True, slots=True)
class Cached:
    """What one cache keeps. ``layer`` is the path of the layer it is in.

    elements  of one position; of a state of a fixed size, all of it
    new       positions that come in at once; None: a state of a fixed size
    kept      positions that are kept, as many as ``reach`` at most (None: without a limit)
    """

    layer: str
    elements: Dim
    times: Dim
    new: Dim | None = None
    kept: Dim = ONE
    reach: Dim | None = None
    inner: bool = False  # the layer is a whole used spec


@dataclass(slots=True)
class Tally:
    """``weights`` maps to (all, active per token)."""

    weights: dict[WeightKey, tuple[Dim, Dim]] = field(default_factory=dict)
    caches: list[Cached] = field(default_factory=list)
    macs: Dim = ZERO
    flops: Dim = ZERO

    def add(self, key: WeightKey, params: Dim, active: Dim) -> None:
        total, share = self.weights.get(key, (ZERO, ZERO))
        self.weights[key] = (total + params, share + active)


class Counter:
    """Tallies frames; equal frames in equal places are tallied once.

    With ``half``, only the seen half of scores under a causal mask counts as work; with
    ``training``, the work of a training pass does: forward, and twice as much backward. With a
    ``mode``, what is not there at that time does not count at all.
    """

    def __init__(
        self, *, half: bool = False, training: bool = False, mode: str = "all"
    ) -> None:
        self.half = half
        self.training = training
        self.presence = Presence(mode) if mode != "all" else None
        self._looker = Looker()
        self._known: dict[tuple[int, States, Needs, Unread], tuple[Frame, Tally]] = {}

    def tally(
        self, frame: Frame, states: States = (), needs: Needs = (), unread: Unread = frozenset()
    ) -> Tally:
        """What one copy of ``frame`` holds and does, where its inputs are masked as ``states``
        and its outputs are read as ``needs`` says; those ``unread`` not at all."""
        key = (id(frame), states, needs, unread)
        known = self._known.get(key)
        if known is None:
            known = (frame, self.adder(frame, states, needs, unread).run())
            self._known[key] = known
        return known[1]

    def adder(
        self, frame: Frame, states: States = (), needs: Needs = (), unread: Unread = frozenset()
    ) -> Adder:
        """Tallies single blocks of ``frame``, where ``tally`` takes all of them."""
        present = self.presence.of(frame, unread) if self.presence is not None else None
        return Adder(self, frame, self._looker.sight(frame, states, needs), present)

    def works(self, when: str) -> bool:
        """Whether what is there at this time is part of the pass whose work counts."""
        return self.presence is not None or when != ("infer" if self.training else "train")


class Adder:
    """Adds up one frame in one place of use."""

    def __init__(
        self, counter: Counter, frame: Frame, sight: Sight, present: Present | None
    ) -> None:
        self.counter = counter
        self.frame = frame
        self.sight = sight
        self.present = present  # None: all of it
        self.program = frame.program
        self.tally = Tally()
        self._times: dict[int, Dim] = {}
        # Equal ops at equal places are counted first and multiplied once.
        self._ops: dict[tuple[int, WeightKey, Dim], tuple[Applied, int]] = {}
        self._work: dict[tuple[int, Dim, Seen | None], tuple[Applied, int]] = {}

    def run(self) -> Tally:
        for atom in self.program.atoms:
            self._atom(atom)
        return self._summed()

    def one(self, atom: Atom) -> Tally:
        """What one block adds."""
        self._atom(atom)
        return self._summed()

    def inside(self, atom: Atom, part: Tally) -> Tally:
        """What ``part`` of the spec that ``atom`` uses adds."""
        self._add(atom, part)
        return self._summed()

    def counts(self, atom: Atom) -> bool:
        """Whether a block is one that counts."""
        there = self.present is None or atom.index in self.present.atoms
        return there and (atom.index in self.frame.applied or atom.index in self.frame.uses)

    def place(self, atom: Atom) -> tuple[States, Needs, Unread]:
        """In what place the spec that ``atom`` uses stands."""
        states, needs = self.sight.uses.get(atom.index, ((), ()))
        unread = self.present.unread[atom.index] if self.present is not None else frozenset[int]()
        return states, needs, unread

    def _atom(self, atom: Atom) -> None:
        if not self.counts(atom):
            return
        if atom.index in self.frame.applied:
            self._op(atom)
        else:
            inner = self.frame.uses[atom.index]
            self._add(atom, self.counter.tally(inner, *self.place(atom)))

    # -- how often --------------------------------------------------------------------------

    def times(self, box: int) -> Dim:
        """How often the content of ``box`` exists: repeats and copies around it."""
        known = self._times.get(box)
        if known is None:
            known = ONE
            for index in self.program.up(box):
                known = known * self._own_times(index)
            self._times[box] = known
        return known

    def _own_times(self, box: int) -> Dim:
        times = self.frame.counts.get(box, ONE)
        block = self.program.structures[box].block
        if block is not None and block.id in self.frame.copies:
            times = times * self.frame.copies[block.id]
        return times

    def once_times(self, box: int) -> tuple[Dim, bool]:
        """As ``times`` without the innermost repeat; and whether there is no repeat here."""
        times, pending = ONE, True
        for index in self.program.up(box):
            if pending and index in self.frame.counts:
                pending = False
                block = self.program.structures[index].block
                if block is not None and block.id in self.frame.copies:
                    times = times * self.frame.copies[block.id]
                continue
            times = times * self._own_times(index)
        return times, pending

    def _around(self, atom: Atom) -> Iterable[Block]:
        """The block itself, then the structures around it, innermost first."""
        if atom.block is not None and atom.kind in ("op", "use"):
            yield atom.block
        for index in self.program.up(atom.structure):
            block = self.program.structures[index].block
            if index != ROOT and block is not None:
                yield block

    def _key(self, atom: Atom, role: str | None) -> tuple[WeightKey, Dim, bool]:
        """Role, mark, how often the weights exist, and whether they are another block's."""
        own = atom.block if atom.kind in ("op", "use") else None
        outer, mark, once, shared = None, None, False, False
        for block in self._around(atom):
            outer = outer or block.counts_as
            mark = _marked(mark, block.mark)
            once = once or block.once
            shared = shared or block.share is not None
        if own is not None and own.counts_as:
            role = own.counts_as
        copies = self.frame.copies.get(own.id, ONE) if own is not None else ONE
        if once:
            times, pending = self.once_times(atom.structure)
        else:
            times, pending = self.times(atom.structure), False
        return WeightKey(role or outer, mark, pending), times * copies, shared

    def _all_times(self, atom: Atom) -> Dim:
        copies = ONE
        if atom.block is not None and atom.kind in ("op", "use"):
            copies = self.frame.copies.get(atom.block.id, ONE)
        return self.times(atom.structure) * copies

    # -- atoms ------------------------------------------------------------------------------

    def _op(self, atom: Atom) -> None:
        applied = self.frame.applied[atom.index]
        key, times, shared = self._key(atom, applied.op.param_role or None)
        if not shared and applied.params != ZERO:
            slot = (id(applied), key, times)
            self._ops[slot] = (applied, self._ops.get(slot, (applied, 0))[1] + 1)
        everywhere = self._all_times(atom)
        when = self.frame.when(atom.index)
        if self.counter.works(when):
            work = (id(applied), everywhere, self.sight.seen.get(atom.index))
            self._work[work] = (applied, self._work.get(work, (applied, 0))[1] + 1)
        if when != "train":
            if "cache" in applied.op.does:
                self.tally.caches.append(self._cached(atom, applied, everywhere))
            elif "state" in applied.op.does:
                axis = int(applied.attrs["axis"]) % applied.inputs[0].ndim
                state = applied.inputs[0].with_axis(axis).numel()
                self.tally.caches.append(Cached(self._layer(atom), state, everywhere))

    def _cached(self, atom: Atom, applied: Applied, times: Dim) -> Cached:
        layer, attrs = self._layer(atom), applied.attrs
        if attrs.get("kind") == STATE:
            return Cached(layer, total([shape.numel() for shape in applied.inputs]), times)
        axis = int(attrs.get("axis", -2))
        return Cached(
            layer,
            total([shape.with_axis(axis % shape.ndim).numel() for shape in applied.inputs]),
            times,
            applied.inputs[0].dims[axis],
            applied.outputs[0].dims[axis],
            self.sight.reach.get(atom.index),
        )

    def _layer(self, atom: Atom) -> str:
        """The nearest structure that a reader would call one layer; "" is the whole spec."""
        for index in self.program.up(atom.structure):
            box = self.program.structures[index]
            if box.block is not None and box.kind in ("residual", "repeat", "group", "column"):
                return box.block.id
        return ""

    def _add(self, atom: Atom, tally: Tally) -> None:
        """Add what a used spec, or a part of it, holds and does inside."""
        block, spec = atom.block, self.frame.uses[atom.index].program.spec
        assert block is not None
        key, times, shared = self._key(atom, None)
        own_role = block.counts_as or spec.counts_as or spec.role or key.role
        when = self.frame.when(atom.index)
        everywhere = self._all_times(atom)
        if not shared:
            for inside, (params, active) in tally.weights.items():
                scaled, pending = times, key.once
                if inside.once and not key.once:
                    scaled, pending = self.once_times(atom.structure)
                    scaled = scaled * self.frame.copies.get(block.id, ONE)
                resolved = WeightKey(
                    inside.role or own_role, _marked(inside.mark, key.mark), pending
                )
                self.tally.add(resolved, params * scaled, active * scaled)
        lead = self.frame.leads.get(atom.index)
        each = ONE if lead is None else lead.numel()
        if self.counter.works(when):
            self.tally.macs = self.tally.macs + tally.macs * everywhere * each
            self.tally.flops = self.tally.flops + tally.flops * everywhere * each
        # A spec that keeps something itself is one layer with the parts that it uses.
        own = any(not cached.inner and not cached.layer for cached in tally.caches)
        for cached in () if when == "train" else tally.caches:
            part = cached.inner and not (own and cached.times == ONE)
            layer = f"{block.id}/{cached.layer}" if part else block.id
            kept = replace(cached, elements=cached.elements * each)
            times = cached.times * everywhere
            self.tally.caches.append(replace(kept, layer=layer, times=times, inner=True))

    def _summed(self) -> Tally:
        """What was added since the last sum."""
        for (_, key, times), (applied, count) in self._ops.items():
            params = applied.params * times * count
            self.tally.add(key, params, applied.active * times * count)
        for (_, times, seen), (applied, count) in self._work.items():
            often = times * count
            if seen is not None:
                often = often * seen.share(half=self.counter.half)
            self.tally.macs = self.tally.macs + applied.macs * often
            self.tally.flops = self.tally.flops + (2 * applied.macs + applied.work) * often
        made, self.tally = self.tally, Tally()
        self._ops.clear()
        self._work.clear()
        return made
