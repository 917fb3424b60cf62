"""The figures of a checkout: the one at the top of the README, and all of them by family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from transformer_diagrams.docs.markdown import table

TOP = "llama3"
HIGH = 150  # pixels of a small picture

# Families whose name is not just the word with a capital.
NAMES: Mapping[str, str] = {
    "": "Others",
    "bert": "BERT",
    "blip2": "BLIP-2",
    "clip": "CLIP",
    "clm": "CLM",
    "deepseek": "DeepSeek",
    "detr": "DETR",
    "eagle": "EAGLE",
    "ffn": "Feed-forward networks",
    "glm": "GLM",
    "gpt-oss": "gpt-oss",
    "gpt2": "GPT-2",
    "llava": "LLaVA",
    "moe": "Mixtures of experts",
    "mtp": "Multi-token prediction",
    "olmo": "OLMo",
    "position": "Positions",
    "resnet": "ResNet",
    "stablelm": "StableLM",
    "vit": "ViT",
}


def _top(root: Path) -> str:
    light, dark = f"diagrams/{TOP}.svg", f"diagrams/dark/{TOP}.svg"
    image = f'<img alt="Llama 3, drawn from its spec" src="{light}" height="560">'
    if not (root / dark).is_file():
        return f'<p align="center">{image}</p>\n'
    return (
        '<p align="center"><picture>\n'
        f'  <source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
        f"  {image}\n</picture></p>\n"
    )


def rows() -> list[dict[str, Any]]:
    """What `list --order --json` says of every spec."""
    from transformer_diagrams import api

    return api.reading_order([api.load(name).summary() for name in api.bundled_ids()])


def _gallery(_: Path) -> str:
    families: dict[str, list[dict[str, Any]]] = {}
    for row in rows():
        families.setdefault(row["family"], []).append(row)
    cells = []
    for family, inside in families.items():
        name = NAMES.get(family, family[:1].upper() + family[1:])
        cells.append(
            [
                f"**{escape(name)}**<br>" + "<br>".join(map(_line, inside)),
                " ".join(map(_picture, inside)),
            ]
        )
    return table(["figure", ""], cells)


def _line(row: Mapping[str, Any]) -> str:
    source = row["source"]
    year = str(source["year"] or "")
    if source["arxiv"]:
        year = f"[{year or 'arXiv'}](https://arxiv.org/abs/{quote(source['arxiv'], safe='/')})"
    return f"[{escape(row['title'])}]({_file(row)})" + (f" ({year})" if year else "")


def _picture(row: Mapping[str, Any]) -> str:
    title = escape(row["title"])
    return (
        f'<a href="{_file(row)}">'
        f'<img src="{_file(row)}" alt="{title}" title="{title}" height="{HIGH}"></a>'
    )


def _file(row: Mapping[str, Any]) -> str:
    return f"diagrams/{quote(row['id'])}.svg"


PARTS: Mapping[str, Callable[[Path], str]] = {"figure": _top, "gallery": _gallery}
