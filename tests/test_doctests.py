"""What docstrings show is what comes out."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHOWING = sorted(
    path.relative_to(ROOT).with_suffix("")
    for path in (ROOT / "transformer_diagrams").rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", SHOWING, ids=str)
def test_docstrings_show_what_comes_out(path: Path) -> None:
    module = import_module(".".join(path.parts).removesuffix(".__init__"))
    assert not doctest.testmod(module).failed


def test_every_docstring_says_errors_in_one_way() -> None:
    other = [
        f"{path.name}:{number}"
        for path in (ROOT / "transformer_diagrams").rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.strip() == "Raises:" or "Raises :class:" in line
    ]
    assert not other, "write `:raises NAME: when`"
