"""bots.search.reports.seen_tree: all that a trace tells, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given

from arena.bots.search.alphabeta import alphabeta
from arena.bots.search.reports.seen_tree import Seen, seen_tree
from arena.bots.search.watch import Entered, Left, Watch
from tests.bots.search.problems import Case, cases


def every(node: Seen) -> Iterator[Seen]:
    yield node
    for child in node.children:
        yield from every(child)


@given(case=cases)
def test_what_was_entered_is_visited_and_nothing_else(case: Case) -> None:
    watch = Watch(tracing=True)
    alphabeta(case.problem, case.position, case.depth, watch)
    assert watch.events is not None
    seen = list(every(seen_tree(case.game, case.position, case.depth, watch.events)))
    entered = {event.path for event in watch.events if isinstance(event, Entered)}
    results = {event.path: event.result for event in watch.events if isinstance(event, Left)}
    assert {node.path for node in seen if node.visited} == entered
    assert all(node.result == results[node.path] for node in seen if node.visited)
    for node in seen:
        assert node.cut == (node.visited and any(not child.visited for child in node.children))
