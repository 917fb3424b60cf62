"""Our layout beside those of others, on the same boxes and lines: `python benchmarks/rivals.py`.

ELK's layered algorithm (elkjs, by npm into ``.cache``) and Graphviz's `dot` with orthogonal lines
get each figure's boxes in our sizes, its frames as compound nodes or clusters, and its lines, and
place and route them afresh; all three drawings are measured by the same code. Lines of one tensor
count once where they lie on one another. Neither of the others keeps room for shapes and titles.
ELK is told the side of each port, and its order where the figure's order matters; dot takes no
ports with orthogonal lines. Leaders, and lines that end at a frame, are left out of all three.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import corpus

from transformer_diagrams.layout.scene import Box, Line, Scene
from transformer_diagrams.layout.score import reach, score

ELKJS = "elkjs@0.9.3"
FOLDER = corpus.ROOT / ".cache" / "elk"
SCRIPT = Path(__file__).with_name("elk.mjs")
LIMIT = 60.0  # seconds for one figure by dot
ELK_OPTIONS = {
    "elk.algorithm": "layered",
    "elk.edgeRouting": "ORTHOGONAL",
    "elk.hierarchyHandling": "INCLUDE_CHILDREN",
    "elk.spacing.nodeNode": "14",
    "elk.layered.spacing.nodeNodeBetweenLayers": "22",
    "elk.spacing.edgeEdge": "7",
    "elk.spacing.edgeNode": "8",
    "elk.layered.spacing.edgeNodeBetweenLayers": "8",
    "elk.layered.spacing.edgeEdgeBetweenLayers": "7",
    "elk.padding": "[top=12,left=12,bottom=12,right=12]",
}
FRAME_PADDING = {"elk.padding": "[top=12,left=12,bottom=20,right=12]"}
SIDES = {"up": ("SOUTH", "NORTH"), "right": ("WEST", "EAST")}  # of what enters, of what leaves

Point = tuple[float, float]
Paths = list[tuple[str, list[Point]]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """What one drawing of a figure costs its reader."""

    crossings: int
    overlaps: int  # pairs of lines of different tensors that lie on one another
    bends: int
    length: float
    area: float  # in thousands of square points


@dataclass(frozen=True, slots=True)
class Task:
    """A figure as all are given it: boxes and frames, and the lines between boxes."""

    name: str
    scene: Scene
    lines: tuple[Line, ...]

    @property
    def boxes(self) -> Iterator[tuple[Box, float, float]]:
        """Each box with its width and height; frames too."""
        for box in self.scene.boxes:
            around = reach(box)
            yield box, max(around.width, 4.0), max(around.height, 4.0)


def tasks(names: Sequence[str], folders: Sequence[str]) -> Iterator[Task]:
    """Every figure of the corpus that can be drawn."""
    for name, path in corpus.specs(folders).items():
        if names and name not in names:
            continue
        for variant, scene in corpus.scenes(path, legend=False):
            if isinstance(scene, Scene):
                solid = {box.id for box in scene.boxes if box.form != "frame"}
                lines = tuple(q for q in scene.lines if q.tail in solid and q.head in solid)
                yield Task(f"{name} {variant}", scene, lines)


def measured(scene: Scene, paths: Paths, width: float, height: float) -> Drawing:
    """One drawing, by the measures that all share."""
    tidy = [(net, _tidy(points)) for net, points in paths]
    lines = [
        Line(str(n), tuple(points), tail="a", head="b", net=net)
        for n, (net, points) in enumerate(tidy)
        if len(points) > 1
    ]
    rated = score(replace(scene, boxes=(), labels=(), words=(), shapes=(), lines=tuple(lines)))
    corners = {(q.net, round(x), round(y)) for q in lines for x, y in q.points[1:-1]}
    return Drawing(
        rated.crossings,
        rated.faults["overlaps"],
        len(corners),
        _ink(lines),
        width * height / 1000,
    )


def _tidy(points: Sequence[Point]) -> list[Point]:
    """Points of an orthogonal path: what is level is exactly so, and no corner is straight."""
    found: list[Point] = []
    for x, y in points:
        if found:
            u, v = found[-1]
            x, y = (u if abs(x - u) < 0.5 else x), (v if abs(y - v) < 0.5 else y)
            if (x, y) == (u, v):
                continue
        if len(found) > 1 and (
            found[-2][0] == found[-1][0] == x or found[-2][1] == found[-1][1] == y
        ):
            found.pop()
        found.append((x, y))
    return found


def _ink(lines: Iterable[Line]) -> float:
    """Length of all lines; of one tensor, what lies on one another counts once."""
    runs: dict[tuple[str, bool, int], list[tuple[float, float]]] = defaultdict(list)
    for line in lines:
        for (x1, y1), (x2, y2) in pairwise(line.points):
            level = abs(x1 - x2) > abs(y1 - y2)
            low, high = sorted((x1, x2) if level else (y1, y2))
            runs[line.net, level, round(y1 if level else x1)].append((low, high))
    total = 0.0
    for spans in runs.values():
        reached = float("-inf")
        for low, high in sorted(spans):
            total += max(0.0, high - max(low, reached))
            reached = max(reached, high)
    return total


def ours(task: Task) -> Drawing:
    """The figure as we draw it."""
    paths = [(line.net, list(line.points)) for line in task.lines]
    return measured(task.scene, paths, task.scene.width, task.scene.height)


# -- ELK ------------------------------------------------------------------------------------------


def elk(all_: Sequence[Task]) -> tuple[list[Drawing | None], str]:
    """Every figure as ELK draws it, and why there is none."""
    if not (shutil.which("node") and shutil.which("npm")):
        return [None] * len(all_), "no ELK: node and npm are not installed"
    if not (FOLDER / "node_modules" / "elkjs").is_dir():
        FOLDER.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--prefix", str(FOLDER), ELKJS]
        if (done := subprocess.run(command, capture_output=True, text=True)).returncode:
            return [None] * len(all_), f"no ELK: npm cannot install {ELKJS}: {done.stderr[-300:]}"
    graphs = json.dumps([_elk_graph(task) for task in all_])
    done = subprocess.run(
        ["node", str(SCRIPT), str(FOLDER)], input=graphs, capture_output=True, text=True
    )
    if done.returncode:
        return [None] * len(all_), f"no ELK: {done.stderr[-300:]}"
    found = zip(all_, json.loads(done.stdout), strict=True)
    return [_elk_drawing(task, graph) if graph else None for task, graph in found], ""


def _elk_graph(task: Task) -> dict[str, Any]:
    nodes: dict[str, dict[str, Any]] = {}
    way = task.scene.direction
    root = {**_elk_node("#root"), "layoutOptions": {**ELK_OPTIONS, "elk.direction": way.upper()}}
    for box, width, height in task.boxes:
        nodes[box.id] = _elk_node(box.id)
        if box.form == "frame":
            nodes[box.id]["layoutOptions"] = FRAME_PADDING
        else:
            nodes[box.id] |= {"width": width, "height": height}
    for box, _, _ in task.boxes:
        nodes.get(box.parent, root)["children"].append(nodes[box.id])
    into, out_of = SIDES[way]
    axis = 1 if way == "right" else 0
    ends: dict[str, dict[str, tuple[str, int, float]]] = defaultdict(dict)
    for n, line in enumerate(task.lines):
        tail, head = f"{line.tail}>{line.net}", f"{line.head}<{n}"
        if not line.branch or tail not in ends[line.tail]:
            ends[line.tail][tail] = (out_of, line.tail_place, line.points[0][axis])
        ends[line.head][head] = (into, line.head_place, line.points[-1][axis])
        root["edges"].append({"id": f"e{n}", "sources": [tail], "targets": [head]})
    forms = {box.id: box.form for box, _, _ in task.boxes}
    for name, ports in ends.items():
        fixed = "FIXED_SIDE" if forms[name] == "box" else "FREE"
        if forms[name] == "box" and any(place >= 0 for _, place, _ in ports.values()):
            fixed = "FIXED_ORDER"
        nodes[name]["layoutOptions"] = {"elk.portConstraints": fixed}
        # clockwise: from left to right above and from top to bottom on the right, back elsewhere
        order = sorted(ports, key=lambda port: ports[port][1:])
        order = [p for p in order if ports[p][0] == out_of] + [
            p for p in reversed(order) if ports[p][0] == into
        ]
        nodes[name]["ports"] = [
            {
                "id": port,
                "width": 0,
                "height": 0,
                "layoutOptions": {"elk.port.side": ports[port][0], "elk.port.index": str(index)},
            }
            for index, port in enumerate(order)
        ]
    return root


def _elk_node(name: str) -> dict[str, Any]:
    return {"id": name, "children": [], "edges": []}


def _elk_drawing(task: Task, graph: dict[str, Any]) -> Drawing:
    corners: dict[str, Point] = {}
    edges: list[dict[str, Any]] = []
    todo = [(graph, 0.0, 0.0)]
    while todo:
        node, x, y = todo.pop()
        corners[node["id"]] = (x, y)
        edges += [{"container": node["id"], **edge} for edge in node.get("edges", ())]
        todo += [(inner, x + inner["x"], y + inner["y"]) for inner in node.get("children", ())]
    paths: Paths = []
    for edge in edges:
        x, y = corners[edge["container"]]
        for part in edge.get("sections", ()):
            points = [part["startPoint"], *part.get("bendPoints", ()), part["endPoint"]]
            net = task.lines[int(edge["id"][1:])].net
            paths.append((net, [(p["x"] + x, p["y"] + y) for p in points]))
    return measured(task.scene, paths, graph["width"], graph["height"])


# -- dot ------------------------------------------------------------------------------------------


def dot(task: Task) -> Drawing | None:
    """The figure as `dot` draws it; None where it fails or takes too long."""
    try:
        done = subprocess.run(
            ["dot", "-Tjson"], input=_dot_text(task), capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return None
    graph = json.loads(done.stdout)
    paths: Paths = []
    for edge in graph.get("edges", ()):
        points = [tuple(map(float, p.split(","))) for p in edge["pos"].split()]
        paths.append((edge["comment"], [(p[0], p[1]) for p in points[::3]]))
    left, low, right, high = map(float, graph["bb"].split(","))
    return measured(task.scene, paths, right - left, high - low)


def _dot_text(task: Task) -> str:
    way = {"up": "BT", "right": "LR"}[task.scene.direction]
    names = {box.id: f"n{n}" for n, (box, _, _) in enumerate(task.boxes)}
    inner: dict[str, list[tuple[Box, float, float]]] = defaultdict(list)
    for one in task.boxes:
        inner[one[0].parent if one[0].parent in names else ""].append(one)

    def body(frame: str) -> Iterator[str]:
        for box, width, height in inner[frame]:
            if box.form == "frame":
                yield f"subgraph cluster_{names[box.id]} {{ margin=12 {' '.join(body(box.id))} }}"
            else:
                yield f"{names[box.id]} [width={width / 72:.4f} height={height / 72:.4f}];"

    lines = [
        f"{names[q.tail]} -> {names[q.head]} [comment={json.dumps(q.net)}];" for q in task.lines
    ]
    return "\n".join(
        [
            f"digraph {{ splines=ortho rankdir={way} nodesep=0.194 ranksep=0.306",
            'node [shape=box fixedsize=true label=""] edge [dir=none]',
            *body(""),
            *lines,
            "}",
        ]
    )


# -- the table ------------------------------------------------------------------------------------

MEASURES = ("crossings", "overlaps", "bends", "length", "area")


def compared(all_: Sequence[Task], drawings: dict[str, list[Drawing | None]]) -> str:
    """A row a figure, the sums, and on how many figures ours is no worse than the better."""
    head = ["figure", *(f"{who} {what}" for what in MEASURES for who in drawings)]
    rows = [head]
    for n, task in enumerate(all_):
        found = [who[n] for who in drawings.values()]
        cells = [f"{getattr(d, what):.0f}" if d else "-" for what in MEASURES for d in found]
        rows.append([task.name, *cells])
    lines = [corpus.aligned(rows), ""]
    others = [who for who in drawings if who != "ours"]
    for who in others:
        if failed := [t.name for t, d in zip(all_, drawings[who], strict=True) if not d]:
            lines.append(f"{who} fails on {len(failed)} (-)")
    for what in MEASURES:
        for who in others:
            both = [
                (getattr(a, what), getattr(b, what))
                for a, b in zip(drawings["ours"], drawings[who], strict=True)
                if a and b
            ]
            if both:
                mine, theirs = sum(a for a, _ in both), sum(b for _, b in both)
                good = sum(a <= b for a, b in both)
                lines.append(
                    f"{what}: ours {mine:,.0f}, {who} {theirs:,.0f}; "
                    f"ours no more on {good} of {len(both)} ({good / len(both):.0%})"
                )
    worse = []
    for n, task in enumerate(all_):
        mine = drawings["ours"][n]
        rivals = [d.crossings for who in others if (d := drawings[who][n])]
        if mine and rivals and mine.crossings > min(rivals):
            worse.append(f"{task.name} {mine.crossings} to {min(rivals)}")
    if others:
        share = 1 - len(worse) / max(1, len(all_))
        lines.append(
            f"no more crossings than the better of them: {share:.0%}; more on {len(worse)}:"
        )
        lines += [f"  {each}" for each in worse]
    return "\n".join(lines)


def main() -> None:
    """Draw the corpus by all three, and print one table."""
    ask = argparse.ArgumentParser(description="Our layout beside ELK's and dot's.")
    ask.add_argument("specs", nargs="*", metavar="SPEC", help="only these, by name")
    ask.add_argument("--folder", action="append", help="more specs lie below it (again for more)")
    asked = ask.parse_args()
    all_ = list(tasks(asked.specs, asked.folder or ()))
    drawings: dict[str, list[Drawing | None]] = {"ours": [ours(task) for task in all_]}
    drawn, why = elk(all_)
    if why:
        print(why)
    else:
        drawings["ELK"] = drawn
    if shutil.which("dot"):
        drawings["dot"] = [dot(task) for task in all_]
    else:
        print("no dot: Graphviz is not installed")
    print(compared(all_, drawings))


if __name__ == "__main__":
    main()
