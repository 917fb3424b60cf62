"""Lint for models: what is drawn and counted without complaint, but is seldom meant.

Every finding is a warning with a code, so that a spec can be drawn all the same.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from transformer_diagrams.dims import const
from transformer_diagrams.errors import Fault, Span
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.lengths import Lengths
from transformer_diagrams.graph.program import ROOT, Atom
from transformer_diagrams.ops.cache import STATE
from transformer_diagrams.spec.blocks import walk
from transformer_diagrams.spec.model import Block

_FARTHEST = 5_000  # blocks looked at for one skip; a longer branch has no near norm anyway
_MOST_STEPS = 500_000  # for all skips of a spec: a warning is not worth more
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*'*")

ZERO = const(0)
BEFORE, AFTER, PLAIN = "before", "after", "plain"


def lint_model(frame: Frame) -> list[Fault]:
    """Warnings about one spec: skips after a norm, unused blocks, inputs, names and keys,
    caches of no positions, and repeats that do not go on."""
    return [
        *skips_after_norm(frame),
        *unused_blocks(frame),
        *unused_inputs(frame),
        *unused_names(frame),
        *unused_keys(frame),
        *repeats_that_ignore(frame),
        *caches_of_no_positions(frame),
    ]


# -- caches -----------------------------------------------------------------------------------


def caches_of_no_positions(frame: Frame) -> list[Fault]:
    """Caches whose axis of positions is none, so that they keep a state of a fixed size."""
    lengths, faults, seen = Lengths.of(frame), dict[Span, Fault](), set[int]()
    todo = [frame]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        todo += one.uses.values()
        for index, applied in one.applied.items():
            if "cache" not in applied.op.does or applied.attrs.get("kind") == STATE:
                continue
            axis = int(applied.attrs.get("axis", -2))
            size = applied.inputs[0].dims[axis]
            atom = one.program.atoms[index]
            if not lengths.known(size):
                faults.setdefault(
                    atom.span,
                    Fault(
                        "cache-axis",
                        f"'{atom.id}' keeps {size} positions, but {size} counts none: "
                        "it is taken as a state of a fixed size",
                        atom.span,
                        path=atom.doc_path,
                        found=str(applied.inputs[0]),
                        hint="say kind: state; or axis, if another one counts the positions",
                        severity="warning",
                    ),
                )
    return list(faults.values())


# -- skips ------------------------------------------------------------------------------------


def skips_after_norm(frame: Frame) -> list[Fault]:
    """Skips that start behind the norm of their branch while a sibling starts before its own.

    In a pre-norm block the stream goes around the norm: ``x + f(norm(x))``. Taking the skip
    from the norm's output gives ``n + f(n)`` with ``n = norm(x)``, and the stream is normalised
    at every block. A model may do either throughout (post-norm has its norm on the stream), so
    only a mixture is reported.
    """
    graph = _Wires(frame)
    found = [(atom, skip, graph.kind(atom, skip)) for atom, skip in graph.skips()]
    good = next((f for f in found if f[2] is BEFORE), None)
    if good is None:
        return []
    faults = []
    for adder, skip, kind in found:
        if kind is not AFTER:
            continue
        sibling, before = good[0], good[1]
        norm = frame.program.atoms[skip]
        start = frame.program.atoms[before]
        faults.append(
            Fault(
                "skip-after-norm",
                f"the skip into '{adder.id}' starts after the norm '{norm.id}', "
                f"unlike the one into '{sibling.id}', which starts before its norm",
                adder.span,
                path=adder.doc_path,
                found=f"{norm.id} -> {adder.id}",
                expected=_stream(frame, norm, adder),
                hint="take the skip from what the norm takes, or use `residual:`",
                notes=(
                    (f"'{norm.id}' is a norm and feeds the branch", norm.span),
                    (f"'{sibling.id}' takes its skip from '{start.id}'", sibling.span),
                ),
                severity="warning",
            )
        )
    return faults


def _stream(frame: Frame, norm: Atom, adder: Atom) -> str:
    links = frame.links[norm.index]
    return f"{frame.program.atoms[links[0].atom].id} -> {adder.id}" if links else ""


class _Wires:
    """The wires of a frame, both ways."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.place = {index: n for n, index in enumerate(frame.program.order)}
        self.room = _MOST_STEPS
        self._readers: list[list[int]] | None = None

    @property
    def readers(self) -> list[list[int]]:
        if self._readers is None:
            self._readers = [[] for _ in self.frame.program.atoms]
            for index in self.frame.program.order:
                for link in self.frame.flow(index):
                    self._readers[link.atom].append(index)
        return self._readers

    def is_norm(self, index: int) -> bool:
        atom = self.frame.program.atoms[index]
        if index in self.frame.applied:
            return self.frame.applied[index].op.role == "norm"
        if index in self.frame.uses:
            block = atom.block
            role = block.role if block is not None else None
            return (role or self.frame.uses[index].program.spec.role) == "norm"
        return False

    def adders(self) -> Iterator[Atom]:
        for index in self.frame.program.order:
            applied = self.frame.applied.get(index)
            if applied is not None and "sum" in applied.op.does:
                yield self.frame.program.atoms[index]

    def skips(self) -> Iterator[tuple[Atom, int]]:
        """Adders with the source of their skip: an input from which another input also comes."""
        for adder in self.adders():
            sources = list(dict.fromkeys(link.atom for link in self.frame.flow(adder.index)))
            if len(sources) < 2:
                continue
            # The skip comes from the earliest source; in order, that is the only candidate.
            skip = min(sources, key=self.place.__getitem__)
            others = [s for s in sources if s != skip]
            if any(self.first_steps(skip, [other]) for other in others):
                yield adder, skip

    def first_steps(self, skip: int, ends: list[int]) -> list[int]:
        """Readers of ``skip`` through which one of ``ends`` is reached."""
        low = self.place[skip]
        seen: set[int] = set()
        todo = deque(ends)
        steps = []
        while todo and len(seen) < _FARTHEST and self.room > 0:
            self.room -= 1
            at = todo.popleft()
            if at in seen or self.place[at] <= low:
                continue
            seen.add(at)
            for link in self.frame.flow(at):
                if link.atom == skip:
                    steps.append(at)
                else:
                    todo.append(link.atom)
        return list(dict.fromkeys(steps))

    def kind(self, adder: Atom, skip: int) -> str:
        others = [link.atom for link in self.frame.flow(adder.index) if link.atom != skip]
        steps = self.first_steps(skip, others)
        if any(self.is_norm(step) for step in steps):
            return BEFORE
        return AFTER if self.is_norm(skip) else PLAIN


# -- what nothing uses ------------------------------------------------------------------------


def unused_blocks(frame: Frame) -> list[Fault]:
    """Blocks from which neither an output nor a loss can be reached."""
    program = frame.program
    reached: set[int] = set()
    todo = list(program.outputs)
    for atom in program.atoms:
        applied = frame.applied.get(atom.index)
        is_loss = applied is not None and applied.op.role == "loss"
        if is_loss or frame.when(atom.index) == "train" or frame.outputs[atom.index] is None:
            todo.append(atom.index)
    while todo:
        at = todo.pop()
        if at in reached:
            continue
        reached.add(at)
        todo.extend(feed.tap.atom for feed in program.atoms[at].feeds)
    faults = []
    for atom in program.atoms:
        if atom.index in reached or atom.kind not in ("op", "use", "add"):
            continue
        faults.append(
            Fault(
                "unused-block",
                f"nothing uses the output of '{atom.id}'",
                atom.span,
                path=atom.doc_path,
                found=atom.id,
                hint="name it in a `from:` or in `outputs:`, or delete it",
                severity="warning",
            )
        )
    return _ends_only(frame, faults, reached)


def _ends_only(frame: Frame, faults: list[Fault], reached: set[int]) -> list[Fault]:
    """Keep the ends of dead branches: what a dead block feeds needs no word of its own."""
    feeds_dead = {
        feed.tap.atom
        for atom in frame.program.atoms
        if atom.index not in reached
        for feed in atom.feeds
    }
    dead = {frame.program.atoms[i].doc_path for i in feeds_dead if i not in reached}
    return [fault for fault in faults if fault.path not in dead]


def unused_inputs(frame: Frame) -> list[Fault]:
    """Inputs that no block takes."""
    program = frame.program
    taken = {feed.tap.atom for atom in program.atoms for feed in atom.feeds}
    faults = []
    for index in program.inputs:
        atom = program.atoms[index]
        if index not in taken:
            faults.append(
                Fault(
                    "unused-input",
                    f"no block takes the input '{atom.id}'",
                    atom.span,
                    path=atom.doc_path,
                    found=atom.id,
                    hint=f"name it in a `from: {atom.id}`, or delete it",
                    severity="warning",
                )
            )
    return faults


def unused_names(frame: Frame) -> list[Fault]:
    """Sizes and options that no expression mentions and no used spec takes by its name."""
    spec = frame.program.spec
    words: set[str] = set()
    for block in walk(spec.blocks):
        words |= _block_words(block)
        if block.kind == "use" and frame.program.ids.get(block.id) not in frame.uses:
            return []  # left out by its `if:`, or faulty: what it would take is not known
    for inner in frame.uses.values():
        words |= {*inner.program.spec.dims, *inner.program.spec.options}
    for name, dim in spec.dims.items():
        for text in (dim.value, dim.default):
            if text is not None:
                words |= {w for w in _NAME.findall(text.value) if w != name}
    for text in spec.where:
        words |= set(_NAME.findall(text.value))
    for port in (*spec.inputs.values(), *spec.outputs.values()):
        for text in port.shape or ():
            words |= set(_NAME.findall(text.value))
    if any(name not in words and (d.value or d.default) for name, d in spec.dims.items()):
        words |= _printed(frame)
    return [
        Fault(
            f"unused-{what}",
            f"no block uses the {what} '{name}'",
            span,
            path=f"{key}.{name}",
            found=name,
            hint="use it or delete it",
            severity="warning",
        )
        for what, key, names in (("size", "dims", spec.dims), ("option", "options", spec.options))
        for name, span in ((n, s.span) for n, s in names.items())
        if name not in words
    ]


def _printed(frame: Frame) -> set[str]:
    """The names in the sizes of all tensors as the figure spells them."""
    sizes = {size: None for shapes in frame.outputs for s in shapes or () for size in s.dims}
    return {name for size in sizes for name in _NAME.findall(frame.scope.figure.text(size))}


def unused_keys(frame: Frame) -> list[Fault]:
    """Keys that say something of what is not there: of weights, of a repeat, of a start."""
    program = frame.program
    faults = []
    for block in program.idle:
        faults.append(_idle(block, "from", "nothing inside reads it: each block has its own"))
    faults += [fault for applied in frame.applied for fault in _idle_attributes(frame, applied)]
    if not any(b.counts_as is not None or b.once for b in walk(program.spec.blocks)):
        return faults
    known: dict[int, bool] = {}
    learned: dict[str, bool] = {}  # id of a block -> whether it holds weights
    turned: set[str] = set()  # ids of the blocks inside of a repeat
    blocks: dict[str, Block] = {}
    for atom in program.atoms:
        if atom.kind not in ("op", "use", "add") or atom.block is None:
            continue
        boxes = [program.structures[index] for index in program.up(atom.structure) if index != ROOT]
        has = _learns(frame, atom.index, known)
        for block in (atom.block, *(box.block for box in boxes if box.block is not None)):
            blocks[block.id] = block
            learned[block.id] = learned.get(block.id, False) or has
        inner = [atom.block.id]
        for box in boxes:
            if box.kind == "repeat":
                turned.update(inner)
            if box.block is not None:
                inner.append(box.block.id)
    for name, block in blocks.items():
        if not learned[name]:
            if block.counts_as is not None:
                faults.append(_idle(block, "counts_as", "it has no weights"))
            if block.once:
                faults.append(_idle(block, "once", "it has no weights"))
        elif block.once and name not in turned and program.spec.role is None:
            faults.append(_idle(block, "once", "no repeat stands around it"))
    return faults


def _idle_attributes(frame: Frame, atom: int) -> Iterator[Fault]:
    """Attributes that need another one to be what it is not."""
    block = frame.program.atoms[atom].block
    attrs = frame.applied[atom].op.attrs
    for attr in attrs:
        if attr.only is None or block is None or attr.name not in block.attrs:
            continue
        name, needed = attr.only
        default = next(a.default for a in attrs if a.name == name)
        given = block.attrs[name].value if name in block.attrs else default
        if given != needed and given not in frame.program.options:
            yield _idle(block, attr.name, f"it belongs to `{name}: {needed}`")


def _learns(frame: Frame, atom: int, known: dict[int, bool]) -> bool:
    """Whether an atom holds weights; one that is not understood may. ``known`` is by used frame."""
    applied = frame.applied.get(atom)
    if applied is not None:
        return applied.params != ZERO
    inner = frame.uses.get(atom)
    if inner is not None:
        if id(inner) not in known:
            atoms = range(len(inner.program.atoms))
            known[id(inner)] = any(_learns(inner, each, known) for each in atoms)
        return known[id(inner)]
    return frame.program.atoms[atom].kind in ("op", "use")


def _idle(block: Block, key: str, why: str) -> Fault:
    return Fault(
        "unused-key",
        f"`{key}` of '{block.id}' has no effect: {why}",
        block.key_spans.get(key, block.span),
        path=f"{block.path}.{key}",
        found=key,
        hint="leave it out",
        severity="warning",
    )


def repeats_that_ignore(frame: Frame) -> list[Fault]:
    """Repeats in which no block reads what the turn before gave: all turns do the same."""
    program = frame.program
    read = {feed.tap.atom for atom in program.atoms for feed in atom.feeds}
    faults = []
    for atom in program.atoms:
        if atom.kind != "enter" or atom.index in read or atom.block is None:
            continue
        block = atom.block
        names = " and ".join(f"`from: {name.value}`" for name in block.carry)
        faults.append(
            Fault(
                "repeat-ignores",
                f"no block in '{block.id}' reads what the turn before gave, so that all turns do "
                "the same",
                block.span,
                path=block.path,
                found=block.id,
                expected="a block that goes on from the turn before",
                hint=f"read it by {names}"
                if names
                else "read it by `from: prev` in the first block, or give it a name that all can "
                "read: `carry: h` beside `repeat`, and `from: h`",
                severity="warning",
            )
        )
    return faults


def _block_words(block: Block) -> set[str]:
    texts: list[str] = []
    for value in (*block.attrs.values(), *block.bind.values()):
        texts += value.texts
    for text in (block.stack, block.copies, block.count, block.condition, *block.turns):
        if text is not None:
            texts.append(text.value)
    shapes = block.shape
    if isinstance(shapes, tuple):
        texts += [text.value for text in shapes]
    elif shapes is not None:
        texts += [text.value for axes in shapes.values() for text in axes]
    return {word for text in texts for word in _NAME.findall(text)}
