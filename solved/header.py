"""What a table's file says of itself before its blocks: of which map it is, by which rules, and what it holds in all.

    magic       8 bytes
    length      of the header, 4 bytes, little-endian as all numbers here
    header      JSON, the struct Header
    index       for each block of boards the bytes that it takes, 4, and their CRC-32, 4; 0 bytes: no board in it stands for
                others
    checksum    SHA-256 of all before it, 32 bytes
    blocks      Zstandard frames, one after another

A block holds the codes (solved.truth) of `boards_in_block` boards in the order of their numbers, `width` bytes each. Only the
codes of boards in play that stand for all that look alike are told; in the places of the others any code may stand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Annotated, NamedTuple
from zlib import crc32

import msgspec
from msgspec import Meta, Struct

from arena.games.board import MAX_CAP
from arena.solved.boards import Boards

MAGIC = b"\x89ARENA\r\n"
"""Begins a file: no text does, and a transfer that changes the ends of lines changes it."""
FORMAT = "arena-solved/1"
RULES = 1
"""The version of Riskless's rules. A change of them that changes a value is a new one, and old tables are then refused."""
MOST_TERRITORIES = 40
"""More than any map has that can be solved: two armies' owners on 40 territories are 3^40 boards."""
BOARDS_IN_BLOCK = 1 << 16
MOST_HEADER = 1 << 16
MOST_BLOCKS = 1 << 24
LENGTH = 4
CHECKSUM = 32

Count = Annotated[int, Meta(ge=0, le=1 << 62)]


class BadTable(ValueError):
    """A file that is no table, or not all of one: one line that says which and why."""


class Totals(Struct, frozen=True):
    """How many boards there are of each kind, reachable or not, images included."""

    open: Count
    """Boards that are not over."""
    won: Count
    """Of these, won for the player to move."""
    lost: Count
    drawn: Count


class Header(Struct, frozen=True, kw_only=True):
    """What a table is of, and what was found."""

    format: str = FORMAT
    rules: int = RULES
    neighbours: Annotated[
        list[
            Annotated[
                list[Annotated[int, Meta(ge=0, lt=MOST_TERRITORIES)]], Meta(max_length=MOST_TERRITORIES)
            ]
        ],
        Meta(min_length=2, max_length=MOST_TERRITORIES),
    ]
    territory_cap: Annotated[int, Meta(ge=1, le=MAX_CAP)]
    armies_to_win: Annotated[int, Meta(ge=2, le=MAX_CAP * MOST_TERRITORIES)]
    boards_in_block: Annotated[int, Meta(ge=1, le=1 << 20)] = BOARDS_IN_BLOCK
    width: Annotated[int, Meta(ge=1, le=2)]
    """Bytes of a code."""
    totals: Totals
    longest: Count
    """The plies of the longest win; 0 where no board in play is won."""
    longest_board: Count
    """The lowest number of a board that is won in so many plies."""

    @property
    def boards(self) -> Boards:
        return Boards(tuple(map(tuple, self.neighbours)), self.territory_cap, self.armies_to_win)

    @property
    def blocks(self) -> int:
        return -(-self.boards.count // self.boards_in_block)


def digest(boards: Boards) -> str:
    """Names all that a table depends on: roads, cap, goal and the rules' version. 12 hexadecimal digits."""
    what = [RULES, boards.neighbours, boards.cap, boards.goal]
    return hashlib.sha256(msgspec.json.encode(what)).hexdigest()[:12]


def encode(header: Header, blocks: Iterable[bytes]) -> bytes:
    """All of a file before these blocks."""
    told = msgspec.json.encode(header)
    index = b"".join(
        len(each).to_bytes(LENGTH, "little") + crc32(each).to_bytes(LENGTH, "little") for each in blocks
    )
    head = MAGIC + len(told).to_bytes(LENGTH, "little") + told + index
    return head + hashlib.sha256(head).digest()


class Index(NamedTuple):
    """Where the blocks are: each begins at its place and ends at the next one's; `sums` are their CRC-32."""

    places: list[int]
    sums: list[int]


def decode(data: memoryview, name: str) -> tuple[Header, Index]:
    """The header of the file of that name whose bytes these are, and where its blocks are. Raises BadTable."""
    start = len(MAGIC) + LENGTH
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise BadTable(f"{name} is no table of a solved map: `arena solve MAP` makes one")
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if length > MOST_HEADER:
        raise BadTable(f"{name} is damaged: its header cannot have {length:,} bytes; solve the map again")
    header = _header(bytes(data[start : start + length]), name)
    index = start + length
    ends = index + 2 * LENGTH * header.blocks
    if bytes(data[ends : ends + CHECKSUM]) != hashlib.sha256(data[:ends]).digest():
        raise BadTable(f"{name} is damaged: its header has another checksum; solve the map again")
    places = [ends + CHECKSUM]
    sums = []
    for at in range(index, ends, 2 * LENGTH):
        places.append(places[-1] + int.from_bytes(data[at : at + LENGTH], "little"))
        sums.append(int.from_bytes(data[at + LENGTH : at + 2 * LENGTH], "little"))
    if len(data) != places[-1]:
        raise BadTable(
            f"{name} has {len(data):,} bytes instead of {places[-1]:,}: it was cut or added to; solve the map again"
        )
    return header, Index(places, sums)


# Made here, before there are threads: two that are the first to decode a type end the interpreter (msgspec 0.22).
_decode = msgspec.json.Decoder(Header).decode


def _header(told: bytes, name: str) -> Header:
    try:
        header = _decode(told)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadTable(
            f"{name} is damaged: its header cannot be read ({error}); solve the map again"
        ) from None
    if header.format != FORMAT or header.rules != RULES:
        raise BadTable(
            f"{name} is {header.format:.40}, rules {header.rules}, and this program reads {FORMAT}, rules {RULES}: "
            "solve the map again"
        )
    size = len(header.neighbours)
    if any(w >= size for near in header.neighbours for w in near) or header.blocks > MOST_BLOCKS:
        raise BadTable(f"{name} is damaged: its header is of no map that can be solved; solve the map again")
    return header
