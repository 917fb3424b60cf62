"""`prove`: measure what a spec claims to equal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from transformer_diagrams.cli.values import json_option, specs_argument
from transformer_diagrams.streams import dump, say

if TYPE_CHECKING:
    from transformer_diagrams.api import Model
    from transformer_diagrams.run.claims import Proof


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams prove gqa                 its claims, one a line, each under five sizes
  transformer-diagrams prove gqa mla --tries 20
  transformer-diagrams prove mine.yaml --json
"""
)
@specs_argument()
@click.option("--tries", type=click.IntRange(1, 1000), default=5, metavar="N",
              help="Choices of sizes, each with its own numbers; 5 when not said.")
@click.option("--tol", type=click.FloatRange(min=0), default=1e-9, metavar="X",
              help="Most difference, in shares of the largest number above 1; 1e-9 when not said.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N",
              help="Sizes and numbers are drawn by this number; 0 when not said.")
@json_option
def prove(specs: tuple[str, ...], tries: int, tol: float, seed: int, as_json: bool) -> int:
    """Run specs and what their `equals:` names on the same numbers, and print the differences.

    Sizes are chosen by chance so that they keep `where`. Leaves with 1 when one is above --tol.
    """
    from transformer_diagrams.cli.report import Codes
    from transformer_diagrams.cli.tables import Datum, Table
    from transformer_diagrams.cli.targets import models

    codes = Codes()
    found: list[Proof] = []

    def measure(model: Model) -> None:
        if not model.spec.equals:
            say(f"{model.id} claims nothing: it has no 'equals:'", err=True)
        found.extend(model.prove(seed=seed, tries=tries))

    for model in models(specs, codes):
        codes.attempt(measure, model)
    if as_json:
        say(dump([{**proof.as_json(), "holds": proof.holds(tol)} for proof in found]))
    elif found:
        rows = [[Datum(cell) for cell in _row(proof, tol)] for proof in found]
        head = ("spec", "equals", "given", "", "difference", "sizes tried")
        say(Table(head, rows, 4).written("text"))
    codes.worst(0 if all(proof.holds(tol) for proof in found) else 1)
    return codes.code


def _row(proof: Proof, tol: float) -> tuple[str, ...]:
    given, bound = (
        ", ".join(f"{name} = {value}" for name, value in proof.given(other=other).items())
        for other in (False, True)
    )
    equals = proof.claim.spec.value + (f" with {bound}" if bound else "")
    verdict = "holds" if proof.holds(tol) else "FAILS"
    gap = "not a number" if math.isnan(proof.difference) else f"{proof.difference:.1e}"
    return (proof.spec, equals, given, verdict, gap, str(len(proof.sizes)))
