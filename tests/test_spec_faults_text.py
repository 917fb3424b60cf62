"""How faults look in print."""

from __future__ import annotations

from spec_tools import faults

from transformer_diagrams.errors import Fault, Span
from transformer_diagrams.faults_text import fault_text, faults_text


def test_a_fault_in_full() -> None:
    text = "blocks:\n  - {op: split_heads, heads: 8, hedas: 8}\n"
    assert faults_text(faults(text), {"t.yaml": text}) == (
        "t.yaml:2:33: blocks[0].hedas: the op 'split_heads' has no key 'hedas'\n"
        "  2 |   - {op: split_heads, heads: 8, hedas: 8}\n"
        "    |                                 ^\n"
        "  expected: the op 'split_heads' takes heads, order; and the keys that every block takes\n"
        "  hint: did you mean 'heads'?\n"
    )


def test_notes_show_their_lines() -> None:
    text = "dims:\n  d: a\n  d: b\nblocks: [softmax]\n"
    shown = faults_text(faults(text), {"t.yaml": text})
    assert "t.yaml:3:3: dims.d: the key 'd' is given twice in one mapping" in shown
    assert "  note: 'd' is given first here (line 2)\n  2 |   d: a\n    |   ^\n" in shown


def test_colour_is_only_paint() -> None:
    text = "blocks: [softmaks]\n"
    found = faults(text)
    plain = faults_text(found, {"t.yaml": text})
    painted = faults_text(found, {"t.yaml": text}, colour=True)
    assert "\x1b" not in plain
    bare = painted.replace("\x1b[0m", "")
    for style in ("\x1b[1m", "\x1b[31;1m", "\x1b[33;1m", "\x1b[32m", "\x1b[2m"):
        bare = bare.replace(style, "")
    assert bare.replace(" error:", "", 1) == plain


def test_a_terminal_is_never_commanded() -> None:
    fault = Fault("x", "bad \x1b[31m", Span("t.yaml", 1, 3), path="a\x07", found="\x1b]0;x")
    for colour in (False, True):
        shown = fault_text(fault, None, colour=colour)
        assert "\x07" not in shown
        assert "\x1b]" not in shown
    assert "\x1b" not in fault_text(fault, None)


def test_the_caret_stands_under_its_character_also_after_wide_ones() -> None:
    text = "blocks: [{op: box, label: \u6ce8\u610f, lable: x}]\n"
    lines = faults_text(faults(text), {"t.yaml": text}).splitlines()
    before = lines[1].index("lable")
    assert lines[2].index("^") == before + 2  # two wide characters take two columns more


def test_a_long_line_is_shown_around_the_place() -> None:
    text = "blocks: [{op: box, label: '" + "x" * 500 + "', lable: y, note: '" + "z" * 500 + "'}]\n"
    lines = faults_text(faults(text), {"t.yaml": text}).splitlines()
    assert max(map(len, lines[1:3])) < 120
    assert lines[1][lines[2].index("^") :].startswith("lable")


def test_order_repeats_and_limit() -> None:
    one = Fault("a", "first", Span("t", 1, 1))
    two = Fault("a", "second", Span("t", 2, 1))
    three = Fault("a", "third", Span("t", 3, 1))
    shown = faults_text([three, one, two, one], {"t": ""}, most=2)
    assert shown == "t:1:1: first\n  1 |\n    | ^\n\nt:2:1: second\n\n... and 1 more\n"
    assert faults_text([]) == ""


def test_a_fault_without_a_place_and_a_warning() -> None:
    assert fault_text(Fault("a", "no such thing", hint="try b")) == "no such thing\n  hint: try b"
    assert fault_text(Fault("a", "odd", Span("f", 0, 0), severity="warning")) == "f: warning: odd"


def test_lines_are_read_from_the_disk_when_no_text_is_given(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: b\r\nc: d\r\n")
    assert "  2 | c: d" in fault_text(Fault("a", "m", Span(str(path), 2, 1)))
