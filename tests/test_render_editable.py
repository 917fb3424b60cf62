"""Formats for other editors: read back, they say what the scene says."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from scenes import Builder, drawing, signs, tower

from transformer_diagrams.api import load
from transformer_diagrams.layout.scene import Rect, Scene
from transformer_diagrams.render import formats

SPECS = ["gqa", pytest.param("transformer", marks=pytest.mark.slow), "tower"]


def scene_of(name: str) -> Scene:
    return tower() if name == "tower" else load(name).scene()


def cells(scene: Scene) -> dict[str, ET.Element]:
    root = ET.fromstring(formats.get("drawio").write(drawing(scene)))
    found = list(root.iter("mxCell"))
    by_id = {cell.get("id", ""): cell for cell in found}
    assert len(by_id) == len(found)
    return by_id


def place(cell: ET.Element, by_id: dict[str, ET.Element]) -> tuple[float, float]:
    """The corner of a cell on the page: containers count."""
    x = y = 0.0
    while cell.get("vertex"):
        own = cell.find("mxGeometry")
        assert own is not None
        x, y = x + float(own.get("x", "0")), y + float(own.get("y", "0"))
        cell = by_id[cell.get("parent", "")]
    return x, y


@pytest.mark.parametrize("name", SPECS)
def test_every_drawio_edge_is_attached_and_every_cell_in_place(name: str) -> None:
    scene = scene_of(name)
    by_id = cells(scene)
    edges = [cell for cell in by_id.values() if cell.get("edge")]
    assert len(edges) == len(scene.lines)
    for edge in edges:
        for end in ("source", "target"):
            assert by_id[edge.get(end, "")].get("vertex") == "1"
    corners = sorted((round(b.rect.left), round(b.rect.top)) for b in scene.boxes)
    drawn = [cell for name, cell in by_id.items() if cell.get("vertex") and ":" not in name]
    for (x, y), (left, top) in zip(
        sorted(place(cell, by_id) for cell in drawn), corners, strict=True
    ):
        assert (x, y) == pytest.approx((left, top), abs=1.01)


def test_a_drawio_end_is_on_its_box_at_the_lines_end() -> None:
    b = Builder()
    b.frame("f", Rect(10, 10, 200, 150), "frame")
    b.box("a", "a < $x_i$", 60, 120, 80, "norm", parent="f")
    b.box("b", "b", 60, 40, 80, "ffn", parent="f")
    b.line("a", "b", (40, 109.5), (40, 80), (80, 80), (80, 50.5))
    by_id = cells(b.scene(220, 170))
    (edge,) = (cell for cell in by_id.values() if cell.get("edge"))
    style = dict(part.split("=") for part in edge.get("style", "").split(";") if "=" in part)
    assert (float(style["exitX"]), float(style["exitY"])) == pytest.approx((0.25, 0))
    assert (float(style["entryX"]), float(style["entryY"])) == pytest.approx((0.75, 1))
    points = [(p.get("x"), p.get("y")) for p in edge.findall(".//Array/mxPoint")]
    assert points == [("40", "80"), ("80", "80")]
    assert by_id["a"].get("value") == r"a &lt; \(x_i\)"
    assert by_id["a"].get("parent") == "f"


@pytest.mark.parametrize("name", SPECS)
def test_mermaid_says_the_structure(name: str) -> None:
    scene = scene_of(name)
    lines = formats.get("mermaid").write(drawing(scene)).decode().splitlines()
    assert lines[0] == "flowchart BT"
    frames = [line for line in lines if line.strip().startswith("subgraph ")]
    assert len(frames) == lines.count("  end") + sum(
        line.strip() == "end" and line != "  end" for line in lines
    )
    assert len(frames) == sum(box.form == "frame" for box in scene.boxes)
    known = {re.findall(r"[\w-]+", line.replace("subgraph", ""))[0] for line in lines[1:]}
    form = r"  (\S+) (-->|==>|-\.->|-\.-) (\S+)"
    edges = [found for line in lines if (found := re.fullmatch(form, line))]
    assert len(edges) == len(scene.lines)
    assert {end for edge in edges for end in (edge[1], edge[3])} <= known


def test_mermaid_escapes_words_and_avoids_its_own() -> None:
    b = Builder()
    b.box("end", 'say "#1" <b>', 60, 30, 100, "norm")
    text = formats.get("mermaid").write(drawing(b.scene(120, 60))).decode()
    assert 'end_["say #quot;#35;1#quot; #lt;b#gt;"]:::norm' in text


@pytest.mark.parametrize(("name", "said"), [("drawio", "signs"), ("mermaid", "places")])
def test_what_a_format_cannot_carry_is_told(name: str, said: str) -> None:
    drawn = drawing(signs())
    told = [f.message for f in formats.get(name).warnings(drawn) if f.code == "not-carried"]
    assert len(told) == 1
    assert said in told[0]
    assert not [f for f in formats.get("svg").warnings(drawn) if f.code == "not-carried"]
