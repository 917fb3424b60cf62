"""The runtime is broken on purpose, one fault at a time; looking at a few states finds each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import live_reference as ref
import numpy as np
import pytest
from selection import mostly_slow

from transformer_diagrams.live import pages, trace
from transformer_diagrams.live.figures.sentence import sentence
from transformer_diagrams.live.figures.who_attends import who_attends

pytestmark = pytest.mark.browser

GREEDY = """
  for (let i = 0; i < n; i++) {
    let best = 0;
    for (let j = 1; j < m; j++) if (cost[i * m + j] < cost[i * m + best]) best = j;
    result[i] = best;
  }
  return result;
"""
EXCLUDING = """
  const taken = new Set();
  for (let i = 0; i < n; i++) {
    let best = -1;
    for (let j = 0; j < m; j++) {
      if (!taken.has(j) && (best < 0 || cost[i * m + j] < cost[i * m + best])) best = j;
    }
    taken.add(best);
    result[i] = best;
  }
  return result;
"""
FINITE = "if (!cost.every(Number.isFinite)) return result;"
MUTANTS = {
    "max for min": ("(a < b ? a : b)", "(a > b ? a : b)"),
    "min for max": ("(a > b ? a : b)", "(a < b ? a : b)"),
    "a sum one short": ("let t = 0; for (let j = 0; j < n; j++)",
                        "let t = 0; for (let j = 0; j < n - 1; j++)"),
    "a maximum one short": ("let t = v[start]; for (let j = 1; j < n; j++) t = BINARY.max",
                            "let t = v[start]; for (let j = 1; j < n - 1; j++) t = BINARY.max"),
    "no square root": ("sqrt: Math.sqrt", "sqrt: (a) => a"),
    "sine for cosine": ("cos: Math.cos", "cos: Math.sin"),
    "cosine for sine": ("sin: Math.sin", "sin: Math.cos"),
    "greedy": (FINITE, FINITE + GREEDY),
    "greedy with exclusion": (FINITE, FINITE + EXCLUDING),
    "another constant in the hash": ("0x85ebca6b", "0x85ebca6c"),
    "a stale cache": ("if (own & bits) kept[i] = undefined", "if (false) kept[i] = undefined"),
    "no running sum": ("if (i % n) out[i] += out[i - 1]", "if (false) out[i] += out[i - 1]"),
    "no absolute value": ("abs: Math.abs", "abs: (a) => a"),
    "floor as round": ("floor: Math.floor", "floor: Math.round"),
    "a power with its sides swapped": ("pow: (a, b) => a ** b", "pow: (a, b) => b ** a"),
    "less or equal for less": ("lt: (a, b) => +(a < b)", "lt: (a, b) => +(a <= b)"),
    "less for greater or equal": ("ge: (a, b) => +(a >= b)", "ge: (a, b) => +(a < b)"),
    "a transpose with its axes in place": ("steps[order[a]]", "steps[a]"),
    "the wrong row taken": ("v.subarray(r * n, r * n + n)", "v.subarray(0, n)"),
}  # fmt: skip

# A few states of each figure, moved to one after the other so that a stale cache shows. The slow
# one comes last: most faults are found before.
SOME: dict[str, list[dict[str, float]]] = {
    "who-attends": [{"query": 7, "sharpness": 1}, {"query": 2, "sharpness": 3}],
    "several-heads": [{"log2h": h} for h in range(4)],
    "where-parameters-go": [{"log2d": 9, "N": 6}, {"log2d": 6, "N": 1}],
    "clock-hands": [{"log2d": 7, "pos": 10}, {"log2d": 4, "pos": 33}],
    "cost-matrix": [{"wcls": 1, "shift": 0.0}, {"wcls": 8, "shift": 0.1},
                    {"wcls": 3, "shift": 0.5}],
    "l1-and-giou": [{"dy": 0.0, "scale": 1.0}, {"dy": 0.3, "scale": 1.0},
                    {"dy": 0.4, "scale": 0.5}],
    "why-sqrt-dk": [{"n": 16, "log2dk": 6}, {"n": 3, "log2dk": 2}],
}  # fmt: skip

LOOK = """([id, state]) => { try { const lv = document.getElementById(id).lv; lv.set(state);
  return lv.get(); } catch (problem) { return String(problem); } }"""


def caught(tab: Any) -> str:
    """Where the reference and the page first disagree; "" when they do not."""
    for id, states in SOME.items():
        for state in states:
            got = tab.run(LOOK, [id, state])
            if isinstance(got, str):
                return f"{id} {state}: {got}"
            if not ref.difference(id, state, got) <= ref.TOLERANCE:
                return f"{id} {state}"
    return ""


@pytest.fixture(scope="module")
def fragments(figures: dict[str, Any]) -> str:
    return "".join(pages.fragment(f) for f in figures.values())


def test_the_sound_runtime_passes(fragments: str, open_tab: Any, tmp_path: Path) -> None:
    file = tmp_path / "sound.html"
    file.write_text(pages.shell("sound", fragments), encoding="utf-8")
    assert caught(open_tab(file)) == ""


QUICK = ("max for min", "a sum one short", "greedy", "a stale cache")


@pytest.mark.parametrize("name", mostly_slow(MUTANTS, lambda name: name in QUICK))
def test_a_broken_runtime_is_caught(
    name: str, fragments: str, open_tab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = MUTANTS[name]
    sound = pages.runtime()
    assert sound.count(old) == 1, "the mutant does not fit the runtime any more"
    monkeypatch.setattr(pages, "runtime", lambda: sound.replace(old, new))
    file = tmp_path / "mutant.html"
    file.write_text(pages.shell("mutant", fragments), encoding="utf-8")
    tab = open_tab(file)
    found = caught(tab)
    tab.context.close()
    assert found, f"'{name}' went unseen"


def great_scores() -> Any:
    """Scores beyond 1000: their exponentials overflow unless the largest is subtracted first."""
    return sentence(["a", "b", "c"], np.eye(3) * 60, np.eye(3) * 40, np.eye(3))


def test_a_softmax_without_the_maximum_is_caught(
    open_tab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = who_attends(great_scores())
    assert np.isfinite(sound.values(sharpness=8)["A"]).all()
    file = tmp_path / "sound.html"
    file.write_text(pages.page([sound]), encoding="utf-8")
    tab = open_tab(file)
    assert isinstance(tab.run(LOOK, ["who-attends", {"sharpness": 8}]), dict)

    def careless(scores: Any, mask: Any = None) -> Any:
        raised = scores.exp()
        return raised / raised.sum(keep=True)

    import transformer_diagrams.live.figures.who_attends as module

    assert module.softmax is trace.softmax
    monkeypatch.setattr(module, "softmax", careless)
    broken = who_attends(great_scores())
    with pytest.raises(FloatingPointError):
        broken.values(sharpness=8)
    # A figure that cannot be drawn gives no page.
    with pytest.raises(FloatingPointError):
        pages.page([broken])
