"""Executes specs: checked shapes, arrays and weights in, arrays out, in float64 NumPy.

What a spec computes follows from its program alone (`graph`) and from the value rules of its ops.
Everything has a name by its path, as `plan` says.
"""

from transformer_diagrams.run.constants import constants, with_constants
from transformer_diagrams.run.execute import Result, Watch, execute
from transformer_diagrams.run.memory import require as require_memory
from transformer_diagrams.run.prepare import check_names, framed, inputs
from transformer_diagrams.run.sizes import chosen, stated_by
from transformer_diagrams.run.tensors import Named, buffers, drawn, tensors, weights

__all__ = [
    "Named", "Result", "Watch", "buffers", "check_names", "chosen", "constants", "drawn",
    "execute", "framed", "inputs", "require_memory", "stated_by", "tensors", "weights",
    "with_constants",
]  # fmt: skip
