"""Ten things that a stranger comes for, each in so many steps: a click, a press of keys, a reload."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page, expect

from arena.protocol.record import format_record_line
from arena.protocol.values import Players
from testkit.browser import (
    WAIT_TIMEOUT_SECONDS,
    BrowserArena,
    new_context,
    run_arena,
    skip_to_live_match,
    wait_until,
)
from testkit.forked import ForkedCommand
from tests.web.test_replay import turned

MAX_TABS = 60
"""Presses of Tab that reach anything on a view."""


class Stranger:
    """Somebody at a page, whose steps are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.steps = 0

    def click(self, what: str | Locator, role: str = "button") -> None:
        self.steps += 1
        found = self.page.get_by_role(role, name=what, exact=True) if isinstance(what, str) else what  # type: ignore[arg-type]
        found.first.click()

    def reload(self) -> None:
        self.steps += 1
        self.page.reload()

    def choose(self, selector: str) -> None:
        """Go by Tab to what is meant and press Enter: one step."""
        self.steps += 1
        expect(self.page.locator(selector).first).to_be_visible()
        for _ in range(MAX_TABS):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("(sign) => document.activeElement.matches(sign)", selector):
                self.page.keyboard.press("Enter")
                return
        raise AssertionError(f"the keyboard does not reach {selector}")

    def move(self) -> None:
        """Play a move: two clicks."""
        self.click(self.page.locator("[data-source]"))
        self.click(self.page.locator("[data-target]"))


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server where two bots play, and where the house has an easy one. In a finished match, the chances change early."""
    options = ("--map", "italy", "--tc", "60/move", "--set=house.engines=greedy")
    folder = tmp_path_factory.mktemp("town")
    record = replace(turned(), match="0" * 32, players=Players("ann", "cleo"))
    file = folder / "turned.jsonl"
    file.write_text(format_record_line(record) + "\n", encoding="utf-8")
    with run_arena(folder, *options) as running:
        running.run_command("import", str(file))
        for name in ("ann", "bob"):
            running.connect_slow_bot(name, 2.0)
        yield running


@pytest.fixture
def stranger(town: BrowserArena, page: Page) -> Stranger:
    """Somebody who has just opened the start page."""
    page.goto(town.url)
    return Stranger(page)


def start(stranger: Stranger) -> None:
    stranger.click("Play", "link")
    stranger.click("Start the match")
    expect(stranger.page.locator(".viewer .status")).to_contain_text("Your turn")


def resign(stranger: Stranger) -> None:
    stranger.click("Resign")
    stranger.click("Yes, resign")
    expect(stranger.page.locator(".viewer .status")).to_contain_text("You resigned")


def test_find_who_is_winning_in_no_step(stranger: Stranger) -> None:
    stage = stranger.page.locator(".stage:not(.first)")
    expect(stage).to_contain_text(re.compile(r"(ann|bob) (\d+ %|wins)|Draw"))


def test_start_a_match_against_the_easy_bot_in_two_and_resign_in_two_more(stranger: Stranger) -> None:
    start(stranger)
    assert stranger.steps == 2
    expect(stranger.page.locator(".player .name", has_text="House Greedy")).to_be_visible()
    resign(stranger)
    assert stranger.steps == 4


def test_return_to_a_match_in_one(stranger: Stranger) -> None:
    start(stranger)
    stranger.move()
    expect(stranger.page.locator(".moves li").nth(1)).to_be_visible()
    before = stranger.steps
    stranger.reload()
    expect(stranger.page.locator(".viewer .status")).to_contain_text("Your turn")
    expect(stranger.page.locator(".moves li").nth(1)).to_be_visible()
    assert stranger.steps == before + 1
    resign(stranger)


def test_play_by_keyboard_alone_two_to_begin_two_a_move(stranger: Stranger) -> None:
    stranger.choose(".pitch a[href='/play']")
    stranger.choose("button[type=submit]")
    expect(stranger.page.locator("[data-source]").first).to_be_visible()
    for _ in range(2):
        stranger.choose("[data-source]")
        stranger.choose("[data-target]")
        expect(stranger.page.locator("[data-source]").first).to_be_visible()
    expect(stranger.page.locator(".told[role=status]")).to_contain_text("Move 4, ")
    assert stranger.steps == 6
    stranger.choose(".danger")
    stranger.page.keyboard.press("Shift+Tab")
    stranger.page.keyboard.press("Enter")
    expect(stranger.page.get_by_role("button", name="Rematch")).to_be_visible()


def test_replay_the_turning_point_in_two_and_share_it_in_two_more(
    stranger: Stranger, town: BrowserArena
) -> None:
    stranger.click(stranger.page.locator(".past .card", has_text="cleo"))
    mark = stranger.page.get_by_role("button", name=re.compile("^Key moment"))
    stranger.click(mark)
    ply = re.search("[0-9]+", mark.first.get_attribute("aria-label") or "")
    assert ply
    expect(stranger.page.locator(".told")).to_contain_text(f"Move {ply[0]},")
    expect(stranger.page.locator(".story")).not_to_contain_text("First to")
    assert stranger.steps == 2
    stranger.click("Share")
    expect(stranger.page.get_by_label("Link", exact=True)).to_have_value(
        re.compile(rf"^{re.escape(town.url)}match/[0-9a-f]+/{ply[0]}$")
    )
    stranger.click("Copy link")
    assert stranger.steps == 4


def test_follow_a_bot_to_its_latest_match_in_two(stranger: Stranger) -> None:
    stranger.click(stranger.page.locator(".bots").get_by_role("link", name="ann", exact=True))
    expect(stranger.page.get_by_role("heading", level=1)).to_have_text("ann")
    stranger.click(stranger.page.locator("a.card"))
    expect(stranger.page.locator(".player .name", has_text="ann")).to_be_visible()
    assert stranger.steps == 2


def test_find_yesterdays_final_in_three(tmp_path: Path, browser: Browser) -> None:
    bots = ("--bot", "greedy", "--bot", "random")
    settings = ("--game", "tictactoe", "--tc", "60/move", "--rounds", "1", "--format", "knockout")
    words = ("ladder", *settings, "--event", "cup", "--db", f"sqlite:///{tmp_path / 'arena.db'}", *bots)
    assert ForkedCommand(*words, cwd=tmp_path).wait(WAIT_TIMEOUT_SECONDS) == 0
    with run_arena(tmp_path) as running:
        ((final,),) = running.fetch_json("table?event=cup")["bracket"][-1:]
        finished = running.fetch_json("records?event=cup")["matches"][0]["finished"]
        context = new_context(browser)  # all pages of a context have one clock
        page = context.new_page()
        page.clock.set_fixed_time(datetime.fromisoformat(finished) + timedelta(days=1))
        page.goto(running.url)
        expect(page.locator(".past h3").first).to_have_text("Yesterday")
        expect(page.locator(".past .card").first).to_contain_text("cup · Tic-tac-toe")
        stranger = Stranger(page)
        stranger.click("Ratings", "link")
        stranger.click(page.locator(".events .card", has_text="cup"))
        stranger.click("Watch the final", "link")
        page.wait_for_url("**/match/*")
        for bot in (final["first"], final["second"]):
            expect(page.locator(".player .name", has_text=bot)).to_be_visible()
        assert stranger.steps == 3
        context.close()


def test_read_the_rules_in_one(stranger: Stranger) -> None:
    stranger.click("Rules")
    expect(stranger.page.get_by_role("dialog")).to_contain_text("If the numbers are equal, the attacker wins")
    assert stranger.steps == 1


def test_see_how_many_watch(town: BrowserArena, stranger: Stranger) -> None:
    other = stranger.page.context.new_page()
    other.goto(f"{town.url}tv")
    pages = (stranger.page, other)

    def both_watch() -> bool:
        for page in pages:
            skip_to_live_match(page)
        return all("watching" in page.locator(".kind").inner_text() for page in pages)

    wait_until(both_watch, 2 * WAIT_TIMEOUT_SECONDS)  # the match may end before the other page shows it
