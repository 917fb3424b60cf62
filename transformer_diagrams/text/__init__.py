"""Text: labels of mixed words and TeX, measured with the outlines they are drawn with."""

from transformer_diagrams.text.fonts import Typeface, typeface
from transformer_diagrams.text.judge import Complaint, judge
from transformer_diagrams.text.layout import (
    LEADING,
    PlacedPiece,
    TextLayout,
    TextLine,
    measure,
    spots,
)
from transformer_diagrams.text.markup import plain
from transformer_diagrams.text.wrap import wrap

__all__ = [
    "LEADING", "Complaint", "PlacedPiece", "TextLayout", "TextLine", "Typeface", "judge", "measure",
    "plain", "spots", "typeface", "wrap",
]  # fmt: skip
