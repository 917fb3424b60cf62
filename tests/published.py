"""What tables of published models share: a row, and the counts of a bundled spec."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from transformer_diagrams.count import Inspection, inspect
from transformer_diagrams.spec.library import SpecLibrary

LIBRARY = SpecLibrary()


@cache
def counted(id_: str, config: str | None = None, **sizes: object) -> Inspection:
    return inspect(LIBRARY.get(id_), LIBRARY, config=config, overrides=sizes)


def by_role(found: Inspection) -> dict[str, int | None]:
    return {role: amount.number for role, amount in found.params.by_role.items()}


@dataclass(frozen=True)
class Published:
    """One published model and what it must count to; ``active`` and ``cache`` per token."""

    spec: str
    config: str
    source: str  # paper or model card, and the model class that was measured
    total: int
    roles: dict[str, int] = field(default_factory=dict)
    cache: int | None = None
    active: int | None = None
