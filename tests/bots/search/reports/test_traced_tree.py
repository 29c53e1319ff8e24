"""bots.search.reports.traced_tree: all that a trace tells, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given

from arena.bots.search.alphabeta import alphabeta
from arena.bots.search.monitor import Entered, Exited, SearchMonitor
from arena.bots.search.reports.traced_tree import TracedNode, traced_tree
from tests.bots.search.problems import Case, cases


def every(node: TracedNode) -> Iterator[TracedNode]:
    yield node
    for child in node.children:
        yield from every(child)


@given(case=cases)
def test_exactly_the_entered_nodes_are_visited(case: Case) -> None:
    monitor = SearchMonitor(tracing=True)
    alphabeta(case.problem, case.position, case.depth, monitor)
    assert monitor.events is not None
    seen = list(every(traced_tree(case.game, case.position, case.depth, monitor.events)))
    entered = {event.path for event in monitor.events if isinstance(event, Entered)}
    results = {event.path: event.result for event in monitor.events if isinstance(event, Exited)}
    assert {node.path for node in seen if node.visited} == entered
    assert all(node.result == results[node.path] for node in seen if node.visited)
    for node in seen:
        assert node.cut == (node.visited and any(not child.visited for child in node.children))
