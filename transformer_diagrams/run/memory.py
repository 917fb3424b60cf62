"""How much memory a run takes, before it begins."""

from __future__ import annotations

import math
import os
from collections.abc import Container, Mapping
from pathlib import Path

from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.run.execute import fault
from transformer_diagrams.run.tensors import Named, sizes

_BYTES = 8  # of a number in float64
_SHARE = 0.9  # of the free memory


def require(frame: Frame, drawn: Mapping[str, Named], without: Container[str]) -> None:
    """Refuse a run that does not fit.

    :raises DiagramError: with the estimate.
    """
    weights = sum(math.prod(t.shape) for t in drawn.values() if t.name not in without) * _BYTES
    tensors = _peak(frame, {}) * _BYTES
    free = available()
    if free is not None and weights + tensors > _SHARE * free:
        message = f"a run needs about {_shown(weights + tensors)} of memory: "
        message += f"{_shown(weights)} for weights, {_shown(tensors)} for what flows"
        raise fault("too-large", message, found=_shown(weights + tensors),
                    expected=f"at most {_shown(int(_SHARE * free))}",
                    hint="take smaller sizes or fewer layers, with --set")


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
