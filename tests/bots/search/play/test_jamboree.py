from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.play import Jamboree
from tests.bots.search.problems import Case, cases_in_play
from tests.bots.search.running import POOLS
from tests.properties import examples


@given(case=cases_in_play, prune=st.sampled_from([0.0, 0.5, 1.0]))
@examples(40)
def test_jamboree_visits_the_same_nodes_on_every_pool(case: Case, prune: float) -> None:
    depth = max(1, case.depth)
    moves = tuple(case.game.moves(case.position))
    traces = []
    for pool in POOLS:
        search: Jamboree[Any, Any] = Jamboree(case.problem.evaluator, pool, prune)
        for each in range(1, depth + 1):
            monitor = SearchMonitor(tracing=True)
            search(
                case.game, case.position, each, root_moves=moves, monitor=monitor, on_progress=lambda _: None
            )
        traces.append(monitor.events)
    assert all(trace == traces[0] for trace in traces)


def test_a_prune_percentage_outside_its_range() -> None:
    with pytest.raises(ValueError, match="from 0 to 1, not"):
        Jamboree(lambda _: 0, POOLS[0], 1.5)
