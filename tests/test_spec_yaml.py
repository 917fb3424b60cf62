"""YAML text -> nodes: what scalars mean, places, and everything that is refused."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from spec_tools import good, load, one

from transformer_diagrams import reading
from transformer_diagrams.errors import Report
from transformer_diagrams.spec import yaml_source
from transformer_diagrams.spec.yaml_nodes import Map, Node, Scalar, Seq, kind_of, plain_data
from transformer_diagrams.spec.yaml_source import MAX_DEPTH, read


def tree(text: str, *, pure: bool = False) -> tuple[Node | None, Report]:
    report = Report()
    return read(text, "t.yaml", report, pure=pure)[0], report


def data(text: str) -> object:
    root, report = tree(text)
    assert root is not None, report.faults
    assert not report.faults, report.faults
    return plain_data(root)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("No", "No"),
        ("y", "y"),
        ("True", "True"),
        ("NULL", "NULL"),
        ("12:30", "12:30"),
        ("017", "017"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("2017-06-12", "2017-06-12"),
        (".", "."),
        ("...x", "...x"),
        ("-", "-"),
        (".inf", ".inf"),
        ("1e", "1e"),
        ("+5", "+5"),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("1.10", 1.1),
        ("1e-5", 1e-5),
        ("-2.5E+3", -2500.0),
        ("'true'", "true"),
        ('"12"', "12"),
        ("!!str 12", "12"),
        ("'~'", "~"),
    ],
)
def test_a_scalar_means_what_it_looks_like(typed: str, meant: object) -> None:
    if typed == "-":
        assert kind_of(Scalar("-", 1, 1)) == "text"
        return
    got = data(f"k: {typed}\n")
    assert got == {"k": meant}
    assert type(got["k"]) is type(meant)  # type: ignore[index]


def test_every_node_knows_its_place() -> None:
    root, _ = tree("a: 1\nb:\n  - 'x'\n  - {c: &n !!str y, d: \"z\"}\n")
    assert isinstance(root, Map)
    assert (root.line, root.column) == (1, 1)
    key, value = root.entries["b"]
    assert (key.line, key.column) == (2, 1)
    assert isinstance(value, Seq)
    assert (value.line, value.column) == (3, 3)
    first, second = value.items
    assert (first.line, first.column) == (3, 6)  # the text, not its quote
    assert isinstance(second, Map)
    assert (second.line, second.column) == (4, 5)
    tagged = second.entries["c"][1]
    assert (tagged.line, tagged.column) == (4, 18)  # past the anchor and the tag
    assert second.entries["d"][1].column == 25


@pytest.mark.parametrize(
    "text",
    [
        "k: abc def ghi\n",
        "k: 'it''s ok'\n",
        'k: "a\\u00e9\\tb\\\\c"\n',
        "k: one\n  two\n\n  three four\n",
        "k: 'one\n  two\n\n  three'\n",
        'k: "one \\\n   two\n   three"\n',
        "k: |\n  one\n  two\n",
        "k: caf\u00e9 \U0001f600 x\n",
    ],
)
def test_a_place_inside_a_scalar_points_at_that_character(text: str) -> None:
    report = Report()
    root, source = read(text, "t.yaml", report)
    assert isinstance(root, Map)
    node = root.entries["k"][1]
    assert isinstance(node, Scalar)
    for offset, char in enumerate(node.text.rstrip("\n")):
        span = source.inside(node, offset)
        there = source.line(span.line)[span.column - 1 : span.column]
        assert there == char or there in ("\\", "'", "") or char in " \n", (offset, char, there)
        if char.isalpha() and char.isascii():
            assert there == char


def test_merges_fill_in_and_own_keys_win() -> None:
    text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], z: 5}\nd: {'<<': 1}\n"
    assert data(text) == {
        "a": {"x": 1, "y": 2},
        "b": {"y": 3, "z": 4},
        "c": {"x": 1, "y": 2, "z": 5},
        "d": {"<<": 1},
    }


DOCUMENTS = [
    "a: 1\nb: {c, d: 2}\n",
    "a: &x\nb: *x\n",
    "- a\n-\n- b: [..., d]\n",
    "{a:b}",
    "{a: b:c, e: [f:g]}",
    "a:\tb",
    "\t- a: 1",
    "a:\n\tb: 1\n",
    "a: [\n\tb]\n",
    "a: 'it''s'\nb: \"x\\ty\" # c\n",
    "a: {{b}}",
    "? [a]\n: b\n",
    "? a\n: b",
    "a: |\n  xx\n  yy\nb: >-\n  z\n",
    "a: x\n  y\n   z #c\n",
    "a: !!str 5",
    "a: !foo b",
    "a: !<x",
    "a: ! 5",
    "\u00e9: \u00fc\U0001f600 x\nb: {c: d, e: f}",
    "%YAML 1.1\n---\na: b",
    "a: b: c",
    "a: *q",
    "a: %x",
    "a: @x",
    "a: `x`",
    "a: [b",
    "a: {b: c",
    'a: "x\\s"',
    "a: 'x",
    'a: "x',
    'a: "\\xi"',
    'a: "\\uzzzz"',
    "a\nb: c",
    "- a\nb: c",
    "a: b\n c: d",
    'a: "q"z',
    "a: [b]c",
    "a: 'x' y",
    "{a: 'x' y}",
    "a: b#c",
    "a:b",
    "[a, , b]",
    "{,}",
    "&a b: c",
    "*a : b",
    "a: &a [*a]",
    "a: &a {b: *a}",
    "a: |x\n",
    "a: > 2\n   x\n",
    "!!python/object/apply:os.system [x]",
    "a: -\n",
    "- - a\n  - b\n",
    "a:\n- b\n- c\n",
    "---\n---\n",
    "...\n",
    "# c\n",
    "a: b\n...\nc",
    "a: b\n--- c\n",
    "a: b\n...\n",
    "key: - a",
    "a: b\nc\n",
    "a: b\na: c\n",
    "a: &1 b\nc: *1",
    "<<: a",
    "a: ''",
    "? a\n? b\n",
    "a: 1\n\n# x\n\nb: 2 #",
    "k: |+\n\n x\n\n\nz: 1",
    "a: ,b",
    "a: ]",
    "[}]",
    "a: 'b\n c: d",
    "a: * x",
    "a: & x",
    "true: 1\n1: 2\nnull: 3\n: 4\n",
    "a: [*x, *y]",
    "[" * 70 + "]" * 70,
    "[" * 2000,
    "a: " + "{b: " * 80,
    "a: [b, #c]\n",
    "a: {b: c #d}\n",
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_both_parsers_give_the_same_tree_and_the_same_faults(text: str) -> None:
    fast, fast_report = tree(text)
    slow, slow_report = tree(text, pure=True)
    assert fast == slow
    assert fast_report.faults == slow_report.faults


def test_the_parser_in_python_is_used_where_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_c = load("blocks: [softmax, {op: linear, out: 3}]\n")
    monkeypatch.setattr(yaml_source, "_CParser", None)
    assert load("blocks: [softmax, {op: linear, out: 3}]\n") == with_c


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "words"),
    [
        ("blocks:\n\t- a\n", "tab", 2, 1, "a TAB is used for indentation on line 2"),
        ("blocks:\n  \t- a\n", "tab", 2, 3, "a TAB is used for indentation on line 2"),
        ("a:\tb\n", "tab", 1, 3, "a TAB stands between"),
        ("a: b: c\n", "yaml-syntax", 1, 5, "a second ': '"),
        ("a: %x\n", "yaml-syntax", 1, 4, "cannot begin with '%'"),
        ("a: [b\nc: d\n", "yaml-syntax", 2, 2, "missing"),
        ("a: [b\n", "yaml-syntax", 1, 4, "never closed"),
        ("a: 'b\n", "yaml-syntax", 1, 4, "never closed"),
        ('a: "b\\s"\n', "backslash", 1, 6, "\\s is not one"),
        ('a: "\\xi"\n', "backslash", 1, 5, "\\xi is not one"),
        ("a: - b\n", "yaml-syntax", 1, 4, "a list cannot begin"),
        ("a: {b: softmax #1}\nc: d\n", "yaml-syntax", 1, 16, "begins a comment"),
        ("a: b\n---\nc: d\n", "several-documents", 2, 1, "a second one starts on line 2"),
        ("", "empty-file", 1, 1, "empty"),
        (" \n\n", "empty-file", 1, 1, "empty"),
        ("# only this\n", "empty-file", 1, 1, "no spec"),
        ("a: \ufffe\n", "control-character", 1, 4, "U+FFFE"),
        ("a: b\x00\n", "control-character", 1, 5, "U+0000 (NUL)"),
        ("a: b\u2028c\n", "control-character", 1, 5, "U+2028"),
        ("a: \ud800\n", "control-character", 1, 4, "surrogate"),
        ("a: &a [*a]\n", "self-reference", 1, 8, "'*a'"),
        ("a: *b\n", "unknown-alias", 1, 4, "'*b'"),
        ("a: !b c\n", "tag", 1, 4, "!b"),
        ("<<: a\n", "merge", 1, 5, "not a mapping"),
    ],
)
def test_what_is_refused(text: str, code: str, line: int, column: int, words: str) -> None:
    _, report = tree(text)
    fault = report.faults[0]
    assert (fault.code, fault.span.line, fault.span.column) == (code, line, column)
    assert words in fault.message


def test_a_duplicate_key_names_both_lines_and_the_path() -> None:
    _, report = tree("a:\n  b: {x: 1,\n     x: 2}\n")
    (fault,) = report.faults
    assert fault.code == "duplicate-key"
    assert fault.path == "a.b.x"
    assert fault.span.line == 3
    assert "line 2" in fault.message
    assert "line 3" in fault.message
    assert [span.line for _, span in fault.notes] == [2]


def test_keys_that_are_not_text_are_refused_with_a_hint_to_quote() -> None:
    _, report = tree("1: a\ntrue: b\nnull: c\n1.5: d\non: e\nyes: f\n'2': g\n")
    assert [f.code for f in report.faults] == ["key-not-text"] * 4
    assert [f.span.line for f in report.faults] == [1, 2, 3, 4]
    assert report.faults[0].hint == "put it in quotes: '1':"


def test_an_alias_bomb_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for i in range(1, 30):
        lines.append(f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 9) + "]")
    tracemalloc.start()
    begin = time.process_time()
    _, report = tree("\n".join(lines) + "\n")
    seconds = time.process_time() - begin
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [f.code for f in report.faults] == ["alias-bomb"]
    assert "100,000" in report.faults[0].message
    assert seconds < 1
    assert peak < 20_000_000


def test_a_bomb_of_merges_is_refused_too() -> None:
    lines = ["m0: &m0 {" + ", ".join(f"k{i}: 1" for i in range(100)) + "}"]
    for i in range(1, 12):
        lines.append(f"m{i}: &m{i} {{<<: [" + ", ".join([f"*m{i - 1}"] * 9) + "]}")
    _, report = tree("\n".join(lines) + "\n")
    assert [f.code for f in report.faults] == ["alias-bomb"]


def test_depth_counts_through_aliases() -> None:
    """At the limit and one beyond it, with half of the way behind an alias and without one."""
    for inner in (0, MAX_DEPTH // 2):
        for depth in (MAX_DEPTH, MAX_DEPTH + 1):
            outer = depth - 1 - inner  # the file is a mapping
            value = "*a" if inner else "x"
            text = "a: &a " + "[" * inner + "x" + "]" * inner
            text += "\nb: " + "[" * outer + value + "]" * outer + "\n"
            _, report = tree(text)
            assert [f.code for f in report.faults] == ["too-deep"] * (depth > MAX_DEPTH)


def test_deep_nesting_does_not_recurse() -> None:
    begin = time.process_time()
    for opening in ("[", "{a: ", "- ", "? "):
        _, report = tree(opening * 100_000)
        assert len(report.faults) == 1
    assert time.process_time() - begin < 5


def test_bom_and_crlf_change_nothing() -> None:
    text = "title: caf\u00e9\nblocks:\n  - {op: box, label: |\n"
    text = "title: caf\u00e9\nblocks:\n  - op: box\n    label: |\n      a\n      b\n"
    plain = good(text)
    assert good("\ufeff" + text.replace("\n", "\r\n")) == plain
    assert good(text.replace("\n", "\r")) == plain
    assert plain.title == "caf\u00e9"


def test_several_faults_of_yaml_and_of_the_spec_come_in_one_run() -> None:
    _, found = load("titel: x\nblocks:\n  - softmax\n  - {op: box, op: box, lable: y}\n  - !a b\n")
    assert sorted(f.code for f in found) == [
        "duplicate-key",
        "tag",
        "unknown-key",
        "unknown-key",
        "unknown-op",
    ]


def test_a_file_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 10)
    assert one("blocks: [softmax]\n").code == "file-too-large"


@pytest.mark.parametrize(
    "text", ["a:\n  ? [", "a: 'b", "a: [", "a: {b: ", "a: *", "a\nb: ? ", "? - : -", "a: !"]
)
def test_a_fault_at_the_end_lies_inside_the_file(text: str) -> None:
    for body in (text, text + "\n"):
        _, report = tree(body)
        lines = body.split("\n")
        for fault in report.faults:
            assert 1 <= fault.span.line <= len(lines)
            assert 1 <= fault.span.column <= len(lines[fault.span.line - 1]) + 1
