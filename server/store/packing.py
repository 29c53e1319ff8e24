"""The form in which a finished match is kept: its record, its terms and its events in one compressed piece.

A piece is one byte, the version of its form, and a Zstandard frame. In version 1 the frame is compressed with the
shared text of `packing-1.txt`, which is never changed, and holds lines of JSON: the record, then, once the match is
whole, the terms and one row of the journal after the other. What a row has in common with the
record, moves, thoughts and times, is left out of it, and what is left of a time is told as a difference: together that
is a tenth of the text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

VERSION = b"\x01"
SHARED = Path(__file__).with_name("packing-1.txt")

QUICK, THOROUGH = 3, 9
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
    moves = _moves(whole.record)
    return _pack("\n".join((whole.record, whole.terms, *_shortened(whole.events, moves))), THOROUGH)


def record_in(packed: bytes) -> str:
    """The record, as one line of JSON. Raises Unreadable."""
    return _unpack(packed).partition("\n")[0]


def unpack_whole(packed: bytes) -> Whole:
    """What `pack_whole` was given. Raises Unreadable."""
    record, *rest = _unpack(packed).split("\n")
    if not rest:
        raise Unreadable("it has no journal: only the record is in it")
    terms, *rows = rest
    try:
        return Whole(record, terms, list(_restored(rows, _moves(record))))
    except (msgspec.DecodeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise Unreadable(f"its journal cannot be read: {error}") from None


def _pack(text: str, level: int) -> bytes:
    return VERSION + zstd.compress(text.encode(), level, zstd_dict=_shared())


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


def _moves(record: str) -> list[dict[str, Any]]:
    moves = msgspec.json.decode(record).get("moves", [])
    return [each for each in moves if isinstance(each, dict)]


def _shortened(rows: Sequence[str], moves: Sequence[dict[str, Any]]) -> Iterator[str]:
    before = 0
    for row in rows:
        short = []
        for at, event in msgspec.json.decode(row):
            known = _known(event, moves)
            less = _without_known(event, known)
            short.append((at - before - _expected(less, known), less))
            before = at
        yield msgspec.json.encode(short).decode()


def _restored(rows: Sequence[str], moves: Sequence[dict[str, Any]]) -> Iterator[str]:
    at = 0
    for row in rows:
        whole = []
        for passed, event in msgspec.json.decode(row):
            known = _known(event, moves)
            at += passed + _expected(event, known)
            whole.append((at, _with_known(event, known)))
        yield msgspec.json.encode(whole).decode()


def _known(event: dict[str, Any], moves: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """What the record says of the move of this ply; None for an event that is about none."""
    if event["type"] not in {"moved", "turn_left"} or not 0 <= event["ply"] < len(moves):
        return None
    known: dict[str, Any] = moves[event["ply"]]
    return known


def _without_known(event: dict[str, Any], known: dict[str, Any] | None) -> dict[str, Any]:
    if known is None:
        return event
    if event["type"] == "turn_left":
        return event | {"lag": event["lag"] - _ns(known, "credited_ms")} if "lag" in event else event
    if not _same(event["move"], known.get("move")):
        return event
    short = {key: value for key, value in event.items() if key not in {"move", "thinking"}}
    if not _same(event.get("thinking"), known.get("thinking")):
        short["thinking"] = event.get("thinking")
    return short


def _with_known(event: dict[str, Any], known: dict[str, Any] | None) -> dict[str, Any]:
    if known is None:
        return event
    if event["type"] == "turn_left":
        return event | {"lag": event["lag"] + _ns(known, "credited_ms")} if "lag" in event else event
    if "move" in event:
        return event
    whole = {key: value for key, value in event.items() if key != "thinking"} | {"move": known["move"]}
    thinking = event.get("thinking", known.get("thinking"))
    return whole if thinking is None else whole | {"thinking": thinking}


def _expected(event: dict[str, Any], known: dict[str, Any] | None) -> int:
    """The ns from a turn to its move, as far as the record tells them; 0 for any other event."""
    if known is None or event["type"] != "moved" or "move" in event:
        return 0
    return _ns(known, "ms") + _ns(known, "credited_ms")


def _ns(known: dict[str, Any], name: str) -> int:
    milliseconds: float = known.get(name, 0.0)
    return round(1e6 * milliseconds)


def _same(one: object, other: object) -> bool:
    """Whether two values are the same in JSON: to Python, 1 and 1.0 and true are equal."""
    return one == other and msgspec.json.encode(one) == msgspec.json.encode(other)
