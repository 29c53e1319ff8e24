from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.move_values import NO_ALPHA, NO_BETA, MoveValue, max_alpha, min_beta

EDGES = st.builds(MoveValue, st.integers(-3, 3), st.none() | st.integers(0, 2))


@given(EDGES, EDGES)
def test_the_better_bound_is_kept_and_a_step_replaces_an_equal_leaf(old: MoveValue, new: MoveValue) -> None:
    for keep, best in ((max_alpha, max), (min_beta, min)):
        better = keep(old, new)
        assert better.value == best(old.value, new.value)
        if old.value == new.value:
            assert better is (new if old.move is None and new.move is not None else old)


@given(st.integers(-(10**9), 10**9))
def test_every_value_replaces_the_initial_bounds(value: int) -> None:
    if NO_ALPHA.value < value < NO_BETA.value:
        leaf = MoveValue(value)
        assert max_alpha(NO_ALPHA, leaf) == min_beta(NO_BETA, leaf) == leaf
    assert MoveValue(value, "a").has_move
    assert not MoveValue(value).has_move
