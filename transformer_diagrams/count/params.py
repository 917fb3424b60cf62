"""Learned weights: all, by role, active per token, trained, frozen and averaged.

Conventions: a tensor counts once however many blocks use it (`share`, tied tables); biases
count; buffers do not; a repeat counts its weights once a turn unless they are `once`; copies
count each. A bank of N experts of which a token meets K counts fully in the total and K/N in
the active weights. Frozen weights and averaged copies (`mark: ema`) count, but are not trained;
what is frozen inside an averaged copy is part of the copy.
"""

from __future__ import annotations

from transformer_diagrams.count.amount import Amount, Amounts
from transformer_diagrams.count.tally import ZERO, Tally
from transformer_diagrams.dims import Dim
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Spec

OTHER = "other"


@dataclass(frozen=True, slots=True)
class Params:
    """Numbers of weights. ``by_role`` is sorted by name and adds up to ``total``."""

    total: Amount
    active: Amount
    trainable: Amount
    frozen: Amount
    averaged: Amount
    by_role: dict[str, Amount]


DEFINITIONS = {
    "total": "every learned weight once: tied and shared tensors once, biases included, buffers "
    "not, repeats counted each turn",
    "by_role": "the total, split by what the weights are for; norms and embeddings wherever "
    "they stand",
    "active": "the total, with K/N of each bank of experts of which a token meets K of N; "
    "embedding and head included",
    "trainable": "the total without weights marked frozen and without averaged copies (ema)",
    "frozen": "weights marked frozen, outside of averaged copies",
    "averaged": "copies that follow others as a moving average (ema)",
}


def count_params(spec: Spec, tally: Tally, evaluate: Amounts) -> Params:
    """Sum the weights of ``tally``; what no block claims has the role of the spec, or `other`."""
    total, active, frozen, averaged = ZERO, ZERO, ZERO, ZERO
    by_role: dict[str, Dim] = {}
    for key, (params, share) in tally.weights.items():
        role = key.role or spec.counts_as or spec.role or OTHER
        by_role[role] = by_role.get(role, ZERO) + params
        total, active = total + params, active + share
        if key.mark == "frozen":
            frozen = frozen + params
        elif key.mark == "ema":
            averaged = averaged + params
    return Params(
        evaluate(total),
        evaluate(active),
        evaluate(total - frozen - averaged),
        evaluate(frozen),
        evaluate(averaged),
        {role: evaluate(by_role[role]) for role in sorted(by_role)},
    )
