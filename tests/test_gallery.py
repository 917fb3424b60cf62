"""The gallery: its order of pages against a table of cases, its pages in a browser, its numbers."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag

import pytest
from selection import mostly_slow

from transformer_diagrams import api, files, pipeline, store
from transformer_diagrams.cli.app import run
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.gallery import folder, maths, order, pages, picture, prose
from transformer_diagrams.gallery.order import Page
from transformer_diagrams.gallery.record import record
from transformer_diagrams.gallery.search import words_of
from transformer_diagrams.gallery.site import build
from transformer_diagrams.gallery.yaml_html import highlight
from transformer_diagrams.options import AskError, settle

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

ROOT = Path(__file__).resolve().parent.parent
CASES = json.loads((ROOT / "tests" / "cases" / "topic_order.json").read_text(encoding="utf-8"))
# -- order


def page_of(data: dict[str, Any]) -> Page:
    return Page(
        data["id"], data["id"], data["kind"], data["date"],
        tuple(data["tags"]), tuple(data["builds_on"]),
    )  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_topic_is_in_reading_order(case: dict[str, Any]) -> None:
    listed = [page_of(data) for data in case["pages"]]
    wanted = case["expect"]
    if "error" in wanted:
        with pytest.raises(DiagramError) as caught:
            order.check(listed)
        assert wanted["message"] in [fault.message for fault in caught.value.faults]
        return
    order.check(listed)
    by_id = {page.id: page for page in listed}
    found = order.reading_order(listed, case["topic"])
    assert [page.id for page in found] == wanted["order"]
    first = {
        page.id: [other.id for other in order.read_first(page, case["topic"], by_id)]
        for page in found
    }
    assert first == wanted["read_first"]
    assert [list(pair) for pair in order.tag_counts(listed, case["topic"])] == wanted["tags"]


@pytest.mark.parametrize("seed", range(60))
def test_the_order_is_valid_and_does_not_depend_on_chance(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"p{number}" for number in range(chance.randint(2, 14))]
    listed = [
        Page(
            name, name, chance.choice(order.KINDS), str(chance.randint(2017, 2020)),
            tuple(t for t in ("a", "b") if chance.random() < 0.6),
            tuple(other for other in names[:number] if chance.random() < 0.25),
        )
        for number, name in enumerate(names)
    ]  # fmt: skip
    found = [page.id for page in order.reading_order(listed, "a")]
    assert sorted(found) == sorted(page.id for page in listed if "a" in page.tags)
    below: dict[str, set[str]] = {}
    for page in listed:  # names only build on earlier ones
        below[page.id] = {*page.builds_on}.union(*(below[other] for other in page.builds_on))
    for at, name in enumerate(found):
        assert not below[name] & {*found[at + 1 :]}
    mixed = chance.sample(listed, len(listed))
    assert [page.id for page in order.reading_order(mixed, "a")] == found
    more = [*listed, Page("other", "other", "read", "2016", ("a",))]
    assert [p.id for p in order.reading_order(more, "a") if p.id != "other"] == found


def test_an_unknown_figure_is_named_with_the_nearest() -> None:
    with pytest.raises(DiagramError) as caught:
        order.check([Page("a", "A", figures=("who-atends",))], ["who-attends", "gqa"])
    (fault,) = caught.value.faults
    assert "a: there is no figure 'who-atends'" in fault.message
    assert "who-attends" in fault.hint


# -- words


HEAD = "---\ntitle: T\nsummary: S\n{}---\n"


def sections(body: str, more: str = "") -> tuple[prose.Section, ...]:
    return prose.parse(HEAD.format(more) + body, "page", "page.md").sections


def test_markdown_is_cleaned() -> None:
    html = "".join(
        section.html
        for section in sections(
            "A <script>alert(1)</script> and <b onclick='x()'>b</b>\n\n"
            "[bad](javascript:alert(1)) [data](data:text/html,x) [good](https://example.org)\n\n"
            '<img src="https://example.org/x.png">\n\n<style>p{color:red}</style>\n'
        )
    )
    assert "<script" not in html
    assert "<style" not in html
    assert "<img" not in html
    assert "<b " not in html
    assert "javascript:" not in re.sub(r">[^<]*<", "><", html)
    assert 'href="data:' not in html
    assert '<a href="https://example.org">good</a>' in html


def test_figures_stand_where_the_text_puts_them() -> None:
    found = sections(
        "Before.\n\n## First part\n\n![words](figure:gqa)\n\nAfter.\n", "figures: [gqa]\n"
    )
    assert [section.figure for section in found] == ["gqa", ""]
    assert found[0].heading == "First part"
    assert found[0].anchor == "first-part"
    assert '<h2 id="first-part">First part</h2>' in found[0].html
    assert "After." in found[1].html


def test_formulas_are_outlines_with_words_for_the_ear() -> None:
    (section,) = sections("The width $d_m$ costs $5 and `$x$` is code.\n\n$$a_1 + b$$\n")
    assert section.html.count("<svg") == 2
    assert 'aria-label="dₘ"' in section.html or 'aria-label="d_m"' in section.html
    assert "costs $5" in section.html
    assert "<code>$x$</code>" in section.html
    assert "style=" not in section.html  # the content policy would refuse it


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("no front matter", "front matter"),
        ("---\ntitle: [\n---\n", "front matter"),
        ("---\ntitle: T\n---\n", "no summary"),
        (HEAD.format("kinds: read\n"), "'kinds'"),
        (HEAD.format("kind: blog\n"), "'blog'"),
        (HEAD.format("tags: one\n"), "`tags`"),
        (HEAD.format("figures: [gqa]\n"), "'gqa'"),
        (HEAD.format("") + "![](figure:gqa)\n", "'gqa'"),
        (HEAD.format("figures: [a]\n") + "![](figure:a)\n\n![](figure:a)\n", "'a'"),
        (HEAD.format("") + "# Again\n", "title"),
        (HEAD.format("") + "A $\\frac{1$ B\n", "formula"),
        (HEAD.format("figures: [a]\n") + "![A $\\nosuch$](figure:a)\n", "\\nosuch"),
        ("---\ntitle: T\nsummary: A $\\nosuch$\n---\n", "\\nosuch"),
        (HEAD.format("date: 2024-02-30\n"), "no day '2024-02-30'"),
        (HEAD.format("date: 2024-13\n"), "no day '2024-13'"),
        (HEAD.format("date: 99999-01-01\n"), "no day"),
        (HEAD.format("source: !!timestamp x\n"), "tag"),
        (HEAD.format("source: !!python/object:os.system x\n"), "tag"),
        (HEAD.format("source: {a: b}\n"), "`source` must be text"),
        (HEAD.format("tags: [[a]]\n"), "`tags`"),
        (HEAD.format("tags: ['']\n"), "`tags`"),
        (HEAD.format('tags: ["a\\x1b[31m"]\n'), "character"),
        (HEAD.format("tags: [a\x1b]\n"), "character"),
        (HEAD.format("tags: *a\n"), "names no value"),
        (HEAD.format("title: again\n"), "twice"),
        ("---\n- a\n---\n", "not a mapping"),
        ("---\n\n---\n", "empty"),
    ],
)
def test_a_page_with_a_fault_says_which(text: str, named: str) -> None:
    with pytest.raises(DiagramError) as caught:
        prose.parse(text, "page", "page.md")
    fault = caught.value.faults[0]
    assert named in fault.message
    assert fault.span.file == "page.md"


def test_formulas_are_set_in_text_and_nowhere_else() -> None:
    html = sections(
        "`a $x$` and ``b ` $y$`` [link $z$](https://example.org '$t$ is a title')\n\n"
        "```\n$u$\n```\n\n    $v$ indented\n\n"
        "$$\na\n= b\n+ c\n$$\n\n> - $w$\n\n\\$5 and $6$7 and \ue0000\ue001 &#xE000;0&#xE001;\n\n"
        '&lt;var id="0"&gt;&lt;/var&gt; <var id="0"></var>\n'
    )[0].html
    assert html.count("<svg") == 3  # z, the lines between $$, w
    kept_as_it_is = (
        "<code>a $x$</code>", "<code>b ` $y$</code>", "<code>$u$\n</code>",
        "<code>$v$ indented\n</code>", 'title="$t$ is a title"', "$5 and $6$7",
    )  # fmt: skip
    for kept in kept_as_it_is:
        assert kept in html
    assert "<var" not in html


def test_a_heading_with_a_formula_and_headings_of_one_name_have_their_own_anchors() -> None:
    page = prose.parse(HEAD.format("") + "## Size $d_m$\n\n## Again\n\n## Again\n", "p", "p.md")
    assert [words for _, words in page.headings] == ["Size d_m", "Again", "Again"]
    ids = re.findall(r'<h2 id="([^"]*)">', page.sections[0].html)
    assert ids == [anchor for anchor, _ in page.headings] == ["size-d-m", "again", "again-2"]


def test_links_to_pages_are_read_from_links_only() -> None:
    html = sections('[a](<page:my model> "t") `href="page:x"` href="page:y"\n')[0].html
    made = prose.linked(html, lambda id: f"../{id.replace(' ', '_')}.html")
    assert '<a href="../my_model.html" title="t">' in made
    assert 'href="page:x"' in made
    assert 'href="page:y"' in made


def test_every_wrong_formula_is_told_with_its_line() -> None:
    with pytest.raises(DiagramError) as caught:
        sections("a\nb $\\frac{1$\n\n- c\n- $\\nonsense$ d\n\n$$\n\\bad\n$$\n")
    assert [fault.span.line for fault in caught.value.faults] == [6, 9, 11]


# -- small parts


def test_highlighting_loses_nothing() -> None:
    for id in api.bundled_ids():
        text = api.Model.find(id).data.decode("utf-8")
        marked = highlight(text)
        assert unescape(re.sub(r"<[^>]*>", "", marked)) == text
    assert '<span class="y-key">title</span>' in highlight("title: x\n")
    assert '<span class="y-comment"># no: 1</span>' in highlight("a: 1  # no: 1\n")


def test_names_and_formulas() -> None:
    assert maths.name_html("n_h") == "<var>n<sub>h</sub></var>"
    assert maths.name_html("d_cq", "d_c'") == "<var>d<sub>c</sub>′</var>"
    text = maths.formula_html("2 d_m^2 - 3 % 2 <= n_h")
    assert text == (
        "2 <var>d<sub>m</sub></var><sup>2</sup> − 3 mod 2 ≤ <var>n<sub>h</sub></var>"
    )
    assert maths.words_html("a <b> n_g & x") == "a &lt;b&gt; <var>n<sub>g</sub></var> &amp; x"
    for number, short in ((9_999, "9,999"), (10_000, "10.0 k"), (999_600, "1.00 M"),
                          (8_030_261_248, "8.03 B"), (7_177 * 10**12, "7.18 P")):  # fmt: skip
        assert maths.shortened(number) == short


def test_search_words_have_no_accents_and_no_doubles() -> None:
    assert words_of(["Édouard Grave", "grave, GQA."]) == "edouard grave gqa"


def test_tags_that_differ_only_in_writing_are_a_fault() -> None:
    with pytest.raises(DiagramError, match="pre-norm"):
        pages.file_names(["pre-norm", "pre norm"])


def test_light_and_dark_are_one_figure() -> None:
    model = api.load("gqa")
    # With the trunks of branches that are shown before what they leave, as its last step has.
    light, dark = (str(model.render_steps(theme=theme)[-1]) for theme in ("paper", "dark"))
    made = picture.of_model(model)
    svg = picture.svg(made, {}, lambda _: None)
    # Print and readers without style sheets: what is painted, and the words over it.
    painted = r"<(?:rect|circle|path|text)[^>]*>[^<]*"
    assert re.findall(painted, re.sub(r' class="[^"]*"', "", svg)) == re.findall(painted, light)
    back = svg
    for prop, before, after in made["colors"]:  # the classes say all of the dark figure
        name = f"{prop[0]}{before[1:]}-{after[1:]}"
        back = re.sub(
            rf'(<[^>]*) {prop}="{before}"([^>]*class="[^"]*{name})', rf'\1 {prop}="{after}"\2', back
        )
    colors = r' (?:fill|stroke)="#[^"]*"'
    assert re.findall(colors, back) == re.findall(colors, dark)


@pytest.mark.parametrize("change", ["fewer", "more", "width", "unfilled"])
def test_figures_that_differ_in_more_than_colours_are_no_pair(change: str) -> None:
    scene = api.load("dot-product-attention").scene()
    light, dark = (
        pipeline.drawing(scene, settle({"theme": theme})).display for theme in ("paper", "dark")
    )
    if change in ("fewer", "more"):
        less = replace(light if change == "more" else dark, items=light.items[:-1])
        light, dark = (less, dark) if change == "more" else (light, less)
    else:
        box = next(item for item in dark.items if item.kind == "box")
        ink = box.shapes[0].ink
        ink = replace(ink, width=9.0) if change == "width" else replace(ink, fill="")
        other = replace(box, shapes=(replace(box.shapes[0], ink=ink), *box.shapes[1:]))
        dark = replace(dark, items=tuple(other if i is box else i for i in dark.items))
    with pytest.raises(ValueError, match=r"dark|scheme"):
        picture.paired(light, dark)


def test_blocks_tell_their_shape_and_weights() -> None:
    blocks = record(api.load("llama3"))["blocks"]
    attention = blocks["attention"]
    assert attention["name"] == "GQA"
    assert attention["shape"] == "[d_t, d_m]"
    sizes = {"d_m": 4096, "n_h": 32, "n_g": 8}
    number = api.load("gqa").inspect(set=sizes)["params"]["total"]
    assert attention["number"] == f"{maths.shortened(number)} in 8B"
    assert blocks["embed"]["params"] == "d_m V"  # as its sizes are declared
    assert blocks["embed"]["shape"] == "[d_t] → [d_t, d_m]"


# -- building


def write_page(folder: Path, name: str, more: str = "", body: str = "Words.\n") -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(HEAD.format(more) + body, encoding="utf-8")


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("more", "body", "named"),
    [
        ("builds_on: [nothing]\n", "", "bad: builds_on unknown page 'nothing'"),
        ("builds_on: [bad]\n", "", "cycle: bad -> bad"),
        ("builds_on: [good]\n", "", "cycle: bad -> good -> bad"),
        ("figures: [heads]\n", "![](figure:heads)\n", "bad: there is no figure 'heads'"),
        ("", "[x](page:nowhere)\n", "there is no page 'nowhere'"),
    ],
)
def test_a_fault_leaves_the_old_site_as_it_was(
    tmp_path: Path, more: str, body: str, named: str
) -> None:
    words, out = tmp_path / "pages", tmp_path / "site"
    write_page(words, "good")
    build(out, ["dot-product-attention"], words=words)
    before = tree(out)
    write_page(words, "good", "builds_on: [bad]\n")
    write_page(words, "bad", more, body)
    with pytest.raises(DiagramError) as caught:
        build(out, ["dot-product-attention"], words=words)
    assert named in [fault.message for fault in caught.value.faults]
    assert tree(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pages", "site"]


def test_one_id_for_a_text_and_an_architecture_is_a_fault(tmp_path: Path) -> None:
    write_page(tmp_path / "pages", "ffn")
    with pytest.raises(DiagramError, match="duplicate id: ffn"):
        build(tmp_path / "site", ["ffn"], words=tmp_path / "pages")
    assert not (tmp_path / "site").exists()


def test_another_folder_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(AskError, match="holds other files"):
        build(tmp_path, ["ffn"])
    assert tree(tmp_path) == {"mine.txt": b"mine"}


@pytest.mark.parametrize("mark", ["{}", '{"title": "T", "pages": []}', "deep", "forged"])
def test_a_folder_with_a_list_that_is_not_ours_is_not_touched(tmp_path: Path, mark: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "thesis.tex").write_text("mine")
    if mark == "forged":
        named = {"../thesis.tex": [store.digest(b"mine")]}
        data = {"made_by": folder.MADE_BY, "files": named, "seal": folder._seal(named)}
        mark = json.dumps(data)
    mark = "[" * 100_000 if mark == "deep" else mark
    (tmp_path / folder.MARK).write_text(mark)
    with pytest.raises(AskError, match="nothing was written"):
        build(tmp_path, ["dot-product-attention"])
    assert tree(tmp_path) == {"thesis.tex": b"mine", folder.MARK: mark.encode()}


def test_only_files_of_the_gallery_s_own_list_are_replaced_or_removed(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir(mode=0o750)
    build(site, ["swiglu"])
    (site / ".git").mkdir()
    (site / ".git" / "HEAD").write_text("mine")
    (site / "figures" / "thesis.tex").write_text("mine")
    (site / "figures" / "swiglu.dot").write_text("changed by hand")
    (site / "figures" / "ffn.dot").chmod(0o444)
    (site / "index.html").chmod(0o640)
    build(site, ["dot-product-attention"])
    kept = {".git/HEAD", "figures/ffn.dot", "figures/swiglu.dot", "figures/thesis.tex"}
    build(tmp_path / "fresh", ["dot-product-attention"])
    fresh, now = tree(tmp_path / "fresh"), tree(site)
    assert {name for name in now if now[name] != fresh.get(name)} == {*kept, folder.MARK}
    assert (site / "index.html").stat().st_mode & 0o777 == 0o640
    assert site.stat().st_mode & 0o777 == 0o750
    # What was left because it was marked read-only is still known, and goes when it may.
    (site / "figures" / "ffn.dot").chmod(0o644)
    build(site, ["dot-product-attention"])
    assert tree(site).keys() - fresh.keys() == kept - {"figures/ffn.dot"}
    # A file of ours that was changed, or became a link, is not written over.
    (site / "index.html").write_text("changed by hand")
    (site / "figures" / "dot-product-attention.svg").unlink()
    (site / "figures" / "dot-product-attention.svg").symlink_to(tmp_path / "elsewhere.svg")
    before = tree(site)
    with pytest.raises(AskError, match=r"figures/dot-product-attention.svg, index.html"):
        build(site, ["dot-product-attention"])
    assert tree(site) == before
    assert not (tmp_path / "elsewhere.svg").exists()


def test_a_build_that_was_killed_is_taken_up_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    build(site, ["swiglu"])
    put = files._Staged.put
    left = 7

    def dies(staged: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(9)
        put(staged)

    child = os.fork()
    if child == 0:
        monkeypatch.setattr(files._Staged, "put", dies)
        build(site, ["dot-product-attention"])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert [p.name for p in tmp_path.iterdir()] == ["site"]
    assert not [name for name in tree(site) if ".part" in name]
    build(site, ["dot-product-attention"])
    build(tmp_path / "fresh", ["dot-product-attention"])
    assert tree(site) == tree(tmp_path / "fresh")


ODD = (
    "my model", "K\u00e4se", "x", "x.dark", "a&b<i>", "100%", "q?#", "\u65e5\u672c", "-o", "'\"",
    "<x>", "a:b",
)  # fmt: skip


def test_names_of_any_kind_have_their_own_files_and_links_that_lead_there(tmp_path: Path) -> None:
    for id in ODD:
        (tmp_path / f"{id}.yaml").write_text(
            f"title: T\ntags: ['{len(id)} \u65e5', 'c++', 'c#', 'a|b']\ndims: {{d: width}}\n"
            "inputs: {x: [3, d]}\nblocks: [gelu]\n"
        )
    out = tmp_path / "site"
    build(out, [str(tmp_path)])
    assert dead_links(out) == []
    found = [p.name for p in (out / "figures").rglob("*.svg")]
    assert len(found) == 2 * len(ODD)
    own = (out / "figures" / "x.dark.svg").read_bytes()
    assert own != (out / "figures" / "dark" / "x.svg").read_bytes()
    home = (out / "index.html").read_text(encoding="utf-8")
    tagged = re.findall(r'data-tags="([^"]*)"', home)
    assert all(unescape(tags).split("\n")[1:] == ["c++", "c#", "a|b"] for tags in tagged)
    page = (out / "architectures" / "my model.html").read_text(encoding="utf-8")
    assert "transformer-diagrams render &#39;my model&#39;" in page


def test_names_that_some_systems_take_for_one_are_refused(tmp_path: Path) -> None:
    for id in ("model", "Model"):
        (tmp_path / f"{id}.yaml").write_text("inputs: {x: [3]}\nblocks: [gelu]\n")
    with pytest.raises(DiagramError, match="one file on some systems"):
        build(tmp_path / "site", [str(tmp_path)])


HOSTILE = (
    "<script>alert(1)</script></svg><script>alert(2)</script>]]><img src=x onerror=alert(3)>"
    "</title></style></pre><b onload=alert(4)>&#60;script> javascript:alert(5) {{7*7}} \" ' onx=\""
)


class Dangers(HTMLParser):
    """What would run, or fetch something, on a page or in a figure."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        data = tag == "script" and given.get("type") == "application/json"
        own = tag == "script" and given.get("src", "").startswith(("../assets/", "assets/"))
        if tag in ("img", "image", "foreignobject", "iframe", "object", "b") and not (
            given.get("src", "").startswith(("figures/", "../figures/")) or not given
        ):
            self.found.append(f"<{tag} {given}>")
        if tag == "script" and not data and not own:
            self.found.append(f"<script {given}>")
        for name, value in given.items():
            scheme = value.strip().lower().partition(":")[0]
            bad = scheme in ("javascript", "data", "vbscript") and value != "data:,"
            if name.startswith("on") or (name.endswith(("href", "src")) and bad):
                self.found.append(f"<{tag} {name}={value!r}>")


@pytest.mark.parametrize("url", ["javascript:alert(6)", "data:text/html,x", "//x", " https://x y"])
def test_nothing_that_a_spec_says_runs(tmp_path: Path, url: str) -> None:
    spec = {
        "title": HOSTILE, "short": HOSTILE[:60], "caption": HOSTILE, "family": HOSTILE[:90],
        "source": {"title": HOSTILE, "authors": HOSTILE, "url": url, "arxiv": url, "note": HOSTILE},
        "tags": [HOSTILE[:90], "a|b"],
        "dims": {"d": {"doc": HOSTILE}}, "options": {"o": {"doc": HOSTILE, "default": False}},
        "configs": {HOSTILE[:50]: {"d": 4, "source": HOSTILE}},
        "inputs": {"x": {"shape": [3, "d"], "label": HOSTILE[:60], "doc": HOSTILE}},
        "blocks": [{"op": "linear", "out": "d", "label": HOSTILE[:60], "note": HOSTILE[:90]},
                   {"group": ["gelu"], "title": HOSTILE[:60]}],
    }  # fmt: skip
    (tmp_path / "bad.yaml").write_text(json.dumps(spec))
    out = tmp_path / "site"
    build(out, [str(tmp_path / "bad.yaml")], title=HOSTILE)
    from transformer_diagrams.live.figures.spec_roles import parameters_of

    model = api.load(str(tmp_path / "bad.yaml"))
    live = parameters_of(model)
    texts = {p.name: p.read_text(encoding="utf-8") for p in out.rglob("*")
             if p.suffix in (".html", ".svg")}  # fmt: skip
    texts |= {"notebook.svg": model._repr_mimebundle_()["image/svg+xml"], "live.svg": live.svg()}
    for name, text in texts.items():
        dangers = Dangers()
        dangers.feed(text)
        assert dangers.found == [], name
    page = unescape(texts["bad.html"])
    assert f"--config '{HOSTILE[:50]}'" in page
    frame = live._repr_mimebundle_()["text/html"]
    assert frame.count("<") == 2, "all of the page is inside an attribute"


def test_a_spec_with_a_fault_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "mine.yaml"
    spec.write_text("title: Mine\ninputs: {x: [d]}\ndims: {d: width}\nblocks: [sofmax]\n")
    assert run(["gallery", str(spec), "-o", str(tmp_path / "site")]) == 1
    assert "softmax" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_specs_with_faults_are_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bad label, no YAML, what uses or builds on them: the rest of the site stands, with plain
    words where a link would lead nowhere."""
    size = "dims: {d: width}\ninputs: {x: [3, d]}\n"
    for id, text in {
        "label": f"{size}blocks: [{{op: gelu, label: '$\\nosuch{{x}}$'}}]\n",
        "broken": "blocks: [\n",
        "user": f"{size}blocks: [{{use: broken}}]\n",
        "lonely": f"builds_on: [nowhere]\n{size}blocks: [gelu]\n",
        "later": f"builds_on: [label, ffn]\n{size}blocks: [gelu]\n",
    }.items():
        (tmp_path / f"{id}.yaml").write_text(text)
    write_page(
        tmp_path / "pages", "words", "figures: [label, later]\nbuilds_on: [broken, later]\n",
        "[one](page:label#x) [two](page:later)\n\n![](figure:label)\n\n![](figure:later)\n",
    )  # fmt: skip
    out = tmp_path / "site"
    asked = ["gallery", str(tmp_path), "--pages", str(tmp_path / "pages"), "-o", str(out)]
    assert run(asked) == 1
    said = capsys.readouterr()
    assert "2 architectures, 1 text" in said.out
    for words in ("\\nosuch", "broken.yaml:2", "'nowhere'"):
        assert words in said.err
    pages = {path.stem for path in (out / "architectures").glob("*.html")}
    assert pages == {"later", "ffn"}
    assert dead_links(out) == []
    html = (out / "read" / "words.html").read_text(encoding="utf-8")
    assert '<p>one <a href="../architectures/later.html">two</a></p>' in html


def test_own_specs_come_with_what_they_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "mine.yaml"
    spec.write_text(
        "title: Mine <b>\ndims: {d_t: positions, d_m: width}\ninputs: {x: [d_t, d_m]}\n"
        "blocks: [{use: dot-product-attention, from: {Q: x, K: x, V: x}}]\n"
    )
    out = tmp_path / "site"
    assert run(["gallery", str(spec), "-o", str(out), "--title", "Ours"]) == 0
    assert "2 architectures, 0 texts" in capsys.readouterr().out
    html = (out / "architectures" / "mine.html").read_text(encoding="utf-8")
    assert 'href="../architectures/dot-product-attention.html"' in html
    assert "Mine &lt;b&gt;" in html
    assert "<b>Mine" not in html
    assert not dead_links(out)


def test_same_input_same_bytes(tmp_path: Path) -> None:
    """Another hash seed, an empty store, one process: the same site."""
    head, body = "figures: [ffn]\ntags: [x, y]\n", "![](figure:ffn)\n\n$a_b$\n"
    write_page(tmp_path / "pages", "a", head, body)
    sites = []
    for seed in ("0", "12345"):
        out = tmp_path / f"site{seed}"
        code = (
            "from transformer_diagrams.gallery.site import build\n"
            f"build({str(out)!r}, ['ffn'], words={str(tmp_path / 'pages')!r}, workers=1)\n"
        )
        env = {**os.environ, "PYTHONHASHSEED": seed,
               "TRANSFORMER_DIAGRAMS_CACHE": str(tmp_path / f"cache{seed}")}  # fmt: skip
        subprocess.run([sys.executable, "-c", code], check=True, env=env, cwd=ROOT, timeout=120)
        sites.append(tree(out))
    assert sites[0] == sites[1]


# -- the whole site


# What `make test` builds, with what these build on; `make test-all` builds all.
SMALL = ("additive-position", "llama3", "transformer")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """Built once, also when tests run in several processes."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    whole, lock, done, failed = (
        shared / f"whole-site{end}" for end in ("", ".lock", ".done", ".failed")
    )
    try:
        lock.mkdir()
    except FileExistsError:
        while not done.exists():
            assert not failed.exists(), "the process that builds the site has failed"
            time.sleep(0.2)
        return whole
    try:
        if pytestconfig.option.markexpr == "not slow":
            build(whole, SMALL, words=ROOT / "docs" / "pages")
        else:
            build(whole)
    except BaseException:
        failed.mkdir()
        raise
    done.mkdir()
    return whole


def architectures(site: Path) -> set[str]:
    """The ids of the specs on the site, by its own list."""
    listed = json.loads((site / "gallery.json").read_text(encoding="utf-8"))["pages"]
    return {page["id"] for page in listed if page["kind"] == "architecture"}


class Links(HTMLParser):
    """Addresses and ids of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src", "action") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.ids.append(value)


def dead_links(folder: Path) -> list[str]:
    """Every address that leads nowhere, and every id that stands twice on a page."""
    parsed: dict[Path, Links] = {}
    for path in folder.rglob("*.html"):
        parsed[path.resolve()] = Links()
        parsed[path.resolve()].feed(path.read_text(encoding="utf-8"))
    wrong = []
    for path, found in parsed.items():
        wrong += [f"{path.name}: id {id}" for id in {*found.ids} if found.ids.count(id) > 1]
        for link in found.links:
            if link.startswith(("https://", "data:", "mailto:")):
                continue
            name, anchor = urldefrag(link)
            target = (path.parent / unquote(name)).resolve() if name else path
            if not target.is_file() or (anchor and anchor not in parsed[target].ids):
                wrong.append(f"{path.name}: {link}")
    return wrong


def test_no_link_is_dead_and_no_id_is_twice(site: Path) -> None:
    assert dead_links(site) == []


def test_every_spec_has_its_page_and_files(site: Path) -> None:
    ids = architectures(site)
    assert {*SMALL} <= ids <= {*api.bundled_ids()}
    for id in ids:
        assert (site / "architectures" / f"{id}.html").is_file()
        data = {s: (site / pages.figure_file(id, s)).read_bytes()
                for s in ("svg", "dark.svg", "pdf", "png", "dot", "yaml")}  # fmt: skip
        assert data["pdf"].startswith(b"%PDF")
        assert data["png"].startswith(b"\x89PNG")
        assert data["yaml"] == api.Model.find(id).data
    home = (site / "index.html").read_text(encoding="utf-8")
    assert home.count('<li class="card"') == len(ids)


def test_no_text_has_the_name_of_a_bundled_spec() -> None:
    texts = {path.stem for path in (ROOT / "docs" / "pages").glob("*.md")}
    assert texts
    assert not texts & {*api.bundled_ids()}


@pytest.mark.slow
def test_every_bundled_spec_has_its_page(site: Path) -> None:
    assert architectures(site) == {*api.bundled_ids()}


@pytest.mark.parametrize(
    "id", mostly_slow(["llama3", "deepseek-v3", "gqa", "transformer"], lambda id: id[0] != "d")
)
def test_counts_are_those_of_inspect(site: Path, id: str) -> None:
    html = (site / "architectures" / f"{id}.html").read_text(encoding="utf-8")
    table = html[html.index('<table class="counts">') :]
    rows = {
        re.sub(r"<span.*?</span>|<[^>]*>", "", head).strip(): re.findall(r"<td[^>]*>(.*?)</td>", r)
        for head, r in re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', table)
    }
    model = api.load(id)
    for at, config in enumerate(model.spec.configs):
        counts = model.inspect(config)
        wanted = {
            "Parameters": counts["params"]["total"],
            "Forward pass": counts["flops"]["forward"],
            "Matrix products": counts["flops"]["macs"],
            "KV cache per token": counts["kv_cache"]["per_token"],
            "Cache in all": counts["kv_cache"]["total"],
        }
        if "Active per token" in rows:
            wanted["Active per token"] = counts["params"]["active"]
        for name, number in wanted.items():
            assert f">{number:,}<" in rows[name][at], (name, config)


def test_the_texts_build_on_each_other(site: Path) -> None:
    listed = json.loads((site / "gallery.json").read_text(encoding="utf-8"))["pages"]
    place = {page["id"]: at for at, page in enumerate(listed)}
    for page in listed:
        assert all(place[other] < place[page["id"]] for other in page["builds_on"])
    texts = [page["id"] for page in listed if page["kind"] != "architecture"]
    assert texts == ["query-key-value", "transformer-block-by-block", "detr-matching"]
    plain = (site / "topics" / "transformers.txt").read_text(encoding="utf-8")
    at = [plain.index(page["title"]) for page in listed if page["id"] in texts]
    assert all(a < b for a, b in pairwise(at))


def test_a_live_figure_is_the_same_on_its_page_and_under_its_topic(site: Path) -> None:
    def data(name: str) -> dict[str, str]:
        html = (site / name).read_text(encoding="utf-8")
        found = re.findall(
            r'<figure class="lv" id="([^"]+)">.*?<script type="application/json">(.*?)</script>',
            html, re.DOTALL,
        )  # fmt: skip
        return {id: store.digest(spec.encode()) for id, spec in found}

    topic = data("topics/transformers.html")
    assert len(topic) == 7
    own: dict[str, str] = {}
    for name in ("query-key-value", "transformer-block-by-block", "detr-matching"):
        own |= data(f"read/{name}.html")
    assert topic == own


# -- in a browser


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    yield made
    made.close()


def watched(context: BrowserContext, site: Path) -> list[str]:
    """Everything on the context's pages that must not happen, as it happens."""
    wrong: list[str] = []
    own = site.resolve().as_uri()

    def request(asked: Any) -> None:
        if not asked.url.startswith((own, "data:")):
            wrong.append(f"asked for {asked.url}")

    def failed(asked: Any) -> None:
        # Images that are still on their way when the page is left are given up; a file that is
        # missing fails otherwise (net::ERR_FILE_NOT_FOUND).
        if asked.failure != "net::ERR_ABORTED":
            wrong.append(f"failed: {asked.url}: {asked.failure}")

    def page(opened: Any) -> None:
        opened.on("console", lambda m: wrong.append(f"{opened.url}: {m.type}: {m.text}"))
        opened.on("pageerror", lambda e: wrong.append(f"{opened.url}: {e}"))
        opened.on("requestfailed", failed)

    context.on("request", request)
    context.on("page", page)
    return wrong


def until(page: Any, code: str, *given: Any) -> None:
    """Wait for something to hold. Playwright's own waiting runs `eval` in the page, which our
    content policy forbids."""
    for _ in range(1200):
        if page.evaluate(code, *given):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"in vain: {code}")


FITTED = "[...document.querySelectorAll('.stage')].every((s) => s.style.height)"
SOME = (
    "index.html",
    "topics/transformers.html",
    "read/query-key-value.html",
    "read/detr-matching.html",
    "read/transformer-block-by-block.html",
    "architectures/llama3.html",
    "architectures/gqa.html",
)


@pytest.mark.browser
@pytest.mark.parametrize("names", [SOME, pytest.param((), marks=pytest.mark.slow)])
def test_every_page_opens_in_silence(
    context: BrowserContext, site: Path, names: tuple[str, ...]
) -> None:
    wrong = watched(context, site)
    page = context.new_page()
    for path in [site / name for name in names] or sorted(site.rglob("*.html")):
        page.goto(path.as_uri(), wait_until="load")
        shown = page.evaluate(
            "[getComputedStyle(document.body).fontFamily, document.documentElement.className,"
            " document.documentElement.scrollWidth - innerWidth]"
        )
        assert "Fira" in shown[0], path
        assert shown[1] == "js", path
        assert shown[2] <= 0, path
        until(page, FITTED)
    assert wrong == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("system", "switch", "names"),
    [
        ("light", "", (SOME[0], SOME[2], SOME[5])),
        ("light", "dark", (SOME[3],)),
        pytest.param("light", "", SOME, marks=pytest.mark.slow),
        pytest.param("light", "dark", (SOME[0], *SOME[4:6]), marks=pytest.mark.slow),
        pytest.param("dark", "light", SOME[-1:], marks=pytest.mark.slow),
    ],
)
def test_accessible_in_every_dress(
    browser: Browser, site: Path, system: str, switch: str, names: tuple[str, ...]
) -> None:
    """axe finds no serious fault; the contrast of words too, whatever system and switch say."""
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    context = browser.new_context(color_scheme=system, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    if switch:
        page.select_option("#scheme", switch)
    found: list[str] = []
    # At the width of a phone what holds a live figure scrolls; the rest of a page is the same.
    phone = [name for name in names if name.startswith("read/")]
    for name, wide in [*((name, 1280) for name in names), *((name, 390) for name in phone)]:
        page.set_viewport_size({"width": wide, "height": 900})
        page.goto((site / name).as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        for fault in axe.run(page).response["violations"]:
            if fault["impact"] in ("serious", "critical"):
                nodes = [node["html"][:160] for node in fault["nodes"][:3]]
                found.append(f"{name}: {fault['id']}: {nodes}")
    context.close()
    assert found == []


@pytest.mark.browser
def test_dark_and_light_by_system_and_by_switch(browser: Browser, site: Path) -> None:
    def look(page: Any, switch: str) -> tuple[bool, bool, bool, bool]:
        """Whether page, inline figure, live figure and image are dark, where ``switch`` says so.

        The browser hands what a page stores to the next one when it comes to it.
        """
        told = "(wanted) => document.querySelector('#scheme').value === wanted"
        page.goto((site / "read" / "query-key-value.html").as_uri())
        until(page, told, switch)
        dark = page.evaluate(
            """() => {
              const low = (c) => c.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0) < 200;
              return [low(getComputedStyle(document.body).backgroundColor),
                low(getComputedStyle(document.querySelector("svg.figure > rect")).fill),
                !low(getComputedStyle(document.querySelector(".lv .drawing svg")).fill)];
            }"""
        )
        page.goto((site / "index.html").as_uri())
        until(page, told, switch)
        image = page.locator(".card").first.locator("img.dark")  # which may not be there yet
        return (*dark, image.evaluate("i => getComputedStyle(i).display !== 'none'"))

    for system in ("light", "dark"):
        context = browser.new_context(color_scheme=system)
        page = context.new_page()
        assert look(page, "auto") == (system == "dark",) * 4
        for switch in ("dark", "light", "auto"):
            page.select_option("#scheme", switch)
            wanted = system if switch == "auto" else switch
            assert look(page, switch) == (wanted == "dark",) * 4, (system, switch)
        page.select_option("#scheme", "dark")
        page.emulate_media(media="print")
        assert look(page, "dark")[:3] == (False,) * 3  # paper is white
        context.close()


@pytest.mark.browser
def test_search_and_tags_work_without_a_server(context: BrowserContext, site: Path) -> None:
    wrong = watched(context, site)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())

    def shown() -> set[str]:
        found = page.eval_on_selector_all(
            ".card:not([hidden]) a", "all => all.map((a) => a.getAttribute('href'))"
        )
        return {Path(link).stem for link in found}

    everything = shown()
    assert everything == architectures(site)
    page.fill("#filter", "Llama 3 herd")
    assert shown() == {"llama3"} | {
        id for id in everything if "herd" in str(api.load(id).summary()["source"]["title"]).lower()
    }
    page.fill("#filter", "no such thing at all")
    assert shown() == set()
    assert page.locator(".nothing").is_visible()
    page.fill("#filter", "")
    chip = page.locator(".chips [data-tag]:not(.more):not([data-tag=''])").first  # in sight
    tag = chip.get_attribute("data-tag")
    chip.click()
    tagged = {id for id in everything if tag in api.load(id).summary()["tags"]}
    assert tagged
    assert shown() == tagged
    assert f"{len(tagged)} of {len(everything)}" in page.inner_text(".shown")
    page.reload()  # the state is in the address
    assert shown() == tagged
    page.goto((site / "architectures" / "gqa.html").as_uri())
    page.fill("#seek", "swiglu")
    page.press("#seek", "Enter")
    page.wait_for_url("**/index.html**")
    page.wait_for_selector(".card[hidden]", state="attached")
    assert "swiglu" in shown()
    assert len(shown()) < len(everything)
    assert wrong == []


@pytest.mark.browser
def test_a_figure_plays_in_the_order_of_its_data(context: BrowserContext, site: Path) -> None:
    wrong = watched(context, site)
    page = context.new_page()
    page.goto((site / "architectures" / "llama3.html").as_uri())
    until(page, FITTED)
    assert page.evaluate("document.getAnimations().length") == 0  # still until it is asked for
    page.click("[data-do=play]")
    assert page.get_attribute("[data-do=play]", "aria-pressed") == "true"
    visible = (
        "at => { document.getAnimations().forEach(a => { a.pause(); a.currentTime = at; });"
        " return [...document.querySelectorAll('[data-step]')]"
        ".map(e => [+e.dataset.step, getComputedStyle(e).opacity == '1']); }"
    )
    for at in (0, 2900, 60_000):
        seen = page.evaluate(visible, at)
        latest = max((step for step, shown in seen if shown), default=1)
        assert all(shown == (step <= latest) for step, shown in seen)
        assert latest == {0: 1, 60_000: max(step for step, _ in seen)}.get(at, 4)
    page.click("[data-do=play]")
    assert page.evaluate("document.getAnimations().length") == 0
    page.emulate_media(reduced_motion="reduce")
    assert not page.is_visible("[data-do=play]")
    assert not wrong


@pytest.mark.browser
def test_a_figure_can_be_zoomed_moved_read_and_followed(
    context: BrowserContext, site: Path
) -> None:
    wrong = watched(context, site)
    page = context.new_page()
    page.goto((site / "architectures" / "llama3.html").as_uri())
    view = (
        "() => document.querySelector('.stage svg').getAttribute('viewBox').split(' ').map(Number)"
    )
    until(page, FITTED)
    whole = page.evaluate(view)
    page.click("[data-do=in]")
    page.click("[data-do=in]")
    near = page.evaluate(view)
    assert near[2] < whole[2] / 1.9
    box = page.locator(".stage").bounding_box()
    assert box is not None
    x, y = box["x"] + 10, max(box["y"], 60) + 80
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y - 40)
    page.mouse.up()
    assert page.evaluate(view)[1] > near[1]
    page.focus(".stage")
    page.keyboard.press("0")
    assert page.evaluate(view) == whole
    page.keyboard.press("+")
    assert page.evaluate(view)[2] < whole[2]
    page.keyboard.press("ArrowDown")
    page.click("[data-do=fit]")
    assert page.evaluate(view) == whole

    page.hover("a.block[data-name=GQA] rect")
    words = page.inner_text(".readout")
    assert "GQA" in words
    assert "[d_t, d_m]" in words
    assert "in 8B" in words
    page.mouse.move(1, 1)
    page.focus(".stage")
    page.keyboard.press("Tab")
    focused = "() => document.activeElement.dataset.name"
    first = page.evaluate(focused)
    assert first
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) in ("tokens", "Token embedding")
    for _ in range(12):
        if page.evaluate(focused) == "GQA":
            break
        page.keyboard.press("ArrowUp")
    assert "GQA" in page.inner_text(".readout")
    page.keyboard.press("Enter")
    page.wait_for_url("**/architectures/gqa.html")
    page.go_back()
    page.click("a.block[data-name^=SwiGLU] rect")
    page.wait_for_url("**/architectures/swiglu.html")
    assert wrong == []


@pytest.mark.browser
def test_whole_without_scripts_and_in_print(browser: Browser, site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    assert page.locator(".card:visible").count() == len(architectures(site))
    assert page.locator(".filter:visible").count() == 0
    page.goto((site / "read" / "detr-matching.html").as_uri())
    assert page.locator(".lv .drawing svg:visible").count() == 2
    assert page.locator(".lv .controls:visible").count() == 0
    page.goto((site / "architectures" / "llama3.html").as_uri())
    box = page.locator("svg.figure").bounding_box()
    assert box is not None
    assert box["height"] > 300
    page.click("a.block[aria-label^=GQA] rect")
    page.wait_for_url("**/architectures/gqa.html")
    page.emulate_media(media="print")
    assert page.locator("header.top").is_hidden()
    assert page.locator("table.counts").is_visible()
    context.close()


@pytest.mark.browser
def test_paper_gets_the_whole_figure(context: BrowserContext, site: Path) -> None:
    page = context.new_page()
    page.goto((site / "architectures" / "llama3.html").as_uri())
    until(page, FITTED)
    size = r'width="([\d.]+)pt" height="([\d.]+)pt"'
    text = (site / "figures" / "llama3.svg").read_text(encoding="utf-8")
    (drawn,) = ((float(wide), float(high)) for wide, high in re.findall(size, text))
    page.click("[data-do=in]")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    view, wide = page.evaluate(
        "() => { const s = document.querySelector('svg.figure');"
        " return [s.getAttribute('viewBox'), s.getBoundingClientRect().width]; }"
    )
    assert [float(part) for part in view.split()] == [0, 0, *drawn]
    assert wide == pytest.approx(drawn[0] * 4 / 3, rel=0.02)


@pytest.mark.browser
def test_fits_a_phone(browser: Browser, site: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    large = {"deepseek-v3", "transformer"} & architectures(site)
    for name in (*SOME, *(f"architectures/{id}.html" for id in sorted(large))):
        page.goto((site / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        # Of a live figure each panel fits, or says that it scrolls; its letters can be read.
        panels = page.evaluate(
            """() => [...document.querySelectorAll('.panel')].map((panel) => {
              const svg = panel.querySelector('svg'), box = svg.viewBox.baseVal;
              const drawing = document.querySelector(svg.querySelector('use').getAttribute('href'));
              const sizes = [...drawing.querySelectorAll('text')]
                .map((text) => parseFloat(getComputedStyle(text).fontSize));
              return [Math.min(...sizes) * svg.getBoundingClientRect().width / box.width,
                      panel.scrollWidth <= panel.clientWidth
                      || panel.tabIndex === 0 && panel.nextElementSibling.checkVisibility()];
            })"""
        )
        assert all(least > 10.95 and fits for least, fits in panels), (name, panels)
        assert panels or not name.startswith("read/")
    context.close()


@pytest.mark.browser
def test_live_figures_move_on_their_page(context: BrowserContext, site: Path) -> None:
    wrong = watched(context, site)
    page = context.new_page()
    page.goto((site / "read" / "detr-matching.html").as_uri())
    before = page.inner_text("#cost-matrix .summary")
    page.focus("#cost-matrix input >> nth=0")
    page.keyboard.press("End")
    changed = "(t) => document.querySelector('#cost-matrix .summary').innerText !== t"
    until(page, changed, before)
    assert wrong == []
