"""Reads every feed-forward network of a graph: plain, gated, or a mixture of experts."""

from __future__ import annotations

from collections.abc import Sequence

from transformer_diagrams.diff.attention import path_of, scope_of
from transformer_diagrams.diff.flat import Flat, Leaf, facts_of
from transformer_diagrams.diff.traits import (
    NUMBERS,
    Reading,
    Submodule,
    Trait,
    attr,
    function_of,
    is_true,
    joined,
    unique,
)
from transformer_diagrams.dims import Dim
from transformer_diagrams.graph.ir import Group
from transformer_diagrams.ops.elementwise import gated_name

# What may stand between a projection, its activation and the next projection.
_AROUND = ("gate", "cut", "rescale", "carry", "sum", "gated", "nonlinear")


def read_ffn(reading: Reading, taken: Sequence[int]) -> list[Submodule]:
    """Every feed-forward network; ``taken`` are the parts of attentions."""
    flat = reading.flat
    blocked = set(taken)
    scopes: dict[str, Group] = {}
    for part in flat.parts:
        if part.index in blocked or not part.does("nonlinear", "gated", "experts"):
            continue
        scope = scope_of(part, "ffn")
        if scope is None or not (scope.kind == "residual" or scope.role == "ffn"):
            continue
        if not part.does("experts") and not _between_projections(flat, part, scope):
            continue
        scopes.setdefault(scope.path, scope)
    return [_site(reading, scope, blocked) for scope in scopes.values()]


def _between_projections(flat: Flat, part: Leaf, scope: Group) -> bool:
    def around(each: Leaf) -> bool:
        return each.inside(scope) and (each is part or each.does(*_AROUND))

    before = flat.before([part.index], around)
    after = flat.after([part.index], around)
    comes = any(flat.parts[w.part].does("map") for n in before for w in flat.parts[n].wires)
    goes = any(flat.parts[r].does("map") for n in after for r in flat.parts[n].readers)
    return comes and goes


def _site(reading: Reading, scope: Group, blocked: set[int]) -> Submodule:
    flat = reading.flat
    parts = [p for p in flat.inside(scope) if p.index not in blocked]
    if scope.kind == "residual":  # written without a sub-module: take what its maps reach
        parts = [p for p in parts if p.does("map", *_AROUND, "experts", "router", "experts-sum")
                 and not (p.does("sum") and p.path.endswith("/add"))]
    traits = [_kind(reading, parts, scope), *_mixture(reading, parts, scope)]
    by_aspect = {t.aspect: t for t in traits}
    return Submodule("ffn", path_of(flat, scope), scope, tuple(p.index for p in parts), by_aspect)


def _kind(reading: Reading, parts: Sequence[Leaf], scope: Group) -> Trait:
    """Activation, gate, and how many matrices."""
    flat = reading.flat
    inside = {p.index for p in parts}
    linears = [p for p in parts if p.does("map")]
    names, at = [], [p.path for p in linears]
    gated = False
    for part in parts:
        if part.does("gated"):
            gated = True
        elif part.does("nonlinear") and _between_projections(flat, part, scope):
            gated_here = any(
                flat.parts[n].does("gate")
                for n in flat.after(
                    part.readers,
                    lambda p: p.index in inside and not p.does("map"),
                )
            )
            gated = gated or gated_here
            if "carry" in facts_of(attr(part, "kind")):  # it bends nothing
                continue
        elif part.does("experts"):
            gated = gated or is_true(part.node.attrs.get("gated"))
        else:
            continue
        at.append(part.path)
        names.append(function_of(part))
    if gated:
        at += [p.path for p in parts if p.does("gate")]
        what = joined(gated_name(n) or f"gated {n}" for n in unique(names))
        key = f"gated {','.join(unique(names))}"
    else:
        what = f"{joined(unique(names))} FFN"
        key = ",".join(unique(names))
    banks = any(p.does("experts") for p in parts)
    count = len(linears)
    if not banks:
        number = NUMBERS[count] if count < len(NUMBERS) else str(count)
        what += f" with {number} {'matrix' if count == 1 else 'matrices'}"
        key += f" {count}"
    return Trait("ffn", key, what, tuple(at))


def _mixture(reading: Reading, parts: Sequence[Leaf], scope: Group) -> list[Trait]:
    """Experts and their router, where there are any."""
    banks = [p for p in parts if p.does("experts")]
    routers = [p for p in parts if p.does("router")]
    if not banks:
        return [Trait("experts", "", "one network for all tokens",
                      tuple(p.path for p in parts if p.does("map")))]
    words = []
    for bank in banks:
        count, chosen = bank.node.attrs.get("experts"), bank.node.attrs.get("top_k")
        said = [reading.said(d) if isinstance(d, Dim) else str(d) for d in (count, chosen)]
        words.append(f"{said[1]} of {said[0]} experts a token")
    bent = any(
        p.does("nonlinear", "gated") and _between_projections(reading.flat, p, scope) for p in parts
    )
    shared = [p for p in parts if p.does("map")] if bent else []
    if shared:
        words.append("shared experts beside them")
    for router in routers:
        words.append(f"{attr(router, 'score')} scores")
    if not routers:
        words += _scores(reading, parts)
    text = ", ".join(unique(words))
    key = ", ".join(["experts", *(w for w in unique(words) if "experts a token" not in w)])
    return [Trait("experts", key, text, tuple(p.path for p in (*banks, *routers, *shared)))]


def _scores(reading: Reading, parts: Sequence[Leaf]) -> list[str]:
    """How a router that is spelled out makes its scores: before or after the choice."""
    choices = [p.index for p in parts if p.does("choice")]
    after = set(reading.flat.after(choices))
    inside = {p.index for p in parts}
    words = []
    for part in parts:
        name = function_of(part)
        if not part.does("softmax", "nonlinear") or not choices:
            continue
        if part.index in after:
            words.append(f"{name} after the choice")
        elif set(reading.flat.after([part.index])) & set(choices) & inside:
            words.append(f"{name} scores")
    return words
