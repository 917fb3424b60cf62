"""Two architectures -> what differs, what is the same, and their numbers side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from transformer_diagrams.count import Inspection
from transformer_diagrams.diff.align import STREAM, PartPairs, pair_parts, pair_sites
from transformer_diagrams.diff.flat import Leaf
from transformer_diagrams.diff.profile import Profile, read
from transformer_diagrams.diff.table import Row, rows, source_words
from transformer_diagrams.diff.traits import Submodule, Trait, is_true, joined, name_of, unique
from transformer_diagrams.graph.ir import Graph
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Spec

NOTATION = "notation"
STRUCTURE = "structure"

# Aspects in the order in which a reader would tell them.
ASPECTS = (
    "blocks", "residual", "norm", "embedding norm", "final norm", "attention", "source", "mask",
    "selection", "position", "qk-norm", "scale", "cache", "projections", "ffn", "experts", "bias",
    "embedding", "output matrix", "input", "output", "module", "part", "setting", "mark",
    "wiring", "written",
)  # fmt: skip
# Those whose agreement is worth a word.
_SAME = (
    "blocks", "residual", "norm", "attention", "source", "mask", "position", "qk-norm", "cache",
    "ffn", "experts", "bias", "embedding", "output matrix", "output",
)  # fmt: skip

# Parts of a site that its traits speak of.
_SPOKEN = {
    "attention": (
        "map", "norm", "rotation", "relative", "form", "product", "rescale", "mask", "softmax",
        "cache", "named", "choice", "pick", "share-heads", "cut-heads", "core",
    ),
    "ffn": (
        "map", "nonlinear", "gated", "gate", "cut", "experts", "router", "experts-sum", "choice",
        "named", "softmax",
    ),
}  # fmt: skip
# Attributes that only name or arrange, and those that traits speak of.
_UNSAID = {
    "weight", "formula", "symbol", "a", "b", "name", "broadcast", "table", "length", "target",
    "source", "bias", "axis",
}  # fmt: skip
_SAID = {
    "attention": {"causal", "window", "kind", "by", "learned", "cap", "grouped", "transpose_b"},
    "ffn": {"kind", "act", "gated", "score"},
}
_HEADS = {"heads", "out"}
_MOST_NAMES = 8

Paths = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs.

    change   replaced | added (only in b) | removed (only in a)
    level    structure, or notation: the same function written in another way
    where    where a reader finds it, in a and in b: paths of sub-modules or blocks
    at       paths of all blocks concerned, of a and of b
    """

    aspect: str
    change: str
    a: str
    b: str
    where: tuple[Paths, Paths]
    at: tuple[Paths, Paths]

    @property
    def level(self) -> str:
        return NOTATION if self.aspect == "written" else STRUCTURE

    def as_json(self) -> dict[str, Any]:
        return {
            "aspect": self.aspect, "change": self.change, "level": self.level,
            "a": {"text": self.a, "where": list(self.where[0]), "blocks": list(self.at[0])},
            "b": {"text": self.b, "where": list(self.where[1]), "blocks": list(self.at[1])},
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Same:
    """One thing that both have."""

    aspect: str
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole answer. ``a`` and ``b`` in it are always the first and the second spec."""

    a: Inspection
    b: Inspection
    source_a: str
    source_b: str
    configs_a: tuple[str, ...]
    configs_b: tuple[str, ...]
    differences: tuple[Difference, ...]
    same: tuple[Same, ...]
    rows: tuple[Row, ...]

    @property
    def equal(self) -> bool:
        """Whether nothing differs: structure, notation, sizes, counts."""
        return not self.differences and all(row.same for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Plain data with stable keys."""

        def side(found: Inspection, source: str) -> dict[str, Any]:
            return {
                "id": found.id, "title": found.title, "config": found.config, "source": source,
                "length": found.length,
            }  # fmt: skip

        return {
            "a": side(self.a, self.source_a),
            "b": side(self.b, self.source_b),
            "equal": self.equal,
            "differences": [d.as_json() for d in self.differences],
            "same": [{"aspect": s.aspect, "text": s.text} for s in self.same],
            "table": [row.as_json() for row in self.rows],
        }


def compare(
    spec_a: Spec,
    spec_b: Spec,
    graphs: tuple[Graph, Graph],
    inspections: tuple[Inspection, Inspection],
) -> Comparison:
    """Compare two specs by their graphs (every `use` opened) and counts.

    Nothing is known of names or families: blocks are told by what they do.
    """
    a, b = (
        read(graph, found.numbers if found.config is not None else {})
        for graph, found in zip(graphs, inspections, strict=True)
    )
    differences, same = _traits(a.traits, b.traits)
    sites = pair_sites(a.sites, b.sites)
    of_sites, same_sites = _sites(a, b, sites.both)
    differences += of_sites
    differences += _alone(a, sites.only_a, 0) + _alone(b, sites.only_b, 1)
    differences += _parts(a, b, pair_parts(a, b, sites))
    differences = _merged(differences)
    order = {aspect: number for number, aspect in enumerate(ASPECTS)}
    differences.sort(key=lambda d: (d.level == NOTATION, order.get(d.aspect, len(order))))
    same = sorted((*same, *same_sites), key=lambda s: order.get(s.aspect, len(order)))
    return Comparison(
        *inspections,
        source_words(spec_a.source),
        source_words(spec_b.source),
        tuple(spec_a.configs),
        tuple(spec_b.configs),
        tuple(differences),
        tuple(same),
        tuple(rows(spec_a, spec_b, *inspections)),
    )


def _traits(a: Mapping[str, Trait], b: Mapping[str, Trait]) -> tuple[list[Difference], list[Same]]:
    differences, same = [], []
    for aspect in dict.fromkeys((*a, *b)):
        left, right = a.get(aspect), b.get(aspect)
        if "/" in aspect:  # a detail of another aspect
            continue
        if left is None or right is None:
            # A module by itself has no stack and no head: then their absence is no news either.
            missing = Trait(aspect, "", "none")
            if (left or right or missing).key:
                differences.append(_difference(left or missing, right or missing))
        elif not left.like(right):
            differences.append(_difference(_narrowed(left, a, b), _narrowed(right, b, a)))
        elif aspect in _SAME and right.key:
            same.append(Same(aspect, left.text.split(":")[0]))
    return differences, same


def _narrowed(trait: Trait, own: Mapping[str, Trait], other: Mapping[str, Trait]) -> Trait:
    """A trait with only those of its places that differ, where it says its places apart."""
    details = [t for name, t in own.items() if name.startswith(f"{trait.aspect}/")]
    changed = [t for t in details if t.key != other[t.aspect].key]
    if not changed:
        return trait
    return replace(
        trait,
        at=tuple(p for t in changed for p in t.at),
        where=tuple(unique(p for t in changed for p in t.where or ())),
    )


def _difference(left: Trait, right: Trait) -> Difference:
    change = "replaced" if left.key and right.key else "removed" if left.key else "added"
    places = (left.places, right.places)
    return Difference(left.aspect, change, left.text, right.text, places, (left.at, right.at))


def _merged(found: Sequence[Difference]) -> list[Difference]:
    """What differs alike in several places, once."""
    alike: dict[tuple[str, str, str], list[Difference]] = {}
    for d in found:
        alike.setdefault((d.aspect, d.a, d.b), []).append(d)

    def every(places: Sequence[tuple[Paths, Paths]]) -> tuple[Paths, Paths]:
        a, b = (tuple(unique(p for pair in places for p in pair[side])) for side in (0, 1))
        return a, b

    return [
        replace(same[0], where=every([d.where for d in same]), at=every([d.at for d in same]))
        for same in alike.values()
    ]


def _of_site(site: Submodule | None, trait: Trait) -> Trait:
    """A trait that a reader finds at its site, where it has one with a name."""
    return trait if site is None else replace(trait, where=(site.path,) if site.path else ())


def _sites(
    a: Profile, b: Profile, pairs: Sequence[tuple[int, int]]
) -> tuple[list[Difference], list[Same]]:
    """Differing traits of paired sites, and those that all pairs share."""
    differences: list[Difference] = []
    agreed: dict[str, dict[str, None]] = {}
    for i, j in pairs:
        left, right = a.sites[i], b.sites[j]
        for aspect, trait in left.traits.items():
            other = right.traits[aspect]
            if not trait.like(other):
                differences.append(_difference(_of_site(left, trait), _of_site(right, other)))
            elif aspect in _SAME and trait.key:
                agreed.setdefault(aspect, {})[trait.text] = None
    broken = {d.aspect for d in differences}
    same = [
        Same(aspect, joined(texts)) for aspect, texts in agreed.items() if aspect not in broken
    ]
    return differences, same


def site_words(site: Submodule) -> str:
    """One site in a few words."""
    if site.kind == "ffn":
        mixture = site.traits["experts"]
        return mixture.text if mixture.key else site.traits["ffn"].text
    mask, source = site.traits["mask"], site.traits["source"]
    kind = "attention from " + source.text if source.key == "two inputs" else source.text
    return f"{mask.text} {kind}" if mask.key else kind


def _alone(profile: Profile, numbers: Sequence[int], side: int) -> list[Difference]:
    """Sites that the other spec has nothing for, in one difference."""
    if not numbers:
        return []
    sites = [profile.sites[n] for n in numbers]
    at = tuple(profile.flat.parts[n].path for site in sites for n in site.parts)
    words = ", ".join(unique(site_words(site) for site in sites))
    where = tuple(unique(site.path for site in sites if site.path))
    here, missing = Trait("module", words, words, at, where), Trait("module", "", "none")
    return [_difference(here, missing) if side == 0 else _difference(missing, here)]


# -- single parts -------------------------------------------------------------------------------


def _parts(a: Profile, b: Profile, contexts: Sequence[PartPairs]) -> list[Difference]:
    partner = {m: n for pairs in contexts for m, n in pairs.both}
    found: list[Difference] = []
    told = {d.aspect for d in _traits(a.traits, b.traits)[0]}
    tables = "embedding" in told
    # With another residual layout nearly every wire ends elsewhere: that has been told.
    moved = bool(told & {"residual", "embedding norm", "final norm"})
    for pairs in contexts:
        left = a.sites[pairs.context[0]] if pairs.context[0] != STREAM else None
        right = b.sites[pairs.context[1]] if pairs.context[1] != STREAM else None
        found += _left_over(a, b, pairs, left, right)
        for m, n in pairs.both:
            if a.flat.parts[m].does("table") and tables:
                continue
            found += _settings(a.flat.parts[m], b.flat.parts[n], left, right)
        if not pairs.only_a and not pairs.only_b and not moved:
            found += _wiring(a, b, pairs, partner)
    return found


def _left_over(
    a: Profile, b: Profile, pairs: PartPairs, left: Submodule | None, right: Submodule | None
) -> list[Difference]:
    """Parts without a partner that no trait has spoken of."""

    def unspoken(profile: Profile, numbers: Sequence[int], site: Submodule | None) -> list[Leaf]:
        parts = [profile.flat.parts[n] for n in numbers]
        if site is not None:
            parts = [
                p for p in parts if not p.does(*_SPOKEN[site.kind]) or p.does("low-rank")
            ]
        return [p for p in parts if p.index not in profile.covered]

    ones, others = unspoken(a, pairs.only_a, left), unspoken(b, pairs.only_b, right)
    if not ones and not others:
        return []
    return [_difference(_left(ones, left), _left(others, right))]


def _left(parts: Sequence[Leaf], site: Submodule | None) -> Trait:
    names = _names(parts)
    trait = Trait("part", names if parts else "", names, tuple(p.path for p in parts))
    return _of_site(site, trait) if site is not None and site.path else trait


def _names(parts: Sequence[Leaf]) -> str:
    names = unique(name_of(p) for p in parts)
    more = len(names) - _MOST_NAMES
    shown = ", ".join(names[:_MOST_NAMES])
    return (f"{shown} and {more} more" if more > 0 else shown) or "none"


def _settings(
    one: Leaf, other: Leaf, left: Submodule | None, right: Submodule | None
) -> list[Difference]:
    """Attributes, marks and times that differ between two parts of the same op."""
    unsaid = set(_UNSAID)
    if left is not None and right is not None:
        unsaid |= _SAID[left.kind]
        if left.traits[left.kind].key != right.traits[right.kind].key:
            unsaid |= _HEADS
    found = []
    for name in dict.fromkeys((*one.node.attrs, *other.node.attrs)):
        if name in unsaid:
            continue
        before, after = one.node.attrs.get(name), other.node.attrs.get(name)
        if str(before) != str(after):
            label = name_of(one) if name_of(one) == name_of(other) else one.op.replace("_", " ")
            texts = f"{label}: {name} {_said(before)}", f"{name} {_said(after)}"
            found.append(_between("setting", one, other, *texts))
    marks = one.node.mark, other.node.mark
    if marks[0] != marks[1] and {*marks} != {"", "tied"}:
        found.append(_between("mark", one, other, *(mark or "no mark" for mark in marks)))
    if one.node.when != other.node.when:
        found.append(_between("mark", one, other, _when(one), _when(other)))
    return found


def _between(aspect: str, one: Leaf, other: Leaf, a: str, b: str) -> Difference:
    """What differs between two parts that stand for each other."""
    return _difference(Trait(aspect, a, a, (one.path,)), Trait(aspect, b, b, (other.path,)))


def _said(value: object) -> str:
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "yes" if is_true(value) else "no"
    return str(value)


def _when(part: Leaf) -> str:
    return {"train": "only in training", "infer": "only at inference"}.get(
        part.node.when, "always"
    )


def _wiring(
    a: Profile, b: Profile, pairs: PartPairs, partner: Mapping[int, int]
) -> list[Difference]:
    """Parts of the same op that read different parts, where all parts have a partner."""
    found = []
    for m, n in pairs.both:
        one, other = a.flat.parts[m], b.flat.parts[n]
        wires_a, wires_b = (*one.wires, *one.earlier), (*other.wires, *other.earlier)
        before = [(partner.get(w.part), w.port, w.mark) for w in wires_a]
        after = [(w.part, w.port, w.mark) for w in wires_b]
        known = all(number is not None for number, _, _ in before)
        if not known or before == after or sorted(map(str, before)) == sorted(map(str, after)):
            continue
        reads_a = joined(_read(a, w.part, w.mark) for w in wires_a) or "nothing"
        reads_b = joined(_read(b, w.part, w.mark) for w in wires_b) or "nothing"
        texts = f"{name_of(one)} reads {reads_a}", f"{name_of(other)} reads {reads_b}"
        found.append(_between("wiring", one, other, *texts))
    return found


def _read(profile: Profile, number: int, mark: str) -> str:
    return profile.flat.parts[number].path + (f" ({mark})" if mark else "")
