from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.move_values import MoveValue
from arena.bots.search.views import Cons, Seq, showl, to_list

EDGES = st.builds(MoveValue, st.integers(-9, 9), st.none() | st.integers(0, 9))
"""Strategy for elements of the sequences in the course's alpha-beta: Steps and Leaves."""


@given(st.lists(EDGES))
def test_to_list_returns_the_elements_of_the_sequence(edges: list[object]) -> None:
    assert to_list(Seq(edges)) == edges


@given(st.lists(EDGES, min_size=1))
def test_a_view_is_one_level_deep_and_changes_nothing(edges: list[object]) -> None:
    sequence = Seq(edges)
    view = showl(sequence)
    assert isinstance(view, Cons)
    assert view.head == edges[0]
    assert isinstance(view.tail, Seq)
    assert (to_list(view.tail), to_list(sequence)) == (edges[1:], edges)
