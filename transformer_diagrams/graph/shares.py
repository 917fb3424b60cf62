"""Shared weights must be the same weights, and so must those of an average: blocks with `share:`
or `average_of:`, outputs tied to a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from transformer_diagrams.dims import Facts, Verdict
from transformer_diagrams.errors import Fault, Span
from transformer_diagrams.graph.frame import Applied, Frame
from transformer_diagrams.graph.program import Atom
from transformer_diagrams.ops.registry import Call, Weight
from transformer_diagrams.spec.model import Block, Text

Report = Callable[[Fault], None]
_DOES = {"share": "have", "average_of": "follow"}


def check_share(
    frame: Frame, atom: Atom, block: Block, share: Text, report: Report, key: str = "share"
) -> None:
    """Blocks that share weights must have the same weights; ``key`` names the other one."""
    at = share.span if share.span.line else block.span
    path = f"{block.path}.{key}"
    other = frame.program.ids.get(share.value)
    if other is None:
        report(_left_out(block, share.value, at, path))
        return
    mine, its = frame.applied.get(atom.index), frame.applied.get(other)
    problem = ""
    if mine is not None and its is not None:
        problem = _unequal(frame, (mine,), (its,))
    elif atom.index in frame.uses and other in frame.uses:
        used, sharing = frame.uses[atom.index], frame.uses[other]
        if used.program.spec is not sharing.program.spec:
            problem = f"'{used.program.spec.id}' against '{sharing.program.spec.id}'"
        elif used is not sharing:
            problem = _unequal(frame, tuple(_ops(used)), tuple(_ops(sharing)))
    elif (mine is None) != (its is None) and frame.outputs[other] is not None:
        problem = "one is an op, the other a used spec"
    if problem:
        there = frame.program.atoms[other]
        report(
            Fault(
                "share-mismatch",
                f"'{block.id}' cannot {_DOES[key]} the weights of '{share.value}': {problem}",
                at,
                path=path,
                found=problem,
                notes=((f"'{share.value}' is here", there.span),),
            )
        )


def _left_out(block: Block, other: str, at: Span, path: str) -> Fault:
    return Fault(
        "left-out",
        f"'{block.id}' has the weights of '{other}', which is left out here by its `if:`",
        at,
        path=path,
        found=other,
        hint="give both the same `if:`",
    )


def _ops(frame: Frame) -> Iterator[Applied]:
    """The ops of a spec and of those that it uses, in order."""
    for index in frame.program.order:
        if index in frame.applied:
            yield frame.applied[index]
        elif index in frame.uses:
            yield from _ops(frame.uses[index])


def _unequal(frame: Frame, mine: tuple[Applied, ...], its: tuple[Applied, ...]) -> str:
    """In words, the first weight that the one has and the other has not; "" where all agree."""
    facts = frame.scope.facts
    a, b = ([w for op in ops for w in weights_of(op, facts)] for ops in (mine, its))
    for x, y in zip(a, b, strict=False):
        if x.shape.ndim != y.shape.ndim or any(
            facts.equal(p, q) is not Verdict.YES
            for p, q in zip(x.shape.dims, y.shape.dims, strict=True)
        ):
            return f"{x.name}: {x.shape} against {y.name}: {y.shape}"
    if len(a) != len(b):
        more = (a if len(a) > len(b) else b)[min(len(a), len(b))]
        return f"only one of them has {more.name}: {more.shape}"
    return ""


def weights_of(op: Applied, facts: Facts) -> tuple[Weight, ...]:
    """The learned tensors of an op at work."""
    return op.op.tensors(Call(op=op.op, inputs=op.inputs, attrs=op.attrs, facts=facts))


def check_table(
    frame: Frame, atom: Atom, block: Block, table: str, report: Report
) -> None:
    """A tied output needs a table of its own size; known only when all blocks are."""
    at = block.attrs["table"].span
    path = f"{block.path}.table"
    index = frame.program.ids.get(table)
    if index is None:
        report(_left_out(block, table, at, path))
        return
    mine, its = frame.applied.get(atom.index), frame.applied.get(index)
    if mine is None or its is None:
        return
    rows, width = mine.attrs["out"], mine.inputs[0].dims[-1]
    if frame.scope.facts.equal(rows * width, its.params) is not Verdict.YES:
        there = frame.program.atoms[index]
        report(
            Fault(
                "share-mismatch",
                f"'{block.id}'{frame.scope.where} needs a table of {rows} rows of {width}, "
                f"but '{table}' has {its.params} weights",
                at,
                path=path,
                found=str(its.params),
                expected=str(rows * width),
                notes=((f"'{table}' is here", there.span),),
            )
        )
