"""Where faults of shapes are worded: what was found, what was stated, where each size is from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from transformer_diagrams.dims import Condition, nearest_divisors
from transformer_diagrams.errors import NOWHERE, Fault, Span
from transformer_diagrams.graph.frame import Caller, Frame, Link
from transformer_diagrams.graph.match import Misfit
from transformer_diagrams.graph.pattern import PatternError
from transformer_diagrams.graph.program import Atom, Feed
from transformer_diagrams.graph.scope import Note, Scope, free_names
from transformer_diagrams.ops.registry import Op, OpFault, Shape
from transformer_diagrams.spec.model import Block, PortSpec, Text

_MOST_NOTES = 12
_SIGNS = {  # what holds where a relation does not
    "==": "!=",
    "!=": "==",
    "<=": ">",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "|": "does not divide",
}


def told(place: Atom | Block, code: str, message: str, *, key: str = "", **said: Any) -> Fault:
    """A fault of an atom or a block; with ``key``, of what stands at this key of it."""
    path = place.path if isinstance(place, Block) else place.doc_path
    block = place if isinstance(place, Block) else place.block
    span = place.span
    if key and block is not None:
        span = block.key_spans.get(key, block.key_spans.get(key.partition(".")[0], span))
    return Fault(code, message, span, path=f"{path}.{key}" if key else path, **said)


def shape_span(port: PortSpec) -> Span:
    """Where the shape of an input or output is stated."""
    return port.shape_span if port.shape_span.line else port.span


def listed(links: tuple[Link, ...], shapes: tuple[Shape, ...]) -> str:
    """What goes into a block, in one line."""
    pairs = zip(links, shapes, strict=True)
    return "; ".join(f"{link.name}: {shape}" for link, shape in pairs)


def origins(frame: Frame, links: tuple[Link, ...], shapes: tuple[Shape, ...]) -> tuple[Note, ...]:
    """Where each of the tensors that go into a block comes from."""
    atoms = frame.program.atoms
    return tuple(
        (f"{link.name}: {shape} from '{atoms[link.atom].id}'", atoms[link.atom].span)
        for link, shape in zip(links, shapes, strict=True)
    )


def names_of(texts: tuple[Text, ...] | None) -> list[str]:
    """The names in the axes of a stated shape."""
    return [n for text in texts or () if not text.value.startswith("...") for n in free_names(text)]


def where_broken(text: Text, local: Condition, moved: Condition, scope: Scope, path: str) -> Fault:
    """A relation that does not hold. ``moved`` is ``local`` in the names of the outermost spec."""
    sides = f"{moved.left} {_SIGNS.get(moved.op, 'against')} {moved.right}"
    hint = ""
    values = {name: scope.env[name].as_int() for name in sorted(local.free)}
    numbers = {name: number for name, number in values.items() if number is not None}
    if len(numbers) == len(values):
        sides = local.failure(numbers) or sides
    left, right = moved.left.as_int(), moved.right.as_int()
    if moved.op == "|" and left and right:
        near = " and by ".join(str(n) for n in nearest_divisors(left, right) if n)
        hint = f"{right} is divisible by {near}" if near else ""
    return Fault(
        "where-broken",
        f"'{text.value}' does not hold{scope.where}: {sides}",
        text.span,
        path=path,
        found=sides,
        expected=text.value,
        hint=hint,
        notes=scope.notes(local.free)[:_MOST_NOTES],
    )


def input_misfit(
    frame: Frame, caller: Caller, port: PortSpec, stated: Shape, actual: Shape, wrong: Misfit
) -> Fault:
    """What a block hands to a used spec is not what the spec states of its input."""
    scope, used, block = frame.scope, frame.program.spec, caller.block
    written = ", ".join(text.value for text in port.shape or ())
    hint, lead = _rebinding(scope, port, actual) or wrong.hint, caller.lead
    batch: tuple[Note, ...] = ()
    if lead is not None:
        whole = Shape((*lead.dims, *actual.dims), lead.lead)
        batch = ((f"of {whole}, {lead} is taken for a batch", block.span),)
        merged = lead.dims[-1] * actual.dims[-1] if lead.dims and actual.dims else None
        if merged is not None and scope.surely_equal(merged, stated.dims[-1]):
            hint = f"merge_heads before it gives {stated}"
        actual = whole
    return told(
        block,
        "shape-mismatch",
        f"'{block.id}'{scope.where}: input '{port.name}' of '{used.id}' does not fit: "
        f"{wrong.message}",
        found=str(actual),
        expected=str(stated),
        hint=hint,
        notes=(
            *caller.sources,
            *batch,
            (f"'{used.id}' states {port.name}: [{written}]", shape_span(port)),
            *scope.notes(names_of(port.shape)),
        )[:_MOST_NOTES],
    )


def _rebinding(scope: Scope, port: PortSpec, actual: Shape) -> str:
    """`with:` that would make the input fit, when a bare name stands on the axis."""
    texts = [t.value for t in port.shape or () if not t.value.startswith("...")]
    if len(texts) > len(actual.dims):
        return ""
    changes = []
    for text, axis in zip(texts, actual.dims[len(actual.dims) - len(texts) :], strict=True):
        if text in scope.env and scope.env[text] != axis:
            changes.append(f"{text}: {axis}")
    return f"with: {{{', '.join(changes)}}} would make it fit" if changes else ""


def not_as_stated(
    frame: Frame,
    atom: Atom,
    texts: tuple[Text, ...],
    shapes: tuple[Shape, Shape],
    wrong: Misfit,
    *,
    at: tuple[Span, str],
    what: str,
) -> Fault:
    """A tensor whose shape is another than the spec says; ``shapes`` are (stated, actual)."""
    stated, actual = shapes
    sources: list[Note] = []
    for link in frame.links[atom.index][:1] if atom.kind == "output" else ():
        source = frame.program.atoms[link.atom]
        sources.append((f"{actual} comes from '{source.id}'", source.span))
    return Fault(
        "shape-mismatch",
        f"{what}{frame.scope.where} is not as stated: {wrong.message}",
        at[0],
        path=at[1],
        found=str(actual),
        expected=str(stated),
        hint=wrong.hint,
        notes=(*sources, *frame.scope.notes(names_of(texts)))[:_MOST_NOTES],
    )


def not_one_output(atom: Atom, count: int, sources: str) -> Fault:
    """An output of a spec that nothing, or more than one tensor, goes to."""
    return told(
        atom,
        "missing-input" if not count else "too-many-inputs",
        f"output '{atom.id}' is one tensor, but "
        + ("nothing comes" if not count else f"{count} come")
        + " from the last block" * atom.chained,
        found=sources,
        hint="choose with `from: block.port`",
    )


def feedback_without_shape(source: Atom, feed: Feed) -> Fault:
    """A block that is read one step later, but does not say what shape it gives."""
    return Fault(
        "feedback",
        f"'{source.id}' is read one step later, before its shape is known",
        feed.span,
        found=source.id,
        expected=f"its shape at '{source.id}'",
        hint="state it there, for one output: shape: [...]",
        notes=((f"'{source.id}' is here", source.span),),
    )


def uncountable(block: Block, error: PatternError, where: str) -> Fault:
    """A pattern, or an entry of one, whose turns cannot be counted."""
    key = "turns" if block.turns else "pattern"
    return Fault(
        "pattern",
        error.message + where,
        block.key_spans.get(key, block.span),
        path=f"{block.path}.{key}",
        found=", ".join(text.value for text in block.turns),
        hint=error.hint,
    )


def without_turns(block: Block) -> Fault:
    """An entry of a pattern that those before it leave no turn."""
    return Fault(
        "no-turns",
        f"no turn is left for '{block.id}': the entries before it take them all",
        block.key_spans.get("turns", block.span),
        path=block.path,
        found=", ".join(text.value for text in block.turns),
        hint="put it before them, or delete it",
        severity="warning",
    )


def carry_mismatch(block: Block, count: int, sources: str) -> Fault:
    """A repeat that names more or fewer tensors than it carries."""
    names = ", ".join(name.value for name in block.carry)
    return Fault(
        "carry-mismatch",
        f"'{block.id}' carries {count} tensors from turn to turn, but `carry` names "
        f"{len(block.carry)} ({names})",
        block.carry[0].span,
        path=f"{block.path}.carry",
        found=names,
        expected=f"{count} names, for {sources or 'nothing'}",
    )


def repeat_mismatch(
    frame: Frame, atom: Atom, before: tuple[Shape, ...], after: tuple[Shape, ...], problem: str
) -> Fault:
    """A turn of a repeat that does not give what the next one takes."""
    atoms = frame.program.atoms
    last = atoms[frame.links[atom.index][0].atom] if after else atom
    return told(
        atom,
        "repeat-mismatch",
        f"'{atom.id}' cannot be repeated{frame.scope.where}: {problem}",
        found=", ".join(map(str, after)),
        expected=", ".join(map(str, before)),
        hint="the last block of a turn must give what the first one takes",
        notes=((f"the last block of a turn is '{last.id}'", last.span),),
    )


def residual_of_another_number(atom: Atom, skips: int) -> Fault:
    """A residual that does not add a body to one tensor."""
    return told(
        atom,
        "residual",
        f"'{atom.id}' adds its body to one tensor, but "
        + (f"{skips} come in" if skips != 1 else "its body gives none"),
        hint="choose the stream with `from:`" if skips != 1 else "",
    )


def residual_of_another_shape(frame: Frame, atom: Atom, ends: Mapping[Link, Shape]) -> Fault:
    """``ends`` are the two that are added: what comes in, and what the body gives."""
    comes, gives = ends.values()
    atoms = frame.program.atoms
    sources = ((shape, atoms[link.atom]) for link, shape in ends.items())
    return told(
        atom,
        "shape-mismatch",
        f"residual '{atom.id}'{frame.scope.where}: {comes} comes in, but its body gives {gives}: "
        "the two must have the same shape",
        found=str(gives),
        expected=str(comes),
        notes=tuple((f"{shape} comes from '{one.id}'", one.span) for shape, one in sources),
    )


def stretched(frame: Frame, atom: Atom, links: tuple[Link, ...], what: str, text: str) -> Fault:
    """The warning that an axis of one stands for all of another."""
    shapes = frame.shapes(links)
    return told(
        atom,
        "stretched",
        f"{what}{frame.scope.where}: {text}",
        found=listed(links, shapes),
        severity="warning",
        notes=origins(frame, links, shapes),
    )


def not_whole(
    frame: Frame, atom: Atom, op: Op, links: tuple[Link, ...], place: int, what: str
) -> Fault:
    """An index that is no whole number."""
    link = links[place]
    made, index, _ = frame.origin(link.atom, link.port)
    source = made.program.atoms[index]
    return told(
        atom,
        "dtype-mismatch",
        f"{what}: {op.port_name(place)} must hold whole numbers, but '{link.name}' holds float",
        found=listed(links, frame.shapes(links)),
        hint=f"if input '{source.id}' holds indices, say dtype: int" if source.kind == "input"
        else f"'{source.id}' gives no index; argmax and top_k do",
    )


def op_refused(
    frame: Frame, atom: Atom, op: Op, links: tuple[Link, ...], what: str, error: OpFault
) -> Fault:
    """An op that does not take what comes in."""
    scope, shapes = frame.scope, frame.shapes(links)
    given = atom.block.attrs if atom.block is not None else {}
    names: set[str] = set()
    for attr in op.attrs:
        if attr.name in given and attr.kind in ("dim", "dims"):
            names.update(*map(free_names, given[attr.name].texts))
    for shape in shapes:
        names.update(*(dim.free for dim in shape.dims))
    for index in frame.program.inputs:
        port = frame.program.atoms[index].port
        names.update(names_of(port.shape) if port is not None else ())
    # Only sizes that the reader sees: in a shape, or by their number in the message.
    seen = {size for shape in shapes for size in shape.dims}
    free = {name for size in seen for name in size.free}
    said = set(re.findall(r"[\w.]+", error.message))
    env = scope.env
    known = names & env.keys()
    shown = {n for n in known if n in free or env[n] in seen or str(env[n]) in said}
    own = tuple((text, NOWHERE) for text in getattr(error, "notes", ()))
    return told(
        atom,
        "shape-mismatch",
        f"{what}{scope.where}: {error.message}",
        found=listed(links, shapes),
        hint=error.hint or "",
        notes=(*origins(frame, links, shapes), *own, *scope.notes(shown))[:_MOST_NOTES],
    )


def nested_too_deep(block: Block, used: str, most: int) -> Fault:
    """A spec that is used inside of too many others."""
    return told(
        block,
        "use-cycle",
        f"'{used}' is used inside itself, or specs are nested deeper than {most}",
        found=used,
    )


def too_many_uses(block: Block, found: str, hint: str) -> Fault:
    """Used specs that stand for more than anybody can draw or check."""
    message = f"the used specs stand for too much: {found}"
    return told(block, "too-many-uses", message, found=found, hint=hint)
