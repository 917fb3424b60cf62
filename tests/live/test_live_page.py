"""The page as a reader meets it: keys, links, tables, files, policy, print, phone, no scripting."""

from __future__ import annotations

import html as html_lib
import json
import re
from pathlib import Path
from typing import Any

import live_reference as ref
import numpy as np
import pytest
from test_live_browser import same_picture

from transformer_diagrams.live import draw, pages
from transformer_diagrams.live.figures import IDS
from transformer_diagrams.live.palette import palette
from transformer_diagrams.options import AskError

pytestmark = pytest.mark.browser

# For each figure a slider, and one number that follows it.
KEYS = {
    "who-attends": ("sharpness", "entropy"),
    "why-sqrt-dk": ("n", "max_raw"),
    "several-heads": ("log2h", "dk"),
    "where-parameters-go": ("log2d", "total"),
    "clock-hands": ("log2d", "dot"),
    "cost-matrix": ("shift", "total"),
    "l1-and-giou": ("dy", "dx0"),
}


def part(id: str, name: str) -> str:
    return f"document.querySelector('#{id} {name}')"


@pytest.mark.parametrize("id", IDS)
def test_real_keys_on_real_sliders(tab: Any, figures: dict[str, Any], id: str) -> None:
    figure, (name, number) = figures[id], KEYS[id]
    slider = next(s for s in figure.sliders if s.name == name)
    tab.page.click(f"#{id} .reset")
    home = tab.run(f"document.getElementById('{id}').lv.svg()")
    state = figure.state()
    tab.page.focus(f"#{id} input[name={name}]")
    # A page of its own height: nothing may move while keys are pressed.
    place = tab.run("[document.documentElement.scrollHeight, scrollY]")
    middle = slider.values[min(slider.index + 1, len(slider.values) - 1)]
    for key, value in (("ArrowRight", middle), ("Home", slider.values[0]),
                       ("End", slider.values[-1])):  # fmt: skip
        tab.page.keyboard.press(key)
        state[name] = value
        shown = slider.shown(value)
        one = f"document.querySelector('#{id} input[name={name}]')"
        assert tab.run(f"{one}.getAttribute('aria-valuetext')") == shown
        assert tab.run(f"{one}.parentElement.querySelector('output').textContent") == shown
        assert tab.run(f"{one}.labels.length") == 1
        sentence = tab.run(part(id, ".summary") + ".firstChild.textContent")
        assert sentence == figure.summary(**state)
        got = np.ravel(tab.run(f"document.getElementById('{id}').lv.get()")[number])
        wanted = np.ravel(ref.numbers(id, state)[number])
        assert got == pytest.approx(wanted, abs=1e-9)
        assert tab.run("[document.documentElement.scrollHeight, scrollY]") == place
    assert tab.run(f"document.getElementById('{id}').lv.svg()") != home
    tab.page.click(f"#{id} .reset")
    assert tab.run(f"document.getElementById('{id}').lv.svg()") == home
    assert tab.run(f"document.getElementById('{id}').lv.params") == figure.state()
    tab.quiet()


def test_every_control_has_a_name_and_focus_is_seen(tab: Any) -> None:
    named = tab.run("""() => [...document.querySelectorAll('input')].map((i) =>
      [i.labels[0].querySelector('.name').textContent, i.getAttribute('aria-valuetext')])""")
    assert len(named) == 13
    assert all(name and text for name, text in named)
    tab.page.focus("#who-attends input[name=query]")
    tab.page.keyboard.press("ArrowLeft")
    outline = tab.run("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    box = tab.run("document.activeElement.getBoundingClientRect().height")
    assert box >= 24
    snapshot = tab.page.locator("#why-sqrt-dk").aria_snapshot()
    assert 'slider "key width dk"' in snapshot
    assert re.search(r'img "Why divide by √d_?k"', snapshot.replace("√dk", "√d_k"))
    tab.page.click("#who-attends .reset")


def test_tab_goes_in_reading_order(open_tab: Any, html: Path, figures: dict[str, Any]) -> None:
    tab = open_tab(html)
    wanted = []
    for id, figure in figures.items():
        wanted += [f"{id}-{s.name}" for s in figure.sliders]
        wanted += [f"{id} Reset", f"{id} Copy state", f"{id} Download SVG",
                   f"{id} Show the numbers"]  # fmt: skip
    seen = []
    for _ in wanted:
        tab.page.keyboard.press("Tab")
        seen.append(tab.run("""() => { const e = document.activeElement;
          return e.id || e.closest('figure').id + ' ' + e.textContent; }"""))
    assert seen == wanted
    tab.quiet()


def test_the_page_is_one_file_under_300_kb_that_asks_for_nothing(
    open_tab: Any, html: Path, tmp_path: Path
) -> None:
    text = html.read_text(encoding="utf-8")
    assert len(text.encode()) < 300_000
    assert not re.search(r"https?://(?!www\.w3\.org/(2000/svg|1999))", text)
    for word in ("eval(", "new Function", "localStorage", "sessionStorage", "require(", "fetch("):
        assert word not in text
    assert len(pages.runtime()) < 20_000
    tab = open_tab(html)
    tab.page.wait_for_timeout(300)
    tab.quiet()
    assert tab.run("performance.getEntriesByType('resource').length") == 0
    names = tab.run("Object.getOwnPropertyNames(window)")
    (tmp_path / "empty.html").write_text("<!doctype html><title>empty</title>", encoding="utf-8")
    empty = open_tab(tmp_path / "empty.html").run("Object.getOwnPropertyNames(window)")
    assert set(names) - set(empty) == set()


def test_the_policy_names_style_and_script_by_hash(html: Path, open_tab: Any) -> None:
    text = html.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert " style=" not in text
    assert not re.search(r"<[^>]+\son\w+=", text)
    # The policy is in force: what it does not name does not run.
    tab = open_tab(html)
    refused = tab.run("""() => new Promise((done) => {
      document.addEventListener('securitypolicyviolation', (e) => done(e.violatedDirective));
      const script = document.createElement('script');
      script.textContent = 'window.broken = 1';
      document.body.append(script);
      setTimeout(() => done('ran: ' + window.broken), 2000); })""")
    assert refused.startswith("script-src")


def test_without_scripting_the_default_state_is_there(
    open_tab: Any, html: Path, figures: dict[str, Any]
) -> None:
    tab = open_tab(html, java_script_enabled=False)
    for id, figure in figures.items():
        assert tab.page.locator(f"#{id} .drawing > svg").is_visible()
        assert tab.page.locator(f"#{id} .summary span").first.text_content() == figure.summary()
        assert not tab.page.locator(f"#{id} .controls").is_visible()
        assert not tab.page.locator(f"#{id} .actions").is_visible()
    assert tab.page.locator("noscript .intro").first.is_visible()
    tab.quiet()
    text = html.read_text(encoding="utf-8")
    for figure in figures.values():  # what is in the file is Python's picture of the default
        inside = draw.svg(figure.drawing(), figure.size, draw.css_paint(palette("light")))
        assert inside[inside.index(">") + 1 :].removesuffix("</svg>") in text


def test_print_hides_controls_and_says_the_state(
    open_tab: Any, html: Path, figures: dict[str, Any]
) -> None:
    tab = open_tab(html, color_scheme="dark")
    tab.run("document.getElementById('several-heads').lv.set({log2h: 3})")
    dark = tab.run("getComputedStyle(document.body).backgroundColor")
    tab.page.emulate_media(media="print", color_scheme="dark")
    assert tab.run("getComputedStyle(document.body).backgroundColor") != dark
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for id in IDS:
        assert not tab.page.locator(f"#{id} .controls").is_visible()
        assert not tab.page.locator(f"#{id} .actions").is_visible()
        assert tab.page.locator(f"#{id} .printed").is_visible()
    assert tab.page.locator("#several-heads .printed").text_content() == "heads: 8"
    assert figures["several-heads"].state_text(log2h=3) == "heads: 8"
    assert len(tab.page.pdf()) > 20_000


def test_a_link_brings_a_state_back(open_tab: Any, html: Path) -> None:
    tab = open_tab(html)
    tab.page.click("#cost-matrix .copy")
    tab.page.focus("#cost-matrix input[name=wcls]")
    tab.page.keyboard.press("End")
    tab.page.click("#cost-matrix .copy")
    link, command, python = tab.page.locator("#cost-matrix .state code").all_text_contents()
    assert link == f"{tab.address}#cost-matrix?wcls=10&shift=0"
    assert tab.page.url == link
    assert command == (
        "transformer-diagrams live export cost-matrix --set wcls=10 --set shift=0 "
        "-o cost-matrix.svg"
    )
    assert python == 'figure("cost-matrix").save("cost-matrix.svg", wcls=10, shift=0)'
    assert "Link" in tab.page.locator("#cost-matrix .done").text_content()
    other = tab.context.new_page()
    other.goto(link)
    here = other.evaluate("document.getElementById('cost-matrix').lv.params")
    assert here == {"wcls": 10, "shift": 0}
    assert other.evaluate("document.querySelector('#cost-matrix').getBoundingClientRect().top") < 40
    # A link with nonsense in it changes nothing, quietly.
    other.goto(tab.address + "#clock-hands?pos=abc&none=3&log2d=1e400")
    other.wait_for_timeout(100)
    default = {"log2d": 7, "pos": 10}
    assert other.evaluate("document.getElementById('clock-hands').lv.params") == default
    tab.quiet()


def test_the_python_and_the_command_make_the_same_state(
    figures: dict[str, Any], tmp_path: Path
) -> None:
    from transformer_diagrams.live import commands, figure

    one = figure("cost-matrix").save(tmp_path / "one.svg", wcls=10, shift=0)
    two = commands.export("cost-matrix", ["wcls=10", "shift=0"], tmp_path / "two.svg")
    assert one.read_bytes() == two.read_bytes()


def test_the_numbers_are_shown_as_tables(open_tab: Any, html: Path) -> None:
    tab = open_tab(html)
    for id in IDS:
        tab.page.click(f"#{id} .numbers summary")
        tab.page.locator(f"#{id} .tables caption").first.wait_for()
        captions = tab.page.locator(f"#{id} .tables caption").all_text_contents()
        outputs = tab.run(f"Object.keys(document.getElementById('{id}').lv.get())")
        names = [part.split(":")[0] for c in captions for part in c.split("; ")]
        assert names == outputs
        cells = tab.page.locator(f"#{id} .tables td").count()
        assert cells == tab.run(f"Object.values(document.getElementById('{id}').lv.get()).flat()"
                                ".length")  # fmt: skip
    cells = tab.page.locator("#who-attends .tables table").nth(0).locator("td").all_text_contents()
    wanted = ref.numbers("who-attends", {"query": 7, "sharpness": 1})["A"].ravel()
    assert [float(c) for c in cells] == pytest.approx(wanted, abs=6e-7)
    # Open tables follow the slider, and nothing jumps.
    tab.page.focus("#who-attends input[name=sharpness]")
    before = tab.run("document.documentElement.scrollHeight")
    tab.page.keyboard.press("Home")
    cells = tab.page.locator("#who-attends .tables table").nth(0).locator("td").all_text_contents()
    assert {float(c) for c in cells} == {0.125}
    assert tab.run("document.documentElement.scrollHeight") == before
    tab.quiet()


def test_download_gives_the_state_as_a_picture(
    open_tab: Any, html: Path, figures: dict[str, Any], tmp_path: Path
) -> None:
    tab = open_tab(html, color_scheme="dark")
    tab.run("document.getElementById('l1-and-giou').lv.set({dy: 0.3, scale: 1.7})")
    with tab.page.expect_download() as waiting:
        tab.page.click("#l1-and-giou .save")
    assert waiting.value.suggested_filename == "l1-and-giou.svg"
    waiting.value.save_as(tmp_path / "down.svg")
    text = (tmp_path / "down.svg").read_text(encoding="utf-8")
    assert "var(" not in text
    assert "@font-face" in text
    assert palette("light")["blue"] in text  # light, though the page is dark
    picture = re.sub(r"<(title|desc|style)[^>]*>.*?</\1>", "", text, flags=re.S)
    picture = re.sub(r"(<svg[^>]*>)<rect[^>]*/>", r"\1", picture)
    picture = re.sub(r"<text [^>]*>[^<]*</text></svg>", "</svg>", picture)
    wanted = figures["l1-and-giou"].svg(dy=0.3, scale=1.7)
    assert same_picture(wanted, picture) == ""
    assert "shift up dy 0.3   ·   scale s 1.7" in text
    # It opens by itself, without a word in the console.
    other = open_tab(tmp_path / "down.svg")
    other.page.wait_for_timeout(100)
    other.quiet()


@pytest.mark.parametrize("width", [360, 414, 768])
def test_a_phone_has_no_sideways_scroll(open_tab: Any, html: Path, width: int) -> None:
    tab = open_tab(html)
    tab.page.set_viewport_size({"width": width, "height": 800})
    assert tab.run("document.documentElement.scrollWidth") <= width
    heights = tab.run("""() => { const seen = new Set();
      const lv = document.getElementById('several-heads').lv;
      for (const log2h of [0, 1, 2, 3, 2]) {
        lv.set({log2h}); seen.add(document.documentElement.scrollHeight);
      } return [...seen]; }""")
    assert len(heights) == 1
    sizes = tab.run("""() => [...document.querySelectorAll('input')].map((i) =>
      i.getBoundingClientRect().height)""")
    assert min(sizes) >= 24


def test_words_stay_inside_the_drawing_and_apart(
    tab: Any, figures: dict[str, Any]
) -> None:
    """Measured by the browser in the middle and at the ends of all sliders."""
    for id, figure in figures.items():
        ends = [
            {s.name: s.values[at] for s in figure.sliders} for at in (0, -1)
        ]
        for state in (*ends, figure.state()):
            found = tab.run("""([id, state]) => {
              const figure = document.getElementById(id); figure.lv.set(state);
              const svg = figure.querySelector('svg'), frame = svg.getBoundingClientRect();
              return [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim()
                && (t.getAttribute('opacity') ?? '1') !== '0'
                && !t.getAttribute('transform')).map((t) => {
                  const b = t.getBoundingClientRect();
                  return [t.textContent, b.left - frame.left, b.top - frame.top,
                          b.right - frame.left, b.bottom - frame.top, frame.width, frame.height];
                }); }""", [id, state])
            for text, left, top, right, bottom, wide, high in found:
                assert left > -1, (id, state, text)
                assert top > -4, (id, state, text)
                assert right < wide + 1, (id, state, text)
                assert bottom < high + 4, (id, state, text)
            if id == "cost-matrix":
                continue  # names and numbers of boxes lie where the boxes are
            for i, (one, *a, _, _) in enumerate(found):
                for other, *b, _, _ in found[i + 1 :]:
                    across = min(a[2], b[2]) - max(a[0], b[0])
                    down = min(a[3], b[3]) - max(a[1], b[1])
                    # Line boxes are taller than letters by about a third.
                    assert across < 1 or down < 0.4 * (a[3] - a[1]), (id, state, one, other)


def test_two_copies_on_one_page(open_tab: Any, tmp_path: Path, figures: dict[str, Any]) -> None:
    figure = figures["who-attends"]
    two = pages.fragment(figure) + pages.fragment(figure, key="again", state={"sharpness": 0})
    file = tmp_path / "two.html"
    file.write_text(pages.shell("Two", two), encoding="utf-8")
    ids = re.findall(r'\sid="([^"]+)"', two)
    assert len(ids) == len(set(ids))
    tab = open_tab(file)
    tab.run("document.getElementById('who-attends').lv.set({query: 2})")
    states = tab.run("[...document.querySelectorAll('figure')].map((f) => f.lv.params)")
    assert states == [{"query": 2, "sharpness": 1}, {"query": 7, "sharpness": 0}]
    tab.page.click("#again .reset")
    assert tab.run("document.getElementById('again').lv.params.sharpness") == 1
    tab.quiet()


def test_text_cannot_end_the_data_block(open_tab: Any, tmp_path: Path) -> None:
    from transformer_diagrams.live.figures.sentence import sentence
    from transformer_diagrams.live.figures.who_attends import who_attends

    evil = ["</script><script>alert(1)</script>", "<b>&amp;\"'", "\u2028 –", "日本", "שלום"]
    figure = who_attends(sentence(evil, np.eye(5), np.eye(5), np.eye(5)))
    text = pages.page([figure])
    assert "<script>alert" not in text
    assert "<b>&amp;\"" not in text
    file = tmp_path / "evil.html"
    file.write_text(text, encoding="utf-8")
    tab = open_tab(file)
    for at, token in enumerate(evil):
        tab.run("(q) => document.getElementById('who-attends').lv.set({query: q})", at)
        assert tab.page.locator("#who-attends output").first.text_content() == token
        assert tab.run("document.querySelector('#who-attends').lv.svg()").count("<b>") == 0
    tab.quiet()
    data = re.search(r'<script type="application/json">(.*?)</script>', text, re.S)
    assert data
    assert json.loads(data[1])["sliders"][0]["show"] == evil
    assert html_lib.escape(evil[0]) in text


def test_a_page_refuses_nonsense(figures: dict[str, Any]) -> None:
    one = figures["who-attends"]
    for bad, words in (
        (lambda: pages.page([]), "needs a figure"),
        (lambda: pages.page([one, one]), "twice"),
        (lambda: pages.page([one], theme="pink"), "cannot be 'pink'"),
        (lambda: pages.page([one], states={"who-attends": {"query": 99}}), "cannot be '99'"),
    ):
        with pytest.raises(AskError, match=words):
            bad()


def test_light_and_dark_have_enough_contrast(open_tab: Any, html: Path) -> None:
    from transformer_diagrams.theme.contrast import contrast

    for mode in ("light", "dark"):
        colors = palette(mode)
        for name in ("ink", "soft", "blue", "orange"):
            assert contrast(colors[name], colors["paper"]) >= 4.5, (mode, name)
            # Large or strong words on shaded ground.
            assert contrast(colors[name], colors["shade"]) >= 4.2, (mode, name)
        for i in range(101):  # costs printed over the ramp
            over = colors["high" if i >= 70 else "low"]
            assert contrast(over, colors[f"r{i}"]) >= 4.4, (mode, i)
        for name, color in colors.items():
            if name.startswith("role-"):
                assert contrast(colors["ink"], color) >= 4.5, (mode, name)
    tab = open_tab(html, color_scheme="dark")
    shown = tab.run("getComputedStyle(document.body).backgroundColor")
    wanted = palette("dark")["paper"]
    assert shown == "rgb({}, {}, {})".format(*(int(wanted[i : i + 2], 16) for i in (1, 3, 5)))


def test_the_same_figures_give_the_same_bytes(figures: dict[str, Any], html: Path) -> None:
    from transformer_diagrams.live.figures import get

    assert pages.page([get(id) for id in IDS]) == html.read_text(encoding="utf-8")
