"""Forward work. One multiply-add is two FLOPs; both products of attention count.

A lookup in a table is no work. Shared weights are free to keep, not to use, so they count here
each time they are used. A bank of experts counts the chosen ones. Parts that exist only in
training are left out.
"""

from __future__ import annotations

from transformer_diagrams.count.amount import Amount, Evaluator
from transformer_diagrams.count.tally import Tally

DEFINITION = (
    "operations of one forward pass over one sequence of this length; a multiply-add is 2 FLOPs; "
    "attention products included; training-only parts left out"
)
DEFAULT_LENGTH = 1024
LENGTHS = ("d_t", "d_s")  # sizes that are a number of positions, unless a setting fixes them


def count_flops(tally: Tally, evaluate: Evaluator) -> Amount:
    """FLOPs of one forward pass."""
    return evaluate(tally.flops)
