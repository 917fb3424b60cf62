"""Display list -> Mermaid: the structure alone, for pages that draw no other figure."""

from __future__ import annotations

from collections.abc import Iterator

from transformer_diagrams.render.display import Display, Item
from transformer_diagrams.render.geometry import number
from transformer_diagrams.text import plain

HEAVY = 1.5  # points of an outline that is more than a frame's own
WAYS = {"up": "BT", "down": "TB", "right": "LR"}
_TAKEN = frozenset(
    ("end", "graph", "flowchart", "subgraph", "style", "class", "click", "default", "direction")
)
_ESCAPED = {'"': "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "`": "#96;", "\\": "#92;"}


def to_mermaid(display: Display, direction: str = "up") -> str:
    """The text of a flowchart; ``direction`` is the figure's."""
    names = {
        box: f"{name}_" if name.lower() in _TAKEN else name for box, name in display.names.items()
    }
    inside: dict[str, list[Item]] = {}
    titles: dict[str, str] = {}
    frames = {item.id for item in display.items if item.kind == "frame"}
    for item in display.items:
        if item.rect:
            inside.setdefault(item.parent if item.parent in frames else "", []).append(item)
        elif item.kind == "label" and item.id in frames:
            said = " ".join(plain(text.label.markup) for text in item.texts if text.label)
            titles[item.id] = f"{titles[item.id]} · {said}" if item.id in titles else said

    looks: dict[str, str] = {}
    classes: dict[str, str] = {}
    for item in display.items:
        if item.kind != "frame" and item.rect and (item.shapes or item.kind == "text"):
            look, name = _look(item), "io" if item.kind == "text" else item.role
            while looks.setdefault(name, look) != look:  # a highlighted box of the role
                name += "x"
            classes[item.id] = name

    def block(parent: str, indent: str) -> Iterator[str]:
        for item in inside.get(parent, ()):
            name = names[item.id]
            if item.kind == "frame":
                title = titles.get(item.id) or item.said or " "
                yield f'{indent}subgraph {name}["{_text(title)}"]'
                yield from block(item.id, indent + "  ")
                yield f"{indent}end"
            else:
                yield f"{indent}{name}{_node(item)}:::{classes[item.id]}"

    lines = [f"flowchart {WAYS[direction]}", *block("", "  ")]
    for item in display.items:
        if item.kind == "line" and item.tail in names and item.head in names:
            dashed, heavy = bool(item.shapes[0].ink.dash), item.role == "residual"
            arrow = ("-.->" if dashed else "==>" if heavy else "-->") if item.arrow else "-.-"
            lines.append(f"  {names[item.tail]} {arrow} {names[item.head]}")
    for item in display.items:
        if item.kind == "frame":
            ink = item.shapes[item.own].ink
            width = f",stroke-width:{number(ink.width, 1)}px" if ink.width > HEAVY else ""
            lines += [f"  style {names[item.id]} stroke:{ink.stroke}{width}"] if width else []
    lines += [f"  classDef {role} {look}" for role, look in sorted(looks.items())]
    return "\n".join(lines) + "\n"


def lost(display: Display) -> list[str]:
    """What a flowchart has no words for."""
    out = ["the places of boxes and lines"]
    kinds = {text.label.kind for i in display.items for text in i.texts if text.label}
    if kinds & {"shape", "edge"}:
        out.append("shapes and words beside arrows")
    if kinds & {"note", "header", "mark"}:
        out.append("notes and what stands beside the figure")
    if any("$" in t.label.markup for i in display.items for t in i.texts if t.label):
        out.append("formulas, which are written as text")
    return out


def _node(item: Item) -> str:
    said = " ".join(plain(t.label.markup) for t in item.texts if t.label) or item.said
    if item.kind == "circle":
        return f'(("{_text(item.symbol or said)}"))'
    if item.kind == "text":
        return f'(["{_text(said)}"])'
    return f'["{_text(said or item.path)}"]'


def _look(item: Item) -> str:
    if item.kind == "text":
        return "fill:none,stroke:none"
    ink = item.shapes[item.own].ink
    text = next((t.outlines[0].ink.fill for t in item.texts), ink.stroke)
    return f"fill:{ink.fill or 'none'},stroke:{ink.stroke},color:{text}"


def _text(words: str) -> str:
    return "".join(_ESCAPED.get(char, char) for char in words)
