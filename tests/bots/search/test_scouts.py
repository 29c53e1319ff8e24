from __future__ import annotations

import pytest
from hypothesis import given

from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.scouts import scouts
from arena.bots.search.thread_pool import ThreadPool
from tests.bots.search.problems import Case, cases


@pytest.mark.parametrize("threads", [1, 3])
def test_the_line_ends_in_minimaxs_value(threads: int) -> None:
    with ThreadPool(threads) as pool:

        @given(case=cases)
        def check(case: Case) -> None:
            found = scouts(case.problem, case.position, case.depth, SearchMonitor(), pool=pool)
            expected = minimax(case.problem, case.position, case.depth, SearchMonitor())
            assert (found.value, found.move) == (expected.value, expected.move)
            position = case.position
            for move in found.line:
                position = case.game.play(position, move)
            opened = case.problem.expand(position, case.depth - len(found.line), len(found.line))
            assert (list(opened.moves), opened.value) == ([], found.value)

        check()
