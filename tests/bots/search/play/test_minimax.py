"""The searches that play keep their contract in any order, with any hints, table and pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.play import AlphaBeta, Jamboree, Minimax, Search, Table, ThreadPool
from arena.bots.search.problem import SearchResult
from tests.bots.search.problems import Case, cases
from tests.properties import examples

POOLS = [ThreadPool(threads) for threads in (1, 2, 3, 4)]


@pytest.fixture(scope="module", autouse=True)
def _closed_pools() -> Iterator[None]:
    yield
    for pool in POOLS:
        pool.close()


def searches(case: Case) -> dict[str, Search[Any, Any]]:
    evaluator = case.problem.evaluator
    return {
        "minimax": Minimax(evaluator),
        "alphabeta": AlphaBeta(evaluator, static=False),
        "sorted": AlphaBeta(evaluator),
        "table": AlphaBeta(evaluator, table=Table()),
        "small table": AlphaBeta(evaluator, table=Table(size=3)),
        **{f"jamboree {pool.threads}": Jamboree(evaluator, pool, pool.threads / 5) for pool in POOLS},
    }


def in_play(case: Case) -> bool:
    return case.game.outcome(case.position) is None


@given(case=cases.filter(in_play), random=st.randoms(use_true_random=False))
@examples(80)
def test_value_and_leftmost_move_in_any_order(case: Case, random: Any) -> None:
    depth = max(1, case.depth)
    moves = list(case.game.moves(case.position))
    for name, search in searches(case).items():
        # deeper each time, as in iterative deepening, so that hints and table are at work
        for each in range(1, depth + 1):
            random.shuffle(moves)
            expected = minimax(case.problem, case.position, each)
            reports: list[SearchResult[Any]] = []
            found = search(
                case.game,
                case.position,
                each,
                order=tuple(moves),
                monitor=SearchMonitor(),
                progress=reports.append,
            )
            assert (found.value, found.move) == (expected.value, expected.move), name
            assert found.line[0] == found.move
            assert reports[-1] == found
