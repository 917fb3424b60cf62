"""The JSON Schema and the loader give the same verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from selection import FIGURES
from test_spec_load import FULL

from transformer_diagrams.bundled import bundled_specs
from transformer_diagrams.errors import MAX_FAULTS, Report
from transformer_diagrams.spec import validate
from transformer_diagrams.spec.library import SpecLibrary
from transformer_diagrams.spec.load import load_text
from transformer_diagrams.spec.schema import build
from transformer_diagrams.spec.starter import starter
from transformer_diagrams.spec.yaml_nodes import plain_data
from transformer_diagrams.spec.yaml_source import read

# What a schema cannot say: these need the whole file, or another grammar.
BEYOND = {
    "definition-cycle",
    "duplicate-id",
    "duplicate-name",
    "expression",
    "unknown-config",
    "unknown-dim",
    "unknown-option",
    "unknown-reference",
}


SCHEMA = build()
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def verdicts(text: str) -> tuple[bool, bool]:
    """Whether the loader and whether the schema accept a text."""
    report = Report()
    root, _ = read(text, "t.yaml", report)
    assert root is not None
    assert not report.errors, report.faults
    _, loaded = load_text(text, "t.yaml")
    wrong = [fault for fault in loaded.errors if fault.code not in BEYOND]
    return not wrong, VALIDATOR.is_valid(plain_data(root))


GOOD = [
    FULL,
    "blocks: [softmax]\n",
    "title: 1.10\ncaption: 12:30\nblocks: [softmax]\nx-a: [1]\n",
    "inputs: {x: [..., 3], y: {shape: [d]}}\nblocks: [add]\n",
    "dims: {a: 1, b: {doc: x, default: 3}}\nblocks: [add]\n",
    "options: {a: {}, b: {choices: [p]}}\nblocks: [{op: linear, out: 3, bias: a}]\n",
    "blocks: [{residual: [add]}, {group: [add], title: 3}, {repeat: 2, blocks: [add]}]\n",
    "blocks: [{parallel: [[], [add]]}, {parallel: {a: []}}, {columns: [{blocks: [add]}]}]\n",
    "blocks: [{use: gqa, with: {}}, {use: ./a.yaml, open: false}]\n",
    "blocks: [{op: add, from: []}, {op: add, from: softmax}, {op: softmax, from: {a: add}}]\n",
    "blocks: [{op: rmsnorm, eps: 1}, {op: pool, kind: max}, {op: scale, by: 3}]\n",
    "blocks: [{op: rmsnorm, eps: 1e-5}, {op: scale, by: 1e-5}]\n",
    "blocks: [{op: split, sizes: []}, {op: split, sizes: [1, d]}]\n",
]

BAD = [
    "titel: x\nblocks: [add]\n",
    "title: x\n",
    "title: true\nblocks: [add]\n",
    "title: ''\nblocks: [add]\n",
    "title:\nblocks: [add]\n",
    "blocks: []\n",
    "blocks: add\n",
    "- add\n",
    "role: x\nblocks: [add]\n",
    "tags: a\nblocks: [add]\n",
    "show: {shapes: some}\nblocks: [add]\n",
    "show: {where: yes}\nblocks: [add]\n",
    "source: {year: '2017'}\nblocks: [add]\n",
    "source: {year: 3}\nblocks: [add]\n",
    "source: {name: x}\nblocks: [add]\n",
    "dims: {a-b: x}\nblocks: [add]\n",
    "dims: {a: {value: 0}}\nblocks: [add]\n",
    "dims: {a: {what: 1}}\nblocks: [add]\n",
    "dims: [a]\nblocks: [add]\n",
    "options: {a: {default: 3}}\nblocks: [add]\n",
    "options: {a: {choices: []}}\nblocks: [add]\n",
    "options: {a: true}\nblocks: [add]\n",
    "configs: {a: {b: 0}}\nblocks: [add]\ndims: {b: x}\n",
    "configs: {a: [1]}\nblocks: [add]\n",
    "inputs: {x: d}\nblocks: [add]\n",
    "inputs: {x: {dtype: complex}}\nblocks: [add]\n",
    "inputs: {x: {from: add}}\nblocks: [add]\n",
    "outputs: {1x: [3]}\nblocks: [add]\n",
    "blocks: [linear]\n",
    "blocks: [what]\n",
    "blocks: [{op: what}]\n",
    "blocks: [{op: linear}]\n",
    "blocks: [{op: linear, out: 3, outt: 4}]\n",
    "blocks: [{op: linear, out: true}]\n",
    "blocks: [{op: linear, out: 3, bias: yes}]\n",
    "blocks: [{op: softmax, axis: 1.5}]\n",
    "blocks: [{op: rmsnorm, eps: []}]\n",
    "blocks: [{op: pool, kind: []}]\n",
    "blocks: [{op: scale, by: [1]}]\n",
    "blocks: [{op: split, sizes: 3}]\n",
    "blocks: [{op: split, sizes: [1], axis: {a: b}}]\n",
    "blocks: [{op: add, lable: x}]\n",
    "blocks: [{op: add, label: {a}}]\n",
    "blocks: [{op: add, label: [a]}]\n",
    "blocks: [{op: add, label: true}]\n",
    "blocks: [{op: add, id: 1}]\n",
    "blocks: [{op: add, id: a.b}]\n",
    "blocks: [{op: add, mark: x}]\n",
    "blocks: [{op: add, when: x}]\n",
    "blocks: [{op: add, once: 1}]\n",
    "blocks: [{op: add, stack: 0}]\n",
    "blocks: [{op: add, shape: d}]\n",
    "blocks: [{op: add, shape: {a: 3}}]\n",
    "blocks: [{op: add, open: true}]\n",
    "blocks: [{op: add, with: {}}]\n",
    "blocks: [{op: add, blocks: [add]}]\n",
    "blocks: [{op: add, from: 3}]\n",
    "blocks: [{op: add, from: {}}]\n",
    "blocks: [{op: add, from: {from: softmax, wen: train}}]\n",
    "blocks: [{op: add, from: {a: {wen: train}}}]\n",
    "blocks: [{op: add, share: [a]}]\n",
    "blocks: [{op: add, use: a}]\n",
    "blocks: [{id: a}]\n",
    "blocks: [{repeat: 3}]\n",
    "blocks: [{repeat: 0, blocks: [add]}]\n",
    "blocks: [{repeat: 3, blocks: []}]\n",
    "blocks: [{residual: []}]\n",
    "blocks: [{residual: [linear]}]\n",
    "blocks: [{group: add}]\n",
    "blocks: [{parallel: []}]\n",
    "blocks: [{parallel: [add]}]\n",
    "blocks: [{parallel: {a: add}}]\n",
    "blocks: [{columns: []}]\n",
    "blocks: [{columns: [{id: a}]}]\n",
    "blocks: [{columns: [{blocks: [add], op: add}]}]\n",
    "blocks: [{use: gqa, with: {a: 0}}]\n",
    "blocks: [{use: gqa, with: {a: [1]}}]\n",
    "blocks: [{use: gqa, open: closed}]\n",
    "blocks: [[add]]\n",
    "blocks: [3]\n",
    "blocks: [null]\n",
]


@pytest.mark.parametrize("text", GOOD)
def test_good_documents_are_accepted_by_both(text: str) -> None:
    assert verdicts(text) == (True, True)


@pytest.mark.parametrize("text", BAD)
def test_bad_documents_are_refused_by_both(text: str) -> None:
    assert verdicts(text) == (False, False)


@pytest.mark.parametrize("name", FIGURES)
def test_bundled_specs_are_accepted_by_both(name: str) -> None:
    text = SpecLibrary().index[name].read_text(encoding="utf-8")
    assert verdicts(text) == (True, True)


def test_the_starter_is_accepted_by_both() -> None:
    assert verdicts(starter("mine", "Mine")) == (True, True)


CASES = sorted((Path(__file__).parent / "cases" / "authoring").glob("*.yaml"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_cases_are_judged_alike(path: Path) -> None:
    report = Report()
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    root, _ = read(text, path.name, report)
    if root is None or report.errors:
        return  # YAML itself refuses it
    _, loaded = load_text(text, path.name)
    unseen = BEYOND | {"backslash", "control-character"}
    wrong = [fault for fault in loaded.errors if fault.code not in unseen]
    assert VALIDATOR.is_valid(plain_data(root)) is not bool(wrong)


def test_every_op_is_there_with_its_attributes() -> None:
    from transformer_diagrams.ops import registry

    schema = build()
    names = schema["$defs"]["block_mapping"]["properties"]["op"]["enum"]
    assert names == sorted(registry.names())
    for name in names:
        properties = schema["$defs"][f"op_{name}"]["properties"]
        for attr in registry.get(name).attrs:
            assert properties[attr.name]["description"] == attr.doc


def test_every_key_has_a_description() -> None:
    def check(node: Any, path: str) -> None:
        if isinstance(node, dict):
            for name, value in node.get("properties", {}).items():
                if isinstance(value, dict) and "$ref" not in value:
                    assert value.get("description"), f"{path}.{name}"
            for name, value in node.items():
                if name not in ("if", "then", "else"):
                    check(value, f"{path}.{name}")
        elif isinstance(node, list):
            for item in node:
                check(item, path)

    check(build(), "")


def test_the_schema_is_small_and_always_the_same() -> None:
    text = json.dumps(build())
    assert text == json.dumps(build())
    assert len(text) < 400_000


def test_faults_beyond_the_room_of_a_report_are_not_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[Any] = []
    leaves = validate._leaves
    monkeypatch.setattr(validate, "_leaves", lambda error: looked.append(error) or leaves(error))
    data = b"inputs: {x: [3]}\nblocks:\n" + b"  - nosuch\n" * (3 * MAX_FAULTS)
    found = validate.validate(data, "x.yaml").faults
    assert [fault.code for fault in found] == ["schema"] * MAX_FAULTS + ["too-many-faults"]
    assert len(looked) == MAX_FAULTS + 1


def test_an_editor_is_given_the_bundled_ids_and_what_each_takes() -> None:
    """The schema offers every id that `use` finds, and takes any path; the table has each."""
    schema = build()
    offered = schema["$defs"]["bundled"]["enum"]
    assert offered == sorted(bundled_specs())
    page = Path(__file__).parent.parent / "docs" / "spec.md"
    text = page.read_text(encoding="utf-8")
    table = text.partition("<!-- generated: bundled-parts -->")[2].partition("<!-- end -->")[0]
    rows = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}
    assert rows.keys() - {"use:"} == set(offered)
    assert "| `X [d_t, d_m]` |" in rows["gqa"]
    assert "`n_g`" in rows["gqa"]
