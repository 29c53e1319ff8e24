"""The values of positions agree with minimax down to the ply limit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from arena.games.riskless import Riskless, RisklessPosition
from arena.games.riskless_map import RisklessMap
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map
from arena.solved.move_quality import MoveQuality, classify_move
from arena.solved.solution import Solution, load_solution
from arena.solved.solved_value import DRAWN_VALUE, SolvedResult, SolvedValue
from tests.solved.conftest import make_path_map

Solve = Callable[[RisklessMap], Path]


def make_minimax(game: Riskless) -> Callable[[RisklessPosition], SolvedValue]:
    """Return a function that computes the value of a position by minimax down to the ply limit."""

    @cache
    def find_value(position: RisklessPosition) -> SolvedValue:
        outcome = game.outcome(position)
        if outcome is not None:
            if outcome.winner is None:
                return DRAWN_VALUE
            return SolvedValue(
                SolvedResult.WIN if outcome.winner is position.player else SolvedResult.LOSS, 0
            )
        moves = (
            find_value(game.successor(position, move)).value_before_move for move in game.moves(position)
        )
        return max(moves, key=lambda each: each.sort_key)

    return find_value


@pytest.mark.parametrize("limit", [1, 4, 9, 30])
def test_values_equal_minimax_to_the_ply_limit(limit: int, solve: Solve) -> None:
    map = make_path_map(limit=limit)
    solve(map)
    game = Riskless(map)
    solution = load_solution(game)
    assert solution is not None
    right = make_minimax(game)
    position, seen = game.start(), 0
    waiting = {position}
    while waiting:
        position = waiting.pop()
        assert solution.probe_position(position) == right(position), position
        seen += 1
        if seen > 400:
            break
        waiting |= {game.successor(position, move) for move in game.moves(position)}
    assert seen > 1


def test_a_game_without_a_table_has_no_solution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert load_solution(Riskless(load_map("world"))) is None
    assert load_solution(TicTacToe()) is None


def test_a_shipped_table_is_found_without_solving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    game = Riskless(load_map("path4"))
    solution = load_solution(game)
    assert solution is not None
    assert solution.probe_position(game.start()) == SolvedValue(SolvedResult.LOSS, 16)


def classify_all_moves(solution: Solution, position: RisklessPosition) -> list[MoveQuality]:
    return [classify_move(solution, position, move).quality for move in solution.game.moves(position)]


def test_each_move_is_classified_by_the_result_that_it_gives_away() -> None:
    game = Riskless(load_map("path4"))
    solution = load_solution(game)
    assert solution is not None
    start = game.start()
    assert set(classify_all_moves(solution, start)) == {MoveQuality.KEPT}, (
        "a lost position has nothing to give away"
    )
    positions, moves = [start], []
    while game.outcome(positions[-1]) is None:
        move = game.moves(positions[-1])[-1]
        moves.append(move)
        positions.append(game.successor(positions[-1], move))
    for position, move in zip(positions, moves, strict=False):
        each = classify_move(solution, position, move)
        best = max(truth.sort_key for _, truth in solution.list_move_values(position))
        assert each.value_before.sort_key == best
        assert dict(solution.list_move_values(position))[each.best_move].sort_key == best
        assert (each.quality is MoveQuality.KEPT) == (each.value_before.result is each.value_after.result)
