"""The program itself: its commands by name, and every exception turned into words and a code.

Exit codes: 0 fine; 1 a fault in the input; 2 wrong usage; 3 a program or library is missing.
A traceback never reaches a user, unless `--debug` asks for it.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from transformer_diagrams import __version__
from transformer_diagrams.errors import DiagramError, cut
from transformer_diagrams.streams import ReaderGone, guarded, say

# Command -> module of this package that has a click command of that name. `list` would hide the
# builtin, so its function has another name.
COMMANDS = {
    "render": ("render", "render"),
    "check": ("check", "check"),
    "lint": ("check", "lint"),
    "inspect": ("inspect", "inspect"),
    "import": ("take", "import_model"),
    "verify": ("verify", "verify"),
    "run": ("run", "run"),
    "prove": ("prove", "prove"),
    "diff": ("diff", "diff"),
    "list": ("catalog", "list_specs"),
    "schema": ("catalog", "schema"),
    "new": ("catalog", "new"),
    "watch": ("watch", "watch"),
    "live": ("live", "live"),
    "gallery": ("gallery", "gallery"),
}

REPORT_AT = "please report it together with the spec and the command"


class Commands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        command = getattr(import_module(f"transformer_diagrams.cli.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in COMMANDS and not word.startswith("-") and not ctx.resilient_parsing:
            from transformer_diagrams.errors import did_you_mean

            hint = did_you_mean(word, COMMANDS, what="command")
            raise click.UsageError(f"there is no command '{word}'; {hint}", ctx)
        return super().resolve_command(ctx, args)


EPILOG = """\b
Examples:
  transformer-diagrams list                        what comes with it
  transformer-diagrams render llama3 -f svg,pdf    llama3.svg and llama3.pdf, here
  transformer-diagrams render my.yaml -o figures --open attention --width 3.25in
  transformer-diagrams inspect llama3 --config 8B  parameters, KV cache, FLOPs
  transformer-diagrams diff gpt2 llama3            how two architectures differ
  transformer-diagrams new my-model                a commented spec to start from

\b
Shell completion (also for tdx: _TDX_COMPLETE):
  bash   eval "$(_TRANSFORMER_DIAGRAMS_COMPLETE=bash_source transformer-diagrams)"
  zsh    eval "$(_TRANSFORMER_DIAGRAMS_COMPLETE=zsh_source transformer-diagrams)"
  fish   _TRANSFORMER_DIAGRAMS_COMPLETE=fish_source transformer-diagrams | source

Exit codes: 0 fine, 1 a fault in the input, 2 wrong usage, 3 a program or library is missing.
"""


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected fault.")
def program(debug: bool) -> None:
    """Draw, check and measure transformer architectures written as YAML block graphs.

    A spec is named by its path, or by its id when it comes with the program (`llama3`, `gqa`).
    """


def run(arguments: Sequence[str]) -> int:
    """Run the program and give its exit code; words go to stdout and stderr."""
    arguments = list(arguments)
    debug = "--debug" in arguments
    arguments = [word for word in arguments if word != "--debug"]
    name = os.path.basename(sys.argv[0]).removesuffix(".exe").removesuffix(".py")
    shown = name if name in ("transformer-diagrams", "tdx") else "transformer-diagrams"
    return guarded(lambda: _run(arguments, shown, debug))


def _run(arguments: list[str], shown: str, debug: bool) -> int:
    try:
        code = program.main(arguments, prog_name=shown, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as fault:
        say(fault.format_message(), err=True)
        return 2
    except click.ClickException as fault:
        words = io.StringIO()
        fault.show(words)
        say("\n".join(map(cut, words.getvalue().split("\n"))), err=True, end="")
        return fault.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as fault:
        if isinstance(fault.__context__, BrokenPipeError):  # how click leaves then
            raise ReaderGone from fault
        raise
    except DiagramError as fault:
        from transformer_diagrams.cli.report import exit_code, show_faults

        show_faults(fault.faults)
        return exit_code(fault)
    except (OSError, ReaderGone):
        raise
    except Exception as fault:
        if debug:
            raise
        reason = " ".join(str(fault).split())[:300]
        say(
            f"unexpected {type(fault).__name__}: {reason}\n"
            f"This is a fault of the program, not of your spec: {REPORT_AT} "
            "(--debug shows more).",
            err=True,
        )
        return 1
