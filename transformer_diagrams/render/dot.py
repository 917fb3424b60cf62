r"""Display list -> pinned DOT: every place is in the file, Graphviz only draws it.

Boxes are nodes of fixed size with ``pos``, frames are clusters with ``bb``, lines are edges
with the Bezier points in ``pos``. ``neato -n2`` keeps all of them as they are, and the file can
be edited like any other.

Coordinates are whole hundredths of a point. ``zoom`` multiplies every length: old releases of
Graphviz round a node's size to whole points, which at zoom 100 rounds nothing away.
"""

from __future__ import annotations

from collections.abc import Iterable

from transformer_diagrams.layout.scene import Rect
from transformer_diagrams.render.display import Curve, Disc, Display, Ink, Item, Lettering
from transformer_diagrams.render.geometry import Cubic, decimal, direction, moved, straight
from transformer_diagrams.text import plain

# Text without an outline may grow with the viewer's font; its size here is the least.
_LOOSE = (("shape", "plaintext"), ("fixedsize", "false"), ("margin", "0"))

_DROPPED = {code: None for code in range(32) if code != 10}


def quoted(text: str) -> str:
    r"""Text as a DOT string that shows exactly that text, whatever it holds.

    Backslashes are doubled (DOT gives ``\N``, ``\l`` ... a meaning), ampersands written as
    entities (DOT reads entities), line ends as ``\n``.

    >>> quoted('say "hi" & \\N')
    '"say \\"hi\\" &amp; \\\\N"'
    """
    safe = text.translate(_DROPPED).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + safe.replace("&", "&amp;").replace("\n", "\\n") + '"'


class _Writer:
    def __init__(self, display: Display, zoom: int) -> None:
        self.display = display
        self.zoom = zoom
        self.out: list[str] = []
        self.low = round(display.height * 100)
        self.texts: dict[str, list[Lettering]] = {}
        for item in display.items:
            if item.id:
                self.texts.setdefault(item.id, []).extend(item.texts)

    def length(self, points: float) -> str:
        """A length in points, times zoom, on the grid of hundredths."""
        return decimal(round(points * 100) * self.zoom / 100, 3)

    def xy(self, x: float, y: float) -> str:
        return self._at(round(x * 100), round(y * 100))

    def center(self, rect: Rect) -> str:
        """The middle of a rectangle whose borders are on the grid."""
        left, right = round(rect.left * 100), round(rect.right * 100)
        top, bottom = round(rect.top * 100), round(rect.bottom * 100)
        return self._at((left + right) / 2, (top + bottom) / 2)

    def _at(self, x: float, y: float) -> str:
        """A place in hundredths; Graphviz counts y from the lower border."""
        return f"{decimal(x * self.zoom / 100, 3)},{decimal((self.low - y) * self.zoom / 100, 3)}"

    def inches(self, low: float, high: float) -> str:
        hundredths = round(high * 100) - round(low * 100)
        return decimal(hundredths * self.zoom / 7200, 7)

    def line(self, depth: int, text: str) -> None:
        self.out.append("  " * depth + text)

    def attributes(self, items: Iterable[tuple[str, str]]) -> str:
        return ", ".join(f"{key}={value}" for key, value in items)

    def said(self, owner: str, *kinds: str) -> str:
        """The labels of these kinds of a box or line."""
        labels = [text.label for text in self.texts.get(owner, ())]
        return "\n".join(plain(label.markup) for label in labels if label and label.kind in kinds)


def to_dot(display: Display, *, zoom: int = 1) -> str:
    """The figure as DOT text for ``neato -n2``.

    ``zoom`` 1 is the file to edit and keep: its lines end at the back of a head that Graphviz
    adds. Enlarged, they run on to the notch of the head, which is not Graphviz's to draw.
    """
    w = _Writer(display, zoom)
    ground = next((item.shapes[0].ink.fill for item in display.items if item.kind == "ground"), "")
    w.line(0, f"// {_comment(display.title or display.id)}: places are pinned, "
              "draw it with neato -n2")  # fmt: skip
    w.line(0, f"digraph {quoted(display.id)} {{")
    width, height = w.length(display.width), w.length(display.height)
    w.line(
        1,
        f'graph [bb="0,0,{width},{height}", pad=0, margin=0, notranslate=true, splines=true, '
        f'outputorder=edgesfirst, bgcolor="{ground or "transparent"}", fontname="Fira Sans"];',
    )
    w.line(1, 'node [fixedsize=true, fontname="Fira Sans"];')
    w.line(1, "edge [arrowhead=vee];")
    # Two unseen corners keep the canvas as large as the figure, whatever is moved by hand.
    for name, x, y in (("_low", 0.0, display.height), ("_high", display.width, 0.0)):
        w.line(1, f'"{name}" [label="", shape=point, style=invis, width=0, pos="{w.xy(x, y)}!"];')
    frames = {item.id for item in display.items if item.kind == "frame"}
    nodes = {item.id for item in display.items if item.kind in ("box", "circle", "text")}
    inside: dict[str, list[Item]] = {}
    for item in display.items:
        if item.rect:
            inside.setdefault(item.parent if item.parent in frames else "", []).append(item)
    _container(w, "", inside, 1)
    _free_labels(w)
    for item in display.items:
        if item.kind == "dot":
            _dot(w, item)
        elif item.kind == "line":
            _edge(w, item, nodes)
    w.line(0, "}")
    return "\n".join(w.out) + "\n"


def _comment(text: str) -> str:
    return " ".join(text.translate(_DROPPED).split())


def _container(w: _Writer, parent: str, inside: dict[str, list[Item]], depth: int) -> None:
    """The boxes of one frame; a frame in it is a cluster in the cluster."""
    for item in inside.get(parent, ()):
        if item.kind != "frame":
            _node(w, item, depth)
            continue
        rect, ink = item.rect, item.shapes[item.own].ink
        assert rect is not None
        w.line(depth, f"subgraph {quoted('cluster_' + item.id)} {{")
        title = next((t for t in w.texts[item.id] if t.label and t.label.kind == "title"), None)
        items = [
            ("id", f'"{item.name}"'),
            ("bb", f'"{w.xy(rect.left, rect.bottom)},{w.xy(rect.right, rect.top)}"'),
            *_look(w, ink, "rounded", "filled"),
            ("label", quoted(w.said(item.id, "title"))),
        ]
        if title and title.label:
            r = title.label.rect
            items.append(("lp", f'"{w.xy(r.center_x, r.center_y)}"'))
            items += _font(w, title)
        w.line(depth + 1, f"graph [{w.attributes(items)}];")
        _container(w, item.id, inside, depth + 1)
        w.line(depth, "}")


def _look(w: _Writer, ink: Ink, *styles: str) -> list[tuple[str, str]]:
    dashed = ("dotted" if ink.cap == "round" else "dashed",) if ink.dash else ()
    return [
        ("style", f'"{",".join((*dashed, *styles))}"'),
        ("fillcolor", f'"{ink.fill or "transparent"}"'),
        ("color", f'"{ink.stroke}"'),
        ("penwidth", w.length(ink.width)),
    ]


def _font(w: _Writer, text: Lettering) -> list[tuple[str, str]]:
    return [
        ("fontsize", w.length(text.size)),
        ("fontcolor", f'"{text.outlines[0].ink.fill}"'),
    ]


def _node(w: _Writer, item: Item, depth: int) -> None:
    rect = item.rect
    assert rect is not None
    said = w.said(item.id, "block", "io") or item.said
    items = [
        ("id", f'"{item.name}"'),
        ("label", quoted(item.symbol if item.kind == "circle" else said)),
        ("pos", f'"{w.center(rect)}!"'),
        ("width", w.inches(rect.left, rect.right)),
        ("height", w.inches(rect.top, rect.bottom)),
    ]
    if item.kind == "text":
        items += _LOOSE
    else:
        styles = ("filled",) if item.kind == "circle" else ("rounded", "filled")
        items.append(("shape", "circle" if item.kind == "circle" else "box"))
        items += _look(w, item.shapes[item.own].ink, *styles)
    if item.texts:
        items += _font(w, item.texts[0])
    w.line(depth, f"{quoted(item.id)} [{w.attributes(items)}];")


def _free_labels(w: _Writer) -> None:
    """Labels that are no box's own text (shapes beside arrows, badges): plain text nodes."""
    texts = [(text, text.label) for item in w.display.items for text in item.texts]
    for index, (text, label) in enumerate(texts):
        if label is None or (label.kind in ("block", "io", "title") and label.owner):
            continue
        said = quoted(plain(label.markup))
        if label.kind in ("shape", "edge"):
            said = said[:-1] + '\\l"'  # beside its arrow, whatever font the viewer has
        items = [
            ("label", said),
            *_LOOSE,
            ("pos", f'"{w.center(label.rect)}!"'),
            ("width", w.inches(label.rect.left, label.rect.right)),
            ("height", w.inches(label.rect.top, label.rect.bottom)),
            *_font(w, text),
        ]
        w.line(1, f'"_label{index}" [{w.attributes(items)}];')


def _dot(w: _Writer, item: Item) -> None:
    """The junction of a fan-out."""
    disc = item.shapes[0]
    assert isinstance(disc, Disc)
    size, (x, y) = w.inches(0.0, 2 * disc.radius), disc.center
    w.line(
        1,
        f'"_{item.name}" [id="{item.name}", label="", shape=circle, style=filled, '
        f'fillcolor="{disc.ink.fill}", color="{disc.ink.fill}", width={size}, height={size}, '
        f'pos="{w.xy(x, y)}!"];',
    )


def _edge(w: _Writer, item: Item, nodes: set[str]) -> None:
    curve = item.shapes[item.own]
    assert isinstance(curve, Curve)
    pieces, head = curve.pieces, bool(item.arrow) and w.zoom == 1
    if head:
        pieces = _to_base(curve, item)
    points = [curve.start, *(point for piece in pieces for point in piece)]
    spline = " ".join(w.xy(*point) for point in points)
    if head:
        spline = f"e,{w.xy(*item.tip)} {spline}"
    ends = []
    for end, (x, y), which in ((item.tail, curve.start, "tail"), (item.head, item.tip, "head")):
        if end in nodes:
            ends.append(quoted(end))
            continue
        # A line that begins or ends on a frame's border has no node there: an unseen point.
        name = f'"_{which}_{item.name}"'
        w.line(1, f'{name} [label="", shape=point, style=invis, width=0, pos="{w.xy(x, y)}!"];')
        ends.append(name)
    ink = curve.ink
    style = ("dotted" if ink.cap == "round" else "dashed") if ink.dash else "solid"
    items = [
        ("id", f'"{item.name}"'),
        ("pos", f'"{spline}"'),
        ("dir", "forward" if head else "none"),
        ("color", f'"{ink.stroke}"'),
        ("penwidth", w.length(ink.width)),
    ]
    if head:
        items.append(("arrowsize", decimal(item.arrow / 10, 3)))
    if style != "solid":
        items.append(("style", style))
    w.line(1, f"{ends[0]} -> {ends[1]} [{w.attributes(items)}];")


def _to_base(curve: Curve, item: Item) -> tuple[Cubic, ...]:
    """The line as far as the back of its head."""
    before = curve.pieces[-2][2] if len(curve.pieces) > 1 else curve.start
    base = moved(item.tip, direction(item.tip, before), item.arrow)
    return (*curve.pieces[:-1], straight(before, base))
