"""Mutated specs through every stage: no foreign exception, no hang, no fault without a place.

    python tests/fuzz/run.py --count 1000 [--from N] [--seed S] [--every K] [--checks] [--show N]

What passes the check is inspected, emitted, compared with itself and, each K-th, drawn; with
`--checks` that is left out. Inputs run in forked processes with a limit of memory; each has a
limit of time. What is found is printed with its number, from which `--show N` prints the text
again. Then come formulas, a fifth of the count.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import formulas
import mutate

SECONDS = 10.0  # of work on one input
MEMORY = 3 << 30  # bytes of one process
BATCH = 200  # inputs of one process
NO_PLACE = {"file-too-large", "no-file"}  # faults of a file as a whole


class Hang(BaseException):
    """An input took too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise Hang(f"more than {seconds:g} s")

    # Work is limited by the processor's clock, which a busy machine does not hurry; waiting by the
    # clock on the wall.
    kinds = ((signal.SIGPROF, signal.ITIMER_PROF, 1), (signal.SIGALRM, signal.ITIMER_REAL, 10))
    before = [signal.signal(sign, stop) for sign, _, _ in kinds]
    for _, timer, times in kinds:
        signal.setitimer(timer, seconds * times)
    try:
        yield
    finally:
        for (sign, timer, _), handler in zip(kinds, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(sign, handler)


class Examiner:
    """Puts one input through the stages and says what is wrong with how it went."""

    def __init__(self, every: int = 10) -> None:
        from transformer_diagrams import api

        self.api = api
        self.every = every
        self.library = api.load("gqa").library
        for name in self.library.ids():
            self.library.get(name)
        self.passed = self.drawn = 0

    def examine(self, number: int, data: bytes) -> str:
        """What is wrong, in one line; "" when nothing is."""
        stage = ["load"]
        try:
            with limited(SECONDS):
                return self._stages(number, data, stage)
        except Hang as fault:
            return f"{stage[0]}: {fault} {_where(fault)}"
        except RecursionError as fault:
            return f"{stage[0]}: RecursionError {_where(fault)}"
        except Exception as fault:
            name = type(fault).__name__
            words = " ".join(str(fault).split())[:160]
            return f"{stage[0]}: {name}: {words} {_where(fault)}"

    def _stages(self, number: int, data: bytes, stage: list[str]) -> str:
        from transformer_diagrams.errors import DiagramError
        from transformer_diagrams.faults_text import faults_text

        model = self.api.Model.from_text(data, name=f"fuzz-{number}.yaml")
        model.__dict__["library"] = self.library  # the bundled specs are read once
        stage[0] = "check"
        report = model.check()
        text = data.decode("utf-8", "replace")
        stage[0] = "faults"
        for fault in report.faults:
            wrong = misplaced(fault, model.label, text)
            if wrong:
                return f"place: {fault.code}: {wrong}: {fault.message[:120]}"
        words = faults_text(report.faults, {model.label: text})
        if any(ord(char) < 32 and char != "\n" for char in words):
            return "words: a control character is printed"
        json.dumps([fault.as_json() for fault in report.faults])
        stage[0] = "summary"
        if report.ok or model._loaded[1].ok:
            model.summary()
        self.passed += report.ok
        if not report.ok or not self.every:
            return ""
        draw = self.passed % self.every == 0
        self.drawn += draw
        configs = list(model.spec.configs)[:1]
        steps: list[tuple[str, Any]] = [
            ("inspect", lambda: json.dumps(model.inspect())),
            ("emit graph", lambda: json.dumps(model.emit("graph"))),
        ]
        steps += [("inspect config", lambda: model.inspect(configs[0]))] if configs else []
        if self.passed % 3 == 0:
            steps.append(("emit spec", lambda: json.dumps(model.emit("spec"))))
            steps.append(("emit shapes", lambda: json.dumps(model.emit("shapes"))))
            steps.append(("open", lambda: model.graph(open=["*"])))
            steps.append(("diff", lambda: self.api.compare(model, model).as_json()))
        if draw:
            steps.append(("render", lambda: model._render("svg", model._options({}))))
            steps.append(("lint", model.lint))
        for name, step in steps:
            stage[0] = name
            try:
                step()
            except DiagramError as fault:
                first = fault.faults[0]
                return f"{name}: check is fine, but refused: {first.code}: {first.message[:120]}"
        return ""


def misplaced(fault: Any, label: str, text: str) -> str:
    """What is wrong with the place of a fault."""
    if fault.span.file != label:
        return "" if os.path.isfile(fault.span.file) else f"the file {fault.span.file}"
    if fault.code in NO_PLACE:
        return ""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    line, column = fault.span.line, fault.span.column
    if not 1 <= line <= len(lines):
        return f"line {line} of {len(lines)}"
    if not 1 <= column <= len(lines[line - 1]) + 2:
        return f"column {column} of {len(lines[line - 1])} in line {line}"
    return ""


def _where(fault: BaseException) -> str:
    """The innermost place of the package in a traceback."""
    frames = [
        f for f in traceback.extract_tb(fault.__traceback__) if "transformer_diagrams" in f.filename
    ]
    last = frames[-1] if frames else traceback.extract_tb(fault.__traceback__)[-1]
    return f"({Path(last.filename).name}:{last.lineno} {last.name})"


def batch(
    examiner: Examiner, mutator: mutate.Mutator, numbers: range
) -> tuple[dict[int, str], int]:
    """What was found among some inputs, in a process of its own; and how many were fine."""
    found: dict[int, str] = {}
    passed = 0
    begin = numbers.start
    while begin < numbers.stop:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            with os.fdopen(writing, "w") as out:
                for number in range(begin, numbers.stop):
                    print("at", number, file=out, flush=True)
                    wrong = examiner.examine(number, mutator.text(number))
                    if wrong:
                        print("bad", number, json.dumps(wrong), file=out, flush=True)
                print("fine", examiner.passed, examiner.drawn, file=out, flush=True)
            os._exit(0)
        os.close(writing)
        at, done = begin, False
        with os.fdopen(reading) as told:
            for line in told:
                word, number, *rest = line.split(" ", 2)
                if word == "at":
                    at = int(number)
                elif word == "bad":
                    found[int(number)] = json.loads(rest[0])
                else:
                    passed += int(number)
                    done = True
        _, status = os.waitpid(child, 0)
        if done:
            break
        found[at] = f"the process ended with status {status}"
        begin = at + 1
    return found, passed


def main(arguments: list[str]) -> int:
    """Run; 1 when something was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--show", type=int)
    asked = parser.parse_args(arguments)
    mutator = mutate.Mutator(mutate.corpus(), asked.seed)
    if asked.show is not None:
        sys.stdout.buffer.write(mutator.text(asked.show))
        print(f"# {Examiner(1).examine(asked.show, mutator.text(asked.show)) or 'fine'}")
        return 0
    examiner = Examiner(0 if asked.checks else asked.every)
    begin = time.monotonic()
    bad = passed = 0
    last = asked.first + asked.count
    for first in range(asked.first, last, BATCH):
        found, fine = batch(examiner, mutator, range(first, min(first + BATCH, last)))
        passed += fine
        bad += len(found)
        for number, wrong in sorted(found.items()):
            print(f"{number}: {wrong}", flush=True)
        if (first - asked.first) % 5000 == 0 and first > asked.first:
            print(f"{first - asked.first} of {asked.count}", file=sys.stderr, flush=True)
    seconds = time.monotonic() - begin
    print(f"{asked.count} inputs, {passed} of them fine, {bad} bad, {seconds:.0f} s", flush=True)
    bad += formulas.main(["--count", str(max(1, asked.count // 5)), "--seed", str(asked.seed)])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
