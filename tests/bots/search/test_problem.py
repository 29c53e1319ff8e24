from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.search_values import compute_outcome_value
from arena.games.core import RuleEndReason
from tests.bots.search.problems import Case, cases


@given(case=cases, distance=st.integers(0, 50))
def test_a_node_has_moves_or_a_value_and_only_an_estimate_lies_at_the_horizon(
    case: Case, distance: int
) -> None:
    problem, position = case.problem, case.position
    opened = problem.expand(position, 1, distance)
    moves, outcome = case.game.moves(position), case.game.outcome(position)
    assert tuple(opened.moves) == tuple(moves)
    closed = problem.expand(position, 0, distance)
    assert not closed.moves
    assert closed.is_at_horizon == (outcome is None)
    assert not opened.is_at_horizon
    if outcome is None or outcome.reason is RuleEndReason.LEAF:
        assert closed.value == problem.evaluator(position)
    else:
        assert opened.value == closed.value == compute_outcome_value(outcome, distance)
