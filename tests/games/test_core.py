from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import BadData, GameError, IllegalMove, Player, require_integer


def test_each_player_is_the_opponent_of_the_other() -> None:
    assert Player.MAXIE.opponent is Player.MINNIE
    assert Player.MINNIE.opponent is Player.MAXIE
    assert [player.sign for player in Player] == [1, -1]
    assert [str(player) for player in Player] == ["maxie", "minnie"]


@given(count=st.integers(0, 40))
def test_an_illegal_move_stays_one_line_and_keeps_the_whole_list(count: int) -> None:
    legal = [f"move{i}" for i in range(count)]
    error = IllegalMove("x9", "there is no such cell", legal)
    assert isinstance(error, GameError)
    assert isinstance(error, ValueError)
    assert error.legal == tuple(legal)
    text = str(error)
    assert text.startswith("illegal move x9: there is no such cell; legal: ")
    assert text.count("move") == 1 + min(count, IllegalMove.MAX_SHOWN_MOVES)
    if count > IllegalMove.MAX_SHOWN_MOVES:
        assert text.endswith(f" and {count - IllegalMove.MAX_SHOWN_MOVES} more")
    if count == 0:
        assert text.endswith("legal: none")


@given(low=st.integers(-50, 50), span=st.integers(0, 50), value=st.integers(-120, 120))
def test_whole_numbers_within_the_bounds_are_accepted(low: int, span: int, value: int) -> None:
    high = low + span
    if low <= value <= high:
        assert require_integer(value, "it", low, high) == value
    else:
        with pytest.raises(BadData, match=f"it must be a whole number from {low} to {high}, not {value}"):
            require_integer(value, "it", low, high)


@pytest.mark.parametrize("other", [True, False, 1.0, "1", None, [1], b"1"])
def test_only_an_int_is_a_whole_number(other: object) -> None:
    with pytest.raises(BadData, match="whole number from 0 to 2"):
        require_integer(other, "it", 0, 2)
