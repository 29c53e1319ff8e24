from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.monitor import SearchMonitor, SearchStopped
from arena.bots.search.play import AlphaBeta, Search
from arena.bots.search.problem import SearchResult
from arena.bots.search.table import Table
from tests.bots.search.problems import Case, cases_in_play
from tests.bots.search.running import compute_true_move_value
from tests.properties import examples


def make_searches(case: Case) -> list[Search[Any, Any]]:
    evaluator = case.problem.evaluator
    return [
        AlphaBeta(evaluator, sort_statically=False),
        AlphaBeta(evaluator),
        AlphaBeta(evaluator, table=Table()),
    ]


@given(case=cases_in_play, after=st.integers(0, 60))
@examples(60)
def test_a_report_before_a_stop_stays_valid(case: Case, after: int) -> None:
    """The last report before a stop has the value of the best of the moves that were searched."""
    depth = max(1, case.depth)
    moves = tuple(case.game.moves(case.position))
    for search in make_searches(case):
        poll_count = 0

        def stop() -> bool:
            nonlocal poll_count
            poll_count += 1
            return poll_count > after

        reports: list[SearchResult[Any]] = []
        try:
            search(
                case.game,
                case.position,
                depth,
                root_moves=moves,
                monitor=SearchMonitor(stop),
                on_progress=reports.append,
            )
        except SearchStopped:
            sign = case.game.player(case.position).sign
            values = [compute_true_move_value(case, move, depth) for move in moves[: len(reports)]]
            for count, each in enumerate(reports, 1):
                best = max(sign * value for value in values[:count])
                assert sign * each.value == best
                assert each.move == moves[[sign * value for value in values].index(best)]
