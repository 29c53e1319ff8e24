from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.ordering import (
    move_to_front,
    order_best_first,
    order_hint_first,
    split_by_prune_fraction,
)
from tests.bots.search.problems import Case, cases


@given(case=cases, sort_statically=st.booleans(), data=st.data())
def test_every_move_occurs_once_the_hint_first_and_the_rest_by_value_for_the_mover(
    case: Case, sort_statically: bool, data: st.DataObject
) -> None:
    problem, moves = case.problem, list(case.game.moves(case.position))
    hint = data.draw(st.none() | st.sampled_from(moves)) if moves else None
    plain = list(order_hint_first(problem, case.position, moves, None))
    assert [(each.move_index, each.move) for each in plain] == list(enumerate(moves))
    ordered = list(
        order_best_first(
            problem, case.position, moves, hint, plies_from_root=0, sort_statically=sort_statically
        )
    )
    assert sorted(ordered, key=lambda each: each.move_index) == plain
    rest = ordered
    if hint is not None:
        assert ordered[0].move == hint
        rest = ordered[1:]
    sign = case.game.player(case.position).sign
    keys = [
        (-sign * problem.expand(each.child, 0, 1).value if sort_statically else 0, each.move_index)
        for each in rest
    ]
    assert keys == sorted(keys)


@given(st.permutations(range(6)), st.integers(0, 5))
def test_a_move_goes_to_the_front_and_the_others_keep_their_order(moves: list[int], move: int) -> None:
    before = list(moves)
    move_to_front(moves, move)
    assert moves == [move, *(each for each in before if each != move)]


@given(st.lists(st.integers(), max_size=30), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_the_first_part_of_split_moves_is_the_floor_of_its_share(moves: list[int], share: float) -> None:
    first, rest = split_by_prune_fraction(moves, share)
    assert [*first, *rest] == moves
    assert len(first) == Fraction(share) * len(moves) // 1
