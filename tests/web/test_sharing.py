"""Addresses that can be sent to others: real paths, older ones, copies, pictures, and a match in another page."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from testkit.browser import BrowserArena, box_of, new_context


@pytest.fixture(scope="module")
def match(played: BrowserArena) -> str:
    """Return the shortest match of at least four plies: each ply of a film takes its time to draw."""
    matches = [each for each in played.fetch_json("records")["matches"] if each["plies"] > 3]
    return str(min(matches, key=lambda each: int(each["plies"]))["match"])


@contextmanager
def other_site(folder: Path) -> Iterator[str]:
    """The address of another site, whose files are in this folder."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def test_a_ply_has_an_address_that_survives_a_reload_and_the_ways_back(
    played: BrowserArena, page: Page, match: str
) -> None:
    page.goto(f"{played.url}match/{match}/2")
    expect(page.locator(".told")).to_contain_text("Move 2")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".told")).to_contain_text("Move 3")
    assert page.url == f"{played.url}match/{match}/3"
    page.reload()
    expect(page.locator(".told")).to_contain_text("Move 3")
    page.locator(".player .name").first.click()
    page.wait_for_url("**/bot/*")
    page.go_back()
    expect(page.locator(".told")).to_contain_text("Move 3")


def test_who_is_back_before_a_view_has_been_loaded_stays_where_the_address_says(
    played: BrowserArena, page: Page, match: str
) -> None:
    page.goto(f"{played.url}match/{match}/2")
    expect(page.locator(".told")).to_contain_text("Move 2")
    # What a browser does that has gone back before the bot's view was there, without the time that it takes for it.
    page.evaluate("""() => {
        const address = location.href;
        document.querySelector(".player .name").click();
        history.replaceState(null, "", address);
        dispatchEvent(new PopStateEvent("popstate"));
    }""")
    page.wait_for_timeout(300)
    expect(page.locator(".told")).to_contain_text("Move 2")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#/match/{match}/2", "match/{match}/2"),
        ("#/bot/greedy", "bot/greedy"),
        ("#/bot/..", "bot?name=.."),
        ("#/table/serve", "table/serve"),
        ("#/constructor", ""),
    ],
)
def test_an_older_address_leads_to_what_it_meant(
    played: BrowserArena, page: Page, match: str, old: str, new: str
) -> None:
    page.goto(played.url + old.format(match=match))
    expect(page.locator("main h1").first).to_be_visible()
    page.wait_for_url(played.url + new.format(match=match))


def test_links_within_the_page_load_nothing_anew(played: BrowserArena, page: Page) -> None:
    page.goto(played.url)
    page.evaluate("window.stays = true")
    page.get_by_role("link", name="Ratings", exact=True).click()
    page.locator("table.standing").get_by_role("link", name="greedy").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("greedy")
    assert page.evaluate("window.stays")
    page.go_back()
    expect(page.locator("table.standing").first).to_be_visible()
    assert page.evaluate("window.stays")


def downloaded(page: Page, link: str) -> bytes:
    """Return the file that a click downloads. The server draws it at low priority and gives up after 40 s; then retry."""
    for _ in range(3):
        with suppress(Error):
            with page.expect_download() as download:
                page.get_by_role("link", name=link).click()
            return download.value.path().read_bytes()
    pytest.fail(f"{link!r} did not come")


def test_what_is_shared_is_the_ply_that_is_shown(played: BrowserArena, browser: Browser, match: str) -> None:
    context = new_context(browser, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{played.url}match/{match}/3")
    page.get_by_text("Share", exact=True).click()
    expect(page.get_by_label("Link", exact=True)).to_have_value(f"{played.url}match/{match}/3")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{played.url}match/{match}/3"
    page.get_by_text("Embed or download").click()
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    assert downloaded(page, "Picture").startswith(b"\x89PNG")
    assert downloaded(page, "Highlights").startswith(b"GIF89a")
    context.close()


def test_what_is_shared_is_said_and_can_be_closed_in_any_window(
    played: BrowserArena, page: Page, match: str
) -> None:
    page.goto(f"{played.url}match/{match}/3")
    expect(page.locator(".map .area-of").first).to_be_visible()
    dialog = page.get_by_role("dialog", name="Share move 3")
    close = dialog.get_by_role("button", name="Close")
    for width, height in ((1024, 768), (844, 390), (390, 780), (360, 640)):
        page.set_viewport_size({"width": width, "height": height})
        page.get_by_role("button", name="Share", exact=True).click()
        dialog.get_by_text("Embed or download").click()
        for part in (dialog, close, dialog.get_by_role("heading"), dialog.get_by_role("link", name="Moves")):
            expect(part).to_be_in_viewport(ratio=0.99)
        close.click()
        expect(dialog).to_be_hidden()
        expect(page.get_by_role("button", name="Share", exact=True)).to_be_focused()


MARK = """(marks) => {
  const mark = marks.appendChild(document.createElement('button'));
  const { pointerEvents } = getComputedStyle(mark);
  mark.remove();
  return pointerEvents;
}"""
"""Returns how the pointer meets a mark of the slider, which a match without a turning point lacks."""


def test_a_small_frame_has_room_for_the_board_and_tells_no_end(
    played: BrowserArena, page: Page, match: str
) -> None:
    page.emulate_media(reduced_motion="reduce")  # or the match would have been played to its end by now
    page.set_viewport_size({"width": 300, "height": 200})
    page.goto(f"{played.url}embed/{match}")
    expect(page.locator(".map .area-of").first).to_be_visible()
    expect(page.locator(".tug-bar")).not_to_contain_text(re.compile("wins|Draw"))
    board = box_of(page.locator(".board"))
    assert board["height"] > 0.55 * 200
    assert board["y"] + board["height"] <= 200
    page.keyboard.press("End")
    expect(page.locator(".share-of", has_text=re.compile("wins|Draw"))).to_be_in_viewport(ratio=1)
    expect(page.locator(".badge, .told, .doing").filter(visible=True)).to_have_count(0)
    page.set_viewport_size({"width": 640, "height": 360})
    expect(page.locator(".track")).to_have_css("opacity", "1")
    assert page.locator(".marks").evaluate(MARK) == "auto"
    for button in page.locator(".controls > button:visible").all():
        expect(button).to_be_in_viewport(ratio=1)
    track, board = box_of(page.locator(".track")), box_of(page.locator(".board"))
    assert board["y"] + board["height"] <= track["y"] <= 360 - track["height"], (
        "the slider is below the board"
    )
    page.set_viewport_size({"width": 800, "height": 450})
    board, track = box_of(page.locator(".board")), box_of(page.locator(".track"))
    assert board["height"] > 0.6 * 450
    assert board["y"] + board["height"] <= track["y"] <= 450 - track["height"]
    page.set_viewport_size({"width": 800, "height": 600})
    expect(page.locator(".title h1")).to_be_in_viewport(ratio=0.99)
    link, players = box_of(page.get_by_role("link", name="Open in")), box_of(page.locator(".player").first)
    assert link["y"] + link["height"] <= players["y"]


@pytest.mark.parametrize("address", ["embed", "embed/", "embed/event", "embed/event/"])
def test_a_frame_whose_address_names_nothing_says_so(empty: BrowserArena, page: Page, address: str) -> None:
    page.goto(f"{empty.url}{address}")
    expect(page.get_by_role("alert")).to_contain_text("The address names no match and no event.")
    expect(page.get_by_role("link", name="Open in Riskless Arena")).to_have_attribute("href", "/")


def test_a_match_is_shown_within_another_site_and_no_other_view_is(
    played: BrowserArena, page: Page, match: str, tmp_path: Path
) -> None:
    frames = "".join(
        f'<iframe name="{name}" src="{played.url}{path}" width="600" height="500"></iframe>'
        for name, path in {"shown": f"embed/{match}/2", "match": f"match/{match}", "play": "play"}.items()
    )
    (tmp_path / "index.html").write_text(f"<!doctype html><title>Another site</title>{frames}")
    with other_site(tmp_path) as url:
        outside = page.context.new_page()
        outside.goto(url)
        shown = outside.frame_locator("iframe[name=shown]")
        expect(shown.locator(".told")).to_contain_text("Move 2")
        shown.get_by_role("button", name="Next move").click()
        expect(shown.locator(".told")).to_contain_text("Move 3")
        expect(shown.get_by_role("link", name="Open in Riskless Arena")).to_have_attribute("target", "_blank")
        expect(shown.get_by_role("link", name="Play")).to_have_count(0)
        for name in ("match", "play"):
            expect(outside.frame_locator(f"iframe[name={name}]").locator("main")).to_have_count(0)
        with outside.context.expect_page() as opened:
            shown.get_by_role("link", name="Open in Riskless Arena").click()
        opened.value.wait_for_url(f"**/match/{match}")
        opened.value.close()
        outside.close()
