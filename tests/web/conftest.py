from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from testkit.browser import PATIENCE, Arena, arena, chromium, wait

expect.set_options(timeout=PATIENCE * 700)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for one module: the next may have an event loop of its own."""
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails its test by any error of its scripts, and by whatever the policy forbids."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(PATIENCE * 900)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if "Content Security" in said.text else None)
    yield page
    context.close()
    assert not faults


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server on which some matches were played."""
    with arena(
        tmp_path_factory.mktemp("played"), "--map", "path4", "--tc", "9/move", bots=("greedy",)
    ) as running:
        running.dawdler("random", 0.005)
        wait(lambda: len(running.ask("records")["matches"]) >= 4)
        yield running
