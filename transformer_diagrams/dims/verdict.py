"""The three answers to a question about sizes."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """YES: for all sizes that satisfy the facts. NO: for none. UNKNOWN: cannot tell."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("three answers are no truth value: compare with Verdict.YES")
