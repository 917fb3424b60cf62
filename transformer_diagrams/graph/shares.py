"""Shared weights must be the same weights: blocks with `share:`, outputs tied to a table."""

from __future__ import annotations

from collections.abc import Callable

from transformer_diagrams.dims import Verdict
from transformer_diagrams.errors import Fault, did_you_mean
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.program import Atom
from transformer_diagrams.spec.model import Block, Text

Report = Callable[[Fault], None]


def check_share(frame: Frame, atom: Atom, block: Block, share: Text, report: Report) -> None:
    """Blocks that share weights must have the same weights."""
    at = share.span if share.span.line else block.span
    path = f"{block.path}.share"
    other = frame.program.ids.get(share.value)
    if other is None:
        report(
            Fault(
                "unknown-block",
                f"'{block.id}' shares the weights of '{share.value}', but there is no such "
                "op or used spec here",
                at,
                path=path,
                found=share.value,
                hint=did_you_mean(share.value, frame.program.ids, what="block"),
            )
        )
        return
    mine, its = frame.applied.get(atom.index), frame.applied.get(other)
    problem = ""
    if mine is not None and its is not None:
        if frame.scope.facts.equal(mine.params, its.params) is not Verdict.YES:
            problem = f"{mine.params} against {its.params} weights"
    elif atom.index in frame.uses and other in frame.uses:
        used, sharing = frame.uses[atom.index].program.spec, frame.uses[other].program.spec
        if used is not sharing:
            problem = f"'{used.id}' against '{sharing.id}'"
    elif (mine is None) != (its is None) and frame.outputs[other] is not None:
        problem = "one is an op, the other a used spec"
    if problem:
        there = frame.program.atoms[other]
        report(
            Fault(
                "share-mismatch",
                f"'{block.id}' cannot have the weights of '{share.value}': {problem}",
                at,
                path=path,
                found=problem,
                notes=((f"'{share.value}' is here", there.span),),
            )
        )


def check_table(
    frame: Frame, atom: Atom, block: Block, table: str, where: str, report: Report
) -> None:
    """A tied output needs a table of its own size; known only when all blocks are."""
    at = block.attrs["table"].span
    path = f"{block.path}.table"
    index = frame.program.ids.get(table)
    if index is None:
        report(
            Fault(
                "unknown-block",
                f"'{block.id}' uses the table of '{table}', but there is no such op here",
                at,
                path=path,
                found=table,
                hint=did_you_mean(table, frame.program.ids, what="block"),
            )
        )
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
                f"'{block.id}'{where} needs a table of {rows} rows of {width}, "
                f"but '{table}' has {its.params} weights",
                at,
                path=path,
                found=str(its.params),
                expected=str(rows * width),
                notes=((f"'{table}' is here", there.span),),
            )
        )
