"""Minimax finds the known values of whole games, and agrees with a definition that shares no code with it."""

from __future__ import annotations

import pytest
from hypothesis import given

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.alphabeta import failsoft
from arena.bots.search.minimax import higher_order_minimax, minimax, negamax, one_line_minimax
from arena.bots.search.monitor import NodeLeft, SearchMonitor
from arena.bots.search.problem import Problem
from arena.bots.search.search_values import WIN_VALUE
from arena.games.core import Player, RuleEndReason
from arena.games.tictactoe import TicTacToe
from tests.bots.search.problems import Case, cases, tree
from tests.properties import examples

HANDOUT_BIG = dict(
    zip(
        "abcdefghijklmnopqrstuvwxy",
        [3, 3, 3, 3, 3, 5, 2, 2, 7, 4, 4, 10, 4, 2, 2, 2, 2, 7, 4, 2, 8, 2, 4, 4, 6],
        strict=True,
    )
)


def compute_minimax(case: Case, position: object, depth: int, distance: int) -> int:
    game = case.game
    outcome = game.outcome(position)
    if outcome is not None and outcome.reason is not RuleEndReason.LEAF:
        return 0 if outcome.winner is None else outcome.winner.sign * (WIN_VALUE - distance)
    if outcome is not None or depth == 0:
        return case.problem.evaluator(position)
    values = [
        compute_minimax(case, game.successor(position, move), depth - 1, distance + 1)
        for move in game.moves(position)
    ]
    return max(values) if game.player(position) is Player.MAXIE else min(values)


@given(case=cases)
@examples(150)
def test_minimax_is_its_definition(case: Case) -> None:
    result = minimax(case.problem, case.position, case.depth)
    assert result.value == compute_minimax(case, case.position, case.depth, 0)
    if result.move is None:
        assert case.depth == 0 or case.game.outcome(case.position) is not None
        return
    after = [
        compute_minimax(case, case.game.successor(case.position, move), case.depth - 1, 1)
        for move in case.game.moves(case.position)
    ]
    assert result.move == list(case.game.moves(case.position))[after.index(result.value)]


@given(case=cases)
@examples(60)
def test_the_line_leads_to_the_value(case: Case) -> None:
    for search in (minimax, negamax, failsoft):
        result = search(case.problem, case.position, case.depth)
        position = case.position
        for move in result.line:
            position = case.game.play(position, move)
        rest = case.depth - len(result.line)
        assert compute_minimax(case, position, rest, len(result.line)) == result.value
        assert rest == 0 or case.game.outcome(position) is not None


def test_every_node_of_the_big_tree() -> None:
    game = tree("HandoutBig")
    for search in (minimax, higher_order_minimax, negamax, one_line_minimax):
        monitor = SearchMonitor(tracing=True)
        search(Problem(game, evaluator_for(game)), game.start(), 4, monitor)
        values = {
            game.get_node_name(e.position): e.result.value
            for e in monitor.events or ()
            if isinstance(e, NodeLeft)
        }
        assert values == HANDOUT_BIG


@pytest.mark.slow
def test_tictactoe_from_the_empty_board() -> None:
    game = TicTacToe()
    monitor = SearchMonitor()
    result = minimax(Problem(game, evaluator_for(game)), game.start(), 9, monitor)
    assert (result.value, result.move) == (0, 0)
    assert (monitor.nodes, monitor.leaves) == (549_946, 255_168)
    assert not monitor.has_reached_horizon
