"""A game that somebody has written, on the page: drawn by the board that its class declares, and played with the mouse."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, expect

from testkit.browser import WAIT_TIMEOUT_SECONDS, run_arena, wait_until
from tests.games.own import EXAMPLES, nim

METHODS = """    size = 9
    board = Points(((0, 0), (2, 0), (1, 2)), ((0, 1), (1, 2)), ("left", "right", "below"))

    def marks(self, position):
        return ["", MAXIE, str(position.left)]

    def squares(self, position, move):
        return (move - 1,)
"""
POINTS = (("MAXIE, Game, Outcome", "MAXIE, Game, Outcome, Points"), ("    size = 9\n", METHODS))


def begin(page: Page, url: str, game: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Play against House Greedy").click()
    page.get_by_text("Advanced").click()
    page.get_by_label("Game").select_option(game)
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".status").first).to_contain_text("Your turn")


def play_out(page: Page, choice: str) -> None:
    """Click whatever may be chosen until the match is over."""
    over = page.get_by_role("button", name="Rematch")
    legal = page.locator(choice)

    def is_over() -> bool:
        expect(over.or_(legal).first).to_be_visible()
        if not over.is_visible():
            with suppress(Error):  # the match may have gone on meanwhile
                legal.first.click(timeout=5000)
        return over.is_visible()

    wait_until(is_over, 3 * WAIT_TIMEOUT_SECONDS)


def test_connect_four_is_played_with_the_mouse_and_seen_again(tmp_path: Path, page: Page) -> None:
    spec = f"{EXAMPLES / 'connect4.py'}:ConnectFour"
    with run_arena(tmp_path, "--game", spec, "--set=house.engines=greedy", is_private=False) as running:
        begin(page, running.url, "connect4")
        expect(page.locator(".viewer h1")).to_contain_text("connect4")
        cells = page.locator(".declared .cell")
        expect(cells).to_have_count(42)
        expect(page.locator("[data-target]")).to_have_count(7)
        assert cells.first.get_attribute("data-spot") == "35", "a1 is at the bottom left"
        page.locator('[data-spot="3"]').click()
        expect(page.locator('[data-spot="3"]')).to_have_attribute("data-owner", "maxie")
        expect(page.locator(".moves .text").first).to_have_text("d1")
        expect(page.locator(".declared [data-owner=minnie]")).to_have_count(1)
        page.get_by_role("button", name="Resign", exact=True).click()
        page.get_by_role("button", name="Yes, resign").click()
        record = wait_until(lambda: running.fetch_json("records?game=connect4")["matches"])[0]
        assert record["plies"] >= 2
        page.goto(f"{running.url}#/match/{record['match']}")
        page.get_by_role("button", name="Last move").click()
        expect(page.locator(".moves li")).to_have_count(record["plies"])
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.locator(".declared [data-owner=maxie]")).to_have_count(0)
        page.get_by_role("button", name="Next move").click()
        expect(page.locator(".declared [data-owner=maxie]")).to_have_count(1)
        expect(page.locator(".told")).to_have_text(re.compile("^Move 1, .*: d1$"))


@pytest.mark.parametrize(
    ("changes", "choice"),
    [(POINTS, "[data-target]"), ((), ".choices button")],
    ids=["points and lines", "text"],
)
def test_other_boards(changes: tuple[tuple[str, str], ...], choice: str, tmp_path: Path, page: Page) -> None:
    with run_arena(
        tmp_path, "--game", str(nim(tmp_path, *changes)), "--set=house.engines=greedy", is_private=False
    ) as running:
        begin(page, running.url, "nim")
        if changes:
            expect(page.locator(".points .spot")).to_have_count(3)
            expect(page.locator('.points [data-owner="maxie"]')).to_have_count(1)
            expect(page.locator(".points text").nth(2)).to_have_text("9")
        else:
            expect(page.locator(".picture")).to_have_text('{"left":9,"ply":0}')
        expect(page.locator(choice)).to_have_count(3)
        play_out(page, choice)
        expect(page.locator(".status").first).to_contain_text("the last one")
