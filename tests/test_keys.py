"""No key without effect: every key of the language, set in a small spec, changes what comes out.

What comes out is all that a user can see: faults and warnings, the figure, the counts, the record
that lists and pages are made from. A key that is refused where it stands has its effect too.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from transformer_diagrams.api import Model
from transformer_diagrams.dump import to_plain
from transformer_diagrams.gallery.record import _made
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.registry import Attr, Example, Op
from transformer_diagrams.spec import grammar

Spec = dict[str, Any]
Case = tuple[Spec, Spec]  # without the key, and with it


@cache
def outcome(text: str) -> Any:
    """All that a user sees of a spec, without the places in the file."""
    model = Model.from_text(text, name="case.yaml")
    report = model.check()
    told = [(f.code, f.message, f.severity) for f in report.faults]
    if report.errors:
        return told
    return told, to_plain(model.scene()), _made(model)


def has_effect(case: Case, *, drawn: bool = False) -> bool:
    """Whether the key changes what comes out; with ``drawn``, the figure itself."""
    before, after = (outcome(json.dumps(spec)) for spec in case)
    assert isinstance(before, tuple), before  # the spec without the key is right
    if drawn and isinstance(after, tuple):
        return bool(before[1] != after[1]) or any(code == "unused-key" for code, *_ in after[0])
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
    "average_of": "first",
    "once": True,
    "note": "A remark",
    "step": 2,
    "accent": 3,
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


def around(name: str, block: Spec, *, turns: bool = False) -> Spec:
    """A spec whose second block is ``block``; what comes after takes whatever it gives."""
    if name == "column":
        block = {"columns": [block]}
    if turns:
        whole = {"op": "box", "out": ["d_t", "d_m"]}
        block = {"repeat": "L", "blocks": [block, whole]}
    return {
        "dims": {"d_t": "positions", "d_m": "width", "d_h": "hidden", "L": "turns"},
        "options": {"off": {"doc": "nothing", "default": True}},
        "inputs": {"x": ["d_t", "d_m"]},
        "blocks": [
            {"op": "linear", "out": "d_m", "id": "first"},
            block,
            {"op": "box", "out": ["d_t", "d_m"], "label": "After"},
        ],
    }


def structure_keys() -> Iterator[tuple[str, Case]]:
    for name, block in BODY.items():
        known = grammar.COLUMN if name == "column" else grammar.STRUCTURES.get(name, grammar.OP)
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
                turns = key == "once"
                yield (
                    f"{name}.{key}={value}",
                    (around(name, base, turns=turns), around(name, more, turns=turns)),
                )


STRUCTURE_KEYS = dict(structure_keys())


DRAWN = ("label", "title", "role", "stack", "copies", "mark", "open", "note", "direction")


@pytest.mark.parametrize("name", STRUCTURE_KEYS)
def test_key_of_a_block_has_an_effect(name: str) -> None:
    key = name.split(".")[1].split("=")[0]
    assert has_effect(STRUCTURE_KEYS[name], drawn=key in DRAWN)


# -- the keys of the file, its sizes, options, inputs, outputs, references ---------------------

WORDS = {"shape": ["d_t"], "dtype": "int"}
FILE: Spec = {
    "dims": {"d_t": "positions", "d_m": "width", "h": {"doc": "hidden"}, "V": "words"},
    "where": ["h <= d_m"],
    "options": {"off": {"doc": "a part left out", "default": True}},
    "configs": {"one": {"d_t": 2, "d_m": 4, "h": 3, "V": 5}},
    "inputs": {"x": {"shape": ["d_t", "d_m"]}, "t": WORDS},
    "outputs": {"y": {"from": "first"}},
    "blocks": [
        {"op": "linear", "out": "h", "from": {"from": "x"}, "id": "first", "if": "off"},
        {"op": "linear", "out": "h", "from": "x", "id": "second", "shape": ["d_t", "h"]},
        {"op": "embedding", "vocab": "V", "width": "h", "from": "t", "id": "table"},
        {"op": "add", "from": ["second", {"from": "table", "when": "train"}], "note": "A remark."},
    ],
}
OTHER: dict[str, dict[str, Any]] = {
    "top": {
        "title": "Other title", "short": "Other", "caption": "Other words.", "family": "other",
        "role": "mask", "counts_as": "lm_head", "source": {"title": "A paper"}, "tags": ["one"],
        "builds_on": ["gqa"], "dims": {"d_t": "places"}, "where": ["V <= h"],
        "options": {}, "configs": {"two": {"d_t": 3, "d_m": 9, "h": 3, "V": 5}},
        "inputs": {"x": ["d_t", "h"], "t": WORDS}, "outputs": {"z": {"from": "table"}},
        "show": {"shapes": "none"}, "blocks": [{"op": "identity", "from": "x"}],
        "equals": [{"spec": "same"}],
    },
    "source": {
        "title": "A paper", "arxiv": "1706.03762", "year": 2017, "authors": "Some", "url": "a",
        "note": "a remark",
    },
    "dim": {"doc": "other", "value": "2 d_m", "default": "2 d_m", "tex": "h'"},
    "option": {"doc": "other", "default": False, "choices": ["a", "b"]},
    "input": {
        "shape": ["d_t", "V"], "dtype": "int", "label": "Other", "doc": "other", "when": "train",
    },
    "output": {
        "from": "table", "shape": ["V"], "dtype": "int", "label": "Other", "doc": "other",
        "when": "train",
    },
    "reference": {
        "from": "t", "feedback": "second", "when": "train", "mark": "ema", "label": "words",
    },
    "show": {
        "shapes": "none", "where": True, "config": "one", "legend": True, "frame": True,
        "direction": "right", "mode": "inference", "fold": 1, "aspect": "9:1", "theme": "slides",
        "title": True, "notes": "numbered",
        "spans": [{"from": "second", "to": "table", "text": "both"}],
    },
}  # fmt: skip
def used(spec: Spec) -> Any:
    """What a spec that draws ``spec`` as one box gives."""
    Path("part.yaml").write_text(json.dumps(spec), encoding="utf-8")
    same = {key: spec[key] for key in ("dims", "where", "inputs")}
    user = {**same, "blocks": [{"use": "part", "from": ["x", "t"]}]}
    return outcome.__wrapped__(json.dumps(user))


TABLES = {
    "top": (grammar.TOP, ()),
    "source": (grammar.SOURCE, ("source",)),
    "dim": (grammar.DIM, ("dims", "h")),
    "option": (grammar.OPTION, ("options", "off")),
    "input": (grammar.INPUT, ("inputs", "x")),
    "output": (grammar.OUTPUT, ("outputs", "y")),
    "reference": (grammar.REF, ("blocks", 0, "from")),
    "show": (grammar.SHOW, ("show",)),
}


@pytest.mark.parametrize(
    ("table", "key"), [(table, key) for table, (keys, _) in TABLES.items() for key in keys]
)
def test_key_of_the_file_has_an_effect(
    table: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = copy.deepcopy(FILE), copy.deepcopy(FILE)
    Path("same.yaml").write_text(json.dumps(FILE), encoding="utf-8")  # that `equals` names
    at: Any = after
    for step in TABLES[table][1]:
        at = at.setdefault(step, {}) if isinstance(at, dict) else at[step]
    at[key] = OTHER[table][key]
    if key == "feedback":  # in place of what it stands for
        at.pop("from")
    if (table, key) == ("top", "short"):  # what the users of a spec say
        assert used(before) != used(after)
        return
    assert has_effect((before, after))


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
        "float": [0.25 if default != 0.25 else 0.5],
        "str": ["b a -> a" if attr.name == "formula" else "other"],
        "names": [["one", "two"]],
        "name": ["other"],
    }[attr.kind]


def as_spec(op: Op, example: Example, attrs: dict[str, Any]) -> Spec:
    names = {n for shape in example.inputs for d in shape for n in _names(str(d))}
    for value in (*attrs.values(), *example.attrs.values()):
        for part in value if isinstance(value, (list, tuple)) else [value]:
            names |= set(_names(str(part)))
    dims = dict.fromkeys(sorted(names | {"z", "d_t"}), "a size")
    inputs: Spec = {}
    for n, shape in enumerate(example.inputs):
        kind = "int" if op.port_name(n) in op.whole else "float"
        inputs[f"x{n}"] = {"shape": [str(d) for d in shape], "dtype": kind}
    block = {"op": op.name, **attrs}
    if inputs:
        block["from"] = list(inputs)
    rows, width = example.attrs.get("out", "z"), str([*example.inputs, ["z"]][0][-1])
    if op.name != "tied_linear":
        rows = width = "z"
    table = {"op": "embedding", "id": "embed", "from": "t", "vocab": rows, "width": width}
    other = {**table, "id": "other", "vocab": "z"}
    return {"dims": dims, "inputs": {**inputs, "t": WORDS}, "blocks": [table, other, block]}


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
                    given = dict(example.attrs)
                    values = others(attr, op, given.get(attr.name))
                    if number < len(values):
                        more = {**given, attr.name: values[number]}
                        cases.append((as_spec(op, example, given), as_spec(op, example, more)))
                yield f"{name}.{attr.name}-{number}", cases


OP_KEYS = dict(op_keys())


@pytest.mark.parametrize("cases", OP_KEYS.values(), ids=OP_KEYS)
def test_attribute_of_an_op_has_an_effect(cases: list[Case]) -> None:
    right = [case for case in cases if isinstance(outcome(json.dumps(case[0])), tuple)]
    assert any(has_effect(case) for case in right)
