"""Reading and writing of a solved table's file. Looking up a position reads one block of the file."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from zlib import crc32

from arena.atomic_file import replace_file_atomically
from arena.solved.board_numbers import BoardNumbering
from arena.solved.header import BadTable, TableHeader, decode_header, encode_header
from arena.solved.solved_value import SolvedValue, decode_value_code
from arena.solved.zstandard import zstd

MAX_CACHED_TABLE_BLOCKS = 64
"""Maximum number of decompressed blocks of a solved table in memory.

These blocks take 4 MiB if a block has BOARDS_PER_BLOCK boards (positions), and the code of a board (its encoded value) has one
byte.
"""


class SolvedTable:
    """Exact values of all unfinished boards (positions) of a map, read from a file.

    Maps with equal roads, cap (most armies on a territory) and goal (armies that win) have the same table. The file is
    memory-mapped, so only the parts that are looked up are read. Threads may use it in parallel.
    """

    def __init__(self, path: Path) -> None:
        """Open a file. Raises BadTable if it is unreadable or incomplete; a damaged block is found when it is read."""
        self.path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise BadTable(f"{path} is empty: create a solved table with `arena solve MAP`") from None
        except OSError as error:
            raise BadTable(f"{path} cannot be read: {error.strerror}") from None
        with memoryview(self._data) as data:
            self.header, self._index = decode_header(data, str(path))
        self.numbering: BoardNumbering = self.header.numbering
        self._cached_block = lru_cache(maxsize=MAX_CACHED_TABLE_BLOCKS)(self.read_block)

    @property
    def size_bytes(self) -> int:
        """Return the size of the file, in bytes."""
        return len(self._data)

    def probe_board(self, board: Sequence[int]) -> SolvedValue:
        """Return the value, for the player to move, of an unfinished board (position). Raises BadTable if its block is damaged.

        A call takes about 30 µs if the board's block is cached, and 0.1 ms more if the block must be unpacked.
        """
        return decode_value_code(self.read_value_code(self.numbering.find_representative_number(board)))

    def read_value_code(self, board_number: int) -> int:
        """Return the code (encoded value, `decode_value_code`) of a board (position). Raises BadTable if its block is damaged.

        board_number: number of a representative board, the one with the lowest number among its symmetric images
        """
        block, place = divmod(board_number, self.header.boards_in_block)
        width = self.header.width
        return int.from_bytes(self._cached_block(block)[place * width : (place + 1) * width], "little")

    def read_block(self, block_number: int) -> bytes:
        """Return the codes (encoded values, see `decode_value_code`) of the boards in block `block_number`, counted from 0.

        In each set of symmetric boards, only one board, the representative, has a code. A block without representatives is not
        stored: all its codes are DRAWN_VALUE_CODE. Raises BadTable if the block is damaged.
        """
        header = self.header
        board_count = min(
            header.boards_in_block, self.numbering.board_count - block_number * header.boards_in_block
        )
        size = board_count * header.width
        first, last = self._index.offsets[block_number : block_number + 2]
        if first == last:
            return bytes(size)
        block_bytes = self._data[first:last]
        if crc32(block_bytes) != self._index.checksums[block_number]:
            raise BadTable(self._describe_damage(block_number, "its checksum differs"))
        try:
            decompressor = zstd.ZstdDecompressor()
            codes = decompressor.decompress(block_bytes, max_length=size + 1)
            is_complete = decompressor.eof and not decompressor.unused_data
        except zstd.ZstdError as error:
            raise BadTable(self._describe_damage(block_number, str(error))) from None
        if not is_complete or len(codes) != size:
            raise BadTable(self._describe_damage(block_number, f"{len(codes):,} bytes instead of {size:,}"))
        return codes

    def _describe_damage(self, block_number: int, reason: str) -> str:
        return f"{self.path} is damaged in block {block_number} of {self.header.block_count} ({reason}); solve the map again"


def write_table(path: Path, header: TableHeader, blocks: Sequence[bytes]) -> None:
    """Write a table from its header and its compressed blocks. Raises OSError if the file cannot be written.

    The file is replaced in one step, so a reader finds either the old table or the new one.
    """
    with replace_file_atomically(path) as new_file, new_file.open("wb") as file:
        file.write(encode_header(header, blocks))
        file.writelines(blocks)
