"""The whole site: what goes in, and every file that comes out."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from transformer_diagrams import pool, store
from transformer_diagrams.api import Model, specs_below
from transformer_diagrams.bundled import bundled_specs
from transformer_diagrams.errors import DiagramError, Fault, Span
from transformer_diagrams.extras import need
from transformer_diagrams.gallery import (
    figure_page,
    folder,
    order,
    pages,
    picture,
    prose,
    search,
    topic,
)
from transformer_diagrams.gallery.order import Page
from transformer_diagrams.gallery.pages import Site
from transformer_diagrams.gallery.prose import Prose
from transformer_diagrams.gallery.record import Prepared, Record, is_kept, prepare, spec_id
from transformer_diagrams.options import ask_error
from transformer_diagrams.records import dataclass

TITLE = "Transformer diagrams"
SHELVES = ("models", "attention", "vision", "multimodal", "blocks", "position", "parts")
"""Folders of specs in the order of the home page; others follow by name."""

Tell = Callable[[int, int, str], None]  # how many are done, of how many, the last one's name


@dataclass(frozen=True, slots=True)
class Built:
    """What a build has made."""

    folder: Path
    files: int
    architectures: int
    texts: int
    topics: int
    drawn: int  # architectures whose figures were not in the store yet
    faults: tuple[Fault, ...] = ()  # of the architectures that were left out


def build(
    out: str | os.PathLike[str],
    specs: Sequence[str] = (),
    *,
    words: str | os.PathLike[str] | None = None,
    title: str = TITLE,
    workers: int | None = None,
    tell: Tell | None = None,
) -> Built:
    """Write the site to the folder ``out``. Other files in a folder with an older site stay. A spec
    with a fault is left out, with the links to it; pages of words with a fault stop the build.

    specs   files, folders or ids; what they use or build on comes with them. None: all bundled
    words   the folder of Markdown pages; None: the bundled ones, when no specs are given
    tell    is called after each architecture

    :raises DiagramError: every fault of a page of words or of its links; those of the specs when
        none is without.
    :raises AskError: when ``out`` holds other things, or cannot be written.
    """
    need("site")
    if not os.fspath(out):
        raise ask_error("the folder of the site has no name")
    place = Path(out)
    before = folder.known(place)
    texts = _texts(words, bool(specs))
    faults: list[Fault] = []
    paths = _closure(_paths(specs), faults) if specs else dict(bundled_specs())
    away = {id for id, path in paths.items() if path is None}
    good = {id: path for id, path in paths.items() if path is not None}
    made, drawn = _prepared(good, workers, tell)
    for id in [id for id, each in made.items() if not each.figures]:
        faults += made.pop(id).faults
        away.add(id)
    faults = [fault for fault in dict.fromkeys(faults) if fault.severity == "error"]
    if faults and not made:
        raise DiagramError(faults)
    files, about = _files(made, good, [_without(text, away) for text in texts], title, away)
    folder.put(place, files, before, about)
    topics = sum(name.startswith("topics/") and name.endswith(".html") for name in files)
    return Built(place, len(files) + 1, len(made), len(texts), topics, drawn, tuple(faults))


# -- what goes in


def _texts(words: str | os.PathLike[str] | None, chosen: bool) -> list[Prose]:
    if words is None:
        bundled = prose.bundled_pages()
        return prose.read_all(bundled) if bundled.is_dir() and not chosen else []
    if not os.fspath(words) or not os.path.isdir(words):
        raise ask_error(f"there is no folder '{words}'", "it should hold Markdown files (*.md)")
    return prose.read_all(Path(words))


def _paths(specs: Iterable[str]) -> dict[str, Path]:
    """Id -> file of the specs named."""
    found: dict[str, Path] = {}
    faults: list[Fault] = []
    for word in specs:
        if word and os.path.isdir(word):
            listed = specs_below(word)
        else:
            listed = [Model.find(word).path or Path(word)]
        for path in listed:
            first = found.setdefault(path.stem, path)
            if first.resolve() != path.resolve():
                words = f"duplicate id: {path.stem} ({first} and {path})"
                faults.append(
                    Fault("duplicate-id", words, Span(str(path)), hint="rename one of the files")
                )
    if faults:
        raise DiagramError(faults)
    return found


def _closure(paths: dict[str, Path], faults: list[Fault]) -> dict[str, Path | None]:
    """The specs, and all that they use or build on: a page links to each of them. None for one
    that cannot be read; why is added to ``faults``."""
    from transformer_diagrams.spec.blocks import walk

    found: dict[str, Path | None] = dict(paths)
    todo = list(paths.items())
    while todo:
        id, path = todo.pop()
        try:
            model = Model.find(str(path))
            spec = model.spec
        except DiagramError as fault:
            found[id] = None
            faults += fault.faults
            continue
        uses = [block.use for block in walk(spec.blocks) if block.use]
        for name in dict.fromkeys([*uses, *(text.value for text in spec.builds_on)]):
            if spec_id(name) in found:
                continue
            try:
                other = model.library.find(name, spec)
            except DiagramError as fault:
                found[id] = None
                faults += fault.faults
                continue
            try:
                model.library.get(name, spec)  # faults are told from where it is named
            except DiagramError as fault:
                found[other.stem] = None
                faults += fault.faults
                continue
            found[other.stem] = other
            todo.append((other.stem, other))
    return dict(sorted(found.items()))


def _without(text: Prose, away: Container[str]) -> Prose:
    """A page of words without the figures and neighbours that were left out."""
    page = replace(
        text.page,
        builds_on=tuple(id for id in text.page.builds_on if id not in away),
        figures=tuple(id for id in text.page.figures if id not in away),
    )
    sections = [
        replace(each, figure="") if each.figure in away else each for each in text.sections
    ]
    return replace(text, page=page, sections=tuple(sections))


def _prepared(
    paths: Mapping[str, Path], workers: int | None, tell: Tell | None
) -> tuple[dict[str, Prepared], int]:
    """Records and figures of every spec by id; those that must be drawn, several at once."""
    found: dict[str, Prepared] = {}
    missing: dict[str, str] = {}  # path -> id

    def add(id: str, made: Prepared) -> None:
        found[id] = made
        if tell:
            tell(len(found), len(paths), id)

    for id, path in paths.items():
        if is_kept(str(path)):
            add(id, prepare(str(path)))
        else:
            missing[str(path)] = id
    with closing(pool.several(prepare, list(missing), workers)) as several:
        for name, made in several:
            add(missing[name], made or Prepared(name, {}, {}, (pool.lost(name),)))
    return {id: found[id] for id in sorted(found)}, len(missing)


# -- what comes out


def _files(
    made: Mapping[str, Prepared],
    paths: Mapping[str, Path],
    texts: Sequence[Prose],
    title: str,
    away: Container[str] = (),
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Every file of the site by its name, and what its list says of the pages. Links to specs
    left ``away`` are plain text."""
    from transformer_diagrams.live import IDS

    listed = [_spec_page(each, paths[id], away) for id, each in made.items()]
    listed += [text.page for text in texts]
    order.check(listed, [*IDS, *made])
    by_id = {page.id: page for page in listed}
    site = Site(
        title=title,
        order=order.reading_order(listed),
        tags=pages.file_names(tag for page in listed for tag in page.tags),
        topic=_main_topic(texts),
        by_id=by_id,
    )
    by_text = {text.page.id: text for text in texts}
    records = {id: each.record for id, each in made.items()}
    live = _live([figure for text in texts for figure in text.page.figures if figure in IDS])
    common = _common() if live else ""
    files: dict[str, str | bytes] = {}

    for id, each in made.items():
        source = paths[id].read_bytes()
        dependents = [page.id for page in site.order if id in page.builds_on]
        files[site.file(id)] = figure_page.build(
            each.record, source.decode("utf-8-sig").replace("\r\n", "\n"), site, dependents
        )
        for suffix, data in [*each.figures.items(), ("yaml", source)]:
            files[pages.figure_file(id, suffix)] = data
    for text in texts:
        files[site.file(text.page.id)] = _prose_page(text, site, records, live, common, away)
    for tag, name in site.tags.items():
        html, plain = topic.build(tag, site, by_text, records, live, common)
        files[f"topics/{name}.html"] = html
        files[f"topics/{name}.txt"] = plain
    files["index.html"] = _home(site, paths, by_text, records)

    said = [text for text in files.values() if isinstance(text, str)]
    characters = "".join(sorted({c for text in said for c in text}))
    pairs = {tuple(pair) for record in records.values() for pair in record["picture"]["colors"]}
    files["assets/site.css"] = pages.style(characters, picture.css(pairs))
    files["assets/site.js"] = pages.script()
    if live:
        from transformer_diagrams.live.pages import runtime

        files["assets/live.js"] = runtime()
    _must_differ(files)
    found = {
        name: data.encode("utf-8") if isinstance(data, str) else data
        for name, data in sorted(files.items())
    }
    return found, _listing(site)


def _must_differ(names: Iterable[str]) -> None:
    """:raises DiagramError: for names that some systems take for one: `A` and `a`, two ways to
    write one letter."""
    found: dict[str, str] = {}
    for name in names:
        first = found.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if first != name:
            raise DiagramError(
                Fault("duplicate-id", f"'{first}' and '{name}' would be one file on some systems",
                      hint="rename one of the specs")
            )  # fmt: skip


def _spec_page(made: Prepared, path: Path, away: Container[str]) -> Page:
    record = made.record
    return Page(
        record["id"],
        record["title"],
        "architecture",
        str(record["source"]["year"] or "9999"),
        tuple(dict.fromkeys(record["tags"])),
        tuple(id for id in record["builds_on"] if id not in away),
        (),
        Span(str(path), 1),
    )


def _main_topic(texts: Sequence[Prose]) -> str:
    """The tag that most pages of words carry; of several, the first by name."""
    counts = order.tag_counts(text.page for text in texts)
    return counts[0][0] if counts else ""


def _live(ids: Iterable[str]) -> dict[str, str]:
    """The HTML of live figures by id; kept until the figures' code changes."""
    found: dict[str, str] = {}
    for id in dict.fromkeys(ids):
        key = store.key_of(b"", live=id)
        entry = store.get(key)
        if entry is None:
            from transformer_diagrams.live import figure
            from transformer_diagrams.live.pages import fragment

            html = fragment(figure(id), level=3)
            entry = store.Entry(html.encode("utf-8"), "text/html", (), store.Trace({}))
            store.put(key, entry)
        found[id] = entry.data.decode("utf-8")
    return found


def _common() -> str:
    from transformer_diagrams.live.pages import common_data, data_block

    return data_block(common_data(), ' id="lv-common"')


def _prose_page(
    text: Prose,
    site: Site,
    records: Mapping[str, Record],
    live: Mapping[str, str],
    common: str,
    away: Container[str],
) -> str:
    """A page of words with its figures in place."""
    root = "../"
    parts: list[dict[str, Any]] = []

    def address(id: str) -> str:
        if id in away:
            return ""
        try:
            return root + site.address(id)
        except DiagramError as fault:
            named = [replace(each, span=text.page.span) for each in fault.faults]
            raise DiagramError(named) from fault

    for section in text.sections:
        part: dict[str, Any] = {"html": prose.linked(section.html, address), "live": "", "svg": ""}
        part["words"] = section.words
        if section.figure in live:
            part["live"] = live[section.figure]
        elif section.figure:
            part["svg"] = figure_page.figure(records[section.figure], site, root)
            part["link"] = site.link(section.figure, root)
        parts.append(part)
    has_live = any(part["live"] for part in parts)
    return pages.page(
        "prose.html",
        site,
        root=root,
        title=text.page.title,
        description=text.summary,
        text=text,
        parts=parts,
        headings=[{"anchor": anchor, "words": words} for anchor, words in text.headings],
        tags=[site.tag(tag, root) for tag in text.page.tags],
        below=[site.link(id, root) for id in text.page.builds_on],
        above=[site.link(page.id, root) for page in site.order if text.page.id in page.builds_on],
        near=site.neighbours(text.page.id, root),
        live=has_live,
        common=common if has_live else "",
    )


def _home(
    site: Site,
    paths: Mapping[str, Path],
    texts: Mapping[str, Prose],
    records: Mapping[str, Record],
) -> str:
    reading = [page for page in site.order if page.id in texts]
    shelves: dict[str, list[dict[str, Any]]] = {}
    for each in site.order:
        if each.id in texts:
            continue
        record = records[each.id]
        drawn = record["picture"]
        shelves.setdefault(paths[each.id].parent.name, []).append(
            {
                **site.link(each.id),
                "svg": quote(pages.figure_file(each.id, "svg")),
                "dark": quote(pages.figure_file(each.id, "dark.svg")),
                "width": round(drawn["width"]),
                "height": round(drawn["height"]),
                "year": record["source"]["year"] or "",
                "caption": record["caption"],
                "tags": list(dict.fromkeys(record["tags"])),
                "search": search.of_spec(record),
            }
        )
    rank = {name: number for number, name in enumerate(SHELVES)}
    ordered = sorted(shelves.items(), key=lambda item: (rank.get(item[0], 99), item[0]))
    pages_with = [page for page in site.order if page.id not in texts]
    return pages.page(
        "home.html",
        site,
        root="",
        here=True,
        title=site.title,
        description="Transformer architectures, drawn and measured from one source each.",
        reading=topic.entries(reading, site, "", site.topic or None, texts, records),
        minutes=sum(texts[page.id].minutes for page in reading),
        topic=site.tag(site.topic) if site.topic else None,
        shelves=[{"name": name.replace("-", " "), "cards": cards} for name, cards in ordered],
        total=len(pages_with),
        tags=[site.tag(name, "", count) for name, count in order.tag_counts(pages_with)],
    )


def _listing(site: Site) -> dict[str, Any]:
    """The site's contents for machines."""
    listed = [
        {
            "id": page.id,
            "title": page.title,
            "kind": page.kind,
            "address": site.address(page.id),
            "tags": list(page.tags),
            "builds_on": list(page.builds_on),
            "figures": list(page.figures),
        }
        for page in site.order
    ]
    return {"title": site.title, "pages": listed}
