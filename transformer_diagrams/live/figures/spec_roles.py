"""The parameter figure of any spec: its roles' formulas, traced, with sliders over its sizes.

The formulas are those that `inspect` counts by; the figure only evaluates them elsewhere.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from transformer_diagrams.errors import did_you_mean
from transformer_diagrams.live.figures.parameters import Role, figure_of_roles
from transformer_diagrams.live.model import NOT_SLIDERS, Figure
from transformer_diagrams.live.palette import role_color
from transformer_diagrams.live.slider import Slider
from transformer_diagrams.live.trace import Array, maximum, minimum
from transformer_diagrams.options import ask_error

if TYPE_CHECKING:
    from transformer_diagrams.api import Model
    from transformer_diagrams.dims import Dim
    from transformer_diagrams.dims.conditions import Condition

LABELS = {
    "attention": "attention", "ffn": "feed-forward", "embed_token": "token embedding",
    "embed_position": "position embedding", "embed_segment": "segment embedding",
    "lm_head": "output matrix", "norm": "norms", "task_head": "task head", "router": "router",
}  # fmt: skip
FACTORS = tuple(Fraction(n, 4) for n in (1, 2, 3, 4, 5, 6, 8, 12, 16))
LARGEST = float(2**53)  # whole numbers are exact in floating point up to here


def parameters_of(
    model: Model, config: str | None = None, overrides: Mapping[str, object] | None = None
) -> Figure:
    """`where-parameters-go` for a model, around a config's sizes (default: its first config).

    :raises DiagramError: when a size has no number, when no weight depends on one, or for faults of
        the spec.
    """
    spec = model.spec
    if config is None and spec.configs:
        config = spec.show.config or next(iter(spec.configs))
    given = dict(overrides or {})
    found = model.inspection(config, set=given)
    if found.params.total.missing:
        missing = ", ".join(found.params.total.missing)
        raise ask_error(
            f"'{spec.id}' has no number for {missing}, so there is nothing to begin from",
            did_you_mean("", spec.configs, what="config") or "give one: d_m=512",
        )
    amounts = found.params.by_role
    formulas = {role: amount.formula for role, amount in amounts.items() if amount.number}
    free = sorted(frozenset().union(*(f.free for f in formulas.values())))
    numbers = {name: found.numbers[name] for name in free}
    order = [name for name in spec.dims if name in numbers]
    if not order:
        raise ask_error(
            f"'{spec.id}' has no learned weights, so there is nothing to show"
            if not formulas
            else f"no weight of '{spec.id}' depends on a size, so there is nothing to move"
        )
    taken = [name for name in order if name in NOT_SLIDERS]
    if taken:
        raise ask_error(f"a slider cannot be named '{taken[0]}', as a size of '{spec.id}' is")
    sliders = [_slider(name, spec.dims[name].doc, numbers[name]) for name in order]
    conditions = _conditions(model, found.options, numbers)
    roles = [
        Role(role, LABELS.get(role, role.replace("_", " ")), role_color(role), _kind(role))
        for role in sorted(formulas, key=lambda role: (_RANK.get(role, 9), role))
    ]
    for formula in formulas.values():
        if formula.evaluate(numbers) > LARGEST:
            raise ask_error(f"'{spec.id}' has more weights than a page can count exactly")

    def sizes(p: Mapping[str, Array]) -> Mapping[str, Array]:
        return {name: p[name] for name in order}

    def count(p: Mapping[str, Array]) -> Mapping[str, Array]:
        return {role: traced(formula, sizes(p)) for role, formula in formulas.items()}

    def check(p: Mapping[str, Array]) -> Sequence[tuple[Array, str]]:
        return [(failure(c, sizes(p)), _words(c)) for c in conditions]

    what = f", {config}" if config else ""
    fixed = [f"{k} = {str(v).lower()}" for k, v in found.options.items()]
    options = f" Options: {', '.join(fixed)}." if fixed else ""
    sets = "".join(f" --spec-set {shlex.quote(f'{k}={v}')}" for k, v in given.items())
    return figure_of_roles(
        f"Where the parameters of {spec.title} go",
        f"Weights by role; the sliders begin at {config}." if config else "Weights by role.",
        f"Every learned weight of {spec.title}{what}, by what it is for, counted from the "
        "architecture itself; tied and shared tensors count once, biases count. Sizes that are "
        f"defined by others follow them.{options}",
        sliders,
        roles,
        count,
        check=check,
        made=f"parameters_of(load({_named(model)!r}), {config!r})",
        options=f" --spec {shlex.quote(_named(model))}"
        + (f" --config {shlex.quote(config)}" if config else "")
        + sets,
    )


def _named(model: Model) -> str:
    """How a command names the model: bundled ones by id, others by path."""
    from transformer_diagrams.bundled import bundled_specs

    bundled = bundled_specs().get(model.id)
    same = bundled is not None and model.path is not None and bundled.samefile(model.path)
    return model.id if same else model.label


_RANK = {"embed_token": 0, "embed_position": 1, "embed_segment": 2, "attention": 3, "ffn": 4,
         "router": 5, "norm": 6, "task_head": 7, "lm_head": 8}  # fmt: skip


def _kind(role: str) -> str:
    if role.startswith("embed_"):
        return "embedding"
    return LABELS.get(role, role.replace("_", " "))


def _slider(name: str, doc: str, number: int) -> Slider:
    """Values around ``number``: every one for small counts, simple multiples for large sizes."""
    if number <= 16:
        values = list(range(1, max(2 * number, 4) + 1))
    else:
        values = [int(number * f) for f in FACTORS if (number * f).denominator == 1]
    base, _, below = name.partition("_")
    label = f"{base}_{{{below}}}" if below else base
    if doc and len(doc) <= 30:
        label, doc = f"{doc} {label}", ""
    return Slider(
        name, label, tuple(float(v) for v in values), float(number),
        tuple(f"{v:,}" for v in values), doc,
    )  # fmt: skip


def _conditions(
    model: Model, options: Mapping[str, Any], numbers: Mapping[str, int]
) -> list[Condition]:
    """What `where:` and the definitions demand, in the sliders' sizes alone; sizes without a
    slider are taken at their default or left out."""
    from transformer_diagrams.dims import DimError, parse, parse_condition
    from transformer_diagrams.dims.conditions import Condition

    spec = model.spec
    known: dict[str, Dim | int] = {}
    for dim in spec.dims.values():
        text = dim.value or dim.default
        if dim.name not in numbers and text is not None:
            known[dim.name] = parse(text.value)
    found: dict[str, Condition] = {}

    def put(condition: Condition) -> None:
        for _ in range(len(known) + 1):
            condition = condition.subs(known)
        if condition.free and condition.free <= numbers.keys():
            found.setdefault(str(condition), condition)

    for text in spec.where:
        try:
            put(parse_condition(text.value))
        except DimError:
            continue
    for name in known:
        size = parse(name)
        for _ in range(len(known) + 1):
            size = size.subs(known)
        for top, bottom in size.divisions:
            put(Condition("|", bottom, top))
    return list(found.values())


def _words(condition: Condition) -> str:
    if condition.op == "|":
        return f"{condition.right} must be divisible by {condition.left}"
    sign = {"==": "equal", "!=": "differ from", "<=": "be at most", ">=": "be at least",
            "<": "be below", ">": "be above"}[condition.op]  # fmt: skip
    return f"{condition.left} must {sign} {condition.right}"


# -- formulas, traced

def traced(dim: Dim, sizes: Mapping[str, Array]) -> Array:
    """The value of a formula for traced sizes: whole numbers, exact up to 2^53.

    Each part is a whole numerator over a whole denominator, so nothing is rounded on the way.
    """
    tape = next(iter(sizes.values())).tape
    total: Array | None = None
    for top, bottom in dim.parts:
        value = _sum(top, sizes, tape)
        if bottom.as_int() != 1:
            value = value / _sum(bottom, sizes, tape)
        total = value if total is None else total + value
    return total if total is not None else tape.const(0.0)


def _sum(dim: Dim, sizes: Mapping[str, Array], tape: Any) -> Array:
    if dim.den is not None or dim.divisions:
        return traced(dim, sizes)
    total: Array | None = None
    for mono, coefficient in dim.terms:
        term: Array = tape.const(float(coefficient))
        for factor, exponent in mono:
            base = sizes[factor] if isinstance(factor, str) else _atom(factor, sizes)
            for _ in range(exponent):
                term = term * base
        total = term if total is None else total + term
    return total if total is not None else tape.const(0.0)


def _atom(atom: Any, sizes: Mapping[str, Array]) -> Array:
    args = [traced(arg, sizes) for arg in atom.args]
    if atom.kind == "floor":
        return args[0].floor()
    if atom.kind == "ceil":
        return -((-args[0]).floor())
    if atom.kind == "mod":
        return remainder(args[0], args[1])
    result = args[0]
    for arg in args[1:]:
        result = minimum(result, arg) if atom.kind == "min" else maximum(result, arg)
    return result


def remainder(a: Array, b: Array) -> Array:
    """a modulo b, for whole numbers."""
    return a - (a / b).floor() * b


def failure(condition: Condition, sizes: Mapping[str, Array]) -> Array:
    """1 where the condition does not hold."""
    a, b = traced(condition.left, sizes), traced(condition.right, sizes)
    if condition.op == "|":
        return remainder(b, a) > 0
    return {
        "==": 1 - a.equals(b), "!=": a.equals(b), "<=": a > b, ">=": a < b, "<": a >= b,
        ">": a <= b,
    }[condition.op]  # fmt: skip
