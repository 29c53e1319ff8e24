"""Searches without recursion reach great depths, and can remember positions."""

from __future__ import annotations

import sys
from functools import partial

import pytest

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.deepening import MAX_SEARCH_DEPTH, deepen
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.play import Jamboree
from arena.bots.search.problem import Problem
from arena.bots.search.stack import stack_alphabeta, stack_minimax
from arena.bots.search.thread_pool import ThreadPool
from arena.games.explicit import ExplicitGame, Node
from arena.games.tictactoe import TicTacToe


def make_ladder(depth: int) -> ExplicitGame:
    """Return a tree with one inner node at each ply below `depth`: its first move leads to a leaf, its second one further down.

    The second move is better for both players, because the first one's leaf is the worst value for the player to move.
    """
    nodes = []
    for ply in range(depth):
        first = 2 * ply + 1
        nodes.append(Node(f"n{ply}", None, (first, first + 1)))
        nodes.append(Node(f"e{ply}", -7 if ply % 2 == 0 else 7, ()))
    nodes.append(Node("end", 3, ()))
    # numbers of the nodes: n0 is 0, e0 is 1, n1 is 2 …
    return ExplicitGame(nodes)


def test_depth_20_000() -> None:
    depth = 20_000
    assert sys.getrecursionlimit() < depth
    game = make_ladder(depth)
    problem = Problem(game, evaluator_for(game))
    for search in (stack_minimax, partial(stack_alphabeta, memoize=True)):
        monitor = SearchMonitor()
        result = search(problem, game.start(), depth, monitor)
        assert (result.value, result.move) == (3, 1)
        assert (monitor.nodes, monitor.leaves) == (2 * depth + 1, depth + 1)


@pytest.mark.parametrize(
    ("threads", "prune"),
    [
        (2, 0.5),
        *(pytest.param(2, prune, marks=pytest.mark.slow) for prune in (0.0, 1.0)),
        *(pytest.param(1, prune, marks=pytest.mark.slow) for prune in (0.0, 0.5, 1.0)),
    ],
)
def test_every_algorithm_reaches_the_deepest_depth(threads: int, prune: float) -> None:
    """Recursive algorithms reach it too, although they need several Python frames per ply."""
    game = make_ladder(MAX_SEARCH_DEPTH)
    problem = Problem(game, lambda place: game.nodes[place.node].value or 0)
    with ThreadPool(threads) as pool:
        for name, algorithm in ALGORITHMS.items():
            result = algorithm.run(
                problem, game.start(), MAX_SEARCH_DEPTH, SearchMonitor(), AlgorithmSettings(pool, prune)
            )
            assert result.value == 3, name
        *_, report = deepen(game, game.start(), Jamboree(problem.evaluator, pool, prune))
        assert (report.depth, report.value) == (MAX_SEARCH_DEPTH, 3)


def test_memory_makes_tictactoe_small() -> None:
    """The 549,946 nodes of its game tree are only 5,478 different positions."""
    game = TicTacToe()
    seen, waiting = {game.start()}, [game.start()]
    while waiting:
        position = waiting.pop()
        found = {game.successor(position, move) for move in game.moves(position)} - seen
        seen |= found
        waiting += found
    assert len(seen) == 5_478
    problem = Problem(game, evaluator_for(game))
    plain, remembering = SearchMonitor(), SearchMonitor()
    assert stack_alphabeta(problem, game.start(), 9, plain).value == 0
    assert stack_alphabeta(problem, game.start(), 9, remembering, memoize=True).value == 0
    assert remembering.nodes < 6_000 < 20_000 < plain.nodes
