"""`gallery`: the static site with a page for every architecture and text."""

from __future__ import annotations

import sys
import time

import click

from transformer_diagrams.cli.report import counted, show_faults
from transformer_diagrams.cli.values import OutPath, specs_argument
from transformer_diagrams.streams import printable, say


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams gallery -o site            all that comes with the program
  transformer-diagrams gallery my-specs -o site   yours, and what they use
  transformer-diagrams gallery my-specs --pages docs/pages --title "Our models" -o site

\b
The site is plain files: open site/index.html, or put the folder on any server.
"""
)
@specs_argument(required=False)
@click.option(
    "-o", "--output", metavar="DIR", type=OutPath(), required=True, help="The folder of the site."
)
@click.option(
    "--pages", metavar="DIR", type=OutPath(), help="Markdown pages with front matter, *.md."
)
@click.option("--title", metavar="WORDS", help="The site's name.")
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes that draw.")
def gallery(
    specs: tuple[str, ...],
    output: str,
    pages: str | None,
    title: str | None,
    workers: int | None,
) -> int:
    """Write a site to read and look through: without a server, without a network."""
    from transformer_diagrams.gallery.site import TITLE, build

    begin = time.perf_counter()
    moving = sys.stderr.isatty()

    def tell(done: int, total: int, name: str) -> None:
        if moving:
            say(f"\r\x1b[K[{done}/{total}] {printable(name)}", err=True, end="", ready=True)

    try:
        made = build(
            output, specs, words=pages, title=title or TITLE, workers=workers, tell=tell
        )
    finally:
        if moving:
            say("\r\x1b[K", err=True, end="", ready=True)
    say(
        f"{made.folder}/index.html: {counted(made.architectures, 'architecture')}, "
        f"{counted(made.texts, 'text')}, {counted(made.topics, 'topic')}, {made.files} files "
        f"({made.drawn} drawn, {time.perf_counter() - begin:.1f} s)"
    )
    show_faults(made.faults)
    return 1 if made.faults else 0
