"""The only module that starts a program: Graphviz draws a pinned DOT text as SVG.

The default program is ``graphviz-pure`` from the Python package of that name: no system package,
the same output on every machine. ``dot`` uses the system's Graphviz instead, with the command that
the Python package ``graphviz`` puts together; to import that takes longer than to draw a figure, so
the other program's is here.
"""

from __future__ import annotations

import os
import sys

from transformer_diagrams.errors import DiagramError, Fault, ToolMissing, did_you_mean

PROGRAMS: dict[str, tuple[str, str]] = {
    # choice: program, how to get it
    "pure": ("graphviz-pure", "pip install graphviz-pure"),
    "dot": ("dot", "install the system package 'graphviz', or use --graphviz pure"),
}
ENGINE = "neato"
AS_PINNED = 2
"""Graphviz's ``-n2``: boxes stay where the file puts them, and so do the lines."""
TIMEOUT = 60.0
"""Seconds that Graphviz may take; drawing pinned places takes milliseconds."""


def find(choice: str = "pure") -> str:
    """The path of a Graphviz program: beside the running Python first, then on the PATH.

    :raises ToolMissing: with what to install.
    :raises DiagramError: for an unknown choice.
    """
    if choice not in PROGRAMS:
        raise DiagramError(
            Fault(
                "unknown-graphviz",
                f"there is no Graphviz choice '{choice}'",
                found=choice,
                expected=", ".join(PROGRAMS),
                hint=did_you_mean(choice, PROGRAMS, what="choice"),
            )
        )
    program, remedy = PROGRAMS[choice]
    # A venv's scripts lie beside its Python, and are not on the PATH unless it is activated.
    beside = [os.path.dirname(sys.executable), os.path.join(sys.prefix, "bin")]
    if os.name == "nt":
        beside.append(os.path.join(sys.prefix, "Scripts"))
    if choice == "pure":
        for folder in beside:
            path = os.path.join(folder, f"{program}.exe" if os.name == "nt" else program)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    import shutil

    found = shutil.which(program)
    if found:
        return found
    raise ToolMissing(
        Fault(
            "missing-graphviz",
            f"the program '{program}' that draws the figures was not found",
            hint=remedy,
        )
    )


def draw_svg(dot: str, choice: str = "pure", *, timeout: float = TIMEOUT) -> str:
    """Graphviz's SVG of a pinned DOT text.

    :raises ToolMissing: when the program is absent.
    :raises DiagramError: when it fails or takes longer than ``timeout`` seconds (it is stopped
        then).
    """
    import subprocess

    program = find(choice)
    arguments = [f"-K{ENGINE}", "-Tsvg", f"-n{AS_PINNED}"]
    if choice == "dot":
        from graphviz.backend import dot_command

        _, *arguments = dot_command.command(ENGINE, "svg", neato_no_op=AS_PINNED)
    try:
        done = subprocess.run(
            [program, *arguments],
            input=dot.encode("utf-8"),
            capture_output=True,
            check=False,
            timeout=timeout,
            env={**os.environ, "LC_ALL": "C"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # no console on Windows
        )
    except subprocess.TimeoutExpired:
        raise DiagramError(
            Fault(
                "graphviz-timeout",
                f"Graphviz did not finish in {timeout:g} seconds and was stopped",
                hint="group or repeat parts of the figure to make it smaller",
            )
        ) from None
    except OSError as problem:
        raise ToolMissing(
            Fault(
                "missing-graphviz",
                f"the program '{program}' cannot be started: {problem.strerror}",
                hint=PROGRAMS[choice][1],
            )
        ) from None
    svg = str(done.stdout, "utf-8", "replace")
    if done.returncode or "</svg>" not in svg:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        errors = [line for line in lines if "rror" in line] or lines[-1:]
        raise DiagramError(
            Fault(
                "graphviz-failed",
                f"Graphviz ({os.path.basename(program)}) could not draw the figure "
                f"(exit code {done.returncode})",
                found="; ".join(errors[:3]),
            )
        )
    return svg
