"""The start page before its scripts are loaded: a match on its map, with armies and winning chances."""

from __future__ import annotations

import random
from dataclasses import replace
from xml.etree import ElementTree as ET

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.riskless import Riskless
from arena.maps.chance import compute_maxie_winning_chance
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import list_built_in_map_names, load_annotated_map
from arena.protocol.messages import Played, View
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks, Players, Thinking
from arena.server.host import ArenaServer
from arena.server.web.initial_page import (
    INTRODUCTION_ELEMENT,
    InitialPage,
    StartPageMatch,
    load_demo_match,
    render_introduction_with_match,
)
from tests.server.web.test_web_app import get, live_match

CONTROL = TimeControl.parse("1/move")


def random_match(name: str, plies: int, players: Players | None = None) -> tuple[StartPageMatch, list[int]]:
    """Return a match of random moves on a map, and the armies on each territory after it."""
    rules, chance = make_game_on_map("riskless", name), random.Random(plies)
    assert isinstance(rules, Riskless)
    position, moves = rules.start(), list[Played]()
    while len(moves) < plies and rules.outcome(position) is None:
        move = chance.choice(rules.moves(position))
        position = rules.play(position, move)
        moves.append(Played(rules.move_to_data(move), 20.0))
    names = players or Players("ada", "bob")
    return StartPageMatch("m", "riskless", rules.setup(), names, moves, is_live=True), list(position.armies)


def parse_page(made: bytes) -> ET.Element:
    return ET.fromstring(made.decode())


def get_owner(armies: int) -> str:
    return "maxie" if armies > 0 else "minnie" if armies < 0 else "nobody"


@pytest.mark.parametrize("name", [*list_built_in_map_names(), "ring:8", "grid:3x4"])
@pytest.mark.parametrize("plies", [0, 25])
def test_every_territory_has_its_owner_and_armies(name: str, plies: int) -> None:
    shown, armies = random_match(name, plies)
    picture = parse_page(render_introduction_with_match(shown))
    spots = picture.findall(".//g[@class='spot']")
    assert [each.get("data-owner") for each in spots] == [get_owner(n) for n in armies]
    assert ["".join(each.itertext()) for each in spots] == [str(abs(n)) if n else "" for n in armies]
    areas = picture.findall(".//path[@class='area-of']")
    if name in list_built_in_map_names():
        assert [each.get("data-owner") for each in areas] == [get_owner(n) for n in armies]
    else:
        assert not areas


def test_the_page_preloads_its_map() -> None:
    for name, asked in (("usa", "/api/map/usa"), ("ring:6", None)):
        early = parse_page(render_introduction_with_match(random_match(name, 3)[0])).find(
            ".//link[@rel='preload']"
        )
        assert (None if early is None else early.get("href")) == asked


def test_the_leading_player_has_the_chance_of_winning() -> None:
    shown, armies = random_match("usa", 40)
    picture = parse_page(render_introduction_with_match(shown))
    sums = [sum(n for n in armies if n > 0), -sum(n for n in armies if n < 0)]
    share = compute_maxie_winning_chance(
        sums[0] - sums[1], "usa", load_annotated_map("usa").map.armies_to_win
    )
    assert get_labels(picture) == [
        f"{name} {round(100 * each)} %"
        for name, each in ((shown.players.maxie, share), (shown.players.minnie, 1 - share))
    ]
    assert [each.text for each in picture.findall(".//*[@class='total']/strong")] == [
        str(each) for each in sums
    ]
    bar = picture.find(".//*[@class='tug-bar']/svg/rect[@class='maxie']")
    assert bar is not None
    assert bar.get("width") == str(round(100 * share))
    assert picture.find(".//a[@href='/match/m']") is not None


def test_the_chance_of_winning_is_the_mean_of_both_bots_latest_values() -> None:
    shown, _ = random_match("usa", 40)
    values = [*[None] * 36, 90_000.0, -5_000.0, 5_000.0, None]
    moves = [
        Played(each.move, each.ms, Thinking(value=value))
        for each, value in zip(shown.moves, values, strict=True)
    ]
    goal = load_annotated_map("usa").map.armies_to_win
    mean = (
        compute_maxie_winning_chance(50, "usa", goal) + compute_maxie_winning_chance(-50, "usa", goal)
    ) / 2
    assert mean == pytest.approx(0.5)
    assert get_labels(parse_page(render_introduction_with_match(replace(shown, moves=moves)))) == [
        f"{shown.players.maxie} 50 %",
        f"{shown.players.minnie} 50 %",
    ]
    certain = [Played(each.move, each.ms, Thinking(value=1e6)) for each in shown.moves]
    assert get_labels(parse_page(render_introduction_with_match(replace(shown, moves=certain)))) == [
        f"{shown.players.maxie} 99 %",
        f"{shown.players.minnie} 1 %",
    ]


def get_labels(picture: ET.Element) -> list[str]:
    """Return the label at each end of the bar of winning chances."""
    labels = picture.findall(".//strong[@class='share-of']")
    return [" ".join(filter(None, (part.text for part in each))) for each in labels]


@given(st.text(max_size=30), st.text(max_size=30))
def test_names_of_bots_are_escaped(one: str, other: str) -> None:
    markup = f"<script>alert('{one}')</script><!-- head -->&amp;\"{other}"
    printed = "".join(each for each in markup if each.isprintable())
    shown, _ = random_match("m2", 3, Players(printed, "<!-- first -->"))
    picture = parse_page(render_introduction_with_match(shown))
    names = [each.text for each in picture.findall(".//span[@class='name']") if each.text]
    assert names[:2] == [printed, "<!-- first -->"]
    assert picture.find(".//script") is None
    assert b"<!--" not in render_introduction_with_match(shown)


def test_an_unknown_game_is_not_drawn() -> None:
    shown, _ = random_match("m2", 3)
    wrong = [Played([0, 0], 20.0)]
    for game, moves in (("tictactoe", []), ("nothing", []), ("riskless", wrong)):
        assert render_introduction_with_match(replace(shown, game=game, moves=moves)) == INTRODUCTION_ELEMENT


def test_the_last_position_of_a_match_stays_after_its_end() -> None:
    shown, _ = random_match("m2", 3)
    moves = list(shown.moves)
    view = View("m", "e", shown.game, dict(shown.setup), shown.players, CONTROL, moves, Clocks(1, 1), "maxie")
    page = InitialPage()
    assert page.render(view) == render_introduction_with_match(shown)
    assert page.render(None) == render_introduction_with_match(replace(shown, is_live=False)), (
        "the last match stays, no longer live"
    )


def test_the_built_in_match_is_shown_at_first() -> None:
    made = InitialPage().render(None)
    assert made == render_introduction_with_match(load_demo_match())
    picture = parse_page(made)
    assert picture.find(".//svg") is not None
    assert picture.find(".//section//a[@href]") is None, "the built-in match has no page of its own"
    badge = picture.find(".//span[@class='badge']")
    assert badge is not None
    assert badge.text == "Replay"


async def test_only_the_start_page_shows_a_match_in_progress(host: ArenaServer) -> None:
    assert b">Live</span>" not in (await get(host, "/"))[2]
    async with live_match(host, "riskless") as match:
        with anyio.fail_after(500):
            while b">Live</span>" not in (page := (await get(host, "/"))[2]):
                await anyio.sleep(0.1)
        assert f"/match/{match}".encode() in page
        assert INTRODUCTION_ELEMENT in (await get(host, "/play"))[2]
        assert INTRODUCTION_ELEMENT in (await get(host, f"/match/{match}"))[2]
