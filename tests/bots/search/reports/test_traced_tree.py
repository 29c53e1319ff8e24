from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.alphabeta import alphabeta
from arena.bots.search.monitor import NodeEntered, NodeLeft, SearchMonitor
from arena.bots.search.reports.traced_tree import TracedNode, build_traced_tree
from tests.bots.search.problems import Case, cases


def walk_tree(node: TracedNode) -> Iterator[TracedNode]:
    yield node
    for child in node.children:
        yield from walk_tree(child)


@given(case=cases)
def test_exactly_the_entered_nodes_are_visited(case: Case) -> None:
    monitor = SearchMonitor(tracing=True)
    alphabeta(case.problem, case.position, case.depth, monitor)
    assert monitor.events is not None
    tree, max_shown_ply = build_traced_tree(case.game, case.position, case.depth, monitor.events)
    assert max_shown_ply is None
    seen = list(walk_tree(tree))
    entered = {event.path for event in monitor.events if isinstance(event, NodeEntered)}
    results = {event.path: event.result for event in monitor.events if isinstance(event, NodeLeft)}
    assert {node.path for node in seen if node.is_visited} == entered
    assert all(node.result == results[node.path] for node in seen if node.is_visited)
    for node in seen:
        assert node.is_cut == (node.is_visited and any(not child.is_visited for child in node.children))


@given(case=cases, max_nodes=st.integers(1, 30))
def test_a_tree_with_too_many_nodes_ends_between_two_plies(case: Case, max_nodes: int) -> None:
    monitor = SearchMonitor(tracing=True)
    alphabeta(case.problem, case.position, case.depth, monitor)
    events = monitor.events or ()
    whole = {
        node.path: node
        for node in walk_tree(build_traced_tree(case.game, case.position, case.depth, events)[0])
    }
    tree, max_shown_ply = build_traced_tree(case.game, case.position, case.depth, events, max_nodes)
    seen = {node.path: node for node in walk_tree(tree)}
    if max_shown_ply is None:
        assert seen == whole
        return
    assert seen.keys() == {path for path in whole if len(path) <= max_shown_ply}
    assert len(seen) <= max_nodes < sum(len(path) <= max_shown_ply + 1 for path in whole)
    assert all(
        seen[path] == whole[path]
        for path in seen
        if len(path) == max_shown_ply - 1 and not seen[path].children
    )
    assert not any(node.is_cut or node.children for path, node in seen.items() if len(path) == max_shown_ply)
