"""Which pages there are, what can be generated, and putting the one into the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from transformer_diagrams.docs import (
    bundled_parts,
    consoles,
    gallery,
    language,
    measures,
    models,
    op_reference,
    program,
    structure,
    tex_reference,
)

PAGES: tuple[str, ...] = (
    "README.md",
    "docs/spec.md",
    "docs/numbers.md",
    "docs/architecture.md",
    "docs/embedding.md",
    "docs/looks.md",
    "docs/models.md",
    "docs/run.md",
    "docs/editor.md",
)

# Name in a marker -> what makes the text; it is given the root of the checkout.
PARTS: Mapping[str, Callable[[Path], str]] = {
    **bundled_parts.PARTS,
    **consoles.PARTS,
    **gallery.PARTS,
    **language.PARTS,
    **measures.PARTS,
    **models.PARTS,
    **op_reference.PARTS,
    **program.PARTS,
    **structure.PARTS,
    **tex_reference.PARTS,
}

_MARKED = re.compile(
    r"^(<!-- generated: (?P<name>\S+) -->\n).*?^(<!-- end -->)$", re.MULTILINE | re.DOTALL
)


def renewed(text: str, root: Path) -> str:
    """``text`` with everything between markers made anew.

    :raises KeyError: for a marker whose name is not among the parts.
    """

    def fill(found: re.Match[str]) -> str:
        made = PARTS[found["name"]](root).strip("\n")
        return f"{found[1]}\n{made}\n\n{found[3]}"

    return _MARKED.sub(fill, text)
