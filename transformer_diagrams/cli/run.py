"""`run`: execute a spec in NumPy, block by block."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transformer_diagrams.cli.values import SpecName, config_option, json_option, set_option
from transformer_diagrams.records import dataclass
from transformer_diagrams.streams import dump, say

if TYPE_CHECKING:
    from transformer_diagrams.api import Model


@dataclass(frozen=True, slots=True)
class Told:
    """One output: its shape as derived and as found, and of its finite numbers mean and spread."""

    name: str
    derived: str
    found: tuple[int, ...]
    fits: bool
    mean: float
    spread: float
    finite: int  # how many of its numbers

    def as_json(self) -> dict[str, Any]:
        """Plain data; what is no number is null."""
        mean, spread = (None if math.isnan(x) else x for x in (self.mean, self.spread))
        return {
            "name": self.name, "derived": self.derived, "found": list(self.found),
            "fits": self.fits, "mean": mean, "spread": spread,
            "not_finite": math.prod(self.found) - self.finite,
        }  # fmt: skip


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams run gqa                              small sizes and numbers by chance
  transformer-diagrams run gqa --set d_m=64 --only 'q*'     some blocks alone
  transformer-diagrams run mine.yaml --weights model.safetensors --inputs x.npz --save out.npz
  transformer-diagrams run model/ --inputs io.npz --against io.npz   does it compute the same?

\b
Names are paths: layers[3]/attention/q is an output, layers[3]/attention/q.W a weight, layers[3]
the stream after that turn, counted from 0. In --only, * is anything but a slash, ** anything.
"""
)
@click.argument("spec", metavar="SPEC", type=SpecName())
@config_option
@set_option
@click.option("--weights", metavar="FILE", help="Weights and buffers by name, as .safetensors.")
@click.option("--inputs", metavar="FILE", help="Inputs by name, as .npz; or a block's output.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N",
              help="What is not given is drawn by this number; 0 when not said.")
@click.option("--save", metavar="FILE", help="Write the outputs, and what --only names, as .npz.")
@click.option("--only", metavar="NAME", multiple=True,
              help="Only outputs of this name, or glob (again for more).")
@click.option("--against", metavar="FILE",
              help="Compare with these arrays, as .npz, of the model's own code.")
@click.option("--tol", type=click.FloatRange(0), default=1e-9, metavar="X",
              help="How far they may lie apart; 1e-9 when not said.")
@click.option("--train", is_flag=True, help="The parts that are only there in training.")
@json_option
def run(
    spec: str,
    config: str | None,
    sets: tuple[str, ...],
    weights: str | None,
    inputs: str | None,
    seed: int,
    save: str | None,
    only: tuple[str, ...],
    against: str | None,
    tol: float,
    train: bool,
    as_json: bool,
) -> int:
    """Execute a spec in float64 NumPy, and print each block's shape, mean and spread.

    A model's folder is run on its own weights. Sizes that nothing says are chosen small. Leaves
    with 1 when a shape is not as derived, or an array farther than --tol from that --against it.
    """
    from transformer_diagrams import api
    from transformer_diagrams.extras import need

    need("run", "numpy")
    from transformer_diagrams.run.arrays import Weights, npz, read_npz
    from transformer_diagrams.run.execute import matcher

    model = api.load(spec)
    given = read_npz(inputs) if inputs is not None else None
    if against is not None:
        return _against(model, given or {}, read_npz(against), sets, tol, as_json)
    given = model.fed(given) if given is not None else None
    rows: list[Told] = []
    formulas = model.formulas(config, set=sets)
    shown = matcher(only) if only else lambda name: True
    ran = model.run(
        given,
        Weights(weights) if weights is not None else None,
        config=config, set=sets, seed=seed, taps=only if save is not None else (), train=train,
        watch=_watching(rows, shown, formulas),
    )  # fmt: skip
    if only and not rows:
        from transformer_diagrams.options import ask_error

        names = ", ".join(only)
        raise ask_error(f"no output has the name '{names}'", "without --only all are told")
    if save is not None:
        api.save(Path(save), npz({**ran.taps, **ran.outputs}))
    if as_json:
        say(dump({"id": model.id, "sizes": dict(ran.numbers),
                  "outputs": {name: list(y.shape) for name, y in ran.outputs.items()},
                  "blocks": [row.as_json() for row in rows]}))
    else:
        say(_text(rows, ran.numbers))
    return 0 if all(row.fits for row in rows) else 1


def _against(
    model: Model, inputs: Mapping[str, Any], against: Mapping[str, Any], sets: tuple[str, ...],
    tol: float, as_json: bool,
) -> int:
    """The largest difference of each array; 1 when one is beyond ``tol``, or none has a name."""
    from transformer_diagrams.cli.tables import Datum, Table

    rows = model.parity(inputs, against, set=sets)
    good = [row for row in rows if row.found is not None]
    agree = bool(good) and all(row.difference <= tol for row in good)
    if as_json:
        say(dump({"id": model.id, "tol": tol, "agree": agree,
                  "arrays": [row.as_json() for row in rows]}))
        return 0 if agree else 1
    head = ("array", "in the run", "largest", "difference")
    body = [
        [Datum(text) for text in (row.name, row.found or "", f"{row.largest:.4g}",
                                  f"{row.difference:.2g}{'' if row.difference <= tol else '  !'}")]
        for row in good
    ]
    left = [row.name for row in rows if row.found is None]
    notes = [f"not compared, as nothing of the run is it: {', '.join(left)}"] if left else []
    far = sum(row.difference > tol for row in good)
    notes.append(f"{len(good) - far} of {len(good)} agree to {tol:g}")
    say(Table(head, body, 2, notes).written("text"))
    return 0 if agree else 1


def _watching(
    rows: list[Told], shown: Callable[[str], bool], formulas: Mapping[str, str]
) -> Callable[..., None]:
    """Puts a row down for each output that is to be shown."""
    import numpy as np

    from transformer_diagrams.run.execute import fits
    from transformer_diagrams.run.formulas import bare

    def watch(name: str, shape: Any, value: Any) -> None:
        if not shown(name):
            return
        good = value[np.isfinite(value)].astype(np.float64)
        mean, spread = (good.mean(), good.std()) if good.size else (math.nan, math.nan)
        derived = formulas.get(bare(name), str(shape))
        rows.append(Told(name, derived, value.shape, fits(shape, value.shape), float(mean),
                        float(spread), good.size))

    return watch


def _text(rows: list[Told], numbers: Mapping[str, int]) -> str:
    from transformer_diagrams.cli.tables import Datum, Table

    head = ("block", "derived", "found", "mean", "spread")
    body = []
    for row in rows:
        found = f"{list(row.found)}{'' if row.fits else '  does not fit'}"
        cells = (row.name, row.derived, found, _number(row.mean), _number(row.spread))
        body.append([Datum(cell) for cell in cells])
    lost = [(row.name, math.prod(row.found) - row.finite) for row in rows]
    notes = [f"{name}: {count:,} not finite" for name, count in lost if count]
    if len(notes) > 3:
        notes = [*notes[:3], f"and {len(notes) - 3} more that are not all finite"]
    if numbers:
        notes.insert(0, "  ".join(f"{name}={number}" for name, number in numbers.items()))
    return Table(head, body, 3, notes).written("text")


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"
