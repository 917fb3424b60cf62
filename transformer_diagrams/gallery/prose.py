"""Pages of words: Markdown with front matter, made into safe HTML with its figures in place."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from datetime import date
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from transformer_diagrams import reading
from transformer_diagrams.errors import DiagramError, Fault, Report, Span, did_you_mean
from transformer_diagrams.gallery.maths import tex_complaints, tex_html, words_complaints
from transformer_diagrams.gallery.order import Page
from transformer_diagrams.options import ask_error
from transformer_diagrams.records import dataclass
from transformer_diagrams.streams import acts

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

KEYS = ("title", "kind", "date", "tags", "builds_on", "figures", "summary", "source")
KINDS = ("read", "paper")
WORDS_A_MINUTE = 220

_ID = re.compile(r"[a-z0-9][a-z0-9-]*")
_FENCE = re.compile(r"\A---\r?\n(.*?\r?\n)---\r?\n", re.DOTALL)
_FIGURE = "figure:"
_LINK = re.compile(r'<a href="page:([^"#]+)(#[^"]*)?"([^>]*)>(.*?)</a>', re.DOTALL)
# No formula holds a backtick: behind one begins code.
_MATHS = re.compile(r"\$\$([^`]+?)\$\$|\$([^\s$`](?:[^$\n`]*[^\s$`])?)\$(?!\d)", re.DOTALL)
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")


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
        text = reading.read(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        words = f"'{path}' cannot be read: {getattr(fault, 'strerror', None) or 'not UTF-8'}"
        raise DiagramError(Fault("unreadable", words, Span(str(path)))) from fault
    return parse(text.replace("\r\n", "\n").replace("\r", "\n"), path.stem, str(path))


def parse(text: str, id: str, file: str) -> Prose:
    """A page from its text; ``file`` is the name for messages."""
    head, body, offset = _split(text, id, file)
    # What a page may not hold is shown as such, and cannot be taken for a sign of ours.
    body = "".join("\ufffd" if acts(c) and c not in "\n\t" else c for c in body)
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
    """The keys before a page's text, read as YAML is read everywhere here: a date is text."""
    from transformer_diagrams.spec.yaml_nodes import Map, Seq, kind_of
    from transformer_diagrams.spec.yaml_source import read as read_yaml

    report = Report()
    root, source = read_yaml(f"\n{head}", file, report)  # the first line is the fence
    faults = [replace(fault, code="front-matter") for fault in report.errors]
    if root is not None and not isinstance(root, Map):
        faults.append(Fault("front-matter", "the front matter is not a mapping", Span(file, 1)))
    if faults:
        for at, fault in enumerate(faults):
            faults[at] = replace(fault, message=f"the front matter: {fault.message}")
        raise DiagramError(faults)
    entries = root.entries if isinstance(root, Map) else {}
    found = {key: value for key, (_, value) in entries.items()}

    def wrong(key: str, words: str, hint: str = "") -> None:
        span = source.span(entries[key][0]) if key in entries else Span(file, 1)
        faults.append(Fault("front-matter", words, span, path=key, hint=hint))

    def text(key: str, node: Any) -> str | None:
        kind = kind_of(node)
        if kind in ("map", "list", "bool"):
            return None
        if any(map(acts, node.text.replace("\n", " "))):
            wrong(key, f"`{key}` holds a character that cannot be shown")
        return "" if kind == "null" else str(node.text).strip()

    for key in found:
        if key not in KEYS:
            wrong(key, f"unknown key '{key}'", did_you_mean(key, KEYS, what="key"))
    made: dict[str, Any] = {}
    for key in ("title", "summary", "source", "date", "kind"):
        value = text(key, found[key]) if key in found else ""
        if value is None:
            wrong(key, f"`{key}` must be text")
        made[key] = value or ""
    for key in ("title", "summary"):
        if not made[key]:
            wrong(key, f"the page has no {key}")
    for one in words_complaints(made["summary"]):
        wrong("summary", one.message, one.hint)
    if not _is_date(made["date"]):
        wrong("date", f"there is no day '{made['date']}'", "write it like 2024-02-29, or 2024")
    made["kind"] = made["kind"] or "read"
    if made["kind"] not in KINDS:
        wrong("kind", f"kind cannot be '{made['kind']}'",
              did_you_mean(made["kind"], KINDS, what="kind"))  # fmt: skip
    for key in ("tags", "builds_on", "figures"):
        node = found.get(key)
        listed: list[str | None] = []
        if isinstance(node, Seq):
            listed = [text(key, item) for item in node.items]
        elif node is not None and kind_of(node) != "null":
            listed = [None]
        if not all(listed):
            wrong(key, f"`{key}` must be a list of words", f"write {key}: [one, two]")
        made[key] = list(dict.fromkeys(word for word in listed if word))
    if faults:
        raise DiagramError(faults)
    return made


def _is_date(text: str) -> bool:
    """Whether a text is empty, a year, a month or a day."""
    parts = _DATE.fullmatch(text)
    if parts is None:
        return not text
    try:
        date(int(parts[1]), int(parts[2] or 1), int(parts[3] or 1))
    except ValueError:
        return False
    return True


# -- from Markdown to safe HTML


def _sections(
    text: str, file: str, offset: int, figures: Iterable[str]
) -> tuple[list[Section], list[tuple[str, str]]]:
    """The pieces of a text, and its headings. A figure's id is kept for the figure itself."""
    markdown = _markdown()
    tokens = markdown.parse(text)
    formulas = _formulas(tokens, file, offset)
    headings: list[tuple[str, str]] = []
    sections: list[Section] = []
    run: list[Token] = []
    heading, anchor = "", ""
    anchors = dict.fromkeys(figures, 2)
    faults: list[Fault] = []

    def flush(figure: str = "", words: str = "") -> None:
        html = _clean(markdown.renderer.render(run, markdown.options, {}))
        html = _PLACE.sub(lambda found: formulas[int(found[1])], html)
        sections.append(Section(html, figure, heading, anchor, words))
        run.clear()

    for at, token in enumerate(tokens):
        figure = _figure_of(tokens, at)
        if token.type == "heading_open" and token.tag == "h1":
            line = (token.map[0] if token.map else 0) + 1 + offset
            raise DiagramError(
                Fault("heading", "the title is the page's first heading; begin with ##",
                      Span(file, line))
            )  # fmt: skip
        if token.type == "heading_open" and token.tag == "h2":
            title = _words(tokens[at + 1])
            name = _anchor(title, anchors)
            headings.append((name, title))
            token.attrSet("id", name)
        if figure is not None:
            span = Span(file, (token.map[0] if token.map else 0) + 1 + offset)
            faults += [
                Fault(one.code, one.message, span, found=one.found, hint=one.hint)
                for one in words_complaints(figure[1])
            ]
            flush(*figure)
        elif not _inside_figure(tokens, at):
            run.append(token)
        if token.type == "heading_open" and token.tag == "h2":
            anchor, heading = headings[-1]
    flush()
    if faults:
        raise DiagramError(faults)
    return sections, headings


# -- formulas, as a part of Markdown: code, addresses and titles of links stay as they are

_PLACE = re.compile(r'<var id="(\d+)"></var>')  # no author can write an element


def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.inline.ruler.before("escape", "maths", _inline_maths)
    markdown.block.ruler.before(
        "fence", "maths_block", _block_maths, {"alt": ["paragraph", "blockquote", "list"]}
    )

    def place(_: Any, tokens: Sequence[Token], at: int, *__: Any) -> str:
        html = f'<var id="{tokens[at].meta["number"]}"></var>'
        return f"<p>{html}</p>\n" if tokens[at].block else html

    markdown.add_render_rule("maths", place)
    return markdown


def _inline_maths(state: StateInline, silent: bool) -> bool:
    """``$...$``, and ``$$...$$`` within a line or a paragraph."""
    if state.src[state.pos] != "$":
        return False
    found = _MATHS.match(state.src, state.pos, state.posMax)
    if found is None or not (found[1] or found[2]).strip():
        return False
    if not silent:
        token = state.push("maths", "", 0)
        token.content, token.markup = (found[1] or found[2]).strip(), "$$" if found[1] else "$"
    state.pos = found.end()
    return True


def _block_maths(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Lines from one that begins with ``$$`` to the one that ends with the next ``$$``."""
    if state.is_code_block(start):
        return False
    lines: list[str] = []
    for number in range(start, end):
        line = state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]
        lines.append(line)
        if not lines[0].startswith("$$") or not line.strip() or state.sCount[number] < 0:
            return False
        body = "\n".join(lines).rstrip()[2:]
        if "$$" in body:
            break
    else:
        return False
    content = body[:-2].strip()
    if not body.endswith("$$") or "$$" in content or not content:
        return False
    if not silent:
        token = state.push("maths", "", 0)
        token.block, token.content, token.markup = True, content, "$$"
        token.map = [start, number + 1]
        state.line = number + 1
    return True


def _formulas(tokens: Iterable[Token], file: str, offset: int) -> list[str]:
    """The HTML of every formula; its token is given its number.

    :raises DiagramError: all formulas that cannot be set, with their lines.
    """
    found: list[str] = []
    faults: list[Fault] = []
    for outer in tokens:
        line = (outer.map[0] if outer.map else 0) + 1 + offset
        for token in [outer, *(outer.children or [])]:
            line += token.type in ("softbreak", "hardbreak")
            if token.type != "maths":
                continue
            tex, display = " ".join(token.content.split()), token.markup == "$$"
            wrong = tex_complaints(tex, display=display)
            faults += [
                Fault(one.code, one.message, Span(file, line), found=tex, hint=one.hint)
                for one in wrong
            ]
            if not wrong:
                token.meta["number"] = len(found)
                found.append(tex_html(tex, display=display))
            line += token.content.count("\n")
    if faults:
        raise DiagramError(faults)
    return found


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
    from transformer_diagrams.text import plain

    return "".join(
        plain(f"${child.content}$") if child.type == "maths" else child.content
        for child in token.children or []
        if child.type in ("text", "code_inline", "maths")
    )


def _anchor(words: str, taken: dict[str, int]) -> str:
    """A heading's own name, which is added to ``taken``: name -> the next number behind it."""
    slug = name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or "section"
    while name in taken:
        name = f"{slug}-{taken[slug]}"
        taken[slug] += 1
    taken[name] = 2
    return name


def _clean(html: str) -> str:
    """What may stand on a page; scripts, styles, handlers and strange addresses are dropped."""
    import nh3

    return nh3.clean(
        html,
        tags={
            "a", "blockquote", "br", "code", "em", "h2", "h3", "h4", "hr", "li", "ol", "p", "pre",
            "strong", "table", "tbody", "td", "th", "thead", "tr", "ul", "var",
        },
        attributes={
            "a": {"href", "title"}, "h2": {"id"}, "ol": {"start"}, "var": {"id"},
        },
        url_schemes={"https", "mailto", "page"},
        link_rel=None,
    )  # fmt: skip


def linked(html: str, address: Callable[[str], str]) -> str:
    """``page:ID`` links as relative addresses, or as their words where ``address`` gives none;
    it raises for an unknown id."""

    def link(found: re.Match[str]) -> str:
        id, anchor, more, words = found.groups(default="")
        place = address(unquote(unescape(id)))
        return f'<a href="{place}{anchor}"{more}>{words}</a>' if place else words

    return _LINK.sub(link, html)
