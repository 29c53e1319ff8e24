"""The moves of a match as its messages tell them: encoded once each, though every turn tells all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import msgspec

from arena.protocol.values import Data

_encoder = msgspec.msgpack.Encoder()


class MoveList:
    """The moves of one match, as they come. `append` and `so_far` take constant time."""

    def __init__(self, moves: Iterable[Data] = ()) -> None:
        self._moves: list[Data] = []
        self._encoded = bytearray()
        for move in moves:
            self.append(move)

    def append(self, move: Data) -> None:
        """Add a move to the end."""
        self._moves.append(move)
        self._encoded += _encoder.encode(move)

    def so_far(self) -> MovesSoFar:
        """The moves that were made until now, whatever follows."""
        return MovesSoFar(self._moves, self._encoded)


class MovesSoFar(Sequence[Data]):
    """The moves of a match up to a moment; equal to a list of them."""

    __slots__ = ("_count", "_encoded", "_moves", "_size")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, moves: list[Data], encoded: bytearray) -> None:
        """A view of the first moves of a list that may grow."""
        self._moves = moves
        self._count = len(moves)
        self._encoded = encoded
        self._size = len(encoded)

    def encoded(self) -> bytes:
        """The moves as an array of msgpack."""
        if self._count < 16:
            head = bytes((0x90 | self._count,))
        elif self._count < 1 << 16:
            head = b"\xdc" + self._count.to_bytes(2, "big")
        else:
            head = b"\xdd" + self._count.to_bytes(4, "big")
        return head + self._encoded[: self._size]

    @overload
    def __getitem__(self, index: int) -> Data: ...

    @overload
    def __getitem__(self, index: slice) -> list[Data]: ...

    def __getitem__(self, index: int | slice) -> Data | list[Data]:
        return self._moves[: self._count][index]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Data]:
        return iter(self._moves[: self._count])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | MovesSoFar) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))
