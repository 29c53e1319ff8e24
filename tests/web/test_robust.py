"""Robustness against strangers' input: long names, strange names, and addresses typed by hand."""

from __future__ import annotations

import gzip
import json
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from testkit.browser import BrowserArena, box_of, run_arena, wait_until

LONG = "W" * 57


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server on which two bots with strange names play, and are free for a while after each match, as listings show."""
    options = ("--game", "tictactoe", "--tc", "60/move", "--set=pool.pause_seconds=0.6")
    with run_arena(tmp_path_factory.mktemp("strange"), *options) as running:
        running.connect_slow_bot("..", 0.03)
        running.connect_slow_bot(LONG, 0.03)
        # An answer that is asked for before the first match is counted is kept for up to a minute where the cores are busy.
        wait_until(lambda: running.fetch_json("table")["standings"])
        running.set_sleep_of_slow_bots()
        yield running


def test_a_long_name_without_a_blank_makes_no_view_wider_than_the_screen(
    strange: BrowserArena, page: Page
) -> None:
    match = strange.fetch_json("records")["matches"][-1]["match"]
    for address, sign in {
        "": ".past .card",
        f"match/{match}": ".scoreboard",
        f"bot/{LONG}": ".card",
        "table": "table.standing",
        "event/serve": "table.standing",
        f"versus/{LONG}/{LONG}": "h1",
        f"search?bot={LONG}": ".card",
        "maps": ".card",
        f"play/{LONG}": "form",
    }.items():
        page.goto(f"{strange.url}{address}")
        expect(page.locator(sign).first).to_be_visible()
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_function("(width) => document.documentElement.scrollWidth <= width", arg=width)
        if address == "table":
            for column in range(3):
                box = box_of(page.locator("table.standing tbody tr").first.locator("th, td").nth(column))
                assert box["x"] + box["width"] <= 390, "the ratings are in sight"


def test_an_answer_that_cannot_be_read_is_told(empty: BrowserArena, page: Page) -> None:
    cannot_be_read = "The server's answer to /api/search cannot be read"
    answer: dict[str, Any] = {}
    page.route("**/api/search?*", lambda route: route.fulfill(**answer))
    for status, body, told in (
        (500, "<html>oops</html>", "The server could not answer (500). Try again in a moment."),
        (200, "<html>oops</html>", f"{cannot_be_read}: it is not JSON."),
        (200, "[]", f"{cannot_be_read}: it is not an object."),
        (200, '{"matches": [{}]}', f"{cannot_be_read}: matches[0].match is missing."),
    ):
        answer.update(status=status, body=body)
        page.goto(f"{empty.url}search?bot=ann")
        expect(page.locator("main").get_by_role("status")).to_have_text(told)


def test_an_answer_that_a_proxy_gave_up_on_is_requested_again(empty: BrowserArena, page: Page) -> None:
    statuses = [504, 504]

    # Not `times=2`: with it, the request after the last handled one was once never answered.
    def give_up(route: Route) -> None:
        if statuses:
            route.fulfill(status=statuses.pop(), body="<html>")
        else:
            route.continue_()

    page.route("**/api/search?*", give_up)
    with page.expect_response(lambda answer: "/api/search?" in answer.url and answer.ok):
        page.goto(f"{empty.url}search?bot=ann")
    expect(page.locator("main").get_by_role("status")).not_to_contain_text("could not answer")


@pytest.mark.parametrize("address", ["join/code", "me", "host"])
def test_a_page_behind_a_token_that_could_not_be_loaded_is_loaded_again(
    empty: BrowserArena, page: Page, address: str
) -> None:
    page.goto(f"{empty.url}maps")
    page.evaluate(
        "for (const of of ['bot', 'host']) sessionStorage.setItem(`arena-token:${of}`, JSON.stringify({ name: 'tiger', token: 'a' }))"
    )
    asked = f"**/api/{address.partition('/')[0]}"
    page.route(asked, lambda route: route.fulfill(status=500, body="<html>oops</html>"))
    page.goto(f"{empty.url}{address}")
    expect(page.get_by_text("The server could not answer (500).")).to_be_visible()
    page.unroute(asked)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("The server could not answer (500).")).to_have_count(0)


def test_two_bots_are_asked_for_and_a_new_view_has_the_focus(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}versus/")
    expect(page.get_by_role("button", name="Compare")).to_be_visible()
    expect(page.locator(".card")).to_have_count(0)
    expect(page).to_have_title("Two bots · Riskless Arena")
    page.locator("nav").get_by_role("link", name="Maps").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Maps")
    assert page.evaluate("document.activeElement.matches('main, nav a')")
    page.route("**/api/versus?*", lambda route: route.fulfill(status=500, body=""))
    page.goto(f"{empty.url}versus/ann/bob")
    failed = page.locator(".failed")
    expect(failed).to_be_visible()
    assert failed.evaluate("(each) => each.clientWidth === each.parentElement.clientWidth")
    page.route("**/api/bot?*", lambda route: route.fulfill(status=500, body=""))
    page.goto(f"{empty.url}bot/ann")
    expect(failed).to_be_visible()
    expect(page.locator(".head")).to_contain_text("Not connected")


def test_marks_on_squares_are_those_of_the_players(strange: BrowserArena, page: Page) -> None:
    match = strange.fetch_json("records")["matches"][-1]["match"]
    page.goto(f"{strange.url}match/{match}/2")
    expect(page.locator(".cell[data-owner=minnie]")).to_have_count(1)
    round, square = (
        page.locator(f".cell[data-owner={seat}]").evaluate(
            "(cell) => { const { width, borderRadius } = getComputedStyle(cell, '::before'); return [parseFloat(width), borderRadius]; }"
        )
        for seat in ("maxie", "minnie")
    )
    assert round[0] > 10
    assert square[0] > 10
    assert round[1] == "50%" != square[1]


def test_a_bot_whose_name_is_a_path_has_its_page(strange: BrowserArena, page: Page) -> None:
    page.goto(f"{strange.url}#/bot/..")
    expect(page.get_by_role("heading", level=1)).to_have_text("..")
    expect(page.get_by_role("heading", name="By map and side")).to_be_visible()


def test_an_address_that_is_none_shows_the_start_page(strange: BrowserArena, page: Page) -> None:
    page.goto(f"{strange.url}#/constructor")
    expect(page.locator(".bots .name").first).to_be_visible()


def test_an_address_that_lacks_its_name_is_no_page(empty: BrowserArena, page: Page) -> None:
    for address in ("match/", "bot?name="):
        page.goto(f"{empty.url}{address}")
        expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
        expect(page).to_have_title("Page not found · Riskless Arena")


@pytest.mark.parametrize("ply", ["1.5", "99999999999", "%E0%A4%A"])
def test_a_ply_that_is_none_shows_the_match(strange: BrowserArena, page: Page, ply: str) -> None:
    match = strange.fetch_json("records")["matches"][-1]
    page.goto(f"{strange.url}#/match/{match['match']}/{ply}")
    expect(page.locator(".cell:not([data-owner=nobody])")).to_have_count(match["plies"])
    expect(page.locator(".told")).to_contain_text(f"Move {match['plies']}")


def test_a_listing_that_changes_leaves_the_focus_where_it_is(strange: BrowserArena, page: Page) -> None:
    page.goto(strange.url)
    link = page.get_by_role("link", name=f"Play against {LONG}")
    link.focus()
    page.evaluate("""() => {
      window.changed = 0;
      new MutationObserver((all) => { window.changed += all.length; })
        .observe(document.querySelector('.bots'), { childList: true, subtree: true });
    }""")
    with strange.speed_up_bots(0.03):
        page.wait_for_function("() => window.changed > 3")
    expect(link).to_be_focused()


def test_a_record_is_packed_and_kept_for_ever(strange: BrowserArena) -> None:
    match = strange.fetch_json("records")["matches"][-1]["match"]
    plain = urllib.request.urlopen(f"{strange.url}api/record/{quote(match)}").read()
    asked = urllib.request.Request(f"{strange.url}api/record/{match}", headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(asked) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert "immutable" in answer.headers["Cache-Control"]
        packed = answer.read()
    assert gzip.decompress(packed) == plain
    assert json.loads(plain)["match"] == match
    assert len(packed) < len(plain)
