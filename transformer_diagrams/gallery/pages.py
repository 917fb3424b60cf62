"""The frame that all pages share: templates, the content policy, addresses, the assets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from transformer_diagrams.errors import DiagramError, Fault, did_you_mean
from transformer_diagrams.gallery.maths import (
    count_html,
    depths_css,
    formula_html,
    name_html,
    words_html,
)
from transformer_diagrams.gallery.order import Page
from transformer_diagrams.records import dataclass

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
# Scripts and styles are files beside the page: nothing inline runs, nothing else is asked for.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self' data:; base-uri 'none'; form-action 'self'"
)
ADDRESSES = {"read": "read", "paper": "read", "architecture": "architectures"}


@dataclass(frozen=True, slots=True)
class Site:
    """What every page may link to. Addresses are relative to the site's root folder."""

    title: str
    order: Sequence[Page]  # all pages, in reading order
    tags: Mapping[str, str]  # tag -> file name of its topic page
    topic: str = ""  # the main topic's tag, "" when no page of words has one
    by_id: Mapping[str, Page] = field(default_factory=dict)

    def address(self, id: str) -> str:
        """Where the page ``id`` is, as a link says it; raises as :meth:`file`."""
        return quote(self.file(id))

    def file(self, id: str) -> str:
        """The name of the file with the page ``id``.

        :raises DiagramError: when there is no such page.
        """
        page = self.by_id.get(id)
        if page is None:
            hint = did_you_mean(id, self.by_id, what="page")
            raise DiagramError(
                Fault("unknown-page", f"there is no page '{id}'", found=id, hint=hint)
            )
        return f"{ADDRESSES[page.kind]}/{id}.html"

    def link(self, id: str, root: str = "") -> dict[str, str]:
        """Title and address of a page, seen from a page whose way to the root is ``root``."""
        return {"id": id, "title": self.by_id[id].title, "href": root + self.address(id)}

    def tag(self, name: str, root: str = "", count: int | None = None) -> dict[str, Any]:
        """A tag with the address of its topic page."""
        return {"name": name, "href": f"{root}topics/{quote(self.tags[name])}.html", "count": count}

    def neighbours(self, id: str, root: str) -> dict[str, Any]:
        """The pages before and after this one in the reading order."""
        ids = [page.id for page in self.order]
        at = ids.index(id)
        return {
            "before": self.link(ids[at - 1], root) if at else None,
            "after": self.link(ids[at + 1], root) if at + 1 < len(ids) else None,
        }


def file_names(tags: Iterable[str]) -> dict[str, str]:
    """Tag -> the name of its page's file: its letters and digits in any script, small.

    :raises DiagramError: when two tags differ only in blanks, hyphens or capitals.
    """
    found: dict[str, str] = {}
    written: dict[str, str] = {}
    for tag in sorted(set(tags)):
        plain = re.sub(r"[\s_-]+", "-", unicodedata.normalize("NFC", tag).casefold()).strip("-")
        other = written.setdefault(plain, tag)
        if other != tag:
            raise DiagramError(
                Fault("duplicate-tag", f"the tags '{other}' and '{tag}' differ only in writing",
                      found=tag, hint="write them alike")
            )  # fmt: skip
        stem = re.sub(r"[^\w]+", "-", plain).strip("-")[:60] or "tag"
        name, number = stem, 2
        while name in found.values():
            name, number = f"{stem}-{number}", number + 1
        found[tag] = name
    return found


def figure_file(id: str, suffix: str) -> str:
    """The file of a spec's figure; the dark one lies apart, so that no id can mean it."""
    dark = suffix.startswith("dark.")
    return f"figures/dark/{id}.{suffix[5:]}" if dark else f"figures/{id}.{suffix}"


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def unbroken(text: str) -> str:
    """A heading whose hyphenated words stay on one line."""
    return re.sub(
        r"[\w/]+(?:-[\w/]+)+",
        lambda found: f'<span class="whole">{found[0]}</span>' if len(found[0]) < 24 else found[0],
        escape(text, quote=False),
    )


def safe(html: str) -> str:
    """HTML that we have made ourselves, as it is."""
    return html


# What templates may call; each gives HTML.
FILTERS: dict[str, Callable[..., str]] = {
    "count": count_html,
    "formula": formula_html,
    "size": name_html,
    "words": words_html,
    "heading": unbroken,
    "html": safe,
}


def _marked(function: Callable[..., str]) -> Callable[..., str]:
    """``function`` with its result marked as HTML, which a template then leaves alone."""
    from markupsafe import Markup

    return lambda *values: Markup(function(*values))


@cache
def environment() -> Environment:
    """The templates, with everything escaped that is not marked as HTML by us."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {name: _marked(function) for name, function in FILTERS.items()}
    made.filters["capital"] = capital
    made.globals["policy"] = POLICY
    return made


def page(template: str, site: Site, **values: Any) -> str:
    """One page as text."""
    values.setdefault("live", False)
    values.setdefault("here", False)
    values.setdefault("description", "")
    text: str = environment().get_template(template).render(site=site, **values)
    return re.sub(r"\n\s*\n+", "\n", text) if "<pre" not in text else text


def style(characters: str, figures: str) -> str:
    """The one style sheet: the figures' typeface, the colours of both schemes, the rules.

    ``characters`` are those that pages use, ``figures`` the rules of the figures' dark colours.
    """
    from transformer_diagrams.live.glyphs import ALWAYS, font_css
    from transformer_diagrams.live.pages import colors_css

    used = "".join(sorted({*characters, *ALWAYS} - {"\n", "\t"}))
    own = (HERE / "assets" / "site.css").read_text(encoding="utf-8")
    return "\n".join(
        [font_css(used, used), colors_css(), figures, _live_rules(), depths_css(), own]
    )


def _live_rules() -> str:
    """The live figures' own rules, without those that dress a whole page."""
    import transformer_diagrams.live as live

    text = (Path(live.__file__).parent / "page.css").read_text(encoding="utf-8")
    whole = ("*{", "html{", "body{", "main{", "h1{", ".intro{")
    kept = [line for line in text.splitlines() if not line.startswith(whole)]
    return "\n".join(kept)


def script() -> str:
    """The one script of all pages."""
    return (HERE / "assets" / "site.js").read_text(encoding="utf-8")
