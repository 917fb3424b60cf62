"""The program `transformer-diagrams` (short: `tdx`).

One module a command or two; each imports what its command needs, when it needs it.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the program with the process's arguments and leave with its exit code."""
    import atexit
    import gc
    from contextlib import suppress

    # A figure makes many lasting objects and hardly a circle: looked for in large ones alone.
    gc.set_threshold(500_000, 20, 50)
    # A closed stdin, stdout or stderr would give its number to the next file that is opened.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    from transformer_diagrams.cli.app import run

    code = run(sys.argv[1:])
    # As `sys.exit`, without taking all that is left apart: a tenth of the time of a figure.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    os._exit(code)
