"""Faults as data: where, what was found, what was expected, and a hint.

Every stage raises (or collects) :class:`Fault` values; the command line prints them.
Nothing here knows about YAML, shapes or drawing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in a file; lines and columns count from one.

    ``line`` 0 means "the file as a whole".
    """

    file: str = "<input>"
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


NOWHERE = Span()


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault or warning.

    code      stable kebab-case name, e.g. ``unknown-key``, ``shape-mismatch``
    path      place inside the document, e.g. ``blocks[2].from``
    message   one sentence: what is wrong
    found     what the file says, as text
    expected  what would have been right, as text
    hint      what to do about it
    notes     further facts, each with the place it comes from (or NOWHERE)
    """

    code: str
    message: str
    span: Span = NOWHERE
    path: str = ""
    found: str = ""
    expected: str = ""
    hint: str = ""
    notes: tuple[tuple[str, Span], ...] = ()
    severity: str = "error"  # "error" or "warning"

    def as_json(self) -> dict[str, object]:
        """The fault as plain data, for ``--json``."""
        return {
            "code": self.code,
            "severity": self.severity,
            "file": self.span.file,
            "line": self.span.line,
            "column": self.span.column,
            "path": self.path,
            "message": self.message,
            "found": self.found,
            "expected": self.expected,
            "hint": self.hint,
            "notes": [
                {"text": text, "file": at.file, "line": at.line, "column": at.column}
                for text, at in self.notes
            ],
        }


class DiagramError(Exception):
    """One or more faults that stop the work. ``faults`` are ordered by place, without repeats."""

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        given = (faults,) if isinstance(faults, Fault) else tuple(faults)
        unique = dict.fromkeys(given)
        self.faults: tuple[Fault, ...] = tuple(
            sorted(unique, key=lambda f: (f.span.file, f.span.line, f.span.column))
        )
        super().__init__("\n".join(f"{f.span}: {f.message}" for f in self.faults))


class ToolMissing(DiagramError):
    """A program or library that this output needs is not there; the hint says how to get it."""


@dataclass(slots=True)
class Report:
    """Collects faults while a stage goes on, so that one run reports them all."""

    faults: list[Fault] = field(default_factory=list)

    def add(self, fault: Fault) -> None:
        self.faults.append(fault)

    @property
    def errors(self) -> list[Fault]:
        return [f for f in self.faults if f.severity == "error"]

    @property
    def warnings(self) -> list[Fault]:
        return [f for f in self.faults if f.severity != "error"]

    @property
    def ok(self) -> bool:
        """True when nothing worse than warnings was found."""
        return not self.errors

    def raise_if_errors(self) -> None:
        """Raise one :class:`DiagramError` with every error collected so far, if there is one."""
        if self.errors:
            raise DiagramError(self.errors)


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name most like ``name``, or None. ``nearest("lable", ["label"]) == "label"``."""
    options = sorted(set(known))
    hits = difflib.get_close_matches(name, options, n=1, cutoff=cutoff)
    if not hits:
        folded = {option.lower(): option for option in options}
        close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=cutoff)
        hits = [folded[hit] for hit in close]
    return hits[0] if hits else None


def did_you_mean(name: str, known: Iterable[str], *, what: str = "name", most: int = 12) -> str:
    """A hint: the nearest name and, when the list is short, all of them."""
    options = sorted(set(known))
    close = nearest(name, options)
    listed = f"known {what}s: {', '.join(options)}" if 0 < len(options) <= most else ""
    if close:
        return f"did you mean '{close}'?" + (f" ({listed})" if listed else "")
    return listed


def bindings_text(bindings: Mapping[str, object]) -> str:
    """``d_m = 512, n_h = 8`` in the order of the names."""
    return ", ".join(f"{name} = {value}" for name, value in bindings.items())
