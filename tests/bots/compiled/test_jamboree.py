from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.search.jamboree import jamboree
from arena.bots.search.monitor import NodeEntered, SearchMonitor
from arena.bots.search.problem import Problem
from arena.bots.search.search_values import INFINITY
from arena.bots.search.thread_pool import ThreadPool
from arena.games.riskless import Riskless
from arena.maps.loader import load_map
from tests.bots.tree_game import MAX_MOVES, OVER, Node, Trees
from tests.properties import examples

COURSE: dict[str, Any] = {
    "exact": True,
    "course": True,
    "split_depth": 1,
    "table": False,
    "move_scores": False,
    "null_windows": False,
}
"""Settings for the course's form of Jamboree down to the leaves, without any other technique."""


@pytest.mark.parametrize(
    "form", [{}, {"course": True, "prune": 0.5}, {"course": True, "prune": 0.5, "split_depth": 1}]
)
def test_several_threads_with_split_points_find_the_value_of_one_thread(
    make: Callable[..., Any], form: dict[str, Any]
) -> None:
    game = Riskless(load_map("m2"))
    rng = random.Random(5)
    one = make(game, exact=True)
    many = make(game, **{"exact": True, "threads": 3, "split_depth": 2, **form})
    for _ in range(4):
        position = game.start()
        for _ in range(10):
            position = game.successor(position, rng.choice(list(game.moves(position))))
        expected = list(one.deepen(position, max_depth=7))[-1]
        found = list(many.deepen(position, max_depth=7))[-1]
        assert (found.depth, found.value, found.move) == (7, expected.value, expected.move)


@st.composite
def trees(draw: st.DrawFn) -> Trees:
    """Return trees of any shape with many ties. A branch ends at the height of the tree, or earlier with a won match."""
    height = draw(st.integers(1, 4))
    nodes: list[Node | None] = [None]
    waiting = [(0, 0)]
    while waiting:
        number, ply = waiting.pop(0)
        count = draw(st.integers(1 if ply == 0 else 0, MAX_MOVES)) if ply < height else 0
        value = draw(st.integers(-3, 3))
        if ply < height and not count:
            value = draw(st.sampled_from((-OVER, OVER)))
        children = tuple(range(len(nodes), len(nodes) + count))
        nodes += [None] * count
        waiting += [(child, ply + 1) for child in children]
        nodes[number] = Node(value, children)
    return Trees([node for node in nodes if node is not None], height)


@pytest.mark.parametrize("threads", [1, 3])
@given(tree=trees(), prune=st.sampled_from([0, 0.3, 0.5, 0.75, 1]))
@examples(60)
def test_the_courses_form_visits_the_nodes_of_the_reference(threads: int, tree: Trees, prune: float) -> None:
    """Both searches visit the same nodes with the same windows. With one thread, the order is the same too."""
    monitor = SearchMonitor(tracing=True)
    problem = Problem(tree, lambda place: 100 * tree.estimate(place))
    with ThreadPool(1) as pool:
        expected = jamboree(problem, tree.start(), tree.height, monitor, pool=pool, prune_fraction=prune)
    visited = [_visit(tree, event) for event in monitor.events or () if isinstance(event, NodeEntered)]

    searcher = Searcher(tree, {}, Settings(**COURSE, prune=prune, threads=threads))
    value, nodes = searcher.search(tree.start(), tree.height, -INFINITY, INFINITY)
    searcher.close()
    noted = tree.notes()
    assert (value, nodes) == (expected.value, monitor.nodes)
    assert (noted if threads == 1 else sorted(noted)) == (visited if threads == 1 else sorted(visited))


def _visit(tree: Trees, event: NodeEntered) -> tuple[int, ...]:
    """Return a visited node in the form in which the kernel notes it: its number, and its window if it is an inner node."""
    node = event.position.node
    assert event.alpha is not None
    assert event.beta is not None
    return (node, event.alpha.value, event.beta.value) if tree.nodes[node].children else (node,)


def test_a_split_depth_of_zero_is_refused() -> None:
    game = Riskless(load_map("path4"))
    with pytest.raises(ValueError, match="split_depth must be at least 1, not 0"):
        Searcher(game, weights_for(game, "plain"), Settings(split_depth=0))
