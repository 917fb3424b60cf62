"""Executes a frame in which all sizes are numbers: arrays and weights in, arrays out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import count
from typing import Any

from transformer_diagrams.dims import const
from transformer_diagrams.errors import NOWHERE, DiagramError, Fault, Span, did_you_mean
from transformer_diagrams.graph.frame import Frame, Link
from transformer_diagrams.graph.program import ROOT, Atom
from transformer_diagrams.ops.arrays import Array, np
from transformer_diagrams.ops.registry import OpFault, Shape
from transformer_diagrams.records import dataclass
from transformer_diagrams.run.plan import Item, Path, Place, Plan, spelt
from transformer_diagrams.run.tensors import call, of_block, sizes, table_of

Maybe = Any  # an array, or None where it is not there in this run
Values = dict[int, list[Maybe]]  # atom -> its outputs
Watch = Callable[[str, Shape, Array], None]


@dataclass(slots=True)
class Result:
    """What a run gave.

    outputs  of the spec, by name, but for those that are not there in this kind of run
    taps     what was asked for of the inside, by name
    caches   what each cache has kept by now, by the name of its buffer: the buffers of a next run
    steps    what each block gave that is read one step later, by name, and the states in which
             recurrences ended: `past` of a next run
    numbers  sizes that it was run with: those that were given or chosen
    """

    outputs: dict[str, Array] = field(default_factory=dict)
    taps: dict[str, Array] = field(default_factory=dict)
    caches: dict[str, Array] = field(default_factory=dict)
    steps: dict[str, Array] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)


def execute(
    frame: Frame,
    inputs: Mapping[str, Array],
    weights: Mapping[str, Array],
    *,
    taps: Iterable[str] = (),
    train: bool = False,
    past: Mapping[str, Array] | None = None,
    watch: Watch | None = None,
) -> Result:
    """The outputs of a spec for arrays, in float64.

    ``weights`` holds every weight and buffer by name (`run.weights`, `run.buffers`); ``inputs`` the
    inputs of the spec, and may give the output of any block by the block's name, which is then not
    executed: what a box gives, say. An input with more leading axes than it states is a batch: the
    spec is executed for each. ``taps`` are names of outputs to keep, or globs: ``*`` is anything
    but a slash, ``**`` anything. With ``train`` the parts that are only there in training are
    executed instead of those that are only there at inference. ``past`` are the ``steps`` of the
    run before; without them, what is fed back is 0, and so is a state. ``watch`` sees every
    output: its name, its shape as derived, its value.

    :raises DiagramError: an input or weight that is missing, unknown or of another shape; a block
        that cannot be executed.
    """
    return _Run(frame, inputs, weights, tuple(taps), train, past or {}, watch).run()


def matcher(globs: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name is one of ``globs``.

    >>> matcher(["layers[*]"])("layers[3]"), matcher(["layers[*]"])("layers[3]/q")
    (True, False)
    """
    parts = (re.escape(g).replace(r"\*\*", ".*").replace(r"\*", "[^/]*") for g in globs)
    pattern = re.compile("|".join(parts) or "(?!)")
    return lambda name: pattern.fullmatch(name) is not None


def absent(when: str, train: bool) -> bool:
    """Whether what is there at this time is no part of a run."""
    return when == ("infer" if train else "train")


def fault(code: str, message: str, at: Span = NOWHERE, **more: str) -> DiagramError:
    """One fault of a run, to raise."""
    return DiagramError(Fault(code, message, at, **more))  # type: ignore[arg-type]


class _Run:
    """One execution of the outermost spec."""

    def __init__(
        self,
        frame: Frame,
        inputs: Mapping[str, Array],
        weights: Mapping[str, Array],
        taps: Sequence[str],
        train: bool,
        past: Mapping[str, Array],
        watch: Watch | None,
    ) -> None:
        self.frame = frame
        self.inputs = inputs
        self.weights = weights
        self.train = train
        self.past = past
        self.watch = watch
        self.wanted = matcher(taps)
        self.result = Result()
        self.used: set[str] = set()  # of the inputs
        self.lead: tuple[int, ...] = ()  # which element of leading axes is being executed
        self._plans: dict[int, Plan] = {}
        self._ran: dict[tuple[str, str, tuple[int, ...]], Iterator[int]] = {}
        self._told: list[tuple[str, Shape | None, Array]] | None = None  # inside a lead

    def run(self) -> Result:
        atoms, given = self.frame.program.atoms, list[Maybe]()
        for index in self.frame.program.inputs:
            port = atoms[index].port
            assert port is not None
            value = self.given(port.name, port.dtype)
            if value is None and not absent(self.frame.when(index), self.train):
                raise fault("missing-input", f"the input '{port.name}' is not given", port.span,
                            found=port.name)
            given.append(value)
        outputs = self.led(self.frame, given, (), ())
        for index, value in zip(self.frame.program.outputs, outputs, strict=True):
            if value is not None:
                self.result.outputs[atoms[index].id] = value
        for name in sorted(self.inputs.keys() - self.used):
            names = [atoms[index].id for index in self.frame.program.inputs]
            raise fault("unknown-name", f"there is no input and no block '{name}'", found=name,
                        hint=did_you_mean(name, names, what="input"))
        return self.result

    def given(self, name: str, dtype: str) -> Maybe:
        """An array that came in, as the type that is stated.

        :raises DiagramError: numbers that are not whole where they must be.
        """
        if name not in self.inputs:
            return None
        self.used.add(name)
        value = np.asarray(self.inputs[name])
        if dtype == "float" and value.dtype.kind in "fiub":
            return value.astype(np.float64)
        if dtype == "float":
            raise fault("bad-value", f"'{name}' must hold real numbers", found=str(value.dtype),
                        expected="float64")
        if value.dtype.kind not in "iub":
            raise fault("bad-value", f"'{name}' must hold whole numbers", found=str(value.dtype),
                        expected="int64" if dtype == "int" else "bool")
        return value

    def ran(self, spec: str, block: str) -> int:
        """How often a block of a spec has run before this time, for one element of a batch."""
        return next(self._ran.setdefault((spec, block, self.lead), count()))

    def led(
        self, frame: Frame, given: Sequence[Maybe], at: Path, owner: Path
    ) -> list[Maybe]:
        """A frame at work, once for each element of the leading axes that it does not state."""
        extra = []
        for index, value in zip(frame.program.inputs, given, strict=True):
            (stated,) = frame.outputs[index] or (Shape((), "..."),)
            beyond = 0 if value is None or stated.lead else max(value.ndim - stated.ndim, 0)
            if value is not None and not fits(stated, value.shape[beyond:]):
                name = "/".join(filter(None, (spelt(at), frame.program.atoms[index].id)))
                raise fault("bad-shape", f"the input '{name}' has another shape",
                            frame.program.atoms[index].span, found=str(list(value.shape)),
                            expected=str(stated))
            extra.append(beyond)
        if not any(extra):
            return self._inside(frame, given, at, owner)
        pairs = list(zip(given, extra, strict=True))
        lead = np.broadcast_shapes(*(v.shape[:n] for v, n in pairs if n))
        before, outer = self.lead, self._told
        every, told = list[list[Maybe]](), list[list[tuple[str, Shape | None, Array]]]()
        for place in np.ndindex(lead):
            self.lead, self._told = (*before, *place), []
            one = [np.broadcast_to(v, (*lead, *v.shape[n:]))[place] if n else v for v, n in pairs]
            every.append(self._inside(frame, one, at, owner))
            told.append(self._told)
        self.lead, self._told = before, outer
        for each in zip(*told, strict=True):
            name, shape, _ = each[0]
            if shape is not None:
                shape = Shape((*map(const, lead), *shape.dims), shape.lead)
            self.tell(name, shape, _stacked([value for _, _, value in each], lead))
        return [
            None if any(v is None for v in values) else _stacked(values, lead)
            for values in zip(*every, strict=True)
        ]

    def _inside(
        self, frame: Frame, given: Sequence[Maybe], at: Path, owner: Path
    ) -> list[Maybe]:
        plan = self._plans.get(id(frame)) or self._plans.setdefault(id(frame), Plan.of(frame))
        values = {i: [value] for i, value in zip(frame.program.inputs, given, strict=True)}
        _Work(self, frame, plan, at, owner).loop(ROOT, Place(), values)
        return [(values.get(index) or [None])[0] for index in frame.program.outputs]

    def tensor(self, name: str, shape: Shape, at: Span) -> Array:
        """A weight or buffer.

        :raises DiagramError: when it is not given, or has another shape.
        """
        wanted = sizes(shape)
        if name not in self.weights:
            raise fault("missing-weight", f"'{name}' is not given", at, found=name,
                        expected=f"an array {list(wanted)}",
                        hint=did_you_mean(name, self.weights, what="tensor"))
        value = np.asarray(self.weights[name])
        if value.dtype.kind not in "fiub":
            raise fault("bad-value", f"'{name}' must hold real numbers", at,
                        found=str(value.dtype), expected="float64")
        value = value[self.lead[: max(value.ndim - len(wanted), 0)]]  # one element of a batch
        if value.shape != wanted:
            raise fault("bad-shape", f"'{name}' has another shape", at,
                        found=str(list(value.shape)), expected=str(list(wanted)))
        return value.astype(np.float64) if value.dtype.kind == "f" else value

    def tell(self, name: str, shape: Shape | None, value: Array) -> None:
        """Let others see an output; without a shape it is one that a next run needs."""
        if self._told is not None:
            self._told.append((name, shape, value))
        elif shape is None:
            kind, _, name = name.partition(":")  # no path holds a colon
            (self.result.caches if kind == "cache" else self.result.steps)[name] = value
        else:
            if self.wanted(name):
                self.result.taps[name] = value
            if self.watch is not None:
                self.watch(name, shape, value)


def fits(shape: Shape, found: Sequence[int]) -> bool:
    """Whether an array has a derived shape, in which a leading "..." stands for anything."""
    wanted = sizes(shape)
    last = tuple(found)[len(found) - len(wanted) :] if wanted else ()
    return last == wanted and (shape.lead is not None or len(found) == len(wanted))


def _stacked(values: Sequence[Array], lead: tuple[int, ...]) -> Array:
    stack = np.stack(values)
    return stack.reshape(*lead, *stack.shape[1:])


class _Work:
    """One frame at work."""

    def __init__(self, run: _Run, frame: Frame, plan: Plan, at: Path, owner: Path) -> None:
        self.run, self.frame, self.plan = run, frame, plan
        self.at, self.owner = at, owner
        self.program = frame.program
        feeds = (feed for atom in self.program.atoms for feed in atom.feeds)
        self.fed_back = {feed.tap.atom for feed in feeds if feed.kind == "feedback"}

    # -- structures

    def loop(self, loop: int, place: Place, values: Values) -> None:
        """All that stands in a loop, in order; then the other copies of what is a pile."""
        items = self.plan.items.get(loop, [])
        self._items(items, place, values)
        self._piles(loop, items, place, values)

    def _items(self, items: Iterable[Item], place: Place, values: Values) -> None:
        for is_loop, index in items:
            if is_loop:
                self._turns(index, place, values)
            else:
                values[index] = self._atom(self.program.atoms[index], place, values)

    def _turns(self, loop: int, place: Place, values: Values) -> None:
        pattern = loop in self.plan.kinds
        repeats = self.plan.entries[loop] if pattern else [loop]
        state = self._read(self.frame.links[self.plan.ends[repeats[0]][0]], place, values)
        for turn in range(self.plan.turns(loop)):
            repeat = self.plan.kinds[loop][turn] if pattern else loop
            enter, leave = self.plan.ends[repeat]
            inside, there = {**values, enter: state}, place.turn(loop, turn)
            self.loop(repeat, there, inside)
            state = self._read(self.frame.links[leave], there, inside)
            self._tell(leave, self.plan.stream(loop, there), state)
        for repeat in repeats:
            values[self.plan.ends[repeat][1]] = state

    def _piles(self, box: int, items: Sequence[Item], place: Place, values: Values) -> None:
        """The copies but the first, which others read, of the piles in ``box`` that hold some of
        ``items``: each goes its own way, beside what is outside."""
        for pile in dict.fromkeys(self._outermost_piles(box, items)):
            inside = [item for item in items if pile in self.program.up(self._box(item))]
            block = self.program.structures[pile].block
            assert block is not None
            for number in range(self.plan.copies[block.id]):
                there, own = place.copy(block, number), dict(values)
                if number:
                    self._items(inside, there, own)
                self._piles(pile, inside, there, own)

    def _outermost_piles(self, box: int, items: Iterable[Item]) -> Iterator[int]:
        for item in items:
            around = self.program.up(self._box(item))
            inner = around[: around.index(box)] if box in around else around
            for index in reversed(inner):
                block = self.program.structures[index].block
                if block is not None and block.id in self.plan.copies:
                    yield index
                    break

    def _box(self, item: Item) -> int:
        """The structure that an item is, or stands in."""
        return item[1] if item[0] else self.program.atoms[item[1]].structure

    # -- atoms

    def _atom(self, atom: Atom, place: Place, values: Values) -> list[Maybe]:
        if atom.kind == "output":
            return self._read(self.frame.links[atom.index], place, values)
        if absent(self.frame.when(atom.index), self.run.train):
            return self._nothing(atom)
        number = self.plan.copies.get(atom.id, 1) if atom.kind != "add" else 1
        if number == 1 or atom.block is None:
            return self._block(atom, place, values)
        first, *_ = [self._block(atom, place.copy(atom.block, n), values) for n in range(number)]
        return first

    def _nothing(self, atom: Atom) -> list[Maybe]:
        return [None] * len(self.frame.outputs[atom.index] or ())

    def _block(self, atom: Atom, place: Place, values: Values) -> list[Maybe]:
        path = self.plan.path(atom, place)
        found = self._instead(atom, path)
        if found is None:
            given = self._read(self.frame.links[atom.index], place, values)
            if atom.index in self.frame.uses:
                found = self._use(atom, place, path, given)
            else:
                found = self._op(atom, place, path, given)
        self._tell(atom.index, path, found)
        if atom.index in self.fed_back and found[0] is not None:
            self.run.tell(f"step:{self._name(path)}", None, found[0])
        return found

    def _instead(self, atom: Atom, path: Path) -> list[Maybe] | None:
        """What was given in place of a block's outputs."""
        names = self._names(atom.index, path)
        if not names or names[0] not in self.run.inputs:
            return None
        found = list[Maybe]()
        for name, shape in zip(names, self.frame.outputs[atom.index] or (), strict=True):
            whole = self.frame.dtype(atom.index, len(found)) == "int"
            value = self.run.given(name, "int" if whole else "float")
            if value is None:
                raise fault("missing-input", f"'{names[0]}' is given, but not '{name}'", atom.span,
                            found=name)
            value = value[self.run.lead[: max(value.ndim - shape.ndim, 0)]]
            if not fits(shape, value.shape):
                raise fault("bad-shape", f"'{name}' has another shape", atom.span,
                            found=str(list(value.shape)), expected=str(shape))
            found.append(value)
        return found

    def _use(
        self, atom: Atom, place: Place, path: Path, given: Sequence[Maybe]
    ) -> list[Maybe]:
        inner = self.frame.uses[atom.index]
        names = [link.name for link in self.frame.links[atom.index]]
        by_name = dict(zip(names, given, strict=True))
        inputs = [by_name.get(inner.program.atoms[index].id) for index in inner.program.inputs]
        owner = self.plan.owner(atom, place, self.owner)
        return self.run.led(inner, inputs, (*self.at, *path), owner)

    def _op(
        self, atom: Atom, place: Place, path: Path, given: Sequence[Maybe]
    ) -> list[Maybe]:
        applied = self.frame.applied[atom.index]
        op = applied.op
        arrays = [value for value in given if value is not None]
        if len(arrays) < len(given):  # some are not there: the rest may do
            enough = op.variadic or all(value is not None for value in given[: op.needed])
            if not arrays or not enough:
                return self._nothing(atom)
        if op.value is None:
            name = self._name(path)
            raise fault("no-value", f"'{name}' ({op.name}) does not say what it computes",
                        atom.span, path=atom.doc_path, found=op.name,
                        hint=f"give what it gives, as an input with its name: {name}")
        shapes = tuple(Shape.parse(value.shape) for value in arrays)
        tensors = self._tensors(atom, place, path)
        at_work = call(self.frame, applied, shapes, self.run.ran(self.program.spec.id, atom.id))
        if op.below:
            self._check_below(op.below(at_work).evaluate({}), atom, path, arrays)
        try:
            made = op.value(at_work, arrays, tensors)
        except (OpFault, ArithmeticError, LookupError, ValueError) as error:
            message = f"'{self._name(path)}' ({op.name}) cannot be executed: {error}"
            raise fault("no-value", message, atom.span, path=atom.doc_path,
                        hint=getattr(error, "hint", "")) from error
        found: list[Maybe] = [np.asarray(value) for value in made]
        if "state" in op.does and found[0].shape[applied.attrs["axis"]]:
            last = found[0].take(-1, axis=applied.attrs["axis"])
            self.run.tell(f"step:{self._name(path)}.state", None, last)
        if "cache" in op.does:
            for name, value in zip(op.outputs, found, strict=False):
                self.run.tell(f"cache:{self._name(path)}.{name}", None, value)
        return found

    def _check_below(self, limit: int, atom: Atom, path: Path, arrays: Sequence[Array]) -> None:
        """Whole numbers that come in name something that is there.

        :raises DiagramError: for one that does not.
        """
        applied = self.frame.applied[atom.index]
        for place in applied.op.indexes(applied.attrs):
            given = arrays[place] if place < len(arrays) else np.zeros(0)
            if given.size and not -1 < given.min() <= given.max() < limit:
                wrong = given.min() if given.min() < 0 else given.max()
                name = self.frame.links[atom.index][place].name
                raise fault("bad-value", f"'{self._name(path)}' ({applied.op.name}) cannot take "
                            f"{wrong} as {name}", atom.span, path=atom.doc_path, found=str(wrong),
                            expected=f"whole numbers from 0, below {limit}")

    def _tensors(self, atom: Atom, place: Place, path: Path) -> dict[str, Array]:
        """The weights and buffers of an op, by their own names."""
        applied, found = self.frame.applied[atom.index], dict[str, Array]()
        if "state" in applied.op.does and f"{self._name(path)}.state" in self.run.past:
            state = np.asarray(self.run.past[f"{self._name(path)}.state"])
            more = state.ndim - len(applied.outputs[0].dims) + 1
            return {"state": state[self.run.lead[: max(more, 0)]]}
        if not (applied.op.weights or applied.op.buffers):
            return found
        shared = spelt(self.plan.owner(atom, place, self.owner))
        for one, own in of_block(self.frame, applied):
            name = f"{self._name(path) if own else shared}.{one.name}"
            found[one.name] = self.run.tensor(name, one.shape, atom.span)
        table = table_of(self.frame, applied)
        if table is not None:
            (weight, _), *_ = of_block(self.frame, self.frame.applied[table])
            other = self.plan.owner(self.program.atoms[table], place, self.owner)
            value = self.run.tensor(f"{spelt(other)}.{weight.name}", weight.shape, atom.span)
            (buffer,) = applied.op.given(call(self.frame, applied))
            found[buffer.name] = value.reshape(sizes(buffer.shape))
        return found

    # -- what flows

    def _read(self, links: Iterable[Link], place: Place, values: Values) -> list[Maybe]:
        found = list[Maybe]()
        for link in links:
            if absent(link.feed.when, self.run.train):
                found.append(None)
            elif link.feed.kind == "feedback":
                found.append(self._before(link, place))
            else:
                there = values.get(link.atom)
                found.append(there[link.port] if there else None)
        return found

    def _before(self, link: Link, place: Place) -> Array:
        """What a block gave one step before; 0 before the first."""
        shape = (self.frame.outputs[link.atom] or ())[link.port]
        name = self._name(self.plan.path(self.program.atoms[link.atom], place))
        value = self.run.past.get(name)
        if value is None:
            return np.zeros(sizes(shape))
        value = np.asarray(value)
        return value[self.run.lead[: max(value.ndim - shape.ndim, 0)]]

    def _name(self, path: Path) -> str:
        return spelt((*self.at, *path))

    def _names(self, index: int, path: Path) -> list[str]:
        """The names of an atom's outputs."""
        shapes = self.frame.outputs[index] or ()
        if len(shapes) == 1:
            return [self._name(path)]
        return [f"{self._name(path)}.{self.frame.output_name(index, port)}"
                for port in range(len(shapes))]

    def _tell(self, index: int, path: Path, found: Sequence[Maybe]) -> None:
        shapes = self.frame.outputs[index] or ()
        for name, shape, value in zip(self._names(index, path), shapes, found, strict=True):
            if value is not None:
                self.run.tell(name, shape, value)
