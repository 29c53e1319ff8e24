"""bots.search.splitting: the sequential and the parallel part of a node."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.splitting import split_moves


@given(st.lists(st.integers(), max_size=30), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_the_parts_are_the_moves_in_order_and_the_first_is_the_floor_of_its_share(
    moves: list[int], share: float
) -> None:
    first, rest = split_moves(moves, share)
    assert [*first, *rest] == moves
    assert len(first) == Fraction(share) * len(moves) // 1
