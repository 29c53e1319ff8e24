"""Bytes to messages and back: the only place that knows msgpack.

Everything from the network is bounded here before it is believed: the size of the frame, the depth
and lengths inside it, the type and range of every field. What fails is a `DecodeError`, which holds
the error code for the peer and one line that says where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Annotated, cast, get_args

import msgpack
import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.protocol.codes import Code
from arena.protocol.messages import (
    MAX_CLIENT_FRAME,
    MAX_SERVER_FRAME,
    Accepted,
    ClientMessage,
    Message,
    Move,
    Ready,
    ServerMessage,
    Turn,
)
from arena.protocol.moves import MovesSoFar
from arena.protocol.values import Clocks, Thinking

MAX_DEPTH = 16
"""How deep arrays and maps may nest: a setup needs 4."""

SCALARS = frozenset({str, int, bool, type(None)})
"""What may stand anywhere, whatever its value."""


def _encoded(data: object) -> msgspec.Raw:
    if isinstance(data, MovesSoFar):
        return msgspec.Raw(data.encoded())
    raise NotImplementedError(f"a message holds no {type(data).__name__}")


_encoder = msgspec.msgpack.Encoder(enc_hook=_encoded)
_CLIENT_TYPES = {str(each.__struct_config__.tag): each for each in get_args(ClientMessage)}
_SERVER_TYPES = {str(each.__struct_config__.tag): each for each in get_args(ServerMessage)}


class _UsualThinking(Thinking, frozen=True, forbid_unknown_fields=True):
    line: Annotated[list[list[int]], Meta(max_length=64)] | None = None


class _UsualMove(Move, frozen=True, forbid_unknown_fields=True, tag="move"):
    move: list[int] | int
    thinking: _UsualThinking | UnsetType = UNSET


class _UsualReady(Ready, frozen=True, forbid_unknown_fields=True, tag="ready"):
    pass


class _UsualClocks(Clocks, frozen=True, forbid_unknown_fields=True):
    pass


class _UsualTurn(Turn, frozen=True, forbid_unknown_fields=True, tag="turn"):
    moves: list[list[int] | int]
    clocks: _UsualClocks


class _UsualAccepted(Accepted, frozen=True, forbid_unknown_fields=True, tag="accepted"):
    pass


_usual = msgspec.msgpack.Decoder(_UsualMove | _UsualReady)
_usual_of_server = msgspec.msgpack.Decoder(_UsualTurn | _UsualAccepted)


class DecodeError(ValueError):
    """A frame that is no message. `code` is what an `error` answer to it says."""

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def encode(message: Message) -> bytes:
    """The frame of a message."""
    return _encoder.encode(message)


def decode_client(frame: bytes | str, limit: int = MAX_CLIENT_FRAME) -> ClientMessage:
    """The message in a frame from a client. Raises DecodeError."""
    if type(frame) is bytes and len(frame) <= limit and (usual := _usual_message(frame)) is not None:
        return usual
    return cast("ClientMessage", _decode(frame, limit, _CLIENT_TYPES))


def _usual_message(frame: bytes) -> Move | Ready | None:
    """The move of numbers, or the readiness, in a frame with nothing unknown, as nearly all that a server is sent.

    Nothing in such a frame has to be looked for, as it has a type throughout: that takes a quarter of the time.
    """
    try:
        usual = _usual.decode(frame)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None  # what it is, or what is wrong with it, is found out as of any other frame
    if type(usual) is _UsualReady:
        return Ready(usual.match)
    told = usual.thinking
    if told is UNSET:
        return Move(usual.match, usual.ply, usual.move)
    if told.value is not None and not isfinite(told.value):
        return None
    return Move(usual.match, usual.ply, usual.move, Thinking(told.depth, told.value, told.nodes, told.line))


def decode_server(frame: bytes | str, limit: int = MAX_SERVER_FRAME) -> ServerMessage:
    """The message in a frame from a server. Raises DecodeError."""
    if type(frame) is bytes and len(frame) <= limit and (usual := _usual_of(frame)) is not None:
        return usual
    return cast("ServerMessage", _decode(frame, limit, _SERVER_TYPES))


def _usual_of(frame: bytes) -> Turn | Accepted | None:
    """The turn after moves of numbers, or the receipt, in a frame with nothing unknown, as nearly all that a bot is told."""
    try:
        usual = _usual_of_server.decode(frame)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if type(usual) is _UsualTurn:
        clocks = Clocks(usual.clocks.maxie_ms, usual.clocks.minnie_ms)
        return Turn(usual.match, usual.ply, usual.moves, clocks, usual.increment_ms)
    if not (isfinite(usual.spent_ms) and isfinite(usual.credited_ms)):
        return None
    return Accepted(usual.match, usual.ply, usual.spent_ms, usual.clock_ms, usual.credited_ms)


def _decode(frame: bytes | str, limit: int, known: Mapping[str, type[Message]]) -> Message:
    if isinstance(frame, str):
        raise DecodeError(
            Code.BAD_MESSAGE, "a message is a binary frame of msgpack, and this is a text frame"
        )
    if len(frame) > limit:
        raise DecodeError(Code.TOO_LARGE, f"the frame has {len(frame)} bytes, and the limit is {limit}")
    data = unpack(frame)
    if not isinstance(data, dict):
        raise DecodeError(Code.BAD_MESSAGE, f"a message is a map, and this is {_kind(data)}")
    kind = data.get("type")
    if not isinstance(kind, str):
        raise DecodeError(Code.BAD_MESSAGE, "a message has a 'type', which is text")
    if kind not in known:
        raise DecodeError(Code.UNKNOWN_TYPE, f"{kind!r:.40} is no type here: there are {', '.join(known)}")
    try:
        # It is converted to the one type and not to the union of all, which msgspec would look through anew each time: 16 µs.
        return msgspec.convert(data, known[kind])
    except msgspec.ValidationError as error:
        raise DecodeError(Code.BAD_MESSAGE, f"{kind}: {error}") from None


def unpack(frame: bytes) -> object:
    """The data in a frame of msgpack, which JSON can carry too: so it can be recorded. Raises DecodeError.

    Nil, booleans, integers, finite floats, text, arrays, and maps with text keys, to a bounded depth.
    """
    try:
        data = msgpack.unpackb(frame, raw=False, strict_map_key=True, ext_hook=_no_extension)
    except msgpack.ExtraData:
        raise DecodeError(Code.BAD_MESSAGE, "bytes follow the message in its frame") from None
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DecodeError(Code.BAD_MESSAGE, f"the frame is not msgpack: {why:.100}") from None
    fault = _fault(data, MAX_DEPTH)
    if fault is not None:
        raise DecodeError(Code.BAD_MESSAGE, fault)
    return data


def _no_extension(code: int, _data: bytes) -> object:
    raise ValueError(f"extension type {code} has no meaning here")


def _fault(data: object, levels: int) -> str | None:
    if isinstance(data, dict):
        for key in data:
            if not isinstance(key, str):
                return "the keys of a map are text, and one here is binary"
        children: Iterable[object] = data.values()
    elif isinstance(data, list):
        children = data
    elif isinstance(data, float):
        return None if isfinite(data) else f"{data} is no number that a message may hold"
    elif type(data) in SCALARS:
        return None
    else:
        # msgpack makes a type of its own out of timestamps and never asks the hook
        return f"a message holds no {'binary value' if isinstance(data, bytes) else 'extension type'}"
    if levels == 0:
        return f"arrays and maps nest deeper than {MAX_DEPTH}"
    for child in children:
        # Nearly all values are scalars, and this runs for every message that comes: no call for those.
        if type(child) not in SCALARS and (fault := _fault(child, levels - 1)) is not None:
            return fault
    return None


def _kind(data: object) -> str:
    names = {
        list: "an array",
        str: "text",
        bytes: "binary",
        bool: "a boolean",
        int: "a number",
        float: "a number",
    }
    return names.get(type(data), "nil")
