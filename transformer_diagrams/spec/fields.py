"""Readers for single values: text, names, expressions, shapes; each says what is wrong in place.

A reader returns None after it has reported a fault, so that reading goes on and one run
reports everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from yaml.scanner import Scanner

from transformer_diagrams.choices import ACCENTS, MOST_FOLDS
from transformer_diagrams.dims import (
    DimError,
    names_in,
    parse,
    parse_condition,
    whole_from,
    whole_in,
)
from transformer_diagrams.errors import Fault, Report, Span, nearest
from transformer_diagrams.spec.grammar import (
    DIM_NAME_PATTERN,
    ID_PATTERN,
    LEAD_PATTERN,
    LONGEST_LABEL,
    LONGEST_TEXT,
    MOST_STEPS,
    RATIO_PATTERN,
    REF_PATTERN,
    TURN,
    Key,
)
from transformer_diagrams.spec.model import OptionSpec, Text, Value
from transformer_diagrams.spec.switch import SwitchError, Use, parse_switch
from transformer_diagrams.spec.yaml_errors import quoted
from transformer_diagrams.spec.yaml_nodes import (
    Map,
    Node,
    Scalar,
    Seq,
    SourceText,
    character_name,
    kind_of,
)

T = TypeVar("T")
Limits = tuple[int | None, int | None]
SIZE: Final[Limits] = (1, None)
LABEL: Final = Key("label", "label", "")
_ID: Final = re.compile(ID_PATTERN + r"\Z")
_RATIO: Final = re.compile(RATIO_PATTERN + r"\Z", re.ASCII)
_REF: Final = re.compile(REF_PATTERN + r"\Z")
_DIM_NAME: Final = re.compile(DIM_NAME_PATTERN + r"\Z")
_LEAD: Final = re.compile(LEAD_PATTERN + r"\Z")
_INVISIBLE: Final = re.compile("[\x00-\x1f\x7f-\xa0\u2028\u2029\ufdd0-\ufdef\ufeff\ufffe\uffff]")
_COMMENT: Final = re.compile(r"([^\S\n]+)#([^\n]?)")
_ESCAPE: Final = re.compile(r"\\([\s\S])([A-Za-z]*)")
_EATEN: Final = {
    letter: char for letter, char in Scanner.ESCAPE_REPLACEMENTS.items() if _INVISIBLE.match(char)
}
# TeX commands that begin with n: "\n" followed by the rest of one of them was meant as TeX.
_TEX_N: Final = frozenset(
    {
        "nabla",
        "natural",
        "ncong",
        "ne",
        "nearrow",
        "neg",
        "neq",
        "newline",
        "nexists",
        "ni",
        "nleq",
        "nless",
        "nmid",
        "nolimits",
        "normalsize",
        "not",
        "notin",
        "nparallel",
        "nprec",
        "nsim",
        "nsubseteq",
        "nu",
        "nwarrow",
    }
)
_TRUE_WORDS: Final = frozenset({"true", "yes", "on", "y", "1"})
_FALSE_WORDS: Final = frozenset({"false", "no", "off", "n", "0"})


def describe(node: Node) -> str:
    """What a node is, for "found"."""
    kind = kind_of(node)
    if isinstance(node, Map):
        keys = list(node.entries)[:3]
        return "a mapping" + (f" with the keys {', '.join(keys)}" if keys else "")
    if isinstance(node, Seq):
        count = len(node.items)
        return "an empty list" if not count else f"a list of {count}"
    text = node.text if len(node.text) <= 60 else node.text[:57] + "..."
    return {
        "null": "nothing",
        "bool": f"the boolean {text}",
        "int": f"the number {text}",
        "float": f"the number {text}",
    }.get(kind, f"the text '{text}'")


def _unquoted(node: Node) -> str:
    """A hint for a number in quotes."""
    if not isinstance(node, Scalar) or kind_of(Scalar(node.text, 1, 1)) not in ("int", "float"):
        return ""
    return f"without the quotes: {node.text}" if node.style else ""


def an(noun: str) -> str:
    """``an op``, ``a repeat``."""
    return ("an " if noun[:1] in "aeio" else "a ") + noun


def ratio(text: str) -> float | None:
    """Width over height: ``ratio("16:9") == 16 / 9``; None for no ratio from 1:100 to 100:1."""
    match = _RATIO.match(text.strip())
    if match is None or not float(match[2] or 1):
        return None
    value = float(match[1]) / float(match[2] or 1)
    return value if 0.01 <= value <= 100 else None


class Fields:
    """Reads values of one file. ``dims`` and ``options`` are what the file declares."""

    def __init__(self, source: SourceText, report: Report) -> None:
        self.source = source
        self.report = report
        self.file = source.file
        self.dims: Mapping[str, object] = {}
        self.options: Mapping[str, OptionSpec] = {}
        self._good: set[str] = set()  # expressions already found right
        self._hash = "#" in source.text
        self._nearest: dict[tuple[str, str], str | None] = {}
        # By the kind of a key: what needs to know the key, and what does not. Readers of larger
        # parts add theirs.
        self.keyed: dict[str, Callable[[Node, str, Key], Any]] = {
            "label": self.text,
            "text": self.text,
            "name": self.word,
            "spec-ref": self.word,
            "choice": lambda node, path, key: self.choice(node, path, key.choices),
        }
        self.plain: dict[str, Callable[[Node, str], Any]] = {
            "bool": self.boolean,
            "int": self.integer,
            "float": self.number,
            "id": self.identifier,
            "size": self.expression,
            "dim": self.expression,
            "shape": self.shape,
            "shapes": self.shapes,
            "switch": self.switch,
            "conditions": self.conditions,
            "turns": self.turns,
            "year": self.year,
            "folds": self.folds,
            "step": self.step,
            "accent": self.accent,
            "ratio": self.aspect,
            "texts": self.texts,
            "spec-refs": self.spec_refs,
            "open": self.open,
        }

    # -- faults

    def span(self, node: Node) -> Span:
        return Span(self.file, node.line, node.column)

    def fault(self, code: str, message: str, at: Node | Span, path: str, **more: Any) -> None:
        span = at if isinstance(at, Span) else self.span(at)
        self.report.add(Fault(code, message, span, path=path, **more))

    def near(self, name: str, known: Iterable[str], what: str) -> str | None:
        """The nearest of the known names. ``what`` names the set, for remembering the answer."""
        key = (what, name)
        if key not in self._nearest:
            self._nearest[key] = nearest(name, known)
        return self._nearest[key]

    def did_you_mean(self, name: str, known: Iterable[str], what: str) -> str:
        close = self.near(name, known, what)
        return f"did you mean '{close}'?" if close else ""

    def wrong(self, node: Node, path: str, expected: str, hint: str = "") -> None:
        """The value is of the wrong kind."""
        if isinstance(node, Map) and node.broken and not node.entries:
            return  # its key has been refused already
        name = path.rsplit(".", 1)[-1]
        code, found = "wrong-type", describe(node)
        message = f"'{name}' must be {expected}, not {found}"
        if kind_of(node) == "null":
            code = "no-value"
            message = f"'{name}' has no value"
            if name[-1:] == "]":
                message = "this entry of the list is empty"
            hint = self._null_hint(node) or hint or "give it a value or delete the key"
        self.fault(code, message, node, path, found=found, expected=expected, hint=hint)

    def unknown(
        self,
        code: str,
        message: str,
        at: Node,
        path: str,
        name: str,
        known: Iterable[str],
        what: str,
        *,
        expected: str = "",
        hint: str = "",
    ) -> None:
        """A name is none of the known ones, whose nearest is told; else the ``hint``."""
        name = name[:60]
        expected = expected or f"one of {', '.join(known)}"
        hint = self.did_you_mean(name, known, what) or hint
        self.fault(code, message, at, path, found=name, expected=expected, hint=hint)

    def _null_hint(self, node: Node) -> str:
        typed = self.source.flow_text(node)
        if typed.startswith("&"):
            typed = re.split(r"\s", typed, maxsplit=1)[0]
            return (
                f"YAML reads {typed} as an anchor without a value; "
                f"put it in single quotes: {quoted(typed)}"
            )
        if typed.startswith("#"):
            return (
                "YAML takes what follows '#' as a comment; "
                f"put it in single quotes: {quoted(typed)}"
            )
        if isinstance(node, Scalar) and node.text:
            return f"{node.text} means 'nothing' to YAML; put it in quotes: {quoted(node.text)}"
        return ""

    # -- mappings

    def read(self, key: Key, node: Node, path: str) -> Any:
        """The value of a key, by its kind; None after a fault."""
        plain = self.plain.get(key.kind)
        return plain(node, path) if plain else self.keyed[key.kind](node, path, key)

    def keys(
        self, node: Node, path: str, known: Mapping[str, Key], what: str
    ) -> Iterator[tuple[Key, Node, str]]:
        """The known entries of a mapping; a fault for each unknown key."""
        if not isinstance(node, Map):
            self.wrong(node, path, f"a mapping with the keys {', '.join(known)}")
            return
        for word, (key_node, value) in node.entries.items():
            key = known.get(word)
            if key is not None:
                yield key, value, f"{path}.{word}"
                continue
            short = word[:60]
            message = f"{what} has no key '{short}'"
            self.unknown("unknown-key", message, key_node, f"{path}.{short}", word, known, what)

    def mapping(
        self, node: Node, path: str, known: Mapping[str, Key], what: str
    ) -> dict[str, Any]:
        """The values of the known keys of a mapping, but for those with a fault."""
        found = self.keys(node, path, known, what)
        values = {key.name: self.read(key, value, at) for key, value, at in found}
        return {name: value for name, value in values.items() if value is not None}

    def named(self, node: Node, path: str, what: str) -> list[tuple[str, Scalar, Node, str]]:
        """The entries of a mapping whose keys are the author's names."""
        if not isinstance(node, Map):
            self.wrong(node, path, f"a mapping of {what}")
            return []
        return [(n, k, v, f"{path}.{n}") for n, (k, v) in node.entries.items()]

    # -- text

    def text(self, node: Node, path: str, key: Key) -> Text | None:
        """A text for people. Numbers stay what was typed."""
        if type(node) is not Scalar:
            typed = self.source.flow_text(node)
            if typed[:1] in "{[":
                what = "a mapping" if isinstance(node, Map) else "a list"
                hint = f"YAML reads {typed[0]} as the start of {what}; put the text in single "
                hint += f"quotes: {quoted(typed)}"
            else:
                hint = "text that holds ': ' or begins with '- ' needs single quotes"
            self.wrong(node, path, "text", hint)
            return None
        kind = kind_of(node)
        if kind == "null":
            self.wrong(node, path, "text", "for an empty text write ''")
            return None
        if kind == "bool":
            self.wrong(node, path, "text", f"put it in quotes: {quoted(node.text)}")
            return None
        value = node.text
        if node.style in ("|", ">"):
            value = value.rstrip("\n")
        if node.style == "*":
            return None  # an unknown alias, reported
        longest = key.most or (LONGEST_LABEL if key.kind == "label" else LONGEST_TEXT)
        if len(value) > longest:
            self.fault(
                "text-too-long",
                f"'{key.name}' is longer than {longest:,} characters",
                node,
                path,
                found=f"{len(value):,} characters",
                expected=f"at most {longest:,} characters",
                hint="shorten it; a caption may be longer than a label",
            )
            return None
        if _INVISIBLE.search(value) and not self._visible(node, path):
            return None
        if self._hash and not node.style:
            self._cut_at_hash(node, path)
        return Text(value, Span(self.file, node.line, node.column))

    def _visible(self, node: Scalar, path: str) -> bool:
        """False, with a fault, when a text holds a control character or a lost backslash."""
        if node.style == '"':
            for match in _ESCAPE.finditer(self.source.raw(node)):
                char, letters = match.groups()
                lost = _EATEN.get(char)
                word = char + letters
                if lost is None or (char == "n" and word not in _TEX_N):
                    continue
                at = self.source.index(node.line, node.column) + match.start()
                shown = character_name(lost)
                self.fault(
                    "backslash",
                    f"the backslash of \\{word} was eaten: in double quotes \\{char} is {shown}",
                    self.source.place(at),
                    path,
                    found=shown,
                    expected=f"\\{word}",
                    hint=f"use single quotes: {self._single(node)}",
                )
                return False
        for offset, char in enumerate(node.text):
            if char in "\n\xa0" or not _INVISIBLE.match(char):
                continue
            shown = character_name(char)
            self.fault(
                "control-character",
                f"the text holds the character {shown}",
                self.source.inside(node, offset),
                path,
                found=shown,
                hint="use a space" if char == "\t" else "delete it",
            )
            return False
        return True

    def _single(self, node: Scalar) -> str:
        raw = self.source.raw(node).replace('\\"', '"').replace("\\\\", "\\")
        return quoted(raw if len(raw) <= 80 else raw[:77] + "...")

    def _cut_at_hash(self, node: Scalar, path: str) -> None:
        """Warn when ' #' ended a text: either the rest was meant, or it is a comment.

        Two spaces before "# " are the usual form of a comment and pass in silence.
        """
        source = self.source
        begin = source.index(node.line, node.column)
        after = begin + len(node.text)
        match = _COMMENT.match(source.text, after)
        if not match or not source.text.startswith(node.text, begin):
            return
        if len(match.group(1)) > 1 and match.group(2) in ("", " "):
            return
        rest = source.line(node.line)[node.column - 1 + len(node.text) :]
        whole = re.split(r"\s{2,}#|\s+$", node.text + rest, maxsplit=1)[0]
        if whole == node.text:
            whole = (node.text + rest).strip()
        self.report.add(
            Fault(
                "cut-at-hash",
                "the text ends before ' #': YAML takes the rest of the line as a comment",
                Span(self.file, node.line, node.column + len(node.text) + len(match.group(1))),
                path=path,
                found=node.text,
                hint=f"if it belongs to the text, use single quotes: {quoted(whole)}; "
                "if it is a comment, put two spaces before '# '",
                severity="warning",
            )
        )

    def word(self, node: Node, path: str, key: Key) -> str | None:
        """As :meth:`name`, as a plain str."""
        text = self.name(node, path, key)
        return text.value if text else None

    def name(self, node: Node, path: str, key: Key) -> Text | None:
        """A short text that is not empty."""
        text = self.text(node, path, key)
        if text is not None and not text.value.strip():
            self.wrong(node, path, "a name")
            return None
        return text

    def identifier(self, node: Node, path: str) -> str | None:
        """An id: letters, digits, `_` and `-`, not beginning with a digit."""
        if type(node) is not Scalar or kind_of(node) == "null":
            self.wrong(node, path, "an id")
            return None
        if _ID.match(node.text) and kind_of(node) == "text":
            return node.text
        suggestion = re.sub(r"[^A-Za-z0-9_-]+", "-", node.text).strip("-")
        hint = f"for example {suggestion}" if _ID.match(suggestion) else ""
        if kind_of(node) == "bool":
            hint = f"put it in quotes: {quoted(node.text)}"
        self.fault(
            "bad-id",
            f"'{node.text[:60]}' cannot be an id",
            node,
            path,
            found=describe(node),
            expected="a letter or _, then letters, digits, _ and -",
            hint=hint,
        )
        return None

    def reference(self, node: Node, path: str) -> Text | None:
        """`id` or `id.port`; whether it exists is checked when all ids are known."""
        expected = "the id of a block, block.port, or the name of an input"
        if type(node) is not Scalar or kind_of(node) == "null":
            self.wrong(node, path, expected)
            return None
        if _REF.match(node.text) and kind_of(node) == "text":
            return Text(node.text, self.span(node))
        self.fault(
            "bad-reference",
            f"'{node.text[:60]}' cannot be a reference",
            node,
            path,
            found=describe(node),
            expected=expected,
            hint="several references make a list: [a, b]" if "," in node.text else "",
        )
        return None

    def boolean(self, node: Node, path: str) -> bool | None:
        """`true` or `false`, nothing else."""
        if kind_of(node) == "bool":
            assert isinstance(node, Scalar)
            return node.text == "true"
        hint = ""
        if isinstance(node, Scalar):
            word = node.text.lower()
            if word in _TRUE_WORDS or word in _FALSE_WORDS:
                meant = "true" if word in _TRUE_WORDS else "false"
                hint = f"only true and false are booleans: write {meant}"
                if node.style and word == meant:
                    hint = f"without the quotes: {meant}"
        self.wrong(node, path, "true or false", hint)
        return None

    def choice(self, node: Node, path: str, choices: tuple[str, ...]) -> str | None:
        """One of a few words."""
        if type(node) is not Scalar or kind_of(node) == "null":
            self.wrong(node, path, f"one of {', '.join(choices)}")
            return None
        if node.text in choices and kind_of(node) == "text":
            return node.text
        message = f"'{path.rsplit('.', 1)[-1]}' cannot be '{node.text[:60]}'"
        self.unknown("bad-choice", message, node, path, node.text, choices, path)
        return None

    def integer(self, node: Node, path: str) -> int | None:
        if kind_of(node) == "int" and isinstance(node, Scalar) and len(node.text) <= 18:
            return int(node.text)
        self.wrong(node, path, "a whole number", _unquoted(node))
        return None

    def number(self, node: Node, path: str) -> float | None:
        if kind_of(node) in ("int", "float") and isinstance(node, Scalar) and len(node.text) < 60:
            value = float(node.text)
            if abs(value) < float("inf"):
                return value
        self.wrong(node, path, "a number", _unquoted(node))
        return None

    def year(self, node: Node, path: str) -> int | None:
        year = self.integer(node, path)
        if year is None or 1800 <= year <= 2200:
            return year
        self.wrong(node, path, "a year")
        return None

    def folds(self, node: Node, path: str) -> int | None:
        """How often a figure is folded."""
        count = self.integer(node, path)
        if count is None or 0 <= count <= MOST_FOLDS:
            return count
        self.wrong(node, path, f"a number from 0 to {MOST_FOLDS}")
        return None

    def accent(self, node: Node, path: str) -> int | None:
        """Which accent highlights a block."""
        number = self.integer(node, path)
        if number is None or 1 <= number <= ACCENTS:
            return number
        self.wrong(node, path, f"a number from 1 to {ACCENTS}")
        return None

    def step(self, node: Node, path: str) -> int | None:
        """At which step a block is shown."""
        number = self.integer(node, path)
        if number is None or 1 <= number <= MOST_STEPS:
            return number
        self.wrong(node, path, f"a number from 1 to {MOST_STEPS}")
        return None

    def aspect(self, node: Node, path: str) -> float | None:
        """A ratio of lengths, `16:9`, or a number."""
        found = ratio(node.text) if type(node) is Scalar else None
        if found is None:
            self.wrong(node, path, "a ratio from 1:100 to 100:1, such as 16:9")
        return found

    def open(self, node: Node, path: str) -> bool | str | None:
        """`true`, `false` or `callout`."""
        if kind_of(node) == "bool":
            return self.boolean(node, path)
        return self.choice(node, path, ("true", "false", "callout"))

    # -- expressions

    def expression(
        self, node: Node, path: str, limits: Limits = SIZE, *, names: bool = True
    ) -> Text | None:
        """A size: a whole number or an expression of the `dims` grammar.

        ``limits`` are ``least`` and ``beside`` as in the record of an op's attribute. Whether its
        names are declared is asked only where they are ``names`` of this file.
        """
        if type(node) is not Scalar or kind_of(node) in ("null", "bool"):
            hint = ""
            if isinstance(node, Scalar) and node.text in ("true", "false"):
                hint = "a size is a number, a name or an expression such as d_m / n_h"
            self.wrong(node, path, "a size", hint)
            return None
        if node.text in self._good or self._right(node, path, limits, names):
            return Text(node.text, Span(self.file, node.line, node.column))
        return None

    def constant(self, node: Node, path: str) -> Text | None:
        """A size in numbers: 4096, or an expression without names such as 4 * 1024."""
        text = self.expression(node, path, names=False)
        if text is None:
            return None
        if names_in(text.value):
            self.wrong(node, path, "a positive whole number")
            return None
        return text

    def _right(self, node: Scalar, path: str, limits: Limits, names: bool) -> bool:
        if node.style == "*":
            return False
        if len(node.text) > LONGEST_LABEL:
            self.fault(
                "text-too-long",
                "the expression is too long",
                node,
                path,
                found=f"{len(node.text):,} characters",
                expected=f"at most {LONGEST_LABEL:,} characters",
            )
            return False
        try:
            dim = parse(node.text)
        except DimError as error:
            self._dim_fault(error, node, path)
            return False
        written = names_in(node.text)
        if names and not self.declared(written, node, path):
            return False
        if dim.is_const and not whole_in(dim.as_int(), *limits):
            self.fault(
                "not-positive",
                f"a size must be {whole_from(*limits)}, not {node.text}",
                node,
                path,
                found=node.text,
                expected=whole_from(*limits),
            )
            return True  # told; what else is wrong with the spec can be told beside it
        if names and (limits == SIZE or not dim.is_const):
            self._good.add(node.text)
        return True

    def _dim_fault(
        self,
        error: DimError,
        node: Scalar,
        path: str,
        expected: str = "an expression such as 2 d_m or d_m / n_h",
    ) -> None:
        self.fault(
            "expression",
            error.message,
            self.source.inside(node, (error.column or 1) - 1),
            path,
            found=node.text,
            expected=expected,
            hint=error.hint,
        )

    def declared(self, free: Iterable[str], node: Scalar, path: str) -> bool:
        """Whether all names are declared sizes; a fault for each that is not."""
        right = True
        for name in sorted(free):
            if name in self.dims:
                continue
            right = False
            match = re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_'])", node.text)
            hint = self.did_you_mean(name, self.dims, "dim")
            option = name in self.options
            self.fault(
                "unknown-dim",
                f"'{name}' is an option, not a size"
                if option
                else f"'{name}' is not declared under 'dims'",
                self.source.inside(node, match.start() if match else 0),
                path,
                found=name,
                expected="a declared size" + self._listed(self.dims),
                hint=hint
                if option
                else (hint + " Otherwise add" if hint else "add") + f" it to 'dims': {name}: ...",
            )
        return right

    @staticmethod
    def _listed(known: Iterable[str]) -> str:
        names = list(known)
        return f": {', '.join(names)}" if 0 < len(names) <= 12 else ""

    def condition(self, node: Node, path: str, also: tuple[str, ...] = ()) -> Text | None:
        """A relation between sizes, as in `where:`; ``also`` names what is declared beside them."""
        if not isinstance(node, Scalar) or kind_of(node) != "text":
            self.wrong(node, path, "a relation such as n_g | n_h or d_K == d_V")
            return None
        try:
            parse_condition(node.text)
        except DimError as error:
            expected = "a relation such as n_g | n_h, d_K == d_V or d_R % 2 == 0"
            self._dim_fault(error, node, path, expected)
            return None
        if not self.declared((n for n in names_in(node.text) if n not in also), node, path):
            return None
        return Text(node.text, self.span(node))

    def turns(self, node: Node, path: str) -> tuple[Text, ...]:
        """What must hold of a turn's number: one relation, or several that hold together."""
        items: list[tuple[Node, str]] = [(node, path)]
        if isinstance(node, Seq):
            items = list(self.items(node, path, "relations"))
            if not items:
                self.wrong(node, path, f"a relation such as {TURN} % 8 == 4")
        if TURN in self.dims:
            self.fault(
                "reserved-name",
                f"'{TURN}' is the number of the turn here, but also a declared size",
                node,
                path,
                found=TURN,
                expected=f"another name for the size '{TURN}'",
            )
        made = []
        for item, at in items:
            text = self.condition(item, at, (TURN,))
            if text is not None and TURN not in names_in(text.value):
                self.fault(
                    "no-turn",
                    f"this says nothing of the turn's number, which is called '{TURN}'",
                    item,
                    at,
                    found=text.value,
                    expected=f"a relation such as {TURN} % 8 == 4 or {TURN} <= 3",
                )
            elif text is not None:
                made.append(text)
        return tuple(made)

    def switch(self, node: Node, path: str) -> Text | None:
        """A condition on options, as in `if:`."""
        if not isinstance(node, Scalar) or kind_of(node) != "text":
            self.wrong(node, path, "a condition on options such as tied or not tied")
            return None
        try:
            switch = parse_switch(node.text)
        except SwitchError as error:
            self.fault(
                "expression",
                error.message,
                self.source.inside(node, error.column - 1),
                path,
                found=node.text,
                expected="a condition such as not tied or kind == gelu",
                hint=error.hint,
            )
            return None
        for use in switch.uses:
            if not self._use(use, node, path):
                return None
        return Text(node.text, self.span(node))

    def _use(self, use: Use, node: Scalar, path: str) -> bool:
        """Whether a condition may say this of an option; a fault if it may not."""
        option = self.options.get(use.name)
        code, column, found, hint = "bad-choice", use.column, use.name, ""
        if option is None:
            code = "unknown-option"
            message = f"'{use.name}' is not declared under 'options'"
            expected = "a declared option" + self._listed(self.options)
            hint = self.did_you_mean(use.name, self.options, "option")
            hint = hint or f"add it to 'options': {use.name}: {{doc: ..., default: false}}"
        elif use.value is None:
            if not option.choices:
                return True
            message = f"the option '{use.name}' is not true or false"
            expected = f"a comparison, for example {use.name} == {option.choices[0]}"
        else:
            choices = option.choices or ("true", "false")
            if use.value in choices:
                return True
            column, found = use.value_column, use.value
            message = f"the option '{use.name}' is never '{use.value}'"
            expected = f"one of {', '.join(choices)}"
            hint = self.did_you_mean(use.value, choices, f"option {use.name}")
        at = self.source.inside(node, column - 1)
        self.fault(code, message, at, path, found=found, expected=expected, hint=hint)
        return False

    # -- shapes and lists

    def items(
        self, node: Node, path: str, expected: str, hint: str = ""
    ) -> Iterator[tuple[Node, str]]:
        """The items of a list with their paths; a fault if it is none."""
        if not isinstance(node, Seq):
            self.wrong(node, path, expected, hint)
            return
        for index, item in enumerate(node.items):
            yield item, f"{path}[{index}]"

    def each(
        self,
        node: Node,
        path: str,
        expected: str,
        read: Callable[[Node, str], T | None],
        hint: str = "",
    ) -> tuple[T, ...]:
        """What can be read of the items of a list."""
        made = (read(item, at) for item, at in self.items(node, path, expected, hint))
        return tuple(one for one in made if one is not None)

    def texts(self, node: Node, path: str) -> tuple[str, ...]:
        found = self.each(node, path, "a list of words", lambda n, p: self.text(n, p, LABEL))
        return tuple(str(text) for text in found)

    def spec_refs(self, node: Node, path: str) -> tuple[Text, ...]:
        return self.each(node, path, "a list of ids", lambda n, p: self.name(n, p, LABEL))

    def conditions(self, node: Node, path: str) -> tuple[Text, ...]:
        """Relations between sizes, as in `where:`."""
        hint = f"a list of one relation: [{node.text}]" if isinstance(node, Scalar) else ""
        return self.each(node, path, "a list of relations", self.condition, hint)

    def value(self, text: Text, node: Node) -> Value:
        """A size as a config or `with:` holds it: a whole number, or the expression."""
        whole = kind_of(node) == "int" and len(text.value) <= 18
        return Value(int(text.value) if whole else text.value, text.span)

    def shapes(self, node: Node, path: str) -> Any:
        """One shape, or port -> shape."""
        if not isinstance(node, Map):
            return self.shape(node, path)
        read = {n: self.shape(v, f"{path}.{n}") for n, (_, v) in node.entries.items()}
        return {port: shape for port, shape in read.items() if shape is not None}

    def shape(
        self, node: Node, path: str, limits: Limits = SIZE
    ) -> tuple[Text, ...] | None:
        """`[..., d_t, d_m]`: sizes, at most one leading `...` or `...NAME`."""
        if not isinstance(node, Seq):
            hint = ""
            if isinstance(node, Scalar) and kind_of(node) != "null":
                hint = f"a shape is a list: [{node.text}]"
            self.wrong(node, path, "a shape such as [d_t, d_m]", hint)
            return None
        axes: list[Text] = []
        right = True
        for index, item in enumerate(node.items):
            at = f"{path}[{index}]"
            if isinstance(item, Scalar) and item.text.startswith("..."):
                axis = self._lead(item, at, index)
            else:
                axis = self.expression(item, at, limits)
            if axis is None:
                right = False
            else:
                axes.append(axis)
        return tuple(axes) if right else None

    def _lead(self, item: Scalar, path: str, index: int) -> Text | None:
        if not _LEAD.match(item.text):
            self.fault(
                "bad-shape",
                f"'{item.text}' is not a name for leading axes",
                item,
                path,
                found=item.text,
                expected="... or ... followed by a name, for example ...B",
            )
            return None
        if index:
            self.fault(
                "bad-shape",
                "'...' stands for leading axes and must come first",
                item,
                path,
                found=f"'{item.text}' as axis {index + 1}",
                expected="'...' as the first axis",
            )
            return None
        return Text(item.text, self.span(item))

    def dim_name(self, key: Scalar, path: str) -> bool:
        """Whether a key can name a size."""
        right = bool(_DIM_NAME.match(key.text))
        if right:
            try:
                right = parse(key.text).free == frozenset({key.text})
            except DimError:
                right = False
        if not right:
            self.fault(
                "bad-id",
                f"'{key.text[:60]}' cannot name a size",
                key,
                path,
                found=key.text[:60],
                expected="a letter, then letters, digits and _, for example d_m",
            )
        return right
