"""The games of examples/games: Connect Four against an independent oracle, both through a match on a real server."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.problem import Problem
from arena.bots.search.search_values import WIN_VALUE
from arena.bots.search.thread_pool import ThreadPool
from arena.games.catalogue import CATALOGUE
from arena.games.core import MAXIE, MINNIE, Game, Player
from arena.games.loading import load_game_class_from_file
from arena.games.riskless import Riskless, RisklessPosition
from arena.maps.game_on_map import has_maps, make_game_on_map
from arena.maps.loader import load_map
from tests.games.own import EXAMPLES, forget_games
from tests.games.setups import random_match
from tests.properties import examples

PAGE = (Path(__file__).parents[2] / "docs" / "games.md").read_text(encoding="utf-8")


def game_of(name: str) -> Game[Any, Any]:
    return load_game_class_from_file(EXAMPLES / f"{name}.py", "").from_setup({})


FOUR = game_of("connect4")


def winner_by_picture(cells: str) -> Player | None:
    """Return the player with four in a row, found in the text of the board by patterns instead of the game's own lines."""
    text = "/".join(cells[row : row + 7] for row in range(0, 42, 7))
    for gap in (0, 7, 6, 8):
        match = re.search(rf"(?=([XO])(?:.{{{gap}}}\1){{3}})", text)
        if match:
            return MAXIE if match[1] == "X" else MAXIE.opponent
    return None


@examples(20)
@given(seed=st.integers(0, 2**32))
def test_connect_four_ends_as_the_picture_shows(seed: int) -> None:
    match = random_match(FOUR, seed)
    for position in match.positions[:-1]:
        assert winner_by_picture(position.cells) is None
    outcome = FOUR.outcome(match.positions[-1])
    assert outcome is not None
    assert outcome.winner is winner_by_picture(match.positions[-1].cells)
    assert outcome.reason_code == ("four_in_a_row" if outcome.winner else "board_full")


DOTS = game_of("dots")


def boxes_ahead(position: Any, known: dict[Any, int]) -> int:
    """Return Maxie's boxes more than Minnie's at the end when both play as well as they can: counted box by box."""
    if position not in known:
        moves = DOTS.moves(position)
        after = [boxes_ahead(DOTS.successor(position, move), known) for move in moves]
        best = max if position.player is MAXIE else min
        known[position] = best(after) if after else DOTS.estimate(position)
    return known[position]


@examples(30)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(sorted(ALGORITHMS)), left=st.integers(1, 6))
def test_every_search_knows_who_moves_again_in_dots_and_boxes(seed: int, name: str, left: int) -> None:
    match = random_match(DOTS, seed)
    position = match.positions[-1 - left]
    with ThreadPool(2) as pool:
        problem = Problem(DOTS, lambda _: 0)
        result = ALGORITHMS[name].run(problem, position, left, SearchMonitor(), AlgorithmSettings(pool))
    ahead = boxes_ahead(position, {})
    winner = (ahead > 0) - (ahead < 0)
    assert result.value == winner * (WIN_VALUE - left)


def test_the_match_in_which_a_player_moves_again_is_played_and_told() -> None:
    match = random_match(DOTS, 3)
    movers = [position.player for position in match.positions[:-1]]
    assert any(one is other for one, other in pairwise(movers))
    outcome = DOTS.outcome(match.positions[-1])
    assert outcome is not None
    assert outcome.winner is None or str(outcome).endswith(f", by {outcome.margin})")
    drawn = DOTS.picture(match.positions[-1])
    assert sum(map(drawn.count, "XO")) == 4
    assert (drawn.count("|"), drawn.count("--")) == (6, 6)


def test_a_full_board_without_four_is_a_draw() -> None:
    cells = "".join("XXOOXXO" if row % 2 else "OOXXOOX" for row in range(6))
    position = FOUR.position_from_data({"cells": cells})
    assert winner_by_picture(cells) is None
    outcome = FOUR.outcome(position)
    assert outcome is not None
    assert str(outcome) == "draw (board full)"


def test_connect_four_counts_as_it_is_known_to() -> None:
    """The numbers of ways to play: 7 to the power of the ply, until a column can be full or a row of four can stand."""

    def ways(position: Any, depth: int) -> int:
        if not depth:
            return 1
        return sum(ways(FOUR.successor(position, move), depth - 1) for move in FOUR.moves(position))

    assert [ways(FOUR.start(), depth) for depth in range(5)] == [1, 7, 49, 343, 2401]
    # One column alone holds six discs of both players in turn: then it is no move any more.
    position = FOUR.start()
    for row in range(6):
        position = FOUR.play(position, FOUR.move_from_text(f"d{row + 1}"))
    assert "d" not in {FOUR.move_to_text(move)[0] for move in FOUR.moves(position)}


@pytest.mark.parametrize("seed", range(5))
def test_breakthrough_ends_in_a_breakthrough_or_with_all_taken(seed: int) -> None:
    game = game_of("breakthrough")
    match = random_match(game, seed)
    outcome = game.outcome(match.positions[-1])
    assert outcome is not None
    source, target = match.moves[-1]
    mover = game.player(match.positions[-2])
    assert outcome.winner is mover
    reached = target // 8 == (7 if mover is MAXIE else 0)
    assert reached or outcome.reason_code == "all_taken"
    assert abs(target % 8 - source % 8) <= 1


def test_breakthrough_is_played_on_the_size_of_its_setup() -> None:
    game = type(game_of("breakthrough")).from_setup({"columns": 5, "rows": 6})
    assert game.setup() == {"columns": 5, "rows": 6}
    assert game.board is not None
    assert game.board.cell_count == 30
    position = random_match(game, Random(1).randrange(99)).positions[-1]
    assert len(game.marks(position)) == 30


def test_the_guide_shows_the_game_of_the_examples() -> None:
    (shown,) = re.findall(r"^```python\n# connect4\.py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(compile(shown, "connect4.py", "exec"), namespace)  # the page's own code
    shown_game = namespace["ConnectFour"]()
    for seed in range(3):
        match = random_match(FOUR, seed)
        position = shown_game.start()
        for ply, move in enumerate(match.moves):
            assert tuple(shown_game.moves(position)) == tuple(FOUR.moves(match.positions[ply]))
            position = shown_game.successor(position, move)
        assert shown_game.outcome(position) == FOUR.outcome(match.positions[-1])


CAPITALS: Any = type(game_of("capitals"))


@examples(30)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(["italy", "world", "m2", "grid:4x4"]))
def test_a_match_of_capitals_is_riskless_with_garrisons(seed: int, name: str) -> None:
    game, plain = CAPITALS(load_map(name)), Riskless(load_map(name))
    match = random_match(game, seed)
    cap = game.map.territory_cap
    head_start = [0] * game.map.territory_count
    head_start[game.capitals[MAXIE]] = 4
    assert [a - b for a, b in zip(game.start().armies, plain.start().armies, strict=True)] == head_start
    for before, move, after in zip(match.positions, match.moves, match.positions[1:], strict=False):
        trained = list(plain.successor(before, move).armies)
        lead = sum((n > 0) - (n < 0) for n in trained)
        for player, capital in game.capitals.items():
            if trained[capital] * player.sign > 0:
                more = 2 + (4 * max(0, -lead * player.sign) if player is before.player else 0)
                trained[capital] = player.sign * min(abs(trained[capital]) + more, cap)
        assert after.armies == tuple(trained)
    *rest, last = match.positions
    held = [
        [position.armies[capital] * player.sign > 0 for player, capital in game.capitals.items()]
        for position in [*rest, last]
    ]
    assert all(all(each) for each in held[:-1])
    outcome = game.outcome(last)
    assert outcome is not None
    if outcome.reason_code == "capital":
        assert held[-1] == [outcome.winner is player for player in game.capitals]


@pytest.mark.parametrize(("maxie", "minnie", "winner"), [(41, 40, MAXIE), (40, 41, MINNIE), (41, 41, None)])
def test_of_two_players_at_the_goal_of_capitals_the_stronger_wins(
    maxie: int, minnie: int, winner: Player | None
) -> None:
    m1 = load_map("m1")
    game = CAPITALS(replace(m1, territory_cap=50))
    armies = [0] * m1.territory_count
    for player, number in ((MAXIE, maxie), (MINNIE, minnie)):
        armies[game.capitals[player]] = player.sign * number
    assert game.map.armies_to_win == 40
    assert game.outcome(RisklessPosition(tuple(armies), MAXIE, 9)).winner is winner


@pytest.mark.parametrize("name", ["italy", "world", "usa", "poland"])
def test_no_capital_is_a_dead_end(name: str) -> None:
    map = load_map(name)
    assert all(len(map.neighbours[capital]) > 1 for capital in CAPITALS(map).capitals.values())


@pytest.mark.parametrize(
    ("name", "capitals"),
    [("usa", ["Florida", "Delaware"]), ("world", ["Mongolia", "Western United States"])],
)
def test_named_capitals_are_those_of_one_map(name: str, capitals: list[str]) -> None:
    map, ring = load_map(name), load_map("ring:12")
    assert [map.territories[capital] for capital in CAPITALS(map).capitals.values()] == capitals
    assert CAPITALS(replace(ring, name=name)).capitals == CAPITALS(ring).capitals


def test_capitals_is_played_on_the_map_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_games(monkeypatch)
    name = CATALOGUE.register_game(str(EXAMPLES / "capitals.py"))
    assert has_maps(name)
    game = make_game_on_map(name, "world")
    assert (type(game), game.setup()["map"]) == (CATALOGUE.find_game_class(name), "world")
