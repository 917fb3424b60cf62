"""How much memory a run takes, before it begins."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path

from transformer_diagrams.graph.frame import Applied, Frame
from transformer_diagrams.run.execute import fault
from transformer_diagrams.run.tensors import sizes

_BYTES = 8  # of a number in float64
_SHARE = 0.9  # of the free memory
_STEPS = 2_000_000


def require(frame: Frame, weights: int | None = None) -> None:
    """Refuse a run that does not fit; ``weights`` are the numbers to be drawn, default: all.

    :raises DiagramError: with the estimate.
    """
    steps = _total(frame, lambda applied: 1, {})
    if steps > _STEPS:
        raise fault("too-large", f"a run of {steps:,} blocks, those of each turn counted, would "
                    "not end", found=f"{steps:,}", expected=f"at most {_STEPS:,}",
                    hint="take fewer turns, with --set")
    if weights is None:
        weights = _total(frame, lambda applied: applied.params.evaluate({}), {})
    weights *= _BYTES
    tensors = _peak(frame, {}) * _BYTES
    free = available()
    if free is not None and weights + tensors > _SHARE * free:
        message = f"a run needs about {_shown(weights + tensors)} of memory: "
        message += f"{_shown(weights)} for weights, {_shown(tensors)} for what flows"
        raise fault("too-large", message, found=_shown(weights + tensors),
                    expected=f"at most {_shown(int(_SHARE * free))}",
                    hint="take smaller sizes or fewer layers, with --set")


def _total(frame: Frame, of: Callable[[Applied], int], known: dict[int, int]) -> int:
    """What the ops of a frame add up to, each turn's own, those of shared weights left out."""
    if id(frame) in known:
        return known[id(frame)]
    total, structures = 0, frame.program.structures
    for atom in frame.program.atoms:
        if atom.index not in frame.applied and atom.index not in frame.uses:
            continue
        blocks = [atom.block, *(structures[b].block for b in frame.program.up(atom.structure))]
        if any(block is not None and block.share is not None for block in blocks):
            continue
        turns = [frame.counts[box].evaluate({}) for box in frame.program.up(atom.structure)
                 if box in frame.counts]
        once = any(block is not None and block.once for block in blocks)
        times = math.prod(turns[once:])
        for block in blocks:
            if block is not None and block.id in frame.copies:
                times *= frame.copies[block.id].evaluate({})
        if atom.index in frame.uses:
            total += times * _total(frame.uses[atom.index], of, known)
        else:
            total += times * of(frame.applied[atom.index])
    known[id(frame)] = total
    return total


def _peak(frame: Frame, known: dict[int, int]) -> int:
    """Elements that are there at once: those of one turn of each repeat, and of the used spec that
    has most."""
    if id(frame) not in known:
        own = sum(math.prod(sizes(s)) for outputs in frame.outputs for s in outputs or ())
        inner = (_peak(used, known) for used in frame.uses.values())
        known[id(frame)] = own + max(inner, default=0)
    return known[id(frame)]


def available() -> int | None:
    """Bytes of memory that are free; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _shown(number: int) -> str:
    unit = 0
    while number >= 1000 and unit < 4:
        number, unit = math.ceil(number / 1000), unit + 1
    return f"{number} {('bytes', 'kB', 'MB', 'GB', 'TB')[unit]}"
