"""Which sizes count positions: of the text, and of any other sequence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from transformer_diagrams.dims import Dim
from transformer_diagrams.graph.frame import Frame

LENGTHS = ("d_t", "d_s")  # sizes that are a number of positions in every spec
_POSITIONS = re.compile(r"\b(positions?|tokens?|patches|frames|length|sequence|context)\b")


@dataclass(frozen=True, slots=True)
class Lengths:
    """The names of sizes that count positions; ``text`` is a part of ``every``."""

    text: frozenset[str]
    every: frozenset[str] = field(default_factory=frozenset)

    @staticmethod
    def of(frame: Frame) -> Lengths:
        """As the outermost spec says them: ``d_t`` and ``d_s``, sizes of positions or tokens by
        their meaning, and the rows of what comes in (but not of what is a cache itself)."""
        program = frame.program
        spec = program.spec
        every = {
            name for name, dim in spec.dims.items()
            if name in LENGTHS or _POSITIONS.search(dim.doc or "")
        }
        given = {
            link.atom
            for index, applied in frame.applied.items()
            if "cache" in applied.op.does
            for link in frame.links[index]
        }
        ids: set[str] = set()
        for index in program.inputs:
            shapes, port = frame.outputs[index], program.atoms[index].port
            if not shapes or port is None or index in given:
                continue
            dims = shapes[0].dims
            if port.dtype == "int":
                ids |= _names(dims[-1:])
            elif len(dims) == 2:
                every |= dims[0].free
        every |= ids
        made = [frame.outputs[index] for index in program.outputs[:1]]
        ends = _names(made[0][0].dims[-2:-1]) if made and made[0] else frozenset()
        text = frozenset({"d_t"} if "d_t" in spec.dims else ends & every or ids or every)
        return Lengths(text, frozenset(every))

    def known(self, size: Dim) -> bool:
        """Whether ``size`` may be a number of positions."""
        return not self.every or not size.free or bool(size.free & self.every)


def _names(dims: Iterable[Dim]) -> frozenset[str]:
    return frozenset(name for dim in dims for name in dim.free)
