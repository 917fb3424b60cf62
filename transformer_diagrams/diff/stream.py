"""Reads what lies around attentions and feed-forward networks: blocks, norms, positions, tables."""

from __future__ import annotations

from collections.abc import Sequence

from transformer_diagrams.diff.flat import Leaf
from transformer_diagrams.diff.traits import (
    Reading,
    Submodule,
    Trait,
    attr,
    is_true,
    joined,
    kind_of,
    name_of,
    unique,
    width_of,
)
from transformer_diagrams.dims import Dim
from transformer_diagrams.graph.ir import Group, Node
from transformer_diagrams.ops import registry
from transformer_diagrams.text import plain

_TURNS = ("repeat", "pattern")  # groups that are done more than once
_ASIDE = ("rescale", "gate", "carry", "cut")  # may stand before the last norm
_PLACES = {  # (norm first in the branch, norm last in the branch, norm after the sum)
    (True, False, False): "pre-norm residuals: a norm first in each branch",
    (False, False, True): "post-norm residuals: a norm after each sum",
    (True, True, False): "sandwich-norm residuals: a norm before and after each branch",
    (False, True, False): "residuals with a norm at the end of each branch, before the sum",
    (False, False, False): "residuals without norms",
    (True, False, True): "a norm before each branch and after each residual sum",
    (False, True, True): "a norm after each branch and after each residual sum",
    (True, True, True): "norms before and after each branch and after each residual sum",
}
RESIDUAL = "residual"


class Stream:
    """One graph whose sites are known."""

    def __init__(self, reading: Reading, sites: Sequence[Submodule]) -> None:
        self.reading, self.flat, self.sites = reading, reading.flat, sites
        self.of_site = {n: site for site in sites for n in site.parts}
        self.parts = [p for p in self.flat.parts if p.index not in self.of_site]
        self.block_norms: dict[int, str] = {}  # norms of residual blocks -> where they stand
        self.covered: set[int] = set()  # parts that a trait of the stream speaks of
        self._residuals = self._find_residuals()
        self._adders = self._find_adders()
        self._place = {number: self._norm_place(group) for number, group in
                       enumerate(self._residuals)}

    # -- residuals and norms ----------------------------------------------------------------

    def _find_residuals(self) -> list[Group]:
        found: dict[str, Group] = {}
        for part in self.flat.parts:
            for group in part.around:
                if group.kind == "residual":
                    found.setdefault(group.path, group)
        return list(found.values())

    def _find_adders(self) -> dict[str, Leaf]:
        """The junction that each residual ends with."""
        return {
            p.around[-1].path: p
            for p in self.flat.parts
            if p.does("sum") and p.path.endswith("/add")
            and p.around and p.around[-1].kind == "residual"
        }

    def _norm_place(self, group: Group) -> tuple[bool, bool, bool]:
        """Where norms stand around one residual; they are noted as norms of blocks."""
        adder = self._adders.get(group.path)
        if adder is None:
            return (False, False, False)
        self.covered.add(adder.index)
        first = last = after = False
        outer = adder.around[-2] if len(adder.around) > 1 else None
        for part in self.flat.parts:
            if not part.does("norm"):
                continue
            innermost = part.innermost("residual")
            if innermost is group:
                inner = [
                    w for w in part.wires
                    if self.flat.parts[w.part].inside(group) and w.part != adder.index
                ]
                if not inner:
                    first = True
                    self.block_norms[part.index] = "first"
                elif adder.index in part.readers:
                    last = True
                    self.block_norms[part.index] = "last"
            elif any(w.part == adder.index for w in part.wires):
                around = part.around[-1] if part.around else None
                if around is outer and adder.readers == [part.index]:
                    after = True
                    self.block_norms.setdefault(part.index, "after")
        return (first, last, after)

    def layout(self) -> Trait | None:
        """Pre-norm, post-norm and their kin; None without residuals."""
        if not self._residuals:
            return None
        places = list(self._place.values())
        if len(places) > 1 and all(p[0] for p in places):
            # The last residual of a stack that is not repeated meets the final norm.
            after = sum(p[2] for p in places)
            if after < len(places):
                places = [(p[0], p[1], False) for p in places]
                for index in [n for n, w in self.block_norms.items() if w == "after"]:
                    del self.block_norms[index]
        words = unique(_PLACES[p] for p in places)
        at = [p.path for n, p in enumerate(self.flat.parts) if n in self.block_norms]
        return Trait(RESIDUAL, "; ".join(words), "; ".join(words), tuple(at))

    def norm(self) -> Trait:
        """The kind of norm, in blocks and at the ends of the stack."""
        found = [
            p for p in self.flat.parts
            if p.does("norm") and (p.index in self.block_norms or self._end(p))
        ]
        self.covered |= {p.index for p in found}
        kinds = unique(kind_of(p) for p in found)
        text = joined(kinds)
        return Trait("norm", text, text or "no norms", tuple(p.path for p in found))

    def _end(self, part: Leaf) -> bool:
        return self._is_final(part) or self._is_first(part)

    def _is_final(self, part: Leaf) -> bool:
        """A norm that reads the residual stream after the last block."""
        if part.index in self.block_norms or part.index in self.of_site:
            return False
        if part.innermost("residual") is not None:
            return False
        adders = {adder.index for adder in self._adders.values()}
        between = self.flat.before(part.wires, lambda p: p.index in adders or p.does(*_ASIDE))
        return bool(adders & set(between)) or any(w.part in self.block_norms for w in part.wires)

    def _is_first(self, part: Leaf) -> bool:
        """A norm on the embeddings, before the first block."""
        if part.index in self.of_site or part.innermost("residual") is not None:
            return False
        if not any(self.flat.parts[w.part].does("table", "sum", "positions") for w in part.wires):
            return False
        before = self.flat.before([part.index])
        return any(self.flat.parts[n].does("table") for n in before) and not any(
            n in self.of_site for n in before
        )

    def ends(self) -> list[Trait]:
        """Norms before the first and after the last block."""
        final = [p for p in self.flat.parts if p.does("norm") and self._is_final(p)]
        first = [p for p in self.flat.parts if p.does("norm") and self._is_first(p)]
        return [
            Trait("final norm", "yes" if final else "",
                  "a norm after the last block" if final else "no norm after the last block",
                  tuple(p.path for p in final)),
            Trait("embedding norm", "yes" if first else "",
                  "a norm on the embeddings" if first else "no norm on the embeddings",
                  tuple(p.path for p in first)),
        ]  # fmt: skip

    # -- blocks -----------------------------------------------------------------------------

    def blocks(self) -> Trait | None:
        """The stacks of blocks: what is repeated, and what is in one turn."""
        if not self.sites:
            return None
        words, keys = [], []
        for group in self._stacks():
            text, key = self._stack(group)
            if text:
                words.append(text)
                keys.append(key)
        if not words:
            return None
        return Trait("blocks", "; ".join(keys), "; ".join(words))

    def _stacks(self) -> list[Group]:
        found: dict[str, Group] = {}
        for part in self.flat.parts:
            outer = next((g for g in part.around if g.kind in _TURNS), None)
            if outer is not None:
                found.setdefault(outer.path, outer)
        return list(found.values())

    def _stack(self, group: Group) -> tuple[str, str]:
        words, keys = [], []
        for child in group.children:
            if isinstance(child, Node):
                continue
            if child.kind in _TURNS:
                text, key = self._stack(child)
            elif child.kind in ("group", "columns", "use") and not self._is_site(child):
                text, key = self._stack(child)
                text, key = _bare(text), _bare(key)
            else:
                text = key = self._branch(child)
            if text:
                words.append(text)
                keys.append(key)
        count = plain(group.badge).replace("×", "").strip()
        inner, known = ", ".join(words), ", ".join(keys)
        if group.kind not in _TURNS or not inner:
            return f"({inner})" if inner else "", f"({known})" if known else ""
        if group.kind == "pattern":  # the counts are of its kinds
            return f"{count} in a pattern: {inner}", f"pattern: {known}"
        any_count = "N" if count.replace("_", "").isalnum() and not count.isdigit() else count
        return f"{count} x ({inner})", f"{any_count} x ({known})"

    def _is_site(self, group: Group) -> bool:
        return any(site.scope is group for site in self.sites)

    def _branch(self, group: Group) -> str:
        inside = [
            site for site in self.sites
            if site.scope is group or any(
                self.flat.parts[n].inside(group) for n in site.parts[:1])
        ]
        names = []
        for site in inside:
            if site.kind == "ffn":
                mixed = site.traits["experts"].key
                names.append("experts" if mixed else "feed-forward")
            else:
                source = site.traits["source"].key
                window = "window " if "window" in site.traits["mask"].key else ""
                names.append(
                    "cross-attention" if source == "cross" else f"{window}attention"
                )
        return " + ".join(names) if len(names) != 2 else f"{names[0]} beside {names[1]}"

    # -- positions, tables, head ------------------------------------------------------------

    def position(self) -> Trait:
        """How positions are told apart."""
        words, at = [], []
        for part in self.flat.parts:
            if not part.does("positions"):
                continue
            self.covered.add(part.index)
            at.append(part.path)
            kind = "learned" if registry.get(part.op).weights else "sinusoidal"
            inside = part.innermost("repeat") is not None
            words.append(
                f"{kind}, absolute, added "
                + ("in every block" if inside else "once to the embeddings")
            )
            for reader in part.readers:
                if self.flat.parts[reader].does("sum"):
                    self.covered.add(reader)
                    at.append(self.flat.parts[reader].path)
        turned: dict[str, list[str]] = {}
        for part in self.flat.parts:
            where = "in every block" if part.innermost("repeat") is not None else ""
            site = self.of_site.get(part.index)
            if part.does("relative"):
                where = where or ("shared by the blocks" if self._stacks() else "")
                words.append(f"relative, a bias on the scores, {where}".rstrip(", "))
                at.append(part.path)
                self.covered |= {part.index, *part.readers}
            elif part.does("rotation") and site is not None and site.kind == "attention":
                turned.setdefault(where, []).append(self._side(part, site))
                at.append(part.path)
        for where, sides in turned.items():
            on = [s for s in ("queries", "keys", "values") if s in sides]
            words.append(f"rotary (RoPE) on {joined(on) or 'a part'} {where}".strip())
        text = " + ".join(unique(words))
        return Trait("position", text, text or "no positions", tuple(at), self._where(at))

    def _where(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Paths as a reader is told them: the sub-module, where the block stands in one."""
        site_of = {self.flat.parts[n].path: site for n, site in self.of_site.items()}
        return tuple(
            unique(site_of[p].path if p in site_of and site_of[p].path else p for p in paths)
        )

    def _side(self, rope: Leaf, site: Submodule) -> str:
        """Which side of an attention a rotation turns, by where its result meets the other."""
        inside = set(site.parts)
        todo = [(rope.index, 0)]
        seen: set[tuple[int, int]] = set()
        while todo:
            at = todo.pop(0)
            if at in seen:
                continue
            seen.add(at)
            for reader, number in self.flat.goes_to(*at):
                if reader.index not in inside or reader.does("map"):
                    continue
                if reader.does("product"):
                    name = reader.wires[number].name
                    place = "qkv".index(name) if name in ("q", "k", "v") else number
                    return ("queries", "keys", "values")[min(place, 2)]
                ports = [number] if reader.does("cache") else range(len(reader.node.outputs))
                todo += [(reader.index, port) for port in ports]
        return "keys"

    def embedding(self) -> Trait | None:
        """The tables that tokens are looked up in."""
        found = [p for p in self.flat.parts if p.does("table")]
        if not found:
            return None
        self.covered |= {p.index for p in found}
        words = unique(name_of(p) for p in found)
        tied = [p for p in found if p.node.mark == "tied"]
        text = joined(words)
        if tied:
            text += f" (one table for {joined(p.path for p in found)})"
        key = f"{len(found)} {len(tied)} {text.lower()}"
        return Trait("embedding", key, text, tuple(p.path for p in found))

    def heads(self) -> list[Leaf]:
        """The maps from the stream to scores over a vocabulary."""
        vocabularies = [
            p.node.attrs["vocab"] for p in self.flat.parts
            if p.does("table") and isinstance(p.node.attrs.get("vocab"), Dim)
        ]
        return [
            p for p in self.flat.parts
            if p.index not in self.of_site and (
                p.does("tied") or (p.does("map") and width_of(self.flat.output(p)) in vocabularies)
            )
        ]

    def output_matrix(self) -> Trait | None:
        """Whether the scores over the vocabulary have a matrix of their own."""
        found = self.heads()
        tables = [p for p in self.flat.parts if p.does("table")]
        if not found and not tables:
            return None
        self.covered |= {p.index for p in found}
        if not found:
            return Trait("output matrix", "", "no output matrix")
        own = [p for p in found if not p.does("tied") and p.node.mark != "tied"]
        text = "a matrix of its own (untied)" if own else "the transposed token embedding (tied)"
        if own and len(own) < len(found):
            text = "some tied to the token embedding, some of their own"
        key = text
        if len(found) > 1:
            text, key = f"{len(found)} heads: {text}", f"many {key}"
        return Trait("output matrix", key, text, tuple(p.path for p in found))

    def bias(self) -> list[Trait]:
        """Which maps and norms add a learned vector: in all, then by place as ``bias/PLACE``."""
        places: dict[str, list[str]] = {}
        at: list[str] = []
        biased: list[str] = []
        marked: dict[str, list[str]] = {}
        heads = {p.index for p in self.heads()}
        for part in self.flat.parts:
            attrs = part.node.attrs
            has = is_true(attrs.get("bias")) and is_true(attrs.get("affine", True))
            if not has and not part.does("bias"):
                continue
            site = self.of_site.get(part.index)
            detail = ""
            if part.does("norm"):
                place = "LayerNorm"
            elif site is not None:
                place = "attention" if site.kind == "attention" else "feed-forward"
                if site.kind == "attention":
                    detail = plain(attr(part, "weight")) or part.path.split("/")[-1]
            else:
                place = "output matrix" if part.index in heads else "other maps"
            places.setdefault(place, []).append(detail)
            marked.setdefault(place, []).append(part.path)
            at.append(part.path)
            if not part.does("norm"):
                biased.append(part.path)
        order = ("attention", "feed-forward", "LayerNorm", "output matrix", "other maps")
        words = []
        maps = sum(1 for site in self.sites if site.kind == "attention"
                   for n in site.parts if self.flat.parts[n].does("map"))
        for place in sorted(places, key=order.index):
            details = [d for d in unique(places[place]) if d]
            if len(places[place]) == maps:
                details = []  # all of them: no need to list
            words.append(f"{place} ({', '.join(details)})" if details else place)
        text = joined(words)
        where = self._where(biased)
        key = "; ".join(f"{w.split(' (')[0]} {w.count(',') + 1 if '(' in w else 'all'}"
                        for w in words)
        said = f"biases in {text}" if text else "no biases"
        found = [Trait("bias", key, said, tuple(at), where)]
        for place in order:
            paths = marked.get(place, [])
            count = len(unique(d for d in places.get(place, []) if d)) or bool(paths)
            found.append(
                Trait(f"bias/{place}", str(int(count) or ""), place, tuple(paths),
                      self._where(paths) if place != "LayerNorm" else ())
            )
        return found

    # -- ends -------------------------------------------------------------------------------

    def terminals(self, kind: str) -> Trait:
        """What goes in or comes out, with shapes."""
        words, keys, at = [], [], []
        for part in self.flat.parts:
            if part.op != kind:
                continue
            self.covered.add(part.index)
            ports = part.node.outputs if kind == "input" else part.node.inputs
            shape = str(ports[0].shape) if ports and ports[0].shape is not None else ""
            words.append(f"{plain(part.node.label)} {shape}".strip())
            keys.append(f"{plain(part.node.label).lower()} {shape}".strip())
            at.append(part.path)
            if kind == "output":
                self._cover_end(part)
        return Trait(kind, "; ".join(keys), "; ".join(words), tuple(at))

    def _cover_end(self, output: Leaf) -> None:
        heads = {p.index for p in self.heads()}
        for wire in output.wires:
            part = self.flat.parts[wire.part]
            if part.does("softmax") and any(w.part in heads for w in part.wires):
                self.covered.add(part.index)

    def traits(self) -> dict[str, Trait]:
        """All of the above, by aspect."""
        layout = self.layout()
        found: list[Trait | None] = [
            self.terminals("input"), self.embedding(), self.position(), self.blocks(), layout,
            self.norm(), *(self.ends() if self._residuals else []), *self.bias(),
            self.output_matrix(), self.terminals("output"),
        ]  # fmt: skip
        return {t.aspect: t for t in found if t is not None}


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text
