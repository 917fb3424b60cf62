"""The shapes of a spec's outputs as formulas, by the names that a run has for them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transformer_diagrams.dims import Speller
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.ops.registry import Shape

_NUMBER = re.compile(r"\[\d+\]")


def bare(name: str) -> str:
    """A name without the numbers of turns and copies: ``layers/attention/q``."""
    return _NUMBER.sub("", name)


def formulas(frame: Frame, speller: Speller) -> dict[str, str]:
    """Bare name -> shape, for all outputs of a frame in symbols."""
    return {name: _spelt(shape, speller) for name, shape in _walk(frame, "", Shape(()))}


def _spelt(shape: Shape, speller: Speller) -> str:
    return f"[{', '.join([*([shape.lead] if shape.lead else []), *map(speller.text, shape.dims)])}]"


def _walk(frame: Frame, prefix: str, lead: Shape) -> Iterator[tuple[str, Shape]]:
    structures = frame.program.structures
    for atom in frame.program.atoms:
        if atom.kind in ("input", "output", "enter"):
            continue
        around = [
            box.block.id
            for box in (structures[index] for index in reversed(frame.program.up(atom.structure)))
            if box.block is not None
            and (box.kind in ("repeat", "pattern") or box.block.id in frame.copies)
            and structures[box.parent].kind != "pattern"
        ]
        if atom.kind != "leave":
            around.append(atom.id)
        path = prefix + "/".join(around)
        shapes = frame.outputs[atom.index] or ()
        for port, shape in enumerate(shapes):
            name = path if len(shapes) == 1 else f"{path}.{frame.output_name(atom.index, port)}"
            yield name, Shape((*lead.dims, *shape.dims), lead.lead or shape.lead)
        if atom.index in frame.uses:
            beyond = frame.leads.get(atom.index, Shape(()))
            inner = Shape((*lead.dims, *beyond.dims), lead.lead or beyond.lead)
            yield from _walk(frame.uses[atom.index], f"{path}/", inner)
