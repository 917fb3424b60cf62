"""The job behind `make diagrams`: a folder of specs to a folder of figures.

Only what changed is drawn, several at once, each written whole or not at all. What is already
right is recognised by bytes: the kept result of a spec against the file that lies there. A fault
in one spec does not stop the others; all of them are listed at the end.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from transformer_diagrams import store
from transformer_diagrams.api import Model, save
from transformer_diagrams.errors import DiagramError, Fault, Span

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
    found = sorted(path for end in ("yaml", "yml") for path in specs.rglob(f"*.{end}"))
    if not found:
        raise DiagramError(Fault("no-such-spec", f"there is no spec in '{specs}'"))
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


def make(jobs: Sequence[Job], *, workers: int | None = None) -> Iterator[Outcome]:
    """Do the jobs; outcomes come as they are ready, those that need no drawing first."""
    todo: list[Job] = []
    for job in jobs:
        outcome = from_cache(job)
        if outcome is None:
            todo.append(job)
        else:
            yield outcome
    workers = min(workers or os.cpu_count() or 1, len(todo))
    if workers <= 1:
        yield from map(draw, todo)
        return
    with ProcessPoolExecutor(workers) as pool:
        futures: dict[Future[Outcome], Job] = {pool.submit(draw, job): job for job in todo}
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:
                yield Outcome(futures[future], False, (_lost(futures[future]),))


def from_cache(job: Job) -> Outcome | None:
    """The outcome when nothing needs drawing: the kept result is, or now becomes, the file."""
    try:
        entry = Model.find(str(job.spec)).kept(job.format, theme=job.theme)
        if entry is None:
            return None
        if store.digest_of(job.target) == store.digest(entry.data):
            return Outcome(job, False, entry.warnings)
        save(job.target, entry.data)
    except DiagramError as fault:
        return Outcome(job, False, fault.faults)
    return Outcome(job, True, entry.warnings)


def draw(job: Job) -> Outcome:
    """Render one figure and put it in place."""
    try:
        result = Model.find(str(job.spec)).render(job.format, theme=job.theme)
        if store.digest_of(job.target) == store.digest(result.data):
            return Outcome(job, False, result.warnings)
        save(job.target, result.data)
    except DiagramError as fault:
        return Outcome(job, False, fault.faults)
    except Exception as fault:
        words = f"unexpected {type(fault).__name__}: {' '.join(str(fault).split())[:300]}"
        return Outcome(job, False, (Fault("internal", words, Span(str(job.spec))),))
    return Outcome(job, True, result.warnings)


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


def _lost(job: Job) -> Fault:
    return Fault(
        "internal",
        "the process that drew it has died",
        Span(str(job.spec)),
        hint="memory may have run out; try it alone with `transformer-diagrams render`",
    )


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
            print(f"\r\x1b[K{line}", end="", flush=True)
        elif mark != "same":
            print(line, flush=True)

    def end(self) -> None:
        if self.moving:
            print("\r\x1b[K", end="", flush=True)


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
        return 1
    progress = Progress(len(jobs))
    outcomes = []
    for outcome in make(jobs, workers=given.workers):
        outcomes.append(outcome)
        progress.step(outcome)
    progress.end()
    if given.prune:
        for path in stale(jobs):
            path.unlink()
            print(f"removed {path}: no spec stands behind it")

    # Each fault once, however many formats and themes met it, in the order of the specs.
    outcomes.sort(key=lambda outcome: (outcome.job.spec, outcome.job.target))
    _show(dict.fromkeys(fault for outcome in outcomes for fault in outcome.faults))
    drawn = sum(outcome.drawn for outcome in outcomes)
    bad = [outcome for outcome in outcomes if not outcome.ok]
    print(
        f"{len(jobs)} figures: {drawn} drawn, {len(jobs) - drawn - len(bad)} already right"
        + (f", {len(bad)} with faults" if bad else "")
        + f" ({time.perf_counter() - begin:.1f} s)"
    )
    for outcome in bad:
        print(f"  not drawn: {outcome.job.target}")
    return 1 if bad else 0


def _names(text: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(part.strip() for part in text.replace(" ", ",").split(",") if part.strip())
    )


def _show(faults: Iterable[Fault]) -> None:
    from transformer_diagrams.faults_text import faults_text

    print(faults_text(faults), end="", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
