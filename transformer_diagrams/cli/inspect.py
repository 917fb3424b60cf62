"""`inspect`: parameters, KV cache and FLOPs of an architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from transformer_diagrams.cli.report import Codes, dump
from transformer_diagrams.cli.values import config_option, json_option, set_option, specs_argument

if TYPE_CHECKING:
    from transformer_diagrams.count import Inspection
    from transformer_diagrams.count.amount import Amount


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams inspect llama3 --config 8B
  transformer-diagrams inspect gqa --set d_m=4096 --set n_h=32 --set n_g=8
  transformer-diagrams inspect llama3 --config 70B --length 8192 --json
"""
)
@specs_argument()
@config_option
@set_option
@click.option("--length", type=click.IntRange(min=1), metavar="N", help="Positions, for the FLOPs.")
@json_option
def inspect(
    specs: tuple[str, ...],
    config: str | None,
    sets: tuple[str, ...],
    length: int | None,
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
                results.append(model.inspect(config, set=sets, length=length))
            else:
                result = model.inspection(config, set=sets, length=length)
                click.echo(text_of(result) + ("\n" if len(chosen) > 1 else ""))

        codes.attempt(one)
    if as_json and results:
        click.echo(dump(results[0] if len(chosen) == 1 else results))
    return codes.code


def text_of(found: Inspection) -> str:
    """The counts as a table for people: numbers where sizes are known, formulas beside them."""
    from transformer_diagrams.count.cache import DEFINITIONS as CACHE
    from transformer_diagrams.count.flops import DEFINITION as FLOPS
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
    if params.active.exact != params.total.exact:
        rows.append(("active per token", params.active))
    if params.frozen.exact.as_int() != 0:
        rows += [("trained", params.trainable), ("frozen", params.frozen)]
    notes = [f"total: {PARAMS['total']}"]
    notes += [f"active: {PARAMS['active']}"] if len(rows) > 1 + len(params.by_role) else []
    lines += ["", "parameters", *table(rows), *(f"  ({note})" for note in notes)]

    cached = found.kv_cache
    rows = [("per token", cached.per_token)]
    if cached.per_layer is not None and cached.per_layer != cached.per_token:
        rows.append(("per token and layer", cached.per_layer))
    elif cached.per_layer is None:
        rows += [(f"  {layer.path}", layer.elements) for layer in cached.layers]
    lines += ["", "KV cache, elements", *table(rows), f"  (per token: {CACHE['per_token']})"]

    length = found.length or found.numbers.get("d_t")
    where = f" of {length} positions" if length else ""
    lines += ["", f"FLOPs{where}", *table([("forward", found.flops)]), f"  ({FLOPS})"]
    return "\n".join(lines)


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
