"""The corpus: every spec by which the layout is judged, and what each figure of it scores.

    python benchmarks/corpus.py [--json] [--folder FOLDER ...] [SPEC ...]

Bundled specs, and those below each FOLDER (or those in ``TDX_CORPUS``, separated as in ``PATH``;
where neither is said, those of ``shared`` beside the checkout that are there). Each is drawn up
and right, closed and with one level opened. Keep the JSON of one run, and give it to a later one
to see what moved: `python benchmarks/corpus.py --before OLD.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from transformer_diagrams import api
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.layout.score import FAULTS, MEANINGS, score

ROOT = Path(__file__).resolve().parent.parent
BESIDE = ("cases/layout", "drafts/vision")
DRAWN = tuple((way, opened) for way in ("up", "right") for opened in (0, 1))
KEYS = tuple(key for key in MEANINGS if key not in ("detour", "empty", "aspect"))


def specs(folders: Sequence[str] = ()) -> dict[str, Path]:
    """Name -> file, of the whole corpus."""
    found = {path.stem: path for path in sorted((ROOT / "specs").rglob("*.yaml"))}
    said = folders or list(filter(None, os.environ.get("TDX_CORPUS", "").split(os.pathsep)))
    below = [Path(one) for one in said] or [ROOT.parent / "shared" / name for name in BESIDE]
    for top in below:
        if said and not top.is_dir():
            sys.exit(f"there is no folder {top}")
        for path in sorted(top.rglob("*.yaml")):
            found[f"{path.parent.name}/{path.stem}"] = path
    return found


def scenes(path: Path, **more: Any) -> Iterator[tuple[str, Scene | str]]:
    """(variant, its scene, or why there is none) of each way that a spec is drawn."""
    try:
        model = api.load(str(path))
    except DiagramError as fault:
        yield "", _why(fault)
        return
    for way, opened in DRAWN:
        name = f"{way} open" if opened else way
        try:
            how = {"open": [str(opened)], **more} if opened else more
            yield name, model.scene(direction=way, **how)
        except DiagramError as fault:
            if fault.faults[0].code != "opens-nothing":
                yield name, _why(fault)


def _why(fault: DiagramError) -> str:
    return str(fault).splitlines()[0][:160]


def measure(wanted: dict[str, Path]) -> dict[str, Any]:
    """The score of every figure, by its name; and why others could not be drawn."""
    figures: dict[str, Any] = {}
    failed: dict[str, str] = {}
    for name, path in wanted.items():
        for variant, scene in scenes(path):
            what = f"{name} {variant}".strip()
            if isinstance(scene, str):
                failed[what] = scene
                continue
            begin = time.perf_counter()
            rated = score(scene)
            spent = time.perf_counter() - begin
            figures[what] = {
                **rated.as_json(),
                "width": scene.width,
                "height": scene.height,
                "lines": len(scene.lines),
                "ms": round(spent * 1000, 2),
                "findings": [str(finding) for finding in rated.findings],
            }
    return {"figures": figures, "failed": failed}


def badness(figure: dict[str, Any]) -> float:
    """The order of the table: faults first, then crossings, then what is merely not calm."""
    faults: int = sum(figure[key] for key in FAULTS)
    calm = 0.2 * figure["bends"] + 2 * (figure["detour"]["mean"] - 1) + 4 * figure["empty"]
    return float(10 * faults + 4 * figure["crossings"] + calm)


def _row(name: str, figure: dict[str, Any]) -> list[str]:
    detour = figure["detour"]
    return [
        name,
        *(str(figure[key] or ".") for key in KEYS),
        f"{detour['mean']:.2f}",
        f"{detour['worst']:.1f}",
        f"{figure['empty']:.2f}",
        f"{figure['aspect']:.2f}",
        f"{figure['width']:.0f}x{figure['height']:.0f}",
        f"{figure['ms']:.1f}",
    ]


def table(found: dict[str, Any]) -> str:
    """Every figure, the worst first; then the sums, the worst of each key, and what failed."""
    figures = found["figures"]
    order = sorted(figures, key=lambda name: (-badness(figures[name]), name))
    head = ["figure", *KEYS, "detour", "worst", "empty", "aspect", "size", "ms"]
    lines = [aligned([head, *(_row(name, figures[name]) for name in order)]), ""]
    lines += [f"{len(figures)} figures", sums(figures), "", "worst of each key:"]
    for key in (*KEYS, "empty"):
        worst = sorted(figures, key=lambda name: (-figures[name][key], name))[:4]
        lines.append(f"  {key}: " + ", ".join(f"{n} {figures[n][key]}" for n in worst))
    far = sorted(figures, key=lambda name: (-figures[name]["detour"]["worst"], name))[:4]
    lines.append("  detour: " + ", ".join(f"{n} {figures[n]['detour']['worst']}" for n in far))
    if found["failed"]:
        lines += ["", "not drawn:", *(f"  {name}: {why}" for name, why in found["failed"].items())]
    return "\n".join(lines)


def totals(figures: dict[str, Any]) -> dict[str, float]:
    """The sum of each count, and the means of the rest, over some figures."""
    many = max(1, len(figures))
    all_ = list(figures.values())
    found: dict[str, float] = {key: sum(figure[key] for figure in all_) for key in KEYS}
    found["detour"] = round(sum(figure["detour"]["mean"] for figure in all_) / many, 3)
    found["worst detour"] = max((figure["detour"]["worst"] for figure in all_), default=0.0)
    found["empty"] = round(sum(figure["empty"] for figure in all_) / many, 3)
    found["area"] = round(sum(figure["width"] * figure["height"] for figure in all_))
    return found


def sums(figures: dict[str, Any]) -> str:
    """The totals of each way of drawing, and of all."""
    rows = [["sums (detour, empty: means)", *totals({})]]
    for way, opened in DRAWN:
        name = f"{way} open" if opened else way
        ours = {n: f for n, f in figures.items() if n.split(" ", 1)[1] == name}
        rows.append([name, *(f"{value:g}" for value in totals(ours).values())])
    rows.append(["all", *(f"{value:.12g}" for value in totals(figures).values())])
    return aligned(rows)


def compared(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What moved between two runs, over the figures that both have: the worst changes first."""
    old, new = before["figures"], after["figures"]
    both = [name for name in new if name in old]
    change = {name: badness(new[name]) - badness(old[name]) for name in both}
    rows = [["figure", "badness", "what moved"]]
    for name in sorted(both, key=lambda name: (-change[name], name)):
        moved = [
            f"{key} {old[name][key]} -> {new[name][key]}"
            for key in (*KEYS, "empty")
            if old[name][key] != new[name][key]
        ]
        if moved:
            rows.append([name, f"{change[name]:+.1f}", ", ".join(moved)])
    was, is_ = totals({n: old[n] for n in both}), totals({n: new[n] for n in both})
    sums_ = [["", "before", "after"], *([k, f"{was[k]:.12g}", f"{is_[k]:.12g}"] for k in was)]
    return f"{aligned(rows)}\n\n{len(both)} figures in both\n{aligned(sums_)}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns of text; the first is flush left, the others flush right."""
    wide = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(w) if n and len(row) > 3 else cell.ljust(w)
            for n, (cell, w) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in rows
    )


def main() -> None:
    """Measure the corpus and print it, as a table or as JSON, or against an earlier run."""
    ask = argparse.ArgumentParser(description="What each figure of the corpus scores.")
    ask.add_argument("specs", nargs="*", metavar="SPEC", help="only these, by name")
    ask.add_argument("--folder", action="append", help="more specs lie below it (again for more)")
    ask.add_argument("--json", action="store_true", help="print JSON")
    ask.add_argument("--before", metavar="FILE", help="JSON of an earlier run, to compare with")
    asked = ask.parse_args()
    wanted = specs(asked.folder or ())
    if asked.specs:
        wanted = {name: path for name, path in wanted.items() if name in asked.specs}
    found = measure(wanted)
    if asked.json:
        print(json.dumps(found, indent=1))
    elif asked.before:
        print(compared(json.loads(Path(asked.before).read_text(encoding="utf-8")), found))
    else:
        print(table(found))


if __name__ == "__main__":
    main()
