"""All reference algorithms return the result of minimax, which test_minimax.py tests separately."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import NodeEntered, NodeLeft, SearchMonitor, SearchStopped
from arena.bots.search.search_values import to_root_value
from arena.bots.search.thread_pool import ThreadPool
from arena.games.core import Player
from arena.games.explicit import ExplicitGame
from tests.bots.search.problems import Case, cases, tree
from tests.bots.search.running import POOLS, compute_true_value, run
from tests.properties import examples

SEQUENTIAL = [name for name, algorithm in ALGORITHMS.items() if not algorithm.is_parallel]
WINDOWED = ["alphabeta", "failsoft", "stack-alphabeta", "jamboree", "scouts"]


@pytest.mark.parametrize("name", SEQUENTIAL)
@given(case=cases)
@examples(60)
def test_minimax_value_and_leftmost_move(name: str, case: Case) -> None:
    expected = minimax(case.problem, case.position, case.depth)
    result = ALGORITHMS[name].run(
        case.problem, case.position, case.depth, SearchMonitor(), AlgorithmSettings(POOLS[0])
    )
    assert result.value == expected.value
    if name != "lazy-ordered":
        assert result.move == expected.move
    elif result.move is not None:
        child = case.game.successor(case.position, result.move)
        assert to_root_value(minimax(case.problem, child, case.depth - 1).value, 1) == expected.value


def make_case_with_ties(first: Player) -> Case:
    data = {"children": [{"children": [{"value": 3}, {"value": 5 * sign}]} for sign in (1, -1, 1, -1)]}
    game = ExplicitGame.from_tree(data, first)
    return Case(game, game.start(), game.height)


@pytest.mark.parametrize("pool", POOLS, ids=lambda pool: f"{pool.thread_count} threads")
@pytest.mark.parametrize("name", ["jamboree", "scouts"])
@example(case=make_case_with_ties(Player.MAXIE), prune=0)
@example(case=make_case_with_ties(Player.MINNIE), prune=0)
@given(case=cases, prune=st.sampled_from([0, 0.3, 0.5, 0.75, 1]))
@examples(40)
def test_parallel_value_and_move_on_every_pool(name: str, pool: ThreadPool, case: Case, prune: float) -> None:
    expected = minimax(case.problem, case.position, case.depth)
    result = ALGORITHMS[name].run(
        case.problem, case.position, case.depth, SearchMonitor(), AlgorithmSettings(pool, prune)
    )
    assert (result.value, result.move) == (expected.value, expected.move)


@pytest.mark.parametrize("name", WINDOWED)
@given(case=cases, prune=st.sampled_from([0, 0.4, 1]), pool=st.sampled_from(POOLS))
@examples(80)
def test_corrected_bounds_at_every_node(name: str, case: Case, prune: float, pool: ThreadPool) -> None:
    """The corrected bounds in docs/search.md hold at every visited node, for any window."""
    _, monitor = run(name, case, pool, prune, tracing=True)
    open_windows: list[NodeEntered] = []
    for event in monitor.events or ():
        if isinstance(event, NodeEntered):
            open_windows.append(event)
        elif isinstance(event, NodeLeft):
            # forks are joined in move order, so events of nodes are nested; aborted nodes have no exit event
            entered = open_windows.pop()
            while entered.path != event.path:
                assert name == "scouts"
                assert pool.thread_count > 1
                entered = open_windows.pop()
            assert entered.alpha is not None
            assert entered.beta is not None
            alpha, beta = entered.alpha.value, entered.beta.value
            exact = compute_true_value(case, event.position, len(event.path), case.depth)
            answer = event.result.value
            if alpha < exact < beta:
                assert answer == exact
            elif exact <= alpha:
                assert exact <= answer <= max(alpha, exact)
            else:
                assert min(beta, exact) <= answer <= exact
    assert not open_windows


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name != "lazy-ordered"])
@pytest.mark.parametrize("after", [0, 1, 2, 5, 11, 12])
def test_a_stop_raises_and_leaves_the_pool_usable(name: str, after: int) -> None:
    game = tree("HandoutSmall")
    case = Case(game, game.start(), 2)
    poll_count = 0

    def stop() -> bool:
        nonlocal poll_count
        poll_count += 1
        return poll_count > after

    pool = POOLS[1]
    settings_ = AlgorithmSettings(pool)
    visited = SearchMonitor()
    ALGORITHMS[name].run(case.problem, case.position, case.depth, visited, settings_)
    # the number of nodes that scouts visits differs from run to run, but is at least that of the minimal tree
    if (5 if name == "scouts" else visited.nodes) > after:
        with pytest.raises(SearchStopped):
            ALGORITHMS[name].run(case.problem, case.position, case.depth, SearchMonitor(stop), settings_)
    assert run(name, case, pool)[0].value == 4  # type: ignore[attr-defined]
