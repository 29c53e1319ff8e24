"""bots.search.clamped: what a node returns within its window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given

from arena.bots.search.minimax import minimax
from arena.bots.search.pool import Pool
from arena.bots.search.values import from_root
from arena.bots.search.watch import Entered, Left, Watch
from tests.bots.search.problems import Case, cases
from tests.bots.search.running import run
from tests.properties import examples

POOLS = [Pool(threads) for threads in (1, 2, 3, 4)]


@pytest.fixture(scope="module", autouse=True)
def _closed_pools() -> Iterator[None]:
    yield
    for pool in POOLS:
        pool.close()


def true_value(case: Case, event: Left) -> int:
    """The minimax value of a visited node, counted from the root of the search."""
    watch = Watch()
    distance = len(event.path)
    value = minimax(case.problem, event.position, case.depth - distance, watch).value
    return from_root(value, distance)


@given(case=cases)
@examples(60)
def test_holden_clamps_minimax_into_the_window(case: Case) -> None:
    _, watch = run("clamped", case, POOLS[0], tracing=True)
    windows = {event.path: event for event in watch.events or () if isinstance(event, Entered)}
    for event in watch.events or ():
        if isinstance(event, Left):
            entered = windows[event.path]
            assert entered.alpha is not None
            assert entered.beta is not None
            exact = true_value(case, event)
            leaf = event.result.move is None and exact == event.result.value
            clamped = max(entered.alpha.value, min(entered.beta.value, exact))
            assert leaf or event.result.value == clamped
