"""Faults and warnings as words on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec

from transformer_diagrams.errors import DiagramError, Fault, ToolMissing
from transformer_diagrams.streams import say

P = ParamSpec("P")


def show_faults(faults: Iterable[Fault], texts: Mapping[str, str] | None = None) -> None:
    """Print faults to stderr; ``texts`` are the sources that no file holds, by their name."""
    listed = tuple(faults)
    if listed:
        from transformer_diagrams.faults_text import faults_text

        colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        say(faults_text(listed, texts, colour=colour), err=True, end="", ready=True)


def summary(faults: Iterable[Fault]) -> str:
    """``2 faults, 1 warning`` or ``fine``."""
    listed = list(faults)
    errors = sum(fault.severity == "error" for fault in listed)
    warnings = len(listed) - errors
    parts = [counted(errors, "fault")] if errors else []
    parts += [counted(warnings, "warning")] if warnings else []
    return ", ".join(parts) or "fine"


def counted(number: int, noun: str) -> str:
    """``1 fault``, ``2 faults``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


class Codes:
    """Runs one piece of work a spec and remembers the worst exit code, so that one bad spec
    does not stop the others."""

    def __init__(self) -> None:
        self.code = 0
        self.texts: dict[str, str] = {}  # of specs that no file holds, by their name

    def show(self, faults: Iterable[Fault]) -> None:
        """Print faults to stderr, with the lines they stand in."""
        show_faults(faults, self.texts)

    def worst(self, code: int) -> None:
        self.code = max(self.code, code)

    def attempt(self, work: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> bool:
        """Do ``work``; print the faults it raises. True when it went well."""
        try:
            work(*args, **kwargs)
        except DiagramError as fault:
            self.show(fault.faults)
            self.worst(exit_code(fault))
            return False
        return True


def exit_code(fault: DiagramError) -> int:
    """1 for a fault in the input, 2 for a wrong wish, 3 for a missing tool."""
    from transformer_diagrams.options import AskError

    if isinstance(fault, AskError):
        return 2
    return 3 if isinstance(fault, ToolMissing) else 1
