"""Compares a page's runtime with NumPy's evaluation of the same figures, state by state."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer_diagrams.live.browser import PATIENCE, chromium
from transformer_diagrams.live.model import Figure
from transformer_diagrams.live.pages import page
from transformer_diagrams.records import dataclass

TOLERANCE = 1e-9
MOST_STATES = 700  # of one figure; beyond, evenly chosen ones are looked at


@dataclass(frozen=True, slots=True)
class FigureCheck:
    """What was found for one figure: states, the largest difference, and every problem."""

    id: str
    states: int
    difference: float
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


def check(figures: Sequence[Figure]) -> list[FigureCheck]:
    """Open one page with the figures and compare numbers and summary in every state.

    :raises ToolMissing: when there is no browser or no Playwright.
    """
    with chromium() as browser:
        context = browser.new_context(offline=True)
        tab = context.new_page()
        tab.set_default_timeout(PATIENCE)
        said: list[str] = []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda problem: said.append(str(problem)))
        tab.on("request", lambda asked: said.append(f"request of {asked.url[:80]}")
               if asked.url.startswith("http") else None)  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:  # gone again as soon as it is read
            file = Path(folder) / "live.html"
            file.write_text(page(figures), encoding="utf-8")
            tab.goto(file.as_uri())
        results = []
        for figure in figures:
            found = _figure(tab, figure)
            more = (*found.problems, *said)
            results.append(FigureCheck(found.id, found.states, found.difference, more))
            said.clear()
        return results


_READ = """([id, states]) => { const lv = document.getElementById(id).lv; return states.map((s) => {
  lv.set(s); return [lv.get(), document.getElementById(id + '-summary').firstChild.textContent];
}); }"""


def _figure(tab: Any, figure: Figure) -> FigureCheck:
    import numpy as np

    states = list(figure.states())
    states = states[:: max(1, -(-len(states) // MOST_STATES))]
    worst, problems = 0.0, []
    for start in range(0, len(states), 50):
        part = states[start : start + 50]
        answers = tab.evaluate(_READ, [figure.id, part])
        for state, (got, sentence) in zip(part, answers, strict=True):
            where = ", ".join(f"{k}={v:g}" for k, v in state.items())
            for name, wanted in figure.values(**state).items():
                gap = float(np.max(np.abs(np.array(got[name]) - wanted.ravel())))
                worst = max(worst, gap)
                scale = max(1.0, float(np.max(np.abs(wanted))))
                if not gap <= TOLERANCE * scale:
                    problems.append(f"{where}: {name} differs by {gap:.3g}")
            if sentence != figure.summary(**state):
                problems.append(f"{where}: the summary is '{sentence}'")
    return FigureCheck(figure.id, len(states), worst, tuple(problems))
