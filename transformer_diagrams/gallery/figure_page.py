"""The page of one architecture: figure, sizes, configurations, source, files, neighbours."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from transformer_diagrams.gallery import picture
from transformer_diagrams.gallery.pages import Site, figure_file, page
from transformer_diagrams.gallery.record import Record, spec_id
from transformer_diagrams.gallery.yaml_html import highlight

ROOT = "../"
FILES = (
    ("svg", "SVG"),
    ("dark.svg", "SVG, dark"),
    ("pdf", "PDF"),
    ("png", "PNG"),
    ("dot", "DOT"),
    ("yaml", "YAML"),
)
CACHES = {  # what is kept otherwise than of every token, and all of it
    "capped": "Cache in windows, at most",
    "per_source_token": "Cache per source token",
    "fixed": "States of a fixed size",
    "total": "Cache in all",
}
# What may become an address: whatever else a spec says there stays words.
_WEB = re.compile(r"https?://[^\s\"'<>\\]+", re.IGNORECASE)
_ARXIV = re.compile(r"[\w.-]+(?:/\d+)?")
ROLES = {
    "embed_token": "token embedding",
    "embed_position": "position embedding",
    "embed_segment": "segment embedding",
    "ffn": "feed-forward",
    "lm_head": "output matrix",
    "norm": "norms",
}


def figure(record: Record, site: Site, root: str) -> str:
    """The figure for a page, light and dark, its used specs linked to their pages."""
    def href(use: str) -> str | None:
        name = spec_id(use)
        return root + site.address(name) if name in site.by_id else None

    return picture.svg(record["picture"], record["blocks"], href)


def build(record: Record, source: str, site: Site, dependents: list[str]) -> str:
    """The page's HTML. ``source`` is the YAML."""
    drawn = record["picture"]
    return page(
        "figure.html",
        site,
        root=ROOT,
        title=record["title"],
        description=" ".join(record["caption"].split()),
        record=record,
        names=[dim["name"] for dim in record["dims"]],
        tex={dim["name"]: dim["tex"] for dim in record["dims"] if dim["tex"]},
        svg=figure(record, site, ROOT),
        wide=drawn["width"] > 1.25 * drawn["height"],
        source=highlight(source),
        lines=source.count("\n") + (not source.endswith("\n")),
        files=[
            {"name": name, "href": ROOT + quote(figure_file(record["id"], suffix))}
            for suffix, name in FILES
        ],
        paper=paper(record),
        tags=[site.tag(tag, ROOT) for tag in dict.fromkeys(record["tags"])],
        below=[site.link(name, ROOT) for name in record["builds_on"] if name in site.by_id],
        parts=[site.link(name, ROOT) for name in record["uses"] if name in site.by_id],
        above=[site.link(name, ROOT) for name in dependents],
        table=table(record),
        used=[
            {**used, "link": site.link(used["id"], ROOT) if used["id"] in site.by_id else None}
            for used in record["used"]
            if used["bound"]
        ],
        equal=[claim(each, record, site) for each in record["claims"]],
        said={name for config in record["configs"] for name in config["said"]},
        counts=rows(record),
        near=site.neighbours(record["id"], ROOT),
        commands=commands(record),
    )


def commands(record: Record) -> dict[str, str]:
    """What to type, whatever characters the names have."""
    name = shlex.quote(record["id"])
    config = "".join(f" --config {shlex.quote(c['name'])}" for c in record["configs"][:1])
    return {
        "render": f"transformer-diagrams render {name}",
        "inspect": f"transformer-diagrams inspect {name}{config}",
    }


def claim(each: Record, record: Record, site: Site) -> dict[str, Any]:
    """What it is equal to, when, and how far apart the two were."""
    sizes = {dim["name"] for dim in record["dims"]}
    name = spec_id(each["equals"])
    gap = each["difference"]
    return {
        "name": name,
        "link": site.link(name, ROOT) if name in site.by_id and name != record["id"] else None,
        "itself": name == record["id"],
        "given": [(key, value, key in sizes) for key, value in each["given"].items()],
        "bound": [(key, value, key in sizes) for key, value in each["with"].items()],
        "holds": each["holds"],
        "gap": "0" if gap == 0 else f"{gap:.0e}" if gap is not None else "no number",
        "tries": len(each["sizes"]),
        "doc": each["doc"],
    }


def paper(record: Record) -> dict[str, str]:
    """The publication: words and, where one is known, its address."""
    source = record["source"]
    href = source["url"] if _WEB.fullmatch(source["url"]) else ""
    if not href and _ARXIV.fullmatch(source["arxiv"]):
        href = f"https://arxiv.org/abs/{source['arxiv']}"
    where = [source["authors"], str(source["year"] or "")]
    return {
        "title": source["title"] or (href and href.removeprefix("https://")),
        "href": href,
        "where": ", ".join(word for word in where if word),
        "arxiv": source["arxiv"],
        "note": source["note"],
    }


def table(record: Record) -> list[dict[str, Any]]:
    """The sizes: what each means, what defines it, and its number in each configuration."""
    return [
        {
            **dim,
            "numbers": [
                {
                    "value": config["counts"]["sizes"].get(dim["name"]),
                    "said": dim["name"] in config["said"],
                }
                for config in record["configs"]
            ],
        }
        for dim in record["dims"]
    ]


def rows(record: Record) -> dict[str, Any]:
    """Counts by configuration, each as `inspect` gives it, under its formula."""
    formulas = record["formulas"]
    configs = [config["counts"] for config in record["configs"]]
    every = [formulas, *configs]
    roles = sorted({role for counts in every for role in counts["params"]["by_role"]})

    def numbers(*keys: str) -> list[int | None]:
        return [_at(counts, *keys) for counts in configs]

    def row(
        title: str, formula: str, *keys: str, unit: str = "", role: bool = False
    ) -> dict[str, Any]:
        return {"title": title, "formula": formula, "numbers": numbers(*keys), "unit": unit,
                "role": role}  # fmt: skip

    found = [row("Parameters", formulas["params"]["formula"], "params", "total")]
    if len(roles) > 1:
        by_role = formulas["params"]["by_role_formula"]
        found += [
            row(
                ROLES.get(role, role.replace("_", " ")),
                by_role.get(role, ""),
                "params",
                "by_role",
                role,
                role=True,
            )
            for role in roles
        ]
    if any(_at(c, "params", "active") != _at(c, "params", "total") for c in every):
        found.append(
            row("Active per token", formulas["params"]["active_formula"], "params", "active")
        )
    found += [
        row(name.title(), "", "params", name)
        for name in ("frozen", "averaged")
        if any(_at(c, "params", name) for c in every)
    ]
    if formulas["kv_cache"]["formula"] != "0":
        found.append(
            row("KV cache per token", formulas["kv_cache"]["formula"], "kv_cache", "per_token",
                unit="elements")
        )  # fmt: skip
    kept = formulas["kv_cache"]
    for key, title in CACHES.items():
        if kept[f"{key}_formula"] != "0":
            found.append(row(title, kept[f"{key}_formula"], "kv_cache", key, unit="elements"))
    found.append(
        row("Forward pass", formulas["flops"]["formula"], "flops", "forward", unit="FLOPs")
    )
    found.append(row("Matrix products", formulas["flops"]["macs_formula"], "flops", "macs",
                     unit="MACs"))  # fmt: skip
    lengths = [counts["flops"]["length"] for counts in configs]
    return {"rows": found, "lengths": lengths}


def _at(counts: Mapping[str, Any], *keys: str) -> Any:
    value: Any = counts
    for key in keys:
        value = value.get(key) if value is not None else None
    return value
