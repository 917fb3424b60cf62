"""What is counted: of a model (definitions, JSON, the numbers of whole ones), and of a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from transformer_diagrams.count import cache, flops, params
from transformer_diagrams.docs.markdown import code, codes, table
from transformer_diagrams.layout.score import FAULTS, MEANINGS


def _definitions(_: Path) -> str:
    rows = [[code(f"params.{name}"), text] for name, text in params.DEFINITIONS.items()]
    rows += [[code(f"kv_cache.{name}"), text] for name, text in cache.DEFINITIONS.items()]
    rows += [[code(f"flops.{name}"), text] for name, text in flops.DEFINITIONS.items()]
    return table(["key", "definition"], rows)


def _keys(_: Path) -> str:
    from transformer_diagrams import api

    rows = []
    for name, value in api.load("llama3").inspect("8B").items():
        if isinstance(value, dict) and name in ("params", "kv_cache", "flops"):
            rows += [[code(f"{name}.{inner}"), _kind(v)] for inner, v in value.items()]
        else:
            rows.append([code(name), _kind(value)])
    return table(["key", "value for `llama3`, config `8B`"], rows)


def _kind(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = "null" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
    return code(text) if len(text) < 60 else code(text[:56] + " ...")


# One model a kind of cache or of weights that is counted in its own way.
MODELS: tuple[tuple[str, str], ...] = (
    ("transformer", "base"),
    ("bert", "base"),
    ("gpt2", "small"),
    ("gpt2", "xl"),
    ("llama3", "8B"),
    ("llama3", "70B"),
    ("llama3", "3.1-405B"),
    ("mixtral", "8x7B"),
    ("deepseek-v3", "V3"),
)


def _models(_: Path) -> str:
    from transformer_diagrams import api

    rows = []
    for name, config in MODELS:
        found = api.load(name).inspect(config, length=1024 if name != "bert" else 512)
        length, work = found["flops"]["length"], found["flops"]["forward"]
        rows.append(
            [
                f"{code(name)} {code(config)}",
                f"{found['params']['total']:,}",
                f"{found['params']['active']:,}",
                f"{found['kv_cache']['per_token']:,}",
                f"{work:,} ({length:,})",
            ]
        )
    head = ["model", "parameters", "active per token", "cache a token", "FLOPs (positions)"]
    return table(head, rows)


# What is kept does not grow with every token in each of these.
CACHES = (("gemma3", "27B"), ("gpt-oss", "20b"), ("mistral", "7B"), ("deepseek-v3.2", "V3.2"))
CACHE_LENGTH = 32_768


def _caches(_: Path) -> str:
    from transformer_diagrams import api

    rows = []
    for name, config in CACHES:
        kept = api.load(name).inspect(config, length=CACHE_LENGTH)["kv_cache"]
        keys = ("per_token", "growth", "capped", "total")
        rows.append([f"{code(name)} {code(config)}", *(f"{kept[key]:,}" for key in keys)])
    head = ["model", "per token", "growth", "in windows, at most", f"at {CACHE_LENGTH:,} positions"]
    return table(head, rows)


def _score(_: Path) -> str:
    rows = [[code(key), text, codes(FAULTS.get(key, ()))] for key, text in MEANINGS.items()]
    return table(["key", "what it counts", "rules of its findings"], rows)


PARTS: Mapping[str, Callable[[Path], str]] = {
    "caches": _caches,
    "definitions": _definitions,
    "inspect-keys": _keys,
    "models": _models,
    "score": _score,
}
