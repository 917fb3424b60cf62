"""Text: labels of mixed words and TeX, measured with the outlines they are drawn with."""

from transformer_diagrams.text.judge import Complaint, judge
from transformer_diagrams.text.layout import LEADING, TextLayout, TextLine, measure
from transformer_diagrams.text.markup import plain
from transformer_diagrams.text.wrap import wrap

__all__ = [
    "LEADING", "Complaint", "TextLayout", "TextLine", "judge", "measure", "plain", "wrap",
]  # fmt: skip
