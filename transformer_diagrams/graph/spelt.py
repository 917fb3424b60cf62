"""The shapes of one frame as its figure spells them.

A tensor that crosses the border of an opened part is spelt as it is outside, so that one tensor
has one spelling in the whole figure; what stays inside is spelt by the part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from transformer_diagrams.dims import Dim
from transformer_diagrams.graph.frame import Applied, Frame
from transformer_diagrams.ops.registry import Shape

Shapes = Sequence[Shape | None]


class Spelt:
    """``ins`` and ``outs`` are the shapes of the frame's inputs and outputs, spelt outside."""

    def __init__(self, frame: Frame, ins: Shapes = (), outs: Shapes = ()) -> None:
        self.frame = frame
        self.speller = frame.scope.figure
        self._outside: dict[tuple[int, int], Shape] = {}
        self._known: dict[Shape, Shape] = {}
        self._shapes: dict[int, list[Shape]] = {}
        self._attrs: dict[int, Mapping[str, Any]] = {}
        program = frame.program
        for indexes, shapes in ((program.outputs, outs), (program.inputs, ins)):
            for index, shape in zip(indexes, shapes, strict=False):
                if shape is not None:
                    self._outside[self._source(index, 0)] = shape

    def _source(self, atom: int, port: int) -> tuple[int, int]:
        """The place where a tensor is made: borders of structures hand it on."""
        atoms, links = self.frame.program.atoms, self.frame.links
        while atoms[atom].kind in ("enter", "leave", "output") and port < len(links[atom]):
            link = links[atom][port]
            if link.feed.kind == "feedback":
                break
            atom, port = link.atom, link.port
        return atom, port

    def shape(self, atom: int, port: int) -> Shape | None:
        """The shape of an output; None where it is not known."""
        known = self._shapes.get(atom)
        if known is None:
            known = self._shapes[atom] = [
                self._outside.get(self._source(atom, number)) or self._spelt(shape)
                for number, shape in enumerate(self.frame.outputs[atom] or ())
            ]
        return known[port] if port < len(known) else None

    def shapes(self, atom: int) -> list[Shape | None]:
        """The shapes of all outputs of an atom."""
        return [self.shape(atom, port) for port in range(len(self.frame.outputs[atom] or ()))]

    def _spelt(self, shape: Shape) -> Shape:
        found = self._known.get(shape)
        if found is None:
            found = self._known[shape] = self.value(shape)
        return found

    def attrs(self, applied: Applied) -> Mapping[str, Any]:
        """The attributes of an op, sizes as the figure spells them."""
        found = self._attrs.get(id(applied))
        if found is None:
            spelt = {name: self.value(value) for name, value in applied.attrs.items()}
            found = self._attrs[id(applied)] = MappingProxyType(spelt)
        return found

    def value(self, value: Any) -> Any:
        """A size, a shape or a list of such as the figure spells it; anything else as it is."""
        if isinstance(value, Dim):
            return self.speller.spelt(value)
        if isinstance(value, Shape):
            return Shape(tuple(map(self.speller.spelt, value.dims)), value.lead)
        return tuple(map(self.value, value)) if isinstance(value, tuple) else value
