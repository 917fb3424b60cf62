"""The program `transformer-diagrams` (short: `tdx`).

One module a command or two; each imports what its command needs, when it needs it.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program with the process's arguments and leave with its exit code."""
    from transformer_diagrams.cli.app import run

    sys.exit(run(sys.argv[1:]))
