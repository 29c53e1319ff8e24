"""The searches that play keep their contract in any order, with any hints, table and pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.search.failsoft import failsoft
from bots.search.minimax import minimax
from bots.search.play import AlphaBeta, Jamboree, Minimax, Pool, Search, Table
from bots.search.problem import Result
from bots.search.watch import Stopped, Watch
from tests.bots.search.problems import Case, cases

POOLS = [Pool(threads) for threads in (1, 2, 3, 4)]


@pytest.fixture(scope="module", autouse=True)
def _closed_pools() -> Iterator[None]:
    yield
    for pool in POOLS:
        pool.close()


def searches(case: Case) -> dict[str, Search[Any, Any]]:
    evaluator = case.problem.evaluator
    return {
        "minimax": Minimax(evaluator),
        "alphabeta": AlphaBeta(evaluator, static=False),
        "sorted": AlphaBeta(evaluator),
        "table": AlphaBeta(evaluator, table=Table()),
        "small table": AlphaBeta(evaluator, table=Table(size=3)),
        **{f"jamboree {pool.threads}": Jamboree(evaluator, pool, pool.threads / 5) for pool in POOLS},
    }


def in_play(case: Case) -> bool:
    return case.game.outcome(case.position) is None


@given(case=cases.filter(in_play), random=st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_value_and_leftmost_move_in_any_order(case: Case, random: Any) -> None:
    depth = max(1, case.depth)
    moves = list(case.game.moves(case.position))
    for name, search in searches(case).items():
        # deeper each time, as in iterative deepening, so that hints and table are at work
        for each in range(1, depth + 1):
            random.shuffle(moves)
            expected = minimax(case.problem, case.position, each)
            told: list[Result[Any]] = []
            found = search(
                case.game, case.position, each, order=tuple(moves), watch=Watch(), progress=told.append
            )
            assert (found.value, found.move) == (expected.value, expected.move), name
            assert found.line[0] == found.move
            assert told[-1] == found


@given(case=cases.filter(in_play))
@settings(max_examples=40, deadline=None)
def test_unordered_visits_what_textbook_alphabeta_visits(case: Case) -> None:
    depth = max(1, case.depth)
    textbook, ours = Watch(), Watch()
    failsoft(case.problem, case.position, depth, textbook)
    search: AlphaBeta[Any, Any] = AlphaBeta(case.problem.evaluator, static=False)
    moves = tuple(case.game.moves(case.position))
    search(case.game, case.position, depth, order=moves, watch=ours, progress=lambda _: None)
    assert (ours.nodes, ours.leaves, ours.sorted) == (textbook.nodes, textbook.leaves, 0)


@given(case=cases.filter(in_play), prune=st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=40, deadline=None)
def test_jamboree_visits_the_same_nodes_on_every_pool(case: Case, prune: float) -> None:
    depth = max(1, case.depth)
    moves = tuple(case.game.moves(case.position))
    traces = []
    for pool in POOLS:
        search: Jamboree[Any, Any] = Jamboree(case.problem.evaluator, pool, prune)
        for each in range(1, depth + 1):
            watch = Watch(tracing=True)
            search(case.game, case.position, each, order=moves, watch=watch, progress=lambda _: None)
        traces.append(watch.events)
    assert all(trace == traces[0] for trace in traces)


@given(case=cases.filter(in_play), after=st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_what_was_told_before_a_stop_stands(case: Case, after: int) -> None:
    """Best so far, in search order, is truly what the moves that were searched are worth."""
    depth = max(1, case.depth)
    moves = tuple(case.game.moves(case.position))
    for name in ("alphabeta", "sorted", "table"):
        asked = 0

        def stop() -> bool:
            nonlocal asked
            asked += 1
            return asked > after

        told: list[Result[Any]] = []
        try:
            searches(case)[name](
                case.game, case.position, depth, order=moves, watch=Watch(stop), progress=told.append
            )
        except Stopped:
            sign = case.game.player(case.position).sign
            values = [_value(case, move, depth) for move in moves[: len(told)]]
            for count, each in enumerate(told, 1):
                best = max(sign * value for value in values[:count])
                assert sign * each.value == best
                assert each.move == moves[[sign * value for value in values].index(best)]


def _value(case: Case, move: object, depth: int) -> int:
    """What a root move is worth, by a search of the root that has only this move."""
    search: Minimax[Any, Any] = Minimax(case.problem.evaluator)
    return search(
        case.game, case.position, depth, order=(move,), watch=Watch(), progress=lambda _: None
    ).value


def test_a_prune_percentage_outside_its_range() -> None:
    with pytest.raises(ValueError, match="from 0 to 1, not"):
        Jamboree(lambda _: 0, POOLS[0], 1.5)
