"""Other projects' engines as bots of the arena: easyAI, OpenSpiel's search, and a plain alpha-beta in C."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.bots.api.bot import Match
from arena.bots.client.local_match import LocalMatch
from arena.bots.engines.from_program import make_program_engine
from arena.bots.engines.registry import Engine, make_engine
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.alphabeta import failsoft
from arena.bots.search.problem import Problem
from arena.bots.search.search_values import WIN_VALUE
from arena.games.core import AnyGame
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.timecontrol import TimeControl
from testkit.tools import mark_requires, skip_without

EXAMPLES = Path(__file__).parents[2] / "examples"

PACKAGES = [
    pytest.param("easyai_bot.py", marks=mark_requires("easyai")),
    pytest.param("openspiel_bot.py", marks=mark_requires("openspiel")),
]


def answer(engine: Engine, game: AnyGame, moves: list[Any], seconds: str) -> Any:
    """Return the engine's move after these moves, and its analysis."""
    seat = game.player(game.start()) if len(moves) % 2 == 0 else game.player(game.start()).opponent
    local = LocalMatch(engine.make_bot, Match(game, seat, time_control=TimeControl.parse(f"{seconds}/move")))
    try:
        for move in moves:
            local.play_move(move)
        return local.play_bot_move()
    finally:
        local.end_and_close_bot()


@pytest.mark.parametrize("file", PACKAGES)
def test_an_openspiel_bot_wins_or_blocks_at_once(file: str) -> None:
    engine, game = make_engine(str(EXAMPLES / file)), make_game_on_map("tictactoe")
    assert answer(engine, game, [0, 3, 1, 4, 8], "0.5")[0] == 5, "three in the middle row"
    assert answer(engine, game, [0, 4, 1], "0.5")[0] == 2, "the end of the first row"


@pytest.mark.parametrize("file", PACKAGES)
def test_a_package_plays_riskless_within_its_time(file: str) -> None:
    game = make_game_on_map("riskless", "m2")
    move, _ = answer(make_engine(str(EXAMPLES / file)), game, [], "0.3")
    assert move in game.moves(game.start())


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    skip_without("gcc")
    made = tmp_path_factory.mktemp("c") / "alphabeta"
    source = EXAMPLES / "alphabeta.c"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", made, source], check=True)
    return make_program_engine(shlex.quote(str(made)))


@pytest.mark.parametrize("plies", [0, 1, 6, 11])
def test_the_search_in_c_finds_the_reference_value_at_the_depth_that_it_tells(
    plies: int, program: Engine
) -> None:
    game = make_game_on_map("riskless", "path4")
    moves: list[Any] = []
    position = game.start()
    for _ in range(plies):  # into the middle: the last of the legal moves, then the first, and so on
        moves.append(game.moves(position)[-(len(moves) % 2)])
        position = game.play(position, moves[-1])
    move, thinking = answer(program, game, moves, "0.004")
    problem = Problem(game, evaluator_for(game))
    expected = failsoft(problem, position, thinking.depth)
    value = thinking.value if abs(thinking.value) > WIN_VALUE // 2 else 100 * thinking.value
    assert (value, move) == (expected.value, expected.move)
