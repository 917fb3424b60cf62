"""`watch`: draw again whenever a spec, or a spec that it uses, is saved."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transformer_diagrams.cli.report import Codes, show_faults
from transformer_diagrams.cli.values import Between, OutPath, asked, figure_options, specs_argument
from transformer_diagrams.streams import say

if TYPE_CHECKING:
    from transformer_diagrams.api import Model
    from transformer_diagrams.preview.figures import Stamp

# An editor may save in two steps (empty, then full): wait until a file has been left alone.
SETTLE = 0.05


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams watch my.yaml               my.svg, again on every save
  transformer-diagrams watch drafts -o figures -f svg,pdf
  transformer-diagrams watch my.yaml --serve       a page that shows it, and its faults
"""
)
@specs_argument()
@click.option("-f", "--format", "formats", help="svg when not said; commas between.")
@click.option(
    "-o", "--output", "folder", metavar="DIR", type=OutPath(), help="The folder to write to; here.",
)
@click.option(
    "--serve", is_flag=True,
    help="Write no file: show the figure on a page that only this machine can reach.",
)
@click.option("--port", type=click.IntRange(1, 65535), help="Of the page; a free one, if not said.")
@click.option("--browser", is_flag=True, help="Open the page in the browser.")
@figure_options
@click.option(
    "--interval", type=Between(0.02, 3600), default=0.25, show_default=True,
    help="Seconds between looks.",
)
def watch(
    specs: tuple[str, ...], formats: str | None, folder: str | None, serve: bool,
    port: int | None, browser: bool, interval: float, **options: Any,
) -> int:  # fmt: skip
    """Draw specs, and again on every save, until Ctrl-C. Faults are shown and the watch goes on."""
    from transformer_diagrams import api
    from transformer_diagrams.cli.values import Among
    from transformer_diagrams.preview.figures import stamp

    one = Among("format", api.format_names)
    names = [one.convert(name.strip(), None, None) for name in (formats or "svg").split(",")]
    wish = asked(**options)
    if "-" in specs:
        raise click.UsageError("stdin cannot be watched; name a file")
    if serve and (formats or folder):
        raise click.UsageError("--serve writes no file; it goes with neither --format nor --output")
    if not serve and (port or browser):
        raise click.UsageError("--port and --browser are for the page of --serve")
    _look(specs, Codes(), must=True)
    if serve:
        return _serve(specs, wish, port or 0, browser, interval)
    say("watching; Ctrl-C ends it", err=True)
    seen: dict[str, Stamp] = {}
    owners: dict[Path, str] = {}  # figure -> the spec that it is of
    try:
        while True:
            for model in _look(specs, Codes()):
                key = str(model.path)
                if key in seen and seen[key] == stamp(seen[key]):
                    continue
                time.sleep(SETTLE)
                # Marks are taken before the files are read, so that a save meanwhile is not missed.
                before = stamp({**seen.get(key, {}), key: None})
                model = api.Model.find(key)
                files = _draw(model, names, Path(folder or "."), wish, owners)
                seen[key] = {**stamp(dict.fromkeys(files)), **before}
            time.sleep(interval)
    except KeyboardInterrupt:
        say("ended", err=True)
        return 0


def _serve(
    specs: tuple[str, ...], wish: dict[str, Any], port: int, browser: bool, interval: float
) -> int:
    """The page, until Ctrl-C."""
    from threading import Thread

    from transformer_diagrams.preview.figures import Figures
    from transformer_diagrams.preview.server import Server

    figures = Figures(lambda: {model.label: model for model in _look(specs, Codes())}, wish)
    with Server(figures, port, interval=interval) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        say(f"{server.address}  (Ctrl-C ends it)")
        if browser:
            import webbrowser

            webbrowser.open(server.address)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            server.shutdown()
    say("ended", err=True)
    return 0


def _look(specs: tuple[str, ...], codes: Codes, *, must: bool = False) -> list[Model]:
    """The specs as they are now: a folder or a glob may have gained some."""
    from transformer_diagrams.cli.targets import models
    from transformer_diagrams.options import AskError

    found = models(specs, codes) if must else _quietly(specs)
    if must and codes.code:
        raise AskError(())
    return found


def _quietly(specs: tuple[str, ...]) -> list[Model]:
    from transformer_diagrams import api
    from transformer_diagrams.cli.targets import expand
    from transformer_diagrams.errors import DiagramError

    found = []
    for word in specs:
        try:
            found += [api.Model.find(name) for name in expand(word)]
        except DiagramError:
            continue  # deleted for a moment, or being renamed by the editor: look again soon
    return found


def _draw(
    model: Model, formats: list[str], folder: Path, wish: dict[str, Any], owners: dict[Path, str]
) -> tuple[str, ...]:
    """Render once, say what happened; gives the files whose change asks for another turn. A
    figure of another spec is not written over."""
    from transformer_diagrams.api import save
    from transformer_diagrams.options import ask_error

    codes = Codes()

    def work() -> None:
        for name in formats:
            begin = time.perf_counter()
            result = model.render(name, **wish)
            path = folder / f"{model.id}.{name}"
            if owners.setdefault(path, str(model.path)) != str(model.path):
                raise ask_error(
                    f"'{path}' is the figure of two specs; the second was not written",
                    "give them ids that differ, or watch them apart",
                )
            save(path, result.data)
            if name == formats[0]:
                show_faults(result.warnings)
            say(f"{time.strftime('%H:%M:%S')} {path} ({time.perf_counter() - begin:.2f} s)")

    if not codes.attempt(work):
        say(
            f"{time.strftime('%H:%M:%S')} {model.label}: waiting for the next save", err=True
        )
    return model.files(wish.get("theme"))
