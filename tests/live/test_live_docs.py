"""The examples of the documentation run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DOC = Path(__file__).resolve().parents[2] / "docs" / "live.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOC.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("code", EXAMPLES, ids=range(len(EXAMPLES)))
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_an_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    given: dict[str, Any] = {
        "tokens": ["one", "two", "three"],
        "embeddings": rng.normal(size=(3, 8)),
        "w_q": rng.normal(size=(8, 4)),
        "w_k": rng.normal(size=(8, 4)),
    }
    exec(compile(code, str(DOC), "exec"), given)
    assert list(tmp_path.iterdir())


def test_every_figure_has_a_line_in_the_table() -> None:
    from transformer_diagrams.live import IDS

    text = DOC.read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", text, re.M) == list(IDS)


def test_the_page_keeps_to_its_files() -> None:
    """Each module that the page names exists."""
    text = DOC.read_text(encoding="utf-8")
    folder = DOC.parents[1] / "transformer_diagrams" / "live"
    named = re.findall(r"\b(\w+\.(?:py|js))\b", text.split("## How it works")[1])
    for name in named:
        assert (folder / name).exists() or name.startswith("test_"), name
