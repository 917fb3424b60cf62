"""No key without effect: every key of the language, set in a small spec, changes what comes out.

What comes out is all that a user can see: faults and warnings, the figure, the counts, the record
that lists and pages are made from. A key that is refused where it stands has its effect too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pytest

from transformer_diagrams.api import Model
from transformer_diagrams.emit import to_plain
from transformer_diagrams.gallery.record import _made
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.registry import Attr, Example, Op
from transformer_diagrams.spec import grammar

Spec = dict[str, Any]
Case = tuple[Spec, Spec]  # without the key, and with it


@lru_cache(maxsize=None)
def outcome(text: str) -> Any:
    """All that a user sees of a spec, without the places in the file."""
    model = Model.from_text(text, name="case.yaml")
    report = model.check()
    told = [(f.code, f.message, f.severity) for f in report.faults]
    if report.errors:
        return told
    return told, to_plain(model.scene()), _made(model)


def has_effect(case: Case) -> bool:
    before, after = (outcome(json.dumps(spec)) for spec in case)
    assert isinstance(before, tuple), before  # the spec without the key is right
    return bool(before != after)


# -- the keys of structures -----------------------------------------------------------------

LINEAR = {"op": "linear", "out": "d_m", "id": "w"}
BODY: dict[str, Spec] = {
    "op": {"op": "linear", "out": "d_m"},
    "add": {"op": "add", "from": ["x", "first"]},
    "softmax": {"op": "softmax"},
    "cache": {"op": "cache", "from": ["x", "first"], "length": "d_t"},
    "use": {"use": "swiglu"},
    "residual": {"residual": [LINEAR]},
    "repeat": {"repeat": "L", "blocks": [LINEAR]},
    "group": {"group": [LINEAR]},
    "parallel": {"parallel": [[LINEAR], ["gelu"]]},
    "columns": {"columns": [{"from": "first", "blocks": [LINEAR]}]},
    "column": {"blocks": [LINEAR]},
}
VALUES: dict[str, Any] = {
    "from": "x",
    "label": "Other label",
    "title": "Other title",
    "role": "mask",
    "counts_as": "lm_head",
    "shape": ["d_t", "L"],
    "stack": "L",
    "copies": "L",
    "mark": "frozen",
    "when": "train",
    "if": "not off",
    "share": "first",
    "once": True,
    "note": "A remark",
    "direction": "right",
    "with": {"d_h": 7},
    "repeat": 3,
    "use": "ffn",
    "residual": ["gelu"],
    "group": ["gelu"],
    "parallel": [["gelu"], ["relu"]],
    "columns": [{"from": "first", "blocks": ["gelu"]}],
    "blocks": ["gelu"],
}


def around(name: str, block: Spec) -> Spec:
    """A spec whose second block is ``block``; what comes after takes whatever it gives."""
    if name == "column":
        block = {"columns": [block]}
    return {
        "dims": {"d_t": "positions", "d_m": "width", "d_h": "hidden", "L": "turns"},
        "options": {"off": {"doc": "nothing", "default": True}},
        "inputs": {"x": ["d_t", "d_m"]},
        "blocks": [
            {"op": "linear", "out": "d_m", "id": "first"},
            {"repeat": "L", "blocks": [block]} if name in ("op", "softmax") else block,
            {"op": "box", "out": ["d_t", "d_m"], "label": "After"},
        ],
    }


def structure_keys() -> Iterator[tuple[str, Case]]:
    for name, block in BODY.items():
        known = grammar.COLUMN if name == "column" else grammar.STRUCTURES.get(name, grammar.COMMON)
        for key in known:
            if key == "id":
                one = {**block, "id": "there"}
                spec, other = around(name, one), around(name, one)
                other["blocks"].append({"op": "add", "from": ["first", "there"]})
                spec["blocks"].append({"op": "add", "from": ["first", "prev"]})
                yield f"{name}.id", (spec, other)
                continue
            values = [VALUES.get(key)]
            if key == "open":
                values = [name == "use", "callout"]
            base = dict(block)
            if key == "direction" and name == "use":
                base["open"] = True
            for value in values:
                more = {**base, key: value}
                yield f"{name}.{key}={value}", (around(name, base), around(name, more))


STRUCTURE_KEYS = dict(structure_keys())


@pytest.mark.parametrize("case", STRUCTURE_KEYS.values(), ids=STRUCTURE_KEYS)
def test_key_of_a_block_has_an_effect(case: Case) -> None:
    assert has_effect(case)


# -- the attributes of ops ------------------------------------------------------------------


def others(attr: Attr, op: Op, given: Any) -> list[Any]:
    """Values that an attribute does not have by itself."""
    default = attr.default if given is None else given
    if attr.kind == "bool":
        return [not default]
    if attr.kind == "enum":
        return [c for c in attr.choices if c != default]
    return {
        "dim": ["z"],
        "dims": [["z", "d_t"]],
        "int": [0 if default != 0 else 1],
        "float": [0.25],
        "str": ["b a -> a" if attr.name == "formula" else "other"],
        "names": [["one", "two"]],
        "name": ["first"],
    }[attr.kind]


def as_spec(op: Op, example: Example, attrs: dict[str, Any]) -> Spec:
    names = {n for shape in example.inputs for d in shape for n in _names(str(d))}
    for value in (*attrs.values(), *example.attrs.values()):
        for part in value if isinstance(value, (list, tuple)) else [value]:
            names |= set(_names(str(part)))
    dims = {n: "a size" for n in sorted(names | {"z", "d_t"})}
    inputs = {f"x{n}": [str(d) for d in shape] for n, shape in enumerate(example.inputs)}
    block = {"op": op.name, **attrs}
    if inputs:
        block["from"] = list(inputs)
    table = {"op": "embedding", "id": "first", "from": "t", "vocab": "z", "width": "d_t"}
    return {"dims": dims, "inputs": {**inputs, "t": ["d_t"]}, "blocks": [table, block]}


def _names(text: str) -> list[str]:
    import re

    return [n for n in re.findall(r"[A-Za-z]\w*", text) if n not in ("min", "max", "floor", "ceil")]


def op_keys() -> Iterator[tuple[str, list[Case]]]:
    for name in registry.names():
        op = registry.get(name)
        for attr in op.attrs:
            for number in range(len(others(attr, op, None))):
                cases = []
                for example in op.examples:
                    given = {k: v for k, v in example.attrs.items()}
                    values = others(attr, op, given.get(attr.name))
                    if number < len(values):
                        more = {**given, attr.name: values[number]}
                        cases.append((as_spec(op, example, given), as_spec(op, example, more)))
                yield f"{name}.{attr.name}-{number}", cases


OP_KEYS = dict(op_keys())


@pytest.mark.parametrize("cases", OP_KEYS.values(), ids=OP_KEYS)
def test_attribute_of_an_op_has_an_effect(cases: list[Case]) -> None:
    assert any(has_effect(case) for case in cases)
