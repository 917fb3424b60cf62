"""What all tests share: one browser a process, and how often a property is tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from transformer_diagrams.live.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

PATIENCE = 120_000  # milliseconds

# The same inputs in every run: a failure is of the change that was made. `make fuzz` tries others.
settings.register_profile("whole", deadline=None, derandomize=True, max_examples=150)
settings.register_profile("quick", settings.get_profile("whole"), max_examples=40)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("quick" if config.option.markexpr == "not slow" else "whole")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window; where it is missing the tests fail, with what to install.

    A machine that does much else may need long for a page.
    """
    with chromium() as running:
        new_context = running.new_context

        def patient(**options: Any) -> BrowserContext:
            made = new_context(**options)
            made.set_default_timeout(PATIENCE)
            return made

        running.new_context = patient  # type: ignore[method-assign]
        yield running
