"""Broadcast view: its pace, its choice of matches, the story of a match, and its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from arena.maps.game_on_map import make_game_on_map
from arena.protocol.record import format_record_line
from testkit.browser import (
    MEASURE_LAYOUT_SHIFT_SCRIPT,
    STALLED_BOT_SLEEP_SECONDS,
    BrowserArena,
    box_of,
    find_truncated_texts,
    new_context,
    run_arena,
    wait_until,
)
from tests.web.conftest import stop_clock
from tests.web.screenshots import made_up
from tests.web.wire import Guest

FROM = "const from = (path) => import(new URL(path, document.querySelector('script[type=module]').src).href);"
BEAT_MS = 600
MAX_PLIES_BEHIND = 40
"""Number of moves behind a live match from which on some are left out."""
END_MS = 6000
"""Time for which the end of a match is shown."""

HURRIED = f"""async ([setup, moves]) => {{ {FROM}
  const [{{ Match }}, {{ Viewer }}] = [await from('match.js'), await from('parts/viewer.js')];
  const match = new Match({{ match: 'm', game: 'riskless', setup, players: {{ maxie: 'ann', minnie: 'bob' }}, time_control: '1+0' }});
  const viewer = new Viewer(match, {{ live: true, link: () => '#' }});
  document.querySelector('main').replaceChildren(viewer.element);
  viewer.begin(null);
  window.viewer = viewer;
  window.play = (more, end = null) => {{
    for (let n = 0; n < more; n++) {{
      match.add({{ move: match.game.moves(match.last)[0], ms: 1 }});
      viewer.grown();
    }}
    match.end = end;
    viewer.grown();
  }};
  play(moves);
}}"""

CHANCES = f"""async (values) => {{ {FROM}
  const {{ LiveCards }} = await from('home/livecards.js');
  const {{ match, playback }} = viewer;
  values.forEach((value, n) => {{
    const ply = match.moves.length - 2 + n;
    match.moves[ply] = {{ ...match.moves[ply], thinking: {{ value }} }};
  }});
  playback.jump();
  viewer.refresh();
  const cards = new LiveCards();
  const card = cards.add({{ match: 'm', game: 'riskless', map: 'italy', players: match.players, ply: 9 }});
  card.scoreboard.show(match, match.moves.length);
  const bar = [...viewer.scoreboard.element.querySelectorAll('.share-of')].map((each) => each.textContent.trim()).join(', ');
  const small = card.element.querySelector('.tug-bar');
  return {{ bar, card: small.ariaLabel, part: small.querySelector('.maxie').getAttribute('width'), graph: viewer.plot.words.textContent, story: viewer.story.textContent }};
}}"""

HEARD = f"""async ([moves, values]) => {{ {FROM}
  const {{ estimateAt, percentages }} = await from('chances.js');
  const {{ match, playback }} = viewer;
  const [heard, chances] = [[], []];
  viewer.refresh();
  const observer = new MutationObserver(() => null);
  observer.observe(document.body, {{ subtree: true, childList: true, characterData: true }});
  const regions = () => observer.takeRecords().flatMap(({{ target }}) => (target.closest ? target : target.parentElement)?.closest('[role=status], [role=alert]') ?? []);
  for (let ply = 0; ply < 80; ply++) {{
    match.add({{ move: moves[ply % 4], ms: 1, thinking: {{ value: values[Math.floor(ply / 4) % 2] }} }});
    viewer.grown();
    playback.jump();
    viewer.refresh();
    chances.push(percentages(estimateAt(match, ply + 1)).maxie);
    for (const region of new Set(regions())) if (region.textContent) heard.push(region.textContent);
  }}
  observer.disconnect();
  return [heard, [Math.min(...chances.slice(8)), Math.max(...chances.slice(8))]];
}}"""
"""Plays moves that come again and again, four with the one value and four with the other; returns what a screen reader says,
each change of a live region of the page, and the least and the greatest of Maxie's chances in per cent."""

ENTRY = f"""async ([setup, plies, ms]) => {{ {FROM}
  const [{{ Match }}, {{ Playback }}] = [await from('match.js'), await from('playback.js')];
  const match = new Match({{ match: 'm', game: 'riskless', setup, players: {{ maxie: 'ann', minnie: 'bob' }}, time_control: '1+0' }});
  for (let n = 0; n < plies; n++) match.add({{ move: match.game.moves(match.last)[0], ms }});
  return new Playback(match, () => null, {{ live: true }}).behind;
}}"""

LAND = f"""async (setup) => {{ {FROM}
  const [{{ Match }}, {{ LandBars }}] = [await from('match.js'), await from('parts/landbars.js')];
  const match = new Match({{ match: 'm', game: 'riskless', setup, players: {{ maxie: 'ann', minnie: 'bob' }}, time_control: '1+0' }});
  match.add({{ move: [1, 0], ms: 1 }});
  const bars = new LandBars();
  document.querySelector('main').replaceChildren(bars.element);
  bars.show(match, [['North', [0, 1, 2]], ['Island', [3]]], 1);
}}"""
"""Shows who holds how much land after Blue has moved from the second of four territories to the first."""

FINISHED = f"""async (setup) => {{ {FROM}
  const [{{ Match }}, {{ Stage }}] = [await from('match.js'), await from('home/stage.js')];
  const match = new Match({{ match: 'm', game: 'riskless', setup, players: {{ maxie: 'ann', minnie: 'bob' }}, time_control: '1+0' }});
  match.end = {{ winner: 'maxie', reason: 'resignation' }};
  const stage = new Stage({{ compact: true }});
  Object.assign(stage.director, {{ continents: [], shortNames: [] }});
  const boards = document.createElement('div');
  boards.className = 'tv';
  boards.dataset.boards = 4;
  const large = new Stage();
  large.director.rest();
  boards.append(large.element, stage.element);
  document.querySelector('main').replaceChildren(boards);
  stage.begin(match, {{ match, at: 0, live: true, isOver: true, behind: 0, running: true, end: match.end }});
  stage.show(0);
  window.minor = stage;
}}"""
"""Shows the end of a match on a small board below a large one that waits for a match."""

SHOWN = "() => window.viewer.playback.at"

DIRECTED = f"""async () => {{ {FROM}
  const {{ Director }} = await from('director.js');
  window.began = [];
  const screen = {{ begin: (match, playback, live) => {{ began.push(match.id); window.playback = playback; }}, show() {{}}, changed() {{}} }};
  window.director = new Director(screen);
  director.offer({{ matches: [], bots: [] }});
}}"""
QUIET = f"""async (setup) => {{ {FROM}
  const {{ Match }} = await from('match.js');
  const match = new Match({{ match: 'quiet', game: 'riskless', setup, players: {{ maxie: 'ann', minnie: 'bob' }}, time_control: '1+0' }});
  director.leave('quiet');
  await director.prepare(match, true);
}}"""
RIVAL = """{ match: 'rival', game: 'riskless', players: { maxie: 'a', minnie: 'b' }, rated: true, map: 'italy', event: '', ply: 3 }"""
DECIDED = f"""async ([setup, moves, rivals, end]) => {{ {FROM}
  const {{ Match }} = await from('match.js');
  const begin = (match, start) => new Match({{ match, game: 'riskless', setup: {{ ...setup, start }}, players: {{ maxie: 'ann', minnie: 'bob' }}, time_control: '1+0' }});
  const match = begin('decided', setup.start);
  window.followed = [];
  director.choose = (chosen, _least, suits) => {{
    const found = rivals.map((start, n) => begin(`rival-${{n}}`, start)).find(suits);
    chosen(found ? {{ match: found.id }} : null);
  }};
  director.follow = (id) => followed.push(id);
  director.leave('decided');
  await director.prepare(match, true);
  for (const move of moves) match.add({{ move, ms: 1000 }});
  match.end = end;
  director.changed(match);
}}"""

INTEREST = f"""async () => {{ {FROM}
  const {{ interest }} = await from('director.js');
  const known = {{ people: new Set(['pat']), finals: new Set(['cup']), ratings: new Map([['riskless/ann', 1900], ['riskless/bob', 1880], ['riskless/eve', 1200]]) }};
  const score = (maxie, minnie, game = 'riskless', event = 'serve') => interest({{ game, players: {{ maxie, minnie }}, rated: true, event }}, known);
  return [score('ann', 'bob'), score('ann', 'eve'), score('pat', 'eve'), score('eve', 'eve'), score('ann', 'bob', 'tictactoe'), score('eve', 'eve', 'riskless', 'cup')];
}}"""

RANKED = f"""async (taken) => {{ {FROM}
  const {{ Director }} = await from('director.js');
  const director = new Director(null, {{ taken: new Map(taken) }});
  director.offered = ['world', 'italy'].map((map) => ({{ match: map, map, game: 'riskless', players: {{ maxie: 'ann', minnie: 'bob' }}, rated: true }}));
  const order = director.ranked().map(({{ match }}) => match);
  director.leave('italy');
  director.offered = []; // it has ended: its record comes next
  director.leave('italy');
  return [order, director.taken.get('italy')];
}}"""
"""Returns the order of two matches on a board, while other boards show the matches `taken` with these maps; and the map that
other boards know of the first match, after the board has followed it to its end."""

TENSION = f"""async ([setup, moves]) => {{ {FROM}
  const [{{ Match }}, {{ tension }}] = [await from('match.js'), await from('story.js')];
  const begin = (start) => new Match({{ match: 'm', game: 'riskless', setup: {{ ...setup, start }}, players: {{ maxie: 'ann', minnie: 'bob' }}, time_control: '1+0' }});
  const match = begin(setup.start);
  for (const move of moves) match.add({{ move }});
  const now = match.last.armies.map((n) => (n ? [n > 0 ? 'maxie' : 'minnie', Math.abs(n)] : null));
  return [tension(match), tension(begin(now))];
}}"""

CHOSEN = f"""async (order) => {{ {FROM}
  const [{{ Director }}, {{ onLobbyListing }}] = [await from('director.js'), await from('spectator.js')];
  const matches = await new Promise((resolve) => onLobbyListing((listing) => listing.matches.length === order.length && resolve(listing.matches)));
  matches.sort((a, b) => order.indexOf(a.match) - order.indexOf(b.match));
  const match = await new Promise((begin) => new Director({{ begin, show() {{}}, changed() {{}} }}).offer({{ matches, bots: [] }}));
  return match.id;
}}"""

STORY = f"""async ([setup, moves, continents, result]) => {{ {FROM}
  const [{{ Match }}, {{ story, keyMoments, playerSentence, sentence }}] = [await from('match.js'), await from('story.js')];
  const match = new Match({{ match: 'm', game: 'riskless', setup, players: {{ maxie: 'Boudica', minnie: 'Sun-Tzu' }}, time_control: '1+0' }});
  for (const [from, to, value] of moves) match.add({{ move: [from, to], thinking: {{ value }} }});
  match.end = result;
  const told = story(match, continents);
  return {{ told: told.map(({{ ply, words }}) => [ply, words]), seats: told.map(({{ seat }}) => seat), key: keyMoments(match, continents).map(({{ ply }}) => ply), sentences: match.positions.map((_, ply) => sentence(match, told, ply).words), aloud: match.positions.map((_, ply) => sentence(match, told, ply).aloud), players: match.positions.map((_, ply) => playerSentence(match, continents, ply).words) }};
}}"""


WALL = f"""async (options) => {{ {FROM}
  const {{ LiveCards }} = await from('home/livecards.js');
  const {{ match }} = viewer;
  window.staged = '';
  window.wall = new LiveCards({{ isOnStage: (id) => id === window.staged, ...options }});
  window.listed = [{{ match: 'm', game: 'riskless', map: 'italy', players: match.players, ply: 9 }}];
  document.querySelector('main').append(wall.element);
  wall.sight = {{ observe() {{}}, unobserve() {{}} }}; // the match is not on the server
  wall.show(listed);
  window.tell = () => wall.moved(wall.cards.get('m'), match);
  tell();
}}"""


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserArena]:
    """A server with two finished matches and two that go on, whose bots play a hundred moves a second when they are told to."""
    folder = tmp_path_factory.mktemp("hasty")
    whole = made_up("italy")
    record = replace(whole, moves=whole.moves[:20])
    file = folder / "two.jsonl"
    file.write_text(
        "".join(format_record_line(replace(record, match=32 * each)) + "\n" for each in "mn"),
        encoding="utf-8",
    )
    with run_arena(folder, "--map", "italy", "--tc", "60/move") as running:
        running.run_command("import", str(file))
        for name in ("ann", "bob"):
            running.connect_slow_bot(name, STALLED_BOT_SLEEP_SECONDS, 2)
        yield running


def test_moves_that_come_at_once_are_shown_one_after_another(timed: Page) -> None:
    timed.emulate_media(reduced_motion="reduce")  # armies travel by the browser's clock, not by the page's
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 8])
    timed.clock.run_for(100)
    badge = timed.locator(".badge")
    jump = timed.get_by_role("button", name="Go to live")
    expect(badge).to_contain_text("Live")
    expect(jump).to_be_hidden()
    expect(timed.locator(".counter")).to_have_text("1 / 1")
    before = timed.evaluate(SHOWN)
    timed.clock.run_for(BEAT_MS)
    assert timed.evaluate(SHOWN) == before + 1
    timed.evaluate("play(20)")
    timed.clock.run_for(100)
    expect(badge).to_contain_text("Delayed")
    expect(badge).to_have_attribute("title", re.compile(r"^2\d moves behind"))
    timed.evaluate("viewer.match.watching = 3; viewer.refresh()")
    expect(timed.get_by_text("3 watching")).to_be_visible()
    timed.set_viewport_size({"width": 390, "height": 780})
    expect(timed.get_by_text("3 watching")).to_be_hidden()  # has no room beside the badge
    timed.evaluate("viewer.match.game.fault = 'It is unknown.'; viewer.refresh()")
    expect(timed.get_by_text("The board cannot be shown.")).to_be_visible()
    timed.evaluate("delete viewer.match.game.fault; viewer.refresh()")
    timed.set_viewport_size({"width": 1280, "height": 800})
    jump.click()
    timed.clock.run_for(500)
    expect(timed.locator(".told")).to_contain_text("Move 28,")
    expect(badge).to_contain_text("Live")
    expect(jump).to_be_hidden()
    assert (
        timed.evaluate(
            "play(0, { winner: 'maxie', reason: 'resignation' }), viewer.refresh(), viewer.plot.most"
        )
        == 28
    )
    timed.evaluate("viewer.stop()")


def test_a_board_far_behind_its_match_is_faster_and_leaves_moves_out(timed: Page) -> None:
    timed.emulate_media(reduced_motion="reduce")
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 30])
    timed.clock.run_for(100)
    before = timed.evaluate(SHOWN)
    timed.clock.run_for(BEAT_MS)
    assert timed.evaluate(SHOWN) == before + 4
    timed.evaluate("play(100)")
    timed.clock.run_for(BEAT_MS)
    assert timed.evaluate("viewer.playback.behind") <= MAX_PLIES_BEHIND
    pause = timed.locator(".controls > .run")
    pause.click()
    timed.evaluate("play(30)")
    timed.clock.run_for(100)
    expect(timed.locator(".badge")).to_contain_text("Paused")
    expect(timed.locator(".badge")).to_have_attribute("title", re.compile(r"^\d+ moves behind"))
    at = timed.evaluate(SHOWN)
    timed.keyboard.press("ArrowLeft")
    pause.click()
    timed.clock.run_for(BEAT_MS)
    assert timed.evaluate(SHOWN) == at, "who goes back by himself sees every move from there"
    timed.evaluate("viewer.stop()")


def test_a_chance_around_the_threshold_of_a_favourite_is_announced_once(timed: Page) -> None:
    setup = path_of_four(("minnie", 9), ("minnie", 20), ("maxie", 20), ("maxie", 9))
    timed.evaluate(HURRIED, [setup, 0])
    there_and_back = [[3, 2], [0, 1], [2, 3], [1, 0]]
    heard, chances = timed.evaluate(HEARD, [there_and_back, [200, 250]])
    assert chances == [59, 61], "now and then a favourite, and now and then none"
    assert heard == ["ann becomes the favourite", "ann: 1 to go"]
    timed.evaluate("viewer.stop()")


def test_bars_tell_who_holds_how_much_of_the_map_and_of_each_continent(timed: Page) -> None:
    timed.evaluate(LAND, path_of_four(("minnie", 3), ("maxie", 9), ("minnie", 2), ("minnie", 1)))
    bars = timed.locator(".lands > *")
    labels = [bar.get_attribute("aria-label") for bar in bars.all()]
    assert labels == ["Territories: Blue 2, Orange 2 of 4", "North: Blue 2, Orange 1 of 3"]
    expect(bars.first).to_have_text("Territories22")


def test_a_spectator_begins_near_the_newest_move(timed: Page) -> None:
    setup = make_game_on_map("riskless", "italy").setup()
    assert [timed.evaluate(ENTRY, [setup, plies, 1]) for plies in (6, 30, 60)] == [6, 10, 10]
    assert timed.evaluate(ENTRY, [setup, 30, 1000]) == 0


def test_a_late_board_does_not_give_the_end_of_its_match_away(timed: Page) -> None:
    timed.emulate_media(reduced_motion="reduce")
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "m2").setup(), 20])
    timed.evaluate("play(0, { winner: 'minnie', reason: 'resignation' })")
    timed.clock.run_for(3 * BEAT_MS)
    shown = timed.evaluate(SHOWN)
    expect(timed.get_by_role("slider")).to_have_attribute("max", str(shown))
    expect(timed.locator(".plies span").last).to_have_text(str(max(10, shown)))
    expect(timed.locator(".marks button")).to_have_count(0)
    expect(timed.get_by_role("button", name="Play highlights")).to_be_hidden()
    expect(timed.locator(".counter")).to_have_text(f"{shown} / {shown}")
    assert timed.evaluate("viewer.over") is False
    timed.keyboard.press("End")
    timed.clock.run_for(100)
    expect(timed.locator(".story")).to_contain_text("bob wins")
    expect(timed.locator(".badge")).to_contain_text("Final")
    expect(timed.get_by_role("slider")).to_have_attribute("max", "20")
    assert timed.evaluate("viewer.over") is True
    timed.evaluate(
        "viewer.review.moves = viewer.match.moves.map((_, n) => ({ mark: n === 4 ? '?' : '', chance: 0.5, chance_lost: n === 4 ? 0.2 : 0, line: [] })); viewer.review.tell('Accuracy')"
    )
    timed.get_by_role("button", name="Next mistake").press("Enter")
    expect(timed.locator(".counter")).to_have_text("5 / 20")
    timed.evaluate("viewer.stop()")


def test_bar_story_graph_and_card_have_one_chance_for_each_position(timed: Page) -> None:
    timed.emulate_media(reduced_motion="reduce")
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 9])
    for values in ([300, 1500], [-2000, 100], [1e6, 1e6]):
        found = timed.evaluate(CHANCES, values)
        told = re.fullmatch(r"ann (\d+) %, bob (\d+) %", found["bar"])
        assert told is not None
        assert found["card"] == f"Chance of winning: {found['bar']}"
        assert found["part"] == told[1]
        assert int(told[1]) + int(told[2]) == 100
        percent = max(told[1], told[2], key=int)
        assert f"{percent} %" in found["graph"]
        led = (
            re.match("(ann|bob) (becomes the favourite|is the favourite|is winning)", found["story"])
            is not None
        )
        assert led == (int(percent) >= 60)
    assert percent == "99", "only a match that is over is certain"
    timed.evaluate("viewer.stop()")


def test_a_finished_match_says_its_result_once_among_the_live_ones_and_leaves(timed: Page) -> None:
    timed.emulate_media(reduced_motion="reduce")
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 9])
    timed.evaluate(WALL)
    card = timed.locator(".card.live")
    timed.clock.run_for(500)
    expect(card.locator(".summary-of")).to_have_text(re.compile(r"^(Even|\d+ % chance to win)Italy$"))
    timed.evaluate("staged = 'm'; wall.restage('m')")
    expect(card).to_have_count(0)  # the large board shows the match
    timed.evaluate("staged = ''; wall.restage('m')")
    expect(card.locator(".summary-of")).to_have_text("9 movesItaly")  # until it is in sight
    card.focus()
    timed.evaluate("staged = 'm'; wall.restage('m')")
    expect(card).to_be_focused()  # it leaves with the focus
    card.blur()
    timed.evaluate("wall.restage('m')")
    expect(card).to_have_count(0)
    timed.evaluate("staged = ''; wall.restage('m')")
    timed.evaluate("play(0, { winner: 'maxie', reason: 'resignation' }); tell(); wall.show([])")
    timed.clock.run_for(500)
    expect(card.locator(".summary-of")).to_have_text("Won in 9 movesItaly")
    assert card.inner_text().count("Won") == 1
    timed.clock.run_for(2000)
    expect(card).to_have_count(0)
    timed.evaluate("viewer.stop()")


def test_a_card_has_a_map_from_the_start_and_gives_its_place_to_the_next_match_when_it_is_over(
    timed: Page,
) -> None:
    timed.emulate_media(reduced_motion="reduce")
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 9])
    timed.evaluate(WALL)
    timed.evaluate("listed.push({ ...listed[0], match: 'n' }); wall.show(listed)")
    first, other = (timed.locator(f"[data-match={each}]") for each in "mn")
    timed.evaluate("wall.drawStart('n', wall.cards.get('n'))")
    expect(other.locator(".small-board")).to_be_visible()
    cards = timed.locator(".cards.boards > li")
    expect(cards.first).to_have_attribute("data-match", "m")
    cards.first.locator("a").focus()
    timed.evaluate("play(6); for (const each of viewer.match.moves) each.thinking = { value: 1e6 }; tell()")
    expect(cards.last).to_have_attribute("data-match", "n")  # the reader is at the other one
    cards.first.locator("a").blur()
    timed.evaluate("tell()")
    expect(cards.last).to_have_attribute("data-match", "m")  # it has been decided for a while
    timed.evaluate("wall.show([...listed, { ...listed[0], match: 'l' }])")
    assert cards.evaluate_all("(all) => all.map((each) => each.dataset.match)") == ["n", "l", "m"]
    timed.evaluate("wall.show(listed)")
    timed.evaluate(
        "play(0, { winner: 'maxie', reason: 'resignation' }); viewer.playback.jump(); tell(); wall.show(listed.slice(1))"
    )
    timed.evaluate("wall.show([listed[1], { ...listed[0], match: 'o' }])")
    expect(first).to_have_count(0)
    expect(cards.last).to_have_attribute("data-match", "o")
    timed.evaluate("viewer.stop()")


def test_only_the_last_card_moves_when_another_one_leaves(timed: Page) -> None:
    timed.emulate_media(reduced_motion="reduce")
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 9])
    timed.evaluate(WALL)
    timed.evaluate(
        "for (const match of 'nop') listed.push({ ...listed[0], match, ply: 0 }); wall.show(listed)"
    )
    cards = timed.locator(".cards.boards > li")
    order = "(all) => all.map((each) => each.dataset.match).join('')"
    assert cards.evaluate_all(order) == "mnop"
    timed.evaluate("staged = 'm'; wall.restage('m')")  # the large board takes it
    assert cards.evaluate_all(order) == "pno"
    cards.last.locator("a").focus()
    timed.evaluate("wall.show(listed.filter(({ match }) => match !== 'p'))")
    assert cards.evaluate_all(order) == "no", "a card with the focus stays"
    cards.last.locator("a").blur()
    timed.evaluate(
        "for (const match of 'qrs') listed.push({ ...listed[1], match }); wall.show(listed.slice(1))"
    )
    timed.evaluate(
        "play(9); for (const each of viewer.match.moves) each.thinking = { value: 1e6 };"
        " for (const id of 'qrs') wall.moved(wall.cards.get(id), viewer.match)"
    )
    settled = "(all) => all.filter((each) => each.dataset.settled).length"
    before = cards.evaluate_all(order)
    assert (len(before), cards.evaluate_all(settled)) == (6, 3)
    timed.evaluate(f"wall.drop('{before[0]}', wall.cards.get('{before[0]}'))")
    assert cards.evaluate_all(order) == before[2] + before[1] + before[5] + before[3:5]
    timed.evaluate("viewer.stop()")


def test_two_matches_of_the_same_bots_on_a_map_are_apart(timed: Page) -> None:
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 9])
    timed.evaluate(WALL)
    timed.evaluate(
        "wall.show([]); const { players: { maxie, minnie } } = listed[0];"
        " wall.show([{ ...listed[0], match: 'one' }, { ...listed[0], match: 'twin', players: { maxie: minnie, minnie: maxie } },"
        " { ...listed[0], match: 'other', map: 'usa' }])"
    )
    order = timed.locator(".cards > li").evaluate_all("(all) => all.map((each) => each.dataset.match)")
    assert [each for each in order if each in {"one", "twin", "other"}] == ["one", "other", "twin"]
    timed.evaluate("wall.drop('twin', wall.cards.get('twin'))")  # right behind the last that is no twin
    order = timed.locator(".cards > li").evaluate_all("(all) => all.map((each) => each.dataset.match)")
    assert [each for each in order if each in {"one", "twin", "other"}] == ["one", "other"]
    # A match of them that begins later does not take the place of another one that has ended.
    timed.evaluate(
        "wall.show([]); const [, , other] = [...'abc'].map((match) => ({ ...listed[0], match, map: match }));"
        " wall.show([...'abc'].map((match) => ({ ...listed[0], match, map: match })));"
        " wall.show([...'bc'].map((match) => ({ ...listed[0], match, map: match })).concat({ ...other, match: 'd' }))"
    )
    order = timed.locator(".cards > li").evaluate_all("(all) => all.map((each) => each.dataset.match)")
    assert order == ["c", "b", "d"]
    # Nor when another one is decided, nor when one of two leaves that are behind the others.
    timed.evaluate(
        "wall.show([]); const cards = [...'abcde'].map((match) => ({ ...listed[0], match, map: { d: 'a', e: 'b' }[match] ?? match }));"
        " wall.show(cards); play(9); for (const each of viewer.match.moves) each.thinking = { value: 1e6 }; wall.drop('d', wall.cards.get('d'))"
    )
    places = "(all) => all.map((each) => each.dataset.match)"
    assert timed.locator(".cards > li").evaluate_all(places) == ["a", "b", "c", "e"]
    timed.evaluate("wall.moved(wall.cards.get('a'), viewer.match)")
    assert timed.locator(".cards > li").evaluate_all(places) == ["c", "b", "e", "a"]
    timed.evaluate("viewer.stop()")


def test_the_cards_of_an_event_stay_at_their_places_while_matches_come_and_go(timed: Page) -> None:
    timed.set_viewport_size({"width": 390, "height": 844})
    timed.emulate_media(reduced_motion="reduce")
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 9])
    timed.evaluate(WALL, {"keepsPlaces": True})
    timed.evaluate("wall.element.classList.add('now')")
    cards = timed.locator(".cards.now > li")
    height = timed.evaluate("wall.element.clientHeight")
    timed.evaluate(
        "for (const match of 'no') listed.push({ ...listed[0], match, ply: 0 }); wall.show(listed)"
    )
    places = "(all) => all.map((each) => each.offsetLeft)"
    before = cards.evaluate_all(places)
    timed.evaluate(
        "play(0, { winner: 'maxie', reason: 'resignation' }); viewer.playback.jump(); tell(); wall.show([listed[2]])"
    )
    timed.clock.run_for(10_000)
    expect(cards.locator(".summary-of")).to_have_text(
        ["Won in 9 movesItaly", "FinishedItaly", "Starting…Italy"]
    )
    expect(cards.nth(1).locator(".summary-of")).not_to_have_attribute("data-owner", re.compile(""))
    assert cards.evaluate_all(places) == before
    timed.evaluate("wall.show([listed[2], { ...listed[0], match: 'p' }])")
    assert cards.evaluate_all(places) == before
    assert cards.evaluate_all("(all) => all.map((each) => each.dataset.match)") == ["m", "p", "o"]
    timed.evaluate("wall.show([])")
    assert timed.evaluate("wall.element.clientHeight") == height
    timed.evaluate("wall.stop(); viewer.stop()")


def test_a_replay_is_not_cut_short_by_a_match_that_begins(timed: Page) -> None:
    timed.evaluate(DIRECTED)
    timed.wait_for_function("() => window.began.length === 1")
    timed.evaluate(f"director.offer({{ matches: [{RIVAL}], bots: [] }})")
    timed.clock.run_for(10 * BEAT_MS)
    assert timed.evaluate("playback.at") >= 8
    assert timed.evaluate("director.id") != "rival"
    timed.clock.run_for(BEAT_MS * timed.evaluate("playback.last - playback.at"))
    assert timed.evaluate("playback.isOver")
    assert timed.evaluate("director.following.match") == "rival", "what comes next can be announced"
    # no longer: nothing is known of the rival, so that it is soon given up
    timed.clock.run_for(END_MS + BEAT_MS)
    assert timed.evaluate("director.id") == "rival"
    shown = timed.evaluate("[1, 2].map(() => director.leave('late')) && director.shown")
    assert "late" not in shown, "a record that is requested once more does not count as shown"
    timed.evaluate("director.stop()")


def test_a_final_comes_first_then_good_bots_that_are_close_and_a_person_before_weak_ones(timed: Page) -> None:
    strong, uneven, person, weak, other, final = timed.evaluate(INTEREST)
    assert final > strong > person > weak
    assert strong > uneven
    assert strong > other
    assert timed.evaluate(RANKED, []) == [["italy", "world"], "italy"]
    assert timed.evaluate(RANKED, [["shown", "italy"]]) == [["world", "italy"], "italy"], (
        "boards have different maps"
    )


def path_of_four(*armies: tuple[str, int]) -> dict[str, Any]:
    """The setup of four territories in a row with these armies."""
    return {
        "territories": ["Mali", "Egypt", "Spain", "Gaul"],
        "neighbours": [[1], [0, 2], [1, 3], [2]],
        "places": [[0, 0], [1, 0], [2, 0], [3, 0]],
        "territory_cap": 90,
        "armies_to_win": 90,
        "ply_limit": 100,
        "start": [*armies, *[None] * (4 - len(armies))],
    }


def test_a_match_is_tense_while_its_chances_are_even_or_have_just_changed(timed: Page) -> None:
    even = path_of_four(("minnie", 9), ("minnie", 20), ("maxie", 20), ("maxie", 9))
    decided = path_of_four(("minnie", 9), ("minnie", 20), ("maxie", 40), ("maxie", 9))
    swung, calm = timed.evaluate(TENSION, [even, [[2, 1]]])
    assert swung > calm, "the same position, which a battle has led to or nothing"
    lopsided, _ = timed.evaluate(TENSION, [decided, []])
    assert calm > lopsided >= 0


def test_of_two_matches_the_closer_one_is_chosen(browser: Browser, tmp_path: Path) -> None:
    with (
        run_arena(tmp_path, "--set=pool.matchmaker=false") as running,
        ExitStack() as stack,
    ):
        url = running.url.replace("http", "ws", 1)
        order = []
        for map_name in ("path4", "italy"):  # Minnie begins with 3 armies against 2, and with 10 against 8
            ann, bob = (
                stack.enter_context(Guest.at(url, f"{name}-{map_name}", "127.0.0.1"))
                for name in ("ann", "bob")
            )
            bob.hear("welcome")
            ann.challenge(f"bob-{map_name}", "riskless", map_name)
            bob.say(type="accept", challenge=bob.hear("challenged")["challenge"])
            order.append(bob.begin())
            ann.begin()
        context = new_context(browser)
        page = context.new_page()
        stop_clock(page, f"{running.url}file")  # the director waits for the server as long as it takes
        assert page.evaluate(CHOSEN, order) == order[1]
        assert page.evaluate(CHOSEN, order[::-1]) == order[1]
        context.close()


def test_the_board_of_another_match_is_shown_where_nothing_moves_for_a_while(timed: Page) -> None:
    timed.evaluate(DIRECTED)
    timed.wait_for_function("() => window.began.length === 1")
    timed.evaluate(QUIET, make_game_on_map("riskless", "m2").setup())
    timed.evaluate(f"director.offered = [{RIVAL}]")
    timed.clock.run_for(11_000)
    assert timed.evaluate("director.id") == "quiet"
    timed.clock.run_for(2000)
    assert timed.evaluate("director.id") == "rival"
    timed.evaluate("director.stop()")


def test_a_match_decided_for_long_makes_way_for_a_closer_one_but_not_before_its_end(timed: Page) -> None:
    start = [("minnie", 15), ("minnie", 15), ("maxie", 100), ("maxie", 30)]
    there_and_back = [[3, 2], [0, 1], [2, 3], [1, 0]]
    close, lopsided = ([["minnie", 30], None, None, ["maxie", armies]] for armies in (30, 130))
    resigned = {"winner": "maxie", "reason": "resignation"}
    for goal, rivals, end, followed in (
        (300, [close], None, ["rival-0"]),
        (300, [lopsided, close], None, ["rival-1"]),
        (300, [lopsided], None, []),
        (300, [close], resigned, []),
        (170, [close], None, []),  # near its goal
    ):
        setup = {**path_of_four(*start), "territory_cap": 250, "armies_to_win": goal}
        timed.evaluate(DIRECTED)
        timed.wait_for_function("() => window.began.length === 1")
        timed.evaluate(DECIDED, [setup, 4 * there_and_back, rivals, end])
        timed.clock.run_for(3 * BEAT_MS)
        assert timed.evaluate("followed") == [], "a match that has just begun stays for a while"
        timed.clock.run_for(8 * BEAT_MS)
        assert timed.evaluate("followed") == followed, (goal, rivals, end)
        timed.evaluate("director.stop()")


def test_turning_points_are_told_in_a_sentence_each(timed: Page) -> None:
    setup = path_of_four(("minnie", 5), ("minnie", 6), ("maxie", 20))
    continents = [["Africa", [0, 1]], ["Europe", [2, 3]]]
    # Maxie takes Egypt with 20 against 6; Minnie tries to have it back with 6 against 15, and fails.
    moves = [[2, 1], [0, 1], [2, 3]]
    told = timed.evaluate(STORY, [setup, moves, continents, {"winner": "maxie", "reason": "resignation"}])
    words = dict(told["told"])
    assert words[1] in ("Boudica takes Egypt", "Sun-Tzu loses Africa")
    assert words[2] == "Boudica holds Egypt"
    assert told["seats"] == ["maxie" if each.startswith("Boudica") else "minnie" for _, each in told["told"]]
    assert words[3] == "Boudica wins"
    assert told["key"] == [], "the chances hardly change"
    assert told["sentences"] == [f"First to {setup['armies_to_win']} armies wins", *words.values()]
    told = timed.evaluate(STORY, [setup, moves, [], None])
    assert told["sentences"][2:] == ["Boudica holds Egypt", "Boudica is winning"]


def test_a_player_is_told_of_a_battle_that_changes_the_favourite(timed: Page) -> None:
    setup = path_of_four(("minnie", 19), ("minnie", 5), ("maxie", 20))
    told = timed.evaluate(STORY, [setup, [[2, 1, 900], [0, 1, 900]], [], None])
    assert told["sentences"][1] == "Boudica becomes the favourite"
    assert told["players"][:2] == ["", "Boudica takes Egypt"]


def test_a_screen_reader_hears_once_that_a_player_nears_the_goal_and_no_old_events(timed: Page) -> None:
    setup = path_of_four(("minnie", 58), ("minnie", 13), ("maxie", 16), ("maxie", 55))
    # Sun-Tzu comes near with the second move, loses territory with the third, and comes near again and again.
    moves = [[2, 3], [1, 2], [3, 2], *4 * [[0, 1], [2, 3], [1, 0], [3, 2]]]
    told = timed.evaluate(STORY, [setup, moves, [], None])
    near = "Sun-Tzu: 15 to go"
    assert [each for each in told["told"] if "to go" in each[1]] == [[2, near]]
    heard = [words for words, _ in groupby(told["aloud"])]
    assert heard.count(near) == 1
    assert told["sentences"][-1]
    assert told["aloud"][-1] == "", "the last event is too old"


def test_a_favourite_is_told_at_first_and_at_last_and_who_is_near_the_goal_while_it_is_so(
    timed: Page,
) -> None:
    setup = path_of_four(("minnie", 9), ("minnie", 20), ("maxie", 20), ("maxie", 9))
    # Both move armies to and fro; the last of the five values is far better for Minnie, the two before a little.
    moves = [[3, 2, 900], [0, 1, 900], [2, 3, -100], [1, 0, -100], [3, 2, -900]]
    told = timed.evaluate(STORY, [setup, moves, [], None])["told"]
    assert told == [
        [1, "Boudica becomes the favourite"],
        [4, "Boudica is no longer the favourite"],
        [5, "Sun-Tzu becomes the favourite"],
    ]
    there_and_back = [[3, 2], [0, 1], [2, 3], [1, 0]]
    level = [[3, 2, 900], [0, 1, 900], [2, 3, 1], [1, 0, 1]]  # at the end 50.05 %, which the bar calls even
    told = timed.evaluate(STORY, [setup, level, [], None])["told"]
    assert told == [[1, "Boudica becomes the favourite"], [4, "Boudica is no longer the favourite"]]
    for value, after in ((0, "Too close to call"), (900, "Boudica is the favourite")):
        told = timed.evaluate(STORY, [setup, [[*move, value] for move in 4 * there_and_back], [], None])
        first = "Boudica becomes the favourite" if value else f"First to {setup['armies_to_win']} armies wins"
        assert told["sentences"][1] == first
        assert told["sentences"][8] == told["sentences"][-1] == after
        assert told["key"] == ([1] if value else [])
    fleeting = [[*move, 900 if n < 2 else 0] for n, move in enumerate(4 * there_and_back)]
    told = timed.evaluate(STORY, [setup, fleeting, [], None])
    assert told["told"][0] == [1, "Boudica becomes the favourite"]
    assert told["key"] == [4], "a favourite for two moves is no turning point, but the loss is"
    near = path_of_four(("minnie", 9), ("minnie", 20), ("maxie", 60), ("maxie", 10))
    told = timed.evaluate(STORY, [near, [[3, 2], [0, 1]], [], None])["told"]
    assert told[0] == [1, "Boudica becomes the favourite"], "what has more weight is told"
    almost = path_of_four(("minnie", 50), ("minnie", 19), ("maxie", 60), ("maxie", 8))
    told = timed.evaluate(STORY, [almost, [[3, 2], [0, 1], [2, 3]], [], None])
    nearing = ["Sun-Tzu: 17 to go", "Sun-Tzu: 15 to go"]
    assert told["sentences"][2:] == nearing, "Boudica has 72 armies, Sun-Tzu 73"
    told = timed.evaluate(STORY, [almost, [[3, 2], [0, 1], [2, 3, 100]], [], None])
    assert told["sentences"][3] == "First to 90 armies wins", (
        "the player with more armies has the smaller chance"
    )
    assert told["players"][3] == "Sun-Tzu: 15 to go", "the armies alone decide"


def test_with_reduced_motion_the_board_changes_only_when_it_is_asked_to(
    empty: BrowserArena, timed: Page
) -> None:
    timed.emulate_media(reduced_motion="reduce")
    timed.goto(empty.url)
    stage = timed.locator(".stage:not(.first)")
    expect(stage.locator(".map .area-of").first).to_be_visible()
    timed.clock.run_for(BEAT_MS)
    timed.evaluate("""() => { window.changes = 0;
      new MutationObserver((all) => { window.changes += all.length; }).observe(document.querySelector('.stage'), { subtree: true, childList: true, attributes: true, characterData: true }); }""")
    timed.clock.run_for(12_000)
    assert timed.evaluate("changes") == 0
    stage.get_by_role("button", name="Play").click()
    timed.clock.run_for(3 * BEAT_MS)
    assert timed.evaluate("changes") > 0


def test_a_finished_match_opens_at_its_start_and_tells_its_end_last(
    empty: BrowserArena, page: Page, tmp_path: Path
) -> None:
    record = made_up("italy")
    plies = len(record.moves)
    file = tmp_path / "one.jsonl"
    file.write_text(format_record_line(record) + "\n", encoding="utf-8")
    page.goto(f"{empty.url}file")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".told")).to_have_text(re.compile(r"^Move (?!1,)\d+,"))  # it plays by itself
    assert "ada wins" not in page.locator("main").inner_text()
    assert page.locator(".moves li").count() < plies
    page.keyboard.press("End")
    expect(page.locator(".story")).to_have_text(re.compile(r"^ada wins \d+\s:\s\d+$"))
    expect(page.locator(".told")).to_have_text(re.compile(f" · Move {plies},"))
    expect(page.locator(".moves li")).to_have_count(plies)
    expect(page.get_by_role("button", name="Play highlights")).to_be_hidden()  # no move turned this match


def test_bots_that_hurry_are_watched_and_nothing_on_the_page_moves_away(
    hasty: BrowserArena, page: Page
) -> None:
    page.add_init_script(MEASURE_LAYOUT_SHIFT_SCRIPT)
    stage = page.locator(".stage:not(.first)")
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(hasty.url)
        expect(stage.locator(".map .spot[data-owner=maxie]").first).to_be_visible()
        seen: set[str | None] = set()

        def moves(seen: set[str | None] = seen) -> bool:
            seen.add(stage.locator(".map").get_attribute("aria-label"))
            return len(seen) >= 8

        with hasty.speed_up_bots(0.01):
            wait_until(moves)
        assert page.evaluate("shifted") < 0.05
    page.goto(f"{hasty.url}event/serve")  # its matches come and go
    cards = page.locator(".cards.now")
    expect(cards.locator(".small-board").first).to_be_visible()
    first = cards.locator("[data-match]").first.get_attribute("data-match")
    with hasty.speed_up_bots(0.01):
        expect(cards.locator(f"[data-match='{first}']")).to_have_count(0)
    assert page.evaluate("shifted") < 0.05


def test_four_boards_show_four_matches_or_as_many_as_there_are(
    hasty: BrowserArena, empty: BrowserArena, page: Page
) -> None:
    page.goto(f"{empty.url}tv/4")  # nobody has ever played there: one match comes with the page
    expect(page.locator(".tv .stage").filter(visible=True)).to_have_count(1)
    expect(page.locator(".tv .stage .map")).to_have_count(1)
    page.set_viewport_size({"width": 390, "height": 844})
    page.add_init_script(MEASURE_LAYOUT_SHIFT_SCRIPT)
    page.goto(f"{hasty.url}tv/4")
    expect(page.locator(".tv .stage").filter(visible=True)).to_have_count(4)
    expect(page.locator(".tv .stage .map").nth(3)).to_be_visible()
    assert page.evaluate("shifted") < 0.05
    # A stage that goes on shows its last match until the next one is loaded, and another stage may have that one by then.
    page.wait_for_function(
        "() => new Set([...document.querySelectorAll('.tv .stage a:not(.name)[href]')].map((each) => each.getAttribute('href'))).size === 4"
    )


def test_four_boards_are_paused_together_and_each_opens_its_match(hasty: BrowserArena, page: Page) -> None:
    page.goto(f"{hasty.url}tv/4")
    expect(page.locator(".tv .stage .map").first).to_be_visible()
    pause, play = (page.get_by_role("button", name=name, exact=True) for name in ("Pause", "Play"))
    pause.click()
    expect(page.locator(".tv .badge[data-state=live], .tv .badge[data-state=delayed]")).to_have_count(0)
    play.click()
    expect(page.locator(".tv .badge[data-state=paused]")).to_have_count(0)
    pause.click()
    expect(play).to_be_visible()
    board = page.get_by_role("link", name="Open match:").first
    match = board.get_attribute("href")
    board.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".viewer .map")).to_be_visible()
    page.wait_for_url(f"**{match}")


def test_the_end_on_one_of_four_boards_covers_no_land(timed: Page) -> None:
    timed.evaluate(FINISHED, make_game_on_map("riskless", "italy").setup())
    timed.clock.run_for(1000)
    stage = timed.locator(".minor")
    expect(stage.get_by_role("img", name="ann wins")).to_be_visible()
    expect(stage.locator(".player > .name").first).to_have_attribute("title", "ann")
    result = stage.locator(".story")
    expect(result).to_have_text("Won in 0 moves")
    expect(stage.locator(".latest")).to_have_text(re.compile("^By resignation"))
    expect(stage.get_by_role("heading", level=2)).to_contain_text("Final")
    for width, height in ((1280, 900), (1024, 768), (768, 1024), (360, 640)):
        timed.set_viewport_size({"width": width, "height": height})
        assert not find_truncated_texts(result)
        board = box_of(stage.locator(".stage-board"))
        line = box_of(result)
        assert line["y"] + line["height"] <= board["y"] or line["x"] >= board["x"] + board["width"]
        words = result.inner_text()
        result.evaluate("(line) => line.textContent = 'A long sentence '.repeat(30)")
        assert box_of(stage.locator(".stage-board")) == board, "a long sentence moves nothing"
        result.evaluate("(line, words) => line.textContent = words", words)


def test_names_and_map_of_a_small_board_on_a_tablet_are_whole(timed: Page) -> None:
    timed.evaluate(FINISHED, make_game_on_map("riskless", "italy").setup())
    timed.evaluate("minor.playback.match.players = { maxie: 'alphabeta', minnie: 'greedybot' }")
    for width, height in ((768, 1024), (1024, 768)):
        timed.set_viewport_size({"width": width, "height": height})
        timed.evaluate("minor.show(0)")
        timed.clock.run_for(1000)
        names = timed.locator(".minor .player > .name")
        expect(names).to_have_text(["alphabeta", "greedybot"])
        kind = timed.locator(".minor .kind")
        expect(kind).to_have_text("Italy")
        assert not find_truncated_texts(names)
        assert not find_truncated_texts(kind)
        name, title = box_of(names.first), box_of(kind)
        assert title["y"] >= name["y"] + name["height"], "the map has a line of its own"


def test_the_bar_of_a_finished_match_names_the_winner_on_a_phone(timed: Page) -> None:
    timed.set_viewport_size({"width": 360, "height": 640})
    timed.evaluate(HURRIED, [make_game_on_map("riskless", "italy").setup(), 3])
    won = timed.locator(".share-of", has_text="wins")
    timed.evaluate(
        "play(0, { winner: 'maxie', reason: 'resignation' }); viewer.playback.reveal(); viewer.go(3)"
    )
    expect(won).to_have_text("ann wins")
    name, wins = won.locator("span").all()
    expect(name).to_have_css("clip-path", "none")
    timed.evaluate("viewer.match.players.maxie = 'a long name '.repeat(9); viewer.refresh()")
    expect(name).to_contain_text("a long name")
    bar, last = box_of(timed.locator(".tug-bar")), box_of(wins)
    assert last["x"] + last["width"] <= bar["x"] + bar["width"]
    assert last["height"] <= bar["height"], "one line"


def test_a_board_says_final_when_the_last_move_is_told(timed: Page) -> None:
    timed.evaluate(FINISHED, make_game_on_map("riskless", "italy").setup())
    badge = timed.locator(".minor .badge")
    timed.clock.run_for(1000)
    expect(badge).to_have_text("Final")
    timed.evaluate(
        """() => {
          const { match } = minor.playback;
          match.add({ move: match.game.moves(match.last)[0] });
          minor.playback.at = 1;
          minor.tell(0);
        }"""
    )
    expect(badge).to_have_text("Live")  # its armies travel
    timed.evaluate("minor.tell(1)")
    expect(badge).to_have_text("Final")
    timed.set_viewport_size({"width": 360, "height": 640})
    line = timed.locator(".minor .story")
    line.evaluate("(line) => { line.textContent = 'Draw after 1000 moves'; delete line.dataset.owner; }")
    assert not find_truncated_texts(line)


def test_names_are_codes_and_each_move_has_a_result_in_the_list_of_moves_of_a_phone_alone(
    empty: BrowserArena, page: Page
) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(f"{empty.url}tv")
    expect(page.locator(".tv-aside .moves .battle").first).to_be_visible()
    names = page.locator(".tv-aside .moves .text")
    place = page.locator(".tv-aside .moves .text > span").first
    expect(place).to_have_attribute("data-short", re.compile("^[A-Z]{3}$"))
    expect(place).not_to_have_css("font-size", "0px")
    expect(page.locator(".tv-aside .moves a:not(:has(.battle))")).to_have_count(0)
    page.set_viewport_size({"width": 844, "height": 390})
    expect(place).to_have_css("font-size", "0px")
    assert not find_truncated_texts(names)
    expect(page.locator(".tv-aside .moves [aria-current] .battle")).to_be_visible()


def test_the_words_beside_a_small_board_list_its_latest_moves(timed: Page) -> None:
    timed.evaluate(FINISHED, make_game_on_map("riskless", "italy").setup())
    timed.evaluate(
        """() => {
          const { match } = minor.playback;
          match.end = null;
          for (let n = 0; n < 20; n++) match.add({ move: match.game.moves(match.last)[0] });
          minor.tell(2);
        }"""
    )
    moves = timed.locator(".minor .latest-moves > li")
    expect(moves).to_have_count(2)
    expect(moves.first).to_contain_text(re.compile("^2.+ → "))
    goal = timed.locator(".minor").get_by_text("First to 220", exact=True)
    timed.evaluate("minor.tell(20)")
    for width, height in ((1920, 1080), (1280, 720)):
        timed.set_viewport_size({"width": width, "height": height})
        expect(moves.first).to_be_in_viewport(ratio=1)
        expect(goal).to_be_in_viewport(ratio=1)
        expect(timed.locator(".minor .badge")).to_be_in_viewport(ratio=1)
    for width, height in ((1024, 768), (768, 1024), (360, 640), (844, 390)):
        timed.set_viewport_size({"width": width, "height": height})
        expect(goal).to_be_hidden()
        expect(timed.locator(".minor .goal-of").filter(visible=True)).to_have_text([" / 220"])


MET = f"""async ([setup, table]) => {{ {FROM}
  const [{{ Match }}, {{ meeting }}] = [await from('match.js'), await from('parts/meeting.js')];
  const match = new Match({{ match: 'm', game: 'riskless', setup, players: {{ maxie: 'ann', minnie: 'bob' }}, time_control: '1+0' }});
  document.querySelector('main').replaceChildren(...meeting(match, table));
}}"""
"""Shows what is known of the players of a match before its first move."""


def test_before_the_moves_the_ratings_of_both_players_and_their_points_against_each_other_are_told(
    timed: Page,
) -> None:
    setup = make_game_on_map("riskless", "italy").setup()
    timed.evaluate(MET, [setup, None])
    expect(timed.locator("main tbody th")).to_have_text(["Territories at the start", "Armies at the start"])
    standing = {"game": "riskless", "bot": "ann", "rating": 1463.7, "won": 3, "matches": 9}
    score = {"bot": "ann", "opponent": "bob", "won": 2, "drawn": 1, "lost": 0}
    timed.evaluate(MET, [setup, {"standings": [standing], "crosses": {"riskless": [score]}}])
    rows = timed.locator("main tbody tr")
    expect(rows.nth(0)).to_have_text("Rating1464none yet")
    expect(rows.nth(1)).to_have_text("Matches won3 of 90")
    expect(rows.nth(2)).to_have_text("Against each other2.50.5")


SCORED = f"""async ([setup, players, rated]) => {{ {FROM}
  const [{{ Match }}, {{ Stage }}] = [await from('match.js'), await from('home/stage.js')];
  const match = new Match({{ match: 'm', game: 'riskless', setup, players, time_control: '1+0' }});
  const stage = new Stage();
  stage.director.continents = [];
  stage.director.rate(rated.map((bot) => ({{ game: 'riskless', bot, rating: 1463.7 }})));
  document.querySelector('main').replaceChildren(stage.element);
  stage.begin(match, {{ match, at: 0, live: true, isOver: false, behind: 0, running: true, end: null }});
  stage.show(0);
}}"""
"""Shows the start of a match between `players`, of whom those in `rated` have a rating."""


RANK_IS_SEEN = """(rank) => {
  const text = document.createRange();
  text.selectNodeContents(rank);
  const [words, place] = [text.getBoundingClientRect(), rank.getBoundingClientRect()];
  return words.bottom <= place.bottom + 1;
}"""
"""Tells whether the text of an element that leaves out what does not fit is in sight."""


def test_the_scoreboard_of_a_large_board_has_ratings_and_the_armies_that_win(timed: Page) -> None:
    players = {"maxie": "ann", "minnie": "bob"}
    timed.evaluate(SCORED, [make_game_on_map("riskless", "italy").setup(), players, ["ann"]])
    timed.clock.run_for(1000)
    expect(timed.locator(".rank-of")).to_have_text(["rated 1464", ""])
    expect(timed.locator(".rank-of").first).to_be_visible()
    expect(timed.locator(".goal-of").first).to_contain_text("/ 220")
    expect(timed.locator(".race")).to_have_count(0)  # the bar of chances is the only one


def test_a_rating_is_shown_as_a_whole_or_not_at_all(timed: Page) -> None:
    players = {"maxie": "House AlphaBeta", "minnie": "Iterative Jamboree"}
    timed.evaluate(SCORED, [make_game_on_map("riskless", "world").setup(), players, [*players.values()]])
    timed.clock.run_for(1000)
    scoreboard, rank = timed.locator(".stage > .scoreboard"), timed.locator(".rank-of").first
    seen = []
    for width in range(780, 1400, 20):
        scoreboard.evaluate("(each, width) => { each.style.width = `${width}px`; }", width)
        assert not find_truncated_texts(scoreboard.locator(".rank-of")), width
        seen.append(rank.evaluate(RANK_IS_SEEN))
    assert set(seen) == {True, False}


def test_a_scoreboard_with_the_longest_names_is_no_wider_than_a_phone(timed: Page) -> None:
    timed.set_viewport_size({"width": 390, "height": 780})
    players = {"maxie": "W" * 57, "minnie": "M" * 57}
    timed.evaluate(SCORED, [make_game_on_map("riskless", "italy").setup(), players, []])
    timed.clock.run_for(1000)
    expect(timed.locator(".tug-bar > .share-of .name").last).to_have_text(players["minnie"])
    assert timed.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_board_has_most_of_a_laptops_window_with_whole_names_and_a_phone_on_its_side_shows_all_of_the_stage(
    empty: BrowserArena, page: Page
) -> None:
    for address in ("", "tv"):
        page.goto(f"{empty.url}{address}")
        expect(page.locator(".stage:not(.first) .map .area-of").first).to_be_visible()
        for width, height in ((1280, 720), (1366, 768)):
            page.set_viewport_size({"width": width, "height": height})
            box = box_of(page.locator(".stage-board"))
            assert box["height"] > 0.6 * height
            assert box["y"] + box["height"] < height
            if address:  # beside it are the curve and the moves
                expect(page.locator(".tv .plot svg")).to_be_in_viewport(ratio=1)
                expect(page.locator(".tv .moves [aria-current]")).to_be_in_viewport(ratio=1)
                expect(page.locator(".lands > *").first).to_be_in_viewport(ratio=1)
        for width, height in ((844, 390), (667, 375)):
            page.set_viewport_size({"width": width, "height": height})
            for part in (".stage-board", ".stage-title", ".scoreboard", ".stage-actions", ".story"):
                expect(page.locator(f".stage {part}").first).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 880, "height": 640})
    names = page.locator(".stage .scoreboard .name")
    expect(names.first).to_have_text("Boudica")
    assert not find_truncated_texts(names)


WINDOWS = [(768, 1024), (1024, 768), (1280, 720)]
"""Width and height of windows in which four boards are in sight."""

IN_SIGHT = """() => {
  const tabs = document.querySelector('nav').getBoundingClientRect();
  const bottom = tabs.width === innerWidth ? tabs.top : innerHeight;
  return [...document.querySelectorAll('.tv .stage-board')].map((each) => each.getBoundingClientRect())
    .map((box) => box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= bottom);
}"""
"""Tells of each board whether all of it is in the window, and above the tabs of a phone."""


def test_four_boards_fit_a_window_and_are_equal(hasty: BrowserArena, page: Page) -> None:
    page.goto(f"{hasty.url}tv/4")
    boards = page.locator(".tv .stage-board")
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        expect(boards.filter(visible=True)).to_have_count(4)
        page.evaluate("scrollTo(0, 0)")
        wait_until(lambda: page.evaluate(IN_SIGHT).count(True) == 4)
        expect(page.get_by_role("button", name="Pause")).to_be_in_viewport(ratio=1)
        first, *others = map(box_of, boards.all())
        assert len({(each["width"], each["height"]) for each in (first, *others)}) == 1
        assert len({each["x"] for each in (first, *others)}) == 2, "two rows of two"
        assert first["height"] > 0.15 * height
        expect(page.locator(".tv .player > .name")).to_have_count(8)
        lines = page.locator(".tv .story")
        expect(lines.filter(visible=True)).to_have_count(4)
        wait_until(lambda: not find_truncated_texts(page.locator(".tv :is(.player > .name, .story)")))
        assert all(
            box_of(line)["y"] < box_of(board)["y"]
            or box_of(line)["x"] > box_of(board)["x"] + box_of(board)["width"]
            for board, line in zip(boards.all(), lines.all(), strict=True)
        )
        if width >= 1.5 * height:  # the words are beside the map, which has all of the height
            assert box_of(lines.first)["x"] > first["x"] + first["width"]
            assert first["height"] > 0.38 * height
        if width > 960:
            areas = [each["width"] * each["height"] for each in (first, *others)]
            assert sum(areas) > 0.5 * width * height
    boards.first.click(position={"x": 20, "y": 20})
    expect(page).to_have_url(re.compile("/match/"))
