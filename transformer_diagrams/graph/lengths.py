"""Which sizes count positions: of the text, and of any other sequence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field

from transformer_diagrams.dims import Dim, DimError
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.scope import parse_cached
from transformer_diagrams.records import dataclass

LENGTHS = ("d_t", "d_s")  # sizes that are a number of positions in every spec
_POSITIONS = re.compile(r"\b(positions?|tokens?|patches|frames|length|sequence|context)\b", re.I)
_FEATURES = re.compile(
    r"\b(widths?|dimensions?|heads?|channels?|features?|rank|vocabulary|experts?|layers?)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Lengths:
    """The names of sizes that count positions; ``text`` is a part of ``every``.

    ``defined`` are those among them that a definition stands for, ``reduce`` puts definitions in.
    """

    text: frozenset[str]
    every: frozenset[str]
    defined: Mapping[Dim, str] = field(default_factory=dict)
    reduce: Callable[[Dim], Dim] = lambda size: size

    @staticmethod
    def of(frame: Frame) -> Lengths:
        """As the outermost spec says them.

        A name that is an axis of learned weights counts features, whatever is said of it; all
        others that are axes of what comes in count positions (but not of what is a cache itself),
        and so do sizes of positions or tokens by their meaning. Where there are no weights to tell
        by, only the rows of what comes in do. ``d_t`` and ``d_s`` count positions everywhere.
        """
        program = frame.program
        spec = program.spec
        features = frozenset().union(*_features(frame))
        every = {
            name for name, dim in spec.dims.items()
            if _POSITIONS.search(dim.doc or "") and not _FEATURES.search(dim.doc or "")
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
            elif features:
                every |= _names(dims)
            elif len(dims) == 2:
                every |= dims[0].free
        every = ((every | ids) - features) | (spec.dims.keys() & set(LENGTHS))
        made = [frame.outputs[index] for index in program.outputs[:1]]
        ends = _names(made[0][0].dims[-2:-1]) if made and made[0] else frozenset()
        text = frozenset({"d_t"} if "d_t" in spec.dims else ends & every or ids or every)
        reduce = frame.scope.facts.reduce
        defined: dict[Dim, str] = {}
        for name in spec.dims:
            value = spec.dims[name].value
            if name in every and value is not None:
                try:
                    defined.setdefault(reduce(frame.scope.put(parse_cached(value.value))), name)
                except DimError:  # told where it stands
                    continue
        return Lengths(text, frozenset(every), defined, reduce)

    def names(self, size: Dim) -> frozenset[str]:
        """The names that ``size`` is made of, and the one that it is the definition of."""
        name = self.defined.get(self.reduce(size)) if self.defined else None
        return size.free if name is None else size.free | {name}

    def known(self, size: Dim) -> bool:
        """Whether ``size`` may be a number of positions."""
        return not self.every or not size.free or bool(self.names(size) & self.every)


def _features(frame: Frame) -> Iterator[frozenset[str]]:
    """The names in the axes of learned weights, but for tables with a row for each position."""
    todo, seen = [frame], {id(frame)}
    while todo:
        one = todo.pop()
        for applied in {id(a): a for a in one.applied.values()}.values():
            does = applied.op.does
            if "tensor" in does:
                yield _names(applied.outputs[0].dims[-1:])
            elif not {"positions", "relative"} & {*does}:
                yield applied.params.free
        fresh = {id(inner): inner for inner in one.uses.values() if id(inner) not in seen}
        seen |= fresh.keys()
        todo += fresh.values()


def _names(dims: Iterable[Dim]) -> frozenset[str]:
    return frozenset(name for dim in dims for name in dim.free)
