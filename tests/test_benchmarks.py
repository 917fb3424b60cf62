"""What compares layouts: the corpus and its numbers, and the measures that all drawings share."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.layout.score import MEANINGS

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import corpus  # noqa: E402
import rivals  # noqa: E402

BARE = Scene("s", "S", "", 100, 100, (), (), ())


def run(script: str, *words: str, path: str = "") -> str:
    command = [sys.executable, str(BENCHMARKS / script), *words]
    env = {"PYTHONPATH": str(BENCHMARKS.parent), "PATH": path}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout


def test_corpus_measures_each_way_and_tells_what_moved(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("title: Bad\nblocks: [no_such_op]\n")
    bad = f"{tmp_path.name}/bad"
    found = json.loads(run("corpus.py", bad, "--json", "--folder", str(tmp_path)))
    assert not found["figures"]
    assert found["failed"]
    for name, why in found["failed"].items():
        assert name.startswith(bad)
        assert "no_such_op" in why
    measured = json.loads(run("corpus.py", "llama3", "--json"))
    figures = measured["figures"]
    assert list(figures) == ["llama3 up", "llama3 up open", "llama3 right", "llama3 right open"]
    assert all(set(MEANINGS) <= set(figure) for figure in figures.values())
    assert corpus.totals(figures)["bends"] == sum(f["bends"] for f in figures.values())
    before = json.loads(json.dumps(measured))
    before["figures"]["llama3 up"]["kinks"] = 3
    assert "llama3 up  -30.0    kinks 3 -> 0" in corpus.compared(before, measured)


def test_all_drawings_are_measured_alike() -> None:
    net = [(0.0, 0.0), (0.0, 50.0), (50.0, 50.0)]
    fork = [(0.0, 0.0), (0.0, 50.0), (0.3, 80.0), (20.0, 80.0)]  # nearly upright: it is
    paths = [("a", net), ("a", fork), ("b", [(10.0, 0.0), (10.0, 90.0)])]
    drawing = rivals.measured(BARE, paths, 200, 50)
    assert (drawing.crossings, drawing.overlaps, drawing.bends) == (2, 0, 2)
    assert drawing.length == 80 + 50 + 20 + 90, "what the two of one net share counts once"
    assert drawing.area == 10
    twice = rivals.measured(BARE, [("a", net), ("b", net)], 200, 50)
    assert (twice.overlaps, twice.length) == (1, 200)


@pytest.mark.parametrize("word", ["no ELK: node and npm are not installed", "no dot: Graphviz"])
def test_without_the_others_ours_is_printed_alone(word: str) -> None:
    said = run("rivals.py", "llama3")
    assert word in said
    assert "llama3 right open" in said
