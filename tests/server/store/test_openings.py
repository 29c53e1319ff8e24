"""Openings are told apart by the game, the map and what was played first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.store.finished_matches import OPENING_PLIES, make_opening_key

MOVES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(list), max_size=12)


@given(MOVES, MOVES, st.integers(0, 6))
def test_only_the_first_moves_decide_the_opening(a: list[list[int]], b: list[list[int]], opened: int) -> None:
    count = opened or OPENING_PLIES
    keys = [make_opening_key("riskless", {"map": "m2"}, moves, opened) for moves in (a, b)]
    for moves, key in zip((a, b), keys, strict=True):
        assert (key is None) == (len(moves) < count)
        if key is not None:
            assert len(key) == 16
            assert key == make_opening_key(
                "riskless", {"map": "m2", "armies_to_win": 7}, moves[:count], opened
            )
            assert key != make_opening_key("riskless", {"map": "usa"}, moves, opened)
            assert key != make_opening_key("other", {"map": "m2"}, moves, opened)
    if None not in keys:
        assert (keys[0] == keys[1]) == (a[:count] == b[:count])
