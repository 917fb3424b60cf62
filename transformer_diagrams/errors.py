"""Faults as data: where, what was found, what was expected, and a hint.

Every stage raises (or collects) :class:`Fault` values; the command line prints them.
Nothing here knows about YAML, shapes or drawing.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable
from dataclasses import field
from typing import Final

from transformer_diagrams.records import dataclass

MAX_FAULTS: Final = 100  # errors, and as many warnings, that one report lists
LONGEST: Final = 1_000  # characters of one sentence of a fault
LONGEST_WORD: Final = 200  # characters of a word in it: a path may be that long, a name is not
_LONG_WORD: Final = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")
_MANY: Final = 200  # names that `nearest` compares letter by letter


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


def cut(text: str) -> str:
    """``text`` as a message can hold it: what is too long loses its middle."""
    if len(text) > LONGEST_WORD:
        # The ends alone are searched, so that a text of any length costs the same.
        if len(text) > 4 * LONGEST:
            text = f"{text[: 2 * LONGEST]}...{text[-2 * LONGEST :]}"
        text = _LONG_WORD.sub(lambda word: _without_middle(word.group(), 80), text)
        text = _without_middle(text, LONGEST)
    return text


def _without_middle(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = most // 4
    return f"{text[: most - tail - 3]}...{text[-tail:]}"


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

    def __post_init__(self) -> None:
        # A name may be as long as a file; what is said of it is not.
        for name in ("message", "path", "found", "expected", "hint"):
            text = getattr(self, name)
            if len(text) > LONGEST_WORD:
                object.__setattr__(self, name, cut(text))
        if any(len(text) > LONGEST_WORD for text, _ in self.notes):
            object.__setattr__(self, "notes", tuple((cut(text), at) for text, at in self.notes))

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


class TooManyFaults(DiagramError):
    """A report is full: whoever made it gives up and hands it on as it is."""


@dataclass(slots=True)
class Report:
    """Collects faults while a stage goes on, so that one run reports them all.

    It holds :data:`MAX_FAULTS` errors. The next one is not taken in: the stage is ended by
    :class:`TooManyFaults` and the report says that there are more. Of warnings it holds as many,
    and leaves out the others.
    """

    faults: list[Fault] = field(default_factory=list)
    _room: list[int] = field(default_factory=lambda: [MAX_FAULTS, MAX_FAULTS], repr=False)

    def add(self, fault: Fault) -> None:
        """Take in a fault.

        :raises TooManyFaults: when it is an error and there is no room for it.
        """
        warning = fault.severity != "error"
        self._room[warning] -= 1
        if self._room[warning] >= 0:
            self.faults.append(fault)
            return
        if self._room[warning] == -1:
            words = "warnings: no more are listed" if warning else "faults: checking stopped here"
            more = f"there are more than {MAX_FAULTS} {words}"
            self.faults.append(Fault("too-many-faults", more, fault.span, severity=fault.severity))
        if not warning:
            raise TooManyFaults(self.errors)

    def extend(self, faults: Iterable[Fault]) -> None:
        """Take in several, as :meth:`add` does."""
        for fault in faults:
            self.add(fault)

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
    import difflib

    found = set(known)
    if len(name) > LONGEST_WORD:
        return None
    if len(found) > _MANY:  # the comparison is slow: only names that are surely near
        near = (o for o in found if o[:1] == name[:1] and abs(len(o) - len(name)) <= 1)
        options = heapq.nsmallest(_MANY, near)
    else:
        options = sorted(found)
    hits = difflib.get_close_matches(name, options, n=1, cutoff=cutoff)
    if not hits:
        folded = {option.lower(): option for option in options}
        close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=cutoff)
        hits = [folded[hit] for hit in close]
    return hits[0] if hits else None


NEAR_OP = 0.75
"""How near the name of an op must be to be meant: `exp` is no slip of the pen for `experts`."""


def did_you_mean(name: str, known: Iterable[str], *, what: str = "name", most: int = 12) -> str:
    """A hint: the nearest name and, when the list is short, all of them."""
    options = set(known)
    close = nearest(name, options)
    listed = f"known {what}s: {', '.join(sorted(options))}" if 0 < len(options) <= most else ""
    if close:
        return f"did you mean '{close}'?" + (f" ({listed})" if listed else "")
    return listed
