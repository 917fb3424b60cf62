"""The gallery: a static site of plain files, with a page for every architecture and text.

>>> from transformer_diagrams.gallery.site import build  # doctest: +SKIP
>>> build("site")                                        # doctest: +SKIP
"""

from __future__ import annotations
