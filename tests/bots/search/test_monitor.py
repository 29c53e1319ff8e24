from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import LeafValued, NodeEntered, NodeLeft, SearchMonitor, SearchStopped
from tests.bots.search.problems import Case, cases


@given(case=cases)
def test_entry_and_exit_events_of_a_trace_nest_like_brackets(case: Case) -> None:
    monitor = SearchMonitor(tracing=True)
    minimax(case.problem, case.position, case.depth, monitor)
    assert monitor.events is not None
    open_: list[tuple[int, ...]] = []
    for event in monitor.events:
        match event:
            case NodeEntered(path=path):
                assert not open_ or path[:-1] == open_[-1]
                open_.append(path)
            case NodeLeft(path=path):
                assert open_.pop() == path
    assert open_ == []
    assert monitor.nodes == sum(isinstance(each, NodeEntered) for each in monitor.events)
    assert monitor.leaves == sum(isinstance(each, LeafValued) for each in monitor.events)


@given(st.lists(st.integers(0, 5), max_size=5))
def test_the_events_of_forks_are_joined_in_order(counts: list[int]) -> None:
    monitor = SearchMonitor(tracing=True)
    parts = [monitor.fork() for _ in counts]
    for number, (part, count) in enumerate(zip(parts, counts, strict=True)):
        for place in range(count):
            part.enter_node((number, place), "position", 1)
            part.record_leaf((number, place), "position", place, is_at_horizon=place > 2)
    monitor.join(parts)
    assert (monitor.nodes, monitor.leaves) == (sum(counts), sum(counts))
    assert monitor.has_reached_horizon == any(count > 3 for count in counts)
    assert monitor.events is not None
    paths = [event.path for event in monitor.events]
    assert all(one <= other for one, other in pairwise(paths))


def test_the_stop_is_polled_at_every_node_and_a_fork_may_have_another_one() -> None:
    polls: list[int] = []

    def stop() -> bool:
        polls.append(len(polls))
        return len(polls) > 2

    monitor = SearchMonitor(stop)
    monitor.enter_node((), "position", 1)
    monitor.fork(lambda: False).enter_node((0,), "position", 0)
    monitor.fork().enter_node((1,), "position", 0)
    with pytest.raises(SearchStopped):
        monitor.enter_node((2,), "position", 0)
    assert monitor.nodes == 1
