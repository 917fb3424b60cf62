"""`render`: specs to figures, in any format, to a folder, a file or stdout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transformer_diagrams.cli.report import Codes, show_faults
from transformer_diagrams.cli.values import Among, OutPath, asked, figure_options, specs_argument
from transformer_diagrams.options import SINGLE, STEPS, ask_error
from transformer_diagrams.streams import dump, say, say_bytes

if TYPE_CHECKING:
    from transformer_diagrams.api import Model
    from transformer_diagrams.errors import Fault

STAGES = ("spec", "graph", "shapes", "scene")

EPILOG = """\b
Examples:
  transformer-diagrams render llama3                          llama3.svg, here
  transformer-diagrams render llama3 gqa -f svg,pdf -o out    four files in out/
  transformer-diagrams render llama3 -o figure.png --dpi 300
  transformer-diagrams render llama3 -o - | less              SVG to stdout
  transformer-diagrams render 'models/*.yaml' --theme slides --direction right
  transformer-diagrams render llama3 --open attention --callout ffn --config 8B
  transformer-diagrams render llama3 --width 3.25in -f pdf    for one column of a paper
  transformer-diagrams render gpt2 llama3 --side-by-side -f pdf
  transformer-diagrams render llama3 --pair -o docs/img       light and dark for a README
  transformer-diagrams render llama3 -f pptx --steps block    a slide for each step
  cat my.yaml | transformer-diagrams render - -o -
"""


def _formats() -> tuple[str, ...]:
    from transformer_diagrams.api import format_names

    return format_names()


if TYPE_CHECKING:
    NamesType = click.ParamType[tuple[str, ...]]
else:
    NamesType = click.ParamType  # generic only in newer releases


class Formats(NamesType):
    """Names of formats with commas between."""

    name = "format"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return ",".join(_formats())

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        one = Among("format", _formats)
        names = [one.convert(part.strip().lower(), param, ctx) for part in value.split(",")]
        return tuple(dict.fromkeys(names))


@click.command(epilog=EPILOG)
@specs_argument()
@click.option("-f", "--format", "formats", type=Formats(), help="svg when not said, or as -o ends.")
@click.option(
    "-o",
    "--output",
    metavar="DIR|FILE|-",
    type=OutPath(),
    help="Where to: a folder (made when missing), one file, or - for stdout.",
)
@figure_options
@click.option("--scale", type=float, metavar="X", help="Pixels of a PNG: X times 96 an inch.")
@click.option("--dpi", type=float, metavar="N", help="Pixels of a PNG an inch.")
@click.option("--outline-text", is_flag=True, default=None, help="Words as outlines only.")
@click.option(
    "--text", is_flag=True, default=None, help="Words of an SVG as text, with their font inside."
)
@click.option(
    "--ids", metavar="NAME",
    help="What the ids of blocks in an SVG begin with; the spec's when not said.",
)  # fmt: skip
@click.option(
    "--steps", type=Among("choice", lambda: STEPS),
    help="Reveal the figure in the order of its data, or as `step:` says: pages of a PDF, slides "
    "of a PPTX, numbered SVGs or PNGs.",
)  # fmt: skip
@click.option("--animate", is_flag=True, default=None, help="One SVG that plays the steps, once.")
@click.option(
    "--emit",
    type=Among("stage", lambda: STAGES),
    help="Print what a stage made, as JSON, instead of a figure.",
)
@click.option("--pair", is_flag=True, help="A light and a dark SVG, and the <picture> to paste.")
@click.option(
    "--side-by-side", is_flag=True,
    help="Several specs as the panels (a), (b) of one figure, with one legend.",
)
@click.option(
    "--check", is_flag=True,
    help="Write nothing, and leave with 1 when a file is not what would be written.",
)
@click.pass_context
def render(
    ctx: click.Context,
    /,
    specs: tuple[str, ...],
    formats: tuple[str, ...] | None,
    output: str | None,
    emit: str | None,
    pair: bool,
    side_by_side: bool,
    check: bool,
    **options: Any,
) -> int:
    """Draw specs: by path, by id of a bundled one, by glob, or - for stdin."""
    from transformer_diagrams.cli.targets import models

    if emit and (formats or pair):
        raise click.UsageError("--emit prints JSON; it goes with neither --format nor --pair", ctx)
    if pair and (formats or options.get("theme") or output == "-"):
        raise click.UsageError("--pair makes two SVG files in its own two themes", ctx)
    if side_by_side and (emit or pair):
        raise click.UsageError("--side-by-side makes one figure; leave --emit and --pair out", ctx)
    codes = Codes()
    chosen = models(specs, codes)
    where = _where(ctx, output, formats, emit, 1 if side_by_side else len(chosen))
    if check and where.stdout:
        raise click.UsageError("--check looks at files; nothing is written here", ctx)
    wish = asked(**options)
    pairs = Where((), file=None, folder=where.file.parent if where.file else where.folder or Path())
    where.check = pairs.check = check
    if side_by_side:
        if not codes.code:  # all of them, or none
            for name in where.formats:
                codes.attempt(_panels, chosen, name, wish, where)
        return codes.code
    for model in chosen:
        if emit:
            codes.attempt(_emit, model, emit, wish, where)
        elif pair:
            codes.attempt(_pair, model, wish, where, pairs)
        else:
            warnings: dict[Fault, None] = {}
            for name in where.formats:
                codes.attempt(_figure, model, name, wish, where, warnings)
            codes.show(warnings)  # each once a spec, not once a format
    return codes.code


class Where:
    """Where output goes: stdout, one file, or a folder."""

    def __init__(self, formats: tuple[str, ...], *, file: Path | None, folder: Path | None) -> None:
        self.formats = formats
        self.file = file
        self.folder = folder
        self.written: set[Path] = set()
        self.check = False  # look only whether it is there

    @property
    def stdout(self) -> bool:
        return self.file is None and self.folder is None

    def write(self, data: bytes, name: str, tail: str = "") -> None:
        """Put ``data`` there under ``name`` (a folder's file), ``tail`` before its suffix; prints
        the path of what it wrote.

        :raises DiagramError: where another was written already; of a check, what differs.
        """
        from transformer_diagrams.api import save
        from transformer_diagrams.errors import DiagramError, Fault

        if self.stdout:
            say_bytes(data)
            return
        path = self.file or (self.folder or Path()) / name
        path = path.with_name(f"{path.stem}{tail}{path.suffix}") if tail else path
        if path in self.written:
            raise ask_error(
                f"'{path}' is the figure of two specs; the second was not written",
                "give them ids that differ, or a folder each",
            )
        self.written.add(path)
        if not self.check:
            save(path, data)
            say(str(path))
        elif not path.is_file() or path.read_bytes() != data:
            what = "is not what its spec gives now" if path.is_file() else "is not there"
            hint = "render it again, without --check and with the same options"
            raise DiagramError(Fault("out-of-date", f"'{path}' {what}", hint=hint))


def _where(
    ctx: click.Context,
    output: str | None,
    formats: tuple[str, ...] | None,
    emit: str | None,
    specs: int,
) -> Where:
    if output == "-":
        if specs > 1 or len(formats or ()) > 1:
            raise click.UsageError("-o - takes one figure: one spec and one format", ctx)
        return Where(formats or ("svg",), file=None, folder=None)
    if output is None and emit:
        if specs > 1:
            raise click.UsageError("--emit of several specs needs a folder: -o DIR", ctx)
        return Where((), file=None, folder=None)
    path = Path(output or ".")
    suffix = path.suffix.lower().lstrip(".")
    known = ("json",) if emit else _formats()
    if output and not output.endswith(("/", "\\")) and suffix and not path.is_dir():
        if suffix not in known:
            from transformer_diagrams.errors import did_you_mean

            raise click.UsageError(
                f"'{output}' ends in .{suffix}, which is not a format; "
                f"{did_you_mean(suffix, known, what='format')}; "
                "for a folder of that name write a / at its end",
                ctx,
            )
        if specs > 1 or len(formats or ()) > 1:
            raise click.UsageError(
                f"'{output}' is one file; several figures need a folder: -o DIR", ctx
            )
        if formats and formats != (suffix,):
            raise click.UsageError(f"'{output}' ends in .{suffix}, but -f says {formats[0]}", ctx)
        return Where((suffix,), file=path, folder=None)
    return Where(formats or ("svg",), file=None, folder=path)


def _panels(models: list[Model], format: str, wish: dict[str, Any], where: Where) -> None:
    from transformer_diagrams.api import side_by_side

    result = side_by_side(models, format, **wish)
    show_faults(result.warnings)
    where.write(result.data, f"{'-'.join(model.id for model in models)}.{format}")


def _figure(
    model: Model, format: str, wish: dict[str, Any], where: Where, warnings: dict[Fault, None]
) -> None:
    if format in SINGLE and "steps" in wish and not wish.get("animate"):
        if where.stdout:
            raise ask_error("steps are several files", "-o DIR, or --animate for one SVG")
        made = model.render_steps(format, **wish)
        for at, step in enumerate(made, 1):
            where.write(step.data, f"{model.id}.{format}", f"-{at:0{len(str(len(made)))}d}")
        warnings.update(dict.fromkeys(made[0].warnings))
        return
    result = model.render(format, **wish)
    warnings.update(dict.fromkeys(result.warnings))
    where.write(result.data, f"{model.id}.{format}")


def _emit(model: Model, stage: str, wish: dict[str, Any], where: Where) -> None:
    text = dump(model.emit(stage, **wish)) + "\n"
    where.write(text.encode(), f"{model.id}.{stage}.json")


def _pair(model: Model, wish: dict[str, Any], where: Where, into: Where) -> None:
    from html import escape
    from urllib.parse import quote

    stem = where.file.stem if where.file else model.id
    for name, theme in ((f"{stem}.svg", "paper"), (f"{stem}-dark.svg", "dark")):
        result = model.render("svg", **{**wish, "theme": theme})
        if theme == "paper":
            show_faults(result.warnings)
        into.write(result.data, name)
    source = quote(((into.folder or Path()) / stem).as_posix())
    say(
        f"""
<picture>
  <source media="(prefers-color-scheme: dark)" srcset="{source}-dark.svg">
  <img alt="{escape(model.title)}" src="{source}.svg">
</picture>"""
    )
