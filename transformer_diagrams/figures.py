"""The job behind `make diagrams`: a folder of specs to a folder of figures.

Only what changed is drawn, several at once, each written whole or not at all. What is already
right is recognised by bytes: the kept result of a spec against the file that lies there. A fault
in one spec does not stop the others; all of them are listed at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from transformer_diagrams import cachedir, pool, store
from transformer_diagrams.api import Model, save, specs_below
from transformer_diagrams.bundled import bundled_dir, bundled_labels
from transformer_diagrams.errors import DiagramError, Fault, Span
from transformer_diagrams.options import AskError
from transformer_diagrams.records import dataclass
from transformer_diagrams.streams import guarded, printable, say

DEFAULT_THEME = "paper"


@dataclass(frozen=True, slots=True)
class Job:
    """One figure to make."""

    spec: Path
    target: Path
    format: str
    theme: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job. ``drawn`` is False when the file was already right."""

    job: Job
    drawn: bool
    faults: tuple[Fault, ...] = ()  # warnings too
    labels: tuple[tuple[str, str, str], ...] = ()

    @property
    def ok(self) -> bool:
        return not any(fault.severity == "error" for fault in self.faults)


def plan(
    specs: Path,
    out: Path,
    formats: Sequence[str] = ("svg",),
    themes: Sequence[str] = (DEFAULT_THEME,),
) -> list[Job]:
    """Every figure that ``out`` should hold: ``out/ID.svg``, other themes in ``out/THEME/``.

    :raises DiagramError: when two specs have the same id, or there is none.
    """
    found = specs_below(specs)
    by_id: dict[str, Path] = {}
    for path in found:
        if path.stem in by_id:
            first = by_id[path.stem]
            raise DiagramError(
                Fault(
                    "duplicate-id",
                    f"two specs have the id '{path.stem}': {first} and {path}",
                    Span(str(path)),
                    hint="rename one of the files",
                )
            )
        by_id[path.stem] = path
    return [
        Job(path, out / ("" if theme == DEFAULT_THEME else theme) / f"{id}.{format}", format, theme)
        for id, path in sorted(by_id.items())
        for theme in themes
        for format in formats
    ]


def make(
    jobs: Sequence[Job], *, workers: int | None = None
) -> Generator[Outcome, None, None]:
    """Do the jobs; outcomes come as they are ready, those that need no drawing first."""
    todo: list[Job] = []
    for job in jobs:
        outcome = from_cache(job)
        if outcome is None:
            todo.append(job)
        else:
            yield outcome
    for job, made in pool.several(draw, todo, workers):
        yield made or Outcome(job, False, (pool.lost(str(job.spec)),))


def from_cache(job: Job) -> Outcome | None:
    """The outcome when nothing needs drawing: the kept result is, or now becomes, the file."""
    try:
        entry = Model.find(str(job.spec)).kept(job.format, theme=job.theme)
        if entry is None:
            return None
        if store.digest_of(job.target) == store.digest(entry.data):
            return Outcome(job, False, entry.warnings, entry.labels)
        save(job.target, entry.data)
    except DiagramError as fault:
        return Outcome(job, False, fault.faults)
    return Outcome(job, True, entry.warnings, entry.labels)


def draw(job: Job) -> Outcome:
    """Render one figure and put it in place."""
    try:
        result = Model.find(str(job.spec)).render(job.format, theme=job.theme)
        if store.digest_of(job.target) == store.digest(result.data):
            return Outcome(job, False, result.warnings, result.labels)
        save(job.target, result.data)
    except DiagramError as fault:
        return Outcome(job, False, fault.faults)
    except Exception as fault:
        words = f"unexpected {type(fault).__name__}: {' '.join(str(fault).split())[:300]}"
        return Outcome(job, False, (Fault("internal", words, Span(str(job.spec))),))
    return Outcome(job, True, result.warnings, result.labels)


def stale(jobs: Iterable[Job]) -> list[Path]:
    """Figures beside the planned ones that no spec stands behind any more."""
    planned = {job.target for job in jobs}
    folders = sorted({target.parent for target in planned})
    suffixes = (".svg", ".png", ".pdf")
    stems = {target.stem for target in planned}
    return sorted(
        path
        for folder in folders
        if folder.is_dir()
        for path in folder.iterdir()
        if path.suffix in suffixes and path.stem not in stems
    )


def _drawn_list(out: Path) -> str:
    """Where it is kept which figures of a folder were drawn here: name -> digest."""
    return f"made/{store.digest(os.fsencode(out.resolve()))}.json"


def remember(out: Path, outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Add what was drawn, or found to be right, to the list of the folder ``out``; the list."""
    try:
        found = json.loads(cachedir.read(_drawn_list(out)) or b"{}")
        known = {str(name): str(digest) for name, digest in found.items()}
    except (ValueError, AttributeError):
        known = {}
    known |= {
        os.path.relpath(outcome.job.target, out): store.digest_of(outcome.job.target)
        for outcome in outcomes
        if outcome.ok
    }
    known = {name: digest for name, digest in known.items() if (out / name).is_file()}
    cachedir.write(_drawn_list(out), json.dumps(known, sort_keys=True).encode())
    return known


def prune(jobs: Iterable[Job], out: Path, known: Mapping[str, str]) -> Iterator[str]:
    """Remove figures that no spec stands behind, if they are as they were drawn here; a line each.
    """
    for path in stale(jobs):
        ours = known.get(os.path.relpath(path, out)) == store.digest_of(path)
        try:
            if not ours or path.is_symlink() or not path.stat().st_mode & 0o222:
                yield f"left {path}: no spec stands behind it, but it was not drawn here"
                continue
            path.unlink()
        except OSError as fault:
            yield f"left {path}: it cannot be removed: {fault.strerror}"
            continue
        yield f"removed {path}: no spec stands behind it"


class Progress:
    """One moving line on a terminal, one line a drawn figure elsewhere."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.moving = sys.stdout.isatty()

    def step(self, outcome: Outcome) -> None:
        self.done += 1
        mark = "drawn" if outcome.drawn else "same" if outcome.ok else "FAULT"
        line = f"[{self.done}/{self.total}] {mark:5} {outcome.job.target}"
        if self.moving:
            say(f"\r\x1b[K{printable(line)}", end="", ready=True)
        elif mark != "same":
            say(line)

    def end(self) -> None:
        if self.moving:
            say("\r\x1b[K", end="", ready=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of the job; its exit code."""
    parser = argparse.ArgumentParser(prog="figures", description=__doc__)
    parser.add_argument("specs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--formats", default="svg", help="commas between")
    parser.add_argument("--themes", default=DEFAULT_THEME, help="commas between")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--prune", action="store_true", help="remove figures without a spec")
    given = parser.parse_args(arguments)

    begin = time.perf_counter()
    try:
        jobs = plan(given.specs, given.out, _names(given.formats), _names(given.themes))
    except DiagramError as fault:
        _show(fault.faults)
        return 2 if isinstance(fault, AskError) else 1
    progress = Progress(len(jobs))
    outcomes = []
    with closing(make(jobs, workers=given.workers)) as several:
        for outcome in several:
            outcomes.append(outcome)
            progress.step(outcome)
    progress.end()
    known = remember(given.out, outcomes)
    if given.prune:
        for line in prune(jobs, given.out, known):
            say(line)

    # Each fault once, however many formats and themes met it, in the order of the specs.
    outcomes.sort(key=lambda outcome: (outcome.job.spec, outcome.job.target))
    _show(dict.fromkeys(fault for outcome in outcomes for fault in outcome.faults))
    drawn = sum(outcome.drawn for outcome in outcomes)
    bad = [outcome for outcome in outcomes if not outcome.ok]
    if not bad and given.specs.resolve() == bundled_dir():
        from transformer_diagrams.text.layout import renew

        # Measured once for all: a first figure anywhere then loads no font.
        renew(given.out / bundled_labels().name, {n for o in outcomes for n in o.labels})
    say(
        f"{len(jobs)} figures: {drawn} drawn, {len(jobs) - drawn - len(bad)} already right"
        + (f", {len(bad)} with faults" if bad else "")
        + f" ({time.perf_counter() - begin:.1f} s)"
    )
    for outcome in bad:
        say(f"  not drawn: {outcome.job.target}")
    return 1 if bad else 0


def _names(text: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(part.strip() for part in text.replace(" ", ",").split(",") if part.strip())
    )


def _show(faults: Iterable[Fault]) -> None:
    from transformer_diagrams.faults_text import faults_text

    say(faults_text(faults), err=True, end="", ready=True)


if __name__ == "__main__":
    sys.exit(guarded(main))
