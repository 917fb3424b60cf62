"""Reads every attention of a graph, written in one step or spelled out in products and softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from transformer_diagrams.diff.flat import Flat, Inlet, Leaf
from transformer_diagrams.diff.traits import (
    NUMBERS,
    Reading,
    Submodule,
    Trait,
    attr,
    heads_of,
    is_true,
    joined,
    kind_of,
    name_of,
    unique,
    width_of,
)
from transformer_diagrams.dims import Dim
from transformer_diagrams.graph.ir import Group
from transformer_diagrams.text import plain

# What may stand between the product of queries and keys and the softmax, and after the softmax.
_SCORES = ("rescale", "sum", "carry", "form", "mask")
_WEIGHTS = ("carry", "form", "cut")


@dataclass(slots=True)
class Core:
    """Where queries, keys and values meet."""

    anchor: int  # the softmax, or the one step
    parts: list[int]  # the products, the softmax and what stands between
    q: list[Inlet] = field(default_factory=list)
    k: list[Inlet] = field(default_factory=list)
    v: list[Inlet] = field(default_factory=list)
    one_step: bool = False
    own: bool = False  # a block that says no more than that it is an attention


def cores(flat: Flat) -> list[Core]:
    """Every place where attention weights are made and used."""
    found = []
    for part in flat.parts:
        if part.does("core"):
            core = Core(part.index, [part.index], one_step=True, own=not part.does("product"))
            for number, wire in enumerate(part.wires):
                side = wire.name if wire.name in ("q", "k", "v") else "qkv"[min(number, 2)]
                if wire.name == "mask":
                    core.parts.append(wire.part)
                else:
                    getattr(core, side).append(wire)
            found.append(core)
        elif part.does("softmax"):
            spelled = _spelled_out(flat, part)
            if spelled is not None:
                found.append(spelled)
    return found


def _spelled_out(flat: Flat, softmax: Leaf) -> Core | None:
    between = flat.before(
        [w.part for w in softmax.wires], lambda p: p.does(*_SCORES) or p.node.role == "mask"
    )
    sources = unique_wires([softmax, *(flat.parts[n] for n in between)])
    scores = [w.part for w in sources if flat.parts[w.part].does("product")]
    after = flat.after([softmax.index], lambda p: p.does(*_WEIGHTS) or p is softmax)
    means = [
        r for n in after for r in flat.parts[n].readers if flat.parts[r].does("product")
    ]
    if not scores or not means:
        return None
    added = [
        w.part
        for w in sources
        if flat.parts[w.part].node.role == "mask" or flat.parts[w.part].does("relative")
    ]
    core = Core(softmax.index, sorted({*between, *scores, *added, *after, *means}))
    for number in sorted(set(scores)):
        wires = flat.parts[number].wires
        core.q += wires[:1]
        core.k += wires[1:2]
    for number in sorted(set(means)):
        core.v += [w for w in flat.parts[number].wires if w.part not in after]
    return core


def unique_wires(parts: Sequence[Leaf]) -> list[Inlet]:
    """The wires into ``parts``, in their order."""
    return [wire for part in parts for wire in part.wires]


def scope_of(part: Leaf, role: str) -> Group | None:
    """The sub-module that ``part`` does its job in.

    The outermost used spec of the role inside the innermost residual; else that residual; else
    the group around it.
    """
    start = 0
    for number, group in enumerate(part.around):
        if group.kind == "residual":
            start = number
    for group in part.around[start:]:
        if group.kind == "use" and group.role == role:
            return group
    residual = part.innermost("residual")
    if residual is not None:
        return residual
    return part.around[-1] if part.around else None


def path_of(flat: Flat, scope: Group | None) -> str:
    """The path of a scope; "" when it is the whole figure."""
    if scope is None or (scope.use == flat.graph.id and scope.path == flat.graph.id):
        return ""
    return scope.path


class _Attention:
    """One site while it is read."""

    def __init__(self, reading: Reading, scope: Group | None, found: Sequence[Core]) -> None:
        self.reading, self.flat, self.scope = reading, reading.flat, scope
        self.cores = found
        self.core_parts = sorted({n for core in found for n in core.parts})
        self.q = [w for core in found for w in core.q]
        self.k = [w for core in found for w in core.k]
        self.v = [w for core in found for w in core.v]
        self.up_q, self.up_k, self.up_v = (self.up(w) for w in (self.q, self.k, self.v))
        if scope is not None and scope.kind == "residual":
            mine = set(self.core_parts) | set(self.up_q) | set(self.up_k) | set(self.up_v)
            mine |= set(self.flat.after(self.core_parts, self.within))
            self.parts = sorted(n for n in mine if not self.is_border(self.flat.parts[n]))
        else:
            self.parts = [p.index for p in self.flat.inside(scope)]

    def is_border(self, part: Leaf) -> bool:
        """The adder and the first norm of a residual are not of the attention in it."""
        if part.path.endswith("/add") and part.does("sum"):
            return True
        around = part.innermost("residual")
        if not part.does("norm") or around is not self.scope:
            return False
        inner = [w for w in part.wires if self.flat.parts[w.part].inside(self.scope)]
        outer = [r for r in part.readers if self.flat.parts[r].does("sum")]
        return not inner or bool(outer)

    def within(self, part: Leaf) -> bool:
        return part.inside(self.scope) and part.op not in ("input", "output")

    def up(self, wires: Sequence[Inlet]) -> list[int]:
        return self.flat.before(wires, self.within)

    def of(self, numbers: Sequence[int], *facts: str) -> list[Leaf]:
        return [self.flat.parts[n] for n in numbers if self.flat.parts[n].does(*facts)]

    def paths(self, numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.flat.parts[n].path for n in numbers)

    def site(self) -> Submodule:
        traits = [
            self.kind(), self.source(), self.mask(), self.selection(), self.scale(), self.norms(),
            self.cache(), self.projections(), self.written(),
        ]  # fmt: skip
        path = path_of(self.flat, self.scope)
        by_aspect = {t.aspect: t for t in traits}
        return Submodule("attention", path, self.scope, tuple(self.parts), by_aspect)

    # -- one answer each --------------------------------------------------------------------

    def kind(self) -> Trait:
        """Multi-head, grouped-query, multi-query, or keys and values out of one latent."""
        blocks = [self.flat.parts[core.anchor] for core in self.cores if core.own]
        if blocks:
            names = joined(name_of(part) for part in blocks)
            return Trait("attention", names.lower(), names, tuple(part.path for part in blocks))
        queries = self.heads(self.q, self.up_q)
        keys = self.heads(self.k, self.up_k)
        at = self.sides()
        core = self.paths([n for n in self.core_parts if self.flat.parts[n].does("product")])
        latent = self.latent()
        if latent is not None:
            shape = width_of(self.flat.output(latent))
            width = f" of width {self.reading.said(shape)}" if shape is not None else ""
            own = ", absorbed" if self.absorbed(latent) else ""
            text = f"latent attention (MLA): keys and values from one latent{width}{own}"
            return Trait("attention", f"latent{own}", text, (*at, *core))
        if queries is None:
            return Trait("attention", "single", "single-head attention", core)
        n_q = self.reading.said(queries)
        if keys is None or self.reading.number(keys) == 1:
            if not self.reading.same(queries, keys or queries) or keys is None:
                text = f"multi-query attention (1 key/value head, {n_q} query heads)"
                return Trait("attention", "multi-query", text, (*at, *core))
            return Trait("attention", "single", "single-head attention", core)
        if self.reading.same(queries, keys):
            text = f"multi-head attention ({n_q} heads)"
            return Trait("attention", "multi-head", text, (*at, *core))
        n_k = self.reading.said(keys)
        text = f"grouped-query attention ({n_k} key/value heads, {n_q} query heads)"
        return Trait("attention", "grouped-query", text, (*at, *core))

    def sides(self) -> tuple[str, ...]:
        """The projections of keys and values."""
        return tuple(p.path for p in self.of(sorted({*self.up_k, *self.up_v}), "map"))

    def heads(self, wires: Sequence[Inlet], up: Sequence[int]) -> Dim | None:
        """The number of heads, before groups are repeated to fit."""
        for part in self.of(up, "share-heads"):
            return heads_of(self.flat.shape(part.wires[0])) if part.wires else None
        found = [heads_of(self.flat.shape(self.unpicked(w))) for w in wires]
        known = [h for h in found if h is not None]
        return known[0] if known else None

    def unpicked(self, wire: Inlet) -> Inlet:
        """The tensor before some of its positions are picked for each query."""
        while self.flat.parts[wire.part].does("pick") and self.flat.parts[wire.part].wires:
            wire = self.flat.parts[wire.part].wires[0]
        return wire

    def latent(self) -> Leaf | None:
        """The projection that keys and values share, when each is more than a cut of it."""
        queries = set(self.up_q)
        both = [n for n in self.up_k if n in set(self.up_v)]
        shared = [p for p in self.of(both, "map") if p.index not in queries]
        if not shared:
            return None
        first = shared[0]
        above = set(self.flat.after([first.index], self.within)) - {first.index}
        further = [
            any(p.index in above for p in self.of(side, "map")) for side in (self.up_k, self.up_v)
        ]
        return first if all(further) or self.absorbed(first) else None

    def absorbed(self, latent: Leaf) -> bool:
        """Whether scores and mean are taken over the latent itself."""
        direct = ("carry", "form", "join", "pick", "cache", "norm")

        def reached(wires: Sequence[Inlet], *facts: str) -> bool:
            def on_the_way(part: Leaf) -> bool:
                return part is latent or (part.does(*facts) and self.within(part))

            return any(latent.index in self.flat.before([w], on_the_way) for w in wires)

        # Keys hold the whole latent, values may leave out what keys have beside it.
        return reached(self.k, *direct) and reached(self.v, *direct, "cut")

    def source(self) -> Trait:
        """Whether queries and keys read the same tensor."""
        queries, keys = self.exits(self.q), self.exits(self.k)
        at = self.sides()
        if not keys or set(keys) <= set(queries) or not queries:
            return Trait("source", "self", "self-attention", at)
        top = [self.flat.parts[n].op == "input" for n in (*queries, *keys)]
        if all(top) and not any(g.kind == "residual" for g in (self.scope,) if g is not None):
            text = (
                f"queries from {self.names(queries)}, keys and values from {self.names(keys)}"
            )
            return Trait("source", "two inputs", text, at)
        return Trait("source", "cross", f"cross-attention to {self.names(keys)}", at)

    def names(self, numbers: Sequence[int]) -> str:
        """What the outer tensors are called: inputs by name, others by what they come out of."""
        found = []
        for number in numbers:
            part = self.flat.parts[number]
            around = part.innermost("repeat")
            inside = around is not None and around.kind and self.scope is not None
            title = plain(around.title) if inside and around is not None else ""
            found.append(f"the output of '{title}'" if title else part.path.split("/")[-1])
        return joined(found)

    def exits(self, wires: Sequence[Inlet]) -> list[int]:
        """The tensors from outside that a side depends on."""
        return self.flat.outside(wires, self.within)

    def mask(self) -> Trait:
        """Who sees whom."""
        causal, window, other = False, "", []
        at = []
        for number in self.core_parts:
            part = self.flat.parts[number]
            kind = attr(part, "kind") if part.does("mask") else ""
            here = True
            if is_true(part.node.attrs.get("causal")) or part.does("causal"):
                causal = True
            elif kind == "causal":
                causal = causal or len(part.wires) < 2
            elif kind and kind != "window":
                other.append(kind)
            elif not kind and not part.does("chosen-mask", "window") and (
                part.node.role == "mask"
            ):
                causal = causal or "causal" in name_of(part)
            else:
                here = False
            # A mask may name a window that its kind does not use.
            if part.node.attrs.get("window") is not None and kind in ("", "window"):
                causal, here = True, True
                size = part.node.attrs["window"]
                window = self.reading.said(size) if isinstance(size, Dim) else str(size)
            if part.does("chosen-mask"):
                other.append("selected positions only")
                here = True
            if here:
                at.append(number)
        words = ["causal"] if causal else []
        words += [f"window of {window}"] if window else []
        words += unique(other)
        where = self.paths(at or [n for n in self.core_parts
                                  if self.flat.parts[n].does("core", "softmax")])
        return Trait("mask", ", ".join(words), ", ".join(words) or "none: sees both sides", where)

    def scale(self) -> Trait:
        """What the scores are multiplied by, and caps on them."""
        words, at = [], []
        for number in self.core_parts:
            part = self.flat.parts[number]
            if part.does("core"):
                width = width_of(self.flat.shape(self.q[0])) if self.q else None
                words.append(f"1/sqrt({width})")
            elif part.does("factor"):
                learned = is_true(part.node.attrs.get("learned"))
                words.append("learned factor" if learned else attr(part, "by"))
            elif part.does("cap"):
                words.append(f"capped at {attr(part, 'cap')}")
            else:
                continue
            at.append(number)
        text = ", ".join(unique(w for w in words if w)) or "not scaled"
        where = self.paths(at or [n for n in self.core_parts
                                  if self.flat.parts[n].does("softmax")])
        key = text
        for size in unique(str(width_of(self.flat.shape(w))) for w in self.q):
            key = key.replace(f"sqrt({size})", "sqrt(width)")
        return Trait("scale", key.replace(" ", ""), text, where)

    def norms(self) -> Trait:
        """Norms on queries and keys, after their projection."""
        words, at = [], []
        for part in self.of(self.parts, "norm"):
            sides = [
                word
                for word, wires in (("queries", self.q), ("keys", self.k), ("values", self.v))
                if self.flows_into(part, wires)
            ]
            above = self.flat.before(part.wires, self.within)
            latent = {"keys", "values"} <= set(sides)
            if sides and not latent and self.of(above, "map"):
                words.append(f"{kind_of(part)} on {joined(sides)}")
            elif latent or (
                part.index in {*self.up_q, *self.up_k, *self.up_v}
                and self.of(above, "map")
                and self.of(self.readers(part), "map")
            ):
                words.append(f"{kind_of(part)} on a latent")
            else:
                continue
            at.append(part.index)
        text = "; ".join(_merged(words))
        return Trait("qk-norm", text, text or "no norm on queries and keys", self.paths(at))

    def readers(self, part: Leaf) -> list[int]:
        return self.flat.after(part.readers, self.within)

    def flows_into(self, part: Leaf, wires: Sequence[Inlet]) -> bool:
        """Whether ``part`` reaches the core without another projection between."""
        seen = self.flat.before(wires, lambda p: self.within(p) and not p.does("map"))
        return part.index in seen

    def selection(self) -> Trait:
        """Whether each query sees only some positions, chosen by scores."""
        chosen = self.of(self.parts, "choice")
        words = [f"the top {attr(p, 'k')} positions for each query, chosen by scores"
                 for p in chosen]
        at = self.of(self.parts, "choice", "pick", "chosen-mask")
        return Trait("selection", "chosen" if chosen else "", joined(words) or "all positions",
                     tuple(p.path for p in at))

    def cache(self) -> Trait:
        """What a token leaves behind for later ones."""
        found = self.of(self.parts, "cache")
        if not found:
            return Trait("cache", "", "no KV cache")
        total: Dim | None = None
        for part in found:
            for wire in part.wires:
                shape = self.flat.shape(wire)
                if shape is None:
                    continue
                axis = part.node.attrs.get("axis", -2)
                number = axis.as_int() if isinstance(axis, Dim) else int(str(axis))
                keep = [d for n, d in enumerate(shape.dims)
                        if n != (number if number is not None else -2) % len(shape.dims)]
                product: Dim | None = None
                for size in keep:
                    product = size if product is None else product * size
                if product is not None:
                    total = product if total is None else total + product
        queries, keys = self.heads(self.q, self.up_q), self.heads(self.k, self.up_k)
        if total is not None and queries is not None and keys is not None:
            name = str(keys)
            if keys != queries and {name} == keys.free and self.reading.same(queries, keys):
                total = total.subs({name: queries})  # as many as query heads: say so alike
        said = str(total) if total is not None else "?"
        text = f"{said} elements a token"
        return Trait("cache", said, text, self.paths([p.index for p in found]))

    def projections(self) -> Trait:
        """The learned maps, by number."""
        found = self.of(self.parts, "map")
        weights = [plain(attr(p, "weight")) or name_of(p) for p in found]
        count = len(found)
        number = NUMBERS[count] if count < len(NUMBERS) else str(count)
        text = f"{number} projection{'s' * (count != 1)}"
        text += f" ({', '.join(weights)})" if weights else ""
        return Trait("projections", str(count), text, self.paths([p.index for p in found]))

    def written(self) -> Trait:
        """How the same thing is written: heads cut from one matrix or apart, one step or many."""
        cut = bool(self.of(self.parts, "cut-heads"))
        apart = bool(self.of(self.parts, "per-head"))
        words = []
        if cut:
            words.append("heads cut from packed projections")
        elif apart:
            words.append("a projection for each head")
        one = all(core.one_step for core in self.cores)
        words.append("softmax(QK)V as one block" if one else "softmax(QK)V step by step")
        text = ", ".join(words)
        return Trait("written", text, text)


def _merged(words: Sequence[str]) -> list[str]:
    """``RMSNorm on queries``, ``RMSNorm on keys`` -> ``RMSNorm on queries and keys``."""
    by_norm: dict[str, list[str]] = {}
    for word in words:
        norm, _, side = word.partition(" on ")
        by_norm.setdefault(norm, []).append(side)
    return [f"{norm} on {joined(sides)}" for norm, sides in by_norm.items()]


def read_attention(reading: Reading) -> list[Submodule]:
    """Every attention of a graph; several cores in one sub-module are one site."""
    groups: dict[str, tuple[Group | None, list[Core]]] = {}
    for core in cores(reading.flat):
        scope = scope_of(reading.flat.parts[core.anchor], "attention")
        key = scope.path if scope is not None else ""
        groups.setdefault(key, (scope, []))[1].append(core)
    return [_Attention(reading, scope, found).site() for scope, found in groups.values()]
