"""Mutated specs: the loader and the JSON Schema refuse the same, as far as a schema can say.

What the schema refuses, the loader refuses, always. What the loader refuses, the schema refuses,
but for the kinds of fault named here, each of which needs more than the value itself.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from selection import mostly_slow
from test_spec_load import FULL

from transformer_diagrams.errors import Fault, Report
from transformer_diagrams.ops import registry
from transformer_diagrams.spec.grammar import ID_PATTERN
from transformer_diagrams.spec.library import SpecLibrary
from transformer_diagrams.spec.load import load_text
from transformer_diagrams.spec.schema import build
from transformer_diagrams.spec.yaml_nodes import plain_data
from transformer_diagrams.spec.yaml_source import read

# What a schema cannot say at all: relations between places of a file, and another grammar.
# (A key given twice is gone before a schema sees the data: test_spec_yaml.py.)
BEYOND = {
    "backslash",
    "control-character",
    "definition-cycle",
    "duplicate-id",
    "duplicate-name",
    "expression",
    "unknown-config",
    "unknown-dim",
    "unknown-option",
    "unknown-reference",
}

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2.5, 1.0, 1e-5, 10**30, "", " ", "x", "a b", "1x", "true", "yes",
    "callout", "...", "...B", "...1", "1", "-1", "0", "2.5", "always", "up", "x" * 101,
    "x" * 1_001, "x" * 10_001, [], {}, ["x"], {"x": 1}, {"x": "y"}, [[]], [None], {"from": "x"},
    [1, "d"], ["d", "..."], {"blocks": ["add"]}, "add", "linear", {"op": "add"}, {"shape": [3]},
    "caf\u00e9", "a.b", "a.b.c", "a\nb",
)  # fmt: skip
KEYS = (
    "id", "from", "label", "title", "role", "op", "use", "blocks", "with", "open", "direction",
    "shape", "when", "mark", "if", "share", "once", "note", "stack", "copies", "carry", "x-y",
    "lable", "froom", "group", "out", "bias", "1x", "a b", "source", "default", "choices", "value",
    "doc", "tex",
)  # fmt: skip

Path = tuple[Any, ...]


def tree(text: str) -> Any:
    root, _ = read(text, "t.yaml", Report())
    assert root is not None
    return plain_data(root)


def paths(node: Any, at: Path = ()) -> Iterator[Path]:
    yield at
    if isinstance(node, (dict, list)):
        inner = node.items() if isinstance(node, dict) else enumerate(node)
        for step, value in inner:
            yield from paths(value, (*at, step))


def at(node: Any, path: Path) -> Any:
    for step in path:
        node = node[step]
    return node


def mutated(data: Any, chance: random.Random) -> Any:
    """One place of a document changed: a key dropped, renamed, added, a value of another kind."""
    data = json.loads(json.dumps(data))
    places = list(paths(data))[1:]
    where = chance.choice(places)
    holder, step = at(data, where[:-1]), where[-1]
    value = holder[step]
    match chance.randrange(8):
        case 0:
            del holder[step]
        case 1:
            holder[step] = [value]
        case 2:
            holder[step] = {chance.choice(KEYS): value}
        case 3 if isinstance(holder, dict):
            holder[chance.choice(KEYS)] = holder.pop(step)
        case 4:
            maps = [place for place in places if isinstance(at(data, place), dict)]
            at(data, chance.choice(maps or [()]))[chance.choice(KEYS)] = chance.choice(VALUES)
        case 5:
            holder[step] = json.loads(json.dumps(at(data, chance.choice(places))))
        case _:
            holder[step] = chance.choice(VALUES)
    return data


def follow(data: Any, path: str) -> Path | None:
    """The steps of a fault's path; None where it names no value. Names may hold dots."""
    steps: list[Any] = []
    while path:
        if path.startswith("["):
            index, _, path = path[1:].partition("]")
            steps.append(int(index))
        else:
            path = path.removeprefix(".")
            here = at(data, tuple(steps))
            names = [name for name in here if re.match(rf"{re.escape(name)}(?![^.\[])", path)]
            if not names:
                return None
            steps.append(max(names, key=len))
            path = path[len(steps[-1]) :]
    return tuple(steps)


def can_be_said(fault: Fault, data: Any) -> bool:
    """Whether a schema can say what this fault says."""
    if fault.code in BEYOND:
        return False
    steps = follow(data, fault.path)
    if not steps:
        return True
    value, holder = at(data, steps), at(data, steps[:-1])
    if fault.code == "not-positive" and isinstance(value, str):
        return False  # an expression
    if fault.code == "bad-choice" and steps[-1] == "if":
        return False  # the choices of the option stand elsewhere
    if steps[0] == "configs" and len(steps) == 3 and fault.code in ("wrong-type", "bad-choice"):
        return not isinstance(value, (str, int))  # whether a size or an option is said elsewhere
    if steps[0] == "options" and steps[-1] == "default" and fault.code == "bad-choice":
        return False  # the choices stand beside it
    if isinstance(holder, dict) and isinstance(value, str) and re.fullmatch(ID_PATTERN, value):
        attrs = registry.get(holder["op"]).attrs if holder.get("op") in registry.names() else ()
        kinds = {attr.name: attr.kind for attr in attrs}
        # It may be the name of an option.
        return kinds.get(steps[-1]) not in ("bool", "enum") and fault.code != "bad-choice"
    return True


SEEDS = mostly_slow(range(40), lambda seed: seed < 4)
TREES = [tree(FULL), *(tree(SpecLibrary().index[name].read_text()) for name in ("gqa", "swiglu"))]
SCHEMA = jsonschema.Draft202012Validator(build())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_mutated_spec_is_judged_alike(seed: int) -> None:
    chance = random.Random(seed)
    refused = 0
    for _ in range(60):
        data = mutated(chance.choice(TREES), chance)
        text = json.dumps(data) + "\n"
        assert tree(text) == data
        _, report = load_text(text, "t.yaml")
        valid = SCHEMA.is_valid(data)
        refused += not valid
        if not valid:
            assert report.errors, text
        sayable = [fault for fault in report.errors if can_be_said(fault, data)]
        assert not valid or not sayable, (sayable[0], text)
    assert refused > 20
