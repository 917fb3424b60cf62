"""`inspect`: parameters, KV cache and FLOPs of an architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from transformer_diagrams.cli.report import Codes
from transformer_diagrams.cli.values import config_option, json_option, set_option, specs_argument
from transformer_diagrams.streams import dump, say

if TYPE_CHECKING:
    from transformer_diagrams.count import Inspection
    from transformer_diagrams.count.amount import Amount
    from transformer_diagrams.count.cache import Layer


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams inspect llama3 --config 8B
  transformer-diagrams inspect gqa --set d_m=4096 --set n_h=32 --set n_g=8
  transformer-diagrams inspect llama3 --config 70B --length 8192 --flops causal --json
"""
)
@specs_argument()
@config_option
@set_option
@click.option(
    "--length",
    type=click.IntRange(min=1),
    metavar="N",
    help="Positions, for the FLOPs and the whole cache.",
)
@click.option(
    "--flops",
    type=click.Choice(["dense", "causal"]),
    default="dense",
    help="What a causal mask saves: nothing (dense), or what it hides (causal).",
)
@json_option
def inspect(
    specs: tuple[str, ...],
    config: str | None,
    sets: tuple[str, ...],
    length: int | None,
    flops: str,
    as_json: bool,
) -> int:
    """Count parameters, KV cache and FLOPs, exactly, with the formulas.

    Without --config and --set the formulas alone are shown, with every size as a symbol.
    """
    from transformer_diagrams.cli.targets import models

    codes = Codes()
    results: list[Any] = []
    chosen = models(specs, codes)
    for model in chosen:

        def one(model: Any = model) -> None:
            if as_json:
                results.append(model.inspect(config, set=sets, length=length, flops=flops))
            else:
                result = model.inspection(config, set=sets, length=length, flops=flops)
                say(text_of(result) + ("\n" if len(chosen) > 1 else ""))

        codes.attempt(one)
    if as_json and results:
        say(dump(results[0] if len(chosen) == 1 else results))
    return codes.code


def text_of(found: Inspection) -> str:
    """The counts as a table for people: numbers where sizes are known, formulas beside them."""
    from transformer_diagrams.count.flops import CONVENTIONS
    from transformer_diagrams.count.flops import DEFINITIONS as FLOPS
    from transformer_diagrams.count.params import DEFINITIONS as PARAMS

    head = f"{found.title} ({found.id})" + (f", config {found.config}" if found.config else "")
    lines = [head]
    if found.numbers:
        lines.append("  " + ", ".join(f"{name} = {n}" for name, n in found.numbers.items()))
    if found.options:
        words = (f"{name} = {str(v).lower()}" for name, v in found.options.items())
        lines.append("  " + ", ".join(words))
    unknown = [name for name in found.missing if name not in found.numbers]
    if unknown:
        lines.append(f"  no number for {', '.join(unknown)}: --config or --set gives one")

    params = found.params
    rows: list[tuple[str, Amount]] = [("total", params.total)]
    rows += [(f"  {role}", amount) for role, amount in params.by_role.items()]
    told = ["total"]
    if params.active.exact != params.total.exact:
        rows.append(("active per token", params.active))
        told.append("active per token")
    if params.frozen.exact.as_int() != 0:
        rows += [("trained", params.trainable), ("frozen", params.frozen)]
        told += ["trained", "frozen"]
    meaning = {
        **PARAMS, "active per token": PARAMS["active"], "trained": PARAMS["trainable"]
    }  # fmt: skip
    lines += ["", "parameters", *table(rows), *(f"  ({name}: {meaning[name]})" for name in told)]
    lines += ["", "KV cache, elements", *cache_lines(found)]
    where = f" of {found.positions} positions" if found.positions else ""
    lines += [
        "",
        f"FLOPs{where}, {found.convention}",
        *table([("forward", found.flops), ("MACs", found.macs)]),
        f"  (forward: {FLOPS['forward']})",
        f"  ({found.convention}: {CONVENTIONS[found.convention]})",
        f"  (MACs: {FLOPS['macs']})",
    ]
    return "\n".join(lines)


def cache_lines(found: Inspection) -> list[str]:
    """What is kept: each kind of growth that there is, and all of it at the length."""
    from transformer_diagrams.count.cache import DEFINITIONS as CACHE

    cached = found.kv_cache
    rows, told = [("per token", cached.per_token)], ["per_token"]
    named = {"per_token": "per token"}

    def more(key: str, name: str, amount: Amount) -> None:
        rows.append((name, amount))
        told.append(key)
        named[key] = name

    if cached.per_layer is not None and cached.per_layer != cached.per_token:
        more("per_layer", "per token and layer", cached.per_layer)
    if cached.capped.exact.as_int() != 0:
        more("growth", "growth per token", cached.growth)
        more("capped", "in windows, at most", cached.capped)
    if cached.per_source_token.exact.as_int() != 0:
        more("per_source_token", "per source token", cached.per_source_token)
    if cached.fixed.exact.as_int() != 0:
        more("fixed", "fixed", cached.fixed)
    if cached.total.exact.as_int() != 0:
        length = None if cached.length is None else cached.length.number
        more("total", f"total at {length} positions" if length else "total", cached.total)
    if len(cached.layers) > 1:
        rows += [(f"  {_layer_name(layer)}", layer.total) for layer in cached.layers]
        told.append("layers")
        named["layers"] = "  indented"
    return [*table(rows), *(f"  ({named[key].strip()}: {CACHE[key]})" for key in told)]


def _layer_name(layer: Layer) -> str:
    """`attention: 50 x 4,096 per token, window 1,024`: how many there are, and what one keeps."""
    keeps = [
        f"{_short(amount)} {words}"
        for amount, words in (
            (layer.elements, "per token"),
            (layer.per_source_token, "per source token"),
            (layer.fixed, "fixed"),
        )
        if amount.exact.as_int() != 0
    ]
    if layer.window is not None:
        keeps.append(f"window {_short(layer.window)}")
    return f"{layer.path or 'here'}: {_short(layer.times)} x {', '.join(keeps)}"


def _short(amount: Amount) -> str:
    return str(amount.formula) if amount.number is None else f"{amount.number:,}"


def table(rows: list[tuple[str, Amount]]) -> list[str]:
    """Name, number (digits in threes) and formula, in columns."""
    cells = [
        (name, "?" if amount.number is None else f"{amount.number:,}", str(amount.formula))
        for name, amount in rows
    ]
    wide = max(len(name) for name, _, _ in cells)
    digits = max(len(number) for _, number, _ in cells)
    return [
        f"  {name:<{wide}}  {number:>{digits}}"
        + (f"  = {formula}" if formula != number.replace(",", "") else "")
        for name, number, formula in cells
    ]
