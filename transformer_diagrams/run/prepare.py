"""Before a run: a frame in which every size is a number, and inputs by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from transformer_diagrams.errors import did_you_mean
from transformer_diagrams.graph.check import Inferences
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.options import Settings
from transformer_diagrams.ops.registry import Shape
from transformer_diagrams.run.execute import absent, fault
from transformer_diagrams.run.tensors import Named, call, sizes


def framed(inferences: Inferences, settings: Settings) -> Frame:
    """The spec with shapes in numbers.

    :raises DiagramError: faults of the spec under these numbers, or a size without one.
    """
    inferred = inferences.under(settings, numeric=True)
    inferred.report.raise_if_errors()
    frame = inferred.frame
    assert frame is not None
    free = [name for name, size in frame.scope.env.items() if not size.is_const]
    if free:
        names = ", ".join(free)
        raise fault("no-number", f"a run needs a number for {names}", inferences.spec.span,
                    found=names, hint=f"--set {' --set '.join(f'{name}=8' for name in free)}")
    return frame


def inputs(frame: Frame, *, train: bool = False, lead: tuple[int, ...] = ()) -> dict[str, Named]:
    """What comes into a run, by name; ``lead`` are the leading axes where one states any."""
    found = {}
    for index in frame.program.inputs:
        port, (shape,) = frame.program.atoms[index].port, frame.outputs[index] or (Shape(()),)
        assert port is not None
        if absent(frame.when(index), train):
            continue
        kind = {"int": "whole", "bool": "bool"}.get(port.dtype, "real")
        limits = list(_limits(frame, index)) if kind == "whole" else []
        whole = sizes(shape) if shape.lead is None else (*lead, *sizes(shape))
        found[port.name] = Named(port.name, whole, kind, min(limits, default=None))
    return found


def _limits(frame: Frame, atom: int) -> Iterator[int]:
    """What the whole numbers that an atom gives must be smaller than, as its readers say."""
    todo, seen = [(frame, atom, 0)], set[tuple[int, int, int]]()
    while todo:
        inside, source, port = todo.pop()
        if (id(inside), source, port) in seen:
            continue
        seen.add((id(inside), source, port))
        for reader, links in enumerate(inside.links):
            for link in links:
                if (link.atom, link.port) != (source, port):
                    continue
                if reader in inside.uses:
                    inner = inside.uses[reader]
                    names = {inner.program.atoms[i].id: i for i in inner.program.inputs}
                    todo.append((inner, names[link.name], 0))
                elif reader not in inside.applied:
                    todo.append((inside, reader, link.to))
                else:
                    applied = inside.applied[reader]
                    if applied.op.below and link.to in applied.op.indexes(applied.attrs):
                        yield applied.op.below(call(inside, applied)).evaluate({})
                    elif applied.op.moves and link.to == 0:
                        todo.append((inside, reader, 0))


def check_names(given: Mapping[str, object], known: Mapping[str, Named], what: str) -> None:
    """Every name must be known.

    :raises DiagramError: for the first that is not, with the nearest.
    """
    for name in given:
        if name not in known:
            raise fault("unknown-name", f"there is no {what} '{name}'", found=name,
                        hint=did_you_mean(name, known, what=what, most=8))
