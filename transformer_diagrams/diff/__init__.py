"""How two architectures differ: read from their graphs, said in words, JSON and one figure."""

from transformer_diagrams.diff.compare import Comparison, Difference, compare
from transformer_diagrams.diff.figure import side_by_side
from transformer_diagrams.diff.words import text_of

__all__ = ["Comparison", "Difference", "compare", "side_by_side", "text_of"]
