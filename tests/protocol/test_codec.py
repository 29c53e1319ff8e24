from __future__ import annotations

import random
from collections.abc import Callable
from math import inf, isfinite, nan

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from arena.games.riskless_map import MAX_TERRITORIES, MAX_TERRITORY_NAME_LENGTH, RisklessMap
from arena.protocol.codec import (
    MAX_NESTING_DEPTH,
    DecodeError,
    decode_client_message,
    decode_server_message,
    encode_message,
)
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import (
    MAX_CLIENT_FRAME_BYTES,
    MAX_SERVER_FRAME_BYTES,
    Accepted,
    ClientMessage,
    Hello,
    Message,
    Move,
    Ready,
    Resign,
    ServerMessage,
    Start,
    Turn,
)
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks, Players, Thinking
from tests.properties import examples
from tests.protocol.strategies import client_messages, plain, server_messages


def refusal(frame: bytes | str) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        decode_client_message(frame)
    return caught.value


def outcome(decode: Callable[[bytes], Message], frame: bytes) -> Message | DecodeError:
    try:
        return decode(frame)
    except DecodeError as error:
        return error


def pack(data: object) -> bytes:
    return msgpack.packb(data)


def unpack_any(frame: bytes) -> dict[str, object]:
    """Return the data in a frame, even if an unknown field has data that no message may contain."""
    found: dict[str, object] = msgpack.unpackb(frame, strict_map_key=False, unicode_errors="replace")
    return found


@given(client_messages)
def test_client_messages_are_unchanged_by_a_round_trip(message: ClientMessage) -> None:
    assert decode_client_message(encode_message(message)) == message


@given(server_messages)
def test_server_messages_are_unchanged_by_a_round_trip(message: ServerMessage) -> None:
    assert decode_server_message(encode_message(message)) == message


@given(client_messages, st.dictionaries(st.text(min_size=12), plain, min_size=1, max_size=3))
def test_fields_that_a_receiver_does_not_know_are_ignored(
    message: ClientMessage, more: dict[str, object]
) -> None:
    assert decode_client_message(pack({**msgpack.unpackb(encode_message(message)), **more})) == message


@given(client_messages)
def test_a_server_takes_no_messages_of_a_server_and_a_client_none_of_a_client(message: ClientMessage) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_server_message(encode_message(message))
    assert caught.value.code is ErrorCode.UNKNOWN_TYPE


@examples(400)
@given(st.binary(max_size=200))
def test_random_bytes_decode_or_are_refused(frame: bytes) -> None:
    for decode in (decode_client_message, decode_server_message):
        decoded = outcome(decode, frame)
        assert not isinstance(decoded, DecodeError) or "\n" not in decoded.detail


@examples(400)
@given(client_messages | server_messages, st.randoms(use_true_random=False))
def test_mutated_frames_decode_or_are_refused(message: Message, chance: random.Random) -> None:
    frame = bytearray(encode_message(message))
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(frame))
        match chance.randrange(3):
            case 0:
                frame[at] = chance.randrange(256)
            case 1:
                frame.insert(at, chance.randrange(256))
            case _:
                del frame[at:]
        if not frame:
            break
    for decode in (decode_client_message, decode_server_message):
        decoded = outcome(decode, bytes(frame))
        if isinstance(decoded, DecodeError):
            assert decoded.code in {ErrorCode.BAD_MESSAGE, ErrorCode.UNKNOWN_TYPE}
            assert "\n" not in decoded.detail
        else:
            # all accepted data can be written into a record
            msgspec.json.encode(decoded)


def mutated(frame: bytes, chance: random.Random) -> bytes:
    changed = bytearray(frame)
    for _ in range(chance.randint(0, 2)):
        at = chance.randrange(len(changed))
        if chance.random() < 0.7:
            changed[at] = chance.randrange(256)
        else:
            changed.insert(at, chance.randrange(256))
    return bytes(changed)


moves_of_numbers = st.builds(
    lambda match, ply, move, thinking: encode_message(Move(match, ply, move, thinking)),
    st.text("abc", min_size=1, max_size=4),
    st.integers(0, 40),
    st.lists(st.integers(-2, 2**33), max_size=3),
    st.just(UNSET)
    | st.builds(
        Thinking,
        st.none() | st.integers(0, 90),
        st.none() | st.floats(-1e12, 1e12),
        st.none() | st.integers(0, 2**40),
        st.none() | st.lists(st.lists(st.integers(0, 30), max_size=2), max_size=4),
    ),
)


@examples(1000)
@given(moves_of_numbers, st.randoms(use_true_random=False))
def test_a_move_of_numbers_is_decoded_as_by_msgpack_alone(frame: bytes, chance: random.Random) -> None:
    frame = mutated(frame, chance)
    decoded = outcome(decode_client_message, frame)
    if not isinstance(decoded, Move):
        return
    found = unpack_any(frame)
    assert all(isinstance(key, str) for key in found)
    assert msgspec.convert(found, Move) == decoded
    if decoded.thinking is not UNSET and decoded.thinking.value is not None:
        assert isfinite(decoded.thinking.value)


told_of_numbers = st.builds(
    lambda match, ply, moves, clocks, increment: encode_message(Turn(match, ply, moves, clocks, increment)),
    st.text("abc", min_size=1, max_size=4),
    st.integers(0, 40),
    st.lists(st.lists(st.integers(-2, 2**33), max_size=3) | st.integers(0, 8), max_size=20),
    st.builds(Clocks, st.integers(0, 2**40), st.integers(0, 2**40)),
    st.integers(0, 1000),
) | st.builds(
    lambda match, ply, spent, clock, credited: encode_message(Accepted(match, ply, spent, clock, credited)),
    st.text("abc", min_size=1, max_size=4),
    st.integers(0, 40),
    st.floats(0, 1e12) | st.sampled_from([inf, nan]),
    st.integers(0, 2**40),
    st.floats(0, 1e12) | st.sampled_from([0.0, -inf, nan]),
)


@examples(1000)
@given(told_of_numbers, st.randoms(use_true_random=False))
def test_a_turn_or_an_accepted_is_decoded_as_by_msgpack_alone(frame: bytes, chance: random.Random) -> None:
    frame = mutated(frame, chance)
    decoded = outcome(decode_server_message, frame)
    if not isinstance(decoded, Turn | Accepted):
        return
    found = unpack_any(frame)
    assert all(isinstance(key, str) for key in found)
    assert msgspec.convert(found, type(decoded)) == decoded
    if isinstance(decoded, Accepted):
        assert isfinite(decoded.spent_ms)
        assert isfinite(decoded.credited_ms)


@pytest.mark.parametrize(
    "moves", [[], [4], [[1, 2], [2, 3]], ["e4"], [[1, 2.0]], [None], [{"to": 3}], [True]]
)
def test_a_turn_after_moves_of_any_data_is_decoded_as_it_was_sent(moves: list[object]) -> None:
    turn = Turn("m" * 32, len(moves), moves, Clocks(60_000, 1), 1000)
    decoded = decode_server_message(encode_message(turn))
    assert type(decoded) is Turn
    assert type(decoded.clocks) is Clocks
    assert decoded == turn
    assert repr(decoded.moves) == repr(moves)


@given(client_messages, st.data())
def test_a_frame_cut_short_is_refused(message: ClientMessage, data: st.DataObject) -> None:
    frame = encode_message(message)
    cut = data.draw(st.integers(0, len(frame) - 1))
    assert refusal(frame[:cut]).code is ErrorCode.BAD_MESSAGE


@given(client_messages, st.binary(min_size=1, max_size=8))
def test_bytes_after_the_message_are_refused(message: ClientMessage, more: bytes) -> None:
    assert refusal(encode_message(message) + more).code is ErrorCode.BAD_MESSAGE


def nested(levels: int) -> object:
    data: object = 0
    for _ in range(levels):
        data = [data]
    return data


def move(**fields: object) -> bytes:
    return pack({"type": "move", "match": "m", "ply": 0, "move": 0, **fields})


def hello(**fields: object) -> bytes:
    return pack({"type": "hello", "name": "ada", **fields})


@pytest.mark.parametrize(
    ("frame", "code", "part"),
    [
        ("{}", ErrorCode.BAD_MESSAGE, "text frame"),
        (b"", ErrorCode.BAD_MESSAGE, "cannot be decoded as msgpack"),
        (b"\xc1", ErrorCode.BAD_MESSAGE, "cannot be decoded as msgpack"),
        (
            b"\xdf\xff\xff\xff\xff",
            ErrorCode.BAD_MESSAGE,
            "cannot be decoded as msgpack",
        ),  # a map with a header of 4 billion entries
        (b"\xdd\xff\xff\xff\xff", ErrorCode.BAD_MESSAGE, "cannot be decoded as msgpack"),
        (b"\x91" * 10_000, ErrorCode.BAD_MESSAGE, "nest deeper"),
        (
            b"\x83" + pack({"type": "resign", "match": "m"})[1:] + b"\xa1x" + b"\x91" * 10_000,
            ErrorCode.BAD_MESSAGE,
            "nest deeper",
        ),
        (
            b"\x83\xa4type\xa6resign" + pack({"type": "ready", "match": "m"})[1:],
            ErrorCode.BAD_MESSAGE,
            "only one 'type'",
        ),
        (pack([1]), ErrorCode.BAD_MESSAGE, "a message must be a map, not an array"),
        (pack(None), ErrorCode.BAD_MESSAGE, "not nil"),
        (pack({}), ErrorCode.BAD_MESSAGE, "'type'"),
        (pack({"type": 1}), ErrorCode.BAD_MESSAGE, "'type'"),
        (pack({"type": "x" * 1000}), ErrorCode.UNKNOWN_TYPE, "hello, ready, move, resign"),
        (pack({"type": "welcome"}), ErrorCode.UNKNOWN_TYPE, "welcome"),
        (pack({1: "hello"}), ErrorCode.BAD_MESSAGE, "'type'"),
        (pack({b"type": "hello"}), ErrorCode.BAD_MESSAGE, "'type'"),
        (move(move={b"to": 3}), ErrorCode.BAD_MESSAGE, "keys"),
        (pack({"type": "ready"}), ErrorCode.BAD_MESSAGE, "match"),
        (pack({"type": "ready", "match": ""}), ErrorCode.BAD_MESSAGE, "$.match"),
        (pack({"type": "ready", "match": "m" * 65}), ErrorCode.BAD_MESSAGE, "$.match"),
        (hello(name=""), ErrorCode.BAD_MESSAGE, "$.name"),
        (hello(name="n" * 65), ErrorCode.BAD_MESSAGE, "$.name"),
        (hello(name=None), ErrorCode.BAD_MESSAGE, "$.name"),
        (hello(token="t" * 129), ErrorCode.BAD_MESSAGE, "$.token"),
        (hello(games=["g"] * 33), ErrorCode.BAD_MESSAGE, "$.games"),
        (hello(matches=0), ErrorCode.BAD_MESSAGE, "$.matches"),
        (hello(matches=1001), ErrorCode.BAD_MESSAGE, "$.matches"),
        (hello(program="p" * 101), ErrorCode.BAD_MESSAGE, "$.program"),
        (move(ply=-1), ErrorCode.BAD_MESSAGE, "$.ply"),
        (move(ply=1_000_001), ErrorCode.BAD_MESSAGE, "$.ply"),
        (move(ply=1.0), ErrorCode.BAD_MESSAGE, "$.ply"),
        (move(ply=True), ErrorCode.BAD_MESSAGE, "$.ply"),
        (move(ply="1"), ErrorCode.BAD_MESSAGE, "$.ply"),
        (move(move=b"\0"), ErrorCode.BAD_MESSAGE, "binary"),
        (move(move=[{"a": b"\0"}]), ErrorCode.BAD_MESSAGE, "binary"),
        (move(move=float("nan")), ErrorCode.BAD_MESSAGE, "nan"),
        (move(move=[float("-inf")]), ErrorCode.BAD_MESSAGE, "inf"),
        (move(move=msgpack.Timestamp(0)), ErrorCode.BAD_MESSAGE, "extension"),
        (move(move=msgpack.ExtType(5, b"x")), ErrorCode.BAD_MESSAGE, "extension"),
        (move(move=nested(MAX_NESTING_DEPTH)), ErrorCode.BAD_MESSAGE, "nest deeper"),
        (move(thinking=None), ErrorCode.BAD_MESSAGE, "$.thinking"),
        (move(thinking={"depth": -1}), ErrorCode.BAD_MESSAGE, "$.thinking.depth"),
        (move(move=[1, 2], thinking={"value": float("nan")}), ErrorCode.BAD_MESSAGE, "$.thinking.value"),
        (move(thinking={"line": [b"x"]}), ErrorCode.BAD_MESSAGE, "binary"),
        (move(thinking={"value": 2e12}), ErrorCode.BAD_MESSAGE, "$.thinking.value"),
        (move(thinking={"nodes": 2**63}), ErrorCode.BAD_MESSAGE, "$.thinking.nodes"),
        (move(thinking={"line": [0] * 65}), ErrorCode.BAD_MESSAGE, "$.thinking.line"),
    ],
)
def test_an_invalid_message_is_refused_in_one_line_with_its_place(
    frame: bytes | str, code: ErrorCode, part: str
) -> None:
    error = refusal(frame)
    assert error.code is code
    assert part in error.detail
    assert "\n" not in error.detail
    assert len(error.detail) < 200


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (hello(name="n" * 64, matches=1000), Hello("n" * 64, matches=1000)),
        (
            hello(games=["g" * 64] * 32, program="p" * 100),
            Hello("ada", games=["g" * 64] * 32, program="p" * 100),
        ),
        (move(ply=1_000_000), Move("m", 1_000_000, 0)),
        (move(move=nested(MAX_NESTING_DEPTH - 1)), Move("m", 0, nested(MAX_NESTING_DEPTH - 1))),
        (pack({"type": "ready", "match": "m" * 64}), Ready("m" * 64)),
        (pack({"match": "m", "type": "resign"}), Resign("m")),
        (move(unknown=float("nan"), thinking={"unknown": b"x"}), Move("m", 0, 0, Thinking())),
        (move(unknown=nested(10 * MAX_NESTING_DEPTH)), Move("m", 0, 0)),
    ],
)
def test_a_message_at_the_bounds_is_accepted(frame: bytes, message: ClientMessage) -> None:
    assert decode_client_message(frame) == message


def test_a_whole_number_is_accepted_as_a_float() -> None:
    decoded = decode_client_message(move(thinking={"value": 3}))
    assert isinstance(decoded, Move)
    assert not isinstance(decoded.thinking, msgspec.UnsetType)
    assert decoded.thinking.value == 3.0


def test_the_size_is_judged_before_the_content() -> None:
    frame = hello(padding="x" * MAX_CLIENT_FRAME_BYTES)
    assert refusal(frame).code is ErrorCode.TOO_LARGE
    assert decode_client_message(frame, max_bytes=2 * MAX_CLIENT_FRAME_BYTES) == Hello("ada")
    assert refusal(b"\xc1" * (MAX_CLIENT_FRAME_BYTES + 1)).code is ErrorCode.TOO_LARGE


TURN = {"type": "turn", "match": "m", "ply": 0, "clocks": {"maxie_ms": 1, "minnie_ms": 1}, "increment_ms": 0}


@pytest.mark.parametrize(
    ("decode", "message", "filled", "limit"),
    [
        (decode_client_message, {"type": "move", "match": "m", "ply": 0}, "move", MAX_CLIENT_FRAME_BYTES),
        (decode_client_message, {"type": "ping"}, "unknown", MAX_CLIENT_FRAME_BYTES),
        (decode_server_message, TURN, "moves", MAX_SERVER_FRAME_BYTES),
        (decode_server_message, {"type": "pong"}, "unknown", MAX_SERVER_FRAME_BYTES),
    ],
)
def test_a_frame_may_be_as_large_as_the_limit_and_no_larger(
    decode: Callable[[bytes], Message], message: dict[str, object], filled: str, limit: int
) -> None:
    size = 2 * limit - len(pack(message | {filled: [1] * limit}))
    frame = pack(message | {filled: [1] * size})
    assert len(frame) == limit
    assert decode(frame).__struct_config__.tag == message["type"]
    with pytest.raises(DecodeError) as caught:
        decode(pack(message | {filled: [1] * (size + 1)}))
    assert caught.value.code is ErrorCode.TOO_LARGE


@pytest.mark.slow
def test_the_largest_map_fits_into_the_largest_frame() -> None:
    """The map is a complete graph of 1,000 territories, the maximum, with names of the maximum length."""
    size = MAX_TERRITORIES
    complete = RisklessMap(
        name="complete",
        territories=tuple(f"{v:04d} ".ljust(MAX_TERRITORY_NAME_LENGTH, "𐌰") for v in range(size)),
        neighbours=tuple(tuple(w for w in range(size) if w != v) for v in range(size)),
        territory_cap=10,
        armies_to_win=100,
        ply_limit=400,
        start=(1, *(0 for _ in range(size - 2)), -2),
        places=tuple((0.5 * v, 0.25 * v) for v in range(size)),
    )
    start = Start(
        "m" * 64,
        "riskless",
        complete.to_data(),
        "maxie",
        Players("a" * 64, "b" * 64),
        TimeControl(1000),
        100,
        1000,
    )
    frame = encode_message(start)
    assert len(frame) < MAX_SERVER_FRAME_BYTES
    decoded = decode_server_message(frame)
    assert isinstance(decoded, Start)
    assert RisklessMap.from_data(decoded.setup) == complete


@pytest.mark.parametrize(
    "move", [4, -1, 2**63, [1, 2], [], True, [True], 1.0, [1, 2.0], "e4", None, {"to": 3}]
)
def test_a_move_of_any_data_is_decoded_as_it_was_sent(move: object) -> None:
    decoded = decode_client_message(encode_message(Move("m" * 32, 3, move)))
    assert decoded == Move("m" * 32, 3, move)
    assert isinstance(decoded, Move)
    assert repr(decoded.move) == repr(move)


def test_ready_is_decoded_and_its_unknown_fields_are_ignored() -> None:
    assert decode_client_message(encode_message(Ready("m" * 32))) == Ready("m" * 32)
    more = msgpack.packb({"type": "ready", "match": "m", "more": 1})
    assert decode_client_message(more) == Ready("m")
    with pytest.raises(DecodeError):
        decode_client_message(msgpack.packb({"type": "ready", "match": ""}))
