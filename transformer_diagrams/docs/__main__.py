"""`python -m transformer_diagrams.docs [ROOT]` renews the generated parts of a checkout's pages."""

from __future__ import annotations

import sys
from pathlib import Path

from transformer_diagrams.api import save
from transformer_diagrams.docs.pages import PAGES, renewed


def main(arguments: list[str]) -> int:
    """Renew every page below ROOT (default: here); prints those that changed."""
    root = Path(arguments[0] if arguments else ".")
    for name in PAGES:
        page = root / name
        old = page.read_text(encoding="utf-8")
        new = renewed(old, root)
        if new != old:
            save(page, new.encode("utf-8"))
            print(f"renewed {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
