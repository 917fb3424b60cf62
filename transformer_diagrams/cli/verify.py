"""`verify`: whether a checkpoint holds just the weights that its configuration draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from transformer_diagrams.cli.values import json_option
from transformer_diagrams.streams import dump, say

if TYPE_CHECKING:
    from transformer_diagrams.families.tensors import Verification


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams verify model/
  transformer-diagrams verify model/ --json
"""
)
@click.argument("model", metavar="FOLDER")
@json_option
def verify(model: str, as_json: bool) -> int:
    """Compare a model's safetensors files with its config.json, tensor by tensor.

    Only headers are read. Leaves with 1 when a tensor is missing, unexpected or of another shape.
    """
    from transformer_diagrams import api
    from transformer_diagrams.cli.report import show_faults

    found = api.Model.find(model)
    verdict, total = found.verify()
    if found.adopted is not None:
        show_faults(found.adopted.warnings)
    if as_json:
        say(dump({"id": found.id, "parameters": total, **verdict.as_json()}))
    else:
        say(_text(found.label, verdict, total))
    return 0 if verdict.clean and verdict.elements == total else 1


def _text(label: str, verdict: Verification, total: int) -> str:
    """The differences, layers folded, then one line that sums up."""
    from transformer_diagrams.families.tensors import folded

    lines = []
    for what, shapes in (("missing", verdict.missing), ("unexpected", verdict.unexpected)):
        for name, of in folded(shapes).items():
            lines.append(f"{what:<10}  {name}  {list(shapes[of[0]])}")
    for name, of in folded(verdict.misshaped).items():
        want, got = verdict.misshaped[of[0]]
        lines.append(f"mis-shaped  {name}  {list(got)}, expected {list(want)}")
    told = [f"{len(verdict.matched):,} tensors, {verdict.elements:,} weights agree"]
    for number, what in (
        (verdict.copies, "tied copies"),
        (verdict.buffers, "buffers"),
        (verdict.quantised, "quantisation scales"),
    ):
        told += [f"{len(number)} {what}"] if number else []
    if verdict.clean and verdict.elements != total:
        told.append(f"but the figure has {total:,}")
    return "\n".join([*lines, f"{label}: {'; '.join(told)}"])
