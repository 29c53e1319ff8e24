"""Watching: live to the end, over a restart, by replay, from a file, on a phone, and with bad names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from testkit.browser import BrowserArena, new_context, run_arena, skip_to_live_match, wait_until

DROPPED = """([text, times]) => {
  const data = new DataTransfer();
  data.items.add(new File([text.repeat(times)], "dropped.jsonl"));
  return data;
}"""
SCRIPT = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server on which two bots play tic-tac-toe, one of them with a name that is markup. A match stands still until a test
    hurries it.
    """
    folder = tmp_path_factory.mktemp("board")
    with run_arena(folder, "--game", "tictactoe", "--tc", "60/move") as running:
        running.connect_slow_bot("random", 0.05)
        running.connect_slow_bot(SCRIPT, 0.05)
        wait_until(lambda: running.fetch_json("records")["matches"])
        running.set_sleep_of_slow_bots()
        yield running


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server on which a bot that thinks plays Riskless: about 20 plies a match, which stands still until a test hurries it."""
    folder = tmp_path_factory.mktemp("slow")
    with run_arena(folder, "--map", "m2", "--tc", "60/move", bots=("alphabeta:depth=4",)) as running:
        running.connect_slow_bot("random", 0.05)
        wait_until(lambda: [each for each in running.fetch_json("records")["matches"] if each["plies"] > 14])
        running.set_sleep_of_slow_bots()
        yield running


def test_one_click_from_the_start_page_to_a_live_match_and_on_to_its_end(
    slow: BrowserArena, page: Page
) -> None:
    page.goto(slow.url)
    skip_to_live_match(page)
    page.get_by_role("link", name="Open match").click()
    expect(page.locator(".viewer .badge")).to_contain_text(re.compile("Live|behind"))
    expect(page.locator(".player .name").first).to_have_text(re.compile("alphabeta|random"))
    expect(page.locator(".map .spot[data-owner=maxie]").first).to_be_visible()
    with slow.speed_up_bots(2.0):
        expect(page.locator(".moves li").nth(3)).to_be_visible()
    page.get_by_text("Engines", exact=True).click()
    expect(page.locator(".thinking", has_text="depth").first).to_be_visible()
    match = page.url.rpartition("/")[2]
    with slow.speed_up_bots(0.05):
        record = wait_until(
            lambda: [each for each in slow.fetch_json("records")["matches"] if each["match"] == match]
        )[0]
    page.keyboard.press("End")  # the page shows each move for a while
    expect(page.locator(".story")).to_contain_text(re.compile("wins|Draw"))
    expect(page.locator(".moves li")).to_have_count(record["plies"])


def test_a_match_that_has_just_ended_is_shown_from_its_record(board: BrowserArena, page: Page) -> None:
    with board.speed_up_bots(0.05):
        for _ in range(3):
            page.goto(f"{board.url}tv")
            # Such a match lasts for half a second: it is over when it is asked for, or soon after, and its card before one could aim.
            page.locator(".card.live, .stage-board[href]").first.dispatch_event("click")
            expect(page.locator(".viewer")).to_be_visible()
            page.keyboard.press("End")
            expect(page.locator(".story")).to_contain_text(re.compile("wins|Draw"))
            expect(page.locator(".cell:not([data-owner=nobody])").nth(4)).to_be_visible()


SPOILED = """() => {
  new MutationObserver(() => {
    const over = /wins|Draw/.test(document.querySelector('.viewer .story').textContent);
    window.spoiled ||= !over && document.querySelector('.viewer .links').hasChildNodes();
  }).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true, attributes: true });
}"""
"""Notes in `window.spoiled` whether the page offers what a finished match has before it tells the end."""


def test_a_watcher_who_is_behind_watches_on_after_a_break(board: BrowserArena, page: Page) -> None:
    sockets: list[WebSocketRoute] = []

    def relay(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("^ws"), relay)
    page.goto(f"{board.url}tv")
    expect(page.locator(".stage .badge")).to_contain_text(re.compile("Live|behind"))
    expect(page.locator(".stage-place")).to_have_attribute("inert", "")  # its squares are buttons, in a link
    page.locator(".stage a[href^='/match/']").first.press("Enter")
    expect(page.locator(".viewer .badge")).to_contain_text(
        re.compile("Live|behind")
    )  # Arena TV has a badge, too
    with board.speed_up_bots(0.01):
        match = page.url.rpartition("/")[2]
        wait_until(lambda: match in {each["match"] for each in board.fetch_json("records")["matches"]})
    page.evaluate(SPOILED)
    for socket in sockets:
        socket.close()
    expect(page.locator(".story")).to_contain_text(re.compile("wins|Draw"))
    page.get_by_role("tab", name="Openings").click()
    expect(page.get_by_role("link", name="Matches with the same opening")).to_be_visible()
    assert not page.evaluate("window.spoiled"), (
        "what only a finished match has is offered before its end is shown"
    )


def test_a_watcher_is_back_after_the_server_was_killed(tmp_path: Path, page: Page) -> None:
    with run_arena(tmp_path, "--map", "m2", "--tc", "60/move", bots=("greedy",)) as running:
        running.connect_slow_bot("random", 2.0)
        page.goto(f"{running.url}tv")
        page.locator(".card.live, .stage-board[href]").first.click()
        expect(page.locator(".moves li").nth(2)).to_be_visible()
        running.kill_server()
        expect(page.locator(".fault-bar")).to_contain_text("The server does not answer")
        seen = page.locator(".moves li").count()
        running.start_server()
        # On a busy machine the server takes its time, and the bots may come too late (tests/e2e/test_crash.py is
        # about them): the match goes on, or has ended by now, and the page shows which.
        expect(page.locator(".title")).to_contain_text(re.compile("Live|behind|wins|Draw|Void"))
        expect(page.locator(".moves li").nth(seen - 1)).to_be_visible()


def test_replay_by_slider_keys_links_and_address(board: BrowserArena, page: Page) -> None:
    match = board.fetch_json("records")["matches"][-1]
    page.goto(f"{board.url}#/match/{match['match']}/2")
    filled = page.locator(".cell:not([data-owner=nobody])")
    expect(filled).to_have_count(2)
    page.keyboard.press("ArrowRight")
    expect(filled).to_have_count(3)
    assert page.url.endswith(f"/match/{match['match']}/3")
    page.keyboard.press("Home")
    expect(filled).to_have_count(0)
    page.get_by_role("slider").fill("4")
    expect(filled).to_have_count(4)
    page.locator(".moves a").first.click()
    expect(filled).to_have_count(1)
    page.get_by_role("button", name="Last move").click()
    expect(filled).to_have_count(match["plies"])
    with page.expect_download() as download:
        page.get_by_text("Share", exact=True).click()
        page.get_by_text("Embed or download").click()
        page.get_by_role("link", name="Moves", exact=True).click()
    record = json.loads(download.value.path().read_text())
    assert len(record["moves"]) == match["plies"]


def test_a_link_to_a_ply_shows_it_in_the_list_too(slow: BrowserArena, page: Page) -> None:
    match = next(each for each in slow.fetch_json("records")["matches"] if each["plies"] > 14)
    page.set_viewport_size({"width": 700, "height": 900})
    page.goto(f"{slow.url}#/match/{match['match']}/{match['plies'] - 1}")
    expect(page.locator(".moves [aria-current=step] .number")).to_have_text(str(match["plies"] - 1))
    page.wait_for_function("() => document.querySelector('.moves').scrollTop > 0")


def test_a_record_file_of_ones_own_is_played_and_a_wrong_one_is_told(
    board: BrowserArena, page: Page, tmp_path: Path
) -> None:
    match = board.fetch_json("records")["matches"][-1]
    record = board.fetch_json(f"record/{match['match']}")
    wrong = {**record, "moves": [*record["moves"][:1], *record["moves"]]}
    file = tmp_path / "two.jsonl"
    file.write_text(f"{json.dumps(record)}\n{json.dumps(wrong)}\n")
    filled = page.locator(".cell:not([data-owner=nobody])")
    page.goto(board.url)
    expect(page.locator(".past .card").first).to_be_visible()
    dropped = page.evaluate_handle(DROPPED, [file.read_text(), 1])
    page.dispatch_event("body", "drop", {"dataTransfer": dropped})
    expect(filled).to_have_count(match["plies"])
    page.goto(f"{board.url}#/file")
    page.reload()  # what was dropped is forgotten, so that what is shown next is the file that is opened
    expect(filled).to_have_count(0)
    page.locator("input[type=file]").set_input_files(file)
    expect(filled).to_have_count(match["plies"])
    heading = page.locator(".heading > h1")
    expect(heading).to_have_text(f"{record['players']['maxie']} v {record['players']['minnie']}")
    expect(page.locator(".file-name")).to_have_text("two.jsonl")
    page.get_by_label("2 matches:").select_option("1")
    expect(heading).to_have_text("two.jsonl")
    expect(page.get_by_role("alert")).to_have_text(
        "two.jsonl, line 2: the record's move at ply 1 is not legal"
    )


def test_a_picture_or_an_empty_file_opened_as_a_match_is_told_and_lists_no_matches(
    board: BrowserArena, page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "board.png"
    Image.effect_noise((200, 200), 80).save(file)  # with many line ends among its bytes
    page.goto(f"{board.url}file")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_role("alert")).to_have_text("board.png, line 1: this is not JSON")
    expect(page.locator("main select")).to_have_count(0)
    expect(page.locator(".viewer")).to_have_count(0)
    (tmp_path / "nothing.jsonl").touch()
    page.locator("input[type=file]").set_input_files(tmp_path / "nothing.jsonl")
    expect(page.get_by_role("alert")).to_have_text("nothing.jsonl is empty")


def test_the_rule_that_ended_a_match_by_adjudication_is_told(
    board: BrowserArena, page: Page, tmp_path: Path
) -> None:
    match = board.fetch_json("records")["matches"][-1]
    record = board.fetch_json(f"record/{match['match']}")
    detail = "repetition: the same position came up 3 times, with the same player to move"
    record["moves"] = record["moves"][:2]
    record["result"] = {"winner": None, "reason": "adjudicated", "detail": detail}
    file = tmp_path / "drawn.jsonl"
    file.write_text(json.dumps(record))
    page.goto(f"{board.url}#/file")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".story")).to_have_text("Draw")
    expect(page.locator(".told")).to_contain_text(f"By {detail} · Move 2,")


def test_a_dropped_file_that_cannot_be_shown_is_told(board: BrowserArena, page: Page) -> None:
    page.goto(board.url)
    expect(page.locator(".past .card").first).to_be_visible()
    for times, told in ((1, "line 1: this is not JSON"), (2**23 + 1, "larger than 64 MB")):
        page.dispatch_event(
            "body", "drop", {"dataTransfer": page.evaluate_handle(DROPPED, ["nonsense", times])}
        )
        expect(page.get_by_role("alert")).to_contain_text(told)


def test_the_engines_are_shown_live_and_in_the_record(slow: BrowserArena, page: Page) -> None:
    page.goto(f"{slow.url}tv")
    skip_to_live_match(page)
    page.get_by_role("link", name="Open match").click()
    engine = page.locator(".engine", has_text=re.compile(r"^alphabeta:depth=.* · 1 thread$"))
    page.get_by_text("Engines", exact=True).click()
    expect(engine).to_be_visible()
    page.goto(f"{slow.url}#/match/{slow.fetch_json('records')['matches'][0]['match']}")
    page.get_by_text("Engines", exact=True).click()
    expect(engine).to_be_visible()


def test_a_name_that_is_a_script_is_only_text(board: BrowserArena, page: Page) -> None:
    alerts: list[str] = []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    page.goto(board.url)
    expect(page.locator(".bots .name", has_text=SCRIPT)).to_be_visible()
    page.locator(".card", has_text=SCRIPT).last.click()
    expect(page.locator(".viewer .player .name", has_text=SCRIPT)).to_be_visible()
    page.locator(".viewer .player .name", has_text=SCRIPT).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(SCRIPT)
    expect(page.get_by_role("heading", name="How matches were lost")).to_be_visible()
    assert not alerts
    assert page.locator("main img, main script").count() == 0


def test_nothing_is_wider_than_a_phone(board: BrowserArena, slow: BrowserArena, browser: Browser) -> None:
    context = new_context(browser, viewport={"width": 375, "height": 720}, has_touch=True, is_mobile=True)
    phone = context.new_page()
    match = board.fetch_json("records")["matches"][-1]["match"]
    phone.goto(f"{slow.url}tv")
    phone.get_by_role("link", name="Open match").tap()
    expect(phone.locator(".viewer .map")).to_be_visible()
    for address in (f"{board.url}#/match/{match}", f"{board.url}#/table", f"{board.url}#/play", board.url):
        phone.goto(address)
        expect(phone.locator("main > *").nth(0)).to_be_visible()
        phone.wait_for_load_state("networkidle")
        assert phone.evaluate("document.documentElement.scrollWidth") <= 375, address
    context.close()


def test_an_unknown_match_is_told_in_words(board: BrowserArena, page: Page) -> None:
    page.goto(f"{board.url}#/match/nonsense")
    expect(page.locator("main").get_by_role("status")).to_contain_text("No finished match is called")


LAST_PLIES = """async () => {
  const { Follower } = await import(new URL('parts/follow.js', document.querySelector('script[type=module]').src).href);
  const follower = new Follower(() => null, () => null);
  const clocks = { maxie_ms: 1000, minnie_ms: 1000 };
  follower.take({ type: 'view', match: 'm', event: '', game: 'tictactoe', setup: {}, players: { maxie: 'a', minnie: 'b' },
    time_control: '1/move', moves: [{ move: 4, ms: 1 }], clocks, mover: 'minnie', engines: {} });
  follower.take({ type: 'end', winner: 'maxie', reason: 'resignation', detail: '', moves: [4, 0, 8], clocks });
  for (const [ply, move] of [[1, 0], [2, 8]]) follower.take({ type: 'update', ply, played: { move, ms: 20 + ply }, clocks });
  for (const ply of [1, 2]) follower.take({ type: 'thought', ply, thinking: { value: ply } });
  return follower.match.moves.map(({ ms, thinking }) => [ms, thinking?.value ?? null]);
}"""


def test_the_last_plies_have_their_times_and_thoughts_however_early_the_end_is_told(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}file")
    assert page.evaluate(LAST_PLIES) == [[1, None], [21, 1], [22, 2]]


def test_a_notice_of_the_host_stands_above_every_view_until_it_is_lifted(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(empty.url)
    empty.run_command("notice", "<b>An upgrade</b> at eight.", "--for", "30m")
    bar = page.locator(".bars")
    expect(bar).to_contain_text("<b>An upgrade</b> at eight.")
    page.goto(f"{empty.url}table")
    expect(bar).to_contain_text("at eight.")
    empty.run_command("notice", "--lift")
    expect(bar).not_to_contain_text("at eight.")
