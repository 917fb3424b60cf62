"""What an author can get wrong, and what must be said: one test for each case file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from transformer_diagrams.errors import Fault
from transformer_diagrams.faults_text import faults_text
from transformer_diagrams.spec.load import load_path, load_text
from transformer_diagrams.spec.model import Block, Spec

HERE = Path(__file__).parent / "cases" / "authoring"


def case(name: str) -> tuple[Spec, list[Fault]]:
    (path,) = HERE.glob(f"{name}_*.yaml")
    spec, report = load_path(path)
    printed = faults_text(report.faults, {str(path): spec.text})
    for fault in report.faults:
        assert f"{path}:{fault.span.line}:{fault.span.column}: " in printed
    return spec, report.faults


def places(found: list[Fault]) -> list[tuple[str, int]]:
    return [(fault.code, fault.span.line) for fault in found]


def by_id(spec: Spec) -> dict[str, Block]:
    return {block.id: block for block in spec.blocks}


def test_a01_a_key_given_twice() -> None:
    _, (fault,) = case("A01")
    assert fault.path == "dims.d_model"
    assert "line 4" in fault.message
    assert "line 6" in fault.message
    assert fault.span.line == 6
    assert [span.line for _, span in fault.notes] == [4]


def test_a02_a_tab() -> None:
    _, (fault,) = case("A02")
    assert fault.message == "a TAB is used for indentation on line 2"


def test_a03_eight_words_stay_text() -> None:
    spec, found = case("A03")
    assert not found
    assert [b.id for b in spec.blocks] == ["on", "off", "y", "NO"]
    assert [str(b.label) for b in spec.blocks] == ["Yes", "No", "on", "off"]


def test_a04_numbers_and_text_stay_what_was_typed() -> None:
    spec, found = case("A04")
    assert not found
    assert spec.blocks[0].attrs["cap"].value == 0.00001
    assert [str(b.label) for b in spec.blocks] == ["12:30", "017", "1.10", "2017-06-12", "1_000"]
    assert spec.configs["base"].source == "1706.03760"


def test_a05_an_override_after_a_merge() -> None:
    spec, found = case("A05")
    assert not found
    assert {b.id: b.attrs["bias"].value for b in spec.blocks} == {"q": False, "k": True}



def test_a07_a_value_inside_itself() -> None:
    _, (fault,) = case("A07")
    assert fault.code == "self-reference"
    assert fault.span.line == 5
    assert "'*again'" in fault.message



def test_a09_three_mistakes_in_one_run() -> None:
    _, found = case("A09")
    assert sorted((f.found, f.span.line) for f in found) == [
        ("colour", 5),
        ("lable", 4),
        ("outputz", 6),
    ]
    hints = {f.found: f.hint for f in found}
    assert "'label'" in hints["lable"]
    assert "'outputs'" in hints["outputz"]


def test_a10_two_documents() -> None:
    _, (fault,) = case("A10")
    assert "one document is expected" in fault.message
    assert "line 2" in fault.message


def test_a11_bom_and_crlf_are_as_none() -> None:
    spec, found = case("A11")
    assert not found
    path = HERE / "A11_bom_crlf.yaml"
    plain = path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    assert load_text(plain, str(path))[0] == spec
    assert str(spec.blocks[0].label) == "caf\u00e9"


def test_a12_a_tag_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, found = case("A12")
    assert "tag" in [f.code for f in found]
    assert not os.listdir(tmp_path)


def test_a13_labels_that_yaml_eats() -> None:
    spec, found = case("A13")
    assert [(f.path, f.span.line) for f in found] == [
        ("blocks[0].label", 6),
        ("blocks[1].label", 9),
        ("blocks[2].label", 12),
        ("blocks[4].label", 18),
    ]
    wanted = ["'{d_m}'", "'softmax #1'", "'d_m \\times d_K'", "'&x'"]
    for fault, quoted in zip(found, wanted, strict=True):
        assert quoted in fault.hint
        assert "single quotes" in fault.hint
    assert str(by_id(spec)["n4"].label) == "$d_m \\times d_K$"


def test_a14_backslashes_that_double_quotes_eat() -> None:
    spec, found = case("A14")
    lost = ["alpha", "beta", "frac", "nu", "rho", "times", "varphi", "eta", "_m", "Lambda"]
    assert [f.expected for f in found] == ["\\" + word for word in lost]
    assert all("single quotes" in f.hint for f in found)
    assert str(by_id(spec)["line"].label) == "two\nlines"
    assert str(by_id(spec)["right"].label) == "\\times"


def test_a15_an_empty_file() -> None:
    _, (fault,) = case("A15")
    assert fault.message == "the file is empty"


def test_a16_a_backslash_that_begins_no_escape() -> None:
    _, (fault,) = case("A16")
    assert fault.found == "\\sqrt"
    assert "single quotes" in fault.hint
    assert (fault.span.line, fault.span.column) == (2, 25)


def test_a17_not_utf_8() -> None:
    _, (fault,) = case("A17")
    assert fault.code == "encoding"
    assert (fault.span.line, fault.span.column) == (2, 25)
    assert "0xE9" in fault.message


def test_a18_a_non_character_is_named() -> None:
    _, (fault,) = case("A18")
    assert "U+FFFE" in fault.message
    assert (fault.span.line, fault.span.column) == (2, 24)


def test_a19_a_control_character_is_named() -> None:
    _, (fault,) = case("A19")
    assert "U+0007 (BELL)" in fault.message
    assert (fault.span.line, fault.span.column) == (2, 24)


def test_a20_keys_that_are_not_text() -> None:
    spec, found = case("A20")
    assert places(found) == [("key-not-text", 1), ("key-not-text", 2), ("key-not-text", 2)]
    assert all("quotes" in f.hint for f in found)
    assert list(spec.configs) == ["on"]


def test_a21_an_op_fault_speaks_of_that_op() -> None:
    _, (fault,) = case("A21")
    assert fault.found == "casual"
    assert fault.hint == "did you mean 'causal'?"
    printed = faults_text([fault])
    assert len(printed.splitlines()) <= 5
    from transformer_diagrams.ops import registry

    words = set(printed.replace("'", " ").replace(":", " ").split())
    assert not words & (set(registry.names()) - {"attention_core", "mean"})  # "did you mean"


def test_g01_and_g02_load() -> None:
    for name in ("G01", "G02"):
        spec, found = case(name)
        assert not found
        assert spec.blocks


def test_g04_a_group_with_a_direction_of_its_own() -> None:
    spec, found = case("G04")
    assert not found
    assert spec.blocks[1].direction == "right"


def test_g05_levels_across_groups_are_refused_in_words() -> None:
    _, (fault,) = case("G05")
    assert (fault.code, fault.found) == ("unknown-key", "same_level")


def test_g06_one_block_in_two_groups() -> None:
    _, (fault,) = case("G06")
    assert fault.code == "duplicate-id"
    assert "'n'" in fault.message
    assert fault.path == "blocks[1].group[0].id"
    assert fault.span.line == 7
    assert "'g1'" in fault.message
    assert "'g2'" in fault.message


def test_g08_labels_on_edges() -> None:
    spec, found = case("G08")
    assert not found
    sources = by_id(spec)["dec"].sources
    assert sources is not None
    assert [str(ref.label) for ref in sources] == [
        "[b, n, h, d_h] after transpose(1, 2)",
        "keys",
        "[b, m, d_model] values",
    ]


def test_g09_one_block_written_once() -> None:
    spec, found = case("G09")
    assert not found
    repeat = spec.blocks[1]
    assert str(repeat.count) == "48"
    assert repeat.children[0].attrs["params"].value == "7087872"



def test_b04_thirty_nested_groups_load() -> None:
    text = "inputs: {x: [...]}\nblocks: [" + "{group: [" * 30 + "softmax" + "]}" * 30 + "]\n"
    _, report = load_text(text)
    assert not report.faults


def test_b05_a_label_of_100_kb() -> None:
    text = "blocks:\n  - {op: box, label: '" + "long text " * 10_000 + "'}\n"
    spec, report = load_text(text, "big.yaml")
    (fault,) = report.faults
    assert fault.code == "text-too-long"
    assert max(map(len, faults_text([fault], {"big.yaml": text}).splitlines())) < 200
    assert spec.blocks[0].label is None


def test_b06_a_circle_of_20000_blocks_does_not_recurse() -> None:
    lines = [f"  - {{op: add, id: n{i}, from: [n{(i - 1) % 20_000}]}}\n" for i in range(20_000)]
    spec, report = load_text("blocks:\n" + "".join(lines))
    assert not report.faults  # the circle itself is found when the graph is built
    assert len(spec.blocks) == 20_000
