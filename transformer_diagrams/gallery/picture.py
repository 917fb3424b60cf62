"""The figure on a page: one inline SVG for light and dark, whose blocks tell what they are.

It is written from the displays of one scene in two themes. Every shape keeps the colours of the
light one, so the figure is whole without a style sheet and in print; classes change them where a
page is dark. What depends on the site, the links of its blocks, is put in when the page is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from transformer_diagrams.render.display import Display, Ink, Item
from transformer_diagrams.render.svg import Writer, names_of, opening

if TYPE_CHECKING:
    from transformer_diagrams.api import Model

Picture = dict[str, Any]
"""Plain data, for the store: ``width`` and ``height`` in points, the SVG's ``head``, its ``items``
(path, used spec and id of a block, or three empty texts; the step at which it is shown; the SVG
text), and the pairs of
``colors``."""

Pair = tuple[str, str, str]  # property, colour in light, colour in dark


def of_model(model: Model) -> Picture:
    """The picture of a model, drawn as its spec says.

    :raises DiagramError: faults of the spec.
    """
    from transformer_diagrams import pipeline
    from transformer_diagrams.options import settle

    scene = model.scene()
    said = pipeline.steps_of(model.spec)
    by = "spec" if said else "block"
    asked = (settle({"theme": theme, "steps": by}) for theme in ("paper", "dark"))
    light, dark = (pipeline.drawing(scene, options, said) for options in asked)
    return paired(light.pages[-1], dark.pages[-1], light.shown)


def paired(light: Display, dark: Display, steps: Sequence[int] = ()) -> Picture:
    """The picture of a scene that was painted twice; ``steps`` are those of its items.

    :raises ValueError: when the displays differ in more than colours.
    """
    names = names_of(light)
    writer = _Paired(dark, names)
    items = [
        (item.path, item.use, names.get(item.id, "") if item.path else "", step, text)
        for item, step in zip(light.items, steps or [1] * len(light.items), strict=True)
        if (text := writer.item(item))
    ]
    if next(writer.dark, None) is not None:
        raise ValueError("the dark figure paints more than the light one")
    body = "".join(text for *_, text in items)
    # Links inside must be reachable: a group of parts, not one picture.
    head = opening(light, body, look='role="group" class="figure"')
    width, height = light.printed
    return {"width": width, "height": height, "head": head, "items": items,
            "colors": sorted(writer.pairs)}  # fmt: skip


class _Paired(Writer):
    """Writes a light display, with a class for each colour that is another one in the dark."""

    def __init__(self, dark: Display, names: Mapping[str, str]) -> None:
        super().__init__(names=names)
        self.dark = (shape.ink for item in dark.items for shape in item.painted)
        self.pairs: set[Pair] = set()

    def group(self, item: Item) -> tuple[str, str]:
        # A block's own group says more, and is made with the page; the page shows the words that
        # a browser's own tip would hide.
        return ("", "") if item.path else super().group(item)

    def ink(self, ink: Ink) -> str:
        dark = next(self.dark, None)
        if dark is None or replace(dark, fill=ink.fill, stroke=ink.stroke) != ink:
            raise ValueError(f"not the same in the dark: {ink}, {dark}")
        both = (("fill", ink.fill, dark.fill), ("stroke", ink.stroke, dark.stroke))
        pairs = [pair for pair in both if pair[1] != pair[2]]
        if not all(before and after for _, before, after in pairs):
            raise ValueError(f"painted in one scheme only: {ink}, {dark}")
        self.pairs.update(pairs)
        named = f' class="{" ".join(_name(*pair) for pair in pairs)}"' if pairs else ""
        return super().ink(ink) + named


def css(pairs: Iterable[Pair]) -> str:
    """The rules that turn the classes dark: by the reader's system, and by the site's switch."""

    def rules(root: str) -> str:
        return "".join(f":root{root} .{_name(*pair)}{{{pair[0]}:{pair[2]}}}" for pair in ordered)

    ordered = sorted(set(pairs))
    system, switch = rules(":not([data-theme=light])"), rules("[data-theme=dark]")
    return f"@media screen and (prefers-color-scheme:dark){{{system}}}@media screen{{{switch}}}"


def _name(prop: str, light: str, dark: str) -> str:
    return f"{prop[0]}{light[1:]}-{dark[1:]}"


def svg(
    picture: Picture,
    blocks: Mapping[str, Mapping[str, str]],
    href: Callable[[str], str | None],
) -> str:
    """The SVG for a page: each block says what it is, and a used spec's is a link to its page.

    ``blocks`` gives, by path, what the page shows: name, what, shapes, parameters. ``href`` turns
    a spec's id into an address, or None when it has no page.
    """
    out = [picture["head"]]
    for path, use, name, step, text in picture["items"]:
        target = href(use) if use else None
        shown = _block(name, text, blocks.get(path, {}), target) if path else text
        out.append(f'<g data-step="{step}">{shown}</g>\n' if step > 1 else f"{shown}\n")
    return "".join([*out, "</svg>\n"])


def _block(name: str, text: str, facts: Mapping[str, str], target: str | None) -> str:
    data = "".join(f' data-{key}="{escape(value)}"' for key, value in facts.items() if value)
    said = escape(_said(facts, bool(target)))
    named = f' id="{name}"' + (f' aria-label="{said}"' if said else "")
    if target:
        return f'<a class="block" href="{escape(target)}"{data}{named}>{text}</a>'
    role = ' role="img"' if said else ""
    return f'<g class="block"{role}{data}{named}>{text}</g>'


def _said(facts: Mapping[str, str], link: bool) -> str:
    words = [facts.get("name", ""), facts.get("shape", "")]
    if facts.get("params"):
        words.append(f"{facts['params']} parameters")
    if link:
        words.append("opens its page")
    return "; ".join(word for word in words if word)
