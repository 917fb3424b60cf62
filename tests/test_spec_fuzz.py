"""Whatever the text is: no exception, places in the file, and what both YAML parsers accept is
the same to both (on a few malformed texts, such as `[a:, b]`, only one of them gives up)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from spec_tools import load

from transformer_diagrams.faults_text import faults_text

SYNTAX = {"yaml-syntax", "backslash", "tab", "tag"}

TOKENS = st.sampled_from(
    [
        "\n", "\n  ", "\n    ", "- ", ": ", ", ", "[", "]", "{", "}", "'", '"', "#", " #", "&a ",
        "*a", "!", "!!str ", "|", ">", "?", "%", "@", "\\", "\\t", "\\x", "\t", "...", "---", "<<",
        "blocks:", "op", "linear", "add", "out", "d_m", "label", "from", "id", "repeat", "group",
        "residual", "parallel", "columns", "use", "dims", "where", "configs", "inputs", "options",
        "true", "null", "1", "1e-5", "12:30", "x", "caf\u00e9", "\U0001f600", "2 d_m + 1", " ",
        "\r\n", "\ufeff", "\x00", "\u2028",
    ]
)  # fmt: skip
BLOCKS = st.recursive(
    st.sampled_from(
        ["add", "softmax", "{op: linear, out: 3}", "{op: linear}", "{use: a}", "x", "~"]
    ),
    lambda inner: st.lists(inner, max_size=3).flatmap(
        lambda items: st.sampled_from(
            [
                f"{{group: [{', '.join(items)}]}}",
                f"{{residual: [{', '.join(items)}], id: r}}",
                f"{{repeat: d, blocks: [{', '.join(items)}], from: r}}",
                f"{{parallel: [[{', '.join(items)}], []]}}",
                f"{{columns: [{{blocks: [{', '.join(items)}]}}]}}",
                f"[{', '.join(items)}]",
            ]
        )
    ),
    max_leaves=12,
)


def check(text: str) -> None:
    spec, found = load(text)
    slow_spec, slow_found = load(text, pure=True)
    if not SYNTAX & {fault.code for fault in (*found, *slow_found)}:
        assert found == slow_found
        assert spec == slow_spec
    lines = spec.text.split("\n")
    for fault in found:
        assert fault.message
        span = fault.span
        assert 1 <= span.line <= len(lines) + 1
        assert 1 <= span.column <= (len(lines[span.line - 1]) if span.line <= len(lines) else 0) + 2
    faults_text(found, {"t.yaml": spec.text}, colour=True)


@given(st.lists(TOKENS, max_size=30).map("".join))
def test_any_mixture_of_yaml_marks(text: str) -> None:
    check(text)


@given(st.lists(TOKENS, max_size=20).map("".join))
def test_any_mixture_below_blocks(text: str) -> None:
    check("blocks:\n  - op: linear\n    out: 3\n  - " + text)


# Letters by number: the table of all of Unicode's kinds, which `st.text` asks, takes long to make.
LETTERS = (st.integers(0, 0xD7FF) | st.integers(0xE000, 0x10FFFF) | st.integers(0, 0x7F)).map(chr)


@given(st.lists(LETTERS, max_size=60).map("".join))
def test_any_text(text: str) -> None:
    check(text)


@given(st.lists(BLOCKS, max_size=4))
def test_any_nesting_of_blocks(blocks: list[str]) -> None:
    check("blocks: [" + ", ".join(blocks) + "]\n")
