"""Binding the sizes and options of a used spec, in the names of the outermost one.

A size is bound by, in this order: `with`, the same name in the using spec, the shapes of the
inputs (an axis that is a bare name), its definition (`value:`), its `default:`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from transformer_diagrams.dims import Dim, DimError, Verdict
from transformer_diagrams.dims.order import in_order
from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.graph.frame import HOW
from transformer_diagrams.graph.options import (
    OptionValue,
    bad_option,
    default_options,
    option_value,
)
from transformer_diagrams.graph.scope import (
    Note,
    Scope,
    free_names,
    parse_cached,
    remainder,
)
from transformer_diagrams.ops.registry import Shape
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Block, Spec, Text

Report = Callable[[Fault], None]


@dataclass(frozen=True, slots=True)
class Binding:
    """What the names of a used spec stand for."""

    env: Mapping[str, Dim]
    origins: Mapping[str, tuple[Note, ...]]
    definitions: Mapping[str, Dim]  # sizes of the used spec that keep their own names
    by_text: Mapping[str, Text]  # sizes that have their `value:` or `default:`
    bound: Mapping[str, str]  # how each came to be: a key of HOW


def use_options(
    block: Block, used: Spec, scope: Scope, report: Report
) -> tuple[dict[str, OptionValue], dict[str, str]]:
    """Options of ``used``: `with`, else the same name in the using spec, else the default.

    Also how each was bound: a key of ``HOW``.
    """
    options = default_options(used)
    bound = dict.fromkeys(options, "default")
    for name, option in used.options.items():
        if name in scope.options:
            same = option_value(option, scope.options[name])
            if same is not None:
                options[name] = same
                bound[name] = "name"
        given = block.bind.get(name)
        if given is None:
            continue
        value = given.value
        if isinstance(value, str) and value in scope.options and value not in option.choices:
            value = scope.options[value]
        chosen = option_value(option, value)
        if chosen is None:
            report(bad_option(option, value, given.span, f"{block.path}.with.{name}"))
        else:
            options[name] = chosen
            bound[name] = "with"
    return options, bound


def bind_use(
    block: Block,
    used: Spec,
    scope: Scope,
    shapes: Mapping[str, Shape],
    *,
    claim: Callable[[str, Dim], bool],
    report: Report,
) -> Binding | None:
    """The binding of ``used`` at ``block``; None after a fault.

    ``shapes`` are those of the inputs by name. ``claim(name, definition)`` says whether a
    defined size may keep its own name in the outermost spec.
    """
    return _Binder(block, used, scope, shapes, claim, report).run()


class _Binder:
    def __init__(
        self,
        block: Block,
        used: Spec,
        scope: Scope,
        shapes: Mapping[str, Shape],
        claim: Callable[[str, Dim], bool],
        report: Report,
    ) -> None:
        self.block = block
        self.used = used
        self.scope = scope
        self.shapes = shapes
        self.claim = claim
        self._report = report
        self.failed = False
        self.env: dict[str, Dim] = {}
        self.origins: dict[str, tuple[Note, ...]] = {}
        self.definitions: dict[str, Dim] = {}
        self.texts: dict[str, Text] = {}
        self.bound: dict[str, str] = {}
        self.agreed: set[str] = set()  # sizes that what comes in has as well

    def report(self, fault: Fault) -> None:
        self.failed = True
        self._report(fault)

    def run(self) -> Binding | None:
        self.by_with()
        self.by_name()
        self.by_shape()
        given = set(self.env)
        self.by_texts()
        self.check_definitions(given)
        for name in self.used.dims:
            if name not in self.env and not self.failed:
                self.report(self.unbound(name))
        if self.failed:
            return None
        self.tell_captured()
        env = {name: self.env[name] for name in self.used.dims}
        bound = {name: self.bound[name] for name in self.used.dims}
        return Binding(env, self.origins, self.definitions, self.texts, bound)

    def bind(
        self, name: str, value: Dim, how: str, why: str, notes: tuple[Note, ...]
    ) -> None:
        self.env[name] = value
        self.bound[name] = how
        text = f"{name} = {value} in '{self.used.id}', {why}"
        span = notes[0][1] if notes else self.block.span
        self.origins[name] = ((text, span), *notes[1:])

    def by_with(self) -> None:
        block, used = self.block, self.used
        for name, given in block.bind.items():
            path = f"{block.path}.with.{name}"
            if name in used.options:
                continue
            try:
                value = self.scope.dim(str(given.value), given.span, path)
            except DiagramError as error:
                for fault in error.faults:
                    self.report(fault)
                continue
            names = free_names(given.value)
            why = f"given by `with` at '{block.id}'"
            notes = (("", given.span), *self.scope.notes(names))
            self.bind(name, value, "with", why, notes)

    def by_name(self) -> None:
        for name in self.used.dims:
            if name in self.scope.env and name not in self.env:
                why = f"the size of the same name in '{self.scope.spec.id}'"
                notes = (("", self.block.span), *self.scope.notes([name]))
                self.bind(name, self.scope.env[name], "name", why, notes)

    def by_shape(self) -> None:
        for port in self.used.inputs.values():
            actual = self.shapes.get(port.name)
            if port.shape is None or actual is None:
                continue
            stated = [text for text in port.shape if not text.value.startswith("...")]
            exact = len(stated) == len(port.shape)
            if len(actual.dims) < len(stated) or (exact and len(actual.dims) != len(stated)):
                continue  # the check of the shape will say so
            tail = actual.dims[len(actual.dims) - len(stated) :]
            for text, axis in zip(stated, tail, strict=True):
                name = text.value
                known = self.used.dims.get(name)
                if known is None or name in self.env or known.value is not None:
                    if self.env.get(name) == axis:
                        self.agreed.add(name)
                    continue
                at = text.span if text.span.line else port.span
                why = f"from the shape of its input '{port.name}'"
                self.bind(name, axis, "shape", why, (("", at),))

    def by_texts(self) -> None:
        """The sizes that no one else binds, by their definitions and defaults."""
        texts = {name: dim.value or dim.default for name, dim in self.used.dims.items()}
        needs = {n: free_names(t) for n, t in texts.items() if t is not None}
        for name in in_order(needs)[0]:
            text, kind = texts[name], "value" if self.used.dims[name].value else "default"
            if name in self.env or text is None:
                continue
            value = self.read(text)
            if value is not None:
                self.settle(name, value, text, kind)

    def settle(self, name: str, value: Dim, text: Text, kind: str) -> None:
        self.texts[name] = text
        # A formula keeps the short name that the used spec has for it; a bare name or a number
        # is as short by itself.
        named = value.as_int() is None and value.name is None
        how = "definition" if kind == "value" else "default"
        if named and self.claim(name, value):
            self.definitions[name] = value
            self.origins[name] = (
                (f"{name} = {text.value}, a {how} of '{self.used.id}'", text.span),
            )
            self.env[name] = parse_cached(name)
            self.bound[name] = how
            return
        self.bind(name, value, how, f"{HOW[how]} {text.value}", (("", text.span),))

    def read(self, text: Text) -> Dim | None:
        """``text`` in the outermost names, or None while some of its names are not bound."""
        local = parse_cached(text.value)
        if not local.free <= self.env.keys():
            return None
        env = {name: self.env[name] for name in sorted(local.free)}
        try:
            value = local.subs(env)
            for above, below in local.divisions:
                top, bottom = above.subs(env).as_int(), below.subs(env).as_int()
                if top is not None and bottom and top % bottom:
                    self.no_size(text, *remainder(top, bottom), found=f"{top} / {bottom}")
                    return None
        except DimError as error:
            self.no_size(text, error.message, error.hint, found=text.value)
            return None
        return value

    def no_size(self, text: Text, why: str, hint: str, *, found: str) -> None:
        notes = [note for name in free_names(text) for note in self.origins.get(name, ())]
        self.report(
            Fault(
                "no-whole-number",
                f"'{self.block.id}': '{text.value}' of '{self.used.id}' is no size: {why}",
                self.block.span,
                path=self.block.path,
                found=found,
                hint=hint,
                notes=(*dict.fromkeys(notes), (f"stated by '{self.used.id}'", text.span)),
            )
        )

    def check_definitions(self, given: set[str]) -> None:
        """A size that is bound here and defined there must be the same."""
        for name, dim in self.used.dims.items():
            if dim.value is None or name not in given:
                continue
            value = self.read(dim.value)
            if value is None:
                continue
            while value.free & self.definitions.keys():  # names that are new to the scope
                value = value.subs(self.definitions)
            bound = self.env[name]
            verdict = self.scope.facts.equal(bound, value)
            if verdict is Verdict.YES:
                continue
            no = verdict is Verdict.NO
            notes = (
                (f"'{self.used.id}' defines {name} = {dim.value.value}", dim.value.span),
                *self.origins[name],
            )
            self.report(
                Fault(
                    "definition-broken",
                    f"'{self.block.id}': '{self.used.id}' defines {name} = {dim.value.value}, "
                    + (f"but {bound} != {value}" if no else f"and {bound} may differ from {value}"),
                    self.block.bind[name].span if name in self.block.bind else self.block.span,
                    path=f"{self.block.path}.with.{name}",
                    found=f"{name} = {bound}",
                    expected=f"{name} = {value}",
                    hint="" if no else f"state it here: dims: {{{name}: {{value: {value}}}}}",
                    notes=notes,
                )
            )

    def tell_captured(self) -> None:
        """A size with a default of its own that a size of another meaning took the name of."""
        mine = self.scope.spec
        for name, dim in self.used.dims.items():
            outer = mine.dims.get(name)
            if self.bound[name] != "name" or dim.default is None or outer is None:
                continue
            if name in self.agreed:
                continue
            try:
                own = parse_cached(dim.default.value).subs(self.env)
            except DimError:  # told where it stands
                continue
            if own == self.env[name] or same_meaning(outer.doc, dim.doc):
                continue
            self._report(
                Fault(
                    "captured-size",
                    f"'{self.block.id}': the size {name} of '{self.used.id}' ({dim.doc}; default "
                    f"{dim.default.value}) is taken from '{mine.id}', where it has another "
                    f"meaning ({outer.doc})",
                    self.block.span,
                    path=self.block.path,
                    hint=f"say which: with: {{{name}: {own}}} for its own default, "
                    f"with: {{{name}: {name}}} for the size of '{mine.id}'",
                    severity="warning",
                    notes=(
                        (f"'{mine.id}' has {name}: {outer.doc}", outer.span),
                        (f"'{self.used.id}' has {name}: {dim.doc}", dim.span),
                    ),
                )
            )

    def unbound(self, name: str) -> Fault:
        dim = self.used.dims[name]
        missing = ""
        text = dim.value or dim.default
        if text is not None:
            names = [n for n in free_names(text) if n not in self.env]
            missing = f" ({name} = {text.value} needs {', '.join(names)})"
        return Fault(
            "unbound-size",
            f"'{self.block.id}' uses '{self.used.id}', whose size '{name}' is not bound{missing}",
            self.block.span,
            path=self.block.path,
            expected=f"with: {{{name}: ...}}",
            hint=f"bind it by `with: {{{name}: ...}}`, or declare a size '{name}' in "
            f"'{self.scope.spec.id}'",
            notes=((f"{name}: {dim.doc}", dim.span),),
        )


_WORD = re.compile(r"[^\W\d_]{2,}")
_LINKS = frozenset(
    re.findall(
        r"\w+",
        "all and any are as at by each for from has how in into is it its many more no not of on "
        "once one only or per so than that the their them then these they this those to with which",
    )
)
_SAME = {
    **dict.fromkeys(("dim", "dimension", "dimensionality", "size"), "width"),
    **dict.fromkeys(("length", "sequence", "context", "token"), "position"),
    **dict.fromkeys(
        ("inner", "intermediate", "expansion", "expanded", "feed", "forward", "feedforward", "ffn",
         "mlp"),
        "hidden",
    ),
}  # fmt: skip


def same_meaning(a: str, b: str) -> bool:
    """Whether two explanations of a size speak of the same: most words of the shorter are shared.

    >>> same_meaning("width of one head", "width of a query and of a key in one head")
    True
    >>> same_meaning("experts", "state size"), same_meaning("rank of LoRA", "rank of the step")
    (False, False)

    Where one says nothing, nothing speaks against it.
    """
    first, second = _content(a), _content(b)
    least = min(len(first), len(second))
    return not least or 2 * len(first & second) > least


def _content(text: str) -> set[str]:
    """The words of a text that carry its meaning, without endings; one word for each meaning."""
    words = (word.removesuffix("s") for word in _WORD.findall(text.lower()) if word not in _LINKS)
    return {_SAME.get(word, word) for word in words}
