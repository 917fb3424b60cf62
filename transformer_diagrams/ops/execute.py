"""One op by itself: read a call from text, and run its value rule on arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from transformer_diagrams.dims import Facts, const
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors
from transformer_diagrams.ops.registry import (
    NOTHING,
    Buffer,
    Call,
    OpFault,
    Shape,
    Weight,
    not_whole,
)


def call(
    name: str,
    inputs: Iterable[Iterable[object]],
    attrs: Mapping[str, Any] = NOTHING,
    *,
    facts: Facts | None = None,
    names: Sequence[str] = (),
    bindings: Mapping[str, int] = NOTHING,
) -> Call:
    """A call of an op, with shapes and attributes as a spec writes them.

    >>> c = call("linear", [["d_t", "d_m"]], {"out": "d_h"})
    >>> str(c.op.shape(c)[0]), str(c.op.params(c))
    ('[d_t, d_h]', 'd_h d_m')

    :raises UnknownOp: no op of this name.
    :raises OpFault: an attribute that the op does not have, or one that is missing.
    :raises DimError: a size that cannot be read.
    """
    op = registry.get(name)
    known = {attr.name: attr for attr in op.attrs}
    for given in attrs:
        if given not in known:
            raise OpFault(f"'{name}' has no attribute '{given}'")
    for attr in op.attrs:
        if attr.required and attr.name not in attrs:
            raise OpFault(f"'{name}' needs the attribute '{attr.name}' ({attr.doc})")
    values = {n: attr.value(attrs.get(n, attr.default)) for n, attr in known.items()}
    shapes = tuple(Shape.parse(shape) for shape in inputs)
    return Call(
        op, shapes, values, facts or Facts(), names=tuple(names), bindings=bindings
    )


def run(
    name: str,
    inputs: Arrays,
    attrs: Mapping[str, Any] = NOTHING,
    weights: Tensors = NOTHING,
    *,
    bindings: Mapping[str, int] = NOTHING,
) -> list[Array]:
    """The outputs of an op for arrays; ``weights``, and buffers, by the names of its tensors.

    :raises OpFault: shapes that the op refuses, weights of a wrong shape, or no value rule.
    """
    c = call(name, [x.shape for x in inputs], attrs, bindings=bindings)
    c.op.shape(c)
    for place in c.op.indexes(c.attrs):
        if place < len(inputs) and inputs[place].dtype.kind not in "iu":
            raise OpFault(not_whole(c.op, place, f"is {inputs[place].dtype}"))
    if c.op.value is None:
        raise OpFault(f"'{name}' cannot be executed: it has no value rule")
    every: list[Weight | Buffer] = [*c.op.tensors(c), *c.op.given(c)]
    for tensor in every:
        given = weights.get(tensor.name)
        wanted = Shape(tuple(const(size.evaluate(bindings)) for size in tensor.shape.dims))
        if given is None or Shape.parse(given.shape) != wanted:
            found = "is missing" if given is None else f"is {list(given.shape)}"
            kind = "weight" if isinstance(tensor, Weight) else "buffer"
            raise OpFault(f"the {kind} '{tensor.name}' of '{name}' must be {wanted}, but {found}")
    return list(c.op.value(c, inputs, weights))
