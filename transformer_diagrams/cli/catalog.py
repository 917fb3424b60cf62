"""`list`, `schema` and `new`: what there is, how it is written, and a first spec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transformer_diagrams.cli.report import Codes, summary
from transformer_diagrams.cli.values import Among, SpecName, json_option, specs_argument
from transformer_diagrams.streams import dump, say

if TYPE_CHECKING:
    from transformer_diagrams.api import Model

EDITORS = ("vscode",)


@click.command(
    "list",
    epilog="""\b
Examples:
  transformer-diagrams list
  transformer-diagrams list --order               what to read first, first
  transformer-diagrams list --tag decoder --json
  transformer-diagrams list my-specs/
""",
)
@specs_argument(required=False)
@json_option
@click.option("--order", is_flag=True, help="In reading order, by builds_on; else by id.")
@click.option("--tag", metavar="NAME", help="Only specs with this tag.")
@click.option("--family", metavar="NAME", help="Only specs of this family.")
def list_specs(
    specs: tuple[str, ...], as_json: bool, order: bool, tag: str | None, family: str | None
) -> int:
    """List the bundled specs, or those named."""
    from transformer_diagrams import api
    from transformer_diagrams.cli.targets import models

    codes = Codes()
    rows: list[dict[str, Any]] = []
    for model in models(specs or api.bundled_ids(), codes):
        codes.attempt(_add, rows, model)
    if not specs:
        _known("tag", tag, {t for row in rows for t in row["tags"]})
        _known("family", family, {row["family"] for row in rows if row["family"]})
    rows.sort(key=lambda row: str(row["id"]))
    if order:
        rows = api.reading_order(rows)
    rows = [
        row
        for row in rows
        if (tag is None or tag in row["tags"]) and (family is None or row["family"] == family)
    ]
    if as_json:
        say(dump(rows))
        return codes.code
    width = max((len(row["id"]) for row in rows), default=0)
    for row in rows:
        source = row["source"]
        facts = [str(source["year"])] if source.get("year") else []
        facts += [f"arXiv:{source['arxiv']}"] if source.get("arxiv") else []
        facts += ["configs " + ", ".join(row["configs"])] if row["configs"] else []
        say(
            f"{row['id']:<{width}}  {row['title']}" + (f"  ({'; '.join(facts)})" if facts else "")
        )
    return codes.code


def _add(rows: list[dict[str, Any]], model: Model) -> None:
    rows.append(model.summary())


def _known(what: str, name: str | None, known: set[str]) -> None:
    if name is not None and name not in known:
        from transformer_diagrams.errors import did_you_mean

        plural = {"family": "families"}.get(what, f"{what}s")
        raise click.UsageError(
            f"no spec has the {what} '{name}'; "
            + (
                did_you_mean(name, known, what=what).replace(f"{what}s:", f"{plural}:")
                or "none has any"
            )
        )


@click.command(
    epilog="""\b
Example, for completion in an editor with a YAML language server:
  transformer-diagrams schema > spec.schema.json
and as the first line of a spec:
  # yaml-language-server: $schema=spec.schema.json

\b
What the editor would mark in a file (check says more, and in better words):
  transformer-diagrams schema --validate my.yaml

\b
The line for an editor's settings, with the schema's own place:
  transformer-diagrams schema --install vscode
"""
)
@click.option(
    "--install", type=Among("editor", lambda: EDITORS),
    help="Keep the schema in the cache folder, and print the setting that names it.",
)
@click.option("--theme", is_flag=True, help="The schema of a theme file instead.")
@click.option("--validate", is_flag=True, help="Hold files against the schema, as an editor does.")
@click.argument("specs", metavar="[FILE...]", nargs=-1, type=SpecName())
def schema(
    install: str | None, theme: bool, validate: bool, specs: tuple[str, ...]
) -> int:
    """Print the JSON Schema of a spec (draft 2020-12), or hold files against it."""
    from transformer_diagrams.api import spec_schema, theme_schema
    from transformer_diagrams.cli.targets import models

    if install:
        if validate or theme or specs:
            raise click.UsageError("--install goes with no other option and no files")
        say(dump({"yaml.schemas": {_kept_schema(): ["specs/**/*.yaml"]}}))
        return 0
    if validate != bool(specs):
        raise click.UsageError(
            "--validate needs the files to look at"
            if validate
            else "to hold files against the schema, say --validate"
        )
    if theme and validate:
        raise click.UsageError("a theme file is checked by `render --theme FILE`")
    if not validate:
        say(dump(theme_schema() if theme else spec_schema()))
        return 0
    codes = Codes()
    for model in models(specs, codes):
        report = model.validate()
        if not report.ok:
            codes.worst(1)
        codes.show(report.faults)
        say(f"{model.label}: {summary(report.faults)}")
    return codes.code


def _kept_schema() -> str:
    """The schema as a file that stays, by its address."""
    from transformer_diagrams import __version__, cachedir
    from transformer_diagrams.api import spec_schema
    from transformer_diagrams.options import ask_error

    name = f"spec-{__version__}.schema.json"
    if not cachedir.write(name, f"{dump(spec_schema())}\n".encode()):
        raise ask_error(
            f"the cache folder '{cachedir.cache_root()}' cannot be written",
            f"name another in ${cachedir.ENV}, or keep the output of `schema` yourself",
        )
    return (cachedir.cache_root() / name).absolute().as_uri()


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams new my-model               writes my-model.yaml
  transformer-diagrams new drafts/my-model.yaml
  transformer-diagrams new --theme mine.yaml      a theme of one's own, for --theme mine.yaml
"""
)
@click.option("--theme", is_flag=True, help="A theme file instead.")
@click.argument("target", metavar="FILE|ID")
def new(target: str, theme: bool) -> int:
    """Write a commented starter spec that renders; never over a file that is there."""
    from transformer_diagrams import api

    path = Path(target)
    if not path.name:
        raise click.UsageError(f"'{target}' is no name for a new file")
    if path.suffix not in (".yaml", ".yml"):
        path = path.with_name(path.name + ".yaml")
    api.write_starter(path, theme=theme)
    say(str(path))
    return 0
