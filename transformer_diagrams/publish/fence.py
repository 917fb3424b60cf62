"""A figure written in a document: a spec's name with options, or the spec itself.

    llama3 --open attention --width 3.25in

The options are those of `render`. What holds a mapping of YAML is a spec; its faults are told with
the document's own lines.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

import click

from transformer_diagrams.api import Model
from transformer_diagrams.cli.values import asked, figure_options
from transformer_diagrams.errors import DiagramError, Fault, Span
from transformer_diagrams.options import AskError
from transformer_diagrams.streams import printable

_MAPPING: Final = re.compile(r":(\s|$)", re.MULTILINE)

# A page says which scheme it is in by an attribute (Furo and PyData, MkDocs Material, Bootstrap);
# one that has no dark look says nothing, and keeps the light figure.
_NAMES: Final = ("theme", "md-color-scheme", "bs-theme")


def _says(*schemes: str) -> str:
    return f":is({','.join(f'[data-{n}={s}]' for n in _NAMES for s in schemes)})"


CSS: Final = "".join(
    (
        ".transformer-diagram{margin:1em 0;overflow-x:auto}",
        ".transformer-diagram svg{max-width:100%;height:auto}",
        ".transformer-diagram .tdx-dark{display:none}",
        *(
            f"{media}{root} .transformer-diagram .tdx-light{{display:none}}"
            f"{root} .transformer-diagram .tdx-dark{{display:block}}{end}"
            for media, root, end in (
                ("", _says("dark", "slate"), ""),
                ("@media(prefers-color-scheme:dark){", _says("auto"), "}"),
            )
        ),
    )
)


@dataclass(frozen=True)
class Fence:
    """A figure that a document asks for.

    words     a spec's name and options, or options alone
    body      the same, or a spec
    document  the file that holds it, for messages and to find specs beside it
    line      the first line of ``body`` in it, from 1
    """

    words: str
    body: str
    document: str
    line: int

    def read(self) -> tuple[Model, dict[str, Any]]:
        """The model, and what is asked of its figure.

        :raises DiagramError: no such spec, or options that make no sense, at the fence's line.
        """
        inline = bool(_MAPPING.search(self.body))
        try:
            given = _options(" ".join((self.words, "" if inline else self.body)))
        except click.UsageError as fault:
            raise AskError(self._here("bad-option", printable(fault.format_message()))) from fault
        name = given.pop("spec")
        if inline and name is not None:
            raise AskError(self._here("bad-option", f"'{name}' names a spec, and one is written"))
        if inline:
            # So that a fault's line is the document's.
            text = "\n" * (self.line - 1) + self.body
            return Model.from_text(text, name=self.document), asked(**given)
        if name is None:
            hint = "write its id or path, or the spec itself"
            raise AskError(self._here("no-such-spec", "no spec is named", hint))
        folder = Path(self.document).parent
        beside = [str(folder / f"{name}{end}") for end in ("", ".yaml", ".yml")]
        try:
            found = Model.find(next(filter(os.path.isfile, beside), name))
            return found, asked(**given)
        except DiagramError as error:
            told = [self._here(f.code, f.message, f.hint) for f in error.faults]
            raise AskError(told) from error

    def _here(self, code: str, message: str, hint: str = "") -> Fault:
        return Fault(code, message, Span(self.document, self.line, 1), hint=hint)


def html(model: Model, wish: Mapping[str, Any], number: int = 1) -> str:
    """The figure as inline SVG: light and dark, of which the page's scheme shows one; that of the
    theme alone where one is asked for. The ``number`` on its page keeps the names of blocks apart.

    :raises DiagramError: faults of the spec, or of what was asked.
    """
    themes = {"": wish["theme"]} if "theme" in wish else {"tdx-light": "paper", "tdx-dark": "dark"}
    drawn = [
        f'<div class="{name}">{model.render("svg", **{**wish, "theme": theme, "ids": ids})}</div>'
        for name, theme in themes.items()
        for ids in (f"{name or 'tdx'}-{number}",)
    ]
    said = f'role="group" aria-label="{escape(model.title)}"'
    return f'<div class="transformer-diagram" {said}>{"".join(drawn)}</div>'


@click.command(add_help_option=False)
@click.argument("spec", required=False)
@figure_options
def figure(**given: Any) -> dict[str, Any]:
    """What may be said of a figure."""
    return given


def _options(words: str) -> dict[str, Any]:
    """:raises click.UsageError: as the command line does."""
    try:
        parts = shlex.split(words)
    except ValueError as fault:
        raise click.UsageError(f"{fault} in '{words}'") from fault
    given: dict[str, Any] = figure.main(parts, prog_name="transformer", standalone_mode=False)
    return given
