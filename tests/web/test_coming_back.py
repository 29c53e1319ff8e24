"""Nobody loses by the page: reloads, tabs, strangers, a server that is stopped, killed or upgraded."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Error, Page, expect

from arena.protocol.record import format_record_line
from testkit.browser import BrowserArena, new_context, run_arena, wait_until
from tests.web.conftest import faults_of
from tests.web.screenshots import made_up
from tests.web.wire import Guest, against

OVER = re.compile("wins|Draw|Void")
PATIENT = ("--set=pool.matchmaker=false", "--set=matches.grace_seconds=300")
"""Options of a server that waits long for who is gone: a busy machine brings nobody back within the usual half minute."""


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server whose bot waits for challenges and takes its time over moves."""
    with run_arena(tmp_path_factory.mktemp("idle"), *PATIENT) as running:
        running.connect_slow_bot("random", 0.3, max_matches=20)
        yield running


def begin(page: Page, arena: BrowserArena, name: str, game: str = "riskless", map: str = "path4") -> str:
    """Begin a match as Maxie; its id."""
    page.goto(f"{arena.url}play/random")
    page.get_by_label("Your name", exact=True).fill(name)
    page.get_by_label("Game").select_option(game)
    if game == "riskless":
        page.locator(f"[name=map][value='{map}']").check()
    page.get_by_role("button", name="Start the match").click()
    page.wait_for_url("**/match/*")
    expect(page.locator("[data-source]").first).to_be_visible()
    return page.url.rpartition("/")[2]


def click_a_move(page: Page) -> None:
    """Play a move, and wait until it is shown: until then the status still says that it is one's turn."""
    played = page.locator(".moves li").count()
    page.locator("[data-source]").first.click()
    page.locator("[data-target]").first.click()
    expect(page.locator(".moves li")).not_to_have_count(played)


def status(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.locator(".viewer .status")).to_contain_text(text)


def resign(page: Page) -> None:
    page.get_by_role("button", name="Resign", exact=True).click()
    page.get_by_role("button", name="Yes, resign").click()
    expect(page.get_by_role("button", name="Rematch")).to_be_visible()


def goes_on(arena: BrowserArena, match: str) -> None:
    """Nothing of the match has ended: there is no record of it."""
    assert match not in {each["match"] for each in arena.fetch_json("records?limit=50")["matches"]}


def test_a_match_has_its_own_address_and_a_reload_comes_back_to_it(idle: BrowserArena, page: Page) -> None:
    match = begin(page, idle, "ada-reloads")
    click_a_move(page)
    expect(page.locator(".moves li")).to_have_count(2)
    status(page, "Your turn")
    page.locator("[data-source]").first.click()  # in the middle of a move
    page.reload()
    status(page, "Your turn")
    expect(page.locator(".moves li")).to_have_count(2)
    assert page.url.endswith(f"/match/{match}")
    click_a_move(page)
    status(page, "Your turn")
    expect(page.locator(".moves li")).to_have_count(4)
    resign(page)


def test_a_reload_while_the_opponent_thinks_comes_back_to_the_move(idle: BrowserArena, page: Page) -> None:
    with against(idle, page, "thinker", "tictactoe") as (guest, match):
        page.locator(".cell").nth(0).click()
        guest.hear("turn")
        page.reload()
        status(page, "thinker is thinking")
        expect(page.locator(".moves li")).to_have_count(1)
        guest.say(type="move", match=match, ply=1, move=4)
        status(page, "Your turn")
        expect(page.locator(".moves li")).to_have_count(2)
        resign(page)


def test_back_links_and_the_bar_lead_away_and_back(idle: BrowserArena, page: Page) -> None:
    match = begin(page, idle, "ada-wanders")
    page.go_back()
    bar = page.get_by_role("region", name="Your match")
    expect(bar).to_contain_text("Your match against random is still on: your turn")
    expect(page.get_by_role("button", name="Start the match")).to_be_disabled()
    for view in ("Ratings", "Watch", "Search"):
        page.get_by_role("link", name=view, exact=True).click()
        expect(bar.get_by_role("link", name="Back to the match")).to_be_visible()
    page.reload()  # on another view than the match's
    expect(bar).to_contain_text("is still on: your turn")
    bar.get_by_role("link", name="Back to the match").click()
    expect(bar).to_be_hidden()
    click_a_move(page)
    status(page, "Your turn")
    goes_on(idle, match)
    resign(page)


def test_leaving_the_page_warns_while_a_match_goes_on(idle: BrowserArena, page: Page) -> None:
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    begin(page, idle, "ada-leaves")
    page.locator("[data-source]").first.click()
    page.once("dialog", stay)
    with page.expect_event("dialog"):
        page.close(run_before_unload=True)
    expect(page.locator("[data-selected]")).to_be_visible()
    assert asked == ["beforeunload"]
    resign(page)
    page.on("dialog", stay)
    page.reload()
    assert asked == ["beforeunload"], "nothing is lost any more"


def test_a_second_tab_takes_the_match_over_and_the_first_takes_it_back(
    idle: BrowserArena, browser: Browser
) -> None:
    context = new_context(browser)  # all pages of a context have one clock
    page = context.new_page()
    page.clock.install()
    match = begin(page, idle, "ada-doubles")
    second = context.new_page()
    pause(page)  # the second tab waits for the first one as long as it takes
    second.goto(idle.url)
    bar = second.get_by_role("region", name="Your match")
    expect(bar).to_contain_text("Your match against random is still on, in another tab")
    page.clock.resume()
    bar.get_by_role("button", name="Play here").click()
    status(second, "Your turn")
    click_a_move(second)
    status(second, "Your turn")
    first_bar = page.get_by_role("region", name="Your match")
    expect(first_bar).to_contain_text("in another tab")
    expect(page.locator("[data-source]")).to_have_count(0)
    expect(page.locator(".moves li")).to_have_count(2)
    first_bar.get_by_role("button", name="Play here").click()
    status(page, "Your turn")
    click_a_move(page)
    status(page, "Your turn")
    expect(second.locator(".moves li")).to_have_count(4)
    goes_on(idle, match)
    resign(page)
    expect(second.get_by_role("region", name="Your match")).to_be_hidden()
    expect(second.locator(".story")).to_contain_text(OVER)
    context.close()


def test_the_address_of_the_match_in_a_new_tab_is_the_match(idle: BrowserArena, page: Page) -> None:
    match = begin(page, idle, "ada-copies")
    second = page.context.new_page()
    second.goto(f"{idle.url}#/match/{match}")
    status(second, "Your turn")
    click_a_move(second)
    status(second, "Your turn")
    resign(second)


def test_a_tab_that_crashed_comes_back(idle: BrowserArena, mortal: Page) -> None:
    begin(mortal, idle, "ada-crashes")
    click_a_move(mortal)
    crash(mortal)
    fresh = mortal.context.new_page()
    fresh.goto(idle.url)
    expect(fresh.get_by_role("region", name="Your match")).to_contain_text(
        "Your match against random is still on"
    )
    fresh.get_by_role("link", name="Back to the match").click()
    status(fresh, "Your turn")
    resign(fresh)


def crash(page: Page) -> None:
    """End the tab's process, as a fault in it or want of memory does."""
    with page.expect_event("crash"), suppress(Error):
        page.goto("chrome://crash")  # which is never there


def test_a_hostile_challenger_changes_nothing(idle: BrowserArena, page: Page) -> None:
    match = begin(page, idle, "ada-challenged")
    url = idle.url.replace("http", "ws", 1)
    with Guest.at(url, "mallory", "127.0.0.9") as mallory:
        for _ in range(3):
            mallory.challenge("ada-challenged")
            challenge = mallory.hear("challenged")["challenge"]
            mallory.say(type="withdraw", challenge=challenge)
            assert mallory.hear("challenge_over")["outcome"] in {"withdrawn", "declined"}
    expect(page.get_by_role("button", name="Resign", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Rematch")).to_have_count(0)
    status(page, "Your turn")
    click_a_move(page)
    status(page, "Your turn")
    goes_on(idle, match)
    resign(page)


def test_an_opponent_that_is_gone_is_told_with_the_seconds_until_one_wins(
    idle: BrowserArena, page: Page
) -> None:
    url = idle.url.replace("http", "ws", 1)
    gone = re.compile(r"Opponent disconnected; you win in [1-9]\d* s\.")
    with Guest.at(url, "dropper", "127.0.0.8") as dropper:
        session = dropper.hear("welcome")["session"]
        page.goto(f"{idle.url}#/play/dropper")
        page.get_by_label("Your name", exact=True).fill("ada-is-left")
        page.get_by_label("Game").select_option("tictactoe")
        page.get_by_role("button", name="Start the match").click()
        dropper.say(type="accept", challenge=dropper.hear("challenged")["challenge"])
        match = dropper.hear("start")["match"]
        dropper.say(type="ready", match=match)
        status(page, "Your turn")
    status(page, gone)
    status(page, "Your turn")  # the clock of whoever is there runs on
    page.locator("[data-target]").first.click()
    status(page, gone)
    expect(page.locator(".viewer .status")).not_to_contain_text("Your turn")
    with Guest.at(url, "dropper", "127.0.0.8", session) as dropper:
        dropper.hear("turn")
        status(page, "dropper is thinking")
        resign(page)


def test_resigning_asks_once(idle: BrowserArena, page: Page) -> None:
    match = begin(page, idle, "ada-doubts")
    page.get_by_role("button", name="Resign", exact=True).click()
    expect(page.get_by_role("button", name="Yes, resign")).to_be_visible()
    page.get_by_role("button", name="Keep playing").click()
    expect(page.get_by_role("button", name="Yes, resign")).to_be_hidden()
    click_a_move(page)
    status(page, "Your turn")
    goes_on(idle, match)
    resign(page)


def test_who_looks_back_in_ones_own_turn_plays_nothing(idle: BrowserArena, page: Page) -> None:
    begin(page, idle, "ada-looks")
    click_a_move(page)
    expect(page.locator(".moves li")).to_have_count(2)
    status(page, "Your turn")
    back = page.get_by_role("button", name="Previous move")
    expect(back).to_have_text("‹ Look back")
    expect(page.get_by_role("button", name=re.compile("^(Next|Newest) move$"))).to_have_count(0)
    back.click()
    expect(page.locator("[data-source]")).to_have_count(0)
    status(page, "You are looking back")
    for spot in page.locator("[data-spot]").all():
        spot.click(force=True)
    expect(page.locator("[data-selected]")).to_have_count(0)
    page.get_by_role("button", name="Newest move").click()
    expect(page.locator(".moves li")).to_have_count(2)
    click_a_move(page)
    status(page, "Your turn")
    resign(page)


def test_ones_own_move_is_on_the_board_at_once(idle: BrowserArena, page: Page) -> None:
    begin(page, idle, "ada-sees")
    server = idle.server_pid
    os.kill(server, signal.SIGSTOP)  # so that whatever is seen comes from the page alone
    try:
        click_a_move(page)
        expect(page.locator(".moves li")).to_have_count(1)
        expect(page.locator(".told")).to_contain_text("Move 1, ")
        expect(page.locator("[data-source]")).to_have_count(0)
    finally:
        os.kill(server, signal.SIGCONT)
    status(page, "Your turn")
    expect(page.locator(".moves li")).to_have_count(2)
    resign(page)


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_server_that_is_gone_is_told_within_two_seconds_with_what_happens_next(
    tmp_path: Path, browser: Browser, how: signal.Signals
) -> None:
    context = new_context(browser)  # all pages of a context have one clock
    page = context.new_page()
    faults = faults_of(page)
    page.clock.install()
    with run_arena(tmp_path, *PATIENT) as running:
        running.connect_slow_bot("random", 0.1)
        wait_until(lambda: len(running.fetch_json("about")) > 0)
        match = begin(page, running, "ada-waits")
        click_a_move(page)
        status(page, "Your turn")
        told = re.compile("Reconnecting….* you have [0-9]+ s to return")
        if how is signal.SIGKILL:
            running.kill_server()  # which the page hears, whatever its clock says
            status(page, told)
        else:
            pause(page)
            os.kill(running.server_pid, how)
            page.clock.run_for(2000)
            status(page, told)
            page.clock.resume()
        click_a_move(page)  # what is played now is kept
        status(page, "Your move is saved and will be sent again")
        expect(page.locator(".fault-bar")).to_be_hidden()  # it is said once
        if how is signal.SIGKILL:
            running.start_server()
        else:
            os.kill(running.server_pid, signal.SIGCONT)
        status(page, re.compile(f"Your turn|{OVER.pattern}"))
        expect(page.locator(".moves li").nth(2)).to_be_visible()
        assert page.url.endswith(match)
    context.close()
    assert not faults


def pause(page: Page) -> None:
    """Stop the clock of the page a second from now."""

    def paused() -> bool:
        with suppress(Error):  # on a busy machine the second is over before the page hears of it
            page.clock.pause_at(page.evaluate("Date.now() + 1000"))
            return True
        return False

    wait_until(paused)


def test_a_page_whose_server_was_upgraded_reloads_itself_into_the_match(
    tmp_path: Path, browser: Browser
) -> None:
    with (
        run_arena(tmp_path, *PATIENT) as running,
        closing(new_context(browser, service_workers="allow")) as context,
    ):
        running.connect_slow_bot("random", 0.1)
        page = context.new_page()
        begin(page, running, "ada-upgrades")
        page.evaluate("navigator.serviceWorker.ready.then(() => null)")  # it has kept the old page
        old = digest(page)
        click_a_move(page)
        status(page, "Your turn")
        running.stop_server()
        running.install_changed_page_files()
        running.start_server()
        page.wait_for_function(f"() => document.querySelector('script[type=module]:not([src*=\"{old}\"])')")
        status(page, re.compile(f"Your turn|{OVER.pattern}"))
        assert digest(page) != old


def test_a_page_that_would_lose_a_file_says_that_it_is_an_old_one_and_stays(
    idle: BrowserArena, page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(format_record_line(made_up("m1")) + "\n", encoding="utf-8")
    page.goto(f"{idle.url}file")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".viewer .map")).to_be_visible()
    page.route("**/api/about", lambda route: route.fulfill(json={"page": "another"}))
    page.evaluate("window.stays = true")
    page.context.set_offline(True)
    try:
        page.get_by_role("link", name="Ratings", exact=True).click()
        expect(page.get_by_text("The server does not answer. Reconnecting…")).to_be_visible()
    finally:
        page.context.set_offline(False)
    old = page.get_by_text("This page is out of date: the server has been upgraded.")
    expect(old).to_be_visible()
    page.go_back()
    expect(page.locator(".viewer .map")).to_be_visible()
    assert page.evaluate("window.stays"), "what was opened would be gone"
    page.get_by_role("button", name="Reload").click()
    expect(old).to_be_hidden()


def digest(page: Page) -> str:
    source = page.locator("script[type=module]").get_attribute("src")
    assert source is not None
    return source.split("/")[2]


def test_no_click_is_dead_while_the_server_is_away(tmp_path: Path, page: Page) -> None:
    with run_arena(tmp_path, "--set=pool.matchmaker=false", bots=("random",)) as running:
        page.goto(running.url)
        expect(page.locator(".bots .name").first).to_be_visible()
        running.kill_server()
        away = page.get_by_text("The server does not answer. Reconnecting…")
        expect(away).to_be_visible()
        for view in ("Ratings", "Play", "Search"):
            page.get_by_role("link", name=view, exact=True).click()
            # a view that this browser already has is shown, with what it could not load
            expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(f"Not loaded yet|{view}"))
        page.get_by_role("link", name="Ratings", exact=True).click()
        running.start_server()
        expect(away).to_be_hidden()
        expect(page.get_by_role("heading", level=1)).to_have_text("Ratings")
        expect(page.get_by_text("No rated match has finished yet.")).to_be_visible()


def test_a_match_of_a_name_with_a_token_is_found_again_in_a_fresh_tab(tmp_path: Path, mortal: Page) -> None:
    with run_arena(tmp_path, *PATIENT, is_private=False) as running:
        token = running.create_token("ada")
        mortal.goto(f"{running.url}#/play/house-greedy")
        mortal.get_by_text("Advanced").click()
        mortal.get_by_label("Your name", exact=True).fill("ada")
        mortal.get_by_label("Token (not needed").fill(token)
        mortal.locator("[name=map][value=path4]").check()
        mortal.get_by_role("button", name="Start the match").click()
        mortal.wait_for_url("**/match/*")
        status(mortal, "Your turn")
        mortal.reload()
        status(mortal, "Your turn")
        assert token not in mortal.evaluate("JSON.stringify({ ...localStorage })"), (
            "it opens more than the match"
        )
        crash(mortal)
        fresh = mortal.context.new_page()
        fresh.goto(running.url)
        bar = fresh.get_by_role("region", name="Your match")
        expect(bar).to_contain_text("Enter your token to return to it")
        bar.get_by_label("Your token").fill(token)
        bar.get_by_role("button", name="Play here").click()
        status(fresh, "Your turn")
        resign(fresh)
        assert storage(mortal.context, running) == {}


def storage(context: BrowserContext, running: BrowserArena) -> dict[str, str]:
    """Return the stored matches that a new tab would find."""
    tab = context.new_page()
    tab.goto(running.url)
    found: dict[str, str] = tab.evaluate(
        "Object.fromEntries(Object.entries(localStorage).filter(([key]) => key.startsWith('arena-match')))"
    )
    return found
