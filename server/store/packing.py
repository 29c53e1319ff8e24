"""The form in which a finished match is kept: its record, its terms and its events in one compressed piece.

A piece is one byte, the version of its form, and a Zstandard frame. In version 1 the frame is compressed with the
shared text of `packing-1.txt`, which is never changed, and holds lines of JSON: the record, then, once the match is
whole, the terms and one row of the journal after the other. What a row has in common with the
record, moves, thoughts and times, is left out of it, and what is left of a time is told as a difference: together that
is a tenth of the text.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

VERSION = b"\x01"
SHARED = Path(__file__).with_name("packing-1.txt")

QUICK, THOROUGH = 3, 6
"""Zstandard's levels: for the record at the end of a match, while others wait, and for the whole of it later."""

MOST_BYTES = 256 * 1024 * 1024
"""What a piece unpacks to at the most: far more than any match that the server plays or takes in."""


class Unreadable(ValueError):
    """What is kept of a match cannot be unpacked: one line that says why."""


class Whole(NamedTuple):
    """All that is kept of a finished match, as the journal had it."""

    record: str
    terms: str
    events: list[str]
    """The rows of the journal, in order; none for a match that was imported."""


def pack_record(record: str) -> bytes:
    """A match of which only the record is known here, as one line of JSON; quickly."""
    return _pack(record, QUICK)


def pack_whole(whole: Whole) -> bytes:
    """A match with all that was kept of it."""
    moves = _decode_moves(whole.record).moves
    return _pack(f"{whole.record}\n{whole.terms}\n{_shortened(whole.events, moves)}"[:-1], THOROUGH)


def record_in(packed: bytes) -> str:
    """The record, as one line of JSON. Raises Unreadable."""
    return _unpack(packed).partition("\n")[0]


def unpack_terms(packed: bytes) -> str:
    """The terms of a match of which all is kept, as they were packed. Raises Unreadable."""
    return _parts(packed)[1]


def unpack_whole(packed: bytes) -> Whole:
    """What `pack_whole` was given. Raises Unreadable."""
    record, terms, *rows = _parts(packed)
    try:
        return Whole(record, terms, _restored(rows, _decode_moves(record).moves))
    except (msgspec.DecodeError, KeyError) as error:
        raise Unreadable(f"its journal cannot be read: {error}") from None


def _parts(packed: bytes) -> list[str]:
    """The record, the terms, and the rows of the journal, as they were packed. Raises Unreadable."""
    parts = _unpack(packed).split("\n")
    if len(parts) < 2:
        raise Unreadable("it has no journal: only the record is in it")
    return parts


def _pack(text: str, level: int) -> bytes:
    return VERSION + zstd.compress(text.encode(), level, zstd_dict=_shared().as_digested_dict)


def _unpack(packed: bytes) -> str:
    if packed[:1] != VERSION:
        raise Unreadable(f"it has form {packed[:1].hex() or 'none'}, and this program knows {VERSION.hex()}")
    try:
        return _decompress(packed[1:]).decode()
    except (zstd.ZstdError, UnicodeDecodeError) as error:
        raise Unreadable(f"it cannot be unpacked: {error}") from None


def _decompress(frame: bytes) -> bytes:
    # A frame says how long its content is: memory is only taken for what is that long.
    if (zstd.get_frame_info(frame).decompressed_size or 0) > MOST_BYTES:
        raise Unreadable(f"it unpacks to more than {MOST_BYTES:,} bytes")
    # One for each call: it must not be used by two threads at the same time.
    decompressor = zstd.ZstdDecompressor(zstd_dict=_shared())
    data = decompressor.decompress(frame, max_length=MOST_BYTES)
    if not decompressor.eof:
        raise Unreadable("it ends in the middle")
    return data


@cache
def _shared() -> zstd.ZstdDict:
    return zstd.ZstdDict(SHARED.read_bytes(), is_raw=True)


class _KeptMove(msgspec.Struct):
    """What the record tells of a move, as far as the journal tells it too; what it does not tell is empty."""

    move: msgspec.Raw = msgspec.Raw()
    thinking: msgspec.Raw = msgspec.Raw()
    ms: float = 0.0
    credited_ms: float = 0.0

    @property
    def credited_ns(self) -> int:
        """The lag that the player was credited."""
        return round(1e6 * self.credited_ms)

    @property
    def taken_ns(self) -> int:
        """The time from the turn to the move, as far as the record tells it."""
        return round(1e6 * self.ms) + self.credited_ns


class _KeptMoves(msgspec.Struct):
    moves: list[_KeptMove] = []


# Values stay JSON: they are the same where their text is, and to Python 1, 1.0 and true would be equal.
_Event = dict[str, msgspec.Raw]
_decode_rows = msgspec.json.Decoder(list[tuple[int, _Event]]).decode_lines
_decode_moves = msgspec.json.Decoder(_KeptMoves).decode
_decode_number = msgspec.json.Decoder(int).decode
_encode_rows = msgspec.json.Encoder().encode_lines

_MOVED, _TURN_LEFT = msgspec.Raw(b'"moved"'), msgspec.Raw(b'"turn_left"')
_NONE, _ABSENT = msgspec.Raw(b"null"), msgspec.Raw()


def _shortened(rows: Sequence[str], moves: Sequence[_KeptMove]) -> str:
    """These rows, one a line, without what the record says."""
    before, told = 0, _decode_rows("\n".join(rows))
    for row in told:
        for place, (at, event) in enumerate(row):
            row[place] = at - before - _leave_out(event, moves), event
            before = at
    return _encode_rows(told).decode()


def _restored(rows: Sequence[str], moves: Sequence[_KeptMove]) -> list[str]:
    at, told = 0, _decode_rows("\n".join(rows))
    for row in told:
        for place, (passed, event) in enumerate(row):
            at += passed + _put_back(event, moves)
            row[place] = at, event
    return _encode_rows(told).decode().split("\n")[:-1]


def _known(event: _Event, moves: Sequence[_KeptMove]) -> _KeptMove | None:
    """What the record says of the move that an event tells of; None where it has none of this ply."""
    ply = _decode_number(event["ply"])
    return moves[ply] if 0 <= ply < len(moves) else None


def _leave_out(event: _Event, moves: Sequence[_KeptMove]) -> int:
    """Take what the record says out of an event; the ns from the turn to the event, where the record tells them."""
    kind = event["type"]
    if kind == _MOVED:
        known = _known(event, moves)
        if known is not None and event.get("move") == known.move:
            del event["move"]
            thinking = event.pop("thinking", _ABSENT)
            if thinking != known.thinking:
                event["thinking"] = _NONE if thinking == _ABSENT else thinking
            return known.taken_ns
    elif kind == _TURN_LEFT and "lag" in event:
        known = _known(event, moves)
        if known is not None:
            event["lag"] = _number(_decode_number(event["lag"]) - known.credited_ns)
    return 0


def _put_back(event: _Event, moves: Sequence[_KeptMove]) -> int:
    """Make an event again what it was before `_leave_out`, and return the same ns."""
    kind = event["type"]
    if kind == _MOVED and "move" not in event:
        known = _known(event, moves)
        if known is not None:
            thinking = event.pop("thinking", known.thinking)
            event["move"] = known.move
            if thinking not in (_NONE, _ABSENT):
                event["thinking"] = thinking
            return known.taken_ns
    elif kind == _TURN_LEFT and "lag" in event:
        known = _known(event, moves)
        if known is not None:
            event["lag"] = _number(_decode_number(event["lag"]) + known.credited_ns)
    return 0


def _number(value: int) -> msgspec.Raw:
    return msgspec.Raw(str(value).encode())
