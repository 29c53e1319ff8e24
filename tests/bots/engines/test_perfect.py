"""bots.engines.perfect: the engine plays the best move of the tablebase, and resigns if there is no tablebase."""

from __future__ import annotations

from random import Random

import pytest

from arena.bots.api.bot import Clock, Match, Resign, assign_match
from arena.bots.engines.perfect import PerfectBot, count_losing_replies
from arena.bots.engines.registry import find_incompatibility_reason
from arena.bots.search.search_values import WIN_VALUE
from arena.games.core import MAXIE, MINNIE
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map
from arena.solved.solution import Solution, load_solution
from arena.solved.solved_value import SolvedResult

PATH = Riskless(load_map("path4"))
CLOCK = Clock(mine=1.0, per_move=True)


def solution() -> Solution:
    solution = load_solution(PATH)
    assert solution is not None
    return solution


def make_perfect() -> PerfectBot:
    bot = PerfectBot()
    assign_match(bot, Match(PATH, MAXIE))
    bot.prepare()
    return bot


def random_positions(count: int) -> list[RisklessPosition]:
    rng = Random(4)
    positions: list[RisklessPosition] = []
    while len(positions) < count:
        position = RisklessPosition(tuple(rng.randint(-10, 10) for _ in range(4)), MAXIE, 0)
        if any(position.armies) and PATH.outcome(position) is None:
            positions.append(position)
    return positions


def test_it_wins_in_the_fewest_plies_and_loses_in_the_most() -> None:
    known, bot = solution(), make_perfect()
    for position in random_positions(300):
        truth = known.probe_position(position)
        after = known.probe_position(PATH.successor(position, bot.choose(position, CLOCK))).value_before_move
        assert after == truth
        assert bot.thinking is not None
        assert bot.thinking.depth == truth.plies
        value = 0 if truth.plies is None else truth.result.sign * (WIN_VALUE - truth.plies)
        assert bot.thinking.value == value


def test_two_perfect_players_end_a_match_after_the_solved_number_of_plies() -> None:
    known, bot = solution(), make_perfect()
    position, plies = PATH.start(), 0
    while (outcome := PATH.outcome(position)) is None:
        position = PATH.play(position, bot.choose(position, CLOCK))
        plies += 1
    assert (outcome.winner, plies) == (MINNIE, 16)
    assert known.probe_position(PATH.start()).plies == 16


def test_among_draws_it_leaves_the_opponent_the_most_losing_replies() -> None:
    known, bot = solution(), make_perfect()
    positions = [
        position
        for number in range(0, known.table.numbering.board_count, 7)
        if any(board := known.table.numbering.decode_board(number))
        and PATH.outcome(position := RisklessPosition(board, MAXIE, 0)) is None
        and known.probe_position(position).result is SolvedResult.DRAW
    ]
    assert len(positions) > 50
    for position in positions:
        choice = bot.choose(position, CLOCK)
        most = max(
            count_losing_replies(known, position, move)
            for move, truth in known.list_move_values(position)
            if truth.result is SolvedResult.DRAW
        )
        assert count_losing_replies(known, position, choice) == most


@pytest.mark.parametrize(
    ("game", "message"),
    [(Riskless(load_map("world")), "`arena solve world`"), (TicTacToe(), "this game is tictactoe")],
)
def test_without_a_table_it_says_so_before_a_match(game: Riskless | TicTacToe, message: str) -> None:
    why = find_incompatibility_reason("perfect", game)
    assert why is not None
    assert message in why
    assert find_incompatibility_reason("perfect", PATH) is None
    bot = PerfectBot()
    assign_match(bot, Match(game, MAXIE))
    with pytest.raises(Resign, match="perfect: "):
        bot.prepare()
