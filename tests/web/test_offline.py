"""The page without its server: it opens from what the browser has kept, says once what is wrong, and goes on by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from testkit.browser import BrowserArena, new_context, run_arena

VIEWS = (
    "",
    "tv",
    "match/0123",
    "play",
    "table",
    "bot/random",
    "search?bot=random",
    "maps",
    "file",
    "me",
    "host",
    "join/code",
)
SAID = """() => [...document.querySelectorAll('.fault-bar, .fault, [data-alarm]')]
  .filter((each) => each.checkVisibility() && each.textContent).map((each) => each.textContent)"""
"""Messages in red."""
AWAY = "The server does not answer. Reconnecting…"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[BrowserArena]:
    settings = ("--set=pool.matchmaker=false", "--set=matches.grace_seconds=300")
    with run_arena(tmp_path, "--map", "path4", "--tc", "60/move", *settings) as running:
        running.connect_slow_bot("random", 0.1)
        yield running


@pytest.fixture
def installed(served: BrowserArena, browser: Browser) -> Iterator[Page]:
    """A page in a browser that has kept it."""
    context = new_context(browser, service_workers="allow")
    page = context.new_page()
    page.goto(served.url)
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    yield page
    context.close()


def test_the_page_may_be_installed_and_every_view_opens_without_the_server_says_so_once_and_goes_on_when_it_is_back(
    served: BrowserArena, installed: Page
) -> None:
    session = installed.context.new_cdp_session(installed)
    assert session.send("Page.getInstallabilityErrors") == {"installabilityErrors": []}
    served.kill_server()
    for address in VIEWS:
        installed.goto(f"{served.url}{address}")
        expect(installed.get_by_text(AWAY)).to_be_visible()
        expect(installed.get_by_role("link", name="Riskless Arena")).to_be_visible()
        assert installed.evaluate(SAID) == [AWAY], address
    installed.goto(served.url)
    expect(installed.get_by_text(AWAY)).to_be_visible()
    served.start_server()
    expect(installed.get_by_text(AWAY)).to_be_hidden()
    expect(installed.locator(".stage .map .area-of").first).to_be_visible()


HEARD = """async () => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ playing }, { onServer }] = [await from('playing.js'), await from('server.js')];
  const said = [];
  onServer(({ away }) => said.push(away));
  playing.lost('');
  playing.found();
  return said;
}"""
"""Returns what the page knows of the server after each change: whether it is away."""


def test_the_server_is_back_as_soon_as_ones_own_match_hears_from_it(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}file")
    assert page.evaluate(HEARD) == [False, True, False]


def test_ones_own_match_says_once_that_the_server_is_away_also_after_a_reload(
    served: BrowserArena, installed: Page
) -> None:
    installed.goto(f"{served.url}play/random")
    installed.get_by_role("button", name="Start the match").click()
    expect(installed.locator("[data-source]").first).to_be_visible()
    served.kill_server()
    expect(installed.locator(".status[data-alarm]")).to_contain_text("Reconnecting…")
    expect(installed.get_by_text(AWAY, exact=True)).to_be_hidden()
    assert len(installed.evaluate(SAID)) == 1
    installed.reload()
    expect(installed.get_by_text(AWAY, exact=True)).to_be_visible()
    assert installed.evaluate(SAID) == [AWAY]
    served.start_server()
    expect(installed.locator(".viewer .status")).to_contain_text("Your turn")
    assert installed.evaluate(SAID) == []
