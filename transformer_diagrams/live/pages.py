"""Self-contained HTML: any number of figures, one runtime, fonts and data inside.

The default state is in the page as drawn SVG, so it is there without scripting, in print and for
search engines. A strict content policy names style and script by their hashes; nothing is loaded.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_diagrams.errors import did_you_mean
from transformer_diagrams.live import draw, words
from transformer_diagrams.live.evaluate import needed
from transformer_diagrams.live.glyphs import ALWAYS, font_css
from transformer_diagrams.live.numbers import coordinate
from transformer_diagrams.live.palette import palette
from transformer_diagrams.live.sketch import Choice, Mark, Points, Ramp
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import Array
from transformer_diagrams.options import ask_error

if TYPE_CHECKING:
    from transformer_diagrams.live.model import Figure

SCHEMES = ("auto", "light", "dark")
_LOOKED_AT = 90  # states whose summaries are measured, to reserve room for the longest


def page(
    figures: Sequence[Figure],
    *,
    title: str = "",
    intro: str = "",
    theme: str = "auto",
    states: Mapping[str, Mapping[str, float]] | None = None,
) -> str:
    """One HTML file with live figures. ``states`` gives, by id, what a figure begins with.

    ``theme`` is auto (as the reader's system), light or dark.

    :raises AskError: for another one, for no figure at all, or the same figure twice.
    """
    if not figures:
        raise ask_error("a page needs a figure", "name one; `live list` shows all")
    ids = [f.id for f in figures]
    for name in ids:
        if ids.count(name) > 1:
            raise ask_error(f"figure '{name}' is on the page twice", code="duplicate-figure")
    heading = title or (draw.said(figures[0].title) if len(figures) == 1 else "Live figures")
    body = "".join(fragment(f, state=(states or {}).get(f.id)) for f in figures)
    h1 = f"<h1>{escape(heading)}</h1>" if len(figures) > 1 or title else ""
    lead = f'<p class="intro">{escape(intro)}</p>' if intro else ""
    inside = f"<main>{h1}{lead}{NOTE}{body}</main>"
    return shell(heading, inside, theme=theme)


NOTE = (
    '<noscript><p class="intro">Moving the sliders needs scripting, which is off: each figure '
    "shows its default state.</p></noscript>"
)
NO_SCRIPT_CSS = ".controls,.actions,.numbers{display:none!important}"


def shell(title: str, body: str, *, theme: str = "auto") -> str:
    """A whole page around figures' fragments."""
    css = styles(body, theme=theme)
    script = runtime()
    common = data_block(common_data(), ' id="lv-common"')
    policy = (
        f"default-src 'none'; script-src {digest(script)}; "
        f"style-src {digest(css)} {digest(NO_SCRIPT_CSS)}; font-src data:; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="data:,">'
        f"<style>{css}</style><noscript><style>{NO_SCRIPT_CSS}</style></noscript></head>\n"
        f"<body>{body}\n{common}<script>{script}</script></body></html>\n"
    )


def digest(text: str) -> str:
    """A content policy's source for an inline style or script."""
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def styles(text: str, *, theme: str = "auto") -> str:
    """The style sheet: fonts with the characters of ``text``, colours, and the page's rules."""
    if theme not in SCHEMES:
        raise ask_error(
            f"a page cannot be '{theme}'", did_you_mean(theme, SCHEMES, what="theme"),
            code="unknown-theme",
        )  # fmt: skip
    # Markup has ASCII only, which is there anyway; everything else is something to be read.
    used = "".join(sorted({*text, *ALWAYS, "\u2212"} - {"\n"}))
    return font_css(used, used) + colors_css(theme) + _file("page.css").replace("\n", "")


def colors_css(theme: str = "auto") -> str:
    """The palette as CSS variables. Print is always light; `data-theme` on the root element wins
    over the reader's system."""
    def rules(mode: str) -> str:
        return "{" + "".join(f"--{k}:{v};" for k, v in palette(mode).items()) + "}"

    if theme != "auto":
        scheme = f":root{{color-scheme:{theme}}}"
        dark = f"@media screen{{:root{rules('dark')}}}" if theme == "dark" else ""
        return f":root{rules('light')}{dark}{scheme}"
    return (
        f":root{rules('light')}"
        "@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light])"
        f"{rules('dark')}}}@media screen{{:root[data-theme=dark]{rules('dark')}}}"
        ":root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark}"
    )


def common_data() -> dict[str, Any]:
    """What all figures of a page need to write files: light colours, typeface, foot height."""
    return {"colors": dict(palette("light")), "family": draw.FAMILY, "foot": draw.FOOT}


def data_block(data: Any, attributes: str = "") -> str:
    """Data in a page; ``<`` is written so that no text can end the block."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f'<script type="application/json"{attributes}>{text}</script>'


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


@cache
def runtime() -> str:
    """The script, without its comment lines and indentation."""
    lines = (line.strip() for line in _file("runtime.js").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


# -- one figure

def fragment(
    figure: Figure, *, key: str = "", state: Mapping[str, float] | None = None, level: int = 2
) -> str:
    """The HTML of one figure, for a page made with :func:`shell` or one's own.

    ``key`` is its element id, the figure's own by default: two copies on a page need two keys.
    ``level`` is that of its heading.
    """
    key = key or figure.id
    at = figure.state(**(state or {}))
    used = [*_traced(figure), *(o.array for o in figure.sketch.outputs.values())]
    order = needed(figure.sketch.tape.nodes, [a.index for a in used])
    number = {index: new for new, index in enumerate(order)}
    sentence = figure.summary(**at)
    sliders = "".join(_slider(s, at[s.name], f"{key}-{s.name}") for s in figure.sliders)
    picture = draw.svg(
        figure.drawing(**at), figure.size, draw.css_paint(palette("light")),
        root=f' role="img" aria-labelledby="{key}-title" aria-describedby="{key}-summary"',
        head=f'<g id="{key}-drawing">', tail="</g>",
    )  # fmt: skip
    return (
        f'<figure class="lv" id="{key}">'
        f'<h{level} id="{key}-title">{rich(figure.title)}</h{level}>'
        f'<p class="claim">{rich(figure.claim)}</p>'
        f'<form class="controls" autocomplete="off" aria-labelledby="{key}-title">{sliders}'
        '<button type="button" class="reset">Reset</button></form>'
        f'<div class="drawing">{picture}{_panels(figure, key)}</div>'
        f'<p class="summary" id="{key}-summary" aria-live="polite"><span>{escape(sentence)}</span>'
        f'<span class="room" aria-hidden="true">{escape(_longest(figure, sentence))}</span></p>'
        f'<p class="printed">{escape(figure.state_text(**at))}</p>'
        f"<figcaption>{rich(figure.caption)}</figcaption>"
        '<div class="actions"><button type="button" class="copy">Copy state</button>'
        '<button type="button" class="save">Download SVG</button>'
        '<span class="done" role="status"></span></div>'
        '<dl class="state" hidden><div><dt>Link</dt><dd><code></code></dd></div>'
        "<div><dt>Command</dt><dd><code></code></dd></div>"
        "<div><dt>Python</dt><dd><code></code></dd></div></dl>"
        '<details class="numbers"><summary>Show the numbers</summary>'
        '<div class="tables" role="region" tabindex="0" '
        f'aria-label="Numbers of {escape(draw.said(figure.title))}"></div></details>'
        f"{data_block(_data(figure, at, order, number))}</figure>"
    )


LEAST = 11 / 13
"""CSS pixels that a unit of a drawing takes at least: its smallest letters, of 13, are 11 then."""
NARROW = 358  # pixels that a phone of 390 has beside a page's margins


def _panels(figure: Figure, key: str) -> str:
    """The drawing for a narrow page: its panels one below the other, each the drawing itself seen
    through a window. One that is still too wide says that it scrolls."""
    high = coordinate(figure.size[1])
    out = []
    for left, right in figure.panels or ((0.0, figure.size[0]),):
        wide = coordinate(right - left)
        drawn = (
            f'<svg viewBox="{coordinate(left)} 0 {wide} {high}" aria-hidden="true" '
            f'width="{coordinate((right - left) * LEAST)}">'
            f'<use href="#{key}-drawing"/></svg>'
        )
        if (right - left) * LEAST <= NARROW:
            out.append(f'<div class="panel">{drawn}</div>')
        else:
            said = f'role="region" tabindex="0" aria-label="{escape(draw.said(figure.title))}"'
            more = '<p class="more">Scroll sideways for more.</p>'
            out.append(f'<div class="panel" {said}>{drawn}</div>{more}')
    return f'<div class="panels">{"".join(out)}</div>'


def rich(text: str) -> str:
    """Escaped words with ``_{..}`` and ``^{..}`` as sub- and superscripts."""
    tags = {"_": "sub", "^": "sup"}
    return "".join(
        f"<{tags[sign]}>{escape(part)}</{tags[sign]}>" if sign else escape(part)
        for part, sign in draw.runs(text)
    )


def _slider(slider: Slider, value: float, key: str) -> str:
    shown = slider.shown(value)
    if slider.step is None:
        low, high, step, at = 0.0, float(len(slider.values) - 1), 1.0, float(
            slider.values.index(value)
        )
    else:
        low, high, step, at = slider.values[0], slider.values[-1], slider.step, value
    about = f' title="{escape(slider.help)}"' if slider.help else ""
    # `for`, because an <output> inside would otherwise be what the label names. The visible value
    # is left out of the name that is read: `aria-valuetext` says it.
    return (
        f'<label class="slider" for="{key}"{about}><span class="name">{rich(slider.label)}</span>'
        f'<output aria-hidden="true">{escape(shown)}</output>'
        f'<input type="range" id="{key}" name="{slider.name}" min="{low:g}" max="{high:g}" '
        f'step="{step:g}" value="{at:g}" aria-valuetext="{escape(shown)}"></label>'
    )


def _longest(figure: Figure, sentence: str) -> str:
    """The longest summary of the states looked at: it keeps room, so that the page never jumps."""
    states = list(islice(figure.states(), 5000))
    step = max(1, len(states) // _LOOKED_AT)
    found = [sentence, *(figure.summary(**state) for state in states[::step])]
    return max(found, key=len) + "00"


def _traced(figure: Figure) -> list[Array]:
    """The arrays that marks and the summary show."""
    found = list(words.arrays(figure.sketch.summary))
    for mark in figure.sketch.marks:
        for value in mark.each.values():
            if isinstance(value, Points):
                found += [value.x, value.y]
            elif isinstance(value, (Ramp, Choice)):
                found.append(value.array)
            elif isinstance(value, Array):
                found.append(value)
        if mark.traced_text:
            found += words.arrays(mark.text)  # type: ignore[arg-type]
        if mark.place is not None:
            found += mark.place.arrays
    return found


def _data(
    figure: Figure, state: Mapping[str, float], order: Sequence[int], number: Mapping[int, int]
) -> dict[str, Any]:
    """What the runtime reads: sliders, operations, traced attributes, summary and outputs."""
    nodes = []
    for index in order:
        op, shape, ins, *args = figure.sketch.tape.nodes[index].as_json()
        nodes.append([op, shape, [number[i] for i in ins], *args])
    marks = [_mark(m, i, number) for i, m in enumerate(figure.sketch.marks)]
    return {
        "id": figure.id,
        "title": draw.said(figure.title),
        "made": figure.made,
        "options": figure.options,
        "sliders": [
            {
                "name": s.name,
                "said": draw.said(s.label),
                "values": [_whole(v) for v in s.values],
                "show": list(s.show),
                "start": s.values.index(state[s.name]),
                "home": s.index,
                "indexed": s.step is None,
            }
            for s in figure.sliders
        ],
        "nodes": nodes,
        "marks": [m for m in marks if m["attrs"] or m["text"] or m["place"]],
        "summary": _renumbered(words.as_json(figure.sketch.summary), number),
        "outputs": [
            {
                "name": o.name,
                "index": number[o.array.index],
                "doc": o.doc,
                "shape": list(o.array.shape),
                "rows": list(o.rows),
                "columns": list(o.columns),
            }
            for o in figure.sketch.outputs.values()
        ],
    }


def _whole(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def _mark(mark: Mark, group: int, number: Mapping[int, int]) -> dict[str, Any]:
    attrs: dict[str, list[Any]] = {}
    paint = draw.css_paint(palette("light"))
    for key, value in mark.each.items():
        if isinstance(value, Points):
            attrs[key] = [
                "d", number[value.x.index], [number[value.y.index], value.x.shape[-1]]
            ]  # fmt: skip
        elif isinstance(value, Ramp):
            attrs[key] = ["r", number[value.array.index]]
        elif isinstance(value, Choice):
            choices = [paint(c) if key in draw.PAINTED else c for c in value.choices]
            attrs[key] = ["c", number[value.array.index], choices]
        elif isinstance(value, Array):
            attrs[key] = ["x", number[value.index]]
    text = None
    if mark.traced_text:
        text = _renumbered(words.as_json(mark.text), number)  # type: ignore[arg-type]
    place = [number[a.index] for a in mark.place.arrays] if mark.place is not None else None
    return {"group": group, "attrs": attrs, "text": text, "place": place}


def _renumbered(template: Any, number: Mapping[int, int]) -> list[Any]:
    out: list[Any] = []
    for part in template:
        if isinstance(part, str):
            out.append(part)
        else:
            kind, index, extra, *more = part
            inner = _renumbered(extra, number) if kind == "w" else extra
            out.append([kind, number[index], inner, *more])
    return out
