"""One op at work on known shapes: what it gives, holds and costs, and what has to hold for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformer_diagrams.dims import (
    Condition,
    Dim,
    DimError,
    Verdict,
    above,
    const,
    spelt_by,
    whole_from,
)
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.graph import faults
from transformer_diagrams.graph.attrs import evaluate_attrs
from transformer_diagrams.graph.frame import Applied, Frame, Link
from transformer_diagrams.graph.program import Atom
from transformer_diagrams.graph.session import Session
from transformer_diagrams.ops.registry import Call, Op, OpFault, Shape, Weight
from transformer_diagrams.spec.model import Block


class Applier:
    """Applies the ops of one frame; equal ones on equal shapes once."""

    def __init__(self, session: Session, frame: Frame) -> None:
        self.session = session
        self.frame = frame
        self.scope = frame.scope
        self._attrs: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        self._applied: dict[tuple[Any, ...], Applied] = {}

    def attrs(self, op: Op, block: Block) -> Mapping[str, Any] | None:
        """The attributes of an op; None after a fault."""
        key = (op.name, *((name, str(value.value)) for name, value in block.attrs.items()))
        if key not in self._attrs:
            try:
                self._attrs[key] = evaluate_attrs(op, block, self.scope)
            except DiagramError as error:
                self.session.faults(error)
                return None  # not remembered: each block's fault has its own place
        return self._attrs[key]

    def apply(
        self, atom: Atom, op: Op, attrs: Mapping[str, Any], links: tuple[Link, ...], what: str
    ) -> Applied | None:
        """``op`` at work at ``atom``, called ``what`` in messages; None after a fault."""
        shapes = self.frame.shapes(links)
        key = (op.name, id(attrs) if attrs else 0, shapes)
        applied = self._applied.get(key)
        if applied is None:
            try:
                applied = self._applied[key] = self._work(op, attrs, shapes)
            except OpFault as error:
                self.session.fault(faults.op_refused(self.frame, atom, op, links, what, error))
                return None
            except DimError as error:
                wrapped = OpFault(str(error), getattr(error, "hint", ""))
                self.session.fault(faults.op_refused(self.frame, atom, op, links, what, wrapped))
                return None
        self.frame.applied[atom.index] = applied
        self.frame.outputs[atom.index] = applied.outputs
        for text in applied.warnings:
            self.session.fault(faults.stretched(self.frame, atom, links, what, text))
        for condition in applied.needs:
            # Only what a size of the result rests on; a used spec is asked when it is checked.
            firm = self.scope.alone is None and any(
                (condition.right, condition.left) in size.divisions
                for shape in applied.outputs
                for size in shape.dims
            )
            self.session.need(condition, f"{what} needs it", atom.span, atom.doc_path, firm=firm)
        return applied

    def _work(self, op: Op, attrs: Mapping[str, Any], shapes: tuple[Shape, ...]) -> Applied:
        call = Call(op=op, inputs=shapes, attrs=attrs, facts=self.scope.facts)
        outputs = tuple(op.shape(call))
        doubts = self._doubts(call, outputs)
        params, active = _weights(op.tensors(call))
        with spelt_by(self.scope.figure):
            label = op.label(call)
        return Applied(
            op,
            attrs,
            shapes,
            outputs,
            params,
            active,
            *op.costs(call),
            op.seen(call),
            label,
            tuple(dict.fromkeys(call.warnings)),
            (*doubts, *(Condition("|", a, b) for a, b in call.needs)),
        )

    def _doubts(self, call: Call, outputs: tuple[Shape, ...]) -> tuple[Condition, ...]:
        """What must hold for the sizes that an op works out to be sizes, and is not known.

        :raises OpFault: a size that is surely none.
        """
        facts = self.scope.facts
        given = {size for shape in call.inputs for size in shape.dims}
        found: list[Condition] = []
        for shape in outputs:
            for size in shape.dims:
                if size in given:
                    continue
                given.add(size)
                verdict = facts.at_least(size, 1)
                if verdict is Verdict.NO:
                    raise OpFault(
                        f"it would give {shape}, but {size} is no size: a size must be "
                        f"{whole_from(1)} ({call.shown()})"
                    )
                if verdict is Verdict.UNKNOWN:
                    found.append(above(size, 1))
        return tuple(found)


def _weights(tensors: tuple[Weight, ...]) -> tuple[Dim, Dim]:
    """How many learned numbers, and how many of them one token meets."""
    total = active = const(0)
    for weight in tensors:
        count = weight.shape.numel()
        total = total + count
        active = active + (
            count if weight.active is None else count * weight.active[0] / weight.active[1]
        )
    return total, active
