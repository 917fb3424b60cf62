"""The table of output formats, and one call that writes several from one drawing.

A format is one line here: a name, a suffix, a media type and a function. The table is read by
every run, also where a kept result makes drawing needless, so that nothing is imported before
its format is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from transformer_diagrams.errors import DiagramError, Fault, did_you_mean
from transformer_diagrams.extras import need
from transformer_diagrams.records import dataclass

if TYPE_CHECKING:
    from transformer_diagrams.layout.scene import Scene
    from transformer_diagrams.render.display import Display
    from transformer_diagrams.theme import Theme

SMALLEST_TEXT = 6.0
"""Printed text below this size in points is worth a warning."""
SLIDE = (924.0, 504.0)
"""What a slide of 13.33 by 7.5 in has within a margin of a quarter of an inch, in points."""
PAGE_HEIGHT = 9 * 72.0
"""What letter paper with margins of an inch has for text, in points."""


@dataclass(frozen=True)
class Drawing:
    """A scene with everything that was asked of its output; drawn once, when first needed.

    width       most physical width in points; None: as wide as the scene
    height      most physical height, likewise; with both, the figure fits within them
    enlarge     to be as large as these allow, beyond the scene's own size
    background  "theme", "white" or "none"
    graphviz    "pure" or "dot"
    words       False: outlines only, without the unpainted words
    text        words of an SVG as text, with their font inside
    ids         what the names of blocks in an SVG begin with; "": as the figure and its theme say
    scale, dpi  of a PNG, see :func:`transformer_diagrams.render.png.to_png`
    page        width and height in points of what the figure is put on, for it to fill
    steps, said  what is shown at once, see :mod:`transformer_diagrams.render.steps`
    animate     an SVG that plays its steps
    """

    scene: Scene
    theme: Theme
    width: float | None = None
    height: float | None = None
    enlarge: bool = False
    background: str = "theme"
    graphviz: str = "pure"
    words: bool = True
    text: bool = False
    ids: str = ""
    scale: float | None = None
    dpi: float | None = None
    page: tuple[float, float] | None = None
    steps: str = ""
    said: Mapping[str, int] = field(default_factory=dict)
    animate: bool = False

    @property
    def unit(self) -> float:
        """Printed size of one unit of the scene: the largest that fits, and is asked for."""
        asked = [(self.width, self.scene.width), (self.height, self.scene.height)]
        larger = self.enlarge or bool(self.page and self.width is None and self.height is None)
        if self.page:
            asked += zip(self.page, (self.scene.width, self.scene.height), strict=True)
        fitting = [most / round(own, 2) for most, own in asked if most is not None]
        return min(fitting if larger and fitting else [1.0, *fitting])

    @property
    def name(self) -> str:
        """What the names of blocks begin with: two figures in one page have no name in common."""
        from transformer_diagrams.theme import NAMES

        own = [self.scene.id, *([] if self.theme.name == NAMES[0] else [self.theme.name])]
        return self.ids or "-".join(own)

    @cached_property
    def display(self) -> Display:
        """The figure as Graphviz drew it."""
        from transformer_diagrams.render.drawn import draw
        from transformer_diagrams.render.paint import paint

        with self.typeset():
            painted = paint(self.scene, self.theme, unit=self.unit, background=self.background)
        return draw(painted, self.graphviz)

    def typeset(self) -> AbstractContextManager[None]:
        """In which text is measured as the theme's fonts set it."""
        from transformer_diagrams.text import typeface

        return typeface(self.theme.fonts.text, self.theme.fonts.maths)

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """The step at which each item of the display is shown."""
        from transformer_diagrams.render.steps import numbered

        return numbered(self.display, self.steps, self.said) if self.steps else ()

    @cached_property
    def pages(self) -> tuple[Display, ...]:
        """What each step shows; without steps, the figure."""
        from transformer_diagrams.render.steps import pages

        return pages(self.display, self.shown) if self.steps else (self.display,)

    def stages(self) -> tuple[Drawing, ...]:
        """A drawing of what each step shows."""
        found = []
        for page in self.pages:
            stage = replace(self, steps="", animate=False)
            stage.__dict__["display"] = page  # drawn already
            found.append(stage)
        return tuple(found)

    @cached_property
    def svg(self) -> str:
        """The finished SVG."""
        from transformer_diagrams.render.svg import to_svg

        whole, steps = (self.pages[-1], self.shown) if self.animate else (self.display, ())
        return to_svg(whole, words=self.words, ids=self.name, text=self.text, steps=steps)

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """What the drawing has to say: about labels, small text, and more height than a page."""
        small = small_text_warning(self.display, slide=bool(self.page))
        alone = self.width is not None and self.height is None and not self.page
        tall = tall_warning(self.display) if alone else None
        return (*self.theme.warnings, *self.display.warnings, *filter(None, (small, tall)))


def small_text_warning(display: Display, *, slide: bool = False) -> Fault | None:
    """A warning when the smallest text would be printed under 6 pt, with the number."""
    size = display.smallest_text
    if not size or size >= SMALLEST_TEXT - 0.005:
        return None
    width = display.printed[0]
    wanted = width * SMALLEST_TEXT / size
    return Fault(
        "small-text",
        f"at a width of {width / 72:.2f} in the smallest text is {size:.1f} pt",
        found=f"{size:.1f} pt",
        expected=f"at least {SMALLEST_TEXT:g} pt",
        hint="--aspect 16:9 or --direction right may suit a slide; or close parts, "
        "or leave the shapes out"
        if slide
        else f"make it {math.ceil(wanted / 72 * 100) / 100:.2f} in wide or more, "
        "or leave the shapes out",
        severity="warning",
    )


def tall_warning(display: Display) -> Fault | None:
    """A warning when a figure that was made to a width is higher than the text of a page."""
    width, height = display.printed
    if height <= PAGE_HEIGHT + 0.005:
        return None
    page, fits = f"{PAGE_HEIGHT / 72:g}in", f"{round(width / 72, 2):g}in"
    return Fault(
        "tall-figure",
        f"at a width of {width / 72:.2f} in the figure is {height / 72:.2f} in high",
        found=f"{height / 72:.2f} in",
        expected=f"at most {PAGE_HEIGHT / 72:g} in, which a page has for text",
        hint=f"--fit {fits}x{page} makes it as large as fits; --direction right may suit a page",
        severity="warning",
    )


@dataclass(frozen=True, slots=True)
class Format:
    """An output format. ``made`` gives the file's bytes, ``lost`` says what it cannot carry.

    page   width and height in points of a page of its own, which the figure fills
    paged  it holds many pages, so that one file shows a figure in steps
    needs  the extra that holds its library
    """

    name: str
    suffix: str
    media_type: str
    made: Callable[[Drawing], bytes]
    lost: Callable[[Drawing], list[str]] = lambda _: []
    page: tuple[float, float] | None = None
    needs: str = ""
    paged: bool = False

    def write(self, drawing: Drawing) -> bytes:
        """The file's bytes, in the fonts of the drawing's theme."""
        with drawing.typeset():
            return self.made(drawing)

    def placed(self, drawing: Drawing) -> Drawing:
        """The drawing on this format's page.

        :raises ToolMissing: when the format's library is not installed.
        """
        if self.needs:
            need(self.needs)
        return replace(drawing, page=self.page) if self.page else drawing

    def warnings(self, drawing: Drawing) -> tuple[Fault, ...]:
        """What the drawing has to say, and what this format cannot carry."""
        with drawing.typeset():
            lost = self.lost(drawing)
        said = f"{self.name} cannot carry " + "; ".join(lost)
        told = [Fault("not-carried", said, found=self.name, severity="warning")] if lost else []
        return (*drawing.warnings, *told)


def _svg(drawing: Drawing) -> bytes:
    return drawing.svg.encode("utf-8")


def _png(drawing: Drawing) -> bytes:
    from transformer_diagrams.render.png import to_png

    return to_png(drawing.display, scale=drawing.scale, dpi=drawing.dpi)


def _pdf(drawing: Drawing) -> bytes:
    from transformer_diagrams.render.pdf import to_pdf

    return to_pdf(*drawing.pages, words=drawing.words)


def _eps(drawing: Drawing) -> bytes:
    from transformer_diagrams.render.postscript import to_eps

    return to_eps(drawing.display)


def _ps(drawing: Drawing) -> bytes:
    from transformer_diagrams.render.postscript import to_ps

    return to_ps(drawing.display)


def _dot(drawing: Drawing) -> bytes:
    from transformer_diagrams.render.dot import to_dot

    return to_dot(drawing.display).encode("utf-8")


def _tikz(drawing: Drawing) -> bytes:
    from transformer_diagrams.render.tikz import to_tikz

    return to_tikz(drawing.display).encode("utf-8")


def _tikz_lost(drawing: Drawing) -> list[str]:
    from transformer_diagrams.render.tikz import lost

    return lost(drawing.display)


def _mermaid(drawing: Drawing) -> bytes:
    from transformer_diagrams.render.mermaid import to_mermaid

    return to_mermaid(drawing.display, drawing.scene.direction).encode("utf-8")


def _mermaid_lost(drawing: Drawing) -> list[str]:
    from transformer_diagrams.render.mermaid import lost

    return lost(drawing.display)


def _drawio(drawing: Drawing) -> bytes:
    from transformer_diagrams.render.drawio import to_drawio

    return to_drawio(drawing.display).encode("utf-8")


def _drawio_lost(drawing: Drawing) -> list[str]:
    from transformer_diagrams.render.drawio import lost

    return lost(drawing.display)


def _pptx(drawing: Drawing) -> bytes:
    from transformer_diagrams.render.pptx import to_pptx

    return to_pptx(drawing.pages)


def _pptx_lost(drawing: Drawing) -> list[str]:
    from transformer_diagrams.render.pptx import lost

    return lost(drawing.display)


FORMATS: Mapping[str, Format] = {
    entry.name: entry
    for entry in (
        Format("svg", ".svg", "image/svg+xml", _svg),
        Format("png", ".png", "image/png", _png),
        Format("pdf", ".pdf", "application/pdf", _pdf, paged=True),
        Format("eps", ".eps", "application/postscript", _eps),
        Format("ps", ".ps", "application/postscript", _ps),
        Format("dot", ".dot", "text/vnd.graphviz", _dot),
        Format("tikz", ".tikz", "text/x-tex", _tikz, _tikz_lost),
        Format("mermaid", ".mermaid", "text/vnd.mermaid", _mermaid, _mermaid_lost),
        Format("drawio", ".drawio", "application/vnd.jgraph.mxfile", _drawio, _drawio_lost),
        Format(
            "pptx", ".pptx",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            _pptx, _pptx_lost, SLIDE, "pptx", True,
        ),
    )
}


def get(name: str) -> Format:
    """A format by name, with or without the dot of its suffix.

    :raises DiagramError: for an unknown one, with the nearest name.
    """
    found = FORMATS.get(name.lower().lstrip("."))
    if found is None:
        raise DiagramError(
            Fault(
                "unknown-format",
                f"there is no output format '{name}'",
                found=name,
                expected=", ".join(FORMATS),
                hint=did_you_mean(name, FORMATS, what="format"),
            )
        )
    return found


def write(drawing: Drawing, names: Iterable[str]) -> dict[str, bytes]:
    """The bytes of several formats of one drawing, by name; unknown names fail before any work."""
    chosen = [get(name) for name in names]
    return {entry.name: entry.write(entry.placed(drawing)) for entry in chosen}
