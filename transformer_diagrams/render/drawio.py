"""Display list -> draw.io: boxes as cells in containers, edges attached to them at both ends."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from transformer_diagrams.layout.scene import Rect
from transformer_diagrams.render.display import Disc, Display, Ink, Item, Lettering, Panel
from transformer_diagrams.render.geometry import Point, decimal
from transformer_diagrams.render.svg import xml_text
from transformer_diagrams.text.markup import parse_line


def to_drawio(display: Display) -> str:
    """The text of a ``.drawio`` file."""
    return _Diagram(display).text()


def lost(display: Display) -> list[str]:
    """The drawn signs: a cell has none."""
    marks = [i for i in display.items if i.over or (i.kind == "line" and len(i.shapes) > 2)]
    braces = sum(bool(item.shapes) for item in display.items if item.kind == "label")
    told = [f"the drawn signs at boxes and lines ({len(marks)})"] if marks else []
    return [*told, f"the braces of spans ({braces}), of which the words stay"] if braces else told


def words(text: Lettering) -> str:
    r"""A label as draw.io's HTML: formulas between ``\(`` and ``\)``, lines by ``<br>``."""
    lines = []
    for line in text.label.markup.split("\n") if text.label else ():
        lines.append(
            "".join(
                xml_text(piece.content if piece.kind == "text" else rf"\({piece.content}\)")
                for piece in parse_line(line)
            )
        )
    return "<br>".join(lines)


class _Diagram:
    """Writes one figure."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self.unit = display.unit
        self.names = display.names
        self.rects = {item.id: item.rect for item in display.items if item.rect}
        self.frames = {item.id for item in display.items if item.kind == "frame"}
        self.file = ET.Element("mxfile")
        title = "".join(char for char in display.title or display.id if char.isprintable())
        page = ET.SubElement(self.file, "diagram", id="figure", name=title)
        wide, high = (self.length(v) for v in (display.width, display.height))
        model = ET.SubElement(
            page, "mxGraphModel", grid="0", page="1", math="1", pageWidth=wide, pageHeight=high
        )
        self.root = ET.SubElement(model, "root")
        ET.SubElement(self.root, "mxCell", {"id": "0"})
        ET.SubElement(self.root, "mxCell", {"id": "1", "parent": "0"})

    def text(self) -> str:
        # Frames from the outside in, then what is in them; lines last, when their ends are there.
        for item in self.display.items:
            if item.kind == "ground":
                self.root.set("background", item.shapes[0].ink.fill)
            elif item.kind not in ("line", "dot"):
                self.item(item)
        for item in self.display.items:
            if item.kind == "line":
                self.edge(item)
        background = self.root.attrib.pop("background", "")
        if background:
            self.file[0][0].set("background", background)
        ET.indent(self.file, " ")
        return ET.tostring(self.file, encoding="unicode") + "\n"

    def length(self, value: float) -> str:
        return decimal(value * self.unit, 2)

    def item(self, item: Item) -> None:
        around = item.parent if item.rect else item.id  # of a label: its frame
        inside = around if around in self.frames else ""
        for index, shape in enumerate(item.shapes):
            if item.kind in ("frame", "box", "circle", "strip") and index == item.own:
                self.box(item, inside)
            elif isinstance(shape, Panel):
                look = self.ink(shape.ink) + self.corner(shape)
                self.cell(f"{self.names[item.id]}:{index}", "", look, shape.rect, inside)
        if item.kind in ("label", "text"):
            for text in item.texts:
                if text.label:
                    name = self.names.get(item.id, "") if item.kind == "text" else ""
                    look = "text;" + self.font(text)
                    wide = max((line.width for line in text.words), default=1.0) + 4
                    r = text.label.rect
                    around_it = Rect(r.center_x - wide / 2, r.top - 2, wide, r.height + 4)
                    rect = item.rect or around_it
                    self.cell(name, words(text), look, rect, inside)

    def box(self, item: Item, inside: str) -> None:
        shape = item.shapes[item.own]
        assert item.rect
        look = self.ink(shape.ink)
        said = "<br>".join(words(text) for text in item.texts)
        if isinstance(shape, Disc):
            look, said = "ellipse;" + look, item.symbol or said
        else:
            assert isinstance(shape, Panel)
            look += self.corner(shape)
        if item.kind == "frame":
            look += "container=1;collapsible=0;"
        elif item.texts:
            look += self.font(item.texts[0])
        self.cell(self.names[item.id], said, look, item.rect, inside)

    def cell(self, name: str, said: str, look: str, rect: Rect, inside: str) -> None:
        name = name or f"label:{len(self.root)}"
        parent = self.names[inside] if inside else "1"
        own = {"value": said, "style": f"{look}html=1;", "vertex": "1", "parent": parent}
        cell = ET.SubElement(self.root, "mxCell", {"id": name, **own})
        x, y = (self.rects[inside].left, self.rects[inside].top) if inside else (0.0, 0.0)
        size = {
            "x": rect.left - x, "y": rect.top - y, "width": rect.width, "height": rect.height
        }  # fmt: skip
        placed = {key: self.length(value) for key, value in size.items()}
        ET.SubElement(cell, "mxGeometry", {"as": "geometry", **placed})

    def edge(self, item: Item) -> None:
        way, ink = item.way, item.shapes[0].ink
        look = "edgeStyle=none;rounded=1;" + self.ink(ink)
        look += f"arcSize={self.length(2 * item.radius)};"
        size = self.length(item.arrow)
        look += f"endArrow=classic;endSize={size};" if item.arrow else "endArrow=none;"
        look += self.end("exit", way[0], item.tail) + self.end("entry", way[-1], item.head)
        ends = {
            key: self.names[name]
            for key, name in (("source", item.tail), ("target", item.head))
            if name in self.names
        }
        own = {"id": f"edge:{len(self.root)}", "style": look, "edge": "1", "parent": "1", **ends}
        cell = ET.SubElement(self.root, "mxCell", own)
        geometry = ET.SubElement(cell, "mxGeometry", {"relative": "1", "as": "geometry"})
        for place, point in (("sourcePoint", way[0]), ("targetPoint", way[-1])):
            ET.SubElement(geometry, "mxPoint", {**self.point(point), "as": place})
        corners = ET.SubElement(geometry, "Array", {"as": "points"})
        for point in way[1:-1]:
            ET.SubElement(corners, "mxPoint", self.point(point))

    def point(self, point: Point) -> dict[str, str]:
        return {"x": self.length(point[0]), "y": self.length(point[1])}

    def end(self, which: str, point: Point, box: str) -> str:
        """Where on its box a line ends, in shares of the box's sides."""
        rect = self.rects.get(box)
        if rect is None:
            return ""
        across = min(max((point[0] - rect.left) / rect.width, 0.0), 1.0)
        along = min(max((point[1] - rect.top) / rect.height, 0.0), 1.0)
        return (
            f"{which}X={decimal(across, 4)};{which}Y={decimal(along, 4)};"
            f"{which}Dx=0;{which}Dy=0;{which}Perimeter=0;"
        )

    def ink(self, ink: Ink) -> str:
        look = f"fillColor={ink.fill or 'none'};strokeColor={ink.stroke or 'none'};"
        if ink.stroke:
            look += f"strokeWidth={self.length(ink.width)};"
        if ink.dash:
            pattern = " ".join(decimal(v, 2) for v in ink.dash)
            look += f"dashed=1;fixDash=1;dashPattern={pattern};"
        return look

    def corner(self, panel: Panel) -> str:
        if not panel.corner:
            return ""
        return f"rounded=1;absoluteArcSize=1;arcSize={self.length(2 * panel.corner)};"

    def font(self, text: Lettering) -> str:
        weight = "fontStyle=1;" if text.label and text.label.weight == "bold" else ""
        color = text.outlines[0].ink.fill
        return (
            f"fontFamily=Fira Sans;fontSize={self.length(text.size)};fontColor={color};{weight}"
            "align=center;verticalAlign=middle;spacing=0;"
        )
