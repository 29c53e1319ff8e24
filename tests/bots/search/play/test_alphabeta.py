from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.alphabeta import failsoft
from arena.bots.search.monitor import SearchMonitor, SearchStopped
from arena.bots.search.play import AlphaBeta
from arena.bots.search.table import Table
from tests.bots.search.problems import Case, cases_in_play
from tests.properties import examples


@given(case=cases_in_play)
@examples(40)
def test_unordered_visits_what_textbook_alphabeta_visits(case: Case) -> None:
    depth = max(1, case.depth)
    textbook, ours = SearchMonitor(), SearchMonitor()
    failsoft(case.problem, case.position, depth, textbook)
    search: AlphaBeta[Any, Any] = AlphaBeta(case.problem.evaluator, sort_statically=False)
    moves = tuple(case.game.moves(case.position))
    search(case.game, case.position, depth, root_moves=moves, monitor=ours, on_progress=lambda _: None)
    assert (ours.nodes, ours.leaves, ours.sort_estimates) == (textbook.nodes, textbook.leaves, 0)


@given(case=cases_in_play, depths=st.lists(st.integers(1, 4), min_size=1, max_size=3))
@examples(40)
def test_leaves_that_are_valued_together_are_those_in_a_trace(case: Case, depths: list[int]) -> None:
    moves = tuple(case.game.moves(case.position))
    results = []
    for tracing in (False, True):
        search: AlphaBeta[Any, Any] = AlphaBeta(case.problem.evaluator, table=Table(64))
        for depth in depths:
            polls = count()
            monitor = SearchMonitor(lambda polls=polls: next(polls) < 0, tracing=tracing)  # type: ignore[misc]
            result = search(
                case.game, case.position, depth, root_moves=moves, monitor=monitor, on_progress=lambda _: None
            )
            assert next(polls) == monitor.nodes
            results.append(
                (tracing, result, monitor.nodes, monitor.leaves, monitor.has_reached_horizon, monitor.hints)
            )
    half = len(depths)
    assert [each[1:] for each in results[:half]] == [each[1:] for each in results[half:]]


@given(case=cases_in_play, allowed=st.integers(0, 60))
@examples(40)
def test_a_stop_ends_the_search_at_once(case: Case, allowed: int) -> None:
    polls = iter(range(allowed))
    monitor = SearchMonitor(lambda: next(polls, None) is None)
    search: AlphaBeta[Any, Any] = AlphaBeta(case.problem.evaluator)
    moves = tuple(case.game.moves(case.position))
    try:
        search(
            case.game,
            case.position,
            max(1, case.depth),
            root_moves=moves,
            monitor=monitor,
            on_progress=lambda _: None,
        )
    except SearchStopped:
        assert next(polls, None) is None
        assert monitor.nodes == allowed
    else:
        assert monitor.nodes <= allowed
