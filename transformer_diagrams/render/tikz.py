"""Display list -> TikZ: a picture to edit, that stands alone and goes into a paper by \\input.

Roles are named styles at the top, coordinates are points (TeX's ``bp``) with y up, and labels
are TeX, set by the paper's own fonts. A label that is wider than its box is told when TeX runs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from transformer_diagrams.layout.scene import Rect
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
from transformer_diagrams.render.geometry import Point, decimal, radii
from transformer_diagrams.render.path_data import commands
from transformer_diagrams.text.commands import SYMBOLS
from transformer_diagrams.text.markup import parse_line

NOTCHED = 0.26
"""How deep the back of an arrow head is, in its length."""

_WITHOUT = {  # how an option of a style is taken back
    "fill": "fill=none", "draw": "draw=none", "dash pattern": "solid", "line cap": "line cap=butt",
    "rounded corners": "sharp corners", "-{Stealth[length": "-",
}  # fmt: skip
_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": "$<$", ">": "$>$", "|": "$|$", "…": r"\dots{}", "–": "--", "—": "---",
    "’": "'", "‘": "`", "“": "``", "”": "''",
}  # fmt: skip


def _listed(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Commands that labels may use and amsmath does not define, but amssymb does.
_AMSSYMB = _listed(
    "Bbb Bbbk Bumpeq Cap Cup Doteq Finv Game Lleftarrow Lsh Rrightarrow Rsh Subset Supset "
    "Vdash Vvdash approxeq backepsilon backprime backsim backsimeq barwedge because beth "
    "between bigstar blacklozenge blacksquare blacktriangle blacktriangledown bold boxdot "
    "boxminus boxplus boxtimes bumpeq centerdot checkmark circeq circlearrowleft "
    "circlearrowright circledR circledS circledast circledcirc circleddash complement "
    "curlyeqprec curlyeqsucc curlyvee curlywedge curvearrowleft curvearrowright daleth "
    "dashleftarrow dashrightarrow diagdown diagup digamma divideontimes doteqdot dotplus "
    "downdownarrows downharpoonleft downharpoonright eqcirc eqsim eqslantgtr eqslantless eth "
    "fallingdotseq frak geqq geqslant ggg gimel gnapprox gneq gneqq gnsim gtrapprox gtrdot "
    "gtreqless gtreqqless gtrless gtrsim hslash intercal leftarrowtail leftleftarrows "
    "leftrightarrows leftrightharpoons leftrightsquigarrow leftthreetimes leqq leqslant "
    "lessapprox lessdot lesseqgtr lesseqqgtr lessgtr lesssim llcorner lll lnapprox lneq lneqq "
    "lnsim looparrowleft looparrowright lozenge lrcorner ltimes maltese mathbb mathfrak "
    "measuredangle multimap nLeftarrow nLeftrightarrow nRightarrow nVDash nVdash ncong "
    "nexists ngeq ngtr nleftarrow nleftrightarrow nleq nless nmid nparallel nprec npreceq "
    "nrightarrow nsim nsubseteq nsucc nsucceq nsupseteq ntriangleleft ntrianglelefteq "
    "ntriangleright ntrianglerighteq nvDash nvdash pitchfork precapprox preccurlyeq "
    "precnapprox precnsim precsim restriction rightarrowtail rightleftarrows rightrightarrows "
    "rightsquigarrow rightthreetimes risingdotseq rtimes smallsetminus sphericalangle square "
    "subseteqq subsetneq subsetneqq succapprox succcurlyeq succnapprox succnsim succsim "
    "supseteqq supsetneq supsetneqq therefore thickapprox thicksim triangledown "
    "trianglelefteq triangleq trianglerighteq twoheadleftarrow twoheadrightarrow ulcorner "
    "upharpoonleft upharpoonright upuparrows urcorner vDash varkappa varnothing varpropto "
    "vartriangle vartriangleleft vartriangleright veebar yen "
)
# Those that neither does, in words of both.
_PROVIDED = {
    "argmax": r"\operatorname*{argmax}", "argmin": r"\operatorname*{argmin}", "lt": "<", "gt": ">",
    "coloneqq": r"\mathrel{:=}", "coloneq": r"\mathrel{:=}", "colonequals": r"\mathrel{:=}",
    "eqqcolon": r"\mathrel{=:}", "degree": r"^\circ", "omicron": "o", "bm": r"\boldsymbol",
    "llbracket": r"[\![", "rrbracket": r"]\!]", "mapsfrom": r"\leftarrow",
}  # fmt: skip

_UNKNOWN = _listed(
    "Coloneqq arctg bcancel bra braket cancel ch ctg cth dprime ket mathbbm mathbfcal "
    "mathbffrak mathbfit mathbfsf mathds mathscr mathsfit mathup oiiint oiint overbracket "
    "overparen sh sout tg underbracket underparen widecheck xLeftarrow xLeftrightarrow "
    "xRightarrow xcancel xhookleftarrow xhookrightarrow xleftharpoondown xleftharpoonup "
    "xleftrightarrow xleftrightharpoons xlongequal xmapsto xrightharpoondown xrightharpoonup "
    "xrightleftharpoons "
)

_SIGNS: dict[str, str] = {}
for _name, (_sign, _) in SYMBOLS.items():
    if _name.isalpha() and len(_sign) == 1 and ord(_sign) > 127:
        _SIGNS.setdefault(_sign, _name)

_HEAD = r"""% A figure in TikZ, for pdflatex and lualatex. In a paper: \usepackage{amsmathEXTRA}
% \usepackage{tikz} \usetikzlibrary{arrows.meta} and \input this file. Change its styles.
\expandafter\ifx\csname @classoptionslist\endcsname\relax
  \documentclass{article}
  \usepackage{amsmathEXTRA,tikz}
  \usetikzlibrary{arrows.meta}
  \ifdefined\pagewidth\else\let\pagewidth\pdfpagewidth\let\pageheight\pdfpageheight\fi
  \pagewidth=WIDEbp \pageheight=HIGHbp \hoffset=-1in \voffset=-1in
  \paperwidth=\pagewidth \paperheight=\pageheight
  \begin{document}\normalsize
  \def\tdfigure#1\tdend{\setbox0\hbox{#1}\shipout\box0 \end{document}}
\else
  \def\tdfigure#1\tdend{#1}
\fi
\makeatletter
% \tdlabel{most width in bp}{size in pt}{text}
\def\tdlabel#1#2#3{\setbox0\hbox{#3}\dimen0=#2\wd0 \dimen2=#1bp \dimen2=\f@size\dimen2
  \ifdim\dimen0>\dimen2 \PackageWarning{transformer-diagrams}{a label is wider than its box of
    #1bp: \detokenize{#3}}\fi #3}
\tikzset{td size/.code={\pgfmathparse{1.00375*#1/\f@size}\tikzset{scale/.expanded=\pgfmathresult}}}
\makeatother
"""


def to_tikz(display: Display) -> str:
    """The text of a ``.tex`` file."""
    return _Writer(display).file()


def lost(display: Display) -> list[str]:
    """Letters and commands that plain LaTeX does not set."""
    pieces = [
        piece
        for item in display.items
        for text in item.texts
        if text.label
        for piece in parse_line(text.label.markup)
    ]
    formulas = " ".join(piece.content for piece in pieces if piece.kind == "math")
    symbols = [rf"\{name}" for name in _used(formulas) if name in _AMSSYMB]
    unknown = [rf"\{name}" for name in _used(formulas) if name in _UNKNOWN]
    letters = {
        char for piece in pieces for char in piece.content
        if ord(char) > 0x17F and char not in _SIGNS and char not in _ESCAPED
    }  # fmt: skip
    out = []
    if symbols:
        out.append(f"{', '.join(symbols)} without the package amssymb, which the file now loads")
    if unknown:
        out.append(f"{', '.join(unknown)}, which no package of LaTeX's base and AMS defines")
    if letters:
        out.append(f"letters that the paper's font may lack: {' '.join(sorted(letters))}")
    return out


def beyond(name: str) -> bool:
    """Whether amsmath does not define a command that labels may use."""
    return name in _AMSSYMB or name in _PROVIDED or name in _UNKNOWN


def _used(tex: str) -> list[str]:
    return sorted(set(re.findall(r"\\([A-Za-z]+)", tex)))


def tex(markup: str) -> str:
    r"""One line of a label as LaTeX.

    >>> tex("100% of $W_Q$ → x")
    '100\\% of $W_Q$ $\\to$ x'
    """
    out = []
    for piece in parse_line(markup):
        if piece.kind == "math":
            signs = (rf"\{_SIGNS[char]} " if char in _SIGNS else char for char in piece.content)
            out.append(f"${''.join(signs)}$")
        else:
            out += [
                _ESCAPED.get(char) or (rf"$\{_SIGNS[char]}$" if char in _SIGNS else char)
                for char in piece.content
            ]
    return "".join(out)


class _Writer:
    """Writes one figure."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self.unit = display.unit
        self.names = display.names
        self.colors: dict[str, None] = {}
        self.styles: dict[str, list[str]] = {}  # options that most of a role have

    def file(self) -> str:
        drawn: list[tuple[str, list[str], str]] = []
        for item in self.display.items:
            drawn += self.item(item)
        usual: dict[str, list[str]] = {}
        for style in sorted({style for style, _, _ in drawn if style}):
            found = Counter(tuple(options) for name, options, _ in drawn if name == style)
            usual[style] = list(found.most_common(1)[0][0])
        body = []
        for style, options, text in drawn:
            own = [option for option in options if option not in usual.get(style, ())]
            # What most have and this one has not must be said too.
            names = {option.split("=")[0] for option in options}
            own += [
                _WITHOUT[name]
                for option in usual.get(style, ())
                if (name := option.split("=")[0]) not in names and name in _WITHOUT
            ]
            said = ", ".join([f"td {style}"] * bool(style) + own)
            body.append(text.replace("<>", said, 1).replace(", ]", "]", 1))
        wide, high = (self.length(v) for v in (self.display.width, self.display.height))
        markup = " ".join(t.label.markup for i in self.display.items for t in i.texts if t.label)
        symbols = any(name in _AMSSYMB for name in _used("".join(map(tex, markup.split("\n")))))
        extra = ",amssymb" if symbols else ""
        head = _HEAD.replace("EXTRA", extra).replace("WIDE", wide).replace("HIGH", high)
        lines = [head.rstrip()]
        lines += [
            rf"\providecommand\{name}{{{_PROVIDED[name]}}}"
            for name in _used(markup) if name in _PROVIDED
        ]  # fmt: skip
        lines += [
            rf"\definecolor{{td{c[1:].upper()}}}{{HTML}}{{{c[1:].upper()}}}" for c in self.colors
        ]
        lines += [r"\tikzset{", "  td node/.style={inner sep=0pt, outer sep=0pt},"]
        lines += [f"  td {style}/.style={{{', '.join(o)}}}," for style, o in usual.items()]
        lines += [
            "}", r"\tdfigure", r"\begin{tikzpicture}[x=1bp, y=1bp]",
            rf"\path[use as bounding box] (0,0) rectangle ({wide},{high});",
            *body, r"\end{tikzpicture}%", r"\tdend", "",
        ]  # fmt: skip
        return "\n".join(lines)

    # Numbers

    def length(self, value: float) -> str:
        return decimal(value * self.unit, 3)

    def at(self, point: Point) -> str:
        return f"({self.length(point[0])},{self.length(self.display.height - point[1])})"

    def color(self, value: str) -> str:
        self.colors[value] = None
        return f"td{value[1:].upper()}"

    def ink(self, ink: Ink, scale: float = 1.0) -> list[str]:
        out = [f"fill={self.color(ink.fill)}"] if ink.fill else []
        if ink.fill_opacity != 1.0:
            out.append(f"fill opacity={decimal(ink.fill_opacity, 4)}")
        if not ink.stroke:
            return out
        width = self.length(ink.width * scale)
        out += [f"draw={self.color(ink.stroke)}", f"line width={width}bp"]
        if ink.dash:
            pairs = zip(ink.dash[0::2], ink.dash[1::2], strict=True)
            dashes = " ".join(
                f"on {self.length(on * scale)}bp off {self.length(off * scale)}bp"
                for on, off in pairs
            )
            out.append(f"dash pattern={dashes}")
        if ink.cap != "butt":
            out.append(f"line cap={ink.cap}")
        if ink.join != "miter":
            out.append(f"line join={ink.join}")
        return out

    # Things: a style, options, and a command with <> for both

    def item(self, item: Item) -> Iterator[tuple[str, list[str], str]]:
        shapes: Iterable[Shape] = item.shapes
        if item.kind == "line":
            yield self.line(item)
            shapes = item.shapes[1 + bool(item.arrow) :]
        for index, shape in enumerate(shapes):
            if item.kind in ("frame", "box", "circle", "strip") and index == item.own:
                yield self.box(item, shape)
            else:
                yield self.shape(shape)
        box = item.rect if item.kind == "box" else None
        for text in item.texts:
            yield from self.text(text, box)
        for shape in item.over:
            yield self.shape(shape)

    def box(self, item: Item, shape: Shape) -> tuple[str, list[str], str]:
        options = self.ink(shape.ink)
        name = self.names[item.id]
        if isinstance(shape, Disc):
            size = self.length(2 * shape.radius)
            at = self.at(shape.center)
            shape_of = f"circle, td node, minimum size={size}bp"
            return item.role, options, rf"\node[{shape_of}, <>] ({name}) at {at} {{}};"
        assert isinstance(shape, Panel)
        r = shape.rect
        look = [f"rounded corners={self.length(shape.corner)}bp"] if shape.corner else []
        size = f"minimum width={self.length(r.width)}bp, minimum height={self.length(r.height)}bp"
        at = self.at((r.center_x, r.center_y))
        return item.role, [*options, *look], rf"\node[td node, {size}, <>] ({name}) at {at} {{}};"

    def line(self, item: Item) -> tuple[str, list[str], str]:
        curve = item.shapes[0]
        options = self.ink(curve.ink)
        if item.arrow:
            head = item.shapes[1]
            assert isinstance(head, Outline)
            length = self.length(item.arrow)
            options.append(
                f"-{{Stealth[length={length}bp, width={self.length(_across(head))}bp, "
                f"inset={self.length(item.arrow * NOTCHED)}bp, line width=.1bp]}}"
            )
        points = [*item.corners[:-1], item.tip]
        usual = item.radius
        if len(points) > 2:
            options.append(f"rounded corners={self.length(usual)}bp")
        out, now = [self.at(points[0])], usual
        for point, radius in zip(points[1:-1], radii(item.corners, usual), strict=True):
            if abs(radius - now) > 1e-3:
                out.append(f"{{[rounded corners={self.length(radius)}bp] -- {self.at(point)}}}")
            else:
                out.append(f"-- {self.at(point)}")
        out.append(f"-- {self.at(points[-1])}")
        return item.role, options, rf"\path[<>] {' '.join(out)};"

    def shape(self, shape: Shape) -> tuple[str, list[str], str]:
        if isinstance(shape, Panel):
            r = shape.rect
            corner = [f"rounded corners={self.length(shape.corner)}bp"] if shape.corner else []
            ends = f"{self.at((r.left, r.bottom))} rectangle {self.at((r.right, r.top))}"
            return "", [*self.ink(shape.ink), *corner], rf"\path[<>] {ends};"
        if isinstance(shape, Disc):
            circle = f"{self.at(shape.center)} circle[radius={self.length(shape.radius)}bp]"
            return "", self.ink(shape.ink), rf"\path[<>] {circle};"
        if isinstance(shape, Curve):
            out = self.at(shape.start)
            for a, b, c in shape.pieces:
                out += f" .. controls {self.at(a)} and {self.at(b)} .. {self.at(c)}"
            return "", self.ink(shape.ink), rf"\path[<>] {out};"
        return "", self.ink(shape.ink, shape.scale), rf"\path[<>] {self.outline(shape)};"

    def outline(self, shape: Outline) -> str:
        (x, y), k = shape.at, shape.scale
        out = []
        for letter, n in commands(shape.data):
            p = [self.at((x + a * k, y + b * k)) for a, b in zip(n[0::2], n[1::2], strict=True)]
            if letter == "C":
                out.append(f".. controls {p[0]} and {p[1]} .. {p[2]}")
            else:
                out.append({"M": "", "L": "-- ", "Z": "-- cycle"}[letter] + "".join(p))
        return " ".join(out)

    def text(self, text: Lettering, box: Rect | None) -> Iterator[tuple[str, list[str], str]]:
        label = text.label
        if label is None:
            return
        size = self.length(label.size)
        options = [
            f"text={self.color(text.outlines[0].ink.fill)}", f"td size={size}"
        ]  # fmt: skip
        lines = [line for line in label.markup.split("\n") if line.strip()]
        for line, words in zip(lines, text.words, strict=False):
            side = {"left": 0.0, "middle": 0.5, "right": 1.0}[label.align]
            if len(lines) == 1 and label.kind in ("shape", "title"):
                side = 0.0
            anchor = {0.0: "base west", 0.5: "base", 1.0: "base east"}[side]
            said = tex(line)
            if label.weight == "bold":
                said = rf"\bfseries {said}"
            if box:
                said = rf"\tdlabel{{{self.length(box.width)}}}{{{size}}}{{{said}}}"
            at = self.at((words.x + side * words.width, words.y))
            yield (
                f"{label.kind} text",
                options,
                rf"\node[td node, anchor={anchor}, <>] at {at} {{{said}}};",
            )


def _across(head: Outline) -> float:
    """The width of an arrow head: between the outer corners of its back."""
    points = [n for letter, n in commands(head.data) if letter in "ML"]
    (ax, ay), (bx, by) = points[1][:2], points[3][:2]
    return abs(ax - bx) + abs(ay - by)
