"""The reference of the ops: one entry an op, from its record and its examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from transformer_diagrams.dims import Facts
from transformer_diagrams.docs.markdown import code, codes, table
from transformer_diagrams.ops import FAMILIES, registry
from transformer_diagrams.ops.registry import Attr, Call, Example, Op, Shape

# What a family is called in the reference.
HEADINGS: Mapping[str, str] = {
    "embedding": "Embeddings and given tensors",
    "position": "Positions",
    "linear": "Learned linear maps",
    "norm": "Norms",
    "attention": "Attention and heads",
    "mask": "Masks",
    "cache": "Caches",
    "recurrence": "Recurrences",
    "product": "Products",
    "elementwise": "Element by element",
    "shape": "Shapes and sums",
    "select": "Selection",
    "moe": "Mixtures of experts",
    "conv": "Convolutions",
    "image": "Images: patches, pooling, other resolutions",
    "window": "Windows of maps",
    "sample": "Sampling of maps, patches and positions",
    "matching": "Matching",
    "loss": "Losses",
    "opaque": "Anything else",
}


def ops() -> list[Op]:
    """Every op, by name."""
    return [registry.get(name) for name in registry.names()]


def families() -> list[tuple[str, str, list[Op]]]:
    """(family, heading, ops) in the order of the registry's families; others after, by name."""
    found: dict[str, list[Op]] = {}
    for op in ops():
        found.setdefault(op.family, []).append(op)
    known = [module.__name__.rpartition(".")[2] for module in FAMILIES]
    order = [*(f for f in known if f in found), *sorted(f for f in found if f not in known)]
    return [(f, HEADINGS.get(f, f.capitalize()), found[f]) for f in order]


def _contents(_root: Path) -> str:
    rows = [
        [heading, ", ".join(f"[`{op.name}`](#{op.name})" for op in inside)]
        for _, heading, inside in families()
    ]
    return table(["", "ops"], rows)


def _reference(_root: Path) -> str:
    parts = []
    for _, heading, inside in families():
        parts.append(f"### {heading}\n")
        parts += [_entry(op) for op in inside]
    return "\n".join(parts)


def _entry(op: Op) -> str:
    head = [f"#### `{op.name}`", "", op.summary, ""]
    ports = f"Inputs: {_inputs(op)}. Outputs: {_outputs(op)}. Style role: `{op.role}`."
    if op.param_role:
        ports += f" Weights count as `{op.param_role}`."
    head += [ports, ""]
    if op.attrs:
        head.append(table(["attribute", "value", "default", "meaning"], map(_attr, op.attrs)))
    rows = [_example(op, example) for example in op.examples]
    titles = ["example", "inputs", "outputs", "weights", "FLOPs", "label"]
    head.append(table(titles, rows))
    return "\n".join(head)


def _inputs(op: Op) -> str:
    if not op.inputs and not op.variadic:
        return "none"
    needed = len(op.inputs) - op.optional
    words = [
        code(name) + ("" if number < needed else " (may be left out)")
        for number, name in enumerate(op.inputs)
    ]
    return ", ".join(words) + (", and any number more" if op.variadic else "")


def _outputs(op: Op) -> str:
    return codes(op.outputs) if op.outputs else "as many as the attributes say, by number from 0"


def _attr(attr: Attr) -> list[str]:
    value = codes(attr.choices) if attr.choices else _kind(attr)
    default = attr.default
    shown = "" if default is None or default == "" else code(_scalar(default))
    return [code(attr.name), value, "required" if attr.required else shown, attr.doc]


def _kind(attr: Attr) -> str:
    words = registry.KINDS[attr.kind]
    if attr.kind not in ("dim", "dims") or (attr.least, attr.beside) == (1, None):
        return words
    low = "negative ones too" if attr.least is None else f"from {attr.least} up"
    return f"{words}, {low}" + (f", or {attr.beside}" if attr.beside is not None else "")


def _example(op: Op, example: Example) -> list[str]:
    shapes = tuple(Shape.parse(parts) for parts in example.inputs)
    given = {name: op.attr(name).value(value) for name, value in example.attrs.items()}
    call = Call(op, shapes, given, Facts())
    made = op.shape(call)
    label = op.label(call)
    return [
        code("{" + ", ".join([f"op: {op.name}", *_pairs(example.attrs)]) + "}"),
        codes(shapes),
        codes(made),
        code(op.params(call)),
        code(op.flops(call)),
        code(label),
    ]


def _pairs(attrs: Mapping[str, Any]) -> Iterable[str]:
    for name, value in attrs.items():
        if isinstance(value, (list, tuple)):
            yield f"{name}: [{', '.join(map(_scalar, value))}]"
        else:
            text = _scalar(value)
            # A text that YAML would read as something else stands in quotes.
            yield f"{name}: " + (f"'{text}'" if set(text) & set(",:{}[]#&*'\"\\$") else text)


def _scalar(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


PARTS: Mapping[str, Callable[[Path], str]] = {
    "ops-contents": _contents,
    "ops": _reference,
}
