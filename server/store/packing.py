"""Storage format of finished matches: record, terms (players, clocks, rules) and journal events, compressed together.

The packed data of a match are a byte with the version of the format, and then a Zstandard frame. In version 1 the frame is
compressed with the dictionary in the file `packing-1.txt`, which never changes. The packed data take a tenth of the
space of the text.

The frame holds lines of JSON. The first line is the record. Once the match is fully packed, the terms follow, and then
each row of the journal, which is a list of events with their times. Moves, analysis and times that the record contains
are left out of the rows, and other times are stored as differences.
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

PACKED_FORMAT_VERSION = b"\x01"
"""First byte of packed (compressed) data: the only version of the format so far."""
COMPRESSION_DICTIONARY_FILE = Path(__file__).with_name("packing-1.txt")
"""File with texts that are frequent in matches, with which Zstandard compresses a single match better."""

FAST_COMPRESSION_LEVEL, THOROUGH_COMPRESSION_LEVEL = 3, 6
"""Zstandard's compression levels: a fast one at the end of a match, when its players wait, and a thorough one later."""

MAX_UNPACKED_BYTES = 256 * 1024 * 1024
"""Maximum size of the unpacked data of a match, in bytes: far more than any match that a server plays or imports."""


class UnpackError(ValueError):
    """Raised when the stored data of a match cannot be unpacked; the message is a one-line reason."""


class PackableMatch(NamedTuple):
    """All stored data of a finished match, as JSON."""

    record_line: str
    """Record (`protocol.record`) in one line."""
    terms_json: str
    """Terms of the match, such as players, game and time controls (`match.terms`), in one line."""
    event_rows: list[str]
    """Stored events (such as moves) with their times, in order, several in each row; empty for an imported match."""


def pack_record(record_line: str) -> bytes:
    """Return a record (one line of JSON) compressed quickly (FAST_COMPRESSION_LEVEL).

    Later, `pack_match` compresses the record again, together with the match's terms (players, clocks) and events (moves).
    """
    return _compress_text(record_line, FAST_COMPRESSION_LEVEL)


def pack_match(match_data: PackableMatch) -> bytes:
    """Return a match's record, terms (players, clocks) and events together, compressed thoroughly but slowly."""
    moves = _decode_moves(match_data.record_line).moves
    rows = _encode_event_rows_without_recorded_data(match_data.event_rows, moves)
    return _compress_text(
        f"{match_data.record_line}\n{match_data.terms_json}\n{rows}"[:-1], THOROUGH_COMPRESSION_LEVEL
    )


def unpack_record(packed: bytes) -> str:
    """Return the record in packed (compressed) data, as one line of JSON. Raises UnpackError if the data are damaged."""
    return _decompress_text(packed).partition("\n")[0]


def unpack_terms(packed: bytes) -> str:
    """Return the match's terms (`match.terms`) in data from `pack_match`, as JSON. Raises UnpackError for other data."""
    return _unpack_lines(packed)[1]


def unpack_match(packed: bytes) -> PackableMatch:
    """Return the data that `pack_match` compressed. Raises UnpackError for any other data."""
    record, terms, *rows = _unpack_lines(packed)
    try:
        return PackableMatch(record, terms, _restore_event_rows(rows, _decode_moves(record).moves))
    except (msgspec.DecodeError, KeyError) as error:
        raise UnpackError(f"the journal in the packed data cannot be read: {error}") from None


def _unpack_lines(packed: bytes) -> list[str]:
    """Return the lines in a match's compressed data: the record, the terms (players, clocks), and the rows of events (moves).

    The rows are in the form that `_encode_event_rows_without_recorded_data` returns.

    Raises UnpackError if the data are damaged, or contain nothing but the record.
    """
    parts = _decompress_text(packed).split("\n")
    if len(parts) < 2:
        raise UnpackError("the match has only a record, no journal")
    return parts


def _compress_text(text: str, level: int) -> bytes:
    return PACKED_FORMAT_VERSION + zstd.compress(
        text.encode(), level, zstd_dict=_load_compression_dictionary().as_digested_dict
    )


def _decompress_text(packed: bytes) -> str:
    if packed[:1] != PACKED_FORMAT_VERSION:
        raise UnpackError(
            f"the packed data have format {packed[:1].hex() or '(none)'}, but this program reads only format {PACKED_FORMAT_VERSION.hex()}"
        )
    try:
        return _decompress_frame(packed[1:]).decode()
    except (zstd.ZstdError, UnicodeDecodeError) as error:
        raise UnpackError(f"the packed data are damaged: {error}") from None


def _decompress_frame(frame: bytes) -> bytes:
    # The frame states the size of its content, so a frame that is too large is refused before memory is allocated.
    if (zstd.get_frame_info(frame).decompressed_size or 0) > MAX_UNPACKED_BYTES:
        raise UnpackError(f"the packed data unpack to more than {MAX_UNPACKED_BYTES:,} bytes")
    # Each call makes its own decompressor, because two threads must not share one.
    decompressor = zstd.ZstdDecompressor(zstd_dict=_load_compression_dictionary())
    data = decompressor.decompress(frame, max_length=MAX_UNPACKED_BYTES)
    if not decompressor.eof:
        raise UnpackError(
            f"the packed data are truncated, or unpack to more than {MAX_UNPACKED_BYTES:,} bytes"
        )
    return data


@cache
def _load_compression_dictionary() -> zstd.ZstdDict:
    return zstd.ZstdDict(COMPRESSION_DICTIONARY_FILE.read_bytes(), is_raw=True)


class _MoveForPacking(msgspec.Struct):
    """Move in a match's record, with only those fields that the match's events (such as `moved`) contain, too.

    These fields are left out of the stored events, and are read from the record instead. A field that the record lacks has
    its default.
    """

    move: msgspec.Raw = msgspec.Raw()
    thinking: msgspec.Raw = msgspec.Raw()
    """Analysis that the bot sent with the move, as JSON; empty if there is none."""
    ms: float = 0.0
    """Time that the move took on the player's clock, in ms."""
    credited_ms: float = 0.0
    """Network lag credited to the player for the move, in ms."""

    @property
    def credited_lag_ns(self) -> int:
        """Network lag credited to the player for the move, in ns."""
        return round(1e6 * self.credited_ms)

    @property
    def turn_duration_ns(self) -> int:
        """Time from the request for the move to its arrival, as computed from the record, in ns."""
        return round(1e6 * self.ms) + self.credited_lag_ns


class _RecordedMoves(msgspec.Struct):
    """Part of a match's record that packing needs: the moves."""

    moves: list[_MoveForPacking] = []


# Values stay raw JSON and are compared as text, because 1, 1.0 and true are equal in Python.
_RawEvent = dict[str, msgspec.Raw]
_decode_event_rows = msgspec.json.Decoder(list[tuple[int, _RawEvent]]).decode_lines
"""Function that decodes a match's rows of events, one per line: each row is a list of (time, event)."""
_decode_moves = msgspec.json.Decoder(_RecordedMoves).decode
"""Function that decodes the moves in a record (one line of JSON)."""
_decode_integer = msgspec.json.Decoder(int).decode
_encode_event_rows = msgspec.json.Encoder().encode_lines
"""Function that encodes rows of events, one per line; the inverse of `_decode_event_rows`."""

_MOVE_RECEIVED, _TURN_STARTED = msgspec.Raw(b'"moved"'), msgspec.Raw(b'"turn_left"')
"""Value of the key `type`, as JSON, in the events MoveReceived and TurnStarted of a match."""
_NULL, _ABSENT = msgspec.Raw(b"null"), msgspec.Raw()
"""Values for the key `thinking`, a bot's analysis, in a match event: null in JSON, and an empty text if the key is missing."""


def _encode_event_rows_without_recorded_data(
    event_rows: Sequence[str], moves: Sequence[_MoveForPacking]
) -> str:
    """Return a match's rows of events (such as moves), one per line, without the data that the record contains.

    moves: moves in the record

    The time of each event is replaced by the time since the preceding event. For an event with a recorded move, the
    recorded duration of the turn is subtracted too, so that the stored number is mostly small.
    """
    previous_ns, entries = 0, _decode_event_rows("\n".join(event_rows))
    for row in entries:
        for index, (time_ns, event) in enumerate(row):
            row[index] = time_ns - previous_ns - _remove_recorded_data_and_get_move_ns(event, moves), event
            previous_ns = time_ns
    return _encode_event_rows(entries).decode()


def _restore_event_rows(event_rows: Sequence[str], moves: Sequence[_MoveForPacking]) -> list[str]:
    time_ns, entries = 0, _decode_event_rows("\n".join(event_rows))
    for row in entries:
        for index, (elapsed_ns, event) in enumerate(row):
            time_ns += elapsed_ns + _restore_recorded_data_and_get_move_ns(event, moves)
            row[index] = time_ns, event
    return _encode_event_rows(entries).decode().split("\n")[:-1]


def _find_move_of_event(event: _RawEvent, moves: Sequence[_MoveForPacking]) -> _MoveForPacking | None:
    """Return the recorded move with the same ply (move number) as a match event; None if the record has no such move."""
    ply = _decode_integer(event["ply"])
    return moves[ply] if 0 <= ply < len(moves) else None


def _remove_recorded_data_and_get_move_ns(event: _RawEvent, moves: Sequence[_MoveForPacking]) -> int:
    """Remove from a match event the data that the moves of the record contain.

    If the event is a move in the record, return the time that the move took, in ns, as computed from the record; otherwise 0.
    """
    event_type = event["type"]
    if event_type == _MOVE_RECEIVED:
        move = _find_move_of_event(event, moves)
        if move is not None and event.get("move") == move.move:
            del event["move"]
            thinking = event.pop("thinking", _ABSENT)
            if thinking != move.thinking:
                event["thinking"] = _NULL if thinking == _ABSENT else thinking
            return move.turn_duration_ns
    elif event_type == _TURN_STARTED and "lag" in event:
        move = _find_move_of_event(event, moves)
        if move is not None:
            event["lag"] = _encode_integer_as_json(_decode_integer(event["lag"]) - move.credited_lag_ns)
    return 0


def _restore_recorded_data_and_get_move_ns(event: _RawEvent, moves: Sequence[_MoveForPacking]) -> int:
    """Add the removed data to a match event. Return the same time as `_remove_recorded_data_and_get_move_ns`, in ns."""
    event_type = event["type"]
    if event_type == _MOVE_RECEIVED and "move" not in event:
        move = _find_move_of_event(event, moves)
        if move is not None:
            thinking = event.pop("thinking", move.thinking)
            event["move"] = move.move
            if thinking not in (_NULL, _ABSENT):
                event["thinking"] = thinking
            return move.turn_duration_ns
    elif event_type == _TURN_STARTED and "lag" in event:
        move = _find_move_of_event(event, moves)
        if move is not None:
            event["lag"] = _encode_integer_as_json(_decode_integer(event["lag"]) + move.credited_lag_ns)
    return 0


def _encode_integer_as_json(number: int) -> msgspec.Raw:
    return msgspec.Raw(str(number).encode())
