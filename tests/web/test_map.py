"""Maps on screens of all sizes: what is written can be read, and what is to be pressed can be pressed."""

from __future__ import annotations

import random
import re
import statistics
import time
from itertools import combinations
from math import dist
from pathlib import Path
from typing import Any

import pytest
import shapely
from playwright.sync_api import Browser, Locator, Page, expect

from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import load_map
from arena.protocol.record import format_record_line
from testkit.browser import (
    BrowserArena,
    box_of,
    centre_of,
    evaluate_via_json,
    find_truncated_texts,
    new_context,
    wait_until,
)
from tests.web.conftest import stop_clock
from tests.web.screenshots import made_up

MEASURED = """() => {
  const scale = document.querySelector('.map').getBoundingClientRect().width / document.querySelector('.map').viewBox.baseVal.width;
  const seen = (sign) => [...document.querySelectorAll(sign)].filter((each) => each.getBoundingClientRect().width > 0);
  const box = (each) => { const { left, right, top, bottom } = each.getBoundingClientRect(); return [left, right, top, bottom]; };
  return {
    names: seen('.place').map((each) => ({ px: parseFloat(getComputedStyle(each).fontSize) * scale, box: box(each) })),
    figures: seen('.armies').map((each) => each.getBoundingClientRect().height),
    marks: seen('.spot .maxie, .spot .minnie').map(box),
    targets: seen('.spot .reach').map((each) => each.getBoundingClientRect().width),
  };
}"""


TURNED = """() => {
  window.turned = 0;
  addEventListener('wheel', (event) => { turned += event.deltaY; }, { capture: true, passive: true });
}"""
"""Counts the turning of the wheel that has arrived: a wheel event is sent without waiting for it."""

WALK_PLIES = """async (look) => {
  const slider = document.querySelector('input[type=range]');
  for (let ply = 1; ply <= Number(slider.max); ply++) {
    slider.value = ply;
    slider.dispatchEvent(new Event('input'));
    await new Promise((ready) => setTimeout(ready));
    const march = document.querySelector('.march');
    march.getAnimations({ subtree: true }).forEach((each) => each.finish());
    while (march.childElementCount) await new Promise(requestAnimationFrame);
    look(ply);
  }
}"""
"""JavaScript function that shows each move of a replay in turn, to its end, and calls `look(ply)` after each."""

FIGHTS = (
    "async () => { const walkPlies = "
    + WALK_PLIES
    + """;
  const box = (each) => each.getBoundingClientRect();
  let [fights, hidden] = [0, 0];
  await walkPlies(() => {
    const badge = document.querySelector('.fight rect');
    if (!badge) return;
    fights += 1;
    const at = box(badge);
    const covers = [...document.querySelectorAll('.place, .spot .maxie, .spot .minnie')].map(box).some((other) => other.width > 0
      && Math.min(at.right, other.right) - Math.max(at.left, other.left) > 3 && Math.min(at.bottom, other.bottom) - Math.max(at.top, other.top) > 4);
    if (covers) hidden += 1;
  });
  return { fights, hidden };
}"""
)


def shown(page: Page, empty: BrowserArena, file: Path, name: str) -> None:
    """Show the middle of a match on a map."""
    file.write_text(format_record_line(made_up(name)) + "\n", encoding="utf-8")
    page.goto(f"{empty.url}file")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("slider").fill("9")
    expect(page.locator(".told")).to_contain_text("Move 9")
    expect(
        page.locator(".map .area-of").first
    ).to_be_visible()  # names and figures have their places once the land is known


def overlap(one: list[float], other: list[float]) -> bool:
    """Return True if two boxes overlap noticeably."""
    width = min(one[1], other[1]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[2], other[2])
    return width > 2 and height > 4


@pytest.mark.parametrize(
    ("name", "width", "height"), [("usa", 1280, 720), ("m2", 1280, 720), ("world", 390, 780)]
)
def test_names_figures_and_targets_are_large_enough_and_figures_hide_no_name(
    empty: BrowserArena, page: Page, tmp_path: Path, name: str, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(reduced_motion="reduce")  # the map has its scale at once
    shown(page, empty, tmp_path / "one.jsonl", name)
    larger = page.get_by_role("button", name="Zoom in")
    if width == 390:  # the whole map has no names there
        larger.press("Enter")
    for zoom in range(5):
        seen: dict[str, Any] = page.evaluate(MEASURED)
        if zoom == 4:  # all but those below the numbers of the last move
            assert len(seen["names"]) > 0.9 * len(made_up(name).setup["territories"])
        assert all(12 <= each["px"] <= 20 for each in seen["names"])
        assert min(height for height in seen["figures"] if height) >= 10
        assert min(seen["targets"]) >= 32
        hidden = [each for each in seen["names"] for mark in seen["marks"] if overlap(each["box"], mark)]
        assert hidden == [], f"at zoom {zoom}"
        larger.press("Enter")


def test_the_board_alone_fills_the_screen_and_leaves_it(
    empty: BrowserArena, page: Page, tmp_path: Path
) -> None:
    shown(page, empty, tmp_path / "one.jsonl", "m2")
    page.locator("body").click(position={"x": 2, "y": 2})
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement?.className === 'viewer'")
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("() => !document.fullscreenElement")


def test_what_is_told_of_a_fight_hides_no_name_and_no_figure(
    empty: BrowserArena, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    shown(page, empty, tmp_path / "one.jsonl", "usa")
    found = page.evaluate(FIGHTS)
    assert found["fights"] > 5
    assert found["hidden"] == 0


ARROWS = (
    "async () => { const walkPlies = "
    + WALK_PLIES
    + """;
  const [lengths, told, rings] = [[], [], []];
  let fights = 0;
  await walkPlies(() => {
    const isWhole = document.querySelector('.whole-map').hidden;
    if (document.querySelector('.fight rect') && isWhole) fights += 1;
    if (isWhole) rings.push(document.querySelectorAll('.spot[data-last]').length);
    const { width, height } = document.querySelector('.move').getBoundingClientRect();
    lengths.push(Math.hypot(width, height));
    told.push(document.querySelector('.told').textContent);
  });
  return { fights, shortest: Math.min(...lengths), rings, told };
}"""
)


def test_on_a_phone_each_move_has_an_arrow_and_the_numbers_of_its_battle_are_below_the_board(
    empty: BrowserArena, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    shown(page, empty, tmp_path / "one.jsonl", "world")
    found = page.evaluate(ARROWS)
    assert found["fights"] == 0
    assert found["shortest"] >= 8
    assert set(found["rings"]) <= {0, 1}, "one after each move"
    assert found["rings"].count(0) <= 1, "none at the start"
    assert sum(" against " in told for told in found["told"]) > 5


def test_a_map_is_zoomed_by_the_wheel_and_moved_by_dragging(
    empty: BrowserArena, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    shown(page, empty, tmp_path / "one.jsonl", "usa")
    place = page.locator(".zoomed")
    x, y = centre_of(place)
    width = "document.querySelector('.map').getBoundingClientRect().width"
    before = page.evaluate(width)
    page.mouse.move(x, y)
    page.evaluate(TURNED)
    page.keyboard.down("Control")
    for _ in range(6):
        page.mouse.wheel(0, -100)
    page.wait_for_function("() => turned === -600")
    page.keyboard.up("Control")
    assert page.evaluate(width) > 1.5 * before
    wait_until(lambda: all(12 <= each["px"] <= 20 for each in page.evaluate(MEASURED)["names"]))
    left, top = place.evaluate("(each) => [each.scrollLeft, each.scrollTop]")
    page.mouse.down()
    page.mouse.move(x - 90, y - 60, steps=3)
    page.mouse.up()
    moved = place.evaluate("(each) => [each.scrollLeft, each.scrollTop]")
    assert moved == pytest.approx([left + 90, top + 60], abs=2)


OWN = """async ([setup, seat, moves, game = 'riskless']) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ Match }, { Viewer }] = [await from('match.js'), await from('parts/viewer.js')];
  const match = new Match({ match: 'm', game, setup, players: { maxie: 'ann', minnie: 'bob' }, time_control: '300+3' });
  for (const move of moves) match.add({ move, ms: 5000 });
  const viewer = new Viewer(match, { live: true, link: () => '#', seat });
  document.querySelector('main').replaceChildren(viewer.element);
  viewer.begin(null);
  viewer.picker.ask(match.game.moves(match.last), () => undefined);
  window.viewer = viewer;
}"""
"""Shows a match in which the reader has a seat and may move."""

PREMOVE = """() => {
  const { picker, match } = viewer;
  const moves = match.game.moves(match.last);
  picker.askAhead(moves, (move) => { window.premove = move; }, moves[0]);
}"""
"""Lets the reader of that match choose a premove, and chooses one; window.premove is the next choice."""

MOVED = """(moves) => {
  for (const move of moves) viewer.match.add({ move, ms: 5000 });
  viewer.go(null);
  viewer.picker.ask(viewer.match.game.moves(viewer.match.last), () => undefined);
}"""
"""Adds moves to that match, after which its reader may move."""

VALUED = """(moves) => {
  for (const move of moves) viewer.match.add({ move, ms: 5000, thinking: { depth: 5, value: 900 } });
  viewer.go(null);
}"""
"""Adds moves to that match that are very good for Maxie by the values of both players."""

MOVES_ELSEWHERE = (("Vermont", "New York"), ("Oregon", "Idaho"))

ASK = """() => {
  const { picker, match } = viewer;
  window.moves = [];
  picker.ask(match.game.moves(match.last), (move) => moves.push(move));
}"""
"""Lets the reader of that match move, and keeps the moves in window.moves."""

COUNT_CLICKS = """() => {
  window.clicks = 0;
  addEventListener('click', () => { clicks += 1; }, { capture: true });
}"""

IS_STILL = "() => document.querySelector('.map').getAnimations().length === 0"
"""True when the map no longer glides to what it shows."""

IS_WHOLE = """() => {
  const place = document.querySelector('.zoomed');
  return place.scrollHeight <= place.clientHeight + 2 && place.scrollWidth <= place.clientWidth + 2;
}"""


def test_a_whole_map_is_in_sight_on_a_laptop_and_a_tablet(
    empty: BrowserArena, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    shown(page, empty, tmp_path / "one.jsonl", "usa")
    for name in ("usa", "m2"):
        if name == "m2":
            show_replay(page, name)
        for width, height in ((1280, 720), (1180, 800), (1024, 768), (768, 1024)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function(IS_WHOLE)
        heights = []
        for height in (900, 720):
            page.set_viewport_size({"width": 1280, "height": height})
            heights.append(box_of(page.locator(".zoomed"))["height"])
        assert heights[0] > heights[1], name
        larger = page.get_by_role("button", name="Zoom in")
        larger.click()
        larger.click()
        assert not page.evaluate(IS_WHOLE), name


def test_a_whole_map_is_in_sight_in_ones_own_match_after_each_change_of_the_window(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{empty.url}table")
    page.evaluate(OWN, [make_game_on_map("riskless", "usa").setup(), "maxie", []])
    for width, height in ((1280, 720), (360, 640), (1024, 768), (360, 640), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        if width > 1000:
            page.wait_for_function(IS_WHOLE)
            telling = box_of(page.locator(".telling"))
            assert telling["y"] + telling["height"] <= height


def test_the_sentences_of_ones_own_match_on_a_laptop_are_beside_its_board(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{empty.url}table")
    for game, surface in (("riskless", ".map .area-of"), ("tictactoe", ".cell")):
        setup = make_game_on_map(game, "usa" if game == "riskless" else "").setup()
        page.evaluate(OWN, [setup, "maxie", [], game])
        expect(page.locator(surface).first).to_be_visible()
        board, telling, side, turn, controls = (
            box_of(page.locator(f".viewer {sign}"))
            for sign in (".board", ".telling", ".side", ".turn", ".controls")
        )
        assert board["height"] >= 480
        assert turn["y"] + turn["height"] <= telling["y"], "what to do is above all else"
        assert board["x"] + board["width"] < min(turn["x"], telling["x"], controls["x"])
        assert telling["y"] < side["y"] < side["y"] + side["height"] <= controls["y"]
        assert controls["y"] + controls["height"] <= board["y"] + board["height"], "as high as it needs"
        assert 700 <= board["y"] + board["height"] <= 720


SCALE = """() => {
  const map = document.querySelector('.map');
  return map.getBoundingClientRect().width / map.viewBox.baseVal.width;
}"""


def test_the_lines_on_land_are_equally_far_apart_on_boards_of_all_sizes(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}file")
    for width, height in ((1440, 900), (390, 780)):
        page.set_viewport_size({"width": width, "height": height})
        show_replay(page, "world")
        pattern = page.locator(".map pattern")

        def is_drawn_in_pixels(pattern: Locator = pattern) -> bool:
            found = re.search(r"scale\(([0-9.]+)\)", pattern.get_attribute("patternTransform") or "")
            return found is not None and float(found[1]) * page.evaluate(SCALE) == pytest.approx(1, rel=0.02)

        wait_until(is_drawn_in_pixels)
        fill = page.locator(".area-of[data-owner=minnie]").first.evaluate(
            "(area) => getComputedStyle(area).fill"
        )
        assert fill == f'url("#{pattern.get_attribute("id")}")'


CROWDED = """() => {
  const { board: { layout: { at } }, match: { game: { setup: { neighbours } } } } = window.viewer;
  const apart = (v, w) => Math.hypot(at[v][0] - at[w][0], at[v][1] - at[w][1]);
  const least = (v) => Math.min(...neighbours[v].map((w) => apart(v, w)));
  const sources = [...document.querySelectorAll('[data-source]')].map((each) => Number(each.dataset.spot));
  return sources.sort((v, w) => least(v) - least(w))[0];
}"""
"""The territory that may be chosen and is nearest to one of its neighbours."""


@pytest.mark.parametrize(("width", "height"), [(360, 640), (844, 390)])
def test_on_a_phone_a_map_zooms_in_on_a_choice_whose_targets_are_buttons(
    empty: BrowserArena, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{empty.url}table")
    show_replay(page, "usa")
    page.get_by_role("button", name="Whole map").click()  # from the latest moves
    page.wait_for_function(IS_WHOLE)
    assert min(px for px in page.evaluate(MEASURED)["figures"] if px) >= 10
    page.get_by_role("button", name="Try your own moves").click()
    page.wait_for_function(IS_WHOLE)
    board = box_of(page.locator(".board"))
    expect(page.locator("[data-source]").first).to_be_visible()
    page.locator(f'[data-spot="{page.evaluate(CROWDED)}"]').dispatch_event("click")
    page.wait_for_function(IS_STILL)
    assert box_of(page.locator(".board")) == board
    targets = page.locator("[data-target]")
    middles = [centre_of(each) for each in page.locator("[data-target], [data-selected]").all()]
    assert min(dist(a, b) for a, b in combinations(middles, 2)) > 43.9
    for target in targets.all():
        assert target.evaluate(IN_FRAME)
    expect(page.locator(".outcomes text")).to_have_count(0)
    offers = page.get_by_role("group", name="Choose a territory").get_by_role("button")
    count = targets.count()
    expect(offers).to_have_count(count)
    usa = load_map("usa").territories
    chosen = [usa[int(v)] for v in page.evaluate("viewer.board.choice")]
    named = sorted(page.locator(".tag text").all_text_contents())
    assert named in (sorted(chosen), sorted(chosen[1:])), (
        "the targets, and the chosen territory if there is room"
    )
    for name in page.locator(".tag g:has(> text)").all():
        assert name.evaluate(IN_FRAME)
    assert page.evaluate(MISFRAMED) < 1
    page.get_by_role("button", name="Whole map").click()
    page.wait_for_function(IS_WHOLE)
    expect(targets).to_have_count(count)  # a press of the overview chooses nothing
    expect(page.get_by_role("button", name="Whole map")).to_be_hidden()
    expect(offers).to_have_count(targets.count())
    page.get_by_role("button", name="Zoom in").press("Enter")  # back to the choice
    page.wait_for_function(IS_STILL)
    for target in targets.all():
        assert target.evaluate(IN_FRAME)
    assert not page.evaluate(IS_WHOLE)
    page.get_by_role("button", name="Zoom out").press("Enter")
    page.wait_for_function(IS_WHOLE)
    expect(offers.first).to_be_in_viewport(ratio=0.99)
    assert min(box_of(each)["height"] for each in offers.all()) >= 44
    offers.first.press("Enter")
    expect(page.locator(".told")).to_contain_text("Your own line, move 10")
    expect(offers).to_have_count(0)
    expect(page.locator(".zoomed")).to_be_focused()
    page.get_by_role("button", name="Zoom in").press("Enter")
    page.wait_for_function(IS_STILL)
    assert not page.evaluate(IS_WHOLE)
    page.get_by_role("button", name="Zoom out").press("Enter")
    page.wait_for_function(IS_WHOLE)
    page.locator(f'[data-spot="{page.evaluate(CROWDED)}"]').dispatch_event("click")
    page.wait_for_function(IS_STILL)
    assert not page.evaluate(IS_WHOLE)
    offers.first.press("Enter")
    page.wait_for_function(IS_WHOLE)
    page.get_by_role("button", name="Back to the match").click()
    page.get_by_role("button", name="Zoom in").press("Enter")
    page.wait_for_function(IS_STILL)
    assert page.evaluate(SCALE) > 0.5
    page.get_by_role("button", name="Zoom out").press("Enter")
    page.wait_for_function(IS_WHOLE)


@pytest.mark.parametrize(("width", "height"), [(390, 780), (820, 1180)])
def test_two_fingers_and_two_taps_zoom(
    empty: BrowserArena, browser: Browser, tmp_path: Path, width: int, height: int
) -> None:
    context = new_context(
        browser, viewport={"width": width, "height": height}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    shown(page, empty, tmp_path / "one.jsonl", "usa")
    page.locator(".zoomed").scroll_into_view_if_needed()
    x, y = centre_of(page.locator(".zoomed"))
    fingers = context.new_cdp_session(page)

    def touch(kind: str, apart: float) -> None:
        points = [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        fingers.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [] if kind == "touchEnd" else points}
        )

    drawn = "document.querySelector('.map').getBoundingClientRect().width"
    before = page.evaluate(drawn)
    touch("touchStart", 40)
    touch("touchMove", 60)
    touch("touchMove", 80)
    touch("touchEnd", 80)
    page.wait_for_function(f"(before) => {drawn} > 1.5 * before", arg=before)
    expect(page.locator(".zoom-keys")).to_have_css("clip-path", "inset(50%)")  # the fingers need no buttons
    # However slow or fast the machine is, the browser is told that two taps follow within a tenth of a second, and the next
    # two a second later.
    began = time.time()
    for second, is_whole in enumerate((True, False, True)):
        for n, kind in enumerate(("touchStart", "touchEnd") * 2):
            points = [{"x": x, "y": y}] if kind == "touchStart" else []
            tapped = {"type": kind, "touchPoints": points, "timestamp": began + second + n / 30}
            fingers.send("Input.dispatchTouchEvent", tapped)
        page.wait_for_function(f"(whole) => ({IS_WHOLE})() === whole", arg=is_whole)
    context.close()


def test_every_territory_has_its_land_and_who_holds_it_is_seen_there(
    empty: BrowserArena, page: Page, tmp_path: Path
) -> None:
    shown(page, empty, tmp_path / "one.jsonl", "world")
    expect(page.locator(".area-of")).to_have_count(len(made_up("world").setup["territories"]))
    owners = "(sign) => [...document.querySelectorAll(sign)].map((each) => each.dataset.owner)"
    by_number = "() => [...document.querySelectorAll('.spot')].sort((a, b) => a.dataset.spot - b.dataset.spot).map((each) => each.dataset.owner)"
    assert page.evaluate(owners, ".area-of") == page.evaluate(by_number)


LAND = """async (setup) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ landAround }, { layOut }] = [await from('boards/cells.js'), await from('boards/geometry.js')];
  const layout = layOut(setup, false, null);
  return { at: layout.at, roads: layout.roads, land: landAround(layout), size: [layout.width, layout.height] };
}"""


def test_marks_are_as_large_as_the_land_leaves_room_for(empty: BrowserArena, page: Page) -> None:
    spot = page.locator(".map .spot[data-owner=maxie]").first
    mark = spot.locator(".maxie")
    for name, width, least, most in (("usa", 390, 16, 19), ("world", 390, 16, 19), ("world", 900, 21, 28)):
        page.set_viewport_size({"width": width, "height": 780})
        if width == 390:
            page.goto(f"{empty.url}maps/{name}")
        expect(page.locator(".map .area-of").first).to_be_visible()
        expect(spot.locator(".armies")).to_be_visible()
        wait_until(lambda least=least, most=most: least <= box_of(mark)["width"] <= most)


@pytest.mark.parametrize("name", ["ring:12", "world"])
def test_a_map_without_land_is_given_what_is_nearest_to_each_place(
    empty: BrowserArena, page: Page, name: str
) -> None:
    """Points all over the picture lie on the land of the place that is nearest to them, if that is near, and nowhere else."""
    page.goto(f"{empty.url}file")
    found = evaluate_via_json(page, LAND, make_game_on_map("riskless", name).setup())
    at, land = found["at"], [shapely.Polygon(corners) for corners in found["land"]]
    radius = 0.72 * statistics.median_high(dist(at[v], at[w]) for v, w in found["roads"])
    assert all(
        0 <= n <= most
        for each in found["land"]
        for corner in each
        for n, most in zip(corner, found["size"], strict=True)
    )
    chance = random.Random(7)
    (left, right), (top, bottom) = (
        (min(each) - radius, max(each) + radius) for each in zip(*at, strict=True)
    )
    for _ in range(2000):
        point = chance.uniform(left, right), chance.uniform(top, bottom)
        (near, v), (next_, _) = sorted((dist(point, place), v) for v, place in enumerate(at))[:2]
        if (
            next_ - near < 0.01 * radius or 0.99 * radius < near < radius
        ):  # on a border, or where a disc has corners
            continue
        owners = [w for w, each in enumerate(land) if each.contains(shapely.Point(point))]
        assert owners == ([v] if near < radius else [])


def test_a_generated_map_shows_who_holds_what_as_land(
    empty: BrowserArena, page: Page, tmp_path: Path
) -> None:
    shown(page, empty, tmp_path / "one.jsonl", "ring:12")
    expect(page.locator(".area-of")).to_have_count(12)
    held = page.locator(".spot[data-owner=maxie]").count()
    assert held
    expect(page.locator(".area-of[data-owner=maxie]")).to_have_count(held)


IN_SIGHT = """(others) => {
  const tabs = document.querySelector('nav').getBoundingClientRect();
  const bottom = tabs.top > 100 ? tabs.top : innerHeight;
  return ['.zoom-keys', '.controls', '.story', ...others].every((sign) => {
    const found = document.querySelector(sign).getBoundingClientRect();
    return found.top >= 0 && found.bottom <= bottom && found.right <= innerWidth;
  });
}"""
"""True if the buttons to zoom, the controls and the story are in the window and above the tabs of a phone."""


REPLAY = """async (line) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ Match }, { Viewer }] = [await from('match.js'), await from('parts/viewer.js')];
  const viewer = new Viewer(Match.fromRecord(JSON.parse(line)), { link: () => '#' });
  document.querySelector('main').replaceChildren(viewer.element);
  viewer.begin(9);
  window.viewer = viewer;
}"""


def show_replay(page: Page, name: str) -> None:
    """Show the middle of a match on a map, and wait until its land is drawn."""
    page.evaluate(REPLAY, format_record_line(made_up(name)))
    expect(page.locator(".map .area-of").first).to_be_visible()


def test_the_controls_and_the_story_of_a_replay_are_in_sight_with_its_board(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}table")
    for name in ("usa", "italy"):
        show_replay(page, name)
        for width, height in ((360, 640), (390, 780), (844, 390), (667, 375), (768, 1024), (1280, 720)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function(IN_SIGHT, arg=[".plot", ".tabbed"] if width == 768 else [])


IN_FRAME = """(spot) => {
  const [box, frame] = [spot, spot.closest('.zoomed')].map((each) => each.getBoundingClientRect());
  return box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
}"""


MISFRAMED = """() => {
  const { place, picture, scale, sight } = window.viewer.board.zoom;
  const [frame, seen] = [place, picture].map((each) => each.getBoundingClientRect());
  return Math.abs((frame.left - seen.left) / scale - sight.x.baseVal.value);
}"""
"""Distance of the overview's frame from the part of the map that is seen, in units of the map."""


NUMBERS = """() => {
  const { spots, shown: [, [, target]] } = window.viewer.board;
  const height = (each) => each.getBoundingClientRect().height;
  const all = [...document.querySelectorAll('.map .armies:not(:empty)')].map(height).filter(Boolean);
  return [height(spots[target].number), Math.min(...all), Math.max(...all)];
}"""
"""Height of the number on the target of the last move, and of the smallest and the largest one."""


def test_on_a_small_map_the_numbers_near_the_last_move_are_the_largest(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(f"{empty.url}table")
    show_replay(page, "world")
    page.get_by_role("button", name="Whole map").click()  # from the last move
    page.wait_for_function(IS_WHOLE)
    target, least, most = page.evaluate(NUMBERS)
    assert 11 <= least < target
    assert target == pytest.approx(most, abs=0.01)


def test_a_large_map_of_ones_own_match_is_whole_on_a_phone_and_stays_where_it_is_dragged(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(f"{empty.url}table")
    usa = load_map("usa")
    source, target = (usa.territories.index(name) for name in ("Oregon", "Idaho"))
    start = [
        ["maxie", 3] if v == source else ["minnie", 3] if name == "Florida" else None
        for v, name in enumerate(usa.territories)
    ]
    page.evaluate(OWN, [{**usa.to_data(), "start": start}, "minnie", [[source, target]]])
    expect(page.locator(".told")).to_contain_text("Move 1,")
    page.wait_for_function(IS_WHOLE)
    page.get_by_role("button", name="Zoom in").press("Enter")
    moved = page.locator(f'[data-spot="{target}"]')
    frame = page.locator(".zoomed")
    x, y = centre_of(frame)
    for _ in range(2):
        page.mouse.move(x + 150, y)
        page.mouse.down()
        page.mouse.move(x - 150, y, steps=3)
        page.mouse.up()
    before = box_of(frame)["height"]
    page.set_viewport_size({"width": 390, "height": 680})
    wait_until(lambda: box_of(frame)["height"] < before)
    assert not moved.evaluate(IN_FRAME), "a dragged map stays"


@pytest.mark.parametrize(("width", "height"), [(360, 640), (844, 390)])
def test_a_chosen_territory_and_its_targets_are_in_sight_together_with_what_is_asked(
    empty: BrowserArena, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{empty.url}table")
    usa = load_map("usa")
    chosen = usa.territories.index("Nevada")
    start = [
        ["maxie", 3] if v == chosen else ["minnie", 3] if v == 47 else None
        for v in range(usa.territory_count)
    ]
    page.evaluate(OWN, [{**usa.to_data(), "start": start}, "maxie", []])
    expect(page.locator(".map .area-of").first).to_be_visible()
    seen = [page.locator(f'[data-spot="{v}"]') for v in (chosen, *usa.neighbours[chosen])]
    for at in ((0, 0), (9999, 9999)):
        page.locator(".zoomed").evaluate("(frame, at) => frame.scrollTo(...at)", at)
        page.evaluate("scrollTo(0, 60)")
        seen[0].dispatch_event("click")
        for spot in seen:
            wait_until(lambda spot=spot: spot.evaluate(IN_FRAME))
        for sign in (".status", ".zoomed"):
            expect(page.locator(f".viewer {sign}")).to_be_in_viewport(ratio=0.99)
        # A short phone has no room for the controls while a territory is chosen.
        expect(page.locator(".viewer .controls")).to_be_visible(visible=height == 390)
        seen[0].dispatch_event("click")
        page.wait_for_function(IS_STILL)
        assert seen[0].evaluate(IN_FRAME), "the choice is taken back"
    for size in ((1280, 800), (width, height)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for spot in seen:
            wait_until(lambda spot=spot: spot.evaluate(IN_FRAME))


def test_a_choice_made_in_a_large_window_is_zoomed_in_on_when_the_window_becomes_a_phone_s(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(f"{empty.url}table")
    page.evaluate(OWN, [load_map("usa").to_data(), "maxie", []])
    expect(page.locator("[data-source]").first).to_be_visible()
    page.locator(f'[data-spot="{page.evaluate(CROWDED)}"]').dispatch_event("click")
    expect(page.locator("[data-target]").first).to_be_visible()
    page.wait_for_function(IS_WHOLE)
    page.set_viewport_size({"width": 390, "height": 780})
    page.wait_for_function(f"() => !({IS_WHOLE})()")
    for spot in page.locator("[data-selected], [data-target]").all():
        wait_until(lambda spot=spot: spot.evaluate(IN_FRAME))


def test_a_choice_leaves_the_scale_that_the_reader_has_chosen_in_a_large_window(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{empty.url}table")
    page.evaluate(OWN, [load_map("usa").to_data(), "maxie", []])
    sources = page.locator("[data-source]")
    sources.first.dispatch_event("click")
    expect(page.locator("[data-target]").first).to_be_visible()
    for _ in range(2):
        page.get_by_role("button", name="Zoom in").press("Enter")
    chosen = page.evaluate(SCALE)
    for source in (sources.last, sources.last):  # another choice, which is dropped
        source.dispatch_event("click")
        page.wait_for_function(IS_STILL)
        assert page.evaluate(SCALE) == chosen


def test_the_target_of_the_last_move_is_ringed_also_where_it_can_move(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}table")
    page.evaluate(OWN, [load_map("usa").to_data(), "maxie", []])
    source = page.locator(".spot[data-source]").first
    expect(source).to_be_visible()
    ring = source.locator(".ring")
    colour = "(ring) => getComputedStyle(ring).stroke"
    before = ring.evaluate(colour)
    source.evaluate("(spot) => { spot.dataset.last = ''; }")
    assert ring.evaluate(colour) != before


ON_RINGS = """() => {
  const seen = (sign) => [...document.querySelectorAll(sign)].map((each) => [each, each.getBoundingClientRect()]).filter(([, { width }]) => width > 0);
  const rings = seen('.spot .ring').map(([, box]) => box);
  return seen('.place').filter(([, box]) => rings.some((ring) => (
    Math.min(box.right, ring.right) - Math.max(box.left, ring.left) > 2 && Math.min(box.bottom, ring.bottom) - Math.max(box.top, ring.top) > 4
  ))).map(([place]) => place.textContent);
}"""


@pytest.mark.parametrize(("width", "height"), [(360, 640), (1280, 720)])
def test_the_land_in_reach_is_framed_and_rings_touch_no_name(
    empty: BrowserArena, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{empty.url}table")
    page.evaluate(OWN, [load_map("usa").to_data(), "maxie", []])
    expect(page.locator(".map .area-of").first).to_be_visible()
    frame = page.locator(".map .frame-ground")
    expect(frame).not_to_have_attribute("d", re.compile(""))
    page.locator("[data-source]").last.dispatch_event("click")
    targets = page.locator(".area-of[data-choice=target]")
    expect(targets.first).to_be_visible()
    drawn = frame.get_attribute("d") or ""
    assert all((area.get_attribute("d") or "none") in drawn for area in targets.all())
    expect(page.locator(".map .option-ground")).to_have_attribute("d", re.compile("^M"))
    empty_land = targets.and_(page.locator("[data-owner=nobody]")).first
    beyond = page.locator(".area-of[data-owner=nobody]:not([data-choice])").first
    fill = "(area) => getComputedStyle(area).fill"
    assert empty_land.evaluate(fill) != beyond.evaluate(fill)
    assert page.evaluate(ON_RINGS) == []


def focused_spots(page: Page) -> set[str]:
    """Return the names of the territories that Tab reaches, from the first element of the page to the last one."""
    page.locator("body").focus()
    names = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        found = page.evaluate("document.activeElement.closest('.spot')?.dataset.spot ?? ''")
        names |= {load_map("usa").territories[int(found)]} if found else set()
    return names


def test_tab_goes_through_the_territories_that_can_move_and_then_through_the_targets(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}table")
    usa = load_map("usa")
    start = [
        ["maxie", 3] if name in {"Florida", "Oregon"} else ["minnie", 3] if name == "Maine" else None
        for name in usa.territories
    ]
    page.evaluate(OWN, [{**usa.to_data(), "start": start}, "maxie", []])
    expect(page.locator("[data-source]")).to_have_count(2)
    assert focused_spots(page) == {"Florida", "Oregon"}
    florida = page.locator(f'[data-spot="{usa.territories.index("Florida")}"]')
    florida.focus()
    page.keyboard.press("Enter")
    assert focused_spots(page) == {"Florida", "Georgia", "Alabama"}


def test_a_move_is_shown_with_its_source_and_its_target(empty: BrowserArena, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(f"{empty.url}table")
    usa = load_map("usa")
    source, target = (usa.territories.index(name) for name in ("Oregon", "Idaho"))
    start = [
        ["minnie", 3] if v == source else ["maxie", 3] if name == "Florida" else None
        for v, name in enumerate(usa.territories)
    ]
    maxie = usa.territories.index("Florida")
    page.evaluate(
        OWN,
        [{**usa.to_data(), "start": start}, "maxie", [[maxie, usa.neighbours[maxie][0]], [source, target]]],
    )
    for v in (source, target):
        wait_until(lambda v=v: page.locator(f'[data-spot="{v}"]').evaluate(IN_FRAME))
    page.locator("[data-source]").first.dispatch_event("click")
    expect(page.locator("[data-selected]")).to_be_visible()
    expect(page.locator(".map > .move")).to_have_attribute("d", re.compile("^M"))  # while one chooses
    assert 0 < float(page.locator(".map > .move").evaluate("(move) => getComputedStyle(move).opacity")) < 1


def test_a_finger_chooses_a_territory_of_a_small_map_or_is_offered_those_that_it_covers(
    empty: BrowserArena, browser: Browser
) -> None:
    context = new_context(browser, viewport={"width": 390, "height": 780}, has_touch=True)
    page = context.new_page()
    stop_clock(page, f"{empty.url}table")
    usa = load_map("usa")
    own = ("Florida", "South Carolina", "Vermont", "New Hampshire")
    start = [
        ["maxie", 3] if name in own else ["minnie", 3] if name == "Oregon" else None
        for name in usa.territories
    ]
    page.evaluate(OWN, [{**usa.to_data(), "start": start}, "maxie", []])
    expect(page.locator(".map .area-of").first).to_be_visible()
    selected, tag = page.locator("[data-selected]"), page.locator(".tag text")
    offers = page.get_by_role("group", name="Choose a territory").get_by_role("button")

    def spot(name: str) -> Locator:
        return page.locator(f'[data-spot="{usa.territories.index(name)}"]')

    def show_whole() -> None:
        page.get_by_role("button", name="Zoom out").press("Enter")

    def middle(name: str) -> tuple[float, float]:
        page.clock.run_for(1000)  # the map takes no press shortly after it has moved
        page.wait_for_function(IS_STILL)
        return centre_of(spot(name).locator(".reach"))

    x, y = middle("Florida")
    page.touchscreen.tap(x + 12, y + 14)  # beside its land
    expect(selected).to_have_attribute("data-spot", str(usa.territories.index("Florida")))
    expect(offers).to_have_text(["Georgiaempty, 4 afterSafe", "Alabamaempty, 4 afterSafe"])
    show_whole()
    x, y = middle("Alabama")
    page.touchscreen.tap(x - 13, y + 13)  # on Mississippi: no move
    expect(offers).to_have_text(["Alabamaempty, 4 afterSafe"])
    expect(tag.filter(has_text="Mississippi")).to_have_count(1)
    x, y = middle("Georgia")
    page.touchscreen.tap(x + 18, y)  # on South Carolina: another choice, and no move
    expect(selected).to_have_attribute("data-spot", str(usa.territories.index("South Carolina")))
    page.touchscreen.tap(*middle("South Carolina"))
    expect(selected).to_have_count(0)
    page.touchscreen.tap(*middle("Oregon"))
    expect(tag).to_have_text("Oregon")
    (x1, y1), (x2, y2) = middle("Vermont"), middle("New Hampshire")
    page.touchscreen.tap((x1 + x2) / 2, (y1 + y2) / 2)
    expect(offers).to_have_text(["New Hampshire3", "Vermont3"])
    expect(selected).to_have_count(0)
    expect(tag).to_have_count(0)
    expect(offers.first).to_be_focused()
    page.touchscreen.tap(*middle("Oregon"))
    expect(offers).to_have_count(0)
    page.touchscreen.tap((x1 + x2) / 2, (y1 + y2) / 2)
    offers.last.press("Enter")
    vermont = str(usa.territories.index("Vermont"))
    expect(selected).to_have_attribute("data-spot", vermont)
    expect(selected).to_be_focused()
    expect(page.get_by_role("status").and_(page.locator(".told"))).to_have_count(1)
    page.evaluate(COUNT_CLICKS)
    page.touchscreen.tap(x2, y2)  # the second tap of a double tap: the map has moved, and no move is played
    page.wait_for_function("() => clicks === 1")
    expect(selected).to_have_attribute("data-spot", vermont)
    page.touchscreen.tap(*middle("Vermont"))
    expect(selected).to_have_count(0)
    expect(offers).to_have_count(0)
    page.emulate_media(reduced_motion="reduce")
    page.touchscreen.tap(*middle("Florida"))
    expect(offers).to_have_text(["Georgiaempty, 4 afterSafe", "Alabamaempty, 4 afterSafe"])
    moves = [[usa.territories.index(name) for name in move] for move in MOVES_ELSEWHERE]
    page.evaluate(MOVED, moves)
    page.clock.run_for(100)
    expect(page.locator(".told")).to_contain_text("Oregon → Idaho")
    for name in ("Florida", "Georgia", "Alabama"):
        assert spot(name).evaluate(IN_FRAME), "the choice stays in sight"
    page.touchscreen.tap(*middle("Florida"))
    expect(selected).to_have_count(0)
    page.evaluate(ASK)
    for name, played in (("Florida", 0), ("Georgia", 1)):  # double taps
        x, y = middle(name)
        page.evaluate("clicks = 0")
        page.touchscreen.tap(x, y)
        page.touchscreen.tap(x, y)
        page.wait_for_function("() => clicks === 2")
        expect(selected).to_have_count(1 - played)
        assert page.evaluate("moves.length") == played
    page.evaluate(PREMOVE)
    page.touchscreen.tap(*middle("Oregon"))
    page.wait_for_function("() => window.premove === null")
    page.set_viewport_size({"width": 390, "height": 600})
    page.evaluate(OWN, [load_map("italy").to_data(), "maxie", []])
    source = page.locator("[data-source] .reach").first
    expect(source).to_be_visible()
    before = page.evaluate(SCALE)
    page.set_viewport_size({"width": 390, "height": 660})
    wait_until(lambda: page.evaluate(SCALE) > before)
    page.evaluate("clicks = 0")
    page.touchscreen.tap(*centre_of(source))
    page.wait_for_function("() => clicks === 1")
    expect(selected).to_have_count(0)  # the map has grown below the finger
    context.close()


ON_TARGETS = """() => [...document.querySelectorAll('.outcomes rect')].every((each) => {
  const { left, right, top, bottom } = each.getBoundingClientRect();
  const lands = [[left + 2, top + 2], [right - 2, top + 2], [left + 2, bottom - 2], [right - 2, bottom - 2]]
    .map((corner) => document.elementsFromPoint(...corner).find((found) => found.matches('.area-of')));
  return lands.every((land) => land === lands[0] && land?.dataset.choice === 'target');
})"""
"""True when each label of a choice lies on the land of one target."""


CHOICE_SIZES = [(1440, 900), (1280, 720), (1024, 768), (768, 1024), (390, 780), (360, 640), (844, 390)]


def choose_from_liguria(page: Page) -> None:
    """Choose Liguria, from which one battle is lost and two are won. Both targets can then be retaken."""
    italy = load_map("italy")
    armies = {"Liguria": 12, "Piedmont": -9, "Emilia-Romagna": -1, "Tuscany": -13, "Aosta Valley": -20}
    start = [
        [("maxie" if armies[name] > 0 else "minnie"), abs(armies[name])] if name in armies else None
        for name in italy.territories
    ]
    page.evaluate(OWN, [{**italy.to_data(), "start": start}, "maxie", []])
    page.locator("[data-source]").first.dispatch_event("click")


@pytest.mark.parametrize(("width", "height"), CHOICE_SIZES)
def test_the_moves_from_a_territory_are_listed_the_best_first_and_told_inside_their_targets(
    empty: BrowserArena, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{empty.url}table")
    choose_from_liguria(page)
    offers = page.get_by_role("group", name="Choose a territory").get_by_role("button")
    expect(offers).to_have_text(
        [
            "Emilia-Romagnawin, 12 afterRisk: 14 from Tuscany",
            "Piedmontwin, 4 afterRisk: 21 from Aosta Valley",
            "TuscanyloseTuscany holds with 2",
        ]
    )
    for offer in offers.all():
        expect(offer).to_be_in_viewport(ratio=0.99)
    expect(offers.first.locator("strong > .shape")).to_be_visible()  # of who holds it, beside its name
    assert offers.evaluate_all("(all) => all.map((each) => each.dataset.risk)") == ["open", "open", "lost"]
    assert not find_truncated_texts(offers)
    if min(width, height) < 480:
        assert offers.first.inner_text().split("\n")[-1] == "Risk: 14"
        expect(page.locator(".controls")).to_be_in_viewport(ratio=0.99)
        boxes = [box_of(offer) for offer in offers.all()]
        if height == 640:
            assert len({box["y"] for box in boxes}) == 1, "beside each other"
        else:
            assert all(box["height"] < 50 and box["width"] > 250 for box in boxes), "a row each"
    is_phone = width in {844, 390, 360}  # its list has the results
    labels = page.locator(".outcomes text")
    expect(labels).to_have_count(0 if is_phone else 3)
    words = ["12 after", "4 after", "lose"] if width == 1440 else ["12", "4", "lose"]  # on a smaller map
    assert sorted(labels.all_text_contents()) == ([] if is_phone else words)
    page.wait_for_function(ON_TARGETS)
    assert labels.evaluate_all("(all) => all.every((each) => each.getBoundingClientRect().height >= 12)"), (
        "readable"
    )
    assert page.evaluate(IS_WHOLE), "a finger can tell the targets apart on the whole map"
    expect(page.get_by_role("button", name="Whole map")).to_be_hidden()
    italy = load_map("italy")
    for name in ("Tuscany", "Aosta Valley"):  # from which a target could be retaken
        spot = page.locator(f'[data-spot="{italy.territories.index(name)}"]')
        wait_until(lambda spot=spot: spot.evaluate(IN_FRAME))
    risks = page.locator(".map [data-target]").evaluate_all(
        "(all) => all.map((each) => each.dataset.risk).sort()"
    )
    assert risks == ["lost", "open", "open"]
    colours = page.locator(".map .frame[d]").evaluate_all(
        "(all) => all.map((each) => getComputedStyle(each).stroke)"
    )
    assert len(set(colours)) == 2, "a frame has the colour of its risk"
    page.locator("[data-selected]").dispatch_event("click")
    page.wait_for_function(IS_WHOLE)


def test_six_choices_fit_a_tablet_s_window(empty: BrowserArena, page: Page) -> None:
    page.set_viewport_size({"width": 768, "height": 1024})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{empty.url}table")
    usa = load_map("usa")
    chosen = next(v for v in range(usa.territory_count) if len(usa.neighbours[v]) == 6)
    far = next(v for v in range(usa.territory_count) if v != chosen and v not in usa.neighbours[chosen])
    start = [
        ["maxie", 9] if v == chosen else ["minnie", 3] if v == far else None
        for v in range(usa.territory_count)
    ]
    page.evaluate(OWN, [{**usa.to_data(), "start": start}, "maxie", []])
    page.locator(f'[data-spot="{chosen}"]').dispatch_event("click")
    expect(page.locator(".offers > button")).to_have_count(6)
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0
    facts = page.locator(".facts-of")
    expect(facts).to_have_text(["1 territory, +1 a move", "1 territory, +1 a move"])


def test_a_choice_from_another_territory_tells_its_own_risk(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}table")
    italy = load_map("italy")
    armies = {"Liguria": 6, "Umbria": 4, "Tuscany": -20}
    start = [
        [("maxie", "minnie")[n < 0], abs(n)] if (n := armies.get(name)) else None
        for name in italy.territories
    ]
    page.evaluate(OWN, [{**italy.to_data(), "start": start}, "maxie", []])
    tuscany = page.locator(".offers > button").filter(has_text="holds with")
    for name, held in (("Liguria", 15), ("Umbria", 17)):
        page.locator(f'[data-spot="{italy.territories.index(name)}"]').dispatch_event("click")
        expect(tuscany).to_have_text(f"TuscanyloseTuscany holds with {held}")


LATE_FONT = """async () => {
  const face = new FontFace('Arena', `url(${document.querySelector('link[as=font]').href})`, { weight: '100 900' });
  document.fonts.add(face);
  await face.load(); // when it is in the set, which tells of its arrival
}"""
"""Adds the page's font to a page that has done without it."""

LABEL_WIDTHS = """() => [...document.querySelectorAll('.outcomes g')].map((label) => [...label.children].map((each) => each.getBBox().width))"""
"""Widths of the box and of the words of each label of a choice, in their own units."""


@pytest.mark.parametrize(("width", "height"), CHOICE_SIZES[:3])
def test_the_labels_of_a_choice_are_inside_their_targets_without_the_font_and_when_it_comes_late(
    empty: BrowserArena, browser: Browser, width: int, height: int
) -> None:
    context = new_context(browser, viewport={"width": width, "height": height}, reduced_motion="reduce")
    page = context.new_page()
    page.route("**/*.woff2", lambda route: route.abort())
    page.goto(f"{empty.url}table")
    choose_from_liguria(page)
    expect(page.locator(".outcomes text")).to_have_count(3)
    page.wait_for_function(ON_TARGETS)
    before = page.evaluate(LABEL_WIDTHS)
    assert all(box > words + 8 for box, words in before)
    page.unroute("**/*.woff2")
    page.evaluate(LATE_FONT)
    page.wait_for_function(
        f"(before) => ({LABEL_WIDTHS})().every(([box, words], n) => box > words + 8 && box < before[n][0])",
        arg=before,
    )
    page.wait_for_function(ON_TARGETS)
    context.close()


COVERED = """() => {
  const { left, right, top, bottom } = document.querySelector('.whole-map').getBoundingClientRect();
  return [...document.querySelectorAll('[data-target] .reach, [data-selected] .reach')].map((each) => each.getBoundingClientRect())
    .filter(({ x, y, width, height }) => [x + width / 2, left - 8, right + 8].sort((a, b) => a - b)[1] === x + width / 2
      && [y + height / 2, top - 8, bottom + 8].sort((a, b) => a - b)[1] === y + height / 2).length;
}"""
"""Number of territories of a choice whose marks the button *Whole map* covers."""


@pytest.mark.parametrize("name", ["italy", "usa"])
@pytest.mark.parametrize(("width", "height"), [(390, 780), (360, 640), (844, 390)])
def test_the_map_of_a_choice_zooms_in_as_far_as_a_finger_needs_and_its_overview_covers_no_mark(
    empty: BrowserArena, page: Page, width: int, height: int, name: str
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{empty.url}table")
    page.evaluate(OWN, [load_map(name).to_data(), "maxie", []])
    expect(page.locator("[data-source]").first).to_be_visible()
    back = page.get_by_role("button", name="Whole map")
    for source in [each.get_attribute("data-spot") for each in page.locator("[data-source]").all()]:
        page.locator(f'[data-spot="{source}"]').dispatch_event("click")
        expect(page.locator("[data-selected]")).to_have_count(1)
        middles = [centre_of(each) for each in page.locator("[data-target], [data-selected]").all()]
        least = min(dist(a, b) for a, b in combinations(middles, 2))
        is_whole = page.evaluate(IS_WHOLE)
        assert least >= 32, source
        assert is_whole or least < 45, source
        if back.is_visible():
            assert page.evaluate(COVERED) == 0, source
        else:
            assert is_whole or page.evaluate("viewer.board.zoom.back.matches('[data-covers]')"), source
        page.locator(f'[data-spot="{source}"]').dispatch_event("click")
        expect(page.locator("[data-selected]")).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(390, 780), (360, 640)])
def test_the_overview_is_in_the_corner_with_the_fewest_marks(
    empty: BrowserArena, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{empty.url}table")
    usa = load_map("usa")
    owners = {"Maine": "maxie", "Texas": "minnie"}
    start = [[owners[name], 9] if name in owners else None for name in usa.territories]
    page.evaluate(OWN, [{**usa.to_data(), "start": start}, "maxie", []])
    page.locator(f'[data-spot="{usa.territories.index("Maine")}"]').dispatch_event("click")
    expect(page.get_by_role("button", name="Whole map")).to_have_attribute("data-corner", "left top")
    assert page.evaluate(COVERED.replace("[data-target] .reach, [data-selected] .reach", ".spot .reach")) == 0


def test_the_moves_of_ones_own_match_fill_a_tablet_s_window(empty: BrowserArena, page: Page) -> None:
    page.set_viewport_size({"width": 768, "height": 1024})
    page.goto(f"{empty.url}table")
    record = made_up("italy")
    page.evaluate(OWN, [record.setup, "maxie", [each.move for each in record.moves[:12]]])
    expect(page.locator("[data-source]").first).to_be_visible()
    row = box_of(page.locator(".moves li").last)["height"]
    moves, controls = page.locator(".moves"), page.locator(".controls")
    wait_until(lambda: box_of(controls)["y"] - box_of(moves)["y"] - box_of(moves)["height"] < 1.5 * row)
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0


def test_the_reader_of_ones_own_match_is_addressed_as_you(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}table")
    setup = load_map("path4").to_data()
    armies = [["maxie", 9], ["minnie", 6], ["minnie", 9], None]
    page.evaluate(OWN, [{**setup, "start": armies}, "maxie", [[0, 1]]])
    names = load_map("path4").territories
    expect(page.locator(".player .name")).to_have_text(["You", "bob"])
    expect(page.locator(".story")).to_have_text(f"You take {names[1]}")
    expect(page.locator(".told")).to_contain_text(f"Move 1, you: {names[0]} → {names[1]}")
    expect(page.locator(".tug-bar, .plot").filter(visible=True)).to_have_count(0)  # no engine helps a player


def test_the_review_of_ones_own_match_on_a_tablet_has_the_map_of_a_spectator(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 768, "height": 1024})
    page.goto(f"{empty.url}table")
    heights = []
    for seat in ("maxie", None):
        page.evaluate(OWN, [make_game_on_map("riskless", "usa").setup(), seat, []])
        page.evaluate(
            "viewer.match.end = { winner: 'maxie', reason: 'resignation' }; viewer.review.tell('Accuracy')"
        )
        expect(page.locator(".viewer")).to_have_attribute("data-study", "review")
        heights.append(
            page.locator(".zoom").evaluate("(each) => getComputedStyle(each).getPropertyValue('--below')")
        )
    assert heights[0] == heights[1]


def test_the_move_after_ones_own_match_is_announced_on_a_phone_on_its_side(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 844, "height": 390})
    page.goto(f"{empty.url}table")
    armies = [["minnie", 9], ["minnie", 9], ["maxie", 9], ["maxie", 9]]
    page.evaluate(OWN, [{**load_map("path4").to_data(), "start": armies}, "maxie", [[3, 2], [0, 1]]])
    page.evaluate("viewer.match.end = { winner: 'maxie', reason: 'resignation' }; viewer.go(1)")
    status = page.get_by_role("status").and_(page.locator(".told"))
    expect(status).to_contain_text("Move 1,", timeout=10_000)
    assert box_of(status)["height"] <= 1


def test_a_player_learns_the_favourite_and_the_values_of_the_opponent_at_the_end(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}table")
    armies = [["minnie", 9], ["minnie", 9], ["maxie", 9], ["maxie", 9]]
    page.evaluate(OWN, [{**load_map("path4").to_data(), "start": armies}, "maxie", []])
    page.evaluate(VALUED, [[3, 2], [0, 1], [2, 3], [1, 0]])
    page.get_by_role("tab", name="Engines").click()
    value = page.locator(".thinking").last
    expect(value).to_have_text("depth 5")
    for ply in range(1, 5):
        page.evaluate("(ply) => viewer.go(ply)", ply)
        expect(page.locator(".told")).to_contain_text(f"Move {ply},")
        expect(page.locator(".story")).not_to_contain_text("favourite")
    page.evaluate("viewer.match.end = { winner: 'maxie', reason: 'resignation' }; viewer.go(1)")
    expect(page.locator(".story")).to_have_text("You become the favourite")
    expect(page.locator(".plot")).to_be_visible()
    page.evaluate("viewer.go(4)")
    expect(value).to_have_text(re.compile("^depth 5 · value "))
    expect(page.locator(".tug-bar")).to_be_hidden()  # the bar of one's turn says the result
