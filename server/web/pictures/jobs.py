"""What is to be drawn, as plain data: from the server to the process that draws it.

`python -m arena.server.web.pictures` reads one job as JSON and writes the picture.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from arena.protocol.values import Data

WIDTH, HEIGHT = 1200, 630
"""The size of a picture, as those who show links ask for it (https://ogp.me); a film is smaller."""
MOST_ROWS = 8
"""Rows of a table that a picture has room for."""
CANNOT_DRAW = 3
"""The exit code where nothing can be drawn: why stands on stderr, in one line."""


class MatchWords(Struct, frozen=True):
    """A match in words."""

    maxie: str
    minnie: str
    about: str
    """The game, the map and the clock."""
    result: str
    """How it ended; empty while it is in progress."""


class DrawRecord(Struct, frozen=True, tag="record"):
    """A finished match after so many plies, None for all, from its record as a line: a PNG."""

    line: str
    ply: int | None = None


class DrawLive(Struct, frozen=True, tag="live"):
    """A match in progress after so many plies, None for all: a PNG."""

    match: MatchWords
    game: str
    setup: dict[str, Data]
    moves: list[Data]
    ply: int | None = None


class DrawFilm(Struct, frozen=True, tag="film"):
    """A finished match, ply by ply: a GIF."""

    line: str


class DrawMap(Struct, frozen=True, tag="map"):
    """A shipped map at the start of a match: a PNG."""

    name: str


class DrawTable(Struct, frozen=True, tag="table"):
    """A title, a line below it, and rows: what each is called, a number in words, and how long its bar is, from 0 to 1."""

    title: str
    line: str
    rows: list[tuple[str, str, float]] = []


Job = DrawRecord | DrawLive | DrawFilm | DrawMap | DrawTable

encode = msgspec.json.encode
_decoder: msgspec.json.Decoder[Job] = msgspec.json.Decoder(Job)


def decode(body: bytes) -> Job:
    """The job in such bytes. Raises msgspec.DecodeError."""
    return _decoder.decode(body)
