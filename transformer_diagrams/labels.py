"""The judge of every text of a spec: whether it can be drawn as it is meant, and where not.

TeX that cannot be set is an error, a letter that no font has is a warning; both name the very
line and column in the YAML. Asked by everything that uses a spec, so that `check` says what
`render` would.
"""

from __future__ import annotations

from collections.abc import Iterator

from transformer_diagrams.errors import Fault, Report, Span
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.rules import symbol_tex
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.blocks import walk
from transformer_diagrams.spec.model import Block, Spec
from transformer_diagrams.text import Complaint, judge


@dataclass(frozen=True, slots=True)
class _Shown:
    """A text that is drawn: what the drawing makes of it, and where it stands.

    ``inset`` is how many characters of the markup come before the author's own; None where the
    two differ otherwise. ``drawn`` is False for texts that stand only on pages.
    """

    markup: str
    path: str
    span: Span
    inset: int | None = 0
    drawn: bool = True


def faults(spec: Spec) -> list[Fault]:
    """What is wrong with the texts of one spec, in the order of the file's parts."""
    found: list[Fault] = []
    places: _Places | None = None
    for shown in _texts(spec):
        for complaint in judge(shown.markup, shown.drawn):
            if not (complaint.error or shown.drawn):
                continue
            places = places or _Places(spec)
            found.append(_fault(complaint, shown, places))
    return found


def _fault(complaint: Complaint, shown: _Shown, places: _Places) -> Fault:
    at = 0 if shown.inset is None else max(0, complaint.at - shown.inset)
    return Fault(
        complaint.code,
        complaint.message,
        places.of(shown, at),
        path=shown.path,
        found=complaint.found,
        hint=complaint.hint,
        severity="error" if complaint.error else "warning",
    )


def _texts(spec: Spec) -> Iterator[_Shown]:
    yield _Shown(spec.title, "title", spec.span, drawn=False)
    yield _Shown(spec.short, "short", spec.span)
    yield _Shown(spec.caption, "caption", spec.span, drawn=False)
    yield _Shown(spec.source.note, "source.note", spec.span, drawn=False)
    for name, option in spec.options.items():
        yield _Shown(option.doc, f"options.{name}.doc", option.span, drawn=False)
    for name, dim in spec.dims.items():
        yield _Shown(dim.doc, f"dims.{name}.doc", dim.span, drawn=False)
        if dim.tex:
            yield _Shown(f"${dim.tex}$", f"dims.{name}.tex", dim.span, 1)
    for kind, ports in (("inputs", spec.inputs), ("outputs", spec.outputs)):
        for name, port in ports.items():
            if port.label is not None:
                yield _Shown(port.label.value, f"{kind}.{name}.label", port.label.span)
    for number, brace in enumerate(spec.show.spans):
        yield _Shown(brace.text.value, f"show.spans[{number}].text", brace.text.span)
    for block in walk(spec.blocks):
        yield from _of_block(block)


def _of_block(block: Block) -> Iterator[_Shown]:
    for name, text in (("label", block.label), ("title", block.title), ("note", block.note)):
        if text is not None:
            yield _Shown(text.value, f"{block.path}.{name}", text.span)
    for ref in block.sources or ():
        if ref.label is not None:
            yield _Shown(ref.label.value, f"{block.path}.from", ref.label.span)
    if block.kind != "op" or block.label is not None:
        return
    try:
        attrs = {attr.name: attr.shown for attr in registry.get(block.op).attrs}
    except registry.UnknownOp:
        return  # told by whoever reads the blocks
    for name, value in block.attrs.items():
        shown = attrs.get(name)
        typed = str(value.value)
        if shown == "tex" and typed:
            tex = symbol_tex(typed)
            inset = tex.find(typed) + 1
            yield _Shown(f"${tex}$", f"{block.path}.{name}", value.span, inset or None)
        elif shown:
            yield _Shown(typed, f"{block.path}.{name}", value.span)


class _Places:
    """Places inside the texts of a file, which is read again: faults are rare."""

    def __init__(self, spec: Spec) -> None:
        from transformer_diagrams.spec.yaml_nodes import Map, Scalar, Seq
        from transformer_diagrams.spec.yaml_source import read

        root, self._source = read(spec.text, spec.span.file, Report())
        self._by_path: dict[str, Scalar] = {}
        self._by_place: dict[tuple[int, int], Scalar] = {}
        todo: list[tuple[str, object]] = [("", root)]
        while todo:
            path, node = todo.pop()
            if isinstance(node, Scalar):
                self._by_path[path] = self._by_place[node.line, node.column] = node
            elif isinstance(node, Map):
                for key, (_, value) in node.entries.items():
                    todo.append((f"{path}.{key}" if path else key, value))
            elif isinstance(node, Seq):
                todo.extend((f"{path}[{n}]", item) for n, item in enumerate(node.items))

    def of(self, shown: _Shown, at: int) -> Span:
        """The place of one character of a text."""
        span = shown.span
        node = (
            self._by_path.get(shown.path)
            or self._by_path.get(shown.path.removesuffix(".doc"))  # `d: words`
            or self._by_place.get((span.line, span.column))
        )
        return span if node is None else self._source.inside(node, at)
