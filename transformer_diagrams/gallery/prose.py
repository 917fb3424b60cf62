"""Pages of words: Markdown with front matter, made into safe HTML with its figures in place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_diagrams.errors import DiagramError, Fault, Span, did_you_mean
from transformer_diagrams.gallery.maths import tex_complaints, tex_html
from transformer_diagrams.gallery.order import Page
from transformer_diagrams.options import ask_error

if TYPE_CHECKING:
    from markdown_it.token import Token

KEYS = ("title", "kind", "date", "tags", "builds_on", "figures", "summary", "source")
KINDS = ("read", "paper")
WORDS_A_MINUTE = 220

_ID = re.compile(r"[a-z0-9][a-z0-9-]*")
_FENCE = re.compile(r"\A---\r?\n(.*?\r?\n)---\r?\n", re.DOTALL)
_FIGURE = "figure:"
_PAGE = "page:"
_MATHS = re.compile(r"\$\$(.+?)\$\$|\$([^\s$](?:[^$\n]*[^\s$])?)\$(?!\d)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a text. ``html`` is safe; then comes ``figure`` (an id, or "" for none)."""

    html: str
    figure: str = ""
    heading: str = ""  # the heading that the figure stands under
    anchor: str = ""
    words: str = ""  # the author's caption of the figure


@dataclass(frozen=True, slots=True)
class Prose:
    """A page of words as written."""

    page: Page
    summary: str
    source: str
    sections: tuple[Section, ...]
    headings: tuple[tuple[str, str], ...]  # (anchor, words) of the second rank
    text: str = field(repr=False, default="")

    @property
    def minutes(self) -> int:
        """How long reading takes, at 220 words a minute."""
        return max(1, round(len(re.findall(r"\w+", self.text)) / WORDS_A_MINUTE))


def bundled_pages() -> Path:
    """`_pages` inside an installed package; in a source tree, `docs/pages` beside it."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_pages"
    return installed if installed.is_dir() else package.parent / "docs" / "pages"


def read_all(folder: Path) -> list[Prose]:
    """Every ``*.md`` of a folder, by name.

    :raises DiagramError: all faults of all files.
    """
    found: list[Prose] = []
    faults: list[Fault] = []
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    except OSError as fault:
        words = f"'{folder}' cannot be read: {fault.strerror}"
        raise ask_error(words, code="unreadable") from fault
    for path in (folder / name for name in names):
        try:
            found.append(read(path))
        except DiagramError as fault:
            faults += fault.faults
    if faults:
        raise DiagramError(faults)
    return found


def read(path: Path) -> Prose:
    """One page; its id is the file's stem.

    :raises DiagramError: when its front matter or its figures are wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        words = f"'{path}' cannot be read: {getattr(fault, 'strerror', None) or 'not UTF-8'}"
        raise DiagramError(Fault("unreadable", words, Span(str(path)))) from fault
    return parse(text, path.stem, str(path))


def parse(text: str, id: str, file: str) -> Prose:
    """A page from its text; ``file`` is the name for messages."""
    head, body, offset = _split(text, id, file)
    data = _front_matter(head, file)
    sections, headings = _sections(body, file, offset, data["figures"])
    placed = [section.figure for section in sections if section.figure]
    listed = data["figures"]
    faults = []
    for name in dict.fromkeys(placed):
        if name not in listed:
            faults.append(
                Fault("unlisted-figure", f"{id}: the figure '{name}' is not listed in `figures`",
                      Span(file, 1), found=name, hint=did_you_mean(name, listed, what="figure"))
            )  # fmt: skip
        if placed.count(name) > 1:
            faults.append(
                Fault("duplicate-figure", f"{id}: the figure '{name}' is placed twice",
                      Span(file, 1), found=name)
            )  # fmt: skip
    for name in listed:
        if name not in placed:
            faults.append(
                Fault("unplaced-figure", f"{id}: the figure '{name}' is listed but not placed",
                      Span(file, 1), found=name, hint=f"write ![words](figure:{name})")
            )  # fmt: skip
    if faults:
        raise DiagramError(faults)
    page = Page(
        id,
        data["title"],
        data["kind"],
        data["date"],
        tuple(data["tags"]),
        tuple(dict.fromkeys(data["builds_on"])),
        tuple(placed),
        Span(file, 1),
    )
    return Prose(page, data["summary"], data["source"], tuple(sections), tuple(headings), body)


def _split(text: str, id: str, file: str) -> tuple[str, str, int]:
    if not _ID.fullmatch(id):
        raise DiagramError(
            Fault("bad-id", f"'{id}' cannot be the id of a page", Span(file),
                  hint="name the file with small letters, digits and -")
        )  # fmt: skip
    found = _FENCE.match(text)
    if not found:
        raise DiagramError(
            Fault("no-front-matter", f"{id}: the page has no front matter", Span(file, 1),
                  hint="begin with a line ---, then title, kind, tags ..., then ---")
        )  # fmt: skip
    return found[1], text[found.end() :], text[: found.end()].count("\n")


def _front_matter(head: str, file: str) -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(head, Loader=loader)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        line = mark.line + 2 if mark is not None else 1
        words = getattr(fault, "problem", None) or "it is not YAML"
        raise DiagramError(
            Fault("front-matter", f"the front matter cannot be read: {words}", Span(file, line))
        ) from fault
    if not isinstance(data, dict):
        raise DiagramError(
            Fault("front-matter", "the front matter is not a mapping", Span(file, 1))
        )
    faults: list[Fault] = []

    def wrong(key: str, words: str, hint: str = "") -> None:
        line = next(
            (n for n, row in enumerate(head.splitlines(), 2) if row.startswith(f"{key}:")), 1
        )
        faults.append(Fault("front-matter", words, Span(file, line), path=key, hint=hint))

    for key in data:
        if key not in KEYS:
            wrong(str(key), f"unknown key '{key}'", did_you_mean(str(key), KEYS, what="key"))
    made: dict[str, Any] = {}
    for key in ("title", "summary", "source", "date"):
        value = data.get(key, "")
        made[key] = str(value).strip() if value is not None else ""
    for key in ("title", "summary"):
        if not made[key]:
            wrong(key, f"the page has no {key}")
    made["kind"] = data.get("kind", "read")
    if made["kind"] not in KINDS:
        wrong("kind", f"kind cannot be '{made['kind']}'",
              did_you_mean(str(made["kind"]), KINDS, what="kind"))  # fmt: skip
    for key in ("tags", "builds_on", "figures"):
        value = data.get(key) or []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            wrong(key, f"`{key}` must be a list of words", f"write {key}: [one, two]")
            value = []
        made[key] = list(dict.fromkeys(value))
    if faults:
        raise DiagramError(faults)
    return made


# -- from Markdown to safe HTML


def _sections(
    text: str, file: str, offset: int, figures: Iterable[str]
) -> tuple[list[Section], list[tuple[str, str]]]:
    """The pieces of a text, and its headings. A figure's id is kept for the figure itself."""
    from markdown_it import MarkdownIt

    formulas: list[str] = []

    def keep(found: re.Match[str]) -> str:
        # Markdown would read the signs of a formula; it is put back after the cleaning.
        tex = " ".join((found[1] or found[2]).split())
        wrong = tex_complaints(tex, display=bool(found[1]))
        if wrong:
            line = text[: text.find(found[0])].count("\n") + 1 + offset
            raise DiagramError(
                Fault(one.code, one.message, Span(file, line), found=tex, hint=one.hint)
                for one in wrong
            )
        formulas.append(tex_html(tex, display=bool(found[1])))
        return f"\ue000{len(formulas) - 1}\ue001"

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(_outside_code(text, keep))
    headings: list[tuple[str, str]] = []
    sections: list[Section] = []
    run: list[Token] = []
    heading, anchor = "", ""

    def flush(figure: str = "", words: str = "") -> None:
        html = _clean(markdown.renderer.render(run, markdown.options, {}))
        html = re.sub("\ue000(\\d+)\ue001", lambda m: formulas[int(m[1])], html)
        sections.append(Section(_with_anchors(html, headings), figure, heading, anchor, words))
        run.clear()

    for at, token in enumerate(tokens):
        figure = _figure_of(tokens, at)
        if figure is not None:
            flush(*figure)
        elif not _inside_figure(tokens, at):
            run.append(token)
        if token.type == "heading_open" and token.tag == "h1":
            line = (token.map[0] if token.map else 0) + 1 + offset
            raise DiagramError(
                Fault("heading", "the title is the page's first heading; begin with ##",
                      Span(file, line))
            )  # fmt: skip
        if token.type == "heading_open" and token.tag == "h2":
            heading = _words(tokens[at + 1])
            anchor = _anchor(heading, [*figures, *(known for known, _ in headings)])
            headings.append((anchor, heading))
    flush()
    return sections, headings


def _outside_code(text: str, keep: Any) -> str:
    parts = re.split(r"(^```.*?^```$|`[^`\n]*`)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(
        part if number % 2 else _MATHS.sub(keep, part) for number, part in enumerate(parts)
    )


def _figure_of(tokens: list[Token], at: int) -> tuple[str, str] | None:
    """(id, words) when a paragraph that is nothing but a figure's picture begins here."""
    if tokens[at].type != "paragraph_open" or at + 1 >= len(tokens):
        return None
    inner = tokens[at + 1].children or []
    if len(inner) != 1 or inner[0].type != "image":
        return None
    source = str(inner[0].attrs.get("src", ""))
    return (source[len(_FIGURE) :], inner[0].content) if source.startswith(_FIGURE) else None


def _inside_figure(tokens: list[Token], at: int) -> bool:
    return any(_figure_of(tokens, at - back) is not None for back in (1, 2) if at >= back)


def _words(token: Token) -> str:
    return "".join(
        child.content for child in token.children or [] if child.type in ("text", "code_inline")
    )


def _anchor(words: str, taken: Iterable[str]) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or "section"
    known = {*taken}
    number, name = 2, slug
    while name in known:
        name = f"{slug}-{number}"
        number += 1
    return name


def _with_anchors(html: str, headings: list[tuple[str, str]]) -> str:
    names = {words: anchor for anchor, words in headings}

    def named(found: re.Match[str]) -> str:
        import html as entities

        words = entities.unescape(re.sub("<[^>]*>", "", found[1]))
        anchor = names.get(words)
        return f'<h2 id="{escape(anchor)}">{found[1]}</h2>' if anchor else found[0]

    return re.sub(r"<h2>(.*?)</h2>", named, html)


def _clean(html: str) -> str:
    """What may stand on a page; scripts, styles, handlers and strange addresses are dropped."""
    import nh3

    return nh3.clean(
        html,
        tags={
            "a", "blockquote", "br", "code", "em", "h2", "h3", "h4", "hr", "li", "ol", "p", "pre",
            "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
        },
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"https", "mailto", "page"},
        link_rel=None,
    )  # fmt: skip


def linked(html: str, address: Any) -> str:
    """``page:ID`` links as relative addresses; ``address`` raises for an unknown id."""
    return re.sub(
        rf'href="{_PAGE}([^"#]+)(#[^"]*)?"',
        lambda found: f'href="{address(found[1])}{found[2] or ""}"',
        html,
    )
