"""Executes specs: checked shapes, arrays and weights in, arrays out, in float64 NumPy.

What a spec computes follows from its program alone (`graph`) and from the value rules of its ops.
Everything has a name by its path, as `plan` says.
"""

from transformer_diagrams.run.execute import Result, execute
from transformer_diagrams.run.prepare import check_names, framed, inputs
from transformer_diagrams.run.tensors import Named, buffers, weights

__all__ = [
    "Named", "Result", "buffers", "check_names", "execute", "framed", "inputs", "weights",
]  # fmt: skip
