"""A topic's page: its texts and architectures in reading order, and the live figures they use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from transformer_diagrams.gallery.order import Page, read_first, reading_order, tag_counts
from transformer_diagrams.gallery.pages import Site, page
from transformer_diagrams.gallery.prose import Prose
from transformer_diagrams.gallery.record import Record

ROOT = "../"
KIND_WORDS = {"read": "Text", "paper": "Paper", "architecture": "Architecture"}


def entries(
    pages: Iterable[Page],
    site: Site,
    root: str,
    topic: str | None,
    texts: Mapping[str, Prose],
    records: Mapping[str, Record],
) -> list[dict[str, Any]]:
    """What a list says of each page."""
    found = []
    for each in pages:
        prose, record = texts.get(each.id), records.get(each.id)
        found.append(
            {
                **site.link(each.id, root),
                "kind": KIND_WORDS[each.kind],
                "minutes": prose.minutes if prose else 0,
                "summary": prose.summary if prose else (record or {}).get("caption", ""),
                "date": each.date[:4],
                "first": [
                    site.link(other.id, root) for other in read_first(each, topic, site.by_id)
                ],
                "tags": [site.tag(tag, root) for tag in each.tags if tag != topic],
            }
        )
    return found


def figures_of(
    pages: Sequence[Page], site: Site, root: str, texts: Mapping[str, Prose]
) -> list[dict[str, str]]:
    """The live figures of the pages, each once, with the page and section they belong to."""
    found: dict[str, dict[str, str]] = {}
    for each in pages:
        prose = texts.get(each.id)
        if prose is None:
            continue
        for section in prose.sections:
            if section.figure and section.figure not in site.by_id:
                found.setdefault(
                    section.figure,
                    {
                        "id": section.figure,
                        "page": each.title,
                        "section": section.heading,
                        "href": f"{root}{site.address(each.id)}"
                        + (f"#{section.anchor}" if section.anchor else ""),
                    },
                )
    return list(found.values())


def build(
    topic: str,
    site: Site,
    texts: Mapping[str, Prose],
    records: Mapping[str, Record],
    live: Mapping[str, str],
    common: str,
) -> tuple[str, str]:
    """The topic's page, and its list as plain text. ``live`` holds the figures' HTML by id."""
    pages = reading_order(site.order, topic)
    figures = figures_of(pages, site, ROOT, texts)
    rows = entries(pages, site, ROOT, topic, texts, records)
    html = page(
        "topic.html",
        site,
        root=ROOT,
        title=topic[:1].upper() + topic[1:],
        description=f"Pages on {topic}, in reading order.",
        topic=topic,
        rows=rows,
        minutes=sum(row["minutes"] for row in rows),
        tags=[site.tag(name, ROOT, count) for name, count in tag_counts(pages, topic)],
        figures=[{**figure, "html": live[figure["id"]]} for figure in figures],
        live=bool(figures),
        common=common if figures else "",
        text=f"{quote(site.tags[topic])}.txt",
    )
    return html, plain_list(topic, rows)


def plain_list(topic: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The list in reading order as plain text."""
    lines = [f"{topic[:1].upper()}{topic[1:]}, in reading order", ""]
    for number, row in enumerate(rows, 1):
        lines.append(f"{number:>3}. {row['title']} ({row['kind'].lower()}) {row['href'][3:]}")
        if row["first"]:
            lines.append("     read first: " + "; ".join(each["title"] for each in row["first"]))
    return "\n".join(lines) + "\n"
