"""The moves of a match, encoded as msgpack. Every `turn` message carries all moves, but each move is encoded only once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import msgspec
from msgspec import Raw

from arena.protocol.values import PlainData

_encode_move_msgpack = msgspec.msgpack.Encoder().encode


class MoveList:
    """Moves of one match, in order, and their encoding. `append` takes constant time."""

    __slots__ = ("encoded_moves", "moves")

    def __init__(self, moves: Iterable[PlainData] = ()) -> None:
        self.moves: list[PlainData] = []
        self.encoded_moves = bytearray()
        """The moves in msgpack, one after another, without the array header."""
        for move in moves:
            self.append(move)

    def append(self, move: PlainData) -> None:
        self.moves.append(move)
        self.encoded_moves += _encode_move_msgpack(move)


class MovesSnapshot(Sequence[PlainData]):
    """Snapshot of the moves of a match: an immutable sequence, created in O(1) time. Later moves of the match leave it
    unchanged.
    """

    __slots__ = ("_count", "_encoded", "_encoded_byte_count", "_moves")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, moves: MoveList) -> None:
        self._moves = moves.moves
        self._count = len(moves.moves)
        self._encoded = moves.encoded_moves
        self._encoded_byte_count = len(moves.encoded_moves)

    @staticmethod
    def encode_hook(value: object) -> Raw:
        """Encode `value`, which must be a MovesSnapshot, as a msgpack array.

        Message encoders use it as their `enc_hook`. Raises NotImplementedError for any other type.
        """
        if type(value) is not MovesSnapshot:
            raise NotImplementedError(
                f"a {type(value).__name__} cannot be encoded in a message: use numbers, strings, lists and dicts"
            )
        count = value._count  # noqa: SLF001  same class
        if count < 16:
            header = bytes((0x90 | count,))
        elif count < 1 << 16:
            header = b"\xdc" + count.to_bytes(2, "big")
        else:
            header = b"\xdd" + count.to_bytes(4, "big")
        return Raw(header + value._encoded[: value._encoded_byte_count])  # noqa: SLF001  same class

    @overload
    def __getitem__(self, index: int) -> PlainData: ...

    @overload
    def __getitem__(self, index: slice) -> list[PlainData]: ...

    def __getitem__(self, index: int | slice) -> PlainData | list[PlainData]:
        return self._moves[: self._count][index]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[PlainData]:
        return iter(self._moves[: self._count])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | MovesSnapshot) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))
