"""Option `truth=root`: the engines play perfectly on a solved map, and search as usual on any other map."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest

from arena.bots.api.bot import Bot, Clock, Match, Resign, assign_match, request_move
from arena.bots.engines import searching
from arena.bots.engines.registry import find_incompatibility_reason, make_engine
from arena.bots.search.search_values import WIN_VALUE
from arena.games.core import MAXIE
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.riskless_map import RisklessMap
from arena.maps.loader import load_map
from arena.solved.solved_value import SolvedResult
from tests.bots.engines.conftest import MakeBot
from tests.bots.engines.test_perfect import PATH, solution
from tests.solved.conftest import make_path_map, solve  # noqa: F401 - a fixture

M2 = Riskless(load_map("m2"))


def choose(bot: Bot, position: Any) -> Any:
    return request_move(bot, position, Clock(mine=60.0, per_move=True, arrived=time.monotonic()), Event())


def random_positions(count: int, drawn: int) -> list[RisklessPosition]:
    """Return `count` random unfinished positions, and `drawn` drawn positions with several drawing moves."""
    rng, known = Random(12), solution()
    positions: list[RisklessPosition] = []
    while len(positions) < count or drawn:
        position = RisklessPosition(tuple(rng.randint(-10, 10) for _ in range(4)), MAXIE, 0)
        if not any(position.armies) or PATH.outcome(position) is not None:
            continue
        truth, moves = known.find_best_moves(position)
        choice = truth.result is SolvedResult.DRAW and len(moves) > 1
        if choice and drawn:
            drawn -= 1
            positions.append(position)
        elif len(positions) < count:
            positions.append(position)
    return positions


@pytest.mark.parametrize("name", ["minimax", "alphabeta", "jamboree"])
def test_every_move_keeps_the_solved_value_and_wins_are_the_fastest(name: str, make_bot: MakeBot) -> None:
    table = solution()
    bot = make_bot(f"{name}:depth=2,truth=root", PATH)
    searched = 0
    for position in random_positions(60, 8):
        best, moves = table.find_best_moves(position)
        assert choose(bot, position) in moves, position
        assert bot.thinking is not None
        if best.plies is not None:
            assert bot.thinking.value == best.result.sign * (WIN_VALUE - best.plies)
        elif len(moves) > 1:
            searched += bot.thinking.depth == 2
    assert searched >= 8, "a draw with a choice is searched"


def test_among_draws_the_search_decides_and_not_the_order(make_bot: MakeBot) -> None:
    bot = make_bot("alphabeta:depth=4,truth=root", PATH)
    table = solution()
    positions = [
        each for each in random_positions(0, 30) if table.probe_position(each).result is SolvedResult.DRAW
    ]
    assert any(choose(bot, each) != table.find_best_moves(each)[1][0] for each in positions)


def test_without_a_table_the_engine_says_so_and_searches(
    make_bot: MakeBot, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine, the warm-up searches of the two bots would end at different depths, and leave different
    # transposition tables.
    monkeypatch.setattr(searching, "WARM_UP_SECONDS", 60.0)
    with_option, without_option = (
        make_bot("alphabeta:depth=4,truth=root", M2),
        make_bot("alphabeta:depth=4", M2),
    )
    assert capfd.readouterr().err == "alphabeta searches without truth=root: no table exists for m2\n"
    position = M2.start()
    for _ in range(6):
        move = choose(with_option, position)
        assert move == choose(without_option, position)
        assert with_option.thinking == without_option.thinking
        position = M2.play(position, move)


def test_a_damaged_table_is_reported_before_a_match(solve: Callable[[RisklessMap], Path]) -> None:  # noqa: F811
    map = make_path_map(4, 2, 6)
    path = solve(map)
    path.write_bytes(path.read_bytes()[:-3])
    game = Riskless(map)
    why = find_incompatibility_reason("alphabeta:truth=root", game)
    assert why is not None
    assert "is damaged: it has" in why
    assert find_incompatibility_reason("alphabeta", game) is None
    bot = make_engine("alphabeta:truth=root").make_bot()
    assign_match(bot, Match(game, MAXIE))
    with pytest.raises(Resign) as resigned:
        bot.prepare()
    assert str(resigned.value) == why


def test_after_a_damaged_block_the_match_continues_without_the_tablebase(
    solve: Callable[[RisklessMap], Path],  # noqa: F811
    make_bot: MakeBot,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The header of the file is intact, so the damage is found only at the first probe."""
    map = make_path_map(4, 2, 7)
    path = solve(map)
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    game = Riskless(map)
    bot = make_bot("alphabeta:depth=2,truth=root", game)
    assert choose(bot, game.start()) in game.moves(game.start())
    errors = capfd.readouterr().err
    assert "alphabeta continues without the solved table" in errors
    assert "its checksum differs" in errors
    assert len(errors.splitlines()) == 1
