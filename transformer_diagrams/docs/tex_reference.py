"""What TeX a label can set, group by group, from the table that the reader of TeX uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from transformer_diagrams.docs.markdown import table
from transformer_diagrams.text import commands


def _names(names: Iterable[str]) -> str:
    return " ".join(f"`\\{name}`" for name in names)


def _commands(_: Path) -> str:
    groups: list[tuple[str, Iterable[str]]] = [
        ("Letters and signs", commands.ORDINARY),
        ("Binary operators", commands.BINARY),
        ("Relations and arrows", commands.RELATIONS),
        ("Large operators", (*commands.LARGE, *commands.INTEGRALS)),
        ("Functions", (*sorted(commands.FUNCTIONS), *commands.LIMITS)),
        ("Brackets", (*commands.OPENING, *commands.CLOSING, "left", "middle", "right")),
        ("Larger brackets", commands.BIG),
        ("Accents", commands.ACCENTS),
        ("Over and under", (*commands.SPANNING, "overset", "underset", "stackrel", "substack")),
        ("Arrows with words", commands.ARROWS),
        ("Fractions and roots", (*commands.FRACTIONS, *commands.INFIX, "sqrt")),
        ("Alphabets", (*commands.ALPHABETS, *commands.OLD_FONTS)),
        ("Boxes and strokes", (*commands.BOXES, *sorted(commands.PHANTOMS))),
        ("Spaces", [name for name in commands.SPACES if name != " "]),
        ("Styles and classes", (*commands.STYLES, *commands.CLASSES)),
        ("Others", ("operatorname", "operatorname*", "limits", "nolimits", "not", "bmod", "pmod",
                    "mod", "pod", "hspace", "kern", "mkern", "bra", "ket", "braket",
                    "varlimsup", "varliminf")),
    ]  # fmt: skip
    rows = [(title, _names(names)) for title, names in groups]
    rows.append(("Environments", " ".join(f"`{name}`" for name in commands.TABLES)))
    return table(("group", "commands"), rows)


PARTS: Mapping[str, Callable[[Path], str]] = {"tex-commands": _commands}
