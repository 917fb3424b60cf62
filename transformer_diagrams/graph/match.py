"""Does a shape fit what is stated of it? Axis by axis, with words for where it does not."""

from __future__ import annotations

from transformer_diagrams.dims import Dim, Facts, Verdict
from transformer_diagrams.ops.registry import Shape, axes_text
from transformer_diagrams.records import dataclass

Leads = dict[str, Shape]  # what each "..." stands for


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why two shapes are not the same: one sentence, and a hint or ""."""

    message: str
    hint: str = ""


def beyond(stated: Shape, actual: Shape) -> Shape | None:
    """The leading axes that ``actual`` has beyond what is ``stated``; None where it has none.

    A shape that states "..." itself takes them in by its own name.
    """
    cut = len(actual.dims) - len(stated.dims)
    if stated.lead is not None or cut < 0 or (cut == 0 and actual.lead is None):
        return None
    return Shape(actual.dims[:cut], actual.lead)


def misfit(stated: Shape, actual: Shape, leads: Leads, facts: Facts) -> Misfit | None:
    """None when ``actual`` is what ``stated`` says; binds a "..." that is not bound yet."""
    if stated.lead is None:
        wanted = f"{stated} has {axes_text(stated.ndim)}"
        if actual.lead is not None:
            return Misfit(f"{wanted}, but {actual} may have any number of leading axes")
        if len(stated.dims) != len(actual.dims):
            return Misfit(f"{wanted}, but {actual} has {axes_text(actual.ndim)}")
        return _tails(stated, actual, stated.dims, actual.dims, 0, facts)
    count = len(stated.dims)
    if len(actual.dims) < count:
        return Misfit(
            f"{stated} needs at least {axes_text(count)}, but {actual} states {len(actual.dims)}"
        )
    cut = len(actual.dims) - count
    head = Shape(actual.dims[:cut], actual.lead)
    bound = leads.get(stated.lead)
    if bound is None:
        leads[stated.lead] = head
    elif not same(bound, head, facts):
        return Misfit(
            f"'{stated.lead}' stands for two different shapes: {bound.bare()} and {head.bare()}"
        )
    return _tails(stated, actual, stated.dims, actual.dims[cut:], cut, facts)


def _tails(
    stated: Shape,
    actual: Shape,
    wanted: tuple[Dim, ...],
    given: tuple[Dim, ...],
    skipped: int,
    facts: Facts,
) -> Misfit | None:
    for number, (a, b) in enumerate(zip(wanted, given, strict=True)):
        verdict = facts.equal(a, b)
        if verdict is Verdict.YES:
            continue
        axis = f"axis {number + skipped + 1} of {len(given) + skipped}"
        if verdict is Verdict.NO:
            return Misfit(f"{axis}: {a} != {b} ({stated} against {actual})")
        return Misfit(
            f"{axis}: cannot tell whether {a} = {b} ({stated} against {actual})",
            f"if it always holds, state it: where: [{a} == {b}]",
        )
    return None


def same(a: Shape, b: Shape, facts: Facts) -> bool:
    """Whether two shapes are surely the same, axis by axis."""
    if a.lead != b.lead or len(a.dims) != len(b.dims):
        return False
    pairs = zip(a.dims, b.dims, strict=True)
    return all(facts.equal(x, y) is Verdict.YES for x, y in pairs)
