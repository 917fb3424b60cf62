"""What an architecture costs: parameters, KV cache, FLOPs, as formulas and as numbers."""

from transformer_diagrams.count.inspect import Inspection, inspect

__all__ = ["Inspection", "inspect"]
