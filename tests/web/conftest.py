from collections.abc import Generator, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from testkit.browser import (
    RUNNING_ARENAS,
    WAIT_TIMEOUT_SECONDS,
    BrowserArena,
    new_context,
    open_chromium,
    run_arena,
    wait_until,
)

expect.set_options(timeout=WAIT_TIMEOUT_SECONDS * 700)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what the running servers and bots have said to the report of a failed test."""
    report = yield
    if report.failed:
        report.sections += [
            (f"arena {number}", each.describe_state()) for number, each in enumerate(RUNNING_ARENAS)
        ]
    return report


@pytest.fixture(scope="package")
def browser(loaded_commands: None) -> Iterator[Browser]:
    """A browser for all tests of this folder; it is gone before others, which may have an event loop of their own.

    Servers and bots are forked from what is there by then, so that no test is the first to start it.
    """
    with open_chromium() as running:
        yield running


SIZE = ViewportSize(width=1280, height=900)


@pytest.fixture(scope="package")
def tabs(browser: Browser) -> Iterator[BrowserContext]:
    """The context in which tests have their pages, with one that stays and opens them.

    So all are drawn by its process: one that has drawn the page before does so for a third of the work.
    """
    context = new_context(browser, viewport=SIZE, accept_downloads=True)
    keeper = context.new_page()
    keeper.route("**/*", lambda route: route.fulfill(body=""))
    keeper.goto("http://127.0.0.1/")  # a site is one whatever the port
    yield context
    context.close()


@pytest.fixture
def page(tabs: BrowserContext) -> Iterator[Page]:
    """A page that remembers nothing, and that fails its test by any error of its scripts, and by whatever the policy forbids."""
    (keeper,) = tabs.pages
    visited: set[str] = set()

    def watch(opened: Page) -> None:
        opened.on("framenavigated", lambda frame: visited.add(origin(frame.url)))

    tabs.on("page", watch)
    with keeper.expect_popup() as opened:
        keeper.evaluate("() => { window.open('about:blank'); }")
    page = opened.value
    faults = faults_of(page)
    yield page
    tabs.remove_listener("page", watch)
    for each in tabs.pages:
        if each is not keeper:
            each.close()
    tabs.clear_cookies()
    store = tabs.new_cdp_session(keeper)
    for site in visited:
        if site.startswith("http"):
            store.send("Storage.clearDataForOrigin", {"origin": site, "storageTypes": "all"})
    store.detach()
    assert not faults


@pytest.fixture
def mortal(browser: Browser) -> Iterator[Page]:
    """A page like `page` whose process is its own, and may crash."""
    context = new_context(browser, viewport=SIZE)
    page = context.new_page()
    faults = faults_of(page)
    yield page
    context.close()
    assert not faults


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def faults_of(page: Page) -> list[str]:
    """The errors of a page's scripts, and what its policy forbids them, as they come."""
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if "Content Security" in said.text else None)
    return faults


@pytest.fixture(scope="package")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server to which nobody connects: for the start page of such a one, and for what the page does by itself."""
    # The pages of all tests come from one address, whose budget is one reader's.
    with run_arena(tmp_path_factory.mktemp("empty"), "--set=limits.work_ms_per_second=1000000") as running:
        yield running


@pytest.fixture
def timed(empty: BrowserArena, browser: Browser) -> Iterator[Page]:
    """A page whose clock is the test's, on a server where nobody plays. All pages of a context have one clock."""
    context = new_context(browser)
    page = context.new_page()
    faults = faults_of(page)
    stop_clock(page, f"{empty.url}file")  # a view that does nothing by itself
    yield page
    context.close()
    assert not faults


def stop_clock(page: Page, url: str) -> None:
    """Open a view, and let its time go on only when the test says so.

    The page then sees seconds pass before the server can answer. Its message that the server is away would move all else.
    """
    page.clock.install(time="2026-01-01T00:00:00")
    page.goto(url)
    expect(page.locator("main h1")).to_be_visible()
    page.evaluate(
        "Promise.all([...document.fonts].map((font) => font.load())).then(() => null)"
    )  # none comes later and moves lines
    page.clock.pause_at("2026-01-01T01:00:00")
    page.evaluate("document.querySelector('.fault-bar').remove()")


@pytest.fixture(scope="package")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server on which some matches were played and rated.

    Tests also play against `greedy`, and leave matches without moves behind: those of `random` are whole.
    """
    with run_arena(tmp_path_factory.mktemp("played"), "--map", "path4", "--tc", "60/move") as running:
        running.connect_bot("greedy", max_matches=2)  # one of them against whoever challenges it
        running.connect_slow_bot("random", 0.005)
        wait_until(lambda: len(running.fetch_json("records")["matches"]) >= 4, 3 * WAIT_TIMEOUT_SECONDS)
        # An answer that is asked for before the matches are counted is kept for up to a minute where the cores are busy.
        wait_until(lambda: running.fetch_json("table")["standings"])
        running.set_sleep_of_slow_bots(2.0)  # a match goes on, and seldom ends while a test looks at it
        yield running
