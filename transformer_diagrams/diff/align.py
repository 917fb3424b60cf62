"""What of one architecture stands for what of another: sites first, then single parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from difflib import SequenceMatcher

from transformer_diagrams.diff.flat import Leaf
from transformer_diagrams.diff.profile import Profile
from transformer_diagrams.diff.traits import Submodule
from transformer_diagrams.records import dataclass

STREAM = -1  # context of parts outside of all sites


@dataclass(frozen=True, slots=True)
class SitePairs:
    """``both`` are pairs of indices into the two lists of sites; the rest is alone."""

    both: tuple[tuple[int, int], ...]
    only_a: tuple[int, ...]
    only_b: tuple[int, ...]


@dataclass(slots=True)
class PartPairs:
    """Parts of one context (a pair of sites, or the stream) that stand for each other."""

    context: tuple[int, int]
    both: list[tuple[int, int]] = field(default_factory=list)
    only_a: list[int] = field(default_factory=list)
    only_b: list[int] = field(default_factory=list)


def pair_sites(a: Sequence[Submodule], b: Sequence[Submodule]) -> SitePairs:
    """The pairing in order with the most in common; sites of different kinds never pair."""
    best: list[list[int]] = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1])
            score = likeness(a[i], b[j])
            if score:
                best[i][j] = max(best[i][j], best[i + 1][j + 1] + score)
    both, only_a, only_b = [], [], []
    i = j = 0
    while i < len(a) and j < len(b):
        score = likeness(a[i], b[j])
        if score and best[i][j] == best[i + 1][j + 1] + score:
            both.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            only_a.append(i)
            i += 1
        else:
            only_b.append(j)
            j += 1
    only_a += range(i, len(a))
    only_b += range(j, len(b))
    return SitePairs(tuple(both), tuple(only_a), tuple(only_b))


def likeness(a: Submodule, b: Submodule) -> int:
    """How much two sites have in common; 0 when they do different jobs."""
    if a.kind != b.kind:
        return 0
    # What an attention reads and who sees whom says more of its job than how it is built.
    weights = {"source": 8, "mask": 4}
    score = 4 + sum(
        weights.get(aspect, 1)
        for aspect, trait in a.traits.items()
        if aspect in b.traits and b.traits[aspect].key == trait.key
    )
    return score + (a.path.split("/")[-1] == b.path.split("/")[-1])


def pair_parts(a: Profile, b: Profile, sites: SitePairs) -> list[PartPairs]:
    """Parts that stand for each other, context by context.

    First backward along the wires from what comes out: equal graphs pair completely in whatever
    order they are written. What is left pairs by order.
    """
    context_a, context_b = _contexts(a), _contexts(b)
    partner = dict(sites.both)
    partner[STREAM] = STREAM
    paired: dict[int, int] = {}
    taken: set[int] = set()

    def walk(todo: list[tuple[int, int]]) -> None:
        while todo:
            m, n = todo.pop(0)
            left, right = a.flat.parts[m], b.flat.parts[n]
            if m in paired or n in taken or left.op != right.op:
                continue
            if partner.get(context_a[m]) != context_b[n]:
                continue
            paired[m] = n
            taken.add(n)
            named = {w.name: w.part for w in right.wires}
            by_name = len(named) == len(right.wires) and all(w.name in named for w in left.wires)
            for number, wire in enumerate(left.wires):
                if by_name:
                    todo.append((wire.part, named[wire.name]))
                elif number < len(right.wires):
                    todo.append((wire.part, right.wires[number].part))

    walk(_ends(a, b))
    for i, j in sites.both:  # what a change downstream has kept from being reached
        walk(list(zip(_exits(a, a.sites[i]), _exits(b, b.sites[j]), strict=False)))
    found = []
    for i, j in [(STREAM, STREAM), *sites.both]:
        of_a = [p for p in a.flat.parts if context_a[p.index] == i]
        of_b = [p for p in b.flat.parts if context_b[p.index] == j]
        found.append(_rest((i, j), of_a, of_b, paired, taken))
    return found


def _rest(
    context: tuple[int, int],
    of_a: Sequence[Leaf],
    of_b: Sequence[Leaf],
    paired: dict[int, int],
    taken: set[int],
) -> PartPairs:
    pairs = PartPairs(context)
    pairs.both = [(p.index, paired[p.index]) for p in of_a if p.index in paired]
    rest_a = [p for p in of_a if p.index not in paired]
    rest_b = [p for p in of_b if p.index not in taken]
    matcher = SequenceMatcher(None, _kinds(rest_a), _kinds(rest_b), autojunk=False)
    lone_a, lone_b = {p.index for p in rest_a}, {p.index for p in rest_b}
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            m, n = rest_a[block.a + step].index, rest_b[block.b + step].index
            pairs.both.append((m, n))
            lone_a.discard(m)
            lone_b.discard(n)
    pairs.both.sort()
    pairs.only_a, pairs.only_b = sorted(lone_a), sorted(lone_b)
    return pairs


def _kinds(parts: Sequence[Leaf]) -> list[tuple[str, bool]]:
    """What a part must share with its partner: the op, and whether it stands in a stack."""
    return [(p.op, p.innermost("repeat") is not None) for p in parts]


def _exits(profile: Profile, site: Submodule) -> list[int]:
    """The parts of a site that something outside of it reads."""
    inside = set(site.parts)
    parts = profile.flat.parts
    return [n for n in site.parts if not inside.issuperset(parts[n].readers)]


def _contexts(profile: Profile) -> dict[int, int]:
    """Leaf -> number of its site, or STREAM."""
    found = {part.index: STREAM for part in profile.flat.parts}
    for number, site in enumerate(profile.sites):
        found.update(dict.fromkeys(site.parts, number))
    return found


def _ends(a: Profile, b: Profile) -> list[tuple[int, int]]:
    """What comes out of both: outputs by name, else in order; else what nothing reads."""

    def outs(profile: Profile) -> list[Leaf]:
        return [p for p in profile.flat.parts if p.op == "output"]

    def last(profile: Profile) -> list[Leaf]:
        return [p for p in profile.flat.parts if not p.readers and p.op != "output"]

    of_a, of_b = outs(a), outs(b)
    names = {p.path.split("/")[-1]: p for p in of_b}
    if of_a and all(p.path.split("/")[-1] in names for p in of_a):
        return [(p.index, names[p.path.split("/")[-1]].index) for p in of_a]
    ends = list(zip(of_a, of_b, strict=False)) or list(zip(last(a), last(b), strict=False))
    return [(p.index, q.index) for p, q in ends]
