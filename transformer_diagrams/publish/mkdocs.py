"""A MkDocs plug-in: a fenced block ``transformer`` becomes its figure.

    plugins:
      - transformer-diagrams
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from mkdocs.config.base import Config
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin

from transformer_diagrams.errors import DiagramError
from transformer_diagrams.faults_text import faults_text
from transformer_diagrams.publish.fence import CSS, Fence, html

if TYPE_CHECKING:
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.pages import Page

_BEGIN: Final = re.compile(r"^(?P<room>[ \t]*)(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_INFO: Final = re.compile(r"\{?\s*\.?transformer\b(?P<words>[^}]*)\}?\s*$")
_HOLD: Final = '<div data-transformer-diagram="{}"></div>'


class NoSettings(Config):  # type: ignore[no-untyped-call]
    """There are none: what a figure shows stands in its block."""


class FiguresPlugin(BasePlugin[NoSettings]):  # type: ignore[no-untyped-call]
    """Draws the blocks of each page; a fault ends the build with its file and line."""

    def __init__(self) -> None:
        self._drawn: dict[str, list[str]] = {}
        self._files: set[str] = set()

    def on_page_markdown(self, markdown: str, *, page: Page, **_: Any) -> str:
        """A place for each figure, which Markdown leaves alone."""
        path = page.file.abs_src_path or page.file.src_uri
        # The title block before the text is gone when it comes here, its lines are not.
        whole = page.file.content_string
        above = whole[: len(whole) - len(markdown)].count("\n") if whole.endswith(markdown) else 0
        lines = markdown.split("\n")
        drawn = self._drawn[page.file.src_uri] = []
        for first, last, fence in reversed([*_fences(lines, path, above)]):
            try:
                model, wish = fence.read()
                drawn.append(html(model, wish, len(drawn) + 1))
            except DiagramError as fault:
                raise PluginError(faults_text(fault.faults)) from None
            self._files.update(model.files())
            room = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
            lines[first : last + 1] = ["", room + _HOLD.format(len(drawn) - 1), ""]
        return "\n".join(lines)

    def on_page_content(self, html: str, *, page: Page, **_: Any) -> str:
        """The figures in their places, with one style sheet a page."""
        drawn = self._drawn.pop(page.file.src_uri, [])
        for number, figure in enumerate(drawn):
            html = html.replace(_HOLD.format(number), figure)
        return f"<style>{CSS}</style>\n{html}" if drawn else html

    def on_serve(self, server: LiveReloadServer, **_: Any) -> LiveReloadServer:
        """A change of a spec builds the site anew."""
        for name in sorted(self._files):
            server.watch(name)
        return server


def _fences(lines: list[str], path: str, above: int) -> Iterator[tuple[int, int, Fence]]:
    """First line, last line and content of each figure; what stands in other blocks is text."""
    at = 0
    while at < len(lines):
        begin = _BEGIN.match(lines[at])
        first, at = at, at + 1
        if begin is None:
            continue
        end = re.compile(rf"^[ \t]*{begin['mark'][0]}{{{len(begin['mark'])},}}[ \t]*$")
        while at < len(lines) and not end.match(lines[at]):
            at += 1
        info = _INFO.match(begin["info"].strip())
        if info is not None:
            body = "\n".join(lines[first + 1 : at])
            yield first, at, Fence(info["words"], body, path, above + first + 2)
        at += 1
