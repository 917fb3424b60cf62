"""Judges what a spec states of shapes: of its inputs, its outputs and its blocks, and by structure.

A repeat states that a turn gives what the next one takes, a residual that its body gives what
goes around it.
"""

from __future__ import annotations

from transformer_diagrams.errors import DiagramError, Span, did_you_mean
from transformer_diagrams.graph import faults
from transformer_diagrams.graph.frame import Caller, Frame, Link
from transformer_diagrams.graph.match import Leads, misfit
from transformer_diagrams.graph.program import Atom
from transformer_diagrams.graph.session import Session
from transformer_diagrams.ops.registry import Shape
from transformer_diagrams.spec.model import PortSpec, Text


class Stated:
    """The judge of one frame; what a "..." stands for is settled where it is met first."""

    def __init__(self, session: Session, frame: Frame) -> None:
        self.session = session
        self.frame = frame
        self.scope = frame.scope
        self.leads: Leads = {}

    def input(self, port: PortSpec, caller: Caller | None) -> Shape | None:
        """The shape of what comes in, as stated or as handed in; None after a fault."""
        stated = None
        if port.shape is not None:
            stated = self._read(port.shape, faults.shape_span(port), f"inputs.{port.name}.shape")
            if stated is None:
                return None
        if caller is None:
            shape = stated if stated is not None else Shape((), "...")
            if shape.lead is not None:
                self.leads.setdefault(shape.lead, Shape((), shape.lead))
            return shape
        actual = caller.shapes[port.name]
        if stated is not None:
            wrong = misfit(stated, actual, self.leads, self.scope.facts)
            if wrong is not None:
                found = faults.input_misfit(self.frame, caller, port, stated, actual, wrong)
                self.session.fault(found)
                return None
        return actual

    def output(self, atom: Atom, port: PortSpec, actual: Shape) -> None:
        """Whether an output of the spec is as stated."""
        if port.shape is not None:
            at = faults.shape_span(port), f"{atom.doc_path}.shape"
            self._axes(port.shape, actual, atom, at, f"output '{port.name}'")

    def block(self, atom: Atom, outputs: tuple[Shape, ...]) -> None:
        """Whether what a block gives is as its `shape:` says."""
        block = atom.block
        assert block is not None
        if block.shape is None:
            return
        at = block.key_spans.get("shape", block.span)
        if isinstance(block.shape, tuple):
            if len(outputs) == 1:
                here = at, f"{block.path}.shape"
                self._axes(block.shape, outputs[0], atom, here, f"'{block.id}'")
                return
            message = f"'{block.id}' has {len(outputs)} outputs, so `shape:` names each"
            hint = "shape: {name: [...], ...}"
            found = faults.told(block, "shape-mismatch", message, key="shape", hint=hint)
            self.session.fault(found)
            return
        names = [self.frame.output_name(atom.index, n) for n in range(len(outputs))]
        for name, texts in block.shape.items():
            if name in names:
                here, what = (at, f"{block.path}.shape.{name}"), f"output '{name}' of '{block.id}'"
                self._axes(texts, outputs[names.index(name)], atom, here, what)
                continue
            hint = did_you_mean(name, names, what="output")
            message = f"'{block.id}' has no output '{name}'"
            self.session.fault(
                faults.told(
                    block, "unknown-port", message, key=f"shape.{name}", found=name, hint=hint
                )
            )

    def fed_back(self, atom: Atom) -> tuple[Shape, ...] | None:
        """The one output of a block by its `shape:`; None where it has none."""
        block = atom.block
        if block is None or not isinstance(block.shape, tuple):
            return None
        at = block.key_spans.get("shape", block.span)
        shape = self._read(block.shape, at, f"{block.path}.shape")
        return None if shape is None else (shape,)

    def turns(self, atom: Atom, before: tuple[Shape, ...], after: tuple[Shape, ...]) -> None:
        """Whether a turn of a repeat gives what it takes."""
        problem = ""
        if not before:
            problem = "a repeat needs something to hand from turn to turn, but nothing comes in"
        elif len(before) != len(after):
            problem = f"{len(before)} tensors come in, but {len(after)} go out"
        else:
            for a, b in zip(before, after, strict=True):
                wrong = misfit(a, b, {k: Shape((), k) for k in [a.lead] if k}, self.scope.facts)
                if wrong is not None:
                    problem = f"{a} comes in, but {b} goes out ({wrong.message})"
                    break
        if problem:
            self.session.fault(faults.repeat_mismatch(self.frame, atom, before, after, problem))

    def residual(self, atom: Atom, links: tuple[Link, ...]) -> bool:
        """Whether a body is added to one tensor of as many axes; False after a fault."""
        skips = [link for link in links if link.feed.kind == "residual"]
        if len(skips) != 1 or len(links) < 2:
            self.session.fault(faults.residual_of_another_number(atom, len(skips)))
            return False
        (comes,) = self.frame.shapes((skips[0],))
        for link, gives in zip(links, self.frame.shapes(links), strict=True):
            if len(gives.dims) != len(comes.dims) or gives.lead != comes.lead:
                ends = {skips[0]: comes, link: gives}
                self.session.fault(faults.residual_of_another_shape(self.frame, atom, ends))
                return False
        return True

    def _axes(
        self,
        texts: tuple[Text, ...],
        actual: Shape,
        atom: Atom,
        at: tuple[Span, str],
        what: str,
    ) -> None:
        stated = self._read(texts, *at)
        if stated is None:
            return
        wrong = misfit(stated, actual, self.leads, self.scope.facts)
        if wrong is not None:
            shapes = stated, actual
            found = faults.not_as_stated(self.frame, atom, texts, shapes, wrong, at=at, what=what)
            self.session.fault(found)

    def _read(self, texts: tuple[Text, ...], span: Span, path: str) -> Shape | None:
        try:
            return self.scope.shape(texts, span, path)
        except DiagramError as error:
            self.session.faults(error)
            return None
