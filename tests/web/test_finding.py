"""Events, searches, two bots side by side, maps, and challenges that somebody else takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from arena.maps.loader import list_built_in_map_names
from testkit.browser import (
    WAIT_TIMEOUT_SECONDS,
    BrowserArena,
    box_of,
    fetch_json,
    new_context,
    read_last_log_lines,
    run_arena,
    wait_until,
    write_slow_bot_files,
)
from testkit.forked import ForkedCommand


def rows(url: str) -> list[Any]:
    """The rows of a table that a server answers with."""
    found: list[Any] = fetch_json(url)["rows"]
    return found


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page of a match with a sequential test, in progress until the tests are over."""
    folder = tmp_path_factory.mktemp("ladder")
    files = []
    for name in ("slow", "slower"):
        files.append(folder / f"{name}.py")
        write_slow_bot_files(files[-1], 0.15)
    command = ["match", *map(str, files), "--game", "tictactoe", "--tc", "60/move", "--rounds", "500"]
    command += ["--sprt", "elo0=0,elo1=1", "--event", "cup", "--openings", "0"]
    log = folder / "log"
    log.touch()
    process = ForkedCommand(*command, cwd=folder, stdout=log, stderr=log)
    try:
        told = wait_until(
            lambda: re.search(r"watch the matches at ((http\S+)event/cup)\n", log.read_text()),
            3 * WAIT_TIMEOUT_SECONDS,
        )
        wait_until(lambda: len(rows(f"{told[2]}api/table?event=cup")) == 2, 3 * WAIT_TIMEOUT_SECONDS)
        yield told[1]
    except BaseException as error:
        error.add_note(read_last_log_lines(log))
        raise
    finally:
        process.terminate()
        process.wait(3 * WAIT_TIMEOUT_SECONDS)


def test_an_event_is_watched_at_the_address_that_it_prints(ladder: str, page: Page) -> None:
    assert ladder.endswith("/event/cup")
    page.goto(ladder)
    expect(page.get_by_role("heading", level=1)).to_have_text("cup")
    expect(page.get_by_text(re.compile(r"In progress: \d+ of 1000 matches played"))).to_be_visible()
    expect(page.locator(".now .card.live .small-board").first).to_be_visible()
    expect(page.get_by_role("meter")).to_be_visible()
    expect(page.get_by_text("log likelihood ratio")).to_be_visible()
    expect(page.locator("table.standing tbody tr")).to_have_count(2)
    expect(page.locator("table.cross tbody tr")).to_have_count(2)
    expect(page.locator(".due li")).not_to_have_count(0)
    far = page.locator("main .status", has_text="In progress")
    before = far.inner_text()
    expect(far).not_to_have_text(before, timeout=2000 * WAIT_TIMEOUT_SECONDS)
    page.locator(".card.live").first.dispatch_event("click")  # its card is gone before one could aim
    expect(page.locator(".viewer")).to_be_visible()


def test_ratings_are_chosen_by_map_time_control_and_season(played: BrowserArena, page: Page) -> None:
    newer, last, *older = played.fetch_json("search?game=riskless")["matches"]

    def table(matches: int, deviation: int) -> dict[str, object]:
        row = {"game": "riskless", "bot": "greedy", "rating": 1720.4, "deviation": deviation}
        row |= {"matches": matches, "won": matches, "drawn": 0, "lost": 0, "forfeits": 0, "crash": 0}
        clocks = [("italy", "10+0.1"), ("path4", "9/move")]
        listed = [{"game": "riskless", "map": name, "time_control": tc, "matches": 2} for name, tc in clocks]
        seasons = [{"game": "riskless", "name": "spring 2026", "closed": newer["finished"]}]
        tables = {"standings": [row], "crosses": {}, "events": []}
        return tables | {"categories": listed, "seasons": seasons}

    page.route("**/api/table", lambda route: route.fulfill(json=table(50, 65)))
    page.route("**/api/table?map=italy&tc=10%2B0.1", lambda route: route.fulfill(json=table(20, 80)))
    page.route("**/api/table?season=spring%202026", lambda route: route.fulfill(json=table(70, 50)))
    of_season = "**/api/table?map=italy&tc=10%2B0.1&season=spring%202026"
    page.route(of_season, lambda route: route.fulfill(json=table(30, 50)))
    searches: list[str] = []
    page.on(
        "request", lambda request: searches.append(request.url) if "/api/search?" in request.url else None
    )
    page.goto(f"{played.url}table")
    cells = page.locator("table.standing tbody td")
    errors = page.locator("table.standing .rating-bar")
    expect(errors).to_have_attribute("aria-label", "1720 plus or minus 130")
    expect(page.locator("table.standing thead th")).to_have_text(
        ["#", "Rating", "Bot", "159095 % interval1850", "Matches", "W"]
    )
    page.get_by_label("Matches").select_option("Italy, 10 s + 0.1 s")
    expect(cells.nth(1)).to_have_text("1720?")
    expect(errors).to_have_attribute("aria-label", "1720 plus or minus 160")
    expect(page.get_by_text("A question mark means provisional")).to_be_visible()
    expect(cells.nth(3)).to_have_text("20")
    page.get_by_label("Matches").select_option("all")
    expect(cells.nth(3)).to_have_text("50")
    latest = page.locator(".cards.rows a")
    expect(page.locator(f".cards.rows [href$='{newer['match']}']")).to_be_visible()
    matches = latest.evaluate_all("(all) => all.map((each) => each.pathname.split('/').pop())")
    assert not {last["match"], *(each["match"] for each in older)} & {*matches}
    page.get_by_label("Season").select_option("spring 2026")
    expect(cells.nth(3)).to_have_text("70")
    expect(latest.first).to_have_attribute("href", f"/match/{last['match']}")
    expect(page.get_by_label("Season")).to_have_value("spring 2026")
    page.get_by_label("Matches").select_option("Italy, 10 s + 0.1 s")
    expect(cells.nth(3)).to_have_text("30")
    assert len(searches) == 2, "the latest matches are requested once for each season"


def test_a_cell_of_a_cross_table_leads_to_all_matches_of_the_two(played: BrowserArena, page: Page) -> None:
    page.goto(f"{played.url}table")
    page.locator("table.cross td a").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(" against ")
    expect(page.get_by_text(re.compile(r"\d+ won, (\d+ drawn, )?\d+ lost · \d+ rated match"))).to_be_visible()
    expect(page.locator(".card").first).to_be_visible()


def test_matches_are_found_by_what_is_remembered_of_them(played: BrowserArena, page: Page) -> None:
    winner = played.fetch_json("records?bot=random")["matches"][0]["result"]["winner"]
    result, told = (winner, " won ") if winner else ("drawn", "Draw ")
    page.goto(f"{played.url}search")
    page.get_by_label("Bot", exact=True).fill("greedy")
    page.get_by_role("combobox", name="Map").select_option("path4")
    page.get_by_text("More filters").click()
    page.get_by_label("Result").select_option(result)
    page.get_by_role("button", name="Search").click()
    page.wait_for_url(f"**/search?bot=greedy&map=path4&result={result}")
    expect(page.locator(".card").first).to_contain_text(told)
    expect(page.get_by_text(re.compile(r"^\d+ match"))).to_be_visible()
    expect(page.locator(".card .small-board").first).to_be_visible()
    expect(page.locator(".final-score").first).to_have_text(re.compile(r"^\d+ : \d+$"))
    row = page.locator(".rows .card", has=page.locator(".final-score > span")).first
    page.set_viewport_size({"width": 390, "height": 780})
    for name, armies in zip(
        row.locator(".side-name").all(), row.locator(".final-score > :not(.versus)").all(), strict=True
    ):
        assert box_of(name)["y"] == box_of(armies)["y"], "each player has a line"
        assert box_of(name)["x"] < box_of(armies)["x"]
    page.get_by_role("combobox", name="Map").select_option("usa")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("No matches found.")).to_be_visible()
    page.go_back()
    expect(page.locator(".card").first).to_contain_text(told)


def test_the_button_of_the_search_stands_beside_the_last_field(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}search")
    expect(page.get_by_role("button", name="Search", exact=True)).to_be_visible()
    for width in (600, 1024, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        lowest = page.locator("[role=search] > :not(details)").evaluate_all(
            "(all) => all.map((each) => each.getBoundingClientRect().bottom)"
        )
        assert lowest[-1] == lowest[-2], width


def test_a_search_goes_on_page_by_page(played: BrowserArena, page: Page) -> None:
    page.route(
        "**/api/search?*", lambda route: route.continue_(url=route.request.url.replace("limit=24", "limit=2"))
    )
    page.goto(f"{played.url}search?bot=greedy")
    expect(page.locator(".card")).to_have_count(2)
    page.get_by_role("button", name="Load older matches").click()
    expect(page.locator(".card")).to_have_count(4)
    links = [card.get_attribute("href") for card in page.locator(".card").all()]
    assert len(set(links)) == 4


def test_the_matches_of_the_same_opening_are_two_presses_away(played: BrowserArena, page: Page) -> None:
    match = played.fetch_json("records")["matches"][-1]["match"]
    page.goto(f"{played.url}match/{match}")
    page.get_by_role("tab", name="Openings").click()
    page.get_by_role("link", name="Matches with the same opening").click()
    expect(page.locator(f'.card[href="/match/{match}"]')).to_be_visible()


def test_every_map_has_its_picture_and_what_is_known_of_it(played: BrowserArena, page: Page) -> None:
    page.goto(f"{played.url}maps")
    expect(page.locator(".maps .card")).to_have_count(len(list_built_in_map_names()))
    expect(page.locator(".maps .mini-board:has(svg)")).to_have_count(len(list_built_in_map_names()))
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 780})
        page.wait_for_function(
            """() => [...document.querySelectorAll('.maps .mini-board')].every((board) => (
                board.querySelector('svg').getBoundingClientRect().right <= board.getBoundingClientRect().right))"""
        )
    titles = [
        "Italy · the default map",
        "World",
        "USA",
        "Poland",
        "Ring of six",
        "Grid of sixteen",
        "Path of four",
    ]
    expect(page.locator(".maps .card strong")).to_have_text(titles)
    for word in ("Minnie", "plies", "course", "Figure"):
        expect(page.locator("main")).not_to_contain_text(word)
    page.locator(".maps a[href='/maps/path4']").click()
    expect(page.get_by_text("With perfect play: Orange wins in 16 moves")).to_be_visible()
    expect(page.get_by_role("heading", name="Matches between equal engines")).to_be_visible()
    expect(page.get_by_role("region", name="Measured").locator("tbody tr")).to_have_count(3)
    expect(page.locator(".card").first).to_be_visible()
    page.get_by_role("link", name="Play", exact=True).last.click()
    expect(page.get_by_role("radio", name="Path of four")).to_be_checked()


def test_a_challenge_that_is_open_is_taken_by_another_person(tmp_path: Path, browser: Browser) -> None:
    with run_arena(tmp_path, "--set=pool.matchmaker=false") as running:
        one, two = (new_context(browser) for _ in range(2))
        first, second = one.new_page(), two.new_page()
        for page, name in ((first, "ada"), (second, "bob")):
            page.goto(f"{running.url}play")
            page.get_by_label("Your name", exact=True).fill(name)
        first.get_by_label("Opponent").select_option("")
        first.get_by_label("Game").select_option("tictactoe")
        first.get_by_role("button", name="Start the match").click()
        expect(first.get_by_text("Waiting for an opponent…")).to_be_visible()
        second.get_by_role("button", name="Play ada").click()
        for page, names in ((first, ["You", "bob"]), (second, ["ada", "You"])):
            expect(page.locator(".player .name")).to_have_text(names)
        first.locator("[data-target]").first.click()
        expect(second.locator(".prompt[data-turn=minnie]")).to_contain_text("Your turn")
        one.close()
        two.close()
