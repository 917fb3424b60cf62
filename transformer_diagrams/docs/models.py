"""The families of models that are imported, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from transformer_diagrams.docs.markdown import table
from transformer_diagrams.families.family import family, family_ids


def _families(_: Path) -> str:
    rows = []
    for id in family_ids():
        each = family(id)
        kinds = ", ".join(f"`{kind}`" for kind in each.model_types)
        classes = ", ".join(f"`{name}`" for name in each.classes)
        rows.append([f"`{id}`", kinds, classes, f"`{each.spec}`", "yes" if each.tensors else "no"])
    return table(["family", "model types", "classes", "spec", "verified"], rows)


PARTS: Mapping[str, Callable[[Path], str]] = {"families": _families}
