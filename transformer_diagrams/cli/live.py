"""`live`: the figures with sliders: list them, write pages and single states, check them."""

from __future__ import annotations

import click

from transformer_diagrams.cli.values import Between, OutPath, TextType, json_option
from transformer_diagrams.streams import dump, say


class FigureId(TextType):
    """The id of a live figure, completed in the shell."""

    name = "figure"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        from transformer_diagrams.live.figures import IDS

        return [click.shell_completion.CompletionItem(i) for i in IDS if i.startswith(incomplete)]


_spec = click.option(
    "--spec", metavar="ID|PATH", help="Show this model in where-parameters-go."
)
_config = click.option("--config", metavar="NAME", help="Sizes of a named config of --spec.")
_spec_set = click.option(
    "--spec-set", "spec_sets", metavar="NAME=VALUE", multiple=True,
    help="A size or option of --spec (again for more).",
)
_data = click.option(
    "--data", metavar="FILE",
    help="Own tokens, embeddings and projections (JSON) for who-attends and several-heads.",
)


@click.group(
    epilog="""\b
Examples:
  transformer-diagrams live list
  transformer-diagrams live export several-heads --set log2h=3 -o heads.pdf
  transformer-diagrams live page who-attends several-heads -o attention.html
  transformer-diagrams live page where-parameters-go --spec llama3 -o llama3.html
"""
)
def live() -> None:
    """Figures with sliders: pages, pictures of one state, and their check."""


@live.command("list")
@json_option
def list_live(as_json: bool) -> int:
    """The live figures and their sliders."""
    from transformer_diagrams.live.commands import list_figures

    found = list_figures()
    if as_json:
        say(dump(found))
        return 0
    for figure in found:
        say(f"{figure['id']:<20} {figure['title']}")
        for slider in figure["sliders"]:
            say(f"  --set {slider['name']}=...  {slider['label']}: {slider['allowed']}")
    return 0


@live.command()
@click.argument("figure", type=FigureId())
@click.option(
    "--set", "sets", metavar="NAME=VALUE", multiple=True, help="A slider's value (again for more)."
)
@click.option(
    "-o", "--output", metavar="FILE", type=OutPath(), required=True,
    help="The file; its end says the format.",
)
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True)
@click.option("--scale", type=Between(0.01, 100), metavar="N", help="Pixels a unit, for PNG.")
@_spec
@_config
@_spec_set
@_data
def export(
    figure: str,
    sets: tuple[str, ...],
    output: str,
    theme: str,
    scale: float | None,
    spec: str | None,
    config: str | None,
    spec_sets: tuple[str, ...],
    data: str | None,
) -> int:
    """Write one state of a figure as .svg, .png, .pdf, or .html (live)."""
    from transformer_diagrams.live import commands

    path = commands.export(
        figure, sets, output, theme=theme, scale=scale, spec=spec, config=config,
        spec_sets=spec_sets, data=data,
    )
    say(str(path))
    return 0


@live.command()
@click.argument("figures", nargs=-1, type=FigureId())
@click.option(
    "-o", "--output", metavar="FILE", type=OutPath(), required=True, help="The page to write."
)
@click.option("--title", default="", metavar="TEXT", help="Heading of the page.")
@click.option(
    "--theme", type=click.Choice(["auto", "light", "dark"]), default="auto", show_default=True
)
@_spec
@_config
@_spec_set
@_data
def page(
    figures: tuple[str, ...],
    output: str,
    title: str,
    theme: str,
    spec: str | None,
    config: str | None,
    spec_sets: tuple[str, ...],
    data: str | None,
) -> int:
    """Write one self-contained page with these figures (none named: all of them)."""
    from transformer_diagrams.live import commands

    path = commands.page(
        figures, output, spec, config=config, spec_sets=spec_sets, data=data, title=title,
        theme=theme,
    )
    say(str(path))
    return 0


@live.command()
@click.argument("figures", nargs=-1, type=FigureId())
def check(figures: tuple[str, ...]) -> int:
    """Compare the page's numbers with NumPy's in every state, in a headless browser."""
    from transformer_diagrams.live import commands

    failed = False
    for found in commands.check(figures):
        state = "fine" if found.ok else f"{len(found.problems)} problems"
        say(
            f"{found.id:<20} {found.states:>4} states, largest difference "
            f"{found.difference:.1e}: {state}"
        )
        for problem in found.problems:
            say(f"  {problem}")
        failed = failed or not found.ok
    return int(failed)
