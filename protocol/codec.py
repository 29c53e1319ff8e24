"""Encoding and decoding of messages: the only module that decodes msgpack from the network.

A frame is checked before its data is used: its size, the depth and lengths inside it, the type and range of every field.
An invalid frame raises `DecodeError` with the error code for the peer and one line that says where the fault is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from math import isfinite
from typing import Annotated, Any, cast, get_args

import msgpack
import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.protocol.codes import Code
from arena.protocol.messages import (
    MAX_CLIENT_FRAME_BYTES,
    MAX_SERVER_FRAME_BYTES,
    Accepted,
    ClientMessage,
    Message,
    Move,
    Ready,
    ServerMessage,
    Turn,
)
from arena.protocol.moves import MovesSnapshot
from arena.protocol.values import Clocks, Thinking

MAX_NESTING_DEPTH = 16
"""Maximum nesting of arrays and maps in a frame. The setup of a game needs 4."""

MAP_KEY_TYPES = frozenset({str})
CONTAINER_VALUE_TYPES = frozenset({dict, list})
SCALAR_VALUE_TYPES = frozenset({str, int, bool, type(None)})
"""Types whose values are always valid in a message."""
ALLOWED_VALUE_TYPES = SCALAR_VALUE_TYPES | CONTAINER_VALUE_TYPES | {float}
"""Types that a message may contain. A float must also be finite, and the contents of a container valid."""


encode: Callable[[Message], bytes] = msgspec.msgpack.Encoder(enc_hook=MovesSnapshot.encode_as_msgpack).encode
"""Function that returns the frame of a message."""
_CLIENT_MESSAGE_TYPE_BY_NAME = {
    str(message_type.__struct_config__.tag): message_type for message_type in get_args(ClientMessage)
}
_SERVER_MESSAGE_TYPE_BY_NAME = {
    str(message_type.__struct_config__.tag): message_type for message_type in get_args(ServerMessage)
}


# The most frequent messages, restricted to moves of numbers and to known fields: msgspec decodes them in one step.


class _FastPathThinking(Thinking, frozen=True, forbid_unknown_fields=True):
    line: Annotated[list[list[int]], Meta(max_length=64)] | None = None


class _FastPathMove(Move, frozen=True, forbid_unknown_fields=True, tag="move"):
    move: list[int] | int
    thinking: _FastPathThinking | UnsetType = UNSET


class _FastPathReady(Ready, frozen=True, forbid_unknown_fields=True, tag="ready"):
    pass


class _FastPathClocks(Clocks, frozen=True, forbid_unknown_fields=True):
    pass


class _FastPathTurn(Turn, frozen=True, forbid_unknown_fields=True, tag="turn"):
    moves: list[list[int] | int]
    clocks: _FastPathClocks


class _FastPathAccepted(Accepted, frozen=True, forbid_unknown_fields=True, tag="accepted"):
    pass


_decode_client_fast_path = msgspec.msgpack.Decoder(_FastPathMove | _FastPathReady).decode
_server_fast_path_decoder = msgspec.msgpack.Decoder(_FastPathTurn | _FastPathAccepted)


class DecodeError(ValueError):
    """Raised when a frame is not a valid message. `code` is the code of the `error` message that answers it."""

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def decode_client_message(frame: bytes | str, max_bytes: int = MAX_CLIENT_FRAME_BYTES) -> ClientMessage:
    """Return the message in a frame from a client.

    Raises DecodeError if the frame has more than `max_bytes` bytes or is not a valid message from a client.

    Nearly all frames to a server are `ready`, or a `move` made of numbers, without unknown fields. Such frames are
    decoded directly into typed structs, which takes a quarter of the time.
    """
    if type(frame) is bytes and len(frame) <= max_bytes:
        try:
            message = _decode_client_fast_path(frame)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            pass  # decoded, or rejected, below like any other frame
        else:
            if type(message) is _FastPathReady:
                return Ready(message.match)
            analysis = message.thinking
            if analysis is UNSET:
                return Move(message.match, message.ply, message.move)
            if all(number is None or isfinite(number) for number in (analysis.value, analysis.cpu_ms)):
                thinking = Thinking(
                    analysis.depth, analysis.value, analysis.nodes, analysis.line, analysis.cpu_ms
                )
                return Move(message.match, message.ply, message.move, thinking)
    return cast("ClientMessage", _decode_message(frame, max_bytes, _CLIENT_MESSAGE_TYPE_BY_NAME))


def decode_server_message(frame: bytes | str) -> ServerMessage:
    """Return the message in a frame from a server. Raises DecodeError if the frame is not a valid one."""
    if (
        type(frame) is bytes
        and len(frame) <= MAX_SERVER_FRAME_BYTES
        and (message := _decode_server_fast_path(frame)) is not None
    ):
        return message
    return cast("ServerMessage", _decode_message(frame, MAX_SERVER_FRAME_BYTES, _SERVER_MESSAGE_TYPE_BY_NAME))


def _decode_server_fast_path(frame: bytes) -> Turn | Accepted | None:
    """Return the `turn` or `accepted` in a frame; None for other messages, unknown fields, or non-numeric moves.

    Nearly all frames to a bot hold one of these two messages.
    """
    try:
        message = _server_fast_path_decoder.decode(frame)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if type(message) is _FastPathTurn:
        clocks = Clocks(message.clocks.maxie_ms, message.clocks.minnie_ms)
        return Turn(message.match, message.ply, message.moves, clocks, message.increment_ms)
    if not (isfinite(message.spent_ms) and isfinite(message.credited_ms)):
        return None
    return Accepted(message.match, message.ply, message.spent_ms, message.clock_ms, message.credited_ms)


def _decode_message(frame: bytes | str, max_bytes: int, type_by_name: Mapping[str, type[Message]]) -> Message:
    if isinstance(frame, str):
        raise DecodeError(
            Code.BAD_MESSAGE, "a message must be a binary frame of msgpack, but this is a text frame"
        )
    if len(frame) > max_bytes:
        raise DecodeError(Code.TOO_LARGE, f"the frame has {len(frame)} bytes, and the limit is {max_bytes}")
    fields = _unpack_frame(frame)
    if not isinstance(fields, dict):
        raise DecodeError(Code.BAD_MESSAGE, f"a message must be a map, not {_describe_type_of(fields)}")
    type_name = fields.get("type")
    if not isinstance(type_name, str):
        raise DecodeError(Code.BAD_MESSAGE, "a message must have a 'type', which must be text")
    if type_name not in type_by_name:
        raise DecodeError(
            Code.UNKNOWN_TYPE, f"{type_name!r:.40} is not a message type; use {', '.join(type_by_name)}"
        )
    try:
        # Convert to the single type: with the union of all types msgspec would take 16 µs more to examine it each time.
        return msgspec.convert(fields, type_by_name[type_name])
    except msgspec.ValidationError as error:
        raise DecodeError(Code.BAD_MESSAGE, f"{type_name}: {error}") from None


def _unpack_frame(frame: bytes) -> object:
    """Return the data in a msgpack frame. Raises DecodeError for data that JSON cannot hold, since records are JSON.

    Allowed are nil, booleans, integers, finite floats, text, arrays, and maps with text keys, at most MAX_NESTING_DEPTH deep.
    """
    try:
        data = msgpack.unpackb(frame, raw=False, strict_map_key=True, ext_hook=_reject_extension)
    except msgpack.ExtraData:
        raise DecodeError(Code.BAD_MESSAGE, "the frame has extra bytes after the message") from None
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DecodeError(Code.BAD_MESSAGE, f"the frame is not msgpack: {why:.100}") from None
    fault = _find_fault_in_data(data)
    if fault is not None:
        raise DecodeError(Code.BAD_MESSAGE, fault)
    return data


def _reject_extension(code: int, _data: bytes) -> object:
    raise ValueError(f"msgpack extension type {code} is not supported")


def _find_fault_in_data(unpacked_data: object) -> str | None:
    """Return the first fault of unpacked data, in one line; None if the data has none."""
    level: list[Any] = [unpacked_data]
    for depth in range(MAX_NESTING_DEPTH + 1):
        types = set(map(type, level))
        if types <= SCALAR_VALUE_TYPES:
            return None
        if not types <= ALLOWED_VALUE_TYPES:
            # msgpack decodes timestamps to its own type without calling the hook
            return f"a message must not contain {'binary values' if bytes in types else 'extension types'}"
        for value in level if float in types else ():
            if type(value) is float and not isfinite(value):
                return f"a message must not contain the number {value}: only finite numbers are allowed"
        if depth == MAX_NESTING_DEPTH and types & CONTAINER_VALUE_TYPES:
            return f"arrays and maps must not nest deeper than {MAX_NESTING_DEPTH} levels"
        maps = [value for value in level if type(value) is dict]
        if not MAP_KEY_TYPES.issuperset(map(type, chain.from_iterable(maps))):
            return "the keys of a map must be text, but one is not"
        arrays = [value for value in level if type(value) is list]
        level = [*chain.from_iterable(map(dict.values, maps)), *chain.from_iterable(arrays)]
    return None


def _describe_type_of(value: object) -> str:
    names = {
        list: "an array",
        str: "text",
        bytes: "binary",
        bool: "a boolean",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "nil")
