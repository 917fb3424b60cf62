"""`import`: a model's configuration as a spec, with every key of it accounted for."""

from __future__ import annotations

import click

from transformer_diagrams.cli.values import OutPath
from transformer_diagrams.streams import say


@click.command(
    "import",
    epilog="""\b
Examples:
  transformer-diagrams import model/                  what each key was taken for
  transformer-diagrams import model/ -o mine.yaml     a short spec to go on from
  transformer-diagrams import model/config.json --strict -v
""",
)
@click.argument("model", metavar="MODEL")
@click.option("-o", "--output", type=OutPath(), metavar="FILE", help="Write a spec that uses it.")
@click.option("--strict", is_flag=True, help="An unknown key, or a part left out, is an error.")
@click.option("-v", "--verbose", is_flag=True, help="Name the keys that change nothing, too.")
def import_model(model: str, output: str | None, strict: bool, verbose: bool) -> int:
    """Read a model's config.json, or the one in its folder, as a bundled spec with its sizes."""
    from pathlib import Path

    from transformer_diagrams import api
    from transformer_diagrams.cli.report import show_faults
    from transformer_diagrams.options import ask_error

    found = api.Model.find(model)
    adopted = found.adopted
    if adopted is None:
        raise ask_error(f"'{model}' is a spec already", "a config.json or its folder is imported")
    _ = found.spec  # raises what the sizes break
    say(f"{found.label}: family {adopted.family.id}, drawn by {adopted.family.spec}")
    rows = [("used", f"{key}: {what}") for key, what in adopted.used.items()]
    rows += [("filled in", f"{name} = {value}") for name, value in adopted.defaults.items()]
    if verbose:
        rows += [("changes no count", key) for key in adopted.nothing]
    wide = max((len(kind) for kind, _ in rows), default=0)
    for kind, words in rows:
        say(f"  {kind:<{wide}}  {words}")
    show_faults(adopted.warnings)
    if strict and adopted.warnings:
        return 1
    if output is not None:
        api.save(Path(output), found.as_text().encode())
        say(output)
    return 0
