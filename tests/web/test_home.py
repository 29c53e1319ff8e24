"""The start page: something always plays, it moves on by itself, and it says who is winning and where to click."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from arena import maps
from arena.maps.chance import compute_maxie_winning_chance
from arena.protocol.record import format_record_line
from testkit.browser import (
    BrowserArena,
    box_of,
    find_truncated_texts,
    new_context,
    run_arena,
    skip_to_live_match,
    wait_until,
)
from tests.web.screenshots import made_up

BUSY = """() => { const board = document.querySelector('.small-board');
  return board.getContext('2d').getImageData(0, 0, board.width, board.height).data.some((each) => each > 0); }"""

CORNER = "(sign) => { const { right, bottom } = sign.getBoundingClientRect(); return [right, bottom]; }"

SAME_PLACES = """(drawn) => {
  const still = new DOMParser().parseFromString(drawn, 'text/html').querySelector('.stage.first .map');
  const moving = document.querySelector('.stage .map');
  const shapes = (map, query, names) => [...map.querySelectorAll(query)].map((each) => (
    // a picture that has just been made has no size yet, and its marks no places
    names.flatMap((name) => (each.getAttribute(name) ?? '0').replace(/ scale.*/, '').match(/-?[0-9.]+/g).map(Number))))
    .sort((one, other) => one.map((n, at) => Math.round(n) - Math.round(other[at])).find(Boolean) ?? 0);
  const near = (one, other) => one.length === other.length && one.every((n, at) => Math.abs(n - other[at]) < 0.11);
  const same = (...asked) => {
    const [one, other] = [shapes(still, ...asked), shapes(moving, ...asked)];
    return [one.length === other.length && one.every((shape, n) => near(shape, other[n]))];
  };
  return { spots: same('.spot', ['transform']), areas: same('.area-of', ['d']), coast: same('.coast', ['d']), ferries: same('.ferry', ['x1', 'y1', 'x2', 'y2']),
    roads: same('.road', ['x1', 'y1', 'x2', 'y2']),
    size: [still.getAttribute('viewBox') === moving.getAttribute('viewBox')] };
}"""

STYLES_WITH_AND_WITHOUT_FURTHER_SHEET = """() => {
  const sheet = document.querySelector('link[rel=stylesheet]');
  return [true, false].map((disabled) => {
    sheet.disabled = disabled;
    return [...document.body.querySelectorAll(':not(link)')].map((each) => (
      [null, '::before', '::after'].map((part) => `${each.outerHTML.slice(0, 80)} ${part}: ${getComputedStyle(each, part).cssText}`)));
  });
}"""
"""JavaScript function that returns the styles of all elements, first without the sheet that the page links to, then with it."""

CHANCES = """async (cases) => {
  const { chance } = await import(new URL('parts/values.js', document.querySelector('script[type=module]').src).href);
  return cases.map(([ahead, map, goal]) => chance(100 * ahead, { map, armies_to_win: goal }));
}"""

SMALL_BOARDS = """async (line) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const [{ Thumbnail }, { Match }, { loadMapData }] = [await from('boards/thumbnail.js'), await from('match.js'), await from('boards/mapdata.js')];
  const match = Match.fromRecord(JSON.parse(line));
  window.pictures = 0;
  window.boards = [...Array(4)].map(() => new Thumbnail(match.game));
  for (const each of boards) {
    const draw = each.draw.bind(each);
    each.draw = () => { pictures += 1; draw(); };
    document.querySelector('main').append(each.element);
  }
  await loadMapData(match.game.setup);
  window.show = (board, ply) => board.show(match.positions[ply], ply ? match.moves[ply - 1].move : null);
}"""

LISTED = """async (ids) => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const { Home } = await from('views/home.js');
  window.home ??= new Home(document.querySelector('main'));
  home.unlist();
  home.live.sight = { observe() {}, unobserve() {} }; // the matches are not on the server
  const players = { maxie: 'house-alphabeta', minnie: 'Sun-Tzu the second' };
  const match = (id) => ({ match: id, game: 'riskless', players, rated: true, map: 'italy', event: '', ply: 3 });
  home.show({ matches: ids.map(match), bots: [] });
}"""

ROOM = """() => {
  const hidden = ({ scrollHeight, clientHeight }) => scrollHeight - clientHeight;
  return Math.max(...[...document.querySelectorAll('.wall, .wall .cards.boards')].map(hidden));
}"""
"""Pixels that one must scroll to see all that is beside the large board."""

COUNTED = """async () => {
  const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);
  const { Home } = await from('views/home.js');
  const home = new Home(document.querySelector('main'));
  home.unlist();
  home.stage.stop();
  home.stage.offer = () => undefined;
  home.live.sight = { observe() {}, unobserve() {} }; // the matches are not on the server
  const match = (id) => ({ match: id, game: 'riskless', players: { maxie: 'a', minnie: 'b' }, rated: true, map: 'italy', event: '', ply: 3 });
  const [said, aside] = [[], []];
  const look = () => { said.push(home.counted.textContent); aside.push(home.wall.contains(home.against)); };
  const list = (...ids) => { home.show({ matches: ids.map(match), bots: [] }); look(); };
  const board = (id, rest) => {
    const before = home.stage.playback?.match.id;
    home.stage.playback = { match: { id }, at: 3, live: true, isOver: false, ...rest };
    for (const each of new Set([before ?? id, id])) home.moved(each);
    look();
  };
  list('one', 'two');
  board('one'); // which has no card any more
  list('one');
  board('one', { isOver: true });
  list('two'); // from here on one match at a time
  board('two');
  list('three'); // the next match has begun while the board is behind
  board('two', { isOver: true });
  board('three');
  list();
  board('three', { isOver: true });
  list('four');
  board('four');
  list('four', 'five');
  list('five');
  board('five');
  list('five');
  board('record', { live: false });
  home.stop();
  return [said.slice(0, 4), aside.slice(4)];
}"""
"""Returns what the start page says of the number of other matches, and whether the opponents are
beside the board, after each change."""

COMPARED = """() => {
  const pixels = ({ context }) => context.getImageData(0, 0, 280, 150).data;
  const [one, other] = [pixels(boards[0]), pixels(boards[3])];
  const coloured = (seat) => {
    const [red, green, blue] = getComputedStyle(boards[0].element).getPropertyValue(`--small-${seat}`).match(/[0-9]+/g).map(Number);
    return one.some((_, n) => n % 4 === 0 && one[n] === red && one[n + 1] === green && one[n + 2] === blue);
  };
  return { coloured: ['maxie', 'minnie', 'nobody', 'move'].map(coloured),
    different: one.filter((each, n) => Math.abs(each - other[n]) > 64).length / one.length };
}"""

DARK = """() => {
  const { context, element } = boards[0];
  const probe = context.canvas.cloneNode().getContext('2d', { willReadFrequently: true });
  probe.fillStyle = getComputedStyle(element).getPropertyValue('--small-dark');
  probe.fillRect(0, 0, 1, 1);
  const dark = probe.getImageData(0, 0, 1, 1).data;
  return boards.slice(0, 2).map((board) => {
    const { data } = board.context.getImageData(0, 0, 280, 150);
    let count = 0;
    for (let n = 0; n < data.length; n += 4) if ([0, 1, 2].every((part) => Math.abs(data[n + part] - dark[part]) < 24)) count += 1;
    return count;
  });
}"""
"""Number of pixels of two small boards that have the colour of the lines on Minnie's land."""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server on which two bots play matches of at most twenty moves, one after the other."""
    folder = tmp_path_factory.mktemp("busy")
    path4 = (Path(maps.__file__).parent / "path4.toml").read_text(encoding="utf-8")
    (folder / "brief.toml").write_text(path4.replace("ply_limit = 200", "ply_limit = 20"), encoding="utf-8")
    with run_arena(folder, "--map", "brief.toml", "--tc", "60/move") as running:
        running.connect_slow_bot("ann", 0.2)
        running.connect_slow_bot("bob", 0.2)
        wait_until(lambda: running.fetch_json("records")["matches"])
        yield running


def test_a_live_match_is_on_the_large_board_and_then_the_next(busy: BrowserArena, page: Page) -> None:
    page.goto(busy.url)
    stage = page.locator(".stage")
    skip_to_live_match(page, "Brief")
    expect(stage.locator(".map .spot[data-owner=maxie]").first).to_be_visible()
    expect(stage.locator(".share-of", has_text=re.compile(r"^\S+ \d+ %$")).first).to_be_visible()
    first = stage.get_by_role("link", name="Open match").get_attribute("href")
    assert first is not None
    page.set_viewport_size({"width": 390, "height": 844})
    expect(stage.locator(".tug-bar")).to_contain_text(re.compile("(ann|bob) wins|Draw"))
    page.wait_for_function(
        "(first) => document.querySelector('.stage .stage-board').getAttribute('href') !== first",
        arg=first,
    )


def test_before_any_script_has_come_a_match_is_shown_as_the_scripts_draw_it(
    played: BrowserArena, browser: Browser, page: Page
) -> None:
    context = new_context(browser, java_script_enabled=False)
    still = context.new_page()

    def live() -> bool:
        still.goto(played.url)
        # Between two matches a recorded one stands there, on another map; before the first move nobody is ahead.
        share = still.locator(".stage.first .share-of[data-leads]", has_text=re.compile(r"^\S+ \d+ %$"))
        return still.locator(".stage.first .map .spot").count() == 4 and share.count() > 0

    def same() -> dict[str, list[bool]]:
        wait_until(live)
        page.goto(played.url)
        expect(page.locator(".stage:not(.first) .map .area-of").first).to_be_visible()
        found: dict[str, list[bool]] = page.evaluate(SAME_PLACES, still.content())
        return found

    # Once more where the match had ended before the second look.
    wait_until(
        lambda: same() == {name: [True] for name in ("spots", "areas", "coast", "ferries", "roads", "size")}
    )
    context.close()


@pytest.mark.parametrize(
    ("width", "height"),
    [(1920, 1080), (1280, 720), (1024, 768), (844, 390), (768, 1024), (390, 844), (340, 640)],
)
@pytest.mark.parametrize("path", ["", "play"])
def test_the_inlined_styles_are_all_that_the_first_view_needs(
    empty: BrowserArena, page: Page, path: str, width: int, height: int
) -> None:
    page.route("**/*.js", lambda route: route.abort())
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{empty.url}{path}")
    without, complete = page.evaluate(STYLES_WITH_AND_WITHOUT_FURTHER_SHEET)
    assert without == complete, "move the rules of these elements to first.css"


def test_a_card_of_a_live_match_has_a_board_that_is_drawn(busy: BrowserArena, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 2000})  # the cards below the large board are in sight
    page.goto(f"{busy.url}tv")
    expect(page.locator(".card.live .small-board").first).to_be_visible()
    card = page.locator(".card.live").filter(has_text=re.compile(r"(Even|\d+ % chance to win|Won in)")).first
    expect(card.locator(".total")).to_have_text([re.compile(r"^\d+ / \d+$")] * 2)
    # A screen reader hears whose chance the bar tells.
    expect(
        card.get_by_role(
            "img",
            name=re.compile(r"^(Chance of winning: (ann|bob) \d+ %, (ann|bob) \d+ %|(ann|bob) wins|Draw)$"),
        )
    ).to_be_visible()
    page.wait_for_function(f"() => document.querySelector('.small-board') && ({BUSY})()")


def test_who_leads_is_told_with_what_is_played_now(busy: BrowserArena, page: Page) -> None:
    wait_until(lambda: busy.fetch_json("table")["standings"])
    page.goto(busy.url)
    expect(page.locator(".panel", has_text="Leaders").locator("tbody tr")).to_have_count(2)
    expect(page.locator(".panel h2", has_text="Now: Open pool")).to_be_visible()
    page.locator(".panel").get_by_role("link", name="Open the event").click()
    expect(page.get_by_role("heading", name="Open pool", exact=True)).to_be_visible()


def test_on_an_empty_server_a_recorded_match_plays(empty: BrowserArena, timed: Page) -> None:
    asked: list[str] = []
    timed.on("request", lambda each: asked.append(each.url) if "/api/records" in each.url else None)
    timed.goto(empty.url)
    stage = timed.locator(".stage:not(.first)")
    expect(stage.locator(".map .spot[data-owner=minnie]").first).to_be_visible()
    expect(stage.locator(".stage-title .badge")).to_contain_text("Replay")
    expect(stage.locator(".kind")).to_have_text("Italy · no live match now")
    expect(stage.locator(".story")).not_to_be_empty()
    shown = [stage.locator(".map").get_attribute("aria-label")]
    for button in ("Pause", "Play"):
        timed.clock.run_for(2000)
        shown.append(stage.locator(".map").get_attribute("aria-label"))
        stage.get_by_role("button", name=button).click()
    start, on, held = shown
    assert start != on == held
    assert len(asked) == 1, "the finished matches are requested once"


def test_riskless_is_told_in_moving_pictures_that_can_be_stopped(empty: BrowserArena, page: Page) -> None:
    page.goto(empty.url)
    primer = page.locator(".wall .primer")  # nobody plays
    primer.scroll_into_view_if_needed()
    expect(primer.locator(".told")).not_to_contain_text("Two players, one map")  # the first step
    primer.get_by_role("button", name="Pause").click()
    for _ in range(10):
        primer.get_by_role("button", name="Next").click()
        if "the last territory" in primer.locator(".told").inner_text():
            break
    expect(primer.locator(".told")).to_contain_text("Take the last territory")
    expect(primer.locator(".spot[data-owner=minnie]")).to_have_count(0)


def test_what_a_stranger_needs_is_in_sight_at_once(empty: BrowserArena, page: Page) -> None:
    for width, height in ((1440, 900), (1280, 720), (390, 780)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(empty.url)
        expect(page.locator(".stage .map")).to_be_visible()
        for sign in ("h1", ".button.big", ".stage .scoreboard", ".stage .map"):
            expect(page.locator(sign).first).to_be_visible()
            # The stage may go on to its next match meanwhile: this waits for the sign that is there then.
            right, bottom = page.locator(sign).first.evaluate(CORNER)
            assert bottom <= height, (sign, width)
            assert right <= width, (sign, width)


def test_there_is_one_thing_to_do_and_each_player_has_its_armies_and_the_goal(
    empty: BrowserArena, page: Page
) -> None:
    page.goto(empty.url)
    assert page.locator(".pitch .button").all_inner_texts() == ["Play against a bot"]
    stage = page.locator(".stage:not(.first)")
    expect(stage.locator(".total").filter(has_text=re.compile(r"^\d+ / \d+$"))).to_have_count(2)
    goal = stage.locator(".goal-of").first.inner_text().removeprefix(" / ").split()[-1]
    expect(page.locator(".pitch p")).to_contain_text(f"be first to {goal} armies")
    page.get_by_role("button", name="How it works").click()
    expect(page.get_by_role("dialog", name="Rules: Riskless")).to_be_visible()


def test_few_live_boards_stand_above_the_rules_and_many_alone(timed: Page) -> None:
    timed.set_viewport_size({"width": 1440, "height": 900})
    rules, opponents = timed.locator(".wall .primer"), timed.locator(".wall .against")
    for listed, beside in (([], 1), (["one"], 1), (["one", "two"], 1), (["one", "two", "three"], 0)):
        timed.evaluate(LISTED, listed)
        expect(rules).to_have_count(beside)
        expect(opponents).to_have_count(0 if listed else 1)
        if len(listed) < 3:  # once the font has arrived, all is in sight
            wait_until(lambda: timed.evaluate(ROOM) < 1)


def test_below_the_board_a_card_fills_its_row_and_moves_nothing_as_it_comes_and_goes(timed: Page) -> None:
    wall, below = timed.locator(".wall"), timed.locator(".below")
    for width, height in ((390, 844), (768, 1024), (960, 720)):
        timed.set_viewport_size({"width": width, "height": height})
        places = []
        for listed in ([], ["one"], ["one", "two"], ["one", "two", "three"]):
            timed.evaluate(LISTED, listed)
            timed.clock.run_for(1000)
            places.append(below.evaluate("(below) => below.getBoundingClientRect().top"))
            if len(listed) == 1:
                assert box_of(wall.locator(".card"))["width"] == box_of(wall)["width"]
                picture = box_of(wall.locator(".card .picture-of"))
                assert picture["x"] + picture["width"] < box_of(wall.locator(".card .scoreboard"))["x"]
        assert max(places) - min(places) < 1, (width, height)
        third = box_of(wall.locator(".card").nth(2))
        assert (third["x"] + third["width"] <= width) == (width > 390), "a tablet cuts none of three"


def test_the_title_of_a_replay_beside_cards_is_whole(timed: Page) -> None:
    timed.evaluate(LISTED, [])
    expect(timed.locator(".stage:not(.first) .stage-title")).to_contain_text("Replay")
    timed.locator(".more-of-kind").evaluate("(more) => more.textContent = ' · Nov 29, 10:35 PM'")
    for width in (961, 1024, 1152, 1153, 1280):
        timed.set_viewport_size({"width": width, "height": 768})
        assert not find_truncated_texts(timed.locator(".stage:not(.first) .kind")), width


def test_a_card_tells_both_names_in_full_and_has_its_map_before_its_position_is_known(timed: Page) -> None:
    timed.evaluate(LISTED, ["one", "two", "three", "four"])
    names = timed.locator(".wall .card .name")
    expect(names.first).to_have_text("House AlphaBeta")
    expect(timed.locator(".wall .picture-of > .small-board")).to_have_count(4)
    for width in (360, 768, 1024, 1280, 1440):
        timed.set_viewport_size({"width": width, "height": 900})
        assert not find_truncated_texts(timed.locator(".wall .card")), width


def test_with_reduced_motion_nothing_starts_by_itself(empty: BrowserArena, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(empty.url)
    primer = page.locator(".primer")
    expect(primer.get_by_role("button", name="Play")).to_be_visible()
    primer.get_by_role("button", name="Next").click()
    expect(primer.locator(".told")).to_contain_text("sends all armies")
    expect(primer.locator(".march > *")).to_have_count(0)


def test_many_boards_that_move_are_drawn_in_few_pictures_and_as_if_each_were_drawn_anew(timed: Page) -> None:
    """Only territories with a new owner are redrawn, and the board must look like a new one."""
    timed.evaluate(SMALL_BOARDS, format_record_line(made_up("usa")))
    for ply in range(40):
        timed.evaluate("(ply) => boards.slice(0, 3).forEach((each) => show(each, ply))", ply)
        timed.clock.run_for(20)
    timed.clock.run_for(600)
    assert timed.evaluate("pictures") < 3 * 40 / 4
    timed.evaluate("show(boards[3], 39)")
    timed.clock.run_for(600)
    found = timed.evaluate(COMPARED)
    assert found["coloured"] == [True] * 4
    assert found["different"] < 0.005, "of the pixels, by more than what lies between two borders"


def test_a_card_has_lines_on_land_and_a_smaller_picture_has_none(timed: Page) -> None:
    timed.evaluate(SMALL_BOARDS, format_record_line(made_up("usa")))
    timed.evaluate(
        "[240, 60].forEach((width, n) => { boards[n].element.style.width = `${width}px`; show(boards[n], 30); })"
    )
    timed.clock.run_for(600)
    card, row = timed.evaluate(DARK)
    assert card > 10 * row


def test_small_boards_change_between_light_and_dark_with_the_page(timed: Page) -> None:
    timed.evaluate(SMALL_BOARDS, format_record_line(made_up("usa")))
    timed.evaluate("show(boards[0], 30); show(boards[3], 30)")
    timed.clock.run_for(600)
    for scheme in ("dark", "light"):
        # the page's clock stands still, so nothing that waits is drawn
        timed.emulate_media(color_scheme=scheme)
        wait_until(lambda: timed.evaluate(COMPARED)["coloured"] == [True] * 4)


def test_the_chance_in_the_page_is_that_of_its_scripts(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}file")
    cases = [
        (ahead, name, goal)
        for name, goal in (("italy", 220), ("usa", 980), ("elsewhere", 50))
        for ahead in (-40, 0, 7)
    ]
    found = page.evaluate(CHANCES, [[ahead, name, goal] for ahead, name, goal in cases])
    assert found == pytest.approx([compute_maxie_winning_chance(*case) for case in cases])


def test_finished_matches_are_requested_once_for_each_match_that_ends(timed: Page) -> None:
    asked: list[str] = []
    timed.on("request", lambda each: asked.append(each.url) if "/api/records" in each.url else None)
    for listed in (["one", "two"], ["one", "two", "three"], ["one", "three"], ["one", "three", "four"]):
        timed.evaluate(LISTED, listed)
        timed.clock.run_for(2000)
    assert len(asked) == 2, "when the view opens, and after the second match"
    for number in range(10):  # a match ends before the page has waited for the last one
        timed.evaluate(LISTED, [f"match-{number}"])
        timed.clock.run_for(1000)
    assert len(asked) == 3


def test_the_match_on_the_large_board_is_not_among_the_others(timed: Page) -> None:
    said, aside = timed.evaluate(COUNTED)
    assert said == ["2 live", "1 live", "", ""], "nor while its end is shown"
    # One match at a time moves nothing; small boards come with a second one, or while the large board replays a match.
    assert aside == [True] * 9 + [False] * 2 + [True] * 2 + [False]
