"""YAML with its keys, strings, numbers and comments marked; a spec's, not every YAML's."""

from __future__ import annotations

import re
from html import escape

_TOKEN = re.compile(
    r"""(?P<comment>(?:(?<=\s)|^)\#.*$)
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:''|[^'])*')
    |(?P<key>(?<![\w.-])[A-Za-z0-9_][\w.-]*(?=\s*:(?:\s|$)))
    |(?P<number>(?<![\w.-])-?\d+(?:\.\d+)?(?![\w.-]))
    |(?P<word>(?<![\w.-])(?:true|false|null)(?![\w.-]))""",
    re.VERBOSE | re.MULTILINE,
)
_BLOCK = re.compile(r"^(\s*)(?:- )?[\w.-]+:\s*[>|][-+]?\s*$")


def highlight(text: str) -> str:
    """The HTML of a spec's source; no character is added or lost."""
    out: list[str] = []
    block: int | None = None  # indent of the key whose folded text we are in
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip(" "))
        if block is not None and line.strip() and indent <= block:
            block = None
        if block is not None:
            out.append(_mark("string", line.rstrip("\n")) + line[len(line.rstrip("\n")) :])
            continue
        out.append(_line(line))
        found = _BLOCK.match(line)
        if found:
            block = len(found[1])
    return "".join(out)


def _line(line: str) -> str:
    out: list[str] = []
    at = 0
    for found in _TOKEN.finditer(line):
        out.append(escape(line[at : found.start()], quote=False))
        out.append(_mark(str(found.lastgroup), found[0]))
        at = found.end()
    return "".join(out) + escape(line[at:], quote=False)


def _mark(kind: str, text: str) -> str:
    return f'<span class="y-{kind}">{escape(text, quote=False)}</span>' if text else ""
