"""The program `transformer-diagrams` (short: `tdx`).

One module a command or two; each imports what its command needs, when it needs it.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the program with the process's arguments and leave with its exit code."""
    import gc

    # A start makes many lasting objects and hardly a circle: looked for less often.
    gc.set_threshold(50_000, 20, 50)
    # A closed stdin, stdout or stderr would give its number to the next file that is opened.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    from transformer_diagrams.cli.app import run

    sys.exit(run(sys.argv[1:]))
