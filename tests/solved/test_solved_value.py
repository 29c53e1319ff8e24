"""Solved values: their codes, their order, and their change by a ply limit or a move."""

from hypothesis import given
from hypothesis import strategies as st

from arena.solved.solved_value import DRAWN_VALUE, SolvedResult, SolvedValue, decode_value_code

truths = st.integers(2, 255).map(decode_value_code)


def test_codes_are_decoded_as_the_format_specifies() -> None:
    assert decode_value_code(0) == DRAWN_VALUE
    assert decode_value_code(2) == SolvedValue(SolvedResult.LOSS, 0)
    assert decode_value_code(3) == SolvedValue(SolvedResult.WIN, 0)
    assert decode_value_code(38) == SolvedValue(SolvedResult.LOSS, 18)
    assert str(decode_value_code(37)) == "win in 17 plies"
    assert str(decode_value_code(5)) == "win in 1 ply"
    assert str(DRAWN_VALUE) == "draw"


@given(truths, st.integers(0, 200))
def test_a_ply_limit_turns_longer_wins_into_draws(truth: SolvedValue, left: int) -> None:
    assert truth.plies is not None
    assert truth.with_ply_limit(left) == (truth if truth.plies <= left else DRAWN_VALUE)


def test_the_value_of_a_move_is_for_the_other_player_and_has_one_ply_more() -> None:
    assert SolvedValue(SolvedResult.LOSS, 4).value_before_move == SolvedValue(SolvedResult.WIN, 5)
    assert SolvedValue(SolvedResult.WIN, 4).value_before_move == SolvedValue(SolvedResult.LOSS, 5)
    assert DRAWN_VALUE.value_before_move == DRAWN_VALUE


def test_quick_wins_sort_highest_and_quick_losses_lowest() -> None:
    liked = [
        SolvedValue(SolvedResult.WIN, 1),
        SolvedValue(SolvedResult.WIN, 9),
        DRAWN_VALUE,
        SolvedValue(SolvedResult.LOSS, 8),
        SolvedValue(SolvedResult.LOSS, 2),
    ]
    assert sorted(liked, key=lambda each: -each.sort_key) == liked
