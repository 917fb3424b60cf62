"""Sentences for what the YAML parsers refuse.

The parser in C and the one in Python word the same fault differently and place it differently
by a column or two; both are turned into one fault here, from the place and the text around it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from transformer_diagrams.errors import Fault, Span

if TYPE_CHECKING:
    from transformer_diagrams.spec.yaml_nodes import SourceText


def quoted(text: str) -> str:
    """A text as YAML reads it back unchanged: in single quotes."""
    return "'" + text.replace("'", "''") + "'"


def tab_fault(source: SourceText, line: int, column: int, path: str = "") -> Fault:
    """A TAB where YAML wants spaces."""
    before = source.line(line)[: column - 1]
    leading = not before.strip()
    return Fault(
        code="tab",
        message=f"a TAB is used for indentation on line {line}"
        if leading
        else f"a TAB stands between two parts of line {line}",
        span=Span(source.file, line, column),
        path=path,
        found="TAB",
        expected="spaces",
        hint="indent with spaces; most editors can convert the file at once"
        if leading
        else "use a space; a TAB inside a text needs quotes around the text",
    )


def _value_on(line: str, column: int) -> str:
    """The text from a column to the end of the line, without a comment."""
    return re.split(r"\s+#", line[column - 1 :], maxsplit=1)[0].strip()


def _comment_between(source: SourceText, first: int, last: int) -> tuple[int, int] | None:
    """The first ' #' after an opened bracket that is glued to its text, as in `softmax #1}`."""
    for line in range(first, last):
        match = re.search(r"\s(#)\S", source.line(line))
        if match:
            return line, match.start(1) + 1
    return None


def syntax_fault(source: SourceText, error: Any, path: str = "") -> Fault:
    """The fault for a :class:`yaml.MarkedYAMLError`, in our words."""
    problem = str(error.problem or error.context or "")
    context = str(error.context or "")
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    if line > len(source.starts):  # behind the last line, which we ended ourselves
        line = len(source.starts)
        column = len(source.line(line)) + 1
    begun = error.context_mark
    opened = Span(source.file, begun.line + 1, begun.column + 1) if begun is not None else None
    notes: tuple[tuple[str, Span], ...] = ()
    shown = source.line(line)

    def fault(
        message: str,
        hint: str = "",
        *,
        found: str | None = None,
        expected: str = "",
        code: str = "yaml-syntax",
    ) -> Fault:
        return Fault(
            code,
            message,
            Span(source.file, line, column),
            path=path,
            found=_value_on(shown, column)[:40] if found is None else found,
            expected=expected,
            hint=hint,
            notes=notes,
        )

    indent = re.match(r" *\t", shown)
    if indent:
        return tab_fault(source, line, indent.end(), path)
    char = shown[column - 1 : column]
    if "cannot start any token" in problem:
        if char == "\t":
            return tab_fault(source, line, column, path)
        return fault(
            f"text cannot begin with '{char}'",
            f"put it in single quotes: {quoted(_value_on(shown, column))}",
            found=char,
        )
    if "mapping values are not allowed" in problem:
        before = shown[: column - 1]
        first = re.search(r":\s", before)
        if first:
            text = _value_on(shown, first.end() + 1)
            return fault(
                "a second ': ' on this line",
                f"text that holds ': ' needs single quotes: {quoted(text)}",
                found=": ",
                expected="one 'key: value'",
            )
        return fault(
            "a ':' where no key can be",
            "check the indentation of this line and of the line above it",
            found=":",
        )
    if "escape" in problem or "hexdecimal" in problem:
        at = shown.rfind("\\", 0, column + 1)
        column = at + 1 if at >= 0 else column
        match = re.match(r"\\[A-Za-z]*|\\.?", shown[column - 1 :])
        word = match.group() if match else "\\"
        return fault(
            f"in double quotes a backslash begins an escape, and {word} is not one",
            "use single quotes around TeX: a backslash then stays a backslash",
            found=word,
            code="backslash",
        )
    if opened is not None and ("quoted scalar" in context) and "end of" in problem:
        line, column = opened.line, opened.column
        quote = source.line(line)[column - 1 : column]
        return fault(
            f"the quote {quote} that opens here is never closed",
            "close it; inside single quotes an apostrophe is written twice: ''"
            if quote == "'"
            else 'close it; a quote inside double quotes is written \\"',
            found=quote,
        )
    if "document indicator" in problem or "document separator" in problem:
        return fault(
            "a document marker inside a quoted text", "close the quote before it", found=""
        )
    if re.search(r"expected ',' or '[\]}]'", problem):
        close = "]" if "']'" in problem else "}"
        start = "[" if close == "]" else "{"
        end = line > len(source.starts) or not source.text[source.index(line, column) :].strip()
        if opened is not None:
            notes = ((f"the '{start}' is here", opened),)
        if end and opened is not None:
            line, column, notes = opened.line, opened.column, ()
            return fault(f"this '{start}' is never closed", f"add the '{close}'", found=start)
        comment = _comment_between(source, opened.line, line) if opened is not None else None
        if comment:
            line, column = comment
            return fault(
                f"' #' begins a comment, which hides the rest of this line and the '{close}'",
                "text that holds ' #' needs single quotes",
                found=_value_on(source.line(line)[column - 1 :], 1)[:40]
                or source.line(line)[column - 1 :][:40],
            )
        return fault(
            f"a ',' or the closing '{close}' is missing here",
            "text with brackets, braces or commas inside [ ] or { } needs single quotes",
            expected=f"',' or '{close}'",
        )
    if "expected ':'" in problem:
        if opened is not None:
            line, column = opened.line, opened.column
            shown = source.line(line)
        return fault(
            "a ':' is missing after this",
            "a mapping has one 'key: value' on each line",
            expected="key: value",
        )
    if "entries are not allowed" in problem:
        return fault(
            "a list cannot begin on the line of its key",
            "put the '- ' on the next line; text that begins with '- ' needs single quotes: "
            + quoted(_value_on(shown, column)),
        )
    if "node content" in problem:
        return fault(
            f"a value was expected, not '{char}'" if char else "a value was expected",
            f"text that begins with '{char}' needs single quotes: "
            + quoted(_value_on(shown, column))
            if char
            else "",
            found=char,
        )
    if "tag" in context or "tag" in problem:
        return fault(
            "a tag that cannot be read",
            "tags are not used in a spec; text that begins with '!' needs single quotes",
            code="tag",
        )
    if "alias" in context or "anchor" in context:
        if opened is not None:
            line, column = opened.line, opened.column
            shown = source.line(line)
        text = _value_on(shown, column)
        return fault(
            f"'{text[:1]}' must be followed by a name",
            f"text that begins with '{text[:1]}' needs single quotes: {quoted(text)}",
        )
    if "block scalar" in context:
        if opened is not None:
            column = opened.column if opened.line == line else column
        text = _value_on(shown, column)
        return fault(
            f"after '{text[:1]}' the text must begin on the next line",
            f"text that begins with '{text[:1]}' needs single quotes: {quoted(text)}",
        )
    if "directive" in context or "directive" in problem or "incompatible" in problem:
        return fault("a '%' line that cannot be read", "a spec needs none; delete it", found=shown)
    if "document start" in problem:
        return fault(
            "text after the end of the spec",
            "a spec is one mapping: 'key: value' lines that begin in the first column",
        )
    if "did not find expected" in problem or "expected <block end>" in problem:
        if opened is not None:
            notes = (("the part it should belong to begins here", opened),)
        return fault(
            "this line fits no level of indentation",
            "lines of one mapping or list begin in the same column",
        )
    return fault(f"YAML cannot be read here: {problem}", found="")
