"""A table's file, probed: one position reads one block."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from zlib import crc32

from arena.solved.boards import Boards
from arena.solved.header import BadTable, Header, decode, encode
from arena.solved.truth import Truth
from arena.solved.truth import decode as truth_of
from arena.solved.zstandard import zstd

KEPT = 64
"""Blocks that are kept unpacked, those probed last: 4 MB with codes of one byte."""


class Table:
    """The values of all boards in play of the maps with some roads, cap and goal.

    The file is mapped into memory: what is not probed is not read. Several threads may probe at once.
    """

    def __init__(self, path: Path) -> None:
        """Open a file. Raises BadTable where it cannot be read or is no whole table; blocks are checked as they are read."""
        self.path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise BadTable(f"{path} is empty: `arena solve MAP` makes a table") from None
        except OSError as error:
            raise BadTable(f"{path} cannot be read: {error.strerror}") from None
        with memoryview(self._data) as data:
            self.header, self._index = decode(data, str(path))
        self.boards: Boards = self.header.boards
        self._kept = lru_cache(maxsize=KEPT)(self.block)

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return len(self._data)

    def probe(self, board: Sequence[int]) -> Truth:
        """The truth of a board in play, seen by the player to move. Raises BadTable where its block is damaged.

        About 30 µs where the block is kept, and 0.1 ms more where it is unpacked first.
        """
        return truth_of(self.code(self.boards.representative(board)))

    def code(self, number: int) -> int:
        """The code of a board that stands for all that look like it."""
        block, place = divmod(number, self.header.boards_in_block)
        width = self.header.width
        return int.from_bytes(self._kept(block)[place * width : (place + 1) * width], "little")

    def block(self, number: int) -> bytes:
        """The codes of one block of boards; draws where none of its boards stands for others. Raises BadTable."""
        header = self.header
        boards = min(header.boards_in_block, self.boards.count - number * header.boards_in_block)
        size = boards * header.width
        first, last = self._index.places[number : number + 2]
        if first == last:
            return bytes(size)
        kept = self._data[first:last]
        if crc32(kept) != self._index.sums[number]:
            raise BadTable(self._damaged(number, "its checksum differs"))
        try:
            unpacked = zstd.ZstdDecompressor()
            codes = unpacked.decompress(kept, max_length=size + 1)
            whole = unpacked.eof and not unpacked.unused_data
        except zstd.ZstdError as error:
            raise BadTable(self._damaged(number, str(error))) from None
        if not whole or len(codes) != size:
            raise BadTable(self._damaged(number, f"{len(codes):,} bytes instead of {size:,}"))
        return codes

    def _damaged(self, number: int, why: str) -> str:
        return (
            f"{self.path} is damaged in block {number} of {self.header.blocks} ({why}); solve the map again"
        )


def write(path: Path, header: Header, blocks: Sequence[bytes]) -> None:
    """Write a table whose blocks are packed already. Whoever reads meanwhile finds the old file or the new one.

    Raises OSError.
    """
    unfinished = path.with_name(f"{path.name}.new")
    with unfinished.open("wb") as file:
        file.write(encode(header, blocks))
        file.writelines(blocks)
    unfinished.replace(path)


def packed(codes: bytes, level: int) -> bytes:
    """A block as it is kept."""
    return zstd.compress(codes, level)
