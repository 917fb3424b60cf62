"""Where the specs lie that come with the package, and what is kept of their figures.

Imports nothing, so that a warm run may ask.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path


def bundled_dir() -> Path:
    """`_specs` inside an installed package; in a source tree, `specs` beside it."""
    package = Path(__file__).resolve().parent
    installed = package / "_specs"
    return installed if installed.is_dir() else package.parent / "specs"


def bundled_labels() -> Path:
    """The measured labels of the bundled figures, which `make diagrams` keeps; see `text.kept`."""
    package = Path(__file__).resolve().parent
    installed = package / "_labels.bin"
    return installed if installed.is_file() else package.parent / "diagrams" / "labels.bin"


@lru_cache(maxsize=1)
def bundled_specs() -> dict[str, Path]:
    """Id -> file of every bundled spec, in the order of the ids; an id is a file's stem."""
    found: dict[str, Path] = {}
    for folder, _, files in os.walk(bundled_dir()):
        for name in files:
            stem, suffix = os.path.splitext(name)
            if suffix in (".yaml", ".yml"):
                path = Path(folder, name)
                found[stem] = min(path, found.get(stem, path))
    return dict(sorted(found.items()))
