from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.alphabeta import alphabeta, clamped_alphabeta, failsoft
from arena.bots.search.monitor import LeafValued, NodeEntered, NodeLeft, SearchMonitor
from arena.bots.search.move_values import MoveValue, max_alpha, min_beta
from arena.bots.search.problem import Problem
from arena.games.core import Player
from arena.games.explicit import ExplicitGame, MissingNodeValue
from tests.bots.search.problems import Case, cases, tree
from tests.bots.search.running import POOLS, compute_true_value, run
from tests.games.nested import from_values
from tests.properties import examples


@pytest.mark.parametrize("search", [alphabeta, clamped_alphabeta, failsoft])
def test_holdens_cut(search: Any) -> None:
    """The search cuts move 3 after its first leaf, and move 4 after its first leaf of at most 6."""
    game = tree("Holden")
    monitor = SearchMonitor(tracing=True)
    result = search(Problem(game, evaluator_for(game)), game.start(), 2, monitor)
    assert (result.value, result.move) == (6, 1)
    seen = [event.path for event in monitor.events or () if isinstance(event, LeafValued)]
    assert seen == [
        *((i, j) for i in (0, 1) for j in range(4)),
        (2, 0),
        *((3, j) for j in range(3)),
    ]
    pruned = [
        event.path for event in monitor.events or () if isinstance(event, NodeLeft) and event.has_cutoff
    ]
    assert pruned == [(2,), (3,)]


def test_the_unknown_part_of_the_intro_tree_is_not_visited() -> None:
    game = tree("Intro")
    problem = Problem(game, evaluator_for(game))
    assert alphabeta(problem, game.start(), 2).value == 3
    with pytest.raises(
        MissingNodeValue, match="node a has no value for an estimate, because it is an inner node"
    ):
        alphabeta(problem, game.start(), 0)


@st.composite
def perfect_trees(draw: st.DrawFn) -> tuple[ExplicitGame, int, int]:
    """Return a uniform tree with different leaves, in which the best moves come first, its breadth b and its depth d."""
    breadth, depth = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    values = iter(draw(st.permutations(range(breadth**depth))))
    first = draw(st.sampled_from(list(Player)))

    def grow(level: int, *, maxie: bool) -> tuple[int, object]:
        if level == 0:
            value = next(values)
            return value, value
        below = sorted((grow(level - 1, maxie=not maxie) for _ in range(breadth)), key=lambda t: t[0])
        if maxie:
            below.reverse()
        return below[0][0], [subtree for _, subtree in below]

    _, leaves = grow(depth, maxie=first is Player.MAXIE)
    return from_values(leaves, first), breadth, depth  # type: ignore[arg-type]


@given(made=perfect_trees())
@examples(60)
def test_perfect_order_visits_the_minimal_tree(made: tuple[ExplicitGame, int, int]) -> None:
    """According to Knuth and Moore, it visits b^⌈d/2⌉ + b^⌊d/2⌋ - 1 leaves, which are the critical positions at depth d."""
    game, b, d = made
    critical = {()} if d == 0 else _list_critical_paths(b, d)
    for search in (alphabeta, clamped_alphabeta, failsoft):
        monitor = SearchMonitor(tracing=True)
        search(Problem(game, evaluator_for(game)), game.start(), d, monitor)
        assert monitor.leaves == b ** ((d + 1) // 2) + b ** (d // 2) - 1
        assert {event.path for event in monitor.events or () if isinstance(event, LeafValued)} == critical


def _list_critical_paths(b: int, d: int) -> set[tuple[int, ...]]:
    """Return the paths of the critical leaves: all moves at even plies, or all at odd plies, are the first of their node."""
    paths: list[tuple[int, ...]] = [()]
    for _ in range(d):
        paths = [(*path, move) for path in paths for move in range(b)]
    return {path for path in paths if not any(path[0::2]) or not any(path[1::2])}


def test_ties_of_bounds() -> None:
    assert max_alpha(MoveValue(3), MoveValue(3, 0)) == MoveValue(3, 0)
    assert max_alpha(MoveValue(3, 1), MoveValue(3, 0)) == MoveValue(3, 1)
    assert max_alpha(MoveValue(3, 1), MoveValue(3)) == MoveValue(3, 1)
    assert min_beta(MoveValue(3), MoveValue(3, 0)) == MoveValue(3, 0)
    assert min_beta(MoveValue(3, 1), MoveValue(3, 0)) == MoveValue(3, 1)
    assert min_beta(MoveValue(3, 1), MoveValue(2, 0)) == MoveValue(2, 0)


@given(case=cases)
@examples(60)
def test_holden_clamps_minimax_into_the_window(case: Case) -> None:
    _, monitor = run("clamped", case, POOLS[0], tracing=True)
    windows = {event.path: event for event in monitor.events or () if isinstance(event, NodeEntered)}
    for event in monitor.events or ():
        if isinstance(event, NodeLeft):
            entered = windows[event.path]
            assert entered.alpha is not None
            assert entered.beta is not None
            exact = compute_true_value(case, event.position, len(event.path), case.depth)
            is_exact_leaf = event.result.move is None and exact == event.result.value
            expected = max(entered.alpha.value, min(entered.beta.value, exact))
            assert is_exact_leaf or event.result.value == expected


@given(case=cases)
def test_it_visits_the_nodes_of_alphabeta_and_its_line_leads_to_the_value(case: Case) -> None:
    monitor, other = SearchMonitor(), SearchMonitor()
    found = failsoft(case.problem, case.position, case.depth, monitor)
    expected = alphabeta(case.problem, case.position, case.depth, other)
    assert (found.value, found.move, monitor.nodes) == (expected.value, expected.move, other.nodes)
    position = case.position
    for move in found.line:
        position = case.game.play(position, move)
    opened = case.problem.expand(position, case.depth - len(found.line), len(found.line))
    assert not opened.moves
    assert opened.value == found.value
