"""The page of an event: what its format adds to the table, and the bracket of a knockout."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Page, expect

from arena.server.core.settings import OPEN_EVENT
from testkit.browser import PATIENCE, BrowserArena, run_arena
from testkit.forked import ForkedCommand
from tests.web.wire import Guest


def test_a_knockout_has_its_champion_and_its_bracket_and_a_swiss_its_points(
    tmp_path: Path, page: Page
) -> None:
    bots = [word for name in ("greedy", "random", "minimax:depth=2") for word in ("--bot", name)]
    for format in ("knockout", "swiss"):
        words = ("ladder", "--game", "tictactoe", "--tc", "60/move", "--rounds", "1", "--format", format)
        ladder = ForkedCommand(*words, "--event", format, "--db", "sqlite:///arena.db", *bots, cwd=tmp_path)
        assert ladder.wait(2 * PATIENCE) == 0
    with run_arena(tmp_path) as running:
        page.goto(f"{running.url}event/knockout")
        rows = page.locator("table.standing tbody tr")
        expect(rows.first).to_contain_text("champion")
        expect(page.get_by_role("heading", name="Bracket")).to_be_visible()
        expect(page.locator("section li strong")).to_have_count(2)
        expect(page.get_by_text("Champion:")).to_contain_text(
            rows.first.get_by_role("rowheader").inner_text()
        )
        expect(page.get_by_role("link", name="CSV")).to_have_attribute(
            "href", "/api/table.csv?event=knockout"
        )
        expect(rows.filter(has=page.locator("strong", has_text=re.compile("^−[0-9]+$")))).not_to_have_count(0)
        page.goto(f"{running.url}event/swiss")
        expect(page.get_by_role("columnheader", name="Buchholz")).to_be_visible()
        expect(page.get_by_role("heading", name="Bracket")).to_have_count(0)
        page.goto(f"{running.url}embed/event/knockout")
        expect(rows.first).to_contain_text("champion")
        expect(page.get_by_role("link", name="Play")).to_have_count(0)
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Open in Riskless Arena").click()
        opened.value.wait_for_url("**/event/knockout")
        opened.value.close()


def test_an_event_without_matches_is_no_error(empty: BrowserArena, page: Page) -> None:
    for name in ("tomorrow", OPEN_EVENT):
        page.goto(f"{empty.url}event/{name}")
        expect(page.get_by_text("No event with this name has matches yet.")).to_be_visible()
        expect(page.get_by_role("alert").filter(visible=True)).to_have_count(0)


def test_an_event_with_more_matches_than_boards_says_so_and_leads_to_all(tmp_path: Path, page: Page) -> None:
    options = ("--game", "tictactoe", "--tc", "600+0", "--set", "pool.concurrency=20")
    with run_arena(tmp_path, *options) as running, ExitStack() as stack:
        url = running.url.replace("http", "ws", 1)
        guests = [stack.enter_context(Guest.at(url, f"bot-{number}", "127.0.0.1")) for number in range(10)]
        for guest in guests:
            guest.say(type="ready", match=guest.hear("start")["match"])
        page.goto(f"{running.url}event/{OPEN_EVENT}")
        expect(page.get_by_text(re.compile(r"^4 of \d+ matches in progress$"))).to_be_visible()
        boards = page.locator(".cards.now > li")
        expect(boards).to_have_count(4)
        for width, height in ((768, 1024), (844, 390)):
            page.set_viewport_size({"width": width, "height": height})
            tops = boards.evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().top)")
            assert tops[0] == tops[1], f"two boards are side by side at {width} x {height}"
        page.get_by_role("link", name="All live boards").click()
        expect(page.locator(".card.live").nth(4)).to_be_visible()
