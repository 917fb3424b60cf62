"""`transformer-diagrams live` at the prompt: what it writes, and what it says to slips."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from transformer_diagrams.cli.app import run


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(["live", *words])
    found = capsys.readouterr()
    return code, found.out, found.err


def test_list_names_every_figure_and_its_sliders(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "list", "--json")
    assert code == 0
    figures = {figure["id"]: figure["sliders"] for figure in json.loads(out)}
    assert len(figures) == 7
    assert all(sliders for sliders in figures.values())
    assert "several-heads" in said(capsys, "list")[1]


@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<svg"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")]
)
def test_export_writes_the_state_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, start: bytes
) -> None:
    path = tmp_path / name
    assert said(capsys, "export", "several-heads", "--set", "log2h=3", "-o", str(path))[0] == 0
    assert start in path.read_bytes()[:200]


def test_a_page_shows_the_roles_of_a_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.html"
    words = ("page", "where-parameters-go", "--spec", "llama3", "-o", str(path))
    assert said(capsys, *words)[0] == 0
    text = path.read_text(encoding="utf-8")
    assert "Llama 3" in text
    assert "<script src" not in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("export", "several-heds", "-o", "x.svg"), "did you mean 'several-heads'"),
        (("export", "several-heads", "--set", "log2h=9", "-o", "x.svg"), "it takes 0 (1), 1 (2)"),
        (("export", "several-heads", "--set", "lg2h=1", "-o", "x.svg"), "did you mean 'log2h'"),
        (("page", "clock-hands", "--spec", "llama3", "-o", "x.html"), "where-parameters-go"),
    ],
)
def test_slips_are_told_and_nothing_is_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = said(capsys, *words)
    assert code == 2
    assert told in out + err
    assert list(tmp_path.iterdir()) == []
