"""What a page tells of a spec, as plain data: made once, then kept beside the figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_diagrams import store
from transformer_diagrams.api import Model
from transformer_diagrams.errors import DiagramError, Fault, Span
from transformer_diagrams.gallery import maths, picture
from transformer_diagrams.records import dataclass

if TYPE_CHECKING:
    from transformer_diagrams.graph.frame import Frame
    from transformer_diagrams.graph.ir import Group, Node, Port

Record = dict[str, Any]

FIGURES = (
    ("svg", "svg", {"theme": "paper"}),
    ("dark.svg", "svg", {"theme": "dark"}),
    ("pdf", "pdf", {"theme": "paper"}),
    ("png", "png", {"theme": "paper", "scale": 2.0}),
    ("dot", "dot", {"theme": "paper"}),
)
"""(suffix of the file, format, options) of every figure that a page offers."""


def spec_id(reference: str) -> str:
    """The id that a `use` or `builds_on` means: a path's file without its ending.

    >>> spec_id("parts/qwen2.5.yaml"), spec_id("qwen2.5")
    ('qwen2.5', 'qwen2.5')
    """
    name = reference.rsplit("/", 1)[-1]
    return name.removesuffix(".yaml").removesuffix(".yml")


def record(model: Model) -> Record:
    """Everything a page says of a spec beside its figures; kept until something changes.

    :raises DiagramError: faults of the spec, or of what it uses.
    """
    key = _key(model)
    entry = store.get(key)
    if entry is not None:
        found: Record = json.loads(entry.data)
        return found
    made = _made(model)
    names = [*model.files(), *(name for other in model.claimed() for name in other.files())]
    paths = [Path(name) for name in names]
    used = {str(path): store.digest_of(path) for path in paths if path.is_file()}
    absent = tuple(str(path) for path in paths if not path.is_file())
    trace = store.Trace(used, absent)
    data = json.dumps(made, ensure_ascii=False).encode("utf-8")
    store.put(key, store.Entry(data, "application/json", (), trace))
    return made


def _key(model: Model) -> str:
    # The bytes of the modules that write it stand for the form of the record.
    made_by = [store.digest_of(str(name)) for name in (__file__, maths.__file__, picture.__file__)]
    return store.key_of(model.data, page=made_by, label=model.label)


def _made(model: Model) -> Record:
    from transformer_diagrams.spec.blocks import walk

    model.check().raise_if_errors()
    spec = model.spec
    blocks = list(walk(spec.blocks))
    plain = model.inspection()
    return {
        **model.summary(),
        "builds_on": list(dict.fromkeys(spec_id(text.value) for text in spec.builds_on)),
        "uses": list(dict.fromkeys(spec_id(block.use) for block in blocks if block.use)),
        "ops": sorted({block.op for block in blocks if block.op}),
        "caption": spec.caption,
        "where": [text.value for text in spec.where],
        "dims": [
            {
                "name": dim.name,
                "doc": dim.doc,
                "tex": dim.tex or "",
                "value": dim.value.value if dim.value else "",
                "default": dim.default.value if dim.default else "",
            }
            for dim in spec.dims.values()
        ],
        "options": [
            {"name": o.name, "doc": o.doc, "default": o.default, "choices": list(o.choices)}
            for o in spec.options.values()
        ],
        "used": [
            {
                "id": used.id,
                "at": list(used.paths),
                "bound": [
                    [each.name, each.value, each.how, each.is_size] for each in used.given
                ],
            }
            for used in model.used()
        ],
        "claims": [{**p.as_json(), "holds": p.holds()} for p in model.prove()],
        "formulas": plain.as_json(),
        "configs": [
            {
                "name": config.name,
                "source": config.source,
                "said": [*config.dims, *config.options],
                "counts": model.inspect(config.name),
            }
            for config in spec.configs.values()
        ],
        "blocks": _blocks(model),
        "picture": picture.of_model(model),
    }


def _blocks(model: Model) -> dict[str, dict[str, str]]:
    """By path, what the page shows of each drawn block."""
    from transformer_diagrams.text import plain

    graph = model.graph()
    learned = dict(_learned(model))
    numbers: dict[str, int] = {}
    named = ""
    if graph_config := model.spec.show.config or next(iter(model.spec.configs), None):
        numbers = dict(model.inspection(graph_config).numbers)
        named = graph_config
    found: dict[str, dict[str, str]] = {}
    spec = model.spec
    docs = {f"inputs.{port.name}": plain(port.doc) for port in spec.inputs.values()}
    docs |= {f"outputs.{port.name}": plain(port.doc) for port in spec.outputs.values()}
    for part in graph.parts():
        facts = _facts(part, learned.get(part.path), numbers, named)
        found[part.path] = {**facts, "note": facts["note"] or docs.get(part.doc_path, "")}
    return found


def _facts(
    part: Node | Group, learned: Any, numbers: dict[str, int], config: str
) -> dict[str, str]:
    from transformer_diagrams.dims import DimError
    from transformer_diagrams.graph.ir import Node
    from transformer_diagrams.text import plain

    if isinstance(part, Node):
        what = "" if part.op == "use" else part.op.replace("_", " ")
        if part.op in ("input", "output"):
            what += f" of type {(part.outputs or part.inputs)[0].dtype}"
        name = plain(part.label) or what
        params = part.params if part.params is not None else learned
    else:
        repeated = f"repeated {plain(part.badge)}".strip()
        what = repeated if part.kind in ("repeat", "pattern") else ""
        name = plain(part.title) or part.kind
        params = learned
    facts = {
        "name": " ".join(name.split()),
        "what": what if what.lower() != name.lower() else "",
        "shape": _shape(part.inputs, part.outputs),
        "params": "",
        "number": "",
        "set": _said(part) if isinstance(part, Node) else "",
        "note": plain(part.note) if part.note else "",
    }
    if params is not None and str(params) != "0":
        facts["params"] = str(params)
        try:
            number = params.evaluate(numbers)
        except DimError:
            return facts
        facts["number"] = maths.shortened(number) + (f" in {config}" if config else "")
    return facts


def _said(node: Node) -> str:
    """The attributes of an op that are not at their defaults."""
    from transformer_diagrams.ops import registry

    if not node.attrs:
        return ""
    defaults = {a.name: a.value(a.default) for a in registry.get(node.op).attrs}
    given = ((name, value) for name, value in node.attrs.items() if value != defaults.get(name))
    return ", ".join(
        f"{name} {', '.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in given
    )


def _shape(inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> str:
    ins = [str(port.shape) for port in inputs if port.shape is not None]
    outs = [str(port.shape) for port in outputs if port.shape is not None]
    if not ins or not outs or ins == outs:
        return ", ".join(outs or ins)
    return f"{', '.join(ins)} → {', '.join(outs)}"


def _learned(model: Model) -> Iterator[tuple[str, Any]]:
    """(path, weights of one copy) of every used spec, opened or closed."""
    frame = model.inferences.under().frame
    if frame is not None:
        yield from _used(frame, "")


def _used(frame: Frame, prefix: str) -> Iterator[tuple[str, Any]]:
    from transformer_diagrams.count.tally import ZERO, Counter

    for atom in frame.program.atoms:
        inner = frame.uses.get(atom.index)
        if inner is None or atom.block is None:
            continue
        weights = ZERO
        for params, _ in Counter().tally(inner).weights.values():
            weights = weights + params
        path = prefix + atom.block.id
        yield path, weights
        yield from _used(inner, f"{path}/")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A spec's record and the bytes of its figures by suffix; or the faults that keep it away."""

    path: str
    record: Record
    figures: dict[str, bytes]
    faults: tuple[Fault, ...] = ()


def prepare(path: str) -> Prepared:
    """Everything that costs time; made for a pool of processes, so nothing is raised."""
    try:
        model = Model.find(path)
        made = record(model)
        figures = {
            suffix: model.render(format, **options).data for suffix, format, options in FIGURES
        }
    except DiagramError as fault:
        return Prepared(path, {}, {}, fault.faults)
    except Exception as fault:
        words = f"unexpected {type(fault).__name__}: {' '.join(str(fault).split())[:300]}"
        return Prepared(path, {}, {}, (Fault("internal", words, Span(path)),))
    return Prepared(path, made, figures)


def is_kept(path: str) -> bool:
    """Whether all of a spec's results are in the store: preparing it costs next to nothing."""
    try:
        model = Model.find(path)
        return store.get(_key(model)) is not None and all(
            model.kept(format, **options) for _, format, options in FIGURES
        )
    except DiagramError:
        return False
