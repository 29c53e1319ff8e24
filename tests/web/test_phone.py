"""The views on a phone: the board and the numbers come first, and nothing is wider than the window."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import load_map
from arena.protocol.record import format_record_line
from testkit.browser import BrowserArena, box_of, centre_of, find_truncated_texts, wait_until
from tests.web.screenshots import made_up
from tests.web.test_director import FROM, HURRIED
from tests.web.test_labels import DRAWN
from tests.web.test_map import IS_WHOLE, OWN, show_replay, shown
from tests.web.test_sharing import MARK

AWAY = f"""async () => {{ {FROM}
  const [{{ BotView }}, {{ spectator }}] = [await from('views/bot.js'), await from('spectator.js')];
  const view = new BotView(document.createElement('main'), ['ann']);
  const match = {{ match: 'm', game: 'riskless', map: 'italy', ply: 3, players: {{ maxie: 'ann', minnie: 'bob' }} }};
  const hidden = [[], [match], []].map((matches) => {{
    spectator().dispatchEvent(new CustomEvent('listing', {{ detail: {{ matches, bots: [] }} }}));
    return view.playing.hidden;
  }});
  view.stop();
  return hidden;
}}"""
"""Returns whether the matches in progress of a bot that is not connected are hidden, without, with and again without one."""
WIDER = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(autouse=True)
def phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 640})


def test_the_start_page_has_its_headline_the_board_and_the_button_to_play_on_the_first_screen(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(empty.url)
    expect(page.locator(".stage:not(.first) .map .area-of").first).to_be_visible()
    board = box_of(page.locator(".stage-board"))
    assert (board["x"], board["width"]) == (0, 360)
    signs = (
        ".pitch h1",
        ".pitch p > span",
        ".stage .sides",
        ".stage-board",
        ".pitch .button",
        ".story",
        ".latest",
    )
    boxes = [box_of(page.locator(sign)) for sign in signs]
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"]
    assert boxes[-1]["y"] + boxes[-1]["height"] <= box_of(page.locator("nav"))["y"]
    for line in page.locator(".pitch h1 > span").all():
        assert box_of(line)["height"] < 30, "each sentence has one line"
    button = box_of(page.get_by_role("button", name="Next match"))
    assert board["y"] + board["height"] <= button["y"], "its buttons cover no land"
    assert not find_truncated_texts(page.locator(".stage .name"))
    assert page.evaluate(WIDER) == 0
    page.get_by_role("link", name="Four boards").click()
    expect(page.get_by_role("link", name="4 boards")).to_have_attribute("aria-current", "page")
    page.get_by_role("link", name="1 board").click()
    expect(page.locator(".tv .stage")).to_have_count(1)


def test_each_tab_has_a_picture_and_a_name(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}table")
    tabs = page.locator("nav a").all()
    assert len(tabs) == 5
    for tab in tabs:
        picture = box_of(tab.locator("svg"))
        assert picture["width"] == picture["height"] >= 20
        assert not find_truncated_texts(tab)
    page.set_viewport_size({"width": 640, "height": 360})
    for each in page.locator("header :is(nav a, .bare)").all():
        expect(each).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 360, "height": 640})
    page.get_by_role("link", name="Maps").click()
    card, picture = (box_of(page.locator(f".cards.maps {sign}").first) for sign in (".card", ".mini-board"))
    assert card["x"] <= picture["x"]
    assert picture["width"] <= card["width"]


def test_the_standings_of_an_event_are_on_the_first_screen_but_one(played: BrowserArena, page: Page) -> None:
    page.goto(f"{played.url}event/serve")
    expect(page.locator("table.standing")).to_be_visible()
    expect(page.locator(".cards.now .small-board").first).to_be_visible()
    standings = page.get_by_role("heading", name="Standings")  # drawn anew whenever a match ends
    assert box_of(standings)["y"] < 640
    assert page.evaluate(WIDER) == 0
    page.route_web_socket(re.compile("^ws"), lambda _unanswered: None)
    page.reload()
    expect(page.locator("table.standing")).to_be_visible()
    boards = page.get_by_role("link", name="Live boards")
    expect(boards).to_be_hidden()  # until the server has listed them


def test_a_bot_has_its_numbers_its_opponents_and_its_match_in_progress(
    played: BrowserArena, page: Page
) -> None:
    numbers, curve = page.locator(".facts").first, page.locator(".profile .plot")

    def shows_curve() -> bool:
        page.goto(f"{played.url}bot/random")  # guests play against greedy only
        expect(numbers).to_contain_text("Rated matches")
        return curve.count() == 1  # drawn with the numbers, after two matches

    wait_until(shows_curve)
    below = box_of(numbers)
    assert below["y"] + below["height"] < 320
    expect(page.get_by_role("region", name="Against").get_by_role("link")).to_have_attribute(
        "href", "/versus/random/greedy"
    )
    assert len({box_of(each)["y"] for each in numbers.locator("dd").all()}) == 1
    expect(curve.locator(".axis > span").first).to_be_visible()
    expect(curve.locator(".dates")).to_be_visible()
    card = box_of(curve.locator("xpath=ancestor::section[1]"))
    assert box_of(curve)["y"] + box_of(curve)["height"] < card["y"] + card["height"]
    by_map = page.get_by_role("region", name="By map and side").get_by_role("table")
    assert box_of(by_map)["height"] >= sum(box_of(each)["height"] for each in by_map.get_by_role("row").all())
    now = page.locator("section", has=page.get_by_role("heading", name="Now")).get_by_role("link").first
    expect(now).to_have_attribute("href", re.compile("^/match/"))
    v, shape = box_of(now.locator(".versus")), box_of(now.locator(".shape").last)
    assert v["x"] + v["width"] < shape["x"]
    assert page.evaluate(WIDER) == 0
    assert page.evaluate(AWAY) == [True, False, True], "a match goes on while its bot is away"


def test_the_end_of_a_match_and_the_next_steps_are_below_its_board(played: BrowserArena, page: Page) -> None:
    match = played.fetch_json("records?bot=random")["matches"][0]["match"]
    page.goto(f"{played.url}match/{match}")
    expect(page.locator(".map .area-of").first).to_be_visible()
    page.keyboard.press("End")
    story = page.locator(".story", has_text=re.compile("wins|Draw"))
    expect(story).to_be_in_viewport(ratio=1)
    board = box_of(page.locator(".board"))
    assert box_of(story)["y"] > board["y"] + board["height"]
    assert page.evaluate(WIDER) == 0
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_in_viewport(ratio=1)


def test_the_way_back_from_a_match_is_in_its_header(played: BrowserArena, page: Page) -> None:
    match = played.fetch_json("records?bot=random")["matches"][0]["match"]
    back = page.get_by_role("link", name="Back", exact=True)
    page.goto(f"{played.url}search")
    expect(back).to_be_hidden()
    page.locator(f"a[href^='/match/{match}']").first.click()
    expect(page.locator(".viewer .map .area-of").first).to_be_visible()
    page.get_by_role("button", name="Next move").click()
    assert box_of(back)["y"] + box_of(back)["height"] <= 48
    page.keyboard.press("End")
    for ply in (5, 4):
        page.locator(f".moves a[href='/match/{match}/{ply}']").click()
        expect(page).to_have_url(f"{played.url}match/{match}/{ply}")
    back.click()
    expect(page).to_have_url(f"{played.url}search")
    page.goto(f"{played.url}match/{match}/1")
    expect(page.locator(".told")).to_contain_text("Move 1,")
    page.keyboard.press("End")
    page.locator(f".moves a[href='/match/{match}/1']").click()
    expect(page).to_have_url(f"{played.url}match/{match}/1")
    back.click()
    expect(page).to_have_url(played.url)


def test_the_title_of_a_match_that_is_behind_is_whole(timed: Page) -> None:
    timed.set_viewport_size({"width": 360, "height": 640})
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 30])
    timed.clock.run_for(100)
    timed.keyboard.press("ArrowLeft")
    timed.clock.run_for(100)
    expect(timed.get_by_role("button", name="Go to live")).to_be_visible()
    assert not find_truncated_texts(timed.locator(".title"))
    assert box_of(timed.get_by_role("button", name="Go to live"))["height"] < 40


def test_a_move_chosen_in_the_list_is_seen_on_the_board(played: BrowserArena, page: Page) -> None:
    longest = max(played.fetch_json("records")["matches"], key=lambda each: each["plies"])
    page.goto(f"{played.url}match/{longest['match']}/{longest['plies'] - 1}")
    expect(page.locator(".map .area-of").first).to_be_visible()
    page.locator(".moves a").nth(2).click()
    expect(page.locator(".told")).to_contain_text("Move 3")
    expect(page.locator(".board")).to_be_in_viewport(ratio=0.9)


def test_the_way_on_without_a_token_is_told_on_a_phone_on_its_side(empty: BrowserArena, page: Page) -> None:
    page.set_viewport_size({"width": 844, "height": 390})
    for view, words in (("me", "play a match yourself"), ("host", "arena token create NAME --role admin")):
        page.goto(f"{empty.url}{view}")
        expect(page.get_by_text(words).or_(page.locator(f"input[value='{words}']"))).to_be_visible()
        form, beside = box_of(page.locator(".lone > form")), box_of(page.locator(".lone > .briefing").first)
        assert form["x"] + form["width"] <= beside["x"]


def test_a_finger_can_press_each_button_of_a_match(played: BrowserArena, page: Page) -> None:
    match = played.fetch_json("records?bot=random")["matches"][0]["match"]
    page.goto(f"{played.url}match/{match}/1")
    expect(page.locator(".map .area-of").first).to_be_visible()
    for width, height in ((360, 640), (844, 390)):
        page.set_viewport_size({"width": width, "height": height})
        buttons = page.locator(
            "header a:visible, :is(header, .title, .controls, .doing, .zoom-keys) > :is(button, .button, select):visible"
        ).all()
        assert len(buttons) > 6
        for button in buttons:
            high = button.evaluate(
                "(button) => Math.max(button.offsetHeight, parseFloat(getComputedStyle(button, '::after').height) || 0)"
            )
            assert high >= 44, (width, button.text_content())
        assert page.evaluate(WIDER) <= 0


@pytest.mark.parametrize(("width", "height"), [(360, 640), (844, 390)])
def test_the_graph_of_a_match_is_its_slider_and_the_moves_have_the_rest_of_the_window(
    empty: BrowserArena, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{empty.url}table")
    show_replay(page, "usa")
    slider = page.get_by_role("slider")
    slider.blur()
    graph = box_of(page.locator(".plot svg"))
    assert graph["height"] >= 44
    for sign in (".plot svg", ".controls", ".story"):
        expect(page.locator(sign)).to_be_in_viewport(ratio=0.99)
    page.mouse.click(*centre_of(page.locator(".plot svg")))
    expect(slider).to_have_value("30")
    if width < height:
        assert box_of(page.locator(".title"))["height"] <= 48, "the title is in the header"
        assert box_of(page.locator(".tabbed"))["y"] + 200 > height
    board, below = box_of(page.locator(".board")), box_of(page.locator(".controls"))
    page.locator(".moves").evaluate("(moves) => moves.scrollIntoView({ block: 'end' })")
    for high in (height - 20, height):
        page.set_viewport_size({"width": width, "height": high})
        page.evaluate(DRAWN)
    assert box_of(page.locator(".board"))["height"] == board["height"], (
        "as high as before, also while scrolled"
    )
    current = page.locator(".moves [aria-current=step]")
    for ply in range(31, 39):
        page.get_by_role("button", name="Next move").click()
        expect(slider).to_have_value(str(ply))
        for part in (page.locator(".board"), page.locator(".controls"), current):
            expect(part).to_be_in_viewport(ratio=0.99)
    stuck = box_of(page.locator(".board"))
    gap = 8 if page.evaluate("scrollY") else 0  # between the board and the graph, while neither is stuck
    assert stuck["y"] == (0 if gap else board["y"])
    assert box_of(page.locator(".controls"))["y"] - stuck["y"] == below["y"] - board["y"] - gap
    page.keyboard.press("End")
    assert page.locator(".marks").evaluate(MARK) == "none", "the slider over the graph takes all presses"
    assert page.evaluate(WIDER) <= 0


def test_on_a_phone_on_its_side_all_is_beside_a_board_of_the_whole_height(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 844, "height": 390})
    page.goto(f"{empty.url}table")
    page.evaluate(OWN, [load_map("usa").to_data(), "maxie", []])
    expect(page.locator(".map .area-of").first).to_be_visible()
    for chosen in (False, True):
        if chosen:
            page.locator("[data-source]").first.dispatch_event("click")
        board = page.locator(".board")
        wait_until(lambda board=board: box_of(board)["height"] > 360)
        below = ".offers" if chosen else ".told"
        for sign in (".turn", ".scoreboard", ".controls", below):
            expect(page.locator(sign)).to_be_in_viewport(ratio=1)
            assert box_of(page.locator(sign))["x"] >= box_of(board)["x"] + box_of(board)["width"]
        buttons = box_of(page.locator(".controls"))
        assert buttons["y"] + buttons["height"] > 370, "at the foot of the column"
    show_replay(page, "world")
    wait_until(lambda: box_of(page.locator(".board"))["height"] > 360)
    for sign in (".story", ".told"):
        expect(page.locator(sign)).to_have_text(re.compile("."))
        expect(page.locator(sign)).to_be_in_viewport(ratio=1)
    for view in ("", "tv"):
        page.goto(f"{empty.url}{view}")
        expect(page.locator(".stage:not(.first) .map .area-of").first).to_be_visible()
        stage = box_of(page.locator(".stage-board"))
        assert (stage["y"], stage["height"]) == (0, 390)
        beside = [".story", ".latest", *((".pitch h1", ".pitch .button") if not view else (".tv-head",))]
        for sign in beside:
            expect(page.locator(sign)).to_be_in_viewport(ratio=1)
            assert box_of(page.locator(sign))["x"] >= stage["width"]
        if view:
            head = box_of(page.locator(".tv-head"))
            assert head["y"] + head["height"] <= box_of(page.locator(".scoreboard"))["y"]
        else:
            heights = [
                box_of(page.locator(sign))["y"] for sign in (".pitch h1", ".pitch .button", ".scoreboard")
            ]
            assert heights == sorted(heights)
        assert page.evaluate(WIDER) <= 0


def test_on_a_phone_the_goal_is_beside_the_armies(empty: BrowserArena, page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    for view in ("", "tv"):
        page.goto(f"{empty.url}{view}")
        total = page.locator(".stage:not(.first) .player[data-owner=maxie] .total")
        expect(total).to_have_text(re.compile(r"^\d+ / \d+$"))
        expect(total.locator(".goal-of")).to_be_visible()


def test_on_a_phone_on_its_side_a_replay_shows_all_its_buttons(played: BrowserArena, page: Page) -> None:
    page.set_viewport_size({"width": 844, "height": 390})
    match = played.fetch_json("records?bot=random")["matches"][0]["match"]
    page.goto(f"{played.url}match/{match}")
    expect(page.locator(".map .area-of").first).to_be_visible()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Share")).to_be_visible()
    controls = page.locator(".controls > button:visible").all()
    for button in controls:
        expect(button).to_be_in_viewport(ratio=1)
    page.locator(".moves").scroll_into_view_if_needed()
    for part in [*controls, page.locator(".board"), page.locator(".moves a").last]:
        expect(part).to_be_in_viewport(ratio=0.99)
    for name in ("Try your own moves", "Share"):
        button = page.locator(".doing").get_by_role("button", name=name)
        button.scroll_into_view_if_needed()
        expect(button).to_be_in_viewport(ratio=1)
    expect(page.locator(".doing").get_by_role("button", name="Analyse")).to_be_hidden()  # guests may not ask


def test_on_a_phone_on_its_side_a_record_file_needs_no_scrolling(
    empty: BrowserArena, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 844, "height": 390})
    shown(page, empty, tmp_path / "one.jsonl", "usa")
    current = page.locator(".moves [aria-current=step]")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(current).to_be_in_viewport(ratio=1)
    assert box_of(page.locator(".moves"))["height"] >= 2 * box_of(current)["height"]
    assert box_of(page.locator(".another-file"))["y"] >= 390, "it is below the window"
    expect(page.get_by_role("button", name="Settings")).to_be_in_viewport(ratio=1)
    file = tmp_path / "two.jsonl"
    file.write_text(format_record_line(made_up(game_name="tictactoe")) + "\n", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".cell").last).to_be_in_viewport(ratio=0.99)
    page.keyboard.press("End")
    expect(page.locator(".story")).to_have_text(re.compile("wins|Draw"))
    expect(page.locator(".viewer .tug-bar")).to_be_hidden()  # at the end, too: the board keeps its place


def test_the_bar_of_ones_turn_is_below_the_board_and_keeps_its_place(empty: BrowserArena, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{empty.url}table")
    page.evaluate(OWN, [load_map("usa").to_data(), "maxie", []])
    expect(page.locator(".map .area-of").first).to_be_visible()
    page.wait_for_function(IS_WHOLE)
    places = set()
    for chosen in (0, 1):
        if chosen:
            page.locator("[data-source]").first.dispatch_event("click")
        expect(page.locator("[data-selected]")).to_have_count(chosen)
        board, turn, buttons = (box_of(page.locator(sign)) for sign in (".board", ".turn", ".controls"))
        assert board["y"] + board["height"] <= turn["y"]
        below = box_of(page.locator(".offers" if chosen else ".telling"))
        assert below["y"] - board["y"] - board["height"] < 80, (
            "nothing empty is between the board and the choices"
        )
        expect(page.locator(".told")).to_be_visible()  # also of the opponent's move, while one chooses
        expect(page.locator(".tabbed")).to_be_visible(visible=not chosen)
        assert buttons["y"] + buttons["height"] == 844, "a bar in the place of the tabs"
        places.add(turn["y"])
    assert len(places) == 1


@pytest.mark.parametrize(("width", "height"), [(360, 640), (390, 780), (844, 390)])
def test_more_choices_than_fit_scroll_below_the_board(
    empty: BrowserArena, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{empty.url}table")
    usa = load_map("usa")
    own = [usa.territories.index(name) for name in ("Tennessee", "Colorado")]
    start = [["maxie" if v in own else "minnie", 9] for v in range(len(usa.territories))]
    page.evaluate(OWN, [{**usa.to_data(), "start": start}, "maxie", []])
    expect(page.locator(".map .area-of").first).to_be_visible()
    page.wait_for_function(IS_WHOLE)
    offers = page.locator(".offers > button")
    for chosen in own:
        page.locator(f'[data-spot="{chosen}"]').dispatch_event("click")
        expect(offers).to_have_count(len(usa.neighbours[chosen]))
        expect(offers.first).to_be_in_viewport(ratio=0.99)  # also after the choices of another were scrolled
        board = box_of(page.locator(".board"))
        for offer in offers.all():
            offer.focus()
            expect(offer).to_be_in_viewport(ratio=0.99)
            bottom = box_of(offer)["y"] + box_of(offer)["height"]
            controls = page.locator(".controls")  # a short phone has none beside the choices
            assert bottom <= (box_of(controls)["y"] if controls.is_visible() else height)
        assert box_of(page.locator(".board")) == board
        assert page.evaluate("[scrollY, document.documentElement.scrollHeight]") == [0, height]


def test_the_board_of_arena_tv_keeps_its_place_when_its_match_is_there(
    empty: BrowserArena, page: Page
) -> None:
    page.add_init_script(
        "window.places = []; addEventListener('DOMContentLoaded', () => {"
        " const place = () => { const board = document.querySelector('.tv .stage-board');"
        " if (board) places.push(board.getBoundingClientRect().top); requestAnimationFrame(place); }; place(); })"
    )
    page.goto(f"{empty.url}tv")
    expect(page.locator(".stage .total").first).to_have_text(re.compile(r"\d"))
    expect(page.locator(".stage .map .area-of").first).to_be_visible()
    expect(page.locator(".tv-aside")).to_have_attribute("inert", "")  # the page's own example has no address
    assert page.evaluate("[Math.min(...places), Math.max(...places)]") == [page.evaluate("places.at(-1)")] * 2


def test_a_dialog_is_a_sheet_at_the_bottom(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}table")
    for name in ("Rules", "Settings"):
        page.get_by_role("button", name=name).click()
        sheet = box_of(page.get_by_role("dialog"))
        assert (sheet["x"], sheet["width"]) == (0, 360), name
        assert sheet["y"] + sheet["height"] == 640, name
        page.keyboard.press("Escape")


@pytest.mark.parametrize(("width", "height"), [(390, 780), (360, 640), (844, 390)])
def test_two_of_four_boards_are_in_sight_with_their_numbers(
    empty: BrowserArena, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{empty.url}tv/4")
    expect(page.locator(".tv .stage .map .area-of").first).to_be_visible()
    boards = page.locator(".tv .stage-board")
    expect(boards).to_have_count(4)
    expect(boards.first).to_be_in_viewport(ratio=1)
    expect(boards.nth(1)).to_be_in_viewport(ratio=0.5)
    assert box_of(boards.first)["width"] > 320
    expect(page.locator(".tv .armies:not(:empty)").first).to_be_visible()
    assert page.evaluate(WIDER) <= 0


def test_a_map_too_small_for_names_follows_the_moves(empty: BrowserArena, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(f"{empty.url}table")
    show_replay(page, "usa")
    whole = page.get_by_role("button", name="Whole map")
    follow = page.get_by_role("button", name="Follow the moves")
    expect(page.locator(".map .area-of").first).to_be_visible()
    page.evaluate(
        """(near) => {
          const { match, board } = window.viewer;
          const { neighbours } = match.game.setup;
          const far = board.layout.at.reduce((best, [x]) => Math.max(best, x), 0);
          const from = board.layout.at.findIndex(([x]) => x === far);
          window.moves = Array(4).fill([from, neighbours[from][0]]);
          board.follow(window.moves);
        }"""
    )
    expect(whole).to_be_visible()
    scale = page.evaluate("viewer.board.zoom.scale")
    page.evaluate("viewer.board.follow(moves.map(([v, w]) => [w, v]))")
    assert page.evaluate("viewer.board.zoom.scale") == scale, "the map stays while the moves are in sight"
    whole.click()
    expect(follow).to_be_visible()
    page.evaluate("viewer.board.follow(moves)")
    expect(follow).to_be_visible()
    follow.click()
    expect(whole).to_be_visible()
    page.evaluate("viewer.board.follow([...moves, [0, viewer.match.game.setup.neighbours[0][0]]])")
    expect(whole).to_be_visible()  # of moves all over the map, the last one is in sight
    for end in page.evaluate("[0, viewer.match.game.setup.neighbours[0][0]]"):
        expect(page.locator(f'[data-spot="{end}"]')).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(whole).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 780})
    expect(whole).to_be_visible()  # in a window that has become as small as a phone's, too
