"""What one inference finds out beside the shapes: faults, and what has to hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from transformer_diagrams.dims import Condition, Dim
from transformer_diagrams.errors import DiagramError, Fault, Report, Span
from transformer_diagrams.records import dataclass as record


@record(frozen=True, slots=True)
class Need:
    """Something that must hold and does not follow from what the specs state.

    ``firm``  a size is none without it, so that it must be stated, or shown by the configs
    """

    condition: Condition
    reason: str
    span: Span
    path: str = ""
    firm: bool = False


@dataclass
class Session:
    """What is written into while the frames of one root spec are inferred."""

    report: Report = field(default_factory=Report)
    needs: dict[str, Need] = field(default_factory=dict)
    introduced: dict[str, Dim] = field(default_factory=dict)  # names that used specs brought
    blocks: int = 0  # looked at so far

    def fault(self, fault: Fault) -> None:
        self.report.add(fault)

    def faults(self, error: DiagramError) -> None:
        for fault in error.faults:
            self.report.add(fault)

    def need(
        self, condition: Condition, reason: str, span: Span, path: str, *, firm: bool = False
    ) -> None:
        known = self.needs.get(str(condition))
        if known is None or (firm and not known.firm):
            self.needs[str(condition)] = Need(condition, reason, span, path, firm)
