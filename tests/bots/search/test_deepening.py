"""Iterative deepening always reports a move, and its last report has the best one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.deepening import deepen
from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.play import AlphaBeta, Minimax
from arena.bots.search.search_values import is_decided
from arena.bots.search.table import Table
from arena.games.core import Player
from arena.games.tictactoe import TicTacToe
from tests.bots.search.problems import Case, cases_in_play, tree
from tests.bots.search.running import compute_true_move_value
from tests.properties import examples


def make(case: Case, name: str) -> Any:
    evaluator = case.problem.evaluator
    if name == "minimax":
        return Minimax(evaluator)
    return AlphaBeta(evaluator, table=Table() if name == "table" else None)


@given(case=cases_in_play, name=st.sampled_from(["minimax", "alphabeta", "table"]))
@examples(60)
def test_finished_depths_are_minimax(case: Case, name: str) -> None:
    depth = max(1, case.depth)
    first, *reports = deepen(case.game, case.position, make(case, name), max_depth=depth)
    assert (first.depth, first.is_depth_finished, first.nodes) == (0, False, 0)
    assert first.move == case.game.moves(case.position)[0]
    for n, report in enumerate(reports, 1):
        expected = minimax(case.problem, case.position, n)
        assert (report.depth, report.is_depth_finished) == (n, True)
        assert (report.value, report.move) == (expected.value, expected.move)
    assert reports[-1].value == minimax(case.problem, case.position, depth).value
    if len(reports) < depth:
        # the search ended early because no deeper search can change the result
        assert is_decided(reports[-1].value) or _whole_tree_seen(case, len(reports))


def test_the_nodes_of_all_depths_are_counted() -> None:
    reports = deepen(
        TicTacToe(), TicTacToe().start(), Minimax(evaluator_for(TicTacToe(), "plain")), max_depth=2
    )
    assert [report.nodes for report in reports] == [0, 1 + 9, 1 + 9 + 1 + 9 + 9 * 8]


def _whole_tree_seen(case: Case, depth: int) -> bool:
    monitor = SearchMonitor()
    minimax(case.problem, case.position, depth, monitor)
    return not monitor.has_reached_horizon or case.depth > depth


@given(
    case=cases_in_play,
    after=st.integers(0, 120),
    name=st.sampled_from(["minimax", "alphabeta", "table"]),
)
@examples(80)
def test_a_search_stopped_anywhere_has_a_legal_move(case: Case, after: int, name: str) -> None:
    poll_count = 0

    def stop() -> bool:
        nonlocal poll_count
        poll_count += 1
        return poll_count > after

    reports = list(
        deepen(case.game, case.position, make(case, name), stop=stop, max_depth=max(1, case.depth))
    )
    assert all(case.game.explain_illegal_move(case.position, report.move) is None for report in reports)
    assert all(report.is_depth_finished for report in reports[1:-1])
    nodes = [report.nodes for report in reports]
    assert nodes == sorted(nodes)
    last = reports[-1]
    assert last.nodes <= after
    if len(reports) > 1 and not last.is_depth_finished:
        before = reports[-2]
        sign = case.game.player(case.position).sign
        if last.move != before.move and before.depth:
            # only a better move of the unfinished depth replaces the best move of the last finished depth
            assert sign * last.value >= sign * compute_true_move_value(case, before.move, last.depth)


def test_each_iteration_starts_with_the_best_of_the_one_before() -> None:
    game = TicTacToe()
    orders: list[tuple[int, tuple[Any, ...]]] = []
    inner: AlphaBeta[Any, Any] = AlphaBeta(evaluator_for(game))

    class Spy:
        """Search that records the order of the root's moves, and passes the call on to another search."""

        def __call__(self, game: Any, position: Any, depth: int, **rest: Any) -> Any:
            orders.append((depth, rest["root_moves"]))
            return inner(game, position, depth, **rest)

    reports = list(deepen(game, game.start(), Spy()))
    for report, (depth, order) in zip(reports[1:], orders[1:], strict=False):
        assert depth == report.depth + 1
        assert order[0] == report.move
        assert sorted(order) == list(range(9))


def test_it_ends_when_no_deeper_search_can_change_the_result() -> None:
    game = TicTacToe()
    search: AlphaBeta[Any, Any] = AlphaBeta(evaluator_for(game), table=Table())
    reports = list(deepen(game, game.start(), search))
    assert (reports[-1].depth, reports[-1].value) == (9, 0)
    winning = game.position_from_text("XX./OO./...")
    last = list(deepen(game, winning, search))[-1]
    assert (last.depth, last.move) == (1, 2)
    assert game.player(winning) is Player.MAXIE


def test_a_position_that_is_over() -> None:
    game = TicTacToe()
    over = game.position_from_text("XXX/OO./...")
    with pytest.raises(ValueError, match=r"nothing to search: the match is over \(maxie wins"):
        next(deepen(game, over, AlphaBeta(evaluator_for(game))))


def test_a_monitor_of_the_caller_records_the_trace() -> None:
    game = tree("HandoutBig")
    monitors: list[SearchMonitor] = []

    def make_monitor(stop: Any) -> SearchMonitor:
        monitors.append(SearchMonitor(stop, tracing=True))
        return monitors[-1]

    # the inner nodes of the tree have no values, which searches to depths 1 to 3 would need
    search: AlphaBeta[Any, Any] = AlphaBeta(lambda place: game.nodes[place.node].value or 0)
    reports = list(deepen(game, game.start(), search, max_depth=4, make_monitor=make_monitor))
    assert reports[-1].value == 3
    assert len(monitors) == 4
    assert all(monitor.events for monitor in monitors)
