"""Large inputs end in time: drawn, or refused in words that say the count and what to do."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import big  # noqa: E402

# The limits are seconds of the processor: what else the machine does takes nothing from them. A
# busy one makes them somewhat longer, by sharing its caches.
PATIENCE = 2
AT_ONCE = 2  # starting the program takes a third of a second


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return big.write(tmp_path_factory.mktemp("big"))


def run(limit: int, *arguments: str | Path) -> Done:
    """The program in a process of its own, ended past the limit (that fails the test). It leaves
    no other one behind, such as Graphviz."""
    seconds = limit * PATIENCE
    process = subprocess.Popen(
        [sys.executable, "-m", "transformer_diagrams", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "TRANSFORMER_DIAGRAMS_CACHE": os.devnull},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1)),
    )
    try:
        out, err = process.communicate(timeout=30 * seconds)  # one that waits needs no processor
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail(f"{' '.join(map(str, arguments))} did not end")
    assert process.returncode != -signal.SIGXCPU, f"more than {seconds} s"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert "Traceback" not in err, err
    assert "unexpected" not in err, err
    return Done(process.returncode, out, err)


def test_a_chain_of_1000_with_skips_is_drawn(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(10, "render", paths["chain-1000-skips"], "-o", tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "chain-1000-skips.svg").read_bytes().rstrip().endswith(b"</svg>")


@pytest.mark.slow
def test_a_chain_of_100_000_is_checked(paths: dict[str, Path]) -> None:
    done = run(20, "check", paths["chain-100000"])
    assert done.code == 0, done.err
    assert "warning" in done.err, "that no figure shows so many is said"


@pytest.mark.slow
def test_a_chain_of_100_000_is_refused_a_figure(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(20, "render", paths["chain-100000"], "-o", tmp_path)
    assert done.code == 1
    assert "100000" in done.err.replace(",", ""), "the count"
    assert "at most" in done.err, "the limit"
    assert "repeat" in done.err, "what to do"
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_fan_of_2000_is_refused(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(10, "render", paths["fan-2000"], "-o", tmp_path)
    assert done.code == 1
    assert "2000 lines end at 'c'" in done.err.replace(",", "")
    assert "at most" in done.err, "the limit"
    assert "copies: n" in done.err, "what to do"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nested-200", ("deeper than 64 levels", "a file of its own")),
        ("label-100kB", ("100,000 characters", "at most 1,000", "shorten it")),
    ],
)
def test_what_is_too_deep_or_too_long_is_refused_at_once(
    name: str, words: tuple[str, ...], paths: dict[str, Path], tmp_path: Path
) -> None:
    done = run(AT_ONCE, "render", paths[name], "-o", tmp_path)
    assert done.code == 1
    assert [said for said in words if said not in done.err] == []
    assert len(done.err) < 1000, "the text itself is not printed back whole"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["check", "render"])
def test_a_cycle_of_20_000_is_named(command: str, paths: dict[str, Path], tmp_path: Path) -> None:
    more = ["-o", str(tmp_path)] if command == "render" else []
    done = run(10, command, paths["cycle-20000"], *more)
    assert done.code == 1
    assert "n0" in done.err
    assert len(done.err) < 5000, "not all 20,000 names"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["check", "render", "inspect"])
def test_specs_that_use_each_other_are_refused_at_once(
    command: str, paths: dict[str, Path]
) -> None:
    done = run(AT_ONCE, command, paths["g1"])
    assert done.code == 1
    assert "g1 -> g2 -> g1" in done.err


@pytest.mark.slow
def test_a_stack_of_300_opened_blocks_is_drawn(paths: dict[str, Path], tmp_path: Path) -> None:
    done = run(10, "render", paths["opened-300"], "-o", tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "opened-300.svg").read_bytes().rstrip().endswith(b"</svg>")
