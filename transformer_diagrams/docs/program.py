"""The command line as tables: commands, their options, formats, themes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from transformer_diagrams.cli.app import COMMANDS, program
from transformer_diagrams.docs.markdown import code, table

FORMATS: Mapping[str, str] = {
    "svg": "for screens and the web; sizes in points, words kept",
    "png": "pixels, for what takes no vectors; twice 96 dots an inch when not said",
    "pdf": "for LaTeX and print; one vector page of exactly the figure's size",
    "eps": "for publishers that take no PDF; needs the Cairo library",
    "ps": "PostScript; needs the Cairo library",
    "dot": "a Graphviz file with every place pinned, to edit by hand",
    "tikz": "TikZ to edit, by itself or by `\\input`, with labels in the paper's own fonts",
    "mermaid": "a flowchart of the structure alone, for a README where nothing else is drawn",
    "drawio": "draw.io: boxes in containers, edges attached to them, formulas as LaTeX",
    "pptx": "a slide of native shapes, connectors glued to them, words to edit; needs `[pptx]`",
}


def command(name: str) -> click.Command:
    """The click command of that name."""
    found = program.get_command(click.Context(program), name)
    assert found is not None
    return found


def _commands(_: Path) -> str:
    rows = [
        [f"[`{name}`](docs/spec.md#{name})", (command(name).help or "").split("\n\n")[0]]
        for name in COMMANDS
    ]
    return table(["command", "what it does"], rows)


def _options(_: Path) -> str:
    parts = []
    for name in COMMANDS:
        found = command(name)
        context = click.Context(found, info_name=f"transformer-diagrams {name}")
        usage = " ".join(found.collect_usage_pieces(context))
        rows = [_option(option, context) for option in found.params]
        parts += [
            f"### {name}\n",
            f"`{context.command_path} {usage}`\n",
            "\n\n".join(" ".join(t.split()) for t in (found.help or "").split("\n\n")) + "\n",
            table(["option", "meaning"], [row for row in rows if row]),
        ]
    return "\n".join(parts)


def _option(param: click.Parameter, context: click.Context) -> list[str]:
    if not isinstance(param, click.Option) or param.hidden:
        return []
    names = ", ".join(code(name) for name in param.opts)
    if param.secondary_opts:
        names += ", " + ", ".join(code(name) for name in param.secondary_opts)
    if not param.is_flag:
        names += f" {code(param.make_metavar(context))}"
    return [names, param.help or ""]


def _formats(_: Path) -> str:
    from transformer_diagrams.render.formats import FORMATS as known

    return table(["format", "for what"], ([code(n), FORMATS.get(n, "")] for n in known))


def _themes(_: Path) -> str:
    from transformer_diagrams.theme import NAMES, get

    return table(["theme", "look"], ([code(name), get(name).summary] for name in NAMES))


PARTS: Mapping[str, Callable[[Path], str]] = {
    "commands": _commands,
    "command-options": _options,
    "formats": _formats,
    "themes": _themes,
}
