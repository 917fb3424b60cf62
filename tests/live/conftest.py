"""Live figures on one page, and tabs that keep what they said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from transformer_diagrams.live.figures import IDS, get
from transformer_diagrams.live.pages import page


@pytest.fixture(scope="session")
def figures() -> dict[str, Any]:
    return {id: get(id) for id in IDS}


@pytest.fixture(scope="session")
def html(figures: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with all seven figures."""
    file = tmp_path_factory.mktemp("live") / "all.html"
    file.write_text(page(list(figures.values())), encoding="utf-8")
    return file


class Tab:
    """An open page that keeps everything it said and everything it asked for."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.context = browser.new_context(
            offline=True, viewport={"width": 1100, "height": 900}, **options
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.address = file.as_uri()
        self.page.goto(self.address)

    def run(self, code: str, *given: Any) -> Any:
        return self.page.evaluate(code, *given)

    def quiet(self) -> None:
        """Nothing was said, and nothing but the file itself was asked for."""
        assert self.said == []
        outside = [url for url in self.asked if not url.startswith(("data:", "blob:"))]
        assert {url.split("#")[0] for url in outside} <= {self.address}


@pytest.fixture(scope="module")
def tab(browser: Any, html: Path) -> Iterator[Tab]:
    opened = Tab(browser, html)
    yield opened
    opened.context.close()


@pytest.fixture(scope="module")
def open_tab(browser: Any) -> Iterator[Any]:
    opened: list[Tab] = []

    def make(file: Path, **options: Any) -> Tab:
        opened.append(Tab(browser, file, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.context.close()
