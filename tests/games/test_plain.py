from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.basics import BadData, Player
from arena.games.plain import format_move, from_json, from_plain_data, parse_move, to_json, to_plain_data
from tests.games.strategies import plain, refusal


class Place(NamedTuple):
    row: int
    column: int


@dataclass(frozen=True)
class Piece:
    owner: Player
    place: Place
    names: tuple[str, ...]
    moved: bool
    taken: frozenset[int]
    left: int | None = None


pieces = st.builds(
    Piece,
    st.sampled_from(Player),
    st.builds(Place, st.integers(0, 9), st.integers(0, 9)),
    st.lists(st.text(max_size=5), max_size=3).map(tuple),
    st.booleans(),
    st.frozensets(st.integers(0, 99)),
    st.none() | st.integers(0, 9),
)
FIRST = Piece(Player.MAXIE, Place(0, 0), (), moved=False, taken=frozenset())


def carried(data: Any) -> list[Any]:
    return [msgpack.unpackb(msgpack.packb(data)), json.loads(json.dumps(data))]


@given(pieces)
def test_a_dataclass_is_restored_by_the_types_of_its_fields(piece: Piece) -> None:
    for data in carried(to_plain_data(piece)):
        back = from_plain_data(data, FIRST)
        assert back == piece
        assert hash(back) == hash(piece)
        assert isinstance(back.owner, Player)


@given(st.tuples(st.integers(-99, 99), st.sampled_from(Player), st.lists(st.integers(0, 9)).map(tuple)))
def test_a_tuple_is_restored_by_comparison_with_an_example(
    value: tuple[int, Player, tuple[int, ...]],
) -> None:
    for data in carried(to_plain_data(value)):
        back = from_plain_data(data, (0, Player.MINNIE, (1, 2)))
        assert back == value
        assert isinstance(back[1], Player)


@given(plain)
def test_any_data_is_valid_or_refused_in_one_line(data: Any) -> None:
    for like in (FIRST, (1, "a"), 5, "a", Place(0, 0)):
        error = refusal(lambda like=like: from_plain_data(data, like))  # type: ignore[misc]
        if error is None:
            assert hash(from_plain_data(data, like)) is not None
        else:
            assert "\n" not in error
            assert len(error) < 500


def test_an_object_without_a_plain_form_is_named() -> None:
    with pytest.raises(TypeError, match="a list cannot be converted to plain data"):
        to_plain_data([1])
    with pytest.raises(TypeError, match="a float cannot be converted to plain data"):
        to_plain_data(0.5)


@pytest.mark.parametrize("deep", [20, 2000])
def test_too_deep_data_is_refused(deep: int) -> None:
    data: Any = 1
    for _ in range(deep):
        data = [data]
    with pytest.raises(BadData, match="deeper"):
        from_plain_data(data, ((1,),))


@pytest.mark.parametrize(
    ("move", "text"),
    [
        (3, "3"),
        ("up", "up"),
        ((3, 4), "3 4"),
        ((3, "up"), "3 up"),
        (((1, 2), 3), "[[1,2],3]"),
        (None, "null"),
    ],
)
def test_a_move_is_read_as_it_is_written(move: Any, text: str) -> None:
    assert format_move(move) == text
    assert from_plain_data(parse_move(f" {text} ", move, {}), move) == move


def test_cells_are_written_by_their_names() -> None:
    names = ["a1", "b1", "c1"]
    numbers = {name: cell for cell, name in enumerate(names)}
    assert format_move((0, 2), names) == "a1 c1"
    assert parse_move("A1 c1", (0, 1), numbers) == [0, 2]
    assert parse_move("b1", 0, numbers) == 1


@given(st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4)))
def test_json_is_one_line(data: dict[str, Any]) -> None:
    assert "\n" not in to_json(data)
    assert from_json(to_json(data)) == data


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_invalid_json_is_refused(text: str) -> None:
    with pytest.raises(BadData, match="is not valid JSON"):
        from_json(text)
