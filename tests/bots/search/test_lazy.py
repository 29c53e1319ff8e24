"""Lazy alpha-beta computes and keeps only the parts of a tree that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from hypothesis import example, given
from hypothesis import strategies as st

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.alphabeta import alphabeta
from arena.bots.search.lazy import lazy_alphabeta, mapmin, maximize, maximize0, omit
from arena.bots.search.lazy_tree import LazyList, Tree, maptree, prune
from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.problem import Problem
from arena.games.core import Game, Player
from arena.games.explicit import ExplicitGame
from arena.games.tictactoe import TicTacToe
from tests.bots.search.problems import Case, cases, tree
from tests.bots.search.test_lazy_tree import make_counting_tree
from tests.properties import examples


def test_pruning_an_infinite_game_with_lazy_alphabeta_makes_fewer_nodes() -> None:
    made: list[int] = []
    value = max(maximize0(maptree(lambda n: -n, prune(6, make_counting_tree(made)))))
    everything: list[int] = []
    assert value == maximize(maptree(lambda n: -n, prune(6, make_counting_tree(everything))))
    assert len(everything) == 2**7 - 2
    assert len(made) < len(everything) * 3 // 5


class Endless:
    """Game that never ends: from position n, the moves 0 and 1 lead to 2n and 2n + 1."""

    def moves(self, position: int) -> Sequence[int]:
        return (0, 1)

    def successor(self, position: int, move: int) -> int:
        return 2 * position + move

    def player(self, position: int) -> Player:
        return Player.MAXIE if position.bit_length() % 2 else Player.MINNIE

    def outcome(self, position: int) -> None:
        return None


def test_an_infinite_game_is_searched() -> None:
    problem = Problem(cast("Game[int, int]", Endless()), lambda n: n * 7919 % 1000)
    for depth in range(1, 8):
        monitor = SearchMonitor()
        found = lazy_alphabeta(problem, 1, depth, monitor)
        expected = minimax(problem, 1, depth)
        assert (found.value, found.move) == (expected.value, expected.move)
        assert monitor.leaves <= 2**depth
        assert monitor.nodes < 2 ** (depth + 1), "nothing below the depth came into being"


def test_the_question_mark_of_000() -> None:
    """max(min(1, 2), min(0, ?)): the leaf marked ? is never evaluated."""

    def unknown() -> int:
        raise AssertionError("this value must not be computed")

    def tip(n: int) -> Tree[int]:
        return Tree(lambda: n)

    left = Tree(unknown, [tip(1), tip(2)])
    right = Tree(unknown, [tip(0), Tree(unknown)])
    assert max(maximize0(Tree(unknown, [left, right]))) == 1


def test_omit_leaves_a_list_at_its_first_number_that_is_low_enough() -> None:
    evaluations: list[int] = []

    def numbers(*values: int) -> Iterator[int]:
        for value in values:
            evaluations.append(value)
            yield value

    later = [LazyList(numbers(*values)) for values in ((7, 2, 9), (5, 4), (4, 8), (6, 5))]
    assert list(omit(3, enumerate(later))) == [(1, 4), (3, 5)]
    assert evaluations == [7, 2, 5, 4, 4, 6, 5]
    assert list(mapmin([[4, 3], [3, 9], [8, 5], [6]])) == [3, 5, 6]
    assert list(mapmin([])) == []


def test_shallow_but_no_deep_cuts() -> None:
    """In this tree, alpha-beta's bound comes from two plies above. So the lazy search visits one leaf more than alpha-beta."""
    game = ExplicitGame.from_tree(
        {
            "children": [
                {"value": 5},
                {"children": [{"children": [{"children": [{"value": 4}, {"value": 9}]}, {"value": 1}]}]},
            ]
        }
    )
    problem = Problem(game, evaluator_for(game))
    monitor = SearchMonitor()
    assert lazy_alphabeta(problem, game.start(), 4, monitor).value == minimax(problem, game.start(), 4).value
    assert monitor.leaves == 4
    deep = SearchMonitor()
    alphabeta(problem, game.start(), 4, deep)
    assert deep.leaves == 3


@given(case=cases, bound=st.integers(0, 2))
@examples(60)
def test_dynamic_positions_are_searched_deeper_up_to_the_limit(case: Case, bound: int) -> None:
    """If all positions are dynamic, the search is deeper by the bound. If none is, it is an ordinary search."""
    every = lazy_alphabeta(
        case.problem, case.position, case.depth, is_dynamic=lambda _: True, max_extra_plies=bound
    )
    deeper = minimax(case.problem, case.position, case.depth + bound)
    assert (every.value, every.move) == (deeper.value, deeper.move)
    none = lazy_alphabeta(
        case.problem, case.position, case.depth, is_dynamic=lambda _: False, max_extra_plies=bound
    )
    assert none.value == minimax(case.problem, case.position, case.depth).value


@given(case=cases, ordered=st.booleans())
@example(case=Case(TicTacToe(), TicTacToe().start(), 2, "plain"), ordered=True)
@examples(80)
def test_only_visited_nodes_are_in_memory(case: Case, ordered: bool) -> None:
    """Source 000 claims that only the siblings of the nodes on the path to the visited node are in memory at once.

    With `memoize`, all nodes stay in memory.
    """
    kept, dropped = SearchMonitor(), SearchMonitor()
    search = partial(lazy_alphabeta, case.problem, case.position, case.depth, is_ordered=ordered)
    assert search(monitor=dropped) == search(monitor=kept, memoize=True)
    assert (dropped.nodes, dropped.leaves) == (kept.nodes, kept.leaves)
    most = max(1, *map(len, _list_moves_below(case))) if case.depth else 1
    # A level may hold one node more, from the test whether there is any; each of sorted siblings may hold such a child.
    assert dropped.max_live_nodes <= 1 + case.depth * (2 + 2 * most if ordered else 2)
    assert dropped.max_live_nodes <= kept.max_live_nodes <= kept.nodes


def _list_moves_below(case: Case) -> Iterator[Sequence[object]]:
    """Yield the moves of every node down to the case's depth, after two empty lists of moves."""
    yield from ((), ())
    waiting = [(case.position, case.depth)]
    while waiting:
        position, depth = waiting.pop()
        if depth:
            yield (moves := case.game.moves(position))
            waiting += [(case.game.successor(position, move), depth - 1) for move in moves]


@given(case=cases, take=st.integers(1, 4))
@examples(60)
def test_taking_the_first_moves_searches_a_smaller_game(case: Case, take: int) -> None:
    """`taketree n . highfirst` agrees with a definition that shares no code with it."""
    found = lazy_alphabeta(case.problem, case.position, case.depth, is_ordered=True, max_moves_per_node=take)
    assert found.value == _search_first_moves(case, case.position, case.depth, 0, take)


def _search_first_moves(case: Case, position: Any, depth: int, distance: int, take: int) -> int:
    game, maxie = case.game, case.game.player(position) is Player.MAXIE

    def static(after: Any) -> int:
        return case.problem.expand(after, 0, distance + 1).value

    moves = case.problem.expand(position, depth, distance).moves
    if not moves:
        return case.problem.expand(position, 0, distance).value
    sign = -1 if maxie else 1  # the sort is stable
    after = sorted((game.successor(position, move) for move in moves), key=lambda each: sign * static(each))
    values = [_search_first_moves(case, each, depth - 1, distance + 1, take) for each in after[:take]]
    return max(values) if maxie else min(values)


def test_only_below_dynamic_positions_is_the_search_deeper() -> None:
    """The search goes beyond the depth only below the dynamic node d: it visits its children e and f, and no others there."""
    game = tree("HandoutBig")
    valued = ExplicitGame([replace(node, value=node.value or 0) for node in game.nodes])
    problem = Problem(valued, evaluator_for(valued))
    monitor = SearchMonitor(tracing=True)
    lazy_alphabeta(
        problem,
        valued.start(),
        3,
        monitor,
        is_dynamic=lambda place: valued.get_node_name(place) == "d",
        max_extra_plies=1,
    )
    seen = {valued.get_node_name(event.position) for event in monitor.events or ()}
    assert {"e", "f"} <= seen
    assert not {"h", "i", "l", "m"} & seen
