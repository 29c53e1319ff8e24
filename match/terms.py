"""What a match is played under, fixed before it begins: one struct from whoever asks for it to the store. Pure."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from arena.games.catalogue import KNOWN, make_game
from arena.games.core import AnyGame
from arena.match.clock import Clock
from arena.protocol.adjudication import Adjudication
from arena.protocol.engines import EngineInfo, Engines
from arena.protocol.record import FORMAT, Record, RecordedMove, Result
from arena.protocol.timecontrol import TimeControl, TimeOdds
from arena.protocol.values import Data, Players, Seat


class ThreadLimits(Struct, frozen=True):
    """How many threads each player may search with at the most; None: as many as its engine asks for."""

    maxie: int | None = None
    minnie: int | None = None


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
    time_odds: TimeOdds = TimeOdds()
    """What a player has instead, where the two have not the same time."""
    margin_ms: int
    """Network grace on the clock."""
    ready_ms: int
    """How long a player may take to get ready, before any clock starts."""
    grace_ms: int = 0
    """How long a player whose connection is lost may take to come back. The server sets it."""
    thread_limits: ThreadLimits = ThreadLimits()
    """What whoever asks for the match allows, as one who starts the bots on cores of its own."""
    engines: Engines = Engines()
    """What chooses the players' moves, with the threads that each searches with. The server sets it."""
    opening: tuple[Data, ...] = ()
    """Moves that are played already when the players begin; nobody's clock runs for them."""
    adjudication: Adjudication | None = None
    """When the match is ended before its game ends; None: it never is."""
    rated: bool = False
    """Whether the result counts for the ratings of both."""
    total_ms: int = 0
    """How long each player may think in the whole match, whatever its clock gives it; 0 where only the clock counts."""

    def threads(self, seat: Seat) -> int:
        """How many threads a player may search with, as its match start tells it."""
        engine: EngineInfo | None = getattr(self.engines, seat)
        limit: int | None = getattr(self.thread_limits, seat)
        return (engine.threads if engine is not None else None) or limit or 1

    def control(self, seat: Seat) -> TimeControl:
        """The time that a player has. Raises protocol.timecontrol.BadTimeControl."""
        return self.time_odds.of(seat, self.time_control)

    @property
    def told_odds(self) -> TimeOdds | UnsetType:
        """The time odds as a message tells them: not at all where both have the same time."""
        return self.time_odds if self.time_odds != TimeOdds() else UNSET

    def clock(self) -> Clock:
        """Both clocks before ply 0."""
        maxie, minnie = self.control("maxie"), self.control("minnie")
        return Clock.start(maxie, self.margin_ms, self.total_ms, minnie if minnie != maxie else None)

    def record(self, started: str, moves: list[RecordedMove], result: Result) -> Record:
        """The record of a match that was played under these terms, as far as `moves`."""
        return Record(
            format=FORMAT,
            match=self.match,
            event=self.event,
            game=self.game.name,
            setup=self.game.setup(),
            players=self.players,
            time_control=str(self.time_control),
            time_odds=self.time_odds,
            started=started,
            moves=moves,
            result=result,
            adjudication=self.adjudication,
            engines=self.engines if self.engines != Engines() else None,
            rules=KNOWN.rules(self.game),
        )

    @property
    def needed_threads(self) -> int:
        """How many threads the match needs: those of the player who has more, as only one of the two thinks at a time."""
        return max(self.threads("maxie"), self.threads("minnie"))

    def between(self, maxie: EngineInfo | None, minnie: EngineInfo | None) -> Terms:
        """The same terms for players with these engines, each with no more threads than it is allowed."""
        limits = self.thread_limits
        engines = Engines(_limited(maxie, limits.maxie), _limited(minnie, limits.minnie))
        return structs.replace(self, engines=engines)


class _Setup(Struct, frozen=True):
    """What a game is made of."""

    name: str
    setup: dict[str, Data]


def _limited(engine: EngineInfo | None, limit: int | None) -> EngineInfo | None:
    if engine is None or engine.threads is None or limit is None:
        return engine
    return structs.replace(engine, threads=min(engine.threads, limit))


def to_json(terms: Terms) -> str:
    """The terms as the store keeps them."""
    return msgspec.json.encode(terms, enc_hook=setup_of_game).decode()


def from_json(text: str) -> Terms:
    """The terms of which `to_json` made this text. Raises games.core.GameError, msgspec.DecodeError."""
    return _decode(text)


def setup_of_game(game: AnyGame) -> _Setup:
    """Return a game as msgspec encodes it: its name and its setup."""
    return _Setup(game.name, game.setup())


def game_from_setup(_type: type, kept: Any) -> AnyGame:
    """Return the game that `setup_of_game` described. Raises games.core.GameError."""
    made = msgspec.convert(kept, _Setup)
    return make_game(made.name, made.setup)


# Made here, before there are threads: two that are the first to decode a type end the interpreter (msgspec 0.22).
_decode = msgspec.json.Decoder(Terms, dec_hook=game_from_setup).decode
msgspec.json.Decoder(_Setup)  # what `convert` needs of it is made with its first decoder
