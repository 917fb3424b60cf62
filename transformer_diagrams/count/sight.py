"""Which part of the scores is computed: masks are followed to the products beside them.

A score that a mask throws away need not be computed, nor does the softmax or the mean of values
read it; and a key that no later position sees need not stay in the cache. So what a mask leaves
goes forward along the scores to the product that reads them, and back to the product that makes
them, through the borders of used specs as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from transformer_diagrams.dims import Dim, maximum
from transformer_diagrams.graph.frame import Applied, Frame
from transformer_diagrams.graph.program import Atom
from transformer_diagrams.ops.pairs import Seen
from transformer_diagrams.ops.registry import Call
from transformer_diagrams.records import dataclass

States = tuple[Seen | None, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much of a tensor its readers want.

    seen   scores: only these
    reach  keys and values: only of that many last positions; None: of all
    """

    seen: Seen | None = None
    reach: Dim | None = None


ALL = Wanted()
Needs = tuple[Wanted, ...]
Unread = frozenset[int]


@dataclass(slots=True)
class Sight:
    """What is found of one frame in one place of use. What is not named sees everything.

    seen     atoms of ops -> what of their scores is computed
    reach    atoms of ops -> how many last positions of their outputs are read again
    uses     atoms of uses -> the states of their inputs, and the needs of their outputs
    """

    seen: dict[int, Seen] = field(default_factory=dict)
    reach: dict[int, Dim] = field(default_factory=dict)
    uses: dict[int, tuple[States, Needs]] = field(default_factory=dict)
    inputs: Needs = ()


class Looker:
    """Sights of frames; a frame in equal places is looked at once."""

    def __init__(self) -> None:
        self._masks: dict[int, bool] = {}
        self._forward: dict[tuple[int, States], _Forward] = {}
        self._back: dict[tuple[int, States, Needs], Sight] = {}

    def masks(self, frame: Frame) -> bool:
        """Whether anything is masked in ``frame`` or a spec that it uses."""
        known = self._masks.get(id(frame))
        if known is None:
            self._masks[id(frame)] = False
            known = any(a.seen is not None for a in frame.applied.values()) or any(
                self.masks(inner) for inner in {id(f): f for f in frame.uses.values()}.values()
            )
            self._masks[id(frame)] = known
        return known

    def forward(self, frame: Frame, states: States) -> _Forward:
        key = (id(frame), states)
        if key not in self._forward:
            self._forward[key] = _Forward(self, frame, states)
        return self._forward[key]

    def sight(self, frame: Frame, states: States = (), needs: Needs = ()) -> Sight:
        """What is computed of ``frame`` whose inputs are masked as ``states``."""
        states = states or (None,) * len(frame.program.inputs)
        needs = needs or (ALL,) * len(frame.program.outputs)
        key = (id(frame), states, needs)
        if key not in self._back:
            idle = not self.masks(frame) and not any(states) and all(n == ALL for n in needs)
            self._back[key] = (
                Sight(inputs=(ALL,) * len(states))
                if idle
                else _back(self, frame, self.forward(frame, states), needs)
            )
        return self._back[key]


class _Forward:
    """``states``: (atom, port) -> what a mask before it has left of the scores there."""

    def __init__(self, looker: Looker, frame: Frame, inputs: States) -> None:
        self.states: dict[tuple[int, int], Seen] = {}
        self.own: dict[int, Seen] = {}  # atoms of ops -> its own mask and those of its inputs
        self.uses: dict[int, States] = {}
        program = frame.program
        for index, state in zip(program.inputs, inputs, strict=True):
            if state is not None:
                self.states[index, 0] = state
        if not looker.masks(frame) and not any(inputs):
            self.outputs: States = (None,) * len(program.outputs)
            return
        for index in program.order:
            if index in frame.applied:
                self._op(index, frame)
            elif index in frame.uses:
                inner = frame.uses[index]
                found: list[Seen | None] = [None] * len(inner.program.inputs)
                for link in frame.links[index]:
                    found[link.to] = self.states.get((link.atom, link.port))
                self.uses[index] = tuple(found)
                outputs = looker.forward(inner, self.uses[index]).outputs
                self._set(index, dict(enumerate(outputs)))
            elif program.atoms[index].kind == "output":
                for link in frame.links[index]:
                    self._set(index, {0: self.states.get((link.atom, link.port))})
        self.outputs = tuple(self.states.get((index, 0)) for index in program.outputs)

    def _set(self, atom: int, found: Mapping[int, Seen | None]) -> None:
        for port, state in found.items():
            if state is not None:
                self.states[atom, port] = state

    def _op(self, index: int, frame: Frame) -> None:
        applied = frame.applied[index]
        found = applied.seen
        for link in frame.links[index]:
            state = self.states.get((link.atom, link.port))
            if state is not None:
                found = state if found is None else found.joined(state)
        if found is not None:
            self.own[index] = found
            if kept(applied) or applied.op.role == "mask":
                self.states[index, 0] = found


def _back(looker: Looker, frame: Frame, forward: _Forward, outputs: Needs) -> Sight:
    """From the readers to what they read."""
    program, sight = frame.program, Sight(uses={})
    needs: dict[tuple[int, int], Wanted | None] = {}

    def want(atom: int, port: int, need: Wanted) -> None:
        known = needs.get((atom, port))
        needs[atom, port] = need if known is None else _both(known, need)

    def need_of(atom: int, port: int = 0) -> Wanted:
        return needs.get((atom, port)) or ALL

    for index, need in zip(program.outputs, outputs, strict=True):
        needs[index, 0] = need
    for index in program.order:
        for link in frame.links[index]:
            if link.feed.kind == "feedback":  # its reader may come before it
                want(link.atom, link.port, ALL)
    for index in reversed(program.order):
        atom, links = program.atoms[index], frame.links[index]
        if index in frame.applied:
            applied, need = frame.applied[index], need_of(index)
            found = forward.own.get(index)
            passes = () if atom.kind == "add" else kept(applied)
            whole = applied.seen is not None and not passes  # its scores are inside
            mixes = "whole-rows" in applied.op.does
            if need.seen is not None and not whole and not mixes:  # a softmax needs its whole row
                found = need.seen if found is None else found.joined(need.seen)
            if found is not None:
                sight.seen[index] = found
            wide = [need_of(index, port).reach for port in range(len(applied.outputs))]
            reach = None if None in wide else _widest(wide)
            if reach is not None:
                sight.reach[index] = reach
            for link in links:
                if link.to in passes:
                    want(link.atom, link.port, Wanted(found, reach if found is None else None))
                else:
                    want(link.atom, link.port, Wanted(None, _reach(atom, applied, found, reach)))
        elif index in frame.uses:
            inner = frame.uses[index]
            count = len(inner.program.outputs)
            given = (forward.uses.get(index, ()), tuple(need_of(index, p) for p in range(count)))
            sight.uses[index] = given
            wanted = looker.sight(inner, *given).inputs
            for link in links:
                want(link.atom, link.port, wanted[link.to])
        else:
            # What a repeat hands on is read in the next turn as well.
            passed = need_of(index) if atom.kind == "output" else ALL
            for link in links:
                want(link.atom, link.port, passed)
    sight.inputs = tuple(need_of(index) for index in program.inputs)
    return sight


def kept(applied: Applied) -> tuple[int, ...]:
    """The inputs whose last two axes are those of the output: scores that go through."""
    rule = applied.op.hands_on
    if rule is None or len(applied.outputs[0].dims) < 2:
        return ()
    last = applied.outputs[0].dims[-2:]
    found = rule(Call(applied.op, applied.inputs, applied.attrs))
    return tuple(n for n in found if applied.inputs[n].dims[-2:] == last)


def _reach(atom: Atom, applied: Applied, found: Seen | None, reach: Dim | None) -> Dim | None:
    """How many last positions of an input that is no scores are read again."""
    if found is not None:  # the other side of a product with scores: keys or values
        return found.reach
    if atom.kind == "add" or (len(applied.inputs) > 1 and applied.op.macs is not None):
        return None  # back in the stream, or met by something that no mask limits
    return reach


def _both(a: Wanted, b: Wanted) -> Wanted:
    reach = None if a.reach is None or b.reach is None else _widest([a.reach, b.reach])
    return Wanted(a.seen if a.seen == b.seen else None, reach)


def _widest(reaches: list[Dim | None]) -> Dim | None:
    return maximum(*(r for r in reaches if r is not None)) if reaches else None
