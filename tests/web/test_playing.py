"""A person plays by clicks, against a bot, on the same wire."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Page, expect

from arena.maps.loader import load_map
from arena.maps.setup import DEFAULT_MAP
from arena.server.lobby.roster import MATCHES
from testkit.browser import Arena, arena, wait
from tests.web.wire import Guest


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server whose bot waits for challenges."""
    with arena(tmp_path_factory.mktemp("idle"), "--set=pool.matchmaker=false", bots=("random",)) as running:
        yield running


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A server as `arena serve` starts it, to which nobody has connected."""
    with arena(tmp_path_factory.mktemp("fresh"), "--map", "path4", private=False) as running:
        yield running


def resign(page: Page) -> None:
    page.get_by_role("button", name="Resign", exact=True).click()
    page.get_by_role("button", name="Yes, resign").click()


def begin(page: Page, arena: Arena, game: str, map: str = "path4") -> None:
    page.goto(arena.url)
    page.get_by_role("link", name="Play against random").click()
    page.get_by_label("Game").select_option(game)
    if game == "riskless":
        page.get_by_role("combobox", name="Map").select_option(map)
    page.get_by_role("button", name="Start the match").click()


def play_out(page: Page) -> None:
    """Click whatever is legal until the match is over."""
    over = page.get_by_role("button", name="Rematch")
    choice = page.locator("[data-target], [data-source]:not([data-selected])")
    while True:
        expect(over.or_(choice.first).first).to_be_visible()
        if over.is_visible():
            return
        target = page.locator("[data-target]")
        try:
            (target if target.count() else page.locator("[data-source]")).first.click(timeout=2000)
        except Exception:
            if not over.is_visible():
                raise


def test_two_clicks_from_the_start_page_to_ones_own_move(idle: Arena, page: Page) -> None:
    page.goto(idle.url)
    page.get_by_role("link", name="Play against random").click()
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".status").first).to_contain_text("Your turn, Maxie")
    page.locator("[data-source]").first.click()
    map = load_map(DEFAULT_MAP)
    first = min(v for v, armies in enumerate(map.start) if armies > 0)
    expect(page.locator("[data-target]")).to_have_count(len(map.neighbours[first]))
    page.locator("[data-target]").first.click()
    expect(page.locator(".moves li").nth(1)).to_be_visible()
    resign(page)
    expect(page.locator(".status").first).to_contain_text("random (Minnie) wins: resignation")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 780)])
def test_whoever_plays_has_all_that_is_needed_in_sight(
    idle: Arena, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    begin(page, idle, "riskless", "usa")
    expect(page.locator("[data-source]").first).to_be_visible()
    page.mouse.wheel(0, -9000)
    page.wait_for_function("() => scrollY === 0")
    for sign in (".status", ".actions button", ".players", ".zoomed", ".told", ".controls"):
        box = page.locator(f".viewer {sign}").first.bounding_box()
        assert box is not None
        assert 0 <= box["y"] <= box["y"] + box["height"] <= height, sign
    resign(page)


def test_two_clicks_from_the_start_page_of_a_fresh_server_to_a_whole_game(fresh: Arena, page: Page) -> None:
    page.goto(fresh.url)
    page.get_by_role("link", name="Play against house-greedy").click()
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".status").first).to_contain_text("Your turn, Maxie")
    resign(page)
    page.get_by_role("link", name="Another match").click()
    page.get_by_label("Game").select_option("tictactoe")
    page.get_by_role("button", name="Start the match").click()
    play_out(page)
    record = wait(lambda: fresh.ask("records?game=tictactoe")["matches"])[0]
    assert record["result"]["reason"] in {"line", "board_full"}
    assert record["players"]["minnie"] == "house-greedy"


def test_a_guest_is_asked_for_a_token_only_where_it_needs_one(fresh: Arena, page: Page) -> None:
    page.goto(f"{fresh.url}#/play/house-alphabeta")
    token = page.get_by_label("Token")
    expect(token).not_to_have_attribute("required", "")
    page.get_by_label("Your name", exact=True).fill("ada")
    expect(token).to_have_attribute("required", "")
    page.get_by_label("Your name", exact=True).fill("guest-42")
    page.get_by_role("combobox", name="Map").select_option("path4")
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".player .name", has_text="house-alphabeta")).to_be_visible()
    resign(page)


def test_whoever_waits_for_a_place_is_told_how_many_are_before(fresh: Arena, page: Page) -> None:
    url = fresh.url.replace("http", "ws", 1)
    with ExitStack() as stack:
        playing = []
        for number in range(MATCHES):
            # Two from each address, which are all that the guests of one address may have.
            guest = stack.enter_context(Guest.at(url, f"guest-{number}", f"127.0.1.{number // 2}"))
            guest.challenge("house-greedy")
            playing.append((guest, guest.hear("start")["match"]))
        page.goto(f"{fresh.url}#/play/house-greedy")
        page.get_by_label("Game").select_option("tictactoe")
        page.get_by_role("button", name="Start the match").click()
        status = page.get_by_role("status")
        expect(status).to_have_text("You have the next turn; waiting for a place …")
        for guest, match in playing:
            guest.say(type="resign", match=match)
            guest.hear("end")
        expect(page.locator(".player .name", has_text="house-greedy")).to_be_visible()
        resign(page)


def test_a_whole_game_by_clicks_and_a_rematch_with_the_seats_swapped(idle: Arena, page: Page) -> None:
    begin(page, idle, "tictactoe")
    play_out(page)
    record = wait(lambda: [e for e in idle.ask("records?game=tictactoe")["matches"] if e["plies"] >= 5])[0]
    assert record["result"]["reason"] in {"line", "board_full"}
    page.get_by_role("button", name="Rematch").click()
    expect(page.locator(".player[data-owner=maxie] .name")).to_have_text("random")
    play_out(page)
    expect(page.locator(".status").first).to_contain_text(": ")


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until what is meant has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(sign) => document.activeElement.matches(sign)", selector):
            return
    raise AssertionError(f"the keyboard does not reach {selector}")


def test_from_the_start_page_to_a_move_and_a_resignation_by_keyboard_alone(idle: Arena, page: Page) -> None:
    page.goto(idle.url)
    expect(page.get_by_role("link", name="Play against random")).to_be_visible()
    tab_to(page, "[aria-label='Play against random']")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Start the match")).to_be_visible()
    tab_to(page, "button[type=submit]")
    page.keyboard.press("Enter")
    expect(page.locator("[data-source]").first).to_be_visible()
    for _ in range(2):
        tab_to(page, "[data-source]")
        page.keyboard.press("Enter")
        tab_to(page, "[data-target]")
        page.keyboard.press("Enter")
        expect(page.locator("[data-source]").first).to_be_visible()
    expect(page.locator(".told[role=status]")).to_contain_text("Ply 4, Minnie")
    tab_to(page, ".danger")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Rematch")).to_be_visible()


def test_hexapawn_by_keys_alone(idle: Arena, page: Page) -> None:
    begin(page, idle, "hexapawn")
    page.locator("[data-source]").first.press("Enter")
    page.locator("[data-target]").first.press("Enter")
    expect(page.locator(".moves li").first).to_be_visible()
    resign(page)
    expect(page.get_by_role("button", name="Rematch")).to_be_visible()


def test_a_name_that_is_taken_is_told(idle: Arena, page: Page) -> None:
    page.goto(f"{idle.url}#/play/random")
    page.get_by_label("Your name", exact=True).fill("random")
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".status")).to_contain_text("connected already")
