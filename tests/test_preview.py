"""The page of `watch --serve`, in a browser, while its files are saved."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from transformer_diagrams.api import Model
from transformer_diagrams.options import AskError
from transformer_diagrams.preview.figures import Figures
from transformer_diagrams.preview.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PART = "dims: {n: {}, m: {}}\ninputs: {x: [n, m]}\nblocks: [{op: linear, out: m}, gelu]\n"
SPEC = """\
title: The first name
dims: {n: {}, m: {}}
inputs: {x: [n, m]}
blocks:
  - {id: inner, use: part}
  - {op: linear, out: m, label: Second}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part.yaml").write_text(PART)
    (tmp_path / "whole.yaml").write_text(SPEC)
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    def find() -> dict[str, Model]:
        return {"whole": Model.find(str(folder / "whole.yaml"))}

    with Server(Figures(find, {}), interval=0.02) as running:
        thread = Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def ask(server: Server, path: str, host: str = "") -> tuple[int, str, Any]:
    link = http.client.HTTPConnection(*server.server_address, timeout=60)  # type: ignore[arg-type]
    link.request("GET", path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
    reply = link.getresponse()
    found = reply.status, reply.read().decode(), reply.headers
    link.close()
    return found


def test_only_this_machine_is_answered_and_only_with_its_own_pages(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "/")[0] == 200
    assert ask(server, "/figure?spec=whole", host="figures.example:80")[0] == 403
    assert ask(server, "/../pyproject.toml")[0] == 404
    assert ask(server, "/figure?spec=other")[0] == 404
    policy = ask(server, "/")[2]["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    with pytest.raises(AskError, match="cannot be used"):
        Server(server.figures, server.server_port)


def test_a_figure_is_drawn_once_until_a_file_moves(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    render = Model.render

    def counted(model: Model, *given: Any, **asked: Any) -> Any:
        drawn.append(model.id)
        return render(model, *given, **asked)

    def find() -> dict[str, Model]:
        whole = folder / "whole.yaml"
        return {"whole": Model.find(str(whole))} if whole.exists() else {}

    monkeypatch.setattr(Model, "render", counted)
    figures = Figures(find, {})
    first = figures.answer("whole", {})
    assert figures.answer("whole", {}) is first
    assert len(drawn) == 1
    (folder / "part.yaml").write_text(PART.replace("gelu", "silu"))
    second = figures.answer("whole", {"open": ["1"]})
    assert second
    assert "SiLU" in second["svg"]
    (folder / "whole.yaml").unlink()
    assert figures.answer("whole", {}) == first, "an editor writes a file by renaming another"


def state(page: Page, words: str) -> None:
    page.wait_for_function(
        "words => document.querySelector('#state').textContent.includes(words)", arg=words
    )


SIZE = "() => document.querySelector('main img').naturalHeight"


@pytest.mark.browser
def test_the_page_follows_its_files_and_keeps_what_the_reader_set(
    browser: Browser, server: Server, folder: Path
) -> None:
    page = browser.new_page(viewport={"width": 500, "height": 320})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda fault: said.append(str(fault)))
    page.goto(server.address)
    page.wait_for_selector("main img")
    assert page.title() == "The first name"
    closed = page.evaluate(SIZE)
    # Parts, by their boxes in the page; the choice is in the address, for the next time.
    page.click("#opening summary")
    page.check("#parts input")
    page.wait_for_function(f"high => ({SIZE})() > high", arg=closed)
    assert "open=inner" in page.url
    # Zoom and scroll stay through a save, and no moment is without a figure.
    page.click("#in")
    page.click("#in")
    page.evaluate("() => document.querySelector('main').scrollTo(40, 90)")
    where = page.evaluate("() => [document.querySelector('main').scrollTop, percent.textContent]")
    assert where[0] > 0
    page.evaluate(
        "() => { window.empty = 0; new MutationObserver(() => {"
        " if (!document.querySelector('main img')?.complete) window.empty++ })"
        ".observe(document.querySelector('main'), {childList: true}) }"
    )
    (folder / "whole.yaml").write_text(SPEC.replace("first", "second"))
    page.wait_for_function("() => document.title === 'The second name'")
    assert where == page.evaluate(
        "() => [document.querySelector('main').scrollTop, percent.textContent]"
    )
    # A used file counts.
    high = page.evaluate(SIZE)
    (folder / "part.yaml").write_text(PART.replace("gelu", "gelu, silu, relu"))
    page.wait_for_function(f"high => ({SIZE})() > high", arg=high)
    # Faults stand with their line over the last good figure.
    (folder / "whole.yaml").write_text(SPEC.replace("out: m", "out: q"))
    page.wait_for_selector("#faults.bad")
    words = page.inner_text("#faults")
    assert "whole.yaml:6:23" in words
    assert "'q'" in words
    assert page.locator("main.old img").count() == 1
    (folder / "whole.yaml").write_text(SPEC)
    page.wait_for_selector("#faults", state="hidden")
    for name, value in (("theme", "dark"), ("direction", "right"), ("shapes", "none")):
        before = page.get_attribute("main img", "src")
        page.select_option(f"#{name}", value)
        page.wait_for_function(
            "before => document.querySelector('main img').src !== before", arg=before
        )
    assert page.evaluate(SIZE) < page.evaluate(SIZE.replace("Height", "Width"))
    assert page.evaluate("() => window.empty") == 0
    page.reload()
    page.wait_for_selector("main img")
    assert page.input_value("#theme") == "dark"
    assert not said
    page.close()
