"""YAML text -> a tree of nodes that know their place.

The tree is built from parser events with an own stack: nothing recurses, nothing is resolved
by YAML 1.1's rules (`on` stays text, `12:30` stays text), nothing can run code, and aliases
share nodes instead of copying them. What is wrong goes into a :class:`Report`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import yaml

from transformer_diagrams import reading
from transformer_diagrams.errors import Fault, Report, Span, nearest
from transformer_diagrams.spec.yaml_errors import quoted, syntax_fault
from transformer_diagrams.spec.yaml_nodes import (
    Map,
    Node,
    Scalar,
    Seq,
    SourceText,
    character_name,
    kind_of,
)

_CParser: Any
try:
    from yaml import cyaml

    _CParser = vars(cyaml)["CParser"]
except ImportError:  # PyYAML without libyaml
    _CParser = None

MAX_DEPTH: Final = 64
MAX_EXPANDED: Final = 100_000  # values that aliases may add
_PURE_BELOW: Final = 200_000  # characters that the parser in Python reads in a second or two


# ---- checks on the raw characters ----------------------------------------------------------

# YAML's own set, less NEL, LS and PS (line ends to YAML, but not to an editor), plus the
# non-characters of the basic plane.
_BAD_CHARACTER: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)


def _character_faults(source: SourceText) -> list[Fault]:
    faults = []
    for count, match in enumerate(_BAD_CHARACTER.finditer(source.text)):
        if count == 20:
            break
        name = character_name(match.group())
        faults.append(
            Fault(
                code="control-character",
                message=f"the character {name} is not allowed in a spec",
                span=source.place(match.start()),
                found=name,
                hint="delete it; an editor that shows invisible characters helps to find it",
            )
        )
    return faults


_WORDS: Final = frozenset({"null", "true", "false"})

# ---- events -> tree ------------------------------------------------------------------------

_CORE: Final = "tag:yaml.org,2002:"
_CORE_TAGS: Final = frozenset(
    _CORE + name for name in ("str", "int", "float", "bool", "null", "map", "seq")
) | {"!"}


class _PureParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML's parser in Python, without its composer and constructor."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


def _parser(text: str, pure: bool) -> Any:
    """The fastest parser that gives the one agreed result.

    The two parsers differ on TABs only (libyaml lets some pass), so a text with TABs goes
    through the strict one, unless it is so long that this would take many seconds.
    """
    if pure or _CParser is None or ("\t" in text and len(text) < _PURE_BELOW):
        return _PureParser(text)
    return _CParser(text)


class _Stop(Exception):
    """Reading cannot go on after this fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(slots=True)
class _Frame:
    """An open collection. ``key`` is the key that waits for its value."""

    node: Map | Seq
    anchor: str | None
    before: int  # values counted before this one
    height: int = 1
    key: Scalar | None = None
    waiting: bool = False  # a key was read, its value comes next
    merged: list[tuple[Scalar, Node]] | None = None


class _Builder:
    def __init__(self, source: SourceText, report: Report) -> None:
        self.source = source
        self.report = report
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[Node, int, int]] = {}  # node, size, height
        self.open_anchors: dict[str, Map | Seq] = {}
        self.count = 0
        self.added = 0  # by aliases
        self.root: Node | None = None
        self.words: dict[str, str] = {}  # one str object per distinct text

    # -- places and paths

    def fault(self, code: str, message: str, line: int, column: int, **more: Any) -> Fault:
        return Fault(code, message, Span(self.source.file, line, column), path=self.path(), **more)

    def tell(self, code: str, message: str, at: Node, **more: Any) -> None:
        self.report.add(self.fault(code, message, at.line, at.column, **more))

    def path(self) -> str:
        path = ""
        for frame in self.stack:
            if isinstance(frame.node, Seq):
                path += f"[{len(frame.node.items)}]"
            elif frame.key is not None and frame.waiting:
                path += ("." if path else "") + frame.key.text
        return path

    # -- nodes

    def scalar(self, event: Any) -> Scalar:
        mark = event.start_mark
        style = event.style or ""
        line, column = mark.line + 1, mark.column + 1
        if event.tag is not None or event.anchor is not None:
            if event.tag is not None:
                self.check_tag(event)
                if not style and event.tag in ("!", _CORE + "str"):
                    style = "!"
            end = event.end_mark
            if event.value or style in ("'", '"'):
                line, column = self.after_properties(line, column)
            else:
                column = min(column, end.column + 1) if end.line + 1 == line else column
        if style == "'" or style == '"':
            column += 1
        return Scalar(event.value, line, column, style)

    def after_properties(self, line: int, column: int) -> tuple[int, int]:
        """Skip `&anchor` and `!tag` before a value."""
        at = self.source.index(line, column)
        match = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s|#[^\n]*\n)*)*").match(self.source.text, at)
        place = self.source.place(match.end() if match else at)
        return place.line, place.column

    def check_tag(self, event: Any) -> None:
        if event.tag in _CORE_TAGS:
            return
        mark = event.start_mark
        name = event.tag
        shown = "!!" + name[len(_CORE) :] if name.startswith(_CORE) else name
        at = Scalar("", mark.line + 1, mark.column + 1)
        self.tell(
            "tag",
            f"the tag {shown} is not allowed; tags are never acted upon and nothing was run",
            at,
            found=shown,
            expected="a plain value",
            hint="delete the tag; text that begins with '!' needs quotes: "
            + quoted(self.source.flow_text(at)),
        )

    def close(self, node: Node, anchor: str | None, size: int, height: int) -> None:
        """Put a finished node where it belongs."""
        if anchor is not None:
            self.anchors[anchor] = (node, size, height)
        if not self.stack:
            self.root = node
            return
        frame = self.stack[-1]
        if height >= frame.height:
            frame.height = height + 1
        holder = frame.node
        if isinstance(holder, Seq):
            holder.items.append(node)
        elif not frame.waiting:
            frame.waiting = True
            frame.key = self.key(node, holder)
        else:
            key, frame.key, frame.waiting = frame.key, None, False
            if key is None:
                return
            if key.text == "<<" and not key.style:
                frame.key, frame.waiting = key, True  # for the path in a message
                self.merge(frame, key, node)
                frame.key, frame.waiting = None, False
            else:
                holder.entries[key.text] = (key, node)

    def key(self, node: Node, holder: Map | Seq) -> Scalar | None:
        """The key, or None when it cannot be one (the entry is then left out)."""
        assert isinstance(holder, Map)
        kind = kind_of(node)
        if kind == "text":
            assert isinstance(node, Scalar)
            first = holder.entries.get(node.text)
            if first is None:
                return node
            path = self.path()
            self.duplicate(node, first[0], f"{path}.{node.text}" if path else node.text)
            return None
        holder.broken = True
        if isinstance(node, Scalar):
            what = {"null": "null", "bool": "a boolean", "int": "a number", "float": "a number"}
            found = node.text or "nothing"
            message = f"the key {found} is {what[kind]}; a key must be text"
            hint = f"put it in quotes: {quoted(node.text)}:"
        else:
            found = self.source.flow_text(node)
            what_is = "a mapping" if isinstance(node, Map) else "a list"
            message = f"a key must be text, but here it is {what_is}"
            hint = "text with brackets or braces needs single quotes, for example label: '{d_m}'"
        self.tell("key-not-text", message, node, found=found, expected="text", hint=hint)
        return None

    def duplicate(self, node: Scalar, first: Scalar, path: str) -> None:
        self.report.add(
            Fault(
                code="duplicate-key",
                message=f"the key '{node.text}' is given twice in one mapping, "
                f"on line {first.line} and on line {node.line}",
                span=self.source.span(node),
                path=path,
                found=f"{path} on line {node.line}",
                expected="each key once",
                hint="keep one of the two",
                notes=((f"'{node.text}' is given first here", self.source.span(first)),),
            )
        )

    def merge(self, frame: _Frame, key: Scalar, node: Node) -> None:
        maps = node.items if isinstance(node, Seq) else [node]
        for one in maps:
            if not isinstance(one, Map):
                self.tell(
                    "merge",
                    "'<<' merges mappings, but this is not a mapping",
                    one,
                    found=one.text if isinstance(one, Scalar) else "a list",
                    expected="an alias of a mapping, for example <<: *defaults",
                    hint="to use '<<' as plain text, put it in quotes",
                )
                return
        if frame.merged is not None:
            self.duplicate(key, frame.merged[0][0], self.path())
            return
        frame.merged = [(key, one) for one in maps] or [(key, Map(key.line, key.column))]

    def end_of_map(self, frame: _Frame) -> None:
        """Own entries win over merged ones, earlier merged maps over later ones."""
        if frame.merged is None:
            return
        holder = frame.node
        assert isinstance(holder, Map)
        merged: dict[str, tuple[Scalar, Node]] = {}
        for _, one in frame.merged:
            assert isinstance(one, Map)
            for name, entry in one.entries.items():
                merged.setdefault(name, entry)
        merged.update(holder.entries)
        holder.entries = merged

    def alias(self, event: Any) -> None:
        mark = event.start_mark
        line, column, name = mark.line + 1, mark.column + 1, event.anchor
        holder = self.open_anchors.get(name)
        if holder is not None:
            raise _Stop(
                self.fault(
                    "self-reference",
                    f"'*{name}' stands inside the very value that '&{name}' names",
                    line,
                    column,
                    found=f"*{name}",
                    expected="an alias of a value that is complete before it is used",
                    hint="write the inner value out",
                    notes=((f"'&{name}' begins here", self.source.span(holder)),),
                )
            )
        if name not in self.anchors:
            close = nearest(name, self.anchors)
            at = Scalar(f"*{name}", line, column, "*")
            self.tell(
                "unknown-alias",
                f"'*{name}' names no value: there is no '&{name}' before it",
                at,
                found=at.text,
                hint=f"did you mean '*{close}'?"
                if close
                else "text that begins with '*' needs single quotes: "
                + quoted(self.source.flow_text(at)),
            )
            self.close(at, None, 1, 0)
            return
        node, size, height = self.anchors[name]
        self.count += size
        self.added += size
        if self.added > MAX_EXPANDED:
            raise _Stop(
                self.fault(
                    "alias-bomb",
                    f"the aliases of this file stand for more than {MAX_EXPANDED:,} values",
                    line,
                    column,
                    found=f"*{name}, which alone stands for {size:,} values",
                    expected=f"at most {MAX_EXPANDED:,} values through aliases in a file",
                    hint="use fewer aliases of aliases",
                )
            )
        if len(self.stack) + height > MAX_DEPTH:
            raise _Stop(self.too_deep(line, column))
        self.close(node, None, size, height)

    def too_deep(self, line: int, column: int) -> Fault:
        return Fault(
            code="too-deep",
            message=f"the file nests deeper than {MAX_DEPTH} levels",
            span=Span(self.source.file, line, column),
            found=f"more than {MAX_DEPTH} mappings and lists inside one another",
            expected=f"at most {MAX_DEPTH} levels",
            hint="put an inner part into a file of its own and bring it in with 'use'",
        )

    def open(self, event: Any, node: Map | Seq) -> None:
        if event.tag is not None:
            self.check_tag(event)
        if len(self.stack) >= MAX_DEPTH:
            raise _Stop(self.too_deep(node.line, node.column))
        self.stack.append(_Frame(node, event.anchor, self.count))
        self.count += 1
        if event.anchor is not None:
            self.open_anchors[event.anchor] = node

    def run(self, parser: Any) -> None:
        events = yaml.events
        scalar, alias = events.ScalarEvent, events.AliasEvent
        map_start, seq_start = events.MappingStartEvent, events.SequenceStartEvent
        map_end, seq_end = events.MappingEndEvent, events.SequenceEndEvent
        get = parser.get_event
        stack, words = self.stack, self.words
        documents = 0
        while True:
            event = get()
            kind = type(event)
            if kind is scalar:
                self.count += 1
                if event.tag is not None or event.anchor is not None or not stack:
                    self.close(self.scalar(event), event.anchor, 1, 0)
                    continue
                # The usual case, without a call: most of a large file is plain scalars.
                mark, style, text = event.start_mark, event.style or "", event.value
                shift = 2 if style == "'" or style == '"' else 1
                frame = stack[-1]
                holder = frame.node
                if isinstance(holder, Seq):
                    holder.items.append(Scalar(text, mark.line + 1, mark.column + shift, style))
                elif frame.waiting and frame.key is not None and frame.key.text != "<<":
                    node = Scalar(text, mark.line + 1, mark.column + shift, style)
                    holder.entries[frame.key.text] = (frame.key, node)
                    frame.key, frame.waiting = None, False
                elif not frame.waiting and text[:1].isalpha() and text not in _WORDS:
                    text = words.setdefault(text, text)
                    node = Scalar(text, mark.line + 1, mark.column + shift, style)
                    frame.waiting = True
                    frame.key = self.key(node, holder) if text in holder.entries else node
                else:
                    node = Scalar(text, mark.line + 1, mark.column + shift, style)
                    self.close(node, None, 1, 0)
            elif kind is map_start or kind is seq_start:
                mark = event.start_mark
                line, column = mark.line + 1, mark.column + 1
                if event.anchor is not None or event.tag is not None:
                    line, column = self.after_properties(line, column)
                self.open(event, Map(line, column) if kind is map_start else Seq(line, column))
            elif kind is map_end or kind is seq_end:
                frame = self.stack.pop()
                if kind is map_end:
                    self.end_of_map(frame)
                if frame.anchor is not None:
                    self.open_anchors.pop(frame.anchor, None)
                self.close(frame.node, frame.anchor, self.count - frame.before, frame.height)
            elif kind is alias:
                self.alias(event)
            elif kind is events.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    mark = event.start_mark
                    raise _Stop(
                        self.fault(
                            "several-documents",
                            "one document is expected, but a second one starts on line "
                            f"{mark.line + 1}",
                            mark.line + 1,
                            mark.column + 1,
                            found="'---' between two documents",
                            expected="one document in a file",
                            hint="put the second one into a file of its own",
                        )
                    )
            elif kind is events.StreamEndEvent or event is None:
                return


def _empty(message: str, file: str) -> Fault:
    hint = "a spec begins with 'title:' and lists its 'blocks:'"
    return Fault("empty-file", message, Span(file, 1, 1), expected="a spec", hint=hint)


def read(
    text: str, file: str, report: Report, *, pure: bool = False
) -> tuple[Node | None, SourceText]:
    """The tree of a YAML text (None if it has none), and the source for places.

    All that is wrong with the YAML goes into ``report``. ``pure`` uses the parser in Python even
    where the one in C is available; the results are the same.
    """
    before = len(report.faults)
    if len(text) > reading.MAX_BYTES:
        report.add(reading.too_large(file))
        return None, SourceText("", file)
    source = SourceText(text, file)
    bad = _character_faults(source)
    if bad:
        report.faults.extend(bad)
        return None, source
    if not source.text.strip():
        report.add(_empty("the file is empty", file))
        return None, source
    body = source.text if source.text.endswith("\n") else source.text + "\n"
    builder = _Builder(source, report)
    try:
        try:
            builder.run(_parser(body, pure))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            if mark is None or "nesting depth" not in str(error.problem):
                raise
            # libyaml looks far ahead and gives up before we see the levels: count them again.
            begin = source.index(mark.line + 1, mark.column + 1)
            if begin > _PURE_BELOW:
                raise _Stop(builder.too_deep(mark.line + 1, mark.column + 1)) from error
            report.faults[before:] = []
            builder = _Builder(source, report)
            builder.run(_PureParser(body[: begin + 1]))
    except _Stop as stop:
        report.add(stop.fault)
        return None, source
    except yaml.MarkedYAMLError as error:
        report.add(syntax_fault(source, error, builder.path()))
        return None, source
    except yaml.YAMLError as error:  # the reader's: no place inside
        report.add(Fault("yaml-syntax", f"YAML cannot be read: {error}", Span(file)))
        return None, source
    root = builder.root
    if root is None or (kind_of(root) == "null" and len(report.faults) == before):
        report.add(_empty("the file holds no spec, only comments or nothing", file))
        return None, source
    return root, source
