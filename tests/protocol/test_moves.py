"""MovesSnapshot: on the wire and in Python equal to a list of the moves."""

from __future__ import annotations

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.codec import decode_server_message, encode_message
from arena.protocol.messages import Turn
from arena.protocol.moves import MoveList, MovesSnapshot
from arena.protocol.values import Clocks, PlainData
from tests.protocol.strategies import plain

moves = st.lists(plain, max_size=40)


@given(moves, moves)
def test_a_prefix_of_the_moves_is_unchanged_by_later_moves(
    before: list[PlainData], after: list[PlainData]
) -> None:
    move_list = MoveList(before)
    so_far = MovesSnapshot(move_list)
    for move in after:
        move_list.append(move)
    assert so_far == before
    assert list(so_far) == before
    assert so_far[:3] == before[:3]
    assert len(so_far) == len(before)
    assert repr(so_far) == repr(before)
    assert MovesSnapshot(move_list) == before + after
    assert msgpack.unpackb(MovesSnapshot.encode_hook(so_far), strict_map_key=False) == before


@given(moves)
def test_a_message_with_them_has_the_bytes_of_one_with_a_list(made: list[PlainData]) -> None:
    clocks = Clocks(1, 2)
    told = encode_message(Turn("m", len(made), MovesSnapshot(MoveList(made)), clocks, 0))
    assert told == encode_message(Turn("m", len(made), made, clocks, 0))
    assert decode_server_message(told) == Turn("m", len(made), made, clocks, 0)


@pytest.mark.parametrize("count", [0, 15, 16, 255, 256, 65_535, 65_536])
def test_any_number_of_them_is_one_array(count: int) -> None:
    assert bytes(MovesSnapshot.encode_hook(MovesSnapshot(MoveList([7] * count)))) == msgpack.packb(
        [7] * count
    )


def test_they_are_no_other_kind_of_thing() -> None:
    assert MovesSnapshot(MoveList([1])) != (1,)
    with pytest.raises(NotImplementedError, match="a complex cannot be encoded in a message"):
        encode_message(Turn("m", 0, [1j], Clocks(1, 2), 0))
