"""The names that an expression may use, what each stands for, and where it was bound.

A spec that is used by another one is read with its own names; its sizes are then written in
the names of the outermost spec, so that shapes of different specs can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import lru_cache

from transformer_diagrams.dims import (
    Condition,
    Dim,
    DimError,
    Facts,
    Speller,
    Verdict,
    above,
    nearest_multiples,
    parse,
    parse_condition,
    whole_from,
    whole_in,
)
from transformer_diagrams.errors import DiagramError, Fault, Span
from transformer_diagrams.graph.pattern import TURN
from transformer_diagrams.ops.registry import Shape
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Spec, Text

Note = tuple[str, Span]

parse_cached = lru_cache(maxsize=4096)(parse)
parse_condition_cached = lru_cache(maxsize=1024)(parse_condition)
_shape_cached = lru_cache(maxsize=4096)(Shape.parse)


@dataclass(frozen=True, slots=True)
class Division:
    """Where a division stands that nothing says is exact. ``local`` is in the spec's own names."""

    text: str
    span: Span
    path: str
    local: Condition


@dataclass(slots=True)
class Scope:
    """Names of one spec under one binding. ``env`` maps each to a dim of the outermost spec.

    ``setting``  "" or words such as "config '8B'", whose numbers are put in
    ``numeric``  numbers are put in: only what is surely wrong is a fault, the rest is for symbols
    ``alone``    used specs: what the spec itself states, in its own names
    ``bound``    how each name of a used spec got what it stands for: a word of ``frame.HOW``
    ``speller``  how sizes are spelt in messages; ``figure`` how in labels and figures
    """

    spec: Spec
    env: dict[str, Dim]
    options: Mapping[str, bool | str]
    facts: Facts
    origins: dict[str, tuple[Note, ...]] = field(default_factory=dict)
    setting: str = ""
    numeric: bool = False
    alone: Callable[[], Facts] | None = None
    divisions: dict[Condition, Division] = field(default_factory=dict)
    bound: Mapping[str, str] = field(default_factory=dict)
    speller: Speller = field(default_factory=Speller)
    figure: Speller = field(default_factory=Speller)
    _moved: dict[str, Dim] = field(default_factory=dict)  # names that are not themselves
    _dims: dict[str, Dim] = field(default_factory=dict)
    _large: set[tuple[str, int]] = field(default_factory=set)  # (text, least) found right

    def settle(self) -> None:
        """Call after ``env`` is complete."""
        self._moved = {name: d for name, d in self.env.items() if d.name != name}
        self._dims.clear()

    def dim(
        self,
        text: str,
        span: Span,
        path: str = "",
        *,
        least: int | None = 1,
        beside: int | None = None,
    ) -> Dim:
        """The size that ``text`` means here; ``least`` and ``beside`` as for an op's attribute.

        :raises DiagramError: a formula without a value, or one that is not known to be large
            enough.
        """
        found = self._dims.get(text)
        if found is None:
            found = self._dims[text] = self.read(text, span, path)
            self.watch(text, span, path)
        if least is not None and (text, least) not in self._large:
            self._require_large(text, found, span, path, least, beside)
        return found

    def read(self, text: str, span: Span, path: str = "") -> Dim:
        """As ``dim``, without asking whether it is a size."""
        try:
            local = parse_cached(text)
            return self.put(local)
        except DimError as error:
            raise DiagramError(self._no_value(error, text, span, path)) from None

    def _no_value(self, error: DimError, text: str, span: Span, path: str) -> Fault:
        return Fault(
            "no-whole-number",
            f"'{text}' is no size{self.where}: {error.message}",
            span,
            path=path,
            found=text,
            hint=error.hint,
            notes=self.notes(free_names(text)),
        )

    @property
    def where(self) -> str:
        """`` for config '8B'`` or nothing."""
        return f" for {self.setting}" if self.setting else ""

    def require_size(
        self, text: str, span: Span, path: str = "", *, proposed: bool = False
    ) -> None:
        """Ask whether a definition is a size, with the facts that are known now.

        A division that is only ``proposed`` is asked about where numbers are put in.
        """
        size = self._dims[text] = self.read(text, span, path)
        if not proposed:
            self.watch(text, span, path)
        self._require_large(text, size, span, path, 1, None)

    def _require_large(
        self, text: str, size: Dim, span: Span, path: str, least: int, beside: int | None
    ) -> None:
        """Refuse a size that is, or may be, less than ``least``."""
        if whole_in(size.as_int(), least, beside):
            return
        verdict = self.facts.at_least(size, least)
        if verdict is Verdict.UNKNOWN and self.alone is not None:
            verdict = self.alone().at_least(parse_cached(text), least)
        if verdict is Verdict.YES or (verdict is Verdict.UNKNOWN and self.numeric):
            self._large.add((text, least))
            return
        shown = "" if str(size) == text else f" = {size}"
        what, hint = f"'{text}'{shown} is no size{self.where}", ""
        if verdict is Verdict.UNKNOWN:
            needed = above(parse_cached(text), least)
            what = f"cannot tell whether '{text}'{shown} is a size"
            hint = f"if {needed} always holds, state it: where: ['{needed}']"
        raise DiagramError(
            Fault(
                "not-positive",
                f"{what}: a size must be {whole_from(least, beside)}",
                span,
                path=path,
                found=text,
                expected=whole_from(least, beside),
                hint=hint,
                notes=self.notes(free_names(text)),
            )
        )

    def watch(self, text: str, span: Span, path: str) -> None:
        """Remember divisions that nothing says are exact; refuse those that are not.

        Those of the sizes that stand for the names are asked about where these are given.
        """
        for a, b in parse_cached(text).divisions:
            upper, lower = self.put(a), self.put(b)
            top, bottom = upper.as_int(), lower.as_int()
            if top is not None and bottom:
                if top % bottom == 0:
                    continue
                raise DiagramError(self._remainder(text, top, bottom, span, path))
            if self.facts.divides(lower, upper) is not Verdict.YES:
                found = Division(text, span, path, Condition("|", b, a))
                self.divisions.setdefault(Condition("|", lower, upper), found)

    def _remainder(self, text: str, top: int, bottom: int, span: Span, path: str) -> Fault:
        words, hint = remainder(top, bottom)
        return Fault(
            "no-whole-number",
            f"'{text}' is no size{self.where}: {words}",
            span,
            path=path,
            found=f"{top} / {bottom}",
            hint=hint,
            notes=self.notes(free_names(text)),
        )

    def put(self, local: Dim) -> Dim:
        """``local`` in the names of the outermost spec."""
        if not self._moved or not (local.free & self._moved.keys()):
            return local
        return local.subs(self._moved)

    def rule(self, text: Text) -> Condition:
        """A relation that speaks of the number of a turn, here.

        :raises DiagramError: for a formula without a value.
        """
        try:
            local = parse_condition_cached(text.value).subs({"turn": TURN})
            return Condition(local.op, self.put(local.left), self.put(local.right))
        except DimError as error:
            raise DiagramError(self._no_value(error, text.value, text.span, "")) from None

    def shape(self, texts: tuple[Text, ...], span: Span, path: str = "") -> Shape:
        """The shape that a list of axes means here; a leading "..." stays as it is."""
        local = _shape_cached(tuple(text.value for text in texts))
        axes = (text for text in texts if not text.value.startswith("..."))
        return Shape(
            tuple(self.dim(t.value, t.span if t.span.line else span, path) for t in axes),
            local.lead,
        )

    def surely_equal(self, a: Dim, b: Dim) -> bool:
        return self.facts.equal(a, b) is Verdict.YES

    def notes(self, names: Iterable[str]) -> tuple[Note, ...]:
        """Where each of ``names`` got its value, without repeats."""
        given: dict[Note, None] = {}
        for name in sorted(set(names)):
            for note in self.origins.get(name, ()):
                given[note] = None
        return tuple(given)


def free_names(text: object) -> list[str]:
    """The names in a formula, sorted."""
    return sorted(parse_cached(str(text)).free)


def remainder(top: int, bottom: int) -> tuple[str, str]:
    """In words, that a division leaves something, and which numbers near by do not."""
    near = " and ".join(str(n) for n in nearest_multiples(top, bottom) if n)
    return (
        f"{top} is not divisible by {bottom} (remainder {top % bottom})",
        f"the nearest good values are {near}",
    )
