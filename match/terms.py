"""What a match is played under, fixed before it begins: one struct from whoever asks for it to the store. Pure."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from games.catalogue import make_game
from games.core import AnyGame
from protocol.adjudication import Adjudication
from protocol.messages import Data, Players
from protocol.timecontrol import TimeControl


class Terms(Struct, frozen=True, kw_only=True):
    """A match to be played: who against whom, of what, under which clock."""

    match: str
    """A uuid as 32 hexadecimal digits: unique everywhere, also in the record and the journal."""
    event: str
    """The event that the match belongs to, as the record tells it."""
    game: AnyGame
    players: Players
    """The names under which the two bots are connected."""
    time_control: TimeControl
    margin_ms: int
    """Network grace on the clock."""
    ready_ms: int
    """How long a player may take to get ready, before any clock starts."""
    grace_ms: int = 0
    """How long a player whose connection is lost may take to come back. The server sets it."""
    threads: int = 1
    """How many threads a bot may use, as the match start tells it."""
    opening: tuple[Data, ...] = ()
    """Moves that are played already when the players begin; nobody's clock runs for them."""
    adjudication: Adjudication | None = None
    """When the match is ended before its game ends; None: it never is."""
    rated: bool = False
    """Whether the result counts for the ratings of both."""


class _Setup(Struct, frozen=True):
    """What a game is made of."""

    name: str
    setup: dict[str, Data]


def to_json(terms: Terms) -> str:
    """The terms as the store keeps them."""
    return msgspec.json.encode(terms, enc_hook=_from_game).decode()


def from_json(text: str) -> Terms:
    """The terms of which `to_json` made this text. Raises games.core.GameError, msgspec.DecodeError."""
    return msgspec.json.decode(text, type=Terms, dec_hook=_to_game)


def _from_game(game: AnyGame) -> _Setup:
    return _Setup(game.name, game.setup())


def _to_game(_type: type, kept: Any) -> AnyGame:
    made = msgspec.convert(kept, _Setup)
    return make_game(made.name, made.setup)
