"""File format of a solved table, and its header. Numbers are little-endian.

    signature TABLE_FILE_SIGNATURE, 8 bytes
    length    length of the header, 4 bytes
    header    JSON, the struct TableHeader
    index     for each block its size in bytes (4 bytes) and its CRC-32 (4 bytes); a block without representatives
              has size 0
    checksum  SHA-256 of everything before it, 32 bytes
    blocks    Zstandard frames, one after another

A block holds the codes (encoded values, `solved.solved_value`) of `boards_in_block` boards (positions) in the order of their
numbers, `width` bytes each; the last block may hold fewer. Only the codes of unfinished boards that are representatives (one of
each set of symmetric boards, see `solved.board_numbers`) are meaningful; all other codes may have any value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Annotated, NamedTuple
from zlib import crc32

import msgspec
from msgspec import Meta, Struct

from arena.games.riskless_map import HIGHEST_TERRITORY_CAP
from arena.solved.board_numbers import BoardNumbering

TABLE_FILE_SIGNATURE = b"\x89ARENA\r\n"
"""First bytes of a solved table's file. No text file begins so, and a transfer that converts line ends would change them."""
TABLE_FORMAT = "arena-solved/1"
RULES_VERSION = 1
"""Version of the rules of Riskless. Increase it when a change of the rules affects a value; old tables are then refused."""
MAX_SOLVED_TERRITORIES = 40
"""Maximum number of territories of a solved map. Far fewer can be solved: 40 territories have at least 3^40 positions."""
BOARDS_PER_BLOCK = 1 << 16
"""Default number of boards (positions) in each compressed block of a solved table."""
MAX_HEADER_BYTES = 1 << 16
"""Maximum size of a solved table's JSON header, in bytes. A file with a longer header counts as damaged."""
MAX_TABLE_BLOCKS = 1 << 24
"""Maximum number of blocks of a solved table. A file with more counts as damaged."""
UINT32_BYTES = 4
"""Size of each length and each CRC-32 in a solved table's file, in bytes."""
SHA256_BYTES = 32
"""Size of the SHA-256 checksum of a solved table's header and index, in bytes."""

HeaderNumber = Annotated[int, Meta(ge=0, le=1 << 62)]
"""Type of a number in the header: a count of boards (positions) or plies, or the number of a board (`solved.board_numbers`)."""


class BadTable(ValueError):
    """Raised if a file is not a complete solved table; the message is one line with the file and the reason."""


class BoardCounts(Struct, frozen=True):
    """Number of unfinished positions (`open`), and how many of them are `won`, `lost` and `drawn` for the player to move.

    All positions count, including those that no match can reach, and symmetric images of other positions.
    """

    open: HeaderNumber
    won: HeaderNumber
    lost: HeaderNumber
    drawn: HeaderNumber


class TableHeader(Struct, frozen=True, kw_only=True):
    """Header of a solved table: the map, the version of the rules, and counts of boards (positions)."""

    format: str = TABLE_FORMAT
    rules: int = RULES_VERSION
    neighbours: Annotated[
        list[
            Annotated[
                list[Annotated[int, Meta(ge=0, lt=MAX_SOLVED_TERRITORIES)]],
                Meta(max_length=MAX_SOLVED_TERRITORIES),
            ]
        ],
        Meta(min_length=2, max_length=MAX_SOLVED_TERRITORIES),
    ]
    territory_cap: Annotated[int, Meta(ge=1, le=HIGHEST_TERRITORY_CAP)]
    armies_to_win: Annotated[int, Meta(ge=2, le=HIGHEST_TERRITORY_CAP * MAX_SOLVED_TERRITORIES)]
    boards_in_block: Annotated[int, Meta(ge=1, le=1 << 20)] = BOARDS_PER_BLOCK
    width: Annotated[int, Meta(ge=1, le=2)]
    """Size of the code (encoded value) of each board (position), in bytes."""
    totals: BoardCounts
    longest: HeaderNumber
    """Number of plies of the longest win with best play by both players; 0 if no unfinished position is won."""
    longest_board: HeaderNumber
    """Lowest number of a board (position) whose win takes `longest` plies; 0 if no unfinished board is won."""

    @property
    def numbering(self) -> BoardNumbering:
        return BoardNumbering(tuple(map(tuple, self.neighbours)), self.territory_cap, self.armies_to_win)

    @property
    def block_count(self) -> int:
        return -(-self.numbering.board_count // self.boards_in_block)


def compute_boards_digest(numbering: BoardNumbering) -> str:
    """Return a hash of a map's roads, cap and armies to win and the version of the rules, to identify a table's contents.

    The hash has 12 hexadecimal digits.
    """
    fields = [RULES_VERSION, numbering.neighbours, numbering.territory_cap, numbering.armies_to_win]
    return hashlib.sha256(msgspec.json.encode(fields)).hexdigest()[:12]


def encode_header(header: TableHeader, blocks: Iterable[bytes]) -> bytes:
    """Return the bytes of a table's file before its blocks: header, index and checksum.

    blocks: the compressed blocks; the index contains their sizes and CRC-32
    """
    data = msgspec.json.encode(header)
    index = b"".join(
        len(block).to_bytes(UINT32_BYTES, "little") + crc32(block).to_bytes(UINT32_BYTES, "little")
        for block in blocks
    )
    header_bytes = TABLE_FILE_SIGNATURE + len(data).to_bytes(UINT32_BYTES, "little") + data + index
    return header_bytes + hashlib.sha256(header_bytes).digest()


class BlockIndex(NamedTuple):
    """Index of the compressed blocks in the file of a table."""

    offsets: list[int]
    """Offset of each block, and of the end of the file, in bytes."""
    checksums: list[int]
    """CRC-32 of each block."""


def decode_header(file_bytes: memoryview, file_name: str) -> tuple[TableHeader, BlockIndex]:
    """Return the header and the index in `file_bytes`, the content of a file. Raises BadTable if the file is damaged.

    file_name: name of the file, for error messages
    """
    start = len(TABLE_FILE_SIGNATURE) + UINT32_BYTES
    if bytes(file_bytes[: len(TABLE_FILE_SIGNATURE)]) != TABLE_FILE_SIGNATURE:
        raise BadTable(f"{file_name} is not a solved table: create one with `arena solve MAP`")
    header_length = int.from_bytes(file_bytes[len(TABLE_FILE_SIGNATURE) : start], "little")
    if header_length > MAX_HEADER_BYTES:
        raise BadTable(
            f"{file_name} is damaged: it gives an impossible header length, {header_length:,} bytes; solve the map again"
        )
    header = _parse_header(bytes(file_bytes[start : start + header_length]), file_name)
    index_start = start + header_length
    index_end = index_start + 2 * UINT32_BYTES * header.block_count
    if (
        bytes(file_bytes[index_end : index_end + SHA256_BYTES])
        != hashlib.sha256(file_bytes[:index_end]).digest()
    ):
        raise BadTable(f"{file_name} is damaged: the checksum of its header is wrong; solve the map again")
    offsets = [index_end + SHA256_BYTES]
    checksums = []
    for entry in range(index_start, index_end, 2 * UINT32_BYTES):
        checksum = entry + UINT32_BYTES
        offsets.append(offsets[-1] + int.from_bytes(file_bytes[entry:checksum], "little"))
        checksums.append(int.from_bytes(file_bytes[checksum : checksum + UINT32_BYTES], "little"))
    if len(file_bytes) != offsets[-1]:
        raise BadTable(
            f"{file_name} is damaged: it has {len(file_bytes):,} bytes instead of {offsets[-1]:,}; solve the map again"
        )
    return header, BlockIndex(offsets, checksums)


# Created before there are threads: msgspec 0.22 crashes if two threads are the first to decode a type.
_decode_header_json = msgspec.json.Decoder(TableHeader).decode


def _parse_header(header_bytes: bytes, file_name: str) -> TableHeader:
    try:
        header = _decode_header_json(header_bytes)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadTable(
            f"{file_name} is damaged: its header cannot be read ({error}); solve the map again"
        ) from None
    if header.format != TABLE_FORMAT or header.rules != RULES_VERSION:
        raise BadTable(
            f"{file_name} has the format {header.format:.40} and version {header.rules} of the rules, but this program "
            f"reads {TABLE_FORMAT} with version {RULES_VERSION}; solve the map again"
        )
    territory_count = len(header.neighbours)
    if (
        any(w >= territory_count for near in header.neighbours for w in near)
        or header.block_count > MAX_TABLE_BLOCKS
    ):
        raise BadTable(f"{file_name} is damaged: its header describes an impossible map; solve the map again")
    return header
