"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from transformer_diagrams.choices import DIRECTIONS, MODES, MOST_FOLDS, SHAPES
from transformer_diagrams.options import BACKGROUNDS, DENSITY, GRAPHVIZ

if TYPE_CHECKING:
    TextType = click.ParamType[str]
else:
    TextType = click.ParamType  # generic only in newer releases

Command = TypeVar("Command", bound=Callable[..., Any])


class Among(TextType):
    """A name from a short list, made when it is needed; a wrong one is told the nearest."""

    def __init__(self, name: str, choices: Callable[[], tuple[str, ...]]) -> None:
        self.name = name
        self.choices = choices

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "[" + "|".join(self.choices()) + "]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices():
            from transformer_diagrams.errors import did_you_mean

            hint = did_you_mean(str(value), self.choices(), what=self.name)
            self.fail(f"'{value}' is not a {self.name}; {hint}", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(c) for c in self.choices() if c.startswith(incomplete)]


class ThemeName(Among):
    """A bundled theme, or the path of a theme file."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "[" + "|".join((*self.choices(), "FILE")) + "]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from transformer_diagrams.theme import is_path

        if is_path(str(value)):
            return str(value)
        return super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        named = super().shell_complete(ctx, param, incomplete)
        return named or [CompletionItem(incomplete, type="file")]


class Between(click.FloatRange):
    """A number between two; what is no number (`nan`) is not between them."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if number != number:
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


class OutPath(TextType):
    """Where to write; an empty name would silently mean the current folder."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value):
            self.fail("an empty name is no place to write to", param, ctx)
        return str(value)


class SpecName(TextType):
    """A spec by path, id or glob; completes bundled ids and files."""

    name = "spec"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from transformer_diagrams.api import bundled_ids

        ids = [CompletionItem(i) for i in bundled_ids() if i.startswith(incomplete)]
        return ids or [CompletionItem(incomplete, type="file")]


def _themes() -> tuple[str, ...]:
    from transformer_diagrams.api import theme_names

    return theme_names()


def specs_argument(*, required: bool = True) -> Callable[[Command], Command]:
    """The specs a command works on."""
    return click.argument("specs", metavar="SPEC...", nargs=-1, required=required, type=SpecName())


config_option = click.option("--config", metavar="NAME", help="Sizes of a named config, e.g. 8B.")
set_option = click.option(
    "--set", "sets", metavar="NAME=VALUE", multiple=True,
    help="Set one size or option, e.g. d_m=512 (again for more).",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")


def figure_options(command: Command) -> Command:
    """Everything that changes how a figure looks."""
    decorators = [
        click.option(
            "--theme", type=ThemeName("theme", _themes),
            help="How it looks, or a theme file of one's own; paper when not said.",
        ),
        click.option(
            "--direction", type=Among("direction", lambda: DIRECTIONS), help="Which way data flows."
        ),
        click.option(
            "--open", "open_", metavar="NAME", multiple=True,
            help="Draw this part opened in place: an id, a path such as attention/rotation, "
            "the used spec's id, or a number of levels (again for more).",
        ),
        click.option(
            "--close", metavar="NAME", multiple=True,
            help="Draw this part as one box: a used spec, or a structure by its id.",
        ),
        click.option(
            "--callout", metavar="NAME", multiple=True,
            help="Draw this part opened beside the figure.",
        ),
        click.option(
            "--width", metavar="LENGTH",
            help="Most physical width: 3.25in, 8cm, 234pt; a smaller figure keeps its size.",
        ),
        click.option("--height", metavar="LENGTH", help="Most physical height, likewise."),
        click.option(
            "--fit", metavar="AREA", help="Both: 3.25inx9in is one column of a paper."
        ),
        click.option(
            "--enlarge", is_flag=True, default=None,
            help="Make a small figure as large as these allow.",
        ),
        click.option(
            "--density", type=Among("density", lambda: DENSITY),
            help="How close the parts stand; compact for a narrow column.",
        ),
        click.option(
            "--fold", type=click.IntRange(0, MOST_FOLDS), metavar="N",
            help="Cut a long figure N times between its blocks, the pieces side by side (one "
            "below the other with --direction right); 0: not at all.",
        ),
        click.option(
            "--aspect", metavar="WIDTH:HEIGHT",
            help="As many folds as bring it nearest to this, e.g. 16:9.",
        ),
        click.option(
            "--mode", type=Among("mode", lambda: MODES),
            help="Leave out what is only there at the other time, and what served that alone.",
        ),
        click.option(
            "--background", type=Among("background", lambda: BACKGROUNDS),
            help="The theme's own when not said, so that it can be read on any page; "
            "none is transparent.",
        ),
        click.option(
            "--shapes", type=Among("choice", lambda: SHAPES),
            help="Shapes beside arrows; where they change when not said.",
        ),
        click.option("--legend/--no-legend", default=None, help="Explain the colours and lines."),
        config_option,
        set_option,
        click.option(
            "--graphviz", type=Among("Graphviz", lambda: GRAPHVIZ),
            help="The Graphviz that draws: the packaged one, or the system's dot.",
        ),
    ]  # fmt: skip
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def asked(**given: Any) -> dict[str, Any]:
    """The options a user gave, under the names of :class:`transformer_diagrams.options.Options`."""
    given["open"] = given.pop("open_", ())
    given["set"] = given.pop("sets", ())
    return {name: value for name, value in given.items() if value is not None and value != ()}
