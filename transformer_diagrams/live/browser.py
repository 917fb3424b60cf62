"""Headless Chromium for checks: found, started without any background traffic, closed again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from transformer_diagrams.errors import Fault, ToolMissing

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ENV = "TRANSFORMER_DIAGRAMS_CHROMIUM"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
PATIENCE = 25_000  # milliseconds: a runaway loop must not hang a run


def program() -> str:
    """The path of Chromium: ``$TRANSFORMER_DIAGRAMS_CHROMIUM``, else found by name.

    :raises ToolMissing: that says what to install.
    """
    given = os.environ.get(ENV)
    for name in (given,) if given else PROGRAMS:
        found = shutil.which(name)
        if found:
            return found
    raise ToolMissing(
        Fault(
            "missing-program",
            "live figures are checked in Chromium, which is not installed",
            hint=f"install the package 'chromium', or name the program in ${ENV}",
        )
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser.

    :raises ToolMissing: when it or Playwright is not installed.
    """
    path = program()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise ToolMissing(
            Fault(
                "missing-library",
                "live figures are checked through the Python package 'playwright', "
                "which is not installed",
                hint="pip install playwright",
            )
        ) from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=list(FLAGS), timeout=4 * PATIENCE
        )
        try:
            yield browser
        finally:
            browser.close()
