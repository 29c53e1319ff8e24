"""The transposition table returns a value only if it is valid for the search that asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.search_values import ESTIMATE_LIMIT, WIN_VALUE, to_node_value, to_root_value
from arena.bots.search.table import Bound, Table

values = st.one_of(
    st.integers(-ESTIMATE_LIMIT, ESTIMATE_LIMIT),
    st.integers(0, 1000).map(lambda d: WIN_VALUE - d),
    st.integers(0, 1000).map(lambda d: d - WIN_VALUE),
)


def test_an_entry_is_used_only_for_its_own_depth() -> None:
    table: Table[str, int] = Table()
    table.store("here", 3, 0, 50, Bound.EXACT, 7)
    assert table.probe("here", 3, 0, -100, 100) == (50, False)
    assert table.probe("here", 2, 0, -100, 100) is None
    assert table.probe("here", 4, 0, -100, 100) is None
    assert table.probe("there", 3, 0, -100, 100) is None
    assert table.get_stored_move("here") == 7
    assert table.get_stored_move("there") is None


@given(value=values, alpha=values, beta=values)
def test_a_stored_bound_is_used_only_outside_the_window(value: int, alpha: int, beta: int) -> None:
    alpha, beta = sorted((alpha, beta))
    table: Table[str, int] = Table()
    table.store("here", 3, 0, value, Bound.LOWER, 0)
    assert (table.probe("here", 3, 0, alpha, beta) is not None) == (value >= beta)
    table.store("here", 3, 0, value, Bound.UPPER, 0)
    assert (table.probe("here", 3, 0, alpha, beta) is not None) == (value <= alpha)


@given(value=values, stored_distance=st.integers(0, 40), probed_distance=st.integers(0, 40))
def test_win_distances_are_counted_from_the_node(
    value: int, stored_distance: int, probed_distance: int
) -> None:
    table: Table[str, int] = Table()
    seen = to_root_value(value, stored_distance)
    table.store("here", 3, stored_distance, seen, Bound.EXACT, 0)
    assert table.probe("here", 3, probed_distance, -WIN_VALUE, WIN_VALUE) == (
        to_root_value(value, probed_distance),
        False,
    )
    assert to_node_value(seen, stored_distance) == value


def test_a_full_table_drops_its_oldest_entry() -> None:
    table: Table[int, int] = Table(size=2)
    for position in (1, 2, 1, 3):
        table.store(position, 1, 0, position, Bound.EXACT, 0)
    assert len(table) == 2
    assert table.probe(2, 1, 0, -9, 9) is None
    assert table.probe(1, 1, 0, -9, 9) == (1, False)
    table.begin_search()
    assert table.probe(1, 1, 0, -9, 9) == (1, True)
    with pytest.raises(ValueError, match="at least 1 position"):
        Table(size=0)
