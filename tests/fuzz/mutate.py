"""Mutations of specs: the same number gives the same text, on every machine.

A spec is taken apart into mappings, lists and scalars, some of which are deleted, doubled, moved,
renamed, replaced by hostile values or by parts of another spec; then it is written down again. A
share of the texts is damaged as bytes afterwards.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent

Tree = Any  # dict[str, Tree] | list[Tree] | str | Quoted


class Quoted(str):
    """A scalar that is written in quotes."""


# ---- what is put in ------------------------------------------------------------------------

NUMBERS = [
    "0", "-1", "1", "2", "7", "1.5", "-0.0", "1e400", "1e-400", "nan", "inf", "017", "0x1F",
    "1_000", "2147483648", "9223372036854775808", "340282366920938463463374607431768211456",
    "9" * 400, "10^10", "10^10^10", "2^2048", "3/7", "1/0", "1e5",
]  # fmt: skip
FORMULAS = [
    "d_m", "2 d_m", "d_m / n_h", "d_m - d_m", "d_m - 8", "d_m / (d_m - d_m)", "8 / (n_h - d_m)",
    "d_m^64", "(d_m + n_h)^40", "d_m d_t n_h", "min(d_t, 7)", "max(d_m, 0)", "ceil(d_m / 7)",
    "d_m % n_h", "d_m % 0", "((((((((d_m))))))))", "d_m +", "* d_m", "-d_m", "d_m'", "foo + 1",
    "d_m // 3", "gcd(d_m, 4)", "2 2", "d_m d_m^2", "...", "...B", "d_t == 3", "n_h | d_m",
]  # fmt: skip
WORDS = [
    "", " ", "true", "false", "null", "~", "yes", "prev", "x", "a b", "a, b", "[", "{a: b}",
    "*a", "&a", "!!str x", "<<", "#", "a #b", "- a", "a: b", "%", "@", "`", "|", ">", "?",
    "../x", "/", "a/b.yaml", "x" * 300, "w " * 600, "id.port", "id.0", "0", "gqa", "rope",
    "llama3", "gelu", "box", "linear", "add", "use", "train", "infer", "frozen", "callout",
    "norm", "residual", "not tied", "a and", "kind == gelu", "()", "not " * 400 + "a", "(" * 60,
    "\u00e9t\u00e9", "\u4e2d\u6587", "\U0001f600", "\u202eabc", "a\u0301", "\u200b", "\ufb01",
    "\u05d0\u05d1", "\u0661", "K\u00e4se", "a\u00a0b", "<script>", "&amp;", "'", '"', "''",
    "javascript:x", "a\\b", "\\", "$", "$$", "a$b", "{", "}",
]  # fmt: skip
LABELS = [
    "$x$", "$W_Q$", "$\\frac{a}{b}$", "$x_{x_{x}}$", "$\\vec{W}$", "$\\unknown$", "$a", "$ $",
    "$\\sqrt{x}$", "$\\mathrm{softmax}$", "$\\left( x \\right)$", "a $b$ c $d$", "$\u4e2d$",
    "$_$", "$^{}$", "$\\$", "$x^{2}_{3}$", "Linear $d_m$",
]  # fmt: skip
HOSTILE = [*NUMBERS, *FORMULAS, *WORDS, *LABELS]
KEYS = [
    "op", "use", "residual", "repeat", "group", "parallel", "columns", "blocks", "id", "from",
    "label", "title", "role", "counts_as", "shape", "stack", "copies", "mark", "when", "if",
    "share", "once", "note", "open", "direction", "with", "out", "bias", "weight", "dims",
    "where", "options", "configs", "inputs", "outputs", "show", "tags", "builds_on", "source",
    "value", "default", "doc", "tex", "choices", "dtype", "x-a", "<<", "true", "1", "", "lable",
    "heads", "axis", "length", "to", "sizes", "table", "kind", "window", "causal", "sides",
]  # fmt: skip
BYTES = [
    b"\0", b"\t", b"\r", b"\n", b"\x85", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf",
    b"\xe2\x80\xa8", b"\x07", b"\x1b", b"'", b'"', b"#", b": ", b"- ", b"[", b"]", b"{", b"}",
    b",", b"&a ", b"*a", b"!!x ", b"|\n", b">\n", b"? ", b"---\n", b"...\n", b"<<: ",
    b"%YAML 9.9\n", b"\\", b"  ", b"`",
]  # fmt: skip


# ---- reading and writing -------------------------------------------------------------------


def taken_apart(text: str) -> Tree:
    """The tree of a text, its scalars as typed."""
    return _tree(yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def _tree(node: Any) -> Tree:
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _tree(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_tree(item) for item in node.value]
    return Quoted(node.value) if node.style else node.value


_PLAIN = re.compile(r"[A-Za-z0-9_.$^+*/()|=<>! -]*\Z")


def _scalar(value: str) -> str:
    if type(value) is str and (_PLAIN.match(value) or len(value) < 12):
        return value
    if any(ord(char) < 32 for char in value):
        return json.dumps(value)
    return "'" + value.replace("'", "''") + "'"


def _flow(tree: Tree) -> str:
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{_scalar(k)}: {_flow(v)}" for k, v in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(_flow(item) for item in tree) + "]"
    if type(tree) is str and not re.fullmatch(r"[^\[\]{},#:&*!|>'\"%@`]*", tree):
        return _scalar(Quoted(tree))
    return _scalar(tree)


def written(tree: Tree, indent: int = 0) -> str:
    """A tree as YAML: the outer levels a line each, the inner ones in brackets."""
    space = "  " * indent
    if isinstance(tree, dict) and tree and indent < 3:
        parts = []
        for key, value in tree.items():
            inner = written(value, indent + 1)
            parts.append(f"{space}{_scalar(key)}:" + (inner if inner[:1] == "\n" else f" {inner}"))
        return ("\n" if indent else "") + "\n".join(parts)
    if isinstance(tree, list) and tree and indent == 1:
        return "\n" + "\n".join(f"{space}- {_flow(item)}" for item in tree)
    return _flow(tree)


# ---- the mutations -------------------------------------------------------------------------

Place = tuple[Any, Any]  # a mapping or list, and the key or index in it


def places(tree: Tree) -> list[Place]:
    """Every place of a tree, outer ones first."""
    found: list[Place] = []
    todo = [tree]
    while todo:
        holder = todo.pop()
        if isinstance(holder, dict | list):
            for key in holder if isinstance(holder, dict) else range(len(holder)):
                found.append((holder, key))
                todo.append(holder[key])
    return found


def _copied(tree: Tree) -> Tree:
    if isinstance(tree, dict):
        return {key: _copied(value) for key, value in tree.items()}
    return [_copied(item) for item in tree] if isinstance(tree, list) else tree


class Mutator:
    """Makes texts from a corpus of specs. ``text(n)`` depends on the seed and ``n`` alone."""

    def __init__(self, texts: list[str], seed: int = 1) -> None:
        self.seed = seed
        self.sources = texts
        self.trees = [taken_apart(text) for text in texts]
        # A small spec is tried sooner: its checks are quick and its parts matter more.
        self.weights = [1 / (200 + len(text)) for text in texts]
        self.by_key: dict[str, list[Tree]] = {}
        for tree in self.trees:
            for holder, key in places(tree):
                if isinstance(holder, dict):
                    self.by_key.setdefault(key, []).append(holder[key])

    def text(self, number: int) -> bytes:
        chance = random.Random(f"{self.seed}:{number}")
        source = chance.choices(range(len(self.trees)), self.weights)[0]
        kind = chance.random()
        if kind < 0.1:
            return self.damaged(self.sources[source].encode(), chance)
        tree = _copied(self.trees[source])
        for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5, 9))):
            tree = self.mutated(tree, chance)
        data = (written(tree) + "\n").encode("utf-8", "surrogatepass")
        return self.damaged(data, chance) if kind < 0.15 else data

    def mutated(self, tree: Tree, chance: random.Random) -> Tree:
        found = places(tree)
        if not found:
            return chance.choice(HOSTILE)
        holder, key = chance.choice(found)
        act = chance.choice(_ACTS)
        act(self, tree, holder, key, chance)
        return tree

    # Each changes what stands at holder[key].

    def delete(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        del holder[key]

    def double(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        if isinstance(holder, list):
            for _ in range(chance.choice((1, 1, 1, 2, 20))):
                holder.insert(key, _copied(holder[key]))
        else:
            holder[chance.choice((f"{key}2", f"{key}_", chance.choice(KEYS)))] = _copied(
                holder[key]
            )

    def swap(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        other, place = chance.choice(places(tree))
        inside = {id(held) for held, _ in places([holder[key]])}
        above = {id(held) for held, _ in places([other[place]])}
        if id(other) not in inside and id(holder) not in above:
            holder[key], other[place] = other[place], holder[key]

    def rename(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        if isinstance(holder, dict):
            new = chance.choice((chance.choice(KEYS), key[:-1], key + "x", chance.choice(HOSTILE)))
            items = [(new if each == key else each, value) for each, value in holder.items()]
            holder.clear()
            holder.update(items)
        else:
            chance.shuffle(holder)

    def replace(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        holder[key] = chance.choice((str, Quoted))(chance.choice(HOSTILE))

    def number(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        holder[key] = chance.choice((*NUMBERS, *FORMULAS))

    def insert(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        if isinstance(holder, list):
            holder.insert(key, chance.choice(HOSTILE))
        else:
            holder[chance.choice(KEYS)] = chance.choice(HOSTILE)

    def transplant(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        """A part of another spec, mostly one that stood under the same key there."""
        pool = self.by_key.get(key, []) if chance.random() < 0.7 else []
        pool = pool or self.by_key[chance.choice(sorted(self.by_key))]
        holder[key] = _copied(chance.choice(pool))

    def graft(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        """A key of another mapping, with its value."""
        if isinstance(holder, dict):
            new = chance.choice(sorted(self.by_key))
            holder[new] = _copied(chance.choice(self.by_key[new]))
        else:
            blocks = chance.choice(self.by_key["blocks"])
            if isinstance(blocks, list) and blocks:
                holder.insert(key, _copied(chance.choice(blocks)))

    def wrap(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        inner = holder[key]
        kind = chance.choice(("residual", "group", "repeat", "parallel", "list", "map", "columns"))
        holder[key] = {
            "residual": {"residual": [inner]},
            "group": {"group": [inner]},
            "repeat": {"repeat": chance.choice(("3", "n_h", "0")), "blocks": [inner]},
            "parallel": {"parallel": [[inner], []]},
            "columns": {"columns": [{"blocks": [inner]}]},
            "list": [inner],
            "map": {chance.choice(KEYS): inner},
        }[kind]

    def unwrap(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        inner = holder[key]
        if isinstance(inner, dict) and inner:
            holder[key] = inner[chance.choice(sorted(inner))]
        elif isinstance(inner, list) and inner:
            holder[key] = chance.choice(inner)

    def letter(self, tree: Tree, holder: Any, key: Any, chance: random.Random) -> None:
        """A scalar with one letter more, less or another."""
        value = holder[key]
        if isinstance(value, str):
            at = chance.randrange(len(value) + 1)
            new = chance.choice(
                ("", "x", "_", " ", "$", "\\", "{", "0", "\u00e9", "\u202e", "'", ".")
            )
            kept = type(value)
            holder[key] = kept(value[:at] + new + value[at + chance.randrange(2) :])

    def damaged(self, data: bytes, chance: random.Random) -> bytes:
        """Bytes changed without a look at what they mean."""
        for _ in range(chance.choice((1, 1, 2, 4))):
            at, far = (chance.randrange(len(data) + 1) for _ in range(2))
            begin, end = min(at, far), max(at, far)
            kind = chance.randrange(6)
            if kind == 0:
                data = data[:at] + chance.choice(BYTES) + data[at:]
            elif kind == 1:
                data = data[:at] + chance.choice(BYTES) + data[at + 1 :]
            elif kind == 2:
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            elif kind == 3:
                data = data[:begin] + data[min(end, begin + 40) :]
            elif kind == 4:
                data = data[:end] + data[begin:end][:200] + data[end:]
            else:
                data = data[:at] if chance.random() < 0.3 else data.replace(b"\n", b"\r\n", 3)
        return data


_ACTS: list[Callable[[Mutator, Tree, Any, Any, random.Random], None]] = [
    Mutator.delete,
    Mutator.double,
    Mutator.swap,
    Mutator.rename,
    Mutator.replace,
    Mutator.replace,
    Mutator.number,
    Mutator.insert,
    Mutator.transplant,
    Mutator.transplant,
    Mutator.graft,
    Mutator.wrap,
    Mutator.unwrap,
    Mutator.letter,
]


def corpus() -> list[str]:
    """The texts of all bundled specs, in the order of their paths."""
    return [path.read_text("utf-8") for path in sorted((ROOT / "specs").rglob("*.yaml"))]
