"""What the page shows of a spec: its figure, its faults, and its parts; made again on a change."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from transformer_diagrams.api import Model
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.faults_text import faults_text

Stamp = dict[str, Any]
Answer = dict[str, Any]
"""Plain data: ``version``, a digest of all the rest; ``svg``, the last good figure, or "" when
there was none; ``ok``; ``faults``, as words; ``title``; ``parts``, by path, that can be opened."""


def stamp(files: Stamp) -> Stamp:
    """Size and time of each file; None for one that is not there."""
    marks: Stamp = {}
    for name in files:
        try:
            status = os.stat(name)
            marks[name] = (status.st_mtime_ns, status.st_size)
        except OSError:
            marks[name] = None
    return marks


class Figures:
    """The figures of some specs under any options, each drawn anew only when a file moved.

    ``find`` gives the specs as they are now, by the name that the page uses.
    """

    def __init__(self, find: Callable[[], dict[str, Model]], wish: Mapping[str, Any]) -> None:
        self.find = find
        self.wish = dict(wish)
        self._lock = Lock()
        self._kept: dict[tuple[str, str], tuple[Stamp, Answer]] = {}

    def names(self) -> list[str]:
        """The specs that there are."""
        return list(self.find())

    def answer(self, name: str, asked: Mapping[str, Any]) -> Answer | None:
        """What there is to show of a spec now; None when there is none of that name.

        ``asked`` are options of a figure, which win over those that the watch began with.
        """
        with self._lock:
            key = (name, repr(sorted(asked.items())))
            known = self._kept.get(key)
            if known is not None and stamp(known[0]) == known[0]:
                return known[1]
            model = self.find().get(name)
            if model is None:
                return None if known is None else known[1]  # being renamed by an editor
            # Marks are taken before the files are read, so that a save meanwhile is not missed.
            before = stamp({**(known[0] if known else {}), str(model.path): None})
            made = _made(model, {**self.wish, **asked}, known[1]["svg"] if known else "")
            files = model.files({**self.wish, **asked}.get("theme"))
            self._kept[key] = ({**stamp(dict.fromkeys(files)), **before}, made)
            return made


def _made(model: Model, wish: Mapping[str, Any], last: str) -> Answer:
    made: Answer = {"svg": last, "title": model.id, "parts": [], "ok": False}
    try:
        drawn = model.render("svg", **wish)
        made |= {"svg": str(drawn), "title": model.title, "ok": True}
        made["faults"] = faults_text(drawn.warnings)
        made["parts"] = [path for used in model.used() for path in used.paths]
    except DiagramError as fault:
        made["faults"] = faults_text(fault.faults)
    made["version"] = hashlib.sha256(repr(sorted(made.items())).encode()).hexdigest()[:16]
    return made
