"""Notebooks: ``%%diagram`` draws the spec in its cell, ``%diagram llama3`` a spec by name.

    %load_ext transformer_diagrams
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.faults_text import faults_text
from transformer_diagrams.publish.fence import Fence
from transformer_diagrams.streams import say

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

CELL = "cell"


def diagram(words: str, body: str = "") -> None:
    """Show a figure; faults are words with the cell's lines, not a traceback."""
    from IPython.display import display

    fence = Fence(words, body, CELL, 2)  # the magic is the cell's first line
    try:
        model, wish = fence.read()
        drawn = model.render("svg", **wish)
    except DiagramError as fault:
        _tell(fault.faults, body)
        return
    _tell(drawn.warnings, body)
    shown: dict[str, Any] = {"image/svg+xml": str(drawn), "text/plain": model.title}
    display(shown, raw=True)  # type: ignore[no-untyped-call]


def _tell(faults: tuple[Fault, ...], body: str) -> None:
    say(faults_text(faults, {CELL: f"\n{body}"}), err=True, end="", ready=True)


def load(shell: InteractiveShell) -> None:
    """Make the magics known."""
    shell.register_magic_function(diagram, "line_cell", "diagram")  # type: ignore[arg-type]
