"""A person plays by clicks, against a bot, on the same wire."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, ViewportSize, expect

from arena.maps.game_on_map import make_game_on_map
from arena.server.core.settings import MAX_MATCHES_PER_HOUSE_ENGINE
from testkit.browser import (
    MEASURE_LAYOUT_SHIFT_SCRIPT,
    WAIT_TIMEOUT_SECONDS,
    BrowserArena,
    box_of,
    new_context,
    run_arena,
    wait_until,
)
from tests.web.wire import Guest, against


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server whose bot waits for challenges."""
    with run_arena(tmp_path_factory.mktemp("idle"), "--set=pool.matchmaker=false") as running:
        running.connect_bot("random", max_matches=20)
        yield running


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server as `arena serve` starts it, to which nobody has connected."""
    with run_arena(tmp_path_factory.mktemp("fresh"), "--map", "path4", is_private=False) as running:
        yield running


def resign(page: Page) -> None:
    page.get_by_role("button", name="Resign", exact=True).click()
    page.get_by_role("button", name="Yes, resign").click()
    expect(page.get_by_role("link", name="New match")).to_be_visible()


def begin(page: Page, arena: BrowserArena, game: str, map: str = "path4") -> None:
    page.goto(f"{arena.url}play/random")
    page.get_by_label("Game").select_option(game)
    if game == "riskless":
        page.locator(f"[name=map][value='{map}']").check()
    page.get_by_role("button", name="Start the match").click()


def play_out(page: Page) -> None:
    """Click whatever is legal until the match is over."""
    over = page.get_by_role("button", name="Rematch")
    target, source = page.locator("[data-target]"), page.locator("[data-source]:not([data-selected])")

    def is_over() -> bool:
        expect(over.or_(target).or_(source).first).to_be_visible()
        if not over.is_visible():
            with suppress(Error):  # the match may have gone on meanwhile
                (target if target.count() else source).first.click(timeout=5000)
        return over.is_visible()

    wait_until(is_over, 3 * WAIT_TIMEOUT_SECONDS)


def test_the_form_says_of_each_map_how_large_it_is_and_how_long_it_takes(
    fresh: BrowserArena, page: Page
) -> None:
    page.goto(f"{fresh.url}play")
    titles = ["Italy", "World", "USA", "Poland", "Ring of six", "Grid of sixteen", "Path of four"]
    expect(page.locator(".maps-of .choice > span:nth-of-type(2)")).to_have_text(titles)
    tiles = [box_of(each) for each in page.locator(".maps-of .choice").all()]
    for row in (tiles[:4], tiles[4:]):  # the large maps, and below them the small ones
        assert len({(round(each["y"]), round(each["width"]), round(each["height"])) for each in row}) == 1
        assert abs(sum(each["width"] for each in row) + 8 * len(row) - 4 * (tiles[0]["width"] + 8)) <= 4, (
            "a full row"
        )
    said = page.locator(".chosen-map > figcaption")
    expect(said).to_have_text("Italy20 territories, first to 220 armies, about 60 moves")
    page.locator("[name=map][value=usa]").check()
    expect(said).to_have_text("USA48 territories, first to 980 armies, about 140 moves")
    steps, picture = box_of(page.locator(".steps")), box_of(page.locator(".chosen-map"))
    assert abs(steps["y"] + steps["height"] - picture["y"] - picture["height"]) <= 1, "they end together"


def test_the_button_that_starts_a_match_is_in_sight_at_once(fresh: BrowserArena, page: Page) -> None:
    page.goto(f"{fresh.url}play")
    for width, height in ((1280, 720), (768, 1024), (360, 640)):
        page.set_viewport_size({"width": width, "height": height})
        expect(page.get_by_role("button", name="Start the match")).to_be_in_viewport(ratio=1)


def test_the_form_to_play_does_not_move_when_the_house_bots_are_listed(
    fresh: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    page.add_init_script(MEASURE_LAYOUT_SHIFT_SCRIPT)
    page.goto(f"{fresh.url}play")
    expect(page.get_by_role("radio", name="Easy: Greedy")).to_be_visible()
    expect(page.locator(".choice .small-board").last).to_be_visible()
    assert page.evaluate("shifted") < 0.01
    # They are offered even before the server has listed them.
    page.route_web_socket(re.compile("^ws"), lambda _unanswered: None)
    page.reload()
    expect(page.get_by_role("radio", name="Easy: Greedy")).to_be_checked()
    for level in ("Medium: Minimax", "Hard: AlphaBeta"):
        expect(page.get_by_role("radio", name=level)).to_be_visible()


def test_an_opponent_is_a_bot_of_the_house_or_somebody_else(fresh: BrowserArena, page: Page) -> None:
    page.goto(f"{fresh.url}play")
    easy, hard = (
        page.get_by_role("radio", name="Easy: Greedy"),
        page.get_by_role("radio", name="Hard: AlphaBeta"),
    )
    somebody, others = page.get_by_role("radio", name="Other: any bot"), page.get_by_label("Challenge")
    expect(easy).to_be_checked()
    expect(others).to_be_hidden()
    somebody.check()
    expect(others.locator("option:checked")).to_have_text("Anyone who accepts")
    hard.check()
    expect(others).to_be_hidden()
    page.goto(f"{fresh.url}play/house-alphabeta")
    expect(hard).to_be_checked()
    page.goto(f"{fresh.url}play/pat")
    expect(others.locator("option:checked")).to_have_text("pat")
    expect(somebody).to_be_checked()


PRESSED = """(button) => {
  const around = getComputedStyle(button, '::after');
  return [Math.max(button.offsetWidth, parseFloat(around.width) || 0), Math.max(button.offsetHeight, parseFloat(around.height) || 0)];
}"""
"""Width and height of what a finger can press of a button, which may be more than is seen."""


WINDOWS: list[ViewportSize] = [
    {"width": width, "height": height} for width, height in ((360, 640), (1280, 720), (390, 780), (844, 390))
]


def test_whoever_plays_has_all_that_is_needed_in_sight(idle: BrowserArena, page: Page) -> None:
    page.set_viewport_size(WINDOWS[0])
    begin(page, idle, "riskless", "usa")
    expect(page.locator("[data-source]").first).to_be_visible()
    expect(page.locator(".player .name")).to_have_text(["You", "random"])
    for window in WINDOWS:
        page.set_viewport_size(window)
        page.mouse.wheel(0, -9000)
        page.wait_for_function("() => scrollY === 0")
        for sign in (".status", ".actions button", ".scoreboard", ".zoomed", ".controls"):
            expect(page.locator(f".viewer {sign}").first).to_be_in_viewport(ratio=1)
        if window["width"] < 900:
            for button in page.locator(".controls button:visible, .zoom-keys button:visible").all():
                assert min(button.evaluate(PRESSED)) >= 44
    resign(page)
    for window in WINDOWS:
        page.set_viewport_size(window)
        page.mouse.wheel(0, -9000)
        expect(page.get_by_role("button", name="Rematch")).to_be_in_viewport(ratio=1)


def test_the_goal_and_the_rules_stand_beside_the_board_until_the_first_move(
    idle: BrowserArena, page: Page
) -> None:
    begin(page, idle, "riskless")
    briefing = page.get_by_role("region", name="Before you begin")
    goal = make_game_on_map("riskless", "path4").setup()["armies_to_win"]
    expect(briefing).to_contain_text(
        f"Be the first with {goal} armies, or take the last territory of random."
    )
    expect(briefing).to_contain_text("You are Blue and move first. random is Orange.")
    expect(page.locator(".moves")).to_be_hidden()  # until there is one
    back = page.get_by_role("button", name="Previous move")
    expect(back).to_be_hidden()
    told = page.get_by_role("status").and_(page.locator(".told"))
    expect(told).to_have_count(1)  # a screen reader is ready for the first move
    expect(page.locator(".prompt[data-turn=maxie]")).to_have_text("Your turn: choose a territory")
    page.locator("[data-source]").first.click()
    page.locator("[data-target]").first.click()
    expect(page.locator(".moves li").first).to_be_visible()
    expect(briefing).to_be_hidden()
    expect(back).to_be_visible()
    resign(page)


def test_a_choice_is_taken_back_by_a_button_and_by_escape(idle: BrowserArena, page: Page) -> None:
    begin(page, idle, "riskless")
    cancel = page.get_by_role("button", name="Cancel")
    source = page.locator("[data-source]").first
    expect(source).to_be_visible()
    expect(cancel).to_be_hidden()
    for by_key in (False, True):
        source.click()
        expect(page.locator("[data-selected]")).to_have_count(1)
        expect(cancel).to_be_in_viewport(ratio=1)
        if by_key:
            page.keyboard.press("Escape")
        else:
            cancel.press("Enter")
            expect(source).to_be_focused()
        expect(page.locator("[data-selected], [data-target]")).to_have_count(0)
        expect(page.locator(".prompt")).to_have_text("Your turn: choose a territory")
        expect(cancel).to_be_hidden()
    resign(page)


SEATED = """async ([setup, ms]) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ playing }, { SeatView }, { Match }] = [await from('playing.js'), await from('views/seat.js'), await from('match.js')];
  const match = new Match({ match: 'm', game: 'riskless', setup, players: { maxie: 'ann', minnie: 'bob' }, time_control: '300+3' });
  match.setClocks({ maxie_ms: ms, minnie_ms: 300_000 }, 'maxie');
  Object.assign(playing, { entry: { match: 'm' }, seat: 'maxie', turn: { match: 'm', ply: 0 }, follower: { match } });
  new SeatView(document.querySelector('main'), ['m']);
}"""
"""Shows a match of the reader's own, with so much time left for the reader."""


def test_whoever_has_little_time_left_is_told(timed: Page) -> None:
    setup = make_game_on_map("riskless", "path4").setup()
    timed.evaluate(SEATED, [setup, 21_000])
    prompt = timed.locator(".prompt")
    timed.clock.run_for(100)
    expect(prompt).to_have_text("Your turn: choose a territory")
    timed.clock.run_for(2000)
    expect(prompt).to_have_text("Your turn, less than 20 s left: choose a territory")
    timed.locator("[data-source]").first.press("Enter")
    timed.clock.run_for(100)
    expect(prompt).to_have_text(
        re.compile(r"^Your turn, less than 20 s left: [^:]+, \d+ arm(y|ies)\. Where\sto\?$")
    )
    expect(timed.locator(".player[data-low] .name")).to_have_text("You")


def test_an_open_challenge_that_arrives_does_not_move_the_form(idle: BrowserArena, page: Page) -> None:
    page.goto(f"{idle.url}play")
    start = page.get_by_role("button", name="Start the match")
    expect(page.locator(".chosen-map svg")).to_be_visible()
    expect(page.get_by_label("Opponent").locator("option:checked")).to_have_text("random")
    before = box_of(start)
    with Guest.at(idle.url.replace("http", "ws", 1), "opener", "127.0.0.8") as guest:
        guest.challenge("")
        expect(page.get_by_role("button", name="Play opener")).to_be_visible()
        assert box_of(start) == before


def test_two_clicks_from_the_start_page_of_a_fresh_server_to_a_whole_game(
    fresh: BrowserArena, page: Page
) -> None:
    page.goto(fresh.url)
    page.get_by_role("link", name="Play against House Greedy").click()
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".status").first).to_contain_text("Your turn")
    resign(page)
    page.get_by_role("button", name="Try your own moves").click()
    page.locator("[data-source]").first.click()
    page.locator("[data-target]").first.hover()
    expect(page.locator(".telling > .preview")).to_contain_text("→")  # and it leaves the next steps in sight
    page.get_by_role("link", name="New match").click()
    page.get_by_text("Advanced").click()
    page.get_by_label("Game").select_option("tictactoe")
    page.get_by_role("button", name="Start the match").click()
    play_out(page)
    record = wait_until(lambda: fresh.fetch_json("records?game=tictactoe")["matches"])[0]
    assert record["result"]["reason"] in {"line", "board_full"}
    assert record["players"]["minnie"] == "house-greedy"


def test_a_guest_is_asked_for_a_token_only_where_it_needs_one(fresh: BrowserArena, page: Page) -> None:
    page.goto(f"{fresh.url}#/play/house-alphabeta")
    page.get_by_text("Advanced").click()
    token = page.get_by_label("Token")
    expect(token).not_to_have_attribute("required", "")
    page.get_by_label("Your name", exact=True).fill("ada")
    expect(token).to_have_attribute("required", "")
    page.get_by_label("Your name", exact=True).fill("guest-42")
    page.locator("[name=map][value=path4]").check()
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".player .name", has_text="House AlphaBeta")).to_be_visible()
    resign(page)


def test_whoever_waits_for_a_place_is_told_how_many_are_before(fresh: BrowserArena, page: Page) -> None:
    url = fresh.url.replace("http", "ws", 1)
    with ExitStack() as stack:
        playing = []
        for number in range(MAX_MATCHES_PER_HOUSE_ENGINE):
            # Two from each address, which are all that the guests of one address may have.
            guest = stack.enter_context(Guest.at(url, f"guest-{number}", f"127.0.1.{number // 2}"))
            guest.challenge("house-greedy")
            match = guest.hear("start")["match"]
            guest.say(type="ready", match=match)  # or its match is over after a while, and its place free
            playing.append((guest, match))
        page.goto(f"{fresh.url}#/play/house-greedy")
        page.get_by_text("Advanced").click()
        page.get_by_label("Game").select_option("tictactoe")
        page.get_by_role("button", name="Start the match").click()
        status = page.locator("main").get_by_role("status")
        expect(status).to_have_text("You are next…")
        bar = page.locator(".fault-bar")
        os.kill(fresh.server_pid, signal.SIGSTOP)
        try:
            expect(bar).to_be_visible()
        finally:
            os.kill(fresh.server_pid, signal.SIGCONT)
        expect(bar).to_be_hidden()
        expect(status).to_have_text("You are next…")
        for guest, match in playing:
            guest.say(type="resign", match=match)
            guest.hear("end")
        expect(page.locator(".player .name", has_text="House Greedy")).to_be_visible()
        resign(page)


def test_a_whole_game_by_clicks_and_a_rematch_with_the_seats_swapped(idle: BrowserArena, page: Page) -> None:
    begin(page, idle, "tictactoe")
    play_out(page)
    record = wait_until(
        lambda: [e for e in idle.fetch_json("records?game=tictactoe")["matches"] if e["plies"] >= 5]
    )[0]
    assert record["result"]["reason"] in {"line", "board_full"}
    page.get_by_role("button", name="Rematch").click()
    expect(page.locator(".player[data-owner=maxie] .name")).to_have_text("random")
    play_out(page)
    expect(page.locator(".status").first).to_contain_text(
        re.compile("You won · with|You lost · random wins with|Draw · with")
    )


def test_a_premove_is_sent_with_the_turn_and_dropped_where_it_is_illegal(
    idle: BrowserArena, page: Page
) -> None:
    status, premove = page.locator(".status").first, page.locator(".cell[data-premove]")
    cell = page.locator(".cell")
    with against(idle, page, "patient", "tictactoe") as (guest, match):
        cell.nth(0).click()
        assert guest.hear("turn")["moves"] == [0]
        for by_key in (True, False):
            cell.nth(4).click()
            expect(status).to_contain_text("Your next move: b2.")
            expect(premove).to_have_count(1)
            if by_key:
                page.keyboard.press("Escape")
            else:
                cell.nth(8).click()
            expect(premove).to_have_count(0)
            expect(status).to_have_text("patient is thinking…")
            first = "(words) => getComputedStyle(words, '::first-letter').textTransform"
            assert status.locator(".colon + span").evaluate(first) == "none", "a bot's name as it is"
        cell.nth(4).click()
        expect(premove).to_have_count(1)
        guest.say(type="move", match=match, ply=1, move=4)  # which takes its place
        expect(status).to_contain_text("Your turn")
        expect(premove).to_have_count(0)
        expect(page.locator(".moves li")).to_have_count(2)
        cell.nth(1).click()
        assert guest.hear("turn")["moves"] == [0, 4, 1]
        cell.nth(2).click()
        expect(premove).to_have_count(1)
        guest.say(type="move", match=match, ply=3, move=3)
        end = guest.hear("end")
        assert (end["winner"], end["moves"]) == ("maxie", [0, 4, 1, 3, 2])
    expect(page.get_by_role("button", name="Rematch")).to_be_visible()


@pytest.mark.parametrize("keys", [False, True])
def test_a_premove_on_a_map_is_two_clicks_or_keys(idle: BrowserArena, page: Page, keys: bool) -> None:
    rules: Any = make_game_on_map("riskless", "path4")
    with against(idle, page, f"patient-{keys}", "riskless") as (guest, match):
        page.locator("[data-source]").first.click()
        page.locator("[data-target]").first.click()
        (first,) = guest.hear("turn")["moves"]
        position = rules.play(rules.start(), rules.move_from_data(first))
        reply = rules.moves(position)[0]
        held = {source for source, _ in rules.moves(rules.play(position, reply))}
        spot = page.locator(f".spot[data-spot='{min(held & {first[1]} or held)}']")
        if keys:
            spot.press("Enter")
            page.locator("[data-ahead]").first.press("Enter")
        else:
            spot.click()
            page.locator("[data-ahead]").first.click()
        expect(page.locator(".spot[data-premove]")).to_have_count(2)
        expect(page.locator("[data-source], [data-target]")).to_have_count(0)
        guest.say(type="move", match=match, ply=1, move=list(reply))
        moves = guest.hear("turn")["moves"]
        assert (len(moves), moves[2][0]) == (3, int(spot.get_attribute("data-spot") or -1))
        expect(page.locator(".spot[data-premove]")).to_have_count(0)
        resign(page)


def test_hexapawn_by_keys_alone(idle: BrowserArena, page: Page) -> None:
    begin(page, idle, "hexapawn")
    page.locator("[data-source]").first.press("Enter")
    page.locator("[data-target]").first.press("Enter")
    expect(page.locator(".moves li").first).to_be_visible()
    resign(page)
    expect(page.get_by_role("button", name="Rematch")).to_be_visible()


def test_a_name_that_is_taken_is_told(idle: BrowserArena, page: Page) -> None:
    page.goto(f"{idle.url}#/play/random")
    page.get_by_label("Your name", exact=True).fill("random")
    page.get_by_role("button", name="Start the match").click()
    expect(page.locator(".status")).to_contain_text("That name is in use.")


def test_whoever_looks_at_something_else_is_called_when_it_is_their_turn(
    idle: BrowserArena, browser: Browser
) -> None:
    context = new_context(browser, service_workers="allow", permissions=["notifications"])
    page = context.new_page()
    page.goto(idle.url)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Notify me when it is my turn").check()
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    begin(page, idle, "hexapawn")
    expect(page.locator("[data-source]").first).to_be_visible()
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    page.locator("[data-source]").first.press("Enter")
    page.locator("[data-target]").first.press("Enter")
    page.wait_for_function(
        """async () => (await (await navigator.serviceWorker.ready).getNotifications()).some(({ title, body }) => (
            title === 'Your turn' && body === 'against random'))"""
    )
    context.close()
