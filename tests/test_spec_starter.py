"""The starter spec loads as it is, whatever the title."""

from __future__ import annotations

import pytest

from transformer_diagrams.spec.load import load_text
from transformer_diagrams.spec.starter import starter


@pytest.mark.parametrize(
    "title",
    ["My model", "on", "12:30", "it's: a {model} #1", "\u6ce8\u610f", "a\nb", "", "-", "x" * 900],
)
def test_it_loads_with_any_title(title: str) -> None:
    spec, report = load_text(starter("mine", title), "mine.yaml")
    assert not report.faults, report.faults
    assert spec.id == "mine"
    assert spec.title == (" ".join(title.split()) or "mine")


def test_it_shows_the_main_parts() -> None:
    spec, _ = load_text(starter("mine", "Mine"), "mine.yaml")
    assert {"residual", "parallel"} <= {b.kind for b in spec.blocks[1].children} | {
        c.kind for b in spec.blocks[1].children for c in b.children
    }
    assert spec.configs["small"].dims["d_m"].value == 512
    assert starter("mine", "Mine").count("\n# ") > 8
