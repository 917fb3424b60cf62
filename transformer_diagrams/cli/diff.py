"""`diff`: how two architectures differ, in words, JSON or one figure."""

from __future__ import annotations

import click

from transformer_diagrams.cli.values import SpecName, ThemeName, _themes, json_option
from transformer_diagrams.streams import dump, say


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams diff gpt2 llama3
  transformer-diagrams diff gpt2 llama3 --config-a small --config-b 8B
  transformer-diagrams diff mine.yaml llama3 --figure difference.svg
  transformer-diagrams diff old.yaml new.yaml --exit-code
"""
)
@click.argument("a", metavar="A", type=SpecName())
@click.argument("b", metavar="B", type=SpecName())
@click.option("--config-a", metavar="NAME", help="Sizes of a named config of A.")
@click.option("--config-b", metavar="NAME", help="Sizes of a named config of B.")
@click.option("--length", type=click.IntRange(min=1), metavar="N", help="Positions, for the FLOPs.")
@json_option
@click.option(
    "--figure", metavar="FILE",
    help="Draw both side by side, what differs marked; the name's end says the format.",
)
@click.option(
    "--open", "open_", metavar="NAME", multiple=True,
    help="Draw this sub-module opened in the figure (again for more).",
)
@click.option("--theme", type=ThemeName("theme", _themes), help="How the figure looks.")
@click.option("--exit-code", is_flag=True, help="Leave with 1 when they differ, 0 when not.")
def diff(
    a: str,
    b: str,
    config_a: str | None,
    config_b: str | None,
    length: int | None,
    as_json: bool,
    figure: str | None,
    open_: tuple[str, ...],
    theme: str | None,
    exit_code: bool,
) -> int:
    """Say how architecture B differs from A.

    Blocks replaced, added and removed; sizes, options and counts side by side.
    """
    from pathlib import Path

    from transformer_diagrams import api
    from transformer_diagrams.cli.targets import tell
    from transformer_diagrams.cli.values import asked
    from transformer_diagrams.diff.words import text_of

    first, second = api.Model.find(a), api.Model.find(b)
    for model in (first, second):
        tell(model)
    found = api.compare(first, second, config_a=config_a, config_b=config_b, length=length)
    if figure is not None:
        drawn = api.compare_figure(
            first, second, Path(figure).suffix.lstrip(".") or "svg",
            config_a=config_a, config_b=config_b, **asked(open_=open_, theme=theme),
        )  # fmt: skip
        from transformer_diagrams.cli.report import show_faults

        show_faults(drawn.warnings)
        drawn.save(Path(figure))
    say(dump(found.as_json()) if as_json else text_of(found))
    return 1 if exit_code and not found.equal else 0
