"""The page of an event without matches, and of one with many. tests/web/test_semester.py has what a format adds to it."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Page, expect

from arena.server.core.settings import OPEN_POOL_EVENT_NAME
from testkit.browser import BrowserArena, run_arena
from tests.web.wire import Guest


def test_an_event_without_matches_is_no_error(empty: BrowserArena, page: Page) -> None:
    for name in ("tomorrow", OPEN_POOL_EVENT_NAME):
        page.goto(f"{empty.url}event/{name}")
        expect(page.get_by_text("No event with this name has matches yet.")).to_be_visible()
        expect(page.get_by_role("alert").filter(visible=True)).to_have_count(0)
    told = {
        "event": OPEN_POOL_EVENT_NAME,
        "plan": None,
        "counted": 0,
        "playing": 0,
        "finished": True,
        "cancel_reason": "too few bots",
    }
    page.route("**/api/event?*", lambda route: route.fulfill(json=told))
    page.reload()
    expect(page.get_by_text("Cancelled: too few bots. 0 matches played.")).to_be_visible()


def test_an_event_between_two_matches_names_the_boards_that_stay(empty: BrowserArena, page: Page) -> None:
    told = {"event": OPEN_POOL_EVENT_NAME, "plan": None, "counted": 1, "finished": False, "cancel_reason": ""}
    match = {
        "match": "m",
        "event": OPEN_POOL_EVENT_NAME,
        "game": "tictactoe",
        "map": None,
        "players": {"maxie": "ada", "minnie": "bob"},
        "finished": "2026-11-20T12:00:00Z",
        "plies": 9,
        "result": {"winner": None, "reason": "board_full"},
    }
    page.route("**/api/event?*", lambda route: route.fulfill(json=told))
    page.route("**/api/records?*", lambda route: route.fulfill(json={"matches": [], "next": None}))
    page.goto(f"{empty.url}event/{OPEN_POOL_EVENT_NAME}")
    expect(page.get_by_role("heading", name="No match in progress")).to_be_visible()
    page.route("**/api/records?*", lambda route: route.fulfill(json={"matches": [match], "next": None}))
    page.reload()
    expect(page.get_by_role("heading", name="Just finished")).to_be_visible()
    expect(page.locator(".cards.now > li")).to_have_count(1)


REPLACED = """async (listings) => {
  const { EventView } = await import(new URL('views/event.js', document.querySelector('script[type=module]').src).href);
  const view = new EventView(document.querySelector('main'), ['serve']);
  view.unlist();
  for (const each of listings) view.list(each);
}"""
"""Shows an event with these lists of its matches in progress, one after the other."""


def test_a_finished_match_among_the_boards_is_not_counted_as_in_progress(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}file")
    one, two = (
        {
            "match": name,
            "event": "serve",
            "game": "riskless",
            "map": "italy",
            "players": {"maxie": "ada", "minnie": "bob"},
            "ply": 3,
        }
        for name in ("one", "two")
    )
    page.evaluate(REPLACED, [[one, two]])
    expect(page.get_by_role("heading", name="2 matches in progress")).to_be_visible()
    page.evaluate(REPLACED, [[one, two], [two]])
    expect(page.get_by_role("heading", name="1 in progress, 1 finished")).to_be_visible()


def test_the_figure_that_ranks_comes_first(empty: BrowserArena, page: Page) -> None:
    told = {"event": OPEN_POOL_EVENT_NAME, "plan": None, "counted": 3, "finished": False, "cancel_reason": ""}
    counts = dict.fromkeys(("drawn", "time", "illegal", "gone", "other", "crash", "byes"), 0)
    common = {**counts, "elo_error": 50.0, "buchholz": None, "reached": ""}
    rows = [
        {**common, "rank": 1, "bot": "ada", "games": 3, "won": 2, "lost": 1, "points": 2, "elo": 80.4},
        {**common, "rank": 2, "bot": "bob", "games": 1, "won": 1, "lost": 0, "points": 1, "elo": -80.4},
    ]
    table = {"event": OPEN_POOL_EVENT_NAME, "rows": rows, "crosses": [], "counted": 3, "bracket": []}
    page.route("**/api/event?*", lambda route: route.fulfill(json=told))
    page.route("**/api/records?*", lambda route: route.fulfill(json={"matches": [], "next": None}))
    page.route("**/api/table?*", lambda route: route.fulfill(json=table))
    page.goto(f"{empty.url}event/{OPEN_POOL_EVENT_NAME}")
    headings = page.locator("table.standing thead th")
    expect(headings).to_have_text(["#", "Elo", "Bot", "Won, drawn, lost", "Score", "Matches", "W", "L"])
    cells = page.locator("table.standing tbody tr").last.locator("td")
    expect(cells.nth(1)).to_have_text("−80")
    expect(cells.nth(3)).to_have_text("100 %")
    expect(page.get_by_text("Ranked by Elo, which counts the strength of the opponents.")).to_be_visible()


def test_an_event_with_more_matches_than_boards_says_so_and_leads_to_all(tmp_path: Path, page: Page) -> None:
    options = (
        "--game",
        "tictactoe",
        "--tc",
        "600+0",
        "--set=pool.concurrency=20",
        "--set=pool.ready_seconds=600",
    )
    with run_arena(tmp_path, *options) as running, ExitStack() as stack:
        url = running.url.replace("http", "ws", 1)
        guests = [stack.enter_context(Guest.at(url, f"bot-{number}", "127.0.0.1")) for number in range(10)]
        for guest in guests:
            guest.say(type="ready", match=guest.hear("start")["match"])
        page.goto(f"{running.url}event/{OPEN_POOL_EVENT_NAME}")
        expect(page.get_by_text(re.compile(r"^4 of \d+ matches in progress$"))).to_be_visible()
        boards = page.locator(".cards.now > li")
        expect(boards).to_have_count(4)
        for width, height in ((768, 1024), (844, 390)):
            page.set_viewport_size({"width": width, "height": height})
            tops = boards.evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().top)")
            assert len(set(tops)) == 1, f"all boards are side by side at {width} x {height}"
        page.get_by_role("link", name="Live boards").click()
        expect(page.locator(".card.live").nth(3)).to_be_visible()
