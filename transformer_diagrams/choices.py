"""What may be chosen, and how much of it: what a spec's `show:` takes, an option takes too.

Nothing is imported here: a help text lists choices, and imports no more than them.
"""

from __future__ import annotations

from typing import Final

DIRECTIONS: Final = ("up", "right", "down")
SHAPES: Final = ("none", "changes", "all")
MODES: Final = ("all", "train", "inference")
MOST_FOLDS: Final = 20
ACCENTS: Final = 4
