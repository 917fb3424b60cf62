"""The names that an expression may use, what each stands for, and where it was bound.

A spec that is used by another one is read with its own names; its sizes are then written in
the names of the outermost spec, so that shapes of different specs can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from transformer_diagrams.dims import (
    Condition,
    Dim,
    DimError,
    Facts,
    Verdict,
    nearest_multiples,
    parse,
    parse_condition,
)
from transformer_diagrams.errors import DiagramError, Fault, Span, did_you_mean
from transformer_diagrams.ops.registry import Shape
from transformer_diagrams.spec.model import Spec, Text

Note = tuple[str, Span]

parse_cached = lru_cache(maxsize=4096)(parse)
parse_condition_cached = lru_cache(maxsize=1024)(parse_condition)
_shape_cached = lru_cache(maxsize=4096)(Shape.parse)


@dataclass(slots=True)
class Scope:
    """Names of one spec under one binding. ``env`` maps each to a dim of the outermost spec."""

    spec: Spec
    env: dict[str, Dim]
    options: Mapping[str, bool | str]
    facts: Facts
    origins: dict[str, tuple[Note, ...]] = field(default_factory=dict)
    divisions: dict[Condition, tuple[str, Span]] = field(default_factory=dict)
    _moved: dict[str, Dim] = field(default_factory=dict)  # names that are not themselves
    _dims: dict[str, Dim] = field(default_factory=dict)

    def settle(self) -> None:
        """Call after ``env`` is complete."""
        self._moved = {name: d for name, d in self.env.items() if d.name != name}
        self._dims.clear()

    def dim(self, text: str, span: Span, path: str = "") -> Dim:
        """The size that ``text`` means here.

        Raises:
            DiagramError: bad grammar (with the column), or a name that is not declared.
        """
        found = self._dims.get(text)
        if found is None:
            try:
                local = parse_cached(text)
            except DimError as error:
                raise DiagramError(dim_fault(error, text, span, path)) from None
            self.require_known(local.free, text, span, path)
            found = self._dims[text] = self.put(local)
            self._watch(local, found, text, span, path)
        return found

    def _watch(self, local: Dim, size: Dim, text: str, span: Span, path: str) -> None:
        """Remember divisions that nothing says are exact; refuse those that are not."""
        own = [(self.put(above), self.put(below)) for above, below in local.divisions]
        for above, below in (*own, *size.divisions):
            top, bottom = above.as_int(), below.as_int()
            if top is not None and bottom:
                if top % bottom == 0:
                    continue
                raise DiagramError(self._remainder(text, top, bottom, span, path))
            if self.facts.divides(below, above) is not Verdict.YES:
                self.divisions.setdefault(Condition("|", below, above), (text, span))

    def _remainder(self, text: str, top: int, bottom: int, span: Span, path: str) -> Fault:
        low, high = nearest_multiples(top, bottom)
        names = parse_cached(text).free
        return Fault(
            "no-whole-number",
            f"'{text}' is no size: {top} is not divisible by {bottom} (remainder {top % bottom})",
            span,
            path=path,
            found=f"{top} / {bottom}",
            hint=f"the nearest good values are {' and '.join(str(n) for n in (low, high) if n)}",
            notes=self.notes(names),
        )

    def put(self, local: Dim) -> Dim:
        """``local`` in the names of the outermost spec."""
        if not self._moved or not (local.free & self._moved.keys()):
            return local
        return local.subs(self._moved)

    def condition(self, text: Text, path: str = "") -> Condition:
        """The relation ``text`` in this spec's own names (substitute with ``put``)."""
        try:
            condition = parse_condition_cached(text.value)
        except DimError as error:
            raise DiagramError(dim_fault(error, text.value, text.span, path)) from None
        self.require_known(condition.free, text.value, text.span, path)
        return condition

    def shape(self, texts: tuple[Text, ...], span: Span, path: str = "") -> Shape:
        """The shape that a list of axes means here; a leading "..." stays as it is."""
        try:
            local = _shape_cached(tuple(text.value for text in texts))
        except DimError as error:
            raise DiagramError(self._axis_fault(texts, error, span, path)) from None
        for text in texts:
            if not text.value.startswith("..."):
                at = text.span if text.span.line else span
                self.dim(text.value, at, path)  # checks the names, at their own place
        return Shape(tuple(self.put(d) for d in local.dims), local.lead)

    def _axis_fault(self, texts: tuple[Text, ...], error: DimError, span: Span, path: str) -> Fault:
        for text in texts:
            if text.value.startswith("..."):
                continue
            try:
                parse_cached(text.value)
            except DimError as own:
                at = text.span if text.span.line else span
                return dim_fault(own, text.value, at, path)
        shown = "[" + ", ".join(text.value for text in texts) + "]"
        return dim_fault(error, shown, span, path)

    def require_known(self, names: Iterable[str], text: str, span: Span, path: str) -> None:
        """Raise a fault for the first name that this spec does not declare."""
        unknown = [name for name in sorted(names) if name not in self.env]
        if not unknown:
            return
        hint = did_you_mean(unknown[0], self.env, what="size")
        raise DiagramError(
            Fault(
                "unknown-size",
                f"'{unknown[0]}' is not a size of '{self.spec.id}'",
                span,
                path=path,
                found=text,
                hint=hint or f"declare it: dims: {{{unknown[0]}: its meaning}}",
            )
        )

    def notes(self, names: Iterable[str]) -> tuple[Note, ...]:
        """Where each of ``names`` got its value, without repeats."""
        given: dict[Note, None] = {}
        for name in sorted(set(names)):
            for note in self.origins.get(name, ()):
                given[note] = None
        return tuple(given)


def dim_fault(error: DimError, text: str, span: Span, path: str) -> Fault:
    """A fault at the very character that a formula cannot be read at."""
    column = getattr(error, "column", 0) or 0
    at = span
    if span.line and column > 1:
        at = Span(span.file, span.line, span.column + column - 1)
    message = getattr(error, "message", "") or str(error)
    hint = getattr(error, "hint", "") or ""
    return Fault(
        "bad-formula", f"cannot read '{text}': {message}", at, path=path, found=text, hint=hint
    )
