"""Every weight and buffer that a spec needs to be executed: names, shapes, and values by chance."""

from __future__ import annotations

import math
import zlib
from collections.abc import Container, Iterator, Mapping

from transformer_diagrams.graph.frame import Applied, Frame
from transformer_diagrams.ops.arrays import Array, np
from transformer_diagrams.ops.registry import Buffer, Call, Shape, Weight
from transformer_diagrams.ops.select import EARLIER
from transformer_diagrams.records import dataclass
from transformer_diagrams.run.plan import Path, Plan, spelt


@dataclass(frozen=True, slots=True)
class Named:
    """One that is given by name. ``kind`` and ``below`` as of a `Buffer`; weights are "weight"."""

    name: str
    shape: tuple[int, ...]
    kind: str = "weight"
    below: int | None = None


def sizes(shape: Shape) -> tuple[int, ...]:
    """A derived shape in numbers, without a leading "..."."""
    return tuple(size.evaluate({}) for size in shape.dims)


def call(
    frame: Frame, applied: Applied, shapes: tuple[Shape, ...] | None = None, earlier: int = 0
) -> Call:
    """An op at work, ready for its rules; ``shapes`` of what really comes in, ``earlier`` how often
    its block has run before."""
    numbers = {name: size.as_int() for name, size in frame.scope.env.items()}
    numbers[EARLIER] = earlier
    return Call(
        applied.op,
        applied.inputs if shapes is None else shapes,
        applied.attrs,
        frame.scope.facts,
        bindings={name: number for name, number in numbers.items() if number is not None},
    )


def table_of(frame: Frame, applied: Applied) -> int | None:
    """The atom whose table an op uses as its own; None where it is an op without one, or the table
    is given."""
    table = applied.attrs.get("table")
    if "tied" not in applied.op.does or not table:
        return None
    return frame.program.ids.get(str(table))


def tensors(frame: Frame) -> dict[str, Named]:
    """All that the ops of a frame in numbers need, by name: shared tensors once."""
    return {t.name: t for t in _walk(frame, (), (), {})}


def weights(frame: Frame) -> dict[str, Named]:
    """The learned ones of these."""
    return {name: t for name, t in tensors(frame).items() if t.kind == "weight"}


def buffers(frame: Frame) -> dict[str, Named]:
    """The others: constants, statistics, draws, what a cache has kept so far."""
    return {name: t for name, t in tensors(frame).items() if t.kind != "weight"}


def of_block(frame: Frame, applied: Applied) -> Iterator[tuple[Weight | Buffer, bool]]:
    """The tensors of one op, and whether each is its block's own where the weights are shared: a
    draw is made anew in each turn, and so is what a cache keeps."""
    c = call(frame, applied)
    yield from ((weight, False) for weight in applied.op.tensors(c))
    if table_of(frame, applied) is None:
        for buffer in applied.op.given(c):
            yield buffer, buffer.kind == "share" or "cache" in applied.op.does


def _walk(frame: Frame, at: Path, owner: Path, plans: dict[int, Plan]) -> Iterator[Named]:
    plan = plans.get(id(frame)) or plans.setdefault(id(frame), Plan.of(frame))
    for index in frame.program.order:
        atom = frame.program.atoms[index]
        if index in frame.uses:
            for place in plan.places(atom):
                paths = (*at, *plan.path(atom, place)), plan.owner(atom, place, owner)
                yield from _walk(frame.uses[index], *paths, plans)
            continue
        applied = frame.applied.get(index)
        if applied is None or not (applied.op.weights or applied.op.buffers):
            continue
        tensors = list(of_block(frame, applied))
        for place in plan.places(atom) if tensors else ():
            shared = spelt(plan.owner(atom, place, owner))
            here = spelt((*at, *plan.path(atom, place)))
            for one, own in tensors:
                name = f"{here if own else shared}.{one.name}"
                shape = sizes(one.shape)
                if isinstance(one, Weight):
                    yield Named(name, shape)
                else:
                    below = None if one.below is None else one.below.evaluate({})
                    yield Named(name, shape, one.kind, below)


def drawn(
    tensors: Mapping[str, Named], seed: int, *, without: Container[str] = ()
) -> dict[str, Array]:
    """Values by chance, but for some: each depends on the seed and its own name alone.

    Matrices have entries of variance 1 over their rows, so that a stream keeps its size; gains,
    biases and other vectors are about 1, of either sign.
    """
    found = {}
    for name, tensor in tensors.items():
        if name in without:
            continue
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        if tensor.kind == "share":
            found[name] = rng.random(tensor.shape)
        elif tensor.kind == "whole":
            found[name] = rng.integers(0, tensor.below or 2, tensor.shape)
        elif tensor.kind == "bool":
            found[name] = rng.random(tensor.shape) < 0.5
        else:
            found[name] = rng.normal(size=tensor.shape)
            if tensor.kind == "positive":
                found[name] = np.abs(found[name]) + 0.5
            elif tensor.kind == "weight" and len(tensor.shape) > 1:
                found[name] /= math.sqrt(tensor.shape[-2])
    return found
