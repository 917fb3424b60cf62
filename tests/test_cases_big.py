"""Large inputs end in time: drawn, or refused in words that say the count and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import big  # noqa: E402

# The limits are for an idle machine; tests run beside one another.
PATIENCE = 3.0


@dataclass(frozen=True)
class Done:
    code: int
    seconds: float

    out: str
    err: str


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return big.write(tmp_path_factory.mktemp("big"))


def run(limit: float, *arguments: str | Path) -> Done:
    """The program in a process of its own, killed past the limit (that fails the test)."""
    env = {**os.environ, "TRANSFORMER_DIAGRAMS_CACHE": os.devnull}
    command = [sys.executable, "-m", "transformer_diagrams", *map(str, arguments)]
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        out, err = process.communicate(timeout=limit * PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail(f"{' '.join(map(str, arguments))} took more than {limit * PATIENCE:g} s")
    seconds = time.perf_counter() - begin
    assert "Traceback" not in err, err
    assert "unexpected" not in err, err
    return Done(process.returncode, seconds, out, err)


def test_a_chain_of_1000_with_skips_is_drawn(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(10, "render", paths["chain-1000-skips"], "-o", tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "chain-1000-skips.svg").read_bytes().rstrip().endswith(b"</svg>")


def test_a_chain_of_100_000_is_checked(paths: dict[str, Path]) -> None:
    done = run(20, "check", paths["chain-100000"])
    assert done.code == 0, done.err


def test_a_chain_of_100_000_is_refused_a_figure(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(20, "render", paths["chain-100000"], "-o", tmp_path)
    assert done.code == 1
    assert "100000" in done.err.replace(",", ""), "the count"
    assert "at most" in done.err, "the limit"
    assert "repeat" in done.err, "what to do"
    assert not list(tmp_path.iterdir())


def test_a_fan_of_2000_ends(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(20, "render", paths["fan-2000"], "-o", tmp_path)
    assert done.code in (0, 1)
    if done.code:
        assert "2000" in done.err.replace(",", "")
        assert "hint" in done.err


def test_200_nested_groups_are_drawn_or_refused(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(10, "render", paths["nested-200"], "-o", tmp_path)
    assert done.code in (0, 1)
    if done.code:
        assert "deep" in done.err
        assert len(done.err.splitlines()) < 12


def test_a_label_of_100_kB_is_told_to_be_too_long(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(10, "render", paths["label-100kB"], "-o", tmp_path)
    assert done.code in (0, 1)
    assert "label" in done.err
    assert "16384" not in done.err
    assert len(done.err) < 3000, "the label itself is not printed back whole"


@pytest.mark.parametrize("command", ["check", "render"])
def test_a_cycle_of_20_000_is_named(command: str, paths: dict[str, Path], tmp_path: Path) -> None:
    more = ["-o", str(tmp_path)] if command == "render" else []
    done = run(20, command, paths["cycle-20000"], *more)
    assert done.code == 1
    assert "n0" in done.err
    assert len(done.err) < 5000, "not all 20,000 names"


@pytest.mark.parametrize("command", ["check", "render", "inspect"])
def test_specs_that_use_each_other_are_refused(command: str, paths: dict[str, Path]) -> None:
    done = run(10, command, paths["g1"])
    assert done.code == 1
    assert "g1 -> g2 -> g1" in done.err


def test_a_stack_of_300_opened_blocks_is_drawn(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(10, "render", paths["opened-300"], "-o", tmp_path)
    assert done.code == 0, done.err
