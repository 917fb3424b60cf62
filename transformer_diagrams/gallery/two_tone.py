"""One inline SVG for light and dark: the light figure, whose colours carry classes for the dark.

Every shape keeps its own colour attributes, so the figure is whole without a style sheet and in
print; the classes only change them where a page is dark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape, unescape

_TAG = re.compile(r"<[^>]*>|[^<]+")
_COLOR = re.compile(r' (fill|stroke)="(#[0-9a-fA-F]{3,8})"')
_OPENING = re.compile(r'<g data-path="([^"]*)"(?: data-use="([^"]*)")?>')
_SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')

Pair = tuple[str, str, str]  # property, colour in light, colour in dark


class Unlike(ValueError):
    """Two figures differ in more than colours."""


def merged(light: str, dark: str) -> tuple[str, set[Pair]]:
    """The light SVG with classes, and the pairs of colours that :func:`css` must know.

    :raises Unlike: when the figures differ in more than colours and ids.
    """
    pairs: set[Pair] = set()
    out: list[str] = []
    left, right = _TAG.findall(light), _TAG.findall(dark)
    if len(left) != len(right):
        raise Unlike("not the same elements")
    for a, b in zip(left, right, strict=True):
        if not a.startswith("<") or a.startswith(("</", "<svg", "<title", "<desc")):
            out.append(a)
            continue
        own, other = _COLOR.findall(a), _COLOR.findall(b)
        if _COLOR.sub("", a) != _COLOR.sub("", b) or len(own) != len(other):
            raise Unlike(f"{a} and {b}")
        names = []
        for (prop, before), (_, after) in zip(own, other, strict=True):
            if before != after:
                pairs.add((prop, before, after))
                names.append(_name(prop, before, after))
        if names:
            cut = 2 if a.endswith("/>") else 1
            a = f'{a[:-cut]} class="{" ".join(names)}"{a[-cut:]}'
        out.append(a)
    return "".join(out), pairs


def css(pairs: Iterable[Pair]) -> str:
    """The rules that turn the classes dark: by the reader's system, and by the site's switch."""
    ordered = sorted(set(pairs))
    system = "".join(
        f":root:not([data-theme=light]) .{_name(*pair)}{{{pair[0]}:{pair[2]}}}" for pair in ordered
    )
    switch = "".join(
        f":root[data-theme=dark] .{_name(*pair)}{{{pair[0]}:{pair[2]}}}" for pair in ordered
    )
    return f"@media screen and (prefers-color-scheme:dark){{{system}}}@media screen{{{switch}}}"


def _name(prop: str, light: str, dark: str) -> str:
    return f"{prop[0]}{light[1:]}-{dark[1:]}"


def size(svg: str) -> tuple[float, float]:
    """Width and height in points."""
    found = _SIZE.search(svg)
    assert found is not None  # every figure of ours states them
    return float(found[1]), float(found[2])


def explained(
    svg: str,
    blocks: Mapping[str, Mapping[str, str]],
    href: Callable[[str], str | None],
) -> str:
    """The SVG for a page: each block says what it is, and a used spec's is a link to its page.

    ``blocks`` gives, by path, what the page shows: name, what, shapes, parameters. ``href`` turns
    a spec's id into an address, or None when it has no page.
    """
    out: list[str] = []
    closers: list[str] = []  # what each open <g> of a block is closed with
    skip = False
    for part in _TAG.findall(svg):
        if part.startswith("<svg"):
            # Links inside must be reachable: a group of parts, not one picture.
            part = part.replace('role="img"', 'role="group" class="figure"')
        elif part.startswith("<g"):
            found = _OPENING.match(part)
            if found is None:
                closers.append("</g>")
            else:
                path, use = unescape(found[1]), unescape(found[2] or "")
                facts = blocks.get(path, {})
                target = href(use) if use else None
                data = "".join(
                    f' data-{key}="{escape(value)}"' for key, value in facts.items() if value
                )
                said = escape(_said(facts, bool(target)))
                named = f' aria-label="{said}"' if said else ""
                if target:
                    part = f'<a class="block" href="{escape(target)}"{data}{named}>'
                    closers.append("</a>")
                else:
                    role = ' role="img"' if said else ""
                    part = f'<g class="block"{role}{data}{named}>'
                    closers.append("</g>")
                out.append(part)
                skip = True
                continue
        elif part == "</g>":
            part = closers.pop()
        elif skip and part.startswith("<title"):
            # The page shows the same words itself; a browser's own tip would hide them.
            skip = False
            out.append("\0")
            continue
        if out and out[-1] == "\0":
            if part.startswith("</title"):
                out.pop()
            continue
        if part.startswith("<") and not part.startswith("<title"):
            skip = False
        out.append(part)
    return "".join(out)


def _said(facts: Mapping[str, str], link: bool) -> str:
    words = [facts.get("name", ""), facts.get("shape", "")]
    if facts.get("params"):
        words.append(f"{facts['params']} parameters")
    if link:
        words.append("opens its page")
    return "; ".join(word for word in words if word)
