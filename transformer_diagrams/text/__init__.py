"""Text: labels of mixed words and TeX, measured with the outlines they are drawn with."""

from transformer_diagrams.text.layout import LEADING, TextLayout, TextLine, measure
from transformer_diagrams.text.markup import plain
from transformer_diagrams.text.wrap import wrap

__all__ = ["LEADING", "TextLayout", "TextLine", "measure", "plain", "wrap"]
