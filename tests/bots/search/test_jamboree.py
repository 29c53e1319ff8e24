"""bots.search.jamboree: between minimax and alpha-beta, and the same on every pool."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.monitor import Entered
from arena.bots.search.thread_pool import ThreadPool
from tests.bots.search.problems import Case, cases
from tests.bots.search.running import run
from tests.properties import examples

POOLS = [ThreadPool(threads) for threads in (1, 2, 3, 4)]


@pytest.fixture(scope="module", autouse=True)
def _closed_pools() -> Iterator[None]:
    yield
    for pool in POOLS:
        pool.close()


@given(case=cases, pool=st.sampled_from(POOLS))
@examples(60)
def test_jamboree_between_its_ends(case: Case, pool: ThreadPool) -> None:
    """With 0 it visits what minimax visits, with 1 what alpha-beta visits, on every pool."""
    paths = {}
    for name, prune in (("minimax", 0.0), ("alphabeta", 0.0)):
        _, monitor = run(name, case, pool, prune, tracing=True)
        paths[name] = [event.path for event in monitor.events or () if isinstance(event, Entered)]
    for name, prune in (("minimax", 0.0), ("alphabeta", 1.0)):
        _, monitor = run("jamboree", case, pool, prune, tracing=True)
        assert [event.path for event in monitor.events or () if isinstance(event, Entered)] == paths[name]


@given(case=cases, prune=st.sampled_from([0.25, 0.5, 0.9]))
@examples(40)
def test_jamboree_traces_are_the_same_on_every_pool(case: Case, prune: float) -> None:
    traces = [run("jamboree", case, pool, prune, tracing=True)[1].events for pool in POOLS]
    assert all(trace == traces[0] for trace in traces)
