"""`check` and `lint`: is the spec right, and is its figure clean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from transformer_diagrams.cli.report import Codes, counted, summary
from transformer_diagrams.cli.values import (
    Among,
    asked,
    config_option,
    figure_options,
    json_option,
    specs_argument,
)
from transformer_diagrams.streams import dump, say

if TYPE_CHECKING:
    from transformer_diagrams.api import Model
    from transformer_diagrams.errors import Fault
    from transformer_diagrams.graph.frame import Used

FORMS = ("github", "sarif")


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams check my.yaml
  transformer-diagrams check specs                 every spec in a folder
  transformer-diagrams check llama3 --config 8B    with these numbers only
  transformer-diagrams check my.yaml -v            what the used specs were given
  transformer-diagrams check my.yaml --json
  transformer-diagrams check specs --format github beside the lines of a pull request
"""
)
@specs_argument()
@config_option
@click.option(
    "-v", "--verbose", is_flag=True, help="List what the sizes of each used spec are bound to."
)
@json_option
@click.option(
    "--format", "form", type=Among("form", lambda: FORMS),
    help="Print the faults alone, as lines for a GitHub workflow, or as a SARIF log.",
)
def check(
    specs: tuple[str, ...], config: str | None, verbose: bool, as_json: bool, form: str | None
) -> int:  # fmt: skip
    """Check specs: form, wiring, and every tensor's shape, symbolically and for each config.

    All faults are told in one run.
    """
    from transformer_diagrams.cli.targets import models

    if form and (as_json or verbose):
        raise click.UsageError("--format prints faults alone; it goes with neither --json nor -v")
    codes = Codes()
    rows: list[dict[str, Any]] = []
    faults: list[Fault] = []
    for model in models(specs, codes):
        report = model.check(config)
        if not report.ok:
            codes.worst(1)
        if form:
            faults += report.faults
        elif as_json:
            rows.append(
                {
                    "id": model.id,
                    "file": model.label,
                    "ok": report.ok,
                    "faults": [fault.as_json() for fault in report.faults],
                    **({"used": [_used_json(used) for used in model.used()]} if verbose else {}),
                }
            )
        else:
            codes.show(report.faults)
            say(f"{model.label}: {summary(report.faults)}")
            for used in model.used() if verbose else ():
                say(_used_text(used))
    if as_json:
        say(dump({"ok": codes.code == 0, "specs": rows}))
    elif form:
        from transformer_diagrams.cli.annotations import github, sarif

        if form == "sarif":
            say(dump(sarif(faults)))
        else:
            for fault in faults:
                say(github(fault))
    return codes.code


_MOST_PATHS = 6


def _used_text(used: Used) -> str:
    """One used spec: where, then a line for each size and option."""
    paths = ", ".join(used.paths[:_MOST_PATHS])
    more = len(used.paths) - _MOST_PATHS
    lines = [f"  {paths}{f' and {more} more' if more > 0 else ''}: {used.id}"]
    cells = [(f"{each.name} = {each.value}", each.how) for each in used.given]
    wide = max((len(cell) for cell, _ in cells), default=0)
    return "\n".join([*lines, *(f"    {cell:<{wide}}  {how}" for cell, how in cells)])


def _used_json(used: Used) -> dict[str, Any]:
    bound = [
        {"name": each.name, "value": each.value, "how": each.how, "doc": each.doc}
        for each in used.given
    ]
    return {"id": used.id, "at": list(used.paths), "bound": bound}


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams lint my.yaml
  transformer-diagrams lint 'specs/*.yaml' --theme dark --direction right
"""
)
@specs_argument()
@figure_options
@json_option
def lint(specs: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Look for flaws in the figure itself: overlaps, clipped text, crossings, contrast."""
    from transformer_diagrams.cli.targets import models

    codes = Codes()
    rows: list[dict[str, Any]] = []
    for model in models(specs, codes):
        codes.attempt(_lint, model, asked(**options), as_json, rows, codes)
    if as_json:
        say(dump({"ok": codes.code == 0, "specs": rows}))
    return codes.code


def _lint(
    model: Model, wish: dict[str, Any], as_json: bool, rows: list[dict[str, Any]], codes: Codes
) -> None:
    result = model.lint(**wish)
    if result.findings:
        codes.worst(1)
    if as_json:
        facts = {"boxes": result.boxes, "lines": result.lines, "score": result.score.as_json()}
        findings = [
            {"rule": each.rule, "what": each.what, "detail": each.detail}
            for each in result.findings
        ]
        ok = not findings
        rows.append({"id": model.id, "file": model.label, "ok": ok, "findings": findings, **facts})
        return
    for finding in result.findings:
        say(f"{model.label}: {finding}")
    words = counted(len(result.findings), "finding") if result.findings else "clean"
    rated = result.score
    numbers = f"{counted(rated.crossings, 'crossing')}, {counted(rated.bends, 'bend')}"
    say(f"{model.label}: {words} ({numbers})")
