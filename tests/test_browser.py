"""Every figure in a browser: text in its box, figures beside each other, nothing asked of the net.

The pages come from memory; any request for anything else is stopped and counted.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image, ImageChops
from scenes import drawing
from selection import FEW, IDS, mostly_slow
from test_cases_labels import LABELS, scene_of

from transformer_diagrams import api

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.browser

DARK = ("llama3", "transformer", "gqa", "mha-packed", "bert")
# What a browser makes of a figure hangs on its theme and the kinds of its parts, which a third of
# them hold together; the lint sees every one.
SEEN = tuple(name for at, name in enumerate(IDS) if name in FEW or at % 3 == 0)
EACH = mostly_slow(SEEN, lambda name: name in FEW)
FIGURES = [(name, "paper") for name in SEEN] + [(name, "dark") for name in DARK]
HOME = "http://figures.invalid/"
NIGHT = "#0d1117"
WHITE = "#ffffff"
LEAST_CONTRAST = 4.5
SLACK = 0.3  # CSS pixels: a browser places glyph outlines and boxes on a grid of its own


class Pages:
    """Pages from memory, and what they did that they should not."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.files: dict[str, tuple[str, bytes]] = {}
        self.leaks: list[str] = []
        self.said: list[str] = []
        context.route("**/*", self._answer)

    def _answer(self, route: Any) -> None:
        url = route.request.url
        found = self.files.get(url.removeprefix(HOME)) if url.startswith(HOME) else None
        if found is None:
            self.leaks.append(url)
            route.abort()
        else:
            route.fulfill(content_type=found[0], body=found[1])

    def open(self, body: str, *, width: int = 1200, height: int = 1200) -> Page:
        """A page with this body and no margin."""
        self.files["page.html"] = (
            "text/html; charset=utf-8",
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>figures</title>'
            f'<link rel="icon" href="data:,"><style>body{{margin:0}}</style><body>{body}'.encode(),
        )
        page = self.context.new_page()
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{HOME}page.html")
        return page


@pytest.fixture(scope="module")
def plain(browser: Browser) -> Iterator[Pages]:
    context = browser.new_context()
    yield Pages(context)
    context.close()


@pytest.fixture(scope="module")
def sharp(browser: Browser) -> Iterator[Pages]:
    """Twice the pixels, so that thin strokes reach their full colour."""
    context = browser.new_context(device_scale_factor=2)
    yield Pages(context)
    context.close()


@pytest.fixture(autouse=True)
def quiet(plain: Pages, sharp: Pages) -> Iterator[None]:
    """After each test: no request has left, nothing was said on a console, all pages are closed."""
    yield
    for made in (plain, sharp):
        for page in made.context.pages:
            page.close()
        leaks, said = made.leaks[:], made.said[:]
        made.leaks.clear()
        made.said.clear()
        assert leaks == []
        assert said == []


@pytest.fixture
def pages(plain: Pages) -> Pages:
    return plain


@cache
def figure(name: str, look: str = "paper") -> str:
    return str(api.load(name).render("svg", theme=look))


def size_of(svg: str) -> tuple[int, int]:
    """Width and height in CSS pixels, rounded up."""
    found = re.search(r'<svg\b[^>]*?\bwidth="([\d.]+)pt" height="([\d.]+)pt"', svg)
    assert found
    wide, high = (int(float(v) * 96 / 72) + 1 for v in found.groups())
    return wide, high


def shelves(sizes: Mapping[str, tuple[int, int]], width: int) -> dict[str, tuple[int, int]]:
    """Places in rows, at whole pixels and apart."""
    places: dict[str, tuple[int, int]] = {}
    x = y = row = 0
    for name, (wide, high) in sizes.items():
        if x and x + wide > width:
            x, y, row = 0, y + row + 8, 0
        places[name] = (x, y)
        x, row = x + wide + 8, max(row, high)
    return places


def picture(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def differing(a: Image.Image, b: Image.Image) -> int:
    """How many pixels are not the same."""
    assert a.size == b.size
    return sum(map(bool, ImageChops.difference(a, b).convert("L").tobytes()))


# -- text in its box


MEASURE = """() => {
  // Rectangles on the page. A label is ink (an outline, or the sign of a junction) or words.
  const out = [];
  for (const svg of document.querySelectorAll('svg')) {
    const edge = svg.getBoundingClientRect(), boxes = [], labels = [];
    const flat = r => [r.left, r.top, r.right, r.bottom];
    for (const g of svg.querySelectorAll('g')) {
      const rects = [...g.children].filter(e => e.tagName === 'rect');
      const front = rects.at(-1) ?? [...g.children].find(e => e.tagName === 'circle');
      if (front) boxes.push({what: g.dataset.path ?? '', at: flat(front.getBoundingClientRect())});
    }
    for (const e of svg.querySelectorAll('text, path[transform]')) {
      // A mark stands on a box's corner: its disc is the element before.
      if (e.tagName === 'path' && e.previousElementSibling?.tagName === 'circle') continue;
      labels.push({kind: e.tagName, said: e.textContent, at: flat(e.getBoundingClientRect()),
                   home: e.parentElement.dataset?.path ?? ''});
    }
    out.push({edge: flat(edge), boxes, labels});
  }
  return out;
}"""


def outside(inner: list[float], outer: list[float], slack: float = SLACK) -> bool:
    return (
        inner[0] < outer[0] - slack
        or inner[1] < outer[1] - slack
        or inner[2] > outer[2] + slack
        or inner[3] > outer[3] + slack
    )


def apart(a: list[float], b: list[float], slack: float = SLACK) -> bool:
    return (
        a[2] <= b[0] + slack or b[2] <= a[0] + slack or a[3] <= b[1] + slack or b[3] <= a[1] + slack
    )


def flaws(measured: dict[str, Any]) -> list[str]:
    """Labels that leave the figure, or that lie across a border."""
    found = []
    for label in measured["labels"]:
        said = f"{label['kind']} {label['said']!r} of {label['home']!r} at {label['at']}"
        if outside(label["at"], measured["edge"]):
            found.append(f"{said} leaves the figure {measured['edge']}")
        for box in measured["boxes"]:
            if outside(label["at"], box["at"]) and not apart(label["at"], box["at"]):
                found.append(f"{said} lies across the border of {box['what']!r} {box['at']}")
    return found


@pytest.mark.parametrize(("name", "look"), mostly_slow(FIGURES, lambda one: one[0] in FEW))
def test_words_and_ink_lie_inside_their_boxes(pages: Pages, name: str, look: str) -> None:
    page = pages.open(figure(name, look))
    (measured,) = page.evaluate(MEASURE)
    kinds = [label["kind"] for label in measured["labels"]]
    assert kinds.count("text") > 0
    assert kinds.count("path") > 0
    assert flaws(measured) == []


@pytest.mark.parametrize("font", ["serif", "monospace", "No Such Font"])
def test_no_font_of_the_viewer_moves_words_out_of_their_boxes(pages: Pages, font: str) -> None:
    name = "llama3"
    page = pages.open(f"<style>text{{font-family:'{font}'}}</style>{figure(name)}")
    (measured,) = page.evaluate(MEASURE)
    assert flaws(measured) == []


def test_difficult_labels_lie_inside_their_boxes(pages: Pages) -> None:
    made = [drawing(scene_of(label)).svg for label in LABELS]
    page = pages.open("".join(f"<div>{one}</div>" for one in made))
    for label, measured in zip(LABELS, page.evaluate(MEASURE), strict=True):
        across = [flaw for flaw in flaws(measured) if "across" in flaw]
        assert across == [], label
    assert page.evaluate("document.querySelectorAll('script, b, image').length") == 0


# -- figures beside each other


# What a page may say of itself. It reaches into inline figures, as CSS does.
HOSTILE = (
    "<style>text{fill:#c00} body{font:20px/2 serif;color:#c00;letter-spacing:3px} "
    "svg{display:block} *{box-sizing:border-box} title{color:red} a{color:#0a0}</style>"
)
OWN = (
    '<section style="position:absolute;left:0;top:0;width:600px;height:120px">'
    '<p style="margin:0">The <a href="#own">page</a> itself</p>'
    '<svg width="200" height="40"><text x="5" y="25">own text</text>'
    '<path d="M5 35H150" stroke="#00c"/></svg></section>'
)
TOP = 140  # where the figures begin, below what is the page's own


class Together:
    """Figures (key -> svg) in rows on one page, below what is the page's own."""

    def __init__(self, pages: Pages, figures: Mapping[str, str], style: str = "") -> None:
        self.pages = pages
        self.figures = figures
        self.style = style
        self.sizes = {key: size_of(svg) for key, svg in figures.items()}
        self.places = shelves(self.sizes, 4000)
        self.wide = max([600, *(x + self.sizes[key][0] for key, (x, _) in self.places.items())])
        self.high = TOP + max(y + self.sizes[key][1] for key, (_, y) in self.places.items())

    def body(self, keys: Iterable[str]) -> str:
        parts = [
            f'<div style="position:absolute;left:{x}px;top:{y + TOP}px">{self.figures[key]}</div>'
            for key, (x, y) in self.places.items()
            if key in keys
        ]
        return self.style + OWN + "".join(parts)

    def open(self, keys: Iterable[str]) -> Page:
        return self.pages.open(self.body(keys), width=self.wide, height=self.high)

    def cut(self, whole: Image.Image, key: str) -> Image.Image:
        (x, y), (wide, high) = self.places[key], self.sizes[key]
        return whole.crop((x, y + TOP, x + wide, y + TOP + high))

    def look(self) -> dict[str, Image.Image]:
        """What each figure looks like among the others, and the page's own part as ''."""
        page = self.open(self.figures)
        whole = picture(page.screenshot())
        page.close()
        found = {key: self.cut(whole, key) for key in self.figures}
        return {"": whole.crop((0, 0, 600, 120)), **found}

    def look_alone(self, keys: Iterable[str] | None = None) -> dict[str, Image.Image]:
        """The same (of some of them) with one figure on the page at a time, each at its place.

        The place is kept because a browser softens edges by its own tiles: a figure moved by
        some pixels differs by a few grey levels from itself.
        """
        page = self.open(())
        found = {"": picture(page.screenshot()).crop((0, 0, 600, 120))}
        for key in self.figures if keys is None else keys:
            page.evaluate("body => { document.body.innerHTML = body; }", self.body((key,)))
            (x, y), (wide, high) = self.places[key], self.sizes[key]
            clip = {"x": x, "y": y + TOP, "width": wide, "height": high}
            found[key] = picture(page.screenshot(clip=clip))  # type: ignore[arg-type]
        page.close()
        return found


def changed(one: Mapping[str, Image.Image], other: Mapping[str, Image.Image]) -> dict[str, int]:
    """How many pixels of each in ``other`` differ, where any do."""
    counts = {key: differing(one[key], other[key]) for key in other}
    return {key: count for key, count in counts.items() if count}


@pytest.mark.slow
def test_figures_in_one_page_look_as_each_alone_in_either_order(pages: Pages) -> None:
    order = {f"{name} {look}": figure(name, look) for name, look in FIGURES}
    # What could go wrong the other way round goes wrong for the figures of either end.
    some = [*order][:8] + [*order][-8:]
    for figures, keys in ((order, [*order]), (dict(reversed(order.items())), some)):
        page = Together(pages, figures)
        alone = page.look_alone(keys)
        assert all(len(one.getcolors(1 << 24) or ()) > 10 for one in alone.values())
        assert changed(page.look(), alone) == {}


def test_the_style_of_a_page_and_a_figure_leave_each_other_alone(pages: Pages) -> None:
    order = {f"{name} {look}": figure(name, look) for name, look in FIGURES if name in DARK}
    quiet, hostile = Together(pages, order), Together(pages, order, HOSTILE)
    found = hostile.look()
    assert changed(found, hostile.look_alone()) == {}, "figures have changed the page"
    own = changed(found, quiet.look())
    assert own.keys() == {""}, "the page has changed figures"


def test_the_same_figure_pasted_twice_looks_the_same_twice(pages: Pages) -> None:
    svg = figure("llama3")
    page = Together(pages, {"first": svg, "second": svg}, HOSTILE)
    assert changed(page.look(), page.look_alone()) == {}


@pytest.mark.parametrize("names", [FEW, pytest.param(SEEN, marks=pytest.mark.slow)], ids=len)
def test_no_id_stands_twice_in_a_page_of_figures(pages: Pages, names: Sequence[str]) -> None:
    page = pages.open("".join(figure(*one) for one in FIGURES if one[0] in names))
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) >= len(names)
    assert len(ids) == len(set(ids))
    # Every name and description that a figure refers to is its own.
    assert page.evaluate(
        """() => [...document.querySelectorAll('svg')].every(svg =>
             svg.getAttribute('aria-labelledby').split(' ').every(
               id => document.getElementById(id).parentElement === svg))"""
    )


def test_a_figure_of_one_name_with_another_content_has_other_ids(pages: Pages) -> None:
    """Its own ids, which tell what it is, differ by themselves; those of blocks by ``ids``."""
    model = api.load("llama3")
    made = [str(model.render("svg", **asked)) for asked in (
        {}, {"config": "8B"}, {"open": ["attention"]}, {"theme": "mono"}, {"direction": "right"},
    )]  # fmt: skip
    page = pages.open("".join(made))
    ids = page.evaluate("[...document.querySelectorAll('svg > [id]')].map(e => e.id)")
    own = [id for id in ids if id.endswith(("-title", "-desc"))]
    assert len(own) == len(set(own)) == 2 * len(made)
    page = pages.open("".join(str(model.render("svg", ids=f"figure-{n}")) for n in range(2)))
    ids = page.evaluate("[...document.querySelectorAll('g[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids)) > 2


# -- words


@pytest.mark.parametrize("name", EACH)
def test_words_are_found_and_selected(pages: Pages, name: str) -> None:
    page = pages.open(figure(name))
    words = page.evaluate(
        "[...new Set([...document.querySelectorAll('svg text')].map(e => e.textContent))]"
    )
    assert words
    for said in words:
        found = page.evaluate(
            """said => {
              getSelection().removeAllRanges();
              const hit = window.find(said, true);
              if (!hit) return null;
              const r = getSelection().getRangeAt(0).getBoundingClientRect();
              return [getSelection().toString(), r.width, r.height];
            }""",
            said,
        )
        assert found is not None, said
        selected, wide, high = found
        assert "".join(selected.split()) == "".join(said.split())
        assert wide > 0
        assert high > 0
    copied = page.evaluate(
        "() => { getSelection().selectAllChildren(document.querySelector('svg'));"
        " return getSelection().toString(); }"
    )
    flat = "".join(copied.split())
    assert [said for said in words if "".join(said.split()) not in flat] == []


@pytest.mark.parametrize("name", EACH)
def test_a_figure_has_a_name_and_a_description_for_those_who_cannot_see_it(
    pages: Pages, name: str
) -> None:
    page = pages.open(figure(name))
    image = page.get_by_role("img")
    assert image.count() >= 1
    label, desc = page.evaluate(
        """() => ['title', 'desc'].map(
             tag => document.querySelector('svg > ' + tag)?.textContent ?? '')"""
    )
    assert label.strip()
    assert desc.strip()
    assert label != name or label == api.load(name).title


# -- as a picture, on any page


def luminance(colour: tuple[int, ...]) -> float:
    """Relative luminance, WCAG 2.1."""
    parts = [v / 255 for v in colour[:3]]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast_in(part: Image.Image) -> float:
    """Between the ground of a label, its commonest colour, and the ink, the farthest from that."""
    counts = part.getcolors(part.width * part.height)
    assert counts
    ground = luminance(max(counts)[1])  # type: ignore[arg-type]
    best = 1.0
    for _, colour in counts:
        low, high = sorted((ground, luminance(colour)))  # type: ignore[arg-type]
        best = max(best, (high + 0.05) / (low + 0.05))
    return best


def ink_places(pages: Pages, svg: str) -> list[tuple[str, list[float]]]:
    """(words, rectangle) of every label's ink, in CSS pixels from the figure's corner."""
    page = pages.open(svg)
    (measured,) = page.evaluate(MEASURE)
    page.close()
    return [(label["home"], label["at"]) for label in measured["labels"] if label["kind"] == "path"]


@pytest.mark.parametrize(
    ("name", "look", "ground"),
    mostly_slow(
        [(*one, NIGHT) for one in FIGURES] + [(*one, WHITE) for one in FIGURES if one[0] in DARK],
        lambda one: one[0] in ("llama3", "transformer") and (one[2] == NIGHT or one[0] == "llama3"),
    ),
)
def test_every_text_of_an_image_can_be_read_on_white_and_on_black(
    pages: Pages, sharp: Pages, name: str, look: str, ground: str
) -> None:
    svg = figure(name, look)
    places = ink_places(pages, svg)
    wide, high = size_of(svg)
    sharp.files["figure.svg"] = ("image/svg+xml", svg.encode())
    page = sharp.open(
        f'<style>body{{background:{ground}}}</style><img src="figure.svg" alt="{escape(name)}">',
        width=wide,
        height=high,
    )
    shot = picture(page.screenshot())
    faint = []
    for home, (left, top, right, bottom) in places:
        part = shot.crop((int(left * 2), int(top * 2), int(right * 2) + 1, int(bottom * 2) + 1))
        ratio = contrast_in(part)
        if ratio < LEAST_CONTRAST:
            faint.append((home, round(ratio, 2)))
    assert places
    assert faint == []


def test_a_transparent_figure_lets_the_page_through_and_the_default_does_not(pages: Pages) -> None:
    model = api.load("gqa")
    corners = {}
    for background in ("theme", "white", "none"):
        svg = str(model.render("svg", background=background))
        wide, high = size_of(svg)
        style = f"<style>body{{background:{NIGHT}}}</style>"
        page = pages.open(style + svg, width=wide, height=high)
        corners[background] = picture(page.screenshot()).getpixel((1, 1))
        page.close()
    assert corners["none"] == (0x0D, 0x11, 0x17)
    assert corners["theme"] == corners["white"] == (255, 255, 255)


def test_a_figure_opened_by_itself_asks_for_nothing(pages: Pages) -> None:
    for name in DARK:
        pages.files[f"{name}.svg"] = ("image/svg+xml", figure(name).encode())
        page = pages.context.new_page()
        page.on("console", lambda message: pages.said.append(message.text))
        page.goto(f"{HOME}{name}.svg")
        assert page.evaluate("document.documentElement.tagName") == "svg"
        assert (
            page.evaluate("document.querySelectorAll('script, style, link, image, use').length")
            == 0
        )
        page.close()
