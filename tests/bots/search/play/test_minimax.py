"""The searches used in play keep their contract in any order of the root's moves, with any hints, table and pool."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.play import AlphaBeta, Jamboree, Minimax, Search
from arena.bots.search.problem import SearchResult
from arena.bots.search.table import Table
from tests.bots.search.problems import Case, cases_in_play
from tests.bots.search.running import POOLS
from tests.properties import examples


def make_searches(case: Case) -> dict[str, Search[Any, Any]]:
    evaluator = case.problem.evaluator
    return {
        "minimax": Minimax(evaluator),
        "alphabeta": AlphaBeta(evaluator, sort_statically=False),
        "sorted": AlphaBeta(evaluator),
        "table": AlphaBeta(evaluator, table=Table()),
        "small table": AlphaBeta(evaluator, table=Table(size=3)),
        **{
            f"jamboree {pool.thread_count}": Jamboree(evaluator, pool, pool.thread_count / 5)
            for pool in POOLS
        },
    }


@given(case=cases_in_play, random=st.randoms(use_true_random=False))
@examples(80)
def test_value_and_leftmost_move_in_any_order(case: Case, random: Any) -> None:
    depth = max(1, case.depth)
    moves = list(case.game.moves(case.position))
    for name, search in make_searches(case).items():
        # deeper each time, as in iterative deepening, so that hints and table are at work
        for each in range(1, depth + 1):
            random.shuffle(moves)
            expected = minimax(case.problem, case.position, each)
            reports: list[SearchResult[Any]] = []
            monitor = SearchMonitor()
            found = search(
                case.game,
                case.position,
                each,
                root_moves=tuple(moves),
                monitor=monitor,
                on_progress=reports.append,
            )
            assert not (name == "minimax" and monitor.hints), "nothing would read them"
            assert (found.value, found.move) == (expected.value, expected.move), name
            assert found.line[0] == found.move
            assert reports[-1] == found
