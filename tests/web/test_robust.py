"""What strangers choose breaks nothing: long names, strange names, addresses that were typed by hand."""

from __future__ import annotations

import gzip
import json
import urllib.request
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from testkit.browser import Arena, arena, wait

LONG = "W" * 57


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server on which two bots with strange names play, and are free for a while after each match, as listings show."""
    options = ("--game", "tictactoe", "--tc", "9/move", "--set=pool.pause_seconds=0.6")
    with arena(tmp_path_factory.mktemp("strange"), *options) as running:
        running.dawdler("..", 0.03)
        running.dawdler(LONG, 0.03)
        wait(lambda: running.ask("records")["matches"])
        running.slow_down()
        yield running


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.soak)])
def test_a_long_name_without_a_blank_makes_no_view_wider_than_the_screen(
    strange: Arena, page: Page, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    match = strange.ask("records")["matches"][-1]["match"]
    for address, sign in {
        "": ".card",
        f"match/{match}": ".players",
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
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_a_bot_whose_name_is_a_path_has_its_page(strange: Arena, page: Page) -> None:
    page.goto(f"{strange.url}#/bot/..")
    expect(page.get_by_role("heading", level=1)).to_have_text("..")
    expect(page.get_by_role("heading", name="By map and seat")).to_be_visible()


@pytest.mark.parametrize("address", ["#/constructor", "#/__proto__", "#/toString/1", "#/nonsense"])
def test_an_address_that_is_none_shows_the_start_page(strange: Arena, page: Page, address: str) -> None:
    page.goto(f"{strange.url}{address}")
    expect(page.locator(".bots .name").first).to_be_visible()


@pytest.mark.parametrize("ply", ["1.5", "-1", "x", "1e9", "99999999999", "%E0%A4%A"])
def test_a_ply_that_is_none_shows_the_match(strange: Arena, page: Page, ply: str) -> None:
    match = strange.ask("records")["matches"][-1]
    page.goto(f"{strange.url}#/match/{match['match']}/{ply}")
    expect(page.locator(".cell:not([data-owner=nobody])")).to_have_count(match["plies"])
    expect(page.locator(".told")).to_contain_text(f"Ply {match['plies']}")


def test_a_listing_that_changes_leaves_the_focus_where_it_is(strange: Arena, page: Page) -> None:
    page.goto(strange.url)
    link = page.get_by_role("link", name=f"Play against {LONG}")
    link.focus()
    page.evaluate("""() => {
      window.changed = 0;
      new MutationObserver((all) => { window.changed += all.length; })
        .observe(document.querySelector('.bots'), { childList: true, subtree: true });
    }""")
    with strange.hurry(0.03):
        page.wait_for_function("() => window.changed > 3")
    expect(link).to_be_focused()


def test_a_record_is_packed_and_kept_for_ever(strange: Arena) -> None:
    match = strange.ask("records")["matches"][-1]["match"]
    plain = urllib.request.urlopen(f"{strange.url}api/record/{quote(match)}").read()
    asked = urllib.request.Request(f"{strange.url}api/record/{match}", headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(asked) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert "immutable" in answer.headers["Cache-Control"]
        packed = answer.read()
    assert gzip.decompress(packed) == plain
    assert json.loads(plain)["match"] == match
    assert len(packed) < len(plain)
