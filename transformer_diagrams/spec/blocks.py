"""The `blocks:` part of a spec: from nodes to Blocks, each told apart by its kind first.

A block's kind is read before anything else, so a fault in one speaks only of the keys that this
kind of block can have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from typing import Any, Final

from transformer_diagrams.bundled import bundled_specs
from transformer_diagrams.errors import NEAR_OP, Span, nearest
from transformer_diagrams.ops import registry
from transformer_diagrams.ops.registry import Attr
from transformer_diagrams.spec.fields import Fields, an, describe
from transformer_diagrams.spec.grammar import (
    COLUMN,
    COMMON,
    KINDS,
    LAYER,
    OP,
    REF,
    STRUCTURES,
    Key,
    attr_key,
)
from transformer_diagrams.spec.model import Block, Ref, Text, Value
from transformer_diagrams.spec.yaml_nodes import Map, Node, Scalar, Seq, kind_of

# Keys of the file that become fields of Block as they are.
_FIELD: Final = {"if": "condition", "with": "bind", "from": "sources", "repeat": "count"}


_ENDS: Final = ("from", "feedback")
"""The keys of a reference that name a block."""


_STYLE: Final = (
    "its role decides its look, so that one colour means one thing in all figures: set `role`, or "
    "change the role in a theme file; a contribution is highlighted by `accent: 1`"
)
_INSTEAD: Final = {
    "title": "the words in its box are its 'label'",
    **dict.fromkeys(("style", "fill", "line", "color", "colour", "stroke"), _STYLE),
}
"""Keys that a block does not have, though one may look for them: what there is instead."""


class _Kind:
    """The keys of one kind of block, its own first; of an op, its attributes are its own."""

    def __init__(self, kind: str, name: str, attrs: tuple[Attr, ...], known: Mapping[str, Key]):
        self.kind = kind
        self.name = name
        words = {"op": f"the op '{name}'", "layer": "an entry of a pattern"}
        self.what = words.get(kind) or an(kind)
        self.attrs = {attr.name: attr for attr in attrs}
        self.keys = {k: v for k, v in known.items() if k not in self.attrs}
        self.names = [*self.attrs, *self.keys]
        self.own = [*self.attrs] if kind == "op" else [k for k in self.keys if k not in COMMON]
        self.required: list[Attr | Key] = [attr for attr in attrs if attr.required]
        self.required += [key for key in known.values() if key.required]


_STRUCTURES: Final = {
    kind: _Kind(kind, kind, (), known)
    for kind, known in (*STRUCTURES.items(), ("column", COLUMN), ("layer", LAYER))
}


class BlockReader:
    """Reads the blocks of one file and remembers ids and references for the checks at the end."""

    def __init__(self, fields: Fields) -> None:
        self.f = fields
        self.op_names: list[str] = sorted(registry.names())
        self._known_ops = frozenset(self.op_names)
        self._ops: dict[str, _Kind] = {}
        self.ids: dict[str, Node] = {}
        self._holders: dict[str, str] = {}  # id -> id of the block it stands in
        self._inside: list[str] = []  # ids of the blocks around, outer first
        self.taken: set[str] = set()  # names that must not be generated
        self.generated: set[str] = set()
        self._count: dict[str, int] = {}
        self.weighted: set[str] = set()  # ids of ops and used specs
        self.references: list[tuple[Text, str, str]] = []  # ref, path, "from", "output" or "share"
        fields.plain |= {
            "ids": self._carried,
            "sources": self._sources,
            "ref": self._kept("from"),
            "output-ref": self._kept("output"),
            "block-ref": self._kept("share"),
            "span-end": self._kept("span"),
            "blocks": self.blocks,
            "branches": self._branches,
            "columns": self._columns,
            "pattern": self._pattern,
            "bindings": self._bindings,
        }

    # -- ids

    def reserve(self, node: Node) -> None:
        """Note every id that the file gives, before any is generated. Does not recurse."""
        todo = [node]
        while todo:
            one = todo.pop()
            if isinstance(one, Map):
                for name, (_, value) in one.entries.items():
                    if name in ("id", "carry") and isinstance(value, Scalar):
                        self.taken.add(value.text)
                    elif name == "carry" and isinstance(value, Seq):
                        self.taken.update(i.text for i in value.items if isinstance(i, Scalar))
                    elif name == "parallel" and isinstance(value, Map):
                        self.taken.update(value.entries)
                        todo.append(value)
                    elif not isinstance(value, Scalar):
                        todo.append(value)
            elif isinstance(one, Seq):
                todo.extend(item for item in one.items if not isinstance(item, Scalar))

    def explicit_id(self, name: str, node: Node, path: str) -> str:
        first = self.ids.get(name)
        if first is None:
            self.ids[name] = node
            if self._inside:
                self._holders[name] = self._inside[-1]
            return name
        again = first is node
        one, two = self._holders.get(name, ""), self._inside[-1] if self._inside else ""
        here = f" in '{one}'" if one else ""
        there = f" in '{two}'" if two else ""
        self.f.fault(
            "duplicate-id",
            f"the id '{name}' is used twice:{here} on line {first.line} and{there} "
            + ("through an alias" if again else f"on line {node.line}"),
            node,
            path,
            found=name,
            expected="each id once in a file, at all levels",
            hint="give one a different id"
            + (", for example {<<: *name, id: other}" if again else ""),
            notes=((f"'{name}' is used first here", self.f.span(first)),),
        )
        return self.generated_id(name)

    def generated_id(self, base: str) -> str:
        """The base name, then with -2, -3 ...; the same file always gets the same ids."""
        count = self._count.get(base, 0) + 1
        name = base if count == 1 else f"{base}-{count}"
        while name in self.taken:
            count += 1
            name = f"{base}-{count}"
        self._count[base] = count
        self.taken.add(name)
        self.generated.add(name)
        return name

    # -- lists of blocks

    def blocks(self, node: Node, path: str, *, empty: bool = False) -> tuple[Block, ...]:
        if not isinstance(node, Seq):
            hint = ""
            if isinstance(node, Map):
                hint = "begin each block with '- '"
            elif kind_of(node) == "text" and isinstance(node, Scalar):
                hint = f"a list of one block: [{node.text}]"
            self.f.wrong(node, path, "a list of blocks", hint)
            return ()
        if not node.items and not empty:
            self._none("there are no blocks in this list", node, path, "block")
        made = []
        for index, item in enumerate(node.items):
            block = self.block(item, f"{path}[{index}]")
            if block is not None:
                made.append(block)
        return tuple(made)

    def _none(
        self, message: str, node: Node, path: str, what: str, found: str = "an empty list"
    ) -> None:
        expected = f"at least one {what}"
        self.f.fault("no-blocks", message, node, path, found=found, expected=expected)

    def block(self, node: Node, path: str) -> Block | None:
        if type(node) is Map:
            return self._mapping(node, path)
        if isinstance(node, Scalar) and kind_of(node) == "text":
            return self._bare(node, path)
        hint = "brackets around several blocks make a 'group' or branches of a 'parallel'"
        self.f.wrong(
            node, path, "a block", hint if isinstance(node, Seq) else "name an op or delete the '-'"
        )
        return None

    def _bare(self, node: Scalar, path: str) -> Block | None:
        """A bare string: an op with nothing to say about it."""
        kind = self.op(node, path)
        if kind is None:
            return None
        self._missing(kind, (), node, path)
        block_id = self.generated_id(node.text)
        self.weighted.add(block_id)
        return Block(kind="op", span=self.f.span(node), path=path, id=block_id, op=node.text)

    # -- the kind

    def op(self, node: Node, path: str) -> _Kind | None:
        """The keys of the op that a node names; a fault if there is none of that name."""
        if not isinstance(node, Scalar) or kind_of(node) != "text":
            self.f.wrong(node, path, "the name of an op")
            return None
        name = node.text
        known = self._ops.get(name)
        if known is not None:
            return known
        if name not in self._known_ops:
            close = nearest(name, self.op_names, cutoff=NEAR_OP)
            box = f"what is no op is a box: {{op: box, label: {name[:60]}}}"
            if name in bundled_specs():
                hint = f"'{name}' is a spec: write {{use: {name}}}"
            elif close:
                hint = f"did you mean '{close}'? {box}"
            elif name in KINDS:
                hint = f"'{name}' is written as a key with a value: {{{name}: ...}}"
            else:
                hint = f"if '{name[:60]}' is a spec, write {{use: {name[:60]}}}; {box}"
            self.f.fault(
                "unknown-op",
                f"there is no op '{name[:60]}'",
                node,
                path,
                found=name[:60],
                expected="the name of an op (the command 'schema' lists them)",
                hint=hint,
            )
            return None
        made = self._ops[name] = _Kind("op", name, registry.get(name).attrs, OP)
        return made

    def _kind(self, node: Map, path: str) -> str | None:
        """Which of the KINDS a mapping is; a fault when it is none or several."""
        entries = node.entries
        found = [kind for kind in KINDS if kind in entries]
        if len(found) > 1 and "op" in found:  # an op may have an attribute of such a name
            op = entries["op"][1]
            if isinstance(op, Scalar) and op.text in self._known_ops:
                taken = self.op(op, path)
                found = [k for k in found if k == "op" or not taken or k not in taken.attrs]
        if len(found) == 1:
            return found[0]
        listed = ", ".join(KINDS)
        if found:
            first, second = sorted(
                found[:2], key=lambda kind: (entries[kind][0].line, entries[kind][0].column)
            )
            hint = "make them two blocks, or put one inside the other"
            if "repeat" in found:
                hint = "'repeat' goes around: {repeat: N, blocks: [...]}"
            self.f.fault(
                "two-kinds",
                f"a block has one kind, but this one has both '{first}' and '{second}'",
                entries[second][0],
                path,
                found=", ".join(found),
                expected=f"one of {listed}",
                hint=hint,
                notes=((f"'{first}' is here", self.f.span(entries[first][0])),),
            )
            return None
        if node.broken and not entries:
            return None  # its keys have been refused already
        hint = ""
        for name in entries:
            if name in self._known_ops:
                hint = f"'{name}' is an op: write {{op: {name}, ...}}"
                break
        else:
            for name in entries:
                close = self.f.near(name, KINDS, "kind") if name not in COMMON else None
                if close:
                    hint = f"did you mean '{close}' for '{name}'?"
                    break
        if not hint and "blocks" in entries:
            hint = "blocks in a frame: {group: [...]}; several times: {repeat: N, blocks: [...]}"
        self.f.fault(
            "no-kind",
            "this block does not say what it is",
            node,
            path,
            found=describe(node),
            expected=f"one of the keys {listed}",
            hint=hint,
        )
        return None

    # -- one block

    def _mapping(self, node: Map, path: str) -> Block | None:
        kind = self._kind(node, path)
        if kind is None:
            self._inner_of_unknown(node, path)
            return None
        if kind != "op":
            return self._build(node, path, _STRUCTURES[kind], kind, node)
        key_node, value = node.entries["op"]
        op = self.op(value, f"{path}.op")
        name = value.text if isinstance(value, Scalar) else ""
        block = self._build(node, path, op or _Kind("op", name, (), OP), name, key_node, op is None)
        return None if op is None else block

    def _inner_of_unknown(self, node: Map, path: str) -> None:
        """A block of no known kind: misspelt keys and inner blocks still have their faults."""
        for name, (key, _) in node.entries.items():
            close = None if name in COMMON or name in KINDS else self.f.near(name, COMMON, "common")
            if close and name not in self._known_ops:
                self.f.fault(
                    "unknown-key",
                    f"a block has no key '{name}'",
                    key,
                    f"{path}.{name}",
                    found=name,
                    hint=f"did you mean '{close}'?",
                )
        for name in ("blocks", "residual", "group"):
            if name in node.entries and isinstance(node.entries[name][1], Seq):
                self.blocks(node.entries[name][1], f"{path}.{name}")

    def _misspelt(self, name: str, entries: Iterable[str], known: Container[str]) -> bool:
        """Whether an unknown key is meant to be this one: it is reported as unknown, once."""
        for other in entries:
            if other not in known and self.f.near(other, (name,), f"missing {name}"):
                return True
        return False

    def _missing(self, kind: _Kind, entries: Collection[str], at: Node, path: str) -> None:
        for one in kind.required:
            if one.name in entries or self._misspelt(one.name, entries, kind.names):
                continue
            doc = one.doc.rstrip(".")
            if isinstance(one, Key):
                doc = doc[0].lower() + doc[1:]
            self.f.fault(
                "missing-key",
                f"{kind.what} needs '{one.name}'",
                at,
                path,
                expected=f"{one.name}: {doc}" if doc else one.name,
                hint=""
                if entries
                else f"for example {{op: {kind.name}, {one.name}: ...}}",
            )

    def _build(
        self, node: Map, path: str, kind: _Kind, name: str, at: Node, unknown: bool = False
    ) -> Block:
        """The block of a known kind, or what can be said of one of an ``unknown`` op.

        ``at`` is where keys are missing.
        """
        f, entries = self.f, node.entries
        self._missing(kind, entries, at, path)
        id_node = entries["id"][1] if "id" in entries else None
        if kind.kind != "op":
            self._inside.append(id_node.text if isinstance(id_node, Scalar) else kind.kind)
        spans: dict[str, Span] = {}
        made: dict[str, Any] = {}
        values: dict[str, Value] = {}
        for word, (key_node, value) in entries.items():
            spans[word] = Span(f.file, key_node.line, key_node.column)
            inner = f"{path}.{word}"
            key = kind.keys.get(word)
            if word == "with" and isinstance(value, Map):
                spans |= {f"with.{n}": f.span(k) for n, (k, _) in value.entries.items()}
            if word in kind.attrs:
                attr = self._attr(value, inner, kind.attrs[word])
                if attr is not None:
                    values[word] = attr
            elif key is not None:
                read = f.read(key, value, inner)
                if read is not None:
                    made[_FIELD.get(word, word)] = read
            elif not unknown and (word != "op" or kind.kind != "op"):
                self._unknown(word, spans[word], inner, kind)
        if kind.kind == "op":
            made["op"] = name
        else:
            self._inside.pop()
            inner_key = "blocks" if "blocks" in kind.keys else kind.kind
            if kind.kind == "repeat" and self._has_pattern(node, at, path, kind):
                made.pop("blocks", None)
                made["children"], made["pattern"] = made.pop("pattern", ()), True
            elif inner_key != "use":
                made["children"] = made.pop(inner_key, ())
        if kind.kind == "use":
            name = _base_name(made.get("use", "")) or "use"
        given = made.pop("id", None)
        if given is not None and id_node is not None:
            block_id = self.explicit_id(given, id_node, f"{path}.id")
        else:
            block_id = self.generated_id(name or kind.kind)
        if kind.kind in ("op", "use"):
            self.weighted.add(block_id)
        if "average_of" in made and made.setdefault("mark", "ema") != "ema":
            f.fault(
                "bad-value",
                f"a moving average is marked ema, not {made['mark']}",
                spans["mark"],
                f"{path}.mark",
                found=made["mark"],
                expected="ema",
                hint="leave `mark` out: `average_of` implies it",
            )
        return Block(
            kind={"column": "group", "layer": "repeat"}.get(kind.kind, kind.kind),
            span=f.span(node),
            path=path,
            id=block_id,
            explicit_id=given is not None,
            attrs=values,
            key_spans=spans,
            **made,
        )

    def _unknown(self, word: str, span: Span, path: str, kind: _Kind) -> None:
        close = self.f.near(word, kind.names, f"{kind.kind} {kind.name}")
        takes = ", ".join(kind.own) or "nothing of its own"
        self.f.fault(
            "unknown-key",
            f"{kind.what} has no key '{word}'",
            span,
            path,
            found=word,
            expected=f"{kind.what} takes {takes}; and the keys that every block takes",
            hint=_INSTEAD.get(word, f"did you mean '{close}'?" if close else ""),
        )

    # -- values of keys

    def _attr(self, node: Node, path: str, attr: Attr) -> Value | None:
        """An op's attribute by its kind, or the name of an option that takes its place."""
        f, kind = self.f, attr.kind
        span = f.span(node)
        if (
            type(node) is Scalar
            and node.text in f.options
            and kind not in ("dim", "dims", "int", "float")
            and kind_of(node) == "text"
            and node.text not in attr.choices
        ):
            return Value(node.text, span) if self._option(node, path, attr) else None
        value: Any
        if kind == "dims":
            value = f.shape(node, path, (attr.least, attr.beside))
        elif kind == "dim":
            value = f.expression(node, path, (attr.least, attr.beside))
        else:
            value = f.read(attr_key(attr), node, path)
        if isinstance(value, Text):
            value = value.value
        return None if value is None else Value(value, span)

    def _option(self, node: Scalar, path: str, attr: Attr) -> bool:
        """Whether an option has values of an attribute's kind; a fault if it has not."""
        choices = self.f.options[node.text].choices
        if attr.kind == "bool":
            if not choices:
                return True
            message = f"'{attr.name}' is true or false, but the option '{node.text}' is a word"
            expected, hint = "true, false or an option without choices", ""
        elif not choices:
            message = (
                f"'{attr.name}' must be text, but '{node.text}' is an option that is true or false"
            )
            expected = "text, or the name of an option that has words to choose from"
            hint = f"call the option something else if the text '{node.text}' is meant"
        elif attr.kind == "enum" and not {*choices} & {*attr.choices}:
            message = f"'{attr.name}' cannot be any of the words of the option '{node.text}'"
            expected, hint = f"an option with words of {', '.join(attr.choices)}", ""
        else:
            return True
        self.f.fault(
            "bad-choice", message, node, path, found=node.text, expected=expected, hint=hint
        )
        return False

    def _carried(self, node: Node, path: str) -> tuple[Text, ...]:
        """Names that are given here, as ids are."""
        pairs = [(node, path)]
        if isinstance(node, Seq):
            pairs = list(self.f.items(node, path, "names"))
            if not pairs:
                expected = "at least one name"
                self.f.fault("no-names", "there are no names", node, path, expected=expected)
        made = []
        for item, at in pairs:
            name = self.f.identifier(item, at)
            if name is not None:
                made.append(Text(self.explicit_id(name, item, at), self.f.span(item)))
        return tuple(made)

    def _bindings(self, node: Node, path: str) -> Mapping[str, Value] | None:
        """`with:`: what the inner spec's sizes and options are, in this file's terms."""
        if not isinstance(node, Map):
            self.f.wrong(node, path, "a mapping such as {n_g: 1}")
            return None
        made: dict[str, Value] = {}
        for name, (_, value) in node.entries.items():
            at = f"{path}.{name}"
            if kind_of(value) == "bool":
                made[name] = Value(self.f.boolean(value, at), self.f.span(value))
            else:
                text = self.f.expression(value, at, names=False)
                if text is not None:
                    made[name] = self.f.value(text, value)
        return made

    def _branches(self, node: Node, path: str) -> tuple[Block, ...] | None:
        if isinstance(node, Map):
            pairs: list[Any] = [(k, v, f"{path}.{n}") for n, (k, v) in node.entries.items()]
        elif isinstance(node, Seq):
            pairs = [(None, item, f"{path}[{i}]") for i, item in enumerate(node.items)]
        else:
            self.f.wrong(node, path, "branches such as [[...], [...]] or {q: [...], k: [...]}")
            return None
        if not pairs:
            self._none("there are no branches", node, path, "branch", "nothing")
        made = []
        for key, value, at in pairs:
            if key is None:
                branch_id = self.generated_id("branch")
            elif self.f.identifier(key, at) is None:
                continue
            else:
                branch_id = self.explicit_id(key.text, key, at)
            made.append(
                Block(
                    kind="group",
                    span=self.f.span(key or value),
                    path=at,
                    id=branch_id,
                    explicit_id=key is not None,
                    children=self.blocks(value, at, empty=True),
                )
            )
        return tuple(made)

    def _columns(self, node: Node, path: str) -> tuple[Block, ...] | None:
        made = []
        for item, at in self.f.items(node, path, "a list of columns"):
            if isinstance(item, Map):
                made.append(self._build(item, at, _STRUCTURES["column"], "column", item))
            else:
                self.f.wrong(item, at, "a column such as {id: encoder, blocks: [...]}")
        if isinstance(node, Seq) and not node.items:
            self._none("there are no columns", node, path, "column")
        return tuple(made)

    def _has_pattern(self, node: Map, at: Node, path: str, kind: _Kind) -> bool:
        """Whether a repeat has turns of several kinds; a fault when it has two bodies, or none."""
        entries = node.entries
        if "blocks" in entries and "pattern" in entries:
            self.f.fault(
                "two-bodies",
                "a repeat has 'blocks', or a 'pattern' when its turns differ, but not both",
                entries["pattern"][0],
                f"{path}.pattern",
                found="blocks, pattern",
                expected="one of the two",
                hint="make the blocks an entry of the pattern: {blocks: [...]}",
                notes=(("the blocks are here", self.f.span(entries["blocks"][0])),),
            )
        elif not any(
            word in entries or self._misspelt(word, entries, kind.names)
            for word in ("blocks", "pattern")
        ):
            expected = "blocks: the blocks of one turn; or pattern, when the turns differ"
            message = "a repeat needs 'blocks'"
            self.f.fault("missing-key", message, at, path, expected=expected)
        if "pattern" in entries and "carry" in entries:
            self.f.fault(
                "carry-of-pattern",
                "'carry' names what a kind of turn takes from the turn before: an entry of the "
                "pattern says it",
                entries["carry"][0],
                f"{path}.carry",
                found="carry beside pattern",
                expected="carry in the entry whose blocks read it",
                hint="move it: {carry: [...], blocks: [...]}",
            )
        return "pattern" in entries

    def _pattern(self, node: Node, path: str) -> tuple[Block, ...] | None:
        """The kinds of turns: by counts in a round, or by what holds of the turns' numbers."""
        made: list[Block] = []
        for item, at in self.f.items(node, path, "a list of kinds of turns"):
            if isinstance(item, Map) and not any(kind in item.entries for kind in KINDS):
                made.append(self._build(item, at, _STRUCTURES["layer"], "layer", item))
                continue
            block = self.block(item, at)  # one turn of a single block is said by the block alone
            if block is not None:
                made.append(
                    Block(
                        kind="repeat",
                        span=block.span,
                        path=at,
                        id=self.generated_id("layer"),
                        condition=block.condition,
                        children=(block,),
                    )
                )
        if isinstance(node, Seq) and not node.items:
            self._none("there are no kinds of turns", node, path, "entry")
        asked = [block for block in made if block.turns]
        for block in made if asked else ():
            if block.count is not None:
                self.f.fault(
                    "count-and-turns",
                    "a pattern goes by 'count' or by 'turns', but not by both",
                    block.key_spans["count"],
                    f"{block.path}.count",
                    found="count",
                    expected="turns, or nothing for all turns that are left",
                    notes=(("'turns' is here", asked[0].key_spans["turns"]),),
                )
            elif not block.turns and block is not made[-1]:
                self.f.fault(
                    "turns-left",
                    "this entry has no 'turns', so that it takes all that are left, but it is not "
                    "the last",
                    block.span,
                    block.path,
                    expected="the entry for all other turns at the end",
                )
        return tuple(made)

    # -- references

    def _sources(self, node: Node, path: str) -> tuple[Ref, ...] | None:
        """`from:` one reference, a list of them, or a mapping port -> reference."""
        if isinstance(node, Seq):
            made = [self._ref(item, f"{path}[{i}]", None) for i, item in enumerate(node.items)]
        elif isinstance(node, Map) and node.entries.keys().isdisjoint(_ENDS):
            made = []
            if not node.entries:
                self.f.wrong(node, path, "a reference, a list or a mapping of them")
            for port, (_, value) in node.entries.items():
                made.append(self._ref(value, f"{path}.{port}", port))
        else:
            made = [self._ref(node, path, None)]
        return tuple(ref for ref in made if ref is not None)

    def _kept(self, what: str) -> Callable[[Node, str], Text | None]:
        """The reader of a reference that is looked up when all ids are known."""

        def read(node: Node, path: str) -> Text | None:
            ref = self.f.reference(node, path)
            if ref is not None:
                self.references.append((ref, path, what))
            return ref

        return read

    def _ref(self, node: Node, path: str, port: str | None) -> Ref | None:
        if not isinstance(node, Map):
            target = self.f.plain["ref"](node, path)
            return None if target is None else Ref(target.value, target.span, port)
        said = [word for word in _ENDS if word in node.entries]
        if len(said) != 1 and not node.broken:
            self.f.fault(
                "two-ends" if said else "missing-key",
                "a reference is of now or of one step ago, not of both"
                if said
                else "this reference does not say where it comes from",
                node.entries[said[1]][0] if said else node,
                path,
                found=describe(node),
                expected="{from: ID, ...} or {feedback: ID, ...}",
            )
        values = self.f.mapping(node, path, REF, "a reference")
        now, before = values.pop("from", None), values.pop("feedback", None)
        target = now or before
        if target is None:
            return None
        return Ref(target.value, target.span, port, feedback=now is None, **values)


def _base_name(use: str) -> str:
    """The id-like part of a `use:`: the last part of a path, without its suffix."""
    name = use.replace("\\", "/").rsplit("/", 1)[-1]
    for suffix in (".yaml", ".yml"):
        name = name.removesuffix(suffix)
    return name.replace(".", "-")


def walk(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """Every block of a spec, outer ones first, in the order written."""
    todo = list(reversed(blocks))
    while todo:
        block = todo.pop()
        yield block
        todo.extend(reversed(block.children))
