"""Values: their codes, their order, and what a ply limit and a move make of them."""

from hypothesis import given
from hypothesis import strategies as st

from arena.solved.truth import DRAW, Truth, Value, decode

truths = st.integers(2, 255).map(decode)


def test_the_codes_are_as_the_format_tells() -> None:
    assert decode(0) == DRAW
    assert decode(2) == Truth(Value.LOSS, 0)
    assert decode(3) == Truth(Value.WIN, 0)
    assert decode(38) == Truth(Value.LOSS, 18)
    assert str(decode(37)) == "win in 17 plies"
    assert str(decode(5)) == "win in 1 ply"
    assert str(DRAW) == "draw"


@given(truths, st.integers(0, 200))
def test_a_ply_limit_turns_longer_wins_into_draws(truth: Truth, left: int) -> None:
    assert truth.plies is not None
    assert truth.with_plies_left(left) == (truth if truth.plies <= left else DRAW)


def test_before_the_move_the_other_player_sees_it_and_a_ply_more() -> None:
    assert Truth(Value.LOSS, 4).previous == Truth(Value.WIN, 5)
    assert Truth(Value.WIN, 4).previous == Truth(Value.LOSS, 5)
    assert DRAW.previous == DRAW


def test_quick_wins_are_liked_best_and_quick_losses_least() -> None:
    liked = [Truth(Value.WIN, 1), Truth(Value.WIN, 9), DRAW, Truth(Value.LOSS, 8), Truth(Value.LOSS, 2)]
    assert sorted(liked, key=lambda each: -each.score) == liked
