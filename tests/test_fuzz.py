"""A short run of the fuzz target, and of inputs that grow; `make fuzz N=...` runs longer ones."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "fuzz"))

import growth
import mutate
import run

from transformer_diagrams.errors import Fault, Report, Span


@pytest.fixture(scope="module")
def mutator() -> mutate.Mutator:
    return mutate.Mutator(mutate.corpus())


@pytest.fixture(scope="module")
def examiner() -> run.Examiner:
    return run.Examiner(every=8)


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_mutated_specs(mutator: mutate.Mutator, examiner: run.Examiner, first: int) -> None:
    found = {n: examiner.examine(n, mutator.text(n)) for n in range(first, first + 40)}
    assert not {n: wrong for n, wrong in found.items() if wrong}


def test_specs_written_down_again_are_fine(mutator: mutate.Mutator, examiner: run.Examiner) -> None:
    """Otherwise most mutations would end at the first fault."""
    for number, tree in enumerate(mutator.trees[::9]):
        model = examiner.api.Model.from_text(mutate.written(tree), name=f"again-{number}")
        model.__dict__["library"] = examiner.library
        assert model.check().ok


def test_the_same_number_gives_the_same_text(mutator: mutate.Mutator) -> None:
    again = mutate.Mutator(mutator.sources)
    assert [mutator.text(n) for n in range(50)] == [again.text(n) for n in range(50)]


def test_the_examiner_sees_what_it_looks_for(
    examiner: run.Examiner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception, a hang and a place outside of the file are found when they are there."""
    good = b"inputs: {x: [3]}\nblocks: [gelu]\n"
    assert examiner.examine(-1, good) == ""
    model = examiner.api.Model
    monkeypatch.setattr(model, "inspect", lambda *_: 1 // 0)
    assert "ZeroDivisionError" in examiner.examine(-2, good)
    monkeypatch.setattr(run, "SECONDS", 0.005)
    monkeypatch.setattr(model, "inspect", lambda *_: time.sleep(5))
    assert "more than 0.005 s" in examiner.examine(-3, good)
    far = Fault("x", "y", Span("fuzz--4.yaml", 3, 1))
    monkeypatch.setattr(model, "check", lambda _: Report([far]))
    assert "line 3 of 3" not in examiner.examine(-4, good)
    assert "line 3 of 2" in examiner.examine(-4, good[:-1])


def seconds(kind: str, size: int, folder: Path) -> float:
    folder.mkdir()
    place = growth.write(growth.SHAPES[kind](size), folder)
    begin = time.process_time()
    growth.stages(place, drawn=kind.startswith("chain"))
    return time.process_time() - begin


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("chain", 200),
        ("tags", 4000),
        ("unknown-aliases", 1000),
        ("duplicate-keys", 20_000),
        ("fault-unknown-reference", 1000),
        ("comment-behind-each-on-a-line", 600),
        ("dims-defaults-in-a-row", 90),
        ("dims-defined-backwards", 200),
        ("dims-defined-by-two", 10),
        ("uses-in-a-row", 12),
        ("uses-of-many", 25),
    ],
)
def test_four_times_as_much_takes_no_more_than_nine_times_as_long(
    kind: str, size: int, tmp_path: Path
) -> None:
    """Linear is 4, quadratic is 16; what takes no time at all is let off."""
    seconds(kind, size // 4, tmp_path / "warm")
    for attempt in range(3):
        small = seconds(kind, size, tmp_path / f"small{attempt}")
        large = seconds(kind, 4 * size, tmp_path / f"large{attempt}")
        if large < 9 * small + 0.2:
            return
    pytest.fail(f"{size}: {small:.2f} s, {4 * size}: {large:.2f} s")
