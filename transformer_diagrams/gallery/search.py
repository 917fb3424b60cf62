"""What the search box looks through: one line of lower-case words a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

_WORD = re.compile(r"[\w.+-]+")


def words_of(texts: Iterable[str]) -> str:
    """The different words of some texts in order, lower-case, accents dropped, joined by blanks.

    >>> words_of(["Scaled dot-product attention", "Attention"])
    'scaled dot-product attention'
    """
    found: dict[str, None] = {}
    for text in texts:
        for word in _WORD.findall(fold(text)):
            found.setdefault(word.strip(".-+") or word)
    return " ".join(word for word in found if word)


def fold(text: str) -> str:
    """Lower-case without accents, as the page's script does it too."""
    return "".join(
        c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c)
    )


def of_spec(record: dict[str, Any]) -> str:
    """What an architecture is found by."""
    source = record["source"]
    return words_of(
        [
            record["title"],
            record["id"],
            record["id"].replace("-", " "),
            *record["tags"],
            record["family"],
            source["title"],
            source["authors"],
            source["arxiv"],
            str(source["year"] or ""),
            *record["uses"],
            *(op.replace("_", " ") for op in record["ops"]),
            *(config["name"] for config in record["configs"]),
            record["caption"],
        ]
    )
