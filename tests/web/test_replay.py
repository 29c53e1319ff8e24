"""A replay: its keys, its speed, where it turned; the rules and the words explained where they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from arena.maps.game_on_map import make_game_on_map
from arena.protocol.record import Record, format_record_line
from arena.protocol.values import Thinking
from testkit.browser import BrowserArena, box_of
from tests.web.screenshots import made_up

TURNED = 5
"""Ply from which on the values of the made-up match are different."""


def turned() -> Record:
    """Return a match whose players change their minds once."""
    record = made_up("m2")
    moves = [
        replace(move, thinking=Thinking(depth=3, value=-4000.0 if ply + 1 >= TURNED else 900.0))
        for ply, move in enumerate(record.moves[:12])
    ]
    return replace(record, moves=moves)


@pytest.fixture
def shown(empty: BrowserArena, page: Page, tmp_path: Path) -> Page:
    """A page that shows the match."""
    open_record(page, empty, tmp_path / "turned.jsonl", turned())
    return page


def open_record(page: Page, empty: BrowserArena, file: Path, record: Record) -> None:
    """Show a record from its start."""
    file.write_text(format_record_line(record) + "\n", encoding="utf-8")
    page.goto(f"{empty.url}file")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".viewer .map")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator(".controls > .run")).to_have_text("▶")
    expect(page.locator(".told")).to_have_text("The start")


@pytest.mark.smoke
def test_space_plays_the_moves_and_stops_and_speed_is_chosen(shown: Page) -> None:
    shown.locator("body").click(position={"x": 2, "y": 2})
    run, speed = shown.locator(".controls > .run"), shown.get_by_label("Speed")
    shown.keyboard.press("-")
    expect(speed).to_have_value("0.5")
    shown.keyboard.press(" ")
    expect(run).to_have_text("❚❚")  # twelve moves take a quarter of a minute
    expect(run).to_have_accessible_name("Pause")
    for _ in range(4):
        shown.keyboard.press("+")
    expect(speed).to_have_value("8")
    expect(shown.locator(".told")).to_contain_text("Move 12")
    expect(run).to_have_text("↻")
    expect(run).to_have_accessible_name("Watch again")
    speed.select_option("0.5")
    shown.keyboard.press("Home")
    run.click()
    expect(run).to_have_text("❚❚")
    run.click()
    expect(run).to_have_text("▶")
    expect(run).to_have_accessible_name("Play the moves")


def test_the_keys_are_listed_and_closed(shown: Page) -> None:
    shown.keyboard.press("?")
    keys = shown.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("play, pause")
    close = box_of(keys.get_by_role("button", name="Close"))
    assert min(close["width"], close["height"]) >= 44
    shown.keyboard.press("ArrowRight")
    expect(shown.locator(".told")).to_have_text("The start")
    shown.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    shown.get_by_role("button", name="Settings").click()
    shown.keyboard.press("ArrowRight")
    expect(shown.locator(".told")).to_have_text("The start")
    shown.keyboard.press("Escape")
    shown.keyboard.press("ArrowRight")
    expect(shown.locator(".told")).to_contain_text("Move 1,")


CURRENT_IN_LIST = """() => {
  const [move, list] = ['.moves [aria-current=step]', '.moves'].map((sign) => document.querySelector(sign).getBoundingClientRect());
  return move.height > 0 && move.top >= list.top && move.bottom <= list.bottom;
}"""


def test_the_current_move_stays_in_sight_in_its_list(shown: Page) -> None:
    shown.keyboard.press("End")
    for width, height in ((1280, 720), (768, 1024), (360, 640), (1280, 900), (1280, 800)):
        shown.set_viewport_size({"width": width, "height": height})
        if width > 360:
            shown.wait_for_function(CURRENT_IN_LIST)
    shown.wait_for_function(
        "document.documentElement.scrollHeight <= innerHeight"
    )  # all of a match is in sight
    moves = box_of(shown.locator(".moves"))
    assert moves["height"] >= 8 * box_of(shown.locator(".moves li").first)["height"]


def test_where_the_match_turned_is_marked_on_graph_and_slider(shown: Page) -> None:
    marks = shown.get_by_role("button", name=re.compile("^Key moment"))
    expect(marks, "what is ahead is not told").to_have_count(0)
    veil = shown.get_by_role("button", name="Show it")
    veil.click()
    expect(veil).to_be_hidden()
    expect(shown.locator(".told")).to_have_text("The start")
    expect(marks.first).to_be_visible()
    shown.keyboard.press("End")
    expect(marks.first).to_be_visible()
    expect(shown.locator(".plot .chief")).to_have_text("Turning point")
    name, curve = box_of(shown.locator(".plot .chief")), box_of(shown.locator(".plot .line"))
    assert name["y"] + name["height"] <= curve["y"] + 1, "its name covers neither the curve nor the numbers"
    labels = " ".join(mark.get_attribute("aria-label") or "" for mark in marks.all())
    assert (shown.locator(".plot .moments:not([data-owner])").get_attribute("d") or "").count(
        "M"
    ) == labels.count("Key moment")
    told = re.search(r"([0-9]+): ([^;]*)", labels)
    assert told
    marks.first.click()
    expect(shown.locator(".told")).to_contain_text(f"Move {told[1]},")
    expect(shown.locator(".story")).to_have_text(told[2])
    turn = shown.locator(".plot .chief")
    turn.click()
    expect(shown.locator(".story")).to_have_text(turn.get_attribute("title") or "")
    shown.keyboard.press("End")
    shown.get_by_role("button", name="Play highlights").click()
    first = int(told[1])  # they begin a little before the first key moment
    expect(shown.locator(".counter")).to_have_text(
        re.compile(rf"^({'|'.join(map(str, range(max(0, first - 3), first + 2)))}) / ")
    )
    expect(shown.get_by_role("button", name="Pause", exact=True)).to_be_visible()


UNVALUED = """async (setup) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ Match }, { Viewer }] = [await from('match.js'), await from('parts/viewer.js')];
  const match = new Match({ match: 'm', game: 'riskless', setup, players: { maxie: 'ann', minnie: 'bob' }, time_control: '1+0' });
  const viewer = new Viewer(match, { live: true, link: () => '#' });
  document.querySelector('main').replaceChildren(viewer.element);
  viewer.begin(null);
  window.play = () => { match.add({ move: match.game.moves(match.last)[0] }); viewer.grown(); };
}"""


def test_the_graph_of_a_match_in_play_has_what_there_is_to_draw(timed: Page) -> None:
    setup: Any = make_game_on_map("riskless", "italy").setup()
    start = [each and [each[0], 3 * each[1] if each[0] == "maxie" else each[1]] for each in setup["start"]]
    timed.evaluate(UNVALUED, {**setup, "start": start})
    for _ in range(2):
        timed.evaluate("play()")
    timed.clock.run_for(1000)
    expect(timed.locator(".told")).to_contain_text("Move 2,")
    expect(timed.locator(".plot")).to_be_visible()
    expect(timed.get_by_role("button", name="Show it")).to_be_hidden()
    expect(timed.locator(".plot .area").first).to_be_visible()
    expect(timed.locator(".plot figcaption")).to_have_text(re.compile("^Chance of winning"))


def test_the_graph_has_an_axis_and_tells_of_the_ply_under_the_pointer(shown: Page) -> None:
    chances = [int(each.rstrip(" %")) for each in shown.locator(".axis span").all_text_contents()]
    assert chances in ([60, 50, 60], [70, 50, 70], [90, 50, 90])  # as far as the curve goes
    shown.keyboard.press("End")
    shown.keyboard.press("Home")
    graph = shown.locator(".plot svg")
    box = box_of(graph)
    graph.hover(position={"x": box["width"] / 3, "y": box["height"] / 2})
    expect(shown.locator(".plot p").last).to_have_text(re.compile(r"^Move 4 · (ada|bob) \d\d %"))
    expect(shown.locator(".told")).to_have_text("The start")


def test_the_rules_with_the_numbers_of_the_map_are_one_press_away(shown: Page) -> None:
    shown.get_by_role("banner").get_by_role("button", name="Rules").click()
    rules = shown.get_by_role("dialog", name="Rules: Riskless on Grid of sixteen")
    setup = made_up("m2").setup
    expect(rules).to_contain_text(f"{len(setup['territories'])} territories")
    expect(rules).to_contain_text(f"You win with {setup['armies_to_win']} armies")
    expect(rules.locator(".lesson .map")).to_have_count(4)
    rules.get_by_role("button", name="Close").click()
    expect(rules).to_be_hidden()
    shown.get_by_role("link", name="Ratings", exact=True).click()
    shown.get_by_role("banner").get_by_role("button", name="Rules").click()
    expect(shown.get_by_role("dialog")).to_contain_text("If the numbers are equal, the attacker wins")


def test_a_word_is_explained_where_it_stands(shown: Page) -> None:
    shown.keyboard.press("End")
    shown.get_by_role("button", name="Chance of winning: what does it mean?").click()
    expect(shown.get_by_text("How often a player wins from such a position")).to_be_visible()


def test_how_far_both_players_are_is_told(shown: Page) -> None:
    goal = made_up("m2").setup["armies_to_win"]
    shown.keyboard.press("End")
    for seat in ("maxie", "minnie"):
        card = shown.locator(f".player[data-owner={seat}]")
        told = " · ".join(card.locator(".total, .facts-of").all_text_contents())
        found = re.match(rf"\d+ / {goal} · \d+ territor(y|ies), \+\d+ a move$", told)
        assert found, told
    first, title, second = (
        box_of(shown.locator(sign))
        for sign in (".player[data-owner=maxie] .total", ".title h1", ".player[data-owner=minnie] .total")
    )
    assert first["x"] + first["width"] <= title["x"] <= second["x"] - title["width"]


def test_the_fight_of_the_last_move_is_explained(page: Page, empty: BrowserArena, tmp_path: Path) -> None:
    record = made_up("m1")
    open_record(page, empty, tmp_path / "fought.jsonl", record)
    for _ in record.moves:
        page.keyboard.press("ArrowRight")
        told = page.locator(".told").inner_text()
        found = re.search(r"(\d+) against (\d+): (taken|held) with (\d+) left", told)
        if found:
            came, stood, left = int(found[1]), int(found[2]), int(found[4])
            assert left == abs(came - stood)
            assert (found[3] == "taken") == (came >= stood)
            return
    raise AssertionError("nobody fought")
