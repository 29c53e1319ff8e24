"""Encoding and decoding of messages: the only module that decodes msgpack from the network.

A frame is checked before its data is used: its size, the type and range of every known field, and data whose form the
protocol leaves to the game, such as moves and setups. An invalid frame raises `DecodeError` with the error code to send to
the peer, and one line that says where the fault is.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from math import isfinite
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct, UnsetType
from msgspec.msgpack import Ext

from arena.protocol.codes import ErrorCode
from arena.protocol.messages import (
    MAX_CLIENT_FRAME_BYTES,
    MAX_SERVER_FRAME_BYTES,
    ClientMessage,
    Message,
    ServerMessage,
)
from arena.protocol.moves import MovesSnapshot

MAX_NESTING_DEPTH = 16
"""Maximum nesting depth of arrays and maps in a field of a message. The setup of a game needs 4."""
TOO_DEEP_REASON = f"arrays and maps must not nest deeper than {MAX_NESTING_DEPTH} levels"

SCALAR_VALUE_TYPES = frozenset({str, int, bool, type(None), UnsetType})
"""Types whose values contain no other values and are always valid, so that they need no check."""
CONTAINER_VALUE_TYPES = frozenset({dict, list})
MAP_KEY_TYPES = frozenset({str})
M = TypeVar("M", bound=Message)

encode_message: Callable[[Message], bytes] = msgspec.msgpack.Encoder(
    enc_hook=MovesSnapshot.encode_hook
).encode
"""Function that encodes a message as msgpack, the payload of one binary frame."""
_CLIENT_MESSAGE_DECODER: msgspec.msgpack.Decoder[ClientMessage] = msgspec.msgpack.Decoder(ClientMessage)
_SERVER_MESSAGE_DECODER: msgspec.msgpack.Decoder[ServerMessage] = msgspec.msgpack.Decoder(ServerMessage)
_CLIENT_TYPE_NAMES, _SERVER_TYPE_NAMES = (
    [str(message_type.__struct_config__.tag) for message_type in get_args(union)]
    for union in (ClientMessage, ServerMessage)
)


class DecodeError(ValueError):
    """Raised when a frame is not a valid message. `code` is the code of the `error` message that answers it."""

    def __init__(self, code: ErrorCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def decode_client_message(frame: bytes | str, max_bytes: int = MAX_CLIENT_FRAME_BYTES) -> ClientMessage:
    """Return the message in a frame from a client.

    Raises DecodeError if the frame has more than `max_bytes` bytes or is not a valid message from a client.
    """
    return _decode_frame(frame, max_bytes, _CLIENT_MESSAGE_DECODER, _CLIENT_TYPE_NAMES)


def decode_server_message(frame: bytes | str) -> ServerMessage:
    """Return the message in a frame from a server. Raises DecodeError if the frame is not a valid message."""
    return _decode_frame(frame, MAX_SERVER_FRAME_BYTES, _SERVER_MESSAGE_DECODER, _SERVER_TYPE_NAMES)


def _decode_frame(
    frame: bytes | str, max_bytes: int, decoder: msgspec.msgpack.Decoder[M], type_names: list[str]
) -> M:
    """Return the message in a frame.

    max_bytes: maximum size of the frame
    type_names: names of the message types that `decoder` knows
    """
    if isinstance(frame, str):
        raise DecodeError(
            ErrorCode.BAD_MESSAGE, "a message must be a binary frame of msgpack, but this is a text frame"
        )
    if len(frame) > max_bytes:
        raise DecodeError(
            ErrorCode.TOO_LARGE, f"the frame has {len(frame)} bytes, and the limit is {max_bytes}"
        )
    try:
        message = decoder.decode(frame)
    except RecursionError:
        raise DecodeError(ErrorCode.BAD_MESSAGE, TOO_DEEP_REASON) from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise _make_decode_error(frame, error, type_names) from None
    fault = _describe_invalid_data(message)
    if fault is not None:
        raise DecodeError(ErrorCode.BAD_MESSAGE, fault)
    return message


def _make_decode_error(frame: bytes, error: Exception, type_names: list[str]) -> DecodeError:
    """Return the error for a frame that could not be decoded because of `error`.

    type_names: names of the message types that the sender of the frame may use
    """
    try:
        fields = msgspec.msgpack.decode(frame)
    except RecursionError:
        return DecodeError(ErrorCode.BAD_MESSAGE, TOO_DEEP_REASON)
    except (msgspec.MsgspecError, ValueError) as malformed:
        return DecodeError(
            ErrorCode.BAD_MESSAGE, f"the frame cannot be decoded as msgpack: {malformed!s:.100}"
        )
    if not isinstance(fields, dict):
        return DecodeError(ErrorCode.BAD_MESSAGE, f"a message must be a map, not {_describe_type(fields)}")
    type_name = fields.get("type")
    if not isinstance(type_name, str):
        return DecodeError(ErrorCode.BAD_MESSAGE, "a message must have a 'type', which must be text")
    if type_name not in type_names:
        return DecodeError(
            ErrorCode.UNKNOWN_TYPE, f"{type_name!r:.40} is not a message type; use {', '.join(type_names)}"
        )
    if str(error).endswith("at `$.type`"):
        # The decoder has read a second key `type`, which it takes for a field.
        return DecodeError(ErrorCode.BAD_MESSAGE, "a message must have only one 'type'")
    return DecodeError(ErrorCode.BAD_MESSAGE, f"{type_name}: {error}")


def _describe_invalid_data(message: Message) -> str | None:
    """Return one line about the first fault in a message's data; None if there is none.

    A record must be able to hold the data as JSON. So data may be nil, a boolean, an integer, a finite float, text, an array,
    or a map with text keys. Arrays and maps may nest MAX_NESTING_DEPTH levels deep.
    """
    level: list[Any] = [message]
    for depth in range(MAX_NESTING_DEPTH + 1):
        types = set(map(type, level))
        if types <= SCALAR_VALUE_TYPES:
            return None
        if depth == MAX_NESTING_DEPTH and types & CONTAINER_VALUE_TYPES:
            return TOO_DEEP_REASON
        next_level: list[Any] = []
        for value in level:
            if type(value) is list:
                next_level += value
            elif type(value) is dict:
                if not MAP_KEY_TYPES.issuperset(map(type, value)):
                    return "the keys of a map must be text, but one is not"
                next_level += value.values()
            elif type(value) is float and not isfinite(value):
                return f"a message must not contain the number {value}: only finite numbers are allowed"
            elif isinstance(value, Struct):
                next_level += msgspec.structs.astuple(value)
            elif isinstance(value, bytes):
                return "a message must not contain binary values"
            elif isinstance(value, Ext | datetime):
                return "a message must not contain extension types"
        level = next_level
    return None


def _describe_type(value: object) -> str:
    names = {
        list: "an array",
        str: "text",
        bytes: "binary",
        bool: "a boolean",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "nil")
