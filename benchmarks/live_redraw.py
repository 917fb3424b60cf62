"""Milliseconds of a slider move in a live page, by figure, against the 16 ms of one frame.

    python benchmarks/live_redraw.py [--json]

Each figure is moved through its states in a headless browser, one slider step at a time; a move is
everything that the page does itself: numbers, drawing, sentence, controls. The time until pixels
are on the screen is given too, from one animation frame to the next, where a frame that takes
longer than 16.7 ms shows as a late one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from transformer_diagrams.live.browser import chromium
from transformer_diagrams.live.figures import IDS, get
from transformer_diagrams.live.pages import page

BUDGET = 16.0
MOVES = 60

MOVE = """async ([id, states]) => {
  const lv = document.getElementById(id).lv, times = [], frames = [];
  const begin = performance.now();
  lv.set(states[0]);
  const first = performance.now() - begin;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  document.getElementById(id).scrollIntoView();
  await frame();
  for (const state of states) {
    const start = performance.now();
    lv.set(state);
    document.getElementById(id).querySelector('svg').getBoundingClientRect();  // style and layout
    times.push(performance.now() - start);
    await frame();
    frames.push(performance.now() - start);
  }
  return [first, times, frames];
}"""


def moves(id: str) -> list[dict[str, float]]:
    """Slider by slider, step by step, from the default state."""
    figure = get(id)
    found = []
    state = figure.state()
    for slider in figure.sliders:
        for value in slider.values:
            state = {**state, slider.name: value}
            found.append(state)
        state = {**state, slider.name: slider.default}
    return (found * (1 + MOVES // len(found)))[:MOVES]


def measure() -> list[dict[str, float | str]]:
    """One row for each figure."""
    rows: list[dict[str, float | str]] = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        file = Path(folder) / "live.html"
        file.write_text(page([get(id) for id in IDS]), encoding="utf-8")
        tab = browser.new_page()
        tab.goto(file.as_uri())
        tab.wait_for_timeout(1000)
        for id in IDS:
            first, times, frames = tab.evaluate(MOVE, [id, moves(id)])
            times.sort()
            rows.append({
                "figure": id,
                "first": first,
                "median": statistics.median(times),
                "p95": times[int(0.95 * len(times))],
                "most": times[-1],
                "of budget": statistics.median(times) / BUDGET,
                "p95 of budget": times[int(0.95 * len(times))] / BUDGET,
                "frame": statistics.median(frames),
            })  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    given = parser.parse_args()
    rows = measure()
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    names = list(rows[0])
    print("".join(f"{n:>15}" if n != "figure" else f"{n:<22}" for n in names))
    for row in rows:
        cells = (f"{v:>15.2f}" if isinstance(v, (int, float)) else f"{v:<22}" for v in row.values())
        print("".join(cells))


if __name__ == "__main__":
    main()
