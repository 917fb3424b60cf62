"""A Sphinx extension: the directive ``transformer`` is a figure.

    extensions = ["transformer_diagrams.publish.sphinx"]

    .. transformer:: llama3
       :open: attention
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import SphinxError
from sphinx.util.docutils import SphinxDirective

from transformer_diagrams import __version__
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.faults_text import faults_text
from transformer_diagrams.publish.fence import CSS, Fence, figure, html

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator
    from sphinx.writers.latex import LaTeXTranslator
    from sphinx.writers.text import TextTranslator

    from transformer_diagrams.api import Model

T = TypeVar("T")


class FigureFault(SphinxError):
    """Ends the build."""

    category = "transformer figure"


class DrawnFigure(nodes.General, nodes.Element):
    """A figure in a document: its ``fence`` again, so that each builder draws its own form."""


def _options() -> dict[str, Any]:
    flags = {p.name: isinstance(p, click.Option) and p.is_flag for p in figure.params}
    names = {str(name).rstrip("_"): flag for name, flag in flags.items() if name != "spec"}
    names["set"] = names.pop("sets")
    return {n: directives.flag if flag else directives.unchanged for n, flag in names.items()}


class FigureDirective(SphinxDirective):
    """``.. transformer:: SPEC`` with the options of `render`, or with a spec as content."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = _options()

    def run(self) -> list[nodes.Node]:
        """The figure's node; what it is made from is noted, so that a change draws it again."""
        path, line = self.get_source_info()
        words = " ".join(
            [
                *self.arguments,
                *(f"--{name}" if value is None else f"--{name}={shlex.quote(value)}"
                  for name, value in self.options.items()),
            ]
        )  # fmt: skip
        first = self.content_offset + 1 if self.content else line
        fence = Fence(words, "\n".join(self.content), str(path), first)
        number = self.env.new_serialno("transformer") + 1
        # The page's own form: a fault ends the build here, and what is drawn is found again.
        model, _ = _drawn(fence, lambda model, wish: html(model, wish, number))
        for name in model.files():
            self.env.note_dependency(name)
        return [DrawnFigure("", fence=fence, number=number)]


def _drawn(fence: Fence, draw: Callable[[Model, Mapping[str, Any]], T]) -> tuple[Model, T]:
    """The model of a figure, and what is drawn of it; a fault ends the build."""
    try:
        model, wish = fence.read()
        return model, draw(model, wish)
    except DiagramError as fault:
        raise FigureFault("\n" + faults_text(fault.faults)) from None


def _html(writer: HTML5Translator, node: DrawnFigure) -> None:
    number = node["number"]
    _, drawn = _drawn(node["fence"], lambda model, wish: html(model, wish, number))
    style = f"<style>{CSS}</style>" if number == 1 else ""
    writer.body.append(f"{style}{drawn}\n")
    raise nodes.SkipNode


def _latex(writer: LaTeXTranslator, node: DrawnFigure) -> None:
    model, drawn = _drawn(node["fence"], lambda model, wish: model.render("pdf", **wish))
    name = f"tdx-{model.id}-{len(writer.body)}.pdf"
    drawn.save(Path(writer.builder.outdir) / name)
    writer.body.append(f"\n\\begin{{center}}\\sphinxincludegraphics{{{name}}}\\end{{center}}\n")
    raise nodes.SkipNode


def _text(writer: TextTranslator, node: DrawnFigure) -> None:
    _, title = _drawn(node["fence"], lambda model, _: model.title)
    writer.add_text(f"[{title}]")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_node(DrawnFigure, html=(_html, None), latex=(_latex, None), text=(_text, None))
    app.add_directive("transformer", FigureDirective)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
