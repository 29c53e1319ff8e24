"""Values of searches: nearer wins are better, estimates are never wins, and conversions between root and node are inverse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.search_values import (
    ESTIMATE_LIMIT,
    INFINITY,
    WIN_VALUE,
    clamp_estimate,
    compute_outcome_value,
    count_plies_to_end,
    is_decided,
    to_node_value,
    to_root_value,
)
from arena.games.core import Outcome, Player, RuleEndReason

distances = st.integers(0, WIN_VALUE - ESTIMATE_LIMIT - 1)


@given(near=distances, far=distances, estimate=st.integers())
def test_order_of_values(near: int, far: int, estimate: int) -> None:
    near, far = sorted((near, far))
    wins = [compute_outcome_value(Outcome(Player.MAXIE, RuleEndReason.LINE), d) for d in (near, far)]
    losses = [compute_outcome_value(Outcome(Player.MINNIE, RuleEndReason.LINE), d) for d in (near, far)]
    assert INFINITY > wins[0] >= wins[1] > clamp_estimate(estimate) > losses[1] >= losses[0] > -INFINITY
    assert [count_plies_to_end(value) for value in (*wins, *losses)] == [near, far, near, far]
    assert all(map(is_decided, (*wins, *losses)))
    assert not is_decided(clamp_estimate(estimate))
    assert count_plies_to_end(clamp_estimate(estimate)) is None


def test_a_draw_is_worth_nothing() -> None:
    assert compute_outcome_value(Outcome(None, RuleEndReason.PLY_LIMIT), 7) == 0


@pytest.mark.parametrize("winner", list(Player))
@given(below=st.integers(0, 1000), above=st.integers(0, 1000))
def test_from_a_node_to_the_root_and_back(winner: Player, below: int, above: int) -> None:
    outcome = Outcome(winner, RuleEndReason.LINE)
    seen = to_root_value(compute_outcome_value(outcome, below), above)
    assert seen == compute_outcome_value(outcome, below + above)
    assert to_node_value(seen, above) == compute_outcome_value(outcome, below)


@given(
    a=st.integers(-WIN_VALUE, WIN_VALUE), b=st.integers(-WIN_VALUE, WIN_VALUE), distance=st.integers(0, 1000)
)
def test_bounds_stay_bounds(a: int, b: int, distance: int) -> None:
    in_use = [v for v in (a, b) if abs(v) <= ESTIMATE_LIMIT or abs(v) > ESTIMATE_LIMIT + 1000]
    if len(in_use) == 2:
        assert (a < b) == (to_root_value(a, distance) < to_root_value(b, distance))
