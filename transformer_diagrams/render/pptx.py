"""Display list -> PPTX: shapes to edit, connectors glued to them, grouped by frame, on slides.

Lengths are EMU (12700 a point) of a slide of 13.33 by 7.5 in. Text is text; a formula is a picture
whose alternative text is its TeX. python-pptx makes the package around the shapes, which are
written here in the words of ECMA-376 (part 1, chapters 19 and 20).
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from transformer_diagrams.layout.scene import Label, Rect
from transformer_diagrams.records import dataclass
from transformer_diagrams.render.display import (
    Curve,
    Disc,
    Display,
    Ink,
    Item,
    Lettering,
    Outline,
    Panel,
    Shape,
)
from transformer_diagrams.render.geometry import Point, rounded
from transformer_diagrams.render.path_data import Command, shape_commands
from transformer_diagrams.render.svg import xml_attribute, xml_text
from transformer_diagrams.text import LEADING, measure, plain, spots

if TYPE_CHECKING:
    from transformer_diagrams.text import PlacedPiece

EMU = 12700
WIDE, HIGH = 960.0, 540.0  # of the slide, in points
FACES = {"regular": "Fira Sans", "medium": "Fira Sans Medium", "semibold": "Fira Sans SemiBold",
         "bold": "Fira Sans", "italic": "Fira Sans"}  # fmt: skip
_PANOSE = "020B0503050000020004"  # by which a program picks a like font where this is missing
_DPI = 600.0  # of the pictures of formulas, for programs that do not take their SVG
_LEAST = 1270  # EMU: a connector is no flatter, for its turns are told as shares of its box
_SPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
_CHOICE = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_OFFICE = "http://schemas.microsoft.com/office/drawing/2017/model3d"  # what it knows alone
_SVG = "http://schemas.microsoft.com/office/drawing/2016/SVG/main"


def to_pptx(displays: Sequence[Display]) -> bytes:
    """A presentation of one slide a display, the figure in the middle of each."""
    from pptx import Presentation
    from pptx.util import Emu

    deck = Presentation()
    _widen(deck)
    deck.slide_width, deck.slide_height = Emu(_emu(WIDE)), Emu(_emu(HIGH))
    about = deck.core_properties
    about.title, about.subject = displays[0].title, displays[0].desc[:255]
    about.author = about.last_modified_by = ""
    pictures: dict[bytes, Any] = {}
    for display in displays:
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        _Slide(display, slide, pictures).write()
    packed = io.BytesIO()
    deck.save(packed)
    return _without_clock(packed.getvalue())


def lost(display: Display) -> list[str]:
    """What a connector that stays attached has not: rounded corners, and a beginning on another
    line."""
    lines = [item for item in display.items if item.kind == "line"]
    ways = [item.way for item in lines]
    bent = sum(len(way) > 2 and bool(_connector([(x * EMU, y * EMU) for x, y in way]))
               for way in ways)  # fmt: skip
    apart = sum(item.role == "residual" and bool(item.trunk) for item in lines)
    out = [f"the rounded corners of {bent} lines, which are connectors"] if bent else []
    if apart:
        out.append(f"where {apart} residual paths leave the stream: each begins at its box")
    return out


def _widen(deck: Any) -> None:
    """The places on the layouts of the library's own template, 4:3, moved onto the wider slide."""
    share = _emu(WIDE) / deck.slide_width
    for page in (deck.slide_master, *deck.slide_layouts):
        for place in page.placeholders:
            if place._element.spPr.xfrm is not None:
                place.left, place.width = round(place.left * share), round(place.width * share)


def _without_clock(packed: bytes) -> bytes:
    """The same package without the time of its making."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(packed)) as before,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            entry = zipfile.ZipInfo(name)  # of 1980
            entry.create_system = 0
            after.writestr(entry, before.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class _Part:
    """The XML of a shape, and the room that it takes, in EMU."""

    xml: str
    left: int
    top: int
    right: int
    bottom: int


class _Slide:
    """Writes one figure onto a slide."""

    def __init__(self, display: Display, slide: Any, pictures: dict[bytes, Any]) -> None:
        self.display = display
        self.pictures = pictures  # parts of the whole presentation
        self.slide = slide
        self.unit = display.unit
        wide, high = display.printed
        self.origin = ((WIDE - wide) / 2, (HIGH - high) / 2)
        self.names = display.names
        self.count = 1  # the tree's own id
        self.ids: dict[str, int] = {}
        self.boxes = {item.id: item for item in display.items if item.rect}
        self.parents = {item.id: item.parent for item in display.items if item.kind == "frame"}
        self.sites = self.found_sites()
        self.owners = {  # lines by what labels call them
            name: item
            for item in display.items
            if item.kind == "line"
            for name in (item.net, item.id)
        }

    def write(self) -> None:
        from pptx.oxml import parse_xml

        frames = [item for item in self.display.items if item.kind == "frame"]
        # From the back to the front: a frame's own shape, the frames in it, boxes, then lines and
        # words, which may lie over all of these.
        layers: dict[str, tuple[list[_Part], list[_Part], list[_Part], list[_Part]]] = {
            name: ([], [], [], []) for name in ("", *self.parents)
        }
        for item in self.display.items:
            home = layers[self.home(item.parent)]
            if item.kind == "ground":
                self.ground(item.shapes[0].ink.fill)
            elif item.kind == "frame":
                layers[item.id][0].extend(self.box(item))
            elif item.rect:
                parts = self.box(item)
                several = len(parts) > 1
                home[2].extend([self.group(parts, self.names[item.id])] if several else parts)
        for item in self.display.items:
            if item.kind == "line":
                layers[self.around(item)][3].extend(self.line(item))
            elif item.kind == "dot":
                layers[""][3].extend(self.shape(shape, "junction") for shape in item.shapes)
            elif item.kind == "label":
                layers[""][3].extend(self.shape(shape, "brace") for shape in item.shapes)
                for text in item.texts:
                    layers[self.owner_home(item.id, text)][3].extend(self.label(text))
        for frame in reversed(frames):  # from the inside out
            parts = [*chain.from_iterable(layers.pop(frame.id))]
            whole = self.group(parts, f"{self.names[frame.id]}-frame")
            layers[self.home(frame.parent)][1].insert(0, whole)
        for part in chain.from_iterable(layers[""]):
            self.slide.shapes._spTree.append(parse_xml(part.xml))

    def home(self, frame: str) -> str:
        return frame if frame in self.parents else ""

    def owner_home(self, frame: str, text: Lettering) -> str:
        """The frame that a label belongs to, or that the line does which it belongs to."""
        if frame in self.parents:
            return frame
        owner = text.label.owner if text.label else ""
        line = self.owners.get(owner)
        return self.around(line) if line else ""

    def around(self, line: Item) -> str:
        """The innermost frame that holds both ends of a line."""

        def chain(end: str) -> list[str]:
            box = self.boxes.get(end)
            found, at = [], end if end in self.parents else box.parent if box else ""
            while at in self.parents:
                found.append(at)
                at = self.parents[at]
            return found

        heads = chain(line.head)
        return next((frame for frame in chain(line.tail) if frame in heads), "")

    # Numbers

    def at(self, point: Point) -> tuple[int, int]:
        x, y = (self.origin[i] + point[i] * self.unit for i in (0, 1))
        return _emu(x), _emu(y)

    def length(self, value: float) -> int:
        return _emu(value * self.unit)

    def room(self, rect: Rect) -> tuple[int, int, int, int]:
        return (*self.at((rect.left, rect.top)), *self.at((rect.right, rect.bottom)))

    def named(self, name: str, said: str = "", own: str = "") -> str:
        """The names of a shape; ``own`` is the box that it is, for connectors to find."""
        self.count += 1
        if own:
            self.ids[own] = self.count
        told = f' descr="{xml_attribute(said)}"' if said else ""
        return f'<p:cNvPr id="{self.count}" name="{xml_attribute(name)}"{told}/>'

    # Shapes

    def ground(self, fill: str) -> None:
        from pptx.oxml import parse_xml

        page = self.slide._element.find("{*}cSld")
        page.insert(0, parse_xml(
            f"<p:bg {_SPACES}><p:bgPr>{_fill(fill)}<a:effectLst/></p:bgPr></p:bg>"
        ))  # fmt: skip

    def group(self, parts: Sequence[_Part], name: str) -> _Part:
        left, top = min(p.left for p in parts), min(p.top for p in parts)
        right, bottom = max(p.right for p in parts), max(p.bottom for p in parts)
        place = f'x="{left}" y="{top}"'
        size = f'cx="{right - left}" cy="{bottom - top}"'
        xml = (
            f"<p:grpSp {_SPACES}><p:nvGrpSpPr>{self.named(name)}<p:cNvGrpSpPr/><p:nvPr/>"
            f"</p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off {place}/><a:ext {size}/>"
            f"<a:chOff {place}/><a:chExt {size}/></a:xfrm></p:grpSpPr>"
            f"{''.join(part.xml for part in parts)}</p:grpSp>"
        )
        return _Part(xml, left, top, right, bottom)

    def box(self, item: Item) -> list[_Part]:
        """A box with its words in it, and what must lie over it."""
        assert item.rect
        name, rect = self.names[item.id], item.rect
        within, over = self.words(item)
        if item.kind == "text":
            spare = Rect(rect.left, rect.top, max(rect.width, 1.0), max(rect.height, 1.0))
            own = self.geometry(spare, 0.0, item.id)
            return [self.sp(self.room(spare), own, "", name, within, item.said, item.id), *over,
                    *(self.shape(shape, f"{name}-sign") for shape in item.over)]  # fmt: skip
        parts = []
        for index, shape in enumerate(item.shapes):
            if index != item.own:
                parts.append(self.shape(shape, f"{name}-{index + 1}"))
                continue
            own = (
                self.round(item.id, shape)
                if isinstance(shape, Disc)
                else self.geometry(rect, shape.corner if isinstance(shape, Panel) else 0, item.id)
            )
            look = self.ink(shape.ink)
            parts.append(self.sp(self.room(rect), own, look, name, within, item.said, item.id))
        return [*parts, *over, *(self.shape(shape, f"{name}-sign") for shape in item.over)]

    def shape(self, shape: Shape, name: str) -> _Part:
        if isinstance(shape, Panel):
            own = self.geometry(shape.rect, shape.corner)
            return self.sp(self.room(shape.rect), own, self.ink(shape.ink), name)
        if isinstance(shape, Disc):
            (x, y), r = shape.center, shape.radius
            room = self.room(Rect(x - r, y - r, 2 * r, 2 * r))
            return self.sp(room, _preset("ellipse"), self.ink(shape.ink), name)
        own, room = self.freeform(shape)
        scale = shape.scale if isinstance(shape, Outline) else 1.0
        return self.sp(room, own, self.ink(shape.ink, scale), name)

    def sp(
        self, room: tuple[int, int, int, int], own: str, look: str, name: str,
        words: str = "", said: str = "", box: str = "",
    ) -> _Part:  # fmt: skip
        empty = '<p:txBody><a:bodyPr/><a:p><a:endParaRPr lang="en-US"/></a:p></p:txBody>'
        xml = (
            f"<p:sp {_SPACES}><p:nvSpPr>{self.named(name, said, box)}<p:cNvSpPr/><p:nvPr/>"
            f"</p:nvSpPr><p:spPr>{_place(room)}{own}{look or '<a:noFill/><a:ln><a:noFill/></a:ln>'}"
            f"</p:spPr>{words or empty}</p:sp>"
        )
        return _Part(xml, *room)

    def geometry(self, rect: Rect, corner: float, box: str = "") -> str:
        """A rectangle: a preset where its lines end at the middles of its sides."""
        sites = self.sites.get(box, ())
        if len(sites) <= 4:
            if corner <= 0:
                return _preset("rect")
            share = min(round(corner / min(rect.width, rect.height) * 100_000), 50_000)
            return _preset("roundRect", adj=share)
        w, h = self.length(rect.width), self.length(rect.height)
        path = shape_commands(Panel(Rect(0, 0, rect.width, rect.height), corner, Ink()))
        return self.custom(path, w, h, (0.0, 0.0), 1.0, [
            (self.length(x - rect.left), self.length(y - rect.top)) for x, y in sites
        ])  # fmt: skip

    def round(self, box: str, disc: Disc) -> str:
        """A circle: a preset where its lines end at its four ends."""
        sites, (x, y), r = self.sites[box], disc.center, disc.radius
        if len(sites) <= 4:
            return _preset("ellipse")
        path = shape_commands(Disc((r, r), r, Ink()))
        size = self.length(2 * r)
        return self.custom(path, size, size, (0.0, 0.0), 1.0, [
            (self.length(a - x + r), self.length(b - y + r)) for a, b in sites
        ])  # fmt: skip

    def freeform(self, shape: Shape) -> tuple[str, tuple[int, int, int, int]]:
        """Any outline, and the room of it."""
        at, k = (shape.at, shape.scale) if isinstance(shape, Outline) else ((0.0, 0.0), 1.0)
        path = shape_commands(shape)
        xs = [at[0] + v * k for _, n in path for v in n[0::2]]
        ys = [at[1] + v * k for _, n in path for v in n[1::2]]
        left, top, right, bottom = min(xs), min(ys), max(xs), max(ys)
        room = (*self.at((left, top)), *self.at((right, bottom)))
        origin = (at[0] - left, at[1] - top)
        return self.custom(path, room[2] - room[0], room[3] - room[1], origin, k, ()), room

    def custom(
        self, path: Iterable[Command], w: int, h: int, origin: Point, k: float,
        sites: Sequence[tuple[int, int]],
    ) -> str:  # fmt: skip
        drawn = []
        for letter, n in path:
            points = "".join(
                f'<a:pt x="{self.length(origin[0] + x * k)}" y="{self.length(origin[1] + y * k)}"/>'
                for x, y in zip(n[0::2], n[1::2], strict=True)
            )
            tag = {"M": "moveTo", "L": "lnTo", "C": "cubicBezTo", "Z": "close"}[letter]
            drawn.append(f"<a:{tag}>{points}</a:{tag}>" if points else f"<a:{tag}/>")
        guides = "".join(
            f'<a:gd name="x{i}" fmla="*/ {x} w {max(w, 1)}"/>'
            f'<a:gd name="y{i}" fmla="*/ {y} h {max(h, 1)}"/>'
            for i, (x, y) in enumerate(sites)
        )
        glue = "".join(
            f'<a:cxn ang="0"><a:pos x="x{i}" y="y{i}"/></a:cxn>' for i in range(len(sites))
        )
        return (
            f"<a:custGeom><a:avLst/><a:gdLst>{guides}</a:gdLst><a:ahLst/><a:cxnLst>{glue}"
            '</a:cxnLst><a:rect l="0" t="0" r="r" b="b"/><a:pathLst>'
            f'<a:path w="{w}" h="{h}">{"".join(drawn)}</a:path></a:pathLst></a:custGeom>'
        )

    def ink(self, ink: Ink, scale: float = 1.0) -> str:
        fill = _fill(ink.fill, ink.fill_opacity) if ink.fill else "<a:noFill/>"
        return fill + self.stroke(ink, scale)

    def stroke(self, ink: Ink, scale: float = 1.0, head: str = "") -> str:
        if not ink.stroke:
            return "<a:ln><a:noFill/></a:ln>"
        cap = {"butt": "flat", "round": "rnd"}[ink.cap]
        pairs = zip(ink.dash[0::2], ink.dash[1::2], strict=False)
        dashes = "".join(  # shares of the line's width, in thousandths of a percent
            f'<a:ds d="{round(on / ink.width * 1e5)}" sp="{round(off / ink.width * 1e5)}"/>'
            for on, off in pairs
        )
        dash = f"<a:custDash>{dashes}</a:custDash>" if dashes else ""
        return (
            f'<a:ln w="{self.length(ink.width * scale)}" cap="{cap}">{_fill(ink.stroke)}{dash}'
            f"<a:round/>{head}</a:ln>"
        )

    # Lines

    def found_sites(self) -> dict[str, list[Point]]:
        """Where connectors hold on to each box: the places of the preset shape, then others."""
        found: dict[str, list[Point]] = {}
        for item in self.boxes.values():
            assert item.rect
            r = item.rect
            found[item.id] = [
                (r.center_x, r.top), (r.left, r.center_y),
                (r.center_x, r.bottom), (r.right, r.center_y),
            ]  # fmt: skip
        for line in self.display.items:
            if line.kind == "line":
                for box, end in ((line.tail, line.way[0]), (line.head, line.way[-1])):
                    sites = found.get(box)
                    if sites is not None and all(math.dist(end, site) > 0.5 for site in sites):
                        sites.append(end)
        return found

    def glue(self, tag: str, box: str, end: Point) -> str:
        sites = self.sites.get(box)
        if sites is None or box not in self.ids:
            return ""
        index = min(range(len(sites)), key=lambda i: math.dist(sites[i], end))
        if len(sites) == 4 and self.boxes[box].kind == "circle":
            index *= 2  # an ellipse has a place between each two of these
        return f'<a:{tag} id="{self.ids[box]}" idx="{index}"/>'

    def line(self, item: Item) -> list[_Part]:
        way, ink = item.way, item.shapes[0].ink
        tail, head = (self.names.get(end, "") for end in (item.tail, item.head))
        name = f"{tail} to {head}"
        bent = _connector([self.at(point) for point in way])
        if bent:
            own, place, room = bent
        else:  # more turns than a preset has
            own, room = self.freeform(_whole(item))
            place = _place(room)
        ends = ""
        if item.arrow:
            size = item.arrow / max(ink.width, 2 / self.unit)
            length = "sm" if size < 2.5 else "med" if size < 4 else "lg"
            ends = f'<a:tailEnd type="stealth" w="{length}" len="{length}"/>'
        glued = self.glue("stCxn", item.tail, way[0]) + self.glue("endCxn", item.head, way[-1])
        xml = (
            f"<p:cxnSp {_SPACES}><p:nvCxnSpPr>{self.named(name, item.said)}"
            f"<p:cNvCxnSpPr>{glued}</p:cNvCxnSpPr><p:nvPr/></p:nvCxnSpPr>"
            f"<p:spPr>{place}{own}<a:noFill/>{self.stroke(ink, head=ends)}</p:spPr></p:cxnSp>"
        )
        if len(way) > 2:  # drawn elsewhere along a way of the program's own
            free, own_room = self.freeform(_whole(item))
            drawn = self.sp(own_room, free, "<a:noFill/>" + self.stroke(ink, head=ends), name)
            xml = (
                f'<mc:AlternateContent {_SPACES} xmlns:mc="{_CHOICE}"><mc:Choice Requires="am3d" '
                f'xmlns:am3d="{_OFFICE}">{xml}</mc:Choice><mc:Fallback>{drawn.xml}</mc:Fallback>'
                "</mc:AlternateContent>"
            )
        extra = item.shapes[1 + bool(item.arrow) :]
        return [_Part(xml, *room), *(self.shape(shape, f"{name} sign") for shape in extra)]

    # Words

    def words(self, item: Item) -> tuple[str, list[_Part]]:
        """What a box says: a text of its own where that is one, and what lies over it."""
        assert item.rect
        if len(item.texts) == 1 and (label := item.texts[0].label):
            r, own = label.rect, item.rect
            middle = abs(r.center_x - own.center_x) < 2 and abs(r.center_y - own.center_y) < 4
            if middle and not any(s.piece.kind == "math" for s in _spots(label)):
                lines = [plain(line) for line in label.markup.split("\n")]
                return self.body(lines, item.texts[0], "ctr"), []
        return "", [part for text in item.texts for part in self.label(text)]

    def label(self, text: Lettering) -> list[_Part]:
        """A label where it stands: its lines as text, a formula in them as a picture."""
        label = text.label
        if label is None:
            return []
        by_line: dict[int, list[PlacedPiece]] = {}
        for spot in _spots(label):
            by_line.setdefault(spot.line, []).append(spot)
        parts = []
        for index, line in by_line.items():
            y = label.y + index * LEADING * label.size
            for place, spot in enumerate(line):
                if spot.piece.kind == "math":
                    parts.append(self.picture(spot, text, (label.x + spot.x, y)))
                elif spot.piece.content.strip():
                    # Towards the formula beside it, whatever font sets it in the end.
                    side = "l" if place else "r" if len(line) > 1 else "ctr"
                    parts.append(self.textbox(spot, text, (label.x + spot.x, y), side))
        if len(parts) > 1:
            return [self.group(parts, plain(label.markup))]
        return parts

    def textbox(self, spot: PlacedPiece, text: Lettering, at: Point, side: str) -> _Part:
        size = text.size
        rect = Rect(at[0], at[1] - 0.95 * size, spot.width, 1.25 * size)
        said = spot.piece.content
        body = self.body([said], text, side)
        return self.sp(self.room(rect), _preset("rect"), "", said.strip(), body)

    def body(self, lines: Sequence[str], text: Lettering, side: str) -> str:
        label = text.label
        assert label
        size = max(round(text.size * self.unit * 100), 100)
        weight = ' b="1"' if label.weight == "bold" else ""
        face = f'typeface="{FACES[label.weight]}" panose="{_PANOSE}" pitchFamily="34" charset="0"'
        look = (
            f'lang="en-US" sz="{size}"{weight} dirty="0"',
            f"{_fill(text.outlines[0].ink.fill)}<a:latin {face}/><a:cs {face}/>",
        )
        space = f'<a:lnSpc><a:spcPts val="{round(size * LEADING)}"/></a:lnSpc>'
        paragraphs = "".join(
            f'<a:p><a:pPr algn="{side}">{space if len(lines) > 1 else ""}</a:pPr>'
            f"<a:r><a:rPr {look[0]}>{look[1]}</a:rPr><a:t>{xml_text(line)}</a:t></a:r></a:p>"
            for line in lines
        )
        return (
            '<p:txBody><a:bodyPr wrap="none" lIns="0" tIns="0" rIns="0" bIns="0" rtlCol="0" '
            f'anchor="ctr"><a:noAutofit/></a:bodyPr><a:lstStyle/>{paragraphs}</p:txBody>'
        )

    def picture(self, spot: PlacedPiece, text: Lettering, at: Point) -> _Part:
        label = text.label
        assert label
        color = text.outlines[0].ink.fill
        png, svg, ink = _formula(spot.piece.source, text.size, label.weight, color, self.unit)
        room = self.room(Rect(at[0] + ink.left, at[1] + ink.top, ink.width, ink.height))
        drawn, sharp = self.image(png, "png"), self.image(svg, "svg")
        xml = (
            f"<p:pic {_SPACES}><p:nvPicPr>{self.named(plain(spot.piece.source), spot.piece.source)}"
            '<p:cNvPicPr><a:picLocks noChangeAspect="1"/></p:cNvPicPr><p:nvPr/></p:nvPicPr>'
            f'<p:blipFill><a:blip r:embed="{drawn}"><a:extLst>'
            '<a:ext uri="{96DAC541-7B7A-43D3-8B79-37D633B846F1}">'
            f'<asvg:svgBlip xmlns:asvg="{_SVG}" r:embed="{sharp}"/></a:ext></a:extLst></a:blip>'
            f"<a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr>{_place(room)}"
            f"{_preset('rect')}</p:spPr></p:pic>"
        )
        return _Part(xml, *room)

    def image(self, data: bytes, kind: str) -> str:
        """The slide's relation to a picture, the same part of the file for the same bytes."""
        from pptx.opc.constants import RELATIONSHIP_TYPE
        from pptx.opc.package import Part
        from pptx.opc.packuri import PackURI

        if data not in self.pictures:
            name = PackURI(f"/ppt/media/image{len(self.pictures) + 1}.{kind}")
            mime = {"png": "image/png", "svg": "image/svg+xml"}[kind]
            self.pictures[data] = Part(name, mime, self.slide.part.package, data)
        return str(self.slide.part.relate_to(self.pictures[data], RELATIONSHIP_TYPE.IMAGE))


def _whole(line: Item) -> Curve:
    """A line to the tip of its head, which is an end of its own here; where it is shown before
    the line that it leaves, from its tail's border."""
    trunk = line.trunk if line.over else ()
    start, pieces = rounded((*trunk, *line.corners[:-1], line.tip), line.radius)
    return Curve(start, tuple(pieces), line.shapes[0].ink)


def _spots(label: Label) -> tuple[PlacedPiece, ...]:
    return spots(label.markup, label.size, label.weight, label.align)


@cache
def _formula(
    source: str, size: float, weight: str, color: str, unit: float
) -> tuple[bytes, bytes, Rect]:
    """A formula as PNG and SVG, and its place from the left end of its baseline, in points."""
    from transformer_diagrams.render.png import to_png
    from transformer_diagrams.render.svg import to_svg

    found = measure(source, size, weight)
    left, top, right, bottom = found.ink
    spare = 0.05 * size
    rect = Rect(left - spare, top - spare, right - left + 2 * spare, bottom - top + 2 * spare)
    ink = Outline(found.outline, Ink(color), (-rect.left, -rect.top), found.scale)
    drawn = Display(found.plain, found.plain, "", rect.width, rect.height, (
        Item("label", (ink,)),
    ), unit)  # fmt: skip
    return to_png(drawn, dpi=_DPI), to_svg(drawn, words=False).encode(), rect


def _connector(
    way: Sequence[tuple[float, float]],
) -> tuple[str, str, tuple[int, int, int, int]] | None:
    """A line of up to four turns as a preset: geometry, place, and the room it takes in EMU.

    A preset starts along x: one that starts along y is turned by a quarter, clockwise.
    """
    points = [(round(x), round(y)) for x, y in way]
    if len(points) < 2 or len(points) > 6:
        return None
    room = (min(x for x, _ in points), min(y for _, y in points),
            max(x for x, _ in points), max(y for _, y in points))  # fmt: skip
    (x0, y0), (x1, y1) = points[0], points[-1]
    if len(points) == 2:
        flips = ' flipH="1"' * (x1 < x0) + ' flipV="1"' * (y1 < y0)
        return _preset("straightConnector1"), _place(room, flips), room
    upright = abs(points[1][1] - y0) > abs(points[1][0] - x0)
    up = upright and y1 < y0
    turned = [(-y, x) if up else (y, -x) if upright else (x, y) for x, y in points]
    for (ax, ay), (bx, by) in pairwise(turned):
        if min(abs(ax - bx), abs(ay - by)) > EMU // 20:
            return None  # a slant
    (u0, v0), (u1, v1) = turned[0], turned[-1]
    w, h = max(abs(u1 - u0), _LEAST), max(abs(v1 - v0), _LEAST)
    su, sv = (-1 if u1 < u0 else 1), (-1 if v1 < v0 else 1)
    turns = {}
    for index, (u, v) in enumerate(turned[1:-2] if len(turned) > 3 else (), 1):
        share = (u - u0) * su / w if index % 2 else (v - v0) * sv / h
        turns[f"adj{index}"] = round(share * 100_000)
    flips = ' flipH="1"' * (su < 0) + ' flipV="1"' * (sv < 0) + (
        ' rot="16200000"' if up else ' rot="5400000"' if upright else ""
    )
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    left, top = round(middle_x - w / 2), round(middle_y - h / 2)
    place = _place((left, top, left + w, top + h), flips)
    return _preset(f"bentConnector{len(points) - 1}", **turns), place, room


def _preset(name: str, **adjusted: int) -> str:
    values = "".join(f'<a:gd name="{n}" fmla="val {v}"/>' for n, v in adjusted.items())
    return f'<a:prstGeom prst="{name}"><a:avLst>{values}</a:avLst></a:prstGeom>'


def _place(room: tuple[int, int, int, int], turned: str = "") -> str:
    left, top, right, bottom = room
    size = f'<a:ext cx="{right - left}" cy="{bottom - top}"/>'
    return f'<a:xfrm{turned}><a:off x="{left}" y="{top}"/>{size}</a:xfrm>'


def _fill(color: str, opacity: float = 1.0) -> str:
    alpha = f'<a:alpha val="{round(opacity * 100_000)}"/>' if opacity != 1.0 else ""
    return f'<a:solidFill><a:srgbClr val="{color[1:].upper()}">{alpha}</a:srgbClr></a:solidFill>'


def _emu(value: float) -> int:
    return round(value * EMU)
