"""`make bench`: how fast, as ratios measured in one run on one machine.

A bare number of seconds says more about the machine than about the program. So the yardstick is
taken in the same run: a Python process that merely imports the libraries that such a tool stands
on. Verdicts are printed, not enforced: a busy machine is no reason to fail.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import big

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = [sys.executable, "-m", "transformer_diagrams"]
YARDSTICK = "import yaml, jsonschema, click, graphviz, cairosvg"
GIB = 2**30
LLAMA3_8B = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
    "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 8192,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
    "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "tie_word_embeddings": False,
    "torch_dtype": "bfloat16", "vocab_size": 128256,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """One process: wall time, peak memory in bytes, exit code and its last words."""

    seconds: float
    memory: int
    code: int
    words: str


def run(command: Sequence[str], env: Mapping[str, str] | None = None, limit: float = 300) -> Run:
    """Run a process to its end, or kill it at the limit."""
    with tempfile.TemporaryFile() as out:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **(env or {})}, stdout=out, stderr=out
        )
        status, usage = 0, None
        while usage is None:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                usage = used
            elif time.perf_counter() - begin > limit:
                process.kill()
                _, status, usage = os.wait4(process.pid, 0)
            else:
                time.sleep(0.002)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        lines = out.read().decode(errors="replace").strip().splitlines()
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(
        seconds, usage.ru_maxrss * unit, process.returncode, lines[-1][:160] if lines else ""
    )


def median(times: int, work: Callable[[], Run]) -> Run:
    """The run of median time among several."""
    runs = sorted((work() for _ in range(times)), key=lambda r: r.seconds)
    return runs[statistics.median_low(range(times))]


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    measured: str
    budget: str
    ok: bool


def start_up(folder: Path) -> list[Row]:
    """`render llama3 -f svg` as a whole process, against bare imports and against `llmviz`.

    All take turns, so that a busy machine slows each of them alike; the medians are compared.
    """
    out = str(folder / "out.svg")
    warm = {"TRANSFORMER_DIAGRAMS_CACHE": str(folder / "warm")}
    render = [*PROGRAM, "render", "llama3", "-f", "svg", "-o", out]
    text = next((ROOT / "specs").rglob("llama3.yaml")).read_text(encoding="utf-8")
    config = folder / "config.json"
    config.write_text(json.dumps(LLAMA3_8B))
    other = shutil.which("llmviz", path=os.environ.get("LLMVIZ_BIN"))

    def cold() -> Run:
        shutil.rmtree(folder / "cold", ignore_errors=True)
        return run(render, {"TRANSFORMER_DIAGRAMS_CACHE": str(folder / "cold")})

    def edited() -> Run:
        spec = folder / "edited.yaml"
        spec.write_text(text + f"\n# {time.time_ns()}\n", encoding="utf-8")
        return run([*PROGRAM, "render", str(spec), "-f", "svg", "-o", str(folder / "e.svg")], warm)

    work = {
        "imports": lambda: run([sys.executable, "-c", YARDSTICK]),
        "warm": lambda: run(render, warm),
        "edited": edited,
        "cold": cold,
    }
    if other:
        drawn = [other, "render", str(config), "-o", str(folder / "other.svg")]
        work["llmviz"] = lambda: run(drawn)
    for each in work.values():
        each()  # what is compiled once is compiled
    turns = [{name: each() for name, each in work.items()} for _ in range(7)]
    taken = {
        name: sorted((turn[name] for turn in turns), key=lambda r: r.seconds)[len(turns) // 2]
        for name in work
    }

    figures = [
        sys.executable,
        "-m",
        "transformer_diagrams.figures",
        "specs",
        str(folder / "figures"),
    ]
    run(figures, warm)
    idle = median(5, lambda: run(figures, warm))
    count = len(list((ROOT / "specs").rglob("*.yaml")))
    size = Path(out).stat().st_size / 1000 if Path(out).exists() else math.inf
    unit = taken["imports"].seconds
    each_ = idle.seconds / count / unit
    rows = [
        Row("yardstick: imports alone", f"{unit:.3f} s", "", True),
        _ratio("render llama3, warm cache, to imports", taken["warm"], unit, 0.2),
    ]
    if other:
        unit = taken["llmviz"].seconds
        rows += [
            Row("yardstick: llmviz render config.json", f"{unit:.3f} s", "", True),
            _ratio("render llama3, edited, to llmviz", taken["edited"], unit, 1.0),
            _ratio("render llama3, empty cache, to llmviz", taken["cold"], unit, 1.0),
        ]
    else:
        words = "no llmviz: `pip install llmviz` in an environment, name its bin in LLMVIZ_BIN"
        rows.append(Row("render llama3, edited or with an empty cache", words, "1 x", True))
    return [
        *rows,
        Row(
            f"make diagrams, nothing to do, {count} figures",
            f"{idle.seconds:.3f} s, {each_:.3f} x a figure",
            "1.5 s, 0.25 x a figure",
            idle.code == 0 and idle.seconds < 1.5 and each_ < 0.25,
        ),
        Row("size of llama3.svg", f"{size:.1f} kB", "100 kB", size < 100),
    ]


def _ratio(what: str, taken: Run, unit: float, budget: float) -> Row:
    ratio = taken.seconds / unit
    ok = taken.code == 0 and ratio <= budget
    return Row(what, f"{taken.seconds:.3f} s, {ratio:.2f} x", f"{budget:g} x", ok)


def large(folder: Path) -> list[Row]:
    """Large inputs: time and memory of drawing, checking and refusing."""
    paths = big.write(folder / "big")
    env = {"TRANSFORMER_DIAGRAMS_CACHE": str(folder / "big-cache")}

    def draw(name: str) -> Run:
        return run([*PROGRAM, "render", str(paths[name]), "-o", str(folder / f"{name}.svg")], env)

    rows = [_limit("chain of 1,000 with skips, drawn", draw("chain-1000-skips"), 10)]
    check = run([*PROGRAM, "check", str(paths["chain-100000"])], env)
    rows.append(_limit("chain of 100,000, checked", check, 20))
    rows.append(_limit("chain of 100,000, refused to draw", draw("chain-100000"), 20, codes=(1,)))
    rows.append(_limit("fan of 2,000, drawn or refused", draw("fan-2000"), 60, codes=(0, 1)))

    runs = {n: draw(f"opened-{n}") for n in (100, 300, 1000, 3000)}
    for n, taken in runs.items():
        rows.append(_limit(f"{n:,} opened blocks, drawn", taken, 10 if n <= 1000 else 40))
    (small, first), *_, (large_, last) = runs.items()
    start = run([*PROGRAM, "--version"], env).seconds
    grown = (last.seconds - start) / max(1e-9, first.seconds - start)
    fair = large_ * math.log2(large_) / (small * math.log2(small))
    rows.append(
        Row(
            f"growth from {small} to {large_:,} blocks",
            f"{grown:.1f} x",
            f"n log n: {fair:.1f} x",
            last.code == 0 and grown <= fair * 1.2,
        )
    )
    return rows


def _limit(what: str, taken: Run, seconds: float, codes: tuple[int, ...] = (0,)) -> Row:
    measured = f"{taken.seconds:.2f} s, {taken.memory / 2**20:.0f} MiB"
    if taken.code not in codes:
        measured += f", exit {taken.code}: {taken.words}"
    ok = taken.code in codes and taken.seconds < seconds and taken.memory < GIB
    return Row(what, measured, f"{seconds:g} s, 1 GiB", ok)


def main() -> None:
    """Measure everything, print one table."""
    with tempfile.TemporaryDirectory() as name:
        rows = start_up(Path(name)) + large(Path(name))
    head = Row("what", "measured", "budget", True)
    widths = [
        max(len(getattr(r, f)) for r in (head, *rows)) for f in ("what", "measured", "budget")
    ]
    for row in (head, *rows):
        verdict = "" if row is head else "ok" if row.ok else "OVER"
        cells = zip((row.what, row.measured, row.budget), widths, strict=True)
        print("  ".join(f"{text:<{width}}" for text, width in cells), verdict)
    over = sum(not row.ok for row in rows)
    print(f"{len(rows) - over} of {len(rows)} within budget")


if __name__ == "__main__":
    main()
