"""Forward work. One multiply-add is two FLOPs; both products of attention count.

A lookup in a table is no work. Shared weights are free to keep, not to use, so they count here
each time they are used. A bank of experts counts the chosen ones. Parts that exist only in
training are left out, except of a training pass.
"""

from __future__ import annotations

DENSE, CAUSAL, TRAIN = "dense", "causal", "train"
CONVENTIONS = {
    DENSE: "a mask that is only causal saves no work: every pair of positions counts; a window, a "
    "chunk or a pick does",
    CAUSAL: "under a causal mask, only the pairs count that it leaves",
    TRAIN: "a training pass: forward as in dense, with what is there in training alone and without "
    "what is there at inference alone, and backward twice that, since each product has a gradient "
    "by either factor; nothing is saved for frozen weights, nothing is computed again",
}
PASSES = {DENSE: 1, CAUSAL: 1, TRAIN: 3}
DEFINITIONS = {
    "forward": "operations of one forward pass over one sequence of this length; a multiply-add "
    "is 2 FLOPs; attention products included, of windows, chunks and picked positions what they "
    "leave; training-only parts left out",
    "macs": "multiply-adds of the matrix products alone: linear maps, convolutions, attention, "
    "experts; each is 1 MAC, and 2 of the FLOPs above",
}
UNIT = "FLOPs (a multiply-add is 2)"
DEFAULT_LENGTH = 1024
