"""server.arena.messages: what one server takes of another is bounded and typed."""

from __future__ import annotations

from contextlib import suppress
from math import isfinite

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import Player
from arena.match.events import Moved
from arena.protocol.messages import Accepted, Hello, Turn
from arena.protocol.moves import MoveList
from arena.protocol.values import Clocks, Thinking
from arena.server.arena import messages
from arena.server.arena.messages import (
    ArenaMessage,
    BadPacket,
    Beat,
    Did,
    Gone,
    Here,
    Line,
    Snapshot,
    Told,
    decode_beat,
    decode_message,
    decode_packet,
)

TOLD: list[ArenaMessage] = [
    Here("anna", 3, 1, Hello("anna", games=["riskless"], quota=4), guest=False, address="::1", again=True),
    Gone("anna", 3, None),
    Told("anna", 3, Accepted("m", 4, 1.5, 900), 0),
    Did("m", 3, Moved(Player.MAXIE, 4, [1, 2], Thinking(depth=3, value=0.5)), 17, 5),
    Snapshot(),
]


def test_what_is_told_arrives_as_it_was() -> None:
    packet = decode_packet(messages.packet("north", 4, 7, 11, 3, [messages.encode(each) for each in TOLD]))
    assert (packet.sender, packet.number, packet.to, packet.stream, packet.first) == ("north", 4, 7, 11, 3)
    assert packet.messages == TOLD
    assert [decode_message(messages.encode(each)) for each in TOLD] == TOLD


def test_the_moves_of_a_turn_are_told_as_they_are_encoded() -> None:
    moves = MoveList([[0, 1], [2, 3]])
    turn = Turn("m", 2, moves.so_far(), Clocks(1, 2), 0)
    told = decode_message(messages.encode(Told("anna", 1, turn, 9)))
    assert isinstance(told, Told)
    assert told.message == Turn("m", 2, [[0, 1], [2, 3]], Clocks(1, 2), 0)


def test_a_beat_arrives_as_it_was() -> None:
    beat = Beat(
        "north", 1, 7, 4, 2, takes=True, store=False, lines=[Line("south", 2, 3, 4, 5, 6, lacks=True)]
    )
    assert decode_beat(messages.beat(beat)) == beat


@given(st.binary(max_size=200))
def test_bytes_that_are_no_packet_are_refused_in_one_line(data: bytes) -> None:
    for decode in (decode_packet, decode_beat, decode_message):
        with pytest.raises(BadPacket, match=r"^[^\n]+$"):
            decode(data)


@pytest.mark.parametrize(
    "wrong",
    [
        ["packet", "north", -1, 7, 11, 3, []],
        ["packet", "n" * 65, 1, 7, 11, 3, []],
        ["packet", "north", 1, 7, 11, 3, [["who"]]],
        ["packet", "north", 1, 7, 11, 3, [["gone", "anna", "3", None]]],
        ["packet", "north", 1, 7, 11, 3, [["did", "m", 3, {"type": "left", "player": "maxie"}, 0, 0]]],
        ["packet", "north", 1, 7, 11, 3, [["told", "anna", 3, {"type": "welcome"}, 0]]],
        [
            "packet",
            "north",
            1,
            7,
            11,
            3,
            [
                [
                    "did",
                    "m",
                    3,
                    {
                        "type": "moved",
                        "player": "maxie",
                        "ply": 1,
                        "move": 1,
                        "thinking": {"value": float("nan")},
                    },
                    0,
                    0,
                ]
            ],
        ],
        ["packet", "north", 1, 7, 11, 3, [["gone", "anna", 3, None]] * (messages.MOST_MESSAGES + 1)],
    ],
)
def test_what_is_out_of_bounds_is_refused(wrong: object) -> None:
    with pytest.raises(BadPacket):
        decode_packet(msgspec.msgpack.encode(wrong))


def test_what_is_too_large_is_not_even_looked_at() -> None:
    with pytest.raises(BadPacket, match="may have"):
        decode_packet(bytes(messages.PACKET_BYTES + 1))
    with pytest.raises(BadPacket, match="may have"):
        decode_beat(bytes(messages.BEAT_BYTES + 1))


LEAVES: st.SearchStrategy[object] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(max_size=80),
    st.binary(max_size=8),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
WHOLE = messages.packet("north", 4, 7, 11, 3, [messages.encode(each) for each in TOLD])


@given(ANYTHING, st.sampled_from(["packet", "beat", "here", "told", "did", "place", "spent", "plies"]))
def test_what_is_no_packet_in_any_shape_is_refused_and_nothing_else_is_raised(
    wrong: object, tag: str
) -> None:
    for shaped in (wrong, [tag, wrong], [tag, *wrong] if isinstance(wrong, list) else wrong):
        data = msgspec.msgpack.encode(shaped)
        for decode in (decode_packet, decode_beat, decode_message):
            with suppress(BadPacket):
                decode(data)


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255), st.booleans())
def test_a_packet_with_a_byte_that_is_another_is_within_all_bounds_or_refused(
    place: int, byte: int, cut: bool
) -> None:
    data = WHOLE[:place] if cut else WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :]
    try:
        packet = decode_packet(data)
    except BadPacket:
        return
    assert not cut
    for count in (packet.number, packet.to, packet.stream, packet.first):
        assert 0 <= count <= 2**62
    assert 1 <= len(packet.sender) <= 64
    for message in packet.messages:
        match message:
            case Here(name, entry, session) | Told(name, entry, _, session):
                assert 1 <= len(name) <= 64
                assert min(entry, session) >= 0
            case Did(match=match, event=Moved(thinking=thinking)):
                assert 1 <= len(match) <= 64
                assert thinking is None or thinking.value is None or isfinite(thinking.value)


@pytest.mark.parametrize("deep", [100, 5_000, 100_000])
def test_however_deep_what_comes_is_it_is_refused(deep: int) -> None:
    for data in (b"\x91" * deep + b"\x90", b"\x81\xa1a" * deep + b"\x80"):
        for decode in (decode_packet, decode_beat, decode_message):
            with pytest.raises(BadPacket):
                decode(data)
    # Where anything may stand, as in a move, it may be so deep as well.
    moved = {"type": "moved", "player": "maxie", "ply": 1, "move": "MOVE"}
    told = msgspec.msgpack.encode(["packet", "north", 1, 7, 11, 3, [["did", "m", 3, moved, 0, 0]]])
    with suppress(BadPacket):
        decode_packet(told.replace(b"\xa4MOVE", b"\x91" * deep + b"\x90"))
