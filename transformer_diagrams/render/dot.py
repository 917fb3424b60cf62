r"""Scene -> pinned DOT: every place is in the file, Graphviz only draws it.

Boxes are nodes of fixed size with ``pos``, frames are clusters with ``bb``, lines are edges
with the Bezier points in ``pos``. ``neato -n2`` keeps all of them as they are, and the file can
be edited like any other.

Coordinates are whole hundredths of a point. ``zoom`` multiplies every length: old releases of
Graphviz round a node's size to whole points, which at zoom 100 rounds nothing away.
"""

from __future__ import annotations

from collections.abc import Iterable

from transformer_diagrams.layout.scene import Box, Label, Line, Rect, Scene
from transformer_diagrams.render.geometry import Point, direction, distinct, moved, rounded
from transformer_diagrams.text import plain
from transformer_diagrams.theme import Theme

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


def arrow_scale(line: Line) -> float:
    """How much larger than the theme's the head of a line is: heavy lines have larger ones."""
    return 1.12 if line.kind == "residual" else 1.0


def arrow_base(line: Line, theme: Theme) -> tuple[list[Point], float]:
    """The line's points with the last one moved back to the base of its head, and the length."""
    points = distinct(line.points)
    if not line.arrow or len(points) < 2:
        return points, 0.0
    (ax, ay), (bx, by) = points[-2:]
    leg = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
    length = min(theme.sizes.arrow_length * arrow_scale(line), leg * 0.9)
    points[-1] = moved(points[-1], direction((bx, by), (ax, ay)), length)
    return points, length


class _Writer:
    def __init__(self, scene: Scene, theme: Theme, zoom: int) -> None:
        self.scene = scene
        self.theme = theme
        self.zoom = zoom
        self.out: list[str] = []
        self.depths = frame_depths(scene)

    def length(self, points: float) -> str:
        """A length in points, times zoom, on the grid of hundredths."""
        value = round(points * 100) * self.zoom / 100
        return _short(value)

    def xy(self, x: float, y: float) -> str:
        height = round(self.scene.height * 100)
        return f"{_short(round(x * 100) * self.zoom / 100)},{self._y(height - round(y * 100))}"

    def _y(self, hundredths: float) -> str:
        return _short(hundredths * self.zoom / 100)

    def center(self, rect: Rect) -> str:
        """The middle of a rectangle whose borders are on the grid."""
        left, right = round(rect.left * 100), round(rect.right * 100)
        top, bottom = round(rect.top * 100), round(rect.bottom * 100)
        height = round(self.scene.height * 100)
        x = (left + right) / 2 * self.zoom / 100
        return f"{_short(x)},{self._y(height - (top + bottom) / 2)}"

    def inches(self, low: float, high: float) -> str:
        hundredths = round(high * 100) - round(low * 100)
        return _short(hundredths * self.zoom / 7200, 7)

    def line(self, depth: int, text: str) -> None:
        self.out.append("  " * depth + text)

    def attributes(self, items: Iterable[tuple[str, str]]) -> str:
        return ", ".join(f"{key}={value}" for key, value in items)


def _short(value: float, digits: int = 3) -> str:
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def to_dot(scene: Scene, theme: Theme, *, zoom: int = 1) -> str:
    """The scene as DOT text for ``neato -n2``; ``zoom`` 1 is the file to edit and keep."""
    w = _Writer(scene, theme, zoom)
    words = _words(scene)
    box_style = [
        ("fixedsize", "true"),
        ("penwidth", w.length(theme.sizes.stroke_box)),
        ("fontname", '"Fira Sans"'),
        ("fontsize", w.length(theme.sizes.font_block)),
    ]
    line_style = [
        ("penwidth", w.length(theme.sizes.stroke_data)),
        ("arrowhead", "vee"),
        ("arrowsize", _short(theme.sizes.arrow_length * zoom / 10)),
    ]
    w.line(0, f"// {_comment(scene.title or scene.id)}: places are pinned, draw it with neato -n2")
    w.line(0, f"digraph {quoted(scene.id)} {{")
    width, height = w.length(scene.width), w.length(scene.height)
    w.line(
        1,
        f'graph [bb="0,0,{width},{height}", pad=0, margin=0, notranslate=true, splines=true, '
        f'outputorder=edgesfirst, bgcolor="{theme.background}", fontname="Fira Sans", '
        f"fontsize={w.length(theme.sizes.font_title)}];",
    )
    w.line(1, f"node [{w.attributes(box_style)}];")
    w.line(1, f"edge [{w.attributes(line_style)}];")
    # Two unseen corners keep the canvas as large as the scene, whatever is moved by hand.
    for name, x, y in (("_low", 0.0, scene.height), ("_high", scene.width, 0.0)):
        w.line(1, f'"{name}" [label="", shape=point, style=invis, width=0, pos="{w.xy(x, y)}!"];')
    frames = [box for box in scene.boxes if box.form == "frame"]
    order = {box.id: index for index, box in enumerate(scene.boxes)}
    inside: dict[str, list[Box]] = {}
    known = {box.id for box in frames}
    for box in scene.boxes:
        inside.setdefault(box.parent if box.parent in known else "", []).append(box)
    _container(w, "", inside, order, words, 1)
    nodes = {box.id for box in scene.boxes if box.form != "frame"}
    _free_labels(w)
    for index, (x, y, kind) in enumerate(scene.dots):
        size = _short(round(theme.sizes.dot_radius * 200) * zoom / 7200, 7)
        color = theme.line(kind).stroke
        w.line(
            1,
            f'"_dot{index}" [id="d{index}", label="", shape=circle, style=filled, '
            f'fillcolor="{color}", color="{color}", width={size}, height={size}, '
            f'pos="{w.xy(x, y)}!"];',
        )
    for index, line in enumerate(scene.lines):
        _edge(w, index, line, nodes, words)
    w.line(0, "}")
    return "\n".join(w.out) + "\n"


def _comment(text: str) -> str:
    return " ".join(text.translate(_DROPPED).split())


def _words(scene: Scene) -> dict[str, list[Label]]:
    """The labels of every box and line, by owner."""
    words: dict[str, list[Label]] = {}
    for label in scene.labels:
        words.setdefault(label.owner, []).append(label)
    return words


def _said(labels: Iterable[Label], *kinds: str) -> str:
    return "\n".join(plain(label.markup) for label in labels if label.kind in kinds)


def _container(
    w: _Writer,
    parent: str,
    inside: dict[str, list[Box]],
    order: dict[str, int],
    words: dict[str, list[Label]],
    depth: int,
) -> None:
    """The boxes of one frame; a frame in it is a cluster in the cluster."""
    for box in inside.get(parent, ()):
        own = words.get(box.id, [])
        if box.form != "frame":
            _node(w, order[box.id], box, own, depth)
            continue
        theme = w.theme
        rect = box.rect
        w.line(depth, f"subgraph {quoted('cluster_' + box.id)} {{")
        title = next((label for label in own if label.kind == "title"), None)
        items = [
            ("id", f'"b{order[box.id]}"'),
            ("bb", f'"{w.xy(rect.left, rect.bottom)},{w.xy(rect.right, rect.top)}"'),
            ("style", '"rounded,filled"'),
            ("fillcolor", f'"{_fill(theme.frame_fill(w.depths[box.id]))}"'),
            ("color", f'"{theme.frame_stroke}"'),
            ("label", quoted(plain(title.markup) if title else "")),
        ]
        if title:
            r = title.rect
            items.append(("lp", f'"{w.xy(r.center_x, r.center_y)}"'))
            items.append(("fontcolor", f'"{theme.text_color("title")}"'))
        w.line(depth + 1, f"graph [{w.attributes(items)}];")
        _container(w, box.id, inside, order, words, depth + 1)
        w.line(depth, "}")


def frame_depths(scene: Scene) -> dict[str, int]:
    """How many frames are around each frame, by its id."""
    parents = {box.id: box.parent for box in scene.boxes if box.form == "frame"}
    depths: dict[str, int] = {}
    for name in parents:
        chain: list[str] = []
        at = name
        while at in parents and at not in depths and len(chain) <= len(parents):
            chain.append(at)
            at = parents[at]
        depth = depths.get(at, -1)
        for inner in reversed(chain):
            depth += 1
            depths[inner] = depth
    return depths


def _fill(color: str) -> str:
    return "transparent" if color == "none" else color


def _node(w: _Writer, index: int, box: Box, own: list[Label], depth: int) -> None:
    style = w.theme.role(box.role)
    said = _said(own, "block", "io") or ("" if box.form == "circle" else box.title)
    items = [
        ("id", f'"b{index}"'),
        ("label", quoted(box.symbol if box.form == "circle" else said)),
        ("pos", f'"{w.center(box.rect)}!"'),
        ("width", w.inches(box.rect.left, box.rect.right)),
        ("height", w.inches(box.rect.top, box.rect.bottom)),
    ]
    if box.form == "text":
        items += [*_LOOSE, ("fontcolor", f'"{w.theme.text_color("io")}"')]
    else:
        dashed = "dashed," if box.line == "dashed" or style.dash else ""
        kind = "circle" if box.form == "circle" else "box"
        look = f"{dashed}filled" if kind == "circle" else f"rounded,{dashed}filled"
        items += [
            ("shape", kind),
            ("style", f'"{look}"'),
            ("fillcolor", f'"{_fill(style.fill)}"'),
            ("color", f'"{style.stroke}"'),
            ("fontcolor", f'"{style.text}"'),
        ]
    w.line(depth, f"{quoted(box.id)} [{w.attributes(items)}];")


def _free_labels(w: _Writer) -> None:
    """Labels that are no box's own text (shapes beside arrows, badges): plain text nodes."""
    for index, label in enumerate(w.scene.labels):
        if label.kind in ("block", "io", "title") and label.owner:
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
            ("fontsize", w.length(label.size)),
            ("fontcolor", f'"{w.theme.text_color(label.kind, label.role)}"'),
        ]
        w.line(1, f'"_label{index}" [{w.attributes(items)}];')


def _edge(
    w: _Writer, index: int, line: Line, nodes: set[str], words: dict[str, list[Label]]
) -> None:
    points, length = arrow_base(line, w.theme)
    start, pieces = rounded(points, line.corner or w.theme.sizes.line_corner)
    spline = " ".join([w.xy(*start), *(w.xy(*point) for piece in pieces for point in piece)])
    if length:
        spline = f"e,{w.xy(*line.points[-1])} {spline}"
    ends = []
    for end, (x, y), which in ((line.tail, start, "tail"), (line.head, line.points[-1], "head")):
        if end in nodes:
            ends.append(quoted(end))
            continue
        # A line that begins or ends on a frame's border has no node there: an unseen point.
        name = f'"_{which}{index}"'
        w.line(1, f'{name} [label="", shape=point, style=invis, width=0, pos="{w.xy(x, y)}!"];')
        ends.append(name)
    style = w.theme.line(line.kind)
    items = [
        ("id", f'"l{index}"'),
        ("pos", f'"{spline}"'),
        ("dir", "forward" if length else "none"),
        ("color", f'"{style.stroke}"'),
    ]
    if line.kind != "data":
        items.append(("penwidth", w.length(w.theme.line_width(line.kind))))
    if style.dash or line.when == "train" or line.mark == "ema":
        items.append(("style", "dashed"))
    elif line.when == "infer":
        items.append(("style", "dotted"))
    w.line(1, f"{ends[0]} -> {ends[1]} [{w.attributes(items)}];")
